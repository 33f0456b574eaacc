"""Every old schema becomes the newest one whole, and a newer one is refused."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import pytest

from penstock.store import StoreFault, schema
from penstock.store import sqlite as backend
from penstock.store.postgres import PostgresStore
from penstock.store.sqlite import DATABASE, SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.store.conftest import Server

VERSIONS = range(len(schema.SQLITE) + 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_folder_of_any_version_is_brought_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """What an old Penstock wrote is read by this one."""
    path = str(tmp_path / "store")
    with monkeypatch.context() as patch:
        patch.setattr(schema, "SQLITE", schema.SQLITE[:version])
        old = SqliteStore(path)
        if version >= 1:
            old.append("s", 0, "asked", {"a": 1})
        old.close()
    store = SqliteStore(path)
    assert [record.data for record in store.events("s")] == ([{"a": 1}] if version >= 1 else [])
    assert store.read(store.put(b"new"), 0, 3) == b"new"
    assert store.check() == []
    store.close()


def test_a_step_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store is at one whole version."""
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
    """What is not understood is not touched."""
    path = str(tmp_path / "store")
    SqliteStore(path).close()
    connection = sqlite3.connect(os.path.join(path, DATABASE))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreFault, match="newer Penstock") as caught:
        SqliteStore(path)
    assert caught.value.code == "newer"
    assert backend.APPLICATION_ID == 0x50454E53


@pytest.mark.parametrize("version", VERSIONS)
def test_a_database_of_any_version_is_brought_up(server: Server, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """The same on a server."""
    url = server.database(os.urandom(8).hex())
    with monkeypatch.context() as patch:
        patch.setattr(schema, "POSTGRES", schema.POSTGRES[:version])
        old = PostgresStore(url)
        if version >= 1:
            old.append("s", 0, "asked", {"a": 1})
        old.close()
    store = PostgresStore(url)
    assert [record.data for record in store.events("s")] == ([{"a": 1}] if version >= 1 else [])
    assert store.read(store.put(b"new"), 0, 3) == b"new"
    store.close()


def test_a_newer_database_is_refused(server: Server) -> None:
    """The same on a server."""
    import psycopg

    url = server.database(os.urandom(8).hex())
    PostgresStore(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE penstock.schema_version SET version = 99")
    with pytest.raises(StoreFault, match="newer Penstock"):
        PostgresStore(url)
