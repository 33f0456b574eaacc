"""Which connection does a request use? A new one, or the one that its thread kept from its previous request.

Creating a loop, a client and a connection takes two thirds of the processor time of a request to this machine (2.3 ms and 0.8), and
three round trips and a handshake before the first byte of one to a provider. A caller that sends many in sequence can keep them:

    with KeptConnections() as kept:
        model = load_model("anthropic:claude-sonnet-5", connections=kept)

Laws: a connection carries one request at a time and belongs to one thread; a connection that broke, was abandoned before its
end, or was idle for a second is not reused; no cookie is kept; when `close` returns, no socket is open. Leaves to others: what is
sent, and how long it may take (`exchange`).
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from dataclasses import dataclass, field
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any

import httpx2

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from penstock.text.json_access import Json

    Work = Callable[[httpx2.AsyncClient | None], Coroutine[Any, Any, dict[str, Json]]]

# Gunicorn closes idle connections after 2 s, uvicorn and Node after 5, nginx after 75. A request that goes out just as the other
# end closes is lost, and nobody knows whether it was read.
KEPT_SECONDS = 1.0
"""How long a connection may be idle and still carry another request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where requests go, and as whom."""

    url: str
    """The address of unstreamed answers."""
    stream_url: str
    """The address of streamed answers, the same on most APIs."""
    headers: Mapping[str, str] = field(repr=False)
    sign: Callable[[str, bytes], Mapping[str, str]] | None = field(repr=False)
    """A function that returns the signing headers of a request, given its address and its body; None if a key is among the
    headers.
    """
    secret: str = field(repr=False)
    """The key, to be removed from what a server repeats; empty if there is none."""
    timeout_seconds: float
    """How long a whole answer may take."""
    direct: bool
    """Whether to bypass any proxy that the environment names: there is none in front of this machine."""


class KeptConnections:
    """Connections that are kept between requests, one for each thread that sends; threads share the object.

    Closed by `with`, or by `close`, once no thread sends any more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loops: list[_ThreadLoop] = []
        self._own = threading.local()

    def __enter__(self) -> KeptConnections:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open; a thread that sends afterwards opens a new connection."""
        with self._lock:
            loops, self._loops, self._own = self._loops, [], threading.local()
        for one in loops:
            one.close()

    def run(self, endpoint: Endpoint, work: Work) -> dict[str, Json]:
        """Run some work in this thread's loop, with the client that this thread kept, and return its result.

        Raises:
            CallerError: A proxy, or the certificates that the environment names, cannot be used.
            Exception: Whatever the work raises, once nothing of it is running any more.
        """
        own: _ThreadLoop | None = getattr(self._own, "loop", None)
        if own is None:
            own = self._own.loop = _ThreadLoop()
            with self._lock:
                self._loops.append(own)
        return own.run(endpoint, work)


class _ThreadLoop:
    """An event loop, and its clients: one for each kind of connection to an endpoint."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._clients: dict[tuple[bool, bool], httpx2.AsyncClient] = {}

    def run(self, endpoint: Endpoint, work: Work) -> dict[str, Json]:
        way = endpoint.direct, endpoint.url.startswith("http:")
        client = self._clients.get(way)
        if client is None:
            client = self._clients[way] = new_client(endpoint)
        try:
            return self._loop.run_until_complete(work(client))
        except BaseException:
            # An interrupt leaves its request running; any other error has ended it already.
            self._loop.run_until_complete(_cancel_rest())
            raise

    def close(self) -> None:
        for client in self._clients.values():
            self._loop.run_until_complete(client.aclose())
        self._loop.run_until_complete(_end_loop())
        self._loop.close()


def run_once(work: Work) -> dict[str, Json]:
    """Run some work that opens its own connection in a new loop, and return its result."""
    # Like `asyncio.run`, except at its end: that one joins the threads that look up names, and so waits for a name server that does
    # not answer after the time is up.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work(None))
    finally:
        loop.run_until_complete(_end_loop())
        loop.close()


async def _end_loop() -> None:
    await _cancel_rest()
    await asyncio.get_running_loop().shutdown_asyncgens()


async def _cancel_rest() -> None:
    """Cancel everything running in this loop, and wait until it has closed what it opened."""
    await asyncio.sleep(0)  # a generator that was left in the middle is closed by a task that the loop creates only now
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def new_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    """Return a client for an endpoint that keeps one connection briefly, and no cookies.

    Raises:
        CallerError: The proxy or the certificates that the environment names cannot be used.
    """
    try:
        return httpx2.AsyncClient(
            verify=_trusted(endpoint),
            trust_env=not endpoint.direct,
            limits=httpx2.Limits(max_keepalive_connections=1, keepalive_expiry=KEPT_SECONDS),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        )
    except OSError as error:  # whatever is wrong with them, an error of `ssl` is one
        said = f"The certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be used: {error}"
        raise CallerError(said) from None
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        raise CallerError(f"The proxy that the environment names cannot be used: {error}") from None


def _trusted(endpoint: Endpoint) -> ssl.SSLContext:
    """Return whom to trust: nobody if no connection is encrypted, since reading all certificates takes long."""
    return _nobody() if endpoint.direct and endpoint.url.startswith("http:") else _certificates()


@cache
def _nobody() -> ssl.SSLContext:
    """Return a context that trusts nobody, made once: making one takes a tenth of a request to this machine."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@cache
def _certificates() -> ssl.SSLContext:
    """Return the certificates to trust, read once: it takes 70 ms."""
    return httpx2.create_ssl_context()
