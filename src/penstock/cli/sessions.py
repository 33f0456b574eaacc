"""What sessions are kept? `penstock sessions`, and where one of them stands: `show` and `handoff`.

Keeps out: the work on a question (`running`).
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import command
from penstock.cli.completion import complete_session
from penstock.cli.keeping import opened
from penstock.errors import ToolError
from penstock.text import escape
from penstock.text.calls import Call
from penstock.text.json_access import field

if TYPE_CHECKING:
    from penstock.session import Session
    from penstock.store import Store

_QUESTION_CHARS = 80  # of a question in a list of sessions

session_argument = click.argument("session_id", metavar="ID", shell_complete=complete_session)
"""The argument of a command that speaks of one session."""


@command("sessions")
@options.store_option
def sessions_command(store_url: str | None, as_json: bool) -> int:
    """List the sessions of the store, the last used first.

    Examples:
      penstock sessions
        when each was used, how many records it has, and what was asked
      penstock sessions --json
        the same for a script
    """
    with opened(store_url) as store:
        rows = [
            {
                "id": info.session,
                "session": info.session,
                "records": info.records,
                "updated": info.at,
                "at": info.at,
                **_beginning_of(store, info.session),
            }
            for info in store.sessions()
        ]
    if as_json:
        answer.print_json({"sessions": rows})
    elif rows:
        shown = [
            (
                row["session"],
                time.strftime("%Y-%m-%d %H:%M", time.localtime(row["at"])),
                f"{row['records']:>5} records",
                row.get("question", "")[:_QUESTION_CHARS],
            )
            for row in rows
        ]
        click.echo(terminal.render_table(("session", "used", "records", "question"), shown, has_plain_head=False))
    else:
        click.echo('No sessions yet. Begin one: penstock run "QUESTION"')
    return 0 if rows else answer.NOTHING


@command("show")
@session_argument
@options.store_option
def show_command(session_id: str, store_url: str | None, as_json: bool) -> int:
    """Show where session ID stands, and the bill of its next request.

    Examples:
      penstock show ID
        its phase, turns, model, window and what it has used
      penstock show ID --json
        the same for a script
    """
    with opened(store_url) as store:
        session, begun, records = replayed(store, session_id)
    shown = _standing(session, begun, records)
    if as_json:
        answer.print_json(shown)
    else:
        click.echo(terminal.render_fields(shown.items(), width=18))
        click.echo(str(session.bill()))
    return 0


@command("handoff")
@session_argument
@options.store_option
def handoff_command(session_id: str, store_url: str | None, as_json: bool) -> int:
    """Print what session ID would pass on now, as a handoff document.

    It is JSON in any case: the goal, what is done and open, the decisions, the files.

    Examples:
      penstock handoff ID
        the document, to read
      penstock handoff ID > handoff.json
        the document, for whoever goes on
    """
    from penstock.context.handoff import encode

    del as_json
    with opened(store_url) as store:
        click.echo(encode(replayed(store, session_id)[0].handoff()))
    return 0


def replayed(store: Store, session_id: str) -> tuple[Session, dict[str, Any], int]:
    """Return a session as its journal has it, what it was begun with, and the place of its next record.

    Raises:
        ToolError: There is no session of that name.
    """
    from penstock.agent.loop import resumed

    if next(store.events(session_id), None) is None:
        raise ToolError("not_found", f"There is no session {escape.clip(session_id)}.", Call("sessions"))
    return resumed(store, session_id)


def _beginning_of(store: Store, session_id: str) -> dict[str, Any]:
    """Return root, model and first question of a session, as a row has them; nothing of what its beginning does not say."""
    # The first prompt stands right behind the beginning; of a long session no more is read than that.
    row: dict[str, Any] = {}
    for record in islice(store.events(session_id), 3):
        if record.seq == 0:
            row |= {name: said for name in ("root", "model") if (said := field(record.data, "about", name)) is not None}
        if record.type == "Prompted":
            message: Any = record.data["message"]
            return {**row, "question": str(message.get("content"))[:200]}
    return row


def _standing(session: Session, begun: dict[str, Any], records: int) -> dict[str, Any]:
    """Return where a session stands, by name."""
    state = session.state
    return {
        "session": session.session_id,
        "phase": state.phase,
        "ended": state.ended,
        "turns": state.all_turns,
        "records": records,
        "model": begun["about"]["model"],
        "root": begun["about"]["root"],
        "window_tokens": state.limits.window_tokens,
        "fill": round(session.fill(), 3),
        "cuts": state.compactions,
        "handoffs": state.handoffs,
        "boundaries": [f"{boundary.reason}: {boundary.evidence}" for boundary in state.boundaries],
        "todo": [f"{'x' if todo.is_done else ' '} {todo.title}" for todo in state.todos],
        "unknown_effects": [f"{effect.kind}: {effect.what}" for effect in state.unknown_effects.values()],
        "usage": {"input_tokens": state.input_tokens, "output_tokens": state.output_tokens},
    }
