"""How long may a call still take? The one clock that all work on disk checks.

Checking it is also where a long call lets others work (`turns`). When time is up, each loop decides what to do: it returns what it
has and reports that this is incomplete.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from penstock.workspace import turns

if TYPE_CHECKING:
    import threading

READ_SECONDS = 10.0
"""A read gives an answer or a named error within this time (`docs/reliability.md`, R2)."""
WALK_SECONDS = 30.0
"""How long a tool that walks a tree or searches may take."""


class Deadline:
    """A moment on the monotonic clock by which a call has to answer.

    Args:
        seconds: How far in the future it is; None if it never passes.
    """

    __slots__ = ("_at",)

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        """Return whether the deadline has passed; if not, first let another thread work if one waits for its turn."""
        now = time.monotonic()
        turns.pause(now, None if self._at is None else max(0.0, self._at - now))
        # Checked again: the other thread's turn may have used up what was left.
        return self._at is not None and time.monotonic() >= self._at

    def left(self) -> float | None:
        """Return the seconds left, never below 0; None for a deadline that never passes."""
        return None if self._at is None else max(0.0, self._at - time.monotonic())

    def acquire(self, lock: threading.Lock) -> bool:
        """Take a lock; False if time is up before it is free.

        The thread gives up its turn while it waits: the holder of the lock may need one.
        """
        if lock.acquire(blocking=False):
            return True
        turns.rest()
        left = self.left()
        return lock.acquire(timeout=-1 if left is None else left)
