"""How far may a session go? Rungs of pressure by tokens and turns, failures and profiles, all as data (S-1, S-2, S-8, S-11).

The figures are for a window of 128,000 tokens and are scaled to any other. They are policy of a profile, not laws of nature:
`default` looks at tokens alone. Law: pressure never falls as tokens or turns grow. Leaves to others: how to act on it.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE_WINDOW_TOKENS = 128_000
"""The window that the token figures of every rung refer to."""


class Pressure(enum.IntEnum):
    """How urgent it is to shrink a session's context, from nothing to do to a reset; ordered, so that two can be compared."""

    CALM = 0
    WATCH = enum.auto()
    """Only reported; nothing is done."""
    COMPACT = enum.auto()
    """Old results are compacted, if that frees a good part."""
    COMPACT_HARD = enum.auto()
    """Compaction no longer pauses after the previous one."""
    HAND_OFF = enum.auto()
    """What compaction cannot free is handed off; by turns, at the next prompt of the user."""
    RESET = enum.auto()
    """A fresh start: by turns even in the middle of the work; by tokens it acts like `HAND_OFF`."""


class Rung(NamedTuple):
    """A pressure, and the tokens, turns, or either from which it applies."""

    pressure: Pressure
    tokens: int | None = None
    """The number of tokens, in a window of 128,000, from which the pressure applies; None means never."""
    turns: int | None = None
    """The number of model calls since the last fresh start from which the pressure applies; None means never."""
    above: bool = False
    """Whether `tokens` must be exceeded, not only reached."""


TOKEN_RUNGS = (
    Rung(Pressure.WATCH, 50_000),
    Rung(Pressure.COMPACT, 75_000),
    Rung(Pressure.COMPACT_HARD, 100_000),
    # 115,000 of 128,000, not the rounder 90 %, which would be 115,200.
    Rung(Pressure.HAND_OFF, 115_000),
    Rung(Pressure.RESET, 115_000, above=True),
)
"""The rungs by tokens, for every profile without its own (S-2)."""
# 25 warns and begins compression, 30 is the soft limit, 50 the hard one (S-1).
TURN_RUNGS = (
    Rung(Pressure.COMPACT, turns=25),
    Rung(Pressure.HAND_OFF, turns=30),
    Rung(Pressure.RESET, turns=50),
)
"""The rungs by turns, for profiles that count them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorLimits:
    """How many failures a session tolerates (S-11)."""

    row: int = 3
    """How many failures in a row escalate and open the breaker; one more is a boundary."""
    total: int = 5
    """How many failures that count end the session."""
    within_turns: int | None = None
    """Only failures within this many recent turns count for the total; None counts all of a session."""
    cured_count: bool = True
    """Whether a failure that a retry cured counts for the total."""
    cooldown_seconds: float = 60.0
    """How long the breaker stays open before one probe may be sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """All the limits of a session. `scaled` fits them to another window.

    Raises:
        CallerError: for a reserve that is not smaller than the window.
    """

    name: str = "default"
    window_tokens: int = REFERENCE_WINDOW_TOKENS
    """What the model accepts, request and reply together."""
    reserve_tokens: int = 8_000
    """The part of the window that is kept for the reply."""
    rungs: tuple[Rung, ...] = TOKEN_RUNGS
    """Rungs of pressure, in any order; the highest one reached applies."""
    compress_share: float = 0.8
    """Compression starts above this share of the window, whatever the rungs say."""
    turns: tuple[int, int] | None = None
    """How many turns a typical session of the profile takes, from and to; advice, not a limit. None if it says nothing."""
    errors: ErrorLimits = field(default_factory=lambda: ErrorLimits(within_turns=20, cured_count=False))
    """How many failures are tolerated."""
    loop_advice: int = 3
    """How often a call gives the same result before the model is told."""
    loop_end: int = 5
    """How often a call may give the same result, with nothing new in between, before the work ends."""
    domain_boundaries: bool = False
    """Whether a change of domain is a boundary; its signal is advisory (`session.domains`)."""

    def __post_init__(self) -> None:
        if not 0 <= self.reserve_tokens < self.window_tokens:
            raise CallerError(
                f"a window of {self.window_tokens} tokens holds no reserve of {self.reserve_tokens}: "
                "the reserve is smaller than the window"
            )

    def pressure(self, tokens: int, turns: int) -> Pressure:
        """Return the highest rung that tokens or turns reach.

        Args:
            tokens: what the next request takes, in a window of `window_tokens`.
            turns: model calls since the last fresh start.
        """
        reached = [rung.pressure for rung in self.rungs if self._reaches(rung, tokens, turns)]
        if tokens > self.window_tokens * self.compress_share:
            reached.append(Pressure.COMPACT)
        return max(reached, default=Pressure.CALM)

    def _reaches(self, rung: Rung, tokens: int, turns: int) -> bool:
        """Whether a rung applies at these tokens or these turns."""
        if rung.turns is not None and turns >= rung.turns:
            return True
        return rung.tokens is not None and tokens >= self._least(rung)

    def from_tokens(self, pressure: Pressure) -> int:
        """Return the tokens from which a pressure applies, by its rung or a higher one; the whole window if none names tokens."""
        found = [self._least(rung) for rung in self.rungs if rung.pressure >= pressure and rung.tokens is not None]
        return min(found, default=self.window_tokens)

    def _least(self, rung: Rung) -> int:
        """Return the fewest tokens of this window that reach a rung."""
        limit = (rung.tokens or 0) * self.window_tokens
        # In whole numbers: with a float the share could be off by one token at the rung. Reached means the share rounded up,
        # exceeded the next whole number above it.
        return limit // REFERENCE_WINDOW_TOKENS + 1 if rung.above else -(-limit // REFERENCE_WINDOW_TOKENS)

    def scaled(self, window_tokens: int, reserve_tokens: int | None = None) -> Limits:
        """Return the same limits for another window; the reserve is at most a quarter of it.

        Args:
            window_tokens: the window to scale to.
            reserve_tokens: what to keep for the reply; None keeps the configured reserve.
        """
        reserve = self.reserve_tokens if reserve_tokens is None else reserve_tokens
        return replace(self, window_tokens=window_tokens, reserve_tokens=min(reserve, window_tokens // 4))

    def within(self, window_tokens: int | None) -> Limits:
        """Return the limits for a window that a provider named, if it is smaller than the assumed one; else the same limits."""
        if window_tokens is None or window_tokens >= self.window_tokens:
            return self
        return self.scaled(window_tokens)

    def to_dict(self) -> dict[str, Any]:
        """Return the limits as JSON, for the journal; `limits_of` restores equal ones."""
        made = {known.name: getattr(self, known.name) for known in fields(self)}
        made["rungs"] = [{**rung._asdict(), "pressure": rung.pressure.name} for rung in self.rungs]
        made["errors"] = {known.name: getattr(self.errors, known.name) for known in fields(self.errors)}
        made["turns"] = None if self.turns is None else list(self.turns)
        return made


def limits_of(values: Mapping[str, Any], base: Limits | None = None) -> Limits:
    """Return limits from a journal or from a profile of `penstock.toml`.

    Args:
        values: fields of `Limits` by name; `rungs` and `errors` as tables.
        base: where names that are left out come from; None is the profile `default`.

    Raises:
        CallerError: for an unknown name or an impossible value; the author of the profile has to act.
    """
    base = base or PROFILES["default"]
    made = _checked(values, Limits, "limit")
    try:
        if "rungs" in made:
            made["rungs"] = tuple(_rung(row) for row in made["rungs"])
        if "errors" in made:
            made["errors"] = replace(base.errors, **_checked(made["errors"], ErrorLimits, "limit of errors"))
        if made.get("turns") is not None:
            least, most = made["turns"]
            made["turns"] = (int(least), int(most))
        return replace(base, **made)
    except (AttributeError, TypeError, ValueError) as error:
        raise CallerError(f"these are not limits: {error}") from error


def _rung(row: Mapping[str, Any]) -> Rung:
    """Return a rung from a table like `{pressure = "COMPACT", turns = 25}`; a missing number means never, as TOML has no word
    for it.
    """
    if row.get("pressure") not in Pressure.__members__:
        raise ValueError(
            f"a rung has a pressure, one of {', '.join(Pressure.__members__)}, not {row.get('pressure')!r}"
        )
    rung = Rung(**{**row, "pressure": Pressure[row["pressure"]]})
    for number in (rung.tokens, rung.turns):
        if number is not None and (type(number) is not int or number < 0):
            raise ValueError(f"{number!r} in the rung {rung.pressure.name} is not a whole number from 0 on")
    return rung


_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "int | None": (int, type(None)),
}
"""Types that each annotated field accepts. Types are compared exactly, so that `true` is not a number."""


def _checked(values: Mapping[str, Any], owner: type[Limits | ErrorLimits], what: str) -> dict[str, Any]:
    """Return the values by name, each of the field's type, and no number below 0."""
    known = {known.name: str(known.type) for known in fields(owner)}
    for name, value in values.items():
        if name not in known:
            raise CallerError(f"{name!r} is no {what}; there are {', '.join(sorted(known))}")
        kinds = _KINDS.get(known[name], (type(value),))
        if type(value) not in kinds or (type(value) in {int, float} and not 0 <= value < math.inf):
            least = " from 0 on" if int in kinds else ""
            raise CallerError(f"{name} takes {known[name]}{least}, not {value!r}")
    return dict(values)


_SEED = Limits(name="swe-1.5", rungs=(*TOKEN_RUNGS, *TURN_RUNGS), errors=ErrorLimits(), turns=(25, 50))
PROFILES: dict[str, Limits] = {
    "default": Limits(),
    "swe-1.5": _SEED,
    "WindFixer": replace(_SEED, name="WindFixer", turns=(30, 50)),
    "OpenFixer": replace(_SEED, name="OpenFixer", turns=(20, 30)),
    "Strategist": replace(_SEED, name="Strategist", window_tokens=64_000, turns=(10, 20)),
    "Oracle": replace(_SEED, name="Oracle", window_tokens=32_000, turns=(5, 10)),
}
"""The profiles that come with the product, by name (S-8). `default` counts tokens alone; all others count turns too."""
