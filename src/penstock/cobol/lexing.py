"""Which are the tokens? The expressions that read code, and the words of the language.

Keeps out what tokens mean where they stand. The expressions run over code that was folded to upper case (`fold`), of
the same length; a literal that nobody closes ends with its line, an EXEC block that nobody closes is no block.

Law: every expression is possessive, atomic or bounded by what cannot follow, and ends with the code where it skips blanks, so
that reading is linear in the code.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Literal

from .program import Word
from .reading import BREAK

if TYPE_CHECKING:
    from collections.abc import Callable

_BROKEN = re.compile(rf"{BREAK}(?<=[\w-]{BREAK})(?>(?:{BREAK}*+[\w#@$:-]++)+)")
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)

WORD = r"[^\s.'\"(),;=<>+*/&]++"
"""A word, generously: what stands between blanks and punctuation."""
RUN = r"(?:[^\s.'\"(),;]|\.(?=\d))[^\s.'\"(),;]*+(?:\.\d[^\s.'\"(),;]*+)*+"
"""What stands between blanks and separators, operators included: a verb is a run of its own."""
GAP = r"[\s,;]*+"
LITERAL = rf"(?:'(?>(?:[^'\n]++|'{BREAK}*+')*)'?+|\"(?>(?:[^\"\n]++|\"{BREAK}*+\")*)\"?+)"
QUOTED = r"(?:'[^'\n]*+'?+|\"[^\"\n]*+\"?+)"
"""A literal, or what of it is between two quotes: for what runs over many of them and keeps none."""
PSEUDO = r"==(?:[^=]++|=[^=])*+=="
PERIOD = r"\.(?!\d)"
EXEC = (
    r"EXEC(?:UTE(?=\s++(?:CICS|SQL|DLI)\b))?\s++(?P<exec>[A-Z]\w*+)(?=\s)"
    r"(?>(?:[^E]++|(?<=[\w-])[\w-]++|E(?!ND-EXEC|XEC\s++[A-Z]|XECUTE\s++(?:CICS|SQL|DLI)\b))*)END-EXEC(?![\w-])"
)
_OPERAND = (
    rf"(?:(?:LEADING|TRAILING)\s++)?(?:{PSEUDO}|{LITERAL}|{WORD}(?>(?:\s++(?:OF|IN)\s++{WORD})*)(?:\s*+\([^()]*+\))?)"
)
_PAIRS = rf"(?>(?:{GAP}{_OPERAND}\s++BY\s++{_OPERAND})+)"
COPY = (
    rf"COPY\s++(?:{LITERAL}|{WORD}(?>(?:\.(?=\w){WORD})*))(?>\s++(?:OF|IN)\s++(?:{LITERAL}|{WORD})|)(?>\s++SUPPRESS(?>\s++PRINTING|)|)"
    rf"(?>\s++REPLACING{_PAIRS}|)"
)
REPLACE = rf"REPLACE\s++(?:(?>ALSO\s++|){_PAIRS}|(?>LAST\s++|)OFF(?![\w-]))"
BLOCK = rf"(?:{EXEC}|{COPY}|{REPLACE})"

PAIR = re.compile(rf"{GAP}({_OPERAND})\s++BY\s++({_OPERAND})")
COPIED = re.compile(
    rf"COPY\s++(?P<name>{LITERAL}|{WORD}(?>(?:\.(?=\w){WORD})*))(?>\s++(?:OF|IN)\s++(?P<library>{LITERAL}|{WORD})|)"
    rf"(?>\s++SUPPRESS(?>\s++PRINTING|)|)(?>\s++REPLACING(?P<pairs>{_PAIRS})|)"
)

_TOKEN = re.compile(
    rf"{GAP}(?:(?P<block>{EXEC})|(?P<literal>(?:[XZNGBHU]{{1,2}})?(?=['\"]){LITERAL})|(?P<pseudo>{PSEUDO})"
    rf"|(?P<number>[+-]?(?:\d++(?:[.,]\d++)?|\.\d++)(?![\w-]))|(?P<period>{PERIOD})"
    rf"|(?P<word>[\w#@$-]++|:\w[\w-]*+:[\w#@$-]*+)|(?P<mark>\*\*|[<>]=|<>|\S)|\Z)"
)
_KINDS: dict[str, Literal["word", "literal", "number", "period", "mark", "pseudo", "exec"]] = {
    "block": "exec",
    "literal": "literal",
    "pseudo": "pseudo",
    "number": "number",
    "period": "period",
    "word": "word",
    "mark": "mark",
}


def vocabulary(words: str) -> frozenset[str]:
    """Words of the language."""
    return frozenset(words.split())


def fold(code: str) -> str:
    """Code in upper case, of the same length. A word that goes on on the next line is whole: its break stands behind it."""
    folded = code.upper() if code.isascii() else code.translate(_UPPER)
    return _BROKEN.sub(_whole, folded) if BREAK in folded else folded


def spelled(code: str, start: int, end: int) -> str:
    """A word or literal of `fold(code)` as the code has it."""
    text = code[start:end]
    if BREAK not in text or text[0] in "'\"":
        return text.replace(BREAK, "")
    while len(text) - text.count(BREAK) < end - start and start + len(text) < len(code):
        text = code[start : end + text.count(BREAK)]
    return text.replace(BREAK, "")


def tokens(code: str, start: int, end: int, line_at: Callable[[int], int]) -> list[Word]:
    """The tokens of a stretch of code."""
    text = code[start:end]
    words: list[Word] = []
    for token in _TOKEN.finditer(fold(text)):
        kind = token.lastgroup
        if kind is None:  # blanks at the end
            break
        if kind == "exec":  # the block's inner group
            kind = "block"
        begin, stop = token.span(kind)
        shown = spelled(text, begin, stop) if kind == "word" else text[begin:stop].replace(BREAK, "")
        words.append(Word(shown, line_at(start + begin), _KINDS[kind]))
    return words


def _whole(broken: re.Match[str]) -> str:
    parts = broken[0].split(BREAK)
    return "".join(parts).ljust(len(broken[0]), BREAK)
