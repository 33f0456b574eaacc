"""Do the budgets of parents and children add up, and are the profiles of agents right (S-8)?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError
from penstock.session.budgets import Account, BudgetChange, Spending, change_of, replay
from penstock.session.limits import PROFILES, limits_of

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.proves("S-8")


@pytest.fixture
def tree() -> Spending:
    """Return a parent with two children, one of which has a child."""
    return (
        Spending.opened("main", 100_000)
        .reserve("main", "scout", 30_000)
        .reserve("scout", "reader", 10_000)
        .reserve("main", "fixer", 40_000)
        .commit("reader", 4_000)
        .commit("main", 1_000)
    )


@pytest.mark.parametrize(
    ("name", "window_tokens", "turns"),
    [
        ("WindFixer", 128_000, (30, 50)),
        ("OpenFixer", 128_000, (20, 30)),
        ("Strategist", 64_000, (10, 20)),
        ("Oracle", 32_000, (5, 10)),
    ],
)
def test_the_profiles_of_agents_are_those_of_the_guidelines(
    name: str, window_tokens: int, turns: tuple[int, int]
) -> None:
    """Profiles have the window, reserve and typical turns of the guidelines; a profile is data, which a file can hold."""
    profile = PROFILES[name]
    assert (profile.name, profile.window_tokens, profile.reserve_tokens, profile.turns) == (
        name,
        window_tokens,
        8_000,
        turns,
    )
    assert limits_of(json.loads(json.dumps(profile.to_dict()))) == profile
    other = limits_of({"name": "Reviewer", "window_tokens": 16_000, "turns": [3, 6]}, profile)
    assert (other.name, other.window_tokens, other.turns) == ("Reviewer", 16_000, (3, 6))
    assert (other.reserve_tokens, other.rungs) == (profile.reserve_tokens, profile.rungs)


def test_a_child_takes_from_its_parent_and_gives_back_what_it_did_not_use(tree: Spending) -> None:
    """What the child used stays spent for the parent; its account remains, with what it took."""
    assert [tree.left(name) for name in ("main", "scout", "reader", "fixer")] == [29_000, 20_000, 6_000, 40_000]
    after = tree.release("reader")
    assert after.left("scout") == 26_000
    assert after.accounts["scout"].spent_tokens == 4_000
    assert after.accounts["reader"] == Account(parent="scout", granted_tokens=10_000, spent_tokens=4_000, is_open=False)
    after = after.release("scout")
    assert after.left("main") == 100_000 - 1_000 - 4_000 - 40_000
    assert after.spent_tokens == tree.spent_tokens == 5_000


def test_a_child_gets_at_most_what_its_parent_has_left(tree: Spending) -> None:
    """The limit is exact to the token."""
    assert tree.reserve("main", "all", 29_000).left("main") == 0
    with pytest.raises(CallerError, match="'main' has 29000 tokens left, not 29001"):
        tree.reserve("main", "more", 29_001)


def test_an_account_spends_at_most_what_it_has_left(tree: Spending) -> None:
    """A parent cannot spend what a child has reserved; what exceeds a child's share is paid by its parent."""
    assert tree.commit("scout", 20_000).left("scout") == 0
    with pytest.raises(CallerError, match="'scout' has 20000 tokens left, not 20001"):
        tree.commit("scout", 20_001)
    assert tree.commit("scout", 20_000).commit("main", 1).spent_tokens == 25_001


def test_an_operation_that_cannot_be_changes_nothing(tree: Spending) -> None:
    """Each is an error with a reason, a second release included."""
    released = tree.release("fixer")
    known = dict(released.accounts)
    cannot: list[tuple[str, Callable[[], object]]] = [
        ("'fixer' is closed", lambda: released.release("fixer")),
        ("'fixer' is closed", lambda: released.commit("fixer", 1)),
        ("'fixer' is closed", lambda: released.reserve("fixer", "late", 1)),
        ("there is an account 'fixer' already: a name is given once", lambda: released.reserve("main", "fixer", 1)),
        ("'scout' is not released before its children: 'reader'", lambda: released.release("scout")),
        ("'main' is the root: it is closed, not released", lambda: released.release("main")),
        ("there is no account 'nobody'", lambda: released.left("nobody")),
        ("there is no account 'nobody'", lambda: released.commit("nobody", 1)),
        ("there is no account 'nobody'", lambda: released.reserve("nobody", "child", 1)),
        ("an account has a name, not ''", lambda: released.reserve("main", "", 1)),
        ("a whole number from 0 on, not -1", lambda: released.commit("main", -1)),
        ("a whole number from 0 on, not 1.5", lambda: released.reserve("main", "half", 1.5)),  # type: ignore[arg-type]
        ("a whole number from 0 on, not True", lambda: released.commit("main", True)),
    ]
    for why, operation in cannot:
        with pytest.raises(CallerError, match=re.escape(why)):
            operation()
    assert released.accounts == known


def test_every_change_is_json_and_replayed_it_makes_the_same_tree() -> None:
    """The tree returns the change of each operation, which is what a journal holds."""
    tree = Spending.opened("main", 100)
    journal = [tree.latest.to_dict()]
    steps: list[Callable[[Spending], Spending]] = [
        lambda tree: tree.reserve("main", "scout", 60),
        lambda tree: tree.commit("scout", 25),
        lambda tree: tree.release("scout"),
        lambda tree: tree.reserve("main", "fixer", 75),
        lambda tree: tree.released_orphans(),
        lambda tree: tree.close(),
    ]
    for step in steps:
        tree = step(tree)
        journal.append(tree.latest.to_dict())
    assert journal == [
        {"kind": "opened", "account": "main", "tokens": 100},
        {"kind": "reserved", "account": "scout", "tokens": 60, "parent": "main"},
        {"kind": "committed", "account": "scout", "tokens": 25},
        {"kind": "released", "account": "scout"},
        {"kind": "reserved", "account": "fixer", "tokens": 75, "parent": "main"},
        {"kind": "released_orphans", "account": "main"},
        {"kind": "closed", "account": "main"},
    ]
    for length in range(1, len(journal) + 1):
        part = [change_of(record) for record in json.loads(json.dumps(journal[:length]))]
        assert [change.to_dict() for change in part] == journal[:length]
        assert replay(part).latest.to_dict() == journal[length - 1]
    assert replay(map(change_of, journal)) == tree


def test_what_a_crash_left_reserved_is_released_on_replay(tree: Spending) -> None:
    """All children are released, the innermost first; committed tokens stay spent, and names stay taken."""
    resumed = tree.released_orphans()
    assert resumed.children("main") == resumed.children("scout") == ()
    assert resumed.left("main") == 95_000
    assert resumed.spent_tokens == 5_000
    with pytest.raises(CallerError, match="a name is given once"):
        resumed.reserve("main", "scout", 1)
    assert resumed.released_orphans() == resumed


def test_a_closed_tree_is_done(tree: Spending) -> None:
    """Every child is released, nothing more can be spent, and spending is still known."""
    closed = tree.close()
    assert closed.spent_tokens == closed.accounts["main"].spent_tokens == 5_000
    assert {name: closed.left(name) for name in closed.accounts} == dict.fromkeys(tree.accounts, 0)
    for operation in (
        closed.close,
        lambda: closed.commit("main", 0),
        lambda: closed.reserve("main", "late", 0),
    ):
        with pytest.raises(CallerError, match="'main' is closed"):
            operation()
    assert closed.released_orphans() == closed


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"kind": "spent", "account": "main"}, "one of opened, granted, reserved"),
        ({"account": "main"}, "not a complete change"),
        ({"kind": "opened", "account": "main"}, "a whole number from 0 on, not None"),
        ({"kind": "opened", "account": "main", "tokens": -1}, "not -1"),
        ({"kind": "opened", "account": "main", "tokens": True}, "not True"),
        ({"kind": "opened", "account": 5, "tokens": 1}, "a name, not 5"),
        ({"kind": "reserved", "account": "scout", "tokens": 1}, "a name, not None"),
        ({"kind": "released", "account": "main", "why": ""}, "not a complete change"),
        (["opened", "main", 5], "not a complete change"),
    ],
)
def test_a_record_that_is_no_change_says_what_is_missing(record: Any, why: str) -> None:
    """Missing fields are errors and get no default."""
    with pytest.raises(CallerError, match=re.escape(why)):
        change_of(record)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([], "there are no changes"),
        ([BudgetChange(kind="closed", account="main")], "these changes begin with 'closed'"),
        ([BudgetChange(kind="opened", account="main", tokens=5)] * 2, "opened once, with 'main'"),
        (
            [BudgetChange(kind="opened", account="main", tokens=5), BudgetChange(kind="closed", account="other")],
            "the tree of 'main' cannot be closed as 'other'",
        ),
        (
            [
                BudgetChange(kind="opened", account="main", tokens=5),
                BudgetChange(kind="committed", account="main", tokens=6),
            ],
            "'main' has 5 tokens left, not 6",
        ),
    ],
)
def test_a_journal_that_no_tree_has_written_is_an_error(changes: list[BudgetChange], why: str) -> None:
    """The journal is not replayed in part."""
    with pytest.raises(CallerError, match=re.escape(why)):
        replay(changes)


def test_nothing_is_a_number_of_tokens_too() -> None:
    """Zero tokens are reserved, spent, given back and replayed like any other number."""
    granted = (opened := Spending.opened("run", 0)).grant(0)
    spent = (reserved := granted.reserve("run", "child", 0)).commit("child", 0)
    changes = [opened, granted, reserved, spent, tree := spent.refund("child", 0)]
    assert replay([one.latest for one in changes]) == tree
    assert (tree.left("run"), tree.left("child"), tree.spent_tokens) == (0, 0, 0)
    assert [one.latest.to_dict()["tokens"] for one in changes] == [0] * 5
    for wrong in (True, 1.0, -1, None):
        with pytest.raises(CallerError, match="tokens are a whole number from 0 on"):
            tree.grant(wrong)  # type: ignore[arg-type]


def test_an_account_of_which_all_is_spent_or_reserved_has_nothing_left() -> None:
    """It is exact to the token; a closed account has nothing left either, and no more can be spent from it."""
    tree = Spending.opened("run", 10).commit("run", 4).reserve("run", "child", 6)
    assert (tree.left("run"), tree.left("child")) == (0, 6)
    with pytest.raises(CallerError, match="'run' has 0 tokens left, not 1"):
        tree.commit("run", 1)
    with pytest.raises(CallerError, match="'run' has 0 tokens left, not 1"):
        tree.reserve("run", "other", 1)
    with pytest.raises(CallerError, match="'child' has 6 tokens left, not 7"):
        tree.commit("child", 7)
    spent = tree.commit("child", 6)
    with pytest.raises(CallerError, match="'child' has spent 6 tokens: 7 are not refunded"):
        spent.refund("child", 7)
    assert spent.refund("child", 6).left("child") == 6
    closed = spent.release("child")
    assert (closed.left("child"), closed.left("run"), closed.children("run"), closed.spent_tokens) == (0, 0, (), 10)
    assert spent.children("run") == ("child",)
