"""How do many long calls share one process? Each works a slice, a few at a time, in the order in which they asked.

A thread that a server marks with `taking` runs its first slice at once: short work never waits. After that it continues only while
it has a turn, and passes the turn on when it checks its clock (`Deadline.passed`) and another thread is waiting. Law: at most
`places` marked threads are beyond their first slice. Leaves to others: what a server does with a call that waits.

Why: Python runs one thread at a time and lets the others compete for it every few milliseconds. Sixty concurrent scans of huge
files would each get a sixtieth, and so would a short read among them.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE_SECONDS = 0.005
"""How long a thread works before it offers its turn to others: ten times what a normal read takes."""


class Turns:
    """A number of turns, given out in the order in which they were requested.

    Args:
        places: How many threads may have one at once.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()

    @property
    def wanted(self) -> bool:
        """Return whether a thread waits for a turn."""
        return bool(self._waiting)

    def take(self, seconds: float | None) -> bool:
        """Wait for a turn, at most `seconds` (None: forever); False if none came in that time."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            # One lock per waiting thread, held until `give` releases it: that keeps the order, which a semaphore does not.
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
        """Hand a turn to the longest-waiting thread, or return it if nobody waits."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


class _Marked(threading.local):
    """This thread's state: which turns it takes, whether it holds one, and since when it has been working."""

    turns: Turns | None = None
    holds = False
    since = 0.0


_marked = _Marked()


@contextmanager
def taking(turns: Turns) -> Iterator[None]:
    """Mark this thread for the block: its work there takes turns, after its first slice."""
    _marked.turns, _marked.holds, _marked.since = turns, False, time.monotonic()
    try:
        yield
    finally:
        rest()
        _marked.turns = None


def pause(now: float, seconds: float | None) -> None:
    """Pass the turn on if the slice is over, and wait for the next; called between two blocks of work.

    Args:
        now: The monotonic time.
        seconds: How long to wait at most; None forever. After that, work continues without a turn, and will find its time over.
    """
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
    """Give up the turn before waiting for something else, whose holder may itself be waiting for a turn."""
    if _marked.holds and _marked.turns is not None:
        _marked.holds = False
        _marked.turns.give()
