"""R28: does every chunk get exactly one accepted answer, even if workers are killed, stopped, cut off or have a wrong clock?

Workers document an estate of edited copies through a queue, with a model that takes a while. Meanwhile, at random instants: workers
are killed; PostgreSQL is stopped without a checkpoint and restarted; a worker is stopped past its lease and woken; the connection
between a worker and the database goes silent for longer than the lease, then is cut; the database's disk is full for a while; the
clocks of two workers are an hour fast and an hour slow throughout. Then: every chunk has an accepted answer, each under its own
key; the provider was asked at most once per chunk and once for what was under way at each fault; its own log has no minute above
the key's limit (the short form has no limit); and the site is that of one process without a queue, byte for byte.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from proof.figure import MEMORY, Figure, NotHere, folder, main, untried
from proof.queue_parts import (
    JOBS,
    LEASE_SECONDS,
    AnsweringModel,
    QueueProvider,
    SilentWire,
    TcpServer,
    WorkerProcess,
    estate,
    shim,
)
from tests.store.conftest import programs

from penstock.scribe import document_gathered
from penstock.scribe.output import Output
from penstock.scribe.queue import runs
from penstock.scribe.queue.database import Database
from penstock.scribe.queue.finishing import finish
from penstock.scribe.queue.limits import set_limits
from penstock.scribe.queue.progress import progress
from penstock.scribe.results import Folder

if TYPE_CHECKING:
    from penstock.scribe.gathering import Gathered
    from penstock.scribe.queue.progress import RunProgress
    from penstock.scribe.queue.runs import Run

TOKENS = 2_000  # of a prompt: four or five chunks per program
_TARGET = "no chunk lost or answered twice; at most what was under way asked again"
_PATIENCE_SECONDS = 300.0  # of a round
_ROUNDS = int(os.environ.get("PENSTOCK_PROOF_ROUNDS", "0"))  # of the long form; 0 for all


class QueueDials(NamedTuple):
    """How much work is done, and how many faults occur."""

    programs: int
    paragraphs: int
    """Per program: with two of them a program is one chunk, with ten it is four."""
    workers: int
    kills: int
    stops: int
    freezes: int
    partitions: int
    full_disks: int
    answer_seconds: float
    limit_requests: int
    """Per minute, of the one shared key; 0 for none."""


_SHORT = (QueueDials(6, 10, 2, 1, 1, 0, 0, 0, 0.2, 0),)
# Ten rounds, each with its own estate, database and workers: a hundred kills, twenty stops, and the other faults. Without limits,
# so that something is under way at every fault; then one round with a limit, which is reached twice.
_ROUND = QueueDials(240, 2, 5, 10, 2, 0, 0, 0, 4.0, 0)
_LONG = (
    *(_ROUND._replace(freezes=at % 3 == 0, partitions=at % 3 == 1, full_disks=at % 3 == 2) for at in range(10)),
    QueueDials(150, 2, 3, 2, 1, 0, 0, 0, 0.5, 60),
)


class Trial:
    """One estate, its workers, and what is done to them."""

    def __init__(self, dials: QueueDials, generator: random.Random, stack: ExitStack) -> None:
        found = programs()
        if found is None:
            raise NotHere("PostgreSQL is not installed (Debian package postgresql)")
        self.dials, self.generator = dials, generator
        self.server = TcpServer(found, 400 << 20 if dials.full_disks else 0)
        stack.callback(self.server.close)
        self.url = self.server.database("queue")
        self.wire = SilentWire(self.server.port)
        stack.callback(self.wire.close)
        self.provider = QueueProvider(dials.answer_seconds)
        stack.callback(self.provider.close)
        self.folder = stack.enter_context(folder("queued", MEMORY))
        self.database = Database(self.url, patience_seconds=300.0)
        stack.callback(self.database.close)
        self.skewed: dict[str, dict[str, str]] = {}
        with suppress(NotHere):
            library = shim(self.folder)
            self.skewed = {
                f"w{at}": {"LD_PRELOAD": library, "SKEW_SECONDS": str(hour)} for at, hour in enumerate((3_600, -3_600))
            }
        self.workers: dict[str, WorkerProcess] = {}
        stack.callback(self.end)
        self.allowed = self.under_way = 0
        self.faults: Counter[str] = Counter()

    def begin(self, name: str) -> None:
        """Starts a worker; the last of them reaches the database over the connection that may go silent."""
        port = self.wire.port if self.dials.partitions and name == f"w{self.dials.workers - 1}" else 0
        self.workers[name] = WorkerProcess(
            name, self.server.url("queue", port), self.provider, environment=self.skewed.get(name)
        )

    def end(self) -> None:
        """Kills the remaining workers."""
        for worker in self.workers.values():
            worker.kill()

    def _any(self) -> str:
        return self.generator.choice(sorted(self.workers))

    def _asking(self) -> str:
        """A worker that has something under way, soon; otherwise any."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            if busy := [name for name in sorted(self.workers) if self.provider.under_way[name]]:
                return self.generator.choice(busy)
            time.sleep(0.05)
        return self._any()

    def kill(self) -> None:
        name = self._asking()
        self.under_way += self.provider.under_way[name]
        self.workers[name].kill()
        self.allowed += JOBS
        self.begin(name)

    def stop(self) -> None:
        # Answers under way reach workers that wait for a database; only what was just being reported is requested again.
        self.server.stop("immediate")
        time.sleep(self.generator.random() * 2)
        self.server.start()
        self.allowed += JOBS * len(self.workers)

    def freeze(self) -> None:
        name = self._asking()
        self.workers[name].signal(signal.SIGSTOP)
        time.sleep(LEASE_SECONDS * 2.5)
        self.workers[name].signal(signal.SIGCONT)
        self.allowed += JOBS

    def part(self) -> None:
        self.wire.silence()
        time.sleep(LEASE_SECONDS * 2.5)
        self.wire.cut()
        self.allowed += JOBS

    def fill(self) -> None:
        """Nothing can be written for a while; the server may end because of it, and is restarted when there is room."""
        if not self.server.disk:
            return
        ballast = os.path.join(self.server.disk, "ballast")
        with open(ballast, "wb") as file, suppress(OSError):
            while True:
                file.write(b"\0" * (1 << 20))
        time.sleep(6.0)
        os.unlink(ballast)
        time.sleep(1.0)
        if not self.server.is_alive():
            self.server.start()
        self.allowed += JOBS * len(self.workers)

    def run(self) -> tuple[Run, Gathered, RunProgress]:
        """Has the estate documented, with all faults meanwhile."""
        dials = self.dials
        found = estate(dials.programs, dials.paragraphs)
        self.database.migrate()
        if dials.limit_requests:
            set_limits(self.database, "default", "openai-chat:loopback", dials.limit_requests, None)
        model = runs.NamedModel("openai-chat", "loopback", 200_000)
        run, _ = runs.start(
            self.database, found, "estate", model=model, max_prompt_tokens=TOKENS, adaptive=False, source_format=None
        )
        for at in range(dials.workers):
            self.begin(f"w{at}")
        until = time.monotonic() + _PATIENCE_SECONDS
        self._wait(run, until, lambda seen: seen.answered > 0)
        wanted = [self.kill] * dials.kills + [self.stop] * dials.stops + [self.freeze] * dials.freezes
        wanted += [self.part] * dials.partitions + [self.fill] * dials.full_disks
        self.generator.shuffle(wanted)
        for act in wanted:
            time.sleep(self.generator.random() * 2.5)
            if progress(self.database, run.id).is_over:
                break
            act()
            self.faults[act.__name__] += 1
        seen = self._wait(run, until, lambda seen: seen.is_over)
        return run, found, seen

    def _wait(self, run: Run, until: float, is_enough: Any) -> RunProgress:
        while True:
            seen = progress(self.database, run.id)
            if is_enough(seen):
                return seen
            if time.monotonic() > until:
                raise TimeoutError(f"not over: {seen}")
            time.sleep(0.3)


def wrong_with(trial: Trial, run: Run, found: Gathered, seen: RunProgress) -> list[str]:
    """The promises that did not hold."""
    wrong = []
    if (seen.phase, seen.failed, seen.open) != ("done", 0, 0):
        wrong.append(f"the run ended as {seen.phase} with {seen.failed} failed and {seen.open} open: {seen.causes}")
    ((chunks, keys, answers),) = trial.database.rows(
        """SELECT count(*), count(DISTINCT key), (SELECT count(*) FROM answers WHERE kind = 'answer') FROM chunks
           WHERE run = %(run)s""",
        run=run.id,
    )
    if keys != answers:
        wrong.append(f"{chunks} chunks with {keys} texts have {answers} accepted answers")
    asked = Counter(prompt for _, _, prompt in trial.provider.log)
    if len(asked) != keys:
        wrong.append(f"{len(asked)} different questions for {keys} texts")
    more = len(trial.provider.log) - keys
    if more > trial.allowed:
        wrong.append(f"{more} calls more than {keys}, where {trial.allowed} could be under way at the faults")
    most = most_in_a_minute(trial.provider.log)
    if trial.dials.limit_requests and most > trial.dials.limit_requests:
        wrong.append(f"{most} requests in a minute by the provider's log, where {trial.dials.limit_requests} may be")
    queued, local = (os.path.join(trial.folder, name) for name in ("queue", "local"))
    finish(trial.database, run, queued)
    kept = Folder(os.path.join(local, ".penstock"))
    document_gathered(found, "estate", Output(local), model=AnsweringModel(), results=kept, max_prompt_tokens=TOKENS)
    wrong += [f"{name} differs" for name in differing(queued, local)]
    return wrong


def most_in_a_minute(log: list[tuple[float, str, str]]) -> int:
    """The most requests in any sixty seconds of a provider's log."""
    times = sorted(at for at, _, _ in log)
    most, first = 0, 0
    for last, at in enumerate(times):
        while times[first] <= at - 60:
            first += 1
        most = max(most, last - first + 1)
    return most


def differing(one: str, other: str) -> list[str]:
    """Files that differ between two sites, except run times and what a run keeps for the next."""
    names = {
        str(path.relative_to(base))
        for base in (one, other)
        for path in Path(base).rglob("*")
        if path.is_file() and ".penstock" not in path.parts and path.name != "run.json"
    }
    return [
        name
        for name in sorted(names)
        if not all(os.path.exists(os.path.join(base, name)) for base in (one, other))
        or Path(one, name).read_bytes() != Path(other, name).read_bytes()
    ]


class RoundResult(NamedTuple):
    """The results of a round."""

    wrong: list[str]
    chunks: int
    calls: int
    allowed: int
    """Permitted calls beyond one per chunk: those that could be under way at the faults."""
    under_way: int
    """Those that were, at kills."""
    late: int
    most: int
    """The most requests in any minute, if there is a limit."""
    faults: Counter[str]
    is_skewed: bool

    def __str__(self) -> str:
        faults = ", ".join(f"{count} × {name}" for name, count in sorted(self.faults.items()))
        minute = f", at most {self.most} a minute" if self.most else ""
        return (
            f"{len(self.wrong)} wrong; {self.chunks} chunks, {self.calls - self.chunks} calls more ({self.allowed} could be; "
            f"{self.under_way} were under way at kills), {self.late} late{minute}; {faults}"
        )


def one_round(dials: QueueDials, seed: int) -> RoundResult:
    """One estate through one queue, with all faults meanwhile.

    Raises:
        NotHere: PostgreSQL is not installed.
    """
    with ExitStack() as stack:
        trial = Trial(dials, random.Random(seed), stack)
        run, found, seen = trial.run()
        wrong = wrong_with(trial, run, found, seen)
        ended = {name: worker.end() for name, worker in trial.workers.items()}
        wrong += [f"{name} ended with status {status}" for name, status in ended.items() if status != 0]
        return RoundResult(
            wrong,
            seen.chunks,
            len(trial.provider.log),
            trial.allowed,
            trial.under_way,
            seen.late,
            most_in_a_minute(trial.provider.log) if dials.limit_requests else 0,
            trial.faults,
            bool(trial.skewed),
        )


def measure(*, long: bool, seed: int) -> Figure:
    """R28: every chunk answered once, through faults of every kind."""
    rounds = _LONG[: _ROUNDS or None] if long else _SHORT
    made: list[RoundResult] = []
    for at, dials in enumerate(rounds):
        try:
            made.append(one_round(dials, seed + at))
        except NotHere as why:
            return untried("R28", "a queue and who dies at it", _TARGET, why)
        if long:  # results so far stay visible if the rest is aborted
            print(f"R28 round {at + 1} of {len(rounds)}, seed {seed + at}: {made[-1]}", flush=True)
    whole = RoundResult(
        wrong=[said for one in made for said in one.wrong],
        chunks=sum(one.chunks for one in made),
        calls=sum(one.calls for one in made),
        allowed=sum(one.allowed for one in made),
        under_way=sum(one.under_way for one in made),
        late=sum(one.late for one in made),
        most=max(one.most for one in made),
        faults=sum((one.faults for one in made), Counter()),
        is_skewed=all(one.is_skewed for one in made),
    )
    notes = whole.wrong if whole.is_skewed else [*whole.wrong, "clocks were not moved: there is no C compiler"]
    return Figure(
        rig="R28",
        name="a queue and who dies at it",
        value=str(whole),
        target=_TARGET,
        met=not whole.wrong,
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))
