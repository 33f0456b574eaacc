"""Which operations does a program request from IMS, by EXEC DLI and by calls of the DL/I interface?

Leaves to others: where a segment is defined (the estate's PSBs and DBDs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .calls import DLI_INTERFACES
from .resolving import literal
from .values import DliOperation

if TYPE_CHECKING:
    from .calls import WrittenCall
    from .code import Block, Code
    from .naming import DataNames
    from .resolving import Values


def operations(
    code: Code, names: DataNames, values: Values, calls: tuple[WrittenCall, ...]
) -> tuple[DliOperation, ...]:
    """Return every EXEC DLI and every CALL of a DL/I interface in source order, in the same form.

    Args:
        code: The blocks.
        names: The declared names.
        values: The values of data items, for functions and segment names, which are constants of the program.
        calls: The CALLs.
    """
    found = [_block(block, code, values) for block in code.blocks if block.exec.kind == "DLI"]
    found += [
        _called(call, code, names, values)
        for call in calls
        if call.target.strip("'\"").strip().upper() in DLI_INTERFACES
    ]
    return tuple(sorted(found, key=lambda operation: operation.line))


def _block(block: Block, code: Code, values: Values) -> DliOperation:
    """Return the operation of an EXEC DLI."""
    command = block.command
    area = command.get("INTO", "FROM")
    psb = command.get("PSB")
    segments = tuple(argument for option, argument in command.options if option == "SEGMENT" and argument)
    name = (psb or "").strip("() ")
    return DliOperation(
        function=command.name,
        segments=segments,
        pcb=command.get("PCB") or (name or None),
        area=area,
        resolved=values.of(name) if name else (),
        line=block.line,
        end_line=block.end_line,
        paragraph=code.name(block.paragraph),
        copybook=block.copybook,
    )


def _called(call: WrittenCall, code: Code, names: DataNames, values: Values) -> DliOperation:
    """Return the operation of a CALL, whose parameters are a count (which may be missing), the function, the PCB or AIB, the area,
    and segment search arguments.
    """
    parameters = list(call.parameters)
    if parameters and not _function(parameters[0], values) and len(parameters) > 1 and _function(parameters[1], values):
        parameters = parameters[1:]
    resolved = values.of(parameters[0]) if parameters else ()
    function = _function(parameters[0], values) if parameters else None
    return DliOperation(
        function=function or (parameters[0] if parameters else ""),
        segments=tuple(filter(None, (_segment(name, names, values) for name in parameters[3:]))),
        pcb=parameters[1] if len(parameters) > 1 else None,
        area=parameters[2] if len(parameters) > 2 else None,
        resolved=resolved,
        line=call.line,
        end_line=call.end_line,
        paragraph=code.name(call.paragraph),
        copybook=call.copybook,
    )


def _function(name: str, values: Values) -> str | None:
    """Return the function that a parameter holds, in capitals; None if it is not a function, or may have several values."""
    text = literal(name)
    if text is None:
        found = values.of(name)
        text = found[0].value if len({value.value for value in found}) == 1 else None
    # A function has at most four letters; a longer text is another parameter.
    return text.upper() if text and len(text) <= 4 else None


def _segment(name: str, names: DataNames, values: Values) -> str | None:
    """Return the segment of a search argument, which the first eight characters of its value name.

    None if no value is known. Not every parameter after the area is a search argument: the area of a conversation is not.
    """
    index = names.one(name)
    while index is not None:
        found = values.item(index)
        if found:
            return found[0].value[:8].split("(")[0].split("*")[0].strip() or None
        parts = names.children.get(index, [])
        index = parts[0] if parts else None
    return None
