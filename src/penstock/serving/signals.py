"""How does a signal end serving, and which exit status follows from it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Serving = Callable[[Callable[[Callable[[], None]], None]], Coroutine[Any, Any, None]]  # told how to be stopped


async def until_signal(serving: Serving) -> int:
    """Run `serving` to its end and return the exit status: 128 plus the signal number if a signal ended it."""
    import asyncio
    import signal

    from penstock.workspace.system import ending_signals

    status, loop = 0, asyncio.get_running_loop()
    ways_to_stop: list[Callable[[], None]] = []

    def stop(number: int) -> None:
        nonlocal status
        status = 128 + number
        for way in ways_to_stop:
            way()

    for number in ending_signals():
        try:
            loop.add_signal_handler(number, stop, number)
        except NotImplementedError:  # Windows: a process-wide handler that wakes the loop
            signal.signal(number, lambda number, _: loop.call_soon_threadsafe(stop, number))
    await serving(ways_to_stop.append)
    return status
