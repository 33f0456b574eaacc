"""How do requests pass between a host and a server that speak HTTP? Through an ASGI application.

Each request is passed on with its headers, and its answer with the server's, whatever the status. Only bodies of `POST`, which name
calls, and answers to them are read, as JSON or as events. Law: hop-by-hop headers end here, all others pass; a disconnect ends the
server's work for the request. Leaves to others: what changes in a message (`conversation`).
"""

from __future__ import annotations

import asyncio
from codecs import BOM_UTF8
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from penstock.errors import described
from penstock.mcp_server.http import PATH
from penstock.relay.asking import ask_names
from penstock.relay.conversation import Conversation, ToServer
from penstock.relay.holding import HoldRoom, decided
from penstock.relay.listing import Names
from penstock.relay.sse import Events
from penstock.serving.asgi import JSON, PLAIN, answer
from penstock.serving.connections import ABORT, OF_CONNECTION
from penstock.text.http_headers import end_to_end
from penstock.text.sse import data_of, field_of, with_data

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import httpx2

    from penstock.relay.conversation import GuardResult
    from penstock.relay.holding import Grow
    from penstock.relay.own_tools import OwnTools
    from penstock.relay.upstream import Upstream
    from penstock.serving.asgi import Event, Pairs, Receive, Send
    from penstock.serving.listening import ServedNames


MAX_SESSIONS = 1_000
"""How many of the hosts' sessions are remembered; beyond that the least recently used is forgotten, and its host's name with it."""
MAX_EVENTS = 10_000
"""How many positions are remembered at which a stream without a session can be resumed."""
_SESSION, _LAST_EVENT = b"mcp-session-id", b"last-event-id"
_UNPACKED = frozenset({"gzip", "deflate", "identity"})
# A body is written in parts: each waits until the host has read most of the previous ones.
_PART_BYTES = 1 << 18


class Proxy:
    """The ASGI application.

    Args:
        upstream: the server.
        guard: cuts what is too large.
        own_tools: answers the calls of our tools.
        max_held_bytes: how much of one message is held.
        served: the host names under which requests may address us.
        say: receives sentences for the person.
    """

    def __init__(
        self,
        upstream: Upstream,
        guard: GuardResult,
        own_tools: OwnTools,
        max_held_bytes: int,
        served: ServedNames,
        say: Callable[[str], None],
    ) -> None:
        self._upstream = upstream
        self._guard = guard
        self._own_tools = own_tools
        self._max_held = max_held_bytes
        self._served = served
        self._say = say
        # Two rooms: an answer waiting for the room that its own request occupies would wait forever.
        self._asked, self._room = HoldRoom(max_held_bytes), HoldRoom(max_held_bytes)
        self._names = Names()
        self._sessions: OrderedDict[bytes, Conversation] = OrderedDict()
        self._places: OrderedDict[bytes, Conversation] = OrderedDict()
        self._agents = _Agents()

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers: Pairs = scope["headers"]
        if refusal := self._served.refusal(headers) or self._refused_target(scope):
            await answer(send, refusal[0], refusal[1].encode(), [PLAIN])
            return
        with self._asked.place() as grow:
            body = await self._body(receive, grow)
            if isinstance(body, bytes):
                await self._pass_while_there(scope, receive, send, body)
            else:
                await answer(send, body[0], body[1].encode(), [PLAIN])

    async def _pass_while_there(self, scope: Event, receive: Receive, send: Send, body: bytes) -> None:
        """Pass a request on, and its answer back, while its host is connected."""
        passing = asyncio.ensure_future(self._pass(scope, scope["headers"], body, send))
        gone = asyncio.ensure_future(_hung_up(receive))
        # Both are awaited, because a server that works for minutes sends nothing meanwhile: only this shows that its host is gone.
        await asyncio.wait({passing, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if not passing.done():
            passing.cancel()
        try:
            await passing
        except asyncio.CancelledError:
            if not passing.cancelled():
                raise

    async def _body(self, receive: Receive, grow: Grow) -> bytes | tuple[int, str]:
        """Return the body of a request; the status and the reason if it is too large, or others have been for long."""
        body = bytearray()
        while True:
            event = await receive()
            body += event.get("body", b"")
            if len(body) > self._max_held:
                return 413, f"A message has at most {self._max_held} bytes"
            if not await grow(len(body)):
                return 503, f"Messages of more than {self._max_held} bytes together are being passed on"
            if not event.get("more_body", False):
                return bytes(body)

    async def _pass(self, scope: Event, headers: Pairs, body: bytes, send: Send) -> None:
        """Pass a request on, and its answer back."""
        import httpx2

        # A host without a session is identified by its connection, never by what another host said. The user agent is weaker
        # evidence, since two windows of one host send the same: it is used only on a new connection.
        known: dict[str, str] = scope.get("state", {}).get(OF_CONNECTION, {})
        agent = next((value for name, value in headers if name == b"user-agent"), b"")
        talk = self._conversation(headers, known.get("client") or self._agents.client(agent))
        said = talk.from_client(body) if scope["method"] == "POST" and body else ToServer(body)
        if talk.client is not None and not _has_session(headers):
            known["client"] = talk.client
            self._agents.note(agent, talk.client)
        if said.own and not talk.names.is_known:
            await ask_names(self._upstream, talk, said.own[0], self._sent(headers))
            said = talk.with_names(body, said)
        # A batch may contain calls for us and calls for the server. The server gets the rest, and our answers join its own.
        own = await self._own_answers(talk, said)
        if own and not said.forward:
            await answer(send, 200, b"[" + own + b"]" if said.own[0].is_in_batch else own, [JSON])
            return
        if body and not said.forward:  # the message was only for us
            await answer(send, 202, b"", [PLAIN])
            return
        answered = False

        async def send_on(event: Event) -> None:
            nonlocal answered
            answered = True
            await send(event)

        try:
            sent, target = self._sent(headers), self._target(scope)
            async with self._upstream.send(scope["method"], sent, said.forward, target) as response:
                self._remember(scope["method"], headers, response, talk)
                await self._pass_back(response, talk, own, send_on)
        except httpx2.HTTPError as error:
            if answered:  # the host sees the break, as it would without us
                self._say(f"{self._upstream.origin.decode()} broke off: {described(error)}")
                scope["state"][OF_CONNECTION][ABORT]()
                await asyncio.sleep(0)  # so that the ASGI server notices
                return
            why = f"The server at {self._upstream.origin.decode()} did not answer: {described(error)}"
            self._say(why)
            await answer(send, 502, why.encode(), [PLAIN])

    def _conversation(self, headers: Pairs, client: str | None) -> Conversation:
        """Return the conversation of a session, or of a broken stream; a new one for any other request."""
        session = next((value for name, value in headers if name == _SESSION), b"")
        if session in self._sessions:
            self._sessions.move_to_end(session)
            return self._sessions[session]
        place = next((value for name, value in headers if name == _LAST_EVENT), b"")
        if place in self._places:
            return self._places[place]
        return Conversation(self._guard, self._names, client=client)

    def _remember(self, method: str, headers: Pairs, response: httpx2.Response, talk: Conversation) -> None:
        """Remember a session that begins, and forget one that ends."""
        session = response.headers.get("mcp-session-id")
        if session:
            # Remembered as soon as the headers have come, before the body: a host may send its next request while it is still
            # reading this answer.
            self._sessions[session.encode()] = talk
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        if method == "DELETE" and response.is_success:
            self._sessions.pop(next((value for name, value in headers if name == _SESSION), b""), None)

    def _sent(self, headers: Pairs) -> Pairs:
        """Return a host's headers as the server is to see them: our origin becomes the server's own."""
        return [(name, self._upstream.origin if name == b"origin" else value) for name, value in headers]

    def _refused_target(self, scope: Event) -> tuple[int, str] | None:
        """Return the status and the reason for refusing a request's target; None if it may be served.

        If a request names a whole URL, as to a proxy (RFC 9112, section 3.2.2), its host is treated as that of `Host`, and the path
        stays.
        """
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        scheme, _, rest = raw.partition(b"://")
        if scheme.lower() == b"http" and rest:
            host, slash, path = rest.partition(b"/")
            if refusal := self._served.refusal([(b"host", host)]):
                return refusal
            raw = slash + path or b"/"
            scope["raw_path"], scope["path"] = raw, unquote(raw.decode("ascii", "replace"))
        if not raw.startswith(b"/") or b"#" in raw or b"#" in scope["query_string"]:
            return 400, "A request names a path of this server"
        return None

    def _target(self, scope: Event) -> httpx2.URL | None:
        """Return where a request goes: to the endpoint, or to the same path on the server."""
        if scope["path"] in {PATH, self._upstream.url.path} and not scope["query_string"]:
            return None
        path = scope.get("raw_path") or scope["path"].encode()
        query = b"?" + scope["query_string"] if scope["query_string"] else b""
        if scope["path"] == PATH:
            path = self._upstream.url.raw_path.partition(b"?")[0]
        return self._upstream.url.copy_with(raw_path=path + query)

    async def _own_answers(self, talk: Conversation, said: ToServer) -> bytes:
        """Return the answers to our calls, separated by commas; empty if there are none."""
        answers = []
        for call in said.own:
            raw = await asyncio.to_thread(self._own_tools.answer, call)
            talk.answered(call)
            answers.append(raw[1:-1] if call.is_in_batch else raw)
        return b",".join(answers)

    async def _pass_back(self, response: httpx2.Response, talk: Conversation, own: bytes, send: Send) -> None:
        """Pass an answer back with its headers and its edited body: `own` are answers of ours for the same batch."""
        headers = end_to_end(response.headers.raw)
        kind = response.headers.get("content-type", "").lower()
        is_events, is_json = kind.startswith("text/event-stream"), kind.startswith("application/json")
        is_nothing = response.status_code in {202, 204}
        packed = {one.strip().lower() for one in response.headers.get("content-encoding", "").split(",")} - {""}
        if not packed <= _UNPACKED:
            # We asked for no encoding (`upstream`); if the server uses one all the same that we cannot decode, everything passes.
            self._say(f"an answer passed uncut: it is packed as {', '.join(sorted(packed))[:80]}")
            is_events = is_json = False
        if not response.is_success or not (is_events or is_json or is_nothing):
            own = b""  # that response answers the whole batch
        if own and is_nothing:
            others = [pair for pair in headers if not pair[0].startswith(b"content-")]
            await answer(send, 200, b"[" + own + b"]", [*others, JSON])
            return
        is_json = is_json and not (talk.is_idle and not own)
        parts = response.aiter_raw()
        if (is_events or is_json) and packed:
            parts = response.aiter_bytes()
            headers = [pair for pair in headers if pair[0] not in {b"content-encoding", b"content-length"}]
        start: Event = {"type": "http.response.start", "status": response.status_code, "headers": headers}
        if is_json:
            with self._room.place() as grow:
                await self._pass_json(start, parts, talk, own, send, grow)
            return
        if own or (is_events and not talk.is_idle):
            start["headers"] = [pair for pair in headers if pair[0] != b"content-length"]
        await send(start)
        if own:
            event = b"data: [" + own + b"]\n\n"
            await send({"type": "http.response.body", "body": event, "more_body": True})
        async for part in self._changed(parts, talk) if is_events else parts:
            await _send_parts(send, part)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pass_json(
        self, start: Event, parts: AsyncIterator[bytes], talk: Conversation, own: bytes, send: Send, grow: Grow
    ) -> None:
        """Pass a JSON body, which is held to its end unless it is too long."""
        held = bytearray()
        is_too_long = False
        async for part in parts:
            held += part
            if is_too_long := len(held) > self._max_held or not await grow(len(held)):
                break
        if is_too_long:
            self._say_uncut(len(held))
            end = b""
            if own:
                start["headers"] = [pair for pair in start["headers"] if pair[0] != b"content-length"]
                end = _begin_with_own(held, own)
            await send(start)
            while held:
                await send({"type": "http.response.body", "body": bytes(held[:_PART_BYTES]), "more_body": True})
                del held[:_PART_BYTES]
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": end, "more_body": True})
        else:
            came = len(held)
            raw = bytes(held)
            held.clear()
            mark = BOM_UTF8 if raw.startswith(BOM_UTF8) else b""  # readers of UTF-8 skip it
            body = mark + _with_own(await decided(talk.from_server, raw[len(mark) :]), own)
            del raw
            if len(body) != came:
                start["headers"] = [pair for pair in start["headers"] if pair[0] != b"content-length"]
                start["headers"].append((b"content-length", str(len(body)).encode()))
            await send(start)
            await _send_parts(send, body)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _changed(self, parts: AsyncIterator[bytes], talk: Conversation) -> AsyncIterator[bytes]:
        """Yield a stream of events, rewriting those whose messages change."""
        stream = Events(talk.is_plain_for_client, lambda: talk.is_idle, self._max_held)
        with self._room.place() as grow:
            async for part in parts:
                for frame in stream.feed(part):
                    if frame.is_too_long:
                        self._say_uncut(len(frame.raw))
                    if frame.is_message:
                        self._note_place(frame.raw, talk)
                    yield await _event(talk, frame.raw) if frame.is_message else frame.raw
                if not await grow(stream.held_bytes):
                    self._say_uncut(stream.held_bytes)
                    yield stream.give_up().raw
        # Standard-conforming readers drop an event without its empty line, and may request it again; others show it.
        for frame in stream.end():
            yield await _event(talk, frame.raw, is_last=False)

    def _note_place(self, event: bytes, talk: Conversation) -> None:
        """Remember the conversation of a stream that may be resumed after an event: its call comes only once."""
        place = None if talk.is_idle else field_of(event, b"id")
        if place:
            self._places[place] = talk
            while len(self._places) > MAX_EVENTS:
                self._places.popitem(last=False)

    def _say_uncut(self, held_bytes: int) -> None:
        if held_bytes > self._max_held:
            self._say(f"a message of more than {self._max_held} bytes passed uncut")
        else:
            self._say(f"a message passed uncut: others of more than {self._max_held} bytes together were held for long")


async def _event(talk: Conversation, event: bytes, *, is_last: bool = True) -> bytes:
    """Return an event as the host gets it; arguments as for `Conversation.from_server`."""
    data = data_of(event)
    if data is None or talk.is_idle:
        return event
    new = await decided(partial(talk.from_server, is_last=is_last), data)
    return event if new is data else with_data(event, new)


class _Agents:
    """Which hosts have named themselves under which `User-Agent`, for hosts without a session that open new connections."""

    def __init__(self) -> None:
        self._names: OrderedDict[bytes, set[str]] = OrderedDict()

    def note(self, agent: bytes, client: str) -> None:
        """Note the name of a host; libraries are agents too, so several hosts may share one."""
        if agent:
            names = self._names.setdefault(agent, set())
            if len(names) < 2:  # two already make it ambiguous
                names.add(client)
            self._names.move_to_end(agent)
            while len(self._names) > MAX_SESSIONS:
                self._names.popitem(last=False)

    def client(self, agent: bytes) -> str | None:
        """Return the host with a user agent; None if no host or several have named themselves under it."""
        names = self._names.get(agent, set())
        return next(iter(names)) if len(names) == 1 else None


async def _hung_up(receive: Receive) -> None:
    """Wait until the host has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _has_session(headers: Pairs) -> bool:
    return any(name == _SESSION for name, _ in headers)


def _with_own(body: bytes, own: bytes) -> bytes:
    """Return the answer to a batch, ours first: servers answer a remaining single request as a batch or alone."""
    if not own:
        return body
    theirs = body.strip()
    if theirs[:1] == b"[":
        theirs = theirs[1:-1].strip()
    return b"[" + own + (b"," + theirs if theirs else b"") + b"]"


def _begin_with_own(held: bytearray, own: bytes) -> bytes:
    """Put our answers to a batch before the held part of a body, and return what must follow its end."""
    is_batch = held.lstrip()[:1] == b"["
    if is_batch:
        del held[: held.index(b"[") + 1]
    held[:0] = b"[" + own + b","
    return b"" if is_batch else b"]"


async def _send_parts(send: Send, body: bytes) -> None:
    for at in range(0, len(body), _PART_BYTES):
        part = body if len(body) <= _PART_BYTES else body[at : at + _PART_BYTES]
        await send({"type": "http.response.body", "body": part, "more_body": True})
