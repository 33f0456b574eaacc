"""Where in a drawing does each part of a session lie? Stacked areas, lanes and the slices of a bar, in whole units of a frame.

A frame is as many units wide as it has columns and `HEIGHT` high, and is stretched to its place: one drawing serves every screen.
All edges are horizontal or vertical, so that a place under the pointer is one column and no edge is blurred. Laws: the highest
point is the fullest turn, however many turns share its column; what happened once is visible. Leaves to others: markup and colours.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from penstock.inspection.story import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.inspection.story import FillTurn

HEIGHT = 1_000
"""The height of a frame in units."""
MAX_COLUMNS = 720
"""The most columns of an area: about a pixel each."""
MAX_BINS = 240
"""The most bins of a lane: marks of 3 pixels can be distinguished, those of one are a band."""
_LOWEST = 350  # what happened once is still visible next to what happened a hundred times


class Band(NamedTuple):
    """The area of one kind, from the bottom to its upper edge: lower bands are drawn over it."""

    kind: str
    slot: int
    """The index of a kind in `KINDS`, which determines its colour."""
    path: str
    """The data of an SVG path."""


class AreaSlice(NamedTuple):
    """What one kind takes of a turn, as a piece of a bar of `HEIGHT` units."""

    kind: str
    slot: int
    """The index of a kind in `KINDS`, which determines its colour."""
    tokens: int
    x: int
    width: int


def buckets(count: int, most: int) -> list[range]:
    """Return that many positions divided into at most `most` ranges of similar length, none of them empty."""
    columns = min(count, most)
    edges = [-(-at * count // columns) for at in range(columns)] + [count]
    return [range(start, end) for start, end in pairwise(edges)]


def fullest(turns: Sequence[FillTurn], most: int = MAX_COLUMNS) -> list[FillTurn]:
    """Return at most `most` turns, each the fullest of its bucket: a mean would hide what was refused."""
    parts = buckets(len(turns), most)
    return [max((turns[at] for at in part), key=lambda turn: turn.tokens) for part in parts]


def silhouette(heights: Iterable[int]) -> str:
    """Return the area under columns of these heights, one unit wide each, as path data."""
    edge = [f"V{HEIGHT - height}h{len(list(run))}" for height, run in groupby(heights)]
    return "".join([f"M0 {HEIGHT}", *edge, f"V{HEIGHT}z"])


def bands(columns: Sequence[FillTurn], top_tokens: int) -> list[Band]:
    """Return what filled the columns, in drawing order: the highest first, the others over it.

    Args:
        columns: one turn per column.
        top_tokens: the number of tokens at full height; at least as many as in any column.
    """
    under = [0] * len(columns)
    made: list[Band] = []
    for slot, kind in enumerate(KINDS):
        amounts = [turn.by_kind.get(kind, 0) for turn in columns]
        if not any(amounts):
            continue
        under = [below + tokens for below, tokens in zip(under, amounts, strict=True)]
        made.append(Band(kind, slot, silhouette(height_of(tokens, top_tokens) for tokens in under)))
    return made[::-1]


def height_of(tokens: int, top_tokens: int) -> int:
    """Return the height of that many tokens in a frame whose full height is `top_tokens`."""
    return HEIGHT * tokens // top_tokens


def rules(top_tokens: int) -> list[int]:
    """Return round numbers of tokens for the lines behind a drawing, three to eight of them if it is high enough."""
    least = max(1, top_tokens // 5)
    power = 10 ** (len(str(least)) - 1)
    step = next(power * of for of in (1, 2, 5, 10) if power * of >= least)
    return list(range(step, top_tokens, step))


def lane(at_turns: Iterable[int], turns: int, most: int = MAX_BINS) -> str:
    """Return marks for what happened at turns, as path data; the more there was in one bin, the higher.

    Args:
        at_turns: their numbers, from 1; what happened before the first is drawn with it.
        turns: how many turns there are, at least one.
        most: how many bins there are at most; the frame is `bins` units wide.
    """
    width = bins(turns, most)
    counts = Counter((min(max(turn, 1), turns) - 1) * width // turns for turn in at_turns)
    peak = max(counts.values(), default=1)
    heights = {place: _LOWEST + (HEIGHT - _LOWEST) * count // peak for place, count in sorted(counts.items())}
    return "".join(f"M{place} {HEIGHT}v-{height}h1v{height}z" for place, height in heights.items())


def bins(turns: int, most: int = MAX_BINS) -> int:
    """Return how many bins a lane of that many turns has."""
    return min(turns, most)


def slices(by_kind: Mapping[str, int], kinds: Iterable[str]) -> list[AreaSlice]:
    """Return the bar of a turn, a piece for each of the kinds; together they are the whole bar.

    Args:
        by_kind: the tokens of the turn.
        kinds: of `KINDS` and in their order, including all that the turn has.
    """
    whole = sum(by_kind.values()) or 1
    made: list[AreaSlice] = []
    before = 0
    for kind in kinds:
        tokens = by_kind.get(kind, 0)
        x = height_of(before, whole)
        before += tokens
        made.append(AreaSlice(kind, KINDS.index(kind), tokens, x, height_of(before, whole) - x))
    return made
