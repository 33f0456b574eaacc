"""How do messages travel over standard input and output?

The SDK's own transport ends the process at half of a UTF-16 pair and reads a line of any length into memory (finding 12
of reliability.md); this one feeds the same sessions. Standard output is moved aside first: only messages are ever
written there. Reading and writing block in daemon threads, which nobody waits for.
Law: every request id that came in gets one answer, also when input ends behind it; a line that is no message gets an
error and costs at most `frames.MAX_BYTES`. Keeps out: what the messages say.
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

MAX_OPEN = 256  # requests without an answer and lines that nobody reads; more stay in the pipe, at their sender's cost
_LINES_AHEAD = 4
_LAST_ANSWERS_SECONDS = 32.0  # after the end of input: as long as the slowest call may take
_FLUSH_SECONDS = 2.0


async def serve(server: Server[Any], stop: Callable[[Callable[[], None]], None]) -> None:
    """Serve one client until input ends, then answer what it has asked; or until what was given to `stop` is called."""
    from mcp.shared.message import SessionMessage

    incoming, outgoing = _claim()
    to_session, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    pipe = _Pipe(incoming, outgoing)
    async with anyio.create_task_group() as tasks:
        stop(tasks.cancel_scope.cancel)
        tasks.start_soon(pipe.bring, to_session)
        tasks.start_soon(pipe.take, from_session)
        await server.run(from_client, to_client, server.create_initialization_options())
    await pipe.flush()


def _claim() -> tuple[int, int]:
    """Private descriptors of input and output; what else is printed goes to the error output, what else reads gets the end."""
    incoming, outgoing = os.dup(0), os.dup(1)
    end, other = os.pipe()
    os.dup2(end, 0)
    os.close(end)
    os.close(other)
    os.dup2(2, 1)
    return incoming, outgoing


class _Pipe:
    def __init__(self, incoming: int, outgoing: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()  # None: the end; b"": a line beyond the cap
        self._room = threading.Semaphore(_LINES_AHEAD)
        self._writes: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._unwritten = 0
        self._written = anyio.Event()  # all of it, or the reader has gone
        self._unanswered: set[tuple[type, str | int]] = set()
        self._settled = anyio.Event()
        threading.Thread(target=self._read, args=(incoming,), daemon=True, name="penstock-stdin").start()
        threading.Thread(target=self._write, args=(outgoing,), daemon=True, name="penstock-stdout").start()

    async def bring(self, to_session: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Lines to messages, until the end of input and the last answer."""
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
            with anyio.move_on_after(_LAST_ANSWERS_SECONDS):
                while (self._unanswered or self._unwritten) and not self._written.is_set():
                    await self._next_answer()

    async def take(self, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Messages to lines."""
        async with from_session:
            async for item in from_session:
                self._put(item.message.model_dump(by_alias=True, exclude_unset=True))

    async def flush(self) -> None:
        """Give what is written a moment to leave."""
        self._writes.put(None)
        with anyio.move_on_after(_FLUSH_SECONDS):
            await self._written.wait()

    def _message(self, line: bytes) -> SessionMessage:
        from mcp.shared.message import SessionMessage
        from mcp_types.jsonrpc import JSONRPCRequest, jsonrpc_message_adapter
        from pydantic import ValidationError

        if not line:
            raise frames.BadFrame(f"Invalid request: a message has at most {frames.MAX_BYTES} bytes", [])
        sent = frames.parse(line)
        try:
            message = jsonrpc_message_adapter.validate_python(sent, by_name=False)
        except ValidationError:
            raise frames.BadFrame("Invalid request: not a JSON-RPC 2.0 message", sent) from None
        if isinstance(message, JSONRPCRequest):
            key = (type(message.id), message.id)
            if key in self._unanswered:
                raise frames.BadFrame("Invalid request: an id that still waits for its answer was used again", [])
            self._unanswered.add(key)
        elif sent.get("method") == "notifications/cancelled":
            self._settle((sent.get("params") or {}).get("requestId"))  # the protocol forbids to answer it
        return SessionMessage(message)

    def _put(self, message: dict[str, Any]) -> None:
        # An answer carries its id and no method; a request of ours would carry both. Its id is free before it is written: whoever
        # reads it may use the id again at once, and this loop may read that before it hears from the thread that wrote.
        if "method" not in message:
            self._settle(message.get("id"))
        self._unwritten += 1
        self._writes.put(frames.write(message))

    def _wrote(self) -> None:
        self._unwritten -= 1
        self._settled.set()

    def _settle(self, number: object) -> None:
        if isinstance(number, str | int):
            self._unanswered.discard((type(number), number))
            self._settled.set()

    def _end(self) -> None:
        self._written.set()
        self._settled.set()

    async def _next_answer(self) -> None:
        self._settled = anyio.Event()
        await self._settled.wait()

    # ── in threads ───────────────────────────────────────────────────────────────────────────────────────────

    def _read(self, incoming: int) -> None:
        for line in _lines(incoming):
            self._room.acquire()  # released when the loop takes it
            if not self._tell(self._lines.put_nowait, line):
                return
        self._tell(self._lines.put_nowait, None)

    def _write(self, outgoing: int) -> None:
        try:
            while (line := self._writes.get()) is not None:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(outgoing, rest) :]
                self._tell(self._wrote)
        except OSError:  # nobody reads any more
            self._tell(self._lines.put_nowait, None)
        self._tell(self._end)

    def _tell(self, function: Any, *arguments: object) -> bool:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop has ended
            return False
        return True


def _lines(descriptor: int) -> Iterator[bytes]:
    """Lines without their end, empty ones left out, b"" for one beyond the cap. The last needs no line end."""
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
    elif (line := bytes(held).strip()) and line.endswith(b"}"):  # half a message is nobody's request
        yield line


def _chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""
