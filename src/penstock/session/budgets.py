"""Who may spend how many tokens? A tree of accounts: a child reserves from its parent and returns what it did not use (S-8).

A tree is a value. Every operation returns a new tree, whose `latest` is the change that made it: JSON for a journal, from which
`replay` builds an equal tree. It has no lock and needs none, as long as its holder runs one operation at a time.

Laws: no account has more spent and reserved than it was granted, whatever the order of operations; all accounts together never
spend more than the tree was opened with; an invalid operation is an error that changes nothing. Leaves to others: running the
children, journals, and counting tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["opened", "granted", "reserved", "committed", "refunded", "released", "released_orphans", "closed"]
"""Operations that change a tree, as the journal names them."""
_KINDS: tuple[Kind, ...] = get_args(Kind)
# The kinds that carry a number of tokens; the others follow from the tree alone.
_COUNTED = frozenset({"opened", "granted", "reserved", "committed", "refunded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetChange:
    """One operation on a tree of budgets, for a journal: what was done, to which account, with how many tokens.

    `opened` is the first of a tree; `granted`, `released_orphans` and `closed` name the account that the tree was opened with.

    Raises:
        CallerError: for an unknown kind, an empty name, or tokens that are not a whole number of 0 or more.
    """

    kind: Kind
    account: str
    tokens: int | None = None
    """How many tokens the account was opened with, granted, reserved, committed or refunded; None for the other kinds."""
    parent: str | None = None
    """The account that the tokens were reserved from; None for all kinds but `reserved`."""

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise CallerError(f"a change of spending is one of {', '.join(_KINDS)}, not {self.kind!r}")
        for name in [self.account, self.parent] if self.kind == "reserved" else [self.account]:
            if not isinstance(name, str) or not name:
                raise CallerError(f"an account has a name, not {name!r}")
        if self.kind in _COUNTED and (type(self.tokens) is not int or self.tokens < 0):
            raise CallerError(f"tokens are a whole number from 0 on, not {self.tokens!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the change as JSON, without the fields that are None; `change_of` gives an equal one."""
        values = {known.name: getattr(self, known.name) for known in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


def change_of(values: Mapping[str, Any]) -> BudgetChange:
    """Return the change that a row of a journal holds.

    Args:
        values: what `BudgetChange.to_dict` returned.

    Raises:
        CallerError: for a field that is missing, unknown or impossible: the row was not written completely.
    """
    try:
        return BudgetChange(**values)
    except TypeError as error:
        raise CallerError(f"this is not a complete change of spending: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One node of a tree of budgets. A closed account stays in the tree with what it spent."""

    parent: str | None
    """The name of the account that it was reserved from; None for the root."""
    granted_tokens: int
    """Tokens that an account was opened with, or that it reserved: the most that it may ever spend and reserve."""
    spent_tokens: int = 0
    """Tokens spent by this account itself, and by its closed children."""
    reserved_tokens: int = 0
    """Tokens granted to its open children; what they have spent of them is in their own accounts."""
    is_open: bool = True

    @property
    def left_tokens(self) -> int:
        """Tokens that this account may still spend or reserve; 0 once it is closed."""
        return self.granted_tokens - self.spent_tokens - self.reserved_tokens if self.is_open else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """A tree of token accounts, as a value: every method returns a new tree. `Spending.opened` makes the first.

    >>> tree = Spending.opened("run", 100_000).reserve("run", "child", 30_000)
    >>> tree = tree.commit("child", 12_000).release("child")
    >>> tree.left("run"), tree.spent_tokens
    (88000, 12000)
    """

    accounts: Mapping[str, Account]
    """All accounts by name, including closed ones, in the order they were made: the root first, parents before children."""
    latest: BudgetChange = field(compare=False)
    """The change that made this tree from the previous one, to be written into the journal; not part of equality."""

    @classmethod
    def opened(cls, root: str, tokens: int) -> Spending:
        """Return a tree with one account, the root, that has all the tokens.

        Args:
            root: the name of the root; not empty.
            tokens: how many there are to spend, 0 or more.

        Raises:
            CallerError: for an empty name or a number below 0.
        """
        latest = BudgetChange(kind="opened", account=root, tokens=tokens)
        return cls(accounts={root: Account(parent=None, granted_tokens=tokens)}, latest=latest)

    @property
    def root(self) -> str:
        """The name of the account that the tree was opened with."""
        return next(iter(self.accounts))

    @property
    def spent_tokens(self) -> int:
        """Tokens spent by all accounts together, those of open children included."""
        # When a child was closed its tokens were added to its parent, so they would count twice. The root is the one closed account
        # whose tokens no other account took over.
        return sum(
            account.spent_tokens for account in self.accounts.values() if account.is_open or account.parent is None
        )

    def left(self, account: str) -> int:
        """Return how many tokens an account may still spend or reserve.

        Raises:
            CallerError: if there is no such account.
        """
        return self._known(account).left_tokens

    def reserve(self, parent: str, child: str, tokens: int) -> Spending:
        """Return the tree with a new account that is granted some of its parent's tokens.

        A name is used only once, so that a late report of an old child never reaches a new one.

        Args:
            parent: an open account.
            child: the name of the new account.
            tokens: how many it is granted, 0 or more.

        Raises:
            CallerError: if the name is taken, the parent is closed or unknown, or the parent has fewer tokens left.
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
        """Return the tree after an account has spent tokens.

        A child is never charged above its reservation: the excess is committed to its parent.

        Args:
            account: an open account.
            tokens: how many it spent, 0 or more.

        Raises:
            CallerError: if the account is closed or unknown, or has fewer tokens left.
        """
        change = BudgetChange(kind="committed", account=account, tokens=tokens)
        of = self._able(account, tokens)
        return self._with(change, {account: replace(of, spent_tokens=of.spent_tokens + tokens)})

    def refund(self, account: str, tokens: int) -> Spending:
        """Return the tree after tokens that were committed turned out not to be spent.

        A caller that cannot know beforehand what a call takes commits the most that it can take, makes the call, and refunds the
        rest: a kill in between counts too much, never too little.

        Args:
            account: an open account.
            tokens: how many it did not spend after all, 0 or more.

        Raises:
            CallerError: if the account is closed or unknown, or has spent fewer.
        """
        change = BudgetChange(kind="refunded", account=account, tokens=tokens)
        of = self._open(account)
        if tokens > of.spent_tokens:
            raise CallerError(f"{account!r} has spent {of.spent_tokens} tokens: {tokens} are not refunded")
        return self._with(change, {account: replace(of, spent_tokens=of.spent_tokens - tokens)})

    def grant(self, tokens: int) -> Spending:
        """Return the tree with more tokens in its root, granted by the person who continues a session.

        Args:
            tokens: how many more, 0 or more.

        Raises:
            CallerError: if the tree is closed.
        """
        change = BudgetChange(kind="granted", account=self.root, tokens=tokens)
        of = self._open(self.root)
        return self._with(change, {self.root: replace(of, granted_tokens=of.granted_tokens + tokens)})

    def release(self, child: str) -> Spending:
        """Return the tree after a child is done: its unused tokens go back to its parent.

        Raises:
            CallerError: if the child is closed or unknown, is the root, or has open children, which must be released first.
        """
        change = BudgetChange(kind="released", account=child)
        if self._open(child).parent is None:
            raise CallerError(f"{child!r} is the root: it is closed, not released")
        if inner := self.children(child):
            raise CallerError(f"{child!r} is not released before its children: {', '.join(map(repr, inner))}")
        return self._with(change, self._released([child]))

    def released_orphans(self) -> Spending:
        """Return the tree with every child released: for use after a crash, when no child runs any more.

        Tokens that a call in flight took and nobody committed are not known, and not counted.
        """
        return self._with(BudgetChange(kind="released_orphans", account=self.root), self._released(self._below_root()))

    def close(self) -> Spending:
        """Return the tree with every account closed: nothing more can be spent.

        Raises:
            CallerError: if the tree is closed already.
        """
        root = self.root
        self._open(root)
        changed = self._released(self._below_root())
        changed[root] = replace(changed.get(root, self.accounts[root]), is_open=False)
        return self._with(BudgetChange(kind="closed", account=root), changed)

    def after(self, change: BudgetChange) -> Spending:
        """Return the tree after a change that a journal holds.

        Args:
            change: a change of any kind but `opened`, which only begins a tree.

        Raises:
            CallerError: if this tree could not have made that change.
        """
        if change.kind in {"granted", "released_orphans", "closed"} and change.account != self.root:
            raise CallerError(f"the tree of {self.root!r} cannot be {change.kind} as {change.account!r}")
        match change.kind:
            case "reserved":
                return self.reserve(change.parent or "", change.account, change.tokens or 0)
            case "committed":
                return self.commit(change.account, change.tokens or 0)
            case "refunded":
                return self.refund(change.account, change.tokens or 0)
            case "granted":
                return self.grant(change.tokens or 0)
            case "released":
                return self.release(change.account)
            case "released_orphans":
                return self.released_orphans()
            case "closed":
                return self.close()
            case _:
                raise CallerError(f"a tree is opened once, with {self.root!r}")

    def children(self, parent: str) -> tuple[str, ...]:
        """Return the names of the open accounts that reserved from `parent`, in the order they were made."""
        return tuple(name for name, account in self.accounts.items() if account.is_open and account.parent == parent)

    def _known(self, name: str) -> Account:
        """Return an account, open or closed; raise an error if there is none of that name."""
        if name not in self.accounts:
            raise CallerError(f"there is no account {name!r}")
        return self.accounts[name]

    def _open(self, name: str) -> Account:
        """Return an open account; raise an error if it is closed or unknown."""
        account = self._known(name)
        if not account.is_open:
            raise CallerError(f"{name!r} is closed")
        return account

    def _able(self, name: str, tokens: int) -> Account:
        """Return an open account that has at least that many tokens left."""
        account = self._open(name)
        if tokens > account.left_tokens:
            raise CallerError(f"{name!r} has {account.left_tokens} tokens left, not {tokens}")
        return account

    def _below_root(self) -> list[str]:
        """Return the names of all open children, parents before their children."""
        return [name for name, account in self.accounts.items() if account.is_open and account.parent is not None]

    def _released(self, names: list[str]) -> dict[str, Account]:
        """Return the accounts that change when `names` are closed: they themselves, and their parents."""
        changed: dict[str, Account] = {}
        # Names come parents first, so the reverse is innermost first: a grandchild's spending has reached its parent before the
        # parent's own is passed on. Each step reads `changed` before `self.accounts`, because one account may be changed as a
        # parent and then closed.
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
    """Return the tree that a journal's changes make, equal to the one that wrote them.

    After a crash, continue with its `released_orphans()`, and record that change too.

    Args:
        changes: all changes of one tree, `opened` first.

    Raises:
        CallerError: for changes that no tree can have written; nothing is replayed in part.
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
