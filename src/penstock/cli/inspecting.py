"""Where did the context of another agent's session go? `penstock inspect` (X-2).

Leaves to others: how a session is read and reported (`hosts.sessions`, `inspection`), and how its page is drawn.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.cli.session_report import story_json, story_words
from penstock.cli.terminal import ProgressLine, render_table
from penstock.inspection.words import percent
from penstock.text import escape
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.hosts.sessions.finding import FoundSession
    from penstock.inspection.story import Story, Subject

LISTED = 40
"""How many sessions are looked at unless `--all` is given."""


@command("inspect")
@click.argument("what", metavar="[FILE|HOST|ID]", required=False)
@click.option("--project", type=options.OWN_FOLDER, metavar="DIR", help="Only sessions that work in this folder.")
@click.option("--all", "is_all", is_flag=True, help=f"All sessions, not only the newest {LISTED}.")
@click.option(
    "--window", "window_tokens", type=options.Whole(min=1), metavar="TOKENS", help="The model's context window."
)
@click.option("--model", metavar="NAME", help="The model whose tokenizer to count with; by default the session's own.")
@click.option("--html", "page_file", type=options.OWN_FILE, metavar="FILE", help="Write a self-contained HTML page.")
@options.json_option
def inspect_command(
    what: str | None,
    project: str | None,
    is_all: bool,
    window_tokens: int | None,
    model: str | None,
    page_file: str | None,
    as_json: bool,
) -> int:
    """Show what filled the context of another agent's session.

    Without an argument, or with a HOST, it lists sessions, newest first, with how full each is and whether it is stuck. With a
    session's FILE, or its ID from that list, it tells the session's story: what filled the window over its turns, what was
    waste, what was refused, and what compactions removed that was needed again. Nothing is written except the HTML page.

    Examples:
      penstock inspect stuck.jsonl
        what filled the window, what was waste, what was refused
      penstock inspect stuck.jsonl --html story.html
        the same as an HTML page
    """
    from penstock.hosts.sessions import READERS
    from penstock.hosts.sessions.finding import session_named, sessions_here
    from penstock.hosts.sessions.reports import story_of

    if what is None or what in READERS:
        files = sessions_here(os.environ, READERS if what is None else (what,))
        return _listed(files, project, None if is_all else LISTED, page_file, as_json=as_json)
    host, path = session_named(what, os.environ)
    subject, story = story_of(host, path, window_tokens=window_tokens, model=model)
    if page_file is not None:
        from penstock.inspection.page import story_page

        _write(page_file, story_page(subject, story))
    answer.give(story_json(subject, story), _with_page(story_words(subject, story), page_file), as_json)
    return 0 if story.turns else answer.NOTHING


def _write(page_file: str, page: str) -> None:
    from penstock.workspace.own_files import replace_drawn

    replace_drawn(page_file, page.encode("utf-8", "replace"))


def _with_page(words: str, page_file: str | None) -> str:
    return words if page_file is None else f"{words}\n\nThe page is in {escape.clip(page_file)}"


# ── all of them ──────────────────────────────────────────────────────────────────────────────────────────────────


def _listed(
    files: Sequence[FoundSession], project: str | None, most: int | None, page_file: str | None, *, as_json: bool
) -> int:
    """Print the sessions of this machine."""
    looked = _look(files, project, most, is_whole=page_file is not None)
    seen, more = looked.seen, looked.more
    if page_file is not None:
        from penstock.inspection.page import overview_page, row_of

        _write(page_file, overview_page([row_of(*one) for one in seen]))
    if as_json:
        answer.print_json(
            {"sessions": [_row_json(*one) for one in seen], "more": more, "unreadable": looked.unreadable}
        )
    elif not seen:
        click.echo(
            "No session was found. Name its file: penstock inspect FILE (for opencode, write one first: opencode export ID > FILE)"
        )
    else:
        head = ("session", "host", "updated, UTC", "fill, tokens", "window", "state", "project")
        click.echo(_with_page(render_table(head, [_row(*one) for one in seen]), page_file))
        for path in looked.unreadable:
            click.echo(f"Not read: {escape.clip(path, 400)}")
        if more:
            click.echo(f"{counted(more, 'older session')} not looked at. All: penstock inspect --all")
        if stuck := [subject for subject, story in seen if story.state == "stuck"]:
            how_many = (
                "One is stuck. Why, and a way out"
                if len(stuck) == 1
                else f"{len(stuck)} are stuck. Why the newest is, and a way out"
            )
            click.echo(f"{how_many}: penstock rescue {escape.clip(stuck[0].path, 400)} --dry-run")
    return 0 if seen else answer.NOTHING


class _Looked(NamedTuple):
    """The result of looking at files."""

    seen: list[tuple[Subject, Story]]
    unreadable: list[str]
    more: int
    """How many were not looked at."""


def _look(files: Sequence[FoundSession], project: str | None, most: int | None, *, is_whole: bool) -> _Looked:
    """Look at files, the newest first, until there are enough sessions."""
    from penstock.errors import CallerError
    from penstock.hosts.sessions.reports import glance_at

    folder = None if project is None else os.path.realpath(project)
    seen: list[tuple[Subject, Story]] = []
    unreadable: list[str] = []
    with ProgressLine() as progress:
        for looked, file in enumerate(files):
            if len(seen) == most:
                return _Looked(seen, unreadable, len(files) - looked)
            if progress.tell is not None:
                progress.tell("sessions", looked, len(files))
            try:
                subject, story = glance_at(file.host, file.path, is_whole=is_whole)
            except (OSError, CallerError):
                unreadable.append(file.path)
                continue
            if folder is None or (subject.project and os.path.realpath(subject.project) == folder):
                seen.append((subject, story))
    return _Looked(seen, unreadable, 0)


def _row(subject: Subject, story: Story) -> tuple[str, ...]:
    tokens, window = _tokens(story), story.window_tokens
    fill = "-" if tokens is None else str(tokens)
    share = f" ({percent(tokens, window)})" if tokens and window else ""
    name = subject.session[:13] or os.path.basename(subject.path)
    updated = subject.updated[:16].replace("T", " ")
    return name, subject.host, updated, fill + share, str(window or "-"), story.state, subject.project


def _tokens(story: Story) -> int | None:
    """Return what the newest measured request took; None if no provider measured one."""
    return next((turn.tokens for turn in reversed(story.turns) if turn.is_measured), None)


def _row_json(subject: Subject, story: Story) -> dict[str, Any]:
    return {
        **answer.fields_of(subject, "host", "session", "path", "project", "updated", "version", "size_bytes"),
        "tokens": _tokens(story),
        "window": story.window_tokens,
        "state": story.state,
        "model": story.model or None,
    }
