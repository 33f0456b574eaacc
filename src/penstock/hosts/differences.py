"""Where do two texts differ, found in time that grows with the texts and not with their product (H-3)?

`difflib` compares each line with every equal line: for a configuration of some megabytes, whose lines repeat as those of JSON do,
it takes minutes. Here lines that occur once in both texts anchor the comparison, as in the patience diff, and `difflib` compares
the short stretches between them. Laws: what the stretches leave out is equal in both; a text of a few hundred lines is left
entirely to `difflib`. Leaves to others: whose a difference is (`merging`), and what is shown of it (`installing`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_PAIRS = 250_000  # given to `difflib`: 500 lines against 500
_MAX_DEPTH = 16  # of stretches within stretches, each anchored by items unique to it
_CONTEXT = 3


class Stretch(NamedTuple):
    """Items of an old list and what replaced them in a new one; either may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def find_stretches(old: Sequence[str], new: Sequence[str]) -> Iterator[Stretch]:
    """Yield the stretches in which two lists of lines or words differ, in order."""
    return _between(old, new, Stretch(0, len(old), 0, len(new)), 0)


def unified(old: Sequence[str], new: Sequence[str], old_name: str, new_name: str) -> Iterator[str]:
    """Yield the lines of a unified diff; nothing if the texts are equal.

    Args:
        old: The lines of the old text, with their line ends.
        new: The lines of the new text, with their line ends.
        old_name: What the diff calls the first.
        new_name: What the diff calls the second.
    """
    hunks: list[list[Stretch]] = []
    for each in find_stretches(old, new):
        if hunks and each.old_start - hunks[-1][-1].old_end <= 2 * _CONTEXT:
            hunks[-1].append(each)
        else:
            hunks.append([each])
    if hunks:
        yield from (f"--- {old_name}\n", f"+++ {new_name}\n")
    for hunk in hunks:
        first, last = hunk[0], hunk[-1]
        before = min(_CONTEXT, first.old_start)
        behind = min(_CONTEXT, len(old) - last.old_end)
        at, end = first.old_start - before, last.old_end + behind
        yield f"@@ -{_range(at, end)} +{_range(first.new_start - before, last.new_end + behind)} @@\n"
        for each in hunk:
            yield from (f" {line}" for line in old[at : each.old_start])
            yield from (f"-{line}" for line in old[each.old_start : each.old_end])
            yield from (f"+{line}" for line in new[each.new_start : each.new_end])
            at = each.old_end
        yield from (f" {line}" for line in old[at:end])


def _range(start: int, end: int) -> str:
    """Return a range of lines as a hunk writes it: counted from 1, an empty range as the line before it, the count omitted if it is
    one.
    """
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + bool(count)},{count}"


def _between(old: Sequence[str], new: Sequence[str], within: Stretch, depth: int) -> Iterator[Stretch]:
    a, b, c, d = within
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    if a == b or c == d:  # the usual case between unique lines
        if (a, c) != (b, d):
            yield Stretch(a, b, c, d)
        return
    if (b - a) * (d - c) <= _MAX_PAIRS:
        matcher = SequenceMatcher(None, old[a:b], new[c:d], autojunk=False)
        for kind, e, f, g, h in matcher.get_opcodes():
            if kind != "equal":
                yield Stretch(a + e, a + f, c + g, c + h)
        return
    anchors = _anchors(old, new, Stretch(a, b, c, d)) if depth < _MAX_DEPTH else []
    if not anchors:  # no anchor: treat all of it as changed
        yield Stretch(a, b, c, d)
        return
    for at, new_at in (*anchors, (b, d)):
        yield from _between(old, new, Stretch(a, at, c, new_at), depth + 1)
        a, c = at + 1, new_at + 1


def _anchors(old: Sequence[str], new: Sequence[str], within: Stretch) -> list[tuple[int, int]]:
    """Return the positions of items that occur once in both lists: the longest run that is in the same order in both."""
    a, b, c, d = within
    once = _once(old[a:b]) & _once(new[c:d])
    places = {item: at for at, item in enumerate(new[c:d], c) if item in once}
    # The longest increasing run of places, by patience: for each length, the run that ends first, and its predecessors.
    ends: list[int] = []
    runs: list[tuple[int, int, int]] = []
    last: list[int] = []
    for at, item in enumerate(old[a:b], a):
        if item in once:
            place = places[item]
            length = bisect_left(ends, place)
            runs.append((at, place, last[length - 1] if length else -1))
            ends[length : length + 1] = [place]
            last[length : length + 1] = [len(runs) - 1]
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        at, place, number = runs[number]
        found.append((at, place))
    return found[::-1]


def _once(items: Sequence[str]) -> set[str]:
    return {item for item, count in Counter(items).items() if count == 1}
