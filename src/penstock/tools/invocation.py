"""What does one call of a tool work with? The root, the store, how much the result may take, and until when.

Keeps out: what the call is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import CallerError, ToolError
from penstock.text import notices
from penstock.text.calls import Call
from penstock.tools.arguments import given

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.store import Store
    from penstock.text.allowance import Allowance
    from penstock.text.calls import Dialect
    from penstock.text.window import Window
    from penstock.tools.record import Tool
    from penstock.workspace import Workspace
    from penstock.workspace.deadline import Deadline
    from penstock.workspace.read_counters import Reads

MIN_ALLOWANCE = 400  # of any unit: a header with its next call, and a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call on its way to the answer; `arguments` are checked, and complete."""

    tool: Tool
    arguments: dict[str, object]
    workspace: Workspace
    allowance: Allowance
    dialect: Dialect
    deadline: Deadline
    reads: Reads
    progress: Callable[[int], None] | None = None
    store: Store | Callable[[], Store] | None = None
    shown: Callable[[Window], None] | None = None

    def again(self, **changes: object) -> str:
        """The same call with other arguments, as this face writes it."""
        return self.dialect.write(Call(self.tool.name, given(self.tool, {**self.arguments, **changes})))

    def fit(self, count: int, render: Callable[[int], str]) -> str:
        """`render(n)` for the largest n up to `count` that is within the allowance. Raises `ToolError` where none is."""
        text = render(count)
        if self.allowance.holds(text):
            return text
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.allowance.holds(render(middle)) else (low, middle)
        text = render(low)
        if not self.allowance.holds(text):
            raise ToolError("bad_argument", notices.over_allowance(self.allowance))
        return text


def check_allowance(allowance: Allowance) -> Allowance:
    """The allowance. Raises `CallerError` for one that is too small to say anything in."""
    if allowance.limit < MIN_ALLOWANCE:
        raise CallerError(f"An allowance of {allowance} is too small: a tool needs {MIN_ALLOWANCE} to say anything.")
    return allowance


def outcome_of(found: int, is_complete: bool) -> str:
    """The outcome of an answer that found so many things, and may have had to stop before it saw all."""
    return "partial" if not is_complete else "done" if found else "nothing"
