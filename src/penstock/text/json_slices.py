r"""Find values within JSON bytes, so that what is changed is spliced in and all else stays as it was written.

Numbers, escapes, white space, the order of names and names that stand twice are somebody else's: no value is read and written
again. Law: slices and splices leave every byte outside of them alone. Only as much is understood as is needed to know where a
value ends, so what is no JSON may pass for it; who decodes a slice finds out. Keeps out: what the values mean.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_ITEMS = 10_000
"""Of an array with more items only the extent is told: each item listed takes a hundred times the memory of its bytes."""
_PIECE_BYTES = 1 << 20
_QUOTES = 16

# Possessive repeats (`*+`) and atomic groups (`(?>…)`) give nothing back: time stays linear in what is looked at. A repeat in an
# atomic group keeps 150 bytes a round until that has ended, so it has a bound; a possessive one keeps nothing, and may hold no
# alternatives (CPython gh-106052).
_ROUNDS = 10_000
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def _nested(levels: int) -> bytes:
    """Return what matches anything between brackets that is nested no deeper than so many levels."""
    inner = _nested(levels - 1) if levels else b""
    deeper = rb"|\{" + inner + rb"\}|\[" + inner + rb"\]" if levels else b""
    return rb'(?>(?:[^"\[\]{}]++|' + _STRING + deeper + rb"){0,%d})" % _ROUNDS


# Up to the next bracket that opens or closes what is nested deeper than that, or has more parts: what data mostly is made of, rows
# of rows, is passed over here, with few steps in Python. What turns out to be deeper or longer is looked at again for each level.
_LEVEL = re.compile(_nested(3), re.DOTALL)
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_REST_OF_STRING = re.compile(_STRING[1:], re.DOTALL)
_SCALAR = re.compile(rb"[-+.\w]++")


class NotJson(ValueError):
    """What should be JSON is not."""


class CutShort(NotJson):
    """What should be JSON ends within a value: more of it may come."""


class Slice(NamedTuple):
    """Where a value lies: its first byte, and the one behind its last."""

    start: int
    end: int


class JsonMember(NamedTuple):
    """A name and its value in an object."""

    name: str
    at: int
    """Where the name begins."""
    value: Value


class Object(NamedTuple):
    """An object with its members in the order in which they stand."""

    start: int
    end: int
    members: tuple[JsonMember, ...]

    def get(self, name: str) -> Value | None:
        """Return the value of a name, None where it is not there; of a name that stands twice the last, as readers do."""
        return next((member.value for member in reversed(self.members) if member.name == name), None)


class Array(NamedTuple):
    """An array; `items` is None where there are more than `MAX_ITEMS`."""

    start: int
    end: int
    items: tuple[Value, ...] | None


Value = Slice | Object | Array
"""A value: looked into, or only where it lies."""


class Edit(NamedTuple):
    """Bytes that take the place of others."""

    start: int
    end: int
    new: bytes = b""


def splice(raw: bytes, edits: Iterable[Edit]) -> bytes:
    """Return bytes with edits made, which do not overlap; everything else as it was."""
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [raw[at : edit.start], edit.new]
        at = edit.end
    return b"".join([*parts, raw[at:]])


def read(raw: bytes, into: frozenset[str]) -> Value:
    """Return the one value that some bytes are.

    Args:
        raw: JSON with blanks around it.
        into: the names of members that are looked into; of others only the extent is told.

    Raises:
        NotJson: there is no such value, or something stands behind it.
    """
    reader = JsonReader(raw, into)
    reader.blanks()
    try:
        value = reader.value()
    except RecursionError:
        raise NotJson("nested too deep") from None
    reader.blanks()
    if reader.at != len(raw):
        raise NotJson(f"something stands behind the value, at byte {reader.at}")
    return value


class JsonReader:
    """Goes through JSON once, from its beginning; `at` is the next byte."""

    def __init__(self, raw: bytes, into: frozenset[str] = frozenset(), at: int = 0) -> None:
        self.raw = raw
        self.at = at
        self._into = into

    def value(self) -> Value:
        """Return the value that begins here, and go behind it."""
        start = self.at
        opening = self._peek()
        if opening == b"{":
            members = tuple(self.members())
            return Object(start, self.at, members)
        if opening == b"[":
            return self._array(start)
        return self.skip()

    def members(self) -> Iterator[JsonMember]:
        """Yield the members of the object that begins here, each when it has been read; behind the last it has been passed."""
        for at in self._parts(b"}"):
            name = self.name()
            value = self.value() if name in self._into else self.skip()
            yield JsonMember(name, at, value)

    def items(self) -> Iterator[Slice]:
        """Yield where each item of the array lies that begins here; behind the last the array has been passed."""
        for _ in self._parts(b"]"):
            yield self.skip()

    def name(self) -> str:
        """Return the name that begins here, and go to its value."""
        if self._peek() != b'"':
            raise NotJson(f"no name at byte {self.at}")
        name = text_of(self.raw, self.skip())
        self.blanks()
        self._expect(b":")
        self.blanks()
        return name

    def skip(self) -> Slice:
        """Return where the value lies that begins here, and go behind it."""
        start, opening = self.at, self._peek()
        if opening == b'"':
            self._skip_string()
        elif opening in {b"{", b"["}:
            self._skip_nested()
        else:
            found = _SCALAR.match(self.raw, start)
            if not found:
                raise NotJson(f"no value at byte {start}")
            self.at = found.end()
        return Slice(start, self.at)

    def blanks(self) -> None:
        """Go behind blanks."""
        found = _BLANKS.match(self.raw, self.at)
        if found:
            self.at = found.end()

    def _array(self, start: int) -> Array:
        items: list[Value] = []
        for _ in self._parts(b"]"):
            item = self.value() if self._peek() == b"{" else self.skip()
            if len(items) <= MAX_ITEMS:
                items.append(item)
        return Array(start, self.at, tuple(items) if len(items) <= MAX_ITEMS else None)

    def _parts(self, closing: bytes) -> Iterator[int]:
        """Yield where each part of an object or array begins, which has been read when the next one is asked for."""
        self.at += 1
        self.blanks()
        if self._peek() == closing:
            self.at += 1
            return
        while True:
            yield self.at
            self.blanks()
            if self._peek() == closing:
                self.at += 1
                return
            self._expect(b",")
            self.blanks()

    def _peek(self) -> bytes:
        if self.at >= len(self.raw):
            raise CutShort("the value is cut short")
        return self.raw[self.at : self.at + 1]

    def _expect(self, mark: bytes) -> None:
        if self._peek() != mark:
            raise NotJson(f"no {mark.decode()} at byte {self.at}")
        self.at += 1

    def _skip_string(self) -> None:
        at = self.at
        # Most texts hold few quotes: looking for the next one is ten times as fast as looking at every escape.
        for _ in range(_QUOTES):
            at = self.raw.find(b'"', at + 1)
            if at < 0:
                raise CutShort("a text is cut short")
            before = at - 1
            while self.raw[before] == 0x5C:
                before -= 1
            if (at - before) % 2:
                self.at = at + 1
                return
        found = _REST_OF_STRING.match(self.raw, at + 1)
        if not found:
            raise CutShort("a text is cut short")
        self.at = found.end()

    def _skip_nested(self) -> None:
        closings = bytearray(b"}" if self._peek() == b"{" else b"]")
        self.at += 1
        while closings:
            found = _LEVEL.match(self.raw, self.at)
            start, self.at = self.at, found.end() if found else self.at
            mark = self._peek()
            if mark not in {b"{", b"}", b"[", b"]"}:  # so many rounds have passed, or a text has no end
                if self.at == start:
                    raise CutShort("a text is cut short")
                continue
            self.at += 1
            if mark in {b"{", b"["}:
                closings += b"}" if mark == b"{" else b"]"
            elif closings.pop() != mark[0]:
                raise NotJson(f"{mark.decode()} closes nothing, at byte {self.at - 1}")


def decode(raw: bytes, value: Value) -> object:
    """Return a value as Python has it, bytes that are no UTF-8 as `surrogateescape` has them. Raises `NotJson` for no JSON."""
    try:
        # Of bytes it would guess the encoding. What is no UTF-8 is read all the same, as by most hosts: one such byte would
        # else let any flood pass.
        return json.loads(raw[value.start : value.end].decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error


def text_of(raw: bytes, value: Value) -> str:
    """Return a text, with halves of UTF-16 pairs as they are. Raises `NotJson` where the value is no text."""
    inner = raw[value.start + 1 : value.end - 1]
    if b"\\" not in inner and inner.isascii():
        return inner.decode("ascii")
    found = decode(raw, value)
    if not isinstance(found, str):
        raise NotJson("no text")
    return found


def is_text(raw: bytes, value: Value | None) -> bool:
    """Return whether a value is a text."""
    return isinstance(value, Slice) and raw[value.start : value.start + 1] == b'"'


def pieces_of(raw: bytes, value: Value) -> Iterator[bytes]:
    """Yield a text as UTF-8 in pieces, so that no second copy of it is in memory; bytes that are no UTF-8 stay what they are.

    Raises:
        NotJson: it is no text.
    """
    at, end = value.start + 1, value.end - 1
    while at < end:
        until = min(end, at + _PIECE_BYTES)
        if until < end:
            until = _whole_characters(raw, at, until)
        piece = text_of(b'"' + raw[at:until] + b'"', Slice(0, until - at + 2))
        yield _encoded(piece, raw[at:until])
        at = until


_ESCAPED_BYTE = re.compile(rb"\xed([\xb2\xb3])([\x80-\xbf])")


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _encoded(text: str, raw: bytes) -> bytes:
    """Return the bytes that a text stands for, which was decoded from others: halves of UTF-16 pairs become three each."""
    with suppress(UnicodeEncodeError):
        return text.encode("utf-8")
    if _is_utf8(raw):
        return text.encode("utf-8", "surrogatepass")
    with suppress(UnicodeEncodeError):
        return text.encode("utf-8", "surrogateescape")
    # Halves that were escapes stand beside bytes that are no UTF-8. From U+DC80 to U+DCFF the two look alike, and both become the
    # byte; all others are told apart.
    halves = text.encode("utf-8", "surrogatepass")
    return _ESCAPED_BYTE.sub(lambda found: bytes([(found[1][0] & 1) << 6 | found[2][0] & 0x3F | 0x80]), halves)


_HIGH_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_LONGEST_ESCAPE = 6


def _whole_characters(raw: bytes, start: int, until: int) -> int:
    """Return the last place not behind `until` at which no escape, no pair and no character of UTF-8 is cut in two."""
    slash = raw.rfind(b"\\", max(start, until - _LONGEST_ESCAPE + 1), until)
    if slash >= 0:
        begins = slash if _begins_escape(raw, start, slash) else slash - 1
        length = _LONGEST_ESCAPE if raw[begins + 1 : begins + 2] == b"u" else 2
        until = begins if begins + length > until else until
    for _ in range(3):  # a character has no more bytes behind its first; what has is no UTF-8, and will be found out
        if raw[until] & 0xC0 == 0x80:
            until -= 1
    # The first half of a pair waits for the second, or both would be kept as halves.
    half = _HIGH_HALF.search(raw, max(start, until - _LONGEST_ESCAPE), until)
    if half and half.start() > start and _begins_escape(raw, start, half.start()):
        until = half.start()
    return until


def _begins_escape(raw: bytes, start: int, slash: int) -> bool:
    """Return whether a backslash begins an escape: in a run of them every second one ends one."""
    first = slash
    while first > start and raw[first - 1] == 0x5C:
        first -= 1
    return (slash - first) % 2 == 0


def items_of(raw: bytes, array: Array) -> Iterator[Value]:
    """Yield the items of an array, also of one whose items are too many to be held: those are read once more, one by one."""
    if array.items is not None:
        yield from array.items
        return
    for at in JsonReader(raw, at=array.start).items():
        yield JsonReader(raw, at=at.start).value() if raw[at.start : at.start + 1] == b"{" else at


def without(members: Sequence[JsonMember], *unwanted: str) -> Iterator[Edit]:
    """Yield what takes the members of some names out of an object, with the commas that they need no more."""
    kept_end, run = None, None  # the end of the last member that stays, the first of those that go
    for member in members:
        if member.name in unwanted:
            run = run or member
        else:
            if run:
                yield Edit(run.at, member.at)
            kept_end, run = member.value.end, None
    if run:
        yield Edit(run.at if kept_end is None else kept_end, members[-1].value.end)
