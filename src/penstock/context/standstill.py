"""Does what a provider reports stand still while requests grow? Then it silently cuts each of them at that number (R-6).

A single answer with low usage may just be counted differently. But if several answers report the very same input, for requests that
each have more text than the one before, no other reason is left: rounding is finer, and what was not cached is no more than what is
new. Law: a provider that counts everything, rounded to a thousand or less, never seems to stand still. Leaves to others: what one
answer shows alone (`overflow.silent`), and what is done about it.
"""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

from penstock.context.provider_counts import FACTOR_RANGES, MAX_FACTOR, MIN_FACTOR, stated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.counts import KindCounts
    from penstock.context.provider_counts import Observation

EQUAL_BEFORE: Final = 2
"""How many answers before have to have reported the same input."""
UNITS: Final = (1_000, 500, 256, 250, 200, 128, 100, 64, 50, 32, 25, 20, 16, 10, 8, 5, 4, 2, 1)
"""What a number may have been rounded to if it is a multiple of it: cache blocks, and round numbers."""


def stands_still(answered: Sequence[Observation], counts: KindCounts, reported_tokens: int) -> bool:
    """Return whether a provider has reported the same input for requests that each have more text than the one before.

    Args:
        answered: what earlier answers reported, oldest first.
        counts: our own count of the request that was answered now.
        reported_tokens: the input that the answer reports.
    """
    equal = takewhile(lambda seen: seen == stated(seen.counts, reported_tokens), reversed(answered))
    row = [counts, *(seen.counts for seen in equal)]  # newest first
    if len(row) <= EQUAL_BEFORE:
        return False
    steps = [_more_text(newer, older) for newer, older in pairwise(row)]
    if not all(steps):
        return False
    # A provider that reports only uncached input reports the newest step: at most that step at the highest factor.
    is_of_all = MAX_FACTOR * max(steps) < reported_tokens
    unit = next(unit for unit in UNITS if reported_tokens % unit == 0)
    return is_of_all and MIN_FACTOR * sum(steps) > unit


def _more_text(newer: KindCounts, older: KindCounts) -> int:
    """Return by how many tokens of text a request is larger; 0 if it has less of anything, or more that is not text."""
    grown = newer - older
    text = 0
    for tokens, ends in zip(grown.tokens, FACTOR_RANGES, strict=True):
        is_text = ends.least >= MIN_FACTOR
        if tokens < 0 or (tokens and not is_text):
            return 0
        text += tokens
    return text
