"""How much has one task read, and how often the same again (B-12)?

A task is one `Tools`. What was shown is remembered by the hash of its position and version, so that reading a page twice can be
told from reading a page of a changed file; beyond `_REMEMBERED` the oldest are forgotten. Law: counting never makes a call fail.
Leaves to others: what to do about a task that reads too much.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

_REMEMBERED = 1 << 16


class Counters(NamedTuple):
    """What one task has read so far: pages of files, not listings or outlines."""

    reads: int = 0
    read_bytes: int = 0
    repeated_reads: int = 0
    """Reads of the same bytes of the same version."""
    busy_failures: int = 0
    """Calls refused because too many ran at once."""

    @property
    def average_bytes(self) -> float:
        """Return the average size of a page in bytes, 0.0 before the first."""
        return self.read_bytes / self.reads if self.reads else 0.0


class Reads:
    """The read counters of one task; several threads may use them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[int, None] = {}
        self._reads = self._bytes = self._repeated = self._busy = 0

    def page(self, path: str, start_byte: int, end_byte: int, version: str) -> None:
        """Count a page that was shown."""
        key = hash((path, start_byte, end_byte, version))
        with self._lock:
            self._reads += 1
            self._bytes += end_byte - start_byte
            self._repeated += key in self._seen
            self._seen[key] = None
            if len(self._seen) > _REMEMBERED:
                # A dict keeps keys in insertion order: the first is the oldest.
                del self._seen[next(iter(self._seen))]

    def busy(self) -> None:
        """Count a call that was refused because too many ran at once."""
        with self._lock:
            self._busy += 1

    def counters(self) -> Counters:
        """Return what was counted so far."""
        with self._lock:
            return Counters(
                reads=self._reads, read_bytes=self._bytes, repeated_reads=self._repeated, busy_failures=self._busy
            )
