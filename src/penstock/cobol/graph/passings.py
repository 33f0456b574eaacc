"""What does a program pass to others, what do they return to it, and where can it be entered?

Leaves to others: which programs the names mean (`callees`), and what a receiver does with what it gets (`arriving`). Law: an
argument that is not a field is kept as None, so that each parameter keeps its position.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from ..facts.data import MoveWay
from ..facts.grouping import parentheses
from ..facts.references import item_part
from ..program import key
from .naming import program_name
from .values import Passing, ProgramEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..facts.control import ProgramCall
    from ..facts.naming import DataNames
    from ..facts.resources import CicsOperation
    from ..facts.values import Facts
    from ..program import Program
    from .values import Certainty

_ASSUMED = {
    "sql": "a procedure of the database: its program is taken to have its name",
    "preprocessor": "what the shop's own preprocessor makes of the statement is not known",
    "method": "the object may be of a class that inherits from that one",
}
"""Why a call of some type may reach another program than the one that it names."""
_BY_NAME = "the name of what is called is data: {0} values are possible"


def passings(facts: Facts, data: DataNames, names: Sequence[str], program: str) -> Iterator[Passing]:
    """Yield what a program passes to other programs, and what they return.

    Args:
        facts: The facts of the program.
        data: The items of the program and of those that contain it.
        names: The names of their nodes, by index.
        program: The name of the program's node.
    """

    def field(text: str) -> int | str | None:
        """Return a field that is passed: its index, or its name if a containing program declares it."""
        index = data.one(text)
        return index if index is None or index < data.own else names[index]

    for call in facts.calls:
        if call.call_type in {"static", "dynamic", "sql", "method"}:
            yield from _called(call, field, is_declared=bool(data.mean(call.target)))
    for operation in facts.cics:
        area = operation.option("COMMAREA")
        if area and operation.command in {"LINK", "XCTL", "RETURN"} and operation.resource:
            yield from _commarea(operation, area, field(area), program)


def _called(call: ProgramCall, field: Callable[[str], int | str | None], *, is_declared: bool) -> Iterator[Passing]:
    """Yield what a call passes, and what it gets back."""
    reached, why = called_by(call)
    if not reached and not is_declared:
        reached = ((key(call.target), "unknown"),)
    both: tuple[tuple[Literal["call", "return", "calculation"], tuple[str, ...]], ...] = (
        ("call", call.parameters),
        ("return" if call.is_returned_whole else "calculation", call.returned),
    )
    for by, texts in both:
        if texts:
            ways = tuple(_way(text, by == "call" and at in call.copied) for at, text in enumerate(texts))
            fields, has_eib = tuple(map(field, texts)), key(texts[0]) == "DFHEIBLK"
            yield Passing(reached, by, fields, ways, call.line, call.end_line, why, call.copybook, has_eib)


def _commarea(operation: CicsOperation, area: str, field: int | str | None, program: str) -> Iterator[Passing]:
    """Yield what a LINK, XCTL or RETURN TRANSID passes."""
    by: Literal["transaction", "commarea"] = "transaction" if operation.command == "RETURN" else "commarea"
    reached, why = _reached(_named(operation), operation.is_sure, operation.unknown)
    # The program that LINK runs works on this very area; one that runs later works on a copy.
    way = _way(area, operation.command != "LINK")
    passing = Passing(reached, by, (field,), (way,), operation.line, operation.end_line, why, operation.copybook)
    if reached or not operation.is_running:
        yield passing
    if operation.is_running and by == "transaction" and key(area) != "DFHCOMMAREA":
        # The area comes back when the transaction is started again, in which this program was.
        again: tuple[tuple[str, Certainty], ...] = ((program, "may"),)
        yield passing._replace(targets=again, by="commarea", why="the transaction may begin with another program")


def entries(facts: Facts, data: DataNames, scanned: Program, program: str) -> Iterator[ProgramEntry]:
    """Yield the entries of a program, with their parameters: its own items, because what a container declares is there already.

    Args:
        facts: The facts of the program.
        data: The items of the program and of those that contain it.
        scanned: The scanned program.
        program: The name of its node.
    """
    division = scanned.division("PROCEDURE")
    line = division.start_line if division else scanned.start_line

    def own(name: str) -> int | None:
        index = data.one(name)
        return index if index is not None and index < data.own else None

    yield ProgramEntry(program, tuple(map(own, facts.using)), line, own(scanned.returning))
    for (name, at), parameters in zip(facts.entry_points, facts.entry_parameters, strict=True):
        yield ProgramEntry(program_name(name), tuple(map(own, parameters)), at)


def called_by(call: ProgramCall) -> tuple[tuple[tuple[str, Certainty], ...], str]:
    """Return the names that a call may reach, each with its certainty, and why it may reach others; "" if it cannot."""
    return _reached(call.names, call.is_sure, call.unknown or _ASSUMED.get(call.call_type, ""))


def _reached(names: Sequence[str], is_sure: bool, unknown: str) -> tuple[tuple[tuple[str, Certainty], ...], str]:
    """Return the names that something may reach, each with its certainty, and why it may reach others; "" if it cannot."""
    certainty: Certainty = "is" if is_sure else "may"
    why = unknown or (_BY_NAME.format(len(names)) if len(names) > 1 else "a blank name may be there, too")
    return tuple((program_name(name), certainty) for name in names), "" if is_sure else why


def _named(operation: CicsOperation) -> tuple[str, ...]:
    """Return the names of the resource of a command, from its literal or the values of its item."""
    resource = operation.resource or ""
    if resource.startswith(("'", '"')):
        return (program_name(resource),)
    return tuple(dict.fromkeys(key(value.value) for value in operation.resolved))


def _way(text: str, is_copied: bool) -> MoveWay:
    """Return how much of an item is passed to another program, given the text of the argument."""
    words = re.findall(r"[():]|[^():\s]+", text)
    part = item_part(words, words.index("("), parentheses(words)) if "(" in words else None
    return MoveWay(sent=part, is_copied=is_copied)
