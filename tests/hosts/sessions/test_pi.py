"""Is each session of pi (its format 3, as of 0.73.1) reported as the host itself builds its next request?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts.sessions.finding import paths_of
from penstock.hosts.sessions.pi import head
from penstock.hosts.sessions.records import opened
from penstock.inspection.timeline import Answered, Compacted, Refused
from tests.hosts.histories import written
from tests.hosts.sessions.telling import told

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.sessions.telling import Record, Told

pytestmark = pytest.mark.proves("X-1")

IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
BLOCK = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


class Pi:
    """A growing session, in which every entry names the one before it."""

    def __init__(self) -> None:
        self.records: list[Record] = [{"type": "session", "version": 3, "id": "old", "timestamp": "t", "cwd": "/p"}]
        self.last: str | None = None

    def add(self, kind: str, **more: Any) -> str:
        """Add an entry; return its id."""
        key = f"{len(self.records):08x}"
        self.records.append({"type": kind, "id": key, "parentId": self.last, "timestamp": "t", **more})
        self.last = key
        return key

    def message(self, role: str, **more: Any) -> str:
        """Add a message; return its id."""
        return self.add("message", message={"role": role, "timestamp": 1, **more})

    def says(self, text: str) -> str:
        """Add words of the person."""
        return self.message("user", content=[{"type": "text", "text": text}])

    def answers(self, text: str, *calls: str, tokens: int = 100, **more: Any) -> str:
        """Add an answer of the model."""
        words = [{"type": "text", "text": text}] if text else []
        made = [{"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": call}} for call in calls]
        usage = {"input": tokens - 3, "output": 7, "cacheRead": 3, "cacheWrite": 0, "totalTokens": tokens + 7}
        return self.message(
            "assistant", **{"content": [*words, *made], "model": "m", "usage": usage, "stopReason": "stop", **more}
        )

    def returns(self, call: str, text: str = "", *images: Record) -> str:
        """Add a tool's result."""
        content = [{"type": "text", "text": text or f"of {call}"}, *images]
        return self.message(
            "toolResult", toolCallId=call, toolName="bash", content=content, isError=False, details={"x": text}
        )


def session() -> list[Record]:
    """Return one entry of every kind."""
    talk = Pi()
    talk.add("model_change", provider="p", modelId="m")
    talk.says("Go.")
    talk.answers("", "a", "b")
    talk.returns("a", "", IMAGE)
    talk.returns("b")
    kept = talk.says("And then?")
    talk.message("bashExecution", command="ls", output="x", exitCode=1, cancelled=False, truncated=False)
    talk.answers("", stopReason="error", errorMessage="400 too long", content=[])
    talk.add("custom_message", customType="e", content="Injected.", display=True)
    talk.add("branch_summary", fromId="0", summary="Tried A.")
    talk.add("compaction", summary="Sum.", firstKeptEntryId=kept, tokensBefore=9)
    talk.answers("Done.", content=[{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Done."}])
    talk.add("label", targetId=kept, label="here")
    return talk.records


def words(read: Told) -> list[Any]:
    """Return what each message of the next request says, or which calls it makes."""
    return [one.message["content"] or [call["id"] for call in one.message["tool_calls"]] for one in read.projection]


def test_images_of_results_come_after_all_results_of_their_answer(tmp_path: Path) -> None:
    """They are in a message in the person's name, as they are sent to a chat model."""
    talk = Pi()
    talk.says("Go.")
    talk.answers("", "a", "b")
    talk.returns("a", "see", IMAGE)
    talk.returns("b")
    talk.says("On.")
    read = told("pi", tmp_path / "s", talk.records)
    attached = [{"type": "text", "text": "Attached image(s) from tool result:"}, BLOCK]
    assert words(read) == ["Go.", ["a", "b"], "see", "of b", attached, "On."]
    assert [one.by_host for one in read.projection] == [False, False, False, False, True, False]


def test_a_compaction_leaves_the_summary_and_what_it_keeps(tmp_path: Path) -> None:
    """It keeps entries from the one that it names; nothing if that one is missing."""
    read = told("pi", tmp_path / "s", session())
    summary = "The conversation history before this point was compacted into the following summary:\n\n<summary>\nSum.\n</summary>"
    branch = (
        "The following is a summary of a branch that this conversation came back from:\n\n<summary>\nTried A.</summary>"
    )
    ran = "Ran `ls`\n```\nx\n```\n\nCommand exited with code 1"
    assert words(read) == [summary, "And then?", ran, "Injected.", branch, "Done."]
    assert [one.again for one in read.projection] == [False, True, True, True, True, False]
    assert [one.before_tokens for one in read.of(Compacted)] == [9]
    gone = [{**row, "firstKeptEntryId": "gone"} if row["type"] == "compaction" else row for row in session()]
    assert words(told("pi", tmp_path / "g", gone)) == [summary, "Done."]


def test_what_a_person_left_is_not_sent(tmp_path: Path) -> None:
    """The newest entry shows which branch is current; a broken branch begins after the break."""
    talk = Pi()
    first = talk.says("Go.")
    talk.answers("Wrong.")
    talk.last = first
    talk.answers("Right.")
    read = told("pi", tmp_path / "s", talk.records)
    assert words(read) == ["Go.", "Right."]
    assert read.counts.unsent_bytes["taken back"] > 100
    broken = [row for row in talk.records if row.get("id") != first]
    assert words(told("pi", tmp_path / "b", broken)) == ["Right."]


def test_a_file_of_the_first_format_is_read_in_its_order(tmp_path: Path) -> None:
    """Its entries have no ids."""
    talk = Pi()
    talk.says("Go.")
    talk.answers("Done.")
    rows = [{key: value for key, value in row.items() if key not in {"id", "parentId"}} for row in talk.records[1:]]
    assert words(told("pi", tmp_path / "s", [talk.records[0], *rows])) == ["Go.", "Done."]


def test_figures_and_refusals(tmp_path: Path) -> None:
    """An answer that failed or was interrupted is not sent again."""
    talk = Pi()
    talk.says("Go.")
    talk.answers("One.")
    talk.answers("", stopReason="error", errorMessage="400 too long", content=[])
    talk.answers("half", stopReason="aborted")
    read = told("pi", tmp_path / "s", talk.records)
    assert [type(one).__name__ for one in read.happenings] == ["Said", "Answered", "Said", "Refused"]
    assert [one[:4] for one in read.of(Answered)] == [(100, 7, 3, 0)]
    assert [one.words for one in read.of(Refused)] == ["400 too long"]


@pytest.mark.parametrize(
    ("more", "told_as"),
    [
        ({"excludeFromContext": True}, None),
        ({"output": ""}, "Ran `ls`\n(no output)"),
        ({"cancelled": True, "exitCode": None}, "Ran `ls`\n```\nx\n```\n\n(command cancelled)"),
        ({"truncated": True, "fullOutputPath": "/t"}, "Ran `ls`\n```\nx\n```\n\n[Output truncated. Full output: /t]"),
    ],
)
def test_a_command_that_the_person_ran(more: Record, told_as: str | None, tmp_path: Path) -> None:
    """It is reported as the host sends it, unless the person excluded it."""
    talk = Pi()
    ran = {"command": "ls", "output": "x", "exitCode": 0, "cancelled": False, "truncated": False}
    talk.message("bashExecution", **{**ran, **more})
    assert words(told("pi", tmp_path / "s", talk.records)) == ([told_as] if told_as else [])


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    """These are future entries and messages."""
    talk = Pi()
    talk.says("Go.")
    talk.add("hologram")
    talk.message("critic")
    read = told("pi", tmp_path / "s", talk.records)
    assert dict(read.counts.unknown) == {"hologram": 1, "message critic": 1}
    assert words(read) == ["Go."]


def test_sessions_are_found_where_the_host_keeps_them(tmp_path: Path) -> None:
    """They are found by folder."""
    folder = tmp_path / ".pi" / "agent" / "sessions" / "--p--"
    folder.mkdir(parents=True)
    path = written(folder / "t_old.jsonl", session())
    assert list(paths_of("pi", {"HOME": str(tmp_path)})) == [path]
    assert list(paths_of("pi", {"PI_CODING_AGENT_DIR": str(tmp_path / ".pi" / "agent"), "HOME": "/none"})) == [path]
    with opened(path) as file:
        assert head(file, "") == ("old", "/p", "", "t")
