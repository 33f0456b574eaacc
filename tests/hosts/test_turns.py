"""Is what the results of one turn have taken counted across processes, without waiting?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import Ended
from penstock.hosts import turns
from penstock.hosts.claude import CLAUDE
from penstock.hosts.hook import Hook
from penstock.store import open_store
from penstock.text.calls import CommandLine
from penstock.workspace import locks
from tests.hosts.events import claude, raw

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.store import Store

FLOOD = "".join(f"line {number} of the flood\n" for number in range(9_000))


def test_amounts_add_up_until_the_turn_is_over(tmp_path: Path) -> None:
    """Each name is counted separately."""
    folder = str(tmp_path / "own")
    taken = [turns.spend("a", 5, window_seconds=60, folder=folder) for _ in range(3)]
    assert taken == [0, 5, 10]
    assert turns.spend("b", 5, window_seconds=60, folder=folder) == 0
    assert turns.spend("a", 5, window_seconds=0, folder=folder) == 0
    assert os.stat(folder).st_mode & 0o077 == 0 or sys.platform == "win32"


def test_processes_at_the_same_time_count_each_amount_once(tmp_path: Path) -> None:
    """Two that read the same count would both add to it."""
    count = (
        "import sys; from penstock.hosts import turns; turns.MAX_WAIT_SECONDS = 60\n"
        "for _ in range(50): turns.spend('a', 1, window_seconds=600, folder=sys.argv[1])"
    )
    folder = str(tmp_path / "own")
    running = [subprocess.Popen([sys.executable, "-c", count, folder]) for _ in range(4)]
    assert [one.wait(timeout=60) for one in running] == [0] * 4
    assert turns.spend("a", 0, window_seconds=600, folder=folder) == 200


@pytest.mark.proves("H-5")
def test_nobody_waits_for_a_lock_that_is_held(tmp_path: Path) -> None:
    """A process that hangs with the lock costs a count, and no host waits."""
    folder = str(tmp_path / "own")
    turns.spend("a", 5, window_seconds=60, folder=folder)
    with (tmp_path / "own" / "turns").open("r+b") as held:
        assert locks.acquire(held.fileno())
        started = time.monotonic()
        assert turns.spend("a", 5, window_seconds=60, folder=folder) == 0
        assert time.monotonic() - started < 1
    assert turns.spend("a", 5, window_seconds=60, folder=folder) == 5


@pytest.mark.proves("H-5")
def test_a_store_that_is_locked_holds_up_no_result_that_only_counts(tmp_path: Path) -> None:
    """When turns were counted there, it waited for thirteen seconds."""

    def no_store() -> Store:
        raise AssertionError("a result that is left alone opens no store")

    event = raw(claude("mcp__db__rows", FLOOD[:20_000]))
    assert Hook(CLAUDE, no_store, CommandLine, turns_folder=str(tmp_path / "own")).answer(event) == b""


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"a": 1}', b'{"a": ["x", "y"]}', b"\xff" * 70_000])
def test_a_file_without_counts_counts_nothing(content: bytes, tmp_path: Path) -> None:
    """A process was killed while writing."""
    folder = str(tmp_path / "own")
    turns.spend("a", 5, window_seconds=60, folder=folder)
    (tmp_path / "own" / "turns").write_bytes(content)
    assert [turns.spend("a", 5, window_seconds=60, folder=folder) for _ in range(2)] == [0, 5]


def test_a_folder_that_others_may_open_is_left_alone(tmp_path: Path) -> None:
    """In a shared folder anybody may have made it."""
    if sys.platform == "win32":
        pytest.skip("there are no modes")
    (tmp_path / "shared").mkdir(mode=0o755)
    (tmp_path / "shared" / "turns").write_text("{}")
    (tmp_path / "shared").chmod(0o755)
    assert turns.spend("a", 5, window_seconds=60, folder=str(tmp_path / "shared")) == 0
    assert (tmp_path / "shared" / "turns").read_text() == "{}"


def test_a_clock_that_was_set_back_keeps_no_turn_open(tmp_path: Path) -> None:
    """It would otherwise last until the clock catches up."""
    folder = str(tmp_path / "own")
    turns.spend("a", 5, window_seconds=60, folder=folder)
    (tmp_path / "own" / "turns").write_text(json.dumps({"a": [5, time.time() + 500]}))
    assert turns.spend("a", 5, window_seconds=60, folder=folder) == 0


def test_the_file_does_not_grow_with_sessions(tmp_path: Path) -> None:
    """Entries an hour old are removed, and too many at once start afresh."""
    folder = str(tmp_path / "own")
    at = tmp_path / "own" / "turns"
    turns.spend("a", 5, window_seconds=60, folder=folder)
    at.write_text(json.dumps({"old": [5, time.time() - 4_000], "b": [5, time.time()]}))
    turns.spend("a", 5, window_seconds=60, folder=folder)
    assert list(json.loads(at.read_text())) == ["b", "a"]
    at.write_text(json.dumps({f"{number:0200}": [5, time.time()] for number in range(280)}))
    for name in range(50):
        turns.spend(f"{name:x>200}", 5, window_seconds=60, folder=folder)
    assert at.stat().st_size <= 1 << 17


def answers(*calls: tuple[str, str]) -> str:
    """Write a session file of Claude Code: calls, each with the answer in which it was made."""
    rows = (
        {
            "parentUuid": "p",
            "message": {"id": answer, "role": "assistant", "content": [{"type": "tool_use", "id": call}]},
        }
        for call, answer in calls
    )
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


@pytest.mark.proves("H-1")
def test_results_of_one_answer_share_a_budget_however_far_apart_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Code records the answer of a call; each answer has its own budget, however close in time."""
    monkeypatch.setattr("penstock.hosts.hook.TURN_SECONDS", 0.0)
    file = tmp_path / "session.jsonl"
    file.write_text("{}\n" * 9 + answers(*((f"c{number}", "m1") for number in range(5)), ("c5", "m2"), ("c6", "m2")))

    def shown(call: str) -> int:
        event = raw(claude("mcp__db__rows", FLOOD, tool_use_id=call, transcript_path=str(file)))
        hook = Hook(CLAUDE, lambda: open_store(str(tmp_path / "s")), CommandLine, turns_folder=str(tmp_path / "own"))
        return len(json.loads(hook.answer(event))["hookSpecificOutput"]["updatedToolOutput"])

    assert [shown(call) > 20_000 for call in ("c0", "c1", "c2", "c5", "c3", "c6", "c4")] == [
        True, True, False, True, False, True, False,
    ]  # fmt: skip
    assert shown("unknown") > 20_000, "without an answer time tells"


def test_a_word_in_a_result_names_no_answer(tmp_path: Path) -> None:
    """Quotes inside a text are escaped."""
    file = tmp_path / "session.jsonl"
    forged = {"message": {"content": '"message":{"id":"evil"},"id":"c0"'}}
    file.write_text(answers(("c0", "m1")) + json.dumps(forged, separators=(",", ":")) + "\n")
    assert CLAUDE.turn({"transcript_path": str(file), "tool_use_id": "c0"}) == "m1"
    for path in (str(tmp_path / "gone"), "/dev/zero", "a\0b", 7, None):
        assert CLAUDE.turn({"transcript_path": path, "tool_use_id": "c0"}) is None


def test_without_a_store_a_turn_is_counted_all_the_same(tmp_path: Path) -> None:
    """The store is only for keeping."""

    def no_store() -> Store:
        raise Ended("no store here")

    def reply(opening: Callable[[], Store]) -> Any:
        hook = Hook(CLAUDE, opening, CommandLine, turns_folder=str(tmp_path / "own"))
        return json.loads(hook.answer(raw(claude("mcp__db__rows", FLOOD, transcript_path=None))))

    # Two results went to the host whole, because nothing of them could be kept: the next one gets the rest.
    assert list(reply(no_store)) == list(reply(no_store)) == ["systemMessage"]
    third = reply(lambda: open_store(str(tmp_path / "store")))
    assert len(third["hookSpecificOutput"]["updatedToolOutput"]) < 4_000
