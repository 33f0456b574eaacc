"""What is a run? An estate with what has to be asked about it, put into the queue in one transaction.

The files of an estate go into the database: workers share no other disk. Contents are kept once for all runs. Law: a run exists
with all its files and all its jobs, or not at all; whoever asks for the same again while it is active gets the same run. Leaves to
others: what its jobs do (`work`), and how far it is (`progress`).
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from penstock.call import Call
from penstock.cobol.estate import DOCUMENTED_KINDS
from penstock.errors import CallerError, ToolError
from penstock.scribe.file_work import PromptBudget
from penstock.scribe.gathering import Gathered, GatheredFile, LeftOut, Skipped
from penstock.scribe.queue.contents import MISSING, digest_of, packed, unpacked
from penstock.scribe.queue.engine import asking_queue, defer, fingerprint
from penstock.store import StoreFault
from penstock.text import escape
from penstock.text.tokens import best_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from penstock.cobol import Format
    from penstock.cobol.estate import Kind
    from penstock.scribe.queue.database import Connection, Database
    from penstock.text.json_access import Json
    from penstock.text.tokens import Mode

SURVEY_BYTES = 256 << 10
"""How many bytes of sources one job surveys, roughly: some seconds of work."""
SURVEY_FILES = 32
_UPLOAD_BYTES = 4 << 20  # of contents in one transaction
LOOK_SECONDS = 1.0
"""How long a worker that asks assumes that a run is still active."""


class NamedModel(NamedTuple):
    """What plans depend on in a model; it cannot be asked."""

    wire: str
    name: str
    window_tokens: int | None

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """Raise an error: this model cannot be asked.

        Raises:
            CallerError: Always.
        """
        del request
        raise CallerError(f"{self.wire}:{self.name} is asked by workers, and not here")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as the queue holds it: `model` with its window, how prompts are made, and who can work on it."""

    id: int
    title: str
    fingerprint: str
    model: NamedModel
    max_prompt_tokens: int
    adaptive: bool
    source_format: Format | None
    urgency: int
    phase: str
    fresh_since: datetime | None
    tokenizer: str | None
    """The model or family whose tokenizer counts prompts; None for the model's own."""
    counting: Mode

    @property
    def model_id(self) -> str:
        """The name of the model in the keys of answers."""
        return f"{self.model.wire}:{self.model.name}"

    @property
    def asking_queue(self) -> str:
        """The name of the queue with the run's questions."""
        return asking_queue(self.fingerprint, self.model.wire)

    def budget(self) -> PromptBudget:
        """Return how large the run's prompts may be."""
        return PromptBudget.of(
            self.model, self.max_prompt_tokens, adaptive=self.adaptive, tokenizer=self.tokenizer, counting=self.counting
        )


def own_fingerprints() -> dict[Mode, str]:
    """Return the fingerprints that this process can share with others, by its available ways of counting tokens."""
    return {mode: fingerprint(mode) for mode in dict.fromkeys(("estimate", best_counter("o200k").mode))}


def start(
    database: Database,
    found: Gathered,
    title: str,
    *,
    model: NamedModel,
    max_prompt_tokens: int,
    adaptive: bool,
    source_format: Format | None,
    tokenizer: str | None = None,
    urgency: int = 0,
    fresh: bool = False,
) -> tuple[Run, bool]:
    """Put an estate into the queue, and return its run and whether that is new.

    Args:
        database: The queue.
        found: The files of the estate.
        title: The name of the estate.
        model: The model to ask.
        max_prompt_tokens: The most tokens of a whole prompt.
        adaptive: Whether chunks are smaller where the code branches more.
        source_format: The reference format, if detection from the columns would get it wrong.
        tokenizer: The model or family whose tokenizer counts prompts; the model's own by default.
        urgency: Runs with a higher value come first; those with the same take turns.
        fresh: Whether answers of earlier runs are ignored.

    Raises:
        StoreFault: The database cannot be reached, or refuses.
    """
    digests = [digest_of(one.data) for one in found.files]
    counting = best_counter(tokenizer or model.name).mode
    mark = fingerprint(counting)
    about: dict[str, Any] = {
        "title": title,
        "fingerprint": mark,
        "wire": model.wire,
        "model": model.name,
        "window_tokens": model.window_tokens,
        "tokenizer": tokenizer,
        "counting": counting,
        "max_prompt_tokens": max_prompt_tokens,
        "adaptive": adaptive,
        "source_format": source_format,
    }
    listed = [
        (os.fsencode(one.path).hex(), one.kind, digest.hex()) for one, digest in zip(found.files, digests, strict=True)
    ]
    whole = sha256(json.dumps([about, listed], sort_keys=True).encode()).digest()
    if not fresh and (going := _going_on(database, whole)) is not None:
        return run_of(database, going), False
    _upload(database, found.files, digests)

    def enqueue(connection: Connection) -> int:
        # If two start the same at the same time, the second waits here, and finds the first one's run.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (whole.hex(),))
        known = connection.execute(_GOING_ON.encode(), {"digest": whole}).fetchone()
        if known is not None and not fresh:
            return int(known[0])
        number = _insert_run(connection, {**about, "digest": whole, "priority": urgency}, found, fresh=fresh)
        with connection.cursor().copy(b"COPY files (run, number, path, kind, digest, state) FROM STDIN") as copy:
            for place, (one, digest) in enumerate(zip(found.files, digests, strict=True)):
                state = "waiting" if one.kind in DOCUMENTED_KINDS else "beside"
                copy.write_row((number, place, os.fsencode(one.path), one.kind, digest, state))
        jobs = list(_surveys(number, found.files))
        # An estate without a source has nothing to survey; a job has to find that out, and links it.
        defer(connection, mark, "survey", jobs or [{"run": number, "files": []}], urgency)
        return number

    number = database.run(enqueue)
    return run_of(database, number), True


def _insert_run(connection: Connection, about: dict[str, Any], found: Gathered, *, fresh: bool) -> int:
    """Insert the row of a run and return its number.

    Args:
        connection: The connection with the transaction.
        about: The columns of the run and their values.
        found: The estate; the row says what was not read of it.
        fresh: Whether answers from before now are ignored.
    """
    title = str(about["title"])
    values = {
        **about,
        "title": title.encode("utf-8", "backslashreplace").decode(),  # as it is shown
        "title_bytes": os.fsencode(title),
        "skipped": json.dumps([(_hex(one.path), one.reason) for one in found.skipped]),
        "left_out": json.dumps(
            [(_hex(one.suffix), one.files, [_hex(path) for path in one.examples]) for one in found.left_out]
        ),
    }
    made = connection.execute(
        f"""INSERT INTO runs ({", ".join(values)}, fresh_since)
            VALUES ({", ".join(f"%({name})s" for name in values)}, CASE WHEN %(fresh)s THEN clock_timestamp() END)
            RETURNING id""".encode(),  # noqa: S608 - names of ours
        {**values, "fresh": fresh},
    ).fetchone()
    return int(cast("tuple[Any, ...]", made)[0])


_GOING_ON = (
    "SELECT id FROM runs WHERE digest = %(digest)s AND phase IN ('surveying', 'asking') ORDER BY id DESC LIMIT 1"
)


def _going_on(database: Database, digest: bytes) -> int | None:
    """Return the active run over exactly the same; None if there is none."""
    found = database.rows(_GOING_ON, digest=digest)
    return int(found[0][0]) if found else None


def _upload(database: Database, files: Sequence[GatheredFile], digests: Sequence[bytes]) -> None:
    """Put contents that the database lacks into it, a few megabytes at a time."""
    known = {
        bytes(row[0])
        for row in database.rows("SELECT digest FROM contents WHERE digest = ANY(%(all)s)", all=list(digests))
    }
    held: dict[bytes, bytes] = {}
    size = 0
    for one, digest in zip(files, digests, strict=True):
        if digest not in known and digest not in held:
            held[digest] = packed(one.data)
            size += len(held[digest])
        if size >= _UPLOAD_BYTES:
            _insert(database, held)
            held, size = {}, 0
    _insert(database, held)


def _insert(database: Database, held: dict[bytes, bytes]) -> None:
    if held:
        database.rows(
            """INSERT INTO contents SELECT * FROM unnest(%(digests)s::bytea[], %(data)s::bytea[]) ON CONFLICT DO NOTHING""",
            digests=list(held),
            data=list(held.values()),
        )


def _surveys(run: int, files: Sequence[GatheredFile]) -> Iterator[dict[str, Json]]:
    """Yield the arguments of the jobs that survey all sources, with several files each."""
    numbers: list[int] = []
    size = 0
    for number, one in enumerate(files):
        if one.kind not in DOCUMENTED_KINDS:
            continue
        if numbers and (size + len(one.data) > SURVEY_BYTES or len(numbers) >= SURVEY_FILES):
            yield {"run": run, "files": list(numbers)}
            numbers, size = [], 0
        numbers.append(number)
        size += len(one.data)
    if numbers:
        yield {"run": run, "files": list(numbers)}


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def run_of(database: Database, number: int) -> Run:
    """Return a run.

    Raises:
        ToolError: There is no run of that number.
    """
    found = database.rows(
        """SELECT id, coalesce(title_bytes, convert_to(title, 'UTF8')), fingerprint, wire, model, window_tokens,
                  max_prompt_tokens, adaptive, source_format, priority, phase, fresh_since, tokenizer, counting
           FROM runs WHERE id = %(run)s""",
        run=number,
    )
    if not found:
        raise no_run(number)
    (
        run,
        title,
        mark,
        wire,
        model,
        window,
        tokens,
        adaptive,
        source_format,
        urgency,
        phase,
        since,
        tokenizer,
        counting,
    ) = found[0]
    return Run(
        id=run,
        title=os.fsdecode(bytes(title)),
        fingerprint=mark,
        model=NamedModel(wire, model, window),
        max_prompt_tokens=tokens,
        adaptive=adaptive,
        source_format=source_format,
        urgency=urgency,
        phase=phase,
        fresh_since=since,
        tokenizer=tokenizer,
        counting=counting,
    )


def no_run(number: int) -> ToolError:
    """Return the error for a run that does not exist."""
    return ToolError("not_found", f"There is no run {number} in this queue.", Call("queue status"))


def newest(database: Database) -> Run:
    """Return the run that was started last.

    Raises:
        ToolError: There is no run.
    """
    found = database.rows("SELECT max(id) FROM runs")
    if found[0][0] is None:
        said = "There is no run in this queue: penstock document PATH --queue URL --model NAME starts one"
        raise ToolError("not_found", said)
    return run_of(database, int(found[0][0]))


def is_asked(database: Database, wire: str, model: str) -> bool:
    """Return whether any run asks a model."""
    found = "SELECT 1 FROM runs WHERE wire = %(wire)s AND model = %(model)s LIMIT 1"
    return bool(database.rows(found, wire=wire, model=model))


def gathered(database: Database, run: Run) -> Gathered:
    """Return the files of a run as they were found when it was started.

    Raises:
        StoreFault: Contents are missing, or not as they were put in: the database was changed by hand, or damaged.
    """
    rows = database.rows(
        "SELECT path, kind, digest, data FROM files LEFT JOIN contents USING (digest) WHERE run = %(run)s ORDER BY number",
        run=run.id,
    )
    files = []
    for path, kind, digest, held in rows:
        name, data = os.fsdecode(bytes(path)), unpacked(bytes(digest), held)
        if data is None:
            raise StoreFault("io_error", f"Run {run.id}, {escape.clip(name)}: {MISSING}.")
        files.append(GatheredFile(name, cast("Kind", kind), data))
    ((skipped, left_out),) = database.rows("SELECT skipped, left_out FROM runs WHERE id = %(run)s", run=run.id)
    return Gathered(
        tuple(files),
        tuple(Skipped(_path(path), reason) for path, reason in skipped),
        tuple(LeftOut(_path(suffix), files, tuple(map(_path, paths))) for suffix, files, paths in left_out),
    )


# File names are bytes, and may not be text that a database accepts.
def _hex(name: str) -> str:
    return os.fsencode(name).hex()


def _path(name: str) -> str:
    return os.fsdecode(bytes.fromhex(name))


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────────────────────


_CANCELLED_AT_ONCE = 5_000


def cancel(database: Database, run: int, *, pause: Callable[[float], object] = time.sleep) -> bool:
    """End a run, and return whether it was active: what is under way is answered and kept, nothing more is begun.

    That holds once this returns: workers check once a second whether a run is active, which is waited for if jobs are under way.
    """
    ended = database.rows(
        """UPDATE runs SET phase = 'cancelled', ended_at = clock_timestamp()
           WHERE id = %(run)s AND phase IN ('surveying', 'asking') RETURNING 1""",
        run=run,
    )
    # Otherwise each of the waiting jobs would be taken, checked and dropped. In batches: a run may have a hundred thousand.
    while database.rows(
        """SELECT procrastinate_cancel_job_v1(id, false, true) FROM procrastinate_jobs
           WHERE status = 'todo' AND args @> jsonb_build_object('run', %(run)s::bigint) LIMIT %(most)s""",
        run=run,
        most=_CANCELLED_AT_ONCE,
    ):
        pass
    if ended and database.rows("SELECT 1 FROM procrastinate_jobs WHERE status = 'doing' LIMIT 1"):
        pause(LOOK_SECONDS)
    return bool(ended)


def retry(database: Database, run: Run, cause: str | None = None) -> int:
    """Ask again about chunks that failed, and return how many there are; with a cause, only those that failed for it.

    A cancelled run continues, with everything that is open.
    """

    def work(connection: Connection) -> int:
        held = connection.execute("SELECT phase FROM runs WHERE id = %s FOR UPDATE", (run.id,)).fetchone()
        phase = str(held[0]) if held is not None else run.phase
        unread = connection.execute(
            """UPDATE files SET state = 'waiting', attempts = 0, reason = NULL
               WHERE run = %s AND (state = 'failed' OR (state = 'waiting' AND %s)) AND %s::text IS NULL RETURNING number""",
            (run.id, phase == "cancelled", cause),
        ).fetchall()
        again = connection.execute(
            """UPDATE chunks SET state = 'open', attempts = 0, job = NULL, cause = NULL, reason = NULL
               WHERE run = %(run)s AND state = 'failed' AND (%(cause)s::text IS NULL OR cause = %(cause)s) RETURNING 1""",
            {"run": run.id, "cause": cause},
        ).fetchall()
        # A run may have been cancelled before it was linked, so it is linked again.
        wanted = "surveying" if unread or phase in {"cancelled", "surveying"} else "asking" if again else phase
        if wanted != phase:
            connection.execute("UPDATE runs SET phase = %s, ended_at = NULL WHERE id = %s", (wanted, run.id))
        if unread:
            survey_again(connection, run, sorted(number for (number,) in unread))
        elif again or phase == "cancelled":
            defer(connection, run.fingerprint, "link", [{"run": run.id}], run.urgency)
        return len(again) + len(unread)

    return database.run(work)


def survey_again(connection: Connection, run: Run, numbers: Sequence[int]) -> None:
    """Enqueue some files of a run to be surveyed."""
    slices = [list(numbers[at : at + SURVEY_FILES]) for at in range(0, len(numbers), SURVEY_FILES)]
    defer(connection, run.fingerprint, "survey", [{"run": run.id, "files": part} for part in slices], run.urgency)
