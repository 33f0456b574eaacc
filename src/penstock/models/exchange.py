"""How does one request go out, and its answer come in? One POST in an event loop that nothing else runs in.

The loop is why a time-out or a cancellation ends it wherever it is. A blocking call can be ended only where it looks up, and a name
server, a handshake or a server that thinks for minutes does not; a task can be cancelled in any of them. The layers, from outside:

    exchange    finds a loop to run in, and turns `cancelled` and `on_text` into questions and answers of that loop
    _watched    asks every 50 ms whether the request is still wanted, and cancels it where it is not
    _answer     takes the key out of every error that leaves
    _timed      sets the time-outs, and says in our words what went wrong
    _posted     sends, and reads a refusal, a body or a stream

Before the error or the answer is seen, its socket is closed, or, where connections are kept and the answer was whole, at rest.
Nothing is tried again here: whether a request may be sent twice only the caller knows, who also knows what it may cost.

Laws: it ends in the time it was given, holds no more than its bounds, follows no redirect, sends nothing twice, and leaves no
socket open that nobody wanted kept. Loaded with the first model over HTTP, as httpx2 is. Keeps out: keys and addresses (`remote`),
loops and connections (`connecting`), what an answer says (`reading`), retries (`session`).
"""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import httpx2

from penstock.errors import Refusal
from penstock.models.connecting import new_client, run_once
from penstock.models.reading import AnswerStream, read_answer
from penstock.text.json_access import parsed_finite
from penstock.wires.failures import Cancelled, Disconnected, Refused, Unreadable
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from typing import Any

    from penstock.models.connecting import Endpoint, KeptConnections
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
        on_text: is called with each piece of the words, and asks for a stream; None for an answer that comes whole.
        cancelled: whether the request is no longer wanted; asked every 50 ms, and before each piece is told.
        connections: whose connection of this thread it takes, and leaves there; None for one that is made for it and closed.

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

    def work(client: httpx2.AsyncClient | None) -> Coroutine[Any, Any, dict[str, Json]]:
        return _watched(_answer(endpoint, content, wire, tell if on_text is not None else None, client), look)

    if not _in_a_loop():
        return run_once(work) if connections is None else connections.run(endpoint, work)
    # In a notebook, say, a loop runs in this thread already, and a thread holds one: the exchange gets a thread of its own.
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
    """Return what the work returns, asking `look` meanwhile; what that raises ends the work, and comes out in its place."""
    try:
        look()  # before the first byte goes out
    except BaseException:
        work.close()
        raise
    # A timer beside the work, not a task: a task to wait in takes as much processor time as all that is done for the request.
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
    # Not within the handler: the error that ended the work may hold the request, and so the key.
    raise raised[0]


async def _answer(
    endpoint: Endpoint,
    content: bytes,
    wire: str,
    on_text: Callable[[str], object] | None,
    client: httpx2.AsyncClient | None,
) -> dict[str, Json]:
    """Return the answer; no error shows the key, though a server repeats it."""
    try:
        return await _timed(endpoint, content, wire, on_text, client)
    except Refusal as error:
        _hide(error, endpoint.secret)
        raise


async def _timed(
    endpoint: Endpoint,
    content: bytes,
    wire: str,
    on_text: Callable[[str], object] | None,
    client: httpx2.AsyncClient | None,
) -> dict[str, Json]:
    """Return the answer, its troubles told in our own words."""
    # An error of the client holds the request, and so the key. That is why each is raised `from None`: its cause would be printed
    # with it.
    whole = endpoint.timeout_seconds
    # Unstreamed, all of the answer comes at the end, so that silence means nothing.
    idle = None if on_text is None else whole * IDLE_SHARE
    try:
        async with asyncio.timeout(whole) as clock:
            timeout = httpx2.Timeout(idle, connect=CONNECT_SECONDS)
            if client is not None:
                return await _posted(endpoint, content, wire, on_text, timeout, client)
            async with new_client(endpoint) as own:
                return await _posted(endpoint, content, wire, on_text, timeout, own)
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
    client: httpx2.AsyncClient,
) -> dict[str, Json]:
    """Return the answer to the one request that is sent; a refusal is read as far as its bound and raised."""
    url = endpoint.url if on_text is None else endpoint.stream_url
    headers = {**endpoint.headers, **(endpoint.sign(url, content) if endpoint.sign else {})}
    async with client.stream("POST", url, content=content, headers=headers, timeout=timeout) as response:
        if not response.is_success:
            text = (await _content(response, MAX_REFUSAL_BYTES)).decode("utf-8", "replace")
            ok, body = parsed_finite(text)
            if response.has_redirect_location:  # it is not followed, and says itself no more than that something moved
                ok, body = True, f"it redirects to {response.headers['location']}, which may be the base URL to name"
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
