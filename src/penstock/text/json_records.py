"""Where does one record of JSON end? The elements of the outermost array or object, found without parsing (G-5).

Law: the pieces between the places found, joined, are the text; each but the last ends with the comma after its element.
Leaves to others: where the text comes from, and whether it is valid JSON: in invalid JSON some places are found or none.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.text.window import ByteSource

_OUTSIDE = r'["\[\]{},]'
# Commas below the outermost level separate no records, so they are not even searched for there.
_DEEPER = r'["\[\]{}]'
_STRING = r'["\\]'
_BLOCK_BYTES = 64 << 10


def is_one_line(first: str, lines: int) -> bool:
    """Return whether a text with that many lines that begins with `first` can be JSON on one line."""
    return lines == 1 and first.lstrip()[:1] in {"[", "{"}


class JsonRecordScanner:
    """Finds the ends of records in a text that comes in parts; a part may end anywhere, even within an escape."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, part: str) -> list[int]:
        """Return the places in the next part, counted from its start, that follow a comma of the outermost level."""
        ends: list[int] = []
        # The last part ended with a backslash in a string: the first character here is escaped, whatever it is.
        at = 1 if self._escaped and part else 0
        if part:
            self._escaped = False
        # Three patterns, each for what may end the present state: everything else is skipped at the speed of `re`. They are
        # compiled here, where `re` caches them: every view of a file loads this module, but few files have records.
        in_string, outside, deeper = map(re.compile, (_STRING, _OUTSIDE, _DEEPER))
        while True:
            pattern = in_string if self._in_string else outside if self._depth == 1 else deeper
            match = pattern.search(part, at)
            if match is None:
                return ends
            mark, at = match.group(), match.end()
            if self._in_string:
                if mark == '"':
                    self._in_string = False
                elif at == len(part):
                    self._escaped = True
                else:
                    at += 1
            elif mark == '"':
                self._in_string = True
            elif mark == ",":
                ends.append(at)
            else:
                self._depth += 1 if mark in "[{" else -1


class RecordIndex:
    """Where the records of one text end, as far as examined: JSON on one line, in UTF-8 or any superset of ASCII.

    Anything after the first line is ignored: a text that continues there is one of lines.
    """

    def __init__(self) -> None:
        self.ends = array("Q")
        """The places between records; there is none after the last record."""
        self.scanned_bytes = 0
        self.line_end: int | None = None
        """Where the first line ends, its line feed included; None if no end was seen."""
        self.is_complete = False
        self._scanner = JsonRecordScanner()

    @property
    def total(self) -> int:
        """How many records are known; if `is_complete`, how many there are."""
        return len(self.ends) + self.is_complete

    def advance(self, source: ByteSource, done: Callable[[], bool]) -> None:
        """Continue until `done` says so, checked between blocks, or until the end of the line."""
        while not self.is_complete and not done():
            block = source.read(self.scanned_bytes, _BLOCK_BYTES)
            feed = block.find(b"\n")
            if feed >= 0:
                block = block[: feed + 1]
                self.line_end = self.scanned_bytes + len(block)
            base = self.scanned_bytes
            # Latin-1 makes each byte a character, so that places are bytes; the signs of JSON are ASCII, which never occurs
            # within another UTF-8 character.
            self.ends.extend([base + at for at in self._scanner.feed(block.decode("latin-1"))])
            self.scanned_bytes += len(block)
            self.is_complete = not block or feed >= 0 or self.scanned_bytes >= source.size_bytes

    def start_of(self, record: int) -> int:
        """Return the byte at which a known record (0-based) starts."""
        return self.ends[record - 1] if record else 0

    def record_at(self, at_byte: int) -> int:
        """Return the record (0-based) that a byte lies in."""
        return bisect_right(self.ends, at_byte)

    def end_from(self, at_byte: int) -> int | None:
        """Return the first place between records at or after a byte, None if none is known."""
        at = bisect_left(self.ends, at_byte)
        return self.ends[at] if at < len(self.ends) else None

    def end_within(self, start_byte: int, end_byte: int) -> int | None:
        """Return the last place between records after `start_byte` and not after `end_byte`, None if there is none."""
        at = bisect_right(self.ends, end_byte)
        return self.ends[at - 1] if at and self.ends[at - 1] > start_byte else None
