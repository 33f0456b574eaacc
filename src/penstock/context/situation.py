"""What is known when a request has to be made smaller? What was refused, what was said of it, and what is left to try.

Values only, and what follows from them by arithmetic: the limit, the reply to leave room for, what a refusal says of how the
provider counts. Leaves to others: what is done about it (`recovery`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.context.ladder import Ladder
from penstock.context.provider_counts import Likelihood, more_than, stated
from penstock.overflow.learned import SMALLEST_TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.provider_counts import Observation
    from penstock.context.sized import Sized
    from penstock.overflow import Overflow
    from penstock.text.allowance import Budget
    from penstock.text.calls import Dialect

MAX_CALLS = 4
"""The most calls of a provider for one request, summaries included (promise 3): the request, a likely cure, a certain
one, the floor.
"""
REPLY_SHARE = 8
"""A smaller request leaves at most the window divided by this for its reply, whatever was asked for: an eighth."""


# Providers add to what is in a request: Claude adds 346 tokens if there are tools, others their own instructions. For a greeting
# that is three times what was sent, for a session next to nothing.
KNOWN_SHARE = 8
"""How many times larger a request may be than one counted before, for that count to say how this one will be counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A request that was sent and refused."""

    sized: Sized
    """The request as it was sent, counted."""
    overflow: Overflow
    """What the provider said of a refused request."""
    reserve_tokens: int = 0
    """The length of reply that a refused request asked for, in tokens."""
    is_whole: bool = True
    """Whether the provider counted just the request; False if it keeps the conversation before it (`wires.is_whole`)."""

    def observation(self) -> Observation | None:
        """Return what the refusal says of how the provider counts; None if it has no number for that."""
        # From the surest to the weakest. A stated input is an equation. Otherwise the request took more than a stated lower
        # bound, and more than the limit, minus the reply if limit and total include it; the larger of the two says more.
        reported = self.reported_input
        if reported is not None and self.overflow.bound != "lower_bound":
            return stated(self.sized.counts, reported)
        reply = self.asked_for if self.overflow.kind == "context_total" else 0
        limit = None if self.limit_tokens is None else max(1, self.limit_tokens - reply)
        bounds = [tokens for tokens in (reported, limit) if tokens is not None]
        return more_than(self.sized.counts, max(bounds)) if bounds else None

    @property
    def limit_tokens(self) -> int | None:
        """The limit that the refusal states; None if it states none in tokens, or a number that cannot be a window."""
        limit = self.overflow.limit or 0
        return limit if self.overflow.unit == "tokens" and limit >= SMALLEST_TOKENS else None

    @property
    def asked_for(self) -> int:
        """The reply that was asked for, according to the refusal or as we sent it."""
        return self.overflow.output or self.reserve_tokens

    @property
    def reported_input(self) -> int | None:
        """The input that the provider counted, or a lower bound of it; None if no number says it."""
        overflow = self.overflow
        if overflow.unit != "tokens":
            return None
        if overflow.input is not None:
            return overflow.input
        total = overflow.total
        if total is None and overflow.limit is not None and overflow.excess is not None:
            total = overflow.limit + overflow.excess
        if total is None:
            return None
        return max(1, total - (self.asked_for if overflow.kind == "context_total" else 0))


@dataclass(frozen=True, kw_only=True)
class Situation:
    """Everything that `recover` knows.

    Args:
        sized: the request that may have to be made smaller: the one that was refused last, or one that was not sent yet.
        attempts: the requests that were refused, oldest first.
        budget: the window as the caller believes it, and the reply that was asked for.
        calls_left: how many calls of a provider may still be made for this request, summaries included.
        known: what the provider said of other requests before, as a `Carrier` remembers it.
        min_reply_tokens: the shortest reply that the provider lets this request ask for.
        kept: results that stay as they are, each by its message and its call.
        dialect: the call syntax in which stubs name the way back.
        session_id: the session's name in a handoff.
    """

    sized: Sized
    budget: Budget
    attempts: Sequence[Attempt] = ()
    calls_left: int = MAX_CALLS - 1
    known: Sequence[Observation] = ()
    min_reply_tokens: int = 1
    kept: frozenset[tuple[int, str]] = frozenset()
    dialect: Dialect | None = None
    session_id: str = ""

    @property
    def room_tokens(self) -> int:
        """The room of the next request, as far as it is known: for plans, prompts and proofs that name a number."""
        believed = max(0, self.budget.context_tokens - self.reserve_tokens)
        return believed if self.input_limit_tokens is None else min(believed, self.input_limit_tokens)

    def ladder(self, sized: Sized) -> Ladder:
        """Return the ladder of smaller requests below this one."""
        return Ladder(
            sized,
            window_tokens=self.room_tokens,
            kept=self.kept,
            dialect=self.dialect,
            session_id=self.session_id,
        )

    @property
    def newest(self) -> Attempt:
        """The refusal to be cured."""
        return self.attempts[-1]

    @property
    def told(self) -> list[Observation]:
        """What the provider said before of other requests that were large enough to say something about this one."""
        return [seen for seen in self.known if seen.counts.total * KNOWN_SHARE >= self.sized.counts.total]

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Everything that the provider said with numbers, oldest first."""
        return (*self.told, *(seen for attempt in self.attempts if (seen := attempt.observation()) is not None))

    @cached_property
    def likelihood(self) -> Likelihood:
        """The ways in which the provider may count, given everything that it said with numbers."""
        return Likelihood(self.observations)

    @property
    def limit_tokens(self) -> int | None:
        """The smallest limit that any refusal stated."""
        return min((limit for attempt in self.attempts if (limit := attempt.limit_tokens)), default=None)

    @property
    def reserve_tokens(self) -> int:
        """The reply to ask for with a smaller request: as before, but at most an eighth of the window."""
        window = min(self.budget.context_tokens, self.limit_tokens or self.budget.context_tokens)
        return min(self.budget.reserve_tokens, max(self.min_reply_tokens, window // REPLY_SHARE))

    @property
    def input_limit_tokens(self) -> int | None:
        """The stated limit, minus the reply that will be asked for: most providers count both against one window."""
        return None if self.limit_tokens is None else max(1, self.limit_tokens - self.reserve_tokens)

    @property
    def stated_numbers(self) -> int:
        """How many of the refusals state what the provider counted: two such numbers and a limit bound how it counts (R-1)."""
        return sum((seen := attempt.observation()) is not None and seen.is_stated for attempt in self.attempts)
