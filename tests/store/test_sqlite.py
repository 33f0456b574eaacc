"""What holds for a store in a folder: is it private, with one writer, and does it survive kills, full disks and damage?"""

from __future__ import annotations

import errno
import os
import random
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.leftovers import nothing_left_open

from penstock.errors import CallerError, ToolError
from penstock.store import Damaged, Event, StoreFault, contents, default_url, open_store
from penstock.store import sqlite as backend
from penstock.store.journal import JournalRow
from penstock.store.pieces import PIECE_BYTES
from penstock.store.sqlite import DATABASE, SqliteStore
from penstock.workspace import locks, own_files, system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGE = b"".join(b"line %d of an artifact\n" % n for n in range(30_000))
FILE = b"kept" + random.Random(1).randbytes(2 * contents.ROW_BYTES)
"""A content that is its own file even when compressed, and not a row."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of this test's store."""
    return tmp_path / "store"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Open a store in a folder."""
    opened = SqliteStore(str(path))
    yield opened
    opened.close()


# ── private ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("G-3")
def test_everything_is_private(store: SqliteStore, path: Path) -> None:
    """Folders are 0700 and files 0600, whatever the umask."""
    earlier = os.umask(0)
    try:
        store.put(LARGE)
        store.append("s", 0, "asked", {})
        for found in [path, *path.rglob("*")]:
            assert stat.S_IMODE(found.stat().st_mode) == (0o700 if found.is_dir() else 0o600), found
    finally:
        os.umask(earlier)


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    """Nothing private is put where others can look; an empty folder is made private."""
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "theirs").write_text("x")
    with pytest.raises(CallerError, match="open to others"):
        SqliteStore(str(shared))
    (shared / "theirs").unlink()
    SqliteStore(str(shared)).close()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_is_refused(tmp_path: Path) -> None:
    """The owner is checked on opening."""
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    os.chown(other, 65534, 65534)
    with pytest.raises(CallerError, match="another user"):
        SqliteStore(str(other))


@pytest.mark.parametrize(
    ("number", "name"),  # from the kernel's `magic.h`; Lustre's is in its own sources
    [
        (0x6969, "NFS"),
        (0x517B, "SMB"),
        (0xFE534D42, "SMB"),
        (0xFF534D42, "CIFS"),
        (0x5346414F, "AFS"),
        (0x00C36400, "Ceph"),
        (0x0BD00BD0, "Lustre"),
        (0x01021997, "9P"),
    ],
)
def test_a_network_file_system_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch, number: int, name: str) -> None:
    """Locks and flushes are not reliable there (H31)."""
    monkeypatch.setattr(system, "file_system", lambda descriptor: number)
    with pytest.raises(CallerError, match=f"is on {name}, where"):
        SqliteStore(str(path))


def test_links_in_place_of_files_are_not_followed(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    """A writer of the folder cannot use a link to make us read or write elsewhere."""
    handle = store.put(LARGE)
    content = next((path / "contents").iterdir())
    content.unlink()
    content.symlink_to("/etc/passwd")
    with pytest.raises((StoreFault, CallerError)):
        store.read(handle, 0, 10)


@pytest.mark.parametrize(
    ("environment", "ends"),
    [
        ({"PENSTOCK_STORE": "sqlite:///x/y"}, "/x/y"),
        ({"XDG_STATE_HOME": "/state", "HOME": "/h"}, "/state/penstock"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/penstock"),
        ({"HOME": "/h"}, "/h/.local/state/penstock"),
    ],
)
def test_the_default_place(environment: dict[str, str], ends: str) -> None:
    """The environment decides, else the XDG specification's folder for state."""
    assert default_url(environment).endswith(ends)


@pytest.mark.parametrize("url", ["mysql://x/y", "sqlite:", "ftp:x", "a\0b"])
def test_a_url_that_can_be_no_store_is_refused(url: str) -> None:
    """The error says what a store is."""
    with pytest.raises(CallerError, match="store"):
        open_store(url)


@pytest.mark.parametrize("application", [0, 7])
def test_another_programs_database_is_left_alone(path: Path, application: int) -> None:
    """A foreign file is not migrated, even if its program gave it no application number, as most do."""
    path.mkdir(mode=0o700)
    with sqlite3.connect(path / DATABASE) as other:
        other.execute(f"PRAGMA application_id = {application}")
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    with pytest.raises(CallerError, match="another program"):
        SqliteStore(str(path))


# ── settings that durability rests on ────────────────────────────────────────────────────────────────────────────────


def test_every_connection_has_the_pragmas(store: SqliteStore) -> None:
    """The file does not remember full synchronisation: each connection sets it."""
    connection = store._connected()

    def said(name: str) -> object:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    assert (said("journal_mode"), said("synchronous"), said("trusted_schema")) == ("wal", 2, 0)
    assert (said("cell_size_check"), said("mmap_size"), said("busy_timeout")) == (1, 0, 5_000)
    assert (said("application_id"), said("fullfsync")) == (backend.APPLICATION_ID, 1)


# ── one writer ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_second_writer_waits_and_is_told(store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short write is waited for; a long one is reported, and nothing is damaged (H31)."""
    monkeypatch.setattr(backend, "WAIT_SECONDS", 0.3)
    other = SqliteStore(str(path))
    free = threading.Event()

    def hold() -> None:
        with other._exclusive():
            held.set()
            free.wait(60)

    held = threading.Event()
    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(60)
    with pytest.raises(StoreFault, match="Another process has been writing") as caught:
        store.put(b"x")
    assert caught.value.code == "busy"
    monkeypatch.setattr(backend, "WAIT_SECONDS", 60)  # on a busy machine, the holder goes on long after it may
    threading.Timer(0.1, free.set).start()
    assert store.read(store.put(b"x"), 0, 1) == b"x"
    holder.join()
    other.close()


_WORKER = """
import sys
from penstock.store import open_store
store = open_store(sys.argv[1])
me = sys.argv[2]
for n in range(10_000):
    content = (f"{me} {n} " * (1 + n % 9_000)).encode()
    handle = store.put(content, name=me)
    store.append(me, n, "returned", {"n": n, "handle": handle, "bytes": len(content)}, handles=[handle])
    print(n, handle, len(content), flush=True)
"""


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _rest(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.read()


def _acknowledged(text: str) -> list[tuple[int, str, int]]:
    lines = [line.split() for line in text.splitlines()]
    return [(int(n), handle, int(size)) for n, handle, size in (line for line in lines if len(line) == 3)]


@pytest.mark.proves("G-3")
def test_no_acknowledged_write_is_lost_to_a_kill(path: Path) -> None:
    """Two processes write to one store and are killed again and again, at any moment: what they reported is there."""
    generator = random.Random(7)
    SqliteStore(str(path)).close()
    said: dict[str, list[tuple[int, str, int]]] = {}
    for turn in range(4):
        processes = {
            f"w{turn}-{n}": subprocess.Popen(
                [sys.executable, "-c", _WORKER, str(path), f"w{turn}-{n}"], stdout=subprocess.PIPE, text=True
            )
            for n in range(2)
        }
        begun = {
            name: _line(process) for name, process in processes.items()
        }  # however long a busy machine takes to start
        time.sleep(0.2 + 0.5 * generator.random())
        for name, process in processes.items():
            process.send_signal(signal.SIGKILL)
            with process:
                said[name] = _acknowledged(begun[name] + _rest(process))
    store = SqliteStore(str(path))
    assert sum(map(len, said.values())) > 10
    assert store.check() == []
    for name, lines in said.items():
        records = list(store.events(name))
        assert len(records) - len(lines) in {0, 1}  # the write in flight is there whole or not at all
        for (n, handle, size), record in zip(lines, records, strict=False):
            assert record.data == {"n": n, "handle": handle, "bytes": size}
            assert store.read(handle, 0, 1 << 20) == (f"{name} {n} " * (1 + n % 9_000)).encode()
    store.prune()
    named = {place for (place,) in store._read("SELECT place FROM contents") if ":" not in place}  # files, not rows
    assert {entry.name for entry in (path / "contents").iterdir()} == named
    store.close()


def test_what_a_killed_process_left_is_taken_away(store: SqliteStore, path: Path) -> None:
    """Files that nothing names are removed by the next pruning; files being written stay."""
    handle = store.put(FILE)
    (path / "contents" / "pending-0123").write_bytes(b"left by a kill")
    (path / "contents" / ("0" * 64)).write_bytes(b"renamed, never committed")

    def slow() -> Iterator[bytes]:
        yield b"x" * PIECE_BYTES
        store.prune()
        yield b"y"

    other = store.put(slow())
    assert store.read(other, PIECE_BYTES - 1, 2) == b"xy"
    assert store.read(handle, 0, 4) == b"kept"
    assert len(list((path / "contents").iterdir())) == 2


@pytest.mark.parametrize("is_stream", [False, True])
def test_what_is_written_and_not_yet_named_outlives_a_pruning_elsewhere(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch, is_stream: bool
) -> None:
    """A pruning by another process between write and transaction leaves the content; its lock is then removed."""
    written = store._staged_as

    def then_pruned(*content: Any) -> Any:
        staged = written(*content)
        prune = f"from penstock.store.sqlite import SqliteStore; SqliteStore({str(path)!r}).prune()"
        subprocess.run([sys.executable, "-c", prune], check=True)
        return staged

    monkeypatch.setattr(store, "_staged_as", then_pruned)
    with nothing_left_open():
        handle = store.put(iter([FILE]) if is_stream else FILE)
        assert store.read(handle, 0, 4) == b"kept"
        assert store.put(iter([FILE])) == handle  # the same content again is discarded
    assert len(list((path / "contents").iterdir())) == 1


def test_what_is_open_is_given_back(path: Path) -> None:
    """This includes announced writes and the contents folder."""
    with nothing_left_open():
        store = SqliteStore(str(path))
        store.append("s", 0, "begun", {})
        store.put(b"x" * 100_000)
        store.close()


@pytest.mark.proves("G-3")
def test_a_store_that_is_opened_twice_in_a_process_keeps_its_locks(store: SqliteStore, path: Path) -> None:
    """Closing a second store in the process releases no lock of the first: another process's writes are seen, and all is sound."""
    store.append("ours", 0, "begun", {})
    write = (
        "import sys; from penstock.store.sqlite import SqliteStore; store = SqliteStore(sys.argv[1])\n"
        "for n in range(60): store.append(sys.argv[2], n, 'written', {'n': 'y' * 3000})\nstore.close()"
    )
    for turn in range(4):
        SqliteStore(str(path)).close()
        subprocess.run([sys.executable, "-c", write, str(path), f"theirs {turn}"], check=True)
        assert {info.session: info.records for info in store.sessions()} == {
            "ours": 1,
            **{f"theirs {earlier}": 60 for earlier in range(turn + 1)},
        }
    store.append("ours", 1, "went on", {})
    assert store.check() == []


def test_a_store_is_not_carried_through_a_fork(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Using a connection in two processes damages databases."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(CallerError, match="forked"):
            store.append("s", 0, "asked", {})
    store.append("s", 0, "asked", {})


# ── disks that are full, fail, or cannot be written ──────────────────────────────────────────────────────────────────


@pytest.mark.proves("G-3")
@pytest.mark.parametrize(
    ("code", "said"), [(errno.ENOSPC, "disk_full"), (errno.EDQUOT, "disk_full"), (errno.EIO, "io_error")]
)
@pytest.mark.parametrize("after", [0, 2])
def test_a_write_that_fails_leaves_nothing(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch, code: int, said: str, after: int
) -> None:
    """The partial file is removed, the error is named, and everything earlier is there (H27)."""
    handle = store.put(FILE)
    written = 0
    real = contents._write

    def failing(descriptor: int, piece: bytes) -> None:
        nonlocal written
        written += 1
        if written > after:
            raise OSError(code, os.strerror(code))
        real(descriptor, piece)

    with monkeypatch.context() as patch:
        patch.setattr(contents, "_write", failing)
        with pytest.raises(StoreFault) as caught:
            store.put(LARGE)
    assert caught.value.code == said
    assert len(list((path / "contents").iterdir())) == 1
    assert store.read(handle, 0, 4) == b"kept"
    assert store.check() == []
    assert store.read(store.put(LARGE), 0, len(LARGE)) == LARGE


@pytest.mark.parametrize("after", [0, 7])
def test_many_writes_of_which_one_fails_leave_nothing(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """No partial file remains, nor those before it, which no row will name."""
    handle = store.put(FILE)
    real, written = contents._write, 0

    def failing(descriptor: int, piece: bytes) -> None:
        nonlocal written
        written += 1
        if written > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor, piece)

    many = [(b"%d" % number, "run") for number in range(4)] + [(b"%d" % number + FILE, "run") for number in range(9)]
    with monkeypatch.context() as patch:
        patch.setattr(contents, "_write", failing)
        with pytest.raises(StoreFault, match="disk is full"):
            store.put_many(many)
    assert len(list((path / "contents").iterdir())) == 1
    assert store._read("SELECT COUNT(*) FROM small_contents") == [(0,)]
    assert store.read(handle, 0, 4) == b"kept"
    assert len(store.put_many(many)) == 13
    assert store.check() == []


def test_many_files_are_flushed_before_their_rows_are(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that survives a power cut without its content would be a handle that leads nowhere."""
    done: list[str] = []
    real = system.flush

    def flush(descriptor: int) -> None:
        done.append("flush")
        real(descriptor)

    monkeypatch.setattr(system, "flush", flush)
    store._connected().set_trace_callback(lambda said: done.append(said.split()[0]))
    store.put_many([(b"%d" % number + FILE, "run") for number in range(9)])
    assert (done.count("flush"), done.count("COMMIT")) == (9, 1)
    assert done[done.index("COMMIT") :].count("flush") == 0


@pytest.mark.parametrize("way", ["put", "stream", "many"])
def test_small_content_is_a_row_that_comes_and_goes_with_the_row_that_names_it(
    store: SqliteStore, path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no file, and no flush but the transaction's; it is compressed, removed and read like any other content."""
    done: list[int] = []
    monkeypatch.setattr(system, "flush", done.append)
    text = b"line of a log\n" * (contents.ROW_BYTES // 14)
    given = [text, b"%d of another", b""]
    if way == "many":
        handles = store.put_many([(content, "run") for content in given])
    else:
        handles = [store.put(iter([content[:9], content[9:]]) if way == "stream" else content) for content in given]
    assert done == []
    assert list((path / "contents").iterdir()) == []
    assert [store.read(handle, 0, 1 << 20) for handle in handles] == given
    assert store.size().stored_bytes == sum(map(len, given))
    assert store.prune().compressed == 1
    assert store.size().stored_bytes < sum(map(len, given)) / 2
    assert [store.read(handle, 0, 1 << 20) for handle in handles] == given
    assert store.check() == []
    for handle in handles:
        store.remove_artifact(handle)
    assert store._read("SELECT COUNT(*) FROM small_contents") == [(0,)]
    assert (store.size().stored_bytes, store.check()) == (0, [])
    again = store.put(given[1])
    assert store._read("SELECT place FROM contents") == [("row:5",)], "no place is had twice"
    assert store.read(again, 0, 2) == b"%d"


@pytest.mark.parametrize("wrong", ["x'00'", "zeroblob(13)", None])
def test_a_damaged_row_is_named_and_never_shown(store: SqliteStore, wrong: str | None) -> None:
    """The damage is reported like that of a file, and other content can still be read."""
    handle, other = store.put(b"%d of another"), store.put(b"sound")
    change = "DELETE FROM small_contents" if wrong is None else f"UPDATE small_contents SET data = {wrong}"
    store._connected().execute(f"{change} WHERE number = 1")
    with pytest.raises(Damaged):
        store.read(handle, 0, 5)
    assert [damage.name for damage in store.check()] == [handle]
    assert store.read(other, 0, 5) == b"sound"


def test_a_page_that_cannot_be_read_takes_one_small_content_along(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite calls the whole database damaged if the page of one row is: that content is named, and the store stays in use."""
    handle, other = store.put(b"%d of another"), store.put(b"sound" * contents.ROW_BYTES)
    real = store._read

    def read(statement: str, parameters: Any = ()) -> Any:
        if "FROM small_contents" in statement:
            raise Damaged("the database is damaged")
        return real(statement, parameters)

    monkeypatch.setattr(store, "_read", read)
    assert [damage.name for damage in store.check()] == [handle]
    assert store.read(other, 0, 5) == b"sound"


@pytest.mark.parametrize(
    ("free_blocks", "inodes", "free_inodes", "is_full"),
    [(0, 9, 9, True), (1, 9, 0, True), (1, 9, 1, False), (1, 0, 0, False)],
)
def test_a_disk_is_full_without_space_or_inodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_blocks: int, inodes: int, free_inodes: int, is_full: bool
) -> None:
    """A file system that counts no inodes, such as Btrfs, has none left and is not full."""
    with closing(SqliteStore(str(tmp_path / "store"))) as store:
        left = os.statvfs_result((4096, 4096, 9, free_blocks, free_blocks, inodes, free_inodes, free_inodes, 0, 255))
        monkeypatch.setattr(os, "fstatvfs", lambda _: left)
        assert store._is_full() is is_full


def test_on_a_full_disk_a_store_is_opened_for_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no room for the log's shared index, but kept content can be listed and shown."""
    with closing(SqliteStore(str(tmp_path / "store"))) as made:
        handle = made.put(b"kept")
        made.append("s", 0, "asked", {"text": "x"})
        made._connected().execute("PRAGMA wal_checkpoint(PASSIVE)")
        # A killed process leaves a log that nobody has merged, and no index next to it.
        made.append("s", 1, "asked", {"text": "y"})
        shutil.copytree(tmp_path / "store", tmp_path / "full", ignore=shutil.ignore_patterns("*-shm"))
    no_room = sqlite3.OperationalError("disk I/O error")
    no_room.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"

    def connect(_: SqliteStore) -> None:
        raise no_room

    real = SqliteStore._connect
    monkeypatch.setattr(SqliteStore, "_is_full", lambda _: True)
    monkeypatch.setattr(SqliteStore, "_connect", connect)
    with closing(SqliteStore(str(tmp_path / "full"))) as store:
        assert store.read(handle, 0, 9) == b"kept"
        assert [record.data["text"] for record in store.events("s")] == ["x", "y"]
        for write in (lambda: store.put(b"more"), lambda: store.append("s", 2, "asked", {})):
            with pytest.raises(StoreFault, match=r"the disk is full .*store gc") as caught:
                write()
            assert caught.value.code == "disk_full"
        with closing(SqliteStore(str(tmp_path / "full"))) as other:
            assert other.read(handle, 0, 9) == store.read(handle, 0, 9)
        assert "the disk is full" in store.facts()["read_only"]
        assert not (tmp_path / "full/penstock.sqlite3-shm").exists()
        monkeypatch.setattr(SqliteStore, "_connect", real)
        with closing(SqliteStore(str(tmp_path / "full"))) as other:
            other.append("s", 2, "asked", {"text": "z"})
        # A server that starts on a full disk continues: it locks nobody out, sees others' writes, and writes again.
        assert [record.data["text"] for record in store.events("s")] == ["x", "y", "z"]
        assert store.read(store.put(b"more"), 0, 9) == b"more"
        assert store.facts()["read_only"] == "false"


def test_writes_that_were_not_merged_are_read_from_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that may not be written SQLite would leave them out without a word."""
    with closing(SqliteStore(str(tmp_path / "store"))) as made:
        made.append("s", 0, "asked", {"text": "x"})
        shutil.copytree(tmp_path / "store", tmp_path / "killed")
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda *_: False)
        with pytest.raises(StoreFault, match=r"not merged yet\. A copy on another disk can be read: --store FOLDER"):
            SqliteStore(str(tmp_path / "killed"))
    shutil.copytree(tmp_path / "killed", tmp_path / "copy")
    with closing(SqliteStore(str(tmp_path / "copy"))) as copy:
        assert [record.data["text"] for record in copy.events("s")] == ["x"]


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows a disk is not asked")
def test_a_disk_that_becomes_read_only_is_named(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite says "disk I/O error"; Linux makes a file system read-only if its disk fails."""
    failed = sqlite3.OperationalError("disk I/O error")
    failed.sqlite_errorname = "SQLITE_IOERR_WRITE"
    assert (fault := store._translated(failed)).code == "io_error"
    assert "disk I/O error" in str(fault)

    def refused(_: int) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "utime", refused)
    assert (fault := store._translated(failed)).code == "read_only"
    assert str(fault) == f"{store.path} can only be read: its disk has become read-only."


@pytest.mark.parametrize("where", ["the folder", "the database"])
def test_where_a_store_has_no_room_to_begin_nothing_is_there_to_remove(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk without a store, `store gc` would find nothing and fail in the same way."""

    def mkdir(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def connect(_: SqliteStore) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error

    if where == "the folder":
        monkeypatch.setattr(os, "mkdir", mkdir)
    else:
        monkeypatch.setattr(SqliteStore, "_connect", connect)
    with pytest.raises(StoreFault, match=r"is full: there is no room for a store in .*new.*PENSTOCK_STORE") as caught:
        SqliteStore(str(tmp_path / "new"))
    assert (caught.value.code, caught.value.calls) == ("disk_full", ())


@pytest.mark.parametrize(
    ("version", "is_known"), [("3.9.9", True), ("3.51.2", True), ("3.51.3", False), ("3.52.0", False), ("4.0.0", False)]
)
def test_a_version_of_sqlite_that_two_writers_could_damage_is_told(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, version: str, is_known: bool
) -> None:
    """The limit is 3.51.3, compared by number."""
    monkeypatch.setattr(sqlite3, "sqlite_version", version)
    assert store.facts()["sqlite"].startswith(version)
    assert ("two writers at once could damage it" in store.facts()["sqlite"]) == is_known


def test_a_full_disk_at_a_commit_loses_nothing_earlier(store: SqliteStore) -> None:
    """The call fails, the store can be read, and all earlier records are there (H28)."""
    for n in range(20):
        store.append("s", n, "asked", {"text": "x" * 1_000})
    pages = store._connected().execute("PRAGMA page_count").fetchone()[0]
    store._connected().execute(f"PRAGMA max_page_count = {pages + 3}")
    with pytest.raises(StoreFault) as caught:
        store.append_all("s", [Event(seq=n, type="asked", data={"text": "x" * 1_000}) for n in range(20, 100)])
    assert caught.value.code == "disk_full"
    count = len(list(store.events("s")))
    assert count == 20
    store._connected().execute("PRAGMA max_page_count = 1000000")
    store.append("s", count, "asked", {})
    assert store.check() == []


def test_after_a_flush_that_failed_nothing_more_is_written(store: SqliteStore, path: Path) -> None:
    """A second flush would prove nothing: the store can be read, says why it accepts nothing, and must be opened again."""
    handle = store.put(b"earlier")
    real = os.fsync

    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        with pytest.raises(StoreFault):
            store.put(FILE)
    assert os.fsync is real
    for act in (lambda: store.put(b"again"), lambda: store.append("s", 0, "asked", {})):
        with pytest.raises(StoreFault, match="flush failed") as caught:
            act()
        assert caught.value.code == "read_only"
    assert store.read(handle, 0, 7) == b"earlier"
    again = SqliteStore(str(path))
    assert again.read(again.put(b"again"), 0, 5) == b"again"
    again.close()


def test_after_a_write_that_the_database_failed_at_nothing_more_is_written(store: SqliteStore, path: Path) -> None:
    """Nobody knows which pages are on the disk then, and the next flush may succeed without them."""
    store.append("s", 0, "asked", {})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))  # every write to a file fails, and not for want of room
    try:
        with pytest.raises(StoreFault):
            store.append("s", 1, "asked", {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with pytest.raises(StoreFault, match="the disk failed") as caught:
        store.append("s", 1, "asked", {})
    assert caught.value.code == "read_only"
    assert [record.seq for record in store.events("s")] == [0]
    again = SqliteStore(str(path))
    again.append("s", 1, "asked", {})
    assert again.check() == []
    again.close()


def test_a_store_on_a_medium_that_cannot_be_written_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kept content can be read; writes are refused, and nothing is damaged."""
    first = SqliteStore(str(path))
    handle = first.put(LARGE)
    first.append("s", 0, "asked", {"a": 1}, handles=[handle])
    first.close()

    def denied(folder: own_files.OwnFolder, name: str) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), name)

    monkeypatch.setattr(backend, "_made", denied)
    store = SqliteStore(str(path))
    assert store.read(handle, 0, len(LARGE)) == LARGE
    assert [record.data for record in store.events("s")] == [{"a": 1}]
    for act in (lambda: store.put(b"x"), lambda: store.append("s", 1, "asked", {}), store.prune):
        with pytest.raises(StoreFault) as caught:
            act()
        assert caught.value.code == "read_only"
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("place", ["", DATABASE])
def test_a_store_that_may_not_be_written_is_read_and_left_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A permission is missing: SQLite is not asked to write, which would leave an index that nobody can write afterwards."""
    first = SqliteStore(str(path))
    handle = first.put(LARGE)
    first.close()
    before = sorted(path.iterdir())
    mode = (path / place).stat().st_mode
    (path / place).chmod(mode & ~0o222)
    monkeypatch.setattr(os, "access", lambda at, _: bool(os.stat(at).st_mode & 0o200))  # root may write everything
    store = SqliteStore(str(path))
    assert store.read(handle, 0, len(LARGE)) == LARGE
    with pytest.raises(StoreFault) as caught:
        store.put(b"x")
    assert caught.value.code == "read_only"
    store.close()
    assert sorted(path.iterdir()) == before
    (path / place).chmod(mode)
    store = SqliteStore(str(path))
    assert store.read(store.put(b"again"), 0, 5) == b"again"
    store.close()


def test_a_file_system_without_locks_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a lock nobody would be the only writer: the folder is named, with what to do."""

    def acquire(*_: object, **__: object) -> bool:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(locks, "acquire", acquire)
    with pytest.raises(StoreFault, match=r"a file system without locks.*PENSTOCK_STORE") as caught:
        SqliteStore(str(path))
    assert str(path) in caught.value.message


def test_half_a_store_on_a_medium_that_cannot_be_written_is_a_fault(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the folder exists and its files cannot be created, there is nothing to read."""

    def denied(at: str) -> own_files.OwnFolder:
        if at.endswith("contents"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), at)
        return own_files.OwnFolder(at)

    monkeypatch.setattr(backend, "OwnFolder", denied)
    with pytest.raises(StoreFault) as caught:
        SqliteStore(str(path))
    assert caught.value.code == "read_only"


@pytest.mark.proves("S-12")
def test_a_store_that_cannot_be_created_is_empty_for_whoever_only_reads(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is readable and nothing is in it; a write is refused. Without the option, or if it may exist, it is a fault."""

    def denied(at: str) -> own_files.OwnFolder:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), at)

    monkeypatch.setattr(backend, "OwnFolder", denied)
    store = SqliteStore(str(path), may_be_missing=True)
    assert (list(store.sessions()), store.check(), store.size().artifacts) == ([], [], 0)
    with pytest.raises(ToolError, match="There is no artifact"):
        store.read("A" * 22, 0, 1)
    acts: list[Callable[[], object]] = [store.prune, store.scrub, lambda: store.remove_artifact("A" * 22)]
    acts += [lambda: store.put(b"x"), lambda: store.append("s", 0, "asked", {})]
    for act in acts:
        with pytest.raises(StoreFault, match="cannot be created") as caught:
            act()
        assert caught.value.code == "read_only"
    store.close()
    with pytest.raises(StoreFault, match=r"cannot be created: .* or keep elsewhere: --store FOLDER") as caught:
        SqliteStore(str(path))
    assert caught.value.code == "read_only"
    path.mkdir()
    with pytest.raises(StoreFault, match="may not be written"):
        SqliteStore(str(path), may_be_missing=True)
    assert not list(path.iterdir())
    (path / "loop").symlink_to("loop")
    with pytest.raises(StoreFault, match="may not be written"):  # nobody can say what is below
        SqliteStore(str(path / "loop" / "store"), may_be_missing=True)


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-12")
@pytest.mark.parametrize("how", ["gone", "empty"])
@pytest.mark.parametrize("is_merged", [True, False])
def test_a_database_that_was_lost_is_not_begun_anew(path: Path, how: str, is_merged: bool) -> None:
    """The log and the contents stay, so that the database can be restored; its content is not called unknown."""
    store = SqliteStore(str(path))
    handle = store.put(LARGE)
    store.append("s", 0, "asked", {"a": 1}, handles=[handle])
    if is_merged:
        store.close()
    lost = path.with_name("lost")
    shutil.copytree(path, lost)
    database = lost / DATABASE
    database.write_bytes(b"") if how == "empty" else database.unlink()
    before = {file: file.read_bytes() for file in lost.rglob("*") if file.is_file()}
    with pytest.raises(Damaged, match=f"is {how}, and it held records"):
        SqliteStore(str(lost))
    assert {file: file.read_bytes() for file in lost.rglob("*") if file.is_file()} == before
    shutil.copy2(path / DATABASE, database)
    back = SqliteStore(str(lost))
    assert [record.data for record in back.events("s")] == [{"a": 1}]
    assert back.read(handle, 0, len(LARGE)) == LARGE
    assert back.check() == []
    back.close()
    store.close()


def test_a_damaged_output_does_not_keep_a_pruning_from_the_others(store: SqliteStore, path: Path) -> None:
    """The damaged output stays, and the check names it; others are compressed."""
    damaged, sound = store.put(b"first " * 100_000), store.put(b"second " * 100_000)
    place = store._content(store.info(damaged).digest)[1]
    (path / "contents" / place).unlink()
    store._pieces.clear()
    assert store.prune().compressed == 1
    assert store.read(sound, 0, 6) == b"second"
    assert [one.name for one in store.check()] == [damaged]


@pytest.mark.parametrize("way", ["flip", "cut", "zero", "gone"])
def test_damaged_content_is_named_and_never_shown(store: SqliteStore, path: Path, way: str) -> None:
    """A reader gets the original bytes or an error; the rest of the artifact can still be read."""
    handle = store.put(LARGE)
    (content,) = (path / "contents").iterdir()
    raw = bytearray(content.read_bytes())
    at = PIECE_BYTES + 1_000
    if way == "flip":
        raw[at] ^= 1
    elif way == "cut":
        del raw[at:]
    elif way == "zero":
        raw[at : at + 4_096] = bytes(4_096)
    content.write_bytes(raw)
    if way == "gone":
        content.unlink()
    with pytest.raises(Damaged, match="not what was written"):
        store.read(handle, at - 10, 100)
    if way != "gone":
        assert store.read(handle, 0, PIECE_BYTES) == LARGE[:PIECE_BYTES]
    (damage,) = store.check()
    assert (damage.what, damage.name) == ("artifact", handle)


@pytest.mark.parametrize("column", ["bytes", "lines", "place", "pieces", "stored_bytes"])
def test_a_changed_entry_of_content_is_named(store: SqliteStore, column: str) -> None:
    """Sizes and places are sealed too."""
    handle = store.put(LARGE)
    wrong = {"place": "'x'", "pieces": "x'00'"}.get(column, f"{column} + 1")
    store._connected().execute(f"UPDATE contents SET {column} = {wrong}")
    with pytest.raises(Damaged):
        store.info(handle)
    assert handle in {damage.name for damage in store.check()}


@pytest.mark.parametrize(
    "change",
    [
        "payload = replace(payload, '1', '2')",
        "payload = CAST(x'7bff7d' AS TEXT)",  # not UTF-8
        "type = 'x'",
        "at = at + 1",
        "prev_hash = 'x'",
    ],
)
def test_a_changed_record_is_named_and_the_newest_sound_one_offered(store: SqliteStore, change: str) -> None:
    """Reading stops at the damage and says where it is; damage is never skipped."""
    store.append_all("s", [Event(seq=n, type="asked", data={"n": 100 + n}) for n in range(6)])
    store._connected().execute(f"UPDATE records SET {change} WHERE seq = 3")
    records = store.events("s")
    assert [next(records).seq for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Damaged, match="record 3") as caught:
        next(records)
    assert caught.value.newest_sound == 2
    (damage,) = store.check()
    assert (damage.what, damage.name, damage.newest_sound) == ("record", "s", "2")


def test_a_record_that_was_replaced_by_a_sealed_one_breaks_the_chain(store: SqliteStore) -> None:
    """A rewritten record can be sealed again, but the next record still has the hash of the original."""
    store.append_all("s", [Event(seq=n, type="asked", data={"n": n}) for n in range(6)])
    connected = store._connected()
    row = JournalRow(
        *connected.execute(f"SELECT {', '.join(JournalRow._fields)} FROM records WHERE seq = 2").fetchone()
    )
    forged = row._replace(payload='{"n":7}')
    connected.execute("UPDATE records SET payload = ?, sha256 = ? WHERE seq = 2", (forged.payload, forged.sealed()))
    records = store.events("s")
    assert [next(records).data["n"] for _ in range(3)] == [0, 1, 7]
    with pytest.raises(Damaged, match="record 3 does not follow the one before it"):
        next(records)
    (damage,) = store.check()
    assert (damage.what, damage.name, damage.newest_sound) == ("record", "s", "2")


@pytest.mark.parametrize(
    ("gone", "usable"),
    [(0, "No record before it."), (1, "Records up to 0 are sound."), (3, "Records up to 2 are sound.")],
)
def test_a_missing_record_is_named(store: SqliteStore, gone: int, usable: str) -> None:
    """A gap is damage; records before it can be used."""
    store.append_all("s", [Event(seq=n, type="asked", data={}) for n in range(5)])
    store._connected().execute(f"DELETE FROM records WHERE seq = {gone}")
    with pytest.raises(Damaged) as caught:
        list(store.events("s"))
    assert str(caught.value) == f"Session s: record {gone} is missing. {usable}"
    assert caught.value.newest_sound == (gone - 1 if gone else None)


def _cut_off(path: Path, session: str) -> None:
    """Remove the last record of a session, as SQLite does with a log that has a damaged page."""
    with closing(sqlite3.connect(path / DATABASE)) as connection, connection:
        connection.execute(
            "DELETE FROM records WHERE session = :of AND seq = (SELECT MAX(seq) FROM records WHERE session = :of)",
            {"of": session},
        )


def _write_on(store: SqliteStore, session: str, count: int) -> None:
    """Append that many records to a session."""
    first = len(store.record_types(session))
    store.append_all(session, [Event(seq=first + n, type="asked", data={}) for n in range(count)])


@pytest.mark.parametrize("way", ["goes on", "is removed"])
def test_an_end_that_the_database_has_lost_is_named(path: Path, way: str) -> None:
    """The next store that opens it reports the loss, whatever else is written, until the session continues or is removed."""
    with closing(SqliteStore(str(path))) as store:
        _write_on(store, "s", 5)
    _cut_off(path, "s")
    for _ in range(2):
        with closing(SqliteStore(str(path))) as store:
            with pytest.raises(Damaged) as caught:
                list(store.events("s"))
            assert caught.value.newest_sound == 3
            assert [(damage.what, damage.name) for damage in store.check()] == [("record", "s")]
            _write_on(store, "other", 6)
    with closing(SqliteStore(str(path))) as store:
        if way == "goes on":
            _write_on(store, "s", 1)
        else:
            store.remove_sessions(["s"])
        assert store.check() == []
        _write_on(store, "other", 1)
    with closing(SqliteStore(str(path))) as store:
        assert store.check() == []
    _cut_off(path, "other")
    with closing(SqliteStore(str(path))) as store, pytest.raises(Damaged, match="Session other"):
        list(store.events("other"))


def test_an_end_that_was_removed_is_not_missed(path: Path) -> None:
    """Only the removed session is no longer expected."""
    with closing(SqliteStore(str(path))) as store:
        _write_on(store, "old", 1)
        _write_on(store, "s", 2)
        store.remove_sessions(["old"])
    _cut_off(path, "s")
    with closing(SqliteStore(str(path))) as store:
        with pytest.raises(Damaged, match="Session s"):
            list(store.events("s"))
        _write_on(store, "s", 1)
        store.remove_sessions(["s"])
    with closing(SqliteStore(str(path))) as store:
        assert store.check() == []
        assert list(store.events("s")) == []


def test_a_database_with_flipped_bits_never_lies(path: Path) -> None:
    """In 60 copies with one flipped bit each, every read gives what was written, or an error."""
    store = SqliteStore(str(path))
    data = [{"n": n, "text": f"event {n} " * 20} for n in range(200)]
    store.append_all("s", [Event(seq=n, type="asked", data=data[n]) for n in range(200)])
    handle = store.put(b"artifact\n" * 1_000)
    store.close()
    sound = (path / DATABASE).read_bytes()
    generator = random.Random(11)
    seen = 0
    for _ in range(60):
        raw = bytearray(sound)
        raw[generator.randrange(len(raw))] ^= 1 << generator.randrange(8)
        (path / DATABASE).write_bytes(raw)
        try:
            damaged = SqliteStore(str(path))
        except (StoreFault, CallerError):
            seen += 1
            continue
        try:
            read = [record.data for record in damaged.events("s")]
            assert read == data[: len(read)]
            assert damaged.read(handle, 0, 1 << 20) == b"artifact\n" * 1_000
            whole = len(read) == len(data)
        except (StoreFault, ToolError):
            whole = False
        if not whole:
            seen += 1
            assert damaged.check() != []
        damaged.close()
    assert seen >= 20


def test_a_new_artifact_looks_at_no_row_of_the_others(store: SqliteStore) -> None:
    """Among tens of thousands of artifacts it costs the same as in an empty store, except for a sum over an index."""
    store.put(b"warm")
    connection = store._connected()
    asked: set[str] = set()
    connection.set_trace_callback(asked.add)
    store.put(b"one more")
    connection.set_trace_callback(None)
    found = [
        f"{step[3]}: {statement}"
        for statement in asked
        if statement.startswith(("SELECT", "UPDATE", "DELETE"))
        for step in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
        if step[3].startswith("SCAN")
        and step[3] not in {"SCAN clock", "SCAN totals"}
        and "COVERING INDEX" not in step[3]
    ]
    assert not found
    assert len(asked) > 5


def test_the_log_is_merged_under_the_lock_of_whoever_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merging is writing: a close waits for the lock, and closes without merging if another process holds it too long."""
    asked: list[bool] = []
    real = locks.acquire

    def acquire(descriptor: int) -> bool:
        asked.append(real(descriptor))
        return asked[-1]

    store = SqliteStore(str(path))
    store.put(LARGE)
    monkeypatch.setattr(locks, "acquire", acquire)
    store.close()
    assert asked == [True]
    store, other = SqliteStore(str(path), wait_seconds=0.01), SqliteStore(str(path))
    asked.clear()
    with other._exclusive():
        asked.clear()
        store.close()
    assert set(asked) == {False}
    other.close()


def test_the_log_is_left_alone_while_somebody_copies_the_folder(path: Path) -> None:
    """They hold the lock and have no database open, so the store that is closed is the last one: it merges nothing."""
    store = SqliteStore(str(path), wait_seconds=0.01)
    store.append("s", 0, "asked", {"text": "x"})
    database = path / DATABASE
    before = database.read_bytes(), Path(f"{database}-wal").read_bytes()
    with closing(own_files.OwnFolder(str(path))) as folder:
        lock = folder.open("lock", writable=True)
        try:
            assert locks.acquire(lock)
            store.close()
            assert (database.read_bytes(), Path(f"{database}-wal").read_bytes()) == before
        finally:
            os.close(lock)
    with closing(SqliteStore(str(path))) as again:
        assert [record.data["text"] for record in again.events("s")] == ["x"]
    assert not Path(f"{database}-wal").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no folder with open files")
def test_a_folder_that_was_removed_takes_nothing_more(path: Path) -> None:
    """The open files would take it, and it would be gone with them: nobody is told that it was kept."""
    store = SqliteStore(str(path))
    store.append("s", 0, "asked", {})
    shutil.rmtree(path)
    for write in (lambda: store.append("s", 1, "asked", {}), lambda: store.put(b"x"), lambda: store.learn("a", "b")):
        with pytest.raises(StoreFault, match="was removed while it was open"):
            write()
    store.close()
    assert not path.exists()


def test_a_pruning_never_sees_content_that_is_not_locked_yet(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the making of a file and its lock it looks like what a killed process left."""
    store, other = SqliteStore(str(path)), SqliteStore(str(path), wait_seconds=0.01)
    real = locks.acquire
    pruned: list[str] = []

    def acquire(descriptor: int, *, is_shared: bool = False) -> bool:
        if is_shared:
            try:
                other.prune()
            except StoreFault as fault:
                pruned.append(fault.code)
        return real(descriptor, is_shared=is_shared)

    monkeypatch.setattr(locks, "acquire", acquire)
    assert store.read(store.put(FILE), 0, 4) == b"kept"
    assert pruned == ["busy"]
    store.close()
    other.close()
