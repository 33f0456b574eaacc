"""Who works on a question? `penstock run` and `chat`, and what becomes of sessions: `sessions`, `show`, `handoff`, `resume`."""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import click

from penstock import inert
from penstock.cli import answer
from penstock.cli.keeping import opened, store_option
from penstock.errors import CallerError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.agent import Agent, Run
    from penstock.session import Session
    from penstock.store import Store

_CITATION = re.compile(r"[ \t]*(?:[-*][ \t]+)?`?([^\s:`]+):(\d+)`?:[ \t]?(.*)")
_OUTCOMES = {"answered": 0, "interrupted": answer.INTERRUPTED, "irreducible": answer.OVER_BUDGET}


def model_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a session is begun with."""
    for option in (
        click.option(
            "--allow-shell", is_flag=True, help="Let it run commands, confined to the root and without network."
        ),
        click.option("--allow-edit", is_flag=True, help="Let it change files beneath the root."),
        click.option("--max-turns", type=click.IntRange(min=1), help="Stop after so many answers of the model."),
        click.option(
            "--profile", default="default", show_default=True, metavar="NAME", help="The limits of the session."
        ),
        click.option("--reserve", type=click.IntRange(min=1), metavar="TOKENS", help="What is kept for each reply."),
        click.option("--window", type=click.IntRange(min=1_000), metavar="TOKENS", help="The model's context window."),
        click.option(
            "--stream/--no-stream", default=True, help="Show the answer as it comes (default), or once it is whole."
        ),
        click.option("--base-url", metavar="URL", help="Where the model is served."),
        click.option(
            "--model",
            default="local",
            show_default=True,
            metavar="NAME",
            help="local, scripted:FILE, openai-chat:NAME, openai-responses:NAME or anthropic:NAME.",
        ),
        click.option("--root", default=".", metavar="DIR", show_default=True, help="The folder that it may look at."),
    ):
        function = option(function)
    return function


@click.command("run")
@click.argument("question")
@model_options
@store_option
def run_command(question: str, store_url: str | None, as_json: bool, max_turns: int | None, **about: Any) -> int:
    """Answer QUESTION about the files beneath --root, in a session that survives refusals, interrupts and kills.

    The answer streams to standard output, a line of status to standard error. Ctrl-C stops the work and keeps the session.
    """

    def work() -> int:
        with opened(store_url) as store:
            agent = _begun(store, about, as_json)
            with closing(agent.tools):
                return _told(_worked(agent, question, max_turns), agent, as_json)

    return _answering(as_json, work)


@click.command("chat")
@model_options
@store_option
def chat_command(store_url: str | None, as_json: bool, max_turns: int | None, **about: Any) -> int:
    """Talk with a model about the files beneath --root, a line at a time; an empty line or the end of input ends it."""

    def work() -> int:
        with opened(store_url) as store:
            agent = _begun(store, about, as_json)
            status = 0
            with closing(agent.tools):
                while True:
                    click.echo("> ", nl=False, err=True)
                    line = sys.stdin.readline().strip()
                    if not line:
                        return status
                    status = _told(_worked(agent, line, max_turns), agent, as_json)

    return _answering(as_json, work)


@click.command("resume")
@click.argument("session_id", metavar="ID")
@click.argument("prompt", required=False)
@click.option("--verify-only", is_flag=True, help="Say what changed since, and do nothing.")
@store_option
def resume_command(session_id: str, prompt: str | None, verify_only: bool, store_url: str | None, as_json: bool) -> int:
    """Go on with session ID, after checking the files that it knows against the disk.

    With PROMPT that is what it goes on with; without one, what was open when it stopped.
    """

    def work() -> int:
        with opened(store_url) as store:
            agent, checked = _resumed(store, session_id, as_json)
            report, fresh = checked
            settled = _settled(agent)
            report = "\n".join([report, *settled])
            news = bool(fresh or settled)
            if not as_json:
                click.echo(report, err=True)
            if verify_only:
                if as_json:
                    click.echo(json.dumps({"session": session_id, "verification": fresh}))
                return 0
            said = prompt
            if said is None and agent.session.state.phase in {"idle", "ended"}:
                asked = agent.session.state.transcript.newest_user()
                said = "Go on from where you stopped." if asked is None else f"Go on with this: {asked.text}"
            with closing(agent.tools):
                done = _worked(agent, said, None, report if said is not None and news else None)
            return _told(done, agent, as_json, verification=fresh)

    return _answering(as_json, work)


@click.command("sessions")
@store_option
def sessions_command(store_url: str | None, as_json: bool) -> int:
    """List the sessions of the store, the last used first."""

    def work() -> int:
        with opened(store_url) as store:
            rows = [
                {"session": info.session, "records": info.records, "at": info.at, **_begun_with(store, info.session)}
                for info in store.sessions()
            ]
            if as_json:
                click.echo(json.dumps({"sessions": rows}))
            else:
                for row in rows:
                    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(float(str(row["at"]))))
                    click.echo(f"{row['session']}  {when}  {row['records']:>5} records  {row.get('question', '')[:80]}")
                if not rows:
                    click.echo('No sessions yet. Begin one: penstock run "QUESTION"')
            return 0 if rows else answer.NOTHING

    return _answering(as_json, work)


@click.command("show")
@click.argument("session_id", metavar="ID")
@store_option
def show_command(session_id: str, store_url: str | None, as_json: bool) -> int:
    """Show session ID: where it stands, what it takes, and the bill of its next request."""

    def work() -> int:
        from penstock.agent import resumed

        with opened(store_url) as store:
            session, begun, records = resumed(store, session_id)
            shown = _standing(session, begun, records)
            if as_json:
                click.echo(json.dumps(shown))
            else:
                for name, value in shown.items():
                    click.echo(f"{name:<18} {value}")
                click.echo(str(session.bill()))
            return 0

    return _answering(as_json, work)


@click.command("handoff")
@click.argument("session_id", metavar="ID")
@store_option
def handoff_command(session_id: str, store_url: str | None, as_json: bool) -> int:
    """Print what session ID would pass on now, as a handoff document."""
    del as_json  # it is JSON in any case

    def work() -> int:
        from penstock.agent import resumed
        from penstock.handoff import encode

        with opened(store_url) as store:
            session, _, _ = resumed(store, session_id)
            click.echo(encode(session.handoff()))
            return 0

    return _answering(True, work)


# ── beginning and going on ───────────────────────────────────────────────────────────────────────────────────────


def _begun(store: Store, about: dict[str, Any], quiet: bool) -> Agent:
    from penstock.agent import new_id
    from penstock.session import Session
    from penstock.wires import tools_of

    model, toolbox, limits, counter = _parts(store, about)
    session = Session(
        limits=limits,
        wire=model.wire,
        system=_system(),
        tools=tools_of(toolbox.tools, model.wire),
        session_id=new_id(),
        agent=about["profile"],
    )
    session.counter = counter
    agent = _agent(session, model, toolbox, store, quiet, streams=about["stream"])
    agent.begin(about=about, at=time.time())
    return agent


def _resumed(store: Store, session_id: str, quiet: bool) -> tuple[Agent, tuple[str, list[dict[str, Any]]]]:
    from penstock.agent import remembered, resumed

    session, begun, next_seq = resumed(store, session_id)
    about = begun["about"]
    model, toolbox, _, counter = _parts(store, about)
    session.counter = counter
    acts, _ = remembered(store, session_id)
    toolbox.ledger = toolbox.ledger.after(*acts)
    agent = _agent(session, model, toolbox, store, quiet, next_seq, streams=about.get("stream", True))
    return agent, _verified(store, session_id, about["root"])


def _parts(store: Store, about: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    from penstock.ledger import Ledger
    from penstock.models import load_model
    from penstock.settings import open_workspace, profile_of
    from penstock.tokens import best_counter
    from penstock.toolbox import Toolbox

    workspace, _ = open_workspace(about["root"])
    limits = profile_of(workspace.root, about["profile"])
    # `local` keeps to its own window, whatever is believed
    told = None if about["model"] == "local" else about["window"]
    model = load_model(about["model"], base_url=about["base_url"], window_tokens=told)
    window = about["window"] or model.window_tokens or limits.window_tokens
    limits = limits.scaled(window, about["reserve"])
    ledger = Ledger() if about["profile"] != "default" else None
    toolbox = Toolbox(workspace, store, window_tokens=window, model=model.name, ledger=ledger)
    if about["allow_edit"]:
        from penstock.editing import Editing

        toolbox.allow(Editing(workspace.root, guard=toolbox.may_write))
    if about["allow_shell"]:
        from penstock.shell import Shell

        toolbox.allow(Shell(about["root"], store=store, allowance_bytes=max(2_000, toolbox.result_chars)))
    return model, toolbox, limits, best_counter("o200k" if about["model"] == "local" else model.name)


def _agent(
    session: Session, model: Any, toolbox: Any, store: Store, quiet: bool, next_seq: int = 0, *, streams: bool
) -> Agent:
    from penstock.agent import Agent

    listener = None if quiet else _Face()
    return Agent(session, model, toolbox, store, listener=listener, next_seq=next_seq, streams=streams)


def _system() -> str:
    from penstock.notices import AGENT, NAVIGATION

    return f"{AGENT}\n\n{NAVIGATION}"


def _settled(agent: Agent) -> list[str]:
    """What is known of effects that were begun before the session stopped; those that are known now are written down."""
    from penstock.notices import effect_settled
    from penstock.session import Effected

    lines: list[str] = []
    for effect_id, effect in agent.session.state.unknown_effects.items():
        told = agent.tools.settled(effect.kind, effect.what, effect.digest)
        if told != "unknown":
            agent.feed(Effected(effect_id=effect_id, digest=effect.digest))
        lines.append(effect_settled(effect.kind, effect.what, told))
    return lines


def _verified(store: Store, session_id: str, root: str) -> tuple[str, list[dict[str, Any]]]:
    """What the files that the session knows are now, for people and for the model."""
    from penstock.agent import remembered
    from penstock.verifying import Tracked, report, verify
    from penstock.workspace.root import Root

    _, files = remembered(store, session_id)
    looking = Root(root)
    try:
        found = verify(looking, [Tracked.from_dict(file) for file in files.values()])
    finally:
        looking.close()
    rows = [
        {"path": one.tracked.path, "state": one.state, "reason": one.reason, "read_again": one.must_be_read}
        for one in found
    ]
    return report(found), rows


# ── working ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Face:
    """The answer on standard output as it comes, a line of status on standard error."""

    def __init__(self) -> None:
        self.said = False

    def text(self, delta: str) -> None:
        self.said = True
        click.echo(inert.show(delta)[0], nl=False)

    def step(self, session: Session, what: str) -> None:
        if self.said:
            click.echo()
            self.said = False
        state = session.state
        click.echo(f"[turn {state.all_turns}, window {session.fill():.0%}] {inert.show_argument(what)}", err=True)


def _worked(agent: Agent, prompt: str | None, max_turns: int | None, report: str | None = None) -> Run:
    if prompt is not None and report:
        prompt = f"{prompt}\n\n{report}"
    with _interrupts(agent):
        return agent.run(prompt, max_turns=max_turns)


@contextmanager
def _interrupts(agent: Agent) -> Iterator[None]:
    """The first Ctrl-C stops the work and keeps the session; a second ends the process."""

    def stop(*_: object) -> None:
        agent.interrupt()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    earlier = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, earlier)


def _told(done: Run, agent: Agent, as_json: bool, **more: Any) -> int:
    if as_json:
        click.echo(
            json.dumps(
                {
                    "session": done.session,
                    "answer": done.answer,
                    "citations": _citations(done.answer),
                    "turns": done.turns,
                    "usage": done.usage,
                    "cuts": done.cuts,
                    "recoveries": done.recoveries,
                    "outcome": done.outcome,
                    **({"message": done.message} if done.message else {}),
                    **more,
                }
            )
        )
    else:
        click.echo()
        if done.message:
            click.echo(done.message, err=True)
        usage = f"{done.usage['input_tokens']} tokens in, {done.usage['output_tokens']} out"
        click.echo(
            f"[session {done.session}: {done.outcome}, {done.turns} turns, {usage}, {done.cuts} cuts, "
            f"{done.recoveries} recoveries, window {agent.session.fill():.0%}]",
            err=True,
        )
    return _OUTCOMES.get(done.outcome, answer.FAULT)


def _citations(text: str) -> list[dict[str, Any]]:
    """The lines that an answer quotes, in its order."""
    cited = filter(None, map(_CITATION.fullmatch, text.split("\n")))
    return [{"path": match[1], "line": int(match[2]), "text": match[3]} for match in cited]


def _begun_with(store: Store, session_id: str) -> dict[str, Any]:
    for record in store.events(session_id):
        if record.type == "Prompted":
            message: Any = record.data["message"]
            return {"question": str(message.get("content"))[:200]}
        if record.seq > 1:
            break
    return {}


def _standing(session: Session, begun: dict[str, Any], records: int) -> dict[str, Any]:
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


def _answering(as_json: bool, work: Callable[[], int]) -> int:
    from penstock.store import StoreFault

    try:
        return work()
    except ToolError as error:
        return answer.fail(error.code, error.message, None, answer.status_of(error.code), as_json=as_json)
    except StoreFault as error:
        return answer.fail(error.code, error.message, None, answer.FAULT, as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)
