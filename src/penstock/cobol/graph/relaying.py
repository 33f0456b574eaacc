"""What are the offsets of a record's items and the lengths of its groups if some of its items have other lengths?

Law: with no other lengths it is the layout of the facts (`facts.layout`); what is unknown there is unknown here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .values import LaidField

RENAMES = 66


class Lying(NamedTuple):
    """The offset of an item in its record, and the length of one occurrence; None if not known."""

    offset: int | None
    bytes: int | None


def relaid(fields: Sequence[LaidField], record: int, lengths: Mapping[int, int]) -> dict[int, Lying]:
    """Return the offset and length of each item of a record, by its index.

    Args:
        fields: The fields of the program.
        record: The index of the record.
        lengths: The lengths of some items, by their indexes; that of a group is a minimum.
    """
    within: dict[int, list[int]] = {}
    renaming = []
    for index in inside(fields, record):
        parent = fields[index].parent
        if fields[index].level == RENAMES:
            renaming.append(index)
        elif parent is not None:
            within.setdefault(parent, []).append(index)
    found: dict[int, Lying] = {}

    def boundary(index: int) -> int:
        """Return the alignment of an item by SYNCHRONIZED; a group has that of its first item."""
        while index in within:
            index = within[index][0]
        return fields[index].boundary

    def place(index: int, start: int) -> int:
        """Lay out an item and everything in it, and return its length, 0 if unknown."""
        field = fields[index]
        at = end = start
        begins: dict[str, int] = {}
        for inner in within.get(index, ()):
            one = fields[inner]
            subject = begins.get(one.redefines) if one.redefines else None
            if one.redefines and subject is None:  # it redefines something that is not here
                place(inner, at)
                continue
            begin = subject if subject is not None else at + -at % boundary(inner)
            reach = begin + place(inner, begin) * (one.occurs or 1)
            at = reach if subject is None else max(at, reach)
            end = max(end, reach)
            begins[one.name] = begin
        length = end - start if index in within else field.bytes or 0
        if index in within and field.occurs is not None:
            length += -length % field.boundary
        length = max(length, lengths.get(index, 0))
        found[index] = Lying(None if field.offset is None else start, None if field.bytes is None else length)
        return length

    place(record, fields[record].offset or 0)
    for index in renaming:
        found[index] = _renamed(fields, index, found)
        # Some renamed item has to be longer, and the record with it.
        offset, length = found[index]
        missing = 0 if length is None else max(0, lengths.get(index, 0) - length)
        found[index] = Lying(offset, None if length is None else length + missing)
        whole = found[record]
        found[record] = whole._replace(bytes=None if whole.bytes is None else whole.bytes + missing)
    return found


def inside(fields: Sequence[LaidField], top: int) -> Iterator[int]:
    """Yield the indexes of an item and of everything in it, which are consecutive."""
    yield top
    within = {top}
    for index in range(top + 1, len(fields)):
        if fields[index].parent not in within:
            return
        within.add(index)
        yield index


def covers(fields: Sequence[LaidField], renaming: int, index: int) -> bool:
    """Return whether a RENAMES includes some of the bytes of an item."""
    one, other = fields[renaming], fields[index]
    if one.offset is None or one.bytes is None or other.offset is None or other.bytes is None:
        return False
    return one.offset < other.offset + other.bytes * (other.occurs or 1) and other.offset < one.offset + one.bytes


def _renamed(fields: Sequence[LaidField], index: int, found: Mapping[int, Lying]) -> Lying:
    """Return the place of a RENAMES: from the start of its first item to the end of its last one."""
    field = fields[index]
    if field.offset is None or field.bytes is None:
        return Lying(field.offset, field.bytes)
    starts, ends = [], []
    for inner, (offset, length) in found.items():
        one = fields[inner]
        if one.offset is not None and one.bytes is not None and offset is not None and length is not None:
            if one.offset == field.offset:
                starts.append(offset)
            if one.offset + one.bytes * (one.occurs or 1) == field.offset + field.bytes:
                ends.append(offset + length * (one.occurs or 1))
    if not starts or not ends:
        return Lying(None, None)
    return Lying(min(starts), max(ends) - min(starts))
