"""What next? The one function that reads a state and names a step (S-1 to S-4, S-13).

It checks in this order: open work, refusals, boundaries, compaction; otherwise the model is asked, once nothing has to wait.

Laws: the same state gives the same step; each step is answered by an event; there are only a few steps between two model calls,
because a compaction that is taken frees a good part, and no session starts afresh twice on the same history. Leaves to others:
events and what they change (`state`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from penstock.context import recovery
from penstock.context.activity import actions
from penstock.context.compaction import GROWN, RECOVERY, plan
from penstock.context.handoff import mechanical
from penstock.context.recovery import Attempt, Irreducible, SendSmaller, Situation
from penstock.context.recovery import SummaryWanted as AskForSummary
from penstock.context.sized import ESTIMATOR, Sized, size_of
from penstock.session.limits import Pressure
from penstock.session.steps import Ask, Await, Call, Compact, HandOff, Step, Stop, Summarise, Wait
from penstock.text import escape
from penstock.text.allowance import Budget
from penstock.text.notices import counted
from penstock.wires.placeholders import of_person

if TYPE_CHECKING:
    from penstock.context.activity import Action
    from penstock.context.compaction import Plan
    from penstock.context.handoff import Handoff
    from penstock.session.state import State
    from penstock.text.calls import Dialect
    from penstock.text.tokens import TokenCounter

# Compaction pauses for this many entries of the transcript, unless the next rung is reached: each one rewrites the prefix that a
# provider has cached, which then costs the full price of input.
_REST_ENTRIES = 6
# The share of the room below the next compaction that a handoff may fill: a session that starts afresh and is full again at once
# has gained nothing.
_FRESH_SHARE = 0.25
# The minimum reply is at most this part (a sixteenth) of the window: in a small window the usual minimum would be a large part of
# it.
_MIN_REPLY = 16
# How many commands, failures and handles of earlier pieces of work a handoff carries on, newest first kept; without a bound they
# would grow with every fresh start.
_MAX_LINES = 50
# How much of each prompt between the goal and the newest one is carried on: a wish is short, and a document is in the journal.
_WORDS_CHARS = 1_000
_BEGINNING_CHARS = 200  # of words that appear twice, perhaps cut in the middle
# What the shortest handoff takes: the goal, and where the rest is.
_MIN_HANDOFF_TOKENS = 100
# The most that a message costs besides its words.
_FRAME_TOKENS = 20

_STOPS = {
    "errors": "Too much failed: the error budget of this session is used up. Look at what failed, then say how to continue.",
    "irreducible": "The provider refused the request however small it became: shorten the prompt, or take a larger window.",
    "loop": "The same call gave the same result again and again: there was no progress. Say what to try instead.",
    "auth": "The provider does not accept the key: set one that it accepts.",
    "settings": "No try can connect with these settings: correct the certificates or the proxy, then continue.",
    "quota": "The provider's quota is used up, and waiting does not help: raise it, or take another model or key.",
}


def _stopped(reason: str) -> str:
    """Return, for the person, why a session stopped and what to do next."""
    if reason in _STOPS:
        return _STOPS[reason]
    named = "" if reason == "unknown" else f" ({escape.clip(reason, 64)})"
    return f"The provider rejected the request{named}: correct the request or the settings, then continue."


def _waiting(row: int) -> str:
    """Return why nothing is sent now, for the person who waits."""
    return f"{counted(row, 'failure')}{' in a row' if row > 1 else ''}: waiting before the next try"


def _refused_at(window_tokens: int) -> str:
    """Return why a session begins afresh after refusals, as the evidence in its handoff."""
    return f"the provider refused the request in a window of {window_tokens} tokens, however small it became"


class Decider:
    """A state with what is needed to decide on it: a counter, names, and whether a model may be asked for a summary."""

    def __init__(
        self,
        state: State,
        counter: TokenCounter | None,
        *,
        session_id: str = "",
        agent: str = "",
        can_summarise: bool = False,
        dialect: Dialect | None = None,
    ) -> None:
        self.state = state
        self.counter = counter or ESTIMATOR
        self.session_id, self.agent = session_id, agent
        self.can_summarise = can_summarise
        self.dialect = dialect

    def step(self) -> Step:
        """Return the next step for this state.

        Waiting comes last and delays only what would call the provider: while the breaker is open (S-11), calls are still run,
        history is compacted and the user is heard.
        """
        state = self.state
        if state.phase == "ended":
            return Stop(reason=state.ended, message=_stopped(state.ended))
        if state.phase == "idle":
            return Await()
        if state.phase == "calling":
            return Call(calls=state.open_calls)
        made = self._recovered() if state.phase == "refused" else self._ready()
        until = state.faults.blocked_until(state.now_seconds)
        if until is not None and isinstance(made, Ask | Summarise):
            return Wait(until_seconds=until, why=_waiting(state.faults.row))
        return made

    @property
    def reserve(self) -> int:
        """Tokens that the reply may take: those of the limits, or fewer if a refusal lowered them."""
        return min(self._asked_for, self.state.limits.reserve_tokens)

    @property
    def _asked_for(self) -> int:
        """Tokens that the refused request asked for as a reply; more than the limits say if the window has turned out to be
        smaller since.
        """
        return self.state.reserve_tokens or self.state.limits.reserve_tokens

    @property
    def size(self) -> int:
        """Tokens that the next request takes at most, by the upper bound of each count."""
        return size_of(self.state.transcript, self.counter)

    @property
    def kept(self) -> frozenset[tuple[int, str]]:
        """The one result that shows the newest todo list, as (index of its entry, id of its call); compaction leaves it as it is
        (S-9).
        """
        entries = self.state.transcript.entries
        for entry in reversed(entries):
            for call in reversed(entry.calls):
                if call.name.endswith("todo"):
                    # Only an answer after the call is its result: some servers number the calls of each answer anew, so an older
                    # entry may hold the same id.
                    after = entries[entry.index :]
                    shown = ((e.index, call.id) for e in after if any(part.call_id == call.id for part in e.results))
                    return frozenset(islice(shown, 1))
        return frozenset()

    # ── pressure ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _ready(self) -> Step:
        """Return what boundaries, tokens and turns ask for; otherwise the request for the model's next answer."""
        state, size = self.state, self.size
        by_turns, by_tokens = state.limits.pressure(0, state.turns), state.limits.pressure(size, 0)
        # A boundary is crossed at an event and due now, at the first safe point: no call is open. Turns at the hard limit do not
        # wait for one.
        if state.due is not None:
            return self._hand_off(state.due.reason, state.due.evidence)
        if by_turns >= Pressure.RESET:
            return self._hand_off("turns", f"{state.turns} turns")
        if state.overflow is not None:
            # The request that recovery made from a refused one goes out as it is: it may fill the named window to the brim, above
            # every rung, and compacting or handing off first would spend what recovery kept.
            return self._ask(size)
        if max(by_tokens, by_turns) >= Pressure.COMPACT or state.subtask_done:
            made = self._plan(size, by_tokens, by_turns)
            if made:
                return Compact(plan=made, strategy=made.steps[-1].strategy)
        # Below that rung a request that compaction cannot shrink is still sent. Above it, too, if a fresh start would not help:
        # then the provider decides, and recovery has the numbers of its refusal.
        if by_tokens >= Pressure.HAND_OFF and self._can_begin_afresh:
            return self._hand_off("context", f"{size} tokens of {state.limits.window_tokens}")
        return self._ask(size)

    def _ask(self, size: int) -> Ask:
        """Return the request; it asks for no more reply than the request leaves of the window."""
        left = self.state.limits.window_tokens - min(size, self._most)
        return Ask(transcript=self.state.transcript, reserve_tokens=min(self.reserve, left))

    @property
    def _most(self) -> int:
        """Tokens that a request may take and still leave room for a useful reply."""
        window = self.state.limits.window_tokens
        return window - min(self.reserve, recovery.REPLY_FLOOR_TOKENS, window // _MIN_REPLY)

    def _plan(self, size: int, by_tokens: Pressure, by_turns: Pressure) -> Plan | None:
        """Return a plan that is worth carrying out now, or None.

        A plan is worth it if it takes the request below the rung of compaction, or below the point where no reply fits, or frees
        at least a tenth. A smaller cut would cost more through the lost prompt cache than it saves, and would be due again at
        once.
        """
        state, limits = self.state, self.state.limits
        grown = len(state.transcript.entries) - (state.compacted_at or 0)
        if state.compacted_at is not None and (
            not grown or (grown < _REST_ENTRIES and by_tokens < Pressure.COMPACT_HARD)
        ):
            return None
        # The largest size below both triggers of compression: the rung COMPACT, and the share above which it starts whatever the
        # rungs say.
        limit = min(limits.from_tokens(Pressure.COMPACT) - 1, int(limits.window_tokens * limits.compress_share))
        aim = limit
        # Turns and finished subtasks ask for less history at any size: aim one token below the present size, so that the strategies
        # take what is stale and nothing more. Under half of WATCH the aim is the size itself, which makes an empty plan: there is
        # nothing worth a rewrite.
        if by_turns >= Pressure.COMPACT or state.subtask_done:
            aim = min(limit, size - 1 if size > limits.from_tokens(Pressure.WATCH) // 2 else size)
        strategies = RECOVERY if by_tokens >= Pressure.HAND_OFF else GROWN
        made = plan(
            state.transcript,
            Budget(aim, counter=self.counter),
            strategies,
            repaid=False,
            dialect=self.dialect,
            kept=self.kept,
        )
        worth = any(made.after_tokens <= most < size for most in (limit, self._most))
        return made if made.steps and (worth or made.freed_tokens * 10 >= size) else None

    # ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _recovered(self) -> Step:
        """Return the step that the refusals of one request lead to: a smaller request, a summary, a fresh start, or the end."""
        state = self.state
        situation = self._situation()
        if situation.calls_left < 1:
            return self._irreducible(recovery.give_up(situation))
        # The state does not keep what the summary was asked for; the decision is repeated, and gives the same span. If it does not
        # (because a window was learned since), the ladder continues without the summary.
        if state.has_summary and isinstance(asked := self._asked_for_summary, AskForSummary):
            cure = recovery.with_summary(situation, asked, state.summary)
        else:
            cure = recovery.decide(situation, can_summarise=self.can_summarise and not state.has_summary)
        match cure:
            case AskForSummary():
                return Summarise(prompt=cure.prompt)
            case SendSmaller():
                return Compact(plan=cure.plan, strategy=cure.strategy, reserve_tokens=cure.reserve_tokens)
        assert isinstance(cure, Irreducible)  # noqa: S101 - there was a refusal
        return self._irreducible(cure)

    def _situation(self) -> Situation:
        """Return what recovery decides on: every request refused since the last success, as it was sent, and the calls that are
        left.
        """
        state = self.state
        attempts = tuple(
            Attempt(
                sized=Sized(refused.transcript, self.counter),
                overflow=refused.overflow,
                reserve_tokens=refused.reserve_tokens,
            )
            for refused in state.refusals
        )
        return Situation(
            sized=attempts[-1].sized,
            attempts=attempts,
            budget=Budget(state.limits.window_tokens, self._asked_for, self.counter),
            calls_left=recovery.MAX_CALLS - state.overflow_calls,
            session_id=self.session_id,
            dialect=self.dialect,
            kept=self.kept,
        )

    @property
    def _asked_for_summary(self) -> recovery.Cure:
        """The decision that led to the summary: its call is counted by now and was not then, so one more call is left."""
        situation = replace(self._situation(), calls_left=self._situation().calls_left + 1)
        return recovery.decide(situation, can_summarise=True)

    def _irreducible(self, cure: Irreducible) -> Step:
        """Return the end, or, if a call is left for it, a fresh start that also leaves out the last batch of calls."""
        # Nothing certain to be smaller is left. A fresh start that is smaller by our own count is still tried, with a handoff as
        # short as that takes; one that is not would send more than what was refused.
        most = min(recovery.LAST_HANDOFF_TOKENS, self.size - self.fixed - _FRAME_TOKENS)
        if self._situation().calls_left > 0 and self._can_begin_afresh and most >= _MIN_HANDOFF_TOKENS:
            return self._hand_off("context", _refused_at(self.state.limits.window_tokens), most)
        return Stop(reason="irreducible", message=str(cure.error))

    # ── handing off ──────────────────────────────────────────────────────────────────────────────────────────────

    def _hand_off(self, reason: str, evidence: str, max_tokens: int | None = None) -> HandOff:
        """Return the step that writes a handoff and starts afresh with at most `max_tokens` of it, or a share of the available
        room.
        """
        most = int(max(0, self._room) * _FRESH_SHARE)
        most = most if max_tokens is None else min(most, max_tokens)
        return HandOff(
            handoff=self.handoff(reason),
            reason=reason,
            evidence=evidence,
            max_tokens=max(_MIN_HANDOFF_TOKENS, most),
        )

    @property
    def fixed(self) -> int:
        """Tokens that stay whatever is forgotten: instructions, tools, and the newest words of the user."""
        return size_of(self.state.transcript.afresh(""), self.counter)

    @property
    def _room(self) -> int:
        """Tokens left below the next compaction, with room for the reply, once a session has started afresh; may be negative."""
        limits = self.state.limits
        return min(limits.from_tokens(Pressure.COMPACT), limits.window_tokens - limits.reserve_tokens) - self.fixed

    @property
    def _can_begin_afresh(self) -> bool:
        """Whether a fresh start would help: something was said since the last one, and there is room for a handoff without it."""
        has_grown = len(self.state.transcript.entries) > (self.state.begun_at or 0)
        return has_grown and self._room * _FRESH_SHARE >= _MIN_HANDOFF_TOKENS

    def handoff(self, reason: str) -> Handoff:
        """Return the handoff that would be written now.

        Args:
            reason: why it is written, for its `reason` field.

        Returns:
            What the transcript shows, with the todo list as completed and pending tasks by priority; if the session itself began
            with a handoff, both together.
        """
        state = self.state
        done = [todo.title for todo in state.todos if todo.is_done]
        pending = sorted((todo for todo in state.todos if not todo.is_done), key=lambda todo: todo.priority)
        made = mechanical(
            state.transcript,
            session_id=self.session_id,
            agent=self.agent,
            turns=state.all_turns,
            reason=reason,
            completed=done,
            pending=[todo.title for todo in pending],
            done=[_as_known(action, state.undone_at) for action in actions(state.transcript)],
        )
        said = [of_person(entry.text)[:_WORDS_CHARS] for entry in state.transcript.entries if entry.speaks]
        # The first words are the goal, the newest are repeated anyway; our own between them are nobody's wish.
        wishes = tuple(filter(None, said))[1:-1]
        made = replace(made, constraints=wishes)
        return made if state.handed_on is None else _gone_on(state.handed_on, made)


def _as_known(action: Action, undone_at: int) -> Action:
    """Return what is known of an action now: before an undo a command may have succeeded because of what was undone."""
    is_doubted = action.index < undone_at and action.exit_code == 0
    return replace(action, exit_code=None) if is_doubted else action


def _gone_on(before: Handoff, made: Handoff) -> Handoff:
    """Return the handoff of work that itself began with one: the goal is the first one's, and what was done adds up.

    Args:
        before: the handoff that the last fresh start began with.
        made: what the transcript since then shows; its turns are counted from that start.
    """
    is_same = before.session_id == made.session_id
    # A fresh transcript begins with our own answer, "noted", which `made` counts as the first turn.
    behind = (before.turns_completed if is_same else 0) - 1
    since = [replace(event, turn=event.turn and event.turn + behind) for event in made.file_history]
    history = {(event.path, event.action): event for event in (*before.file_history, *since)}
    # After a fresh start of the same session the last request is repeated anyway; in a new session it is not.
    begun = {words[:_BEGINNING_CHARS] for words in ("", made.next_step, *made.constraints)}
    last = () if before.next_step[:_BEGINNING_CHARS] in begun else (before.next_step,)
    return replace(
        made,
        parent_session_id=before.parent_session_id if is_same else before.session_id,
        goal=before.goal,
        # Work on a single prompt repeats that prompt after every fresh start: the goal as the next step would be no news.
        next_step=made.next_step if made.next_step != before.goal else "",
        modified_files=tuple(dict.fromkeys((*before.modified_files, *made.modified_files))),
        file_history=tuple(history.values()),
        failed_attempts=(*before.failed_attempts, *made.failed_attempts)[-_MAX_LINES:],
        commands=(*before.commands, *made.commands)[-_MAX_LINES:],
        handles=tuple(dict.fromkeys((*before.handles, *made.handles)))[-_MAX_LINES:],
        constraints=tuple(dict.fromkeys((*before.constraints, *last, *made.constraints))),
        # Fields that the mechanical handoff never fills are taken over unchanged; unknown fields of a foreign handoff survive too
        # (S-9).
        decisions=before.decisions,
        other=before.other,
    )
