"""What has a provider revealed? Its limit and how it counts, for as long as that is worth believing (R-5).

A memory is a value for one provider, endpoint and model. The numbers in refusals and answers are kept as observations in
our own counts by kind (`context.provider_counts`), so that the next request is sized before it is sent. Law: learning
only ever lowers a window; what is implausible or older than its lifetime is not believed. Leaves to others: clocks and
stores (`Carrier`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.context.counts import CONTENT_KINDS, KindCounts
from penstock.context.provider_counts import Observation, stated
from penstock.overflow.learned import LIFETIME_SECONDS, SMALLEST_TOKENS

if TYPE_CHECKING:
    from penstock.context.recovery import Attempt

_MAX_OBSERVATIONS = 4
"""How many numbers are kept: decisions look at the newest two, the likelihood at all of them."""
# The share of our count of a request refused without a number: the next request has to be smaller than that one.
_SAFETY = 0.95
_NUMBERS = ("limit_tokens", "refused_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is known of how one provider counts."""

    limit_tokens: int | None = None
    """The smallest window that a refusal stated, in the provider's tokens."""
    refused_tokens: int | None = None
    """The smallest request that was refused without a number, in our tokens; nothing that large is sent again."""
    refused_at_seconds: float = 0.0
    """When the newest refusal came, whatever limit it stated, in seconds since 1970."""
    taken_tokens: int = 0
    """The largest input that an answer has reported, in the provider's tokens."""
    observations: tuple[Observation, ...] = ()
    """The newest numbers, oldest first."""

    def believed_at(self, now_seconds: float) -> Memory:
        """Return what is still believed at a time: limits are forgotten if no refusal has come for long."""
        # Answers confirm how a provider counts, but not its limit: a regional cap would outlast its end in a busy program.
        is_believed = now_seconds - self.refused_at_seconds < LIFETIME_SECONDS
        return self if is_believed else replace(self, limit_tokens=None, refused_tokens=None)

    def window(self, believed_tokens: int) -> int:
        """Return the window to plan with: the believed window, or the learned one if that is smaller."""
        known = [believed_tokens]
        if self.limit_tokens is not None:
            known.append(self.limit_tokens)
        if self.refused_tokens is not None:
            refused = int(self.refused_tokens * _SAFETY)
            if not self.observations:
                known.append(refused)
            # Answers show how the provider counts, and a refusal without a number shows what it does not take. For a provider
            # that never names its limit (OpenAI's streams), nothing more will ever be known. What it took once, it takes again.
            # A stated limit says more.
            elif self.limit_tokens is None:
                seen = self.observations[-1]
                share = seen.stated_tokens / max(1, seen.counts.total)
                known.append(max(self.taken_tokens, int(refused * share)))
        return min(known)

    def never_refused(self, believed_tokens: int) -> int:
        """Return the size below which no request is known to have been refused, in our tokens or the provider's, if smaller."""
        return min(self.window(believed_tokens), self.refused_tokens or believed_tokens)

    def refused(self, attempt: Attempt) -> Memory:
        """Return the memory after a refusal."""
        limit = attempt.limit_tokens
        # If the provider keeps the conversation, the size says nothing about the request itself; only the limit counts.
        seen = attempt.observation() if attempt.is_whole else None
        if limit is None and not attempt.is_whole:
            return self
        # An observation without a limit cannot size the next request; only the size that was too large is kept.
        if limit is None:
            total = attempt.sized.counts.total
            return replace(self, refused_tokens=min(total, self.refused_tokens or total))
        smallest = min(limit, self.limit_tokens or limit)
        # Only stated numbers are kept: a bound ("more than the limit") adds little to the limit itself.
        observations = self._with(seen) if seen is not None and seen.is_stated else self.observations
        return replace(self, limit_tokens=smallest, observations=observations)

    def answered(self, counts: KindCounts, reported_tokens: int) -> Memory:
        """Return the memory after an answer that reported its input."""
        return replace(self.took(reported_tokens), observations=self._with(stated(counts, reported_tokens)))

    def took(self, reported_tokens: int) -> Memory:
        """Return the memory after an answer that reported its input, ignoring how our own count compares with it."""
        return replace(self, taken_tokens=max(self.taken_tokens, reported_tokens))

    def _with(self, seen: Observation) -> tuple[Observation, ...]:
        """Return the observations with one more, dropping the oldest if there are too many."""
        return (*self.observations[-(_MAX_OBSERVATIONS - 1) :], seen)

    def to_json(self) -> str:
        """Return the memory as JSON, for a store; `memory_of` restores it up to rounding."""
        rows = [
            {"tokens": seen.counts.tokens, "messages": seen.counts.messages, "stated": round(seen.stated_tokens)}
            for seen in self.observations
        ]
        known = {name: getattr(self, name) for name in (*_NUMBERS, "refused_at_seconds", "taken_tokens")}
        return json.dumps({**known, "kinds": CONTENT_KINDS, "observations": rows})


def memory_of(text: str) -> Memory:
    """Return the memory that `to_json` wrote; an empty one if the text is of another version or not such a text."""
    try:
        value = json.loads(text)
        # Counts are stored by position, so they mean nothing if the kinds differ: another version wrote them.
        if tuple(value["kinds"]) != CONTENT_KINDS:
            return Memory()
        rows = tuple(
            stated(KindCounts(tuple(map(int, row["tokens"])), int(row["messages"])), int(row["stated"]))
            for row in value["observations"]
        )
        numbers, taken = [value[name] for name in _NUMBERS], value.get("taken_tokens", 0)
        refused_at = float(value.get("refused_at_seconds", 0))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
        return Memory()
    if not all(number is None or (type(number) is int and number >= SMALLEST_TOKENS) for number in numbers):
        return Memory()
    if type(taken) is not int or taken < 0:
        return Memory()
    return Memory(
        limit_tokens=numbers[0],
        refused_tokens=numbers[1],
        refused_at_seconds=refused_at,
        taken_tokens=taken,
        observations=rows,
    )
