"""Is the code that was written small enough? `penstock check-code`."""

from __future__ import annotations

import codecs
import json
import os
import sys
from itertools import chain
from typing import TYPE_CHECKING

import click

from penstock.cli import answer
from penstock.errors import CallerError, ToolError
from penstock.generated import CAPS, KINDS, Report, measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.generated import Kind, Source
    from penstock.window import Encoding
    from penstock.workspace import Workspace
    from penstock.workspace.source import FileSource

_BLOCK_BYTES = 1 << 18


@click.command("check-code")
@click.argument("files", nargs=-1, required=True, metavar="FILE|-...")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="generation",
    show_default=True,
    help="The kind of work that the code was written for.",
)
@click.option(
    "--stdin-filename", default="", metavar="NAME", help="What standard input would be called: tells its language."
)
@answer.root_option
def check_code_command(files: tuple[str, ...], kind: Kind, stdin_filename: str, root: str, as_json: bool) -> int:
    """Hold generated code against the caps of its kind of work: lines in all, lines a class, lines a function.

    The files, or standard input (-), are one response. More than is advised is said; exit status 1 where a cap is passed.
    """
    from penstock.workspace import Workspace

    try:
        workspace = Workspace(root)
        sources = tuple(_of_input(stdin_filename) if file == "-" else _of_file(workspace, file) for file in files)
    except ToolError as error:
        return answer.fail(error.code, error.message, None, answer.status_of(error.code), as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)
    report = Report(kind=kind, sources=sources)
    click.echo(json.dumps(_as_object(report)) if as_json else str(report))
    return 0 if report.is_within else answer.NOTHING


def _of_file(workspace: Workspace, path: str) -> Source:
    from penstock.outline import language_of
    from penstock.workspace import texts

    with texts.open_text(workspace.root, path) as text:
        blocks = _blocks(text.source)
        head = next(blocks, b"")
        name = os.fsdecode(os.path.basename(text.source.file.relative))
        return measured(_decoded(chain([head], blocks), text.encoding), language_of(name, head), text.path)


def _of_input(name: str) -> Source:
    from penstock import window
    from penstock.outline import language_of

    blocks = iter(lambda: sys.stdin.buffer.read(_BLOCK_BYTES), b"")
    head = next(blocks, b"")
    encoding = window.detect(head)
    if encoding is None:
        raise ToolError("binary", f"Standard input is binary ({window.kind_of(head)}): it holds no code.")
    return measured(_decoded(chain([head], blocks), encoding), language_of(name, head), name or "-")


def _blocks(source: FileSource) -> Iterator[bytes]:
    at = 0
    while block := source.read(at, _BLOCK_BYTES):
        at += len(block)
        yield block


def _decoded(blocks: Iterator[bytes], encoding: Encoding) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding.codec)("replace")
    for block in blocks:
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


def _as_object(report: Report) -> dict[str, object]:
    """A report for scripts; lines are 1-based and inclusive."""
    caps = CAPS[report.kind]
    return {
        "kind": report.kind,
        "lines": report.lines,
        "advised_lines": list(caps.advised_lines),
        "most_lines": caps.most_lines,
        "level": report.level,
        "is_within": report.is_within,
        "files": [
            {
                "path": source.name,
                "language": source.language,
                "method": source.method,
                "lines": source.lines,
                "error": source.error or None,
                "complete": source.is_complete,
                "oversized": [
                    {
                        "kind": found.kind,
                        "name": found.name,
                        "start_line": found.first_line,
                        "end_line": found.last_line,
                        "lines": found.lines,
                        "most_lines": found.most_lines,
                    }
                    for found in source.oversized
                ],
            }
            for source in report.sources
        ],
    }
