"""Do regular expressions mean the same in every supported Python version?

Before 3.11.5 a possessive group whose last iteration fails half-way keeps what that iteration consumed (python/cpython#106052):
`(?:ab?c)*+` consumes the `a` of `ab`. Groups are atomic instead, `(?>(?:ab?c)*)`; a single character may be possessive, and so may
a group that cannot fail after its first repeat.
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
    """Return the parsed bodies of groups that older versions match wrongly."""
    if isinstance(expression, bytes):
        flags &= ~re.UNICODE
    return [str(body) for body in _bodies(parser.parse(expression, flags)) if not all(map(_is_safe, _ways(body)))]


def _bodies(parsed: Any) -> Iterator[Any]:
    """Yield what is repeated possessively, at any depth."""
    if isinstance(parsed, tuple) and len(parsed) == 2 and parsed[0] is ops.POSSESSIVE_REPEAT:
        yield list(parsed[1][2])
    if isinstance(parsed, tuple | list | parser.SubPattern):
        for inner in parsed:
            yield from _bodies(inner)


def _ways(body: list[Any]) -> list[list[Any]]:
    """Return the branches of a body, each a list of operations."""
    while len(body) == 1 and body[0][0] is ops.SUBPATTERN:
        body = list(body[0][1][-1])
    if len(body) == 1 and body[0][0] is ops.BRANCH:
        return [way for branch in body[0][1][1] for way in _ways(list(branch))]
    return [body]


def _is_safe(way: list[Any]) -> bool:
    """Return whether a branch is single characters, then only repeats of one character that cannot fail after they begin."""
    characters = list(takewhile(lambda part: part[0] in _CHARACTERS, way))
    return all(
        operation in _REPEATS
        and (not repeat[0] or (not characters and not place))
        and len(repeat[2]) == 1
        and repeat[2][0][0] in _CHARACTERS
        for place, (operation, repeat) in enumerate(way[len(characters) :])
    )


def _patterns() -> dict[str, re.Pattern[Any]]:
    """Return every expression in a module of ours, with those of the outline's languages compiled."""
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
            continue  # `__main__` runs, adapters need frameworks; none has an expression
        for name, value in vars(importlib.import_module(module.name)).items():
            look(f"{module.name}.{name}", value)
    return found


def test_no_group_is_possessive_where_older_versions_would_read_it_wrongly() -> None:
    """No expression in the package has a group that older versions match wrongly."""
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
    """Single characters, and groups that can fail only before they consume anything, are safe."""
    assert not _possessive_groups(right)
