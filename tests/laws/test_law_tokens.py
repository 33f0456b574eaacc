"""The laws of a count: bounds hold the number, `high` never falls as text grows, calibration never makes a limit unsafe."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.text import token_estimate, tokens
from penstock.text.tokens import Calibration, Count, count

MODELS = st.sampled_from(["o200k", "cl100k", "claude", "claude-3-5-sonnet", "gemini-2.5-pro"])
_pieces = st.one_of(
    st.text(max_size=40),
    st.text(alphabet=st.characters(), max_size=20),  # lone surrogates included
    st.sampled_from(
        ["\n", "    ", "=" * 40, "_", "0" * 7, "AbC", "zz", "don't", "한漢", "\t\t", "é", "\U0001f600", "0x1F", "  \n"]
    ),
    st.builds(lambda piece, times: piece * times, st.text(min_size=1, max_size=3), st.integers(1, 300)),
)
TEXTS = st.lists(_pieces, max_size=8).map("".join)


@st.composite
def counts(draw: st.DrawFn) -> Count:
    low, more, most = draw(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6)))
    return Count(tokens=low + more, low=low, high=low + more + most, method="estimate:o200k")


OBSERVED = st.lists(st.tuples(counts(), st.integers(0, 10**7)), max_size=6)


def learnt(observed: list[tuple[Count, int]]) -> Calibration:
    calibration = Calibration()
    for estimated, reported in observed:
        calibration = calibration.observe(estimated, reported)
    return calibration


@pytest.mark.proves("LAW-Count")
@given(TEXTS | st.binary(max_size=200), MODELS)
def test_bounds_hold_the_number(text: str | bytes, model: str) -> None:
    """Every estimate is within its bounds, and only an empty text has an upper bound of zero."""
    counted = count(text, model=model)
    assert 0 <= counted.low <= counted.tokens <= counted.high
    assert (counted.high == 0) == (len(text) == 0)


@pytest.mark.proves("LAW-Count")
@given(st.lists(TEXTS, max_size=4), st.sampled_from(["estimate", "sampled", "exact"]), OBSERVED)
@example(["a", "\ud800 b", "c\ud83d\ude00"], "exact", [])
def test_texts_counted_together_are_counted_one_by_one(
    texts: list[str], mode: tokens.Mode, observed: list[tuple[Count, int]]
) -> None:
    """Texts counted together, which is quicker, have the same counts as each alone."""
    counter = tokens.Tokens(mode=mode, calibration=learnt(observed))
    assert tokens.count_texts(counter, texts) == [counter.count(text) for text in texts]


@pytest.mark.proves("LAW-Count")
@given(
    TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=200), st.integers(1, 3), MODELS
)
def test_the_estimate_of_blocks_is_that_of_the_whole(data: bytes, several: int, model: str) -> None:
    """A source that is read in multiples of the estimator's own block has the count of all its bytes at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_estimate, "_BLOCK_BYTES", 16)
        blocks = [data[at : at + 16 * several] for at in range(0, len(data), 16 * several)]
        assert tokens.estimate_blocks(blocks, model=model) == count(data, model=model)


@pytest.mark.proves("LAW-Count")
@given(TEXTS, TEXTS, MODELS)
def test_the_upper_bound_never_falls_as_text_grows(text: str, more: str, model: str) -> None:
    """Appending text never lowers the upper bound."""
    before, after = count(text, model=model), count(text + more, model=model)
    assert before.high <= after.high


@pytest.mark.proves("LAW-Count")
@given(st.binary(max_size=300), st.binary(max_size=100), MODELS)
def test_the_upper_bound_never_falls_as_bytes_grow(data: bytes, more: bytes, model: str) -> None:
    """Appending bytes never lowers the upper bound, even if the cut is within a character."""
    assert count(data, model=model).high <= count(data + more, model=model).high


@pytest.mark.proves("LAW-Count")
@pytest.mark.parametrize("family", sorted(token_estimate.FAMILIES))
@pytest.mark.parametrize("bound", ["most", "least"])
def test_no_byte_weighs_less_than_nothing(family: str, bound: str) -> None:
    """No appended byte lowers a bound, which proves the law for texts of every length.

    A byte adds one to the count of bytes, one to each single-class pattern of its class, and at most one to each longer pattern
    that ends in its class. So it adds at least the weights of the first two, plus the negative weights of the last.
    """
    weights = getattr(token_estimate.FAMILIES[family], bound)
    patterns = [
        (table, pattern) for table, _, group in token_estimate.ASCII + token_estimate.BEYOND for pattern in group
    ]
    assert len(weights) == len(patterns) + 1
    for byte in range(256):
        worst = weights[0]
        for (table, pattern), weight in zip(patterns, weights[1:], strict=True):
            if pattern[-1] == table[byte]:
                worst += weight if len(pattern) == 1 else min(0, weight)
        assert worst >= 0, (byte, worst)


@pytest.mark.proves("LAW-Count")
@given(TEXTS | st.text(alphabet="abcz AB0.\n_=é漢", max_size=300))
def test_patterns_are_counted_as_each_alone_would_be(text: str) -> None:
    """Patterns counted together, mostly in a copy with shortened runs of letters, have the same counts as each counted alone."""
    data = text.encode("utf-8", "surrogatepass")
    groups = token_estimate.ASCII if data.isascii() else token_estimate.ASCII + token_estimate.BEYOND
    alone = [data.translate(table, out).count(pattern) for table, out, group in groups for pattern in group]
    found = token_estimate.block_features(data)
    assert found[: len(alone) + 1] == [len(data), *alone]
    assert found[-1] == data.translate(token_estimate.SHAPE).count(b" l")


@pytest.mark.proves("LAW-Count")
@given(st.integers(65_530, 65_542), st.sampled_from(["é", "x ", "=", "9", "漢한", "  A"]), st.integers(1, 9))
def test_a_block_boundary_lowers_nothing(size_bytes: int, piece: str, times: int) -> None:
    """The upper bound does not fall when the text grows past a block."""
    text = (piece * size_bytes)[:size_bytes]
    assert count(text).high <= count(text + piece * times).high


@pytest.mark.proves("LAW-Count")
@given(OBSERVED, counts())
def test_calibration_never_makes_a_limit_unsafe(observed: list[tuple[Count, int]], counted: Count) -> None:
    """Whatever was observed, bounds only widen, and the number stays between them."""
    applied = learnt(observed).apply(counted)
    assert applied.low <= counted.low
    assert counted.high <= applied.high
    assert applied.low <= applied.tokens <= applied.high


@pytest.mark.proves("LAW-Count")
@given(OBSERVED, counts(), st.integers(0, 10**7), OBSERVED)
def test_what_was_observed_once_is_within_bounds(
    before: list[tuple[Count, int]], counted: Count, reported: int, after: list[tuple[Count, int]]
) -> None:
    """A provider's number is within the calibrated bounds of its estimate, now and later."""
    applied = learnt([*before, (counted, reported), *after]).apply(counted)
    assert not counted.low or applied.low <= reported
    assert not counted.tokens or reported <= applied.high


@pytest.mark.proves("LAW-Count")
@given(OBSERVED, counts(), counts())
def test_calibration_keeps_the_order_of_bounds(observed: list[tuple[Count, int]], one: Count, other: Count) -> None:
    """Calibration is monotonic, so a calibrated bound does not fall as text grows either."""
    calibration = learnt(observed)
    small, large = sorted((one, other), key=lambda value: value.high)
    assert calibration.apply(small).high <= calibration.apply(large).high


@pytest.mark.proves("LAW-Count")
@given(TEXTS, st.integers(0, 200), MODELS)
def test_a_text_that_fits_stays_within_its_limit_when_cut(text: str, limit: int, model: str) -> None:
    """If the estimate alone says that a text fits, every prefix of it fits."""
    if count(text, model=model).high <= limit:
        assert all(tokens.fits(text[:end], limit, model=model) for end in range(0, len(text), 7))
