"""How do messages pass between a host and a server program, over pipes on both sides?

A thread per direction reads, decides and writes; a slow reader blocks its writer, as it would without us. Law: the order of each
direction is kept, and the relay ends when the program ends. Leaves to others: what changes on the way (`conversation`).
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from contextlib import suppress
from queue import Empty
from typing import TYPE_CHECKING, TypeVar

from penstock.errors import described
from penstock.guard.program import end_of
from penstock.relay.child import leave
from penstock.relay.conversation import ToServer
from penstock.relay.frames import Lines
from penstock.relay.own_tools import AnswerThreads

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.relay.child import Child
    from penstock.relay.conversation import Conversation
    from penstock.relay.messages import OwnCall
    from penstock.relay.own_tools import OwnTools

Decided = TypeVar("Decided")

READ_BYTES = 1 << 18
_STANDARD_OUTPUT = 1
_LINGER_SECONDS = 2.0
"""How long output is read after the program has ended: processes that it left behind may hold the pipe open forever."""
_GRACE_SECONDS = 5.0
"""How long a program may run on after its host has gone, before it gets TERM; and then again before it is killed."""
NAMES_SECONDS = 5.0
"""How long a call that seems to be ours waits for the server's list of tools, if none has passed."""


class HostOutput:
    """Standard output, which several threads write to, whole messages each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_within = False

    def write(self, raw: bytes, *, is_within: bool = False) -> None:
        """Write bytes from the one source whose messages may come in parts.

        Args:
            raw: the bytes.
            is_within: whether the message continues after them: nobody else writes until its end.

        Raises:
            OSError: nobody reads any more.
        """
        # The lock is held from the first part of a message to its last: an answer of ours in between would tear a line in two, and
        # the host could read neither.
        if not self._is_within:
            self._lock.acquire()
        self._is_within = is_within
        try:
            write_all(_STANDARD_OUTPUT, raw)
        finally:
            if not is_within:
                self._lock.release()

    def write_message(self, raw: bytes) -> None:
        """Write a whole message, in the caller's thread. Raises OSError if nobody reads any more."""
        with self._lock:
            write_all(_STANDARD_OUTPUT, raw)

    def end(self) -> None:
        """Release the lock after a message that has no end."""
        if self._is_within:
            self._is_within = False
            self._lock.release()

    def close(self) -> None:
        """Let the reader see the end; later writes go nowhere."""
        with self._lock:
            leave(_STANDARD_OUTPUT)


def write_all(descriptor: int, raw: bytes) -> None:
    """Write all of some bytes, however long it takes. Raises OSError."""
    rest = memoryview(raw)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # a host may have made its end non-blocking
            select.select([], [descriptor], [])


def read_some(descriptor: int) -> bytes:
    """Return available bytes; empty at the end, or if the descriptor fails."""
    while True:
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            select.select([descriptor], [], [])
        except OSError:
            return b""


class Relay:
    """The connection between standard input and output and a program.

    Args:
        child: the program.
        conversation: the conversation.
        own_tools: answers the calls of our tools.
        max_held_bytes: how much of one message is held.
        say: receives sentences for the person.
    """

    def __init__(
        self,
        child: Child,
        conversation: Conversation,
        own_tools: OwnTools,
        max_held_bytes: int,
        say: Callable[[str], None],
    ) -> None:
        self._child = child
        self._conversation = conversation
        self._max_held = max_held_bytes
        self._say = say
        self._output = HostOutput()
        self._answers = AnswerThreads(own_tools, self._answered)

    def run(self) -> int:
        """Carry messages until the program has ended, and return its exit status; negative for the signal that ended it."""
        with self._child.passing_signals():
            down = threading.Thread(target=self._carry, args=(self._carry_down,), daemon=True, name="penstock-down")
            up = threading.Thread(target=self._carry, args=(self._carry_up,), daemon=True, name="penstock-up")
            up.start()
            down.start()
            try:
                status = end_of(self._child.process)
                # Its last output may still be in the pipe when it has ended. The pipe itself need not end: processes that the
                # program started may hold it.
                down.join(_LINGER_SECONDS)
                self._answers.finish()
            finally:
                self._child.end()
        return status

    def _carry(self, direction: Callable[[], None]) -> None:
        """Carry one direction. After an unforeseen failure the program is killed: a host must not wait forever."""
        try:
            direction()
        except Exception as error:  # noqa: BLE001
            self._say(f"the relay ends its server, because it failed: {described(error)}")
            self._child.process.kill()

    def _carry_up(self) -> None:
        """Carry the host's messages until its input ends."""
        talk = self._conversation
        lines = Lines(talk.is_plain_for_server, max_held_bytes=self._max_held)
        try:
            while part := read_some(0):
                for frame in lines.feed(part):
                    self._say_up(frame.raw, is_message=frame.is_message)
            for frame in lines.end():
                self._say_up(frame.raw, is_message=frame.is_message)
        except OSError:  # the program reads no more: the host's writes fail too
            # Our end of the host's pipe closes too, so that its next write fails at once instead of filling a buffer that nobody
            # empties.
            leave(0)
            return
        self._child.close_input()
        self._end_without_host()

    def _say_up(self, raw: bytes, *, is_message: bool) -> None:
        if not is_message:
            write_all(self._child.input, raw)
            return
        said = self._decided(self._conversation.from_client, raw) or ToServer(raw)
        if said.own and not self._conversation.names.is_known:
            said = self._asked_first(raw, said)
        # The server comes first.
        if said.forward:
            write_all(self._child.input, said.forward)
        for call in said.own:
            self._answers.start(call)

    def _asked_first(self, raw: bytes, said: ToServer) -> ToServer:
        """Return what becomes of calls that seem to be ours, once the server has listed its own tools.

        The host's next messages wait meanwhile, which keeps their order. The server is asked once, for a bounded time.
        """
        talk, until = self._conversation, time.monotonic() + NAMES_SECONDS
        try:
            cursor = None
            while not talk.names.is_known:
                write_all(self._child.input, talk.ask_names(said.own[0], cursor))
                cursor = talk.pages.get(timeout=max(0.0, until - time.monotonic()))
                if cursor is None:
                    break
        except Empty:
            pass
        return talk.with_names(raw, said)

    def _answered(self, call: OwnCall, answer: bytes) -> None:
        if self._conversation.answered(call):
            with suppress(OSError):
                self._output.write_message(answer + b"\n")

    def _carry_down(self) -> None:
        """Carry the program's messages until its output ends."""
        talk = self._conversation
        lines = Lines(talk.is_plain_for_client, lambda: talk.is_idle, self._max_held)
        try:
            while part := read_some(self._child.output):
                for frame in lines.feed(part):
                    if frame.is_too_long:
                        self._say(f"a message of more than {self._max_held} bytes passed uncut")
                    raw = self._decided(talk.from_server, frame.raw) if frame.is_message else None
                    raw = frame.raw if raw is None else raw
                    self._output.write(raw, is_within=lines.is_within)
            for frame in lines.end():
                raw = self._decided(talk.from_server, frame.raw)
                self._output.write(frame.raw if raw is None else raw)
        except OSError:  # the host reads no more: the program's writes fail too
            self._child.close_output()
            return
        finally:
            self._output.end()
        # A program may close its output and keep running: its host sees the end now, not when the program ends.
        self._answers.finish()
        self._output.close()

    def _decided(self, decide: Callable[[bytes], Decided], raw: bytes) -> Decided | None:
        """Return the decision about a message; None if that fails: the message then passes unchanged."""
        try:
            return decide(raw)
        except Exception as error:  # noqa: BLE001 - one unforeseen message must not end a direction
            self._say(f"a message passed unread: {described(error)}")
            return None

    def _end_without_host(self) -> None:
        """End a program that keeps running although its host has gone: its input has ended, and nobody reads its output."""
        if sys.platform == "win32":
            return
        # An ended input does not mean that the host has gone: a script may pipe its questions in and wait for the answers. It has
        # gone when nobody reads our output either; a poll for no event still reports that, as an error of the pipe.
        waiting = select.poll()
        waiting.register(1, 0)  # only errors are waited for
        process = self._child.process
        while process.poll() is None and not waiting.poll(1_000):
            pass
        for end in (process.terminate, process.kill):
            with suppress(Exception):
                process.wait(_GRACE_SECONDS)
            if process.poll() is None:
                end()
