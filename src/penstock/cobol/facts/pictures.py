"""How many bytes does an elementary item have, given its PICTURE and USAGE?

Sizes are those of Enterprise COBOL: 2, 4, 8 or 16 bytes for binary, two digits per byte and half a byte for the sign in packed
decimal, 4 bytes for pointers. `places_of` returns the number of digits or characters in a picture. Leaves to others: the offset of
the item (`layout`).

Law: any text yields a result in time linear in its length: None if the size cannot be known.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Literal, NamedTuple

_SYMBOL = re.compile(
    r"(CR|DB|[^\s()'\"])(?:\(0*+(\d{1,9})\))?", re.IGNORECASE
)  # any character may be the currency sign
_DOUBLE = frozenset("GN")  # a national or DBCS character is two bytes

_FIXED = {
    "COMP-1": 4,
    "COMP-2": 8,
    "INDEX": 4,
    "POINTER": 4,
    "POINTER-32": 4,
    "PROCEDURE-POINTER": 8,
    "PROGRAM-POINTER": 8,
    "FUNCTION-POINTER": 4,
    "BINARY-CHAR": 1,
    "BINARY-SHORT": 2,
    "SIGNED-SHORT": 2,
    "UNSIGNED-SHORT": 2,
    "BINARY-LONG": 4,
    "SIGNED-INT": 4,
    "UNSIGNED-INT": 4,
    "BINARY-DOUBLE": 8,
    "SIGNED-LONG": 8,
    "UNSIGNED-LONG": 8,
    "FLOAT": 4,
    "DOUBLE": 8,
    "HANDLE": 4,
    "FLOAT-SHORT": 4,
    "FLOAT-LONG": 8,
    "FLOAT-EXTENDED": 16,
    "FLOAT-BINARY-32": 4,
    "FLOAT-BINARY-64": 8,
    "FLOAT-BINARY-128": 16,
    "FLOAT-DECIMAL-16": 8,
    "FLOAT-DECIMAL-34": 16,
}
BINARY = frozenset({"COMP", "COMP-4", "COMP-5", "COMP-N", "BINARY"})
"""The usages whose items have 2, 4, 8 or 16 bytes, depending on their digits."""
_LETTERS = frozenset("XANGU1")
_DIGITS = frozenset("9Z*P")
_UNEDITED = frozenset("9SVP")
# Symbols that never float, however often repeated; any other one is a sign or currency sign, and repeated it holds digits.
_FIXED_SYMBOLS = frozenset([*"9Z*PSVB0/.,", "CR", "DB"])


class PicturePlaces(NamedTuple):
    """The capacity of a picture: characters of text, or digits before and after the decimal point."""

    kind: Literal["text", "number", "edited number"]
    characters: int
    """The characters of text, without insertion characters; 0 for a number."""
    digits: int
    """The digits before the decimal point; 0 for text."""
    decimals: int
    scaled: int
    """The digits of P, which count but are not stored."""


def bytes_of(picture: str | None, usage: str, *, sign_apart: bool = False) -> int | None:
    """Return the bytes of one occurrence; None if the picture is missing or invalid.

    Args:
        picture: The character string of PICTURE as written; None if the item has none.
        usage: A usage as in the values of `USAGES`.
        sign_apart: Whether SIGN IS SEPARATE applies, so that a sign in DISPLAY takes an additional byte.

    Example:
        >>> bytes_of("S9(7)V99", "COMP-3"), bytes_of("S9(4)", "COMP"), bytes_of("X(30)", "DISPLAY")
        (5, 2, 30)
    """
    if usage in _FIXED:
        return _FIXED[usage]
    if usage == "BINARY" and picture is None:  # of Wang's VS, a halfword: no other compiler accepts it
        return 2
    # The standard allows at most 50 characters; longer texts are not cached.
    counted = (_counts if len(picture) <= 50 else _counts.__wrapped__)(picture) if picture else None
    # A character of UTF-8 has one to four bytes.
    if counted is None or usage == "UTF-8" or (picture or "")[:1] in "Uu":
        return None
    digits, places, signed = counted
    if usage in BINARY:
        return _binary(digits)
    if usage in {"COMP-3", "PACKED-DECIMAL"}:
        return digits // 2 + 1
    if usage == "COMP-6":
        return (digits + 1) // 2
    if usage == "COMP-X":
        return (
            max(1, (digits * 3322 + 7999) // 8000) if digits else places
        )  # as few bytes as hold its digits, log2(10) bits each
    # A national item of digits, PIC 9(4) NATIONAL, has two bytes for each; N has already been counted as two.
    if usage == "NATIONAL":
        return places if any(letter in _DOUBLE for letter in (picture or "").upper()) else places * 2
    return places + (signed and sign_apart)


@lru_cache(1 << 12)
def places_of(picture: str) -> PicturePlaces | None:
    """Return the capacity of a picture; None for a floating point number, and for an invalid picture.

    Example:
        >>> [places_of(picture).digits for picture in ("S9(7)V99", "ZZZ,ZZ9.99", "Z.ZZ9,99", "+++9", "9(3)P(4)")]
        [7, 6, 4, 3, 7]
        >>> places_of("XXBXX").characters
        4
    """
    if len(picture) > 50 or _counts(picture) is None:
        return None
    count = _symbols(picture)
    if count.keys() & _LETTERS:
        return PicturePlaces("text", sum(count[symbol] for symbol in (*_LETTERS, "9")), 0, 0, 0)
    if count["E"]:
        return None
    # The first of several signs or currency signs is the sign, the others hold digits.
    floating = {symbol for symbol in count.keys() - _FIXED_SYMBOLS if count[symbol] > 1}
    whole, decimals = (
        sum(side[symbol] for symbol in (*_DIGITS, *floating)) for side in map(_symbols, _sides(picture.upper()))
    )
    kind: Literal["number", "edited number"] = "number" if count.keys() <= _UNEDITED else "edited number"
    return PicturePlaces(kind, 0, max(0, whole - len(floating)), decimals, count["P"])


def _symbols(picture: str) -> Counter[str]:
    """Return the number of occurrences of each symbol in a picture."""
    count: Counter[str] = Counter()
    for symbol, times in _SYMBOL.findall(picture):
        count[symbol.upper()] += int(times or 1)
    return count


def _sides(picture: str) -> tuple[str, str]:
    """Return the parts of a picture in capitals before and after the decimal point.

    With DECIMAL-POINT IS COMMA, which is not evident from the picture alone, the point is a comma: the last of both signs, or a
    single comma not followed by three digits. With P in front, all digits are after the point.
    """
    if "V" in picture or picture.lstrip("S").startswith("P"):
        before, _, behind = picture.partition("V")
        return (before, behind) if "V" in picture else ("", before)
    at = max(picture.rfind("."), picture.rfind(","))
    before, mark, behind = picture[:at], picture[at : at + 1], picture[at + 1 :]
    groups = at < 0 or mark in before or (mark == "," and "." not in before and _symbols(behind).total() == 3)
    return (picture, "") if groups else (before, behind)


def boundary_of(usage: str, size: int | None) -> int:
    """Return the boundary in bytes to which SYNCHRONIZED aligns an item; 1 if it has no effect."""
    if usage in BINARY and size:
        return 2 if size == 2 else 4
    return _FIXED.get(usage, 1)


def _binary(digits: int) -> int:
    """Return the bytes of a binary item with this many digits."""
    return 2 if digits <= 4 else 4 if digits <= 9 else 8 if digits <= 18 else 16


@lru_cache(1 << 12)
def _counts(picture: str) -> tuple[int, int, bool] | None:
    """Return the digits of a picture, its bytes in DISPLAY without a separate sign, and whether it has an operational sign.

    None if the text is not a picture. V takes no byte; P counts as a digit and takes none; CR and DB take two.
    """
    digits = places = at = 0
    signed = False
    for found in _SYMBOL.finditer(picture):
        # A gap between two symbols is not allowed in a picture.
        if found.start() != at:
            return None
        at = found.end()
        symbol = found.group(1).upper()
        count = int(found.group(2) or 1)
        if symbol == "S":
            signed = True
        elif symbol in {"V", "P"}:
            digits += count if symbol == "P" else 0
        elif symbol in {"CR", "DB"}:
            places += 2
        else:
            digits += count if symbol == "9" else 0
            places += count * (2 if symbol in _DOUBLE else 1)
    return (digits, places, signed) if at == len(picture) and at else None
