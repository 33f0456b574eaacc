"""What do assembler macros say? Label, operation and operands of each statement, continuations joined.

BMS, PSBs and DBDs are written in them. Keeps out: what a macro means. Law: any text has an answer, linear in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTINUED = 71  # column 72, counted from 0
_STATEMENT = re.compile(r"(\S*)[ \t]+(\S+)(?:[ \t]+(.*))?", re.DOTALL)
_PART = re.compile(r"'(?:[^']|'')*+'?|\(|\)|,|[^'(),]+")


class Macro(NamedTuple):
    """`operands` by name; positional ones are numbered from "1". Values keep their quotes and parentheses."""

    label: str
    operation: str
    operands: dict[str, str]
    line: int
    end_line: int


def macros(text: str) -> Iterator[Macro]:
    """The statements in order."""
    pending = ""
    first = 0
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not pending and (line.startswith(("*", ".*")) or not line.strip()):
            continue
        body = line[:_CONTINUED]
        if not pending:
            first = number
            pending = body
        else:
            pending = pending.rstrip() + body.strip() if not _in_quote(pending) else pending + body.lstrip()
        if line[_CONTINUED : _CONTINUED + 1].strip():
            continue
        yield from _macro(pending, first, number)
        pending = ""
    if pending:
        yield from _macro(pending, first, len(lines))


def values(operand: str | None) -> tuple[str, ...]:
    """The parts of `(A,B)`, or of `A`."""
    if not operand:
        return ()
    inner = operand[1:-1] if operand.startswith("(") and operand.endswith(")") else operand
    return tuple(part.strip() for part in split(inner) if part.strip())


def split(text: str) -> list[str]:
    """Parts between the commas that are in no parentheses and no quotes."""
    found = [""]
    depth = 0
    for part in _PART.findall(text):
        depth += (part == "(") - (part == ")")
        if part == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += part
    return found


def _in_quote(text: str) -> bool:
    return text.count("'") % 2 == 1


def _macro(text: str, first: int, last: int) -> Iterator[Macro]:
    found = _STATEMENT.match(text)
    if found is None:
        return
    operands: dict[str, str] = {}
    for at, part in enumerate(split(_operands(found[3] or "")), start=1):
        name, equals, value = part.partition("=")
        if equals and name.strip().isalnum():
            operands[name.strip().upper()] = value
        elif part:
            operands[str(at)] = part
    yield Macro(found[1], found[2].upper(), operands, first, last)


def _operands(text: str) -> str:
    """The operands without the remark that a blank begins."""
    depth, end = 0, 0
    for part in re.finditer(r"'(?:[^']|'')*+'?|[^' \t]+|[ \t]+", text):
        if part[0].isspace() and depth <= 0:
            break
        if part[0][0] != "'":
            depth += part[0].count("(") - part[0].count(")")
        end = part.end()
    return text[:end]
