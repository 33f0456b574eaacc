"""Are several servers behind one relay one server to their host?"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp import Client
from penstock.errors import CallerError
from penstock.relay.config import read_servers
from penstock.relay.guarding import Guard
from penstock.relay.own_tools import AnswerThreads
from penstock.relay.switchboard import HOST, Switchboard
from penstock.store import open_store
from tests.mcp.conftest import REPOSITORY, warm_python
from tests.relay.odd_server import OddServer
from tests.relay.test_http import everything
from tests.relay.test_stdio import RELAY, SERVER, Ends, children_of, is_gone, warm_relay
from tests.relay.traffic import FLOOD, answer, call, line, modern, request, text_result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["everything"]


def board(folder: Path, *names: str) -> Switchboard:
    store = open_store(str(folder))
    return Switchboard(names, Guard(lambda: store, None, lambda _: None))


def tool(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def ids_of(outs: list[Any]) -> list[Any]:
    return [json.loads(out.raw)["id"] for out in outs]


def listed(talk: Switchboard, *lists: list[dict[str, object]]) -> dict[str, Any]:
    """Return what the host is told if servers list these tools."""
    outs = talk.from_host(modern("tools/list", "l"))
    assert [out.to for out in outs] == list(range(len(lists)))
    got: list[Any] = []
    for number, (key, tools) in enumerate(zip(ids_of(outs), lists, strict=True)):
        hints = {"ttlMs": 1000 * (number + 1), "cacheScope": "public", "resultType": "complete"}
        got += talk.from_server(number, answer({"tools": tools, **hints}, key))
    (out,) = got
    assert (out.to, json.loads(out.raw)["id"]) == (HOST, "l")
    return dict(json.loads(out.raw)["result"])


@pytest.mark.proves("Y-3")
def test_names_are_kept_unless_two_collide(tmp_path: Path) -> None:
    """Those then begin with their server's name, and calls go there under the name that it knows."""
    talk = board(tmp_path, "a", "b")
    result = listed(talk, [tool("same", x=1.50), tool("one", outputSchema={"a": 1})], [tool("same"), tool("ctx_page")])
    assert [entry["name"] for entry in result["tools"]] == [
        *("a_same", "one", "b_same", "ctx_page"),
        *("penstock_ctx_page", "penstock_ctx_find"),
    ]
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (1000, "public", "complete")
    assert "outputSchema" not in result["tools"][1]
    for name, server, known in (
        ("a_same", 0, "same"),
        ("b_same", 1, "same"),
        ("one", 0, "one"),
        ("ctx_page", 1, "ctx_page"),
    ):
        (out,) = talk.from_host(call(name, 7, x=1.50))
        assert (out.to, json.loads(out.raw)["params"]["name"]) == (server, known)
        (back,) = talk.from_server(server, answer(text_result("x"), 7))
        assert (back.to, back.raw) == (HOST, answer(text_result("x"), 7))
    (unknown,) = talk.from_host(call("nobody", 8))
    assert json.loads(unknown.raw)["error"]["code"] == -32602
    (own,) = talk.from_host(call("penstock_ctx_find", 9, handle="x", pattern="y"))
    assert own.own is not None


def test_a_flood_names_its_server_and_is_cut(tmp_path: Path) -> None:
    """There is one store for all."""
    talk = board(tmp_path, "a", "b")
    listed(talk, [tool("x")], [tool("y")])
    talk.from_host(modern("tools/call", 1, client="opencode", name="y"))
    (back,) = talk.from_server(1, answer(text_result(FLOOD), 1))
    text = json.loads(back.raw)["result"]["content"][0]["text"]
    assert "Tool 'b y' returned" in text
    assert len(text) <= 48_000


def test_lists_have_all_pages_of_all_servers(tmp_path: Path) -> None:
    """Each is asked for its next page with its own cursor; a server that refuses has none."""
    talk = board(tmp_path, "a", "b", "c")
    first = talk.from_host(request("tools/list", 5))
    (more,) = talk.from_server(0, answer({"tools": [tool("one")], "nextCursor": ""}, ids_of(first)[0]))
    assert (more.to, json.loads(more.raw)["params"]["cursor"]) == (0, "")
    assert talk.from_server(0, answer({"tools": [tool("two")]}, ids_of([more])[0])) == []
    refused = {"jsonrpc": "2.0", "id": ids_of(first)[1], "error": {"code": -32601, "message": "no"}}
    assert talk.from_server(1, line(refused)) == []
    (got,) = talk.lost(2)
    assert [entry["name"] for entry in json.loads(got.raw)["result"]["tools"]][:2] == ["one", "two"]


@pytest.mark.parametrize(
    "cursor", [b"9" * 5_000, b"[" * 20_000 + b"]" * 20_000, b'"\xff"'], ids=["digits", "levels", "bytes"]
)
def test_a_server_whose_next_page_nobody_can_ask_for_is_left_out_of_a_list(cursor: bytes, tmp_path: Path) -> None:
    """The host would otherwise wait forever for the tools of all servers."""
    talk = board(tmp_path, "a", "b")
    first, second = ids_of(talk.from_host(request("tools/list", 5)))
    page = answer({"tools": [tool("one")], "nextCursor": "CURSOR"}, first).replace(b'"CURSOR"', cursor)
    assert talk.from_server(0, page) == []
    (got,) = talk.from_server(1, answer({"tools": [tool("two")]}, second))
    assert next(entry["name"] for entry in json.loads(got.raw)["result"]["tools"]) == "two"


def test_a_call_before_any_list_asks_for_the_list_first(tmp_path: Path) -> None:
    """A host may know its tools from an earlier day; requests made meanwhile are not lost."""
    talk = board(tmp_path, "a", "b")
    asking = talk.from_host(modern("tools/call", 3, name="y"))
    assert [json.loads(out.raw)["method"] for out in asking] == ["tools/list", "tools/list"]
    assert "io.modelcontextprotocol/protocolVersion" in json.loads(asking[0].raw)["params"]["_meta"]
    talk.from_server(0, answer({"tools": [tool("x")]}, ids_of(asking)[0]))
    (out,) = talk.from_server(1, answer({"tools": [tool("y")]}, ids_of(asking)[1]))
    assert (out.to, json.loads(out.raw)["method"], json.loads(out.raw)["id"]) == (1, "tools/call", 3)
    (error,) = talk.from_host(modern("tools/call", 4, name="z"))
    assert "error" in json.loads(error.raw)


def test_introductions_are_united(tmp_path: Path) -> None:
    """The version is the oldest that one speaks, and the capabilities are all that any of them has."""
    talk = board(tmp_path, "a", "b")
    outs = talk.from_host(request("initialize", 0, protocolVersion="2025-11-25", clientInfo={"name": "opencode"}))
    results = [
        {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": False}}, "instructions": "Use x."},
        {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}, "prompts": {}}},
    ]
    got: list[Any] = []
    for number, (key, result) in enumerate(zip(ids_of(outs), results, strict=True)):
        got += talk.from_server(number, answer(result, key))
    result = json.loads(got[0].raw)["result"]
    assert result["protocolVersion"] == "2025-06-18"
    assert result["capabilities"] == {"tools": {"listChanged": True}, "prompts": {}}
    assert result["instructions"] == "a: Use x."
    assert [out.to for out in talk.from_host(line({"jsonrpc": "2.0", "method": "notifications/initialized"}))] == [0, 1]


@pytest.mark.parametrize("number", [1, "1", "a:b", -2.5])
def test_ids_of_requests_of_servers_do_not_meet(number: object, tmp_path: Path) -> None:
    """Each answer goes to the server that asked, under its own id, as it was written."""
    talk = board(tmp_path, "a", "b")
    asked = [talk.from_server(server, request("sampling/createMessage", number))[0] for server in (0, 1)]
    assert len({str(json.loads(out.raw)["id"]) for out in asked}) == 2
    for server in (1, 0):
        reply = answer({"x": 1.50}, json.loads(asked[server].raw)["id"])
        (back,) = talk.from_host(reply)
        assert (back.to, json.loads(back.raw)["id"]) == (server, number)
    assert talk.from_host(answer({}, "nobody asked")) == []


def test_the_end_of_a_server_answers_what_was_asked_of_it(tmp_path: Path) -> None:
    """Later requests to it are answered too."""
    talk = board(tmp_path, "a", "b")
    listed(talk, [tool("x")], [tool("y")])
    talk.from_host(call("x", 1))
    talk.from_host(call("y", 2))
    (out,) = talk.lost(0)
    assert (json.loads(out.raw)["id"], "has ended" in json.loads(out.raw)["error"]["message"]) == (1, True)
    (late,) = talk.from_host(call("x", 3))
    assert json.loads(late.raw)["error"]["code"] == -32000
    assert [o.to for o in talk.from_host(line({"method": "notifications/cancelled", "params": {"requestId": 2}}))] == [
        1
    ]


def test_a_tool_that_is_named_as_ours_is_a_servers_before_any_list_has_passed(tmp_path: Path) -> None:
    """All are asked first; what none of them has is ours."""
    talk = board(tmp_path / "s", "a", "b")
    outs = talk.from_host(call("ctx_page", 7))
    assert [out.to for out in outs] == [0, 1]
    got: list[Any] = []
    for number, (key, tools) in enumerate(zip(ids_of(outs), ([], [tool("ctx_page")]), strict=True)):
        got += talk.from_server(number, answer({"tools": tools}, key))
    assert [(out.to, json.loads(out.raw)["id"]) for out in got] == [(1, 7)]
    (own,) = talk.from_host(call("penstock_ctx_page", 8))
    assert own.own is not None


def told(outs: list[Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return where messages go, and what they say."""
    return [(out.to, json.loads(out.raw)) for out in outs]


@pytest.mark.proves("Y-3")
@pytest.mark.parametrize(
    ("servers", "lists", "names"),
    [
        (("a", "b", "c"), (["x"], ["x"], ["a_x"]), ["a_x_2", "b_x", "a_x"]),
        (("a_b", "a_b"), (["x"], ["x"]), ["a_b_x", "a_b_x_2"]),
        (("a", "b"), (["x", "x"], ["y"]), ["x", "y"]),
    ],
)
def test_no_tool_is_lost_to_an_equal_name(
    servers: tuple[str, ...], lists: tuple[list[str], ...], names: list[str], tmp_path: Path
) -> None:
    """A made-up name may already exist; a name that only one server has stays, and each leads to its own tool."""
    talk = board(tmp_path, *servers)
    result = listed(talk, *[[tool(name) for name in one] for one in lists])
    assert [entry["name"] for entry in result["tools"]][:-2] == names
    went = [told(talk.from_host(call(name, at)))[0] for at, name in enumerate(names)]
    assert len({(server, message["params"]["name"]) for server, message in went}) == len(names)


@pytest.mark.proves("Y-3")
@pytest.mark.parametrize("number", [1, 1.0, "1", "0x1"])
def test_no_server_answers_what_another_was_asked(number: object, tmp_path: Path) -> None:
    """Also not under an id that clients read as that of the request: a hostile server must not speak for an honest one."""
    talk = board(tmp_path, "a", "b")
    listed(talk, [tool("x")], [tool("y")])
    talk.from_host(call("x", 1))
    assert talk.from_server(1, answer(text_result("not a's"), number)) == []
    (back,) = talk.from_server(0, answer(text_result("a's"), 1))
    assert (back.to, back.raw) == (HOST, answer(text_result("a's"), 1))
    assert len(talk.from_server(1, answer(text_result("late"), 1))) == 1  # nobody waits, so a host ignores it


def test_no_server_answers_for_another_that_all_were_asked(tmp_path: Path) -> None:
    """Otherwise the other one's tools would be missing, or be those that were made up for it."""
    talk = board(tmp_path, "a", "b")
    first, second = ids_of(talk.from_host(request("tools/list", 5)))
    assert talk.from_server(1, answer({"tools": [tool("made_up")]}, first)) == []
    assert talk.from_server(1, answer({"tools": [tool("y")]}, second)) == []
    talk.from_host(request("resources/read", first, uri="x:"))  # goes to a, under an id like ours
    (got,) = talk.from_server(0, answer({"tools": [tool("x")]}, first))
    assert [entry["name"] for entry in json.loads(got.raw)["result"]["tools"]][:2] == ["x", "y"]


@pytest.mark.proves("Y-3")
@pytest.mark.parametrize("number", [5, "5"])
def test_no_server_answers_what_we_answer(number: object, tmp_path: Path) -> None:
    """A request to all servers, and a call of a tool of ours: one server could otherwise make up what the host is told."""
    talk = board(tmp_path, "a", "b")
    first, second = ids_of(talk.from_host(request("tools/list", 5)))
    assert talk.from_server(1, answer({"tools": [tool("made_up")]}, number)) == []
    talk.from_server(0, answer({"tools": [tool("x")]}, first))
    (got,) = talk.from_server(1, answer({"tools": [tool("y")]}, second))
    assert [entry["name"] for entry in json.loads(got.raw)["result"]["tools"]][:2] == ["x", "y"]
    (own,) = talk.from_host(call("ctx_find", 5, handle="h", pattern="p"))
    assert talk.from_server(1, answer(text_result("made up"), number)) == []
    assert own.own is not None
    assert talk.answered(own.own)


def test_two_servers_that_are_asked_under_one_id_both_answer(tmp_path: Path) -> None:
    """The protocol forbids it, but a host may do it; 1 and 1.0 are one id as well. A cancellation goes to both."""
    talk = board(tmp_path, "a", "b")
    listed(talk, [tool("x")], [tool("y")])
    talk.from_host(call("x", 1))
    talk.from_host(call("y", 1.0))
    cancelled = line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert [out.to for out in talk.from_host(cancelled)] == [0, 1]
    for server in (0, 1):
        (back,) = talk.from_server(server, answer(text_result("x"), 1))
        assert (back.to, back.raw) == (HOST, answer(text_result("x"), 1))


def test_a_question_that_a_server_takes_back_is_taken_back_at_the_host(tmp_path: Path) -> None:
    """The host gets the number by which it knows the request."""
    talk = board(tmp_path, "a", "b")
    ((_, asked),) = told(talk.from_server(1, request("elicitation/create", 5, message="Really?")))
    back = line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5, "reason": "late"}})
    ((to, ended),) = told(talk.from_server(1, back))
    assert (to, ended["params"]) == (HOST, {"requestId": asked["id"], "reason": "late"})


def test_what_a_person_types_is_completed_by_the_server_of_the_prompt_under_its_own_name(tmp_path: Path) -> None:
    """A prompt that two servers have has another name at the host."""
    talk = board(tmp_path, "a", "b")
    for number, key in enumerate(ids_of(talk.from_host(request("prompts/list", 1)))):
        talk.from_server(number, answer({"prompts": [{"name": "p"}]}, key))
    ref = {"type": "ref/prompt", "name": "b_p"}
    ((to, asked),) = told(
        talk.from_host(request("completion/complete", 2, ref=ref, argument={"name": "x", "value": "y"}))
    )
    assert (to, asked["params"]["ref"]["name"]) == (1, "p")


def test_a_task_is_asked_for_where_it_was_begun(tmp_path: Path) -> None:
    """The host gives only its number."""
    talk = board(tmp_path, "a", "b")
    listed(talk, [tool("x")], [tool("y")])
    talk.from_host(call("y", 1))
    talk.from_server(1, answer({"task": {"taskId": "t-1", "status": "working"}}, 1))
    for method in ("tasks/get", "tasks/result", "tasks/cancel"):
        ((to, _),) = told(talk.from_host(request(method, method, taskId="t-1")))
        assert to == 1


@pytest.mark.proves("Y-3")
def test_a_host_hears_what_changes_at_any_server(tmp_path: Path) -> None:
    """Since 2026-07-28 it asks for this: one acknowledgement of all its requests, notifications of all servers, one end."""
    talk = board(tmp_path, "a", "b")
    wanted = {"toolsListChanged": True}
    first, *asked = told(talk.from_host(modern("subscriptions/listen", "s", notifications=wanted)))
    assert first[0] == HOST
    assert first[1]["params"] == {"_meta": {"io.modelcontextprotocol/subscriptionId": "s"}, "notifications": wanted}
    assert [(to, message["id"]) for to, message in asked] == [(0, "s"), (1, "s")]
    heard = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"notifications": {}}}
    changed = line({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}})
    for server in (0, 1):
        assert talk.from_server(server, line(heard)) == []
        assert [out.raw for out in talk.from_server(server, changed)] == [changed]
    ended = answer({"resultType": "complete"}, "s")
    assert talk.from_server(1, ended) == []
    assert [out.raw for out in talk.from_server(0, ended)] == [ended]
    talk.from_host(modern("subscriptions/listen", 7, notifications=wanted))
    stop = line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    assert [out.to for out in talk.from_host(stop)] == [0, 1]


@pytest.mark.proves("Y-3")
@pytest.mark.parametrize(("client", "seconds"), [("codex-mcp-client", 6), ("other", 20)])
def test_a_server_that_says_nothing_does_not_take_the_others_with_it(client: str, seconds: int, tmp_path: Path) -> None:
    """They are available before the host gives up; the silent server's tools are added once it answers."""
    talk = board(tmp_path, "a", "slow")
    asked = ids_of(talk.from_host(request("initialize", 0, protocolVersion="2025-11-25", clientInfo={"name": client})))
    for _ in range(seconds):
        assert talk.tick() == []  # nobody has answered: there is nothing to continue with
    talk.from_server(0, answer({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}, asked[0]))
    ((_, begun),) = told(talk.tick())
    assert begun["result"]["capabilities"]["tools"] == {"listChanged": True}
    assert talk.silent == ["slow"]
    (one,) = talk.from_host(request("tools/list", 1))
    assert one.to == 0
    ((_, result),) = told(talk.from_server(0, answer({"tools": [tool("x")]}, ids_of([one])[0])))
    assert [entry["name"] for entry in result["result"]["tools"]] == ["x", "ctx_page", "ctx_find"]
    ((_, more),) = told(talk.from_server(1, answer({"protocolVersion": "2025-06-18"}, asked[1])))
    assert more["method"] == "notifications/tools/list_changed"
    assert talk.silent == []
    both = talk.from_host(request("tools/list", 2))
    for out, key in zip(both, ids_of(both), strict=True):
        talk.from_server(out.to, answer({"tools": [tool("x")]}, key))
    went = [told(talk.from_host(call(name, at)))[0][0] for at, name in enumerate(("slow_x", "a_x", "x"))]
    assert went == [1, 0, 0]  # a call by its earlier name goes where it went before


def test_pages_without_end_are_waited_for_no_longer_than_silence(tmp_path: Path) -> None:
    """The cursor of a server leads to itself."""
    talk = board(tmp_path, "a", "round")
    asked = talk.from_host(request("tools/list", 1))
    talk.from_server(0, answer({"tools": [tool("x")]}, ids_of(asked)[0]))
    key, outs = ids_of(asked)[1], []
    for _ in range(20):
        (again,) = talk.from_server(1, answer({"tools": [tool("y")], "nextCursor": "here"}, key))
        key, outs = ids_of([again])[0], talk.tick()
    assert [entry["name"] for entry in told(outs)[0][1]["result"]["tools"]][:2] == ["x", "y"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"mcpServers": {}}', '{"mcpServers": {"a": {}}}', '{"mcpServers": {"a": {"command": 5}}}',
     '{"mcpServers": {"a": {"url": "x", "headers": [1]}}}',
     '{"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}', '{"mcpServers": {"a": {"url": "${NOT_SET}"}}}'],
)  # fmt: skip
def test_an_invalid_configuration_is_refused_with_its_path(tmp_path: Path, text: str) -> None:
    """The error says what is wrong: none of its servers is then started."""
    path = tmp_path / "servers.json"
    path.write_text(text)
    with pytest.raises(CallerError, match=re.escape(str(path))):
        read_servers(str(path), {})


def test_variables_stand_in_for_secrets(tmp_path: Path) -> None:
    """They may have defaults, and work in every text."""
    entry = {"command": "${A}", "args": ["${B:-b}"], "env": {"K": "x${A}"}}
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"my server": entry}}))
    (server,) = read_servers(str(path), {"A": "a"})
    assert (server.name, server.words, server.variables) == ("my_server", ("a", "b"), (("K", "xa"),))


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "servers.json"
    one = {"command": SERVER[0], "args": SERVER[1:], "env": {"PYTHONPATH": str(REPOSITORY)}}
    with OddServer() as odd:
        servers = {"one": one, "two": one, "odd": {"url": odd.url}, "none": {"command": "/nowhere/at/all"}}
        path.write_text(json.dumps({"mcpServers": servers}))
        yield path


@pytest.mark.proves("Y-3")
def test_programs_and_urls_work_behind_one_relay(config: Path, tmp_path: Path) -> None:
    """Calls reach all, one of which cannot be started; no program is left at the end."""
    ends = Ends([*RELAY, "--config", str(config)], tmp_path / "store")
    assert ends.ask(request("initialize", 0, protocolVersion="2025-11-25"))["result"]["protocolVersion"] == "2025-11-25"
    names = [entry["name"] for entry in ends.ask(request("tools/list", 1))["result"]["tools"]]
    assert names == ["one_text", "two_text", "ctx_page", "ctx_find"]
    assert len(ends.text(call("two_text", 2, size=500))) == 500
    cut = ends.text(call("one_text", 3, size=100_000))
    found = re.search(r'handle="([^"]+)"', cut)
    assert found
    assert "100000 bytes" in cut
    assert "| bytes 0-" in ends.text(call("ctx_page", 4, handle=found[1]))
    children = children_of(ends.process.pid)
    status, _, errors = ends.end()
    assert status == 0
    assert b"none: /nowhere/at/all: No such file" in errors
    assert len(children) == 4  # two programs and a watcher for each; the watcher of what could not be started has ended
    assert all(map(is_gone, children))


@pytest.mark.parametrize(
    "servers",
    [
        {"none": {"command": "/nowhere/at/all"}},
        {"broken": {"command": sys.executable, "args": ["-S", "-c", "raise SystemExit('no key')"]}},
    ],
)
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.proves("Y-3")
def test_a_relay_of_servers_that_never_spoke_fails(servers: dict[str, Any], waits: bool, tmp_path: Path) -> None:
    """Their own words are printed, whether their host is still there or left at once."""
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    ends = Ends([*RELAY, "--config", str(path)], tmp_path / "store")
    if waits:
        ends.process.wait(60)
    _, errors = ends.process.communicate(timeout=60)
    assert ends.process.returncode == 1
    assert b"none: /nowhere/at/all: No such file" in errors or b"no key" in errors
    assert b"no server could be reached" in errors


@pytest.mark.proves("Y-3")
def test_a_server_that_ends_among_others_is_named(tmp_path: Path) -> None:
    """Its status is given, as nothing else says why its tools are gone. A server that ends as told is not named."""
    path = tmp_path / "servers.json"
    one = {"command": SERVER[0], "args": SERVER[1:], "env": {"PYTHONPATH": str(REPOSITORY)}}
    path.write_text(json.dumps({"mcpServers": {"gone": {"command": "sh", "args": ["-c", "exit 3"]}, "one": one}}))
    ends = Ends([*RELAY, "--config", str(path)], tmp_path / "store")
    ends.ask(request("initialize", 0, protocolVersion="2025-11-25"))
    assert len(ends.text(call("text", 1, size=500))) == 500
    assert ends.process.stderr is not None
    assert ends.process.stderr.readline() == b"penstock relay: gone has ended with status 3\n"
    status, _, errors = ends.end()
    assert (status, errors) == (0, b"")


DEAF = """
import json, sys, time
for _ in range(2):
    asked = json.loads(sys.stdin.buffer.readline())
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "tools": []}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
time.sleep(60)
"""


@pytest.mark.proves("Y-3")
def test_a_server_that_stops_reading_does_not_block_the_others(tmp_path: Path) -> None:
    """Neither their calls nor the end are blocked, although its pipe is full."""
    path = tmp_path / "servers.json"
    one = {"command": SERVER[0], "args": SERVER[1:], "env": {"PYTHONPATH": str(REPOSITORY)}}
    deaf = {"command": sys.executable, "args": ["-S", "-c", DEAF]}
    path.write_text(json.dumps({"mcpServers": {"deaf": deaf, "one": one}}))
    ends = Ends([*RELAY, "--config", str(path)], tmp_path / "store")
    ends.ask(request("initialize", 0, protocolVersion="2025-11-25"))
    assert next(tool["name"] for tool in ends.ask(request("tools/list", 1))["result"]["tools"]) == "text"
    told = line({"jsonrpc": "2.0", "method": "notifications/x", "params": {"text": "x" * 400_000}})
    ends.send(*[told] * 8)  # more than the pipe takes
    assert len(ends.text(call("text", 2, size=500))) == 500
    children = children_of(ends.process.pid)
    ends.process.terminate()
    assert ends.end()[0] == 143
    assert all(map(is_gone, children))


def test_the_end_waits_for_answers_that_were_begun_in_any_thread() -> None:
    """The host's thread begins some, and a server's thread others."""
    done: list[Any] = []
    slow: Any = SimpleNamespace(answer=lambda _: time.sleep(0.002))
    answers = AnswerThreads(slow, lambda call, _: done.append(call))
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(answers.start, range(40)))
    answers.finish()
    assert sorted(done) == list(range(40))


@pytest.mark.timeout(10)
def test_the_end_does_not_wait_for_an_answer_that_no_thread_could_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end waits longer than this test may take."""
    answers = AnswerThreads(SimpleNamespace(), lambda *_: None)  # type: ignore[arg-type]
    with monkeypatch.context() as patched:
        patched.setattr("threading.Thread.start", Mock(side_effect=RuntimeError("can't start new thread")))
        with pytest.raises(RuntimeError, match="new thread"):
            answers.start(None)  # type: ignore[arg-type]
    answers.finish()


@pytest.mark.proves("Y-3")
def test_a_small_call_takes_at_most_two_milliseconds_more(config: Path, tmp_path: Path) -> None:
    """Processor time is measured, with one server and with several; `bench/relay.py` measures elapsed time."""
    store = tmp_path / "store"
    ways = [
        (Ends([*RELAY, "--", *SERVER], store), "text"),
        (Ends([*RELAY, "--config", str(config)], store), "one_text"),
    ]
    ways[1][0].ask(request("tools/list", 0))
    for ends, name in ways:
        ends.ask(call(name, 1, size=500))
        before = processor_seconds(ends.process.pid)
        for number in range(200):
            ends.ask(call(name, number + 2, size=500))
        assert processor_seconds(ends.process.pid) - before <= 200 * 0.002
        ends.end()


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process, without its children."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_program_is_left_when_the_relay_is_told_to_end_or_killed(number: int, config: Path, tmp_path: Path) -> None:
    """All of them end at once."""
    ends = Ends([*RELAY, "--config", str(config)], tmp_path / "store")
    ends.ask(request("initialize", 0, protocolVersion="2025-11-25"))
    children = children_of(ends.process.pid)
    ends.process.send_signal(number)
    assert ends.end()[0] in {143, -9}
    assert all(map(is_gone, children))


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_client_of_the_sdk_sees_one_server(mode: Any, everything: str, tmp_path: Path) -> None:
    """Two of the SDK's own, at pipes and over HTTP, offer tools, progress, resources, prompts, and questions of both."""
    path = tmp_path / "servers.json"
    program = {
        "command": warm_python()[0],
        "args": [*warm_python()[1:], "-m", "tests.relay.everything"],
        "env": {"PYTHONPATH": str(REPOSITORY)},
    }
    path.write_text(json.dumps({"mcpServers": {"p": program, "u": {"url": everything}}}))
    environment = {**os.environ, "PENSTOCK_STORE": str(tmp_path / "s")}

    async def sampled(context: Any, params: Any) -> Any:
        from mcp_types import CreateMessageResult, TextContent

        del context, params
        return CreateMessageResult(role="assistant", content=TextContent(text="sampled"), model="m")

    async def steps() -> None:
        words = [*warm_relay(), "--config", str(path)]
        server = StdioServerParameters(command=words[0], args=words[1:], env=environment, cwd=str(REPOSITORY))
        async with Client(stdio_client(server), mode=mode, sampling_callback=sampled) as client:
            names = [entry.name for entry in (await client.list_tools()).tools]
            assert {"p_test_simple_text", "u_test_simple_text", "ctx_page"} <= set(names)
            for which in ("p", "u"):
                assert not (await client.call_tool(f"{which}_test_simple_text", {})).is_error
                cut = await client.call_tool(f"{which}_rows", {"count": 20_000})
                assert "[OUTPUT TRUNCATED]" in cut.content[0].text  # type: ignore[union-attr]
                if mode == "legacy":
                    got = await client.call_tool(f"{which}_test_sampling", {"prompt": "x"})
                    assert got.content[0].text == "LLM response: sampled"  # type: ignore[union-attr]
            assert (await client.read_resource("test://static-text")).contents
            assert (await client.read_resource("test://template/7/data")).contents
            assert (await client.get_prompt("u_test_simple_prompt")).messages

    asyncio.run(steps())
