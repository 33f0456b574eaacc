"""What does a request cost? The list prices of the models' makers on a given day.

The table is extracted from genai-prices by `scripts/prices`, and carries its licence and date. A price is the maker's own, for
text and without a contract: prices of resellers, regions, subscriptions or batches are not known here. Laws: what is not known
is None, never 0; every token of a request is charged once. Leaves to others: how many tokens a request had (`inspection`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.inspection.spending import with_money

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.inspection.story import Story

_MTOK = 1_000_000
_MAX_NAME_CHARS = 200


class Rate(NamedTuple):
    """What a million tokens cost, depending on the size of their request.

    A request above a step pays that step's price for all its tokens, as in providers' lists: prices are not averaged.
    """

    dollars: float
    steps: tuple[tuple[int, float], ...] = ()
    """Pairs of tokens and dollars: the price that applies above that much input; the smallest first."""

    def at(self, input_tokens: int) -> float:
        """Return the dollars for a million tokens in a request with that much input."""
        return next((dollars for above, dollars in reversed(self.steps) if input_tokens > above), self.dollars)


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What the tokens of a model cost, in dollars for a million."""

    input: Rate
    output: Rate
    cache_read: Rate
    """Price of input read from a cache; equals `input` if the maker's list has no separate price."""
    cache_write: Rate
    """Price of input written to a cache for five minutes, or for the provider's default time; equals `input` if not listed."""
    cache_write_hour: Rate
    """Price of input written to a cache for an hour; equals `cache_write` if the list has one price for both."""

    def dollars(
        self,
        *,
        uncached_tokens: int,
        cached_tokens: int = 0,
        written_tokens: int = 0,
        written_hour_tokens: int = 0,
        output_tokens: int = 0,
    ) -> float:
        """Return what a request costs.

        Args:
            uncached_tokens: input that bypassed the cache.
            cached_tokens: input read from the cache.
            written_tokens: input written to the cache, except for an hour.
            written_hour_tokens: input written to the cache for an hour.
            output_tokens: the answer, including reasoning.
        """
        given = uncached_tokens + cached_tokens + written_tokens + written_hour_tokens
        charged = (
            (self.input, uncached_tokens),
            (self.cache_read, cached_tokens),
            (self.cache_write, written_tokens),
            (self.cache_write_hour, written_hour_tokens),
            (self.output, output_tokens),
        )
        return sum(rate.at(given) * tokens for rate, tokens in charged) / _MTOK


def as_of() -> str:
    """Return the day of the prices, as `2026-11-23`."""
    return str(_table()["as_of"])


def price_of(model: str, at: str = "") -> Price | None:
    """Return what a model costs by its maker's list; None if its name or its price is not known.

    Args:
        model: its name as a provider, a gateway or a cloud writes it: with a date, with the prefix `anthropic/`, `models/` or
            `us.anthropic.`, in any case.
        at: when the request was made, as RFC 3339; if empty or invalid, the day of the prices.
    """
    listed = _prices_of(model)
    if not listed:
        return None
    if len(listed) == 1:  # the usual case, asked for every request of a session: its time need not be parsed
        return listed[0].price
    day, hour = _moment(at)
    return next((one.price for one in reversed(listed) if one.holds(day, hour)), listed[0].price)


def priced(story: Story) -> Story:
    """Return the story of a session with its approximate cost, by the list prices of its day."""
    return with_money(story, price_of, as_of())


@cache
def _table() -> dict[str, Any]:
    content = resources.files("penstock.models").joinpath("prices.json").read_text("utf-8")
    table: dict[str, Any] = json.loads(content)
    return table


class _ListedPrice(NamedTuple):
    """A price of a model and when it applies: always, from a day on, or at hours of each day."""

    price: Price
    start_date: date | None
    hours: tuple[time, time] | None

    def holds(self, day: date, hour: time | None) -> bool:
        if self.start_date is not None:
            return day >= self.start_date
        if self.hours is None:
            return True
        start, end = self.hours
        if hour is None:
            return False
        return start <= hour < end if start <= end else hour >= start or hour < end


@lru_cache(maxsize=64)
def _prices_of(model: str) -> tuple[_ListedPrice, ...]:
    """Return all prices of a model, whenever they apply; none if they are not known."""
    listed = next((found for name in _names(model) if (found := _listed(name)) is not None), [])
    return tuple(map(_listed_price, listed))


def _names(model: str) -> Iterator[str]:
    """Yield the forms of a name under which a maker may list the model, the most exact first."""
    name = model.strip().lower()
    # The free variants of a gateway cost nothing there, which is not a price of the maker's.
    if len(name) > _MAX_NAME_CHARS or name.endswith(":free"):
        return
    bare = re.sub(r"\A(?:[a-z]+(?:-[a-z]+)*\.)+(?=[a-z])", "", name.rpartition("/")[2])  # us.anthropic.claude-…
    plain = re.sub(r"(?:[\[:].*|-v\d+)\Z", "", bare)  # …[1m], …-v1:0, …:thinking
    compact = re.sub(r"-(20\d\d)(\d\d)(\d\d)\Z", r"-\1-\2-\3", plain)
    undated = re.sub(r"[-@]20\d\d-?\d\d-?\d\d\Z", "", plain)
    yield from dict.fromkeys((name, bare, plain, compact, undated))


def _listed(name: str) -> list[dict[str, Any]] | None:
    """Return the prices that are listed under a name; None if it is not listed.

    Only the first maker whose pattern matches the name is asked: the lists of two makers may match the same prefix.
    """
    for _, sign, models in _table()["makers"]:
        if re.search(sign, name):
            return next((listed for pattern, listed in models if re.search(pattern, name)), None)
    return None


def _listed_price(listed: dict[str, Any]) -> _ListedPrice:
    rates = {key: _rate(value) for key, value in listed.items() if key.endswith("_mtok")}
    given = rates["input_mtok"]
    written = rates.get("cache_write_mtok", given)
    price = Price(
        input=given,
        output=rates["output_mtok"],
        cache_read=rates.get("cache_read_mtok", given),
        cache_write=written,
        cache_write_hour=rates.get("cache_write_1h_mtok", written),
    )
    start_date = date.fromisoformat(listed["start_date"]) if "start_date" in listed else None
    times = tuple(time.fromisoformat(listed[key]) for key in ("start_time", "end_time") if key in listed)
    return _ListedPrice(price, start_date, (times[0], times[1]) if times else None)


def _moment(at: str) -> tuple[date, time | None]:
    try:
        moment = datetime.fromisoformat(at)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return date.fromisoformat(as_of()), None
    return moment.date(), moment.timetz()


def _rate(value: Any) -> Rate:
    if isinstance(value, list):
        return Rate(float(value[0]), tuple((int(above), float(dollars)) for above, dollars in value[1:]))
    return Rate(float(value))
