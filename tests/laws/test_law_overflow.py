"""The law of `Overflow`: any text gives an overflow or `None`; a number is right or absent; no other error becomes an overflow."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.overflow.forms import AFTER, WRAPPINGS, make
from tests.overflow.samples import OTHERS, OVERFLOWS

from penstock.overflow import Overflow, classify_overflow, diagnose, kinds, numbers, parse

FORMS = 20_000 if os.environ.get("PENSTOCK_HYPOTHESIS") == "long" else 300
NUMBERS = ("limit", "input", "output", "total", "excess")
WORDS = st.sampled_from(
    [
        "prompt",
        "input",
        "tokens",
        "exceeds",
        "maximum",
        "context",
        "length",
        "limit",
        "window",
        "is",
        "of",
        "too",
        "long",
        "8192",
        "9000",
        ">",
        "(",
        ")",
        ",",
        ".",
        ":",
        "max_tokens",
        "=",
        "output",
        "[1,",
        "{'code':",
        "400}",
        "requested",
        "total",
        "messages",
        '\\\\"',
        '"',
        "'",
        "image",
        "5",
        "MB",
        "per",
        "minute",
        "128k",
        "1,048,576",
        "上下文",
        "超过",
        "cannot",
        "be",
        "by",
        "at",
        "least",
        "about",
        "data:",
        "{",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.lists(WORDS, max_size=20).map(" ".join),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["error", "message", "code", "status", "type", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def sane(found: Overflow) -> None:
    """Check what holds for every overflow, whatever it was read from."""
    assert found.kind in {"context_input", "context_total"}
    assert found.bound in {"exact", "approx", "lower_bound"}
    assert found.unit in {"tokens", "chars"}
    for name in NUMBERS:
        value = getattr(found, name)
        assert value is None or (isinstance(value, int) and value >= 0)
    size = (
        found.total if found.total is not None else None if found.input is None else found.input + (found.output or 0)
    )
    if size is not None and found.limit is not None:
        assert size > found.limit
    assert classify_overflow(found) in {"minor", "major", "catastrophic", "unknown"}


@pytest.mark.proves("LAW-Overflow")
@given(error=VALUES, status=st.none() | st.integers(-1, 999))
@example(error="\\", status=400)
@example(error={"error": {"message": "\\u0000\\"}}, status=None)
def test_any_value_is_answered(error: Any, status: int | None) -> None:
    """Any value gives a kind with a recovery, an overflow that is sane or None, and no exception."""
    found = diagnose(error, status)
    assert found.kind in kinds.RECOVERIES
    assert (found.overflow is not None) == found.kind.startswith("context_")
    if found.overflow is not None:
        sane(found.overflow)


@pytest.mark.proves("LAW-Overflow")
@given(words=st.lists(WORDS, max_size=40), status=st.sampled_from([None, 400, 429, 500]))
def test_every_number_that_is_given_was_written(words: list[str], status: int | None) -> None:
    """Limit, output and total occur in the text; only the excess, a difference and sums are computed."""
    text = " ".join(words)
    found = parse(text, status)
    if found is None:
        return
    sane(found)
    for value in (found.limit, found.output, found.total):
        assert value is None or str(value) in text.replace(",", "")


@pytest.mark.proves("LAW-Overflow")
@pytest.mark.parametrize("seed", range(4))
def test_no_form_of_a_refusal_is_missed_or_misread(seed: int) -> None:
    """Other numbers in other styles, other words around them, twenty wrappings: recognised, and every number right or absent."""
    random = Random(seed)
    absent = 0
    for _ in range(FORMS):
        form = make(random)
        found = parse(form.error, 400)
        assert found is not None, form
        for name, expected in form.numbers.items():
            value = getattr(found, name)
            assert value is None or value == expected, (name, value, form)
            absent += value is None and expected is not None
    assert absent <= FORMS // 200  # an absent number is better than a wrong one, but must stay rare


@pytest.mark.proves("LAW-Overflow")
@given(
    other=st.sampled_from([s for s in OTHERS if isinstance(s.text, str) and s.kind not in {"tool_refusal", "unknown"}]),
    data=st.data(),
)
def test_no_wrapping_makes_an_overflow_of_a_lookalike(other: Any, data: st.DataObject) -> None:
    """The kind is the same in JSON, in exceptions, in streams, and with words after it."""
    wrapping = data.draw(st.sampled_from(sorted(WRAPPINGS)))
    words = other.text + data.draw(st.sampled_from(AFTER)) if other.text else other.text
    found = diagnose(WRAPPINGS[wrapping](words, Random(0)), other.status)
    assert found.overflow is None, wrapping
    if other.text:
        assert found.kind == other.kind, wrapping


@pytest.mark.proves("LAW-Overflow")
@given(sample=st.sampled_from([s for s in OVERFLOWS if isinstance(s.text, str)]), data=st.data())
def test_a_text_cut_anywhere_gives_no_wrong_number(sample: Any, data: st.DataObject) -> None:
    """In a truncated body the remaining numbers are whole or absent."""
    cut = data.draw(st.integers(0, len(sample.text)))
    found = parse(sample.text[:cut], sample.status)
    written = {value for value in sample.numbers.values() if isinstance(value, int)}
    through_a_number = cut < len(sample.text) and sample.text[cut - 1 : cut].isdigit()
    if found is None or (through_a_number and not sample.text.startswith("{")):
        return  # a cut sentence cannot be told from a whole one
    for name in ("limit", "output", "total"):
        assert getattr(found, name) in {None, sample.numbers.get(name), *written}


@pytest.mark.proves("LAW-Overflow")
@given(st.text(max_size=300))
def test_binding_never_raises(text: str) -> None:
    """Any text gives numbers or none."""
    bound = numbers.bind(text.lower())
    assert all(value is None or value >= 0 for value in bound[:5])
