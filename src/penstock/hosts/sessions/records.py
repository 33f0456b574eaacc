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
# Of a file that has to be read at once: what was asked first, and the newest.
_FIRST_BYTES = 4 << 20
_LAST_BYTES = 60 << 20


@dataclass
class Counts:
    """What of a file was not understood, and what of it is never sent."""

    torn: int = 0
    """Lines that are no records: the host was writing one, or was ended while it did."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Records of kinds that are not known here, by kind."""
    unsent_bytes: Counter[str] = field(default_factory=Counter)
    """How much of the file goes to no provider, by kind of record."""
    skipped_bytes: int = 0
    """How much of a very long file was not read, in its middle."""


class SessionFile:
    """A host's file, as long as it was when it was opened: the host goes on writing.

    Args:
        file: open for reading; it is read at any place.
        size_bytes: how much of it there is.
        is_hurried: whether of a file of more than 64 MiB only the two ends are read.
    """

    def __init__(self, file: BinaryIO, size_bytes: int, *, is_hurried: bool = False) -> None:
        self.counts = Counts()
        self.size_bytes = size_bytes
        self._file = file
        self._first = size_bytes
        if is_hurried and size_bytes > _FIRST_BYTES + _LAST_BYTES:
            self._first = _FIRST_BYTES
            self.counts.skipped_bytes = size_bytes - _FIRST_BYTES - _LAST_BYTES

    def records(self) -> Iterator[tuple[Place, Record]]:
        """Yield each record and where it stands. Lines that are none are counted, so ask once."""
        yield from self._between(0, self._first)
        if self._first < self.size_bytes:
            yield from self._between(self.size_bytes - _LAST_BYTES, self.size_bytes)

    def record(self, place: Place) -> Record:
        """Return the record at a place that `records` gave; an empty one where the file was changed since."""
        self._file.seek(place.start_byte)
        return _parsed(self._file.read(place.end_byte - place.start_byte)) or {}

    def _between(self, start: int, end: int) -> Iterator[tuple[Place, Record]]:
        while start < end:
            self._file.seek(start)  # who asks may read elsewhere in between
            line = self._file.readline(min(_MAX_RECORD_BYTES, end - start))
            if not line:
                return
            place = Place(start, start + len(line))
            start = place.end_byte
            is_whole = line.endswith(b"\n") or start == end
            while not is_whole:  # a line that is too long is none, and the next one begins behind it
                part = self._file.readline(min(_MAX_RECORD_BYTES, end - start))
                start += len(part)
                line, is_whole = b"{", not part or part.endswith(b"\n") or start == end
            if line.strip():
                record = _parsed(line)
                if record is not None:
                    yield place, record
                else:
                    self.counts.torn += 1


@contextmanager
def opened(path: str, *, is_hurried: bool = False) -> Iterator[SessionFile]:
    """Give a host's file.

    Args:
        path: where it is.
        is_hurried: whether of a file of more than 64 MiB only the two ends are read.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    with open_whole(path) as (file, size):
        yield SessionFile(file, size, is_hurried=is_hurried)


def _parsed(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
