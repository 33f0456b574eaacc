"""How large is the window really? What refusals reported, per provider, model and endpoint, for as long as it is worth believing.

A reported limit is a fact about one request: Vertex answered 4000 on a model of a million, Copilot's limit moved through four
values.
Law: only ever lowers the window that was configured; what is implausible is ignored. Keeps out: the clock, an argument.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from penstock.errors import CallerError

LIFETIME_SECONDS = 24 * 3600.0  # long enough for a session, short enough for a regional cap that was temporary
SMALLEST_TOKENS = (
    256  # below this it is a code or an index: one agent halved its window for good by taking an error code for a limit
)
MAX_ENTRIES = 200


class Learned(NamedTuple):
    """One limit and when it was reported."""

    provider: str
    model: str
    endpoint: str
    limit_tokens: int
    at_seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LearnedLimits:
    """Limits that were reported; a value, every change gives a new one."""

    entries: tuple[Learned, ...] = field(default=())
    lifetime_seconds: float = LIFETIME_SECONDS

    def observe(self, provider: str, model: str, endpoint: str, limit: int | None, at_seconds: float) -> Self:
        """With what a refusal reported. No limit, or one that cannot be a window, changes nothing."""
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
        """The window to plan with: the configured one, or the reported one where that is smaller and not yet expired."""
        for entry in self.entries:
            if entry[:3] == (provider, model, endpoint):
                expired = at_seconds is not None and at_seconds - entry.at_seconds >= self.lifetime_seconds
                return configured if expired else min(configured, entry.limit_tokens)
        return configured

    def to_json(self) -> str:
        """For the store."""
        return json.dumps(
            {"lifetime_seconds": self.lifetime_seconds, "entries": [entry._asdict() for entry in self.entries]}
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """What `to_json` wrote. Raises `CallerError` for anything else."""
        try:
            value = json.loads(text)
            entries = tuple(Learned(**entry) for entry in value["entries"])
            lifetime_seconds = float(value["lifetime_seconds"])
            for entry in entries:
                if (
                    not all(isinstance(part, str) for part in entry[:3])
                    or entry.limit_tokens < SMALLEST_TOKENS
                    or entry.at_seconds < 0
                ):
                    raise ValueError(f"{entry}")  # noqa: TRY301 - as any other damage
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise CallerError(f"These are no learned limits: {error}") from error
        return cls(entries=entries, lifetime_seconds=lifetime_seconds)
