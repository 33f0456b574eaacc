"""Which format are the lines of a source in, fixed, free or variable: by its directives, or else by its columns?

Also here: the lines that ignore columns, and so say nothing about the format: directives, compiler options, and the includes of a
librarian. Leaves to others: which part of a line is code (`reading`). Law: every line has one format, found in linear time.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from .records import AREA_A, IDENTIFICATION, RECORD_BYTES, TAB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .program import Format

_PROBED_LINES = 500
# The expressions are possessive throughout: a line of a megabyte of blanks must not be tried from every column.
_BEFORE = r"(?:[ \t\d]*+|[\w ]{6}[ \t]++)"  # a directive: blanks, or what marks a line in columns 1 to 6
DIRECTIVE = re.compile(
    _BEFORE + r"(?:>>[ \t]*+(?P<debug>[Dd][ \t])?|\$[ \t]*+(?=(?i:set|if|elif|else|end|region|display)\b))"
)
_SWITCH = re.compile(
    rf"(?i){_BEFORE}(?:>>[ \t]*+source(?:[ \t]++format)?(?:[ \t]++is)?|(?:>>|\$)[ \t]*+set[ \t]++(?:sourceformat|srcformat))"
    r"[ \t(\"']*+(free|fixed|variable)"
)
OPTIONS = re.compile(r"(?i)[ \t\d]{0,8}+(?:cbl|process)(?:[ \t]|$)")
# What a librarian expands before compilation: `-INC` from column 1 or 7, `++INCLUDE` mostly from 8.
INCLUDED = re.compile(r"(?i)(?:[ \t\d]*+|[^ ]{6}[ ]++)(-INC|\+\+INCLUDE)[ \t]++['\"]?([\w$#@-]++)")
# Closed literals match without a group; a quote that matches alone is open at the end of the line.
QUOTED = re.compile(r"'[^']*+'|\"[^\"]*+\"|(['\"])")
# Group 1 is what precedes a division header on its line: blank and short only in free format.
_HEADER = re.compile(
    r"([^*]{0,12}?)(?:(?:IDENTIFICATION|ID|ENVIRONMENT|DATA|PROCEDURE)[ \t]++DIVISION|(?:PROGRAM|FUNCTION|CLASS)-ID)\b"
)
_RUNS_ON = re.compile(r"[ ]{5,6}\d\d[ ]|[ ]{0,5}(?:\*>|(?:\d\d[ ]++)?[A-Za-z][\w-]*+(?<=[ \w-]{7}))")
"""A line that begins in the margin and continues across column 7 with a word (behind a level), or a free-format comment; or one
with a level from column 7, which is no indicator."""
_TORN = re.compile(r"[\w-]{2}")
_CARD = re.compile(r"[ \d]{6}[*/-]")
_TAGGED = re.compile(r"(?![ ]{6}).{6}(?:[ ]|\Z)|[ ]{6}[Dd]")
"""A line with a number or tag in columns 1 to 6, or one for debugging."""
_FORMATS: dict[str, Format] = {"fixed": "fixed", "free": "free", "variable": "variable"}
_INDICATORS = frozenset(["", *" *-/Dd$"])
_NO_CODE = frozenset(["", "*", "/"])
"""Column 7 of comments, and of lines that end before it."""


def format_switches(
    lines: list[str], directed: Iterable[int], source_format: Format | None
) -> tuple[tuple[int, Format], ...]:
    """Return from which line on which format applies: the first line, and every line after a directive that changes it.

    A directive that follows only blank lines and other directives decides for the first lines too, because their columns say
    nothing.

    Args:
        lines: The lines of the file.
        directed: The indexes of the lines that may hold a directive.
        source_format: The format of the first lines, instead of what their columns say.
    """
    found: list[tuple[int, Format]] = []
    for index in sorted(set(directed)):
        switch = _SWITCH.match(lines[index])
        if switch:
            # From the next line on; index counts from 0, lines from 1.
            found.append((index + 2, _FORMATS[switch[1].lower()]))
    before = lines[: found[0][0] - 2] if found else lines
    if found and all(not line or line.isspace() or DIRECTIVE.match(line) for line in before):
        first = found[0][1]
    else:
        first = source_format or _detected(before)
    formats = [(1, first), *found]
    return (formats[0], *(here for last, here in pairwise(formats) if last[1] != here[1]))


def open_quote(text: str) -> str:
    """Return the quote that is open at the end of a line, "" if none is."""
    return next((quoted[1] for quoted in QUOTED.finditer(text) if quoted[1]), "")


def _detected(lines: list[str]) -> Format:
    """Return the format that the columns of a source suggest, if nothing states it.

    Three questions, in this order. Do half of the division headers, or more, begin in columns 1 to 7, where fixed format has the
    sequence number? Then it is free: those of nested programs may be indented. Do too many lines have code in those columns (a
    third, or a sixth if there is no header)? Then it is free. Do most lines beyond column 80 run through column 72 without a gap of
    two blanks? Then it is variable, because in fixed format an identification follows column 72, set apart from the code. It is
    also variable if column 72 would cut more literals and words than there are identifications.
    """
    sample = [
        line.expandtabs(TAB)
        for line in lines[:_PROBED_LINES]
        if line and not line.isspace() and not INCLUDED.match(line) and not OPTIONS.match(line)
    ]
    free = sum(map(_begins_in_margin, sample))
    # Only lines that may hold DIVISION or an -ID are tried: the pattern is costly, looking for "IVI" and "-I" is not.
    spoken = [line.upper() for line in sample if "IVI" in line or "ivi" in line or "-I" in line or "-i" in line]
    prefixes = [header[1] for header in map(_HEADER.match, spoken) if header]
    margin = sum(len(prefix) < AREA_A and not prefix.strip() for prefix in prefixes)
    if (margin and margin * 2 >= len(prefixes)) or free * (6 if not prefixes else 3) > len(sample):
        return "free"
    # In a copybook of a few lines, most of them indented, one line that runs from the margin across column 7 is enough if no
    # line has an indicator there.
    runs_on = any(map(_RUNS_ON.match, sample)) and not any(map(_CARD.match, sample))
    if runs_on and not prefixes:
        return "free"
    # In old estates every line is a wider one, so each is examined only once.
    wider = [at for at, line in enumerate(lines) if len(line) > IDENTIFICATION and _is_wider(line)]
    torn = {at for at in wider if _is_cut(lines[at])}
    apart = {
        at for at in wider if at not in torn and "  " in lines[at].rstrip()[IDENTIFICATION - 3 : IDENTIFICATION + 3]
    }
    # One such line is also enough in an indented program without traces of fixed format: numbers, tags or identifications.
    if runs_on and not apart and not any(map(_TAGGED.match, sample)):
        return "free"
    wide = [at for at in wider if len(lines[at]) > RECORD_BYTES and lines[at][RECORD_BYTES:].strip()]
    cut = sum(not _is_continued(lines, at) for at in torn)
    return "variable" if sum(at not in apart for at in wide) * 2 > len(wide) or cut > len(apart) else "fixed"


def _is_cut(line: str) -> bool:
    """Return whether column 72 would cut a wider line inside a literal that is closed after it, or inside a word that does not end
    exactly in column 80.

    Nothing would close what is left of the literal. A name that an editor adds fills its eight columns.
    """
    quote = open_quote(line[AREA_A:IDENTIFICATION]) if "'" in line or '"' in line else ""
    if quote:
        return not open_quote(quote + line[IDENTIFICATION:])
    return _TORN.match(line, IDENTIFICATION - 1) is not None and len(line.rstrip()) != RECORD_BYTES


def _is_continued(lines: list[str], at: int) -> bool:
    """Return whether a line of fixed format is continued by the next line that is neither a comment nor blank."""
    behind = map(lines.__getitem__, range(at + 1, len(lines)))
    return next((line[6] for line in behind if line[6:7] not in _NO_CODE and not line[6:].isspace()), "") == "-"


def _is_wider(line: str) -> bool:
    """Return whether a line of code continues past column 72; lines with tabs are excluded, because their columns are elsewhere."""
    return line[6] == " " and not line[IDENTIFICATION:].isspace() and "\t" not in line


def _begins_in_margin(line: str) -> bool:
    """Return whether a line has code where fixed format has a sequence number and the indicator.

    Evidence is a character in column 7 that is not an indicator, a blank inside columns 1 to 6 that is not between numbers
    (`017 02`, where a field is in its record and how long), or a word with its hyphen in column 7 (`OUTPUT-FILE`), which would
    otherwise be a continuation.
    """
    if line[6:7] not in _INDICATORS:
        return True
    margin = line[:6].strip()
    if " " in margin:
        return not margin.replace(" ", "").isdigit()
    return bool(margin) and line[6:7] == "-" and line[5] != " " and line[7:8].isalnum()
