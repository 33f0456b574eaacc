"""Which landmarks does a text without structure have? Its blocks, named by their first lines.

A block begins after a blank line, or where the previous one has grown too long. Leaves to others: every syntax.

Law: the blocks tile the text from its first line that is not blank, in memory that does not grow with the text.
"""

from __future__ import annotations

import re

from .symbols import Collector

MAX_BLOCKS = 200
"""The most blocks of an outline."""
MIN_LINES = 4
"""The least lines of a block at first: a landmark for fewer lines costs more than it says."""
SPLIT_FACTOR = 25
"""A block without blank lines is divided after this many times the least size: after 100 lines at first."""

_BLANK = re.compile(rb"\n[ \t\r\f]*+(?=\n|\Z)")


class PlainTextScanner:
    """Scans a text without structure; feed blocks, then the landmarks are in `found`."""

    def __init__(self) -> None:
        self.found = Collector()
        self.line = 0
        # The length of the text is known only at its end, and the blocks of a log of ten gigabytes cannot all be kept. So
        # the least size doubles whenever there are too many blocks, and every other start is dropped: in the end there are
        # at most MAX_BLOCKS, spread over the whole text, whatever its length.
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
        """Turn the starts into landmarks; each ends where the next one begins."""
        for start, name in self._starts:
            self.found.close_to(0, start - 1)
            self.found.open(name, "block", start, 0)

    def _paragraph(self, block: bytes, at: int, end: int) -> None:
        """Take lines without a blank one between them; they continue those of the last call unless a blank one came."""
        lines = block.count(b"\n", at, end)
        first = self.line + 1
        self.line += lines
        if not lines:
            return
        # A paragraph that is too short joins the block before it.
        if self._after_blank and first - self._last_start() >= self._least:
            self._start(first, block, at)
        self._after_blank = False
        # A log has no blank lines: it is divided evenly, at line 1, 101, 201.
        while self.line - self._last_start() >= SPLIT_FACTOR * self._least:
            line = self._last_start() + SPLIT_FACTOR * self._least
            line = max(line, first)
            for _ in range(line - first):
                at = block.find(b"\n", at + 1)
            first = line
            self._start(line, block, at)

    def _last_start(self) -> int:
        """Return the line of the last start, or one far before the text."""
        return self._starts[-1][0] if self._starts else -(1 << 30)

    def _start(self, line: int, block: bytes, at: int) -> None:
        """Begin a block at a line, which is named by its own text."""
        newline = block.find(b"\n", at + 1)
        name = block[at + 1 : newline if newline >= 0 else len(block)].strip()[:500]
        self._starts.append((line, name))
        if len(self._starts) > MAX_BLOCKS:
            self._least *= 2
            self._starts = self._starts[::2]
