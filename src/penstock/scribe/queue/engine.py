"""The engine as it is used here: procrastinate, by what it offers everybody, with patience about its database.

Seen of it, and met here. A worker ends when the database is restarted: `Patience` makes what ends a job again until it is done, and
what begins one ends the worker, whose supervisor begins another (`worker`); a job that was taken and whose answer was lost then
belongs to nobody, and is given back. Its time of trying again is by the clock of whoever asks: here it is always given, by the
database's. To take a job out of 40,000 took 90 ms where the table had not been analysed since they came: sessions do not
let the planner sort. Law: nothing here but the engine's public interface. Keeps out: what jobs do (`work`).
"""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from penstock.scribe import prompts
from penstock.scribe.queue.connecting import conninfo, missing_extra, settings
from penstock.version import __version__
from penstock.workspace import own_files

try:
    import procrastinate
    import procrastinate.exceptions
    import procrastinate.jobs
    import procrastinate.retry
    import procrastinate.schema
    from psycopg_pool import AsyncConnectionPool
except ImportError as error:
    raise missing_extra(error) from None

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    import psycopg

    from penstock.text.json_access import Json

PROTOCOL = 1
"""Of the arguments of jobs, and of what is written for others to read."""
AT_ONCE = datetime(1970, 1, 1, tzinfo=UTC)
"""When a job is tried again that may be tried at once: the engine's own "now" would be that of this machine's clock."""
CLASS_JOBS = 1_000_000
"""How many places there are between two priorities of a person."""
_ANSWER_SECONDS = 30.0  # a statement of the engine that takes longer will not be answered
_PAUSES_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
_PATIENCE_SECONDS = 300.0
# Without statistics the planner takes all waiting jobs and sorts them, for each that is taken: 90 ms with 40,000, against 0.04 ms
# along the index that there is for it. Who may take jobs need not own the table, so that ANALYZE is no way.
_PLANNER = ("enable_seqscan = off", "enable_sort = off", "enable_hashjoin = off", "enable_mergejoin = off")


def fingerprint(counter: str) -> str:
    """Return what those have to have alike who work on one run: versions, instructions, and who counts tokens.

    Plans are made anew by each worker, and must be the same. Who differs does not see the jobs: old and new workers go on beside
    each other, each with the runs of its own kind.

    Args:
        counter: How tokens are counted: `exact` or `estimate`.
    """
    parts = (str(PROTOCOL), __version__, str(prompts.VERSION), prompts.SYSTEM, counter)
    return f"{__version__}-{counter}-{sha256(repr(parts).encode()).hexdigest()[:8]}"


def asking_queue(mark: str, wire: str) -> str:
    """Return the name of the queue of what is asked on a wire: workers take those of which they have a key."""
    return f"{mark}/{wire}"


class Patience(procrastinate.PsycopgConnector):
    """A connection of the engine that repeats the statement which ends a job until it has been done, and bounds every wait."""

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        """Execute a statement without an answer, again and again while the database is away: a job has ended, a worker lives."""
        begun, attempt = asyncio.get_running_loop().time(), 0
        while True:
            try:
                await self._within(super().execute_query_async(query, **arguments))
            except procrastinate.exceptions.ConnectorException as error:
                # "Not found or not in status doing" is what a second try is told when the first had been done, or whoever was
                # taken for dead and was not. Somebody has done it.
                if not _is_away(error):
                    return
                if asyncio.get_running_loop().time() - begun > _PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(_PAUSES_SECONDS[min(attempt, len(_PAUSES_SECONDS) - 1)])
                attempt += 1
            else:
                return

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        """Make a statement that gives a row: a job is taken. Never twice, or the first would be nobody's."""
        row: dict[str, Any] = await self._within(super().execute_query_one_async(query, **arguments))
        return row

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        """Make a statement that gives rows."""
        rows: list[dict[str, Any]] = await self._within(super().execute_query_all_async(query, **arguments))
        return rows

    async def _within(self, asked: Awaitable[Any]) -> Any:
        # Not `wait_for`: that of Python 3.11 loses a cancellation which comes in the moment of the answer, and then what should end
        # here, a heartbeat, goes on for ever.
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await asked
        except TimeoutError as error:
            raise procrastinate.exceptions.ConnectorException(f"no answer within {_ANSWER_SECONDS:g} s") from error


def _is_away(error: BaseException) -> bool:
    """Return whether the database was not there, rather than did not want."""
    import psycopg

    cause = error.__cause__
    return not isinstance(cause, psycopg.Error) or isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)


class Later(Exception):
    """A job that is to be tried again: at a time of the database's clock, or at once."""

    def __init__(self, why: str, at: datetime = AT_ONCE) -> None:
        super().__init__(why)
        self.at = at


class _WhenTold(procrastinate.retry.BaseRetryStrategy):
    """Tries a job again when it says so, and not otherwise: what is wrong with a chunk stands with the chunk."""

    def get_retry_decision(
        self, *, exception: BaseException, job: procrastinate.jobs.Job
    ) -> procrastinate.retry.RetryDecision | None:
        """Return when a job is tried again that ended by an exception, None for never."""
        del job
        if isinstance(exception, Later):
            return procrastinate.retry.RetryDecision(retry_at=exception.at)
        return None


def engine_app(url: str, tasks: Mapping[str, Callable[..., Awaitable[None]]]) -> procrastinate.App:
    """Return the engine at a queue.

    Args:
        url: Where the queue is.
        tasks: What is done for jobs, by their names.
    """

    async def configure(connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute(settings(*_PLANNER))

    connector = Patience(
        pool_factory=_unasked_pool,
        conninfo=conninfo(url),
        configure=configure,
        min_size=1,
        max_size=2,
        timeout=10.0,
        kwargs={"autocommit": True},
    )
    app = procrastinate.App(connector=connector)
    for name, function in tasks.items():
        app.task(name=name, retry=_WhenTold())(function)
    return app


def _unasked_pool(**arguments: Any) -> AsyncConnectionPool:
    """Return a pool that asks no connection whether it lives before it lends it: a round trip for each that is needed.

    One that the server dropped says so when it is used. What ends a job is made again then; what takes one ends the worker, as
    it would a moment later.
    """
    return AsyncConnectionPool(**{**arguments, "check": None})


def defer(
    connection: psycopg.Connection[tuple[Any, ...]],
    queue: str,
    task: str,
    arguments: Sequence[Mapping[str, Json]],
    urgency: int,
    *,
    first: int | None = None,
) -> list[tuple[int, int]]:
    """Put jobs into a queue in the transaction of a connection, and return the number and the priority of each.

    Runs of one urgency take turns. A job's priority falls by one for each job of its run before it, and a run that comes later
    begins where the others are by now: it gets every second job from then on, and does not wait until they are done.

    Args:
        connection: In a transaction: either all is there, or nothing.
        queue: Its name.
        task: The name of what is done.
        arguments: Those of each job; some thousands, since they are one statement.
        urgency: What a person calls priority.
        first: The priority of the first of them, where the run has jobs already; None for where the others are.
    """
    from psycopg.types.json import Jsonb

    highest = urgency * CLASS_JOBS + CLASS_JOBS - 1
    lowest = highest - CLASS_JOBS + 1
    if first is None:
        found = connection.execute(
            "SELECT max(priority) FROM procrastinate_jobs WHERE status = 'todo' AND priority BETWEEN %s AND %s",
            (lowest, highest),
        ).fetchone()
        first = highest if found is None or found[0] is None else int(found[0])
    priorities = [max(first - place, lowest) for place in range(len(arguments))]
    made = connection.execute(
        # The function by which the engine's own `batch_defer` does it, in our transaction.
        """SELECT unnest(procrastinate_defer_jobs_v1(array(
            SELECT ROW(%s, %s, priority, NULL, NULL, args, NULL)::procrastinate_job_to_defer_v1
            FROM unnest(%s::jsonb[], %s::integer[]) WITH ORDINALITY AS given(args, priority, place) ORDER BY place)))""",
        (queue, task, [Jsonb(dict(one)) for one in arguments], priorities),
    )
    return [(int(number), priority) for (number,), priority in zip(made, priorities, strict=True)]


# ── schema ───────────────────────────────────────────────────────────────────────────────────────────────────────


def engine_schema() -> str:
    """Return the statements that make the engine's tables."""
    return str(procrastinate.schema.SchemaManager.get_schema())


def engine_steps() -> list[tuple[str, str]]:
    """Return the engine's own migrations, by name, in their order: all that its schema has been through."""
    folder = procrastinate.schema.SchemaManager.get_migrations_path()
    paths = sorted(own_files.own_files_like(str(folder), "*.sql"))
    return [(os.path.basename(path), (own_files.read_own(path) or b"").decode()) for path in paths]
