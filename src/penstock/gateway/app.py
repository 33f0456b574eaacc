"""How is the gateway served over HTTP? By an ASGI application that passes requests to providers, and their answers back.

Requests for an answer or a count of a model go through `passage`; every other path of the APIs passes unchanged. Laws: nothing of a
request is read before its sender is admitted; no key is kept, logged or reported; a client that hangs up ends the provider's work
for it; an answer of ours has the shape of the API's errors. Leaves to others: what fits (`passage`), connections (`upstream`).
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from penstock.gateway.answers import HeldAnswer, unpacked_answer
from penstock.gateway.brief import briefly
from penstock.gateway.conversations import Conversations
from penstock.gateway.credentials import digest_key, owner_of, plan_of
from penstock.gateway.hidden_turns import HiddenTurns
from penstock.gateway.incoming import Request
from penstock.gateway.own_calls import OwnCalls
from penstock.gateway.packed import BOM, PackedBody, is_packed, unpacked
from penstock.gateway.page import PAGES, answer_page
from penstock.gateway.passage import Passage, Passed, is_refused_for_size
from penstock.gateway.provider import Memories, Provider, Windows
from penstock.gateway.routes import address, provider_of, route_of
from penstock.gateway.seen import Seen
from penstock.gateway.signing import NoCredentials, signer_of
from penstock.serving.asgi import JSON, answer
from penstock.serving.connections import ABORT, LOST, OF_CONNECTION
from penstock.text import escape
from penstock.wires import wire_named
from penstock.wires.failures import Disconnected

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from penstock.carrier.steps import SendOutcome
    from penstock.gateway.answers import UpstreamAnswer
    from penstock.gateway.passage import PostBody
    from penstock.gateway.provider import Offering
    from penstock.gateway.routes import Route
    from penstock.gateway.telemetry import Telemetry
    from penstock.gateway.upstream import Upstream
    from penstock.serving.asgi import Event, Pairs, Receive, Send
    from penstock.serving.listening import ServedNames
    from penstock.store import Store
    from penstock.text.json_access import Json
    from penstock.wires.hidden_calls import HiddenStep


MAX_BODY_BYTES: Final = 32 << 20
"""The largest accepted body: Anthropic's limit, and more than any window holds."""
DROPPED_BYTES: Final = 64 << 20
"""How much of an oversized body is read and dropped: clients that write before they read would otherwise see a broken pipe instead
of the answer that says what is too large.
"""
DROPPED_SECONDS: Final = 5.0
"""How long the rest of an oversized body is read and dropped."""
BODY_SECONDS: Final = 120.0
"""The time limit of a body from its headers to its end."""
TOKEN_HEADER: Final = b"x-penstock-token"
"""The header with the gateway's own token, if it has one; it is not passed on."""


class Refusing(Exception):
    """A request that the gateway itself refuses."""

    def __init__(self, status: int, sentence: str, headers: Pairs | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers or []


class Gateway:
    """The application.

    Args:
        upstream: sends requests.
        store: where cuts are kept, and what is learned.
        base_url: the provider behind it; None takes the public one that each path is for.
        windows: the models' windows.
        token: the token that requests must show; None serves everybody who reaches it.
        names: the host names under which requests may address it; None for any.
        offering: when the two tools that give back what was cut are offered.
        observes: whether nothing is changed, and only reported what would have been.
        telemetry: where activity is also reported; None for nowhere.
        say: receives sentences for the person who runs it.
    """

    def __init__(
        self,
        upstream: Upstream,
        store: Store,
        *,
        base_url: str | None = None,
        windows: Windows | None = None,
        token: bytes | None = None,
        names: ServedNames | None = None,
        offering: Offering = "auto",
        observes: bool = False,
        telemetry: Telemetry | None = None,
        say: Callable[[str], None] = lambda _: None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._upstream, self._store, self._base_url = upstream, store, base_url
        self._windows, self._token, self._names = windows or Windows(), token, names
        self._observes, self._environ = observes, environ
        self.seen = Seen(observes=observes, telemetry=telemetry)
        """What was done with the requests that passed."""
        self._say = say
        self._offering = offering
        brief = briefly(store)
        self._memories = Memories(store, brief, Conversations(brief), HiddenTurns(brief))
        self._digest_key = digest_key(store)
        self._providers: dict[tuple[str, str], Provider] = {}

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Serve one ASGI request."""
        if scope["type"] != "http":
            return
        # In its original spelling, escapes included: the provider gets the client's own path, and two spellings are two paths
        # there.
        path = scope["raw_path"].decode("latin-1").partition("?")[0]
        try:
            path, is_known = self._asked(scope, path)
            if path.startswith(PAGES):
                status, said, made = answer_page(self.seen, scope["method"], path, scope["headers"], is_known=is_known)
                # A full page takes some 15 ms to render, which would delay streams under way.
                body = made if isinstance(made, bytes) else (await asyncio.to_thread(made)).encode()
                await answer(send, status, body, said)
                return
            _admit(is_known=is_known)
            await self._serve(scope, path, receive, send)
        except Refusing as refusal:
            body = _error_body(path, refusal.sentence, refusal.status)
            await answer(send, refusal.status, body, [*refusal.headers, JSON])

    def _asked(self, scope: Event, path: str) -> tuple[str, bool]:
        """Return the path of a request, without a token in it, and whether its sender may be served.

        Raises:
            Refusing: it addresses another host, comes from a page of another origin, or its target is not a path.
        """
        # After a base URL anything else would name another host: `*@evil.example/` would turn ours into a user name.
        if not path.startswith("/"):
            raise Refusing(400, "A request is for a path, which begins with /")
        headers: Pairs = scope["headers"]
        if self._names is not None and (refusal := self._names.refusal(headers)) is not None:
            raise Refusing(*refusal)
        if self._token is None:
            return path, True
        shown = [value for name, value in headers if name == TOKEN_HEADER]
        # Programs that can set a base URL but no header have it in the path: /~TOKEN/v1/messages.
        in_path, rest = (path[2:].partition("/")[0], path[2:].partition("/")[2]) if path.startswith("/~") else ("", "")
        token = shown[0] if len(shown) == 1 else in_path.encode("latin-1")
        # Compared in constant time; two headers with a token count as none, not as a choice.
        return f"/{rest}" if in_path else path, hmac.compare_digest(token, self._token)

    async def _serve(self, scope: Event, path: str, receive: Receive, send: Send) -> None:
        headers: Pairs = [(name, value) for name, value in scope["headers"] if name != TOKEN_HEADER]
        query = scope["query_string"].decode("latin-1")
        if any(name == b"upgrade" and value.lower() == b"websocket" for name, value in headers):
            # A client that gets this status continues over HTTP at once; any other makes it retry again and again.
            raise Refusing(426, "This gateway speaks HTTP, no WebSocket", [(b"upgrade", b"HTTP/1.1")])
        _expect_passable(headers)
        base_url = self._base_url or provider_of(path, dict(headers), self._environ)
        if base_url is None:
            said = f"Nothing says for which provider {path} is: start the gateway with --upstream URL"
            raise Refusing(404, f"{said}. Its page is at /penstock/")
        body = await _body(receive, headers)
        url = address(base_url, path, query)

        route = route_of(path) if scope["method"] == "POST" and body else None
        try:
            service = wire_named(route.wire).service.signs_for if route else ""
            signed = signer_of(headers, base_url, service, self._environ)
        except NoCredentials as error:
            raise Refusing(403, str(error)) from error

        # A client that hangs up ends the request at the provider, where it costs money, whether or not an answer has begun.
        with _WhileHeard(scope["state"][OF_CONNECTION][LOST]):
            try:
                packed = PackedBody(body, body.removeprefix(BOM))
                if route is not None and is_packed(headers):
                    packed = await asyncio.to_thread(unpacked, body, headers, MAX_BODY_BYTES)
                post = partial(self._post, scope["method"], url, headers, packed, signed)
                owner = owner_of(headers, query, self._digest_key)
                request = Request(route, packed.plain, owner, plan_of(headers, owner)) if route is not None else None
                passing = self._pass(base_url, packed.plain, request, post)
                await self._pass_on(passing, send, scope, route, base_url)
            except Disconnected as error:
                raise Refusing(_STATUS_OF[error.kind], f"{base_url} did not answer: {error}") from error

    async def _post(
        self,
        method: str,
        url: str,
        headers: Pairs,
        packed: PackedBody,
        signed: Callable[[str, bytes], Pairs] | None,
        plain: bytes,
        is_unpacked: bool,
    ) -> UpstreamAnswer:
        """Send a client's request with an edited body."""
        # Signed again for each attempt, since a signature covers the body, and a cut body is another one.
        raw, own = packed.sent(plain, headers)
        own = await asyncio.to_thread(signed, url, raw) if signed else own
        if is_unpacked:
            # Removing it would leave the provider free to choose a coding.
            own = [(name, b"identity" if name == b"accept-encoding" else value) for name, value in own]
        answer = await self._upstream.send(method, url, own, raw or None)
        return unpacked_answer(answer) if is_unpacked else answer

    async def _pass(
        self, base_url: str, body: bytes, request: Request | None, post: PostBody
    ) -> tuple[HeldAnswer | OwnCalls, Passed]:
        """Return the answer to a request, and what was done with it."""
        if request is None:
            return HeldAnswer(await post(body, False)), Passed(wire="", bytes_in=len(body))
        route = request.route
        unread = Passed(wire=route.wire, model=route.model, bytes_in=len(body), is_count=route.is_count)
        if not _is_text(body):
            return HeldAnswer(await post(body, False)), unread
        unread.model = route.model or _model_in(body)
        provider = self._provider(route.wire, base_url)
        if self._observes:
            return await self._observed(provider, request, post, unread)
        try:
            return await self._fitted(provider, request, post, unread)
        except (Disconnected, Refusing):
            raise
        # An unusable store, or an error of ours: a request that fits is answered all the same.
        except Exception as error:  # noqa: BLE001
            self._say(f"a request passes as it came: {type(error).__name__}: {escape.clip(str(error))}")
            unread.unread_because = f"a fault of the gateway, {type(error).__name__}"
            return HeldAnswer(await post(body, False)), unread

    async def _fitted(
        self, provider: Provider, request: Request, post: PostBody, unread: Passed
    ) -> tuple[HeldAnswer | OwnCalls, Passed]:
        """Return the answer to a request that is made to fit, and what was done with it."""
        route, body = request.route, request.raw
        # Most requests are so small in bytes that no way of counting could bring them past the window. They pass unparsed; only one
        # that is refused for its size after all is parsed.
        is_known = provider.is_known(request, unread.model)
        fits_unread = partial(provider.fits_unread, request, unread.model)
        if fits_unread() if is_known else await asyncio.to_thread(fits_unread):
            held = HeldAnswer(await post(body, False))
            outcome = await held.outcome(route.wire)
            if not is_refused_for_size(outcome, route.wire) or route.is_count:
                return held, unread
            passage = await asyncio.to_thread(provider.begin, request)
            if passage is None:
                unread.unread_because = _UNREADABLE
                return held, unread
            return await self._carry(provider, passage, post, (held, outcome)), passage.passed
        passage = await asyncio.to_thread(provider.begin, request)
        if passage is None:
            unread.unread_because = _UNREADABLE
            return HeldAnswer(await post(body, False)), unread
        # A client that asks for a token count means the request that would be sent; counting the uncut one would make it compact
        # what we make fit.
        if route.is_count:
            return HeldAnswer(await post(await asyncio.to_thread(passage.trimmed), False)), passage.passed
        return await self._carry(provider, passage, post), passage.passed

    async def _carry(
        self,
        provider: Provider,
        passage: Passage,
        post: PostBody,
        refused: tuple[HeldAnswer, SendOutcome] | None = None,
    ) -> HeldAnswer | OwnCalls:
        """Carry a request, and answer calls of our tools in its answer."""
        held = await passage.carry(post, refused)
        if not passage.is_offered or held.status != 200:
            return held

        asked = passage.incoming.request

        async def ask_again(said: list[Json], may_read: bool) -> HeldAnswer:
            request = asked._replace(raw=passage.incoming.followed_by(said))
            # In a thread, like all parsing of requests: 1 MB of JSON takes tens of milliseconds, during which no stream would
            # proceed.
            following = await asyncio.to_thread(provider.begin, request, is_follow_up=True, may_read=may_read)
            assert following is not None  # noqa: S101 - it was parsed before
            passage.passed.follow_ups.append(following.passed)
            return await following.carry(post)

        def keep(steps: list[HiddenStep]) -> None:
            passage.passed.answered_calls = sum(len(step.calls) for step in steps)
            provider.keep(passage.incoming, steps)

        turn = OwnCalls(provider.wire, held, provider.ways_of(asked.owner), ask_again, keep)
        try:
            await turn.begin()
        except BaseException:
            await turn.close()
            raise
        return turn

    async def _observed(
        self, provider: Provider, request: Request, post: PostBody, unread: Passed
    ) -> tuple[HeldAnswer, Passed]:
        """Return the answer to a request that passed unchanged, and what would have been done with it."""
        if unread.is_count:
            return HeldAnswer(await post(request.raw, False)), unread
        # Observing must cost the client nothing: the analysis runs while its answer is on the way.
        reading = asyncio.ensure_future(asyncio.to_thread(provider.begin, request))  # during the provider's work
        try:
            held = HeldAnswer(await post(request.raw, False))
        finally:
            (passage,) = await asyncio.gather(reading, return_exceptions=True)
        if not isinstance(passage, Passage):
            return held, unread
        outcome = await held.outcome(request.route.wire, passage.answer_ended)
        try:
            await asyncio.to_thread(passage.observe, outcome)
        # A failure in observing must not affect the client.
        except Exception as error:  # noqa: BLE001
            self._say(f"a request was not looked into: {type(error).__name__}: {escape.clip(str(error))}")
            return held, unread
        return held, passage.passed

    async def _pass_on(
        self,
        passing: Awaitable[tuple[HeldAnswer | OwnCalls, Passed]],
        send: Send,
        scope: Event,
        route: Route | None,
        base_url: str,
    ) -> None:
        """Pass an answer on, block by block, and report what was done."""
        at, begun = time.time(), time.perf_counter()
        try:
            held, passed = await passing
        except Disconnected as error:
            seconds, wire = time.perf_counter() - begun, route.wire if route is not None else ""
            self.seen.tell(Passed(wire=wire, at=at, seconds=seconds, status=_STATUS_OF[error.kind]))
            raise
        passed.at, passed.provider, passed.status = at, base_url, held.status
        passed.is_streamed = any(name == b"content-type" and b"stream" in value for name, value in held.headers)
        try:
            headers = [*held.headers, *_told(passed)]
            await send({"type": "http.response.start", "status": held.status, "headers": headers})
            if scope["method"] != "HEAD":
                async for block in held.blocks():
                    await send({"type": "http.response.body", "body": block, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except Disconnected as error:
            # A broken answer must not look complete: the client's connection is closed where the provider's was.
            self._say(f"{base_url} broke off: {escape.clip(str(error))}")
            scope["state"][OF_CONNECTION][ABORT]()
            await asyncio.sleep(0)  # so that the ASGI server notices
        finally:
            await held.close()
            passed.seconds = time.perf_counter() - begun
            self.seen.tell(passed)

    async def close(self) -> None:
        """Close the connections and the store."""
        await self._upstream.close()
        self._store.close()

    def _provider(self, wire: str, base_url: str) -> Provider:
        key = (wire, base_url)
        if key not in self._providers:
            self._providers[key] = Provider(wire, base_url, self._memories, self._windows, offering=self._offering)
        return self._providers[key]


_UNREADABLE = "its body is not a request of this API, or nests too deeply"
_STATUS_OF = {"connect": 502, "closed": 502, "idle": 504, "whole": 504}


_MODEL = re.compile(rb'"model"\s*:\s*"([^"\\]{1,200})"')


def _model_in(body: bytes) -> str:
    """Return the model that a body most likely names, without parsing it: it decides which window a small body fits into."""
    found = _MODEL.search(body)
    return found[1].decode("utf-8", "replace") if found else ""


def _is_text(body: bytes) -> bool:
    """Return whether a body begins like JSON; any other cannot be read."""
    return body[:1] in {b"{", b"[", b" ", b"\n", b"\r", b"\t"}


def _error_body(path: str, sentence: str, status: int) -> bytes:
    """Return an error of ours in the shape of the path's API."""
    route = route_of(path)
    return json.dumps(wire_named(route.wire if route else "openai-chat").double.error(sentence, status)).encode()


def _expect_passable(headers: Pairs) -> None:
    """Raise Refusing if a request could not arrive at its provider unchanged."""
    for name, value in headers:
        if name == b"transfer-encoding" and value.strip().lower() != b"chunked":
            raise Refusing(501, "A body comes whole or in chunks, and in no other Transfer-Encoding")
        try:
            value.decode()
        except UnicodeDecodeError:  # the upstream client writes UTF-8
            shown = name.decode("latin-1")
            raise Refusing(
                400, f"The header {shown} holds bytes that are not UTF-8, and only UTF-8 passes in a header"
            ) from None


async def _body(receive: Receive, headers: Pairs) -> bytes:
    """Return a request's body.

    Raises:
        Refusing: it is too large, does not arrive, or its sender has gone.
    """
    said = [int(value) for name, value in headers if name == b"content-length" and value.isdigit()]
    too_large = "A body of {} bytes: this gateway takes " + f"at most {MAX_BODY_BYTES}"
    if said and max(said) > MAX_BODY_BYTES:
        if not any(name == b"expect" for name, _ in headers):  # a client that asks first is told at once
            await _dropped(receive)
        raise Refusing(413, too_large.format(max(said)), [(b"connection", b"close")])
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                event = await receive()
                if event["type"] == "http.disconnect":
                    raise Refusing(400, "The body did not come to its end")
                parts.append(event.get("body", b""))
                size += len(parts[-1])
                if size > MAX_BODY_BYTES:
                    await _dropped(receive)
                    raise Refusing(413, too_large.format(f"more than {MAX_BODY_BYTES}"), [(b"connection", b"close")])
                if not event.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise Refusing(408, f"The body did not come within {BODY_SECONDS:.0f} s", [(b"connection", b"close")]) from None


async def _dropped(receive: Receive) -> None:
    """Read and drop the rest of a body, within limits."""
    left = DROPPED_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(DROPPED_SECONDS):
            while left > 0:
                event = await receive()
                if event["type"] == "http.disconnect" or not event.get("more_body", False):
                    return
                left -= len(event.get("body", b""))


def _admit(*, is_known: bool) -> None:
    """Refuse a request whose sender has not shown the gateway's token."""
    if not is_known:
        raise Refusing(
            401, f"This gateway wants its token: in the header {TOKEN_HEADER.decode()}, or as http://HOST/~TOKEN/…"
        )


def _told(passed: Passed) -> Pairs:
    """Return the headers that report what was done with a request; none if nothing was, or had to be."""
    if passed.unread_because:
        return [(b"x-penstock-unread", passed.unread_because.encode())]
    if passed.is_observed or not (passed.cuts or passed.refusals):
        return []
    said = {
        "cut": str(passed.cuts),
        "tokens-before": str(passed.before_tokens),
        "tokens-after": str(passed.after_tokens),
        "refusals": str(passed.refusals),
        "handles": ",".join(passed.handles[-8:]),
    }
    return [(f"x-penstock-{name}".encode(), value.encode()) for name, value in said.items() if value]


class _WhileHeard:
    """Cancels the current task once the client's connection is lost.

    Args:
        lost: the callbacks of that event.
    """

    __slots__ = ("_has_gone", "_lost", "_task")

    def __init__(self, lost: set[Callable[[], object]]) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a request is served in a task
        self._lost, self._task, self._has_gone = lost, task, False

    def _end(self) -> None:
        self._has_gone = True
        self._task.cancel()

    def __enter__(self) -> None:
        self._lost.add(self._end)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._lost.discard(self._end)
        is_ours = self._has_gone and kind is asyncio.CancelledError
        if is_ours:
            self._task.uncancel()
        return is_ours
