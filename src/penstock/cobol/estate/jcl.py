"""Which jobs run which programs on which data: the jobs and procedures of JCL, with their steps and DD statements?

A card is read in three steps: its name, operation and operands with continuations (`_cards`); symbols substituted; and its
meaning within its job (`_Building`). Symbols that the member itself sets are substituted; others stay as they are. What comes
from other members is substituted by `running`, which has them: what INCLUDE names (`included`), and for a procedure the
values that its EXEC gives to symbols (`called`). Leaves to others: scheduling and conditions between steps.

Law: any text has an answer, linear in it; in-stream data is not JCL.
"""

from __future__ import annotations

import re
from collections import deque
from functools import reduce
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..program import number
from .macros import split, values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    Find: TypeAlias = "Callable[[str], Sequence[JclCard]]"

_STATEMENT = re.compile(r"//(\S*)[ \t]+(\S+)(?:[ \t]+(.*))?")
_OPERANDS = re.compile(r"(?>'(?>(?:[^']|'')*)'?|[^' \t]+)*")
_SYMBOL = re.compile(r"&([A-Z$#@][A-Z0-9$#@]{0,7})(\.?)", re.IGNORECASE)
_RUN = re.compile(r"\bRUN[ ]+(?:PROGRAM|PROG)[ ]*\([ ]*([A-Z0-9$#@&.]+)[ ]*\)", re.IGNORECASE)
# Programs that run another one: TSO by a RUN command in its input, IMS by its PARM. The data of the step belongs to
# that program.
TSO = frozenset({"IKJEFT01", "IKJEFT1A", "IKJEFT1B"})
_IMS = frozenset({"DFSRRC00", "DFSMVRC0"})
# The parameters of EXEC for the system, or for one step of a procedure, named after a period; anything else is a symbol.
_OF_EXEC = re.compile(
    r"\d+|PROC|(?:ACCT|ADDRSPC|CCSID|COND|DPRTY|DYNAMNBR|MEMLIMIT|PARM|PARMDD|PERFORM|RD|REGION|REGIONX|RLSTMOUT|TIME|"
    r"TVSAMCOM|TVSMSG)(?:\..*)?"
)
_IN_STREAM = frozenset({"*", "DATA"})
MAX_GROWN_CHARS = 4_000
"""How many characters symbols may add to an operand: sixty SETs that each double the one before would otherwise fill any memory."""
MAX_INCLUDES = 15
"""How deep members may include each other, which is the limit of JCL."""
_CARD_COLUMNS = 71
MAX_STREAM_LINES = 200
"""How many lines of in-stream data are kept for each DD, to find what they run."""
_DUMMY = "NULLFILE"
"""The data set that a DUMMY stands for: `DD DUMMY`, `DD DSN=NULLFILE` and `DD PATH='/dev/null'` mean the same."""


OF_A_VARIABLE = ("VARIABLE",)
"""What stands for the DISP of a variable of a script, which says nothing of what is done with the file."""


class Dd(NamedTuple):
    """A DD with everything concatenated to it."""

    name: str
    places: tuple[str | None, ...]
    """The data set of each concatenated DD; NULLFILE for a DUMMY, "" if it has something else, None if it says nothing of it."""
    disp: tuple[str, ...]
    """The parts of DISP: the status, and the dispositions."""
    in_stream: tuple[str, ...]
    """The lines of its in-stream data, at most `MAX_STREAM_LINES`."""
    other: str
    """DUMMY, SYSOUT=*, PATH=... if there is no data set; else ""."""
    line: int
    end_line: int
    step: str | None = None
    """The step of a procedure that it overrides, as in `//STEP.NAME DD`; None if none is named."""
    record_bytes: int = 0
    """LRECL, directly or in DCB; 0 if there is none."""
    is_variable: bool = False
    """Whether RECFM says that records vary in length."""
    cards: tuple[JclCard, ...] = ()
    """The statements that it is made of, for when other values are given to its symbols."""
    members: tuple[tuple[str, int], ...] = ()
    """The files whose lines `in_stream` has, each with their number; none if they are in the stream."""
    path: str = ""
    """The script that sets the variable, if not that of the step."""
    said_at: tuple[tuple[str, int], ...] = ()
    """The file and the line of each of `places`; the file is "" if it is the one that has the DD."""

    @property
    def named(self) -> tuple[tuple[str, str, int], ...]:
        """The data sets, in order of concatenation, each with the file and the line that name it."""
        said = zip(self.places, self.said_at, strict=True)
        return tuple((place, *at) for place, at in said if place and place != _DUMMY)

    @property
    def dsns(self) -> tuple[str, ...]:
        """The data sets, in order of concatenation."""
        return tuple(name for name, _, _ in self.named)

    @property
    def read_dsns(self) -> tuple[str, ...]:
        """The data sets in front of the first DUMMY, which ends what the system reads of a concatenation.

        Source: z/OS MVS JCL Reference, "Do not concatenate data sets after a DUMMY data set".
        """
        ends = (*self.places, _DUMMY).index(_DUMMY)
        return tuple(place for place in self.places[:ends] if place)


class JobStep(NamedTuple):
    """A step of a job or procedure (EXEC): it runs a program, or the steps of a procedure."""

    name: str
    program: str | None
    """PGM as written; None if a procedure is run."""
    procedure: str | None
    """The procedure; None if a program is run."""
    programs: tuple[str, ...]
    """The programs that run, in capitals: PGM, and what TSO and IMS are told to run."""
    psb: str | None
    """The PSB given to IMS; None elsewhere."""
    dds: tuple[Dd, ...]
    line: int
    end_line: int
    symbols: tuple[tuple[str, str], ...] = ()
    """The values that a step gives to the symbols of the procedure that it runs, by names in capitals."""
    around: tuple[tuple[str, str], ...] = ()
    """The values of symbols where a procedure is run: they apply in it too, unless its PROC or the EXEC says otherwise."""
    doubt: str = ""
    """Why a step may run another program, or be one of another procedure; "" if it cannot."""


class Job(NamedTuple):
    """A job or a procedure. A member without either is a `fragment`: steps that others include."""

    name: str
    kind: Literal["job", "proc", "fragment"]
    steps: tuple[JobStep, ...]
    includes: tuple[str, ...]
    """The members that INCLUDE names."""
    line: int
    end_line: int
    cards: tuple[JclCard, ...] = ()
    """The statements, without symbols substituted, of a procedure, of a fragment, and of a job with INCLUDE."""
    symbols: tuple[tuple[str, str], ...] = ()
    """The values of symbols where a procedure or a fragment begins, by names in capitals."""


class JclCard(NamedTuple):
    """One statement of JCL with its operands by name, positional ones numbered, and the in-stream data after it."""

    name: str
    operation: str
    operands: dict[str, str]
    line: int
    end_line: int
    stream: tuple[str, ...]


def jobs(text: str) -> tuple[Job, ...]:
    """Return the jobs and procedures of a member, in order; a job's in-stream procedure is listed next to the job."""
    return _read(_cards(text), {}, {}, None)


def called(procedure: Job, step: JobStep, find: Find) -> Job:
    """Return a procedure as an EXEC runs it: the EXEC's values for symbols override those of PROC.

    Args:
        procedure: The procedure, as its member was read.
        step: The EXEC.
        find: The statements of an included member, by its name in capitals; none for one that is not here.
    """
    if not procedure.cards or not (step.symbols or step.around or procedure.includes):
        return procedure
    return _read(procedure.cards, dict(step.symbols), dict(step.around), find)[0]


def overriding(dd: Dd, symbols: Mapping[str, str]) -> Dd:
    """Return what a job says of a DD of a procedure, with the values that the symbols have in the procedure."""
    first, *others = (_dd(card._replace(operands=_substituted(card.operands, symbols))) for card in dd.cards)
    return reduce(_concatenated, others, first)


def included(job: Job, find: Find) -> Job:
    """Return a job with the statements of other members in place of its INCLUDEs, cited at the INCLUDE.

    Args:
        job: The job, as its member was read.
        find: The statements of a member by its name in capitals; none for one that is not here.
    """
    if not job.includes:
        return job
    read = _read(job.cards, {}, {}, find)
    return next((one for one in read if (one.kind, one.name) == (job.kind, job.name)), job)


def _read(
    cards: Sequence[JclCard], given: Mapping[str, str], outer: Mapping[str, str], find: Find | None
) -> tuple[Job, ...]:
    """Return the jobs and procedures in some statements.

    Args:
        cards: The statements.
        given: Symbols whose values PROC does not change.
        outer: Symbols whose values PROC may change.
        find: The statements of an included member; None if INCLUDE is not followed.
    """
    found: list[_Building] = []
    symbols = {**outer, **given}
    fixed = set(given)  # the symbols of a procedure, which no SET in it changes
    around: list[tuple[_Building | None, dict[str, str], set[str]]] = []  # the state outside each in-stream procedure
    current: _Building | None = None
    waiting = deque((card, 0) for card in cards)
    while waiting:
        as_written, depth = waiting.popleft()
        operands = _substituted(as_written.operands, symbols)
        card = as_written._replace(operands=operands)
        if card.operation in {"JOB", "PROC"}:
            if card.operation == "PROC":
                around.append((current, dict(symbols), fixed))
                named = {name: _unquoted(value) for name, value in operands.items() if not name.isdigit()}
                symbols.update(named)
                symbols.update(given)
                fixed = {*named, *given}
            current = _Building(card.name, "job" if card.operation == "JOB" else "proc", as_written, symbols)
            found.append(current)
        elif card.operation == "PEND":
            if around:
                outside, symbols, fixed = around.pop()
                current = outside or current
        elif card.operation == "SET":
            symbols.update((name, _unquoted(value)) for name, value in operands.items() if name not in fixed)
            if current is None:
                current = _Building("", "fragment", as_written, symbols)
                found.append(current)
            current.keep(as_written)
        elif card.operation in {"EXEC", "DD", "INCLUDE"}:
            if current is None:
                current = _Building("", "fragment", as_written, symbols)
                found.append(current)
            current.keep(as_written)
            current.take(card, symbols)
            # What an in-stream procedure includes is known only where it runs, because its symbols may name the member.
            if card.operation == "INCLUDE" and find is not None and not around[1:] and depth < MAX_INCLUDES:
                inner = find(card.operands.get("MEMBER", "").upper())
                places = ((one._replace(line=card.line, end_line=card.end_line), depth + 1) for one in inner)
                waiting.extendleft(reversed(list(places)))
    return tuple(building.job() for building in found)


class _Building:
    """A job or procedure while it is being read."""

    def __init__(
        self, name: str, kind: Literal["job", "proc", "fragment"], card: JclCard, symbols: Mapping[str, str]
    ) -> None:
        values_here = tuple(symbols.items()) if kind != "job" else ()
        self._head = Job(name, kind, (), (), card.line, card.end_line, symbols=values_here)
        self._cards = [] if kind == "fragment" else [card]
        self._end_line = card.end_line
        self._steps: list[tuple[JobStep, list[Dd]]] = []
        self._includes: list[str] = []

    def keep(self, card: JclCard) -> None:
        """Keep a statement as written, for when other values are given to its symbols or members are put in."""
        self._cards.append(card)

    def take(self, card: JclCard, symbols: Mapping[str, str]) -> None:
        """Add one statement, with the symbols that apply there."""
        self._end_line = card.end_line
        if card.operation == "INCLUDE":
            self._includes.append(card.operands.get("MEMBER", ""))
        elif card.operation == "EXEC":
            step = _step(card)
            around = tuple(symbols.items()) if step.procedure is not None else ()
            self._steps.append((step._replace(around=around), []))
        elif self._steps:  # else JOBLIB and the like
            self._data(card, symbols)

    def job(self) -> Job:
        """Return the finished job or procedure."""
        steps = tuple(
            step._replace(dds=tuple(dds), end_line=max((step.end_line, *(dd.end_line for dd in dds))))
            for step, dds in self._steps
        )
        cards = self._cards if self._head.kind != "job" or self._includes else ()
        return self._head._replace(
            steps=steps, includes=tuple(self._includes), end_line=self._end_line, cards=tuple(cards)
        )

    def _data(self, card: JclCard, symbols: Mapping[str, str]) -> None:
        """Add a DD: one without a name is concatenated to the one before."""
        step, dds = self._steps[-1]
        # Source: z/OS MVS JCL Reference, "SYMBOLS parameter": without it, & in the data is data.
        if "SYMBOLS" in card.operands:
            card = card._replace(stream=tuple(_put_in(line, symbols) for line in card.stream))
        dd = _dd(card)
        if not card.name and dds:
            dds[-1] = _concatenated(dds[-1], dd)
        else:
            dds.append(dd)
        if step.program and step.program.upper() in TSO and card.name.upper() == "SYSTSIN":
            run = (_put_in(name, symbols).upper() for name in run_by(card.stream))
            self._steps[-1] = (step._replace(programs=(*step.programs, *run)), dds)


def stream(text: str) -> tuple[str, ...]:
    """Return the lines of a member as those of in-stream data, at most `MAX_STREAM_LINES`."""
    return tuple(line[:_CARD_COLUMNS].rstrip() for line in text.removesuffix("\n").split("\n")[:MAX_STREAM_LINES])


def run_by(lines: Sequence[str]) -> list[str]:
    """Return the programs that some lines of TSO commands run, as written."""
    return _RUN.findall("\n".join(lines))


def _step(card: JclCard) -> JobStep:
    """Return the step of an EXEC; a positional operand is the procedure, and a PGM next to it is one of its symbols."""
    procedure = card.operands.get("PROC") or card.operands.get("1")
    program = card.operands.get("PGM") if procedure is None else None
    parm = card.operands.get("PARM")
    parts = values(_unquoted(parm or "").strip()) if parm else ()
    programs: tuple[str, ...] = (program.upper(),) if program else ()
    psb = None
    if program and program.upper() in _IMS and len(parts) > 1:  # PARM='BMP,program,psb'
        programs = (*programs, parts[1].strip("'").upper())
        psb = parts[2].strip("'").upper() if len(parts) > 2 else None
    given = ((name, value) for name, value in card.operands.items() if not _OF_EXEC.fullmatch(name))
    symbols = tuple((name, _unquoted(value)) for name, value in given) if procedure is not None else ()
    return JobStep(card.name, program, procedure, programs, psb, (), card.line, card.end_line, symbols)


def _dd(card: JclCard) -> Dd:
    """Return a DD with its data set, or what it has instead."""
    operands = card.operands
    step, dot, name = card.name.rpartition(".")
    dsn = _unquoted(operands.get("DSN") or operands.get("DSNAME") or "")
    other = ""
    if operands.get("1", "").upper() in {"DUMMY", "*", "DATA"}:
        other = operands["1"].upper()
    elif dsn.upper() == _DUMMY or _unquoted(operands.get("PATH", "")) == "/dev/null":
        other = "DUMMY"
    elif not dsn:
        other = next((f"{key}={operands[key]}" for key in ("SYSOUT", "PATH", "SUBSYS") if key in operands), "")
    return Dd(
        name=name,
        places=(_DUMMY if other == "DUMMY" else "" if other else dsn or None,),
        disp=values(operands.get("DISP")),
        in_stream=card.stream,
        other=other,
        line=card.line,
        end_line=card.end_line,
        step=step if dot else None,
        record_bytes=number(_of_record(operands, "LRECL")) or 0,
        is_variable=_of_record(operands, "RECFM")[:1].upper() == "V",
        cards=(card,),
        said_at=(("", card.line),),
    )


def _concatenated(dd: Dd, following: Dd) -> Dd:
    """Return a DD with another one concatenated to it."""
    return dd._replace(
        places=(*dd.places, *following.places),
        in_stream=(*dd.in_stream, *following.in_stream)[:MAX_STREAM_LINES],
        end_line=following.end_line,
        cards=(*dd.cards, *following.cards),
        said_at=(*dd.said_at, *following.said_at),
    )


def _of_record(operands: Mapping[str, str], name: str) -> str:
    """Return an attribute of a DD's records, given directly or in DCB; "" if there is none."""
    inner = operands.get("DCB", "")
    return operands.get(name) or _named(inner[1:-1] if inner.startswith("(") else inner).get(name, "")


def _cards(text: str) -> list[JclCard]:
    """Return the statements with their continuations and the in-stream data after them."""
    lines = [line[:_CARD_COLUMNS].rstrip() for line in text.split("\n")]
    found: list[JclCard] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        statement = _STATEMENT.match(line) if line.startswith("//") and not line.startswith("//*") else None
        if statement is None:
            continue
        first = at
        operands = _bare(statement[3] or "")
        # An operand field that ends with a comma continues on the next card, skipping comments between the two; column
        # 72 need not be marked.
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
        found.append(JclCard(statement[1], statement[2].upper(), named, first, max(end, at), tuple(stream)))
    return found


def _stream(lines: list[str], at: int, named: dict[str, str], stream: list[str]) -> int:
    """Collect the data that follows a DD, up to its delimiter or the next statement, and return the index after it."""
    delimiter = _unquoted(named.get("DLM", "/*"))[:2] or "/*"
    # With DATA or DLM even // is data: usually another job.
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
    """Return operands without the remark, which begins with a blank outside of quotes."""
    return _OPERANDS.match(text)[0]  # type: ignore[index]  # it matches any text


def _named(operands: str) -> dict[str, str]:
    """Return operands by name in capitals; positional ones are numbered from "1"."""
    found: dict[str, str] = {}
    for at, part in enumerate(split(operands), start=1):
        name, equals, value = part.partition("=")
        if equals and name and name[0] not in "'(":
            found[name.strip().upper()] = value
        elif part:
            found[str(at)] = part
    return found


def _substituted(operands: Mapping[str, str], symbols: Mapping[str, str]) -> dict[str, str]:
    """Return operands with the known symbols substituted.

    One before a name, as in `&MAYBE.DSN=A.B`, is there to bring an operand of its own (`MAYBE='DUMMY,'`) or none.
    """
    if not any("&" in (value if name.isdigit() else name) for name, value in operands.items()):
        return {name: _put_in(value, symbols) for name, value in operands.items()}
    written = (value if name.isdigit() else f"{name}={value}" for name, value in operands.items())
    return _named(_put_in(",".join(written), symbols))


def _put_in(text: str, symbols: Mapping[str, str]) -> str:
    """Return a text with the known symbols substituted; a period after a symbol ends its name and is dropped."""
    if "&" not in text:
        return text
    room = MAX_GROWN_CHARS

    def value(found: re.Match[str]) -> str:
        nonlocal room
        known = symbols.get(found[1].upper(), found[0])
        room -= len(known)
        return known if room >= 0 else found[0]

    return _SYMBOL.sub(value, text)


def _unquoted(text: str) -> str:
    """Return a text without the apostrophes around it, with doubled ones inside made single."""
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] == text[-1] == "'" else text
