"""Is a number that stays the same while requests grow a window, and does nothing else ever look like one?"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.context.counts import CONTENT_KINDS, KindCounts, counts_of
from penstock.context.provider_counts import MAX_FACTOR, MIN_FACTOR, Observation, stated
from penstock.context.standstill import UNITS, stands_still

if TYPE_CHECKING:
    from penstock.context.counts import ContentKind

pytestmark = pytest.mark.proves("R-6")
TEXT: tuple[ContentKind, ...] = ("system", "tools", "user", "assistant", "calls", "results", "notes")
STEPS = st.lists(st.dictionaries(st.sampled_from(TEXT), st.integers(1, 3_000)), min_size=3, max_size=6)
FACTORS = st.fixed_dictionaries({kind: st.floats(MIN_FACTOR, MAX_FACTOR) for kind in TEXT})


def growing(steps: list[dict[ContentKind, int]]) -> list[KindCounts]:
    """Return requests, each with more text than the one before."""
    made = [counts_of(step.items(), messages=1) for step in steps]
    return [*accumulate(made, KindCounts.__add__)]


def alarms(requests: list[KindCounts], reported: list[int]) -> list[bool]:
    """Return for each answer whether its number seems to stand still compared with those before it."""
    seen: list[Observation] = []
    found = []
    for counts, tokens in zip(requests, reported, strict=True):
        found.append(tokens > 0 and stands_still(seen, counts, tokens))
        seen.append(stated(counts, max(1, tokens)))
    return found


@given(STEPS, FACTORS, st.sampled_from(UNITS))
def test_a_provider_that_counts_everything_never_stands_still(
    steps: list[dict[ContentKind, int]], factors: dict[ContentKind, float], unit: int
) -> None:
    """This holds whatever a token costs, and however the number is rounded."""
    requests = growing(steps)
    sizes = [sum(factors.get(kind, 1.0) * tokens for kind, tokens in one.by_kind().items()) for one in requests]
    assert not any(alarms(requests, [round(size / unit) * unit for size in sizes]))


@given(STEPS, FACTORS)
def test_a_provider_that_reports_only_uncached_input_never_stands_still(
    steps: list[dict[ContentKind, int]], factors: dict[ContentKind, float]
) -> None:
    """Steps of equal length then have the same number, however long the history is."""
    alike = [steps[0] or {"user": 1}] * len(steps)
    newest = sum(factors[kind] * tokens for kind, tokens in alike[0].items())
    assert not any(alarms(growing(alike), [int(newest)] * len(alike)))


def test_the_third_equal_number_of_growing_texts_is_a_window() -> None:
    """Two may be chance; images, and a decrease in anything, say nothing."""
    grown = growing([{"user": 4_300, "results": 900}, {"results": 600}, {"results": 600}, {"user": 600}])
    assert alarms(grown, [4_096] * 4) == [False, False, True, True]
    assert alarms(grown, [4_095, 4_096, 4_096, 4_097]) == [False] * 4
    assert alarms([one + counts_of([("images", 9 * at)]) for at, one in enumerate(grown)], [4_096] * 4) == [False] * 4
    assert alarms(grown[::-1], [4_096] * 4) == [False] * 4
    assert set(TEXT) < set(CONTENT_KINDS)


def test_what_rounding_hides_and_what_is_sent_again_say_nothing() -> None:
    """Examples are eight thousand and some, counted in thousands, and one request sent twice."""
    assert alarms(growing([{"user": 8_000}, {"user": 50}, {"user": 50}]), [8_000] * 3) == [False] * 3
    first, more = growing([{"user": 4_200}, {"user": 900}])
    assert alarms([first, first, more], [4_095] * 3) == [False] * 3
