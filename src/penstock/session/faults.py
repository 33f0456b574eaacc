"""How many failures are borne? The error budget and the circuit breaker, as a value with the time as an argument (S-11).

Only faults that waiting can cure count for the breaker; overflows, keys and bad requests never do. Law: a success ends the row.
Keeps out: clocks, and what a failure was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from penstock.session.limits import ErrorLimits

CURED_BY_WAITING = frozenset({"rate_limit", "overloaded", "server_error", "connection"})
MAX_COOLDOWN_SECONDS = 600.0

Breaker = Literal["closed", "open", "half-open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """What failed so far. `turns` has the turn of every failure that counts for the total."""

    turns: tuple[int, ...] = ()
    tool_row: int = 0
    waiting_row: int = 0
    open_until_seconds: float | None = None
    cooldown_seconds: float = 0.0
    wait_until_seconds: float | None = None
    """What a provider asked to wait, whatever the breaker says."""

    def failed(
        self, kind: str, turn: int, now_seconds: float, limits: ErrorLimits, retry_after: float | None = None
    ) -> Faults:
        """With one failure more."""
        waits = kind in CURED_BY_WAITING
        made = replace(
            self,
            tool_row=self.tool_row + (not waits),
            turns=(*self.turns, turn),
            waiting_row=self.waiting_row + waits,
            wait_until_seconds=now_seconds + retry_after if waits and retry_after is not None else None,
        )
        if not waits or made.waiting_row < limits.row:
            return made
        cooldown = limits.cooldown_seconds
        if self.open_until_seconds is not None:  # that was the probe
            cooldown = max(cooldown, min(MAX_COOLDOWN_SECONDS, self.cooldown_seconds * 2))
        return replace(made, open_until_seconds=now_seconds + cooldown, cooldown_seconds=cooldown)

    @property
    def row(self) -> int:
        """How many failed in a row."""
        return self.tool_row + self.waiting_row

    def answered(self, limits: ErrorLimits) -> Faults:
        """The provider answered: its row ends, the breaker closes; what a retry cured is forgotten where it does not count."""
        turns = self.turns if limits.cured_count or not self.waiting_row else self.turns[: -self.waiting_row]
        return Faults(turns=turns, tool_row=self.tool_row)

    def worked(self) -> Faults:
        """A tool did what it was asked for: its row ends."""
        return replace(self, tool_row=0) if self.tool_row else self

    def breaker(self, now_seconds: float) -> Breaker:
        """`open` until its time has come, then `half-open`: one probe may go."""
        if self.open_until_seconds is None:
            return "closed"
        return "open" if now_seconds < self.open_until_seconds else "half-open"

    def blocked_until(self, now_seconds: float) -> float | None:
        """Until when nothing may be sent; None when something may."""
        times = [
            time
            for time in (self.open_until_seconds, self.wait_until_seconds)
            if time is not None and time > now_seconds
        ]
        return max(times, default=None)

    def counted(self, turn: int, limits: ErrorLimits) -> int:
        """How many failures the total has at that turn."""
        if limits.within_turns is None:
            return len(self.turns)
        return sum(turn - failed < limits.within_turns for failed in self.turns)

    def is_exhausted(self, turn: int, limits: ErrorLimits) -> bool:
        """Whether the session has to end."""
        return self.counted(turn, limits) >= limits.total

    def escalates(self, limits: ErrorLimits) -> bool:
        """Whether somebody should look: so many failures in a row."""
        return self.row >= limits.row

    def is_boundary(self, limits: ErrorLimits) -> bool:
        """More in a row than are borne: the boundary of S-3."""
        return self.row > limits.row
