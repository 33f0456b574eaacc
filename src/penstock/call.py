"""Which call? A tool with its arguments, as a value that errors, pages and steps carry.

Leaves to others: how a call is written for somebody to copy (`text.calls`), and what it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | int | bool
"""Allowed types of an argument of a printed call."""


class Call(NamedTuple):
    """A call of one of our tools."""

    tool: str
    """The tool, by its name in Python: `read_file`."""
    arguments: Mapping[str, Value] = {}
    """The arguments that are not their default, in the order in which they are printed, by their names in Python."""

    def but(self, **changes: Value | None) -> Call:
        """Return the same call with other arguments; None removes one."""
        merged = {**self.arguments, **changes}
        return Call(self.tool, {name: value for name, value in merged.items() if value is not None})
