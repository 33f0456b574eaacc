"""The law of `Limits`: pressure never falls as tokens or turns grow, and a window twice as large holds twice as much."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires.strategies import json_values

from penstock.errors import CallerError
from penstock.session.limits import PROFILES, ErrorLimits, Limits, Pressure, Rung, limits_of

numbers = st.integers(0, 2_000_000)
rungs = st.builds(
    Rung, st.sampled_from(Pressure), st.none() | st.integers(0, 128_000), st.none() | st.integers(0, 100), st.booleans()
)
any_limits = st.one_of(
    st.sampled_from(list(PROFILES.values())),
    st.builds(
        Limits,
        rungs=st.lists(rungs, max_size=6).map(tuple),
        window_tokens=st.integers(8_001, 2_000_000),
        compress_share=st.floats(0, 2),
        errors=st.builds(ErrorLimits, row=st.integers(0, 9), within_turns=st.none() | st.integers(0, 99)),
        turns=st.none() | st.tuples(st.integers(0, 50), st.integers(0, 50)),
    ),
)


@pytest.mark.proves("LAW-Limits", "S-2")
@given(any_limits, numbers, numbers, st.integers(0, 200), st.integers(0, 200))
def test_pressure_never_falls_as_tokens_or_turns_grow(
    limits: Limits, tokens: int, more_tokens: int, turns: int, more_turns: int
) -> None:
    """Pressure is monotonic for any rungs in any order."""
    assert limits.pressure(tokens + more_tokens, turns + more_turns) >= limits.pressure(tokens, turns)


@pytest.mark.proves("LAW-Limits", "S-2")
@given(any_limits, numbers, st.integers(0, 200), st.integers(8_001, 2_000_000), st.integers(1, 9))
def test_pressure_depends_on_the_share_of_the_window(
    limits: Limits, tokens: int, turns: int, window: int, times: int
) -> None:
    """A larger window never raises the pressure, and `times` as many tokens in a window `times` as large give the same one."""
    one, larger = limits.scaled(window), limits.scaled(window * times)
    assert larger.pressure(tokens, turns) <= one.pressure(tokens, turns)
    by_rungs = [limits_of({"compress_share": 1e9}, each) for each in (one, larger)]  # a float's share has no exact edge
    assert by_rungs[1].pressure(tokens * times, turns) == by_rungs[0].pressure(tokens, turns)


@pytest.mark.proves("LAW-Limits")
@given(any_limits, st.sampled_from(Pressure))
def test_a_pressure_holds_from_its_stated_tokens_on(limits: Limits, pressure: Pressure) -> None:
    """`from_tokens` is the first size at which tokens alone reach that rung or a higher one."""
    limits = limits_of(
        {
            "compress_share": 1e9,
            "rungs": [{**r._asdict(), "pressure": r.pressure.name, "turns": None} for r in limits.rungs],
        },
        limits,
    )
    first = limits.from_tokens(pressure)
    if any(rung.pressure >= pressure and rung.tokens is not None for rung in limits.rungs):
        assert limits.pressure(first, 0) >= pressure
    assert not first or pressure is Pressure.CALM or limits.pressure(first - 1, 0) < pressure


@pytest.mark.proves("LAW-Limits")
@given(any_limits)
def test_limits_survive_the_journal(limits: Limits) -> None:
    """Limits survive a round trip through JSON."""
    assert limits_of(json.loads(json.dumps(limits.to_dict()))) == limits


@pytest.mark.proves("LAW-Limits")
@given(st.dictionaries(st.sampled_from([*Limits.__slots__, "other"]), json_values, max_size=4))
def test_any_table_gives_limits_or_an_error_of_the_caller(values: dict[str, object]) -> None:
    """Any table raises nothing but `CallerError`, and accepted limits can be queried."""
    try:
        made = limits_of(values)
    except CallerError:
        return
    assert made.pressure(10**9, 10**6) >= made.pressure(0, 0)
    assert limits_of(json.loads(json.dumps(made.to_dict()))) == made
