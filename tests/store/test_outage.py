"""What holds for a store whose server goes away? Whoever is patient notices a pause, and everything is kept exactly once."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.store.cutting import Cutter

from penstock.errors import CallerError, ToolError
from penstock.store import Damaged, Event, Patience, Retention, StoreFault, outage, patience, postgres, reaching, sqlite
from penstock.store.pieces import PIECE_BYTES
from penstock.store.postgres import PostgresStore
from penstock.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.store.conftest import Server

    from penstock.store.tables import Tables


@pytest.fixture
def line(server: Server) -> Iterator[Cutter]:
    """Return a line to the server that can be cut."""
    cutter = Cutter(server)
    yield cutter
    cutter.close()


@pytest.fixture
def database(server: Server) -> str:
    """Return the name of a new database."""
    name = os.urandom(8).hex()
    server.database(name)
    return name


def appended(store: Tables, n: int) -> None:
    """Append two records to a new session, with an artifact that was put before."""
    handle = store.put(b"kept", name="kept")
    assert store.append(f"s{n}", 0, "asked", {"n": n}, handles=[handle]).seq == 0
    assert store.append(f"s{n}", 1, "answered", {"n": n}).seq == 1


def appended_together(store: Tables, n: int) -> None:
    """Append two records in one commit."""
    assert len(store.append_all(f"s{n}", [Event(seq=seq, type="asked", data={"n": n}) for seq in range(2)])) == 2


def put(store: Tables, n: int) -> None:
    """Put bytes, and the same once more."""
    content = f"{n} ".encode() * 1_000
    handle = store.put(content, name=f"n{n}")
    assert store.put(content, name=f"n{n}") == handle
    assert store.read(handle, 0, 1 << 20) == content


def put_stream(store: Tables, n: int) -> None:
    """Put a stream, which can be read only once, in several transactions."""
    parts = [b"%9d\n" % n * (PIECE_BYTES // 10), b"more"]
    handle = store.put(iter(parts), name=f"n{n}")
    assert store.read(handle, 0, 1 << 20) == b"".join(parts)


def put_many(store: Tables, n: int) -> None:
    """Put two contents in one commit."""
    contents = [(f"{n} {one} ".encode() * 1_000, f"n{n}") for one in range(2)]
    handles = store.put_many(contents)
    assert [store.read(handle, 0, 1 << 20) for handle in handles] == [content for content, _ in contents]


def learned(store: Tables, n: int) -> None:
    """Keep a fact and look it up."""
    store.learn("window", str(n))
    assert (store.learned("window") or ("",))[0] == str(n)


DEEDS: dict[Callable[[Tables, int], None], tuple[int, int]] = {
    appended: (2, 0),
    appended_together: (2, 0),
    put: (0, 1),
    put_stream: (0, 1),
    put_many: (0, 2),
    learned: (0, 0),
}
"""What is done, and how many records and artifacts each time leaves; `appended` has one artifact in all."""


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
@pytest.mark.parametrize(("is_answer_lost", "cuts"), [(False, 1), (True, 1), (True, 3)])
def test_a_line_that_is_cut_anywhere_loses_nothing_and_repeats_nothing(
    line: Cutter,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    deed: Callable[[Tables, int], None],
    is_answer_lost: bool,
    cuts: int,
) -> None:
    """At each request in turn, carried out or not, once without any patience and three times in a row with some."""
    monkeypatch.setattr(postgres, "_BATCH_PIECES", 1)
    monkeypatch.setattr(outage, "_PAUSES_SECONDS", (0.0,))
    line.is_answer_lost, line.cuts = is_answer_lost, cuts
    store = PostgresStore(line.url(database))
    store.patience = Patience(seconds=30.0 if cuts > 1 else 0.0)
    times = 0
    while True:
        line.requests, line.cut_at = 0, times
        deed(store, times)
        times += 1
        if line.requests < times:  # there was nothing left to cut
            break
    line.cut_at = None
    records, artifacts = DEEDS[deed]
    size = store.size()
    assert times > 5
    assert size.records == records * times
    assert size.artifacts == artifacts * times + (deed is appended)
    assert store._read("SELECT COUNT(*) FROM pending") == [(0,)]
    assert store._read("SELECT DISTINCT place FROM pieces WHERE place NOT IN (SELECT place FROM contents)") == []
    assert store.check() == []
    store.close()


def test_what_a_vanished_client_holds_is_let_go(line: Cutter, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server does not see that the line was cut, and waits in the middle of a transaction, with its locks held."""
    told: list[str] = []
    soon = reaching._SERVER_LIVENESS.replace("60s", "700ms")
    monkeypatch.setattr(reaching, "_SERVER_LIVENESS", soon)
    store = PostgresStore(line.url(database), wait_seconds=0.2)
    store.patience = Patience(seconds=30.0, say=told.append)
    store.append("s", 0, "asked", {})
    line.requests, line.cut_at, line.is_server_told, line.is_answer_lost = 0, 3, False, True
    assert store.append("s", 1, "asked", {}).seq == 1
    assert line.requests > 8
    assert any("Another process has been writing" in one for one in told)
    assert [record.seq for record in store.events("s")] == [0, 1]
    store.close()


@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_a_commit_that_goes_on_without_its_client_is_waited_for(server: Server, database: str, seconds: float) -> None:
    """The line breaks while the server is at it: the second try waits behind the first one, and finds the record that it leaves."""
    store = PostgresStore(server.url(database))
    store.patience = Patience(seconds=seconds)
    store.append("s", 0, "asked", {})
    store._connected().execute(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.7); RETURN NULL; END';"
        "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON records DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION slow()"
    )

    def cut() -> None:
        with socket.socket(fileno=os.dup(store._connected().pgconn.socket)) as line:
            line.shutdown(socket.SHUT_RDWR)

    cutting = threading.Timer(0.4, cut)
    cutting.start()
    assert store.append("s", 1, "asked", {}).seq == 1
    cutting.join()
    assert [record.seq for record in store.events("s")] == [0, 1]
    store.close()


@contextmanager
def writing(other: Tables) -> Iterator[threading.Event]:
    """Write in another thread until the event is set, half a minute at most."""
    writes, ends = threading.Event(), threading.Event()

    def write() -> None:
        with other._writing():
            writes.set()
            ends.wait(30)

    thread = threading.Thread(target=write)
    thread.start()
    writes.wait(30)
    try:
        yield ends
    finally:
        ends.set()
        thread.join()


@pytest.mark.parametrize("deed", [appended, appended_together, put, put_stream, put_many, learned])
def test_another_writer_is_waited_for_by_whoever_is_patient(
    opened: Callable[..., Tables], deed: Callable[[Tables, int], None]
) -> None:
    """Somebody copies the folder, rewrites the tables, or stands still: that is no end of a run, and all others hear of it."""
    told: list[str] = []
    other, store = opened(), opened(wait_seconds=0.1)
    with writing(other) as ends:

        def hear(said: str) -> None:
            told.append(said)
            ends.set()

        with pytest.raises(StoreFault, match="has been writing") as caught:
            deed(store, 0)
        assert caught.value.code == "busy"
        store.patience = Patience(seconds=30.0, say=hear)
        deed(store, 0)
    assert told[0].startswith("waits 30 s: Another process has been writing")
    assert told[-1] == "the store answers again"
    assert store.check() == []


def test_whoever_gives_up_no_longer_waits_for_another_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run still writes once a person has ended it waits for a moment, and not for as long as the run would."""
    monkeypatch.setattr(sqlite, "_PARTING_SECONDS", 0.05)
    other, store = SqliteStore(str(tmp_path / "store")), SqliteStore(str(tmp_path / "store"), wait_seconds=1_000.0)
    with writing(other):
        store.patience = Patience(seconds=1_000.0, given_up=lambda: True)
        with pytest.raises(StoreFault, match=r"has been writing to \S+ for 0\.05 s\.$"):
            store.append("s", 0, "asked", {})
    assert store.append("s", 0, "asked", {}).seq == 0
    store.close()
    other.close()


@contextmanager
def away(server: Server, seconds: float) -> Iterator[None]:
    """Stop a server, and start it again after a while."""
    server.stop()
    starting = threading.Timer(seconds, server.start)
    starting.start()
    yield
    starting.join()


def test_a_restart_is_waited_for_with_the_server_s_words_and_a_countdown(
    server: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits hears why and for how much longer, and that it is over; a short interruption is not mentioned."""
    monkeypatch.setattr(outage, "_COUNTDOWN_SECONDS", 0.2)
    told: list[str] = []
    store = PostgresStore(server.url(database))
    store.patience = Patience(seconds=60.0, say=told.append)
    store.append("s", 0, "asked", {})
    with away(server, 1.0):
        assert store.append("s", 1, "asked", {}).seq == 1
    assert told[0].startswith("waits 60 s: postgresql://")
    assert "cannot be reached" in told[0]
    assert len(told) > 3
    assert told[-1] == "the store answers again"
    told.clear()
    server.stop()
    server.start()
    assert [record.seq for record in store.events("s")] == [0, 1]
    assert told == []
    store.close()


def test_a_wait_ends_with_its_time_or_with_whoever_waits(server: Server, database: str) -> None:
    """The fault says how long the server was waited for; without patience it is told at once."""
    store = PostgresStore(server.url(database))
    store.append("s", 0, "asked", {})
    server.stop()
    try:
        with pytest.raises(StoreFault, match="cannot be reached") as caught:
            store.append("s", 1, "asked", {})
        assert "waited for" not in caught.value.message
        store.patience = Patience(seconds=0.4)
        with pytest.raises(StoreFault, match=r"It was waited for, 0\.4\d? s\.") as caught:
            store.put(b"more")
        assert caught.value.code == "unreachable"
        began = time.monotonic()
        store.patience = Patience(seconds=60.0, given_up=lambda: time.monotonic() - began > 0.3)
        with pytest.raises(StoreFault, match="cannot be reached"):
            store.learned("window")
        assert time.monotonic() - began < 10, "half a second on a quiet machine"
    finally:
        server.start()
    assert store.append("s", 1, "asked", {}).seq == 1
    store.close()


def test_a_wait_is_not_repeated_to_tidy_up(server: Server, database: str) -> None:
    """The server goes while content is on its way: whoever waited for it is told, and what is left is for a later pruning."""
    told: list[str] = []
    store = PostgresStore(server.url(database))
    store.patience = Patience(seconds=0.6, say=told.append)

    def coming() -> Iterator[bytes]:
        yield os.urandom(PIECE_BYTES) * 17
        server.stop()
        yield os.urandom(PIECE_BYTES) * 17

    try:
        with pytest.raises(StoreFault, match="It was waited for"):
            store.put(coming())
        assert len(told) == 1
    finally:
        server.start()
    store.close()


def test_a_running_session_stays_held_through_a_restart(server: Server, database: str) -> None:
    """Another process that comes first after a restart finds no lock, but once we are back nobody removes what we work on."""
    store, other = PostgresStore(server.url(database)), PostgresStore(server.url(database))
    store.append("ours", 0, "asked", {})
    server.stop()
    server.start()
    other.append("theirs", 0, "asked", {})
    assert store.append("ours", 1, "asked", {}).seq == 1
    assert other.is_worked_on("ours")
    assert {one.session: one.is_running for one in other.sessions()} == {"ours": True, "theirs": False}
    store.close()
    other.close()


@pytest.mark.parametrize("is_answer_lost", [False, True])
def test_a_removal_whose_line_is_cut_leaves_nothing_that_nobody_is_told_of(
    server: Server, line: Cutter, database: str, is_answer_lost: bool
) -> None:
    """At each request in turn and for good: whoever does as the fault says has removed every byte, whatever was carried out."""
    line.is_answer_lost = is_answer_lost
    beside = PostgresStore(server.url(database))  # not over the line, which takes each message apart
    times = 0
    while True:
        line.cut_at = None
        handle = beside.put(b"secret " * 9_000)
        store = PostgresStore(line.url(database))
        line.requests, line.cut_at, line.cuts = 0, times, 1_000
        told = ""
        try:
            store.remove_artifact(handle)
        except StoreFault as fault:
            told = fault.message
        store.close()
        if not told:  # there was nothing left to cut
            break
        assert "`penstock store gc`" in told
        with suppress(ToolError):
            beside.remove_artifact(handle)
        beside.collect(Retention())
        beside.scrub()
        assert beside._read("SELECT (SELECT COUNT(*) FROM pieces), (SELECT COUNT(*) FROM pending)") == [(0, 0)]
        assert beside.size().artifacts == 0
        times += 1
    assert times > 20
    beside.close()


def test_a_server_that_another_one_takes_over_from_is_left(server: Server, database: str) -> None:
    """A primary that has become a replica answers and takes no writes: each try goes over a new connection."""
    store = PostgresStore(server.url(database))
    store.patience = Patience(seconds=30.0)
    store.append("s", 0, "asked", {})

    def set_read_only(is_on: bool) -> None:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = {is_on}'.encode())

    set_read_only(True)
    store._connected().close()
    promoting = threading.Timer(0.5, set_read_only, [False])
    promoting.start()
    assert store.append("s", 1, "asked", {}).seq == 1
    promoting.join()
    store.close()


def test_a_server_that_lacks_what_was_kept_is_not_written_on(server: Server, database: str) -> None:
    """A replica without the newest records has taken over: nothing is put in their place, and the last sound one is named."""
    store, other = PostgresStore(server.url(database)), PostgresStore(server.url(database))
    for seq in range(3):
        store.append("s", seq, "asked", {"n": seq})
    for rest, sound in ((" AND seq = 2", 1), ("", None)):
        other._connected().execute(f"DELETE FROM records WHERE session = 's'{rest}".encode())
        for seq in (2, 3):
            with pytest.raises(Damaged, match="3 records were kept") as caught:
                store.append("s", seq, "asked", {"n": seq})
            assert caught.value.newest_sound == sound
    store.close()
    other.close()


def test_an_artifact_that_a_server_lacks_is_no_mistake_of_whoever_names_it(server: Server, database: str) -> None:
    """A replica that lacks the newest has taken over between an output and the record that names it."""
    store, other = PostgresStore(server.url(database)), PostgresStore(server.url(database))
    store.append("s", 0, "asked", {})
    handle = store.put(b"output")
    other._connected().execute("DELETE FROM handles")
    with pytest.raises(Damaged, match=f"Session s: artifact {handle} was kept, and {store.url} has none of that name"):
        store.append("s", 1, "returned", {}, handles=[handle])
    with pytest.raises(CallerError, match="to refer to"):
        store.append("s", 1, "returned", {}, handles=["A" * 22])
    assert store.append("s", 1, "returned", {}, handles=[store.put(b"output")]).seq == 1
    store.close()
    other.close()


def test_an_artifact_that_is_lost_while_it_is_named_is_no_mistake_either(server: Server, database: str) -> None:
    """The record that names it was not kept, and whoever adds it again hears what happened."""
    store, other = PostgresStore(server.url(database)), PostgresStore(server.url(database))
    store.append("s", 0, "asked", {})
    handle = store.put(b"output")
    named = Event(seq=1, type="returned", data={}, handles=[handle])
    with pytest.raises(CallerError, match="the next record is 2, not 5"):
        store.append_all("s", [named, Event(seq=5, type="asked", data={})])
    other._connected().execute("DELETE FROM handles")
    with pytest.raises(Damaged, match=f"artifact {handle} was kept"):
        store.append_all("s", [named])
    store.close()
    other.close()


def test_content_that_was_given_up_while_it_came_is_not_published(server: Server, database: str) -> None:
    """A writer that was silent for a day is taken for dead, and hears of it instead of naming what is gone."""
    store = PostgresStore(server.url(database))

    def slow() -> Iterator[bytes]:
        yield os.urandom(PIECE_BYTES) * 20
        store._connected().execute("UPDATE pending SET since = since - interval '2 days'")
        store.prune()
        yield b"more"

    with pytest.raises(StoreFault, match="longer than a day") as caught:
        store.put(slow())
    assert caught.value.code == "raced"
    assert store.check() == []
    store.close()


def test_much_that_goes_goes_in_parts(server: Server, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deleting takes longer than a server is waited for: no statement grows with what goes, so that a collection can end."""
    monkeypatch.setattr(patience.PatientConnection, "answer_seconds", 2.0)
    monkeypatch.setattr(postgres, "_BATCH_PLACES", 1)
    store = PostgresStore(server.url(database), wait_seconds=0.1)
    store._connected().execute(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.7); RETURN OLD; END';"
        "CREATE TRIGGER slow BEFORE DELETE ON pieces FOR EACH ROW EXECUTE FUNCTION slow()"
    )
    store.put_many([(os.urandom(9), "kept") for _ in range(5)])
    assert len(store.collect(Retention(max_bytes=1))) == 5
    assert store._read("SELECT COUNT(*) FROM pieces") == [(0,)]
    store.close()


def test_content_of_which_a_server_lacks_a_part_is_not_published(server: Server, database: str) -> None:
    """A replica that lacks the newest has taken over while it came: there is no handle to something that cannot be read."""
    store = PostgresStore(server.url(database))

    def coming() -> Iterator[bytes]:
        yield os.urandom(PIECE_BYTES) * 20
        store._connected().execute("DELETE FROM pieces WHERE n = 3")
        yield b"more"

    with pytest.raises(StoreFault, match="has 20 of the 21 pieces") as caught:
        store.put(coming())
    assert caught.value.code == "damaged"
    assert store._read("SELECT (SELECT COUNT(*) FROM pieces), (SELECT COUNT(*) FROM handles)") == [(0, 0)]
    store.close()


def test_content_that_is_pruned_between_look_and_write_is_written_whole(
    store: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look says that it is there, and the lock that it is not: it is written with its row, or not at all."""
    content = os.urandom(PIECE_BYTES)
    read = store._read
    monkeypatch.setattr(
        store,
        "_read",
        lambda statement, *given: [(1,)] if statement.startswith("SELECT 1") else read(statement, *given),
    )
    with monkeypatch.context() as patched:

        def fail(*_: Any) -> None:
            raise StoreFault("io_error", "half-way")

        patched.setattr(store, "_insert_mark", fail)
        with pytest.raises(StoreFault, match="half-way"):
            store.put(content)
    assert read("SELECT COUNT(*) FROM contents") == [(0,)]
    handle = store.put(content)
    monkeypatch.undo()
    assert store.read(handle, 0, 1 << 20) == content
    assert store.check() == []
