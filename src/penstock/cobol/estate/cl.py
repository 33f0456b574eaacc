"""Which programs does a CL program of IBM i call, and to which files does it direct theirs?

Leaves to others: conditions; commands are taken in the order of the text, and a variable has the values that the program gives it
anywhere. Law: any text has an answer in linear time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A text may go on in the next line; within a text, /* begins no comment.
_APART = re.compile(r"'(?>(?:[^'\n+-]|[+-](?:[ \t]*\n)?)*)'|/\*(?s:.*?)(?:\*/|\Z)")
_CONTINUED = re.compile(r"[+-][ \t]*\n")
_COMMAND = re.compile(r"(?i)(?<![\w&*/])(CALL|TFRCTL|CALLPRC|OVRDBF|DLTOVR|SBMJOB)[ \t]+")
_NAMED = r"(?:'?[\w&$#@*.]+/)?'?(&?[\w$#@.]+)'?"
_QUALIFIED = re.compile(_NAMED)
_KEYWORDS = {name: re.compile(rf"(?i)\b{name}\(\s*{_NAMED}\s*\)") for name in ("PGM", "PRC", "FILE", "TOFILE")}
_VARIABLE = re.compile(r"&[A-Z$#@][\w$#@]*+", re.IGNORECASE)
# DCL VAR(&X) TYPE(*CHAR) LEN(10) VALUE('A'), DCL &X *CHAR 10 'A', CHGVAR VAR(&X) VALUE('A'), CHGVAR &X 'A'
_GIVEN = re.compile(
    r"(?i)(?<![\w&])(?P<verb>DCL|CHGVAR)[ \t]+(?:VAR\([ \t]*(?P<named>&[\w$#@]+)[ \t]*\)|(?P<alone>&[\w$#@]+))"
    r"(?P<rest>(?>[^\n()']|'[^\n']*'|\((?>[^\n()']|'[^\n']*')*\))*)"
)
"""The variable that a command declares or changes, and what it says of its value."""
_EXPRESSION = re.compile(r"\((?![ \t]*'[^\n']*'[ \t]*\))(?>[^()']|'[^\n']*')*\)")
"""What is in parentheses and not a text alone."""
_TEXT = re.compile(r"(?i)VALUE\([ \t]*'([^\n']*)'[ \t]*\)|[ \t]'([^\n']*)'")
_ASKED = re.compile(
    r"(?i)\b(?:PGM|PRC|FILE|TOFILE|COND)\([^()\n]*\)|\b(?:CALL|TFRCTL|CALLPRC)[ \t]+[^\s()]++(?!\()|"
    r"\bOVRDBF[ \t]+[^\s()]+[ \t]+[\w&/$#@.]+(?![\w(])"
)
"""Where a command takes the value of a variable, and gives it none."""
_DELETED = re.compile(r"(?i)(?:FILE\(\s*)?([\w$#@.* ]+)")
_MOST_DIRECTED = 100
"""The maximum number of files that are directed at one time; further ones are left out."""


class ClCall(NamedTuple):
    """A call of a CL program, with the files that it directs elsewhere at that point."""

    program: str
    line: int
    directed: tuple[tuple[str, str, int], ...]
    """The name of a file, that of the one it stands for ("" if that is not certain), and the line of the OVRDBF."""
    is_sure: bool = True
    """Whether the program is named by a text, or by a variable that has no other value."""


def calls(text: str) -> tuple[ClCall, ...]:
    """Return the calls of a CL program, in order; those by a variable that is given no text are left out."""
    joined = _joined(text)
    values = _values(joined)
    directed: dict[str, tuple[str, int]] = {}
    found = []
    for line, is_submitted, command, operands in _commands(text, joined):
        if command == "OVRDBF":
            file, to = _operand(operands, "FILE", 0), _operand(operands, "TOFILE", 1)
            if file and to and (file in directed or len(directed) < _MOST_DIRECTED):
                names, is_sure = _meant(to, values)
                directed[file] = (names[0] if is_sure else "", line)
        elif command == "DLTOVR" and (said := _DELETED.match(operands)):
            deleted = said[1].upper().split()
            for name in list(directed) if "*ALL" in deleted else deleted:
                directed.pop(name, None)
        elif command in {"CALL", "TFRCTL", "CALLPRC"}:
            program = _operand(operands, "PRC" if command == "CALLPRC" else "PGM", 0)
            # Another job has none of the overrides of this one.
            files = () if is_submitted else tuple((file, *to) for file, to in directed.items())
            names, is_sure = _meant(program, values)
            found += [ClCall(name, line, files, is_sure) for name in names if name]
    return tuple(found)


def _meant(operand: str, values: Mapping[str, tuple[tuple[str, ...], bool]]) -> tuple[tuple[str, ...], bool]:
    """Return the names that an operand may mean, none if it is a variable without a text, and whether it means a single one."""
    names, is_sure = values.get(operand, (() if operand.startswith("&") else (operand,), True))
    return names, is_sure and len(names) == 1


def _values(text: str) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return the texts that each variable is given, in capitals, and whether it certainly has no other value.

    Args:
        text: The program, each command on one line.
    """
    found: dict[str, dict[str, None]] = {}
    unsure: set[str] = set()
    for said in _GIVEN.finditer(text):
        name = (said["named"] or said["alone"]).upper()
        value = _TEXT.search(_EXPRESSION.sub("", said["rest"]))
        named = _QUALIFIED.fullmatch((value[1] or value[2] or "").strip()) if value is not None else None
        if named is not None:
            found.setdefault(name, {})[named[1].upper()] = None
        elif said["verb"].upper() == "CHGVAR":
            unsure.add(name)
    # Any other command may set a variable that it names.
    others = _ASKED.sub("", _GIVEN.sub("", text)) if found else ""
    unsure |= {name.upper() for name in _VARIABLE.findall(others)}
    return {name: (tuple(values), name not in unsure) for name, values in found.items()}


def _commands(text: str, joined: str) -> Iterator[tuple[int, bool, str, str]]:
    """Yield the commands that matter here: the line, whether SBMJOB has it in its own, the name, and what follows.

    Args:
        text: The program, for the lines.
        joined: The same, each command on one line.
    """
    ends = [found.end() for found in re.finditer("\n", text)]
    at = start = 0
    for line in joined.split("\n"):
        commands = list(_COMMAND.finditer(line))
        begins = [*(one.start() for one in commands), len(line)]
        is_submitted = False
        for one, end in zip(commands, begins[1:], strict=True):
            while at < len(ends) and ends[at] <= start + one.start():
                at += 1
            yield at + 1, is_submitted, one[1].upper(), line[one.end() : end]
            is_submitted = is_submitted or one[1].upper() == "SBMJOB"
        start += len(line) + 1


def _joined(text: str) -> str:
    """Return a program with blanks for comments and for texts of several words, and with continued lines joined, without moving
    anything.
    """
    return _CONTINUED.sub(_blank, _APART.sub(_blank_apart, text))


def _operand(operands: str, keyword: str, place: int) -> str:
    """Return the name that a command has for a keyword or, without that, in a place; in capitals, "" if there is none."""
    said = _KEYWORDS[keyword].search(operands)
    words = operands.split(None, place + 1)[: place + 1]
    if said is None and len(words) > place:
        said = _QUALIFIED.fullmatch(words[place].rstrip(")"))
    return said[1].upper() if said else ""


def _blank_apart(found: re.Match[str]) -> str:
    """Return blanks in place of a comment, whose line ends stay, or of a text; a text without blanks may be a name."""
    if found[0][0] == "/":
        return re.sub(r"[^\n]", " ", found[0])
    return _blank(found) if re.search(r"\s", found[0]) else found[0]


def _blank(found: re.Match[str]) -> str:
    """Return blanks in place of a match."""
    return " " * len(found[0])
