"""Do real hosts continue where another's session ended, with its handoff in the first request of a session that we began?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from proof.loopback_model import LoopbackModel

from proof import hosts
from tests.hosts.sessions.machines import USES, started
from tests.hosts.sessions.test_beginning import ended
from tests.hosts.sessions.validity import complaints
from tests.hosts.test_real_hosts import asked, real

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("X-4")


@pytest.mark.parametrize(
    ("before", "host"), [("claude", "codex"), ("codex", "claude"), *(("claude", host) for host in USES)]
)
@pytest.mark.timeout(120)
def test_a_real_host_continues_the_session_of_another(before: str, host: str, tmp_path: Path) -> None:
    """It is resumed by the printed command; the request holds task, to-dos and changed files, and is valid."""
    program = real(host)
    home, root = tmp_path / "home", tmp_path / "root"
    home.mkdir()
    root.mkdir()
    path = ended(before, tmp_path, root)
    with LoopbackModel("nothing", {}) as model:
        model.asked = True
        asking = asked(host, model.url, home) if host in {"claude", "codex"} else started(host, model.url, home, [])
        arguments, environment = asking
        places = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_DATA_HOME": str(home / ".local")}
        environment = {**environment, **places, "XDG_STATE_HOME": str(home / "state")}
        if host == "opencode":
            settings = home / "opencode.json"
            settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": "loopback/m"}))
            arguments = ["run"]
        command = [sys.executable, "-m", "penstock", "handoff", "--from", path, "--to", host, "--json"]
        made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
        begun = json.loads(made.stdout)
        *prepare, resume = begun["resume"].split(" && ")
        resume = resume.split()[1:]
        if prepare:
            hosts.run([str(program), *prepare[0].split()[1:]], root, home, environment)
        if host == "codex":
            ask = [arguments[0], *resume, *arguments[1:-1], "go on"]
        elif host == "claude":
            ask = [*resume, "-p", "go on"]
        else:
            ask = [*arguments, *resume, *(["-p"] if host != "opencode" else []), "go on"]
        printed = hosts.run([str(program), *ask], root, home, environment)
        assert model.bodies, printed[-800:]
    sent = json.dumps(model.bodies[0])
    for words in ("TASK-ONE fix the parser", "Write the tests", "parser.py", "go on"):
        assert words in sent, words
    assert complaints(model.bodies[0]) == []
    assert os.path.basename(begun["folder"]) == "root"
