"""Does a session continue where it belongs, with its permissions, and report what happens to people, pipes and programs?"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import closing
from hashlib import sha256
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.test_running import penstock
from tests.forks import warm_penstock

from penstock.agent.file_check import verify
from penstock.cli import main, watching
from penstock.cli.handoffs import tracked_by
from penstock.cli.sessions import replayed
from penstock.context.handoff import FileEvent, Handoff
from penstock.models import call, calls, fail, say
from penstock.store import StoreFault, open_store
from penstock.store.glance import recent_sessions
from penstock.testing import LoopbackProvider
from penstock.wires import load_request
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a tree with a file to change."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "app.py").write_text("port = 1\n")
    return tmp_path / "tree"


def results(request: Any) -> list[str]:
    """Return the results that a request shows."""
    return [result.text for entry in load_request(request, "openai-chat").visible() for result in entry.results]


def flags(provider: LoopbackProvider) -> list[str]:
    """Return the flags for the model's address."""
    return ["--model", "openai-chat:x", "--base-url", provider.base_url]


@pytest.mark.proves("S-10")
def test_a_session_goes_on_in_its_own_folder_from_anywhere(tree: Path, tmp_path: Path) -> None:
    """A session begun with a relative path and resumed in another project does not touch that project."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "app.py").write_text("port = 1\n")
    replies = iter([say("Which?"), call("edit_file", path="app.py", old="port = 1", new="port = 2"), say("Done.")])
    with LoopbackProvider("openai-chat", 32_000, policy=lambda _: next(replies)) as provider:
        begin = penstock(tmp_path, "run", "Set it.", *flags(provider), "--allow-edit", "--json", cwd=tree)
        session = json.loads(begin.stdout)["session"]
        done = penstock(tmp_path, "resume", session, "The port.", cwd=other)
    assert done.returncode == 0, done.stderr
    assert ((tree / "app.py").read_text(), (other / "app.py").read_text()) == ("port = 2\n", "port = 1\n")


@pytest.mark.proves("S-10")
def test_another_folder_needs_a_word(tree: Path, tmp_path: Path) -> None:
    """If another folder or none is at that path now, the resume is refused, and names the flag for the folder."""
    replies = iter([say("Which?"), say("Done.")])
    with LoopbackProvider("openai-chat", 32_000, policy=lambda _: next(replies)) as provider:
        begin = penstock(tmp_path, "run", "x", "--root", str(tree), *flags(provider), "--json")
        session = json.loads(begin.stdout)["session"]
        tree.rename(tmp_path / "moved")
        gone = penstock(tmp_path, "resume", session, "Go on.")
        tree.mkdir()
        another = penstock(tmp_path, "resume", session, "Go on.")
        said = penstock(tmp_path, "resume", session, "Go on.", "--root", str(tmp_path / "moved"))
    assert (gone.returncode, another.returncode, said.returncode) == (4, 5, 0)
    assert "is not there: No such file" in gone.stderr
    assert f"The folder at {tree}" in another.stderr
    assert f"penstock resume {session} --root DIR" in gone.stderr
    assert f"penstock resume {session} --root DIR" in another.stderr


@pytest.mark.proves("S-10")
def test_a_resume_may_allow_more(tree: Path, tmp_path: Path) -> None:
    """New tools are offered; a model of another API is refused by name."""
    tools: list[set[str]] = []

    def policy(request: Any) -> Any:
        tools.append({tool["function"]["name"] for tool in request["tools"]})
        return say("Done.")

    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        begin = penstock(tmp_path, "run", "x", "--root", str(tree), *flags(provider), "--json")
        session = json.loads(begin.stdout)["session"]
        allowed = penstock(tmp_path, "resume", session, "Go on.", "--allow-edit", "--json")
        there = ("--store", f"sqlite://{tmp_path}/store")
        api = ("--base-url", provider.base_url)
        other = penstock(tmp_path, "resume", session, "Go on.", "--model", "anthropic:a b", *api, *there)
    assert allowed.returncode == 0, allowed.stderr
    assert "edit_file" not in tools[0]
    assert {"edit_file", "write_file"} <= tools[1]
    assert other.returncode == 2
    assert "The session speaks openai-chat, and anthropic:a b speaks anthropic" in other.stderr
    going_on = f"penstock handoff {session} {shlex.join(there)} | penstock run --from - --model 'anthropic:a b' {shlex.join(there)}"
    assert going_on in other.stderr


@pytest.mark.proves("S-10")
def test_a_resume_may_take_back_what_was_allowed(tree: Path, tmp_path: Path) -> None:
    """The change holds from then on; permissions that are not named stay."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"say": "Done."}]))
    may = ("--allow-edit", "--allow-write-to", ".envrc", "--allow-write-to", ".husky")
    begin = penstock(tmp_path, "run", "x", "--root", str(tree), "--model", f"scripted:{script}", *may, "--json")
    session = json.loads(begin.stdout)["session"]

    def after(*flags: str) -> tuple[bool, tuple[str, ...]]:
        assert penstock(tmp_path, "resume", session, "Go on.", *flags).returncode == 0
        with closing(open_store(str(tmp_path / "store"))) as store:
            about = replayed(store, session)[1]["about"]
        return about["allow_edit"], tuple(about["allow_write_to"])

    assert after("--no-allow-shell") == (True, (".envrc", ".husky"))
    assert after("--no-allow-edit") == (False, (".envrc", ".husky"))
    assert after("--allow-edit", "--no-allow-write-to") == (True, ())
    assert after("--no-allow-write-to", "--allow-write-to", ".husky") == (True, (".husky",))
    assert after() == (True, (".husky",))


@pytest.mark.proves("S-10")
def test_what_a_resume_was_told_holds_for_the_next(tree: Path, tmp_path: Path) -> None:
    """This covers model, address, window and permissions; a mere look changes nothing, and the last word counts."""
    seen: list[tuple[str, bool]] = []

    def policy(request: Any) -> Any:
        tools = {tool["function"]["name"] for tool in request["tools"]}
        seen.append((request["model"], "edit_file" in tools))
        return say("Done.")

    with (
        LoopbackProvider("openai-chat", 32_000, policy=policy) as first,
        LoopbackProvider("openai-chat", 32_000, policy=policy) as second,
    ):
        begin = penstock(tmp_path, "run", "x", "--root", str(tree), *flags(first), "--window", "16000", "--json")
        session = json.loads(begin.stdout)["session"]
        other = ("--model", "openai-chat:y", "--base-url", second.base_url, "--window", "20000", "--allow-edit")
        penstock(tmp_path, "resume", session, "--verify-only", "--model", "openai-chat:z")
        penstock(tmp_path, "resume", session, "Go on.", *other)
        again = penstock(tmp_path, "resume", session, "And on.")
        shown = json.loads(penstock(tmp_path, "show", session, "--json").stdout)
        row = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"][0]
        told = json.loads(penstock(tmp_path, "stats", session, "--json").stdout)
        penstock(tmp_path, "resume", session, "And on.", "--window", "24000")
        last = json.loads(penstock(tmp_path, "show", session, "--json").stdout)
    assert again.returncode == 0, again.stderr
    assert seen == [("x", False), ("y", True), ("y", True), ("y", True)]
    assert (shown["model"], shown["window_tokens"], row["model"]) == ("openai-chat:y", 20_000, "openai-chat:y")
    assert [turn["window_tokens"] for turn in told["fill"]] == [16_000, 20_000, 20_000]
    assert (last["model"], last["window_tokens"]) == ("openai-chat:y", 24_000)


@pytest.mark.proves("S-10")
def test_what_changed_meanwhile_is_told_to_the_model(tree: Path, tmp_path: Path) -> None:
    """The next request has it; a session that has answered and gets no prompt makes no call."""
    seen: list[Any] = []

    def policy(request: Any) -> Any:
        seen.append(request)
        return call("view", file_path="app.py") if not results(request) else say("It is 1.")

    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        begin = penstock(tmp_path, "run", "x", "--root", str(tree), *flags(provider), "--json")
        session = json.loads(begin.stdout)["session"]
        (tree / "app.py").write_text("port = 3\n")
        idle = penstock(tmp_path, "resume", session)
        calls = len(seen)
        penstock(tmp_path, "resume", session, "And now?")
    assert (idle.returncode, calls) == (0, 2)
    assert idle.stdout == "It is 1.\n"
    assert f'To ask more: penstock resume {session} "QUESTION"' in idle.stderr
    asked = seen[-1]["messages"][-1]["content"]
    assert asked.startswith("And now?")
    assert "app.py" in asked
    assert "changed" in asked


def test_a_pipe_gets_the_answer_alone(tree: Path, tmp_path: Path) -> None:
    """What the model says before a call is dropped; each result is a line on standard error, in order."""
    replies = iter(
        [
            calls(call("view", file_path="app.py"), text="Let me look."),
            calls(call("view", file_path="none.py"), text="And there."),
            say("The port is 1."),
        ]
    )
    with LoopbackProvider("openai-chat", 32_000, policy=lambda _: next(replies)) as provider:
        done = penstock(tmp_path, "run", "x", "--root", str(tree), *flags(provider))
    assert done.stdout == "The port is 1.\n"
    lines = [line.partition("] ")[2] for line in done.stderr.splitlines()]
    assert lines[0].startswith("calls view")
    assert lines[1].startswith("view returned: ")
    assert lines[3].startswith("view failed: ")
    assert "none.py" in lines[3]
    assert lines[4] == "answered"


def test_a_program_gets_events(tree: Path, tmp_path: Path) -> None:
    """Each line is one JSON object, and the last is the result."""
    replies = iter([call("view", file_path="app.py"), fail(503, "down"), say("The port is 1.")])
    with LoopbackProvider("openai-chat", 32_000, policy=lambda _: next(replies)) as provider:
        line = ["run", "x", "--root", str(tree), *flags(provider), "--output-format", "stream-json"]
        done = penstock(tmp_path, *line)
        both = penstock(tmp_path, *line, "--json")
        address = f"{provider.base_url}/chat/completions"
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events if event["type"] != "text"]
    assert kinds == ["init", "message", "tool_use", "usage", "tool_result", "error", "message", "usage", "result"]
    assert "".join(event["text"] for event in events if event["type"] == "text") == "The port is 1."
    assert events[-1]["answer"] == "The port is 1."
    said = next(event for event in events if event["type"] == "error")["message"]
    assert said == f"HTTP 503 from {address}: down"
    assert (done.stderr, both.returncode) == ("", 2)


@pytest.mark.proves("S-9")
def test_a_session_that_a_handoff_begins_is_listed_by_its_goal(tree: Path, tmp_path: Path) -> None:
    """The session has no question, and a blank line would identify nothing."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"say": "Done."}]))
    how = ["--root", str(tree), "--model", f"scripted:{script}", "--json"]
    first = json.loads(penstock(tmp_path, "run", "Mend the port.", *how).stdout)["session"]
    (tmp_path / "handoff.json").write_text(penstock(tmp_path, "handoff", first).stdout)
    penstock(tmp_path, "run", "--from", str(tmp_path / "handoff.json"), *how)
    line = [*warm_penstock(), "run", "--from", "-", *how, "--store", str(tmp_path / "store")]
    subprocess.run(line, input=(tmp_path / "handoff.json").read_bytes(), cwd=tmp_path, check=True, timeout=60)
    rows = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"]
    assert [row["question"] for row in rows] == ["Mend the port."] * 3


@pytest.mark.proves("S-9")
def test_a_handoff_begins_a_session(tree: Path, tmp_path: Path) -> None:
    """The session gets the handoff's words, and what happened to its files since."""
    first = iter([call("edit_file", path="app.py", old="1", new="2"), say("Done.")])
    seen: list[Any] = []

    def policy(request: Any) -> Any:
        seen.append(request)
        return say("I go on.")

    with LoopbackProvider("openai-chat", 32_000, policy=lambda _: next(first)) as provider:
        begin = penstock(
            tmp_path, "run", "Set the port to 2.", "--root", str(tree), *flags(provider), "--allow-edit", "--json"
        )
    session = json.loads(begin.stdout)["session"]
    (tmp_path / "handoff.json").write_text(penstock(tmp_path, "handoff", session).stdout)
    (tree / "app.py").write_text("port = 9\n")
    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        on = ["run", "--from", str(tmp_path / "handoff.json"), "--root", str(tree), *flags(provider)]
        done = penstock(tmp_path, *on)
        (tmp_path / "handoff.json").write_text(
            '{"sessionId": "x", "modifiedFiles": ["app.py"]}'
        )  # in the form that others write
        of_another = penstock(tmp_path, *on)
        bad = penstock(tmp_path, "run", "--from", str(tree / "app.py"), *flags(provider))
        folder = penstock(tmp_path, "run", "--from", str(tree), *flags(provider))
        none = penstock(tmp_path, "run", *flags(provider))
    listed = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"]
    assert {row["question"] for row in listed} == {"Set the port to 2.", ""}  # `--from` alone asks nothing new
    assert done.stdout == "I go on.\n"
    assert "Set the port to 2." in seen[0]["messages"][1]["content"]
    assert "app.py: changed" in seen[0]["messages"][-1]["content"]
    assert "app.py: changed" in done.stderr
    assert "does not say what the changed files held" in seen[-1]["messages"][-1]["content"]
    assert "names no file" not in of_another.stderr
    assert (bad.returncode, none.returncode) == (2, 2)
    assert "is not a handoff" in bad.stderr
    assert f"{tree} is not a regular file" in folder.stderr
    assert folder.returncode == 3  # refused like everything that is not a file


@pytest.mark.proves("S-9")
@pytest.mark.parametrize("is_partly_told", [False, True])
def test_of_what_a_handoff_does_not_say_nothing_is_said(tree: Path, tmp_path: Path, is_partly_told: bool) -> None:
    """Other agents name the files that they changed, not what these held. That makes no file unreadable."""
    (tree / "same.py").write_text("x")
    told = [{"path": "same.py", "digest": sha256(b"x").hexdigest()}] if is_partly_told else []
    gone = [{"path": "gone.py", "action": "modified"}] if is_partly_told else []
    history = [{"path": "app.py", "action": "modified"}, *told, *gone]
    (tmp_path / "handoff.json").write_text(json.dumps({"sessionId": "x", "fileHistory": history}))
    (tmp_path / "script.json").write_text(json.dumps([{"say": "Done."}]))
    how = ["--root", str(tree), "--model", f"scripted:{tmp_path / 'script.json'}"]
    said = penstock(tmp_path, "run", "--from", str(tmp_path / "handoff.json"), *how).stderr
    assert "unreadable" not in said
    which = "the other changed files" if is_partly_told else "the changed files"
    assert f"The handoff does not say what {which} held, so they were not compared with the disk." in said
    assert ("Files since the session last saw them: 1 same, 1 missing." in said) is is_partly_told


@pytest.mark.proves("S-9")
def test_of_a_deleted_file_that_cannot_be_looked_for_that_is_said(tree: Path, tmp_path: Path) -> None:
    """The handoff says all of it: the file was gone. Whether it still is cannot be told from outside of the root."""
    (tmp_path / "elsewhere").mkdir()
    (tree / "link").symlink_to(tmp_path / "elsewhere")
    history = [{"path": "link/old.py", "action": "deleted"}]
    (tmp_path / "handoff.json").write_text(json.dumps({"sessionId": "x", "fileHistory": history}))
    (tmp_path / "script.json").write_text(json.dumps([{"say": "Done."}]))
    how = ["--root", str(tree), "--model", f"scripted:{tmp_path / 'script.json'}"]
    said = penstock(tmp_path, "run", "--from", str(tmp_path / "handoff.json"), *how).stderr
    assert "Files since the session last saw them: 1 unreadable." in said
    assert "does not say" not in said


@pytest.mark.proves("S-12")
def test_a_store_that_fails_names_the_session_that_it_keeps(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk ends the work; the person hears which session continues once there is room."""
    flags = ["--root", str(tree), "--store", f"sqlite://{tmp_path}/store"]

    def full(*_: object, **__: object) -> None:
        raise StoreFault("disk_full", "The disk is full.")

    monkeypatch.setattr("penstock.agent.loop.Agent.run", full)
    assert main(["run", "Which port?", *flags]) == 8
    assert re.search(r"To continue: penstock resume [0-9a-f]{12}\b", capsys.readouterr().err)


@pytest.mark.proves("S-9")
def test_a_handoff_that_is_taken_up_in_another_folder_says_so(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """None of its files is there; a prompt given with it is the new session's question."""
    flags = ["--store", f"sqlite://{tmp_path}/store"]
    document, script, other = tmp_path / "handoff.json", tmp_path / "script.json", tmp_path / "other"
    other.mkdir()
    edit = {"call": "edit_file", "arguments": {"path": "app.py", "old": "1", "new": "2"}}
    script.write_text(json.dumps([edit, {"say": "Done."}]))
    model = ["--model", f"scripted:{script}", *flags]
    assert main(["run", "Set the port.", "--root", str(tree), "--allow-edit", *model, "--json"]) == 0
    session = json.loads(capsys.readouterr().out)["session"]
    assert main(["handoff", session, *flags]) == 0
    document.write_text(capsys.readouterr().out)
    script.write_text(json.dumps([{"say": "I go on."}]))
    for root, is_elsewhere in ((other, True), (tree, False)):
        assert main(["run", "And now?", "--from", str(document), "--root", str(root), *model]) == 0
        assert (f"None of them is under {root}: if" in capsys.readouterr().err) is is_elsewhere
    assert main(["sessions", "--json", *flags]) == 0
    questions = [row["question"] for row in json.loads(capsys.readouterr().out)["sessions"]]
    assert questions == ["And now?", "And now?", "Set the port."]
    assert [said for _, said in recent_sessions(str(tmp_path / "store"))][2] == "Set the port."
    assert recent_sessions(str(tmp_path / "store"))[0][1].startswith("And now?")


@pytest.mark.proves("S-9")
def test_a_chain_of_handoffs_keeps_what_every_session_changed(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The disk decides: a file that is again as the first session found it is not listed, nor is a name that leads nowhere."""
    flags = ["--store", f"sqlite://{tmp_path}/store"]
    document, script = tmp_path / "handoff.json", tmp_path / "script.json"

    def handed_on(*calls: dict[str, str], begins: bool = False) -> dict[str, Any]:
        steps = [{"call": "edit_file" if "old" in one else "write_file", "arguments": one} for one in calls]
        script.write_text(json.dumps([*steps, {"say": "Done."}]))
        on = [] if begins else ["--from", str(document)]
        run = ["run", "x", *on, "--root", str(tree), "--model", f"scripted:{script}", "--allow-edit", "--json", *flags]
        assert main(run) == 0
        assert main(["handoff", json.loads(capsys.readouterr().out)["session"], *flags]) == 0
        document.write_text(capsys.readouterr().out)
        made: dict[str, Any] = json.loads(document.read_text())
        return made

    first = handed_on({"path": "app.py", "old": "1", "new": "2"}, {"path": "new.py", "content": "new\n"}, begins=True)
    second = handed_on({"path": "b.py", "content": "b\n"})
    third = handed_on({"path": "c.py", "content": "c\n"})
    assert third["modifiedFiles"] == ["app.py", "new.py", "b.py", "c.py"]
    assert [(event["path"], event["action"]) for event in third["fileHistory"]] == [
        ("app.py", "modified"),
        ("new.py", "created"),
        ("b.py", "created"),
        ("c.py", "created"),
    ]
    assert third["parentSessionId"] == second["sessionId"]
    (tree / "app.py").write_text("port = 1\n")
    (tree / "new.py").unlink()
    (tree / "b.py").write_text("theirs\n")
    fourth = handed_on()
    assert fourth["modifiedFiles"] == ["b.py", "c.py"]
    assert fourth["fileHistory"][0]["digest"] == sha256(b"theirs\n").hexdigest()
    assert first["fileHistory"][0]["found"] == sha256(b"port = 1\n").hexdigest()
    document.write_text('{"sessionId": "x", "modifiedFiles": ["app.py", "the parser", "/etc/passwd"]}')
    assert handed_on()["modifiedFiles"] == ["app.py"]


@pytest.mark.proves("S-9")
def test_what_is_handed_on_again_and_again_stays_what_a_person_said(tree: Path, tmp_path: Path) -> None:
    """In a chain of sessions, each begun with the last handoff, the person's words contain none of ours, and nothing nests."""
    document, said = tmp_path / "handoff.json", []
    replies = iter([call("edit_file", path="app.py", old="1", new="2"), *([say("Yes.")] * 9)])
    with LoopbackProvider("openai-chat", 32_000, policy=lambda _: next(replies)) as provider:

        def handed_on(*words: str) -> None:
            """Let a session answer, and write its handoff."""
            done = penstock(tmp_path, *words, *flags(provider)[-2:], "--json")
            document.write_text(penstock(tmp_path, "handoff", json.loads(done.stdout)["session"]).stdout)
            said.append(json.loads(document.read_text()))

        begin = ("--root", str(tree), *flags(provider)[:2])
        handed_on("run", "Set it to 2.", *begin, "--allow-edit")
        (tree / "app.py").write_text("port = 9\n")
        handed_on("resume", said[0]["sessionId"], "Only there.")
        handed_on("resume", said[0]["sessionId"], "Is it done?")
        handed_on("run", "And the tests?", *begin, "--from", str(document))
        handed_on("run", "And the docs?", *begin, "--from", str(document))
    assert {one["goal"] for one in said} == {"Set it to 2."}
    assert [one.get("nextStep") for one in said[1:]] == [
        "Only there.",
        "Is it done?",
        "And the tests?",
        "And the docs?",
    ]
    assert said[-1]["constraints"] == ["Only there.", "Is it done?", "And the tests?"]


@pytest.mark.proves("S-9")
def test_each_file_of_a_handoff_is_compared_with_the_disk(tree: Path) -> None:
    """Content decides; a removed file that is still gone is as it was left, and one outside the root cannot be read."""
    (tree / "same.py").write_text("x")
    digest = sha256(b"x").hexdigest()
    events = {
        "same.py": FileEvent(path="same.py", digest=digest),
        "app.py": FileEvent(path="app.py", digest=digest),
        "told.py": FileEvent(path="told.py"),
        "gone.py": FileEvent(path="gone.py", digest=digest),
        "removed.py": FileEvent(path="removed.py", action="deleted"),
        "out.py": FileEvent(path="../out.py", digest=digest),
    }
    (tree / "told.py").write_text("of which no digest was given")
    root = Root(tree)
    found = verify(root, tracked_by(Handoff(session_id="s", agent="a", file_history=tuple(events.values()))))
    root.close()
    states = {name: one.state for name, one in zip(events, found, strict=True)}
    assert states == {
        "same.py": "same",
        "app.py": "changed",
        "told.py": "unreadable",
        "gone.py": "missing",
        "removed.py": "same",
        "out.py": "unreadable",
    }


@pytest.mark.proves("S-11")
def test_an_outage_is_shown_at_once_and_ends_resumable(tree: Path, tmp_path: Path) -> None:
    """A dead address is named with the system's message; after the wait the status is 8, and the session continues later."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    began = time.monotonic()
    done = penstock(
        tmp_path, "run", "x", "--root", str(tree), "--model", "openai-chat:x", "--base-url", dead, "--wait", "1"
    )
    assert done.returncode == 8
    assert time.monotonic() - began < 60
    assert f"failed (connection): There is no connection to {dead}" in done.stderr
    session = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"][0]["id"]
    assert f"penstock resume {session}" in done.stderr
    with LoopbackProvider("openai-chat", 32_000, policy=lambda _: say("Here.")) as provider:
        later = penstock(tmp_path, "resume", session, "--base-url", provider.base_url)
    assert later.stdout == "Here.\n"


@pytest.mark.proves("S-11")
@pytest.mark.parametrize("when", ["waits", "calls", "answers"])
def test_one_interrupt_ends_any_wait(tree: Path, tmp_path: Path, when: str) -> None:
    """It ends within half a second, with the hint, whatever was going on."""
    asked, over = threading.Event(), threading.Event()

    def policy(_: Any) -> Any:
        asked.set()
        if when == "waits":
            return fail(503, {"error": {"message": "overloaded"}})
        if when == "answers":
            over.wait(60)
            return say("x")
        return call("run_command", command="sleep 60")

    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        begin = ["run", "x", "--root", str(tree), *flags(provider), "--allow-shell"]
        with subprocess.Popen(
            [*warm_penstock(), *begin],
            env={**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        ) as running:
            assert running.stderr is not None
            assert asked.wait(60)
            while when != "answers" and when not in running.stderr.readline():
                pass
            time.sleep(0.5)
            pressed = time.monotonic()
            running.send_signal(signal.SIGINT)
            rest = running.stderr.read()
            took = time.monotonic() - pressed
            over.set()
    assert running.returncode == 130
    assert "penstock resume" in rest
    assert took < 10, "half a second on a quiet machine; what it cuts short lasts a minute"


@pytest.mark.proves("S-11")
def test_what_does_not_look_is_broken_off_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name lookup or a hanging file system never checks whether the work was stopped."""
    told: list[str] = []

    class Hanging:
        session = SimpleNamespace(session_id="one")

        def run(self, *_: Any, **__: Any) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(20)

        def interrupt(self) -> None:
            told.append("stop")

        def broken_off(self) -> str:
            return "broken off"

    began = time.monotonic()
    assert watching.work(Hanging(), "x") == "broken off"  # type: ignore[arg-type, comparison-overlap]
    assert told == ["stop"]
    assert time.monotonic() - began < 10


def _killed_in_a_command(tree: Path, tmp_path: Path, provider: LoopbackProvider) -> None:
    """Begin a run whose model has a command run, and kill it once that has made `there.py`."""
    begin = ["run", "x", "--root", str(tree), *flags(provider), "--allow-shell"]
    with subprocess.Popen(
        [*warm_penstock(), *begin],
        env={**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"},
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        until = time.monotonic() + 20
        while not (tree / "there.py").exists() and time.monotonic() < until:
            time.sleep(0.05)
        running.kill()
        running.stderr.read()


@pytest.mark.proves("S-9", "S-10")
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="a wall for the shell is needed")
def test_what_a_command_left_that_a_kill_cut_off_is_the_session_s(tree: Path, tmp_path: Path) -> None:
    """The handoff has the changes before and after the session continues, and the model is told; later changes are not its own."""
    (tree / "old.py").write_text("old = 1\n")
    script = "echo 'port = 2' > app.py; echo x > made.py; mv made.py there.py; sleep 60"

    def policy(request: Any) -> Any:
        return say("I see.") if results(request) else call("run_command", command=script)

    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        _killed_in_a_command(tree, tmp_path, provider)
        session = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"][0]["id"]
        killed = json.loads(penstock(tmp_path, "handoff", session).stdout)
        looked = penstock(tmp_path, "resume", session, "--verify-only")
        done = penstock(tmp_path, "resume", session)
        later = penstock(tmp_path, "resume", session, "And now?")
        (tree / "theirs.py").write_text("x\n")
        after = json.loads(penstock(tmp_path, "handoff", session).stdout)
        told, again = [text for request in provider.requests for text in results(request.request)]
        words = provider.requests[-1].request["messages"][-1]["content"]
    assert killed["modifiedFiles"] == after["modifiedFiles"] == ["app.py", "there.py"]
    for said in (looked.stdout, done.stderr, told):
        assert "Changed since it began, by it or by others: app.py, there.py." in said
        assert "may or may not have been done" in said
    # The second resume reports it no more; the model still has it as the result of its call.
    assert later.returncode == 0
    assert again == told
    assert "may or may not have been done" not in later.stderr + words


@pytest.mark.proves("S-9", "S-10")
@pytest.mark.parametrize("is_copied", [False, True])
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="a wall for the shell is needed")
def test_what_a_command_left_is_told_of_a_folder_that_moved_and_not_made_up_of_a_copy(
    tree: Path, tmp_path: Path, is_copied: bool
) -> None:
    """A folder that was renamed is the same, with the times of its files; those of a copy say nothing, and that is said."""
    (tree / "old.py").write_text("old = 1\n")
    script = "echo 'port = 2' > app.py; echo x > there.py; sleep 60"

    def policy(request: Any) -> Any:
        return say("I see.") if results(request) else call("run_command", command=script)

    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        _killed_in_a_command(tree, tmp_path, provider)
        there = str(tmp_path / "there")
        if is_copied:
            shutil.copytree(tree, there)
        else:
            tree.rename(there)
        session = json.loads(penstock(tmp_path, "sessions", "--json").stdout)["sessions"][0]["id"]
        passed_on = penstock(tmp_path, "handoff", session, "--root", there)
        looked = penstock(tmp_path, "resume", session, "--verify-only", "--root", there)
        done = penstock(tmp_path, "resume", session, "--root", there)
        told = [text for request in provider.requests for text in results(request.request)][-1]
    files = [] if is_copied else ["app.py", "there.py"]
    assert json.loads(passed_on.stdout)["modifiedFiles"] == files
    for said in (looked.stdout, done.stderr, told):
        assert ("Changed since it began, by it or by others: app.py, there.py." in said) is not is_copied
    for said in (passed_on.stderr, looked.stdout, done.stderr, told):
        assert ("What it changed cannot be told" in said) is is_copied


@pytest.mark.proves("S-12")
def test_of_several_that_go_on_with_a_session_one_asks_and_the_others_are_told(tree: Path, tmp_path: Path) -> None:
    """Three start at once with the same prompt, and one with a budget while the first waits: only one asks."""
    asked: list[Any] = []
    is_over = threading.Event()

    def policy(request: Any) -> Any:
        asked.append(request)
        if len(asked) > 1:
            is_over.wait(20)
        return say("Which?")

    with LoopbackProvider("openai-chat", 32_000, policy=policy) as provider:
        begin = penstock(tmp_path, "run", "x", "--root", str(tree), *flags(provider), "--json")
        session = json.loads(begin.stdout)["session"]
        environment = {**os.environ, "PENSTOCK_STORE": f"sqlite://{tmp_path}/store"}
        command = [*warm_penstock(), "resume", session, "The first."]
        three = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(3)]
        until = time.monotonic() + 20
        while sum(one.poll() is not None for one in three) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        late = penstock(tmp_path, "resume", session, "Another.", "--budget", "50000")
        is_over.set()
        said = [one.communicate(timeout=20)[1] for one in three]
    assert sorted(one.returncode for one in three) == [0, 6, 6], said
    assert len(asked) == 2
    assert late.returncode == 6
    for refused in (late.stderr, *(text for one, text in zip(three, said, strict=True) if one.returncode)):
        assert f"Another process is continuing session {session}" in refused
        assert f"Try: penstock show {session}" in refused
