"""Which statements does an assembler macro source have: label, operation and operands of each, with continuations joined?

BMS, PSBs and DBDs are written this way. Leaves to others: what a macro means. Law: any text has an answer, linear in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONTINUED = 71  # column 72, counted from 0
_STATEMENT = re.compile(r"(\S*)[ \t]+(\S+)(?:[ \t]+(.*))?", re.DOTALL)
PART = re.compile(r"'(?>(?:[^']|'')*)'?|\(|\)|,|[^'(),]+")
"""A quoted text, a parenthesis, a comma, or what is between them."""


class Macro(NamedTuple):
    """An assembler statement: label (or ""), operation in capitals, and operands."""

    label: str
    operation: str
    operands: dict[str, str]
    """By name in capitals; positional ones are numbered from "1". Values keep their quotes and parentheses."""
    line: int
    end_line: int


def macros(text: str) -> Iterator[Macro]:
    """Yield the statements in order; comments and blank lines are skipped."""
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
            # In a quoted text, the blanks at the end of the card belong to it; anywhere else a card continues directly
            # after the comma.
            pending = pending.rstrip() + body.strip() if not _in_quote(pending) else pending + body.lstrip()
        if line[_CONTINUED : _CONTINUED + 1].strip():
            continue
        yield from _macro(pending, first, number)
        pending = ""
    if pending:
        yield from _macro(pending, first, len(lines))


def values(operand: str | None) -> tuple[str, ...]:
    """Return the parts of an operand: those of `(A,B)`, or the one of `A`; nothing for None.

    Example:
        >>> values("(24,80)"), values("MENU"), values(None)
        (('24', '80'), ('MENU',), ())
    """
    if not operand:
        return ()
    inner = operand[1:-1] if operand.startswith("(") and operand.endswith(")") else operand
    return tuple(part.strip() for part in split(inner) if part.strip())


def split(text: str) -> list[str]:
    """Return the parts between the commas that are outside parentheses and quotes."""
    found = [""]
    depth = 0
    for part in PART.findall(text):
        depth += (part == "(") - (part == ")")
        if part == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += part
    return found


def _in_quote(text: str) -> bool:
    """Return whether a text ends inside a quotation; a doubled quote counts twice and changes nothing."""
    return text.count("'") % 2 == 1


def _macro(text: str, first: int, last: int) -> Iterator[Macro]:
    """Yield the statement in a text, if there is one."""
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
    """Return the operands without the remark, which begins with a blank outside of quotes and parentheses."""
    depth, end = 0, 0
    for part in re.finditer(r"'(?>(?:[^']|'')*)'?|[^' \t]+|[ \t]+", text):
        if part[0].isspace() and depth <= 0:
            break
        if part[0][0] != "'":
            depth += part[0].count("(") - part[0].count(")")
        end = part.end()
    return text[:end]
