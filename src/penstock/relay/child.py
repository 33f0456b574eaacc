"""How is a server's program run so that nothing of it is left, whichever process ends first?

Next to the program runs a second process that waits for the end of this one, which not even a kill can hide from it: a pipe closes.
Both are in one process group, created before the program starts, and then that process kills the group, itself included. Law: once
this process is gone, so is every process of the group. Leaves to others: what is said to the program.
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
    """A running program, its input and its output."""

    process: subprocess.Popen[bytes]
    input: int
    output: int
    watch: _Watch | None

    @contextmanager
    def passing_signals(self) -> Iterator[None]:
        """Forward signals sent to this process to the program, while the context lasts."""
        with passing_signals(is_apart=self.watch is not None) as hand_to:
            hand_to(self.process)
            yield

    def close_input(self) -> None:
        """Close the program's input; closing it again does nothing."""
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def close_output(self) -> None:
        """Close our end of the program's output, so that its writes fail."""
        if self.process.stdout is not None:
            with suppress(OSError):
                self.process.stdout.close()

    def failed(self, seconds: float) -> bool:
        """Return whether the program has ended by itself with an error.

        Args:
            seconds: how long to wait for its end.
        """
        return self.status(seconds) not in {None, 0}

    def status(self, seconds: float) -> int | None:
        """Return the exit status of the program, negative for the signal that ended it; None if it is still running.

        Args:
            seconds: how long to wait for its end.
        """
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(seconds)
        return None

    def end(self) -> None:
        """Kill the rest of the group, and its watch."""
        # The program first and separately, so that its exit status is collected; what it started goes with the group.
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.watch is not None:
            self.watch.end()
        self.close_input()


def start(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Child:
    """Start a program whose input and output are ours, and whose standard error is ours too.

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
    # The new process also holds the watch's pipe until it becomes the program; by then it is in the group. So whenever this process
    # dies, the watch sees its end only when the program can be killed.
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
    """Close a standard descriptor of this process: nothing is read from it or written to it any more.

    Args:
        descriptor: 0, 1 or 2. Its number stays taken: otherwise the next opened file would get it, and be written to.
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
            with suppress(OSError):  # the user already has too many pipes
                # Through a pipe of 64 KiB, a message of 1 MB takes sixteen rounds, each with a process switch.
                fcntl.fcntl(end, _F_SETPIPE_SZ, _PIPE_BYTES)
    return Child(process, *ends, watch)


if sys.platform != "win32":

    def _close_all_but(descriptor: int) -> None:
        """Close every descriptor of this process except the standard ones and one more."""
        try:
            there = [int(name) for name in os.listdir("/dev/fd")]
        except OSError:  # no such folder: try the default maximum
            there = list(range(1_024))
        for other in there:
            if other > 2 and other != descriptor:
                with suppress(OSError):
                    os.close(other)

    class _Watch:
        """A process that kills a group when this process ends, however that happens.

        It is forked before there are threads: another Python would take fifty milliseconds to start.
        """

        def __init__(self) -> None:
            end, self._held = os.pipe()
            self.group = os.fork()
            if self.group == 0:
                self._wait(end)
            os.close(end)
            # The child does the same; whichever is first, the group exists before the program joins it.
            with suppress(OSError):
                os.setpgid(self.group, self.group)

        def end(self) -> None:
            """Kill the group, and so the watch."""
            with suppress(OSError):
                os.killpg(self.group, signal.SIGKILL)
            os.close(self._held)
            with suppress(OSError):
                os.waitpid(self.group, 0)

        def _wait(self, end: int) -> None:
            """Wait for the end of the process that forked, and kill the group. Never returns."""
            try:
                with suppress(OSError):
                    os.setpgid(0, 0)
                # Signals that a program sends to its own group, to end what it has started, are not for this process.
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                    signal.signal(number, signal.SIG_IGN)
                # Not only the held end: the pipes of programs started earlier are open here too, and a program whose input two
                # processes hold open never sees its end.
                _close_all_but(end)
                null = os.open(os.devnull, os.O_RDWR)
                for descriptor in (0, 1, 2):  # a reader of our output must not wait for this process
                    os.dup2(null, descriptor)
                os.read(end, 1)
                # KILL, because nobody is left to wait for a program that is slow to act on TERM.
                os.killpg(0, signal.SIGKILL)
            finally:
                os._exit(0)

else:

    class _Watch:
        """Nothing: Windows has no groups to kill."""

        def end(self) -> None:
            """Do nothing."""
