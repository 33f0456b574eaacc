"""What happens if a worker, the database, or the network between them dies?"""

from __future__ import annotations

import asyncio
import threading
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg_pool import PoolTimeout
from tests.scribe.queue.conftest import QUICK, ended, estate, loopback, started, working
from tests.store.conftest import Server, needed_programs

from penstock.models import Refused
from penstock.scribe.queue import worker as worker_module
from penstock.scribe.queue.accepted import Accepted
from penstock.scribe.queue.database import Database
from penstock.scribe.queue.progress import progress
from penstock.scribe.queue.work import Workshop
from penstock.scribe.queue.worker import QueueWorker
from penstock.store import StoreFault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.scribe.author import Author


@pytest.fixture
def own_server() -> Iterator[Server]:
    """Start a server that a test may stop."""
    made = Server(needed_programs())
    yield made
    made.close()


@pytest.mark.proves("C-21")
def test_what_a_dead_worker_had_is_done_by_another(url: str, database: Database, author: Author) -> None:
    """The worker took a job and vanished; the same holds if its row is gone altogether."""
    run = started(database, estate())
    rows = database.rows(
        "SELECT (procrastinate_fetch_job_v2(NULL, (SELECT worker_id FROM procrastinate_register_worker_v1()))).id"
    )
    assert rows[0][0] is not None
    database.rows("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 day'")
    with working(url, loopback(author)):
        seen = ended(database, run)
    assert (seen.phase, seen.failed, seen.answered) == ("done", 0, seen.chunks)
    assert len(author.requests) == seen.calls


def test_jobs_that_the_engine_lost_are_put_in_again(url: str, database: Database, author: Author) -> None:
    """Whatever the engine does, open chunks without a job are found."""
    run = started(database, estate())
    database.rows("DELETE FROM procrastinate_jobs")
    with working(url, loopback(author)):
        seen = ended(database, run)
    assert (seen.phase, seen.answered) == ("done", seen.chunks)


@pytest.mark.parametrize("arguments", ["[1, 2]", '"text"', "7", "null"])
def test_a_job_whose_arguments_are_no_object_ends(
    url: str, database: Database, author: Author, arguments: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever may write to the table can put in any JSON; the engine failed on it outside of what it catches, and kept the job."""
    run = started(database, estate())
    database.rows("UPDATE procrastinate_jobs SET args = %(args)s::jsonb", args=arguments)
    with working(url, loopback(author)):
        seen = ended(database, run)
        assert database.rows("SELECT 1 FROM procrastinate_jobs WHERE jsonb_typeof(args) <> 'object'") == []
    assert (seen.phase, seen.answered) == ("done", seen.chunks)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.proves("C-21")
def test_a_database_that_is_stopped_in_the_middle_loses_nothing(own_server: Server, author: Author) -> None:
    """The database stops twice without warning while questions are under way; answers that arrive meanwhile wait for it."""
    url = own_server.database("queue")
    asked, go_on = threading.Semaphore(0), threading.Event()

    def slow(request: dict[str, Any]) -> Any:
        asked.release()
        go_on.wait(30)
        return author(request)

    database = Database(url, patience_seconds=60.0)
    run = started(database, estate(2))
    with working(url, loopback(slow)), working(url, loopback(slow)):
        for _ in range(2):
            assert asked.acquire(timeout=60)
            own_server.stop()
            go_on.set()
            own_server.start()
            go_on.clear()
        go_on.set()
        seen = ended(database, run)
    database.close()
    assert (seen.phase, seen.failed, seen.answered) == ("done", 0, seen.chunks)
    assert len(author.requests) <= seen.chunks + 2 * 2 * QUICK.jobs


def test_who_is_told_to_end_keeps_what_was_paid_for(url: str, author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    """A received answer is stored once the database is back, unless the worker must end at once; it used to be lost."""
    worker = QueueWorker(url, lambda _: loopback(author), ["openai-chat"], settings=QUICK)
    worker.stop()
    pool, away = worker.database._pool, [True] * 3
    connection = pool.connection

    def lent() -> Any:
        if away and away.pop():
            raise PoolTimeout("no connection in time")
        return connection()

    monkeypatch.setattr(pool, "connection", lent)
    with pytest.raises(StoreFault):
        worker.database.rows("SELECT 1")
    Accepted(worker.database, 1).put("ab", {"claims": []})
    assert not away
    away.append(True)
    worker.stop(at_once=True)
    with pytest.raises(StoreFault):
        Accepted(worker.database, 1).put("cd", {"claims": []})
    worker.database.close()


def test_who_gets_no_answer_about_the_lock_of_the_sweep_goes_on(
    url: str, database: Database, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a proxy that hung for a moment, the worker fell silent, dropped what it took, and did not end."""
    swallowed = threading.Event()

    async def silent_once(*given: Any, **named: Any) -> Any:
        made = await psycopg.AsyncConnection.connect(*given, **named)
        if not swallowed.is_set():
            swallowed.set()
            monkeypatch.setattr(made, "execute", lambda *_: asyncio.Event().wait())
        return made

    monkeypatch.setattr(worker_module, "_BROOM_SECONDS", 0.2)
    own = SimpleNamespace(
        AsyncConnection=SimpleNamespace(connect=silent_once), Error=psycopg.Error, errors=psycopg.errors
    )
    monkeypatch.setattr(worker_module, "psycopg", own)  # the engine has its own connections and bounds its waits itself
    with working(url, loopback(author), QUICK._replace(lease_seconds=1.0)):
        assert swallowed.wait(20)
        time.sleep(1.5)  # a lease: a worker silent for that long takes itself for dead, and asks nothing
        run = started(database, estate(1))
        seen = ended(database, run, 30.0)
    assert (seen.phase, seen.answered) == ("done", seen.chunks)


def test_who_is_told_to_end_does_not_ask_again_after_a_wait(url: str, database: Database) -> None:
    """The signal comes during a wait that the provider asked for: the worker must not send once more before it ends."""
    asked: list[float] = []

    class Busy:
        wire, name, window_tokens = "openai-chat", "loopback", 200_000

        def send(self, _request: dict[str, Any], /) -> dict[str, Any]:
            asked.append(time.monotonic())
            raise Refused(
                429, {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}, {"retry-after": "60"}
            )

    started(database, estate(1))
    worker = QueueWorker(url, lambda _run: Busy(), ["openai-chat"], settings=QUICK)
    thread = threading.Thread(target=worker.run)
    thread.start()
    waiting = threading.Event()
    while not asked:
        waiting.wait(0.05)
    sent = len(asked)
    worker.stop()
    thread.join(20)
    assert not thread.is_alive()
    assert len(asked) <= max(sent, QUICK.jobs)
    left = database.rows("SELECT count(*) FROM chunks WHERE state = 'open'")
    assert left[0][0] > 0


def test_a_key_that_is_not_taken_ends_its_worker_and_no_chunk(url: str, database: Database, author: Author) -> None:
    """Its jobs go to a worker whose key is accepted."""

    class Locked:
        wire, name, window_tokens = "openai-chat", "loopback", 200_000

        def send(self, _request: dict[str, Any], /) -> dict[str, Any]:
            raise Refused(401, {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}})

    run = started(database, estate(1))
    with working(url, Locked()) as locked:
        waiting = threading.Event()
        for _ in range(300):
            if locked.refused:
                break
            waiting.wait(0.1)
    assert "Incorrect API key" in locked.refused
    assert progress(database, run.id).failed == 0
    with working(url, loopback(author)):
        seen = ended(database, run)
    assert (seen.failed, seen.answered) == (0, seen.chunks)


def test_who_was_taken_for_dead_and_was_not_changes_nothing(url: str, database: Database, author: Author) -> None:
    """It is stopped past its lease while it asks, and another does its work; its late answer is counted and dropped."""
    asked, go_on = threading.Event(), threading.Event()

    def slow(request: dict[str, Any]) -> Any:
        asked.set()
        go_on.wait(60)
        return author(request)

    run = started(database, estate(1))
    late = QUICK._replace(heartbeat_seconds=600.0, lease_seconds=600.0, jobs=1, sweep_seconds=600.0)
    with working(url, loopback(slow), late):
        assert asked.wait(60)
        with working(url, loopback(author)):
            seen = ended(database, run)
        assert seen.late == 0
        go_on.set()
        waiting = threading.Event()
        for _ in range(100):
            if progress(database, run.id).late:
                break
            waiting.wait(0.1)
    seen = progress(database, run.id)
    assert (seen.late, seen.failed, seen.answered) == (1, 0, seen.chunks)
    assert len(author.requests) == seen.chunks + 1


def test_who_was_silent_for_a_lease_leaves_the_rest_to_whoever_has_it_by_then(
    url: str, database: Database, author: Author
) -> None:
    """It must not go on in parallel with the new owner: only the question under way is asked twice."""
    model = loopback(author)
    worker = QueueWorker(url, lambda _: model, ["openai-chat"], settings=QUICK)
    begun = time.monotonic()
    assert not worker._is_taken_away(begun)
    worker._seen_at -= QUICK.lease_seconds + 1  # as one that was stopped and continues, whichever thread is first
    worker._seen()
    assert worker._is_taken_away(begun)
    assert not worker._is_taken_away(time.monotonic())
    worker.database.close()

    run = started(database, estate(1))
    shop = Workshop(database, lambda _: model, is_taken_away=lambda _: bool(author.requests))
    for task in ("survey", "link", "ask"):
        ((arguments,),) = database.rows("SELECT args FROM procrastinate_jobs WHERE task_name = %(task)s", task=task)
        getattr(shop, task)(**arguments)
    seen = progress(database, run.id)
    assert (len(author.requests), seen.answered, seen.failed) == (1, 1, 0)
    assert seen.chunks > 2


def test_nobody_without_a_right_to_the_queue_keeps_workers_from_looking_after_it(url: str, database: Database) -> None:
    """An advisory lock, which every user of a database may hold, kept the jobs of a worker that died from all others."""
    database.prepare()
    one, other = (QueueWorker(url, lambda _run: loopback(None), ["openai-chat"], settings=QUICK) for _ in range(2))

    async def looks() -> tuple[bool, bool]:
        async with one._broom() as first, other._broom() as second:
            return first, second

    with psycopg.connect(url, autocommit=True) as outsider:
        outsider.execute("SELECT pg_advisory_lock(x'50454E52'::integer)")
        assert asyncio.run(looks()) == (True, False)
    assert asyncio.run(looks()) == (True, False)
    for worker in (one, other):
        worker.database.close()
