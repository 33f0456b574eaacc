"""What does a program say, how is it cut up, and what is documented about it? `penstock structure`, `chunk`, `document`."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from penstock.cli import answer, options, terminal
from penstock.cli.commands import command
from penstock.cli.completion import complete_model
from penstock.cli.queues import RUN, named_model, queue_option
from penstock.errors import CallerError
from penstock.text import escape
from penstock.text.notices import counted, duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.chunk import ChunkPlan
    from penstock.cobol.program import Format, Program
    from penstock.cobol.source import ScannedSource
    from penstock.models import Model
    from penstock.scribe import Documented
    from penstock.scribe.pool import Progress
    from penstock.scribe.prompts import Prompt
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
_MAX_SPANS = 6  # of a chunk in one line
_MAX_REASONS = 3


def rooted(root: str, paths: tuple[str, ...]) -> tuple[Root, tuple[str, ...]]:
    """Return the root, and the paths beneath it.

    A person may name any file: without --root, the folder that contains everything named is the root. A root that was typed
    applies, even if it is the current folder.
    """
    from penstock.settings import allows_secrets
    from penstock.workspace.root import Root

    if click.get_current_context().get_parameter_source("root") is ParameterSource.DEFAULT:
        here = os.path.realpath(".")
        real = [os.path.realpath(path) for path in paths]
        # Nothing is read outside the root. Naming a file elsewhere means that folder, and no other, is to be read.
        if not all(os.path.join(path, "").startswith(os.path.join(here, "")) for path in real):
            # What is missing is refused under the name that was typed: that folder knows only the end of it.
            for path in paths:
                os.stat(path)
            try:
                root = os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in real])
            except ValueError as error:  # two drives of Windows
                raise CallerError(f"no folder contains all of what was named ({error}): name one --root") from None
            paths = tuple(os.path.relpath(path, root) for path in real)
    return Root(root, allow_secrets=allows_secrets()), paths


def _source(root: str, file: str, source_format: Format | None) -> tuple[str, ScannedSource, bool]:
    """Return a file's path from the root, made inert, its scanned source, and whether that is COBOL."""
    from penstock.cobol import scan
    from penstock.outline import language_of
    from penstock.scribe.gathering import read_whole

    looking, (path,) = rooted(root, (file,))
    with closing(looking):
        name, data = os.fsdecode(looking.relative(path)), read_whole(looking, path)
    source = scan(data, source_format=source_format)
    is_cobol = source_format is not None or _is_cobol(source, language_of(name, data))
    return escape.show_name(name), source, is_cobol


def _is_cobol(source: ScannedSource, language: str) -> bool:
    """Return whether there is COBOL in a file: any text has something that looks like a COBOL sentence."""
    if language == "cobol" or any(program.kind != "copybook" for program in source):
        return bool(source.programs)
    # A README that quotes a MOVE is not COBOL; a library member has no suffix, so its data or paragraphs decide.
    return language == "text" and any(
        program.copies or program.paragraphs or any(entry.level is not None for entry in program.entries)
        for program in source
    )


def _formats() -> Iterable[str]:
    """Return the reference formats of COBOL."""
    from penstock.cobol.program import Format

    return get_args(Format)


format_option = click.option(
    "--format",
    "source_format",
    type=options.LateChoice(_formats),
    help="The reference format, if the columns do not show it.",
)


@command("structure")
@click.argument("file", type=options.FILE)
@format_option
@options.root_option
def structure_command(file: str, source_format: Format | None, root: str, as_json: bool) -> int:
    """Show the structure of a COBOL FILE, by line.

    Lists programs, divisions, sections and paragraphs, and each PERFORM, GO TO, CALL and COPY. The exit status is 1 if the file
    contains no COBOL.

    Examples:
      penstock structure PAYROLL.cbl
        one line for each landmark, indented by nesting
      penstock structure PAYROLL.cbl --json
        the same with each PERFORM, GO TO, CALL and COPY, for a script
    """
    path, source, is_cobol = _source(root, file, source_format)
    value = {
        "path": path,
        **answer.fields_of(source, "format", "encoding", "lines"),
        "programs": [_program_json(program) for program in source] if is_cobol else [],
        "warnings": [warning._asdict() for warning in source.warnings],
    }
    answer.give(value, "\n".join(_landmarks(path, source, is_cobol=is_cobol)), as_json)
    return 0 if is_cobol else answer.NOTHING


def _program_json(program: Program) -> dict[str, Any]:
    """Return one program with the keys of contracts.md, and what else was found in it."""
    pick, lines = answer.fields_of, ("start_line", "end_line")
    named = [paragraph for paragraph in program.paragraphs if paragraph.name]
    unnamed = [paragraph for paragraph in program.paragraphs if not paragraph.name]
    return {
        **pick(program, "name", "kind", "parent", *lines),
        "divisions": [division._asdict() for division in program.divisions],
        "sections": [pick(section, "name", *lines) for section in program.sections],
        "paragraphs": [pick(paragraph, "name", "section", *lines) for paragraph in named],
        "unnamed": [pick(paragraph, "section", *lines) for paragraph in unnamed],
        "performs": [perform._asdict() for perform in program.performs],
        "gotos": [pick(goto, "line", "targets", "depending", "via") for goto in program.gotos],
        "calls": [call._asdict() for call in program.calls],
        "copies": [pick(copy, "line", "name", "via") for copy in program.copies],
        "execs": [pick(block, "line", "end_line", "kind") for block in program.execs],
    }


def _landmarks(path: str, source: ScannedSource, *, is_cobol: bool) -> list[str]:
    """Return a line for each landmark, for people."""
    told = [f"{escape.shorten(path)}: {counted(source.lines, 'line')}, {source.format} format, {source.encoding}"]
    if not is_cobol:
        return [*told, "It contains no COBOL."]
    for program in source:
        inside = f" in {program.parent}" if program.parent else ""
        told.append(
            f"{program.start_line:>7}-{program.end_line:<7}{program.kind} {program.name or '(unnamed)'}{inside}"
        )
        marks = [(d.start_line, 1, d.end_line, f"{d.name} DIVISION") for d in program.divisions]
        # Sections and paragraphs are within a division: sorted by line, then by depth, they are the program from top to bottom.
        marks += [(s.start_line, 2, s.end_line, f"{s.name} SECTION") for s in program.sections]
        marks += [
            (p.start_line, 3 if p.section else 2, p.end_line, p.name or "(before the first paragraph)")
            for p in program.paragraphs
        ]
        told += [f"{first:>7}-{last:<7}{'  ' * depth}{name}" for first, depth, last, name in sorted(marks)]
        told.append(
            f"        {len(program.performs)} PERFORM, {len(program.gotos)} GO TO, {len(program.calls)} CALL, "
            f"{len(program.copies)} COPY, {len(program.execs)} EXEC, {len(program.statements)} statements"
        )
    told += [f"line {one.line}: {escape.shorten(escape.show_argument(one.text))}" for one in source.warnings]
    return told


_budget_option = click.option(
    "--max-prompt-tokens",
    type=options.Whole(min=1),
    envvar="SCRIBE_MAX_PROMPT_TOKENS",
    show_envvar=True,
    metavar="N",
    help="Largest size of a whole prompt, in tokens [default: 15000].",
)
_tokenizer_option = click.option(
    "--tokenizer",
    metavar="NAME",
    help="The tokenizer to count with: a model or family (o200k, cl100k, claude, claude3), where --model does not determine it.",
)
_adaptive_option = click.option("--adaptive", is_flag=True, help="Make chunks smaller where the code branches more.")


@command("chunk")
@click.argument("file", type=options.FILE)
@click.option("--max-tokens", type=options.Whole(min=1), metavar="N", help="Largest size of a chunk's text, in tokens.")
@_budget_option
@click.option("--prompt", "prompt_id", metavar="ID", help="Print the prompt of one chunk exactly as it is sent.")
@click.option(
    "--copybooks", type=options.FILE, multiple=True, metavar="PATH", help="A folder or file of copybooks; repeatable."
)
@_adaptive_option
@_tokenizer_option
@format_option
@options.root_option
def chunk_command(file: str, prompt_id: str | None, root: str, as_json: bool, **about: Any) -> int:
    """Show the chunks in which a model would be given FILE.

    Each line is in exactly one chunk. COBOL is cut along its call graph to fit whole prompts; anything else is cut at its
    landmarks, to --max-tokens of text. The exit status is 7 if a chunk is over budget and cannot be cut; such a chunk is never
    sent.

    Examples:
      penstock chunk PAYROLL.cbl --max-prompt-tokens 8000
        the chunks, with their lines and the sizes of their prompts
      penstock chunk src/app.py --max-tokens 400
        the same for Python, by the size of the text
    """
    if prompt_id is not None and about["max_tokens"] is not None:
        raise CallerError("--max-tokens sizes bare text, which has no prompt: leave out one of the two.")
    path, made, prompt_of = _planned(root, file, **about)
    if prompt_id is not None:
        prompt = prompt_of(prompt_id)
        answer.give({"id": prompt_id, **prompt._asdict()}, "\n\n".join(prompt), as_json)
    else:
        answer.give({"file": path, **made.to_dict()}, "\n".join(_chunk_lines(path, made)), as_json)
    return 0 if all(one.fits for one in made.chunks) else answer.OVER_BUDGET


def _planned(
    root: str,
    file: str,
    *,
    max_tokens: int | None,
    max_prompt_tokens: int | None,
    copybooks: tuple[str, ...],
    adaptive: bool,
    tokenizer: str | None,
    source_format: Format | None,
) -> tuple[str, ChunkPlan, Callable[[str], Prompt]]:
    """Return the path from the root, made inert, the plan, and a function that returns the prompt of a chunk."""
    from penstock.chunk import ChunkPlan, chunk, plan
    from penstock.cobol.estate import kind_of
    from penstock.outline import language_of
    from penstock.scribe import MAX_PROMPT_TOKENS, says_anything, subjects
    from penstock.scribe.documenting import planned
    from penstock.scribe.gathering import gather, read_whole

    def no_prompt(chunk_id: str) -> Prompt:
        raise CallerError(f"{chunk_id} is bare text and has no prompt")

    looking, (path, *beside) = rooted(root, (file, *copybooks))
    with closing(looking):
        # The path as its bytes are: a name may be typed in the escaped form that listings show.
        path = os.fsdecode(looking.relative(path))
        shown = escape.show_name(path)
        data = read_whole(looking, path)
        language = language_of(path, data)
        one = None
        if language in {None, "cobol", "text"}:
            found = gather(looking, [path, *beside], kind_of)
            (one,) = subjects(found.files, [path], source_format)
    # Text without a language may be COBOL under a name that does not say so: the scanner decides.
    if one is None or (language != "cobol" and source_format is None and not says_anything(one)):
        if max_tokens is None:
            raise CallerError(
                f"{escape.shorten(shown)} is {language or 'text'}: give the size of its chunks with --max-tokens"
            )
        pieces = chunk(data, language or "text", max_tokens)
        lines = max((last for piece in pieces for _, last in piece.spans), default=0)
        return shown, ChunkPlan(lines=lines, budget_tokens=max_tokens, chunks=tuple(pieces)), no_prompt
    if max_tokens is not None:
        return shown, plan(one.source, source_tokens=max_tokens, adaptive=adaptive), no_prompt
    # The prompts are those of `document`, byte for byte: what is planned here is what would be sent.
    budget = max_prompt_tokens or MAX_PROMPT_TOKENS
    return shown, *planned(one, max_prompt_tokens=budget, adaptive=adaptive, tokenizer=tokenizer)


def _chunk_lines(path: str, made: ChunkPlan) -> list[str]:
    """Return a plan for people: a line for each chunk."""
    lines = [
        f"{escape.shorten(path)}: {made.lines} lines in {len(made.chunks)} chunks of at most {made.budget_tokens} tokens"
    ]
    if made.minimum_calls:  # only COBOL is planned for prompts and along its call graph
        lines[0] += f"; {made.minimum_calls} could do; {made.kept_edges} of {made.edges} PERFORMs within one chunk"
    for one in made.chunks:
        spans = ", ".join(f"{first}-{last}" for first, last in one.spans[:_MAX_SPANS])
        if len(one.spans) > _MAX_SPANS:
            spans += f" and {len(one.spans) - _MAX_SPANS} more"
        size = f"{one.prompt_tokens} in its prompt, {one.tokens} of source" if one.prompt_tokens else f"{one.tokens}"
        too_large = "" if one.fits else "  LARGER THAN THE BUDGET: it is one statement, and never sent"
        lines.append(f"{one.id}  {one.kind:<9} {size} tokens  lines {spans}{too_large}")
    return [*lines, *made.decisions]


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
@_budget_option
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
@_adaptive_option
@_tokenizer_option
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
