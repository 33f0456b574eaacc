"""Can every edit of a session be undone as long as nobody changed the file since, and is an overwritten edit reported?"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sys
import tracemalloc
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from penstock.agent.editing import Editing
from penstock.agent.edits import KeptEdit, changes_of, cut_off_of, edits_of, undo
from penstock.agent.journal import remembered, resumed
from penstock.agent.loop import Agent
from penstock.agent.protocols import Done
from penstock.agent.record_types import CHANGED, CHILD, EDITED
from penstock.agent.toolbox import Toolbox
from penstock.cli import main
from penstock.cli.handoffs import tracked_by
from penstock.context.activity import actions
from penstock.errors import ToolError
from penstock.handoff import decode, encode
from penstock.models import ScriptedModel, call, calls, say
from penstock.session import HandedOff
from penstock.session.effects import Acted, Intent
from penstock.store import StoreFault, open_store
from penstock.tools import REQUIRED, Parameter, Tool
from penstock.wires import WIRES
from penstock.workspace import Workspace, renames, replacing, writing
from penstock.workspace.root import Root
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from penstock.session.effects import Settled
    from penstock.store import Store

pytestmark = pytest.mark.proves("S-16")


@pytest.fixture
def root(tree: Path) -> Iterator[Root]:
    opened = Root(tree)
    yield opened
    opened.close()


@pytest.fixture
def worked(begun: Callable[..., Agent], root: Root, tree: Path) -> Callable[..., Agent]:
    """Return a function that runs a session with these calls."""

    def work(*steps: Any) -> Agent:
        (tree / "a.txt").write_bytes(b"one\r\ntwo\xff\r\n")
        agent = begun(ScriptedModel([*steps, say("Done.")]), acting=[Editing(root)])
        assert agent.run("Work.").outcome == "answered"
        return agent

    return work


def test_each_edit_is_undone_to_the_byte_newest_first(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """An edit is undone by number, or the last one; a file that an edit created is removed."""
    agent = worked(
        calls(
            call("edit_file", path="a.txt", old="one", new="1"),
            call("edit_file", path="a.txt", old="1", new="eins"),
            call("write_file", path="new/b.txt", content="b"),
        ),
        call("edit_file", path="a.txt", old="no such words", new="x"),
    )
    session = agent.session.session_id
    assert [edit.path for edit in edits_of(store, session)] == ["a.txt", "a.txt", "new/b.txt"]
    assert undo(root, store, session) == "Edit 3 is undone: new/b.txt, which it had made, is removed."
    assert not (tree / "new/b.txt").exists()
    with pytest.raises(
        ToolError, match=r"a\.txt is not what edit 1 left: it is left alone\. These can be undone: 2"
    ) as stale:
        undo(root, store, session, 1)
    (way,) = stale.value.calls  # the earlier content is offered, to be restored by hand
    assert (way.tool, store.read(str(way.arguments["handle"]), 0, 99)) == ("page", b"one\r\ntwo\xff\r\n")
    assert undo(root, store, session, 2) == "Edit 2 is undone: a.txt is what it was before."
    undo(root, store, session, 1)
    assert (tree / "a.txt").read_bytes() == b"one\r\ntwo\xff\r\n"
    # The session can still be resumed, and knows of it.
    state = agent.session.state
    assert resumed(store, session)[0].state == replace(state, undone_at=len(state.transcript.entries))
    assert remembered(store, session)[0]


def test_an_undo_names_a_file_as_every_other_call_does(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """What is escaped in a name is escaped once, so that the name can be copied into a call."""
    named, file = r"two\x0alines\xff.txt", tree / os.fsdecode(b"two\nlines\xff.txt")
    file.write_text("0")
    agent = worked(call("write_file", path=named, content="1"), call("write_file", path=named, content="2"))
    file.write_text("1")
    with pytest.raises(ToolError) as stale:
        undo(root, store, agent.session.session_id, 2)
    assert f"{named} is what it was before edit 2" in stale.value.message
    assert f"1 ({named})" in stale.value.message
    assert undo(root, store, agent.session.session_id) == f"Edit 1 is undone: {named} is what it was before."
    assert file.read_text() == "0"


def test_folders_that_edits_made_go_with_the_last_file_in_them(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """In whatever order edits are undone; a folder that was there before stays, and so does one with another's file in it."""
    (tree / "old").mkdir()
    agent = worked(
        calls(
            call("write_file", path="old/x/y/one.txt", content="1"),
            call("write_file", path="old/x/y/two.txt", content="2"),
            call("write_file", path="old/x/z/three.txt", content="3"),
            call("write_file", path="kept/four.txt", content="4"),
        )
    )
    session = agent.session.session_id
    assert [edit.new_folders for edit in edits_of(store, session)] == [2, 0, 1, 1]
    (tree / "kept/theirs.txt").write_text("theirs")
    undo(root, store, session, 4)
    assert [path.name for path in (tree / "kept").iterdir()] == ["theirs.txt"]
    undo(root, store, session, 1)
    undo(root, store, session, 3)
    assert [path.name for path in (tree / "old/x").iterdir()] == ["y"]
    undo(root, store, session, 2)
    assert [*(tree / "old").iterdir()] == []


def test_folders_made_before_a_kill_are_those_of_the_edit_that_is_made_after_it(store: Store) -> None:
    """The resumed session finds the folders, and announces an edit that makes none."""
    told = {"path": "a/b/c.txt", "after": "art_1", "after_sha256": "2"}
    for seq, (effect_id, new_folders) in enumerate((("t1:c1", 2), ("t2:c1", 0))):
        store.append("s", seq, EDITED, {**told, "effect_id": effect_id, "new_folders": new_folders})
    assert [edit.new_folders for edit in edits_of(store, "s")] == [2]


def test_a_call_that_cannot_be_read_has_made_nothing(worked: Callable[..., Agent], store: Store) -> None:
    """The journal gives its effect no digest, rather than that of the edit before it."""
    agent = worked(call("write_file", path="b.txt", content="b"), call("write_file", INVALID_JSON="{oops"))
    digests = [one.data["digest"] for one in store.events(agent.session.session_id) if one.type == "Effected"]
    assert digests == [hashlib.sha256(b"b").hexdigest(), ""]


def test_each_further_undo_goes_one_edit_back(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """This holds even if edits led back to an earlier content, which the disk alone cannot tell apart."""
    agent = worked(
        call("edit_file", path="a.txt", old="one", new="1"),
        call("write_file", path="b.txt", content="b"),
        call("edit_file", path="a.txt", old="1", new="one"),
        call("edit_file", path="a.txt", old="one", new="1"),
    )
    session = agent.session.session_id
    store.close()  # another process undoes later
    with closing(open_store(store.url)) as later:
        assert [undo(root, later, session).partition(" is undone")[0] for _ in range(4)] == [
            "Edit 4",
            "Edit 3",
            "Edit 2",
            "Edit 1",
        ]
        assert (tree / "a.txt").read_bytes() == b"one\r\ntwo\xff\r\n"
        with pytest.raises(ToolError, match=r"All edits of session .* are taken back"):
            undo(root, later, session)
        assert resumed(later, session)[0].state.transcript == agent.session.state.transcript


def test_what_a_person_has_taken_back_is_passed_over(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """An edit that a person reverted by hand is skipped; one that they changed further is not, as the last change is theirs."""
    agent = worked(
        call("write_file", path="b.txt", content="b"),
        call("write_file", path="c.txt", content="c"),
        call("edit_file", path="a.txt", old="one", new="1"),
    )
    session = agent.session.session_id
    (tree / "a.txt").write_bytes(b"one\r\ntwo\xff\r\n")
    assert undo(root, store, session) == "Edit 2 is undone: c.txt, which it had made, is removed."
    (tree / "b.txt").write_text("theirs")
    with pytest.raises(ToolError, match=r"b\.txt is not what edit 1 left"):
        undo(root, store, session)


def test_where_a_person_has_taken_back_both_edits_nothing_is_left_to_undo(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """If both edits were reverted by hand, the error says that all edits are taken back."""
    agent = worked(call("write_file", path="b.txt", content="b"), call("edit_file", path="a.txt", old="one", new="1"))
    (tree / "a.txt").write_bytes(b"one\r\ntwo\xff\r\n")
    (tree / "b.txt").unlink()
    with pytest.raises(ToolError, match=r"All edits of session .* are taken back"):
        undo(root, store, agent.session.session_id)
    with pytest.raises(ToolError, match=r"a\.txt is what it was before edit 2: it is left alone") as stale:
        undo(root, store, agent.session.session_id, 2)
    assert stale.value.calls == ()


def test_an_undo_does_not_stop_the_session_that_is_at_work(
    begun: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """An undo writes nothing into a journal that another process is writing."""
    agent = begun(ScriptedModel([call("write_file", path="b.txt", content="b"), say("Done.")]), acting=[Editing(root)])
    run = agent.tools.run

    def undone(asked: Any, session: Any) -> Any:
        done = run(asked, session)
        with closing(open_store(store.url)) as other:
            undo(root, other, session.session_id)
        return done

    agent.tools.run = undone  # type: ignore[assignment, method-assign]
    assert agent.run("Work.").outcome == "answered"
    assert not (tree / "b.txt").exists()


def test_what_somebody_else_wrote_is_never_undone(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """A change of a single blank is enough to leave the file alone."""
    agent = worked(call("edit_file", path="a.txt", old="one", new="1"), call("write_file", path="b.txt", content="b"))
    (tree / "a.txt").write_bytes(b"1\r\ntwo\xff\r\n ")
    (tree / "b.txt").write_text("theirs")
    for number, ways in ((1, ["page"]), (2, [])):  # before edit 2 there was no file
        with pytest.raises(ToolError, match="is left alone") as stale:
            undo(root, store, agent.session.session_id, number)
        assert [way.tool for way in stale.value.calls] == ways
    assert ((tree / "a.txt").read_bytes(), (tree / "b.txt").read_text()) == (b"1\r\ntwo\xff\r\n ", "theirs")
    for number in (0, 3, -1):
        with pytest.raises(ToolError, match=r"has no such edit: it has 2\."):
            undo(root, store, agent.session.session_id, number or 9)


def test_a_file_that_somebody_else_made_large_is_not_read_whole(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """No edit leaves so large a file, so its size alone shows that somebody else changed it; other edits can still be undone."""
    agent = worked(call("write_file", path="b.txt", content="b"), call("edit_file", path="a.txt", old="one", new="1"))
    os.truncate(tree / "a.txt", 200 << 20)
    tracemalloc.start()
    try:
        for number in (None, 2):
            with pytest.raises(ToolError, match=r"a\.txt is not what edit 2 left.* can be undone: 1 \(b\.txt\)"):
                undo(root, store, agent.session.session_id, number)
        undo(root, store, agent.session.session_id, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20
    assert not (tree / "b.txt").exists()


@pytest.mark.parametrize(
    ("error", "said"), [(5, "n.txt cannot be read: Input/output error."), (None, "n.txt is a folder")]
)
def test_a_file_that_cannot_be_read_is_not_said_to_be_as_it_was(
    worked: Callable[..., Agent],
    root: Root,
    store: Store,
    tree: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: int | None,
    said: str,
) -> None:
    """Before the edit there was no file; what is there now and cannot be read is another matter, and is named."""
    agent = worked(call("edit_file", path="a.txt", old="one", new="1"), call("write_file", path="n.txt", content="n"))

    def failing(*_: Any) -> bytes:
        raise OSError(error, os.strerror(error or 0))

    if error is None:
        (tree / "n.txt").unlink()
        (tree / "n.txt").mkdir()
    for number in (None, 2):
        with monkeypatch.context() as broken:
            if error is not None:
                broken.setattr(FileSource, "read", failing)
            with pytest.raises(ToolError, match=said):
                undo(root, store, agent.session.session_id, number)
    assert undo(root, store, agent.session.session_id, 1) == "Edit 1 is undone: a.txt is what it was before."


@pytest.mark.skipif(sys.platform != "linux", reason="names are swapped on Linux")
def test_an_edit_that_could_not_be_taken_back_is_one(
    worked: Callable[..., Agent], root: Root, store: Store, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder becomes unreadable after the swap: the call failed, but its content is in the file and can be undone."""

    def closed(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def swap(*of: Any) -> bool:
        monkeypatch.setattr(replacing, "_displaced", closed)
        return exchange(*of)

    exchange = renames.exchange
    monkeypatch.setattr(renames, "exchange", swap)
    agent = worked(call("edit_file", path="a.txt", old="one", new="1"))
    monkeypatch.undo()
    assert (tree / "a.txt").read_bytes() == b"1\r\ntwo\xff\r\n"
    assert agent.tools.corrected(agent.session.handoff()).modified_files == ("a.txt",)
    assert undo(root, store, agent.session.session_id) == "Edit 1 is undone: a.txt is what it was before."
    assert (tree / "a.txt").read_bytes() == b"one\r\ntwo\xff\r\n"


def test_a_change_between_the_intent_and_the_act_is_what_is_undone(
    begun: Callable[..., Agent], root: Root, store: Store, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An undo restores what the edit replaced, not what was read before the intent was recorded."""
    (tree / "a.txt").write_text("one\ntwo\n")
    editing = Editing(root)
    run = editing.run

    def late(name: str, arguments: Any) -> Any:
        (tree / "a.txt").write_text("one\nTWO\n")
        return run(name, arguments)

    monkeypatch.setattr(editing, "run", late)
    agent = begun(ScriptedModel([call("edit_file", path="a.txt", old="one", new="1"), say("Done.")]), acting=[editing])
    agent.run("Work.")
    assert (tree / "a.txt").read_text() == "1\nTWO\n"
    undo(root, store, agent.session.session_id)
    assert (tree / "a.txt").read_text() == "one\nTWO\n"


def test_an_edit_that_somebody_overwrites_is_told_once_and_kept(
    begun: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """The next result names the file, with the call that shows what the agent wrote."""
    (tree / "a.txt").write_text("one\n")
    looks = [call("view", file_path=f"part_00{step}.txt") for step in range(3)]
    model = ScriptedModel([call("edit_file", path="a.txt", old="one", new="agent's"), *looks, say("Done.")])
    agent = begun(model, acting=[Editing(root)])
    run = agent.tools.run

    def overwriting(asked: Any, session: Any) -> Any:
        if "part_001" in asked.arguments:
            (tree / "a.txt").write_text("theirs\n")
        return run(asked, session)

    agent.tools.run = overwriting  # type: ignore[assignment, method-assign]
    agent.run("Work.")
    seen = [json.dumps(request) for request in model.requests]
    handle = edits_of(store, agent.session.session_id)[0].after
    told = "a.txt is no longer what your edit left: a command or somebody else has changed it. What you wrote is kept: page("
    assert [request.count(told) for request in seen] == [0, 0, 0, 1, 1]
    assert store.read(handle, 0, 100) == b"agent's\n"


def test_an_edit_that_was_refused_is_none(worked: Callable[..., Agent], root: Root, store: Store, tree: Path) -> None:
    """If somebody later writes what a refused edit would have written, it stays; the last edit is the last one made."""
    (tree / ".vscode").mkdir()
    (tree / ".vscode" / "tasks.json").write_text("{}")
    agent = worked(
        call("edit_file", path="a.txt", old="one", new="1"),
        call("write_file", path=".vscode/tasks.json", content="theirs"),
    )
    (tree / ".vscode" / "tasks.json").write_text("theirs")
    session = agent.session.session_id
    assert [edit.path for edit in edits_of(store, session)] == ["a.txt"]
    assert undo(root, store, session) == "Edit 1 is undone: a.txt is what it was before."
    assert (tree / ".vscode" / "tasks.json").read_text() == "theirs"


def test_what_is_named_as_written_was_written(
    begun: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """A refused later edit of the same file is not taken for the content that was overwritten."""
    (tree / "a.txt").write_text("one\n")
    first = call("edit_file", path="a.txt", old="one", new="first")
    model = ScriptedModel([first, call("write_file", path="a.txt", content="never"), say("Done.")])
    agent = begun(model, acting=[Editing(root)])
    run = agent.tools.run

    def overwriting(asked: Any, session: Any) -> Any:
        if asked.name == "write_file":
            (tree / "a.txt").write_text("theirs\n")
            return Done(text="Refused.", failed=True, is_refusal=True)
        return run(asked, session)

    agent.tools.run = overwriting  # type: ignore[assignment, method-assign]
    agent.run("Work.")
    handle = edits_of(store, agent.session.session_id)[0].after
    assert f'What you wrote is kept: page(handle=\\"{handle}\\")' in json.dumps(model.requests[-1])


def test_a_person_undoes_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`penstock undo ID` works once; a second time it is refused, with status 5 and nothing changed."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/a.txt").write_text("one\n")
    script = tmp_path / "script.json"
    script.write_text(
        json.dumps([{"call": "edit_file", "arguments": {"path": "a.txt", "old": "one", "new": "1"}}, {"say": "Done."}])
    )
    flags = ["--store", f"sqlite://{tmp_path}/store"]
    run = ["run", "x", "--root", str(tmp_path / "tree"), "--model", f"scripted:{script}", "--allow-edit", "--json"]
    assert main([*run, *flags]) == 0
    session = json.loads(capsys.readouterr().out)["session"]
    assert (tmp_path / "tree/a.txt").read_text() == "1\n"
    assert main(["undo", session, *flags]) == 0
    assert capsys.readouterr().out == "Edit 1 is undone: a.txt is what it was before.\n"
    assert (tmp_path / "tree/a.txt").read_text() == "one\n"
    assert main(["undo", session, *flags]) == 5
    assert "is what it was before edit 1" in capsys.readouterr().err
    assert main(["undo", session, *flags, "--json"]) == 5
    way = json.loads(capsys.readouterr().out)["error"]["try"]
    assert way == f"penstock show {session} --store sqlite://{tmp_path}/store"
    assert main(way.split()[1:]) == 0


class Passing:
    """A shell in which every command succeeds."""

    tools = (Tool("shell", "Run", "Runs.", (Parameter("command", "string", REQUIRED, "what to run"),)),)

    def intent(self, name: str, arguments: Mapping[str, Any]) -> Intent:
        return Intent(kind=name, what=arguments["command"])

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        del kind, what, digest
        return "unknown"

    def run(self, name: str, arguments: Mapping[str, Any]) -> Acted:
        return Acted(text="exit code: 0 | 0.1 s", failed=False, what=f"{name} {arguments}")


@pytest.mark.proves("S-9")
@pytest.mark.parametrize("starts_afresh", [False, True])
def test_after_an_undo_a_command_that_succeeded_before_is_not_said_to_succeed(
    begun: Callable[..., Agent], root: Root, tree: Path, store: Store, starts_afresh: bool
) -> None:
    """Tests that passed may have passed because of the edit; a command that runs after the undo is told as it ended."""
    (tree / "a.txt").write_text("one")
    tools = [Passing(), Editing(root)]
    edit = call("edit_file", path="a.txt", old="one", new="two")
    agent = begun(ScriptedModel([edit, call("shell", command="pytest"), say("Done.")]), acting=tools)
    agent.run("Work.")
    if starts_afresh:
        document = json.loads(encode(agent.session.handoff("turns")))
        agent.feed(HandedOff(handoff=document, text="Go on.", reason="turns", evidence="30 turns"))
    assert [(run.cmd, run.exit) for run in agent.session.handoff("manual").commands] == [("pytest", 0)]
    undo(root, store, agent.session.session_id)
    session, _, seq = resumed(store, agent.session.session_id)
    assert [(run.cmd, run.exit) for run in session.handoff("manual").commands] == [("pytest", None)]
    toolbox = Toolbox(Workspace(tree), store, window_tokens=32_000)  # another process continues
    toolbox.allow(Passing())
    later = ScriptedModel([call("shell", command="lint"), say("Done.")])
    Agent(session, later, toolbox, store, next_seq=seq).run("Lint.")
    assert [(run.cmd, run.exit) for run in session.handoff("manual").commands] == [("pytest", None), ("lint", 0)]


@pytest.mark.proves("S-17")
def test_without_its_secret_a_file_is_not_put_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that keeps no secrets says that it cannot restore one; a file without secrets is restored to the byte."""
    monkeypatch.setenv("PENSTOCK_STORE_REDACT", "1")
    key = "AKIAIOSFODNN7EXAMPLE"
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.txt").write_text(f"key {key}\none\n")
    (tree / "b.txt").write_text("one\n")
    script = tmp_path / "script.json"
    changes = [{"path": "a.txt", "old": "one", "new": "1"}, {"path": "b.txt", "old": "one", "new": f"key {key}"}]
    script.write_text(
        json.dumps([*({"call": "edit_file", "arguments": change} for change in changes), {"say": "Done."}])
    )
    flags = ["--store", f"sqlite://{tmp_path}/store"]
    run = ["run", "x", "--root", str(tree), "--model", f"scripted:{script}", "--allow-edit", "--json"]
    assert main([*run, *flags]) == 0
    session = json.loads(capsys.readouterr().out)["session"]
    assert (tree / "a.txt").read_text() == f"key {key}\n1\n"
    assert main(["undo", session, "1", *flags]) == 4
    assert "held a secret, and the store keeps no secrets" in capsys.readouterr().err
    assert (tree / "a.txt").read_text() == f"key {key}\n1\n"
    assert main(["undo", session, "2", *flags]) == 0
    assert (tree / "b.txt").read_text() == "one\n"
    assert not any(key.encode() in file.read_bytes() for file in (tmp_path / "store").rglob("*") if file.is_file())


@pytest.mark.proves("S-9")
@pytest.mark.parametrize("wire", WIRES)
def test_an_edit_that_failed_is_no_change_in_the_history(
    begun: Callable[..., Agent], root: Root, tree: Path, wire: str
) -> None:
    """Two wires have no field for a failure: words say it there, so that notes and handoffs do not list the file."""
    (tree / "a.txt").write_text("one\n")
    steps = [
        call("edit_file", path="a.txt", old="no such words", new="x"),
        call("edit_file", path="part_001.txt", old="value = 7", new="value = 8"),
        say("Done."),
    ]
    agent = begun(ScriptedModel(steps, wire), acting=[Editing(root)])
    assert agent.run("Work.").outcome == "answered"
    assert [(done.path, done.changes) for done in actions(agent.session.state.transcript)] == [
        ("a.txt", False),
        ("part_001.txt", True),
    ]


@pytest.mark.proves("S-8")
def test_a_tool_that_a_person_may_allow_is_named_with_how(begun: Callable[..., Agent]) -> None:
    """A tool that does not exist gets no such advice."""
    steps = [call("run_command", command="ls"), call("no_such", path="a"), say("Done.")]
    agent = begun(ScriptedModel(steps))
    assert agent.run("Work.").outcome == "answered"
    told = [result.text for entry in agent.session.state.transcript.entries for result in entry.results]
    assert "a person allows it with --allow-shell" in told[0]
    assert told[1].startswith("Error: There is no tool no_such. Tools: view, ")


def test_an_edit_that_a_resume_announces_again_is_one(store: Store) -> None:
    """If a kill came before the write, the resumed session announces the edit again in a new turn; `undo` counts it once."""
    told = {"path": "a.txt", "before": "", "after": "art_1", "before_sha256": "", "after_sha256": "2"}
    for seq, effect_id in enumerate(("t1:c1", "t2:c1", "t3:c2")):
        store.append("s", seq, EDITED, {**told, "effect_id": effect_id})
    assert [edit.effect_id for edit in edits_of(store, "s")] == ["t2:c1", "t3:c2"]


def test_what_a_kill_cut_off_is_what_began_and_did_not_end(store: Store) -> None:
    """Commands that began and did not end are cut off, also in a child; edits, and commands checked since, are not."""

    def edited(effect_id: str) -> dict[str, Any]:
        return {
            "effect_id": effect_id,
            "path": f"{effect_id}.txt",
            "after": "art_1",
            "before_sha256": "1",
            "after_sha256": "2",
        }

    ids = ("s:1:cut", "s:1:done", "s:1:edit", "s:x:seen", "s:2:child")
    records: list[tuple[str, dict[str, Any]]] = [("Intended", {"effect_id": one}) for one in ids[:4]]
    records += [
        (CHILD, {"type": "Intended", "data": {"effect_id": ids[4]}}),
        ("Effected", {"effect_id": ids[1], "digest": "2"}),
        (EDITED, edited(ids[2])),
        (CHANGED, {"files": [{"path": "by hand.txt", "found": "3", "turn": 7}], "cut_off": [ids[3], "unknown"]}),
        (EDITED, edited("edit without a turn")),
        (EDITED, {**edited("s:3:told"), "path": "by hand.txt"}),
    ]
    times = [store.append("s", seq, kind, data).at for seq, (kind, data) in enumerate(records)]
    assert cut_off_of(store, "s") == {ids[0]: (times[0], None), ids[4]: (times[4], None)}
    assert [(file.path, file.found, file.turn) for file in changes_of(store, "s")] == [
        ("by hand.txt", "3", 7),
        ("s:1:edit.txt", "1", 1),
        ("edit without a turn.txt", "1", None),
    ]


def test_what_is_not_kept_as_it_was_is_not_put_back(store: Store, root: Root, tree: Path) -> None:
    """The error names the damaged handle, and the file stays as the edit left it."""
    (tree / "a.txt").write_bytes(b"after")
    handle = store.put(b"before, and damaged", name="a.txt")
    told = {"path": "a.txt", "before": handle, "after": "art_1", "after_sha256": hashlib.sha256(b"after").hexdigest()}
    store.append("s", 0, EDITED, {**told, "before_sha256": hashlib.sha256(b"before").hexdigest(), "effect_id": "s:1:c"})
    with pytest.raises(ToolError, match=f"not kept as it was under {handle}"):
        undo(root, store, "s")
    assert (tree / "a.txt").read_bytes() == b"after"


@pytest.mark.proves("S-12", "S-16")
def test_what_a_killed_edit_left_beside_its_file_goes_or_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary file goes if the session keeps what it holds; one that holds what somebody saved in that moment is named."""
    (tree := tmp_path / "tree").mkdir()
    (tree / "a.txt").write_text("one\n")
    script = tmp_path / "script.json"
    script.write_text(
        json.dumps(
            [{"call": "edit_file", "arguments": {"path": "a.txt", "old": "one", "new": "two"}}, {"say": "Done."}]
        )
    )
    flags = ["--store", f"sqlite://{tmp_path}/store"]

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writing, "replace_file", killed)
        run = ["run", "x", "--root", str(tree), "--model", f"scripted:{script}", "--allow-edit", "--json"]
        assert main([*run, *flags]) == 130
    session = json.loads(capsys.readouterr().out)["session"]
    for digit, text in (("0", "one\n"), ("1", "two\n"), ("2", "theirs\n")):
        (tree / f".a.txt.penstock-{digit * 16}").write_text(text)
    (tree / f".b.txt.penstock-{'0' * 16}").write_text("one\n")
    assert main(["resume", session, "--verify-only", *flags]) == 0
    assert len(list(tree.iterdir())) == 5
    capsys.readouterr()
    assert main(["resume", session, *flags]) == 0
    assert f"nothing else holds what is in there: .a.txt.penstock-{'2' * 16}." in capsys.readouterr().err
    kept = [f".a.txt.penstock-{'2' * 16}", f".b.txt.penstock-{'0' * 16}", "a.txt"]
    assert sorted(one.name for one in tree.iterdir()) == kept


@pytest.mark.proves("S-12", "S-16")
def test_what_is_kept_and_cannot_be_removed_is_not_said_to_be_the_only_copy(
    root: Root, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is read-only by now keeps the file, of which nothing is told; what cannot be read is told."""
    (tree / f".a.txt.penstock-{'0' * 16}").write_text("one")
    (tree / f".a.txt.penstock-{'1' * 16}").mkdir()

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refused)
        left = writing.clear_left(root, b"a.txt", [hashlib.sha256(b"one").hexdigest()])
    assert left == [f".a.txt.penstock-{'1' * 16}".encode()]


@pytest.mark.proves("S-12")
def test_a_program_hears_of_a_session_once_it_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill before its first record leaves no name that nothing can be done with."""

    def full(*_: object, **__: object) -> None:
        raise StoreFault("disk_full", "There is no room.")

    monkeypatch.setattr(Agent, "begin", full)
    flags = ["--root", str(tmp_path), "--store", f"sqlite://{tmp_path}/store", "--output-format", "stream-json"]
    assert main(["run", "x", *flags]) == 8
    assert [json.loads(line)["type"] for line in capsys.readouterr().out.splitlines()] == ["error"]


@pytest.mark.proves("S-17")
def test_a_key_as_the_name_of_a_file_leaves_with_no_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The journal has the key, as resume and undo open the file by it; handoffs, exports and the names of artifacts do not."""
    key = "AKIA" + "Z7QX2MNB5RTWP3LK"
    (tmp_path / "tree").mkdir()
    (tmp_path / f"tree/{key}.txt").write_text("one\n")
    script = tmp_path / "script.json"
    edit = {"path": f"{key}.txt", "old": "one", "new": "1"}
    script.write_text(json.dumps([{"call": "edit_file", "arguments": edit}, {"say": "Done."}]))
    flags = ["--store", f"sqlite://{tmp_path}/store"]
    run = ["run", "x", "--root", str(tmp_path / "tree"), "--model", f"scripted:{script}", "--allow-edit", "--json"]
    assert main([*run, *flags]) == 0
    session = json.loads(capsys.readouterr().out)["session"]
    assert main(["handoff", session, *flags]) == 0
    (tmp_path / "handoff.json").write_text(document := capsys.readouterr().out)
    assert main(["sessions", "export", session, *flags]) == 0
    with closing(open_store(flags[1])) as kept:
        names = [kept.info(handle).name for handle in kept.handles_of(session)]
    assert len(names) == 2
    assert not any(key in text for text in (document, capsys.readouterr().out, *names))
    assert main([*run, *flags, "--from", str(tmp_path / "handoff.json")]) == 0
    assert key not in capsys.readouterr().err
    handoff = decode(json.loads(document))
    assert len(handoff.file_history) == 1
    assert tracked_by(handoff) == []  # the name is unknown, so the file cannot be found
    assert main(["resume", session, "--verify-only", *flags]) == 0
    assert "1 same" in capsys.readouterr().out
    assert main(["undo", session, *flags]) == 0
    assert (tmp_path / f"tree/{key}.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    ("effect_id", "turn"),
    [
        ("n:3:call1", 3),
        ("n:0:call1", 0),
        ("n:12", 12),
        ("n:3:4", 3),
        ("n", None),
        ("n:x:3", None),
        ("n:", None),
        ("", None),
    ],
)
def test_the_turn_of_an_edit_is_what_its_id_says(effect_id: str, turn: int | None) -> None:
    """The turn is the second of the three parts; None if it cannot be read."""
    edit = KeptEdit(effect_id=effect_id, path="a", before="b", after="c", after_sha256="2")
    assert edit.turn == turn
    assert edit.handles == ("b", "c")
    assert replace(edit, before="").handles == ("c",)


@pytest.mark.parametrize("number", [-1, 0, 3, 99])
def test_an_edit_that_there_is_not_is_told_with_how_many_there_are(
    worked: Callable[..., Agent], root: Root, store: Store, number: int
) -> None:
    """The error says that there are two edits, or none, whatever number is asked for."""
    session = worked(
        call("edit_file", path="a.txt", old="one", new="1"), call("edit_file", path="a.txt", old="1", new="2")
    )
    with pytest.raises(ToolError, match="has no such edit: it has 2") as caught:
        undo(root, store, session.session.session_id, number)
    assert caught.value.code == "not_found"
    store.append("none", 0, "Ticked", {})
    for asked in (number, None, 1):
        with pytest.raises(ToolError, match="has no such edit: it has made none"):
            undo(root, store, "none", asked)
