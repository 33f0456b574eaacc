"""Which operations does a program request from IMS, by EXEC DLI and by calls of the DL/I interface?

A call names segments from the outermost; the upper ones lead to the innermost by their keys, unless the call asks for
their data, too. Leaves to others: where a segment is defined (the estate's PSBs and DBDs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..program import key
from .resolving import literal
from .resources import DLI_INTERFACES, DliOperation, SegmentUse

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from .calls import WrittenCall
    from .code import Block, Code
    from .execs import ExecCommand
    from .naming import DataNames
    from .reaching import Reaching
    from .resolving import Values
    from .resources import Resolved

_HOLDING = frozenset({"GHU", "GHN", "GHNP"})
_CHANGING = frozenset({"REPL", "DLET"})
_PUTTING = frozenset({"ISRT", *_CHANGING})
_READING = "GU"
"""What is done with a segment that only leads to another: its key is looked at."""
_MOST_LETTERS = 4  # of a function; a longer text is another parameter
_NAME = 8  # of a segment, with which a search argument begins
_OF_MESSAGE = 3  # parameters: the function, the PCB, and the area
_MOST_SEGMENTS = 255  # of a database, and so of a PCB


_SHORT = {"INSERT": "ISRT", "LOAD": "ISRT", "REPLACE": "REPL", "DELETE": "DLET"}
"""The functions that EXEC DLI spells out, and LOAD, which inserts into an empty database. Source: IBM, IMS, EXEC DLI commands."""


_Held = dict[str, "tuple[Resolved, ...]"]
"""The segments that calls hold, each with where the data gets its name."""


class _Step(NamedTuple):
    """A segment on the path of a call."""

    names: Mapping[str, tuple[Resolved, ...]]
    """The segment, or each that it may be, with where the data gets its name."""
    is_transferred: bool
    """Whether the call brings or takes the data of the segment, too."""

    @property
    def first(self) -> str:
        """The segment, or the first that it may be."""
        return next(iter(self.names))


class _Functions(NamedTuple):
    """The functions that a call may have; none if nothing tells them."""

    names: tuple[str, ...]
    is_sure: bool


def operations(
    code: Code, names: DataNames, values: Values, reaching: Reaching, calls: tuple[WrittenCall, ...]
) -> tuple[DliOperation, ...]:
    """Return every EXEC DLI and every CALL of a DL/I interface in source order, in the same form.

    Args:
        code: The blocks.
        names: The declared names.
        values: The values of data items, for segment names and functions, most of which are constants of the program.
        reaching: The values of items at a statement, for a function that is moved to its item before each call.
        calls: The CALLs.
    """
    asked = [call for call in calls if call.name in DLI_INTERFACES]
    reaching.follow(name for call in asked for name in call.parameters[:2] if len(_said(name, values)) > 1)
    found = [_block(block, code, values) for block in code.blocks if block.exec.kind == "DLI"]
    messages = {key(call.parameters[1]) for call in asked if _is_of_message(call, values)}
    found += [_called(call, code, names, values, reaching, messages) for call in asked]
    found.sort(key=lambda operation: operation.line)
    held = _holding(found)
    return tuple(one if one.segments else one._replace(uses=tuple(_changed(one, held))) for one in found)


def _block(block: Block, code: Code, values: Values) -> DliOperation:
    """Return the operation of an EXEC DLI."""
    command = block.command
    psb = command.get("PSB")
    name = (psb or "").strip("() ")
    steps: list[_Step] = []
    for option, argument in command.options:
        if option == "SEGMENT" and argument:
            # SEGMENT((A)) names the item that holds the name.
            item = argument.strip("() ")
            held = values.of(item) if argument.startswith("(") else ()
            steps.append(_Step(_by_name((value.value, value) for value in held) or {item: ()}, False))
        elif option in {"INTO", "FROM"} and steps:
            steps[-1] = steps[-1]._replace(is_transferred=True)
    function = _function(command)
    return DliOperation(
        function=function,
        segments=tuple(step.first for step in steps),
        pcb=command.get("PCB") or (name or None),
        area=command.get("INTO", "FROM"),
        resolved=values.of(name) if name else (),
        line=block.line,
        end_line=block.end_line,
        paragraph=code.name(block.paragraph, block.header),
        copybook=block.copybook,
        uses=tuple(_uses(_Functions((function,), True), steps)),
    )


def _function(command: ExecCommand) -> str:
    """Return the function of an EXEC DLI, in short if it is spelled out: GET NEXT IN PARENT is GNP."""
    if command.name == "GET":
        return "GU" if command.has("UNIQUE") else "GNP" if command.has("PARENT") else "GN"
    return _SHORT.get(command.name, command.name)


def _is_of_message(call: WrittenCall, values: Values) -> bool:
    """Return whether a call asks for a message, or for the first record of a database: a GU without search arguments."""
    return len(call.parameters) == _OF_MESSAGE and _READING in _said(call.parameters[0], values)


def _called(
    call: WrittenCall, code: Code, names: DataNames, values: Values, reaching: Reaching, messages: Container[str]
) -> DliOperation:
    """Return the operation of a CALL, whose parameters are a count (which may be missing), the function, the PCB or AIB, the area,
    and segment search arguments.

    Args:
        call: The CALL.
        code: The statements.
        names: The declared names.
        values: The values of data items.
        reaching: The values of items at a statement.
        messages: The PCBs, in capitals, that may be of messages; the name of a format follows their area.
    """
    parameters = list(call.parameters)
    functions = [_functions(name, call, values, reaching) for name in parameters[:2]]
    if len(functions) > 1 and functions[1].names and not functions[0].names:
        parameters, functions = parameters[1:], functions[1:]
    function = functions[0] if functions else _Functions((), False)
    further = parameters[3:]
    if further and key(parameters[1]) in messages:
        further = [name for name in further if not _is_short(name, names)]
    steps = [step for name in further if (step := _step(name, names, values)) is not None]
    return DliOperation(
        function=" or ".join(function.names) or (parameters[0] if parameters else ""),
        segments=tuple(step.first for step in steps),
        pcb=parameters[1] if len(parameters) > 1 else None,
        area=parameters[2] if len(parameters) > 2 else None,
        resolved=values.of(parameters[0]) if parameters else (),
        line=call.line,
        end_line=call.end_line,
        paragraph=code.name(call.paragraph, call.header),
        copybook=call.copybook,
        uses=tuple(_uses(function, steps)),
    )


def _is_short(name: str, names: DataNames) -> bool:
    """Return whether an item is too short for a search argument, which ends with a blank or more."""
    index = names.one(name)
    size = names.items[index].bytes if index is not None else None
    return size is not None and size <= _NAME


def _said(name: str, values: Values) -> tuple[str, ...]:
    """Return the functions that a parameter may hold anywhere in the program, in capitals; none if it holds longer texts."""
    text = literal(name)
    found = [text] if text is not None else [value.value for value in values.of(name)]
    return tuple(dict.fromkeys(map(str.upper, found))) if all(len(one) <= _MOST_LETTERS for one in found) else ()


def _functions(name: str, call: WrittenCall, values: Values, reaching: Reaching) -> _Functions:
    """Return the functions that a parameter may hold at a call."""
    said = _said(name, values)
    if len(said) < 2:
        return _Functions(said, True)
    reached = reaching.at(name, call.site)
    here = tuple(dict.fromkeys(value.value.upper() for value in reached.values))
    return _Functions(here, reached.is_sure) if here and not reached.unknown else _Functions(said, False)


def _uses(functions: _Functions, steps: Sequence[_Step]) -> Iterator[SegmentUse]:
    """Yield what a call does with the segments of its path."""
    for at, step in enumerate(steps):
        is_used = step.is_transferred or at == len(steps) - 1
        for function in functions.names:
            done = function if is_used or function not in _PUTTING else _READING
            for name, said_by in step.names.items():
                yield SegmentUse(done, name, functions.is_sure and len(step.names) == 1, said_by)


def _by_name(said: Iterable[tuple[str, Resolved]]) -> dict[str, tuple[Resolved, ...]]:
    """Return each name with all places that say it, in their order."""
    found: dict[str, tuple[Resolved, ...]] = {}
    for name, place in said:
        found[name] = (*found.get(name, ()), place)
    return found


def _holding(found: Sequence[DliOperation]) -> dict[tuple[str, str | None], _Held]:
    """Return the segments that calls hold, by the PCB, and by the PCB and the area, each once."""
    held: dict[tuple[str, str | None], _Held] = {}
    for one in found:
        above = one.segments[:-1]
        names = {use.segment: use.said_by for use in one.uses if use.function in _HOLDING and use.segment not in above}
        for area in (None, key(one.area or "")) if one.pcb is not None and names else ():
            segments = held.setdefault((key(one.pcb or ""), area), {})
            fresh = [name for name in names if name not in segments]
            segments |= {name: names[name] for name in fresh[: _MOST_SEGMENTS - len(segments)]}
    return held


def _changed(one: DliOperation, held: dict[tuple[str, str | None], _Held]) -> Iterator[SegmentUse]:
    """Yield the segments that a REPL or DLET without segments changes: those that the calls with the same PCB hold.

    If one of these calls has the same area, the others do not count.
    """
    if one.function in _CHANGING and one.pcb is not None:
        pcb = key(one.pcb)
        segments = held.get((pcb, key(one.area or ""))) or held.get((pcb, None), {})
        for segment, said_by in segments.items():
            yield SegmentUse(one.function, segment, len(segments) == 1, said_by)


def _step(name: str, names: DataNames, values: Values) -> _Step | None:
    """Return the segment of a search argument, which the first eight characters of its value name.

    None if no value is known. Not every parameter after the area is a search argument: the area of a conversation is not.
    """
    index = names.one(name)
    whole = values.item(index)[:1] if index is not None else ()
    while index is not None:
        found = values.item(index)
        segments = ((one.value[:_NAME].split("(")[0].split("*")[0].strip(), one) for one in found)
        if found:
            # The command code D, after a name and an asterisk, asks for the data of an upper segment.
            codes = [one.value[_NAME:].partition("*")[2].partition("(")[0] for one in whole]
            named = _by_name((name, one) for name, one in segments if name)
            return _Step(named, any("D" in one for one in codes)) if named else None
        parts = names.children.get(index, [])
        index = parts[0] if parts else None
    return None
