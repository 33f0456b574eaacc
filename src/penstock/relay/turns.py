"""Send notifications one behind the other, to a server that may leave one without an answer.

Over HTTP a message is known to have come when its request is answered, so the next one waits for that. Laws: notifications set out
in their order; none keeps what comes behind it for longer than `TURN_SECONDS`. Keeps out: how they are sent (`bridge`).
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
"""How long what comes next waits for a notification that is not answered."""
_NEXT_TURN_SECONDS = 0.1  # behind one that was not: who has waited once need not wait for each
_MAX_WAITING = 1_000
_MAX_OVERDUE = 16


async def has_passed(turn: asyncio.Event | None, seconds: float = TURN_SECONDS) -> None:
    """Wait until a turn is over, so long at most."""
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
        """Set once the notification that was put last has had its turn."""

    async def put(self, sending: Sending) -> None:
        """Send a notification when those before it have had their turn; waits while too many are waiting.

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
        """End what runs."""
        self._waiting.clear()
        for task in [*self._overdue, *([self._work] if self._work is not None else [])]:
            task.cancel()

    async def _send(self) -> None:
        while self._waiting:
            self._overdue = deque(task for task in self._overdue if not task.done())
            sending, turn = self._waiting.popleft()
            task = asyncio.ensure_future(sending())
            self._overdue.append(task)
            # A server that never answers notifications would have each cost the full three seconds, and a call behind
            # ten of them half a minute. So only the first waits long; what is overdue is kept, for an answer may still
            # end it properly.
            is_one_late = len(self._overdue) > 1
            await asyncio.wait({task}, timeout=_NEXT_TURN_SECONDS if is_one_late else TURN_SECONDS)
            turn.set()
            if task.done():
                with suppress(asyncio.CancelledError, Exception):
                    task.result()
            if len(self._overdue) > _MAX_OVERDUE:
                self._overdue.popleft().cancel()
