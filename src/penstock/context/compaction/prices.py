"""When is a rewrite repaid? What an edit costs a prompt cache, and how far a plan has to go to earn that back.

A provider charges a tenth for input that it has cached and one and a quarter for input that it has not. An edit makes everything
after it new, once; what the edit removed is no longer read at any call until the next plan is due and breaks the cache again. A
plan that is not repaid by then incurs that cost each time and ends up more expensive than sending everything. In a small window
that is the ordinary case, unless little is left after the edit. Leaves to others: what goes (`strategies`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.context.activity import answers_begun
from penstock.context.compaction.plans import CACHE_READ, CACHE_WRITE
from penstock.context.sized import high_of

if TYPE_CHECKING:
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Transcript


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """The figures that decide whether the rewrite of a cached prompt is repaid."""

    before_tokens: int
    """The size of the prompt before any edit."""
    limit_tokens: int
    """The size at which the next plan is due."""
    growth_tokens: float
    """What each call has added to what is shown, its results included."""
    calls_left: int
    """How many model calls are still expected."""

    def repaid_tokens(self, size: int, rewritten: int, staying: int) -> int:
        """Return the largest size to which a plan has to go down so that its rewrite is repaid before the next plan is due.

        Args:
            size: the prompt's current size.
            rewritten: how much of that comes after the first edit.
            staying: how much of what is rewritten has to stay.

        Returns:
            `size` if the plan is repaid already, or if nothing would repay it: then the less goes, the better.
        """
        low, high = size - rewritten + staying, size
        if not self._is_repaid(low, staying):
            return size
        # Whatever goes makes the rewrite smaller, the saving larger and the next plan later. So a single threshold separates
        # the sizes that are repaid from those that are not, and bisection finds it.
        while low < high:
            middle = (low + high + 1) // 2
            if self._is_repaid(middle, rewritten - (size - middle)):
                low = middle
            else:
                high = middle - 1
        return low

    def _is_repaid(self, size: int, rewritten: int) -> bool:
        """Whether what went saves as much until the next plan, call by call, as writing the rest anew costs."""
        calls = min(self.calls_left, (self.limit_tokens - size) / max(1.0, self.growth_tokens))
        saved = CACHE_READ * (self.before_tokens - size) * calls
        return (CACHE_WRITE - CACHE_READ) * rewritten <= saved


def prices_of(transcript: Transcript, counter: TokenCounter, size: int, limit: int, calls_left: int) -> Prices:
    """Return the prices of a transcript that is about to be edited.

    Args:
        transcript: what is shown now.
        counter: counts its messages.
        size: the transcript's size at most.
        limit: the size that is allowed.
        calls_left: how many calls are still expected.
    """
    protected = transcript.protected()
    # Only what calls added: notes stand for many calls, and what has to stay came with none.
    grown = [entry for entry in transcript.visible() if not entry.is_note and entry.index not in protected]
    answers = sum(answers_begun(grown))
    return Prices(
        before_tokens=size,
        limit_tokens=limit,
        growth_tokens=high_of(grown, counter) / max(1, answers),
        calls_left=calls_left,
    )
