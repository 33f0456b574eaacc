"""How complex is the code: statements, decisions and nesting of each paragraph?

Decisions are IF, WHEN except OTHER, loops, condition phrases, and additional targets of GO TO DEPENDING; McCabe's
number is one more. AND and OR are not counted. Leaves to others: what the decisions decide (`rules`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..verbs import OPENING
from .code import BRANCHES, PHRASES, Node, is_inline, nests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .code import Code, ReadStatement

NO_STATEMENTS = frozenset({"COPY", "REPLACE"})
"""The entries that include or change source and are not executed."""


class Complexity(NamedTuple):
    """The measures of one paragraph: statements, decisions (complexity minus one) and deepest nesting."""

    statements: int
    decisions: int
    depth: int


def trees(code: Code) -> list[list[Node]]:
    """Return the statements of each paragraph as trees, by its key, without those of copybooks."""
    by: list[list[ReadStatement]] = [[] for _ in code.program.paragraphs]
    for said in code.own:
        if said.paragraph >= 0:
            by[said.paragraph].append(said)
    return [nests(said) for said in by]


def shape(nodes: Iterable[tuple[Node, int]]) -> Complexity:
    """Return the statements, decisions and depth of a paragraph, from its statements as `walk` gives them."""
    statements = decisions = deepest = 0
    for node, depth in nodes:
        said = node.said
        statements += said.verb not in NO_STATEMENTS
        nesting = said.verb in OPENING or (said.verb == "PERFORM" and is_inline(said.keys))
        deepest = max(deepest, depth + nesting)
        decisions += _decisions(said)
        for _, opener, _ in node.branches:
            if opener.verb == "WHEN":
                decisions += "OTHER" not in opener.keys[1:]
            elif opener.verb in PHRASES:
                decisions += 1
    return Complexity(statements, decisions, deepest)


def copied_statements(code: Code) -> int:
    """Return how many statements the program has from copybooks, counted as `shape` counts its own."""
    copied = (said.verb for said in code.said if said.copybook is not None)
    return sum(verb not in BRANCHES | NO_STATEMENTS and not verb.startswith("END-") for verb in copied)


def _decisions(said: ReadStatement) -> int:
    """Return the number of decisions of a statement itself, not counting its branches."""
    keys = said.keys
    if said.verb == "IF":
        return 1
    if said.verb == "PERFORM":
        return sum(word in {"UNTIL", "TIMES"} for word in keys)
    if said.verb == "GO TO" and "DEPENDING" in keys:
        # A GO TO with a single target decides nothing, so n targets are n - 1 decisions. TO may be omitted, and the section that
        # qualifies a target is not a target.
        before = keys[1 : keys.index("DEPENDING")]
        targets = len(before) - ("TO" in before) - 2 * sum(word in {"OF", "IN"} for word in before)
        return max(0, targets - 1)
    return 0
