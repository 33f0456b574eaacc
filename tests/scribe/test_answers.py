"""Is everything that is whole in a model's answer read, whatever it sends, without an exception?"""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.scribe.answers import (
    MAX_ANSWER_CHARS,
    MAX_CLAIM_CHARS,
    MAX_CLAIMS,
    PROGRAM,
    Claim,
    ParsedAnswer,
    read_answer,
)

ONE: dict[str, Any] = {
    "of": "P10",
    "field": "summary",
    "claim": "Reads a record.",
    "lines": [12, 11, 12],
    "evidence": "READ IN-FILE",
    "names": ["IN-FILE"],
}
READ = Claim("P10", "summary", "Reads a record.", (11, 12), "READ IN-FILE", ("IN-FILE",))


def answer(*claims: object) -> str:
    """Return an answer with these claims."""
    return json.dumps({"claims": claims})


@pytest.mark.parametrize(
    "text",
    [
        answer(ONE),
        f"```json\n{answer(ONE)}\n```",
        f"<think>{{so}} it {{'is'}}</think> Here it is:\n{answer(ONE)}\nI hope {{that}} helps.",
        answer(ONE, ONE),
        answer({**ONE, "lines": "11-12"}),
        answer({**ONE, "claim": "Reads \n a\trecord."}),
        answer({**ONE, "claim": "Reads a record."}).replace("a record", "a\n\trecord"),
    ],
    ids=["plain", "fenced", "talk", "twice", "range", "blanks", "line ends"],
)
def test_an_answer_is_read_whatever_surrounds_it(text: str) -> None:
    """Fences, talk, thoughts with braces and duplicates do not matter."""
    assert read_answer(text) == ParsedAnswer((READ,), True)


def test_an_answer_that_breaks_off_keeps_what_was_whole() -> None:
    """The whole claims of a reply that ran out of tokens are kept."""
    whole = answer(ONE, {**ONE, "of": "P20"}, {**ONE, "of": "P30"})
    for end in range(len(whole) - 2):
        cut = read_answer(whole[:end])
        assert not cut.is_whole
        assert [claim.of for claim in cut.claims] == ["P10", "P20", "P30"][: whole[:end].count('"]}')]


def test_a_claim_that_is_broken_takes_nothing_with_it() -> None:
    """An escaped apostrophe is not JSON; the claims before and after that claim are read."""
    text = answer(ONE, {**ONE, "claim": "The day's record."}, {**ONE, "of": "P20"}).replace("'", "\\'")
    assert read_answer(text) == ParsedAnswer((READ, READ._replace(of="P20")), False)


@pytest.mark.parametrize(
    "claim",
    [
        None,
        "text",
        [],
        {},
        {**ONE, "claim": ""},
        {**ONE, "claim": 7},
        {**ONE, "claim": "x" * (MAX_CLAIM_CHARS + 1)},
        {**ONE, "lines": []},
        {**ONE, "lines": None},
        {**ONE, "lines": ["eleven"]},
        {**ONE, "lines": [True]},
        {**ONE, "lines": [1.5]},
        {**ONE, "lines": "12-11"},
        {**ONE, "lines": "1-999999999"},
        {**ONE, "lines": list(range(10_000))},
        {**ONE, "names": "IN-FILE"},
        {**ONE, "names": [1]},
        {**ONE, "names": ["X"] * 10_000},
    ],
)
def test_what_is_no_claim_is_left_out(claim: object) -> None:
    """Wrong types and sizes take no other claim with them."""
    assert read_answer(answer(claim, ONE)) == ParsedAnswer((READ,), True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON at all",
        "[]",
        '{"claims": 7}',
        '{"claims": {"of": "P10"}}',
        "[" * 200_000,
        '{"claims":' * 50_000,
        '{"claims": [' + "[" * 200_000,
        '{"claims": [' + '{"a":' * 100_000,
        '{"claims": [' + "9" * 10_000 + "]",
        "{" * 100_000,
        "x" * (MAX_ANSWER_CHARS + 1),
        '{"claims": [NaN, Infinity]}'[:-2],
    ],
)
def test_a_text_without_claims_gives_none(text: str) -> None:
    """Broken, deep and huge texts give no claims."""
    assert read_answer(text).claims == ()


def test_huge_numbers_are_no_lines() -> None:
    """A number of ten thousand digits is neither converted nor believed."""
    text = answer(ONE).replace("[12, 11, 12]", f"[{'9' * 10_000}]")
    assert all(line < 0 for claim in read_answer(text).claims for line in claim.lines)


def test_there_is_an_end_to_claims() -> None:
    """Claims beyond what any program needs are not read."""
    found = read_answer(answer(*({**ONE, "of": f"P{number}"} for number in range(MAX_CLAIMS + 5))))
    assert len(found.claims) == MAX_CLAIMS


def test_claims_are_inert() -> None:
    """Escape sequences, and invisible and bidirectional characters, are shown as text."""
    (claim,) = read_answer(answer({**ONE, "claim": "a\x1b[2Jb\u202ec\ud800", "names": ["\x07"]})).claims
    assert claim.claim == "a\\x1b[2Jb\\u{202e}c\\u{d800}"
    assert claim.names == ("\\x07",)


def test_what_is_about_nothing_is_about_the_program() -> None:
    """A claim without `of` and `names` is about the program."""
    claim = {"field": "Summary", "claim": "Posts.", "lines": 3, "evidence": None}
    assert read_answer(answer(claim)).claims == (Claim(PROGRAM, "summary", "Posts.", (3,), "", ()),)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*ONE, "claims", "x"]), inner),
    max_leaves=12,
)


@given(st.one_of(st.text(), JSON.map(json.dumps), st.lists(JSON).map(lambda listed: answer(*listed))))
def test_nothing_is_raised_and_everything_is_small(text: str) -> None:
    """Any text gives claims of the promised types and sizes."""
    for claim in read_answer(text).claims:
        assert 0 < len(claim.claim) <= MAX_CLAIM_CHARS
        assert claim.lines
        assert all(type(line) is int for line in claim.lines)
        # A character unknown to this Python's tables is not a control character.
        assert all(letter.isprintable() or unicodedata.category(letter) == "Cn" for letter in claim.claim)
