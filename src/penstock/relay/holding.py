"""How is the memory bounded that concurrent messages over HTTP hold together?

Each message is held until it is complete, up to its own cap; ten at once would hold ten times that. Laws: together they hold at
most twice the cap, not counting small ones; the oldest held message always proceeds, so there is no deadlock; nobody waits longer
than `MAX_WAIT_SECONDS` for one that hangs. Leaves to others: what becomes of a message that cannot be held (`proxy`, `bridge`).
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    Grow = Callable[[int], Awaitable[bool]]

Decided = TypeVar("Decided")

MAX_WAIT_SECONDS = 30.0
"""How long a message waits for others to finish."""
_SMALL_BYTES = 1 << 18
_AT_ONCE_BYTES = 1 << 15


class HoldRoom:
    """The room of one relay.

    Args:
        max_held_bytes: how much of one message is held, and of all but the oldest together.
    """

    def __init__(self, max_held_bytes: int) -> None:
        self._max_held = max_held_bytes
        self._held: dict[object, int] = {}  # the oldest first
        self._left = asyncio.Event()

    @contextmanager
    def place(self) -> Iterator[Grow]:
        """Give a place for what comes on one connection, until it has been passed on.

        It is told how many bytes are held now, waits until there is room for them, and returns False if others have held too much
        for too long.
        """
        place = object()
        try:
            yield partial(self._grow, place)
        finally:
            self._note(place, 0)

    async def _grow(self, place: object, held_bytes: int) -> bool:
        if held_bytes > _SMALL_BYTES and not self._has_room(place, held_bytes):
            try:
                async with asyncio.timeout(MAX_WAIT_SECONDS):
                    while not self._has_room(place, held_bytes):
                        await self._left.wait()
            except TimeoutError:
                return False
        self._note(place, held_bytes)
        return True

    def _has_room(self, place: object, held_bytes: int) -> bool:
        others = sum(size for other, size in self._held.items() if other is not place)
        # The oldest may always grow, otherwise two that each hold half would wait for each other forever. That is why the total is
        # bounded by twice the cap and not by the cap.
        return others + held_bytes <= self._max_held or next(iter(self._held), place) is place

    def _note(self, place: object, held_bytes: int) -> None:
        if held_bytes > _SMALL_BYTES:
            shrinks = held_bytes < self._held.get(place, 0)
            self._held[place] = held_bytes
        else:
            shrinks = self._held.pop(place, None) is not None
        if shrinks:
            # A new event for each generation of waiters: a task about to wait could miss one that is set and cleared.
            left, self._left = self._left, asyncio.Event()
            left.set()


async def decided(decide: Callable[[bytes], Decided], raw: bytes) -> Decided:
    """Return the result of deciding about a message; for a large one in a thread, so that the loop serves others meanwhile."""
    return decide(raw) if len(raw) <= _AT_ONCE_BYTES else await asyncio.to_thread(decide, raw)
