"""What did a session cost? Roughly what its turns amount to at list prices, with the cache as it was recorded.

Laws: a turn counts if its figures were measured and its model has a price; the result says how many do, and if none does there is
no sum. Leaves to others: where prices come from (`models.prices`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.inspection.story import Money

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.inspection.story import FillTurn, Story


class TokenPrice(Protocol):
    """What the tokens of a model cost."""

    def dollars(
        self,
        *,
        uncached_tokens: int,
        cached_tokens: int = 0,
        written_tokens: int = 0,
        written_hour_tokens: int = 0,
        output_tokens: int = 0,
    ) -> float:
        """Return the cost of a request with these tokens; each token is in exactly one argument."""
        ...


class InputShares(NamedTuple):
    """How the input of a request was billed: each token in one of these."""

    uncached_tokens: int
    cached_tokens: int
    written_tokens: int
    written_hour_tokens: int


def input_shares(turn: FillTurn, input_tokens: int) -> InputShares:
    """Return how a turn's input used its cache, as far as its record shows; what no record mentions was uncached.

    Args:
        turn: the turn.
        input_tokens: all of its input; larger cache figures in the record are capped to it.
    """
    cached = _within(turn.cached_tokens, input_tokens)
    written = _within(turn.cache_write_tokens, input_tokens - cached)
    hour = _within(turn.hour_write_tokens, written)
    return InputShares(input_tokens - cached - written, cached, written - hour, hour)


class Spending:
    """What turns have cost so far."""

    def __init__(self) -> None:
        self._dollars = self._uncached_dollars = 0.0
        self._priced_turns = 0

    def add(self, turn: FillTurn, price: TokenPrice | None) -> None:
        """Add the cost of an answered turn, if its figures are recorded and its model has a price."""
        given, made = turn.recorded_tokens, turn.output_tokens
        if price is None or given is None or made is None or made < 0:
            return
        self._dollars += price.dollars(**input_shares(turn, given)._asdict(), output_tokens=made)
        self._uncached_dollars += price.dollars(uncached_tokens=given, output_tokens=made)
        self._priced_turns += 1

    def money(self, as_of: str) -> Money | None:
        """Return it at the prices of a day; None if nothing had a price."""
        if not self._priced_turns:
            return None
        return Money(self._dollars, self._uncached_dollars, self._priced_turns, as_of)


def with_money(story: Story, price_of: Callable[[str, str], TokenPrice | None], as_of: str) -> Story:
    """Return a story that says what its session cost.

    Args:
        story: the story, as `tell` returns it.
        price_of: the price of a model, given its name and the time of the request; None if unknown.
        as_of: the day of the prices.
    """
    spent = Spending()
    for turn in story.turns:
        # A refused request costs nothing, and a figure that is not a measurement would add a cost.
        if turn.is_measured and not turn.is_refused:
            spent.add(turn, price_of(turn.model, turn.at))
    return replace(story, money=spent.money(as_of))


def _within(tokens: int | None, most: int) -> int:
    return min(max(0, tokens or 0), most)
