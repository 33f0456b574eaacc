"""What does JOINING make of the names in a copybook?

`COPY CUSTOMER OF LIB JOINING OLD AS PREFIX` of NetCOBOL makes OLD-NUMBER of each NUMBER that CUSTOMER declares; DISJOINING takes a
word away before. Only names that the copybook declares change, wherever they are in it; a picture is no name, and what it copies
keeps its own.

Leaves to others: how the result is read (`splicing`). Law: the code keeps its lines, one for one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .lexing import LITERAL, WIDE
from .program import Joining, key

if TYPE_CHECKING:
    from .source import ScannedSource

_PARTS = re.compile(
    rf"{LITERAL}|COPY\s++\S++|PIC(?:TURE)?\s++(?:IS\s++)?\S++|(?P<word>[\w#@${WIDE}-]++)", re.IGNORECASE
)
_WIDE_HYPHEN = "\uff0d"
"""The hyphen in names that are written in Japanese."""


def joining_in(statement: re.Match[str]) -> Joining | None:
    """Return what the JOINING of a COPY says, with its words in capitals; None if it has none."""
    word = statement["joined"]
    return Joining(word, statement["side"] == "SUFFIX", statement["disjoined"] or "") if word else None


def joined(book: ScannedSource, joining: Joining) -> str:
    """Return the code of a copybook with the names that it declares joined."""
    entries = (entry for program in book.programs for entry in program.entries if entry.level is not None)
    names = {key(entry.name) for entry in entries} - {"FILLER"}

    def renamed(part: re.Match[str]) -> str:
        word: str = part[0]
        return _renamed(word, joining) if part["word"] is not None and key(word) in names else word

    return _PARTS.sub(renamed, book.code)


def _renamed(name: str, joining: Joining) -> str:
    """Return the name that a declared one has after DISJOINING and JOINING."""
    word, is_suffix, disjoined = joining
    for hyphen in ("-", _WIDE_HYPHEN) if disjoined else ():
        if is_suffix and key(name).endswith(hyphen + disjoined):
            name = name[: -len(hyphen + disjoined)]
        elif not is_suffix and key(name).startswith(disjoined + hyphen):
            name = name[len(disjoined + hyphen) :]
    hyphen = "-" if word.isascii() else _WIDE_HYPHEN
    return f"{name}{hyphen}{word}" if is_suffix else f"{word}{hyphen}{name}"
