"""Which page of a file does a person want? `penstock view`, `read` and `outline`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.cli import answer

if TYPE_CHECKING:
    from penstock.calls import CommandLine
    from penstock.tools import Tools


def _given(**arguments: object) -> dict[str, object]:
    """The flags that were set: what was not is the tool's own default."""
    return {name: value for name, value in arguments.items() if value is not None}


@click.command("view")
@click.argument("file")
@click.option("--offset", type=int, help="Lines to skip: 100 starts at line 101.")
@click.option("--limit", type=int, help="Lines to show (default 100).")
@answer.root_option
def view_command(file: str, offset: int | None, limit: int | None, root: str, as_json: bool) -> int:
    """Show a page of FILE by lines, numbered, of how many."""

    def to_json(tools: Tools, checked: dict[str, object], _: CommandLine) -> tuple[dict[str, object], str]:
        page = tools.workspace.view(**checked)  # type: ignore[arg-type]
        return answer.page_json(page), "partial" if page.bound == "deadline" else "done"

    return answer.give(root, "view", _given(file_path=file, offset=offset, limit=limit), as_json, to_json)


@click.command("read")
@click.argument("file")
@click.option("--start-line", type=int, help="First line, 1-based.")
@click.option("--end-line", type=int, help="Last line, inclusive.")
@click.option("--start-byte", type=int, help="Byte to start at; snaps to the start of its line.")
@click.option("--max-bytes", type=int, help="Size of the page (default 65536, at most 262144).")
@click.option("--version", metavar="TOKEN", help="Version of an earlier page: tells when the file is no longer that.")
@click.option("--encoding", type=click.Choice(["base64"]), help="The exact bytes of any file.")
@answer.root_option
def read_command(
    file: str,
    start_line: int | None,
    end_line: int | None,
    start_byte: int | None,
    max_bytes: int | None,
    version: str | None,
    encoding: str | None,
    root: str,
    as_json: bool,
) -> int:
    """Read FILE by bytes in whole lines, or by lines; all of a small file, the outline of a large one."""

    def to_json(tools: Tools, checked: dict[str, object], _: CommandLine) -> tuple[dict[str, object], str]:
        return answer.page_json(tools.workspace.read_file(**checked)), "done"  # type: ignore[arg-type]

    arguments = _given(
        path=file,
        start_line=start_line,
        end_line=end_line,
        start_byte=start_byte,
        max_bytes=max_bytes,
        version=version,
        encoding=encoding,
    )
    return answer.give(root, "read_file", arguments, as_json, to_json)


@click.command("outline")
@click.argument("file")
@click.option("--offset", type=int, help="Entries to skip.")
@click.option("--limit", type=int, help="Entries to show (default 200).")
@answer.root_option
def outline_command(file: str, offset: int | None, limit: int | None, root: str, as_json: bool) -> int:
    """List the landmarks of FILE with their line ranges."""

    def to_json(tools: Tools, checked: dict[str, object], _: CommandLine) -> tuple[dict[str, object], str]:
        return answer.page_json(tools.workspace.outline(**checked)), "done"  # type: ignore[arg-type]

    return answer.give(root, "outline", _given(path=file, offset=offset, limit=limit), as_json, to_json)
