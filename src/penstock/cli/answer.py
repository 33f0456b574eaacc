"""How is an answer printed? As text for people, as one JSON object for scripts, with an exit status for both.

Law: under `--json` standard output holds one object and nothing else. Leaves to others: which call is made, and drawing on a
terminal (`terminal`).
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import terminal
from penstock.errors import CallerError, ToolError
from penstock.text import escape
from penstock.text.calls import Call, CommandLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from penstock.text.calls import Dialect
    from penstock.text.page import Page
    from penstock.text.window import Window
    from penstock.tools import Tools
    from penstock.workspace.reading import OutlinePage

# The exit statuses of contracts.md. 0 is an answer; 1 is "nothing found", as for grep, so that a script can test it.
NOTHING, USAGE, REFUSED, MISSING, STALE, PARTIAL, OVER_BUDGET, FAULT, INTERRUPTED = 1, 2, 3, 4, 5, 6, 7, 8, 130
PROTOCOL_ONLY = (
    "--json prints the address it serves on, so give --http too: without it, standard output carries the protocol."
)
"""The error when a server on standard input and output is given `--json`."""
_MISUSE_BYTES = 1_000  # click repeats whatever was typed
# By the code of a `ToolError`. A code not listed here is 3, refused: outside the root, binary, a secret, not a regular file.
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


def dialect_of(
    root: str | None = None, store_url: str | None = None, budget: int | None = None, queue_url: str | None = None
) -> Dialect:
    """Return how calls are written so that they work where this one was typed: with its root, its store, its budget, its queue."""
    if queue_url == os.environ.get("PENSTOCK_QUEUE"):
        queue_url = None
    return CommandLine(None if root in {None, "."} else root, store_url, budget=budget, queue=queue_url)


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def answer_tool(
    root: str,
    tool: str,
    arguments: dict[str, object],
    as_json: bool,
    to_json: Callable[[Tools, dict[str, object]], tuple[dict[str, object], str]],
) -> int:
    """Call one tool over the files beneath `root`, and print its answer.

    Args:
        root: The folder, as it was typed.
        tool: The name of the tool in `penstock.tools`.
        arguments: Those that were typed; for missing ones the tool's own default applies.
        as_json: Whether one object is printed instead of the tool's text.
        to_json: Makes the object and its outcome (`done`, `nothing`, `partial`) from the arguments as they were checked.

    Returns:
        The exit status.

    Raises:
        ToolError: The call cannot be answered, and `as_json` is set: without it the tool has already put the error into words.
        CallerError: The root or a setting is invalid.
    """
    from penstock import settings
    from penstock.tools import TOOLS, Tools, check
    from penstock.tools.instead import with_way

    # Settings come from the root's own penstock.toml: a command behaves there as it does for an agent.
    workspace, chosen = settings.open_workspace(root, tell=terminal.warn)
    with terminal.ProgressLine() as progress:
        tools = Tools(
            workspace,
            dialect=dialect_of(root),
            read_seconds=chosen.read_seconds,
            walk_seconds=chosen.walk_seconds,
            progress=progress.count_of("files"),
        )
        if as_json:
            entry = next(entry for entry in TOOLS if entry.name == tool)
            checked = check(entry, arguments)
            try:
                value, outcome = to_json(tools, checked)
            except ToolError as error:
                raise with_way(error, entry, checked) from None
        else:
            result = tools.call(tool, arguments)
    if as_json:
        print_json(value)
        return _OUTCOMES[outcome]
    # The tool has put its error into words with the calls that work; it is printed as it is, for people as for models.
    if result.is_error:
        click.echo(f"penstock: {result.text}", err=True)
        return _status_of(result.code or "")
    _print_result(result.text)
    return _OUTCOMES[result.outcome]


def give(value: object, text: str, as_json: bool) -> None:
    """Print an answer that has both forms: `value` for scripts, `text` for people."""
    if as_json:
        print_json(value)
    else:
        click.echo(text)


def print_json(value: object) -> None:
    """Print one value on one line of JSON."""
    import json

    click.echo(json.dumps(value))


def _print_result(text: str) -> None:
    """Print a result of a tool; on a terminal the first line, which is ours, is set off from the file's text."""
    if terminal.is_coloured(sys.stdout):
        head, newline, body = text.partition("\n")
        text = click.style(head, dim=True) + newline + body
    click.echo(text, nl=not text.endswith("\n"))


def print_url(url: str) -> None:
    """Print the address of a server, for a script.

    Args:
        url: its address.
    """
    print_json({"url": url})


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────


def report(error: Exception, about: Mapping[str, Any], command: str = "penstock") -> int:
    """Print what a command raised.

    Args:
        error: A `PenstockError` or an `OSError`.
        about: The parameters of the command: whether `as_json`, or which `output_format`, and the `root` and `store_url` that a
            next call repeats.
        command: The command as it is typed; its help is suggested if nothing more specific is known.

    Returns:
        The exit status: by the code of a `ToolError`, 2 for a mistake of the caller, 8 for a fault of the disk or the store.
    """
    output_format = "json" if about.get("as_json") else about.get("output_format") or "text"
    return fail(*_explained(error, about, f"{command} --help"), output_format=output_format)


def _explained(error: Exception, about: Mapping[str, Any], usual: str) -> tuple[str, str, str | None, int]:
    """Return an error as `fail` takes it: its code, its message, the command that would work, and the exit status.

    Args:
        error: A `PenstockError` or an `OSError`.
        about: The parameters of the command.
        usual: The command that is named where the error names none.
    """
    from penstock.workspace.own_files import IrregularFileError

    match error:
        case ToolError():
            status = _status_of(error.code)
            way = _way(error.calls, about) or (usual if status in {USAGE, MISSING} else None)
            return error.code, error.message, way, status
        case CallerError(__cause__=FileNotFoundError()):  # a root or a script: what was named does not exist
            return "not_found", str(error), usual, MISSING
        case CallerError(__cause__=IsADirectoryError()):
            return "is_directory", str(error), usual, REFUSED
        case IrregularFileError() | CallerError(__cause__=IrregularFileError()):
            return "not_regular_file", str(error), usual, REFUSED
        # Nobody's mistake.
        case CallerError(
            __cause__=OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EROFS | errno.EIO) | ToolError(code="io_error")
        ):
            return "io_error", str(error), usual, FAULT
        case CallerError():
            return "usage", str(error), usual, USAGE
        case FileNotFoundError(filename=str(name)):
            return "not_found", f"There is no file or folder {escape.show_argument(name)}.", usual, MISSING
        case OSError():
            # An error on a descriptor carries its number instead of a name: the person named the file. Only a file being written
            # can be full: if the error has no name, the file that was read is not to blame.
            full = error.errno in {errno.ENOSPC, errno.EDQUOT}
            named = error.filename if isinstance(error.filename, str) or full else about.get("file")
            if isinstance(error, IsADirectoryError):
                return "is_directory", f"{named} is a folder, not a file.", usual, REFUSED
            # Errors that we raise ourselves have no number, and contain the name.
            message = ": ".join(filter(None, (named, error.strerror))) if error.strerror else str(error)
            return "io_error", message, None if full else usual, FAULT
        case _:  # a store fault: it has its own code
            code = getattr(error, "code", "ended")
            # No help makes room on a disk, or ends another process's write.
            way = _way(getattr(error, "calls", ()), about) or (None if code in {"disk_full", "busy"} else usual)
            return code, str(error), way, FAULT


def _way(calls: Iterable[Call], about: Mapping[str, Any]) -> str | None:
    """Return the commands that an error names; if it names none but a session was given, the command that shows the session."""
    dialect = dialect_of(about.get("root"), about.get("store_url"), queue_url=about.get("queue_url"))
    if not calls and (session := about.get("session_id")) is not None:
        calls = (Call("show", {"session_id": session}),)
    return " or ".join(map(dialect.write, calls)) or None


def fail(
    code: str, message: str, way: str | None, status: int, *, as_json: bool = False, output_format: str = "text"
) -> int:
    """Print an error in the form of contracts.md, and return `status`.

    Args:
        code: What kind of error it is.
        message: What happened, in words.
        way: The command that would work; None if there is none.
        status: The exit status.
        as_json: Whether it is one object on standard output.
        output_format: One of `watching.FORMATS`: an event in `stream-json`, one object in `json`.
    """
    if as_json or output_format == "json":
        print_json({"error": {"code": code, "message": message, "try": way}})
    elif output_format == "stream-json":
        print_json({"type": "error", "kind": code, "message": message, "try": way})
    else:
        click.echo(f"penstock: {message}" if way is None else f"penstock: {_sentence(message)} Try: {way}", err=True)
    return status


_FLAGS_ELSEWHERE = {
    "--cwd": ("--root",),
    "--dir": ("--root",),
    "--max-tokens": ("--tokens",),
    "--output": ("--out", "--html"),
    "--port": ("--listen", "--http"),
}
"""What other programs call a flag: where a command has one of ours, the ones that are merely spelled alike are not meant."""


def misuse(error: click.ClickException) -> str:
    """Return click's message about a mistyped line as one line that ends as a sentence does; click lists choices one a line."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        own = {option for param in error.ctx.command.params for option in param.opts}
        if meant := [flag for flag in _FLAGS_ELSEWHERE.get(error.option_name, ()) if flag in own]:
            return f"{error.message} Did you mean '{meant[0]}'?"
    return _sentence(escape.shorten(escape.show(" ".join(error.format_message().split()))[0], _MISUSE_BYTES))


_LISTED_BY = {"session_id": "penstock sessions", "session_ids": "penstock sessions", "handle": "penstock store list"}
"""The command that lists what an argument names."""


def way_out(error: click.ClickException) -> str | None:
    """Return the command that helps with a mistyped line; None if there is none."""
    ctx, param = getattr(error, "ctx", None), getattr(error, "param", None)
    if isinstance(error, click.MissingParameter) and param is not None and param.name in _LISTED_BY:
        return _LISTED_BY[param.name]
    if isinstance(error, click.NoSuchOption) and not error.possibilities and ctx is not None and ctx.parent is None:
        return f"penstock COMMAND {escape.clip(error.option_name)}, as flags follow the command"
    return getattr(error, "way", None) or (f"{ctx.command_path} --help" if ctx is not None else None)


def _sentence(said: str) -> str:
    """Return words that end as a sentence does."""
    return said if said.endswith((".", "?", "?)")) else f"{said}."


def _status_of(code: str) -> int:
    """Return the exit status for the code of a `ToolError`; unlisted codes are refusals."""
    return _STATUS.get(code, REFUSED)


def quiet_pipe() -> int:
    """End silently: the reader of our output has gone, as `head` does, and nothing is wrong."""
    from penstock.workspace.own_files import discard_output

    discard_output()
    return 0


# ── values as JSON ───────────────────────────────────────────────────────────────────────────────────────────────


def fields_of(value: object, *names: str) -> dict[str, Any]:
    """Return those attributes of a value by their names, so that names shared by JSON and code are written once."""
    return {name: getattr(value, name) for name in names}


def next_json(call: Call | None) -> dict[str, object] | None:
    """Return the arguments of the next call; None if there is none."""
    return None if call is None else dict(call.arguments)


def page_json(page: Window | OutlinePage) -> dict[str, object]:
    """Return a page of a file with the keys of contracts.md. Text is escaped; line ends are those of the file."""
    from penstock.text import notices
    from penstock.text.window import Window

    if not isinstance(page, Window):
        return outline_json(page)
    # `escape.show` turns "\r\n" into one line feed; scripts get the bytes that the file has.
    parts = [escape.show(part) for part in page.text.split("\r\n")]
    past_the_end = page.first_line == 0 and page.previous is not None
    value: dict[str, object] = {
        "path": page.path,
        "text": "\r\n".join(part for part, _ in parts),
        "start_line": page.first_line,
        "end_line": page.last_line,
        **fields_of(page, "total_lines", "total_lines_exact", "start_byte", "end_byte", "total_bytes"),
        "fragment": None if page.fragment is None else fields_of(page.fragment, "line_start_byte", "line_end_byte"),
        "escaped": sum(count for _, count in parts) + page.invalid_bytes,
        **fields_of(page, "encoding", "version", "bound"),
        "stale": False,  # a stale page is an error, never shown
        "next": next_json(page.next),
        "previous": next_json(page.previous),
        "notices": [*page.notices, *([notices.past_the_end(page.total_lines or 0)] if past_the_end else [])],
    }
    clipped = [
        {"line": line.number, "hidden_bytes": line.hidden_bytes, "start_byte": line.start_byte + line.shown_bytes}
        for line in page.lines
        if line.hidden_bytes
    ]
    return {**value, "clipped": clipped} if clipped else value


def outline_json(outline: OutlinePage) -> dict[str, object]:
    """Return a page of landmarks: the keys of a page that apply, and the landmarks as `items`."""
    from penstock.tools.pages import outline_entry

    page: Page[Any] = outline.page
    entries = [outline_entry(symbol) for symbol in page.items]
    items = [
        {"name": escape.show(s.name)[0], **fields_of(s, "kind", "start_line", "end_line", "depth")} for s in page.items
    ]
    return {
        "path": outline.path,
        "text": "\n".join(entries),
        "items": items,
        **fields_of(page, "offset", "total"),
        **fields_of(outline, "language", "method", "complete", "total_lines", "total_bytes", "version", "unit"),
        "total_lines_exact": outline.complete,
        "next": next_json(outline.next),
        "notices": [],
    }
