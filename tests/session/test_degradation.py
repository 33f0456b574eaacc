"""What does a context of a given size cost, with computed, policy, measured and unknown figures kept apart (S-7)?"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.context.compaction.plans import CACHE_READ, CACHE_WRITE
from penstock.errors import CallerError
from penstock.session.degradation import ADVICE, POLICY, InputPrices, Measurement, Points, assess, points_of
from penstock.session.limits import Pressure

pytestmark = pytest.mark.proves("S-7")

MEASURED = [
    {"metric": "solved", "tokens": 64_000, "value": 0.41, "source": "our bench", "runs": 200},
    {"metric": "solved", "tokens": 32_000, "value": 0.52, "source": "our bench", "runs": 200},
    {"metric": "seconds a call", "tokens": 50_000, "value": 4, "source": "journal"},
]
DOCUMENT = {"model": "m-1", "policy": {"rungs": [{"pressure": "COMPACT", "tokens": 20_000}]}, "measured": MEASURED}


@pytest.mark.parametrize(
    ("tokens", "advice"),
    [
        (0, "normal operation"),
        (49_999, "normal operation"),
        (50_000, "monitor the number of turns"),
        (75_000, "begin compression"),
        (100_000, "compress aggressively"),
        (115_000, "hand off"),
        (115_001, "hand off and reset the session"),
    ],
)
@pytest.mark.parametrize("times", [1, 2, 8])
def test_without_measurements_the_table_of_the_guidelines_is_policy(tokens: int, advice: str, times: int) -> None:
    """The advice holds at and around its figures, for their own window and for windows twice and eight times as large."""
    found = assess(tokens * times + (tokens == 49_999) * (times - 1), 128_000 * times)
    assert ADVICE[found.pressure] == advice
    assert f"policy: {advice} ({found.pressure.name})" in str(found).splitlines()


@given(st.integers(0, 3_000_000), st.sampled_from([16_000, 32_000, 128_000, 1_000_000]))
def test_what_nobody_measured_is_unknown_and_no_percentage_is_promised(tokens: int, window_tokens: int) -> None:
    """The default has no figure for speed or quality at any size."""
    found = assess(tokens, window_tokens)
    assert found.readings == ()
    assert [word for word, _ in found.statements] == ["computed", "policy", "unknown"]
    assert "nothing was measured" in str(found)
    assert "%" not in str(found)
    assert set(re.findall(r"\d+", " ".join(text for word, text in found.statements if word != "computed"))) == set()


def test_the_cost_of_a_call_is_computed_from_what_is_cached() -> None:
    """A known cached share gives a number, an unknown one a range from everything cached to nothing."""
    assert (CACHE_READ, CACHE_WRITE) == (10, 125)
    assert assess(100_000, 128_000).cost == (10_000, 125_000)
    assert assess(100_000, 128_000, cached_share=0.9).cost == pytest.approx((21_500, 21_500))
    assert assess(100_000, 128_000, cached_share=1, prices=InputPrices(cached=50)).cost == (50_000, 50_000)
    assert assess(100_000, 128_000, prices=InputPrices(cached=200, fresh=100)).cost == (100_000, 200_000)
    assert "costs 21500 tokens of plain input" in str(assess(100_000, 128_000, cached_share=0.9))
    assert "costs 10000 to 125000 tokens" in str(assess(100_000, 128_000))


@given(
    st.integers(0, 2_000_000),
    st.integers(0, 2_000_000),
    st.sampled_from([16_000, 128_000, 1_000_000]),
    st.one_of(st.none(), st.floats(0, 1)),
)
def test_cost_and_advice_never_fall_as_tokens_grow(
    one: int, other: int, window_tokens: int, share: float | None
) -> None:
    """This holds with and without a known cached share."""
    less, more = (assess(tokens, window_tokens, cached_share=share) for tokens in sorted((one, other)))
    assert less.cost.low <= more.cost.low
    assert less.cost.high <= more.cost.high
    assert less.cost.low <= less.cost.high
    assert less.pressure <= more.pressure


@pytest.mark.parametrize("form", [json.dumps, lambda value: json.dumps(value).encode(), dict])
def test_points_are_loaded_from_json(form: Any) -> None:
    """Points are loaded from text, bytes, or the parsed value."""
    points = points_of(form(DOCUMENT))
    assert points.model == "m-1"
    assert points.measured[1] == Measurement(metric="solved", tokens=32_000, value=0.52, source="our bench", runs=200)
    assert points.measured[2].runs is None
    assert assess(20_000, 128_000, points).pressure is Pressure.COMPACT
    assert assess(19_999, 128_000, points).pressure is Pressure.CALM


def test_what_is_left_out_of_points_is_policy() -> None:
    """An empty document is a model that nobody measured."""
    assert points_of({}) == POLICY == Points()


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        (31_999, "unknown: solved below what was measured: solved 0.52 at 32000 tokens (our bench, 200 runs)"),
        (32_000, "measured: solved 0.52 at 32000 tokens (our bench, 200 runs)"),
        (
            48_000,
            "measured: solved 0.52 at 32000 tokens (our bench, 200 runs), solved 0.41 at 64000 tokens (our bench, 200 runs)",
        ),
        (64_000, "measured: solved 0.41 at 64000 tokens (our bench, 200 runs)"),
        (64_001, "unknown: solved above what was measured: solved 0.41 at 64000 tokens (our bench, 200 runs)"),
    ],
)
@pytest.mark.parametrize("window_tokens", [32_000, 128_000, 1_000_000])
def test_a_measurement_is_given_at_its_size_and_nothing_in_between(tokens: int, said: str, window_tokens: int) -> None:
    """The nearest measurements on both sides are given unchanged; beyond the last one it is unknown; no window scales them."""
    assert said in str(assess(tokens, window_tokens, points_of(DOCUMENT))).splitlines()


def test_each_metric_is_known_or_unknown_for_itself() -> None:
    """A measurement at another size says nothing about this one."""
    found = assess(60_000, 128_000, points_of(DOCUMENT))
    assert [(reading.metric, reading.word) for reading in found.readings] == [
        ("solved", "measured"),
        ("seconds a call", "unknown"),
    ]
    assert str(found).splitlines()[0] == "60000 of 128000 tokens, m-1"
    assert "nothing was measured" not in str(found)


@given(st.integers(0, 200_000), st.lists(st.tuples(st.integers(0, 99), st.integers(0, 10**6)), max_size=8))
def test_no_number_is_measured_that_was_not_loaded(tokens: int, rows: list[tuple[int, int]]) -> None:
    """Whatever was loaded, every reading is one of the measurements, on the side that it names."""
    measured = tuple(
        Measurement(metric="m", tokens=at * 2000, value=value, source="s") for at, value in dict(rows).items()
    )
    found = assess(tokens, 128_000, Points(measured=measured))
    assert len(found.readings) == bool(measured)
    for reading in found.readings:
        below = [one for one in measured if one.tokens <= tokens]
        above = [one for one in measured if one.tokens >= tokens]
        assert reading.below == max(below, key=lambda one: one.tokens, default=None)
        assert reading.above == min(above, key=lambda one: one.tokens, default=None)
        assert reading.word == ("measured" if below and above else "unknown")


def test_a_context_above_its_window_says_so() -> None:
    """The cost is still given, with a statement that the context does not fit."""
    assert str(assess(130_000, 128_000)).startswith("130000 of 128000 tokens: more than the window holds\n")
    assert "holds" not in str(assess(128_000, 128_000))


def test_what_strangers_wrote_is_inert() -> None:
    """The name of a model, metric or source cannot forge a line."""
    row = {**MEASURED[0], "metric": "a\npolicy: rest", "source": "\x1b[31m", "tokens": 5}
    said = str(assess(5, 128_000, points_of({"model": "m\nunknown", "measured": [row]})))
    assert len(said.splitlines()) == 4
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ("{", "not JSON"),
        ("[]", "points: an object"),
        ({"modell": "m"}, "points: 'modell' is not known"),
        ({"model": 5}, "is a name"),
        ({"policy": []}, "policy: an object"),
        ({"policy": {"rungs": [{"pressure": "PANIC"}]}}, "PANIC"),
        ({"measured": {}}, "a list of measurements"),
        ({"measured": [5]}, "a measurement: an object"),
        ({"measured": [{"metric": "m", "tokens": 5, "value": 1}]}, "says its source"),
        ({"measured": [{**MEASURED[0], "source": " "}]}, "says its source"),
        ({"measured": [{**MEASURED[0], "metric": 5}]}, "says its metric"),
        ({"measured": [{**MEASURED[0], "note": ""}]}, "'note' is not known"),
        ({"measured": [{**MEASURED[0], "tokens": -1}]}, "tokens of a measurement"),
        ({"measured": [{**MEASURED[0], "tokens": True}]}, "tokens of a measurement"),
        ({"measured": [{**MEASURED[0], "tokens": 10**400}]}, "tokens of a measurement"),
        ({"measured": [{**MEASURED[0], "runs": 1.5}]}, "runs of a measurement"),
        ({"measured": [{**MEASURED[0], "value": "fast"}]}, "is a number"),
        ({"measured": [{**MEASURED[0], "value": True}]}, "is a number"),
        ({"measured": [{**MEASURED[0], "value": float("nan")}]}, "is a number"),
        ({"measured": [{**MEASURED[0], "value": 10**400}]}, "is a number"),
        ({"measured": [MEASURED[0], {**MEASURED[0], "value": 1}]}, "two measurements of 'solved' at 64000 tokens"),
        ('{"measured": [{"metric": "m", "tokens": 5, "value": NaN, "source": "s"}]}', "not JSON"),
    ],
)
def test_points_that_cannot_be_name_what_is_wrong(document: Any, why: str) -> None:
    """A number without a source is not a measurement, and nothing is guessed."""
    with pytest.raises(CallerError, match=re.escape(why)):
        points_of(document)


@pytest.mark.parametrize(
    "arguments",
    [
        {"tokens": -1},
        {"tokens": 1.5},
        {"tokens": 1 << 54},
        {"window_tokens": 0},
        {"cached_share": 1.1},
        {"cached_share": -0.1},
        {"cached_share": float("nan")},
        {"prices": InputPrices(cached=-1)},
        {"prices": InputPrices(fresh=float("inf"))},
    ],
)
def test_sizes_shares_and_prices_that_cannot_be_are_errors(arguments: dict[str, Any]) -> None:
    """The error is raised before anything is computed from them."""
    with pytest.raises(CallerError):
        assess(**{"tokens": 1000, "window_tokens": 128_000, **arguments})


def test_the_same_measurements_hold_with_another_policy() -> None:
    """Points are values: one part is replaced, the other stays."""
    points = points_of(DOCUMENT)
    assert replace(points, policy=POLICY.policy).measured == points.measured
