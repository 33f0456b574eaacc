"""Do the manifest and the tests agree, in both directions?"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.requirements import BUILT, PENDING

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent


Modules = dict[Path, list[ast.AST]]


@pytest.fixture(scope="module")
def parsed() -> Modules:
    """Return the nodes of every test module, without those in the bodies of functions."""
    # Kept for these tests alone: with a million nodes about, each garbage collection of the process takes a second and a half.
    return {path: list(declared(ast.parse(path.read_text(encoding="utf-8")))) for path in TESTS.rglob("test_*.py")}


def declared(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree; of a function, itself, its decorators and its arguments."""
    rest = [tree]
    while rest:
        yield (node := rest.pop())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            rest += [*node.decorator_list, node.args]
        else:
            rest += ast.iter_child_nodes(node)


@pytest.fixture(scope="module")
def proven(parsed: Modules) -> dict[str, set[str]]:
    """Return the items that tests name, each with the modules that name it."""
    found: dict[str, set[str]] = {}
    for path, nodes in parsed.items():
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "proves":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}: proves() takes literal ids"
                    found.setdefault(str(argument.value), set()).add(path.name)
    return found


def test_the_items_that_are_built_are_those_that_tests_name(parsed: Modules, proven: dict[str, set[str]]) -> None:
    """Every built item has a test, no test names an unknown or pending item, and every test has a docstring."""
    assert sorted(BUILT.keys() - proven.keys()) == []
    assert sorted(proven.keys() - BUILT.keys()) == []
    missing = [
        f"{path.name}: {node.name}"
        for path, nodes in parsed.items()
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert missing == []


def test_no_item_is_both_built_and_pending() -> None:
    """Each item has one state in the manifest."""
    assert BUILT.keys() & PENDING.keys() == set()


def test_the_manifest_counts_what_is_pending(record_property: object) -> None:
    """All 121 items of behaviour and 14 laws are either built or pending."""
    del record_property
    items = [name for name in (*BUILT, *PENDING) if not name.startswith("LAW-")]
    laws = [name for name in (*BUILT, *PENDING) if name.startswith("LAW-")]
    assert (len(items), len(laws)) == (121, 14)
