"""Does a run work from end to end: what is enqueued, what workers make of it, and what a later run finds?"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.cobol import sources
from tests.scribe.author import groups_in, worded
from tests.scribe.programs import program
from tests.scribe.queue.conftest import QUICK, TOKENS, ended, estate, loopback, started, working

from penstock.cobol.estate import COBOL_KINDS, member
from penstock.cobol.graph import EstateGraph
from penstock.errors import CallerError, ToolError
from penstock.models import Disconnected, Refused, fail, refuse, say, sizes
from penstock.scribe import Surroundings, document_gathered
from penstock.scribe.estate_reading import graph_part
from penstock.scribe.file_work import FileWork
from penstock.scribe.gathering import Gathered, GatheredFile
from penstock.scribe.output import Output
from penstock.scribe.pages.wiring import calling_part, outer_part
from penstock.scribe.queue import estates, runs, work
from penstock.scribe.queue.contents import MISSING, digest_of, packed
from penstock.scribe.queue.engine import Later
from penstock.scribe.queue.estates import QueuedEstate, Surveyed
from penstock.scribe.queue.finishing import finish
from penstock.scribe.queue.limits import Bucket, set_limits
from penstock.scribe.queue.metrics import metrics
from penstock.scribe.queue.progress import progress
from penstock.scribe.queue.work import Workshop
from penstock.scribe.results import Folder
from penstock.store import StoreFault
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.scribe.author import Author

    from penstock.scribe import Around
    from penstock.scribe.queue.database import Database
    from penstock.scribe.queue.runs import Run


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files that a run writes, except for kept answers."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".penstock" not in path.parts
    }


_NESTED = """\
PROGRAM-ID. OUTER.
PROCEDURE DIVISION.
    CALL 'INNER' CALL 'SHARED' GOBACK.
PROGRAM-ID. INNER.
PROCEDURE DIVISION.
    CALL 'SHARED' GOBACK.
END PROGRAM INNER.
PROGRAM-ID. SHARED IS COMMON.
PROCEDURE DIVISION.
    DISPLAY 'S' GOBACK.
END PROGRAM SHARED.
END PROGRAM OUTER.
"""
_STRANGER = """\
PROGRAM-ID. STRANGER.
PROCEDURE DIVISION.
    CALL 'SHARED' GOBACK.
END PROGRAM STRANGER.
"""
_CLASSES = """\
CLASS-ID. Base.
OBJECT.
PROCEDURE DIVISION.
METHOD-ID. audit.
PROCEDURE DIVISION.
    DISPLAY 'A'.
END METHOD audit.
END OBJECT.
END CLASS Base.
CLASS-ID. Account INHERITS Base.
ENVIRONMENT DIVISION.
CONFIGURATION SECTION.
REPOSITORY.
    CLASS Base IS "Base".
END CLASS Account.
PROGRAM-ID. MAIN.
ENVIRONMENT DIVISION.
CONFIGURATION SECTION.
REPOSITORY.
    CLASS Account IS "Account".
DATA DIVISION.
WORKING-STORAGE SECTION.
01 Acc OBJECT REFERENCE Account.
PROCEDURE DIVISION.
    INVOKE Acc "audit"
    GOBACK.
END PROGRAM MAIN.
"""


def _objects() -> tuple[GatheredFile, ...]:
    """Return contained programs, classes, and a program that invokes an inherited method."""
    return tuple(
        GatheredFile(path, "cobol", f">>SOURCE FORMAT FREE\n{text}".encode())
        for path, text in (("oo/a.cbl", _NESTED), ("oo/b.cbl", _STRANGER), ("oo/c.cbl", _CLASSES))
    )


@pytest.mark.proves("C-21")
def test_two_workers_make_the_site_that_one_process_makes(
    url: str, database: Database, author: Author, tmp_path: Path
) -> None:
    """The site is equal byte for byte, with classes and contained programs; a second run finds all answers and asks nothing."""
    found = estate()
    found = found._replace(files=(*found.files, *_objects()))
    run = started(database, found)
    with working(url, loopback(author)), working(url, loopback(author)):
        seen = ended(database, run)
        assert (seen.phase, seen.failed, seen.late, seen.answered) == ("done", 0, 0, seen.chunks)
        asked = len(author.requests)
        assert seen.calls == asked >= seen.chunks > len(found.files)
        again = started(database, found)
        assert again.id != run.id
        assert ended(database, again).calls == 0
    assert len(author.requests) == asked
    finish(database, run, str(tmp_path / "queue"))
    local = tmp_path / "local"
    document_gathered(
        found,
        "estate",
        Output(str(local)),
        model=loopback(author),
        results=Folder(str(local / ".penstock")),
        max_prompt_tokens=TOKENS,
    )
    assert files_of(tmp_path / "queue") == files_of(local)
    about = json.loads((tmp_path / "queue/programs/PROG0.json").read_text())
    assert "NIGHTLY" in json.dumps(about)


def test_the_same_started_again_is_the_run_that_is_going_on(database: Database) -> None:
    """After a kill the same command follows the same run; with --fresh it starts another."""
    found = estate()
    run = started(database, found)
    assert started(database, found).id == run.id
    assert started(database, found, fresh=True).id != run.id
    assert started(database, estate(2)).id != run.id


def test_fresh_asks_again_and_accepts_once(url: str, database: Database, author: Author) -> None:
    """Answers accepted before a fresh run are replaced, once."""
    with working(url, loopback(author)):
        first = ended(database, started(database, estate(1)))
        fresh = ended(database, started(database, estate(1), fresh=True))
    assert (fresh.answered, fresh.late) == (first.answered, 0)
    assert len(author.requests) == first.calls + fresh.calls == 2 * first.calls


def test_what_failed_is_told_by_cause_and_tried_again(
    url: str, database: Database, author: Author, tmp_path: Path
) -> None:
    """A permanent refusal fails only its chunk; the site names it, `retry` asks again, and then everything is there."""
    refused = [True]

    def answer(request: dict[str, Any]) -> Any:
        return (
            fail(400, {"error": {"message": "This model cannot do that", "type": "invalid_request_error"}})
            if refused[0]
            else author(request)
        )

    run = started(database, estate(1))
    with working(url, loopback(answer)):
        seen = ended(database, run)
        assert seen.failed == seen.chunks
        assert sum(cause.chunks for cause in seen.causes) == seen.chunks
        assert f'cause="{seen.causes[0].name}"' in metrics([seen])
        done = finish(database, run, str(tmp_path))
        assert "This model cannot do that" in json.dumps(dict(done.programs))
        refused[0] = False
        assert runs.retry(database, run, "no such cause") == 0
        assert runs.retry(database, run, seen.causes[0].name) == seen.failed
        seen = ended(database, run)
    assert (seen.failed, seen.answered) == (0, seen.chunks)


def test_what_failed_is_told_as_one_process_tells_it(
    url: str, database: Database, author: Author, tmp_path: Path
) -> None:
    """The claims of a truncated answer are kept, and the reason for a refusal is not parsed as a new refusal."""

    def answer(request: dict[str, Any]) -> Any:
        if "PROG1" in str(request):
            return fail(400, {"error": {"message": "cannot \\ud800", "type": "invalid_request_error"}})
        return say(json.dumps({"claims": author.claims(request)})[:-2] + ', {"of": "program", "fi')

    found = estate()
    run = started(database, found)
    with working(url, loopback(answer)):
        seen = ended(database, run)
    assert seen.failed == seen.chunks
    finish(database, run, str(tmp_path / "queue"))
    local = Output(str(tmp_path / "local"))
    kept = Folder(str(tmp_path / "local/.penstock"))
    document_gathered(found, "estate", local, model=loopback(answer), results=kept, max_prompt_tokens=TOKENS)
    assert files_of(tmp_path / "queue") == files_of(tmp_path / "local")
    assert json.loads((tmp_path / "queue/programs/PROG0.json").read_text())["coverage"]["lines_documented"] == 0


def test_why_a_part_of_a_chunk_failed_is_told(url: str, database: Database, author: Author, tmp_path: Path) -> None:
    """A chunk that was too large became smaller ones without rows, and was reported as never answered."""
    asked: list[int] = []

    def answer(request: dict[str, Any]) -> Any:
        asked.append(len(sizes.text_of(request)))
        if asked[-1] > 0.9 * max(asked):
            return refuse(6_500, of=6_000)
        return fail(400, {"error": {"message": "This model cannot do that", "type": "invalid_request_error"}})

    run = started(database, estate(1, 40), max_prompt_tokens=4_000)
    with working(url, loopback(answer), QUICK._replace(jobs=1)):
        seen = ended(database, run)
    assert seen.failed == seen.chunks
    done = json.dumps(dict(finish(database, run, str(tmp_path)).programs))
    assert "This model cannot do that" in done
    assert "nobody answered" not in done


@pytest.mark.parametrize(
    ("error", "cause", "tries"),
    [
        (Disconnected("connect", "There is no connection to http://nowhere"), "connection", 2),
        (Refused(403, {"error": {"message": "Forbidden"}}), "auth", 3),
    ],
)
def test_what_may_pass_is_said_at_once_and_tried_again(
    database: Database, error: Exception, cause: str, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong address was waited for silently for an hour, and one forbidden prompt ended every worker."""

    class Refusing:
        wire, name, window_tokens = "openai-chat", "loopback", 200_000

        def send(self, _request: dict[str, Any], /) -> dict[str, Any]:
            raise error

    monkeypatch.setattr(work, "MAX_ATTEMPTS", 2)
    run, said = started(database, estate(1)), list[str]()
    shop = Workshop(database, lambda _: Refusing(), attempts=1, say=said.append)
    for task in ("survey", "link"):
        ((arguments,),) = database.rows("SELECT args FROM procrastinate_jobs WHERE task_name = %(task)s", task=task)
        getattr(shop, task)(**arguments)
    for number in range(1, tries):
        with pytest.raises(Later):
            shop.ask(run.id, [(0, [0])])
        assert len(said) == number
        (put_off,) = progress(database, run.id).put_off
        assert (put_off.name, put_off.chunks) == (cause, 1)
        assert put_off.example in said[0]
    shop.ask(run.id, [(0, [0])])
    seen = progress(database, run.id)
    assert (seen.failed, seen.calls, seen.put_off, seen.causes[0].name) == (1, tries, (), cause)


def test_a_run_that_is_cancelled_ends_and_can_go_on(url: str, database: Database, author: Author) -> None:
    """Nothing more is asked, answers are kept, and `retry` continues with the rest."""
    run = started(database, estate())
    assert runs.cancel(database, run.id)
    assert not runs.cancel(database, run.id)
    assert database.rows("SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'") == [(0,)]
    with working(url, loopback(author)):
        assert progress(database, run.id).phase == "cancelled"
        assert not author.requests
        runs.retry(database, runs.run_of(database, run.id))
        seen = ended(database, run)
    assert (seen.phase, seen.answered) == ("done", seen.chunks)


@pytest.mark.parametrize("waits_for", ["its files", "a turn", "the next chunk"])
def test_nothing_is_begun_once_a_run_was_cancelled(database: Database, author: Author, waits_for: str) -> None:
    """A worker that waits for a turn, or has more chunks, checks again; cancelling waits until all have."""
    run = started(database, estate(1))
    waits: list[float] = []

    def cancelled() -> None:
        runs.cancel(database, run.id, pause=waits.append)
        time.sleep(0.12)

    def answer(request: dict[str, Any]) -> Any:
        cancelled()
        return author(request)

    fetch = QueuedEstate.fetch

    def fetching(estate: QueuedEstate, numbers: Sequence[int]) -> Any:
        cancelled()
        return fetch(estate, numbers)

    class Waiting(Bucket):
        def take(self, tokens: int) -> tuple[int, float]:
            cancelled()
            return super().take(tokens)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "LOOK_SECONDS", 0.1)
        if waits_for == "a turn":
            patch.setattr(work, "Bucket", Waiting)
        if waits_for == "its files":
            patch.setattr(QueuedEstate, "fetch", fetching)
        shop = Workshop(database, lambda _: loopback(answer if waits_for == "the next chunk" else author))
        for task in ("survey", "link", "ask"):
            ((arguments, job),) = database.rows(
                "SELECT args, id FROM procrastinate_jobs WHERE task_name = %(task)s LIMIT 1", task=task
            )
            database.rows("UPDATE procrastinate_jobs SET status = 'doing' WHERE id = %(job)s", job=job)
            with suppress(Later):
                getattr(shop, task)(**arguments)
    assert len(author.requests) == (1 if waits_for == "the next chunk" else 0)
    assert waits == [runs.LOOK_SECONDS]
    seen = progress(database, run.id)
    assert (seen.phase, seen.answered, seen.calls) == ("cancelled", len(author.requests), len(author.requests))


def test_the_money_of_a_model_with_a_price_is_a_number_while_it_is_asked(database: Database) -> None:
    """PostgreSQL sums large integers to decimals, which made progress fail with a Python error."""
    run = started(database, estate(1))
    database.rows(
        """INSERT INTO chunks (run, file, number, key, prompt_tokens, state, calls, input_tokens, output_tokens, ended_at)
           SELECT %(run)s, 0, number, '\\x00', 900, CASE WHEN number < 3 THEN 'answered' ELSE 'open' END, 1,
                  CASE WHEN number < 3 THEN 1000 ELSE 0 END, CASE WHEN number < 3 THEN 100 * number ELSE 0 END, clock_timestamp()
           FROM generate_series(0, 5) AS number""",
        run=run.id,
    )
    database.rows("UPDATE runs SET model = 'claude-sonnet-5', phase = 'asking'")
    seen = progress(database, run.id)
    assert seen.to_come is not None
    assert seen.dollars is not None
    assert 0 < seen.to_come.low < seen.to_come.expected < seen.to_come.high
    assert json.loads(json.dumps(seen.to_dict()))["dollars"] == seen.dollars > 0


def test_a_run_that_somebody_deleted_is_a_sentence(database: Database, author: Author) -> None:
    """Following a deleted run showed a traceback; a worker with one of its jobs drops it."""
    run = started(database, estate(1))
    database.rows("DELETE FROM runs")
    with pytest.raises(ToolError, match=f"There is no run {run.id} in this queue"):
        progress(database, run.id)
    Workshop(database, lambda _: loopback(author)).survey(run.id, [0])
    assert not database.rows("SELECT 1 FROM chunks")


@pytest.mark.parametrize("held", [packed(b"       PROGRAM-ID. ANOTHER.\n"), b"no such compression"])
def test_a_file_that_is_not_as_it_was_put_in_is_not_documented(
    url: str, database: Database, author: Author, tmp_path: Path, held: bytes
) -> None:
    """Another program under its hash was documented in its place, and a damaged row kept the run waiting for ever."""
    database.prepare()
    found = estate(2)
    wrong = digest_of(found.files[0].data)
    database.rows("INSERT INTO contents VALUES (%(digest)s, %(held)s)", digest=wrong, held=held)
    run = started(database, found)
    with working(url, loopback(author)):
        seen = ended(database, run)
    assert (seen.phase, seen.files_failed, seen.failed) == ("done", 1, 0)
    assert seen.answered == seen.chunks > 0
    assert database.rows("SELECT reason FROM files WHERE state = 'failed'") == [(f"LookupError: {MISSING}",)]
    with pytest.raises(StoreFault, match=r"cbl/PROG0\.cbl: its content is not in the queue"):
        finish(database, run, str(tmp_path / "site"))


def test_a_data_description_that_is_damaged_is_said_and_not_left_out(database: Database) -> None:
    """Without what the DDS says, every program that copies it would be documented wrongly."""
    run = started(database, estate(1))
    database.rows("UPDATE contents SET data = '' FROM files WHERE files.digest = contents.digest AND kind = 'dds'")
    with pytest.raises(StoreFault, match=r"ORDERS\.pf: its content is not in the queue"):
        QueuedEstate(database, run)


def test_an_urgent_run_comes_first_and_equal_ones_take_turns(database: Database) -> None:
    """A run of a thousand jobs does not keep one of two jobs waiting."""

    def order() -> list[int]:
        rows = database.rows("SELECT (args->>'run')::bigint FROM procrastinate_jobs ORDER BY priority DESC, id")
        return [run for (run,) in rows]

    large = Gathered(
        tuple(one._replace(path=f"{number}/{one.path}") for number in range(100) for one in estate(2).files), (), ()
    )
    first = started(database, large).id
    waiting = len(order())
    assert waiting >= 6
    second = started(database, estate(2)).id
    assert order().index(second) <= 1
    urgent = started(database, estate(3), urgency=1).id
    assert order()[0] == urgent
    assert order().count(first) == waiting


def test_another_version_neither_works_on_a_run_nor_makes_its_site(
    url: str, database: Database, author: Author, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old and new workers run next to each other, each with the runs that were planned as they plan."""
    from penstock.scribe.queue import engine

    with monkeypatch.context() as patch:
        patch.setattr(engine, "PROTOCOL", engine.PROTOCOL + 1)
        newer = started(database, estate(1))
    own = started(database, estate(1))
    with working(url, loopback(author)):
        ended(database, own)
        seen = progress(database, newer.id)
    assert (seen.phase, seen.files_waiting) == ("surveying", 2)
    assert [worker.serves for worker in seen.workers] == [False]
    with pytest.raises(CallerError, match="planned by"):
        finish(database, newer, str(tmp_path))


def test_neither_keys_nor_passwords_are_in_the_queue(
    url: str, database: Database, monkeypatch: pytest.MonkeyPatch, server: Any
) -> None:
    """The test searches all that the server has written, byte by byte, except for the databases of other tests."""
    from tests.scribe.author import Author

    from penstock.models import load_model

    secret, password = "sk-very-secret-" + os.urandom(8).hex(), "pw" + os.urandom(8).hex()
    with loopback(Author()) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", secret)
        run = started(database, estate(1))
        model = load_model("openai-chat:loopback", base_url=provider.base_url, window_tokens=200_000)
        with working(url.replace("penstock@", f"penstock:{password}@"), model):
            assert ended(database, run).failed == 0
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        others = connection.execute("SELECT oid::text FROM pg_database WHERE datname <> current_database()").fetchall()
    elsewhere = {Path(server.data, "base", name) for (name,) in others}
    found = Counter[bytes]()
    for path in Path(server.data).rglob("*"):
        if path.is_file() and path.name != "postmaster.pid" and path.parent not in elsewhere:
            written = path.read_bytes()
            found.update(word for word in (b"PROG0", secret.encode(), password.encode()) if word in written)
    assert found.keys() == {b"PROG0"}  # which shows that this is the right place to look


def test_a_file_that_many_jobs_want_at_once_is_planned_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first jobs of an estate may all be of one large file: each thread planned it, and none got to asking."""
    queued = QueuedEstate(database, started(database, estate(1)))
    planned: list[int] = []

    def slow(*given: Any, **named: Any) -> Any:
        planned.append(1)
        time.sleep(0.2)
        return FileWork(*given, **named)

    monkeypatch.setattr(estates, "FileWork", slow)
    with ThreadPoolExecutor(4) as pool:
        works = list(pool.map(lambda _: queued.work(0, {}), range(4)))
    assert len(planned) == 1
    assert all(one is works[0] for one in works)


def test_a_job_looks_once_for_the_answers_to_all_its_questions(
    database: Database, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lookup per question took a round trip each. Copies within the job are still asked only once."""
    text = program(2, name="TWICE").encode()
    paths = ("cbl/A.cbl", "cbl/B.cbl", "cbl/C.cbl")
    files = [GatheredFile(path, "cobol", text.replace(b"TWICE", b"OTHER") if "C" in path else text) for path in paths]
    run = started(database, Gathered(tuple(files), (), ()), max_prompt_tokens=6_000)
    model = loopback(author)
    workshop = Workshop(database, lambda _: model)
    looked = Counter[bool]()
    rows = database.rows

    def counted(statement: str, **values: Any) -> list[tuple[Any, ...]]:
        looked["FROM answers WHERE key =" in statement] += 1
        return rows(statement, **values)

    for name in ("survey", "link", "ask"):
        ((arguments,),) = rows("SELECT args FROM procrastinate_jobs WHERE task_name = %(name)s", name=name)
        monkeypatch.setattr(database, "rows", counted)
        getattr(workshop, name)(**arguments)
        monkeypatch.setattr(database, "rows", rows)
    assert looked[True] == 1
    assert progress(database, run.id).calls == 2


def _linked_alike(
    database: Database, run: Run, found: Gathered
) -> tuple[QueuedEstate, dict[int, Surveyed], dict[int, list[Around]]]:
    """Survey an estate, link what was kept of it, and check that one process with the whole estate finds the same."""
    sources = {number: one for number, one in enumerate(found.files) if one.kind in COBOL_KINDS}
    queued = QueuedEstate(database, run)
    surveyed = {number: queued.survey(number, one.data) for number, one in sources.items()}
    linked = queued.linked({number: json.dumps(made.programs) for number, made in surveyed.items() if made.programs})
    located = {
        number: [
            (graph_part(part, sources[number].path), part.facts.program)
            for part in queued.work(number, {}).subject.parts
        ]
        for number, made in surveyed.items()
        if made.programs
    }
    members = [member(one.path, one.kind, one.data) for one in found.files if one.kind != "cobol"]
    everything = [one for each in located.values() for one in each]
    whole = EstateGraph((outer_part(part) for part, _ in everything), members)
    surroundings = Surroundings(whole, {(part.path, part.line): name for part, name in everything})
    for number, neighbours in linked.items():
        assert neighbours == [surroundings.of(part.path, part.line) for part, _ in located[number]]
    return queued, surveyed, linked


@pytest.mark.proves("C-16", "C-21")
def test_methods_and_programs_within_programs_are_linked_as_in_one_process(database: Database) -> None:
    """Callers of an inherited method, a contained program and a COMMON one are known when they are asked about; so are those of a
    program that has its PROGRAM-ID in common with one to which AS gives another name. A caller without a name has its file's.
    """
    texts = (
        sources.program("    GOBACK.", name="ONE AS 'TWO'"),
        sources.program("    GOBACK.", name="ONE"),
        sources.program("    CALL 'ONE'.", name="CALLER"),
        sources.fixed("PROCEDURE DIVISION.", "    CALL 'CALLER'."),
    )
    files = (GatheredFile(f"{number}.cbl", "cobol", text.encode()) for number, text in enumerate(texts))
    found = Gathered((*_objects(), *files), (), ())
    queued, _, linked = _linked_alike(database, started(database, found), found)
    called = {
        part.facts.program: one.called_by
        for number, each in linked.items()
        for part, one in zip(queued.work(number, {}).subject.parts, each, strict=True)
    }
    assert (called["INNER"], called["SHARED"]) == (("OUTER",), ("OUTER", "INNER"))
    assert called["Base::audit"] == ("MAIN",)
    assert [[one.called_by for one in linked[number]] for number in (3, 4, 5)] == [[()], [("CALLER",)], [("3",)]]


def test_nobody_is_asked_about_a_copybook_with_the_header_of_a_division(database: Database) -> None:
    """It looks like a program without a name, and is documented as a copybook."""
    text = b"       PROCEDURE DIVISION.\n       0100-READ.\n           DISPLAY 'A'.\n"
    found = Gathered((GatheredFile("cpy/HEAD.cpy", "copybook", text),), (), ())
    queued = QueuedEstate(database, started(database, found))
    assert queued.survey(0, text) == Surveyed(None, None, [])


def test_what_a_survey_links_is_what_the_estate_links(database: Database) -> None:
    """Claims may name callers and transactions, so workers must know what the site's maker knows, plans included."""
    found = estate(3, 4)
    run = started(database, found)
    queued, surveyed, linked = _linked_alike(database, run, found)
    assert sum(map(len, linked.values())) == 3
    assert (
        sum(len(one.called_by) + len(one.jobs) + len(one.transactions) for each in linked.values() for one in each) == 4
    )
    # Another worker, which did not survey them, plans them in the same way, and so asks under the same keys.
    other = QueuedEstate(database, run)
    for number, made in surveyed.items():
        if made.chunks:
            database.rows(
                "UPDATE files SET assignment = %(made)s WHERE run = %(run)s AND number = %(number)s",
                made=json.dumps(made.assignment),
                run=run.id,
                number=number,
            )
            keys = [task.chunk.digest for task in other.work(number, {}).tasks]
            assert keys == [task.chunk.digest for task in queued.work(number, {}).tasks]


ROOMY = 6_000  # tokens of a prompt: each program is one chunk
HOSTILE = {
    b"nul.cbl": program(2, name="NULS").replace("AUDITLOG", "AU\0LOG"),
    b"line\nbreak %s %(x)s ';DROP TABLE runs;--.cbl": program(2, name="LINES"),
    b"\xff\xfe\x80.cbl": program(2, name="BYTES"),
    b"x" * 250: program(2, name="LONG"),
    "\u202eevil\u0085.cbl".encode(): program(2, name="RIGHT"),
}


def hostile() -> Gathered:
    """Return programs whose paths and texts hold what may trouble a database."""
    files = [GatheredFile(os.fsdecode(name), "cobol", text.encode()) for name, text in HOSTILE.items()]
    job = b"//J\0B JOB 1\n//S1 EXEC PGM=LINES\n"
    transaction = b"DEFINE TRANSACTION(T\0\xff1) GROUP(G) PROGRAM(LINES)\n"
    files += [GatheredFile("j.jcl", "jcl", job), GatheredFile("t.csd", "csd", transaction)]
    return Gathered(tuple(files), (), ())


def test_names_and_texts_may_hold_anything(url: str, database: Database, author: Author, tmp_path: Path) -> None:
    """NUL, line ends, undecodable bytes and SQL are documented as without a queue."""
    found, title = hostile(), os.fsdecode(b"caf\xe9 \xff")
    run = started(database, found, title, max_prompt_tokens=ROOMY)
    with working(url, loopback(author)):
        seen = ended(database, run)
    assert (seen.phase, seen.files_failed, seen.failed, seen.answered) == ("done", 0, 0, seen.chunks)
    assert seen.title == "caf\\udce9 \\udcff"
    finish(database, run, str(tmp_path / "queue"))
    kept = Folder(str(tmp_path / "local/.penstock"))
    local = Output(str(tmp_path / "local"))
    document_gathered(found, title, local, model=loopback(author), results=kept, max_prompt_tokens=ROOMY)
    assert files_of(tmp_path / "queue") == files_of(tmp_path / "local")


def test_a_file_that_the_database_does_not_take_keeps_no_other_waiting(
    url: str, database: Database, author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the database rejects, the file is reported with the reason, and the run continues without it."""
    from penstock.scribe.queue import estates

    told = calling_part
    monkeypatch.setattr(
        estates, "calling_part", lambda part: told(part._replace(name="\0" if part.name == "NULS" else part.name))
    )
    run = started(database, hostile(), max_prompt_tokens=ROOMY)
    with working(url, loopback(author)):
        seen = ended(database, run)
    assert (seen.phase, seen.files_failed, seen.failed, seen.answered) == ("done", 1, 0, len(HOSTILE) - 1)
    ((path, reason),) = database.rows("SELECT path, reason FROM files WHERE state = 'failed'")
    assert bytes(path) == b"nul.cbl"
    assert "Unicode" in reason


def test_one_wording_for_several_statements_is_asked_where_the_site_is_made(
    url: str, database: Database, author: Author, tmp_path: Path
) -> None:
    """The site equals that of one process with `--reconcile`; made again, nothing is asked, and another model is refused."""
    asked: list[str] = []

    def policy(request: dict[str, Any]) -> Any:
        groups = groups_in(request)
        if not groups:
            return author(request)
        asked.append(sizes.text_of(request))
        return worded(groups, "It posts.")

    found, model = estate(2), loopback(policy)
    run = started(database, found)
    with working(url, model):
        seen = ended(database, run)
    set_limits(
        database, "default", run.model_id, 1_000, None, pause=lambda _: None
    )  # the key's limits apply to these questions too
    for folder in ("queue", "again"):
        finish(database, run, str(tmp_path / folder), wording=model)
        assert len(asked) == 1  # both programs say the same, and were asked about in the same words
    assert database.rows("SELECT sum(requests) FROM spent") == [(len(asked),)]
    kept = Folder(str(tmp_path / "local/.penstock"))
    local = Output(str(tmp_path / "local"))
    document_gathered(found, "estate", local, model=model, results=kept, max_prompt_tokens=TOKENS, reconcile=True)
    assert files_of(tmp_path / "queue") == files_of(tmp_path / "local")
    again = files_of(tmp_path / "again")
    assert json.loads(again.pop("run.json"))["calls"] == seen.calls  # the wording was kept
    assert again.items() <= files_of(tmp_path / "queue").items()
    with pytest.raises(CallerError, match="asks openai-chat:loopback"):
        finish(database, run, str(tmp_path / "other"), wording=LoopbackProvider("anthropic", 200_000, policy=policy))


def test_two_runs_over_the_same_at_once_pay_once(url: str, database: Database, author: Author) -> None:
    """The later run asks only what it alone has, and takes the rest from the other, however urgent it is."""

    def slow(request: dict[str, Any]) -> Any:
        time.sleep(0.05)
        return author(request)

    found = estate(2)
    first = started(database, found)
    other = GatheredFile("cbl/OTHER.cbl", "cobol", program(16, name="OTHER").encode())
    later = started(database, Gathered((*found.files, other), (), ()), urgency=1)
    third = started(database, found, fresh=True)
    with working(url, loopback(slow)), working(url, loopback(slow)):
        for run in (first, later, third):
            seen = ended(database, run)
            assert (seen.phase, seen.failed, seen.answered, seen.late) == ("done", 0, seen.chunks, 0)
    asked = Counter(sizes.text_of(request) for request in author.requests)
    assert max(asked.values()) == 1
