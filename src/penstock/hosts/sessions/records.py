"""How is a file of one JSON object per line read while another agent is writing it?

Law: however large the file, only one record is held at a time. Leaves to others: what a record means.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from penstock.hosts.sessions import compressed
from penstock.hosts.whole_file import open_whole
from penstock.inspection.timeline import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Record = dict[str, Any]

MAX_RECORD_BYTES = 32 << 20
"""The length limit of a line: no provider accepts a larger request."""
_MAX_OBJECTS = (
    250_000  # in a line: `{}` takes two bytes in a file and a hundred in memory; no model's window could hold so many
)
HURRIED_BYTES = 16 << 20
"""How much of a file is read while a host waits: two seconds, and more than any window holds."""
_FIRST_SHARE = 16  # of the bytes read from a longer file, for its beginning: the first request is there
_BEGINNING_BYTES = 256
_SKIPPED_BYTES = 1 << 20
# The limit for repeats of what compactions keep: this many times the file, or this many bytes. Hosts keep a message over few
# compactions.
_MAX_TELLINGS = 4
_MIN_TOLD_AGAIN_BYTES = 1 << 20
_KEPT_TOO_OFTEN = "kept by too many compactions"


@dataclass
class Counts:
    """What was not understood in a file, and what of it is never sent."""

    torn: int = 0
    """Lines that are not records: the host was writing one, or was killed while it did."""
    too_large: int = 0
    """Lines longer than `MAX_RECORD_BYTES`, or with very many objects, records or not: they are not read."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Records of unknown kinds, by kind."""
    unsent_bytes: Counter[str] = field(default_factory=Counter)
    """How much of the file is sent to no provider, by kind of record."""
    faults: Counter[str] = field(default_factory=Counter)
    """Other faults of the file, by a code of `hosts.rescue.diagnosis.FAULTS`."""
    skipped_bytes: int = 0
    """How much of a very long file was not read, in its middle."""


class SessionFile:
    """A host's file, with the length that it had when it was opened: the host continues writing.

    Args:
        file: open for reading; it is read at any position.
        size_bytes: its length.
        max_bytes: of a longer file only the two ends are read, this much in all; None for all of it.
        is_compressed: whether the file on disk is compressed; this is its decompressed content.
    """

    def __init__(
        self, file: BinaryIO, size_bytes: int, *, max_bytes: int | None = None, is_compressed: bool = False
    ) -> None:
        self.counts = Counts()
        self.size_bytes = size_bytes
        self.is_compressed = is_compressed
        self._file = file
        self._again_bytes = max(_MIN_TOLD_AGAIN_BYTES, _MAX_TELLINGS * size_bytes)
        self._first = self._last = size_bytes
        if max_bytes is not None and size_bytes > max_bytes:
            self._first = max_bytes // _FIRST_SHARE
            self._last = size_bytes - max_bytes + self._first
            self.counts.skipped_bytes = self._last - self._first

    def records(self) -> Iterator[tuple[Place, Record]]:
        """Yield each record with its position. Lines that are not records are counted, so iterate only once."""
        yield from self._begun(0, self._first)
        if self._first < self.size_bytes:
            yield from self._begun(self._last - 1, self.size_bytes, is_inside=True)

    def record(self, place: Place) -> Record:
        """Return the record at a position that `records` yielded; an empty one if the file has changed since."""
        value = self.value(place)
        return value if isinstance(value, dict) else {}

    def value(self, place: Place) -> Any:
        """Return the JSON value at a position; None if there is none."""
        self._file.seek(place.start_byte)
        return _parsed(self._file.read(place.end_byte - place.start_byte))

    def told_again(self, places: Iterable[Place]) -> Iterator[Place]:
        """Yield the positions of records that outlived a compaction, to be read again; beyond a total limit they are only counted.

        A small file may claim that each of many compactions kept all of it: reading it that often would never end.
        """
        for place in places:
            self._again_bytes -= place.end_byte - place.start_byte
            if self._again_bytes < 0:
                self.counts.unknown[_KEPT_TOO_OFTEN] += 1
                return
            yield place

    def content(self) -> bytes:
        """Return all of it, for a file that is not a list of records; the caller has checked `size_bytes`."""
        self._file.seek(0)
        return self._file.read(self.size_bytes)

    def begins_with(self, mark: bytes, *, is_printed: bool = False) -> bool:
        """Return whether the file begins with a mark, ignoring white space.

        Args:
            mark: the beginning, without white space.
            is_printed: whether it must be spread over several lines.
        """
        self._file.seek(0)
        begun = self._file.read(_BEGINNING_BYTES)
        is_begun = b"".join(begun.split()).startswith(mark)
        return is_begun and (not is_printed or begun.lstrip()[1:2] in {b"\r", b"\n"})

    def _begun(self, start: int, end: int, *, is_inside: bool = False) -> Iterator[tuple[Place, Record]]:
        """Yield the records of the lines that begin between two positions; with `is_inside` the first line began earlier."""
        while start < end:
            self._file.seek(start)  # the caller may read elsewhere in between
            line = self._file.readline(min(MAX_RECORD_BYTES, self.size_bytes - start))
            if not line:
                return
            place = Place(start, start + len(line))
            start = place.end_byte
            if (
                not line.endswith(b"\n") and start < self.size_bytes
            ):  # it is too long, so reading continues at the next one
                line = b""
                start = self._behind_line(start)
                self.counts.too_large += not is_inside
            if len(line) > _MAX_OBJECTS and line.count(b"{") + line.count(b"[") > _MAX_OBJECTS:
                line = b""
                self.counts.too_large += not is_inside
            if line.strip() and not is_inside:
                record = _parsed(line)
                if isinstance(record, dict):
                    yield place, record
                else:
                    self.counts.torn += 1
            is_inside = False

    def _behind_line(self, start: int) -> int:
        """Return the end of the line within which the file is being read."""
        part = b"?"
        while part and not part.endswith(b"\n") and start < self.size_bytes:
            part = self._file.readline(min(_SKIPPED_BYTES, self.size_bytes - start))
            start += len(part)
        # A file that was shortened has no more lines.
        return start if part else self.size_bytes


@contextmanager
def opened(path: str, *, max_bytes: int | None = None) -> Iterator[SessionFile]:
    """Open a host's file as a context manager.

    Args:
        path: its path.
        max_bytes: of a longer file only the two ends are read, this much in all; None for all of it.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
        CallerError: It is compressed, and cannot be read here.
    """
    with open_whole(path) as (file, size):
        if compressed.is_compressed(file):
            content = compressed.plain(file)
            yield SessionFile(content, content.tell(), max_bytes=max_bytes, is_compressed=True)
        else:
            yield SessionFile(file, size, max_bytes=max_bytes)


def _parsed(content: bytes) -> Any:
    """Return a JSON value; None if it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
