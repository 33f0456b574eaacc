"""The manifest and the tests agree, in both directions."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.requirements import BUILT, PENDING

TESTS = Path(__file__).parent


@cache
def proven() -> dict[str, set[str]]:
    """The items that tests name, with the tests that name them."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "proves":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}: proves() takes literal ids"
                    found.setdefault(str(argument.value), set()).add(path.name)
    return found


def test_every_built_item_has_a_test_that_names_it() -> None:
    """An item without a test is not built."""
    assert sorted(BUILT.keys() - proven().keys()) == []


def test_every_id_that_a_test_names_is_a_built_item() -> None:
    """A test cannot prove what is unknown or still pending."""
    assert sorted(proven().keys() - BUILT.keys()) == []


def test_no_item_is_both_built_and_pending() -> None:
    """The manifest says one thing of each item."""
    assert BUILT.keys() & PENDING.keys() == set()


def test_the_manifest_counts_what_is_pending(record_property: object) -> None:
    """All 121 items of the behaviour and 14 laws are either built or pending."""
    del record_property
    items = [name for name in (*BUILT, *PENDING) if not name.startswith("LAW-")]
    laws = [name for name in (*BUILT, *PENDING) if name.startswith("LAW-")]
    assert (len(items), len(laws)) == (121, 14)
