"""Which jobs run which programs on which data? JCL: jobs and procedures with their steps and DD statements.

Keeps out: scheduling, conditions between steps. Symbols that the member sets itself are put in. Law: any text has an answer,
linear in it; what is in a stream is no JCL.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from .macros import split, values

_STATEMENT = re.compile(r"//(\S*)[ \t]+(\S+)(?:[ \t]+(.*))?")
_SYMBOL = re.compile(r"&([A-Z$#@][A-Z0-9$#@]{0,7})(\.?)", re.IGNORECASE)
_RUN = re.compile(r"\bRUN[ ]+(?:PROGRAM|PROG)[ ]*\([ ]*([A-Z0-9$#@]+)[ ]*\)", re.IGNORECASE)
_TSO = frozenset({"IKJEFT01", "IKJEFT1A", "IKJEFT1B"})
_IMS = frozenset({"DFSRRC00", "DFSMVRC0"})
_IN_STREAM = frozenset({"*", "DATA"})
MAX_STREAM_LINES = 200  # of each DD, kept for what it runs


class Dd(NamedTuple):
    """A DD with what is concatenated to it. `step` is the step of a procedure that it overrides."""

    name: str
    dsns: tuple[str, ...]
    disp: tuple[str, ...]
    in_stream: tuple[str, ...]
    other: str  # DUMMY, SYSOUT=*, PATH=… where there is no data set
    line: int
    end_line: int
    step: str | None = None


class JobStep(NamedTuple):
    """An EXEC. `programs` are those that run: PGM, or what TSO and IMS are told to run; `psb` is what IMS is given."""

    name: str
    program: str | None
    procedure: str | None
    programs: tuple[str, ...]
    psb: str | None
    parm: str | None
    dds: tuple[Dd, ...]
    line: int
    end_line: int


class Job(NamedTuple):
    """A JOB or a PROC. A member without either is a `fragment`."""

    name: str
    kind: Literal["job", "proc", "fragment"]
    steps: tuple[JobStep, ...]
    includes: tuple[str, ...]
    line: int
    end_line: int


class _Card(NamedTuple):
    name: str
    operation: str
    operands: dict[str, str]
    line: int
    end_line: int
    stream: tuple[str, ...]


def jobs(text: str) -> tuple[Job, ...]:
    """The jobs and procedures of a member."""
    found: list[_Building] = []
    symbols: dict[str, str] = {}
    around: list[_Building | None] = []  # the job around a procedure in its stream
    current: _Building | None = None
    for card in _cards(text):
        operands = {name: _put_in(value, symbols) for name, value in card.operands.items()}
        card = card._replace(operands=operands)  # noqa: PLW2901
        if card.operation in {"JOB", "PROC"}:
            if card.operation == "PROC":
                symbols.update((name, _unquoted(value)) for name, value in operands.items() if not name.isdigit())
                around.append(current)
            current = _Building(card.name, "job" if card.operation == "JOB" else "proc", card)
            found.append(current)
        elif card.operation == "PEND":
            current = (around.pop() if around else None) or current
        elif card.operation == "SET":
            symbols.update((name, _unquoted(value)) for name, value in operands.items())
        elif card.operation in {"EXEC", "DD", "INCLUDE"}:
            if current is None:
                current = _Building("", "fragment", card)
                found.append(current)
            current.take(card)
    return tuple(building.job() for building in found)


class _Building:
    """A job or procedure that is being read."""

    def __init__(self, name: str, kind: Literal["job", "proc", "fragment"], card: _Card) -> None:
        self._head = Job(name, kind, (), (), card.line, card.end_line)
        self._end_line = card.end_line
        self._steps: list[tuple[JobStep, list[Dd]]] = []
        self._includes: list[str] = []

    def take(self, card: _Card) -> None:
        """One more statement."""
        self._end_line = card.end_line
        if card.operation == "INCLUDE":
            self._includes.append(card.operands.get("MEMBER", ""))
        elif card.operation == "EXEC":
            self._steps.append((_step(card), []))
        elif self._steps:  # else JOBLIB and the like
            self._data(card)

    def job(self) -> Job:
        """What it came to."""
        steps = tuple(
            step._replace(dds=tuple(dds), end_line=max((step.end_line, *(dd.end_line for dd in dds))))
            for step, dds in self._steps
        )
        return self._head._replace(steps=steps, includes=tuple(self._includes), end_line=self._end_line)

    def _data(self, card: _Card) -> None:
        step, dds = self._steps[-1]
        dd = _dd(card)
        if not card.name and dds:
            last = dds[-1]
            stream = (*last.in_stream, *dd.in_stream)[:MAX_STREAM_LINES]
            dds[-1] = last._replace(dsns=(*last.dsns, *dd.dsns), in_stream=stream, end_line=dd.end_line)
        else:
            dds.append(dd)
        if step.program and step.program.upper() in _TSO and card.name.upper() == "SYSTSIN":
            run = _RUN.findall("\n".join(card.stream))
            self._steps[-1] = (step._replace(programs=(*step.programs, *(name.upper() for name in run))), dds)


def _step(card: _Card) -> JobStep:
    program = card.operands.get("PGM")
    procedure = card.operands.get("PROC") or (card.operands.get("1") if program is None else None)
    parm = card.operands.get("PARM")
    parts = values(_unquoted(parm or "").strip()) if parm else ()
    programs: tuple[str, ...] = (program.upper(),) if program else ()
    psb = None
    if program and program.upper() in _IMS and len(parts) > 1:  # PARM='BMP,program,psb'
        programs = (*programs, parts[1].strip("'").upper())
        psb = parts[2].strip("'").upper() if len(parts) > 2 else None
    return JobStep(card.name, program, procedure, programs, psb, parm, (), card.line, card.end_line)


def _dd(card: _Card) -> Dd:
    operands = card.operands
    step, dot, name = card.name.rpartition(".")
    dsn = operands.get("DSN") or operands.get("DSNAME")
    other = (
        "" if dsn else next((f"{key}={operands[key]}" for key in ("SYSOUT", "PATH", "SUBSYS") if key in operands), "")
    )
    if not dsn and operands.get("1", "").upper() in {"DUMMY", "*", "DATA"}:
        other = operands["1"].upper()
    return Dd(
        name=name,
        dsns=(_unquoted(dsn),) if dsn else (),
        disp=values(operands.get("DISP")),
        in_stream=card.stream,
        other=other,
        line=card.line,
        end_line=card.end_line,
        step=step if dot else None,
    )


def _cards(text: str) -> list[_Card]:
    """Statements with their continuations and what stands in the stream after them."""
    lines = [line[:71].rstrip() for line in text.split("\n")]
    found: list[_Card] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        statement = _STATEMENT.match(line) if line.startswith("//") and not line.startswith("//*") else None
        if statement is None:
            continue
        first = at
        operands = _bare(statement[3] or "")
        while operands.endswith(",") and at < len(lines):
            following = lines[at]
            if following.startswith("//*"):
                at += 1
                continue
            if not following.startswith("// ") and not following.startswith("//\t"):
                break
            operands += _bare(following[2:].strip())
            at += 1
        end = at
        named = _named(operands)
        stream: list[str] = []
        if statement[2].upper() == "DD" and named.get("1", "").upper() in _IN_STREAM:
            at = _stream(lines, at, named, stream)
        found.append(_Card(statement[1], statement[2].upper(), named, first, max(end, at), tuple(stream)))
    return found


def _stream(lines: list[str], at: int, named: dict[str, str], stream: list[str]) -> int:
    """Past the data that follows a DD, up to its delimiter or the next statement."""
    delimiter = _unquoted(named.get("DLM", "/*"))[:2] or "/*"
    data = named["1"].upper() == "DATA" or "DLM" in named
    while at < len(lines):
        line = lines[at]
        if line.startswith(delimiter):
            return at + 1
        if not data and line.startswith("//"):
            return at
        if len(stream) < MAX_STREAM_LINES:
            stream.append(line)
        at += 1
    return at


def _bare(text: str) -> str:
    """Operands without the remark that a blank begins."""
    depth, end = 0, 0
    for part in re.finditer(r"'(?:[^']|'')*+'?|[^' \t]+|[ \t]+", text):
        if part[0].isspace():
            break
        if part[0][0] != "'":
            depth += part[0].count("(") - part[0].count(")")
        end = part.end()
    return text[:end]


def _named(operands: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for at, part in enumerate(split(operands), start=1):
        name, equals, value = part.partition("=")
        if equals and name and name[0] not in "'(":
            found[name.strip().upper()] = value
        elif part:
            found[str(at)] = part
    return found


def _put_in(text: str, symbols: dict[str, str]) -> str:
    if "&" not in text:
        return text

    def value(found: re.Match[str]) -> str:
        known = symbols.get(found[1].upper())
        return found[0] if known is None else known

    return _SYMBOL.sub(value, text)


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] == "'" else text
