"""The manifest and the tests agree, in both directions."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.requirements import BUILT, PENDING

TESTS = Path(__file__).parent


@cache
def parsed() -> dict[Path, list[ast.AST]]:
    """The nodes of every module of tests."""
    return {path: list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))) for path in TESTS.rglob("test_*.py")}


@cache
def proven() -> dict[str, set[str]]:
    """The items that tests name, with the tests that name them."""
    found: dict[str, set[str]] = {}
    for path, nodes in parsed().items():
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "proves":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}: proves() takes literal ids"
                    found.setdefault(str(argument.value), set()).add(path.name)
    return found


def test_the_items_that_are_built_are_those_that_tests_name() -> None:
    """An item without a test is not built, and a test cannot prove what is unknown or still pending; each says its proof."""
    assert sorted(BUILT.keys() - proven().keys()) == []
    assert sorted(proven().keys() - BUILT.keys()) == []
    missing = [
        f"{path.name}: {node.name}"
        for path, nodes in parsed().items()
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert missing == []


def test_no_item_is_both_built_and_pending() -> None:
    """The manifest says one thing of each item."""
    assert BUILT.keys() & PENDING.keys() == set()


def test_the_manifest_counts_what_is_pending(record_property: object) -> None:
    """All 121 items of the behaviour and 14 laws are either built or pending."""
    del record_property
    items = [name for name in (*BUILT, *PENDING) if not name.startswith("LAW-")]
    laws = [name for name in (*BUILT, *PENDING) if name.startswith("LAW-")]
    assert (len(items), len(laws)) == (121, 14)
