"""What are the sessions of a machine, how full is each, and what is the story of one, from files as their hosts write them?"""

from __future__ import annotations

import json
import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.hosts.sessions import reports
from penstock.hosts.sessions.finding import sessions_here
from penstock.hosts.sessions.records import SessionFile
from penstock.hosts.sessions.reports import glance_at, story_of
from penstock.inspection.page import row_of
from tests.hosts import histories
from tests.hosts.histories import Claude, written

if TYPE_CHECKING:
    from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

pytestmark = pytest.mark.proves("X-2")

FLOOD = "".join(f"line {number} of the listing\n" for number in range(3_000))


def talk(measured: Sequence[int] = (20_000, 31_000), *, is_stuck: bool = False) -> Claude:
    """Return a session of two answers, of which the first calls a tool that floods."""
    made = Claude()
    made.says("Fix it.")
    made.add(
        "assistant", [{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls -R"}}], answer="m1"
    )
    made.measured(measured[0])
    made.add("user", [{"type": "tool_result", "tool_use_id": "c1", "content": FLOOD}])
    made.add("assistant", [{"type": "text", "text": "Done."}], answer="m2")
    made.measured(measured[1])
    if is_stuck:
        made.says("And now?")
        made.is_refused("prompt is too long: 213462 tokens > 200000 maximum")
    for record in made.records:
        record |= {"sessionId": "id-1", "cwd": "/p", "version": "2.1.332", "timestamp": "t"}
    return made


def home_of(tmp_path: Path) -> dict[str, str]:
    """Make a home with sessions of three hosts, and other files."""
    claude, codex = tmp_path / ".claude/projects/p", tmp_path / ".codex/sessions/2026/11/22"
    gemini = tmp_path / ".gemini/tmp/p/chats"
    for folder in (claude, codex, gemini):
        folder.mkdir(parents=True)
    files = [
        written(claude / "a.jsonl", talk().records),
        written(codex / "rollout-b.jsonl", histories.codex("Go.")),
        written(gemini / "session-c.jsonl", histories.gemini("Go.")),
        written(claude / "agent-of-a.jsonl", talk().records),
    ]
    for age, path in enumerate(files):
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return {"HOME": str(tmp_path)}


def test_sessions_of_all_hosts_are_found_the_newest_first(tmp_path: Path) -> None:
    """Those of child agents are not separate sessions, and a host that is not requested is not searched."""
    environment = home_of(tmp_path)
    assert [(file.host, Path(file.path).stem) for file in sessions_here(environment)] == [
        ("claude", "a"),
        ("codex", "rollout-b"),
        ("gemini", "session-c"),
    ]
    assert [file.host for file in sessions_here(environment, ["codex"])] == ["codex"]
    assert sessions_here({"HOME": str(tmp_path / "none")}) == []
    (tmp_path / ".claude/projects/p/gone.jsonl").symlink_to(tmp_path / "nowhere")
    assert len(sessions_here(environment)) == 3


def test_a_glance_says_what_the_story_says_of_the_newest_request(tmp_path: Path) -> None:
    """Nothing is counted: figure, window and state are those of the story."""
    for is_stuck, tokens, state in ((False, 31_000, "open"), (True, 213_462, "stuck")):
        path = written(tmp_path / "s.jsonl", talk(is_stuck=is_stuck).records)
        subject, glance = glance_at("claude", path)
        _, story = story_of("claude", path)
        assert (subject.session, subject.project, subject.version) == ("id-1", "/p", "2.1.332")
        assert glance.fill is not None
        assert story.fill is not None
        assert (glance.fill.tokens, glance.state) == (story.fill.tokens, story.state) == (tokens, state)
        assert glance.window_tokens == story.window_tokens
        assert glance.items == ()
        assert sum(glance.by_tool.values()) < 10, "only the frames of messages"


def test_a_glance_makes_no_size_up(tmp_path: Path) -> None:
    """A request without a figure takes that of the one before, as its words are not counted; without any there is none."""
    for figures, sizes in (((20_000, 0), [20_000, 20_000]), ((0, 31_000), [0, 31_000]), ((0, 0), [0, 0])):
        path = written(tmp_path / "s.jsonl", talk(figures).records)
        subject, seen = glance_at("claude", path, is_whole=True)
        assert [turn.tokens for turn in seen.turns] == sizes
        assert row_of(subject, seen).tokens == (sizes[-1] or None)


def test_a_glance_reads_the_ends_of_a_long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest figure is at its end; if no request is there, the whole file is read."""
    path = written(tmp_path / "s.jsonl", talk((20_000, 31_000)).records)
    monkeypatch.setattr(reports, "GLANCED_BYTES", 1_000)
    _, seen = glance_at("claude", path)
    assert [turn.tokens for turn in seen.turns] == [31_000]
    assert [turn.tokens for turn in glance_at("claude", path, is_whole=True)[1].turns] == [20_000, 31_000]
    long = talk()
    long.add("user", [{"type": "tool_result", "tool_use_id": "c2", "content": FLOOD}])
    _, seen = glance_at("claude", written(tmp_path / "t.jsonl", long.records))
    assert [turn.tokens for turn in seen.turns] == [20_000, 31_000]


def test_a_story_has_what_only_its_file_tells(tmp_path: Path) -> None:
    """It has torn lines, unknown kinds and what no provider gets; reading the head counts no line twice."""
    made = talk()
    made.records.insert(3, {"type": "never-seen"})
    path = Path(written(tmp_path / "s.jsonl", made.records, tail='{"type": "user", "mess'))
    path.write_bytes(b"no record\n" + path.read_bytes())
    subject, story = story_of("claude", str(path))
    assert story.torn == 2
    assert story.unknown == {"never-seen": 1}
    assert story.waste.unsent_bytes["never-seen"] > 0
    assert "taken back" not in story.waste.unsent_bytes
    assert subject.size_bytes == path.stat().st_size
    assert [item.name for item in story.waste.floods] == ["Bash"]


def test_window_and_model_are_what_the_caller_says(tmp_path: Path) -> None:
    """A record may name neither; text is counted as that model counts it."""
    path = written(tmp_path / "s.jsonl", talk().records)
    _, own = story_of("claude", path)
    _, other = story_of("claude", path, window_tokens=64_000, model="gpt-4o")
    assert (own.window_tokens, other.window_tokens, other.window_source) == (None, 64_000, "as given")
    assert own.by_tool["Bash"] != other.by_tool["Bash"]


@example([12, 12, 12], 32)  # the last of three lines of 30 bytes begins where the skipped part ends
@given(st.lists(st.integers(0, 40), max_size=12), st.integers(0, 400))
def test_each_record_at_the_ends_of_a_long_file_is_read_once(sizes: list[int], max_bytes: int) -> None:
    """They are those that begin in the first sixteenth or after the skipped part; a partial record does not count as torn."""
    rows = [json.dumps({"n": number, "x": "y" * size}).encode() + b"\n" for number, size in enumerate(sizes)]
    content = b"".join(rows)
    file = SessionFile(BytesIO(content), len(content), max_bytes=max_bytes)
    read = [record["n"] for _, record in file.records()]
    starts = [sum(map(len, rows[:number])) for number in range(len(rows))]
    first = max_bytes // 16
    skipped = range(first, len(content) - max_bytes + first)
    assert read == [number for number, start in enumerate(starts) if start not in skipped]
    assert file.counts.torn == 0
    assert file.counts.skipped_bytes == len(skipped)


def test_a_story_says_what_its_session_cost(tmp_path: Path) -> None:
    """The host's record gives model and figures; for a model without a price the story says so."""
    _, known = story_of("claude", written(tmp_path / "known.jsonl", talk().records))
    assert known.money is not None
    assert known.money.priced_turns == 2
    assert round(known.money.uncached_dollars, 9) == round((20_000 + 31_000) * 5e-6 + 2 * 5 * 25e-6, 9)
    made = talk()
    for record in made.records:
        if record["type"] == "assistant":
            record["message"] |= {"model": "nobody-7b"}
    _, unknown = story_of("claude", written(tmp_path / "unknown.jsonl", made.records))
    assert unknown.money is None


def test_an_answer_without_an_id_has_its_figures(tmp_path: Path) -> None:
    """Consecutive blocks are one answer; what follows words of a person is another."""
    made = talk()
    made.says("More.")
    for block in ({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Well."}):
        made.add("assistant", [block])
        made.measured(40_000)
    for record in made.records:
        record.get("message", {}).pop("id", None)
    _, story = story_of("claude", written(tmp_path / "s.jsonl", made.records))
    assert [turn.recorded_tokens for turn in story.turns] == [20_000, 31_000, 40_000]
    assert all(turn.is_measured for turn in story.turns)


def test_what_goes_with_every_request_unrecorded_went_with_those_before_the_first_figure(tmp_path: Path) -> None:
    """A refused first request held the host's instructions as the second one did, whose figure shows them."""
    made = Claude()
    made.says("Fix it.")
    made.is_refused("Prompt is too long")
    made.says("Go on.")
    made.answers_with("Done.")
    made.measured(20_000)
    _, story = story_of("claude", written(tmp_path / "s.jsonl", made.records))
    refused, answered = story.turns
    assert refused.is_refused
    assert refused.by_kind["unrecorded"] == answered.by_kind["unrecorded"] > 19_000
    assert refused.tokens == sum(refused.by_kind.values())


def test_the_file_of_a_child_agent_is_a_session(tmp_path: Path) -> None:
    """In its parent's file the same records are outside the conversation."""
    child = talk()
    for record in child.records:
        record["isSidechain"] = True
    _, story = story_of("claude", written(tmp_path / "agent-1.jsonl", child.records))
    assert [turn.tokens for turn in story.turns] == [20_000, 31_000]
    parent = talk()
    for record in child.records:
        if "uuid" in record:
            record |= {"uuid": "x" + record["uuid"], "parentUuid": "x" + (record["parentUuid"] or "")}
    _, story = story_of("claude", written(tmp_path / "both.jsonl", [*child.records, *parent.records]))
    assert len(story.turns) == 2
    assert story.waste.unsent_bytes["sidechain"] > len(FLOOD)
