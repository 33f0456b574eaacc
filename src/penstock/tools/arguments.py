"""Are these the arguments of the tool? Names, types and bounds; and what to say of those that are not right.

A mistake is an error that names the field, what it takes, and a call that works (L-9). Nothing is coerced, so that
what a model sends means the same on every face. Law: what passes has every parameter of the
record, each with a value of its type within its bounds. Keeps out: what a value means, which only the answer knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape, notices
from penstock.text.calls import Call, Value
from penstock.tools.record import REQUIRED

if TYPE_CHECKING:
    from penstock.tools.record import Parameter, Tool

# How many characters of an argument an error repeats.
_ECHOED = 256


def check(tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call with defaults filled in.

    Types are what they are: `true`, `"5"` and `5.0` are no integers (L-9). An argument that is null is one
    that was left out, where it may be left out.

    Args:
        tool: the record that says what is taken.
        arguments: what a model sent, by name.

    Raises:
        ToolError: with the code `bad_argument`, naming every field that is wrong (four at most), what it takes, and a call that
            works where there is one.
    """
    known = [parameter.name for parameter in tool.parameters]
    if not isinstance(arguments, Mapping):
        raise ToolError("bad_argument", f"arguments: takes an object with {', '.join(known)}, not {_kind(arguments)}")
    problems: list[str] = []
    for name in map(str, arguments):
        if name not in known:
            from difflib import get_close_matches  # only where a name is wrong

            near = get_close_matches(name[:64], known, 1, 0.5)
            problems.append(_unknown(tool.name, name, known, near[0] if near else None))
    # All of them, not the first: a model that corrects one mistake at a time takes a call for each.
    checked: dict[str, object] = {}
    for parameter in tool.parameters:
        value = arguments.get(parameter.name, parameter.default)
        # Clients of JSON write out what they leave out, as null: that is the default, for every argument that has one.
        if value is None and parameter.default is not REQUIRED:
            value = parameter.default
        problem = "is required" if value is REQUIRED else _problem(parameter, value)
        if problem:
            problems.append(notices.argument(parameter.name, problem))
        else:
            checked[parameter.name] = value
    if problems:
        raise ToolError("bad_argument", " ".join(problems[:4]), *_corrected(tool, checked))
    return checked


def given(tool: Tool, arguments: Mapping[str, object]) -> dict[str, Value]:
    """Return the arguments that are not their default, inert and in the order of the record: what a printed call repeats."""
    shown: dict[str, Value] = {}
    for parameter in tool.parameters:
        value = arguments.get(parameter.name)
        if isinstance(value, str | int) and value != parameter.default:
            shown[parameter.name] = escape.show_argument(value) if isinstance(value, str) else value
    return shown


def _unknown(tool: str, name: str, known: list[str], near: str | None) -> str:
    """Say that a tool has no argument of that name, which it has, and which was perhaps meant."""
    hint = f"Did you mean {near}? " if near else ""
    return f"{tool} has no argument {escape.clip(name, 64)}. {hint}It takes {', '.join(known)}."


def _problem(parameter: Parameter, value: object) -> str | None:
    """Say what is wrong with a value; None for one that is right. `type(…) is int`, since True is an int by `isinstance`."""
    if value is None and parameter.default is None:
        return None
    if parameter.kind == "integer":
        if type(value) is not int or not parameter.minimum <= value <= parameter.maximum:
            return f"takes an integer from {parameter.minimum} to {parameter.maximum}, not {_kind(value)}"
    elif parameter.kind == "boolean":
        if type(value) is not bool:
            return f"takes true or false, not {_kind(value)}"
    elif not isinstance(value, str):
        return f"takes a string, not {_kind(value)}"
    return None


def _kind(value: object) -> str:
    """Return a wrong value as an error may echo it: its type in JSON's words, and itself where it is short."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        # Python refuses to write out integers of more than 4,300 digits, and nobody wants to read them.
        return str(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return f"the number {value!r}"
    if isinstance(value, str):
        return f'the string "{escape.clip(value, 40)}"'
    return "an array" if isinstance(value, list | tuple) else "an object"


def _corrected(tool: Tool, checked: dict[str, object]) -> tuple[Call, ...]:
    """Return a call that keeps what was right and leaves out what was not; none where a required argument is missing.

    Nor where it would repeat at length what nobody has looked at yet: an error echoes at most 256 characters of a value.
    """
    if any(parameter.default is REQUIRED and parameter.name not in checked for parameter in tool.parameters):
        return ()
    if any(isinstance(value, str) and len(value) > _ECHOED for value in checked.values()):
        return ()
    return (Call(tool.name, given(tool, checked)),)
