"""How do processes share pieces of work? In parallel, and whatever happens to one of them, each piece is done or reported.

    with Workers(2) as workers:
        for made in workers.each(reader_of, setup, range(len(files))): ...

Python runs one thread of its own code at a time, so reading programs in parallel needs processes. They are started by hand and not
by `multiprocessing`, because of two things in its pools: they import the caller's main module again in each process, which runs a
script without a guard a second time, and when one process is killed they give up all pieces, without saying which one it had. Here
each process has a thread that hands it one piece at a time, and knows which piece was lost.

Law: answers come in the order of the pieces, whatever the number of processes; a piece whose process ends is tried once more in a
new one, then it is `Lost`; leaving the block ends every process, and so does the end of ours, however it comes.
Leaves to others: what is done (`estate_reading`, `page_writing`).
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

Setup = TypeVar("Setup")
Piece = TypeVar("Piece")
Made = TypeVar("Made")

TRIES = 2
"""How often a piece is given to a process: the system may end one for another's memory use, but hardly twice."""
_LOOK_SECONDS = 0.5  # between two checks for an interrupt, where it does not end a wait
# How many pieces per process may wait behind a slow one: their answers are kept until it is done.
_AHEAD = 16
_PYTHON = (sys.executable,)
# Our own `sys.path`, so that the process finds what we found; nothing that the user's environment or folder would add.
_START = "import sys; sys.path[:] = sys.argv[1:]; from penstock.scribe.work_process import main; main()"


class Lost(NamedTuple):
    """A piece that could not be done: how the processes that had it ended, in words for a person."""

    reason: str


class Workers:
    """A number of processes; with fewer than two, everything is done in this one.

    Args:
        processes: How many processes there are.
    """

    def __init__(self, processes: int) -> None:
        self.processes = processes if processes > 1 else 0
        self._children: list[_Child] = [_Child() for _ in range(self.processes)]

    def __enter__(self) -> Workers:
        """Return itself; nothing is started before there is work."""
        return self

    def __exit__(self, *_: object) -> None:
        """End every process."""
        for child in self._children:
            child.end()

    def each(
        self, make: Callable[[Setup], Callable[[Piece], Made]], setup: Setup, pieces: Sequence[Piece]
    ) -> Generator[Made | Lost, None, None]:
        """Yield the result of each piece, in their order.

        Args:
            make: Makes the function that does a piece, once in each process: must be a module's function, not a closure.
            setup: The argument of `make`.
            pieces: The work.

        Raises:
            Exception: Whatever doing a piece raises.
        """
        if not self.processes:
            work = make(setup)
            yield from map(work, pieces)
            return
        round_: _Round[Piece, Made] = _Round((make, setup), pieces, _AHEAD * self.processes)
        threads = [threading.Thread(target=round_.serve, args=(child,), daemon=True) for child in self._children]
        for thread in threads:
            thread.start()
        try:
            yield from round_.answers()
        finally:
            # A caller that leaves early, even by an interrupt, leaves nothing running: a thread's wait ends with its process.
            if not round_.is_over:
                round_.stop()
                for child in self._children:
                    child.end()
            for thread in threads:
                thread.join()


class _Round(Generic[Piece, Made]):
    """One round of pieces, taken by the threads of all processes and returned in order."""

    def __init__(self, setup: object, pieces: Sequence[Piece], ahead: int) -> None:
        self._setup, self._pieces = setup, pieces
        self._next = 0
        self._lock = threading.Lock()
        self._room = threading.Semaphore(ahead)
        self._done: queue.SimpleQueue[tuple[int, str, Any]] = queue.SimpleQueue()
        self._stopped = False
        self.is_over = False

    def stop(self) -> None:
        """Hand out nothing more."""
        self._stopped = True
        self._room.release()

    def answers(self) -> Iterator[Made | Lost]:
        """Yield results in order; raise what was raised."""
        early: dict[int, Made | Lost] = {}
        for number in range(len(self._pieces)):
            while number not in early:
                try:
                    at, outcome, value = self._done.get(timeout=_LOOK_SECONDS)
                except queue.Empty:
                    continue
                if outcome == "raised":
                    raise value
                early[at] = value
            yield early.pop(number)
            self._room.release()
        self.is_over = True

    def serve(self, child: _Child) -> None:
        """Hand pieces to one process until there are none; runs on a thread of its own."""
        try:
            while (at := self._taken()) is not None:
                self._done.put((at, *self._tried(child, self._pieces[at])))
        except Exception as error:  # noqa: BLE001  # it belongs to the caller that waits for the answers
            self._done.put((-1, "raised", error))

    def _taken(self) -> int | None:
        """Return the number of the next piece, once there is room for its answer; None if none is left."""
        with self._lock:
            if self._next >= len(self._pieces):
                return None
        self._room.acquire()
        with self._lock:
            if self._stopped or self._next >= len(self._pieces):
                self._room.release()  # threads that wait behind us must see it too
                return None
            self._next += 1
            return self._next - 1

    def _tried(self, child: _Child, piece: Piece) -> tuple[str, Any]:
        ends: list[str] = []
        while len(ends) < TRIES and not self._stopped:
            try:
                return child.ask(self._setup, piece)
            except (EOFError, OSError, ValueError, pickle.UnpicklingError):  # ValueError: its pipes are closed
                ends.append(child.end())
        return "done", Lost(f"the process that read it ended twice: {', then '.join(ends)}" if ends else "stopped")


class _Child:
    """A process that does pieces of work, started on first use."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._setup: object = None
        self._lock = threading.Lock()  # of starting and ending, which may come from two threads

    def ask(self, setup: object, piece: object) -> tuple[str, Any]:
        """Return `done` and the result of a piece, or `raised` and the exception.

        The setup is pickled each time that a process needs it, and not kept in that form: it may hold all sources.

        Raises:
            EOFError: The process ended.
            OSError: The process does not take the request.
        """
        process = self._started()
        if self._setup is not setup:
            answer = self._told(process, pickle.dumps(("setup", setup), pickle.HIGHEST_PROTOCOL))
            if answer[0] == "raised":
                return answer
            self._setup = setup
        return self._told(process, pickle.dumps(("piece", piece), pickle.HIGHEST_PROTOCOL))

    def _told(self, process: subprocess.Popen[bytes], request: bytes) -> tuple[str, Any]:
        requests, answers = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
        requests.write(request)
        requests.flush()
        outcome, value = pickle.load(answers)  # noqa: S301  # a pipe from our own process, and from nobody else
        return str(outcome), value

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._process is None:
                command = [*_PYTHON, "-c", _START, *sys.path]
                # In a session of its own: an interrupt at the keyboard is ours to handle, and might hit the process as it starts.
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
                )
                self._setup = None
            return self._process

    def end(self) -> str:
        """End the process at once, and return how it ended."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return "it was not running"
        was = process.poll()
        with suppress(OSError):
            process.kill()
        process.wait()
        # Only now: a thread that waits at a pipe holds it, and lets go once the far end is gone.
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # a request that nobody will read
                cast("BinaryIO", pipe).close()
        status = process.returncode if was is None else was
        return f"signal {-status}" if status < 0 else f"exit status {status}"


def processes_for(total_bytes: int, asked: int | None = None) -> int:
    """Return how many processes are worth starting for sources of a size: one per megabyte, at most one per processor.

    Args:
        total_bytes: The size of all sources.
        asked: The number that the user asked for, if any.
    """
    if asked is not None:
        return asked
    affinity = getattr(os, "sched_getaffinity", None)  # a container may have fewer than the machine
    processors = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return min(processors, total_bytes // BYTES_PER_PROCESS)


BYTES_PER_PROCESS = 1 << 20
"""The size that one process reads in about ten times the time that starting it takes."""
