"""Which items go into one bin? Bin packing with ties: as few bins as possible, with the most weight of ties within bins.

This is graph partitioning under a capacity, which is NP-hard; the method is that of multilevel heuristics (Karypis and Kumar, "A
Fast and High Quality Multilevel Scheme for Partitioning Irregular Graphs", 1998) with a local search. The most strongly tied items
grow together into clusters, the clusters are placed, what does not fit is taken apart again, and moves, swaps and kicks improve the
result. The random numbers are a fixed sequence: same input, same bins; otherwise a second run over the same source would ask about
other chunks. Law: every item is in one bin; no bin is above its capacity. Leaves to others: what the items are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from heapq import heapify, heappop, heappush
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Shares of a bin up to which clusters grow before they are placed if whole bins do not fit: small ones fit best.
_SHARES = (0.5, 0.25)
_MANY = 1_000  # items: above this, a twelfth more bins than the least are accepted
# Bins that are full to the brim hold what happens to fit, and not what belongs together: of three programs of 11,000 to 31,000
# lines, one bin in twenty more kept 1.1 to 9 times the PERFORMs (2026-12-01).
_SPARED = 20
_KICKS = 3_000  # the effort to leave a local optimum: kicks times items
_MIN_KICKS = 8
_TRIES = 3_000  # of swaps, in one improvement: ten times as many gain nothing
_SLACK = 1e-9


class PackedItem(NamedTuple):
    """Something indivisible: its size, and how many answers it takes, of which a bin may hold only a limited number."""

    size: float
    answers: int = 0


_NOTHING = PackedItem(0.0)
Ties = dict[tuple[int, int], int]
"""Two items, the smaller number first, and the worth of having them in one bin."""


class BinRoom(NamedTuple):
    """The capacity of one bin: a size, and a number of answers; None if that is not limited."""

    size: float
    answers: int | None = None

    def holds(self, size: float, answers: int) -> bool:
        """Return whether that much fits; sums of floats get a tolerance of a billionth."""
        return size <= self.size + _SLACK and (self.answers is None or answers <= self.answers)

    def min_bins(self, items: Sequence[PackedItem]) -> int:
        """Return a number of bins below which the items cannot fit, whatever their sizes."""
        by_size = ceil((sum(item.size for item in items) - _SLACK) / self.size)
        by_answers = ceil(sum(item.answers for item in items) / self.answers) if self.answers else 1
        return max(1, by_size, by_answers)


def pack(items: Sequence[PackedItem], ties: Ties, room: BinRoom) -> list[int]:
    """Return the bin of each item, bins numbered by their first item.

    The number of bins comes first, the weight of ties second: each bin is a request to a model, and ties only make it a better
    one. Of many bins, one in twenty more than the fewest are taken, without which few ties are left of large programs.

    Args:
        items: What is packed; each has to fit into a bin on its own.
        ties: The worth of having two items in one bin.
        room: The capacity of a bin.
    """
    if not items:
        return []
    links: list[dict[int, int]] = [{} for _ in items]
    for (one, other), weight in ties.items():
        links[one][other] = links[other][one] = weight
    # Large clusters keep most ties and fit worst. They are tried first, and smaller ones only while there are more bins than
    # necessary.
    least = room.min_bins(items)
    least += least // _SPARED
    best = _placed(items, links, room, least, 1.0)
    for share in _SHARES:
        if len(best.size) == least or (len(items) > _MANY and len(best.size) <= least + least // 12):
            break
        best = min(best, _placed(items, links, room, least, share), key=lambda state: len(state.size))
    best.improve()
    return _in_order(best.kicked(max(_MIN_KICKS, _KICKS // len(items))).bin_of)


def kept(ties: Ties, bin_of: Sequence[int]) -> int:
    """Return the weight of the ties within bins."""
    return sum(weight for (one, other), weight in ties.items() if bin_of[one] == bin_of[other])


def _in_order(bin_of: Sequence[int]) -> list[int]:
    """Return the same bins renumbered in the order of their first items."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(at, len(numbers)) for at in bin_of]


# --- clusters ------------------------------------------------------------------------------------


class _Cluster(NamedTuple):
    """Items that grew together, and the two clusters that they came from, for taking it apart if it fits nowhere as a whole."""

    size: float
    answers: int
    first: int
    halves: tuple[_Cluster, _Cluster] | None = None

    def items(self) -> Iterator[int]:
        """Yield the numbers of the items in it."""
        open_ = [self]
        while open_:
            cluster = open_.pop()
            if cluster.halves is None:
                yield cluster.first
            else:
                open_ += cluster.halves


def _clusters(
    items: Sequence[PackedItem], links: Sequence[dict[int, int]], room: BinRoom, share: float
) -> list[_Cluster]:
    """Return clusters: those with the strongest ties for their size grow together first, up to a share of a bin.

    The weight is divided by the smaller of both sizes. A small item gains much by joining and costs little room; without the
    division the heaviest pair, two large paragraphs that call each other often, would always come first and scatter the small ones.
    """
    limit = BinRoom(room.size * share, room.answers and max(1, int(room.answers * share)))
    alive = {at: _Cluster(item.size, item.answers, at) for at, item in enumerate(items)}
    near = {at: dict(row) for at, row in enumerate(links)}
    heap: list[tuple[float, int, int]] = []

    def offer(one: int, other: int) -> None:
        a, b = alive[one], alive[other]
        if limit.holds(a.size + b.size, a.answers + b.answers):
            heappush(heap, (-near[one][other] / (min(a.size, b.size) + 1), min(one, other), max(one, other)))

    for one, row in near.items():
        for other in row:
            if one < other:
                offer(one, other)
    heapify(heap)
    # Pairs in the heap go stale when one of them is merged: they are skipped, which is cheaper than finding them. A merged
    # cluster has a new number, so no stale pair can be mistaken for one of it.
    number = len(items)
    while heap:
        _, one, other = heappop(heap)
        if one not in alive or other not in alive:
            continue
        a, b = alive.pop(one), alive.pop(other)
        alive[number] = _Cluster(a.size + b.size, a.answers + b.answers, min(a.first, b.first), (a, b))
        row = near.pop(one)
        for to, weight in near.pop(other).items():
            row[to] = row.get(to, 0) + weight
        row.pop(one, None)
        row.pop(other, None)
        near[number] = row
        for to, weight in row.items():
            there = near[to]
            there.pop(one, None)
            there.pop(other, None)
            there[number] = weight
            offer(number, to)
        number += 1
    return list(alive.values())


def _placed(
    items: Sequence[PackedItem], links: Sequence[dict[int, int]], room: BinRoom, bins: int, share: float
) -> _State:
    """Return the clusters in that many bins, the largest first; what fits nowhere is taken apart.

    A cluster goes to the bin that its items are tied to most. Only a single item that fits nowhere opens another bin.
    """
    state = _State(items, links, room, bins)
    waiting = [(-cluster.size, cluster.first, cluster) for cluster in _clusters(items, links, room, share)]
    heapify(waiting)
    # How full the bins are, in order, the first of equal ones last: the fullest with room is found by one search instead of a walk
    # over all of them for each of thousands of clusters.
    fills = [(0.0, -at) for at in reversed(range(bins))]
    while waiting:
        _, _, cluster = heappop(waiting)
        inside = list(cluster.items())
        pull: dict[int, int] = {}
        for item in inside:
            for at, weight in state.near[item].items():
                if weight:
                    pull[at] = pull.get(at, 0) + weight
        to = state.best_for(cluster.size, cluster.answers, pull, fills)
        if to is None and cluster.halves is not None:
            for half in cluster.halves:
                heappush(waiting, (-half.size, half.first, half))
            continue
        if to is None:
            to = state.opened()
        else:
            del fills[bisect_left(fills, (state.size[to], -to))]
        for item in inside:
            state.put(item, to)
        insort(fills, (state.size[to], -to))
    return state


# --- improvement ---------------------------------------------------------------------------------


class _State:
    """Which item is where, how full each bin is, and how much each item is tied to each bin.

    `near` makes the search fast: moving an item changes only the rows of those that it is tied to, and the gain of a move is the
    difference of two entries. Invariant: `kept` is the weight of the ties within bins, and `near[i][b]` the weight of the ties of
    item i to bin b.
    """

    __slots__ = ("answers", "bin_of", "items", "kept", "links", "members", "near", "pull", "room", "size", "tries")

    def __init__(
        self,
        items: Sequence[PackedItem],
        links: Sequence[dict[int, int]],
        room: BinRoom,
        bins: int,
        pull: Sequence[int] | None = None,
    ) -> None:
        self.items = items
        self.links = links
        self.room = room
        self.pull = [sum(row.values()) for row in links] if pull is None else pull
        self.bin_of = [-1] * len(items)
        self.size = [0.0] * bins
        self.members: list[dict[int, None]] = [{} for _ in range(bins)]  # dicts as sets that have an order
        self.answers = [0] * bins
        self.near: list[dict[int, int]] = [{} for _ in items]
        self.kept = 0
        self.tries = 0

    def copy(self) -> _State:
        """Return an independent copy of the state."""
        made = _State(self.items, self.links, self.room, 0, self.pull)
        made.bin_of, made.size, made.answers = self.bin_of[:], self.size[:], self.answers[:]
        made.members = list(map(dict.copy, self.members))
        made.near = list(map(dict.copy, self.near))
        made.kept = self.kept
        return made

    def holds(self, at: int, size: float, answers: int) -> bool:
        """Return whether a bin has room for that much more; a negative size is removed first."""
        return self.room.holds(self.size[at] + size, self.answers[at] + answers)

    def best_for(
        self, size: float, answers: int, pull: Mapping[int, int], fills: Sequence[tuple[float, int]]
    ) -> int | None:
        """Return the bin with room that pulls most, and of those the fullest: the remaining room should be in one piece.

        Args:
            size: The size that goes in.
            answers: How many answers it takes.
            pull: The ties to each bin, none of them zero.
            fills: How full each bin is with its number negated, in order.
        """
        most, limit = self.room.size - size + _SLACK, self.room.answers
        ways = [
            (weight, self.size[at], -at)
            for at, weight in pull.items()
            if self.size[at] <= most and (limit is None or self.answers[at] + answers <= limit)
        ]
        if ways:
            return -max(ways)[2]
        for place in range(bisect_right(fills, (most, 0)) - 1, -1, -1):
            at = -fills[place][1]
            if limit is None or self.answers[at] + answers <= limit:
                return at
        return None

    def opened(self) -> int:
        """Open a bin and return its number."""
        self.size.append(0.0)
        self.answers.append(0)
        self.members.append({})
        return len(self.size) - 1

    def put(self, item: int, to: int) -> None:
        """Move an item from its bin, if it has one, to another bin, whether it fits or not."""
        came_from = self.bin_of[item]
        size, answers = self.items[item]
        near = self.near
        if came_from >= 0:
            del self.members[came_from][item]
            self.size[came_from] -= size
            self.answers[came_from] -= answers
            self.kept -= near[item].get(came_from, 0)
        self.size[to] += size
        self.answers[to] += answers
        self.kept += near[item].get(to, 0)
        self.bin_of[item] = to
        self.members[to][item] = None
        for other, weight in self.links[item].items():
            row = near[other]
            row[to] = row.get(to, 0) + weight
            if came_from >= 0:
                row[came_from] -= weight

    def improve(self) -> None:
        """Make gainful moves and swaps until there are none: only what is tied to something that moved is examined again."""
        waiting = list(range(len(self.items)))
        self.tries = _TRIES
        while waiting:
            again: list[int] = []
            for item in waiting:
                if self._better(item):
                    again += [item, *self.links[item]]
            waiting = sorted(set(again))

    def _better(self, item: int) -> bool:
        """Move an item to a bin that it is tied to more, directly or by a swap; return whether that was possible."""
        row = self.near[item]
        now = row.get(self.bin_of[item], 0)
        better = [(-weight, at) for at, weight in row.items() if weight > now]
        if not better:
            return False
        size, answers = self.items[item]
        for minus_weight, to in sorted(better):
            if self.holds(to, size, answers):
                self.put(item, to)
                return True
            if self._swapped(item, to, -minus_weight - now):
                return True
        return False

    def _swapped(self, item: int, to: int, gain: int) -> bool:
        """Swap an item into a full bin; return whether something there could leave for it at a loss below the gain.

        What leaves goes to the item's old bin, which has room now, or to any other. Swaps are tried most often and gain least, so
        their number is limited: large bins make each of them expensive.
        """
        if self.tries <= 0:
            return False
        self.tries -= len(self.members[to])
        items, bins = self.items, range(len(self.size))
        here, links = self.bin_of[item], self.links[item]
        size, answers = items[item]
        # Most candidates for leaving are ruled out by numbers alone: this loop takes half of a plan's time.
        most, limit = self.room.size + _SLACK, self.room.answers
        sizes, answers_in, near, pull = self.size, self.answers, self.near, self.pull
        filled, answered = sizes[to], answers_in[to]
        best = (0, 0, 0)
        for other in self.members[to]:
            row = near[other]
            here_tie = row.get(to, 0)
            tie = links.get(other, 0)
            left = gain - tie - here_tie
            if left + pull[other] - here_tie <= best[0]:  # were it tied to one bin alone
                continue
            other_size, other_answers = items[other]
            if filled + (size - other_size) > most or (
                limit is not None and answered + (answers - other_answers) > limit
            ):
                continue
            # The tie between both is part of the gain, and of what the other one has here: it does not hold if they swap places.
            for away in bins if left > best[0] else row:  # elsewhere it would have no tie
                total = left + row.get(away, 0) - (tie if away == here else 0)
                if total <= best[0] or away == to:
                    continue
                freed_size, freed_answers = (size, answers) if away == here else _NOTHING
                if sizes[away] + (other_size - freed_size) <= most and (
                    limit is None or answers_in[away] + (other_answers - freed_answers) <= limit
                ):
                    best = (total, other, away)
        if not best[0]:
            return False
        self.put(best[1], best[2])
        self.put(item, to)
        return True

    def kicked(self, times: int) -> _State:
        """Return the best result of forcing cut ties together, one at a time, and improving after each.

        Moves and swaps end in an optimum that no single one of them leaves. A kick puts both ends of a cut tie into one bin
        whatever it costs; the improved result is kept unless it is worse. Equal ones are kept too, or the search would get stuck
        on a plateau.
        """
        # A linear congruential generator (the constants of ISO C's example), using high bits: `random` may choose differently in
        # other versions of Python.
        best = self
        cut = best._cut()
        dice = 20_261_121
        for _ in range(times):
            if not cut:
                break
            dice = (dice * 1_103_515_245 + 12_345) % (1 << 31)
            item, other = cut[(dice >> 8) % len(cut)]
            tried = best.copy()
            if tried._forced(item, tried.bin_of[other]):
                tried.improve()
                if tried.kept >= best.kept:
                    best, cut = tried, tried._cut()
        return best

    def _cut(self) -> list[tuple[int, int]]:
        """Return the ties between bins, each from both of its ends."""
        bin_of = self.bin_of
        return [(a, b) for a, row in enumerate(self.links) for b in row if bin_of[a] != bin_of[b]]

    def _forced(self, item: int, to: int) -> bool:
        """Put an item into a bin, removing the least tied for their size if needed; return whether that was possible."""
        if self.bin_of[item] == to:
            return False
        self.put(item, to)
        leaving = sorted(
            (other for other in self.members[to] if other != item),
            key=lambda other: (self.near[other].get(to, 0) / (self.items[other].size + 1), other),
        )
        for other in leaving:
            if self.holds(to, 0, 0):
                return True
            size, answers = self.items[other]
            ways = [at for at in range(len(self.size)) if at != to and self.holds(at, size, answers)]
            if ways:
                row = self.near[other]
                self.put(other, max(ways, key=lambda at: (row.get(at, 0), -at)))
        return self.holds(to, 0, 0)
