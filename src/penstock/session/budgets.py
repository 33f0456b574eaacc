"""Who may spend how many tokens? A tree of budgets: a child reserves from its parent and gives back what it did not use (S-8).

A tree is a value. Every operation gives a new one, whose `latest` is the change that made it: JSON for a journal, from which
`replay` builds an equal tree. A tree has no lock and needs none: who holds it does one thing after the other.
Laws: no account has more spent and reserved than it was granted, whatever the order of operations; all together never spend more
than the tree was opened with; an operation that cannot be is an error that changes nothing.
Keeps out: who runs the children, journals, and how tokens are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["opened", "reserved", "committed", "released", "released_orphans", "closed"]
_KINDS: tuple[Kind, ...] = get_args(Kind)
_COUNTED = frozenset({"opened", "reserved", "committed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChange:
    """One operation, for a journal: what was done, to which account, and how many tokens it was about.

    `opened` is the first of a tree; `released_orphans` and `closed` name the account that it was opened with.
    """

    kind: Kind
    account: str
    tokens: int | None = None
    """With which it was `opened`, `reserved` or `committed`."""
    parent: str | None = None
    """Of whom it was `reserved`."""

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise CallerError(f"a change of spending is one of {', '.join(_KINDS)}, not {self.kind!r}")
        for name in [self.account, self.parent] if self.kind == "reserved" else [self.account]:
            if not isinstance(name, str) or not name:
                raise CallerError(f"an account has a name, not {name!r}")
        if self.kind in _COUNTED and (type(self.tokens) is not int or self.tokens < 0):
            raise CallerError(f"tokens are a whole number from 0 on, not {self.tokens!r}")

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `change_of` gives an equal one."""
        values = {known.name: getattr(self, known.name) for known in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def change_of(values: Mapping[str, Any]) -> BudgetChange:
    """The change that a journal holds. Raises `CallerError` for what is none."""
    try:
        return BudgetChange(**values)
    except TypeError as error:
        raise CallerError(f"this is no change of spending that was written whole: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One node of the tree. An account that is closed keeps what it spent."""

    parent: str | None
    granted_tokens: int
    spent_tokens: int = 0
    """By itself, and by its children that are closed."""
    reserved_tokens: int = 0
    """By its children that are open."""
    is_open: bool = True

    @property
    def left_tokens(self) -> int:
        """What it may still spend or reserve; a closed one nothing."""
        return self.granted_tokens - self.spent_tokens - self.reserved_tokens if self.is_open else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """A tree of accounts, made by `opened`. The first account is the root."""

    accounts: Mapping[str, Account]
    latest: BudgetChange = field(compare=False)
    """What made it of the tree before: for the journal."""

    @classmethod
    def opened(cls, root: str, tokens: int) -> Spending:
        """A tree with one account that has all the tokens."""
        latest = BudgetChange(kind="opened", account=root, tokens=tokens)
        return cls(accounts={root: Account(parent=None, granted_tokens=tokens)}, latest=latest)

    @property
    def root(self) -> str:
        return next(iter(self.accounts))

    @property
    def spent_tokens(self) -> int:
        """By all accounts, the open ones too."""
        return sum(
            account.spent_tokens for account in self.accounts.values() if account.is_open or account.parent is None
        )

    def left(self, account: str) -> int:
        """What that account may still spend or reserve. Raises `CallerError` where there is none."""
        return self._known(account).left_tokens

    def reserve(self, parent: str, child: str, tokens: int) -> Spending:
        """A new account `child` with so many of the parent's tokens.

        A name is given once, so that a late word of an old child never reaches a new one.
        """
        change = BudgetChange(kind="reserved", account=child, tokens=tokens, parent=parent)
        if child in self.accounts:
            raise CallerError(f"there is an account {child!r} already: a name is given once")
        of = self._able(parent, tokens)
        changed = {
            parent: replace(of, reserved_tokens=of.reserved_tokens + tokens),
            child: Account(parent=parent, granted_tokens=tokens),
        }
        return self._with(change, changed)

    def commit(self, account: str, tokens: int) -> Spending:
        """So many tokens were spent by that account. What a child took above its reservation is committed to its parent."""
        change = BudgetChange(kind="committed", account=account, tokens=tokens)
        of = self._able(account, tokens)
        return self._with(change, {account: replace(of, spent_tokens=of.spent_tokens + tokens)})

    def release(self, child: str) -> Spending:
        """The child is done: what it did not use goes back to its parent. Its own children are released before."""
        change = BudgetChange(kind="released", account=child)
        if self._open(child).parent is None:
            raise CallerError(f"{child!r} is the root: it is closed, not released")
        if inner := self.children(child):
            raise CallerError(f"{child!r} is not released before its children: {', '.join(map(repr, inner))}")
        return self._with(change, self._released([child]))

    def released_orphans(self) -> Spending:
        """After a crash, when no child runs any more: what all of them did not use goes back.

        What a call in flight took and nobody committed is not known, and not counted.
        """
        return self._with(BudgetChange(kind="released_orphans", account=self.root), self._released(self._below_root()))

    def close(self) -> Spending:
        """The tree is done: every child is released, and nothing is spent any more."""
        root = self.root
        self._open(root)
        changed = self._released(self._below_root())
        changed[root] = replace(changed.get(root, self.accounts[root]), is_open=False)
        return self._with(BudgetChange(kind="closed", account=root), changed)

    def after(self, change: BudgetChange) -> Spending:
        """The tree after a change that a journal holds; an error where it could not have been made."""
        if change.kind in {"released_orphans", "closed"} and change.account != self.root:
            raise CallerError(f"the tree of {self.root!r} cannot be {change.kind} as {change.account!r}")
        match change.kind:
            case "reserved":
                return self.reserve(change.parent or "", change.account, change.tokens or 0)
            case "committed":
                return self.commit(change.account, change.tokens or 0)
            case "released":
                return self.release(change.account)
            case "released_orphans":
                return self.released_orphans()
            case "closed":
                return self.close()
            case _:
                raise CallerError(f"a tree is opened once, with {self.root!r}")

    def children(self, parent: str) -> tuple[str, ...]:
        """The open accounts that reserved from that one, in the order they came."""
        return tuple(name for name, account in self.accounts.items() if account.is_open and account.parent == parent)

    def _known(self, name: str) -> Account:
        if name not in self.accounts:
            raise CallerError(f"there is no account {name!r}")
        return self.accounts[name]

    def _open(self, name: str) -> Account:
        account = self._known(name)
        if not account.is_open:
            raise CallerError(f"{name!r} is closed")
        return account

    def _able(self, name: str, tokens: int) -> Account:
        account = self._open(name)
        if tokens > account.left_tokens:
            raise CallerError(f"{name!r} has {account.left_tokens} tokens left, not {tokens}")
        return account

    def _below_root(self) -> list[str]:
        """All open children, parents before their children."""
        return [name for name, account in self.accounts.items() if account.is_open and account.parent is not None]

    def _released(self, names: list[str]) -> dict[str, Account]:
        """The accounts that change when those are closed, the innermost first."""
        changed: dict[str, Account] = {}
        for name in reversed(names):
            account = changed.get(name, self.accounts[name])
            assert account.parent is not None  # noqa: S101 - the root is closed, not released
            of = changed.get(account.parent, self.accounts[account.parent])
            changed[name] = replace(account, is_open=False)
            changed[account.parent] = replace(
                of,
                reserved_tokens=of.reserved_tokens - account.granted_tokens,
                spent_tokens=of.spent_tokens + account.spent_tokens,
            )
        return changed

    def _with(self, change: BudgetChange, changed: dict[str, Account]) -> Spending:
        return Spending(accounts={**self.accounts, **changed}, latest=change)


def replay(changes: Iterable[BudgetChange]) -> Spending:
    """The tree that a journal's changes make, equal to the one that made them.

    Who goes on after a crash continues with its `released_orphans()`, and writes down that change too.
    Raises `CallerError` for a journal that no tree can have written.
    """
    tree: Spending | None = None
    for change in changes:
        if tree is None:
            if change.kind != "opened":
                raise CallerError(f"a tree is opened first; these changes begin with {change.kind!r}")
            tree = Spending.opened(change.account, change.tokens or 0)
        else:
            tree = tree.after(change)
    if tree is None:
        raise CallerError("a tree is opened first; there are no changes")
    return tree
