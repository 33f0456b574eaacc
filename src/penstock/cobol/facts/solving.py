"""Which definitions reach each statement, over all paths through the performed ranges of a program?

The performed ranges are the procedures of this analysis. For each, its transfer function is computed first (the definitions it
kills and adds), then the definitions at its start; so a PERFORM does not yield what another PERFORM of the range left.
Leaves to others: what a definition is, and which statement makes it (`reaching`); which paths there are (`ways`).

Law: a definition that some path brings to a statement reaches it (`tests/laws/test_law_reaching.py`).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from .ways import EXIT

if TYPE_CHECKING:
    from .ways import Range, Ways

_STEPS_PER_NODE = 40  # with more visits per statement, there are too many paths to follow

# A step is not applied to a set of definitions but kept as a transfer function, `added | (before & ~gone)`. So the effect of a
# range is computed once, for any set, and applied wherever the range is performed; otherwise a value left by one caller would seem
# to reach all others.
Transfer = tuple[int, int]
"""A transfer function: the bits that are added, and those that are killed on every path."""


class Solution:
    """The definitions that reach each node, over all performed ranges."""

    def __init__(self, ways: Ways, functions: dict[int, Transfer]) -> None:
        self._ways = ways
        self._functions = functions
        self._ranges: dict[Range | None, int] = {None: 0}
        self._ends: list[int | None] = [None]  # the last paragraph of each range; None for the main line
        self._states: list[dict[int, Transfer]] = [{}]  # by range: the transfer function from its start to each node
        self._results: list[Transfer | None] = [None]
        self._callers: list[set[tuple[int, int]]] = [set()]
        self._entries: list[int] = [0]
        self._queue: deque[tuple[int, int]] = deque()

    @classmethod
    def of(cls, ways: Ways, functions: dict[int, Transfer], start: int, is_entered_again: bool) -> Solution | None:
        """Return the solution; None if there are too many paths to follow.

        Args:
            ways: The ways through the program.
            functions: The transfer function of each node that has an effect.
            start: The definitions when the program begins.
            is_entered_again: Whether the definitions when the program is left may be there when it begins again.
        """
        solution = cls(ways, functions)
        for root in ways.roots():
            solution._flow(0, root, (0, 0))
        if not solution._run():
            return None
        solution._enter(start, is_entered_again)
        return solution

    def at(self, node: int) -> int | None:
        """Return the bits of the definitions that may reach a node; None if no path leads there."""
        found: int | None = None
        for number, state in enumerate(self._states):
            function = state.get(node)
            if function is not None:
                added, gone = function
                found = (found or 0) | added | (self._entries[number] & ~gone)
        return found

    def _run(self) -> bool:
        """Follow all paths until nothing changes; return whether that was possible."""
        # The sets only grow, so this terminates. The limit is for programs of GO TOs in which it would take minutes.
        limit = _STEPS_PER_NODE * len(self._ways.after) + 10_000
        while self._queue:
            limit -= 1
            if limit < 0:
                return False
            self._step(*self._queue.popleft())
        return True

    def _step(self, number: int, node: int) -> None:
        """Process one node of one range: its effect, the range that it performs, and its successors."""
        function = self._states[number][node]
        done = self._functions.get(node)
        if done is not None:
            function = _then(function, done)
        ways = self._ways
        ran = ways.runs.get(node)
        if ran is not None:
            callee = self._range(ran)
            self._callers[callee].add((number, node))
            result = self._results[callee]
            # The caller is processed again when the range returns (`_return`). Assuming no effect until then would let definitions
            # through that the range kills.
            if result is None:  # the range has not returned yet, or never does
                return
            function = _then(function, result)
        if (following := ways.falls(node)) is not None:
            # At the end of its last paragraph this range returns; as part of another range, the same paragraph falls through.
            if self._ends[number] is not None and ways.ends(node) == self._ends[number]:
                self._return(number, function)
            else:
                self._flow(number, following, function)
            return
        for after in ways.after[node]:
            self._flow(number, after, function)

    def _range(self, ran: Range) -> int:
        """Return the number of a range, and begin to follow it if it is new."""
        number = self._ranges.get(ran)
        if number is None:
            number = self._ranges[ran] = len(self._states)
            self._ends.append(ran[1])
            self._states.append({})
            self._results.append(None)
            self._callers.append(set())
            self._entries.append(0)
            self._flow(number, self._ways.start(ran[0]), (0, 0))
        return number

    def _flow(self, number: int, node: int, function: Transfer) -> None:
        """Merge a transfer function into a node, and queue the node if that changes it."""
        state = self._states[number]
        known = state.get(node)
        # Where paths meet, additions are united, and only what all paths kill is killed.
        joined = function if known is None else (known[0] | function[0], known[1] & function[1])
        if joined != known:
            state[node] = joined
            if node != EXIT:
                self._queue.append((number, node))

    def _return(self, number: int, function: Transfer) -> None:
        """Return from a range: merge a transfer function into its result, and queue its callers if that changes it."""
        known = self._results[number]
        joined = function if known is None else (known[0] | function[0], known[1] & function[1])
        if joined != known:
            self._results[number] = joined
            self._queue.extend(self._callers[number])

    def _enter(self, start: int, is_entered_again: bool) -> None:
        """Compute the definitions at the start of each range, from the main line down."""
        self._entries[0] = start
        calls = [
            (caller, node, callee) for callee, callers in enumerate(self._callers) for caller, node in sorted(callers)
        ]
        by_caller: dict[int, list[tuple[int, int]]] = {}
        for caller, node, callee in calls:
            by_caller.setdefault(caller, []).append((node, callee))
        # Each range is visited, even one at whose start there are no definitions: it may have some of its own where it performs
        # another.
        waiting = deque(range(len(self._entries)))
        while waiting:
            caller = waiting.popleft()
            entry = self._entries[caller]
            if is_entered_again and (left := self._states[caller].get(EXIT)) is not None:
                # WORKING-STORAGE keeps its values from one call to the next.
                again = self._entries[0] | left[0] | (entry & ~left[1])
                if again != self._entries[0]:
                    self._entries[0] = again
                    waiting.append(0)
            for node, callee in by_caller.get(caller, ()):
                function = self._states[caller][node]
                done = self._functions.get(node)
                added, gone = function if done is None else _then(function, done)
                joined = self._entries[callee] | added | (entry & ~gone)
                if joined != self._entries[callee]:
                    self._entries[callee] = joined
                    waiting.append(callee)


def _then(first: Transfer, second: Transfer) -> Transfer:
    """Return the composition of two transfer functions."""
    return (first[0] & ~second[1]) | second[0], first[1] | second[1]
