"""How many tokens does a text probably have, by the patterns of its bytes alone? Three weighted sums: likely, most, least.

No vocabulary is needed and nothing is downloaded. Laws: appending to a text lowers no feature, and so no `high`; the
features of any text are those of its blocks, added up. Leaves to others: which family a model belongs to (`tokens`), and
how the weights are fitted (`bench/fit_tokens.py`).
"""

from __future__ import annotations

from functools import lru_cache
from operator import mul
from typing import NamedTuple


def _classes(*rows: tuple[bytes, str]) -> bytes:
    """Return a table for `bytes.translate` that gives each byte the letter of its class, `x` for controls and bytes that
    UTF-8 never has.
    """
    table = bytearray(b"x" * 256)  # x: controls, and bytes that UTF-8 never has
    for members, name in rows:
        for byte in members:
            table[byte] = ord(name)
    return bytes(table)


_UPPER, _LOWER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz"
_PLAIN = ((bytes(range(33, 127)), "."), (b"\n\r", "n"), (b"\t", "t"), (b" ", " "), (b"0123456789", "0"))
_BEYOND_ASCII = (bytes(range(0x80, 0xC0)) + bytes(range(0xC2, 0xF5)), "h")
_LEADS = (  # the first byte of a character outside ASCII roughly indicates its script
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
SHAPE = _classes(*_PLAIN, (b"=-*#~+/", "q"), (b"_", "_"), (_UPPER, "U"), (_LOWER, "l"), _BEYOND_ASCII)
_SOUND = _classes(*_PLAIN, (_UPPER, "U"), (b"bcdfghklmnprstwy", "c"), (b"aeiou", "v"), (b"jqxzv", "r"), *_LEADS)

_Plan = tuple[tuple[bytes, bytes, tuple[bytes, ...]], ...]  # alphabet, bytes to leave out, patterns

# What is counted, in the order of the weights: the bytes, then these patterns, each without overlap with itself. They were
# chosen from 165 for what each adds to the fit relative to the time that it costs.
ASCII: _Plan = (
    (SHAPE, b"", (b" ", b"    ", b"nn", b"0", b"00", b"000", b".", b"q", b"qqqqqqqq", b"_", b"U", b"UUUU", b"lll")),
    (SHAPE, b"", (b"ln", b"lq", b"l0", b"l_", b"0U", b"0n", b" 0", b" q", b" U", b"U U")),
    (_SOUND, b"", (b"rr", b"cr", b"cccc")),
)
BEYOND: _Plan = (  # only if a block leaves ASCII; single classes are counted on what is left without ASCII, often little
    (SHAPE, b"", (b"h ", b"hhhhhhhhhhhh")),
    (_SOUND, bytes(range(128)), (b"A", b"B", b"C", b"D", b"E", b"I", b"S", b"K", b"H", b"G", b"P", b"M")),
    (_SOUND, b"", (b"G--H",)),
)
_LETTERS = b"lll"
_ZEROS = (0,) * 63
# The position of a number that has no weight: words after a space, each of which is at least one token.
_WORDS = 63
# A block stays in the processor's cache while its patterns are counted.
_BLOCK_BYTES = 65_536


def features(data: bytes) -> list[int]:
    """Return the number of bytes and the count of each pattern, block by block. Appending to `data` lowers none of the
    numbers.
    """
    if len(data) <= _BLOCK_BYTES:
        return block_features(data)
    starts = range(0, len(data), _BLOCK_BYTES)
    return list(map(sum, zip(*(_known_features(data[at : at + _BLOCK_BYTES]) for at in starts), strict=True)))


def block_features(block: bytes) -> list[int]:
    """Return the numbers of one block."""
    # Each image is made once: a request is a thousand short texts, for which making them is most of the cost.
    shape = block.translate(SHAPE)
    # Most of a text is runs of small letters, and every pattern but one only asks whether there is such a letter: a third of each
    # run gives them the same numbers in two thirds of the time, and by how much it became shorter is the number for the other.
    short = shape.replace(_LETTERS, b"l")
    letters = (len(shape) - len(short)) // 2
    images = {(SHAPE, b""): short, (_SOUND, b""): block.translate(_SOUND)}
    row = [len(block)]
    for alphabet, left_out, patterns in ASCII if block.isascii() else ASCII + BEYOND:
        image = images.get((alphabet, left_out))
        count = (block.translate(alphabet, left_out) if image is None else image).count
        row += [letters if pattern == _LETTERS else count(pattern) for pattern in patterns]
    return [*row, *_ZEROS[len(row) :], short.count(b" l")]


# A long text is counted again and again while it is cut to fit: 2 MB of what was counted last.
_known_features = lru_cache(maxsize=32)(block_features)


# The estimator is linear: tokens = sum of weight times feature, in thousandths. Features are counts of patterns in two
# images of the text, in which each byte is replaced by the letter of its class (`bytes.translate`) so that
# `bytes.count`, which runs at memory speed, finds the patterns: word starts, camel case, rulers, digits in threes,
# scripts. That reads about 40 MB/s in pure Python.
#
# Three sets of weights are fitted for each family by bench/fit_tokens.py. `likely` has the least relative error. `most`
# and `least` are quantiles, widened until files that the fit has not seen stay within them except for 0.9 % of their
# windows; a bound is not a certainty (docs/tokens.md).
#
# Why `most` never falls as text grows: appending a byte adds one to "bytes" and to each single class that it is in, and
# at most one to each longer pattern that ends in its class; nothing ever goes down. The fit allows no weights under which
# the features that a byte always adds, together with all negative ones among those that it may add, sum to less than zero.
class _Weights(NamedTuple):
    """Thousandths of a token for each feature; `most` and `least` so that no byte ever counts below zero."""

    likely: tuple[int, ...]
    most: tuple[int, ...]
    least: tuple[int, ...]
    margin: int  # on top of `most`, for any text at all: short texts vary more


def _weights(likely: str, most: str, least: str, margin: int) -> _Weights:
    """Return the weights of one family from rows of numbers."""
    rows = [tuple(map(int, row.split())) for row in (likely, most, least)]
    return _Weights(rows[0], rows[1], rows[2], margin)


# Fitted by bench/fit_tokens.py; see docs/tokens.md for the corpus and the error on files that the fit has not seen.
FAMILIES: dict[str, _Weights] = {
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


# Percent: one short line repeated takes less than any text that the fit has seen.
_MIN_SHARE = 85

# A byte-level vocabulary never needs more than one token for a byte; Claude additionally marks upper case.
_TOKENS_PER_BYTE = {"claude": 2, "claude3": 2}


def bounds(features: list[int], name: str) -> tuple[int, int, int]:
    """Return (low, likely, high) for counted features, by the weights of a family."""
    size_bytes = features[0]
    if not size_bytes:
        return 0, 0, 0
    weights = FAMILIES[name]
    most = -(-(sum(map(mul, weights.most, features)) + weights.margin) // 1000)
    # A text of nothing but common words has fewer features than any that was fitted; still, each word after a space is a
    # token.
    most = max(most, features[_WORDS] + features[_WORDS] // 50 + 2)
    # What is certain of any byte-level vocabulary: a token represents at least one byte.
    high = max(1, min(most, size_bytes * _TOKENS_PER_BYTE.get(name, 1)))
    low = min(high, max(1, sum(map(mul, weights.least, features)) * _MIN_SHARE // 100_000))
    likely = (sum(map(mul, weights.likely, features)) + 500) // 1000
    return low, min(high, max(low, likely)), high
