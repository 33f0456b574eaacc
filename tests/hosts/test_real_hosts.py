"""What do the models of real coding agents receive with our hook after each call, configured as the docs say?"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from proof.hosts import REPOSITORY
from proof.loopback_model import LoopbackModel

from penstock.hosts import hook_host
from penstock.store import open_store
from penstock.text.calls import handle_in
from proof import hosts

if TYPE_CHECKING:
    from pathlib import Path

SEQUENCE = "".join(f"{number}\n" for number in range(1, 60_001))
# The host, its shell, the name of its command argument, and the place of its settings in the home folder.
SHELLS = {
    "claude": ("Bash", "command", ".claude/settings.json"),
    "codex": ("exec_command", "cmd", "hooks.json"),
    "gemini": ("run_shell_command", "command", ".gemini/settings.json"),
    "copilot": ("bash", "command", ".copilot/hooks/penstock.json"),
    "opencode": ("bash", "command", ".config/opencode/plugins/penstock.js"),
}


SPOKEN = {"claude": "PostToolUse", "codex": "PostToolUse", "gemini": "AfterTool", "copilot": "postToolUse"}


def settings_of(host: str) -> dict[str, object] | str:
    """Return what the docs tell a person to write."""
    if host == "opencode":
        plugin = (REPOSITORY / "src" / "penstock" / "hosts" / "opencode_plugin.js").read_text("utf-8")
        return plugin.replace('["penstock",', f'["{sys.executable}", "-m", "penstock",')
    page = (REPOSITORY / "docs" / "hooks.md").read_text("utf-8")
    found = re.search(rf"^```json {host}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found
    ours = shlex.join([sys.executable, "-m", "penstock"])
    return dict(json.loads(found[1].replace('"penstock hook', f'"{ours} hook')))


@pytest.mark.parametrize("host", SHELLS)
@pytest.mark.parametrize("is_guarded", [False, True], ids=["plain", "behind guard"])
@pytest.mark.timeout(200)
def test_the_model_receives_our_text_for_a_flood_of_the_shell(host: str, is_guarded: bool, tmp_path: Path) -> None:
    """Its handle has the rest; all of it, if the host passes everything or the command is behind the guard."""
    program = real(host)
    tool, argument, at = SHELLS[host]
    home, root, store = tmp_path / "home", tmp_path / "root", tmp_path / "store"
    root.mkdir()
    settings = settings_of(host)
    if host == "gemini":
        assert isinstance(settings, dict)
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    (home / at).parent.mkdir(parents=True)
    (home / at).write_text(settings if isinstance(settings, str) else json.dumps(settings))
    command = "seq 1 60000"
    if is_guarded:
        command = f"{shlex.join([sys.executable, '-m', 'penstock'])} guard --chars 9000 -- {command}"
    with LoopbackModel(tool, {argument: command, "description": "count"}) as model:
        arguments, environment = asked(host, model.url, home)
        done = hosts.run([str(program), *arguments], root, home, {**environment, "PENSTOCK_STORE": str(store)})
    assert model.received, done[-600:]
    received = model.received[-1]
    assert "[OUTPUT TRUNCATED]" in received, received[:600]
    kept = open_store(str(store))
    handle = handle_in(received)
    whole = kept.read(handle, 0, kept.info(handle).bytes).decode()
    kept.close()
    if host == "codex" and not is_guarded:
        assert "The host had cut it before, of 87224 tokens" in received
        assert whole.startswith("Warning: truncated output (original token count: 87224)")
    else:
        assert SEQUENCE in whole


_LISTS = """
import json, sys
TABLES = [{"uri": f"db://{at}", "name": f"table {at}", "mimeType": "text/plain"} for at in range(3_000)]
for line in sys.stdin:
    asked = json.loads(line)
    results = {
        "initialize": {"capabilities": {"resources": {}, "tools": {}}, "serverInfo": {"name": "db", "version": "1"}},
        "resources/list": {"resources": TABLES},
        "tools/list": {"tools": []},
    }
    if "id" in asked:
        result = results.get(asked["method"], {})
        if asked["method"] == "initialize":
            result["protocolVersion"] = asked["params"]["protocolVersion"]
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.mark.timeout(200)
def test_a_list_that_ends_early_is_taken_and_what_is_said_of_it_reaches_the_model(tmp_path: Path) -> None:
    """Claude Code checks the shape of a tool's own result, and gives its model the hook's additional context."""
    program = real("claude")
    home, root, store = tmp_path / "home", tmp_path / "root", tmp_path / "store"
    (home / ".claude").mkdir(parents=True)
    root.mkdir()
    (home / ".claude" / "settings.json").write_text(json.dumps(settings_of("claude")))
    servers = {"db": {"command": sys.executable, "args": ["-c", _LISTS]}}
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": servers}))
    with LoopbackModel("ListMcpResourcesTool", {}) as model:
        _, environment = asked("claude", model.url, home)
        environment |= {"PENSTOCK_STORE": str(store), "ENABLE_TOOL_SEARCH": "false"}
        arguments = ["-p", "go", "--mcp-config", str(tmp_path / "servers.json"), "--allowedTools", model.tool]
        done = hosts.run([str(program), *arguments], root, home, environment)
    assert model.received, done[-600:]
    listed = json.loads(model.received[-1])
    assert 100 < len(listed) < 3_000
    said = json.dumps(model.bodies[-1])
    notice = said[said.index("[OUTPUT TRUNCATED]") :]
    assert "Lists in the result end early" in notice
    kept = open_store(str(store))
    handle = handle_in(notice)
    whole = json.loads(kept.read(handle, 0, kept.info(handle).bytes))
    kept.close()
    assert len(whole) == 3_000
    assert whole[: len(listed)] == listed


@pytest.mark.proves("H-2")
@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "opencode"])
@pytest.mark.timeout(200)
def test_a_hosts_shell_can_be_told_to_use_the_guard(host: str, tmp_path: Path) -> None:
    """A command fails, and three hosts cut its output before any hook, or show it without one."""
    program = real(host)
    home, root, store, file = tmp_path / "home", tmp_path / "root", tmp_path / "store", tmp_path / "guard.bash"
    root.mkdir()
    home.mkdir()
    made = [sys.executable, "-m", "penstock", "guard", "--chars", "9000", "--shell-file"]
    file.write_text(subprocess.run(made, capture_output=True, text=True, check=True, timeout=60).stdout)
    file.chmod(0o755)
    tool, argument, _ = SHELLS[host]
    call: dict[str, object] = {argument: "seq 1 60000; exit 3"}
    if host == "opencode":
        call["description"] = "count"
    with LoopbackModel(tool, call) as model:
        arguments, environment = asked(host, model.url, home)
        if host == "codex":  # it gives its shell a separate environment
            settings = home / "config.toml"
            settings.write_text(f"shell_environment_policy.set = {{ BASH_ENV = '{file}' }}\n{settings.read_text()}")
        if host == "gemini":
            (home / ".gemini").mkdir()
            auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            (home / ".gemini" / "settings.json").write_text(json.dumps(auth))
        environment["CLAUDE_CODE_SHELL_PREFIX" if host == "claude" else "BASH_ENV"] = str(file)
        more = {"PENSTOCK_STORE": str(store), "SHELL": "/bin/bash"}
        done = hosts.run([str(program), *arguments], root, home, {**environment, **more})
    assert model.received, done[-600:]
    received = model.received[-1]
    assert "[OUTPUT TRUNCATED]" in received, received[:600]
    assert "60000" in received
    if host in {"claude", "codex"}:  # the others do not tell their models
        assert re.search(r"(?:Exit|exited with) code 3", received)
    kept = open_store(str(store))
    assert kept.read(handle_in(received), 0, 1 << 20).decode() == SEQUENCE
    kept.close()


@pytest.mark.proves("H-4")
@pytest.mark.parametrize("host", ["claude", "codex"])
@pytest.mark.timeout(200)
def test_after_a_compaction_the_model_has_the_rules_and_the_open_ends(host: str, tmp_path: Path) -> None:
    """The host really compacts: Claude Code by its command, Codex because its window is full; the next request has them."""
    program = real(host)
    home, root = tmp_path / "home", tmp_path / "root"
    (root / ".penstock").mkdir(parents=True)
    (root / ".penstock" / "pinned.md").write_text("Never touch secrets.py.\n")
    at = home / SHELLS[host][2]
    at.parent.mkdir(parents=True)
    at.write_text(json.dumps(settings_of(host)))
    tool, argument, _ = SHELLS[host]
    with LoopbackModel(tool, {argument: "cat gone.txt"}) as model:
        model.usage = {"input_tokens": 15_000, "output_tokens": 5, "total_tokens": 15_005}
        arguments, environment = asked(host, model.url, home)
        environment |= {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_RUNTIME_DIR": str(tmp_path / "run")}
        if host == "codex":
            limits = "model_context_window = 20000\nmodel_auto_compact_token_limit = 9000\n"
            (home / "config.toml").write_text(limits + (home / "config.toml").read_text())
        steps = {
            "claude": [
                ["-p", "fix it", "--allowedTools", "Bash"],
                ["-p", "/compact", "--continue"],
                ["-p", "on", "--continue"],
            ],
            "codex": [[*arguments[:-1], "fix it"], [arguments[0], "resume", "--last", *arguments[1:-1], "on"]],
        }[host]
        for step in steps:
            done = hosts.run([str(program), *step], root, home, environment)
    last = json.dumps(model.bodies[-1])
    found = re.search(r"\[penstock: (\d+) tokens: pinned rules \d+, open ends \d+\]", last)
    assert found, done[-600:]
    assert last.count("[penstock: ") == 1
    assert int(found[1]) <= 800
    for said in ("Never touch secrets.py.", "Goal:\\nfix it", "Open errors:\\n- cat gone.txt: "):
        assert said in last, last[found.start() :][:900]
    assert '"name": "exec_command"' not in json.dumps(model.bodies[-1].get("input", "")), (
        "the call itself is compacted away"
    )


def real(host: str) -> Path:
    """Return the program of a host; skip the test if real hosts were not requested or it is not installed."""
    if "PENSTOCK_TEST_HOSTS" not in os.environ:
        pytest.skip(
            "real hosts take minutes: PENSTOCK_TEST_HOSTS=1 drives those that scripts/tools hosts has installed"
        )
    program = hosts.installed(host)
    if program is None:
        pytest.skip(f"{host} is not installed (scripts/tools hosts installs it)")
    return program


def asked(host: str, url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    """Return how a host is asked without a person: arguments and environment."""
    if host == "claude":
        environment = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        return ["-p", "go", "--allowedTools", "Bash"], environment
    if host == "gemini":
        environment = {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        return ["-m", "gemini-2.5-pro", "--yolo", "-p", "go"], environment
    if host == "copilot":
        environment = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_HOME": str(home / ".copilot"),
        }
        return ["-p", "go", "--allow-all-tools", "--allow-all-paths"], environment
    if host == "opencode":
        options = {"baseURL": f"{url}/v1", "apiKey": "x"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {"name": "m"}}}
        (home / "opencode.json").write_text(json.dumps({"provider": {"loopback": provider}}))
        environment = {"OPENCODE_CONFIG": str(home / "opencode.json"), "XDG_CONFIG_HOME": str(home / ".config")}
        return ["run", "-m", "loopback/m", "go"], environment
    (home / "config.toml").write_text(
        'model = "local"\nmodel_provider = "loopback"\n[model_providers.loopback]\nname = "loopback"\n'
        f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "LOOPBACK_KEY"\n[features]\nhooks = true\n'
    )
    trusted = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
    return ["exec", "--skip-git-repo-check", *trusted, "go"], {"CODEX_HOME": str(home), "LOOPBACK_KEY": "x"}


def test_hosts_start_what_the_docs_name() -> None:
    """Each setting starts a hook of that host for all its events, including that of results."""
    for host, spoken in SPOKEN.items():
        settings: Any = settings_of(host)
        assert tuple(settings["hooks"]) == hook_host(host).events
        (entry,) = settings["hooks"][spoken]
        command = shlex.split(entry["bash"] if host == "copilot" else entry["hooks"][0]["command"])
        done = subprocess.run(command, input="{}", capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout == ""


@pytest.mark.parametrize("host", ["claude", "gemini", "opencode"])
@pytest.mark.timeout(200)
def test_a_package_guards_the_shell_and_brings_our_tools(host: str, tmp_path: Path) -> None:
    """It is installed by the host's own means, with nothing else configured (H-6)."""
    program = real(host)
    tool, argument, _ = SHELLS[host]
    home, root, built = tmp_path / "home", tmp_path / "root", tmp_path / "packages"
    root.mkdir()
    home.mkdir()
    build = [sys.executable, str(REPOSITORY / "scripts" / "packages.py"), str(built)]
    subprocess.run(build, check=True, capture_output=True)
    with LoopbackModel(tool, {argument: "seq 1 60000", "description": "count"}) as model:
        arguments, environment = asked(host, model.url, home)
        environment |= {
            "PENSTOCK_STORE": str(tmp_path / "store"),
            "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
            "ENABLE_TOOL_SEARCH": "false",
            "MCP_CONNECTION_NONBLOCKING": "false",
        }
        if host == "claude":
            arguments += ["--plugin-dir", str(built / "claude")]
        elif host == "gemini":
            (home / ".gemini").mkdir()
            auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
            (home / ".gemini" / "settings.json").write_text(json.dumps(auth))
            install = [str(program), "extensions", "install", "--consent", str(built / "gemini")]
            hosts.run(install, root, home, environment)
        else:
            settings = json.loads((home / "opencode.json").read_text())
            settings["plugin"] = [f"file://{built / 'opencode' / 'index.js'}"]
            (home / "opencode.json").write_text(json.dumps(settings))
        done = hosts.run([str(program), *arguments], root, home, environment)
    assert model.received, done[-600:]
    assert "[OUTPUT TRUNCATED]" in model.received[-1], model.received[-1][:600]
    if host != "opencode":
        assert any("ctx_page" in name for name in model.offered), model.offered
