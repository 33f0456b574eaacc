"""Which data do some lines use? The items that their code names, with enclosing groups, condition names, and what they redefine.

Names are looked up in the data of their program, in its available copybooks, and in the programs that it is nested in. An item
that exists twice is shown twice: which of them is meant is not decided here. Leaves to others: how much of it fits.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.program import in_library, key

from .chunks import holds
from .units import redefined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.cobol.program import Copy, DeclarationEntry
    from penstock.cobol.source import ScannedSource

    from .chunks import Span

_NAME = re.compile(r"[A-Za-z0-9][\w-]*")
_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_NO_LEVEL = {"FD": 0, "SD": 0, "RD": 0, "CD": 0, "SELECT": 0}
_CONDITION, _RENAMES, _ALONE = 88, 66, 77


class DeclaredItem(NamedTuple):
    """A data item, file or record, and the copybook that it is in.

    `belongs_to` holds the numbers of the enclosing group and of what the item redefines.
    """

    entry: DeclarationEntry
    copybook: str | None
    belongs_to: tuple[int, ...]


class Data:
    """All data of a file and of its copybooks, by name."""

    def __init__(self, source: ScannedSource, copybooks: Mapping[str, ScannedSource]) -> None:
        self._source = source
        self._books = {key(name): book for name, book in copybooks.items()}
        self.items: list[DeclaredItem] = []
        self._by_name: dict[tuple[str, str], list[int]] = {}  # program, name
        self._named: set[str] = set()  # in any program
        self._conditions: dict[int, list[int]] = {}
        self._at_line: dict[int, list[int]] = {}
        self._parents = {key(program.name): key(program.parent or "") for program in source.programs}
        for program in source.programs:
            self._read(program.entries, source, key(program.name), None)
            for name in dict.fromkeys(self._known_as(copy) for copy in program.copies):
                book = self._books.get(name)
                for inner in book.programs if book is not None else ():
                    self._read(inner.entries, book or source, key(program.name), name)

    def _known_as(self, copy: Copy) -> str:
        """Return the name under which a copybook is available: with its library if several have the same name."""
        name = in_library(copy.name, copy.library)
        return name if name in self._books else key(copy.name)

    def used(self, spans: Sequence[Span], names: Mapping[tuple[str, str], int]) -> list[list[int]]:
        """Return the data outside some lines that they use, the most often named first; each with everything that it needs.

        Args:
            spans: The lines, which a prompt shows anyway.
            names: The names in them, by program, with their number of occurrences.
        """
        # An item that was cut apart from its group needs the enclosing groups although nobody names them: their level 01 says
        # where its bytes are.
        counts: dict[int, int] = {}
        for (program, name), times in names.items():
            for number in self._found(program, name):
                counts[number] = counts.get(number, 0) + times
        for first, last in spans:
            for line in range(first, last + 1):
                for inside in self._at_line.get(line, ()):
                    for number in self.items[inside].belongs_to:
                        counts.setdefault(number, 0)
        outside = [number for number in counts if not self._is_in(number, spans)]
        wanted = sorted(outside, key=lambda number: (-counts[number], number))
        return [[need for need in self._needs(number) if not self._is_in(need, spans)] for number in wanted]

    def lines_of(self, number: int) -> list[tuple[int, str]]:
        """Return an item's lines with their text, those of a copybook by its own numbers."""
        item = self.items[number]
        source = self._source if item.copybook is None else self._books[item.copybook]
        return [(line, source.shown(line)) for line in range(item.entry.line, item.entry.end_line + 1)]

    def _found(self, program: str, name: str) -> Sequence[int]:
        """Return the items of a name, in the program or else in the nearest enclosing one that has any.

        Strictly, only GLOBAL items are visible from within. Showing one too many misleads nobody; a missing one does.
        """
        if name not in self._named:
            return ()
        seen: set[str] = set()
        while (program, name) not in self._by_name:
            seen.add(program)
            program = self._parents.get(program, "")
            if not program or program in seen:
                return ()
        return self._by_name[program, name]

    def _needs(self, number: int) -> list[int]:
        """Return an item, its condition names, and everything that these belong to."""
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

    # `around` is the path from the record down to the current entry. Condition names belong to what is above them and enclose
    # nothing; a RENAMES (66) belongs to the record, a 77 to nothing.
    def _read(
        self, entries: Iterable[DeclarationEntry], source: ScannedSource, program: str, copybook: str | None
    ) -> None:
        around: list[tuple[int, int]] = []  # level, number
        for entry in entries:
            level = _NO_LEVEL.get(entry.word) if entry.level is None else entry.level
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
                belongs_to += tuple(self._by_name.get((program, key(target)), ())[-1:]) if target else ()
            self.items.append(DeclaredItem(entry, copybook, belongs_to))
            self._by_name.setdefault((program, key(entry.name)), []).append(number)
            self._named.add(key(entry.name))
            if copybook is None:
                self._at_line.setdefault(entry.line, []).append(number)


class NameCounts:
    """How often some lines have each name; results are remembered by stretch, because plans ask for the same ones again."""

    def __init__(self, source: ScannedSource) -> None:
        self._source = source
        self._known: dict[Span, Counter[str]] = {}

    def within(self, span: Span) -> Counter[str]:
        """Return the names in some lines, in capitals, with their number of occurrences; literals of embedded SQL have none."""
        if span not in self._known:
            self._known[span] = self._read(*span)
        return self._known[span]

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
