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

_MAX_RECORD_BYTES = 64 << 20  # a message of so much no provider takes; a picture is a tenth


@dataclass
class Counts:
    """What of a file was not understood, and what of it is never sent."""

    torn: int = 0
    """Lines that are no records: the host was writing one, or was ended while it did."""
    unknown: Counter[str] = field(default_factory=Counter)
    """Records of kinds that nobody here knows, by kind."""
    unsent_bytes: Counter[str] = field(default_factory=Counter)
    """How much of the file goes to no provider, by kind of record."""


class SessionFile:
    """A host's file, as long as it was when it was opened: the host goes on writing.

    Args:
        file: open for reading, at any place.
        size_bytes: how much of it there is.
        counts: where lines that are no records are counted.
    """

    def __init__(self, file: BinaryIO, size_bytes: int, counts: Counts) -> None:
        self._file = file
        self.size_bytes = size_bytes
        self.counts = counts

    def records(self) -> Iterator[tuple[Place, Record]]:
        """Yield each record and where it stands. Lines that are none are counted; ask once."""
        start = 0
        while start < self.size_bytes:
            self._file.seek(start)  # who asks may read in between
            line = self._file.readline(min(_MAX_RECORD_BYTES, self.size_bytes - start))
            end = start + len(line)
            if not line.endswith(b"\n") and end < self.size_bytes:
                end = self._after_line(end)
                line = b"{"  # too long to be one
            if line.strip():
                record = _parsed(line)
                if record is None:
                    self.counts.torn += 1
                else:
                    yield Place(start, end), record
            start = end

    def record(self, place: Place) -> Record:
        """Return the record at a place that `records` gave; an empty one where the file was changed since."""
        self._file.seek(place.start_byte)
        return _parsed(self._file.read(place.end_byte - place.start_byte)) or {}

    def _after_line(self, at: int) -> int:
        """Return the first byte behind the line that goes on here."""
        self._file.seek(at)
        while at < self.size_bytes:
            part = self._file.readline(min(_MAX_RECORD_BYTES, self.size_bytes - at))
            at += len(part)
            if not part or part.endswith(b"\n"):
                break
        return at if part else self.size_bytes


@contextmanager
def opened(path: str) -> Iterator[SessionFile]:
    """Give a host's file.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    with open_whole(path) as (file, size):
        yield SessionFile(file, size, Counts())


def _parsed(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
