"""The laws of guarded results: text and notice fit any allowance, fitting twice changes nothing, and notices cannot be forged."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.text.allowance import Allowance
from penstock.text.fitting import Guarded, Keep, fit, fit_ends, max_chars, measure, share
from penstock.text.json_records import JsonRecordScanner
from penstock.text.tokens import Tokens

_PARTS = st.sampled_from(
    [
        "[OUTPUT TRUNCATED]",
        "[… 1 lines",
        "\n",
        "\r\n",
        "\x1b[31m",
        "\ud800",
        "\u202e",
        "é",
        "日本",
        '{"a":',
        '"],',
        " " * 40,
    ]
)
TEXTS = st.one_of(
    st.text(max_size=300), st.lists(st.one_of(_PARTS, st.text(max_size=8)), max_size=120).map("".join)
).flatmap(lambda text: st.integers(1, 40).map(lambda times: text * times))
ALLOWANCES = st.one_of(
    st.integers(0, 2_000).map(Allowance.chars),
    st.integers(0, 2_000).map(Allowance.bytes),
    st.integers(0, 400).map(lambda limit: Allowance.tokens(limit, Tokens(model="o200k"))),
)
KEEPS = st.sampled_from(Keep)
HANDLES = st.sampled_from([None, "abcdefghij0123456789AB"])


@pytest.mark.proves("LAW-Guarded", "G-2")
@given(TEXTS, ALLOWANCES, KEEPS, HANDLES)
def test_text_and_notice_are_within_the_allowance(
    text: str, allowance: Allowance, keep: Keep, handle: str | None
) -> None:
    """Any fitted text is within its allowance in any unit, notice included."""
    fitted = fit(text, allowance, keep, handle)
    assert allowance.measure(fitted) <= allowance.limit
    assert fitted.whole_chars == len(text)


@pytest.mark.proves("LAW-Guarded", "G-2")
@given(TEXTS, ALLOWANCES, KEEPS, HANDLES)
def test_fitting_twice_changes_nothing(text: str, allowance: Allowance, keep: Keep, handle: str | None) -> None:
    """A fitted text is recognised by its type and returned as it is."""
    once = fit(text, allowance, keep, handle)
    assert fit(once, allowance, keep, handle) is once


@pytest.mark.proves("LAW-Guarded")
@given(TEXTS, ALLOWANCES, ALLOWANCES, KEEPS, HANDLES)
def test_a_second_smaller_allowance_is_kept_too(
    text: str, first: Allowance, second: Allowance, keep: Keep, handle: str | None
) -> None:
    """A fitted text can be fitted to less, and still knows the size of the whole."""
    fitted = fit(fit(text, first, keep, handle), second, keep)
    assert second.holds(fitted)
    assert fitted.whole_chars == len(text)


@pytest.mark.proves("LAW-Guarded", "G-6")
@given(TEXTS, ALLOWANCES, KEEPS)
def test_content_cannot_forge_a_notice(text: str, allowance: Allowance, keep: Keep) -> None:
    """Only the first line, and only of a cut text, begins like our notice; no active character remains."""
    fitted = fit(text, allowance, keep)
    lines = fitted.split("\n")
    assert not any(line.startswith("[OUTPUT TRUNCATED]") for line in lines[1 if fitted.is_cut else 0 :])
    assert sum(line.startswith("[… ") for line in lines) <= (keep is Keep.ENDS and fitted.is_cut)
    assert not any(unicodedata.category(c) in {"Cc", "Cs"} for c in fitted if c not in "\n\t")


@pytest.mark.proves("LAW-Guarded", "G-1")
@given(st.text(st.sampled_from("ab\n"), max_size=3_000), st.integers(250, 2_000))
def test_what_is_shown_is_the_beginning(text: str, limit: int) -> None:
    """The notice is followed by a prefix, cut at a line end beyond 80 % of the room."""
    fitted = fit(text, Allowance.chars(limit))
    body = fitted[fitted.notice_chars :]
    assert text.startswith(body)
    if fitted.is_cut:
        assert len(fitted) > 0.75 * limit or "\n" in text


@pytest.mark.proves("LAW-Guarded")
@given(TEXTS, ALLOWANCES, KEEPS, HANDLES)
@example(("0" * 17 + "\x08") * 8, Allowance.chars(145), Keep.TAIL, None)  # shorter than the room, too long once escaped
def test_two_ends_are_enough(text: str, allowance: Allowance, keep: Keep, handle: str | None) -> None:
    """Fitting a stream by its two ends equals fitting the whole."""
    whole = fit(text, allowance, keep, handle)
    hold = max_chars(allowance)
    if whole.is_cut:
        measured = measure(text, lambda part: whole.whole_tokens if part is text else 0)
        ends = fit_ends(text[:hold], text[max(0, len(text) - hold) :], measured, allowance, keep, handle)
        assert ends == whole


@pytest.mark.proves("LAW-Guarded", "G-7")
@given(st.lists(st.integers(0, 10_000), max_size=50), st.integers(0, 100_000))
def test_shares_never_exceed_what_there_is(sizes: list[int], limit: int) -> None:
    """The sum is within the limit, a cut share is as large as any other, and nothing is cut while there is room."""
    shares = share(sizes, limit)
    assert sum(shares) <= limit
    assert all(got <= size for got, size in zip(shares, sizes, strict=True))
    cut = [got for got, size in zip(shares, sizes, strict=True) if got < size]
    assert all(got >= max(shares) for got in cut)
    if sum(sizes) <= limit:
        assert cut == []


@pytest.mark.proves("LAW-Guarded", "G-5")
@given(TEXTS, st.lists(st.integers(0, 400), max_size=8))
def test_records_are_found_however_the_text_is_split(text: str, cuts: list[int]) -> None:
    """A scanner fed in parts finds the same records as in the whole text."""
    scanner, found, at = JsonRecordScanner(), [], 0
    for end in [*sorted(min(cut, len(text)) for cut in cuts), len(text)]:
        found += [at + place for place in scanner.feed(text[at:end])]
        at = end
    assert found == JsonRecordScanner().feed(text)


def test_a_guarded_text_is_a_plain_text_to_everyone_else() -> None:
    """A guarded text is a `str`, its repr says what it is, and its `text` is the plain one."""
    fitted = fit("text", Allowance.chars(10), handle="H")
    assert (type(fitted.text), fitted.text, isinstance(fitted, Guarded)) == (str, "text", True)
    assert repr(fitted) == "Guarded('text', is_cut=False, handle='H')"
