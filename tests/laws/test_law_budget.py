"""The law of budgets: shares never exceed what remains, under any interleaving of parents, children and crashes."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penstock.errors import CallerError
from penstock.session.budgets import BudgetChange, Spending, change_of, replay

if TYPE_CHECKING:
    from collections.abc import Callable

GRANTED = 100
WHICH = st.one_of(st.integers(0, 2), st.integers(0, 99))  # an index into the accounts that exist
PARTS = st.integers(0, 5)  # quarters of what is left; 5 is one token too many
RARELY = st.integers(0, 4).map(lambda number: number == 0)


class Trees(RuleBasedStateMachine):
    """A tree against a plain model that records only what was granted, spent and closed, and adds it up each time."""

    @initialize(granted=st.sampled_from([GRANTED, 1_000_000, 1, 0]))
    def begin(self, granted: int) -> None:
        self.tree = Spending.opened("agent 0", granted)
        self.journal = [self.tree.latest]
        self.parents: dict[str, str | None] = {"agent 0": None}
        self.granted = {"agent 0": granted}
        self.spent = {"agent 0": 0}
        self.closed: set[str] = set()

    # ── the model ────────────────────────────────────────────────────────────────────────────────────────────

    def children(self, name: str) -> list[str]:
        return [child for child, parent in self.parents.items() if parent == name]

    def used(self, name: str) -> int:
        """Return what an account spent, including everything closed below it."""
        return self.spent[name] + sum(self.used(child) for child in self.children(name) if child in self.closed)

    def left(self, name: str) -> int:
        held = sum(self.granted[child] for child in self.children(name) if child not in self.closed)
        return 0 if name in self.closed else self.granted[name] - self.used(name) - held

    def is_open(self, name: str) -> bool:
        return name in self.parents and name not in self.closed

    def attempt(self, can: bool, operation: Callable[[], Spending]) -> bool:
        """Journal a valid operation; an invalid one must raise an error and leave the tree unchanged."""
        before, known = self.tree, copy.deepcopy(self.tree)
        if can:
            self.tree = operation()
            self.journal.append(self.tree.latest)
        else:
            with pytest.raises(CallerError):
                operation()
        assert before == known
        return can

    # ── what may happen ──────────────────────────────────────────────────────────────────────────────────────

    def one(self, which: int) -> str:
        """Return an account, counted from the newest, open accounts before closed ones."""
        names = [*(name for name in self.parents if name in self.closed), *filter(self.is_open, self.parents)]
        return names[-1 - which % len(names)]

    def part(self, name: str, part: int) -> int:
        left = self.left(name)
        return left * part // 4 if part <= 4 else left + 1

    @rule(which=WHICH, part=PARTS)
    def reserve(self, which: int, part: int) -> None:
        parent, child = self.one(which), f"agent {len(self.parents)}"
        tokens = self.part(parent, part)
        if self.attempt(
            self.is_open(parent) and tokens <= self.left(parent), lambda: self.tree.reserve(parent, child, tokens)
        ):
            self.parents[child], self.granted[child], self.spent[child] = parent, tokens, 0

    @rule(which=WHICH, other=WHICH)
    def reserve_a_name_again(self, which: int, other: int) -> None:
        self.attempt(False, lambda: self.tree.reserve(self.one(which), self.one(other), 0))

    @rule(which=WHICH, part=PARTS)
    def commit(self, which: int, part: int) -> None:
        name = self.one(which)
        tokens = self.part(name, part)
        if self.attempt(self.is_open(name) and tokens <= self.left(name), lambda: self.tree.commit(name, tokens)):
            self.spent[name] += tokens

    @rule(which=WHICH, part=PARTS)
    def refund(self, which: int, part: int) -> None:
        """Tokens committed by an account, or by a child that it took over, turn out not to have been spent."""
        name = self.one(which)
        used = self.used(name)
        tokens = used * part // 4 if part <= 4 else used + 1
        if self.attempt(self.is_open(name) and tokens <= used, lambda: self.tree.refund(name, tokens)):
            self.spent[name] -= tokens

    @rule(tokens=st.integers(0, GRANTED))
    def grant(self, tokens: int) -> None:
        if self.attempt(self.is_open("agent 0"), lambda: self.tree.grant(tokens)):
            self.granted["agent 0"] += tokens

    @rule(which=WHICH)
    def release(self, which: int) -> None:
        name = self.one(which)
        inner = [child for child in self.children(name) if child not in self.closed]
        can = self.is_open(name) and self.parents[name] is not None and not inner
        if self.attempt(can, lambda: self.tree.release(name)):
            self.closed.add(name)
        self.attempt(False, lambda: self.tree.release(name))

    @rule(is_meant=RARELY)
    def crash(self, is_meant: bool) -> None:
        """Everything but the journal is lost; whoever continues releases what was left reserved."""
        if not is_meant:
            return
        lost = self.tree
        self.tree = replay(change_of(json.loads(json.dumps(change.to_dict()))) for change in self.journal)
        assert self.tree == lost
        assert self.tree.latest == lost.latest
        self.attempt(True, self.tree.released_orphans)
        self.closed |= {name for name, parent in self.parents.items() if parent is not None}

    @rule(is_meant=RARELY)
    def close(self, is_meant: bool) -> None:
        if is_meant and self.attempt(self.is_open("agent 0"), self.tree.close):
            self.closed |= set(self.parents)

    def teardown(self) -> None:
        """Replaying the journal gives the tree."""
        assert replay(self.journal) == self.tree

    # ── what always holds ────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def nothing_is_oversubscribed(self) -> None:
        for account in self.tree.accounts.values():
            assert min(account.spent_tokens, account.reserved_tokens, account.left_tokens) >= 0
            assert account.spent_tokens + account.reserved_tokens <= account.granted_tokens
        assert self.tree.spent_tokens == sum(self.spent.values()) <= self.granted["agent 0"]

    @invariant()
    def the_sums_are_those_of_the_model(self) -> None:
        assert list(self.tree.accounts) == list(self.parents)
        for name, account in self.tree.accounts.items():
            assert account.spent_tokens == self.used(name)
            assert account.left_tokens == self.tree.left(name) == self.left(name)
            assert account.reserved_tokens == sum(self.granted[child] for child in self.tree.children(name))
            assert account.is_open == self.is_open(name)


@pytest.mark.proves("LAW-Budget", "S-8")
class TestTrees(Trees.TestCase):  # type: ignore[misc, valid-type]
    """Runs of the machine: any operations in any order."""


@pytest.mark.proves("LAW-Budget")
def test_the_machine_sees_a_tree_that_oversubscribes() -> None:
    """Control: a tree that does not count children's reservations against their parent fails the invariant."""
    machine = Trees()
    machine.begin(GRANTED)
    machine.reserve(0, 2)
    account = machine.tree.accounts["agent 0"]
    forged = {**machine.tree.accounts, "agent 0": replace(account, reserved_tokens=0)}
    machine.tree = Spending(accounts=forged, latest=BudgetChange(kind="closed", account="agent 0"))
    with pytest.raises(AssertionError):
        machine.the_sums_are_those_of_the_model()
