"""How does one request go out, and its answer come in? One POST in an event loop that runs nothing else.

The loop exists so that a time-out or a cancellation ends the request wherever it is. A blocking call can be ended only where it
checks, and a name server, a handshake or a server that thinks for minutes does not; a task can be cancelled in any of them. The
layers, from outside:

    exchange    finds a loop to run in, and connects `cancelled` and `on_text` to that loop
    _watched    asks every 50 ms whether the request is still wanted, and cancels it if not
    _answer     removes the key from every error that leaves
    _timed      sets the time-outs, and words errors in our own terms
    _posted     sends, and reads a refusal, a body or a stream

Before the caller sees the error or the answer, the socket is closed or, if connections are kept and the answer was whole, idle.
Nothing is retried here: only the caller knows whether a request may be sent twice, and what that may cost.

Laws: it ends in the time it was given, holds no more than its bounds, follows no redirect, sends nothing twice, and leaves no
socket open that nobody wanted kept. Loaded with the first model over HTTP, as is httpx2. Leaves to others: keys and addresses
(`remote`), loops and connections (`connecting`), what an answer says (`reading`), retries (`session`).
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

import httpx2

from penstock.errors import Refusal
from penstock.models.connecting import new_client, run_once
from penstock.models.reading import AnswerStream, as_text, read_answer
from penstock.text.json_access import parsed_finite
from penstock.text.notices import duration
from penstock.wires.failures import Cancelled, Disconnected, Refused, Unreadable
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
    from typing import Any, Literal

    from penstock.models.connecting import Endpoint, KeptConnections
    from penstock.text.json_access import Json

CONNECT_SECONDS = 5.0
"""How long opening a connection may take, as in both official SDKs."""
# 300 of 600 seconds, as Codex waits for the next event.
IDLE_SHARE = 0.5
"""The part of the whole time for which a stream may be silent."""
# The largest request that Anthropic accepts.
MAX_ANSWER_BYTES = 32 << 20
"""The largest body, and the largest single event, that is read."""
# OpenAI wraps a token of 4 bytes in an event of 250: that is 268,000 tokens, twice the longest answer of any model. An endless
# stream is held up to this size, several times over while its pieces are joined.
MAX_STREAM_BYTES = 2 * MAX_ANSWER_BYTES
"""How many bytes of a stream are read in all."""
# The most that `penstock.overflow` reads as JSON.
MAX_REFUSAL_BYTES = 65_536
"""How much of an error's body is read; the rest is ignored."""
POLL_SECONDS = 0.05
"""The longest time for which a cancellation may go unnoticed."""
_HIDDEN = "[key]"
# When to retry, and the number by which the provider knows the request.
_KEPT_HEADERS = ("retry-after", "retry-after-ms", "request-id", "x-request-id", "x-amzn-requestid")


class _Post(NamedTuple):
    """What goes out, and who hears the words that come in; as the arguments of `exchange`."""

    endpoint: Endpoint
    content: bytes
    wire: str
    on_text: Callable[[str], object] | None


def exchange(
    endpoint: Endpoint,
    content: bytes,
    wire: str,
    *,
    on_text: Callable[[str], object] | None,
    cancelled: Callable[[], bool],
    connections: KeptConnections | None = None,
) -> dict[str, Json]:
    """Return the body of the answer to one request.

    Args:
        endpoint: where it goes, and as whom.
        content: the request's body, as it goes out.
        wire: the name of the wire that the answer is read as.
        on_text: is called with each piece of the words, and asks for a stream; None for an unstreamed answer.
        cancelled: whether the request is no longer wanted; asked every 50 ms, and before each piece is passed on.
        connections: whose connection of this thread it uses and keeps; None opens one and closes it.

    Raises:
        Refused: for an error of the provider.
        Disconnected: if no answer came, or only part of one.
        Unreadable: for an answer that is not the wire's, or is larger than any.
        Cancelled: if `cancelled` returned True.
        CallerError: for a proxy, or certificates that the environment names, that cannot be used.
        Exception: whatever `on_text` or `cancelled` raises, after the socket is closed.
    """
    left = threading.Event()  # set once the thread that waits has left, after an interrupt for instance

    def look() -> None:
        if left.is_set() or cancelled():
            raise Cancelled("The request was cancelled; no answer is awaited any more.")

    def tell(text: str) -> None:
        look()  # nothing is passed on after a cancellation, even if it came in the same block
        if on_text is not None:
            on_text(text)

    post = _Post(endpoint, content, wire, tell if on_text is not None else None)

    def work(client: httpx2.AsyncClient | None) -> Coroutine[Any, Any, dict[str, Json]]:
        return _watched(_answer(post, client), look)

    if not _in_a_loop():
        return run_once(work) if connections is None else connections.run(endpoint, work)
    # A loop already runs in this thread, in a notebook for instance, and a thread holds only one: the exchange gets its own thread.
    with ThreadPoolExecutor(1, "penstock-exchange") as pool:
        try:
            return pool.submit(run_once, work).result()
        finally:
            left.set()


def _in_a_loop() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _watched(work: Coroutine[Any, Any, dict[str, Json]], look: Callable[[], None]) -> dict[str, Json]:
    """Return what the work returns, calling `look` meanwhile; an exception from `look` ends the work and is raised in its place."""
    try:
        look()  # before the first byte goes out
    except BaseException:
        work.close()
        raise
    # A timer next to the work, not a task: waiting in a task takes as much processor time as the rest of the request.
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    raised: list[BaseException] = []
    timer: asyncio.TimerHandle

    def ask() -> None:
        nonlocal timer
        try:
            look()
        except BaseException as error:  # noqa: BLE001 - an interrupt, too, comes out once the socket is closed
            raised.append(error)
            if task is not None:
                task.cancel()
        else:
            timer = loop.call_later(POLL_SECONDS, ask)

    timer = loop.call_later(POLL_SECONDS, ask)
    try:
        return await work
    except BaseException:
        if not raised:
            raise
    finally:
        timer.cancel()
    # Outside the handler: the error that ended the work may hold the request, and so the key.
    raise raised[0]


async def _answer(post: _Post, client: httpx2.AsyncClient | None) -> dict[str, Json]:
    """Return the answer; no error shows the key, even if a server repeats it."""
    try:
        return await _timed(post, client)
    except Refusal as error:
        _hide(error, post.endpoint.secret)
        raise


async def _timed(post: _Post, client: httpx2.AsyncClient | None) -> dict[str, Json]:
    """Return the answer, with failures reported in our own words."""
    # An error of the client holds the request, and so the key. Each is therefore raised `from None`: its cause would be printed
    # with it.
    endpoint, whole = post.endpoint, post.endpoint.timeout_seconds
    # Unstreamed, the whole answer comes at the end, so silence means nothing.
    idle = None if post.on_text is None else whole * IDLE_SHARE
    try:
        async with asyncio.timeout(whole) as clock:
            timeout = httpx2.Timeout(idle, connect=CONNECT_SECONDS)
            if client is not None:
                return await _posted(post, timeout, client)
            async with new_client(endpoint) as own:
                return await _posted(post, timeout, own)
    except TimeoutError:
        # A time-out from elsewhere, such as from `on_text`, is passed on as it is.
        if not clock.expired():
            raise
        raise Disconnected("whole", f"There was no whole answer from {endpoint.url} in {duration(whole)}.") from None
    except httpx2.ProxyError as error:
        said = f"The proxy makes no connection to {endpoint.url}: {_reason(error)}"
        raise Disconnected(_connect_kind(error), said) from None
    except (httpx2.ConnectTimeout, httpx2.ConnectError) as error:
        said = f"There is no connection to {endpoint.url}: {_reason(error)}"
        raise Disconnected(_connect_kind(error), said) from None
    except httpx2.TimeoutException:
        raise Disconnected("idle", f"Nothing came from {endpoint.url} for {duration(whole * IDLE_SHARE)}.") from None
    except (httpx2.SSEError, httpx2.DecodingError) as error:
        raise Unreadable(f"The answer of {endpoint.url} cannot be read: {_reason(error)}") from None
    except httpx2.TransportError as error:
        raise Disconnected("closed", f"The connection to {endpoint.url} broke: {_reason(error)}") from None


async def _posted(post: _Post, timeout: httpx2.Timeout, client: httpx2.AsyncClient) -> dict[str, Json]:
    """Return the answer to the one request that is sent; a refusal is read up to its bound and raised."""
    endpoint, content, wire, on_text = post
    url = endpoint.url if on_text is None else endpoint.stream_url
    headers = {**endpoint.headers, **(endpoint.sign(url, content) if endpoint.sign else {})}
    async with client.stream("POST", url, content=content, headers=headers, timeout=timeout) as response:
        if not response.is_success:
            text = await _refusal_text(response)
            ok, body = parsed_finite(text)
            if response.has_redirect_location:  # not followed; the redirect itself says only that something moved
                ok, body = True, f"it redirects to {response.headers['location']}, which may be the base URL to name"
            raise Refused(response.status_code, body if ok else text, _kept(response.headers))
        # Decided by what came, not by what was asked for: some servers answer a request for a stream with a body.
        is_stream = wire_named(wire).answers.stream_type in response.headers.get("content-type", "")
        if on_text is not None and is_stream:
            return await _streamed(response, wire, on_text)
        answer = await _content(
            response, MAX_ANSWER_BYTES + 1
        )  # one byte more tells a body at the bound from one above it
        if len(answer) > MAX_ANSWER_BYTES:
            raise Unreadable(f"The answer of {endpoint.url} is above {MAX_ANSWER_BYTES:,} bytes.")
        body = read_answer(answer, wire)
        if on_text is not None and (text := wire_named(wire).answers.text(body)):  # for a server that does not stream
            on_text(text)
        return body


async def _streamed(response: httpx2.Response, wire: str, on_text: Callable[[str], object]) -> dict[str, Json]:
    """Return the body that a stream adds up to; reading stops at its last event, since some servers keep the connection open."""
    stream = AnswerStream(wire)
    try:
        async for name, data in _events(response, wire):
            if response.num_bytes_downloaded > MAX_STREAM_BYTES:
                raise Unreadable(f"The answer's stream is above {MAX_STREAM_BYTES:,} bytes.")
            if data and (text := stream.feed(data, is_error=name == "error")):
                on_text(text)
            if stream.is_ended:
                break
    except httpx2.TransportError:
        # A whole answer is paid for. Proxies that reset every connection behind it do so each time: sending again would pay again,
        # and never have an answer.
        if not stream.is_whole:
            raise
    return stream.body()


async def _events(response: httpx2.Response, wire: str) -> AsyncIterator[tuple[str, str]]:
    """Yield the name and the data of each event of a stream: server-sent events, or the nameless frames of a wire with its own."""
    frames = wire_named(wire).answers.frames
    if frames is None:
        # Events are UTF-8 whatever a header says, and may begin with a byte order mark (HTML standard, 9.2.5).
        response.encoding = "utf-8-sig"
        async for event in httpx2.EventSource(response, MAX_ANSWER_BYTES):
            yield event.event, event.data
        return
    reader = frames()
    async for block in response.aiter_bytes():
        for data in reader.feed(block):
            yield "", data


async def _refusal_text(response: httpx2.Response) -> str:
    """Return the words of an error; empty if they broke off or cannot be decompressed, since the status has come all the same."""
    try:
        return as_text(await _content(response, MAX_REFUSAL_BYTES))
    except (httpx2.DecodingError, httpx2.RemoteProtocolError, httpx2.ReadError):
        return ""


async def _content(response: httpx2.Response, max_bytes: int) -> bytes:
    """Return the body, or its first `max_bytes` if it is larger; at most one block beyond them is held."""
    content = bytearray()
    async for block in response.aiter_bytes():
        content += block
        if len(content) >= max_bytes:
            break
    return bytes(content[:max_bytes])


def _kept(headers: httpx2.Headers) -> dict[str, str]:
    """Return the headers that say when to retry and which request it was; a date as seconds, by the provider's own clock."""
    # `retry-after` may be a date (RFC 9110, 10.2.3). Relative to the `date` of the same answer it is a time to wait, whatever this
    # machine's clock says; without that it stays as it is, and `penstock.overflow` reads nothing from it.
    kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
    try:
        wait = parsedate_to_datetime(kept["retry-after"]) - parsedate_to_datetime(headers["date"])
    except (KeyError, TypeError, ValueError):
        return kept
    return {**kept, "retry-after": str(max(0, round(wait.total_seconds())))}


def _hide(error: Refusal, secret: str) -> None:
    """Replace the key by a placeholder wherever an error shows it: in its words, its body and its headers."""
    # `none` and `any` are keys too, for servers that want no key; replacing them would make nonsense of any sentence.
    if len(secret) < 8:
        return
    if isinstance(error, Refused):
        error.headers = {name: value.replace(secret, _HIDDEN) for name, value in error.headers.items()}
        if secret in str(error):
            error.body = json.loads(json.dumps(error.body).replace(secret, _HIDDEN))
    error.args = tuple(str(part).replace(secret, _HIDDEN) for part in error.args)


def _reason(error: Exception) -> str:
    """Return an error's message and that of its first cause, which alone may say why; the name of its class if there is none."""
    *_, first = _chain(error)
    return ": ".join(dict.fromkeys(filter(None, (str(error), str(first))))) or type(error).__name__


def _connect_kind(error: Exception) -> Literal["connect", "settings"]:
    """Return whether a later try may connect, or nothing but other settings helps: other certificates, or a proxy's credentials."""
    wants_credentials = isinstance(error, httpx2.ProxyError) and str(error).startswith("407")
    is_distrusted = any(isinstance(one, ssl.SSLCertVerificationError) for one in _chain(error))
    return "settings" if wants_credentials or is_distrusted else "connect"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, the newest first; of several at once, the first."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
