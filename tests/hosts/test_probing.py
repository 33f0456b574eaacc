"""Does `penstock doctor` report what is installed in which host, and whether it works, by trying it (H-3)?"""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts import probing
from penstock.hosts.installed import Installed, find_installed
from tests.hosts.machine import Machine
from tests.hosts.test_relaying import SERVER

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("H-3")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Provide a new machine."""
    return Machine(tmp_path)


def told(machine: Machine, status: int) -> list[dict[str, Any]]:
    """Return what doctor says of other agents."""
    done = machine.type("doctor", "--json")
    assert done.returncode == status, done.stderr
    return list(json.loads(done.stdout)["installed"])


def test_what_is_installed_is_tried(machine: Machine) -> None:
    """The server lists its tools, each hook cuts a flood that can be read back whole; an installed host's version is given."""
    assert told(machine, 0) == []
    assert "penstock install HOST" in machine.done("doctor")
    program = machine.write("bin/codex", "#!/bin/sh\necho codex-cli 0.171.0\n")
    program.chmod(0o755)
    machine.environment["PATH"] += f":{program.parent}"
    for host in ("claude", "codex", "gemini", "copilot", "opencode"):
        machine.done("install", host, "--yes", "--hook", *(["--mcp", "--rules"] if host == "codex" else []))
    found = told(machine, 0)
    assert [(each["host"], each["part"], each["works"]) for each in found] == [
        ("claude", "hook", True),
        ("codex", "mcp", True),
        ("codex", "hook", True),
        ("codex", "rules", None),
        ("gemini", "hook", True),
        ("opencode", "hook", True),
        ("copilot", "hook", True),
    ]
    assert {each["version"] for each in found if each["host"] == "codex"} == {"0.171.0"}
    assert {each["version"] for each in found if each["host"] == "claude"} == {"not found"}
    assert "answers with 8 tools" in found[1]["seen"]
    assert all("keeps all of them" in found[at]["seen"] for at in (0, 2, 4, 5, 6))
    assert not (machine.home / ".local/state/penstock").exists()  # checking makes no store of the user's


def test_what_does_not_work_is_reported(machine: Machine) -> None:
    """These are another host's hook, a missing one and a broken file: exit status 1, with what was seen."""
    for host in ("claude", "codex", "gemini"):
        machine.done("install", host, "--yes", "--hook")
    for name, old, new in (
        (".claude/settings.json", "hook claude", "hook gemini"),
        (".codex/hooks.json", "penstock", "nothing"),
        (".gemini/settings.json", "{", "{{"),
    ):
        path = machine.home / name
        path.write_text(path.read_text().replace(old, new))
    found = {each["host"]: each for each in told(machine, 1)}
    assert {each["works"] for each in found.values()} == {False}
    assert "leaves a large result as it is" in found["claude"]["seen"]
    assert "is there no longer" in found["codex"]["seen"]
    assert "it cannot be read: line 1" in found["gemini"]["seen"]


@pytest.mark.parametrize(
    ("host", "name", "old", "new", "seen"),
    [
        ("claude", ".claude/settings.json", "{", '{"disableAllHooks": true,', "which turns all hooks off"),
        ("claude", ".claude/settings.json", '"PostToolUse"', '"PreToolUse"', "not behind PostToolUse any more"),
        ("gemini", ".gemini/settings.json", "{", '{"hooksConfig": {"enabled": false},', "which turns all hooks off"),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers",
            "[features]\nhooks = false\n[mcp_servers",
            "turns all hooks off",
        ),
        ("codex", ".codex/config.toml", "command =", "enabled = false\ncommand =", "its entry says that it is off"),
        ("opencode", ".config/opencode/opencode.json", '"enabled": true', '"enabled": false', "says that it is off"),
    ],
)
def test_what_its_host_does_not_start_does_not_work(
    host: str, name: str, old: str, new: str, seen: str, machine: Machine
) -> None:
    """Its command line alone would still answer."""
    machine.done("install", host, "--yes", "--hook", "--mcp")
    path = machine.home / name
    path.write_text(path.read_text().replace(old, new, 1))
    faults = [each.fault for each in find_installed(*machine.around, [sys.executable, "-m", "penstock"]) if each.fault]
    assert len(faults) == 1
    assert seen in faults[0]


def test_a_program_that_a_project_names_is_not_run(machine: Machine) -> None:
    """Somebody else's repository may call anything penstock: doctor reports it, and does not start it."""
    evil = machine.write(
        "evil/penstock", f"#!{sys.executable}\nopen({str(machine.home / 'ran')!r}, 'w')\n", beneath="project"
    )
    evil.chmod(0o755)
    for at, key in ((".mcp.json", "mcpServers"), (".vscode/mcp.json", "servers")):
        entry = {key: {"penstock": {"command": str(evil), "args": ["mcp"]}}}
        machine.write(at, json.dumps(entry), beneath="project")
    hook = {"hooks": [{"type": "command", "command": f"{evil} hook claude"}]}
    machine.write(".claude/settings.json", json.dumps({"hooks": {"PostToolUse": [hook]}}), beneath="project")
    found = told(machine, 0)
    assert [each["works"] for each in found] == [None, None, None]
    assert not (machine.home / "ran").exists()


def test_servers_behind_the_relay_are_tried(machine: Machine) -> None:
    """Each is tried by its name, with its own variables; a project's server behind our program is not started."""
    script = machine.write("server.py", f"import os\nassert os.path.exists(os.environ['NEEDED'])\n{SERVER}")
    servers = {
        "files": {"command": "${PYTHON}", "args": [str(script)], "env": {"NEEDED": "${PYTHON}"}},
        "gone": {"command": "no-such-program", "args": []},
        "mute": {"command": sys.executable, "args": ["-c", "print()"]},
    }
    machine.environment["PYTHON"] = sys.executable
    path = machine.write(".claude.json", json.dumps({"mcpServers": servers}))
    machine.done("install", "claude", "--relay", "--yes")
    machine.write(".mcp.json", path.read_text().replace(str(script), "ran"), beneath="project")
    first, gone, mute, *others = told(machine, 1)
    assert (first["works"], "files answers with 3 tools" in first["seen"]) == (True, True)
    assert (gone["works"], "gone: " in gone["seen"]) == (False, True)
    assert (mute["works"], "mute: " in mute["seen"]) == (False, True)
    assert [each["works"] for each in others] == [None, None, None]


def test_variables_that_a_project_adds_are_not_taken(machine: Machine) -> None:
    """Our own command line with unknown variables is not started: they may control what Python loads first."""
    machine.done("install", "claude", "--mcp", "--scope", "project", "--yes")
    path = machine.project / ".mcp.json"
    value = json.loads(path.read_text())
    value["mcpServers"]["penstock"]["env"] = {"PYTHONSTARTUP": "x"}
    path.write_text(json.dumps(value))
    (found,) = told(machine, 0)
    assert (found["works"], "it was not run" in found["seen"]) == (None, True)


@pytest.mark.parametrize(
    ("program", "seen"),
    [
        ("import time; time.sleep(60)", "no answer within 1 seconds"),
        ("print('{}'); raise SystemExit('broken')", "it lists no tools: exit status 1, broken"),
        ('print(\'{"id": 2, "result": {"tools": []}}\')', "it lists no tools"),
        ("import sys; sys.stdin.close(); print('x' * 10**7)", "it lists no tools"),
    ],
)
def test_a_server_that_hangs_or_fails_is_named(monkeypatch: pytest.MonkeyPatch, program: str, seen: str) -> None:
    """It is ended within its time."""
    monkeypatch.setattr(probing, "PROBE_SECONDS", 1.0)
    words = (sys.executable, "-c", program, "penstock", "mcp")
    probe = probing.probe(Installed(host="codex", part="mcp", scope="user", path="x", words=words))
    assert (probe.works, seen in probe.seen) == (False, True)


def test_a_program_that_is_gone_is_named() -> None:
    """The path is given."""
    part = Installed(host="codex", part="mcp", scope="user", path="x", words=("/gone/penstock", "mcp"))
    assert probing.probe(part) == (False, "/gone/penstock: No such file or directory")


@pytest.mark.parametrize(
    ("program", "seen"),
    [
        ("print('{}')", "it changes a small result: exit status 0, {}"),
        ("sys.exit(len(given) < 9999)", "it changes a small result: exit status 1"),
        ("len(given) > 9999 and print(json.dumps({'x': 'page 0123456789abcdef'}))", "is not all of it"),
        ('len(given) > 9999 and (print(\'{"x": "page 0123456789abcdef"}\'), sys.exit(3))', "it leaves a large result"),
    ],
)
def test_a_hook_that_does_another_thing_is_named(tmp_path: Path, program: str, seen: str) -> None:
    """It changes a small result, keeps another text than it was given, or fails."""
    script = tmp_path / "hook.py"
    script.write_text(
        "import json, sys\nif 'page' in sys.argv: sys.exit(print('another text'))\n"
        f"given = sys.stdin.read()\n{program}\n"
    )
    words = (sys.executable, str(script), "hook", "claude")
    probe = probing.probe(Installed(host="claude", part="hook", scope="user", path="x", words=words))
    assert (probe.works, seen in probe.seen) == (False, True), probe.seen


def test_a_project_has_no_program_run_by_what_looks_like_ours(machine: Machine) -> None:
    """A guard or a relay first, followed by our words: neither the server nor the hook is started."""
    ran = machine.project / "ran"
    words = [sys.executable, "-m", "penstock", "guard", "--", "touch", str(ran), "penstock"]
    server = {"command": words[0], "args": [*words[1:], "mcp"]}
    (machine.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"penstock": server}}))
    hook = {"type": "command", "command": shlex.join([*words, "hook"])}
    (machine.project / ".claude").mkdir()
    (machine.project / ".claude" / "settings.json").write_text(
        json.dumps({"hooks": {"PostToolUse": [{"hooks": [hook]}]}})
    )
    found = told(machine, 0)
    assert not ran.exists()
    assert {(part["part"], part["works"]) for part in found} == {("mcp", None), ("hook", None)}
