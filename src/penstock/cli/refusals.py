"""What did the provider refuse? `penstock diagnose`."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from penstock.cli import answer
from penstock.errors import CallerError

if TYPE_CHECKING:
    from penstock.overflow import Diagnosis, Overflow, Rule

_HALF_BYTES = 1 << 20  # of a larger body the head and the tail are read


@click.command("diagnose")
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option("--status", type=int, metavar="N", help="The HTTP status that came with it.")
@click.option("--rules", "rules_file", metavar="FILE", help="TOML with [[rule]] tables that come first.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def diagnose_command(file: str, status: int | None, rules_file: str | None, as_json: bool) -> int:
    """Name what a provider refused, and what cures it.

    FILE, or standard input, holds the error as it came: a body, a stream event, a log line or a traceback.
    Exit status 1 where nothing is recognised.
    """
    from penstock.overflow import diagnose

    try:
        found = diagnose(_read(file), status, rules=_rules(rules_file))
    except FileNotFoundError as error:
        return answer.fail("not_found", f"There is no file {error.filename!r}.", None, answer.MISSING, as_json=as_json)
    except OSError as error:
        message = f"{error.filename or file}: {error.strerror}"
        return answer.fail("io_error", message, None, answer.FAULT, as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)
    click.echo(json.dumps(as_object(found)) if as_json else in_words(found))
    return answer.NOTHING if found.kind == "unknown" else 0


def as_object(found: Diagnosis) -> dict[str, object]:
    """A diagnosis with the keys of contracts.md."""
    overflow = found.overflow
    return {
        "kind": found.kind,
        "recovery": found.recovery,
        "overflow": None
        if overflow is None
        else {
            "kind": overflow.kind,
            "limit": overflow.limit,
            "input": overflow.input,
            "output": overflow.output,
            "total": overflow.total,
            "excess": overflow.excess,
            "bound": overflow.bound,
            "unit": overflow.unit,
            "severity": overflow.severity,
        },
        "retry_after_seconds": found.retry_after_seconds,
    }


def in_words(found: Diagnosis) -> str:
    """The same for people: one fact a line."""
    lines = [f"kind: {found.kind}", f"recovery: {found.recovery}"]
    if found.overflow is not None:
        lines += _numbers(found.overflow)
    if found.retry_after_seconds is not None:
        lines.append(f"retry after: {found.retry_after_seconds:g} s")
    return "\n".join(lines)


def _numbers(overflow: Overflow) -> list[str]:
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
    if file == "-":
        stream = sys.stdin.buffer
        head, tail = stream.read(_HALF_BYTES), b""
        while block := stream.read(_HALF_BYTES):
            tail = (tail + block)[-_HALF_BYTES:]
        return head + tail
    from penstock.workspace.root import open_own

    with open_own(file) as stream:
        head = stream.read(_HALF_BYTES)
        size = os.fstat(stream.fileno()).st_size
        if size > 2 * _HALF_BYTES:
            stream.seek(size - _HALF_BYTES)
        return head + stream.read(_HALF_BYTES)


def _rules(file: str | None) -> tuple[Rule, ...]:
    from penstock.overflow import read_rules
    from penstock.workspace.root import open_own

    if file is None:
        return ()
    with open_own(file) as stream:
        return read_rules(stream.read(_HALF_BYTES).decode("utf-8", "replace"))
