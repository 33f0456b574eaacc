"""How are requests sent to providers over HTTP, and their answers returned unread?

Law: a request carries its sender's headers, an answer the provider's, except hop-by-hop headers; nothing is followed, decompressed,
remembered or added. Source: RFC 9110, section 7.6.1. Imported only to serve, because the client library is. Leaves to others: what
is sent, and what an answer says.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import aiohttp
from yarl import URL

from penstock.gateway.answers import READABLE_CODINGS
from penstock.text.http_headers import end_to_end
from penstock.wires.failures import Disconnected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    Pairs = Sequence[tuple[bytes, bytes]]

CONNECT_SECONDS: Final = 30.0
"""The time limit for connecting to a provider."""
SILENCE_SECONDS: Final = 900.0
"""How long a provider may be silent: models think for minutes, and an answer that is not streamed comes all at once."""
# Shorter than servers keep idle connections, so that none is closed just as it is being used.
_IDLE_SECONDS = 20.0
_SILENT = "it said nothing for too long"


class Upstream:
    """Connections to providers, opened at the first request."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self, method: str, url: str, headers: Iterable[tuple[bytes, bytes]], body: bytes | None
    ) -> UpstreamResponse:
        """Send a request, and return its answer before the body has come.

        Args:
            method: the HTTP method.
            url: the whole address, in its final spelling.
            headers: for the provider, in UTF-8; hop-by-hop headers, and the length, are left out.
            body: all of it; None if there is none.

        Raises:
            Disconnected: the provider cannot be reached, or breaks off.
        """
        # The body is here already: the client that expected to be asked for it has been.
        left_out = (b"host", b"content-length", b"expect")
        sent = [
            (name.decode("latin-1"), (_readable(value) if name == b"accept-encoding" else value).decode())
            for name, value in end_to_end(headers)
            if name not in left_out
        ]
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a request is served in a task
        silence = _Silence(task.cancel)
        try:
            response = await self._opened().request(
                method, URL(url, encoded=True), headers=sent, data=body, allow_redirects=False
            )
        except BaseException as error:
            silence.stop()
            if silence.has_rung and isinstance(error, asyncio.CancelledError):
                task.uncancel()
                raise Disconnected("idle", _SILENT) from None
            if isinstance(error, aiohttp.ClientError | TimeoutError | OSError):
                raise _disconnected(error) from error
            raise
        return UpstreamResponse(response, silence)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS, ttl_dns_cache=60),
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                # No default headers: the request's own headers identify the client.
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
                read_bufsize=1 << 18,
                max_line_size=64 << 10,
                max_field_size=64 << 10,
            )
        return self._session

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()


class _Silence:
    """A timer that fires once a provider has been silent for `SILENCE_SECONDS`.

    When it expires it checks how long ago something came, and continues for the rest: restarting a timer for each event, as the
    client library does, is a tenth of the cost of a stream's event.

    Args:
        end: called when it fires.
    """

    def __init__(self, end: Callable[[], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self.end, self.has_rung = end, False
        self._timer = self._loop.call_later(SILENCE_SECONDS, self._look)
        self._heard_at = self._loop.time()

    def heard(self) -> None:
        """Note that something came."""
        self._heard_at = self._loop.time()

    def stop(self) -> None:
        """Stop the timer."""
        self._timer.cancel()

    def _look(self) -> None:
        left = self._heard_at + SILENCE_SECONDS - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
            return
        self.has_rung = True
        self.end()


class UpstreamResponse:
    """An answer whose body is still on its way.

    Args:
        response: the client library's response.
        silence: the request's timer, which keeps running.
    """

    def __init__(self, response: aiohttp.ClientResponse, silence: _Silence) -> None:
        self._response, self._silence = response, silence
        silence.heard()
        silence.end = response.close
        self.status = response.status
        self.headers = end_to_end(response.raw_headers)

    async def blocks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes.

        Raises:
            Disconnected: it broke off.
        """
        try:
            while block := await self._response.content.readany():
                self._silence.heard()
                yield block
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Disconnected("idle", _SILENT) if self._silence.has_rung else _disconnected(error) from error

    async def close(self) -> None:
        """Release it: a connection whose answer has not ended is closed."""
        self._silence.stop()
        self._response.close()


def _readable(value: bytes) -> bytes:
    """Return the client's codings that can be read here, otherwise `identity`; unchanged if all can."""
    codings = [coding.strip() for coding in value.decode("latin-1").split(",")]
    kept = [coding for coding in codings if coding.partition(";")[0].strip().lower() in READABLE_CODINGS]
    return ", ".join(kept or ["identity"]).encode("latin-1") if len(kept) < len(codings) else value


def _disconnected(error: Exception) -> Disconnected:
    said = str(error) or type(error).__name__
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return Disconnected("connect", said)
    return Disconnected("idle" if isinstance(error, TimeoutError) else "closed", said)
