"""What does a hook answer: nothing below the budget, a fitting text above it, and the whole at its handle?"""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import Ended
from penstock.hosts import HOOK_NAMES, hook_host, verbatim_json
from penstock.hosts import hook as hooks
from penstock.hosts.claude import CLAUDE
from penstock.hosts.codex import CODEX
from penstock.hosts.gemini import GEMINI
from penstock.hosts.hook import TURN_BUDGETS, Hook
from penstock.hosts.results import is_ours
from penstock.store import Store, open_store
from penstock.text.calls import CommandLine, handle_in, mcp
from penstock.tools import TOOLS
from tests.hosts.events import Event, bash, blocks, claude, codex, gemini, raw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.hosts.results import HookHost

FLOOD = "".join(f"line {number} of the flood\n" for number in range(9_000))


class Opened:
    """A store that counts how often it is opened."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.times = 0

    def __call__(self) -> Store:
        self.times += 1
        return open_store(self.url)

    def whole(self, text: str) -> str:
        """Return what is kept under the handle that a text names."""
        store = open_store(self.url)
        handle = handle_in(text)
        kept = store.read(handle, 0, store.info(handle).bytes)
        store.close()
        return kept.decode("utf-8", "surrogatepass")


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Provide a new store."""
    return Opened(str(tmp_path / "store"))


def answered(host: HookHost, event: Event, opened: Callable[[], Store], **how: Any) -> Any:
    """Return what a hook prints, as JSON; None for nothing."""
    printed = Hook(host, opened, CommandLine, **how).answer(raw(event))
    return json.loads(printed) if printed else None


def shown_by_claude(reply: Any) -> Any:
    """Return what Claude Code shows its model."""
    assert reply["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    return reply["hookSpecificOutput"]["updatedToolOutput"]


def note_of(reply: Any) -> str:
    """Return what Claude Code gives its model after the result."""
    return str(reply["hookSpecificOutput"]["additionalContext"])


FLOODS: dict[str, tuple[HookHost, Event, Callable[[Any], str], str]] = {
    "claude, a command": (CLAUDE, bash(FLOOD), lambda reply: shown_by_claude(reply)["stdout"], FLOOD),
    "claude, MCP": (
        CLAUDE,
        claude("mcp__db__rows", blocks(FLOOD)),
        lambda reply: shown_by_claude(reply)[0]["text"],
        FLOOD,
    ),
    "claude, MCP's structure": (CLAUDE, claude("mcp__db__rows", FLOOD), shown_by_claude, FLOOD),
    "claude, a search": (
        CLAUDE,
        claude("Grep", {"mode": "content", "numFiles": 0, "filenames": [], "content": FLOOD, "numLines": 9_000}),
        lambda reply: shown_by_claude(reply)["content"],
        FLOOD,
    ),
    "claude, names": (
        CLAUDE,
        claude("Glob", {"durationMs": 4, "numFiles": 9_000, "filenames": FLOOD.split("\n"), "truncated": False}),
        lambda reply: "\n".join(shown_by_claude(reply)["filenames"]),
        FLOOD,
    ),
    "claude, a file": (
        CLAUDE,
        claude("Read", {"type": "text", "file": {"filePath": "/a", "content": FLOOD, "numLines": 9_000}}),
        lambda reply: shown_by_claude(reply)["file"]["content"],
        FLOOD,
    ),
    "codex, a command": (CODEX, codex("Bash", FLOOD), lambda reply: reply["reason"], FLOOD),
    "codex, MCP": (CODEX, codex("mcp__db__rows", {"content": blocks(FLOOD)}), lambda reply: reply["reason"], FLOOD),
    "codex, MCP's structure": (
        CODEX,
        codex("mcp__db__rows", {"content": blocks("x"), "structuredContent": {"rows": FLOOD.split("\n")}}),
        lambda reply: reply["reason"],
        json.dumps({"rows": FLOOD.split("\n")}, separators=(",", ":")),
    ),
    "gemini, a command": (GEMINI, gemini("run_shell_command", FLOOD), lambda reply: reply["reason"], FLOOD),
    "gemini, MCP": (GEMINI, gemini("mcp_db_rows", blocks(FLOOD)), lambda reply: reply["reason"], FLOOD),
}


@pytest.mark.proves("H-1")
@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_is_cut_to_the_budget_and_kept_whole(flood: str, opened: Opened) -> None:
    """This holds for any tool, including built-in ones; the command in the notice returns the whole, byte for byte."""
    host, event, shown, whole = FLOODS[flood]
    text = shown(answered(host, event, opened))
    assert text.startswith("[OUTPUT TRUNCATED]\n")
    assert len(text) <= host.budget_of(event["tool_name"])
    assert "penstock page " in text
    assert opened.whole(text) == whole


@pytest.mark.proves("G-1")
def test_the_notice_counts_tokens_as_the_person_says(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """`PENSTOCK_CHARS_PER_TOKEN` applies to every notice of the guard, whoever requests it."""
    monkeypatch.setenv("PENSTOCK_CHARS_PER_TOKEN", "2")
    host, event, shown, whole = FLOODS["claude, a command"]
    assert f"returned ~{-(-len(whole) // 2)} tokens" in shown(answered(host, event, opened))


@pytest.mark.proves("H-1", "H-5")
@pytest.mark.parametrize("flood", FLOODS)
def test_what_is_below_the_budget_is_left_alone_without_a_store(flood: str, opened: Opened) -> None:
    """Nothing is printed, so nothing changes."""
    host, event, *_ = FLOODS[flood]
    small = json.loads(json.dumps(event).replace(json.dumps(FLOOD)[1:-1], "clean"))
    if flood == "claude, names":
        small["tool_response"]["filenames"] = ["a.py"]
    if flood == "codex, MCP's structure":
        small["tool_response"]["structuredContent"] = {"rows": ["clean"]}
    assert answered(host, small, opened) is None
    assert opened.times == 0


@pytest.mark.proves("H-1")
def test_the_shape_of_a_tool_stays_and_only_its_large_text_changes(opened: Opened) -> None:
    """Claude Code ignores a reply whose shape differs from the tool's own result."""
    event = bash(FLOOD, "2 warnings", interrupted=True)
    shown = shown_by_claude(answered(CLAUDE, event, opened))
    assert {**shown, "stdout": FLOOD} == event["tool_response"]


@pytest.mark.proves("H-1")
def test_pictures_next_to_a_flood_stay(opened: Opened) -> None:
    """What is not text is neither counted nor cut."""
    picture = {"type": "image", "data": "A" * 300_000, "mimeType": "image/png"}
    first = {**blocks(FLOOD)[0], "annotations": {"priority": 1}}
    event = claude("mcp__db__rows", [picture, first, picture, *blocks(FLOOD)])
    shown = shown_by_claude(answered(CLAUDE, event, opened))
    assert shown == [picture, {**first, "text": shown[1]["text"]}, picture]
    assert opened.whole(shown[1]["text"]) == FLOOD + "\n" + FLOOD
    assert answered(CLAUDE, claude("mcp__db__rows", [picture]), opened) is None


PICTURE = "iVBORw0KGgo" * 900
CELL = {"cellType": "code", "source": "plot()", "cell_id": "c", "language": "python", "execution_count": 1}
PLOT = {"output_type": "display_data", "text": FLOOD, "image": {"image_data": PICTURE, "media_type": "image/png"}}


@pytest.mark.proves("H-1")
def test_pictures_that_tools_of_the_host_return_stay(opened: Opened) -> None:
    """A provider refuses a cut one in all later requests: a data URI printed by a command, plots of a notebook."""
    printed = bash("data:image/png;base64," + PICTURE * 10, "2 warnings", isImage=True)
    assert answered(CLAUDE, printed, opened) is None
    shown = shown_by_claude(answered(CLAUDE, bash(PICTURE * 10, FLOOD, isImage=True), opened))
    assert shown["stdout"] == PICTURE * 10
    assert opened.whole(shown["stderr"]) == FLOOD
    cells = [{**CELL, "outputs": [PLOT]} for _ in range(9)]
    notebook = claude("Read", {"type": "notebook", "file": {"filePath": "/a.ipynb", "cells": cells}})
    for cell in shown_by_claude(answered(CLAUDE, notebook, opened))["file"]["cells"]:
        (plot,) = cell["outputs"]
        assert plot["image"] == PLOT["image"]
        assert opened.whole(plot["text"]) == FLOOD
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE * 10}
    assert answered(CLAUDE, claude("mcp__p__plot", [{"type": "image", "source": source}]), opened) is None


@pytest.mark.proves("H-1")
def test_what_a_host_builds_blocks_from_stays_in_a_result_of_very_many_texts(opened: Opened) -> None:
    """The first cells of a notebook of 200 stay whole, as do whole blocks of an agent's answer: none is cut in half."""
    cells = [{**CELL, "source": "y" * 300, "outputs": [{**PLOT, "text": "x" * 300}]} for _ in range(200)]
    notebook = claude("Read", {"type": "notebook", "file": {"filePath": "/a.ipynb", "cells": cells}})
    reply = answered(CLAUDE, notebook, opened)
    shown = shown_by_claude(reply)["file"]["cells"]
    assert 20 < len(shown) < 100
    assert shown == cells[: len(shown)]
    assert json.loads(opened.whole(note_of(reply))) == notebook["tool_response"]
    content = [{"type": "text", "text": "z" * 2_000} for _ in range(40)]
    blocks_of_agent = shown_by_claude(answered(CLAUDE, claude("Agent", {"content": content}), opened))["content"]
    assert blocks_of_agent == content[: len(blocks_of_agent)]
    assert blocks_of_agent


@pytest.mark.proves("H-1")
@pytest.mark.parametrize("many", ["numbers", "nested", "records", "a map", "names of tools"])
def test_a_flood_without_large_texts_ends_its_lists_early(many: str, opened: Opened) -> None:
    """Numbers, small records and names are a flood too; the notice is next to the result, not among them."""
    rows: dict[str, Any] = {
        "numbers": [number / 4 for number in range(30_000)],
        "nested": [{"points": [[x, x * x] for x in range(40)]} for _ in range(300)],
        "records": [{"uri": f"db://{at}", "name": f"table {at}", "mimeType": "text/plain"} for at in range(5_000)],
        "a map": {f"key {at}": {"value": at} for at in range(9_000)},
        "names of tools": [f"mcp__server__tool_{at}" for at in range(2_000)],
    }
    tool = "ToolSearch" if many == "names of tools" else "other"
    event = claude(tool, {"query": "q", "matches": rows[many], "total": len(rows[many])})
    reply = answered(CLAUDE, event, opened)
    shown, whole = shown_by_claude(reply), event["tool_response"]
    assert {**shown, "matches": 0} == {**whole, "matches": 0}
    assert 20_000 < len(json.dumps(shown, separators=(",", ":"))) + len(note_of(reply)) <= CLAUDE.budget
    if isinstance(whole["matches"], dict):
        assert list(shown["matches"].items()) == list(whole["matches"].items())[: len(shown["matches"])]
    else:
        assert shown["matches"] == whole["matches"][: len(shown["matches"])]
    assert json.loads(opened.whole(note_of(reply))) == whole
    assert many == "a map" or opened.whole(note_of(reply)).count("\n") == len(whole["matches"]) + 1, (
        "an entry on a line"
    )
    small = claude(tool, {**whole, "matches": shown["matches"]})
    assert answered(CLAUDE, small, opened) is None, "what fits is left alone"


@pytest.mark.proves("H-1")
def test_a_list_in_a_list_ends_early_within_it(opened: Opened) -> None:
    """A single entry that takes all the room is shown as far as it fits."""
    rows = [list(range(90_000))]
    shown = shown_by_claude(answered(CLAUDE, claude("other", {"rows": rows}), opened))["rows"]
    assert len(shown) == 1
    assert shown[0] == rows[0][: len(shown[0])]
    assert len(shown[0]) > 1_000


@pytest.mark.proves("H-1")
def test_a_flood_in_one_text_next_to_a_long_list_leaves_room_for_both(opened: Opened) -> None:
    """The list ends early and the text is cut, each with its way to the whole."""
    event = claude("other", {"output": FLOOD, "rows": [[at, at] for at in range(9_000)]})
    reply = answered(CLAUDE, event, opened)
    shown = shown_by_claude(reply)
    assert opened.whole(shown["output"]) == FLOOD
    assert 0 < len(shown["rows"]) < 9_000
    assert len(json.dumps(shown, separators=(",", ":"))) + len(note_of(reply)) <= CLAUDE.budget


@pytest.mark.proves("H-1")
def test_a_text_that_the_host_has_twice_counts_once(opened: Opened) -> None:
    """A task's output is repeated in its result, as is what an agent was asked; the model is shown one text."""
    task = {"task_id": "a", "output": "z" * 16_000, "prompt": "p" * 16_000, "result": "z" * 16_000}
    assert answered(CLAUDE, claude("TaskOutput", {"retrieval_status": "success", "task": task}), opened) is None
    agent = {"status": "completed", "prompt": "p" * 20_000, "content": blocks("z" * 16_000)}
    assert answered(CLAUDE, claude("Agent", agent), opened) is None
    task |= {"output": FLOOD, "result": FLOOD}
    shown = shown_by_claude(answered(CLAUDE, claude("TaskOutput", {"task": task}), opened))["task"]
    assert shown == {**task, "output": shown["output"], "result": shown["output"]}
    assert len(shown["output"]) > 20_000
    assert opened.whole(shown["output"]) == FLOOD


@pytest.mark.proves("H-1")
@pytest.mark.parametrize("host", ["claude", "codex", "opencode"])
def test_a_flood_in_a_resource_next_to_a_small_text_is_cut(host: str, opened: Opened) -> None:
    """What a server embeds is shown like any text."""
    embedded = {"type": "resource", "resource": {"uri": "db://all", "mimeType": "text/plain", "text": FLOOD}}
    content = [*blocks("see", "below"), embedded, {"type": "image", "data": "A" * 90, "mimeType": "image/png"}]
    if host == "claude":
        shown = shown_by_claude(answered(CLAUDE, claude("mcp__db__all", content), opened))
        text = shown[2]["resource"]["text"]
        assert shown == [
            *content[:2],
            {"type": "resource", "resource": {"uri": "db://all", "mimeType": "text/plain", "text": text}},
            content[3],
        ]
        assert opened.whole(text) == FLOOD
        both = claude("mcp__db__all", [*blocks(FLOOD, FLOOD), embedded])
        first, second = shown_by_claude(answered(CLAUDE, both, opened))
        assert opened.whole(first["text"]) == f"{FLOOD}\n{FLOOD}"
        assert opened.whole(second["resource"]["text"]) == FLOOD
        return
    if host == "opencode":
        event = {"hook_event_name": "tool.execute.after", "tool_name": "db_all", "tool_response": {"content": content}}
        shown = answered(hook_host("opencode"), event, opened)["content"]
        text = shown[2]["resource"]["text"]
        assert [shown[0], shown[1], shown[3]] == [content[0], content[1], content[3]]
        assert opened.whole(text) == FLOOD
        return
    reason = answered(CODEX, codex("mcp__db__all", {"content": content}), opened)["reason"]
    assert opened.whole(reason).startswith('see\nbelow\n{"type":"resource","resource":{"uri":"db://all",')
    assert FLOOD in opened.whole(reason)


@pytest.mark.proves("H-1")
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(["--- a.py ---", FLOOD, "--- End ---"], id="texts, as read_many_files gives them"),
        pytest.param({"text": FLOOD}, id="a part by itself"),
        pytest.param([FLOOD, {"inlineData": {"mimeType": "image/png", "data": "A" * 9_000}}], id="a picture beside"),
        pytest.param([{"functionResponse": {"name": "f", "response": {"output": FLOOD}}}], id="an answer in a part"),
        pytest.param([{"type": "resource_link", "uri": f"db://{at}"} for at in range(2_000)], id="links alone"),
    ],
)
def test_a_flood_is_seen_in_whatever_form_gemini_has_it(content: Any, opened: Opened) -> None:
    """Its tools return a text, a part, or a list of both; a picture alone is not text."""
    reason = answered(GEMINI, gemini("any", content), opened)["reason"]
    assert len(reason) <= GEMINI.budget
    whole = opened.whole(reason)
    if "db://" in whole:
        assert [json.loads(line) for line in whole.split("\n")] == content
    else:
        assert FLOOD in whole or json.dumps(FLOOD) in whole
        assert "AAAA" not in whole
    assert answered(GEMINI, gemini("any", {"inlineData": {"data": "A" * 90_000}}), opened) is None


@pytest.mark.proves("H-1")
def test_a_flood_on_both_outputs_is_shared_out(opened: Opened) -> None:
    """Each has its own handle."""
    shown = shown_by_claude(answered(CLAUDE, bash(FLOOD, "error\n" * 9_000), opened))
    assert len(shown["stdout"]) + len(shown["stderr"]) <= CLAUDE.budget
    assert opened.whole(shown["stdout"]) == FLOOD
    assert opened.whole(shown["stderr"]) == "error\n" * 9_000


@pytest.mark.proves("H-1")
def test_the_whole_is_kept_if_the_host_names_a_file_with_it(opened: Opened, tmp_path: Path) -> None:
    """Claude Code passes the first 30,000 characters of a command's output and keeps all of it in a file."""
    (tmp_path / "all.txt").write_text(FLOOD)
    event = bash(FLOOD[:30_000], persistedOutputPath=str(tmp_path / "all.txt"), persistedOutputSize=len(FLOOD))
    shown = shown_by_claude(answered(CLAUDE, event, opened))
    assert not any(name.startswith("persisted") for name in shown), "the host would show its own preview instead"
    assert shown["stdout"].rstrip().endswith("line 8999 of the flood")
    assert opened.whole(shown["stdout"]) == FLOOD


@pytest.mark.proves("H-1", "H-5")
@pytest.mark.parametrize(
    "other", ["gone", "another text", "shorter", "empty", "/dev/zero", "/dev/null", "a pipe", "a\0b"]
)
def test_a_file_that_is_not_the_whole_leaves_the_hosts_own_words(other: str, opened: Opened, tmp_path: Path) -> None:
    """The host's preview names its file; cutting what it passed would lose that, and call a part the whole."""
    path = tmp_path / "all.txt"
    if other == "a pipe":
        os.mkfifo(path)
    elif other in {"another text", "shorter", "empty"}:
        path.write_text({"another text": "something else\n" * 9_000, "shorter": FLOOD[:20_000], "empty": ""}[other])
    named = other if other.startswith("/dev") or "\0" in other else str(path)
    assert answered(CLAUDE, bash(FLOOD[:40_000], persistedOutputPath=named, persistedOutputSize=9), opened) is None


@pytest.mark.proves("H-1")
@pytest.mark.parametrize(("begins", "handed"), [(b"caf\xe9 ", "caf\ufffd "), (b"\n\nfirst\n", "first\n")])
def test_a_whole_that_the_host_hands_over_cleaned_is_known(
    begins: bytes, handed: str, opened: Opened, tmp_path: Path
) -> None:
    """Invalid UTF-8 is shown as U+FFFD, and blank lines are removed; the file still has them."""
    (tmp_path / "all.txt").write_bytes(begins + FLOOD.encode())
    event = bash(handed + FLOOD[:20_000], persistedOutputPath=str(tmp_path / "all.txt"))
    shown = shown_by_claude(answered(CLAUDE, event, opened))["stdout"]
    store = open_store(opened.url)
    assert store.read(handle_in(shown), 0, 20) == (begins + FLOOD.encode())[:20]
    store.close()


@pytest.mark.proves("H-1")
def test_only_the_hosts_own_tool_may_name_a_file(opened: Opened, tmp_path: Path) -> None:
    """An untrusted server could otherwise show any file of the person to its model."""
    (tmp_path / "secret").write_text("SECRETKEY\n" * 9_000)
    response = {"stdout": "", "persistedOutputPath": str(tmp_path / "secret")}
    assert answered(CLAUDE, claude("mcp__evil__x", response), opened) is None


def test_a_whole_that_cannot_be_kept_leaves_the_hosts_own_words(tmp_path: Path) -> None:
    """The host still has it; the person is told."""
    (tmp_path / "all.txt").write_text(FLOOD)
    event = bash(FLOOD[:30_000], persistedOutputPath=str(tmp_path / "all.txt"))
    reply = answered(CLAUDE, event, _no_store)
    assert list(reply) == ["systemMessage"]
    assert "no store here" in reply["systemMessage"]


@pytest.mark.proves("H-1")
@pytest.mark.parametrize("is_shown", [True, False])
def test_a_commands_whole_output_is_there_if_only_its_errors_are_too_long(
    is_shown: bool, opened: Opened, tmp_path: Path
) -> None:
    """The host passes a part and names its file; our answer removes that name, so it includes what the host left out."""
    (tmp_path / "all.txt").write_text(FLOOD)
    event = bash(FLOOD[:30_000], "e\n" * 300_000, persistedOutputPath=str(tmp_path / "all.txt"))
    shown = shown_by_claude(answered(CLAUDE, event, opened, budget=500_000 if is_shown else 28_000))
    assert opened.whole(shown["stderr"]) == "e\n" * 300_000
    assert (shown["stdout"] if is_shown else opened.whole(shown["stdout"])) == FLOOD


@pytest.mark.proves("H-1")
@pytest.mark.parametrize(("rows", "size"), [(1_000, 1_000), (40, 5_000), (9_000, 30)])
def test_a_result_in_very_many_texts_stays_within_the_budget(rows: int, size: int, opened: Opened) -> None:
    """The first ones stay, and one notice leads to all of them."""
    event = claude("other", {"rows": [{"v": f"{row} " + "x" * size} for row in range(rows)]})
    reply = answered(CLAUDE, event, opened)
    shown = shown_by_claude(reply)["rows"]
    assert shown == event["tool_response"]["rows"][: len(shown)]
    assert shown
    assert len(json.dumps(shown, separators=(",", ":"))) + len(note_of(reply)) <= CLAUDE.budget
    assert json.loads(opened.whole(note_of(reply))) == event["tool_response"]


@pytest.mark.proves("H-1")
def test_very_many_texts_outside_lists_share_one_notice(opened: Opened) -> None:
    """A record of records has no list to end early: the first texts stay, the others are empty, and everything is kept."""
    texts_of_part = {f"text {by}": f"{by} " + "x" * 900 for by in range(30)}
    record = {f"part {at}": {"type": "text", **texts_of_part} for at in range(30)}
    shown = shown_by_claude(answered(CLAUDE, claude("other", record), opened))
    texts = [text for part in shown.values() for text in part.values() if text != part["type"]]
    assert {part["type"] for part in shown.values()} == {"text"}, "what a block is built from is never emptied"
    assert sum(map(len, texts)) <= CLAUDE.budget
    (notice,) = [text for text in texts if text.startswith("[OUTPUT TRUNCATED]")]
    assert json.loads(opened.whole(notice)) == record


@pytest.mark.proves("H-1")
def test_records_that_the_room_does_not_hold_the_names_of_end_early(opened: Opened) -> None:
    """What stays is whole; once, texts in 64 records of 64 fields were emptied, and their names were themselves a flood."""
    record = {f"part {at}": {f"field {by} of {at}": f"value {by}" for by in range(64)} for at in range(64)}
    reply = answered(CLAUDE, claude("other", record), opened)
    shown = shown_by_claude(reply)
    assert list(shown) == list(record)
    for name, part in shown.items():
        assert list(part.items()) == list(record[name].items())[: len(part)]
        assert part
    assert len(json.dumps(shown, separators=(",", ":"))) + len(note_of(reply)) <= CLAUDE.budget
    assert json.loads(opened.whole(note_of(reply))) == record


DEEP: dict[str, tuple[HookHost, Callable[[Any], Event]]] = {
    "claude": (CLAUDE, lambda value: claude("mcp__db__tree", {"tree": value, "n": 1})),
    "codex": (CODEX, lambda value: codex("mcp__db__tree", {"content": [], "structuredContent": {"tree": value}})),
    "gemini": (GEMINI, lambda value: gemini("mcp_db_tree", [{"tree": value}])),
}


@pytest.mark.proves("H-1", "H-5")
@pytest.mark.parametrize("host", DEEP)
@pytest.mark.parametrize("levels", [480, 900, 30_000])
def test_a_result_that_is_too_deep_for_python_is_cut_as_the_text_that_it_is(
    host: str, levels: int, opened: Opened
) -> None:
    """Once, it passed whole, with only "maximum recursion depth exceeded" as a message."""
    how, event_of = DEEP[host]
    odd = '{"a":[' * (levels // 2) + json.dumps(FLOOD) + "]}" * (levels // 2)
    printed = Hook(how, opened, CommandLine).answer(raw(event_of("ODD")).replace(b'"ODD"', odd.encode()))
    assert b"systemMessage" not in printed
    assert len(printed) < 1.5 * how.budget
    whole = opened.whole(printed.decode())
    assert whole == FLOOD or whole in odd or odd in whole
    assert levels == 480 or json.dumps(FLOOD) in whole


@pytest.mark.proves("H-1", "H-5")
@pytest.mark.parametrize("host", DEEP)
@pytest.mark.parametrize("digits", [5_000, 90_000])
def test_a_number_of_more_digits_than_python_reads_is_text(host: str, digits: int, opened: Opened) -> None:
    """Once, it passed whole, with advice for Python programmers; with 90,000 digits it is itself a flood."""
    how, event_of = DEEP[host]
    event = event_of(["ODD", FLOOD] if digits < how.budget else "ODD")
    odd = "-" + "7" * digits
    printed = Hook(how, opened, CommandLine).answer(raw(event).replace(b'"ODD"', odd.encode()))
    assert b"systemMessage" not in printed
    assert len(printed) < 1.5 * how.budget
    assert opened.whole(printed.decode())
    assert digits < how.budget or odd in opened.whole(printed.decode())


@pytest.mark.proves("H-1")
def test_what_python_cannot_read_stays_as_it_was_if_it_fits(opened: Opened) -> None:
    """Next to a flood, a small but deep result must not become text for its host."""
    odd = b"[" * 2_000 + b"0.1000000000000000055511151231257827" + b"]" * 2_000
    event = raw(bash(FLOOD, rows=["ROWS"], number="N")).replace(b'["ROWS"]', odd).replace(b'"N"', b"-" + b"7" * 5_000)
    printed = Hook(CLAUDE, opened, CommandLine).answer(event)
    assert b'"rows":' + odd + b"," in printed
    assert b'"number":-' + b"7" * 5_000 + b"}" in printed


@pytest.mark.proves("H-1", "H-5")
def test_no_name_in_a_deep_result_passes_for_another_part_of_it(opened: Opened) -> None:
    """An escaped name could be that of what stood in for a deep value: with a text under it, a whole flood passed."""
    deep, odd = b"[" * 2_000 + b"]" * 2_000, rb'{"\u0064eep":"x","\u0064eeper":0,"n":[0e-0,1e-00]}'
    event = raw(bash(FLOOD, rows=["ROWS"], number="N")).replace(b'["ROWS"]', deep).replace(b'"N"', odd)
    printed = Hook(CLAUDE, opened, CommandLine).answer(event)
    assert b"systemMessage" not in printed
    assert b'"number":{"deep":"x","deeper":0,"n":[0e-0,1e-00]}' in printed


@pytest.mark.proves("H-5")
def test_invalid_json_is_never_printed(opened: Opened) -> None:
    """Python reads and writes `Infinity`, which no host reads."""
    printed = Hook(CLAUDE, opened, CommandLine).answer(raw(bash(FLOOD)).replace(b"false", b"Infinity", 1))
    assert list(json.loads(printed)) == ["systemMessage"]


@pytest.mark.parametrize("wrong", [b"1%s", b"-%s", b"%s5", b"%s%s"])
def test_what_is_wrong_next_to_a_deep_value_is_not_read_as_a_number(wrong: bytes) -> None:
    """A number stands in for a deep value: together with a digit beside it, it would be another number."""
    with pytest.raises(ValueError, match="Expecting"):
        verbatim_json.read_shallow(b"[" * 100 + wrong.replace(b"%s", b"[1]") + b"]" * 100)


@pytest.mark.proves("H-1")
def test_numbers_next_to_a_flood_keep_their_spelling(opened: Opened) -> None:
    """The same number in other digits is different text for a model."""
    spelled = b"[1e5, 1.0, -0.10, 1E+2, 12345678901234567890, 1e999, 0.1000000000000000055511151231257827]"
    event = raw(bash(FLOOD, rows=["ROWS"])).replace(b'["ROWS"]', spelled)
    printed = Hook(CLAUDE, opened, CommandLine).answer(event)
    assert b'"rows":' + spelled.replace(b" ", b"") in printed
    structured = codex("mcp__db__rows", {"content": [], "structuredContent": {"n": "NUMBER", "text": FLOOD}})
    reply = json.loads(Hook(CODEX, opened, CommandLine).answer(raw(structured).replace(b'"NUMBER"', b"1e5")))
    assert opened.whole(reply["reason"]).startswith('{"n":1e5,')


@pytest.mark.proves("H-1")
def test_what_is_next_to_a_text_is_named_if_only_text_can_be_shown(opened: Opened) -> None:
    """A link stays readable and a picture is counted; once, one of them kept the whole result from being cut."""
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    content = [*blocks(FLOOD), link, {"type": "image", "data": "A" * 90_000, "mimeType": "image/png"}]
    whole = opened.whole(answered(CODEX, codex("mcp__db__rows", {"content": content}), opened)["reason"])
    assert whole.startswith(FLOOD)
    assert json.dumps(link, separators=(",", ":")) in whole
    assert "[image of 90" in whole


@pytest.mark.proves("H-1")
def test_the_notice_says_that_the_host_had_cut_and_how_to_avoid_it(opened: Opened) -> None:
    """Codex removes the middle of a command's output before its hooks see it, and keeps it nowhere."""
    handed = "Warning: truncated output (original token count: 87224)\nTotal output lines: 60000\n\n" + FLOOD[:20_000]
    reason = answered(CODEX, codex("Bash", handed), opened)["reason"]
    assert "The host had cut it before, of 87224 tokens: of `penstock guard -- COMMAND` all is kept." in reason
    assert len(reason) <= CODEX.budget
    assert opened.whole(reason) == handed


@pytest.mark.proves("H-1")
def test_the_frame_that_marks_foreign_text_stays_around_what_is_shown(opened: Opened) -> None:
    """Gemini CLI wraps what its model should not obey; a plain cut would remove the end of that frame."""
    framed = f"<untrusted_context>\n{FLOOD}\n</untrusted_context>"
    reason = answered(GEMINI, gemini("mcp_db_rows", blocks(framed)), opened)["reason"]
    assert reason.startswith("<untrusted_context>\n[OUTPUT TRUNCATED]\n")
    assert reason.endswith("\n</untrusted_context>")
    assert len(reason) <= GEMINI.budget
    assert opened.whole(reason) == FLOOD


@pytest.mark.proves("H-5")
@pytest.mark.parametrize(
    "event",
    [
        claude("mcp__penstock__ctx_page", blocks(FLOOD)),
        gemini("mcp_penstock_ctx_read_file", blocks(FLOOD)),
        claude("Bash", {"stdout": FLOOD, "stderr": ""}, tool_input={"command": "penstock page abc --start-byte 4"}),
        claude("Bash", {"stdout": FLOOD, "stderr": ""}, tool_input={"command": " /opt/bin/penstock guard -- make"}),
    ],
)
def test_our_own_pages_pass(event: Event, opened: Opened) -> None:
    """Guarding a page of a kept result would lead in a circle."""
    assert answered(GEMINI if "timestamp" in event else CLAUDE, event, opened) is None


@pytest.mark.parametrize("name", HOOK_NAMES)
def test_all_our_tools_are_known_by_their_server_and_no_tool_that_is_only_called_alike(
    name: str, opened: Opened
) -> None:
    """A server's name is the person's choice; its tools are an outsider's, who could make a flood pass."""
    host = hook_host(name)
    for prefix in host.ours:
        for tool in TOOLS:
            assert is_ours(host, {"tool_name": f"{prefix}ctx_{tool.name}"})
    evil = ["mcp__evil__penstock_ctx_page", "mcp__evil__penstock__ctx_page", "mcp_evil_penstock_ctx_page", "ctx_page"]
    evil += ["mcp__penstock__ctx_dump", "mcp__x_penstock__ctx_page", "evil_penstock_ctx_page", "evil-penstock-ctx_page"]
    for called in evil:
        assert not is_ours(host, {"tool_name": called})
    assert not is_ours(host, {"tool_name": "mcp__evil__sh", "tool_input": {"command": "penstock page abc"}})


@pytest.mark.proves("H-1")
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_page_that_the_relay_gave_is_not_cut_again(is_kept: bool, opened: Opened) -> None:
    """It is larger than what a hook shows, and a cut of it would lead from a handle to a handle."""
    store = open_store(opened.url)
    handle = str(store.put(FLOOD.encode())) if is_kept else "A" * 22
    store.close()
    page = f"{handle}: showing lines 1-1500 of 9000 total\n{FLOOD[:40_000]}"
    answer = answered(CLAUDE, claude("mcp__db__ctx_page", blocks(page)), opened)
    assert (answer is None) is is_kept


@pytest.mark.parametrize(
    "command",
    [
        "penstock page abc; cat log",
        "penstock page abc | cat - log",
        "echo penstock page",
        "penstock page $(cat log)",
        "cat<big;x/penstock page h",
        "$(cat log)/penstock page h",
        "penstock page abc --raw",
        "penstock page abc --budget 99999999",
        "penstock page abc --max-bytes=262144",
        "penstock guard --chars 99999999 -- cat log",
        "penstock view log --limit 100000",
        "penstock read log",
        "penstock search . log --limit 500",
    ],
)
def test_what_only_begins_like_our_pager_does_not(command: str, opened: Opened) -> None:
    """A joined command is somebody else's output; file pages are as long in a shell as requested."""
    event = claude("Bash", {"stdout": FLOOD, "stderr": ""}, tool_input={"command": command})
    assert answered(CLAUDE, event, opened) is not None


def test_what_an_edit_holds_for_the_screen_is_not_a_result(opened: Opened) -> None:
    """Claude Code shows its model a sentence and keeps the file before and after for the person."""
    event = claude("Edit", {"filePath": "/a", "originalFile": FLOOD, "structuredPatch": [], "userModified": False})
    assert answered(CLAUDE, event, opened) is None


@pytest.mark.parametrize("name", HOOK_NAMES)
@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "UserPromptSubmit", None])
def test_other_events_are_not_ours(name: str, event: str | None, opened: Opened) -> None:
    """A hook that is configured for too many events changes nothing."""
    assert answered(hook_host(name), {"hook_event_name": event, "tool_response": FLOOD}, opened) is None


@pytest.mark.proves("H-5")
@pytest.mark.parametrize(
    "printed", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"hook_event_name": "PostToolUse"}', b"[" * 100_000]
)
@pytest.mark.parametrize("name", HOOK_NAMES)
def test_an_invalid_event_changes_nothing(name: str, printed: bytes, opened: Opened) -> None:
    """The hook fails open: at most the person gets a sentence."""
    said = Hook(hook_host(name), opened, CommandLine).answer(printed)
    assert not said or list(json.loads(said)) == ["systemMessage"]


NAMES = st.text(max_size=12) | st.sampled_from(["text", "content", "llmContent", "file", "stdout"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40) | st.just(FLOOD),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=12) | st.sampled_from(["text", "content", "llmContent"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Store]]:
    """Provide a store that all examples share, and that none of them closes."""
    store = open_store(str(tmp_path_factory.mktemp("hook") / "store"))
    close = store.close
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "close", lambda: None)
        yield lambda: store
    close()


@pytest.mark.proves("H-1", "H-5")
@given(JSON, st.sampled_from(["claude", "codex", "gemini"]))
def test_whatever_a_result_is_the_reply_is_within_the_budget_and_nothing_else_changes(
    one_store: Callable[[], Store], response: Any, name: str
) -> None:
    """The shapes include ones that no host was seen to use."""
    host = hook_host(name)
    event = {**codex("other", response), "hook_event_name": host.result_event}
    reply = answered(host, event, one_store)
    if reply is None:
        return
    assert list(reply) != ["systemMessage"], reply
    if host is not CLAUDE:
        assert len(reply["reason"]) <= host.budget
        return
    same, changed = 0, 0
    if "additionalContext" in reply["hookSpecificOutput"]:  # a list ends early
        assert "[OUTPUT TRUNCATED]" in note_of(reply)
        return
    pairs = [(response, shown_by_claude(reply))]
    while pairs:
        before, after = pairs.pop()
        if before == after:
            same += 1
        elif isinstance(before, dict):
            assert list(before) == list(after)
            pairs += [(before[key], after[key]) for key in before]
        elif isinstance(before, list) and len(before) == len(after):
            pairs += list(zip(before, after, strict=True))
        else:
            changed += 1
            shown = "\n".join(map(str, after)) if isinstance(after, list) else after
            assert "[OUTPUT TRUNCATED]" in str(shown)
    assert changed


def _no_store() -> Store:
    raise Ended("no store here")


@pytest.mark.proves("H-5")
@pytest.mark.parametrize("case", FLOODS)
def test_without_a_store_nothing_is_cut(case: str) -> None:
    """A full disk never costs the result: the host continues with its own, and the person is told why."""
    host, event, _, _ = FLOODS[case]
    assert answered(host, event, _no_store) == {"systemMessage": "penstock hook: no store here. Nothing was changed."}


@pytest.mark.proves("H-5")
def test_a_home_that_is_not_there_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root could make `/nonexistent`, which means that a user has no home; the message names what works."""
    home, record = tmp_path / "none", tmp_path / "session.jsonl"
    record.write_text("")
    monkeypatch.setenv("HOME", str(home))
    for name in ("PENSTOCK_STORE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    compaction = {**bash(""), "hook_event_name": "PreCompact", "transcript_path": str(record)}
    for event in (bash(FLOOD), compaction):
        said = answered(CLAUDE, event, open_store)["systemMessage"]
        assert said.startswith(f"penstock hook: The home folder {home} is not there: set HOME")
    assert not home.exists()
    home.mkdir()
    assert "TRUNCATED" in str(answered(CLAUDE, bash(FLOOD), open_store))


@pytest.mark.proves("H-1")
def test_parallel_results_share_the_budget_of_their_turn(opened: Opened) -> None:
    """Separate simultaneous processes take no more than two budgets and an eighth for each late one."""
    replies: list[str] = []
    threads = [
        threading.Thread(target=lambda: replies.append(answered(CODEX, codex("Bash", FLOOD), opened)["reason"]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    budget = CODEX.budget
    assert sum(map(len, replies)) <= TURN_BUDGETS * budget + 6 * (budget // 8)
    assert all(opened.whole(reply) == FLOOD for reply in replies)


@pytest.mark.proves("H-1")
def test_the_next_turn_has_a_budget_of_its_own(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that reads for an hour is not starved."""
    for _ in range(5):
        answered(CODEX, codex("Bash", FLOOD), opened)
    assert len(answered(CODEX, codex("Bash", FLOOD), opened)["reason"]) < 2_000
    assert len(answered(CODEX, {**codex("Bash", FLOOD), "session_id": "another"}, opened)["reason"]) > 8_000
    monkeypatch.setattr(hooks, "TURN_SECONDS", 0.0)
    assert len(answered(CODEX, codex("Bash", FLOOD), opened)["reason"]) > 8_000


@pytest.mark.proves("H-1")
def test_a_host_that_counts_bytes_gets_no_more_of_them(opened: Opened) -> None:
    """Codex cuts a hook's answer after 10,000 bytes, and the notice would be lost with the middle."""
    reason = answered(CODEX, codex("Bash", "\u00fcber alles \u4e16\n" * 9_000), opened)["reason"]
    assert 9_000 < len(reason.encode()) <= CODEX.budget


@pytest.mark.proves("H-1")
def test_the_lines_of_a_file_keep_their_numbers_below_the_notice(opened: Opened) -> None:
    """Claude Code numbers what it is given; an edit by another number would hit another line."""
    page = {"type": "text", "file": {"filePath": "/a", "content": FLOOD, "numLines": 9_000, "startLine": 41}}
    file = shown_by_claude(answered(CLAUDE, claude("Read", page), opened))["file"]
    numbered = dict(enumerate(file["content"].split("\n"), file["startLine"]))
    assert numbered[41] == "line 0 of the flood"
    assert numbered[40].startswith("The whole, 9000 lines")


def test_the_notice_names_our_tools_if_they_are_installed(opened: Opened) -> None:
    """A model with `ctx_page` needs no shell."""
    printed = Hook(CODEX, opened, mcp).answer(raw(codex("Bash", FLOOD)))
    assert 'ctx_page(handle="' in json.loads(printed)["reason"]


def test_a_person_can_say_how_large_a_result_may_be(opened: Opened) -> None:
    """This is for models that a host knows better."""
    assert 5_000 < len(answered(CODEX, codex("Bash", FLOOD), opened, budget=6_000)["reason"]) <= 6_000
