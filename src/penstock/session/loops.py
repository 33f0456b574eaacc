"""Is there progress? The calls of late with their results, and how often each came (S-13).

The same call with the same result again and again, a page read again in the same version, A-B-A-B: all are calls whose result was
there before. A result that changed is progress. Keeps out: what a call does, and when a model is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

LOOK_BACK = 20  # calls: in public SWE-agent runs 4.6 % had the same call and result three times (sessions.md 5.1)

ALTERNATING = "[Two calls take turns with the same results: nothing new will come of them. Try another way.]"


def looping(times: int) -> str:
    """Told to a model beside a result that it has had before."""
    return f"[The same result, {times} times now: nothing has changed. Try another way, or say what is missing.]"


class Did(NamedTuple):
    """One call and its result, by what makes them the same."""

    name: str
    arguments: str
    digest: str


@dataclass(frozen=True, slots=True)
class Loops:
    """The newest calls."""

    calls: tuple[Did, ...] = ()

    def with_call(self, name: str, arguments: str, digest: str) -> Loops:
        """With one call more; a call without a digest says nothing about progress."""
        return Loops((*self.calls, Did(name, arguments, digest))[-LOOK_BACK:]) if digest else self

    def times(self, name: str, arguments: str, digest: str) -> int:
        """How often that call gave that result of late."""
        return self.calls.count(Did(name, arguments, digest))

    @property
    def stalled(self) -> int:
        """How often the call that came last gave its result since anything new was seen: where there is news, there is progress."""
        since = 0
        for place in range(len(self.calls) - 1, 0, -1):
            if self.calls[place] not in self.calls[:place]:
                since = place
                break
        return self.calls[since:].count(self.calls[-1]) if self.calls else 0

    @property
    def alternates(self) -> bool:
        """Whether two calls take turns with the same results: A-B-A-B."""
        last = self.calls[-4:]
        return len(last) == 4 and last[0] != last[1] and last[:2] == last[2:]
