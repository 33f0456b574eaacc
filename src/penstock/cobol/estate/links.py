"""How is an estate linked: jobs and transactions to programs, programs to programs, DD names to data sets (C-16)?

Leaves to others: reading members and programs; both are given. Names are compared case-insensitively.

Law: a link consists of names from the sources; what leads nowhere is listed as missing, not dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..facts.calls import is_interface
from ..program import key
from ..scope import NamedEntry, ProgramNames, ProgramPlace
from .members import stem
from .running import MAX_STEPS, JobSteps
from .scripts import placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..facts.control import ProgramCall
    from ..facts.values import Facts
    from .jcl import Dd, Job
    from .members import Member


_REGIONS = frozenset({"DLITCBL", "DLITPLI", "DLITASM"})  # where IMS enters any program


class CallingProgram(NamedTuple):
    """A program that calls another, with the line of the call."""

    program: str
    path: str
    call_type: str
    """static, dynamic, link, xctl, start, return_transid, invoke, sql, method or preprocessor."""
    resolved: bool
    """Whether the name comes from a data item's value, so that the call may be one of several."""
    line: int


class StepRun(NamedTuple):
    """A step of a job that runs a program."""

    job: str
    step: str
    via: str
    """The procedure that contains the step; "" if the job itself does."""
    path: str
    line: int
    """The line of the EXEC in the job, at `path`, even if a procedure contains the step."""


class DataSet(NamedTuple):
    """A file of a program as a job step binds it: SELECT name, DD name, and the data sets."""

    program: str
    file: str
    dd: str
    dsns: tuple[str, ...]
    """The data sets of the DD that the system reads: those in front of a DUMMY."""
    other: str
    """DUMMY, SYSOUT=* and the like if there is no data set; else ""."""
    job: str
    step: str
    path: str
    line: int


class Transaction(NamedTuple):
    """A transaction that starts a program, as a region defines it."""

    name: str
    program: str
    path: str
    line: int


_PROGRAM = re.compile(r"^(?:.{6} )?[ ]*PROGRAM-ID[ ]*\.[\s'\"]*([\w$#@-]+)", re.IGNORECASE | re.MULTILINE)
"""The header of a COBOL program."""


class User(NamedTuple):
    """A program that uses something (a copybook, a table, a map, a segment, a file), with the lines."""

    program: str
    path: str
    lines: tuple[int, ...]


class Missing(NamedTuple):
    """A name that is used but defined nowhere here, with the paths of its users."""

    kind: str
    """program, copybook, procedure, transaction; step: those of a job that are too many to follow; or `program in a job`: one whose
    source is in the stream of a job, where it is not read.
    """
    name: str
    users: tuple[str, ...]


class Located(NamedTuple):
    """The facts of a program and the path of its file."""

    path: str
    facts: Facts


def _place(located: Located) -> ProgramPlace:
    """Return the file, name and containing programs of a program."""
    facts = located.facts
    around = tuple(map(key, facts.around))
    return ProgramPlace(located.path, key(facts.program), around, facts.is_common, facts.has_external_name)


class Estate:
    """The members and programs of an estate, linked. Every answer is in the order of paths and lines.

    Args:
        members: The files that are not COBOL, as `member` reads them.
        programs: The facts of each program with its path, in order of paths.
    """

    def __init__(self, members: Iterable[Member], programs: Iterable[Located]) -> None:
        self.programs = tuple(programs)
        self._callers: dict[str, dict[str, list[CallingProgram]]] = {}
        """The callers of programs, by the name and the file of a program; "" is the file of one that is not here."""
        self._runs: dict[str, list[StepRun]] = {}
        self._data: dict[str, list[DataSet]] = {}
        self._transactions: dict[str, list[Transaction]] = {}
        self._starts: dict[str, dict[str, None]] = {}  # programs by transaction
        self._users: dict[tuple[str, str], list[User]] = {}
        self._missing: dict[tuple[str, str], dict[str, None]] = {}
        entries = [
            (key(name), located)
            for located in self.programs
            if located.facts.type != "copybook"
            for name in (
                located.facts.program,
                *(entry for entry, _ in located.facts.entry_points if key(entry) not in _REGIONS),
            )
        ]
        self._entries = [located for _, located in entries]
        self.members = placed(members, {name for at, one in entries for name in (at, key(stem(one.path)))})
        above = {
            key(located.facts.program): located.facts.inherits for located in self.programs if located.facts.inherits
        }
        self._names = ProgramNames((NamedEntry(name, key(stem(one.path)), _place(one)) for name, one in entries), above)
        self._procedures: dict[str, dict[str, None]] = {}  # the programs of each database procedure
        for member in self.members:
            for one in member.procedures:
                self._procedures.setdefault(key(one.name).rpartition(".")[2], {}).setdefault(one.program)
        self._others = {key(member.name) for member in self.members if member.kind in {"cl", "hlasm", "pli"}}
        for member in self.members:
            # Transactions first: a program's START is looked up among them.
            self._resources(member)
        for located in self.programs:
            self._program(located)
        for member in self.members:
            for called in member.calls:
                caller = CallingProgram(key(member.name), member.path, "static", False, called.line)
                for callee in self._called(called.program, None):
                    here = self._callers.setdefault(key(callee.facts.program), {})
                    here.setdefault(callee.path, []).append(caller)
        running = JobSteps(self.members)
        for member, job in running.jobs():
            if job.kind == "job":
                self._job(member, job, running)

    def called_by(self, program: str, path: str | None = None) -> tuple[CallingProgram, ...]:
        """Return the programs, in COBOL or CL, that call, link or transfer to a program.

        Args:
            program: Its name, in any case.
            path: Its file, if several may have a program of that name: `scope` decides which one a caller means.
        """
        here = self._callers.get(key(program), {})
        found = here.get(path, ()) if path is not None else (caller for callers in here.values() for caller in callers)
        return tuple(sorted(dict.fromkeys(found), key=lambda caller: (caller.path, caller.line)))

    def runs(self, program: str) -> tuple[StepRun, ...]:
        """Return the job steps that run a program, directly, through a procedure, or through TSO or IMS."""
        return tuple(self._runs.get(key(program), ()))

    def data_sets(self, program: str) -> tuple[DataSet, ...]:
        """Return the data sets of a program's files, by job and step."""
        return tuple(self._data.get(key(program), ()))

    def transactions(self, program: str) -> tuple[Transaction, ...]:
        """Return the transactions that start a program."""
        return tuple(self._transactions.get(key(program), ()))

    def users(self, kind: str, name: str) -> tuple[User, ...]:
        """Return the programs that use something.

        Args:
            kind: copybook, table, map, segment, file, tsqueue, tdqueue or queue.
            name: Its name, in any case.
        """
        return tuple(self._users.get((kind, key(name)), ()))

    def used(self, kind: str) -> tuple[str, ...]:
        """Return all names of a kind that are used, in capitals and in alphabetical order."""
        return tuple(sorted(name for found, name in self._users if found == kind))

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What is used but not here, by kind and name."""
        return tuple(Missing(kind, name, tuple(users)) for (kind, name), users in sorted(self._missing.items()))

    def _resources(self, member: Member) -> None:
        """Record the transactions that a member defines."""
        for resource in member.resources:
            program = resource.attributes.get("PROGRAM")
            if resource.kind == "TRANSACTION" and program:
                self._starts.setdefault(key(resource.name), {}).setdefault(key(program))
                for name in self._started_names(program):
                    self._transactions.setdefault(name, []).append(
                        Transaction(resource.name, program, member.path, resource.line)
                    )

    def _program(self, located: Located) -> None:
        """Record what a program calls, copies and uses."""
        path, facts = located
        for call in facts.calls:
            for name in self._targets(call, located):
                transaction = call.call_type in {"start", "return_transid"}
                # A transaction is called by its own name; the region says which program it starts.
                started = tuple(self._starts.get(key(name), ())) if transaction else ()
                caller = CallingProgram(facts.program, path, call.call_type, bool(call.resolved), call.line)
                is_reached = False
                for target in started if transaction else (name,):
                    callees = self._called(target, None if transaction else located)
                    is_reached = is_reached or bool(callees)
                    places = [(key(one.facts.program), one.path) for one in callees]
                    for program, where in places or [(key(target), "")]:
                        self._callers.setdefault(program, {}).setdefault(where, []).append(caller)
                here = started or is_reached or key(name) in self._others or is_interface(name)
                # A database procedure needs no program, most classes are in the language's library, and what a shop's
                # preprocessor calls may not be a program.
                if not here and call.call_type not in {"invoke", "sql", "method", "preprocessor"}:
                    self._miss("transaction" if transaction else "program", name, path)
        for copybook in facts.copybooks:
            self._use("copybook", copybook.name, located, (copybook.line,))
            if not copybook.found and not copybook.system:
                self._miss("copybook", copybook.name, path)
        for access in facts.crud:
            self._use(access.kind, access.resource, located, sorted({line for lines in access[2:] for line in lines}))
        for channel in (*facts.inputs, *facts.outputs):
            if channel.io_type == "map":
                self._use("map", channel.name, located, channel.lines)

    def _targets(self, call: ProgramCall, located: Located) -> Sequence[str]:
        """Return the names of what a call may reach: of the class that has a method, of the program that is a procedure, and the
        name as it is written where nothing declares it and a program has it.
        """
        if call.call_type == "method":
            return [self._names.reached(key(name)) for name in call.names]
        if call.call_type == "sql":
            return [program for name in call.names for program in self._procedures.get(key(name), (name,)) if program]
        target = key(call.target)
        if call.call_type == "dynamic" and not call.names and self._called(target, located):
            return () if any(key(item.name) == target for item in located.facts.items) else (target,)
        return call.names

    def _called(self, name: str, caller: Located | None) -> list[Located]:
        """Return the programs that a called name may mean; a job or a transaction (no caller) calls, too."""
        place = None if caller is None else _place(caller)
        return [self._entries[at] for at in self._names.called(key(name), place)]

    def _started_names(self, program: str) -> Iterable[str]:
        """Return the names of the programs that a job or transaction starts by a name; that name if none of them is here."""
        return dict.fromkeys(key(one.facts.program) for one in self._called(program, None)) or (key(program),)

    def _use(self, kind: str, name: str, located: Located, lines: Sequence[int]) -> None:
        """Record that a program uses something; another use of the same adds its lines."""
        users = self._users.setdefault((kind, key(name)), [])
        if users and users[-1].path == located.path and users[-1].program == located.facts.program:
            users[-1] = users[-1]._replace(lines=tuple(sorted({*users[-1].lines, *lines})))
        else:
            users.append(User(located.facts.program, located.path, tuple(lines)))

    def _miss(self, kind: str, name: str, path: str) -> None:
        """Record that a name is used but not here."""
        self._missing.setdefault((kind, key(name)), {}).setdefault(path)

    def _job(self, member: Member, job: Job, running: JobSteps) -> None:
        """Record the steps of a job, with those of its procedures in place."""
        for one in running.steps(member, job):
            if one.is_cut:
                self._miss(
                    "step", f"{job.name or member.name}: what comes after its first {MAX_STEPS} steps", member.path
                )
            if one.is_missing and one.step.procedure:
                self._miss("procedure", one.step.procedure, one.places[-1][0])
            for _, dd in one.dds:
                stream = () if dd.members else dd.in_stream
                for found in _PROGRAM.finditer("\n".join(stream)):
                    self._miss("program in a job", found[1], member.path)
            if one.step.procedure is not None:
                continue
            via = one.above[-1] if one.above else ""
            run = StepRun(job.name or member.name, one.names[0], via, member.path, one.places[0][1])
            for program in one.step.programs:
                for name in self._started_names(program):
                    self._runs.setdefault(name, []).append(run)
                self._bind(program, run, [dd for _, dd in one.dds])

    def _bind(self, program: str, run: StepRun, dds: Sequence[Dd]) -> None:
        """Record which data sets a step gives to the files of a program, by DD name."""
        by_name = {key(dd.name): dd for dd in dds}
        for located in self._called(program, None):
            name = located.facts.program
            for file in located.facts.files:
                dd = by_name.get(key(file.dd or ""))
                if dd is not None:
                    bound = DataSet(
                        name, file.name, dd.name, dd.read_dsns, dd.other, run.job, run.step, run.path, dd.line
                    )
                    self._data.setdefault(key(name), []).append(bound)
