"""Does `penstock replay` show what was recorded next to what we would have sent?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.hosts.histories import Claude, written

from penstock.cli import main

if TYPE_CHECKING:
    from pathlib import Path

FLOOD = "".join(f"line {number} of the listing\n" for number in range(6_000))


@pytest.fixture
def session(tmp_path: Path) -> str:
    """Return a session that was flooded by a result, refused, and retried."""
    made = Claude()
    made.says("Fix it.")
    made.calls(("c1", "Bash", {"command": "ls -R"}, FLOOD, False))
    made.measured(9_000)
    made.is_refused("prompt is too long: 60000 tokens > 40000 maximum")
    made.answers_with("Done.")
    made.measured(30_000)
    for record in made.records:
        record |= {"sessionId": "id-1", "cwd": "/p", "timestamp": "2026-11-20T10:00:00Z"}
    return written(tmp_path / "s.jsonl", made.records)


def test_both_sides_are_shown_side_by_side(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    """People and scripts get both, with what is unknown; the window is the one that the refusal named."""
    assert main(["replay", session, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    recorded, replayed = done["recorded"], done["replayed"]
    assert (done["host"], done["session"], done["window"]) == ("claude", "id-1", 40_000)
    assert (recorded["requests"], replayed["requests"]) == (3, 2)
    assert (recorded["refusals"], replayed["refusals"]) == (1, 0)
    assert replayed["bounded"]["results"] == 1
    assert replayed["input_tokens"] < recorded["input_tokens"]
    assert recorded["input_tokens"] == sum(turn["recorded"] for turn in done["turns"])
    assert replayed["input_tokens"] == sum(turn["replayed"] or 0 for turn in done["turns"])
    assert 0 < replayed["money"]["dollars"] < recorded["money"]["dollars"]
    assert done["unknown"]
    assert main(["replay", session]) == 0
    shown = capsys.readouterr().out
    assert str(replayed["input_tokens"]) in shown
    assert all(sentence in shown for sentence in done["unknown"])
    assert f"${recorded['money']['uncached_dollars']:.2f}" in shown


def test_sums_of_money_are_of_the_same_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The number of those requests is given, and how many were too large for the plan."""
    made = Claude()
    for tokens in (1_000, 9_500, 12_000):
        made.says("Go.")
        made.answers_with("Done.")
        made.measured(tokens)
    for record in made.records:
        record |= {"sessionId": "id-1", "cwd": "/p", "timestamp": "2026-11-20T10:00:00Z"}
    path = written(tmp_path / "s.jsonl", made.records)
    assert main(["replay", path, "--window", "10000", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["replayed"]["refusals"], done["replayed"]["above_limit"]) == (1, 2)
    assert [done[side]["money"]["priced_turns"] for side in ("recorded", "replayed")] == [2, 2]
    assert main(["replay", path, "--window", "10000"]) == 0
    shown = capsys.readouterr().out
    assert "both sums are of the same 2 of 3 requests" in shown
    assert "Above 9375 tokens nevertheless, as no more could be cleared: 2 requests" in shown


def test_replay_of_a_session_without_a_window_asks_for_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is not a session is named too; a session without a request is nothing found."""
    made = Claude()
    made.says("Fix it.")
    for record in made.records:
        record |= {"sessionId": "id-1"}
    path = written(tmp_path / "s.jsonl", made.records)
    assert main(["replay", path]) == 2
    assert "--window TOKENS" in capsys.readouterr().err
    assert main(["replay", path, "--window", "9000"]) == 1
    capsys.readouterr()
    (tmp_path / "note.txt").write_text("words\n")
    assert main(["replay", str(tmp_path / "note.txt"), "--json"]) == 2
    assert "is not a session of" in json.loads(capsys.readouterr().out)["error"]["message"]
