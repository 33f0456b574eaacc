"""What does a program say, in which pieces is it read, and what is written about it? `penstock structure`, `chunk`, `document`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, get_args

import click

from penstock import inert
from penstock.cli import answer
from penstock.cobol.program import Format
from penstock.errors import CallerError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.cobol.program import Program, Source
    from penstock.workspace.root import Root


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
