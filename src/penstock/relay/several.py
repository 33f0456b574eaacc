"""How do messages pass between a host at standard input and output and several servers, programs or URLs?

One thread reads the host, and two threads per server read and write it; all messages go through one switchboard, one at a time.
Laws: each server's order of messages is kept; a server that does not read does not block the others; no program is left when this
ends. Leaves to others: what goes where (`switchboard`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import described
from penstock.relay import child
from penstock.relay.conversation import Conversation
from penstock.relay.frames import Lines
from penstock.relay.own_tools import AnswerThreads
from penstock.relay.stdio import HostOutput, read_some
from penstock.relay.switchboard import HOST, Out, Switchboard
from penstock.relay.writing import ServerInput
from penstock.workspace.system import ending_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.hosts.servers import ConfiguredServer
    from penstock.relay.conversation import GuardResult
    from penstock.relay.messages import AskedCall, OwnCall
    from penstock.relay.own_tools import OwnTools
    from penstock.text.json_slices import Edit, Object

_END_SECONDS = 5.0
"""How long a program may take to end after its input has ended, before it gets TERM; and then again before it is killed."""
_EXIT_SECONDS = 0.5
"""How long a program may take from the end of its output to its exit."""


class _Line(NamedTuple):
    """The connection to one server and back."""

    to: ServerInput
    from_: int
    program: child.Child | None


class Several:
    """The connection between standard input and output and some servers.

    Args:
        servers: the servers; those that cannot be started are reported and left out.
        guard: cuts what is too large.
        own_tools: answers the calls of our tools.
        max_held_bytes: how much of one message is held.
        say: receives sentences for the person.
    """

    def __init__(
        self,
        servers: Sequence[ConfiguredServer],
        guard: GuardResult,
        own_tools: OwnTools,
        max_held_bytes: int,
        say: Callable[[str], None],
    ) -> None:
        self._names = [server.name for server in servers]
        self._own_tools = own_tools
        self._max_held = max_held_bytes
        self._say = say
        self._output = HostOutput()
        # Held only while deciding. The result is written outside of it: a host that reads slowly delays no decision.
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._status = 0
        self._served: set[int] = set()  # by number: those that said something, or ended cleanly
        self._answers = AnswerThreads(own_tools, self._answered)
        # Programs first: each one's watch is forked before there are threads.
        programs = [self._started(server) if server.words else None for server in servers]
        self._lines = [
            _Line(ServerInput(program.input, program.close_input, max_held_bytes), program.output, program)
            if program is not None
            else (self._bridged(server) if server.url else None)
            for server, program in zip(servers, programs, strict=True)
        ]
        self._board = Switchboard(self._names, guard)

    def _started(self, server: ConfiguredServer) -> child.Child | None:
        try:
            return child.start(server.words, {**os.environ, **dict(server.variables)})
        except OSError as error:
            self._say(f"{server.name}: {server.words[0]}: {error.strerror}")
            return None

    def _bridged(self, server: ConfiguredServer) -> _Line:
        """Return two pipes at whose other ends a bridge speaks to a URL."""
        from penstock.relay.bridge import Bridge
        from penstock.relay.upstream import Upstream

        ours_from, theirs_to = os.pipe()
        theirs_from, ours_to = os.pipe()

        def say(sentence: str) -> None:
            self._say(f"{server.name}: {sentence}")

        async def serve() -> None:
            upstream = Upstream(server.url, dict(server.headers))
            talk = Conversation(_pass_all)
            talk.names.is_hidden = True
            bridge = Bridge(upstream, talk, self._own_tools, self._max_held, say, (theirs_from, theirs_to))
            await bridge.run(lambda _: None)

        def run() -> None:
            try:
                asyncio.run(serve())
            except Exception as error:  # noqa: BLE001 - one server that fails must not end the others
                say(str(error))
            finally:
                os.close(theirs_to)

        threading.Thread(target=run, daemon=True, name=f"penstock-{server.name}").start()
        return _Line(ServerInput(ours_to, partial(os.close, ours_to), self._max_held), ours_from, None)

    def run(self) -> int:
        """Carry messages until the host's input ends or a signal comes, and return the exit status."""
        for number in ending_signals():
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._stop)
        readers = []
        for number, line in enumerate(self._lines):
            if line is None:
                self._send(self._board.lost(number))
                continue
            reader = threading.Thread(target=self._read_server, args=(number, line), daemon=True)
            reader.start()
            readers.append(reader)
        threading.Thread(target=self._read_host, daemon=True, name="penstock-up").start()
        while not self._ended.wait(1.0):  # in slices: signals are handled in between
            self._tick()
            if not any(reader.is_alive() for reader in readers):
                self._status = self._status or 1  # no server is left
                break
        self._answers.finish()
        self._end(readers)
        if not self._served:
            self._say("no server could be reached: what each said is above")
            self._status = self._status or 1
        return self._status

    def _stop(self, number: int, _: object) -> None:
        self._status = 128 + number
        self._ended.set()

    def _end(self, readers: Sequence[threading.Thread]) -> None:
        """Close every server's input, and kill what does not end then."""
        lines = [line for line in self._lines if line is not None]
        for line in lines:
            line.to.end()
        # A host that closed our input may wait for open requests; one that sent a signal, or has no server left, does not.
        seconds = _END_SECONDS if self._status == 0 else _END_SECONDS / 5
        for reader in readers:
            reader.join(seconds)
        programs = [line.program for line in lines if line.program is not None]
        for number, server in enumerate(self._lines):
            # A program that failed before it said anything served nobody; a URL reports a failure at each request.
            if server is not None and (server.program is None or not server.program.failed(_EXIT_SECONDS)):
                self._served.add(number)
        for program in programs:
            if program.process.poll() is None:
                with suppress(OSError):
                    program.process.terminate()
        for program in programs:
            with suppress(Exception):
                program.process.wait(seconds)
            program.end()

    def _read_host(self) -> None:
        """Bring the host's messages to the switchboard until its input ends."""
        # Whole messages only: a message's content decides where it goes, so none may pass before it has ended.
        lines = Lines(max_held_bytes=self._max_held)
        while part := read_some(0):
            for frame in lines.feed(part):
                if frame.is_message:
                    self._send(self._turned(partial(self._board.from_host, frame.raw)))
        for frame in lines.end():
            self._send(self._turned(partial(self._board.from_host, frame.raw)))
        self._ended.set()

    def _read_server(self, number: int, line: _Line) -> None:
        """Bring a server's messages to the switchboard until its output ends."""
        lines = Lines(max_held_bytes=self._max_held)
        while part := read_some(line.from_):
            for frame in lines.feed(part):
                if frame.is_too_long:
                    self._say(f"a message of more than {self._max_held} bytes did not pass")
                if frame.is_message:
                    self._served.add(number)
                    # Decided under the lock and written outside of it: two threads may be late relative to each other, but each
                    # server's messages keep their order, because one thread reads them.
                    self._send(self._turned(partial(self._board.from_server, number, frame.raw)))
        self._send(self._turned(partial(self._board.lost, number)))
        if not self._ended.is_set():
            status = None if line.program is None else line.program.status(_EXIT_SECONDS)
            self._say(f"{self._names[number]} has ended{'' if status is None else f' with status {status}'}")

    def _tick(self) -> None:
        """Let one second pass, and report servers that are no longer waited for."""
        before = self._board.silent
        self._send(self._turned(self._board.tick))
        for name in self._board.silent:
            if name not in before:
                self._say(f"{name} does not answer: the others are listed without it until it does")

    def _turned(self, work: Callable[[], list[Out]]) -> list[Out]:
        with self._turn:
            try:
                return work()
            except Exception as error:  # noqa: BLE001 - one unforeseen message must not silence its sender
                self._say(f"a message was dropped: {described(error)}")
                return []

    def _send(self, outs: Sequence[Out]) -> None:
        """Send messages to their destinations, and answer what is ours."""
        for out in outs:
            if out.own is not None:
                self._answers.start(out.own)
                continue
            with suppress(OSError):  # a destination that no longer reads will be found to have ended
                line = self._lines[out.to] if out.to != HOST else None
                if out.to == HOST:
                    self._output.write_message(out.raw)
                elif line is not None:
                    line.to.write(out.raw)

    def _answered(self, call: OwnCall, answer: bytes) -> None:
        with self._turn:
            is_awaited = self._board.answered(call)
        if is_awaited:
            self._send([Out(HOST, answer + b"\n")])


def _pass_all(raw: bytes, result: Object, asked: AskedCall, prefix: str) -> list[Edit]:
    """Cut nothing: the switchboard cuts, once for all servers."""
    del raw, result, asked, prefix
    return []
