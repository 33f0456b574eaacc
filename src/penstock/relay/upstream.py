"""How are requests sent to a server over HTTP, and its answers read?

Redirects are followed within the server's origin only: a header with a token is meant for that. Law: a body is decoded only if it
must be read. Leaves to others: what the requests say.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.text.http_headers import end_to_end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    import httpx2

_CONNECT_SECONDS = 30.0
_REDIRECTS = 5
_KEEPS_METHOD = frozenset({307, 308})


class Upstream:
    """A server at a URL.

    Args:
        url: its endpoint.
        headers: additional headers of every request.

    Raises:
        CallerError: the URL is not an HTTP URL.
    """

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        import httpx2

        try:
            self.url = httpx2.URL(url)
        except httpx2.InvalidURL as error:
            raise CallerError(f"--url {url}: {error}") from error
        if self.url.scheme not in {"http", "https"} or not self.url.host:
            raise CallerError(f"--url takes an address such as http://127.0.0.1:8000/mcp, by http or https, not {url}")
        self._headers = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
        # No read timeout: a tool may work for an hour, and the host's own limit is the one that its user knows.
        timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
        self._client = httpx2.AsyncClient(timeout=timeout, limits=limits)
        # No default headers: the request's own headers identify the host.
        self._client.headers.clear()

    @property
    def origin(self) -> bytes:
        """The scheme, host and port of the server, as its own pages would send them."""
        return f"{self.url.scheme}://{self.url.netloc.decode()}".encode()

    @asynccontextmanager
    async def send(
        self, method: str, headers: Sequence[tuple[bytes, bytes]], body: bytes, target: httpx2.URL | None = None
    ) -> AsyncIterator[httpx2.Response]:
        """Send one request, and yield the response before its body has come.

        Args:
            method: the HTTP method.
            headers: for the server; hop-by-hop headers are left out.
            body: all of it.
            target: where it goes; by default the endpoint.

        Raises:
            httpx2.HTTPError: the server cannot be reached, or breaks off.
        """
        own = {name for name, _ in self._headers}
        left_out = own | {b"host", b"content-length", b"accept-encoding"}
        sent = [(name, value) for name, value in end_to_end(headers) if name not in left_out]
        # Bodies are read, and an unencoded one need not be decoded.
        sent += [*self._headers, (b"accept-encoding", b"identity")]
        response = await self._send(method, target or self.url, sent, body)
        # By hand, because the client's own redirect handling would turn a POST into a GET at some statuses and take tokens
        # elsewhere.
        for _ in range(_REDIRECTS):
            following = response.next_request
            if response.status_code not in _KEEPS_METHOD or following is None or not self._is_ours(following.url):
                break
            await response.aclose()
            response = await self._send(method, following.url, sent, body)
        try:
            yield response
        finally:
            await response.aclose()

    async def _send(
        self, method: str, target: httpx2.URL, headers: Sequence[tuple[bytes, bytes]], body: bytes
    ) -> httpx2.Response:
        request = self._client.build_request(method, target, headers=list(headers), content=body or None)
        return await self._client.send(request, stream=True)

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    def _is_ours(self, url: httpx2.URL) -> bool:
        return (url.scheme, url.netloc) == (self.url.scheme, self.url.netloc)
