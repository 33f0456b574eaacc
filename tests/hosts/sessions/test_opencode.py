"""Is each export of opencode (1.18.33) reported as the host itself sent the session when it was resumed?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.errors import CallerError
from penstock.hosts.sessions import exported
from penstock.hosts.sessions.finding import paths_of
from penstock.hosts.sessions.opencode import head
from penstock.hosts.sessions.records import opened
from penstock.inspection.timeline import Answered, Compacted, Refused
from tests.hosts.sessions.telling import as_file, told

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.hosts.sessions.telling import Record, Told

pytestmark = pytest.mark.proves("X-1")

URL = "data:image/png;base64,iVBORw0KGgo="
MODEL = {"providerID": "p", "modelID": "m"}


class Opencode:
    """A growing session."""

    def __init__(self) -> None:
        self.messages: list[Record] = []
        self.asked = ""

    def add(self, role: str, parts: Sequence[Record], **more: Any) -> str:
        """Add a message; return its id."""
        key = f"msg_{len(self.messages):04}"
        held = {"sessionID": "ses_old", "messageID": key}
        rows = [{**part, "id": f"prt_{key}_{at}", **held} for at, part in enumerate(parts)]
        info = {"id": key, "sessionID": "ses_old", "role": role, "time": {"created": 1_000 + len(self.messages)}}
        self.messages.append({"info": {**info, **more}, "parts": rows})
        return key

    def says(self, *parts: str | Record) -> str:
        """Add words of the person."""
        made = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
        self.asked = self.add("user", made, agent="build", model=MODEL)
        return self.asked

    def answers(self, *parts: str | Record, tokens: int = 100, **more: Any) -> str:
        """Add an answer of the model."""
        cache = {"read": 3, "write": 0}
        used = {"input": tokens - 3, "output": 7, "reasoning": 0, "cache": cache}
        made = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
        info = {"parentID": self.asked, **MODEL, "agent": "build", "tokens": used, "finish": "stop"}
        return self.add(
            "assistant", [{"type": "step-start"}, *made, {"type": "step-finish", "tokens": used}], **{**info, **more}
        )

    def compacts(self, tail: str | None = None, **more: Any) -> None:
        """Add a compaction of the host, with a summary."""
        named = {"tail_start_id": tail} if tail else {}
        self.says({"type": "compaction", "auto": True, **named})
        self.answers("Sum.", summary=True, tokens=50, **more)

    @property
    def document(self) -> Record:
        """Return what the export prints."""
        info = {"id": "ses_old", "directory": "/p", "version": "1.18.33", "time": {"created": 999}}
        return {"info": info, "messages": self.messages}


def call(key: str, **state: Any) -> Record:
    """Return a call with its result."""
    made = {
        "status": "completed",
        "input": {"command": key},
        "output": f"of {key}",
        "title": "",
        "metadata": {"output": "x"},
    }
    return {"type": "tool", "tool": "bash", "callID": key, "state": {**made, "time": {"start": 1, "end": 2}, **state}}


def session() -> list[Record]:
    """Return one part of every kind."""
    talk = Opencode()
    talk.says(
        "Go.",
        {"type": "file", "mime": "image/png", "url": URL},
        {"type": "text", "text": "Read it.", "synthetic": True},
    )
    picture = [{"mime": "image/png", "url": URL, "type": "file"}]
    talk.answers(
        {"type": "reasoning", "text": "Hm."}, "I look.", call("a"), call("b", status="error", error="No such file")
    )
    talk.answers(call("p", attachments=picture), call("r", status="running"), tokens=200)
    last = talk.says("And then?")
    talk.answers("Two.")
    talk.compacts(last)
    talk.says({"type": "text", "text": "Continue.", "synthetic": True})
    talk.answers("Done.")
    return [talk.document]


def words(read: Told) -> list[Any]:
    """Return what each message of the next request says, or which calls it makes."""
    return [one.message["content"] or [made["id"] for made in one.message["tool_calls"]] for one in read.projection]


def read_of(talk: Opencode, path: Path) -> Told:
    """Return what is reported of a session."""
    return told("opencode", path / "s", [talk.document])


def test_an_answer_its_results_and_what_came_with_them(tmp_path: Path) -> None:
    """Each is a message; an image of a result follows in a separate one, as it is sent to a chat model."""
    talk = Opencode()
    talk.says("Go.")
    talk.answers("Hm.", call("a"), call("p", attachments=[{"mime": "image/png", "url": URL}]))
    read = read_of(talk, tmp_path)
    assert [one.message["role"] for one in read.projection] == ["user", "assistant", "tool", "tool", "user"]
    assert read.projection[-1].message["content"] == [
        {"type": "text", "text": "Attached media from tool result:"},
        {"type": "image_url", "image_url": {"url": URL}},
    ]
    assert [one.by_host for one in read.projection] == [False] * 4 + [True]


@pytest.mark.parametrize(
    ("state", "sent"),
    [
        ({}, "of a"),
        ({"time": {"start": 1, "end": 2, "compacted": 3}}, "[Old tool result content cleared]"),
        ({"status": "error", "error": "No such file"}, "No such file"),
        ({"status": "error", "error": "x", "metadata": {"interrupted": True, "output": "half"}}, "half"),
        ({"status": "running"}, "[Tool execution was interrupted]"),
        ({"status": "pending"}, "[Tool execution was interrupted]"),
    ],
)
def test_a_result_is_reported_as_it_is_sent(state: Record, sent: str, tmp_path: Path) -> None:
    """This holds whatever became of the call."""
    talk = Opencode()
    talk.answers(call("a", **state))
    assert read_of(talk, tmp_path).projection[-1].message == {"role": "tool", "tool_call_id": "a", "content": sent}


def test_figures_come_before_their_answer(tmp_path: Path) -> None:
    """What came from a cache is part of the input; an answer without figures has none."""
    talk = Opencode()
    talk.says("Go.")
    talk.answers("One.")
    talk.answers("Two.", tokens=3)
    nothing = {"input": 0, "output": 0, "cache": {"read": 0, "write": 0}}
    talk.answers("Three.", tokens=0)
    talk.messages[-1]["info"]["tokens"] = nothing
    read = read_of(talk, tmp_path)
    assert [type(one).__name__ for one in read.happenings] == ["Said", "Answered", "Said", "Answered", "Said", "Said"]
    assert [(one.input_tokens, one.cached_tokens) for one in read.of(Answered)] == [(100, 3), (3, 3)]


def test_reasoning_is_output_in_addition_to_the_answer(tmp_path: Path) -> None:
    """The host subtracts it from the provider's figure: both were charged."""
    talk = Opencode()
    talk.says("Go.")
    talk.answers("One.")
    talk.messages[-1]["info"]["tokens"]["reasoning"] = 1_000
    assert [one.output_tokens for one in read_of(talk, tmp_path).of(Answered)] == [1_007]


def test_a_compaction_leaves_the_question_the_summary_and_the_tail(tmp_path: Path) -> None:
    """The tail, which was before it, comes after the summary."""
    talk = Opencode()
    talk.says("One.")
    talk.answers("1")
    last = talk.says("Two.")
    talk.answers("2")
    talk.compacts(last)
    talk.says("Three.")
    read = read_of(talk, tmp_path)
    assert words(read) == ["What did we do so far?", "Sum.", "Two.", "2", "Three."]
    assert [one.again for one in read.projection] == [True, False, True, True, False]
    assert [one.is_summary for one in read.projection] == [False, True, False, False, False]
    assert [(one.before_tokens, one.by_hand) for one in read.of(Compacted)] == [(50, False)]


@pytest.mark.parametrize(
    ("tail", "more"),
    [
        ("gone", {}),
        ("msg_0002", {"finish": ""}),
        ("msg_0002", {"error": {"name": "APIError", "data": {"message": "no"}}}),
    ],
    ids=["of a tail that is not there", "not finished", "refused"],
)
def test_an_invalid_compaction_removes_nothing(tail: str, more: Record, tmp_path: Path) -> None:
    """The host then sends everything."""
    talk = Opencode()
    talk.says("One.")
    talk.answers("1")
    talk.says("Two.")
    talk.compacts(tail, **more)
    read = read_of(talk, tmp_path)
    assert not read.of(Compacted)
    assert words(read)[:4] == ["One.", "1", "Two.", "What did we do so far?"]


def test_a_refusal_is_reported_and_an_interrupted_answer_is_sent(tmp_path: Path) -> None:
    """It is sent from where it had begun."""
    talk = Opencode()
    talk.says("Go.")
    talk.answers(error={"name": "APIError", "data": {"message": "too long", "responseBody": "400"}})
    talk.answers("Half", error={"name": "MessageAbortedError", "data": {"message": "aborted"}})
    talk.answers(error={"name": "MessageAbortedError"})
    talk.messages[-1]["parts"] = talk.messages[-1]["parts"][:1]
    read = read_of(talk, tmp_path)
    assert [one.words for one in read.of(Refused)] == ["too long 400"]
    assert words(read) == ["Go.", "Half"]


def test_what_the_host_says_for_a_person_is_its_own(tmp_path: Path) -> None:
    """What it only shows is not reported."""
    talk = Opencode()
    talk.says({"type": "text", "text": "Continue.", "synthetic": True})
    talk.says(
        "Mine.", {"type": "text", "text": "shown", "ignored": True}, {"type": "file", "mime": "text/plain", "url": "x"}
    )
    talk.says({"type": "text", "text": ""})
    read = read_of(talk, tmp_path)
    assert [(one.message["content"], one.by_host) for one in read.projection] == [("Continue.", True), ("Mine.", False)]


def test_what_is_not_known_is_counted(tmp_path: Path) -> None:
    """These are future fields, messages and parts."""
    talk = Opencode()
    talk.says("Go.", {"type": "hologram"})
    talk.add("critic", [])
    read = told("opencode", tmp_path / "s", [{**talk.document, "next": 1}])
    assert dict(read.counts.unknown) == {"hologram": 1, "message critic": 1, "next": 1}


def test_an_export_that_is_torn_gives_what_is_whole(tmp_path: Path) -> None:
    """Parts before the tear, and after a broken message, are read."""
    talk = Opencode()
    for number in range(4):
        talk.says(f"Number {number}.")
    content = as_file([talk.document], "opencode")
    assert len(read_of(talk, tmp_path).projection) == 4
    at = content.index(b"Number 2")
    torn = told("opencode", tmp_path / "t", content[:at])
    assert (words(torn), torn.counts.torn) == (["Number 0.", "Number 1."], 1)
    headless = told("opencode", tmp_path / "h", content.replace(b'"version": "1', b'"version": 1'))
    assert (len(words(headless)), headless.counts.torn) == (4, 1)
    broken = told("opencode", tmp_path / "b", content.replace(b'"text": "Number 1."', b'"text": Number 1."'))
    assert (words(broken), broken.counts.torn) == (["Number 0.", "Number 2.", "Number 3."], 1)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(min_size=1), max_size=6), indent=st.sampled_from([None, 2, 4]), ascii_only=st.booleans())
def test_any_text_in_any_layout_is_read(texts: list[str], indent: int | None, ascii_only: bool, tmp_path: Path) -> None:
    """Multi-byte characters, line feeds and quotation marks are among it."""
    talk = Opencode()
    for text in texts:
        talk.says(text)
    content = json.dumps(talk.document, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    read = told("opencode", tmp_path / "s", content)
    assert (words(read), read.counts.torn) == (texts, 0)


def test_an_export_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has to be held while it is read."""
    monkeypatch.setattr(exported, "MAX_EXPORT_BYTES", 100)
    with pytest.raises(CallerError, match="at most 100"):
        told("opencode", tmp_path / "s", session())


def test_an_export_says_whose_it_is(tmp_path: Path) -> None:
    """The database is not searched for."""
    path = tmp_path / "s"
    path.write_bytes(as_file(session(), "opencode"))
    with opened(str(path)) as file:
        assert head(file, "") == ("ses_old", "/p", "1.18.33", "999")
    assert list(paths_of("opencode", {"HOME": str(tmp_path)})) == []
