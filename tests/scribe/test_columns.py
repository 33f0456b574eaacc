"""Are values read from columns as they were written, in value and in type?"""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.scribe.columns import column


class Spot(NamedTuple):
    """A row of plain values."""

    path: str
    line: int
    book: str | None = None


class Thing(NamedTuple):
    """A row with everything that a column takes."""

    kind: Literal["a", "b"]
    spot: Spot | None
    spots: tuple[Spot, ...]
    pairs: frozenset[tuple[Spot, int]]
    mixed: tuple[int | str | None, ...]
    is_so: bool
    texts: tuple[tuple[str, tuple[int, ...]], ...]
    either: int | bool


NAMES = {"Spot": Spot, "Literal": Literal}
SPOTS = st.builds(Spot, st.sampled_from(["p", "q\udcff", ""]), st.integers(), st.none() | st.text(max_size=2))
THINGS = st.builds(
    Thing,
    st.sampled_from(["a", "b"]),
    st.none() | SPOTS,
    st.lists(SPOTS, max_size=3).map(tuple),
    st.frozensets(st.tuples(SPOTS, st.integers(0, 1)), max_size=2),
    st.lists(st.none() | st.integers(0, 1) | st.sampled_from(["", "0", "1"]), max_size=3).map(tuple),
    st.booleans(),
    st.lists(st.tuples(st.text(max_size=2), st.lists(st.integers(0, 2), max_size=2).map(tuple)), max_size=2).map(tuple),
    st.integers(0, 1) | st.booleans(),
)


def _shape(value: object) -> object:
    """Return the types of a value and of all within it."""
    if isinstance(value, frozenset):
        return frozenset, {repr(one): _shape(one) for one in value}
    return (type(value), [_shape(one) for one in value]) if isinstance(value, tuple) else type(value)


@given(st.lists(THINGS, max_size=8))
def test_what_is_read_is_what_was_written(things: list[Thing]) -> None:
    """Through JSON, with their types; also if few or none of them are different."""
    held = column(Thing, NAMES)
    for values in (things, things * 3):
        read = held.unpack(json.loads(json.dumps(held.pack(values))))
        assert list(read) == values
        assert [_shape(one) for one in read] == [_shape(one) for one in values]


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Spot, ("p", 1, None)),
        (Spot, Spot("p", True)),
        (Spot, Spot("p", 1.0)),  # type: ignore[arg-type]
        (tuple[int, ...], [1]),
        (tuple[int, int], (1,)),
        (str | None, b""),
    ],
)
def test_what_is_not_of_the_declared_type_is_not_written(hint: Any, value: object) -> None:
    """It would be read as another value."""
    with pytest.raises((TypeError, ValueError)):
        column(hint, NAMES).pack([value])


def test_a_truth_is_not_taken_for_the_number_that_it_equals() -> None:
    """Neither where both may be, nor where it is not declared and all the other rows are equal."""
    either = column(tuple[int | bool, str], NAMES)
    read = either.unpack(either.pack([(1, "p"), (True, "p"), (1, "p")]))
    assert [type(one) for one, _ in read] == [int, bool, int]
    with pytest.raises(TypeError):
        column(Spot, NAMES).pack([Spot("p", 1), Spot("p", True), Spot("p", 1)])


@pytest.mark.parametrize("hint", [tuple[()], list[int], dict[str, int], float, bytes, Spot | Thing])
def test_a_type_without_a_column_is_refused(hint: Any) -> None:
    """When the column is made, not when the first value is written."""
    with pytest.raises(TypeError):
        column(hint, NAMES)
