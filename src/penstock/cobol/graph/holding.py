"""What do the groups of a record hold: which contain given fields, and what in them moves when these grow?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import relaying
from .relaying import RENAMES, covers
from .sizes import grows_behind_point, size_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..facts.data import ItemPart
    from .carrying import PlacedField
    from .sizes import Size
    from .values import LaidField, ProgramPart


def holders_of(fields: Sequence[LaidField], record: int, inside: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """Return the groups that contain some fields, and what renames these: each with the fields and how often it has them."""
    found: dict[int, list[tuple[int, int]]] = {}
    renaming = [index for index in relaying.inside(fields, record) if fields[index].level == RENAMES]
    for index in inside:
        times = fields[index].occurs or 1
        for one in renaming:
            if covers(fields, one, index):
                found.setdefault(one, []).append((index, times))
        at = fields[index].parent
        while at is not None:
            found.setdefault(at, []).append((index, times))
            times *= fields[at].occurs or 1
            at = fields[at].parent
    return found


def _below(part: ProgramPart, group: int) -> Iterator[LaidField]:
    """Return what a group contains, at any depth."""
    fields = (part.fields[index] for index in relaying.inside(part.fields, group) if index != group)
    return (field for field in fields if field.level != RENAMES)


class GrowingPlace(NamedTuple):
    """The place in an area where something grows; bytes are counted from 0."""

    first: int
    """The byte where the first item that grows begins."""
    last: int
    """The last byte that does not move: for a text, which grows at its end, its last one; for a number, which grows at its front,
    the one before it."""

    def within(self, field: LaidField) -> GrowingPlace:
        """Return the place relative to the beginning of a field."""
        return GrowingPlace(self.first - (field.offset or 0), self.last - (field.offset or 0))

    def moves(self, part: ItemPart, length: int | None) -> bool:
        """Return whether a part of an item of some length then holds other bytes, or may."""
        if part.start is None:
            return True
        end = length if part.is_open and length is not None else part.start - 1 + (part.length or 1)
        return self.last < end - 1

    def changes(self, start: int, length: int) -> bool:
        """Return whether some bytes then differ, or no longer include all of what grows: a sort by them compares less."""
        return start + length > max(self.first, self.last)


def growing_place(fields: Iterable[tuple[LaidField, Size | None]]) -> GrowingPlace:
    """Return where a record grows, given the fields in it that do, each with its size after growing."""
    found = []
    for field, then in fields:
        size, first = size_of(field), field.offset or 0
        # What grows at its front moves as a whole.
        grows_at_end = size is not None and (
            grows_behind_point(size, then) or (size.kind == "text" and not size.grows_at_front)
        )
        found.append((first, first + (size.bytes if size is not None and grows_at_end else 0) - 1))
    return GrowingPlace(*map(min, zip(*found, strict=True)))


def lies_behind(part: ProgramPart, group: int, place: GrowingPlace, end: int | None = None) -> bool:
    """Return whether a group has a name for bytes that then move, among those that begin before `end`: DFHCOMMAREA as a table of
    X has none.
    """
    within = part.fields[group].offset or 0
    return any(
        place.first < (field.offset or 0) - within
        and place.last < (field.offset or 0) - within + (field.bytes or 1) - 1
        for field in _below(part, group)
        if field.name
        and not field.in_table
        and field.usage != "GROUP"
        and (end is None or (field.offset or 0) - within < end)
    )


def first_name(part: ProgramPart, group: int) -> str:
    """Return the first name in a group; "" if there is none."""
    return next((field.name for field in _below(part, group) if field.name), "")


def is_other_kind(one: PlacedField, other: PlacedField) -> bool:
    """Return whether two groups that share bytes may be records of two types: both have names, and none for the same bytes.

    A date and its parts are one value; the bodies of a customer and of an order are not, and only the longer one has to fit.
    """
    places = []
    for owner, group in (one, other):
        within = owner.fields[group].offset or 0
        named = [field for field in _below(owner, group) if field.name and field.usage != "GROUP"]
        places.append({((field.offset or 0) - within, field.bytes) for field in named})
    return bool(places[0] and places[1]) and places[0].isdisjoint(places[1])


def has_names(part: ProgramPart, group: int) -> bool:
    """Return whether anything in a group has a name."""
    return any(field.name for field in _below(part, group))


def varies(part: ProgramPart, group: int) -> bool:
    """Return whether the length of a group depends on an OCCURS DEPENDING."""
    return any(field.depending for field in _below(part, group))
