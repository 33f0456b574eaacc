"""Expressions mean the same in every Python that we name.

Before 3.11.5 a possessive group whose last turn fails half-way keeps what that turn has read (python/cpython#106052):
`(?:a b?c)*+` takes `a` of `ab`. Groups are atomic instead, `(?>(?:a b?c)*)`; a single character may be possessive, and so may a
group that cannot fail behind its first repeat.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from itertools import takewhile
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.outline import braces
from penstock.outline.brace_rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHARACTERS = {ops.IN, ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.CATEGORY, ops.AT}
_REPEATS = {ops.MAX_REPEAT, ops.POSSESSIVE_REPEAT}


def _possessive_groups(expression: str | bytes, flags: int = 0) -> list[str]:
    """The bodies, as they are parsed, of groups that older versions read wrongly."""
    if isinstance(expression, bytes):
        flags &= ~re.UNICODE
    return [str(body) for body in _bodies(parser.parse(expression, flags)) if not all(map(_is_safe, _ways(body)))]


def _bodies(parsed: Any) -> Iterator[Any]:
    """What is repeated possessively, at any depth."""
    if isinstance(parsed, tuple) and len(parsed) == 2 and parsed[0] is ops.POSSESSIVE_REPEAT:
        yield list(parsed[1][2])
    if isinstance(parsed, tuple | list | parser.SubPattern):
        for inner in parsed:
            yield from _bodies(inner)


def _ways(body: list[Any]) -> list[list[Any]]:
    """The branches of a body, each a row of operations."""
    while len(body) == 1 and body[0][0] is ops.SUBPATTERN:
        body = list(body[0][1][-1])
    if len(body) == 1 and body[0][0] is ops.BRANCH:
        return [way for branch in body[0][1][1] for way in _ways(list(branch))]
    return [body]


def _is_safe(way: list[Any]) -> bool:
    """Characters, and behind them only repeats of a character that cannot fail there."""
    characters = list(takewhile(lambda part: part[0] in _CHARACTERS, way))
    return all(
        operation in _REPEATS
        and (not repeat[0] or (not characters and not place))
        and len(repeat[2]) == 1
        and repeat[2][0][0] in _CHARACTERS
        for place, (operation, repeat) in enumerate(way[len(characters) :])
    )


def _patterns() -> dict[str, re.Pattern[Any]]:
    """Every expression that a module of ours holds, those of the outline's languages compiled."""
    found: dict[str, re.Pattern[Any]] = {}

    def look(name: str, value: object) -> None:
        if isinstance(value, re.Pattern):
            found[f"{name}: {value.pattern!r}"] = value
        elif isinstance(value, dict):
            for key, inner in value.items():
                look(f"{name}[{key!r}]", inner)
        elif isinstance(value, tuple | list):
            for inner in value:
                look(name, inner)

    for language in RULES:
        braces.BraceScanner(language)
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if module.name.endswith("__main__") or module.name.startswith("penstock.adapters."):
            continue  # the one runs, the others need frameworks; none holds an expression
        for name, value in vars(importlib.import_module(module.name)).items():
            look(f"{module.name}.{name}", value)
    return found


def test_no_group_is_possessive_where_older_versions_would_read_it_wrongly() -> None:
    """All expressions of the package, from its modules."""
    patterns = _patterns()
    assert len(patterns) > 280
    assert [name for name, pattern in patterns.items() if _possessive_groups(pattern.pattern, pattern.flags)] == []


@pytest.mark.parametrize(
    "wrong",
    [r"(?:ab?c)*+", r"(?:a\s++b)?+", r"(?:[^=]++|=(?!=))*+", r"x(?:(?:bb|c)d)++", r"(?:\.\d++)*+", r"(?:'[^']*+')*+"],
)
def test_a_group_that_older_versions_read_wrongly_is_found(wrong: str) -> None:
    """The check can fail."""
    assert _possessive_groups(wrong)


@pytest.mark.parametrize(
    "right", [r"[ab]*+", r"(?:a|bc)*+", r"(?:a++|\\.)*+", r"(?>(?:ab?c)*)", r"(?:\.\d[^.]*+)*+", r"(?:'[^']*+'?+)*+"]
)
def test_what_every_version_reads_alike_may_stay(right: str) -> None:
    """Characters, and groups that fail before they have moved."""
    assert not _possessive_groups(right)
