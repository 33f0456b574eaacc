"""How far may a session go? Rungs of pressure by tokens and turns, errors and profiles, all as data.

The figures are those of a window of 128,000 tokens (S-2) and are scaled to any other. They are policy of a profile, not laws of
nature: `default` looks at tokens alone. Law: pressure never falls as tokens or turns grow. Keeps out: what is done about it.
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


class Pressure(enum.IntEnum):
    """How pressing it is, from nothing to do to a reset."""

    CALM = 0
    WATCH = 1
    COMPACT = 2
    COMPACT_HARD = 3
    HAND_OFF = 4
    RESET = 5


class Rung(NamedTuple):
    """A pressure, and from where on it holds: tokens of a window of 128,000, turns, or either; None is never."""

    pressure: Pressure
    tokens: int | None = None
    turns: int | None = None
    above: bool = False
    """Whether `tokens` has to be passed, not only reached."""


TOKEN_RUNGS = (
    Rung(Pressure.WATCH, 50_000),
    Rung(Pressure.COMPACT, 75_000),
    Rung(Pressure.COMPACT_HARD, 100_000),
    Rung(Pressure.HAND_OFF, 115_000),  # 115,000 of 128,000 where seeds say 90 % (behaviour.md, section 8)
    Rung(Pressure.RESET, 115_000, above=True),
)
TURN_RUNGS = (  # SWE-001: a warning with compression at 25, the soft limit at 30, the hard one at 50
    Rung(Pressure.COMPACT, turns=25),
    Rung(Pressure.HAND_OFF, turns=30),
    Rung(Pressure.RESET, turns=50),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorLimits:
    """How many failures are borne (S-11)."""

    row: int = 3
    """So many in a row escalate, and open the breaker; one more is a boundary."""
    total: int = 5
    """So many end the session,"""
    within_turns: int | None = None
    """those of the last so many turns; None counts all of a session."""
    cured_count: bool = True
    """Whether a failure that a retry cured counts."""
    cooldown_seconds: float = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """All that a session is held to. Immutable; `scaled` fits it to another window."""

    name: str = "default"
    window_tokens: int = REFERENCE_WINDOW_TOKENS
    reserve_tokens: int = 8_000
    rungs: tuple[Rung, ...] = TOKEN_RUNGS
    compress_share: float = 0.8
    """Compression starts above this share of the window, whatever the rungs say."""
    turns: tuple[int, int] | None = None
    """What a typical session of the profile takes; advice, no limit."""
    errors: ErrorLimits = field(default_factory=lambda: ErrorLimits(within_turns=20, cured_count=False))
    loop_advice: int = 3
    """The same call with the same result so often is told to the model;"""
    loop_end: int = 5
    """so often it ends the work."""
    domain_boundaries: bool = False
    """Whether a change of domain is a boundary; advisory signals (sessions.md 5.2)."""

    def __post_init__(self) -> None:
        if self.window_tokens < 1 or not 0 <= self.reserve_tokens < self.window_tokens:
            raise CallerError(
                f"a window of {self.window_tokens} tokens holds no reserve of {self.reserve_tokens}: "
                "the reserve is smaller than the window"
            )

    def pressure(self, tokens: int, turns: int) -> Pressure:
        """The highest rung that tokens or turns reach."""
        reached = [rung.pressure for rung in self.rungs if self._reaches(rung, tokens, turns)]
        if tokens > self.window_tokens * self.compress_share:
            reached.append(Pressure.COMPACT)
        return max(reached, default=Pressure.CALM)

    def _reaches(self, rung: Rung, tokens: int, turns: int) -> bool:
        if rung.turns is not None and turns >= rung.turns:
            return True
        return rung.tokens is not None and tokens >= self._least(rung)

    def from_tokens(self, pressure: Pressure) -> int:
        """From how many tokens on that pressure holds, by its rung or a higher one; the whole window where none names tokens."""
        found = [self._least(rung) for rung in self.rungs if rung.pressure >= pressure and rung.tokens is not None]
        return min(found, default=self.window_tokens)

    def _least(self, rung: Rung) -> int:
        limit = (rung.tokens or 0) * self.window_tokens
        return limit // REFERENCE_WINDOW_TOKENS + 1 if rung.above else -(-limit // REFERENCE_WINDOW_TOKENS)

    def scaled(self, window_tokens: int, reserve_tokens: int | None = None) -> Limits:
        """The same limits for another window; the reserve is at most a quarter of it."""
        reserve = self.reserve_tokens if reserve_tokens is None else reserve_tokens
        return replace(self, window_tokens=window_tokens, reserve_tokens=min(reserve, window_tokens // 4))

    def within(self, window_tokens: int | None) -> Limits:
        """The same limits for the window that a provider named, where it is smaller than what was believed."""
        if window_tokens is None or window_tokens >= self.window_tokens:
            return self
        return self.scaled(window_tokens)

    def to_dict(self) -> dict[str, Any]:
        """As JSON for the journal."""
        made = {known.name: getattr(self, known.name) for known in fields(self)}
        made["rungs"] = [{**rung._asdict(), "pressure": rung.pressure.name} for rung in self.rungs]
        made["errors"] = {known.name: getattr(self.errors, known.name) for known in fields(self.errors)}
        made["turns"] = None if self.turns is None else list(self.turns)
        return made


def limits_of(values: Mapping[str, Any], base: Limits | None = None) -> Limits:
    """Limits from a journal or a profile of `penstock.toml`; names that are left out are those of `base`.

    Raises `CallerError` for a name or a value that cannot be.
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
        raise CallerError(f"these are no limits: {error}") from error


def _rung(row: Mapping[str, Any]) -> Rung:
    """`{pressure = "COMPACT", turns = 25}`: what is left out is never, as TOML has no word for it."""
    if row.get("pressure") not in Pressure.__members__:
        raise ValueError(
            f"a rung has a pressure, one of {', '.join(Pressure.__members__)}, not {row.get('pressure')!r}"
        )
    rung = Rung(**{**row, "pressure": Pressure[row["pressure"]]})
    for number in (rung.tokens, rung.turns):
        if number is not None and (type(number) is not int or number < 0):
            raise ValueError(f"{number!r} in the rung {rung.pressure.name} is no whole number from 0 on")
    return rung


_KINDS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "int | None": (int, type(None)),
}
"""What may stand for a field, by the type that it is annotated with; `bool` is no number."""


def _checked(values: Mapping[str, Any], owner: type[Limits | ErrorLimits], what: str) -> dict[str, Any]:
    """The values by name, each of the kind that the field has, and no number below 0."""
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
"""The profiles of S-8, by name."""
