"""How do many machines document one estate? `penstock worker`, and the commands that show and manage a queue.

`penstock document --queue` puts an estate into a queue (`documents`); any number of workers take from it. Leaves to others: what
is in a queue, and how it is kept (`penstock.scribe.queue`).
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import HelpPage, command, group
from penstock.errors import CallerError
from penstock.text import escape
from penstock.text.notices import counted, duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.models import KeptConnections, Model
    from penstock.scribe.gathering import Gathered
    from penstock.scribe.queue.database import Database
    from penstock.scribe.queue.progress import RunProgress
    from penstock.scribe.queue.runs import NamedModel, Run
    from penstock.scribe.queue.worker import QueueWorker

_LOOK_SECONDS = 2.0  # between two looks at a run that is followed
_LINE_SECONDS = 60.0  # between two lines without a terminal
_LONGEST_LEASE_SECONDS = 86_400
_MAX_LIMIT = 10**12  # a minute; their sums are 64-bit numbers
PATIENCE_SECONDS = 3_600.0
"""How long a follower waits for a database that is unreachable."""

RUN = options.Whole(1, 2**63 - 1)
"""The number of a run: the range of an identity in PostgreSQL."""
queue_option = click.option(
    "--queue",
    "queue_url",
    metavar="URL",
    envvar="PENSTOCK_QUEUE",
    show_envvar=True,
    help="The PostgreSQL database that holds the queue: postgresql://HOST/DATABASE. Passwords belong in PGPASSFILE.",
)


def _wanted(url: str | None) -> str:
    if not url:
        raise CallerError("Which queue? --queue postgresql://HOST/DATABASE, or PENSTOCK_QUEUE")
    return url


def _say(said: str) -> None:
    click.echo(f"penstock: {said}", err=True)


@contextmanager
def opened(url: str | None, *, patience_seconds: float = 0.0) -> Iterator[Database]:
    """Open a queue for as long as this lasts.

    Raises:
        CallerError: No URL was given, or the extra is not installed.
        StoreFault: It cannot be reached.
    """
    from penstock.scribe.queue.database import Database

    if patience_seconds:
        Database(_wanted(url)).close()  # a wrong address is reported at once, without waiting
    with closing(Database(_wanted(url), patience_seconds=patience_seconds, say=_say)) as database:
        yield database


# ── document --queue ─────────────────────────────────────────────────────────────────────────────────────────────


def _wire_and_name(model: str) -> tuple[str, str]:
    """Return the wire of a model that workers ask, and its name on it.

    Raises:
        CallerError: It is not a model's name.
    """
    from penstock.wires.table import WIRES

    wire, _, name = model.partition(":")
    if wire not in WIRES or not name:
        raise CallerError(
            f"A model is named as its runs name it: {'|'.join(WIRES)}, a colon and its name, not {model!r}"
        )
    return wire, name


def named_model(model: str, window_tokens: int | None) -> NamedModel:
    """Return the model that workers are to ask; starting a run needs no key for it.

    Raises:
        CallerError: It is not a model's name, or the extra is not installed.
    """
    from penstock.scribe.queue.runs import NamedModel

    return NamedModel(*_wire_and_name(model), window_tokens)


def start_run(database: Database, found: Gathered, title: str, model: NamedModel, **how: Any) -> Run:
    """Put an estate into the queue, or find the run already in progress over the same one, and report which it is."""
    from penstock.scribe.queue import runs

    database.prepare()
    run, is_new = runs.start(database, found, title, model=model, **how)
    what = "is in the queue" if is_new else "is going on already, and is followed"
    if run.urgency != how["urgency"]:
        what += f" with its urgency of {run.urgency} (penstock queue cancel {run.id}, and this again, for another)"
    terminal.warn(f"run {run.id} of {escape.clip(title)} {what}; workers: penstock worker --queue URL")
    return run


def follow(database: Database, run: int, line: terminal.ProgressLine) -> RunProgress:
    """Follow a run until it is over: drawn on a terminal, a line a minute elsewhere. An interrupt ends only the following."""
    from penstock.scribe.queue.progress import progress

    said, tell = 0.0, line.tell
    told: set[str] = set()
    while True:
        seen = progress(database, run)
        if seen.is_over:
            return seen
        for cause in seen.put_off:
            if cause.name not in told:
                terminal.warn(f"run {run}: retried automatically: {escape.clip(cause.example)}")
        told = {cause.name for cause in seen.put_off}
        if tell is not None:
            failed = f", {seen.failed} failed" if seen.failed else ""
            if seen.phase == "surveying":
                tell("files surveyed", seen.files - seen.files_waiting, seen.files)
            else:
                tell(f"chunks{failed}{_left(seen)}", seen.answered + seen.failed, seen.chunks)
        elif time.monotonic() - said >= _LINE_SECONDS or not said:
            said = time.monotonic()
            terminal.warn(_line(seen))
        time.sleep(_LOOK_SECONDS)


def _left(seen: RunProgress) -> str:
    return "" if seen.left_seconds is None else f", {duration(round(seen.left_seconds))} left"


def _line(seen: RunProgress) -> str:
    """Return the progress of a run in a line."""
    workers = sum(one.serves for one in seen.workers)
    who = counted(workers, "worker") if workers else _nobody(seen)
    if seen.phase == "surveying":
        return f"run {seen.id}: {seen.files - seen.files_waiting} of {seen.files} files surveyed; {who}"
    return (
        f"run {seen.id}: {seen.answered + seen.failed} of {seen.chunks} chunks, {seen.failed} failed"
        f"{_left(seen)}{_money(seen)}; {who}"
    )


def _nobody(seen: RunProgress) -> str:
    """Return why nobody works on a run."""
    if not seen.workers:
        return "no worker is there: penstock worker --queue URL"
    others = ", ".join(sorted({one.version for one in seen.workers}))
    who = f"none of {counted(len(seen.workers), 'worker')} ({others}) serves it"
    return f"{who}: it wants {seen.fingerprint} and a key of {seen.model}"


def _money(seen: RunProgress) -> str:
    if seen.dollars is None:
        return ""
    made = f", ${seen.dollars:.2f} spent"
    if seen.to_come is not None and seen.open:
        made += f", ${seen.to_come.expected:.2f} to come ({seen.to_come.low:.2f} to {seen.to_come.high:.2f})"
    return made


# ── worker ───────────────────────────────────────────────────────────────────────────────────────────────────────


@command("worker")
@queue_option
@options.base_url_option
@click.option("--jobs", type=options.Whole(min=1), default=4, show_default=True, help="Chunks to ask about at once.")
@click.option(
    "--key",
    default="default",
    show_default=True,
    metavar="NAME",
    help="The name of this worker's key in `penstock queue limit`; never the key itself.",
)
@options.said_json_option("One JSON object on standard output, at the end.")
def worker_command(queue_url: str | None, base_url: str | None, jobs: int, key: str, as_json: bool) -> int:
    """Take work from a queue: files to read, models to ask.

    Any number of workers on any machines can share a queue. A worker takes provider keys from the usual variables, and only
    takes work it has a key for. The first SIGTERM or Ctrl-C ends it once the chunks it holds are answered, the second ends it
    at once. The exit status is 8 if a provider rejects the key. Needs penstock[queue].

    Examples:
      penstock worker --queue postgresql:///penstock
        works until Ctrl-C, with the key in ANTHROPIC_API_KEY or its kin
      penstock worker --queue postgresql:///penstock --jobs 16 --key second
        sixteen chunks at once, within the limits of the key named second
    """
    url = _wanted(queue_url)
    workers: list[QueueWorker] = []
    # Before anything that takes long to load: a worker that is ended meanwhile should also exit with status 0.
    with _asked_to_end(workers) as asked:
        from penstock.scribe.queue.connecting import missing_extra

        try:
            from penstock.scribe.queue.worker import QueueWorker, WorkerSettings
        except ImportError as error:
            raise missing_extra(error) from None

        from penstock.models import KeptConnections
        from penstock.scribe.work_process import spare_collector

        wires = _wires(base_url)
        connections = KeptConnections()
        worker = QueueWorker(
            url,
            _model_of(base_url, connections),
            wires,
            settings=WorkerSettings(jobs=jobs, key=key, **_times()),
            say=terminal.warn,
        )
        workers.append(worker)
        if asked:
            worker.stop()
        terminal.warn(f"worker {worker.id} takes what is asked of {', '.join(wires)}")
        spare_collector()  # what it reads of programs is kept for a while, and has few reference cycles
        with connections:
            worker.run()
    if as_json:
        answer.print_json({"worker": worker.id, "jobs": jobs, "key": key, "refused": worker.refused or None})
    if worker.refused:
        terminal.warn(f"the provider rejected this worker's key; other workers continue: {escape.clip(worker.refused)}")
        return answer.FAULT
    return answer.INTERRUPTED if asked and asked[0] == signal.SIGINT else 0


@contextmanager
def _asked_to_end(workers: Sequence[QueueWorker]) -> Iterator[list[int]]:
    """While this lasts, pass signals that end the process on to workers, a second one to end at once; yield the signals
    received.
    """
    asked: list[int] = []

    def end(number: int, _frame: object) -> None:
        for worker in workers:
            worker.stop(at_once=bool(asked))
        asked.append(number)

    earlier = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _times() -> dict[str, Any]:
    """Return the lease of a worker if another one was set: seconds of silence after which others take over."""
    from penstock.scribe.queue.worker import HEARTBEAT_SECONDS

    given = os.environ.get("PENSTOCK_QUEUE_LEASE_SECONDS")
    if not given:
        return {}
    try:
        lease = float(given)
    except ValueError:
        raise CallerError(f"PENSTOCK_QUEUE_LEASE_SECONDS is a number of seconds, not {given!r}") from None
    if not 0 < lease <= _LONGEST_LEASE_SECONDS:
        raise CallerError(f"PENSTOCK_QUEUE_LEASE_SECONDS is more than 0, and {_LONGEST_LEASE_SECONDS:,} at most: a day")
    # Never less often than others expect, who may have another lease: they would take work from a living worker.
    often = min(lease / 4, HEARTBEAT_SECONDS)
    return {"lease_seconds": lease, "heartbeat_seconds": often, "sweep_seconds": often}


def _wires(base_url: str | None) -> list[str]:
    """Return the APIs that this worker can ask: those with a provider key, or an address on this machine."""
    from penstock.models import RemoteModel
    from penstock.wires.table import WIRES, wire_named

    found = []
    for wire in WIRES:
        try:
            RemoteModel(wire, "any", base_url=base_url)
        except CallerError:
            continue
        found.append(wire)
    if not found:
        variables = dict.fromkeys(key.variable for wire in WIRES for key in wire_named(wire).service.keys)
        raise CallerError(
            f"There is no key of a provider here: set one of {', '.join(variables)}, or --base-url for a model on this machine"
        )
    return found


def _model_of(base_url: str | None, connections: KeptConnections) -> Callable[[Run], Model]:
    from penstock.models import load_model

    def model_of(run: Run) -> Model:
        return load_model(
            run.model_id, base_url=base_url, window_tokens=run.model.window_tokens, connections=connections
        )

    return model_of


# ── queue ────────────────────────────────────────────────────────────────────────────────────────────────────────

_run_argument = click.argument("run", type=RUN, required=False)


def _chosen(database: Database, run: int | None) -> Run:
    from penstock.scribe.queue import runs

    return runs.newest(database) if run is None else runs.run_of(database, run)


@group("queue")
def queue_command() -> None:
    """Follow, cancel and retry runs that many machines work on.

    Examples:
      penstock queue status --queue postgresql:///penstock
        the progress of the newest run, its cost, and failures by cause
      penstock queue retry 7 --queue postgresql:///penstock
        ask again about what failed in run 7
    """


@queue_command.command("status", cls=HelpPage)
@_run_argument
@click.option("--prometheus", is_flag=True, help="Print the figures in Prometheus format.")
@click.option(
    "--listen", "address", metavar="HOST:PORT", help="Serve a page and /metrics at this address, until a signal."
)
@click.option(
    "--token-file",
    type=options.OWN_FILE,
    metavar="FILE",
    help="File with the token that clients of the page must send; created if missing.",
)
@queue_option
@options.json_option
def status_command(
    run: int | None, prometheus: bool, address: str | None, token_file: str | None, queue_url: str | None, as_json: bool
) -> int:
    """Show the progress of RUN, by default the newest.

    Shows chunks, the cost so far and the expected cost with its bounds, failures by cause with the command that retries them,
    and the workers. The exit status is 1 while the run is in progress, and 6 if chunks failed.

    Examples:
      penstock queue status --queue postgresql:///penstock
        the newest run, for a person
      penstock queue status --queue postgresql:///penstock --prometheus
        all runs, for a scraper; --listen 127.0.0.1:9400 serves a page too
    """
    from penstock.scribe.queue import metrics
    from penstock.scribe.queue.progress import progress, runs

    with opened(queue_url) as database:
        if address is not None:
            from penstock.cli.queue_page import serve_pages

            return serve_pages(database, address, token_file)
        if prometheus:
            click.echo(metrics.metrics([progress(database, one) for one in runs(database)]), nl=False)
            return 0
        seen = progress(database, _chosen(database, run).id)
        answer.give(seen.to_dict(), "\n".join(_status_lines(seen)), as_json)
    return status_of(seen)


def status_of(seen: RunProgress) -> int:
    """Return the exit status that reports the state of a run, for any command.

    Args:
        seen: its progress.
    """
    if not seen.is_over:
        return answer.NOTHING
    return answer.PARTIAL if seen.failed or seen.files_failed or seen.phase == "cancelled" else 0


def _status_lines(seen: RunProgress) -> list[str]:
    """Return what a person wants to know of a run."""
    made = [
        f"run {seen.id}: {escape.clip(seen.title)}, {escape.clip(seen.model)}",
        f"state   {seen.phase}, begun {seen.created_at:%Y-%m-%d %H:%M %Z}",
        f"files   {seen.files - seen.files_waiting} of {seen.files} surveyed, {seen.files_failed} failed",
        f"chunks  {seen.answered} answered, {seen.failed} failed, {seen.open} open, of {seen.chunks}{_left(seen)}",
        f"calls   {seen.calls} for {counted(seen.asked_for, 'chunk')}; {counted(seen.late, 'answer')} came late and were dropped",
        f"tokens  {seen.input_tokens} in, {seen.output_tokens} out{_money(seen)}",
    ]
    if not seen.is_over:
        made.append(
            f"workers {counted(sum(one.serves for one in seen.workers), 'worker')} of {len(seen.workers)} serve it"
        )
        if not any(one.serves for one in seen.workers):
            made.append(f"        {_nobody(seen)}")
    made += [
        f"put off {one.chunks} for {escape.clip(one.name)}, retried automatically: {escape.clip(one.example)}"
        for one in seen.put_off
    ]
    for cause in seen.causes:
        made.append(f"failed  {cause.chunks} for {escape.clip(cause.name)}: {escape.clip(cause.example)}")
        made.append(f"        {cause.retry_command(seen.id)}")
    if seen.files_failed:
        made.append(f"failed  {counted(seen.files_failed, 'file')} could not be read: penstock queue retry {seen.id}")
    if seen.phase == "cancelled":
        made.append(f"        penstock queue retry {seen.id}    goes on")
    elif seen.is_over:
        made.append(f"        penstock document --queue URL --finish --run {seen.id}    makes the site")
    return made


@queue_command.command("cancel", cls=HelpPage)
@click.argument("run", type=RUN)
@queue_option
@options.json_option
def cancel_command(run: int, queue_url: str | None, as_json: bool) -> int:
    """Cancel RUN, and keep what was answered.

    Chunks in progress are still answered and kept; once this command returns, about a second later, no more are begun. The exit
    status is 1 if the run was already over.

    Examples:
      penstock queue cancel 7 --queue postgresql:///penstock
        penstock queue retry 7 continues it
      PENSTOCK_QUEUE=postgresql:///penstock penstock queue cancel 7
        the same, with the queue taken from the environment
    """
    from penstock.scribe.queue import runs

    with opened(queue_url) as database:
        runs.run_of(database, run)
        ended = runs.cancel(database, run)
    text = (
        f"run {run} is cancelled; penstock queue retry {run} continues it" if ended else f"run {run} was already over"
    )
    answer.give({"run": run, "cancelled": ended}, text, as_json)
    return 0 if ended else answer.NOTHING


@queue_command.command("retry", cls=HelpPage)
@click.argument("run", type=RUN)
@click.option("--cause", metavar="CAUSE", help="Only what failed for this cause, as `status` names it.")
@queue_option
@options.json_option
def retry_command(run: int, cause: str | None, queue_url: str | None, as_json: bool) -> int:
    """Retry what failed in RUN, or continue it if it was cancelled.

    The exit status is 1 if nothing had failed.

    Examples:
      penstock queue retry 7 --queue postgresql:///penstock
        everything that failed in run 7, whatever the cause
      penstock queue retry 7 --queue postgresql:///penstock --cause quota
        only what failed for that cause
    """
    from penstock.scribe.queue import runs

    with opened(queue_url) as database:
        chosen = runs.run_of(database, run)
        again = runs.retry(database, chosen, cause)
    goes_on = again or chosen.phase == "cancelled"
    answer.give(
        {"run": run, "again": again},
        f"{counted(again, 'chunk')} will be retried" if goes_on else "nothing had failed",
        as_json,
    )
    return 0 if goes_on else answer.NOTHING


@queue_command.command("limit", cls=HelpPage)
@click.argument("model")
@click.option(
    "--key", default="default", show_default=True, metavar="NAME", help="The name that workers use for the key."
)
@click.option("--requests", type=options.Whole(1, _MAX_LIMIT), metavar="N", help="Requests per minute.")
@click.option(
    "--tokens",
    type=options.Whole(1, _MAX_LIMIT),
    metavar="N",
    help="Tokens per minute, of requests and answers together.",
)
@queue_option
@options.json_option
def limit_command(
    model: str, key: str, requests: int | None, tokens: int | None, queue_url: str | None, as_json: bool
) -> int:
    """Set what all workers with one key may ask of MODEL per minute.

    The limits apply from when this command returns, which takes three seconds for a key that had none. Without --requests and
    --tokens, the key has no limit but the provider's own.

    Examples:
      penstock queue limit anthropic:claude-sonnet-5 --requests 4000
        for the key that workers name default
      penstock queue limit openai-chat:gpt-5.4 --key second --tokens 2000000
        for another key, by tokens
    """
    from penstock.scribe.queue.limits import set_limits
    from penstock.scribe.queue.runs import is_asked

    wire, name = _wire_and_name(model)
    with opened(queue_url) as database:
        database.prepare()
        set_limits(database, key, model, requests, tokens)
        if not is_asked(database, wire, name):
            terminal.warn(f"no run of this queue asks {escape.clip(model)} so far")
    said = " and ".join(
        f"{number} {what} a minute" for number, what in ((requests, "requests"), (tokens, "tokens")) if number
    )
    value = {"key": key, "model": model, "requests": requests, "tokens": tokens}
    answer.give(value, f"key {escape.clip(key)}, {escape.clip(model)}: {said or 'no limit'}", as_json)
    return 0


@queue_command.command("migrate", cls=HelpPage)
@click.option(
    "--to", "version", type=options.Whole(min=0), metavar="N", help="The version to migrate to; 0 removes the tables."
)
@queue_option
@options.json_option
def migrate_command(version: int | None, queue_url: str | None, as_json: bool) -> int:
    """Migrate the tables of a queue to this version, or to another.

    The role that runs this owns the tables; docs/queue.md lists the rights that the other roles need. Older workers continue as
    long as the tables still serve them.

    Examples:
      penstock queue migrate --queue postgresql://owner@db.example/penstock
        to the version that this Penstock uses
      penstock queue migrate --queue postgresql:///penstock --to 1
        back to the version that an older Penstock uses
    """
    from penstock.scribe.queue.schema import STEPS

    wanted = len(STEPS) if version is None else version
    if wanted > len(STEPS):
        raise CallerError(f"--to {wanted}: this Penstock knows {len(STEPS)}")
    with opened(queue_url) as database:
        before, after = database.migrate(wanted)
    answer.give({"before": before, "after": after}, f"the queue had version {before}, and has {after}", as_json)
    return 0
