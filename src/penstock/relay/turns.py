"""How are notifications sent one after another to a server that may leave some unanswered?

Over HTTP a message has arrived when its request is answered, so the next one waits for that. Laws: notifications are sent in order;
none delays what follows by more than `TURN_SECONDS`. Leaves to others: how they are sent (`bridge`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Sending = Callable[[], Coroutine[Any, Any, None]]

TURN_SECONDS = 3.0
"""How long the next message waits for an unanswered notification."""
_NEXT_TURN_SECONDS = 0.1  # after an unanswered one: one long wait is enough
_MAX_WAITING = 1_000
_MAX_OVERDUE = 16


async def has_passed(turn: asyncio.Event | None, seconds: float = TURN_SECONDS) -> None:
    """Wait until a turn is over, but no longer than this."""
    if turn is not None and not turn.is_set():
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await turn.wait()


class SendTurns:
    """The notifications that have not been answered."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Sending, asyncio.Event]] = deque()
        self._overdue: deque[asyncio.Task[None]] = deque()
        self._work: asyncio.Task[None] | None = None
        self.last: asyncio.Event | None = None
        """Set once the most recently added notification has had its turn."""

    async def put(self, sending: Sending) -> None:
        """Send a notification after the turns of those before it; waits while too many are waiting.

        Args:
            sending: sends it.
        """
        while len(self._waiting) >= _MAX_WAITING and self._work is not None:
            await asyncio.wait({self._work}, timeout=_NEXT_TURN_SECONDS)
        self.last = asyncio.Event()
        self._waiting.append((sending, self.last))
        if self._work is None or self._work.done():
            self._work = asyncio.ensure_future(self._send())

    def cancel(self) -> None:
        """Cancel everything."""
        self._waiting.clear()
        for task in [*self._overdue, *([self._work] if self._work is not None else [])]:
            task.cancel()

    async def _send(self) -> None:
        while self._waiting:
            self._overdue = deque(task for task in self._overdue if not task.done())
            sending, turn = self._waiting.popleft()
            task = asyncio.ensure_future(sending())
            self._overdue.append(task)
            # If a server never answers notifications, each would cost the full three seconds, and a call after ten of them half a
            # minute. So only the first waits long; overdue ones are kept, because an answer may still end them properly.
            is_one_late = len(self._overdue) > 1
            await asyncio.wait({task}, timeout=_NEXT_TURN_SECONDS if is_one_late else TURN_SECONDS)
            turn.set()
            if task.done():
                with suppress(asyncio.CancelledError, Exception):
                    task.result()
            if len(self._overdue) > _MAX_OVERDUE:
                self._overdue.popleft().cancel()
