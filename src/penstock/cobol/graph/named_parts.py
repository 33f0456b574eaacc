"""Which statements address characters by position that are others once a field has grown?

Leaves to others: which field grows (`growth`), and what such a part is moved to, which the moves say.

Law: for each reported position, the same value then has other characters there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sizes import grows_behind_point, size_of
from .values import NodeId, by_field, less_sure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..facts.data import ItemPart
    from .carrying import PlacedField
    from .consequences import Wave
    from .growing import GrowingEstate
    from .holding import GrowingPlace
    from .shortages import Sizes
    from .sizes import Size
    from .values import Certainty, CitedLine, ProgramPart


class NamedParts:
    """Reports parts that are addressed by position.

    Args:
        estate: The estate in which fields grow.
    """

    def __init__(self, estate: GrowingEstate) -> None:
        self._graph, self._found = estate.graph, estate.found
        self._of = by_field(estate.graph.parts, lambda part: part.parts)

    def of_field(self, node: NodeId, placed: PlacedField, wave: Wave) -> None:
        """Report statements that address characters of a growing field which then differ, or are no longer all of it."""
        size = size_of(placed.field)
        if size is None or placed.field.usage == "GROUP":
            return
        if (size.kind != "text" or size.grows_at_front) and not grows_behind_point(size, wave.size):
            cited = [place for part, places in self._used(node, placed) if _is_behind(part) for place in places]
            self._tell(node, placed, f"{_characters(size)} today, others then", wave, cited)
            return
        ends = [
            places
            for part, places in self._used(node, placed)
            if not part.is_open and part.length and (part.start or 0) - 1 + part.length == size.bytes
        ]
        why = "all of it up to its end today, only a part then"
        self._tell(node, placed, why, wave, [place for places in ends for place in places], "may")

    def of_shifted(
        self, node: NodeId, placed: PlacedField, sender: NodeId, sent: Size, wave: Wave, first: int = 0
    ) -> None:
        """Report statements that address characters of a text by position, if a growing item sends them there: they shift.

        Args:
            node: The text, or a group without names for them.
            placed: Where it is declared.
            sender: The growing item.
            sent: How much it holds.
            wave: How it comes to grow.
            first: The first of the characters that shift, counted from 0.
        """
        size = size_of(placed.field)
        if size is not None and size.kind in {"text", "group"}:
            cited = [
                place
                for part, places in self._used(node, placed)
                if _is_behind(part) and (part.is_open or (part.start or 1) - 1 + (part.length or 1) > first)
                for place in places
            ]
            self._tell(
                node, placed, f"{_characters(sent)} that {sender} sends there today, others then", wave, cited, "may"
            )

    def of_content(self, node: NodeId, placed: PlacedField, content: Sizes, sender: NodeId, wave: Wave) -> None:
        """Report statements that address, by position, all that an item with room holds today, and then only a part of it.

        Args:
            node: The item.
            placed: Where it is declared.
            content: How much of it is filled, today and then.
            sender: What fills it.
            wave: How the sender comes to grow.
        """
        size = size_of(placed.field)
        if size is not None:
            cited = [
                place
                for part, places in self._used(node, placed)
                if _has_all(part, size, content.now) and not _has_all(part, size, content.then)
                for place in places
            ]
            self._tell(node, placed, f"all that {sender} sends there today, only a part then", wave, cited, "may")

    def of_group(self, part: ProgramPart, at: int, place: GrowingPlace, wave: Wave) -> None:
        """Report statements that address bytes of a group behind what grows in it.

        Args:
            part: The program.
            at: The index of the group.
            place: Where it grows.
            wave: How it comes to grow.
        """
        group = part.fields[at]
        cited = [
            cited
            for one in self._of.get((id(part), at), ())
            if place.moves(one.part, group.bytes)
            for cited in one.citations
        ]
        if cited:
            why = "a part of it is given by position, where there will be other bytes"
            node = group.node
            self._found.add("part", node, (group.bytes, None), wave.steps, why, cited, wave.certainty)

    def _used(self, node: NodeId, placed: PlacedField) -> Iterator[tuple[ItemPart, tuple[CitedLine, ...]]]:
        """Yield the parts of a field that statements address by position, including those that moves take or fill."""
        for one in self._of.get((id(placed.part), placed.at), ()):
            if one.part.start is not None:
                yield one.part, one.citations
        for edge in self._graph.touching(node):
            for way in edge.ways:
                part = way.sent if edge.source == node else way.taken
                if part is not None and part.start is not None:
                    yield part, edge.citations

    def _tell(
        self,
        node: NodeId,
        placed: PlacedField,
        whole: str,
        wave: Wave,
        cited: list[CitedLine],
        sure: Certainty = "is",
    ) -> None:
        """Report that parts of a field then hold other characters."""
        if cited:
            why = f"a part of it is given by position: {whole}"
            certainty = less_sure(wave.certainty, sure)
            self._found.add("part", node, (placed.field.bytes, None), wave.steps, why, cited, certainty)


def _characters(size: Size) -> str:
    """Return what an item consists of, in words."""
    return "digits" if size.is_number else "characters"


def _is_behind(part: ItemPart) -> bool:
    """Return whether a part of a number holds other digits once more digits precede them: it is not all of the number."""
    return bool(part.length) if not part.is_open else part.start != 1


def _has_all(part: ItemPart, size: Size, content: Size) -> bool:
    """Return whether a part of an item has all that fills the item, up to the side at which it grows."""
    before = (part.start or 1) - 1
    if size.grows_at_front:
        return before <= size.digits - content.digits
    return not before and (part.is_open or (part.length or 0) >= content.characters)
