"""How do MCP messages travel over standard input and output?

The SDK's own transport ends the process at a lone UTF-16 surrogate and reads a line of any length into memory (ADR 2); this one
feeds the same sessions. Standard output is moved aside first: only messages are ever written there. Reading and writing block in
daemon threads, which nobody waits for. Law: every request id that came in gets one answer, even if input ends right after it; a
line that is not a message gets an error and costs at most `frames.MAX_BYTES`. Leaves to others: what the messages say (the
session).

The backlog is bounded in each direction. The reading thread is at most `_LINES_AHEAD` lines ahead of the loop (`_room`), and the
loop takes no further line while `MAX_OPEN` requests wait for answers or answers wait to be written. So a client that asks and never
reads fills its own pipe and blocks itself, not our memory.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from typing import TYPE_CHECKING, Any

import anyio

from penstock.mcp_server import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server import Server
    from mcp.shared.message import SessionMessage

MAX_OPEN = 256
"""Requests without an answer, plus lines that nobody reads; further ones stay in the pipe, at their sender's cost."""
_LINES_AHEAD = 4
_LAST_ANSWERS_SECONDS = 32.0  # after the end of input: as long as the slowest call may take
_FLUSH_SECONDS = 2.0


async def serve(server: Server[Any], stop: Callable[[Callable[[], None]], None]) -> None:
    """Serve one client until input ends, then answer what it has asked.

    Args:
        server: What `create_server` made.
        stop: Receives, before anything is served, the function that ends serving at once.
    """
    from mcp.shared.message import SessionMessage

    incoming, outgoing = _claim()
    to_session, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    pipe = _Pipe(incoming, outgoing)
    # Neither stream has a buffer: a slow session slows the reading, and nothing waits uncounted.
    async with anyio.create_task_group() as tasks:
        stop(tasks.cancel_scope.cancel)
        tasks.start_soon(pipe.bring, to_session)
        tasks.start_soon(pipe.take, from_session)
        await server.run(from_client, to_client, server.create_initialization_options())
    await pipe.flush()


def _claim() -> tuple[int, int]:
    """Return private descriptors of standard input and output, and redirect the public ones.

    Whatever any library prints from here on goes to standard error, and whatever reads standard input finds its end: neither can
    break a frame.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    end, other = os.pipe()
    os.dup2(end, 0)
    os.close(end)
    os.close(other)
    os.dup2(2, 1)
    return incoming, outgoing


class _Pipe:
    """The two descriptors as messages of a session, with the bookkeeping of unanswered requests.

    All attributes but `_room` and `_writes` belong to the loop: threads change them through `_tell`.
    """

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()  # None: the end; b"": a line beyond the cap
        self._room = threading.Semaphore(_LINES_AHEAD)
        self._writes: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unwritten = 0
        self._written = anyio.Event()  # everything is written, or the reader has gone
        self._unanswered: set[tuple[type, str | int]] = set()
        self._settled = anyio.Event()
        threading.Thread(target=self._read, args=(incoming,), daemon=True, name="penstock-stdin").start()
        threading.Thread(target=self._write, args=(outgoing,), daemon=True, name="penstock-stdout").start()

    async def bring(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass lines to the session as messages, until the end of input and the last answer."""
        async with to_session:
            while (line := await self._lines.get()) is not None:
                self._room.release()
                try:
                    message = self._message(line)
                except frames.BadFrame as bad:
                    self._put(bad.answer)
                else:
                    await to_session.send(message)
                while len(self._unanswered) + self._unwritten >= MAX_OPEN and not self._written.is_set():
                    await self._next_answer()
            # Closing this stream ends the session, and with it the calls still running. `printf … | penstock mcp` gets its answers
            # because the end of input waits for them.
            with anyio.move_on_after(_LAST_ANSWERS_SECONDS):
                while (self._unanswered or self._unwritten) and not self._written.is_set():
                    await self._next_answer()

    async def take(self, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Pass messages of the session to the writing thread."""
        async with from_session:
            async for item in from_session:
                message = item.message.model_dump(by_alias=True, exclude_unset=True)
                # The call had its result when its cancellation came. Nobody waits for that any more: a client may take an answer to
                # an id that it has forgotten for a fault of the connection, and close it.
                if "method" in message or (type(message.get("id")), message.get("id")) in self._unanswered:
                    self._put(message)

    async def flush(self) -> None:
        """Give written messages `_FLUSH_SECONDS` to leave, then give up: the reader may have stopped reading."""
        self._writes.put(None)
        with anyio.move_on_after(_FLUSH_SECONDS):
            await self._written.wait()

    def _message(self, line: bytes) -> SessionMessage:
        """Return the message on a line, and record the id of a request as unanswered. Raises `BadFrame` with the answer."""
        from mcp.shared.message import SessionMessage
        from mcp_types.jsonrpc import JSONRPCNotification, JSONRPCRequest

        if not line:
            raise frames.BadFrame(f"Invalid request: a message has at most {frames.MAX_BYTES} bytes", [])
        message = frames.message(line)
        if isinstance(message, JSONRPCRequest):
            key = (type(message.id), message.id)
            if key in self._unanswered:
                # Serving it would give two answers to one id. This error goes out without an id, because the id's answer is still
                # to come.
                raise frames.BadFrame("Invalid request: an id that still waits for its answer was used again", [])
            self._unanswered.add(key)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            # A notification may name an id that never existed; `discard` accepts that.
            self._settle((message.params or {}).get("requestId"))  # the protocol forbids answering it
        return SessionMessage(message)

    def _put(self, message: dict[str, Any]) -> None:
        """Queue a message for the writing thread, and count it until it is written."""
        # An answer carries its id and no method; a request of ours would carry both. The id is released before the answer is
        # written: whoever reads the answer may use the id again at once, and this loop may read that before it hears from the
        # writing thread.
        if "method" not in message:
            self._settle(message.get("id"))
        self._unwritten += 1
        self._writes.put(frames.write(message))

    def _wrote(self) -> None:
        """Record that a line has been written."""
        self._unwritten -= 1
        self._settled.set()

    def _settle(self, number: object) -> None:
        """Record that a request has its answer, or needs none."""
        if isinstance(number, str | int):
            self._unanswered.discard((type(number), number))
            self._settled.set()

    def _end(self) -> None:
        """Record that nothing more will be written: everything is out, or the reader has gone."""
        self._written.set()
        self._settled.set()

    async def _next_answer(self) -> None:
        """Wait until something was answered or written, or until nobody reads any more."""
        # There is no await between the caller's check and this line, so no answer is missed in between.
        self._settled = anyio.Event()
        await self._settled.wait()

    # ── in threads ───────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, incoming: int) -> None:
        """Pass lines to the loop, in a thread, as far ahead as it has room."""
        for line in _lines(incoming):
            self._room.acquire()  # released when the loop takes it
            if not self._tell(self._lines.put_nowait, line):
                return
        self._tell(self._lines.put_nowait, None)

    def _write(self, outgoing: int) -> None:
        """Write lines to the client, in a thread, until told to end or nobody reads any more."""
        try:
            while (line := self._writes.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(outgoing, rest) :]
                self._tell(self._wrote)
        # A client that has gone closes its input too, but may do so late: the end of input is simulated.
        except OSError:  # nobody reads any more
            self._tell(self._lines.put_nowait, None)
        self._tell(self._end)

    def _tell(self, function: Any, *arguments: object) -> bool:
        """Call a function on the loop from a thread; False if the loop has ended."""
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop has ended
            return False
        return True


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a descriptor without their ends, empty ones omitted, `b""` for each beyond the cap.

    The last line needs no line end. A line that is too long is not held, only skipped to its end: a client that sends a gigabyte
    without a line feed costs `MAX_BYTES` once.
    """
    held, skipping = bytearray(), False
    while chunk := _chunk(descriptor):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            held += end
            if skipping or len(held) > frames.MAX_BYTES:
                yield b""
            elif line := bytes(held).strip():
                yield line
            held, skipping = bytearray(), False
        if not skipping:
            held += rest
            if len(held) > frames.MAX_BYTES:
                held, skipping = bytearray(), True
    if skipping:
        yield b""
    # Half a message of a killed client is nobody's request: no answer could reach it.
    elif (line := bytes(held).strip()) and line.endswith(b"}"):
        yield line


def _chunk(descriptor: int) -> bytes:
    """Return what is available to read, at most 64 KiB; `b""` at the end and on a read error."""
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""
