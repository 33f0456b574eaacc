"""How does a provider count, as far as its refusals and usage have shown, and what does that mean for the next request?

Every provider counts in its own way: its tokenizer, its frames, its images. The assumption is behaviour R-1: a provider's count of
a request is the sum of our counts by kind of content, each kind times a factor of its own, plus at most 16 tokens a message; each
message may be up to 6 % off, but by the same amount in every send. The factor of text lies between 1/4 and 4; images, files,
reasoning and the like have wider ranges (`FACTOR_RANGES`), because their cost has little to do with what can be seen of them. Each
number that a provider states about a request *as it was sent* is then one linear equation for these factors. All equations so far
together answer two questions:

- `worst_case`: the most that the provider can count for a request, under the worst factors that the numbers still allow. It is a
  linear programme with a box and a few rows; what fits by this bound certainly fits.
- `chance_that_fits`: how probable it is that a request fits, if all usual factors were equally likely (in their logarithm) before
  the provider said anything. It sizes the *first* retry: the worst case would give up a third of the request to cure an excess of
  one percent, and a plain ratio is refused again in a quarter of the cases.

Both are pure and deterministic: the sample of factors is a fixed low-discrepancy sequence, not random. Leaves to others: which
requests there are to choose from (`ladder`), and what was refused (`recovery`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import compress
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.context.counts import CONTENT_KINDS, IMAGE_TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.context.counts import ContentKind, KindCounts

MAX_FACTOR: Final = 4.0
"""The most that a provider may count for one of our tokens of text (R-1)."""
MIN_FACTOR: Final = 1 / MAX_FACTOR
"""The least that a provider may count for one of our tokens of text (R-1)."""


class FactorRange(NamedTuple):
    """What a provider may count for one of our tokens of one kind of content."""

    least: float
    """The least that is possible: what is certainly smaller is smaller down to here."""
    most: float
    """The most that is possible: what certainly fits, fits up to here."""
    usual_least: float
    """The least that is usual: likelihoods are judged from here."""
    usual_most: float
    """The most that is usual: likelihoods are judged up to here."""


_TEXT = FactorRange(MIN_FACTOR, MAX_FACTOR, MIN_FACTOR, MAX_FACTOR)
_OTHER_RANGES: Final[dict[ContentKind, FactorRange]] = {
    # We count each image as 1,568 tokens, because images are not decoded. Where patches of 28 or 32 pixels are counted, an icon is
    # a handful of tokens and a photograph up to 16,384 (Qwen-VL; gpt-5.5 at full resolution takes 10,600). Usual counts range from
    # 85 (OpenAI's low detail) and 258 (Gemini's tile) to 4,784 (Claude at high resolution).
    "images": FactorRange(0.0, 16_384 / IMAGE_TOKENS.tokens, 85 / IMAGE_TOKENS.tokens, 4_784 / IMAGE_TOKENS.tokens),
    # We count bytes, providers count pages and seconds: 258 for a scanned page of megabytes (Gemini), 3,000 and more for
    # a page of text that is 2 KB when compressed (Claude); 32 for a second of sound of 32,000 bytes.
    "files": FactorRange(0.0, 24.0, 1 / 16, 16.0),
    # Claude counts neither its thoughts of earlier turns, whether they are sent or not, nor signatures.
    "reasoning": FactorRange(0.0, MAX_FACTOR, 0.02, MAX_FACTOR),
    # What hosted tools produced is counted as the JSON that it is: a picture as its base64.
    "other": FactorRange(0.0, MAX_FACTOR, MIN_FACTOR, MAX_FACTOR),
}
FACTOR_RANGES: Final = tuple(_OTHER_RANGES.get(kind, _TEXT) for kind in CONTENT_KINDS)
"""The range of the factor of each kind, in the order of `CONTENT_KINDS`."""
MAX_FRAME_TOKENS: Final = 16
"""The most that a provider adds to each message: roles, separators, ids."""
MESSAGE_ERROR: Final = 0.06
"""How far a message may be from the sum of its kinds: numbers, other languages, what one tokenizer happens to merge."""
STATED_ERROR: Final = 0.10
"""How far a number in a refusal may be from the provider's count: some are estimates by a proxy in front of it."""
REFUSED_WORTH: Final = 0.25
"""The worth of a refused retry, as a share of the limit: the certain rung that follows keeps half, and costs one more call."""
_LIKELY_FRAME_TOKENS = 8
"""The likely size of a frame: half of the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a provider said of one request as it was sent, in tokens of input; `low` and `high` are None if it said nothing.

    A stated number has both; a refusal that names only its limit says that the request took more than that (`low`).
    """

    counts: KindCounts
    low: float | None = None
    high: float | None = None

    @property
    def is_stated(self) -> bool:
        """Whether the provider stated a number for this request, not just a bound."""
        return self.low is not None and self.high is not None

    @property
    def stated_tokens(self) -> float:
        """The number that was stated: the middle of its error range."""
        return math.sqrt((self.low or 1.0) * (self.high or 1.0))


def stated(counts: KindCounts, tokens: int) -> Observation:
    """Return the observation that a provider stated `tokens` of input for a request."""
    return Observation(counts=counts, low=tokens / (1 + STATED_ERROR), high=tokens / (1 - STATED_ERROR))


def more_than(counts: KindCounts, tokens: int) -> Observation:
    """Return the observation that a request took more than `tokens` of input."""
    return Observation(counts=counts, low=float(tokens))


# ── the worst case ───────────────────────────────────────────────────────────────────────────────────────────────


def worst_case(counts: KindCounts, observations: Sequence[Observation] = ()) -> float:
    """Return the most that the provider can count for a request, given what it said of earlier ones.

    The linear programme is: maximise f·n over factors f in the box, where each observation i bounds f·a_i from both sides. By
    duality its value is the minimum over multipliers (one for each row) of a convex, piecewise linear function, and *every*
    multiplier gives a valid bound. So the search below may stop anywhere and never promises too much; with one row it is exact,
    with two rows it is exact up to the precision of a ternary search.

    Returns:
        An upper bound in the provider's tokens, frames and errors of messages included.
    """
    rows = [row for seen in observations for row in _rows(seen)][-_MAX_ROWS:]
    bound = _bound([float(tokens) for tokens in counts.tokens], rows)
    # Under the assumption, the box allows the plain ratio of each number, so this changes nothing; for a provider outside the
    # assumption, the ratio is all there is to go by.
    ratios = (seen.stated_tokens / seen.counts.total for seen in observations if seen.is_stated and seen.counts.total)
    bound = max(bound, counts.total * max(ratios, default=0.0))
    return (1 + MESSAGE_ERROR) * bound + MAX_FRAME_TOKENS * counts.messages


# Each further row would square the search, and a provider's numbers for similar requests hardly differ.
_MAX_ROWS = 2
"""How many of the newest observations the linear programme looks at."""
_Row = tuple[tuple[int, ...], float, float]


def _rows(seen: Observation) -> list[_Row]:
    """Return the bounds on f·n that follow from an observation, after subtracting frames and errors of messages.

    The lower bound assumes the largest frames and messages that count 6 % too much, the upper bound no frames and messages
    that count 6 % too little: either way the row holds whatever the messages' own errors are.
    """
    frames = MAX_FRAME_TOKENS * seen.counts.messages
    low = 0.0 if seen.low is None else max(0.0, seen.low - frames) / (1 + MESSAGE_ERROR)
    high = math.inf if seen.high is None else seen.high / (1 - MESSAGE_ERROR)
    return [(seen.counts.tokens, low, high)] if low > 0 or high < math.inf else []


def _bound(gains: Sequence[float], rows: Sequence[_Row]) -> float:
    """Return the maximum of f·gains over the box and the rows; over the box alone if the rows contradict each other or the box.

    A programme without a solution has an unbounded dual: it falls below the least that any factors in the box give.
    """
    bound = _dual(gains, rows)
    least = sum((ends.least if gain > 0 else ends.most) * gain for ends, gain in zip(FACTOR_RANGES, gains, strict=True))
    return bound if bound >= least - _ROUNDING else _dual(gains, [])


_ROUNDING = 1e-6
"""Tokens by which rounding alone may put a bound below the least of the box."""


def _dual(gains: Sequence[float], rows: Sequence[_Row]) -> float:
    """Return the dual's value, minimised over one multiplier for each row; without rows, the maximum over the box alone.

    Lagrange: for a multiplier y of the row low <= f·w <= high, max f·g <= y·(high if y > 0 else low) + max over the box
    of f·(g - y·w). The inner maximum takes each factor at one end of its range, so it is a sum; the outer function is
    convex in y.
    """
    if not rows:
        return sum(
            (ends.most if gain > 0 else ends.least) * gain for ends, gain in zip(FACTOR_RANGES, gains, strict=True)
        )
    (weights, low, high), *rest = rows

    def at(multiplier: float) -> float:
        # A missing upper bound cannot be priced: "more than" only has a price on its lower side.
        if multiplier > 0 and high == math.inf:
            return math.inf
        price = multiplier * (high if multiplier > 0 else low)
        return price + _dual([gain - multiplier * weight for gain, weight in zip(gains, weights, strict=True)], rest)

    # With one row the function bends only at 0 and where a kind changes sides of its box: its minimum is at one of
    # these at most twelve points, so it is exact.
    bends = sorted({0.0, *(gain / weight for gain, weight in zip(gains, weights, strict=True) if weight)})
    if not rest:
        return min(map(at, bends))
    # A second row moves the bends, so the minimum is searched for. If the search misses it, the bound is less tight but
    # still holds.
    return _minimum(at, bends[0] - 1, bends[-1] + 1)


def _minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the least value found of a convex function between two points; any value it takes is a valid bound."""
    best = function(0.0)
    # Forty thirds leave (2/3)^40, a ten-millionth, of the interval. Two rows cost 80 times twelve evaluations of eleven
    # kinds, some milliseconds for a rung; bisection looks at about ten rungs.
    for _ in range(40):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        at_left, at_right = function(left), function(right)
        best = min(best, at_left, at_right)
        if at_left <= at_right:
            high = right
        else:
            low = left
    return best


def min_decrease(removed: KindCounts, added: KindCounts, observations: Sequence[Observation] = ()) -> float:
    """Return by how much a request shrinks in the provider's count at least, when `removed` goes and `added` comes.

    The result is negative if some factors that are still possible would let the request grow.
    """
    rows = [row for seen in observations for row in _rows(seen)][-_MAX_ROWS:]
    gains = [
        (1 + MESSAGE_ERROR) * plus - (1 - MESSAGE_ERROR) * minus
        for plus, minus in zip(added.tokens, removed.tokens, strict=True)
    ]
    # The most that the request can grow by, negated. What comes is weighed 6 % up and what goes 6 % down; frames that come
    # are counted at their maximum, frames that go at nothing.
    return -_bound(gains, rows) - MAX_FRAME_TOKENS * added.messages


def sure_tokens(counts: KindCounts) -> int:
    """Return our tokens of which every provider counts at least a quarter: all but images, files and the like."""
    return sum(n for n, ends in zip(counts.tokens, FACTOR_RANGES, strict=True) if ends.least >= MIN_FACTOR)


# ── what is likely ───────────────────────────────────────────────────────────────────────────────────────────────


class Likelihood:
    """A weighted sample of the ways in which a provider may count, given what it said of requests.

    Before anything was said, the logarithm of each kind's factor is taken as equally likely over its usual range. A number stated
    for a request fixes the weighted sum of the factors; each sample point is moved along its common scale until it agrees, because
    that scale is what providers differ in most. Further numbers, and refusals that only say "more than", weight the points.

    Args:
        observations: what was said, oldest first.
        spread: how far the factors of text may be from each other, as a share of the logarithm of their range.
    """

    def __init__(self, observations: Sequence[Observation] = (), *, spread: float = 1.0) -> None:
        self._points: Sequence[Sequence[float]] = [point.factors for point in _sample(spread)]
        self._weights = [1.0] * len(self._points)
        stated_ones = [seen for seen in observations if seen.is_stated and seen.counts.total]
        if stated_ones:
            # The newest number fixes the scale exactly; older ones only add weight, because one scale cannot satisfy two
            # equations.
            self._scale_to(stated_ones[-1], spread)
        for seen in observations:
            if not stated_ones or seen is not stated_ones[-1]:
                self._weigh(seen)
        total = sum(self._weights)
        if not total:  # nothing agrees with everything that was said: the provider counts in no way that we know
            self._weights, total = [1.0] * len(self._points), float(len(self._points))
        self._weights = [weight / total for weight in self._weights]

    def chance_that_fits(self, counts: KindCounts, limit_tokens: float) -> float:
        """Return the share of the sample in which the provider counts at most `limit_tokens` for a request."""
        return sum(weight for tokens, weight in self._counted(counts) if tokens <= limit_tokens)

    def worth(self, counts: KindCounts, limit_tokens: float) -> float:
        """Return what sending a request is worth on average: the share of the limit that it uses, `REFUSED_WORTH` if refused.

        If the sample agrees, a rung just below the limit is worth most. If it does not, this weighs what a cautious rung gives up
        for nothing against what the certain rung after a second refusal would give up.
        """
        return sum(
            weight * (tokens / limit_tokens if tokens <= limit_tokens else REFUSED_WORTH)
            for tokens, weight in self._counted(counts)
        )

    def _counted(self, counts: KindCounts) -> Iterator[tuple[float, float]]:
        """Yield what each point of the sample counts for a request, with the point's weight.

        Messages' own errors, up to 6 % each, cancel out over many messages. The remainder may come from a few messages, so half of
        the error is added: otherwise these errors alone would have a rung just below the limit refused half of the time.
        """
        frames = _LIKELY_FRAME_TOKENS * counts.messages
        likely_error = 1 + MESSAGE_ERROR / 2
        for factors, weight in zip(self._points, self._weights, strict=True):
            if weight:
                yield likely_error * sum(map(mul, factors, counts.tokens)) + frames, weight

    def _scale_to(self, seen: Observation, spread: float) -> None:
        """Move each point along its scale until it gives the stated number, and weight it by how likely that is.

        The prior is uniform over a box of logarithms. A point represents its whole line along the scale, and lines through the
        middle of the box are longer: dividing by the length makes points on the surface of the equation equally likely.
        """
        tokens = seen.counts.tokens
        target = max(1.0, seen.stated_tokens - _LIKELY_FRAME_TOKENS * seen.counts.messages)
        points: list[tuple[float, ...]] = []
        weights: list[float] = []
        for factors, downs, ups in _sample(spread):
            scale = target / sum(map(mul, factors, tokens))
            # How far the point can move along its line, down and up, until a factor of a kind that is present leaves its range.
            down, up = max(compress(downs, tokens)), min(compress(ups, tokens))
            length = max(_SHORTEST, up - down)
            is_possible = down - _SLACK <= math.log(scale) <= up + _SLACK
            points.append(tuple(map(mul, factors, [scale if number else 1.0 for number in tokens])))
            weights.append(1 / length if is_possible else 0.0)
        if any(weights):
            self._points, self._weights = points, weights

    def _weigh(self, seen: Observation) -> None:
        """Weight each point by how well it agrees with a number, or drop it if it contradicts a "more than"."""
        frames, tokens = _LIKELY_FRAME_TOKENS * seen.counts.messages, seen.counts.tokens
        is_stated, stated_tokens = seen.is_stated, seen.stated_tokens
        for place, factors in enumerate(self._points):
            if not self._weights[place]:
                continue
            counted = frames + sum(map(mul, factors, tokens))
            if is_stated:
                # A bell curve in the logarithm, as wide as a message may err; bounded below, so that the weights of distant
                # points stay above 0 and there is something left to go by.
                error = math.log(max(1.0, counted) / stated_tokens) / MESSAGE_ERROR
                self._weights[place] *= math.exp(-0.5 * min(error * error, 200.0))
            elif seen.low is not None and counted <= seen.low:
                self._weights[place] = 0.0


_SHORTEST = 0.05
"""The least length of a line through the box of logarithms: at the corners of the box lines vanish, and weights must stay
bounded.
"""
_SLACK = 0.03
"""How far a point may leave the box, as a logarithm: the equation omits frames and errors of messages."""
_POINTS = 384
"""How many ways to count the sample holds; fixed, so that decisions are the same on every machine."""


class _Point(NamedTuple):
    """One way to count, and how far each of its factors is from the ends of its usual range, as logarithms."""

    factors: tuple[float, ...]
    downs: tuple[float, ...]
    ups: tuple[float, ...]


@cache
def _sample(spread: float) -> list[_Point]:
    """Return factors that fill their box evenly, by the additive recurrence of the generalised golden ratio.

    Source: M. Roberts, "The unreasonable effectiveness of quasirandom sequences" (2018): alpha_k = phi^-k, where phi is the root of
    x^(d+1) = x + 1; the low-discrepancy sequence is the fractional part of (1/2 + n * alpha).
    """
    dimensions = len(CONTENT_KINDS)
    root = 2.0
    for _ in range(40):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = [root ** -(place + 1) for place in range(dimensions)]
    made = []
    for number in range(1, _POINTS + 1):
        factors = tuple(
            (ends.usual_least * (ends.usual_most / ends.usual_least) ** ((0.5 + number * step) % 1.0))
            ** (spread if ends is _TEXT else 1.0)
            for ends, step in zip(FACTOR_RANGES, steps, strict=True)
        )
        downs = tuple(math.log(ends.usual_least / factor) for ends, factor in zip(FACTOR_RANGES, factors, strict=True))
        ups = tuple(math.log(ends.usual_most / factor) for ends, factor in zip(FACTOR_RANGES, factors, strict=True))
        made.append(_Point(factors, downs, ups))
    return made
