"""Is what somebody else writes at any moment of a replacement still there afterwards?"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import runpy
import signal
import stat
import struct
import subprocess
import sys
import threading
from contextlib import closing
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import ToolError
from penstock.workspace import leases, locks, renames, replacing, scratch, writing
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.proves("S-16")
HOLD = "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], 0), fcntl.LOCK_EX); print(flush=True); sys.stdin.read()"
"""A program that holds a folder until it is killed."""
SWAP_WORKS = sys.platform == "linux"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    (tmp_path / "root").mkdir()
    opened = Root(tmp_path / "root")
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path, root: Root) -> Path:
    del root
    made = tmp_path / "root" / "f.txt"
    made.write_bytes(b"old")
    return made


def replaced(root: Root, *, known: bytes | None = b"old") -> str:
    """Return the refusal of a replacement by `new`; empty if it was made."""
    try:
        with writing.alone_with(root, b"f.txt"):
            writing.replace_file(root, b"f.txt", b"new", known)
    except ToolError as error:
        return f"{error.code}: {error.message}"
    return ""


def saved(file: Path, content: str) -> None:
    """Save as an editor does."""
    beside = file.with_suffix(".tmp")
    beside.write_text(content)
    beside.rename(file)


def at_swap(monkeypatch: pytest.MonkeyPatch, **deeds: Callable[[], object]) -> None:
    """Let others act at `before1`, `after1`, `before2`, …: around the first swap, the second, …."""
    exchange, counted = renames.exchange, [0]

    def watched(*given: Any) -> bool:
        counted[0] += 1
        deeds.get(f"before{counted[0]}", int)()
        done = exchange(*given)
        deeds.get(f"after{counted[0]}", int)()
        return done

    monkeypatch.setattr(renames, "exchange", watched)


def contents(file: Path) -> dict[str, str]:
    """Return everything in the folder, with our names shortened."""
    return {("beside" if "penstock-" in path.name else path.name): path.read_text() for path in file.parent.iterdir()}


def test_what_was_read_is_replaced_and_nothing_is_left_next_to_it(root: Root, file: Path) -> None:
    """The folder holds the file with its new content, and no temporary file."""
    assert replaced(root) == ""
    assert contents(file) == {"f.txt": "new"}


@pytest.mark.parametrize("save", [saved, lambda file, content: file.write_text(content)], ids=["whole", "in place"])
@pytest.mark.parametrize("theirs", ["theirs", "ol", "older", "Old", "olD", ""])
@pytest.mark.parametrize("when", ["before our last look", "after it"])
def test_a_save_before_the_swap_goes_back(
    root: Root,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    save: Callable[[Path, str], None],
    when: str,
    theirs: str,
) -> None:
    """This includes a save between our last check and the swap, as what was displaced is checked."""
    if when == "after it":
        at_swap(monkeypatch, before1=lambda: save(file, theirs))
    else:
        save(file, theirs)
        at_swap(monkeypatch, before1=pytest.fail)
    assert replaced(root).startswith("stale: f.txt was changed by someone else meanwhile. This edit was not made.")
    assert contents(file) == {"f.txt": theirs}


def test_saving_the_same_content_is_not_a_change(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A formatter that changes nothing does not prevent an edit."""
    at_swap(monkeypatch, before1=lambda: saved(file, "old"))
    assert replaced(root) == ""
    assert contents(file) == {"f.txt": "new"}


@pytest.mark.parametrize("newest", ["saved over ours", "written into ours", "removed", "twice"])
def test_a_second_save_while_the_first_goes_back_is_kept_too(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch, newest: str
) -> None:
    """Their newest save has the name; the one before is next to it and named, or they overwrote it themselves."""
    deeds: dict[str, Callable[[], object]] = {
        "saved over ours": lambda: saved(file, "newest"),
        "written into ours": lambda: file.write_text("newest"),
        "removed": file.unlink,
        "twice": lambda: saved(file, "newer"),
    }
    more: dict[str, Callable[[], object]] = {"before3": lambda: saved(file, "newest")} if newest == "twice" else {}
    at_swap(monkeypatch, before1=lambda: saved(file, "theirs"), after1=deeds[newest], **more)
    said = replaced(root)
    beside = [path.name for path in file.parent.iterdir() if path.name != "f.txt"]
    assert said.startswith("stale: ")
    if newest == "removed":
        assert contents(file) == {"f.txt": "theirs"}
    else:
        assert contents(file) == {"f.txt": "newest", "beside": "newer" if newest == "twice" else "theirs"}
        assert f"is kept next to it as {beside[0]}" in said
    # If somebody writes into our file, part of the edit may remain, so saying that it was not made would be untrue.
    assert ("This edit was not made." in said) == (newest != "written into ours")


@pytest.mark.skipif(not SWAP_WORKS, reason="a swap is Linux's")
def test_what_is_removed_and_made_again_while_it_goes_back_is_kept_too(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their earlier file is next to what they made last, and is named."""
    take = renames.take_name

    def late(*given: Any) -> None:
        file.write_text("newest")
        take(*given)

    monkeypatch.setattr(renames, "take_name", late)
    at_swap(monkeypatch, before1=lambda: saved(file, "theirs"), after1=file.unlink)
    said = replaced(root)
    (beside,) = [path for path in file.parent.iterdir() if path != file]
    assert contents(file) == {"f.txt": "newest", "beside": "theirs"}
    assert f"is kept next to it as {beside.name}" in said


@pytest.mark.skipif(not SWAP_WORKS, reason="a swap is Linux's")
def test_what_is_saved_again_and_again_while_it_goes_back_is_kept_and_named(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After twenty swaps the second newest is next to the newest, and the refusal says where."""
    saves = {f"before{at}": lambda at=at: saved(file, f"theirs {at}") for at in range(1, 22)}
    at_swap(monkeypatch, **saves)
    said = replaced(root)
    (beside,) = [path for path in file.parent.iterdir() if path != file]
    assert f"is kept next to it as {beside.name}" in said
    assert {path.read_text() for path in (file, beside)} == {"theirs 20", "theirs 21"}


@pytest.mark.skipif(not SWAP_WORKS, reason="a swap is Linux's")
def test_what_is_kept_next_to_it_is_not_taken_for_ours_by_its_number(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Once, a save that got the inode number of our removed file was removed as ours."""
    ours: list[int] = []

    def numbered() -> None:
        """Save as a file with our inode number, if the file system reuses it."""
        for at in range(300):
            (made := tmp_path / f"{at}").write_text("theirs, with our number")
            if made.stat().st_ino in ours:
                break
        made.replace(file)

    def first() -> None:
        ours.extend(path.stat().st_ino for path in file.parent.iterdir() if path != file)
        saved(file, "theirs")

    at_swap(
        monkeypatch,
        before1=first,
        after1=lambda: saved(file, "newer"),
        before3=numbered,
        after3=lambda: saved(file, "newest"),
    )
    said = replaced(root)
    (beside,) = [path for path in file.parent.iterdir() if path != file]
    assert f"is kept next to it as {beside.name}" in said
    assert (file.read_text(), beside.read_text()) == ("newest", "theirs, with our number")


@pytest.mark.skipif(not SWAP_WORKS, reason="leases are Linux's")
def test_a_file_that_is_open_for_writing_is_not_replaced(root: Root, file: Path) -> None:
    """What is written through an open descriptor would go to a file without a name."""
    with file.open("r+") as held:
        assert replaced(root) == (
            "stale: f.txt is open for writing in another program. This edit was not made. Read it again."
        )
        held.write("theirs")
    assert contents(file) == {"f.txt": "theirs"}


@pytest.mark.skipif(not SWAP_WORKS, reason="leases are Linux's")
def test_a_file_opened_between_the_look_and_the_swap_goes_back(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It still holds what we read, but not for long."""
    held: list[Any] = []
    at_swap(monkeypatch, before1=lambda: held.append(file.open("r+")))
    assert "is open for writing" in replaced(root)
    with held[0] as writer:
        writer.write("theirs")
    assert contents(file) == {"f.txt": "theirs"}


@pytest.mark.skipif(not SWAP_WORKS, reason="leases are Linux's")
def test_a_lease_that_somebody_waits_for_ends_no_process(file: Path) -> None:
    """The kernel notifies the holder by a signal, which must be one that is ignored."""
    reader = os.open(file, os.O_RDONLY)
    assert leases.take(reader) == "held"
    writer = threading.Thread(target=lambda: os.close(os.open(file, os.O_WRONLY)))
    writer.start()
    while fcntl.fcntl(reader, fcntl.F_GETLEASE) == fcntl.F_RDLCK:
        pass
    os.close(reader)
    writer.join()
    assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL


@pytest.mark.parametrize("when", ["before", "at the last instant"])
def test_a_new_file_replaces_nothing(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """Of two writers that make it, one is refused."""
    file.unlink()
    take = renames.take_name

    def late(*given: Any) -> None:
        file.write_text("theirs")
        take(*given)

    if when == "before":
        file.write_text("theirs")
    else:
        monkeypatch.setattr(renames, "take_name", late)
    assert replaced(root, known=None) == (
        "stale: f.txt was made by someone else meanwhile: nothing was changed. Read it first."
    )
    assert contents(file) == {"f.txt": "theirs"}


@pytest.mark.parametrize("lacks", ["the swap", "the call", *sorted(renames._LACKING)])
def test_without_the_call_it_works_by_a_rename(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch, lacks: str | int
) -> None:
    """The last check is right before it; a new file is made by a hard link."""

    def refused(*_: object) -> int:
        assert isinstance(lacks, int)
        ctypes.set_errno(lacks)
        return -1

    if isinstance(lacks, int):
        monkeypatch.setattr(renames, "_function", lambda: refused)
    elif lacks == "the call":
        monkeypatch.setattr(renames, "_function", lambda: None)
    else:
        monkeypatch.setattr(renames, "_renamed", lambda *_: False)
    assert replaced(root) == ""
    assert replaced(root).startswith("stale: ")
    assert contents(file) == {"f.txt": "new"}
    file.unlink()
    assert replaced(root, known=None) == ""
    assert replaced(root, known=None).startswith("stale: ")
    assert contents(file) == {"f.txt": "new"}


def test_without_hard_links_a_new_file_takes_a_name_that_it_reserves(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAT and object stores over FUSE have neither hard links nor a rename that spares what is there."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(renames, "_renamed", lambda *_: False)
    monkeypatch.setattr(os, "link", refused)
    assert replaced(root, known=None).startswith("stale: ")
    assert contents(file) == {"f.txt": "old"}
    file.unlink()
    assert replaced(root, known=None) == ""
    assert contents(file) == {"f.txt": "new"}
    file.unlink()
    monkeypatch.setattr(os, "replace", refused)
    assert replaced(root, known=None) == "denied: Permission denied: f.txt."
    assert contents(file) == {}


def test_a_link_goes_back_as_a_link(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This covers what replaced a file that was to be removed, even if it goes back by a hard link."""
    del root
    folder = os.open(file.parent, os.O_RDONLY)
    (file.parent / "link").symlink_to("f.txt")
    for _ in range(2):
        with pytest.raises(ToolError, match="changed by someone else"):
            replacing.remove_known(folder, b"link", b"old", b"link")
        assert (file.parent / "link").readlink().name == "f.txt"
        monkeypatch.setattr(renames, "_renamed", lambda *_: False)
    os.close(folder)
    assert sorted(contents(file)) == ["f.txt", "link"]


@pytest.mark.skipif(not SWAP_WORKS, reason="leases are Linux's")
def test_what_is_held_of_a_new_file_is_not_an_open_file(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anyone who asks for a write lease, as file servers do, gets it during an edit too."""

    def leased() -> None:
        (beside,) = (path for path in file.parent.iterdir() if path != file)
        with beside.open("r+") as ours:
            fcntl.fcntl(ours.fileno(), fcntl.F_SETLEASE, fcntl.F_WRLCK)

    at_swap(monkeypatch, before1=leased)
    assert replaced(root) == ""


def test_the_call_is_found_if_the_c_library_has_no_name_for_it(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found by its number."""
    if platform.machine() not in renames._NUMBERS:
        pytest.skip("no number is known for this machine")
    folder = os.open(file.parent, os.O_RDONLY)
    renames._function.cache_clear()
    assert renames._function() is not None
    with pytest.raises(FileNotFoundError):
        renames.exchange(folder, "nothing", b"f.txt")
    os.close(folder)
    renames._function.cache_clear()
    monkeypatch.setattr(renames, "_FUNCTION", "renameat2_of_nobody")
    try:
        at_swap(monkeypatch, before1=lambda: saved(file, "theirs"))
        assert replaced(root).startswith("stale: ")
        assert contents(file) == {"f.txt": "theirs"}
    finally:
        renames._function.cache_clear()


@pytest.mark.parametrize(("system", "said"), [("linux", (1, 2, "renameat2")), ("darwin", (4, 2, "renameatx_np"))])
def test_the_wishes_are_those_of_the_headers_of_a_system(
    monkeypatch: pytest.MonkeyPatch, system: str, said: tuple[int, int, str]
) -> None:
    """They are `RENAME_NOREPLACE` and `RENAME_EXCHANGE` of linux/fs.h, `RENAME_EXCL` and `RENAME_SWAP` of macOS's stdio.h."""
    monkeypatch.setattr(sys, "platform", system)
    made = runpy.run_path(str(renames.__file__))
    assert (made["_NO_REPLACE"], made["_EXCHANGE"], made["_FUNCTION"]) == said


@pytest.mark.skipif(not SWAP_WORKS, reason="what is open is listed by Linux")
def test_the_old_file_is_not_open_when_the_names_change(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows renames nothing over an open file, even if we hold it ourselves."""
    held: list[str] = []
    at_swap(monkeypatch, before1=lambda: held.extend(os.readlink(f"/proc/self/fd/{n}") for n in open_descriptors()))
    assert replaced(root) == ""
    assert str(file) not in held
    assert str(file.parent) in held


def open_descriptors() -> list[int]:
    """Return the descriptors of this process that are still open when they are examined."""
    return [int(name) for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")]


# ── removing ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_is_removed_only_as_it_is_known(root: Root, file: Path) -> None:
    """Other content goes back, under its own name."""
    with pytest.raises(ToolError, match="changed by someone else"):
        writing.remove_file(root, b"f.txt", b"other")
    assert contents(file) == {"f.txt": "old"}
    with file.open("a"), pytest.raises(ToolError, match="open for writing"):
        writing.remove_file(root, b"f.txt", b"old")
    assert contents(file) == {"f.txt": "old"}
    writing.remove_file(root, b"f.txt", b"old")
    assert contents(file) == {}


def test_a_file_made_while_another_goes_back_stays(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are there, and the older is named."""
    take = renames.take_name

    def late(*given: Any) -> None:
        file.write_text("newest")
        take(*given)

    monkeypatch.setattr(renames, "take_name", late)
    with pytest.raises(ToolError, match=r"is kept next to it as \.f\.txt\.penstock-"):
        writing.remove_file(root, b"f.txt", b"other")
    assert contents(file) == {"f.txt": "newest", "beside": "old"}


@pytest.mark.skipif(not SWAP_WORKS, reason="what is open is listed by Linux")
def test_windows_removes_a_file_once_it_is_closed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open file cannot be removed there."""
    held: list[str] = []
    unlink = os.unlink

    def noted(path: str, **options: Any) -> None:
        held.extend(os.readlink(f"/proc/self/fd/{n}") for n in open_descriptors())
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", noted)
    monkeypatch.setattr(sys, "platform", "win32")
    renames.take_name(str(file.parent), "f.txt", b"g.txt")
    assert contents(file) == {"g.txt": "old"}
    replacing.remove_known(str(file.parent), b"g.txt", b"old", b"g.txt")
    assert held
    assert not [path for path in held if "g.txt" in path]
    assert contents(file) == {}


# ── locks ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_others_of_penstock_wait(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds from another thread and another process; a holder that does not end is reported after a while."""
    monkeypatch.setattr(replacing, "LOCK_SECONDS", 0.1)
    with writing.alone_with(root, b"f.txt"):
        said: list[str] = []
        other = threading.Thread(target=lambda: said.append(replaced(root)))
        other.start()
        other.join()
    assert said == ["busy: Somebody else is writing in the same folder, and does not end. Try again later."]
    assert replaced(root) == ""
    assert contents(file) == {"f.txt": "new"}


def test_a_folder_is_given_back_while_it_is_open(file: Path) -> None:
    """This happens at the end of the block, not only when the descriptor is closed."""
    one, other = (os.open(file.parent, os.O_RDONLY) for _ in range(2))
    with replacing.alone_in(one):
        assert not locks.acquire(other)
    assert locks.acquire(other)
    os.close(one)
    os.close(other)


def test_waiting_for_a_folder_sleeps_a_little_and_gives_up_in_time(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It retries within 20 ms, sooner at first, and reports after half a minute that the folder is not given back."""
    pauses: list[float] = []
    monkeypatch.setattr(replacing, "time", SimpleNamespace(monotonic=lambda: sum(pauses), sleep=pauses.append))
    one, other = (os.open(file.parent, os.O_RDONLY) for _ in range(2))
    assert locks.acquire(one)
    with pytest.raises(ToolError, match="Somebody else is writing"), replacing.alone_in(other):
        pass
    assert pauses[0] == 0.001
    assert all(pause == min(0.02, 2 * before) for before, pause in pairwise(pauses))
    assert 30 <= sum(pauses) <= 30.02
    os.close(one)
    os.close(other)


def test_a_system_without_leases_has_none(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can then say whether somebody writes; the same holds for a closed file."""
    reader = os.open(file, os.O_RDONLY)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert leases.take(reader) == "none"
    monkeypatch.undo()
    os.close(reader)
    if SWAP_WORKS:
        assert leases.take(reader) == "none", "it is closed"


def test_a_lock_ends_with_its_process(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds however the process ends."""
    monkeypatch.setattr(replacing, "LOCK_SECONDS", 0.5)
    held = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HOLD,
            file.parent,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert held.stdout is not None
    held.stdout.readline()
    assert replaced(root).startswith("busy: ")
    held.kill()
    held.communicate()
    assert replaced(root) == ""


def test_if_folders_cannot_be_locked_a_file_is_locked_instead(
    root: Root, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows and on some network file systems, two writers still wait for each other."""
    acquire = locks.acquire
    folder = os.stat(file.parent).st_ino

    def no_folders(descriptor: int) -> bool:
        if os.fstat(descriptor).st_ino == folder:
            raise OSError(9, "Bad file descriptor")
        return acquire(descriptor)

    monkeypatch.setattr(locks, "acquire", no_folders)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(replacing, "LOCK_SECONDS", 0.05)
    with writing.alone_with(root, b"f.txt"):
        said: list[str] = []
        other = threading.Thread(target=lambda: said.append(replaced(root)))
        other.start()
        other.join()
    assert said[0].startswith("busy: ")
    assert replaced(root) == ""


# ── what a file has besides its content ──────────────────────────────────────────────────────────────────────────


def access_list(*entries: tuple[int, ...]) -> bytes:
    """Return an access list as the kernel takes it: the owner (1), a user (2), the group (4), the mask (16), others (32)."""
    # Version 2 of linux/posix_acl_xattr.h: a tag, the permissions, and whose they are.
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *(*entry, 0xFFFFFFFF)[:3]) for entry in entries)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="attributes are read by Linux's calls")
def test_permissions_and_attributes_stay(root: Root, file: Path) -> None:
    """Access lists are attributes, too."""
    file.chmod(0o640)
    os.setxattr(file, "user.note", b"keep me")
    access = access_list((1, 6), (2, 4, 12345), (4, 4), (16, 4), (32, 0))
    os.setxattr(file, "system.posix_acl_access", access)
    assert replaced(root) == ""
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (os.getxattr(file, "user.note"), os.getxattr(file, "system.posix_acl_access")) == (b"keep me", access)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="attributes are read by Linux's calls")
def test_the_list_that_a_folder_gives_new_files_lets_nobody_in(root: Root, file: Path) -> None:
    """A file that was there before its folder got a default access list has none, and gets none by an edit."""
    file.chmod(0o664)
    os.setxattr(file.parent, "system.posix_acl_default", access_list((1, 7), (2, 6, 12345), (4, 5), (16, 7), (32, 4)))
    assert replaced(root) == ""
    assert "system.posix_acl_access" not in os.listxattr(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o664


@pytest.mark.parametrize(
    ("taken", "named", "asked"),
    [
        ((-1, 77), "its owner (4242)", [(4242, 77), (-1, 77)]),
        (None, "its owner (4242:77)", [(4242, 77), (-1, 77)]),
    ],
)
def test_of_an_owner_who_cannot_be_kept_the_group_is(
    root: Root,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    taken: tuple[int, int] | None,
    named: str,
    asked: list[tuple[int, int]],
) -> None:
    """Else whoever shares the file by its group would lose it; and it does not run as us what ran as them."""
    file.chmod(0o6755)
    given: list[tuple[int, int]] = []
    status = os.fstat

    def others(descriptor: int) -> os.stat_result:
        found = status(descriptor)
        is_file = stat.S_ISREG(found.st_mode) and found.st_size == len("old") and found.st_mode & stat.S_ISUID
        return os.stat_result((*found[:4], 4242, 77, *found[6:])) if is_file else found

    def give(descriptor: int, owner: int, group: int) -> None:
        del descriptor
        given.append((owner, group))
        if (owner, group) != taken:
            raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fstat", others)
    monkeypatch.setattr(os, "fchown", give)
    with writing.alone_with(root, b"f.txt"):
        assert writing.replace_file(root, b"f.txt", b"new", b"old") == (named,)
    assert given == asked
    assert stat.S_IMODE(file.stat().st_mode) == 0o755


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="attributes are read by Linux's calls")
def test_what_cannot_be_kept_is_named(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller of the edit gets its name."""
    os.setxattr(file, "user.note", b"keep me")
    os.link(file, file.with_name("other.txt"))

    def refused(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", refused)
    with writing.alone_with(root, b"f.txt"):
        lost = writing.replace_file(root, b"f.txt", b"new", b"old")
    assert lost == ("its attribute user.note", "its other names, which keep the old content")
    assert contents(file) == {"f.txt": "new", "other.txt": "old"}


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="attributes are read by Linux's calls")
def test_capabilities_that_go_are_named(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel drops them with any write, so they are not copied; hashes of the old content go without a word."""
    held = iter([[], ["security.capability", "security.ima"], []])  # the new file's, the old one's, the new one's
    monkeypatch.setattr(os, "listxattr", lambda _: next(held))
    with writing.alone_with(root, b"f.txt"):
        assert writing.replace_file(root, b"f.txt", b"new", b"old") == ("its capabilities",)


def test_what_is_written_is_only_its_owners_until_it_is_whole(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds whatever the file's mode, and whatever the umask of the process."""
    modes: list[int] = []
    write = os.write

    def noted(descriptor: int, data: bytes) -> int:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return write(descriptor, data)

    file.chmod(0o644)
    monkeypatch.setattr(os, "write", noted)
    before = os.umask(0)
    try:
        assert replaced(root) == ""
    finally:
        os.umask(before)
    assert (modes, stat.S_IMODE(file.stat().st_mode)) == ([0o600], 0o644)


@pytest.mark.parametrize("confinement", ["openat2", "paths"])
def test_waiting_for_a_folder_leaves_nothing_open(tmp_path: Path, confinement: str) -> None:
    """If folders are kept without descriptors, the folder was opened only to be locked."""
    root = Root(tmp_path, confinement=confinement)
    before = open_descriptors()
    with writing.alone_with(root, b"f.txt"):
        pass
    assert open_descriptors() == before
    root.close()


def test_a_file_without_a_name_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written to it can be read, and it appears in no folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    descriptor = scratch.scratch_file()
    os.write(descriptor, b"kept")
    assert (os.pread(descriptor, 9, 0), os.fstat(descriptor).st_nlink, list(tmp_path.iterdir())) == (b"kept", 0, [])
    os.close(descriptor)


def test_a_file_that_is_gone_or_kept_is_told_apart(root: Root, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save removes the name for an instant: that is not a lack of permission."""

    def access(*_: object, **__: object) -> bool:
        if is_gone:
            file.unlink()
        return False

    monkeypatch.setattr(os, "access", access)
    is_gone = False
    assert replaced(root).startswith("denied: Permission denied")
    with monkeypatch.context() as medium:
        medium.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY | os.ST_NOSUID))
        assert "Read-only file system" in replaced(root)
    is_gone = True
    assert replaced(root).startswith("stale: f.txt was changed by someone else meanwhile")


@pytest.mark.skipif(not SWAP_WORKS, reason="/proc says where an open file lies")
def test_a_file_that_lost_its_name_is_not_a_link(root: Root, file: Path) -> None:
    """It is still where it was when it was opened."""
    with closing(root.open_file(b"f.txt")) as opened:
        saved(file, "another")
        assert root.resolved(opened.descriptor) == b"f.txt"


def test_a_replacement_is_for_good_unless_somebody_says_otherwise(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is flushed to survive a power cut, unless the caller says that surviving the process is enough."""
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    writing.replace_file(root, b"f.txt", b"new", b"old", flushes=False)
    assert flushed == []
    writing.replace_file(root, b"f.txt", b"newer", b"new")
    assert flushed
    assert file.read_bytes() == b"newer"


def test_a_folder_that_is_not_there_is_made_for_a_new_file_alone(root: Root, tmp_path: Path) -> None:
    """Opening, changing or removing a file in it fails, and makes no folder."""
    with writing.alone_with(root, b"gone/f.txt"):
        pass
    for act in (
        lambda: writing.replace_file(root, b"gone/f.txt", b"new", b"old"),
        lambda: writing.remove_file(root, b"gone/f.txt", b"old"),
    ):
        with pytest.raises(ToolError):
            act()
    assert not (tmp_path / "root" / "gone").exists()


@pytest.mark.skipif(not SWAP_WORKS, reason="names are swapped on Linux")
def test_a_folder_closed_after_the_swap_is_reported_with_what_is_where(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be put back then: the edit's content stays, and the earlier content is named."""

    def closed(*_: object) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def close() -> None:
        monkeypatch.setattr(replacing, "_displaced", lambda *_, **__: "changed")
        monkeypatch.setattr(renames, "exchange", closed)

    at_swap(monkeypatch, after1=close)
    said = replaced(root)
    (left,) = (name for name in os.listdir(file.parent) if name != file.name)
    assert file.read_bytes() == b"new"
    assert (file.parent / left).read_bytes() == b"old"
    assert said == (
        "denied: f.txt: Permission denied, in the moment of this edit. What the edit wrote is there, and what was there "
        f"before is kept next to it as {left}. Look at both."
    )


@pytest.mark.skipif(not SWAP_WORKS, reason="names are swapped on Linux")
def test_what_somebody_wrote_into_ours_stays_if_the_folder_is_then_closed(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One saves before the swap, another writes after it, and after the first is put back nothing else can be."""

    def closed() -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    at_swap(
        monkeypatch,
        before1=lambda: saved(file, "saved"),
        after1=lambda: file.write_text("written"),
        before3=closed,
    )
    assert "is kept next to it as .f.txt.penstock-" in replaced(root)
    assert contents(file) == {"f.txt": "saved", "beside": "written"}


@pytest.mark.skipif(not SWAP_WORKS, reason="names are swapped on Linux")
@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_what_cannot_be_removed_any_more_is_named(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Between the write and the swap a permission is removed, or the medium becomes read-only."""

    def refused(*_: object, **__: object) -> bool:
        raise OSError(number, os.strerror(number))

    def close(*given: Any) -> bool:
        monkeypatch.setattr(os, "unlink", refused)
        return refused(*given)

    with monkeypatch.context() as closing_folder:
        closing_folder.setattr(renames, "exchange", close)
        said = replaced(root)
    (left,) = (name for name in os.listdir(file.parent) if name != file.name)
    assert file.read_bytes() == b"old"
    assert said.endswith(f"What was to be written is left next to it as {left}.")


def test_a_removal_that_stops_midway_says_where_the_file_is(
    root: Root, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was moved away to be checked, and can no longer be renamed."""

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(replacing, "_displaced", lambda *_, **__: "changed")
    monkeypatch.setattr(renames, "take_name", refused)
    with (
        writing.alone_with(root, b"f.txt"),
        pytest.raises(ToolError, match=r"kept next to it, as \.f\.txt\.penstock-") as no,
    ):
        writing.remove_file(root, b"f.txt", b"old")
    assert no.value.code == "denied"
    (left,) = os.listdir(file.parent)
    assert (file.parent / left).read_bytes() == b"old"
