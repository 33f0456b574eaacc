"""What do the tools of configured MCP servers cost, by the hosts' own files and the servers' answers?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError
from penstock.hosts.servers import ConfiguredServer, configured_servers, servers_of
from penstock.hosts.tool_definitions import ask_servers
from penstock.text.json_access import as_json
from penstock.text.tokens import best_counter
from penstock.tools import TOOLS
from penstock.wires import tool_definitions
from tests.forks import MCP, warm
from tests.hosts.machine import Machine
from tests.mcp.conftest import serve_http

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UNREAD = "it cannot be read: line 1, column 3: a key in double quotes is missing"
OURS = (sys.executable, "-m", "penstock", "mcp", "--no-landlock")


def warm_ours() -> list[str]:
    """Provide our server in a process that has most of it loaded, which saves two seconds of processor time."""
    return [*warm(*MCP), *OURS[1:]]


def read(value: object, **environment: str) -> list[ConfiguredServer]:
    """Return the servers of a file."""
    return servers_of(json.dumps(value), environment)


def test_each_host_s_names_are_read() -> None:
    """This covers a command with variables, and an address with headers."""
    assert read({"mcpServers": {"a": {"command": "x", "args": ["-y"], "env": {"K": "v"}}}}) == [
        ConfiguredServer(name="a", words=("x", "-y"), variables=(("K", "v"),))
    ]
    assert read({"mcp": {"a": {"type": "local", "command": ["x", "-y"], "environment": {"K": "v"}}}}) == [
        ConfiguredServer(name="a", words=("x", "-y"), variables=(("K", "v"),))
    ]
    for key in ("url", "httpUrl", "serverUrl"):
        assert read({"servers": {"a": {key: "http://h/mcp", "headers": {"A": "b"}}}}) == [
            ConfiguredServer(name="a", url="http://h/mcp", headers=(("A", "b"),))
        ]
    assert read({"mcpServers": {"a": {"type": "sse", "url": "http://h/sse"}}})[0].is_events
    toml = '[mcp_servers.a]\ncommand = "x" # mine\nargs = ["-y"]\n'
    assert servers_of(toml, {}, is_toml=True) == [ConfiguredServer(name="a", words=("x", "-y"))]


def test_servers_that_claude_code_has_for_this_project_alone_are_found(tmp_path: Path) -> None:
    """`claude mcp add` records them by the folder or its repository's root; another project's are not included."""
    machine = Machine(tmp_path)
    server = {"mcpServers": {"mem": {"type": "stdio", "command": "memory", "args": []}}}
    projects = {str(machine.project): server, "/elsewhere": {"mcpServers": {"other": {"command": "x"}}}, "/odd": 1}
    machine.write(".claude.json", json.dumps({"projects": projects}))
    expected = [ConfiguredServer(name="mem", hosts=("claude",), words=("memory",))]
    assert configured_servers(machine.around[0]) == (expected, [])
    (machine.project / "inner").mkdir()
    inner = replace(machine.around[0], project=str(machine.project / "inner"))
    assert configured_servers(inner) == ([], [])
    (machine.project / ".git").mkdir()
    assert configured_servers(inner) == (expected, [])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${KEY}", "k"),
        ("${env:KEY}", "k"),
        ("{env:KEY}", "k"),
        ("${NONE:-else}", "else"),
        ("Bearer ${KEY}", "Bearer k"),
        ("%{KEY}%", "k%"),
        ("x${env:NONE}{env:NONE}", "x"),
        ("$KEY {a}", "$KEY {a}"),
    ],
)
def test_variables_are_put_in_as_hosts_do(written: str, meant: str) -> None:
    """An address with a key of the person's can thereby be asked."""
    (server,) = read({"mcpServers": {"a": {"url": "http://h", "headers": {"A": written}}}}, KEY="k")
    assert dict(server.headers) == {"A": meant}


def test_a_disabled_server_is_not_listed() -> None:
    """A file without servers is an error that names a valid form."""
    off: dict[str, Any] = {"a": {"command": "x", "disabled": True}, "b": {"command": "x", "enabled": False}}
    assert read({"mcpServers": off}) == []
    with pytest.raises(CallerError, match="mcpServers"):
        read({"hooks": {}})


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({}, "neither a command"),
        (1, "neither a command"),
        ({"command": "x", "args": ["${NONE}"]}, "The variable NONE is not set."),
        ({"url": "http://${NONE}"}, "The variable NONE is not set."),
        ({"command": "x", "env": {"K": 1}}, "Its env is not an object of strings."),
        ({"url": "http://h", "headers": ["A: b"]}, "Its headers is not an object of strings."),
    ],
)
def test_a_server_that_cannot_be_reached_is_named_and_not_tried(entry: object, fault: str) -> None:
    """Other servers are tried."""
    broken, other = read({"mcpServers": {"a": entry, "b": {"command": "no-such-program"}}})
    assert fault in broken.fault
    asked = ask_servers([broken, other], COUNTER, "anthropic")
    assert asked[0].fault == broken.fault
    assert "no-such-program" in asked[1].fault


def test_a_server_of_several_hosts_is_one(tmp_path: Path) -> None:
    """It lists all of them; a project's servers are not started to find out what things cost."""
    machine = Machine(tmp_path)
    machine.write(".claude.json", json.dumps({"mcpServers": {"db": {"command": "x"}, "only": {"command": "y"}}}))
    machine.write(".codex/config.toml", '[mcp_servers.db]\ncommand = "x"\n')
    machine.write(".mcp.json", json.dumps({"mcpServers": {"theirs": {"command": "rm"}}}), beneath="project")
    machine.write(".gemini/settings.json", "{ no JSON")
    found, unread = configured_servers(machine.around[0])
    assert unread == [(str(machine.home / ".gemini/settings.json"), UNREAD)]
    assert {server.name: server.hosts for server in found} == {"db": ("claude", "codex"), "only": ("claude",)}


@pytest.fixture(scope="module")
def open_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Run a server over HTTP that admits everybody."""
    yield from serve_http(tmp_path_factory.mktemp("http"))


def test_servers_are_asked_and_faults_are_theirs(open_port: int) -> None:
    """This holds over both transports; a fault of one keeps no other from answering."""
    environment = (("PYTHONPATH", os.getcwd()),)
    servers = [
        ConfiguredServer(name="ours", words=tuple(warm_ours())),
        ConfiguredServer(name="web", url=f"http://127.0.0.1:{open_port}/mcp"),
        ConfiguredServer(name="gone", words=("no-such-program",)),
        ConfiguredServer(name="dies", words=("sh", "-c", "echo no database >&2; exit 3"), variables=environment),
        ConfiguredServer(name="nobody", url="http://127.0.0.1:9/mcp"),
        ConfiguredServer(name="elsewhere", url=f"http://127.0.0.1:{open_port}/nothing"),
    ]
    counter, heard = best_counter("o200k"), list[str]()
    ours, web, *faulty = ask_servers(servers, counter, "openai-chat", tell=heard.append)
    assert not ours.fault
    assert len(ours.tools) == len(TOOLS)
    assert [tokens for _, tokens in ours.tools] == sorted((tokens for _, tokens in ours.tools), reverse=True)
    assert ours.tokens == sum(tokens for _, tokens in ours.tools)
    assert not web.fault
    assert len(web.tools) > 5
    faults = [each.fault for each in faulty]
    assert "no-such-program" in faults[0]
    assert "no database" in faults[1]
    assert faults[2]
    assert faults[3].endswith("HTTP 404 Not Found")
    assert all(each.tokens == 0 for each in faulty)
    assert sorted(line.partition(":")[0] for line in heard) == sorted(server.name for server in servers)


def test_a_server_that_never_answers_is_waited_for_so_long() -> None:
    """Then it is ended."""
    (mute,) = ask_servers([ConfiguredServer(name="mute", words=("sleep", "60"))], COUNTER, "anthropic", seconds=0.5)
    assert mute.fault == "no answer within 0.5 seconds"


class Endless(BaseHTTPRequestHandler):
    """An endless answer."""

    def do_POST(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        with suppress(OSError):
            while True:
                self.wfile.write(b" " * (1 << 20))

    def log_message(self, *_: object) -> None:
        pass


def test_an_endless_answer_takes_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reported, and what had come is released."""
    monkeypatch.setattr("penstock.hosts.tool_definitions._MAX_BYTES", 4 << 20)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asked = ConfiguredServer(name="endless", url=f"http://127.0.0.1:{server.server_address[1]}/mcp")
    tracemalloc.start()
    try:
        (endless,) = ask_servers([asked], COUNTER, "anthropic", seconds=5)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        server.shutdown()
        server.server_close()
    assert "its answer is longer than 4194304 bytes" in endless.fault
    assert most < 40 << 20


ODD = """
import json, sys
print("Welcome!")
for line in sys.stdin:
    message = json.loads(line)
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    schema = {} if sys.argv[1] == "none" else {"inputSchema": {"type": "object"}}
    cursor = {"endless": {"nextCursor": "on"}, "many": {"nextCursor": str(message.get("id"))}}.get(sys.argv[1], {})
    tools = {"tools": [{"name": "a\\nb", **schema}], **cursor}
    result = {"initialize": about, "tools/list": tools}.get(message["method"])
    if "id" in message:  # a client that asks for what is newer waits ten seconds for this error
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "not known"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def test_a_server_that_says_odd_things_is_one_line(tmp_path: Path) -> None:
    """Its prints that are not messages cause no traceback; an endless list gives no number of tokens."""
    machine = Machine(tmp_path)
    script = machine.write("odd.py", ODD)
    ways = ("plain", "endless", "none")
    servers = {way: {"command": sys.executable, "args": [str(script), way]} for way in ways}
    path = machine.write("servers.json", json.dumps({"mcpServers": servers}))
    done = subprocess.run(
        [*warm(*MCP), "-m", "penstock", "bill", str(path), "--mcp"],
        env=machine.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 6
    assert "Traceback" not in done.stderr
    plain, *faults, total = done.stdout.splitlines()
    assert "plain (1 tool): a\\x0ab" in plain
    assert [line.split()[:2] for line in sorted(faults)] == [["?", "endless:"], ["?", "none:"]]
    assert "has no end: after page 2 it begins again" in done.stdout
    assert "inputSchema Field required" in done.stdout
    assert total.split()[0] == plain.split()[0]


def test_a_list_has_so_many_pages_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds whether or not its cursors ever repeat."""
    monkeypatch.setattr("penstock.hosts.tool_definitions._MAX_PAGES", 3)
    script = tmp_path / "odd.py"
    script.write_text(ODD)
    server = ConfiguredServer(name="many", words=(sys.executable, str(script), "many"))
    (many,) = ask_servers([server], COUNTER, "anthropic")
    assert many.fault == "its list of tools has no end: 3 pages, and more after them"


def test_a_definition_counts_as_in_the_bill_of_a_request() -> None:
    """The person's sum is what the provider is sent."""
    (asked,) = ask_servers([ConfiguredServer(name="a", words=tuple(warm_ours()))], COUNTER, "anthropic")
    sent = {name: as_json(definition) for name, definition in DEFINITIONS.items()}
    by_name = dict(asked.tools)
    # Our server passes on the table's definition, under another name.
    assert by_name["ctx_outline"] >= COUNTER.count(sent["outline"]).high - 2


COUNTER = best_counter("o200k")
DEFINITIONS = {tool.name: tool_definitions([tool], "anthropic") for tool in TOOLS}


def test_the_command_says_what_each_costs(tmp_path: Path) -> None:
    """It reads a file; the status says whether all answered."""
    machine = Machine(tmp_path)
    command, *arguments = warm_ours()
    entry = {"command": command, "args": arguments}
    both = {"mcpServers": {"ours": entry, "gone": {"command": "no-such-program"}}}
    path = machine.write("servers.json", json.dumps(both))
    done = machine.type("bill", str(path), "--mcp", "--json")
    assert done.returncode == 6
    said = json.loads(done.stdout)
    assert [row["name"] for row in said["servers"]] == ["ours", "gone"]
    assert said["tokens"] == said["servers"][0]["tokens"] > 500
    assert "no-such-program" in said["servers"][1]["error"]
    machine.write("servers.json", json.dumps({"mcpServers": {"ours": entry}}))
    assert "ours (8 tools): ctx_" in machine.done("bill", str(path), "--mcp")
    assert "No MCP server is configured" in machine.type("bill", "--mcp").stdout
    broken = machine.write(".gemini/settings.json", "{ no JSON")
    done = machine.type("bill", "--mcp")
    assert (done.returncode, f"?  {broken}: {UNREAD}" in done.stdout) == (6, True)
    machine.write(".claude.json", json.dumps({"mcpServers": {"ours": entry}}))
    said = json.loads(machine.type("bill", "--mcp", "--json").stdout)
    assert (said["unread"], [row["error"] for row in said["servers"]]) == (
        [{"path": str(broken), "error": UNREAD}],
        [None],
    )
    assert machine.type("bill").returncode == 2
