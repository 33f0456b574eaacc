"""What do gateway tests run against? A gateway on loopback, an upstream that keeps request bytes, and a plain client."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.gateway.app import Gateway
from penstock.gateway.serving import serve
from penstock.gateway.upstream import Upstream
from penstock.serving.listening import ServedNames, listen
from penstock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Came(NamedTuple):
    """A request as an upstream received it."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes


class Said(NamedTuple):
    """An upstream's answer: parts of a body, each sent by itself; events are waited for, and None ends the connection."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    parts: tuple[bytes | threading.Event | None, ...] = (b"{}",)


class RecordingUpstream:
    """An upstream whose answers come from a function; `came` has what it received, to the byte."""

    def __init__(self, answer: Callable[[Came], Said]) -> None:
        self.came: list[Came] = []
        self.hung_up = threading.Event()
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # otherwise a second answer waits 40 ms for an acknowledgement

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                came = Came(self.command, self.path, list(self.headers.items()), self.rfile.read(length))
                upstream.came.append(came)
                said = answer(came)
                self.send_response_only(said.status)
                for name, value in said.headers:
                    self.send_header(name, value)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                try:
                    for part in said.parts if self.command != "HEAD" else ():
                        if part is None:
                            self.connection.shutdown(socket.SHUT_RDWR)
                        elif isinstance(part, threading.Event):
                            part.wait(30)
                        elif part:
                            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                    self.wfile.write(b"0\r\n\r\n" if self.command != "HEAD" else b"")
                except OSError:
                    upstream.hung_up.set()

            do_GET = do_HEAD = do_PUT = do_DELETE = do_POST  # noqa: N815 - as `http.server` calls them

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> RecordingUpstream:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Standing(NamedTuple):
    """A gateway that is being served."""

    url: str
    port: int
    gateway: Gateway
    end: Callable[[], None]

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None, method: str = "POST") -> Got:
        """Send bytes as they are, and return the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            sent = {"content-type": "application/json", "x-api-key": "k1"} if headers is None else headers
            connection.request(method, path, body or None, sent)
            response = connection.getresponse()
            return Got(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
        finally:
            connection.close()

    @contextmanager
    def stream(self, path: str, body: Any) -> Iterator[http.client.HTTPResponse]:
        """Send JSON, and yield the answer before it is complete; the connection is closed after `with`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", path, json.dumps(body), {"content-type": "application/json", "x-api-key": "k1"})
            yield connection.getresponse()
        finally:
            connection.close()

    def ask(self, path: str, body: Any, headers: dict[str, str] | None = None) -> Got:
        """Send JSON, and return the answer."""
        return self.post(path, json.dumps(body).encode(), headers)


class Got(NamedTuple):
    """An answer as a client received it."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@contextmanager
def standing(folder: Path, upstream_url: str | None, **settings: Any) -> Iterator[Standing]:
    """Serve a gateway with its store in a folder, until the end of `with`."""
    listening = listen("127.0.0.1:0", flag="--listen")
    host, port = listening.getsockname()[:2]
    store = settings.pop("store", None) or open_store(f"sqlite:///{folder}/store.db")
    settings = {"names": ServedNames(host, port)} | settings
    gateway = Gateway(settings.pop("upstream", None) or Upstream(), store, base_url=upstream_url, **settings)
    ends: list[Callable[[], None]] = []
    is_ready = threading.Event()

    def ready(end: Callable[[], None]) -> None:
        ends.append(end)
        is_ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(serve(gateway, listening, ready)))
    thread.start()
    is_ready.wait()
    try:
        yield Standing(f"http://127.0.0.1:{port}", port, gateway, ends[0])
    finally:
        ends[0]()
        ends[0]()
        thread.join(30)
        assert not thread.is_alive()
