"""What sees other bytes in their place when a group gets longer: what shares its bytes by a move, or a part named by its place?

Leaves to others: which groups get longer (`growth`), and whether what gets them is too short (`grown_items`).

Law: what is reported has a name for bytes that lie elsewhere then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bringing import in_words
from .holding import has_names, lies_behind
from .sizes import size_of
from .values import less_sure

if TYPE_CHECKING:
    from .carrying import Carrying, PlacedField
    from .consequences import Consequences, Longer, Wave, What
    from .grown_items import GrownItems
    from .values import Certainty, EstateEdge, NodeId


class Displaced:
    """Reports what sees other bytes.

    Args:
        carrying: Where the fields of the estate are declared.
        found: Where the reports are added.
        items: The items that have grown so far.
    """

    def __init__(self, carrying: Carrying, found: Consequences, items: GrownItems) -> None:
        self._carrying, self._found, self._items = carrying, found, items

    def taken(self, node: NodeId, edge: EstateEdge, other: NodeId, placed: PlacedField, changed: Longer) -> None:
        """Add what has room for a group, and has names for bytes of it that lie elsewhere then.

        Args:
            node: The group.
            edge: An edge that brings it to another item.
            other: That item.
            placed: Where that is declared.
            changed: How the group gets longer.
        """
        place = changed.place.within(changed.part.fields[changed.at])
        if (
            all(way.sent is None and way.taken is None and not way.function for way in edge.ways)
            and lies_behind(placed.part, placed.at, place)
            and self._items.grown_by(other, placed, changed.causes) == size_of(placed.field)
        ):
            why = f"{in_words(edge, node)}, and what lies behind the field that grows no longer lies where it did"
            self._tell(edge, other, placed, why, changed.wave)

    def filling(self, node: NodeId, edge: EstateEdge, changed: Longer) -> None:
        """Add what a group is filled from that does not grow with it: its bytes come where others are expected."""
        group = changed.part.fields[changed.at]
        placed = self._carrying.place(edge.source) if edge.verb == "moves to" and edge.target == node else None
        size = None if placed is None or edge.ways else size_of(placed.field)
        if placed is None or size is None or size.is_number:
            return
        place = changed.place.within(group)
        # A number that grows at its front gets its digits from other bytes, too.
        is_behind = place.last < place.first < size.bytes or lies_behind(changed.part, changed.at, place, size.bytes)
        if is_behind and self._items.grown_by(edge.source, placed, changed.causes) == size:
            why = f"{in_words(edge, node)}, and what lies behind the field that grows no longer lies where it did"
            # A raw area has the layout of whoever fills it; one that is too short has the old one.
            then = self._items.then(node, size_of(group))
            is_raw = then is not None and size.bytes >= then.bytes and not has_names(placed.part, placed.at)
            self._tell(edge, edge.source, placed, why, changed.wave, "may" if is_raw else "is")

    def by_place(self, node: NodeId, edge: EstateEdge, changed: Longer) -> None:
        """Add the other end of a move that names a part of a group by its place: other bytes lie there then."""
        is_sent = edge.source == node
        other = edge.target if is_sent else edge.source
        placed = self._carrying.place(other) if edge.verb in {"moves to", "passes to"} else None
        group = changed.part.fields[changed.at]
        place = changed.place.within(group)
        for part in (way.sent if is_sent else way.taken for way in edge.ways):
            if placed is not None and part is not None and place.moves(part, group.bytes):
                why = f"{in_words(edge, node)}, in a part that is named by its place, where other bytes lie then"
                if part.start is None:
                    self._tell(edge, other, placed, why, changed.wave, "may")
                elif part.start - 1 > place.first or part.is_open or part.start - 1 + (part.length or 0) == group.bytes:
                    self._tell(edge, other, placed, why, changed.wave)
                else:  # the beginning of it alone
                    self._tell(edge, other, placed, why, changed.wave, "may", "cut today")

    def _tell(
        self,
        edge: EstateEdge,
        other: NodeId,
        placed: PlacedField,
        why: str,
        wave: Wave,
        sure: Certainty = "is",
        what: What = "other layout",
    ) -> None:
        """Add what shares the bytes of a group by a move, and sees others in their place then."""
        certainty = less_sure(wave.certainty, edge.certainty, sure)
        self._found.add(what, other, (placed.field.bytes, None), wave.steps, why, edge.citations, certainty)
