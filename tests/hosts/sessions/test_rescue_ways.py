"""Does a session stuck in any of six ways come back, as a new one or by an append, and what prevents a rescue?"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError, PenstockError
from penstock.hosts.rescue import codex
from penstock.hosts.rescue.pairs import find_unpaired
from penstock.hosts.sessions import claude, host_of, read_session
from penstock.hosts.sessions.records import opened
from penstock.hosts.sessions.reports import story_of
from penstock.inspection.timeline import Said
from penstock.wires import load
from tests.cli.screens import shell_line
from tests.hosts import histories
from tests.hosts.histories import Claude, written
from tests.hosts.sessions.test_rescue import next_request, rescued
from tests.hosts.sessions.validity import complaints
from tests.hosts.sessions.ways import FLOOD, NEEDLE, TASK, WAYS, WINDOW, as_request, records_of, stuck

if TYPE_CHECKING:
    from penstock.hosts.rescue import Form

pytestmark = pytest.mark.proves("X-3")

WHY = {"orphan": "orphan_call", "torn": "torn_line", "compaction": "compaction_overflows", "image": "image_bytes"}
FORMS: tuple[Form, ...] = ("new", "append")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_stuck_session_comes_back(host: str, way: str, form: Form, tmp_path: Path) -> None:
    """Its next request fits and is valid, and holds the task and every handle; a second rescue finds nothing to do."""
    path = stuck(host, way, tmp_path / "old.jsonl")
    before = Path(path).read_bytes()
    done, kept = rescued(host, path, 60_000 if way == "image" else WINDOW, form=form)
    assert WHY.get(way, "overflow_refused") in [finding.code for finding in done.findings]
    after = Path(path).read_bytes()
    assert after.startswith(before)
    assert (after == before) == (form == "new")
    assert host_of(done.path) == host
    messages = next_request(host, done.path)
    text = json.dumps(messages)
    found = complaints(as_request(host, messages))
    assert found == [] or (way == "orphan" and "open" in "".join(found)), "the host closes a call that is open"
    assert text.count(TASK) == 1
    assert NEEDLE not in text
    assert done.cuts
    assert all(cut.handle in text for cut in done.cuts)
    assert set(kept) == {cut.handle for cut in done.cuts}
    again, _ = rescued(host, done.path, 60_000 if way == "image" else WINDOW, form="plan")
    assert not again.is_stuck
    if form == "append":
        assert done.undo_bytes == len(before)
        os.truncate(path, done.undo_bytes)
        assert Path(path).read_bytes() == before


def test_an_append_of_claude_is_a_compaction_under_new_ids(tmp_path: Path) -> None:
    """Otherwise the host would confuse old and new results; without figures its next compaction fails."""
    path = stuck("claude", "flood", tmp_path / "s.jsonl")
    before = records_of(path)
    rescued("claude", path, WINDOW, form="append")
    added = records_of(path)[len(before) :]
    assert added[0]["subtype"] == "compact_boundary"
    assert added[0]["compactMetadata"]["preTokens"] > added[0]["compactMetadata"]["postTokens"]
    assert (added[0]["parentUuid"], added[0]["logicalParentUuid"]) == (None, before[-1]["uuid"])
    assert [record["parentUuid"] for record in added[1:]] == [record["uuid"] for record in added[:-1]]

    def ids(records: list[dict[str, Any]]) -> set[Any]:
        return {
            held.get("uuid") or held.get("id") for record in records for held in (record, record.get("message") or {})
        }

    assert ids(before) & ids(added) <= {None}


def test_what_an_append_repeats_was_said_and_asked_once(tmp_path: Path) -> None:
    """A handoff of the session has it once, and no answer is charged again."""
    records = records_of(stuck("claude", "flood", tmp_path / "s.jsonl"))
    for record in records:
        if record["type"] == "assistant" and not record.get("isApiErrorMessage"):
            record["message"] |= {"usage": {"input_tokens": 900, "output_tokens": 5}, "model": "claude-opus-5"}
    said = [at for at, record in enumerate(records) if record["type"] == "user"][1]
    attached = {"type": "attachment", "uuid": "at1", "parentUuid": records[said]["parentUuid"], "isSidechain": False}
    attached |= {"attachment": {"type": "note"}, "rendered": [{"content": "Mind the lexer."}]}
    records.insert(said, attached)
    records[said + 1]["parentUuid"] = "at1"
    path = written(tmp_path / "s.jsonl", records)
    before, (_, told) = read_session("claude", path), story_of("claude", path)
    rescued("claude", path, WINDOW, form="append")
    after, (_, again) = read_session("claude", path), story_of("claude", path)
    assert "usage" in json.dumps(records_of(path)[len(records) :])
    assert [entry.raw for entry in after.transcript.entries] == [entry.raw for entry in before.transcript.entries]
    assert len(again.turns) == len(told.turns)
    assert len(again.compactions) == len(told.compactions) + 1
    with opened(path) as file:
        notes = [one.again for one in claude.happenings(file) if isinstance(one, Said) and "lexer" in str(one.message)]
    assert notes == [False, True]


def test_a_new_session_of_one_with_an_append_says_everything_for_the_first_time(tmp_path: Path) -> None:
    """The marks of what the append repeated are left in the old file, which also has the first occurrence."""
    path = stuck("claude", "flood", tmp_path / "s.jsonl")
    rescued("claude", path, WINDOW, form="append")
    records = records_of(path)
    frame = {"sessionId": "s", "isSidechain": False}
    refused = {"role": "assistant", "content": [{"type": "text", "text": "Prompt is too long"}]}
    asked = {"type": "user", "uuid": "n1", "parentUuid": records[-1]["uuid"]}
    asked |= {**frame, "message": {"role": "user", "content": FLOOD}}
    error = {**frame, "type": "assistant", "uuid": "n2", "parentUuid": "n1", "isApiErrorMessage": True}
    written(tmp_path / "s.jsonl", [*records, asked, {**error, "message": refused}])
    done, _ = rescued("claude", path, WINDOW)
    assert done.path != path
    said = [entry.raw for entry in read_session("claude", done.path).transcript.entries]
    assert TASK in json.dumps(said)


def test_an_append_of_codex_is_one_compaction_and_what_the_host_says_of_itself(tmp_path: Path) -> None:
    """Its ordinals continue, and the window is no longer recorded as full."""
    records = records_of(stuck("codex", "flood", tmp_path / "s.jsonl"))
    full = {"last_token_usage": {"total_tokens": 258_400}, "model_context_window": 258_400}
    records.insert(-1, {"type": "event_msg", "payload": {"type": "token_count", "info": full}})
    records.insert(1, {"type": "world_state", "payload": {"full": True}})
    records = [{**record, "ordinal": at} for at, record in enumerate(records)]
    path = written(tmp_path / "s.jsonl", records)
    done, _ = rescued("codex", path, WINDOW, form="append")
    added = records_of(path)[len(records) :]
    assert [record["type"] for record in added] == ["compacted", "world_state", "event_msg"]
    assert [record["ordinal"] for record in added] == [len(records), len(records) + 1, len(records) + 2]
    assert added[2]["payload"]["info"]["last_token_usage"]["total_tokens"] == done.tokens_after
    assert added[2]["payload"]["info"]["model_context_window"] == 258_400


def test_a_note_in_a_session_of_codex_is_an_item_of_the_long_form(tmp_path: Path) -> None:
    """The host reads no other: the short form, a role and a text, is omitted when it resumes."""
    said = [part for at in range(8) for part in ([FLOOD[:3_000]], f"And {at}?")]
    error = {"type": "error", "message": "ran out of room", "codex_error_info": "context_window_exceeded"}
    records = [*histories.codex(TASK, *said), {"type": "event_msg", "payload": error}]
    done, _ = rescued("codex", written(tmp_path / "s.jsonl", records), 6_000)
    messages = next_request("codex", done.path)
    assert "[Left out here: " in json.dumps(messages)
    assert all("type" in item for item in messages)


def test_a_figure_of_the_old_request_is_in_no_new_answer(tmp_path: Path) -> None:
    """Otherwise the host takes the window for full; what was counted before the first change is still true."""
    talk = Claude()
    talk.says(TASK)
    for number, result in enumerate(("short", FLOOD, "end")):
        talk.calls((f"c{number}", "Bash", {}, result, False))
    answers = [record for record in talk.records if record.get("type") == "assistant"]
    for tokens, record in zip((6_000, 6_100, 40_000), answers, strict=True):
        record["message"]["usage"] = {"input_tokens": tokens, "output_tokens": 1}
    talk.add("assistant", [{"type": "text", "text": "Prompt is too long"}], isApiErrorMessage=True)
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), 20_000)
    assert done.overhead_basis == "measured"
    made = [record["message"].get("usage") for record in records_of(done.path) if record["type"] == "assistant"]
    assert [usage and usage["input_tokens"] for usage in made] == [6_000, 6_100, None]


def test_an_unknown_overhead_is_assumed_and_reported(tmp_path: Path) -> None:
    """The measured size of what a host sends besides messages is used, but at most half of a working window."""
    path = stuck("claude", "flood", tmp_path / "s.jsonl")
    done, _ = rescued("claude", path, 200_000, form="plan")
    assert (done.overhead_basis, done.overhead_tokens) == ("assumed", 32_000)
    done, _ = rescued("claude", path, 20_000, form="plan")
    assert (done.overhead_basis, done.overhead_tokens) == ("assumed", 10_000)
    ran = shell_line(tmp_path, f"penstock rescue {path} --window 20000 --dry-run")
    assert "Instructions and tools are 10000 of them, assumed" in ran.stdout


def test_the_numbers_of_a_refusal_are_taken_from_its_details(tmp_path: Path) -> None:
    """Claude Code shows three words of it, and keeps the rest in a separate field."""
    talk = Claude()
    talk.says(TASK)
    talk.calls(("c", "Bash", {}, FLOOD, False))
    details = '400 {"error":{"message":"prompt is too long: 40000 tokens > 20000 maximum"}}'
    words = [{"type": "text", "text": "Prompt is too long"}]
    talk.add("assistant", words, isApiErrorMessage=True, errorDetails=details)
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), None)
    assert (done.limit_tokens, done.limit_source) == (20_000, "as the provider said")
    assert done.path


# ── images, copies, reasoning ────────────────────────────────────────────────────────────────────────────────────


def too_long(most: int) -> str:
    """Return a refusal with its numbers."""
    return f"prompt is too long: {most + 100} tokens > {most} maximum"


def test_images_go_before_results_and_the_largest_first(tmp_path: Path) -> None:
    """This holds for any size, if a session does not fit; the replacement leads to the picture itself."""
    talk = Claude()
    talk.says(TASK)
    for size in (4_000, 40_000, 400):
        source = {"type": "base64", "media_type": "image/png", "data": "A" * size}
        talk.add("user", [{"type": "image", "source": source}])
    talk.calls(("c", "Bash", {}, FLOOD[:6_000], False))
    talk.add("assistant", [{"type": "text", "text": too_long(34_000)}], isApiErrorMessage=True)
    done, kept = rescued("claude", written(tmp_path / "s.jsonl", talk.records), None)
    assert [cut.what for cut in done.cuts] == ["image"]
    assert list(kept.values()) == [b"\0" * 30_000]
    done, kept = rescued("claude", str(tmp_path / "s.jsonl"), 8_000)
    assert [cut.what for cut in done.cuts[:3]] == ["image"] * 3
    text = json.dumps(next_request("claude", done.path))
    assert all(f"penstock page {handle}" in text for handle in kept)


def test_a_copy_of_a_result_goes_first_and_costs_nothing(tmp_path: Path) -> None:
    """One that says something else is kept."""
    talk = Claude()
    talk.says(TASK)
    for id_ in ("a", "b"):
        talk.calls((id_, "Bash", {}, FLOOD[:6_000], False))
    for content in (FLOOD[:6_000], "another"):
        talk.add("user", [{"type": "tool_result", "tool_use_id": "b", "content": content}])
    talk.add("assistant", [{"type": "text", "text": too_long(18_000)}], isApiErrorMessage=True)
    done, kept = rescued("claude", written(tmp_path / "s.jsonl", talk.records), None)
    assert "Results that are sent twice: 2." in [finding.sentence for finding in done.findings]
    assert [cut.what for cut in done.cuts] == ["copy of a result"] * 2
    assert list(kept.values()) == ["another"]
    messages = next_request("claude", done.path)
    assert sum(FLOOD[5_000:6_000] in json.dumps(message).replace("\\n", "\n") for message in messages) == 2
    assert complaints(as_request("claude", messages)) == []


def test_an_id_that_is_called_again_begins_anew() -> None:
    """Some servers repeat ids in every turn; only a result that answers no call is unpaired."""
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "Bash", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]}
    other = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "d", "content": "x"}]}
    assert find_unpaired(load([call, result, call, result], "anthropic")) == (0, 0, ())
    assert find_unpaired(load([call, call, result, result, other, call], "anthropic")) == (2, 1, ((3, 0),))


@pytest.mark.parametrize("pictures", [0, 2])
def test_a_request_with_too_many_bytes_loses_its_pictures(pictures: int, tmp_path: Path) -> None:
    """This is independent of tokens, and needs no window; without pictures, half of the messages are removed."""
    talk = Claude()
    talk.says(TASK)
    talk.calls(("c", "Bash", {}, FLOOD[:9_000], False))
    for _ in range(pictures):
        source = {"type": "base64", "media_type": "image/png", "data": "A" * 4_000}
        talk.add("user", [{"type": "image", "source": source}])
    words = "413 request_too_large: Request exceeds the maximum size"
    talk.add("assistant", [{"type": "text", "text": words}], isApiErrorMessage=True)
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), None)
    assert [finding.code for finding in done.findings if finding.is_stuck] == ["overflow_refused"]
    assert [cut.what for cut in done.cuts] == (["image"] * pictures or ["Bash"])
    assert done.path


SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln" * 100}


@pytest.mark.parametrize(
    ("block", "code"),
    [
        ({"type": "thinking", "thinking": "Hm."}, "thinking_unsigned"),
        ({"type": "thinking", "thinking": "", "signature": "eA=="}, "thinking_hollow"),
        (SIGNED, "thinking_refused"),
    ],
)
def test_reasoning_that_is_refused_goes_with_its_whole_turn(block: dict[str, Any], code: str, tmp_path: Path) -> None:
    """Otherwise it stays: a provider that continued with it accepts it."""
    talk = Claude()
    talk.says(TASK)
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {}}
    asked = talk.add("assistant", [block, call], answer="m1")
    talk.add("user", [{"type": "tool_result", "tool_use_id": "c", "content": "of the shell"}], after=asked)
    talk.says("And now?")
    fine, _ = rescued("claude", written(tmp_path / "fine.jsonl", talk.records), None)
    assert not fine.is_stuck
    words = "API Error: 400 messages.1.content.0: Invalid `signature` in `thinking` block"
    talk.add("assistant", [{"type": "text", "text": words}], isApiErrorMessage=True)
    done, kept = rescued("claude", written(tmp_path / "s.jsonl", talk.records), None)
    assert code in [finding.code for finding in done.findings if finding.is_stuck]
    messages = next_request("claude", done.path)
    text = json.dumps(messages)
    assert "thinking" not in text
    assert TASK in text
    assert "And now?" in text
    assert complaints(as_request("claude", messages)) == []
    assert "of the shell" in "".join(map(str, kept.values()))
    assert [cut.handle in text for cut in done.cuts] == [True]


def test_signed_reasoning_stays_byte_for_byte(tmp_path: Path) -> None:
    """Only the flood next to it is removed."""
    talk = Claude()
    talk.says(TASK)
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {}}
    asked = talk.add("assistant", [SIGNED, call], answer="m1")
    talk.add("user", [{"type": "tool_result", "tool_use_id": "c", "content": FLOOD}], after=asked)
    talk.add("assistant", [{"type": "text", "text": "Prompt is too long"}], isApiErrorMessage=True)
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", talk.records), WINDOW)
    assert SIGNED in next_request("claude", done.path)[1]["content"]


# ── what else is the matter ──────────────────────────────────────────────────────────────────────────────────────


def test_a_gap_in_the_chain_and_a_boundary_without_figures_are_named(tmp_path: Path) -> None:
    """Both are only information."""
    records = records_of(stuck("claude", "compaction", tmp_path / "s.jsonl"))
    for record in records:
        record.pop("compactMetadata", None)
    records[1]["parentUuid"] = "gone"
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", records), WINDOW, form="plan")
    codes = {finding.code: finding.is_stuck for finding in done.findings}
    assert (codes["chain_gap"], codes["boundary_without_metadata"]) == (False, False)


@pytest.mark.parametrize(("version", "is_told"), [("2.1.332", False), ("9.9.9", True)])
def test_a_version_that_was_never_tried_is_said(version: str, is_told: bool, tmp_path: Path) -> None:
    """The session is still rescued."""
    records = records_of(stuck("claude", "flood", tmp_path / "s.jsonl"))
    done, _ = rescued("claude", written(tmp_path / "s.jsonl", [{**r, "version": version} for r in records]), WINDOW)
    assert ("version_untried" in [finding.code for finding in done.findings]) == is_told
    assert done.path


def test_an_append_is_refused_for_a_host_that_takes_none(tmp_path: Path) -> None:
    """The error names the host."""
    path = written(tmp_path / "s.jsonl", histories.gemini(TASK))
    ran = shell_line(tmp_path, f"penstock rescue {path} --append")
    assert ran.returncode == 2
    assert "Gemini CLI does not accept a compaction written by others; Claude Code and Codex do" in ran.stderr


def test_what_does_not_read_as_it_was_planned_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds whatever a host's module makes of it."""
    path = stuck("codex", "flood", tmp_path / "s.jsonl")
    made = codex.records
    monkeypatch.setattr(codex, "records", lambda *given: list(made(*given))[:-1])
    with pytest.raises(PenstockError, match="does not read as planned"):
        rescued("codex", path, WINDOW)
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.jsonl"]


# ── sessions that are open ───────────────────────────────────────────────────────────────────────────────────────


def of_claude(folder: Path, **noted: Any) -> str:
    """Write a session in the host's place, and the host's own record of running."""
    (folder / "sessions").mkdir(parents=True)
    (folder / "projects" / "p").mkdir(parents=True)
    (folder / "sessions" / "1.json").write_text(json.dumps({"sessionId": "old", **noted}))
    return stuck("claude", "flood", folder / "projects" / "p" / "old.jsonl")


def started(process: int) -> str:
    """Return the start time of a process, as the kernel counts."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]


@pytest.mark.skipif(sys.platform != "linux", reason="the start of a process is read from /proc")
def test_a_session_of_a_process_that_runs_is_left_alone(tmp_path: Path) -> None:
    """After its end the session is rescued; a process that reuses its number is a different one."""
    sleeper = subprocess.Popen(["sleep", "60"])
    began = started(sleeper.pid)
    path = of_claude(tmp_path / "a", pid=sleeper.pid, procStart=began)
    other = of_claude(tmp_path / "b", pid=sleeper.pid, procStart="1")
    for form in FORMS:
        done, kept = rescued("claude", path, WINDOW, form=form)
        assert "live_session" in [finding.code for finding in done.findings]
        assert (done.path, dict(kept), done.live_sign) == ("", {}, str(tmp_path / "a" / "sessions" / "1.json"))
    assert rescued("claude", path, WINDOW, form="plan")[0].is_planned
    assert rescued("claude", other, WINDOW)[0].path
    ran = shell_line(tmp_path, f"penstock rescue {path} --window {WINDOW}")
    assert ran.returncode == 3
    assert "sessions/1.json" in ran.stdout
    sleeper.send_signal(signal.SIGKILL)
    sleeper.wait()
    assert rescued("claude", path, WINDOW)[0].path


@pytest.mark.parametrize(
    "noted", [b"", b"{", b"[]", b'{"pid": "x"}', b'{"pid": 0, "sessionId": "old"}', b"[" * 100_000]
)
def test_an_unreadable_sign_is_ignored(noted: bytes, tmp_path: Path) -> None:
    """This holds for any content."""
    path = of_claude(tmp_path)
    (tmp_path / "sessions" / "1.json").write_bytes(noted)
    assert rescued("claude", path, WINDOW)[0].path


@pytest.mark.skipif(sys.platform == "win32", reason="locks there are others")
def test_a_session_whose_lock_is_held_is_left_alone(tmp_path: Path) -> None:
    """Once the lock is free it is rescued; the lock is not taken from the host."""
    (tmp_path / "sessions").mkdir()
    (tmp_path / "thread-writer-locks").mkdir()
    path = stuck("codex", "flood", tmp_path / "sessions" / "rollout-x.jsonl")
    lock = tmp_path / "thread-writer-locks" / "s.lock"
    with open(lock, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done, _ = rescued("codex", path, WINDOW)
        assert (done.path, done.live_sign) == ("", str(lock))
    with open(lock, "wb") as file:
        assert rescued("codex", path, WINDOW)[0].path
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize("form", FORMS)
def test_a_session_that_grows_meanwhile_is_left_alone(
    form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds even if the host shows no sign: the file no longer has what was read."""
    path = stuck("claude", "flood", tmp_path / "s.jsonl")

    def grow() -> time.struct_time:
        with open(path, "ab") as file:
            file.write(b"\n")
        return time.localtime()

    monkeypatch.setattr(time, "gmtime", grow)
    with pytest.raises(CallerError, match="keeps writing"):
        rescued("claude", path, WINDOW, form=form)
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.jsonl"]
