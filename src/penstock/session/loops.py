"""Is there progress? The latest calls with their results, and how often each came (S-13).

The same call with the same result again, a page read again in the same version, A-B-A-B: all are calls whose result was there
before. A changed result is progress. Leaves to others: what a call does, and when a model is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

# Long enough for the loops that agents fall into: of public SWE-agent runs, 4.6 % made the same call with the same result three
# times.
LOOK_BACK = 20
"""How many calls are remembered; anything longer ago does not count as a loop."""

ALTERNATING = "[Two calls take turns with the same results: nothing new will come of them. Try another way.]"
"""The message to a model when two calls take turns with the same results."""


def looping(times: int) -> str:
    """Return the message to a model next to a result that it has had before."""
    # Whoever waits for a build has one call to make, not five: a command can wait by itself until there is news.
    wait = "To wait for something, let one call wait until it has changed."
    return f"[The same result, {times} times now: nothing has changed. Try another way, or say what is missing. {wait}]"


# Durations as test runners and builds print them, times of day, and what a process makes up anew each time: addresses, pytest's
# numbered folders, handles of outputs kept whole. Whole seconds stay, except after `in`: `AGE 60s` is how long somebody waited.
_INCIDENTAL = re.compile(
    r"(?<![\w.])\d+(?:[.,]\d+)? ?(?:[mµun]s|milliseconds)\b"
    r"|(?<![\w.])\d+[.,]\d+ ?(?:s|secs?|seconds?|min|minutes?)\b"
    r"|(?<=\bin )\d+ ?s(?:econds?)?\b"
    r"|(?<!\d)\d+:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b0x[0-9a-fA-F]{6,}\b|(?<=/pytest-)\d+\b|(?<!\w)[0-9A-Za-z]{22}(?!\w)"
)


def without_times(text: str) -> str:
    """Return a result without what differs each time a command is repeated: how long it took, when, addresses, handles."""
    return _INCIDENTAL.sub("…", text)


class Did(NamedTuple):
    """One call and its result, by what makes two of them the same: name, arguments as text, digest of the result."""

    name: str
    arguments: str
    digest: str


@dataclass(frozen=True, slots=True)
class Loops:
    """The latest calls of a session, oldest first, as a value."""

    calls: tuple[Did, ...] = ()

    def with_call(self, name: str, arguments: str, digest: str) -> Loops:
        """Return the calls with one more.

        Args:
            name: the tool.
            arguments: its arguments as the model wrote them.
            digest: a fingerprint of the result; an empty one says nothing about progress, and the call is not kept.
        """
        return Loops((*self.calls, Did(name, arguments, digest))[-LOOK_BACK:]) if digest else self

    def times(self, name: str, arguments: str, digest: str) -> int:
        """Return how often that call gave that result among the latest."""
        return self.calls.count(Did(name, arguments, digest))

    @property
    def stalled(self) -> int:
        """How often the newest call gave its result since anything new was seen; 0 without calls."""
        # Backwards to the newest call that had not been there before, after which only old results came. A test that fails the same
        # way after each of ten different edits is no stall, for every edit is new. At most 20 calls are compared, so the quadratic
        # cost does not matter.
        since = 0
        for place in range(len(self.calls) - 1, 0, -1):
            if self.calls[place] not in self.calls[:place]:
                since = place
                break
        return self.calls[since:].count(self.calls[-1]) if self.calls else 0

    @property
    def alternates(self) -> bool:
        """Whether the latest four calls are A-B-A-B, with the same results. A fifth, different call ends it: the way out brings
        no warning.
        """
        last = self.calls[-4:]
        return len(last) == 4 and last[0] != last[1] and last[:2] == last[2:]
