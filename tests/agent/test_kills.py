"""After any number of kills, is every acknowledged record there, nothing done twice, and the work finished?"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.forks import COMMANDS, warm, warm_penstock

from penstock.agent.journal import resumed
from penstock.models import call, say
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.wires import load_request

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.models import ScriptStep

EDITS = 12
KILLS = 6
SEED = 20261121


def policy(request: dict[str, Any]) -> ScriptStep:
    """Add lines to a file, one edit at a time, and view the file before each; the policy knows only what the request shows.

    Each edit would also succeed a second time, and then repeat its line.
    """
    last = load_request(request, "openai-chat").visible()[-1]
    text = last.results[-1].text if last.results else ""
    if not re.search(r"^\d+\|end$", text, re.MULTILINE):
        return call("view", file_path="counter.txt")
    number = len(re.findall(r"^\d+\|line \d+$", text, re.MULTILINE))
    if number == EDITS:
        return say(f"It is {number}.")
    return call("edit_file", path="counter.txt", old="end", new=f"line {number + 1}\nend")


@pytest.mark.proves("S-12", "S-10")
def test_an_agent_that_is_killed_again_and_again_ends_its_work_with_each_edit_done_once(tmp_path: Path) -> None:
    """With real processes and kills, the journal loads each time and has all that was acknowledged, and the file is right."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "counter.txt").write_text("end\n")
    environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"}
    dice = random.Random(SEED)
    session, kills, told = "", 0, 0
    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        begin = ["run", "Count up.", "--root", str(tmp_path / "tree"), "--model", "openai-chat:x", "--allow-edit"]
        begin += ["--base-url", provider.base_url, "--window", "32000"]
        while kills < KILLS:
            arguments = ["resume", session] if session else begin
            lines = dice.randint(1, 5)
            with _penstock(arguments, environment) as running:
                assert running.stderr is not None
                for line in running.stderr:
                    lines -= line.startswith("[turn ")
                    if not lines:
                        break
                running.kill()
                running.communicate()  # the process is gone
            kills += 1
            store = open_store(environment["PENSTOCK_STORE"])
            session = store.sessions()[0].session
            before, told = told, store.sessions()[0].records
            assert told >= before
            resumed(store, session)
            assert store.check() == []
            store.close()
        with _penstock(["resume", session, "--json"], environment) as running:
            output, _ = running.communicate(timeout=60)
    result = json.loads(output)
    assert (result["outcome"], result["answer"]) == ("answered", f"It is {EDITS}.")
    assert (tmp_path / "tree" / "counter.txt").read_text() == _lines(EDITS)


DIES_BEHIND_AN_EDIT = """
import os, signal, sys
from penstock.agent.loop import Agent
from penstock.cli import main
from penstock.session import Effected

feed = Agent.feed


def fatal(self, event, *rest):
    if isinstance(event, Effected):
        os.kill(os.getpid(), signal.SIGKILL)
    feed(self, event, *rest)


Agent.feed = fatal
sys.exit(main())
"""


@pytest.mark.proves("S-12")
def test_a_kill_between_an_edit_and_its_record_does_not_repeat_the_edit(tmp_path: Path) -> None:
    """The file is changed, and the journal has only the intent: the next process checks the file and continues after the edit."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "counter.txt").write_text("end\n")
    environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"}
    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        arguments = ["run", "Add lines.", "--root", str(tmp_path / "tree"), "--model", "openai-chat:x", "--allow-edit"]
        arguments += ["--base-url", provider.base_url, "--window", "32000", "--json"]
        command = [*warm(*COMMANDS), "-c", DIES_BEHIND_AN_EDIT, *arguments]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert (tmp_path / "tree" / "counter.txt").read_text() == _lines(1)
        store = open_store(environment["PENSTOCK_STORE"])
        arguments = ["resume", store.sessions()[0].session, "--json"]
        store.close()
        with _penstock(arguments, environment) as running:
            output, _ = running.communicate(timeout=60)
    assert json.loads(output)["answer"] == f"It is {EDITS}."
    assert (tmp_path / "tree" / "counter.txt").read_text() == _lines(EDITS)


def _lines(number: int) -> str:
    return "".join(f"line {n + 1}\n" for n in range(number)) + "end\n"


def _penstock(arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [*warm_penstock(), *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
