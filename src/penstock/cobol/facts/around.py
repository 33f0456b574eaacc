"""Which data of containing programs does a nested one use: GLOBAL records and files, and for a method those of its class?

A method may use all data of the OBJECT or FACTORY that contains it. Leaves to others: what is done with the data.

Laws: a program that nothing contains has none; of its containers' records, a program gets those that it names, and those that
share a name with them. All programs of a file together take a number of steps linear in the names that they use and the pairs of a
program and a container.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ..program import key
from ..reading import BREAK
from ..reserved import CONFIGURATION
from ..words import CLASS_PARTS
from .data import OuterData
from .expanding import expand
from .item_clauses import pieces
from .layout import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..program import Program
    from ..source import Lookup, ScannedSource
    from .data import DataItem
    from .expanding import Expanded

_GLOBAL = re.compile(r"\bGLOBAL\b", re.IGNORECASE)
_WORDS = re.compile(r"[^\s.'\"(),;:=<>+*/&]++")


def outer_data(source: ScannedSource, program: Program, find: Lookup, expanded: Expanded) -> tuple[OuterData, ...]:
    """Return the data of the containing programs, the nearest first; only of those that share data that the program names.

    Args:
        source: The file that was scanned.
        program: One of the programs in it.
        find: The lookup of copybooks.
        expanded: The program with its copybooks in place, whose words name what it uses.
    """
    holders = programs_around(source, program)
    if not holders:
        return ()
    held, words = _held(source), _words(expanded)
    found = ((outer.name, held.shared(outer, program, find)) for outer in holders)
    named = ((name, shared.named(words)) for name, shared in found if shared is not None)
    return tuple(OuterData(name, items) for name, items in named if items)


def programs_around(source: ScannedSource, program: Program) -> list[Program]:
    """Return the programs that contain a program, from the inside out."""
    return list(_held(source).around(program)) if program.parent is not None else []


def declared_around(source: ScannedSource, program: Program) -> list[set[str]]:
    """Return the names that each program around a nested one declares, GLOBAL or not, in capitals."""
    return [_held(source).declared(outer) for outer in programs_around(source, program)]


class _Shared:
    """The items of a containing program, by the words that name them."""

    def __init__(self, items: tuple[DataItem, ...]) -> None:
        self._items = items
        self._records: dict[int, list[int]] = {}  # the items of each record
        self._named: dict[str, dict[int, None]] = {}  # the records that a word names
        for index, item in enumerate(items):
            self._records.setdefault(item.record, []).append(index)
            for word in _names(item):
                self._named.setdefault(word, {}).setdefault(item.record)

    def named(self, words: set[str]) -> tuple[DataItem, ...]:
        """Return the items, renumbered, of the GLOBAL records that some words name, and of all records that share a name with
        them: which item a name means depends on all items that have it.
        """
        said = self._named.keys() & words
        if not said:
            return ()  # as for most pairs of programs that are nested 800 deep
        named = (record for word in said for record in self._named[word])
        kept = {record for record in named if self._items[record].shared == "GLOBAL"}
        alike = {word for record in kept for index in self._records[record] for word in _names(self._items[index])}
        records = sorted(kept.union(*(self._named[word] for word in alike)))
        indexes = [index for record in records for index in self._records[record]]
        numbers = {index: number for number, index in enumerate(indexes)}
        return tuple(
            item._replace(record=numbers[item.record], parent=None if item.parent is None else numbers[item.parent])
            for item in map(self._items.__getitem__, indexes)
        )


class _Held:
    """The nesting of the programs of a source, and what each shares, found once: if it were found again for each program,
    n programs in one of n items would cost n * n.
    """

    def __init__(self, source: ScannedSource) -> None:
        self._source = source
        self._shared: dict[tuple[object, ...], _Shared | None] = {}
        self._declared: dict[tuple[int, int], set[str]] = {}
        self._holder: dict[tuple[int, int], Program | None] = {}
        stack: list[Program] = []
        for one in sorted(source.programs, key=lambda one: (one.start_line, -one.end_line)):
            while stack and stack[-1].end_line < one.start_line:
                stack.pop()
            around = (it for it in reversed(stack) if it.start_line < one.start_line and one.end_line <= it.end_line)
            self._holder.setdefault((one.start_line, one.end_line), next(around, None))
            stack.append(one)

    def around(self, program: Program) -> Iterator[Program]:
        """Yield the programs that contain a program, from the inside out."""
        outer = self._holder.get((program.start_line, program.end_line))
        while outer is not None:
            yield outer
            outer = self._holder[outer.start_line, outer.end_line]

    def declared(self, outer: Program) -> set[str]:
        """Return the names that a program declares, in capitals, including those in its CONFIGURATION SECTION."""
        known = outer.start_line, outer.end_line
        if known not in self._declared:
            found = {key(entry.name) for entry in outer.entries}
            for entry in outer.entries:
                if entry.section in CONFIGURATION:
                    found.update(map(key, pieces(self._source.code[entry.start : entry.end])))
            self._declared[known] = found
        return self._declared[known]

    def shared(self, outer: Program, program: Program, find: Lookup) -> _Shared | None:
        """Return what a program shares with one that it contains; None if nothing."""
        part = _part(outer, program.start_line) if outer.kind == "class" else None
        known = (outer.start_line, outer.end_line, find, part)
        if known not in self._shared:
            self._shared[known] = self._sharing(outer, part, find)
        return self._shared[known]

    def _sharing(self, outer: Program, part: tuple[int, int] | None, find: Lookup) -> _Shared | None:
        """Return what a program, or a part of a class, shares; None if nothing."""
        first = min((entry.start for entry in outer.entries), default=0)
        last = max((entry.end for entry in outer.entries), default=0)
        if part is None and not outer.copies and not _GLOBAL.search(self._source.code, first, last):
            return None
        items = layout(expand(self._source, outer, find).rows).items
        if part is not None:
            items = tuple(item._replace(shared="GLOBAL") if part[0] <= item.line < part[1] else item for item in items)
        return _Shared(items) if any(item.shared == "GLOBAL" for item in items) else None


# Cached for the programs of one file, which are read one after the other. Programs are identified by their lines, because comparing
# them would compare all their contents.
_held = lru_cache(maxsize=4)(_Held)


def _part(whole: Program, line: int) -> tuple[int, int]:
    """Return the first line, and the line after the last, of the part of a class, such as its OBJECT, that contains a line."""
    begins = [entry.line for entry in whole.entries if entry.word in CLASS_PARTS]
    return max((one for one in begins if one < line), default=whole.start_line), min(
        (one for one in begins if one >= line), default=whole.end_line + 1
    )


def _names(item: DataItem) -> Iterator[str]:
    """Yield the words that name an item, in capitals: its name, its conditions and indexes, and for a record its file."""
    if item.name != "FILLER":
        yield key(item.name)
    yield from (key(condition.name) for condition in item.conditions)
    yield from map(key, item.indexes)
    if item.file and item.level == 1:
        yield key(item.file)


def _words(expanded: Expanded) -> set[str]:
    """Return the words of a program and of its copybooks, in capitals."""
    codes = [row.code for row in expanded.rows]
    for piece in expanded.pieces:
        code, statements = piece.source.code, piece.program.statements
        codes += [code[statement.start : statement.end].replace(BREAK, "") for statement in statements]
    return set(_WORDS.findall(key("\n".join(codes))))
