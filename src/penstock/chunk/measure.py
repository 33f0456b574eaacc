"""How much is a text, and how much does each of its lines add?

A whole text is counted by the upper bound of the caller's counter. The additions of single lines are for planning: their sum comes
close to the whole and is seldom below it. Leaves to others: what is done with it; every text that is sent is counted as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.text import tokens
from penstock.text.allowance import Allowance

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.text.tokens import TokenCounter

_COPIES = 16  # of a line are counted at once: an estimator has a margin for each text, not for each line
_LONG_CHARS = 4096  # a line that long is counted alone


class Ruler:
    """Measures in the unit of a budget: tokens of a counter, characters or bytes."""

    def __init__(self, budget: int | Allowance, counter: TokenCounter | None = None) -> None:
        self._allowance = (
            budget
            if isinstance(budget, Allowance)
            else Allowance.tokens(budget, counter or tokens.best_counter("o200k"))
        )
        self.limit = self._allowance.limit
        if self.limit < 1:
            raise CallerError("A budget for chunks is at least 1: nothing fits into none.")
        self._exact = _exact(self._allowance.counter)

    def whole(self, text: str) -> int:
        """Return the size of a text."""
        return self._allowance.measure(text) if text else 0

    def wholes(self, texts: list[str]) -> list[int]:
        """Return the size of each of these texts, all at once if they are counted exactly."""
        if self._exact is not None:
            try:
                return self._exact(texts)
            except UnicodeEncodeError:  # half of a surrogate pair: one by one, as `tokens.count` does it
                pass
        return [self.whole(text) for text in texts]

    def lines(self, texts: list[str]) -> list[float]:
        """Return what each of these lines, with its line end, adds to a text that contains it."""
        # Exact counts, characters and bytes have no margin that would be repeated for each line.
        if self._exact is not None or self._allowance.counter is None:
            return list(self.wholes(texts))
        # Sources repeat lines, blank ones and END-IF above all: each is counted once.
        known: dict[str, float] = {}
        for text in texts:
            if text not in known:
                copies = _COPIES if len(text) < _LONG_CHARS else 1
                known[text] = self.whole(text * copies) / copies
        return [known[text] for text in texts]


def _exact(counter: TokenCounter | None) -> Callable[[list[str]], list[int]] | None:
    """Return a function that counts many texts at once, if the counter is an exact one of ours; else None."""
    # A calibrated count is not the tokenizer's own: only without calibration does a batch give the same as single counts.
    if isinstance(counter, tokens.Tokens) and counter.mode == "exact" and counter.calibration == tokens.Calibration():
        return tokens._counter(tokens.family(counter.model))
    return None
