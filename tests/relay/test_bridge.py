"""With a host at pipes and a server over HTTP, does every request get one answer, and are only messages written?"""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from penstock.relay.messages import parse
from penstock.relay.mirrored import Mirror
from penstock.relay.unanswered import first_words
from tests.relay.odd_server import OddServer
from tests.relay.test_http import is_cut
from tests.relay.test_stdio import Ends, warm_relay
from tests.relay.traffic import call, line, modern, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def odd() -> Iterator[OddServer]:
    with OddServer() as server:
        yield server


@pytest.fixture
def piped(odd: OddServer, tmp_path: Path) -> Iterator[Ends]:
    """Run the relay at pipes, in front of the odd server."""
    ends = Ends([*warm_relay(), "--url", odd.url], tmp_path / "s")
    yield ends
    ends.process.kill()
    ends.process.communicate()


def note(**params: object) -> bytes:
    """Return a notification of the host."""
    return line({"jsonrpc": "2.0", "method": "notifications/roots/list_changed", "params": params})


def test_an_error_of_oauth_becomes_an_error_under_the_id_of_its_request(piped: Ends) -> None:
    """Its `error` is a text, so it is not JSON-RPC; the server's own words are included."""
    got = piped.ask(call("oauth", "a"))
    assert (got["jsonrpc"], got["id"], got["error"]["code"]) == ("2.0", "a", -32600)
    assert 'HTTP 401 Unauthorized (application/json): {"error":"invalid_token"' in got["error"]["message"]
    assert piped.end()[1] == b""


def test_what_is_not_a_message_is_never_written(piped: Ends) -> None:
    """A page with status 200 is reported with its status, its type and only its first words."""
    got = piped.ask(call("html", 1))
    assert got["id"] == 1
    assert "HTTP 200 OK (text/html): <html> <p>Sign in</p>xx" in got["error"]["message"]
    assert len(got["error"]["message"]) < 700
    status, output, errors = piped.end()
    assert (status, output) == (0, b"")
    assert b"\n<p>" not in errors


def test_first_words_are_on_one_line_and_act_on_no_terminal() -> None:
    """They are also printed on the error output."""
    assert first_words(b"a\r\n b\x1b[31m\xff") == "a b\\x1b[31m\ufffd"
    assert first_words(b"x" * 10_000) == "x" * 500 + "\u2026"


@pytest.mark.parametrize("tool", ["another's first", "notes in a batch"])
def test_a_stream_is_read_until_the_answer_to_its_own_request(tool: str, piped: Ends) -> None:
    """What comes before it passes, if it is a message."""
    piped.send(call(tool, 5))
    first, second = json.loads(piped.output.readline()), json.loads(piped.output.readline())
    assert first[0]["method"] == "notifications/x" if isinstance(first, list) else first["id"] == "zz"
    assert (second["id"], "result" in second) == (5, True)
    assert piped.end()[1] == b""


def test_an_answer_to_another_alone_is_followed_by_ours(piped: Ends) -> None:
    """Otherwise the request would wait."""
    assert piped.ask(call("another's", 5))["id"] == "zz"
    got = json.loads(piped.output.readline())
    assert (got["id"], got["error"]["code"]) == (5, -32600)


def test_each_request_of_a_batch_gets_an_answer(odd: OddServer, tmp_path: Path) -> None:
    """The server accepts no batch."""
    piped = Ends([*warm_relay(), "--url", odd.url.replace("/mcp", "/takes-none")], tmp_path / "s")
    batch: list[Any] = [json.loads(call("oauth", at)) for at in range(3)]
    piped.send(line([{"jsonrpc": "2.0", "id": 9, "result": {}}, *batch]))
    got = [json.loads(piped.output.readline()) for _ in batch]
    assert [message["id"] for message in got] == [0, 1, 2]
    assert piped.end()[:2] == (0, b"")


def test_a_stream_that_begins_with_a_mark_of_the_byte_order_is_read(piped: Ends, tmp_path: Path) -> None:
    """The mark belongs to no field, wherever it is cut."""
    assert is_cut(piped.text(call("marked", 1)), tmp_path / "s")


@pytest.mark.proves("Y-1")
def test_a_line_end_within_a_text_lets_no_flood_through(piped: Ends) -> None:
    """It becomes JSON once the line end is replaced by a space, and is then guarded like any other result."""
    said = piped.text(call("line end in a text", 1))
    assert said.startswith("[OUTPUT TRUNCATED]")
    assert len(said) <= 16_000


def test_a_request_names_its_sender_and_no_library(piped: Ends, odd: OddServer) -> None:
    """Many gateways refuse a request without one."""
    piped.ask(call("small", 1))
    assert odd.seen[0][1]["user-agent"].startswith("penstock/")


def test_a_version_that_no_header_can_carry_is_not_sent(odd: OddServer, tmp_path: Path) -> None:
    """The host decides what to do about it, and every other request continues."""
    piped = Ends([*warm_relay(), "--url", odd.url.replace("/mcp", "/no-version")], tmp_path / "s")
    assert piped.ask(request("initialize", 0))["result"]["protocolVersion"] == "2025\ud800\n"
    piped.send(line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}))
    assert piped.text(call("small", 1)) == "small"
    assert piped.end()[0] == 0
    assert "mcp-protocol-version" not in odd.seen[-2][1]
    assert b"cancelled" in odd.seen[1][2], "a version was negotiated, so the server is told"


def test_a_list_with_invalid_schemas_passes() -> None:
    """Nothing is learned from it."""
    mirror = Mirror()
    mirror.learn(b'{"result":{"tools":[{"name":"x","inputSchema":["x-mcp-header"]}]}}')
    raw = modern("tools/call", name="x")
    (message,) = parse(raw) or []
    assert (b"mcp-name", b"x") in mirror.headers(raw, message)


def test_a_notification_without_an_answer_holds_up_nothing_for_long(piped: Ends, odd: OddServer) -> None:
    """What follows it continues, notifications in their order, and the end of input ends the relay."""
    piped.send(note(hangs=True), *(note(at=at) for at in range(10)))
    began = time.monotonic()
    assert piped.ask(request("ping", 1))["id"] == 1
    assert time.monotonic() - began < 8
    while len(odd.seen) < 12:
        assert time.monotonic() - began < 20
        time.sleep(0.02)
    sent = [json.loads(body) for _, _, body in odd.seen]
    assert [message["params"].get("at") for message in sent if "id" not in message] == [None, *range(10)]
    piped.send(note(hangs=True))
    began = time.monotonic()
    assert piped.end()[0] == 0
    assert time.monotonic() - began < 8


def test_what_follows_a_notification_does_not_overtake_it(piped: Ends, odd: OddServer) -> None:
    """The server has answered the first before the second is sent."""
    for at in range(20):
        piped.send(note(at=at), call("small", at))
    got = [json.loads(piped.output.readline()) for _ in range(20)]
    assert [one for one in got if "result" not in one] == []
    assert sorted(one["id"] for one in got) == list(range(20))
    sent = [json.loads(body)["params"].get("at") for _, _, body in odd.seen]
    assert [at for at in sent if at is not None] == list(range(20))
    for at in range(20):
        numbers = [json.loads(body).get("id") for _, _, body in odd.seen]
        assert sent.index(at) < numbers.index(at)


@pytest.mark.parametrize("last", [note(hangs=True), modern("tools/call", 1, name="hangs")])
def test_a_signal_ends_it_whatever_the_server_leaves_unanswered(last: bytes, piped: Ends, odd: OddServer) -> None:
    """It ends within seconds, with the status of the signal."""
    piped.send(last)
    while not odd.seen:
        time.sleep(0.02)
    piped.process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    assert piped.process.wait(60) == 143
    assert time.monotonic() - began < 20
