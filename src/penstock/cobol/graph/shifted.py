"""What sees other characters in an item that has room, because the characters that it receives are shifted?

Numbers grow at their front, and so do JUSTIFIED items: `MOVE N TO T` fills T from the left with more zeros or blanks before what
was there. A text fills a JUSTIFIED item from the right, with more blanks after it; a STRING puts what follows further to the right,
and so does a group in which a field grows. A parameter without names of its own, such as DFHCOMMAREA, is like a text to which the
group is moved. Leaves to others: items that are too short (`growth`).

Law: whatever is reported takes a part of such an item, is compared with it, or is calculated from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .bringing import receiver_of, ways_of
from .holding import GrowingPlace, lies_behind
from .sizes import grows_behind_point, size_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..facts.data import MoveWay
    from .carrying import PlacedField
    from .comparisons import Comparisons
    from .consequences import Longer, Wave
    from .growing import GrowingEstate
    from .named_parts import NamedParts
    from .shortages import Sizes
    from .sizes import Size
    from .values import EstateEdge, NodeId


class _Reached(NamedTuple):
    """An item in which characters are shifted: they are among the first `end` characters of a text, behind `first` that stay, and
    among the last of one that is JUSTIFIED.
    """

    node: NodeId
    placed: PlacedField
    wave: Wave
    first: int
    end: int
    is_passed: bool = False
    """Whether a caller passes them: they do not go on to the items of other callers."""


class Shifted:
    """Reports the uses of items in which characters are shifted.

    Args:
        estate: The estate in which fields grow.
        comparisons: Reports what fields are compared with.
        parts: Reports parts that are addressed by position.
    """

    def __init__(self, estate: GrowingEstate, comparisons: Comparisons, parts: NamedParts) -> None:
        self._graph, self._carrying, self._found, self._items, self._uses = estate
        self._comparisons, self._parts = comparisons, parts
        self._seen: set[tuple[NodeId, NodeId, bool]] = set()

    def tell(
        self, sender: NodeId, sent: Sizes, edge: EstateEdge, other: NodeId, placed: PlacedField, wave: Wave
    ) -> None:
        """Report what sees other characters in an item that has room for what grows.

        Args:
            sender: The item that grows.
            sent: How much the sender holds, today and after growing.
            edge: The edge that brings the sender to the item.
            other: The item.
            placed: Where the item is declared.
            wave: How the sender comes to grow; its `filled` are the statements that fill the item.
        """
        size = size_of(placed.field)
        if size is not None and size.kind == "text" and edge.verb == "moves to" and self._shifts(edge, sent, size):
            end = max(sent.then.characters + self._items.beside(way, edge)[1] for way in ways_of(edge))
            self._follow(sender, sent.then, _Reached(other, placed, wave, 0, end))

    def tell_behind(self, changed: Longer, then: Size, edge: EstateEdge, other: NodeId, placed: PlacedField) -> None:
        """Report what sees other characters in a text that has room for a group: what follows the growing field is shifted there.

        Args:
            changed: How the group gets longer.
            then: How much it holds after growing.
            edge: The edge that brings the group to the text.
            other: The text.
            placed: Where the text is declared.
        """
        group, size = changed.part.fields[changed.at], size_of(placed.field)
        first = changed.place.within(group).last + 1
        is_given = edge.verb == "passes to" or (edge.verb == "moves to" and edge.source == group.node)
        if (
            is_given
            and all(_is_all(way) and way.taken is None and not way.string for way in edge.ways)
            and first < (group.bytes or 0)
            and size is not None
            and (size.kind == "text" or (size.kind == "group" and not _has_layout(placed, first)))
            and not size.is_justified
        ):
            wave = changed.wave._replace(filled=edge.citations)
            is_passed = edge.verb == "passes to" and other == edge.target
            self._follow(group.node, then, _Reached(other, placed, wave, first, then.characters, is_passed))

    def _follow(self, sender: NodeId, sent: Size, begun: _Reached) -> None:
        """Report what sees other characters in an item in which they are shifted, and in those that receive them from there."""
        # Without recursion: a value may be moved through a thousand fields.
        waiting = [self._seen_in(sender, sent, begun)]
        while waiting:
            onward = next(waiting[-1], None)
            if onward is None:
                waiting.pop()
            else:
                waiting.append(self._seen_in(sender, sent, onward))

    def _seen_in(self, sender: NodeId, sent: Size, here: _Reached) -> Iterator[_Reached]:
        """Report what sees other characters in an item; yield the items to which all of them are moved."""
        node, placed, wave, first, end, is_passed = here
        size = size_of(placed.field)
        if size is None or (sender, node, is_passed) in self._seen:
            return
        self._seen.add((sender, node, is_passed))
        self._parts.of_shifted(node, placed, sender, sent, wave, first)
        self._comparisons.tell_shifted(placed.part, placed.at, sender, wave)
        onward = wave._replace(steps=wave.steps + 1)
        for edge in self._graph.touching(node):
            target = receiver_of(node, edge, self._items.returned) or edge.target
            is_back = edge.verb == "passes to" and target == edge.source
            other = None if target == node or (is_back and is_passed) else self._carrying.place(target)
            taken = None if other is None else size_of(other.field)
            given = () if other is None else self._uses.given(node, wave.filled, edge, other)
            if other is None or taken is None or not given:
                continue
            lengths = (other.field.bytes, None)
            keeps_side = [_keeps_side(size, way, taken) for way in ways_of(edge)]
            ends = [end if keeps else size.characters for keeps in keeps_side]
            stays = first if all(keeps_side) else 0
            if edge.verb == "computes" and any(one.function != "length" for one in ways_of(edge)):
                why = f"it is calculated from {node}, where what {sender} sends will be at another position"
                self._found.add("calculated", target, lengths, onward.steps, why, edge.citations, "may")
            elif edge.verb not in {"moves to", "passes to"} or not all(_is_all(one) for one in edge.ways):
                continue
            elif taken.kind == "group" and _has_layout(other, stays):
                why = f"it takes {node}, where what {sender} sends will be at another position"
                if not self._items.inside.get((id(other.part), other.field.record)):
                    self._found.add("other layout", target, lengths, onward.steps, why, edge.citations, "may")
            elif taken.kind not in {"text", "group"}:
                continue
            elif taken.characters < max(ends) or any(one.taken is not None for one in edge.ways):
                why = f"it takes a part of {node}, where what {sender} sends will be at another position"
                if taken.characters > stays and ("too short", target) not in self._found:
                    self._found.add("part", target, lengths, onward.steps, why, edge.citations, "may")
            else:
                is_given = edge.verb == "passes to" and not is_back
                yield _Reached(target, other, onward._replace(filled=given), stays, max(ends), is_given)

    def _shifts(self, edge: EstateEdge, sent: Sizes, size: Size) -> bool:
        """Return whether what grows is shifted in a text that receives it, or shifts what is next to it there."""
        grows_at_front = sent.then.grows_at_front and not grows_behind_point(*sent)
        for way in ways_of(edge):
            at_front = grows_at_front != (way.function == "reversed")
            if way.string:
                if at_front or (not way.is_piece and self._items.beside(way, edge)[0]):
                    return True
            elif way.sent is None and way.taken is None and at_front != size.is_justified:
                return True
        return False


def _has_layout(placed: PlacedField, first: int) -> bool:
    """Return whether a group has a name for what follows some of its characters: a table of X has none."""
    return lies_behind(placed.part, placed.at, GrowingPlace(first - 1, first - 1))


def _is_all(way: MoveWay) -> bool:
    """Return whether what a statement sends begins where the item does, and ends where it does or where data says."""
    return way.sent is None or (way.sent.start == 1 and way.sent.length is None)


def _keeps_side(size: Size, way: MoveWay, taken: Size) -> bool:
    """Return whether an item takes another one from the side on which that has its characters, rather than its room.

    REVERSE puts the room at the other side. What is JUSTIFIED takes the end of what is moved to it, but the beginning of what a
    STRING puts there.
    """
    takes_end = taken.is_justified and not way.string
    return takes_end == (size.is_justified != (way.function == "reversed"))
