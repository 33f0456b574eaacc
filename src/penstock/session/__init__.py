"""What next? The state machine of a session: `next_step()` names the step, `feed(event)` takes the outcome.

A session reads no clock, disk or network, and asks no model. Its driver does (`penstock.agent`) and reports with events, so that
the journal of the events *is* the session: `Session.replay` rebuilds an equal one (S-12).

Laws: pressure is monotone in tokens and turns; every reset leaves a handoff; no state makes the next prompt of the user
impossible. Leaves to others: how steps are carried out (`agent`), and where events are written (`store`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.context.bill import Bill, bill_of
from penstock.context.sized import ESTIMATOR
from penstock.session.decisions import Decider
from penstock.session.events import (
    Closed,
    Compacted,
    Effected,
    Event,
    Failed,
    HandedOff,
    Intended,
    Interrupted,
    Noted,
    Outcome,
    Prompted,
    Refused,
    Replied,
    Returned,
    Summarised,
    Ticked,
    event_of,
    name_of,
    to_dict,
)
from penstock.session.limits import PROFILES, Limits, Pressure, limits_of
from penstock.session.loops import ALTERNATING, looping
from penstock.session.state import TRANSITIONS, Boundary, Effect, State, Todo, after, diagram
from penstock.session.steps import Ask, Await, Call, Compact, HandOff, Step, Stop, Summarise, Wait
from penstock.text.allowance import Budget
from penstock.wires import begin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.context.handoff import Handoff
    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter
    from penstock.wires import ToolCall

__all__ = [
    "TRANSITIONS",
    "Ask",
    "Await",
    "Boundary",
    "Call",
    "Closed",
    "Compact",
    "Compacted",
    "Effect",
    "Effected",
    "Event",
    "Failed",
    "HandOff",
    "HandedOff",
    "Intended",
    "Interrupted",
    "Noted",
    "Outcome",
    "Prompted",
    "Refused",
    "Replied",
    "Returned",
    "Session",
    "State",
    "Step",
    "Stop",
    "Summarise",
    "Summarised",
    "Ticked",
    "Todo",
    "Wait",
    "after",
    "diagram",
    "event_of",
    "name_of",
    "to_dict",
]


class Session:
    """One conversation of an agent with a model, as a state machine that is driven from outside.

    `feed` is the only way it changes, and two sessions that were fed the same events are equal. A driver is a loop:

        step = session.next_step()  # Ask, Call, Compact, …
        session.feed(what_came_of(step))  # Replied, Returned, Compacted, …

    Attributes:
        state: the value that all decisions are made on; replaced as a whole by `feed`, never changed in place.
        counter: counts tokens for pressure, plans and the bill. It is not part of the journal: a replay needs it again.
        session_id: the name in handoffs and journals; may be empty.
        agent: the name of the agent in handoffs; may be empty.
        can_summarise: whether `next_step` may answer a refusal with `Summarise`, which costs a call of a model.
        dialect: how calls that a notice recommends to the model are written; None is Python's.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        budget: Budget | int | None = None,
        wire: str = "openai-chat",
        system: Json = None,
        tools: Json = None,
        session_id: str = "",
        agent: str = "",
        can_summarise: bool = False,
        dialect: Dialect | None = None,
    ) -> None:
        """Begin a session with an empty history.

        Args:
            limits: rungs, window, errors and loops; None is the profile `default`.
            budget: the window and the reply's reserve to scale `limits` to, and the counter, or just the tokens of the window;
                None keeps the window of `limits` and estimates.
            wire: the name of the provider's API, a key of `penstock.wires`: the form in which messages are kept.
            system: the instructions, in that wire's format; None for none.
            tools: the definitions of the tools, in that wire's format; None for none.
            session_id: the name of the session in handoffs.
            agent: the name of the agent in handoffs.
            can_summarise: whether the driver can carry out `Summarise`.
            dialect: how calls that a notice recommends are written; None is Python's.

        Raises:
            CallerError: for an unknown wire, or a window that does not hold its reserve; the programmer has to act.
        """
        limits = limits or PROFILES["default"]
        self.counter: TokenCounter = ESTIMATOR
        if budget is not None:
            budget = Budget.of(budget)
            limits = limits.scaled(budget.context_tokens, budget.reserve_tokens or None)
            self.counter = budget.counter or ESTIMATOR
        transcript = begin(wire, system=system, tools=tools)
        self.session_id, self.agent = session_id, agent
        self.can_summarise, self.dialect = can_summarise, dialect
        # Two references: `_begun` stays what the session began with, because `header` must not contain what the journal's events
        # repeat.
        self.state = self._begun = State(limits=limits, transcript=transcript)

    def next_step(self) -> Step:
        """Return what the driver has to do now; asked again without an event in between, the same step.

        Returns:
            An `Await`, `Ask`, `Call`, `Compact`, `Summarise`, `HandOff`, `Wait` or `Stop`; each says which event answers it.
        """
        return self._decider().step()

    def feed(self, event: Event) -> None:
        """Take an event: the outcome of a step, or something else that happened.

        Args:
            event: a value of `penstock.session.events`.

        Raises:
            CallerError: for an event that the present phase does not accept, or that leaves an open call without a result. The
                session is unchanged.
        """
        self.state = after(self.state, event)

    def handoff(self, reason: str = "manual") -> Handoff:
        """Return the handoff that would be written now, made from the transcript without a model (S-9).

        Args:
            reason: why it is written, for its `reason` field: `manual`, or the kind of a boundary.
        """
        return self._decider().handoff(reason)

    def bill(self) -> Bill:
        """Return what the next request takes, item by item, with the reserve of the reply."""
        return bill_of(self.state.transcript, self.counter, self._decider().reserve)

    def fill(self) -> float:
        """Return how full the window is: the next request at most and the reserve, as a share; above 1 it does not fit."""
        return self.bill().tokens / self.state.limits.window_tokens

    def pressure(self) -> Pressure:
        """Return the highest rung of the limits that is reached: by the next request, or by turns since a fresh start."""
        return self.state.limits.pressure(self._decider().size, self.state.turns)

    def advice(self, call: ToolCall, digest: str) -> str | None:
        """Return what to tell the model next to a result that it had before, or None if there is progress (S-13).

        Args:
            call: the call that was just run. Its result must not have been fed yet: it is counted here in addition to the state.
            digest: a fingerprint of its result; equal digests are equal results, and an empty one is never a loop.
        """
        loops = self.state.loops.with_call(call.name, call.arguments, digest)
        times = loops.times(call.name, call.arguments, digest)
        if times >= self.state.limits.loop_advice:
            return looping(times)
        return ALTERNATING if loops.alternates else None

    def _decider(self) -> Decider:
        """Return the decisions for the present state. Made anew each time: the state is replaced by every event."""
        return Decider(
            self.state,
            self.counter,
            session_id=self.session_id,
            agent=self.agent,
            can_summarise=self.can_summarise,
            dialect=self.dialect,
        )

    # ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────

    def header(self) -> dict[str, Json]:
        """Return what a journal begins with: all of the session that is not an event.

        It never changes: its transcript and limits are those of the beginning, not the present ones.

        Returns:
            JSON with `schema` (1), `limits`, `session_id`, `agent`, `can_summarise` and `transcript`.
        """
        return {
            "schema": 1,
            "limits": self._begun.limits.to_dict(),
            "session_id": self.session_id,
            "agent": self.agent,
            "can_summarise": self.can_summarise,
            "transcript": self._begun.transcript.to_dict(),
        }

    @classmethod
    def replay(
        cls,
        header: dict[str, Json],
        events: Iterable[tuple[str, dict[str, Json]]],
        *,
        counter: TokenCounter | None = None,
        dialect: Dialect | None = None,
    ) -> Session:
        """Rebuild the session that a journal holds.

        Args:
            header: what `header()` returned when the journal was begun.
            events: every event since, in order, as the pair of `name_of(event)` and `to_dict(event)`.
            counter: counts tokens from now on; None estimates. It does not affect the replayed state.
            dialect: how calls that a notice recommends are written; None is Python's.

        Returns:
            A session equal to the one that wrote the journal.

        Raises:
            CallerError: for impossible limits or events, or an event that its phase does not accept: the journal was damaged or
                edited.
        """
        from penstock.wires import Transcript

        made = cls(
            limits=limits_of(header["limits"]),
            session_id=header["session_id"],
            agent=header["agent"],
            can_summarise=header["can_summarise"],
            dialect=dialect,
        )
        made.counter = counter or ESTIMATOR
        transcript = Transcript.from_dict(header["transcript"])
        made.state = made._begun = State(limits=made.state.limits, transcript=transcript)
        for name, data in events:
            made.feed(event_of(name, data))
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Session):
            return NotImplemented
        mine: tuple[Any, ...] = (self.session_id, self.agent, self.can_summarise, self.state)
        return mine == (other.session_id, other.agent, other.can_summarise, other.state)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        state = self.state
        size = f"{state.all_turns} turns, {len(state.transcript.entries)} entries"
        return f"<Session {self.session_id or 'unnamed'}: {state.phase}, {size}>"
