"""Write whole messages to a host that may read slowly, while an event loop goes on.

A thread of its own writes: a signal must end the relay also when its host reads no more, and nobody can break off a write. Laws:
messages are written in the order in which `write` is called; whoever writes waits until that is done, so nothing piles up.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from queue import SimpleQueue

from penstock.relay.stdio import write_all


class MessageWriter:
    """What writes to a descriptor.

    Args:
        descriptor: where to; a copy of it is written to, which stays good when another closes this one.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.dup(descriptor)
        self._queue: SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = SimpleQueue()
        threading.Thread(target=self._carry, daemon=True, name="penstock-write").start()

    async def write(self, raw: bytes) -> None:
        """Write all of a message. To a host that reads no more nothing is written: it will end our input."""
        written = asyncio.get_running_loop().create_future()
        self._queue.put((raw, written))
        await written

    def end(self) -> None:
        """Close the copy once all has been written; nothing may be written any more."""
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
