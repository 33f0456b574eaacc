"""Over HTTP, who is admitted, what is read, and what may a connection cost?"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from tests.mcp.conftest import REPOSITORY, TOKEN, call, request
from tests.mcp.double_server import TABLE, Doubles

from penstock.errors import CallerError
from penstock.mcp_server import frames, serve
from penstock.mcp_server import http as http_server
from penstock.serving import token
from penstock.serving.connections import Clocked
from penstock.serving.listening import listen, serve_app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Answered = TypeVar("Answered")
Headers = dict[str, str]
Answer = tuple[int, Headers, bytes]


def _headers(port: int, message: dict[str, object] | None = None) -> Headers:
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
    }
    if message is not None:
        headers["Mcp-Method"] = str(message["method"])
        params = message.get("params")
        if isinstance(params, dict) and "name" in params:
            headers["Mcp-Name"] = str(params["name"])
    return headers


def _post(port: int, body: bytes, headers: Headers, method: str = "POST", path: str = "/mcp") -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def _call(port: int, message: dict[str, object], **changes: str) -> Answer:
    headers = {**_headers(port, message), **{name.replace("_", "-"): value for name, value in changes.items()}}
    return _post(port, json.dumps(message).encode(), headers)


def test_a_call_with_everything_right_is_served(doubles_port: int) -> None:
    """This is the control for the tests below."""
    status, _, body = _call(doubles_port, call("echo", text="hi"))
    assert status == 200
    assert json.loads(body)["result"]["content"][0]["text"].startswith("{'text': 'hi'}")


@pytest.mark.proves("L-9")
@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Host", "evil.example:{port}", 421),
        ("Host", "127.0.0.1", 421),
        ("Host", "127.0.0.1.evil.example:{port}", 421),
        ("Host", "evil.example-127.0.0.1:{port}", 421),
        ("Host", "not-localhost:{port}", 421),
        ("Host", "localhost:{port}0", 421),
        ("Host", "localhost:{port}", 200),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://127.0.0.1:1", 403),
        ("Origin", "http://127.0.0.1:{port}.evil.example", 403),
        ("Origin", "http://localhost:{port}", 200),
        ("Authorization", "", 401),
        ("Authorization", "Bearer", 401),
        ("Authorization", "Bearer wrong", 401),
        ("Authorization", f"Bearer {TOKEN[:-1]}", 401),
        ("Authorization", f"Bearer {TOKEN}x", 401),
        ("Authorization", f"Bearer x{TOKEN}", 401),
        ("Authorization", f"Basic {TOKEN}", 401),
        ("Authorization", f"bearer {TOKEN}", 200),
        ("Content-Type", "text/plain", 400),
        ("Content-Type", "application/jsonp", 400),
        ("Content-Type", "application/json; charset=utf-8", 200),
        ("Mcp-Method", "tools/list", 400),
        ("Mcp-Name", "view", 400),
        ("MCP-Protocol-Version", "2099-01-01", 400),
        ("Content-Length", "5000000", 413),
    ],
)
def test_a_header_decides_who_is_let_in(doubles_port: int, header: str, value: str, status: int) -> None:
    """One header is changed at a time; what only begins or ends like ours is refused."""
    message = call("echo")
    headers = {**_headers(doubles_port, message), header: value.format(port=doubles_port)}
    if header == "Content-Length":
        assert _post(doubles_port, b"x" * int(value), headers)[0] == status
    else:
        assert _post(doubles_port, json.dumps(message).encode(), headers)[0] == status


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/", 404),
        ("POST", f"/mcp?token={TOKEN}", 200),
        ("GET", "/mcp", 405),
        ("DELETE", "/mcp", 405),
        ("OPTIONS", "/mcp", 405),
    ],
)
def test_only_posts_to_one_path_are_served(doubles_port: int, method: str, path: str, status: int) -> None:
    """There are no streams to open, no sessions to end, no preflight for other pages; a query changes nothing."""
    message = call("echo")
    assert _post(doubles_port, json.dumps(message).encode(), _headers(doubles_port, message), method, path)[0] == status


def test_a_token_in_the_url_lets_nobody_in(doubles_port: int) -> None:
    """URLs are logged; the token is read only from its header, and answers carry no CORS headers."""
    message = call("echo")
    headers = _headers(doubles_port, message)
    del headers["Authorization"]
    status, answered, _ = _post(doubles_port, json.dumps(message).encode(), headers, path=f"/mcp?token={TOKEN}")
    assert (status, answered["www-authenticate"]) == (401, "Bearer")
    assert not [name for name in answered if name.startswith("access-control")]


@pytest.mark.proves("L-9")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":1e400}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":1,"a":2}}',
        b'{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{}}',
        b'{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{}}',
        b'{"id":1,"method":"tools/call","params":{}}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
        b'{"jsonrpc":"2.0","id":1,"method":1}',
    ],
)
@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
def test_json_that_readers_take_differently_is_refused(doubles_port: int, body: bytes, era: str) -> None:
    """The answer is status 400 with a JSON-RPC error, in both eras."""
    headers = {**_headers(doubles_port, call("echo")), "MCP-Protocol-Version": era}
    status, _, answer = _post(doubles_port, body, headers)
    assert (status, json.loads(answer)["error"]["code"] in {-32700, -32600}) == (400, True)


def _raw(port: int, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(sent)
    return connection


def _until_closed(connection: socket.socket) -> bytes:
    received = b""
    with connection:
        while chunk := connection.recv(65536):
            received += chunk
    return received


def test_two_hosts_are_refused(doubles_port: int) -> None:
    """The next reader might believe either."""
    host = f"Host: 127.0.0.1:{doubles_port}\r\n".encode()
    sent = b"POST /mcp HTTP/1.1\r\n" + host * 2 + b"Content-Length: 0\r\n\r\n"
    assert _until_closed(_raw(doubles_port, sent)).startswith(b"HTTP/1.1 400")


def test_a_message_that_is_announced_too_long_is_refused_before_it_comes(doubles_port: int) -> None:
    """Nobody has to send four MiB to learn that five are too many."""
    headers = {**_headers(doubles_port, call("echo")), "Content-Length": str(frames.MAX_BYTES + 1)}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with _raw(doubles_port, f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode()) as connection:
        assert connection.recv(64).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("is_chunked", [False, True])
@pytest.mark.parametrize(("beyond", "status"), [(0, 200), (1, 413)])
def test_a_message_may_be_as_long_as_the_bound_and_no_longer(
    doubles_port: int, is_chunked: bool, beyond: int, status: int
) -> None:
    """The bound is four MiB to the byte, announced or counted."""
    body = json.dumps(call("echo", text="hi")).encode().ljust(frames.MAX_BYTES + beyond)
    if not is_chunked:
        assert _post(doubles_port, body, _headers(doubles_port, call("echo")))[0] == status
        return
    head = "".join(f"{name}: {value}\r\n" for name, value in _headers(doubles_port, call("echo")).items())
    sent = f"POST /mcp HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n"
    with _raw(doubles_port, sent.encode() + body + b"\r\n0\r\n\r\n") as connection:
        assert connection.recv(64).startswith(f"HTTP/1.1 {status} ".encode())


def test_a_chunked_body_without_end_is_refused_at_the_cap(doubles_port: int) -> None:
    """Without a Content-Length the bytes are counted. The refusal arrives, then the connection is closed."""
    head = "".join(f"{name}: {value}\r\n" for name, value in _headers(doubles_port, call("echo")).items())
    sent = f"POST /mcp HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n".encode()
    body = (b"100000\r\n" + b"x" * (1 << 20) + b"\r\n") * 5 + b"0\r\n\r\n"
    assert _until_closed(_raw(doubles_port, sent + body)).startswith(b"HTTP/1.1 413")


@pytest.mark.proves("L-9")
def test_half_sent_headers_are_closed_and_keep_nobody_out(doubles_port: int) -> None:
    """With 500 connections of half a header a call is served, and after 5 s none of them is open."""
    half = [_raw(doubles_port, b"POST /mcp HTTP/1.1\r\nHost: 127") for _ in range(500)]
    started = time.monotonic()
    assert _call(doubles_port, call("echo"))[0] == 200
    assert time.monotonic() - started < 2
    time.sleep(5.5 - (time.monotonic() - started))
    open_still = 0
    for connection in half:
        connection.settimeout(0.01)
        try:
            open_still += connection.recv(1) != b""
        except TimeoutError:
            open_still += 1
        except OSError:
            pass
        connection.close()
    assert open_still == 0


def _held(port: int, authorization: str | None) -> socket.socket:
    """Send a request whose body is announced and does not come."""
    headers = {**_headers(port), "Content-Length": "1000000"}
    if authorization is None:
        del headers["Authorization"]
    else:
        headers["Authorization"] = authorization
    held = socket.create_connection(("127.0.0.1", port), timeout=10)
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    held.sendall(f"POST /mcp HTTP/1.1\r\n{lines}\r\nxx".encode())
    return held


@pytest.mark.proves("L-9")
@pytest.mark.parametrize("authorization", [None, f"Bearer {'x' * 43}"])
def test_a_stranger_is_answered_before_its_body(doubles_port: int, authorization: str | None) -> None:
    """401 is sent as soon as the headers are complete, and the connection is closed soon after."""
    begun = time.monotonic()
    with _held(doubles_port, authorization) as held:
        assert held.recv(4096).startswith(b"HTTP/1.1 401 ")
        while held.recv(4096):
            pass
        # For admitted clients the rest is read for five seconds, and a body awaited for thirty.
        assert time.monotonic() - begun < 4


@pytest.mark.proves("L-9")
def test_half_sent_requests_of_strangers_keep_nobody_out(doubles_port: int) -> None:
    """256 of them are reopened as soon as they are closed, while somebody with the token calls."""
    over = threading.Event()

    def hold() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError), _held(doubles_port, None) as held:
                held.settimeout(5)
                while not over.is_set() and held.recv(4096):
                    pass
            # A machine of two cores serves both sides: without a pause the attackers would starve themselves.
            time.sleep(0.2)

    threads = [threading.Thread(target=hold, daemon=True) for _ in range(256)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1)
        answers = [_call(doubles_port, call("echo", text="hi"))[0] for _ in range(20)]
    finally:
        over.set()
        for thread in threads:
            thread.join(10)
    assert answers == [200] * 20


@pytest.mark.proves("L-9")
def test_clients_that_went_away_free_their_places(doubles_port: int) -> None:
    """H26: 60 scans whose clients left would take half a minute; a scan is served much sooner."""
    with ThreadPoolExecutor(60) as pool:
        list(pool.map(_abandon, [doubles_port] * 60))
    started = time.monotonic()
    while _call(doubles_port, call("scan", seconds=0))[0] == 503:
        assert time.monotonic() - started < 10
        time.sleep(0.1)
    assert time.monotonic() - started < 15


def _abandon(port: int) -> None:
    """Ask for a scan and disconnect."""
    connection = _raw(port, _request(port, call("scan", seconds=1)))
    time.sleep(0.2)
    connection.close()


@pytest.mark.parametrize(("client", "within"), [("claude-code", "45000 characters"), ("copilot-cli", "19000 bytes")])
def test_a_legacy_client_keeps_its_budget_without_a_session(doubles_port: int, client: str, within: str) -> None:
    """`initialize` names the host; the session id, the only part of a session, carries the name to later calls."""
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": client, "version": "1"}},
    }
    headers = {**_headers(doubles_port), "MCP-Protocol-Version": "2025-06-18"}
    status, answered, _ = _post(doubles_port, json.dumps(initialize).encode(), headers)
    assert status == 200
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
    _, _, body = _post(
        doubles_port, json.dumps(message).encode(), {**headers, "Mcp-Session-Id": answered["mcp-session-id"]}
    )
    assert json.loads(body)["result"]["content"][0]["text"] == f"{{}} within {within}"
    for forged in ("x", ".", "a.b.c", "." + "A" * 5000, "é"):
        _, _, body = _post(doubles_port, json.dumps(message).encode(), {**headers, "Mcp-Session-Id": forged})
        assert "within 16000 characters" in json.loads(body)["result"]["content"][0]["text"]


# ── the token and the address ────────────────────────────────────────────────────────────────────────────────────


def test_the_token_is_made_once_and_only_its_owner_can_read_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It has 256 bits and mode 0600, in the user's state folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first, at = token.load(None)
    assert token.load(None) == (first, at)
    assert at == str(tmp_path / "state" / "penstock" / "token")
    assert stat.S_IMODE(os.stat(at).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(at)).st_mode) == 0o700
    assert len(first) == 43


def test_a_relative_folder_for_state_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As the XDG specification says: a token below the current folder would be in somebody's project."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert token.default_file() == str(tmp_path / ".local" / "state" / "penstock" / "token")


@pytest.mark.parametrize(
    ("content", "mode", "reason"),
    [
        (b"x" * 43, 0o644, "chmod 600"),
        (b"short", 0o600, "no token"),
        (b"", 0o600, "no token"),
        (b"a b " * 20, 0o600, "no token"),
    ],
)
def test_an_invalid_token_is_refused(tmp_path: Path, content: bytes, mode: int, reason: str) -> None:
    """It is readable by others, too short, empty, or two words."""
    file = tmp_path / "token"
    file.write_bytes(content)
    file.chmod(mode)
    with pytest.raises(CallerError, match=reason):
        token.load(str(file))


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "example.com:0"])
def test_other_machines_are_served_only_on_request(address: str) -> None:
    """Nothing here is encrypted, so only loopback is served by default."""
    with pytest.raises(CallerError, match="--i-know"):
        listen(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "127.0.0.1:-1"])
def test_an_address_needs_a_port(address: str) -> None:
    """The error names the mistake and an example."""
    with pytest.raises(CallerError, match=r"--http takes HOST:PORT, for example .*, not 127"):
        listen(address)


def test_a_token_without_http_is_refused(tmp_path: Path) -> None:
    """A caller who gives a token expects it to protect the server; once, it was silently ignored."""
    with pytest.raises(CallerError, match="--http HOST:PORT"):
        serve(tmp_path, token_file=str(tmp_path / "token"))


def test_our_tools_are_served_over_http(workspace: Path, tmp_path: Path) -> None:
    """This is the whole of `penstock mcp --http`: token file, Landlock, one call; SIGTERM ends it quietly."""
    code = "import sys; from penstock.mcp_server import serve; sys.exit(serve(sys.argv[1], http='127.0.0.1:0'))"
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(workspace)], stderr=subprocess.PIPE, cwd=REPOSITORY, env=environment
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline().decode()
        port = int(said.partition("127.0.0.1:")[2].partition("/")[0])
        secret = (tmp_path / "state" / "penstock" / "token").read_text().strip()
        message = call("ctx_view", file_path="hello.txt")
        status, _, body = _call(port, message, Authorization=f"Bearer {secret}")
        assert status == 200
        assert "line 1" in json.loads(body)["result"]["content"][0]["text"]
        assert _call(port, request("tools/list"))[0] == 401
        process.terminate()
        assert process.wait(timeout=10) == 143
        assert process.stderr.read() == b""


# ── slow clients, with shorter clocks in this process ────────────────────────────────────────────────────────────


def _serve_here(monkeypatch: pytest.MonkeyPatch, client: Callable[[int], Answered]) -> Answered:
    """Return what `client` returns, run next to a server of doubles with timers of 0.3 s, and of one second for headers."""
    from penstock.mcp_server import create_server
    from penstock.serving import connections

    monkeypatch.setattr(connections, "HEADER_SECONDS", 1.0)
    monkeypatch.setattr(connections, "STALLED_SECONDS", 0.3)
    monkeypatch.setattr(http_server, "BODY_SECONDS", 0.3)
    server = create_server(Doubles(), table=TABLE, prefix="")

    async def steps() -> Answered:
        ways: list[Callable[[], None]] = []
        listening = listen("127.0.0.1:0")
        port = listening.getsockname()[1]
        serving = asyncio.create_task(http_server.serve(server, listening, TOKEN.encode(), ways.append))
        try:
            return await asyncio.wait_for(asyncio.to_thread(client, port), 20)
        finally:
            ways[0]()
            await serving

    return asyncio.run(steps())


def _request(port: int, message: dict[str, object]) -> bytes:
    body = json.dumps(message).encode()
    head = "".join(f"{name}: {value}\r\n" for name, value in _headers(port, message).items())
    return f"POST /mcp HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.proves("L-9")
def test_a_client_that_never_reads_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """H26: it asked for more than the buffers in between hold; the rest is dropped with the connection."""

    closed = threading.Event()
    lose = Clocked.connection_lost

    def lost(connection: Clocked, error: Exception | None) -> None:
        lose(connection, error)
        closed.set()

    monkeypatch.setattr(Clocked, "connection_lost", lost)

    def client(port: int) -> int:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", port))
            connection.sendall(_request(port, call("big", size=30_000_000)))
            assert closed.wait(15)
            received = 0
            with contextlib.suppress(ConnectionResetError):
                while chunk := connection.recv(1 << 20):
                    received += len(chunk)
            return received

    assert _serve_here(monkeypatch, client) < 30_000_000


def test_a_client_that_reads_slowly_gets_all_of_one_long_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer restarts whenever something was read, and a byte that the client sends meanwhile does not stop it."""

    def client(port: int) -> tuple[int, float]:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(_request(port, call("big", size=30_000_000)))
            began, received = time.monotonic(), 0
            while received < 30_000_000 and (chunk := connection.recv(1 << 20)):
                received += len(chunk)
                time.sleep(0.05)
            return received, time.monotonic() - began

    received, seconds = _serve_here(monkeypatch, client)
    assert received >= 30_000_000
    assert seconds > 3 * 0.3


def test_a_client_that_has_read_a_long_answer_may_rest_before_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer for readers stops once nothing is left to read."""

    def client(port: int) -> list[int]:
        connection, statuses = http.client.HTTPConnection("127.0.0.1", port), []
        with contextlib.closing(connection):
            for size, rest_seconds in ((30_000_000, 0), (10, 3 * 0.3)):
                time.sleep(rest_seconds)
                message = call("big", size=size)
                connection.request("POST", "/mcp", json.dumps(message), _headers(port, message))
                time.sleep(0.1)  # by now the buffers between us are full
                with connection.getresponse() as answer:
                    statuses.append(answer.status)
                    assert len(answer.read()) >= size
        return statuses

    assert _serve_here(monkeypatch, client) == [200, 200]


def test_a_client_that_sends_but_never_reads_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sending during an answer does not show that the client reads."""
    from penstock.serving import connections

    monkeypatch.setattr(connections, "STALLED_SECONDS", 0.3)

    async def parts(scope: Any, receive: Any, send: Any) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for left in reversed(range(30)):
            await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": bool(left)})

    def client(port: int) -> int:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            received = len(connection.recv(1))
            time.sleep(0.1)  # by now the buffers between us are full
            connection.sendall(b"P")
            time.sleep(1)
            with contextlib.suppress(ConnectionError):
                while chunk := connection.recv(1 << 20):
                    received += len(chunk)
                    if received >= 30_000_000:
                        break
            return received

    async def steps() -> int:
        ways: list[Callable[[], None]] = []
        listening = listen("127.0.0.1:0")
        serving = asyncio.create_task(serve_app(parts, listening, ways.append))
        try:
            return await asyncio.wait_for(asyncio.to_thread(client, listening.getsockname()[1]), 20)
        finally:
            ways[0]()
            await serving

    assert asyncio.run(steps()) < 30_000_000


@pytest.mark.proves("L-9")
def test_beyond_the_most_connections_the_oldest_that_waits_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is served, at the cost of only the one that has waited longest."""
    from penstock.serving import connections

    monkeypatch.setattr(connections.Clocked, "max_connections", 2)

    def client(port: int) -> list[bool]:
        sent = _request(port, call("echo", text="hi"))
        with contextlib.ExitStack() as stack:
            opened = []
            for _ in range(3):
                opened.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)))
                assert _answered(opened[-1], sent)
            return [_answered(one, sent) for one in opened]

    assert _serve_here(monkeypatch, client) == [False, True, True]


@pytest.mark.proves("L-9")
def test_another_machine_has_so_many_connections_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused, its existing ones stay, and closing one makes room."""
    from penstock.serving import connections

    monkeypatch.setattr(connections.Clocked, "max_connections_per_peer", 2)
    monkeypatch.setattr(connections, "is_loopback", lambda address: False)

    def client(port: int) -> list[bool]:
        sent = _request(port, call("echo", text="hi"))

        def connected() -> socket.socket:
            return stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))

        with contextlib.ExitStack() as stack:
            opened = [connected()]
            said = [_answered(opened[0], sent)]
            opened += [connected(), connected()]
            said += [_answered(one, sent) for one in (opened[1], opened[2], opened[0])]
            opened[0].shutdown(socket.SHUT_WR)
            assert opened[0].recv(1) == b""
            return [*said, _answered(connected(), sent)]

    assert _serve_here(monkeypatch, client) == [True, True, False, True, True]


def _answered(connection: socket.socket, sent: bytes) -> bool:
    """Return whether a connection, which stays open, gets the answer to a request."""
    try:
        connection.sendall(sent)
        response = http.client.HTTPResponse(connection)
        response.begin()
    except OSError:
        return False
    response.read()
    return response.status == 200


def test_a_body_that_is_refused_ends_no_connection(doubles_port: int) -> None:
    """The error is answered, and the client's next request is served on the same connection."""
    sent = _request(doubles_port, call("echo", text="hi"))
    with socket.create_connection(("127.0.0.1", doubles_port), timeout=10) as connection:
        assert not _answered(connection, sent[:-1] + b"]")
        assert _answered(connection, sent)


def test_a_byte_now_and_then_does_not_keep_a_header_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """H26: the time runs from the first byte, not from the last one."""

    def client(port: int) -> float:
        started = time.monotonic()
        with contextlib.suppress(OSError), _raw(port, b"POST /mcp HTTP/1.1\r\n") as connection:
            while time.monotonic() - started < 8:
                time.sleep(0.1)
                connection.sendall(b"X")
        return time.monotonic() - started

    assert 0.9 < _serve_here(monkeypatch, client) < 4


@pytest.mark.proves("L-9")
def test_a_body_that_does_not_come_is_answered_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """H26: an occasional byte is not a body."""

    def client(port: int) -> bytes:
        sent = _request(port, call("echo"))
        with _raw(port, sent[:-20]) as connection:
            for byte in sent[-20:-10]:
                with contextlib.suppress(OSError):
                    connection.sendall(bytes([byte]))
                    time.sleep(0.1)
            return _until_closed(connection)

    assert _serve_here(monkeypatch, client).startswith(b"HTTP/1.1 408")
