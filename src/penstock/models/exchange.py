"""How does one request go out, and its answer come in? One POST on a connection of its own, in an event loop of its own.

The loop is why a time-out or a cancellation ends it wherever it is. A blocking call can be ended only where it looks up, and a name
server, a handshake or a server that thinks for minutes does not; a task can be cancelled in any of them. The layers, from outside:

    exchange    finds a loop to run in, and turns `cancelled` and `on_text` into questions and answers of that loop
    _watched    asks every 50 ms whether the request is still wanted, and cancels the rest where it is not
    _answer     takes the key out of every error that leaves
    _timed      sets the time-outs, and says in our words what went wrong
    _posted     sends, and reads a refusal, a body or a stream

Every way out of `_watched` cancels the task and waits for it, so that its sockets are closed before the error or the answer is
seen. Nothing is tried again here: whether a request may be sent twice only the caller knows, who also knows what it may cost.

Laws: it ends in the time it was given, holds no more than its bounds, follows no redirect, sends nothing twice, and leaves no
socket open. Loaded with the first model over HTTP, as httpx2 is. Keeps out: keys and addresses (`remote`), what an answer says
(`reading`), retries (`session`).
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING

import httpx2

from penstock.errors import CallerError, Refusal
from penstock.models.reading import AnswerStream, read_answer
from penstock.text.json_access import parsed_finite
from penstock.wires.failures import Cancelled, Disconnected, Refused, Unreadable
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
    from typing import Any

    from penstock.text.json_access import Json

CONNECT_SECONDS = 5.0
"""How long a connection may take to be made, as in both official SDKs."""
# 300 of 600 seconds, as Codex waits for the next event.
IDLE_SHARE = 0.5
"""Which part of the whole time a stream may be silent."""
# As much as Anthropic takes as a request.
MAX_ANSWER_BYTES = 32 << 20
"""The largest body, and the largest single event, that is read."""
# OpenAI wraps a token of 4 bytes in an event of 250: that is 268,000 tokens, twice the longest answer of any model. A stream
# without end is held until here, several times over while its pieces are joined.
MAX_STREAM_BYTES = 2 * MAX_ANSWER_BYTES
"""How many bytes of a stream are read in all."""
# As much as `penstock.overflow` reads as JSON.
MAX_REFUSAL_BYTES = 65_536
"""How much of an error's body is read; the rest is left."""
POLL_SECONDS = 0.05
"""How long a cancellation may go unseen."""
_HIDDEN = "[key]"
# When to try again, and by which number the provider knows the request.
_KEPT_HEADERS = ("retry-after", "retry-after-ms", "request-id", "x-request-id", "x-amzn-requestid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where requests go, and as whom."""

    url: str
    """The address of unstreamed answers."""
    stream_url: str
    """The address of streamed answers, the same on most APIs."""
    headers: Mapping[str, str] = field(repr=False)
    sign: Callable[[str, bytes], Mapping[str, str]] | None = field(repr=False)
    """The headers that sign a request, given its address and its body; None where a key is among the headers."""
    secret: str = field(repr=False)
    """The key, to be taken out of what a server repeats; empty where there is none."""
    timeout_seconds: float
    """How long a whole answer may take."""
    direct: bool
    """Whether to go past any proxy that the environment names: none stands before this machine."""


def exchange(
    endpoint: Endpoint,
    content: bytes,
    wire: str,
    *,
    on_text: Callable[[str], object] | None,
    cancelled: Callable[[], bool],
) -> dict[str, Json]:
    """Return the body of the answer to one request.

    Args:
        endpoint: where it goes, and as whom.
        content: the request's body, as it goes out.
        wire: the name of the wire that the answer is read as.
        on_text: is called with each piece of the words, and asks for a stream; None for an answer that comes whole.
        cancelled: whether the request is no longer wanted; asked every 50 ms, and before each piece is told.

    Raises:
        Refused: for an error of the provider.
        Disconnected: where no answer came, or not to its end.
        Unreadable: for an answer that is none of the wire, or larger than any.
        Cancelled: where `cancelled` said so.
        CallerError: for a proxy that cannot be used.
        Exception: whatever `on_text` or `cancelled` raises, after the socket is closed.
    """
    left = threading.Event()  # whoever waits for the other thread has gone: an interrupt, say

    def look() -> None:
        if left.is_set() or cancelled():
            raise Cancelled("The request was cancelled; no answer is awaited any more.")

    def tell(text: str) -> None:
        look()  # nothing is told after a cancellation, though it came with the same block
        if on_text is not None:
            on_text(text)

    work = _watched(_answer(endpoint, content, wire, tell if on_text is not None else None), look)
    if not _in_a_loop():
        return _run(work)
    # In a notebook, say, a loop runs in this thread already, and a thread holds one: the exchange gets a thread of its own.
    with ThreadPoolExecutor(1, "penstock-exchange") as pool:
        try:
            return pool.submit(_run, work).result()
        finally:
            left.set()


def _in_a_loop() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run(work: Coroutine[Any, Any, dict[str, Json]]) -> dict[str, Json]:
    """Return what a coroutine returns, in a loop of its own."""
    # As `asyncio.run`, but for its end: that one joins the threads in which names are looked up, and so waits for a name server
    # that does not answer, after the time is over.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(_end())
        loop.close()


async def _end() -> None:
    """Cancel whatever is under way in this loop, and wait until it has closed what it opened."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


async def _watched(work: Coroutine[Any, Any, dict[str, Json]], look: Callable[[], None]) -> dict[str, Json]:
    """Return what the work returns, asking `look` meanwhile; what that raises ends the work."""
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            look()
            await asyncio.wait({task}, timeout=POLL_SECONDS)
    finally:
        task.cancel()
        # This looks at its error too, or asyncio would print it.
        await asyncio.gather(task, return_exceptions=True)
    return task.result()


async def _answer(
    endpoint: Endpoint, content: bytes, wire: str, on_text: Callable[[str], object] | None
) -> dict[str, Json]:
    """Return the answer; no error shows the key, though a server repeats it."""
    try:
        return await _timed(endpoint, content, wire, on_text)
    except Refusal as error:
        _hide(error, endpoint.secret)
        raise


async def _timed(
    endpoint: Endpoint, content: bytes, wire: str, on_text: Callable[[str], object] | None
) -> dict[str, Json]:
    """Return the answer, its troubles told in our own words."""
    # An error of the client holds the request, and so the key. That is why each is raised `from None`: its cause would be printed
    # with it.
    whole = endpoint.timeout_seconds
    # Unstreamed, all of the answer comes at the end, so that silence means nothing.
    idle = None if on_text is None else whole * IDLE_SHARE
    try:
        async with asyncio.timeout(whole) as clock:
            return await _posted(endpoint, content, wire, on_text, httpx2.Timeout(idle, connect=CONNECT_SECONDS))
    except TimeoutError:
        # One that is not the clock's is `on_text`'s own, say, and comes out as it is.
        if not clock.expired():
            raise
        raise Disconnected("whole", f"There was no whole answer from {endpoint.url} in {whole:g} s.") from None
    except (httpx2.ConnectTimeout, httpx2.ConnectError, httpx2.ProxyError) as error:
        raise Disconnected("connect", f"There is no connection to {endpoint.url}: {_reason(error)}") from None
    except httpx2.TimeoutException:
        raise Disconnected("idle", f"Nothing came from {endpoint.url} for {whole * IDLE_SHARE:g} s.") from None
    except (httpx2.SSEError, httpx2.DecodingError) as error:
        raise Unreadable(f"The answer of {endpoint.url} cannot be read: {_reason(error)}") from None
    except httpx2.TransportError as error:
        raise Disconnected("closed", f"The connection to {endpoint.url} broke: {_reason(error)}") from None


async def _posted(
    endpoint: Endpoint,
    content: bytes,
    wire: str,
    on_text: Callable[[str], object] | None,
    timeout: httpx2.Timeout,
) -> dict[str, Json]:
    """Return the answer to the one request that is sent; a refusal is read as far as its bound and raised."""
    try:
        client = httpx2.AsyncClient(timeout=timeout, verify=_trusted(endpoint), trust_env=not endpoint.direct)
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        raise CallerError(f"The proxy that the environment names cannot be used: {error}") from None
    url = endpoint.url if on_text is None else endpoint.stream_url
    headers = {**endpoint.headers, **(endpoint.sign(url, content) if endpoint.sign else {})}
    async with client, client.stream("POST", url, content=content, headers=headers) as response:
        if not response.is_success:
            text = (await _content(response, MAX_REFUSAL_BYTES)).decode("utf-8", "replace")
            ok, body = parsed_finite(text)
            raise Refused(response.status_code, body if ok else text, _kept(response.headers))
        # By what came, not by what was asked for: some servers answer a request for a stream with a body.
        is_stream = wire_named(wire).answers.stream_type in response.headers.get("content-type", "")
        if on_text is not None and is_stream:
            return await _streamed(response, wire, on_text)
        answer = await _content(
            response, MAX_ANSWER_BYTES + 1
        )  # one byte more tells a body at its bound from one above
        if len(answer) > MAX_ANSWER_BYTES:
            raise Unreadable(f"The answer of {endpoint.url} is above {MAX_ANSWER_BYTES:,} bytes.")
        body = read_answer(answer, wire)
        if on_text is not None and (text := wire_named(wire).answers.text(body)):  # a server that does not stream
            on_text(text)
        return body


async def _streamed(response: httpx2.Response, wire: str, on_text: Callable[[str], object]) -> dict[str, Json]:
    """Return the body that a stream adds up to; left at its last event, since some servers keep the connection open."""
    stream = AnswerStream(wire)
    async for data in _events(response, wire):
        if response.num_bytes_downloaded > MAX_STREAM_BYTES:
            raise Unreadable(f"The answer's stream is above {MAX_STREAM_BYTES:,} bytes.")
        if data and (text := stream.feed(data)):
            on_text(text)
        if stream.is_ended:
            break
    return stream.body()


async def _events(response: httpx2.Response, wire: str) -> AsyncIterator[str]:
    """Yield the data of each event of a stream: server-sent events, or the frames of a wire that has its own."""
    frames = wire_named(wire).answers.frames
    if frames is None:
        async for event in httpx2.EventSource(response, MAX_ANSWER_BYTES):
            yield event.data
        return
    reader = frames()
    async for block in response.aiter_bytes():
        for data in reader.feed(block):
            yield data


async def _content(response: httpx2.Response, max_bytes: int) -> bytes:
    """Return the body, or its first `max_bytes` where it is larger; no more than a block beyond them is held."""
    content = bytearray()
    async for block in response.aiter_bytes():
        content += block
        if len(content) >= max_bytes:
            break
    return bytes(content[:max_bytes])


def _kept(headers: httpx2.Headers) -> dict[str, str]:
    """Return the headers that tell when to try again and which request it was; a date as seconds, by the provider's own clock."""
    # `retry-after` may be a date (RFC 9110, 10.2.3). Held against the `date` of the same answer it is a time to wait, whatever
    # this machine's clock says; without that it stays as it is, and `penstock.overflow` reads nothing from it.
    kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
    try:
        wait = parsedate_to_datetime(kept["retry-after"]) - parsedate_to_datetime(headers["date"])
    except (KeyError, TypeError, ValueError):
        return kept
    return {**kept, "retry-after": str(max(0, round(wait.total_seconds())))}


def _hide(error: Refusal, secret: str) -> None:
    """Put a placeholder where an error shows the key: in its words, its body and its headers."""
    # `none` and `any` are keys too, of servers that want no key; replaced, they would make nonsense of any sentence.
    if len(secret) < 8:
        return
    if isinstance(error, Refused):
        error.headers = {name: value.replace(secret, _HIDDEN) for name, value in error.headers.items()}
        if secret in str(error):
            error.body = json.loads(json.dumps(error.body).replace(secret, _HIDDEN))
    error.args = tuple(str(part).replace(secret, _HIDDEN) for part in error.args)


def _reason(error: Exception) -> str:
    """Return what an error says, or its name where it says nothing."""
    return str(error) or type(error).__name__


def _trusted(endpoint: Endpoint) -> ssl.SSLContext:
    """Return whom to trust: nobody where no connection is encrypted, since reading all certificates takes so long."""
    return _nobody() if endpoint.direct and endpoint.url.startswith("http:") else _certificates()


@cache
def _nobody() -> ssl.SSLContext:
    """Return a context that trusts nobody, made once: a tenth of a request to this machine is to make one."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@cache
def _certificates() -> ssl.SSLContext:
    """Return the certificates to trust, read once: it takes 70 ms."""
    return httpx2.create_ssl_context()
