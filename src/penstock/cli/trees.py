"""What is in a tree? `penstock list`, `count` and `search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.calls import CommandLine
    from penstock.tools import Tools


def _choice(function: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that say which files count."""
    for option in (
        click.option("--hidden", is_flag=True, help="Also names that begin with a dot."),
        click.option("--no-ignore", is_flag=True, help="Also what .gitignore leaves out."),
    ):
        function = option(function)
    return function


@click.command("list")
@click.argument("pattern", default="*")
@click.option("--path", default=".", metavar="DIR", help="Folder to start in.")
@click.option("--recursive", is_flag=True, help="Also in folders below.")
@click.option("--regex", is_flag=True, help="PATTERN is a regular expression.")
@click.option("--offset", type=int, default=0, help="Files to skip.")
@click.option(
    "--limit", type=int, default=0, help="Files per page, up to 100; 0 lists up to 20 or says how many there are."
)
@_choice
@answer.root_option
def list_command(
    pattern: str,
    path: str,
    recursive: bool,
    regex: bool,
    offset: int,
    limit: int,
    hidden: bool,
    no_ignore: bool,
    root: str,
    as_json: bool,
) -> int:
    """List files whose path matches PATTERN, sorted."""

    def to_json(tools: Tools, checked: dict[str, object], _: CommandLine) -> tuple[dict[str, object], str]:
        found = tools.workspace.list_files(**checked, progress=tools.progress)  # type: ignore[arg-type]
        page = found.page
        too_many = limit == 0 and offset == 0 and page.more
        value: dict[str, object] = {
            "items": [] if too_many else list(page.items),
            "offset": page.offset,
            "total": page.total,
            "omitted": found.omitted._asdict(),
            "complete": found.complete,
            "next": None,
        }
        if page.more:
            value["next"] = {**checked, "offset": 0 if too_many else page.next_offset, "limit": limit or 20}
        return value, "partial" if not found.complete else "done" if page.total else "nothing"

    arguments = {
        "pattern": pattern,
        "recursive": recursive,
        "use_regex": regex,
        "offset": offset,
        "limit": limit,
        "path": path,
        "include_hidden": hidden,
        "include_ignored": no_ignore,
    }
    return answer.give(root, "list_files", arguments, as_json, to_json)


@click.command("count")
@click.argument("pattern", default="*")
@click.option("--path", default=".", metavar="DIR", help="Folder to start in.")
@click.option("--recursive/--no-recursive", default=True, help="Also in folders below (default).")
@click.option("--regex", is_flag=True, help="PATTERN is a regular expression.")
@_choice
@answer.root_option
def count_command(
    pattern: str, path: str, recursive: bool, regex: bool, hidden: bool, no_ignore: bool, root: str, as_json: bool
) -> int:
    """Count files, bytes and tokens by extension."""

    def to_json(tools: Tools, checked: dict[str, object], _: CommandLine) -> tuple[dict[str, object], str]:
        counted = tools.workspace.count_files(**checked, progress=tools.progress)  # type: ignore[arg-type]
        value: dict[str, object] = {
            "files": counted.files,
            "bytes": counted.bytes,
            "tokens": counted.tokens,
            "by_extension": [row._asdict() for row in counted.by_extension],
            "omitted": counted.omitted._asdict(),
            "complete": counted.complete,
        }
        return value, "partial" if not counted.complete else "done" if counted.files else "nothing"

    arguments = {
        "path": path,
        "pattern": pattern,
        "recursive": recursive,
        "use_regex": regex,
        "include_hidden": hidden,
        "include_ignored": no_ignore,
    }
    return answer.give(root, "count_files", arguments, as_json, to_json)


@click.command("search")
@click.argument("pattern")
@click.argument("path", default=".")
@click.option("--literal", is_flag=True, help="PATTERN is plain text.")
@click.option("--glob", default="*", metavar="G", help="Only files whose path matches.")
@click.option("--ignore-case", is_flag=True, help="Upper and lower case are alike.")
@click.option("--context", type=int, default=0, help="Lines around each match, up to 20.")
@click.option("--offset", type=int, default=0, help="Matching lines to skip.")
@click.option("--limit", type=int, default=50, help="Matching lines per page, up to 500.")
@_choice
@answer.root_option
def search_command(
    pattern: str,
    path: str,
    literal: bool,
    glob: str,
    ignore_case: bool,
    context: int,
    offset: int,
    limit: int,
    hidden: bool,
    no_ignore: bool,
    root: str,
    as_json: bool,
) -> int:
    """Find lines that match PATTERN (RE2 syntax) in PATH."""

    def to_json(tools: Tools, checked: dict[str, object], _: CommandLine) -> tuple[dict[str, object], str]:
        found = tools.workspace.search(**checked, progress=tools.progress)  # type: ignore[arg-type]
        matches: list[dict[str, object]] = []
        for match in found.matches:
            entry: dict[str, object] = {
                "path": match.path,
                "line": match.line,
                "text": match.text,
                "clipped": match.clipped,
            }
            if context:
                entry |= {"before": list(match.before), "after": list(match.after)}
            matches.append(entry)
        value: dict[str, object] = {
            "matches": matches,
            "files": [file._asdict() for file in found.files],
            "more_files": found.more_files,
            "total": found.total,
            "offset": found.offset,
            "scanned_bytes": found.scanned_bytes,
            "complete": found.complete,
            "omitted": {**found.omitted._asdict(), "binary": found.binary, "secret": found.secret},
            "next": None if found.next_offset is None else {**checked, "offset": found.next_offset},
        }
        return value, "partial" if not found.complete else "done" if found.total else "nothing"

    arguments = {
        "pattern": pattern,
        "path": path,
        "literal": literal,
        "glob": glob,
        "ignore_case": ignore_case,
        "context_lines": context,
        "offset": offset,
        "limit": limit,
        "include_hidden": hidden,
        "include_ignored": no_ignore,
    }
    return answer.give(root, "search", arguments, as_json, to_json)
