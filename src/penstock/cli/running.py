"""Who works on a question? `penstock run`, `chat` and `resume`, and `undo` of what they edited."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import command
from penstock.cli.keeping import opened
from penstock.cli.markdown import MarkdownWriter, citations_in
from penstock.cli.sessions import replayed, session_argument
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.agent.loop import Agent, AgentRun
    from penstock.session import Session
    from penstock.store import Store

# What is not named here ended because a provider failed: 8.
_OUTCOMES = {"answered": 0, "interrupted": answer.INTERRUPTED, "irreducible": answer.OVER_BUDGET}


def _session_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what a session is begun with."""
    for option in (
        click.option(
            "--allow-shell", is_flag=True, help="Let it run commands, confined to the root and without network."
        ),
        click.option("--allow-edit", is_flag=True, help="Let it change files beneath the root."),
        click.option(
            "--allow-write-to",
            multiple=True,
            metavar="PATH",
            help="Let it change PATH too, which other programs run unasked, such as .git; may be given again.",
        ),
        click.option("--max-turns", type=click.IntRange(min=1), help="Stop after so many answers of the model."),
        options.profile_option,
        click.option("--reserve", type=click.IntRange(min=1), metavar="TOKENS", help="What is kept for each reply."),
        options.window_option,
        click.option(
            "--stream/--no-stream", default=True, help="Show the answer as it comes (default), or once it is whole."
        ),
        options.base_url_option,
        options.model_option,
        options.folder_option("--root", "The folder that it may look at.", "."),
    ):
        function = option(function)
    return function


@command("run")
@click.argument("question")
@_session_options
@options.store_option
def run_command(question: str, store_url: str | None, as_json: bool, max_turns: int | None, **about: Any) -> int:
    """Answer QUESTION about the files beneath --root.

    The session survives refusals, interrupts and kills. The answer streams to standard output, a line of status to standard
    error. Ctrl-C stops the work and keeps the session. The model `local` quotes what it finds and needs no key; those of
    providers take theirs from the usual variables.

    Examples:
      penstock run "Which port does the server use?"
        the passages that have most to do with it
      penstock run "What does app.py do?" --model openai-chat:gpt-4o
        the same by a model; --base-url names another server that speaks so
    """
    with opened(store_url) as store:
        agent = _begun(store, about, as_json)
        with closing(agent.tools):
            return _finish(_worked(agent, question, max_turns), agent, as_json)


@command("chat")
@_session_options
@options.store_option
def chat_command(store_url: str | None, as_json: bool, max_turns: int | None, **about: Any) -> int:
    """Talk with a model about the files beneath --root.

    A line at a time; an empty line or the end of input ends it; `resume` goes on with it another day.

    Examples:
      penstock chat
        with the model that needs no key
      echo "Which port does the server use?" | penstock chat --root src
        a question from a pipe, about the files beneath src
    """
    with opened(store_url) as store:
        agent = _begun(store, about, as_json)
        status = 0
        with closing(agent.tools):
            # A prompt on standard error: what is piped on is answers alone.
            while True:
                click.echo("> ", nl=False, err=True)
                line = sys.stdin.readline().strip()
                if not line:
                    return status
                status = _finish(_worked(agent, line, max_turns), agent, as_json)


@command("resume")
@session_argument
@click.argument("prompt", required=False)
@click.option("--verify-only", is_flag=True, help="Say what changed since, and do nothing.")
@options.store_option
def resume_command(session_id: str, prompt: str | None, verify_only: bool, store_url: str | None, as_json: bool) -> int:
    """Go on with session ID, after checking its files against the disk.

    With PROMPT that is what it goes on with; without one, what was open when it stopped.

    Examples:
      penstock resume ID --verify-only
        which of the files that the session knows have changed since
      penstock resume ID "And which host?"
        a further question, in the same session
    """
    with opened(store_url) as store:
        agent, (report, verified) = _resumed(store, session_id, as_json)
        settled = _settled(agent)
        report = "\n".join([report, *settled])
        if not as_json:
            click.echo(report, err=True)
        if verify_only:
            if as_json:
                answer.print_json({"session": session_id, "verification": verified})
            return 0
        # A session that was stopped in the middle of a turn goes on by itself; one that had answered needs to be told to.
        words = prompt
        if words is None and agent.session.state.phase in {"idle", "ended"}:
            asked = agent.session.state.transcript.newest_user()
            words = "Go on from where you stopped." if asked is None else f"Go on with this: {asked.text}"
        # What changed is told to the model too, but only with a prompt: in the middle of a turn there is no place for it.
        told = report if words is not None and (verified or settled) else None
        with closing(agent.tools):
            done = _worked(agent, words, None, told)
        return _finish(done, agent, as_json, verification=verified)


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


def _begun(store: Store, about: dict[str, Any], quiet: bool) -> Agent:
    """Return the agent of a new session, whose beginning stands in the journal already."""
    from penstock.agent.loop import new_id
    from penstock.agent.toolbox import INSTRUCTIONS
    from penstock.session import Session
    from penstock.tools import NAVIGATION
    from penstock.wires import tool_definitions

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
    agent = _agent(session, model, toolbox, store, quiet, streams=about["stream"])
    agent.begin(about=about, at=time.time())
    return agent


def _resumed(store: Store, session_id: str, quiet: bool) -> tuple[Agent, tuple[str, list[dict[str, Any]]]]:
    """Return the agent of a session that goes on, and what became of its files, in words and as rows."""
    from penstock.agent.loop import remembered

    session, begun, next_seq = replayed(store, session_id)
    about = begun["about"]
    model, toolbox, _, counter = _parts(store, about)
    session.counter = counter
    acts, _ = remembered(store, session_id)
    # What was read and written before counts on: a file that was read need not be read again.
    toolbox.ledger = toolbox.ledger.after(*acts)
    agent = _agent(session, model, toolbox, store, quiet, next_seq, streams=about.get("stream", True))
    return agent, _verified(store, session_id, about["root"])


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
    session: Session, model: Any, toolbox: Any, store: Store, quiet: bool, next_seq: int = 0, *, streams: bool
) -> Agent:
    """Return what drives a session; it shows what happens, but for a script."""
    from penstock.agent.loop import Agent
    from penstock.models import LocalModel

    # What `local` says are lines of files, not Markdown: it is shown as it stands.
    listener = None if quiet else _TerminalListener(is_markdown=not isinstance(model, LocalModel))
    return Agent(session, model, toolbox, store, listener=listener, next_seq=next_seq, streams=streams)


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
    from penstock.agent.loop import remembered
    from penstock.workspace.root import Root

    _, files = remembered(store, session_id)
    with closing(Root(root)) as looking:
        found = verify(looking, [Tracked.from_dict(file) for file in files.values()])
    rows = [
        {"path": one.tracked.path, "state": one.state, "reason": one.reason, "read_again": one.must_be_read}
        for one in found
    ]
    return report(found), rows


# ── working ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _TerminalListener:
    """Shows a person what happens: the answer on standard output as it comes, a line of status on standard error."""

    def __init__(self, *, is_markdown: bool) -> None:
        self._has_text = False
        is_drawn = is_markdown and terminal.is_watched(sys.stdout)
        self._markdown = MarkdownWriter() if is_drawn else None

    def text(self, delta: str) -> None:
        """Show a piece of the answer."""
        self._has_text = True
        shown = escape.show(delta)[0]
        if self._markdown is not None:
            self._markdown.write(shown)
        else:
            click.echo(shown, nl=False)

    def step(self, session: Session, what: str) -> None:
        """Say what the session does next; an answer that was being shown is over."""
        if self._has_text:
            self._has_text = False
            if self._markdown is not None:
                self._markdown.finish()
            else:
                click.echo()
        turns = session.state.all_turns
        click.echo(f"[turn {turns}, window {session.fill():.0%}] {escape.show_argument(what)}", err=True)


def _worked(agent: Agent, prompt: str | None, max_turns: int | None, report: str | None = None) -> AgentRun:
    """Let the agent work on a prompt, with what changed on disk behind it."""
    if prompt is not None and report:
        prompt = f"{prompt}\n\n{report}"
    with _interrupts(agent):
        return agent.run(prompt, max_turns=max_turns)


@contextmanager
def _interrupts(agent: Agent) -> Iterator[None]:
    """Let the first Ctrl-C stop the work and keep the session while this lasts; a second ends the process."""

    # The agent ends between two steps: what it has begun is finished and written down. Who presses twice means it.
    def stop(*_: object) -> None:
        agent.interrupt()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    earlier = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, earlier)


def _finish(done: AgentRun, agent: Agent, as_json: bool, **more: Any) -> int:
    """Print what came of the work. Returns the exit status."""
    usage = done.usage
    if as_json:
        cited = [{"path": path, "line": line, "text": text} for path, line, text in citations_in(done.answer)]
        answer.print_json(
            {
                **answer.fields_of(done, "session", "answer"),
                "citations": cited,
                **answer.fields_of(done, "turns", "usage", "cuts", "recoveries", "outcome"),
                **({"message": done.message} if done.message else {}),
                **more,
            }
        )
    else:
        click.echo()
        if done.message:
            click.echo(done.message, err=True)
        click.echo(
            f"[session {done.session}: {done.outcome}, {done.turns} turns, {usage['input_tokens']} tokens in, "
            f"{usage['output_tokens']} out, {done.cuts} cuts, {done.recoveries} recoveries, "
            f"window {agent.session.fill():.0%}]",
            err=True,
        )
    return _OUTCOMES.get(done.outcome, answer.FAULT)
