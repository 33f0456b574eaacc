"""Before which lines may a text be cut, and how bad is each cut? Best at landmarks, then at ends and blank lines, then anywhere.

A low rank means a good cut. In most languages a landmark has an end, and blank lines separate what does not belong together; in
COBOL a landmark extends to the next one, and what belongs together ends with a period. Law: within a stretch without landmarks,
every line but the first has a rank. Leaves to others: where cuts are made (`cutting`), and which landmarks there are (`outline`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.outline.cobol import code_of, is_free

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.outline import Symbol

# Two ranks for each depth of landmarks, then lines after blank ones, then any; of these, less indented lines are better.
_BEHIND = 1
_BLANK = 1_000
_LINE = 2_000
# In COBOL: lines after a sentence; after a header; within a sentence; continuations.
_ENDED = 1_000
_HEADED = 1_500
_COMMENTED = 1_000  # more, if it separates comments from what they precede
_WITHIN = 3_000
_CONTINUED = 5_000
_DEEPEST = 120  # columns of indentation that are told apart
_ABOVE = re.compile(r"[ \t]*(?:#|//|/\*|\*|--|;|@|<!--|\[)")  # comments, decorators and attributes, in most languages
_SPACE = " \t\n\r\x0b\x0c"
_HEAD_BYTES = 65_536
_ANNOUNCING = frozenset({"program", "division", "section"})


def breaks_of(language: str, data: bytes, lines: Sequence[str], symbols: Sequence[Symbol]) -> Breaks:
    """Return the breaks of a source that has these lines and landmarks."""
    if language == "cobol":
        return CobolBreaks(lines, symbols, free=is_free(b"\n" + data[:_HEAD_BYTES]))
    return Breaks(lines, symbols)


class Breaks:
    """The breaks of most languages."""

    def __init__(self, lines: Sequence[str], symbols: Sequence[Symbol]) -> None:
        self._lines = lines
        self._symbols = symbols

    def landmarks(self) -> dict[int, int]:
        """Return how bad it is to cut before each landmark, including the lines that belong above it, and after it."""
        lines = self._lines
        ranks: dict[int, int] = {}
        for symbol in self._symbols:
            rank = 2 * symbol.depth
            start = symbol.start_line
            while start > 1 and _ABOVE.match(lines[start - 2]):
                start -= 1
            # Landmarks may begin together, as a class and its first method on one line: the outer one decides.
            ranks[start] = min(ranks.get(start, rank), rank)
            behind = symbol.end_line + 1
            # Blank lines go with what ends there: a chunk begins with something to read.
            while behind <= len(lines) and not lines[behind - 1].strip(_SPACE):
                behind += 1
            if behind <= len(lines):
                ranks[behind] = min(ranks.get(behind, rank + _BEHIND), rank + _BEHIND)
        return ranks

    def between(self, first: int, last: int) -> dict[int, int]:
        """Return how bad it is to cut before each line of a stretch but the first.

        After a blank line is best, and with little indentation: authors separate with blank lines, and what is indented is within
        something.
        """
        ranks: dict[int, int] = {}
        behind_blank = False
        for number in range(first, last + 1):
            line = self._lines[number - 1]
            code = line.lstrip(" \t")
            is_blank = not code.strip(_SPACE)
            if number > first:
                indent = min(len(line) - len(code), _DEEPEST)
                ranks[number] = (_BLANK if behind_blank and not is_blank else _LINE) + indent
            behind_blank = is_blank
        return ranks

    def begins(self, first: int, last: int) -> int:  # noqa: ARG002  (COBOL needs it)
        """Return the line that determines within which landmarks a chunk of these lines begins."""
        return first


class CobolBreaks(Breaks):
    """The breaks of COBOL: after sentences and entries, which end with a period; lines without code go with what follows."""

    def __init__(self, lines: Sequence[str], symbols: Sequence[Symbol], *, free: bool) -> None:
        super().__init__(lines, symbols)
        self._headers = frozenset(symbol.start_line for symbol in symbols)
        self._free = free

    def landmarks(self) -> dict[int, int]:
        """Return how bad it is to cut before each landmark.

        There is no cut between a header and what it announces, nor before a record that redefines the previous one.
        """
        ranks: dict[int, int] = {}
        announced = 0
        for symbol in self._symbols:
            rank = 2 * symbol.depth
            start = self._lifted(symbol.start_line)
            # A cut between a header and what it announces would leave the header as the last line of a chunk.
            if start != announced and not (symbol.kind == "data" and self._redefines(symbol.start_line)):
                ranks[start] = min(ranks.get(start, rank), rank)
            if symbol.kind in _ANNOUNCING:
                announced = symbol.start_line + 1
        return ranks

    def between(self, first: int, last: int) -> dict[int, int]:
        """Return how bad it is to cut before each line of a stretch but the first.

        After a sentence is best; within one, before a line with little indentation that does not continue the one before.
        """
        ranks: dict[int, int] = {}
        behind = _WITHIN
        for start, number, code in self._stretches(first, last):
            is_continued = not self._free and self._lines[number - 1][6:7] == "-"
            rank = _CONTINUED if is_continued else behind + self._indent(number)
            ranks[start] = rank
            ranks.update(dict.fromkeys(range(start + 1, number + 1), rank + _COMMENTED))
            behind = _WITHIN if not code.endswith(b".") else _HEADED if number in self._headers else _ENDED
        ranks.pop(first, None)
        return ranks

    def begins(self, first: int, last: int) -> int:
        """Return the first line of code."""
        return next((number for number in range(first, last + 1) if self._code(number)), first)

    def _lifted(self, line: int) -> int:
        """Return the first of the lines without code directly before a line, or the line itself."""
        while line > 1 and not self._code(line - 1):
            line -= 1
        return line

    def _redefines(self, line: int) -> bool:
        return "REDEFINES" in self._lines[line - 1].upper()

    def _stretches(self, first: int, last: int) -> Iterator[tuple[int, int, bytes]]:
        """Yield each line of code with the codeless lines before it: where they begin, its number, its code."""
        start = first
        for number in range(first, last + 1):
            code = self._code(number)
            if code or number == last:
                yield start, number, code
                start = number + 1

    def _code(self, number: int) -> bytes:
        return code_of(self._lines[number - 1].encode("latin-1", "replace"), free=self._free)  # a byte for each column

    def _indent(self, number: int) -> int:
        line = self._lines[number - 1]
        text = line if self._free else line[7:]
        return min(len(text) - len(text.lstrip(" \t")), _DEEPEST)
