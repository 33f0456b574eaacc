"""Which edges join the parts of an estate: calls by name with what they pass, stored procedures, jobs, and data sets?

Leaves to others: which programs a name means (`callees`), what one program says (`programs`), and what jobs say
(`jobs`). Laws: every edge has a citation; edges that say the same are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..estate.jcl import OF_A_VARIABLE
from ..estate.members import stem
from ..facts.data import WHOLE
from ..program import key
from . import copying, jobs
from .browsing import browsed
from .structure import nearest_named
from .values import RANK, CitedLine, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..estate.cl import ClCall
    from ..estate.members import Member
    from ..facts.data import MoveWay
    from .callees import Callees
    from .copying import CopiedRecords, WrittenPlace
    from .values import Certainty, FileBinding, FileName, Passing, ProgramEntry, ProgramPart, Verb

_COMMAREA = "DFHCOMMAREA"
_BACK = frozenset({"return", "calculation"})
MAX_SCHEMAS = 8
"""The maximum number of schemas in which a table that is named without one is looked up; if more have it, none is reported."""
_UNDECLARED = "nothing here declares the name, and a program has it"
_DIRECTED = "each call here directs the file to another"
_SET = "a script sets the variable that names the file"
_NO_SCHEMA = "the statement names no schema, and the table may be {0}"


class PassedField(NamedTuple):
    """A field that is passed to another program, or returned by one."""

    sender: tuple[int, int]
    """The number of its part, and its index in the fields of that part; the same for `receiver`."""
    receiver: tuple[int, int]
    is_returned: bool
    way: MoveWay
    certainty: Certainty
    why: str
    citations: tuple[CitedLine, ...]


class Linking:
    """The edges between parts: calls by name, parameters, jobs, data sets.

    Args:
        parts: The parts of the estate, with unique names.
        members: The other files.
        owner: The number of the part of each program or copybook, by kind and name.
        callees: The programs that names lead to.
    """

    def __init__(
        self, parts: Sequence[ProgramPart], members: Sequence[Member], owner: Mapping[str, int], callees: Callees
    ) -> None:
        self._parts, self._members, self._owner, self._callees = parts, members, owner, callees
        self._drawn: dict[tuple[NodeId, Verb, NodeId], EstateEdge] = {}
        self.bindings: dict[NodeId, list[tuple[int, FileBinding]]] = {}
        self._known: set[tuple[NodeId, int, str]] = set()
        """What `bindings` has, to find it."""
        self._procedures: dict[str, list[tuple[str, CitedLine]]] = {}
        """The programs that stored procedures run, by the procedure's name without schema; "" for one that runs none."""
        for member in self._members:
            for one in member.procedures:
                program = one.program.upper(), CitedLine(member.path, one.line)
                self._procedures.setdefault(one.name.upper().rpartition(".")[2], []).append(program)
        self.passed: list[PassedField] = []
        self.copied: dict[NodeId, list[CopiedRecords]] = {}
        self.written: dict[NodeId, list[WrittenPlace]] = {}
        self._transactions: dict[str, list[tuple[str, Certainty]]] = {}
        self._set: set[tuple[int, str]] = set()
        """The files that a variable of a script names, each with the number of its part."""
        self._controlled: dict[str, list[tuple[str, ClCall]]] = {}
        """The calls of CL programs, each with its path, by the program that is called."""

    def edges(self) -> tuple[EstateEdge, ...]:
        """Return all edges of the estate."""
        # The region comes first because it says which program a transaction starts: what is sent to the one goes to the other.
        for edge in jobs.region(self._members):
            if edge.source.kind == "transaction":
                self._transactions.setdefault(edge.source.name, []).append((edge.target.name, edge.certainty))
            self._add_to_programs(edge)
        for part in self._parts:
            for edge in part.edges:
                self._add_to_programs(edge, part)
                self._undeclared(edge, part)
        for number, part in enumerate(self._parts):
            for sending in part.sendings:
                self._send(number, part, sending)
        self._commands()
        self._control()
        self._jobs()
        self._own_names()
        self._described_keys()
        self._schemas()
        return tuple(self._drawn.values())

    def _undeclared(self, edge: EstateEdge, part: ProgramPart) -> None:
        """Add, for a CALL by a name that nothing declares, that it may mean the program of this name, if that is here."""
        if edge.verb != "calls" or edge.target.kind != "field":
            return
        name = edge.target.name.removeprefix(f"{part.name}.")
        if self._callees.called(name, part) and not any(f".{field.name}".endswith(f".{name}") for field in part.fields):
            self._add_to_programs(edge._replace(target=NodeId("program", name), certainty="may", why=_UNDECLARED), part)

    def _commands(self) -> None:
        """Add the calls by system commands, which run a program by its name or by that of its file."""
        named: dict[str, dict[str, None]] = {}
        for part in self._parts:
            if part.kind == "program":
                for name in (part.name.partition("@")[0], key(stem(part.path))):
                    named.setdefault(name, {})[part.name] = None
        for part in self._parts:
            for name, citations in part.commands:
                for program in named.get(name, ()):
                    places = tuple(dict.fromkeys(citations))
                    me, other = NodeId(part.kind, part.name), NodeId("program", program)
                    self._add(EstateEdge(me, "calls", other, "may", places, "by a command of the system"))

    def _control(self) -> None:
        """Add the calls of CL programs."""
        for member in self._members:
            for call in member.calls:
                me, other = NodeId("program", member.name.upper()), NodeId("program", call.program)
                place = CitedLine(member.path, call.line)
                certainty: Certainty = "is" if call.is_sure else "may"
                why = "" if call.is_sure else "a variable of CL has its name"
                self._add_to_programs(EstateEdge(me, "calls", other, certainty, (place,), why))
                self._controlled.setdefault(call.program, []).append((member.path, call))

    def _schemas(self) -> None:
        """Add that an edge of a table without a schema may be one of each table of that name that has a schema.

        A statement that names no schema gets one when its program is bound; no source says which.
        """
        named = {
            end.name: None for edge in self._drawn.values() for end in (edge.source, edge.target) if end.kind == "table"
        }
        named |= {table.name.upper(): None for member in self._members for table in member.tables}
        of_schemas: dict[str, list[NodeId]] = {}
        for name in named:
            schema, _, bare = name.rpartition(".")
            if schema and bare in named:
                of_schemas.setdefault(bare, []).append(NodeId("table", name))
        for edge in list(self._drawn.values()) if of_schemas else ():
            sure: Certainty = "may" if edge.certainty == "is" else edge.certainty
            for table in self._perhaps(edge.source, of_schemas):
                self._add(edge._replace(source=table, certainty=sure, why=edge.why or _NO_SCHEMA.format(table)))
            for table in self._perhaps(edge.target, of_schemas):
                self._add(edge._replace(target=table, certainty=sure, why=edge.why or _NO_SCHEMA.format(table)))

    def _perhaps(self, node: NodeId, of_schemas: Mapping[str, list[NodeId]]) -> Sequence[NodeId]:
        """Return the tables that may be meant by a table without a schema."""
        found = of_schemas.get(node.name, ()) if node.kind == "table" else ()
        return found if len(found) <= MAX_SCHEMAS else ()

    def _add(self, edge: EstateEdge) -> None:
        """Add an edge; edges that say the same become one, with the better certainty and the citations of both."""
        said = (edge.source, edge.verb, edge.target)
        known = self._drawn.get(said)
        if known is None:
            self._drawn[said] = edge
            return
        surer = known if RANK[known.certainty] <= RANK[edge.certainty] else edge
        citations = known.citations + tuple(one for one in edge.citations if one not in known.citations)
        ways = known.ways
        if ways != edge.ways:
            ways = tuple(dict.fromkeys((*(ways or (WHOLE,)), *(edge.ways or (WHOLE,)))))
        self._drawn[said] = surer._replace(citations=citations, ways=ways)

    def _add_to_programs(self, edge: EstateEdge, part: ProgramPart | None = None) -> None:
        """Add an edge of a part; one that leads to a program by name leads to every program that may be meant."""
        if edge.target.kind != "program":
            self._add(edge)
            return
        if part is not None and edge.certainty == "may" and edge.target.name in part.procedures:
            for other in self._of_procedure(edge):
                self._add_to_programs(other)
            return
        name = self._callees.reached(edge.target.name)
        found = self._callees.called(name, part)
        nodes = self._nodes(name, found)
        hidden, doubt = "" if found else self._callees.hidden(name), self._callees.doubt(name)
        for node in nodes:
            certainty: Certainty = "unknown" if hidden else edge.certainty
            why = hidden or edge.why
            if (doubt or len(nodes) > 1) and certainty == "is":
                certainty, why = "may", doubt or f"several programs are called {name}"
            elif not doubt and node.name.partition("@")[0] != name:
                why = why or f"by its entry {name}"
            self._add(edge._replace(target=node, certainty=certainty, why=why))

    def _of_procedure(self, edge: EstateEdge) -> Iterator[EstateEdge]:
        """Yield the calls of the programs that a stored procedure runs; the call itself if no source of the estate creates it."""
        created = self._procedures.get(edge.target.name, ())
        if not created:
            yield edge
        several = len({program for program, _ in created}) > 1
        for program, place in created:
            said = edge._replace(citations=(*edge.citations, place))
            if not program:
                yield said._replace(certainty="unknown", why="the procedure of the database is in SQL or Java")
            elif several:
                yield said._replace(target=NodeId("program", program), why="the procedure is created more than once")
            else:
                yield said._replace(target=NodeId("program", program), certainty="is", why="")

    def _nodes(self, name: str, entries: Iterable[tuple[int, ProgramEntry]]) -> list[NodeId]:
        """Return the nodes of the programs that some entries belong to; that of the called name if there are none."""
        found = dict.fromkeys(self._parts[number].name for number, _ in entries)
        return [NodeId("program", one) for one in found] or [NodeId("program", name)]

    def _send(self, number: int, part: ProgramPart, sending: Passing) -> None:
        """Add what is passed to each program that a call may reach."""
        for name, certainty in sending.targets:
            if certainty == "unknown":
                if self._callees.called(name, part):
                    self._pass(number, part, sending._replace(why=_UNDECLARED), name, "may")
                continue
            programs: list[tuple[str, Certainty]] = [(name, certainty)]
            if certainty == "may" and name in part.procedures and name in self._procedures:
                known = {program for program, _ in self._procedures[name] if program}
                programs = [(program, "is" if len(known) == 1 else "may") for program in sorted(known)]
            if sending.by == "transaction":
                programs = [
                    (program, certainty if RANK[certainty] >= RANK[sure] else sure)
                    for program, sure in self._transactions.get(name, ())
                ]
            for program, sure in programs:
                self._pass(number, part, sending, program, sure)

    def _pass(self, number: int, part: ProgramPart, sending: Passing, program: str, certainty: Certainty) -> None:
        """Add what one program receives."""
        end_line = sending.end_line if sending.end_line > sending.line else None
        here = CitedLine(part.path, sending.line, sending.copybook, end_line)
        # A region starts programs by name, whichever program requests the transaction.
        program = self._callees.reached(program)
        found = self._callees.called(program, None if sending.by == "transaction" else part)
        hidden = "" if found else self._callees.hidden(program)
        why = sending.why
        doubt = self._callees.doubt(program)
        if (doubt or len(found) > 1) and certainty == "is":
            certainty, why = "may", doubt or f"several programs are called {program}"
        for at, (argument, way) in enumerate(zip(sending.arguments, sending.ways, strict=True)):
            if argument is None:
                continue
            if isinstance(argument, str):
                source = NodeId("field", argument)
                sender = self._outer(source)
            else:
                source = _node(part, argument)
                sender = (number, argument)
            if sending.by in _BACK:
                self._get_back(found, sending.by, source, sender, here, certainty, why)
                continue
            received = [
                (callee, index, entry)
                for callee, entry in found
                if (index := self._parameter(callee, entry, sending, at)) is not None
            ]
            for callee, index, entry in received:
                other = self._parts[callee]
                field = other.fields[index]
                taken = (CitedLine(other.path, entry.line),) if sending.by == "call" else ()
                places = (here, *taken, CitedLine(other.path, field.line, field.copybook))
                cited, ways = tuple(dict.fromkeys(places)), () if way == WHOLE else (way,)
                self._add(EstateEdge(source, "passes to", _node(other, index), certainty, cited, why, ways))
                if sender is not None:
                    self.passed.append(PassedField(sender, (callee, index), False, way, certainty, why, places))
            if not received:
                sure: Certainty = "unknown" if hidden else certainty
                for node in self._nodes(program, found):
                    self._add(EstateEdge(source, "passes to", node, sure, (here,), hidden or why))

    def _get_back(
        self,
        found: Sequence[tuple[int, ProgramEntry]],
        by: str,
        target: NodeId,
        receiver: tuple[int, int] | None,
        here: CitedLine,
        certainty: Certainty,
        why: str,
    ) -> None:
        """Add what a field receives from the programs that a call may reach: the item that each of them returns."""
        for callee, entry in found:
            if entry.returned is None:
                continue
            other = self._parts[callee]
            field = other.fields[entry.returned]
            places = (here, CitedLine(other.path, entry.line), CitedLine(other.path, field.line, field.copybook))
            verb: Verb = "passes to" if by == "return" else "computes"
            source = _node(other, entry.returned)
            self._add(EstateEdge(source, verb, target, certainty, tuple(dict.fromkeys(places)), why))
            if by == "return" and receiver is not None:
                self.passed.append(PassedField((callee, entry.returned), receiver, True, WHOLE, certainty, why, places))

    def _outer(self, node: NodeId) -> tuple[int, int] | None:
        """Return the part and the index of a field that belongs to a containing program."""
        number = next((self._owner[at] for at in _holders(node.name) if at in self._owner), None)
        if number is None:
            return None
        fields = self._parts[number].fields
        return next(((number, index) for index, one in enumerate(fields) if one.name == node.name), None)

    def _parameter(self, callee: int, entry: ProgramEntry, sending: Passing, at: int) -> int | None:
        """Return the field of a called program that receives an argument; None if there is none."""
        if sending.by == "call":
            return entry.parameters[at] if at < len(entry.parameters) else None
        wanted = f".{_COMMAREA}"
        fields = self._parts[callee].fields
        return next(
            (index for index, one in enumerate(fields) if one.section == "LINKAGE" and one.name.endswith(wanted)), None
        )

    def _jobs(self) -> None:
        """Add the steps of all jobs, what they run, and what they do with data sets."""
        of_job: dict[NodeId, list[jobs.StepOfJob]] = {}
        for found in jobs.steps(self._members):
            if isinstance(found, EstateEdge):
                self._add_to_programs(found)
            else:
                of_job.setdefault(found.job, []).append(found)
        self._browse([step for steps in of_job.values() for step in steps])
        for steps in of_job.values():
            for step in steps:
                for edge in (*jobs.repro(step), *jobs.catalogued(step), *jobs.tables(step)):
                    self._add(edge)
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
                name = part.name.partition("@")[0]
                found = [psbs[one] for one in sorted({name, *run_with.get(name, ())}) if one in psbs]
                for edge in browsed(part, found):
                    self._add(edge)

    def _in_folders(self, uses: Sequence[jobs.StepDataSet]) -> Iterator[jobs.StepDataSet]:
        """Yield the files without a folder and a variable of their own that steps find in the folder of COB_FILE_PATH."""
        have = {(use.step.node, use.dd) for use in uses}
        for use in uses:
            if use.dd != jobs.FOLDER or use.disposition != OF_A_VARIABLE:
                continue
            for program in use.step.step.programs:
                for number, _ in self._callees.called(program):
                    for file in self._parts[number].files:
                        if not file.dds or any((use.step.node, dd) in have for dd in file.dds):
                            continue
                        for named in file.own_names:
                            if "/" not in named.name:
                                there = NodeId("dataset", f"{use.data_set.name}/{named.name}")
                                yield use._replace(dd=file.dds[0], data_set=there)

    def _bind(self, use: jobs.StepDataSet) -> None:
        """Add what a step does with a data set, and which files of its programs are bound to it."""
        files: dict[tuple[int, FileBinding], str] = {}
        for program in use.step.step.programs:
            doubt = self._callees.doubt(program.upper())
            for number, _ in self._callees.called(program.upper()):
                files |= {(number, file): doubt for file in self._parts[number].files if use.dd in file.dds}
        for (number, file), doubt in files.items():
            why = file.why(use.data_set.name) or doubt or use.doubt
            certainty: Certainty = "may" if why else "is"
            place = CitedLine(self._parts[number].path, file.line)
            citations = (*use.citations, *use.step.citations, place)
            self._add(EstateEdge(NodeId("file", file.name), "bound to", use.data_set, certainty, citations, why))
            if use.disposition == OF_A_VARIABLE:
                self._set.add((number, file.name))
            if not use.is_ignored:
                self._bound(use.data_set, number, file)
        # JCL says whether a data set is new or old, but seldom whether it is read or written: the programs of the step do.
        for verb, why in jobs.direction(use, [file for _, file in files]):
            citations = (*use.citations, *use.step.citations)
            self._add(EstateEdge(use.step.node, verb, use.data_set, "may" if why else "is", citations, why))

    def _own_names(self) -> None:
        """Add the files that programs open by their own names: the same name is the same file in every program."""
        has_jobs = any(member.jobs and member.kind != "script" for member in self._members)
        for number, part in enumerate(self._parts):
            for file in part.files:
                for named in file.own_names:
                    if has_jobs and not named.is_path:
                        continue
                    cited = (CitedLine(part.path, file.line), *([named.said_by] if named.said_by else ()))
                    for name, why, places in self._directed(part, named):
                        store = NodeId("dataset", name)
                        doubt = why or (_SET if (number, file.name) in self._set else "")
                        certainty: Certainty = "may" if doubt else "is"
                        citations = (*cited, *places)
                        self._add(EstateEdge(NodeId("file", file.name), "bound to", store, certainty, citations, doubt))
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
                        self._add(EstateEdge(_node(part, index), "is key of", NodeId("file", file.name), "is", cited))

    def _directed(self, part: ProgramPart, named: FileName) -> Iterator[tuple[str, str, tuple[CitedLine, ...]]]:
        """Yield the files that a file may be, each with what is in doubt, and who says so: CL directs it for each call."""
        calls = self._controlled.get(part.name.partition("@")[0], ())
        is_itself = not calls
        for path, call in calls:
            others = [(to, line) for file, to, line in call.directed if file == named.name.upper()]
            is_itself = is_itself or not others
            for to, line in others:
                if to:
                    yield to, named.why, (CitedLine(path, line), CitedLine(path, call.line))
        yield named.name, named.why if is_itself else _DIRECTED, ()


def _node(part: ProgramPart, index: int) -> NodeId:
    """Return the node of a field; for a FILLER, that of its nearest named group, or else one for all FILLERs of the program."""
    named = nearest_named(part, index)
    return NodeId("field", f"{part.name}.FILLER") if named is None else named.node


def _holders(name: str) -> Iterator[str]:
    """Yield the keys in `owner` of the programs that a field may belong to, judging by its name."""
    while name := name.rpartition(".")[0]:
        yield f"program {name}"
