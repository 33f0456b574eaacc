"""How does a worker stay alive? It is the engine's, with a supervisor that starts another when it ends, and finds abandoned work.

The engine's worker ends when its database goes away; a new one then begins as soon as there is a database, while answers under way
arrive and wait. What a worker left that was killed, or is taken for dead, is given back by whichever worker looks next; what the
engine lost altogether is enqueued again, since chunks that are open and in no job show it. Law: while one worker lives and there is
a database, every chunk ends. Leaves to others: what a job is (`work`), and signals (`cli`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import procrastinate
import procrastinate.exceptions
import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from penstock.scribe.queue.connecting import SCHEMA, conninfo
from penstock.scribe.queue.database import PATIENCE_SECONDS, Database
from penstock.scribe.queue.engine import AT_ONCE, Later, asking_queue, defer, engine_app
from penstock.scribe.queue.enqueuing import END_IF_DONE, TO_PUT_IN
from penstock.scribe.queue.runs import own_fingerprints, run_of, survey_again
from penstock.scribe.queue.work import KeyRefused, Workshop
from penstock.store import StoreFault
from penstock.text import escape
from penstock.text.calls import CommandLine
from penstock.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import datetime

    from penstock.models import Model
    from penstock.scribe.queue.database import Connection
    from penstock.scribe.queue.runs import Run

LEASE_SECONDS = 45.0
"""How long a worker may be silent before its work is given to others."""
HEARTBEAT_SECONDS = 10.0
SWEEP_SECONDS = 10.0
POLL_SECONDS = 0.5
_LOST_AFTER_SWEEPS = 3  # a job that has ended this long ago and left chunks open was lost
_UNWANTED_SECONDS = 15.0  # after which a job is tried again that the database did not let finish
_SAID_SECONDS = 60.0
_BROOM_SECONDS = 10.0  # for a statement that returns at once whether a lock is free
# Held by the worker that looks after the queue. Not an advisory lock, which any user of the database could hold for ever; it
# conflicts with itself, and with nothing that workers do to the table.
_SWEEPS = f"LOCK TABLE {SCHEMA}.workers IN SHARE UPDATE EXCLUSIVE MODE NOWAIT"
_PAUSES_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0)
_LOST = (procrastinate.exceptions.ConnectorException, psycopg.Error, PoolTimeout, PoolClosed, OSError, StoreFault)


class WorkerSettings(NamedTuple):
    """How a worker works: how many jobs at once, and the times of its heartbeat."""

    jobs: int = 4
    key: str = "default"
    """The name of a worker's key in the limits of the queue."""
    lease_seconds: float = LEASE_SECONDS
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    sweep_seconds: float = SWEEP_SECONDS
    poll_seconds: float = POLL_SECONDS


class QueueWorker:
    """A worker at a queue, until it is told to stop.

    Args:
        url: The queue.
        model_of: Returns the model of a run, with this worker's key.
        wires: The APIs that it has a key for.
        settings: How it works.
        say: Called with what a person should know.
    """

    def __init__(
        self,
        url: str,
        model_of: Callable[[Run], Model],
        wires: Sequence[str],
        *,
        settings: WorkerSettings = WorkerSettings(),  # noqa: B008 - a value that cannot change
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._url, self._settings, self._told_to = url, settings, say
        self._told: dict[str, float] = {}
        self._stopping = threading.Event()
        self._draining = threading.Event()
        self._leaving = threading.Event()  # not even keeping an answer is waited for any more
        self.database = Database(
            url,
            connections=3,
            patience_seconds=PATIENCE_SECONDS,
            given_up=self._stopping.is_set,
            let_go=self._leaving.is_set,
            say=self._say,
        )
        self.workshop = Workshop(
            self.database,
            model_of,
            key=settings.key,
            is_draining=self._draining.is_set,
            is_taken_away=self._is_taken_away,
            say=self._say,
        )
        self._seen_at = self._silent_until = time.monotonic()
        self.id = secrets.token_hex(8)
        self.refused = ""
        """Why this worker's key was rejected, if it ended for that reason."""
        marks = own_fingerprints().values()
        self._queues = [name for mark in marks for name in (mark, *(asking_queue(mark, wire) for wire in wires))]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake: asyncio.Event | None = None
        self._silent: dict[int, int] = {}

    def stop(self, *, at_once: bool = False) -> None:
        """Begin nothing more, and end when what is under way has ended; or end that too. Any thread may call this."""
        self._draining.set()
        self._stopping.set()
        if at_once:
            self._leaving.set()
            self.workshop.stop()
        loop, wake = self._loop, self._wake
        if loop is not None and wake is not None:
            with suppress(RuntimeError):  # the loop is over already
                loop.call_soon_threadsafe(wake.set)

    def _say(self, said: str) -> None:
        """Say what a person should know; the same message at most once a minute, since it recurs with each question."""
        now = time.monotonic()
        self._told = {one: at for one, at in list(self._told.items()) if now - at < _SAID_SECONDS}
        if self._told.setdefault(said, now) == now:
            self._told_to(escape.clip(said, 300))

    def run(self) -> None:
        """Work until told to stop.

        Raises:
            StoreFault: The queue is newer than this version, or refuses.
        """
        engine_log = logging.getLogger("procrastinate")  # it reports each outage at length; we do in a line
        engine_log.propagate = False
        if not engine_log.handlers:
            engine_log.addHandler(logging.NullHandler())
        try:
            asyncio.run(self._supervise())
        finally:
            with suppress(*_LOST):
                self.database.rows("DELETE FROM workers WHERE id = %(id)s", id=self.id)
            self.database.close()

    # ── supervision ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _supervise(self) -> None:
        self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()
        if self._stopping.is_set():
            return
        fails, look = 0, self.database.prepare
        with ThreadPoolExecutor(self._settings.jobs, "penstock-worker") as threads:
            while not self._stopping.is_set():
                self._draining.clear()
                begun = self._loop.time()
                try:
                    await asyncio.to_thread(look)
                    look = self.database.own_version  # whoever drops or downgrades the tables meanwhile has a reason
                    await self._one_life(threads)
                except StoreFault as fault:
                    if fault.code in {"newer", "read_only"}:
                        raise
                    ways = map(CommandLine(queue="URL").write, fault.calls)
                    self._say(" ".join([str(fault), *ways]))
                except _LOST as error:
                    self._say(f"The queue is away: {_first_line(error)}")
                if self._stopping.is_set():
                    break
                fails = 0 if self._loop.time() - begun > _PAUSES_SECONDS[-1] else fails + 1
                with suppress(TimeoutError):
                    pause = _PAUSES_SECONDS[min(fails, len(_PAUSES_SECONDS) - 1)]
                    await asyncio.wait_for(self._wake.wait(), pause)

    async def _one_life(self, threads: ThreadPoolExecutor) -> None:
        """Run one worker of the engine, until it ends by itself or is told to."""
        assert self._wake is not None  # noqa: S101 - set by the caller
        app = engine_app(self._url, {name: partial(self._job, threads, name) for name in ("survey", "link", "ask")})
        async with app.open_async():
            settings = self._settings
            working = asyncio.create_task(
                app.run_worker_async(
                    queues=self._queues,
                    concurrency=settings.jobs,
                    name="penstock",
                    fetch_job_polling_interval=settings.poll_seconds,
                    # Saves a connection per worker, and works through a pooler; a busy worker has little to wait for.
                    listen_notify=False,
                    delete_jobs="always",  # outcomes are recorded with the chunks
                    install_signal_handlers=False,
                    update_heartbeat_interval=settings.heartbeat_seconds,
                    stalled_worker_timeout=settings.lease_seconds,
                )
            )
            sweeping = asyncio.create_task(self._sweep(app))
            stopped = asyncio.create_task(self._wake.wait())
            self._say(f"working at {settings.jobs} jobs")
            try:
                await asyncio.wait({working, sweeping, stopped}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                # Jobs check this between two chunks: what they hold is given back, and what is under way is kept.
                self._draining.set()
                sweeping.cancel()
                stopped.cancel()
                working.cancel()
                results = await asyncio.gather(working, sweeping, stopped, return_exceptions=True)
        for result in results[:2]:
            if isinstance(result, Exception):
                raise result

    async def _job(self, threads: ThreadPoolExecutor, name: str, /, **arguments: Any) -> None:
        """Do a job on a thread. A job is retried if the database fails, or if this worker must not do it."""
        work: Callable[..., None] = getattr(self.workshop, name)
        try:
            await asyncio.get_running_loop().run_in_executor(threads, partial(work, **arguments))
        except KeyRefused as error:
            self.refused = str(error)
            self.stop()
            raise Later(str(error)) from error
        except StoreFault as error:
            self._say(f"{name}: {error}")
            # Not at once: what a database refuses now it also refuses a millisecond later.
            raise Later(str(error), await asyncio.to_thread(self._soon)) from error

    def _soon(self) -> datetime:
        """Return the database's time after a while; at once if it does not answer."""
        with suppress(StoreFault):
            return self.workshop.after(_UNWANTED_SECONDS)
        return AT_ONCE

    # ── abandoned work ───────────────────────────────────────────────────────────────────────────────────────────────

    async def _sweep(self, app: procrastinate.App) -> None:
        while True:
            await asyncio.to_thread(self._seen)
            # One at a time: if two give back the same job, the second might take it from whoever has it by then.
            async with self._broom() as is_ours:
                if is_ours:
                    lease = self._settings.lease_seconds
                    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=lease):
                        await app.job_manager.retry_job(job, retry_at=AT_ONCE)
                    await asyncio.to_thread(self._find_lost)
            await asyncio.sleep(self._settings.sweep_seconds)

    def _seen(self) -> None:
        """Report that this worker is alive.

        Raises:
            StoreFault: The tables are now newer than this version understands, and this worker ends.
        """
        self._is_taken_away(time.monotonic())
        self.database.check()
        self.database.rows(
            """INSERT INTO workers (id, name, version, queues, jobs, key)
               VALUES (%(id)s, %(name)s, %(version)s, %(queues)s, %(jobs)s, %(key)s)
               ON CONFLICT (id) DO UPDATE SET seen_at = clock_timestamp()""",
            id=self.id,
            name=f"{platform.node()}:{os.getpid()}",
            version=__version__,
            queues=self._queues,
            jobs=self._settings.jobs,
            key=self._settings.key,
        )
        self._seen_at = time.monotonic()
        self.database.rows("DELETE FROM workers WHERE seen_at < clock_timestamp() - interval '1 hour'")

    def _is_taken_away(self, begun: float) -> bool:
        """Return whether this worker was silent for a lease since a time: stopped, or cut off from the database.

        Others then have its work, which it continued in parallel, question by question, until it noticed.
        """
        now = time.monotonic()
        if now - self._seen_at > self._settings.lease_seconds:
            self._silent_until = now
        return begun < self._silent_until

    @asynccontextmanager
    async def _broom(self) -> AsyncIterator[bool]:
        """Yield whether this worker may look after the queue; no other does until this ends, or the connection is lost.

        It has its own connection, whose lock goes with it. Nothing here waits for ever: a worker that is silent for a lease is
        taken for dead, also by itself, and then answers nothing any more.
        """
        connection = await psycopg.AsyncConnection.connect(conninfo(self._url))
        is_ours = True
        try:
            try:
                async with asyncio.timeout(_BROOM_SECONDS):
                    await connection.execute(_SWEEPS.encode())
            except TimeoutError:
                raise OSError(f"no answer within {_BROOM_SECONDS:g} s") from None
            except psycopg.errors.LockNotAvailable:
                is_ours = False
            yield is_ours
        finally:
            await connection.close()

    def _find_lost(self) -> None:
        """Enqueue again what is open and in no job, and end runs of which nothing is open."""
        lost = self._runs_with_lost()
        # Seen several times: whatever else happens between two of our queries, a lost job stays lost.
        self._silent = {run: self._silent.get(run, 0) + 1 for run in lost}
        for run in [one for one, times in self._silent.items() if times >= _LOST_AFTER_SWEEPS]:
            self.database.run(partial(_again, run=run_of(self.database, run)))
        for (run,) in self.database.rows("SELECT id FROM runs WHERE phase = 'asking'"):
            self.database.rows(END_IF_DONE, run=run)

    def _runs_with_lost(self) -> list[int]:
        """Return the runs with chunks in no job and nobody to enqueue them, and those that no job surveys."""
        rows = self.database.rows(
            f"""SELECT id FROM runs WHERE
                (phase = 'surveying' AND NOT EXISTS (SELECT FROM procrastinate_jobs AS jobs
                    WHERE jobs.status IN ('todo', 'doing') AND jobs.args @> jsonb_build_object('run', runs.id)))
                OR (phase = 'asking' AND NOT EXISTS (SELECT FROM procrastinate_jobs AS jobs
                    WHERE jobs.status IN ('todo', 'doing') AND jobs.task_name = 'link'
                    AND jobs.args @> jsonb_build_object('run', runs.id))
                    AND EXISTS (SELECT FROM chunks WHERE chunks.run = runs.id AND {TO_PUT_IN}))"""  # noqa: S608 - ours
        )
        return [run for (run,) in rows]


def _again(connection: Connection, *, run: Run) -> None:
    """Enqueue again what was lost of a run: files that wait to be surveyed, else a job that links and enqueues the rest."""
    connection.execute("SELECT 1 FROM runs WHERE id = %s FOR UPDATE", (run.id,))
    waiting = connection.execute(
        "SELECT number FROM files WHERE run = %s AND state = 'waiting' ORDER BY number", (run.id,)
    ).fetchall()
    if waiting:
        survey_again(connection, run, [number for (number,) in waiting])
    else:
        defer(connection, run.fingerprint, "link", [{"run": run.id}], run.urgency)


def _first_line(error: BaseException) -> str:
    cause = error.__cause__ or error
    return next(iter(str(cause).strip().splitlines()), type(cause).__name__)
