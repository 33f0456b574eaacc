"""R28: does every chunk get one accepted answer, whoever is killed, stopped, cut off or lives in another hour?

Workers document an estate of copies with edits through a queue, with a model that takes a while. Meanwhile, at random instants:
workers are killed; PostgreSQL is stopped without a checkpoint and started again; a worker is stopped past its lease and woken; the
wire between a worker and the database goes silent for longer than the lease, then is cut; the disk of the database is full for a
while; the clocks of two workers are an hour fast and an hour slow throughout. Then: every chunk has an accepted answer, each under
a key of its own; the provider was asked no more often than once a chunk and once for what was under way at each fault; its own log
has no minute with more than the limit of the key (the short form has none); and the site is that of one process without a queue,
byte for byte.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from proof.figure import MEMORY, REPOSITORY, Figure, NotHere, folder, main, untried
from tests.scribe.programs import program
from tests.store.conftest import USER, Server, programs

from penstock.scribe import document_gathered
from penstock.scribe.gathering import Gathered, GatheredFile
from penstock.scribe.output import Output
from penstock.scribe.queue import runs
from penstock.scribe.queue.database import Database
from penstock.scribe.queue.finishing import finish
from penstock.scribe.queue.limits import set_limits
from penstock.scribe.queue.progress import progress
from penstock.scribe.results import Folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.scribe.queue.progress import RunProgress
    from penstock.scribe.queue.runs import Run

TOKENS = 2_000  # of a prompt: four or five chunks a program
LEASE_SECONDS = 6.0
JOBS = 4
_TARGET = "no chunk lost or answered twice; at most what was under way asked again"
_PATIENCE_SECONDS = 300.0  # of a round
_ROUNDS = int(os.environ.get("PENSTOCK_PROOF_ROUNDS", "0"))  # of the long form; 0 for all

# An hour, put between a program and the C library's answer to what time it is; only of the time of day, as a wrong clock is.
_SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long skew(void) { const char *s = getenv("SKEW_SECONDS"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int made = real(id, at);
    if (id == CLOCK_REALTIME) at->tv_sec += skew();
    return made;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now; (void)zone; clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec; at->tv_usec = now.tv_nsec / 1000; return 0;
}
time_t time(time_t *at) {
    struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


class QueueDials(NamedTuple):
    """How much is done, and how much is broken."""

    programs: int
    paragraphs: int
    """Of each; with two of them a program is one chunk, with ten it is four."""
    workers: int
    kills: int
    stops: int
    freezes: int
    partitions: int
    full_disks: int
    answer_seconds: float
    limit_requests: int
    """In a minute, of the one key that all have; 0 for none."""


_SHORT = (QueueDials(6, 10, 2, 1, 1, 0, 0, 0, 0.2, 0),)
# Ten rounds, each with an estate, a database and workers of its own: a hundred kills, twenty stops, and what else there is. Without
# limits, so that something is under way at every fault; then one round at a limit, which is reached twice.
_ROUND = QueueDials(240, 2, 5, 10, 2, 0, 0, 0, 4.0, 0)
_LONG = (
    *(_ROUND._replace(freezes=at % 3 == 0, partitions=at % 3 == 1, full_disks=at % 3 == 2) for at in range(10)),
    QueueDials(150, 2, 3, 2, 1, 0, 0, 0, 0.5, 60),
)


# ── the estate and the provider ──────────────────────────────────────────────────────────────────────────────────


def estate(count: int, paragraphs: int = 30) -> Gathered:
    """Copies of a program with edits, which call each other."""
    files = []
    for number in range(count):
        text = program(paragraphs, name=f"P{number:05}", changed=1 + number % paragraphs)
        text = text.replace("AUDITLOG", f"P{(number + 1) % count:05}").replace("> 100", f"> {number + 1}")
        files.append(GatheredFile(f"cbl/P{number:05}.cbl", "cobol", text.encode()))
    return Gathered(tuple(files), (), ())


def claims_about(prompt: str) -> str:
    """What a model says that says one thing of what it is shown, and it is so."""
    for line in prompt.splitlines():
        number, bar, text = line.partition("|")
        if bar and number.isdecimal() and text.strip() and not text.lstrip().startswith("*"):
            said = {"of": "program", "field": "summary", "claim": f"It does what line {number} says."}
            return json.dumps({"claims": [{**said, "lines": [int(number)], "evidence": text.strip(), "names": []}]})
    return json.dumps({"claims": []})


class QueueProvider:
    """A provider with a log: for each request when it came, from which worker, and for which chunk. Closed by `with`."""

    def __init__(self, answer_seconds: float) -> None:
        self.log: list[tuple[float, str, str]] = []
        self.under_way: Counter[str] = Counter()
        self.answer_seconds = answer_seconds
        self._lock = threading.Lock()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                who = self.path.split("/")[1]
                with provider.answering(who, body["messages"][-1]["content"]) as words:
                    message = {"role": "assistant", "content": words}
                    usage = {"prompt_tokens": 1_500, "completion_tokens": 60}
                    sent = json.dumps(
                        {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
                    ).encode()
                    with suppress(OSError):
                        self.send_response(200)
                        self.send_header("content-type", "application/json")
                        self.send_header("content-length", str(len(sent)))
                        self.end_headers()
                        self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # whoever asked was killed
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @contextmanager
    def answering(self, who: str, prompt: str) -> Iterator[str]:
        """The words of an answer, after a while; meanwhile it is under way."""
        with self._lock:
            self.log.append((time.monotonic(), who, prompt))
            self.under_way[who] += 1
        time.sleep(self.answer_seconds)
        try:
            yield claims_about(prompt)
        finally:
            with self._lock:
                self.under_way[who] -= 1

    def url(self, who: str) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/{who}/v1"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class AnsweringModel:
    """The same model in this process, for the site without a queue."""

    wire, name, window_tokens = "openai-chat", "loopback", 200_000

    def send(self, request: dict[str, Any], /) -> dict[str, Any]:
        words = claims_about(request["messages"][-1]["content"])
        return {"choices": [{"message": {"role": "assistant", "content": words}}]}


# ── the database and the wire to it ──────────────────────────────────────────────────────────────────────────────


class TcpServer(Server):
    """A PostgreSQL of our own that listens on 127.0.0.1 too, with its data on a disk of a known size where that is wanted."""

    def __init__(self, folder: str, disk_bytes: int = 0) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.disk = ""
        if disk_bytes:
            self.disk = tempfile.mkdtemp(prefix="penstock-disk-", dir="/tmp")
            made = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={disk_bytes},mode=1777", "tmpfs", self.disk],
                check=False,
                capture_output=True,
            )
            if made.returncode:
                os.rmdir(self.disk)
                self.disk = ""
        from tests.store import conftest

        before = conftest.MEMORY
        try:
            conftest.MEMORY = self.disk or before
            super().__init__(folder)
        finally:
            conftest.MEMORY = before

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='{self.folder}' "
            "-c max_wal_size=64MB -c min_wal_size=32MB -c wal_segment_size=16MB -c max_connections=200"
        ).replace(" -c wal_segment_size=16MB", "")
        self._run(
            "pg_ctl", "-D", self.data, "-w", "-t", "120", "-o", options, "-l", os.path.join(self.folder, "log"), "start"
        )

    def url(self, database: str = "postgres", port: int = 0) -> str:
        return f"postgresql://penstock@127.0.0.1:{port or self.port}/{database}"

    def is_alive(self) -> bool:
        done = subprocess.run(
            [os.path.join(self.programs, "pg_ctl"), "-D", self.data, "status"],
            check=False,
            capture_output=True,
            user=USER,
        )
        return done.returncode == 0

    def close(self) -> None:
        super().close()
        if self.disk:
            subprocess.run(["umount", "-l", self.disk], check=False)
            with suppress(OSError):
                os.rmdir(self.disk)


class SilentWire:
    """A port that leads to another, until it is told to swallow everything: connections stay, and nothing comes through."""

    def __init__(self, port: int) -> None:
        self._to, self._is_silent = port, threading.Event()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def silence(self) -> None:
        self._is_silent.set()

    def cut(self) -> None:
        """Everything that was swallowed is lost: the connections end, and new ones come through."""
        pairs, self._pairs = self._pairs, []
        for one in (end for pair in pairs for end in pair):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._is_silent.clear()

    def close(self) -> None:
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._to), 5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            self._pairs.append((near, far))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65_536):
                if not self._is_silent.is_set():  # else swallowed, and confirmed: only who waits for an answer can tell
                    other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


# ── workers ──────────────────────────────────────────────────────────────────────────────────────────────────────


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["proof.queued", "penstock.scribe.queue.worker", "penstock.models.exchange", "penstock.cli.queues"]
)


def _work(arguments: list[str], environment: dict[str, str]) -> None:
    """What `penstock worker` does, in a process that has loaded all that it needs."""
    from penstock.cli import main as typed

    os.environ.update(environment)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    raise SystemExit(typed(arguments))


class WorkerProcess:
    """A `penstock worker`, forked from one that has loaded everything; started as from a shell where it needs a library.

    To load Python and all of its modules a hundred times would be the most of a rig that kills a hundred workers.
    """

    def __init__(
        self,
        name: str,
        queue_url: str,
        provider: QueueProvider,
        *,
        jobs: int = JOBS,
        environment: dict[str, str] | None = None,
    ) -> None:
        arguments = ["worker", "--jobs", str(jobs), "--base-url", provider.url(name)]
        given = {
            "PYTHONPATH": f"{REPOSITORY}/src",
            "PENSTOCK_QUEUE": queue_url,
            "PENSTOCK_QUEUE_LEASE_SECONDS": f"{LEASE_SECONDS:g}",
            **(environment or {}),
        }
        self._forked: Any = None
        if "LD_PRELOAD" in given:
            # A session of its own, so that a terminal's Ctrl-C reaches the rig alone.
            self._started = subprocess.Popen(
                [sys.executable, "-m", "penstock", *arguments],
                cwd=REPOSITORY,
                env={**os.environ, **given},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self.id = self._started.pid
        else:
            self._forked = _FORKS.Process(target=_work, args=(arguments, given), daemon=True)
            self._forked.start()
            self.id = self._forked.pid

    def signal(self, number: int) -> None:
        """Sends a signal; nothing to one that is over."""
        with suppress(ProcessLookupError):
            os.kill(self.id, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._wait(30)

    def _wait(self, seconds: float) -> int | None:
        """The status of one that ends in time."""
        if self._forked is not None:
            self._forked.join(seconds)
            status: int | None = self._forked.exitcode
            return status
        with suppress(subprocess.TimeoutExpired):
            return self._started.wait(seconds)
        return None

    def end(self) -> int | None:
        """Tells it to end, and how it did."""
        self.signal(signal.SIGTERM)
        status = self._wait(60)
        if status is None:
            self.kill()
        return status


def shim(into: str) -> str:
    """The library that moves the clock; raises `NotHere` where nothing can build it."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise NotHere("there is no C compiler: clocks cannot be moved")
    source = os.path.join(into, "skew.c")
    Path(source).write_text(_SHIM)
    made = os.path.join(into, "skew.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True, capture_output=True)
    return made


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
        """Starts a worker; the last of them reaches the database over the wire that may go silent."""
        port = self.wire.port if self.dials.partitions and name == f"w{self.dials.workers - 1}" else 0
        self.workers[name] = WorkerProcess(
            name, self.server.url("queue", port), self.provider, environment=self.skewed.get(name)
        )

    def end(self) -> None:
        """Kills whoever is left."""
        for worker in self.workers.values():
            worker.kill()

    def _any(self) -> str:
        return self.generator.choice(sorted(self.workers))

    def _asking(self) -> str:
        """A worker that has something under way, soon; else any."""
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
        # Answers under way come to workers that wait for a database; nothing is asked again but what was just being told.
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
        """Nothing can be written for a while; the server may end over it, and is started again when there is room."""
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
        """Has the estate documented, with everything that goes wrong meanwhile."""
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
    """What did not hold."""
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
    """The files of two sites that are not the same, but for what a run took and what it keeps for the next."""
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
    """What a round came to."""

    wrong: list[str]
    chunks: int
    calls: int
    allowed: int
    """Calls more than a chunk each, that could be under way at the faults."""
    under_way: int
    """Those that were, at kills."""
    late: int
    most: int
    """Requests in any minute, where there is a limit."""
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
    """One estate through one queue, with everything that goes wrong meanwhile.

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
        if long:  # what was seen stays seen, whenever the rest is cut off
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
