"""How does blocking work of tools run, and how long does anyone wait for it? In threads, within bounds.

Tools block: on disks, on scans. They run in their own daemon threads, so that neither the event loop nor the exit of the process
ever waits for one. A call has a place in a lane until it is done, is past its deadline or is no longer wanted, and in a lane with
`patience_seconds` at most that long: work that takes longer gives up its place and continues outside the lane. A thread outside its
lane is counted, and when there are too many, its place stays taken until it ends. Law: an answer, `Late` or `Busy` within
`seconds`; at most `places + ghosts` threads a lane.

Why outside the lane: no thread can be stopped from outside, and a read of a hung network file system does not return. If its place
were kept, eight such reads would end all reading; if it were given up without a count, each further hang would add a thread
forever.
"""

from __future__ import annotations

import asyncio
import math
import os
import queue
import threading
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio

from penstock.workspace.turns import Turns, taking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

T = TypeVar("T")


class Busy(Exception):
    """No place in a lane became free within the time that the call had."""


class Late(Exception):
    """A call's work was not done within the time that it had."""


class _Job(Generic[T]):
    """One call in progress: the work, and its outcome.

    `done` and `in_place` are changed only on the loop, `result` and `error` by the thread before it reports that it has finished.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.done = anyio.Event()
        self.in_place = True  # False: outside the lane
        self.result: T
        self.error: BaseException | None = None


class Lane:
    """A bounded number of threads that do blocking work in order of arrival.

    Args:
        places: Calls that work at once; the others wait.
        ghosts: Additional threads that may work outside the lane, or be left behind in it.
        patience_seconds: How long a call keeps its place while others may want it.
        turns: Long calls of several lanes take turns at the interpreter; None for none.
    """

    def __init__(
        self, places: int, ghosts: int, *, patience_seconds: float = math.inf, turns: Turns | None = None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._places = anyio.Semaphore(places)
        self._ghosts_left = ghosts
        self._patience_seconds = patience_seconds
        self._turns = turns
        self._idle = 0
        self._threads = 0
        self._jobs: queue.SimpleQueue[_Job[object] | None] = queue.SimpleQueue()

    async def run(self, work: Callable[[], T], seconds: float) -> T:
        """Return the result of `work`, done in a thread.

        Raises:
            Busy: No place became free within `seconds`; the work was not begun.
            Late: The work was not done within `seconds`; its thread continues, and its result is dropped.
        """
        end = anyio.current_time() + seconds
        with anyio.CancelScope(deadline=end) as waiting:
            await self._places.acquire()
        if waiting.cancelled_caught:
            raise Busy
        job = _Job(work)
        self._start(job)
        try:
            with anyio.CancelScope(deadline=min(end, anyio.current_time() + self._patience_seconds)):
                await job.done.wait()
            if not job.done.is_set():
                self._step_aside(job)
                with anyio.CancelScope(deadline=end):
                    await job.done.wait()
        # Also when the caller was cancelled: the work cannot be, so it leaves the lane instead.
        finally:
            self._step_aside(job)
        if not job.done.is_set():
            raise Late
        if job.error is not None:
            raise job.error
        return job.result

    def _step_aside(self, job: _Job[T]) -> None:
        """Free the place of a job that is still working, unless too many already work outside the lane."""
        if job.in_place and not job.done.is_set() and self._ghosts_left:
            self._ghosts_left -= 1
            job.in_place = False
            self._places.release()

    def close(self) -> None:
        """Let idle threads end; a working thread ends with the process."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _start(self, job: _Job[T]) -> None:
        """Hand a job to an idle thread, or to a new one."""
        if self._idle:
            self._idle -= 1
        else:
            self._threads += 1
            threading.Thread(target=self._serve, daemon=True, name=f"penstock-lane-{self._threads}").start()
        self._jobs.put(job)  # type: ignore[arg-type]  # a lane runs jobs of every result

    def _finished(self, job: _Job[object]) -> None:
        """Finish a job on the loop: its place, or its right to be outside the lane, is free again."""
        self._idle += 1
        if job.in_place:
            self._places.release()
        else:
            self._ghosts_left += 1
        job.done.set()

    def _serve(self) -> None:
        """Process jobs, in a thread, until None arrives."""
        while (job := self._jobs.get()) is not None:
            try:
                with taking(self._turns) if self._turns is not None else nullcontext():
                    job.result = job.work()
            except BaseException as error:  # noqa: BLE001  it is raised where the result is awaited
                job.error = error
            try:
                self._loop.call_soon_threadsafe(self._finished, job)
            except RuntimeError:  # the loop has ended, and with it everyone who could ask
                return
            # Otherwise the thread would hold the last result, a page of 256 KiB, until its next job.
            del job


class Lanes:
    """The two lanes of a server: one for reads, so that scans cannot keep them waiting, one for walks and searches.

    Long calls of both take turns.
    """

    def __init__(self) -> None:
        # One processor stays free for short reads; more than two would only wait for the interpreter.
        turns = Turns(max(1, min(2, (os.cpu_count() or 1) - 1)))
        # A read that takes long (a far line of a huge file) or hangs (in a file system) makes room for the next. 120 outside
        # besides eight inside: more than the 64 requests that HTTP admits; each costs a stack and a block of 256 KiB.
        self.fast = Lane(places=8, ghosts=120, patience_seconds=0.01, turns=turns)
        # Two scans; two more may still be running towards their own deadline.
        self.slow = Lane(places=2, ghosts=2, turns=turns)


@asynccontextmanager
async def open_lanes() -> AsyncIterator[Lanes]:
    """Give lanes for as long as a server serves, and let their threads end after that."""
    lanes = Lanes()
    try:
        yield lanes
    finally:
        lanes.fast.close()
        lanes.slow.close()
