"""How are the parts of an estate joined to one graph, in which calls lead to programs and files to data sets?

An `EstateGraph` is a value that returns the edges of any node, or all edges for an export. Edges that only say how a program's
data is declared (`part of`, `redefines`, `declared in`, `counts`) are derived from its fields on demand: there are as many of
them as of all others together.

Leaves to others: what one program says (`programs`), what jobs say (`jobs`), and which edges an impact follows (`impact`).
Laws: the same parts and members give the same graph in any order; every edge has a citation.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ..estate.members import stem
from ..facts.values import WHOLE
from ..program import key
from ..scope import NamedEntry, ProgramNames, ProgramPlace
from . import copying, jobs
from .structure import structure
from .values import RANK, CitedLine, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..estate.members import Member
    from ..facts.values import MoveWay
    from .copying import CopiedRecords, WrittenPlace
    from .values import Certainty, FileBinding, Kind, Passing, ProgramEntry, ProgramPart, Verb

_COMMAREA = "DFHCOMMAREA"
_BACK = frozenset({"return", "calculation"})
MAX_SCHEMAS = 8
"""The maximum number of schemas in which a table that is named without one is looked up; if more have it, none is reported."""
_UNDECLARED = "nothing here declares the name, and a program has it"
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


class EstateGraph:
    """The graph of an estate.

    Args:
        parts: What each program and copybook adds, as returned by `part_of`.
        members: The other files, as read by `estate.member`.
    """

    def __init__(self, parts: Iterable[ProgramPart], members: Iterable[Member] = ()) -> None:
        ordered = sorted(parts, key=lambda part: (part.path, part.line, part.name))
        self.parts: tuple[ProgramPart, ...] = _told_apart(ordered)
        self.members = tuple(sorted(members, key=lambda member: member.path))
        self.owner: dict[str, int] = {}
        """The number of the part of each program or copybook, by kind and name."""
        for number, part in enumerate(self.parts):
            self.owner.setdefault(f"{part.kind} {part.name}", number)
        self._entries = [
            (number, entry)
            for number, part in enumerate(self.parts)
            if part.kind == "program"
            for entry in part.entries
        ]
        """All entries of programs, each with the number of its part."""
        above = {part.name.partition("@")[0]: part.inherits for part in self.parts if part.inherits}
        self._names = ProgramNames((_named(self.parts[number], entry) for number, entry in self._entries), above)
        self._linked = _Linking(self)
        self.drawn: tuple[EstateEdge, ...] = self._linked.edges()
        """All edges except those of `structure`."""
        self._touching: dict[NodeId, list[int]] | None = None
        self._declared: dict[int, dict[NodeId, list[EstateEdge]]] = {}
        self._holders: dict[str, list[int]] | None = None

    def edges(self) -> Iterator[EstateEdge]:
        """Yield all edges, in an order that depends only on the estate."""
        yield from self.drawn
        for part in self.parts:
            yield from structure(part)

    def touching(self, node: NodeId) -> list[EstateEdge]:
        """Return the edges that begin or end at a node."""
        if self._touching is None:
            self._touching = {}
            for number, edge in enumerate(self.drawn):
                self._touching.setdefault(edge.source, []).append(number)
                if edge.target != edge.source:
                    self._touching.setdefault(edge.target, []).append(number)
        found = [self.drawn[number] for number in self._touching.get(node, ())]
        for part in self._structured(node):
            found += self._structure(part).get(node, ())
        return found

    def nodes(self) -> dict[NodeId, CitedLine | None]:
        """Return all nodes, each with the place that declares it; None for one that is only named."""
        found: dict[NodeId, CitedLine | None] = {}
        for part in self.parts:
            found[NodeId(part.kind, part.name)] = CitedLine(part.path, part.line)
            for field in part.fields:
                if field.name:
                    found[NodeId("field", field.name)] = CitedLine(part.path, field.line, field.copybook)
            for file in part.files:
                found[NodeId("file", file.name)] = CitedLine(part.path, file.line)
        for edge in self.drawn:
            found.setdefault(edge.source, None)
            found.setdefault(edge.target, None)
        return found

    def part_of(self, node: NodeId) -> ProgramPart | None:
        """Return the part that a node of one program belongs to; None for a node that programs share."""
        for kind in ("program", "copybook"):
            name = node.name
            while name:
                at = self.owner.get(f"{kind} {name}")
                if at is not None:
                    return self.parts[at]
                name = name.rpartition(".")[0]
        return None

    def called(self, name: str, caller: ProgramPart | None = None) -> list[tuple[int, ProgramEntry]]:
        """Return the entries that a called name leads to, each with the number of its part.

        Args:
            name: The name, in capitals.
            caller: The calling program, which decides between programs of one name; None for a job or a transaction.
        """
        place = None if caller is None else _place(caller)
        return [self._entries[at] for at in self._names.called(name, place)]

    def reached(self, name: str) -> str:
        """Return the name that a called name resolves to: for an inherited method, that of the class which has it."""
        return self._names.reached(name)

    def hidden(self, name: str) -> str:
        """Return why a name that leads to no entry does not lead to the programs of that name; "" if there are none."""
        outside = self._names.outside(name)
        return f"the {name} that is here is contained in {outside}, and known in that alone" if outside else ""

    def doubt(self, name: str) -> str:
        """Return why a called name may not mean the programs that it leads to: only their file has that name; "" otherwise."""
        return f"no program is called {name}, a file is" if self._names.is_file(name) else ""

    @property
    def bindings(self) -> dict[NodeId, list[tuple[int, FileBinding]]]:
        """The files that are bound to each data set, with the numbers of their parts."""
        return self._linked.bindings

    @property
    def passed(self) -> tuple[PassedField, ...]:
        """The fields that are passed to other programs, and those that are returned by them."""
        return tuple(self._linked.passed)

    @property
    def copied(self) -> Mapping[NodeId, list[CopiedRecords]]:
        """The copies of data sets by job steps, by source and by target."""
        return self._linked.copied

    @property
    def written(self) -> dict[NodeId, list[WrittenPlace]]:
        """The places and lengths that job steps state in numbers about the records of each data set."""
        return self._linked.written

    def _structured(self, node: NodeId) -> list[int]:
        """Return the numbers of the parts whose declarations may concern a node."""
        if node.kind == "copybook":
            if self._holders is None:
                self._holders = {}
                for number, part in enumerate(self.parts):
                    for name in dict.fromkeys(field.copybook for field in part.fields if field.copybook):
                        self._holders.setdefault(name, []).append(number)
            return self._holders.get(node.name, [])
        if node.kind != "field":
            return []
        # A field is named after its program, whose name may itself contain periods (`PROG@path/file.cbl`): every prefix that is
        # the name of a part is considered.
        name = node.name
        found = []
        while name:
            name = name.rpartition(".")[0]
            for kind in ("program", "copybook"):
                at = self.owner.get(f"{kind} {name}")
                if at is not None:
                    found.append(at)
        return found

    def _structure(self, number: int) -> dict[NodeId, list[EstateEdge]]:
        """Return the edges of a part's declarations, by their nodes."""
        known = self._declared.get(number)
        if known is None:
            known = self._declared[number] = {}
            for edge in structure(self.parts[number]):
                known.setdefault(edge.source, []).append(edge)
                known.setdefault(edge.target, []).append(edge)
        return known


def _place(part: ProgramPart) -> ProgramPlace:
    """Return where a program is, under the name by which it is called."""
    return ProgramPlace(part.path, part.name.partition("@")[0], part.around, part.is_common)


def _named(part: ProgramPart, entry: ProgramEntry) -> NamedEntry:
    """Return an entry of a program by the name by which it is called."""
    name = entry.name.partition("@")[0] if entry.name == part.name else entry.name
    return NamedEntry(name, key(stem(part.path)), _place(part))


def _holders(name: str) -> Iterator[str]:
    """Yield the keys in `owner` of the programs that a field may belong to, judging by its name."""
    while name := name.rpartition(".")[0]:
        yield f"program {name}"


def _told_apart(parts: Sequence[ProgramPart]) -> tuple[ProgramPart, ...]:
    """Return parts whose names are unique within their kind: if several files have the same name, the path is added."""
    count = Counter((part.kind, part.name) for part in parts)
    taken: Counter[tuple[Kind, str]] = Counter()
    found = []
    # The last program of each name in each file: it is the one that contains the programs after it.
    before: dict[tuple[str, str], str] = {}
    for part in parts:
        name = part.name
        if count[part.kind, part.name] > 1 and part.kind != "copybook":
            name = f"{part.name}@{part.path}"
            taken[part.kind, name] += 1
            if taken[part.kind, name] > 1:
                name = f"{name}#{taken[part.kind, name]}"
        new = {outer: before.get((part.path, outer), outer) for outer in part.around}
        new[part.name] = before[part.path, part.name] = name
        found.append(_renamed(part, new) if any(old != name for old, name in new.items()) else part)
    return tuple(found)


def _renamed(part: ProgramPart, names: Mapping[str, str]) -> ProgramPart:
    """Return a part in which programs are renamed, itself and those that contain it, with everything named after them."""
    old, name = part.name, names[part.name]

    def new(text: str) -> str:
        for before, after in names.items():
            if before != after and text.startswith(f"{before}."):
                return after + text[len(before) :]
        return text

    def node(one: NodeId) -> NodeId:
        if one.kind in {"field", "paragraph", "file"}:
            return NodeId(one.kind, new(one.name))
        return NodeId(one.kind, name) if one == NodeId(part.kind, old) else one

    return part._replace(
        name=name,
        edges=tuple(
            edge._replace(
                source=node(edge.source),
                # A called name is resolved later, even if it is the program's own.
                target=edge.target if edge.target.kind == "program" else node(edge.target),
            )
            for edge in part.edges
        ),
        fields=tuple(
            field._replace(
                name=new(field.name),
                redefines=new(field.redefines) if field.redefines else None,
                depending=new(field.depending) if field.depending else None,
            )
            for field in part.fields
        ),
        compared=tuple(one._replace(other=node(one.other) if one.other else None) for one in part.compared),
        lengths=tuple(one._replace(other=node(one.other) if one.other else None) for one in part.lengths),
        files=tuple(file._replace(name=new(file.name)) for file in part.files),
        sendings=tuple(
            one._replace(arguments=tuple(new(field) if isinstance(field, str) else field for field in one.arguments))
            for one in part.sendings
        ),
        entries=tuple(entry._replace(name=name) if entry.name == old else entry for entry in part.entries),
    )


class _Linking:
    """The edges between parts: calls by name, parameters, jobs, data sets."""

    def __init__(self, graph: EstateGraph) -> None:
        self._graph = graph
        self._drawn: dict[tuple[NodeId, Verb, NodeId], EstateEdge] = {}
        self.bindings: dict[NodeId, list[tuple[int, FileBinding]]] = {}
        self._procedures: dict[str, list[tuple[str, CitedLine]]] = {}
        """The programs that stored procedures run, by the procedure's name without schema; "" for one that runs none."""
        for member in graph.members:
            for one in member.procedures:
                program = one.program.upper(), CitedLine(member.path, one.line)
                self._procedures.setdefault(one.name.upper().rpartition(".")[2], []).append(program)
        self.passed: list[PassedField] = []
        self.copied: dict[NodeId, list[CopiedRecords]] = {}
        self.written: dict[NodeId, list[WrittenPlace]] = {}
        self._transactions: dict[str, list[tuple[str, Certainty]]] = {}

    def edges(self) -> tuple[EstateEdge, ...]:
        """Return all edges of the estate."""
        # The region comes first because it says which program a transaction starts: what is sent to the one goes to the other.
        graph = self._graph
        for edge in jobs.region(graph.members):
            if edge.source.kind == "transaction":
                self._transactions.setdefault(edge.source.name, []).append((edge.target.name, edge.certainty))
            self._add_to_programs(edge)
        for part in graph.parts:
            for edge in part.edges:
                self._add_to_programs(edge, part)
                self._undeclared(edge, part)
        for number, part in enumerate(graph.parts):
            for sending in part.sendings:
                self._send(number, part, sending)
        self._commands()
        self._jobs()
        self._own_names()
        self._schemas()
        return tuple(self._drawn.values())

    def _undeclared(self, edge: EstateEdge, part: ProgramPart) -> None:
        """Add, for a CALL by a name that nothing declares, that it may mean the program of this name, if that is here."""
        if edge.verb != "calls" or edge.target.kind != "field":
            return
        name = edge.target.name.removeprefix(f"{part.name}.")
        if self._graph.called(name, part) and not any(f".{field.name}".endswith(f".{name}") for field in part.fields):
            self._add_to_programs(edge._replace(target=NodeId("program", name), certainty="may", why=_UNDECLARED), part)

    def _commands(self) -> None:
        """Add the calls by system commands, which run a program by its name or by that of its file."""
        named: dict[str, dict[str, None]] = {}
        for part in self._graph.parts:
            if part.kind == "program":
                for name in (part.name.partition("@")[0], key(stem(part.path))):
                    named.setdefault(name, {})[part.name] = None
        for part in self._graph.parts:
            for name, citations in part.commands:
                for program in named.get(name, ()):
                    places = tuple(dict.fromkeys(citations))
                    me, other = NodeId(part.kind, part.name), NodeId("program", program)
                    self._add(EstateEdge(me, "calls", other, "may", places, "by a command of the system"))

    def _schemas(self) -> None:
        """Add that an edge of a table without a schema may be one of each table of that name that has a schema.

        A statement that names no schema gets one when its program is bound; no source says which.
        """
        named = {
            end.name: None for edge in self._drawn.values() for end in (edge.source, edge.target) if end.kind == "table"
        }
        named |= {table.name.upper(): None for member in self._graph.members for table in member.tables}
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
        name = self._graph.reached(edge.target.name)
        found = self._graph.called(name, part)
        nodes = self._nodes(name, found)
        hidden, doubt = "" if found else self._graph.hidden(name), self._graph.doubt(name)
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
        found = dict.fromkeys(self._graph.parts[number].name for number, _ in entries)
        return [NodeId("program", one) for one in found] or [NodeId("program", name)]

    def _send(self, number: int, part: ProgramPart, sending: Passing) -> None:
        """Add what is passed to each program that a call may reach."""
        for name, certainty in sending.targets:
            if certainty == "unknown":
                if self._graph.called(name, part):
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
        program = self._graph.reached(program)
        found = self._graph.called(program, None if sending.by == "transaction" else part)
        hidden = "" if found else self._graph.hidden(program)
        why = sending.why
        doubt = self._graph.doubt(program)
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
                other = self._graph.parts[callee]
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
            other = self._graph.parts[callee]
            field = other.fields[entry.returned]
            places = (here, CitedLine(other.path, entry.line), CitedLine(other.path, field.line, field.copybook))
            verb: Verb = "passes to" if by == "return" else "computes"
            source = _node(other, entry.returned)
            self._add(EstateEdge(source, verb, target, certainty, tuple(dict.fromkeys(places)), why))
            if by == "return" and receiver is not None:
                self.passed.append(PassedField((callee, entry.returned), receiver, True, WHOLE, certainty, why, places))

    def _outer(self, node: NodeId) -> tuple[int, int] | None:
        """Return the part and the index of a field that belongs to a containing program."""
        number = next((self._graph.owner[at] for at in _holders(node.name) if at in self._graph.owner), None)
        if number is None:
            return None
        fields = self._graph.parts[number].fields
        return next(((number, index) for index, one in enumerate(fields) if one.name == node.name), None)

    def _parameter(self, callee: int, entry: ProgramEntry, sending: Passing, at: int) -> int | None:
        """Return the field of a called program that receives an argument; None if there is none."""
        if sending.by == "call":
            return entry.parameters[at] if at < len(entry.parameters) else None
        wanted = f".{_COMMAREA}"
        fields = self._graph.parts[callee].fields
        return next(
            (index for index, one in enumerate(fields) if one.section == "LINKAGE" and one.name.endswith(wanted)), None
        )

    def _jobs(self) -> None:
        """Add the steps of all jobs, what they run, and what they do with data sets."""
        of_job: dict[NodeId, list[jobs.StepOfJob]] = {}
        for found in jobs.steps(self._graph.members):
            if isinstance(found, EstateEdge):
                self._add_to_programs(found)
            else:
                of_job.setdefault(found.job, []).append(found)
        for steps in of_job.values():
            for step in steps:
                for edge in (*jobs.repro(step), *jobs.catalogued(step), *jobs.tables(step)):
                    self._add(edge)
            uses: dict[NodeId, list[jobs.StepDataSet]] = {}
            for use in jobs.data_uses(steps):
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

    def _bind(self, use: jobs.StepDataSet) -> None:
        """Add what a step does with a data set, and which files of its programs are bound to it."""
        files: dict[tuple[int, FileBinding], str] = {}
        for program in use.step.step.programs:
            doubt = self._graph.doubt(program.upper())
            for number, _ in self._graph.called(program.upper()):
                files |= {(number, file): doubt for file in self._graph.parts[number].files if use.dd in file.dds}
        for (number, file), doubt in files.items():
            why = file.why(use.data_set.name) or doubt or use.doubt
            certainty: Certainty = "may" if why else "is"
            place = CitedLine(self._graph.parts[number].path, file.line)
            citations = (*use.citations, *use.step.citations, place)
            self._add(EstateEdge(NodeId("file", file.name), "bound to", use.data_set, certainty, citations, why))
            bound = self.bindings.setdefault(use.data_set, [])
            if not use.is_ignored and (number, file) not in bound:
                bound.append((number, file))
        # JCL says whether a data set is new or old, but seldom whether it is read or written: the programs of the step do.
        for verb, why in jobs.direction(use, [file for _, file in files]):
            citations = (*use.citations, *use.step.citations)
            self._add(EstateEdge(use.step.node, verb, use.data_set, "may" if why else "is", citations, why))

    def _own_names(self) -> None:
        """Add the files that programs open by their own names: the same name is the same file in every program."""
        has_jobs = any(member.jobs for member in self._graph.members)
        for number, part in enumerate(self._graph.parts):
            for file in part.files:
                for named in file.own_names:
                    if has_jobs and not named.is_path:
                        continue
                    store = NodeId("dataset", named.name)
                    cited = (CitedLine(part.path, file.line), *([named.said_by] if named.said_by else ()))
                    certainty: Certainty = "may" if named.why else "is"
                    self._add(EstateEdge(NodeId("file", file.name), "bound to", store, certainty, cited, named.why))
                    self.bindings.setdefault(store, []).append((number, file))


def _node(part: ProgramPart, index: int) -> NodeId:
    """Return the node of a field; for a FILLER, that of its nearest named group, or else one for all FILLERs of the program."""
    at: int | None = index
    while at is not None:
        if part.fields[at].name:
            return NodeId("field", part.fields[at].name)
        at = part.fields[at].parent
    return NodeId("field", f"{part.name}.FILLER")
