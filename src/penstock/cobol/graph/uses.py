"""Which uses of a field that is reused for several purposes pass on what gets longer in it?

Leaves to others: which statements have nothing to do with each other (`facts.apart`) and which fields grow (`growth`).

Law: a statement is left out only if no statement that brings the longer value reaches it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sizes import size_of

if TYPE_CHECKING:
    from .carrying import Carrying, PlacedField
    from .estates import EstateGraph
    from .values import CitedLine, EstateEdge, NodeId


class Uses:
    """Distinguishes the uses of each field.

    Args:
        graph: The estate.
        carrying: Where its fields are declared.
    """

    def __init__(self, graph: EstateGraph, carrying: Carrying) -> None:
        self._carrying = carrying
        self._apart = {part.fields[index].node: pairs for part in graph.parts for index, pairs in part.apart}
        """For each field with several uses, the unrelated pairs: a statement that fills it, and one that passes it on."""
        self._filled_by: dict[NodeId, set[CitedLine] | None] = {}
        """The statements that bring the longer value to the fields that grow; None if any may."""

    def has_several(self, node: NodeId) -> bool:
        """Return whether a field is used for several purposes."""
        return node in self._apart

    def is_filled_anew(self, node: NodeId, filled: tuple[CitedLine, ...]) -> bool:
        """Record which statements bring a field the longer value, and return whether this is a use that was not known."""
        known = self._filled_by.setdefault(node, set())
        if known is None or (filled and known.issuperset(filled)):
            return False
        self._filled_by[node] = {*known, *filled} if filled else None
        return True

    def given(
        self, node: NodeId, filled: tuple[CitedLine, ...], edge: EstateEdge, taken: PlacedField
    ) -> tuple[CitedLine, ...]:
        """Return the statements of an edge that may pass on the longer value of a field; none if they are another use of it.

        In another use, a text that got longer only has more blanks at its end, and a number more zeros at its front: losing
        those loses nothing.

        Args:
            node: The field.
            filled: The statements that bring it the longer value; empty if any may.
            edge: An edge from it.
            taken: The item that receives it.
        """
        pairs, placed = self._apart.get(node), self._carrying.place(node)
        one, other = (None if at is None else size_of(at.field) for at in (placed, taken))
        if not pairs or not filled or one is None or other is None or edge.verb != "moves to" or edge.ways:
            return edge.citations
        is_text = one.kind == other.kind == "text" and not one.is_justified  # JUSTIFIED puts the blanks at the front
        if not (is_text or (one.kind == "number" and other.is_number)):
            return edge.citations
        return tuple(use for use in edge.citations if any((fill, use) not in pairs for fill in filled))
