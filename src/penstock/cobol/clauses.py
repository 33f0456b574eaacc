"""Which words are parts of data descriptions, and therefore not the names of items?

Leaves to others: the meaning of these words in context (`facts.item_clauses`), and the other words of the language (`reserved`).
"""

from __future__ import annotations

from .words import vocabulary

FIGURATIVE = vocabulary(
    "ZERO ZEROS ZEROES SPACE SPACES QUOTE QUOTES HIGH-VALUE HIGH-VALUES LOW-VALUE LOW-VALUES NULL NULLS"
)
"""The figurative constants."""
DATA_CLAUSES = vocabulary(
    "PIC PICTURE USAGE VALUE VALUES OCCURS REDEFINES SIGN LEADING TRAILING SYNC SYNCHRONIZED JUST JUSTIFIED BLANK RENAMES GLOBAL "
    "EXTERNAL IS ASCENDING DESCENDING INDEXED DEPENDING OBJECT TYPEDEF TYPE VOLATILE DYNAMIC ANY GROUP-USAGE"
)
"""The words that begin or continue a clause of a data description."""
_PROPERTIES = vocabulary(
    "VISIBLE ENABLED TITLE FONT COLOR COLOUR BITMAP-HANDLE FOREGROUND-COLOR FOREGROUND-COLOUR BACKGROUND-COLOR BACKGROUND-COLOUR "
    "FILL-COLOR FILL-COLOR2 FILL-PERCENT END-COLOR BORDER-COLOR DIVIDER-COLOR HEADING-COLOR HEADING-FONT CURSOR-COLOR MIN-VAL "
    "MAX-VAL LINE LINES COLUMN COL SIZE CONTROL"
)
"""Properties of a screen control."""
_SHOWN = vocabulary(
    "SOURCE SOURCES SUM FROM TO INTO USING COLUMNS COLS NEXT PRESENT RESET UPON ABSENT VARYING BELL BEEP BLINK HIGHLIGHT LOWLIGHT "
    "REVERSE REVERSE-VIDEO REVERSED UNDERLINE UNDERLINED OVERLINE LEFTLINE GRID SECURE NO-ECHO REQUIRED EMPTY-CHECK FULL "
    "LENGTH-CHECK AUTO AUTO-SKIP AUTOTERMINATE PROMPT ERASE CONVERTING UPDATE NO LOWER UPPER SCROLL ZERO-FILL TAB INITIAL"
)
SHOWN_CLAUSES = DATA_CLAUSES | _PROPERTIES | _SHOWN
"""The words that begin a clause of a report or screen; those that begin no clause of other data may be names there."""
SCREEN_USAGE = "DISPLAY-WS"
"""The usage of a record that describes a screen, on Wang's VS."""
USAGES: dict[str, str] = {
    "COMPUTATIONAL": "COMP",
    **{f"COMPUTATIONAL-{kind}": f"COMP-{kind}" for kind in "123456XN"},
    **{
        name: name
        for name in (
            "COMP",
            "COMP-1",
            "COMP-2",
            "COMP-3",
            "COMP-4",
            "COMP-5",
            "COMP-6",
            "COMP-X",
            "COMP-N",
            "BINARY",
            "PACKED-DECIMAL",
            "DISPLAY",
            "DISPLAY-1",
            SCREEN_USAGE,
            "NATIONAL",
            "INDEX",
            "POINTER",
            "POINTER-32",
            "PROCEDURE-POINTER",
            "PROGRAM-POINTER",
            "FUNCTION-POINTER",
            "BINARY-CHAR",
            "BINARY-SHORT",
            "BINARY-LONG",
            "BINARY-DOUBLE",
            "FLOAT",
            "DOUBLE",
            "HANDLE",
            "FLOAT-SHORT",
            "FLOAT-LONG",
            "FLOAT-EXTENDED",
            "FLOAT-BINARY-32",
            "FLOAT-BINARY-64",
            "FLOAT-BINARY-128",
            "FLOAT-DECIMAL-16",
            "FLOAT-DECIMAL-34",
            "SIGNED-INT",
            "UNSIGNED-INT",
            "SIGNED-SHORT",
            "UNSIGNED-SHORT",
            "SIGNED-LONG",
            "UNSIGNED-LONG",
            "UTF-8",
        )
    },
}
"""The words of USAGE, in capitals, with the name used here: a short form for COMPUTATIONAL, otherwise the word itself."""
