"""Real hosts go on where another one's session ended: its handoff is in the first request of a session that we began."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from proof.loopback_model import LoopbackModel

from proof import hosts
from tests.hosts.sessions.machines import started
from tests.hosts.sessions.test_beginning import ended
from tests.hosts.sessions.validity import complaints
from tests.hosts.test_real_hosts import asked, real

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("before", "host"), [("claude", "codex"), ("codex", "claude"), ("claude", "qwen")])
@pytest.mark.timeout(120)
def test_a_real_host_goes_on_with_the_session_of_another(before: str, host: str, tmp_path: Path) -> None:
    """Resumed by the command that was printed; the request holds task, todos and changed files, and is valid."""
    program = real(host)
    home, root = tmp_path / "home", tmp_path / "root"
    home.mkdir()
    root.mkdir()
    path = ended(before, tmp_path, root)
    with LoopbackModel("nothing", {}) as model:
        model.asked = True
        arguments, environment = started(host, model.url, home, []) if host == "qwen" else asked(host, model.url, home)
        command = [sys.executable, "-m", "penstock", "handoff", "--from", path, "--to", host, "--json"]
        made = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=60, env={**environment, "HOME": str(home)}
        )
        begun = json.loads(made.stdout)
        resume = begun["resume"].split()[1:]
        if host == "codex":
            ask = [arguments[0], *resume, *arguments[1:-1], "go on"]
        elif host == "claude":
            ask = [*resume, "-p", "go on"]
        else:
            ask = [*arguments, *resume, "-p", "go on"]
        printed = hosts.run([str(program), *ask], root, home, environment)
        assert model.bodies, printed[-800:]
    sent = json.dumps(model.bodies[0])
    for words in ("TASK-ONE fix the parser", "Write the tests", "parser.py", "go on"):
        assert words in sent, words
    assert complaints(model.bodies[0]) == []
