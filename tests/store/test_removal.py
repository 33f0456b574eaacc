"""Does a store stay within bounds, and is removed content in none of its files, on SQLite and on a real PostgreSQL server?"""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.call import Call
from penstock.cli import main
from penstock.cli.exporting import lines_of
from penstock.errors import ToolError
from penstock.store import Event, Retention, StoreFault, keeping, open_store, removal
from penstock.store.contents import ROW_BYTES
from penstock.store.pieces import PIECE_BYTES
from penstock.store.postgres import PostgresStore
from penstock.store.retention import Removal, overdue
from penstock.store.sqlite import DATABASE, SqliteStore
from penstock.workspace import locks
from penstock.workspace.own_files import OwnFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.store.conftest import Clock, Server

    from penstock.store.tables import Tables

DAY = 86_400
SECRET = b"the heron-blue valve 4f9a8c71e02b"
"""A secret that is not a key in a known format, which a journal would hide."""


def found_in(folder: str | os.PathLike[str], *patterns: bytes) -> list[str]:
    """Return the files below a folder that contain one of the patterns, byte for byte."""
    return [
        str(path)
        for path in Path(folder).rglob("*")
        if path.is_file() and any(pattern in path.read_bytes() for pattern in patterns)
    ]


def text_with(secret: bytes, size: int, seed: int = 1) -> bytes:
    """Return text larger than a piece, with a secret in its first, middle and last part."""
    dice = random.Random(seed)
    words = b"".join(b"line %d of a log: %d\n" % (n, dice.randrange(10**9)) for n in range(size // 30))
    half = len(words) // 2
    return secret + words[:half] + secret + words[half:] + secret


# ── everything counts ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-17")
def test_journals_count(opened: Callable[..., Tables]) -> None:
    """Twelve megabytes of records count as twelve megabytes, and a store limited to three holds three."""
    store = opened(limit_bytes=3 << 20)

    def filled() -> None:
        for number in range(60):
            store.append("a", number, "big", {"text": "q" * 200_000})

    with pytest.raises(StoreFault) as caught:
        filled()
    assert caught.value.code == "full"
    size = store.size()
    assert 2.8 * (1 << 20) < size.used_bytes <= 3 << 20
    assert size.journal_bytes == store.sessions()[0].bytes == size.used_bytes
    assert store.check() == []


@pytest.mark.parametrize("where", ["open", "lock"])
def test_a_process_that_cannot_be_asked_is_not_taken_for_dead(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by R9: without a free descriptor, a session in use by another store was removed, and so was content being written.

    An error of its lock surfaced as a bare OSError.
    """
    path = str(tmp_path / "store")
    with closing(SqliteStore(path)) as at_work, closing(SqliteStore(path)) as other:
        at_work.append("a", 0, "asked", {})
        writing = at_work._stage(b"half of it" * ROW_BYTES, 1 << 20)
        real_open, real_acquire = OwnFolder.open, locks.acquire
        asked: list[str] = []

        def is_asked(name: str) -> bool:
            return name.startswith(("running-", "pending-"))

        def failing_open(folder: OwnFolder, name: str, **options: bool) -> int:
            if where == "open" and is_asked(name):
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            asked.append(name)
            return real_open(folder, name, **options)

        def failing_acquire(descriptor: int, *, is_shared: bool = False) -> bool:
            if where == "lock" and asked and is_asked(asked[-1]):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real_acquire(descriptor, is_shared=is_shared)

        with monkeypatch.context() as patch:
            patch.setattr(OwnFolder, "open", failing_open)
            patch.setattr(locks, "acquire", failing_acquire)
            for deed in (lambda: other.remove_sessions(["a"]), lambda: other.append("b", 0, "asked", {})):
                with pytest.raises(StoreFault, match="The store failed"):
                    deed()
                asked.clear()
            assert len(other._orphans(other._read)) == 0
        assert [one.session for one in other.sessions()] == ["a"]
        assert Path(path, "contents", writing.place).exists()
        with pytest.raises(ToolError, match="is in use"):
            other.remove_sessions(["a"])
        at_work._discard(writing.place)


def test_indexes_that_cannot_be_read_are_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by R9: a disk error during pruning surfaced as a bare OSError."""
    with closing(SqliteStore(str(tmp_path / "store"))) as store, monkeypatch.context() as patch:
        patch.setattr(os, "scandir", mock.Mock(side_effect=OSError(errno.EIO, os.strerror(errno.EIO))))
        with pytest.raises(StoreFault, match="The store failed"):
            store.prune()


def test_the_newest_are_listed_without_a_look_at_the_others(store: Tables, clock: Clock) -> None:
    """Joined pages are the reversed list; sessions come by last use, with the same figures."""
    for number in range(7):
        handle = store.put(b"text %d" % number, name=str(number))
        store.append(f"s{number}", 0, "asked", {"n": number}, handles=[handle] if number % 2 else [])
        clock.now += 10
    assert store.sessions(3) == store.sessions()[:3]
    assert [one.session for one in store.sessions(3)] == ["s6", "s5", "s4"]
    pages = [store.newest(at, 3) for at in (0, 3, 6)]
    assert [page.next_offset for page in pages] == [3, 6, None]
    assert [one for page in pages for one in page.items] == store.artifacts()[::-1]
    assert {page.total for page in pages} == {7}
    clock.now += 400 * DAY  # artifacts that no session refers to have expired
    assert [one.name for one in store.newest(0, 100).items] == ["5", "3", "1"]
    assert store.newest(3, 3).next_offset is None


def test_indexes_of_ranked_search_are_told_beside_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Indexes never displace kept content, and are removed when anything is removed for good."""
    with closing(open_store(str(tmp_path / "s"))) as store:
        assert store.size().index_bytes == 0
        (tmp_path / "s" / "ranked").mkdir(mode=0o700)
        (tmp_path / "s" / "ranked" / "tree").write_bytes(b"i" * 5_000)
        size = store.size()
        assert (size.index_bytes, size.used_bytes) == (5_000, 0)
    assert main(["store", "size", "--store", str(tmp_path / "s")]) == 0
    assert "; 0 bytes in all; besides that 5000 bytes of indexes and summaries" in capsys.readouterr().out


@pytest.mark.proves("S-17")
def test_many_small_records_count_too(opened: Callable[..., Tables]) -> None:
    """The limit is exceeded at most by what is written between two checks."""
    store = opened(limit_bytes=400_000)

    def filled() -> None:
        for number in range(4_000):
            store.append_all("a", [_event(10 * number + n) for n in range(10)])

    with pytest.raises(StoreFault, match="full"):
        filled()
    assert 300_000 < store.size().used_bytes <= 400_000 + (64 << 10) * 2


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("size", [20, 300, 780, 900, 1_100, 3_000, 20_000])
def test_a_record_counts_what_it_takes_on_the_disk(tmp_path: Path, size: int) -> None:
    """This holds for any size: a limit that counted less than is written would not be a limit."""
    path = str(tmp_path / "store")
    with closing(SqliteStore(path)) as store:
        store.append_all("a", [_event(n, size) for n in range(1 + 3_000_000 // (size + 300))])
        counted = store.size().journal_bytes
    assert 0.7 * counted < os.path.getsize(os.path.join(path, DATABASE)) < 1.25 * counted


def _event(seq: int, size: int = 300) -> Any:
    from penstock.store import Event

    return Event(seq=seq, type="noted", data={"n": "x" * size})


@pytest.mark.proves("S-17")
def test_a_full_store_says_what_helps_and_it_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command in the message runs as it is, and then the content can be kept."""
    url = f"sqlite://{tmp_path}/my store"

    def filled() -> str:
        with closing(open_store(url, limit_bytes=3 << 20)) as store:
            for number in range(100):
                handle = store.put(os.urandom(200_000), name="x")
                store.append(f"s{number:02}", 0, "returned", {"r": handle}, handles=[handle])
        raise AssertionError

    with pytest.raises(StoreFault) as caught:
        filled()
    said = re.search(r"`(penstock store gc [^`]*)`", caught.value.message)
    assert said is not None
    with mock.patch.dict(os.environ, {"PENSTOCK_STORE_LIMIT_BYTES": str(3 << 20)}):
        assert main([*shlex.split(said[1])[1:], "--dry-run"]) == 0
        dry = capsys.readouterr().out
        assert "s00" in dry
        assert main(shlex.split(said[1])[1:]) == 0
        assert capsys.readouterr().out.splitlines()[1:] == dry.splitlines()[1:]
    with closing(open_store(url, limit_bytes=3 << 20)) as store:
        assert store.read(store.put(b"y" * 200_000), 0, 1) == b"y"
        names = [info.session for info in store.sessions()]
        assert "s00" not in names
        assert len(names) >= 12


# ── for good ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_removed_artifact_is_in_no_file_of_the_store(tmp_path: Path, is_compressed: bool) -> None:
    """It is not in pieces, plain or compressed, nor under another name, nor in a killed process's unfinished file."""
    store = SqliteStore(str(tmp_path / "store"))
    content = text_with(SECRET, 3 * PIECE_BYTES)
    handle, twin = store.put(content, name=f"tool {SECRET.decode()}"), store.put(content, name="twin")
    kept = store.put(b"something else")
    if is_compressed:
        assert store.prune().compressed == 1
        assert not found_in(store.path, SECRET + b"line 0 of a log")
    left = Path(store.path, "contents", "pending-0123456789abcdef")
    left.write_bytes(content)  # by a process that was killed while writing
    left.chmod(0o600)
    stored = [path.read_bytes() for path in Path(store.path, "contents").iterdir()]
    marks = [
        SECRET,
        *(part[at : at + 48] for part in stored for at in range(0, len(part) - 48, 65_521) if len(part) > 99),
    ]
    assert found_in(store.path, *marks)
    store.remove_artifact(handle)
    assert found_in(store.path, *marks) == []
    for gone in (handle, twin):
        with pytest.raises(ToolError, match="a person removed it") as caught:
            store.read(gone, 0, 1)
        assert caught.value.code == "expired"
    assert store.read(kept, 0, 99) == b"something else"
    assert store.check() == []
    store.close()
    assert found_in(store.path, *marks) == []


@pytest.mark.proves("S-17")
def test_a_removed_session_is_in_no_file_of_the_store(tmp_path: Path) -> None:
    """It is not in deleted rows, in gaps of pages, in the log, or in the search index."""
    path = str(tmp_path / "store")
    with closing(SqliteStore(path)) as store:
        shared = store.put(b"shared " * 1_000)
        for number in range(40):  # rows in between, so that pages are split and refilled
            for session in ("other", "secret"):
                said = SECRET.decode() if session == "secret" else "nothing"
                text = f"{said} {number} " * (1 + 37 * number % 200)
                named = [shared] if number == 3 else []
                store.append(session, number, "returned", {"text": text}, handles=named)
        own = store.put(text_with(SECRET, PIECE_BYTES))
        store.append("secret", 40, "returned", {"text": "…"}, handles=[own])
        index = Path(path, "ranked")
        index.mkdir(mode=0o700)
        (index / "words.sqlite3").write_bytes(SECRET)
        left = Path(path, "contents", "pending-0123456789abcdef")
        left.write_bytes(SECRET)  # by a process that was killed while writing
        left.chmod(0o600)
        assert {Path(name).name for name in found_in(path, SECRET)} >= {f"{DATABASE}-wal", "words.sqlite3", left.name}
        (gone,) = store.remove_sessions(["secret"])
        assert gone.bytes > PIECE_BYTES
        assert found_in(path, SECRET) == []
        assert [info.session for info in store.sessions()] == ["other"]
        assert store.read(shared, 0, 6) == b"shared"
        with pytest.raises(ToolError, match="is gone"):
            store.read(own, 0, 1)
    with closing(SqliteStore(path)) as store:  # the newest record was noted for the removed session
        assert store.check() == []
        assert len(list(store.events("other"))) == 40
        assert list(store.events("secret")) == []
        store.append("secret", 0, "begun", {})  # the name is free again
        assert store.check() == []


@pytest.mark.proves("S-17")
def test_what_a_killed_process_left_goes_with_what_is_beyond_the_rules(tmp_path: Path) -> None:
    """This holds even if nothing exceeds the rules; a dry run leaves it."""
    with closing(SqliteStore(str(tmp_path / "store"))) as store:
        left = Path(store.path, "contents", "pending-0123456789abcdef")
        left.write_bytes(SECRET)
        left.chmod(0o600)
        assert store.collect(Retention(max_days=1), is_dry_run=True) == []
        assert left.exists()
        assert store.collect(Retention(max_days=1)) == []
        assert not left.exists()


@pytest.mark.proves("S-17")
def test_what_an_older_penstock_left_in_its_pages_goes_too(tmp_path: Path) -> None:
    """A database written without overwriting deleted content keeps it in free pages until it is rewritten."""
    path = str(tmp_path / "store")
    with closing(SqliteStore(path)) as store:
        for number in range(50):
            store.append("old", number, "returned", {"text": SECRET.decode() * 300})
        store.append("new", 0, "returned", {})
    with closing(sqlite3.connect(os.path.join(path, DATABASE))) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("DELETE FROM records WHERE session = 'old'")
        connection.execute("DELETE FROM sessions WHERE session = 'old'")
        connection.commit()
    assert found_in(path, SECRET)
    with closing(SqliteStore(path)) as store:
        store.remove_sessions(["new"])
        assert found_in(path, SECRET) == []


@pytest.mark.proves("S-17")
def test_a_file_that_cannot_be_removed_is_told_of_and_goes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A permission is missing, or on Windows somebody reads it: nothing is said to be gone that is still there."""
    store = SqliteStore(str(tmp_path))
    handle = store.put(text_with(SECRET, 100_000))
    with monkeypatch.context() as patched:

        def denied(*_: object) -> None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "content")

        patched.setattr(OwnFolder, "remove", denied)
        with pytest.raises(StoreFault, match="still there: `penstock store gc"):
            store.remove_artifact(handle)
        with pytest.raises(StoreFault, match="still there: `penstock store gc"):
            store.collect(Retention())
    assert found_in(tmp_path, SECRET)
    store.collect(Retention())
    assert found_in(tmp_path, SECRET) == []
    store.close()


@pytest.mark.proves("S-17")
def test_who_reads_meanwhile_is_told_of_and_the_rest_goes_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader in another program keeps old pages in the log: that is reported, and `gc` finishes the removal."""
    from penstock.store import sqlite as backend

    monkeypatch.setattr(backend, "WAIT_SECONDS", 0.2)
    path = str(tmp_path / "store")
    with closing(SqliteStore(path)) as store:
        store.append("s", 0, "returned", {"text": SECRET.decode()})
        with closing(sqlite3.connect(os.path.join(path, DATABASE), isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM records").fetchall()
            with pytest.raises(StoreFault) as caught:
                store.remove_sessions(["s"])
            assert caught.value.code == "busy"
            assert store.sessions() == []
            reader.execute("ROLLBACK")
        said = re.search(r"`(penstock store gc [^`]*)`", caught.value.message)
        assert said is not None
        assert main(shlex.split(said[1])[1:]) == 0
        assert found_in(path, SECRET) == []


@pytest.mark.proves("S-17")
def test_what_is_removed_is_in_no_table_of_the_server(server: Server) -> None:
    """This covers what SQL can reach, the files of the tables; the server's log is its own."""
    store = PostgresStore(server.database(os.urandom(8).hex()))
    content = text_with(SECRET, 2 * PIECE_BYTES)
    handle = store.put(content)
    store.append("s", 0, "returned", {"text": SECRET.decode() * 50}, handles=[handle])
    store.append("t", 0, "returned", {"text": "other"})
    # Its own database alone: another test may have left this secret in that of its own.
    row = store._connected().execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    assert row is not None
    base = os.path.join(server.data, "base", str(row[0]))
    store._connected().execute("CHECKPOINT")
    assert found_in(base, SECRET)
    assert store.remove_artifact(handle).named_by == ("s",)
    store.remove_sessions(["s"])
    assert found_in(base, SECRET) == []
    assert [info.session for info in store.sessions()] == ["t"]
    assert store.check() == []
    store.close()


@pytest.mark.proves("S-17")
def test_a_session_goes_with_what_only_it_names(store: Tables, clock: Clock) -> None:
    """An artifact that another session names, or that somebody kept under another name, stays."""
    own, shared, named = store.put(b"own" * 99), store.put(b"shared" * 99), store.put(b"named" * 99, name="a")
    elsewhere = store.put(b"named" * 99, name="b")
    store.append("one", 0, "begun", {}, handles=[own, shared, named])
    clock.now += 1
    store.append("two", 0, "begun", {}, handles=[shared])
    assert [(info.session, info.bytes > 297 + 250) for info in store.sessions()] == [("two", False), ("one", True)]
    store.remove_sessions(["one", "one"])
    assert {info.handle for info in store.artifacts()} == {shared, elsewhere}
    assert [info.session for info in store.sessions()] == ["two"]
    assert store.size().sessions == 1
    assert store.check() == []
    with pytest.raises(ToolError, match="no session one"):
        store.remove_sessions(["two", "one"])
    assert [info.session for info in store.sessions()] == ["two"]


@pytest.mark.proves("S-17")
def test_an_artifact_that_sessions_name_goes_and_they_are_named(store: Tables) -> None:
    """Their journals may quote it: whoever removes a secret is told where else to look."""
    handle = store.put(SECRET)
    store.append("one", 0, "returned", {"text": SECRET.decode()}, handles=[handle])
    gone = store.remove_artifact(handle)
    assert (gone.what, gone.name, gone.bytes, gone.named_by) == ("artifact", handle, len(SECRET), ("one",))
    assert len(list(store.events("one"))) == 1
    assert store.put(SECRET) != handle  # kept again, it has a new name
    for name in (handle, "nothing"):
        with pytest.raises(ToolError):
            store.remove_artifact(name)


def test_what_has_expired_and_lies_there_still_can_be_removed(store: Tables, clock: Clock) -> None:
    """Nobody can read it any more, but its bytes are still there."""
    handle = store.put(SECRET)
    clock.now += 30 * DAY
    assert store.remove_artifact(handle).bytes == len(SECRET)
    assert store.size().stored_bytes == 0


# ── what runs stays ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("S-17")
def test_a_session_that_runs_is_never_removed(opened: Callable[..., Tables], clock: Clock) -> None:
    """No name, rule or artifact removes it while the store that works on it is open elsewhere."""
    runs, store = opened(), opened()
    handle = runs.put(b"content")
    runs.append("live", 0, "begun", {}, handles=[handle])
    store.append("idle", 0, "begun", {})
    assert {info.session: info.is_running for info in store.sessions()} == {"live": True, "idle": False}
    clock.now += 400 * DAY
    for remove in (lambda: store.remove_sessions(["live"]), lambda: store.remove_artifact(handle)):
        with pytest.raises(ToolError, match="works on live") as caught:
            remove()
        assert caught.value.code == "busy"
    assert store.collect(Retention(max_days=1, max_bytes=1, max_sessions=1)) == []
    assert store.read(handle, 0, 7) == b"content"
    runs.close()
    assert [one.name for one in store.collect(Retention(max_days=1))] == ["live"]


def _append_and_hang(path: str, told: Any) -> None:
    store = SqliteStore(path)
    store.append("killed", 0, "begun", {})
    told.send("done")
    told.recv()


@pytest.mark.proves("S-17")
def test_a_clock_that_was_wrong_once_makes_nothing_old(opened: Callable[..., Tables], clock: Clock) -> None:
    """A machine began in a later year, for one output: what is used afterwards is as young as it is."""
    with closing(opened()) as store:
        clock.now += 36_500 * DAY
        store.put(b"from a later year")
        clock.now -= 36_500 * DAY
        store.append("today", 0, "asked", {})
    with closing(opened()) as other:
        assert other.collect(Retention(max_days=30)) == []
        clock.now += 31 * DAY
        assert "today" in [one.name for one in other.collect(Retention(max_days=30))]


@pytest.mark.proves("S-17")
def test_who_was_killed_holds_nothing(tmp_path: Path) -> None:
    """The hold ends with the process, however it ended, and its remains are removed."""
    path = str(tmp_path / "store")
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_append_and_hang, args=(path, there))
    process.start()
    here.recv()
    with closing(SqliteStore(path)) as store:
        with pytest.raises(ToolError, match="End it first") as refused:
            store.remove_sessions(["killed"])
        assert refused.value.calls == (Call("show", {"session_id": "killed"}),)
        process.kill()
        process.join()
        assert [one.name for one in store.remove_sessions(["killed"])] == ["killed"]
        store.append("mine", 0, "begun", {})
        assert sum(name.startswith("running-") for name in os.listdir(path)) == 1
    assert not any(name.startswith("running-") for name in os.listdir(path))


# ── rules ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _sessions(opened: Callable[..., Tables], clock: Clock, number: int, size: int = 10_000) -> None:
    """Make sessions, one a day, each with its own store as commands have."""
    for at in range(number):
        clock.now += DAY
        with closing(opened()) as store:
            handle = store.put(random.Random(f"{number} {at}").randbytes(size))
            store.append(f"s{at}", 0, "returned", {}, handles=[handle])


@pytest.mark.proves("S-17")
@pytest.mark.parametrize(
    ("rules", "gone", "why"),
    [
        (Retention(max_days=6.5), 3, "unused for more than 6.5 days"),
        (Retention(max_sessions=4), 6, "more than 4 sessions"),
        (Retention(max_bytes=55_000), 5, "more than 55000 bytes"),
        (Retention(max_days=8.5, max_sessions=2), 8, "more than 2 sessions"),
        (Retention(), 0, ""),
    ],
)
def test_what_is_beyond_a_rule_goes_the_oldest_first(
    opened: Callable[..., Tables], clock: Clock, rules: Retention, gone: int, why: str
) -> None:
    """A dry run names what the run then removes, and removals are recorded."""
    _sessions(opened, clock, 10)
    store = opened()
    dry = store.collect(rules, is_dry_run=True)
    assert store.size().sessions == 10
    done = store.collect(rules)
    assert dry == done
    assert [one.name for one in done] == [f"s{at}" for at in range(gone)]
    assert {one.why for one in done[-1:]} == ({why} if why else set())
    assert (store.size().sessions, store.size().artifacts) == (10 - gone, 10 - gone)
    assert store.removals() == done[::-1]
    assert store.check() == []


@pytest.mark.parametrize("room_for", [0, 2, 9])
def test_what_a_nearly_full_disk_cannot_let_go_of_at_once_goes_one_by_one(
    opened: Callable[..., Tables], clock: Clock, monkeypatch: pytest.MonkeyPatch, room_for: int
) -> None:
    """Removals are reported even without room for the rest; if nothing can be removed, the disk is named."""
    _sessions(opened, clock, 6)
    store, tried = opened(), list[int]()
    store._gives_reserve_back()

    def full(self: Tables, execute: Any, sessions: list[str], why: str) -> list[str]:
        tried.append(len(sessions))
        if len(sessions) > 1 or len(tried) > 1 + room_for:
            raise StoreFault("disk_full", "The disk is full.")
        return forgotten(self, execute, sessions, why)

    forgotten = removal.RemovalTables._forgotten
    monkeypatch.setattr(removal.RemovalTables, "_forgotten", full)
    if room_for:
        done = [one.name for one in store.collect(Retention(max_sessions=2))]
        assert done == ["s0", "s1", "s2", "s3"][:room_for]
        assert [one.name for one in store.removals()] == done[::-1]
    else:
        with pytest.raises(StoreFault, match="The disk is full"):
            store.collect(Retention(max_sessions=2))
    assert tried[:2] == [4, 1]
    assert store.size().sessions == 6 - min(4, room_for)
    assert store.check() == []


class _WithoutRoom:
    """A connection to a database whose disk has no room to rewrite it."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, parameters: Any = ()) -> Any:
        if statement == "VACUUM":
            full = sqlite3.OperationalError("database or disk is full")
            full.sqlite_errorname = "SQLITE_FULL"
            raise full
        return self._connection.execute(statement, parameters)


@pytest.mark.proves("S-17")
def test_what_is_removed_without_room_to_write_anew_is_gone_and_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is empty all the same, so that the next removal has room; `gc` reports removals before the disk."""
    path = str(tmp_path / "s")
    with closing(SqliteStore(path)) as store:
        for name in ("a", "b"):
            store.append(name, 0, "asked", {"text": SECRET.decode() + "x" * 50_000})
    connected = SqliteStore._connected
    monkeypatch.setattr(SqliteStore, "_connected", lambda store: _WithoutRoom(connected(store)))
    with closing(SqliteStore(path)) as store:
        with pytest.raises(
            StoreFault, match=r"has no room to write .* What was removed is gone.* `penstock store gc --store"
        ) as no:
            store.remove_sessions(["a"])
        assert no.value.code == "disk_full"
        assert [one.session for one in store.sessions()] == ["b"]
        assert os.path.getsize(os.path.join(path, f"{DATABASE}-wal")) == 0
        gc = ["store", "gc", "--max-bytes", "1", "--store", path]
        assert main(gc) == 8
        said = capsys.readouterr()
        assert said.out.startswith("1 removed: ")
        assert "has no room to write" in said.err
        assert main([*gc, "--json"]) == 8
        assert '"removed": [], ' in (told := capsys.readouterr().out)
        assert '"fault": {"code": "disk_full"' in told


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("deed", ["session", "artifact", "rule"])
def test_on_a_full_disk_indexes_make_room_for_a_removal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    """The next search rebuilds them; without indexes the disk is named, and nothing is tried twice."""
    index = tmp_path / "s" / "ranked" / "tree"
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        handle = store.put(b"x" * 9_000)
        store.append("a", 0, "returned", {}, handles=[handle])
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        let_go_of, tried = removal.RemovalTables._let_go_of, list[bool]()

        def full(self: Tables, *given: Any) -> list[str]:
            tried.append(index.exists())
            if index.exists() or not index.parent.exists():
                raise StoreFault("disk_full", "The disk is full.")
            return let_go_of(self, *given)

        monkeypatch.setattr(removal.RemovalTables, "_let_go_of", full)

        def done() -> object:
            store._gives_reserve_back()
            if deed == "rule":
                return store.collect(Retention(max_bytes=1))
            return store.remove_sessions(["a"]) if deed == "session" else store.remove_artifact(handle)

        with pytest.raises(StoreFault, match="The disk is full"):
            done()
        assert not any(tried)
        tried.clear()
        index.parent.mkdir(mode=0o700)
        index.write_bytes(b"i" * 5_000)
        assert done()
    assert tried == [True, False]


def test_what_is_too_large_for_a_full_disk_goes_once_smaller_things_made_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest session used to block all others: a long journal needs its own length of room until it is removed."""
    reserve = tmp_path / "s/reserve"
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        store.append("long", 0, "asked", {"text": "x" * 9_000})
        store.append("short", 0, "asked", {})
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        forgotten = removal.RemovalTables._forgotten

        def full(self: Tables, execute: Any, sessions: list[str], why: str) -> list[str]:
            held = execute("SELECT 1 FROM sessions WHERE session = 'short'", ())
            if reserve.exists() or ("long" in sessions and held):
                raise StoreFault("disk_full", "The disk is full.")
            return forgotten(self, execute, sessions, why)

        monkeypatch.setattr(removal.RemovalTables, "_forgotten", full)
        with pytest.raises(StoreFault, match="The disk is full"):
            store.remove_sessions(["long"])
        assert reserve.exists(), "what failed leaves the room to something smaller"
        assert [one.name for one in store.collect(Retention(max_bytes=1))] == ["short", "long"]
        assert (store.sessions(), store.check()) == ([], [])


def test_a_little_less_is_kept_free_where_that_is_all_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failed removal, the index of the log has taken some room."""
    hold = OwnFolder.hold_room

    def held(self: OwnFolder, name: str, size_bytes: int) -> None:
        if size_bytes > 1 << 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        hold(self, name, size_bytes)

    monkeypatch.setattr(OwnFolder, "hold_room", held)
    SqliteStore(str(tmp_path / "s")).close()
    assert os.stat(tmp_path / "s/reserve").st_size == 1 << 20


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("deed", ["session", "artifact", "rule"])
def test_room_that_is_kept_for_it_makes_a_removal_possible_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    """The reserve is released for the removal, and kept again afterwards."""
    reserve = tmp_path / "s/reserve"
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        handle = store.put(b"x" * 9_000)
        store.append("a", 0, "returned", {}, handles=[handle])
    assert os.stat(reserve).st_blocks * 512 >= 2 << 20
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        let_go_of = removal.RemovalTables._let_go_of

        def full(self: Tables, *given: Any) -> list[str]:
            if reserve.exists():
                raise StoreFault("disk_full", "The disk is full.")
            return let_go_of(self, *given)

        monkeypatch.setattr(removal.RemovalTables, "_let_go_of", full)
        done: object = (
            store.collect(Retention(max_bytes=1))
            if deed == "rule"
            else store.remove_sessions(["a"])
            if deed == "session"
            else store.remove_artifact(handle)
        )
        assert done
        assert reserve.exists()


@pytest.mark.proves("S-17")
def test_a_server_without_room_to_write_anew_says_what_is_gone(server: Server) -> None:
    """The rows are gone, and their bytes wait for room."""
    with closing(PostgresStore(server.database(os.urandom(8).hex()))) as store:
        for name in ("a", "b"):
            store.append(name, 0, "asked", {"text": "x"})
        connected = store._connected

        class Full:
            """A connection whose server has no room for files."""

            def __getattr__(self, name: str) -> Any:
                return getattr(connected(), name)

            def execute(self, statement: Any, parameters: Any = None) -> Any:
                if "VACUUM" in str(statement):
                    raise store._psycopg.errors.DiskFull("could not extend file")
                return connected().execute(statement, parameters)

        with mock.patch.object(store, "_connected", Full), pytest.raises(StoreFault, match="is gone from them") as full:
            store.remove_sessions(["a"])
        assert full.value.code == "disk_full"
        assert [one.session for one in store.sessions()] == ["b"]


@pytest.mark.proves("S-17")
def test_of_a_disk_without_a_byte_a_session_is_removed(tmp_path: Path) -> None:
    """On a real disk SQLite can create neither its log nor the log's index."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", str(disk)]
    if sys.platform != "linux" or subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        with closing(SqliteStore(str(disk / "s"))) as store:
            for name in ("a", "b", "c"):
                for seq in range(20):
                    store.append(name, seq, "asked", {"text": os.urandom(10_000).hex()})
        with open(disk / "fill", "wb", buffering=0) as fill, suppress(OSError):
            while fill.write(bytes(4_096)):
                pass
        assert os.statvfs(disk).f_bavail == 0
        with closing(SqliteStore(str(disk / "s"))) as store:
            try:
                store.remove_sessions(["a"])
            except StoreFault as fault:  # removed, but no room to rewrite everything
                assert "What was removed is gone" in fault.message  # noqa: PT017
            assert [one.name for one in store.collect(Retention(max_sessions=1))] == ["b"]
            assert [one.session for one in store.sessions()] == ["c"]
            assert store.check() == []
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("deed", ["session", "rule"])
def test_of_a_disk_without_a_byte_a_session_larger_than_the_reserve_is_removed(tmp_path: Path, deed: str) -> None:
    """The journal is removed from its end, in parts that fit into the log; nothing else could make room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", str(disk)]
    if sys.platform != "linux" or subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        with closing(SqliteStore(str(disk / "s"))) as store:
            for name in ("long", "other"):
                for seq in range(200 if name == "long" else 2):
                    store.append(name, seq, "asked", {"text": os.urandom(10_000).hex()})
        with open(disk / "fill", "wb", buffering=0) as fill, suppress(OSError):
            while fill.write(bytes(4_096)):
                pass
        with closing(SqliteStore(str(disk / "s"))) as store:
            try:
                gone = store.collect(Retention(max_sessions=1)) if deed == "rule" else store.remove_sessions(["long"])
            except StoreFault as fault:  # removed, but no room to rewrite everything
                assert "What was removed is gone" in fault.message  # noqa: PT017
            else:
                assert [(one.name, one.bytes > 4_000_000) for one in gone] == [("long", True)]
            assert [one.session for one in store.sessions()] == ["other"]
            assert store.check() == []
            assert os.statvfs(disk).f_bavail * 4_096 > 3_000_000
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_session_whose_removal_in_parts_was_interrupted_is_shorter_and_sound(tmp_path: Path) -> None:
    """The rest can be read, checked, listed, continued and removed."""
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        for seq in range(120):
            store.append("long", seq, "asked", {"text": "x" * 10_000})
        assert store._shortened("long")
        assert [record.seq for record in store.events("long")] == list(range(68))
        assert (store.sessions()[0].records, store.check()) == (68, [])
    with closing(SqliteStore(str(tmp_path / "s"))) as store:
        assert store.append("long", 68, "asked", {}).seq == 68
        assert store.check() == []
        store.append("short", 0, "asked", {"text": "x"})
        assert not store._shortened("short"), "a single record goes with its session"
        assert {one.name for one in store.remove_sessions(["long", "short"])} == {"long", "short"}
        assert (store.sessions(), store.check()) == ([], [])


@pytest.mark.proves("S-17")
def test_a_rule_takes_what_nothing_names_by_its_age_too(opened: Callable[..., Tables], clock: Clock) -> None:
    """An output kept after a session was last used outlives it."""
    _sessions(opened, clock, 2)
    store = opened()
    clock.now += 1
    loose = store.put(b"x" * 10_000)
    assert [one.name for one in store.collect(Retention(max_bytes=25_000))] == ["s0"]
    assert [one.what for one in store.collect(Retention(max_bytes=1))] == ["session", "artifact"]
    with pytest.raises(ToolError, match="a rule removed it: more than 1 bytes"):
        store.read(loose, 0, 1)


@pytest.mark.proves("S-17")
def test_rules_hold_when_a_session_begins_and_tell(opened: Callable[..., Tables], clock: Clock) -> None:
    """Rules are off by default; the store that applies them reports what they removed."""
    _sessions(opened, clock, 5)
    store = opened()
    store.append("none", 0, "begun", {})
    assert (store.taken, store.size().sessions) == ((), 6)
    store.close()
    clock.now += 1
    store = opened()
    store.retention = Retention(max_sessions=3)
    store.append("next", 0, "begun", {})
    assert [one.name for one in store.taken] == ["s0", "s1", "s2", "s3"]
    assert [info.session for info in store.sessions()] == ["next", "none", "s4"]
    store.append("next", 1, "asked", {})
    assert len(store.taken) == len(store.removals()) == 4


@pytest.mark.proves("S-17")
def test_what_rules_cost_is_what_goes_and_not_what_is_kept(opened: Callable[..., Tables], clock: Clock) -> None:
    """A session that runs all year, and hundreds kept with an output each, are not examined at each begin."""
    old, store = opened(), opened()
    old.append("old", 0, "asked", {})
    clock.now += 90 * DAY
    for n in range(300):
        clock.now += 60
        store.append(f"s{n:03}", 0, "asked", {}, handles=[store.put(b"output %d" % n)])
    store._forget([f"s{n:03}" for n in range(300)])
    store.retention = Retention(max_days=30, max_bytes=1 << 30, max_sessions=1_000)
    read: list[int] = []
    execute = type(store)._read

    def counted(self: Any, statement: str, parameters: Any = ()) -> Any:
        rows = execute(self, statement, parameters)
        read.append(len(rows))
        return rows

    with mock.patch.object(type(store), "_read", counted):
        store.append("new", 0, "asked", {})
    assert store.taken == ()
    assert sum(read) < 40
    store.close()
    old.close()


@pytest.mark.proves("S-17")
def test_what_sessions_keep_beyond_its_time_is_looked_at_once(store: Tables, clock: Clock) -> None:
    """Otherwise a thousand old sessions would slow down each `put`; what nothing keeps is removed, now and later."""
    for n in range(20):
        store.append(f"s{n}", 0, "asked", {}, handles=[store.put(b"kept %d" % n)])
    loose = store.put(b"loose")
    clock.now += 30 * DAY
    later = store.put(b"later")
    looked = "SELECT COUNT(*) FROM handles WHERE gone = '' AND expires > (SELECT swept FROM clock) AND expires <= ?"
    assert store._read(looked, (clock.now,)) == [(0,)]
    clock.now += 30 * DAY
    store.put(b"last")
    for handle in (loose, later):
        with pytest.raises(ToolError, match="its time was over"):
            store.info(handle)
        assert store._read("SELECT gone FROM handles WHERE handle = ?", (handle,)) == [("its time was over",)]
    assert store.size().artifacts == 21


@pytest.mark.proves("S-17")
def test_who_has_ended_is_forgotten_by_the_next_that_begins(tmp_path: Path) -> None:
    """Otherwise each start of a program would leave a row that every later one checks."""
    for n in range(3):
        with closing(open_store(str(tmp_path / "s"))) as store:
            store.append(f"s{n}", 0, "asked", {})
            assert store._read("SELECT session FROM running") == [(f"s{n}",)]  # type: ignore[attr-defined]


def test_a_sum_that_is_not_what_contents_take_is_named(store: Tables) -> None:
    """The limit depends on this sum."""
    store.put(b"x" * 1_000)
    handle = store.put(b"y" * 5_000)
    store.prune()
    store.remove_artifact(handle)
    assert store.check() == []
    with store._writing() as execute:
        execute("UPDATE totals SET content_bytes = content_bytes + 1")
    assert [damage.reason for damage in store.check()] == ["the sum of what contents take is not what they take"]


def judged_at_leisure(kept: list[Removal], rules: Retention, now: float, used: int, busy: int) -> set[str]:
    """Return what exceeds some rules, examining everything for each rule."""
    sessions = [one for one in kept if one.what == "session"]
    gone = {one.name for one in kept if rules.max_days is not None and one.at < now - rules.max_days * DAY}
    if rules.max_sessions is not None:
        gone |= {one.name for one in sessions[: max(0, len(sessions) - max(1, rules.max_sessions - busy))]}
    left = used - sum(one.bytes for one in kept if one.name in gone)
    for one in kept:
        if rules.max_bytes is not None and left > rules.max_bytes and one.name not in gone:
            gone.add(one.name)
            left -= one.bytes
    return gone


@pytest.mark.proves("S-17")
@given(
    rows=st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(1, 50)), max_size=12),
    rules=st.builds(
        Retention,
        max_days=st.none() | st.integers(1, 9),
        max_bytes=st.none() | st.integers(1, 300),
        max_sessions=st.none() | st.integers(1, 8),
    ),
    beside=st.integers(0, 50),
    busy=st.integers(0, 3),
)
def test_law_what_is_read_one_by_one_is_judged_as_at_leisure(
    rows: list[tuple[bool, int, int]], rules: Retention, beside: int, busy: int
) -> None:
    """Rules that stop early remove what an exhaustive check removes, and read little more than that."""
    kept = [
        Removal(what="session" if is_session else "artifact", name=f"{n:02}", bytes=size, at=float(day * DAY))
        for n, (is_session, day, size) in enumerate(sorted(rows, key=lambda row: row[1]))
    ]
    read: list[Removal] = []

    def one_by_one() -> Iterator[Removal]:
        for one in kept:
            read.append(one)
            yield one

    used, idle = beside + sum(one.bytes for one in kept), sum(one.what == "session" for one in kept)
    found = overdue(one_by_one(), rules, now=9.0 * DAY, used_bytes=used, idle_sessions=idle, busy_sessions=busy)
    assert {one.name for one in found} == judged_at_leisure(kept, rules, 9.0 * DAY, used, busy)
    if rules.max_sessions is None:
        assert len(read) <= len(found) + 1


def test_so_many_removals_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest are remembered, whether rules removed them one by one or many at once."""
    monkeypatch.setattr(removal, "_WRITTEN_DOWN", 4)
    path, names = str(tmp_path / "store"), [f"s{number:02d}" for number in range(15)]
    with closing(SqliteStore(path)) as store:
        for name in names:
            store.append(name, 0, "begun", {})
    with closing(SqliteStore(path)) as store:
        for left in (10, 9, 8, 7, 6, 5, 4):
            store.collect(Retention(max_sessions=left))
        told = [one.name for one in store.removals()]
    assert told == names[:11][:-5:-1]


def test_room_of_removed_sessions_is_given_back(tmp_path: Path) -> None:
    """After a rule the file is smaller, not only emptier."""
    path = str(tmp_path / "store")
    with closing(SqliteStore(path)) as store:
        for number in range(200):
            store.append("big", number, "returned", {"text": "x" * 20_000})
    before = os.path.getsize(os.path.join(path, DATABASE))
    with closing(SqliteStore(path)) as store:
        store.append("new", 0, "begun", {})
        assert [one.name for one in store.collect(Retention(max_bytes=100_000))] == ["big"]
        assert os.path.getsize(os.path.join(path, DATABASE)) < before / 10


def test_a_store_that_cannot_be_written_anew_says_so(tmp_path: Path) -> None:
    """The fault is reported in the store's own words."""
    with closing(SqliteStore(str(tmp_path / "store"))) as store:
        store._connected().execute("PRAGMA query_only = 1")
        with pytest.raises(StoreFault):
            store.scrub()


def test_what_a_running_session_is_about_to_name_is_not_taken(opened: Callable[..., Tables], clock: Clock) -> None:
    """A turn's outputs are kept as they come, and named together when it is over; whoever needs room takes others'."""
    running, other = opened(), opened(limit_bytes=5_500)
    loose = running.put(b"x" * 1_000)
    running.append("s", 0, "asked", {})
    first, second = running.put(b"1" * 1_000), running.put_many([(b"2" * 1_000, "two"), (b"3" * 1_000, "three")])[0]
    assert other.put(b"4" * 2_000)  # there is room for it without the one that nobody holds
    with pytest.raises(ToolError, match="the oldest when room was needed"):
        running.read(loose, 0, 1)
    other.collect(Retention(max_bytes=1, max_days=1e-9))
    with pytest.raises(ToolError, match="a process that runs now works on s"):
        other.remove_artifact(first)
    clock.now += 1  # from now on the session is newer than what it has put
    running.append("s", 1, "returned", {}, handles=[first, second])
    assert running.read(first, 0, 2_000) == b"1" * 1_000
    assert running._read("SELECT COUNT(*) FROM unnamed") == [(1,)]
    running.close()
    # The third was never named, and its process has ended.
    assert {one.bytes for one in other.artifacts()} == {1_000}
    assert [one.what for one in other.collect(Retention(max_bytes=3_000))] == ["artifact"]
    assert [one.handle for one in other.artifacts()] == [first, second]
    assert other.check() == []


def test_what_another_session_named_stays_for_one_that_is_about_to(opened: Callable[..., Tables]) -> None:
    """The same output has the same handle: it outlives the session that was first."""
    before, running, other = opened(), opened(), opened()
    before.append("old", 0, "returned", {}, handles=[before.put(b"same", name="ls")])
    before.close()
    running.append("new", 0, "asked", {})
    handle = running.put(b"same", name="ls")
    assert [one.name for one in other.remove_sessions(["old"])] == ["old"]
    running.append("new", 1, "returned", {}, handles=[handle])
    assert running.read(handle, 0, 9) == b"same"


def test_what_a_process_that_has_ended_put_is_not_remembered_after_its_session(opened: Callable[..., Tables]) -> None:
    """Each look for room would ask for every process that ever ended so."""
    ended, other = opened(), opened()
    ended.append("s", 0, "asked", {})
    ended.put(b"never named")
    ended.close()
    other.remove_sessions(["s"])
    other.append("t", 0, "asked", {})
    assert other._read("SELECT * FROM unnamed") == []


def test_a_process_that_names_nothing_holds_no_more_than_a_turn_makes(
    opened: Callable[..., Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its oldest outputs go when room is needed, as they would without a session."""
    monkeypatch.setattr(keeping, "_MOST_UNNAMED", 2)
    store = opened()
    store.append("s", 0, "asked", {})
    handles = [store.put(b"%d" % n * 1_000) for n in range(3)]
    assert [(handle,) for handle in sorted(handles[1:])] == store._read("SELECT handle FROM unnamed ORDER BY handle")
    opened().collect(Retention(max_bytes=1))
    assert [one.handle for one in store.artifacts()] == handles[1:]


def test_what_is_removed_while_it_is_read_is_gone_and_not_damaged(
    opened: Callable[..., Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process removes it between two statements of whoever reads."""
    reader, other = opened(), opened()
    real = type(reader)._content
    reads: tuple[Callable[[str], object], ...] = (
        lambda handle: reader.read(handle, 0, 1),
        reader.info,
        lambda handle: reader.line_start(handle, 1),
        lambda handle: reader.lines_before(handle, 1),
    )
    for n, read in enumerate(reads):
        handle = other.put(b"%d" % n)

        def removed(store: Tables, digest: str, handle: str = handle) -> tuple[Any, ...]:
            with suppress(ToolError):
                other.remove_artifact(handle)
            return real(store, digest)

        monkeypatch.setattr(reader, "_content", partial(removed, reader))
        with pytest.raises(ToolError, match="a person removed it"):
            read(handle)


def test_a_session_that_is_removed_while_it_is_read_does_not_seem_to_end(opened: Callable[..., Tables]) -> None:
    """Whoever exports it has its beginning, and is told that there was more."""
    reader, other = opened(), opened()
    other.append_all("s", [Event(seq=seq, type="asked", data={}) for seq in range(30)])
    events = reader.events("s")
    assert next(events).seq == 0
    other.remove_sessions(["s"])
    with pytest.raises(ToolError, match="Session s was removed while it was read"):
        list(events)
    assert list(reader.events("s")) == []


def test_what_is_removed_beside_a_check_is_no_damage(
    opened: Callable[..., Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session goes between two of its batches."""
    reader, other = opened(), opened()
    other.append_all("s", [Event(seq=seq, type="asked", data={}) for seq in range(30)])
    real = reader._read

    def read(statement: str, parameters: Sequence[object] = ()) -> Any:
        rows = real(statement, parameters)
        if "seq >= ?" in statement:
            with suppress(ToolError):
                other.remove_sessions(["s"])
        return rows

    monkeypatch.setattr(reader, "_read", read)
    assert reader.check() == []
    assert reader.sessions() == []


@pytest.mark.parametrize(
    ("between", "deed"),
    [
        ("FROM handles", lambda store, handle: store.remove_artifact(handle)),
        ("seq >= ?", lambda store, handle: store.append("s", 1, "asked", {})),
        ("seq >= ?", lambda store, handle: store.remove_sessions(["s"])),
    ],
)
def test_what_happens_beside_a_check_is_no_damage(
    opened: Callable[..., Tables],
    monkeypatch: pytest.MonkeyPatch,
    between: str,
    deed: Callable[[Tables, str], object],
) -> None:
    """An artifact goes, a session grows or goes, between two statements about it."""
    reader, other = opened(), opened()
    handle = other.put(b"output")
    other.append("s", 0, "asked", {})
    real, done = reader._read, list[object]()

    def read(statement: str, parameters: Sequence[object] = ()) -> Any:
        rows = real(statement, parameters)
        if between in statement and not done:
            done.append(deed(other, handle))
        return rows

    monkeypatch.setattr(reader, "_read", read)
    assert reader.check() == []
    assert done


def test_an_export_beside_a_removal_names_what_is_left_out(
    opened: Callable[..., Tables], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An output goes between the look at it and its text."""
    reader, other = opened(), opened()
    with closing(opened()) as writer:
        writer.append("s", 0, "returned", {}, handles=[handle := writer.put(b"output")])
    real = reader.info

    def info(handle: str) -> Any:
        found = real(handle)
        other.remove_artifact(handle)
        return found

    monkeypatch.setattr(reader, "info", info)
    *_, last = lines_of(reader, "s")
    assert last["artifact"]["handle"] == handle
    assert "a person removed it" in last["artifact"]["left_out"]
