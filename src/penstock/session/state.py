"""What is the case now? The state of a session, and how each event changes it (S-1 to S-4, S-11 to S-13).

A state is a value, and `after` is the only way to the next. The table says which event is accepted in which phase, and draws the
diagram of docs/sessions.md. Laws: replaying the events rebuilds an equal state; whatever happened, the next prompt of the user
is accepted. Leaves to others: what to do next (`decisions`), clocks, models and tools.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from penstock.context import activity
from penstock.context.handoff import decode
from penstock.errors import CallerError
from penstock.overflow import Overflow
from penstock.overflow.learned import LIFETIME_SECONDS, SMALLEST_TOKENS
from penstock.session import events as ev
from penstock.session.domains import changed_domain
from penstock.session.effects import settled_later
from penstock.session.faults import CURED_BY_WAITING, Faults
from penstock.session.limits import Limits, Pressure
from penstock.session.loops import Did, Loops
from penstock.wires import Cleared, Collapsed, Transcript, placeholders, result_messages, text_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.context.handoff import Handoff
    from penstock.session.events import Event
    from penstock.text.json_access import Json
    from penstock.wires import ToolCall

Phase = Literal["idle", "ready", "calling", "refused", "ended"]
"""What a session waits for: `idle` the user, `ready` the model, `calling` the tools, `refused` a cure, `ended` the person's next
words.
"""

# None means that the event's content decides the phase: its handler sets it.
TRANSITIONS: dict[Phase, dict[str, Phase | None]] = {
    # A session may begin with a handoff of another session.
    "idle": {"Prompted": "ready", "HandedOff": "idle"},
    "ready": {
        "Replied": None,  # calls: `calling`; else the turn of the user: `idle`
        "Refused": "refused",
        "Failed": None,  # exhausted, or nothing that waiting cures: `ended`; else it is retried
        "Compacted": "ready",
        "HandedOff": "ready",
        "Interrupted": "idle",
    },
    "calling": {"Returned": None, "Interrupted": "idle"},
    "refused": {
        "Compacted": "ready",
        "Summarised": "refused",
        "HandedOff": "ready",
        "Failed": None,  # of a summary
        "Interrupted": "idle",
        "Prompted": "ready",  # if nothing could be sent: the user continues with something else
    },
    "ended": {"Prompted": "ready"},
}
"""Which events each phase accepts, and the phase that each leads to; None if the event's content decides."""
ANYWHERE = ("Ticked", "Noted", "Intended", "Effected", "Closed")
"""Events that every phase accepts and that leave it as it is; only `Closed` ends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """A place where one piece of work ends and a handoff is due (S-3)."""

    reason: Literal["turns", "context", "domain", "errors"]
    evidence: str
    """Why a handoff is due, with its number: `30 turns`."""
    turn: int
    """The turn of the session at which it was crossed, counted from the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Todo:
    """One item of the todo list, identified by its title."""

    title: str
    priority: int = 2
    """1 comes before 2."""
    is_done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Something that changes the world, recorded before it is done (S-12)."""

    kind: str
    what: str
    digest: str = ""
    """What the tool can use to determine whether it was done; once known, the digest of what is there."""
    is_known: bool = False
    """Whether it is known how an effect ended."""


class RefusedRequest(NamedTuple):
    """A request that the provider refused, what the refusal said, and the reply that was asked for."""

    transcript: Transcript
    overflow: Overflow
    reserve_tokens: int


@dataclass(frozen=True, kw_only=True)
class State:
    """All that a session knows, as a value."""

    limits: Limits
    """The limits of the window as it is known by now: a refusal may have named a smaller one."""
    promised: Limits | None = None
    """The limits before a refusal named a smaller window; None if none has."""
    refused_at_seconds: float | None = None
    """When the newest refusal came; None before any, or until a time is reported after it."""
    transcript: Transcript
    """Everything that was said; forgetting is an edit of it."""
    phase: Phase = "idle"
    turns: int = 0
    """Model calls since the last fresh start."""
    all_turns: int = 0
    """Model calls since the session began."""
    now_seconds: float = 0.0
    """The latest reported time; 0 before any."""
    open_calls: tuple[ToolCall, ...] = ()
    """The calls that the model asked for and that have not returned; empty outside the phase `calling`."""
    faults: Faults = field(default_factory=Faults)
    loops: Loops = field(default_factory=Loops)
    overflow: Overflow | None = None
    """What the newest refusal said, until a request succeeds; None if none is being cured."""
    refusals: tuple[RefusedRequest, ...] = ()
    """The requests that were refused since the last success, as they were sent, oldest first."""
    overflow_calls: int = 0
    """Calls to a provider that this overflow has cost since the last success: refusals and summaries."""
    summary: str | None = None
    """The text of the summary that was asked for; None if it failed, or none was asked for."""
    has_summary: bool = False
    """Whether a summary was asked for since the newest refusal."""
    reserve_tokens: int = 0
    """The reply to ask for: first as it was in the refused request, then what the cure left of it; 0 uses the limits."""
    compacted_at: int | None = None
    """How many entries there were at the last compaction: another one needs new entries. None before the first."""
    handed_on: Handoff | None = None
    """The handoff that the last fresh start began with; None before the first."""
    undone_at: int = 0
    """How many entries of this transcript came before the newest undo: what succeeded by then may not succeed now."""
    begun_at: int | None = None
    """How many entries the last fresh start had: another one needs something to hand on. None before the first."""
    crossed: frozenset[str] = frozenset()
    """Reasons of boundaries that were crossed and not left since."""
    due: Boundary | None = None
    """The boundary whose handoff is still to be written; None for none."""
    boundaries: tuple[Boundary, ...] = ()
    """All boundaries of the session, in order."""
    todos: tuple[Todo, ...] = ()
    subtask_done: bool = False
    """Whether an item of the todo list was finished since the last request: a moment to compact."""
    effects: tuple[tuple[str, Effect], ...] = ()
    """Announced effects by their ids, in order."""
    compactions: int = 0
    handoffs: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    ended: str = ""
    """Why the work stopped; empty while it continues."""

    @property
    def window_until_seconds(self) -> float | None:
        """When the smaller window that a refusal named is forgotten, if no other refusal comes; None if none was named (R-5)."""
        if self.promised is None or self.refused_at_seconds is None:
            return None
        return self.refused_at_seconds + LIFETIME_SECONDS

    @property
    def unknown_effects(self) -> dict[str, Effect]:
        """Effects that were begun and whose outcome nobody knows, by id: never repeated without a look."""
        return {name: effect for name, effect in self.effects if not effect.is_known}

    def place_of(self, call_id: str) -> str:
        """Return what distinguishes an open call from all others of the session: some servers number the calls of each turn
        anew.
        """
        return f"{self.all_turns}:{call_id}"

    def effect_of(self, place: str) -> Effect | None:
        """Return what the call at a place was to change, as announced last; None if nothing was.

        Args:
            place: as returned by `place_of`. The id of an effect is a unique name, a colon, and the place.
        """
        begun = (effect for name, effect in reversed(self.effects) if name.partition(":")[2] == place)
        return next(begun, None)


_NO_REFUSAL: dict[str, Any] = {"overflow": None, "refusals": (), "overflow_calls": 0}
"""The fields of a state in which no refusal is being cured."""


def after(state: State, event: Event) -> State:
    """Return the state after an event.

    Args:
        state: the state before; unchanged.
        event: what happened.

    Raises:
        CallerError: for an event that the phase does not accept, or whose content is invalid.
    """
    name = ev.name_of(event)
    if name not in ANYWHERE and name not in TRANSITIONS[state.phase]:
        taken = sorted({*TRANSITIONS[state.phase], *ANYWHERE})
        raise CallerError(f"a session that is {state.phase} takes no {name}, but {', '.join(taken)}")
    made = _HANDLERS[type(event)](state, event)
    to = TRANSITIONS[state.phase].get(name)
    return made if to is None or name in ANYWHERE else replace(made, phase=to)


def _prompted(state: State, event: ev.Prompted) -> State:
    """The user said something: a new request, free of the refusals and loops of the last one and, if errors ended the session,
    of those.
    """
    grown = _answered_for(state.transcript).append(event.message)
    if not grown.entries[-1].speaks:
        raise CallerError("a prompt is a message in which the user says something")
    made = replace(state, transcript=grown, ended="", **_NO_REFUSAL, loops=Loops())
    if state.phase == "ended" and made.faults.is_exhausted(state.all_turns, state.limits.errors):
        made = replace(made, faults=Faults())  # the person has looked: a new budget
    # Boundaries are checked here because a prompt is the safe point: no call is open, and the newest words survive the handoff.
    if state.limits.domain_boundaries:
        prompts = [entry.index for entry in grown.entries if entry.speaks]
        if evidence := changed_domain(activity.actions(grown), prompts):
            made = _crosses(made, "domain", evidence)
    # With 0 tokens only turns count; `decisions` weighs fullness, since compaction may cure it.
    if made.limits.pressure(0, made.turns) >= Pressure.HAND_OFF:
        made = _crosses(made, "turns", f"{made.turns} turns")
    return made


def _answered_for(transcript: Transcript) -> Transcript:
    """Return the transcript with a placeholder for an answer that never came, so that roles alternate."""
    last = transcript.entries[-1] if transcript.entries else None
    if last is None or last.role in {"assistant", "system"}:
        return transcript
    return transcript.append(text_message(transcript.wire, "assistant", placeholders.STOPPED))


def _closed_calls(state: State) -> Transcript:
    """Return the transcript with a result for every open call that says what is known of it, so that it stays valid."""
    if not state.open_calls:
        return state.transcript
    rows = [(call, *_closing(state, call)) for call in state.open_calls]
    return state.transcript.append(*result_messages(state.transcript.wire, rows))


def _closing(state: State, call: ToolCall) -> tuple[str, bool]:
    """Return what is known of a call whose result nobody will see, in words, and whether that is a failure.

    Results are taken together or not at all, so a call that was completed can be among those that were cut off: its outcome is
    known, and a model that is not told would repeat it.
    """
    effect = state.effect_of(state.place_of(call.id))
    if effect is None or not effect.is_known:
        return placeholders.CLOSED, True
    return f"[{settled_later(effect.kind, effect.what, 'done' if effect.digest else 'ended')}]", not effect.digest


def _grown(transcript: Transcript, messages: tuple[Json, ...]) -> Transcript:
    """Return the transcript with new messages. Raises `CallerError` for what no wire has: it would be in every request."""
    for message in messages:
        if not isinstance(message, dict):
            raise CallerError(f"a message is an object, as its wire has it, not {type(message).__name__}")
    return transcript.append(*messages)


def _replied(state: State, event: ev.Replied) -> State:
    """The model answered: one more turn, its calls open, and the provider's row of failures ended."""
    grown = _grown(state.transcript, event.messages)
    new = grown.entries[len(state.transcript.entries) :]
    calls = tuple(call for entry in new for call in entry.calls)
    faults = state.faults.answered()
    return replace(
        state,
        transcript=grown,
        turns=state.turns + 1,
        all_turns=state.all_turns + 1,
        open_calls=calls,
        phase="calling" if calls else "idle",
        # An answer without calls ends the tools' row as well: the model has stopped trying.
        faults=faults if calls else faults.worked(),
        **_NO_REFUSAL,
        input_tokens=state.input_tokens + (event.input_tokens or 0),
        output_tokens=state.output_tokens + (event.output_tokens or 0),
        subtask_done=False,  # what it could free was freed before this request
    )


def _returned(state: State, event: ev.Returned) -> State:
    """The tools answered: failures and loops are counted, and may end the session."""
    asked = {call.id: call for call in state.open_calls}
    grown = _grown(state.transcript, event.messages)
    answered = {result.call_id for entry in grown.entries[len(state.transcript.entries) :] for result in entry.results}
    # Every provider refuses a transcript with an open call, so results are taken together or not at all.
    if left_open := sorted(asked.keys() - answered):
        raise CallerError(f"call {left_open[0]!r} has no result: all open calls return together")
    loops = state.loops
    # Equal calls of one reply count once: their model has seen no result in between, and was told nothing.
    for did in dict.fromkeys(
        Did(call.name, call.arguments, outcome.digest)
        for outcome in event.outcomes
        if (call := asked.get(outcome.call_id)) is not None
    ):
        loops = loops.with_call(*did)
    faults = state.faults.returned(
        state.all_turns,
        mistakes=sum(outcome.failed and not outcome.is_refusal for outcome in event.outcomes),
        is_success=any(not outcome.failed for outcome in event.outcomes),
    )
    made = replace(state, transcript=grown, open_calls=(), phase="ready", loops=loops, faults=faults)
    if loops.stalled >= state.limits.loop_end:
        return replace(made, ended="loop", phase="ended")
    return _bears(made)


def _refused(state: State, event: ev.Refused) -> State:
    """Return the state after a refusal, kept as a measurement; a smaller window that it names applies from now on."""
    try:
        overflow = Overflow(**event.overflow)
    except TypeError as error:
        raise CallerError(f"this is not a complete refusal: {error}") from error
    # A number below any real window is a code or a count of something else, and a limit in characters is not one in tokens: the
    # request shrinks, the limits stay.
    named = overflow.limit if overflow.unit == "tokens" and (overflow.limit or 0) >= SMALLEST_TOKENS else None
    asked = state.reserve_tokens or state.limits.reserve_tokens
    refused = RefusedRequest(transcript=state.transcript, overflow=overflow, reserve_tokens=asked)
    learned = state.limits.within(named)
    return replace(
        state,
        limits=learned,
        promised=state.promised or (None if learned is state.limits else state.limits),
        refused_at_seconds=state.now_seconds or None,
        overflow=overflow,
        refusals=(*state.refusals, refused),
        overflow_calls=state.overflow_calls + 1,
        summary=None,
        has_summary=False,
        reserve_tokens=asked,
    )


def _failed(state: State, event: ev.Failed) -> State:
    """The provider failed: what waiting cannot cure ends the work; the rest counts, and is retried."""
    limits = state.limits.errors
    faults = state.faults.failed(event.kind, state.all_turns, state.now_seconds, limits, event.retry_after_seconds)
    if event.kind not in CURED_BY_WAITING:
        return replace(state, faults=faults, ended=event.kind, phase="ended")
    return _bears(replace(state, faults=faults))


def _bears(state: State) -> State:
    """Return the state, ended if too much failed, at a boundary if too much failed in a row."""
    limits = state.limits.errors
    if state.faults.is_exhausted(state.all_turns, limits):
        return replace(state, ended="errors", phase="ended")
    if state.faults.is_boundary(limits):
        return _crosses(state, "errors", f"{state.faults.row} failures in a row")
    return state if state.faults.row else replace(state, crossed=state.crossed - {"errors"})


def _crosses(state: State, reason: Literal["turns", "context", "domain", "errors"], evidence: str) -> State:
    """Return the state with a boundary due: one per crossing; the next of its kind only after a fresh start, or once it was
    left.
    """
    if reason in state.crossed:
        return state
    boundary = Boundary(reason=reason, evidence=evidence, turn=state.all_turns)
    return replace(state, due=boundary, boundaries=(*state.boundaries, boundary), crossed=state.crossed | {reason})


def _compacted(state: State, event: ev.Compacted) -> State:
    """Something was forgotten: the edits are made, and the entries from which the next compaction pauses are counted."""
    if (event.reserve_tokens or 0) < 0:
        raise CallerError(f"a reply takes no {event.reserve_tokens} tokens")
    try:
        edits = tuple(Cleared(**edit) if "call_id" in edit else Collapsed(**edit) for edit in event.edits)
    except TypeError as error:
        raise CallerError(f"this is not a complete edit: {error}") from error
    return replace(
        state,
        transcript=_forgotten(state.transcript, edits),
        reserve_tokens=event.reserve_tokens or 0,
        subtask_done=False,
        # A cure that only lowered the reserve made no edits: it is not a compaction, and no reason to pause the next.
        compacted_at=len(state.transcript.entries) if event.edits else state.compacted_at,
        compactions=state.compactions + bool(event.edits),
    )


def _forgotten(transcript: Transcript, edits: tuple[Cleared | Collapsed, ...]) -> Transcript:
    """Return the transcript with these edits made at once, each checked against the transcript that it was made for."""
    # Each call raises for an edit that does not fit, and its result is dropped: every edit of a plan refers to the transcript
    # before any of them, so all are checked against that one and added together. Applied one by one, a later span would meet what
    # an earlier one had hidden.
    transcript.replace_results(edit for edit in edits if isinstance(edit, Cleared))
    for edit in edits:
        if isinstance(edit, Collapsed):
            transcript.drop_span(edit.first, edit.last, edit.note)
    return replace(transcript, edits=transcript.edits + edits)


def _summarised(state: State, event: ev.Summarised) -> State:
    """The model's summary came, or failed: either way it was a call."""
    return replace(state, summary=event.text, has_summary=True, overflow_calls=state.overflow_calls + 1)


def _named(state: State, event: ev.HandedOff) -> tuple[Boundary, ...]:
    """Return the boundary of a handoff that no event had crossed before: fullness and the hard limit of turns are detected at
    the step.
    """
    if state.due is not None or event.reason not in {"turns", "context"}:
        return ()
    reason: Literal["turns", "context"] = "turns" if event.reason == "turns" else "context"
    return (Boundary(reason=reason, evidence=event.evidence, turn=state.all_turns),)


def _handed_off(state: State, event: ev.HandedOff) -> State:
    """A handoff was written: the transcript starts afresh; errors of tools are left behind, an open breaker is not."""
    begun = state.transcript.afresh(event.text)
    return replace(
        state,
        transcript=begun,
        handed_on=decode(event.handoff),  # raises if it cannot be loaded
        turns=0,
        due=None,
        crossed=frozenset(),
        overflow=None,
        refusals=(),
        loops=Loops(),
        compacted_at=None,
        begun_at=len(begun.entries),
        undone_at=0,
        # After a refusal the fresh start is the next attempt at the same request: with a longer reply it could again be the larger
        # one in the provider's count.
        reserve_tokens=state.reserve_tokens if state.overflow_calls else 0,
        boundaries=(*state.boundaries, *_named(state, event)),
        handoffs=state.handoffs + 1,
        faults=replace(state.faults, tool_row=0),
    )


def noted(todos: tuple[Todo, ...], event: ev.Noted) -> tuple[Todo, ...]:
    """Return a todo list after a note: an item is identified by its title, and keeps its place.

    Args:
        todos: the list before.
        event: what is noted. `done` with an unknown title adds it as done; `drop` of one does nothing.

    Raises:
        CallerError: for an action that is not `add`, `done` or `drop`.
    """
    if event.action not in {"add", "done", "drop"}:
        raise CallerError(f"a todo is added, done or dropped, not {event.action!r}")
    if event.action == "drop":
        return tuple(todo for todo in todos if todo.title != event.title)
    old = next((todo for todo in todos if todo.title == event.title), None)
    new = Todo(title=event.title, priority=event.priority)
    if event.action == "done":
        new = replace(old or new, is_done=True)
    return tuple(new if todo is old else todo for todo in todos) if old else (*todos, new)


def _noted(state: State, event: ev.Noted) -> State:
    """The todo list changed; a finished item is a moment to compact."""
    finished = state.subtask_done or event.action == "done"
    return replace(state, todos=noted(state.todos, event), subtask_done=finished)


def _intended(state: State, event: ev.Intended) -> State:
    """An effect was announced, before it is done."""
    effect = Effect(kind=event.kind, what=event.what, digest=event.digest)
    return replace(state, effects=(*state.effects, (event.effect_id, effect)))


def _effected(state: State, event: ev.Effected) -> State:
    """An announced effect is known to have ended; an id that was never announced changes nothing."""
    done = tuple(
        (
            name,
            replace(effect, is_known=True, digest=event.digest or effect.digest) if name == event.effect_id else effect,
        )
        for name, effect in state.effects
    )
    return replace(state, effects=done)


def _ticked(state: State, event: ev.Ticked) -> State:
    """Time has passed; a clock that goes back is ignored. A smaller window is forgotten if no refusal has come for a day (R-5)."""
    now = max(state.now_seconds, event.now_seconds)
    # A refusal before any time was known counts from the first.
    refused_at = now if state.refused_at_seconds is None and state.promised else state.refused_at_seconds
    made = replace(state, now_seconds=now, refused_at_seconds=refused_at)
    if state.promised is None or made.window_until_seconds is None or now < made.window_until_seconds:
        return made
    return replace(made, limits=state.promised, promised=None)


def _interrupted(state: State, _event: ev.Interrupted) -> State:
    """The person stopped the work: open calls are closed, and a recovery under way is dropped with its refusals."""
    return replace(state, transcript=_closed_calls(state), open_calls=(), **_NO_REFUSAL)


def _closed(state: State, event: ev.Closed) -> State:
    """The session ended for a reason that its driver gives."""
    return replace(state, transcript=_closed_calls(state), open_calls=(), ended=event.reason, phase="ended")


_HANDLERS: dict[type[Any], Callable[[State, Any], State]] = {
    ev.Prompted: _prompted,
    ev.Replied: _replied,
    ev.Returned: _returned,
    ev.Refused: _refused,
    ev.Failed: _failed,
    ev.Compacted: _compacted,
    ev.Summarised: _summarised,
    ev.HandedOff: _handed_off,
    ev.Noted: _noted,
    ev.Intended: _intended,
    ev.Effected: _effected,
    ev.Ticked: _ticked,
    ev.Interrupted: _interrupted,
    ev.Closed: _closed,
}


def diagram() -> str:
    """Return the table of transitions as a diagram in Mermaid's language, for the docs."""
    arrows = [
        f"    {phase} --> {end}: {name}"
        for phase, row in TRANSITIONS.items()
        for name, to in row.items()
        for end in _ENDS.get((phase, name), (to,))
    ]
    return "\n".join(["stateDiagram-v2", "    [*] --> idle", *arrows, "    ended --> [*]"])


# Where the table says None: the phases that the handlers of `Replied`, `Failed` and `Returned` may choose.
_ENDS: dict[tuple[str, str], tuple[Phase, ...]] = {
    ("ready", "Replied"): ("calling", "idle"),
    ("ready", "Failed"): ("ready", "ended"),
    ("refused", "Failed"): ("refused", "ended"),
    ("calling", "Returned"): ("ready", "ended"),
}
