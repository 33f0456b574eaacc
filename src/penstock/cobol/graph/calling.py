"""Which programs of an estate do calls, commands, CL, transactions and jobs lead to?

Leaves to others: which programs a name means (`callees`), and what arrives in them (`arriving`). Law: every edge has a citation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import jobs
from .values import RANK, CitedLine, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..estate.members import Member
    from .callees import Callees
    from .drawing import Drawing
    from .values import Certainty, ProgramEntry, ProgramPart

UNDECLARED = "nothing here declares the name, and a program has it"


class Calling:
    """The calls of an estate, each led to the programs that may be meant.

    Args:
        parts: The parts of the estate, with unique names.
        members: The other files.
        callees: The programs that names lead to.
        drawing: The edges, to which the calls are added.
    """

    def __init__(
        self, parts: Sequence[ProgramPart], members: Sequence[Member], callees: Callees, drawing: Drawing
    ) -> None:
        self._parts, self._members, self._callees, self._drawing = parts, members, callees, drawing
        self._transactions: dict[str, list[tuple[str, Certainty]]] = {}
        """The programs that transactions start."""
        self._procedures: dict[str, list[tuple[str, CitedLine]]] = {}
        """The programs that stored procedures run, by the procedure's name without schema; "" for one that runs none."""
        for member in members:
            for one in member.procedures:
                program = one.program.upper(), CitedLine(member.path, one.line)
                self._procedures.setdefault(one.name.upper().rpartition(".")[2], []).append(program)

    def add_stated(self) -> None:
        """Add what the region and the programs themselves state."""
        for edge in jobs.region(self._members):
            if edge.source.kind == "transaction":
                self._transactions.setdefault(edge.source.name, []).append((edge.target.name, edge.certainty))
            self.add(edge)
        for part in self._parts:
            for edge in part.edges:
                self.add(edge, part)
            for name, citations in part.undeclared:
                if self._callees.called(name, part):
                    me, other = NodeId(part.kind, part.name), NodeId("program", name)
                    self.add(EstateEdge(me, "calls", other, "may", citations, UNDECLARED), part)

    def add_commanded(self) -> None:
        """Add the calls by commands of a system: those in programs, and those of CL."""
        self._commands()
        self._control()

    def add(self, edge: EstateEdge, part: ProgramPart | None = None) -> None:
        """Add an edge of a part; one that leads to a program by name leads to every program that may be meant."""
        if edge.target.kind != "program":
            self._drawing.add(edge)
            return
        if part is not None and edge.certainty == "may" and edge.target.name in part.procedures:
            for other in self._of_procedure(edge):
                self.add(other)
            return
        name = self._callees.reached(edge.target.name)
        found = self._callees.called(name, part)
        hidden, doubt = "" if found else self._callees.hidden(name), self._callees.doubt(name, found)
        for node in self.nodes(name, found):
            certainty: Certainty = "unknown" if hidden else edge.certainty
            why = hidden or edge.why
            if doubt and certainty == "is":
                certainty, why = "may", doubt
            elif not doubt and not f"{node.name}@".startswith(f"{name}@"):
                why = why or f"by its entry {name}"
            self._drawing.add(edge._replace(target=node, certainty=certainty, why=why))

    def nodes(self, name: str, entries: Iterable[tuple[int, ProgramEntry]]) -> list[NodeId]:
        """Return the nodes of the programs that some entries belong to; that of the called name if there are none."""
        found = dict.fromkeys(self._parts[number].name for number, _ in entries)
        return [NodeId("program", one) for one in found] or [NodeId("program", name)]

    def run_by(self, name: str, certainty: Certainty, part: ProgramPart, by: str) -> list[tuple[str, Certainty]]:
        """Return the programs that run when a part names one, a stored procedure or a transaction.

        Args:
            name: The name, in capitals.
            certainty: Whether the part is certain to mean this name.
            part: The part.
            by: How it passes something to what it names, as in `Passing.by`.
        """
        if by == "transaction":
            started = self._transactions.get(name, ())
            return [(program, certainty if RANK[certainty] >= RANK[sure] else sure) for program, sure in started]
        if certainty == "may" and name in part.procedures and name in self._procedures:
            known = {program for program, _ in self._procedures[name] if program}
            return [(program, "is" if len(known) == 1 else "may") for program in sorted(known)]
        return [(name, certainty)]

    def _commands(self) -> None:
        """Add the calls by system commands, which run a program by its name or by that of its file."""
        for part in self._parts:
            for name, citations in part.commands:
                for program in dict.fromkeys(self._parts[number].name for number, _ in self._callees.run(name)):
                    places = tuple(dict.fromkeys(citations))
                    me, other = NodeId(part.kind, part.name), NodeId("program", program)
                    self._drawing.add(EstateEdge(me, "calls", other, "may", places, "by a command of the system"))

    def _control(self) -> None:
        """Add the calls of CL programs."""
        for member in self._members:
            for call in member.calls:
                me, other = self._callees.in_cl(member), NodeId("program", call.program)
                places = tuple(CitedLine(member.path, line) for line in (call.line, *call.said_lines))
                certainty: Certainty = "is" if call.is_sure else "may"
                why = "" if call.is_sure else "a variable of CL has its name"
                self.add(EstateEdge(me, "calls", other, certainty, places, why))

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
