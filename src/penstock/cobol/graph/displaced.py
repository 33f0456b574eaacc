"""What sees other bytes than before when a group gets longer: the other side of a move, or a part addressed by position?

Leaves to others: which groups get longer (`growth`), and whether their receivers are too short (`grown_items`).

Law: for whatever is reported, some bytes that a name or a position addresses are then elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bringing import in_words
from .holding import has_names, lies_behind
from .sizes import size_of
from .values import less_sure

if TYPE_CHECKING:
    from .carrying import PlacedField
    from .consequences import Longer, Wave, What
    from .growing import GrowingEstate
    from .values import Certainty, EstateEdge, NodeId


class Displaced:
    """Reports the items that see other bytes after a group has grown.

    Args:
        estate: The estate in which fields grow.
    """

    def __init__(self, estate: GrowingEstate) -> None:
        self._carrying, self._found, self._items = estate.carrying, estate.found, estate.items

    def taken(self, node: NodeId, edge: EstateEdge, other: NodeId, placed: PlacedField, changed: Longer) -> None:
        """Report an item that has room for a group, but has names for bytes of it that are then elsewhere.

        Args:
            node: The group.
            edge: An edge that brings it to the item.
            other: The item.
            placed: Where the item is declared.
            changed: How the group gets longer.
        """
        place = changed.place.within(changed.part.fields[changed.at])
        if (
            all(way.sent is None and way.taken is None and not way.function for way in edge.ways)
            and lies_behind(placed.part, placed.at, place)
            and self._items.grown_by(other, placed, changed.causes) == size_of(placed.field)
        ):
            why = f"{in_words(edge, node)}, and what follows the growing field moves"
            self._tell(edge, other, placed, why, changed.wave)

    def filling(self, node: NodeId, edge: EstateEdge, changed: Longer) -> None:
        """Report an item that fills a group but does not grow with it: its bytes arrive where others are expected."""
        group = changed.part.fields[changed.at]
        placed = self._carrying.place(edge.source) if edge.verb == "moves to" and edge.target == node else None
        size = None if placed is None or edge.ways else size_of(placed.field)
        if placed is None or size is None or size.is_number:
            return
        place = changed.place.within(group)
        # A number that grows at its front also gets its digits from other bytes.
        is_behind = place.last < place.first < size.bytes or lies_behind(changed.part, changed.at, place, size.bytes)
        if is_behind and self._items.grown_by(edge.source, placed, changed.causes) == size:
            why = f"{in_words(edge, node)}, and what follows the growing field moves"
            # An area without names has the layout of whatever fills it; one that is too short has the old layout.
            then = self._items.then(node, size_of(group))
            is_raw = then is not None and size.bytes >= then.bytes and not has_names(placed.part, placed.at)
            self._tell(edge, edge.source, placed, why, changed.wave, "may" if is_raw else "is")

    def by_place(self, node: NodeId, edge: EstateEdge, changed: Longer) -> None:
        """Report the other end of a move that addresses a part of a group by position: other bytes are then there."""
        is_sent = edge.source == node
        other = edge.target if is_sent else edge.source
        placed = self._carrying.place(other) if edge.verb in {"moves to", "passes to"} else None
        group = changed.part.fields[changed.at]
        place = changed.place.within(group)
        for part in (way.sent if is_sent else way.taken for way in edge.ways):
            if placed is not None and part is not None and place.moves(part, group.bytes):
                why = f"{in_words(edge, node)}, in a part given by position, where there will be other bytes"
                if part.start is None:
                    self._tell(edge, other, placed, why, changed.wave, "may")
                elif part.start - 1 > place.first or part.is_open or part.start - 1 + (part.length or 0) == group.bytes:
                    self._tell(edge, other, placed, why, changed.wave)
                else:  # only the beginning of it
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
        """Report an item that shares the bytes of a group by a move, and then sees others in their place."""
        certainty = less_sure(wave.certainty, edge.certainty, sure)
        self._found.add(what, other, (placed.field.bytes, None), wave.steps, why, edge.citations, certainty)
