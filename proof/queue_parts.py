"""What are the queue rigs made of? An estate, a provider with a log, a database, a connection that goes silent, and workers.

Leaves to others: what is done to them, and what must hold (`queued`, `queue_load`).
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proof.figure import REPOSITORY, NotHere
from tests.scribe.programs import program
from tests.store.conftest import USER, Server

from penstock.scribe.gathering import Gathered, GatheredFile

if TYPE_CHECKING:
    from collections.abc import Iterator

LEASE_SECONDS = 6.0
JOBS = 4

# Shifts the C library's time of day by an hour for a program; only the time of day, as with a wrong clock.
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
    """A model's answer that says one true thing about what it is shown."""
    for line in prompt.splitlines():
        number, bar, text = line.partition("|")
        if bar and number.isdecimal() and text.strip() and not text.lstrip().startswith("*"):
            said = {"of": "program", "field": "summary", "claim": f"It does what line {number} says."}
            return json.dumps({"claims": [{**said, "lines": [int(number)], "evidence": text.strip(), "names": []}]})
    return json.dumps({"claims": []})


class QueueProvider:
    """A provider with a log: for each request when it came, from which worker, and for which chunk. Use it as a context manager."""

    def __init__(self, answer_seconds: float) -> None:
        self.log: list[tuple[float, str, str]] = []
        self.under_way: Counter[str] = Counter()
        self.answer_seconds = answer_seconds
        self._lock = threading.Lock()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # An answer in one piece: on a kept connection, a second piece waits 40 ms for the first to be acknowledged.
            wbufsize = -1

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
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # the client was killed
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @contextmanager
    def answering(self, who: str, prompt: str) -> Iterator[str]:
        """The text of an answer, after a delay; until then it is under way."""
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
    """A PostgreSQL of our own that also listens on 127.0.0.1, with its data on a disk of a given size if requested."""

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
    """A port that forwards to another until it is told to swallow everything: connections stay open, and nothing comes through."""

    def __init__(self, port: int) -> None:
        self._to, self._is_silent = port, threading.Event()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def silence(self) -> None:
        self._is_silent.set()

    def cut(self) -> None:
        """Everything swallowed is lost: the connections end, and new ones come through."""
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
                if not self._is_silent.is_set():  # otherwise swallowed, but acknowledged by TCP
                    other.sendall(data)
        with suppress(OSError):
            other.shutdown(socket.SHUT_RDWR)


# ── workers ──────────────────────────────────────────────────────────────────────────────────────────────────────


_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["proof.queue_parts", "penstock.scribe.queue.worker", "penstock.models.exchange", "penstock.cli.queues"]
)


def _work(arguments: list[str], environment: dict[str, str]) -> None:
    """What `penstock worker` does, in a process that has loaded everything it needs."""
    from penstock.__main__ import run  # this import sets the garbage collector's thresholds, as on the command line

    os.environ.update(environment)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    sys.argv = ["penstock", *arguments]
    run()


class WorkerProcess:
    """A `penstock worker`, forked from a process that has loaded everything; started from a shell if it needs a library.

    Loading Python and all modules a hundred times would take most of the time of a rig that kills a hundred workers.
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
            # A session of its own, so that a terminal's Ctrl-C reaches only the rig.
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
        """Sends a signal; does nothing if the process has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.id, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._wait(30)

    def _wait(self, seconds: float) -> int | None:
        """The status of a process that ends in time."""
        if self._forked is not None:
            self._forked.join(seconds)
            status: int | None = self._forked.exitcode
            return status
        with suppress(subprocess.TimeoutExpired):
            return self._started.wait(seconds)
        return None

    def end(self) -> int | None:
        """Tells it to end, and returns how it did."""
        self.signal(signal.SIGTERM)
        status = self._wait(60)
        if status is None:
            self.kill()
        return status


def shim(into: str) -> str:
    """The library that shifts the clock; raises `NotHere` if it cannot be built."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise NotHere("there is no C compiler: clocks cannot be moved")
    source = os.path.join(into, "skew.c")
    Path(source).write_text(_SHIM)
    made = os.path.join(into, "skew.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True, capture_output=True)
    return made
