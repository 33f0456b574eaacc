"""What happened to the files while nobody was watching? Each change is reported as what it is, by content."""

from __future__ import annotations

import json
import os
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.leftovers import nothing_left_open

from penstock import CallerError, Workspace
from penstock.agent import file_check
from penstock.agent.file_check import STATES, Tracked, Verified, report, snapshot, verify
from penstock.session.ledger import Ledger, shown
from penstock.workspace import system
from penstock.workspace.deadline import Deadline
from penstock.workspace.root import Root
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.proves("S-10")

LONG_AGO = 1_000_000_000
TEXT = "one\ntwo\nthree\n"


def age(path: Path, seconds: int = LONG_AGO) -> None:
    """Set the access and modification times, which can be set."""
    os.utime(path, ns=(seconds * 10**9, seconds * 10**9))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a root with two equal files, and a neighbour outside it with an equal one."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.py").write_text(TEXT)
    made = tmp_path / "in"
    made.mkdir()
    (made / "a.py").write_text(TEXT)
    (made / "b.py").write_text(TEXT)
    return made


@pytest.fixture(params=["openat2", "walk"])
def root(request: pytest.FixtureRequest, folder: Path) -> Iterator[Root]:
    """Open the root, with either way of confining paths."""
    if request.param == "openat2" and not system.openat2_works():
        pytest.skip("this kernel has no openat2")
    made = Root(folder, confinement=request.param)
    yield made
    made.close()


def modified() -> Ledger:
    """Return the ledger of a session that was changing a.py."""
    return Ledger().modified("a.py", "", turn=3)


def stored(tracked: tuple[Tracked, ...]) -> tuple[Tracked, ...]:
    """Return the same tracked files, passed through the JSON of a handoff."""
    return tuple(Tracked.from_dict(item) for item in json.loads(json.dumps([item.to_dict() for item in tracked])))


def after(root: Root, change: Callable[[], object], *, strict: bool = False, settled: bool = False) -> Verified:
    """Return what is reported about a.py after a change that followed the snapshot."""
    tracked = stored(snapshot(root, ["a.py"], modified()))
    if settled:
        tracked = tuple(Tracked.from_dict(item.to_dict() | {"is_settled": True}) for item in tracked)
    change()
    (verified,) = verify(root, tracked, strict=strict)
    return verified


def replaced_by(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


# ── each change, as what it is ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("strict", [False, True])
def test_a_file_that_nobody_touched_is_the_same(root: Root, strict: bool) -> None:
    """An untouched file is the same, and has no reason."""
    assert after(root, lambda: None, strict=strict)[1:] == ("same", "")


def test_a_file_that_was_edited_is_changed(root: Root, folder: Path) -> None:
    """The reason gives both sizes."""
    found = after(root, lambda: (folder / "a.py").write_text(TEXT + "four\n"))
    assert found[1:] == ("changed", "it had 14 bytes and has 19")
    assert found.must_be_read


def test_a_file_that_was_deleted_is_missing(root: Root, folder: Path) -> None:
    """A missing file need not be read again."""
    found = after(root, (folder / "a.py").unlink)
    assert (found.state, found.must_be_read) == ("missing", False)


@pytest.mark.parametrize(
    ("make", "reason"),
    [(lambda path: path.mkdir(), "a.py is a folder, not a file."), (os.mkfifo, "not_regular_file: fifo.")],
    ids=["folder", "fifo"],
)
def test_what_is_no_file_any_more_is_changed_and_not_opened(
    root: Root, folder: Path, make: Callable[[Path], object], reason: str
) -> None:
    """A folder or a FIFO in place of the file is named; nothing waits for a writer."""
    found = after(root, lambda: replaced_by(folder / "a.py", make))
    assert found.state == "changed"
    assert reason in found.reason


@pytest.mark.parametrize("strict", [False, True])
def test_the_same_size_and_time_with_other_content_is_found(root: Root, folder: Path, strict: bool) -> None:
    """Restored times do not hide a write, because the change time cannot be restored."""
    age(folder / "a.py")

    def forged() -> None:
        (folder / "a.py").write_text(TEXT.upper())
        age(folder / "a.py")

    before = os.stat(folder / "a.py")
    found = after(root, forged, strict=strict, settled=True)
    now = os.stat(folder / "a.py")
    assert (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert found[1:] == ("changed", "its content changed, its size did not")


def test_a_write_within_the_step_of_the_clock_is_found(root: Root, folder: Path) -> None:
    """A file that was young when it was hashed is hashed again, whatever its times say."""
    (tracked,) = snapshot(root, ["a.py"], modified())
    assert not tracked.is_settled
    (folder / "a.py").write_text(TEXT.upper())
    now = os.stat(folder / "a.py")
    same_times = tracked.to_dict() | {"mtime_ns": now.st_mtime_ns, "ctime_ns": now.st_ctime_ns}
    (found,) = verify(root, [Tracked.from_dict(same_times)])
    assert found[1:] == ("changed", "its content changed, its size did not")


def test_the_rule_of_the_clock_is_two_seconds(root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times older than the step of the coarsest clock settle a file; younger and future times do not."""
    status = os.stat(folder / "a.py")
    newest = max(status.st_mtime_ns, status.st_ctime_ns)
    for ahead_ns, settled in ((-1, False), (2_000_000_000, False), (2_000_000_001, True)):
        monkeypatch.setattr(time, "time_ns", lambda ahead=ahead_ns: newest + ahead)
        (tracked,) = snapshot(root, ["a.py"], modified())
        assert tracked.is_settled is settled


def test_a_settled_file_is_not_read_unless_strictly(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast path opens a file and reads its status; only `strict` reads content."""
    (tracked,) = snapshot(root, ["a.py"], modified())
    settled = Tracked.from_dict(tracked.to_dict() | {"is_settled": True})
    reads: list[int] = []
    real = FileSource.read

    def counting(self: Any, start_byte: int, count_bytes: int) -> bytes:
        reads.append(start_byte)
        return real(self, start_byte, count_bytes)

    monkeypatch.setattr(FileSource, "read", counting)
    assert verify(root, [settled])[0].state == "same"
    assert reads == []
    assert verify(root, [settled], strict=True)[0].state == "same"
    assert reads != []


def test_a_file_that_was_only_touched_is_the_same(root: Root, folder: Path) -> None:
    """Content decides; a copy of the tree is the same tree."""

    def copied() -> None:
        shutil.copy(folder / "a.py", folder / "new")
        (folder / "new").replace(folder / "a.py")
        age(folder / "a.py")

    assert after(root, copied, settled=True)[1:] == ("same", "")


def test_a_changed_mode_is_told_of_a_file_that_is_the_same(root: Root, folder: Path) -> None:
    """A changed mode is reported, but is not a change of content."""
    (folder / "a.py").chmod(0o644)
    found = after(root, lambda: (folder / "a.py").chmod(0o755), settled=True)
    assert found[1:] == ("same", "only its mode changed, from 644 to 755")


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (b"a\nb\n", b"a\r\nb\r\n"),
        (b"a\r\nb\r\n", b"a\nb\n"),
        (b"a\r\nb\n", b"a\nb\r\n"),
        (b"x" * ((1 << 20) - 1) + b"\n", b"x" * ((1 << 20) - 1) + b"\r\n"),  # the CR LF is split across two blocks
    ],
)
def test_changed_line_ends_are_called_that(root: Root, folder: Path, then: bytes, now: bytes) -> None:
    """Changes in either direction and of mixed line ends are recognised, also at a block's end."""
    (folder / "a.py").write_bytes(then)
    found = after(root, lambda: (folder / "a.py").write_bytes(now))
    assert found[1:] == ("changed", "only its line ends changed")


@pytest.mark.parametrize(("then", "now"), [(b"a\nb", b"a\rb"), (b"a\r\nb", b"a\n\nb"), (b"a\n", b"a\r\n\r")])
def test_what_is_no_change_of_line_ends_is_not_called_that(root: Root, folder: Path, then: bytes, now: bytes) -> None:
    """A lone carriage return is not a line end."""
    (folder / "a.py").write_bytes(then)
    found = after(root, lambda: (folder / "a.py").write_bytes(now))
    assert found.state == "changed"
    assert "line ends" not in found.reason


def test_a_link_that_leads_out_is_never_followed(root: Root, folder: Path, tmp_path: Path) -> None:
    """The file outside is not read, although it is equal byte for byte."""
    outside = tmp_path / "outside" / "a.py"
    found = after(root, lambda: replaced_by(folder / "a.py", lambda path: path.symlink_to(outside)))
    assert found.state == "unreadable"
    assert "was not opened" in found.reason


def test_a_link_to_a_file_of_the_same_content_is_a_change(root: Root, folder: Path) -> None:
    """An edit of one file would change the other; if no link is followed at all, the reason says so."""
    found = after(root, lambda: replaced_by(folder / "a.py", lambda path: path.symlink_to("b.py")))
    expected = ("changed", "it is a link to b.py") if root.confinement == "openat2" else ("unreadable", found.reason)
    assert found[1:] == expected
    assert "link" in found.reason


def test_a_folder_on_the_way_that_was_swapped_for_a_link(root: Root, folder: Path, tmp_path: Path) -> None:
    """A folder replaced by a link is not followed out of the root; if it leads to another folder inside, that is a change."""
    for name in ("sub", "twin"):
        (folder / name).mkdir()
        (folder / name / "x").write_text(TEXT)
    (tmp_path / "outside" / "x").write_text(TEXT)
    tracked = snapshot(root, ["sub/x"], Ledger())
    (folder / "sub").rename(folder / "old")
    (folder / "sub").symlink_to(tmp_path / "outside")
    assert verify(root, tracked)[0].state == "unreadable"
    (folder / "sub").unlink()
    (folder / "sub").symlink_to("twin")
    assert verify(root, tracked)[0].state == ("changed" if root.confinement == "openat2" else "unreadable")


def test_a_link_is_followed_inside_the_root_and_remembered(folder: Path, root: Root) -> None:
    """The same link to the same content is the same; another target, or a file in its place, is a change."""
    link = folder / "link"
    link.symlink_to("a.py")
    tracked = stored(snapshot(root, ["link"], Ledger()))
    if root.confinement == "walk":  # this confinement follows no links
        assert (tracked[0].kind, verify(root, tracked)[0].state) == ("unreadable", "unreadable")
        return
    assert tracked[0].target == "a.py"
    assert verify(root, tracked)[0].state == "same"
    replaced_by(link, lambda path: path.symlink_to("b.py"))
    assert verify(root, tracked)[0][1:] == ("changed", "it is a link to b.py and was one to a.py")
    replaced_by(link, lambda path: path.write_text(TEXT))
    assert verify(root, tracked)[0][1:] == ("changed", "it was a link to a.py and is a file of its own")


def test_a_file_where_there_was_none_is_new(root: Root, folder: Path) -> None:
    """A file that the session deleted and somebody made again has to be read; one that is still gone is the same."""
    (folder / "a.py").unlink()
    tracked = stored(snapshot(root, ["a.py", "never"], Ledger().deleted("a.py")))
    assert [item.state for item in verify(root, tracked)] == ["same", "same"]
    (folder / "a.py").write_text("again")
    (folder / "never").mkdir()
    found = verify(root, tracked)
    assert [(item.state, item.must_be_read) for item in found] == [("new", True), ("new", False)]


def test_what_could_not_be_read_then_cannot_be_compared(root: Root, folder: Path) -> None:
    """A file that could not be read at the snapshot is never called the same."""
    (folder / "a.py").rename(folder / "kept")
    (folder / "a.py").mkdir()
    tracked = stored(snapshot(root, ["a.py", ".env", "../outside/a.py"], modified()))
    assert [item.kind for item in tracked] == ["other", "unreadable", "unreadable"]
    assert [item.state for item in verify(root, tracked)] == ["unreadable"] * 3
    (folder / "a.py").rmdir()
    (folder / "kept").rename(folder / "a.py")
    (found, *_) = verify(root, tracked)
    assert found[1:] == ("unreadable", "it had not been read, so that there is nothing to compare it with")


def test_credentials_are_not_even_hashed(root: Root, folder: Path) -> None:
    """A digest of a short secret would give it away."""
    (folder / ".env").write_text("TOKEN=1")
    (tracked,) = snapshot(root, [".env"], Ledger())
    assert (tracked.kind, tracked.sha256) == ("unreadable", "")
    assert "credentials" in verify(root, [tracked])[0].reason


# ── what the session knew ────────────────────────────────────────────────────────────────────────────────────────


def test_a_snapshot_holds_what_the_ledger_knows(folder: Path) -> None:
    """A snapshot has the role and the shown lines, once per path, in the order asked; a `Workspace` works as well as its root."""
    workspace = Workspace(folder)
    page = workspace.view("a.py", limit=2)
    ledger = Ledger().after(shown(page)).read("b.py", "another version", 1, 3, 3)
    tracked = stored(snapshot(workspace.root, ["b.py", "./a.py", "a.py"], ledger))
    assert [(item.path, item.role, item.seen, item.is_known) for item in tracked] == [
        ("b.py", "read", (), False),
        ("a.py", "read", ((1, 2),), True),
    ]
    assert [item.state for item in verify(workspace.root, tracked)] == ["changed", "same"]


def test_a_change_before_the_checkpoint_is_not_lost(root: Root, folder: Path) -> None:
    """A change between the model's last look and the checkpoint is still news to the model."""
    page = Workspace(folder).view("a.py")
    ledger = Ledger().after(shown(page)).modified("a.py", page.version, is_whole=True, total_lines=3)
    (folder / "a.py").write_text("other\n")
    (found,) = verify(root, stored(snapshot(root, ["a.py"], ledger)))
    assert found[1:] == ("changed", "when the session stopped it was already not what had been shown of it")
    assert found.must_be_read


def test_a_digest_outranks_the_time_stamps_of_a_checkpoint(root: Root, folder: Path) -> None:
    """A file that was only touched before the checkpoint is still the one that the session wrote."""
    (found,) = snapshot(root, ["a.py"], Ledger())
    ledger = Ledger().modified("a.py", "a version from before", digest=found.sha256, is_whole=True, total_lines=3)
    age(folder / "a.py")
    (tracked,) = snapshot(root, ["a.py"], ledger)
    assert (tracked.is_known, tracked.seen) == (True, ((1, 3),))


@pytest.mark.parametrize(
    ("ledger", "exists", "state"),
    [
        (Ledger().modified("a.py", "v"), False, "missing"),
        (Ledger().deleted("a.py"), True, "new"),
    ],
)
def test_gone_or_back_before_the_checkpoint(root: Root, folder: Path, ledger: Ledger, exists: bool, state: str) -> None:
    """Missing and new are relative to what the session knew, not only to its checkpoint."""
    if not exists:
        (folder / "a.py").unlink()
    (found,) = verify(root, snapshot(root, ["a.py"], ledger))
    assert found.state == state


@pytest.mark.parametrize(
    ("role", "state", "expected"),
    [
        ("read", "changed", False),
        ("modified", "changed", True),
        ("created", "changed", True),
        ("deleted", "new", True),
        ("modified", "same", False),
        ("modified", "missing", False),
        ("modified", "unreadable", False),
    ],
)
def test_only_what_is_being_modified_and_has_changed_is_read_again(role: Any, state: Any, expected: bool) -> None:
    """Other changes are reported but need no reading."""
    assert Verified(Tracked(path="a", role=role), state).must_be_read is expected


# ── time, size, and files that move ──────────────────────────────────────────────────────────────────────────────


def test_past_the_deadline_nothing_is_claimed(root: Root, folder: Path) -> None:
    """Without a digest there is no verdict, at the checkpoint or later, except that a different size proves a change."""
    tracked = snapshot(root, ["a.py"], modified())
    (found,) = verify(root, tracked, strict=True, deadline=Deadline(0))
    assert found[1:] == ("unreadable", "the time was up before all of it was read")
    (late,) = stored(snapshot(root, ["a.py"], modified(), deadline=Deadline(0)))
    assert (late.kind, late.sha256) == ("unreadable", "")
    assert verify(root, [late])[0].state == "unreadable"
    (folder / "a.py").write_text("longer than before it was")
    assert verify(root, [late])[0].state == "changed"
    assert verify(root, tracked, deadline=Deadline(0))[0].state == "changed"


def test_a_large_file_does_not_take_the_time_of_the_others(
    root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest files are hashed first, and results keep their order."""
    with (folder / "large").open("wb") as file:
        file.truncate(64 << 20)
    names = ["large", "a.py", "b.py"]
    tracked = snapshot(root, names, Ledger())
    looked: list[str] = []
    real = file_check._look

    def looking(root: Root, path: str, *rest: Any) -> Any:
        looked.append(path)
        return real(root, path, *rest)

    monkeypatch.setattr(file_check, "_look", looking)
    found = verify(root, tracked, strict=True)
    assert [item.tracked.path for item in found] == names
    assert looked[-1] == "large"


def test_a_file_that_changes_while_it_is_read_is_not_hashed(
    root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A digest of two halves would be that of no file; a file that stops changing is read again."""
    times = [10]
    real = file_check._digests

    def written_meanwhile(source: Any, deadline: Deadline) -> Any:
        made = real(source, deadline)
        if times[0]:
            times[0] -= 1
            with (folder / "a.py").open("a") as file:
                file.write("more\n")
        return made

    monkeypatch.setattr(file_check, "_digests", written_meanwhile)
    (tracked,) = snapshot(root, ["a.py"], modified())
    assert (tracked.kind, tracked.reason) == ("unreadable", "it is being written to")
    times[0] = 1
    (tracked,) = snapshot(root, ["a.py"], modified())
    assert (tracked.kind, tracked.size_bytes) == ("file", os.stat(folder / "a.py").st_size)


def test_a_fault_of_the_disk_is_named(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason gives the fault and claims nothing about the content."""
    tracked = snapshot(root, ["a.py"], modified())

    def failing(*_: Any) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(FileSource, "read", failing)
    (found,) = verify(root, tracked, strict=True)
    assert found[1:] == ("unreadable", "a.py cannot be read: Input/output error.")


def test_no_descriptor_is_left_open(root: Root, folder: Path) -> None:
    """No check leaves a descriptor open, whatever it finds."""
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to("loop")
    names = ["a.py", "fifo", "loop", "nothing", ".", "../x", "", "\0"]
    with nothing_left_open():
        with pytest.raises(CallerError):
            snapshot(root, names, Ledger())
        names.remove("")
        for _ in range(3):
            tracked = snapshot(root, names, Ledger())
            assert len(verify(root, tracked, strict=True)) == len(names)


names = st.sampled_from(["a", "b", "c"])
contents = st.sampled_from(["", "x\n", "y\n", "x\r\n", "long\n"])


@given(
    then=st.dictionaries(names, contents, max_size=3),
    now=st.dictionaries(names, contents, max_size=3),
    strict=st.booleans(),
)
def test_any_two_trees_are_compared_as_a_plain_model_does(
    tmp_path_factory: pytest.TempPathFactory, then: dict[str, str], now: dict[str, str], strict: bool
) -> None:
    """Each file of any two trees has the state that comparing their contents gives."""
    folder = tmp_path_factory.mktemp("tree")
    for name, text in then.items():
        (folder / name).write_text(text, newline="")
    workspace = Workspace(folder)
    tracked = stored(snapshot(workspace.root, "abc", Ledger()))
    for name in "abc":
        (folder / name).unlink(missing_ok=True)
        if name in now:
            (folder / name).write_text(now[name], newline="")
    found = {item.tracked.path: item for item in verify(workspace.root, tracked, strict=strict)}
    workspace.root.close()
    for name in "abc":
        one, other = then.get(name), now.get(name)
        expected = "same" if one == other else "missing" if other is None else "new" if one is None else "changed"
        assert found[name].state == expected
        is_by_line_ends = expected == "changed" and {one, other} == {"x\n", "x\r\n"}
        assert (found[name].reason == "only its line ends changed") is is_by_line_ends


# ── the report ───────────────────────────────────────────────────────────────────────────────────────────────────


def told(*items: tuple[str, Any, Any, str]) -> list[Verified]:
    return [Verified(Tracked(path=path, role=role), state, reason) for path, role, state, reason in items]


def test_the_report_says_what_to_read_again_first() -> None:
    """The report has counts, then what has to be read with the call that shows it, then the rest, modified files first."""
    verified = told(
        ("docs.md", "read", "changed", "its content changed, its size did not"),
        ("b.py", "read", "same", ""),
        ("a.py", "modified", "changed", "only its line ends changed"),
        ("gone.py", "modified", "missing", ""),
        ("run.sh", "read", "same", "only its mode changed, from 644 to 755"),
    )
    assert (
        report(verified)
        == """\
Files since the session last saw them: 2 same, 2 changed, 1 missing.
Read these again before you continue: you were changing them, and they are not what you knew:
- a.py: changed, only its line ends changed | view(file_path="a.py")
Not as they were either:
- gone.py: missing
- docs.md: changed, its content changed, its size did not
- run.sh: same, only its mode changed, from 644 to 755"""
    )


def test_a_report_of_nothing_is_a_sentence() -> None:
    """Nothing known and nothing changed give one sentence each."""
    assert report([]) == "Files since the session last saw them: none was known."
    same = told(("a.py", "modified", "same", ""))
    assert report(same) == "Files since the session last saw them: 1 same."


@given(
    st.lists(
        st.tuples(
            st.text(max_size=300), st.sampled_from(["read", "modified"]), st.sampled_from(STATES), st.text(max_size=300)
        ),
        max_size=60,
    ),
    st.integers(0, 3000),
)
def test_a_report_is_bounded_and_inert(items: list[tuple[str, Any, Any, str]], max_chars: int) -> None:
    """However many files there are and whatever their names, the report fits, without control characters or forged rows."""
    text = report(told(*items), max_chars=max_chars)
    assert len(text) <= max_chars
    assert all(character == "\n" or character.isprintable() or ord(character) > 0x9F for character in text)
    starts = ("- ", "Files since", "Read these again", "Not as they were")
    assert all(line.startswith(starts) for line in text.split("\n")[:-1])


def test_what_has_no_room_is_counted() -> None:
    """A last row gives the number of files that have no room."""
    many = told(*((f"{number}.py", "modified", "changed", "") for number in range(100)))
    text = report(many, max_chars=400)
    shown_rows = text.count("view(")
    assert 0 < shown_rows < 100
    assert f"- … {100 - shown_rows} more" in text


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_tracked_file_comes_back_as_it_went(root: Root, folder: Path) -> None:
    """Any tracked file survives a round trip through JSON."""
    (folder / "crlf").write_bytes(b"a\r\n")
    ledger = Ledger().read("crlf", "", 1, 1, 1).deleted("gone")
    tracked = snapshot(root, ["a.py", "crlf", "gone", ".", "../x"], ledger)
    assert stored(tracked) == tracked
    assert {item.kind for item in tracked} == {"file", "missing", "other", "unreadable"}


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"path": 5},
        {"path": "a", "kind": "file"},  # without a digest
        {"path": "a", "kind": "eaten"},
        {"path": "a", "kind": "missing", "role": "eaten"},
        {"path": "a", "kind": "missing", "size_bytes": "5"},
        {"path": "a", "kind": "missing", "size_bytes": -5},
        {"path": "a", "kind": "missing", "is_known": 1},
        {"path": "a", "kind": "missing", "seen": [[3, 1]]},
        {"path": "a", "kind": "missing", "seen": [["1", "3"]]},
        {"path": "a", "kind": "missing", "seen": 7},
        {"path": "a", "kind": "missing", "surprise": 1},
        [],
    ],
)
def test_what_is_no_tracked_file_is_refused(value: Any) -> None:
    """A handoff that somebody edited is reported, not believed."""
    with pytest.raises(CallerError):
        Tracked.from_dict(value)
