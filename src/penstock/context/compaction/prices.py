"""When is a rewrite repaid? What an edit costs a prompt cache, and how far a plan has to go to earn that back.

A provider sells what it has read before at a tenth, and what it has not at one and a quarter. An edit makes all that stands
behind it new, once; what went is no longer read, at every call, until the next plan is due and breaks the cache again. So a
plan that is not repaid by then is bought anew each time, and costs more than sending everything: in a small window that is
the ordinary case, unless little is left standing behind the edit. Leaves to others: what goes (`strategies`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.context.compaction.plans import CACHE_READ, CACHE_WRITE
from penstock.context.compaction.views import answers_begun
from penstock.context.sized import high_of

if TYPE_CHECKING:
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Transcript


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """What decides whether the rewrite of a cached prompt is repaid."""

    before_tokens: int
    """The prompt before any edit."""
    limit_tokens: int
    """The size at which the next plan is due."""
    growth_tokens: float
    """What each call has added to what is shown, with the results that it led to."""
    calls_left: int
    """How many calls of the model are still expected."""

    def repaid_tokens(self, size: int, rewritten: int, staying: int) -> int:
        """Return the largest size down to which a plan has to go so that its rewrite is repaid before the next is due.

        Args:
            size: what the prompt takes by now.
            rewritten: how much of that stands behind the first edit.
            staying: how much of what is rewritten has to stay.

        Returns:
            `size` where it is repaid as it is, and where nothing would repay it: then the less goes the better.
        """
        low, high = size - rewritten + staying, size
        if not self._is_repaid(low, staying):
            return size
        # Whatever goes makes the rewrite smaller, what is saved larger, and the next plan later: one place parts the
        # sizes that are repaid from those that are not, and halving finds it.
        while low < high:
            middle = (low + high + 1) // 2
            if self._is_repaid(middle, rewritten - (size - middle)):
                low = middle
            else:
                high = middle - 1
        return low

    def _is_repaid(self, size: int, rewritten: int) -> bool:
        """Whether what went saves as much, call by call until the next plan, as writing the rest anew costs."""
        calls = min(self.calls_left, (self.limit_tokens - size) / max(1.0, self.growth_tokens))
        saved = CACHE_READ * (self.before_tokens - size) * calls
        return (CACHE_WRITE - CACHE_READ) * rewritten <= saved


def prices_of(transcript: Transcript, counter: TokenCounter, size: int, limit: int, calls_left: int) -> Prices:
    """Return the prices of a transcript that is about to be edited.

    Args:
        transcript: what is shown now.
        counter: counts its messages.
        size: what it takes at most.
        limit: what it may take.
        calls_left: how many calls are still expected.
    """
    protected = transcript.protected()
    # Of what is shown: notes stand for many calls, and what has to stay came with none.
    grown = [entry for entry in transcript.visible() if not entry.is_note and entry.index not in protected]
    answers = sum(answers_begun(grown))
    return Prices(
        before_tokens=size,
        limit_tokens=limit,
        growth_tokens=high_of(grown, counter) / max(1, answers),
        calls_left=calls_left,
    )
