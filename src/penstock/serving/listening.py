"""Who may call us over HTTP? Requests that name this machine: the names by which we are known.

A page in a browser can have its own name resolve to 127.0.0.1. It then sends its own name, in `Host` and in `Origin`, and is
refused before anything is read. Law: nothing is served to a request that names another host or comes from a page of another origin.
Leaves to others: what is served.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.serving.addresses import is_address, is_loopback
from penstock.text.http_headers import values_of

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator, Mapping

    from penstock.serving.asgi import App

_BACKLOG = 256


def listen(
    address: str,
    *,
    i_know: bool = False,
    flag: str = "--http",
    opened_by: str = "--i-know",
    is_shared: bool = False,
) -> socket.socket:
    """Return a listening socket for an address.

    Args:
        address: HOST:PORT, an IPv6 host in brackets; port 0 takes any free port.
        i_know: Whether an address that other machines reach is accepted: nothing here is encrypted.
        flag: The flag that gave the address, for errors.
        opened_by: The flag by which the command accepts such an address, for errors.
        is_shared: Whether other processes of the same user may listen there too, as when one takes over from another.

    Raises:
        CallerError: The address is invalid, is not loopback, or is in use.
    """
    host, colon, port = address.rpartition(":")
    host = host.strip("[]")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise CallerError(f"{flag} takes HOST:PORT, for example 127.0.0.1:8377, not {address}")
    if not is_loopback(host) and not i_know:
        raise CallerError(
            f"{flag} {address}: {host or 'every interface'} can be reached from other machines, and nothing here is "
            f"encrypted. Use 127.0.0.1, or {opened_by} behind a server that speaks TLS."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol must be named: only then does asyncio set TCP_NODELAY on accepted connections.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared and hasattr(socket, "SO_REUSEPORT"):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind((host, int(port)))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise CallerError(f"{flag} {address}: {error.strerror}") from error
    listening.setblocking(False)
    return listening


async def serve_app(
    app: App,
    listening: socket.socket,
    stop: Callable[[Callable[[], None]], None],
    *,
    connection: type[asyncio.Protocol] | None = None,
    graceful_seconds: int = 2,
) -> None:
    """Serve an ASGI application until the function that was passed to `stop` is called.

    Args:
        app: The application.
        listening: What `listen` made.
        stop: Receives the function that ends serving; called again, it ends what is in progress.
        connection: The protocol class that reads from a client; `Connection` by default.
        graceful_seconds: How long answers in progress then have.
    """
    import logging
    from contextlib import contextmanager

    import uvicorn

    from penstock.serving.connections import IDLE_SECONDS, Connection

    # It warns of each line that is not HTTP, without saying who sent it.
    logging.getLogger("uvicorn").setLevel(logging.ERROR)

    class Quiet(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Generator[None]:
            yield  # the door handles them

    config = uvicorn.Config(
        app,
        http=connection or Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=int(IDLE_SECONDS),
        timeout_graceful_shutdown=graceful_seconds,
        h11_max_incomplete_event_size=32 << 10,
    )
    web = Quiet(config)

    def end() -> None:
        web.force_exit = web.should_exit
        web.should_exit = True

    stop(end)
    await web.serve(sockets=[listening])


def served_url(listening: socket.socket, path: str = "") -> str:
    """Return the HTTP URL of a listening socket, for a client.

    Args:
        listening: The socket.
        path: What follows the address, from its slash on.
    """
    host, port = listening.getsockname()[:2]
    # RFC 3986 puts an IPv6 address in brackets, RFC 6874 escapes the sign before its zone.
    shown = f"[{host.replace('%', '%25')}]" if ":" in host else host
    return f"http://{shown}:{port}{path}"


class ServedNames:
    """The names by which requests may address a server.

    Args:
        host: Where its socket listens.
        port: The port, likewise.
    """

    def __init__(self, host: str, port: int) -> None:
        self._any_address = not is_loopback(host)
        names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
        self._hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())

    def refusal(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return the status and the reason why a request is refused; None if it addresses us.

        Args:
            headers: Names in lower case, with their values.
        """
        hosts, origins = values_of(headers, b"host"), values_of(headers, b"origin")
        if len(hosts) != 1 or len(origins) > 1:
            return 400, "One Host header and at most one Origin"
        if not self._has(hosts[0]):
            return 421, "This server does not serve that Host"
        # `Origin` names the page that asks. Nothing here speaks TLS, so an https page is always foreign.
        if origins and not (origins[0].startswith("http://") and self._has(origins[0][7:])):
            return 403, "This server does not serve pages of that Origin"
        return None

    def _has(self, host: str) -> bool:
        """Return whether `host`, with its port, names this server."""
        if host.lower() in self._hosts:
            return True
        # An address cannot be rebound by DNS; names other than ours can.
        return self._any_address and is_address(host.rpartition(":")[0].strip("[]"))


def is_of_another_site(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether another site's page makes a request, other than by a link to one of our pages.

    Args:
        headers: Names in lower case, with their values.
    """
    site = headers.get(b"sec-fetch-site", b"none")
    return site not in {b"none", b"same-origin"} and headers.get(b"sec-fetch-dest") != b"document"
