"""What next? The state machine of a session: `next_step()` says it, `feed(event)` hears what came of it.

It reads no clock, no disk and no network, and asks no model: a driver does (`agent`), and tells it with events. The journal of the
events is the session: `Session.replay` rebuilds an equal one. Laws: pressure is monotone; every reset leaves a handoff; no state
makes the next prompt of the user impossible. Keeps out: how steps are carried out, and where events are written.
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
from penstock.wires import begin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.context.handoff import Handoff
    from penstock.text.allowance import Budget
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
    """One session. `feed` is the only way it changes; two that were fed the same are equal."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        budget: Budget | None = None,
        wire: str = "openai-chat",
        system: Json = None,
        tools: Json = None,
        session_id: str = "",
        agent: str = "",
        can_summarise: bool = False,
        dialect: Dialect | None = None,
    ) -> None:
        limits = limits or PROFILES["default"]
        self.counter: TokenCounter = ESTIMATOR
        if budget is not None:
            limits = limits.scaled(budget.context_tokens, budget.reserve_tokens or None)
            self.counter = budget.counter or ESTIMATOR
        transcript = begin(wire, system=system, tools=tools)
        self.session_id, self.agent = session_id, agent
        self.can_summarise, self.dialect = can_summarise, dialect
        self.state = self._begun = State(limits=limits, transcript=transcript)

    def next_step(self) -> Step:
        """What the driver has to do now; asked again without an event, the same."""
        return self._decider().step()

    def feed(self, event: Event) -> None:
        """What came of it. Raises `CallerError` for an event that does not answer the phase that the session is in."""
        self.state = after(self.state, event)

    def handoff(self, reason: str = "manual") -> Handoff:
        """What would be passed on now."""
        return self._decider().handoff(reason)

    def bill(self) -> Bill:
        """What the next request takes, item by item."""
        return bill_of(self.state.transcript, self.counter, self._decider().reserve)

    def fill(self) -> float:
        """How full the window is, from 0 to 1 and beyond: the next request at most, and the reply's reserve."""
        return self.bill().tokens / self.state.limits.window_tokens

    def pressure(self) -> Pressure:
        """How pressing it is: the highest rung that the next request or the turns have reached."""
        return self.state.limits.pressure(self._decider().size, self.state.turns)

    def advice(self, call: ToolCall, digest: str) -> str | None:
        """What to tell the model beside a result that it had before, again and again; None where there is progress."""
        loops = self.state.loops.with_call(call.name, call.arguments, digest)
        times = loops.times(call.name, call.arguments, digest)
        if times >= self.state.limits.loop_advice:
            return looping(times)
        return ALTERNATING if loops.alternates else None

    def _decider(self) -> Decider:
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
        """What a journal begins with: all that is not an event. The same whenever it is asked for."""
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
        """The session that a journal holds: its header as `header()` gave it, then every event by name and data."""
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
