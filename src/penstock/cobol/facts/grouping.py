"""Which words are in parentheses, and where does a group of them end?

Law: a parenthesis that nothing closes ends with the words; one that closes nothing has no effect on those behind it.
Leaves to others: what a group is, subscripts, arguments or a condition.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Closed(NamedTuple):
    """Where a parenthesis is closed, and the last colon directly in it, None if there is none: indexes of words."""

    end: int
    colon: int | None


def parentheses(words: Sequence[str]) -> dict[int, Closed]:
    """Return where each parenthesis of some words is closed, by where it is opened."""
    found: dict[int, Closed] = {}
    opened: list[tuple[int, int | None]] = []
    for at, word in enumerate(words):
        if word == "(":
            opened.append((at, None))
        elif word == ":" and opened:
            opened[-1] = (opened[-1][0], at)
        elif word == ")" and opened:
            start, colon = opened.pop()
            found[start] = Closed(at, colon)
    return found | {start: Closed(len(words), colon) for start, colon in opened}


def closed(words: Sequence[str], at: int) -> int:
    """Return the index of the parenthesis that closes the one at an index; the number of words if nothing closes it."""
    depth = 0
    for end in range(at, len(words)):
        depth += (words[end] == "(") - (words[end] == ")")
        if depth == 0:
            return end
    return len(words)


def behind_groups(words: Sequence[str], at: int) -> int:
    """Return the index after the groups that begin at an index, as in `A (I) (1:2)`; that index if none does."""
    while at < len(words) and words[at] == "(":
        at = closed(words, at) + 1
    return min(at, len(words))


def outermost(words: Sequence[str], start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the words outside of parentheses from an index on, each with its index."""
    depth = 0
    for at in range(start, len(words)):
        word = words[at]
        if word == "(":
            depth += 1
        elif word == ")":
            depth = max(0, depth - 1)
        elif depth == 0:
            yield at, word


def listed(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the parts between the commas outside of parentheses."""
    commas = [at for at, word in outermost(words) if word == ","]
    for begin, end in pairwise([-1, *commas, len(words)]):
        yield words[begin + 1 : end]
