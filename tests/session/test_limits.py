"""Are the rungs and the profiles right, and how are they read from a table?"""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from penstock.errors import CallerError
from penstock.session.limits import PROFILES, ErrorLimits, Limits, Pressure, Rung, limits_of

DEFAULT, SEED = PROFILES["default"], PROFILES["swe-1.5"]
BY_TOKENS = [  # of a window of 128,000: the last count of one pressure and the first of the next
    (0, Pressure.CALM),
    (49_999, Pressure.CALM),
    (50_000, Pressure.WATCH),
    (74_999, Pressure.WATCH),
    (75_000, Pressure.COMPACT),
    (99_999, Pressure.COMPACT),
    (100_000, Pressure.COMPACT_HARD),
    (114_999, Pressure.COMPACT_HARD),
    (115_000, Pressure.HAND_OFF),
    (115_001, Pressure.RESET),
    (10**9, Pressure.RESET),
]


@pytest.mark.proves("S-2")
@pytest.mark.parametrize(("tokens", "expected"), BY_TOKENS)
@pytest.mark.parametrize("profile", [DEFAULT, SEED])
def test_the_rungs_of_128000_tokens(profile: Limits, tokens: int, expected: Pressure) -> None:
    """Each rung holds from its value on; the reset is above it."""
    assert profile.pressure(tokens, 0) is expected


@pytest.mark.proves("S-2")
@pytest.mark.parametrize(
    ("window", "first"),
    [  # the first count of each pressure; in a million, HAND_OFF is between two integers
        (32_000, {"WATCH": 12_500, "COMPACT": 18_750, "COMPACT_HARD": 25_000, "HAND_OFF": 28_750, "RESET": 28_751}),
        (1_000_000, {"WATCH": 390_625, "COMPACT": 585_938, "COMPACT_HARD": 781_250, "RESET": 898_438}),
        (16_000, {"WATCH": 6_250, "COMPACT": 9_375, "COMPACT_HARD": 12_500, "HAND_OFF": 14_375, "RESET": 14_376}),
    ],
)
def test_the_rungs_of_any_other_window(window: int, first: dict[str, int]) -> None:
    """The shares are the same, exactly at a rung and one token below."""
    limits = DEFAULT.scaled(window)
    for name, tokens in first.items():
        assert limits.pressure(tokens, 0) is Pressure[name]
        assert limits.pressure(tokens - 1, 0) < Pressure[name]


@pytest.mark.proves("S-1")
@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (24, Pressure.CALM),
        (25, Pressure.COMPACT),
        (29, Pressure.COMPACT),
        (30, Pressure.HAND_OFF),
        (49, Pressure.HAND_OFF),
        (50, Pressure.RESET),
    ],
)
def test_turns_count_in_the_seed_s_profile_and_not_in_the_default_one(turns: int, expected: Pressure) -> None:
    """Turns 25, 30 and 50 count in any window; without those rungs a thousand turns do not matter."""
    assert SEED.pressure(0, turns) is expected
    assert SEED.scaled(32_000).pressure(0, turns) is expected
    assert DEFAULT.pressure(0, turns * 1_000) is Pressure.CALM


@pytest.mark.proves("S-2")
def test_the_higher_of_both_holds() -> None:
    """Tokens and turns may each reach a rung; the pressure is the higher one."""
    assert SEED.pressure(100_000, 25) is Pressure.COMPACT_HARD
    assert SEED.pressure(75_000, 30) is Pressure.HAND_OFF


@pytest.mark.proves("S-2")
def test_above_80_percent_is_a_rung_of_its_own() -> None:
    """It applies if no rung does: exactly 80 % is not above it."""
    bare = Limits(rungs=())
    assert bare.pressure(102_400, 99) is Pressure.CALM
    assert bare.pressure(102_401, 0) is Pressure.COMPACT
    assert bare.from_tokens(Pressure.COMPACT) == 128_000


@pytest.mark.parametrize(
    ("name", "window", "turns"),
    [
        ("default", 128_000, None),
        ("swe-1.5", 128_000, (25, 50)),
        ("WindFixer", 128_000, (30, 50)),
        ("OpenFixer", 128_000, (20, 30)),
        ("Strategist", 64_000, (10, 20)),
        ("Oracle", 32_000, (5, 10)),
    ],
)
def test_the_profiles(name: str, window: int, turns: tuple[int, int] | None) -> None:
    """Profiles have their windows, typical turns and the reserve of 8,000."""
    profile = PROFILES[name]
    assert (profile.name, profile.window_tokens, profile.turns, profile.reserve_tokens) == (name, window, turns, 8_000)
    assert limits_of(json.loads(json.dumps(profile.to_dict()))) == profile


def test_what_nobody_sets_is_as_in_the_default_profile() -> None:
    """A loop is reported at the third repetition and ends the work at the fifth; a rung with no values is never reached."""
    assert Limits() == DEFAULT
    assert (DEFAULT.window_tokens, DEFAULT.reserve_tokens) == (128_000, 8_000)
    assert (DEFAULT.loop_advice, DEFAULT.loop_end) == (3, 5)
    assert (DEFAULT.compress_share, DEFAULT.domain_boundaries) == (0.8, False)
    bare = Limits(rungs=(Rung(Pressure.RESET),), compress_share=1.0)
    assert bare.pressure(128_000, 10**9) is Pressure.CALM
    assert Limits(rungs=(Rung(Pressure.RESET, 9),)).pressure(9, 0) is Pressure.RESET


@pytest.mark.proves("S-11")
def test_the_error_limits_of_the_profiles() -> None:
    """Three in a row, five in all and 60 seconds; by default those of 20 turns that no retry cured."""
    assert SEED.errors == ErrorLimits(row=3, total=5, within_turns=None, cured_count=True, cooldown_seconds=60.0)
    assert DEFAULT.errors == ErrorLimits(row=3, total=5, within_turns=20, cured_count=False, cooldown_seconds=60.0)


def test_a_reserve_is_at_most_a_quarter_of_a_scaled_window() -> None:
    """This holds for a configured and for a requested reserve."""
    assert DEFAULT.scaled(1_000_000).reserve_tokens == 8_000
    assert DEFAULT.scaled(16_000).reserve_tokens == 4_000
    assert DEFAULT.scaled(16_000, 1_000).reserve_tokens == 1_000


def test_a_profile_of_one_s_own_is_a_table() -> None:
    """Omitted values are those of the base; values that TOML cannot express are omitted."""
    text = """
    name = "patient"
    rungs = [{ pressure = "COMPACT", tokens = 64000 }, { pressure = "RESET", tokens = 9, turns = 80, above = true }]
    turns = [5, 6]
    errors = { row = 4 }
    """
    mine = limits_of(tomllib.loads(text), SEED)
    assert mine.rungs == (Rung(Pressure.COMPACT, 64_000), Rung(Pressure.RESET, 9, 80, above=True))
    assert (mine.turns, mine.errors) == ((5, 6), ErrorLimits(row=4))
    assert limits_of({"errors": {"row": 4}}).errors.within_turns == 20


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"window": 5}, "'window' is no limit; there are compress_share"),
        ({"window_tokens": "5"}, "window_tokens takes int from 0 on, not '5'"),
        ({"window_tokens": True}, "window_tokens takes int from 0 on, not True"),
        ({"window_tokens": 0}, "the reserve is smaller than the window"),
        ({"reserve_tokens": 128_000}, "a window of 128000 tokens holds no reserve of 128000"),
        ({"reserve_tokens": -1}, "reserve_tokens takes int from 0 on, not -1"),
        ({"compress_share": float("nan")}, "compress_share takes float from 0 on, not nan"),
        ({"domain_boundaries": 1}, "domain_boundaries takes bool, not 1"),
        ({"errors": {"rows": 3}}, "'rows' is no limit of errors; there are cooldown_seconds"),
        ({"errors": {"row": "3"}}, "row takes int from 0 on, not '3'"),
        ({"errors": 3}, "these are not limits"),
        ({"rungs": [["COMPACT", 5]]}, "these are not limits"),
        ({"rungs": [{"tokens": 5}]}, "a rung has a pressure, one of CALM, WATCH"),
        ({"rungs": [{"pressure": "HIGH"}]}, "RESET, not 'HIGH'"),
        ({"rungs": [{"pressure": "COMPACT", "token": 5}]}, "these are not limits"),
        ({"rungs": [{"pressure": "COMPACT", "tokens": -5}]}, "-5 in the rung COMPACT is not a whole number from 0 on"),
        (
            {"rungs": [{"pressure": "COMPACT", "tokens": True}]},
            "True in the rung COMPACT is not a whole number from 0 on",
        ),
        ({"rungs": [{"pressure": "RESET", "turns": 1.0}]}, "1.0 in the rung RESET is not a whole number from 0 on"),
        ({"compress_share": float("inf")}, "compress_share takes float from 0 on, not inf"),
        ({"name": 7}, "name takes str, not 7"),
        ({"turns": [1]}, "these are not limits"),
    ],
)
def test_what_cannot_be_a_limit_is_named(values: dict[str, Any], says: str) -> None:
    """The error has the name, the value, and what would be valid."""
    with pytest.raises(CallerError) as error:
        limits_of(values)
    assert says in str(error.value)


def test_a_window_that_is_no_smaller_leaves_the_limits_as_they_are() -> None:
    """This includes the very window that was assumed, with a reserve that scaling would change."""
    limits = Limits(window_tokens=1_000, reserve_tokens=500)
    assert limits.within(1_000) == limits.within(1_001) == limits.within(None) == limits
    assert (limits.within(999).window_tokens, limits.within(999).reserve_tokens) == (999, 249)


def test_what_is_0_is_a_limit() -> None:
    """0 means a rung from the first token or turn on, no tolerated failure, or no reply."""
    limits = limits_of(
        {
            "rungs": [{"pressure": "WATCH", "tokens": 0}, {"pressure": "COMPACT", "turns": 0}],
            "errors": {"row": 0, "within_turns": 0},
            "reserve_tokens": 0,
            "compress_share": 0,
        }
    )
    assert limits.rungs == (Rung(Pressure.WATCH, 0), Rung(Pressure.COMPACT, turns=0))
    assert (limits.errors.row, limits.errors.within_turns, limits.reserve_tokens) == (0, 0, 0)
    assert Limits(rungs=limits.rungs[:1]).pressure(0, 0) is Pressure.WATCH
    assert Limits(rungs=limits.rungs[1:]).pressure(0, 0) is Pressure.COMPACT
    assert Limits(rungs=(), compress_share=0).pressure(1, 0) is Pressure.COMPACT
    assert Limits(window_tokens=1, reserve_tokens=0).window_tokens == 1
    for window, reserve in ((0, 0), (1, 1), (9, -1), (-1, -2)):
        with pytest.raises(CallerError, match="the reserve is smaller than the window"):
            Limits(window_tokens=window, reserve_tokens=reserve)


@pytest.mark.parametrize("profile", [DEFAULT, SEED])
def test_from_how_many_tokens_on_a_pressure_holds(profile: Limits) -> None:
    """The lowest rung in tokens with at least that pressure decides."""
    found = {pressure.name: profile.from_tokens(pressure) for pressure in Pressure}
    assert found == {
        "CALM": 50_000,
        "WATCH": 50_000,
        "COMPACT": 75_000,
        "COMPACT_HARD": 100_000,
        "HAND_OFF": 115_000,
        "RESET": 115_001,
    }
    assert Limits(rungs=(Rung(Pressure.COMPACT, 9), Rung(Pressure.WATCH, 99))).from_tokens(Pressure.WATCH) == 9
