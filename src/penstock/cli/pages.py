"""Which page of a file does a person want? `penstock view`, `read` and `outline`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options
from penstock.cli.commands import command

if TYPE_CHECKING:
    from penstock.tools import Tools


def _given(arguments: dict[str, Any]) -> dict[str, object]:
    """Return the flags that were set: for the others the tool's own defaults apply."""
    return {name: value for name, value in arguments.items() if value is not None}


_version_option = click.option(
    "--version", metavar="TOKEN", help="Version of an earlier page; the command says if the file has changed since."
)


@command("view")
@click.argument("file", type=options.FILE)
@click.option("--offset", type=int, help="Lines to skip: 100 starts at line 101.")
@click.option("--limit", type=int, help="Lines to show (default 100).")
@_version_option
@options.root_option
def view_command(file: str, root: str, as_json: bool, **place: Any) -> int:
    """Show a page of FILE with line numbers and the total line count.

    The header names the lines shown, the total, and the command that shows the next page.

    Examples:
      penstock view README.md
        lines 1 to 100
      penstock view README.md --offset 100 --limit 50
        lines 101 to 150
    """

    def to_json(tools: Tools, checked: dict[str, Any]) -> tuple[dict[str, object], str]:
        page = tools.workspace.view(**checked)
        return answer.page_json(page), "partial" if page.bound == "deadline" else "done"

    return answer.answer_tool(root, "view", _given({"file_path": file, **place}), as_json, to_json)


@command("read")
@click.argument("file", type=options.FILE)
@click.option("--start-line", type=int, help="First line, 1-based.")
@click.option("--end-line", type=int, help="Last line, inclusive.")
@click.option("--start-byte", type=int, help="Byte to start at; snaps to the start of its line.")
@click.option("--max-bytes", type=int, help="Size of the page (default 65536, at most 262144).")
@_version_option
@click.option("--encoding", type=click.Choice(["base64"]), help="Print the exact bytes, of any file.")
@options.root_option
def read_command(file: str, root: str, as_json: bool, **place: Any) -> int:
    """Read FILE in whole lines, by line numbers or by bytes.

    Without flags it prints all of a small file and the outline of a large one. A page by bytes starts and ends at a line
    boundary, and costs only what it shows, however large the file is.

    Examples:
      penstock read src/app.py --start-line 1 --end-line 20
        those lines, numbered as `cat -n` does
      penstock read server.log --start-byte 0 --max-bytes 4096
        the first 4 KiB, in whole lines, and the command that continues
    """

    def to_json(tools: Tools, checked: dict[str, Any]) -> tuple[dict[str, object], str]:
        return answer.page_json(tools.workspace.read_file(**checked)), "done"

    return answer.answer_tool(root, "read_file", _given({"path": file, **place}), as_json, to_json)


@command("outline")
@click.argument("file", type=options.FILE)
@click.option("--offset", type=int, help="Entries to skip.")
@click.option("--limit", type=int, help="Entries to show (default 200).")
@options.root_option
def outline_command(file: str, root: str, as_json: bool, **place: int | None) -> int:
    """List the landmarks of FILE with their line ranges.

    Landmarks are classes and functions, headings, keys, and the paragraphs of COBOL; `penstock read` shows the lines of one.

    Examples:
      penstock outline src/app.py
        its classes and functions
      penstock outline README.md --limit 10
        the first ten headings
    """

    def to_json(tools: Tools, checked: dict[str, Any]) -> tuple[dict[str, object], str]:
        return answer.page_json(tools.workspace.outline(**checked)), "done"

    return answer.answer_tool(root, "outline", _given({"path": file, **place}), as_json, to_json)
