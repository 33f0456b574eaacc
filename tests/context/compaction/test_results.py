"""Which results of a run are cleared if sizes disagree?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.context.compaction.results import _batch

if TYPE_CHECKING:
    from penstock.context.compaction.views import View

pytestmark = pytest.mark.proves("O-4")


@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 3_000)), min_size=1, max_size=6),
    st.integers(0, 9_000),
    st.integers(0, 3_000),
    st.integers(0, 3_000),
    st.integers(0, 30),
)
def test_a_run_is_found_whatever_the_sizes_are(
    spans: list[tuple[int, int]], size: int, over: int, more: int, calls_left: int
) -> None:
    """A provider may count a request smaller than we count what precedes a result; costs are then negative."""
    view = SimpleNamespace(size_tokens=size, over_tokens=over, goal_tokens=over + more, calls_left=calls_left)
    first, last = _batch(cast("View", view), spans)
    assert 0 <= first <= last <= len(spans)
