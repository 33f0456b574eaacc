"""On which byte does a line start, and how many lines are there, as far as the time of a call allows?

Line indexes are borrowed here, extended and given back (V-6); `lines` explains how one is built.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import window
from penstock.workspace.deadline import Deadline
from penstock.workspace.lines import LineIndex, LineIndexes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.calls import Call
    from penstock.text.window import Extent
    from penstock.workspace.source import FileSource
    from penstock.workspace.texts import TextFile

EXACT_TOTAL_BYTES = 64 << 20
"""The number of lines is always exact up to this size (V-6)."""
CARRY_ON_SECONDS = 1.0
"""How long each later call continues counting in a larger file: some 1.6 GB further (ADR 5)."""


class LineCounts:
    """The lines of the most recently read files. Several threads may use it."""

    def __init__(self) -> None:
        self._indexes = LineIndexes()

    @contextmanager
    def index(self, text: TextFile, deadline: Deadline) -> Iterator[LineIndex]:
        """Borrow the index of a file's lines for the block. Raises `ToolError` (busy) if another call holds it too long."""
        index = self._indexes.borrow(text.source, text.encoding, deadline)
        if index is None:
            raise ToolError("busy", "Another call is counting the lines of this file. Try again.")
        index.uses += 1
        try:
            yield index
        finally:
            self._indexes.give_back(text.source, index)

    def start(self, text: TextFile, index: LineIndex, skipped: int, again: Call, deadline: Deadline) -> int:
        """Return the byte where the line after `skipped` lines starts; the end of the file if there is none.

        Raises:
            ToolError: `deadline`: time ended before the scan got there. What was counted is kept, so that the same call continues.
        """
        source = text.source
        if skipped:
            index.advance(source, lambda: index.seen >= skipped or deadline.passed)
        start = index.start_of(source, skipped)
        if start is None:
            if not index.is_complete(source.size_bytes) and not source.shrank:
                message = _not_reached(skipped + 1, index.seen, index.scanned_bytes, source.size_bytes)
                raise ToolError("deadline", message, again)
            start = source.size_bytes
        return start

    def count_on(self, source: FileSource, index: LineIndex, deadline: Deadline, *, eager: bool) -> None:
        """Extend the index: to the end of a file of ordinary size, a stretch further in a large one (V-6)."""
        if source.size_bytes <= EXACT_TOTAL_BYTES:
            index.advance(source, lambda: deadline.passed)
        # Not for the first call: a caller who looks once does not need the total; one who pages will.
        elif eager:
            stretch = Deadline(CARRY_ON_SECONDS)
            index.advance(source, lambda: stretch.passed or deadline.passed)

    def numbers(self, text: TextFile, extent: Extent) -> tuple[int | None, int | None, int | None]:
        """Return first and last line of an extent and the total, if they are known or cost no more than the extent (B-9)."""
        source, encoding, _ = text
        # Without waiting: a page by bytes is worth more than its line numbers.
        index = self._indexes.borrow(source, encoding, Deadline(0))
        if index is None:
            return None, None, None
        try:
            first = last = None
            if extent.data and index.scanned_bytes >= extent.start_byte - window.HARD_MAX_BYTES:
                index.advance(source, lambda: index.scanned_bytes >= extent.end_byte)
                before = index.lines_before(source, extent.start_byte, window.HARD_MAX_BYTES)
                if before is not None:
                    inside = encoding.count(extent.data)
                    first = before + 1
                    last = first if extent.fragment else before + inside + (not encoding.ends_line(extent.data))
            return first, last, index.total_lines() if index.is_complete(source.size_bytes) else None
        finally:
            self._indexes.give_back(source, index)


def _not_reached(line: int, reached: int, scanned_bytes: int, size_bytes: int) -> str:
    """Return the sentence that says how far a call got on its way to a line."""
    share = f"{100 * scanned_bytes / size_bytes:.2f} %"
    return (
        f"Line {line} was not reached in the time of one call: {reached} lines counted, {share} of the file. "
        "The same call continues from there."
    )
