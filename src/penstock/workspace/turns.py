"""Who works on, when many calls take long? A few at a time, a slice each, in the order in which they asked.

A thread that a server marks with `taking` works its first slice at once: what is short never waits. After that it goes on
only while it has a turn, and hands it on where it looks at its clock (`Deadline.passed`), if another waits.
Law: at most `places` marked threads are beyond their first slice. Keeps out: what a server does with a call that waits.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE_SECONDS = 0.005  # ten times what a normal read takes


class Turns:
    """`places` turns, given out in order."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()

    @property
    def wanted(self) -> bool:
        """Whether a thread waits for a turn."""
        return bool(self._waiting)

    def take(self, seconds: float | None) -> bool:
        """Waits for a turn; False when none came in that time."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        if gate.acquire(timeout=-1 if seconds is None else seconds):
            return True
        with self._lock:
            if gate in self._waiting:
                self._waiting.remove(gate)
                return False
        return True  # it was handed over at the last moment

    def give(self) -> None:
        """Hands a turn on, or back."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


class _Marked(threading.local):
    turns: Turns | None = None
    holds = False
    since = 0.0


_marked = _Marked()


@contextmanager
def taking(turns: Turns) -> Iterator[None]:
    """What this thread does here takes turns."""
    _marked.turns, _marked.holds, _marked.since = turns, False, time.monotonic()
    try:
        yield
    finally:
        rest()
        _marked.turns = None


def pause(now: float, seconds: float | None) -> None:
    """Called between two blocks of work: hands the turn on when the slice is over and waits for the next, at most so long."""
    mine = _marked
    if mine.turns is None or now - mine.since < SLICE_SECONDS:
        return
    if mine.holds and not mine.turns.wanted:
        mine.since = now
        return
    rest()
    mine.holds = mine.turns.take(seconds)
    mine.since = time.monotonic()


def rest() -> None:
    """Gives the turn back before waiting for something else; whoever holds that may be waiting for a turn."""
    if _marked.holds and _marked.turns is not None:
        _marked.holds = False
        _marked.turns.give()
