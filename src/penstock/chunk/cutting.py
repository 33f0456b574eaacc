"""Where is something cut that is too large? At ranked candidates: the lowest ranks first, and only within what does not fit.

The finest cuts that are needed come first: a stretch within the limit stays whole, a larger one is cut at its candidates of lowest
rank, and so on for each of the pieces. Then neighbours are joined again into as few pieces as possible, and among those into the
ones with the best cuts. Law: the pieces are consecutive and cover the stretch; each is within the limit or has no candidate inside.
Leaves to others: what lines and ranks mean.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .chunks import Span

_PIECE = 1 << 40  # the weight of an additional piece against the ranks of cuts
_SLACK = 1e-9


class Sizes:
    """The size of each stretch of lines."""

    def __init__(self, lines: Iterable[float]) -> None:
        self.upto = [0.0, *accumulate(lines)]  # all lines up to each

    def of(self, first: int, last: int) -> float:
        """Return the size of the lines from `first` to `last`."""
        return self.upto[last] - self.upto[first - 1]

    @property
    def lines(self) -> int:
        """Return how many lines there are."""
        return len(self.upto) - 1

    @property
    def total(self) -> float:
        """Return the size of all lines."""
        return self.upto[-1]


_Atom = tuple[int, int, int]  # its first line, its last, and the rank of the cut before it


class Cuts:
    """The lines before which a text may be cut, and how bad each cut is: 0 is best."""

    def __init__(self, ranks: Mapping[int, int]) -> None:
        self._lines = sorted(ranks)
        self._ranks = [ranks[line] for line in self._lines]

    def inside(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the candidates within a stretch, with their ranks; its first line is not a candidate."""
        low, high = bisect_right(self._lines, first), bisect_right(self._lines, last)
        return list(zip(self._lines[low:high], self._ranks[low:high], strict=True))

    def pieces(
        self, first: int, last: int, sizes: Sizes, limit: float, *, most: float | None = None, fixed: Sequence[int] = ()
    ) -> list[Span]:
        """Return a stretch in as few pieces as the limit allows, cut at the best places.

        Args:
            first: The first line of the stretch.
            last: Its last line.
            sizes: The sizes of all lines.
            limit: The size that a piece should have.
            most: The size that a piece may have before it is cut inside; the limit if omitted.
            fixed: Lines before which a cut is made in any case, because one was made there before.
        """
        edges = [first, *(line for line in sorted(fixed) if first < line <= last), last + 1]
        made: list[Span] = []
        for start, end in pairwise(edges):
            made += _joined(self._atoms(start, end - 1, sizes, most or limit), sizes, limit)
        return made

    # Stretches are cut at all of their best candidates at once, and each part again at its own, until it fits: `_joined` joins the
    # pieces again. A stack instead of recursion, since code may be nested to any depth.
    def _atoms(self, first: int, last: int, sizes: Sizes, limit: float) -> list[_Atom]:
        made: list[_Atom] = []
        lines, ranks = self._lines, self._ranks
        upto, fits = sizes.upto, limit + _SLACK
        waiting = [(first, last, 0, bisect_right(lines, first), bisect_right(lines, last))]  # and the candidates inside
        while waiting:
            start, end, rank, low, high = waiting.pop()
            if low == high or upto[end] - upto[start - 1] <= fits:
                made.append((start, end, rank))
                continue
            best = min(ranks[low:high])
            for at in range(high - 1, low - 1, -1):
                if ranks[at] == best:
                    waiting.append((lines[at], end, best, at + 1, high))
                    end, high = lines[at] - 1, at
            waiting.append((start, end, rank, low, high))
        return made


def _joined(atoms: Sequence[_Atom], sizes: Sizes, limit: float) -> list[Span]:
    """Return consecutive atoms in the fewest pieces, with the lowest ranks of the cuts between them.

    The cost of the first n atoms is the minimum over all atoms with which the last piece may begin so that it fits. That window
    only moves forward, and its minimum is kept in a queue of rising costs, so that the total time is linear in the atoms instead of
    quadratic.
    """
    # Invariant: the window holds only beginnings that may still be the best of some end. One that costs no less than a later one
    # is dropped from the right, one that would make the piece too large from the left; but the last one stays even if its atom
    # alone is too large, because an atom is not cut.
    came_from = [0] * (len(atoms) + 1)
    upto, fits = sizes.upto, limit + _SLACK
    before = [upto[first - 1] for first, _, _ in atoms]
    window: deque[tuple[int, int]] = deque()  # (cost of all before an atom, where pieces begin with it), costs rising
    cost = 0
    for end, (_, last, rank) in enumerate(atoms):
        begun = cost + rank
        while window and window[-1][0] >= begun:
            window.pop()
        window.append((begun, end))
        least = upto[last] - fits
        while before[window[0][1]] < least and len(window) > 1:
            window.popleft()
        cost, came_from[end + 1] = window[0]
        cost += _PIECE
    made: list[Span] = []
    end = len(atoms)
    while end:
        start = came_from[end]
        made.append((atoms[start][0], atoms[end - 1][1]))
        end = start
    return made[::-1]
