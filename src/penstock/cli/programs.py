"""What does a program say, and how is it cut up? `penstock structure` and `chunk`; and the options of every command about programs.

Leaves to others: what is documented about programs (`documents`).
"""

from __future__ import annotations

import errno
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.errors import CallerError
from penstock.text import escape
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.chunk import ChunkPlan
    from penstock.cobol.program import Format, Program
    from penstock.cobol.source import ScannedSource
    from penstock.scribe.prompts import Prompt
    from penstock.workspace.root import Root

_MAX_SPANS = 6  # of a chunk in one line


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
                _expect_there(path)
            try:
                root = os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in real])
            except ValueError as error:  # two drives of Windows
                raise CallerError(f"no folder contains all of what was named ({error}): name one --root") from None
            paths = tuple(os.path.relpath(path, root) for path in real)
    return Root(root, allow_secrets=allows_secrets()), paths


def _expect_there(path: str) -> None:
    """Raise a FileNotFoundError if there is nothing of a name as it was typed, nor as listings show it.

    Whatever else is wrong is reported by who opens it.
    """
    for name in (os.fsencode(path), escape.parse_name(path)):
        try:
            os.stat(name)
        except (FileNotFoundError, NotADirectoryError, ValueError):  # no name holds a NUL
            continue
        except OSError:
            pass
        return
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


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


budget_option = click.option(
    "--max-prompt-tokens",
    type=options.Whole(min=1),
    envvar="SCRIBE_MAX_PROMPT_TOKENS",
    show_envvar=True,
    metavar="N",
    help="Largest size of a whole prompt, in tokens [default: 15000].",
)
"""The option for the size of a prompt."""
tokenizer_option = click.option(
    "--tokenizer",
    metavar="NAME",
    help="The tokenizer to count with: a model or family (o200k, cl100k, claude, claude3), where --model does not determine it.",
)
"""The option for the tokenizer by which prompts are counted."""
adaptive_option = click.option("--adaptive", is_flag=True, help="Make chunks smaller where the code branches more.")
"""The option for chunks whose size follows the code's complexity."""


@command("chunk")
@click.argument("file", type=options.FILE)
@click.option("--max-tokens", type=options.Whole(min=1), metavar="N", help="Largest size of a chunk's text, in tokens.")
@budget_option
@click.option("--prompt", "prompt_id", metavar="ID", help="Print the prompt of one chunk exactly as it is sent.")
@click.option(
    "--copybooks", type=options.FILE, multiple=True, metavar="PATH", help="A folder or file of copybooks; repeatable."
)
@adaptive_option
@tokenizer_option
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
