"""Do files of other agents' sessions become histories of what happened and nothing else, whatever they contain?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.handoff import Handoff, mechanical
from penstock.hosts import HOOK_NAMES, hook_host
from penstock.hosts.sessions import READERS, read_session, reader_of
from penstock.hosts.sessions.records import Counts, opened
from penstock.inspection.timeline import Answered
from tests.hosts import histories
from tests.hosts.histories import Claude, Step, lines, written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("H-4")

HANDED_ON = ("claude", "codex", "gemini")
"""The hosts that start a hook before they compact."""

EDIT: Step = (
    "c1",
    "Edit",
    {"file_path": "/p/a.py", "old_string": "1", "new_string": "2"},
    "The file has been updated.",
    False,
)
REFUSED: Step = ("c2", "Write", {"file_path": "/p/b.py", "content": "y"}, "The user doesn't want to proceed.", True)
TESTS: Step = ("c3", "Bash", {"command": "pytest -q"}, "Exit code 1\nFAILED test_tabs", True)


def handoff(host: str, path: str) -> Handoff:
    """Return the handoff from a host's file."""
    return mechanical(read_session(host, path).transcript, session_id="s")


def claude_session() -> Claude:
    """Return a session with one record of every kind."""
    talk = Claude()
    talk.says("Fix the parser.")
    talk.calls(EDIT, REFUSED, TESTS)
    talk.says("Leave the lexer alone.")
    talk.answers_with("I changed a.py.")
    return talk


def sessions(tmp_path: Path) -> dict[str, str]:
    """Return the same session in three hosts' formats."""
    edit: Step = (
        "c1",
        "replace",
        {"file_path": "/p/a.py", "old_string": "1", "new_string": "2"},
        "Successfully modified file",
        False,
    )
    write: Step = ("c2", "write_file", {"file_path": "/p/b.py", "content": "y"}, "User did not allow tool call", True)
    shell: Step = ("c3", "run_shell_command", {"command": "pytest -q"}, "FAILED test_tabs\nExit Code: 1", False)
    patch = "*** Begin Patch\n*** Update File: /p/a.py\n@@\n-1\n+2\n*** End Patch"
    patched: Step = ("c1", "apply_patch", {"input": patch}, "Success. Updated the following files:\nM a.py", False)
    failed: Step = (
        "c2",
        "apply_patch",
        {"input": patch.replace("a.py", "b.py")},
        "apply_patch verification failed",
        True,
    )
    tested: Step = ("c3", "exec_command", {"cmd": "pytest -q"}, "FAILED test_tabs", True)
    last = ("Leave the lexer alone.", ["I changed a.py."])
    return {
        "claude": written(tmp_path / "claude", claude_session().records),
        "codex": written(tmp_path / "codex", histories.codex("Fix the parser.", patched, failed, tested, *last)),
        "gemini": written(tmp_path / "gemini", histories.gemini("Fix the parser.", edit, write, shell, *last)),
    }


@pytest.mark.parametrize("host", HANDED_ON)
def test_a_handoff_says_what_the_file_shows(host: str, tmp_path: Path) -> None:
    """It has the first and newest words, what was changed and what failed; not a word of the host's own."""
    made = handoff(host, sessions(tmp_path)[host])
    assert (made.goal, made.next_step) == ("Fix the parser.", "Leave the lexer alone.")
    assert made.modified_files == ("/p/a.py",), "a call that failed or was refused changed nothing"
    assert ("pytest -q", 1) in [(command.cmd, command.exit) for command in made.commands]
    assert any("pytest -q" in error and "FAILED test_tabs" in error for error in made.open_errors)
    assert "I changed a.py." in read_session(host, sessions(tmp_path)[host]).transcript.entries[-1].text


@pytest.mark.parametrize("host", HANDED_ON)
def test_a_torn_end_and_unknown_records_are_counted(host: str, tmp_path: Path) -> None:
    """A host writes while it is read, and a newer one writes other things."""
    path = sessions(tmp_path)[host]
    whole = read_session(host, path)
    with (tmp_path / host).open("a") as file:
        file.write('{"type": "of next year", "v": 1}\n[1]\n{"type": "user", "mess')
    torn = read_session(host, path)
    assert (torn.torn, torn.unknown) == (whole.torn + 2, whole.unknown + 1)
    assert [entry.raw for entry in torn.transcript.entries] == [entry.raw for entry in whole.transcript.entries]


@pytest.mark.parametrize("host", READERS)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_answered(host: str, content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file of something else is an empty history."""
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    assert read_session(host, str(path)).transcript.entries is not None


WORDS = st.sampled_from(
    ["user", "assistant", "gemini", "message", "content", "type", "uuid", "parentUuid", "id", "payload", "response_item", "text",
     "toolCalls", "$set", "messages", "$rewindTo", "function_call", "role", "name", "input", "args", "result", "u1", "c"]
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize("host", READERS)
@given(records=st.lists(st.dictionaries(WORDS, JSON, max_size=6), max_size=6))
def test_records_of_any_shape_are_answered(
    host: str, records: list[Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Fields may have values of any type."""
    path = tmp_path_factory.mktemp("any") / "file"
    read = read_session(host, written(path, records))
    mechanical(read.transcript, session_id="s")


def test_what_a_person_took_back_is_not_said(tmp_path: Path) -> None:
    """Claude Code keeps it in the file, off the branch of the newest record."""
    talk = Claude()
    talk.says("Fix the parser.")
    begun = talk.last
    talk.calls(EDIT)
    talk.says("No, wrong.")
    talk.last = begun
    talk.calls(("c9", "Edit", {"file_path": "/p/other.py"}, "updated", False))
    made = handoff("claude", written(tmp_path / "s", talk.records))
    assert made.modified_files == ("/p/other.py",)
    assert made.next_step == ""


def test_results_of_parallel_calls_are_off_the_branch(tmp_path: Path) -> None:
    """The next answer continues from only one of them."""
    talk = Claude()
    talk.says("Fix the parser.")
    talk.calls(
        EDIT, ("c2", "Write", {"file_path": "/p/n.py", "content": "y"}, "File created successfully", False), TESTS
    )
    results = [record["uuid"] for record in talk.records[-3:]]
    for last in results:
        talk.last = last
        records = len(talk.records)
        talk.answers_with("On.")
        made = handoff("claude", written(tmp_path / "s", talk.records))
        assert made.modified_files == ("/p/a.py", "/p/n.py")
        assert made.open_errors == ("pytest -q: FAILED test_tabs",)
        del talk.records[records:]


def test_a_way_that_is_broken_leaves_nothing_out(tmp_path: Path) -> None:
    """A cut file lacks records that others continue from."""
    talk = claude_session()
    cut = [record for record in talk.records if record.get("uuid") != "u3"]
    cut[2] = {**cut[2], "parentUuid": "gone"}
    assert handoff("claude", written(tmp_path / "s", cut)).goal == "Fix the parser."


@pytest.mark.parametrize(
    "more",
    [
        {"isMeta": True},
        {"isCompactSummary": True},
        {"isVisibleInTranscriptOnly": True},
        {"isSidechain": True},
    ],
)
def test_words_of_claude_code_are_nobodys(more: dict[str, bool], tmp_path: Path) -> None:
    """These are notes, summaries and other agents' messages."""
    talk = claude_session()
    talk.add("user", "Please do it all again.")
    talk.records[-1].update(more)
    assert handoff("claude", written(tmp_path / "s", talk.records)).next_step == "Leave the lexer alone."


@pytest.mark.parametrize(
    "text", ["<command-name>/compact</command-name>", "<local-command-stdout>x", "[Request interrupted by user]"]
)
def test_commands_to_the_host_are_not_words_to_the_model(text: str, tmp_path: Path) -> None:
    """They come as a text and as blocks."""
    talk = claude_session()
    talk.add("user", text)
    talk.add("user", [{"type": "text", "text": text}])
    assert handoff("claude", written(tmp_path / "s", talk.records)).next_step == "Leave the lexer alone."


def test_before_a_compaction_is_still_there(tmp_path: Path) -> None:
    """The boundary record has no parent, but names the record before it."""
    talk = claude_session()
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "parentUuid": None,
        "logicalParentUuid": talk.last,
        "uuid": "b",
    }
    talk.records.append(boundary)
    talk.last = "b"
    talk.add("user", "This session is being continued from a previous conversation", isCompactSummary=True)
    talk.says("And now the docs.")
    made = handoff("claude", written(tmp_path / "s", talk.records))
    assert (made.goal, made.next_step) == ("Fix the parser.", "And now the docs.")
    assert made.modified_files == ("/p/a.py",)


def test_an_answer_in_several_records_is_one_turn(tmp_path: Path) -> None:
    """Claude Code writes one for each block."""
    path = written(tmp_path / "s", claude_session().records)
    assert handoff("claude", path).turns_completed == 2
    assert [len(entry.calls) for entry in read_session("claude", path).transcript.entries if entry.calls] == [3]


@pytest.mark.parametrize("host", HANDED_ON)
def test_what_a_host_says_by_itself_is_left_out(host: str, tmp_path: Path) -> None:
    """These are instructions, the folder and the date."""
    entries = read_session(host, sessions(tmp_path)[host]).transcript.entries
    assert [entry.text for entry in entries if entry.text] == [
        "Fix the parser.",
        "Leave the lexer alone.",
        "I changed a.py.",
    ]


def test_a_result_of_gemini_is_read_once(tmp_path: Path) -> None:
    """Its file has it in the answer, in a message, and twice more after a resume."""
    path = sessions(tmp_path)["gemini"]
    results = [result.call_id for entry in read_session("gemini", path).transcript.entries for result in entry.results]
    assert results == ["c1", "c2", "c3"]


def test_what_gemini_replaced_or_took_back_is_gone(tmp_path: Path) -> None:
    """`$set` has all messages anew, `$rewindTo` goes back before one."""
    records = histories.gemini("Fix the parser.", ["Done."], "Wrong.", ["Sorry."])
    rewound = [*records, {"$rewindTo": "u2"}]
    assert [entry.text for entry in read_session("gemini", written(tmp_path / "r", rewound)).transcript.entries] == [
        "Fix the parser.",
        "Done.",
    ]
    replaced = [*records, {"$set": {"messages": [{"id": "n", "type": "user", "content": [{"text": "Anew."}]}]}}]
    assert [entry.text for entry in read_session("gemini", written(tmp_path / "s", replaced)).transcript.entries] == [
        "Anew."
    ]


TODO = [
    {"content": "parse", "status": "completed"},
    {"content": "lex", "status": "pending"},
    {"content": "x", "status": "cancelled"},
]


@pytest.mark.parametrize(
    ("steps", "todos"),
    [
        ([("t", "TodoWrite", {"todos": TODO}, "ok", False)], [("parse", True), ("lex", False)]),
        ([("t", "TodoWrite", {"todos": TODO}, "No such tool available", True)], []),
        ([("t", "update_plan", {"plan": [{"step": "lex", "status": "in_progress"}]}, "ok", False)], [("lex", False)]),
        (
            [("t", "write_todos", {"todos": [{"description": "lex", "status": "pending"}]}, "ok", False)],
            [("lex", False)],
        ),
        (
            [
                ("t1", "TaskCreate", {"subject": "parse"}, "Task #1 created successfully: parse", False),
                ("t2", "TaskCreate", {"subject": "lex"}, "Task #2 created successfully: lex", False),
                ("t3", "TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status", False),
                ("t4", "TaskUpdate", {"taskId": "2", "status": "completed"}, "refused", True),
            ],
            [("parse", True), ("lex", False)],
        ),
    ],
)
def test_the_list_of_tasks_is_the_last_that_was_taken(
    steps: list[Step], todos: list[tuple[str, bool]], tmp_path: Path
) -> None:
    """A failed call completed no task."""
    talk = Claude()
    talk.says("Go.")
    for step in steps:
        talk.calls(step)
    assert [tuple(todo) for todo in read_session("claude", written(tmp_path / "s", talk.records)).todos] == todos


def test_of_a_very_long_file_both_ends_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task is at the beginning, open work at the end; memory is bounded."""
    monkeypatch.setattr("penstock.hosts.sessions.HURRIED_BYTES", 1_300)
    said = [record for number in range(50) for record in histories.codex(f"Message {number}.")[3:]]
    path = written(tmp_path / "s", said)
    read = read_session("codex", path)
    texts = [entry.text for entry in read.transcript.entries]
    assert (texts[0], texts[-1]) == ("Message 0.", "Message 49.")
    assert read.skipped_bytes == len(lines(said)) - 1_300
    assert 3 < len(texts) < 15
    assert read.torn == 0


def test_counts_begin_at_nothing() -> None:
    """Every host that has an event before its compaction has a reader."""
    assert (Counts().torn, Counts().unknown.total(), Counts().skipped_bytes) == (0, 0, 0)
    assert {name for name in HOOK_NAMES if hook_host(name).before_compaction} == set(HANDED_ON)
    assert set(HANDED_ON) <= set(READERS)
    assert json.loads(lines([{"a": 1}])) == {"a": 1}


@pytest.mark.parametrize(
    "result",
    [
        "patch rejected by user",
        "aborted by user after 2.1s",
        "aborted before dispatch",
        "Exit code: 1\nWall time: 0 seconds\nOutput:\nfailed to write",
    ],
)
def test_a_patch_that_codex_did_not_apply_changed_nothing(result: str, tmp_path: Path) -> None:
    """Its wire has no mark for failure: only the words show it."""
    patch = "*** Begin Patch\n*** Update File: /p/a.py\n@@\n-1\n+2\n*** End Patch"
    records = histories.codex("Go.", ("c1", "apply_patch", {"input": patch}, result, True))
    made = handoff("codex", written(tmp_path / "s", records))
    assert made.modified_files == ()
    assert made.open_errors


def test_what_claude_code_put_into_a_cache_for_an_hour_is_told_apart(tmp_path: Path) -> None:
    """It costs more than what stays for five minutes."""
    talk = Claude()
    talk.says("Fix the parser.")
    talk.answers_with("Done.")
    hours = {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 400}
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 500, "output_tokens": 7, "cache_creation": hours}
    talk.records[-1]["message"] |= {"usage": usage, "model": "claude-opus-5"}
    with opened(written(tmp_path / "s", talk.records)) as file:
        (answered,) = [one for one in reader_of("claude").happenings(file) if isinstance(one, Answered)]
    assert (answered.input_tokens, answered.cache_write_tokens, answered.hour_write_tokens) == (505, 500, 400)
