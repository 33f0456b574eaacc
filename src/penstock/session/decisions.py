"""What next? The one function that reads a state and names a step.

In this order: what is open, what was refused, what has to wait, boundaries, compaction, and else the model is asked.
Law: the same state gives the same step; no step but `Await` and `Stop` is without an event that answers it. Keeps out: events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import notices, recovery
from penstock.bill import ESTIMATOR, size_of
from penstock.budget import Budget
from penstock.compaction import DEFAULT, RECOVERY, plan
from penstock.handoff import mechanical
from penstock.limits import Pressure
from penstock.recovery import HandOff as BeginAfresh
from penstock.recovery import Irreducible, SendSmaller
from penstock.recovery import Summarise as AskForSummary
from penstock.session.steps import Ask, Await, Call, Compact, HandOff, Step, Stop, Summarise, Wait

if TYPE_CHECKING:
    from penstock.calls import Dialect
    from penstock.compaction import Plan
    from penstock.handoff import Handoff
    from penstock.session.state import State
    from penstock.tokens import TokenCounter

MOST_CALLS = 2  # of a provider for one overflow, a summary included (promise 3)
_REST_ENTRIES = 6  # a compaction rests for so many entries, unless the next rung is reached
_FRESH_SHARE = 0.25  # of the room below compaction that a fresh start may take


class Decider:
    """A state, and what it takes to decide on it."""

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
        """The next step."""
        state = self.state
        if state.phase == "ended":
            return Stop(reason=state.ended, message=notices.stopped(state.ended))
        if state.phase == "idle":
            return Await()
        if state.phase == "calling":
            return Call(calls=state.open_calls)
        until = state.faults.blocked_until(state.now_seconds)
        if until is not None:
            return Wait(until_seconds=until, why=notices.waiting(state.faults.row))
        if state.phase == "refused":
            return self._recovered()
        if state.due is not None:
            return self._hand_off(state.due.reason, state.due.evidence)
        return self._pressed() or Ask(transcript=state.transcript, reserve_tokens=self.reserve)

    @property
    def reserve(self) -> int:
        """What the reply may take: as configured, or as a refusal lowered it."""
        return self.state.reserve_tokens or self.state.limits.reserve_tokens

    @property
    def size(self) -> int:
        """What the next request takes at most."""
        return size_of(self.state.transcript, self.counter)

    @property
    def kept(self) -> frozenset[int]:
        """The newest todo list stays as it is."""
        for entry in reversed(self.state.transcript.entries):
            if any(call.name.endswith("todo") for call in entry.calls):
                after = self.state.transcript.entries[entry.index : entry.index + 1 + len(entry.calls)]
                return frozenset(shown.index for shown in after)
        return frozenset()

    # ── pressure ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _pressed(self) -> Step | None:
        """What tokens and turns ask for, if anything."""
        state, size = self.state, self.size
        by_turns, by_tokens = state.limits.pressure(0, state.turns), state.limits.pressure(size, 0)
        if by_turns >= Pressure.RESET:
            return self._hand_off("turns", f"{state.turns} turns")
        made = (
            self._plan(size, by_tokens, by_turns)
            if max(by_tokens, by_turns) >= Pressure.COMPACT or state.subtask_done
            else None
        )
        if made:
            return Compact(plan=made, strategy=made.steps[-1].strategy)
        if by_tokens >= Pressure.HAND_OFF and len(state.transcript.visible()) > 2 + _leading(state):
            return self._hand_off("context", f"{size} tokens of {state.limits.window_tokens}")
        return None

    def _plan(self, size: int, by_tokens: Pressure, by_turns: Pressure) -> Plan | None:
        """A plan worth carrying out now: one that frees a good part, and not one after another."""
        state, limits = self.state, self.state.limits
        grown = len(state.transcript.entries) - (state.compacted_at or 0)
        if state.compacted_at is not None and (
            not grown or (grown < _REST_ENTRIES and by_tokens < Pressure.COMPACT_HARD)
        ):
            return None
        limit = min(limits.from_tokens(Pressure.COMPACT), int(limits.window_tokens * limits.compress_share))
        if by_turns >= Pressure.COMPACT or state.subtask_done:
            limit = min(limit, max(size - 1, 0) if size > limits.from_tokens(Pressure.WATCH) // 2 else size)
        strategies = RECOVERY if by_tokens >= Pressure.HAND_OFF else DEFAULT
        made = plan(
            state.transcript, Budget(limit, counter=self.counter), strategies, dialect=self.dialect, kept=self.kept
        )
        worth = made.freed_tokens * 10 >= size or made.after_tokens <= limit < size
        return made if made.steps and worth else None

    # ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _recovered(self) -> Step:
        """The ladder of O-4 as steps."""
        state = self.state
        assert state.overflow is not None  # noqa: S101 - the phase says so
        if state.overflow_calls > MOST_CALLS:
            return self._last_way_out()
        budget = Budget(state.limits.window_tokens, self.reserve, self.counter)
        cure = self._asked(budget)
        if isinstance(cure, AskForSummary):
            if not state.has_summary:
                return Summarise(prompt=cure.prompt)
            cure = recovery.with_summary(state.transcript, cure, state.summary, budget, dialect=self.dialect)
        match cure:
            case SendSmaller():
                return Compact(plan=cure.plan, strategy=cure.strategy, reserve_tokens=cure.reserve_tokens)
            case BeginAfresh():
                return self._hand_off("context", notices.refused_at(state.limits.window_tokens))
            case Irreducible():
                return Stop(reason="irreducible", message=str(cure.error))
        return self._last_way_out()

    def _asked(self, budget: Budget) -> recovery.Cure:
        state = self.state
        assert state.overflow is not None  # noqa: S101 - the phase says so
        return recovery.recover(
            state.transcript,
            state.overflow,
            budget,
            can_summarise=self.can_summarise and (state.has_summary or state.overflow_calls < MOST_CALLS),
            session_id=self.session_id,
            dialect=self.dialect,
            kept=self.kept,
        )

    def _last_way_out(self) -> Step:
        """Refused however small it became: a fresh start once, and then the end."""
        if self.state.overflow_calls == MOST_CALLS + 1:
            return self._hand_off("context", notices.refused_at(self.state.limits.window_tokens))
        return Stop(reason="irreducible", message=notices.refused_at(self.state.limits.window_tokens))

    # ── handing off ──────────────────────────────────────────────────────────────────────────────────────────────

    def _hand_off(self, reason: str, evidence: str) -> HandOff:
        limits = self.state.limits
        room = min(limits.from_tokens(Pressure.COMPACT), limits.window_tokens - limits.reserve_tokens)
        return HandOff(
            handoff=self.handoff(reason),
            reason=reason,
            evidence=evidence,
            most_tokens=int(room * _FRESH_SHARE),
        )

    def handoff(self, reason: str) -> Handoff:
        """What would be passed on now."""
        state = self.state
        done = [todo.title for todo in state.todos if todo.is_done]
        pending = sorted((todo for todo in state.todos if not todo.is_done), key=lambda todo: todo.priority)
        return mechanical(
            state.transcript,
            session_id=self.session_id,
            agent=self.agent,
            turns=state.all_turns,
            reason=reason,
            completed=done,
            pending=[todo.title for todo in pending],
        )


def _leading(state: State) -> int:
    return sum(entry.role == "system" for entry in state.transcript.entries)
