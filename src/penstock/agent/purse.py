"""What may an agent spend? Its account in the tree of budgets that all agents of a session share, kept in the journal (S-8).

The most that a call can take is committed before the call, and the unused part is returned after it. So a kill in between counts
too much and never too little. Law: what the accounts have spent is never more than was granted. Leaves to others: the tree
itself (`session.budgets`), and what a request takes at most (`asking`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.agent.record_types import SPENDING
from penstock.session.budgets import Spending, change_of, replay

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.session.budgets import Account
    from penstock.store import Store
    from penstock.text.json_access import Json


class _Book:
    """The present tree; each change is recorded before it is applied."""

    def __init__(self, tree: Spending, record: Callable[[str, dict[str, Json]], None]) -> None:
        self.tree, self._record = tree, record

    def change(self, tree: Spending) -> None:
        self._record(SPENDING, tree.latest.to_dict())
        self.tree = tree


class Purse:
    """The account of one agent. `open_purse` begins a tree, `purse_of` continues one."""

    def __init__(self, book: _Book, name: str) -> None:
        self._book, self.name = book, name

    @property
    def account(self) -> Account:
        """What was granted, spent and reserved, as it is now."""
        return self._book.tree.accounts[self.name]

    @property
    def left_tokens(self) -> int:
        """Tokens that may still be spent."""
        return self.account.left_tokens

    @property
    def tree(self) -> Spending:
        """The accounts of all agents."""
        return self._book.tree

    def take(self, tokens: int) -> None:
        """Commit the most that a call can take, before it is made.

        Args:
            tokens: how many; no more than are left.
        """
        self._book.change(self._book.tree.commit(self.name, tokens))

    def settle(self, taken_tokens: int, used_tokens: int) -> None:
        """Give back what a call did not take; or commit what it took beyond, as far as tokens are left.

        Args:
            taken_tokens: what was committed before it.
            used_tokens: what it took.
        """
        if used_tokens < taken_tokens:
            self._book.change(self._book.tree.refund(self.name, taken_tokens - used_tokens))
        # A provider that counts more than all our counters may have exceeded it: the account is then empty, and its parent pays.
        name: str | None = self.name
        beyond = max(0, used_tokens - taken_tokens)
        while beyond and name is not None:
            pays = min(beyond, self._book.tree.left(name))
            if pays:
                self._book.change(self._book.tree.commit(name, pays))
            beyond, name = beyond - pays, self._book.tree.accounts[name].parent

    def grant(self, tokens: int) -> None:
        """Put more tokens, granted by a person, into the tree's root."""
        self._book.change(self._book.tree.grant(tokens))

    def for_child(self, tokens: int) -> Purse:
        """Return the purse of a new child agent, filled from this one; `release` gives back what it leaves.

        Args:
            tokens: how many; no more than are left.
        """
        # The root is the first account, so the first child is number 1. Closed ones stay in the tree: a name is used only once.
        name = f"task-{len(self._book.tree.accounts)}"
        self._book.change(self._book.tree.reserve(self.name, name, tokens))
        return Purse(self._book, name)

    def of(self, name: str) -> Purse:
        """Return the purse of an existing child."""
        return Purse(self._book, name)

    def release(self) -> None:
        """Give what is left back to the parent; do nothing if that was done."""
        if self.account.is_open:
            self._book.change(self._book.tree.release(self.name))

    def release_children(self) -> None:
        """Give back what children that no longer work still hold: for when this agent itself continues."""
        if self._book.tree.children(self.name):
            self._book.change(self._book.tree.released_orphans())


def open_purse(name: str, tokens: int, record: Callable[[str, dict[str, Json]], None]) -> Purse:
    """Return the purse of a session's own agent, and record its content.

    Args:
        name: the account: the id of the session.
        tokens: what it and all its children may spend.
        record: writes a record other than an event.
    """
    tree = Spending.opened(name, tokens)
    record(SPENDING, tree.latest.to_dict())
    return Purse(_Book(tree, record), name)


def purse_of(store: Store, session_id: str, record: Callable[[str, dict[str, Json]], None]) -> Purse | None:
    """Return the purse of a session's own agent as its journal has it; None for a session without a budget.

    Args:
        store: where the journal is.
        session_id: the session.
        record: writes a record other than an event.
    """
    tree = spending_of(store, session_id)
    return None if tree is None else Purse(_Book(tree, record), tree.root)


def spending_of(store: Store, session_id: str) -> Spending | None:
    """Return what the agents of a session were granted and have spent; None for a session without a budget."""
    if SPENDING not in store.record_types(session_id):  # record types are read without their data
        return None
    rows: list[Any] = [record.data for record in store.events(session_id) if record.type == SPENDING]
    return replay(map(change_of, rows))
