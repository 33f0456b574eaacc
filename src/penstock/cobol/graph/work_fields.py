"""What may be too short for a longer value that an item with room passes on, as a work field does?

`MOVE A TO WORK`, `MOVE WORK TO B`: B received all of A, although it takes only a part of WORK. The same applies to what WORK is
compared with, to what is calculated from it, and to a part of it that had all of A. Leaves to others: what grows (`growth`), and
characters that shift in such an item (`shifted`).

Law: whatever is reported received all of today's value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .bringing import is_whole, ways_of
from .growing import MAX_STEPS
from .shortages import Sizes
from .sizes import Bytes, held, size_of, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .carrying import PlacedField
    from .comparisons import Comparisons
    from .consequences import Wave
    from .growing import GrowingEstate
    from .named_parts import NamedParts
    from .shortages import Shortage
    from .sizes import Size
    from .values import CitedLine, EstateEdge, NodeId


class PassedOn(NamedTuple):
    """An item that may be too short for what a work field passes on to it."""

    holder: NodeId
    edge: EstateEdge
    placed: PlacedField
    short: Shortage
    wave: Wave
    given: tuple[CitedLine, ...]
    """The statements that pass it on."""


class WorkFields:
    """Follows values through items that have room for them.

    Args:
        estate: The estate in which fields grow.
        comparisons: Reports what fields are compared with.
        parts: Reports parts that are addressed by position.
    """

    def __init__(self, estate: GrowingEstate, comparisons: Comparisons, parts: NamedParts) -> None:
        self._graph, self._carrying, self._found, self._items, self._uses = estate
        self._comparisons, self._parts = comparisons, parts
        self._held: set[tuple[NodeId, Sizes]] = set()
        """The contents of items with room that were already passed on."""

    def passed_on(
        self, edge: EstateEdge, holder: NodeId, placed: PlacedField, sent: Sizes, wave: Wave
    ) -> Iterator[PassedOn]:
        """Yield what may be too short for what an item passes on; report its comparisons and what is calculated from it.

        Args:
            edge: The edge that brings the item the longer value.
            holder: The item, which has room.
            placed: Where it is declared.
            sent: What is sent, today and after growing.
            wave: How the sender comes to grow; its `filled` are the statements that fill the item.
        """
        size = size_of(placed.field)
        content = None if size is None else self._content(edge, size, sent)
        if size is None or content is None or content.now == content.then:
            return
        if wave.steps >= MAX_STEPS or (holder, content) in self._held or holder in self._items.waves:
            return
        self._held.add((holder, content))
        onward = wave._replace(steps=wave.steps + 1, causes=(*wave.causes, holder))
        self._comparisons.tell(placed.part, placed.at, content, onward._replace(certainty="may"))
        self._parts.of_content(holder, placed, content, edge.source, onward)
        for further in self._graph.touching(holder):
            other = self._carrying.place(further.target) if further.source == holder else None
            taken = None if other is None else size_of(other.field)
            given = () if other is None else self._uses.given(holder, wave.filled, further, other)
            if other is None or taken is None or not given:
                continue
            if further.verb == "computes" and any(one.function != "length" for one in ways_of(further)):
                why = f"it is calculated from {holder}, which receives {edge.source}"
                lengths = (other.field.bytes, None)
                self._found.add("calculated", further.target, lengths, onward.steps, why, further.citations, "may")
            if (
                further.verb == "moves to"
                and taken.kind == "text"
                and content.now.digits <= size.digits < content.then.digits
            ):
                why = f"it takes the digits of the picture of {holder}, and {edge.source} then has more"
                lengths = (other.field.bytes, None)
                self._found.add("part", further.target, lengths, onward.steps, why, further.citations, "may")
            given_on = _given_on(content, size, taken) if is_whole(further) else None
            if given_on is None:
                continue
            short = self._items.shortage(further, given_on, further.target, other, frozenset(wave.causes))
            if short is None:
                filled = onward._replace(filled=given)
                yield from self.passed_on(further, further.target, other, content, filled)
            elif not short.is_cut:
                said = further._replace(why=f"{edge.source} moves to {holder}, which has room")
                yield PassedOn(holder, said, other, short._replace(is_sure=False), onward, given)

    def _content(self, edge: EstateEdge, size: Size, sent: Sizes) -> Sizes | None:
        """Return how much of an item all of another one fills, today and after growing; None if it gets only a part."""
        if is_whole(edge):
            return Sizes(held(size, sent.now), held(size, sent.then))
        for way in edge.ways:
            if edge.verb == "moves to" and way.string and not way.is_piece and way.sent is None and way.taken is None:
                beside = self._items.beside(way, edge)
                return Sizes(
                    *(held(size, text(Bytes(one.characters + more))) for one, more in zip(sent, beside, strict=True))
                )
        return None


def _given_on(content: Sizes, size: Size, taken: Size) -> Sizes | None:
    """Return what an item passes on of its content to another one; None if it passes on its unused room as well."""
    if taken.kind == size.kind or (taken.is_number and size.is_number):
        return content
    if size.is_number and taken.is_justified:
        # Only the zeros or blanks at its front do not fit.
        return Sizes(*(text(Bytes(size.characters - size.digits + one.digits)) for one in content))
    return None
