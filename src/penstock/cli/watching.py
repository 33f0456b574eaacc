"""What is shown of a run, and how is it stopped? The answer on standard output, progress on standard error; or events.

A person at a terminal sees the answer as it comes. A pipe gets the answer alone, once it is known to be one: what a model says
before it calls a tool is not. `stream-json` gives a program one JSON object a line. Laws: standard output holds the answer and
nothing else; one Ctrl-C ends the work within half a second, and the last line says how to continue. Leaves to others: who works
(`running`).
"""

from __future__ import annotations

import json
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, terminal
from penstock.cli.markdown import MarkdownWriter, citations_in
from penstock.errors import ToolError
from penstock.text import escape
from penstock.text.calls import Call
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.agent.loop import Agent
    from penstock.agent.protocols import AgentRun
    from penstock.session import Event, Session

FORMATS = ("text", "json", "stream-json")
"""The values of `--output-format`."""
# An outcome not listed here ended because a provider failed: 8.
_STATUSES = {
    "answered": 0,
    "max_turns": answer.PARTIAL,
    "loop": answer.PARTIAL,
    "interrupted": answer.INTERRUPTED,
    "irreducible": answer.OVER_BUDGET,
    "budget": answer.OVER_BUDGET,
}
_GRACE_SECONDS = 0.35
"""How long running work has to end by itself after Ctrl-C; then it is broken off, as by a kill."""


class TerminalListener:
    """Shows a person what happens: the answer on standard output as it comes, a line for each step on standard error.

    Args:
        is_markdown: whether answers are drawn as Markdown, if somebody watches.
    """

    def __init__(self, *, is_markdown: bool) -> None:
        self._is_watched = terminal.is_watched(sys.stdout)
        self._markdown = MarkdownWriter() if is_markdown and self._is_watched else None
        self._has_text = False
        self.has_shown = False
        """Whether the newest words of the model are on standard output."""

    def text(self, delta: str) -> None:
        """Show a piece of the answer, if somebody watches it come."""
        if not self._is_watched:
            return
        self._has_text = self.has_shown = True
        shown = escape.show(delta)[0]
        if self._markdown is not None:
            self._markdown.write(shown)
        else:
            click.echo(shown, nl=False)

    def step(self, session: Session, what: str) -> None:
        """Print what the session does next; the words being shown are over."""
        if self._has_text:
            self._has_text = False
            if self._markdown is not None:
                self._markdown.finish()
            else:
                click.echo()
        # A program that pipes the output of several commands reads its lines in order only if each is out before the next.
        click.echo(
            f"[turn {session.state.all_turns}, window {session.fill():.0%}] {escape.show_argument(what)}", err=True
        )


class EventListener:
    """Writes what happens for a program: one JSON object a line, the type first."""

    def text(self, delta: str) -> None:
        """Write a piece of the model's words."""
        _write("text", text=delta)

    def step(self, session: Session, what: str) -> None:
        """Write nothing: each step is an event, too."""

    def wait(self, what: str) -> None:
        """Write that the store is waited for, or answers again, which is no event of the session."""
        _write("wait", message=what)

    def watch(self, agent: Agent) -> None:
        """Write every event of an agent's session from now on.

        Args:
            agent: whose events; its beginning is written at once.
        """
        limits = agent.session.state.limits
        _write("init", session=agent.session.session_id, model=agent.model.name, window_tokens=limits.window_tokens)
        self._tell(agent)
        agent.begun_child = self._tell_child

    def _tell_child(self, child: Agent) -> None:
        """Write every event of a child agent, under its name."""
        self._tell(child, child=child.session.session_id.rpartition("/")[2])

    def _tell(self, agent: Agent, **whose: str) -> None:
        """Write every event of an agent from now on, with its owner."""
        feed = agent.feed

        def told(event: Event, handles: tuple[str, ...] = ()) -> None:
            before = len(agent.session.state.transcript.entries)
            feed(event, handles)
            for kind, fields in _seen(event, agent.session, before, handles):
                _write(kind, **whose, **fields)

        agent.feed = told  # type: ignore[method-assign]  # every event, the loop's own included, passes `feed`


def _write(event: str, /, **fields: Any) -> None:
    """Write one event, and leave nothing in a buffer."""
    click.echo(json.dumps({"type": event, **fields}))


def _seen(
    event: Event, session: Session, before: int, handles: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a program is told of an event: types as other agents name them, plus cuts, refusals and handoffs."""
    from penstock import session as events

    new = session.state.transcript.entries[before:]
    match event:
        case events.Prompted():
            yield "message", {"role": "user", "text": new[-1].text if new else ""}
        case events.Replied():
            for entry in new:
                if entry.text:
                    yield "message", {"role": "assistant", "text": entry.text}
                for call in entry.calls:
                    yield "tool_use", {"id": call.id, "name": call.name, "arguments": call.arguments}
            yield "usage", {"input_tokens": event.input_tokens, "output_tokens": event.output_tokens}
        case events.Returned():
            failed = {outcome.call_id: outcome.failed for outcome in event.outcomes}
            for entry in new:
                for result in entry.results:
                    yield (
                        "tool_result",
                        {"id": result.call_id, "failed": failed.get(result.call_id), "text": result.text},
                    )
        case events.Refused():
            yield "refusal", {name: value for name, value in event.overflow.items() if value is not None}
        case events.Failed():
            yield (
                "error",
                {"kind": event.kind, "message": event.message, "retry_after_seconds": event.retry_after_seconds},
            )
        case events.Compacted():
            yield "cut", {"strategy": event.strategy, "edits": len(event.edits), "handles": list(handles)}
        case events.HandedOff():
            yield "handoff", {"reason": event.reason, "evidence": event.evidence, "handles": list(handles)}


# ── working ──────────────────────────────────────────────────────────────────────────────────────────────────────


def work(
    agent: Agent,
    prompt: str | None,
    max_turns: int | None = None,
    told: str = "",
    *,
    signals: list[int] | None = None,
) -> AgentRun:
    """Let an agent work on a prompt; Ctrl-C stops it, and keeps the session.

    Args:
        agent: the agent that works.
        prompt: what the person says; None continues open work.
        max_turns: after so many answers it is stopped.
        told: what the model has to know besides the prompt.
        signals: takes the number of each signal that asks it to end.

    Raises:
        ToolError: another process continues the same session.
    """
    from penstock.store import StoreFault

    with _stopped_by_interrupts(agent, [] if signals is None else signals), telling_of_others(agent.session.session_id):
        try:
            return agent.run(prompt, max_turns=max_turns, told=told)
        except KeyboardInterrupt:
            return agent.broken_off()
        except StoreFault:
            if agent.is_stopped:  # so that the store is not waited for: its last record is not the interrupt
                return agent.broken_off()
            # The fault itself does not name the session, and what was acknowledged before it is kept.
            click.echo(f"The session is kept up to its last record. To continue: {agent.command('resume')}", err=True)
            raise


@contextmanager
def telling_of_others(session_id: str) -> Iterator[None]:
    """While this lasts, raise a clear refusal if another process continues the session.

    Args:
        session_id: the session.

    Raises:
        ToolError: `busy`, with the call that shows what that process does.
    """
    from penstock.store import Conflict

    try:
        yield
    except Conflict as error:
        said = f"Another process is continuing session {session_id}, so this one has stopped."
        raise ToolError("busy", said, Call("show", {"session_id": session_id})) from error


@contextmanager
def _stopped_by_interrupts(agent: Agent, signals: list[int]) -> Iterator[None]:
    """Let Ctrl-C end the work while this lasts: between two steps if that comes soon, else at once; a second one at once.

    A request to end the process, and a closed terminal, have the same effect: the journal then says that it was stopped.
    """
    from penstock.workspace.system import ending_signals

    earlier = {number: signal.getsignal(number) for number in ending_signals()}
    # A program started with a signal ignored should continue despite it.
    ours = [number for number, handler in earlier.items() if handler != signal.SIG_IGN or number == signal.SIGINT]

    def stop_at_once(number: int, _: object) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    def stop(number: int, _: object) -> None:
        signals.append(number)
        for other in ours:
            signal.signal(other, stop_at_once)
        agent.interrupt()
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_REAL, _GRACE_SECONDS)

    for number in ours:
        signal.signal(number, stop)
    if sys.platform != "win32":
        rung = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        yield
    finally:
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, rung)
        for number in ours:
            signal.signal(number, earlier[number] or signal.SIG_DFL)


def finish(done: AgentRun, agent: Agent, output_format: str, **more: Any) -> int:
    """Print the outcome of the work, and return the exit status.

    Args:
        done: how it ended.
        agent: the agent that worked.
        output_format: one of `FORMATS`.
        more: additional fields for a program.
    """
    usage = done.usage or {"input_tokens": 0, "output_tokens": 0}
    if output_format != "text":
        cited = [{"path": path, "line": line, "text": text} for path, line, text in citations_in(done.answer)]
        result = {
            **answer.fields_of(done, "session", "answer"),
            "citations": cited,
            "turns": done.turns,
            "usage": usage,
            **answer.fields_of(done, "cuts", "recoveries", "outcome"),
            **({"message": done.message} if done.message else {}),
            **({"warnings": list(done.warnings)} if done.warnings else {}),
            **more,
        }
        if output_format == "json":
            answer.print_json(result)
        else:
            _write("result", **result)
    else:
        has_shown = isinstance(agent.listener, TerminalListener) and agent.listener.has_shown
        if done.answer and not has_shown:
            click.echo(escape.show(done.answer)[0])
        if done.message:
            click.echo(done.message, err=True)
        click.echo(
            f"[session {done.session}: {done.outcome}, {counted(done.turns, 'turn')}, {usage['input_tokens']} tokens in, "
            f"{usage['output_tokens']} out, {counted(done.cuts, 'cut')}, "
            f"{counted(done.recoveries, 'recovery', 'recoveries')}, window {agent.session.fill():.0%}]",
            err=True,
        )
    return _STATUSES.get(done.outcome, answer.FAULT)
