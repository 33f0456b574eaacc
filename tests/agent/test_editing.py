"""Do edits change exactly what they say, and is nothing written where writing is not allowed?"""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Workspace
from penstock.agent import editing
from penstock.agent.editing import MAX_BYTES, TOOLS, Editing, _lines_changed
from penstock.errors import CallerError
from penstock.session.ledger import Ledger, shown
from penstock.session.verdicts import ActVerdict
from penstock.text import stand_ins
from penstock.text.redaction import redacted
from penstock.workspace import renames
from penstock.workspace.root import Root
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.session.effects import Acted


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    (tmp_path / "root").mkdir()
    opened = Root(tmp_path / "root")
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path, root: Root) -> Path:
    del root
    return tmp_path / "root"


def edit(root: Root, path: str, old: str, new: str, **more: Any) -> Acted:
    return Editing(root, **more).run("edit_file", {"path": path, "old": old, "new": new})


def write(root: Root, path: str, content: str) -> Acted:
    return Editing(root).run("write_file", {"path": path, "content": content})


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


# ── edits ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_text_found_once_is_replaced(root: Root, folder: Path) -> None:
    """The result says which lines became which, for the model, the journal and the ledger."""
    file = folder / "a.py"
    file.write_bytes(b"one\ntwo\nthree\n")
    done = edit(root, "a.py", "two\n", "2\n2b\n")
    assert file.read_bytes() == b"one\n2\n2b\nthree\n"
    assert done.text == "a.py: line 2 became lines 2-3 | 4 lines, 15 bytes"
    assert (done.failed, done.what) == (False, "edit_file a.py: line 2 became lines 2-3")
    assert (done.before, done.after) == (digest(b"one\ntwo\nthree\n"), digest(file.read_bytes()))
    assert os.listdir(folder) == ["a.py"]


def test_no_edit_makes_a_file_that_could_not_be_edited_again(root: Root, folder: Path) -> None:
    """An edit up to exactly the size limit is made; with one byte more it is refused, and nothing is written."""
    file = folder / "a.txt"
    file.write_bytes(b"old" + b"x" * (MAX_BYTES - 4))
    refused = [edit(root, "a.txt", "old", "older"), write(root, "new.txt", "x" * (MAX_BYTES + 1))]
    assert all(f"{MAX_BYTES + 1} bytes are more than the {MAX_BYTES}" in one.text for one in refused)
    assert os.listdir(folder) == ["a.txt"]
    assert file.stat().st_size == MAX_BYTES - 1
    assert not edit(root, "a.txt", "old", "olde").failed
    assert file.stat().st_size == MAX_BYTES
    assert not edit(root, "a.txt", "olde", "old").failed


def test_a_text_found_more_than_once_is_not_touched(root: Root, folder: Path) -> None:
    """The answer says how often and where the text occurs, also if occurrences overlap."""
    file = folder / "a.txt"
    file.write_text("x = 1\ny = 2\nx = 1\n")
    done = edit(root, "a.txt", "x = 1", "x = 3")
    assert done.failed
    assert "old stands 2 times in a.txt, beginning on lines 1, 3." in done.text
    file.write_text("aaa")
    assert "old stands 2 times" in edit(root, "a.txt", "aa", "b").text
    for times, named in ((10, "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10."), (11, "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ….")):
        file.write_text("same\n" * times)
        assert f"old stands {times} times in a.txt, beginning on {named}" in edit(root, "a.txt", "same", "x").text
    file.write_text("z\n" * 50)
    assert (
        "old stands 50 times in a.txt, beginning on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …."
        in edit(root, "a.txt", "z", "b").text
    )
    assert file.read_text() == "z\n" * 50


@pytest.mark.parametrize(
    ("old", "says"),
    [
        ("def f():\n  return 1", "It does with other blanks, on lines 2-3: view that"),
        ("2|def f():\n3|    return 1", "Without the line numbers in front it does"),
        ("     2\tdef f():\n     3\t    return 1", "Without the line numbers in front it does"),
        ("bell \\x07", "What a page shows as an escape"),
        ("[OUTPUT TRUNCATED]", "It holds what a page or a result shows in place of text"),
        ("def g():", "View the place, and copy the text from there."),
        (" \n\t", "View the place, and copy the text from there."),
    ],
)
def test_a_text_that_is_not_there_is_told_with_what_it_looks_like(
    root: Root, folder: Path, old: str, says: str
) -> None:
    """The answer names the difference: blanks, line numbers, escapes and notices are what models most often copy wrongly."""
    (folder / "a.py").write_text("import x\ndef f():\n    return 1\n# bell \x07\n")
    done = edit(root, "a.py", old, "new")
    assert done.failed
    assert done.text.startswith("old does not occur in a.py. Nothing was changed.")
    assert says in done.text


@pytest.mark.parametrize(("old", "says"), [("", "old is empty"), ("same", "nothing to change")])
def test_an_edit_that_changes_nothing_is_a_mistake(root: Root, folder: Path, old: str, says: str) -> None:
    """An empty `old`, or a `new` equal to it, is a mistake."""
    (folder / "a.txt").write_text("same")
    assert says in edit(root, "a.txt", old, "same").text


@pytest.mark.proves("L-9")
@pytest.mark.parametrize(
    ("tool", "sent", "meant"),
    [
        ("edit_file", {"file_path": "a.py", "old_string": "1", "new_string": "2"}, 'path="a.py", old="1", new="2"'),
        ("edit_file", {"path": "a.py", "old_str": "1", "new_str": "2"}, 'path="a.py", old="1", new="2"'),
        ("edit_file", {"path": "a.py", "oldText": "1", "newText": "2"}, 'path="a.py", old="1", new="2"'),
        ("write_file", {"filename": "a.py", "contents": "1"}, 'path="a.py", content="1"'),
        ("write_file", {"path": "a.py", "file_text": "1"}, 'path="a.py", content="1"'),
    ],
)
def test_the_names_of_other_agents_lead_to_the_call_that_was_meant(
    root: Root, tool: str, sent: dict[str, str], meant: str
) -> None:
    """The error shows the corrected call, as models write the arguments of the editors that they know best."""
    done = Editing(root).run(tool, sent)
    assert done.failed
    assert f"Try: {tool}({meant})" in done.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\n2\r\n2b\r\nthree\r\n"),
        (b"\xef\xbb\xbfone\ntwo\nthree", b"\xef\xbb\xbfone\n2\n2b\nthree"),
        ("one\r\ntwo\r\nthree".encode("utf-16"), "one\r\n2\r\n2b\r\nthree".encode("utf-16")),
        (b"one\xff\ntwo\nthree\xfe", b"one\xff\n2\n2b\nthree\xfe"),
        (b"one\ntwo\nthree\r\nfour\r", b"one\n2\n2b\nthree\r\nfour\r"),
    ],
    ids=["CRLF", "byte order mark", "UTF-16", "no text", "mixed"],
)
def test_what_a_file_is_like_is_kept(root: Root, folder: Path, before: bytes, after: bytes) -> None:
    """Line ends, byte order mark, encoding and undecodable bytes stay."""
    file = folder / "a.txt"
    file.write_bytes(before)
    done = edit(root, "a.txt", "two\nt", "2\n2b\nt")
    assert not done.failed, done.text
    assert file.read_bytes() == after
    assert ("encoding UTF-16" in done.text) is before.startswith(b"\xff\xfe")
    assert not write(root, "a.txt", "1\n2\n").failed
    expected = "1\r\n2\r\n" if done.text.count("CRLF") else "1\n2\n"
    codec = "utf-16" if before.startswith(b"\xff\xfe") else "utf-8-sig" if before.startswith(b"\xef") else "utf-8"
    assert file.read_bytes() == expected.encode(codec)


def test_the_mode_is_kept_and_no_name_is_left_beside(root: Root, folder: Path) -> None:
    """An executable script stays executable, and no temporary file is left."""
    file = folder / "run.sh"
    file.write_text("#!/bin/sh\necho 1\n")
    file.chmod(0o751)
    assert not edit(root, "run.sh", "echo 1", "echo 2").failed
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert os.listdir(folder) == ["run.sh"]


# ── whole files ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_is_created_with_the_folders_above_it(root: Root, folder: Path) -> None:
    """A new file has the usual mode."""
    done = write(root, "src/new/a.py", "x = 1\r\n")
    assert (done.failed, done.text) == (False, "src/new/a.py: created | 1 line, 7 bytes")
    assert (folder / "src/new/a.py").read_bytes() == b"x = 1\r\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((folder / "src/new/a.py").stat().st_mode) == 0o666 & ~mask
    assert (done.before, done.after) == ("", digest(b"x = 1\r\n"))


def test_a_file_is_replaced_whole(root: Root, folder: Path) -> None:
    """The old content is gone."""
    (folder / "a.txt").write_text("old\n" * 9)
    assert write(root, "a.txt", "new").text == "a.txt: replaced | 1 line, 3 bytes"
    assert (folder / "a.txt").read_text() == "new"


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────


def awkward(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("old")
    (folder / "out").symlink_to(outside)
    (folder / "out.txt").symlink_to(outside / "a.txt")
    (folder / "inner").mkdir()
    (folder / "inner/a.txt").write_text("old")
    (folder / "link").symlink_to("inner")
    (folder / "link.txt").symlink_to("inner/a.txt")
    (folder / "dangling").symlink_to("nothing")
    (folder / ".env").write_text("old")
    (folder / "secret.txt").symlink_to(".env")
    (folder / "binary").write_bytes(b"old\0")
    os.mkfifo(folder / "fifo")
    (folder / "large").write_bytes(b"old" + b"x" * MAX_BYTES)
    (folder / "torn").write_bytes(b"\xff\xfeo\0l\0d\0x")


REFUSED = {
    "../outside/a.txt": "outside the root",
    "/etc/passwd": "outside the root",
    "out/a.txt": "leads elsewhere",
    "out.txt": "leads elsewhere",
    "link/a.txt": "leads to inner/a.txt by a link, and no link is followed to write. Give that path.",
    "link.txt": "leads to inner/a.txt by a link",
    ".env": "holds credentials",
    "secret.txt": "holds credentials",
    "binary": "binary",
    "fifo": "not_regular_file: fifo",
    "inner": "is a folder",
    "large": "large: 8388611 bytes are more than the 8388608 that are edited",
    "torn": "not valid UTF-16",
    "": "The path is empty",
}


@pytest.mark.parametrize("tool", ["edit_file", "write_file"])
@pytest.mark.parametrize("path", REFUSED)
def test_a_place_where_nothing_may_be_written_is_refused(root: Root, folder: Path, tool: str, path: str) -> None:
    """Places outside the root, through a link or with a secret name, and binary or special files: nothing changes or remains."""
    awkward(folder)
    before = {file: file.read_bytes() for file in folder.parent.rglob("*") if file.is_file()}
    arguments = {"old": "old", "new": "new"} if tool == "edit_file" else {"content": "new"}
    done = Editing(root).run(tool, {"path": path, **arguments})
    assert done.failed
    assert REFUSED[path] in done.text
    assert {file: file.read_bytes() for file in folder.parent.rglob("*") if file.is_file()} == before


NOT_MADE = {
    "dangling": "leads elsewhere, by a link",
    "link/new.txt": "leads elsewhere, by a link",
    "out/new.txt": "leads elsewhere, by a link",
    "inner/a.txt/new": "a part of the path is a file",
    ".env.local": "holds credentials",
    "id_rsa": "holds credentials",
}


@pytest.mark.parametrize("path", NOT_MADE)
def test_a_new_file_is_not_made_there_either(root: Root, folder: Path, path: str) -> None:
    """A link or a file on the path is not a folder, and secret names are not created; each error says why."""
    awkward(folder)
    before = sorted(folder.parent.rglob("*"))
    done = write(root, path, "new")
    assert done.failed
    assert NOT_MADE[path] in done.text
    assert sorted(folder.parent.rglob("*")) == before


@pytest.mark.parametrize("confinement", ["openat2", "walk"])
def test_a_folder_that_becomes_a_link_while_it_is_written_leads_nowhere(folder: Path, confinement: str) -> None:
    """If somebody swaps a folder for a link between check and write, files outside stay as they are."""
    inner, outside = folder / "inner", folder.parent / "outside"
    inner.mkdir()
    outside.mkdir()
    for place in (inner, outside):
        (place / "a.txt").write_text("old")
    root = Root(folder, confinement=confinement)

    def swapping(*_: str) -> ActVerdict:
        inner.rename(folder / "moved")
        inner.symlink_to(outside)
        return ActVerdict("ok")

    done = edit(root, "inner/a.txt", "old", "new", guard=swapping)
    assert done.failed
    assert ((outside / "a.txt").read_text(), (folder / "moved/a.txt").read_text()) == ("old", "old")
    assert os.listdir(outside) == ["a.txt"]
    root.close()


@pytest.mark.parametrize("tool", ["edit_file", "write_file"])
def test_a_file_that_somebody_else_changes_meanwhile_is_left_alone(root: Root, folder: Path, tool: str) -> None:
    """The other's work is not lost, and the model is told to read the file again."""
    file = folder / "a.txt"
    file.write_text("old")

    def changing(*_: str) -> ActVerdict:
        file.write_text("theirs")
        return ActVerdict("ok")

    arguments = {"old": "old", "new": "new"} if tool == "edit_file" else {"content": "new"}
    done = Editing(root, guard=changing).run(tool, {"path": "a.txt", **arguments})
    assert done.failed
    assert "a.txt was changed by someone else meanwhile. This edit was not made. Read it again." in done.text
    assert file.read_text() == "theirs"


@pytest.mark.parametrize("tool", ["edit_file", "write_file"])
def test_a_change_while_ours_is_being_written_is_seen_too(
    root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    """A large file takes long to write, so the target is checked once more when the new content is ready next to it."""
    file = folder / "a.txt"
    file.write_text("old")
    write = os.write

    def slow(descriptor: int, content: Any) -> int:
        if bytes(content) == b"new":
            file.write_text("theirs")
        return write(descriptor, content)

    monkeypatch.setattr(os, "write", slow)
    arguments = {"old": "old", "new": "new"} if tool == "edit_file" else {"content": "new"}
    done = Editing(root).run(tool, {"path": "a.txt", **arguments})
    assert done.failed
    assert "a.txt was changed by someone else meanwhile. This edit was not made. Read it again." in done.text
    assert file.read_text() == "theirs"
    assert os.listdir(folder) == ["a.txt"]


def test_a_file_that_must_not_be_written_is_not_replaced_instead(
    root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renaming over a read-only file would bypass its permission, so the edit is refused."""
    (folder / "a.txt").write_text("old")
    (folder / "a.txt").chmod(0o444)
    monkeypatch.setattr(os, "access", lambda name, mode, dir_fd: (name, mode) != (b"a.txt", os.W_OK))  # root always may
    assert edit(root, "a.txt", "old", "new").text == "Permission denied: a.txt."
    assert (folder / "a.txt").read_text() == "old"


def test_root_does_not_write_what_nobody_may(root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs it, a file without any right to write is left alone: root passes every check of access."""
    (folder / "a.txt").write_text("old")
    (folder / "a.txt").chmod(0o444)
    monkeypatch.setattr(os, "access", lambda *_, **__: True)
    assert edit(root, "a.txt", "old", "new").text == "Permission denied: a.txt."
    assert (folder / "a.txt").read_text() == "old"


@pytest.mark.parametrize("call", ["open", "write", "fsync", "exchange"])
def test_a_disk_that_fails_leaves_the_old(root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    """The old file is whole, nothing is left next to it, and the answer says so."""
    (folder / "a.txt").write_text("old")
    owner = renames if call == "exchange" else os
    real = getattr(owner, call)

    def failing(*args: Any, **options: Any) -> Any:
        if call == "open" and not str(args[0]).startswith(".a.txt.penstock-"):
            return real(*args, **options)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(owner, call, failing)
        done = edit(root, "a.txt", "old", "new")
    assert done.failed
    assert done.text == "a.txt cannot be written: No space left on device. It is as it was."
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [("a.txt", "old")]


def test_a_disk_that_fails_after_the_edit_leaves_it_made(
    root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the edit left cannot be read again, so that no version is given; the edit is reported all the same."""
    (folder / "a.txt").write_text("old")

    def failing(*_: Any) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(editing, "content_of", failing)
    done = edit(root, "a.txt", "old", "new")
    assert (done.failed, done.text) == (False, "a.txt: line 1 changed | 1 line, 3 bytes")
    assert (done.seen[0]["version"], done.after) == ("", digest(b"new"))
    assert (folder / "a.txt").read_text() == "new"


@pytest.mark.parametrize(
    "content",
    [
        "x = 1\n[OUTPUT TRUNCATED]\n",
        "[cleared: view a.py; about 900 tokens, 100 lines; run it again to see it]",
        'x = \'…[1200 bytes hidden: read_file(path="a.py", start_byte=0)]',
        redacted("AKIAIOSFODNN7EXAMPLE"),
        "half \ud800",
        "nul \0",
    ],
    ids=["cut", "cleared", "clipped", "redacted", "half a pair", "NUL"],
)
def test_an_edit_with_our_notices_is_refused(root: Root, folder: Path, content: str) -> None:
    """An edit that contains our notices is refused: what a page did not show would be lost."""
    (folder / "a.txt").write_text("old")
    for done in (edit(root, "a.txt", "old", content), write(root, "a.txt", content), write(root, "b.txt", content)):
        assert done.failed
        assert done.text.startswith(("Refused: the content holds a line", "new: it holds", "content: it holds"))
    assert [(file.name, file.read_text()) for file in folder.iterdir()] == [("a.txt", "old")]


def test_a_line_like_ours_that_the_file_holds_already_is_its_own(root: Root, folder: Path) -> None:
    """A page about such notices can be edited."""
    page = f"See:\n{stand_ins.truncated_briefly(None, None)}\n{redacted('AKIAIOSFODNN7EXAMPLE')}\n"
    (folder / "guard.md").write_text(page)
    assert not edit(root, "guard.md", page, page.replace("See", "Look")).failed


@pytest.mark.parametrize("tool", ["edit_file", "write_file"])
@pytest.mark.parametrize(
    "arguments", [{}, {"path": 5}, {"path": "a", "old": "b", "new": None}, {"path": "a", "mode": 1}]
)
def test_arguments_of_any_kind_are_answered(root: Root, tool: str, arguments: dict[str, Any]) -> None:
    """Neither the announcement nor the call itself raises, whatever arguments a model sends."""
    editing = Editing(root)
    assert editing.intent(tool, arguments).kind == "edit"
    assert editing.run(tool, arguments).failed


def test_an_unknown_tool_is_a_mistake_of_the_program(root: Root) -> None:
    """An unknown tool is a `CallerError`, since the program makes the table of tools."""
    with pytest.raises(CallerError, match="no tool"):
        Editing(root).run("delete_file", {"path": "a"})


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_was_not_seen_whole_is_not_replaced(root: Root, folder: Path) -> None:
    """The ledger refuses and names the override, which works; an edit of what was seen needs none; advice is passed on."""
    (folder / "a.txt").write_text("".join(f"line {n}\n" for n in range(300)))
    page = Workspace(folder).view("a.txt")
    ledger = Ledger().after(shown(page))
    asked: list[tuple[str, ...]] = []

    def guard(act: str, path: str, version: str, content: str) -> ActVerdict:
        asked.append((act, path, content))
        if act == "replace":
            return ledger.may_replace(path, version, content)
        return ActVerdict("advised", "Advice: enough.")

    editing = Editing(root, guard=guard)
    arguments = {"path": "a.txt", "content": "new\n"}
    done = editing.run("write_file", arguments)
    assert done.failed
    assert "lines 101-300 of 300 were not shown" in done.text
    assert "make the same call with override=True" in done.text
    edited = editing.run("edit_file", {"path": "a.txt", "old": "line 7\n", "new": "line seven\n"})
    assert edited.text == "a.txt: line 8 changed | 300 lines, 2594 bytes\nAdvice: enough."
    assert asked == [("replace", "a.txt", "new\n"), ("modify", "a.txt", "line seven\n")]
    ledger = ledger.after(*edited.seen)
    assert ledger.files["a.txt"].seen == ((1, 100),)
    assert ledger.files["a.txt"].role == "modified"
    written = editing.run("write_file", {**arguments, "override": True})
    assert not written.failed
    ledger = ledger.after(*written.seen)
    assert ledger.is_wholly_seen("a.txt", written.seen[0]["version"])
    assert ledger.may_replace("a.txt", ledger.files["a.txt"].version, "newer").level == "ok"
    created = editing.run("write_file", {"path": "b.txt", "content": "b"})
    assert ledger.after(*created.seen).files["b.txt"].role == "created"


_LINE = st.text("ab \t", max_size=3)
_TEXT = st.lists(st.tuples(_LINE, st.sampled_from(["\n", "\r\n"])), max_size=8).map(
    lambda lines: "".join(text + end for text, end in lines)
)


@given(_TEXT, st.data(), st.lists(_LINE, max_size=4).map("\n".join), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_law_what_an_edit_says_is_what_changed(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject, new: str, codec: str
) -> None:
    """Bytes elsewhere stay; exactly the named lines differ; the ledger's digest agrees."""
    folder = tmp_path_factory.mktemp("law")
    text += "end"
    plain = text.replace("\r\n", "\n")
    start = data.draw(st.integers(0, len(plain) - 1))
    end = data.draw(st.integers(start + 1, len(plain)))
    old = plain[start:end]
    (folder / "a.txt").write_bytes(text.encode(codec))
    root = Root(folder)
    page = Workspace(folder).view("a.txt")
    done = edit(root, "a.txt", old, new)
    root.close()
    after = (folder / "a.txt").read_bytes().decode(codec)
    if done.failed:
        assert after == text
        assert plain.find(old, plain.find(old) + 1) >= 0 or old == new
        return
    assert after.replace("\r\n", "\n") == plain[:start] + new + plain[end:]
    ((first, last, count),) = done.seen[0]["edits"]
    lines, now = text.split("\n"), after.split("\n")
    assert now[: first - 1] == lines[: first - 1]
    behind = len(lines) - last
    assert now[len(now) - behind :] == lines[last:]
    if after:
        assert len(now) - behind - (first - 1) == count or not after.endswith("end")
    ledger = Ledger().after(shown(page), *done.seen)
    assert ledger.files["a.txt"].total_lines == done.seen[0]["total_lines"]
    assert ledger.files["a.txt"].seen == (((1, ledger.files["a.txt"].total_lines),) if after else ())


# ── intents ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tool", ["edit_file", "write_file", "create"])
def test_what_became_of_an_intent_is_seen_by_the_content(root: Root, folder: Path, tool: str) -> None:
    """An intent is settled by content: killed before or after the edit, changed by somebody else since, or unreadable now."""
    file = folder / "odd \n name.txt"
    if tool != "create":
        file.write_text("old")
    arguments = {"old": "old", "new": "new"} if tool == "edit_file" else {"content": "new"}
    editing, name = Editing(root), "write_file" if tool == "create" else tool
    intent = editing.intent(name, {"path": "odd \n name.txt", **arguments})
    assert (intent.kind, intent.what) == ("edit", "odd \\x0a name.txt")
    assert editing.settled(*intent) == "not done"
    assert not editing.run(name, {"path": "odd \n name.txt", **arguments}).failed
    assert editing.settled(*intent) == "done"
    file.write_text("theirs")
    assert editing.settled(*intent) == "unknown"
    assert (
        editing.settled(intent.kind, intent.what, intent.digest.partition(">")[2]) == "done"
    )  # the journal has the end of the edit
    file.unlink()
    assert editing.settled(*intent) == ("not done" if tool == "create" else "unknown")
    file.mkdir()
    assert editing.settled(*intent) == "unknown"


def test_of_what_was_refused_or_is_not_ours_nothing_is_known(root: Root) -> None:
    """An intent without both digests cannot be settled."""
    editing = Editing(root)
    assert editing.settled(*editing.intent("edit_file", {"path": "missing", "old": "a", "new": "b"})) == "unknown"
    assert editing.settled("run", "make", "") == "unknown"


def test_the_lines_of_a_text_found_twice_are_counted_from_the_first(root: Root, folder: Path) -> None:
    """Lines are counted correctly even if the file begins with an empty one."""
    (folder / "a.txt").write_text("\ntwice\n\ntwice\n")
    assert "beginning on lines 2, 4." in edit(root, "a.txt", "twice", "once").text


def test_a_text_with_other_blanks_is_found_in_the_first_line_too(root: Root, folder: Path) -> None:
    """The answer gives the line of the text that differs in blanks."""
    (folder / "a.txt").write_text("one\ttwo\nthree\n")
    assert "It does with other blanks, on line 1:" in edit(root, "a.txt", "one two", "2").text


@pytest.mark.parametrize(("before", "after"), [(b"a\r\nb\n", b"c\nd\n"), (b"a\r\nb\r\nc\n", b"c\r\nd\r\n")])
def test_new_lines_end_as_most_of_a_file_do(root: Root, folder: Path, before: bytes, after: bytes) -> None:
    """If both line ends are equally frequent, the shorter one is used."""
    (folder / "a.txt").write_bytes(before)
    assert not write(root, "a.txt", "c\nd\n").failed
    assert (folder / "a.txt").read_bytes() == after


def test_a_file_that_shrinks_while_it_is_read_is_left_alone(
    root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edit of the shorter content would lose the rest."""
    (folder / "a.txt").write_text("one\ntwo\n")
    read = FileSource.read
    monkeypatch.setattr(FileSource, "read", lambda source, start, size: read(source, start, size)[:4])
    assert "a.txt is being changed. Read it again." in edit(root, "a.txt", "one", "1").text
    assert (folder / "a.txt").read_text() == "one\ntwo\n"


def test_a_line_like_ours_is_refused_after_one_that_the_file_holds(root: Root, folder: Path) -> None:
    """Every line of the new content is checked, not only the first."""
    held, ours = stand_ins.truncated_briefly(None, None), redacted("AKIAIOSFODNN7EXAMPLE")
    (folder / "a.txt").write_text(f"{held}\n")
    assert write(root, "a.txt", f"{held}\n{ours}\n").failed
    assert (folder / "a.txt").read_text() == f"{held}\n"


def test_the_content_of_a_new_file_with_a_secret_name_is_announced_to_nobody(root: Root) -> None:
    """The change is refused before a store could keep the secret."""
    editing = Editing(root)
    assert editing.change("write_file", {"path": ".env", "content": "KEY=1\n"}) is None


def test_an_edit_leaves_nothing_open(root: Root, folder: Path) -> None:
    """Edits open no descriptor that stays open: a run makes hundreds of edits."""
    (folder / "a.txt").write_text("one\n")
    edit(root, "a.txt", "one", "two")
    before = os.listdir("/proc/self/fd")
    edit(root, "a.txt", "two", "three")
    write(root, "b.txt", "new\n")
    edit(root, "b.txt", "not there", "new")
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(
    "call",
    [
        ("edit_file", {"path": "old.txt", "old": "two", "new": "zw\u00f6lf"}),
        ("write_file", {"path": "old.txt", "content": "zw\u00f6lf\n"}),
    ],
)
def test_a_file_of_an_older_encoding_gets_no_utf_8_among_its_bytes(folder: Path, call: Any) -> None:
    """A file in two encodings would be unreadable; plain ASCII is written, and so is anything with an override."""
    (folder / "old.txt").write_bytes(b"eins, dr\xfcben\ntwo\n")
    editing = Editing(Root(folder))
    refused = editing.run(*call)
    assert refused.failed
    assert refused.is_refusal
    assert "not UTF-8" in refused.text
    assert "and \u00f6 would be written" in refused.text
    assert (folder / "old.txt").read_bytes() == b"eins, dr\xfcben\ntwo\n"
    assert not editing.run("edit_file", {"path": "old.txt", "old": "two", "new": "zwei"}).failed
    assert (folder / "old.txt").read_bytes() == b"eins, dr\xfcben\nzwei\n"
    (folder / "old.txt").write_bytes(b"eins, dr\xfcben\ntwo\n")
    assert not editing.run(call[0], {**call[1], "override": True}).failed


@pytest.mark.parametrize(
    ("text", "start", "end", "new", "lines"),
    [
        ("\nab\n", 1, 2, "x", (2, 2, 1)),
        ("\n\nab", 2, 3, "x", (3, 3, 1)),
        ("\nab", 0, 1, "", (1, 1, 0)),
        ("a\nb\nc", 2, 4, "", (2, 2, 0)),
    ],
)
def test_the_lines_of_an_edit_are_those_that_it_replaces(
    text: str, start: int, end: int, new: str, lines: tuple[int, int, int]
) -> None:
    """Lines are counted right after empty lines too; removing whole lines does not touch their neighbours."""
    assert _lines_changed(text, start, end, new) == lines


@pytest.mark.parametrize(
    ("name", "required"), [("edit_file", ["path", "old", "new"]), ("write_file", ["path", "content"])]
)
def test_what_a_model_is_told_that_it_may_leave_out(name: str, required: list[str]) -> None:
    """Only `override` may be left out."""
    (schema,) = [tool.schema() for tool in TOOLS if tool.name == name]
    properties: Any = schema["properties"]
    assert schema["required"] == required
    assert {one: field["default"] for one, field in properties.items() if "default" in field} == {"override": False}
    assert {field["type"] for one, field in properties.items() if one != "override"} == {"string"}
