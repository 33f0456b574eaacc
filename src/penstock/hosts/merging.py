"""Take our pieces out of a text that others have changed since: the bytes around them stay theirs (H-3)."""

from __future__ import annotations

import re
from typing import NamedTuple

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
    result, behind = "", 0
    for piece in pieces(base, last):
        at = _find(last, piece, present)
        if at is None or at < behind:
            return None
        result += present[behind:at] + piece.before
        behind = at + piece.end - piece.start
    return result + present[behind:]


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
    from difflib import SequenceMatcher

    first = _common(old, new)
    behind = _common(old[first:][::-1], new[first:][::-1])
    at = sum(map(len, new[:first]))
    old, new = old[first : len(old) - behind], new[first : len(new) - behind]
    found: list[tuple[str, str, int]] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        after = "".join(new[c:d])
        if kind != "equal":
            found.append(("".join(old[a:b]), after, at))
        at += len(after)
    return found


def _common(one: list[str], other: list[str]) -> int:
    """Return how many items both begin with."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
