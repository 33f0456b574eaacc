"""Does `penstock install HOST --relay` put the relay before existing servers, and remove it again (H-3)?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts import entries, nested_values
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.documents import Document
from penstock.hosts.servers import with_variables
from penstock.relay.config import read_header
from tests.growth import BOUND, growth
from tests.hosts import configurations
from tests.hosts.machine import Machine
from tests.hosts.test_planning import FILES, PROGRAM, File, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.hosts.documents import Format

SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    tool = {"name": "read", "inputSchema": {"type": "object"}}
    about = {"name": "s", "version": "1"}
    first = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
    result = {"initialize": first, "tools/list": {"tools": [tool]}}.get(message["method"])
    if "id" in message:  # a client that asks for what is newer waits ten seconds for this error
        answer = {"result": result} if result else {"error": {"code": -32601, "message": "not known"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""
pytestmark = pytest.mark.proves("H-3")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Provide a new machine."""
    return Machine(tmp_path)


def relayed(form: Format, seed: int) -> tuple[File, dict[str, Any]]:
    """Return a file with the relay before its servers, and its servers as they were."""
    file = File(form, configurations.json_text(seed) if form == "json" else configurations.toml_text(seed))
    file.host = HOST_CONFIGS["cursor" if form == "json" else "codex"]
    servers = nested_values.get(file.value, file.host.servers.key)
    file.install("relay")
    return file, servers if isinstance(servers, dict) else {}


def test_servers_of_one_project_get_it_too_and_give_it_back() -> None:
    """`claude mcp add` without a scope writes them into the user's file, under the project's folder."""
    server = {"type": "stdio", "command": "npx", "args": ["-y", "memory"], "env": {}}
    text = json.dumps(
        {"mcpServers": {}, "projects": {"/home/me/p": {"mcpServers": {"mem": server}}, "/q": {}}}, indent=2
    )
    file = File("json", text)
    file.host = HOST_CONFIGS["claude"]
    file.install("relay")
    entry = file.value["projects"]["/home/me/p"]["mcpServers"]["mem"]
    assert entry == {**server, "command": PROGRAM[0], "args": ["relay", "--name", "mem", "--", "npx", "-y", "memory"]}
    changed = (file.text or "").replace('"/q": {}', '"/q": {"mcpServers": {}}')
    file.uninstall("relay")
    assert file.text == text
    file.install("relay")
    file.text = changed
    file.uninstall("relay")
    assert file.text == text.replace('"/q": {}', '"/q": {"mcpServers": {}}')


def test_the_relay_before_many_servers_takes_linear_time() -> None:
    """5 MB with 1,200 servers once took over 200 s, as did removal from one with 5 that its host had changed."""

    def work(size: int) -> Callable[[], object]:
        server = {"command": "npx", "args": ["-y", "memory"], "env": {}}
        about = {"history": [{"display": "x"}] * 5, "lastCost": 1}
        projects = {f"/home/me/{at}": {**about, "mcpServers": {f"s{at}": server}} for at in range(size)}
        text = json.dumps({"projects": projects}, indent=2)

        def run() -> None:
            file = File("json", text)
            file.host = HOST_CONFIGS["claude"]
            file.install("relay")
            assert (file.text or "").count('"relay"') == size
            file.text = (file.text or "").replace('"lastCost": 1', '"lastCost": 2', size // 2)
            file.uninstall("relay")
            assert file.text == text.replace('"lastCost": 1', '"lastCost": 2', size // 2)

        return run

    assert growth(work, 25) < BOUND


def test_a_relay_that_a_person_wrote_stays_when_it_is_typed_again(machine: Machine) -> None:
    """Installing twice is installing once, also next to it; only what `install` wrote gets Penstock's present path."""
    servers = {
        "theirs": {"command": "penstock", "args": ["relay", "--", "npx", "x"]},
        "plain": {"command": "npx", "args": ["y"]},
    }
    path = machine.write(".cursor/mcp.json", json.dumps({"mcpServers": servers}, indent=2))
    machine.done("install", "cursor", "--relay", "--yes")
    between = machine.files()
    assert json.loads(path.read_text())["mcpServers"]["theirs"] == servers["theirs"]
    machine.done("install", "cursor", "--relay", "--yes")
    assert machine.files() == between


def test_a_relay_without_a_server_says_so(machine: Machine) -> None:
    """Otherwise a person would not know whether it is there already; once it stands in front of one, nothing is said."""
    said = "it has no MCP server of others for the relay to stand in front of"
    machine.done("install", "cursor", "--mcp", "--yes")
    assert said in machine.done("install", "cursor", "--relay", "--yes")
    machine.write(".cursor/mcp.json", json.dumps({"mcpServers": {"plain": {"command": "npx", "args": ["y"]}}}))
    assert said not in machine.done("install", "cursor", "--relay", "--yes")
    assert said not in machine.done("install", "cursor", "--relay", "--yes")


@pytest.mark.parametrize("form", ["json", "toml"])
def test_the_relay_comes_and_goes_without_a_trace(form: Format) -> None:
    """Each server starts behind it with its own words and variables; nothing else differs, and every byte comes back."""
    seen = 0
    for seed in FILES:
        base = configurations.json_text(seed) if form == "json" else configurations.toml_text(seed)
        file, before = relayed(form, seed)
        after = nested_values.get(file.value, file.host.servers.key)
        for name, entry in before.items():
            words = entries.command_line(after[name])
            if (headers := entry.get("headers")) and file.host.servers.headers != "headers":
                assert after[name] == entry  # nobody knows what they are for
                continue
            assert words[:4] == [*PROGRAM, "relay", "--name", name]
            if "command" in entry:
                assert words[4:] == ["--", *entries.command_line(entry)]
                assert after[name].get("env") == entry.get("env")
            else:
                headers = headers or {}
                values = [f"%{{PENSTOCK_RELAY_HEADER_{at}}}" for at in range(1, len(headers) + 1)]
                flags = [f"{header}: {value}" for header, value in zip(headers, values, strict=True)]
                assert words[4:6] == ["--url", "%{PENSTOCK_RELAY_URL}"]
                assert words[7::2] == flags
                assert [*after[name]["env"].values()] == [entry["url"], *headers.values()]
                assert not {"url", "headers", "http_headers"} & set(after[name])
            seen += 1
        once = file.text
        file.install("relay")
        assert file.text == once
        file.uninstall("relay")
        assert file.text == base
    assert seen > 50


@pytest.mark.parametrize("form", ["json", "toml"])
def test_what_a_user_changed_behind_the_relay_stays(form: Format) -> None:
    """These are other words of a server, and other content; without a record, the relay is recognised by what it starts."""
    for seed in FILES:
        for is_known in (True, False):
            file, before = relayed(form, seed)
            if "npx" not in (file.text or ""):
                continue
            file.text = (file.text or "").replace('"docs"', '"docs2"', 1 if form == "toml" else -1).replace("14", "15")
            if not is_known:
                file.record = File(form, None).record
            changed = plain(file.value)
            file.uninstall("relay")
            left = plain(nested_values.get(file.value, file.host.servers.key))
            for name, entry in left.items():
                old = entries.command_line(plain(nested_values.get(changed, (*file.host.servers.key, name))))
                if "--" in old:
                    assert entries.command_line(entry) == old[old.index("--") + 1 :]
                elif "--url" in old:
                    given = plain(nested_values.get(changed, (*file.host.servers.key, name)))["env"]
                    assert entry["url"] == given["PENSTOCK_RELAY_URL"]
            assert len(left) == len(before)
            assert "15" in (file.text or "")


def test_a_server_that_only_its_host_can_reach_stays(machine: Machine) -> None:
    """It has a program that makes its headers, uses the older transport, or is ours."""
    servers = {
        "helper": {"type": "http", "url": "http://x", "headersHelper": "get-token"},
        "events": {"type": "sse", "url": "http://x"},
        "odd": {"disabled": True},
        "penstock": {"command": "penstock", "args": ["mcp"]},
        "web": {"type": "http", "url": "http://x/mcp", "timeout": 5},
    }
    path = machine.write(".claude.json", json.dumps({"mcpServers": servers}, indent=2))
    before = path.read_bytes()
    shown = machine.done("install", "claude", "--relay", "--yes")
    assert shown.count("stays as it is") == 3
    after = json.loads(path.read_text())["mcpServers"]
    assert {name for name in servers if after[name] != servers[name]} == {"web"}
    words = ["-m", "penstock", "relay", "--name", "web", "--url", "%{PENSTOCK_RELAY_URL}"]
    variables = {"PENSTOCK_RELAY_URL": "http://x/mcp"}
    entry = {"type": "stdio", "command": sys.executable, "args": words, "env": variables, "timeout": 5}
    assert after["web"] == entry
    assert "which logs in nowhere" in shown
    machine.done("uninstall", "claude", "--relay", "--yes")
    assert path.read_bytes() == before
    machine.done("install", "claude", "--relay", "--yes")
    for each in (machine.home / ".local/state/penstock-hosts").iterdir():
        each.unlink()
    machine.done("uninstall", "claude", "--relay", "--yes")
    assert json.loads(path.read_text())["mcpServers"] == servers


def test_a_server_behind_the_relay_answers_as_before(machine: Machine) -> None:
    """The configured command line is started; it offers the server's tools and two of ours."""
    script = machine.write("server.py", SERVER)
    entry = {"command": sys.executable, "args": [str(script)]}
    path = machine.write(".cursor/mcp.json", json.dumps({"mcpServers": {"files": entry}}))
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    given = "".join(
        f"{json.dumps({'jsonrpc': '2.0', **message})}\n"
        for message in (
            {"id": 1, "method": "initialize", "params": opening},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
        )
    )
    names = []
    for _ in range(2):
        words = entries.command_line(json.loads(path.read_text())["mcpServers"]["files"])
        done = subprocess.run(
            words,
            cwd=machine.project,
            env=machine.environment,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        answers = {value.get("id"): value for value in map(json.loads, done.stdout.splitlines())}
        names.append([tool["name"] for tool in answers[2]["result"]["tools"]])
        machine.done("install", "cursor", "--relay", "--yes")
    assert names[1] == [*names[0], "ctx_page", "ctx_find"]


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "opencode"])
def test_headers_go_with_the_relay_and_come_back(machine: Machine, host: str, is_known: bool) -> None:
    """They are in its variables, not in its words, which everybody on the machine sees; a renewed token stays new."""
    config = HOST_CONFIGS[host]
    file = config.servers.file.path("user", machine.around[0])
    assert file
    headers = {"Authorization": "Bearer s3cret", "X-Team": "a: b"}
    remote = entries.filled(config.servers.remote, {"{url}": "https://h/mcp?key=s3cret"})
    value: Any = {**remote, config.servers.headers: headers}
    document = Document("", config.servers.file.form)
    document.put((*config.servers.key, "web"), {key: text for key, text in value.items() if isinstance(text, str)})
    document.put((*config.servers.key, "web", config.servers.headers), headers)
    path = machine.write(str(Path(file).relative_to(machine.home)), document.text)
    machine.done("install", host, "--relay", "--yes")
    entry = Document(path.read_text(), config.servers.file.form).get((*config.servers.key, "web"))
    words, variables = entries.command_line(entry), entry[config.servers.variables]
    assert "s3cret" not in " ".join(words)
    assert read_header(words[-3], variables) == ("Authorization", "Bearer s3cret")
    assert read_header(words[-1], variables) == ("X-Team", "a: b")
    assert with_variables(words[-5], variables) == "https://h/mcp?key=s3cret"
    if is_known:
        machine.done("uninstall", host, "--relay", "--yes")
        assert path.read_text() == document.text
        machine.done("install", host, "--relay", "--yes")
    else:
        for each in (machine.home / ".local/state/penstock-hosts").iterdir():
            each.unlink()
    path.write_text(path.read_text().replace("Bearer s3cret", "Bearer renewed"))
    machine.done("uninstall", host, "--relay", "--yes")
    value[config.servers.headers] = {**headers, "Authorization": "Bearer renewed"}
    assert Document(path.read_text(), config.servers.file.form).get((*config.servers.key, "web")) == value


def test_a_relay_that_a_person_wrote_stays_and_the_others_get_theirs(machine: Machine) -> None:
    """With its own budget, or before several servers, it is not taken for ours, and the others still get theirs."""
    mine = {"command": "penstock", "args": ["relay", "--budget", "9000", "--", "npx", "-y", "b"]}
    many = {"command": "/usr/bin/env", "args": ["penstock", "relay", "--config", "/x/servers.json"], "env": {"K": "v"}}
    plain = {"command": "npx", "args": ["-y", "a"]}
    path = machine.write(".claude.json", json.dumps({"mcpServers": {"mine": mine, "many": many, "plain": plain}}))
    machine.done("install", "claude", "--relay", "--yes")
    servers = json.loads(path.read_text())["mcpServers"]
    assert (servers["mine"], servers["many"]) == (mine, many)
    assert servers["plain"]["args"][-3:] == ["npx", "-y", "a"]
    path.write_text(json.dumps({"more": 1, "mcpServers": servers}))  # so that only the content shows whose it is
    machine.done("uninstall", "claude", "--relay", "--yes")
    assert json.loads(path.read_text()) == {"more": 1, "mcpServers": {"mine": mine, "many": many, "plain": plain}}
