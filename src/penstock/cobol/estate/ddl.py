"""Read the tables of a source: CREATE TABLE, or the DECLARE TABLE of a DCLGEN, with columns.

Keeps out tablespaces, privileges and data.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_HEAD = re.compile(
    r"(?:CREATE\s++(?:GLOBAL\s++TEMPORARY\s++)?TABLE\s++(?:IF\s++NOT\s++EXISTS\s++)?(?P<made>[\w.\"$#@]++)"
    r"|DECLARE\s++(?P<declared>[\w.\"$#@]++)\s++TABLE)\s*+\(",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"'(?:[^']|'')*+'|(--[^\n]*+)")
_PART = re.compile(r"'(?:[^']|'')*+'?|\(|\)|,|[^'(),]+")
_NO_COLUMN = frozenset({"PRIMARY", "FOREIGN", "UNIQUE", "CONSTRAINT", "CHECK", "PERIOD", "LIKE"})
_KEY = re.compile(r"PRIMARY\s++KEY\s*+\(([^()]*+)\)", re.IGNORECASE)


class Column(NamedTuple):
    """A column: its type as it is written, and whether it may be null."""

    name: str
    type: str
    nullable: bool


class Table(NamedTuple):
    """A table, its name with its schema, as it is written."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    """The columns of PRIMARY KEY; empty where there is none."""
    line: int
    end_line: int


def tables(text: str) -> tuple[Table, ...]:
    """Return the tables that a source creates or declares, in order."""
    # Comments become blanks of the same length, so that offsets and lines stay those of the text.
    code = _COMMENT.sub(lambda found: " " * len(found[0]) if found[1] else found[0], text)
    found: list[Table] = []
    line, at = 1, 0
    for head in _HEAD.finditer(code):
        if head.start() < at:
            continue
        line += code.count("\n", at, head.start())
        at = head.start()
        parts, end = _parts(code, head.end())
        columns = tuple(filter(None, map(_column, parts)))
        key = _KEY.search(code, head.end(), end)
        names = tuple(name.strip().split()[0] for name in key[1].split(",") if name.strip()) if key else ()
        name = (head["made"] or head["declared"]).replace('"', "")
        found.append(Table(name, columns, names, line, line + code.count("\n", at, end)))
    return tuple(found)


def _parts(code: str, at: int) -> tuple[list[str], int]:
    """Return what stands between the commas up to the parenthesis that closes, and the offset behind that."""
    found = [""]
    depth = 1
    end = at
    for part in _PART.finditer(code, at):
        end = part.end()
        depth += (part[0] == "(") - (part[0] == ")")
        if depth == 0:
            break
        if part[0] == "," and depth == 1:
            found.append("")
        else:
            found[-1] += part[0]
    return found, end


def _column(part: str) -> Column | None:
    """Return a column; None for a constraint."""
    words = part.split()
    if len(words) < 2 or words[0].upper() in _NO_COLUMN:
        return None
    upper = part.upper()
    kind = re.match(r"\s*+\S++\s++([\w]++(?:\s*+\([^()]*+\))?)", part)
    return Column(
        words[0].strip('"'), " ".join(kind[1].split()) if kind else words[1], "NOT NULL" not in " ".join(upper.split())
    )
