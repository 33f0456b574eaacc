"""What do the programs of an estate use, on which data do jobs run them, and which names lead nowhere (C-16)?

These are the tables that an estate is listed in. Which programs a name means is asked of the graph. Law: a row consists of names
from the sources, as they are written there; what leads nowhere is listed as missing, not dropped.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..estate.running import MAX_STEPS
from ..facts.calls import is_interface
from ..program import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..estate.jcl import Dd
    from ..facts.values import Facts
    from .estates import EstateGraph
    from .jobs import EstateJob
    from .values import ProgramPart

_PROGRAM = re.compile(r"^(?:.{6} )?[ ]*PROGRAM-ID[ ]*\.[\s'\"]*([\w$#@-]+)", re.IGNORECASE | re.MULTILINE)
"""The header of a COBOL program."""
_OTHERS = frozenset({"cl", "hlasm", "pli"})
"""The kinds of members that are programs in other languages."""
_NEVER_MISSING = frozenset({"invoke", "sql", "method", "preprocessor"})
"""The calls of what need not be here: a database procedure needs no program, most classes are in the language's library, and what a
shop's preprocessor calls may not be a program."""


class DataSet(NamedTuple):
    """A file of a program as a job step binds it: SELECT name, DD name, and the data sets."""

    file: str
    dd: str
    dsns: tuple[str, ...]
    """The data sets of the DD that the system reads: those in front of a DUMMY."""
    job: str
    step: str
    path: str
    line: int


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
    """A program of the estate: its part of the graph, and its facts."""

    part: ProgramPart
    facts: Facts


class Inventory:
    """The tables of an estate. Every answer is in the order of paths and lines.

    Args:
        graph: The graph of the estate.
        programs: Its programs, in order of paths.
    """

    def __init__(self, graph: EstateGraph, programs: Iterable[Located]) -> None:
        self._graph = graph
        self.members = graph.members
        self.programs = tuple(programs)
        self._at = {(one.part.path, one.part.line): number for number, one in reversed([*enumerate(self.programs)])}
        self._run: dict[tuple[str, str], set[int]] = {}
        """The numbers of the programs that each job runs, by the path and the name of the job."""
        self._titles = {(job.path, job.name): job.title for job in graph.jobs}
        self._data: dict[int, list[DataSet]] = {}
        self._users: dict[tuple[str, str], list[User]] = {}
        self._missing: dict[tuple[str, str], dict[str, None]] = {}
        started = {
            edge.source.name for edge in graph.drawn if edge.source.kind == "transaction" and edge.verb == "runs"
        }
        others = {key(member.name) for member in self.members if member.kind in _OTHERS}
        for one in self.programs:
            self._calls(one, started, others)
            self._uses(one)
        for job in graph.jobs:
            if job.node.kind == "job":
                self._job(job)

    def is_job(self, path: str, name: str) -> bool:
        """Return whether the steps of a name in a file are a job: with a JOB card, or without one if no other member needs them."""
        return (path, name) in self._run

    def title(self, path: str, name: str) -> str:
        """Return the name of a job or procedure in a file, with its member if others have it."""
        return self._titles.get((path, name), name)

    def run_by(self, path: str, job: str) -> tuple[Located, ...]:
        """Return the programs that a job runs, directly, through a procedure, or through TSO or IMS.

        Args:
            path: The file of the job.
            job: Its name, as written.
        """
        return tuple(self.programs[number] for number in sorted(self._run.get((path, job), ())))

    def data_sets(self) -> Iterator[tuple[Located, DataSet]]:
        """Yield the data sets of each program's files, by job and step."""
        for number, one in enumerate(self.programs):
            for bound in self._data.get(number, ()):
                yield one, bound

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

    def _calls(self, one: Located, started: set[str], others: set[str]) -> None:
        """Record which programs and transactions a program names that are not here.

        Args:
            one: The program.
            started: The transactions of which it is known which program they start.
            others: The names of programs in other languages.
        """
        for call in one.facts.calls:
            is_transaction = call.call_type in {"start", "return_transid"}
            for name in () if call.call_type in _NEVER_MISSING else call.names:
                at = key(name)
                is_here = at in started if is_transaction else bool(self._graph.called(at, one.part))
                if not (is_here or at in others or is_interface(name)):
                    self._miss("transaction" if is_transaction else "program", name, one.part.path)

    def _uses(self, one: Located) -> None:
        """Record what a program copies and uses."""
        facts = one.facts
        for copybook in facts.copybooks:
            self._use("copybook", copybook.name, one, (copybook.line,))
            if not copybook.found and not copybook.system:
                self._miss("copybook", copybook.name, one.part.path)
        for access in facts.crud:
            self._use(access.kind, access.resource, one, sorted({line for lines in access[2:] for line in lines}))
        for channel in (*facts.inputs, *facts.outputs):
            if channel.io_type == "map":
                self._use("map", channel.name, one, channel.lines)

    def _use(self, kind: str, name: str, one: Located, lines: Sequence[int]) -> None:
        """Record that a program uses something; another use of the same adds its lines."""
        path, program = one.part.path, one.facts.program
        users = self._users.setdefault((kind, key(name)), [])
        if users and users[-1][:2] == (program, path):
            users[-1] = users[-1]._replace(lines=tuple(sorted({*users[-1].lines, *lines})))
        else:
            users.append(User(program, path, tuple(lines)))

    def _miss(self, kind: str, name: str, path: str) -> None:
        """Record that a name is used but not here."""
        self._missing.setdefault((kind, key(name)), {}).setdefault(path)

    def _job(self, job: EstateJob) -> None:
        """Record the programs that a job runs, and their data sets."""
        run = self._run.setdefault((job.path, job.name), set())
        for one in job.steps:
            if one.running.is_cut:
                self._miss("step", f"{job.name}: what comes after its first {MAX_STEPS} steps", job.path)
            if one.running.is_missing and one.step.procedure:
                self._miss("procedure", one.step.procedure, one.citations[-1].path)
            dds = [dd for _, dd in one.dds]
            for dd in dds:
                stream = () if dd.members else dd.in_stream
                for found in _PROGRAM.finditer("\n".join(stream)):
                    self._miss("program in a job", found[1], job.path)
            for program in one.step.programs if one.step.procedure is None else ():
                for part in self._graph.called(key(program)):
                    number = self._at.get((part.path, part.line))
                    if number is not None:  # one in CL is in no table of programs
                        run.add(number)
                        self._data.setdefault(number, []).extend(
                            DataSet(file, dd.name, dd.read_dsns, job.title, one.running.names[0], job.path, dd.line)
                            for file, dd in _bound(self.programs[number].facts, dds)
                        )


def _bound(facts: Facts, dds: Sequence[Dd]) -> Iterator[tuple[str, Dd]]:
    """Yield the files of a program for which a step has a DD, each with that DD."""
    by_name = {key(dd.name): dd for dd in dds}
    for file in facts.files:
        dd = by_name.get(key(file.dd or ""))
        if dd is not None:
            yield file.name, dd
