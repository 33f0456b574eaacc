"""Are sessions of qwen-code (0.24.4) read right: what was said, taken back, compacted and refused?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts.sessions.finding import paths_of
from penstock.hosts.sessions.qwen import head
from penstock.hosts.sessions.records import opened
from penstock.inspection.timeline import Answered, Compacted, Refused
from tests.hosts.histories import lines
from tests.hosts.sessions.telling import told

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.sessions.telling import Record, Told

pytestmark = pytest.mark.proves("X-1")

IMAGE = {"inlineData": {"mimeType": "image/jpeg", "data": "/9j/"}}
SUMMARY = {"role": "user", "parts": [{"text": "<state_snapshot>What happened.</state_snapshot>"}]}
WORD = {"role": "model", "parts": [{"text": "Got it. Thanks for the additional context!"}]}


class Qwen:
    """A growing session, in which every record names the one before it."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.last: str | None = None

    def add(self, kind: str, parts: list[Any] | None = None, **more: Any) -> None:
        """Add a record of a kind, with a message if there are parts."""
        uuid = f"u{len(self.records)}"
        role = "model" if kind == "assistant" else "user"
        message = {} if parts is None else {"message": {"role": role, "parts": parts}}
        base = {
            "uuid": uuid,
            "parentUuid": self.last,
            "sessionId": "s",
            "timestamp": "t",
            "cwd": "/p",
            "version": "0.24.4",
        }
        self.records.append({**base, "type": kind, **message, **more})
        self.last = uuid

    def system(self, subtype: str, payload: Record) -> None:
        """Add a record that is not a message."""
        self.add("system", subtype=subtype, systemPayload=payload)

    def says(self, text: str, **more: Any) -> None:
        """Add words of the person."""
        self.add("user", [{"text": text}], **more)

    def answers_with(self, *parts: Record, tokens: int = 100) -> None:
        """Add an answer of the model."""
        self.system("ui_telemetry", {"uiEvent": {"event.name": "qwen-code.api_response", "input_token_count": tokens}})
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 7, "cachedContentTokenCount": 3}
        self.add("assistant", list(parts), usageMetadata=usage, model="m", contextWindowSize=262_144)

    def results(self, *calls: str) -> None:
        """Add one record for each call."""
        for call in calls:
            response: Record = {"id": call, "name": "read_file", "response": {"output": f"of {call}"}}
            if call == "failed":
                response["response"] = {"error": "File not found"}
            if call == "picture":
                response["parts"] = [IMAGE]
            self.add(
                "tool_result", [{"functionResponse": response}], toolCallResult={"callId": call, "resultDisplay": "x"}
            )

    def refused(self, **more: str) -> None:
        """Add an error in place of an answer, recorded only as telemetry."""
        words = "400 This model's maximum context length is 8192 tokens."
        self.system("ui_telemetry", {"uiEvent": {"event.name": "qwen-code.api_error", "error_message": words, **more}})


def calls(*ids: str) -> list[Record]:
    """Add calls of one answer."""
    return [{"functionCall": {"id": one, "name": "read_file", "args": {"path": one}}} for one in ids]


def session() -> Qwen:
    """Return parallel calls of which one failed, and one that returned an image."""
    talk = Qwen()
    talk.says("Go.")
    talk.answers_with({"text": "Plan", "thought": True}, *calls("a", "failed"))
    talk.results("a", "failed")
    talk.answers_with(*calls("picture"), tokens=200)
    talk.results("picture")
    talk.answers_with({"text": "Done."}, tokens=300)
    return talk


def words(read: Told) -> list[str]:
    """Return the texts and the answered calls of the next request."""
    return [
        part.get("text") or part.get("functionResponse", {}).get("id") or part.get("functionCall", {}).get("id")
        for one in read.projection
        for part in one.message.get("parts", [])
    ]


def test_what_was_said_is_what_a_resume_sends(tmp_path: Path) -> None:
    """Thoughts are included, as in 0.24.4; it adds its instructions and reminders, which it records nowhere."""
    read = told("qwen", tmp_path / "s", session().records)
    assert words(read) == ["Go.", "Plan", "a", "failed", "a", "failed", "picture", "picture", "Done."]
    assert [(one.input_tokens, one.cached_tokens, one.window_tokens) for one in read.of(Answered)] == [
        (100, 3, 262_144),
        (200, 3, 262_144),
        (300, 3, 262_144),
    ]
    assert IMAGE in read.projection[5].message["parts"][0]["functionResponse"]["parts"]
    assert {"system ui_telemetry", "copies of results"} <= read.counts.unsent_bytes.keys()


@pytest.mark.parametrize(
    ("figures", "made"),
    [
        ({"thoughtsTokenCount": 40, "totalTokenCount": 147}, 47),
        ({"thoughtsTokenCount": 5, "totalTokenCount": 107}, 7),
        ({"thoughtsTokenCount": 40}, 47),
        ({"thoughtsTokenCount": 5}, 7),
        ({"thoughtsTokenCount": 0, "totalTokenCount": 107}, 7),
    ],
    ids=["Gemini's", "OpenAI's", "no total, more reasoning than answer", "no total, in the answer", "none"],
)
def test_reasoning_is_output_once(figures: Record, made: int, tmp_path: Path) -> None:
    """One provider counts it within the answer and one separately; the total shows which."""
    talk = Qwen()
    talk.says("Go.")
    talk.answers_with({"text": "Done."})
    talk.records[-1]["usageMetadata"] |= figures
    assert [one.output_tokens for one in told("qwen", tmp_path / "s", talk.records).of(Answered)] == [made]


def test_a_compaction_takes_the_prompt_that_set_it_off_too(tmp_path: Path) -> None:
    """The prompt is recorded first: a resumed session sends the answer without it, as 0.24.4 did."""
    talk = session()
    kept = talk.records[-1]["message"]
    talk.says("More.")
    info = {"originalTokenCount": 240_065, "newTokenCount": 5, "triggerReason": "token_limit"}
    talk.system("chat_compression", {"info": info, "compressedHistory": [SUMMARY, WORD, kept]})
    talk.answers_with({"text": "Second."})
    read = told("qwen", tmp_path / "s", talk.records)
    assert [(one.before_tokens, one.by_hand) for one in read.of(Compacted)] == [(240_065, False)]
    assert words(read) == [SUMMARY["parts"][0]["text"], WORD["parts"][0]["text"], "Done.", "Second."]  # type: ignore[index]
    assert [one.is_summary for one in read.projection] == [True, False, False, False]
    assert [one.by_host for one in read.projection] == [True, True, False, False]
    assert [one.again for one in read.projection] == [False, False, True, False]


def test_a_refusal_is_reported_and_that_of_a_child_agent_is_not(tmp_path: Path) -> None:
    """Both are telemetry of the session."""
    talk = session()
    talk.refused(subagent_name="explorer")
    talk.refused()
    refused = told("qwen", tmp_path / "s", talk.records).of(Refused)
    assert [one.words for one in refused] == ["400 This model's maximum context length is 8192 tokens."]


def test_what_was_taken_back_is_not_said(tmp_path: Path) -> None:
    """It stays in the file, off the current branch; after a missing record nothing is sent."""
    talk = session()
    begun = talk.last
    talk.says("Wrong.")
    talk.last = begun
    talk.system("rewind", {"truncatedCount": 1})
    talk.says("Right.")
    read = told("qwen", tmp_path / "s", talk.records)
    assert words(read)[-2:] == ["Done.", "Right."]
    assert read.counts.unsent_bytes["taken back"] > 100
    gap = [record for record in talk.records if record["uuid"] != "u5"]
    assert "Go." not in words(told("qwen", tmp_path / "g", gap))


@pytest.mark.parametrize(
    ("command", "sent", "is_said"), [("/about", False, False), ("/other", False, True), ("/about", True, True)]
)
def test_a_command_that_the_host_answered_is_taken_out(command: str, sent: bool, is_said: bool, tmp_path: Path) -> None:
    """The model never saw it."""
    talk = session()
    talk.says(command)
    items = [{"type": "assistant", "text": "Version 0.24.4"}]
    payload = {"phase": "result", "rawCommand": "/about", "sentToModel": sent, "outputHistoryItems": items}
    talk.system("slash_command", payload)
    assert (words(told("qwen", tmp_path / "s", talk.records))[-1] == command) == is_said


def test_what_the_host_says_by_itself_is_marked(tmp_path: Path) -> None:
    """It is in the person's name; what another model received is not reported at all."""
    talk = session()
    talk.says("A task has ended.", subtype="notification", provenance="system")
    talk.says("Hello?", subtype="realtime_message")
    read = told("qwen", tmp_path / "s", talk.records)
    assert words(read)[-1] == "A task has ended."
    assert read.projection[-1].by_host


def test_what_is_not_known_or_torn_is_counted(tmp_path: Path) -> None:
    """The rest is reported, and the chain continues through unknown records."""
    talk = session()
    talk.add("next year")
    talk.system("of next year", {})
    talk.says("On.")
    read = told("qwen", tmp_path / "s", lines(talk.records).encode() + b'{"uuid": "u9", "ty')
    assert (read.counts.torn, dict(read.counts.unknown)) == (1, {"next year": 1, "system of next year": 1})
    assert words(read)[0] == "Go."
    assert words(read)[-1] == "On."


def test_sessions_are_found_where_the_host_keeps_them(tmp_path: Path) -> None:
    """Their heads say whose they are."""
    chats = tmp_path / ".qwen" / "projects" / "-p" / "chats"
    chats.mkdir(parents=True)
    path = chats / "s.jsonl"
    path.write_text(lines(session().records))
    assert list(paths_of("qwen", {"HOME": str(tmp_path)})) == [str(path)]
    assert list(paths_of("qwen", {"QWEN_HOME": str(tmp_path / ".qwen"), "HOME": "/none"})) == [str(path)]
    with opened(str(path)) as file:
        assert head(file, "") == ("s", "/p", "0.24.4", "t")


def test_a_repeated_id_means_its_first_record(tmp_path: Path) -> None:
    """A last duplicate without a successor is not the chain's end, and a chain that leads back to itself ends."""
    talk = session()
    double = {**talk.records[0], "message": {"role": "user", "parts": [{"text": "Other."}]}, "parentUuid": "u9"}
    aside = {
        **talk.records[0],
        "uuid": "x",
        "type": "system",
        "subtype": "session_sources_snapshot",
        "parentUuid": None,
    }
    last = {
        **talk.records[0],
        "uuid": "y",
        "parentUuid": talk.last,
        "message": {"role": "user", "parts": [{"text": "On."}]},
    }
    read = told("qwen", tmp_path / "s", [*talk.records, double, last, aside])
    assert (words(read)[0], words(read)[-1]) == ("Go.", "On.")
    round_about = [{**record, "parentUuid": talk.last} if record["uuid"] == "u0" else record for record in talk.records]
    assert words(told("qwen", tmp_path / "r", round_about)) == words(told("qwen", tmp_path / "w", talk.records))
