"""Does reading a damaged file of any host always give an answer, with unreadable lines counted (X-1)?"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.hosts.sessions import READERS, host_of, whole_messages
from penstock.hosts.sessions.records import opened
from penstock.inspection.counting import NoCounter
from penstock.inspection.telling import tell
from penstock.inspection.timeline import Said
from penstock.models.prices import priced
from penstock.text.json_access import MAX_WHOLE_NUMBER
from penstock.wires import load
from tests.hosts import histories
from tests.hosts.histories import Claude
from tests.hosts.sessions import test_copilot, test_gemini, test_opencode, test_pi, test_qwen
from tests.hosts.sessions.telling import MUTATED, is_record, mutated, told, with_each_replaced

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.hosts.sessions.telling import Record

pytestmark = pytest.mark.proves("X-1")


def claude() -> list[Record]:
    """Return a session of Claude Code with one record of every kind."""
    talk = Claude()
    system = [{"type": "text", "text": "You are an agent."}]
    talk.add(
        "attachment", "", attachment={"type": "prompt_snapshot", "systemPrompt": system, "tools": [{"name": "Bash"}]}
    )
    talk.add("attachment", "", attachment={"type": "environment"}, rendered=[{"content": "Today is Monday."}])
    talk.says("Go.")
    talk.calls(("c1", "Bash", {"command": "ls"}, "a.py", False), ("c2", "Read", {"file_path": "b"}, "gone", True))
    talk.records[-1]["toolUseResult"] = {"stdout": "a.py"}
    talk.records[-2]["message"]["usage"] = {"input_tokens": 9, "cache_read_input_tokens": 1}
    talk.add("assistant", [{"type": "text", "text": "Prompt is too long"}], isApiErrorMessage=True)
    boundary = {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": talk.last}
    kept = {"preservedMessages": {"anchorUuid": "s1", "uuids": ["u3", "u4"]}, "preTokens": 9, "trigger": "manual"}
    talk.records.append({**boundary, "uuid": "b", "compactMetadata": kept})
    talk.last = "b"
    talk.add("user", "This session is being continued", isCompactSummary=True)
    talk.records[-1]["uuid"] = talk.last = "s1"
    talk.records.append(
        {"type": "api-request-shape", "uuid": "x", "parentUuid": "s1", "shape": {"system": system, "tools": []}}
    )
    talk.says("On.")
    talk.answers_with("Done.")
    return talk.records


def codex() -> list[Record]:
    """Return a session of Codex with one record of every kind."""

    def event(kind: str, **more: Any) -> Record:
        return {"type": "event_msg", "payload": {"type": kind, **more}}

    used = {"input_tokens": 9, "output_tokens": 1, "cached_input_tokens": 3}
    info = {"last_token_usage": used, "total_token_usage": used, "model_context_window": 258_400}
    made = histories.codex("Go.", ["Hm."], ("c1", "exec_command", {"cmd": "ls"}, "a.py", False))
    summary = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Summary."}]}]
    return [
        *made,
        {"type": "turn_context", "payload": {"model": "m"}},
        event("task_started", model_context_window=258_400),
        event("token_count", info=info),
        {"type": "token_usage_record", "payload": {"usage": used}},
        event("task_complete", error={"message": "too long", "codex_error_info": "context_window_exceeded"}),
        {"type": "compacted", "payload": {"message": "", "replacement_history": summary}},
        *histories.codex("On.", ["Done."])[3:],
    ]


EVERYTHING: dict[str, Callable[[], list[Record]]] = {
    "claude": claude,
    "codex": codex,
    "gemini": test_gemini.session,
    "qwen": lambda: test_qwen.session().records,
    "copilot": test_copilot.session,
    "opencode": test_opencode.session,
    "pi": test_pi.session,
}


def unreadable(host: str, content: bytes) -> int:
    """Return how many lines are not records, by an independent parser; for a single document, whether it is torn."""
    if host != "opencode":
        return sum(not is_record(line) for line in content.split(b"\n") if line.strip())
    try:
        messages = json.loads(content.decode("latin-1")).get("messages")
    except (ValueError, RecursionError, AttributeError):
        return 1
    return int(isinstance(messages, list) and not all(isinstance(one, dict) for one in messages))


def test_there_is_one_of_each() -> None:
    """Every reader has files to be tested with."""
    assert set(EVERYTHING) == set(READERS)


@pytest.mark.parametrize("host", READERS)
def test_a_file_says_whose_it_is(host: str, tmp_path: Path) -> None:
    """What is reported of it makes a history without a fault of the reader."""
    read = told(host, tmp_path / "s", EVERYTHING[host]())
    assert host_of(str(tmp_path / "s")) == host
    assert (read.counts.torn, read.counts.unknown.total()) == (0, 0)
    reader = import_module(f"penstock.hosts.sessions.{host}")
    entries = load(whole_messages(one for one in read.happenings if isinstance(one, Said)), reader.WIRE).entries
    assert [call.id for entry in entries for call in entry.calls]
    with opened(str(tmp_path / "s")) as file:
        assert reader.head(file, "").session or host == "claude"


@pytest.mark.parametrize("host", READERS)
def test_a_file_is_read_whatever_replaces_any_value(host: str, tmp_path: Path) -> None:
    """An object cannot be looked up in place of a word; random mutation seldom puts one in each place."""
    reader = import_module(f"penstock.hosts.sessions.{host}")
    for records in with_each_replaced(EVERYTHING[host]()):
        happenings = told(host, tmp_path / "s", records).happenings
        story = priced(tell(happenings, reader.WIRE, counter=NoCounter()))
        assert all((turn.recorded_tokens or 0) <= 3 * MAX_WHOLE_NUMBER for turn in story.turns)
        with opened(str(tmp_path / "s")) as file:
            reader.head(file, "")
        host_of(str(tmp_path / "s"))


@pytest.mark.parametrize("host", READERS)
@settings(max_examples=MUTATED, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_counted_and_not_an_error(host: str, data: st.DataObject, tmp_path: Path) -> None:
    """This holds for any damage; what is reported can be loaded."""
    content = data.draw(mutated(EVERYTHING[host](), host))
    read = told(host, tmp_path / "s", content)
    if host == "opencode":
        assert bool(read.counts.torn) == bool(unreadable(host, content))
    else:
        assert read.counts.torn == unreadable(host, content)
    said = [one for one in read.happenings if isinstance(one, Said)]
    load(whole_messages(said), import_module(f"penstock.hosts.sessions.{host}").WIRE)
    host_of(str(tmp_path / "s"))
