"""Which uses of a field that is reused for several purposes pass on what gets longer in it?

Leaves to others: which statements have nothing to do with each other (`facts.apart`) and which fields grow (`growth`).

Law: a statement is left out only if no statement that brings the longer value reaches it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sizes import size_of
from .values import NodeId

if TYPE_CHECKING:
    from .carrying import Carrying, PlacedField
    from .estates import EstateGraph
    from .values import CitedLine, EstateEdge


class Uses:
    """Tells the uses of each field apart.

    Args:
        graph: The estate.
        carrying: Where its fields are declared.
    """

    def __init__(self, graph: EstateGraph, carrying: Carrying) -> None:
        self._carrying = carrying
        self._apart = {
            NodeId("field", part.fields[index].name): pairs for part in graph.parts for index, pairs in part.apart
        }
        """Of the fields that are used for several things, the statements between which nothing stays."""
        self._filled_by: dict[NodeId, set[CitedLine] | None] = {}
        """The statements that bring what is longer to the fields that grow; None for any."""

    def has_several(self, node: NodeId) -> bool:
        """Return whether a field is used for several things."""
        return node in self._apart

    def is_filled_anew(self, node: NodeId, filled: tuple[CitedLine, ...]) -> bool:
        """Note what brings a field what is longer, and return whether that is another use of it than those that are known."""
        known = self._filled_by.setdefault(node, set())
        if known is None or (filled and known.issuperset(filled)):
            return False
        self._filled_by[node] = {*known, *filled} if filled else None
        return True

    def given(
        self, node: NodeId, filled: tuple[CitedLine, ...], edge: EstateEdge, taken: PlacedField
    ) -> tuple[CitedLine, ...]:
        """Return the statements of an edge that may give on what is longer in a field; none where that has another use.

        A longer item of text has more blanks at its end then, and a number zeros at its front: nothing is lost with those.

        Args:
            node: The field.
            filled: The statements that bring what is longer to it; none for any.
            edge: An edge from it.
            taken: What gets it by that.
        """
        pairs, placed = self._apart.get(node), self._carrying.place(node)
        one, other = (None if at is None else size_of(at.field) for at in (placed, taken))
        if not pairs or not filled or one is None or other is None or edge.verb != "moves to" or edge.ways:
            return edge.citations
        is_text = one.kind == other.kind == "text" and not one.is_justified  # which has them at its front
        if not (is_text or (one.kind == "number" and other.is_number)):
            return edge.citations
        return tuple(use for use in edge.citations if any((fill, use) not in pairs for fill in filled))
