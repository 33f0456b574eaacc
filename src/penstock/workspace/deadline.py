"""How long may this call take? The one clock that work on disk looks at.

A look at it is also where a long call lets others work (`turns`). Keeps out: what is done when time is up; each loop says
what it has and that it is not complete.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from penstock.workspace import turns

if TYPE_CHECKING:
    import threading

READ_SECONDS = 10.0  # contract G1 of reliability.md: an answer or a named error within 10 s,
WALK_SECONDS = 30.0  # and within 30 s for what walks a tree


class Deadline:
    """A moment on the monotonic clock, `seconds` from now; None never passes."""

    __slots__ = ("_at",)

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        now = time.monotonic()
        turns.pause(now, None if self._at is None else max(0.0, self._at - now))
        return self._at is not None and time.monotonic() >= self._at

    def left(self) -> float | None:
        """Seconds left, never below 0; None for a deadline that never passes."""
        return None if self._at is None else max(0.0, self._at - time.monotonic())

    def acquire(self, lock: threading.Lock) -> bool:
        """Takes the lock; False when time is up before it is free. Nobody keeps a turn while waiting."""
        if lock.acquire(blocking=False):
            return True
        turns.rest()
        left = self.left()
        return lock.acquire(timeout=-1 if left is None else left)
