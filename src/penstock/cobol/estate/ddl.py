"""Which tables does a source define, by CREATE TABLE or the DECLARE TABLE of a DCLGEN, and which program implements a procedure?

Leaves to others: tablespaces, privileges and data.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from .macros import PART
from .placing import line_in

_HEAD = re.compile(
    r"(?:CREATE\s++(?:GLOBAL\s++TEMPORARY\s++)?TABLE\s++(?:IF\s++NOT\s++EXISTS\s++)?(?P<made>[\w.\"$#@]++)"
    r"|DECLARE\s++(?P<declared>[\w.\"$#@]++)\s++TABLE)\s*+\(",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"'(?>(?:[^']|'')*)'|(--[^\n]*+|/\*(?s:.*?)\*/)|/\*(?s:.*+)")
_NO_COLUMN = frozenset({"PRIMARY", "FOREIGN", "UNIQUE", "CONSTRAINT", "CHECK", "PERIOD", "LIKE"})
_KEY = re.compile(r"PRIMARY\s++KEY\s*+\(([^()]*+)\)", re.IGNORECASE)


_PROCEDURE = re.compile(r"CREATE\s++(?:OR\s++REPLACE\s++)?PROCEDURE\s++(?P<name>[\w.\"$#@]++)", re.IGNORECASE)
_EXTERNAL = re.compile(r"\bEXTERNAL\b(?>\s++NAME\s++('[^'\n]*+'|\"[^\"\n]*+\"|[\w.$#@()/!]++)|)", re.IGNORECASE)
_LANGUAGE = re.compile(r"\bLANGUAGE\s++(\w++)", re.IGNORECASE)
_LIBRARY = re.compile(r"[./(!]")
_NUMBER = re.compile(r"^([^\n]{72})\d{8}(?=[ \t\r]*+$)", re.MULTILINE)
"""The number of a card, as ISPF saves it with NUMBER ON."""


class Column(NamedTuple):
    """A column, with its type as written."""

    name: str
    type: str


class Table(NamedTuple):
    """A table; its name includes its schema, as written."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """The columns of PRIMARY KEY; empty if there is none."""
    line: int
    end_line: int


class SqlProcedure(NamedTuple):
    """A procedure of the database."""

    name: str
    """The name of a procedure with its schema, as written."""
    program: str
    """The program that it runs: that of EXTERNAL NAME, or else of the same name; "" for one in SQL or Java, which runs none."""
    line: int


def procedures(text: str) -> tuple[SqlProcedure, ...]:
    """Return the procedures that a source creates, in order."""
    found = []
    text = _NUMBER.sub(r"\1", text)
    line_of = line_in(text)
    for head, following in pairwise([*_PROCEDURE.finditer(text), None]):
        assert head is not None  # noqa: S101  # None follows the last
        end = len(text) if following is None else following.start()
        name = head["name"].replace('"', "")
        external = _EXTERNAL.search(text, head.end(), end)
        language = _LANGUAGE.search(text, head.end(), end)
        spoken = language[1].upper() if language else "COBOL" if external else "SQL"
        # 'LIB/PGM', LIB.PGM, LIB(PGM) and 'lib!PGM' name a program of a library.
        said = external[1].strip("'\"") if external and external[1] else name
        program = "" if spoken in {"SQL", "JAVA"} else _LIBRARY.split(said.rstrip(")"))[-1]
        found.append(SqlProcedure(name, program, line_of(head.start())))
    return tuple(found)


def tables(text: str) -> tuple[Table, ...]:
    """Return the tables that a source creates or declares, in order."""
    # Comments become blanks of the same length, so that offsets and lines stay those of the text.
    cards = _NUMBER.sub(r"\1", text)
    code = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]) if found[1] else found[0], cards)
    found: list[Table] = []
    line_of = line_in(code)
    for head, following in pairwise([*_HEAD.finditer(code), None]):
        assert head is not None  # noqa: S101  # None follows the last
        # One that does not end does so where the next begins.
        parts, end = _parts(code, head.end(), len(code) if following is None else following.start())
        columns = tuple(filter(None, map(_column, parts)))
        key = _KEY.search(code, head.end(), end)
        names = tuple(name.strip().split()[0] for name in key[1].split(",") if name.strip()) if key else ()
        name = (head["made"] or head["declared"]).replace('"', "")
        found.append(Table(name, columns, names, line_of(head.start()), line_of(end)))
    return tuple(found)


def _parts(code: str, start: int, limit: int) -> tuple[list[str], int]:
    """Return the parts between commas up to the closing parenthesis or a limit, and the offset after that."""
    found: list[str] = []
    depth, begin = 1, start
    for part in PART.finditer(code, start, limit):
        depth += (part[0] == "(") - (part[0] == ")")
        if depth == 0 or (part[0] == "," and depth == 1):
            found.append(code[begin : part.start()])
            begin = part.end()
        if depth == 0:
            return found, begin
    return [*found, code[begin:limit]], limit


def _column(part: str) -> Column | None:
    """Return a column; None for a constraint."""
    words = part.split()
    if len(words) < 2 or words[0].upper() in _NO_COLUMN:
        return None
    kind = re.match(r"\s*+\S++\s++([\w]++(?:\s*+\([^()]*+\))?)", part)
    return Column(words[0].strip('"'), " ".join(kind[1].split()) if kind else words[1])
