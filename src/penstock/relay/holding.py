"""Bound what all messages that come over HTTP at the same time hold of memory together.

Each is held until it has come, up to a cap of its own; ten at once would hold ten times that. Laws: together they hold no more
than twice the cap, small ones apart; the oldest that is held always goes on, so they never wait for each other in a ring; nobody
waits for one that hangs for longer than `MAX_WAIT_SECONDS`. Keeps out: what becomes of what cannot be held (`proxy`, `bridge`).
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Decided = TypeVar("Decided")

MAX_WAIT_SECONDS = 30.0
"""How long a message waits until others have gone."""
_SMALL_BYTES = 1 << 18
_AT_ONCE_BYTES = 1 << 15


class HoldRoom:
    """The room of one relay.

    Args:
        max_held_bytes: how much of one message is held, and of all but the oldest together.
    """

    def __init__(self, max_held_bytes: int) -> None:
        self._max_held = max_held_bytes
        self._held: dict[HeldPlace, int] = {}  # the oldest first
        self._left = asyncio.Event()

    @contextmanager
    def place(self) -> Iterator[HeldPlace]:
        """Give a place for what comes on one connection, until that has gone on."""
        place = HeldPlace(self)
        try:
            yield place
        finally:
            self._note(place, 0)

    async def _grow(self, place: HeldPlace, held_bytes: int) -> bool:
        if held_bytes > _SMALL_BYTES and not self._has_room(place, held_bytes):
            try:
                async with asyncio.timeout(MAX_WAIT_SECONDS):
                    while not self._has_room(place, held_bytes):
                        await self._left.wait()
            except TimeoutError:
                return False
        self._note(place, held_bytes)
        return True

    def _has_room(self, place: HeldPlace, held_bytes: int) -> bool:
        others = sum(size for other, size in self._held.items() if other is not place)
        # The oldest may always grow, else two that each hold half would wait for each other for ever. That is why the
        # whole is bounded by twice the cap and not by the cap.
        return others + held_bytes <= self._max_held or next(iter(self._held)) is place

    def _note(self, place: HeldPlace, held_bytes: int) -> None:
        if held_bytes > _SMALL_BYTES:
            shrinks = held_bytes < self._held.get(place, 0)
            self._held[place] = held_bytes
        else:
            shrinks = self._held.pop(place, None) is not None
        if shrinks:
            # An event of their own for each generation of waiters: one that is set and cleared could be missed by who
            # is about to wait.
            left, self._left = self._left, asyncio.Event()
            left.set()


class HeldPlace:
    """What one connection holds."""

    def __init__(self, room: HoldRoom) -> None:
        self._room = room

    async def grow(self, held_bytes: int) -> bool:
        """Say how many bytes are held now, and wait until there is room for them.

        Args:
            held_bytes: all that is held.

        Returns:
            False where others have held too much for too long.
        """
        return await self._room._grow(self, held_bytes)


async def decided(decide: Callable[[bytes], Decided], raw: bytes) -> Decided:
    """Return what follows from a message; of a large one beside the loop, which serves others meanwhile."""
    return decide(raw) if len(raw) <= _AT_ONCE_BYTES else await asyncio.to_thread(decide, raw)
