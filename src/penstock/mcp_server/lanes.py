"""Who does the blocking work, and how long does anyone wait for it?

Tools block: on disks, on scans. They run in daemon threads of their own, so that neither the event loop nor the end of
the process ever waits for one. A call has a place in a lane until it is done, is past its deadline or nobody wants it
any more; a thread that is left behind is counted, and when too many are, its place stays taken until it ends.
Law: an answer, `Late` or `Busy` within `seconds`; at most `places + ghosts` threads a lane.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

T = TypeVar("T")


class Busy(Exception):
    """No place became free within the time that the call had."""


class Late(Exception):
    """The work was not done within the time that the call had."""


class _Job(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.done = anyio.Event()
        self.fate = "awaited"  # or "ghost", left behind; or "holding", left behind and still in its place
        self.result: T
        self.error: BaseException | None = None


class Lane:
    """`places` calls work at once, the others wait in order; `ghosts` more threads may have been left behind."""

    def __init__(self, places: int, ghosts: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._places = anyio.Semaphore(places)
        self._ghosts_left = ghosts
        self._idle = 0
        self._threads = 0
        self._jobs: queue.SimpleQueue[_Job[object] | None] = queue.SimpleQueue()

    async def run(self, work: Callable[[], T], seconds: float) -> T:
        """The result of `work`, done in a thread. Raises `Busy`, `Late`, or what the work raises."""
        end = anyio.current_time() + seconds
        with anyio.CancelScope(deadline=end) as waiting:
            await self._places.acquire()
        if waiting.cancelled_caught:
            raise Busy
        job = _Job(work)
        self._start(job)
        try:
            with anyio.CancelScope(deadline=end):
                await job.done.wait()
        finally:
            if job.done.is_set():
                self._places.release()
            elif self._ghosts_left:
                self._ghosts_left -= 1
                job.fate = "ghost"
                self._places.release()
            else:
                job.fate = "holding"
        if not job.done.is_set():
            raise Late
        if job.error is not None:
            raise job.error
        return job.result

    def close(self) -> None:
        """Idle threads end; a thread that works ends with the process."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _start(self, job: _Job[T]) -> None:
        if self._idle:
            self._idle -= 1
        else:
            self._threads += 1
            threading.Thread(target=self._serve, daemon=True, name=f"penstock-lane-{self._threads}").start()
        self._jobs.put(job)  # type: ignore[arg-type]

    def _finished(self, job: _Job[object]) -> None:
        self._idle += 1
        if job.fate == "awaited":
            job.done.set()
        elif job.fate == "ghost":
            self._ghosts_left += 1
        else:
            self._places.release()

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job.result = job.work()
            except BaseException as error:  # noqa: BLE001  it is raised where the result is awaited
                job.error = error
            try:
                self._loop.call_soon_threadsafe(self._finished, job)
            except RuntimeError:  # the loop has ended, and with it everyone who could ask
                return
            del job


class Lanes:
    """Reads have a lane of their own, so that scans cannot keep them waiting."""

    def __init__(self) -> None:
        self.fast = Lane(places=8, ghosts=32)  # a read that hangs, hangs in a file system: leave it behind
        # Two scans keep two cores busy; two more may still be on their way to their own deadline.
        self.slow = Lane(places=2, ghosts=2)


@asynccontextmanager
async def open_lanes() -> AsyncIterator[Lanes]:
    """Lanes for as long as a server serves."""
    lanes = Lanes()
    try:
        yield lanes
    finally:
        lanes.fast.close()
        lanes.slow.close()
