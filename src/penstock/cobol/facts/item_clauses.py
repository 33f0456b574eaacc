"""What do the clauses of a data description entry say: its name, picture, usage, OCCURS, and what it shows on a screen?

Clauses may come in any order, and their words are reserved. Leaves to others: where an item lies (`layout`), and how large its
picture is (`pictures`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from ..clauses import DATA_CLAUSES, SHOWN_CLAUSES, USAGES
from ..lexing import LITERAL
from ..program import key
from ..words import vocabulary
from .naming import past_qualifiers
from .pictures import bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# A literal with its prefix, or anything between blanks: a picture may contain almost any character.
# In a library of NonStop's, a literal with a hyphen behind it is a part of a name, which REPLACING completes: "*"-CODE.
_PIECE = re.compile(rf"[A-Za-z]{{0,2}}{LITERAL}(?:(?<=[\"'])-[\w-]+)?|[^\s\"']+")
_NAMES = re.compile(r"[^\W\d_][\w-]*+")
_QUOTES = frozenset("'\"")
_ENTRIES = 1 << 13
"""The number of entries whose clauses are cached, some 10 MB."""
_JUSTIFIED = frozenset({"JUST", "JUSTIFIED"})
WAYS: dict[str, tuple[bool, bool]] = {
    "SOURCE": (True, False), "SOURCES": (True, False), "SUM": (True, False),
    "FROM": (True, False), "TO": (False, True), "INTO": (False, True), "OBJECT": (False, True),
    "USING": (True, True), "VALUE": (True, True),
    "(": (True, False), "": (True, False),
}  # fmt: skip
"""For each clause of a report or screen that names items: whether it reads them, and whether it writes input to them.

The clause "(" is a subscript of what another one names, and "" a property of a control: each vendor has properties of its own.
"""
_SOMETIMES = vocabulary("FLOAT DOUBLE VOLATILE")
"""The words of newer standards and some compilers, which are names in other programs."""
_OTHERS = DATA_CLAUSES | vocabulary("NEXT PRESENT RESET UPON ABSENT VARYING")
"""The clauses whose operands are not the properties of a control."""
_OF_ONE = frozenset({"FROM", "TO", "INTO", "OBJECT", "USING", "VALUE", "PIC", "PICTURE", "USAGE"})
"""The clauses with one operand; the following words belong to the control."""

_PLACES = frozenset({"LINE", "COLUMN", "COL"})
_AT = re.compile(r"[+-]?\d|[+-]\Z|(?:NUMBER|PLUS|IS)\Z")

Shared = Literal["", "GLOBAL", "EXTERNAL"]


def shared(words: Sequence[str]) -> Shared:
    """Return whether an entry is EXTERNAL or GLOBAL; EXTERNAL, the wider scope, if it is both."""
    upper = {word.upper() for word in words if word[0] not in "\"'"}
    return "EXTERNAL" if "EXTERNAL" in upper else "GLOBAL" if "GLOBAL" in upper else ""


def pieces(code: str) -> list[str]:
    """Return the words of an entry: literals whole, everything else split at blanks, without the comma or period that ends a word.

    A period within a word is kept, as in the picture `ZZ,ZZ9.99`.
    """
    found = []
    for piece in _PIECE.findall(code):
        if piece[0] not in "\"'" and piece[-1] in ".,;":
            piece = piece.rstrip(",;")  # noqa: PLW2901 — a separator is not part of the word
            piece = piece.removesuffix(".")  # noqa: PLW2901
        if piece:
            found.append(piece)
    return found


class ItemClauses:
    """The clauses of an entry.

    Clauses may come in any order, and their words are reserved: any other word is an operand of the clause before it.
    `_READERS` gives the method that reads the operands of each clause.
    """

    def __init__(self, words: list[str], beginning: frozenset[str]) -> None:
        self.name = "FILLER"
        self.picture: str | None = None
        self.usage: str | None = None
        self.is_table = False
        self.counts: list[str] = []
        """The count of OCCURS, or the minimum and the maximum; each a number, or the name of a level 78."""
        self.depending: str | None = None
        self.indexes: tuple[str, ...] = ()
        self.redefines: str | None = None
        self.renames: tuple[str, str | None] | None = None
        self.value: str | None = None
        self.sign: str | None = None
        self.synchronized = False
        self.shared: Shared = shared(words)
        self._words = words
        self._beginning = beginning
        self._upper = [word.upper() for word in words]
        self.is_of_any_length = "DYNAMIC" in self._upper or ("ANY" in self._upper and "LENGTH" in self._upper)
        self.is_justified = not _JUSTIFIED.isdisjoint(self._upper)
        self._at = 1
        # A literal on a screen of RM/COBOL, which needs no VALUE; not a name that begins with one.
        if words[1:] and words[1][0] in _QUOTES and words[1][-1] in _QUOTES:
            self.value = words[1]
        elif len(words) > 1 and (not self._is_clause(1) or _is_name(self._upper)):
            name = self._next() or self.name
            self.name = name if name.upper() != "FILLER" else "FILLER"
        self._behind_name = self._at
        while self._at < len(words):
            word = self._upper[self._at]
            self._at += 1
            if word in _READERS:
                _READERS[word](self)
            elif word in USAGES:
                self.usage = USAGES[word]
        self.key = key(self.name)

    def size_bytes(self, usage: str, sign: str) -> int | None:
        """Return the size of one occurrence, None if it is not known; 0 for a group, whose items make it.

        Args:
            usage: Its USAGE, perhaps that of the group around it; the same for SIGN.
            sign: Its SIGN, "" for none.
        """
        if self.is_of_any_length:
            return None
        return 0 if self.picture is None else bytes_of(self.picture, usage, sign_apart="SEPARATE" in sign)

    def shown(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the names after SOURCE, SUM, FROM, TO, USING and VALUE, each with that word, and with "" every other word that may
        be an item: the property of a control, or one of its styles, which no item is called.
        """
        at, clause = self._behind_name, ""
        depth = 0
        of: str | None = (
            None  # the clause of names in parentheses behind the last word; None if those are of a picture, say
        )
        while at < len(self._words):
            word = self._upper[at]
            at += 1
            if depth == 0 and self._is_clause(at - 1) and word != "IS":
                clause, of = word if word in WAYS or word in _OTHERS else "", None
            elif depth == 0 and word not in {"IS", "ARE", "="}:
                if clause in WAYS and word[0].isalpha():
                    end = past_qualifiers(self._upper, at)
                    yield clause, tuple(name.partition("(")[0] for name in self._words[at - 1 : end : 2])
                    at = end
                    of = "(" if clause else ""
                elif word[0] != "(":
                    of = None
                if clause in _OF_ONE:
                    clause = ""
            if of is not None and _QUOTES.isdisjoint(word):
                for name in _NAMES.findall(word if depth else word.partition("(")[2]):
                    yield of, (name,)
            depth = max(0, depth + word.count("(") - word.count(")"))

    def picture_is(self) -> None:
        """Read a PICTURE: one word, whatever it contains."""
        self._skip("IS")
        self.picture = self._next()

    def value_is(self) -> None:
        """Read a VALUE up to the next clause; in a report or screen it is one name or literal, or several literals, as in
        `""27"B"10""`, where numbers stand for characters.
        """
        self._skip("IS", "ARE", "=")
        start = self._at
        self._at += 1 + (
            self._upper[start : start + 1] == ["ALL"]
        )  # a figurative constant or literal, even if it looks like a clause
        end = self._past_literals() if self._beginning is SHOWN_CLAUSES else self._past_names()
        self.value = " ".join(self._words[start:end]) or None

    def occurs_times(self) -> None:
        """Read an OCCURS: one count, or the minimum and the maximum."""
        self.is_table = True
        self.counts = []
        while self._at < len(self._words) and (not self.counts or self._upper[self._at] == "TO"):
            self._skip("TO")
            self.counts.append(self._next() or "")

    def depending_on(self) -> None:
        """Read the item of DEPENDING ON with its qualifiers."""
        self._skip("ON")
        start = self._at
        self._at = past_qualifiers(self._upper, start + 1)
        self.depending = " ".join(self._words[start : self._at]) or None

    def indexed_by(self) -> None:
        """Read the names of INDEXED BY."""
        self._skip("BY")
        start = self._at
        names = self._words[start : self._past_names()]
        self.indexes = tuple(name for word in names for name in word.split(",") if name)

    def redefines_it(self) -> None:
        """Read the subject of a REDEFINES."""
        self.redefines = self._next()

    def renames_it(self) -> None:
        """Read the first and the last item of a RENAMES."""
        first = self._next()
        last = None
        if self._at < len(self._words) and self._upper[self._at] in {"THRU", "THROUGH"}:
            self._at += 1
            last = self._next()
        self.renames = (first, last) if first else None

    def sign_is(self) -> None:
        """Read SIGN LEADING or TRAILING, with SEPARATE."""
        side = self._upper[self._at - 1]
        apart = "SEPARATE" in self._upper[self._at : self._at + 1]
        self.sign = side + " SEPARATE" * apart

    def synchronized_it(self) -> None:
        """Read SYNCHRONIZED."""
        self.synchronized = True

    def object_reference(self) -> None:
        """Read OBJECT REFERENCE, which is stored as a pointer; on a screen, OBJECT alone names what the input goes to."""
        if self._upper[self._at : self._at + 1] == ["REFERENCE"]:
            self.usage = "POINTER"

    def _next(self) -> str | None:
        """Return the next word and advance past it; None at the end."""
        self._at += 1
        return self._words[self._at - 1] if self._at <= len(self._words) else None

    def _skip(self, *words: str) -> None:
        """Skip any of these words."""
        while self._at < len(self._words) and self._upper[self._at] in words:
            self._at += 1

    def _is_clause(self, at: int) -> bool:
        """Return whether a word begins a clause, or is a usage, which may come without USAGE."""
        return self._upper[at] in self._beginning or self._upper[at] in USAGES

    def _past_literals(self) -> int:
        """Advance behind literals and return the index of what follows."""
        while self._at < len(self._words) and (self._words[self._at][-1] in _QUOTES or self._words[self._at].isdigit()):
            self._at += 1
        return self._at

    def _past_names(self) -> int:
        """Advance to the next clause and return its index."""
        while self._at < len(self._words) and not self._is_clause(self._at):
            self._at += 1
        return self._at


def _is_name(words: Sequence[str]) -> bool:
    """Return whether the word behind a level is a name, although some compilers have a clause or a usage of it.

    A level 77 always has a name, and a number in floating point no PICTURE.
    """
    return words[1] in _SOMETIMES and (
        words[0] == "77" or (words[1] != "VOLATILE" and words[2:3] in (["PIC"], ["PICTURE"]))
    )


def is_placed(code: str) -> bool:
    """Return whether an entry says where it is on a screen or in a report: `LINE 3`, `COLUMN NUMBER IS 10`, `COL + 2`."""
    words = [word.upper() for word in pieces(code)]
    return any(word in _PLACES and (_AT.match(at) is not None) for word, at in pairwise(words[1:]))


@lru_cache(_ENTRIES)
def clauses_of(code: str, is_shown: bool) -> ItemClauses:
    """Return the clauses of an entry, cached because half the entries of an estate repeat another one."""
    return ItemClauses(pieces(code), SHOWN_CLAUSES if is_shown else DATA_CLAUSES)


_READERS: dict[str, Callable[[ItemClauses], None]] = {
    "PIC": ItemClauses.picture_is,
    "PICTURE": ItemClauses.picture_is,
    "VALUE": ItemClauses.value_is,
    "VALUES": ItemClauses.value_is,
    "OCCURS": ItemClauses.occurs_times,
    "DEPENDING": ItemClauses.depending_on,
    "INDEXED": ItemClauses.indexed_by,
    "REDEFINES": ItemClauses.redefines_it,
    "RENAMES": ItemClauses.renames_it,
    "LEADING": ItemClauses.sign_is,
    "TRAILING": ItemClauses.sign_is,
    "SYNC": ItemClauses.synchronized_it,
    "SYNCHRONIZED": ItemClauses.synchronized_it,
    "SYNCHRONISED": ItemClauses.synchronized_it,
    "OBJECT": ItemClauses.object_reference,
}
