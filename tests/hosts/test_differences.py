"""Are differences between texts what `difflib` finds in short ones, in time linear in long ones (H-3)?"""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.hosts import differences, merging
from penstock.hosts.differences import find_stretches, unified
from tests.growth import BOUND, growth

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.proves("H-3")
LINES = st.lists(st.sampled_from(["{", "}", "a", "b"]) | st.text("xyz", min_size=1), max_size=20)


@given(LINES, LINES, st.sampled_from([0, 9, 250_000]))
def test_what_is_left_out_is_equal_in_both(old: list[str], new: list[str], pairs: int) -> None:
    """For any input of `difflib`, replacing the stretches in one text gives the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "_MAX_PAIRS", pairs)
        made, at = list[str](), 0
        for a, b, c, d in find_stretches(old, new):
            assert (a, c) != (b, d)
            made += [*old[at:a], *new[c:d]]
            at = b
        assert [*made, *old[at:]] == new


@given(st.lists(st.sampled_from(["both", "both", "both", "old", "new"]), max_size=40))
def test_a_diff_is_what_others_print(kinds: list[str]) -> None:
    """This holds if there is only one way to express it."""
    old, new = ([f"{at}\n" for at, kind in enumerate(kinds) if kind in {"both", side}] for side in ("old", "new"))
    assert [*unified(old, new, "one", "other")] == [*unified_diff(old, new, "one", "other")]


def test_unique_lines_anchor_the_others() -> None:
    """Among thousands of equal lines, a removed and an added one give two stretches."""
    old = [line for at in range(1_000) for line in (f"{at}\n", "{\n", "}\n")]
    new = [*old[:300], "new\n", *old[300:2_400], *old[2_401:]]
    assert [*find_stretches(old, new)] == [(300, 300, 300, 301), (2_400, 2_401, 2_401, 2_401)]


def test_long_texts_that_differ_in_many_places_take_linear_time() -> None:
    """The lines are nearly all alike, as in JSON; `difflib` took 40 s for a file of 5 MB."""

    def work(size: int) -> Callable[[], object]:
        old = [line for at in range(size) for line in (f'"{at}": {{\n', *['"x": 1,\n'] * 20, "},\n")]
        new = [line.replace("},", "}, //") for line in old]
        return lambda: sum(1 for _ in unified(old, new, "", ""))

    assert growth(work, 200) < BOUND


def test_pieces_of_ours_are_found_by_their_place() -> None:
    """They are equal pieces in a text that others changed between them: their lines give their places."""
    base = "".join(f"{at}\nend\n" for at in range(50))
    last = base.replace("end\n", "ours\nend\n")
    present = last.replace("7\n", "seven\nours too\n")
    assert merging.undo(base, last, present) == base.replace("7\n", "seven\nours too\n")
    assert merging.undo("a\nb\nc\n", "a\nc\n", "z\na\nc\n") == "z\na\nb\nc\n", "where there had been something, too"
