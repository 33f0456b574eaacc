"""Do child agents of `penstock run --budget` work over real HTTP: killed, stopped, shown and counted?"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.test_running import penstock
from tests.forks import warm_penstock

from penstock.models import call, say
from penstock.testing import LoopbackProvider
from penstock.wires import load_request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHILD = "You work for another agent"
EDITS = 4


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a tree with a file to which lines are added."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "counter.txt").write_text("end\n")
    return tmp_path / "tree"


def lines_of(number: int) -> str:
    return "".join(f"line {line + 1}\n" for line in range(number)) + "end\n"


def policy(request: dict[str, Any]) -> Any:
    """Act as a parent that delegates all work, and as a child that adds lines with edits that would succeed a second time."""
    shown = load_request(request, "openai-chat").visible()
    text = shown[-1].results[-1].text if shown[-1].results else ""
    if CHILD not in json.dumps(request):
        if re.search(r"task-\d answered", json.dumps(request)):
            return say("All is done.")
        return call("task", description="add the lines", prompt=f"Add lines up to {EDITS}.")
    if not re.search(r"^\d+\|end$", text, re.MULTILINE):
        return call("view", file_path="counter.txt")
    number = len(re.findall(r"^\d+\|line \d+$", text, re.MULTILINE))
    if number == EDITS:
        return say(f"It is {number}.")
    return call("edit_file", path="counter.txt", old="end", new=f"line {number + 1}\nend")


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    """Serve that policy."""
    with LoopbackProvider("openai-chat", 32_000, policy=policy) as served:
        yield served


def begin(tree: Path, provider: LoopbackProvider, *more: str) -> list[str]:
    where = ["--root", str(tree), "--model", "openai-chat:x", "--base-url", provider.base_url, "--window", "32000"]
    return ["run", "Add the lines.", *where, "--allow-edit", "--budget", "300000", *more]


@pytest.mark.proves("S-8", "S-12")
def test_a_run_with_a_child_that_is_killed_again_and_again_ends_with_each_edit_done_once(
    tree: Path, tmp_path: Path, provider: LoopbackProvider
) -> None:
    """Real processes are killed after every third line that they show; spending is reported."""
    environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"}
    session = ""
    for _ in range(5):
        arguments = ["resume", session] if session else begin(tree, provider)
        command = [*warm_penstock(), *arguments]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stderr is not None
            lines = 3
            for line in running.stderr:
                lines -= line.startswith("[turn ")
                if not lines:
                    break
            running.kill()
            running.communicate()  # the process is gone
        session = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"][0]["id"]
    done = penstock(tmp_path, "resume", session, "--json")
    assert json.loads(done.stdout)["answer"] == "All is done.", done.stderr
    assert (tree / "counter.txt").read_text() == lines_of(EDITS)
    shown = json.loads(penstock(tmp_path, "show", session, "--json").stdout)
    (child,) = shown["children"]
    assert (child["child"], child["description"], child["outcome"]) == ("task-1", "add the lines", "answered")
    assert child["files"] == 1
    assert 0 < child["spent_tokens"] < child["granted_tokens"] <= 150_000
    assert (
        shown["budget"]["spent_tokens"] + shown["budget"]["left_tokens"] == shown["budget"]["granted_tokens"] == 300_000
    )
    for name in ("show", "stats"):
        told = penstock(tmp_path, name, session).stdout
        assert f"task-1 answered, {child['turns']} turns, {child['spent_tokens']} of" in told
    handed = json.loads(penstock(tmp_path, "handoff", session).stdout)
    assert handed["modifiedFiles"] == ["counter.txt"]
    undone = penstock(tmp_path, "undo", session)
    assert undone.returncode == 0, undone.stderr
    assert (tree / "counter.txt").read_text() == lines_of(EDITS - 1)


@pytest.mark.proves("S-8")
def test_the_task_tool_is_offered_with_a_budget_alone(tree: Path, tmp_path: Path) -> None:
    """Without a budget a request has no such tool; a resume can give a session its first budget."""
    offered: list[bool] = []

    def asked(request: dict[str, Any]) -> Any:
        offered.append(any(tool["function"]["name"] == "task" for tool in request["tools"]))
        return say("Hello.")

    with LoopbackProvider("openai-chat", 32_000, policy=asked) as provider:
        plain = [part for part in begin(tree, provider, "--json") if part not in {"--budget", "300000"}]
        session = json.loads(penstock(tmp_path, *plain).stdout)["session"]
        penstock(tmp_path, "resume", session, "Again.")
        penstock(tmp_path, "resume", session, "Again.", "--budget", "50000")
        penstock(tmp_path, "resume", session, "Again.")
    assert offered == [False, False, True, True]


@pytest.mark.proves("S-8")
def test_a_budget_that_is_used_up_ends_the_run_and_can_be_raised(
    tree: Path, tmp_path: Path, provider: LoopbackProvider
) -> None:
    """The status is 7, with the command that continues; with a larger budget the work is finished, and no token exceeds it."""
    small = [*begin(tree, provider)[:-1], "12000", "--json"]
    ended = penstock(tmp_path, *small)
    result = json.loads(ended.stdout)
    assert (ended.returncode, result["outcome"]) == (7, "budget")
    assert f"penstock resume {result['session']} --budget TOKENS" in result["message"]
    shown = json.loads(penstock(tmp_path, "show", result["session"], "--json").stdout)
    assert shown["budget"]["spent_tokens"] <= 12_000
    more = penstock(tmp_path, "resume", result["session"], "--budget", "200000", "--json")
    assert json.loads(more.stdout)["answer"] == "All is done.", more.stderr


@pytest.mark.proves("S-8", "S-11")
def test_ctrl_c_ends_a_child_within_half_a_second_and_its_parent_hears_of_it(tree: Path, tmp_path: Path) -> None:
    """The interrupt comes while the provider is silent in the middle of a child's answer."""
    told: list[str] = []
    is_over = threading.Event()

    def slow(request: dict[str, Any]) -> Any:
        if CHILD in json.dumps(request):
            if sum(len(entry.results) for entry in load_request(request, "openai-chat").visible()) == 2:
                is_over.wait(20)
            return policy(request)
        told.append(json.dumps(request))
        return policy(request) if len(told) == 1 else say("I see.")

    with LoopbackProvider("openai-chat", 32_000, policy=slow) as provider:
        environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"}
        command = [*warm_penstock(), *begin(tree, provider)]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stderr is not None
            for line in running.stderr:
                if "task-1: edit_file returned" in line:
                    break
            time.sleep(0.5)
            stopped = time.monotonic()
            running.send_signal(signal.SIGINT)
            running.wait(timeout=20)
            assert time.monotonic() - stopped < 10  # half a second, and the end of a process on a busy machine
            assert running.returncode == 130
        is_over.set()
        session = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"][0]["id"]
        done = penstock(tmp_path, "resume", session, "What now?")
    assert done.stdout == "I see.\n", done.stderr
    assert re.search("task-1 was (stopped by the person|cut off and does not continue) after 2 turns", told[-1])
    assert "changed counter.txt" in told[-1]


@pytest.mark.proves("S-8")
def test_a_program_gets_the_events_of_a_child_under_its_name(
    tree: Path, tmp_path: Path, provider: LoopbackProvider
) -> None:
    """They are mixed with those of its parent, in the order of events."""
    done = penstock(tmp_path, *begin(tree, provider, "--output-format", "stream-json"))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    own = [event["name"] for event in events if event["type"] == "tool_use" and event.get("child") == "task-1"]
    assert own.count("edit_file") == EDITS
    assert [event["name"] for event in events if event["type"] == "tool_use" and "child" not in event] == ["task"]
    assert events[-1]["type"] == "result"
