"""What is a tool? One record: its name, its description, its arguments, and the function that answers.

The record is all there is to a tool: every face (Python, MCP, commands, the agent) reads what it offers from here, and a call goes
from here to the answer. Leaves to others: whether arguments are right (`arguments`), and which tools there are (`penstock.tools`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

# What a file offset can be: 64 bits, signed. Larger numbers from a model would overflow where the system is asked.
MAX_INTEGER = 2**63 - 1
"""The largest integer that an argument takes, unless its parameter says less."""


class _Required:
    """The mark of a parameter without a default; a class of its own, since None is a default."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()
"""Stands in the place of a default where an argument has to be given."""


class Parameter(NamedTuple):
    """One argument of a tool: its name, its type, and what a model is told of it."""

    name: str
    kind: str
    """`string`, `integer` or `boolean`, as in JSON Schema."""
    default: object
    """The value when it is left out; `REQUIRED` where it may not be, None where leaving it out means something of its own."""
    description: str
    minimum: int = 0
    """Of an integer, inclusive."""
    maximum: int = MAX_INTEGER
    """Of an integer, inclusive."""


class Result(NamedTuple):
    """What a call gives back: text for the model, and for programs whether it went well."""

    text: str
    """What the model is shown, errors included."""
    is_error: bool = False
    """Whether the call has to be changed or made later."""
    code: str | None = None
    """One of `penstock.errors.CODES` for an error; else None."""
    outcome: str = "done"
    """For scripts: `done`, `nothing` where nothing was found, `partial` where time or a scan budget ended before the work did."""


def _answered_elsewhere(*_: object, **__: object) -> Result:
    """Stand in for the answer of a tool that another room runs."""
    raise CallerError("This tool is answered by the room that offers it, not through penstock.Tools.")


class Tool(NamedTuple):
    """A tool as it is offered to a model, and the function that answers it.

    One record, so that no face can drift from another: the Python method, the MCP tool, the command and the agent's tool read name,
    description, arguments and defaults here, and a mistake in any of them is worded from here too.
    """

    name: str
    """What calls name, the same on every face."""
    title: str
    """A few words for a person."""
    description: str
    """What a tool does and when to use it, for a model."""
    parameters: tuple[Parameter, ...]
    """The arguments of a tool, in the order in which printed calls show them."""
    slow: bool = False
    """Whether a tool walks a tree or scans files: a server runs few of those at once."""
    answer: Callable[..., Result] = _answered_elsewhere
    """`answer(invocation, **arguments)` gives the result. It takes the parameters by their names, checked and with their defaults
    filled in, and raises `ToolError` for what the model has to change. Tools that another room runs (an agent's edits, its shell,
    its todo list) have none."""

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of that name, None where the tool has none."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def schema(self) -> dict[str, object]:
        """Return the arguments as a JSON Schema that allows nothing else.

        A default of None is left out: to a model it would read as a value to send.
        """
        properties: dict[str, object] = {}
        for parameter in self.parameters:
            field: dict[str, object] = {"type": parameter.kind, "description": parameter.description}
            if parameter.kind == "integer":
                field["minimum"] = parameter.minimum
                if parameter.maximum != MAX_INTEGER:
                    field["maximum"] = parameter.maximum
            # Offered so that a model need not send what it would get anyway.
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
