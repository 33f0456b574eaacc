"""Read a file of one JSON object a line, as other agents write them while it is read.

Law: however large the file, no more of it is held than one record. Keeps out: what a record means.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from penstock.hosts.whole_file import open_whole
from penstock.inspection.happenings import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

Record = dict[str, Any]

_MAX_RECORD_BYTES = 64 << 20  # no provider takes a message of so much; a picture has a tenth
HURRIED_BYTES = 16 << 20
"""How much is read of a file while a host waits: two seconds, and more than any window holds."""
_FIRST_SHARE = 16  # of what is read of a longer file: what was asked first, and the rest from its end
_BEGINNING_BYTES = 256


@dataclass
class Counts:
    """What of a file was not understood, and what of it is never sent."""

    torn: int = 0
    """Lines that are no records: the host was writing one, or was ended while it did."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Records of kinds that are not known here, by kind."""
    unsent_bytes: Counter[str] = field(default_factory=Counter)
    """How much of the file goes to no provider, by kind of record."""
    faults: Counter[str] = field(default_factory=Counter)
    """What is the matter with records that are whole, by a code of `hosts.rescue.diagnosis.FAULTS`."""
    skipped_bytes: int = 0
    """How much of a very long file was not read, in its middle."""


class SessionFile:
    """A host's file, as long as it was when it was opened: the host goes on writing.

    Args:
        file: open for reading; it is read at any place.
        size_bytes: how much of it there is.
        max_bytes: of a longer file only the two ends are read, so much in all; None for all of it.
    """

    def __init__(self, file: BinaryIO, size_bytes: int, *, max_bytes: int | None = None) -> None:
        self.counts = Counts()
        self.size_bytes = size_bytes
        self._file = file
        self._first = self._last = size_bytes
        if max_bytes is not None and size_bytes > max_bytes:
            self._first = max_bytes // _FIRST_SHARE
            self._last = size_bytes - max_bytes + self._first
            self.counts.skipped_bytes = self._last - self._first

    def records(self) -> Iterator[tuple[Place, Record]]:
        """Yield each record and where it stands. Lines that are none are counted, so ask once."""
        yield from self._begun(0, self._first)
        if self._first < self.size_bytes:
            yield from self._begun(self._last - 1, self.size_bytes, is_inside=True)

    def record(self, place: Place) -> Record:
        """Return the record at a place that `records` gave; an empty one where the file was changed since."""
        self._file.seek(place.start_byte)
        return _parsed(self._file.read(place.end_byte - place.start_byte)) or {}

    def content(self) -> bytes:
        """Return all of it, for a file that is no list of records; who asks has looked at `size_bytes`."""
        self._file.seek(0)
        return self._file.read(self.size_bytes)

    def begins_with(self, mark: bytes) -> bool:
        """Return whether the file begins so, whatever white space stands in it."""
        self._file.seek(0)
        return b"".join(self._file.read(_BEGINNING_BYTES).split()).startswith(mark)

    def _begun(self, start: int, end: int, *, is_inside: bool = False) -> Iterator[tuple[Place, Record]]:
        """Yield the records of the lines that begin between two places; with `is_inside` the first one began before."""
        while start < end:
            self._file.seek(start)  # who asks may read elsewhere in between
            line = self._file.readline(min(_MAX_RECORD_BYTES, self.size_bytes - start))
            if not line:
                return
            place = Place(start, start + len(line))
            start = place.end_byte
            is_whole = line.endswith(b"\n") or start == self.size_bytes
            while not is_whole:  # a line that is too long is none, and the next one begins behind it
                part = self._file.readline(min(_MAX_RECORD_BYTES, self.size_bytes - start))
                start += len(part)
                line, is_whole = b"{", not part or part.endswith(b"\n") or start == self.size_bytes
            if line.strip() and not is_inside:
                record = _parsed(line)
                if record is not None:
                    yield place, record
                else:
                    self.counts.torn += 1
            is_inside = False


@contextmanager
def opened(path: str, *, max_bytes: int | None = None) -> Iterator[SessionFile]:
    """Give a host's file.

    Args:
        path: where it is.
        max_bytes: of a longer file only the two ends are read, so much in all; None for all of it.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    with open_whole(path) as (file, size):
        yield SessionFile(file, size, max_bytes=max_bytes)


def _parsed(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
