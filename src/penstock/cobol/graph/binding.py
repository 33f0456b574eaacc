"""Which data sets are the files of programs: by the steps of jobs, by CL, and by the files' own names?

Leaves to others: what jobs say (`jobs`), what one program says of its files (`file_bindings`), and which programs a step runs
(`callees`). Law: every edge has a citation.
"""

from __future__ import annotations

import posixpath
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ..estate.jcl import OF_A_VARIABLE
from ..program import key
from . import copying, jobs
from .browsing import browsed
from .structure import node_of
from .values import CitedLine, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from ..estate.cl import ClCall
    from ..estate.members import Member
    from .callees import Callees
    from .copying import CopiedRecords, WrittenPlace
    from .drawing import Drawing
    from .values import Certainty, FileBinding, FileName, ProgramPart, Verb

_DIRECTED = "each call here directs the file to another"
_SET = "a script sets the variable that names the file"
_CALLED = "it is the file of a program that may be called"
_ELSEWHERE = "only the SELECT names it, and programs in other folders have a file of that name"


class _Called(NamedTuple):
    """A program that another one calls, at some depth."""

    call: EstateEdge
    """The last of the calls that lead to it."""
    certainty: Certainty
    above: _Called | None
    """The program that has this call; None for the one with which the calls begin."""

    def edge(self) -> EstateEdge:
        """Return the calls as one edge, which cites each of them.

        Only the programs with a file that is wanted are asked: chains kept for all would be as long as the calls are deep.
        """
        cited: list[CitedLine] = []
        one: _Called | None = self
        while one is not None:
            cited.append(one.call.citations[0])
            one = one.above
        return self.call._replace(certainty=self.certainty, citations=tuple(reversed(cited)))


class Binding:
    """The files of programs, bound to data sets.

    Args:
        parts: The parts of the estate, with unique names.
        members: The other files.
        callees: The programs that names lead to.
        drawing: The edges, to which those of data sets are added.
    """

    def __init__(
        self, parts: Sequence[ProgramPart], members: Sequence[Member], callees: Callees, drawing: Drawing
    ) -> None:
        self._parts, self._members, self._callees, self._drawing = parts, members, callees, drawing
        self.bindings: dict[NodeId, list[tuple[int, FileBinding]]] = {}
        """The files that are bound to each data set, with the numbers of their parts."""
        self._known: set[tuple[NodeId, int, str]] = set()
        """What `bindings` has, to find it."""
        self.copied: dict[NodeId, list[CopiedRecords]] = {}
        """The copies of data sets by job steps, by source and by target."""
        self.written: dict[NodeId, list[WrittenPlace]] = {}
        """The places and lengths that job steps state in numbers about the records of each data set."""
        self._set: set[tuple[int, str]] = set()
        """The files that a variable of a script names, each with the number of its part."""
        self._controlled: dict[str, list[tuple[str, ClCall]]] = {}
        """The calls of CL programs, each with its path, by the program that is called."""
        for member in members:
            for call in member.calls:
                self._controlled.setdefault(call.program, []).append((member.path, call))
        self._having: dict[str, set[int]] = {}
        """The parts with files that may have each DD name."""
        for number, part in enumerate(parts):
            for dd in chain.from_iterable(file.dds for file in part.files):
                self._having.setdefault(dd, set()).add(number)
        self._numbers = {part.name: number for number, part in enumerate(parts) if part.kind == "program"}
        self._calls: dict[str, list[EstateEdge]] = {}
        """The calls of each program to programs that are here."""
        self._below: dict[str, dict[int, _Called]] = {}
        """What `_called_by` has found."""

    def add(self, all_jobs: Iterable[jobs.EstateJob]) -> None:
        """Add what the steps of all jobs do with data sets, and the files that programs find without a job."""
        for edge in self._drawing.of_verb("calls"):
            is_of_program = edge.source.kind == "program"  # a copybook may have the name of one that does not copy it
            if is_of_program and edge.certainty != "unknown" and edge.target.name in self._numbers:
                self._calls.setdefault(edge.source.name, []).append(edge)
        of_jobs = [[step for step in job.steps if not step.is_expanded] for job in all_jobs]
        self._browse(list(chain.from_iterable(of_jobs)))
        for steps in of_jobs:
            self._job(steps)
        self._copy()
        self._own_names()
        self._described_keys()

    def _job(self, steps: Sequence[jobs.StepOfJob]) -> None:
        """Add what the steps of one job do with data sets."""
        for step in steps:
            for edge in (*jobs.repro(step), *jobs.catalogued(step), *jobs.tables(step)):
                self._drawing.add(edge)
        uses: dict[NodeId, list[jobs.StepDataSet]] = {}
        named = list(jobs.data_uses(steps))
        for use in (*named, *self._in_folders(named)):
            self._bind(use)
            if not use.is_ignored:
                uses.setdefault(use.step.node, []).append(use)
        for step in steps:
            mine = uses.get(step.node, ())
            for copy in copying.copied(step, mine):
                for end in (copy.source, copy.target):
                    self.copied.setdefault(end, []).append(copy)
            for place in copying.written(step, mine):
                self.written.setdefault(place.data_set, []).append(place)

    def _copy(self) -> None:
        """Add the copies of files by CL programs."""
        copies = (copying.copied_by_cl(member, self._callees.in_cl(member)) for member in self._members)
        for copy, doubt in chain.from_iterable(copies):
            sure: Certainty = "may" if doubt else "is"
            self._drawing.add(EstateEdge(copy.step, "reads", copy.source, sure, copy.citations, doubt))
            self._drawing.add(EstateEdge(copy.step, "writes", copy.target, sure, copy.citations, doubt))
            for store in (copy.source, copy.target):
                self.copied.setdefault(store, []).append(copy)

    def _browse(self, steps: Sequence[jobs.StepOfJob]) -> None:
        """Add the segments that DL/I calls may use without naming them, by the PSBs with which their programs run."""
        psbs = {key(psb.name): (member.path, psb) for member in self._members for psb in member.psbs}
        run_with: dict[str, set[str]] = {}
        for step in steps if psbs else ():
            for program in step.step.programs:
                run_with.setdefault(key(program), set()).add(key(step.step.psb or ""))
        for part in self._parts if psbs else ():
            if part.unnamed_calls:
                # IMS schedules a message program with the PSB that has its name.
                name = part.own_name
                found = [psbs[one] for one in sorted({name, *run_with.get(name, ())}) if one in psbs]
                for edge in browsed(part, found):
                    self._drawing.add(edge)

    def _in_folders(self, uses: Sequence[jobs.StepDataSet]) -> Iterator[jobs.StepDataSet]:
        """Yield the files without a folder and a variable of their own that steps find in the folder of COB_FILE_PATH."""
        have = {(use.step.node, use.dd) for use in uses}
        for use in uses:
            if use.dd != jobs.FOLDER or use.disposition != OF_A_VARIABLE:
                continue
            called = chain.from_iterable(self._callees.called(program) for program in use.step.step.programs)
            own = dict.fromkeys(number for number, _ in called)
            below = (self._called_by(self._parts[number].name) for number in own)
            # Many programs may have one file: it is in the folder once.
            names = dict.fromkeys(
                (file.dds[0], named.name)
                for number in dict.fromkeys(chain(own, *below))
                for file in self._parts[number].files
                if file.dds and not any((use.step.node, dd) in have for dd in file.dds)
                for named in file.own_names
                if "/" not in named.name
            )
            for dd, name in names:
                yield use._replace(dd=dd, data_set=NodeId("dataset", f"{use.data_set.name}/{name}"))

    def _bind(self, use: jobs.StepDataSet) -> None:
        """Add what a step does with a data set, and which files of its programs are bound to it."""
        done: dict[Verb, str] = {}
        is_here = False
        for program in use.step.step.programs:
            name = program.upper()
            found = self._callees.called(name)
            doubt = self._callees.doubt(name, found)
            ways = []
            for number in dict.fromkeys(number for number, _ in found):
                files = [file for file in self._parts[number].files if use.dd in file.dds]
                self._bind_files(use, number, files, doubt)
                ways.append(dict(jobs.direction(use, files)) if files else {})
                is_here = is_here or bool(files)
            runs_one = len(ways) > 1 and not self._callees.is_file(name)
            for verb, why in chain.from_iterable(way.items() for way in ways):
                # Whichever of several programs runs, what all of them do is done.
                is_sure = not doubt or (runs_one and all(verb in way for way in ways))
                said = why or ("" if is_sure else doubt)
                done[verb] = said and done.get(verb, said)
        for number, call in self._called_below(use):
            files = [file for file in self._parts[number].files if use.dd in file.dds]
            doubt = "" if call.certainty == "is" else _CALLED
            self._bind_files(use._replace(citations=(*use.citations, *call.citations)), number, files, doubt)
            is_here = True
            for verb, why in jobs.direction(use, files):
                done[verb] = (why or doubt) and done.get(verb, why or doubt)
        # JCL says whether a data set is new or old, but seldom whether it is read or written: the programs of the step do.
        for verb, why in (done if is_here else dict(jobs.direction(use, ()))).items():
            citations = (*use.citations, *use.step.citations)
            self._drawing.add(EstateEdge(use.step.node, verb, use.data_set, "may" if why else "is", citations, why))

    def _called_below(self, use: jobs.StepDataSet) -> Iterator[tuple[int, EstateEdge]]:
        """Yield the programs with files of a DD that those of its step call, at any depth: they have the DDs of the step, too."""
        having: AbstractSet[int] = self._having.get(use.dd, frozenset())
        for program in use.step.step.programs if having else ():
            found = self._callees.called(program.upper())
            own = {number for number, _ in found}
            is_sure = not self._callees.doubt(program.upper(), found)
            for caller in sorted(own):
                below = self._called_by(self._parts[caller].name)
                for number in sorted(below.keys() & having - own):
                    edge = below[number].edge()
                    yield number, edge if is_sure else edge._replace(certainty="may")

    def _called_by(self, program: str) -> dict[int, _Called]:
        """Return the programs that one calls, at any depth, each by the surest calls that lead there."""
        if program not in self._below:
            found = self._below[program] = {}
            sures: tuple[Certainty, ...] = ("is", "may")
            for sure in sures:
                waiting: list[tuple[str, _Called | None]] = [(program, None)]
                waiting += [(one.call.target.name, one) for one in found.values()]
                for caller, above in waiting:
                    for call in self._calls.get(caller, ()):
                        number = self._numbers[call.target.name]
                        if number not in found and call.certainty in ("is", sure):
                            found[number] = _Called(call, sure, above)
                            waiting.append((call.target.name, found[number]))
        return self._below[program]

    def _bind_files(self, use: jobs.StepDataSet, number: int, files: Sequence[FileBinding], doubt: str) -> None:
        """Bind files of a program to the data set that a step gives to them; `doubt` is why it may not run that program."""
        for file in files:
            why = file.why(use.data_set.name) or doubt or use.doubt
            certainty: Certainty = "may" if why else "is"
            place = CitedLine(self._parts[number].path, file.line)
            citations = (*use.citations, *use.step.citations, place)
            self._drawing.add(
                EstateEdge(NodeId("file", file.name), "bound to", use.data_set, certainty, citations, why)
            )
            if use.disposition == OF_A_VARIABLE:
                self._set.add((number, file.name))
            if not use.is_ignored:
                self._bound(use.data_set, number, file)

    def _own_names(self) -> None:
        """Add the files that programs open by their own names: the same name is the same file in every program, perhaps not if it
        is that of a SELECT and the programs are of several folders.
        """
        has_jobs = any(member.jobs and member.kind not in {"script", "jsl"} for member in self._members)
        folders: dict[str, set[str]] = {}
        for part in self._parts:
            for named in chain.from_iterable(file.own_names for file in part.files):
                folders.setdefault(named.name, set()).add(posixpath.dirname(part.path))
        afar = {name for name, of in folders.items() if len(of) > 1}
        for number, part in enumerate(self._parts):
            for file in (_doubted(one, afar) for one in part.files):
                for named in file.own_names:
                    if has_jobs and not named.is_path:
                        continue
                    cited = (CitedLine(part.path, file.line), *([named.said_by] if named.said_by else ()))
                    for name, why, places in self._directed(part, named):
                        store = NodeId("dataset", name)
                        doubt = why or (_SET if (number, file.name) in self._set else "")
                        certainty: Certainty = "may" if doubt else "is"
                        citations = (*cited, *places)
                        self._drawing.add(
                            EstateEdge(NodeId("file", file.name), "bound to", store, certainty, citations, doubt)
                        )
                        self._bound(store, number, file)

    def _bound(self, store: NodeId, number: int, file: FileBinding) -> None:
        """Record that a file is bound to a data set, once: a thousand files may each have any of the names of an item."""
        if (store, number, file.name) not in self._known:
            self._known.add((store, number, file.name))
            self.bindings.setdefault(store, []).append((number, file))

    def _described_keys(self) -> None:
        """Add the keys of files whose programs leave them to the description of the file."""
        keys = {
            member.name.upper(): [(name, CitedLine(member.path, line)) for name, line in member.described.keys]
            for member in self._members
            if member.described is not None
        }
        for part in self._parts:
            files = [file for file in part.files if file.is_key_described] if keys else []
            fields: dict[str, list[int]] = {}
            for index, field in enumerate(part.fields if files else ()):
                fields.setdefault(field.name.rpartition(".")[2], []).append(index)
            for file in files:
                said = [one for named in file.own_names for one in keys.get(named.name.upper(), ())]
                for index, place in ((index, place) for name, place in said for index in fields.get(name, ())):
                    if part.fields[index].record in file.records:
                        cited = (CitedLine(part.path, file.line), place)
                        self._drawing.add(
                            EstateEdge(node_of(part, index), "is key of", NodeId("file", file.name), "is", cited)
                        )

    def _directed(self, part: ProgramPart, named: FileName) -> Iterator[tuple[str, str, tuple[CitedLine, ...]]]:
        """Yield the files that a file may be, each with what is in doubt, and who says so: CL directs it for each call."""
        calls = self._controlled.get(part.own_name, ())
        is_itself = not calls
        for path, call in calls:
            others = [(to, lines) for file, to, lines in call.directed if file == named.name.upper()]
            is_itself = is_itself or not others
            for to, lines in others:
                if to:
                    yield to, named.why, tuple(CitedLine(path, line) for line in (*lines, call.line, *call.said_lines))
        yield named.name, named.why if is_itself else _DIRECTED, ()


def _doubted(file: FileBinding, afar: AbstractSet[str]) -> FileBinding:
    """Return a file with its own names, of which those that only a SELECT gives are in doubt if programs afar have them too."""
    names = (one._replace(other=_ELSEWHERE) if one.is_of_select and one.name in afar else one for one in file.own_names)
    return file._replace(own_names=tuple(names))
