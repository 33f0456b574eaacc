"""Run the program that a server is, so that nothing of it is left whatever ends first.

Beside the program stands a second process that waits for the end of this one, which not even a kill can keep from it: a pipe
closes. Both are of one process group, made before the program starts, and then that process ends the group, itself included. Law:
once this process is gone, so is every process of the group. Keeps out: what is said to the program.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from penstock.guard.program import passing_signals

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # of fcntl.h on Linux


class Child(NamedTuple):
    """A program that runs, its input and its output."""

    process: subprocess.Popen[bytes]
    input: int
    output: int
    watch: _Watch | None

    @contextmanager
    def passing_signals(self) -> Iterator[None]:
        """Hand on to the program what is sent to this process, for as long as this lasts."""
        with passing_signals(is_apart=self.watch is not None) as hand_to:
            hand_to(self.process)
            yield

    def close_input(self) -> None:
        """Let the program find the end of its input; more than once is once."""
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def close_output(self) -> None:
        """Let the program find that nobody reads what it prints."""
        if self.process.stdout is not None:
            with suppress(OSError):
                self.process.stdout.close()

    def failed(self, seconds: float) -> bool:
        """Return whether the program has ended by itself, and not well.

        Args:
            seconds: how long its end is waited for.
        """
        return self.status(seconds) not in {None, 0}

    def status(self, seconds: float) -> int | None:
        """Return the exit status of the program, below 0 the signal that ended it; None where it goes on.

        Args:
            seconds: how long its end is waited for.
        """
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(seconds)
        return None

    def end(self) -> None:
        """End what is left of the group, and whoever watches it."""
        # The program first and by itself, so that its exit status is collected; what it started goes with the group.
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.watch is not None:
            self.watch.end()
        self.close_input()


def start(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Child:
    """Start a program whose input and output are ours, and whose error output is where ours is.

    Args:
        command: the program and its arguments.
        environment: its variables; None for those of this process.

    Raises:
        OSError: it cannot be started.
    """
    pipe = subprocess.PIPE
    if sys.platform == "win32":
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, env=environment)
        return _child(process, None)
    # The program's process holds the pipe of the watch, too, until it becomes the program; by then it is of the group. So the watch
    # finds the end of this process only when the program is there to be ended, whenever this process is killed.
    watch = _Watch()
    try:
        process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, bufsize=0, env=environment, process_group=watch.group
        )
    except BaseException:
        watch.end()
        raise
    return _child(process, watch)


def leave(descriptor: int) -> None:
    """Close a standard descriptor of this process; nothing comes from there and nothing arrives any more.

    Args:
        descriptor: 0, 1 or 2. Its number stays taken: the next file that is opened would have it, and be written to.
    """
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)


def _child(process: subprocess.Popen[bytes], watch: _Watch | None) -> Child:
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    ends = process.stdin.fileno(), process.stdout.fileno()
    if sys.platform == "linux":
        import fcntl

        for end in ends:
            with suppress(OSError):  # the user's pipes are many already
                # A pipe of 64 KiB has a message of 1 MB change hands sixteen times, a switch of processes each.
                fcntl.fcntl(end, _F_SETPIPE_SZ, _PIPE_BYTES)
    return Child(process, *ends, watch)


if sys.platform != "win32":

    def _close_all_but(descriptor: int) -> None:
        """Close every descriptor of this process but the standard ones and one more."""
        try:
            there = [int(name) for name in os.listdir("/dev/fd")]
        except OSError:  # no such folder: as many as there can be by default
            there = list(range(1_024))
        for other in there:
            if other > 2 and other != descriptor:
                with suppress(OSError):
                    os.close(other)

    class _Watch:
        """A process that ends a group when this process ends, however that happens.

        It is made by a fork, before there are threads: another Python would take fifty milliseconds to start.
        """

        def __init__(self) -> None:
            end, self._held = os.pipe()
            self.group = os.fork()
            if self.group == 0:
                self._wait(end)
            os.close(end)
            # It does the same itself; whoever comes first, the group is there before the program is to join it.
            with suppress(OSError):
                os.setpgid(self.group, self.group)

        def end(self) -> None:
            """End the group, and so the watch."""
            with suppress(OSError):
                os.killpg(self.group, signal.SIGKILL)
            os.close(self._held)
            with suppress(OSError):
                os.waitpid(self.group, 0)

        def _wait(self, end: int) -> None:
            """Wait for the end of the process that forked, and end the group. Never returns."""
            try:
                with suppress(OSError):
                    os.setpgid(0, 0)
                # What a program sends to its own group, to end what it has started, is not for this process.
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                    signal.signal(number, signal.SIG_IGN)
                # Not only the end that is held: of programs that were started before this one the pipes are here too, and
                # a program whose input two processes hold open never finds its end.
                _close_all_but(end)
                null = os.open(os.devnull, os.O_RDWR)
                for descriptor in (0, 1, 2):  # who waits for the end of our output must not wait for this process
                    os.dup2(null, descriptor)
                os.read(end, 1)
                # KILL, because nobody is left who could wait for a program that takes its time over TERM.
                os.killpg(0, signal.SIGKILL)
            finally:
                os._exit(0)

else:

    class _Watch:
        """Windows has no groups to end."""

        def end(self) -> None:
            """Do nothing."""
