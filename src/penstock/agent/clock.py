"""What time is it for a session? The system's clock, which people, daemons and hypervisors may set back, made never to go back.

A session remembers until when nothing may be sent. With a clock that was set back by a day, that time would be a day away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class SteadyClock:
    """A clock that never goes back: if the underlying one does, it continues from its last value.

    Args:
        clock: seconds; only differences count.
        from_seconds: its last value in an earlier process.
    """

    def __init__(self, clock: Callable[[], float], from_seconds: float) -> None:
        self._clock, self._last_seconds, self._ahead_seconds = clock, from_seconds, 0.0

    def __call__(self) -> float:
        """Return the time in seconds."""
        now = self._clock() + self._ahead_seconds
        if now < self._last_seconds:
            self._ahead_seconds += self._last_seconds - now
            now = self._last_seconds
        self._last_seconds = now
        return now
