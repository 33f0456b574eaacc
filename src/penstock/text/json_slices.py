r"""How are values found within JSON bytes, so that changes are spliced in and everything else stays as written?

Numbers, escapes, white space, name order and duplicate names are somebody else's: no value is read and written again. Law: slices
and splices leave every byte outside of them alone. Only as much is parsed as is needed to know where a value ends, so invalid JSON
may pass; decoding a slice reveals it. Leaves to others: what the values mean.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_ITEMS = 10_000
"""For an array with more items only the extent is reported: each listed item takes a hundred times the memory of its bytes."""
_PIECE_BYTES = 1 << 20
_QUOTES = 16

# Possessive repeats (`*+`) and atomic groups (`(?>…)`) never backtrack: time stays linear. A repeat in an atomic group keeps 150
# bytes a round until it has ended, so it is bounded; a possessive one keeps nothing, and must not hold alternatives (CPython
# gh-106052).
_ROUNDS = 10_000
# From quote to quote, which is several times as fast as escape by escape: one after a single backslash goes on, one after none is
# the end. A text with more backslashes before a quote, or with more quotes than that, is read by its escapes.
_STRING = rb'"(?>[^"]*+(?>(?:(?<=[^\\]\\)"[^"]*+){0,%d})(?<!\\)"' % _ROUNDS + rb'|[^"\\]*+(?:\\.[^"\\]*+)*+")'


def _nested(levels: int) -> bytes:
    """Return a pattern for anything between brackets that is nested at most `levels` deep."""
    inner = _nested(levels - 1) if levels else b""
    deeper = rb"|\{" + inner + rb"\}|\[" + inner + rb"\]" if levels else b""
    return rb'(?>(?:[^"\[\]{}]++|' + _STRING + deeper + rb"){0,%d})" % _ROUNDS


# Up to the next bracket that opens or closes something nested deeper than that, or with more parts: rows of rows, which most data
# consists of, are skipped here with few steps in Python. What turns out to be deeper or longer is examined again for each level.
_LEVEL = re.compile(_nested(3), re.DOTALL)
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_REST_OF_STRING = re.compile(_STRING[1:], re.DOTALL)
_SCALAR = re.compile(rb"[-+.\w]++")


class NotJson(ValueError):
    """What should be JSON is not."""


class CutShort(NotJson):
    """What should be JSON ends within a value: more of it may come."""


class Slice(NamedTuple):
    """Where a value is: its first byte, and the one after its last."""

    start: int
    end: int


class JsonMember(NamedTuple):
    """A name and its value in an object."""

    name: str
    at: int
    """Where the name begins."""
    value: Value


class Object(NamedTuple):
    """An object with its members in their original order."""

    start: int
    end: int
    members: tuple[JsonMember, ...]

    def get(self, name: str) -> Value | None:
        """Return the value of a name, None if it is missing; of a duplicate name the last, as readers do."""
        return next((member.value for member in reversed(self.members) if member.name == name), None)


class Array(NamedTuple):
    """An array; `items` is None if there are more than `MAX_ITEMS`."""

    start: int
    end: int
    items: tuple[Value, ...] | None


Value = Slice | Object | Array
"""A value: either with its contents, or only its extent."""


class Edit(NamedTuple):
    """Bytes that replace others."""

    start: int
    end: int
    new: bytes = b""


def splice(raw: bytes, edits: Iterable[Edit]) -> bytes:
    """Return bytes with non-overlapping edits applied; everything else unchanged."""
    parts, at = [], 0
    for edit in sorted(edits):
        parts += [raw[at : edit.start], edit.new]
        at = edit.end
    return b"".join([*parts, raw[at:]])


def read(raw: bytes, into: frozenset[str]) -> Value:
    """Return the single value that some bytes hold.

    Args:
        raw: JSON with blanks around it.
        into: the names of members whose contents are read; of others only the extent is reported.

    Raises:
        NotJson: there is no such value, or something follows it.
    """
    reader = JsonReader(raw, into)
    reader.blanks()
    try:
        value = reader.value()
    except RecursionError:
        raise NotJson("nested too deep") from None
    reader.blanks()
    if reader.at != len(raw):
        raise NotJson(f"something follows the value, at byte {reader.at}")
    return value


class JsonReader:
    """Goes through JSON once, from its beginning; `at` is the next byte."""

    def __init__(self, raw: bytes, into: frozenset[str] = frozenset(), at: int = 0) -> None:
        self.raw = raw
        self.at = at
        self._into = into

    def value(self) -> Value:
        """Return the value that begins here, and move past it."""
        start = self.at
        opening = self._peek()
        if opening == b"{":
            members = tuple(self.members())
            return Object(start, self.at, members)
        if opening == b"[":
            return self._array(start)
        return self.skip()

    def members(self) -> Iterator[JsonMember]:
        """Yield the members of the object that begins here, each once it has been read; after the last, `at` is past the object."""
        for at in self._parts(b"}"):
            name = self.name()
            value = self.value() if name in self._into else self.skip()
            yield JsonMember(name, at, value)

    def items(self) -> Iterator[Slice]:
        """Yield the extent of each item of the array that begins here; after the last, `at` is past the array."""
        for _ in self._parts(b"]"):
            yield self.skip()

    def name(self) -> str:
        """Return the name that begins here, and move to its value."""
        if self._peek() != b'"':
            raise NotJson(f"no name at byte {self.at}")
        name = text_of(self.raw, self.skip())
        self.blanks()
        self._expect(b":")
        self.blanks()
        return name

    def skip(self) -> Slice:
        """Return the extent of the value that begins here, and move past it."""
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
        """Move past blanks."""
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
        """Yield the beginning of each part of an object or array, which must have been read when the next one is requested."""
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
        # Most texts hold few quotes: searching for the next one is ten times as fast as examining every escape.
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
            if mark not in {b"{", b"}", b"[", b"]"}:  # that many rounds have passed, or a text has no end
                if self.at == start:
                    raise CutShort("a text is cut short")
                continue
            self.at += 1
            if mark in {b"{", b"["}:
                closings += b"}" if mark == b"{" else b"]"
            elif closings.pop() != mark[0]:
                raise NotJson(f"{mark.decode()} closes nothing, at byte {self.at - 1}")


def decode(raw: bytes, value: Value) -> object:
    """Return a value as Python has it, invalid UTF-8 bytes as with `surrogateescape`. Raises `NotJson` for anything but JSON."""
    try:
        # Given bytes, it would guess the encoding. Invalid UTF-8 is read all the same, as by most hosts: otherwise one such byte
        # would let any flood pass.
        return json.loads(raw[value.start : value.end].decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error


def text_of(raw: bytes, value: Value) -> str:
    """Return a text, with halves of UTF-16 pairs unchanged. Raises `NotJson` if the value is not a text."""
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
    """Yield a text as UTF-8 in pieces, so that there is no second copy in memory; invalid UTF-8 bytes stay unchanged.

    Raises:
        NotJson: it is not a text.
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
    """Return the bytes of a text that was decoded from others: halves of UTF-16 pairs become three each."""
    with suppress(UnicodeEncodeError):
        return text.encode("utf-8")
    if _is_utf8(raw):
        return text.encode("utf-8", "surrogatepass")
    with suppress(UnicodeEncodeError):
        return text.encode("utf-8", "surrogateescape")
    # Halves that were escapes occur together with invalid UTF-8 bytes. From U+DC80 to U+DCFF the two look alike, and both become
    # the byte; all others can be told apart.
    halves = text.encode("utf-8", "surrogatepass")
    return _ESCAPED_BYTE.sub(lambda found: bytes([(found[1][0] & 1) << 6 | found[2][0] & 0x3F | 0x80]), halves)


_HIGH_HALF = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_LONGEST_ESCAPE = 6


def _whole_characters(raw: bytes, start: int, until: int) -> int:
    """Return the last place up to `until` at which no escape, no pair and no UTF-8 character is cut in two."""
    slash = raw.rfind(b"\\", max(start, until - _LONGEST_ESCAPE + 1), until)
    if slash >= 0:
        begins = slash if _begins_escape(raw, start, slash) else slash - 1
        length = _LONGEST_ESCAPE if raw[begins + 1 : begins + 2] == b"u" else 2
        until = begins if begins + length > until else until
    for _ in range(3):  # a character has at most three bytes after its first; longer runs are not UTF-8
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
    """Yield the items of an array, even if they are too many to be held: those are read once more, one by one."""
    if array.items is not None:
        yield from array.items
        return
    for at in JsonReader(raw, at=array.start).items():
        yield JsonReader(raw, at=at.start).value() if raw[at.start : at.start + 1] == b"{" else at


def without(members: Sequence[JsonMember], *unwanted: str) -> Iterator[Edit]:
    """Yield the edits that remove members with some names from an object, along with commas that are no longer needed."""
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
