"""How does the double speak HTTP? Requests in, bodies or streams out, on 127.0.0.1 and a port that the system chooses.

Each connection has a thread; `close` ends them all, including idle ones, and waits for them, so that a finished test leaves
neither a thread nor a socket. Laws: a body above the bound is drained and refused, never held; nothing that a client does ends
the server. Leaves to others: what is answered (`routes`).
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.testing.routes import HttpReply, Routes

_BLOCK_BYTES = 65_536


class Server(ThreadingHTTPServer):
    """An HTTP server that serves its routes from the moment it is made until `close`."""

    # So that server_close() waits for them.
    daemon_threads = False
    # Connections that wait to be accepted: five by default, which a test with threads exceeds.
    request_queue_size = 128

    def __init__(self, routes: Routes) -> None:
        self.routes = routes
        # Every open connection: a client that keeps its own alive would block `close` forever.
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        # Port 0 lets the system choose: tests run in parallel.
        super().__init__(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name="penstock-loopback")
        self._thread.start()

    def server_bind(self) -> None:
        """Bind without asking a name server for the name of 127.0.0.1, as HTTPServer does: if none answers, that takes seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    @property
    def url(self) -> str:
        """Where the server is, without a path."""
        return f"http://127.0.0.1:{self.server_port}"

    def close(self) -> None:
        """End every connection and every thread, and wait for them."""
        self.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Serve a connection in its own thread, recording that it is open."""
        if isinstance(request, socket.socket):
            with self._lock:
                self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Close a connection, recording that it is no longer open."""
        if isinstance(request, socket.socket):
            with self._lock:
                self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Report an error raised while serving a request to the test; a client that went away is not an error."""
        del request, client_address
        error = sys.exc_info()[1]
        if isinstance(error, Exception) and not isinstance(error, OSError):
            self.routes.broke(error)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    # Headers and body are two writes: held back until the first is acknowledged, the second waits 40 ms on Linux.
    disable_nagle_algorithm = True
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Log nothing: tests have their own output."""

    def do_GET(self) -> None:
        self._reply(self.server.routes.get(self._path()))

    def do_POST(self) -> None:
        """Answer a POST, whose body must come with its length."""
        routes = self.server.routes
        # Without a length the end of the body is not known, nor the beginning of the next request: the connection is closed.
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit()) or len(length) > 15:
            self.close_connection = True
            self._reply(routes.turn_away(411, "content-length is required"))
            return
        rest = int(length)
        # Drained, since a client that is still sending would see a broken connection, not the refusal.
        if rest > routes.max_body_bytes:
            self._skip(rest)
            self._reply(
                routes.turn_away(413, f"Request exceeds the maximum size: {rest} > {routes.max_body_bytes} bytes")
            )
            return
        content = self.rfile.read(rest)
        if len(content) < rest:  # the client went away in the middle
            self.close_connection = True
            return
        try:
            reply = routes.post(self._path(), content)
        except BaseException as error:  # noqa: BLE001 - of the test's own policy: raised again where the test sees it
            reply = routes.broke(error)
        self._reply(reply)

    def _path(self) -> str:
        """Return the path without its query and trailing slash."""
        return self.path.partition("?")[0].rstrip("/")

    def _skip(self, rest: int) -> None:
        """Read that many bytes, a block at a time, and hold none of them."""
        while rest and (block := self.rfile.read(min(rest, _BLOCK_BYTES))):
            rest -= len(block)

    def _reply(self, reply: HttpReply) -> None:
        """Send a body with its length, or a stream in chunks of one event each (RFC 9112, 7.1)."""
        self.send_response(reply.status)
        if self.close_connection:
            self.send_header("connection", "close")
        if reply.events is None:
            is_text = isinstance(reply.body, str)
            content = (reply.body if is_text else json.dumps(reply.body)).encode("utf-8", "surrogatepass")
            self.send_header("content-type", "text/plain; charset=utf-8" if is_text else "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            return
        self.send_header("content-type", reply.events_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in reply.events:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")
