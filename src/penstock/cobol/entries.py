"""What is declared? The sentences of all divisions but the PROCEDURE DIVISION.

Keeps out lines, and what an entry means: a match for each, and the words with which another part of a source begins.
"""

from __future__ import annotations

import re

from .lexing import BLOCK, LITERAL, PERIOD, QUOTED, vocabulary

_NAME = r"[^\s.'\"(),;]++"
_DIVISIONS = r"(?:IDENTIFICATION|ID|ENVIRONMENT|DATA|PROCEDURE)\s++DIVISION(?![\w-])"
_UNITS = r"(?:PROGRAM|FUNCTION|CLASS|METHOD|INTERFACE|FACTORY|OBJECT)"
_IDS = r"(?:PROGRAM|FUNCTION|CLASS|METHOD|INTERFACE)-ID(?![\w-])"
_ATTRIBUTE = (
    r"(?:(?:IS|INITIAL|COMMON|RECURSIVE|REENTRANT|PROGRAM|PROTOTYPE|EXTERNAL|FINAL|OVERRIDE|STATIC)(?![\w-])"
    rf"|(?:AS|INHERITS(?>\s++FROM|))\s++(?:{LITERAL}|{_NAME}))"
)
# a period that is missing before a header or block ends its entry all the same
_BODY = (
    rf"(?>(?:(?:[^.'\"\n]++|\.[^\s.'\"]|{QUOTED})++|\.++(?=[^\s])|(?:\n[^\S\n]*+)++(?!EXEC\s|{_IDS}|{_DIVISIONS}))*)"
)

ENTRY = re.compile(
    rf"[\s,;.]*+(?:(?P<block>{BLOCK})(?>\s*+{PERIOD}|)"
    rf"|(?P<division>{_DIVISIONS})(?>(?P<using>\s++(?:USING|CHAINING|RETURNING|GIVING)(?![\w-])[^.]*+)|)(?>\s*+\.|)"
    rf"|(?P<ends>END)\s++(?P<unit>{_UNITS})(?![\w-])\s*+(?>(?P<ended>{LITERAL}|{_NAME})|)(?>\s*+\.|)"
    rf"|(?P<id>{_IDS})\s*+\.?+\s*+(?>(?P<name>{LITERAL}|{_NAME})|)"
    rf"(?>(?:\s++{_ATTRIBUTE})*)(?>\s*+\.|)"
    rf"|(?P<word>{_NAME})(?>[\s,;]++(?>(?:NOT\s++)?OPTIONAL\s++|)(?P<second>{_NAME})|){_BODY}\.?+"
    rf"|[^\s,;.]{_BODY}\.?+)"
)
WORD, SECOND = ENTRY.groupindex["word"], ENTRY.groupindex["second"]
REMARK = re.compile(r"(?:AUTHOR|INSTALLATION|DATE-WRITTEN|DATE-COMPILED|SECURITY|REMARKS)\Z")
"""The paragraphs whose text is anything, up to the next header."""
REMARK_ENDS = re.compile(
    rf"\n[^\S\n]*+(?:{_DIVISIONS}|(?:AUTHOR|INSTALLATION|DATE-WRITTEN|DATE-COMPILED|SECURITY|REMARKS)\s*+\.|{_IDS}|END\s++{_UNITS}\s)"
)
PARAGRAPHS = vocabulary(
    "SOURCE-COMPUTER OBJECT-COMPUTER SPECIAL-NAMES REPOSITORY FILE-CONTROL I-O-CONTROL FACTORY OBJECT"
)
DECLARING = PARAGRAPHS | vocabulary("FD SD RD CD SELECT COPY EXEC REPLACE")
SECTIONS = vocabulary(
    "CONFIGURATION INPUT-OUTPUT FILE WORKING-STORAGE LOCAL-STORAGE THREAD-LOCAL-STORAGE LINKAGE COMMUNICATION REPORT SCREEN"
)
CLAUSES = vocabulary(
    "PIC PICTURE VALUE VALUES OCCURS REDEFINES USAGE COMP COMP-1 COMP-2 COMP-3 COMP-4 COMP-5 BINARY DISPLAY PACKED-DECIMAL INDEX "
    "POINTER SIGN SYNC SYNCHRONIZED JUST JUSTIFIED BLANK LINE COLUMN COL GROUP TYPE"
)
"""What may follow a level where the item has no name."""
DECLARED = re.compile(r"EXEC\s++SQL\s++(?:DECLARE|INCLUDE|BEGIN|END|WHENEVER)(?![\w-])")
"""A block that may stand between data."""
USING = re.compile(
    r"(?<![\w-])(?!(?:USING|CHAINING|BY|REFERENCE|VALUE|CONTENT|OPTIONAL|SIZE|AUTO|DEFAULT|UNSIGNED|ANY)(?![\w-]))[^\s,;.]++"
)
