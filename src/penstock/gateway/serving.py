"""How does the gateway listen for clients, and end well: streams under way are not cut off by a restart?

Imported only to serve, because uvicorn and httptools are. Law: a signal stops accepting at once, and serving after the last answer;
a second one ends everything. Leaves to others: what is served (`app`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from penstock.gateway import app
from penstock.serving.connections import Clocked
from penstock.serving.listening import serve_app

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from penstock.gateway.app import Gateway

GRACEFUL_SECONDS: Final = 900
"""How long answers under way may take after serving is told to end: the longest that a provider may think."""
MAX_HEADER_BYTES: Final = 64 << 10
"""The size limit of a request's headers."""
_SMALL_BYTES: Final = 4_096
"""Smaller parts of a body are joined as they come."""
_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-type: text/plain\r\n"
    b"content-length: %d\r\n\r\n%b"
)
_TOO_LARGE_WORDS: Final = b"The headers of a request may take %d bytes." % MAX_HEADER_BYTES


class GatewayConnection(Clocked, HttpToolsProtocol):
    """One connection of a client, read by httptools.

    A body is handed over when it is complete, since nothing is done with a part of one: uvicorn would copy each 64 KB three times,
    and pause and resume reading. A body larger than the application accepts goes to it as it comes.
    """

    max_connections = 4_096
    max_connections_per_peer = 1_024
    _header_bytes = 0
    _unparsed_bytes = 0  # of unfinished headers
    _is_in_body = False
    _body_bytes = 0
    _parts: list[bytes | bytearray]

    def data_received(self, data: bytes) -> None:
        """Read what came; the parser would hold all of a header without an end."""
        if self._unparsed_bytes > MAX_HEADER_BYTES:
            self.send_400_response("")
            return
        if not self._is_in_body:
            self._unparsed_bytes += len(data)
        super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse an invalid request; one with too many headers gets its own status."""
        if max(self._header_bytes, self._unparsed_bytes) <= MAX_HEADER_BYTES:
            super().send_400_response(msg)
        elif not self.transport.is_closing():
            self.transport.write(_TOO_LARGE % (len(_TOO_LARGE_WORDS), _TOO_LARGE_WORDS))
            self.transport.close()

    def on_message_begin(self) -> None:
        """Start counting the headers of a request."""
        self._header_bytes = self._body_bytes = 0
        self._is_in_body = False
        self._parts = []
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header.

        Trailers after a body are ignored: uvicorn would add them to the headers, which are already admitted.

        Raises:
            ValueError: There are too many of them, and the parser reads no further.
        """
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > MAX_HEADER_BYTES:
            raise ValueError("too many headers")
        if not self._is_in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Accept no more headers."""
        self._is_in_body = True
        self._unparsed_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body; ignored if the answer has already been sent."""
        if self.cycle.response_complete:
            return
        self._body_bytes += len(body)
        if self._body_bytes <= app.MAX_BODY_BYTES:
            # Chunks of two bytes, stored separately, would take twenty times their size.
            if not self._parts or len(body) >= _SMALL_BYTES:
                self._parts.append(body)
            elif isinstance(self._parts[-1], bytearray):
                self._parts[-1] += body
            else:
                self._parts.append(bytearray(body))
            return
        held, self._parts = b"".join([*self._parts, body]), []
        super().on_body(held)

    def on_message_complete(self) -> None:
        """Hand the body over."""
        if self._parts:
            held, self._parts = b"".join(self._parts), []
            # Assigned, not appended, so that these very bytes are handed over.
            self.cycle.body = self.cycle.body + held if self.cycle.body else held
        super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: the application answers that it speaks HTTP."""


async def serve(gateway: Gateway, listening: socket.socket, stop: Callable[[Callable[[], None]], None]) -> None:
    """Serve on a listening socket until the function passed to `stop` is called.

    Args:
        gateway: The application.
        listening: The result of `listen`.
        stop: Receives the function that ends serving; a second call ends what is under way.
    """
    try:
        await serve_app(gateway, listening, stop, connection=GatewayConnection, graceful_seconds=GRACEFUL_SECONDS)
    finally:
        await gateway.close()
