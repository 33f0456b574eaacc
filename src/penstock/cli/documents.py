"""What is documented about programs? `penstock document`, on this machine or through a queue.

Leaves to others: what one program says, and how it is cut up (`programs`), and runs of a queue (`queues`).
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import command
from penstock.cli.completion import complete_model
from penstock.cli.programs import adaptive_option, budget_option, format_option, rooted, tokenizer_option
from penstock.cli.queues import RUN, named_model, queue_option
from penstock.errors import CallerError
from penstock.text import escape
from penstock.text.notices import counted, duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.models import Model
    from penstock.scribe import Documented
    from penstock.scribe.pool import Progress
    from penstock.scribe.queue.database import Database
    from penstock.scribe.queue.runs import NamedModel, Run
    from penstock.workspace.root import Root

_MAX_SUFFIXES = 8
EXPORTS = ("graphml", "csv", "json", "svg")
"""The formats in which the graph of an estate can be written."""
_ASK_TOKENIZER = (
    " The model's name does not say how it counts, so that prompts are about half as large as they could be: "
    "--tokenizer o200k, cl100k, claude or claude3 says it."
)
_MAX_REASONS = 3


@command("document")
@click.argument("paths", type=options.FILE, nargs=-1, metavar="PATH...")
@options.folder_option("--out", "Where the documents go.", "penstock-docs")
@click.option(
    "--model",
    "model_name",
    metavar="NAME",
    shell_complete=complete_model,
    help="Writes what the code does not say: WIRE:NAME at a provider (anthropic:NAME, gemini:NAME …) or scripted:FILE. "
    "Without a model, the documents state what the code says.",
)
@options.base_url_option
@options.window_option
@budget_option
@click.option("--jobs", type=options.Whole(min=1), metavar="N", help="Chunks to ask about at once [default: 4].")
@click.option(
    "--processes",
    type=options.Whole(min=1),
    metavar="N",
    help="Processes that read and write [default: the number of processors, but at most one per megabyte].",
)
@click.option("--fresh", is_flag=True, help="Ask about everything again.")
@click.option(
    "--reconcile",
    is_flag=True,
    help="Ask one more question per program, to merge what several chunks said in similar words.",
)
@click.option(
    "--export",
    "exports",
    type=click.Choice(EXPORTS),
    multiple=True,
    help="Also write the estate's graph next to the documents; repeatable. graphml and svg need penstock[graph].",
)
@adaptive_option
@tokenizer_option
@format_option
@queue_option
@click.option("--finish", is_flag=True, help="Start no run: follow one that is in the queue, and build its site.")
@click.option("--run", type=RUN, metavar="N", help="With --finish: the run to follow; by default the newest.")
@click.option(
    "--urgency",
    type=options.Whole(-1_000, 1_000),
    default=0,
    metavar="N",
    help="With --queue: runs with a higher urgency come first [default: 0].",
)
@options.root_option
def document_command(
    paths: tuple[str, ...],
    out: str,
    exports: tuple[str, ...],
    model_name: str | None,
    base_url: str | None,
    window: int | None,
    max_prompt_tokens: int | None,
    jobs: int | None,
    processes: int | None,
    queue_url: str | None,
    finish: bool,
    run: int | None,
    urgency: int,
    root: str,
    as_json: bool,
    **how: Any,
) -> int:
    """Document the COBOL programs in and below PATH.

    Writes Markdown, JSON and an HTML site that works from disk. Without a model the documents state everything the code says;
    with one, every citation is checked against the source. Ctrl-C keeps what is done; the next run asks only for what is
    missing. With --queue, workers on any machines do the asking: see `penstock worker`.

    Examples:
      penstock document PAYROLL.cbl --out payroll-docs
        open payroll-docs/index.html
      penstock document . --out payroll-docs --json
        every program below the current directory; the figures for a script
    """
    from penstock.scribe import JOBS, MAX_PROMPT_TOKENS, document, graph_export

    if run is not None and not finish:
        raise CallerError("--run N names the run that --finish makes the site of")
    if finish:
        wording = _wording(model_name, base_url, window) if how["reconcile"] else None
        return _finished(queue_url, run, out, as_json, wording)
    if not paths:
        raise click.UsageError("Missing argument 'PATH...': a program, or a folder that holds some.")
    # It would answer every question with the lines that were asked about.
    if model_name == "local":
        raise CallerError(
            "the model local only looks things up and cannot describe programs: name a provider's model, or none"
        )
    graph_export.require(exports)
    if queue_url is not None:
        if model_name is None:
            raise CallerError("--queue is for what a model is asked: name it with --model")
        if exports:
            raise CallerError("--export writes the graph where the files are: run it without --queue")
        how["max_prompt_tokens"] = max_prompt_tokens or MAX_PROMPT_TOKENS
        # Workers ask, and only they have a key, except for `--reconcile`: merging what several chunks said in similar words is done
        # here.
        wording = _wording(model_name, base_url, window) if how.pop("reconcile") else None
        asked = named_model(model_name, window)
        return _queued(queue_url, *rooted(root, paths), out, asked, wording, as_json, urgency=urgency, **how)
    model = _loaded(model_name, base_url, window) if model_name is not None else None
    looking, beneath = rooted(root, paths)
    with closing(looking), terminal.ProgressLine(is_logged=True) as line:
        done = document(
            beneath,
            root=looking,
            out=out,
            model=model,
            jobs=jobs or JOBS,
            processes=processes,
            max_prompt_tokens=max_prompt_tokens or MAX_PROMPT_TOKENS,
            step=line.tell,
            progress=None if as_json else _progress_of_chunks(line),
            **how,
        )
        more = {}
        if exports and not done.run.was_interrupted:
            about = {"source_format": how["source_format"], "step": line.tell}
            more = {"exports": graph_export.write(looking, beneath, exports, out=out, **about)}
    return _answered(done, out, as_json, asked=model is not None, **more)


def _answered(done: Documented, out: str, as_json: bool, *, asked: bool, **more: object) -> int:
    """Print the outcome for an estate, and return the exit status."""
    answer.give(
        {"out": out, **done.to_dict(), **more},
        "\n".join(_summary(done, escape.show_argument(out), asked=asked)),
        as_json,
    )
    # In the order of what a script has to do: continue, look elsewhere, look at what failed.
    if done.run.was_interrupted:
        return answer.INTERRUPTED
    if not done.programs and not done.copybooks:
        return answer.NOTHING
    return answer.PARTIAL if done.run.failed or done.skipped else 0


def _queued(
    queue_url: str,
    looking: Root,
    beneath: tuple[str, ...],
    out: str,
    asked: NamedModel,
    wording: Model | None,
    as_json: bool,
    **how: Any,
) -> int:
    """Put an estate into a queue, follow it, and make its site."""
    from penstock.cli import queues
    from penstock.cobol.estate import COBOL_KINDS, kind_of
    from penstock.scribe import title_of
    from penstock.scribe.gathering import gather
    from penstock.scribe.output import Output

    with closing(looking), terminal.ProgressLine() as line:
        found = gather(looking, beneath, kind_of, line.count_of("files"))
        title = title_of(found.files, os.fsdecode(looking.path))
    if not any(one.kind in COBOL_KINDS for one in found.files):  # nobody would ever be asked about it
        terminal.warn(_no_cobol(len(found.files) + found.others + len(found.skipped)))
        return answer.NOTHING
    output = Output(out)  # a folder that cannot take the site is refused before anybody is asked
    output.expect_own()
    output.leave()
    with queues.opened(queue_url, patience_seconds=queues.PATIENCE_SECONDS) as database:
        run = queues.start_run(database, found, title, asked, **how)
        return _followed(database, run, out, as_json, wording)


def _wording(model_name: str | None, base_url: str | None, window: int | None) -> Model:
    """Return the model that brings the answers of a run into one wording. Raises `CallerError` if none is named."""
    if model_name is None:
        raise CallerError("--reconcile asks the model of the run: name it with --model")
    return _loaded(model_name, base_url, window)


def _loaded(model_name: str, base_url: str | None, window: int | None) -> Model:
    """Return a model, and load what talks to providers, which a run without one does not wait for."""
    from penstock.models import load_model

    return load_model(model_name, base_url=base_url, window_tokens=window)


def _finished(queue_url: str | None, number: int | None, out: str, as_json: bool, wording: Model | None) -> int:
    """Follow a run that is in the queue, by default the newest, and make its site."""
    if queue_url is None:
        raise CallerError("--finish makes the site of a run in a queue: name it with --queue postgresql://…")
    from penstock.cli import queues
    from penstock.scribe.queue import runs

    with queues.opened(queue_url, patience_seconds=queues.PATIENCE_SECONDS) as database:
        run = runs.newest(database) if number is None else runs.run_of(database, number)
        return _followed(database, run, out, as_json, wording)


def _followed(database: Database, run: Run, out: str, as_json: bool, wording: Model | None) -> int:
    """Follow a run to its end, and make its site; an interrupt leaves the run to its workers."""
    from penstock.cli import queues
    from penstock.scribe.queue.finishing import finish

    with terminal.ProgressLine() as line:
        try:
            seen = queues.follow(database, run.id, line)
        except KeyboardInterrupt:
            terminal.warn(f"the run continues; its site: penstock document --queue URL --finish --run {run.id}")
            return answer.INTERRUPTED
        done = finish(database, run, out, wording=wording, step=line.tell)
    status = _answered(done, out, as_json, asked=True, queue=seen.to_dict())
    if seen.phase == "cancelled":
        terminal.warn(f"the run was cancelled; to continue it: penstock queue retry {run.id} --queue URL")
    return queues.status_of(seen) or status


def _progress_of_chunks(line: terminal.ProgressLine) -> Callable[[Progress], None] | None:
    """Return the function that reports progress of the asking; None if nobody watches."""
    tell = line.tell
    if tell is None:
        return None

    def told(made: Progress) -> None:
        failed = f", {made.failed} failed" if made.failed else ""
        left = f", {duration(round(made.left_seconds))} left" if made.done else ""
        tell(f"chunks{failed}{left}", made.done, made.total)

    return told


def _reasons(done: Documented) -> list[str]:
    """Return why chunks failed, each reason once, the most frequent first."""
    reasons = Counter(
        failed["reason"] for program in done.programs.values() for failed in program["coverage"]["chunks_failed"]
    )
    return [escape.shorten(reason) for reason, _ in reasons.most_common(_MAX_REASONS)]


def _left_out(done: Documented) -> list[str]:
    """Return how many files of each suffix were left out, with the name of the first."""
    told = []
    for suffix, number, examples in done.left_out[:_MAX_SUFFIXES]:
        name = escape.clip(examples[0])
        shown = escape.show_argument(suffix)
        what = (
            counted(number, f"{shown} file")
            if suffix
            else counted(number, "file without a suffix", "files without a suffix")
        )
        told.append(f"{what} ({name}{' …' if number > 1 else ''})")
    more = sum(one.files for one in done.left_out[_MAX_SUFFIXES:])
    return [*told, *((counted(more, "other file"),) if more else ())]


def _no_cobol(files: int) -> str:
    """Return the message for files that contain neither a program nor a copybook."""
    from penstock.scribe.gathering import ONLY_IF_NAMED

    message = f"There is no COBOL here, in {counted(files, 'file')}. Name a program, or a folder that holds some."
    return message if files else f"{message} {ONLY_IF_NAMED}"


def _summary(done: Documented, out: str, *, asked: bool) -> list[str]:
    """Return the outcome, and what to do next."""
    shown = []
    if done.programs:
        lines = sum(program["header"]["lines"] for program in done.programs.values())
        shown.append(
            f"{counted(len(done.programs), 'program')}, {counted(lines, 'line')}; {counted(len(done.copybooks), 'copybook')}, "
            f"{counted(done.members, 'other file')}."
        )
        shown.append(f"Open {os.path.join(out, 'index.html')} in a browser, or read {os.path.join(out, 'index.md')}.")
    elif done.copybooks:
        shown.append(
            f"No program, {counted(len(done.copybooks), 'copybook')}: its contents are in {os.path.join(out, 'copybooks')}. "
            "Name the folder of the programs too, to see who uses it."
        )
    else:
        files = done.others + done.members + len(done.empty) + len(done.skipped)
        shown.append(_no_cobol(files))
    run = done.run
    if asked:
        shown.append(
            f"{counted(run.calls, 'call')} for {counted(run.chunks, 'chunk')}, {run.reused} answered before. Claims: "
            f"{run.accepted} accepted, {run.relocated} relocated, {run.rejected} rejected, {run.contradicted} against the code."
        )
        shown.append(
            f"Prompts were counted as {run.counter}.{_ASK_TOKENIZER if run.counter.startswith('other') else ''}"
        )
    elif done.programs:
        shown.append(
            "Everything that the code says is there. Purposes, summaries and rules in words need a model: add --model NAME."
        )
    shown += [f"Not read: {escape.clip(one.path)}: {escape.show_argument(one.reason)}" for one in done.skipped]
    shown += [f"Nothing to document: {escape.clip(one.path)}: {escape.show_argument(one.reason)}" for one in done.empty]
    if done.left_out:
        shown.append(f"Left out, of an unknown kind: {', '.join(_left_out(done))}.")
    if run.was_interrupted:
        shown.append("Stopped; what is done is kept. The same command continues.")
    elif run.failed:
        shown.append(
            f"{counted(run.failed, 'chunk')} could not be described. The documents say which lines; the same command tries again."
        )
        shown += [f"- {reason}" for reason in _reasons(done)]
    return shown
