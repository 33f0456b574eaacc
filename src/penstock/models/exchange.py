"""How does one request go out, and its answer come in? One POST on a connection of its own, in an event loop of its own.

The loop is why a time-out or a cancellation ends it wherever it is: in a name server, a handshake or a silence. Loaded with the
first model over HTTP, as httpx2 is. Law: it ends in the time it was given, holds no more than its bounds, follows no redirect,
sends nothing twice, and leaves no socket open. Keeps out: keys and addresses (`remote`), what an answer says (`reading`).
"""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING

import httpx2

from penstock.errors import CallerError, Refusal
from penstock.models.reading import AnswerStream, read_answer
from penstock.text.json_access import parsed
from penstock.wires.failures import Cancelled, Disconnected, Refused, Unreadable
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
    from typing import Any

    from penstock.text.json_access import Json

CONNECT_SECONDS = 5.0  # as both official SDKs
IDLE_SHARE = 0.5  # of the whole time: 300 of 600 seconds, as Codex waits for the next event
MAX_ANSWER_BYTES = 32 << 20  # of a body, or of one event: what Anthropic takes as a request
MAX_STREAM_BYTES = 8 * MAX_ANSWER_BYTES  # OpenAI wraps a token of 4 bytes in 250
MAX_REFUSAL_BYTES = 65_536  # as much as `penstock.overflow` reads as JSON
POLL_SECONDS = 0.05  # between two looks at `cancelled`
_HIDDEN = "[key]"
_KEPT_HEADERS = ("retry-after", "retry-after-ms", "request-id", "x-request-id", "x-amzn-requestid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where requests go, and as whom. `direct` is past any proxy that the environment names."""

    url: str
    stream_url: str
    headers: Mapping[str, str] = field(repr=False)
    sign: Callable[[str, bytes], Mapping[str, str]] | None = field(repr=False)
    """The headers that sign a request, given its address and its body; None where a key is among the headers."""
    secret: str = field(repr=False)
    timeout_seconds: float
    direct: bool


def exchange(
    endpoint: Endpoint,
    content: bytes,
    wire: str,
    *,
    on_text: Callable[[str], object] | None,
    cancelled: Callable[[], bool],
) -> dict[str, Json]:
    """The body of the answer.

    Raises:
        RequestRefused, Disconnected, UnreadableAnswer, Cancelled: As the answer goes; and what `on_text` raises.
    """
    left = threading.Event()

    def look() -> None:
        if left.is_set() or cancelled():
            raise Cancelled("The request was cancelled; no answer is awaited any more.")

    def tell(text: str) -> None:
        look()
        if on_text is not None:
            on_text(text)

    work = _watched(_answer(endpoint, content, wire, tell if on_text is not None else None), look)
    if not _in_a_loop():
        return _run(work)
    with ThreadPoolExecutor(1, "penstock-exchange") as pool:  # in a notebook, say: a loop runs here, and holds no other
        try:
            return pool.submit(_run, work).result()
        finally:
            left.set()


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run(work: Coroutine[Any, Any, dict[str, Json]]) -> dict[str, Json]:
    """As `asyncio.run`, which would wait at the end for a name server that does not answer."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(_end())
        loop.close()


async def _end() -> None:
    """Ends whatever is under way, so that it closes what it opened."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


async def _watched(work: Coroutine[Any, Any, dict[str, Json]], look: Callable[[], None]) -> dict[str, Json]:
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            look()
            await asyncio.wait({task}, timeout=POLL_SECONDS)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)  # looks at its error too, or asyncio would print it
    return task.result()


async def _answer(
    endpoint: Endpoint, content: bytes, wire: str, on_text: Callable[[str], object] | None
) -> dict[str, Json]:
    """The answer; no error shows the key, though a server repeats it."""
    try:
        return await _timed(endpoint, content, wire, on_text)
    except Refusal as error:
        _hide(error, endpoint.secret)
        raise


async def _timed(
    endpoint: Endpoint, content: bytes, wire: str, on_text: Callable[[str], object] | None
) -> dict[str, Json]:
    """The answer, its troubles told in our own words: an error of the client holds the request, and so the key."""
    whole = endpoint.timeout_seconds
    idle = None if on_text is None else whole * IDLE_SHARE  # unstreamed, all of it comes at the end
    try:
        async with asyncio.timeout(whole) as clock:
            return await _posted(endpoint, content, wire, on_text, httpx2.Timeout(idle, connect=CONNECT_SECONDS))
    except TimeoutError:
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
    try:
        client = httpx2.AsyncClient(timeout=timeout, verify=_certificates(), trust_env=not endpoint.direct)
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        raise CallerError(f"The proxy that the environment names cannot be used: {error}") from None
    url = endpoint.url if on_text is None else endpoint.stream_url
    headers = {**endpoint.headers, **(endpoint.sign(url, content) if endpoint.sign else {})}
    async with client, client.stream("POST", url, content=content, headers=headers) as response:
        if not response.is_success:
            text = (await _content(response, MAX_REFUSAL_BYTES)).decode("utf-8", "replace")
            ok, body = parsed(text)
            raise Refused(response.status_code, body if ok else text, _kept(response.headers))
        is_stream = wire_named(wire).answers.stream_type in response.headers.get("content-type", "")
        if on_text is not None and is_stream:
            return await _streamed(response, wire, on_text)
        answer = await _content(response, MAX_ANSWER_BYTES + 1)
        if len(answer) > MAX_ANSWER_BYTES:
            raise Unreadable(f"The answer of {endpoint.url} is above {MAX_ANSWER_BYTES:,} bytes.")
        body = read_answer(answer, wire)
        if on_text is not None and (text := wire_named(wire).answers.text(body)):  # a server that does not stream
            on_text(text)
        return body


async def _streamed(response: httpx2.Response, wire: str, on_text: Callable[[str], object]) -> dict[str, Json]:
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
    """The data of each event of a stream."""
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
    """The body, or the beginning of one that is larger."""
    content = bytearray()
    async for block in response.aiter_bytes():
        content += block
        if len(content) >= max_bytes:
            break
    return bytes(content[:max_bytes])


def _kept(headers: httpx2.Headers) -> dict[str, str]:
    """What of the headers tells when to try again; a date as seconds, by the provider's own clock."""
    kept = {name: headers[name] for name in _KEPT_HEADERS if name in headers}
    try:
        wait = parsedate_to_datetime(kept["retry-after"]) - parsedate_to_datetime(headers["date"])
    except (KeyError, TypeError, ValueError):
        return kept
    return {**kept, "retry-after": str(max(0, round(wait.total_seconds())))}


def _hide(error: Refusal, secret: str) -> None:
    if len(secret) < 8:  # `none` and `any` are keys too, of servers that want no key
        return
    if isinstance(error, Refused):
        error.headers = {name: value.replace(secret, _HIDDEN) for name, value in error.headers.items()}
        if secret in str(error):
            error.body = json.loads(json.dumps(error.body).replace(secret, _HIDDEN))
    error.args = tuple(str(part).replace(secret, _HIDDEN) for part in error.args)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()  # 70 ms: once, not with every request
