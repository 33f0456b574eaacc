"""How is the data laid out: items with their clauses, offsets and sizes, from the entries of the DATA DIVISION?

Leaves to others: what a clause says (`item_clauses`), which statements read and write the items (`references`), and the sizes of
single items (`pictures`).

Law: an offset or a size is exact or None. After a missing copybook within a record, or an invalid picture, nothing in that
record is guessed. A missing copybook between records is assumed to hold whole records.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..clauses import SCREEN_USAGE
from ..program import key
from .data import Condition, DataItem
from .item_clauses import WAYS, clauses_of, is_placed, pieces, shared
from .pictures import boundary_of, bytes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .expanding import EntryRow
    from .item_clauses import ItemClauses, Shared

_NUMBER = re.compile(r"\d{1,9}")
# 01 NAME CONSTANT AS 10 takes no storage; CONSTANT RECORD does.
_OF_CONSTANTS = frozenset({"VALUE", "VALUES", "IS", "ARE", "CONSTANT", "GLOBAL", "AS"})
_CONSTANT = re.compile(r"\s*0?1\s+\S+\s+CONSTANT\s+(?!RECORD\b)", re.IGNORECASE)
_LONG = 500
"""Entries of this length or more are not cached: they are rarely repeated, and may be a megabyte."""
_SHOWING = frozenset({"REPORT", "SCREEN"})


class ShownItem(NamedTuple):
    """A data item, by its name and qualifiers, that an item of a report or screen shows or fills."""

    item: int
    names: tuple[str, ...]
    """The name, followed by its qualifiers from the inside out."""
    clause: str
    """The clause that names the data item, in capitals: SOURCE, FROM, USING and so on; "(" for a subscript, "" for a property of a
    control.
    """
    line: int
    copybook: str | None
    copybook_line: int | None = None
    """The line of the entry in its copybook; None if the program declares it."""

    @property
    def is_read(self) -> bool:
        """Whether the item of the report or screen gets the value of the data item."""
        return WAYS[self.clause][0]

    @property
    def is_written(self) -> bool:
        """Whether input is written to the data item."""
        return WAYS[self.clause][1]

    @property
    def is_property(self) -> bool:
        """Whether the data item determines the look of a control, or its place in a table, rather than its content."""
        return self.clause in {"", "("}


class DataLayout(NamedTuple):
    """The items in source order, the constants (level 78 and CONSTANT), and the items that reports and screens show."""

    items: tuple[DataItem, ...]
    constants: tuple[tuple[str, str, int, str | None], ...]
    """Name, value, line and copybook of each constant."""
    shown: tuple[ShownItem, ...] = ()


def layout(rows: Sequence[EntryRow]) -> DataLayout:
    """Return the layout of the items between FILE SECTION and PROCEDURE DIVISION, from the entries with copybooks expanded."""
    building = _Building()
    for row in rows:
        building.take(row)
    building.close()
    return DataLayout(tuple(building.items), tuple(building.constants), tuple(building.shown))


class _Open:
    """A group that is being filled: where its next item goes, how far it reaches, and what its items inherit."""

    __slots__ = ("boundary", "end", "index", "is_aligned", "level", "next", "sign", "usage", "varies")

    def __init__(
        self, index: int, level: int, start: int | None, usage: str | None, sign: str | None, *, varies: bool
    ) -> None:
        self.index = index
        self.level = level
        # None after the first item whose offset or size is unknown: the offsets of the following ones are unknown, too.
        self.next = start
        self.end = start  # the furthest end of anything in it
        self.usage = usage
        self.sign = sign
        self.varies = varies
        self.is_aligned = False  # whether it is SYNCHRONIZED, which applies to everything in it
        self.boundary = 1  # the widest alignment in it


class _Building:
    """The items while they are being laid out.

    Levels nest by number, so the open groups are a stack: an item closes every group whose level is not smaller than its own. Its
    offset is the `next` of its group; once it is complete, `_placed` advances `next` past it. A group is complete when it closes,
    and is then placed in the group around it in the same way. A REDEFINES begins where its subject does, and advances `next` only
    if it is longer.

    None spreads in one direction: an item of unknown offset or size makes everything after it in its groups unknown, up to the end
    of the record, and nothing before it.
    """

    def __init__(self) -> None:
        self.items: list[DataItem] = []
        self.constants: list[tuple[str, str, int, str | None]] = []
        self.shown: list[ShownItem] = []
        self._numbers: dict[str, int] = {}
        self._open: list[_Open] = []
        self._file: str | None = None
        self.shared: Shared = ""  # GLOBAL or EXTERNAL of that file
        # for items outside of any record: a copybook may begin below level 01
        self._loose = _Open(-1, 0, 0, None, None, varies=False)
        self._missing = False  # whether a copybook right before the entry is missing
        self._without_place: set[int] = set()  # the items of screens and reports
        self._uncounted: set[int] = set()  # the tables whose maximum number of occurrences is unknown
        self._conditions: dict[int, list[Condition]] = {}
        self._siblings: dict[tuple[int | None, str], int] = {}
        self._in_record: dict[tuple[int, str], int] = {}

    def take(self, row: EntryRow) -> None:
        """Add the next entry."""
        entry = row.entry
        level = entry.level
        if entry.word in {"FD", "SD", "RD"}:
            self._close(0)
            self._file = entry.name
            self.shared = shared(pieces(row.code)[1:])
        elif entry.word == "COPY":
            self._missing = True
            if (
                self._open and self._open[-1].index == len(self.items) - 1
            ):  # an empty group: the copybook would have filled it
                self._unknown()
                # `02 COPY IDMS RECORD EMPLOYEE`: the level is that of the record, which has its name from the dictionary.
                if row.code == "COPY IDMS" and self.items[-1].name == "FILLER":
                    self.items[-1] = self.items[-1]._replace(name=entry.name)
        elif not level:  # No item has level 0: characters of a shifted card may look like it.
            if level is None and row.section != "FILE":
                self._file = None
        elif level == 78 or (level == 1 and _CONSTANT.match(row.code)):
            self._constant(row)
        elif level != 88:
            if self._missing and level not in {1, 77}:
                self._unknown()
            self._missing = False
            self._item(row, level)
        # The item of this condition may be in the missing copybook: it must not be added to the item before.
        elif not self._missing:
            self._condition(row)

    def close(self) -> None:
        """Close all groups, after the last entry."""
        self._close(0)
        for index, conditions in self._conditions.items():
            self.items[index] = self.items[index]._replace(conditions=tuple(conditions))
        # A line of a screen or report may be a literal, which needs no picture: an item that contains none is not a group.
        groups = {item.parent for item in self.items}
        for index in self._without_place - groups:
            if self.items[index].usage == "GROUP" and self.items[index].level not in {1, 66}:
                self.items[index] = self.items[index]._replace(usage="DISPLAY")

    def _unknown(self) -> None:
        """Make the ends of the open groups unknown: a missing copybook would have extended them by an unknown amount."""
        for group in (self._loose, *self._open):
            group.next = group.end = None

    def _condition(self, row: EntryRow) -> None:
        """Add a level 88 to the item before it; a range is one value with THRU."""
        if not self.items:
            return
        words = pieces(row.code)
        values: list[str] = []
        for word in words[2:]:
            upper = word.upper()
            if upper in {"VALUE", "VALUES", "IS", "ARE"}:
                continue
            if upper in {"WHEN", "FALSE"}:
                break
            if upper in {"THRU", "THROUGH"} and values:
                values[-1] += " THRU"
            elif upper == "ALL":
                values.append("ALL")
            elif values and values[-1].endswith((" THRU", "ALL")):
                values[-1] += " " + word
            else:
                values.append(word)
        name = words[1] if len(words) > 1 else row.entry.name
        self._conditions.setdefault(len(self.items) - 1, []).append(Condition(name, tuple(values), row.line))

    def _constant(self, row: EntryRow) -> None:
        """Add a level 78 or a CONSTANT; a number may be the count of a later OCCURS."""
        words = pieces(row.code)
        values = [word for word in words[2:] if word.upper() not in _OF_CONSTANTS]
        if len(words) < 2 or not values:
            return
        self.constants.append((words[1], " ".join(values), row.line, row.copybook))
        if _NUMBER.fullmatch(values[0]) and len(values) == 1:
            self._numbers[key(words[1])] = int(values[0])

    def _item(self, row: EntryRow, level: int) -> None:
        """Add a data item: place it, or open it as a group if it has no picture."""
        is_shown = row.section in _SHOWING or (self._is_screen() and level not in {1, 77})
        # A copybook by itself does not say in which section it is copied.
        is_shown = is_shown or (not row.section and is_placed(row.code))
        read = clauses_of if len(row.code) < _LONG else clauses_of.__wrapped__
        clauses = read(row.code, is_shown)
        if level == 66:
            self._renames(row, clauses)
            return
        self._enter(row, level)
        group = self._open[-1] if self._open else self._loose
        index, parent = len(self.items), group.index if self._open else None
        # USAGE and SIGN of a group apply to everything in it, unless an item has its own.
        usage, sign = clauses.usage or group.usage, clauses.sign or group.sign
        occurs = self._occurs(clauses)
        elementary = clauses.picture is not None
        size = clauses.size_bytes(usage or "DISPLAY", sign or "")
        is_aligned = clauses.synchronized or group.is_aligned
        boundary = boundary_of(usage or "DISPLAY", size) if is_aligned else 1
        start, varies = self._start(clauses, group, parent, boundary)
        if is_shown:  # a position on paper or a screen is not an offset
            start = None
            self._without_place.add(index)
        self.items.append(
            DataItem(
                level=level,
                name=clauses.name,
                line=row.line,
                end_line=row.end_line,
                section=row.section,
                parent=parent,
                record=self.items[parent].record if parent is not None else index,
                file=self._file,
                shared=self._shared_by(clauses) if parent is None and level in {1, 77} else "",
                picture=clauses.picture,
                usage=(usage or "DISPLAY") if elementary else "GROUP",
                occurs=occurs,
                depending=clauses.depending,
                indexes=clauses.indexes,
                redefines=clauses.redefines,
                value=clauses.value,
                sign=sign if elementary and sign and clauses.picture and "S" in clauses.picture.upper() else None,
                offset=start,
                bytes=size if elementary else None,
                boundary=boundary,
                varies=varies,
                is_justified=elementary and clauses.is_justified,
                copybook=row.copybook,
                copybook_line=row.entry.line if row.copybook else None,
            )
        )
        if clauses.is_table and occurs is None:
            self._uncounted.add(index)
        for word, names in clauses.shown() if is_shown else ():
            inner_line = row.entry.line if row.copybook else None
            self.shown.append(ShownItem(index, names, word, row.line, row.copybook, inner_line))
        # The last item with a name wins: REDEFINES refers to the nearest one before it in the same group.
        self._siblings[parent, clauses.key] = index
        self._in_record[self.items[index].record, clauses.key] = index
        if elementary:
            self._placed(group, index)
        else:
            self._open.append(_Open(index, level, start, usage, sign, varies=varies))
            self._open[-1].is_aligned = is_aligned

    def _enter(self, row: EntryRow, level: int) -> None:
        """Close what an item of a level is not part of; a record ends all before it, also those outside of any."""
        if level not in {1, 77}:
            self._close(level)
            return
        self._close(0)
        self._loose = _Open(-1, 0, 0, None, None, varies=False)
        if row.section != "FILE":
            self._file = None

    def _occurs(self, clauses: ItemClauses) -> int | None:
        """Return the maximum number of occurrences; None if the item is not a table, or a name stands for an unknown number."""
        if not clauses.counts:
            return None
        most = clauses.counts[-1]
        return int(most) if _NUMBER.fullmatch(most) else self._numbers.get(key(most))

    def _shared_by(self, clauses: ItemClauses) -> Shared:
        """Return with whom a record is shared: as its file says, or else itself."""
        return (self.shared if self._file else "") or clauses.shared

    def _is_screen(self) -> bool:
        """Return whether the open record describes a screen."""
        return bool(self._open) and self._open[0].usage == SCREEN_USAGE

    def _start(self, clauses: ItemClauses, group: _Open, parent: int | None, boundary: int) -> tuple[int | None, bool]:
        """Return the offset of an item in its record, None if unknown, and whether it varies with an OCCURS DEPENDING."""
        start = group.next
        # A record that redefines another begins at 0 like any other, whatever its subject is.
        if clauses.redefines is not None and (parent is not None or start != 0):
            target = self._siblings.get((parent, key(clauses.redefines)))
            return (
                (self.items[target].offset, self.items[target].varies) if target is not None else (None, group.varies)
            )
        # Slack bytes: SYNCHRONIZED moves a binary item to the next multiple of its boundary, and with it the groups that begin
        # with it.
        if start is not None and start % boundary:
            start += -start % boundary
            for before, around in enumerate(reversed(self._open), 1):
                if around.index != len(self.items) - before or self.items[around.index].redefines is not None:
                    break
                self.items[around.index] = self.items[around.index]._replace(offset=start)
                around.next = around.end = start
        return start, group.varies

    def _placed(self, group: _Open, index: int) -> None:
        """Advance a group past a complete item, a table with all its occurrences."""
        item = self.items[index]
        group.boundary = max(group.boundary, item.boundary)
        # A table counts with its maximum number of occurrences. If that is unknown (OCCURS 1 TO UNBOUNDED DEPENDING ON, or a count
        # by a name that no preceding level 78 defines), nothing after it can be placed; a redefinition of unknown size moves
        # nothing, because its subject has been counted.
        if item.offset is None or item.bytes is None or index in self._uncounted:
            if item.redefines is None:
                group.next = group.end = None
            return
        reach = item.offset + item.bytes * (1 if item.occurs is None else item.occurs)
        if item.redefines is None:
            group.next = reach
        if group.end is not None:
            group.end = max(group.end, reach)
            # A redefinition may be longer than its subject; the next item follows the longer of the two.
            if item.redefines is not None and group.next is not None:
                group.next = max(group.next, reach)
        if item.depending is not None:
            group.varies = True

    def _close(self, level: int) -> None:
        """Close the groups that an item of `level` does not belong to; 0 closes all."""
        while self._open and self._open[-1].level >= max(level, 1):
            done = self._open.pop()
            item = self.items[done.index]
            if (
                done.index == len(self.items) - 1
            ):  # an empty one: an index, a pointer, a floating point number, or unknown
                usage = done.usage or "DISPLAY"
                # If it is empty because its copybook is missing, its size is unknown, and not that of an elementary item.
                size = bytes_of(None, usage) if not self._missing or done.end is not None else None
                item = item._replace(bytes=size, usage="GROUP" if size is None else usage)
            else:
                size = None if done.end is None or item.offset is None else done.end - item.offset
                if size is not None and (item.occurs is not None or done.index in self._uncounted):
                    size += -size % done.boundary  # each occurrence is aligned like the first
                item = item._replace(bytes=size, boundary=done.boundary)
            self.items[done.index] = item
            above = self._open[-1] if self._open else self._loose
            above.varies |= done.varies
            self._placed(above, done.index)

    def _renames(self, row: EntryRow, clauses: ItemClauses) -> None:
        """Add a level 66: the part of the record from its first item to the end of its last."""
        if clauses.renames is None or not self.items:
            return
        self._close(2)
        record = self.items[-1].record
        found = [self._in_record.get((record, key(name))) for name in clauses.renames if name]
        first, last = (None if at is None else self.items[at] for at in (found[0], found[-1]))
        start = first.offset if first else None
        end = None
        if last and last.offset is not None and last.bytes is not None and found[-1] not in self._uncounted:
            end = last.offset + last.bytes * (last.occurs or 1)
        self.items.append(
            DataItem(
                level=66,
                name=clauses.name,
                line=row.line,
                end_line=row.end_line,
                section=row.section,
                parent=record,
                record=record,
                file=self._file,
                renames=clauses.renames,
                usage="GROUP",
                offset=start,
                bytes=end - start if start is not None and end is not None else None,
                copybook=row.copybook,
                copybook_line=row.entry.line if row.copybook else None,
            )
        )
