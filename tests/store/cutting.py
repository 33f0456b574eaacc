"""A line to PostgreSQL that is cut at a chosen message: before the server has it, or before its answer is passed on."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.store.conftest import Server

_ENDS_OF_REQUEST = b"QSX"  # a simple query, the Sync after an extended one, and the farewell
_READY = b"Z"


class Cutter:
    """A relay on loopback in front of a server's socket.

    Args:
        server: Where connections lead.

    Attributes:
        cut_at: The number of the request, from 0, at which the line is cut; None for none.
        cuts: How many requests, from that one on, find the line cut.
        is_answer_lost: Whether the server carries these out, and only their answers are lost.
        is_server_told: Whether the server sees that the line is cut; if not, it waits for the client.
        requests: How many requests have come, those that were cut included.
    """

    def __init__(self, server: Server) -> None:
        self._path = f"{server.folder}/.s.PGSQL.5432"
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.cut_at: int | None = None
        self.cuts = 1
        self.is_answer_lost, self.is_server_told = False, True
        self._half_open: list[socket.socket] = []
        self.requests = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def url(self, database: str) -> str:
        """Return the address of a database through this line."""
        port = self._listening.getsockname()[1]
        return f"postgresql://penstock@127.0.0.1:{port}/{database}?sslmode=disable&gssencmode=disable"

    def close(self) -> None:
        """Close what is open."""
        for one in (self._listening, *self._half_open):
            one.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        with suppress(OSError), client:
            server.connect(self._path)
            length = _exactly(client, 4)  # the first message has no type
            server.sendall(length + _exactly(client, struct.unpack("!I", length)[0] - 4))
            self._answer(server, client)
            while self._pass_request(client, server):
                self._answer(server, client)
            if not self.is_server_told:
                self._half_open.append(server)
                return
        server.close()

    def _pass_request(self, client: socket.socket, server: socket.socket) -> bool:
        """Pass on one request, and return whether the line still holds."""
        kind, request = _message(client)
        while kind not in _ENDS_OF_REQUEST:
            kind, message = _message(client)
            request += message
        is_cut = self.cut_at is not None and self.cut_at <= self.requests < self.cut_at + self.cuts
        self.requests += 1
        if is_cut and not self.is_answer_lost:
            return False
        server.sendall(request)
        while is_cut and _message(server)[0] != _READY:
            pass
        return not is_cut

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        while True:
            kind, message = _message(server)
            client.sendall(message)
            if kind == _READY:
                return


def _message(line: socket.socket) -> tuple[bytes, bytes]:
    """Return the next message, its type first."""
    head = _exactly(line, 5)
    return head[:1], head + _exactly(line, struct.unpack("!I", head[1:])[0] - 4)


def _exactly(line: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = line.recv(count - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data
