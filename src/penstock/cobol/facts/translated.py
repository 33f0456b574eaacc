"""What have code generators left in a program: the commands that a translator turned into calls, and the generator's name?

The CICS translator and the SQL precompilers write each command as a comment followed by calls of their stubs, whose arguments
encode it unreadably. So the comment gives the command, and the first CALL its place.

Leaves to others: what a command means. Law: a comment counts only directly above a call of a stub, with nothing in between but the
preparation of its arguments, so that a command that somebody commented out does not count; a cursor is declared without a call,
and counts if its comment is formatted like those with a call.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from ..program import Exec, Warned
from ..words import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..program import Program
    from ..source import ScannedSource

_OF_CICS = frozenset({"DFHEI1", "DFHEXEC", "DFHNCTR", "DFHELII", "DFHECI", "DFHEAI"})
# The stubs of DB2 on z/OS, DB2 elsewhere, and Oracle by name; those of Open COBOL ESQL and esqlOC by prefix.
_OF_SQL = vocabulary("""
    DSNHLI DSNELI DSNCLI DSNALI DSNRLI DSNHADDR DSNHADD2
    SQLGSTRT SQLGALOC SQLGSTLV SQLGSETV SQLGCALL SQLGSTOP SQLGMF SQLGDLOC SQLGSTLS SQLGUSDA
    SQLADR SQLBEX SQLGSS ORASQL8
""")
_OF_SQL_PREFIXES = ("OCESQL", "OCSQL")
_MOST_PROBED = 400
_GENERATORS = (("TELON", "CA-Telon"), ("{BENCH}", "AcuBench"), ("ARMRPG:", "a translator of RPG"))
_BEGIN = re.compile(r"[ *>/]*+(?P<command>EXEC(?:UTE)?\s++(?P<kind>CICS|SQL)\b)", re.IGNORECASE)
_END = re.compile(r"\bEND-EXEC\b", re.IGNORECASE)
_PREPARING = re.compile(
    r"""
      \bMOVE\s(?:(?!\bMOVE\s).)*?\sTO\s++(?:DFH|SQL)[\w-]*+\s*+(?:\([\d:\s]*+\))?(?:\s*+(?:OF|IN)\s++[\w-]++)?
    | \bSET\s++SQL[\w-]*+\s*+(?:\([\d:\s]*+\))?(?:\s*+(?:OF|IN)\s++[\w-]++)?
      \s++TO\s++(?:NULL|ADDRESS\s++OF\s++[\w-]++(?>(?:\s++(?:OF|IN)\s++[\w-]++)*))
    | \bIF\s++SQL-PREP\s++OF\s++[\w-]++\s*+=\s*+'N' | \bEND-IF\b
    | \bPERFORM\s++SQL-INITIAL\s++UNTIL\s++SQL-INIT-DONE\b
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""The code that a translator inserts before its call: moves to its own names, which begin with DFH or SQL, and initialization."""
_DECLARES = re.compile(r"EXEC\s++SQL\s++DECLARE\s++([\w-]++)\s.*?\bCURSOR\b", re.IGNORECASE)
_USES = re.compile(r"EXEC\s++SQL\s++(?:OPEN|FETCH(?:\s.*?\bFROM)?)\s++([\w-]++)", re.IGNORECASE)


class TranslatedCommands(NamedTuple):
    """The commands of a program that were translated to calls, and the lines of these calls."""

    execs: tuple[Exec, ...]
    """The commands in order, each at the line of its first call."""
    lines: frozenset[int]


class _Written(NamedTuple):
    """A command in comments."""

    line: int
    end_line: int
    kind: str
    text: str
    mark: str
    """The text before the command: a translator formats all its comments alike."""


def is_translated(name: str) -> bool:
    """Return whether a name, in capitals, is a stub that a translator of commands calls."""
    return _kind(name) != ""


def commands(source: ScannedSource, program: Program) -> TranslatedCommands:
    """Return the commands of the calls of translator stubs; calls without a command above them are skipped."""
    kinds = {
        call.line: kind for call in program.calls if call.kind == "static" and (kind := _kind(call.target.upper()))
    }
    if not kinds:
        return TranslatedCommands((), frozenset())
    lines = sorted(kinds)
    written = list(_written(source, program))
    found: list[tuple[_Written, int]] = []
    for at, one in enumerate(written):
        last = written[at + 1].line if at + 1 < len(written) else program.end_line + 1
        following = bisect_right(lines, one.end_line)
        line = lines[following] if following < len(lines) else last
        if line < last and kinds[line] == one.kind and _prepares(source, one.end_line + 1, line - 1):
            found.append((one, line))
    execs = [Exec(line, line, one.kind, one.text) for one, line in found]
    # One SQL command is several calls, each with some of its arguments.
    its_own = {line for line in lines if kinds[line] == "SQL"} if any(one.kind == "SQL" for one, _ in found) else set()
    return TranslatedCommands(
        tuple(sorted([*_declared(written, found), *execs], key=lambda one: one.line)),
        frozenset(its_own.union(line for _, line in found)),
    )


def generator(source: ScannedSource, program: Program) -> tuple[Warned, ...]:
    """Return a note on the generator of a program, if one of its first comments names it.

    This matters when planning a change: generated code is changed at its source.
    """
    last = min(program.end_line, program.start_line + _MOST_PROBED)
    for line in range(program.start_line, last + 1):
        if source.kinds[line - 1] == "comment":
            said = source.text(line, line).upper()
            for mark, name in _GENERATORS:
                if mark in said:
                    return (Warned(line, f"it was written by {name}, as this line says: its source is elsewhere"),)
    return ()


def _kind(name: str) -> str:
    """Return the kind of commands that a stub, by its name in capitals, is called for; "" if the name is not that of a stub."""
    if name.removeprefix("KX") in _OF_CICS:
        return "CICS"
    return "SQL" if name in _OF_SQL or name.startswith(_OF_SQL_PREFIXES) else ""


def _written(source: ScannedSource, program: Program) -> Iterator[_Written]:
    """Yield the complete commands in comments."""
    begun: tuple[int, re.Match[str]] | None = None
    parts: list[str] = []
    for line in range(program.start_line, program.end_line + 1):
        if source.kinds[line - 1] != "comment":
            if source.kinds[line - 1] != "blank":
                begun = None
            continue
        shown = source.shown(line)
        begins = _BEGIN.match(shown)
        if begins is not None:
            begun, parts = (line, begins), []
        if begun is None:
            continue
        parts.append(shown.lstrip(" *>/"))
        ends = _END.search(parts[-1])
        if ends is not None:
            parts[-1] = parts[-1][: ends.end()]
            first, said = begun
            mark = said.string[: said.start("command")].rstrip()
            yield _Written(first, line, said["kind"].upper(), " ".join(" ".join(parts).split()), mark)
            begun = None


def _prepares(source: ScannedSource, first: int, last: int) -> bool:
    """Return whether the code of some lines only prepares the arguments of a stub."""
    code = [source.shown(line) for line in range(first, last + 1) if source.kinds[line - 1] not in {"comment", "blank"}]
    return not code or not _PREPARING.sub("", "\n".join(code)).strip(" .\n")


def _declared(written: Sequence[_Written], found: Sequence[tuple[_Written, int]]) -> Iterator[Exec]:
    """Yield the declarations of cursors, which have no call, each at the first call that uses its cursor."""
    with_call = {one.line for one, _ in found}
    marks = {one.mark for one, _ in found if one.kind == "SQL"}
    used: dict[str, int] = {}
    for one, line in found:
        if (uses := _USES.match(one.text)) is not None:
            used.setdefault(uses[1].upper(), line)
    for one in written:
        declares = _DECLARES.match(one.text) if one.line not in with_call and one.mark in marks else None
        if declares is not None and declares[1].upper() in used:
            line = used[declares[1].upper()]
            yield Exec(line, line, one.kind, one.text)
