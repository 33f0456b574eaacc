"""Which of several consequences of one kind for one thing are kept? The most certain, and each other that needs more."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from penstock.cobol.graph import NodeId
from penstock.cobol.graph.consequences import Consequences

if TYPE_CHECKING:
    from penstock.cobol.graph.values import Certainty

Told = tuple["Certainty", int, int]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ([("is", 10, 3), ("may", 10, 1), ("is", 8, 2)], [("is", 10, 1)]),
        ([("is", 10, 3), ("may", 14, 1), ("is", 8, 2)], [("is", 10, 1), ("may", 14, 1)]),
        ([("may", 10, 1), ("may", 12, 4), ("unknown", 11, 2)], [("may", 12, 1)]),
        ([("is", 10, 2), ("is", 10, 1)], [("is", 10, 1)]),
    ],
)
def test_what_needs_more_than_anything_as_certain_is_kept_in_whatever_order_it_comes(
    told: list[Told], kept: list[Told]
) -> None:
    """The shortest path is kept too, even that of a consequence that is not, since the report is ordered by it."""
    for order in permutations(told):
        found = Consequences()
        for certainty, needed, steps in order:
            found.add("too short", NodeId("field", "P.X"), (5, needed), steps, "why", (), certainty)
        assert [(one.certainty, one.needed_bytes, one.steps) for one in found.told()] == kept
