"""Queues to test: a database for each test, an estate of a few programs, and workers in threads."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.scribe.author import Author
from tests.scribe.programs import program
from tests.store.conftest import Server, server

from penstock.cobol.estate import kind_of
from penstock.scribe.gathering import Gathered, GatheredFile, LeftOut
from penstock.scribe.queue import runs
from penstock.scribe.queue.database import Database
from penstock.scribe.queue.progress import progress
from penstock.scribe.queue.worker import QueueWorker, WorkerSettings
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.models import Model
    from penstock.scribe.queue.progress import RunProgress
    from penstock.scribe.queue.runs import Run

__all__ = ["server"]

QUICK = WorkerSettings(jobs=2, lease_seconds=3.0, heartbeat_seconds=0.5, sweep_seconds=0.3, poll_seconds=0.1)
TOKENS = 2_000


def estate(count: int = 2, paragraphs: int = 16) -> Gathered:
    """Return programs that call each other, each of several chunks, a job that runs one, and a DDS."""
    files = []
    for number in range(count):
        text = program(paragraphs, name=f"PROG{number}").replace("AUDITLOG", f"PROG{(number + 1) % count}")
        files.append(GatheredFile(f"cbl/PROG{number}.cbl", "cobol", text.encode()))
    job = b"//NIGHTLY JOB (1),'NIGHT'\n//STEP1 EXEC PGM=PROG0\n"
    kind = kind_of("jcl/NIGHTLY.jcl", job)
    assert kind == "jcl"
    files.append(GatheredFile("jcl/NIGHTLY.jcl", kind, job))
    files.append(GatheredFile("ORDERS.pf", "dds", b"     A          R ORDER\n     A            NUMBER         6S 0\n"))
    return Gathered(tuple(files), (), (LeftOut(".txt", 2, ("a.txt", "b.txt")),))


def loopback(author: Any) -> LoopbackProvider:
    """Return a model in this process, on OpenAI's wire."""
    return LoopbackProvider("openai-chat", 200_000, policy=author, strict=False)


def started(database: Database, found: Gathered, title: str = "estate", **how: Any) -> Run:
    """Start a run over an estate, for a model called loopback."""
    database.prepare()
    about = {"max_prompt_tokens": TOKENS, "adaptive": False, "source_format": None, **how}
    model = runs.NamedModel("openai-chat", "loopback", 200_000)
    return runs.start(database, found, title, model=model, **about)[0]


@contextmanager
def working(url: str, model: Model | Callable[[Run], Model], settings: WorkerSettings = QUICK) -> Iterator[QueueWorker]:
    """Run a worker in a thread, stopped at the end."""
    model_of = model if callable(model) else lambda _run: model
    worker = QueueWorker(url, model_of, ["openai-chat"], settings=settings)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop(at_once=True)
        thread.join(60)
        assert not thread.is_alive()


def ended(database: Database, run: Run, seconds: float = 90.0) -> RunProgress:
    """Return the progress of a run once it has ended."""
    waiting = threading.Event()
    for _ in range(int(seconds * 10)):
        seen = progress(database, run.id)
        if seen.is_over:
            return seen
        waiting.wait(0.1)
    raise AssertionError(f"the run is not over: {seen}")


@pytest.fixture(scope="session")
def template(server: Server) -> str:
    """Return the name of a database with all tables: copying it takes a quarter of the time of making them."""
    made = Database(server.database("queue_template"))
    made.migrate()
    made.close()
    return "queue_template"


@pytest.fixture
def url(server: Server, template: str) -> str:
    """Make a database with empty queue tables."""
    return server.database(f"queue{os.urandom(6).hex()}", template)


@pytest.fixture
def empty_url(server: Server) -> str:
    """Make a database without tables."""
    return server.database(f"queue{os.urandom(6).hex()}")


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """Open an empty queue."""
    made = Database(url, patience_seconds=30.0)
    yield made
    made.close()


@pytest.fixture
def author() -> Author:
    """Return a model that answers from what its prompt shows."""
    return Author()
