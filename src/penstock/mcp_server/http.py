"""Which HTTP requests reach the tools? Those with the token, and nothing else.

The SDK's streamable HTTP serves both eras of the protocol, without sessions. In front of it is `Gate`: only requests for this host,
from no foreign page, with the token, and of strict JSON and a bounded size pass. Below it is `connections`: a connection that does
not send or does not read is closed. Law: without the token nothing of a request is parsed. Leaves to others: what the messages say
(the session).
"""

from __future__ import annotations

import base64
import hmac
import secrets
from typing import TYPE_CHECKING, Any, Final

import anyio

from penstock.mcp_server import frames
from penstock.serving.asgi import JSON, PLAIN, answer
from penstock.serving.connections import ADMITTED
from penstock.serving.listening import ServedNames, serve_app
from penstock.text.http_headers import values_of

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from mcp.server import Server
    from mcp_types.jsonrpc import JSONRPCRequest

    from penstock.serving.asgi import App, Event, Pair, Pairs, Receive, Send

PATH: Final = "/mcp"
"""The path of the endpoint; every other path is answered with 404."""
BODY_SECONDS = 30.0
"""How long a body may take from the headers to its end."""
MAX_IN_FLIGHT = 64
"""Requests served at once; one more is answered with 503 and `Retry-After`."""
_DRAIN_SECONDS = 5.0  # for the rest of a refused body, so that the sender sees the refusal and not a reset
_STRANGER_DRAIN_SECONDS = 0.25  # for a sender without a token: enough for what is in transit, not for idling

_HOST_KEY = "penstock.client"  # in the ASGI scope: the name that a legacy client gave


async def serve(
    server: Server[Any],
    listening: socket.socket,
    token: bytes | None,
    stop: Callable[[Callable[[], None]], None],
) -> None:
    """Serve on a listening socket until the function that was passed to `stop` is called.

    Args:
        server: What `create_server` made.
        listening: What `listen` made.
        token: What requests must carry; None (in tests) admits everybody.
        stop: Receives the function that ends serving; answers in progress then have two more seconds.
    """
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=frames.MAX_BYTES
    )
    host, port = listening.getsockname()[:2]
    async with manager.run():
        await serve_app(Gate(manager.handle_request, token=token, host=host, port=port), listening, stop)


def client_of(scope: Event) -> str | None:
    """Return the name that a client of the older era gave itself when it initialized; None for others."""
    name = scope.get(_HOST_KEY)
    return name if isinstance(name, str) else None


class Gate:
    """An ASGI application that refuses what must not reach `app`, and cancels what nobody waits for any more.

    Args:
        app: The SDK's handler.
        token: What requests must carry; None (in tests) admits everybody.
        host: Where the socket listens: requests have to name it.
        port: The port, likewise.
    """

    def __init__(self, app: App, *, token: bytes | None, host: str, port: int) -> None:
        self._app = app
        self._token = token
        self._served = ServedNames(host, port)
        self._in_flight = 0

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one ASGI request, or refuse it before the application behind sees it."""
        headers: Pairs = scope["headers"]
        if refusal := self._refusal(scope, headers):
            await _refuse(receive, send, headers, *refusal, is_known=ADMITTED in scope)
            return
        self._in_flight += 1
        try:
            await self._serve(scope, receive, send, headers)
        finally:
            self._in_flight -= 1

    def _refusal(self, scope: Event, headers: Pairs) -> tuple[int, str, Pair | None] | None:
        """Return why a request is not even read (status, reason and one header); None if it is accepted."""
        # The order matters. Host and Origin come first: a page in a browser that rebinds its DNS name to 127.0.0.1 sends its own
        # name, and learns nothing else. Then the token, so that path, method and load are revealed only to those who may know them.
        if refusal := self._served.refusal(headers):
            return *refusal, None
        if not self._knows_token(headers):
            return (
                401,
                "Send the token of this server: Authorization: Bearer …",
                (b"www-authenticate", b"Bearer"),
            )
        scope[ADMITTED] = True
        if scope["path"] != PATH:
            return 404, f"The tools are at {PATH}", None
        if scope["method"] != "POST":
            return (
                405,
                "Only POST: there are no sessions and no streams to open or to end",
                (b"allow", b"POST"),
            )
        if self._in_flight >= MAX_IN_FLIGHT:
            return 503, f"{MAX_IN_FLIGHT} requests are being served", (b"retry-after", b"1")
        if not any(
            value.lower().partition(";")[0].strip() == "application/json"
            for value in values_of(headers, b"content-type")
        ):
            return 400, "Content-Type must be application/json", None
        if any(
            not value.isdecimal() or int(value) > frames.MAX_BYTES for value in values_of(headers, b"content-length")
        ):
            return 413, f"A message has at most {frames.MAX_BYTES} bytes", None
        return None

    def _knows_token(self, headers: Pairs) -> bool:
        """Return whether the one Authorization header holds the token, compared in constant time."""
        if self._token is None:
            return True
        given = [value for name, value in headers if name == b"authorization"]
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)

    async def _serve(self, scope: Event, receive: Receive, send: Send, headers: Pairs) -> None:
        """Read the body within its bounds, then pass the request on."""
        from mcp_types.jsonrpc import JSONRPCRequest

        body = bytearray()
        with anyio.move_on_after(BODY_SECONDS) as reading:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return
                body += message.get("body", b"")
                if len(body) > frames.MAX_BYTES:
                    await _refuse(receive, send, headers, 413, f"A message has at most {frames.MAX_BYTES} bytes")
                    return
                if not message.get("more_body", False):
                    break
        if reading.cancelled_caught:
            await answer(send, 408, b"The body did not come in time", [PLAIN, (b"connection", b"close")])
            return
        try:
            sent = frames.message(bytes(body))
        except frames.BadFrame as bad:
            await answer(send, 400, frames.write(bad.answer), [JSON])
            return
        session = values_of(headers, b"mcp-session-id")
        # The name comes from the client: it tunes the size of results and decides nothing else (`hosts`).
        scope[_HOST_KEY] = _client_in(session[0]) if session else None
        await self._pass(
            scope,
            bytes(body),
            receive,
            _with_session(send, sent) if isinstance(sent, JSONRPCRequest) and sent.method == "initialize" else send,
        )

    async def _pass(self, scope: Event, body: bytes, receive: Receive, send: Send) -> None:
        """Give the body that was read to the application, and cancel it when the client disconnects.

        The application reads the body once and then waits for a disconnect; two cannot both receive, so the waiting is done here
        and the application waits forever.
        """
        replayed = False

        async def replay() -> Event:
            nonlocal replayed
            if replayed:
                await anyio.sleep_forever()
            replayed = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await self._app(scope, replay, send)
            tasks.cancel_scope.cancel()


def _with_session(send: Send, initialize: JSONRPCRequest) -> Send:
    """Return `send` with a session id in its answer that contains the whole session: the name of the client.

    Servers of the older era distinguish sessions by an id of their own. This one stores nothing: the name, which determines the
    budget of later requests, travels in the id itself.
    """
    info = (initialize.params or {}).get("clientInfo")
    name = info.get("name") if isinstance(info, dict) else None
    written = base64.urlsafe_b64encode(name[:64].encode("utf-8")) if isinstance(name, str) else b""
    session = secrets.token_urlsafe().encode("ascii") + b"." + written.rstrip(b"=")

    async def stamped(message: Event) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            message["headers"] = [*message.get("headers", []), (b"mcp-session-id", session)]
        await send(message)

    return stamped


def _client_in(session: str) -> str | None:
    """Return the name of the client in a session id of `_with_session`; None if it contains none."""
    written = session.partition(".")[2]
    try:
        return base64.urlsafe_b64decode(written + "==").decode("utf-8") or None
    except ValueError:
        return None


async def _refuse(
    receive: Receive,
    send: Send,
    headers: Pairs,
    status: int,
    reason: str,
    header: Pair | None = None,
    *,
    is_known: bool = True,
) -> None:
    """Refuse a request at once, and close its connection once its body has arrived, or a while later.

    Args:
        receive: Gives what arrives of the body.
        send: Takes the response.
        headers: Those of the request.
        status: The status of the response.
        reason: Its text.
        header: One more header.
        is_known: Whether the sender has the token: only then is there time for a slow body.
    """
    said = [PLAIN, (b"connection", b"close"), *([header] if header else [])]
    # The whole answer is sent before waiting for anything of the body. It is not ended yet: closed with bytes unread, a connection
    # is reset, and its sender may see that instead of the answer.
    await answer(send, status, reason.encode("utf-8"), said, is_ended=False)
    if not values_of(headers, b"expect"):
        with anyio.move_on_after(_DRAIN_SECONDS if is_known else _STRANGER_DRAIN_SECONDS):
            while (await receive()).get("more_body", False):
                pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})
