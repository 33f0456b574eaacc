"""How is the output of a program let through? `penstock guard`, as a filter of a pipe or around a command (H-2).

What is kept, and how much is shown, is decided in `guard.stream`; this module reads the bytes and handles the program's end.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from codecs import getincrementaldecoder
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, TextIO

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.cli.keeping import opened
from penstock.errors import CallerError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.guard.program import Ran
    from penstock.guard.stream import Drained
    from penstock.text.allowance import Allowance
    from penstock.text.fitting import Keep, Whole

_READ_BYTES = 256 * 1024
_PARTS_AHEAD = 4
_LOOK_SECONDS = 0.2
_F_SETPIPE_SZ = 1031  # from fcntl.h on Linux; Python names it from 3.10 on, but not on every system
_PIPE_BYTES = 1 << 20


@command("guard")
@click.argument("program", nargs=-1, metavar="[-- COMMAND…]", type=click.UNPROCESSED)
@click.option("--tokens", type=options.Whole(min=1), help="Largest size of the result in tokens, by their upper bound.")
@click.option("--chars", type=options.Whole(min=1), help="Largest size of the result in characters (default 28000).")
@click.option(
    "--keep",
    type=click.Choice(["head", "tail", "ends"]),
    help="Which part of oversized output to show: by default head, for a COMMAND ends.",
)
@click.option("--name", metavar="TOOL", help="The name that the notice uses for the program.")
@click.option(
    "--seconds", type=options.SECONDS, metavar="SECONDS", help="Print after this time, even if the input has not ended."
)
@click.option(
    "--keep-bytes",
    type=options.Whole(min=0),
    default=2 << 30,
    show_default=True,
    help="Keep at most this many bytes: of larger output, the first and the last half.",
)
@click.option("--model", default="o200k", show_default=True, help="The tokenizer to count with: a model or a family.")
@click.option(
    "--shell-file",
    "is_shell_file",
    is_flag=True,
    help="Print a shell start-up file that sends an agent's commands through the guard.",
)
@options.store_option
def guard_command(
    program: tuple[str, ...],
    tokens: int | None,
    chars: int | None,
    keep: str | None,
    name: str | None,
    seconds: float | None,
    keep_bytes: int,
    model: str,
    is_shell_file: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Pass on what a pipe or a COMMAND prints, as far as it fits.

    Output that is too large is cut; a notice at the top names the handle under which all of it is kept. The result is printed
    at the end of input, at an interrupt, or after --seconds; memory use does not grow with the input. Output that cannot be
    kept is passed on uncut, with exit status 8. A COMMAND keeps its exit status, its signals and both its output streams; on a
    terminal its output is left alone.

    Examples:
      make 2>&1 | penstock guard --tokens 2000 --keep tail
        the end of a build, in at most 2000 tokens
      penstock guard -- make -j2
        the same build without a pipe; the exit status is that of make
    """
    from penstock.text.fitting import Keep

    if tokens is not None and chars is not None:
        raise CallerError("Give --tokens or --chars, not both.")
    if is_shell_file:
        given = {"--tokens": tokens, "--chars": chars, "--keep": keep, "--store": store_url}
        return _print_shell_file([f"{flag}={value}" for flag, value in given.items() if value is not None])
    allowance = _allowance(tokens, chars, model)
    if not program:
        how = _How(allowance, Keep(keep or "head"), name or "command", keep_bytes)
        return _pass_on(how, seconds, store_url, as_json=as_json)
    if seconds is not None:
        raise CallerError("--seconds is for a pipe: a command ends by itself, or by `timeout`.")
    how = _How(allowance, Keep(keep or "ends"), name or os.path.basename(program[0]), keep_bytes)
    return _run(program, how, store_url, as_json=as_json)


def _print_shell_file(flags: list[str]) -> int:
    """Print what a shell reads to run this Penstock, wherever it is then."""
    from penstock.cli.installing import own_command
    from penstock.guard import shell_file

    click.echo(shell_file.write(own_command(), flags), nl=False)
    return 0


guard_command.allow_interspersed_args = False  # flags after a COMMAND are its own


def _json_of(passed: Drained) -> dict[str, object]:
    """Return one output as a JSON object."""
    measures = ("is_cut", "shown_tokens", "whole_tokens", "whole_bytes", "whole_lines")
    return {
        "text": passed.result.text,
        **answer.fields_of(passed.result, *measures),
        "handles": list(passed.handles),
        **answer.fields_of(passed, "lost_bytes", "fault"),
    }


def _json_of_uncut(passed: Drained, uncut: Whole, lost_bytes: int = 0) -> dict[str, object]:
    """Return the fields that follow the text of an output that passes uncut."""
    return {
        "is_cut": lost_bytes > 0,
        "shown_tokens": uncut.tokens,
        **{f"whole_{name}": getattr(uncut, name) for name in ("tokens", "bytes", "lines")},
        "handles": [],
        "lost_bytes": lost_bytes,
        "fault": passed.fault,
    }


class _JsonText:
    """Writes one output that passes uncut as a JSON object, its text first, and holds none of it.

    Args:
        out: where it goes.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._decode = getincrementaldecoder("utf-8")("backslashreplace").decode
        self._opening = '{"text": "'

    def __call__(self, part: bytes, *, is_last: bool = False) -> None:
        """Write a part of the text."""
        self._out.write(self._opening + json.dumps(self._decode(part, is_last))[1:-1])
        self._opening = ""

    def end(self, fields: dict[str, object]) -> None:
        """Write the fields after the text."""
        self(b"", is_last=True)
        self._out.write(f'", {json.dumps(fields)[1:]}')


class _Aside:
    """Holds an output that cannot be kept, in a file without a name, until the program has ended: in JSON one output follows the
    other.

    Args:
        open_file: opens the file, once there is something to put in it; returns its descriptor.
    """

    def __init__(self, open_file: Callable[[], int]) -> None:
        self._open_file = open_file
        self._descriptor: int | None = None
        self._bytes, self._is_whole = 0, True

    def __call__(self, part: bytes) -> None:
        """Hold a part, unless an earlier one found no room: what is held is then only a beginning."""
        if not self._is_whole:
            return
        try:
            if self._descriptor is None:
                self._descriptor = self._open_file()
            written = os.write(self._descriptor, part)
        except OSError:
            written = 0
        self._bytes += written
        self._is_whole = written == len(part)

    def print(self, passed: Drained, uncut: Whole) -> None:
        """Print what is held as a JSON object."""
        text = _JsonText(sys.stdout)
        if self._descriptor is not None:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            while part := os.read(self._descriptor, _READ_BYTES):
                text(part)
        text.end(_json_of_uncut(passed, uncut, uncut.bytes - self._bytes))


class _How(NamedTuple):
    """How an output is shown."""

    allowance: Allowance
    keep: Keep
    name: str
    keep_bytes: int


def _pass_on(how: _How, seconds: float | None, store_url: str | None, *, as_json: bool) -> int:
    """Pass on what a pipe brings, until it ends or `seconds` have passed."""
    from penstock.guard import output, stream
    from penstock.store import as_kept
    from penstock.text import stand_ins

    source = (_ThreadedInput if sys.platform == "win32" else _Input)(sys.stdin.fileno(), seconds)
    dialect = answer.dialect_of(store_url=store_url)
    # A pipe is read once: what is cut without a way back is lost, and the command that wrote it may not be safe to run again.
    hand_on = None if sys.stdout is None else _JsonText(sys.stdout) if as_json else sys.stdout.buffer.write
    with ExitStack() as stack, source.listening():
        passed = stream.drain(
            as_kept(source),
            how.allowance,
            how.keep,
            name=how.name,
            # output that fits creates no store
            open_store=lambda: stack.enter_context(opened(store_url, options.BUSY_SECONDS, may_begin=True)),
            keep_bytes=how.keep_bytes,
            dialect=dialect,
            chars_per_token=output.chars_per_token(),
            hand_on=hand_on,
        )
    if passed.uncut is not None:
        _say_uncut(passed.fault)
        if isinstance(hand_on, _JsonText):
            hand_on.end({**_json_of_uncut(passed, passed.uncut), "ended": source.ended})
            click.echo()
            return answer.INTERRUPTED if source.ended == "interrupt" else answer.FAULT
    result = passed.result
    if result.is_cut and result.handle is not None:
        way = stand_ins.way_back(result.handle, dialect)
        if way not in result:
            return _too_small(how.allowance, way, as_json=as_json)
    if as_json:
        answer.print_json({**_json_of(passed), "ended": source.ended})
    else:
        click.echo(result.text, nl=sys.stdout.isatty() and not result.endswith("\n"))
    if source.ended == "interrupt":
        return answer.INTERRUPTED
    return answer.FAULT if passed.fault else 0


def _run(command: tuple[str, ...], how: _How, store_url: str | None, *, as_json: bool) -> int:
    """Run a command and end as it ended."""
    from penstock.guard import output, program
    from penstock.store import as_kept
    from penstock.text import stand_ins
    from penstock.workspace.scratch import scratch_file

    # A person watches: an editor or a pager must have the terminal to itself. Nobody watches: there is nothing to guard.
    if sys.stdout is None or (sys.stdout.isatty() and not as_json):
        if sys.platform != "win32":
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and a program would inherit that
        try:
            os.execvp(command[0], command)  # noqa: S606 - it is what was typed
        except OSError as error:
            return _not_started(command[0], error, as_json=as_json)
    printed_to = _printed_to(as_json=as_json)
    with ExitStack() as stack:

        def open_file() -> int:
            descriptor = scratch_file()
            stack.callback(os.close, descriptor)
            return descriptor

        asides = _Aside(open_file), _Aside(open_file)
        writings = [None if one is None else program.Writing(one) for one in printed_to]
        try:
            ran = program.run(
                command,
                how.allowance,
                how.keep,
                name=how.name,
                open_store=lambda: stack.enter_context(opened(store_url, options.BUSY_SECONDS, may_begin=True)),
                keep_bytes=how.keep_bytes,
                dialect=answer.dialect_of(store_url=store_url),
                chars_per_token=output.chars_per_token(),
                watched=as_kept,
                printed_to=printed_to,
                hand_on=asides if as_json else (writings[0], writings[1]),
            )
        except OSError as error:
            return _not_started(command[0], error, as_json=as_json)
        if as_json:
            _print_as_json(ran, asides)
            return program.end_as(ran.status)
    faults = [_print(ran.stdout.result, sys.stdout), _print(ran.stderr.result, sys.stderr)]
    unwritten = next(filter(None, faults), "")
    if said := next((one.fault for one in (ran.stdout, ran.stderr) if one.is_uncut), ""):
        _say_uncut(said)
    for shown in (ran.stdout.result, ran.stderr.result):
        if shown.is_cut and shown.handle is not None:
            way = stand_ins.way_back(shown.handle, answer.dialect_of(store_url=store_url))
            # The status is the command's own, so the way back is printed next to the result.
            if way not in shown:
                _say(f"{_no_room(how.allowance, way)} Try: {way}")
    if unwritten:
        _say(f"what {how.name} printed could not be written: {unwritten}")
    # If a program ended well but its output was lost, the run did not go well for the caller.
    return program.end_as(ran.status or (answer.FAULT if unwritten else 0))


def _print_as_json(ran: Ran, asides: Sequence[_Aside]) -> None:
    """Print how a program ended as a JSON object."""
    click.echo(f'{{"status": {ran.status}', nl=False)
    for name, passed, aside in zip(("stdout", "stderr"), (ran.stdout, ran.stderr), asides, strict=True):
        click.echo(f', "{name}": ', nl=False)
        if passed.uncut is None:
            click.echo(json.dumps(_json_of(passed)), nl=False)
        else:
            aside.print(passed, passed.uncut)
    click.echo("}")


def _print(text: str, stream: TextIO | None) -> str:
    """Print an output of a command, and return why that failed; empty if it succeeded, or nobody reads it."""
    if stream is None or not text:
        return ""
    try:
        stream.buffer.write(text.encode("utf-8", "surrogateescape"))
        stream.flush()
    except BrokenPipeError:  # the program was told, and how it ended is the answer
        return ""
    except OSError as error:
        if stream is sys.stdout:
            answer.quiet_pipe()  # flushing pending output would fail once more
        return error.strerror or str(error)
    return ""


def _say_uncut(fault: str) -> None:
    _say(f"it passed uncut, because it could not be kept: {fault}")


def _say(said: str) -> None:
    with suppress(OSError):
        click.echo(f"penstock guard: {said}", err=True)


def _printed_to(*, as_json: bool) -> tuple[int | None, int | None]:
    """Return the descriptors that both outputs of a command go to, None for one that is closed."""
    streams = (sys.stdout, sys.stdout) if as_json else (sys.stdout, sys.stderr)
    first, second = (None if stream is None else stream.fileno() for stream in streams)
    return first, second


def _not_started(name: str, error: OSError, *, as_json: bool) -> int:
    """Report why a command could not be started, and return the status that a shell returns."""
    from penstock.guard.program import NOT_FOUND, NOT_RUN

    code, status = ("not_found", NOT_FOUND) if isinstance(error, FileNotFoundError) else ("denied", NOT_RUN)
    said = f"{escape.clip(name) or repr(name)}: {error.strerror}"
    if as_json:
        return answer.fail(code, said, "penstock guard --help", status, as_json=True)
    click.echo(f"penstock guard: {said}", err=True)
    return status


def _too_small(allowance: Allowance, way: str, *, as_json: bool) -> int:
    """Report that this allowance cuts even the way to the rest, which allowance would hold it, and where the whole is. Returns
    7.
    """
    return answer.fail("over_budget", _no_room(allowance, way), way, answer.OVER_BUDGET, as_json=as_json)


def _no_room(allowance: Allowance, way: str) -> str:
    """Return the message that an allowance does not hold the way to the rest, and the least that does."""
    from penstock.text.stand_ins import TRUNCATED

    least = allowance.measure(f"{TRUNCATED} {way}")
    return f"{allowance} cannot hold even a notice that names the handle: that takes {least}. The whole is kept."


def _allowance(tokens: int | None, chars: int | None, model: str) -> Allowance:
    """Return what may be printed: by a flag, else by the environment, else the default."""
    from penstock.guard import output
    from penstock.text.allowance import Allowance
    from penstock.text.tokens import Tokens

    # Tokens are counted by their upper bound, so that the output certainly fits the model that it is meant for.
    if tokens is not None:
        return Allowance.tokens(tokens, Tokens(model=model))
    return Allowance.chars(chars) if chars is not None else output.default_allowance()


class _Input:
    """A descriptor as parts of bytes, until it ends, an interrupt comes, or time is up.

    Attributes:
        ended: What ended it: `input`, `interrupt` or `seconds`.
    """

    def __init__(self, descriptor: int, seconds: float | None) -> None:
        self.ended = "input"
        self._descriptor = descriptor
        self._until = None if seconds is None else time.monotonic() + seconds
        self._woken, self._waker = -1, -1

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let an interrupt end the input and not the process while this lasts; a second one ends the process."""
        from penstock.workspace.system import ending_signals

        # A signal may come between the check of `ended` and the wait for input: the pipe wakes a wait that begins after it.
        self._woken, self._waker = os.pipe()
        earlier = {number: signal.getsignal(number) for number in ending_signals()}

        def interrupt(*_: object) -> None:
            self.ended = "interrupt"
            restore()
            with suppress(OSError):
                os.write(self._waker, b"!")

        def restore() -> None:
            for number, handler in earlier.items():
                signal.signal(number, handler)

        # The first interrupt itself restores the handlers: a second one ends the process, as it would have without us.
        for number in earlier:
            signal.signal(number, interrupt)
        try:
            yield
        finally:
            restore()
            os.close(self._woken)
            os.close(self._waker)

    def __iter__(self) -> Iterator[bytes]:
        if sys.platform == "win32":  # `_ThreadedInput`
            raise NotImplementedError
        if sys.platform == "linux":
            import fcntl

            with suppress(OSError):  # it is not a pipe, or the user has many pipes already
                fcntl.fcntl(self._descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
        buffer = bytearray(_READ_BYTES)
        view, filled = memoryview(buffer), 0
        # Small writes of the program are gathered into large parts; a part is passed on when it is full or the input ends.
        while self._ready():
            got = os.readv(self._descriptor, [view[filled:]])
            filled += got
            if not got or filled == len(buffer):
                yield bytes(view[:filled])
                filled = 0
            if not got:
                return
        if filled:
            yield bytes(view[:filled])

    def _ready(self) -> bool:
        """Wait for input. Returns False when it is time to stop."""
        left = None if self._until is None else max(0.0, self._until - time.monotonic())
        if self.ended != "input" or left == 0.0:
            self.ended = self.ended if self.ended != "input" else "seconds"
            return False
        ready, _, _ = select.select([self._descriptor, self._woken], [], [], left)
        # The handler's byte: an interrupt came while we waited, and what has been read so far is printed.
        if self._woken in ready:
            return False
        if not ready:
            self.ended = "seconds"
            return False
        return True


class _ThreadedInput(_Input):
    """Standard input on Windows, where waiting for a pipe is impossible: a thread reads it, a few parts ahead."""

    def __iter__(self) -> Iterator[bytes]:
        import threading
        from queue import Empty, SimpleQueue

        parts: SimpleQueue[bytes] = SimpleQueue()
        room = threading.Semaphore(_PARTS_AHEAD)

        def read() -> None:
            part = b"?"
            while part:
                room.acquire()
                try:
                    part = os.read(self._descriptor, _READ_BYTES)
                except OSError:  # the writer has gone
                    part = b""
                parts.put(part)

        threading.Thread(target=read, daemon=True, name="penstock-input").start()
        while self.ended == "input":
            left = _LOOK_SECONDS if self._until is None else self._until - time.monotonic()
            if left <= 0:
                self.ended = "seconds"
                return
            try:
                part = parts.get(timeout=min(left, _LOOK_SECONDS))  # an interrupt is noticed only when it ends
            except Empty:
                continue
            room.release()
            if not part:
                return
            yield part
