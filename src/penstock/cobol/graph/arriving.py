"""Which fields of other programs receive what a program passes to them, and which of its own receive what they return?

Leaves to others: which programs are reached (`calling`, `callees`), and which fields a program passes (`passings`). Law: every
edge has a citation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..facts.data import WHOLE
from .calling import UNDECLARED
from .structure import node_of
from .values import CitedLine, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..facts.data import MoveWay
    from .callees import Callees
    from .calling import Calling
    from .drawing import Drawing
    from .values import Certainty, Passing, ProgramEntry, ProgramPart, Verb

_COMMAREA = "DFHCOMMAREA"
_BACK = frozenset({"return", "calculation"})


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


class _Reached(NamedTuple):
    """The programs that one passing reaches."""

    nodes: Sequence[NodeId]
    entries: Sequence[tuple[int, ProgramEntry]]
    """Their entries, each with the number of its part; none if no program of the name is known to the caller."""
    certainty: Certainty
    why: str
    hidden: str
    """Why a program of the name is not meant; "" if there is none."""
    here: CitedLine
    """The place of the passing."""


class _Argument(NamedTuple):
    """A field of a passing."""

    node: NodeId
    field: tuple[int, int] | None
    """The number of its part, and its index in the fields of that part; None if it is not known."""
    at: int
    """Its place among the arguments."""
    way: MoveWay


class Arriving:
    """The fields that arrive in other programs.

    Args:
        parts: The parts of the estate, with unique names.
        owner: The number of the part of each program or copybook, by kind and name.
        callees: The programs that names lead to.
        calling: The calls of the estate.
        drawing: The edges, to which those of fields are added.
    """

    def __init__(
        self,
        parts: Sequence[ProgramPart],
        owner: Mapping[str, int],
        callees: Callees,
        calling: Calling,
        drawing: Drawing,
    ) -> None:
        self._parts, self._owner, self._callees, self._calling = parts, owner, callees, calling
        self._drawing = drawing
        self.passed: list[PassedField] = []
        self._commareas: dict[int, int | None] = {}

    def add(self) -> None:
        """Add what each part passes to the programs that its calls may reach."""
        for number, part in enumerate(self._parts):
            for sending in part.sendings:
                for name, certainty in sending.targets:
                    self._send(number, sending, name, certainty)

    def _send(self, number: int, sending: Passing, name: str, certainty: Certainty) -> None:
        """Add what a part passes to what it calls by one name."""
        part = self._parts[number]
        if certainty == "unknown":
            if self._callees.called(name, part):
                self._pass(number, sending._replace(why=UNDECLARED), name, "may")
            return
        for program, sure in self._calling.run_by(name, certainty, part, sending.by):
            self._pass(number, sending, program, sure)

    def _pass(self, number: int, sending: Passing, program: str, certainty: Certainty) -> None:
        """Add what one program receives, or returns."""
        reached = self._reached(self._parts[number], sending, program, certainty)
        if sending.by == "call" and reached.certainty == "is" and not sending.has_eib:
            self._compare(self._parts[number], len(sending.arguments), reached)
        for argument in self._arguments(number, sending):
            if sending.by in _BACK:
                self._get_back(reached, argument, is_calculated=sending.by == "calculation")
            else:
                self._receive(reached, argument, is_call=sending.by == "call")

    def _reached(self, part: ProgramPart, sending: Passing, name: str, certainty: Certainty) -> _Reached:
        """Return the programs that are meant by the name of one."""
        name = self._callees.reached(name)
        # A region starts programs by name, whichever program requests the transaction.
        found = self._callees.called(name, None if sending.by == "transaction" else part)
        why, doubt = sending.why, self._callees.doubt(name, found)
        if doubt and certainty == "is":
            certainty, why = "may", doubt
        hidden = "" if found else self._callees.hidden(name)
        here = CitedLine.spanning(part.path, sending.line, sending.end_line, sending.copybook)
        return _Reached(self._calling.nodes(name, found), found, certainty, why, hidden, here)

    def _compare(self, part: ProgramPart, given: int, reached: _Reached) -> None:
        """Say of a call that it passes more or fewer arguments than the program takes, which no compiler sees.

        A parameter that the program does not declare may stand for several, as in USING COPY ARGS.
        """
        me = NodeId(part.kind, part.name)
        for callee, entry in reached.entries:
            if len(entry.parameters) != given and None not in entry.parameters:
                why = f"line {reached.here.line} passes {given} and it takes {len(entry.parameters) or 'none'}"
                self._drawing.explain(me, "calls", NodeId("program", self._parts[callee].name), why)

    def _arguments(self, number: int, sending: Passing) -> Iterator[_Argument]:
        """Yield the arguments of a passing that are fields."""
        for at, (argument, way) in enumerate(zip(sending.arguments, sending.ways, strict=True)):
            if isinstance(argument, str):
                node = NodeId("field", argument)
                yield _Argument(node, self._outer(node), at, way)
            elif argument is not None:
                yield _Argument(node_of(self._parts[number], argument), (number, argument), at, way)

    def _receive(self, reached: _Reached, argument: _Argument, *, is_call: bool) -> None:
        """Add the fields that receive an argument; the programs themselves if it is not known which fields do."""
        source, certainty, why, way = argument.node, reached.certainty, reached.why, argument.way
        received = False
        for callee, entry in reached.entries:
            index = _parameter(entry, argument.at) if is_call else self._commarea(callee)
            if index is None:
                continue
            received = True
            other = self._parts[callee]
            field = other.fields[index]
            taken = (CitedLine(other.path, entry.line),) if is_call else ()
            places = (reached.here, *taken, CitedLine(other.path, field.line, field.copybook))
            cited, ways = tuple(dict.fromkeys(places)), () if way == WHOLE else (way,)
            self._drawing.add(EstateEdge(source, "passes to", node_of(other, index), certainty, cited, why, ways))
            if argument.field is not None:
                self.passed.append(PassedField(argument.field, (callee, index), False, way, certainty, why, places))
        for node in () if received else reached.nodes:
            sure: Certainty = "unknown" if reached.hidden else certainty
            self._drawing.add(EstateEdge(source, "passes to", node, sure, (reached.here,), reached.hidden or why))

    def _get_back(self, reached: _Reached, argument: _Argument, *, is_calculated: bool) -> None:
        """Add what a field receives from the programs that a call may reach: the item that each of them returns."""
        verb: Verb = "computes" if is_calculated else "passes to"
        target, certainty, why = argument.node, reached.certainty, reached.why
        for callee, entry in reached.entries:
            if entry.returned is None:
                continue
            other = self._parts[callee]
            field = other.fields[entry.returned]
            sender = callee, entry.returned
            places = (
                reached.here,
                CitedLine(other.path, entry.line),
                CitedLine(other.path, field.line, field.copybook),
            )
            source, cited = node_of(other, entry.returned), tuple(dict.fromkeys(places))
            self._drawing.add(EstateEdge(source, verb, target, certainty, cited, why))
            if not is_calculated and argument.field is not None:
                self.passed.append(PassedField(sender, argument.field, True, WHOLE, certainty, why, places))

    def _outer(self, node: NodeId) -> tuple[int, int] | None:
        """Return the part and the index of a field that belongs to a containing program."""
        number = next((self._owner[at] for at in _holders(node.name) if at in self._owner), None)
        if number is None:
            return None
        fields = self._parts[number].fields
        return next(((number, index) for index, one in enumerate(fields) if one.name == node.name), None)

    def _commarea(self, callee: int) -> int | None:
        """Return the field of a called program that receives a COMMAREA; None if there is none."""
        if callee not in self._commareas:  # looked for once, however often the program is called
            wanted, fields = f".{_COMMAREA}", enumerate(self._parts[callee].fields)
            found = (index for index, one in fields if one.section == "LINKAGE" and one.name.endswith(wanted))
            self._commareas[callee] = next(found, None)
        return self._commareas[callee]


def _parameter(entry: ProgramEntry, at: int) -> int | None:
    """Return the parameter of an entry that receives the argument at a place; None if it has none there."""
    return entry.parameters[at] if at < len(entry.parameters) else None


def _holders(name: str) -> Iterator[str]:
    """Yield the keys in `owner` of the programs that a field may belong to, judging by its name."""
    while name := name.rpartition(".")[0]:
        yield f"program {name}"
