"""Over HTTP, does one host's name affect no other host, and are batches and targets of any form served?"""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.relay.odd_server import OddServer
from tests.relay.test_http import JSON, ask, proxied, text_of
from tests.relay.traffic import call, line, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def odd() -> Iterator[OddServer]:
    with OddServer() as server:
        yield server


def text_on(connection: http.client.HTTPConnection, body: bytes) -> str:
    """Return the text of the answer to a call on a connection that stays open."""
    connection.request("POST", "/mcp", body.strip(), JSON)
    return text_of(connection.getresponse().read())


def test_without_a_session_no_host_gets_what_another_shows(odd: OddServer, tmp_path: Path) -> None:
    """A host that gave its name on a connection is known on that one; all others get what every host shows."""
    with proxied(odd.url.replace("/mcp", "/no-session"), tmp_path / "s") as port:
        small = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        small.request("POST", "/mcp", request("initialize", 0, clientInfo={"name": "Visual Studio Code"}).strip(), JSON)
        with small.getresponse() as response:
            assert "mcp-session-id" not in response.headers
            response.read()
        assert len(text_on(small, call("json"))) <= 8_000
        assert 10_000 < len(text_of(ask(port, call("json"))[2])) <= 16_000
        ask(port, request("initialize", 0, clientInfo={"name": "claude-code"}))
        assert len(text_on(small, call("json"))) <= 8_000
        assert 10_000 < len(text_of(ask(port, call("json"))[2])) <= 16_000
        small.close()


def test_a_host_that_reconnects_is_known_by_its_agent(odd: OddServer, tmp_path: Path) -> None:
    """This applies without a session, and only until another host has the same agent, as those with the same library do."""
    with proxied(odd.url.replace("/mcp", "/no-session"), tmp_path / "s") as port:
        ask(port, request("initialize", 0, clientInfo={"name": "Visual Studio Code"}), user_agent="node")
        for _ in range(2):
            assert len(text_of(ask(port, call("json"), user_agent="node")[2])) <= 8_000
        for other in ({}, {"user_agent": "other"}):
            assert 10_000 < len(text_of(ask(port, call("json"), **other)[2])) <= 16_000
        ask(port, request("initialize", 0, clientInfo={"name": "claude-code"}), user_agent="node")
        for _ in range(2):
            assert 10_000 < len(text_of(ask(port, call("json"), user_agent="node")[2])) <= 16_000


@pytest.mark.parametrize("path", ["/long", "/long-one"])
def test_an_answer_of_ours_comes_before_a_batch_that_is_too_long_to_hold(
    path: str, odd: OddServer, tmp_path: Path
) -> None:
    """The server's answer passes as it comes."""
    ours, ping = json.loads(call("ctx_page", 1, handle="A")), json.loads(request("ping", 2))
    with proxied(odd.url.replace("/mcp", path), tmp_path / "s", "--hold-bytes", "65536") as port:
        answers = json.loads(ask(port, line([ours, ping]))[2])
        assert [one["id"] for one in answers] == [1, 2]
        assert len(answers[1]["result"]["x"]) == 200_000


@pytest.mark.parametrize("path", ["/mcp", "/one", "/events", "/takes-none"])
def test_a_call_of_ours_in_a_batch_is_answered_with_the_others(path: str, odd: OddServer, tmp_path: Path) -> None:
    """This holds however the server answers the rest of the batch, which is all that it sees."""
    ours, ping = json.loads(call("ctx_page", 1, handle="A")), json.loads(request("ping", 2))
    with proxied(odd.url.replace("/mcp", path), tmp_path / "s") as port:
        status, headers, body = ask(port, line([ours, ping]))
        assert status == 200
        answers: list[Any] = []
        if path == "/events":
            for event in body.split(b"\n\n")[:-1]:
                answers += json.loads(event.removeprefix(b"data: "))
        else:
            assert headers["content-type"] == "application/json"
            answers = json.loads(body)
        assert [one["id"] for one in answers] == ([1] if path == "/takes-none" else [1, 2])
        assert answers[0]["result"]["content"][0]["text"].startswith("There is no artifact")
        assert json.loads(odd.seen[-1][2]) == [ping]
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
        assert [one["id"] for one in json.loads(ask(port, line([ours]))[2])] == [1]
        assert ask(port, line(cancelled))[0] == 202


def test_targets_of_every_form_have_a_status(odd: OddServer, tmp_path: Path) -> None:
    """A whole URL is read as its path if it names us; a target that is not a path gets nothing."""
    with proxied(odd.url, tmp_path / "s") as port:
        for method, target, status in (
            ("POST", f"http://127.0.0.1:{port}/mcp", 200),
            ("POST", f"http://LOCALHOST:{port}/mcp", 200),
            ("POST", "http://evil.example/mcp", 421),
            ("POST", "/mcp#x", 400),
            ("OPTIONS", "*", 400),
        ):
            assert (target, ask(port, request("ping"), method, target)[0]) == (target, status)
        assert len(odd.seen) == 2
