"""Real hosts go on with the session that `penstock rescue` wrote for them: their first request fits, with the task and the stub."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from proof.loopback_model import LoopbackModel

from proof import hosts

if TYPE_CHECKING:
    from pathlib import Path
from tests.hosts.test_real_hosts import asked, real

# The host, its shell, what its command is called there, what holds the session without its flood and not with it.
SHELLS = {"claude": ("Bash", "command", 15_000), "codex": ("exec_command", "cmd", 11_500)}


@pytest.mark.parametrize("host", SHELLS)
@pytest.mark.timeout(200)
def test_a_stuck_session_goes_on(host: str, tmp_path: Path) -> None:
    """One flood that the host let in, a provider that counts four bytes a token and refuses what is too large."""
    program = real(host)
    tool, argument, window = SHELLS[host]
    home, root, store = tmp_path / "home", tmp_path / "root", tmp_path / "store"
    root.mkdir()
    home.mkdir()
    with LoopbackModel(tool, {argument: "seq 1 5000", "description": "flood"}) as model:
        model.window_tokens = window
        arguments, environment = asked(host, model.url, home)
        task = ["TASK-ONE fix the parser" if word == "go" else word for word in arguments]
        done = hosts.run([str(program), *task], root, home, environment)
        assert model.refused, done[-600:]
    (stuck,) = (path for path in home.rglob("*.jsonl") if "TASK-ONE" in path.read_text())
    before = stuck.read_bytes()
    command = [sys.executable, "-m", "penstock", "rescue", str(stuck), "--window", str(window), "--json"]
    ran = subprocess.run([*command, "--store", str(store)], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    made = json.loads(ran.stdout)
    assert "overflow_refused" in made["stuck"]
    assert stuck.read_bytes() == before
    with LoopbackModel(tool, {argument: "true"}) as model:
        model.window_tokens, model.asked = window, True
        arguments, environment = asked(host, model.url, home)
        resume = ["--resume", made["session"], "-p", "go on"]
        if host == "codex":
            resume = [arguments[0], "resume", made["session"], *arguments[1:-1], "go on"]
        done = hosts.run([str(program), *resume], root, home, environment)
        assert (model.refused, len(model.bodies)) == (0, 1), done[-600:]
    sent = json.dumps(model.bodies[0])
    assert "TASK-ONE fix the parser" in sent
    assert made["cut"][0]["handle"] in sent
    assert "go on" in sent
    assert "\\n2500\\n" not in sent
