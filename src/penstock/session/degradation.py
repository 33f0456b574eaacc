"""What does a context of this size cost, and what is known of working in it? Each statement names its basis (S-7).

Every statement is marked computed, policy, measured or unknown. Cost is computed from tokens and price ratios. Advice is policy: a
profile's rungs, scaled to the window (S-2). How fast or how well a model works at a size is known only if somebody measured it, at
that size and with that model; it is never scaled and never interpolated. There is no table of percentages here, because nobody has
one that holds.

Laws: cost and advice never fall as tokens grow; no number is called measured that was not loaded as such. Leaves to others: how to
act on it, prices in money, and every promise about quality.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from penstock.context.compaction.plans import CACHE_READ, CACHE_WRITE
from penstock.errors import CallerError
from penstock.session.limits import PROFILES, Limits, Pressure, limits_of
from penstock.text import escape
from penstock.text.json_access import parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

# The largest number of tokens that a float holds exactly, so that cost, a product with a price, never falls as tokens grow.
_MOST = 1 << 53

Word = Literal["computed", "policy", "measured", "unknown"]
"""How a statement is known: by arithmetic, as a decision of the profile, from a loaded measurement, or not at all."""

# Words only: the percentages of lost quality often quoted for such sizes have no source that could be cited.
ADVICE = {
    Pressure.CALM: "normal operation",
    Pressure.WATCH: "monitor the number of turns",
    Pressure.COMPACT: "begin compression",
    Pressure.COMPACT_HARD: "compress aggressively",
    Pressure.HAND_OFF: "hand off",
    Pressure.RESET: "hand off and reset the session",
}
"""What to do at each rung of pressure, as one phrase."""


class InputPrices(NamedTuple):
    """What a token of input costs, in hundredths of the price of a token sent without any cache."""

    cached: float = CACHE_READ
    """The price of a token read from the provider's cache."""
    fresh: float = CACHE_WRITE
    """The price of a token written to the cache: new input costs more than without a cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One finding about one model at one context size: the value of a metric, and its source.

    Raises:
        CallerError: for an empty metric or source, or an impossible number.
    """

    metric: str
    """What was measured, in the measurer's words, unit included: `seconds to first token`."""
    tokens: int
    """The size of the context that it was measured at; it says nothing about any other."""
    value: float
    source: str
    """The source of the number; a number without a source does not count."""
    runs: int | None = None
    """How many runs the value comes from; None if that is not known."""

    def __post_init__(self) -> None:
        for name in ("metric", "source"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise CallerError(f"a measurement says its {name}: a number without one is none")
        _whole(self.tokens, "tokens of a measurement")
        if type(self.value) not in {int, float} or not abs(self.value) <= sys.float_info.max:
            raise CallerError(f"the value of a measurement is a number, not {self.value!r}")
        if self.runs is not None:
            _whole(self.runs, "runs of a measurement")


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The basis for judging one model's contexts: a policy, and what was measured.

    Raises:
        CallerError: for two measurements of one metric at one size.
    """

    model: str = ""
    policy: Limits = field(default_factory=lambda: PROFILES["default"])
    """The limits whose rungs give the advice, scaled to the window that is assessed."""
    measured: tuple[Measurement, ...] = ()

    def __post_init__(self) -> None:
        seen: set[tuple[str, int]] = set()
        for one in self.measured:
            if (one.metric, one.tokens) in seen:
                raise CallerError(
                    f"two measurements of {one.metric!r} at {one.tokens} tokens: keep one, or name them apart"
                )
            seen.add((one.metric, one.tokens))


POLICY = Points()
"""The points of a model that nobody measured: the default profile's policy, and no measurement."""


def points_of(document: str | bytes | Mapping[str, Any]) -> Points:
    """Return the points in a JSON document.

    The form is `{"model", "policy": {"rungs"}, "measured": [{"metric", "tokens", "value", "source", "runs"}]}`. What is left out
    comes from `POLICY`; the policy takes what a profile of `penstock.toml` takes.

    Args:
        document: JSON as text or UTF-8, or its value.

    Raises:
        CallerError: naming the field that is unknown, missing or impossible; the author of the document has to act.
    """
    value = document
    if isinstance(document, str | bytes):
        is_json, value = parsed(document if isinstance(document, str) else document.decode("utf-8", "replace"))
        if not is_json:
            raise CallerError("points are a JSON object; this is not JSON")
    made = _object(value, "points", {known.name for known in fields(Points)})
    if not isinstance(made.get("model", ""), str):
        raise CallerError(f"the model of points is a name, not {made['model']!r}")
    if "policy" in made:
        made["policy"] = limits_of(_object(made["policy"], "policy", None))
    if "measured" in made:
        if not isinstance(made["measured"], list):
            raise CallerError("measured is a list of measurements")
        made["measured"] = tuple(_measurement(row) for row in made["measured"])
    return Points(**made)


def _measurement(row: object) -> Measurement:
    """Return one row of `measured`; fields without a default are required."""
    made = _object(row, "a measurement", {known.name for known in fields(Measurement)})
    for name in ("metric", "tokens", "value", "source"):
        if name not in made:
            raise CallerError(f"a measurement says its {name}")
    return Measurement(**made)


class Cost(NamedTuple):
    """What the next call costs as input, in tokens sent without any cache."""

    low: float
    """The cost with as much cached as possible."""
    high: float
    """The cost with as little cached as possible; equal to `low` if the cached share is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricReading:
    """What is known of one metric at a size: the nearest measurements on either side, or the same one twice if it is at that
    size.
    """

    metric: str
    below: Measurement | None
    above: Measurement | None

    @property
    def word(self) -> Word:
        """`measured` between two measurements or on one; `unknown` beyond the outermost, where nothing is known."""
        return "unknown" if self.below is None or self.above is None else "measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A judgement of a context of `tokens` in a window; `str` of it is a report, one statement a line."""

    model: str
    tokens: int
    window_tokens: int
    cost: Cost
    pressure: Pressure
    readings: tuple[MetricReading, ...]

    @property
    def statements(self) -> tuple[tuple[Word, str], ...]:
        """Return every statement, each with the word that says how it is known."""
        low, high = (f"{bound:.0f}" for bound in self.cost)
        cost = (
            f"{low} tokens of plain input"
            if low == high
            else f"{low} to {high} tokens of plain input, by what is cached"
        )
        said: list[tuple[Word, str]] = [
            ("computed", f"the next call costs {cost}"),
            ("policy", f"{ADVICE[self.pressure]} ({self.pressure.name})"),
        ]
        if not self.readings:
            said.append(("unknown", "how fast and how well the model works at this size: nothing was measured"))
        return (*said, *((reading.word, _sentence(reading)) for reading in self.readings))

    def __str__(self) -> str:
        over = "" if self.tokens <= self.window_tokens else ": more than the window holds"
        model = f", {escape.clip(self.model)}" if self.model else ""
        head = f"{self.tokens} of {self.window_tokens} tokens{model}{over}"
        return "\n".join([head, *(f"{word}: {text}" for word, text in self.statements)])


def assess(
    tokens: int,
    window_tokens: int,
    points: Points = POLICY,
    *,
    cached_share: float | None = None,
    prices: InputPrices = InputPrices(),  # noqa: B008 - a value
) -> Assessment:
    """Return what a context of a size costs, what policy says of it, and what was measured.

    Args:
        tokens: the size of the context.
        window_tokens: the window of the model; the policy is scaled to it, measurements are not.
        points: policy and measurements of the model.
        cached_share: the part of the context that the provider has cached, 0 to 1; None makes the cost a range.
        prices: what cached and fresh tokens cost, in hundredths of a plain one.

    Raises:
        CallerError: for an impossible size, share or price.
    """
    _whole(tokens, "tokens of a context")
    _whole(window_tokens, "tokens of a window")
    if cached_share is not None and not 0 <= cached_share <= 1:
        raise CallerError(f"the cached share is from 0 to 1, not {cached_share!r}")
    if not all(0 <= price < math.inf for price in prices):
        raise CallerError(f"a price is a number from 0 on: {prices}")
    shares = (0.0, 1.0) if cached_share is None else (cached_share,)
    costs = [tokens * (prices.cached * share + prices.fresh * (1 - share)) / 100 for share in shares]
    metrics = dict.fromkeys(one.metric for one in points.measured)
    return Assessment(
        model=points.model,
        tokens=tokens,
        window_tokens=window_tokens,
        cost=Cost(min(costs), max(costs)),
        pressure=points.policy.scaled(window_tokens).pressure(tokens, 0),
        readings=tuple(_reading(metric, tokens, points) for metric in metrics),
    )


def _reading(metric: str, tokens: int, points: Points) -> MetricReading:
    """Return the measurements of one metric that are nearest to a size."""
    rows = sorted((one for one in points.measured if one.metric == metric), key=lambda one: one.tokens)
    return MetricReading(
        metric=metric,
        below=next((one for one in reversed(rows) if one.tokens <= tokens), None),
        above=next((one for one in rows if one.tokens >= tokens), None),
    )


def _sentence(reading: MetricReading) -> str:
    """Return a reading in words; both ends are shown as they were measured, nothing between them."""
    metric = escape.clip(reading.metric)
    ends = [one for one in (reading.below, reading.above) if one is not None]
    shown = ", ".join(f"{metric} {one.value:g} at {one.tokens} tokens ({_origin(one)})" for one in dict.fromkeys(ends))
    if reading.word == "measured":
        return shown
    return f"{metric} {'below' if reading.below is None else 'above'} what was measured: {shown}"


def _origin(one: Measurement) -> str:
    return escape.clip(one.source) + ("" if one.runs is None else f", {one.runs} runs")


def _whole(number: object, what: str) -> None:
    """Raise `CallerError` unless the value is a number of tokens that a price can be multiplied with exactly."""
    if type(number) is not int or not 0 <= number <= _MOST:
        raise CallerError(f"{what}: a whole number from 0 to 2**53, not {escape.clip(repr(number), 60)}")


def _object(value: object, what: str, known: set[str] | None) -> dict[str, Any]:
    """Return a copy of a JSON object that has only known fields; None for `known` accepts all."""
    if not isinstance(value, dict):
        raise CallerError(f"{what}: an object, not {escape.clip(repr(value), 60)}")
    if known is not None and (strange := sorted(set(value) - known)):
        raise CallerError(f"{what}: {strange[0]!r} is not known; there are {', '.join(sorted(known))}")
    return dict(value)
