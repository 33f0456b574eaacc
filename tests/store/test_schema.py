"""Is every old schema upgraded whole to the newest, and a newer one refused?"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.store import old_stores

from penstock.errors import ToolError
from penstock.store import StoreFault, postgres, schema
from penstock.store import sqlite as backend
from penstock.store.marks import secrets_of
from penstock.store.postgres import PostgresStore
from penstock.store.sqlite import DATABASE, SqliteStore

if TYPE_CHECKING:
    from tests.store.conftest import Server

    from penstock.store.tables import Tables
    from penstock.workspace import own_files

AT = 1_800_000_000.0


def holds_what_was_kept(store: Tables, version: int) -> None:
    """Read, continue, list, collect and remove what an old Penstock wrote."""
    expected = old_stores.RECORDS if version > 1 else old_stores.RECORDS[:1]
    assert [record.data for record in store.events("s")] == expected
    (info,) = store.sessions()
    assert (info.session, info.records, info.at, info.is_running) == ("s", len(expected), AT + len(expected) - 1, False)
    payloads = [len(json.dumps(data, separators=(",", ":"))) for data in expected]
    rows = [size + len("s") + len("asked") + 170 for size in payloads]
    counted = sum(row + 80 if row <= 1_000 else 500 + -(-(row - 500) // 4_092) * 4_096 for row in rows)
    assert store.size().journal_bytes == counted
    assert store.check() == []
    if version > 1:
        assert store.read(old_stores.HANDLE, 0, len(old_stores.CONTENT)) == old_stores.CONTENT
        assert info.bytes == counted + len(old_stores.CONTENT)
        # It was not marked when it was kept, so it is searched when somebody asks.
        assert store.info(old_stores.HANDLE).secrets == (None if version < 6 else {"AWS key": 1})
        assert secrets_of(store, old_stores.HANDLE) == {"AWS key": 1}
        with pytest.raises(ToolError, match="its time was over"):
            store.read(old_stores.EXPIRED, 0, 1)
    assert store.learned("window:m") == (("128000", AT) if version > 2 else None)
    handle = store.put(b"new")
    record = store.append("s", len(expected), "asked", {"more": 1}, handles=[handle])
    assert (record.seq, store.sessions()[0].records) == (len(expected), len(expected) + 1)
    store.append("t", 0, "asked", {})
    assert [one.name for one in store.remove_sessions(["s"])] == ["s"]
    assert (store.size().artifacts, store.size().sessions, store.check()) == (0, 1, [])


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("version", [0, *old_stores.VERSIONS])
def test_a_folder_of_any_version_is_brought_up(tmp_path: Path, version: int) -> None:
    """What an old Penstock wrote is read, counted and removed by this one."""
    path = str(tmp_path / "store")
    if version:
        old_stores.make_folder(path, version, AT)
    store = SqliteStore(path, clock=lambda: AT + 60)
    assert store.facts()["schema"] == str(len(schema.SQLITE)) == str(old_stores.VERSIONS[-1] + 1)
    if version:
        holds_what_was_kept(store, version)
        secret = [old_stores.CONTENT[:99], b"long long long"]
        assert not any(part in file.read_bytes() for file in Path(path).rglob("*") if file.is_file() for part in secret)
    store.close()


@pytest.mark.parametrize("version", old_stores.VERSIONS)
def test_a_folder_of_any_version_that_may_only_be_read_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """An old store is not called damaged, and no byte of it changes."""
    path = tmp_path / "store"
    old_stores.make_folder(str(path), version, AT)
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}

    def denied(folder: own_files.OwnFolder, name: str) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), name)

    monkeypatch.setattr(backend, "_made", denied)
    store = SqliteStore(str(path), clock=lambda: AT + 60)
    expected = old_stores.RECORDS if version > 1 else old_stores.RECORDS[:1]
    assert [record.data for record in store.events("s")] == expected
    assert [(one.session, one.records) for one in store.sessions()] == [("s", len(expected))]
    assert [artifact.handle for artifact in store.artifacts()] == ([old_stores.HANDLE] if version > 1 else [])
    assert store.check() == []
    with pytest.raises(StoreFault) as caught:
        store.put(b"more")
    assert caught.value.code == "read_only"
    store.close()
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store is always at one whole version."""
    path = str(tmp_path / "store")
    monkeypatch.setattr(schema, "SQLITE", schema.SQLITE[:1])
    SqliteStore(path).close()
    monkeypatch.setattr(schema, "SQLITE", (*schema.SQLITE, ("CREATE TABLE half (x)", "NO SQL AT ALL")))
    with pytest.raises(StoreFault):
        SqliteStore(path)
    connection = sqlite3.connect(os.path.join(path, DATABASE))
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall() == []
    connection.close()


def test_a_newer_folder_is_refused(tmp_path: Path) -> None:
    """An unknown schema is not touched."""
    path = str(tmp_path / "store")
    SqliteStore(path).close()
    connection = sqlite3.connect(os.path.join(path, DATABASE))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreFault, match="newer Penstock") as caught:
        SqliteStore(path)
    assert caught.value.code == "newer"
    assert backend.APPLICATION_ID == 0x50454E53


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("version", [0, *old_stores.VERSIONS])
def test_a_database_of_any_version_is_brought_up(server: Server, version: int) -> None:
    """A database of any old version is upgraded on a server too."""
    url = server.database(os.urandom(8).hex())
    if version:
        old_stores.make_database(url, version, AT)
    store = PostgresStore(url, clock=lambda: AT + 60)
    assert store.facts()["schema"] == str(len(schema.POSTGRES))
    if version:
        holds_what_was_kept(store, version)
    store.close()


def test_a_newer_database_is_refused(server: Server) -> None:
    """An unknown schema on a server is not touched either."""
    url = server.database(os.urandom(8).hex())
    PostgresStore(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE penstock.schema_version SET version = 99")
    with pytest.raises(StoreFault, match="newer Penstock"):
        PostgresStore(url)


@pytest.mark.parametrize("operation", ["append", "put"])
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_store_that_a_newer_penstock_has_changed_meanwhile_is_not_written(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str, operation: str
) -> None:
    """A process that has it open knows the old tables: it stops and says why, and what it wrote is there."""
    store: Tables
    if kind == "sqlite":
        store = SqliteStore(str(tmp_path / "store"))
        store.append("s", 0, "asked", {})
        with closing(sqlite3.connect(tmp_path / "store" / DATABASE)) as newer:
            newer.execute(f"PRAGMA user_version = {len(schema.SQLITE) + 1}")
    else:
        url = request.getfixturevalue("server").database(os.urandom(8).hex())
        store = PostgresStore(url)
        store.append("s", 0, "asked", {})
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE penstock.schema_version SET version = version + 1")
    with pytest.raises(StoreFault) as caught:
        store.put(b"x") if operation == "put" else store.append("s", 1, "asked", {})
    assert caught.value.code == "newer"
    assert [record.seq for record in store.events("s")] == [0]
    store.close()


def wait_for_blocked(connection: psycopg.Connection[tuple[object, ...]], clients: int) -> None:
    """Return once so many clients of this database wait for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    until = time.monotonic() + 30
    while connection.execute(waiting).fetchone() != (clients,):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_clients_that_create_the_tables_at_once_and_write_do_not_block_each_other(server: Server) -> None:
    """All of them have seen that there are no tables; one creates them, and writes while the others look again."""
    url = server.database(os.urandom(8).hex())

    def learned(n: int) -> tuple[str, float] | None:
        with closing(PostgresStore(url)) as store:
            store.learn(f"window:{n}", "1")
            return store.learned(f"window:{n}")

    with psycopg.connect(url, autocommit=True) as connection, ThreadPoolExecutor(5) as pool:
        connection.execute("SELECT pg_advisory_lock(%s)", (postgres._MIGRATION,))
        clients = [pool.submit(learned, n) for n in range(5)]
        wait_for_blocked(connection, len(clients))
        connection.execute("SELECT pg_advisory_unlock(%s)", (postgres._MIGRATION,))
        assert all((client.result() or ("",))[0] == "1" for client in clients)


def test_an_upgrade_waits_for_a_writer_and_the_writer_not_for_the_upgrade(server: Server) -> None:
    """A client of the old version has begun a transaction, and takes the lock of the writers once the upgrade has begun."""
    url = server.database(os.urandom(8).hex())
    old_stores.make_database(url, old_stores.VERSIONS[-1], AT)
    with (
        psycopg.connect(url) as writer,
        psycopg.connect(url, autocommit=True) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        writer.execute("SELECT version FROM penstock.schema_version")
        upgraded = pool.submit(PostgresStore, url)
        wait_for_blocked(other, 1)
        writer.execute("SELECT pg_advisory_xact_lock(%s)", (postgres._LOCK,))
        writer.execute("UPDATE penstock.learned SET value = '1'")
        writer.commit()
        with closing(upgraded.result()) as store:
            assert store.facts()["schema"] == str(len(schema.POSTGRES))
            assert (store.learned("window:m") or ("",))[0] == "1"
