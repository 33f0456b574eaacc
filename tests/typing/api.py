"""The public interface as a stranger uses it: checked by mypy, never run."""

from __future__ import annotations

from typing import assert_type

import penstock
from penstock import Allowance, OutlinePage, Page, Result, ToolError, Tools, Window, Workspace, tokens


def pages(workspace: Workspace) -> None:
    window = workspace.view("a.py", offset=100, limit=50)
    assert_type(window, Window)
    assert_type(window.total_lines, int | None)
    assert_type(workspace.read_file("a.py", start_byte=0), Window | OutlinePage)
    assert_type(workspace.list_files("*.py").page, Page[str])
    assert_type(workspace.count_file("a.py"), tokens.Count)


def texts() -> None:
    tools = Tools("src", allowance=Allowance.chars(16_000))
    assert_type(tools.view("a.py"), str)
    assert_type(tools.call("view", {"file_path": "a.py"}), Result)
    assert_type(tokens.count("text", model="o200k", mode="estimate").high, int)
    assert_type(penstock.DEFAULT_VIEW_LINES, int)


def results() -> None:
    assert_type(penstock.guard_output("text", "tool"), penstock.guard.Guarded)
    assert_type(penstock.overflow.parse("prompt is too long"), penstock.overflow.Overflow | None)


def refusals(workspace: Workspace) -> str:
    try:
        workspace.view("../a.py")
    except ToolError as error:
        return error.code
    return ""
