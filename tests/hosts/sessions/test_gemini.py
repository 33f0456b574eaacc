"""Are sessions of Gemini CLI (0.61.0) read right: what was said, sent twice, taken back and compacted?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts.sessions import reader_of
from penstock.hosts.sessions.finding import paths_of
from penstock.hosts.sessions.gemini import ACKNOWLEDGED
from penstock.hosts.sessions.handoffs import handoff_of
from penstock.hosts.sessions.records import opened
from penstock.hosts.sessions.reports import glance_at
from penstock.inspection.timeline import Answered, Compacted, Refused, Said
from tests.hosts import histories
from tests.hosts.histories import written
from tests.hosts.sessions.telling import told
from tests.hosts.sessions.test_rescue import rescued

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.sessions.telling import Record

pytestmark = pytest.mark.proves("X-1")

IMAGE = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
CONTEXT = {"id": "c", "type": "user", "content": [{"text": "<session_context>\nThis is the Gemini CLI."}]}
HEAD = {"sessionId": "s", "projectHash": "h", "startTime": "t", "kind": "main"}


def response(call: str, *, failed: bool = False) -> Record:
    """Return a result as the API has it."""
    return {
        "functionResponse": {
            "id": call,
            "name": "read_file",
            "response": {"error" if failed else "output": f"of {call}"},
        }
    }


def batch(key: str, calls: dict[str, list[Record]], tokens: int) -> list[Record]:
    """Return an answer that calls, written three times, and its results in a separate message."""
    answer = {"id": key, "type": "gemini", "content": "", "model": "m", "thoughts": [{"subject": "Plan"}]}
    counted = {**answer, "tokens": {"input": tokens, "output": 7, "cached": 3}}
    made = [
        {"id": call, "name": "read_file", "args": {"path": call}, "result": result, "resultDisplay": "shown"}
        for call, result in calls.items()
    ]
    copy = {"id": f"{key}r", "type": "user", "content": [part for result in calls.values() for part in result]}
    return [answer, counted, {**counted, "toolCalls": made}, copy, {"$set": {"lastUpdated": "t"}}]


def session() -> list[Record]:
    """Return parallel calls of which one failed, and one that returned an image."""
    return [
        HEAD,
        {"$set": {"messages": [CONTEXT]}},
        {"id": "u1", "type": "user", "content": [{"text": "Go."}]},
        *batch("g1", {"a": [response("a")], "b": [response("b", failed=True)]}, 100),
        *batch("g2", {"p": [response("p"), IMAGE]}, 200),
        {"id": "g3", "type": "gemini", "content": "Done.", "tokens": {"input": 300, "output": 7, "cached": 3}},
    ]


def parts(said: list[Said]) -> list[Any]:
    """Return the parts of all messages."""
    return [part for one in said for part in one.message["parts"]]


def answered(said: list[Said]) -> list[str]:
    """Return which calls are answered, one after another."""
    return [part["functionResponse"]["id"] for part in parts(said) if "functionResponse" in part]


def test_a_resume_sends_each_result_twice(tmp_path: Path) -> None:
    """In 0.61.0, 44 KB of results became 88 KB, pictures too; the second is reported as a copy."""
    read = told("gemini", tmp_path / "s", session())
    assert answered(read.projection) == ["a", "b", "a", "b", "p", "p"]
    own = [one for one in read.projection if not one.by_host]
    assert answered(own) == ["a", "b", "p"], "every id once"
    assert parts(own).count(IMAGE) == 1
    assert parts(read.projection).count(IMAGE) == 2
    assert [one.message["role"] for one in own] == ["user", "model", "user", "model", "user", "model"]


def test_figures_of_an_answer_come_before_it(tmp_path: Path) -> None:
    """They are reported once, although it is written three times."""
    read = told("gemini", tmp_path / "s", session())
    assert [(one.input_tokens, one.output_tokens, one.cached_tokens) for one in read.of(Answered)] == [
        (100, 7, 3),
        (200, 7, 3),
        (300, 7, 3),
    ]
    for before, behind in zip(read.happenings, read.happenings[1:], strict=False):
        if isinstance(before, Answered):
            assert isinstance(behind, Said)
            assert behind.message["role"] == "model"


def test_reasoning_is_output_that_is_counted_separately(tmp_path: Path) -> None:
    """Gemini's API counts it so, and charges for both; an answer that is only reasoning counts, too."""
    answers = [
        {"id": "g1", "type": "gemini", "content": "a", "tokens": {"input": 100, "output": 7, "thoughts": 1_000}},
        {"id": "g2", "type": "gemini", "content": "b", "tokens": {"input": 200, "thoughts": 30}},
    ]
    read = told("gemini", tmp_path / "s", [HEAD, *answers])
    assert [one.output_tokens for one in read.of(Answered)] == [1_007, 30]


def test_after_a_resume_results_are_there_three_times(tmp_path: Path) -> None:
    """It rewrites all messages, including the copies, and loses the usage of some answers."""
    made = batch("g1", {"a": [response("a")]}, 100)
    anew = [
        CONTEXT,
        {"id": "u1", "type": "user", "content": [{"text": "Go."}]},
        {**made[2], "tokens": None, "content": [{"functionCall": {"id": "a", "name": "read_file", "args": {}}}]},
        {"id": "g1_response", "type": "user", "content": [response("a")]},
        made[3],
    ]
    read = told("gemini", tmp_path / "s", [HEAD, anew[1], *made, {"$set": {"messages": anew}}])
    assert answered(read.projection) == ["a", "a", "a"]
    assert [one.by_host for one in read.projection if answered([one])] == [False, True, True]
    assert [one.input_tokens for one in read.of(Answered)] == [100]
    assert not read.of(Compacted)


def test_a_compaction_leaves_the_summary_and_what_stays(tmp_path: Path) -> None:
    """Only the host's own sentence for the model marks a compaction."""
    summary = {"id": "n1", "type": "user", "content": [{"text": "What happened so far."}]}
    word = {"id": "n2", "type": "gemini", "content": [{"text": ACKNOWLEDGED}]}
    last = {"id": "g3", "type": "gemini", "content": [{"text": "Done."}]}
    more = {"id": "u2", "type": "user", "content": [{"text": "On."}]}
    records = [*session(), {"$set": {"messages": [CONTEXT, summary, word, last]}}, more]
    read = told("gemini", tmp_path / "s", records)
    assert [one.before_tokens for one in read.of(Compacted)] == [300]
    assert [part["text"].split("\n")[0] for part in parts(read.projection)] == [
        "<session_context>",
        "What happened so far.",
        ACKNOWLEDGED,
        "Done.",
        "On.",
    ]
    assert [one.is_summary for one in read.projection] == [False, True, False, False, False]
    assert [one.by_host for one in read.projection] == [True, True, True, False, False]
    assert [one.again for one in read.projection] == [True, False, False, True, False]
    assert len(read.of(Answered)) == 3, "what stays was answered before"


def test_a_result_that_stays_under_another_id_was_said_before(tmp_path: Path) -> None:
    """The host gives it a new id if it resumes and compacts at once."""
    summary = {"id": "n1", "type": "user", "content": [{"text": "What happened so far."}]}
    word = {"id": "n2", "type": "gemini", "content": [{"text": ACKNOWLEDGED}]}
    kept = {"id": "g2_response", "type": "user", "content": [response("p")]}
    read = told("gemini", tmp_path / "s", [*session(), {"$set": {"messages": [CONTEXT, summary, word, kept]}}])
    assert [(one.again, one.by_host) for one in read.projection if answered([one])] == [(True, False)]


def test_replaced_messages_without_a_summary_are_not_a_compaction(tmp_path: Path) -> None:
    """They replace those before; thoughts among them are not sent."""
    thought = {"text": "**Plan**", "thought": True}
    anew = [
        {"id": "n1", "type": "user", "content": [{"text": "Anew."}]},
        {"id": "n2", "type": "gemini", "content": [thought, {"text": "So be it."}]},
    ]
    read = told("gemini", tmp_path / "s", [*session(), {"$set": {"messages": anew}}])
    assert not read.of(Compacted)
    assert [part["text"] for part in parts(read.of(Said))] == ["Anew.", "So be it."]


def test_a_failure_takes_the_prompt_back(tmp_path: Path) -> None:
    """Without a screen only this is recorded of a refusal; with one its words are too."""
    prompt = {"id": "u2", "type": "user", "content": [{"text": "More."}]}
    refusal = {"id": "e", "type": "error", "content": "[API Error: The input token count (2) exceeds the maximum (1)]"}
    kept = [CONTEXT, {"id": "u1", "type": "user", "content": [{"text": "Go."}]}]
    read = told("gemini", tmp_path / "s", [*session(), prompt, {"$set": {"messages": kept}}, refusal])
    assert [one.words for one in read.of(Refused)] == [refusal["content"]]
    assert [part["text"] for part in parts(read.projection)][1:] == ["Go."]
    assert read.counts.unsent_bytes["written again"] > 1_000


@pytest.mark.parametrize(("to", "left"), [("g3", 1), ("g2", 1), ("gone", 0)])
def test_a_way_back_takes_what_follows(to: str, left: int, tmp_path: Path) -> None:
    """It also takes the message that it names, and everything if it names none."""
    read = told("gemini", tmp_path / "s", [*session(), {"$rewindTo": to}])
    assert ("Go." in [part.get("text") for part in parts(read.projection)]) == left
    assert "Done." not in [part.get("text") for part in parts(read.projection)]


def test_what_is_not_known_or_torn_is_counted(tmp_path: Path) -> None:
    """The rest is reported."""
    whole = told("gemini", tmp_path / "w", session())
    tail = [{"type": "next year"}, {"id": "x", "type": "robot"}, {"id": "i", "type": "info", "content": "hi"}]
    content = (tmp_path / "w").read_bytes() + b"".join(repr(row).replace("'", '"').encode() + b"\n" for row in tail)
    read = told("gemini", tmp_path / "s", content + b'{"id": "u9", "ty')
    assert (read.counts.torn, dict(read.counts.unknown)) == (1, {"next year": 1, "robot": 1})
    assert read.happenings == whole.happenings
    assert {"info", "thoughts", "copies of results"} <= read.counts.unsent_bytes.keys()


def test_sessions_are_found_where_the_host_keeps_them(tmp_path: Path) -> None:
    """A child agent's is one folder deeper, and not a session of its own."""
    chats = tmp_path / ".gemini" / "tmp" / "project" / "chats"
    (chats / "parent").mkdir(parents=True)
    for name in ("session-2026-1.jsonl", "parent/child.jsonl"):
        (chats / name).touch()
    assert list(paths_of("gemini", {"HOME": str(tmp_path)})) == [str(chats / "session-2026-1.jsonl")]
    assert list(paths_of("gemini", {"GEMINI_CLI_HOME": str(tmp_path), "HOME": "/none"})) == [
        str(chats / "session-2026-1.jsonl")
    ]


def test_the_folder_of_a_session_is_named_next_to_it(tmp_path: Path) -> None:
    """It holds for all sessions of a project; without such a file, or if it names no folder, the folder is unknown."""
    path = tmp_path / "tmp" / "p" / "chats" / "session-a.jsonl"
    path.parent.mkdir(parents=True)
    written(path, histories.gemini("Go."))
    with opened(str(path)) as file:
        assert reader_of("gemini").head(file, str(path)).folder == ""
        for content, told_as in ((b"/p\n", "/p"), (b"\xff", ""), (b"p", "")):
            (tmp_path / "tmp" / "p" / ".project_root").write_bytes(content)
            assert reader_of("gemini").head(file, str(path)).folder == told_as
    (tmp_path / "tmp" / "p" / ".project_root").write_text("/p")
    assert glance_at("gemini", str(path))[0].project == "/p"
    assert handoff_of("gemini", str(path)).state["folder"] == "/p"
    assert rescued("gemini", str(path))[0].folder == "/p"
