"""Which call works if a pattern cannot be used? The same call with the pattern taken literally, or with a pattern for everything.

Every refusal names a call that works. Most refusals do so where they arise; which other arguments fit, only the tool knows. Law:
the named call has been tried, as far as that is possible without looking at a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text.calls import Call
from penstock.tools.arguments import ECHOED_CHARS, given
from penstock.workspace.pattern import line_finder, literally, selected

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.tools.record import Tool


def with_way(error: ToolError, tool: Tool, arguments: Mapping[str, object]) -> ToolError:
    """Return the refusal of a pattern with a call that works instead; any other error unchanged.

    Args:
        error: What the call raised.
        tool: The tool that was called.
        arguments: Its arguments, checked.
    """
    if error.code != "bad_pattern":
        return error
    for changes in _plainer(tool, str(arguments["pattern"])):
        changed = {**arguments, **changes}
        is_short = all(len(value) <= ECHOED_CHARS for value in changed.values() if isinstance(value, str))
        if is_short and _can_be(changed):
            return ToolError(error.code, error.message, Call(tool.name, given(tool, changed)))
    return error


def _plainer(tool: Tool, pattern: str) -> Iterator[dict[str, object]]:
    """Yield possible alternatives, the nearest first."""
    if tool.parameter("literal") is not None:
        yield {"literal": True}
        yield {"glob": "*"}
        yield {"glob": "*", "literal": True}
    else:
        yield {"pattern": literally(pattern)}
    if tool.parameter("use_regex") is not None:
        yield {"pattern": "*", "use_regex": False}


def _can_be(arguments: Mapping[str, object]) -> bool:
    """Return whether the patterns among the arguments of a call can be used."""
    pattern, is_literal = str(arguments["pattern"]), bool(arguments.get("literal"))
    try:
        if "use_regex" in arguments:
            selected(pattern, use_regex=bool(arguments["use_regex"]))
        else:
            line_finder(pattern, literal=is_literal)
            selected(str(arguments.get("glob", "*")))
    except ToolError:
        return False
    return True
