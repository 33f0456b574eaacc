"""Are sizes measured in their unit?"""

from __future__ import annotations

import pytest

from penstock import Allowance, CallerError
from penstock.text import notices
from penstock.text.tokens import Tokens

pytestmark = pytest.mark.proves("LAW-Allowance")


def test_each_unit_measures_what_it_says() -> None:
    """The units are characters, UTF-8 bytes, and the upper bound of a token counter."""
    text = "é😀"
    assert Allowance.chars(2).measure(text) == 2
    assert Allowance.bytes(2).measure(text) == 6
    assert Allowance.tokens(2, Tokens()).measure(text) == Tokens().count(text).high
    assert Allowance.chars(2).holds(text)
    assert not Allowance.bytes(5).holds(text)


@pytest.mark.parametrize("limit", [-1, True, 1.5, "5", None])
def test_a_limit_is_a_whole_number(limit: object) -> None:
    """Anything else is a programmer's mistake, reported at once."""
    with pytest.raises(CallerError, match="whole number"):
        Allowance.chars(limit)  # type: ignore[arg-type]


@pytest.mark.parametrize("counter", [len, "o200k", None])
def test_what_counts_tokens_is_a_counter(counter: object) -> None:
    """The error comes with the counter, not with the first text that is measured."""
    with pytest.raises(CallerError, match="has a method `count`"):
        Allowance.tokens(5, counter)  # type: ignore[arg-type]


def test_an_allowance_names_its_unit() -> None:
    """Messages use this text."""
    assert [str(Allowance.chars(5)), str(Allowance.bytes(5)), str(Allowance.tokens(5, Tokens()))] == [
        "5 characters",
        "5 bytes",
        "5 tokens",
    ]


def test_what_an_answer_takes_is_named_with_room_for_its_numbers() -> None:
    """With more room, numbers in its header may have a digit more: an eighth above the shortest size."""
    said = notices.over_allowance(Allowance.chars(10), 80)
    assert said == f"The answer does not fit in {Allowance.chars(10)}: it takes at least 90."
