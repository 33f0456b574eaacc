"""How do messages pass between a host at standard input and output and a server over HTTP?

Each message of the host is one `POST`; what the server answers, as JSON or as events, is written as lines. Laws: every request gets
one answer, ours if the server gives none; notifications are sent in order; only messages are written. Source: the streamable HTTP
transport of MCP, 2025-03-26 to 2026-07-28. Leaves to others: what changes in a message (`conversation`).
"""

from __future__ import annotations

import asyncio
import threading
from codecs import BOM_UTF8
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.errors import described
from penstock.relay.asking import ask_names
from penstock.relay.frames import Frame, Lines
from penstock.relay.holding import HoldRoom, decided
from penstock.relay.messages import CANCELLED, cancelled_by, error_of, parse, text_in, under_id
from penstock.relay.mirrored import Mirror
from penstock.relay.sse import Events, StreamPlace
from penstock.relay.stdio import read_some
from penstock.relay.turns import SendTurns, has_passed
from penstock.relay.unanswered import OpenRequests, first_words, is_error, read_messages
from penstock.relay.writing import MessageWriter
from penstock.text.sse import data_of
from penstock.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable

    import httpx2

    from penstock.relay.conversation import Conversation
    from penstock.relay.messages import Id, OwnCall, RpcMessage
    from penstock.relay.own_tools import OwnTools
    from penstock.relay.upstream import Upstream

_AHEAD = 16
"""How many of the host's messages are read ahead of sending."""
_LAST_ANSWERS_SECONDS = 32.0
_LAST_TURNS_SECONDS = 5.0
_STOPPED_SECONDS = 2.0
_RETRY_SECONDS = 1.0
_MAX_RETRIES = 3
_ERROR_BYTES = 1 << 20
_SESSION, _EVENTS = "mcp-session-id", "text/event-stream"
_ENDED, _REFUSED, _FAILED = -32000, -32600, -32603


class Bridge:
    """The connection between standard input and output and a URL.

    Args:
        upstream: the server.
        talk: the conversation.
        own_tools: answers the calls of our tools.
        max_held_bytes: how much of one message is held.
        say: receives sentences for the person.
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
        self._room = HoldRoom(max_held_bytes)
        self._say = say
        self._input, written = descriptors
        self._output = MessageWriter(written)
        self._mirror = Mirror()
        self._session: bytes | None = None
        self._version: bytes | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests: dict[Id, asyncio.Task[None]] = {}
        self._unanswered = OpenRequests()
        self._turns = SendTurns()
        self._listening: asyncio.Task[None] | None = None

    async def run(self, stop: Callable[[Callable[[], None]], None]) -> None:
        """Carry messages until the input ends, then wait for open requests.

        Args:
            stop: receives, before anything is carried, the function that ends this at once.
        """
        lines: asyncio.Queue[Frame | None] = asyncio.Queue()
        stopped = asyncio.Event()

        def end() -> None:
            stopped.set()
            # A simulated end of input: the loop waits for lines, and a signal brings none.
            lines.put_nowait(None)

        stop(end)
        room = threading.Semaphore(_AHEAD)
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop, lines, room), daemon=True, name="penstock-up").start()
        try:
            while (frame := await lines.get()) is not None and not stopped.is_set():
                room.release()
                await self._take(frame)
            await self._finish(stopped)
        finally:
            await self._close()

    async def _finish(self, stopped: asyncio.Event) -> None:
        """Wait for open requests; after a signal, only for those about to finish."""
        waits = [asyncio.ensure_future(wait) for wait in (self._last_answers(), stopped.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        # After a signal, answers that are nearly there still go out; whoever sent it, systemd or a host, waits longer than this.
        await asyncio.wait(waits[:1], timeout=_STOPPED_SECONDS)
        for wait in waits:
            wait.cancel()

    async def _last_answers(self) -> None:
        await has_passed(self._turns.last, _LAST_TURNS_SECONDS)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_LAST_ANSWERS_SECONDS)

    def _read(
        self, loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[Frame | None], room: threading.Semaphore
    ) -> None:
        """Bring lines to the loop, in a thread, as far ahead as it has room."""
        # An HTTP request must be whole: nothing passes in parts.
        cut = Lines(max_held_bytes=self._max_held)

        def bring(frames: Iterable[Frame]) -> None:
            for frame in frames:
                # Waits in this thread, so that the host's pipe fills up and the host sees that we are slow, as it would with a slow
                # server.
                room.acquire()
                loop.call_soon_threadsafe(lines.put_nowait, frame)

        with suppress(RuntimeError):  # the loop has ended
            while part := read_some(self._input):
                bring(cut.feed(part))
            bring(cut.end())
            loop.call_soon_threadsafe(lines.put_nowait, None)

    async def _close(self) -> None:
        """End all tasks, and the session with them."""
        self._turns.cancel()
        for task in [*self._tasks, *([self._listening] if self._listening else [])]:
            task.cancel()
        if self._session is not None:
            with suppress(Exception):
                async with asyncio.timeout(_RETRY_SECONDS), self._upstream.send("DELETE", self._headers(), b""):
                    pass
        self._output.end()
        await self._upstream.close()

    # ── from the host ────────────────────────────────────────────────────────────────────────────────────────

    async def _take(self, frame: Frame) -> None:
        """Handle one line of the host."""
        if not frame.is_message:
            if frame.is_too_long:
                self._say(f"a message of the host of more than {self._max_held} bytes was not sent")
            return
        said = self._talk.from_client(frame.raw)
        if said.own and not self._talk.names.is_known:
            # The server is asked for its tools only after it has received everything said before, above all
            # `notifications/initialized`: many servers refuse everything until then.
            await has_passed(self._turns.last)
            asking = (parse(frame.raw) or [])[0]
            await ask_names(self._upstream, self._talk, said.own[0], self._request_headers(frame.raw, asking))
            said = self._talk.with_names(frame.raw, said)
        for call in said.own:
            self._start(self._answer(call))
        raw = said.forward.strip()
        if not raw:
            return
        messages = parse(raw) or []
        message = messages[0] if messages else None
        if message is not None and message.method == CANCELLED and self._cancelled(raw, message):
            return
        # Notifications keep their order; requests may overtake each other but not a notification, so each waits for the last
        # notification's turn.
        if messages and all(one.id is None and one.method is not None for one in messages):
            await self._turns.put(partial(self._post, raw, message, ()))
            return
        asked = self._unanswered.add(messages)
        task = self._start(self._in_turn(self._turns.last, raw, message, asked))
        self._requests.update(dict.fromkeys(asked, task))

    async def _in_turn(
        self, turn: asyncio.Event | None, raw: bytes, message: RpcMessage | None, asked: tuple[Id, ...]
    ) -> None:
        """Send a message that may be answered, after the notifications that preceded it."""
        try:
            await has_passed(turn)
            await self._post(raw, message, asked)
        finally:
            self._unanswered.take(asked)
            for number in asked:
                self._requests.pop(number, None)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _answer(self, call: OwnCall) -> None:
        answer = await asyncio.to_thread(self._own_tools.answer, call)
        if self._talk.answered(call):
            await self._write(answer)

    def _cancelled(self, raw: bytes, message: RpcMessage) -> bool:
        """End a request that the host has cancelled, if ending it is how that is said: since 2026-07-28."""
        # Over HTTP the old protocol sends a message and the new one hangs up. Doing both could cancel, at a server of the old era,
        # a request that has just been answered.
        if self._version is not None:  # a negotiated version means the older era: the server is told
            return False
        ended = cancelled_by(raw, message)
        if ended in self._requests:
            self._requests.pop(ended).cancel()  # a cancelled request needs no answer
        return True

    # ── to the server and back ───────────────────────────────────────────────────────────────────────────────

    def _headers(self, accept: bytes = b"application/json, text/event-stream") -> list[tuple[bytes, bytes]]:
        # Many servers refuse a request without a user agent; one given by --header replaces this.
        headers = [(b"accept", accept), (b"user-agent", f"penstock/{__version__}".encode())]
        if self._session is not None:
            headers.append((_SESSION.encode(), self._session))
        if self._version:
            headers.append((b"mcp-protocol-version", self._version))
        return headers

    def _request_headers(self, raw: bytes, message: RpcMessage | None) -> list[tuple[bytes, bytes]]:
        mirrored = self._mirror.headers(raw, message) if message is not None else []
        return [*self._headers(), (b"content-type", b"application/json"), *mirrored]

    async def _post(self, raw: bytes, message: RpcMessage | None, asked: tuple[Id, ...]) -> None:
        """Send one message, and write its response."""
        method = message.method if message is not None else None
        headers = self._request_headers(raw, message)
        if method == "initialize":
            headers = [pair for pair in headers if pair[0] not in {_SESSION.encode(), b"mcp-protocol-version"}]
        try:
            async with self._upstream.send("POST", headers, raw) as response:
                is_initialize = method == "initialize" and response.is_success
                # Set before the body is read: the host's next message belongs to this session, even if it comes while the body is
                # still arriving.
                if is_initialize and _SESSION in response.headers:
                    self._session = response.headers[_SESSION].encode()
                if response.is_success and response.headers.get("content-type", "").lower().startswith(_EVENTS):
                    await self._events(response, asked, is_initialize=is_initialize)
                else:
                    await self._body(response, asked, is_initialize=is_initialize)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the requester waits for an answer
            await self._fail(asked, _ENDED, f"The server did not answer: {described(error)}")
        # The stream for the server's own messages is opened only now, because servers refuse it before they are initialized.
        if method == "notifications/initialized" and self._listening is None:
            self._listening = asyncio.ensure_future(self._listen())

    async def _body(self, response: httpx2.Response, asked: tuple[Id, ...], *, is_initialize: bool) -> None:
        """Write a response's message; a body that is not JSON-RPC is reported in an error of ours."""
        max_bytes = self._max_held if response.is_success else _ERROR_BYTES
        with self._room.place() as grow:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > max_bytes or not await grow(len(body)):
                    await self._fail(
                        asked, _FAILED, f"The server answered with more than is held: over {len(body)} bytes"
                    )
                    return
            if response.is_success and not asked and not body.strip():
                return
            if body.startswith(BOM_UTF8):
                del body[: len(BOM_UTF8)]
            raw = bytes(body)
            del body
            if not await self._pass_error(raw, asked, is_success=response.is_success):
                await self._pass_body(raw, response, asked, is_initialize=is_initialize)

    async def _pass_body(
        self, raw: bytes, response: httpx2.Response, asked: tuple[Id, ...], *, is_initialize: bool
    ) -> None:
        """Write a body if it is a message, and answer requests that it does not answer."""
        if response.is_success and await self._said(raw, is_initialize=is_initialize):
            why = "The server answered something else"
        else:
            what = "Session terminated" if response.status_code == 404 and self._session else "The server answered"
            kind = response.headers.get("content-type", "no content type")
            why = f"{what}: HTTP {response.status_code} {response.reason_phrase}".strip()
            why += f" ({first_words(kind.encode())}): {first_words(raw)}" if raw.strip() else ""
        if not response.is_success or self._unanswered.has_any(asked):
            await self._fail(asked, _REFUSED if response.status_code < 500 else _FAILED, why)

    async def _pass_error(self, body: bytes, asked: tuple[Id, ...], *, is_success: bool) -> bool:
        """Write a JSON-RPC error without an id, or with an HTTP error status, under the id of its request."""
        found = parse(body) if asked and len(body) <= _ERROR_BYTES and b"error" in body else None
        if not found or len(found) > 1 or body.lstrip()[:1] == b"[" or not is_error(body, found[0]):
            return False
        if is_success and found[0].id is not None:
            return False
        for number in self._unanswered.take(asked):
            await self._write(self._talk.from_server(under_id(body, found[0], number)))
        return True

    async def _events(self, response: httpx2.Response, asked: tuple[Id, ...], *, is_initialize: bool) -> None:
        """Write a stream's messages until all requests are answered; a broken stream is resumed where it ended."""
        import httpx2

        place = StreamPlace()
        with suppress(httpx2.HTTPError):
            await self._carry(response, place, asked, is_initialize=is_initialize)
        # Resumed by the id of the last event (SSE), which servers give only to streams that they can resume. Without one, asking
        # again would do the work twice.
        for _ in range(_MAX_RETRIES):
            if place.event_id is None or not self._unanswered.has_any(asked):
                break
            await asyncio.sleep(place.retry_seconds)
            headers = [*self._headers(_EVENTS.encode()), (b"last-event-id", place.event_id)]
            with suppress(httpx2.HTTPError):
                async with self._upstream.send("GET", headers, b"") as again:
                    if again.is_success:
                        await self._carry(again, place, asked, is_initialize=is_initialize)
        if self._unanswered.has_any(asked):
            await self._fail(asked, _ENDED, "The stream of the server ended without an answer")

    async def _carry(
        self, response: httpx2.Response, place: StreamPlace, asked: tuple[Id, ...], *, is_initialize: bool = False
    ) -> None:
        """Write a stream's messages until its end, or until all requests have their answers."""
        async for event in self._whole_events(response.aiter_bytes()):
            place.read(event)
            data = data_of(event)
            if not data:
                continue
            if not (
                await self._pass_error(data, asked, is_success=True)
                or await self._said(data, is_initialize=is_initialize)
            ):
                self._say(f"an event that is not a message did not pass: {first_words(data)}")
            if asked and not self._unanswered.has_any(asked):
                return

    async def _whole_events(self, parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        stream = Events(max_held_bytes=self._max_held)
        with self._room.place() as grow:
            async for part in parts:
                for frame in stream.feed(part):
                    if frame.is_message:
                        yield frame.raw
                    elif frame.is_too_long:
                        self._say(f"a message of more than {self._max_held} bytes did not pass")
                if not await grow(stream.held_bytes):
                    self._say(f"a message of {len(stream.give_up().raw)} bytes did not pass: others were held for long")

    async def _listen(self) -> None:
        """Write the server's own messages, for as long as it offers a stream for them."""
        import httpx2

        place, retries = StreamPlace(), 0
        while retries < _MAX_RETRIES:
            resuming = [(b"last-event-id", place.event_id)] if place.event_id is not None else []
            try:
                async with self._upstream.send("GET", [*self._headers(_EVENTS.encode()), *resuming], b"") as stream:
                    if not stream.headers.get("content-type", "").startswith(_EVENTS):
                        return  # 405: it has none
                    # Reset once a stream is open: a server that closes one every minute, as many do, has not failed.
                    retries = 0
                    await self._carry(stream, place, ())
            except httpx2.HTTPError:
                retries += 1
            await asyncio.sleep(place.retry_seconds)

    async def _said(self, raw: bytes, *, is_initialize: bool) -> bool:
        """Write a message of the server in the form that the host gets. Returns whether it is one."""
        raw = _on_one_line(raw)  # before it is cut: a line end within the JSON would leave the text uncut
        found = await decided(read_messages, raw)
        if found is None:
            return False
        if is_initialize:
            version = text_in(raw, found[0].result, "protocolVersion")
            # A negotiated version means the older era; one that no header can carry is not sent.
            self._version = self._version if version is None else _in_header(version)
        self._mirror.learn(raw)
        self._unanswered.note(found)
        await self._write(await decided(self._talk.from_server, raw))
        return True

    async def _write(self, raw: bytes) -> None:
        """Write a message on one line."""
        await self._output.write(_on_one_line(raw) + b"\n")

    async def _fail(self, asked: tuple[Id, ...], code: int, why: str) -> None:
        """Answer the requests that the server does not answer."""
        self._say(why)
        for number in self._unanswered.take(asked):
            await self._write(self._talk.from_server(error_of(number, code, why)))


def _on_one_line(raw: bytes) -> bytes:
    """Return a message without line ends: within JSON they are only white space."""
    return raw.strip().replace(b"\r", b" ").replace(b"\n", b" ")


def _in_header(text: str) -> bytes:
    """Return a text as a header value; empty if it is not a valid one."""
    return text.encode() if text.isascii() and text.isprintable() else b""
