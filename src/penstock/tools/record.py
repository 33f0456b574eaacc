"""What is a tool? One record: its name, what it says of itself, its arguments, and the function that answers.

The record is all that there is of a tool: every face (Python, MCP, commands, the agent) reads what it offers from here, and a call
goes from here to the answer. Keeps out: whether arguments are right (`arguments`), and which tools there are (`penstock.tools`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_INTEGER = 2**63 - 1  # what a file offset can be (H22)


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


class Parameter(NamedTuple):
    """One argument of a tool. `default` is `REQUIRED` where there is none."""

    name: str
    kind: str  # string, integer or boolean
    default: object
    description: str
    minimum: int = 0
    maximum: int = MAX_INTEGER


class Result(NamedTuple):
    """What a call gives back: text for the model; `code` is one of `errors.CODES` when `is_error`.

    `outcome` is for scripts: `nothing` was found, or the answer is `partial` because time or a scan budget ended.
    """

    text: str
    is_error: bool = False
    code: str | None = None
    outcome: str = "done"


def _answered_elsewhere(*_: object, **__: object) -> Result:
    raise CallerError("This tool is answered by the room that offers it, not through penstock.Tools.")


class Tool(NamedTuple):
    """A tool as it is offered to a model.

    `slow` ones walk a tree or scan files: a server runs few of them at once. `answer(invocation, **arguments)` gives the result:
    it takes the parameters by their names, checked and with their defaults filled in, and raises `ToolError` for what the model
    has to change. Tools that another room runs (an agent's edits, its shell, its todo list) have none.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    slow: bool = False
    answer: Callable[..., Result] = _answered_elsewhere

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def schema(self) -> dict[str, object]:
        """The arguments as a JSON Schema that allows nothing else."""
        properties: dict[str, object] = {}
        for parameter in self.parameters:
            field: dict[str, object] = {"type": parameter.kind, "description": parameter.description}
            if parameter.kind == "integer":
                field["minimum"] = parameter.minimum
                if parameter.maximum != MAX_INTEGER:
                    field["maximum"] = parameter.maximum
            if parameter.default is not REQUIRED and parameter.default is not None:
                field["default"] = parameter.default
            properties[parameter.name] = field
        required = [parameter.name for parameter in self.parameters if parameter.default is REQUIRED]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }
