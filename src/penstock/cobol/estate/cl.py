"""Which programs does a CL program of IBM i call, and to which files does it direct theirs?

Leaves to others: variables and conditions; commands are taken in the order of the text, and a name that is a variable is not
known. Law: any text has an answer in linear time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_COMMENT = re.compile(r"/\*(?s:.*?)(?:\*/|\Z)")
_CONTINUED = re.compile(r"[+-][ \t]*\n")
_STRING = re.compile(r"'[^'\n]*'")
_QUALIFIED = r"(?:'?[\w&$#@*.]+/)?'?(?P<{0}>&?[\w$#@.]+)'?"
_COMMAND = re.compile(
    rf"(?i)(?<![\w&*/])(?:(?:CALL|TFRCTL)\s+(?:PGM\(\s*)?{_QUALIFIED.format('program')}"
    rf"|CALLPRC\s+(?:PRC\(\s*)?{_QUALIFIED.format('procedure')}"
    rf"|OVRDBF\s+(?:FILE\(\s*)?(?P<file>&?[\w$#@.]+)\s*\)?\s+(?:TOFILE\(\s*)?{_QUALIFIED.format('to')}(?=[\s)]|\Z)"
    r"|DLTOVR\s+(?:FILE\(\s*)?(?P<deleted>[\w$#@.* ]+))"
)


class ClCall(NamedTuple):
    """A call of a CL program, with the files that it directs elsewhere at that point."""

    program: str
    line: int
    directed: tuple[tuple[str, str, int], ...]
    """The name of a file, that of the one it stands for ("" if a variable names it), and the line of the OVRDBF."""


def calls(text: str) -> tuple[ClCall, ...]:
    """Return the calls of a CL program, in order; those of a program that a variable names are left out."""
    # A line that continues is joined to the next, and comments and texts become blanks, without moving anything.
    ends = [found.end() for found in re.finditer("\n", text)]
    text = _CONTINUED.sub(lambda found: " " * len(found[0]), _COMMENT.sub(_blank, text))
    text = _STRING.sub(lambda found: _blank(found) if " " in found[0] else found[0], text)
    directed: dict[str, tuple[str, int]] = {}
    found = []
    at = 0
    for said in _COMMAND.finditer(text):
        while at < len(ends) and ends[at] <= said.start():
            at += 1
        program = (said["program"] or said["procedure"] or "").upper()
        if said["file"]:
            to = said["to"].upper()
            directed[said["file"].upper()] = ("" if to.startswith("&") else to, at + 1)
        elif said["deleted"]:
            names = said["deleted"].upper().split()
            for name in list(directed) if "*ALL" in names else names:
                directed.pop(name, None)
        elif program and not program.startswith("&"):
            found.append(ClCall(program, at + 1, tuple((file, *to) for file, to in directed.items())))
    return tuple(found)


def _blank(found: re.Match[str]) -> str:
    """Return blanks in place of a match; line ends stay."""
    return re.sub(r"[^\n]", " ", found[0])
