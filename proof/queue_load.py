"""R29: does a queue stay out of the way, with many workers and with many programs?

Three measurements. *Workers*: 500 programs, copies with edits, for one worker, for four and for sixteen, each with four jobs at a
time and a model that takes 2.5 s, half of what it represents: chunks per second and worker, relative to one worker. *Programs*:
many small ones with an instant model, two workers: chunks planned and accepted per second of processor time, that of PostgreSQL and
of the workers together without the provider's, times two processors. *Size*: the database's size afterwards, and the time of its
queries. The processor time is the kernel's, since other work shares these processors.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from proof.figure import Figure, NotHere, main, untried
from proof.queue_parts import QueueProvider, TcpServer, WorkerProcess
from tests.scribe.programs import program
from tests.store.conftest import programs

from penstock.scribe.gathering import Gathered, GatheredFile
from penstock.scribe.queue import runs
from penstock.scribe.queue.database import Database
from penstock.scribe.queue.progress import progress

if TYPE_CHECKING:
    from penstock.scribe.queue.progress import RunProgress

_TARGET = "each of 16 workers at least 90 % of one alone; 200 chunks a second on two processors"
_MODEL = runs.NamedModel("openai-chat", "loopback", 200_000)
_TICKS = os.sysconf("SC_CLK_TCK")


class LoadDials(NamedTuple):
    """How much is measured."""

    workers: tuple[int, ...]
    copies: int
    answer_seconds: float
    small_programs: int


_SHORT = LoadDials((1, 2), 64, 0.5, 200)
_LONG = LoadDials((1, 4, 16), 500, 2.5, 10_000)


class LoadRun(NamedTuple):
    """The results of one run."""

    seen: RunProgress
    seconds: float
    """From the first answer to the last."""
    processor_seconds: float
    """Of workers and database together."""


def small(count: int) -> Gathered:
    """Programs of one screen, each one chunk, no two alike."""
    files = []
    for number in range(count):
        text = program(2, name=f"S{number:05}").replace("* 100", f"* {number}").replace("> 100", f"> {number + 1}")
        files.append(GatheredFile(f"cbl/{number % 100:02}/S{number:05}.cbl", "cobol", text.encode()))
    return Gathered(tuple(files), (), ())


def processor_seconds(process: int) -> float:
    """The processor time of a process and its descendants, by the kernel; 0 if it has ended."""
    taken = 0.0
    waiting = [process]
    while waiting:
        one = waiting.pop()
        try:
            with open(f"/proc/{one}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
            taken += sum(map(int, fields[11:15])) / _TICKS
            with open(f"/proc/{one}/task/{one}/children", encoding="utf-8") as file:
                waiting += map(int, file.read().split())
        except OSError:
            continue
    return taken


def postmaster(server: TcpServer) -> int:
    """The first process of a server."""
    with open(os.path.join(server.data, "postmaster.pid"), encoding="utf-8") as file:
        return int(file.readline())


def run(server: TcpServer, found: Gathered, workers: int, jobs: int, answer_seconds: float, tokens: int) -> LoadRun:
    """One estate through a queue of its own."""
    with ExitStack() as stack:
        name = f"load{workers}_{len(found.files)}"
        url = server.database(name)
        provider = QueueProvider(answer_seconds)
        stack.callback(provider.close)
        database = Database(url, patience_seconds=60.0)
        stack.callback(database.close)
        database.migrate()
        made = [
            WorkerProcess(f"w{at}", url, provider, environment={"PENSTOCK_QUEUE_LEASE_SECONDS": "45"}, jobs=jobs)
            for at in range(workers)
        ]
        for one in made:
            stack.callback(one.kill)
        # Starting Python is not measured: all workers are up before there is work.
        while int(database.rows("SELECT count(*) FROM workers")[0][0]) < workers:
            time.sleep(0.1)
        before = processor_seconds(postmaster(server)) + sum(processor_seconds(one.id) for one in made)
        number = runs.start(
            database, found, "load", model=_MODEL, max_prompt_tokens=tokens, adaptive=False, source_format=None
        )[0].id
        while not (seen := progress(database, number)).is_over:
            time.sleep(1.0)
        after = processor_seconds(postmaster(server)) + sum(processor_seconds(one.id) for one in made)
        times = sorted(at for at, _, _ in provider.log)
        for worker in made:
            worker.end()
        return LoadRun(seen, times[-1] - times[0] + answer_seconds, after - before)


def measure(*, long: bool, seed: int) -> Figure:
    """R29: throughput by worker, and by processor."""
    del seed
    dials = _LONG if long else _SHORT
    found = programs()
    if found is None:
        return untried(
            "R29", "a queue under load", _TARGET, NotHere("PostgreSQL is not installed (Debian package postgresql)")
        )
    notes: list[str] = []
    wrong: list[str] = []

    def note(said: str) -> None:
        notes.append(said)
        if long:  # results so far stay visible if the rest is aborted
            print(f"R29: {said}", flush=True)

    with ExitStack() as stack:
        server = TcpServer(found)
        stack.callback(server.close)
        alone = 0.0
        for workers in dials.workers:
            made = run(server, small(dials.copies), workers, 4, dials.answer_seconds, 2_000)
            each = made.seen.calls / made.seconds / workers
            alone = alone or each
            note(
                f"{workers} workers: {made.seen.calls} chunks in {made.seconds:.1f} s, {each:.3f} a second each, "
                f"{each / alone:.0%} of one alone, of {4 / dials.answer_seconds:g} that can be"
            )
            if each < 0.9 * alone:
                wrong.append(f"{workers} workers")
        many = run(server, small(dials.small_programs), 2, 8, 0.0, 2_000)
        rate = 2 * many.seen.chunks / many.processor_seconds
        if rate < 200:
            wrong.append("chunks a second")
        note(
            f"{many.seen.chunks} programs of a screen: {many.processor_seconds:.1f} s of processor time, "
            f"{many.seconds:.0f} s by the clock"
        )
        database = Database(server.url(f"load2_{dials.small_programs}"))
        stack.callback(database.close)
        ((size,),) = database.rows("SELECT pg_database_size(current_database())")
        begun = time.perf_counter()
        progress(database, many.seen.id)
        note(
            f"the database has {size / 1e6:.0f} MB then; how far a run is takes {1_000 * (time.perf_counter() - begun):.0f} ms"
        )
    value = f"{rate:.0f} chunks a second on two processors; {notes[len(dials.workers) - 1]}"
    return Figure(rig="R29", name="a queue under load", value=value, target=_TARGET, met=not wrong, notes=tuple(notes))


if __name__ == "__main__":
    raise SystemExit(main(measure))
