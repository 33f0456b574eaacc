"""What did child agents do, and what did it cost? A row for each, read from the journal of their session (S-8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.agent.journal import children_of
from penstock.agent.purse import spending_of

if TYPE_CHECKING:
    from penstock.store import Store


class ChildFigures(NamedTuple):
    """One child agent in figures."""

    child: str
    description: str
    """The work that a child agent was given, in its parent's words."""
    outcome: str
    """How a child agent ended; `open` if it has not."""
    turns: int
    """Answers of its model."""
    spent_tokens: int
    granted_tokens: int
    files: int
    """How many files a child agent changed."""


class BudgetFigures(NamedTuple):
    """What all agents of a session may spend, and what they have."""

    granted_tokens: int
    spent_tokens: int
    left_tokens: int
    """Tokens that nobody has spent and no child holds."""


def child_figures(store: Store, session_id: str) -> list[ChildFigures]:
    """Return the child agents of a session in figures, in the order in which they were begun."""
    tree = spending_of(store, session_id)
    if tree is None:
        return []
    return [
        ChildFigures(
            child=kept.name,
            description=str(kept.begun["description"]),
            outcome="open" if kept.ended is None else str(kept.ended["outcome"]),
            turns=sum(name == "Replied" for name, _ in kept.rows),
            spent_tokens=tree.accounts[kept.name].spent_tokens,
            granted_tokens=tree.accounts[kept.name].granted_tokens,
            files=len(kept.changed),
        )
        for kept in children_of(store, session_id).values()
    ]


def budget_figures(store: Store, session_id: str) -> BudgetFigures | None:
    """Return what all agents of a session may spend and have spent; None if it has no budget."""
    tree = spending_of(store, session_id)
    if tree is None:
        return None
    return BudgetFigures(tree.accounts[tree.root].granted_tokens, tree.spent_tokens, tree.left(tree.root))
