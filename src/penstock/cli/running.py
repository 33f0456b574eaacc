"""Who works on a question? `penstock run`, `chat` and `resume`, and `undo`, which takes back what was done."""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import command
from penstock.cli.handed_on import read_handoff, told_of
from penstock.cli.keeping import opened
from penstock.cli.sessions import replayed, session_argument
from penstock.cli.watching import FORMATS, EventListener, TerminalListener, finish, work
from penstock.errors import CallerError, ToolError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.agent.loop import Agent
    from penstock.session import Session
    from penstock.store import Store


def _options(*chosen: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add options, in the order in which a help page shows them."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(chosen):
            function = option(function)
        return function

    return decorate


_PERMISSIONS = (
    click.option("--allow-edit", is_flag=True, help="Let it change files beneath the root."),
    click.option(
        "--allow-write-to",
        multiple=True,
        metavar="PATH",
        help="Let it change PATH too, which other programs run unasked, such as .git; may be given again.",
    ),
    click.option("--allow-shell", is_flag=True, help="Let it run commands, confined to the root and without network."),
)
_HOW_IT_RUNS = (
    click.option("--max-turns", type=click.IntRange(min=1), help="Stop after so many answers of the model."),
    click.option(
        "--wait",
        "max_wait_seconds",
        type=click.FloatRange(min=0),
        default=600.0,
        show_default=True,
        metavar="SECONDS",
        help="How long an outage of the provider is waited for.",
    ),
    click.option(
        "--output-format",
        type=click.Choice(FORMATS),
        help="text (default), json as --json, or stream-json: an object a line, as it happens.",
    ),
)
_session_options = _options(
    options.folder_option("--root", "The folder that it may look at.", "."),
    options.model_option,
    options.base_url_option,
    click.option(
        "--stream/--no-stream", default=True, help="Show the answer as it comes (default), or once it is whole."
    ),
    options.window_option,
    click.option("--reserve", type=click.IntRange(min=1), metavar="TOKENS", help="What is kept for each reply."),
    options.profile_option,
    *_HOW_IT_RUNS,
    *_PERMISSIONS,
)
"""What a session is begun with."""
_resume_options = _options(
    click.option("--root", metavar="DIR", help="Go on in another folder than the session's own."),
    click.option("--model", metavar="NAME", help="Another model, of the same API."),
    options.base_url_option,
    options.window_option,
    *_HOW_IT_RUNS,
    *_PERMISSIONS,
)
"""What a session may go on with otherwise than it began."""


@command("run")
@click.argument("question", required=False)
@click.option(
    "--from", "handoff_file", metavar="HANDOFF", help="Begin where another session ended: a handoff document."
)
@_session_options
@options.store_option
def run_command(
    question: str | None,
    handoff_file: str | None,
    store_url: str | None,
    as_json: bool,
    max_turns: int | None,
    output_format: str | None,
    max_wait_seconds: float,
    **about: Any,
) -> int:
    """Answer QUESTION about the files beneath --root.

    The session survives refusals, outages, interrupts and kills. Standard output gets the answer, standard error a line for
    each step. Ctrl-C stops the work and keeps the session. The model `local` quotes what it finds and needs no key; those of
    providers take theirs from the usual variables.

    Examples:
      penstock run "Which port does the server use?"
        the passages that have most to do with it
      penstock run "What does app.py do?" --model openai-chat:gpt-4o
        the same by a model; --base-url names another server that speaks so
    """
    from penstock.agent.loop import GO_ON_FROM_HERE

    form = _format(output_format, as_json)
    if question is None and handoff_file is None:
        raise click.UsageError("Give a QUESTION, or --from HANDOFF.")
    with opened(store_url) as store:
        handed_on = None if handoff_file is None else read_handoff(handoff_file)
        agent = _begun(store, about, form, max_wait_seconds)
        with closing(agent.tools):
            told = ""
            if handed_on is not None:
                told = told_of(handed_on, about["root"], agent)
                question = question or GO_ON_FROM_HERE
                if form == "text":
                    click.echo(told.rpartition("\n\n")[2], err=True)
            return finish(work(agent, question, max_turns, told), agent, form)


@command("chat")
@_session_options
@options.store_option
def chat_command(
    store_url: str | None,
    as_json: bool,
    max_turns: int | None,
    output_format: str | None,
    max_wait_seconds: float,
    **about: Any,
) -> int:
    """Talk with a model about the files beneath --root.

    A line at a time; an empty line or the end of input ends it; `resume` goes on with it another day.

    Examples:
      penstock chat
        with the model that needs no key
      echo "Which port does the server use?" | penstock chat --root src
        a question from a pipe, about the files beneath src
    """
    form = _format(output_format, as_json)
    with opened(store_url) as store:
        agent = _begun(store, about, form, max_wait_seconds)
        status = 0
        with closing(agent.tools):
            # A prompt on standard error: what is piped on is answers alone.
            while True:
                click.echo("> ", nl=False, err=True)
                line = sys.stdin.readline().strip()
                if not line:
                    return status
                status = finish(work(agent, line, max_turns), agent, form)


@command("resume")
@session_argument
@click.argument("prompt", required=False)
@click.option("--verify-only", is_flag=True, help="Say what changed since, and do nothing.")
@_resume_options
@options.store_option
def resume_command(
    session_id: str,
    prompt: str | None,
    verify_only: bool,
    store_url: str | None,
    as_json: bool,
    max_turns: int | None,
    output_format: str | None,
    max_wait_seconds: float,
    **changes: Any,
) -> int:
    """Go on with session ID, after checking its files against the disk.

    It works in the folder that it began in, from wherever this is typed. With PROMPT that is what it goes on with; without
    one, what was open when it stopped.

    Examples:
      penstock resume ID --verify-only
        which of the files that the session knows have changed since
      penstock resume ID "And which host?"
        a further question, in the same session
    """
    from penstock.agent.asking import last_words
    from penstock.agent.loop import GO_ON_FROM_HERE
    from penstock.agent.protocols import AgentRun

    form = _format(output_format, as_json)
    with opened(store_url) as store:
        agent, (report, verified) = _resumed(store, session_id, changes, form, max_wait_seconds)
        settled = _settled(agent)
        report = "\n".join([report, *settled])
        if form == "text":
            click.echo(report, err=True)
        if verify_only:
            if form != "text":
                answer.print_json({"session": session_id, "verification": verified})
            return 0
        state = agent.session.state
        # One that was stopped in the middle of a turn goes on by itself; one that has answered waits for the next question.
        if prompt is None and state.phase == "idle" and last_words(state.transcript):
            done = AgentRun(session=session_id, answer=last_words(state.transcript), message=_answered(session_id))
            return finish(done, agent, form, verification=verified)
        if prompt is None and state.phase in {"idle", "ended"}:
            prompt = GO_ON_FROM_HERE
        is_news = bool(settled) or any(row["state"] != "same" for row in verified)
        with closing(agent.tools):
            done = work(agent, prompt, max_turns, report if is_news else "")
        return finish(done, agent, form, verification=verified)


def _format(output_format: str | None, as_json: bool) -> str:
    """Return how the work is shown. Raises `UsageError` where two flags say two things."""
    if as_json and output_format not in {None, "json"}:
        raise click.UsageError("--json and --output-format say two things: give one.")
    return output_format or ("json" if as_json else "text")


def _answered(session_id: str) -> str:
    """Return what a person is told whose session has nothing left to do."""
    return f'Nothing is open: this was its answer. To ask more: penstock resume {session_id} "QUESTION"'


@command("undo")
@session_argument
@click.argument("edit", required=False, type=click.IntRange(min=1))
@options.store_option
def undo_command(session_id: str, edit: int | None, store_url: str | None, as_json: bool) -> int:
    """Take back an edit of session ID.

    EDIT is its number, 1 for the first; without one it is the last. A file is changed only while it is what the edit left,
    so that nothing of anybody else's is lost.

    Examples:
      penstock undo ID
        the last edit: the file is what it was before
      penstock undo ID 1
        the first
    """
    from penstock.agent.edits import undo
    from penstock.workspace.root import Root

    with opened(store_url) as store:
        _, begun, _ = replayed(store, session_id)
        with closing(Root(begun["about"]["root"])) as root:
            said = undo(root, store, session_id, edit)
    if as_json:
        answer.print_json({"session": session_id, "undone": said})
    else:
        click.echo(said)
    return 0


# ── beginning and going on ───────────────────────────────────────────────────────────────────────────────────────


def _begun(store: Store, about: dict[str, Any], form: str, max_wait_seconds: float) -> Agent:
    """Return the agent of a new session, whose beginning stands in the journal already."""
    from penstock.agent.journal import new_id
    from penstock.agent.toolbox import INSTRUCTIONS
    from penstock.session import Session
    from penstock.tools import NAVIGATION
    from penstock.wires import tool_definitions

    # As it is now, whatever folder a resume is typed in; and which folder that is, for another may stand at its path by then.
    about["root"] = os.path.realpath(about["root"])
    model, toolbox, limits, counter = _parts(store, about)
    session = Session(
        limits=limits,
        wire=model.wire,
        system=f"{INSTRUCTIONS}\n\n{NAVIGATION}",
        tools=tool_definitions(toolbox.tools, model.wire),
        session_id=new_id(),
        agent=about["profile"],
    )
    session.counter = counter
    agent = _agent(session, model, toolbox, store, form, streams=about["stream"], max_wait_seconds=max_wait_seconds)
    agent.begin(about=about, at=time.time(), root_id=_identity(about["root"]))
    return agent


def _resumed(
    store: Store, session_id: str, changes: dict[str, Any], form: str, max_wait_seconds: float
) -> tuple[Agent, tuple[str, list[dict[str, Any]]]]:
    """Return the agent of a session that goes on, and what became of its files, in words and as rows.

    Raises:
        ToolError: Its folder is not there, or another stands at its path.
        CallerError: The model speaks another API than the session.
    """
    from penstock.agent.journal import remembered
    from penstock.wires import tool_definitions

    session, begun, next_seq = replayed(store, session_id)
    about = {**begun["about"], **{name: value for name, value in changes.items() if value}}
    if changes["root"] is None:
        _expect_same(about["root"], begun.get("root_id"), session_id)
    about["root"] = os.path.realpath(about["root"])
    model, toolbox, limits, counter = _parts(store, about)
    if model.wire != session.state.transcript.wire:
        asked, has = escape.clip(about["model"], 80), session.state.transcript.wire
        raise CallerError(f"The session speaks {has}, and {asked} speaks {model.wire}: give a model of {has}.")
    session.counter = counter
    if changes["window"] or changes["model"]:
        session.state = replace(session.state, limits=limits)
    # What it may do is offered anew: a resume may allow more.
    transcript = replace(session.state.transcript, tools=tool_definitions(toolbox.tools, model.wire))
    session.state = replace(session.state, transcript=transcript)
    acts, _ = remembered(store, session_id)
    # What was read and written before counts on: a file that was read need not be read again.
    toolbox.ledger = toolbox.ledger.after(*acts)
    streams = about.get("stream", True)
    agent = _agent(session, model, toolbox, store, form, next_seq, streams=streams, max_wait_seconds=max_wait_seconds)
    return agent, _verified(store, session_id, about["root"])


def _identity(root: str) -> list[int]:
    """Return what tells a folder from any other that may stand at its path: device and inode."""
    status = os.stat(root)
    return [status.st_dev, status.st_ino]


def _expect_same(root: str, known: list[int] | None, session_id: str) -> None:
    """Raise `ToolError` where the folder of a session is not there, or is another by now."""
    way = f"penstock resume {session_id} --root DIR"
    try:
        now = _identity(root)
    except OSError as error:
        said = f"The session's folder {escape.clip(root)} is not there: {error.strerror}."
        raise ToolError("not_found", f"{said} To go on in another: {way}") from error
    if known is not None and now != known:
        said = f"Another folder stands at {escape.clip(root)} than the one that the session worked in."
        raise ToolError("stale", f"{said} To go on in it all the same: {way}")
    if known is None and not os.path.isabs(root):  # an older journal, which has the path as it was typed
        said = f"The session does not say in which folder it was begun, only {escape.clip(root)}."
        raise ToolError("stale", f"{said} Say which: {way}")


def _parts(store: Store, about: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    """Return the model, the toolbox, the limits and the counter that a session with these flags works with."""
    from penstock.agent.toolbox import Toolbox
    from penstock.models import load_model
    from penstock.session.ledger import Ledger
    from penstock.settings import open_workspace, profile_of
    from penstock.text.tokens import best_counter

    is_local = about["model"] == "local"
    workspace, _ = open_workspace(about["root"], tell=terminal.warn)
    limits = profile_of(workspace.root, about["profile"])
    # `local` keeps to its own window, whatever is believed of it: a larger one would never make it compact.
    model = load_model(about["model"], base_url=about["base_url"], window_tokens=None if is_local else about["window"])
    # What the person says comes first, then what the model says of itself, then the guess of the profile.
    window = about["window"] or model.window_tokens or limits.window_tokens
    limits = limits.scaled(window, about["reserve"])
    # The default profile has no rules for how files are worked on; the others keep a ledger of what was read.
    ledger = Ledger() if about["profile"] != "default" else None
    toolbox = Toolbox(workspace, store, window_tokens=window, model=model.name, ledger=ledger)
    if about["allow_edit"]:
        from penstock.agent.editing import Editing

        allowed = about.get("allow_write_to", ())
        toolbox.allow(Editing(workspace.root, guard=toolbox.may_write, allow_write_to=allowed))
    if about["allow_shell"]:
        from penstock.agent.shell import Shell

        allowance_bytes = max(2_000, toolbox.result_chars)
        allowed = about.get("allow_write_to", ())
        toolbox.allow(Shell(about["root"], store=store, allowance_bytes=allowance_bytes, allow_write_to=allowed))
    return model, toolbox, limits, best_counter("o200k" if is_local else model.name)


def _agent(
    session: Session,
    model: Any,
    toolbox: Any,
    store: Store,
    form: str,
    next_seq: int = 0,
    *,
    streams: bool,
    max_wait_seconds: float,
) -> Agent:
    """Return what drives a session, and shows what happens in this form."""
    from penstock.agent.loop import Agent
    from penstock.models import LocalModel

    # What `local` says are lines of files, not Markdown: it is shown as it stands.
    is_markdown = not isinstance(model, LocalModel)
    listener = TerminalListener(is_markdown=is_markdown) if form == "text" else None
    events = EventListener() if form == "stream-json" else None
    agent = Agent(
        session,
        model,
        toolbox,
        store,
        listener=events or listener,
        next_seq=next_seq,
        streams=streams,
        max_wait_seconds=max_wait_seconds,
    )
    if events is not None:
        events.watch(agent)
    return agent


def _settled(agent: Agent) -> list[str]:
    """Return what is known now of effects that were begun before the session stopped, and write down what became of them."""
    from penstock.session import Effected
    from penstock.session.effects import settled_later

    lines: list[str] = []
    for effect_id, effect in agent.session.state.unknown_effects.items():
        outcome = agent.tools.settled(effect.kind, effect.what, effect.digest)
        if outcome != "unknown":
            agent.feed(Effected(effect_id=effect_id, digest=effect.digest))
        lines.append(settled_later(effect.kind, effect.what, outcome))
    return lines


def _verified(store: Store, session_id: str, root: str) -> tuple[str, list[dict[str, Any]]]:
    """Return what the files that the session knows are now, in words for people and the model, and as rows for scripts."""
    from penstock.agent.file_check import Tracked, report, verify
    from penstock.agent.journal import remembered
    from penstock.workspace.root import Root

    _, files = remembered(store, session_id)
    with closing(Root(root)) as looking:
        found = verify(looking, [Tracked.from_dict(file) for file in files.values()])
    rows = [
        {"path": one.tracked.path, "state": one.state, "reason": one.reason, "read_again": one.must_be_read}
        for one in found
    ]
    return report(found), rows
