"""Tell what the groups of a record hold: which of them hold some fields, and what lies behind a place in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .relaying import RENAMES, covers, of_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .values import LaidField, ProgramPart


def holders_of(fields: Sequence[LaidField], record: int, inside: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """Return the groups that hold some fields, and what renames these: each with the fields, and how often it has them."""
    found: dict[int, list[tuple[int, int]]] = {}
    renaming = [index for index in of_record(fields, record) if fields[index].level == RENAMES]
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
    """Yield what a group holds, at any depth."""
    within = {group}
    for index in range(group + 1, len(part.fields)):
        field = part.fields[index]
        if field.parent not in within:
            return
        if field.level != RENAMES:
            within.add(index)
            yield field


def lies_behind(part: ProgramPart, group: int, start: int, end: int | None = None) -> bool:
    """Return whether a group has a name for something that begins behind a place, and before another: DFHCOMMAREA as a table
    of X has none.
    """
    first = part.fields[group].offset or 0
    begins = (
        (field.offset or 0) - first
        for field in _below(part, group)
        if field.name and not field.in_table and field.usage != "GROUP"
    )
    return any(start < begin and (end is None or begin < end) for begin in begins)


def varies(part: ProgramPart, group: int) -> bool:
    """Return whether the length of a group depends on an OCCURS DEPENDING."""
    return any(field.depending for field in _below(part, group))
