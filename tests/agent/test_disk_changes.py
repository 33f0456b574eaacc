"""Does a handoff name exactly the files that differ from what the session found, whichever tool changed them?"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from penstock.agent import disk_changes
from penstock.agent.disk_changes import DiskChanges
from penstock.agent.editing import Editing
from penstock.agent.edits import changes_of
from penstock.agent.shell import Shell
from penstock.context.handoff import FileEvent, Handoff
from penstock.errors import ToolError
from penstock.models import ScriptedModel, call, say
from penstock.workspace.root import Root
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.agent.loop import Agent
    from penstock.store import Store

pytestmark = pytest.mark.proves("S-9")


@pytest.fixture
def root(tree: Path) -> Iterator[Root]:
    opened = Root(tree)
    yield opened
    opened.close()


def test_only_what_differs_on_the_disk_is_handed_on(
    begun: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """Failed, refused and reverted edits do not count; if somebody else changed a file later, its present content counts."""
    (tree / "a.txt").write_text("one\n")
    (tree / "b.txt").write_text("one\n")
    model = ScriptedModel(
        [
            call("edit_file", path="a.txt", old="one", new="1"),
            call("edit_file", path="b.txt", old="one", new="1"),
            call("edit_file", path="b.txt", old="1", new="one"),
            call("edit_file", path="part_001.txt", old="no such words", new="x"),
            call("edit_file", path=".git/config", old="x", new="y"),
            call("write_file", path=".git/hooks/pre-commit", content="#!/bin/sh\n"),
            call("write_file", path="new.txt", content="x"),
            say("Done."),
        ]
    )
    agent = begun(model, acting=[Editing(root)])
    agent.run("Work.")
    assert set(agent.session.handoff().modified_files) > {"a.txt", "new.txt"}, "what calls spoke of says more"
    handoff = agent.tools.corrected(agent.session.handoff())
    assert handoff.modified_files == ("a.txt", "new.txt")
    assert [(event.path, event.action) for event in handoff.file_history] == [
        ("a.txt", "modified"),
        ("new.txt", "created"),
    ]
    assert all(len(event.digest) == 64 for event in handoff.file_history)
    assert handoff.summary.startswith("unchanged in the end: b.txt\nmodified: a.txt; b.txt")
    assert DiskChanges(root, changes_of(store, agent.session.session_id)).corrected(handoff) == handoff


@pytest.mark.parametrize("record", ["Changed", "Effected"])
@pytest.mark.parametrize("is_made", [True, False])
def test_an_edit_that_a_kill_cut_off_from_its_record_is_handed_on(
    begun: Callable[..., Agent], root: Root, store: Store, tree: Path, record: str, is_made: bool
) -> None:
    """The edit is in the journal before it is made; if it was not made, the file is as it was found."""
    (tree / "a.txt").write_text("one\n")
    agent = begun(ScriptedModel([call("edit_file", path="a.txt", old="one", new="1")]), acting=[Editing(root)])
    write = agent.record

    def dying(kind: str, data: dict[str, Any], handles: tuple[str, ...] = ()) -> None:
        if kind == record:
            raise MemoryError
        write(kind, data, handles)

    agent.record = dying  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        agent.run("Work.")
    if not is_made:
        (tree / "a.txt").write_text("one\n")
    changes = changes_of(store, agent.session.session_id)
    assert [(file.path, file.turn) for file in changes] == [("a.txt", 1)]
    handoff = DiskChanges(root, changes).corrected(agent.session.handoff())
    assert handoff.modified_files == (("a.txt",) if is_made else ())


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="a wall for the shell is needed")
def test_what_a_command_changes_is_seen(begun: Callable[..., Agent], root: Root, store: Store, tree: Path) -> None:
    """Files written, made, removed and moved are seen; a file of which only the times change is unchanged."""
    for name in ("a.txt", "gone.txt", "touched.txt", "moved.txt"):
        (tree / name).write_text(f"{name}\n")
        os.utime(tree / name, (1, 1))
    shell = Shell(str(tree), store=store)
    script = "echo more >> a.txt; rm gone.txt; touch touched.txt; mv moved.txt there.txt; echo x > made.txt"
    agent = begun(ScriptedModel([call("run_command", command=script), say("Done.")]), acting=[shell])
    agent.run("Work.")
    shell.close()
    found = {event.path: event.action for event in agent.tools.corrected(agent.session.handoff()).file_history}
    assert found == {
        "a.txt": "modified",
        "gone.txt": "deleted",
        "moved.txt": "deleted",
        "there.txt": "created",
        "made.txt": "created",
    }


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="a wall for the shell is needed")
def test_large_files_and_ignored_ones_are_looked_at_too(
    begun: Callable[..., Agent], root: Root, store: Store, tree: Path
) -> None:
    """A file above 64 KiB that was only touched is unchanged; ignored files count too, as they are often the output of a build."""
    (tree / ".gitignore").write_text("dist/\n")
    (tree / "large.bin").write_bytes(b"x" * 300_000)
    os.utime(tree / "large.bin", (1, 1))
    shell = Shell(str(tree), store=store)
    script = "touch large.bin large.log; mkdir dist node_modules; echo x > dist/app.js; echo x > node_modules/x.js"
    agent = begun(ScriptedModel([call("run_command", command=script), say("Done.")]), acting=[shell])
    agent.run("Work.")
    shell.close()
    found = {event.path: event.action for event in agent.tools.corrected(agent.session.handoff()).file_history}
    assert found == {"dist/app.js": "created"}


def test_what_has_the_same_status_is_not_read_again(root: Root, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking before each command reads only files whose status changed, and knows as much as reading all of them."""
    first = disk_changes.look(root, with_digests=True)
    (tree / "part_001.txt").write_text("other")
    whole = disk_changes.look(root, with_digests=True)
    read: list[str] = []
    digest_of = disk_changes.digest_of

    def noted(where: Root, path: str) -> str:
        read.append(path)
        return digest_of(where, path)

    monkeypatch.setattr(disk_changes, "digest_of", noted)
    assert disk_changes.look(root, with_digests=True, known=first) == whole
    assert read == ["part_001.txt"]


@pytest.mark.parametrize(
    ("owner", "name", "error"),
    [(FileSource, "read", OSError(5, "Input/output error")), (Root, "open_file", ToolError("denied", "Not allowed."))],
    ids=["disk", "denied"],
)
def test_a_file_that_cannot_be_read_is_handed_on_as_changed(
    root: Root, tree: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, error: Exception
) -> None:
    """A fault of the disk ends neither a command nor a session, and a file that is there is not said to be gone."""
    before = disk_changes.look(root, with_digests=False)
    (tree / "a.txt").write_text("one\n")

    def failing(*_: Any) -> bytes:
        raise error

    monkeypatch.setattr(owner, name, failing)
    (file,) = disk_changes.between(root, before, disk_changes.look(root, with_digests=True))
    changes = DiskChanges(root, [file, replace(file, path="part_001.txt", found=disk_changes.UNKNOWN)])
    assert [(event.path, event.action, event.digest) for event in changes.events()] == [
        ("a.txt", "created", ""),
        ("part_001.txt", "modified", ""),
    ]


def test_a_name_that_held_a_secret_is_of_no_file(root: Root) -> None:
    """The mark that replaces a secret in a handoff is not a path; other names stay."""
    events = [
        FileEvent(path=path, digest="0" * 64)
        for path in ("keys/[redacted: GitHub token, 40 characters].txt", "gone.py")
    ]
    handoff = Handoff(session_id="a", file_history=tuple(events))
    assert [file.path for file in disk_changes.handed_on(root, handoff)] == ["gone.py"]
