"""Is the code that was written small enough? `penstock check-code`."""

from __future__ import annotations

import codecs
import os
import sys
from itertools import chain
from typing import TYPE_CHECKING

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.session.generated_code import Kind, MeasuredCode, Report
    from penstock.text.window import Encoding
    from penstock.workspace import Workspace

_BLOCK_BYTES = 1 << 18
# Those of `generated_code`, which takes as long to load as all of click.
_KINDS = ("analysis", "generation", "refactoring")


@command("check-code")
@click.argument("files", type=options.FILE, nargs=-1, required=True, metavar="FILE|-...")
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    default="generation",
    show_default=True,
    help="The kind of work that the code was written for.",
)
@click.option(
    "--stdin-filename",
    default="",
    metavar="NAME",
    help="The file name of standard input, which determines its language.",
)
@options.root_option
def check_code_command(files: tuple[str, ...], kind: Kind, stdin_filename: str, root: str, as_json: bool) -> int:
    """Check that generated code is small enough for its kind of work.

    There are limits on the total lines, the lines of a class and the lines of a function. The files, or standard input (-), are
    treated as one response. Exceeding the advised size prints a warning; exceeding a limit sets exit status 1.

    Examples:
      penstock check-code src/app.py
        whether a class or a function of the file is too long
      penstock check-code - --stdin-filename new.py --kind refactoring < src/app.py
        code before it is saved, held to the limits for a refactoring
    """
    from penstock.session.generated_code import Report
    from penstock.settings import allows_secrets
    from penstock.workspace import Workspace

    workspace = Workspace(root, allow_secrets=allows_secrets())
    sources = tuple(
        _measured_input(stdin_filename) if file == "-" else _measured_file(workspace, file) for file in files
    )
    report = Report(kind=kind, sources=sources)
    answer.give(_report_json(report), str(report), as_json)
    return 0 if report.is_within else answer.NOTHING


def _measured_file(workspace: Workspace, path: str) -> MeasuredCode:
    """Measure a file beneath the root."""
    from penstock.workspace import texts

    with texts.open_text(workspace.root, path) as text:
        name = os.fsdecode(os.path.basename(text.source.file.relative))
        return _measured(text.source.blocks(_BLOCK_BYTES), text.encoding, name, text.path)


def _measured_input(name: str) -> MeasuredCode:
    """Measure standard input. Raises `ToolError` if it is not text."""
    from penstock.text import window

    blocks = iter(lambda: sys.stdin.buffer.read(_BLOCK_BYTES), b"")
    head = next(blocks, b"")
    # The first block determines the encoding and, without a name, the language: it is read once and put back in front.
    encoding = window.detect(head)
    if encoding is None:
        raise ToolError("binary", f"Standard input is binary ({window.kind_of(head)}): it contains no code.")
    return _measured(chain([head], blocks), encoding, name, name or "-")


def _measured(blocks: Iterable[bytes], encoding: Encoding, name: str, shown: str) -> MeasuredCode:
    """Measure code that comes in blocks; its language is determined by its name, or by its first block."""
    from penstock.outline import language_of
    from penstock.session.generated_code import measured

    blocks = iter(blocks)
    head = next(blocks, b"")
    # A character may be cut between two blocks: the decoder keeps the first half until the second comes.
    decoded = codecs.iterdecode(chain([head], blocks), encoding.codec, "replace")
    return measured(decoded, language_of(name, head), shown)


def _report_json(report: Report) -> dict[str, object]:
    """Return a report for scripts; lines are 1-based and inclusive."""
    from penstock.session.generated_code import CAPS

    caps = CAPS[report.kind]
    return {
        **answer.fields_of(report, "kind", "lines", "level", "is_within"),
        "advised_lines": list(caps.advised_lines),
        "max_lines": caps.max_lines,
        "files": [
            {
                "path": source.name,
                **answer.fields_of(source, "language", "method", "lines"),
                "error": source.error or None,
                "complete": source.is_complete,
                "oversized": [
                    {
                        **answer.fields_of(found, "kind", "name", "lines", "max_lines"),
                        "start_line": found.first_line,
                        "end_line": found.last_line,
                    }
                    for found in source.oversized
                ],
            }
            for source in report.sources
        ],
    }
