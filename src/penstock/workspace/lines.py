"""On which byte does a line start? A sparse index of line ends says, built as a by-product of reading.

The index notes how many lines ended before each stride of bytes; a line is found by bisecting it and reading one stride. Each call
that needs the index extends it; it is kept while the file only grows and dropped when the file changes. It never exceeds
`_MAX_STRIDES` entries: at that point every second entry is dropped and the stride doubles. Law: for every line, `start_of(line)` is
the byte after the previous line end. The content of lines is not examined.

Cost: a stride is 64 KiB and an entry eight bytes, so the index of a 4 GiB file has 65,536 entries and takes 512 KiB; a larger file
has no more entries, and finding a line in it reads at most the wider stride.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_right
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from penstock.workspace import version

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.text.window import Encoding
    from penstock.workspace.deadline import Deadline
    from penstock.workspace.source import FileSource

STRIDE_BYTES = 64 * 1024
"""How much is read at a time: it fits the processor's second-level cache, and needs no new memory each time."""
_STRIDES_AT_ONCE = 4  # between two checks of the clock
_MAX_STRIDES = 1 << 16
_KEPT_INDEXES = 64


class LineIndex:
    """The line ends of one version of one file, as far as it has been scanned. One thread at a time: hold `lock`.

    Args:
        encoding: How the file's bytes become text, and so what ends a line.
    """

    def __init__(self, encoding: Encoding) -> None:
        self.lock = threading.Lock()
        self.encoding = encoding
        self.scanned_bytes = 0
        self.seen = 0  # line ends in the first `scanned_bytes`
        self.uses = 0  # calls that asked for lines, this one included
        self._stride = STRIDE_BYTES
        self._before = array("Q", [0])  # line ends before byte i * stride; one entry for each stride begun
        self._ends_line = True  # whether the last byte scanned ended a line

    def is_complete(self, size_bytes: int) -> bool:
        """Return whether a file of so many bytes has been scanned to its end."""
        return self.scanned_bytes >= size_bytes

    def is_aligned(self) -> bool:
        """Return whether the scan can continue where it ended: not within a code unit."""
        return self.scanned_bytes % self.encoding.unit == 0

    def total_lines(self) -> int:
        """Return the lines in what has been scanned: line ends, plus one for text after the last."""
        return self.seen + (not self._ends_line)

    def advance(self, source: FileSource, done: Callable[[], bool]) -> None:
        """Continue scanning until `done`, asked between blocks, returns True or the file ends."""
        while self.scanned_bytes < source.size_bytes and not done():
            for _ in range(_STRIDES_AT_ONCE):
                if not self._take(source):
                    return

    def _take(self, source: FileSource) -> bool:
        """Count to the end of the stride; False if there is nothing more."""
        at = self.scanned_bytes
        block = source.read(at, STRIDE_BYTES - at % STRIDE_BYTES)
        if at + len(block) < source.size_bytes:
            # A short read must not split a code unit of UTF-16: half of one may look like a line feed.
            block = block[: self.encoding.align(len(block))]
        if not block:
            source.shrank = at < source.size_bytes
            return False
        self.seen += self.encoding.count(block)
        self.scanned_bytes = at + len(block)
        self._ends_line = self.encoding.ends_line(block)
        # A short read ends within a stride: nothing is noted there, and the next read goes to the end of the stride.
        if self.scanned_bytes % self._stride == 0:
            self._note(self.scanned_bytes)
        # A block of zeros may be a hole. Three checks rule out nearly every block that is not, before the system is asked.
        if not block[0] and len(block) == STRIDE_BYTES and not any(block[:64]) and not any(block[-64:]):
            self._skip_hole(source)
        return True

    def _note(self, at: int) -> None:
        """Note how many lines ended before a stride; if there are too many notes, drop every second one."""
        if at // self._stride == len(self._before):
            self._before.append(self.seen)
        if len(self._before) > _MAX_STRIDES:
            # Every second note belongs to a stride of twice the size.
            self._before = self._before[::2]
            self._stride *= 2

    def _skip_hole(self, source: FileSource) -> None:
        """Skip a hole of a sparse file, which contains no line end: a terabyte of it in one step."""
        data = min(source.next_data(self.scanned_bytes), source.size_bytes)
        while data // self._stride >= _MAX_STRIDES:
            self._before = self._before[::2]
            self._stride *= 2
        # Only whole strides: the next read must begin at a note.
        end = data - data % self._stride if data < source.size_bytes else data
        if end > self.scanned_bytes:
            whole = end // self._stride + 1 - len(self._before)
            self._before.extend([self.seen] * max(0, whole))
            self.scanned_bytes = end
            self._ends_line = False

    def start_of(self, source: FileSource, line: int) -> int | None:
        """Return the byte at which `line` (0-based) starts; None if it does not start in what was scanned."""
        if line == 0:
            return 0
        if line > self.seen:
            return None
        stride = bisect_right(self._before, line - 1) - 1  # the last stride with fewer than `line` line ends before it
        at, missing = stride * self._stride, line - self._before[stride]
        while at < self.scanned_bytes:
            block = source.read(at, min(STRIDE_BYTES, self.scanned_bytes - at))
            if not block:
                return None
            # A stride of the original size is certain to contain the line; in a doubled one, each block is counted on the way.
            inside = missing if self._stride == STRIDE_BYTES else self.encoding.count(block)
            if inside >= missing:
                behind = self._behind(block, missing, at)
                return None if behind is None else at + behind
            missing -= inside
            at += len(block)
        return None

    def _behind(self, block: bytes, count: int, at: int) -> int | None:
        """Return the index after the `count`-th line end of `block`, which is at `at`; None if there are fewer."""
        if self.encoding.unit == 1:
            stride = at // STRIDE_BYTES
            # The cost of splitting grows with the lines it makes: a line near the end of a stride is found from there.
            if self._stride == STRIDE_BYTES and stride + 1 < len(self._before):  # counted: from the nearer end
                left = self._before[stride + 1] - self._before[stride] - count
                if left < count:
                    parts = block.rsplit(b"\n", left + 1)
                    return len(parts[0]) + 1 if len(parts) > left + 1 else None
            parts = block.split(b"\n", count)
            return len(block) - len(parts[-1]) if len(parts) > count else None
        behind: int | None = 0
        for _ in range(count):
            if behind is not None:
                behind = self.encoding.find(block, behind)
        return behind

    def lines_before(self, source: FileSource, at_byte: int, max_bytes: int) -> int | None:
        """Return how many lines end before `at_byte`; None if that was not scanned or would cost more than `max_bytes`."""
        if at_byte > self.scanned_bytes:
            return None
        stride = min(at_byte // self._stride, len(self._before) - 1)
        count, at = self._before[stride], stride * self._stride
        if at_byte - at > max_bytes:
            return None
        while at < at_byte:
            block = source.read(at, min(STRIDE_BYTES, at_byte - at))
            if not block:
                return None
            count += self.encoding.count(block)
            at += len(block)
        return count


class _Kept(NamedTuple):
    """An index with the version of its file, which tells the next call whether it is still valid."""

    lines: LineIndex
    version: version.Version  # of the file when the index was last used, anchored where its scan ended


class LineIndexes:
    """The indexes of the most recently read files, by device and inode; shared by the threads of a server."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def borrow(self, source: FileSource, encoding: Encoding, deadline: Deadline) -> LineIndex | None:
        """Return the index of a file, locked for the caller, who returns it with `give_back`.

        Returns:
            The cached one if the file is the same or only grew, else a new one; None if another call still holds it at the
            deadline.
        """
        key = (source.status.st_dev, source.status.st_ino)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept.lines.encoding == encoding:
            if not deadline.acquire(kept.lines.lock):
                return None
            with self._lock:
                # The previous holder of the lock may have found the file changed and put another index in its place.
                newest = self._kept.get(key)
            if newest is not None and newest.lines is kept.lines:
                change = version.compare(newest.version, source)
                if change is version.VersionChange.SAME or (
                    change is version.VersionChange.GREW and kept.lines.is_aligned()
                ):
                    return kept.lines
            kept.lines.lock.release()
        # Not cached yet: nobody else can have it, so the lock is free.
        index = LineIndex(encoding)
        index.lock.acquire()
        return index

    def give_back(self, source: FileSource, index: LineIndex) -> None:
        """Keep what `index` has learned, unless another call has learned more of the same version."""
        try:
            self._keep(source, index)
        finally:
            index.lock.release()

    def _keep(self, source: FileSource, index: LineIndex) -> None:
        """Store an index, and drop the least recently used if there are too many."""
        key = (source.status.st_dev, source.status.st_ino)
        kept = self._kept.get(key)
        is_news = (
            kept is None or kept.lines is not index or kept.version[:2] != (source.size_bytes, index.scanned_bytes)
        )
        # Hashing reads 4 KiB: done only if the index has grown or is new. Outside the lock, since a read may block.
        token = version.of(source, index.scanned_bytes) if is_news and not source.shrank else None
        with self._lock:
            kept = self._kept.get(key)
            if source.shrank:
                self._kept.pop(key, None)
            elif token is not None and (index.scanned_bytes or index.uses):
                is_other = kept is None or kept.version[2:4] != token[2:4]
                if kept is None or is_other or kept.lines.scanned_bytes <= index.scanned_bytes:
                    self._kept[key] = _Kept(index, token)
            if key in self._kept:
                self._kept.move_to_end(key)
            while len(self._kept) > _KEPT_INDEXES:
                self._kept.popitem(last=False)
