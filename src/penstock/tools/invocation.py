"""What does one call of a tool work with? The root, the store, how much the result may take, and until when.

A record is the same for every call; an `Invocation` is one call of it and holds whatever an answer needs besides its arguments, so
that answers are functions without state. Leaves to others: what the call is for.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

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

MIN_ALLOWANCE = 400
"""The smallest allowance that a tool works with, in any unit: a header with its next call, and a line."""


class Invocation(NamedTuple):
    """One call of a tool on its way to the answer."""

    # A tuple although nobody unpacks it: nothing else in a view needs `dataclasses`, which take 2 ms to load and to build a class.
    tool: Tool
    arguments: dict[str, object]
    """Checked and complete: it has every parameter of the tool."""
    workspace: Workspace
    """The files that it may read."""
    allowance: Allowance
    """What the result may take, header included."""
    dialect: Dialect
    """The syntax in which the next calls are printed."""
    deadline: Deadline
    """When a tool must answer with what it has by then."""
    reads: Reads
    """Where returned pages are counted."""
    progress: Callable[[int], None] | None = None
    """Called with the number of files that a long walk has seen."""
    store: Store | Callable[[], Store] | None = None
    """Where kept outputs are, or a function that opens it; None for the user's own."""
    shown: Callable[[Window], None] | None = None
    """Called with every page of a file that was returned."""

    def again(self, **changes: object) -> str:
        """Return the same call with other arguments, as this face writes it; defaults are omitted."""
        return self.dialect.write(Call(self.tool.name, given(self.tool, {**self.arguments, **changes})))

    def fit(self, count: int, render: Callable[[int], str]) -> str:
        """Return `render(n)` for the largest n up to `count` that is within the allowance.

        Args:
            count: how many items there are.
            render: writes the first n of them, with header and next call; more items take more room.

        Raises:
            ToolError: if not even `render(0)` is within the allowance.
        """
        text = render(count)
        if self.allowance.holds(text):
            return text
        # By bisection: rendering costs its length, and a page of 500 matches is rendered ten times instead of 500.
        text = render(bisect_left(range(1, count), True, key=lambda n: not self.allowance.holds(render(n))))
        if not self.allowance.holds(text):
            raise ToolError("bad_argument", notices.over_allowance(self.allowance, self.allowance.measure(text)))
        return text


def check_allowance(allowance: Allowance) -> Allowance:
    """Return an allowance that a tool can work with.

    Raises:
        CallerError: for one below `MIN_ALLOWANCE`, too small for any answer.
    """
    if allowance.limit < MIN_ALLOWANCE:
        raise CallerError(f"An allowance of {allowance} is too small: a tool needs {MIN_ALLOWANCE} to say anything.")
    return allowance


def outcome_of(found: int, is_complete: bool) -> str:
    """Return the outcome of an answer that found that many things: `partial` if it had to stop before it saw everything."""
    return "partial" if not is_complete else "done" if found else "nothing"
