"""Which statements does a vocabulary add to a source: the call prototypes before a program of Micro Focus' dialect?

`PROGRAM-ID. SETFOCUS IS EXTERNAL.` with `PROCEDURE DIVISION USING OBJ INVOKED AS ==SET-FOCUS <OBJ>==.` makes `SET-FOCUS X` a
statement that calls SETFOCUS. It is read as that CALL: its word is replaced on its line, so that each citation refers to the file.

Leaves to others: what a CALL does. Law: a source without such prototypes, of its own or in what it copies first, is unchanged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .lexing import LITERAL
from .reading import BREAK
from .replacing import line_starts

if TYPE_CHECKING:
    from .replacing import Replaced
    from .source import Lookup

_SAID = "INVOKED"
_PROTOTYPE = re.compile(
    r"PROGRAM-ID\s*+\.?\s*+['\"]?(?P<name>[\w$#@-]++)"
    rf"|{_SAID}\s++AS\s++==\s*+(?P<word>[\w-]++)(?>(?:[\s{BREAK}]*+<[^<>=]++>)+)[\s{BREAK}]*+==",
    re.IGNORECASE,
)
"""The name of a prototype, and the word of its statement, if only operands follow that word."""
_FIRST_COPY = re.compile(
    r"[\s.]*+COPY\s++(?P<name>['\"][^'\"\n]++['\"]|[^\s.'\"]++(?:\.[A-Z][^\s.'\"]*+)?)"
    r"(?>\s++(?:OF|IN)\s++(?P<library>[^\s.]++)|)\s*+\."
)
_NAMED = re.compile(r"(?<![\w-])(?:PERFORM|THRU|THROUGH|TO|OF|IN|FROM|BY|INTO|GIVING|==|=)\Z")
"""What precedes a word that is a name there, not a statement."""
_FAR = 60
"""How many characters before a word are examined, without the blanks between."""


def spoken(made: Replaced, folded: str, find: Lookup | None) -> Replaced:
    """Return code whose statements of a vocabulary are CALLs.

    Args:
        made: The code of a source after REPLACE.
        folded: `fold(made.code)`.
        find: Returns the copybook of a name and library; None if copybooks are not available.
    """
    calls = _calls(folded, made.code)
    at = 0
    while find is not None and (copy := _FIRST_COPY.match(folded, at)) is not None:
        book = find(copy["name"].strip("'\""), copy["library"])
        if book is not None:
            calls |= _calls(book.code.upper(), book.code)
        at = copy.end()
    if not calls:
        return made
    words = "|".join(map(re.escape, sorted(calls, key=len, reverse=True)))
    said = re.compile(rf"{LITERAL}|(?<![\w-])(?P<word>{words})(?=\s++(?!SECTION(?![\w-]))[^\s.])")
    parts: list[str] = []
    done = 0
    for found in said.finditer(folded, folded.find("PROCEDURE")):
        start, end = found.span()
        before = _before(folded, start)
        if found["word"] is None or BREAK in made.code[start:end] or _NAMED.search(before) is not None:
            continue
        parts += (made.code[done:start], f'CALL "{calls[found["word"]]}" USING')
        done = end
    code = "".join((*parts, made.code[done:]))
    starts = line_starts(code)
    return made._replace(code=code, starts=starts) if len(starts) == len(made.starts) else made


def _before(folded: str, at: int) -> str:
    """Return the end of what precedes a place, without blanks: a line end and a margin may be between a verb and its name."""
    while at and folded[at - 1].isspace():
        at -= 1
    return folded[max(0, at - _FAR) : at]


def _calls(folded: str, code: str) -> dict[str, str]:
    """Return the words of statements that the prototypes in some code add, each with the program that it calls."""
    if _SAID not in folded:
        return {}
    found = {}
    name = ""
    for one in _PROTOTYPE.finditer(code):
        name = one["name"] or name
        if one["word"] is not None and name:
            found[one["word"].upper()] = name
    return found
