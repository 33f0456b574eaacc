"""How much is this?

A `Count` says how many tokens a text has, between which bounds the number lies, and how it was found. The estimator
counts patterns of byte classes: it needs no vocabulary and no download. Exact counting is an extra, and a tokenizer
is loaded only where exactness was asked for or decides.
Law: `low <= tokens <= high`; an estimated `high` never falls as text grows; calibration never lowers a `high`.
Keeps out: files (a caller hands in `read`), budgets, and what to do when something does not fit.
"""

from __future__ import annotations

from operator import mul
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

Mode = Literal["estimate", "sampled", "exact"]

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
    made = kind.__new__(kind)
    made._set(*values)
    return made


class Count(_Value):
    """How many tokens: `tokens`, the bounds `low <= tokens <= high`, and `method`, for example `estimate:o200k`.

    `method` names what was done and for which family of tokenizers: `exact`, `sampled`, `sampled-estimate` or
    `estimate`, then a colon and the family, then `+calibrated` where a `Calibration` was applied.
    Raises `CallerError` where the bounds do not hold the number.
    """

    __slots__ = ("tokens", "low", "high", "method")
    tokens: int
    low: int
    high: int
    method: str

    def __init__(self, *, tokens: int, low: int, high: int, method: str) -> None:
        if not 0 <= low <= tokens <= high:
            raise _caller_error(f"a count needs 0 <= low <= tokens <= high, not {low} <= {tokens} <= {high}")
        self._set(tokens, low, high, method)


class TokenCounter(Protocol):
    """Anything that can say how much a text is; `Tokens` is ours."""

    def count(self, text: str, /) -> Count:
        """The tokens of `text`."""
        ...


# --- the estimator -------------------------------------------------------------------------------------------


def _classes(*rows: tuple[bytes, str]) -> bytes:
    table = bytearray(b"x" * 256)  # x: controls, and bytes that UTF-8 never has
    for members, name in rows:
        for byte in members:
            table[byte] = ord(name)
    return bytes(table)


_UPPER, _LOWER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz"
_PLAIN = ((bytes(range(33, 127)), "."), (b"\n\r", "n"), (b"\t", "t"), (b" ", " "), (b"0123456789", "0"))
_LEADS = (  # the first byte of a character outside ASCII says roughly which script it is of
    (bytes(range(0x80, 0xC0)), "-"),
    (bytes(range(0xC2, 0xC4)), "A"),
    (bytes(range(0xC4, 0xCC)), "B"),
    (bytes(range(0xCC, 0xD0)), "C"),
    (bytes(range(0xD0, 0xD4)), "D"),
    (bytes(range(0xD4, 0xE0)), "E"),
    (b"\xe0\xe1", "I"),
    (b"\xe2", "S"),
    (b"\xe3", "K"),
    (bytes(range(0xE4, 0xEA)), "H"),
    (bytes(range(0xEA, 0xEE)), "G"),
    (b"\xee\xef", "P"),
    (bytes(range(0xF0, 0xF5)), "M"),
)
_FOREIGN = (b"".join(members for members, _ in _LEADS), "h")

_SHAPE = _classes(*_PLAIN, (b"=-*#~+/", "q"), (b"_", "_"), (_UPPER, "U"), (_LOWER, "l"), _FOREIGN)
_WORD = _classes(*_PLAIN, (_UPPER + _LOWER, "a"), _FOREIGN)
_SOUND = _classes(
    *_PLAIN, (_UPPER, "U"), (b"bcdfghklmnprstwy", "c"), (b"aeiou", "v"), (b"jqxzv", "r"), *_LEADS
)

_Plan = tuple[tuple[bytes, tuple[bytes, ...]], ...]

# What is counted, in the order of the weights: the bytes, then these patterns, without overlap within one pattern.
# They were chosen by bench/fit_tokens.py from 165, for what each adds to the fit by the time that it costs.
_ASCII: _Plan = (
    (_SHAPE, (b"0", b"000", b".", b"    ", b"U", b"00", b".0", b"ln", b"0U", b"lq", b"qqqqqqqq", b"q")),
    (_SHAPE, (b" 0", b"U U", b"  ", b"UUUU", b"n ", b"_")),
    (_WORD, (b"aaaaa",)),
    (_SOUND, (b"r", b"rr", b"cccc")),
)
_BEYOND: _Plan = (  # only where a text leaves ASCII
    (_SHAPE, (b"h ", b"hhhhhhhhhhhh", b"hhhhhh")),
    (_WORD, (b"ah",)),
    (_SOUND, (b"A", b"B", b"C", b"D", b"E", b"I", b"S", b"K", b"H", b"G", b"P", b"M")),
    (_SOUND, (b"G--H", b"cA", b"-D", b"vA", b"I--I--I--")),
)
_BLOCK_BYTES = 65_536  # a block stays in the processor's cache while its patterns are counted


def _features(data: bytes) -> list[int]:
    """How many bytes, and how often each pattern, block by block. Appending to `data` lowers none of the numbers."""
    total = [0] * 64
    for start in range(0, len(data), _BLOCK_BYTES):
        block = data[start : start + _BLOCK_BYTES]
        row = [len(block)]
        for table, patterns in _ASCII if block.isascii() else _ASCII + _BEYOND:
            row += map(block.translate(table).count, patterns)
        for i, value in enumerate(row):
            total[i] += value
    return total


class _Weights(NamedTuple):
    """Thousandths of a token for each feature; `most` and `least` so that no byte ever counts below zero."""

    likely: tuple[int, ...]
    most: tuple[int, ...]
    least: tuple[int, ...]
    margin: int  # on top of `most`, for any text at all: short texts stray more


def _weights(likely: str, most: str, least: str, margin: int) -> _Weights:
    rows = [tuple(map(int, row.split())) for row in (likely, most, least)]
    return _Weights(rows[0], rows[1], rows[2], margin)


# Fitted by bench/fit_tokens.py; see docs/tokens.md for the corpus and the error on files that the fit has not seen.
_FAMILIES: dict[str, _Weights] = {
    "o200k": _weights(
        """222 1532 -1294 443 -1456 359 -1942 -435 1523 1782 66 -5364 371 622 -1287 323 -592 434 -225
        -687 281 10097 847 -1907 -2016 -1968 -1960 1683 2871 974 2030 926 1405 1825 1475 1522 1598
        1536 3183 17547 2067 -1370 2038 -580""",
        """172 1536 0 707 0 390 -1687 0 2610 1062 683 0 -151 510 -540 -151 0 42 44 0 964 11525 343 0
        -105 523 0 1215 661 221 -45 228 2 1645 -45 882 709 555 3550 13055 840 28 -1259 -45""",
        """33 451 -466 34 0 187 0 1217 207 994 1111 0 -14 1430 -202 -14 0 2224 -14 796 776 856 2114 0 0
        0 671 1729 1312 302 1674 371 208 916 610 611 689 1144 1845 11806 -1744 -1689 0 -14""",
        8623,
    ),
    "cl100k": _weights(
        """228 1515 -1296 422 -1580 360 -1919 -409 1370 2520 -48 -5757 412 619 -1247 372 -729 433 -271
        -720 179 11371 845 -1665 -2651 -1783 -1485 1656 3439 1575 1705 1321 1605 1474 1803 1836 1911
        1382 3949 18744 2656 -769 4150 2861""",
        """172 1512 0 700 0 424 -1662 0 2654 1581 697 0 -151 544 -574 -151 0 0 -54 0 954 15346 493 0 0
        1394 0 1136 1538 486 339 609 896 3598 -151 940 753 335 2688 7161 2901 -469 873 408""",
        """32 449 -462 26 0 199 0 1267 859 1019 1039 0 -13 1443 -212 -13 0 2277 -13 723 616 3773 1624
        631 0 0 544 1826 2381 840 2168 713 885 876 885 898 895 1175 2505 11856 -476 -2181 -1364 -13""",
        6852,
    ),
    "claude": _weights(
        """244 1609 -1515 743 416 996 -1911 -996 1618 -883 920 -6251 547 618 -1935 -598 -1250 905 202
        68 592 9341 2126 -1256 -2382 -364 -398 778 2171 793 1359 781 1171 1636 775 1133 1359 270
        2894 14974 951 -1082 6763 -1220""",
        """259 1420 0 912 0 779 -1657 0 3269 558 1778 -93 -144 883 -749 -238 -266 0 1396 366 975 10432
        1042 0 -125 525 0 482 879 387 -112 348 164 4148 -15 837 898 -91 3028 9026 3434 0 3799 -112""",
        """71 515 -181 460 0 740 -387 733 1155 458 1850 0 -52 1285 -206 -52 -587 908 -52 1513 954 -1006
        3507 733 -52 0 269 1342 1452 502 0 564 452 2052 551 885 1059 805 2278 10185 -667 225 -676 0""",
        12427,
    ),
    "claude3": _weights(
        """201 1642 -1363 598 -199 736 -2070 -676 1523 1726 671 -7311 622 821 -2892 -205 -1454 927 -166
        -328 316 9536 2252 -1134 -2064 -968 -481 1057 2096 1003 1066 998 1434 1662 1125 1482 1699
        645 3321 15315 781 -502 5520 -929""",
        """213 1408 0 829 0 703 -1600 0 2151 1044 1539 0 -192 911 -894 -192 0 0 175 0 1288 11700 2901 0
        0 50 0 874 1717 611 -192 568 538 2687 333 1192 1217 207 3453 10901 1817 283 -1065 -192""",
        """38 451 -471 24 -19 230 0 1199 -19 1046 1867 0 -19 1409 -249 67 0 2231 -19 1063 1480 -1499
        2082 665 0 -19 663 1542 246 596 33 636 570 2508 634 973 1193 974 2426 9907 -1543 289 0 0""",
        7732,
    ),
    "qwen": _weights(
        """234 1610 -612 458 -2126 401 -1224 -500 869 2174 -35 -5509 370 541 -1613 596 -775 923 -257
        -670 114 10085 1280 -1710 -2361 -1830 -2258 1733 3269 927 1624 862 2264 2033 1216 1352 1405
        1535 3860 17055 1968 -949 2784 -2962""",
        """170 1800 -630 708 0 393 -1319 0 2380 898 806 0 -149 686 -322 -149 -219 373 -88 380 813 10313
        1800 0 0 519 0 1323 679 214 -149 341 243 1177 -149 458 735 590 4176 14521 -41 145 -1430 -149""",
        """30 1492 -1076 34 0 178 -428 411 640 347 950 0 -11 445 -190 -11 0 2603 -11 938 381 4686 994
        483 0 0 442 1765 1561 258 1107 264 474 489 383 433 518 1179 2529 12421 -1777 -1119 0 -11""",
        7539,
    ),
}


def _estimate(data: bytes, family: str) -> Count:
    method = f"estimate:{family}"
    if not data:
        return Count(tokens=0, low=0, high=0, method=method)
    if family == "other":
        cl100k, claude = _estimate(data, "cl100k"), _estimate(data, "claude")
        high = max(cl100k.high, claude.high)
        return Count(tokens=cl100k.tokens, low=min(cl100k.low, claude.low), high=high, method=method)
    features, weights = _features(data), _FAMILIES[family]
    most = -(-(sum(map(mul, weights.most, features)) + weights.margin) // 1000)
    high = max(1, min(most, len(data) * _TOKENS_PER_BYTE.get(family, 1)))
    low = min(high, max(1, sum(map(mul, weights.least, features)) // 1000))
    tokens = min(high, max(low, (sum(map(mul, weights.likely, features)) + 500) // 1000))
    return Count(tokens=tokens, low=low, high=high, method=method)


# A byte-level vocabulary never needs more than one token for a byte; Claude's marks upper case on top.
_TOKENS_PER_BYTE = {"claude": 2, "claude3": 2}


# --- models and exact counts -----------------------------------------------------------------------------------

# The first prefix that a model's name has, in lower case and without what stands before a slash.
_PREFIXES = (
    ("o200k", "o200k"),
    ("cl100k", "cl100k"),
    ("gpt-4o", "o200k"),
    ("gpt-4.", "o200k"),
    ("gpt-5", "o200k"),
    ("gpt-oss", "o200k"),
    ("chatgpt-4o", "o200k"),
    ("o1", "o200k"),
    ("o3", "o200k"),
    ("o4", "o200k"),
    ("codex", "o200k"),
    ("gpt-4", "cl100k"),
    ("gpt-3.5", "cl100k"),
    ("gpt-35", "cl100k"),
    ("text-embedding", "cl100k"),
    ("claude-2", "other"),
    ("claude-3", "claude3"),
    ("claude3", "claude3"),
    *(
        (f"claude-{name}-4{tail}", "claude3")
        for name in ("opus", "sonnet", "haiku")
        for tail in ("-0", "-1", "-2", "-5", "-6")
    ),
    ("claude", "claude"),
    ("qwen", "qwen"),
)
_EXACT = {"o200k": "o200k_base", "cl100k": "cl100k_base", "qwen": "qwen3.5"}


def family(model: str) -> str:
    """The family of tokenizers that `model` is counted with; `other` for a model whose tokenizer is not known."""
    name = model.lower().rpartition("/")[2].rpartition(":")[2]
    return next((found for prefix, found in _PREFIXES if name.startswith(prefix)), "other")


def _caller_error(message: str) -> Exception:
    from penstock.errors import CallerError

    return CallerError(message)


def _exact_counter(name: str) -> Callable[[bytes], int] | None:
    """What counts a text of that family exactly, or None where nothing here does."""
    if name not in _EXACT:
        return None
    try:
        import toktok
    except ImportError:
        return None

    def counter(data: bytes) -> int:
        # As OpenAI's own encoder does it: halves of a pair are joined, what stays alone becomes U+FFFD.
        text = data.decode("utf-8", "surrogatepass") if b"\xed" in data else data.decode("utf-8", "replace")
        return int(toktok.batch_count([text], _EXACT[name], threads=1)[0])

    return counter


def count(text: str | bytes, *, model: str = "o200k", mode: Mode = "estimate") -> Count:
    """How many tokens `text` has."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if mode == "estimate":
        return _estimate(data, family(model))
    raise _caller_error(f"unknown mode {mode!r}: estimate, sampled or exact")
