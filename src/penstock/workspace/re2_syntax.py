r"""What does a pattern in RE2's syntax mean to Python's `re`? A translation for machines without google-re2.

This file, not `re`, decides what a pattern means: classes, dots, anchors, case and flags are written out, so that a pattern means
the same on every machine. Law: for a pattern that both engines accept, `re` finds in UTF-8 text what RE2 finds; what RE2 refuses is
refused with RE2's words. Leaves to others: who runs the pattern, and for how long (`re_child`).

The differences that remain: `\C` and scripts (`\p{Greek}`) are refused; Unicode classes follow the tables of this Python; RE2 also
finds `\B` between the bytes of one character, and takes surrogates and overlong forms of UTF-8 for characters.

How: one pass over the pattern. Every open group is a list of parts that are complete expressions of `re`; the last part, if a
repetition may follow it, is the operand. A repetition wraps its operand in `(?:…)`, so that its neighbours stay outside. Captures
are not needed, so every group becomes `(?:…)`. Flags are not passed on: `(?i)` writes both cases out, `(?s)` a different class for
the dot, `(?U)` inverts laziness, `(?m)` chooses between `^` and `\A`.

Source: RE2's parse.cc and https://github.com/google/re2/wiki/Syntax.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_REPEAT = 1000
"""The upper limit of one repetition, and of nested ones multiplied, as in RE2: `(a{100}){100}` is refused."""
_MAX_DEPTH = 100  # of groups: `re` compiles them recursively
_LAST = 0x10FFFF
_NEWLINE = 0x0A

Ranges = list[tuple[int, int]]
"""Code points, as sorted inclusive ranges that do not touch."""

_DIGIT: Ranges = [(0x30, 0x39)]
_WORD: Ranges = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]
_PERL: dict[str, Ranges] = {"d": _DIGIT, "s": [(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)], "w": _WORD}
_POSIX: dict[str, Ranges] = {
    "alnum": [(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
    "alpha": [(0x41, 0x5A), (0x61, 0x7A)],
    "ascii": [(0x00, 0x7F)],
    "blank": [(0x09, 0x09), (0x20, 0x20)],
    "cntrl": [(0x00, 0x1F), (0x7F, 0x7F)],
    "digit": _DIGIT,
    "graph": [(0x21, 0x7E)],
    "lower": [(0x61, 0x7A)],
    "print": [(0x20, 0x7E)],
    "punct": [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
    "space": [(0x09, 0x0D), (0x20, 0x20)],
    "upper": [(0x41, 0x5A)],
    "word": _WORD,
    "xdigit": [(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
}
_SIMPLE = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_REPEAT = re.compile(r"\{(0|[1-9][0-9]{0,7})(?:(,)(0|[1-9][0-9]{0,7})?)?\}")
_GROUP_NAME = re.compile(r"\(\?P?<([^>]*)>")
_UNICODE = re.compile(r"\\[pP](?:\{(\^?)([^}]*)\}|(.))", re.DOTALL)
_HEX = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
_NOTHING = "(?!)"


class UnreadablePattern(Exception):
    """A pattern that RE2 refuses; the text is RE2's."""


class NotHere(Exception):
    """A pattern that RE2 accepts and this translation does not; the text names the unsupported part."""


class _Flags(NamedTuple):
    """`i`, `m`, `s` and `U`, which are in force from where they are set to the end of the group."""

    fold: bool = False
    multi_line: bool = False
    dot_newline: bool = False
    lazy: bool = False


class _Group:
    """An open group: its text so far, and where its last operand begins."""

    __slots__ = ("flags", "operand", "parts", "product", "total")

    def __init__(self, flags: _Flags) -> None:
        self.flags = flags  # what is in force again after the group
        self.parts: list[str] = []
        self.operand = -1  # the part that a repetition would repeat; -1: none
        self.product = 1  # of the repetitions within that part
        self.total = 1  # the largest product of all parts


def translate(pattern: str, *, never_newline: bool = False) -> str:
    """Return the expression that means in `re`, over text and with `re.ASCII | re.MULTILINE`, what `pattern` means in RE2.

    `never_newline` is RE2's option `never_nl`: nothing matches a line feed. Raises `UnreadablePattern` and `NotHere`.
    """
    return _Translation(pattern, never_newline).result()


class _Translation:
    """The translation of one pattern from RE2's syntax to that of `re`."""

    def __init__(self, pattern: str, never_newline: bool) -> None:
        self._pattern = pattern
        self._never_newline = never_newline
        self._at = 0
        self._flags = _Flags()
        self._groups = [_Group(self._flags)]
        self._unary = -1  # where the directly preceding repetition begins

    def result(self) -> str:
        """Return the whole pattern in the syntax of `re`."""
        pattern = self._pattern
        while self._at < len(pattern):
            # Set only for the sign that directly follows a repetition: `a**` is an error in RE2, `a*b*` is not.
            unary, self._unary = self._unary, -1
            character = pattern[self._at]
            if character == "(":
                self._open()
            elif character == "|":
                self._groups[-1].parts.append("|")
                self._groups[-1].operand = -1
                self._at += 1
            elif character == ")":
                self._close()
            elif character in "^$.":
                self._add(self._sign(character), 1)
            elif character == "[":
                self._add(self._class())
            elif character in "*+?":
                self._repeat(character, unary, 1)
            elif character == "{" and (match := _REPEAT.match(pattern, self._at)):
                self._repeat(match[0], unary, len(match[0]))
            elif character == "\\":
                self._escape()
            else:
                self._add(self._literal(ord(character)), 1)
        if len(self._groups) > 1:
            raise UnreadablePattern(f"missing ): {pattern}")
        return "".join(self._groups[0].parts)

    # ── operands ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, part: str, width: int = 0, product: int = 1) -> None:
        """Add one more operand; `width` is how much of the pattern it took, if that has not been consumed yet."""
        group = self._groups[-1]
        group.operand = len(group.parts)
        group.product = product
        group.total = max(group.total, product)
        group.parts.append(part)
        self._at += width

    def _literal(self, code: int) -> str:
        """Return the expression for one character, with its other cases if the flag is set."""
        # `never_nl` makes a literal line feed match nothing, and leaves the pattern valid.
        if code == _NEWLINE and self._never_newline:
            return _NOTHING
        if not self._flags.fold:
            return _character(code)
        same = _orbit(code)
        return _character(code) if len(same) == 1 else self._set([(one, one) for one in same])

    def _sign(self, character: str) -> str:
        """Return the expression for `^`, `$` or `.` under the flags in force."""
        if character == ".":
            return self._set([(0, _LAST)] if self._flags.dot_newline else _negated([(_NEWLINE, _NEWLINE)]))
        if self._flags.multi_line:
            return character
        # `$` without `(?m)` is the very end in RE2, while in `re` it also matches before a final line feed; `\Z` of `re` does not.
        return r"\A" if character == "^" else r"\Z"

    def _set(self, ranges: Iterable[tuple[int, int]]) -> str:
        """Return a class of `re`. Bytes that are not UTF-8 are lone surrogates in the text, and no class matches them."""
        ranges = _without(_united(ranges), 0xD800, 0xDFFF)
        if self._never_newline:
            ranges = _without(ranges, _NEWLINE, _NEWLINE)
        if not ranges:
            return _NOTHING
        return "[" + "".join(_character(a) if a == b else f"{_character(a)}-{_character(b)}" for a, b in ranges) + "]"

    def _escape(self) -> None:
        """Translate an escape sequence."""
        pattern, at = self._pattern, self._at
        following = pattern[at + 1 : at + 2]
        if following == "Q":
            end = pattern.find(r"\E", at + 2)
            quoted = pattern[at + 2 :] if end < 0 else pattern[at + 2 : end]
            self._at = len(pattern) if end < 0 else end + 2
            for character in quoted:
                self._add(self._literal(ord(character)))
        elif following == "b":
            self._add(r"\b", 2)
        elif following == "B":  # `\B` of Pythons before 3.14 does not match empty text
            self._add(r"(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))", 2)
        elif following == "A":
            self._add(r"\A", 2)
        elif following == "z":
            self._add(r"\Z", 2)
        elif following == "C":
            raise NotHere(r"\C, a single byte")
        elif (ranges := self._shorthand()) is not None:
            self._add(self._set(ranges))
        else:
            code = self._escaped()
            self._add(self._literal(code))

    def _shorthand(self) -> Ranges | None:
        r"""Return the class for `\d`, `\W`, `\pL`, `\P{Lu}` and the like, and consume it; None if it is not a class."""
        pattern, at = self._pattern, self._at
        following = pattern[at + 1 : at + 2]
        if following.lower() in _PERL and following:
            self._at += 2
            ranges = self._folded(_PERL[following.lower()])
            return _negated(ranges) if following.isupper() else ranges
        if following not in {"p", "P"}:
            return None
        match = _UNICODE.match(pattern, at)
        if match is None:
            raise UnreadablePattern(f"invalid character class range: {pattern[at:]}")
        self._at = match.end()
        ranges = self._folded(_category(match[2] if match[2] is not None else match[3], match[0]))
        return _negated(ranges) if (following == "P") != bool(match[1]) else ranges

    def _escaped(self) -> int:
        """Return the character that an escape stands for, and consume it."""
        pattern, at = self._pattern, self._at + 1
        if at == len(pattern):
            raise UnreadablePattern("trailing \\")
        character = pattern[at]
        if character in _SIMPLE:
            self._at = at + 1
            return _SIMPLE[character]
        if character == "x" and (match := _HEX.match(pattern, at + 1)):
            code = int(match[1] or match[2], 16)
            if code <= _LAST:
                self._at = match.end()
                return code
        elif match := _OCTAL.match(pattern, at):
            self._at = match.end()
            return int(match[0], 8)
        elif character.isascii() and not character.isalnum():
            self._at = at + 1
            return ord(character)
        end = at + 1
        if character == "x":  # RE2 shows as much as it has read
            end = min(len(pattern), at + 3)
        raise UnreadablePattern(f"invalid escape sequence: {pattern[at - 1 : end]}")

    # ── classes ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _class(self) -> str:
        """Return the class that begins here, negated and folded as RE2 does: case first, then the negation."""
        pattern, begin = self._pattern, self._at
        self._at += 1
        negated = pattern[self._at : self._at + 1] == "^"
        self._at += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while self._at < len(pattern) and (first or pattern[self._at] != "]"):
            first = False
            named = self._named() if pattern.startswith("[:", self._at) else None
            if named is None and pattern[self._at] == "\\":
                named = self._shorthand()
            if named is not None:
                ranges += named
                continue
            begin_range = self._at
            low = high = self._member(begin)
            if pattern.startswith("-", self._at) and pattern[self._at + 1 : self._at + 2] not in {"]", ""}:
                self._at += 1
                high = self._member(begin)
                if high < low:
                    raise UnreadablePattern(f"invalid character class range: {pattern[begin_range : self._at]}")
            ranges += self._folded([(low, high)])
        if self._at >= len(pattern):
            raise UnreadablePattern(f"missing ]: {pattern[begin:]}")
        self._at += 1
        united = _united(ranges)
        return self._set(_negated(united) if negated else united)

    def _member(self, begin: int) -> int:
        """Return one character of a class that begins at `begin`, and consume it."""
        if self._at >= len(self._pattern):
            raise UnreadablePattern(f"missing ]: {self._pattern[begin:]}")
        if self._pattern[self._at] == "\\":
            return self._escaped()
        self._at += 1
        return ord(self._pattern[self._at - 1])

    def _named(self) -> Ranges | None:
        """Return the class that `[:alpha:]` or `[:^alpha:]` stands for; None if the bracket is an ordinary member."""
        end = self._pattern.find(":]", self._at + 2)
        if end < 0:
            return None
        name = self._pattern[self._at + 2 : end]
        ranges = _POSIX.get(name.removeprefix("^"))
        if ranges is None:
            raise UnreadablePattern(f"invalid character class range: {self._pattern[self._at : end + 2]}")
        self._at = end + 2
        ranges = self._folded(ranges)
        return _negated(ranges) if name.startswith("^") else ranges

    def _folded(self, ranges: Ranges) -> Ranges:
        """Return ranges with the other cases of their characters, if the flag is set."""
        if not self._flags.fold:
            return ranges
        more = list(ranges)
        for low, high in ranges:
            # ASCII is looked up by character, larger ranges in the table of everything that has a case: the range of all code
            # points would take a million look-ups.
            if high < 0x80:
                more += [(same, same) for code in range(low, high + 1) for same in _orbit(code)]
            else:
                more += [(same, same) for code, orbit in _orbits().items() if low <= code <= high for same in orbit]
        return _united(more)

    # ── repetitions and groups ───────────────────────────────────────────────────────────────────────────────────

    def _repeat(self, sign: str, unary: int, width: int) -> None:
        """Wrap the last operand in a repetition; its size is bounded, also when nested."""
        pattern, group = self._pattern, self._groups[-1]
        begin = self._at
        self._at += width
        is_lazy = pattern.startswith("?", self._at)
        self._at += is_lazy
        whole = pattern[begin : self._at]
        # RE2 refuses `a**`; so would `re`, in other words.
        if unary >= 0:
            raise UnreadablePattern(f"bad repetition operator: {pattern[unary : self._at]}")
        if group.operand < 0:
            raise UnreadablePattern(f"no argument for repetition operator: {whole}")
        product = group.product
        if (match := _REPEAT.match(sign)) is not None:
            low = int(match[1])
            high = low if match[2] is None else int(match[3]) if match[3] else -1
            if max(low, high) > MAX_REPEAT or -1 < high < low:
                raise UnreadablePattern(f"invalid repetition size: {whole}")
            product *= max(1, low if high < 0 else high)
            if product > MAX_REPEAT:
                raise UnreadablePattern(f"invalid repetition size: {whole}")
        lazy = "?" if is_lazy != self._flags.lazy else ""
        # `a{2}{3}` cannot occur here, but `(?:a{2}){3}` can: RE2 bounds the product.
        operand = "".join(group.parts[group.operand :])
        del group.parts[group.operand :]
        self._add(f"(?:{operand}){sign}{lazy}", product=product)
        self._unary = begin

    def _open(self) -> None:
        """Begin a group; a name is checked and dropped."""
        pattern, at, outer = self._pattern, self._at, self._flags
        if not pattern.startswith("(?", at):
            self._at += 1
        elif pattern.startswith(("(?<=", "(?<!"), at):
            raise UnreadablePattern(f"invalid perl operator: {pattern[at : at + 4]}")
        elif pattern.startswith(("(?P<", "(?<"), at):
            match = _GROUP_NAME.match(pattern, at)
            if match is None:
                raise UnreadablePattern(f"invalid named capture group: {pattern[at:]}")
            name = match[1]
            if not name.replace("_", "a").isalnum():
                raise UnreadablePattern(f"invalid named capture group: {match[0]}")
            self._at = match.end()
        elif not self._flags_set():
            return
        # A pattern is at most 1,024 bytes, so it may contain 500 groups: `re` would need as many Python frames.
        if len(self._groups) > _MAX_DEPTH:
            raise NotHere(f"more than {_MAX_DEPTH} groups within each other")
        self._groups.append(_Group(outer))

    def _flags_set(self) -> bool:
        """Set the flags of `(?i)` or `(?i-s:`, consume them, and return whether a group begins."""
        pattern, begin = self._pattern, self._at
        at, value, is_set = begin + 2, True, False
        flags = self._flags
        while at < len(pattern):
            character = pattern[at]
            at += 1
            if character in "imsU":
                name = {"i": "fold", "m": "multi_line", "s": "dot_newline", "U": "lazy"}[character]
                flags, is_set = flags._replace(**{name: value}), True
            elif character == "-" and value:
                value, is_set = False, False
            elif character in ":)" and (value or is_set):
                self._at, self._flags = at, flags
                return character == ":"
            else:
                break
        raise UnreadablePattern(f"invalid perl operator: {pattern[begin:at]}")

    def _close(self) -> None:
        """End a group: it becomes the last operand of the enclosing one, whose flags are in force again."""
        if len(self._groups) == 1:
            raise UnreadablePattern(f"unexpected ): {self._pattern}")
        inner = self._groups.pop()
        # The flags that were in force where the group began.
        self._flags = inner.flags
        self._add(f"(?:{''.join(inner.parts)})", 1, inner.total)


# ── sets of code points ──────────────────────────────────────────────────────────────────────────────────────────


def _character(code: int) -> str:
    """Return a code point as `re` takes it, inside a class or outside."""
    character = chr(code)
    if character.isascii() and character.isalnum():
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _united(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return ranges sorted, and merged where they touch."""
    united: Ranges = []
    for low, high in sorted(ranges):
        if united and low <= united[-1][1] + 1:
            united[-1] = (united[-1][0], max(united[-1][1], high))
        else:
            united.append((low, high))
    return united


def _negated(ranges: Ranges) -> Ranges:
    """Return all code points that are in none of the ranges."""
    missing, at = [], 0
    for low, high in ranges:
        if at < low:
            missing.append((at, low - 1))
        at = high + 1
    return [*missing, (at, _LAST)] if at <= _LAST else missing


def _without(ranges: Ranges, first: int, last: int) -> Ranges:
    """Return ranges without the code points from `first` to `last`."""
    kept: Ranges = []
    for low, high in ranges:
        kept += [(low, min(high, first - 1))] if low < first else []
        kept += [(max(low, last + 1), high)] if high > last else []
    return kept


def _orbit(code: int) -> frozenset[int]:
    """Return the characters that differ only in case, by Unicode's simple folding, as in RE2."""
    if code < 0x80:  # the table is for the others: two ASCII letters have a third form
        character = chr(code).lower()
        more = {"k": {0x212A}, "s": {0x17F}}.get(character, set())
        return frozenset({ord(character), ord(character.upper())} | more)
    return _orbits().get(code, frozenset({code}))


@cache
def _orbits() -> dict[int, frozenset[int]]:
    """Return every character that has another in the same orbit, with its orbit."""
    groups: dict[str, set[int]] = {}
    for code in range(0x20000):  # no letter beyond has a case
        character = chr(code)
        for folded in (character.casefold(), character.lower()):  # the second if full folding gives several characters
            if len(folded) == 1:
                groups.setdefault(folded, set()).add(code)
                break
    return {code: frozenset(group) for group in groups.values() if len(group) > 1 for code in group}


@cache
def _category(name: str, shown: str) -> Ranges:
    """Return a general category, `L` or `Lu`, without unassigned code points, as in RE2."""
    if name == "Any":
        return [(0, _LAST)]
    if not re.fullmatch("[CLMNPSZ][a-z]?", name) or name == "Cn":
        raise NotHere(f"{shown}: scripts are known to google-re2 only")
    # All of Unicode is scanned, once per process for each category that a pattern names.
    codes = (
        code
        for code in range(_LAST + 1)
        if (category := unicodedata.category(chr(code))).startswith(name) and category != "Cn"
    )
    ranges: Ranges = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    if not ranges:
        raise UnreadablePattern(f"invalid character class range: {shown}")
    return ranges
