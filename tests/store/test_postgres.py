"""What holds for a store on a server: it comes back after a restart, and its commits ask for durability by themselves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from penstock.errors import CallerError
from penstock.store import StoreFault, open_store
from penstock.store.postgres import PostgresStore

if TYPE_CHECKING:
    from tests.store.conftest import Server


def test_a_restart_loses_nothing_and_repeats_nothing(server: Server) -> None:
    """The server stops at once between two appends: the next one opens a new connection and goes on."""
    store = PostgresStore(server.database(os.urandom(8).hex()))
    for n in range(20):
        store.append("s", n, "asked", {"n": n})
    handle = store.put(b"content" * 100_000)
    for n in range(20, 23):
        server.stop()
        server.start()
        store.append("s", n, "asked", {"n": n})
    server.stop()
    server.start()
    assert [record.data["n"] for record in store.events("s")] == list(range(23))
    assert store.read(handle, 0, 1 << 20) == b"content" * 100_000
    assert store.check() == []
    store.close()


def test_a_commit_whose_answer_was_lost_is_asked_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record is there once, whether the commit happened or not."""
    store = PostgresStore(server.database(os.urandom(8).hex()))
    real = PostgresStore._appending
    lost = [True, True]

    class Cut:
        """A transaction after which the connection is gone before anyone hears of it."""

        def __init__(self) -> None:
            self.inner = real(store)

        def __enter__(self) -> object:
            return self.inner.__enter__()

        def __exit__(self, *why: object) -> None:
            self.inner.__exit__(*why)
            if lost:
                lost.pop()
                assert store._connection is not None
                store._connection.close()
                raise StoreFault("unreachable", "the answer was lost")

    monkeypatch.setattr(store, "_appending", Cut)
    record = store.append("s", 0, "asked", {"n": 0}) if len(lost) < 2 else None
    lost[:] = [True]
    record = store.append("s", 0, "asked", {"n": 0})
    assert [found.sha256 for found in store.events("s")] == [record.sha256]
    store.close()


def test_commits_are_durable_whatever_the_server_says(server: Server) -> None:
    """The server of these tests has synchronous_commit off, and flushes nothing, which is told; a transaction of ours has it on."""
    store = PostgresStore(server.database(os.urandom(8).hex()))
    assert store._read("SHOW synchronous_commit") == [("off",)]
    with store._appending() as execute:
        assert execute("SHOW synchronous_commit") == [("on",)]
    facts = store.facts()
    assert (facts["fsync"], facts["full_page_writes"], facts["data_checksums"]) == ("off", "on", "on")
    store.close()


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    """The error says where, and no secret."""
    with pytest.raises(StoreFault) as caught:
        open_store("postgresql://user:hunter2@127.0.0.1:1/db")
    assert caught.value.code == "unreachable"
    assert "hunter2" not in str(caught.value)


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A URL of a server without the package says what to install."""
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CallerError, match=r"penstock\[postgres\]"):
        open_store("postgresql:///x")
