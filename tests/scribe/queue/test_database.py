"""Does the schema of a queue go forward and back, work next to other versions, and suffice for roles with few rights?"""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.scribe.queue.conftest import QUICK, ended, estate, loopback, started, working

from penstock.call import Call
from penstock.errors import CallerError
from penstock.scribe.queue import database as database_module
from penstock.scribe.queue import worker as worker_module
from penstock.scribe.queue.connecting import conninfo
from penstock.scribe.queue.database import Database
from penstock.scribe.queue.schema import STEPS, Step
from penstock.scribe.queue.worker import QueueWorker
from penstock.store import StoreFault

if TYPE_CHECKING:
    from tests.scribe.author import Author
    from tests.store.conftest import Server

    from penstock.scribe.queue.database import Connection


def tables(database: Database) -> list[str]:
    rows = database.rows(
        """SELECT c.relname || ':' || string_agg(a.attname || ' ' || a.atttypid::regtype::text, ',' ORDER BY a.attname)
           FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           WHERE c.relnamespace = to_regnamespace('penstock_queue') GROUP BY c.relname"""
    )
    return sorted(row[0] for row in rows)


def test_the_schema_goes_forwards_and_back_and_forwards_again(empty_url: str) -> None:
    """It goes to each version and to none; going back restores what there was."""
    database = Database(empty_url)
    seen = {0: tables(database)}
    assert seen[0] == []
    for version in range(1, len(STEPS) + 1):
        assert database.migrate(version) == (version - 1, version)
        seen[version] = tables(database)
    for version in reversed(range(len(STEPS))):
        assert database.migrate(version) == (version + 1, version)
        assert tables(database) == seen[version]
    assert database.migrate() == (0, len(STEPS))
    assert tables(database) == seen[len(STEPS)]
    database.close()


def test_old_workers_go_on_with_new_tables(
    url: str, database: Database, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a newer version extends the tables during a run, this one works on, until the tables forbid it."""
    run = started(database, estate(1))
    newer = (
        *STEPS,
        Step(
            forwards=("ALTER TABLE runs ADD COLUMN wish text",), back=("ALTER TABLE runs DROP COLUMN wish",), oldest=1
        ),
    )
    with monkeypatch.context() as patch:
        patch.setattr(database_module, "STEPS", newer)
        assert database.migrate(len(newer)) == (len(STEPS), len(newer))
    with working(url, loopback(author)):
        assert ended(database, run).failed == 0
    database.rows("UPDATE schema_version SET oldest = %(oldest)s", oldest=len(newer))
    with pytest.raises(StoreFault, match="use the newer one"):
        database.prepare()
    with monkeypatch.context() as patch:
        patch.setattr(database_module, "STEPS", newer)
        assert database.migrate(len(STEPS)) == (len(newer), len(STEPS))
    database.prepare()


def test_a_role_that_may_not_make_tables_is_told_the_command(empty_url: str) -> None:
    """A role without rights is told the command, and the page with the grants."""
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS nobody_special")
        connection.execute("CREATE ROLE nobody_special LOGIN")
    poor = Database(empty_url.replace("penstock@", "nobody_special@"))
    with pytest.raises(StoreFault, match=r"docs/queue\.md"):
        poor.prepare()
    with pytest.raises(StoreFault, match="holds no queue yet") as refused:
        poor.rows("SELECT * FROM runs")
    assert refused.value.calls == (Call("queue migrate"),)
    poor.close()


def test_the_roles_of_the_page_are_enough_and_no_more(url: str, database: Database, author: Author) -> None:
    """The grants in docs/queue.md suffice as written, for roles that start runs, that work, and that only look."""
    database.migrate()
    page = (Path(__file__).parents[3] / "docs/queue.md").read_text()
    (grants,) = re.findall(r"```sql\n(-- roles.*?)```", page, re.DOTALL)
    with psycopg.connect(url, autocommit=True) as connection:
        for role in ("penstock_starts", "penstock_works", "penstock_looks"):
            if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)).fetchone():
                connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())
        connection.execute(grants.encode())

    def of(role: str) -> str:
        return url.replace("penstock@", f"{role}@")

    starts, looks = Database(of("penstock_starts")), Database(of("penstock_looks"))
    run = started(starts, estate(1))
    with working(of("penstock_works"), loopback(author)):
        assert ended(looks, run).failed == 0
    works = Database(of("penstock_works"))
    for poor, statement in (
        (works, "INSERT INTO runs (title) VALUES ('x')"),
        (works, "DELETE FROM answers"),
        (works, "UPDATE answers SET value = '{}'"),
        (works, "INSERT INTO answers (key, kind, value, nonce, run) VALUES ('x', 'answer', '{}', 'n', 1)"),
        (works, "DELETE FROM spent"),
        (works, "UPDATE spent SET requests = 0"),
        (works, "UPDATE limits SET hold_until = '-infinity'"),
        (works, "UPDATE chunks SET key = 'x'"),
        (looks, "SELECT hold_v1('default', 'x', 60)"),
        (works, "UPDATE limits SET requests = 1000000"),
        (works, "DROP TABLE chunks"),
        (looks, "UPDATE runs SET phase = 'cancelled'"),
        (looks, "SELECT data FROM contents"),
        (starts, "DELETE FROM answers"),
    ):
        with pytest.raises(StoreFault, match="does not let this role"):
            poor.rows(statement)
    before = database.rows("SELECT value FROM answers ORDER BY key")
    works.rows("SELECT accept_v1(key, 'answer', '{}', NULL, 'another', run) FROM answers")
    assert database.rows("SELECT value FROM answers ORDER BY key") == before
    for one in (starts, looks, works):
        one.close()


def test_a_connection_has_what_every_connection_of_a_queue_needs() -> None:
    """Settings in the URL stay; an invalid one is reported with a valid example."""
    made = conninfo("postgresql://db/x?connect_timeout=3&options=-c%20work_mem%3D8MB")
    assert "connect_timeout=3" in made
    assert "work_mem" in made
    assert "tcp_user_timeout=20000" in made
    for wrong in ("sqlite:///x", "host=db"):
        with pytest.raises(CallerError, match="postgresql://HOST/DATABASE"):
            conninfo(wrong)


def test_a_session_has_its_settings_by_statements_that_a_pooler_takes(url: str) -> None:
    """PgBouncer refuses startup settings, or ignores them, so they are set by statements."""
    assert "options" not in conninfo(url)
    database = Database(url)
    shown = [database.rows(f"SHOW {name}") for name in ("search_path", "synchronous_commit", "client_min_messages")]
    assert shown == [[("penstock_queue",)], [("on",)], [("warning",)]]
    database.close()


def test_a_pooler_that_shares_sessions_is_told_and_not_an_empty_database(
    url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind PgBouncer in transaction mode settings reach another client; the error says so, not "holds no queue yet"."""
    database.prepare()
    with psycopg.connect(url, autocommit=True) as one:
        monkeypatch.setattr(psycopg, "connect", lambda *_, **__: nullcontext(one))
        with pytest.raises(CallerError, match="pool_mode = session in PgBouncer"):
            database.prepare()
        with pytest.raises(CallerError, match="pool_mode = session in PgBouncer"):
            database.migrate()
        with pytest.raises(StoreFault, match="pool_mode = session in PgBouncer"):
            database.rows("SELECT 1 FROM nowhere")
    monkeypatch.undo()
    with pytest.raises(StoreFault, match="holds no queue yet"):
        database.rows("SELECT 1 FROM nowhere")


def test_what_a_queue_is_made_of_is_not_loaded_with_penstock() -> None:
    """Neither the engine nor psycopg is loaded, so the command line without a queue stays light."""
    import subprocess
    import sys

    looked = "print({'procrastinate', 'psycopg', 'asyncio'} & set(sys.modules))"
    said = f"import sys, penstock, penstock.cli.queues, penstock.cli.documents; {looked}"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_connection_that_gives_no_answer_is_given_up(url: str) -> None:
    """A proxy may confirm what it drops: the kernel sees no fault, and a thread would wait for ever."""
    database = Database(url, patience_seconds=30.0, answer_seconds=0.4)
    asked: list[int] = []

    def work(connection: Connection) -> int:
        asked.append(1)
        connection.execute("SELECT pg_sleep(%s)", (60 if len(asked) == 1 else 0,))
        return 7

    assert database.run(work) == 7
    assert len(asked) == 2
    database.close()


def test_who_looks_once_is_not_kept_for_ever_by_a_wire_that_is_silent(url: str) -> None:
    """A single query has no patience for an absent database, and gives up a silent connection too: `status` hung."""
    database = Database(url, answer_seconds=0.4)
    begun = time.monotonic()
    with pytest.raises(StoreFault, match="cannot be reached"):
        database.rows("SELECT pg_sleep(60)")
    assert time.monotonic() - begun < 20
    database.close()


def test_who_waits_for_a_database_says_so_once_and_that_it_is_back(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting is announced once, and its end too, as a wait may take minutes; a single dropped connection is not an outage."""
    told: list[str] = []
    database = Database(url, connections=1, patience_seconds=20.0, say=told.append)
    lend, left = database._pool.connection, [1]

    def lent() -> object:
        if left[0]:
            left[0] -= 1
            raise psycopg.OperationalError("the server closed the connection")
        return lend()

    monkeypatch.setattr(database._pool, "connection", lent)
    monkeypatch.setattr(database_module, "_PAUSES_SECONDS", (0.01,))
    assert database.rows("SELECT 7") == [(7,)]
    assert told == []
    left[0] = 5
    assert database.rows("SELECT 7") == [(7,)]
    left[0] = 1
    assert database.rows("SELECT 7") == [(7,)]
    database.close()
    away = "The queue cannot be reached: the server closed the connection. It is waited for."
    assert told == [away, "The queue is back."]


def test_a_worker_ends_when_the_tables_become_newer_than_it_knows(url: str, database: Database, author: Author) -> None:
    """It checks repeatedly, and does not write into tables that it does not understand."""
    worker = QueueWorker(url, lambda _run: loopback(author), ["openai-chat"], settings=QUICK)
    with ThreadPoolExecutor(1) as pool:
        working_on = pool.submit(worker.run)
        while not database.rows("SELECT 1 FROM workers"):
            time.sleep(0.02)
        database.rows("UPDATE schema_version SET version = 99, oldest = 99")
        with pytest.raises(StoreFault, match="use the newer one"):
            working_on.result(20)


@pytest.mark.parametrize("password", ["S3CRET%zz", "p@S3CRET", "S3CRET/x", "p@S3CRET:1"])
def test_an_address_that_cannot_be_read_is_refused_without_its_password(password: str) -> None:
    """The library's own message repeats the unreadable URL, and text after an @ was sent to the name server."""
    with pytest.raises(CallerError, match="% is written %25") as refused:
        conninfo(f"postgresql://bob:{password}@h/db")
    assert "S3CRET" not in f"{refused.value} {refused.value.__cause__}"


@pytest.mark.parametrize(
    "url", ["postgresql://", "postgresql:///db?host=@socket", "postgresql://bob@h:5432,[::1]:5433/db"]
)
def test_an_address_that_says_little_or_much_is_taken(url: str) -> None:
    """Everything may come from the environment; a socket may begin with an @, and there may be several hosts."""
    assert "tcp_user_timeout" in conninfo(url)


def test_a_database_that_cannot_hold_all_texts_is_refused(server: Server) -> None:
    """In SQL_ASCII, texts came as bytes, and no job was ever taken."""
    name = f"ascii{os.urandom(4).hex()}"
    with psycopg.connect(server.url(), autocommit=True) as connection:
        how = "TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
        connection.execute(f"CREATE DATABASE {name} {how}".encode())
    database = Database(server.url(name))
    with pytest.raises(CallerError, match="createdb --encoding UTF8"):
        database.prepare()
    database.close()


def test_tables_that_were_brought_back_stay_so(
    url: str, database: Database, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of a newer version used to migrate again a moment later; now it waits, and says for what."""
    monkeypatch.setattr(worker_module, "_PAUSES_SECONDS", (0.05,))
    said: list[str] = []
    worker = QueueWorker(url, lambda _run: loopback(author), ["openai-chat"], settings=QUICK, say=said.append)
    with ThreadPoolExecutor(1) as pool:
        working_on = pool.submit(worker.run)
        try:
            while not database.rows("SELECT 1 FROM workers"):
                time.sleep(0.02)
            database.migrate(0)
            while not any("penstock queue migrate" in one for one in said):
                time.sleep(0.02)
            assert database.version() == (0, 0)
            database.migrate(len(STEPS) - 1)
            while not any(f"has schema {len(STEPS) - 1}" in one for one in said):
                time.sleep(0.02)
            assert database.version()[0] == len(STEPS) - 1
            with pytest.raises(StoreFault, match="wants"):
                database.prepare()
            database.migrate()
            run = started(database, estate(1))
            assert ended(database, run).failed == 0
        finally:
            worker.stop(at_once=True)
        working_on.result(20)


def test_what_was_paid_for_waits_for_a_server_that_only_reads(
    url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was replaced reads on, and a connection stays with it: an answer was dropped, and paid for again."""
    monkeypatch.setattr(database_module, "_PAUSES_SECONDS", (0.05,))
    ((name,),) = database.rows("SELECT current_database()")
    told: list[str] = []
    database.rows(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    waiting = Database(url, connections=1, patience_seconds=60.0, say=told.append)
    with ThreadPoolExecutor(1) as pool:
        kept = pool.submit(waiting.keep, "INSERT INTO contents VALUES ('\\x00', 'an answer')")
        until = time.monotonic() + 30
        while not told and time.monotonic() < until:
            time.sleep(0.02)
        database.rows(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        kept.result(30)
    waiting.close()
    assert database.rows("SELECT data FROM contents") == [(b"an answer",)]
    assert [said.rsplit(": ")[0] for said in told] == ["The queue cannot be written", "The queue is back."]


def test_a_database_that_may_not_be_written_is_told_in_our_words_alone(
    url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database may be a standby; only our message is shown, without the driver's lines for each dropped connection."""
    database.rows(
        f"ALTER DATABASE {database.rows('SELECT current_database()')[0][0]} SET default_transaction_read_only = on"
    )
    said: list[str] = []
    heard: list[str] = []
    printing = logging.Handler()
    monkeypatch.setattr(printing, "emit", lambda record: heard.append(record.name))
    monkeypatch.setattr(logging.getLogger(), "handlers", [printing])  # Python prints there what no handler takes
    worker = QueueWorker(url, lambda _: loopback(None), ["openai-chat"], settings=QUICK, say=said.append)
    thread = threading.Thread(target=worker.run)
    thread.start()
    until = time.monotonic() + 20
    while not any("read-only" in one for one in said) and time.monotonic() < until:
        time.sleep(0.05)
    worker.stop(at_once=True)
    thread.join(30)
    assert any("read-only" in one for one in said)
    logging.getLogger("psycopg").warning("query cancellation interrupted")  # the line above comes only by chance
    assert not [name for name in heard if name.startswith("psycopg")]
