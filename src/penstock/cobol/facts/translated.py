"""Read what programs that write programs leave behind: the commands that a translator made calls of, and their names.

The translator of CICS writes each command as a comment and a CALL of its stub behind it, whose first argument holds the
command in a form that no person reads. The comment is therefore what says what is done, and the CALL is where.

Keeps out what a command means. Law: a comment counts only right above a call of the stub, with no more than the moves
of its arguments between, so that a command that somebody commented out is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..program import Exec
from .values import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..program import Program
    from ..source import ScannedSource

_STUBS = frozenset({"DFHEI1", "DFHEXEC", "DFHNCTR", "DFHELII", "DFHECI", "DFHEAI"})
_MOST_LINES = 60
"""How far above its call a command may begin: the longest have some thirty options, and the arguments stand between."""
_MOST_PROBED = 400
_GENERATORS = (("TELON", "CA-Telon"), ("{BENCH}", "AcuBench"), ("ARMRPG:", "a translator of RPG"))
_COMMAND = re.compile(r"EXEC(?:UTE)?\s++CICS\b(?:(?!EXEC(?:UTE)?\s++CICS\b).)*?\bEND-EXEC\b", re.IGNORECASE | re.DOTALL)
_BEGIN = re.compile(r"EXEC(?:UTE)?\s++CICS\b", re.IGNORECASE)
_ARGUMENT = re.compile(r"\bMOVE\s(?:(?!\bMOVE\s).)*?\sTO\s++DFH\w++\s*+(?:\([\d:\s]*+\))?", re.IGNORECASE | re.DOTALL)
"""A move that a translator puts before its call: to a name of its own, all of which begin with DFH."""


def is_translated(name: str) -> bool:
    """Return whether a name, in capitals, is the stub that a translator of CICS commands calls."""
    return name.removeprefix("KX") in _STUBS


def commands(source: ScannedSource, program: Program) -> Iterator[Exec]:
    """Yield the command of each call of a translator's stub, at the lines of the CALL; calls without one are passed over."""
    for call in program.calls:
        if call.kind == "static" and is_translated(call.target.upper()):
            text = _above(source, call.line)
            if text is not None:
                yield Exec(call.line, call.line, "CICS", text)


def generator(source: ScannedSource, program: Program) -> tuple[Note, ...]:
    """Return a note on what wrote a program, where one of its first comments says so.

    Whoever plans a change has to know: what is generated is changed where it comes from.
    """
    last = min(program.end_line, program.start_line + _MOST_PROBED)
    for line in range(program.start_line, last + 1):
        if source.kinds[line - 1] == "comment":
            said = source.text(line, line).upper()
            for mark, name in _GENERATORS:
                if mark in said:
                    return (Note(line, f"it was written by {name}, as this line says: its source is elsewhere"),)
    return ()


def _above(source: ScannedSource, line: int) -> str | None:
    """Return the command in the comments above a line, which may have the moves of its arguments between; None for none."""
    comments: list[str] = []
    code: list[str] = []
    for at in range(line - 1, max(0, line - _MOST_LINES), -1):
        kind = source.kinds[at - 1]
        if kind == "comment":
            comments.append(source.shown(at).lstrip(" *>/"))
            if _BEGIN.match(comments[-1]):
                break
        elif kind != "blank":
            code.append(source.shown(at))
    found = _COMMAND.findall("\n".join(reversed(comments)))
    if not found or _ARGUMENT.sub("", "\n".join(reversed(code))).strip(" .\n"):
        return None
    return " ".join(found[-1].split())
