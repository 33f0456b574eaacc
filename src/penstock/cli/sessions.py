"""What sessions are kept? `penstock sessions` lists, removes and exports them; `show` and `handoff` report on one of them.

Leaves to others: the work on a question (`running`).
"""

from __future__ import annotations

import os
import shlex
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import HelpPage, command, group
from penstock.cli.completion import complete_session
from penstock.cli.keeping import absent_folder, opened
from penstock.errors import PenstockError, ToolError
from penstock.text import escape
from penstock.text.calls import Call
from penstock.text.json_access import field
from penstock.text.notices import counted

if TYPE_CHECKING:
    from penstock.agent.child_figures import ChildFigures
    from penstock.context.handoff import Handoff
    from penstock.session import Session
    from penstock.store import SessionInfo, Store
    from penstock.text.tokens import TokenCounter

# The state by the last record that determines one; for an answer its calls decide.
_STATES = {
    "Interrupted": "interrupted",
    "Closed": "closed",
    **dict.fromkeys(("Prompted", "Returned", "Refused", "Failed", "Compacted", "Summarised", "HandedOff"), "open"),
}
_BEGINNING_CHARS = 24_000  # of a handoff with which another agent begins: some 6,000 tokens
_SHOWN = 100  # sessions in a list for a person
_QUESTION_CHARS = 80  # of a question in a list of sessions
_FOLDER_CHARS = 60  # of a folder in it
_WIDE_COLUMNS = 160  # of a terminal that shows a session on one line; with less the lines are beneath each other


class _SessionName(click.ParamType[str]):
    """A session's ID as it was typed, with `�` for bytes that are not UTF-8: Python holds them as surrogates, no store as text."""

    name = "id"

    def convert(self, value: Any, _param: click.Parameter | None, _ctx: click.Context | None) -> str:
        return os.fsencode(value).decode("utf-8", "replace")


SESSION_NAME = _SessionName()
"""The type of every argument that is the ID of a session."""
session_argument = click.argument("session_id", metavar="ID", type=SESSION_NAME, shell_complete=complete_session)
"""The argument of a command about one session."""


@group("sessions", invoke_without_command=True)
@options.store_option
@click.pass_context
def sessions_command(ctx: click.Context, store_url: str | None, as_json: bool) -> int:
    """List the sessions in the store, remove some, or export one.

    Without a subcommand it lists them, most recently used first.

    Examples:
      penstock sessions
        when each was used, its state, size, model, folder and question
      penstock sessions --json
        the same for a script
    """
    return 0 if ctx.invoked_subcommand else _listed(store_url, None, as_json=as_json)


@sessions_command.command("list", cls=HelpPage)
@click.option(
    "--limit",
    type=options.Whole(min=0),
    help=f"Sessions to show, 0 for all (default {_SHOWN}; all with --json).",
)
@options.store_option
def list_sessions_command(limit: int | None, store_url: str | None, as_json: bool) -> int:
    """List the sessions in the store, most recently used first.

    A session is `running` while a process works on it; `answered`, `interrupted` or `closed` if that is how it last ended; and
    `open` if it stopped midway. `penstock resume` continues any of them, except one that is `damaged`: `penstock store check` names
    the record.

    Examples:
      penstock sessions list
        when each was used, its state, size, model, folder and question
      penstock sessions list --json
        the same for a script
    """
    return _listed(store_url, limit, as_json=as_json)


@sessions_command.command("rm", cls=HelpPage)
@click.argument(
    "session_ids", metavar="ID...", type=SESSION_NAME, nargs=-1, required=True, shell_complete=complete_session
)
@options.store_option
def remove_sessions_command(session_ids: tuple[str, ...], store_url: str | None, as_json: bool) -> int:
    """Remove sessions for good, with the outputs that only they use.

    Afterwards no file of the store contains a byte of them. Outputs that another session refers to are kept. If one of the
    sessions is running, nothing is removed.

    Examples:
      penstock sessions rm ID
        one session, and how many bytes were freed
      penstock sessions rm ID --json
        the same for a script
    """
    with opened(store_url) as store:
        gone = store.remove_sessions(session_ids)
    text = f"{counted(len(gone), 'session')} removed for good: {counted(sum(one.bytes for one in gone), 'byte')}"
    answer.give({"removed": [answer.fields_of(one, "name", "bytes") for one in gone]}, text, as_json)
    return 0


@sessions_command.command("export", cls=HelpPage)
@session_argument
@options.store_option
def export_session_command(session_id: str, store_url: str | None, as_json: bool) -> int:
    """Write all of session ID as JSON lines, with secrets hidden.

    Whatever looks like a secret is hidden. The first line describes what follows: one line for each journal record, then one
    for each output that was kept. With --json everything is one object.

    Examples:
      penstock sessions export ID > session.jsonl
        everything, to archive or to share
      penstock sessions export ID --json
        the same as one object
    """
    from penstock.cli.exporting import lines_of

    with opened(store_url) as store:
        lines = lines_of(store, session_id)
        if as_json:
            head, *rest = lines
            kinds = {kind: [line[kind] for line in rest if kind in line] for kind in ("record", "artifact")}
            answer.print_json({**head, "records": kinds["record"], "artifacts": kinds["artifact"]})
        else:
            for line in lines:
                answer.print_json(line)
    return 0


def _listed(store_url: str | None, limit: int | None, *, as_json: bool) -> int:
    """Print the sessions of the store, as many as a person reads."""
    there = options.store_words(store_url)
    if limit is None and not as_json:
        limit = _SHOWN
    found: list[SessionInfo] = []
    rows = []
    if absent_folder(store_url) is None:  # a store that does not exist holds nothing, and looking creates none
        with opened(store_url) as store:
            found = store.sessions(limit + 1 if limit else None)
            rows = [_row(store, info) for info in found[: limit or None]]
    if as_json:
        answer.print_json({"sessions": rows})
    elif rows:
        click.echo(_table(rows))
        if len(found) > len(rows):
            click.echo(f"There are more than these {len(rows)}: penstock sessions list --limit {10 * len(rows)}{there}")
    else:
        click.echo(f'No sessions yet. Start one: penstock run "QUESTION"{there}')
    return 0 if rows else answer.NOTHING


def _table(rows: list[dict[str, Any]]) -> str:
    """Return the list for a person: a line for each session, or three if the terminal is too narrow for that."""
    head: tuple[str, ...] = ("session", "used", "state", "turns", "size", "model", "folder", "question")
    shown: list[tuple[Any, ...]] = []
    columns = terminal.watched_columns()
    is_narrow = columns is not None and columns < _WIDE_COLUMNS
    for row in rows:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["at"]))
        turns, size = f"{row['turns']:>4} turn{'' if row['turns'] == 1 else 's'}", f"{row['bytes']:>10} bytes"
        model, folder = str(row.get("model", "")), str(row.get("root", ""))
        room = max(_FOLDER_CHARS // 2, _FOLDER_CHARS - is_narrow * len(model))
        if len(folder) > room:  # its end is what tells it from others
            folder = f"…{folder[1 - room :]}"
        question = row.get("question", "")[:_QUESTION_CHARS]
        if is_narrow:
            facts = ", ".join((used, row["state"], turns.strip(), size.strip()))
            place = " in ".join(filter(None, (model, folder)))  # a journal of another program may have neither
            shown.append((row["session"], (facts, place, question)))
        else:
            shown.append((row["session"], used, row["state"], turns, size, model, folder, question))
    return terminal.render_table(("session", "about") if is_narrow else head, shown, has_plain_head=False)


def _row(store: Store, info: SessionInfo) -> dict[str, Any]:
    """Return a session as a row of the list; one whose journal is damaged says so, and ends no list of the others."""
    from penstock.store import Damaged

    row: dict[str, Any] = {"id": info.session, "session": info.session, "state": "damaged", "turns": 0}
    row |= {"bytes": info.bytes, "records": info.records, "updated": info.at, "at": info.at}
    with suppress(Damaged):
        row |= _said(store, info)
    return row


def _said(store: Store, info: SessionInfo) -> dict[str, Any]:
    """Return what the journal of a session says of it: state and turns, root, model and question."""
    from penstock.agent.record_types import MOVED, TAKEN

    types = store.record_types(info.session)
    begun = _beginning_of(store, info.session, types)
    wire = begun.pop("wire", "")
    if MOVED in types:
        last = len(types) - 1 - types[::-1].index(MOVED)
        begun["root"] = field(_data(store, info.session, last), "root")
    for seq in (seq for seq in range(len(types) - 1, 0, -1) if types[seq] == TAKEN):
        if (model := field(_data(store, info.session, seq), "about", "model")) is not None:
            begun["model"] = model
            break
    state = "running" if info.is_running else _state(store, info.session, types, wire)
    return {"state": state, "turns": types.count("Replied"), **begun}


def _state(store: Store, session_id: str, types: list[str], wire: str) -> str:
    """Return the state of a session, from its last record that determines one."""
    for seq in range(len(types) - 1, -1, -1):
        if types[seq] in _STATES:
            return _STATES[types[seq]]
        if types[seq] == "Replied":
            # An answer with calls is not final: the session was to continue with their results.
            messages: Any = field(_data(store, session_id, seq), "messages") or ()
            with suppress(PenstockError):
                from penstock.wires import begin

                return "open" if any(e.calls for e in begin(wire).append(*messages).entries) else "answered"
    return "open"


@command("show")
@session_argument
@options.store_option
def show_command(session_id: str, store_url: str | None, as_json: bool) -> int:
    """Show the state of session ID and the bill of its next request.

    Examples:
      penstock show ID
        its phase, turns, model and window, and the tokens it has used
      penstock show ID --json
        the same for a script
    """
    from penstock.agent.child_figures import budget_figures, child_figures

    with opened(store_url) as store:
        session, begun, records = replayed(store, session_id)
        budget, children = budget_figures(store, session_id), child_figures(store, session_id)
    shown = _standing(session, begun, records)
    if budget is not None:
        shown |= {"budget": budget._asdict(), "children": [child._asdict() for child in children]}
    if as_json:
        answer.print_json(shown)
    else:
        if budget is not None:
            shown["budget"] = (
                f"{budget.spent_tokens} of {budget.granted_tokens} tokens spent, {budget.left_tokens} left"
            )
            shown["children"] = [child_line(child) for child in children]
        used = shown["usage"]
        shown["usage"] = f"{used['input_tokens']} tokens in, {used['output_tokens']} out"
        shown["ended"] = shown["ended"] or "no"
        lists = {name: "; ".join(value) or "none" for name, value in shown.items() if isinstance(value, list)}
        click.echo(terminal.render_fields((shown | lists).items(), width=18))
        click.echo(str(session.bill()))
    return 0


@command("handoff")
@click.argument("session_id", metavar="[ID]", type=SESSION_NAME, required=False, shell_complete=complete_session)
@click.option(
    "--from", "file", type=options.OWN_FILE, metavar="FILE", help="Another agent's session file, or a handoff."
)
@click.option(
    "--to",
    "to_host",
    metavar="HOST",
    help="Start a session from it in claude, codex, gemini, qwen, copilot, opencode or pi.",
)
@click.option(
    "--root",
    type=options.OWN_FOLDER,
    metavar="DIR",
    help="Where the project is now, if session ID does not know it.",
)
@options.store_option
def handoff_command(
    session_id: str | None,
    file: str | None,
    to_host: str | None,
    root: str | None,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Print the handoff document of a session as it stands.

    The document is always JSON: the goal, what is done and what is open, the decisions, the files. The session is ID, or with
    --from another agent's session file, or a document printed before; `penstock run --from` continues from the document. With
    --to the document is not printed: a new session of that agent is started from it in the old session's folder, and the command
    that continues it is printed.

    Examples:
      penstock handoff ID > handoff.json
        the document, for whoever continues
      penstock handoff --from stuck.jsonl
        the same for another agent's session
    """
    from penstock.context.handoff import encode

    if (session_id is None) == (file is None):
        message = "Give one session: its ID, or --from FILE for another agent's."
        return answer.fail("usage", message, "penstock sessions", answer.USAGE, as_json=as_json)
    if session_id is not None:
        made, folder = _own_handoff(session_id, root, store_url)
    else:
        made, folder = _foreign_handoff(str(file))
    if to_host is not None:
        return _begun_in(to_host, made, os.path.realpath(root) if root else folder, store_url, as_json=as_json)
    click.echo(encode(made))
    return 0


def _own_handoff(session_id: str, moved_to: str | None, store_url: str | None) -> tuple[Handoff, str]:
    """Return what one of our sessions passes on, and its folder; `moved_to` is where a person says that it is now."""
    from penstock.agent.disk_changes import DiskChanges
    from penstock.agent.edits import UNTOLD, changes_of, cut_off_of, left_by
    from penstock.cli.roots import expect_own_root
    from penstock.errors import CallerError
    from penstock.workspace.root import Root

    with opened(store_url) as store:
        session, begun, _ = replayed(store, session_id)
        made = session.handoff()
        # If its folder is gone, or another is at its path, the files mentioned in its calls are all that is known.
        try:
            with closing(Root(moved_to or expect_own_root(begun, session_id, "handoff"))) as root:
                left, are_told = left_by(cut_off_of(store, session_id).values(), root)
                if not are_told:
                    click.echo(f"A command was cut off. {UNTOLD}", err=True)
                made = DiskChanges(root, [*changes_of(store, session_id), *left]).corrected(made)
        except (CallerError, ToolError) as error:
            if moved_to:
                raise
            dialect = answer.dialect_of(store_url=store_url)
            ways = " or ".join(map(dialect.write, getattr(error, "calls", ())))
            said = f"The files are listed as the session described them, and were not checked: {error}"
            click.echo(f"{said} Try: {ways}" if ways else said, err=True)
    return made, str(begun["about"]["root"])


def _foreign_handoff(file: str) -> tuple[Handoff, str]:
    """Return what a file passes on, and its folder: another agent's session, or a handoff itself.

    Raises:
        CallerError: It is neither a session of a known agent nor a handoff.
    """
    from penstock.cli.handoffs import read_handoff
    from penstock.errors import CallerError
    from penstock.hosts.sessions.finding import session_named
    from penstock.hosts.sessions.handoffs import handoff_of

    try:
        host, path = session_named(file, os.environ)
        made = handoff_of(host, path)
    except CallerError as error:
        if not os.path.isfile(file):
            raise
        try:
            made = read_handoff(file)
        except ToolError:
            raise error from None
        # Most likely a handoff that was cut off or edited: its own fault comes first.
        except CallerError as fault:
            raise CallerError(f"{fault}. {error}") from None
    folder = field(made.state, "folder")
    return made, folder if isinstance(folder, str) and os.path.isdir(folder) else os.getcwd()


def _begun_in(host: str, made: Handoff, root: str, store_url: str | None, *, as_json: bool) -> int:
    """Begin a session of another agent with a handoff, and print how to continue it."""
    from penstock.context.handoff import render
    from penstock.hosts.beginning import begin
    from penstock.text.redaction import redacted

    words = render(made, max_chars=_BEGINNING_CHARS, dialect=answer.dialect_of(store_url=store_url))
    # It goes to another provider: without secrets, like the document.
    begun = begin(host, redacted(words), root, os.environ)
    value = {"host": host, "session": begun.session, "written": begun.path, "folder": root}
    resume = " && ".join(shlex.join(words) for words in (begun.prepare, begun.resume) if words)
    text = f"Written: {escape.clip(begun.path, 400)}\nContinue in {escape.clip(root, 400)} with:\n  {resume}"
    answer.give({**value, "resume": resume}, text, as_json)
    return 0


def child_line(child: ChildFigures) -> str:
    """Return a child agent in a line.

    Args:
        child: what it did.
    """
    spent = f"{child.spent_tokens} of {child.granted_tokens} tokens"
    return f"{child.child} {child.outcome}, {counted(child.turns, 'turn')}, {spent}: {escape.clip(child.description)}"


def replayed(store: Store, session_id: str) -> tuple[Session, dict[str, Any], int]:
    """Return a session as its journal has it, what it was begun with, and the number of its next record.

    Raises:
        ToolError: There is no session of that name.
    """
    from penstock.agent.journal import resumed

    if next(store.events(session_id), None) is None:
        raise ToolError("not_found", f"There is no session {escape.clip(session_id)}.", Call("sessions"))
    session, begun, next_seq = resumed(store, session_id)
    session.counter = counter_of(begun["about"]["model"])
    return session, begun, next_seq


def counter_of(model: str) -> TokenCounter:
    """Return the token counter of a session, by its model as `--model` names it.

    The same for all commands: the share of the window that `run` ends with is the one that `show` reports.
    """
    from penstock.text.tokens import best_counter

    return best_counter("o200k" if model == "local" else model)


def _beginning_of(store: Store, session_id: str, types: list[str]) -> dict[str, Any]:
    """Return root, model, wire and first question of a session, as in a row; empty if none was asked."""
    # Of a long session only the beginning and the first prompt are read.
    from penstock.wires import begin
    from penstock.wires.placeholders import of_person

    begun: Any = _data(store, session_id, 0)
    row = {name: said for name in ("root", "model") if (said := field(begun, "about", name)) is not None}
    row |= {"question": "", "wire": str(field(begun, "header", "transcript", "wire") or "")}
    if "Prompted" in types:
        message: Any = field(_data(store, session_id, types.index("Prompted")), "message")
        with suppress(PenstockError):
            if message is not None:
                row["question"] = of_person(begin(row["wire"]).append(message).entries[-1].text)[:200]
    if not row["question"] and "HandedOff" in types:  # it was begun from a handoff, without words of a person
        handed_on = _data(store, session_id, types.index("HandedOff"))
        row["question"] = str(field(handed_on, "handoff", "goal") or "")[:200]
    return row


def _data(store: Store, session_id: str, seq: int) -> Any:
    """Return what a record holds; None if it is not there, as when another process has removed the session meanwhile."""
    record = next(store.events(session_id, seq), None)
    return None if record is None else record.data


def _standing(session: Session, begun: dict[str, Any], records: int) -> dict[str, Any]:
    """Return the state of a session, by name."""
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
