"""What did the provider refuse? `penstock diagnose`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.text import escape
from penstock.text.notices import duration

if TYPE_CHECKING:
    from penstock.overflow import Diagnosis, Overflow, RefusalRule

_HALF_BYTES = 1 << 20  # of a larger body only the head and the tail are read
_SHOWN_CHARS = 120  # of what is no file


@command("diagnose")
@click.argument("file", type=options.OWN_FILE, default="-", metavar="[FILE|-]")
@click.option("--status", type=int, metavar="N", help="The HTTP status of the error.")
@click.option(
    "--rules",
    "rules_file",
    type=options.OWN_FILE,
    metavar="FILE",
    help="A TOML file with [[rule]] tables, which take precedence.",
)
@options.json_option
def diagnose_command(file: str, status: int | None, rules_file: str | None, as_json: bool) -> int:
    """Explain why a provider refused a request, and how to recover.

    FILE, or standard input, holds the error as it arrived: a body, a stream event, a log line or a traceback. The exit status
    is 1 if nothing is recognised.

    Examples:
      penstock diagnose error.json --status 400
        the kind of the refusal, its numbers, and what to do
      echo "prompt is too long: 205000 tokens > 200000 maximum" | penstock diagnose
        the same for a line of a log
    """
    from penstock.overflow import diagnose

    found = diagnose(_read(file), status, rules=_rules(rules_file))
    answer.give(diagnosis_json(found), describe(found), as_json)
    return answer.NOTHING if found.kind == "unknown" else 0


def diagnosis_json(found: Diagnosis) -> dict[str, object]:
    """Return a diagnosis with the keys of contracts.md."""
    numbers = ("kind", "limit", "input", "output", "total", "excess", "bound", "unit", "severity")
    return {
        **answer.fields_of(found, "kind", "recovery"),
        "overflow": None if found.overflow is None else answer.fields_of(found.overflow, *numbers),
        "retry_after_seconds": found.retry_after_seconds,
    }


def describe(found: Diagnosis) -> str:
    """Return a diagnosis for people: one fact a line."""
    lines = [f"kind: {found.kind}", f"recovery: {found.recovery}"]
    if found.overflow is not None:
        lines += _numbers(found.overflow)
    if found.retry_after_seconds is not None:
        lines.append(f"retry after: {duration(found.retry_after_seconds)}")
    return "\n".join(lines)


def _numbers(overflow: Overflow) -> list[str]:
    """Return what the refusal stated, a line each; a number that is not exact says so."""
    hedge = {"approx": "about ", "lower_bound": "at least "}.get(overflow.bound, "")
    named = {
        "limit": ("", overflow.limit),
        "input": (hedge, overflow.input),
        "output": ("", overflow.output),
        "total": (hedge, overflow.total),
        "excess": (hedge, overflow.excess),
    }
    lines = [f"{name}: {word}{value} {overflow.unit}" for name, (word, value) in named.items() if value is not None]
    return [*lines, f"severity: {overflow.severity}"]


def _read(file: str) -> bytes:
    """Return the head and the tail of a file or of standard input: the refusal is in one of the two."""
    if file == "-":
        stream = sys.stdin.buffer
        # A log may be endless; nothing between the head and the tail is kept.
        head, tail = stream.read(_HALF_BYTES), b""
        while block := stream.read(_HALF_BYTES):
            tail = (tail + block)[-_HALF_BYTES:]
        return head + tail
    from penstock.errors import CallerError
    from penstock.workspace.own_files import open_own

    try:
        opened = open_own(file)
    except OSError as error:
        # Also a name that is too long for a file: a text has blanks, and hardly any saved error does.
        if not any(map(str.isspace, file)) or os.path.exists(file):
            raise
        name = escape.clip(file, _SHOWN_CHARS)
        said = f"There is no file or folder {name}. If that is the error itself, it belongs on standard input."
        raise CallerError(said) from FileNotFoundError(error.errno, error.strerror, file)
    with opened as stream:
        head = stream.read(_HALF_BYTES)
        size = os.fstat(stream.fileno()).st_size
        if size > 2 * _HALF_BYTES:
            stream.seek(size - _HALF_BYTES)
        return head + stream.read(_HALF_BYTES)


def _rules(file: str | None) -> tuple[RefusalRule, ...]:
    """Return the rules in the person's file; none if no file was given."""
    from penstock.overflow import read_rules
    from penstock.workspace.own_files import open_own

    if file is None:
        return ()
    with open_own(file) as stream:
        return read_rules(stream.read(_HALF_BYTES).decode("utf-8", "replace"))
