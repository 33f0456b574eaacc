"""Do sessions of more hosts come back fitting, in files as each host writes them, with the old ones unchanged?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.hosts.sessions import host_of, reader_of
from penstock.hosts.sessions.records import opened
from penstock.text.tokens import Tokens
from penstock.wires import violations
from tests.hosts import histories
from tests.hosts.histories import Step, written
from tests.hosts.sessions.telling import as_file
from tests.hosts.sessions.test_copilot import answers, chained, event, returns, says
from tests.hosts.sessions.test_opencode import Opencode, call
from tests.hosts.sessions.test_pi import IMAGE, Pi
from tests.hosts.sessions.test_qwen import Qwen
from tests.hosts.sessions.test_rescue import FLOOD, NEEDLE, TASK, next_request, rescued

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hosts.sessions.telling import Record

pytestmark = pytest.mark.proves("X-3")

WORDS = "400 This model's maximum context length is 9000 tokens. However, your messages resulted in 50000 tokens."


def gemini(path: Path, refused: str, results: tuple[str, ...]) -> str:
    """Write a session of Gemini CLI whose newest request was refused."""
    steps: list[Step] = [
        (f"c{at}", "run_shell_command", {"command": "ls"}, out, False) for at, out in enumerate(results)
    ]
    records = histories.gemini(TASK, *steps)
    if refused:
        records.append({"id": "e", "type": "error", "content": f"[API Error: {refused}]"})
    return written(path, records)


def qwen(path: Path, refused: str, results: tuple[str, ...]) -> str:
    """Write the same session of qwen-code."""
    talk = Qwen()
    talk.says(TASK)
    for at, out in enumerate(results):
        call = {"id": f"c{at}", "name": "run_shell_command", "args": {"command": "ls"}}
        talk.answers_with({"functionCall": call})
        response = {"id": f"c{at}", "name": "run_shell_command", "response": {"output": out}}
        copy = {"callId": f"c{at}", "resultDisplay": out}
        talk.add("tool_result", [{"functionResponse": response}], toolCallResult=copy)
    if refused:
        talk.system("ui_telemetry", {"uiEvent": {"event.name": "qwen-code.api_error", "error_message": refused}})
    return written(path, talk.records)


def copilot(path: Path, refused: str, results: tuple[str, ...]) -> str:
    """Write the same session of Copilot CLI, in its own folder."""
    calls = [event for at, out in enumerate(results) for event in (answers("", f"c{at}"), returns(f"c{at}", out))]
    more = [event("session.error", message=refused)] if refused else []
    (path.parent / "s").mkdir()
    return written(path.parent / "s" / "events.jsonl", chained(says(TASK), *calls, *more))


def opencode(path: Path, refused: str, results: tuple[str, ...]) -> str:
    """Write the same session of opencode, as its export prints it."""
    talk = Opencode()
    talk.says(TASK)
    for at, out in enumerate(results):
        talk.answers(call(f"c{at}", output=out, metadata={"output": out}), tokens=9)
    if refused:
        talk.answers(error={"name": "APIError", "data": {"message": refused}})
    path.write_bytes(as_file([talk.document], "opencode"))
    return str(path)


def pi(path: Path, refused: str, results: tuple[str, ...]) -> str:
    """Write the same session of pi."""
    talk = Pi()
    talk.says(TASK)
    for at, out in enumerate(results):
        talk.answers("", f"c{at}", tokens=9)
        talk.returns(f"c{at}", out)
    if refused:
        talk.answers("", stopReason="error", errorMessage=refused, content=[])
    return written(path, talk.records)


SESSIONS: dict[str, Callable[[Path, str, tuple[str, ...]], str]] = {
    "gemini": gemini,
    "qwen": qwen,
    "copilot": copilot,
    "opencode": opencode,
    "pi": pi,
}


def own_ids(value: Any) -> set[str]:
    """Return all ids of a session that are in a file."""
    found: set[str] = set()
    rows = [value]
    while rows:
        row = rows.pop()
        if isinstance(row, dict):
            found |= {held for key, held in row.items() if key in {"sessionId", "sessionID"} and isinstance(held, str)}
            rows += row.values()
        elif isinstance(row, list):
            rows += row
    return found


def records_of(path: str) -> list[Record]:
    """Return the records of a file."""
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@pytest.mark.parametrize("host", SESSIONS)
@pytest.mark.parametrize("results", [(FLOOD,), (FLOOD[:9_000],) * 12], ids=["one flood", "many"])
def test_a_session_that_was_refused_fits_again(host: str, results: tuple[str, ...], tmp_path: Path) -> None:
    """It is valid, with the task, a stub for the flood and the whole behind it, only under a new id, and private."""
    path = SESSIONS[host](tmp_path / "old.jsonl", WORDS, results)
    before = Path(path).read_bytes()
    assert host_of(path) == host
    done, kept = rescued(host, path)
    assert "overflow_refused" in [finding.code for finding in done.findings if finding.is_stuck]
    assert Path(path).read_bytes() == before
    assert host_of(done.path) == host
    messages = next_request(host, done.path)
    text = json.dumps(messages)
    assert violations(messages, reader_of(host).WIRE) == []
    assert TASK in text
    assert all(cut.handle in text for cut in done.cuts)
    assert all(FLOOD in whole for whole in kept.values() if NEEDLE in whole)
    assert Tokens().count(text).tokens < 9_000
    assert NEEDLE not in Path(done.path).read_text(), "no copy for the screen either"
    held = records_of(done.path)
    assert own_ids(held) | ({held[0]["id"]} if host == "pi" else set()) == {done.session}
    assert any(done.session in word for word in done.resume)
    assert Path(done.path).stat().st_mode & 0o777 == 0o600
    again, _ = rescued(host, done.path)
    assert not again.is_stuck


@pytest.mark.parametrize("host", SESSIONS)
def test_nothing_is_written_for_a_session_that_is_not_stuck(host: str, tmp_path: Path) -> None:
    """Nothing is kept either."""
    path = SESSIONS[host](tmp_path / "s.jsonl", "", (FLOOD,))
    done, kept = rescued(host, path, 1_000_000)
    assert (done.is_stuck, done.path, dict(kept)) == (False, "", {})
    assert [str(entry) for entry in tmp_path.rglob("*") if entry.is_file()] == [path]


def codes(done: Any, *, is_stuck: bool = True) -> list[str]:
    """Return the findings that keep a session from continuing, or the others."""
    return [finding.code for finding in done.findings if finding.is_stuck == is_stuck]


def test_a_compaction_that_copilots_provider_refuses_is_reported(tmp_path: Path) -> None:
    """The host continues with everything; its other notes on the request are of known kinds."""
    words = f"host-rethrow: {WORDS}"
    failed = event("session.compaction_complete", success=False, error=words, failureReason="provider_rejected")
    path = copilot(tmp_path / "old.jsonl", WORDS, (FLOOD,))
    beside = [event(f"model.{name}") for name in ("turn_started", "model_call_failure", "turn_failed", "turn_ended")]
    records = [*records_of(path), *beside, failed]
    done, _ = rescued("copilot", written(Path(path), chained(*records)))
    assert codes(done)[:2] == ["compaction_overflows", "overflow_refused"]
    assert done.path
    with opened(path) as file:
        assert list(reader_of("copilot").happenings(file))
        assert file.counts.unknown.total() == 0
    alone = says(TASK), event("session.compaction_complete", success=False, error="No route to host")
    other, _ = rescued("copilot", written(tmp_path / "other.jsonl", chained(*alone)))
    assert codes(other) == []


def test_a_compaction_that_keeps_too_much_is_reported(tmp_path: Path) -> None:
    """pi records no refusal after one, and does not ask again."""
    talk = Pi()
    first = talk.says(TASK)
    talk.answers("", "a", tokens=9)
    talk.returns("a", FLOOD)
    talk.answers("", stopReason="error", errorMessage=WORDS, content=[])
    talk.add("compaction", summary="Sum.", firstKeptEntryId=first, tokensBefore=50_000)
    done, _ = rescued("pi", written(tmp_path / "s.jsonl", talk.records), None)
    assert codes(done) == ["compaction_overflows", "over_window"]
    assert done.path


def test_a_torn_export_is_reported_as_incomplete(tmp_path: Path) -> None:
    """opencode's database has what the export lacks: it is not a line that the host leaves out."""
    path = Path(opencode(tmp_path / "s.json", "", (FLOOD, "of little")))
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"of little")])
    done, _ = rescued("opencode", str(path))
    assert done.path
    assert codes(done, is_stuck=False) == ["torn_export"]
    assert "opencode export ID > FILE" in next(one.sentence for one in done.findings if one.code == "torn_export")


def test_a_result_that_gemini_would_send_twice_is_there_once(tmp_path: Path) -> None:
    """It is in the answer that called; the copy in a separate message is removed, without any other cut."""
    words = "400 The input token count (9000) exceeds the maximum number of tokens allowed (8000)."
    path = gemini(tmp_path / "s.jsonl", words, (FLOOD[:9_000],))
    done, kept = rescued("gemini", path, None)
    assert ([cut.what for cut in done.cuts], dict(kept)) == (["copy of a result"], {})
    records = records_of(done.path)
    assert [record["type"] for record in records[1:]] == ["user", "user", "user", "gemini"]
    assert [part["functionResponse"]["id"] for call in records[-1]["toolCalls"] for part in call["result"]] == ["c0"]
    assert next_request("gemini", done.path)[-1]["parts"][0]["functionResponse"]["response"]["output"] == FLOOD[:9_000]


def test_no_result_of_parallel_calls_is_there_twice(tmp_path: Path) -> None:
    """Gemini CLI puts copies of all results of an answer into one message, which is removed or partly kept."""
    responses = [
        {"functionResponse": {"id": f"c{at}", "name": "ls", "response": {"output": FLOOD[:4_000] + str(at)}}}
        for at in (0, 1)
    ]
    calls = [{"id": f"c{at}", "name": "ls", "args": {"n": at}, "result": [responses[at]]} for at in (0, 1)]
    for more in ([], [{"text": "And then?"}]):
        held = [
            {"id": "u", "type": "user", "content": [{"text": TASK}]},
            {"id": "g", "type": "gemini", "content": "", "toolCalls": calls},
            {"id": "r", "type": "user", "content": [*responses, *more]},
        ]
        path = written(tmp_path / "s", [{"sessionId": "s", "projectHash": "h"}, {"$set": {"messages": held}}])
        done, _ = rescued("gemini", path, 4_000)
        assert [cut.what for cut in done.cuts[:2]] == ["copy of a result"] * 2
        messages = next_request("gemini", done.path)
        answered = [
            part["functionResponse"]["id"] for one in messages for part in one["parts"] if "functionResponse" in part
        ]
        assert sorted(answered) == ["c0", "c1"]
        text = json.dumps(messages)
        assert ("And then?" in text) == bool(more)


def test_a_call_of_gemini_keeps_its_signature(tmp_path: Path) -> None:
    """It is next to the call in the answer's own content; the host adds a call only if none is there."""
    signed = {"functionCall": {"id": "a", "name": "ls", "args": {}}, "thoughtSignature": "c2ln"}
    response = {"functionResponse": {"id": "a", "name": "ls", "response": {"error": "gone"}}}
    held = [
        {"id": "u", "type": "user", "content": [{"text": TASK}]},
        {"id": "g", "type": "gemini", "content": [signed], "toolCalls": [{"id": "a", "name": "ls", "args": {}}]},
        {"id": "r", "type": "user", "content": [response]},
        {"id": "v", "type": "user", "content": [{"text": "On. " * 40_000}]},
    ]
    path = written(tmp_path / "s", [{"sessionId": "s", "projectHash": "h"}, {"$set": {"messages": held}}])
    done, _ = rescued("gemini", path)
    (answer,) = [record for record in records_of(done.path) if record.get("type") == "gemini"]
    assert answer["content"] == [signed]
    assert (answer["toolCalls"][0]["result"], answer["toolCalls"][0]["status"]) == ([response], "error")


def test_figures_of_what_was_larger_do_not_stay(tmp_path: Path) -> None:
    """qwen-code would compact at once because of them; those of answers before the first cut stay."""
    done, _ = rescued("qwen", qwen(tmp_path / "s", "", ("small", FLOOD, "small")))
    counted = ["usageMetadata" in record for record in records_of(done.path) if record["type"] == "assistant"]
    assert counted == [True, True, False]


def test_all_ids_of_opencode_are_others_and_sort_as_the_messages_do(tmp_path: Path) -> None:
    """It ignores ids that it knows, and asks its model only if the newest answer is older than the newest question."""
    path = opencode(tmp_path / "s.json", WORDS, (FLOOD[:9_000],) * 12)
    done, _ = rescued("opencode", path)
    (document,) = records_of(done.path)
    infos = [message["info"] for message in document["messages"]]
    parts = [part for message in document["messages"] for part in message["parts"]]
    keys = [info["id"] for info in infos]
    assert keys == sorted(set(keys))
    assert [part["id"] for part in parts] == sorted({part["id"] for part in parts})
    old = json.loads(Path(path).read_text())["messages"]
    assert not {message["info"]["id"] for message in old} & set(keys)
    assert {part["messageID"] for part in parts} == set(keys)
    assert [info["time"]["created"] for info in infos] == sorted(info["time"]["created"] for info in infos)
    asked = {info["id"] for info in infos if info["role"] == "user"}
    assert all(info["parentID"] in asked for info in infos if info["role"] == "assistant")
    assert document["info"]["id"] == done.session


def test_after_a_compaction_opencode_continues_with_what_it_left(tmp_path: Path) -> None:
    """Nothing in the new session requests a compaction, so all of it is sent."""
    talk = Opencode()
    talk.says("gone")
    talk.answers("gone too")
    last = talk.says(TASK)
    talk.answers(call("a", output=FLOOD))
    talk.compacts(last)
    talk.says("On.")
    talk.answers(error={"name": "APIError", "data": {"message": WORDS}})
    path = tmp_path / "s.json"
    path.write_bytes(as_file([talk.document], "opencode"))
    done, _ = rescued("opencode", str(path))
    said = [message["content"] for message in next_request("opencode", done.path)]
    assert said[:3] == ["What did we do so far?", "Sum.", TASK]
    assert said[-1] == "On."
    assert '"compaction"' not in Path(done.path).read_text()
    assert '"summary"' not in Path(done.path).read_text()
    infos = [message["info"] for message in records_of(done.path)[0]["messages"]]
    assert [info["tokens"]["input"] for info in infos if info["role"] == "assistant"] == [0, 0], (
        "the summary's figure is of another request, that of what was kept of a larger one"
    )


def test_what_a_compaction_kept_comes_without_the_figures_of_the_larger_request(tmp_path: Path) -> None:
    """pi and Claude Code would take them for the size of the new session, and compact because of it."""
    talk = Pi()
    talk.says("gone")
    talk.answers("gone too", tokens=900)
    first = talk.says(TASK)
    talk.answers("Kept.", tokens=41_000)
    talk.add("compaction", summary="Sum.", firstKeptEntryId=first, tokensBefore=41_000)
    talk.answers("", "a", tokens=900)
    talk.returns("a", FLOOD)
    talk.answers("", stopReason="error", errorMessage=WORDS, content=[])
    done, _ = rescued("pi", written(tmp_path / "s.jsonl", talk.records))
    held = [record["message"] for record in records_of(done.path) if "message" in record]
    assert [message["usage"]["input"] for message in held if message["role"] == "assistant"] == [0, 897]
    other = histories.Claude()
    other.says("gone")
    other.answers_with("gone too")
    other.measured(900)
    other.says(TASK)
    other.answers_with("Kept.")
    other.measured(41_000)
    kept = {"preservedMessages": {"anchorUuid": "s1", "uuids": ["u3", "u4"]}, "preTokens": 9, "trigger": "manual"}
    other.add("system", "", subtype="compact_boundary", logicalParentUuid=other.last, compactMetadata=kept)
    other.records[-1]["parentUuid"] = None
    other.add("user", "Sum.", isCompactSummary=True)
    other.records[-1]["uuid"] = other.last = "s1"
    other.calls(("c1", "Bash", {"command": "ls"}, FLOOD, False))
    other.is_refused()
    done, _ = rescued("claude", written(tmp_path / "c.jsonl", other.records))
    held = [record["message"] for record in records_of(done.path) if "Kept." in json.dumps(record)]
    assert ["usage" in message for message in held] == [False]


LARGE = "A" * (8 << 20)


def pictures(host: str, path: Path) -> str:
    """Write a session with two images that no provider accepts: the person's, and a tool's if the host sends that."""
    url = f"data:image/png;base64,{LARGE}"
    image = {**IMAGE, "data": LARGE}
    refused = "400 image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"
    if host == "copilot":
        beside = [{"type": "blob", "mimeType": "image/png", "data": LARGE, "displayName": "p.png"}]
        return written(
            path,
            chained(says(TASK), says("What is on it?", attachments=beside), event("session.error", message=refused)),
        )
    if host == "opencode":
        talk = Opencode()
        talk.says(TASK)
        talk.answers(call("a", attachments=[{"mime": "image/png", "url": url}]), call("b"))
        talk.says("What is on it?", {"type": "file", "mime": "image/png", "url": url})
        talk.answers(error={"name": "APIError", "data": {"message": refused}})
        path.write_bytes(as_file([talk.document], "opencode"))
        return str(path)
    made = Pi()
    made.says(TASK)
    made.answers("", "a", "b")
    made.returns("a", "see", image)
    made.returns("b")
    made.message("user", content=[{"type": "text", "text": "What is on it?"}, image])
    made.answers("", stopReason="error", errorMessage=refused, content=[])
    return written(path, made.records)


@pytest.mark.parametrize("host", ["copilot", "opencode", "pi"])
def test_images_that_no_provider_takes_give_way(host: str, tmp_path: Path) -> None:
    """Each is replaced by a sentence; the bytes are kept, and the words and results next to them stay."""
    (tmp_path / "s").mkdir()
    path = pictures(host, tmp_path / "s" / "events.jsonl")
    done, kept = rescued(host, path, 200_000)
    assert "image_bytes" in [finding.code for finding in done.findings if finding.is_stuck]
    messages = next_request(host, done.path)
    assert violations(messages, reader_of(host).WIRE) == []
    text = json.dumps(messages)
    assert len(text) < 4_000
    assert "What is on it?" in text
    assert host == "copilot" or "of b" in text
    assert len(kept) == (1 if host == "copilot" else 2)
    assert LARGE not in Path(done.path).read_text()


@pytest.mark.parametrize("host", ["copilot", "opencode", "pi", "qwen"])
def test_notes_are_in_the_name_of_the_role_whose_turn_it_is(host: str, tmp_path: Path) -> None:
    """Between two messages of the person it is the model's."""
    path = tmp_path / "s" / "events.jsonl"
    path.parent.mkdir()
    rounds = range(12)
    if host == "copilot":
        events = [
            event
            for at in rounds
            for event in (
                says(f"{TASK} {at}"),
                answers("", f"c{at}"),
                returns(f"c{at}", FLOOD[:4_000]),
                answers("Seen. " * 300),
            )
        ]
        written(path, chained(*events))
    elif host == "opencode":
        open_talk = Opencode()
        for at in rounds:
            open_talk.says(f"{TASK} {at}")
            open_talk.answers(call(f"c{at}", output=FLOOD[:4_000]), tokens=9)
            open_talk.answers("Seen. " * 300, tokens=9)
        path.write_bytes(as_file([open_talk.document], "opencode"))
    elif host == "pi":
        pi_talk = Pi()
        for at in rounds:
            pi_talk.says(f"{TASK} {at}")
            pi_talk.answers("", f"c{at}", tokens=9)
            pi_talk.returns(f"c{at}", FLOOD[:4_000])
            pi_talk.answers("Seen. " * 300, tokens=9)
        written(path, pi_talk.records)
    else:
        talk = Qwen()
        for at in rounds:
            talk.says(f"{TASK} {at}")
            talk.answers_with({"functionCall": {"id": f"c{at}", "name": "ls", "args": {}}}, tokens=9)
            talk.add(
                "tool_result",
                [{"functionResponse": {"id": f"c{at}", "name": "ls", "response": {"output": FLOOD[:4_000]}}}],
            )
            talk.answers_with({"text": "Seen. " * 300}, tokens=9)
        written(path, talk.records)
    done, _ = rescued(host, str(path), 9_000)
    messages = next_request(host, done.path)
    notes = [message for message in messages if "Left out here" in json.dumps(message)]
    assert {message["role"] for message in notes} & {"assistant", "model"}
    assert violations(messages, reader_of(host).WIRE) == []
