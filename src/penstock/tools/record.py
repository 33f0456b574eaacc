"""What is a tool? One record: its name, its description, its arguments, and the function that answers.

The record is all there is to a tool: every face (Python, MCP, commands, the agent) reads what it offers from here, and a call goes
from here to the answer. Leaves to others: whether arguments are right (`arguments`), and which tools there are (`penstock.tools`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

# The range of a file offset: 64 bits, signed. Larger numbers from a model would overflow in system calls.
MAX_INTEGER = 2**63 - 1
"""The largest integer that an argument accepts, unless its parameter has a lower maximum."""


class _Required:
    """The mark of a parameter without a default; a separate class, since None is a default."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()
"""Takes the place of a default if an argument must be given."""


class Parameter(NamedTuple):
    """One argument of a tool: its name, its type, and what a model is told about it."""

    name: str
    kind: str
    """`string`, `integer` or `boolean`, as in JSON Schema."""
    default: object
    """The value if it is omitted; `REQUIRED` if it must be given, None if omitting it has a meaning of its own."""
    description: str
    minimum: int = 0
    """The lower bound of an integer, inclusive."""
    maximum: int = MAX_INTEGER
    """The upper bound of an integer, inclusive."""


class Result(NamedTuple):
    """The result of a call: text for the model, and for programs whether it succeeded."""

    text: str
    """What the model is shown, including errors."""
    is_error: bool = False
    """Whether the call must be changed or retried later."""
    code: str | None = None
    """One of `penstock.errors.CODES` for an error; else None."""
    outcome: str = "done"
    """For scripts: `done`, `nothing` if nothing was found, `partial` if time or a scan budget ended before the work did."""


def _answered_elsewhere(*_: object, **__: object) -> Result:
    """Substitute for the answer of a tool that another room runs."""
    raise CallerError("This tool is answered by the room that offers it, not through penstock.Tools.")


class Tool(NamedTuple):
    """A tool as it is offered to a model, and the function that answers it.

    It is one record, so that no face can drift from another: the Python method, the MCP tool, the command and the agent's tool read
    name, description, arguments and defaults here, and errors about any of them are worded from it too.
    """

    name: str
    """The name that calls use, the same on every face."""
    title: str
    """A few words for a person."""
    description: str
    """What a tool does and when to use it, for a model."""
    parameters: tuple[Parameter, ...]
    """The arguments of a tool, in the order in which printed calls show them."""
    slow: bool = False
    """Whether a tool walks a tree or scans files: a server runs few of those at once."""
    answer: Callable[..., Result] = _answered_elsewhere
    """`answer(invocation, **arguments)` returns the result. It takes the parameters by name, checked and with their defaults filled
    in, and raises `ToolError` for what the model has to change. Tools that another room runs (an agent's edits, its shell, its todo
    list) have none.
    """

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of that name; None if the tool has none."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    def schema(self) -> dict[str, object]:
        """Return the arguments as a JSON Schema that allows nothing else.

        A default of None is omitted: to a model it would read as a value to send.
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
