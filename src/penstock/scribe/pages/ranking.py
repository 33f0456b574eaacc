"""What should be read first? Decisions are ranked by what they decide on, paragraphs by what depends on them.

A program has a hundred conditions, and most of them test for the end of a file or for a key that was pressed. Law: ranking adds and
drops nothing, and keeps the order of the source among equals. Leaves to others: which conditions there are (`cobol.facts`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json

RuleKind = Literal["computation", "decision", "plumbing"]
RULE_KINDS: tuple[RuleKind, ...] = ("computation", "decision", "plumbing")
"""The kinds in the order in which a reader wants them: what computes, what decides on business data, what only keeps it running."""

_COMPUTES = re.compile(r"\b(?:COMPUTE|ADD|SUBTRACT|MULTIPLY|DIVIDE)\b", re.IGNORECASE)
# Names of what a program tests to keep running: ends of files, states, switches, keys, counts of lines and pages, positions.
_PLUMBING = re.compile(
    r"^(?:EIB\w*|DFH\w*|SQL(?:CODE|STATE|ERR\w*|WARN\w*)|RETURN-CODE|TALLY|TRUE|FALSE)$"
    r"|(?:^|-)(?:EOF|EOJ|END|STATUS|STAT|STS|FS|SW|SWITCH|FLAG|FLG|IND|ERR|ERROR|RESP|RESP2|RC|REASON|ABEND|FIRST|LAST|OPEN|OPENED|CLOSED"
    r"|FOUND|MORE|DONE|LINE|LINES|PAGE|PAGES|CTR|COUNT|COUNTER|CNT|IX|IDX|INDEX|SUB|SUBSCRIPT|PTR|PCB|AID|KEY-PRESSED|CURSOR|COMMAREA"
    r"|MSG|MESSAGE|SPACES|LOW-VALUES|HIGH-VALUES)(?:-|$|\d)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NAME = re.compile(r"[A-Z][A-Z0-9-]*(?<!-)", re.IGNORECASE)
_WORDS = frozenset(
    {
        "AND", "OR", "NOT", "IF", "WHEN", "OTHER", "IS", "EQUAL",
        "EQUALS", "TO", "THAN", "GREATER", "LESS", "NUMERIC", "ALPHABETIC", "POSITIVE",
        "NEGATIVE", "ZERO", "ZEROS", "ZEROES", "ALSO", "THRU", "THROUGH", "OF",
        "IN", "ANY", "TRUE", "FALSE", "SPACE", "SPACES", "LOW-VALUE", "LOW-VALUES",
        "HIGH-VALUE", "HIGH-VALUES",
    }
)  # fmt: skip


def kind_of_rule(rule: Json) -> RuleKind:
    """Return what a rule of a document decides on: business data, with or without a computation, or the running of the program."""
    # A meaning belongs to a level 88: the item that it tests is what is decided on.
    if all(map(_is_of_plumbing, rule["conditions"])) and all(
        _is_plumbing(name) for one in rule["meanings"] for name in _names(one["meaning"])[:1]
    ):
        return "plumbing"
    return "computation" if any(map(_computes, rule["actions"])) else "decision"


def _names(text: str) -> list[str]:
    """Return the names in a condition, without quoted text."""
    return _NAME.findall(_QUOTED.sub(" ", text) if "'" in text or '"' in text else text)


@lru_cache(1 << 13)
def _computes(action: str) -> bool:
    """Return whether the action of a branch is a computation; actions recur as often as conditions."""
    return _COMPUTES.search(action) is not None


@lru_cache(1 << 13)
def _is_of_plumbing(condition: str) -> bool:
    """Return whether a condition names only plumbing; each rule is tested twice, for its page and for the estate's."""
    return all(name.upper() in _WORDS or _is_plumbing(name) for name in _names(condition))


@lru_cache(1 << 14)
def _is_plumbing(name: str) -> bool:
    return _PLUMBING.search(name) is not None


def ranked_rules(rules: Sequence[Json]) -> list[tuple[RuleKind, Json]]:
    """Return rules with their kinds, computations and decisions before plumbing."""
    found = [(kind_of_rule(rule), rule) for rule in rules]
    return sorted(found, key=lambda one: RULE_KINDS.index(one[0]))


class ParagraphWeight(NamedTuple):
    """How much depends on a paragraph: its complexity, and how many paragraphs reach it, directly or through others."""

    name: str
    line: int
    complexity: int
    reach: int


def weights(paragraphs: Sequence[Json]) -> list[ParagraphWeight]:
    """Return the weight of each paragraph of a program, in their order.

    Reach is counted over PERFORM, GO TO and falling through, by name: a name that occurs twice means both paragraphs.
    """
    places: dict[str, list[int]] = {}
    for at, item in enumerate(paragraphs):
        places.setdefault(item["paragraph_name"].upper(), []).append(at)
    before: list[set[int]] = [set() for _ in paragraphs]
    for at, item in enumerate(paragraphs):
        following = [*item["calls"], *item["jumps"], *([item["falls_into"]] if item["falls_into"] else [])]
        for name in following:
            for target in places.get(name.upper(), ()):
                before[target].add(at)
    return [
        ParagraphWeight(item["paragraph_name"], item["start_line"], item["complexity"], _reaching(before, at))
        for at, item in enumerate(paragraphs)
    ]


_MOST_REACHING = 200
"""A paragraph that so many reach is at the heart of a program; counting further would take quadratic time."""


def _reaching(before: Sequence[set[int]], at: int) -> int:
    seen: set[int] = set()
    stack = list(before[at])
    while stack and len(seen) < _MOST_REACHING:
        one = stack.pop()
        if one not in seen and one != at:
            seen.add(one)
            stack += before[one]
    return len(seen)
