"""Are these the arguments of the tool? Names, types and bounds, and the error for arguments that are wrong.

A mistake is an error that names the field, what it accepts, and a call that works (L-9). Nothing is coerced, so that what a model
sends means the same on every face. Law: arguments that pass have every parameter of the record, each with a value of its type
within its bounds. Leaves to others: what a value means, which only the answering function knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape, notices
from penstock.text.calls import Call, Value
from penstock.tools.record import REQUIRED

if TYPE_CHECKING:
    from penstock.tools.record import Parameter, Tool

ECHOED_CHARS = 256
"""How many characters of an argument are repeated by an error, or by a call that it names."""
# Similarity of two spellings: from which one certainly stands for the other, and from which it may.
_ALIKE = 0.8
_NEAR = 0.5
# How many mistakes are reported.
_TOLD = 4
# What other agents' tools call the arguments of ours, without hyphens, underscores and capitals.
_FILE, _GLOB = ("path", "file_path"), ("glob", "pattern")
_CALLED_ELSEWHERE = {
    **dict.fromkeys(("absolutepath", "file", "filename", "filepath", "path", "targetfile"), _FILE),
    **dict.fromkeys(("dir", "directory", "dirpath", "folder"), ("path",)),
    **dict.fromkeys(("filepattern", "glob", "globpattern", "include", "includepattern"), _GLOB),
    **dict.fromkeys(("query", "regex"), ("pattern",)),
    **dict.fromkeys(("caseinsensitive", "i"), ("ignore_case",)),
    **dict.fromkeys(("c", "context"), ("context_lines",)),
    **dict.fromkeys(("headlimit", "maxresults"), ("limit",)),
    **dict.fromkeys(("oldstr", "oldstring", "oldtext"), ("old",)),
    **dict.fromkeys(("newstr", "newstring", "newtext"), ("new",)),
    **dict.fromkeys(("contents", "filetext", "text"), ("content",)),
    **dict.fromkeys(("cmd", "script"), ("command",)),
}


def check(tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments of a call with defaults filled in.

    Types are strict: `true`, `"5"` and `5.0` are not integers (L-9). A null argument counts as omitted, if it may be omitted.

    Args:
        tool: the record that says what is accepted.
        arguments: what a model sent, by name.

    Raises:
        ToolError: with the code `bad_argument`, naming every wrong field (four at most), what it accepts, and a call that works if
            there is one.
    """
    sent: object = arguments
    # Faces that carry only objects pass on anything else as `{"arguments": …}`.
    if isinstance(arguments, Mapping) and list(arguments) == ["arguments"] and tool.parameter("arguments") is None:
        sent = arguments["arguments"]
    if not isinstance(sent, Mapping):
        known = ", ".join(parameter.name for parameter in tool.parameters)
        raise ToolError("bad_argument", f"arguments: takes an object with {known}, not {_kind(sent)}")
    # All of them, not just the first: a model that corrects one mistake at a time needs a call for each.
    problems, meant = _unknown(tool, arguments)
    checked: dict[str, object] = {}
    for parameter in tool.parameters:
        value = arguments.get(parameter.name, parameter.default)
        # JSON clients write omitted arguments as null: that means the default, for every argument that has one.
        if value is None and parameter.default is not REQUIRED:
            value = parameter.default
        problem = "is required" if value is REQUIRED else _problem(parameter, value)
        if problem:
            problems.append(notices.argument(parameter.name, problem))
        else:
            checked[parameter.name] = value
    if problems:
        raise ToolError("bad_argument", " ".join(problems[:_TOLD]), *_corrected(tool, meant))
    return checked


def given(tool: Tool, arguments: Mapping[str, object]) -> dict[str, Value]:
    """Return the arguments that differ from their defaults, inert and in the order of the record: what a printed call repeats."""
    shown: dict[str, Value] = {}
    for parameter in tool.parameters:
        value = arguments.get(parameter.name)
        if isinstance(value, str | int) and value != parameter.default:
            shown[parameter.name] = escape.show_argument(value) if isinstance(value, str) else value
    return shown


def _unknown(tool: Tool, arguments: Mapping[str, object]) -> tuple[list[str], dict[str, object]]:
    """Return the errors about unknown names, and all arguments under the names that were certainly meant."""
    known = [parameter.name for parameter in tool.parameters]
    meant = {name: value for name, value in arguments.items() if name in known}
    problems = []
    for name in islice((name for name in arguments if name not in known), _TOLD):
        near, is_sure = _nearest(str(name), known)
        if is_sure:
            meant.setdefault(near, arguments[name])
        hint = f" Did you mean {near}?" if near else ""
        problems.append(f"{tool.name} has no argument {escape.clip(str(name), 64)}.{hint}")
    if problems:
        problems[-1] += f" It takes {', '.join(known)}."
    return problems, meant


def _nearest(name: str, known: list[str]) -> tuple[str, bool]:
    """Return the argument that an unknown name may stand for ("" for none), and whether it certainly does."""
    from difflib import SequenceMatcher  # only if a name is wrong

    name = name[:64]
    for other in _CALLED_ELSEWHERE.get(re.sub("[-_]", "", name).lower(), ()):
        if other in known:
            return other, True
    likeness, near = max((SequenceMatcher(None, name, other).ratio(), other) for other in known)
    return (near, likeness >= _ALIKE) if likeness >= _NEAR else ("", False)


def _plainly(parameter: Parameter, value: object) -> object:
    """Return a value as its parameter takes it, if another type says the same: `"5"` and `5.0` for 5, `"true"` for true."""
    if parameter.kind == "integer":
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}", value):
            return int(value)
    if parameter.kind == "boolean" and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    return value


def _problem(parameter: Parameter, value: object) -> str | None:
    """Return what is wrong with a value; None if it is right. `type(…) is int`, since True is an int by `isinstance`."""
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
    """Return a wrong value as an error may echo it: its type in JSON's terms, and the value itself if it is short."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        # Python refuses to print integers of more than 4,300 digits, and nobody wants to read them.
        return str(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return f"the number {value!r}"
    if isinstance(value, str):
        return f'the string "{escape.clip(value, 40)}"'
    return "an array" if isinstance(value, list | tuple) else "an object"


def _corrected(tool: Tool, meant: dict[str, object]) -> tuple[Call, ...]:
    """Return the call that was meant, as far as it is valid or evident; if no file is named, the call that finds it.

    None if another required argument is missing, or if the call would repeat at length what nobody has examined yet: an error
    echoes at most 256 characters of a value.
    """
    right: dict[str, object] = {}
    for parameter in tool.parameters:
        value = _plainly(parameter, meant.get(parameter.name, parameter.default))
        if _problem(parameter, value) is None:
            right[parameter.name] = value
        elif parameter.default is REQUIRED:
            return (Call("list_files"),) if parameter.name in _FILE else ()
    if any(isinstance(value, str) and len(value) > ECHOED_CHARS for value in right.values()):
        return ()
    return (Call(tool.name, given(tool, right)),)
