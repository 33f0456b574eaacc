"""How are 100 MB counted in seconds? Exactly while there is little text, then by estimates, finally from samples.

A session of a few megabytes is counted as its provider would, if that tokenizer is available. One of a hundred takes ten seconds,
and what was counted less exactly is corrected by the figures in its record (`telling`). Law: a count depends only on the text and
on how much was counted before. Leaves to others: what is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.tokens import Count, Tokens, best_counter

if TYPE_CHECKING:
    from penstock.text.tokens import TokenCounter

# Measured: exact counts read 7 MB/s, estimates 15, and a quarter of a text takes a quarter of the time.
EXACT_CHARS = 4_000_000
"""How much text is counted exactly, if an exact counter is available."""
WHOLE_CHARS = 24_000_000
"""From how much text on a text longer than 2,000 characters is only sampled."""
_SHORT_CHARS = 2_000
_PIECES = 4
_RECENT = 4_096  # counts, not texts
_SHARE = 4  # of a long text, one part in this many is read


class PatientCounter:
    """Counts the tokens of a model: the more it has counted, the less exactly, so that its time is bounded."""

    def __init__(self, model: str) -> None:
        self._exact = best_counter(model)
        self._fast = Tokens(model=model)
        self._seen_chars = 0

    def count(self, text: str, /) -> Count:
        """Return the tokens of a text."""
        self._seen_chars += len(text)
        if self._seen_chars <= EXACT_CHARS:
            return self._exact.count(text)
        if self._seen_chars <= WHOLE_CHARS or len(text) <= _SHORT_CHARS:
            return self._fast.count(text)
        stratum = len(text) // _PIECES
        looked = "".join([text[at : at + stratum // _SHARE] for at in range(0, _PIECES * stratum, stratum)])
        found = self._fast.count(looked)
        # The bounds are those of the sample, in proportion: nothing is decided by them here.
        low, tokens, high = (one * len(text) // len(looked) for one in (found.low, found.tokens, found.high))
        return Count(tokens=tokens, low=low, high=high, method="sampled-" + found.method)


class RecentCounts:
    """Counts as another counter does, but each recent text only once: for when two readers look at the same text in turn.

    Args:
        counter: the other one.
    """

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[tuple[int, int], Count] = {}

    def count(self, text: str, /) -> Count:
        """Return the tokens of a text."""
        key = hash(text), len(text)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _RECENT:
                del self._known[next(iter(self._known))]
            known = self._known[key] = self._counter.count(text)
        return known


class NoCounter:
    """Counts nothing: a session processed with it has only its recorded figures."""

    def count(self, text: str, /) -> Count:
        """Return no tokens."""
        del text
        return Count(tokens=0, low=0, high=0, method="none")
