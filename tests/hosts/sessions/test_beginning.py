"""Does a session of one agent begin where another's ended, with a handoff from its file in a file of the other agent?"""

from __future__ import annotations

import json
import os
import string
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli import main
from penstock.errors import CallerError
from penstock.handoff import decode, encode
from penstock.hosts.beginning import BEGINNERS, begin
from penstock.hosts.rescue.projection import project
from penstock.hosts.sessions import host_of, reader_of
from penstock.hosts.sessions.finding import paths_of
from penstock.hosts.sessions.handoffs import handoff_of
from penstock.hosts.sessions.records import opened
from penstock.text.redaction import redacted
from penstock.wires import violations
from tests.hosts import histories
from tests.hosts.histories import Claude, Step, written
from tests.hosts.sessions.telling import mutated
from tests.hosts.sessions.test_more_rescues import SESSIONS
from tests.hosts.sessions.test_rescue import rescued

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.proves("X-4")

SECRET = "sk-ant-api03-" + "a1B2c3D4e5F6g7H8i9J0" * 4 + "-AbCdEfAA"
LOGIN: Step = ("c3", "Bash", {"command": f"export ANTHROPIC_API_KEY={SECRET}"}, "", False)


PLACES = [
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "QWEN_RUNTIME_DIR", "COPILOT_HOME"),
    *("PI_CODING_AGENT_DIR", "OPENCODE_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME"),
]


def with_a_model(home: Path) -> None:
    """Set up a home in which opencode has a model."""
    settings = home / ".config" / "opencode" / "opencode.jsonc"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"model": "loopback/m/1", /* ours */}')


def ended(host: str, folder: Path, root: Path) -> str:
    """Write a session with a task, a to-do list, a changed file and a secret."""
    if host == "codex":
        plan = {"plan": [{"step": "Read it", "status": "completed"}, {"step": "Write the tests", "status": "pending"}]}
        patch = "*** Begin Patch\n*** Update File: parser.py\n@@\n-1\n+2\n*** End Patch"
        steps: list[Any] = [
            ("c1", "apply_patch", {"input": patch}, "Success. Updated the following files:\nM parser.py", False),
            ("c2", "update_plan", plan, "Plan updated", False),
            ("c3", "exec_command", {"cmd": LOGIN[2]["command"]}, "", False),
        ]
        records = histories.codex("TASK-ONE fix the parser", *steps, "Leave the lexer alone.", ["I changed it."])
        records[0]["payload"] |= {"id": "old", "cwd": str(root)}
        return written(folder / "rollout-old.jsonl", records)
    todos = [{"content": "Read it", "status": "completed"}, {"content": "Write the tests", "status": "pending"}]
    edit = {"file_path": str(root / "parser.py"), "old_string": "1", "new_string": "2"}
    talk = Claude()
    talk.says("TASK-ONE fix the parser")
    talk.calls(("c1", "Edit", edit, "The file has been updated.", False))
    talk.calls(("c2", "TodoWrite", {"todos": todos}, "Todos have been modified", False))
    talk.calls(LOGIN)
    talk.says("Leave the lexer alone.")
    talk.answers_with("I changed it.")
    for record in talk.records:
        record |= {"sessionId": "old", "cwd": str(root), "version": "2.1.332"}
    return written(folder / "old.jsonl", talk.records)


def first_words(host: str, path: str) -> list[Any]:
    """Return what the host would send first."""
    with opened(path) as file:
        return [one.message for one in project(reader_of(host).happenings(file)).said]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_handoff_is_made_of_a_session_of_another_agent(
    host: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The handoff has what was asked, done, changed and is open, as the file shows it; secrets are masked."""
    path = ended(host, tmp_path, tmp_path)
    before = Path(path).read_bytes()
    assert main(["handoff", "--from", path]) == 0
    printed = capsys.readouterr().out
    made = decode(printed)
    assert (made.session_id, made.goal) == ("old", "TASK-ONE fix the parser")
    assert made.agent == {"claude": "Claude Code", "codex": "Codex"}[host]
    assert (made.completed_tasks, made.pending_tasks) == (("Read it",), ("Write the tests",))
    assert [os.path.basename(name) for name in made.modified_files] == ["parser.py"]
    assert made.next_step == "Leave the lexer alone."
    assert made.state["folder"] == str(tmp_path)
    assert made.log_ref["path"] == path
    assert "ANTHROPIC_API_KEY" in printed
    assert SECRET not in printed
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("host", SESSIONS)
def test_a_handoff_is_made_of_a_session_of_every_other_host(host: str, tmp_path: Path) -> None:
    """The handoff says whose session it was, and what was asked."""
    made = handoff_of(host, SESSIONS[host](tmp_path / "old.jsonl", "400 too long", ("of little",)))
    assert made.goal == "TASK-ONE fix the parser."
    assert made.agent == {"gemini": "Gemini CLI", "qwen": "qwen-code", "copilot": "Copilot CLI"}.get(host, host)


@pytest.mark.parametrize("host", SESSIONS)
def test_what_a_rescue_says_in_a_session_is_nobodys_words(host: str, tmp_path: Path) -> None:
    """Neither its notes nor its sentences between them are passed on as the person's or the model's."""
    path = SESSIONS[host](tmp_path / "old.jsonl", "", ("some line of it\n" * 60,) * 60)
    done, _ = rescued(host, path, 3_000)
    assert "Left out here" in Path(done.path).read_text()
    made = handoff_of(host, done.path)
    assert made.goal == "TASK-ONE fix the parser."
    assert (made.constraints, made.next_step, made.state) == ((), "", {"folder": made.state["folder"]})
    begun = [
        ("user", "[The beginning of this conversation is not shown.]"),
        ("assistant", "[Noted.]"),
        ("user", "Do it."),
    ]
    talk = Claude()
    for role, text in begun:
        talk.add(role, text)
    assert handoff_of("claude", written(tmp_path / "begun.jsonl", talk.records)).goal == "Do it."


@pytest.mark.parametrize("to_host", BEGINNERS)
@pytest.mark.parametrize("before", ["claude", "codex"])
def test_a_session_of_another_agent_begins_with_it(
    before: str, to_host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is private, in the host's own place and without a secret; the printed command of the host continues with it."""
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with_a_model(tmp_path / "home")
    root = tmp_path / "a root.d"
    root.mkdir()
    path = ended(before, tmp_path, root)
    assert main(["handoff", "--from", path, "--to", to_host, "--json"]) == 0
    begun = json.loads(capsys.readouterr().out)
    made = begun["written"]
    assert begun["folder"] == str(root)
    assert begun["session"] in begun["resume"]
    assert (f"opencode import {made} && " in begun["resume"]) == (to_host == "opencode")
    assert Path(made).stat().st_mode & 0o777 == 0o600
    here = [] if to_host == "opencode" else [made]
    assert list(paths_of(to_host, {"HOME": str(tmp_path / "home")})) == here
    assert host_of(made) == to_host
    if to_host in {"claude", "qwen"}:  # the folder's name as they write it: only letters, digits and hyphens
        project = Path(made).relative_to(tmp_path / "home").parts[2]
        assert project.endswith("-a-root-d")
        assert set(project) <= set(string.ascii_letters + string.digits + "-")
    with opened(made) as file:
        head = reader_of(to_host).head(file, "")
    assert (head.session, head.folder) == (begun["session"], "" if to_host == "gemini" else str(root))
    text = json.dumps(first_words(to_host, made)[0])
    for words in ("TASK-ONE fix the parser", "Write the tests", "parser.py", "Leave the lexer alone."):
        assert words in text
    assert SECRET not in Path(made).read_text()
    assert handoff_of(to_host, made).goal.startswith("[This goes on with session old")
    assert main(["handoff", "--from", path, "--to", to_host]) == 0
    shown = capsys.readouterr().out
    assert "Continue in" in shown
    assert len(list(Path(made).parent.parent.rglob("*.json*"))) == 2, "never the same file again"


def test_a_folder_that_is_gone_is_not_worked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The session begins in the person's current folder."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    path = ended("codex", tmp_path, tmp_path / "gone")
    assert main(["handoff", "--from", path, "--to", "claude", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["folder"] == str(tmp_path)


def test_a_handoff_document_goes_on_in_another_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A document that was carried to another machine is a handoff, printed or on one line; it is no session of Gemini CLI."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["handoff", "--from", ended("codex", tmp_path, tmp_path)]) == 0
    printed = capsys.readouterr().out
    for document in (printed, json.dumps(json.loads(printed))):
        (tmp_path / "handoff.json").write_text(document)
        assert host_of(str(tmp_path / "handoff.json")) is None
        assert main(["handoff", "--from", "handoff.json"]) == 0
        assert capsys.readouterr().out == printed
    assert main(["handoff", "--from", "handoff.json", "--to", "claude", "--json"]) == 0
    begun = json.loads(capsys.readouterr().out)
    assert "TASK-ONE fix the parser" in Path(begun["written"]).read_text()
    assert begun["folder"] == str(tmp_path)


def test_what_cannot_be_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No session, two sessions, an unknown file and an unknown host are refused; nothing is written."""
    path = ended("claude", tmp_path, tmp_path)
    assert main(["handoff"]) == 2
    assert main(["handoff", "ID", "--from", path]) == 2
    (tmp_path / "note.txt").write_text("words\n")
    assert main(["handoff", "--from", str(tmp_path / "note.txt")]) == 2
    assert main(["handoff", "--from", path, "--to", "nobody"]) == 2
    assert "not in 'nobody'" in capsys.readouterr().err
    with pytest.raises(CallerError):
        begin("zed", "x", str(tmp_path), {"HOME": str(tmp_path)})
    with pytest.raises(CallerError, match="no model"):
        begin("opencode", "x", str(tmp_path), {"HOME": str(tmp_path)})


@pytest.mark.parametrize("host", BEGINNERS)
@given(text=st.text(max_size=200))
def test_any_words_are_the_first_message(host: str, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """They are kept unchanged: line ends, quotes and halves of characters stay within their record."""
    home = tmp_path_factory.getbasetemp() / "begun"
    with_a_model(home)
    begun = begin(host, text, str(home), {"HOME": str(home)})
    with opened(begun.path) as file:
        records = [record for _, record in file.records()]
        assert file.counts.torn == 0
    assert text in list(strings(records))
    if host != "claude":  # Claude Code joins its own text to the person's words
        assert not text.strip() or violations(first_words(host, begun.path), reader_of(host).WIRE) == []


def strings(value: Any) -> Iterator[str]:
    """Return all texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def test_gemini_keeps_one_folder_a_project(tmp_path: Path) -> None:
    """It is the one whose file names the project, or that the list has; otherwise a new one next to others, named after it."""
    home, root, other = tmp_path / "home", tmp_path / "A root.d", tmp_path / "b" / "A root.d"
    environment = {"HOME": str(home)}
    first, again = (Path(begin("gemini", "x", str(root), environment).path) for _ in range(2))
    assert first.parent == again.parent == home / ".gemini" / "tmp" / "a-root-d" / "chats"
    assert (first.parents[1] / ".project_root").read_text() == str(root)
    assert Path(begin("gemini", "x", str(other), environment).path).parents[1].name == "a-root-d-1"
    noted = {"projects": {str(tmp_path / "c"): "its-own", str(tmp_path): "d"}}
    (home / ".gemini" / "projects.json").write_text(json.dumps(noted))
    assert Path(begin("gemini", "x", str(tmp_path / "c"), environment).path).parents[1].name == "its-own"
    assert Path(begin("gemini", "x", str(tmp_path / "d"), environment).path).parents[1].name == "d-1"
    assert Path(begin("gemini", "x", "/", environment).path).parents[1].name == "project"


def test_opencode_continues_with_the_model_that_it_would_take(tmp_path: Path) -> None:
    """Its settings decide, which may have comments; otherwise the model used last."""
    noted = tmp_path / ".local" / "state" / "opencode" / "model.json"
    noted.parent.mkdir(parents=True)
    noted.write_text(json.dumps({"recent": [{"providerID": "p"}, {"providerID": "p", "modelID": "used/last"}]}))

    def model() -> Any:
        made = json.loads(Path(begin("opencode", "x", str(tmp_path), {"HOME": str(tmp_path)}).path).read_text())
        return made["messages"][0]["info"]["model"]

    assert model() == {"providerID": "p", "modelID": "used/last"}
    with_a_model(tmp_path)
    assert model() == {"providerID": "loopback", "modelID": "m/1"}


def test_claude_code_finds_its_own_text_after_the_message(tmp_path: Path) -> None:
    """Without it the host sends an empty message instead; each record names the one before it."""
    begun = begin("claude", "words", str(tmp_path), {"HOME": str(tmp_path)})
    records = [json.loads(line) for line in Path(begun.path).read_text().splitlines()]
    assert [record["type"] for record in records] == ["user", "attachment", "assistant"]
    assert [record["parentUuid"] for record in records] == [None, *(record["uuid"] for record in records[:-1])]
    assert records[1]["rendered"][0]["content"]


def test_penstock_itself_continues_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`run --from` takes the document, and its words are in the first request."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "parser.py").write_text("x = 1\n")
    assert main(["handoff", "--from", ended("claude", tmp_path, root)]) == 0
    (tmp_path / "handoff.json").write_text(capsys.readouterr().out)
    steps = [{"say": "Done.", "requires": ["TASK-ONE fix the parser", "Write the tests", "Leave the lexer alone."]}]
    (tmp_path / "script.json").write_text(json.dumps(steps))
    asked = ["run", "Go on.", "--from", str(tmp_path / "handoff.json"), "--root", str(root), "--json"]
    assert main([*asked, "--model", f"scripted:{tmp_path / 'script.json'}"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == "Done."


@pytest.mark.parametrize("host", ["claude", "codex"])
@given(data=st.data())
def test_every_file_of_a_host_gives_a_handoff(
    host: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """This holds for any damaged file, and the document can be read back."""
    folder = tmp_path_factory.getbasetemp()
    records = [json.loads(line) for line in Path(ended(host, folder, folder)).read_text().splitlines()]
    path = folder / "mutated.jsonl"
    path.write_bytes(data.draw(mutated(records)))
    made = handoff_of(host, str(path))
    assert decode(encode(made)).goal == redacted(made.goal)
