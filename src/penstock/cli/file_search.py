"""What is in a tree? `penstock list`, `count` and `search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options
from penstock.cli.commands import command

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.tools import Tools
    from penstock.workspace.wider import Wider


def _choice(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags that say which files count."""
    hidden = click.option("--hidden", "include_hidden", is_flag=True, help="Include names that begin with a dot.")
    return click.option("--no-ignore", "include_ignored", is_flag=True, help="Include what .gitignore excludes.")(
        hidden(function)
    )


@command("list")
@click.argument("pattern", default="*")
@click.option("--path", type=options.FILE, default=".", metavar="DIR", help="Folder to start in.")
@click.option("--recursive", is_flag=True, help="Include folders below, if PATTERN does not do so itself.")
@click.option("--regex", "use_regex", is_flag=True, help="PATTERN is a regular expression.")
@click.option("--offset", type=int, default=0, help="Files to skip.")
@click.option(
    "--limit", type=int, default=0, help="Files per page, up to 100; 0 lists up to 20, or prints how many there are."
)
@_choice
@options.root_option
def list_command(root: str, as_json: bool, **arguments: Any) -> int:
    """List files that match PATTERN, sorted.

    PATTERN is a glob with git's rules: `*.py` matches names in DIR (with --recursive, at any depth), `src/*.py` is relative to
    DIR, `**/*.py` matches at any depth, and `{a,b}` matches either.

    Without --limit it lists up to 20 files; if there are more, it prints how many and the command that pages through them.

    Examples:
      penstock list "*.py" --recursive
        all Python files below the current directory
      penstock list --path src --recursive --limit 50
        the first 50 files below src, and the command that continues
    """

    def to_json(tools: Tools, checked: dict[str, Any]) -> tuple[dict[str, object], str]:
        from penstock.workspace.listing import MAX_FILES_PER_LIST, MAX_FILES_WARNING_THRESHOLD

        found = tools.workspace.list_files(**checked, progress=tools.progress)
        page = found.page
        limit = arguments["limit"]
        # As in the text output (L-2): without a limit a long listing is a count and the way to page, never names.
        too_many = limit == 0 and arguments["offset"] == 0 and page.more
        value: dict[str, object] = {
            "items": [] if too_many else list(page.items),
            **answer.fields_of(page, "offset", "total"),
            "omitted": found.omitted._asdict(),
            "complete": found.complete,
            "wider": _wider(found.wider, checked),
            "next": None,
        }
        if page.more:
            shown = min(limit, MAX_FILES_PER_LIST) or MAX_FILES_WARNING_THRESHOLD
            value["next"] = {**checked, "offset": 0 if too_many else page.next_offset, "limit": shown}
        return value, "partial" if not found.complete else "done" if page.total else "nothing"

    return answer.answer_tool(root, "list_files", arguments, as_json, to_json)


@command("count")
@click.argument("pattern", default="*")
@click.option("--path", type=options.FILE, default=".", metavar="DIR", help="Folder to start in.")
@click.option("--recursive/--no-recursive", default=True, help="Include folders below (default).")
@click.option("--regex", "use_regex", is_flag=True, help="PATTERN is a regular expression.")
@_choice
@options.root_option
def count_command(root: str, as_json: bool, **arguments: Any) -> int:
    """Count files, bytes and tokens by extension.

    Shows what it would cost a model to read them all, before it reads any.

    Examples:
      penstock count
        everything below the current directory that git would see
      penstock count "*.py" --path src
        the Python files below src
    """

    def to_json(tools: Tools, checked: dict[str, Any]) -> tuple[dict[str, object], str]:
        counted = tools.workspace.count_files(**checked, progress=tools.progress)
        value: dict[str, object] = {
            **answer.fields_of(counted, "files", "bytes", "tokens", "complete"),
            "by_extension": [row._asdict() for row in counted.by_extension],
            "omitted": counted.omitted._asdict(),
            "wider": _wider(counted.wider, checked),
        }
        return value, "partial" if not counted.complete else "done" if counted.files else "nothing"

    return answer.answer_tool(root, "count_files", arguments, as_json, to_json)


@command("search")
@click.argument("pattern")
@click.argument("path", type=options.FILE, default=".")
@click.option("--literal", is_flag=True, help="PATTERN is plain text.")
@click.option("--glob", default="*", metavar="G", help="Only files that match, as in `list`.")
@click.option("--ignore-case", is_flag=True, help="Ignore the difference between upper and lower case.")
@click.option("--context", "context_lines", type=int, default=0, help="Lines around each match, up to 20.")
@click.option("--offset", type=int, default=0, help="Matching lines to skip.")
@click.option(
    "--limit", type=int, default=50, help="Matching lines per page, up to 500; with --ranked, passages, up to 10."
)
@click.option("--ranked", is_flag=True, help="PATTERN is a question in words; show the most relevant passages.")
@_choice
@options.root_option
def search_command(root: str, as_json: bool, **arguments: Any) -> int:
    r"""Find lines that match PATTERN in the files of PATH.

    PATTERN is an RE2 regular expression, so no pattern can make the search slow; --literal takes it as plain text. With
    --ranked it is a question in words, answered with the most relevant passages from an index kept next to the store. The exit
    status is 1 if nothing matches.

    Examples:
      penstock search "def \w+" src --glob "*.py"
        where functions are defined
      penstock search --ranked "how long is a connection kept open"
        passages that answer it, the most relevant first
    """

    def to_json(tools: Tools, checked: dict[str, Any]) -> tuple[dict[str, object], str]:
        if checked.pop("ranked"):
            return _ranked_json(tools, checked)
        found = tools.workspace.search(**checked, progress=tools.progress)
        matches: list[dict[str, object]] = []
        for match in found.matches:
            entry = answer.fields_of(match, "path", "line", "text", "clipped")
            if arguments["context_lines"]:
                entry |= {"before": list(match.before), "after": list(match.after)}
            matches.append(entry)
        value: dict[str, object] = {
            "matches": matches,
            "files": [file._asdict() for file in found.files],
            **answer.fields_of(found, "more_files", "total", "offset", "scanned_bytes", "complete"),
            "omitted": {**found.omitted._asdict(), "binary": found.binary, "secret": found.secret},
            "wider": _wider(found.wider, checked, pattern="glob"),
            # A page that ends at the deadline has no next: what was not searched cannot be paged to.
            "next": None if found.next_offset is None else {**checked, "offset": found.next_offset},
        }
        return value, "partial" if not found.complete else "done" if found.total else "nothing"

    options.in_order(root, "PATTERN", arguments["pattern"], [arguments["path"]])
    return answer.answer_tool(root, "search", arguments, as_json, to_json)


def _wider(wider: Wider | None, checked: dict[str, object], pattern: str = "pattern") -> dict[str, object] | None:
    """Return what a wider form of the same command finds, with its arguments, if nothing was found."""
    if wider is None:
        return None
    changes = {pattern if name == "pattern" else name: value for name, value in wider.changes.items()}
    return {"files": wider.files, "complete": wider.complete, "arguments": {**checked, **changes}}


def _ranked_json(tools: Tools, checked: dict[str, Any]) -> tuple[dict[str, object], str]:
    from penstock.tools.ranking import check_ranked, index_place

    check_ranked(checked)
    arguments = {
        name: checked[name] for name in ("path", "glob", "offset", "limit", "include_hidden", "include_ignored")
    }
    found = tools.workspace.rank(
        str(checked["pattern"]),
        **arguments,
        **index_place(None)._asdict(),
        progress=tools.progress,
    )
    value: dict[str, object] = {
        "passages": [
            {**answer.fields_of(one, "path", "start_line", "end_line", "score"), "text": "\n".join(one.lines)}
            for one in found.passages
        ],
        **answer.fields_of(found, "total", "offset", "indexed_files", "indexed_passages", "complete"),
        "omitted": {
            **found.omitted._asdict(),
            **answer.fields_of(found, "binary", "secret", "partial_files", "unindexed", "changed"),
        },
        "next": None if found.next_offset is None else {**checked, "ranked": True, "offset": found.next_offset},
    }
    return value, "partial" if not found.complete else "done" if found.total else "nothing"
