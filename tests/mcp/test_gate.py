"""What does an HTTP gate answer and hand on, when does it close a connection, and where is each bound? Tested without sockets."""

from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp_types.jsonrpc import JSONRPCRequest
from tests.mcp.conftest import REPOSITORY, call

from penstock.errors import CallerError
from penstock.mcp_server import frames
from penstock.mcp_server import http as http_server
from penstock.mcp_server.http import Gate
from penstock.serving import connections, token
from penstock.serving.connections import ADMITTED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

pytestmark = pytest.mark.proves("L-9")
Message = dict[str, Any]
TOKEN = b"t" * 43
BODY = json.dumps(call("echo")).encode()


def gate_before(app: Any, *, serves: bytes | None = TOKEN) -> Gate:
    """Return a gate that listens on port 1."""
    return Gate(app, token=serves, host="127.0.0.1", port=1)


async def asked(gate: Gate, *given: Message, **changes: Any) -> tuple[list[Message], list[Message]]:
    """Return what is sent to a request that comes in these messages and then waits, and which of them were not read."""
    sent: list[Message] = []
    left = list(given or [{"type": "http.request", "body": BODY, "more_body": False}])
    headers = {"host": "127.0.0.1:1", "content-type": "application/json", "authorization": f"Bearer {TOKEN.decode()}"}
    headers |= changes.pop("headers", {})
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items() if value],
        **changes,
    }

    async def receive() -> Message:
        if not left:
            await anyio.sleep_forever()
        return left.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    await gate(scope, receive, send)
    return sent, left


async def nobody(*_: object) -> None:
    """Fail, as an application that must not be reached."""
    raise AssertionError


def answer(status: int, text: str, *headers: tuple[bytes, bytes]) -> list[Message]:
    """Return a refusal as it is sent, complete before more of the body is awaited."""
    length = (b"content-length", str(len(text.encode())).encode())
    kind = (b"content-type", b"text/plain; charset=utf-8")
    start = [kind, (b"connection", b"close"), *headers, length]
    return [
        {"type": "http.response.start", "status": status, "headers": start},
        {"type": "http.response.body", "body": text.encode(), "more_body": True},
        {"type": "http.response.body", "body": b"", "more_body": False},
    ]


def test_what_is_let_in_is_handed_on_as_it_was_read_and_so_is_the_answer() -> None:
    """The body is one message, however it came, and its sender is marked as having the token."""
    got: list[Message] = []
    said = [
        {"type": "http.response.start", "status": 200, "headers": [(b"x", b"y")]},
        {"type": "http.response.body", "body": b"{}"},
    ]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert scope[ADMITTED] is True
        got.append(await receive())
        with anyio.move_on_after(0.01) as waited:
            got.append(await receive())
        assert waited.cancelled_caught
        for message in said:
            await send(message)

    half = len(BODY) // 2
    parts: list[Message] = [
        {"type": "http.request", "body": BODY[:half], "more_body": True},
        {"type": "http.request", "more_body": True},
        {"type": "http.request", "body": BODY[half:]},
    ]
    assert asyncio.run(asked(gate_before(app), *parts))[0] == said
    assert got == [{"type": "http.request", "body": BODY, "more_body": False}]


def test_a_client_that_leaves_before_its_body_has_come_gets_no_answer() -> None:
    """The application is not called either."""
    parts: list[Message] = [{"type": "http.request", "body": BODY[:9], "more_body": True}, {"type": "http.disconnect"}]
    assert asyncio.run(asked(gate_before(nobody), *parts)) == ([], [])


def test_only_a_client_that_leaves_ends_the_call() -> None:
    """Anything else that follows a completely read request is ignored."""
    ended: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        del scope, send
        try:
            await receive()
            await receive()
        finally:
            ended.append(len(ended))

    more: Message = {"type": "http.request", "body": b"", "more_body": False}
    given = [{**more, "body": BODY}, more, more, {"type": "http.disconnect"}, more]
    assert asyncio.run(asked(gate_before(app), *given)) == ([], [more])
    assert ended == [0]


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"headers": {"host": "evil.example"}}, answer(421, "This server does not serve that Host")),
        (
            {"headers": {"authorization": ""}},
            answer(401, "Send the token of this server: Authorization: Bearer …", (b"www-authenticate", b"Bearer")),
        ),
        ({"path": "/mcp/"}, answer(404, "The tools are at /mcp")),
        (
            {"method": "GET"},
            answer(405, "Only POST: there are no sessions and no streams to open or to end", (b"allow", b"POST")),
        ),
        ({"headers": {"content-type": "text/json"}}, answer(400, "Content-Type must be application/json")),
        ({"headers": {"content-type": ""}}, answer(400, "Content-Type must be application/json")),
        ({"headers": {"content-length": "4194305"}}, answer(413, "A message has at most 4194304 bytes")),
        ({"headers": {"content-length": "-1"}}, answer(413, "A message has at most 4194304 bytes")),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
def test_a_refusal_goes_out_whole_and_then_the_body_is_read_off(
    monkeypatch: pytest.MonkeyPatch, changes: Message, refusal: list[Message], waits: bool
) -> None:
    """It is read to its end, so that the sender sees the refusal and no reset, unless the sender waits to be asked (`Expect`)."""
    clocks: list[float] = []
    move_on = anyio.move_on_after

    def noted(seconds: float) -> anyio.CancelScope:
        clocks.append(seconds)
        return move_on(9)

    monkeypatch.setattr(anyio, "move_on_after", noted)
    last: Message = {"type": "http.request", "body": b"x"}
    body: list[Message] = [{**last, "more_body": True}, last, last]
    headers = {**changes.get("headers", {}), **({"expect": "100-continue"} if waits else {})}
    sent, left = asyncio.run(asked(gate_before(nobody), *body, **{**changes, "headers": headers}))
    assert sent == refusal
    assert left == (body if waits else [last])
    is_stranger = refusal[0]["status"] in {401, 421}
    assert clocks == ([] if waits else [0.25 if is_stranger else 5.0])


def test_a_body_that_is_too_long_or_no_message_is_refused_when_it_has_come() -> None:
    """It is refused at the first byte too many, whatever would follow; invalid JSON is answered in JSON."""
    first = {"type": "http.request", "body": bytes(frames.MAX_BYTES), "more_body": True}
    rest: list[Message] = [{"type": "http.request", "body": b"x", "more_body": on} for on in (True, True, False)]
    sent, left = asyncio.run(asked(gate_before(nobody), first, *rest))
    assert sent == answer(413, "A message has at most 4194304 bytes")
    assert left == []
    sent, _ = asyncio.run(asked(gate_before(nobody), {"type": "http.request", "body": b"["}))
    body = sent[1]["body"]
    assert sent == [
        {
            "type": "http.response.start",
            "status": 400,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
            ],
        },
        {"type": "http.response.body", "body": body, "more_body": False},
    ]
    assert json.loads(body)["error"]["code"] == -32700


def test_a_missing_body_is_answered_and_its_connection_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left to read."""
    monkeypatch.setattr(http_server, "BODY_SECONDS", 0.01)
    sent, _ = asyncio.run(asked(gate_before(nobody), {"type": "http.request", "body": b"{", "more_body": True}))
    said = answer(408, "The body did not come in time")
    assert sent == [said[0], {**said[1], "more_body": False}]


def test_so_many_requests_are_served_at_once_and_one_more_when_one_has_ended() -> None:
    """One more request is refused, with the time to try again."""

    async def steps() -> list[int]:
        statuses: list[int] = []
        come, ends = anyio.Semaphore(0), anyio.Semaphore(0)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            del scope, receive
            come.release()
            await ends.acquire()
            await send({"type": "http.response.start", "status": 200, "headers": []})

        async def ask() -> None:
            sent, _ = await asked(gate)
            statuses.append(sent[0]["status"])

        gate = gate_before(app)
        async with anyio.create_task_group() as tasks:
            for _ in range(http_server.MAX_IN_FLIGHT):
                tasks.start_soon(ask)
                await come.acquire()
            assert (await asked(gate))[0] == answer(
                503, f"{http_server.MAX_IN_FLIGHT} requests are being served", (b"retry-after", b"1")
            )
            ends.release()
            while not statuses:
                await anyio.sleep(0)
            tasks.start_soon(ask)
            await come.acquire()
            assert (await asked(gate))[0][0]["status"] == 503
            for _ in range(http_server.MAX_IN_FLIGHT):
                ends.release()
        return statuses

    assert asyncio.run(steps()) == [200] * (http_server.MAX_IN_FLIGHT + 1)


def initializing(params: Message | None) -> JSONRPCRequest:
    """Return the first message of a client of the older era."""
    return JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params=params)


@pytest.mark.parametrize("name", ["", "a", "ab", "abc", "ü" * 63, "x" * 64, "日" * 65, "a.b=c"])
def test_a_session_id_holds_the_name_of_its_client(name: str) -> None:
    """It is the first 64 characters, as any header may hold them; it is added to a successful answer only."""
    got: list[Message] = []

    async def sent(message: Any) -> None:
        got.append(message)

    start: Message = {"type": "http.response.start", "status": 200, "headers": [(b"x", b"y")]}
    body: Message = {"type": "http.response.body", "status": 200, "body": b"{}"}

    async def steps() -> None:
        send = http_server._with_session(sent, initializing({"clientInfo": {"name": name}}))
        for message in (dict(start), dict(body), {**start, "status": 400}):
            await send(message)

    asyncio.run(steps())
    before, (key, session) = got[0]["headers"]
    assert (before, key, got[1:]) == ((b"x", b"y"), b"mcp-session-id", [body, {**start, "status": 400}])
    assert http_server._client_in(session.decode("ascii")) == (name[:64] or None)
    assert session.decode("ascii").isprintable()


@pytest.mark.parametrize("params", [None, {}, {"clientInfo": "x"}, {"clientInfo": {"name": 7}}])
def test_a_client_without_a_name_has_none(params: Message | None) -> None:
    """This holds whatever is in place of a name."""
    got: list[Message] = []

    async def sent(message: Any) -> None:
        got.append(message)

    start: Message = {"type": "http.response.start", "status": 200}

    async def steps() -> None:
        await http_server._with_session(sent, initializing(params))(start)

    asyncio.run(steps())
    ((_, session),) = got[0]["headers"]
    assert http_server._client_in(session.decode()) is None


def test_the_bounds_are_those_that_the_docs_name() -> None:
    """Operators of a server plan with them."""
    docs = " ".join((REPOSITORY / "docs" / "mcp.md").read_text().split())
    for said in (
        f"{http_server.MAX_IN_FLIGHT} requests are served at once; further ones get 503",
        f"At most {connections.MAX_CONNECTIONS} connections are open, {connections.MAX_CONNECTIONS_PER_PEER} of them from any",
        f"Headers must arrive within {connections.HEADER_SECONDS:.0f} seconds, bodies within {http_server.BODY_SECONDS:.0f}.",
        f"a body above {frames.MAX_BYTES >> 20} MiB with 413",
    ):
        assert said in docs


# ── the token ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("content", [b"x" * 32, b"\n " + b"x" * 32 + b" \n"])
def test_a_token_has_32_characters_at_least(tmp_path: Path, content: bytes) -> None:
    """It is one line of ASCII; surrounding spaces do not belong to it."""
    file = tmp_path / "token"
    file.write_bytes(content)
    file.chmod(0o600)
    assert token.load(str(file)) == (b"x" * 32, str(file))
    for wrong in (b"x" * 31, b" " * 9 + b"x" * 31, "ü".encode() * 32, b"x" * 32 + b"\n" + b"x" * 32):
        file.write_bytes(wrong)
        with pytest.raises(CallerError, match="holds no token: one line of at least 32 ASCII characters"):
            token.load(str(file))


@pytest.mark.parametrize("bit", [0o001, 0o002, 0o004, 0o010, 0o020, 0o040])
def test_a_token_that_others_may_do_anything_with_is_refused(tmp_path: Path, bit: int) -> None:
    """Any permission of the group or of others is too much."""
    file = tmp_path / "token"
    file.write_bytes(b"x" * 43)
    file.chmod(0o600 | bit)
    with pytest.raises(CallerError, match=f"chmod 600 {file}"):
        token.load(str(file))


def test_a_token_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if nobody else may read it, its author knows it."""
    (tmp_path / "token").write_bytes(b"x" * 43)
    (tmp_path / "token").chmod(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(CallerError, match="can be read by others"):
        token.load(str(tmp_path / "token"))


def test_the_folder_of_a_token_is_made_for_the_users_own_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that the user names has to exist."""
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    before = os.umask(0)
    try:
        made, at = token.load(None)
    finally:
        os.umask(before)
    assert (tmp_path / ".local" / "state" / "penstock").stat().st_mode & 0o777 == 0o700
    assert len(made) == 43  # 256 random bits
    assert token.load(None) == (made, at)
    assert at == str(tmp_path / ".local" / "state" / "penstock" / "token")
    assert token.load(at) == (made, at)
    with pytest.raises(CallerError, match="cannot be made: No such file"):
        token.load(str(tmp_path / "none" / "token"))


# ── connections, with a clock that is set ────────────────────────────────────────────────────────────────────────


class Loop:
    """A loop whose time is set; scheduled calls are made when their time has come."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[tuple[float, Callable[[], None], list[bool]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, done: Callable[[], None]) -> Any:
        is_live = [True]
        self._timers.append((self.now + seconds, done, is_live))

        class Handle:
            def cancel(self) -> None:
                is_live[0] = False

        return Handle()

    def run(self, until: float) -> None:
        """Make all calls that are due until then, each at its time."""
        while due := [timer for timer in self._timers if timer[2][0] and timer[0] <= until]:
            timer = min(due, key=lambda one: one[0])
            self._timers.remove(timer)
            self.now = timer[0]
            timer[1]()
        self.now = until


class Transport:
    """The other end: what it was sent, when it was cut off, and how much of an answer is unread."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.aborted: list[float] = []
        self.written = b""
        self.is_closed = False
        self.unread_bytes = 0

    def abort(self) -> None:
        self.aborted.append(self._loop.now)

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.is_closed = True

    def get_write_buffer_size(self) -> int:
        return self.unread_bytes


class Reader(asyncio.Protocol):
    """A replacement for uvicorn's class, in which the test separates requests."""

    def __init__(self, loop: Loop, peers: set[Any], client: tuple[str, int] | None) -> None:
        self.loop, self.connections, self.client = loop, peers, client
        self.app_state: dict[str, Any] = {"kept": 1}
        self.cycle: Any = None

    def connection_made(self, transport: Any) -> None:
        self.connections.add(self)
        self.transport = transport


class Connection(connections.Clocked, Reader):  # type: ignore[misc]
    """A connection under observation."""

    max_connections = 3
    max_connections_per_peer = 2


class Cycle:
    """A request in progress, until it is answered."""

    def __init__(self, *, is_admitted: bool = True) -> None:
        self.scope: Mapping[str, object] = {ADMITTED: True} if is_admitted else {}
        self.response_complete = False


def opened(loop: Loop, peers: set[Any], client: tuple[str, int] | None = ("127.0.0.1", 1)) -> tuple[Any, Transport]:
    """Return a connection that was just made."""
    transport, made = Transport(loop), Connection(loop, peers, client)
    made.connection_made(transport)  # type: ignore[arg-type]
    return made, transport


def test_a_header_has_its_time_from_its_first_byte() -> None:
    """For the first request it runs from the connection; none runs while a request is served, or between two."""
    loop = Loop()
    one, transport = opened(loop, set())
    loop.run(4.9)
    one.data_received(b"P")
    assert transport.aborted == []
    loop.run(9)
    assert transport.aborted == [5.0]
    two, transport = opened(loop, set())
    loop.run(13.9)
    two.cycle = Cycle()
    two.data_received(b"rest of a header")
    loop.run(50)
    two.data_received(b"of a body")
    two.cycle.response_complete = True
    loop.run(100)
    assert transport.aborted == []
    two.data_received(b"P")  # of the next header
    loop.run(104)
    two.data_received(b"O")
    loop.run(200)
    assert transport.aborted == [105.0]


def test_a_reader_has_its_time_from_what_it_read_last() -> None:
    """It is closed after 30 s without reading, within a tenth of that; a byte read counts, new unread bytes do not."""
    loop = Loop()
    one, transport = opened(loop, set())
    one.cycle = Cycle()
    one.data_received(b"")
    transport.unread_bytes = 1000
    one.pause_writing()
    for seconds in range(20, 201, 20):  # a byte each 20 s is slow, but no reason
        loop.run(seconds)
        transport.unread_bytes -= 1
    loop.run(203)
    transport.unread_bytes += 5  # more of the answer: nothing of it was read
    loop.run(300)
    assert len(transport.aborted) == 1
    assert 230 <= transport.aborted[0] <= 236
    # A client that reads again, and a lost connection, are no longer watched.
    for ends in (one.resume_writing, lambda: one.connection_lost(None)):
        loop.run(loop.now + 1)
        before = list(transport.aborted)
        one.pause_writing()
        loop.run(loop.now + 29.9)
        ends()
        loop.run(loop.now + 100)
        assert transport.aborted == before


def test_a_client_that_never_reads_is_closed_after_its_time() -> None:
    """It is not closed earlier, and at most a tenth later."""
    loop = Loop()
    one, transport = opened(loop, set())
    one.cycle = Cycle()
    one.data_received(b"")
    loop.run(7)
    transport.unread_bytes = 1000
    one.pause_writing()
    loop.run(100)
    assert 37 <= transport.aborted[0] <= 40


def test_a_request_is_told_once_its_connection_is_lost() -> None:
    """Requests of a connection share its state, and the server's state stays; a header's timer ends with it."""
    loop, told = Loop(), []
    one, transport = opened(loop, set())
    assert one.app_state["kept"] == 1
    shared = one.app_state[connections.OF_CONNECTION]
    shared[connections.LOST].add(lambda: told.append("lost"))
    shared[connections.ABORT]()
    assert (transport.aborted, told) == ([0.0], [])
    one.connection_lost(None)
    loop.run(100)
    assert (transport.aborted, told) == ([0.0], ["lost"])


@pytest.mark.parametrize("is_admitted", [False, True])
def test_the_oldest_without_work_makes_room_for_one_too_many(is_admitted: bool) -> None:
    """A connection without the token may be dropped even in use; if all are admitted, the new one is told to try again."""
    loop, peers = Loop(), set[Any]()
    made = []
    for at in range(3):
        loop.run(at)
        made.append(opened(loop, peers))
        made[-1][0].cycle = Cycle(is_admitted=is_admitted or at == 0)
    late, transport = opened(loop, peers)
    busy = (
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        True,
    )
    assert (transport.written, transport.is_closed) == (busy if is_admitted else (b"", False))
    assert [bool(other.aborted) for _, other in made] == [False, not is_admitted, False]
    assert (made[1][0] in peers) == is_admitted
    loop.run(100)
    assert bool(transport.aborted) == (not is_admitted)  # only admitted connections have a timer
    assert late in peers


@pytest.mark.parametrize(("client", "is_far"), [(("192.0.2.1", 5), True), (("127.0.0.1", 5), False), (None, False)])
def test_another_machine_has_fewer_connections(client: tuple[str, int] | None, is_far: bool) -> None:
    """It is identified by its address, whatever the port; other machines do not count, and loopback is not limited."""
    loop, peers = Loop(), set[Any]()
    opened(loop, peers, ("192.0.2.9", 5))
    opened(loop, peers, None)
    peers.add(object())  # not a connection of ours
    refused = []
    for seconds in (1, 2, 3):  # the oldest, which make room, are those of others
        loop.run(seconds)
        refused.append(opened(loop, peers, client)[1].is_closed)
    assert refused == [False, False, is_far]
