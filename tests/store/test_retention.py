"""Which things exceed the rules? Each rule applies exactly, next to what must stay, and reads no more than it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError
from penstock.store.retention import Removal, Retention, default_retention, overdue

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.proves("S-17")
DAY = 86_400.0
OLD, MANY, LARGE = "unused for more than 1 days", "more than 2 sessions", "more than 20 bytes"


def things(names: str) -> list[Removal]:
    """Return one thing of 10 bytes for each letter and day, the last one today; a capital letter is a session."""
    return [
        Removal(what="session" if name.isupper() else "artifact", name=name, bytes=10, at=at * DAY)
        for at, name in enumerate(names, 1 - len(names))
    ]


def gone(names: str, *, busy: int = 0, used: int | None = None, share: float = 1.0, **rules: Any) -> dict[str, str]:
    """Return what is removed, and why."""
    found = overdue(
        things(names),
        Retention(**rules),
        now=0.0,
        used_bytes=10 * len(names) if used is None else used,
        idle_sessions=sum(name.isupper() for name in names),
        busy_sessions=busy,
        share=share,
    )
    return {one.name: one.why for one in found}


@pytest.mark.parametrize(
    ("names", "more", "expected"),
    [
        ("", {"max_days": 1}, {}),
        ("Abc", {}, {}),
        # Something used exactly one day ago stays, sessions and artifacts alike.
        ("AbC", {"max_days": 1}, {"A": OLD}),
        ("aBc", {"max_days": 1}, {"a": OLD}),
        ("AB", {"max_days": 1}, {}),
        # Only sessions are counted; the youngest stay, and one stays whatever else is running.
        ("AB", {"max_sessions": 2}, {}),
        ("ABC", {"max_sessions": 2}, {"A": MANY}),
        ("abAcBdC", {"max_sessions": 2}, {"A": MANY}),
        ("ABC", {"max_sessions": 2, "busy": 1}, {"A": MANY, "B": MANY}),
        ("ABC", {"max_sessions": 2, "busy": 9}, {"A": MANY, "B": MANY}),
        ("A", {"max_sessions": 2, "busy": 9}, {}),
        # A thing that exceeds two rules is reported for the first, and counts for both.
        ("ABCD", {"max_days": 1, "max_sessions": 2}, {"A": OLD, "B": OLD}),
        ("ABC", {"max_days": 1, "max_sessions": 2}, {"A": OLD}),
        # The oldest is removed until the rest fits; what must stay counts.
        ("ab", {"max_bytes": 20}, {}),
        ("abc", {"max_bytes": 20}, {"a": LARGE}),
        ("ab", {"max_bytes": 20, "used": 21}, {"a": LARGE}),
        ("ab", {"max_bytes": 20, "used": 31}, {"a": LARGE, "b": LARGE}),
        ("ab", {"max_bytes": 20, "used": 99}, {"a": LARGE, "b": LARGE}),
        ("aBc", {"max_bytes": 20}, {"a": LARGE}),
        # Removals by another rule make room for this one.
        ("abcd", {"max_bytes": 20, "max_days": 1}, {"a": OLD, "b": OLD}),
        ("abcd", {"max_bytes": 20, "max_days": 2}, {"a": "unused for more than 2 days", "b": LARGE}),
        ("aABC", {"max_bytes": 20, "max_sessions": 2}, {"a": LARGE, "A": MANY}),
        ("aABC", {"max_bytes": 30, "max_sessions": 2}, {"A": MANY}),
        # If there is too much, a share of the limit is left; else nothing is removed.
        ("ab", {"max_bytes": 20, "share": 0.5}, {}),
        ("abc", {"max_bytes": 20, "share": 0.5}, {"a": LARGE, "b": LARGE}),
        ("abc", {"max_bytes": 20, "share": 0.45}, {"a": LARGE, "b": LARGE, "c": LARGE}),
        ("abc", {"max_bytes": 20, "share": 0.5, "max_days": 1}, {"a": OLD}),
    ],
)
def test_each_rule_takes_what_is_beyond_it_and_no_more(
    names: str, more: dict[str, Any], expected: dict[str, str]
) -> None:
    """Rules are exact to a second, a session and a byte."""
    assert gone(names, **more) == expected


@pytest.mark.parametrize(
    ("rules", "used", "read"),
    [
        ({}, 90, 1),
        ({"max_days": 7}, 90, 2),
        ({"max_sessions": 7}, 90, 2),
        ({"max_days": 7, "max_sessions": 3}, 90, 6),
        ({"max_bytes": 90}, 90, 1),
        ({"max_bytes": 70}, 90, 2),
        ({"max_bytes": 70, "max_days": 7}, 90, 2),
    ],
)
def test_what_stays_is_not_looked_at(rules: dict[str, Any], used: int, read: int) -> None:
    """Only the first of it is: finding the size of a session takes a search each."""
    seen: list[str] = []

    def kept() -> Iterator[Removal]:
        for one in things("ABCDEFGHI"):
            seen.append(one.name)
            yield one

    overdue(kept(), Retention(**rules), now=0.0, used_bytes=used, idle_sessions=9)
    assert len(seen) == read


@pytest.mark.parametrize("rule", ["max_days", "max_bytes", "max_sessions"])
def test_a_rule_is_a_number_above_0(rule: str) -> None:
    """Without numbers there are no rules."""
    for wrong in (0, -1, float("nan")):
        values: dict[str, Any] = {rule: wrong}
        with pytest.raises(CallerError, match="above 0"):
            Retention(**values)
    values = {rule: 1}
    assert Retention(**values)
    assert not Retention()


@pytest.mark.parametrize(
    ("variable", "sound", "wrong"),
    [
        ("PENSTOCK_STORE_KEEP_DAYS", {"0.5": 0.5, "36500": 36_500, "1e2": 100}, ["0", "-1", "36501", "nan", "inf", "1_0"]),
        ("PENSTOCK_STORE_KEEP_BYTES", {"1": 1, str(10**18): 10**18}, ["0", str(10**18 + 1), "1.5", " ", "1_0", "\u0661"]),
        ("PENSTOCK_STORE_KEEP_SESSIONS", {"1": 1, str(10**9): 10**9}, ["0", str(10**9 + 1), "many", "-3"]),
    ],
)  # fmt: skip
def test_what_the_environment_says_is_a_rule_or_is_refused(
    variable: str, sound: dict[str, Any], wrong: list[str]
) -> None:
    """The error has the bound, and what the variable accepts."""
    rule = f"max_{variable.rpartition('_')[2].lower()}"
    for text, value in sound.items():
        assert default_retention({variable: text}) == Retention(**{rule: value})
    for text in wrong:
        with pytest.raises(CallerError, match=f"{variable} takes a .*number above 0, at most {[*sound][1]}, not "):
            default_retention({variable: text})
    whole = "a number" if rule == "max_days" else "a whole number"
    with pytest.raises(CallerError, match=rf"takes {whole} above 0, at most \d+, not '{'9' * 40}'$"):
        default_retention({variable: "9" * 41})
    assert default_retention({}) == Retention()
