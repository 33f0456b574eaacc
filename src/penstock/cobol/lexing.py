"""Which expressions and tokens read code, and how are words folded and spelled?

Leaves to others: what tokens mean in context. The expressions run over code that was folded to upper case (`fold`), of
the same length, so that offsets are valid in both. An unclosed literal ends with its line; an unclosed EXEC block is not a
block: one apostrophe too many hides one line, not the program.

Law: every expression is possessive, atomic or bounded by what cannot follow, and ends with the code if it skips
blanks, so that reading is linear in the code. If a repetition could backtrack, a source that consists only of its first
half would be tried from every position: `tests/cobol/test_structure.py` holds a table of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .program import Word
from .reading import BREAK, capitals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .program import TokenKind

WIDE = r"\u301c\u30fb\uff03-\uff0b\uff0d\uff0f\uff1a\uff20\uff5e"
"""Signs within names in Japanese, as wide as their letters: hyphen, slash, middle dot and the like. For a set of characters."""
# A word that is continued: letters, breaks, letters. One match takes all its pieces.
_BROKEN = re.compile(rf"{BREAK}(?<=[\w{WIDE}-]{BREAK})(?>(?:{BREAK}*+[\w#@$:{WIDE}-]++)+)")
# The name of a type of .NET or Java, after TYPE (OF) or NEW: its periods end no sentence, and what follows them begins none.
# Letters come first, and then what may not be before them: the other way around, a search takes several times as long.
_TYPE = re.compile(r"(?:TYPE(?<![\w-]TYPE)(?>\s++OF|)|NEW(?<![\w-]NEW))\s++(?P<type>[A-Z_]\w*+(?>(?:\.[A-Z_]\w*+)+))")

WORD = r"[^\s.'\"(),;=<>+*/&]++"
"""A word, in the widest sense: anything between blanks and punctuation."""
NAME = r"[^\s.'\"(),;]++"
"""The name of a program, paragraph or section, in the widest sense: operators may be part of it."""
RUN = r"(?:[^\s.'\"(),;]|\.(?=\d))[^\s.'\"(),;]*+(?>(?:\.\d[^\s.'\"(),;]*+)*)"
"""Anything between blanks and separators, operators included: in procedure code a verb is always a run by itself."""
GAP = r"[\s,;]*+"
"""What may separate words: blanks, commas and semicolons, which COBOL treats alike."""
LITERAL = rf"(?:'(?>(?:[^'\n]++|'{BREAK}*+')*)'?+|\"(?>(?:[^\"\n]++|\"{BREAK}*+\")*)\"?+)"
"""A literal with its quotes; a doubled quote is part of it, even if a break separates the two."""
QUOTED = r"(?:'[^'\n]*+'?+|\"[^\"\n]*+\"?+)"
"""A literal, or a piece of one between two quotes: for callers that skip many and keep none."""
PSEUDO = r"==(?>(?:[^=]++|=[^=])*)=="
"""Pseudo-text with its `==`; periods and quotes inside belong to it."""
PERIOD = r"\.(?!\d)"
"""A period that ends a sentence: one followed by a digit is a decimal point."""
EXEC = (
    r"EXEC(?:UTE(?=\s++(?:CICS|SQL|DLI)\b))?\s++(?P<exec>[A-Z]\w*+)(?=\s)"
    r"(?>(?:[^E]++|(?<=[\w-])[\w-]++|E(?!ND-EXEC|XEC\s++[A-Z]|XECUTE\s++(?:CICS|SQL|DLI)\b))*)END-EXEC(?![\w-])"
)
"""An EXEC block with its END-EXEC; the group `exec` is its kind.

Another EXEC inside ends the attempt: the first one was never closed. Words are skipped whole, so that `A-END-EXEC`
and a column called `E` do not end the block and cost no second look.
"""
_SLASHED = r"//[^/\s]++//"
"""The beginning of names that NEC's ACOS replaces: `//OLD// BY //NEW//` makes NEW-KEY of OLD-KEY."""
_NAMED = rf"{WORD}(?>(?:\s++(?:OF|IN)\s++{WORD})*)(?:\s*+\([^()]*+\))?"
_OPERAND = rf"(?:(?:LEADING|TRAILING)\s++)?(?:{PSEUDO}|{_SLASHED}|{LITERAL}|{_NAMED})"
_PAIRS = rf"(?>(?:{GAP}{_OPERAND}\s++BY\s++{_OPERAND})+)"
_FROM = (
    r"(?>(?:(?P<dictionary>IDMS|MAID)\s++(?>(?:FILE|RECORD|MODULE|MAP-CONTROL|MAP)\s++|)(?=[A-Z])"
    r"|(?P<resource>RESOURCE)\s++(?=['\"]))|)"
)
_DISJOINED = rf"(?:DISJOINING\s++(?P<disjoined>{WORD})\s++|)"
_JOINED = rf"(?>\s++{_DISJOINED}JOINING\s++(?P<joined>{WORD})(?:\s++AS|)\s++(?P<side>PREFIX|SUFFIX)(?![\w-])|)"
_LIBRARIAN = r"(?<![^\n])-INC|\+\+INCLUDE"
"""The include of a librarian, which `reading` puts at the beginning of its line: elsewhere, `X -INC` is a difference."""
_COPYING = rf"(?:COPY\s++{re.sub(r'[?]P<[a-z]+>', '?:', _FROM)}|(?:{_LIBRARIAN})\s++)"
_NO_MEMBER = r"(?!(?:OF|IN)(?![\w-]))"
"""What no member is called: assembler has its own COPY, and a remark in it may say `COPY OF THE RECORD`."""
COPY = (
    rf"{_COPYING}{_NO_MEMBER}(?:{LITERAL}|{WORD}(?>(?:\.(?=\w){WORD})*))(?>\s++(?:OF|IN)\s++(?:{LITERAL}|{WORD})|)(?>\s++SUPPRESS(?>\s++PRINTING|)|)"
    rf"{re.sub(r'[?]P<[a-z]+>', '?:', _JOINED)}(?>\s++REPLACING{_PAIRS}|)"
)
"""A COPY statement without its period, which may be on another line; or the include of a librarian.

IDMS copies from its dictionary: the word after COPY says so, and the kind of what follows. COPY RESOURCE brings a picture.
"""
REPLACE = rf"REPLACE\s++(?:(?>ALSO\s++|){_PAIRS}|(?>LAST\s++|)OFF(?![\w-]))"
"""A REPLACE statement without its period: with pairs, or OFF."""
BLOCK = rf"(?:{EXEC}|{COPY}|{REPLACE})"
"""An EXEC block or a COPY or REPLACE statement: what a chunk never splits."""

PAIR = re.compile(rf"{GAP}({_OPERAND})\s++BY\s++({_OPERAND})")
"""One `old BY new` of REPLACING, with its operands as groups 1 and 2."""
COPIED = re.compile(
    rf"(?P<via>COPY|{_LIBRARIAN})\s++"
    rf"{_FROM}{_NO_MEMBER}(?P<name>{LITERAL}|{WORD}(?>(?:\.(?=\w){WORD})*))(?>\s++(?:OF|IN)\s++(?P<library>{LITERAL}|{WORD})|)"
    rf"(?>\s++SUPPRESS(?>\s++PRINTING|)|){_JOINED}(?>\s++REPLACING(?P<pairs>{_PAIRS})|)"
)
"""A COPY statement with its parts as groups: `via`, `dictionary`, `resource`, `name`, `library`, `disjoined`, `joined` and its
`side`, and `pairs`.
"""

# No word begins with a hyphen: that of `X -Y` is a minus, as compilers take it.
# The order of the alternatives matters: a block before its words, a number before a period, a period before a
# mark. The last alternative takes any character, so that the tokens tile the code.
_TOKEN = re.compile(
    rf"{GAP}(?:(?P<block>{EXEC})|(?P<literal>(?:NC|[XZNGBHU]{{1,2}}|)(?=['\"]){LITERAL})|(?P<pseudo>{PSEUDO})"
    rf"|(?P<number>[+-]?(?:\d++(?:[.,]\d++)?|\.\d++)(?![\w-]))|(?P<period>{PERIOD})"
    rf"|(?P<word>[\w#@${WIDE}][\w#@${WIDE}-]*+|:\w[\w-]*+:[\w#@$-]*+)|(?P<mark>\*\*|[<>]=|<>|\S)|\Z)"
)
_KINDS: dict[str, TokenKind] = {
    "block": "exec",
    "literal": "literal",
    "pseudo": "pseudo",
    "number": "number",
    "period": "period",
    "word": "word",
    "mark": "mark",
}


def fold(code: str) -> str:
    r"""Return the code in upper case, of the same length, with continued words and the names of types made whole.

    Only a to z are folded (`capitals`), so that the offsets are those of the code. The breaks of a broken word are moved
    behind it: `PER\x1fFORM` becomes `PERFORM\x1f`, so that an expression for PERFORM finds it where it begins. In
    `TYPE SHOP.TILL` and `NEW SHOP.TILL` the period reads as `_`, so that the name is one word; `spelled` returns it as
    it is.
    """
    folded = capitals(code)
    folded = _BROKEN.sub(_whole, folded) if BREAK in folded else folded
    return _TYPE.sub(lambda named: named[0].replace(".", "_"), folded)


def spelled(code: str, start: int, end: int) -> str:
    """Return a word or literal, found in `fold(code)`, as the code spells it.

    Args:
        code: The code.
        start: Its offset, which is the same in both.
        end: The offset after it in the folded code, where its breaks follow it.
    """
    text = code[start:end]
    if BREAK not in text or text[0] in "'\"":
        return text.replace(BREAK, "")
    # In the code the breaks are inside the word, so it extends further than in the folded code: by one character for
    # each break, and each extension may reveal more breaks.
    while len(text) - text.count(BREAK) < end - start and start + len(text) < len(code):
        text = code[start : end + text.count(BREAK)]
    return text.replace(BREAK, "")


def tokens(code: str, start: int, end: int, line_at: Callable[[int], int]) -> list[Word]:
    """Return the tokens of a stretch of code, in order.

    Args:
        code: The code.
        start: The offset of the first character.
        end: The offset after the last one.
        line_at: The line of an offset into the code.
    """
    return [Word(shown, line_at(start + begin), kind) for shown, kind, begin in spelled_tokens(code[start:end])]


def spelled_tokens(text: str) -> Iterator[tuple[str, TokenKind, int]]:
    """Yield the tokens of a stretch of code, in order: each with its spelling, its kind, and the offset at which it begins."""
    is_unbroken = BREAK not in text
    for token in _TOKEN.finditer(fold(text)):
        kind = token.lastgroup
        if kind is None:  # blanks at the end
            break
        if kind == "exec":  # the block's inner group
            kind = "block"
        begin, stop = token.span(kind)
        if is_unbroken:
            shown = text[begin:stop]
        else:
            shown = spelled(text, begin, stop) if kind in {"word", "number"} else text[begin:stop].replace(BREAK, "")
        yield shown, _KINDS[kind], begin


def _whole(broken: re.Match[str]) -> str:
    """Return a broken word in one piece, followed by its breaks, of the same length."""
    parts = broken[0].split(BREAK)
    return "".join(parts).ljust(len(broken[0]), BREAK)
