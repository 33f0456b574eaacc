"""Are durations said as people say them?"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.text.notices import duration

UNITS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.25, "0.25 s"),
        (0.000_04, "0 s"),
        (12.5, "12 s"),
        (119.4, "119 s"),
        (119.6, "2 min"),
        (600, "10 min"),
        (3_569, "59 min"),
        (3_571, "1 h"),
        (7_500, "2 h 5 min"),
        (86_399, "1 d"),
        (90_000, "1 d 1 h"),
        (604_800, "7 d"),
    ],
)
def test_a_duration_has_the_units_of_its_size(seconds: float, said: str) -> None:
    """A second unit is left out if there is none of it."""
    assert duration(seconds) == said


@given(st.floats(0, 1e8))
def test_a_duration_is_right_to_half_of_its_least_unit(seconds: float) -> None:
    """Read back, it is never further off than rounding makes it, and no count reaches the next unit."""
    parts = re.findall(r"([\d.]+) (s|min|h|d)", duration(seconds))
    read = sum(float(number) * UNITS[unit] for number, unit in parts)
    least = {"d": 3_600, "h": 60}.get(parts[0][1], UNITS[parts[0][1]])
    assert abs(read - seconds) <= least / 2
    assert len(parts) == 1 or float(parts[1][0]) < UNITS[parts[0][1]] / UNITS[parts[1][1]]
