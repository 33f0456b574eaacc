"""What did a session cost, by sums that can be worked out by hand, and what is left out of them?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.inspection.spending import input_shares, with_money
from penstock.inspection.story import FillTurn
from penstock.inspection.telling import tell
from penstock.inspection.timeline import Answered, Refused, Said
from penstock.models.prices import Price, Rate
from tests.inspection.strategies import sessions

pytestmark = pytest.mark.proves("X-2")

PRICE = Price(
    input=Rate(10.0), output=Rate(100.0), cache_read=Rate(1.0), cache_write=Rate(12.5), cache_write_hour=Rate(20.0)
)


def price_of(model: str, _at: str) -> Price | None:
    """Return the price of the only model that has one."""
    return PRICE if model == "known" else None


def user(text: str) -> Said:
    """Return a message of the user."""
    return Said({"role": "user", "content": text})


def answered(given: int | None, made: int | None, model: str = "known", **cache: Any) -> Answered:
    """Return what a provider counted."""
    return Answered(given, made, model=model, **cache)


def told(*happenings: Any) -> Any:
    """Return the money of a session."""
    return with_money(tell(happenings, "anthropic"), price_of, "2026-11-23").money


def test_a_session_costs_what_its_turns_do_with_the_cache_as_it_was() -> None:
    """The cost of the same requests without a cache is given too."""
    money = told(
        user("a"),
        answered(1_000_000, 10_000, cache_write_tokens=900_000, hour_write_tokens=400_000),
        Said({"role": "assistant", "content": "b"}),
        user("c"),
        answered(1_000_000, 0, cached_tokens=1_000_000),
    )
    assert money.dollars == pytest.approx(0.1 * 10 + 0.5 * 12.5 + 0.4 * 20 + 0.01 * 100 + 1.0)
    assert money.uncached_dollars == pytest.approx(10 + 1 + 10)
    assert (money.priced_turns, money.as_of) == (2, "2026-11-23")


def test_what_is_not_known_is_left_out_and_counted_as_that() -> None:
    """A model without a price, a turn without figures, an estimate and a refusal are not counted as free."""
    money = told(
        *(user("a"), answered(1_000_000, 0), Said({"role": "assistant", "content": "b"})),
        *(user("c"), answered(1_000_000, 10, model="unknown"), Said({"role": "assistant", "content": "d"})),
        *(user("e"), answered(None, 10), Said({"role": "assistant", "content": "f"})),
        *(user("g"), answered(9_000, None), Said({"role": "assistant", "content": "h"})),
        *(user("i"), answered(0, 10), Said({"role": "assistant", "content": "j"})),
        *(user("k"), Refused("prompt is too long: 2000000 tokens > 1000000 maximum")),
    )
    assert (money.dollars, money.priced_turns) == (pytest.approx(10), 1)
    assert told(user("a"), answered(5, 5, model="unknown")) is None


@given(st.data(), st.sampled_from(("anthropic", "openai-responses", "gemini")))
def test_the_cache_never_makes_a_session_cost_less_than_all_read_nor_more_than_all_written(
    data: st.DataObject, wire: str
) -> None:
    """Whatever figures a record has, each token of input is charged once, by one of the four prices."""
    story = with_money(tell(data.draw(sessions(wire)), wire), lambda _model, _at: PRICE, "2026-11-23")
    for turn in story.turns:
        if turn.is_measured and turn.recorded_tokens is not None:
            shares = input_shares(turn, turn.recorded_tokens)
            assert sum(shares) == turn.recorded_tokens
            assert min(shares) >= 0
    if story.money is None:
        return
    counted = [turn for turn in story.turns if turn.is_measured and turn.output_tokens is not None]
    read = sum((turn.recorded_tokens or 0) + 100 * (turn.output_tokens or 0) for turn in counted) / 1_000_000
    assert 0 < story.money.priced_turns <= len(counted)
    assert 0 <= story.money.dollars <= 20 * read + 1e-9


def test_a_record_that_names_more_of_the_cache_than_there_was_is_cut_to_it() -> None:
    """Impossible figures do not make an impossible cost."""
    turn = FillTurn(
        1, 100, {}, 100, 100, is_measured=True, cached_tokens=90, cache_write_tokens=30, hour_write_tokens=99
    )
    assert tuple(input_shares(turn, 100)) == (0, 90, 0, 10)
    assert tuple(input_shares(turn._replace(cached_tokens=-5, hour_write_tokens=None), 100)) == (70, 0, 30, 0)
