"""Carry messages between a host at standard input and output and a server that is reached over HTTP.

Every message of the host is one `POST`; what the server answers, as JSON or as events, is written as lines. Laws: every request
gets one answer, ours where the server gives none; notifications go out in their order. Source: the streamable HTTP transport of
MCP, 2025-03-26 to 2026-07-28. Keeps out: what changes in a message (`conversation`).
"""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from penstock.relay.frames import Frame, Lines
from penstock.relay.json_slices import Edit, Object, splice
from penstock.relay.messages import begins, parse, text_in
from penstock.relay.mirrored import Mirror
from penstock.relay.sse import Events, data_of, field_of
from penstock.relay.stdio import Output, read_some

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable

    import httpx2

    from penstock.relay.conversation import Conversation
    from penstock.relay.messages import Id, Message, OwnCall
    from penstock.relay.own_tools import OwnTools
    from penstock.relay.upstream import Upstream

_AHEAD = 16
"""How many messages of the host are read before they are sent."""
_LAST_ANSWERS_SECONDS = 32.0
_RETRY_SECONDS = 1.0
_MAX_RETRIES = 3
_ERROR_BYTES = 1 << 20
_AT_ONCE_BYTES = 1 << 15
_SESSION = "mcp-session-id"
_ENDED, _REFUSED, _FAILED = -32000, -32600, -32603


class Bridge:
    """What stands between standard input and output and a URL.

    Args:
        upstream: the server.
        talk: what is said.
        own_tools: answers the calls of our tools.
        max_held_bytes: how much of one message is held.
        say: is told what the person should know.
        descriptors: where the host is read and written.
    """

    def __init__(
        self,
        upstream: Upstream,
        talk: Conversation,
        own_tools: OwnTools,
        max_held_bytes: int,
        say: Callable[[str], None],
        descriptors: tuple[int, int] = (0, 1),
    ) -> None:
        self._upstream = upstream
        self._talk = talk
        self._own_tools = own_tools
        self._max_held = max_held_bytes
        self._say = say
        self._input, written = descriptors
        self._output = Output(written)
        self._mirror = Mirror()
        self._session: bytes | None = None
        self._version: bytes | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests: dict[Id, asyncio.Task[None]] = {}
        self._listening: asyncio.Task[None] | None = None

    async def run(self, stop: Callable[[Callable[[], None]], None]) -> None:
        """Carry until the input ends, then wait for what was asked.

        Args:
            stop: is told, before anything is carried, the function that ends it at once.
        """
        lines: asyncio.Queue[Frame | None] = asyncio.Queue()
        stop(lambda: lines.put_nowait(None))
        room = threading.Semaphore(_AHEAD)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop, lines, room), daemon=True, name="penstock-up").start()
        try:
            while (frame := await lines.get()) is not None:
                room.release()
                await self._take(frame)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_LAST_ANSWERS_SECONDS)
        finally:
            await self._close()

    def _read(
        self, loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[Frame | None], room: threading.Semaphore
    ) -> None:
        """Bring lines to the loop, in a thread, as far ahead as it has room."""
        # A request of HTTP has to be whole: nothing passes in parts.
        cut = Lines(lambda _: False, lambda: False, self._max_held)

        def bring(frames: Iterable[Frame]) -> None:
            for frame in frames:
                room.acquire()
                loop.call_soon_threadsafe(lines.put_nowait, frame)

        with suppress(RuntimeError):  # the loop has ended
            while part := read_some(self._input):
                bring(cut.feed(part))
            bring(cut.end())
            loop.call_soon_threadsafe(lines.put_nowait, None)

    async def _close(self) -> None:
        """End what runs, and the session with it."""
        for task in [*self._tasks, *([self._listening] if self._listening else [])]:
            task.cancel()
        if self._session is not None:
            with suppress(Exception):
                async with asyncio.timeout(_RETRY_SECONDS), self._upstream.send("DELETE", self._headers(), b""):
                    pass
        await self._upstream.close()

    # ── from the host ────────────────────────────────────────────────────────────────────────────────────────

    async def _take(self, frame: Frame) -> None:
        """Do what one line of the host asks."""
        if not frame.is_message:
            if frame.is_too_long:
                self._say(f"a message of the host of more than {self._max_held} bytes was not sent")
            return
        said = self._talk.from_client(frame.raw)
        for call in said.own:
            self._start(self._answer(call))
        raw = said.forward.strip()
        if not raw:
            return
        messages = parse(raw) or []
        message = messages[0] if messages else None
        request = next((one for one in messages if one.method is not None and one.id is not None), None)
        if message is not None and message.method == "notifications/cancelled" and self._cancelled(raw, message):
            return
        posting = self._post(raw, message, request)
        if request is None or request.id is None:
            await posting  # or what the host says next would overtake it
            return
        self._requests[request.id] = self._start(posting)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _answer(self, call: OwnCall) -> None:
        answer = await asyncio.to_thread(self._own_tools.answer, call)
        if self._talk.answered(call):
            self._write(answer)

    def _cancelled(self, raw: bytes, message: Message) -> bool:
        """End a request that the host waits for no more, where ending is how that is said: since 2026-07-28."""
        if self._version is not None:  # a version was negotiated: an older era, in which the server is told
            return False
        ended = parse(b'{"id":' + _raw_id(raw, message) + b"}")
        task = self._requests.pop(ended[0].id, None) if ended and ended[0].id is not None else None
        if task is not None:
            task.cancel()
        return True

    # ── to the server and back ───────────────────────────────────────────────────────────────────────────────

    def _headers(self, accept: bytes = b"application/json, text/event-stream") -> list[tuple[bytes, bytes]]:
        headers = [(b"accept", accept)]
        if self._session is not None:
            headers.append((_SESSION.encode(), self._session))
        if self._version is not None:
            headers.append((b"mcp-protocol-version", self._version))
        return headers

    async def _post(self, raw: bytes, message: Message | None, request: Message | None) -> None:
        """Send one message, and write what comes back."""
        import httpx2

        mirrored = self._mirror.headers(raw, message) if message is not None else []
        headers = [*self._headers(), (b"content-type", b"application/json"), *mirrored]
        if message is not None and message.method == "initialize":
            headers = [pair for pair in headers if pair[0] not in {_SESSION.encode(), b"mcp-protocol-version"}]
        try:
            async with self._upstream.send("POST", headers, raw) as response:
                await self._back(response, message, request, raw)
        except httpx2.HTTPError as error:
            self._fail(raw, request, _ENDED, f"The server did not answer: {type(error).__name__}: {error}")
        finally:
            if request is not None and request.id is not None:
                self._requests.pop(request.id, None)
        if message is not None and message.method == "notifications/initialized" and self._listening is None:
            self._listening = asyncio.ensure_future(self._listen())

    async def _back(
        self, response: httpx2.Response, message: Message | None, request: Message | None, raw: bytes
    ) -> None:
        """Write what a response brings; a request without an answer in it gets one of ours."""
        kind = response.headers.get("content-type", "").lower()
        is_initialize = message is not None and message.method == "initialize" and response.is_success
        if is_initialize and _SESSION in response.headers:
            self._session = response.headers[_SESSION].encode()
        if response.is_success and kind.startswith("text/event-stream"):
            await self._events(response, request, raw, is_initialize=is_initialize)
            return
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > (self._max_held if response.is_success else _ERROR_BYTES):
                self._fail(raw, request, _FAILED, f"The server answered with more than {len(body)} bytes")
                return
        if response.is_success and (body.strip() or request is None):
            if body.strip():
                await self._said(bytes(body), is_initialize=is_initialize)
            return
        if not self._pass_error(bytes(body), request, raw):
            what = "Session terminated" if response.status_code == 404 and self._session else "The server answered"
            why = f"{what}: HTTP {response.status_code} {response.reason_phrase}".strip()
            self._fail(raw, request, _REFUSED if response.status_code < 500 else _FAILED, why)

    def _pass_error(self, body: bytes, request: Message | None, raw: bytes) -> bool:
        """Write an error of JSON-RPC that came with a status of HTTP, under the id of its request. Returns whether it is one."""
        found = parse(body)
        if not found or request is None or request.id_at is None or found[0].whole.get("error") is None:
            return False
        number, at = raw[request.id_at.start : request.id_at.end], found[0].whole.get("id")
        start = found[0].whole.start + 1
        edit = Edit(start, start, b'"id":' + number + b",") if at is None else Edit(at.start, at.end, number)
        self._write(self._talk.from_server(splice(body, [edit])))
        return True

    async def _events(
        self, response: httpx2.Response, request: Message | None, raw: bytes, *, is_initialize: bool
    ) -> None:
        """Write the messages of a stream until the answer has come; one that breaks off is taken up where it ended."""
        import httpx2

        place = _Place()
        with suppress(httpx2.HTTPError):
            if await self._carry(response, place, request, is_initialize=is_initialize) or request is None:
                return
        for _ in range(_MAX_RETRIES):
            if place.event_id is None:
                break
            await asyncio.sleep(place.retry_seconds)
            headers = [*self._headers(b"text/event-stream"), (b"last-event-id", place.event_id)]
            with suppress(httpx2.HTTPError):
                async with self._upstream.send("GET", headers, b"") as again:
                    if again.is_success and await self._carry(again, place, request, is_initialize=is_initialize):
                        return
        self._fail(raw, request, _ENDED, "The stream of the server ended without an answer")

    async def _carry(
        self, response: httpx2.Response, place: _Place, request: Message | None, *, is_initialize: bool = False
    ) -> bool:
        """Write the messages of a stream until its end, or until the answer to a request. Returns whether that came."""
        async for event in self._whole_events(response.aiter_bytes()):
            place.read(event)
            data = data_of(event)
            if not data:
                continue
            await self._said(data, is_initialize=is_initialize)
            if request is not None and (found := begins(data)) is not None and found.method is None:
                return True
        return False

    async def _whole_events(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        stream = Events(lambda _: False, lambda: False, self._max_held)
        async for part in parts:
            for frame in stream.feed(part):
                if frame.is_message:
                    yield frame.raw
                elif frame.is_too_long:
                    self._say(f"a message of more than {self._max_held} bytes did not pass")

    async def _listen(self) -> None:
        """Write what the server says unasked, for as long as it has a stream for that."""
        import httpx2

        place, retries = _Place(), 0
        while retries < _MAX_RETRIES:
            resuming = [(b"last-event-id", place.event_id)] if place.event_id is not None else []
            try:
                async with self._upstream.send("GET", [*self._headers(b"text/event-stream"), *resuming], b"") as stream:
                    if not stream.headers.get("content-type", "").startswith("text/event-stream"):
                        return  # 405: it has none
                    retries = 0
                    await self._carry(stream, place, None)
            except httpx2.HTTPError:
                retries += 1
            await asyncio.sleep(place.retry_seconds)

    async def _said(self, raw: bytes, *, is_initialize: bool) -> None:
        """Write a message of the server, as the host gets it."""
        if is_initialize and (found := parse(raw)):
            version = text_in(raw, found[0].result, "protocolVersion")
            self._version = version.encode() if version is not None else self._version
        self._mirror.learn(raw)
        if len(raw) <= _AT_ONCE_BYTES:
            self._write(self._talk.from_server(raw))
        else:
            self._write(await asyncio.to_thread(self._talk.from_server, raw))

    def _write(self, raw: bytes) -> None:
        """Write a message on one line: within JSON a line end is a blank."""
        with suppress(OSError):  # the host reads no more, and will end our input
            self._output.write_message(raw.strip().replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")

    def _fail(self, raw: bytes, request: Message | None, code: int, why: str) -> None:
        """Answer a request that gets no answer from the server."""
        self._say(why)
        if request is None or request.id_at is None:
            return
        number = raw[request.id_at.start : request.id_at.end]
        error = json.dumps({"code": code, "message": why}).encode()
        answer = b'{"jsonrpc":"2.0","id":' + number + b',"error":' + error + b"}"
        self._write(self._talk.from_server(answer))


class _Place:
    """Where a stream can be taken up again."""

    def __init__(self) -> None:
        self.event_id: bytes | None = None
        self.retry_seconds = _RETRY_SECONDS

    def read(self, event: bytes) -> None:
        """Note what an event says of it."""
        self.event_id = field_of(event, b"id") or self.event_id
        retry = field_of(event, b"retry")
        if retry is not None and retry.isdigit():
            self.retry_seconds = min(30.0, int(retry[:6]) / 1_000)


def _raw_id(raw: bytes, message: Message) -> bytes:
    """Return the id that a cancellation names, as it was written."""
    at = message.params.get("requestId") if isinstance(message.params, Object) else None
    return b"null" if at is None else raw[at.start : at.end]
