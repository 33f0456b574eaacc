"""Which data do some lines use? The items that their code names, with the groups around, condition names, and what they redefine.

Names are looked for in the data of the programs in the file, then in that of the copybooks that are at hand. An item that is
named twice is shown twice: which of them is meant is not decided here. Keeps out: how much of it fits.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.program import key

from .chunks import holds
from .units import redefined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.cobol.program import Entry, Program, Source

    from .chunks import Span

_NAME = re.compile(r"[A-Za-z0-9][\w-]*")
_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_NO_LEVEL = {"FD": 0, "SD": 0, "RD": 0, "CD": 0, "SELECT": 0}
_CONDITION, _RENAMES, _ALONE = 88, 66, 77


class Item(NamedTuple):
    """A data item, file or record. `belongs_to` are the groups around it and what it redefines, by number."""

    entry: Entry
    copybook: str | None
    belongs_to: tuple[int, ...]


class Data:
    """All data of a file and of its copybooks, by name."""

    def __init__(self, source: Source, copybooks: Mapping[str, Source]) -> None:
        self._source = source
        self._books = {key(name): book for name, book in copybooks.items()}
        self.items: list[Item] = []
        self._by_name: dict[str, list[int]] = {}
        self._conditions: dict[int, list[int]] = {}
        self._at_line: dict[int, list[int]] = {}
        for program in source.programs:
            self._read(program, source, None)
        for name in dict.fromkeys(key(copy.name) for program in source.programs for copy in program.copies):
            book = self._books.get(name)
            if book is not None:
                for program in book.programs:
                    self._read(program, book, name)

    def used(self, spans: Sequence[Span], names: Counter[str]) -> list[list[int]]:
        """What lines use that stands outside of them, the most named first; each with all that it needs beside it.

        `names` are those in the lines. Of an item that was cut apart the groups around it are needed.
        """
        counts = {number: times for name, times in names.items() for number in self._by_name.get(name, ())}
        for first, last in spans:
            for line in range(first, last + 1):
                for inside in self._at_line.get(line, ()):
                    for number in self.items[inside].belongs_to:
                        counts.setdefault(number, 0)
        wanted = sorted(counts, key=lambda number: (-counts[number], number))
        made = [[need for need in self._needs(number) if not self._is_in(need, spans)] for number in wanted]
        return [needs for needs in made if needs]

    def lines_of(self, number: int) -> list[tuple[int, str]]:
        """An item's lines with their text, those of a copybook by its own numbers."""
        item = self.items[number]
        source = self._source if item.copybook is None else self._books[item.copybook]
        return [(line, source.shown(line)) for line in range(item.entry.line, item.entry.end_line + 1)]

    def _needs(self, number: int) -> list[int]:
        """The item, its condition names, and all that these belong to."""
        needs: dict[int, None] = {}
        waiting = [number, *self._conditions.get(number, ())]
        while waiting:
            one = waiting.pop()
            if one not in needs:
                needs[one] = None
                waiting += self.items[one].belongs_to
        return list(needs)

    def _is_in(self, number: int, spans: Sequence[Span]) -> bool:
        item = self.items[number]
        return item.copybook is None and holds(spans, item.entry.line)

    def _read(self, program: Program, source: Source, copybook: str | None) -> None:
        around: list[tuple[int, int]] = []  # level, number
        for entry in program.entries:
            level = _NO_LEVEL.get(entry.word.upper()) if entry.level is None else entry.level
            if level is None:
                continue
            number = len(self.items)
            if level != _CONDITION:
                while around and (around[-1][0] >= level or level == _ALONE or (level == _RENAMES and len(around) > 1)):
                    around.pop()
            belongs_to: tuple[int, ...] = (around[-1][1],) if around else ()
            if level == _CONDITION:
                for group in belongs_to:
                    self._conditions.setdefault(group, []).append(number)
            elif level != _RENAMES:
                around.append((level, number))
                target = redefined(source, entry)
                belongs_to += tuple(self._by_name.get(key(target), ())[-1:]) if target else ()
            self.items.append(Item(entry, copybook, belongs_to))
            self._by_name.setdefault(key(entry.name), []).append(number)
            if copybook is None:
                self._at_line.setdefault(entry.line, []).append(number)


class Names:
    """How often some lines have each name; what was read once is remembered by stretch."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: dict[Span, Counter[str]] = {}

    def within(self, spans: Iterable[Span]) -> Counter[str]:
        """The names in all of these lines."""
        found: Counter[str] = Counter()
        for span in spans:
            if span not in self._known:
                self._known[span] = self._read(*span)
            found.update(self._known[span])
        return found

    def _read(self, first: int, last: int) -> Counter[str]:
        source = self._source
        start = source.starts[first - 1]
        end = source.starts[last] if last < len(source.starts) else len(source.code)
        found: Counter[str] = Counter()
        for word in source.words(start, end):
            if word.kind == "word":
                found[key(word.text)] += 1
            elif word.kind == "exec":
                found.update(map(key, _NAME.findall(_LITERAL.sub(" ", word.text))))
        return found
