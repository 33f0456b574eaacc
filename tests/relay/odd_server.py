"""How do real servers over HTTP answer on bad days? This one, in this process, does so."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

FLOOD = "".join(f"{at}: a line\n" for at in range(10_000))

HUGE = FLOOD * 60
"""A text of 8 MB."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # otherwise the sixth of simultaneous connections may be refused


class OddServer:
    """A server whose `seen` has the requests as (method, headers, body); a tool's name decides how its call is answered."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.cancelled = threading.Event()
        self.let_go = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()


def _answer(number: object, text: str) -> bytes:
    return json.dumps(
        {"result": {"content": [{"type": "text", "text": text}]}, "id": number, "jsonrpc": "2.0"}
    ).encode()


def _handler(odd: OddServer) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - one class, a case a bad day
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _came(self) -> bytes:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            odd.seen.append((self.command, {name.lower(): value for name, value in self.headers.items()}, body))
            return body

        def _send(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
            self.send_response(status)
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            for name, value in {
                "content-type": kind,
                "content-length": str(len(body)),
                "x-odd": "yes",
                **named,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, *parts: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("connection", "close, x-hop")
            self.send_header("x-hop", "for one hop")
            self.end_headers()
            for part in parts:
                self.wfile.write(part)
                self.wfile.flush()
            self.close_connection = True

        def do_DELETE(self) -> None:
            self._came()
            self._send(200, b"")

        def do_GET(self) -> None:
            self._came()
            if self.path.startswith("/.well-known"):
                self._send(200, self.path.encode(), "text/plain")
            elif "last-event-id" in self.headers:
                self._stream(b"id: 2\r\ndata: " + _answer(self.headers["last-event-id"], FLOOD) + b"\r\n\r\n")
            else:
                self._send(405, b"", allow="POST, DELETE")

        def do_POST(self) -> None:
            message: Any = json.loads(self._came())
            if isinstance(message, list):
                self._batch([one["id"] for one in message if "id" in one and "method" in one])
                return
            number, params = message.get("id"), message.get("params") or {}
            if message.get("method") == "initialize":
                version = "2025\ud800\n" if self.path == "/no-version" else "2025-11-25"
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "o"}}
                body = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}, indent=2).encode()
                self._send(200, body, **({} if self.path == "/no-session" else {"mcp_session_id": "session-1"}))
            elif number is None or "method" not in message:
                if params.get("hangs"):
                    odd.let_go.wait(60)
                    self.close_connection = True
                    return
                self._send(202, b"")
            elif message["method"] == "tools/call":
                self._call(number, params["name"])
            elif message["method"] == "tools/list" and self.path == "/own":  # one of ours, on the second page
                tools = [{"name": "ctx_page", "inputSchema": {"type": "object"}}] if "cursor" in params else []
                more = {} if "cursor" in params else {"nextCursor": "n"}
                body = json.dumps({"jsonrpc": "2.0", "id": number, "result": {"tools": tools, **more}}).encode()
                self._send(200, body) if more else self._stream(b": hello\n\n", b"data: " + body + b"\n\n")
            else:
                self._send(200, json.dumps({"jsonrpc": "2.0", "id": number, "result": {}}).encode())

        def _batch(self, numbers: list[object]) -> None:
            answers = [{"jsonrpc": "2.0", "id": number, "result": {}} for number in numbers]
            if not numbers or self.path == "/takes-none":
                self._send(202, b"")
            elif self.path == "/events":
                self._stream(b"data: " + json.dumps(answers).encode() + b"\n\n")
            elif self.path.startswith("/long"):
                long = [{**answer, "result": {"x": "y" * 200_000}} for answer in answers]
                self._send(200, b" " + json.dumps(long[0] if self.path == "/long-one" else long).encode())
            elif self.path == "/one":
                self._send(200, json.dumps(answers[0]).encode())
            else:
                self._send(200, json.dumps(answers, indent=1).encode())

        def _call(self, number: object, tool: str) -> None:  # noqa: C901 - as above
            note = b': hello\r\nevent: message\r\nid: 1\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\r\n\r\n'
            match tool:
                case "moved" if self.path == "/mcp":
                    self._send(307, b"", location="/mcp?moved")
                case "json" | "moved":
                    self._send(200, _answer(number, FLOOD))
                case "brotli":
                    self._send(200, b"\x1b" + _answer(number, FLOOD)[::-1], content_encoding="br")
                case "mark":
                    self._send(200, b"\xef\xbb\xbf" + _answer(number, FLOOD))
                case "gzip":
                    self._send(200, gzip.compress(_answer(number, FLOOD)), content_encoding="gzip")
                case "events":
                    self._stream(note, b"data: " + _answer(number, FLOOD)[:9], _answer(number, FLOOD)[9:] + b"\r\n\r\n")
                case "line end in a text":
                    head, tail = _answer(number, FLOOD)[:900], _answer(number, FLOOD)[900:]
                    self._stream(b"data: " + head + b"\ndata: " + tail + b"\n\n")
                case "breaks off":
                    self._stream(b"retry: 10\nid: " + str(number).encode() + b"\ndata:\n\n")
                case "unended":
                    self._stream(note, b"id: " + str(number).encode() + b"\r\ndata: " + _answer(number, FLOOD))
                case "huge":
                    self._send(200, _answer(number, HUGE))
                case "huge event":
                    self._send(200, b"data: " + _answer(number, HUGE) + b"\n\n", "text/event-stream")
                case "stops within":
                    self.send_response(200)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(2 * len(HUGE)))
                    self.end_headers()
                    self.wfile.write(_answer(number, HUGE)[:-9])
                    odd.let_go.wait(60)
                    self.close_connection = True
                case "says nothing":
                    self._stream(b": nothing\n\n")
                case "oauth":
                    body = b'{"error":"invalid_token","error_description":"Authentication\\u001b[31m required"}'
                    self._send(401, body, www_authenticate='Bearer error="invalid_token"')
                case "html":
                    self._send(200, b"<html>\n<p>Sign in</p>" + b"x" * 5_000, "text/html")
                case "another's":
                    self._send(200, _answer("zz", "another's"))
                case "another's first":
                    self._stream(*(b"data: " + _answer(one, str(one)) + b"\n\n" for one in ("zz", number)))
                case "notes in a batch":
                    notes = b'data: [{"jsonrpc":"2.0","method":"notifications/x"}]\n\n'
                    self._stream(b"data: <html>\n\n", notes, b"data: " + _answer(number, "mine") + b"\n\n")
                case "marked":
                    self._stream(b"\xef", b"\xbb\xbfdata: " + _answer(number, FLOOD) + b"\n\n")
                case "unauthorised":
                    self._send(401, b"who?", "text/plain", www_authenticate='Bearer resource_metadata="x"')
                case "refused":
                    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "no"}}
                    self._send(400, json.dumps(error).encode())
                case "half a stream":
                    self.send_response(200)
                    self.send_header("content-type", "text/event-stream")
                    self.send_header("transfer-encoding", "chunked")
                    self.end_headers()
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(note), note))
                    self.close_connection = True
                case "hangs":
                    self._stream(note)
                    try:
                        while not odd.cancelled.wait(0.05):
                            self.wfile.write(b": still here\n\n")
                    except OSError:
                        odd.cancelled.set()
                case _:
                    self._send(200, _answer(number, "small"))

    return Handler
