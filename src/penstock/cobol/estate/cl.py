"""Which programs does a CL program of IBM i call, with which variables and files, and which files does it copy?

Leaves to others: conditions; commands are taken in the order of the text, and a variable has the values that the program gives it
anywhere. Law: any text has an answer in linear time.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from .placing import line_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

# A text may go on in the next line; within a text, /* begins no comment.
_APART = re.compile(r"'(?>(?:[^'\n+-]|[+-](?:[ \t]*\n)?)*)'|/\*(?s:.*?)(?:\*/|\Z)")
_CONTINUED = re.compile(r"[+-][ \t]*\n")
_COMMAND = re.compile(r"(?i)(?<![\w&*/])(CALL|TFRCTL|CALLPRC|OVRDBF|DLTOVR|SBMJOB|CPYF)[ \t]+")
_NAMED = r"(?:'?[\w&$#@*.]+/)?'?(&?[\w$#@.]+)'?"
_QUALIFIED = re.compile(_NAMED)
_KEYWORDS = {
    name: re.compile(rf"(?i)\b{name}\(\s*{_NAMED}\s*\)") for name in ("PGM", "PRC", "FILE", "TOFILE", "FROMFILE")
}
_VARIABLE = re.compile(r"&[A-Z$#@][\w$#@]*+", re.IGNORECASE)
# DCL VAR(&X) TYPE(*CHAR) LEN(10) VALUE('A'), DCL &X *CHAR 10 'A', CHGVAR VAR(&X) VALUE('A'), CHGVAR &X 'A'
_WITHIN = r"(?>[^\n()']|'[^'\n]*'|\((?>[^\n()']|'[^'\n]*')*\))*"
"""What may be in parentheses, with others in it."""
_GIVEN = re.compile(
    r"(?i)(?<![\w&])(?P<verb>DCL|CHGVAR)[ \t]+(?:VAR\([ \t]*(?P<named>&[\w$#@]+)[ \t]*\)|(?P<alone>&[\w$#@]+))"
    rf"(?P<rest>{_WITHIN})"
)
"""The variable that a command declares or changes, and what it says of its value."""
_EXPRESSION = re.compile(r"\((?![ \t]*'[^\n']*'[ \t]*\))(?>[^()']|'[^\n']*')*\)")
"""What is in parentheses and not a text alone."""
_TEXT = re.compile(r"(?i)VALUE\([ \t]*'([^\n']*)'[ \t]*\)|[ \t]'([^\n']*)'")
_ASKED = re.compile(
    r"(?i)\b(?:PGM|PRC|FILE|TOFILE|FROMFILE|COND)\([^()\n]*\)|\b(?:CALL|TFRCTL|CALLPRC)[ \t]+[^\s()]++(?!\()|"
    r"\bOVRDBF[ \t]+[^\s()]+[ \t]+[\w&/$#@.]+(?![\w(])"
)
"""Where a command takes the value of a variable, and gives it none."""
_ENTERED = re.compile(rf"(?i)(?<![\w&*/])PGM[ \t]+(?:PARM[ \t]*)?\(({_WITHIN})\)")
_DECLARED = re.compile(r"(?i)(?<![\w&])DCL[ \t]+(?:VAR\([ \t]*)?(?P<name>&[\w$#@]+)(?P<rest>[^\n]*)")
_TYPE = re.compile(r"(?i)(\*(?:CHAR|DEC|LGL|INT|UINT|PTR))\b\)?(?:[ \t]+\(?(\d{1,5})(?:[ \t]+(\d)\b)?)?")
_LENGTH = re.compile(r"(?i)\bLEN\([ \t]*(\d{1,5})(?:[ \t]+(\d))?[ \t]*\)")
_DEFAULT = {"*CHAR": (32, 0), "*DEC": (15, 5), "*LGL": (1, 0), "*INT": (4, 0), "*UINT": (4, 0), "*PTR": (16, 0)}
"""The length of a variable that states none. Source: IBM i CL reference, DCL."""
_PART = r"%(?:SST|SUBSTRING)\([ \t]*(&[\w$#@]+)[ \t]+(\d+|&[\w$#@]+)[ \t]+(\d+|&[\w$#@]+)[ \t]*\)"
_CHANGED = re.compile(
    rf"(?i)(?<![\w&])CHGVAR[ \t]+(?:VAR\([ \t]*(?P<target>&[\w$#@]+|{_PART})[ \t]*\)|(?P<alone>&[\w$#@]+))[ \t]+(?:VALUE\b)?"
)
_VALUE = re.compile(r"[ \t]*(?:(\()|((?:%SST|%SUBSTRING)\([^\n()]*\)|[^\s()]+))", re.IGNORECASE)
_TOKEN = re.compile(r"'[^'\n]*'|[()]|[^()']+|'")
_MOST_VALUE = 2_000
"""The maximum length of an expression that is looked into."""
_PART_OF = re.compile(_PART, re.IGNORECASE)
_ARGUMENTS = re.compile(rf"(?i)\bPARM[ \t]*\(({_WITHIN})\)")
_POSITIONAL = re.compile(
    rf"(?i)(?:PGM\([^\n()]*\)|PRC\([^\n()]*\)|[^\s()]+)[ \t]+(?:\(({_WITHIN})\)|(&[\w$#@]+)(?![\w(]))"
)
_ARGUMENT = re.compile(r"\((?>[^\n()']|'[^'\n]*')*\)|'[^'\n]*'|[^\s()']+")
_PASSED = re.compile(r"(?i)\([ \t]*(&[\w$#@]+)(?:[ \t]+\*(?:BYREF|BYVAL))?[ \t]*\)|(&[\w$#@]+)")
_DELETED = re.compile(r"(?i)(?:FILE\(\s*)?([\w$#@.* ]+)")
_REBUILT = re.compile(r"(?i)\bFMTOPT\([^\n()]*\*(?:MAP|DROP|CVTSRC)")
"""The options of a CPYF that lays the fields of a record anew. Source: IBM i CL reference, CPYF, FMTOPT."""
_MOST_DIRECTED = 100
"""The maximum number of files that are directed at one time; further ones are left out."""


_MOST_NAMES = 8
"""The maximum number of names of a variable for each end of a copy."""


class ClCall(NamedTuple):
    """A call of a CL program, with the files that it directs elsewhere at that point."""

    program: str
    line: int
    directed: tuple[tuple[str, str, tuple[int, ...]], ...]
    """The name of a file, that of the one it stands for ("" if that is not certain), and the lines that say so: that of the OVRDBF,
    and that of the variable's value if it names one."""
    is_sure: bool = True
    """Whether the program is named by a text, or by a variable that has no other value."""
    arguments: tuple[str, ...] = ()
    """The variables that it passes, in capitals; "" for anything else."""
    is_submitted: bool = False
    """Whether another job calls the program, with copies of the values."""
    end_line: int = 0
    """The last line of the command."""
    said_lines: tuple[int, ...] = ()
    """The lines that say which program a variable names, if one does."""


class ClCopy(NamedTuple):
    """A CPYF, which copies the records of one file to another."""

    source: str
    target: str
    line: int
    end_line: int
    is_rebuilt: bool
    """Whether the fields of a record may get other places."""
    is_sure: bool
    """Whether both files are named by texts, and no OVRDBF directs either."""
    said_lines: tuple[int, ...]
    """The lines besides those of the command that say which files it means: of a variable's value, or of an OVRDBF."""


class ClVariable(NamedTuple):
    """A variable of a CL program."""

    name: str
    """The name with the `&`, in capitals; so in `ClMove`, too."""
    line: int
    type: str
    """In capitals: *CHAR, *DEC, *LGL, *INT, *UINT, *PTR; "" if the program does not declare the variable."""
    length: int
    """The characters, digits or bytes; 0 if they are not known."""
    decimals: int


class ClPart(NamedTuple):
    """A variable, or some characters of it."""

    name: str
    start: int | None = None
    """The first character, from 1 on; None for all, or if data says it."""
    length: int | None = None
    is_whole: bool = True


class ClMove(NamedTuple):
    """A CHGVAR that gives a variable the value of another one, or a value that is made of it."""

    source: ClPart
    target: ClPart
    is_made: bool
    """Whether an expression makes the value of it."""
    line: int
    end_line: int


class ClVariables(NamedTuple):
    """The variables of a CL program, and what it does with them."""

    declared: tuple[ClVariable, ...]
    parameters: tuple[str, ...]
    moves: tuple[ClMove, ...]
    line: int
    """The line of PGM."""


def calls(text: str) -> tuple[ClCall, ...]:
    """Return the calls of a CL program, in order; those by a variable that is given no text are left out."""
    return tuple(one for one in _done(text) if isinstance(one, ClCall))


def copies(text: str) -> tuple[ClCopy, ...]:
    """Return the copies of files by a CL program, in order; those by a variable that is given no text are left out."""
    return tuple(one for one in _done(text) if isinstance(one, ClCopy))


def _done(text: str) -> Iterator[ClCall | ClCopy]:
    """Yield the calls and copies of a CL program, in order."""
    joined = _joined(text)
    values = _values(joined, line_in(text))
    directed: dict[str, tuple[str, tuple[int, ...]]] = {}
    for line, end_line, is_submitted, command, operands in _commands(text, joined):
        if command == "OVRDBF":
            file, to = _operand(operands, "FILE", 0), _operand(operands, "TOFILE", 1)
            if file and to and (file in directed or len(directed) < _MOST_DIRECTED):
                meant = _meant(to, values)
                name, given = next(iter(meant.lines.items())) if meant.is_sure else ("", ())
                directed[file] = name, (*given, line)
        elif command == "DLTOVR" and (said := _DELETED.match(operands)):
            deleted = said[1].upper().split()
            for name in list(directed) if "*ALL" in deleted else deleted:
                directed.pop(name, None)
        elif command in {"CALL", "TFRCTL", "CALLPRC"}:
            program = _operand(operands, "PRC" if command == "CALLPRC" else "PGM", 0)
            # Another job has none of the overrides of this one.
            files = () if is_submitted else tuple((file, *to) for file, to in directed.items())
            meant, passed = _meant(program, values), _arguments(operands)
            for name, lines in meant.lines.items():
                if name:
                    yield ClCall(name, line, files, meant.is_sure, passed, is_submitted, end_line, lines)
        elif command == "CPYF":
            ends = [_files(_operand(operands, *one), values, directed) for one in (("FROMFILE", 0), ("TOFILE", 1))]
            is_sure, is_rebuilt = all(len(names) == 1 for names in ends), _REBUILT.search(operands) is not None
            for source, target in product(*ends):
                if source and target and source != target:
                    lines = tuple(dict.fromkeys((*ends[0][source], *ends[1][target])))
                    yield ClCopy(source, target, line, end_line, is_rebuilt, is_sure, lines)


def _files(
    operand: str, values: Mapping[str, _Meant], directed: Mapping[str, tuple[str, tuple[int, ...]]]
) -> dict[str, tuple[int, ...]]:
    """Return the files that a command may mean, with "" if there may be others, and those to which OVRDBF directs them, each with
    the lines elsewhere that say so.
    """
    meant = _meant(operand, values)
    found = dict(list(meant.lines.items())[:_MOST_NAMES])
    to = [(*directed[name], said) for name, said in meant.lines.items() if name in directed]
    for name, lines, said in to[:_MOST_NAMES]:
        found.setdefault(name, (*said, *lines))
    return found if meant.is_sure else found | {"": ()}


def variables(text: str) -> ClVariables:
    """Return the variables of a CL program; those that it uses without a declaration are of a file that DCLF names."""
    joined = _joined(text)
    line = line_in(text)
    declared: dict[str, ClVariable] = {}
    for said in _DECLARED.finditer(joined):
        typed = _TYPE.search(said["rest"])
        if typed is None:
            continue
        kind = typed[1].upper()
        sized = _LENGTH.search(said["rest"]) or (typed if typed[2] else None)
        length, decimals = _DEFAULT[kind]
        if sized is not None:
            length, decimals = (int(one or 0) for one in sized.groups()[-2:])
        name = said["name"].upper()
        declared.setdefault(name, ClVariable(name, line(said.start("name")), kind, length, decimals))
    entered = _ENTERED.search(joined)
    parameters = tuple(one.upper() for one in _VARIABLE.findall(entered[1])) if entered else ()
    changes = list(_CHANGED.finditer(joined))
    ends = [min(said.end() + _MOST_VALUE, after) for said, after in zip(changes, _starts(changes, joined), strict=True)]
    moves = tuple(
        move for said, end in zip(changes, ends, strict=True) for move in _moves(said, joined[said.end() : end], line)
    )
    for said in _VARIABLE.finditer(joined):
        declared.setdefault(said[0].upper(), ClVariable(said[0].upper(), line(said.start()), "", 0, 0))
    return ClVariables(tuple(declared.values()), parameters, moves, line(entered.start()) if entered else 1)


def _starts(changes: Sequence[re.Match[str]], text: str) -> list[int]:
    """Return where the command after each of some begins, and the end of the text for the last."""
    return [*(said.start() for said in changes[1:]), len(text)][: len(changes)]


def _moves(said: re.Match[str], rest: str, line: Callable[[int], int]) -> Iterator[ClMove]:
    """Yield what a CHGVAR moves to its variable.

    Args:
        said: The command and its variable.
        rest: What follows them.
        line: Returns the line of a place.
    """
    target, begun = _part(said["target"] or said["alone"]), _VALUE.match(rest)
    if begun is None:
        return
    value = begun[2] or _inside(rest[begun.end() :])
    lines = line(said.start()), line(said.end() + begun.end() + (len(value) if begun[1] else 0) - 1)
    source = _part(value.strip())
    if source.name:
        yield ClMove(source, target, False, *lines)
    else:
        bare = re.sub(r"'[^'\n]*'", "", value)
        for name in dict.fromkeys(one.upper() for one in _VARIABLE.findall(bare)):
            yield ClMove(ClPart(name), target, True, *lines)


def _inside(text: str) -> str:
    """Return what precedes the parenthesis that ends the one before a text; "" if none does in its line."""
    depth = 1
    for said in _TOKEN.finditer(text.partition("\n")[0]):
        depth += (said[0] == "(") - (said[0] == ")")
        if not depth:
            return text[: said.start()]
    return ""


def _part(text: str) -> ClPart:
    """Return the variable that a text is, or the part of one; without a name if it is neither."""
    if _VARIABLE.fullmatch(text):
        return ClPart(text.upper())
    found = _PART_OF.fullmatch(text)
    if found is None:
        return ClPart("")
    start, length = (int(one) if one.isdecimal() else None for one in (found[2], found[3]))
    return ClPart(found[1].upper(), start, length, is_whole=False)


def _arguments(operands: str) -> tuple[str, ...]:
    """Return the variables that a call passes, in capitals; "" for an argument that is none."""
    found = _ARGUMENTS.search(operands) or _POSITIONAL.match(operands)
    said = next(filter(None, found.groups()), "") if found is not None else ""
    passed = (_PASSED.fullmatch(one) for one in _ARGUMENT.findall(said))
    return tuple((one[1] or one[2]).upper() if one is not None else "" for one in passed)


class _Meant(NamedTuple):
    """What an operand may mean: names, each with the lines elsewhere that say so, and whether it certainly means a single one."""

    lines: Mapping[str, tuple[int, ...]]
    is_sure: bool


def _meant(operand: str, values: Mapping[str, _Meant]) -> _Meant:
    """Return what an operand may mean; nothing if it is a variable without a text."""
    return values.get(operand) or (_Meant({}, False) if operand.startswith("&") else _Meant({operand: ()}, True))


def _values(text: str, line_of: Callable[[int], int]) -> dict[str, _Meant]:
    """Return the texts that each variable is given, in capitals.

    Args:
        text: The program, each command on one line.
        line_of: Returns the line of a place.
    """
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    unsure: set[str] = set()
    for said in _GIVEN.finditer(text):
        name = (said["named"] or said["alone"]).upper()
        value = _TEXT.search(_EXPRESSION.sub("", said["rest"]))
        named = _QUALIFIED.fullmatch((value[1] or value[2] or "").strip()) if value is not None else None
        if named is not None:
            found.setdefault(name, {}).setdefault(named[1].upper(), (line_of(said.start()),))
        elif said["verb"].upper() == "CHGVAR":
            unsure.add(name)
    # Any other command may set a variable that it names.
    others = _ASKED.sub("", _GIVEN.sub("", text)) if found else ""
    unsure |= {name.upper() for name in _VARIABLE.findall(others)}
    return {name: _Meant(texts, name not in unsure and len(texts) == 1) for name, texts in found.items()}


class _Command(NamedTuple):
    """A command that matters here."""

    line: int
    end_line: int
    is_submitted: bool
    """Whether SBMJOB has it in its own."""
    name: str
    operands: str


def _commands(text: str, joined: str) -> Iterator[_Command]:
    """Yield the commands that matter here.

    Args:
        text: The program, for the lines.
        joined: The same, each command on one line.
    """
    line_of = line_in(text)
    start = 0
    for line in joined.split("\n"):
        commands = list(_COMMAND.finditer(line))
        begins = [*(one.start() for one in commands), len(line)]
        is_submitted = False
        for one, end in zip(commands, begins[1:], strict=True):
            operands = line[one.end() : end]
            last = start + one.end() + len(operands.rstrip()) - 1
            first = line_of(start + one.start())
            yield _Command(first, max(first, line_of(last)), is_submitted, one[1].upper(), operands)
            is_submitted = is_submitted or one[1].upper() == "SBMJOB"
        start += len(line) + 1


def _joined(text: str) -> str:
    """Return a program with blanks for comments, with another text for one of several words, and with continued lines joined,
    without moving anything.
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
    """Return blanks in place of a comment, whose line ends stay, or a text that is no name; one without blanks may be a name."""
    if found[0][0] == "/":
        return re.sub(r"[^\n]", " ", found[0])
    return f"'{'~' * (len(found[0]) - 2)}'" if re.search(r"\s", found[0]) else found[0]


def _blank(found: re.Match[str]) -> str:
    """Return blanks in place of a match."""
    return " " * len(found[0])
