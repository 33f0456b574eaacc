"""How many failures are tolerated? The error budget and the circuit breaker of a session, as a value (S-11).

Only faults that waiting can cure count for the breaker; overflows, keys and bad requests never do. A mistake of the model counts
once its next two turns have brought no success; our own refusals never count. The time is an argument. Law: a success resets the
count. Leaves to others: clocks, and classifying failures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.session.limits import ErrorLimits

CURED_BY_WAITING = frozenset({"rate_limit", "overloaded", "server_error", "connection"})
"""The kinds of failure, as `penstock.overflow.diagnose` names them, that may pass if the request is sent again later."""
MAX_COOLDOWN_SECONDS = 600.0
"""The longest cooldown that failed probes may double to; a longer configured one stays as it is."""

MENDED_WITHIN_TURNS = 2
"""How many turns the model has to correct a mistake at no cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """What failed so far in a session."""

    turns: tuple[int, ...] = ()
    """The turn of every failure that counts for the total, in order."""
    mistakes: tuple[int, ...] = ()
    """The turn of every mistake of the model that may still be corrected, in order."""
    tool_row: int = 0
    """Turns in a row in which nothing worked, plus failures that waiting does not cure."""
    waiting_row: int = 0
    """Failures in a row that waiting can cure."""
    open_until_seconds: float | None = None
    """When the breaker's cooldown ends; None while it is closed."""
    cooldown_seconds: float = 0.0
    """How long the present cooldown is; a failed probe doubles it."""
    wait_until_seconds: float | None = None
    """Until when a provider asked to wait, whatever the breaker says; None if it did not."""

    def failed(
        self, kind: str, turn: int, now_seconds: float, limits: ErrorLimits, retry_after: float | None = None
    ) -> Faults:
        """Return the faults with one more failure of the provider.

        Args:
            kind: the kind of the failure, as `diagnose` names it.
            turn: the turn of the session in which it came.
            now_seconds: the session's time.
            limits: what is tolerated.
            retry_after: seconds that the provider asks to wait; None if it does not say.
        """
        waits = kind in CURED_BY_WAITING
        made = replace(
            self,
            tool_row=self.tool_row + (not waits),
            # If failures cured by a retry do not count, an outage never does: it ends by waiting, or when the person stops waiting.
            turns=self.turns if waits and not limits.cured_count else (*self.turns, turn),
            waiting_row=self.waiting_row + waits,
            wait_until_seconds=now_seconds + retry_after if waits and retry_after is not None else None,
        )
        if not waits or made.waiting_row < limits.row:
            return made
        cooldown = limits.cooldown_seconds
        # The breaker was open, so this was the probe. The cooldown doubles up to ten minutes: 60, 120, 240, 480, 600, 600.
        if self.open_until_seconds is not None:
            cooldown = max(cooldown, min(MAX_COOLDOWN_SECONDS, self.cooldown_seconds * 2))
        return replace(made, open_until_seconds=now_seconds + cooldown, cooldown_seconds=cooldown)

    @property
    def row(self) -> int:
        """Failures in a row, of either kind."""
        return self.tool_row + self.waiting_row

    def answered(self) -> Faults:
        """Return the faults after the provider answered: its row ends, and the breaker closes."""
        return Faults(turns=self.turns, mistakes=self.mistakes, tool_row=self.tool_row)

    def returned(self, turn: int, *, mistakes: int, is_success: bool) -> Faults:
        """Return the faults after the tools answered.

        Args:
            turn: the turn of the session.
            mistakes: how many calls failed by a mistake of the model.
            is_success: whether any call did what it was asked to do, which clears mistakes of the previous two turns.
        """
        open_ones = () if is_success else self.mistakes
        due = tuple(made for made in open_ones if turn - made >= MENDED_WITHIN_TURNS)
        return replace(
            self,
            turns=(*self.turns, *due),
            mistakes=(*open_ones[len(due) :], *(turn,) * mistakes),
            tool_row=0 if is_success else self.tool_row + (mistakes > 0),
        )

    def worked(self) -> Faults:
        """Return the faults after the model has reached an answer: its row ends, the provider's does not."""
        return replace(self, tool_row=0, mistakes=())

    def blocked_until(self, now_seconds: float) -> float | None:
        """Return the time until which nothing may be sent, by the breaker and by what the provider asked; None if sending is
        allowed.
        """
        times = [
            time
            for time in (self.open_until_seconds, self.wait_until_seconds)
            if time is not None and time > now_seconds
        ]
        return max(times, default=None)

    def counted(self, turn: int, limits: ErrorLimits) -> int:
        """Return how many failures count for the total at a turn: all, or those of the last `within_turns` turns."""
        if limits.within_turns is None:
            return len(self.turns)
        return sum(turn - failed < limits.within_turns for failed in self.turns)

    def is_exhausted(self, turn: int, limits: ErrorLimits) -> bool:
        """Whether the session has to end: the total is used up."""
        return self.counted(turn, limits) >= limits.total

    def escalates(self, limits: ErrorLimits) -> bool:
        """Whether somebody should look: `limits.row` failures in a row."""
        return self.row >= limits.row

    def is_boundary(self, limits: ErrorLimits) -> bool:
        """Whether more failures in a row came than are tolerated, which is a boundary (S-3); an outage that does not count is
        not.
        """
        return (self.row if limits.cured_count else self.tool_row) > limits.row
