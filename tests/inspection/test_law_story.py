"""Do any happenings in any order, with any messages, make a story whose figures add up?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.inspection.shares import shares
from penstock.inspection.story import KINDS
from penstock.inspection.telling import tell
from tests.inspection.strategies import sessions
from tests.wires.strategies import WIRES

if TYPE_CHECKING:
    from collections.abc import Mapping


pytestmark = pytest.mark.proves("X-2")


@pytest.mark.parametrize("wire", WIRES)
@given(st.data())
def test_any_session_makes_a_story_whose_figures_add_up(wire: str, data: st.DataObject) -> None:
    """The kinds of each turn add up to its tokens, and what is listed was in existing requests."""
    happenings = data.draw(sessions(wire))
    story = tell(happenings, wire)
    for number, turn in enumerate(story.turns, 1):
        assert turn.number == number
        assert sum(turn.by_kind.values()) == turn.tokens
        assert set(turn.by_kind) <= set(KINDS)
        assert all(tokens > 0 for tokens in turn.by_kind.values())
        if turn.is_measured:
            assert turn.tokens == turn.recorded_tokens
    turns = len(story.turns)
    for item in (*story.items, *story.waste.floods):
        assert item.kind in KINDS
        assert item.requests >= 1
        assert 1 <= item.turn <= item.turn + item.requests - 1 <= turns
    refused = [turn.number for turn in story.turns if turn.is_refused]
    assert [one.turn for one in story.refusals] == refused
    assert all(0 <= cut.turn <= turns and min(cut.by_kind.values(), default=1) > 0 for cut in story.compactions)
    assert all(again.times > 1 and again.tokens >= 0 for again in story.waste.rereads)
    assert story == tell(iter(happenings), wire)


@given(st.integers(0, 1 << 60), st.dictionaries(st.text(max_size=3), st.integers(0, 1 << 50), max_size=8))
def test_shares_lose_nothing(total: int, weights: Mapping[str, int]) -> None:
    """The shares of a figure add up to it, each within one of its proportion, and a weight of zero has none."""
    made = shares(total, weights)
    whole = sum(weights.values())
    assert sum(made.values()) == (total if whole else 0)
    for key, share in made.items():
        assert weights[key] > 0
        assert abs(share * whole - total * weights[key]) < whole
