"""More real hosts go on with the session that `penstock rescue` wrote: its first request fits, with the task and the stub."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from proof.loopback_model import LoopbackModel

from proof import hosts
from tests.hosts.test_real_hosts import asked, real

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("X-3")

# The host, its shell, its flood, what it holds while it gets stuck (None: all), what it holds then.
STUCK: dict[str, tuple[str, str, int | None, int]] = {
    "gemini": ("run_shell_command", "seq 1 8000", 21_000, 21_000),
    "copilot": ("bash", "seq 1 4000", 15_000, 15_000),
    # It compacts, and keeps the newest, which is the flood: stuck again, without a word.
    "pi": ("bash", "seq 1 5000", 4_000, 4_000),
    # It frees itself where it is refused, and loses the result: stuck is who lets it go on with a smaller model.
    "qwen": ("run_shell_command", "seq 1 6000", None, 24_000),
    "opencode": ("bash", "seq 1 5000", None, 9_500),
}
RESUMED = {"opencode": "-s", "pi": "--session"}


def started(host: str, url: str, home: Path, words: list[str]) -> tuple[list[str], dict[str, str]]:
    """How a host is asked, and its environment."""
    if host == "qwen":
        (home / ".qwen").mkdir(exist_ok=True)
        (home / ".qwen" / "settings.json").write_text(json.dumps({"security": {"auth": {"selectedType": "openai"}}}))
        return ["--yolo", *words], {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "m"}
    if host == "pi":
        own = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "x", "models": [{"id": "m"}]}
        (home / ".pi" / "agent").mkdir(parents=True, exist_ok=True)
        (home / ".pi" / "agent" / "models.json").write_text(json.dumps({"providers": {"loopback": own}}))
        return ["--offline", "--provider", "loopback", "--model", "m", *words], {}
    if host == "gemini":
        (home / ".gemini").mkdir(exist_ok=True)
        auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
        (home / ".gemini" / "settings.json").write_text(json.dumps(auth))
    arguments, environment = asked(host, url, home)
    at = arguments.index("go") - (host != "opencode")
    return [*arguments[:at], *words, *arguments[at + 1 + (host != "opencode") :]], environment


def session_file(home: Path) -> Path:
    """The one file that holds the task."""
    (found,) = (path for path in home.rglob("*.jsonl") if '"TASK-ONE' in path.read_text())
    return found


def exported(program: Path, root: Path, home: Path, environment: dict[str, str], session: str = "") -> Path:
    """What opencode's own export prints of a session, or of the only one."""

    def printed(*words: str) -> str:
        held = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_DATA_HOME": str(home / ".local")}
        held |= {"PATH": os.environ["PATH"], "NO_COLOR": "1", **environment}
        command = [str(program), *words]
        return subprocess.run(
            command, cwd=root, env=held, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    if not session:
        (session,) = re.findall(r"ses_\w+", printed("session", "list"))
    path = home / f"export-{session}.json"
    path.write_text(printed("export", session))
    return path


@pytest.mark.parametrize("host", STUCK)
@pytest.mark.timeout(300)
def test_a_stuck_session_goes_on(host: str, tmp_path: Path) -> None:
    """One flood that the host let in, a provider that counts four bytes a token and refuses what is too large."""
    program = real(host)
    tool, flood, window, then = STUCK[host]
    home, root, store = tmp_path / "home", tmp_path / "root", tmp_path / "store"
    root.mkdir()
    home.mkdir()
    call: dict[str, object] = {"command": flood, "description": "flood"}
    if host == "qwen":
        call["is_background"] = False
    with LoopbackModel(tool, call) as model:
        model.window_tokens = window or 1_000_000
        words = ["TASK-ONE fix the parser"] if host == "opencode" else ["-p", "TASK-ONE fix the parser"]
        arguments, environment = started(host, model.url, home, words)
        done = hosts.run([str(program), *arguments], root, home, environment)
        assert bool(model.refused) == (window is not None), done[-600:]
    stuck = exported(program, root, home, environment) if host == "opencode" else session_file(home)
    before = stuck.read_bytes()
    command = [sys.executable, "-m", "penstock", "rescue", str(stuck), "--window", str(then), "--json"]
    ran = subprocess.run([*command, "--store", str(store)], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    made = json.loads(ran.stdout)
    assert made["stuck"]
    assert stuck.read_bytes() == before
    with LoopbackModel(tool, call) as model:
        model.window_tokens, model.asked = then, True
        resume = [
            RESUMED.get(host, "--resume"),
            made["session"],
            *(["go on"] if host == "opencode" else ["-p", "go on"]),
        ]
        arguments, environment = started(host, model.url, home, resume)
        if host == "opencode":
            hosts.run([str(program), "import", made["written"]], root, home, environment)
        done = hosts.run([str(program), *arguments], root, home, environment)
        assert (model.refused, bool(model.bodies)) == (0, True), done[-600:]
    sent = json.dumps(model.bodies[0])
    assert "TASK-ONE fix the parser" in sent
    assert made["cut"][0]["handle"] in sent
    assert "go on" in sent
    assert "\\n2500\\n" not in sent
    if host == "opencode":
        old = re.findall(r"ses_\w+", before.decode())[0]
        assert exported(program, root, home, environment, old).read_bytes() == before
        assert made["resume"] == f"opencode import {made['written']} && opencode -s {made['session']}"
    calls, results = answered(model.bodies[0])
    assert calls
    assert calls == results, "each call once, each answered once"
    assert set(calls.values()) == {1}


def answered(body: dict[str, Any]) -> tuple[Counter[str], Counter[str]]:
    """The ids of the calls in a request and of their results, how often each stands there."""
    calls, results = Counter[str](), Counter[str]()
    for message in body.get("messages") or []:
        calls.update(call["id"] for call in message.get("tool_calls") or [])
        results.update([message["tool_call_id"]] if message["role"] == "tool" else [])
    for content in body.get("contents") or []:
        for part in content["parts"]:
            calls.update([part["functionCall"]["id"]] if "functionCall" in part else [])
            response = part.get("functionResponse", {})
            results.update([response.get("id") or next(iter(calls))] if response else [])
    return calls, results
