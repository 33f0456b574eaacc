"""What are the landmarks of a text without structure? Its blocks, named by their first lines.

Keeps out every syntax: a block begins after a blank line, or where the one before has grown too long. When
there are too many, neighbours are joined and the least size doubles, so any stream ends with at most
`MAX_BLOCKS`.

Law: the blocks tile the text from its first line that is not blank, in memory that does not grow with it.
"""

from __future__ import annotations

import re

from .symbols import Collector

MAX_BLOCKS = 200
MIN_LINES = 4  # a landmark for fewer lines costs more than it says
SPLIT_FACTOR = 25  # a block without blank lines is divided after this many times the least size: 100 at first

_BLANK = re.compile(rb"\n[ \t\r\f]*+(?=\n|\Z)")


class PlainTextScanner:
    """Feed blocks; the landmarks are in `found`."""

    def __init__(self) -> None:
        self.found = Collector()
        self.line = 0
        self._least = MIN_LINES
        self._starts: list[tuple[int, bytes]] = []
        self._after_blank = True

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        at = 0
        for blank in _BLANK.finditer(block):
            self._paragraph(block, at, blank.start())
            self.line += 1
            self._after_blank = True
            at = blank.end()
        self._paragraph(block, at, len(block))

    def close(self) -> None:
        """Turn the starts into landmarks."""
        for start, name in self._starts:
            self.found.close_to(0, start - 1)
            self.found.open(name, "block", start, 0)

    def _paragraph(self, block: bytes, at: int, end: int) -> None:
        """Lines without a blank one between them; they go on from the last call unless a blank one came."""
        lines = block.count(b"\n", at, end)
        first = self.line + 1
        self.line += lines
        if not lines:
            return
        if self._after_blank and first - self._last_start() >= self._least:
            self._start(first, block, at)
        self._after_blank = False
        while self.line - self._last_start() >= SPLIT_FACTOR * self._least:
            line = self._last_start() + SPLIT_FACTOR * self._least
            line = max(line, first)
            for _ in range(line - first):
                at = block.find(b"\n", at + 1)
            first = line
            self._start(line, block, at)

    def _last_start(self) -> int:
        return self._starts[-1][0] if self._starts else -(1 << 30)

    def _start(self, line: int, block: bytes, at: int) -> None:
        newline = block.find(b"\n", at + 1)
        name = block[at + 1 : newline if newline >= 0 else len(block)].strip()[:500]
        self._starts.append((line, name))
        if len(self._starts) > MAX_BLOCKS:
            self._least *= 2
            self._starts = self._starts[::2]
