"""How is a program run with bounded output? What fits is passed on as if the program had been run alone (H-2).

Law: exit status or signal, the separation of both outputs, its input, and its other file descriptors are the program's own; output
that is too long is cut, and the whole of each output is kept. Leaves to others: what is typed, and where output is printed.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

from penstock.guard.stream import Drained, drain
from penstock.text import fitting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.store import Store
    from penstock.text.allowance import Allowance
    from penstock.text.calls import Dialect
    from penstock.text.fitting import Keep

Awaited = TypeVar("Awaited")

NOT_FOUND = 127
"""The exit status for a missing program, as in shells."""
NOT_RUN = 126
"""The exit status for a program that exists and cannot be run."""
_LINGER_SECONDS = 2.0
"""How long an output is read after the program has ended: processes it left behind may hold it open forever."""
_SLICE_SECONDS = 0.5
_READ_BYTES = 256 * 1024
_PR_SET_PDEATHSIG = 1  # prctl(2)
# Variables that programs check before they use colours. A program that a person told to use colours still does.
_NO_COLOURS = {"NO_COLOR": "1", "CLICOLOR": "0"}


class Ran(NamedTuple):
    """The outcome of a program."""

    status: int
    """The exit status of a program; if negative, the signal that ended it."""
    stdout: Drained
    """The shown part of a program's output, and where the whole is."""
    stderr: Drained


def end_as(status: int) -> int:
    """Return the exit status of a program; if a signal ended it, end this process by the same signal, so that the caller sees it.

    Args:
        status: how the program ended, as in `Ran`.
    """
    if status >= 0:
        return status
    with suppress(OSError):  # nobody can handle SIGKILL, so its handler cannot be reset
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    return 128 - status


def environment_for(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program whose output a model reads: the same, but discouraging colours."""
    return {**_NO_COLOURS, **environment, "TERM": "dumb"}


class Writing:
    """Writes parts to a descriptor, until nobody reads there any more: the program notices at its own next write.

    Args:
        descriptor: where they go.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._is_read = True

    def __call__(self, part: bytes) -> None:
        """Write all of one part."""
        view = memoryview(part)
        try:
            while view and self._is_read:
                view = view[os.write(self._descriptor, view) :]
        except OSError:
            self._is_read = False


def run(
    command: Sequence[str],
    allowance: Allowance,
    keep: Keep,
    *,
    name: str,
    open_store: Callable[[], Store],
    keep_bytes: int,
    dialect: Dialect,
    chars_per_token: float = fitting.CHARS_PER_TOKEN,
    watched: Callable[[Iterable[bytes]], Iterable[bytes]] = iter,
    printed_to: tuple[int | None, int | None] = (None, None),
    hand_on: tuple[Callable[[bytes], object] | None, Callable[[bytes], object] | None] = (None, None),
) -> Ran:
    """Run a program to its end.

    Signals that this process receives meanwhile are passed to the program.

    Args:
        command: the program and its arguments.
        allowance: what both outputs may take together, notices included.
        keep: which part of an output is kept if it is too long.
        name: how notices call the program.
        open_store: called once an output proves too long, for each output in its own thread.
        keep_bytes: how many bytes of each output are kept.
        dialect: how calls in the notices are written.
        chars_per_token: for the estimates in tokens that the notices give.
        watched: a function through which the parts of each output pass.
        printed_to: the final destination of each output; once nobody reads there, the program's pipe is closed too.
        hand_on: receives each output as it arrives, uncut, if it cannot be kept; None shows its ends.

    Raises:
        OSError: the program cannot be started.
    """

    def take(
        pipe: IO[bytes],
        reader: int | None,
        hand_on: Callable[[bytes], object] | None,
        running: subprocess.Popen[bytes],
    ) -> Drained:
        return drain(
            watched(_parts(pipe, reader, running)),
            allowance,
            keep,
            name=name,
            open_store=open_store,
            keep_bytes=keep_bytes,
            dialect=dialect,
            chars_per_token=chars_per_token,
            hand_on=hand_on,
        )

    # Installed before the program starts: whoever sees that it runs may send a signal at once.
    with passing_signals() as hand_to:
        environment = environment_for(os.environ)
        with (
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                bufsize=0,
                # Descriptors inherited from a shell must survive: `diff <(…) <(…)`, `3>file`, the jobs of `make`. Python itself
                # lets children inherit nothing that it opened.
                close_fds=False,
                preexec_fn=_ending_with_us(),  # noqa: PLW1509 - there is no other thread yet
            ) as running,
            ThreadPoolExecutor(2) as takers,
        ):
            hand_to(running)
            taken = [
                takers.submit(take, pipe, reader, uncut, running)
                for pipe, reader, uncut in zip((running.stdout, running.stderr), printed_to, hand_on, strict=True)
                if pipe is not None
            ]
            status = _wait(running)
            stdout, stderr = (one.result() for one in taken)
    return Ran(status, *_shared(stdout, stderr, allowance, keep, name, dialect, chars_per_token))


def _ending_with_us() -> Callable[[], None] | None:
    """Return a function that makes the program end if this process is killed: no signal is passed on then.

    None if the system does not support it (all but Linux): there the program lives on, as it would under any shell.
    """
    if sys.platform != "linux":
        return None
    import ctypes

    prctl, ours = ctypes.CDLL(None).prctl, os.getpid()

    def end_with_us() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != ours:  # killed before the request was made
            os.kill(os.getpid(), signal.SIGKILL)

    return end_with_us


def _shared(
    stdout: Drained,
    stderr: Drained,
    allowance: Allowance,
    keep: Keep,
    name: str,
    dialect: Dialect,
    chars_per_token: float,
) -> tuple[Drained, Drained]:
    """Return both outputs within one allowance: each was cut to all of it, and knows what it was cut from."""
    sizes = [allowance.measure(one.result) for one in (stdout, stderr)]
    if sum(sizes) <= allowance.limit:
        return stdout, stderr
    shares = fitting.share(sizes, allowance.limit)
    first, second = (
        one._replace(
            result=fitting.fit(
                one.result,
                fitting.of(allowance, share),
                keep,
                name=name,
                way=one.result.way,
                dialect=dialect,
                chars_per_token=chars_per_token,
            )
        )
        for one, share in zip((stdout, stderr), shares, strict=True)
    )
    return first, second


def end_of(running: subprocess.Popen[bytes]) -> int:
    """Wait for a program to end and return its status; signals are handled meanwhile."""
    return _awaited(running.wait)


def _awaited(wait: Callable[[], Awaited]) -> Awaited:
    """Return the result of a wait that another thread performs; signals are handled meanwhile.

    A signal that arrived just as this thread began to wait for a program, or that was delivered to another thread, would be handled
    only when the program ends, which may happen only because of the signal. A future is waited for in slices.
    """
    awaited: Future[Awaited] = Future()

    def answer() -> None:
        try:
            awaited.set_result(wait())
        except BaseException as error:  # noqa: BLE001  (raised when the result is requested)
            awaited.set_exception(error)

    threading.Thread(target=answer, daemon=True, name="penstock-wait").start()
    while not awaited.done():
        with suppress(TimeoutError):
            awaited.result(_SLICE_SECONDS)
    return awaited.result()


def _parts(pipe: IO[bytes], reader: int | None, running: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield what comes out of a pipe until its end, until its reader has gone, or until some time after the program has ended."""
    descriptor = pipe.fileno()
    until: float | None = None
    if sys.platform != "win32":
        waiting = select.poll()  # `select` takes no descriptor above 1023
        waiting.register(descriptor, select.POLLIN | select.POLLHUP)
        if reader is not None and not os.isatty(reader):  # programs of a closed terminal learn of it in another way
            waiting.register(reader, 0)  # only for its end
    while True:
        if until is None and running.poll() is not None:
            until = time.monotonic() + _LINGER_SECONDS
        if until is not None and time.monotonic() > until:
            _leave_reader(descriptor)
            return
        if sys.platform != "win32":
            ready = {one for one, _ in waiting.poll(100)}
            if reader in ready:
                pipe.close()  # the program notices at its next write, as it would without us
                return
            if not ready:
                continue
        part = os.read(descriptor, _READ_BYTES)
        if not part:
            return
        yield part


def _leave_reader(descriptor: int) -> None:
    """Start a process that reads a pipe to its end: what the program left behind would otherwise die at its next line."""
    if sys.platform == "win32":
        return
    # A separate program rather than a fork: this process has threads.
    reader = "import os\nwhile os.read(0, 65536): pass"
    null = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", reader], stdin=descriptor, stdout=null, stderr=null, start_new_session=True
    )


def _wait(running: subprocess.Popen[bytes]) -> int:
    """Wait until a program ends, and stop whenever it stops: the shell that started this process waits only for this one."""
    while _has_stopped(running):
        pass
    return running.wait()


def _has_stopped(running: subprocess.Popen[bytes]) -> bool:
    """Wait until a program stops or ends. If it stopped, stop until this process is continued, and return True."""
    if sys.platform != "linux":  # elsewhere nobody can ask without consuming the status
        return False
    try:
        seen = _awaited(lambda: os.waitid(os.P_PID, running.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT))
    except ChildProcessError:  # the thread that reads its outputs has also asked, and got its status
        return False
    if seen is None or seen.si_code != os.CLD_STOPPED:
        return False
    # Whoever continues this process also continues the program, but only after this one forwards stop signals again: the next
    # stop may come at once.
    woken: list[int] = []
    hand_on = signal.signal(signal.SIGCONT, lambda number, _: woken.append(number))
    said = None
    # Consumed, so that it is reported once; a program that is already running again has nothing to report.
    with suppress(ChildProcessError):
        said = os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WNOHANG)
    if said is not None and not woken:
        # By the signal that stopped the program, so that a shell reports of this process what it would report of that one.
        how = seen.si_status
        earlier = None if how == signal.SIGSTOP else signal.signal(how, signal.SIG_DFL)
        os.kill(os.getpid(), how)
        if earlier is not None:
            signal.signal(how, earlier)
    signal.signal(signal.SIGCONT, hand_on)
    if woken and callable(hand_on):
        hand_on(signal.SIGCONT, None)
    return True


# Not passed on: the first two cannot be handled; the next are caused by this process itself, or concern only it.
_OWN_SIGNALS = (
    "SIGKILL",
    "SIGSTOP",
    "SIGSEGV",
    "SIGBUS",
    "SIGFPE",
    "SIGILL",
    "SIGCHLD",
    "SIGPIPE",
    "SIGTTIN",
    "SIGTTOU",
)


def _passed_signals(*, is_apart: bool) -> set[int]:
    """Return the signals that are passed on to a program; a program apart is not stopped by another's terminal."""
    if sys.platform == "win32":
        return {signal.SIGTERM}
    return {int(number) for number in signal.valid_signals()} - {
        getattr(signal, name) for name in (*_OWN_SIGNALS, "SIGINT", *(("SIGTSTP", "SIGCONT") if is_apart else ()))
    }


@contextmanager
def passing_signals(*, is_apart: bool = False) -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Pass on to a program the signals sent to this process; what a terminal sends to both is not sent twice.

    Args:
        is_apart: whether the program has its own process group, to which a terminal sends nothing.

    Yields:
        a function to call with the program once it runs; earlier signals are held until then.
    """
    program: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def hand_on(number: int, _: object) -> None:
        if program is None:
            early.append(number)
        else:
            with suppress(OSError):
                program.send_signal(number)

    def hand_to(running: subprocess.Popen[bytes]) -> None:
        nonlocal program
        program = running
        for number in early:
            hand_on(number, None)

    def interrupt(number: int, frame: object) -> None:
        # Ctrl-C reaches the whole group of the terminal, including the program; a `kill -INT` reaches only this process.
        if is_apart or not (sys.stdin and sys.stdin.isatty()):
            hand_on(number, frame)

    # Ignored signals stay ignored, as under `nohup`: the program ignores them too. A stop from the terminal reaches both, and a
    # stopped program is not stopped twice.
    handlers = {**dict.fromkeys(_passed_signals(is_apart=is_apart), hand_on), signal.SIGINT: interrupt}
    earlier = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) not in {signal.SIG_IGN, None}
    }
    try:
        yield hand_to
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
