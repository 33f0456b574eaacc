"""Which expressions read declarations: the sentences of all divisions except the PROCEDURE DIVISION?

`ENTRY` matches one sentence of any kind and always advances, so that the walk in `structure` is a loop of matches.
Leaves to others: lines, and what an entry means.
"""

from __future__ import annotations

import re

from .clauses import FIGURATIVE, SHOWN_CLAUSES, USAGES
from .lexing import BLOCK, LITERAL, NAME, PERIOD, QUOTED
from .words import CLASS_PARTS, DIVISIONS, ENDED, UNITS, vocabulary

_DIVISIONS = rf"(?:{DIVISIONS})\s++DIVISION(?![\w-])"
_UNITS = f"(?:{ENDED})"
_IDS = rf"(?:{UNITS})-ID(?![\w-])"
_ATTRIBUTE = (
    r"(?:(?:IS|INITIAL|COMMON|RECURSIVE|REENTRANT|PROGRAM|PROTOTYPE|EXTERNAL|FINAL|OVERRIDE|STATIC)(?![\w-])"
    rf"|AS\s++(?P<external>{LITERAL}|{NAME})|OF\s++(?P<of>{NAME})|INHERITS(?>\s++FROM|)(?>\s++TYPE(?=\s++[A-Z])|)\s++(?:{LITERAL}|{NAME}))"
)
# EXTERN, STDCALL or a mnemonic name: the calling convention, before the parameters; Fujitsu says WITH C LINKAGE
_CONVENTION = (
    rf"(?>WITH\s++|)(?!(?:USING|CHAINING|RETURNING|GIVING)(?![\w-])){NAME}"
    rf"(?>\s++LINKAGE|)(?=\s++(?:USING|CHAINING|RETURNING|GIVING)(?![\w-]))"
)
# COPY with the period of the header around it; a name is not one of its parameters.
_LAST_PARAMETERS = rf"OPY\s++(?>{LITERAL}|{NAME})(?>\s++(?:OF|IN)\s++(?>{LITERAL}|{NAME})|)\s*+\."
CLAUSES = vocabulary(
    "PIC PICTURE VALUE VALUES OCCURS REDEFINES USAGE COMP COMP-1 COMP-2 COMP-3 COMP-4 COMP-5 BINARY DISPLAY PACKED-DECIMAL INDEX "
    "POINTER SIGN SYNC SYNCHRONIZED SYNCHRONISED JUST JUSTIFIED BLANK LINE COLUMN COL GROUP TYPE"
)
"""The words that may follow a level number if the item has no name: it is a FILLER."""
# The unit after a number that continues a clause on a new line: OCCURS above `10 TIMES`, RESERVE above `2 AREAS`.
_COUNTED = vocabulary("TIMES THRU THROUGH CHARACTER CHARACTERS RECORD RECORDS WORD WORDS AREA AREAS")
_NO_NAMES = CLAUSES | SHOWN_CLAUSES | USAGES.keys() | FIGURATIVE | _COUNTED
# A line that begins a new declaration: no item has the name of a clause, a usage or a constant of the language.
_ITEM = (
    rf"(?:0?[1-9]|[1-4]\d|66|77|78|88)[^\S\n]++(?!(?:{'|'.join(sorted(_NO_NAMES))})(?![\w-]))"
    rf"(?=[\d-]*+[^\W\d_]){NAME}(?:\s*+\.(?!\S)|\s++(?:PIC|PICTURE|VALUES?|REDEFINES|OCCURS|USAGE|COMP(?:-\d)?|BINARY|POINTER)(?![\w-]))"
)
_SECTION = r"(?:CONFIGURATION|INPUT-OUTPUT|FILE|(?:WORKING|LOCAL)-STORAGE|LINKAGE|COMMUNICATION|REPORT|SCREEN)\s++SECTION\s*+\."
_SELECT = rf"SELECT\s++(?>OPTIONAL\s++|){NAME}\s++ASSIGN(?![\w-])"
# The rest of a sentence: literals whole, periods only if something follows at once (`9.99`), and lines up to one that
# begins with a header, a block or another declaration, because compilers accept a missing period before those. COPY ends it
# anywhere: the rest of the sentence, even its period, may be in the copybook (`01 RECORD COPY BOOK.`, or the clauses of a SELECT).
_BODY = (
    rf"(?>(?:(?>(?:[^.'\"\nC]++|(?<=[\w@#$-])C|C(?!OPY\s)|\.[^\s.'\"]|{QUOTED})+)|\.++(?=[^\s])"
    rf"|(?>(?:\n[^\S\n]*+)+)(?!EXEC\s|COPY\s|-INC\s|\+\+INCLUDE\s|[FS]D\s++{NAME}|{_ITEM}|{_SECTION}|{_SELECT}|{_IDS}|{_DIVISIONS}))*)"
)

ENTRY = re.compile(
    rf"[\s,;.]*+(?:(?P<block>{BLOCK})(?>\s*+{PERIOD}|)"
    rf"|(?P<division>{_DIVISIONS})(?>(?>\s++{_CONVENTION}|)(?P<using>\s++(?:USING|CHAINING|RETURNING|GIVING)(?![\w-])"
    rf"(?>(?:[^.C]++|(?<=[\w@#$-])C|C(?!{_LAST_PARAMETERS}))*))"
    rf"|\s++WITH\s++{NAME}\s++LINKAGE(?![\w-])|)(?>\s*+\.|)"
    rf"|(?P<ends>END)\s++(?P<unit>{_UNITS})(?![\w-])\s*+(?>(?P<ended>{LITERAL}|{NAME})|)(?>\s*+\.|)"
    rf"|(?P<id>{_IDS})\s*+\.?+\s*+(?>(?P<name>{LITERAL}|{NAME}(?>(?:\.(?=[A-Z]){NAME})*))|)"
    rf"(?>(?:\s++{_ATTRIBUTE})*)(?>\s*+\.|)"
    rf"|(?P<word>{NAME})(?>[\s,;]++(?>(?:NOT\s++)?OPTIONAL\s++|)(?P<second>(?!COPY\s|EXEC\s++SQL\s){NAME})|){_BODY}\.?+"
    rf"|[^\s,;.]{_BODY}\.?+)"
)
"""The next sentence: one of the groups `block`, `division`, `ends` with `unit`, `id` with `name` and `external`, or `word`
with `second`.

All groups are None for a sentence that does not begin with a word. It runs over folded code, from where
the last sentence ended; no match means that only blanks are left.
"""
WORD, SECOND = ENTRY.groupindex["word"], ENTRY.groupindex["second"]
REMARK = re.compile(r"(?:AUTHOR|INSTALLATION|DATE-WRITTEN|DATE-COMPILED|SECURITY|REMARKS)\Z")
"""The paragraphs of the IDENTIFICATION DIVISION with arbitrary text, up to the next header."""
_ENVIRONMENT = (
    rf"(?:{_SECTION}|(?:SOURCE-COMPUTER|OBJECT-COMPUTER|SPECIAL-NAMES|REPOSITORY|FILE-CONTROL|I-O-CONTROL)\s*+\.)"
)
REMARK_ENDS = re.compile(
    rf"\n[^\S\n]*+(?:{_DIVISIONS}|{_ENVIRONMENT}|(?:AUTHOR|INSTALLATION|DATE-WRITTEN|DATE-COMPILED|SECURITY|REMARKS)\s*+\.|{_IDS}|END\s++{_UNITS}\s)"
    rf"|\n[ ]{{0,3}}COPY[ ]++(?:{LITERAL}|{NAME})[ ]*+\."
)
"""Where the text of such a paragraph ends: at a line that begins with a division, another of these paragraphs, or a
unit; some compilers do without the header of the ENVIRONMENT DIVISION. A COPY in area A ends it, too, as what it brings may be
that division.
"""
PARAGRAPHS = CLASS_PARTS | vocabulary(
    "SOURCE-COMPUTER OBJECT-COMPUTER SPECIAL-NAMES REPOSITORY CLASS-CONTROL FILE-CONTROL I-O-CONTROL"
)
"""The words that head a paragraph of the ENVIRONMENT DIVISION or of a class; the entries that follow are in that "section"."""
DECLARING = PARAGRAPHS | vocabulary("FD SD RD CD SELECT COPY EXEC REPLACE")
"""The words that begin a declaration anywhere, even in a file without divisions."""
SECTIONS = vocabulary(
    "CONFIGURATION INPUT-OUTPUT FILE WORKING-STORAGE LOCAL-STORAGE THREAD-LOCAL-STORAGE LINKAGE COMMUNICATION REPORT SCREEN"
)
"""The sections of the language; any other name before SECTION is a section of a PROCEDURE DIVISION."""
DECLARED = re.compile(r"EXEC\s++SQL\s++(?:DECLARE|INCLUDE|BEGIN|END|WHENEVER)(?![\w-])")
"""An EXEC block that may appear among data: it declares and does not execute."""
USING = re.compile(
    r"(?<![\w-])(?!(?:USING|CHAINING|BY|REFERENCE|VALUE|CONTENT|OPTIONAL|SIZE|AUTO|DEFAULT|UNSIGNED|ANY)(?![\w-]))[^\s,;.]++"
)
"""One word of a USING phrase that is a name, rather than BY REFERENCE and the like."""
