"""What is done for a job? Files are surveyed, an estate is linked, chunks are asked about.

    survey   some files: what they call, and in which chunks they are asked about
    link     once all are surveyed: who calls and starts what, which claims may name; then questions are put into the queue
    ask      some chunks: asked, verified and accepted

Law: a job that is done twice, by two at once, or half, leaves the same as one done once; a lost one leaves traces that show it.
Leaves to others: which jobs there are (`runs`), who takes them (`worker`), and what a question is (`asking`).
"""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import described
from penstock.scribe.asking import answer_key
from penstock.scribe.pool import ModelPool
from penstock.scribe.queue.accepted import Accepted
from penstock.scribe.queue.engine import AT_ONCE, Later, defer
from penstock.scribe.queue.enqueuing import END_IF_DONE, ask_for_open
from penstock.scribe.queue.estates import QueuedEstate
from penstock.scribe.queue.limits import Bucket, MeteredModel, Tally
from penstock.scribe.queue.runs import LOOK_SECONDS, Run, run_of
from penstock.store import StoreFault
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from penstock.models import Model
    from penstock.scribe.asking import Answered
    from penstock.scribe.file_work import ChunkTask, FileWork
    from penstock.scribe.queue.database import Connection, Database
    from penstock.scribe.queue.estates import FetchedFile

MAX_ATTEMPTS = 8
"""How often a chunk is tried again that failed for a transient reason; the waits between double from 15 s to 10 minutes."""
_FORBIDDEN_ATTEMPTS = 3  # of a chunk whose prompt a key may not send: another worker's may
_FLUSH_SECONDS = 1.0  # after which results are written down, so that the queue shows them
_FETCHED_FILES = 32  # at once, for a job whose chunks are copies in many files; the rest are fetched one by one
_LINKED_FILES = 2_000  # files whose neighbours are written in one transaction
_KEPT_RUNS = 4  # runs whose files a worker keeps in memory
_BUGS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a file may provoke in code that did not expect it, `CallerError` included: that file is reported, the others continue."""


class KeyRefused(Exception):
    """The provider rejects this worker's key, or this worker cannot connect with its settings; another may."""


class _SurveyedFile(NamedTuple):
    """A surveyed file as in its row, and the rows of its chunks: place, key and tokens."""

    number: int
    programs: str
    assignment: str
    chunks: list[tuple[int, bytes, int]]


class _OpenChunk(NamedTuple):
    """A chunk that must be asked about: its place, the key of its answer, and whether that is there already."""

    file: int
    number: int
    key: bytes
    is_answered: bool


class _Ended(NamedTuple):
    """The outcome of a chunk, as in its row."""

    file: int
    number: int
    state: str
    tally: Tally
    cause: str | None = None
    reason: str | None = None


class Workshop:
    """The part of a worker that does jobs at a queue; threads share it.

    Args:
        database: The queue.
        model_of: Returns the model of a run, with this worker's own key.
        key: The name of that key in the limits.
        is_draining: Returns whether nothing more may be begun.
        is_taken_away: Returns whether work begun at a time, in monotonic seconds, may have been given to others since.
        say: Called with what a person should know, each time.
        attempts: How often a request is sent before the job is given back.
    """

    def __init__(
        self,
        database: Database,
        model_of: Callable[[Run], Model],
        *,
        key: str = "default",
        is_draining: Callable[[], bool] = lambda: False,
        is_taken_away: Callable[[float], bool] = lambda _: False,
        say: Callable[[str], object] = lambda _: None,
        attempts: int = 3,
    ) -> None:
        self._database, self._model_of, self._key = database, model_of, key
        self._is_draining, self._is_taken_away, self._attempts = is_draining, is_taken_away, attempts
        self._say = say
        self._lock = threading.Lock()
        self._estates: dict[int, QueuedEstate] = {}
        self._desks: dict[tuple[str, int | None], tuple[ModelPool, MeteredModel]] = {}

    def stop(self) -> None:
        """End what is under way at the providers."""
        with self._lock:
            desks = list(self._desks.values())
        for desk, _ in desks:
            desk.stop()

    def _estate(self, number: int) -> QueuedEstate:
        with self._lock:
            found = self._estates.pop(number, None)
            if found is not None:
                self._estates[number] = found  # the one used last is the last
                return found
        made = QueuedEstate(self._database, run_of(self._database, number))
        with self._lock:
            self._estates[number] = made
            while len(self._estates) > _KEPT_RUNS:
                del self._estates[next(iter(self._estates))]
        return made

    def _desk(self, run: Run) -> tuple[ModelPool, MeteredModel]:
        with self._lock:
            found = self._desks.get((run.model_id, run.model.window_tokens))
            if found is None:
                model = MeteredModel(
                    self._model_of(run),
                    Bucket(self._database, self._key, run.model_id),
                    given_up=self._is_draining,
                    say=self._say,
                )
                desk = ModelPool(
                    model,
                    reply_tokens=run.budget().reply_tokens,
                    attempts=self._attempts,
                    is_draining=lambda: self._is_draining() and not model.is_begun(),
                )
                found = self._desks[run.model_id, run.model.window_tokens] = desk, model
        return found

    def _phase(self, run: int) -> str:
        found = self._database.rows("SELECT phase FROM runs WHERE id = %(run)s", run=run)
        return str(found[0][0]) if found else "cancelled"

    # ── survey ───────────────────────────────────────────────────────────────────────────────────────────────────

    def survey(self, run: int, files: Sequence[int]) -> None:
        """Find out what some files contain; whoever surveys the last one has them linked."""
        if self._phase(run) != "surveying":
            return
        estate = self._estate(run)
        done: list[_SurveyedFile] = []
        failed: list[tuple[int, str]] = []
        contents = estate.contents(files)
        for number in files:
            if self._is_draining():
                break
            try:
                made = estate.survey(number, contents.get(number))
            except _BUGS as error:
                # One unreadable file must not keep ten thousand others waiting.
                failed.append((number, escape.clip(described(error), 300)))
                continue
            rows = [(place, bytes.fromhex(key), tokens) for place, key, tokens in made.chunks]
            done.append(_SurveyedFile(number, json.dumps(made.programs), json.dumps(made.assignment), rows))
        try:
            self._keep(estate.run, done, failed)
        except StoreFault as fault:
            if fault.code != "io_error":
                raise
            # The database rejects something in one of them, and would reject it again.
            for one in done:
                try:
                    self._keep(estate.run, [one], [])
                except StoreFault as own:
                    self._keep(estate.run, [], [(one.number, escape.clip(str(own), 300))])
            self._keep(estate.run, [], failed)
        if len(done) + len(failed) < len(files):
            raise Later("this worker ends")

    def _keep(self, run: Run, done: Sequence[_SurveyedFile], failed: Sequence[tuple[int, str]]) -> None:
        """Write down what was found in some files, and have the estate linked if no file waits any more."""
        chunks = [(one.number, *row) for one in done for row in one.chunks]

        def keep(connection: Connection) -> None:
            # One after the other: if two each survey one of the last two files, neither would see that the other has.
            connection.execute("SELECT 1 FROM runs WHERE id = %s FOR UPDATE", (run.id,))
            connection.execute(
                """UPDATE files SET state = 'surveyed', programs = made.programs::jsonb, assignment = made.assignment::jsonb
                   FROM unnest(%s::integer[], %s::text[], %s::text[]) AS made(number, programs, assignment)
                   WHERE run = %s AND files.number = made.number AND state = 'waiting'""",
                (*_columns([row[:3] for row in done], 3), run.id),
            )
            connection.execute(
                """INSERT INTO chunks (run, file, number, key, prompt_tokens)
                   SELECT %s, * FROM unnest(%s::integer[], %s::integer[], %s::bytea[], %s::integer[]) ON CONFLICT DO NOTHING""",
                (run.id, *_columns(chunks, 4)),
            )
            connection.execute(
                """UPDATE files SET state = 'failed', reason = made.reason
                   FROM unnest(%s::integer[], %s::text[]) AS made(number, reason)
                   WHERE run = %s AND files.number = made.number AND state = 'waiting'""",
                (*_columns(failed, 2), run.id),
            )
            waiting = connection.execute("SELECT 1 FROM files WHERE run = %s AND state = 'waiting' LIMIT 1", (run.id,))
            if waiting.fetchone() is None:
                defer(connection, run.fingerprint, "link", [{"run": run.id}], run.urgency)

        self._database.run(keep)

    def link(self, run: int) -> None:
        """Record what surrounds each program, and put the questions about all of them into the queue.

        Raises:
            Later: This worker ends before that is done; the next one does the rest.
        """
        phase = self._phase(run)
        if phase == "surveying":
            phase = self._linked(run)
        if phase == "asking" and not ask_for_open(self._database, self._estate(run).run, self._is_draining):
            raise Later("this worker ends")

    def _linked(self, run: int) -> str:
        """Write down what surrounds each program, and return the phase of the run afterwards.

        Raises:
            Later: This worker ends; another one writes everything again.
        """
        found = self._database.rows(
            "SELECT number, programs::text FROM files WHERE run = %(run)s AND state = 'surveyed' AND programs <> 'null'",
            run=run,
        )
        linked = [(number, json.dumps(one)) for number, one in self._estate(run).linked(dict(found)).items()]
        for at in range(0, len(linked), _LINKED_FILES):
            if self._is_draining():
                raise Later("this worker ends")
            numbers, around = _columns(linked[at : at + _LINKED_FILES], 2)
            self._database.rows(
                """UPDATE files SET around = made.around::json
                   FROM unnest(%(numbers)s::integer[], %(around)s::text[]) AS made(number, around)
                   WHERE run = %(run)s AND files.number = made.number""",
                run=run,
                numbers=numbers,
                around=around,
            )
        # Not if a failed file waits to be tried again: whoever surveys it has everything linked once more.
        self._database.rows(
            """UPDATE runs SET phase = 'asking' WHERE id = %(run)s AND phase = 'surveying'
               AND NOT EXISTS (SELECT FROM files WHERE files.run = %(run)s AND state = 'waiting')""",
            run=run,
        )
        return self._phase(run)

    # ── ask ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self, run: int, chunks: Sequence[tuple[int, Sequence[int]]]) -> None:
        """Ask about some chunks, one after the other, except those that were answered meanwhile.

        Raises:
            Later: Not all could be asked about now.
            KeyRefused: The provider rejects this worker's key.
        """
        # Before the query: to fetch a large estate may take longer than its answer is believed.
        looked = time.monotonic()
        found = self._open(run, chunks)
        if not found:
            return
        estate = self._estate(run)
        estate.unanswered.note((chunk.key.hex() for chunk in found if not chunk.is_answered), looked)
        fetched = estate.fetch(sorted({chunk.file for chunk in found})[:_FETCHED_FILES])
        is_wanted = self._still_asking(run, looked)
        ended: list[_Ended] = []
        begun = told = time.monotonic()
        try:
            for chunk in found:
                # Whoever has the job by now asks the rest. It is not retried, which would take it from them; and if nobody had
                # taken it, its chunks are found in no job, and enqueued again.
                if self._is_taken_away(begun):
                    break
                if self._is_draining():
                    raise Later("this worker ends")
                ended.append(self._asked(estate, chunk, fetched, is_wanted))
                if time.monotonic() - told >= _FLUSH_SECONDS:
                    self._tell(run, ended)
                    ended, told = [], time.monotonic()
        finally:
            self._tell(run, ended)

    def _open(self, run: int, chunks: Sequence[tuple[int, Sequence[int]]]) -> list[_OpenChunk]:
        """Return those of some chunks that are still open, in their order; none if the run does not ask any more."""
        places = [(file, number) for file, numbers in chunks for number in numbers]
        # The run is given with each place. Given once next to them, it made the planner read all open chunks of the run for the
        # eight that are meant, as long as the table had no statistics: 7 ms with 1,500 open.
        rows = self._database.rows(
            """SELECT file, number, key, EXISTS (SELECT FROM answers WHERE answers.key = chunks.key) FROM chunks
               JOIN unnest(%(runs)s::bigint[], %(files)s::integer[], %(numbers)s::integer[])
               AS wanted(run, file, number) USING (run, file, number)
               WHERE state = 'open' AND (SELECT phase FROM runs WHERE id = %(run)s) = 'asking' ORDER BY file, number""",
            run=run,
            runs=[run] * len(places),
            files=[file for file, _ in places],
            numbers=[number for _, number in places],
        )
        return [_OpenChunk(file, number, bytes(key), is_answered) for file, number, key, is_answered in rows]

    def _still_asking(self, run: int, looked: float) -> Callable[[], bool]:
        """Return what tells whether a run is still asking, as it was when `looked` at, in monotonic seconds: a look is believed for
        a while.
        """

        def is_wanted() -> bool:
            nonlocal looked
            if time.monotonic() - looked < LOOK_SECONDS:
                return True
            looked = time.monotonic()
            return self._phase(run) == "asking"

        return is_wanted

    def _asked(
        self, estate: QueuedEstate, chunk: _OpenChunk, fetched: dict[int, FetchedFile], is_wanted: Callable[[], bool]
    ) -> _Ended:
        """Return the outcome of a chunk.

        Raises:
            Later: It is still open, and so the others have to wait.
            KeyRefused: The provider rejects this worker's key.
        """
        desk, model = self._desk(estate.run)
        model.tally(is_wanted)
        try:
            work = estate.work(chunk.file, fetched)
            task = work.task(chunk.number)
            if bytes.fromhex(answer_key(task.chunk, estate.run.model_id)) != chunk.key:
                raise LookupError("this worker plans the file otherwise than the one that surveyed it")
            outcome = self._performed(work, task, desk, estate.run)
        except _BUGS as error:
            reason = escape.clip(described(error), 300)
            return _Ended(chunk.file, chunk.number, "failed", model.tally(), "unexpected", reason)
        tally = model.tally()
        if outcome.outcome == "answered":
            if outcome.unmended and not outcome.was_kept:
                self._say(f"{estate.run.model_id}: a first answer is all there is of a chunk: {outcome.unmended}")
            return _Ended(chunk.file, chunk.number, "answered", tally)
        if outcome.outcome == "stopped":
            raise Later("no turn yet" if tally.held_seconds else "this worker ends", self.after(tally.held_seconds))
        return self._failed(estate.run, chunk, outcome.reason, tally, desk)

    def _failed(self, run: Run, chunk: _OpenChunk, reason: str, tally: Tally, desk: ModelPool) -> _Ended:
        """Return the outcome of a chunk that has no answer, and why; raises as `_asked` if it is tried again."""
        if desk.useless is not None and desk.useless.kind in {"auth", "quota", "connection"}:
            raise KeyRefused(f"{run.model_id}: {reason}")
        self._say(f"{run.model_id}: {reason}")
        told = tally.diagnosis
        cause = told.kind if told is not None else "answer"
        if desk.useless is not None:  # a retry after a correction must not meet a desk that remembers
            with self._lock:
                self._desks.pop((run.model_id, run.model.window_tokens), None)
            cause = "not_found"
        # A transient failure is not the chunk's fault; an outage of the provider costs time and nothing else.
        passes = told is not None and told.recovery in {"wait", "retry"}
        most = MAX_ATTEMPTS if passes else _FORBIDDEN_ATTEMPTS if cause == "auth" else 0
        if most and (attempts := self._put_off(run, chunk, tally.calls, cause, reason)) < most:
            raise Later(reason, self.after(min(600.0, 15.0 * 2 ** (attempts - 1))))
        calls = Tally() if most else tally  # those are counted already
        return _Ended(chunk.file, chunk.number, "failed", calls, cause, reason)

    def _performed(self, work: FileWork, task: ChunkTask, desk: ModelPool, run: Run) -> Answered:
        """Return the outcome of a chunk and all smaller ones that it was split into: the worst of them."""
        waiting = [task]
        worst: Answered | None = None
        while waiting:
            part = waiting.pop()
            made, smaller = work.perform(part, desk, run.model_id)
            waiting += smaller[::-1]
            if made.outcome == "stopped":
                return made
            if made.outcome == "failed" and part.depth:
                Accepted(self._database, run.id).put_reason(answer_key(part.chunk, run.model_id), made.reason)
            if made.outcome == "failed" or (worst is None and made.outcome == "answered"):
                worst = made
        if worst is None:
            raise LookupError("a chunk turned into none")
        return worst

    def _put_off(self, run: Run, chunk: _OpenChunk, calls: int, cause: str, reason: str) -> int:
        """Write down why a chunk is tried again later, and return how often it has been put off."""
        ((attempts,),) = self._database.rows(
            """UPDATE chunks SET attempts = attempts + 1, calls = calls + %(calls)s, cause = %(cause)s, reason = %(reason)s
               WHERE run = %(run)s AND file = %(file)s AND number = %(number)s RETURNING attempts""",
            run=run.id,
            file=chunk.file,
            number=chunk.number,
            calls=calls,
            cause=cause,
            reason=reason,
        )
        return int(attempts)

    def after(self, seconds: float) -> datetime:
        """Return the database's time after a number of seconds: our clock may be an hour off."""
        if seconds <= 0:
            return AT_ONCE
        ((at,),) = self._database.rows("SELECT clock_timestamp() + make_interval(secs => %(seconds)s)", seconds=seconds)
        moment: datetime = at
        return moment

    def _tell(self, run: int, ended: Sequence[_Ended]) -> None:
        """Write down the outcomes of chunks; whoever ends the last one ends the run."""
        rows = [
            (
                one.file,
                one.number,
                one.state,
                one.tally.calls,
                one.tally.input_tokens,
                one.tally.output_tokens,
                one.cause,
                one.reason,
            )
            for one in ended
        ]
        if not rows:
            return
        self._database.rows(
            """UPDATE chunks SET state = made.state, calls = chunks.calls + made.calls,
                      input_tokens = chunks.input_tokens + made.given, output_tokens = chunks.output_tokens + made.said,
                      cause = made.cause, reason = made.reason, ended_at = clock_timestamp()
               FROM unnest(%(runs)s::bigint[], %(files)s::integer[], %(numbers)s::integer[], %(states)s::text[],
                           %(calls)s::integer[], %(given)s::bigint[], %(said)s::bigint[], %(causes)s::text[], %(reasons)s::text[])
                    AS made(run, file, number, state, calls, given, said, cause, reason)
               WHERE chunks.run = made.run AND chunks.file = made.file AND chunks.number = made.number AND chunks.state = 'open'""",
            runs=[run] * len(rows),
            **dict(
                zip(
                    ("files", "numbers", "states", "calls", "given", "said", "causes", "reasons"),
                    _columns(rows, 8),
                    strict=True,
                )
            ),
        )
        # A separate statement: if two end the last two chunks, each statement still sees the other's as open. If a worker is killed
        # before it, whichever worker looks after the queue does it.
        self._database.rows(END_IF_DONE, run=run)


def _columns(rows: Iterable[Sequence[Any]], count: int) -> list[list[Any]]:
    """Return rows as columns, or `count` empty ones if there are no rows."""
    columns: list[list[Any]] = [[] for _ in range(count)]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return columns
