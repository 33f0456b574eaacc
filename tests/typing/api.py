"""Does the public interface type-check as an outside user uses it? mypy checks this file; it never runs."""

from __future__ import annotations

from typing import assert_type

import penstock
from penstock import (
    Allowance,
    Budget,
    OutlinePage,
    Page,
    RecoveryResult,
    Result,
    ToolError,
    Tools,
    Window,
    Workspace,
    aexecute,
    execute,
)
from penstock.text import tokens


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


def requests() -> None:
    said = penstock.transcript.load([{"role": "user", "content": "Go on."}], "openai-chat")
    planned = penstock.compaction.plan(said, Budget(8_000, reserve_tokens=500))
    assert_type(planned, penstock.compaction.Plan)
    assert_type(penstock.compaction.apply(said, planned), penstock.transcript.Transcript)
    assert_type(penstock.context.bill.bill({"messages": []}, "openai-chat").tokens, int)
    refused = penstock.overflow.parse("prompt is too long: 9 tokens > 8 maximum")
    assert refused is not None
    assert_type(penstock.recovery.recover(said, refused, Budget(8_000)), penstock.recovery.Cure)
    assert_type(execute(dict, {}, wire="anthropic", window_tokens=200_000), RecoveryResult)
    assert_type(penstock.handoff.decode("{}"), penstock.handoff.Handoff)


async def awaited() -> None:
    async def send(request: object) -> object:
        return request

    assert_type(await aexecute(send, {}, wire="anthropic", window_tokens=200_000), RecoveryResult)


def refusals(workspace: Workspace) -> str:
    try:
        workspace.view("../a.py")
    except ToolError as error:
        return error.code
    return ""
