"""What is a scanned file, and how does one get its lines, words and bytes?

Everything that shows a source asks here: `bytes_of` for the file as it is, `text` for its characters,
`shown` for a line as in a prompt, `words` for tokens. Laws: lines are 1-based and inclusive; `bytes_of` over all
lines, joined, is the file.

Leaves to others: how lines are read (`reading`), words are found (`lexing`) and programs are separated (`structure`).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from .lexing import tokens
from .reading import all_shown, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .program import Format, LineKind, Program, Replacing, Warned, Word

Lookup: TypeAlias = "Callable[[str, str | None], ScannedSource | None]"
"""A lookup of copybooks: it returns that of a name and of the library that OF or IN names, or None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScannedSource:
    """A scanned file: its bytes as they are, which part of them is code, and the programs in it.

    Iterating gives the programs. Two sources are equal only if they are the same object, so that no comparison walks
    through megabytes.
    """

    data: bytes
    encoding: str
    """The codec that decodes `data`: utf-8, utf-16-le, utf-16-be, cp037 (EBCDIC), cp932 (Shift-JIS), euc_jis_2004, iso8859-9
    (Turkish) or latin-1.
    A byte that it cannot decode is U+FFFD, and a warning says so.
    """
    format: Format
    """The format of the first line that has code; for any line, see `format_at`."""
    code: str
    """The code alone, after REPLACE, one line for each line of the file; offsets of programs, entries and
    statements are into it.
    """
    kinds: tuple[LineKind, ...]
    """The kind of each line: that of line n at n - 1."""
    joined: frozenset[int]
    """The lines that cannot be separated from the line before: continuations, and those inside EXEC, COPY and REPLACE."""
    programs: tuple[Program, ...]
    warnings: tuple[Warned, ...] = ()
    starts: tuple[int, ...] = field(repr=False, default=())
    """Where each line begins in `code`: line n at n - 1."""
    offsets: tuple[int, ...] = field(repr=False, default=())
    """Where each line begins in `data`, in bytes."""
    switches: tuple[tuple[int, Format], ...] = ()
    """From which line on which format applies, in order; the first is line 1."""
    replacing: tuple[tuple[int, Replacing], ...] = ()
    """From which line on which pairs of REPLACE are in effect for what is copied, in order; none before the first."""
    in_place: frozenset[tuple[int, str]] = frozenset()
    """The COPYs whose text is in `code`, because a sentence continues in it, by line and name in capitals."""
    _shown: list[str] = field(repr=False, default_factory=list)
    """The lines as they are shown, once all of them were requested."""

    def __iter__(self) -> Iterator[Program]:
        return iter(self.programs)

    @property
    def has_unit(self) -> bool:
        """Whether the file contains a program, function or class; if so, it is not part of a division of another program."""
        return any(program.name for program in self.programs)

    @property
    def is_header(self) -> bool:
        """Whether a file only names one unit, without code: programs copy it to get that name."""
        units = self.programs
        return (
            len(units) == 1
            and bool(units[0].name)
            and not units[0].statements
            and all(division.name != "PROCEDURE" for division in units[0].divisions)
        )

    @property
    def lines(self) -> int:
        """How many lines the file has; a newline at its end begins no further one."""
        return len(self.offsets)

    def line_at(self, offset: int) -> int:
        """Return the line that an offset into `code` is on."""
        return bisect_right(self.starts, offset)

    def is_code(self, line: int) -> bool:
        """Return whether a line has any code; a debug line has some only if debug lines are read."""
        end = self.starts[line] if line < len(self.starts) else len(self.code)
        code = self.code[self.starts[line - 1] : end]
        return bool(code) and not code.isspace()

    def words(self, start: int, end: int) -> list[Word]:
        """Return the tokens of a stretch of `code`, in order, continuations joined.

        Args:
            start: The offset of the first character, such as `Statement.start`.
            end: The offset after the last one.
        """
        return tokens(self.code, start, end, self.line_at)

    def records(self) -> Iterator[bytes]:
        """Yield the bytes of each line, with its end."""
        return map(self.data.__getitem__, map(slice, self.offsets, (*self.offsets[1:], None)))

    def bytes_of(self, first: int, last: int) -> bytes:
        """Return the lines from `first` to `last`, both included, as they are in the file, with their ends."""
        return self.data[self.offsets[first - 1] : self.offsets[last] if last < len(self.offsets) else None]

    def text(self, first: int, last: int) -> str:
        """Return the lines from `first` to `last`, both included, decoded, with newlines between them and none at the end."""
        return "\n".join(map(self._line, range(first, last + 1)))

    def shown(self, line: int) -> str:
        """Return a line as in a prompt: without sequence number, identification and trailing blanks; tabs are expanded."""
        if self._shown:
            return self._shown[line - 1]
        return shown(self._line(line), self.format_at(line), self.kinds[line - 1])

    def all_shown(self) -> list[str]:
        """Return every line as `shown` gives it: line n at n - 1; they are kept for later calls."""
        if self._shown:
            return self._shown
        # In one pass over stretches of one format, because callers that show a program show all of it: line by line takes
        # three times as long.
        made: list[str] = []
        # In ASCII a newline only ends lines; in a file without newlines, something else may end them.
        is_plain = b"\n" in self.data and self.data.isascii()
        texts = self.data.decode("ascii").split("\n") if is_plain else [*map(self._decoded, self.records())]
        bounds = [first for first, _ in self.switches[1:]] + [self.lines + 1]
        for (first, form), end in zip(self.switches or ((1, self.format),), bounds, strict=True):
            made += all_shown(texts[first - 1 : end - 1], form, self.kinds[first - 1 : end - 1])
        self._shown[:] = made  # in one step: threads that ask about one file, or one copybook, never see a part of it
        return self._shown

    def format_at(self, line: int) -> Format:
        """Return the format that applies to a line."""
        before = bisect_right(self.switches, line, key=itemgetter(0))
        return self.switches[before - 1][1] if before else self.format

    def _line(self, line: int) -> str:
        """Return one line, decoded, without its end and without a byte order mark."""
        # The bytes are decoded line by line and on demand: a copy of the whole file as text would double the memory of
        # a scan.
        return self._decoded(self.bytes_of(line, line))

    def _decoded(self, record: bytes) -> str:
        """Return the text of one line, without its end and without a byte order mark."""
        text = record.decode(self.encoding, "replace").rstrip("\r\n\x85").removeprefix("\ufeff")
        return text.replace("\n", " ")  # EBCDIC has two line ends, of which a file uses only one
