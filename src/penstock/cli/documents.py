"""What does a program say, in which pieces is it read, and what is written about it? `penstock structure`, `chunk`, `document`."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

import click

from penstock import inert
from penstock.cli import answer
from penstock.cobol.program import Format
from penstock.errors import CallerError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.chunk import ChunkPlan
    from penstock.cobol.program import Program, Source
    from penstock.scribe import Documented
    from penstock.scribe.pool import Progress
    from penstock.scribe.prompts import Prompt
    from penstock.workspace.root import Root

_MOST_SPANS = 6
_MINUTES_FROM = 120
_MOST_REASONS = 3


def _answering(as_json: bool, work: Callable[[], int]) -> int:
    try:
        return work()
    except ToolError as error:
        return answer.fail(error.code, error.message, None, answer.status_of(error.code), as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)


def _rooted(root: str, paths: tuple[str, ...]) -> tuple[Root, tuple[str, ...]]:
    """The root, and the paths beneath it. A person may name any file; without --root, what they name is where they may look."""
    from penstock.workspace.root import Root

    if root == ".":
        here = os.path.realpath(".")
        real = [os.path.realpath(path) for path in paths]
        if any(os.path.commonpath([here, path]) != here for path in real):
            root = os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in real])
            paths = tuple(os.path.relpath(path, root) for path in real)
    return Root(root), paths


def _source(root: str, file: str, source_format: Format | None) -> tuple[str, Source]:
    """A file's path from the root, and what it says."""
    from penstock.cobol import scan
    from penstock.scribe.gathering import read_whole

    looking, (path,) = _rooted(root, (file,))
    try:
        return path, scan(read_whole(looking, path), source_format=source_format)
    finally:
        looking.close()


_format_option = click.option(
    "--format",
    "source_format",
    type=click.Choice(get_args(Format)),
    help="The reference format, where the columns would say something else.",
)


@click.command("structure")
@click.argument("file")
@_format_option
@answer.root_option
def structure_command(file: str, source_format: Format | None, root: str, as_json: bool) -> int:
    """Say what a COBOL FILE consists of: programs, divisions, sections, paragraphs, and what calls what, by line."""

    def work() -> int:
        path, source = _source(root, file, source_format)
        if as_json:
            programs = [_structure(program) for program in source]
            warnings = [warning._asdict() for warning in source.warnings]
            value = {"path": path, "format": source.format, "encoding": source.encoding, "lines": source.lines}
            click.echo(json.dumps({**value, "programs": programs, "warnings": warnings}))
        else:
            click.echo("\n".join(_told(path, source)))
        return 0 if source.programs else answer.NOTHING

    return _answering(as_json, work)


def _structure(program: Program) -> dict[str, Any]:
    return {
        "name": program.name,
        "kind": program.kind,
        "parent": program.parent,
        "start_line": program.start_line,
        "end_line": program.end_line,
        "divisions": [division._asdict() for division in program.divisions],
        "sections": [
            {"name": section.name, "start_line": section.start_line, "end_line": section.end_line}
            for section in program.sections
        ],
        "paragraphs": [
            {
                "name": paragraph.name,
                "section": paragraph.section,
                "start_line": paragraph.start_line,
                "end_line": paragraph.end_line,
            }
            for paragraph in program.paragraphs
            if paragraph.name
        ],
        "unnamed": [
            {"section": paragraph.section, "start_line": paragraph.start_line, "end_line": paragraph.end_line}
            for paragraph in program.paragraphs
            if not paragraph.name
        ],
        "performs": [perform._asdict() for perform in program.performs],
        "gotos": [
            {"line": goto.line, "targets": list(goto.targets), "depending": goto.depending, "via": goto.via}
            for goto in program.gotos
        ],
        "calls": [call._asdict() for call in program.calls],
        "copies": [{"line": copy.line, "name": copy.name, "via": copy.via} for copy in program.copies],
        "execs": [{"line": exec_.line, "end_line": exec_.end_line, "kind": exec_.kind} for exec_ in program.execs],
    }


def _told(path: str, source: Source) -> list[str]:
    """The same for people: one line for each landmark."""
    told = [f"{inert.shorten(path)}: {source.lines} lines, {source.format} format, {source.encoding}"]
    for program in source:
        inside = f" in {program.parent}" if program.parent else ""
        told.append(
            f"{program.start_line:>7}-{program.end_line:<7}{program.kind} {program.name or '(unnamed)'}{inside}"
        )
        marks = [(d.start_line, 1, d.end_line, f"{d.name} DIVISION") for d in program.divisions]
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
    told += [f"line {line}: {inert.shorten(text)}" for line, text in source.warnings]
    if not source.programs:
        told.append("There is no COBOL in it.")
    return told


_budget_option = click.option(
    "--max-prompt-tokens",
    type=click.IntRange(min=1),
    envvar="SCRIBE_MAX_PROMPT_TOKENS",
    show_envvar=True,
    metavar="N",
    help="Every whole prompt has at most N tokens [default: 15000].",
)
_adaptive_option = click.option("--adaptive", is_flag=True, help="Smaller chunks where the code branches more.")


@click.command("chunk")
@click.argument("file")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), metavar="N", help="The text of each chunk has at most N tokens."
)
@_budget_option
@click.option("--prompt", "prompt_id", metavar="ID", help="Print the prompt of one chunk exactly as it is sent.")
@click.option("--copybooks", multiple=True, metavar="PATH", help="Where copybooks are; as often as you like.")
@_adaptive_option
@_format_option
@answer.root_option
def chunk_command(file: str, prompt_id: str | None, root: str, as_json: bool, **about: Any) -> int:
    """Say in which chunks FILE is read, without asking any model: each line in exactly one, none above the budget.

    COBOL is cut for whole prompts and along its call graph; any other language at its landmarks, for --max-tokens of text.
    """
    if prompt_id is not None and about["max_tokens"] is not None:
        raise click.UsageError("--max-tokens is for text alone, which is in no prompt: leave out one of the two.")

    def work() -> int:
        path, made, prompt_of = _planned(root, file, **about)
        if prompt_id is not None:
            prompt = prompt_of(prompt_id)
            click.echo(json.dumps({"id": prompt_id, **prompt._asdict()}) if as_json else "\n\n".join(prompt))
        elif as_json:
            click.echo(json.dumps({"file": path, **made.to_dict()}))
        else:
            click.echo("\n".join(_cut(path, made)))
        return 0

    return _answering(as_json, work)


def _planned(
    root: str,
    file: str,
    *,
    max_tokens: int | None,
    max_prompt_tokens: int | None,
    copybooks: tuple[str, ...],
    adaptive: bool,
    source_format: Format | None,
) -> tuple[str, ChunkPlan, Callable[[str], Prompt]]:
    """The path from the root, the plan, and what gives the prompt of a chunk."""
    from penstock.chunk import ChunkPlan, chunk, plan
    from penstock.cobol import scan
    from penstock.cobol.estate import kind_of
    from penstock.outline import language_of
    from penstock.scribe import MAX_PROMPT_TOKENS, subjects
    from penstock.scribe.documenting import planned
    from penstock.scribe.gathering import gather, read_whole

    def no_prompt(chunk_id: str) -> Prompt:
        raise CallerError(f"{chunk_id} is text alone: it is in no prompt")

    looking, (path, *beside) = _rooted(root, (file, *copybooks))
    try:
        data = read_whole(looking, path)
        language = language_of(path, data)
        if language not in {None, "cobol", "text"}:
            if max_tokens is None:
                raise CallerError(f"{path} is {language}: say how much text a chunk may have, with --max-tokens")
            pieces = chunk(data, language, max_tokens)
            lines = max((last for one in pieces for _, last in one.spans), default=0)
            return path, ChunkPlan(lines=lines, budget_tokens=max_tokens, chunks=tuple(pieces)), no_prompt
        found = gather(looking, [path, *beside], kind_of)
    finally:
        looking.close()
    if max_tokens is not None:
        source = scan(data, source_format=source_format)
        return path, plan(source, source_tokens=max_tokens, adaptive=adaptive), no_prompt
    (one,) = subjects(found.files, [path], source_format)
    return path, *planned(one, max_prompt_tokens=max_prompt_tokens or MAX_PROMPT_TOKENS, adaptive=adaptive)


def _cut(path: str, made: ChunkPlan) -> list[str]:
    """A plan for people: a line for each chunk."""
    head = (
        f"{inert.shorten(path)}: {made.lines} lines in {len(made.chunks)} chunks of at most {made.budget_tokens} tokens"
    )
    told = [f"{head}; {made.minimum_calls} could do; {made.kept_edges} of {made.edges} PERFORMs within one chunk"]
    for one in made.chunks:
        spans = ", ".join(f"{first}-{last}" for first, last in one.spans[:_MOST_SPANS])
        if len(one.spans) > _MOST_SPANS:
            spans += f" and {len(one.spans) - _MOST_SPANS} more"
        size = f"{one.prompt_tokens} in its prompt, {one.tokens} of source" if one.prompt_tokens else f"{one.tokens}"
        too_large = "" if one.fits else "  LARGER THAN THE BUDGET: it is one statement, and never sent"
        told.append(f"{one.id}  {one.kind:<9} {size} tokens  lines {spans}{too_large}")
    return [*told, *made.decisions]


@click.command("document")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--out", default="penstock-docs", show_default=True, metavar="DIR", help="Where the documents go.")
@click.option(
    "--model",
    "model_name",
    metavar="NAME",
    help="Who writes what the code does not say: openai-chat:NAME, openai-responses:NAME, anthropic:NAME or scripted:FILE. "
    "Without one the documents hold what the code says.",
)
@click.option("--base-url", metavar="URL", help="Where the model is served.")
@click.option("--window", type=click.IntRange(min=1_000), metavar="TOKENS", help="The model's context window.")
@_budget_option
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Chunks that are asked about at once [default: 4]."
)
@click.option("--fresh", is_flag=True, help="Ask again about everything.")
@click.option("--reconcile", is_flag=True, help="One more question a program: say once what several chunks said alike.")
@_adaptive_option
@_format_option
@answer.root_option
def document_command(
    paths: tuple[str, ...],
    out: str,
    model_name: str | None,
    base_url: str | None,
    window: int | None,
    max_prompt_tokens: int | None,
    jobs: int | None,
    fresh: bool,
    reconcile: bool,
    adaptive: bool,
    source_format: Format | None,
    root: str,
    as_json: bool,
) -> int:
    """Document the COBOL programs at and beneath PATH: Markdown, JSON and a site that opens from disk.

    Every citation of a model is checked against the source. Ctrl-C keeps what is there; the next run asks for what is missing.
    """

    def work() -> int:
        from penstock.models import load_model
        from penstock.scribe import JOBS, MAX_PROMPT_TOKENS, document

        if model_name == "local":
            raise CallerError(
                "local looks things up by rules and has no words for programs: name a provider's, or none"
            )
        model = load_model(model_name, base_url=base_url, window_tokens=window) if model_name is not None else None
        looking, beneath = _rooted(root, paths)
        try:
            done = document(
                beneath,
                root=looking,
                out=out,
                model=model,
                jobs=jobs or JOBS,
                max_prompt_tokens=max_prompt_tokens or MAX_PROMPT_TOKENS,
                adaptive=adaptive,
                reconcile=reconcile,
                fresh=fresh,
                source_format=source_format,
                step=answer.steps(),
                progress=None if as_json else _progress(),
            )
        finally:
            looking.close()
        answer.clear_progress()
        if as_json:
            click.echo(json.dumps({"out": out, **done.to_dict()}))
        else:
            click.echo("\n".join(_said(done, out, asked=model is not None)))
        if done.run.was_interrupted:
            return answer.INTERRUPTED
        if not done.programs and not done.copybooks:
            return answer.NOTHING
        return answer.PARTIAL if done.run.failed or done.skipped else 0

    return _answering(as_json, work)


def _progress() -> Callable[[Progress], None] | None:
    """A line of how far it is, for a person at a terminal."""
    if not sys.stderr.isatty():
        return None

    def tell(made: Progress) -> None:
        failed = f", {made.failed} failed" if made.failed else ""
        left = f", {_seconds(made.left_seconds)} left" if made.done else ""
        click.echo(f"\r\x1b[K{made.done} of {made.total} chunks{failed}{left}", nl=False, err=True)

    return tell


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < _MINUTES_FROM else f"{seconds / 60:.0f} min"


def _reasons(done: Documented) -> list[str]:
    """Why chunks failed, each reason once, the most frequent first."""
    reasons = Counter(
        failed["reason"] for told in done.programs.values() for failed in told["coverage"]["chunks_failed"]
    )
    return [inert.shorten(reason) for reason, _ in reasons.most_common(_MOST_REASONS)]


def _said(done: Documented, out: str, *, asked: bool) -> list[str]:
    """What came of it, and what to do next."""
    from penstock.scribe.pages.blocks import count

    said = []
    if done.programs:
        lines = sum(told["header"]["lines"] for told in done.programs.values())
        said.append(
            f"{count(len(done.programs), 'program')}, {count(lines, 'line')}; {count(len(done.copybooks), 'copybook')}, "
            f"{count(done.members, 'other file')}."
        )
        said.append(f"Open {os.path.join(out, 'index.html')} in a browser, or read {os.path.join(out, 'index.md')}.")
    elif done.copybooks:
        said.append(
            f"No program, {count(len(done.copybooks), 'copybook')}: what is in it stands in {os.path.join(out, 'copybooks')}. "
            "Name the folder of the programs too, to see who uses it."
        )
    else:
        files = done.others + done.members + len(done.empty) + len(done.skipped)
        said.append(f"There is no COBOL here, in {count(files, 'file')}. Name a program, or a folder that holds some.")
    run = done.run
    if asked:
        said.append(
            f"{count(run.calls, 'call')} for {count(run.chunks, 'chunk')}, {run.reused} answered before. Claims: "
            f"{run.accepted} accepted, {run.relocated} relocated, {run.rejected} rejected, {run.contradicted} against the code."
        )
    elif done.programs:
        said.append(
            f"What the code says is all there. Purpose, summaries and the words of rules need a model: --model NAME asks "
            f"about {count(run.chunks, 'chunk')}."
        )
    said += [f"Not read: {inert.shorten(one.path)}: {one.reason}" for one in done.skipped]
    said += [f"Nothing to document: {inert.shorten(one.path)}: {one.reason}" for one in done.empty]
    if run.was_interrupted:
        said.append("Stopped; what is done is kept. The same command goes on.")
    elif run.failed:
        said.append(
            f"{count(run.failed, 'chunk')} could not be described. The documents say which lines; the same command tries again."
        )
        said += [f"- {reason}" for reason in _reasons(done)]
    return said
