"""Is the cost of a call taken from the agent that makes it, and from the agents above it if it has no more?"""

from __future__ import annotations

from typing import Any

import pytest

from penstock.agent.purse import Purse, open_purse
from penstock.agent.record_types import SPENDING


@pytest.fixture
def told() -> list[tuple[str, str, Any]]:
    """Return what was recorded of each change: its kind, the account and the tokens."""
    return []


@pytest.fixture
def purse(told: list[tuple[str, str, Any]]) -> Purse:
    def record(kind: str, data: dict[str, Any]) -> None:
        assert kind == SPENDING
        told.append((data["kind"], data["account"], data.get("tokens")))

    return open_purse("run", 100, record)


def test_what_a_call_took_is_settled_to_the_token(purse: Purse, told: list[tuple[str, str, Any]]) -> None:
    """An unused part is given back, an excess is paid as far as tokens are left, and no difference writes no record."""
    purse.take(60)
    purse.settle(60, 60)
    purse.settle(60, 59)
    purse.settle(59, 60)
    purse.settle(60, 200)
    purse.settle(0, 7)
    assert told[1:] == [
        ("committed", "run", 60),
        ("refunded", "run", 1),
        ("committed", "run", 1),
        ("committed", "run", 40),
    ]
    assert (purse.left_tokens, purse.tree.spent_tokens) == (0, 100)
    purse.grant(5)
    assert purse.left_tokens == 5


def test_a_child_that_has_no_more_is_paid_for_by_those_above_it(purse: Purse, told: list[tuple[str, str, Any]]) -> None:
    """Each pays as much as it has left, the nearest first."""
    child = purse.for_child(10)
    grandchild = child.for_child(4)
    assert (child.name, grandchild.name) == ("task-1", "task-2")
    grandchild.take(3)
    del told[:]
    grandchild.settle(3, 12)
    assert told == [("committed", "task-2", 1), ("committed", "task-1", 6), ("committed", "run", 2)]
    assert (purse.left_tokens, child.left_tokens, purse.tree.spent_tokens) == (88, 0, 12)
    assert purse.of("task-1").account == child.account


def test_what_a_child_leaves_comes_back_once(purse: Purse, told: list[tuple[str, str, Any]]) -> None:
    """A name is given out once; the rest of all children that no longer work is given back together."""
    child = purse.for_child(10)
    child.take(2)
    child.release()
    child.release()
    assert purse.left_tokens == 98
    assert purse.for_child(5).name == "task-2"
    purse.release_children()
    purse.release_children()
    assert purse.left_tokens == 98
    assert [kind for kind, _, _ in told].count("released") == 1
    assert [kind for kind, _, _ in told].count("released_orphans") == 1
