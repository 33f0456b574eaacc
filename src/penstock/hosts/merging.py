"""Take our pieces out of a text that others have changed since: the bytes around them stay theirs (H-3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

from penstock.hosts.differences import find_stretches

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MAX_TOKENS = 2_000
_CONTEXTS = ((0, 0), (40, 0), (0, 40), (40, 40), (200, 0), (0, 200), (200, 200))
"""How many characters of what was around a piece are looked for with it, on each side, until it is found once."""


class Piece(NamedTuple):
    """One stretch of a text, from `start` to `end`, and what stood in its place before."""

    before: str
    start: int
    end: int


def pieces(base: str, last: str) -> list[Piece]:
    """Return the stretches of `last` that are not in `base`, in order."""
    found: list[Piece] = []
    lines = _differences(base.splitlines(keepends=True), last.splitlines(keepends=True))
    for before, after, start in lines:
        # Lines that follow each other come as one: what stands between our two pieces in them is not ours.
        old, new = _TOKEN.findall(before), _TOKEN.findall(after)
        if max(len(old), len(new)) > _MAX_TOKENS:  # `difflib` is slow
            old, new = [before], [after]
        found += [Piece(was, start + at, start + at + len(now)) for was, now, at in _differences(old, new)]
    return found


def undo(base: str, last: str, present: str) -> str | None:
    """Return the present text with what became `last` turned back to `base`.

    Args:
        base: The text before our change.
        last: The text after it.
        present: The text after changes of others.

    Returns:
        None where a piece of ours is not in it as it was, or more than once: nobody can say then which bytes are ours.
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
    """Where stretches of a text are in another that differs from it in whole lines."""

    def __init__(self, last: str, present: str) -> None:
        old, new = last.splitlines(keepends=True), present.splitlines(keepends=True)
        old_at, new_at = [0, *accumulate(map(len, old))], [0, *accumulate(map(len, new))]
        # What is equal in both, by its first character, its last, and how far it has moved.
        self._ends: list[int] = []
        self._equal: list[tuple[int, int]] = []
        start = shift = 0
        for a, b, _, d in [*find_stretches(old, new), (len(old), len(old), len(new), len(new))]:
            self._ends.append(old_at[a])
            self._equal.append((start, shift))
            start, shift = old_at[b], new_at[d] - old_at[b]

    def place(self, piece: Piece) -> int | None:
        """Return where a piece is now; None where its lines have changed."""
        start, shift = self._equal[bisect_left(self._ends, piece.end)]
        return piece.start + shift if start <= piece.start else None


def _find(last: str, piece: Piece, present: str) -> int | None:
    """Return where a piece stands in a text that others have changed around it; None where that cannot be said."""
    for left, right in _CONTEXTS:
        start = max(0, piece.start - left)
        wanted = last[start : piece.end + right]
        if wanted and present.count(wanted) == 1:
            return present.index(wanted) + piece.start - start
    return None


def _differences(old: list[str], new: list[str]) -> list[tuple[str, str, int]]:
    """Return what was, what it became, and where that stands in the whole new text, stretch by stretch."""
    places = [0, *accumulate(map(len, new))]
    return [("".join(old[a:b]), "".join(new[c:d]), places[c]) for a, b, c, d in find_stretches(old, new)]
