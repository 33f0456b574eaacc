"""How do questions come into the queue? As jobs for all chunks that are open and in no job, some thousands per transaction.

Each chunk records its job, and the engine which jobs there are: whoever is killed between two transactions, or whose jobs were
cancelled or lost, leaves exactly the rest to the next. Law: no transaction here grows with the run; a chunk is in one job at a
time, whoever enqueues and however many do. Leaves to others: which chunks there are (`work`), and who looks for lost jobs
(`worker`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe.queue.engine import CLASS_JOBS, defer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.scribe.queue.database import Connection, Database
    from penstock.scribe.queue.runs import Run
    from penstock.text.json_access import Json

ASK_CHUNKS = 8
"""How many chunks make a job: the engine's cost of taking a job is spread over them, and a kill loses only the one under way."""
BATCH_CHUNKS = 8_000
"""How many chunks are enqueued in one transaction, which takes a second or two: the run's row is locked for as long."""

TO_PUT_IN = """state = 'open'
    AND NOT EXISTS (SELECT FROM procrastinate_jobs AS jobs WHERE jobs.id = chunks.job AND jobs.status IN ('todo', 'doing'))
    AND NOT EXISTS (SELECT FROM chunks AS same JOIN runs AS other ON other.id = same.run
        WHERE same.key = chunks.key AND same.state = 'open' AND same.run <> chunks.run
        AND other.phase IN ('surveying', 'asking')
        AND other.fingerprint = (SELECT fingerprint FROM runs AS own WHERE own.id = chunks.run)
        AND (same.run < chunks.run OR EXISTS (SELECT FROM procrastinate_jobs AS jobs
            WHERE jobs.id = same.job AND jobs.status IN ('todo', 'doing'))))"""
"""The condition for a chunk that must be enqueued: it is in no job, and jobs end only when their chunks have; and no other run with
the same workers is asking the same question, or two runs over one estate would pay for each answer twice. If neither asks yet, the
older run does; if the younger one was planned first and asks already, the older one waits. The result is found once that is over,
by whichever worker looks after the queue."""
END_IF_DONE = """UPDATE runs SET phase = 'done', ended_at = clock_timestamp()
    WHERE id = %(run)s AND phase = 'asking' AND NOT EXISTS (SELECT FROM chunks WHERE chunks.run = %(run)s AND state = 'open')"""
"""The statement that marks a run as done if nothing of it is open."""


class _Reached(NamedTuple):
    """How far enqueuing is: the last chunk enqueued, and the priority of the next job."""

    file: int = -1
    number: int = -1
    priority: int | None = None


def ask_for_open(database: Database, run: Run, given_up: Callable[[], bool] = lambda: False) -> bool:
    """Enqueue jobs for all open chunks of a run that nobody asks about, and return whether that was completed.

    Args:
        database: The queue.
        run: The run; one that is no longer asking, because it was cancelled, gets no jobs.
        given_up: Returns whether to leave the rest to another worker.
    """
    # Whoever continues after a kill starts where the jobs of the run are by now, so that the run does not take a second place in
    # the turns among runs.
    ((priority,),) = database.rows(
        """SELECT min(priority) - 1 FROM procrastinate_jobs
           WHERE status = 'todo' AND task_name = 'ask' AND args @> jsonb_build_object('run', %(run)s::bigint)""",
        run=run.id,
    )
    reached: _Reached | None = _Reached(priority=priority)
    while reached is not None:
        if given_up():
            return False
        after = reached
        reached = database.run(partial(_some, run=run, after=after))
    _hasten(database, run)
    database.rows(END_IF_DONE, run=run.id)  # an estate that has nothing to ask about
    return True


def _hasten(database: Database, run: Run) -> None:
    """Raise the priority of jobs that a more urgent run waits for: this run's jobs for another, or another's for this one.

    Nobody asks the same question twice, so an urgent run over part of an estate would wait until all of it was asked about.
    """
    database.rows(
        """UPDATE procrastinate_jobs AS jobs SET priority = coalesce(
               (SELECT max(priority) FROM procrastinate_jobs AS others WHERE others.status = 'todo'
                AND others.priority BETWEEN wanted.urgency * %(class)s AND (wanted.urgency + 1) * %(class)s - 1),
               (wanted.urgency + 1) * %(class)s - 1)
           FROM (SELECT held.job, max(waits.priority) AS urgency
                 FROM runs AS waits JOIN runs AS asks ON asks.priority < waits.priority AND asks.fingerprint = waits.fingerprint
                 JOIN chunks AS wanting ON wanting.run = waits.id AND wanting.state = 'open'
                 JOIN chunks AS held ON held.run = asks.id AND held.key = wanting.key AND held.state = 'open'
                 WHERE waits.phase IN ('surveying', 'asking') AND asks.phase = 'asking' AND %(run)s IN (waits.id, asks.id)
                 GROUP BY held.job) AS wanted
           WHERE jobs.id = wanted.job AND jobs.status = 'todo' AND jobs.priority < wanted.urgency * %(class)s""",
        run=run.id,
        **{"class": CLASS_JOBS},
    )


def _some(connection: Connection, run: Run, after: _Reached) -> _Reached | None:
    """Enqueue the next chunks, and return how far that got; None at the end."""
    # One after the other, even if two enqueue: the second finds the first one's chunks in jobs.
    held = connection.execute("SELECT phase FROM runs WHERE id = %s FOR UPDATE", (run.id,)).fetchone()
    if held is None or held[0] != "asking":
        return None
    # Nor do two runs enqueue at the same time: neither would see that the other is about to ask the same.
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (run.asking_queue,))
    rows = connection.execute(
        f"""SELECT file, number, key FROM chunks WHERE run = %s AND (file, number) > (%s, %s) AND {TO_PUT_IN}
            ORDER BY file, number LIMIT %s""".encode(),  # noqa: S608 - a statement of ours
        (run.id, after.file, after.number, BATCH_CHUNKS),
    ).fetchall()
    if not rows:
        return None
    file, number, _ = rows[-1]
    # Files are copied, and so are questions: all copies are in the job of the first, and find its answer.
    rows += connection.execute(
        f"""SELECT file, number, key FROM chunks WHERE run = %s AND (file, number) > (%s, %s) AND key = ANY(%s)
            AND {TO_PUT_IN}""".encode(),  # noqa: S608 - a statement of ours
        (run.id, file, number, list({bytes(key) for _, _, key in rows})),
    ).fetchall()
    slices = list(_slices(rows))
    made = defer(
        connection, run.asking_queue, "ask", [_job(run.id, part) for part in slices], run.urgency, first=after.priority
    )
    placed = [(job, *place) for (job, _), part in zip(made, slices, strict=True) for place in part]
    connection.execute(
        """UPDATE chunks SET job = placed.job FROM unnest(%s::bigint[], %s::integer[], %s::integer[]) AS placed(job, file, number)
           WHERE chunks.run = %s AND chunks.file = placed.file AND chunks.number = placed.number""",
        (*(list(column) for column in zip(*placed, strict=True)), run.id),
    )
    return _Reached(file, number, made[-1][1] - 1)


def _slices(rows: Sequence[tuple[int, int, bytes]]) -> Iterator[list[tuple[int, int]]]:
    """Yield the places of some chunks by jobs, in order, with copies next to the first of them."""
    copies: dict[bytes, list[tuple[int, int]]] = {}
    for file, number, key in rows:
        copies.setdefault(bytes(key), []).append((file, number))
    part: list[tuple[int, int]] = []
    for places in copies.values():
        part += places
        if len(part) >= ASK_CHUNKS:
            yield part
            part = []
    if part:
        yield part


def _job(run: int, chunks: Sequence[tuple[int, int]]) -> dict[str, Json]:
    """Return the arguments of a job for one file or several."""
    by_file: dict[int, list[int]] = {}
    for file, number in chunks:
        by_file.setdefault(file, []).append(number)
    return {"run": run, "chunks": [[file, numbers] for file, numbers in by_file.items()]}
