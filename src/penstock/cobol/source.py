"""What does the file say where? A file that was scanned, with ways to its lines, words and bytes.

Keeps out: how lines are read (`reading`), words are found (`lexing`) and programs are told apart (`structure`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

from .lexing import tokens
from .reading import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .program import Format, LineKind, Program, Warned, Word

_CODE = re.compile(r"\S")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScannedSource:
    """A file that was scanned: its bytes as they are, what of them is code, and the programs in it."""

    data: bytes
    encoding: str
    format: Format
    code: str
    kinds: tuple[LineKind, ...]  # of line n at n - 1
    joined: frozenset[int]
    """The lines that cannot be parted from the line before: continuations, inside of EXEC, COPY and REPLACE."""
    programs: tuple[Program, ...]
    warnings: tuple[Warned, ...] = ()
    starts: tuple[int, ...] = field(repr=False, default=())  # where each line begins in `code`
    offsets: tuple[int, ...] = field(repr=False, default=())  # where each line begins in `data`
    switches: tuple[tuple[int, Format], ...] = ()  # from which line on which format holds

    def __iter__(self) -> Iterator[Program]:
        return iter(self.programs)

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self.offsets)

    def line_at(self, offset: int) -> int:
        """The line that an offset into `code` is on."""
        return bisect_right(self.starts, offset)

    def is_code(self, line: int) -> bool:
        """Whether a line has any code."""
        return _CODE.search(self.code, self.starts[line - 1], self._code_end(line)) is not None

    def words(self, start: int, end: int) -> list[Word]:
        """The tokens of a stretch of `code`."""
        return tokens(self.code, start, end, self.line_at)

    def bytes_of(self, first: int, last: int) -> bytes:
        """The lines from `first` to `last` as they are, with their ends."""
        return self.data[self.offsets[first - 1] : self.offsets[last] if last < len(self.offsets) else None]

    def text(self, first: int, last: int) -> str:
        """The lines from `first` to `last`, decoded, with "\\n" between them."""
        return "\n".join(map(self._line, range(first, last + 1)))

    def shown(self, line: int) -> str:
        """A line as a prompt shows it: without sequence number, identification and blanks at its end; tabs are expanded."""
        return shown(self._line(line), self.format_at(line), self.kinds[line - 1])

    def format_at(self, line: int) -> Format:
        """The format that holds on a line."""
        before = bisect_right(self.switches, line, key=itemgetter(0))
        return self.switches[before - 1][1] if before else self.format

    def _line(self, line: int) -> str:
        text = self.bytes_of(line, line).decode(self.encoding).rstrip("\r\n\x85").removeprefix("\ufeff")
        return text.replace("\n", " ")  # in EBCDIC there are two ends of lines; only one of them is in use

    def _code_end(self, line: int) -> int:
        return self.starts[line] if line < len(self.starts) else len(self.code)
