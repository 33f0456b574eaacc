"""How many tokens does a text have? A number, the bounds between which it lies, and how it was found (C-1, promise 5).

The estimator counts patterns of byte classes: it needs no vocabulary and no download. Exact counting is an extra, and a
tokenizer is loaded only where exactness was asked for or decides.

Laws: `low <= tokens <= high`; an estimated `high` never falls as text grows; calibration never lowers a `high`. Leaves
to others: files (a caller hands in `read`), budgets, and what to do when something does not fit.
"""

from __future__ import annotations

from functools import lru_cache
from operator import mul
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Mode = Literal["estimate", "sampled", "exact"]
"""How a text is counted: by patterns, from pieces of it, or by its model's tokenizer."""

WHOLE_BYTES = 65_536
"""Up to this size nothing is sampled: 64 pieces of 1 KiB would read it all."""


class _Value:
    """A frozen value with named fields: a frozen dataclass without the 15 ms that importing `dataclasses` costs."""

    __slots__: tuple[str, ...] = ()

    def _set(self, *values: object) -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def _fields(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Value) and type(other) is type(self) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self), self._fields()))

    def __repr__(self) -> str:
        pairs = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({pairs})"

    def __reduce__(self) -> tuple[object, ...]:
        return _revive, (type(self), self._fields())


def _revive(kind: type[_Value], values: tuple[object, ...]) -> _Value:
    """Return a value from its fields, for pickle and copy: `__init__` may take other arguments."""
    made = kind.__new__(kind)
    made._set(*values)
    return made


class Count(_Value):
    """How many tokens a text has: `tokens`, with bounds `low <= tokens <= high`, and how that was found.

    `method` names what was done and for which family of tokenizers: `exact`, `sampled`, `sampled-estimate`, `scaled` or
    `estimate`, then a colon and the family, then `+calibrated` where a `Calibration` was applied. `scaled` is an exact
    count that a calibration moved: it is exact no more.

    Raises:
        CallerError: where the bounds do not hold the number.
    """

    __slots__ = ("tokens", "low", "high", "method")  # noqa: RUF023  (the order in which they are shown)
    tokens: int
    """The number that is likely, or exact."""
    low: int
    """No fewer, as far as is known; for a request that certainly does not fit."""
    high: int
    """No more, as far as is known: what limits are held against."""
    method: str
    """How the count was found, for example `estimate:o200k`."""

    def __init__(self, *, tokens: int, low: int, high: int, method: str) -> None:
        if not 0 <= low <= tokens <= high:
            raise _caller_error(f"a count needs 0 <= low <= tokens <= high, not {low} <= {tokens} <= {high}")
        self._set(tokens, low, high, method)


class TokenCounter(Protocol):
    """Anything that can say how many tokens a text has; `Tokens` is ours, any other may be given in its place."""

    def count(self, text: str, /) -> Count:
        """Return the tokens of a text."""
        ...


# --- the estimator -------------------------------------------------------------------------------------------


def _classes(*rows: tuple[bytes, str]) -> bytes:
    """Return a table for `bytes.translate` that gives each byte the letter of its class, `x` for controls and bytes
    that UTF-8 never has.
    """
    table = bytearray(b"x" * 256)  # x: controls, and bytes that UTF-8 never has
    for members, name in rows:
        for byte in members:
            table[byte] = ord(name)
    return bytes(table)


_UPPER, _LOWER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz"
_PLAIN = ((bytes(range(33, 127)), "."), (b"\n\r", "n"), (b"\t", "t"), (b" ", " "), (b"0123456789", "0"))
_BEYOND_ASCII = (bytes(range(0x80, 0xC0)) + bytes(range(0xC2, 0xF5)), "h")
_LEADS = (  # the first byte of a character outside ASCII says roughly which script it is of
    (bytes(range(0x80, 0xC0)), "-"),  # not a first byte
    (bytes(range(0xC2, 0xC4)), "A"),  # Latin-1
    (bytes(range(0xC4, 0xCC)), "B"),  # more Latin, phonetic
    (bytes(range(0xCC, 0xD0)), "C"),  # combining, Greek
    (bytes(range(0xD0, 0xD4)), "D"),  # Cyrillic
    (bytes(range(0xD4, 0xE0)), "E"),  # Armenian to Arabic and beyond
    (b"\xe0\xe1", "I"),  # India to Georgia
    (b"\xe2", "S"),  # symbols
    (b"\xe3", "K"),  # kana
    (bytes(range(0xE4, 0xEA)), "H"),  # Han
    (bytes(range(0xEA, 0xEE)), "G"),  # Hangul
    (b"\xee\xef", "P"),  # private use, wide forms
    (bytes(range(0xF0, 0xF5)), "M"),  # beyond the basic plane
)

# The same text in two alphabets: `q` is what rulers are drawn with; `r` and four of a kind of `c` are rare in words.
_SHAPE = _classes(*_PLAIN, (b"=-*#~+/", "q"), (b"_", "_"), (_UPPER, "U"), (_LOWER, "l"), _BEYOND_ASCII)
_SOUND = _classes(*_PLAIN, (_UPPER, "U"), (b"bcdfghklmnprstwy", "c"), (b"aeiou", "v"), (b"jqxzv", "r"), *_LEADS)

_Plan = tuple[tuple[bytes, bytes, tuple[bytes, ...]], ...]  # alphabet, bytes to leave out, patterns

# What is counted, in the order of the weights: the bytes, then these patterns, each without overlap with itself.
# They were chosen from 165 for what each adds to the fit by the time that it costs.
_ASCII: _Plan = (
    (_SHAPE, b"", (b" ", b"    ", b"nn", b"0", b"00", b"000", b".", b"q", b"qqqqqqqq", b"_", b"U", b"UUUU", b"lll")),
    (_SHAPE, b"", (b"ln", b"lq", b"l0", b"l_", b"0U", b"0n", b" 0", b" q", b" U", b"U U")),
    (_SOUND, b"", (b"rr", b"cr", b"cccc")),
)
_BEYOND: _Plan = (  # only where a block leaves ASCII; single classes are counted on what is left without ASCII, often little
    (_SHAPE, b"", (b"h ", b"hhhhhhhhhhhh")),
    (_SOUND, bytes(range(128)), (b"A", b"B", b"C", b"D", b"E", b"I", b"S", b"K", b"H", b"G", b"P", b"M")),
    (_SOUND, b"", (b"G--H",)),
)
_LETTERS = b"lll"
_ZEROS = (0,) * 63
# The place of a number that has no weight: words behind a space, each of which is a token at least.
_WORDS = 63
# A block stays in the processor's cache while its patterns are counted.
_BLOCK_BYTES = 65_536


def _features(data: bytes) -> list[int]:
    """Return how many bytes there are, and how often each pattern, block by block. Appending to `data` lowers none of
    the numbers.
    """
    if len(data) <= _BLOCK_BYTES:
        return _block_features(data)
    starts = range(0, len(data), _BLOCK_BYTES)
    return list(map(sum, zip(*(_block_features(data[at : at + _BLOCK_BYTES]) for at in starts), strict=True)))


def _block_features(block: bytes) -> list[int]:
    """Return the numbers of one block."""
    # Each image is made once: a request is a thousand short texts, for which making them is most of the price.
    shape = block.translate(_SHAPE)
    # Most of a text is runs of small letters, and every pattern but one asks only whether there is such a letter: a third of
    # each run gives them the same numbers for two thirds of the time, and how much shorter it became is the number of the other.
    short = shape.replace(_LETTERS, b"l")
    letters = (len(shape) - len(short)) // 2
    images = {(_SHAPE, b""): short, (_SOUND, b""): block.translate(_SOUND)}
    row = [len(block)]
    for alphabet, left_out, patterns in _ASCII if block.isascii() else _ASCII + _BEYOND:
        image = images.get((alphabet, left_out))
        count = (block.translate(alphabet, left_out) if image is None else image).count
        row += [letters if pattern == _LETTERS else count(pattern) for pattern in patterns]
    return [*row, *_ZEROS[len(row) :], short.count(b" l")]


# The estimator is linear: tokens = sum of weight times feature, in thousandths. Features are counts of patterns in two
# images of the text, in which each byte is replaced by the letter of its class (`bytes.translate`) so that
# `bytes.count`, which runs at memory speed, finds the patterns: word starts, camel case, rulers, digits in threes,
# scripts. That reads about 40 MB/s in pure Python.
#
# Three sets of weights are fitted for each family by bench/fit_tokens.py. `likely` has the least relative error. `most`
# and `least` are quantiles, widened until files that the fit has not seen stay within them but for 0.9 % of their
# windows; a bound is no certainty (docs/tokens.md).
#
# Why `most` never falls as text grows: appending a byte adds one to "bytes" and to each single class that it is in, and
# at most one to each longer pattern that ends in its class; nothing ever goes down. The fit allows no weights under
# which the features that a byte always adds, with all those below zero among the ones that it may add, come to less
# than nothing.
class _Weights(NamedTuple):
    """Thousandths of a token for each feature; `most` and `least` so that no byte ever counts below zero."""

    likely: tuple[int, ...]
    most: tuple[int, ...]
    least: tuple[int, ...]
    margin: int  # on top of `most`, for any text at all: short texts stray more


def _weights(likely: str, most: str, least: str, margin: int) -> _Weights:
    """Return the weights of one family from rows of numbers."""
    rows = [tuple(map(int, row.split())) for row in (likely, most, least)]
    return _Weights(rows[0], rows[1], rows[2], margin)


# Fitted by bench/fit_tokens.py; see docs/tokens.md for the corpus and the error on files that the fit has not seen.
_FAMILIES: dict[str, _Weights] = {
    "o200k": _weights(
        """260 246 -1920 -557 913 -979 -1034 428 375 -5593 -341 370 -1309 -567 1422 181 562 1094 1606 813
        516 -292 -565 -1155 5028 1273 1152 -1781 -2290 1063 1164 316 250 290 215 700 445 537 555 451
        1859 18138""",
        """303 -271 0 -278 631 -456 -452 697 -248 -29 -278 318 0 -278 2601 791 869 542 2538 2653 1707 1193
        -72 -523 7982 2100 73 -6 -125 1313 1379 113 -49 204 -147 1868 -152 496 352 497 1168 18356""",
        """61 -41 -4 -44 402 -100 -347 59 -44 0 -44 244 0 510 319 397 1028 402 735 1205 1308 1879 -288 0
        1232 875 1284 0 -44 1062 1126 229 139 274 182 843 467 498 455 1119 1575 13063""",
        6035,
    ),
    "cl100k": _weights(
        """256 301 -2122 -568 925 -953 -1084 418 397 -5764 -341 397 -1473 -574 1378 122 550 1078 2133 781
        403 -392 -668 -1132 5403 1449 1195 -1513 -2544 1324 2481 937 462 709 1322 953 816 873 912 454
        2660 17823""",
        """293 -261 -8 -270 626 -437 -457 670 -262 -7 -270 338 -135 -270 2631 801 823 387 3196 2394 1573
        1098 -39 -433 8914 2043 0 0 -270 2235 2163 804 253 833 1569 4438 201 1035 1017 470 2046 12722""",
        """52 -33 -2 -34 417 -100 -352 65 -34 0 -34 242 0 541 523 326 1047 299 790 1231 1326 1961 -277 0
        2032 908 1132 521 -34 1222 2349 761 261 605 750 1568 746 772 753 1173 2226 12689""",
        6588,
    ),
    "claude3": _weights(
        """412 -125 -875 -694 620 -740 -984 393 368 -6885 -550 696 -2702 -937 1324 694 530 1492 1007 509
        1039 590 -907 -1815 5294 1671 2023 -1118 -2391 492 1380 320 -13 321 134 433 80 486 614 -435
        1969 16151""",
        """341 -318 36 -318 400 0 -718 819 -293 -24 -318 680 -526 -318 2173 1600 1093 1360 2895 1830 2104
        1868 -472 0 7290 2220 1897 0 -193 1977 1640 406 -75 454 269 3539 -125 825 713 -85 1869 13088""",
        """32 43 -58 -15 428 -106 -338 102 -15 0 -15 288 0 645 619 1181 1085 1213 830 1218 1236 2647 0
        -304 1851 1573 1029 297 -15 782 1575 552 254 619 532 2068 600 950 1064 1022 2249 10120""",
        9294,
    ),
    "claude": _weights(
        """470 -320 -380 -914 385 -407 -939 501 170 -4772 -310 902 -2044 -715 1351 997 832 1548 -486 680
        1244 1250 -467 -1154 5492 1883 1980 -1032 -2496 356 1710 230 -99 214 -7 516 -73 355 458 -651
        1777 16007""",
        """413 -390 64 -390 255 0 -645 930 -233 -156 -127 936 -770 -251 2903 1741 1325 1987 815 1750 2024
        1895 279 -556 7619 3317 973 0 0 1786 2018 315 -201 275 -10 3699 -390 530 357 -390 1513 12961""",
        """74 -4 -54 -57 473 -374 -157 654 -57 0 -57 844 -194 681 1521 1391 1320 502 235 1179 1237 2392 0
        -708 971 1141 1932 232 -57 628 2030 510 199 568 459 2071 494 844 981 721 2218 11044""",
        8907,
    ),
}


# Percent: one short line again and again takes less than any text that the fit has seen.
_MIN_SHARE = 85

# A byte-level vocabulary never needs more than one token for a byte; Claude marks upper case on top.
_TOKENS_PER_BYTE = {"claude": 2, "claude3": 2}


def _estimate(data: bytes, name: str) -> Count:
    """Return the estimate of a text for a family."""
    features = _features(data)
    low, tokens, high = _bounds(features, "cl100k" if name == _UNKNOWN else name)
    # An older, smaller vocabulary is the likely one; the costliest that we know is the bound.
    if name == _UNKNOWN:
        high = max(high, _bounds(features, "claude")[2])
    return Count(tokens=tokens, low=low, high=high, method=f"estimate:{name}")


def _bounds(features: list[int], name: str) -> tuple[int, int, int]:
    """Return (low, likely, high) for features counted, by the weights of a family."""
    size_bytes = features[0]
    if not size_bytes:
        return 0, 0, 0
    weights = _FAMILIES[name]
    most = -(-(sum(map(mul, weights.most, features)) + weights.margin) // 1000)
    # A text of nothing but common words has fewer features than any that was fitted; still, each word behind a space is
    # a token.
    most = max(most, features[_WORDS] + features[_WORDS] // 50 + 2)
    # The least that is certain of any byte-level vocabulary: a token stands for a byte at least.
    high = max(1, min(most, size_bytes * _TOKENS_PER_BYTE.get(name, 1)))
    low = min(high, max(1, sum(map(mul, weights.least, features)) * _MIN_SHARE // 100_000))
    likely = (sum(map(mul, weights.likely, features)) + 500) // 1000
    return low, min(high, max(low, likely)), high


# --- models --------------------------------------------------------------------------------------

_UNKNOWN = "other"
# The first prefix that fits decides, so longer ones stand before those that begin them.
_PREFIXES = (
    ("o200k", "o200k"),
    ("gpt-4o", "o200k"),
    ("gpt-4.", "o200k"),
    ("gpt-5", "o200k"),
    ("gpt-oss", "o200k"),
    ("chatgpt-4o", "o200k"),
    ("codex", "o200k"),
    ("o1", "o200k"),
    ("o3", "o200k"),
    ("o4", "o200k"),
    ("cl100k", "cl100k"),
    ("gpt-4", "cl100k"),
    ("gpt-3.5", "cl100k"),
    ("gpt-35", "cl100k"),  # as Azure spells it
    ("text-embedding", "cl100k"),
    # Claude 3 to Opus 4.6 share one vocabulary, Opus 4.7 and later have another (the families of ctok 1.3).
    ("claude3", "claude3"),
    ("claude-3", "claude3"),
    *((f"claude-opus-4{mark}{minor}", "claude") for mark in "-." for minor in "789"),
    *((f"claude-{size}-4", "claude3") for size in ("opus", "sonnet", "haiku")),
    ("claude-2", _UNKNOWN),
    ("claude", "claude"),
)
_EXACT = {"o200k": "o200k_base", "cl100k": "cl100k_base"}  # the encodings that the extra holds


@lru_cache(maxsize=64)
def _family(model: str) -> str:
    """Return what `family` does; a conversation asks it of one model for each of its texts."""
    name = model.strip().lower()
    starts = [0, *(at + 1 for at, char in enumerate(name) if char in "/:.@")]
    return next((to for at in starts for prefix, to in _PREFIXES if name.startswith(prefix, at)), _UNKNOWN)


def family(model: str) -> str:
    """Return the family of tokenizers that a model is counted with.

    What hosts put in front of a name does not matter: `anthropic/claude-…`, `us.anthropic.claude-…`,
    `openai-chat:gpt-…`.

    Args:
        model: the name of a model, or of a family.

    Returns:
        `o200k`, `cl100k`, `claude3`, `claude`, or `other` where the model is not known.
    """
    return _family(model)


# --- exact and sampled ---------------------------------------------------------------------------


def _counter(name: str) -> Callable[[list[str]], list[int]] | None:
    """Return what counts texts of a family exactly, or None where nothing here does."""
    if name not in _EXACT:
        return None
    try:
        import toktok
    except ImportError:
        return None
    return lambda texts: list(toktok.batch_count(texts, _EXACT[name], threads=1))


def _exactly(text: str | bytes, name: str) -> Count | None:
    """Return the exact count of a text, or None where it cannot be had."""
    counter = _counter(name)
    if counter is None:
        return None
    well_formed = text if isinstance(text, str) else text.decode("utf-8", "replace")
    try:
        tokens = counter([well_formed])[0]
    # As OpenAI's encoder does it: halves of a pair are joined, a lone one becomes U+FFFD.
    except UnicodeEncodeError:
        tokens = counter([well_formed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")])[0]
    return _exact(tokens, name)


def _exact(tokens: int, name: str) -> Count:
    """Return a number that is certain as a count."""
    return Count(tokens=tokens, low=tokens, high=tokens, method=f"exact:{name}")


def _encoded(text: str | bytes) -> bytes:
    """Return the bytes of a text; surrogates pass, as any text is counted."""
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def count(text: str | bytes, *, model: str = "o200k", mode: Mode = "estimate") -> Count:
    """Return how many tokens a text has for a model.

    >>> count("Hello, world", mode="estimate").high >= 3
    True

    Args:
        text: text, or bytes that are taken as UTF-8; what of them is no text is counted all the same.
        model: a name of a model or of a family (see `family`).
        mode: `estimate` needs nothing and reads about 40 MB/s. `exact` needs `penstock[exact]` and a family whose
            vocabulary is public: o200k and cl100k. `sampled` counts a text of more than `WHOLE_BYTES` from pieces (see
            `sample_count`), and a smaller one whole, exactly where that can be had.

    Raises:
        CallerError: for another mode, and where an exact count cannot be had; the message says what works instead.
    """
    name = family(model)
    if mode == "estimate":
        return _estimate(_encoded(text), name)
    if mode == "sampled":
        data = _encoded(text)
        if len(data) <= WHOLE_BYTES:
            return _exactly(text, name) or _estimate(data, name)
        return sample_count(lambda offset, size: data[offset : offset + size], len(data), model=model)
    if mode != "exact":
        raise _caller_error(f"unknown mode {mode!r}: it is estimate, sampled or exact")
    exact = _exactly(text, name)
    if exact is not None:
        return exact
    if name in _EXACT:
        raise _caller_error(f"exact counts for {model!r} need an extra: pip install 'penstock[exact]'")
    raise _caller_error(
        f"no exact tokenizer for {model!r} is public: use mode='estimate', or the count that its provider offers"
    )


def fits(text: str | bytes, limit_tokens: int, *, model: str = "o200k") -> bool:
    """Return whether a text has at most so many tokens. No tokenizer is loaded where the estimate decides.

    Between the estimate's bounds an exact count decides where one can be had, else the upper bound.

    Args:
        text: text, or bytes that are taken as UTF-8.
        limit_tokens: the most tokens; as many are within.
        model: a name of a model or of a family.
    """
    estimate = count(text, model=model)
    if not estimate.low <= limit_tokens < estimate.high:
        return estimate.high <= limit_tokens
    exact = _exactly(text, family(model))
    return exact is not None and exact.tokens <= limit_tokens


_CONTINUING, _LEADING = bytes(range(0x80, 0xC0)), bytes(range(0xC0, 0x100))
# Of 50 MB of each of 33 kinds of text (docs/tokens.md): 1.4 % off at the median, 2.8 % at the 90th percentile.
_PIECES, _PIECE_BYTES = 64, 1024
# The golden ratio's fraction spreads the pieces within their strata, so that records of equal size cannot align with
# them.
_GOLDEN = 0.6180339887498949


def sample_count(read: Callable[[int, int], bytes], size_bytes: int, *, model: str = "o200k") -> Count:
    """Return how many tokens a source has, from 64 pieces of 1 KiB; one of up to `WHOLE_BYTES` is read whole.

    The pieces stand one in each 64th of the source, at the same places every time. They are counted exactly where that
    can be had (`sampled:…`), else estimated (`sampled-estimate:…`). The bounds are three standard errors, at least 2 %:
    what no piece touched is not in them.

    Args:
        read: returns the bytes at (offset, size), fewer at the end.
        size_bytes: the size of the source.
        model: a name of a model or of a family.
    """
    name = family(model)
    if size_bytes <= WHOLE_BYTES:
        data = read(0, size_bytes)
        return _exactly(data, name) or _estimate(data, name)
    pieces = [piece for piece in (_piece(read, size_bytes, i) for i in range(_PIECES)) if piece]
    counter = _counter(name)
    if counter is not None:
        counts = counter([piece.decode("utf-8", "replace") for piece in pieces])
        return _scaled(pieces, counts, size_bytes, f"sampled:{name}")
    whole = _estimate(b"".join(pieces), name)
    counts = [_estimate(piece, name).tokens for piece in pieces]
    return _scaled(pieces, counts, size_bytes, f"sampled-estimate:{name}", whole)


def _piece(read: Callable[[int, int], bytes], size_bytes: int, index: int) -> bytes:
    """Return one piece, cut where a token is likely to begin and end; empty where the source has shrunk."""
    stratum = size_bytes / _PIECES
    offset = int(stratum * index + (stratum - _PIECE_BYTES) * (index * _GOLDEN % 1.0))
    piece = read(offset, _PIECE_BYTES)
    # A token begins at white space: cut there, so that no piece begins or ends within one; else between characters. A
    # token that is torn counts as two.
    first = piece.find(b" ", 0, 128)
    piece = piece[first:] if first >= 0 else piece.lstrip(_CONTINUING)
    last = piece.rfind(b" ", max(1, len(piece) - 128))
    return piece[:last] if last > 0 else piece.rstrip(_CONTINUING).rstrip(_LEADING)


def _scaled(pieces: list[bytes], counts: list[int], size_bytes: int, method: str, whole: Count | None = None) -> Count:
    """Return the count of a source by the ratio of tokens to bytes over all pieces.

    The standard error is that of a ratio estimator (Cochran, Sampling Techniques). Where the pieces themselves were
    estimated, `whole` is the estimate of them all, and its bounds widen the result's by their own share.
    """
    seen = sum(map(len, pieces))
    if not seen:  # the source shrank to nothing while it was read
        return Count(tokens=0, low=0, high=size_bytes, method=method)
    ratio = sum(counts) / seen
    residue = sum((tokens - ratio * len(piece)) ** 2 for tokens, piece in zip(counts, pieces, strict=True))
    spread = max(0.02 * ratio, 3 * (residue * len(pieces) / max(1, len(pieces) - 1)) ** 0.5 / seen)
    low, high = ratio - spread, ratio + spread
    if whole is not None:
        low, high = low * whole.low / max(1, whole.tokens), high * whole.high / max(1, whole.tokens)
    tokens = round(ratio * size_bytes)
    return Count(
        tokens=tokens,
        low=max(0, min(tokens, int(low * size_bytes))),
        high=max(tokens, int(high * size_bytes) + 1),
        method=method,
    )


# --- calibration ---------------------------------------------------------------------------------


class Calibration(_Value):
    """What a provider's reported usage teaches about our counts, as a value: every observation makes a new one.

    Laws: `apply(c).high >= c.high` and `apply(c).low <= c.low`; a count that was observed is within its bounds from
    then on.

    Raises:
        CallerError: for sums below 0, or ratios that would narrow a bound.
    """

    __slots__ = ("estimated_tokens", "reported_tokens", "most", "least")  # noqa: RUF023
    estimated_tokens: int
    """What we counted, summed over all observations."""
    reported_tokens: int
    """What the provider reported, summed over all observations; the ratio of both moves `tokens`."""
    most: tuple[int, int]
    """The worst overrun of a `high`, as (reported, bound); at least 1 as a ratio."""
    least: tuple[int, int]
    """The worst shortfall of a `low`, as (reported, bound); at most 1 as a ratio."""

    def __init__(
        self,
        *,
        estimated_tokens: int = 0,
        reported_tokens: int = 0,
        most: tuple[int, int] = (1, 1),
        least: tuple[int, int] = (1, 1),
    ) -> None:
        if (
            min(estimated_tokens, reported_tokens, least[0]) < 0
            or not 0 < most[1] <= most[0]
            or not least[0] <= least[1]
        ):
            raise _caller_error("a calibration widens bounds: most is at least 1, least at most 1, no sum below 0")
        self._set(estimated_tokens, reported_tokens, most, least)

    def observe(self, estimated: Count, reported_tokens: int) -> Calibration:
        """Return this calibration with one more observation. An empty estimate teaches nothing.

        Args:
            estimated: our count of the whole request that the provider counted.
            reported_tokens: the input that it reported.

        Raises:
            CallerError: for a report below 0.
        """
        if reported_tokens < 0:
            raise _caller_error(f"a provider cannot report {reported_tokens} tokens")
        if not estimated.tokens:
            return self
        most, least = (reported_tokens, estimated.high), (reported_tokens, max(1, estimated.low))
        return Calibration(
            estimated_tokens=self.estimated_tokens + estimated.tokens,
            reported_tokens=self.reported_tokens + reported_tokens,
            # Ratios are compared by multiplying crosswise: no float, no rounding that could narrow a bound.
            most=most if most[0] * self.most[1] > self.most[0] * most[1] else self.most,
            least=least if least[0] * self.least[1] < self.least[0] * least[1] else self.least,
        )

    def apply(self, count: Count) -> Count:
        """Return a count moved by what was observed, its bounds never narrower than before."""
        if not self.estimated_tokens:
            return count
        high = -(-count.high * self.most[0] // self.most[1])
        low = count.low * self.least[0] // self.least[1]
        tokens = (2 * count.tokens * self.reported_tokens + self.estimated_tokens) // (2 * self.estimated_tokens)
        method = count.method.replace("exact:", "scaled:").removesuffix("+calibrated") + "+calibrated"
        return Count(tokens=min(high, max(low, tokens)), low=low, high=high, method=method)


class Tokens(_Value):
    """The counter of a model: `Tokens(model="claude-opus-5").count(text)`, calibrated where that was learnt."""

    __slots__ = ("model", "mode", "calibration")  # noqa: RUF023
    model: str
    """A name of a model or of a family."""
    mode: Mode
    """How texts are counted."""
    calibration: Calibration
    """Applied to every count; a new one changes nothing."""

    def __init__(
        self, *, model: str = "o200k", mode: Mode = "estimate", calibration: Calibration | None = None
    ) -> None:
        self._set(model, mode, calibration or Calibration())

    def count(self, text: str, /) -> Count:
        """Return the tokens of a text.

        Raises:
            CallerError: for a mode that is none, or an exact count that cannot be had.
        """
        return self.calibration.apply(count(text, model=self.model, mode=self.mode))

    def count_all(self, texts: Sequence[str], /) -> list[Count]:
        """Return the tokens of each of some texts, in their order: what `count` returns for each, sooner.

        Raises:
            CallerError: as `count` does.
        """
        name = family(self.model)
        counter = _counter(name) if self.mode == "exact" and len(texts) > 1 else None
        # A tokenizer makes its buffers ready for each time that it is asked: for a thousand short texts that takes twenty times
        # as long as counting them.
        try:
            counted = [] if counter is None else counter([*texts])
        except UnicodeEncodeError:  # a lone surrogate somewhere, which is mended in the text that has it
            counter = None
        if counter is None:
            return [self.count(text) for text in texts]
        return [self.calibration.apply(_exact(tokens, name)) for tokens in counted]


def count_texts(counter: TokenCounter, texts: Sequence[str]) -> list[Count]:
    """Return what a counter says of each of some texts, all at once where it has a `count_all` as `Tokens` has."""
    count_all = getattr(counter, "count_all", None)
    return [counter.count(text) for text in texts] if count_all is None else list(count_all(texts))


def best_counter(model: str) -> Tokens:
    """Return the counter that decides about requests for a model: exact where that can be had here, else the estimator."""
    exact = _counter(family(model)) is not None
    return Tokens(model=model, mode="exact" if exact else "estimate")


def _caller_error(message: str) -> Exception:
    """Return an error of the caller; its module is loaded only now, because the command line counts on every start."""
    from penstock.errors import CallerError

    return CallerError(message)
