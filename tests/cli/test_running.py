"""Does `penstock run` work as people and scripts use it, with providers over HTTP in every wire format?"""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import threading
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.screens import typed
from tests.forks import warm_penstock

from penstock.models import ScriptStep, call, fail, say
from penstock.models.provider import Provider
from penstock.models.steps import ScriptedReply
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.wires import load_request
from penstock.wires.table import WIRES, wire_named
from penstock.wires.wire import RequestSize

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a tree with one fact, and a page of noise."""
    root = tmp_path / "tree"
    root.mkdir()
    (root / "ports.ini").write_text("[server]\nport = 8443\n")
    (root / "noise.log").write_text("nothing to see here, line after line\n" * 3_000)
    return root


def penstock(tmp_path: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command with a store in the folder."""
    environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"}
    return typed(*arguments, cwd=cwd or tmp_path, environment=environment)


def investigating(wire: str) -> Any:
    """A policy that reads noise, then the fact, then answers with its line, while the provider sometimes fails."""
    asked = 0

    def policy(request: dict[str, Any]) -> ScriptStep:
        nonlocal asked
        asked += 1
        if asked == 3:
            return fail(503, {"error": {"message": "overloaded"}})
        texts = [result.text for entry in load_request(request, wire).visible() for result in entry.results]
        if any("port = 8443" in text for text in texts):
            return say("It is 8443.\nports.ini:2: port = 8443")
        if len(texts) < 4:
            return call("view", file_path="noise.log", offset=len(texts) * 100)
        return call("search", pattern="port", path="ports.ini")

    return policy


@pytest.mark.proves("S-9")
@pytest.mark.parametrize("wire", WIRES)
def test_a_question_is_answered_over_every_wire(wire: str, tree: Path, tmp_path: Path) -> None:
    """A person gets a stream and a status line per step, a script one object; the session is then shown, handed off and resumed."""
    with LoopbackProvider(wire, 12_000, policy=investigating(wire)) as provider:
        begin = ("run", "Which port?", "--root", str(tree), "--model", f"{wire}:x", "--base-url", provider.base_url)
        person = penstock(tmp_path, *begin, "--window", "16000")
        script = penstock(tmp_path, *begin, "--window", "16000", "--json")
        assert all(received.outcome in {"answered", "refused", "failed"} for received in provider.requests)
        assert (person.returncode, script.returncode) == (0, 0), person.stderr + script.stderr
        assert "It is 8443." in person.stdout
        assert "[turn 1, window " in person.stderr
        found = json.loads(script.stdout)
        assert found["citations"] == [{"path": "ports.ini", "line": 2, "text": "port = 8443"}]
        assert (found["outcome"], found["usage"]["input_tokens"] > 0) == ("answered", True)
        again = penstock(tmp_path, "resume", found["session"], "Once more, which port?", "--json")
    assert json.loads(again.stdout)["answer"].startswith("It is 8443.")
    assert {file["path"]: file["state"] for file in json.loads(again.stdout)["verification"]} == {"noise.log": "same"}
    shown = json.loads(penstock(tmp_path, "show", found["session"], "--json").stdout)
    assert (shown["phase"], shown["root"]) == ("idle", str(tree))
    (ended,) = re.findall(r"\[session (\S+): .* window (\d+)%\]", person.stderr)
    fill = json.loads(penstock(tmp_path, "show", ended[0], "--json").stdout)["fill"]
    assert 100 * fill == pytest.approx(int(ended[1]), abs=0.6)  # by the same counter: half a percent is rounding
    handoff = json.loads(penstock(tmp_path, "handoff", found["session"]).stdout)
    assert list(handoff)[:3] == ["sessionId", "agent", "turnsCompleted"]
    assert handoff["goal"] == "Which port?"


@pytest.mark.proves("S-9")
@pytest.mark.parametrize("wire", WIRES)
def test_a_question_is_answered_without_a_stream(wire: str, tree: Path, tmp_path: Path) -> None:
    """With --no-stream every request is plain, and the text is shown once."""
    with LoopbackProvider(wire, 12_000, policy=investigating(wire)) as provider:
        begin = ("run", "Which port?", "--root", str(tree), "--model", f"{wire}:x", "--base-url", provider.base_url)
        person = penstock(tmp_path, *begin, "--window", "16000", "--no-stream")
        asked = [received.request.get("stream", False) for received in provider.requests]
    assert person.returncode == 0, person.stderr
    assert person.stdout.count("It is 8443.") == 1
    assert set(asked) == {False}


@pytest.mark.proves("O-3", "S-9")
@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_a_program_is_told_what_is_wrong_with_an_answer(form: str, tree: Path, tmp_path: Path) -> None:
    """Only people used to be told that the provider dropped the beginning of a request."""
    message = {"role": "assistant", "content": "No."}
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    dropping = fail(200, {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})
    with LoopbackProvider("openai-chat", 64_000, policy=lambda _: dropping) as provider:
        where = ("--root", str(tree), "--model", "openai-chat:x", "--base-url", provider.base_url)
        done = penstock(tmp_path, "run", "Which port?", *where, "--output-format", form)
    result = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, result["outcome"]) == (0, "answered"), done.stderr
    (warning,) = result["warnings"]
    assert "seems to have dropped the beginning" in warning


@pytest.mark.proves("S-9")
@pytest.mark.parametrize("wire", WIRES)
def test_a_question_is_answered_where_the_server_does_not_stream(wire: str, tree: Path, tmp_path: Path) -> None:
    """Some servers answer a streaming request with a whole body: the text is shown once, and the usage is counted."""
    policy, numbers = investigating(wire), count(1)

    def plainly(request: dict[str, Any]) -> ScriptStep:
        step: ScriptStep = policy(request)
        if not isinstance(step, ScriptedReply):
            return step
        return fail(200, Provider(wire, "x").perform(step, RequestSize(100), next(numbers)).body)

    with LoopbackProvider(wire, 12_000, policy=plainly) as provider:
        begin = ("run", "Which port?", "--root", str(tree), "--model", f"{wire}:x", "--base-url", provider.base_url)
        person = penstock(tmp_path, *begin, "--window", "16000")
        asked = [received.request.get("stream") for received in provider.requests]
        statuses = [received.status for received in provider.requests]
    assert person.returncode == 0, person.stderr
    assert person.stdout.count("It is 8443.") == 1
    assert f"{statuses.count(200)} turns, {100 * statuses.count(200)} tokens in" in person.stderr
    assert set(asked) == {True if wire_named(wire).service.path == wire_named(wire).service.stream_path else None}
    assert set(statuses) == {200, 503}


@pytest.mark.proves("S-10")
def test_resume_tells_what_changed_and_does_nothing_where_only_that_is_asked(tree: Path, tmp_path: Path) -> None:
    """The report names the file and its state; the journal does not grow."""
    with LoopbackProvider("openai-chat", 32_000, policy=investigating("openai-chat")) as provider:
        begin = ("run", "Which port?", "--root", str(tree), "--model", "openai-chat:x", "--base-url", provider.base_url)
        session = json.loads(penstock(tmp_path, *begin, "--json").stdout)["session"]
    (tree / "noise.log").write_text("something else\n")
    before = penstock(tmp_path, "sessions", "--json").stdout
    row = json.loads(before)["sessions"][0]
    assert (row["id"], row["root"], row["model"], row["question"]) == (
        session,
        str(tree),
        "openai-chat:x",
        "Which port?",
    )
    assert row["updated"] == row["at"]
    told = penstock(tmp_path, "resume", session, "--verify-only")
    assert told.returncode == 0
    assert "noise.log" in told.stdout  # it is what was asked for
    assert "changed" in told.stdout
    assert penstock(tmp_path, "sessions", "--json").stdout == before


@pytest.mark.proves("S-12")
def test_what_only_looks_at_files_needs_no_key(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever checks a session on a machine without keys asks no model; to continue it takes one."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with LoopbackProvider("openai-chat", 32_000, policy=investigating("openai-chat")) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.base_url)
        begin = penstock(tmp_path, "run", "Which port?", "--root", str(tree), "--model", "openai-chat:x", "--json")
    monkeypatch.delenv("OPENAI_BASE_URL")
    session = json.loads(begin.stdout)["session"]
    told = penstock(tmp_path, "resume", session, "--verify-only")
    assert (told.returncode, told.stdout) == (0, "Files since the session last saw them: 1 same.\n"), told
    assert "OPENAI_API_KEY" in penstock(tmp_path, "resume", session, "Go on.").stderr


@pytest.mark.proves("S-12")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_keeps_the_session_and_says_how_to_go_on(
    tree: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """After Ctrl-C, SIGTERM or a closed terminal the exit status is 130, and the command to continue is printed."""
    places = count()
    with LoopbackProvider(
        "openai-chat", 32_000, policy=lambda _request: call("view", file_path="noise.log", offset=next(places))
    ) as provider:
        environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"}
        begin = ["run", "Which port?", "--root", str(tree), "--model", "openai-chat:x", "--base-url", provider.base_url]
        command = [*warm_penstock(), *begin]
        with subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        ) as running:
            assert running.stderr is not None
            assert running.stderr.readline().startswith("[turn 1,")
            running.send_signal(number)
            rest = running.stderr.read()
    row = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"][0]
    session = row["session"]
    assert (running.returncode, row["state"]) == (130, "interrupted")
    assert f"penstock resume {session}" in rest


def test_a_terminal_that_is_closed_stops_the_work(tree: Path, tmp_path: Path) -> None:
    """When the shell passes on the signal, writes to the terminal already fail, which must not end the run early."""
    places, is_gone, goes_on = count(), threading.Event(), threading.Semaphore(0)

    def policy(_request: Any) -> ScriptStep:
        if is_gone.is_set():
            goes_on.release()
        return call("view", file_path="noise.log", offset=next(places))

    leader, follower = pty.openpty()
    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store", "TERM": "xterm"}
        begin = ["run", "Which port?", "--root", str(tree), "--model", "openai-chat:x", "--base-url", provider.base_url]
        with subprocess.Popen(
            [*warm_penstock(), *begin], env=environment, stdin=follower, stdout=follower, stderr=follower
        ) as running:
            os.close(follower)
            assert os.read(leader, 1_000).startswith(b"[turn 1,")
            os.close(leader)
            is_gone.set()
            for _ in range(3):  # at least two lines are written meanwhile
                assert goes_on.acquire(timeout=60)
            running.send_signal(signal.SIGHUP)
    row = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"][0]
    assert (running.returncode, row["state"]) == (130, "interrupted")


def test_what_cannot_be_is_told_with_what_can(tree: Path, tmp_path: Path) -> None:
    """An unknown model, profile, session and root are usage errors that name what exists."""
    for arguments, said in (
        (("run", " "), "Give a QUESTION"),
        (("run", "x", "--model", "gpt"), "openai-chat"),
        (("run", "x", "--profile", "fast"), "swe-1.5"),
        (("resume", "nobody"), "no session"),
        (("run", "x", "--root", str(tree / "none")), "none"),
        (("sessions",), "Start one"),
    ):
        done = penstock(tmp_path, *arguments, cwd=tree)
        assert done.returncode in {1, 2, 4}, done
        assert said in done.stderr + done.stdout


def test_a_long_list_of_sessions_shows_the_newest(tmp_path: Path) -> None:
    """People see a hundred, programs all; `--limit` overrides this, and the number of the others comes with the call."""
    with closing(open_store(f"sqlite://{tmp_path}/store")) as store:
        for number in range(102):
            store.append(f"s{number:03d}", 0, "Begun", {"about": {"root": "/x"}})
    told = penstock(tmp_path, "sessions").stdout.splitlines()
    assert len(told) == 101
    assert told[-1] == "There are more than these 100: penstock sessions list --limit 1000"
    assert len(json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"]) == 102
    for limit, shown in ((2, 2), (0, 102), (500, 102)):
        found = json.loads(penstock(tmp_path, "sessions", "list", "--limit", str(limit), "--json").stdout)["sessions"]
        assert len(found) == shown
    assert "more than these" not in penstock(tmp_path, "sessions", "list", "--limit", "102").stdout
