"""Which HTTP connections are closed? Those that hold on without working: timeouts and a bounded number for uvicorn's HTTP/1.1.

Both of uvicorn's parsers are covered. A connection that is merely held open gives way to a new one, and so does one refused for
lack of the token, so that half-sent requests keep nobody out. Law: a connection that sends no whole header within `HEADER_SECONDS`,
or reads nothing for `STALLED_SECONDS`, is closed; never more than `MAX_CONNECTIONS` are open. Imported only to serve HTTP, because
it imports uvicorn. Leaves to others: what a request says.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from penstock.serving.addresses import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable

ADMITTED = "penstock.admitted"
"""The key in a request's ASGI scope that marks its sender as having the token."""
HEADER_SECONDS = 5.0
"""How long a header may take from its first byte; a timer that restarted at each byte would never expire."""
STALLED_SECONDS = 30.0
"""How long a client may read nothing of an answer; a client that reads slowly but steadily may take as long as it needs."""
IDLE_SECONDS = 60.0
"""How long a connection may idle between two requests."""
OF_CONNECTION = "penstock.connection"
"""The key, in the `state` of a request, of the dictionary that all requests of its connection share."""
ABORT = "abort"
"""The key, in that dictionary, of a function that ends the connection at once, so that a truncated answer does not look complete.
"""
LOST = "lost"
"""The key, in that dictionary, of a set of functions, each of which is called once the connection is lost."""
MAX_CONNECTIONS = 256
"""Connections open at once."""
MAX_CONNECTIONS_PER_PEER = 32
"""Connections from one address; not on loopback, where an address names nobody."""

_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Clocked(asyncio.Protocol):
    """One HTTP connection, with a timer for each direction; a mixin before uvicorn's protocol class."""

    # Attributes that uvicorn's classes have in common without a common base.
    cycle: Any
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    connections: set[Any]
    client: tuple[str, int] | None
    app_state: dict[str, Any]

    max_connections = MAX_CONNECTIONS
    max_connections_per_peer = MAX_CONNECTIONS_PER_PEER
    since = 0.0
    header_timer: asyncio.TimerHandle | None = None
    stalled_timer: asyncio.TimerHandle | None = None
    _unread_bytes: int
    _read_at: float
    _told: set[Callable[[], object]]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn serves transports alone
        """Start the header timer, or refuse the connection with 503 if there are too many."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._told = set()
        self.app_state = {**self.app_state, OF_CONNECTION: {ABORT: transport.abort, LOST: self._told}}
        if self._is_one_too_many():
            transport.write(_BUSY)
            transport.close()
        else:
            self._await_header()

    def data_received(self, data: bytes) -> None:
        """Stop the timers once a request is being served, and start that of the next header with its first byte."""
        super().data_received(data)
        if self._is_serving():
            self._stop_header_clock()
        elif self.header_timer is None:
            self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers of a connection that has ended, and notify those who asked."""
        self._stop_header_clock()
        self._stop_reader_clock()
        super().connection_lost(exc)
        for tell in tuple(self._told):
            tell()

    def pause_writing(self) -> None:
        """Start the timer for a client that does not read: the socket's buffer is full."""
        super().pause_writing()
        self._unread_bytes, self._read_at = self.transport.get_write_buffer_size(), self.loop.time()
        self._await_reader()

    def resume_writing(self) -> None:
        """Stop the timer for a client that reads again."""
        super().resume_writing()
        self._stop_reader_clock()

    def _is_serving(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _is_admitted(self) -> bool:
        return self._is_serving() and ADMITTED in self.cycle.scope

    def _await_header(self) -> None:
        self.header_timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_header_clock(self) -> None:
        if self.header_timer is not None:
            self.header_timer.cancel()
        self.header_timer = None

    def _stop_reader_clock(self) -> None:
        if self.stalled_timer is not None:
            self.stalled_timer.cancel()

    def _await_reader(self) -> None:
        self.stalled_timer = self.loop.call_later(STALLED_SECONDS / 10, self._look_at_reader)

    def _look_at_reader(self) -> None:
        """Close a connection that nobody reads any more. One long answer may take minutes while it is being read."""
        unread_bytes, now = self.transport.get_write_buffer_size(), self.loop.time()
        if unread_bytes < self._unread_bytes:
            self._read_at = now
        self._unread_bytes = unread_bytes
        if now - self._read_at >= STALLED_SECONDS:
            self.transport.abort()
        else:
            self._await_reader()

    def _is_one_too_many(self) -> bool:
        """Return whether this connection must be refused; another may have been closed to make room for it."""
        others = [other for other in self.connections if isinstance(other, Clocked) and other is not self]
        peer = self.client[0] if self.client else ""
        if not is_loopback(peer):
            same = sum(other.client is not None and other.client[0] == peer for other in others)
            if same >= self.max_connections_per_peer:
                return True
        if len(others) < self.max_connections:
            return False
        # Those that serve an authenticated client are spared. Of the others the oldest is closed: it has held on longest without
        # working. A refused sender who leaves its body half sent is no better than one who sends half a header.
        waiting = [other for other in others if not other._is_admitted()]
        if waiting:
            oldest = min(waiting, key=lambda other: other.since)
            oldest.transport.abort()
            self.connections.discard(oldest)
        return not waiting


class Connection(Clocked, H11Protocol):
    """One HTTP connection, read by h11."""
