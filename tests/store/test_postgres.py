"""What holds for a store on a server: does it survive restarts, and do its commits ask for durability themselves?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import psycopg.waiting
import pytest
from tests.forks import COMMANDS, warm
from tests.store.conftest import USER

from penstock.errors import CallerError
from penstock.store import Retention, StoreFault, open_store, patience, reaching
from penstock.store.postgres import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.store.conftest import Server


def test_a_restart_loses_nothing_and_repeats_nothing(server: Server) -> None:
    """The server stops at once between two appends; the next one opens a new connection."""
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
    """The record is there once, whether or not the commit succeeded."""
    store = PostgresStore(server.database(os.urandom(8).hex()))
    real = PostgresStore._appending
    lost = [True, True]

    class Cut:
        """A transaction after which the connection breaks before its answer arrives."""

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
    """This server has synchronous_commit off and flushes nothing, which is reported; our transactions switch it on."""
    store = PostgresStore(server.database(os.urandom(8).hex()))
    assert store._read("SHOW synchronous_commit") == [("off",)]
    with store._appending() as execute:
        assert execute("SHOW synchronous_commit") == [("on",)]
    facts = store.facts()
    assert (facts["fsync"], facts["full_page_writes"], facts["data_checksums"]) == ("off", "on", "on")
    store.close()


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    """The error says where the server should be, without a secret."""
    with pytest.raises(StoreFault) as caught:
        open_store("postgresql://user:hunter2@127.0.0.1:1/db")
    assert caught.value.code == "unreachable"
    assert "hunter2" not in str(caught.value)


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server's URL without the package says what to install."""
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CallerError, match=r"penstock\[postgres\]"):
        open_store("postgresql:///x")


def as_role(url: str, role: str, rights: str) -> str:
    """Return the URL for a new role with some rights on everything in the store at `url`."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE ROLE "{role}" LOGIN'.encode())
        connection.execute(f'GRANT USAGE ON SCHEMA penstock TO "{role}"'.encode())
        connection.execute(f'GRANT {rights} ON ALL TABLES IN SCHEMA penstock TO "{role}"'.encode())
    return url.replace("penstock@", f"{role}@")


@pytest.fixture
def kept(server: Server) -> tuple[str, str]:
    """Return the URL of a store, and the handle of its content."""
    url = server.database(os.urandom(8).hex())
    store = PostgresStore(url)
    handle = store.put(b"kept")
    store.append("s", 0, "asked", {}, handles=[handle])
    store.close()
    return url, handle


@pytest.mark.parametrize("how", ["a role that may only look", "a replica"])
def test_what_may_only_be_read_is_read(kept: tuple[str, str], how: str) -> None:
    """Nothing is created if all tables exist; a writer is told."""
    url, handle = kept
    if how == "a replica":
        store = PostgresStore(f"{url}&options=-c%20default_transaction_read_only%3Don")
    else:
        store = PostgresStore(as_role(url, os.urandom(8).hex(), "SELECT"))
    assert store.read(handle, 0, 10) == b"kept"
    assert [len(list(store.events(one.session))) for one in store.sessions()] == [1]
    assert store.check() == []
    with pytest.raises(StoreFault) as caught:
        store.put(b"more")
    assert caught.value.code == "read_only"
    store.close()


@pytest.mark.proves("S-17")
def test_a_role_without_the_tables_works_and_hears_what_it_cannot_scrub(kept: tuple[str, str]) -> None:
    """It may only change rows: what it removes is gone, and it is told that traces may remain."""
    url, handle = kept
    store = PostgresStore(as_role(url, os.urandom(8).hex(), "SELECT, INSERT, UPDATE, DELETE"))
    assert store.read(store.put(b"more"), 0, 10) == b"more"
    store.append("s", 1, "asked", {})
    with pytest.raises(StoreFault, match="traces of what was removed are left") as caught:
        store.remove_artifact(handle)
    assert caught.value.code == "read_only"
    assert store.size().artifacts == 1
    store.close()
    owner = PostgresStore(url)
    owner.scrub()
    owner.close()


def test_text_is_kept_whatever_the_encoding_of_database_and_client(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A SQL_ASCII database returns what was put; if names would be lost no store is made, with a message."""
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    made = {encoding: os.urandom(8).hex() for encoding in ("SQL_ASCII", "UTF8", "LATIN1")}
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for encoding, name in made.items():
            how = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
            connection.execute(f'CREATE DATABASE "{name}" {how}'.encode())
    for encoding in ("SQL_ASCII", "UTF8"):
        store = PostgresStore(server.url(made[encoding]))
        handle = store.put(b"x", name="\u0436 \u6f22")
        store.append("\u0436", 0, "asked", {"text": "\u6f22"}, handles=[handle])
        assert store.info(handle).name == "\u0436 \u6f22"
        assert [one.session for one in store.sessions()] == ["\u0436"]
        assert (store.read(handle, 0, 1), store.check()) == (b"x", [])
        store.close()
    with pytest.raises(CallerError, match=r"LATIN1.*createdb -E UTF8"):
        PostgresStore(server.url(made["LATIN1"]))


def test_settings_of_a_role_change_no_decision(server: Server) -> None:
    """A decision under a lock sees what was committed meanwhile, and a running session stays held while it thinks."""
    settings = "-c default_transaction_isolation=serializable -c idle_session_timeout=100"
    url = server.database(os.urandom(8).hex())
    store = PostgresStore(f"{url}&options={settings.replace(' ', '%20').replace('=', '%3D')}")
    assert store._read("SHOW transaction_isolation") == [("read committed",)]
    with store._writing() as execute:
        assert execute("SHOW transaction_isolation") == [("read committed",)]
    assert store._read("SHOW idle_session_timeout") == [("0",)]
    store.close()


def test_a_statement_that_the_server_ends_is_told_as_such(kept: tuple[str, str]) -> None:
    """A server's limit for statements does not mean that the server cannot be reached."""
    url, _ = kept
    store = PostgresStore(f"{url}&options=-c%20statement_timeout%3D50")
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE penstock.learned")
        with pytest.raises(StoreFault, match="statement timeout") as caught:
            store.learn("name", "value")
    assert caught.value.code == "busy"
    store.close()


@contextmanager
def frozen(store: PostgresStore) -> Iterator[None]:
    """Freeze the server process that works for a store."""
    ((process,),) = store._read("SELECT pg_backend_pid()")
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_a_server_that_says_nothing_is_given_up(kept: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction ends as if its connection were lost; reading continues on another connection."""
    url, handle = kept
    monkeypatch.setattr(patience.PatientConnection, "answer_seconds", 0.2)
    store = PostgresStore(url, wait_seconds=0.1)
    with frozen(store):
        assert store.read(handle, 0, 10) == b"kept"
    with pytest.raises(StoreFault, match="has not answered") as caught, store._writing() as execute, frozen(store):
        execute("SELECT 1")
    assert caught.value.code == "unreachable"
    assert store.append("s", 1, "asked", {}).seq == 1
    store.close()


def test_an_interrupt_does_not_wait_for_the_server(kept: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is dropped, and a possibly frozen server is asked nothing; the next call opens another."""
    url, handle = kept
    asked: list[object] = []
    monkeypatch.setattr(psycopg.Connection, "cancel_safe", lambda *_, **more: asked.append(more))
    store = PostgresStore(url)
    with frozen(store):
        waits, wait = threading.Event(), psycopg.waiting.wait

        def waited(*arguments: Any) -> object:
            waits.set()
            return wait(*arguments)

        def press() -> None:
            waits.wait()
            os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(psycopg.waiting, "wait", waited)
        pressing = threading.Thread(target=press)
        pressing.start()
        with pytest.raises(KeyboardInterrupt):
            store.append("s", 1, "asked", {})
        pressing.join()
    assert asked == []
    assert store.append("s", 1, "asked", {}).seq == 1
    assert store.read(handle, 0, 10) == b"kept"
    store.close()


def test_a_store_that_is_closed_meanwhile_drops_no_connection(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread is connecting while the store is closed: what it reaches is closed as well."""
    store = PostgresStore(server.database(os.urandom(8).hex()))
    made: list[patience.PatientConnection] = []

    def reached_late(*given: Any) -> patience.PatientConnection:
        made.append(reaching.reached(*given))
        store.close()
        return made[-1]

    store._connected().close()
    monkeypatch.setattr(store, "_reached", reached_late)
    with pytest.raises(CallerError, match="closed"):
        store.learned("window")
    assert made[0].closed


def test_a_setting_that_a_server_does_not_know_is_left_out(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each protects against something; the others are made all the same."""
    known = reaching._SERVER_LIVENESS
    monkeypatch.setattr(reaching, "_SERVER_LIVENESS", known.replace("tcp_keepalives_idle", "of_another_server"))
    store = PostgresStore(server.database(os.urandom(8).hex()))
    shown = [store._read(f"SHOW {name}") for name in ("idle_in_transaction_session_timeout", "idle_session_timeout")]
    assert shown == [[("1min",)], [("0",)]]
    store.close()


def test_a_pooler_that_shares_sessions_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pooler tells its own number of a session; one in session mode is taken, in transaction mode others hold our locks."""
    url = server.database(os.urandom(8).hex())
    monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", -1)
    PostgresStore(url).close()
    shared = reaching._connected(url)
    monkeypatch.setattr(reaching, "_connected", lambda _: shared)
    with pytest.raises(CallerError, match="pool_mode = session in PgBouncer"):
        PostgresStore(url)
    assert shared.closed


def test_the_time_is_that_of_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client whose clock is a year ahead, or behind, makes nothing of the others expire and removes nothing as old."""
    url = server.database(os.urandom(8).hex())
    store = PostgresStore(url)
    handle = store.put(b"kept")
    real = time.time
    for wrong in (86_400.0 * 366, -86_400.0 * 366):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: real() + wrong)
        client = PostgresStore(url)
        monkeypatch.setattr(time, "time", real)
        assert abs(client._ahead_seconds - wrong) < 60
        monkeypatch.setattr(time, "time", lambda wrong=wrong: real() + wrong)
        client.put(b"more")
        assert client.read(handle, 0, 9) == b"kept"
        assert client.collect(Retention(max_days=300)) == []
        client.close()
        monkeypatch.setattr(time, "time", real)
    assert store.read(handle, 0, 9) == b"kept"
    assert abs(float(store._read("SELECT last_seen FROM clock")[0][0]) - real()) < 60
    store.close()


def test_what_the_address_says_of_a_connection_counts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours are for an address that says nothing else."""
    url = server.database(os.urandom(8).hex())
    asked: list[dict[str, Any]] = []
    real = patience.PatientConnection.connect

    def connect(address: str, **options: Any) -> Any:
        asked.append(options)
        return real(address, **options)

    monkeypatch.setattr(patience.PatientConnection, "connect", connect)
    PostgresStore(url).close()
    PostgresStore(f"{url}&connect_timeout=3&application_name=ours").close()
    assert [one.get("connect_timeout") for one in asked] == [10, None]
    assert [one.get("application_name") for one in asked] == ["penstock", None]


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u:sec%zzret@h/db",
        "postgresql://u:sec@ret@h/db",
        "postgresql://u:sec/ret@h/db",
        "postgresql://u:sec:ret@h:x/db",
    ],
)
def test_a_password_that_spoils_the_address_is_not_repeated(address: str) -> None:
    """Neither in the error nor to a name server."""
    with pytest.raises(
        CallerError, match=r"^The address of the store cannot be read: in a name or a password %"
    ) as caught:
        PostgresStore(address)
    assert "sec" not in str(caught.value)


@pytest.mark.timeout(60)
def test_a_server_of_a_test_ends_with_a_process_that_is_killed() -> None:
    """Its folder is removed, too: a run that was interrupted used to leave its servers, and hundreds of megabytes in memory."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as there:
        folder, programs = Path(there, "folder"), Path(there, "programs")
        for made in (folder, programs):
            made.mkdir()
            if USER is not None:
                shutil.chown(made, USER)
        Path(there).chmod(0o777)  # its user is another one
        (programs / "pg_ctl").write_text('#!/bin/sh\necho "$@" > "${0%pg_ctl}told"\n')
        (programs / "pg_ctl").chmod(0o755)
        killed = "ending(*sys.argv[1:]); os.kill(os.getpid(), signal.SIGKILL)"
        driver = f"import os, signal, sys; from tests.store.conftest import ending; {killed}"
        done = subprocess.run([*warm(*COMMANDS), "-c", driver, str(programs), str(folder)], timeout=60, check=False)
        assert done.returncode == -signal.SIGKILL
        while folder.exists():
            time.sleep(0.01)
        assert (programs / "told").read_text() == f"-D {folder}/data -w -m immediate stop\n"
