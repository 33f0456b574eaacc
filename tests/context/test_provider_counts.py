"""What may a provider count for the next request, given earlier counts: never less than it can, and rarely much more?"""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.context.counts import CONTENT_KINDS, IMAGE_TOKENS, KindCounts, counts_of
from penstock.context.provider_counts import (
    FACTOR_RANGES,
    MAX_FACTOR,
    MAX_FRAME_TOKENS,
    MESSAGE_ERROR,
    MIN_FACTOR,
    STATED_ERROR,
    Likelihood,
    Observation,
    min_decrease,
    more_than,
    stated,
    worst_case,
)

KINDS = len(CONTENT_KINDS)
_TEXT = st.floats(-1, 1).map(lambda power: MAX_FACTOR**power)
_PRICES = st.sampled_from([0.0, 10.0, 85.0, 258.0, 1_568.0, 4_784.0, 16_384.0]) | st.floats(0, 16_384)
_OTHERS = {"images": _PRICES.map(lambda price: price / 1_568), "files": st.floats(0, 24)}
_OTHERS |= dict.fromkeys(("reasoning", "other"), st.floats(0, MAX_FACTOR))
FACTORS = st.tuples(*[_OTHERS.get(kind, _TEXT) for kind in CONTENT_KINDS])
TOKENS = st.tuples(*[st.integers(0, 50_000)] * KINDS)
SHARES = st.tuples(*[st.floats(0, 1)] * KINDS)
ERRORS = st.floats(-MESSAGE_ERROR, MESSAGE_ERROR)
FRAMES = st.floats(0, MAX_FRAME_TOKENS)


def provider_count(counts: KindCounts, factors: tuple[float, ...], error: float, frame: float) -> float:
    """Return what a provider with these factors counts: the sum by kind with an error, and a frame for each message."""
    return (1 + error) * sum(map(float.__mul__, factors, map(float, counts.tokens))) + frame * counts.messages


def part_of(counts: KindCounts, shares: tuple[float, ...], messages: int) -> KindCounts:
    """Return a request that keeps a share of each kind."""
    return KindCounts(tuple(int(n * share) for n, share in zip(counts.tokens, shares, strict=True)), messages)


@given(TOKENS, SHARES, SHARES, FACTORS, ERRORS, ERRORS, FRAMES, st.floats(-STATED_ERROR, STATED_ERROR))
def test_no_provider_counts_more_than_the_worst_case(
    tokens: tuple[int, ...],
    kept: tuple[float, ...],
    kept_then: tuple[float, ...],
    factors: tuple[float, ...],
    error: float,
    later_error: float,
    frame: float,
    misstated: float,
) -> None:
    """For any factors, frames and errors, the bound holds for what is left after one and after two numbers."""
    whole = KindCounts(tokens, 40)
    smaller = part_of(whole, kept, 20)
    smallest = part_of(smaller, kept_then, 10)
    first = stated(whole, int(provider_count(whole, factors, error, frame) * (1 + misstated)) + 1)
    second = stated(smaller, int(provider_count(smaller, factors, error, frame) * (1 + misstated)) + 1)
    for request in (smaller, smallest):
        truth = provider_count(request, factors, later_error, frame)
        assert worst_case(request, [first]) >= truth * 0.999_999 - 2
        assert worst_case(request, [first, second]) >= truth * 0.999_999 - 2


@given(st.lists(st.integers(1, 9_000), min_size=4, max_size=4), SHARES, FACTORS)
def test_with_one_number_the_worst_case_is_a_vertex_of_the_box(
    tokens: list[int], kept: tuple[float, ...], factors: tuple[float, ...]
) -> None:
    """The bound is tight: some factors that the number allows reach it."""
    whole = counts_of(zip(CONTENT_KINDS[2:6], tokens, strict=True), messages=0)
    seen = stated(whole, int(provider_count(whole, factors, 0, 0)) + 1)
    request = part_of(whole, kept, 0)
    low, high = (seen.low or 0) / (1 + MESSAGE_ERROR), (seen.high or 0) / (1 - MESSAGE_ERROR)
    best = 0.0
    for free in range(4):
        for ends in itertools.product((MIN_FACTOR, MAX_FACTOR), repeat=4):
            others = sum(ends[k] * tokens[k] for k in range(4) if k != free)
            for aim in (low, high):
                factor = min(MAX_FACTOR, max(MIN_FACTOR, (aim - others) / tokens[free]))
                point = [factor if k == free else ends[k] for k in range(4)]
                if low - 1e-6 <= sum(map(float.__mul__, point, map(float, tokens))) <= high + 1e-6:
                    best = max(best, sum(map(float.__mul__, point, map(float, request.tokens[2:6]))))
    assert worst_case(request, [seen]) == pytest.approx((1 + MESSAGE_ERROR) * best, rel=1e-6, abs=1e-6)


@given(TOKENS, TOKENS, FACTORS, ERRORS, ERRORS, FRAMES, st.integers(0, 3))
def test_what_is_said_to_be_smaller_is_smaller_for_every_provider(
    removed: tuple[int, ...],
    added: tuple[int, ...],
    factors: tuple[float, ...],
    error: float,
    error_of_added: float,
    frame: float,
    messages: int,
) -> None:
    """A cut that adds a note is smaller only if no factors make the note cost more than the cut saves."""
    gone, come = KindCounts(removed, 0), KindCounts(tuple(n // 20 for n in added), messages)
    if min_decrease(gone, come) > 0:
        assert provider_count(gone, factors, error, frame) > provider_count(come, factors, error_of_added, frame)


def test_a_note_of_another_kind_has_to_be_sixteen_times_smaller() -> None:
    """A factor of 1/4 for what is removed and 4 for what is added make 16, plus the errors of two messages."""
    gone = counts_of([("results", 16_000)])
    assert min_decrease(gone, counts_of([("notes", 800)])) > 0
    assert min_decrease(gone, counts_of([("notes", 1_000)])) < 0
    assert min_decrease(gone, counts_of([("results", 13_000)])) > 0  # within one kind it only has to be smaller
    less = counts_of([("results", 100)])
    assert min_decrease(less, counts_of([("results", 80)])) > 0
    assert min_decrease(less, counts_of([("results", 80)], messages=1)) < 0  # whose frame may be more than that


@given(TOKENS, SHARES, FACTORS)
def test_the_chance_to_fit_falls_as_a_request_grows_and_rises_with_the_window(
    tokens: tuple[int, ...], kept: tuple[float, ...], factors: tuple[float, ...]
) -> None:
    """It is monotone, between 0 and 1, and certain at the ends."""
    whole = KindCounts(tokens, 10)
    number = int(provider_count(whole, factors, 0, 8)) + 1
    likely = Likelihood([stated(whole, number)])
    smaller = part_of(whole, kept, 5)
    for limit in (number // 2, number, 2 * number):
        assert 0 <= likely.chance_that_fits(whole, limit) <= likely.chance_that_fits(smaller, limit) <= 1 + 1e-9
        assert likely.chance_that_fits(smaller, limit) <= likely.chance_that_fits(smaller, 2 * limit)
    assert likely.chance_that_fits(whole, 17 * number + 1_000) == pytest.approx(1)
    assert likely.chance_that_fits(KindCounts((1, *tokens[1:]), 10), 0) == 0


def test_what_was_stated_is_what_the_sample_gives() -> None:
    """For the request that had the number, a window below the number is too small and one a twentieth larger is enough."""
    request = counts_of([("system", 900), ("calls", 2_000), ("results", 40_000), ("user", 500)], messages=80)
    likely = Likelihood([stated(request, 66_000)])
    assert likely.chance_that_fits(request, 60_000) == 0
    assert likely.chance_that_fits(request, 67_000) == 0  # its messages may err: just below the limit is not likely
    assert likely.chance_that_fits(request, 69_300) == pytest.approx(1)


def test_a_refusal_that_names_its_limit_alone_rules_out_what_would_have_fitted() -> None:
    """Points of the sample below the limit are excluded; the rest say how much smaller is likely small enough."""
    request = counts_of([("results", 60_000), ("user", 500)], messages=20)
    likely = Likelihood([more_than(request, 100_000)])
    assert likely.chance_that_fits(request, 100_000) == 0
    half = counts_of([("results", 30_000), ("user", 500)], messages=10)
    assert 0.1 < likely.chance_that_fits(half, 100_000) < 1


def test_a_second_number_sharpens_the_first() -> None:
    """Two numbers for requests of different mixtures separate kinds that one number cannot."""
    first = counts_of([("calls", 20_000), ("results", 20_000)])
    second = counts_of([("calls", 20_000), ("results", 2_000)])
    seen = [stated(first, 45_000), stated(second, 40_500)]  # calls at 2, results at 1/4
    alike = counts_of([("results", 20_000)])
    assert worst_case(alike, seen) < worst_case(alike, seen[:1])
    assert Likelihood(seen).chance_that_fits(alike, 12_000) > Likelihood(seen[:1]).chance_that_fits(alike, 12_000)


def test_a_request_that_is_as_large_as_its_limit_fits() -> None:
    """In each part of the sample, an empty request fits even in an empty window."""
    likely = Likelihood([stated(counts_of([("user", 8)], messages=1), 9)])
    assert likely.chance_that_fits(KindCounts(), 0) == pytest.approx(1)


def test_numbers_that_no_factors_explain_leave_their_plain_ratio() -> None:
    """For a provider outside the assumption, which counts a thousandth or a thousand times, its count still scales the estimate."""
    request, half = counts_of([("results", 1_000), ("user", 8)]), counts_of([("results", 500), ("user", 4)])
    for number in (1, 1_000_000):
        seen = [stated(request, number)]
        assert math.isfinite(worst_case(request, seen))
        assert worst_case(request, seen) >= number
        assert worst_case(half, seen) >= number / 2
        assert 0 <= Likelihood([stated(request, number)]).chance_that_fits(request, 1_000) <= 1
    assert Observation(counts=request).is_stated is False


def test_numbers_that_contradict_each_other_prove_nothing() -> None:
    """If no factors give both, only the box is left: a change is not called smaller if it is not."""
    request = counts_of([("results", 1_000), ("user", 8)])
    seen = [stated(request, 3_000), stated(request, 400)]
    nothing = counts_of([])
    assert min_decrease(nothing, nothing, seen) <= 0
    assert min_decrease(counts_of([("results", 100)]), counts_of([("notes", 90)]), seen) < 0
    assert worst_case(request, seen) >= 3_000


def test_where_nothing_agrees_with_what_was_said_all_is_as_likely_as_before() -> None:
    """A refusal at a limit that no known provider could have reached says nothing about how this one counts."""
    request, half = counts_of([("results", 1_000), ("user", 8)]), counts_of([("results", 500), ("user", 4)])
    told = Likelihood([more_than(request, 1_000_000)])
    for limit in (100, 500, 1_000):
        assert told.chance_that_fits(half, limit) == pytest.approx(Likelihood().chance_that_fits(half, limit))


def test_an_image_may_count_what_providers_were_seen_to_count() -> None:
    """From 0 to 16,384 tokens; usually from 85, OpenAI's low detail, to 4,784, Claude's high resolution."""
    images = FACTOR_RANGES[CONTENT_KINDS.index("images")]
    assert [round(factor * IMAGE_TOKENS.tokens, 6) for factor in images] == [0, 16_384, 85, 4_784]


def test_the_two_newest_numbers_bound_what_a_request_takes() -> None:
    """A request for which no number was stated does not count among them."""
    oldest, *newest = (
        stated(counts_of([("results", results), ("user", user)]), tokens)
        for results, user, tokens in ((9_000, 500, 9_500), (500, 9_000, 19_000), (4_000, 4_000, 12_000))
    )
    asked, silent = counts_of([("results", 2_000), ("user", 7_000)]), Observation(counts=counts_of([("user", 9_000)]))
    bounds = [worst_case(asked, seen) for seen in (newest[:1], newest, [oldest, *newest], [*newest, silent])]
    assert bounds[0] > bounds[1] == bounds[2] == bounds[3]
