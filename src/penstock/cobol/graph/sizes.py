"""Can an item hold what another one sends, and how long must it be to do so?

Digits, characters and bytes are three quantities: a number of seven digits has seven bytes in DISPLAY and four in COMP-3,
and one more digit need not be one more byte. A MOVE compares digits if the receiver is a number, characters if it is text,
and bytes if either is a group; a parameter, or items at the same offset of two areas, are compared byte by byte.

Law: what `fitted` reports as too short truncates the value by the standard's rules of MOVE; what it leaves out truncates
nothing. Digits after the decimal point are compared only by `fitted_behind_point`: a MOVE truncates them by design.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, NewType

from ..facts.pictures import BINARY, bytes_of, places_of

if TYPE_CHECKING:
    from .values import LaidField

Bytes = NewType("Bytes", int)
Characters = NewType("Characters", int)
Digits = NewType("Digits", int)

Kind = Literal["group", "text", "number", "edited number", "other"]
"""What an item is to a MOVE; `other` for floating point, indexes and pointers, whose values have no length."""
_PACKED = frozenset({"COMP-3", "PACKED-DECIMAL", "COMP-6"})
_UNCUT = frozenset({"COMP-5", "COMP-X", "COMP-N"})  # they hold what fits in their bytes, whatever their picture says
_INTEGERS = {
    "BINARY-CHAR": 1, "BINARY-SHORT": 2, "BINARY-LONG": 4, "BINARY-DOUBLE": 8, "SIGNED-SHORT": 2, "UNSIGNED-SHORT": 2,
    "SIGNED-INT": 4, "UNSIGNED-INT": 4, "SIGNED-LONG": 8, "UNSIGNED-LONG": 8,
}  # fmt: skip
_BINARY_BYTES = (2, 4, 8, 16)
_COLUMN_TYPE = re.compile(r"(\w++)\s*+(?:\(\s*+(\d{1,9})\s*+(?:,\s*+(\d{1,9})\s*+)?\))?")
_SQL_INTEGERS = {"SMALLINT": (2, 4), "INT": (4, 9), "INTEGER": (4, 9), "BIGINT": (8, 18)}
"""The bytes of each type, and the number of digits up to which it holds any number."""
SQL_TIMES = {"DATE": 10, "TIME": 8, "TIMESTAMP": 26}
"""The characters that Db2 gives and takes for each type of dates and times; those of other databases may be others."""
_SQL_DECIMALS = frozenset({"DECIMAL", "DEC", "NUMERIC"})
_SQL_TEXTS = frozenset({"CHAR", "CHARACTER", "VARCHAR", "VARCHAR2", "NCHAR", "NVARCHAR", "GRAPHIC", "VARGRAPHIC"})


class Size(NamedTuple):
    """How much an item holds."""

    kind: Kind
    bytes: Bytes
    characters: Characters
    """The characters that it sends as text."""
    digits: Digits
    """The most digits before the decimal point that it sends as a number; for text, its characters."""
    sure_digits: Digits
    """The digits that it certainly sends: a binary item of some bytes may have fewer than fit into them."""
    usage: str = "DISPLAY"
    decimals: int = 0
    scaled: int = 0
    """The digits of P, which are not stored."""
    inserted: int = 0
    """The characters that editing inserts between those of text."""
    letter_bytes: int = 1
    is_sign_apart: bool = False
    is_justified: bool = False

    @property
    def grows_at_front(self) -> bool:
        """Whether a longer item grows before what it holds: a number, or a JUSTIFIED text."""
        return self.is_number or self.is_justified

    @property
    def is_number(self) -> bool:
        """Whether the item holds digits."""
        return self.kind in {"number", "edited number"}

    @property
    def room(self) -> int:
        """The characters of text, or the digits before the decimal point, that it can take; the bytes of a group."""
        if self.is_number:
            uncut = _most_digits(self.bytes) - self.decimals if self.usage in _UNCUT else 0
            return max(self.digits, uncut)
        return self.bytes if self.kind == "group" else self.characters - self.inserted


class Fitted(NamedTuple):
    """The size that an item would need because it is too short."""

    size: Size
    is_sure: bool
    """Whether the item is too short for every value that the other one may send."""


def size_of(field: LaidField) -> Size | None:
    """Return how much an item holds; None if that is not known."""
    if field.bytes is None:
        return None
    size = Bytes(field.bytes)
    if field.usage == "GROUP":
        return text(size)._replace(kind="group")
    if field.usage in _INTEGERS:
        return _number(size, field.usage, _most_digits(size))
    places = places_of(field.picture) if field.picture else None
    if places is None:
        return text(size)._replace(kind="other")
    if places.kind == "text" and field.usage not in _UNCUT:
        letter_bytes = 2 if size >= 2 * places.characters else 1
        characters = size // letter_bytes
        return text(size)._replace(
            characters=Characters(characters),
            digits=Digits(characters),
            sure_digits=Digits(characters),
            inserted=characters - places.characters,
            letter_bytes=letter_bytes,
            is_justified=field.is_justified,
        )
    if places.kind == "text":  # PIC X(2) COMP-X: a number of two bytes
        return _number(size, field.usage, _most_digits(size))
    found = _number(size, field.usage, places.digits)._replace(
        kind=places.kind, decimals=places.decimals, scaled=places.scaled
    )
    if places.kind == "edited number":
        return found._replace(characters=Characters(size))
    stored = places.digits + places.decimals - places.scaled
    return found._replace(
        characters=Characters(places.digits + places.decimals),
        is_sign_apart=field.usage == "DISPLAY" and size == stored + 1,
    )


def size_of_column(kind: str) -> Size | None:
    """Return how much an SQL column holds, by its type; None if that has no length, as a LOB, or is not known.

    Example:
        >>> [size_of_column(kind).room for kind in ("CHAR(8)", "DECIMAL(10, 2)", "INTEGER", "VARCHAR (30)")]
        [8, 8, 9, 30]
    """
    found = _COLUMN_TYPE.match(kind.strip())
    if found is None:
        return None
    name, length, decimals = found[1].upper(), int(found[2] or 0), int(found[3] or 0)
    if name in _SQL_INTEGERS and not length:
        size, digits = _SQL_INTEGERS[name]
        return _number(Bytes(size), "SQL", digits)
    if name in _SQL_DECIMALS and length:
        size = Bytes(bytes_of(f"9({length})", "COMP-3") or 0)
        return _number(size, "COMP-3", length - decimals)._replace(decimals=decimals)
    if name in _SQL_TEXTS:
        return text(Bytes(length or 1))
    if name in SQL_TIMES and not length:
        return text(Bytes(SQL_TIMES[name]))
    return None


def text(size: Bytes) -> Size:
    """Return the size of a text, given its bytes."""
    return Size("text", size, Characters(size), Digits(size), Digits(size))


def _number(size: Bytes, usage: str, digits: int) -> Size:
    """Return the size of an integer, given its bytes and digits."""
    return Size("number", size, Characters(digits), Digits(digits), Digits(digits), usage)


def length_of(size: Size) -> Size:
    """Return the size of the number that is an item's length."""
    digits = len(str(size.bytes))
    return _number(Bytes(digits), "DISPLAY", digits)


def longer(size: Size, more: Bytes, *, behind_point: bool = False) -> Size:
    """Return the size of an item that gets longer by some bytes, as far as its usage allows: a binary one has 2, 4, 8 or 16.

    Args:
        size: The item.
        more: The bytes.
        behind_point: Whether a number gets its digits after the decimal point; a binary one gets the fewest possible.
    """
    if behind_point and size.is_number:
        grown = longer(size, more)
        digits = grown.sure_digits - size.sure_digits
        point = size.kind == "edited number" and not size.decimals
        return size._replace(
            bytes=grown.bytes,
            characters=Characters(size.characters + digits),
            decimals=size.decimals + max(0, digits - point),
        )
    if size.usage in BINARY or size.usage in _INTEGERS or size.usage == "COMP-X":
        wanted = size.bytes + more
        lengths = (0, *_BINARY_BYTES) if size.usage != "COMP-X" else (wanted - 1, wanted)
        at = next((at for at, one in enumerate(lengths) if one >= wanted), len(lengths) - 1)
        found, below = Bytes(lengths[at]), lengths[at - 1]
        digits = max(size.digits, _most_digits(found) - size.decimals)
        sure = max(size.sure_digits, min(digits, _most_digits(below) + 1 - size.decimals))
        return _with_digits(size, digits, sure)._replace(bytes=found)
    if size.is_number:
        # A packed item holds two digits a byte.
        digits = size.digits + more * (2 if size.usage in _PACKED else 1)
        return _with_digits(size, digits, digits)._replace(bytes=Bytes(size.bytes + more))
    return _with_characters(size, size.characters + -(-more // size.letter_bytes))


def held(size: Size, sent: Size) -> Size:
    """Return how much of an item is filled by another one that it has room for; the rest are blanks or zeros."""
    if size.kind == "text" and not size.inserted and sent.kind != "group":
        return _with_characters(size, min(size.characters, sent.characters))
    if size.is_number and sent.is_number:
        return size._replace(
            digits=Digits(min(size.room, sent.digits)),
            sure_digits=Digits(min(size.room, sent.sure_digits)),
            decimals=min(size.decimals, sent.decimals),
        )
    return size


def fitted(target: Size, sent: Size, *, is_stored: bool = False) -> Fitted | None:
    """Return the size that an item needs to hold what another one sends; None if it has it.

    Args:
        target: The item that receives it.
        sent: The item that sends it.
        is_stored: Whether bytes are transferred as stored, rather than by the rules of MOVE.
    """
    numbers = sent.kind == target.kind == "number" and sent.usage == target.usage
    if is_stored and (not numbers or target.bytes < sent.bytes):
        needed = longer(target, Bytes(sent.bytes - target.bytes)) if target.bytes < sent.bytes else None
        return None if needed is None else Fitted(needed, True)
    if "group" in {target.kind, sent.kind}:
        more = Bytes(sent.bytes - target.bytes)
        return Fitted(longer(target, more), True) if more > 0 else None
    if "other" in {target.kind, sent.kind}:
        return None
    if target.kind == "text":
        missing = sent.characters - target.room
        if missing <= 0:
            return None
        doubt = sent.digits - sent.sure_digits
        return Fitted(_with_characters(target, target.characters + missing), missing > doubt)
    digits, sure = (sent.characters,) * 2 if sent.kind == "text" else (sent.digits, sent.sure_digits)
    if digits <= target.room:
        return None
    return Fitted(_with_digits(target, digits, min(sure, digits)), sure > target.room)


def grows_behind_point(now: Size | None, then: Size | None) -> bool:
    """Return whether an item gets digits after its decimal point."""
    return now is not None and then is not None and then.decimals > now.decimals


def fitted_behind_point(target: Size, sent: Size) -> Fitted | None:
    """Return the size that a number needs to hold the digits after the decimal point of another one; None if it has it.

    Args:
        target: The item that receives it.
        sent: The item that sends it.
    """
    more = sent.decimals - target.decimals
    if not target.is_number or not sent.is_number or more <= 0:
        return None
    if target.kind == "edited number":
        length: int | None = target.bytes + more + (not target.decimals)
    else:
        places = target.digits + sent.decimals - target.scaled
        length = bytes_of(f"{'S' * target.is_sign_apart}9({places})", target.usage, sign_apart=target.is_sign_apart)
    return Fitted(
        target._replace(
            bytes=Bytes(max(target.bytes, length or 0)),
            characters=Characters(target.characters + more),
            decimals=sent.decimals,
        ),
        True,
    )


def _with_characters(size: Size, characters: int) -> Size:
    """Return the size of a text with another number of characters."""
    more = characters - size.characters
    count = Digits(characters)
    return size._replace(
        bytes=Bytes(size.bytes + more * size.letter_bytes),
        characters=Characters(characters),
        digits=count,
        sure_digits=count,
    )


def _with_digits(size: Size, digits: int, sure: int) -> Size:
    """Return the size of a number with another number of digits before the decimal point."""
    more = digits - size.digits
    if size.kind == "edited number":
        length: int | None = size.bytes + more
    elif size.usage in _INTEGERS:
        length = max(size.bytes, bytes_of(f"9({digits})", "BINARY") or 0)
    else:
        picture = f"{'S' * size.is_sign_apart}9({digits + size.decimals - size.scaled})"
        length = bytes_of(picture, size.usage, sign_apart=size.is_sign_apart)
    found = Bytes(max(size.bytes, length or 0))
    characters = found if size.kind == "edited number" else digits + size.decimals
    return size._replace(
        bytes=found, characters=Characters(characters), digits=Digits(digits), sure_digits=Digits(min(sure, digits))
    )


def _most_digits(size: int) -> int:
    """Return up to how many digits every number fits into some bytes, with a sign."""
    return int((8 * size - 1) * math.log10(2))
