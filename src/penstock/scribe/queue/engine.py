"""How is the engine used here? Procrastinate, through its public interface, with patience about its database.

What we observed, and what is done about it. A worker ends when the database is restarted: `Patience` repeats the statement that
ends a job until it succeeds, and a failure to begin one ends the worker, whose supervisor starts another (`worker`); a job that was
taken, but whose answer was lost, then belongs to nobody, and is given back. The time of a retry is by the caller's clock: here it
is always given, by the database's. Taking a job out of 40,000 took 90 ms if the table had not been analysed since they came:
sessions do not let the planner sort. Law: nothing here but the engine's public interface. Leaves to others: what jobs do (`work`).
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

PROTOCOL = 2
"""The version of jobs' arguments, and of what is written for others to read."""
AT_ONCE = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of a retry that may happen at once: the engine's own "now" would be by this machine's clock."""
CLASS_JOBS = 1_000_000
"""How many job priorities there are between two priorities of a user."""
_ANSWER_SECONDS = 30.0  # a statement of the engine that takes longer will not be answered
_PAUSES_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
_PATIENCE_SECONDS = 300.0
# Without statistics the planner reads and sorts all waiting jobs for each that is taken: 90 ms with 40,000, against 0.04 ms along
# the index made for it. A role that may take jobs need not own the table, so ANALYZE is not an option.
_PLANNER = ("enable_seqscan = off", "enable_sort = off", "enable_hashjoin = off", "enable_mergejoin = off")


def fingerprint(counter: str) -> str:
    """Return what all who work on one run must have in common: version, instructions, and how tokens are counted.

    Each worker makes the plans again, and they must be the same. A worker that differs does not see the jobs: old and new workers
    continue next to each other, each with the runs of its own kind.

    Args:
        counter: How tokens are counted: `exact` or `estimate`.
    """
    parts = (str(PROTOCOL), __version__, str(prompts.VERSION), prompts.SYSTEM, counter)
    return f"{__version__}-{counter}-{sha256(repr(parts).encode()).hexdigest()[:8]}"


def asking_queue(mark: str, wire: str) -> str:
    """Return the name of the queue for questions on a wire: workers take from those for which they have a key."""
    return f"{mark}/{wire}"


class Patience(procrastinate.PsycopgConnector):
    """A connection of the engine that repeats the statement which ends a job until it succeeds, and bounds every wait."""

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        """Execute a statement without a result, repeated while the database is away: a job has ended, a worker is alive."""
        begun, attempt = asyncio.get_running_loop().time(), 0
        while True:
            try:
                await self._within(super().execute_query_async(query, **arguments))
            except procrastinate.exceptions.ConnectorException as error:
                # "Not found or not in status doing" is the reply to a second try whose first one succeeded, or to a worker that was
                # taken for dead and was not. Either way the job has been ended.
                if not _is_away(error):
                    return
                if asyncio.get_running_loop().time() - begun > _PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(_PAUSES_SECONDS[min(attempt, len(_PAUSES_SECONDS) - 1)])
                attempt += 1
            else:
                return

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        """Execute a statement that returns a row: a job is taken. Never repeated, or the first job would belong to nobody."""
        row: dict[str, Any] = await self._within(super().execute_query_one_async(query, **arguments))
        return _callable(row)

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        """Execute a statement that returns rows."""
        rows: list[dict[str, Any]] = await self._within(super().execute_query_all_async(query, **arguments))
        return [_callable(row) for row in rows]

    async def _within(self, asked: Awaitable[Any]) -> Any:
        # Not `wait_for`: that of Python 3.11 loses a cancellation that arrives together with the answer, and then what should end
        # here, a heartbeat, continues for ever.
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await asked
        except TimeoutError as error:
            raise procrastinate.exceptions.ConnectorException(f"no answer within {_ANSWER_SECONDS:g} s") from error


def _callable(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row in which a job's arguments are an object, as the engine takes for granted: anything else becomes no arguments.

    The column holds any JSON that others write there. The engine fails on it where it writes its log, outside of what it catches:
    the job would stay `doing` until the worker ends. Without arguments its function cannot be called, and the job ends as failed.
    """
    return row if "args" not in row or isinstance(row["args"], dict) else {**row, "args": {}}


def _is_away(error: BaseException) -> bool:
    """Return whether the database was unreachable, rather than refusing."""
    import psycopg

    cause = error.__cause__
    return not isinstance(cause, psycopg.Error) or isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)


class Later(Exception):
    """A job that should be tried again: at a time of the database's clock, or at once."""

    def __init__(self, why: str, at: datetime = AT_ONCE) -> None:
        super().__init__(why)
        self.at = at


class _WhenTold(procrastinate.retry.BaseRetryStrategy):
    """Retries a job only when it says so: what is wrong with a chunk is recorded with the chunk."""

    def get_retry_decision(
        self, *, exception: BaseException, job: procrastinate.jobs.Job
    ) -> procrastinate.retry.RetryDecision | None:
        """Return when a job that ended by an exception is tried again; None for never."""
        del job
        if isinstance(exception, Later):
            return procrastinate.retry.RetryDecision(retry_at=exception.at)
        return None


def engine_app(url: str, tasks: Mapping[str, Callable[..., Awaitable[None]]]) -> procrastinate.App:
    """Return the engine for a queue.

    Args:
        url: The address of the queue.
        tasks: The functions that do jobs, by name.
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
    """Return a pool that does not check connections before it lends them, which would cost a round trip each time.

    A connection that the server dropped fails when it is used. The statement that ends a job is then repeated; a failure to take
    one ends the worker, as it would a moment later.
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

    Runs of the same urgency take turns. A job's priority falls by one for each job of its run before it, and a later run begins
    where the others are by now: from then on it gets every second job, and does not wait until they are done.

    Args:
        connection: A connection in a transaction: either all jobs are added, or none.
        queue: The name of the queue.
        task: The name of the function.
        arguments: The arguments of each job; at most some thousands, since they are one statement.
        urgency: What a user calls priority.
        first: The priority of the first job, if the run already has jobs; None to begin where the others are.
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
        # By the function that the engine's own `batch_defer` uses, in our transaction.
        """SELECT unnest(procrastinate_defer_jobs_v1(array(
            SELECT ROW(%s, %s, priority, NULL, NULL, args, NULL)::procrastinate_job_to_defer_v1
            FROM unnest(%s::jsonb[], %s::integer[]) WITH ORDINALITY AS given(args, priority, place) ORDER BY place)))""",
        (queue, task, [Jsonb(dict(one)) for one in arguments], priorities),
    )
    return [(int(number), priority) for (number,), priority in zip(made, priorities, strict=True)]


# ── schema ───────────────────────────────────────────────────────────────────────────────────────────────────────


def engine_schema() -> str:
    """Return the statements that create the engine's tables."""
    return str(procrastinate.schema.SchemaManager.get_schema())


def engine_steps() -> list[tuple[str, str]]:
    """Return the engine's own migrations by name, in order: all that its schema has been through."""
    folder = procrastinate.schema.SchemaManager.get_migrations_path()
    paths = sorted(own_files.own_files_like(str(folder), "*.sql"))
    return [(os.path.basename(path), (own_files.read_own(path) or b"").decode()) for path in paths]
