"""Is a user's own file replaced as a whole, or not at all?"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from tests.leftovers import nothing_left_open

from penstock.errors import CallerError, ToolError
from penstock.workspace import own_files, renames, system
from penstock.workspace.own_files import (
    IrregularFileError,
    OwnFolder,
    alone_in_own,
    append_own,
    change_own,
    create_own,
    extend_own,
    home_folder,
    make_folders,
    open_regular,
    own_files_like,
    read_own,
    remove_empty_folders,
    replace_drawn,
    replace_own,
    write_to_system,
)
from penstock.workspace.scratch import PrivateFolder, scratch_file

if TYPE_CHECKING:
    from collections.abc import Callable

OLD, NEW = b"old\n" * 5, b"new\n" * 50_000
STEPS = [
    ("open", 1, OLD),
    ("open", 2, OLD),
    ("write", 1, OLD),
    ("write", 2, OLD),
    ("fsync", 1, OLD),
    ("close", 1, OLD),
    ("replace", 1, OLD),
    ("fsync", 2, NEW),
    ("close", 2, NEW),
]
"""The system calls that a replacement makes, and the content if one fails."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "handoff.json"
    file.write_bytes(OLD)
    return file


def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a disk that takes 150,000 bytes at a time."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:150_000]))


def test_the_file_is_replaced_and_private(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has all of the content, for its user only, with nothing left next to it; also if it is new, and in the current folder."""
    pieces(monkeypatch)
    monkeypatch.chdir(file.parent)
    file.chmod(0o644)
    for path in (str(file), "other.json", "other.json"):
        replace_own(path, NEW)
        assert (file.parent / path).read_bytes() == NEW
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir()) == ["handoff.json", "other.json"]


def test_a_link_is_replaced_and_not_followed(file: Path) -> None:
    """What it leads to stays as it is."""
    link = file.parent / "link.json"
    link.symlink_to(file.name)
    replace_own(str(link), NEW)
    assert (file.read_bytes(), link.read_bytes(), link.is_symlink()) == (OLD, NEW, False)


@pytest.mark.parametrize(("call", "time", "left"), STEPS, ids=lambda value: str(value)[:8])
@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_failure_at_any_step_leaves_the_old_or_the_new(
    file: Path, monkeypatch: pytest.MonkeyPatch, call: str, time: int, left: bytes, failure: BaseException
) -> None:
    """Nothing else is ever there, nothing is left next to it, and no descriptor stays open."""
    pieces(monkeypatch)
    real, calls = getattr(os, call), []

    def failing(*args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == time:
            if call == "close":
                real(*args)  # the system closes a descriptor even when it reports an error
            raise failure
        return real(*args, **options)

    with nothing_left_open(), monkeypatch.context() as broken:
        broken.setattr(os, call, failing)
        with pytest.raises(type(failure)):
            replace_own(str(file), NEW)
    assert file.read_bytes() == left
    assert os.listdir(file.parent) == [file.name]


def test_the_content_is_flushed_before_its_name_and_the_name_after(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This order makes a power cut harmless."""
    done: list[str] = []

    def noted(name: str) -> None:
        real = getattr(os, name)

        def call(*args: Any, **options: Any) -> Any:
            done.append(name)
            return real(*args, **options)

        monkeypatch.setattr(os, name, call)

    for name in ("write", "fsync", "replace"):
        noted(name)
    replace_own(str(file), b"new")
    assert done == ["write", "fsync", "replace", "fsync"]


def _in_place(file: Path) -> None:
    with mock.patch.object(renames, "exchange", side_effect=OSError(errno.EBUSY, os.strerror(errno.EBUSY))):
        change_own(str(file), NEW, OLD)


@pytest.mark.parametrize(
    "act",
    [
        lambda file: replace_own(str(file), NEW),
        lambda file: change_own(str(file), NEW, OLD),
        _in_place,
        lambda file: change_own(str(file.with_name("another")), NEW, None),
        lambda file: change_own(str(file), None, OLD),
    ],
    ids=["own", "known", "in place", "made", "removed"],
)
def test_a_reported_write_survives_a_power_cut(
    file: Path, monkeypatch: pytest.MonkeyPatch, act: Callable[[Path], None]
) -> None:
    """On a disk that has only what was flushed, the names and contents are right after each folder change and at the end."""

    def listed() -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in file.parent.iterdir()}

    names, contents = listed(), {file.stat().st_ino: OLD}
    fsync = os.fsync

    def flushed(descriptor: int) -> None:
        fsync(descriptor)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            names.clear()
            names.update(listed())
            assert names.keys() <= {"handoff.json", "another"}
        else:
            (whole,) = (path for path in file.parent.iterdir() if path.stat().st_ino == status.st_ino)
            contents[status.st_ino] = whole.read_bytes()

    monkeypatch.setattr(os, "fsync", flushed)
    act(file)
    assert names == listed()
    stands = {path.name: path.read_bytes() for path in file.parent.iterdir()}
    assert {name: contents[at] for name, at in names.items()} == stands


@pytest.mark.parametrize("path", ["", "folder", "folder/", "nothing/file"])
def test_a_path_that_names_no_file_is_an_error_of_the_system(file: Path, path: str) -> None:
    """A folder is not replaced by a file, and no file is made."""
    (file.parent / "folder").mkdir()
    with pytest.raises(OSError, match=r"\[Errno"):
        replace_own(str(file.parent / path) + ("/" if path.endswith("/") else ""), NEW)
    assert sorted(os.listdir(file.parent)) == ["folder", "handoff.json"]
    assert os.listdir(file.parent / "folder") == []


@pytest.mark.skipif(os.name == "nt", reason="there a file has to be writable for that")
def test_what_is_flushed_is_opened_only_for_reading(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be written, or that is being executed, can be flushed as well."""
    opened: list[int] = []
    real = os.open

    def watched(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        opened.append(flags)
        return real(path, flags, *arguments, **named)

    folder = OwnFolder(str(file.parent))
    monkeypatch.setattr(os, "open", watched)
    with nothing_left_open():
        folder.flush(file.name)
    folder.close()
    assert opened
    assert {flags & os.O_ACCMODE for flags in opened} == {os.O_RDONLY}


# ── files of the user's that others made ─────────────────────────────────────────────────────────────────────────


def _known(file: Path) -> tuple[int, int, int, int]:
    status = file.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def test_what_is_appended_to_a_file_is_appended_whole(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds however little the disk takes at a time; a file that has changed gets nothing."""
    known, real = _known(file), os.fdopen

    def little(descriptor: int, mode: str, buffering: int) -> Any:
        opened = real(descriptor, mode, buffering)
        write = opened.write
        slow = mock.MagicMock(wraps=opened)
        slow.__enter__.return_value = slow
        slow.__exit__.side_effect = lambda *_: opened.close()
        slow.write.side_effect = lambda data: write(data[:3])
        return slow

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", little)
        assert append_own(str(file), b"a longer line\n", known)
    assert file.read_bytes() == OLD + b"a longer line\n"
    assert not append_own(str(file), b"more", known)
    assert file.read_bytes() == OLD + b"a longer line\n"


def test_nothing_comes_behind_what_is_not_a_file(tmp_path: Path) -> None:
    """A pipe without a reader is refused at once."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        append_own(str(tmp_path / "pipe"), b"new\n", _known(tmp_path / "pipe"))


def test_what_cannot_be_appended_whole_is_not_appended(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk fills up, the part is taken back, but not what others appended meanwhile."""

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(system, "flush", full)
    with pytest.raises(OSError, match="No space left"):
        append_own(str(file), b"new\n", _known(file))
    assert file.read_bytes() == OLD

    def full_and_written_by_others(descriptor: int) -> None:
        with file.open("ab") as other:
            other.write(b"theirs\n")
        full(descriptor)

    monkeypatch.setattr(system, "flush", full_and_written_by_others)
    with pytest.raises(OSError, match="No space left"):
        append_own(str(file), b"new\n", _known(file))
    assert file.read_bytes() == OLD + b"new\ntheirs\n"


def test_a_file_is_changed_only_from_what_it_was(file: Path) -> None:
    """It is made, replaced and removed; if somebody was quicker, their content stays."""
    path, new = str(file), file.parent / "new.json"
    assert change_own(str(new), b"{}", None, 0o640) == ()
    assert (new.read_bytes(), stat.S_IMODE(new.stat().st_mode)) == (b"{}", 0o640)
    with pytest.raises(ToolError, match="was made by someone else meanwhile"):
        change_own(str(new), b"[]", None)
    change_own(path, b"second", OLD)
    assert file.read_bytes() == b"second"
    for content in (b"third", None):
        with pytest.raises(ToolError) as caught:
            change_own(path, content, OLD)
        assert caught.value.code == "stale"
        assert file.read_bytes() == b"second"
    change_own(path, None, b"second")
    assert not file.exists()
    change_own(path, None, None)
    assert sorted(os.listdir(file.parent)) == ["new.json"]


def test_folders_that_are_missing_are_made_and_empty_ones_removed(tmp_path: Path) -> None:
    """The outermost comes first; what existed, or is not empty, stays."""
    deep = tmp_path / "a" / "b" / "c"
    (tmp_path / "a").mkdir()
    made = make_folders(str(deep))
    assert made == [str(tmp_path / "a" / "b"), str(deep)]
    assert deep.is_dir()
    assert make_folders(str(deep)) == []
    (tmp_path / "a" / "b" / "file").touch()
    remove_empty_folders(made)
    assert not deep.exists()
    assert (tmp_path / "a" / "b" / "file").exists()


def test_a_drawn_page_replaces_its_like_alone(file: Path) -> None:
    """Another file, a pipe or a folder stays as it is; a page, an empty file and a link to one are replaced."""
    page = b"<!doctype html>\n<p>new"
    with pytest.raises(CallerError, match="is not such a page or picture"):
        replace_drawn(str(file), page)
    os.mkfifo(file.parent / "pipe")
    with pytest.raises(CallerError, match=r"pipe cannot be replaced: .*Name another file"):
        replace_drawn(str(file.parent / "pipe"), page)
    assert file.read_bytes() == OLD
    picture = b'<svg width="9" xmlns="http://www.w3.org/2000/svg"/>'
    for old, new in [
        (b"", page),
        (b"<!DOCTYPE html>\n<p>old", page),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', picture),
    ]:
        file.write_bytes(old)
        replace_drawn(str(file), new)
        assert file.read_bytes() == new
    for old, new in [(picture, page), (page, picture), (b"<!-- a note", page)]:
        file.write_bytes(old)
        with pytest.raises(CallerError, match="is not such a page or picture"):
            replace_drawn(str(file), new)
        assert file.read_bytes() == old
    file.write_bytes(page)
    (file.parent / "link").symlink_to(file.name)
    replace_drawn(str(file.parent / "link"), page + b"er")
    assert (file.parent / "link").is_symlink()
    assert file.read_bytes() == page + b"er"


def test_a_file_that_takes_no_other_name_is_written_in_place(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container mounts a single file: a rename over it is `EBUSY`, so it stays the same file."""

    def busy(*_: object) -> bool:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    def saved_and_busy(*_: object) -> bool:
        file.write_bytes(b"theirs")
        return busy()

    with monkeypatch.context() as late:
        late.setattr(renames, "exchange", saved_and_busy)
        with pytest.raises(ToolError, match="changed"):
            change_own(str(file), NEW, OLD)
        assert file.read_bytes() == b"theirs"
        file.write_bytes(OLD)
    monkeypatch.setattr(renames, "exchange", busy)
    inode = file.stat().st_ino
    change_own(str(file), NEW, OLD)
    assert (file.read_bytes(), file.stat().st_ino) == (NEW, inode)
    change_own(str(file), OLD, NEW)
    assert file.read_bytes() == OLD, "a shorter one ends where it ends"
    with pytest.raises(ToolError, match="changed"):
        change_own(str(file), NEW, b"another")
    write_at = system.write_at

    def full(descriptor: int, piece: memoryview, at: int) -> int:
        if len(piece) == len(NEW) - 7:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_at(descriptor, piece[:7], at)

    monkeypatch.setattr(system, "write_at", full)
    with pytest.raises(OSError, match="No space left"):
        change_own(str(file), NEW, OLD)
    assert file.read_bytes() == OLD, "what was there comes back"
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.skipif(not system.HAS_FOLDER_DESCRIPTORS, reason="no folder can be locked")
def test_the_private_folder_of_a_killed_process_goes_with_the_next(tmp_path: Path) -> None:
    """A folder in use stays, and so does what somebody else made."""
    other = tmp_path / ".penstock-notes"
    other.mkdir()
    other.chmod(0o755)
    named = tmp_path / "penstock-notes"  # nor something equally private under another name
    named.mkdir(mode=0o700)
    script = (
        "import sys; from penstock.workspace.scratch import PrivateFolder\n"
        "with PrivateFolder(sys.argv[1]) as folder: print(folder.path, flush=True), sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        left = Path(killed.stdout.readline().strip())
        (left / "page").write_text("half")
        with PrivateFolder(str(tmp_path)) as mine:
            assert left.exists()
            killed.kill()
            killed.wait()
            with PrivateFolder(str(tmp_path)) as second:
                assert {path.name for path in tmp_path.iterdir()} == {
                    other.name,
                    named.name,
                    os.path.basename(mine.path),
                    os.path.basename(second.path),
                }
    assert sorted(tmp_path.iterdir()) == [other, named]


class Listed:
    """The result of `os.scandir`, as it gives it."""

    def __init__(self, entries: list[os.DirEntry[str]]) -> None:
        self._entries = iter(entries)

    def __enter__(self) -> Listed:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing, as nothing is open."""

    def __iter__(self) -> Listed:
        return self

    def __next__(self) -> os.DirEntry[str]:
        return next(self._entries)


@pytest.mark.skipif(not system.HAS_FOLDER_DESCRIPTORS, reason="folders are named by their paths there")
def test_a_private_folder_that_goes_takes_nothing_beyond_a_link_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that lives on may swap a folder of its HOME for a link, just after HOME has been listed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("mine")
    folder = PrivateFolder(str(tmp_path))
    inner = Path(folder.path) / "inner"
    inner.mkdir()
    listing = os.scandir

    def swapped(at: Any) -> Any:
        entries = list(listing(at))
        if inner.exists() and not inner.is_symlink():
            inner.rename(tmp_path / "aside")
            inner.symlink_to(outside)
        return Listed(entries)

    monkeypatch.setattr(os, "scandir", swapped)
    folder.close()
    monkeypatch.undo()
    assert (outside / "kept").read_text() == "mine"


def test_what_can_be_removed_is_given_no_other_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a command made inaccessible is opened for it."""
    folder = PrivateFolder(str(tmp_path))
    (Path(folder.path) / "inner").mkdir(0o500)
    opened: list[Any] = []
    monkeypatch.setattr(os, "chmod", lambda *given, **_: opened.append(given))
    folder.close()
    assert not os.path.lexists(folder.path)
    assert opened == []


def test_what_is_read_of_the_users_own_is_a_file_or_says_what_is_wrong(file: Path) -> None:
    """A missing file gives None; a path that leads through a file, and anything but a file, get an error."""
    assert read_own(str(file)) == OLD
    assert read_own(str(file), limit_bytes=3) == OLD[:3]
    assert read_own(f"{file}.none") is None
    with nothing_left_open():
        for path, said in (
            (f"{file}/x", "cannot be read: Not a directory"),
            (str(file.parent), "is not a regular file"),
        ):
            with pytest.raises(CallerError, match=f"^{path} {said}$"):
                read_own(path)


def test_a_wide_limit_sets_no_memory_aside_that_a_file_does_not_fill(file: Path) -> None:
    """A kernel file that states no size is read as well."""
    tracemalloc.start()
    try:
        assert read_own(str(file), limit_bytes=1 << 28) == OLD
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    if sys.platform == "linux":
        assert (read_own("/proc/version") or b"").startswith(b"Linux version")


def test_what_is_opened_of_ours_is_a_regular_file_of_this_user(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe of ours and a file of somebody else are refused, and neither stays open."""
    file.parent.chmod(0o700)
    folder = OwnFolder(str(file.parent))
    os.mkfifo(file.parent / "pipe")
    with nothing_left_open():
        for name, is_ours in (("pipe", True), (file.name, False)):
            monkeypatch.setattr(own_files, "is_own", lambda _, told=is_ours: told)
            with pytest.raises(CallerError, match="not a regular file of this user"):
                folder.open(name)
    folder.close()


@pytest.mark.parametrize(
    ("number", "flushed"),  # of the kernel's `magic.h`
    [(0xEF53, ["file"]), (0x58465342, ["file"]), (0x9123683E, ["file"]), (0x01021994, ["file", "folder"])],
    ids=["ext4", "XFS", "Btrfs", "tmpfs"],
)
def test_the_folder_is_flushed_if_flushing_a_file_does_not_keep_its_name(
    file: Path, monkeypatch: pytest.MonkeyPatch, number: int, flushed: list[str]
) -> None:
    """A new file survives a power cut under its name; a flush is the most expensive operation of a store."""
    done: list[str] = []
    real = os.fsync

    def noted(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real(descriptor)

    monkeypatch.setattr(system, "file_system", lambda descriptor: number)
    monkeypatch.setattr(os, "fsync", noted)
    folder = OwnFolder(str(file.parent))
    folder.flush(file.name)
    folder.close()
    assert done == flushed


@pytest.mark.parametrize("number", [0x6969, 0x517B, 0xFF534D42, 0xFE534D42, 0x5346414F, 0xC36400, 0xBD00BD0, 0x1021997])
def test_a_folder_on_a_network_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """These are NFS, three numbers of SMB, AFS, Ceph, Lustre and 9P, from statfs(2) and the kernel's `magic.h`."""
    file.parent.chmod(0o700)
    monkeypatch.setattr(system, "file_system", lambda descriptor: number)
    with nothing_left_open(), pytest.raises(CallerError, match="where locks and flushes cannot be relied on"):
        OwnFolder(str(file.parent))


def test_a_folder_that_others_may_have_seen_is_taken_empty_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is then closed to them; a folder of somebody else is never taken."""
    for bit in (0o001, 0o002, 0o004, 0o010, 0o020, 0o040):
        file.parent.chmod(0o700 | bit)
        with pytest.raises(CallerError, match="is open to others and not empty"):
            OwnFolder(str(file.parent))
        (file.parent / "empty").mkdir()
        (file.parent / "empty").chmod(0o700 | bit)
        OwnFolder(str(file.parent / "empty")).close()
        assert stat.S_IMODE((file.parent / "empty").stat().st_mode) == 0o700
        (file.parent / "empty").rmdir()
    file.parent.chmod(0o700)
    OwnFolder(str(file.parent)).close()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert not own_files.is_own(file.stat())
    with nothing_left_open(), pytest.raises(CallerError, match="belongs to another user"):
        OwnFolder(str(file.parent))
    monkeypatch.setattr(sys, "platform", "win32")  # which does not report it in this way
    assert own_files.is_own(file.stat())


def test_a_folder_that_two_make_at_once_is_the_same_for_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So are the folders above it."""
    monkeypatch.setattr(own_files, "expect_room", os.makedirs)
    OwnFolder(str(tmp_path / "state" / "own")).close()
    assert (tmp_path / "state" / "own").is_dir()


def test_a_closed_folder_has_no_names(tmp_path: Path) -> None:
    """It does not list the current folder, which the system would use instead."""
    folder = OwnFolder(str(tmp_path / "own"))
    assert folder.names() == []
    folder.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        folder.names()


def test_room_is_held_whole_or_not_at_all(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room already held stays as it is; a failed reservation leaves nothing."""
    file.parent.chmod(0o700)
    folder = OwnFolder(str(file.parent))
    with nothing_left_open():
        folder.hold_room("held", 9_000)
        folder.hold_room("held", 20_000)
        assert (file.parent / "held").stat().st_size == 9_000
        monkeypatch.setattr(sys, "platform", "darwin")
        folder.hold_room("written", 5_000)
        assert (file.parent / "written").read_bytes() == bytes(5_000)

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            folder.hold_room("none", 9_000)
    assert folder.names() == [file.name, "held", "written"]
    folder.close()


def test_output_that_nobody_reads_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output written from then on is discarded, without an error."""
    led: list[tuple[str, int]] = []

    def noted(one: int, other: int) -> None:
        led.append((os.readlink(f"/proc/self/fd/{one}"), other))
        os.close(one)

    with monkeypatch.context() as watched:  # pytest's own capture uses it too
        watched.setattr(os, "dup2", noted)
        own_files.discard_output()
    assert led == [(os.devnull, 1)]


def test_a_home_that_is_not_there_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some systems state a missing home for a user without one; other folders are made, even if their name begins like the home."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    for path in (home, home / ".local" / "state"):
        with pytest.raises(CallerError, match=f"The home folder {home} is not there"):
            OwnFolder(str(path / "penstock"))
    assert not home.exists()
    OwnFolder(str(tmp_path / "homes" / "penstock")).close()
    assert (tmp_path / "homes" / "penstock").is_dir()
    home.mkdir()
    OwnFolder(str(home / ".local" / "state" / "penstock")).close()


@pytest.mark.parametrize("works", [True, False])
def test_windows_replaces_with_a_backup_that_takes_our_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: bool
) -> None:
    """Either the two files have swapped their names, or nothing has happened and that is reported."""

    def replace_file(there: str, ours: str, backup: str, *more: object) -> int:
        assert more == (0, None, None), "no flags; the others are reserved"
        if works:
            os.rename(there, backup)
            os.rename(ours, there)
        return int(works)

    monkeypatch.setattr(sys, "platform", "win32")
    library = mock.Mock(ReplaceFileW=replace_file)
    monkeypatch.setattr(ctypes, "WinDLL", lambda *_, **__: library, raising=False)
    (tmp_path / "beside").write_bytes(NEW)
    (tmp_path / "file").write_bytes(OLD)
    assert renames.exchange(str(tmp_path), "beside", b"file") is works
    assert [(tmp_path / name).read_bytes() for name in ("beside", "file")] == ([OLD, NEW] if works else [NEW, OLD])
    assert sorted(os.listdir(tmp_path)) == ["beside", "file"]


def test_a_private_folder_leaves_nothing_open(tmp_path: Path) -> None:
    """The folders that it swept, or left alone, leave nothing open either."""
    for name in (".penstock-left", ".penstock-empty"):
        (tmp_path / name).mkdir(mode=0o700)
    with nothing_left_open(), PrivateFolder(str(tmp_path)), PrivateFolder(str(tmp_path)):
        pass
    assert os.listdir(tmp_path) == []


def test_a_folder_on_a_network_of_windows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There the name says so, with either slash; locks and flushes cannot be relied on."""
    monkeypatch.setattr(sys, "platform", "win32")
    with nothing_left_open(), pytest.raises(CallerError, match="is on a network, where locks"):
        OwnFolder(f"/{tmp_path / 'store'}")
    OwnFolder(str(tmp_path / "store")).close()


def test_a_scratch_file_of_windows_goes_when_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open file cannot be removed there, so the system is told to remove it when the file is opened."""
    opened: list[tuple[str, int]] = []
    real = os.open

    def watched(path: str, flags: int, mode: int = 0o777) -> int:
        opened.append((path, flags))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "O_TEMPORARY", os.O_SYNC, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "open", watched)
    os.close(scratch_file())
    ((path, flags),) = opened
    assert os.path.dirname(path) == str(tmp_path)
    assert flags & os.O_SYNC
    assert flags & os.O_EXCL


def test_a_private_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    """This holds for any umask; an existing link is not followed."""
    made, grown, elsewhere = (str(tmp_path / name) for name in ("made", "grown", "elsewhere"))
    before = os.umask(0)
    try:
        assert create_own(made, b"first")
        extend_own(grown, b"first, ")
    finally:
        os.umask(before)
    assert not create_own(made, b"second")
    extend_own(grown, b"second")
    assert (Path(made).read_bytes(), Path(grown).read_bytes()) == (b"first", b"first, second")
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in (made, grown)] == [0o600, 0o600]
    for name in ("link", "dangling"):
        (tmp_path / name).symlink_to(made if name == "link" else elsewhere)
        assert not create_own(str(tmp_path / name), b"through a link")
        with pytest.raises(OSError, match=r"\[Errno"):
            extend_own(str(tmp_path / name), b"through a link")
    assert Path(made).read_bytes() == b"first"
    assert not os.path.lexists(elsewhere)


def test_a_private_file_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    """Where there is no room, no empty file is left under the name, which the next start would take for a damaged one."""
    resource = pytest.importorskip("resource")
    made, limits = str(tmp_path / "made"), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            create_own(made, b"first")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == []
    assert create_own(made, b"first")


def test_what_the_kernel_is_told_goes_to_a_file_that_is_there(tmp_path: Path) -> None:
    """If the kernel has no such file, none is made."""
    (tmp_path / "limit").write_bytes(b"")
    with nothing_left_open():
        write_to_system(str(tmp_path / "limit"), b"1000")
        with pytest.raises(FileNotFoundError):
            write_to_system(str(tmp_path / "none"), b"1000")
    assert (tmp_path / "limit").read_bytes() == b"1000"
    assert os.listdir(tmp_path) == ["limit"]


def test_folders_made_above_a_private_one_are_private(tmp_path: Path) -> None:
    """This holds for any umask; existing folders keep their modes."""
    (tmp_path / "there").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        OwnFolder(str(tmp_path / "there" / "state" / "penstock")).close()
    finally:
        os.umask(before)
    modes = [
        stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("there", "there/state", "there/state/penstock")
    ]
    assert modes == [0o755, 0o700, 0o700]


def test_what_a_command_shut_goes_with_its_private_folder() -> None:
    """Nobody may enter the folder; a link in it leads to a folder that keeps its mode."""
    code = """
import fcntl, os, shutil, sys
from penstock.workspace import locks
from penstock.workspace.scratch import PrivateFolder
if os.geteuid() == 0:
    os.setuid(65534)
with PrivateFolder(sys.argv[1]) as folder:
    os.makedirs(f"{folder.path}/shut/within")
    os.mkdir(f"{folder.path}/shut/beside")
    os.symlink(f"{sys.argv[1]}/kept", f"{folder.path}/shut/link")
    os.chmod(f"{folder.path}/shut/within", 0)
    os.chmod(f"{folder.path}/shut", 0)
    os.chmod(folder.path, 0)
"""
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o777)
        os.mkdir(os.path.join(top, "kept"), mode=0o500)
        done = subprocess.run([sys.executable, "-c", code, top], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert os.listdir(top) == ["kept"]
        assert stat.S_IMODE(os.stat(os.path.join(top, "kept")).st_mode) == 0o500


def test_a_change_of_a_users_file_leaves_nothing_open(file: Path) -> None:
    """It is made, or refused because somebody else has changed it."""
    with nothing_left_open():
        change_own(str(file), NEW, OLD)
        with pytest.raises(ToolError, match=r"stale|changed"):
            change_own(str(file), NEW, OLD)


def test_what_is_made_is_open_to_whom_it_is_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own files are for their owner only, with any umask; a user's file gets the permissions of the umask."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made: dict[str, int] = {}
    before = os.umask(0)
    try:
        with PrivateFolder(str(tmp_path)) as private:
            made["private"] = os.stat(private.path).st_mode
        folder = OwnFolder(str(tmp_path / "own"))
        os.close(folder.create("content"))
        folder.close()
        replace_own(str(tmp_path / "replaced"), b"new")
        change_own(str(tmp_path / "changed"), b"new", None)
        monkeypatch.setattr(system, "HAS_FOLDER_DESCRIPTORS", False)
        os.close(scratch_file())
        (scratch,) = tmp_path.glob("penstock-*")
        scratch.rename(tmp_path / "scratch")
        with alone_in_own(str(tmp_path / "own")):
            (lock,) = tmp_path.glob("penstock-*.lock")
            made["lock"] = lock.stat().st_mode
    finally:
        os.umask(before)
    made |= {
        name: (tmp_path / name).stat().st_mode for name in ("own", "own/content", "replaced", "changed", "scratch")
    }
    assert {name: stat.S_IMODE(mode) for name, mode in made.items()} == {
        "private": 0o700,
        "lock": 0o600,
        "own": 0o700,
        "own/content": 0o600,
        "replaced": 0o600,
        "changed": 0o666,
        "scratch": 0o600,
    }


@pytest.mark.parametrize("has_descriptors", [True, False])
def test_an_own_folder_is_a_folder_and_stays_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_descriptors: bool
) -> None:
    """Without folder descriptors, too, a file is reported as one, and a changed working directory moves nothing."""
    monkeypatch.setattr(system, "HAS_FOLDER_DESCRIPTORS", has_descriptors)
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(CallerError, match="is a file, not a folder"):
        OwnFolder(str(tmp_path / "file"))
    with pytest.raises(NotADirectoryError), alone_in_own(str(tmp_path / "file")):
        raise AssertionError
    monkeypatch.chdir(tmp_path)
    folder = OwnFolder("own")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    os.close(folder.create("content"))
    folder.close()
    assert os.listdir(tmp_path / "own") == ["content"]


def test_an_empty_home_is_not_the_root_of_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """`HOME= penstock install` once wrote into `/`; the system knows the user's folder."""
    pwd = pytest.importorskip("pwd")
    known = pwd.getpwuid(os.getuid()).pw_dir
    assert home_folder({"HOME": "/somewhere"}) == "/somewhere"
    for environment in ({}, {"HOME": ""}):
        assert home_folder(environment) == known
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr(pwd, "getpwuid", mock.Mock(side_effect=KeyError("uid not found")))
    with pytest.raises(CallerError, match="set HOME"):
        home_folder()


def test_what_another_program_named_is_a_regular_file(file: Path) -> None:
    """A pipe would block the reader: it is recognised by its kind, and not left open."""
    os.mkfifo(file.parent / "pipe")
    with nothing_left_open():
        for path in (file.parent, file.parent / "pipe"):
            with pytest.raises(IrregularFileError, match="is not a regular file"):
                open_regular(str(path))
        with open_regular(str(file)) as opened:
            assert opened.read() == OLD


def test_own_files_are_found_by_a_pattern_beneath_their_folder(file: Path) -> None:
    """Their paths include the folder; a missing folder has none."""
    (file.parent / "below").mkdir()
    (file.parent / "below" / "other.json").write_bytes(NEW)
    found = own_files_like(str(file.parent), "**/*.json")
    assert sorted(found) == [str(file.parent / "below" / "other.json")]
    assert list(own_files_like(str(file.parent / "none"), "*")) == []


def test_a_file_of_the_current_folder_is_appended_to(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its path names no folder."""
    monkeypatch.chdir(file.parent)
    assert append_own(file.name, b"new\n", _known(file))
    assert file.read_bytes() == OLD + b"new\n"


def test_a_system_without_the_call_of_windows_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has happened then, and the result says so."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", mock.Mock(side_effect=OSError("no kernel32")), raising=False)
    (tmp_path / "beside").write_bytes(NEW)
    (tmp_path / "file").write_bytes(OLD)
    assert renames.exchange(str(tmp_path), "beside", b"file") is False
    assert (tmp_path / "file").read_bytes() == OLD


def test_a_closed_own_folder_is_not_another_one(tmp_path: Path) -> None:
    """Its number may by then belong to another; number 0 is closed like any other."""
    for name in ("own", "another"):
        (tmp_path / name).mkdir(mode=0o700)
    folder = OwnFolder(str(tmp_path / "own"))
    os.close(folder.create("a"))
    folder.rename("a", "b")
    assert folder.names() == ["b"]
    number = folder.descriptor
    folder.close()
    another = os.open(tmp_path / "another", os.O_RDONLY)
    assert another == number
    folder.close()
    with pytest.raises(OSError, match=r"\[Errno"):
        folder.create("a")
    os.close(another)
    first = os.dup(0)
    try:
        for opened in (OwnFolder, PrivateFolder):
            os.close(0)
            opened(str(tmp_path / "own")).close()
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(0)
            os.dup2(first, 0)
    finally:
        os.dup2(first, 0)
        os.close(first)


def test_an_own_folder_is_never_open_to_others(tmp_path: Path) -> None:
    """It is created so, with any umask, and not restricted only afterwards."""
    before = os.umask(0)
    try:
        with mock.patch.object(os, "fchmod", side_effect=AssertionError("it was open")):
            OwnFolder(str(tmp_path / "own")).close()
    finally:
        os.umask(before)


def test_holding_an_own_folder_leaves_nothing_open(tmp_path: Path) -> None:
    """This holds whatever is done in it."""
    with nothing_left_open():
        with alone_in_own(str(tmp_path)):
            pass
        with pytest.raises(ValueError, match="within"), alone_in_own(str(tmp_path)):
            raise ValueError("within")


def test_a_private_folder_without_a_descriptor_closes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders may have none; it is still removed, and what others left stays."""
    monkeypatch.setattr(system, "HAS_FOLDER_DESCRIPTORS", False)
    (tmp_path / ".penstock-left").mkdir(mode=0o700)
    first = os.dup(0)
    try:
        with PrivateFolder(str(tmp_path)) as private:
            assert os.path.isdir(private.path)
        assert os.path.samestat(os.fstat(0), os.fstat(first))
    finally:
        os.dup2(first, 0)
        os.close(first)
    assert os.listdir(tmp_path) == [".penstock-left"]


def test_a_link_to_a_private_folder_is_not_swept(tmp_path: Path) -> None:
    """Its target stays, although it is equally private."""
    target = tmp_path / "kept"
    target.mkdir(mode=0o700)
    (target / "file").touch()
    (tmp_path / ".penstock-link").symlink_to(target)
    (tmp_path / ".penstock-file").touch(mode=0o600)
    PrivateFolder(str(tmp_path)).close()
    assert sorted(os.listdir(tmp_path)) == [".penstock-file", ".penstock-link", "kept"]
    assert os.listdir(target) == ["file"]


def test_a_private_folder_that_somebody_swept_away_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Just before it was locked it was removed, or replaced by another of its name."""
    lstat, left = os.lstat, ["gone", "another"]

    def swept(path: Any, **named: Any) -> os.stat_result:
        if str(path).startswith(str(tmp_path / ".penstock-")) and left:
            if left.pop() == "gone":
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            return lstat(tmp_path)
        return lstat(path, **named)

    monkeypatch.setattr(os, "lstat", swept)
    with nothing_left_open(), PrivateFolder(str(tmp_path)) as private:
        assert not left
        assert len(os.listdir(tmp_path)) == 3
        assert os.path.isdir(private.path)
