"""Is each session of Copilot CLI (1.0.102) reported as the host itself sent it when it was resumed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts.sessions.copilot import head
from penstock.hosts.sessions.finding import paths_of
from penstock.hosts.sessions.records import opened
from penstock.inspection.timeline import Answered, Compacted, Instructed, Refused
from tests.hosts.histories import written
from tests.hosts.sessions.telling import told

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.sessions.telling import Record, Told

pytestmark = pytest.mark.proves("X-1")

IMAGE = "iVBORw0KGgo="


def event(kind: str, /, **data: Any) -> Record:
    """Return an event of a kind."""
    return {"type": kind, "data": data}


def start() -> Record:
    """Return the first event."""
    context = {"cwd": "/p"}
    return event("session.start", sessionId="s", version=1, copilotVersion="1.0.102", startTime="t", context=context)


def says(text: str, **more: Any) -> Record:
    """Return words of the person."""
    return event("user.message", content=text, transformedContent=f"<now/>{text}", messageId="m", **more)


def answers(text: str, *calls: str, **more: Any) -> Record:
    """Return an answer of the model."""
    requests = [
        {"toolCallId": call, "name": "bash", "arguments": {"command": call}, "type": "function"} for call in calls
    ]
    return event("assistant.message", messageId="a", content=text, toolRequests=requests, **more)


def returns(call: str, text: str = "", **more: Any) -> Record:
    """Return a tool's result, with a copy for the screen."""
    result = {"content": text or f"of {call}", "detailedContent": text or f"of {call}"}
    return event("tool.execution_complete", **{"toolCallId": call, "success": True, "result": result, **more})


def uses(tokens: int) -> Record:
    """Return the figures of the next answer."""
    usage = {"model": "m", "inputTokens": tokens, "outputTokens": 7, "cacheReadTokens": 3, "maxPromptTokens": 64_000}
    return event("session.usage_record", usage=usage)


def chained(*events: Record) -> list[Record]:
    """Return events as the host writes them: each names the one before it."""
    rows = [start(), *events]
    return [
        {**row, "id": f"e{at}", "timestamp": "t", "parentId": f"e{at - 1}" if at else None}
        for at, row in enumerate(rows)
    ]


def session() -> list[Record]:
    """Return one event of every kind."""
    child = {"agentId": "child"}
    failed: dict[str, Any] = {"success": False, "result": None, "error": {"message": "No such file"}}
    return chained(
        event("system.message", role="system", content="You are an agent."),
        says("Go.", attachments=[{"type": "blob", "mimeType": "image/png", "data": IMAGE, "displayName": "p.png"}]),
        uses(100),
        answers("", "a", "b"),
        event("tool.execution_start", toolCallId="a", toolName="bash"),
        {**answers("Hm.", "k"), **child},
        {**returns("k"), **child},
        returns("b"),
        event("system.notification", content="A shell ended."),
        returns("a", **failed),
        uses(200),
        answers("One ", apiCallId="x", chunkIndex=0),
        answers("two.", "c", apiCallId="x", chunkIndex=1),
        returns("c"),
        event("session.error", message="400 too long"),
        event(
            "session.compaction_complete", success=True, preCompactionTokens=9, trigger="manual", summaryContent="Sum."
        ),
        event("session.binary_asset", assetId="sha256:1", mimeType="image/png", data=IMAGE),
        says("On.", attachments=[{"type": "file", "mimeType": "image/png", "assetId": "sha256:1"}]),
        answers("Done."),
        event("session.shutdown"),
    )


def words(read: Told) -> list[Any]:
    """Return the role of each message of the next request, and its words or calls."""
    return [
        (one.message["role"], one.message["content"] or [call["id"] for call in one.message["tool_calls"]])
        for one in read.projection
    ]


def test_results_follow_their_calls_in_the_order_of_the_calls(tmp_path: Path) -> None:
    """This is what 1.0.102 sent, whichever was ready first, and whatever the host said meanwhile."""
    events = [says("Go."), answers("", "a", "b"), returns("b"), event("system.notification", content="n"), returns("a")]
    read = told("copilot", tmp_path / "s", chained(*events, answers("Done.")))
    assert words(read) == [
        ("user", "<now/>Go."),
        ("assistant", ["a", "b"]),
        ("tool", "of a"),
        ("tool", "of b"),
        ("user", "n"),
        ("assistant", "Done."),
    ]
    assert [one.by_host for one in read.projection] == [False, False, False, False, True, False]


def test_a_call_without_a_result_is_left_as_it_is(tmp_path: Path) -> None:
    """The host closes it; what was said after it is not lost, nor is a result that came."""
    read = told("copilot", tmp_path / "s", chained(says("Go."), answers("", "a", "b"), returns("b"), says("And?")))
    assert words(read) == [("user", "<now/>Go."), ("assistant", ["a", "b"]), ("tool", "of b"), ("user", "<now/>And?")]


def test_an_answer_in_several_events_is_one(tmp_path: Path) -> None:
    """Events of one provider call are joined; two calls with one id are still two answers."""
    whole = [
        answers("One ", apiCallId="x", chunkIndex=0),
        answers("two.", "c", apiCallId="x", chunkIndex=1),
        returns("c"),
    ]
    again = [answers("Next.", apiCallId="x"), answers("Last.", apiCallId="x")]
    read = told("copilot", tmp_path / "s", chained(*whole, *again))
    assert words(read) == [("assistant", "One two."), ("tool", "of c"), ("assistant", "Next."), ("assistant", "Last.")]
    assert [call["id"] for call in read.projection[0].message["tool_calls"]] == ["c"]


def test_figures_come_before_their_answer(tmp_path: Path) -> None:
    """They come after all that they count; those of a child agent are not the session's."""
    child = {"type": "session.usage_record", "data": {"usage": {"inputTokens": 9, "parentToolCallId": "a"}}}
    read = told(
        "copilot", tmp_path / "s", chained(says("Go."), uses(5), answers("", "a"), child, returns("a"), uses(8))
    )
    order = [type(one).__name__ for one in read.happenings]
    assert order == ["Said", "Answered", "Said", "Said", "Answered"]
    assert read.of(Answered)[0][:5] == (5, 7, 3, None, 64_000)


def test_a_compaction_leaves_what_the_person_said_and_the_summary(tmp_path: Path) -> None:
    """They are in one message, in the host's own words; a failed compaction leaves everything."""
    failed = event("session.compaction_complete", success=False, error="no")
    done = event("session.compaction_complete", success=True, preCompactionTokens=9, summaryContent="Sum.")
    before = [says("One."), answers("1"), says("hidden", source="skill-s"), answers("2")]
    kept = told("copilot", tmp_path / "k", chained(*before, failed))
    assert len(kept.projection) == 4
    assert not kept.of(Compacted)
    read = told("copilot", tmp_path / "s", chained(*before, says("Two."), done, says("Three.")))
    summary = (
        "Some of the conversation history has been summarized to free up context.\n\nYou were originally given instructions "
        "from a user over one or more turns. Here were the user messages:\n<user_message>\nOne.\n</user_message>\n"
        "<user_message>\nTwo.\n</user_message>\n\nHere is a summary of the prior context:\n<summary>\nSum.\n</summary>\n"
    )
    assert words(read) == [("user", summary), ("user", "<now/>Three.")]
    assert [(one.before_tokens, one.by_hand) for one in read.of(Compacted)] == [(9, None)]
    assert [one.is_summary for one in read.projection] == [True, False]


def test_what_a_person_cleared_is_gone(tmp_path: Path) -> None:
    """It is also gone from a later summary."""
    done = event("session.compaction_complete", success=True, summaryContent="Sum.")
    cleared = [says("One."), answers("1"), event("session.context_cleared", messagesCleared=2), says("Two.")]
    read = told("copilot", tmp_path / "s", chained(*cleared, done))
    assert "One." not in words(read)[0][1]
    assert "Two." in words(read)[0][1]


def test_images_are_sent_with_the_message(tmp_path: Path) -> None:
    """Both embedded images and named ones are sent."""
    read = told("copilot", tmp_path / "s", session())
    block = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    first = next(one for one in read.happenings if getattr(one, "message", None))
    assert first.message["content"] == [{"type": "text", "text": "<now/>Go."}, {"type": "text", "text": "p.png"}, block]  # type: ignore[union-attr]
    assert read.projection[1].message["content"] == [{"type": "text", "text": "<now/>On."}, block]


def test_instructions_refusals_and_what_is_never_sent_are_told_apart(tmp_path: Path) -> None:
    """What a developer added is not sent again when the host resumes."""
    developer = event("system.message", role="developer", content="Be brief.")
    read = told("copilot", tmp_path / "s", [*session(), developer])
    assert [one.system for one in read.of(Instructed)] == ["You are an agent."]
    assert [one.words for one in read.of(Refused)] == ["400 too long"]
    sizes = read.counts.unsent_bytes
    assert {"child agents", "copies of results", "tool.execution_start", "session.binary_asset"} <= sizes.keys()


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    """This covers future kinds, also in a known family."""
    read = told("copilot", tmp_path / "s", [*session(), event("session.of_next_year"), event("robot"), {"type": 7}])
    assert dict(read.counts.unknown) == {"session.of_next_year": 1, "robot": 1, "": 1}


def test_sessions_are_found_where_the_host_keeps_them(tmp_path: Path) -> None:
    """Each is in its own folder."""
    folder = tmp_path / ".copilot" / "session-state" / "s"
    folder.mkdir(parents=True)
    path = written(folder / "events.jsonl", session())
    assert list(paths_of("copilot", {"HOME": str(tmp_path)})) == [path]
    assert list(paths_of("copilot", {"COPILOT_HOME": str(tmp_path / ".copilot"), "HOME": "/none"})) == [path]
    with opened(path) as file:
        assert head(file, "") == ("s", "/p", "1.0.102", "t")
