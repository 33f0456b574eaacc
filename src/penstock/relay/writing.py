"""How are whole messages written to a reader that may be slow or stuck, while others are served?

A separate thread writes: a signal must end the relay even if its host reads no more, and a write cannot be interrupted. Laws:
messages are written in the order of the calls of `write`; the caller waits if too much would pile up.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from penstock.relay.stdio import write_all

if TYPE_CHECKING:
    from collections.abc import Callable


class MessageWriter:
    """Writes to a descriptor.

    Args:
        descriptor: where to write; a copy is used, which stays valid if this one is closed.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.dup(descriptor)
        self._queue: SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = SimpleQueue()
        threading.Thread(target=self._carry, daemon=True, name="penstock-write").start()

    async def write(self, raw: bytes) -> None:
        """Write all of a message. If the host reads no more, nothing is written: it will end our input."""
        written = asyncio.get_running_loop().create_future()
        self._queue.put((raw, written))
        await written

    def end(self) -> None:
        """Close the copy once everything is written; nothing may be written after this."""
        self._queue.put(None)

    def _carry(self) -> None:
        while (message := self._queue.get()) is not None:
            raw, written = message
            with suppress(OSError):
                write_all(self._descriptor, raw)
            with suppress(RuntimeError):  # the loop has ended
                written.get_loop().call_soon_threadsafe(_note, written)
        os.close(self._descriptor)


def _note(written: asyncio.Future[None]) -> None:
    if not written.done():
        written.set_result(None)


class ServerInput:
    """The input of one of several servers: one that does not read must not block the host from the others.

    Args:
        descriptor: where to write.
        close: closes it, once everything is written after `end`.
        max_waiting_bytes: how much may wait to be written; beyond that the caller waits.
    """

    def __init__(self, descriptor: int, close: Callable[[], None], max_waiting_bytes: int) -> None:
        self._descriptor = descriptor
        self._close = close
        self._max_waiting = max_waiting_bytes
        self._messages: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._is_ending = False
        self._changed = threading.Condition()
        threading.Thread(target=self._carry, daemon=True, name="penstock-down").start()

    def write(self, raw: bytes) -> None:
        """Queue a message; a server that reads no more will be found to have ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting_bytes <= self._max_waiting)
            self._messages.append(raw)
            self._waiting_bytes += len(raw)
            self._changed.notify_all()

    def end(self) -> None:
        """Close the server's input after what is queued; nothing may be written after this."""
        with self._changed:
            self._is_ending = True
            self._changed.notify_all()

    def _carry(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._messages or self._is_ending)
                if not self._messages:
                    break
                raw = self._messages.popleft()
            with suppress(OSError):
                write_all(self._descriptor, raw)
            with self._changed:
                self._waiting_bytes -= len(raw)
                self._changed.notify_all()
        with suppress(OSError):
            self._close()
