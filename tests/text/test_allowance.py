"""Are sizes measured in their unit?"""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Allowance, Budget, CallerError
from penstock.compaction import plan
from penstock.guard import fit
from penstock.guard.output import TurnBudget
from penstock.overflow import Overflow
from penstock.recovery import recover
from penstock.session import Session
from penstock.text import notices
from penstock.text.tokens import Tokens
from penstock.transcript import load

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


@pytest.mark.parametrize("wrong", [-1, 1e4, "16k", True, Budget("16k"), Budget(9, -1)])  # type: ignore[arg-type]
def test_a_budget_is_a_whole_number_of_tokens(wrong: Any) -> None:
    """A plan, a cure and a session are told so in the same words, whether it is the window or a budget of it."""
    sent = load([{"role": "user", "content": "Go on."}], "openai-chat")
    for use in (
        lambda: plan(sent, wrong),
        lambda: recover(sent, Overflow(kind="context_input"), wrong),
        lambda: Session(budget=wrong),
    ):
        with pytest.raises(CallerError, match="whole number of tokens from 0 on"):
            use()


def test_a_size_is_no_allowance() -> None:
    """Without its unit a size may be characters or tokens; whoever passes one is told what to pass."""
    for use in (lambda: fit("text", 5_000), lambda: TurnBudget(5_000)):  # type: ignore[arg-type]
        with pytest.raises(CallerError, match=r"Allowance\.chars"):
            use()
