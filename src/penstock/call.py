"""Which call? A tool with its arguments, as a value that errors, pages and steps carry.

Keeps out: how it is written for somebody to copy (`text.calls`), and what it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | int | bool


class Call(NamedTuple):
    """`tool` with `arguments`, in the order in which they are printed. Names are the Python ones of contracts.md."""

    tool: str
    arguments: Mapping[str, Value] = {}

    def but(self, **changes: Value | None) -> Call:
        """The same call with other arguments; None takes one away."""
        merged = {**self.arguments, **changes}
        return Call(self.tool, {name: value for name, value in merged.items() if value is not None})
