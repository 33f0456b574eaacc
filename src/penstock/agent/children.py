"""Who does a piece of work with a context of its own? A child agent; the model that assigned the work reads only its end (S-8).

A child has its own session, tools with smaller limits (G-8) and a part of its parent's budget, of which it returns what it does
not use. Its records are in the journal of its parent's session. One child works at a time, and delegates no work. Laws: all
agents of a session together never spend more than its budget; a child interrupted by a kill continues where it was, and one that
had ended is not started again. Leaves to others: the loop that a child runs in (`loop`), and accounts (`purse`).
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.agent.asking import last_words
from penstock.agent.journal import children_of
from penstock.agent.protocols import AgentRun, Done
from penstock.agent.record_types import ENDED
from penstock.errors import CallerError, ToolError
from penstock.guard.output import OutputLimits, guard_output
from penstock.session import Session
from penstock.text import escape
from penstock.text.notices import counted, not_an_object
from penstock.text.redaction import redacted
from penstock.tools import REQUIRED, Parameter, Tool, check
from penstock.wires import tool_definitions
from penstock.wires.placeholders import GO_ON_FROM_HERE

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.agent.journal import ChildJournal, KeptChild
    from penstock.agent.loop import Agent
    from penstock.agent.protocols import Listener
    from penstock.agent.purse import Purse
    from penstock.agent.toolbox import Toolbox
    from penstock.session.limits import Limits
    from penstock.wires import ToolCall

TASK = Tool(
    "task",
    "Give work to a child agent",
    "Let a child agent do a piece of work in a context window of its own, with the same tools: a search through many files, "
    "say, whose steps you need not see. It knows nothing of this conversation, so the prompt has to say everything. You get its "
    "last words and the names of the files that it changed. What it spends is taken from your budget.",
    (
        Parameter("description", "string", REQUIRED, "the work in three to eight words"),
        Parameter("prompt", "string", REQUIRED, "what to do, what is known already, and what to answer"),
        Parameter("profile", "string", "", "its limits, by the name of a profile; yours when left out"),
        Parameter(
            "tokens", "integer", 0, "the most that it may spend, input and output; 0 is half of what you have left"
        ),
    ),
)
"""The tool by which a model gives work to a child agent."""
CHILD_INSTRUCTIONS = """\
You work for another agent, which reads your last message and nothing else of what you do: say in it all that was asked for, what
you changed, and what you could not do."""
"""Instructions for a child agent, in addition to those of its parent."""
_SHARE = 2
"""The part of what is left, a half, that a child gets by default."""
_NAMED_FILES = 20
"""How many changed files a result names."""


class ChildTools(NamedTuple):
    """What is needed to equip a child agent."""

    toolbox: Callable[[Limits], Toolbox]
    """Makes the tools of a child with such limits."""
    limits: Callable[[str], Limits]
    """Returns a profile by its name. Raises `CallerError` for an unknown one."""


class _ChildListener:
    """Shows a child's steps among those of its parent; its words are not an answer to the person."""

    def __init__(self, shown: Listener, name: str) -> None:
        self._shown, self._name = shown, name

    def text(self, delta: str) -> None:
        pass

    def step(self, session: Session, what: str) -> None:
        self._shown.step(session, f"{self._name}: {what}")


class Children:
    """The child agents of one agent."""

    def __init__(self, agent: Agent, toolbox: Toolbox, equipment: ChildTools, *, instructions: str) -> None:
        """Give an agent children; it needs a purse, and offers `TASK` to its model.

        Args:
            agent: the parent.
            toolbox: its tools.
            equipment: how a child is equipped.
            instructions: a child's instructions before `CHILD_INSTRUCTIONS`.
        """
        self._agent, self._toolbox, self._equipment = agent, toolbox, equipment
        self._instructions = instructions
        kept = children_of(agent.store, agent.session.session_id)
        self._kept: dict[str, KeptChild] = {str(child.begun["place"]): child for child in kept.values()}
        """Earlier children, by the place of their calls."""
        self._working: Agent | None = None
        self._used = {"input_tokens": 0, "output_tokens": 0}
        agent.children = self

    def takes(self, call: ToolCall) -> bool:
        """Return whether a call gives work to a child."""
        return call.name == TASK.name

    def is_begun(self, place: str) -> bool:
        """Return whether a child was begun for the call at a place, before a kill."""
        return place in self._kept

    def interrupt(self) -> None:
        """End what the working child runs; it learns from its parent that it is to stop."""
        if self._working is not None:
            self._working.tools.interrupt()

    def used(self) -> dict[str, int]:
        """Return the tokens that children took in this run, as `input_tokens` and `output_tokens`."""
        used, self._used = self._used, {"input_tokens": 0, "output_tokens": 0}
        return used

    def run(self, call: ToolCall, place: str) -> Done:
        """Let a child do the work of a call; its outcome is the result.

        Args:
            call: the call of `TASK`.
            place: the turn and the id of the call, by which a child that was cut off is recognised.
        """
        # A call that is met again has three states: its child has ended (its words are given), it was cut off (it continues), or it
        # was never begun. The place, not the prompt, tells them apart: a model may give the same work twice.
        kept = self._kept.get(place)
        if kept is not None and kept.ended is not None:  # its parent was killed before it heard
            return Done(text=str(kept.ended["text"]), failed=bool(kept.ended["failed"]))
        try:
            child = self._begun(call, place) if kept is None else None
        except (ToolError, CallerError) as error:
            return Done(text=str(error), failed=True)
        if child is not None:
            agent, prompt = child
            return self._worked(agent, prompt, "")
        assert kept is not None  # noqa: S101 - else there is a new one
        agent = self._again(kept)
        # What a resume has found out matters to both: the parent hears it with the result of this call.
        return self._worked(agent, _next_prompt(agent.session, str(kept.begun["prompt"])), self._agent.told)

    def cut_off(self) -> list[str]:
        """End the children that a kill has left unfinished and that do not continue.

        Returns:
            A message about each; and the results of those that had ended, if the parent was killed before it heard.
        """
        told = []
        state = self._agent.session.state
        open_places = {f"{state.all_turns}:{call.id}" for call in state.open_calls}
        for place, kept in self._kept.items():
            if kept.ended is not None:
                told += [str(kept.ended["text"])] if place in open_places else []
            else:
                agent = self._again(kept)
                with closing(agent.tools):
                    done = AgentRun(session=kept.name, outcome="cut off", turns=agent.session.state.all_turns)
                    told.append(self._ended(agent, done).text)
        return told

    # ── one child ────────────────────────────────────────────────────────────────────────────────────────────────

    def _begun(self, call: ToolCall, place: str) -> tuple[Agent, str]:
        """Return a new child and its prompt, with a budget taken from its parent's.

        Raises:
            ToolError: for wrong arguments, or a budget that is not available.
            CallerError: for an unknown profile.
        """
        if (unread := call.unread) is not None:
            raise ToolError("bad_argument", not_an_object(unread))
        given: Any = check(TASK, call.values)
        parent = self._agent.session
        limits = parent.state.limits
        if given["profile"]:
            named = self._equipment.limits(given["profile"])
            limits = named.scaled(min(named.window_tokens, limits.window_tokens))
        purse = self._purse()
        # Taken from the parent's purse before the child exists: a kill between the two leaves tokens that nobody spends; the other
        # way round would leave a child that spends them twice.
        child_purse = purse.for_child(self._granted(given["tokens"]))
        tools = self._equipment.toolbox(limits)
        tools.changes = self._toolbox.changes
        session = Session(
            limits=limits,
            wire=parent.state.transcript.wire,
            system=f"{self._instructions}\n\n{CHILD_INSTRUCTIONS}",
            tools=tool_definitions(tools.tools, parent.state.transcript.wire),
            session_id=f"{parent.session_id}/{child_purse.name}",
            agent=given["profile"] or parent.agent,
        )
        agent = self._driving(session, tools, child_purse)
        agent.begin(place=place, description=redacted(given["description"]), prompt=redacted(given["prompt"]))
        return agent, given["prompt"]

    def _granted(self, asked_tokens: int) -> int:
        """Return what a child is given. Raises `ToolError` if that is more than there is."""
        left = self._purse().left_tokens
        if asked_tokens > left:
            raise ToolError(
                "bad_argument",
                f"tokens: you have {left} left, so a child cannot have {asked_tokens}. Half of that is usual.",
            )
        return asked_tokens or left // _SHARE

    def _again(self, kept: KeptChild) -> Agent:
        """Return a child as it was when it was cut off."""
        parent, header = self._agent.session, kept.begun["header"]
        session = Session.replay(header, kept.rows, counter=parent.counter, dialect=parent.dialect)
        tools = self._equipment.toolbox(session.state.limits)
        tools.changes = self._toolbox.changes
        # What the child has read and written is journaled with it, and its ledger continues from there: otherwise it would know
        # neither what it has seen nor that it has tried the same thing before.
        tools.ledger = tools.ledger.after(*kept.acts)
        agent = self._driving(session, tools, self._purse().of(kept.name))
        _journal(agent).changed |= kept.changed
        return agent

    def _driving(self, session: Session, tools: Toolbox, purse: Purse) -> Agent:
        """Return the agent that drives a child."""
        session.counter, session.dialect = self._agent.session.counter, self._agent.session.dialect
        return self._agent.child(session, tools, purse, _ChildListener(self._agent.listener, purse.name))

    def _purse(self) -> Purse:
        """Return what the parent may spend."""
        purse = self._agent.purse
        if purse is None:
            raise CallerError("An agent that gives work to others needs a budget.")
        return purse

    def _worked(self, agent: Agent, prompt: str | None, told: str) -> Done:
        """Let a child work to its end, and return the result for its parent."""
        before = agent.session.state
        self._working = agent
        with closing(agent.tools):
            try:
                done = _run(agent, prompt, told)
            finally:
                self._working = None
            after = agent.session.state
            self._used["input_tokens"] += after.input_tokens - before.input_tokens
            self._used["output_tokens"] += after.output_tokens - before.output_tokens
            done.turns = after.all_turns
            return self._ended(agent, done)

    def _ended(self, agent: Agent, done: AgentRun) -> Done:
        """Record how a child ended, give back what it left, and return the result for its parent."""
        changed = list(_journal(agent).changed)
        purse = agent.purse
        assert purse is not None  # noqa: S101 - a child has one
        if done.outcome == "interrupted":
            self._agent.is_stopped = True
        text = _result(purse, done, last_words(agent.session.state.transcript), changed)
        limits = OutputLimits(chars=self._toolbox.result_chars)
        guarded = guard_output(redacted(text), TASK.name, store=self._agent.store, limits=limits)
        failed = done.outcome != "answered"
        # Before anything is given back: a resume after a kill here must not start the child again.
        agent.record(ENDED, {"outcome": done.outcome, "turns": done.turns, "text": str(guarded), "failed": failed})
        purse.release()
        self._agent.adopt(agent)
        self._toolbox.adopt(_toolbox(agent))
        handles = () if guarded.handle is None else (guarded.handle,)
        return Done(text=guarded, failed=failed, is_refusal=failed, handles=handles)


def _journal(agent: Agent) -> ChildJournal:
    """Return the journal of a child."""
    from penstock.agent.journal import ChildJournal

    assert isinstance(agent.journal, ChildJournal)  # noqa: S101 - made by `Agent.child`
    return agent.journal


def _toolbox(agent: Agent) -> Toolbox:
    """Return the tools of a child."""
    tools: Any = agent.tools
    made: Toolbox = tools
    return made


def _next_prompt(session: Session, first: str) -> str | None:
    """Return the prompt for a child that was cut off: its task if it never got it, None if it has open work."""
    state = session.state
    if not any(entry.role == "user" for entry in state.transcript.entries):
        return first
    return GO_ON_FROM_HERE if state.phase == "idle" else None


def _run(agent: Agent, prompt: str | None, told: str) -> AgentRun:
    """Let a child work; one that had finished before a kill is not asked again."""
    state = agent.session.state
    if prompt == GO_ON_FROM_HERE and (words := last_words(state.transcript)):
        return AgentRun(session=agent.session.session_id, answer=words)
    return agent.run(prompt, told=told)


def _result(purse: Purse, done: AgentRun, words: str, changed: list[str]) -> str:
    """Return what the parent reads: how the child ended and what it changed in a line, then its words."""
    spent, granted = purse.account.spent_tokens, purse.account.granted_tokens
    ended = {
        "answered": "answered",
        "interrupted": "was stopped by the person",
        "cut off": "was cut off and does not continue",
        "budget": "has used up its budget",
        "outage": "was stopped by an outage of the provider",
    }.get(done.outcome, f"stopped ({done.outcome})")
    names = [escape.show_argument(path) for path in changed[:_NAMED_FILES]]
    if len(changed) > _NAMED_FILES:
        names.append(f"and {len(changed) - _NAMED_FILES} more")
    files = f"changed {', '.join(names)}" if names else "changed no file"
    head = f"{purse.name} {ended} after {counted(done.turns, 'turn')}, {spent} of {granted} tokens; {files}."
    if done.outcome == "budget" and not spent:
        head = f"{purse.name} could not begin: its first request may take more than its {granted} tokens; {files}."
    if done.outcome == "answered":
        return "\n\n".join([head, *done.warnings, done.answer])
    why = [] if done.outcome in {"interrupted", "cut off", "budget"} or not done.message else [done.message]
    last = [f"Its last words: {words}"] if words else []
    return "\n\n".join([head, *why, *last])
