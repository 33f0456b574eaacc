"""How far is a run? The database is asked for chunks by state, money so far and to come, failures by cause, and workers.

Law: figures come from one look at the tables; estimates have bounds. Leaves to others: how they are shown (`page`, `metrics`,
`cli`).
"""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.models.prices import as_of, price_of
from penstock.scribe.pool import REPLY_TOKENS
from penstock.scribe.queue.runs import no_run
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from penstock.models.prices import Price
    from penstock.scribe.queue.database import Connection, Database
    from penstock.text.json_access import Json

_RATE_SECONDS = 600  # over which the pace is measured
_ERRORS = 2.0  # standard errors: the mean is within them 19 times in 20
_WORKER_SECONDS = 60  # within which a worker was seen that counts as alive


class Cause(NamedTuple):
    """Why chunks failed, or were put off: how many of them, and one of the reasons in the provider's words."""

    name: str
    chunks: int
    example: str

    def retry_command(self, run: int) -> str:
        """Return the command that asks again about what failed in a run for this cause.

        A worker's role may write any text as a cause, and a command is copied into a shell.
        """
        return f"penstock queue retry {run} --cause {shlex.quote(escape.show_argument(self.name))}"


class MoneyToCome(NamedTuple):
    """The expected cost in dollars, and its bounds, as far as they can be estimated."""

    expected: float
    low: float
    high: float


class SeenWorker(NamedTuple):
    """A worker that was seen within the last minute."""

    name: str
    version: str
    jobs: int
    key: str
    serves: bool
    """Whether a worker may take jobs of the run."""


class RunProgress(NamedTuple):
    """What the tables say about one run."""

    id: int
    title: str
    model: str
    fingerprint: str
    phase: str
    urgency: int
    created_at: datetime
    ended_at: datetime | None
    files: int
    files_waiting: int
    files_failed: int
    chunks: int
    answered: int
    failed: int
    open: int
    asked_for: int
    """Chunks that were asked about in this run: the other answers were kept from before."""
    calls: int
    late: int
    input_tokens: int
    output_tokens: int
    per_second: float
    """How many chunks have ended per second recently."""
    dollars: float | None
    """What was spent by list prices; None if the model has none."""
    to_come: MoneyToCome | None
    causes: tuple[Cause, ...]
    put_off: tuple[Cause, ...]
    """Why open chunks could not be answered yet: they are tried again automatically."""
    workers: tuple[SeenWorker, ...]

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens in a run by itself."""
        return self.phase in {"done", "cancelled"}

    @property
    def left_seconds(self) -> float | None:
        """How long the rest of a run takes at this pace; None if unknown."""
        return self.open / self.per_second if self.per_second > 0 and self.phase == "asking" else None

    def to_dict(self) -> dict[str, Json]:
        """Return the progress as JSON."""
        made = self._asdict()
        made["created_at"] = self.created_at.isoformat()
        made["ended_at"] = self.ended_at.isoformat() if self.ended_at is not None else None
        made["to_come"] = self.to_come._asdict() if self.to_come is not None else None
        made["causes"] = [cause._asdict() for cause in self.causes]
        made["put_off"] = [cause._asdict() for cause in self.put_off]
        made["workers"] = [worker._asdict() for worker in self.workers]
        return {**made, "left_seconds": self.left_seconds, "prices_as_of": as_of()}


# A sum of large integers is a decimal, which does not mix with Python's floats.
_CHUNKS = """
SELECT state, count(*), count(*) FILTER (WHERE calls > 0), coalesce(sum(calls), 0)::bigint,
       coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint, coalesce(sum(prompt_tokens), 0)::bigint,
       coalesce(sum(prompt_tokens) FILTER (WHERE input_tokens > 0), 0)::bigint,
       coalesce(sum(power(output_tokens, 2)) FILTER (WHERE input_tokens > 0), 0)::float8,
       count(*) FILTER (WHERE input_tokens > 0),
       count(*) FILTER (WHERE ended_at > clock_timestamp() - make_interval(secs => %(seconds)s)),
       extract(epoch FROM clock_timestamp()
               - min(ended_at) FILTER (WHERE ended_at > clock_timestamp() - make_interval(secs => %(seconds)s)))::float8
FROM chunks WHERE run = %(run)s GROUP BY state"""


class _Sums(NamedTuple):
    """The sums over the rows of chunks in one state."""

    chunks: int = 0
    asked_for: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    prompt_tokens: int = 0
    paid_prompt_tokens: int = 0
    """Of those whose answers reported usage."""
    squared_output: float = 0.0
    paid: int = 0
    recent: int = 0
    recent_seconds: float = 0.0


def runs(database: Database, limit: int = 20) -> list[int]:
    """Return the numbers of the newest runs, the newest first."""
    return [number for (number,) in database.rows("SELECT id FROM runs ORDER BY id DESC LIMIT %(limit)s", limit=limit)]


def progress(database: Database, run: int) -> RunProgress:
    """Return how far a run is.

    Raises:
        ToolError: There is no run of that number.
    """
    return database.run(lambda connection: _progress(connection, run))


def _progress(connection: Connection, run: int) -> RunProgress:
    def rows(statement: str) -> list[tuple[Any, ...]]:
        return connection.execute(statement.encode(), {"run": run, "seconds": _RATE_SECONDS}).fetchall()

    found = rows(
        """SELECT title, wire || ':' || model, model, fingerprint, phase, priority, created_at, ended_at, wire
           FROM runs WHERE id = %(run)s"""
    )
    if not found:
        raise no_run(run)
    title, model, name, mark, phase, urgency, created, ended, wire = found[0]
    by_state = {row[0]: _Sums(*(value or 0 for value in row[1:])) for row in rows(_CHUNKS)}
    sums = _Sums(*map(sum, zip(*by_state.values(), strict=True))) if by_state else _Sums()
    waiting = by_state.get("open", _Sums())
    files = dict(rows("SELECT state, count(*) FROM files WHERE run = %(run)s AND state <> 'beside' GROUP BY state"))
    causes = rows(
        """SELECT cause, count(*), min(reason), state FROM chunks WHERE run = %(run)s
           AND (state = 'failed' OR (state = 'open' AND cause IS NOT NULL))
           GROUP BY cause, state ORDER BY count(*) DESC, cause"""
    )
    late = rows("SELECT coalesce(sum(late), 0) FROM answers WHERE run = %(run)s AND late > 0")
    alive = connection.execute(
        """SELECT name, version, jobs, key, queues FROM workers
           WHERE seen_at > clock_timestamp() - make_interval(secs => %s) ORDER BY name""",
        (_WORKER_SECONDS,),
    ).fetchall()
    price = price_of(name)
    seconds = max((one.recent_seconds for one in by_state.values()), default=0.0)
    return RunProgress(
        id=run,
        title=title,
        model=model,
        fingerprint=mark,
        phase=phase,
        urgency=urgency,
        created_at=created,
        ended_at=ended,
        files=sum(files.values()),
        files_waiting=files.get("waiting", 0),
        files_failed=files.get("failed", 0),
        chunks=sums.chunks,
        answered=by_state.get("answered", _Sums()).chunks,
        failed=by_state.get("failed", _Sums()).chunks,
        open=waiting.chunks,
        asked_for=sums.asked_for,
        calls=sums.calls,
        late=int(late[0][0]),
        input_tokens=sums.input_tokens,
        output_tokens=sums.output_tokens,
        per_second=sums.recent / seconds if seconds > 0 else 0.0,
        dollars=_spent(price, sums),
        to_come=_to_come(price, sums, waiting) if phase in {"surveying", "asking"} else None,
        causes=_causes(causes, "failed"),
        put_off=_causes(causes, "open"),
        workers=tuple(
            SeenWorker(name, version, jobs, key, f"{mark}/{wire}" in queues)
            for name, version, jobs, key, queues in alive
        ),
    )


def _causes(rows: Iterable[tuple[Any, ...]], state: str) -> tuple[Cause, ...]:
    return tuple(Cause(cause or "unknown", chunks, reason or "") for cause, chunks, reason, of in rows if of == state)


def _spent(price: Price | None, sums: _Sums) -> float | None:
    if price is None:
        return None
    # Many requests cost what each of them costs: the price of one of the mean size, times their number.
    count = max(sums.paid, 1)
    one = price.dollars(
        uncached_tokens=round(sums.input_tokens / count), output_tokens=round(sums.output_tokens / count)
    )
    return float(one * count) if sums.paid else 0.0


def _to_come(price: Price | None, sums: _Sums, waiting: _Sums) -> MoneyToCome | None:
    """Return what the open chunks may cost: what was measured so far per token of prompt, and how far the mean may be off.

    Before anything was answered, a chunk costs between a request without an answer and three requests with the longest answers.
    """
    if price is None:
        return None
    left = waiting.chunks
    if not left:
        return MoneyToCome(0.0, 0.0, 0.0)
    prompt = waiting.prompt_tokens / left
    if sums.paid < 2:
        low = price.dollars(uncached_tokens=round(prompt)) * left
        high = 3 * price.dollars(uncached_tokens=round(prompt), output_tokens=REPLY_TOKENS) * left
        return MoneyToCome((low + high) / 4, low, high)
    said = sums.output_tokens / sums.paid
    variance = max(0.0, sums.squared_output / sums.paid - said**2)
    # The error of the mean of measured chunks, and of the sum of the others: both are uncertain.
    error = _ERRORS * math.sqrt(variance / sums.paid + variance / left)
    given = sums.input_tokens / max(sums.paid_prompt_tokens, 1) * prompt

    def dollars(output: float) -> float:
        return float(price.dollars(uncached_tokens=round(given), output_tokens=round(max(0.0, output))) * left)

    return MoneyToCome(dollars(said), dollars(said - error), dollars(said + error))
