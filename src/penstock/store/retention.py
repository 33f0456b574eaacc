"""What is kept for how long? Rules by age, size and number, and the sessions and artifacts that exceed them.

Nothing is removed here: `overdue` is a pure function, and a dry run shows what it names. Law: what a living process works on is
never named. Leaves to others: removal itself (`removal`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Literal, TypeVar

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_N = TypeVar("_N", int, float)
DAY_SECONDS = 86_400.0
MAX_DAYS = 36_500
"""The most days that a rule takes, a hundred years: a date so far away is still printable."""
MAX_BYTES = 10**18
"""The most bytes that a rule takes, which a 64-bit integer of a database holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """Rules for what is kept in a store; each is off if it is None.

    Raises:
        CallerError: A number is not above 0.
    """

    max_days: float | None = None
    """What nobody has used for longer is removed."""
    max_bytes: int | None = None
    """What everything together may take: beyond it, the least recently used is removed."""
    max_sessions: int | None = None
    """How many sessions are kept: the most recently used."""

    def __post_init__(self) -> None:
        for value in (self.max_days, self.max_bytes, self.max_sessions):
            if value is not None and not value > 0:
                raise CallerError(f"A rule of retention is a number above 0, not {value!r}")

    def __bool__(self) -> bool:
        return (self.max_days, self.max_bytes, self.max_sessions) != (None, None, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """A session or an artifact that was removed, or would be."""

    what: Literal["session", "artifact"]
    name: str
    """The session, or the handle."""
    bytes: int
    """Bytes that are freed: for a session its journal, and the contents that nothing else leads to."""
    at: float
    """When a session was last used, in seconds since 1970; for an artifact, when it was made."""
    why: str = ""
    """The rule that it exceeds, in words."""
    named_by: tuple[str, ...] = ()
    """Sessions that refer to an artifact: what a model was shown of it is in their journals."""


def overdue(
    kept: Iterable[Removal],
    rules: Retention,
    *,
    now: float,
    used_bytes: int,
    idle_sessions: int,
    busy_sessions: int = 0,
    share: float = 1.0,
) -> list[Removal]:
    """Return what exceeds the rules, each with the rule that says so, least recently used first.

    Args:
        kept: Everything that may be removed, least recently used first: nothing that a living process works on, and no artifact
            that a session refers to. It is read only as far as needed, so it may be a lazy iterator.
        rules: What is kept.
        now: Seconds since 1970.
        used_bytes: What everything takes, including what may not be removed.
        idle_sessions: How many sessions may be removed.
        busy_sessions: How many sessions may not be removed. They count, but one more is kept in any case.
        share: If the size is exceeded, how much of the limit is left in use: below 1, the rule has nothing to do for a while.

    >>> old, new = (Removal(what="session", name=name, bytes=10, at=at) for name, at in (("a", 0.0), ("b", 9e6)))
    >>> rules = Retention(max_days=30)
    >>> [(one.name, one.why) for one in overdue([old, new], rules, now=9e6, used_bytes=20, idle_sessions=2)]
    [('a', 'unused for more than 30 days')]
    """
    oldest = iter(kept)
    since = -inf if rules.max_days is None else now - rules.max_days * DAY_SECONDS
    excess = 0 if rules.max_sessions is None else idle_sessions - max(1, rules.max_sessions - busy_sessions)
    left = used_bytes
    # Age and number take the oldest, so both rules end once a thing is young enough and there are few enough sessions.
    seen: list[Removal] = []
    for one in oldest:
        if one.at < since:
            seen.append(replace(one, why=f"unused for more than {rules.max_days:g} days"))
        elif one.what == "session" and excess > 0:
            seen.append(replace(one, why=f"more than {rules.max_sessions} sessions"))
        else:
            seen.append(one)
        excess -= one.what == "session"
        left -= one.bytes if seen[-1].why else 0
        if one.at >= since and excess <= 0:
            break
    most = inf if rules.max_bytes is None else rules.max_bytes
    wanted = most if left <= most else int(most * share)

    gone: list[Removal] = []
    for read, one in enumerate(chain(seen, oldest), 1):
        if one.why:
            gone.append(one)
        elif left > wanted:
            gone.append(replace(one, why=f"more than {rules.max_bytes} bytes"))
            left -= one.bytes
        if left <= wanted and read >= len(seen):  # what has not been read yet exceeds no rule
            break
    return gone


def default_retention(environment: Mapping[str, str] | None = None) -> Retention:
    """Return the rules of `PENSTOCK_STORE_KEEP_DAYS`, `PENSTOCK_STORE_KEEP_BYTES` and `PENSTOCK_STORE_KEEP_SESSIONS`.

    Args:
        environment: The variables to use; None for those of this process.

    Raises:
        CallerError: A variable's value is invalid for its rule.
    """
    environment = os.environ if environment is None else environment
    return Retention(
        max_days=number_in(environment, "PENSTOCK_STORE_KEEP_DAYS", float, MAX_DAYS),
        max_bytes=number_in(environment, "PENSTOCK_STORE_KEEP_BYTES", int, MAX_BYTES),
        max_sessions=number_in(environment, "PENSTOCK_STORE_KEEP_SESSIONS", int, 10**9),
    )


def number_in(environment: Mapping[str, str], variable: str, kind: type[_N], most: int) -> _N | None:
    """Return the number that a variable is set to; None if it is empty or not set.

    Raises:
        CallerError: It is not a number of this kind above 0, or exceeds `most`.
    """
    text = environment.get(variable)
    if not text:
        return None
    try:
        value = kind(text) if text.isascii() and "_" not in text else kind(0)
    except ValueError:
        value = kind(0)
    if not 0 < value <= most:
        what = "a whole number" if kind is int else "a number"
        raise CallerError(f"{variable} takes {what} above 0, at most {most}, not {text[:40]!r}")
    return value
