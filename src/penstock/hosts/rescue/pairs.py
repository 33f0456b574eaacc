"""Which calls have no result, which results have no call, and which are duplicated?

An id that is called again starts over: some servers give the same ids in every turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.wires import ToolCall, ToolResult

if TYPE_CHECKING:
    from penstock.wires import Transcript


class CallPairs(NamedTuple):
    """The calls and results of a conversation that do not come in pairs."""

    open_calls: int
    """Calls without a result."""
    lost_results: int
    """Results without a call."""
    doubled: tuple[tuple[int, int], ...]
    """Further results of an answered call: the position of the message, and of the part in it."""


def find_unpaired(transcript: Transcript) -> CallPairs:
    """Return the calls and results that do not come in pairs."""
    waiting: set[str] = set()
    answered: set[str] = set()
    doubled: list[tuple[int, int]] = []
    open_calls = lost = 0
    for entry in transcript.entries:
        for at, part in enumerate(entry.parts):
            if isinstance(part, ToolCall):
                open_calls += part.id in waiting
                waiting.add(part.id)
                answered.discard(part.id)
            elif isinstance(part, ToolResult) and part.call_id in waiting:
                waiting.remove(part.call_id)
                answered.add(part.call_id)
            elif isinstance(part, ToolResult) and part.call_id in answered:
                doubled.append((entry.index, at))
            elif isinstance(part, ToolResult):
                lost += 1
    return CallPairs(open_calls + len(waiting), lost, tuple(doubled))
