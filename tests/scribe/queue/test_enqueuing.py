"""Are questions enqueued in parts so that a kill loses nothing and each chunk is in one job only?"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.scribe.queue.conftest import estate, started

from penstock.models import ScriptedModel
from penstock.scribe.queue import enqueuing, runs, work
from penstock.scribe.queue.engine import CLASS_JOBS, Later
from penstock.scribe.queue.work import Workshop

if TYPE_CHECKING:
    from penstock.scribe.queue.database import Database
    from penstock.scribe.queue.runs import Run


@pytest.fixture
def run(database: Database, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Survey a run with more chunks than are enqueued at once."""
    monkeypatch.setattr(enqueuing, "ASK_CHUNKS", 2)
    monkeypatch.setattr(enqueuing, "BATCH_CHUNKS", 4)
    monkeypatch.setattr(work, "_LINKED_FILES", 1)
    made = started(database, estate(4))
    surveyed(database, made)
    return made


def surveyed(database: Database, run: Run) -> None:
    for (arguments,) in database.rows("SELECT args FROM procrastinate_jobs WHERE task_name = 'survey'"):
        if arguments["run"] == run.id:
            workshop(database).survey(**arguments)
    assert runs.run_of(database, run.id).phase == "surveying"


def workshop(database: Database, steps: int = 1_000_000) -> Workshop:
    """Return a workshop that does jobs, and is told to end after so many checks."""
    looks = iter(range(steps))
    return Workshop(database, lambda _: ScriptedModel([]), is_draining=lambda: next(looks, None) is None)


def asked_in(database: Database) -> Counter[tuple[int, int]]:
    """Return the number of jobs that each chunk is in."""
    return Counter(
        (file, number)
        for (arguments,) in database.rows("SELECT args FROM procrastinate_jobs WHERE task_name = 'ask'")
        for file, numbers in arguments["chunks"]
        for number in numbers
    )


def chunks(database: Database) -> set[tuple[int, int]]:
    return set(database.rows("SELECT file, number FROM chunks"))


@pytest.mark.proves("C-21")
def test_whoever_is_killed_between_two_parts_leaves_the_rest_to_the_next(database: Database, run: Run) -> None:
    """Wherever the kill came, the next one does the rest: in the end each chunk is in one job, and turns continue."""
    kills = 0
    for steps in range(100):
        try:
            workshop(database, steps).link(run.id)
        except Later:
            kills += 1
        else:
            break
        assert max(asked_in(database).values(), default=1) == 1
    assert kills > 2
    assert asked_in(database) == dict.fromkeys(chunks(database), 1)
    assert database.rows("SELECT count(*) FROM files WHERE programs <> 'null' AND around IS NULL") == [(0,)]
    priorities = [
        one for (one,) in database.rows("SELECT priority FROM procrastinate_jobs WHERE task_name = 'ask' ORDER BY id")
    ]
    assert priorities == list(range(priorities[0], priorities[0] - len(priorities), -1))
    # What the engine lost is enqueued again, and nothing else.
    database.rows("DELETE FROM procrastinate_jobs WHERE id = (SELECT min(job) FROM chunks)")
    assert len(asked_in(database)) == len(chunks(database)) - 2
    workshop(database).link(run.id)
    assert asked_in(database) == dict.fromkeys(chunks(database), 1)


def test_workers_that_enqueue_together_add_nothing_twice(database: Database, run: Run) -> None:
    """Four enqueue at the same time, as when a worker was wrongly taken for dead."""
    threads = [threading.Thread(target=workshop(database).link, args=(run.id,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asked_in(database) == dict.fromkeys(chunks(database), 1)


@pytest.mark.parametrize("is_older_first", [True, False])
def test_two_runs_put_the_same_in_once_whoever_is_planned_first(is_older_first: bool, database: Database) -> None:
    """The run that is planned first asks, even the younger one; the other uses the answers."""
    both = [started(database, estate(4)), started(database, estate(4), fresh=True)]
    for one in both if is_older_first else reversed(both):
        surveyed(database, one)
        workshop(database).link(one.id)
    times = database.rows("SELECT count(job) FROM chunks GROUP BY key")
    assert set(times) == {(1,)}, Counter(times)
    assert len(times) == len(chunks(database))


@pytest.mark.parametrize("is_urgent_first", [True, False])
def test_what_a_more_urgent_run_waits_for_comes_before_the_rest(is_urgent_first: bool, database: Database) -> None:
    """An urgent run needs one program of four in a slow run: its chunks must not wait for all four."""
    whole = estate(4)
    part = whole._replace(files=whole.files[2:3])
    slow, urgent = started(database, whole), started(database, part, "urgent", urgency=5)
    for one in (urgent, slow) if is_urgent_first else (slow, urgent):
        surveyed(database, one)
        workshop(database).link(one.id)
    jobs = dict(database.rows("SELECT id, priority FROM procrastinate_jobs WHERE task_name = 'ask'"))
    wanted = database.rows(
        "SELECT DISTINCT job FROM chunks WHERE job IS NOT NULL AND key IN (SELECT key FROM chunks WHERE run = %(run)s)",
        run=urgent.id,
    )
    assert wanted
    assert all(jobs[job] >= 5 * CLASS_JOBS for (job,) in wanted)
    others = jobs.keys() - {job for (job,) in wanted}
    assert others
    assert all(jobs[job] < CLASS_JOBS for job in others)


def test_copies_of_a_question_are_in_one_job(database: Database, run: Run) -> None:
    """Copies may be far apart in the run; two jobs asking at once would pay twice for one answer."""
    copy = "(SELECT key FROM chunks ORDER BY file, number LIMIT 1)"
    last = "(SELECT file, number FROM chunks ORDER BY file DESC, number DESC LIMIT 1)"
    database.rows(f"UPDATE chunks SET key = {copy} WHERE (file, number) = {last}")
    workshop(database).link(run.id)
    assert asked_in(database) == dict.fromkeys(chunks(database), 1)
    jobs = database.rows(f"SELECT count(*), count(DISTINCT job) FROM chunks WHERE key = {copy}")
    assert jobs == [(2, 1)]


def test_two_runs_do_not_put_in_at_the_same_time(url: str, database: Database, run: Run) -> None:
    """Neither run would see that the other is about to ask the same, so the second waits until the first has enqueued."""
    putting = threading.Thread(target=workshop(database).link, args=(run.id,))
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (run.asking_queue,))
        putting.start()
        putting.join(0.5)
        assert putting.is_alive()
        assert not asked_in(database)
    putting.join(20)
    assert asked_in(database) == dict.fromkeys(chunks(database), 1)


def test_a_run_that_is_cancelled_before_it_is_linked_is_linked_when_it_goes_on(database: Database, run: Run) -> None:
    """Claims may name the callers of a program, so nothing is asked before they are known, whenever a run was cancelled."""
    for steps in (0, 2, 6):
        with pytest.raises(Later):
            workshop(database, steps).link(run.id)
        assert runs.cancel(database, run.id)
        workshop(database).link(run.id)  # a worker already had that job
        enqueuing.ask_for_open(database, run)  # and was in the middle of it
        assert not asked_in(database)
        assert runs.retry(database, runs.run_of(database, run.id)) == 0
        assert runs.run_of(database, run.id).phase == "surveying"
    workshop(database).link(run.id)
    assert runs.run_of(database, run.id).phase == "asking"
    assert database.rows("SELECT count(*) FROM files WHERE programs <> 'null' AND around IS NULL") == [(0,)]
    assert asked_in(database) == dict.fromkeys(chunks(database), 1)
