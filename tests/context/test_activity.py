"""What was done, as read from the calls of many agents' tools?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import BOUND, growth
from tests.wires import strategies

from penstock.context.activity import Action, actions, covers, same_target, summary
from penstock.text import escape
from penstock.wires import WIRES, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.wires import Transcript

Asked = tuple[str, Any, str]


def chat(*calls: Asked) -> Transcript:
    """Return a conversation of chat completions with these calls: tool, arguments, result."""
    messages: list[Any] = [{"role": "user", "content": "Fix it."}]
    for number, (name, arguments, result) in enumerate(calls):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": written}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    return load(messages, "openai-chat")


def one(name: str, arguments: Any, result: str = "done") -> Action:
    (action,) = actions(chat((name, arguments, result)))
    return action


def at(action: Action) -> tuple[str, str | None, int | None, int | None]:
    return action.kind, action.path, action.first_line, action.last_line


PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** Delete File: c.py\n*** End Patch"
)
PATCHED = [("write", "a.py"), ("create", "b.py"), ("delete", "c.py")]
PYTEST = "FAILED tests/test_a.py::test_a - ValueError: x"
GCC = "a.c:3:5: error: 'x' undeclared"
NUMBERED = "".join(f"{number:6}\t{'x' * 20}\n" for number in range(1, 2001))


@pytest.mark.parametrize(
    ("name", "arguments", "result", "expected"),
    [
        # our own
        ("view", {"file_path": "a.py", "offset": 100}, "", ("read", "a.py", 101, None)),
        ("ctx_view", {"file_path": "a.py"}, "a.py: showing lines 1-100 of 345 total | bytes 0-9", ("read", "a.py", 1, 100)),
        ("view", {"file_path": "a.py"}, "a.py: showing lines 1-80 of 80 total", ("read", "a.py", 1, None)),
        ("view", {"file_path": "a.py"}, "a.py: showing lines 1-80 of at least 80 total", ("read", "a.py", 1, 80)),
        ("read_file", {"path": "a.py", "start_line": 5, "end_line": 9}, "", ("read", "a.py", 5, 9)),
        ("read_file", {"path": "a.py", "start_byte": 900}, "text", ("read", "a.py", None, None)),
        (
            "read_file",
            {"path": "a.py", "start_byte": 900},
            "a.py: showing lines 31-70 of 90 total | bytes 900-2000 of 2100",
            ("read", "a.py", 31, 70),
        ),
        ("read_file", {"path": "a.py"}, "a.py: outline of 900 lines, 9 bytes", ("read", "a.py", None, None)),
        ("outline", {"path": "a.py"}, "", ("search", "a.py", None, None)),
        ("list_files", {"pattern": "*.py", "path": "src"}, "", ("search", "src", None, None)),
        # Anthropic's editor, and its kin
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.py"}, "", ("read", "a.py", 1, None)),
        (
            "str_replace_based_edit_tool",
            {"command": "view", "path": "a.py", "view_range": [5, -1]},
            "",
            ("read", "a.py", 5, None),
        ),
        (
            "str_replace_editor",
            {"command": "view", "path": "a.py", "view_range": [5, 9]},
            "",
            ("read", "a.py", 5, 9),
        ),
        ("str_replace_based_edit_tool", {"command": "create", "path": "a.py"}, "", ("create", "a.py", None, None)),
        ("str_replace_based_edit_tool", {"command": "str_replace", "path": "a"}, "", ("write", "a", None, None)),
        ("str_replace_based_edit_tool", {"command": "insert", "path": "a.py"}, "", ("write", "a.py", None, None)),
        ("memory", {"command": "delete", "path": "/memories/a"}, "", ("delete", "/memories/a", None, None)),
        # Claude Code
        ("Read", {"file_path": "/r/a.py"}, "     1→x\n     2→y", ("read", "/r/a.py", 1, None)),
        ("Read", {"file_path": "/r/a.py"}, NUMBERED, ("read", "/r/a.py", 1, 2000)),
        ("Read", {"file_path": "/r/a.py", "offset": 10, "limit": 5}, "    10→x", ("read", "/r/a.py", 10, 14)),
        ("Edit", {"file_path": "/r/a.py", "old_string": "x"}, "updated", ("write", "/r/a.py", None, None)),
        ("MultiEdit", {"file_path": "/r/a.py", "edits": []}, "", ("write", "/r/a.py", None, None)),
        ("Write", {"file_path": "/r/a.py"}, "File created successfully at: /r/a.py", ("create", "/r/a.py", None, None)),
        ("Write", {"file_path": "/r/a.py"}, "The file has been updated.", ("write", "/r/a.py", None, None)),
        ("NotebookEdit", {"notebook_path": "/r/a.ipynb"}, "", ("write", "/r/a.ipynb", None, None)),
        ("Grep", {"pattern": "x", "path": "src"}, "", ("search", "src", None, None)),
        ("Glob", {"pattern": "**/*.py"}, "", ("search", None, None, None)),
        ("LS", {"path": "/r"}, "", ("search", "/r", None, None)),
        ("TodoWrite", {"todos": []}, "", ("other", None, None, None)),
        ("WebFetch", {"url": "https://example.org"}, "", ("other", None, None, None)),
        # others
        ("read_file", {"file_path": "a.py", "offset": 0, "limit": 9}, "     1\tx", ("read", "a.py", 1, 9)),
        ("read_file", {"file_path": "a.py", "offset": 100, "limit": 9}, "   101\tx", ("read", "a.py", 101, 109)),
        ("read", {"path": "a"}, "x\n\n[Showing lines 1-2000 of 5000. Use offset=2001 to continue]", ("read", "a", 1, 2000)),
        ("read_file", {"target_file": "a.py", "start_line_one_indexed": 3}, "", ("read", "a.py", 3, None)),
        ("read_file", {"absolute_path": "/r/./b/../a.py"}, "", ("read", "/r/a.py", 1, None)),
        ("mcp__fs__read_text_file", {"path": "a.py"}, "", ("read", "a.py", 1, None)),
        ("github.get_file_contents", {"path": "a.py"}, "", ("read", "a.py", 1, None)),
        ("open_resource", {"uri": "file:///r/a.py"}, "", ("read", "/r/a.py", 1, None)),
        ("write_to_file", {"path": "a.py"}, "", ("write", "a.py", None, None)),
        ("search_and_replace", {"path": "a.py"}, "", ("write", "a.py", None, None)),
        ("createFile", {"filePath": "a.py"}, "", ("create", "a.py", None, None)),
        ("delete_file", {"target_file": "a.py"}, "", ("delete", "a.py", None, None)),
        ("create_issue", {"title": "x"}, "", ("other", None, None, None)),
        ("update_plan", {"plan": []}, "", ("other", None, None, None)),
        ("write_stdin", {"chars": "y"}, "", ("other", None, None, None)),
        ("get_weather", {"city": "Oslo"}, "", ("other", None, None, None)),
        # SWE-agent: the result says what is open
        (
            "open",
            {"path": "a.py", "line_number": 100},
            "[File: /r/a.py (300 lines total)]\n(50 more lines above)\n51:x\n(150 more lines below)",
            ("read", "/r/a.py", 51, 150),
        ),
        ("scroll_down", {}, "[File: /r/a.py (2 lines total)]\n1:x\n2:y", ("read", "/r/a.py", 1, None)),
        ("edit", {"start": 3, "end": 4}, "[File: /r/a.py (2 lines total)]\n1:x", ("write", "/r/a.py", None, None)),
        ("edit", "3:4\ntext\nend_of_edit", "File updated.", ("write", None, None, None)),
        ("search_dir", {"search_term": "x", "dir": "src"}, "", ("search", "src", None, None)),
    ],
)  # fmt: skip
def test_a_call_is_known_by_its_name_its_arguments_and_its_result(
    name: str, arguments: Any, result: str, expected: tuple[str, str | None, int | None, int | None]
) -> None:
    """The tools of the known agents are recognised, and foreign ones that are written like them."""
    assert at(one(name, arguments, result)) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a.py", ("read", "a.py", 1, None)),
        ("cat -n 'my file.py'", ("read", "my file.py", 1, None)),
        ("cd /r && cat a.py", ("read", "/r/a.py", 1, None)),
        ("sed -n '10,20p' a.py", ("read", "a.py", 10, 20)),
        ("sed -n 10,\\$p a.py", ("run", None, None, None)),
        ("sed -n '10,$p' a.py", ("read", "a.py", 10, None)),
        ("sed -n 7p a.py", ("read", "a.py", 7, 7)),
        ("sed -i s/a/b/ a.py", ("run", None, None, None)),
        ("head a.py", ("read", "a.py", 1, 10)),
        ("head -n 30 a.py", ("read", "a.py", 1, 30)),
        ("head -30 a.py", ("read", "a.py", 1, 30)),
        ("head -c 30 a.py", ("run", None, None, None)),
        ("tail -n +40 a.py", ("read", "a.py", 40, None)),
        ("tail -5 a.py", ("read", "a.py", None, None)),
        ("tail -f a.log", ("run", None, None, None)),
        ("cat a.py | wc -l", ("run", None, None, None)),
        ("cat > a.py <<'EOF'\nx\nEOF", ("run", None, None, None)),
        ("cat *.py", ("run", None, None, None)),
        ("cat $FILE", ("run", None, None, None)),
        ("cat a.py; rm a.py", ("run", None, None, None)),
        ("cat 'a.py", ("run", None, None, None)),
        ("cat", ("run", None, None, None)),
        ("head -n", ("run", None, None, None)),
        ("pytest -q", ("run", None, None, None)),
        (["bash", "-lc", "cat a.py"], ("read", "a.py", 1, None)),
        (["cat", "a.py"], ("read", "a.py", 1, None)),
        (["git", "status"], ("run", None, None, None)),
    ],
)
def test_a_command_that_only_shows_a_file_is_a_read(
    command: Any, expected: tuple[str, str | None, int | None, int | None]
) -> None:
    """A command that is not certain to be a read counts as a run."""
    assert at(one("bash", {"command": command})) == expected


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("apply_patch", {"input": PATCH}),
        ("apply_patch", {"patch": PATCH}),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("exec_command", {"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}),
    ],
)
def test_a_patch_changes_every_file_that_it_names(name: str, arguments: Any) -> None:
    """There is one action for each file, all with one result."""
    found = actions(chat((name, arguments, "Success.")))
    assert [(action.kind, action.path) for action in found] == PATCHED
    assert {(action.call_id, action.index, action.result_index) for action in found} == {("c0", 1, 2)}


def test_calls_of_the_responses_wire_are_known_too() -> None:
    """Custom tools, the provider's shells with their exit codes, and its patches are recognised."""
    items = [
        {"type": "custom_tool_call", "call_id": "1", "name": "apply_patch", "input": PATCH},
        {"type": "custom_tool_call_output", "call_id": "1", "output": "Success."},
        {"type": "local_shell_call", "call_id": "2", "action": {"type": "exec", "command": ["bash", "-lc", "make"]}},
        {"type": "local_shell_call_output", "id": "2", "output": '{"output":"no rule","metadata":{"exit_code":2}}'},
        {"type": "shell_call", "call_id": "3", "action": {"commands": ["make"]}},
        {
            "type": "shell_call_output",
            "call_id": "3",
            "output": [{"stdout": "", "stderr": "no rule", "outcome": {"type": "exit", "exit_code": 2}}],
        },
        {"type": "apply_patch_call", "call_id": "4", "operation": {"type": "create_file", "path": "n.py"}},
        {"type": "apply_patch_call_output", "call_id": "4", "status": "completed", "output": ""},
    ]
    found = actions(load(items, "openai-responses"))
    assert [(action.kind, action.path) for action in found[:3]] == PATCHED
    for action in found[3:5]:
        assert (action.command, action.exit_code, action.failed, action.error_head) == ("make", 2, True, "no rule")
    assert (found[5].kind, found[5].path, found[5].failed) == ("create", "n.py", False)


@pytest.mark.parametrize(
    ("name", "result", "failed", "code", "head"),
    [
        ("Bash", "Exit code 1\nFAILED test_a", True, 1, "FAILED test_a"),
        ("bash", "x\n\nCommand exited with code 3", True, 3, "x"),
        ("bash", f".F [ 60%]\nE  ValueError: x\nERROR log\n{PYTEST}\n1 failed\n\nCommand exited with code 1", True, 1, PYTEST),
        ("bash", "=== RUN TestX\n--- FAIL: TestX (0.00s)\n    no\nFAIL\nexit status 1", True, 1, "--- FAIL: TestX (0.00s)"),
        ("bash", f"cc -c a.c\n{GCC}\nmake: *** [a.o] Error 1\nexit status 2", True, 2, GCC),
        ("bash", "Compiling a\nerror[E0308]: mismatched types\nexit status 101", True, 101, "error[E0308]: mismatched types"),
        ("bash", "x" * 30_000 + f"\n{PYTEST}\nexit status 1", True, 1, PYTEST),
        ("bash", "ok\n[The command completed with exit code 0.]", False, 0, ""),
        ("bash", "<returncode>2</returncode>\n<output>\nno\n</output>", True, 2, "no"),
        ("shell", '{"output":"bash: foo: not found\\n","metadata":{"exit_code":127}}', True, 127, "bash: foo: not found"),
        ("run", "exit status: 2", True, 2, "exit status: 2"),
        ("run", "Traceback (most recent call last):\n  File 'x'\nValueError: bad\n", True, None, "ValueError: bad"),
        ("run", "Traceback (most recent call last):\n  x\nExit code: 0", False, 0, ""),
        ("run", "error: pathspec 'x' did not match", True, None, "error: pathspec 'x' did not match"),
        ("run", "all good", False, None, ""),
        ("read_file", "Error: no such file: a.py", True, None, "Error: no such file: a.py"),
        ("read_file", "Error codes:\n" + "exit code: 1\n" * 100, False, None, ""),
        ("edit", "Your proposed edit has introduced new errors.", True, None, "Your proposed edit has introduced new errors."),
        ("run", "", False, None, ""),
    ],
)  # fmt: skip
def test_how_a_call_ended_is_read_from_its_result(
    name: str, result: str, failed: bool, code: int | None, head: str
) -> None:
    """Exit codes, tracebacks and results that are only an error count; an error in the text of a file read does not."""
    action = one(name, {"path": "a.py", "command": "x"}, result)
    assert (action.failed, action.exit_code, action.error_head) == (failed, code, head)


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ("Error: There is no tool shell. Tools: view, run_command.", "other"),
        ("<tool_use_error>Error: No such tool available: shell</tool_use_error>", "other"),
        ("exec command rejected by user", "other"),
        ("Error: make: no rule to make target 'unknown tool'", "run"),
        ("exit code: 127\nunknown tool: foo", "run"),
        ("unknown tool: foo\nexit code: 127", "run"),
    ],
)
def test_a_command_that_an_agent_never_began_was_not_run(result: str, kind: str) -> None:
    """The tool does not exist, or a person refused; what a command itself prints about tools is different."""
    assert one("shell", {"command": "make"}, result).kind == kind


def test_a_command_that_a_person_did_not_allow_was_not_run() -> None:
    """The refusal is as Claude Code writes it."""
    said = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": said, "is_error": True}
    messages: Any = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    (action,) = actions(load(messages, "anthropic"))
    assert (action.kind, action.failed) == ("other", True)


def test_an_error_mark_counts_whatever_the_text_says() -> None:
    """`is_error` of Anthropic marks the failure, and the first line becomes its head."""
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "\nno\n", "is_error": True}]},
    ]  # fmt: skip
    (action,) = actions(load(messages, "anthropic"))
    assert (action.failed, action.error_head, action.path) == (True, "no", "a")


def test_what_was_cleared_is_still_known() -> None:
    """The originals are read, so that a stub in place of a result hides nothing."""
    transcript = chat(("view", {"file_path": "a.py"}, "a.py: showing lines 1-9 of 9 total"))
    assert actions(transcript.replace_result(2, "c0", "[cleared]", handle="h1")) == actions(transcript)


def test_calls_without_results_and_calls_of_one_id_are_told_apart() -> None:
    """A result belongs to the newest open call of its id."""
    transcript = chat(("Read", {"path": "a"}, "1"), ("Read", {"path": "b"}, "22"))
    messages = [entry.raw for entry in transcript.entries]
    messages[3]["tool_calls"][0]["id"] = messages[4]["tool_call_id"] = "c0"
    found = actions(load([*messages, messages[1]], "openai-chat"))
    assert [(a.path, a.index, a.result_index, a.result_chars) for a in found] == [
        ("a", 1, 2, 1),
        ("b", 3, 4, 2),
        ("a", 5, None, 0),
    ]


WHOLE: dict[str, int] = {}
PART = {"offset": 10, "limit": 11}
TO_END = {"offset": 10}


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        (WHOLE, WHOLE, True),
        (PART, WHOLE, True),
        (PART, PART, True),
        (PART, TO_END, True),
        (TO_END, TO_END, True),
        (TO_END, PART, False),
        (WHOLE, PART, False),
        (PART, {"offset": 11, "limit": 99}, False),
        (PART, {"offset": 1, "limit": 19}, False),
        (PART, {"start_byte": 0}, False),
        ({"start_byte": 0}, WHOLE, True),
    ],
)
def test_a_newer_read_covers_an_older_one_when_it_shows_all_its_lines(
    older: dict[str, int], newer: dict[str, int], expected: bool
) -> None:
    """Ranges are compared, and a range that is not known does not count as shown."""
    first, second = actions(chat(("Read", {"path": "a", **older}, "x"), ("Read", {"path": "./a", **newer}, "x")))
    assert same_target(first, second)
    assert covers(second, first) is expected


def test_nothing_is_covered_by_a_read_that_failed_or_has_no_result() -> None:
    """Nor does a read of another file cover anything, nor a call that is not a read."""
    read, failed, other, edit = actions(
        chat(
            ("Read", {"path": "a"}, "x"),
            ("Read", {"path": "a"}, "Error: no such file"),
            ("Read", {"path": "b"}, "x"),
            ("Edit", {"path": "a"}, "x"),
        )
    )
    (waiting,) = actions(load([entry.raw for entry in chat(("Read", {"path": "a"}, "x")).entries[:2]], "openai-chat"))
    assert [covers(newer, read) for newer in (failed, other, edit, waiting)] == [False] * 4


DONE = actions(
    chat(
        ("Read", {"path": "a.py", "offset": 1, "limit": 40}, "x"),
        ("Read", {"path": "a.py", "offset": 41, "limit": 40}, "x"),
        ("Read", {"path": "a.py", "offset": 100}, "x"),
        ("Read", {"path": "b.py"}, "x"),
        ("Edit", {"path": "a.py"}, "x"),
        ("Edit", {"path": "a.py"}, "x"),
        ("Edit", {"path": "a.py"}, "Error: no match"),
        ("Edit", {"path": "a.py"}, "Error: no match"),
        ("Write", {"path": "n.py"}, "created"),
        ("delete_file", {"path": "old.py"}, "x"),
        ("Grep", {"pattern": "TAB", "path": "src"}, "x"),
        ("Bash", {"command": "pytest -q\n\x1b[31m"}, "Exit code 1\nFAILED tests/test_a.py"),
        ("Bash", {"command": "make"}, "built"),
    )
)


def test_a_summary_says_what_was_done_as_data() -> None:
    """Ranges of lines are merged, repeats counted and errors given by their heads; nothing is raw."""
    assert summary(DONE, max_chars=4000).splitlines() == [
        "modified: a.py (×2)",
        "created: n.py",
        "deleted: old.py",
        "read: a.py 1-80, 100-; b.py",
        "ran: pytest -q\\x0a\\x1b[31m → exit 1, FAILED tests/test_a.py; make → ok",
        "failed: Edit a.py: Error: no match (×2)",
        "searched: TAB in src",
    ]


def test_a_summary_is_bounded_and_says_what_it_leaves_out() -> None:
    """The newest items stay; with no room for any item, their number does."""
    reads = actions(chat(*[("Read", {"path": f"folder/file{n}.py"}, "x") for n in range(500)]))
    assert summary(reads, max_chars=300) == "read: … 488 earlier; " + "; ".join(
        f"folder/file{n}.py" for n in range(488, 500)
    )
    assert summary(reads, max_chars=12) == "read: 500"
    assert summary(reads, max_chars=4) == "read"
    assert summary((), max_chars=100) == ""
    for max_chars in range(0, 400, 7):
        assert len(summary(DONE, max_chars=max_chars)) <= max_chars


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
def test_any_transcript_is_answered(wire: str, data: st.DataObject) -> None:
    """Any transcript, valid, damaged or other JSON, gives actions in order, one or more for each call, and a bounded summary."""
    messages = data.draw(
        st.one_of(
            strategies.requests(wire), strategies.broken(wire), st.lists(strategies.likely, max_size=5),
            st.lists(strategies.json_values, max_size=4),
        )
    )  # fmt: skip
    transcript = load(messages, wire)
    found = actions(transcript)
    calls = [(entry.index, call.id) for entry in transcript.entries for call in entry.calls]
    assert list(dict.fromkeys((a.index, a.call_id) for a in found)) == list(dict.fromkeys(calls))
    assert len(found) >= len(calls)
    most = data.draw(st.integers(0, 500))
    assert len(summary(found, max_chars=most)) <= most
    for action in found:
        assert covers(action, action) <= (action.kind == "read" and action.first_line is not None)


names = st.one_of(
    st.sampled_from(["Read", "bash", "shell", "edit", "search", "apply_patch", "str_replace_editor", "__", "a..b"]),
    strategies.words,
)
keys = st.sampled_from(
    ["path", "file_path", "paths", "files", "command", "view_range", "offset", "limit", "start_line", "end_line",
     "start_byte", "pattern", "dir", "type", "input", "x"]
)  # fmt: skip
texts = st.one_of(
    strategies.words,
    st.sampled_from([PATCH, "sed -n '1,99999999999999p' a", "cd  && cat a",
                     "[File: a (9 lines total)]", '{"output": 1, exit_code: 9}',
                     "head -n 9999999999999999 a", "exit code: -99999999999", "showing lines 9-3 of 1", "1" * 9]),
)  # fmt: skip
values = st.one_of(texts, st.integers(), st.floats(), st.lists(texts, max_size=3), strategies.json_values)


@given(st.lists(st.tuples(names, st.dictionaries(keys, values, max_size=4), texts), max_size=4))
def test_any_arguments_and_any_result_are_answered(calls: list[Asked]) -> None:
    """The tools and arguments that we know are called with whatever a model may write."""
    found = actions(chat(*calls))
    assert len({action.index for action in found}) == len(calls)
    text = summary(found, max_chars=2000)
    assert escape.show(text) == (text, 0)


def test_a_long_session_is_read_in_linear_time() -> None:
    """Four times the calls take about four times as long."""

    def work(count: int) -> Callable[[], object]:
        transcript = chat(*[("Bash", {"command": f"sed -n '1,{n}p' a.py"}, "x\n" * 3000) for n in range(1, count)])
        return lambda: actions(transcript)

    assert growth(work, 1000) < BOUND
