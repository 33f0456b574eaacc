"""How large is the window really? What refusals reported, per provider, model and endpoint, for as long as it is worth believing.

A reported limit is a fact about one request: Vertex answered 4000 on a model of a million, Copilot's limit moved through four
values. So it is kept under everything that it may depend on, and only for a time.

Laws: it only ever lowers the configured window; what is implausible is ignored; every change gives a new value. Leaves to others:
the clock, which is an argument, and where the value is kept (`to_json` is for any store).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from penstock.errors import CallerError

# Long enough for a session, short enough for a temporary regional cap.
LIFETIME_SECONDS = 24 * 3600.0
"""How long a reported limit is believed, unless a `LearnedLimits` says otherwise: a day."""
# A smaller number is a code or an index: one agent halved its window for good by taking an error code for a limit.
SMALLEST_TOKENS = 256
"""The smallest number, in tokens, that is believed to be a window; smaller ones are ignored."""
MAX_ENTRIES = 200
"""How many limits are kept; the one observed longest ago goes first."""


class Learned(NamedTuple):
    """One reported limit, what it was reported for, and when."""

    provider: str
    model: str
    endpoint: str
    """Where the model runs, a region or a base URL: the same model has other limits elsewhere."""
    limit_tokens: int
    at_seconds: float
    """When a limit was reported, on the caller's clock."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LearnedLimits:
    """Windows that refusals reported, per provider, model and endpoint: a value that is never changed, only replaced.

    >>> limits = LearnedLimits().observe("vertex", "gemini", "eu", 65536, at_seconds=0.0)
    >>> limits.window("vertex", "gemini", "eu", 1_048_576)
    65536
    """

    entries: tuple[Learned, ...] = field(default=())
    """The newest report of each provider, model and endpoint, oldest first."""
    lifetime_seconds: float = LIFETIME_SECONDS
    """How long a report counts."""

    def observe(self, provider: str, model: str, endpoint: str, limit: int | None, at_seconds: float) -> Self:
        """Return these limits with one more report, which replaces the earlier one for the same place.

        Args:
            provider: who refused, in any consistent spelling.
            model: the model that was asked.
            endpoint: where it runs.
            limit: the limit in tokens as in `Overflow.limit`. None, or one that cannot be a window, changes nothing.
            at_seconds: now, on the caller's clock; reports older than the lifetime are dropped.
        """
        if limit is None or isinstance(limit, bool) or limit < SMALLEST_TOKENS:
            return self
        key = (provider, model, endpoint)
        kept = tuple(
            entry
            for entry in self.entries
            if entry[:3] != key and at_seconds - entry.at_seconds < self.lifetime_seconds
        )
        newest = Learned(*key, limit_tokens=int(limit), at_seconds=float(at_seconds))
        return type(self)(entries=(*kept[-(MAX_ENTRIES - 1) :], newest), lifetime_seconds=self.lifetime_seconds)

    def window(self, provider: str, model: str, endpoint: str, configured: int, at_seconds: float | None = None) -> int:
        """Return the window to plan with: the configured one, or the reported one if that is smaller and not yet expired.

        Args:
            provider: who is to be asked, spelt as for `observe`.
            model: the model that is to be asked.
            endpoint: where it runs.
            configured: the window in tokens that the caller believes in; the answer is never above it.
            at_seconds: now, on the clock of `observe`; None believes every report, however old.
        """
        for entry in self.entries:
            if entry[:3] == (provider, model, endpoint):
                expired = at_seconds is not None and at_seconds - entry.at_seconds >= self.lifetime_seconds
                return configured if expired else min(configured, entry.limit_tokens)
        return configured

    def to_json(self) -> str:
        """Return these limits as JSON text for a store; `from_json` reads it back to an equal value."""
        return json.dumps(
            {"lifetime_seconds": self.lifetime_seconds, "entries": [entry._asdict() for entry in self.entries]}
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the limits that `to_json` wrote.

        Raises:
            CallerError: for any other text. A damaged store is reported instead of being read as a wrong window.
        """
        try:
            value = json.loads(text)
            entries = tuple(Learned(**entry) for entry in value["entries"])
            lifetime_seconds = float(value["lifetime_seconds"])
            # Python does not check the types of a NamedTuple: JSON with a number for a provider would be read, and never match.
            for entry in entries:
                if (
                    not all(isinstance(part, str) for part in entry[:3])
                    or entry.limit_tokens < SMALLEST_TOKENS
                    or entry.at_seconds < 0
                ):
                    raise ValueError(f"{entry}")  # noqa: TRY301 - as any other damage
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CallerError(f"These are not learned limits: {error}") from error
        return cls(entries=entries, lifetime_seconds=lifetime_seconds)
