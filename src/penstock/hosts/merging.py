"""How do our pieces leave a text that others have changed since, without touching the bytes around them (H-3)?"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

from penstock.hosts.differences import find_stretches

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MAX_TOKENS = 2_000
_CONTEXTS = ((0, 0), (40, 0), (0, 40), (40, 40), (200, 0), (0, 200), (200, 200))
"""How many characters of a piece's surroundings are searched for with it, on each side, until there is exactly one match."""


class Piece(NamedTuple):
    """A stretch of a text, from `start` to `end`, and what it replaced."""

    before: str
    start: int
    end: int


def pieces(base: str, last: str) -> list[Piece]:
    """Return the stretches of `last` that are not in `base`, in order."""
    found: list[Piece] = []
    lines = _differences(base.splitlines(keepends=True), last.splitlines(keepends=True))
    for before, after, start in lines:
        # Consecutive lines form one stretch: the text between two of our pieces within it is not ours.
        old, new = _TOKEN.findall(before), _TOKEN.findall(after)
        if max(len(old), len(new)) > _MAX_TOKENS:  # `difflib` is slow
            old, new = [before], [after]
        found += [Piece(was, start + at, start + at + len(now)) for was, now, at in _differences(old, new)]
    return found


def undo(base: str, last: str, present: str) -> str | None:
    """Return the present text with the change from `base` to `last` reverted.

    Args:
        base: The text before our change.
        last: The text after it.
        present: The text after changes by others.

    Returns:
        None if a piece of ours is missing, altered, or found more than once: then it is unknown which bytes are ours.
    """
    result, behind = [], 0
    moved = _Moved(last, present)
    for piece in pieces(base, last):
        at = moved.place(piece)
        if at is None:
            at = _find(last, piece, present)
        if at is None or at < behind:
            return None
        result += [present[behind:at], piece.before]
        behind = at + piece.end - piece.start
    return "".join([*result, present[behind:]])


class _Moved:
    """Where stretches of a text are in another one that differs in whole lines."""

    def __init__(self, last: str, present: str) -> None:
        old, new = last.splitlines(keepends=True), present.splitlines(keepends=True)
        old_at, new_at = [0, *accumulate(map(len, old))], [0, *accumulate(map(len, new))]
        # The stretches equal in both: first character, last character, and how far they moved.
        self._ends: list[int] = []
        self._equal: list[tuple[int, int]] = []
        start = shift = 0
        for a, b, _, d in [*find_stretches(old, new), (len(old), len(old), len(new), len(new))]:
            self._ends.append(old_at[a])
            self._equal.append((start, shift))
            start, shift = old_at[b], new_at[d] - old_at[b]

    def place(self, piece: Piece) -> int | None:
        """Return where a piece is now; None if its lines have changed."""
        start, shift = self._equal[bisect_left(self._ends, piece.end)]
        return piece.start + shift if start <= piece.start else None


def _find(last: str, piece: Piece, present: str) -> int | None:
    """Return where a piece is in a text that others have changed around it; None if that is ambiguous."""
    for left, right in _CONTEXTS:
        start = max(0, piece.start - left)
        wanted = last[start : piece.end + right]
        if wanted and present.count(wanted) == 1:
            return present.index(wanted) + piece.start - start
    return None


def _differences(old: list[str], new: list[str]) -> list[tuple[str, str, int]]:
    """Return for each changed stretch the old text, the new text, and its position in the whole new text."""
    places = [0, *accumulate(map(len, new))]
    return [("".join(old[a:b]), "".join(new[c:d]), places[c]) for a, b, c, d in find_stretches(old, new)]
