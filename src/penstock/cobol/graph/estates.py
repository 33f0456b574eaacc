"""How do the parts of an estate become one graph, and what are the edges of a node in it?

An `EstateGraph` is a value that returns the edges of any node, or all edges for an export. Edges that only say how a program's
data is declared (`part of`, `redefines`, `declared in`, `counts`) are derived from its fields on demand: there are as many of
them as of all others together.

Leaves to others: which edges join the parts (`linking`), what one program says (`programs`), and which edges an impact follows
(`impact`).

Laws: the same parts and members give the same graph in any order; every edge has a citation.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from ..estate.scripts import placed
from ..program import key
from .callees import Callees
from .control import control_parts
from .drawing import Drawing
from .linking import linked
from .structure import structure
from .told_apart import told_apart
from .values import CitedLine, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..estate.members import Member
    from .values import ProgramPart


class EstateGraph:
    """The graph of an estate.

    Args:
        parts: What each program and copybook adds, as returned by `part_of`.
        members: The other files, as read by `estate.member`.
    """

    def __init__(self, parts: Iterable[ProgramPart], members: Iterable[Member] = ()) -> None:
        stated, around = list(parts), sorted(members, key=lambda member: member.path)
        ordered = sorted([*stated, *control_parts(around, stated)], key=lambda part: (part.path, part.line, part.name))
        self.parts: tuple[ProgramPart, ...] = told_apart(ordered)
        self.owner: dict[str, int] = {}
        """The number of the part of each program or copybook, by kind and name."""
        self._named: dict[str, list[int]] = {}
        """The numbers of the parts of a name, whose fields are named alike: a program, and any number of copybooks."""
        for number, part in enumerate(self.parts):
            self.owner.setdefault(f"{part.kind} {part.name}", number)
            self._named.setdefault(part.name, []).append(number)
        self._callees = Callees(self.parts)
        self.members = placed(around, self._callees.names())
        joined = linked(self.parts, self.members, self.owner, self._callees)
        self.drawn: tuple[EstateEdge, ...] = joined.edges
        """All edges except those of `structure`."""
        # What `Linked` says of fields, data sets and jobs.
        self.passed, self.bindings, self.copied, self.written, self.jobs = joined[1:]
        self._own_names = {part.name: part.own_name for part in self.parts} | {
            job.node.name: key(job.name) for job in self.jobs
        }
        """The names of programs, copybooks and jobs as sources say them, in capitals."""
        self._touching: dict[NodeId, list[int]] | None = None
        self._declared: dict[int, dict[NodeId, list[EstateEdge]]] = {}
        self._holders: dict[str, list[int]] | None = None

    def edges(self) -> Iterator[EstateEdge]:
        """Yield all edges, in an order that depends only on the estate."""
        yield from self.drawn
        for numbers in self._named.values():
            declared = chain.from_iterable(structure(self.parts[number]) for number in numbers)
            yield from declared if len(numbers) == 1 else _united(declared)

    def touching(self, node: NodeId) -> list[EstateEdge]:
        """Return the edges that begin or end at a node."""
        if self._touching is None:
            self._touching = {}
            for number, edge in enumerate(self.drawn):
                self._touching.setdefault(edge.source, []).append(number)
                if edge.target != edge.source:
                    self._touching.setdefault(edge.target, []).append(number)
        found = [self.drawn[number] for number in self._touching.get(node, ())]
        declared = [self._structure(part).get(node, []) for part in self._structured(node)]
        return [
            *found,
            *(_united(chain.from_iterable(declared)) if len(declared) > 1 else chain.from_iterable(declared)),
        ]

    def nodes(self) -> dict[NodeId, CitedLine | None]:
        """Return all nodes, each with the place that declares it; None for one that is only named."""
        found: dict[NodeId, CitedLine | None] = {}
        for part in self.parts:
            found[NodeId(part.kind, part.name)] = CitedLine(part.path, part.line)
            for field in part.fields:
                if field.name:
                    found[field.node] = CitedLine(part.path, field.line, field.copybook)
            for file in part.files:
                found[NodeId("file", file.name)] = CitedLine(part.path, file.line)
        for edge in self.drawn:
            found.setdefault(edge.source, None)
            found.setdefault(edge.target, None)
        return found

    def own_name(self, node: NodeId) -> str:
        """Return the name of a node without the path that tells its program or job apart from others of its name.

        The path cannot be cut off at its @ or at a period: a name may have an @ of its own, and most paths have both.
        """
        head = node.name if "@" in node.name else ""
        while head and head not in self._own_names:
            head = head.rpartition(".")[0]
        return self._own_names[head] + node.name[len(head) :] if head else node.name

    def called(self, name: str, caller: ProgramPart | None = None) -> list[ProgramPart]:
        """Return the programs that a call by a name leads to, which may be that of an AS, an ENTRY or a file.

        Args:
            name: The name, in capitals.
            caller: The calling program, which decides between programs of one name; None for a job, a transaction or a person.
        """
        return [self.parts[number] for number in dict(self._callees.called(name, caller))]

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

    def parts_of(self, field: NodeId) -> list[ProgramPart]:
        """Return the parts that a field may belong to by its name, which a program and several copybooks may share."""
        return [self.parts[number] for number in self._numbers(field)]

    def _structured(self, node: NodeId) -> list[int]:
        """Return the numbers of the parts whose declarations may concern a node."""
        if node.kind == "copybook":
            if self._holders is None:
                self._holders = {}
                for number, part in enumerate(self.parts):
                    for name in dict.fromkeys(field.copybook for field in part.fields if field.copybook):
                        self._holders.setdefault(name, []).append(number)
            return self._holders.get(node.name, [])
        return self._numbers(node) if node.kind == "field" else []

    def _numbers(self, field: NodeId) -> list[int]:
        """Return the numbers of the parts that a field may belong to, by its name.

        A field is named after its program, whose name may itself contain periods (`PROG@path/file.cbl`): every prefix that is
        the name of a part is considered.
        """
        name = field.name
        found: list[int] = []
        while name:
            name = name.rpartition(".")[0]
            found += self._named.get(name, ())
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


def _united(edges: Iterable[EstateEdge]) -> Iterable[EstateEdge]:
    """Return the edges of declarations, each sentence once with all of its citations.

    A program and copybooks of one name have fields of one name, which are one node; the program often copies its copybook.
    """
    drawing = Drawing()
    for edge in edges:
        drawing.add(edge)
    return drawing.edges()
