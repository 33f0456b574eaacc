"""How is an answer printed? As text for people, as one JSON object for scripts, with an exit status for both.

Law: under --json standard output holds one object and nothing else. Keeps out: which call is made.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from penstock import inert
from penstock.calls import CommandLine
from penstock.errors import CallerError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.calls import Call
    from penstock.page import Page
    from penstock.tools import Tools
    from penstock.window import Window
    from penstock.workspace.reading import OutlinePage

NOTHING, USAGE, REFUSED, MISSING, STALE, PARTIAL, OVER_BUDGET, FAULT, INTERRUPTED = 1, 2, 3, 4, 5, 6, 7, 8, 130
_STATUS = {
    "bad_argument": USAGE,
    "bad_pattern": USAGE,
    "not_found": MISSING,
    "expired": MISSING,
    "stale": STALE,
    "deadline": PARTIAL,
    "busy": PARTIAL,
    "io_error": FAULT,
}
_OUTCOMES = {"done": 0, "nothing": NOTHING, "partial": PARTIAL}


def root_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--root` and `--json`, which every command over files takes."""
    function = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")(function)
    return click.option(
        "--root",
        default=".",
        metavar="DIR",
        show_default=True,
        help="The folder that paths are relative to and stay beneath.",
    )(function)


def give(
    root: str,
    tool: str,
    arguments: dict[str, object],
    as_json: bool,
    to_json: Callable[[Tools, dict[str, object], CommandLine], tuple[dict[str, object], str]],
) -> int:
    """Makes one call and prints its answer; the exit status. `to_json` gives the object and its outcome."""
    from penstock import settings
    from penstock.tools import TOOLS, Tools, check

    dialect = CommandLine(None if root == "." else root)
    try:
        workspace, chosen = settings.open_workspace(root)
        tools = Tools(
            workspace,
            dialect=dialect,
            read_seconds=chosen.read_seconds,
            walk_seconds=chosen.walk_seconds,
            progress=progress("files"),
        )
        if not as_json:
            result = tools.call(tool, arguments)
            clear_progress()
            if result.is_error:
                click.echo(f"penstock: {result.text}", err=True)
                return status_of(result.code or "")
            _print(result.text)
            return _OUTCOMES[result.outcome]
        checked = check(next(entry for entry in TOOLS if entry.name == tool), arguments)
        value, outcome = to_json(tools, checked, dialect)
        clear_progress()
    except ToolError as error:
        ways = " or ".join(dialect.write(call) for call in error.calls) or None
        return fail(error.code, error.message, ways, status_of(error.code), as_json=as_json)
    except CallerError as error:
        return fail("usage", str(error), None, USAGE, as_json=as_json)
    import json

    _print(json.dumps(value))
    return _OUTCOMES[outcome]


def status_of(code: str) -> int:
    """The exit status for the code of a `ToolError`."""
    return _STATUS.get(code, REFUSED)


def fail(code: str, message: str, way: str | None, status: int, *, as_json: bool) -> int:
    """An error as the face asks for it; `way` is the call that would work."""
    if as_json:
        import json

        click.echo(json.dumps({"error": {"code": code, "message": message, "try": way}}))
    else:
        click.echo(f"penstock: {message}" + (f" Try: {way}" if way else ""), err=True)
    return status


def _print(text: str) -> None:
    """On a terminal the first line, which is ours, stands out; elsewhere the text is as it is."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        head, newline, body = text.partition("\n")
        text = click.style(head, dim=True) + newline + body
    click.echo(text, nl=not text.endswith("\n"))


def quiet_pipe() -> int:
    """The reader of our output has gone, as `head` does: nothing is wrong and nothing more can be said."""
    from penstock.workspace.root import discard_output

    discard_output()
    return 0


def progress(what: str) -> Callable[[int], None] | None:
    """Tells a person at a terminal how far a long walk is; None where nobody looks."""
    tell = steps()
    return None if tell is None else lambda count: tell(what, count, 0)


def steps() -> Callable[[str, int, int], None] | None:
    """Tells a person at a terminal what is being done and how far that is (of 0: nobody knows); None where nobody looks."""
    if not sys.stderr.isatty():
        return None
    from time import monotonic

    started = last = monotonic()

    def tell(what: str, done: int, total: int) -> None:
        nonlocal last
        now = monotonic()
        if now - started > 1 and now - last > 0.2:
            last = now
            click.echo(f"\r\x1b[K{f'{what}: {done} of {total}' if total else f'{done} {what}'} …", nl=False, err=True)

    return tell


def clear_progress() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)


# ── values as JSON ───────────────────────────────────────────────────────────────────────────────────────────────


def following(call: Call | None) -> dict[str, object] | None:
    """The arguments of the next call."""
    return None if call is None else dict(call.arguments)


def page_json(page: Window | OutlinePage) -> dict[str, object]:
    """A page of a file with the keys of contracts.md. Text is inert; line ends are those of the file."""
    from penstock.window import Window

    if not isinstance(page, Window):
        return outline_json(page)
    parts = [inert.show(part) for part in page.text.split("\r\n")]
    text = "\r\n".join(part for part, _ in parts)
    value: dict[str, object] = {
        "path": page.path,
        "text": text,
        "start_line": page.first_line,
        "end_line": page.last_line,
        "total_lines": page.total_lines,
        "total_lines_exact": page.total_lines_exact,
        "start_byte": page.start_byte,
        "end_byte": page.end_byte,
        "total_bytes": page.total_bytes,
        "fragment": None,
        "escaped": sum(count for _, count in parts) + page.invalid_bytes,
        "encoding": page.encoding,
        "version": page.version,
        "stale": False,
        "bound": page.bound,
        "next": following(page.next),
        "previous": following(page.previous),
        "notices": list(page.notices),
    }
    if page.fragment is not None:
        value["fragment"] = {
            "line_start_byte": page.fragment.line_start_byte,
            "line_end_byte": page.fragment.line_end_byte,
        }
    clipped = [
        {"line": line.number, "hidden_bytes": line.hidden_bytes, "start_byte": line.start_byte + line.shown_bytes}
        for line in page.lines
        if line.hidden_bytes
    ]
    if clipped:
        value["clipped"] = clipped
    return value


def outline_json(outline: OutlinePage) -> dict[str, object]:
    """A page of landmarks: the keys of a page where they apply, and the entries."""
    from penstock import notices

    page: Page[Any] = outline.page
    entries = [notices.outline_entry(s.start_line, s.end_line, s.depth, s.name) for s in page.items]
    return {
        "path": outline.path,
        "text": "\n".join(entries),
        "items": [
            {
                "name": inert.show(symbol.name)[0],
                "kind": symbol.kind,
                "start_line": symbol.start_line,
                "end_line": symbol.end_line,
                "depth": symbol.depth,
            }
            for symbol in page.items
        ],
        "offset": page.offset,
        "total": page.total,
        "language": outline.language,
        "method": outline.method,
        "complete": outline.complete,
        "total_lines": outline.total_lines,
        "total_lines_exact": outline.complete,
        "total_bytes": outline.total_bytes,
        "version": outline.version,
        "next": following(outline.next),
        "notices": [],
    }
