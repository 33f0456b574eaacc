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
"""The exit status of a program that is not there, as shells have it."""
NOT_RUN = 126
"""The exit status of a program that is there and cannot be run."""
_LINGER_SECONDS = 2.0
"""How long an output is read once the program has ended: what it left behind may hold it open for ever."""
_SLICE_SECONDS = 0.5
_READ_BYTES = 256 * 1024
_PR_SET_PDEATHSIG = 1  # prctl(2)
# What programs ask before they colour what they print. A program that a person told to colour still does.
_NO_COLOURS = {"NO_COLOR": "1", "CLICOLOR": "0"}


class Ran(NamedTuple):
    """How a program went."""

    status: int
    """The exit status of a program; below 0 the signal that ended it."""
    stdout: Drained
    """The shown part of a program's output, and where the whole is."""
    stderr: Drained


def environment_for(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a program whose output a model reads: the same, without an offer of colours."""
    return {**_NO_COLOURS, **environment, "TERM": "dumb"}


class Writing:
    """Write parts to a descriptor, until nobody reads there: the program is told by its own next write.

    Args:
        descriptor: where they go.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._is_read = True

    def __call__(self, part: bytes) -> None:
        """Write one part, all of it."""
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

    Signals that this process gets meanwhile go to the program.

    Args:
        command: the program and its arguments.
        allowance: what both outputs may take together, notices included.
        keep: which part of an output stays where it is too long.
        name: how notices call the program.
        open_store: called once an output proves too long, for each output in a thread of its own.
        keep_bytes: how many bytes of each output are kept.
        dialect: how calls in the notices are written.
        chars_per_token: for the estimates in tokens that the notices give.
        watched: what the parts of each output pass on their way.
        printed_to: where each output goes in the end; once nobody reads there, the program finds nobody to read.
        hand_on: what is given each output as it comes, uncut, where it cannot be kept; None shows its ends.

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

    # Handled before the program starts: whoever sees that it runs may send at once.
    with passing_signals() as hand_to:
        environment = environment_for(os.environ)
        with (
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                bufsize=0,
                # What a shell hands on has a number of its own: `diff <(…) <(…)`, `3>file`, the jobs of `make`. Python hands
                # nothing on by itself that it opened.
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
    """Return what a program is to do before it begins, so that it ends where this process is killed: no signal is passed on then.

    None where the system has no such thing (all but Linux): there it lives on, as it would behind any shell.
    """
    if sys.platform != "linux":
        return None
    import ctypes

    prctl, ours = ctypes.CDLL(None).prctl, os.getpid()

    def end_with_us() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != ours:  # killed before that could be said
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
    """Wait for the end of a program and return its status; signals are handled meanwhile."""
    return _awaited(running.wait)


def _awaited(wait: Callable[[], Awaited]) -> Awaited:
    """Return what a wait returns, which another thread does; signals are handled meanwhile.

    A signal that came as this thread began to wait for a program, or that another thread was handed, would be handled when the
    program ends, which it may do only because of the signal. A future is waited for in slices.
    """
    awaited: Future[Awaited] = Future()

    def answer() -> None:
        try:
            awaited.set_result(wait())
        except BaseException as error:  # noqa: BLE001  (raised where the result is asked for)
            awaited.set_exception(error)

    threading.Thread(target=answer, daemon=True, name="penstock-wait").start()
    while not awaited.done():
        with suppress(TimeoutError):
            awaited.result(_SLICE_SECONDS)
    return awaited.result()


def _parts(pipe: IO[bytes], reader: int | None, running: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield what comes out of a pipe until its end, until nobody reads on, or until some time after the program has ended."""
    descriptor = pipe.fileno()
    until: float | None = None
    if sys.platform != "win32":
        waiting = select.poll()  # `select` takes no descriptor above 1023
        waiting.register(descriptor, select.POLLIN | select.POLLHUP)
        if reader is not None and not os.isatty(reader):  # of a terminal that is gone its programs are told otherwise
            waiting.register(reader, 0)  # for nothing but its end
    while True:
        if until is None and running.poll() is not None:
            until = time.monotonic() + _LINGER_SECONDS
        if until is not None and time.monotonic() > until:
            _leave_reader(descriptor)
            return
        if sys.platform != "win32":
            ready = {one for one, _ in waiting.poll(100)}
            if reader in ready:
                pipe.close()  # and the program is told by its next write, as it would be without us
                return
            if not ready:
                continue
        part = os.read(descriptor, _READ_BYTES)
        if not part:
            return
        yield part


def _leave_reader(descriptor: int) -> None:
    """Leave a process that reads a pipe to its end: what the program left behind would die of the next line that it prints."""
    if sys.platform == "win32":
        return
    # A program of its own and no fork: this process has threads.
    reader = "import os\nwhile os.read(0, 65536): pass"
    null = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", reader], stdin=descriptor, stdout=null, stderr=null, start_new_session=True
    )


def _wait(running: subprocess.Popen[bytes]) -> int:
    """Wait until a program ends, and stop whenever it stops: the shell that started this process waits for this one alone."""
    while _has_stopped(running):
        pass
    return running.wait()


def _has_stopped(running: subprocess.Popen[bytes]) -> bool:
    """Wait until a program stops or ends. Where it stopped, stop until this process is woken, and return True."""
    if sys.platform != "linux":  # elsewhere nobody can ask without taking the end from who asks next
        return False
    try:
        seen = _awaited(lambda: os.waitid(os.P_PID, running.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT))
    except ChildProcessError:  # who reads its outputs has asked, too, and got its status
        return False
    if seen is None or seen.si_code != os.CLD_STOPPED:
        return False
    # Who wakes this process wakes the program, but not before this one hands on stops again: the next one may come at once.
    woken: list[int] = []
    hand_on = signal.signal(signal.SIGCONT, lambda number, _: woken.append(number))
    said = None
    with suppress(
        ChildProcessError
    ):  # taken, so that it is said once; there is nothing to be told of what goes on already
        said = os.waitid(os.P_PID, running.pid, os.WSTOPPED | os.WNOHANG)
    if said is not None and not woken:
        # By the signal that stopped the program, so that a shell says of this process what it would say of that.
        how = seen.si_status
        earlier = None if how == signal.SIGSTOP else signal.signal(how, signal.SIG_DFL)
        os.kill(os.getpid(), how)
        if earlier is not None:
            signal.signal(how, earlier)
    signal.signal(signal.SIGCONT, hand_on)
    if woken and callable(hand_on):
        hand_on(signal.SIGCONT, None)
    return True


# What is not handed on: nobody can handle the first two; the next are of this process's own making, or say something of it.
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
    """Return the signals that a program is to get in the place of this process; one apart is not stopped by another's terminal."""
    if sys.platform == "win32":
        return {signal.SIGTERM}
    return {int(number) for number in signal.valid_signals()} - {
        getattr(signal, name) for name in (*_OWN_SIGNALS, "SIGINT", *(("SIGTSTP", "SIGCONT") if is_apart else ()))
    }


@contextmanager
def passing_signals(*, is_apart: bool = False) -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Hand on to a program what is sent to this process; what a terminal sends to both is not sent twice.

    Args:
        is_apart: whether the program has a process group of its own, which a terminal sends nothing.

    Yields:
        what is to be called with the program once it runs; signals that came before wait for it.
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
        # Ctrl-C reaches the whole group of the terminal, the program too; a `kill -INT` reaches this process alone.
        if is_apart or not (sys.stdin and sys.stdin.isatty()):
            hand_on(number, frame)

    # What is ignored stays so, as under `nohup`: the program ignores it too. A stop from the terminal reaches both, and who is
    # stopped already is not stopped twice.
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
