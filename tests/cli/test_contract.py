"""What do scripts rely on? The keys of each object, the exit statuses, and standard output without anything else."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli.screens import store_of, typed

from penstock.wires import messages_of, violations

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (
    "path text start_line end_line total_lines total_lines_exact start_byte end_byte total_bytes fragment escaped encoding "
    "version stale bound next previous notices"
)
KEYS = {
    "view README.md": PAGE,
    "read README.md --start-byte 0": PAGE,
    "read server.log --start-line 2 --end-line 3": PAGE,
    "outline src/app.py": "path text total_lines total_lines_exact total_bytes version next notices items offset total",
    "list '*.py' --recursive": "items offset total omitted next",
    "count": "files bytes tokens by_extension omitted",
    "search PORT": "matches files scanned_bytes complete next",
    "search --ranked 'which port is listened on'": "passages next",
    "tokens README.md": "tokens low high method",
    "tokens - < README.md": "tokens low high method",
    "page HANDLE": PAGE,
    "find HANDLE error": "matches total complete",
    "store list": "items offset total next",
    "store size": "artifacts bytes stored_bytes limit_bytes records sessions journal_bytes used_bytes",
    "store gc --older-than 90 --dry-run": "removed dry_run used_bytes",
    "store prune": "expired dropped compressed freed_bytes",
    "store check": "sound damage facts",
    "guard < server.log": "text is_cut shown_tokens whole_tokens whole_bytes whole_lines handles lost_bytes fault ended",
    "diagnose error.json --status 400": "kind recovery overflow retry_after_seconds",
    "repair request.json": "request repaired violations",
    "bill request.json": "tokens input reserve_tokens items",
    "fit request.json --tokens 9000": "request plan cleared outcome",
    "fit request.json --tokens 9000 --plan": "request plan cleared outcome",
    "run 'Which port?'": "session answer citations turns usage cuts recoveries outcome",
    "resume ID 'Which port?'": "session answer citations turns usage cuts recoveries outcome verification",
    "resume ID --verify-only": "session verification",
    "sessions": "sessions",
    "sessions list": "sessions",
    "sessions export ID": "penstock_session session count updated records artifacts",
    "show ID": "session phase turns model root window_tokens fill usage",
    "handoff ID": "sessionId agent turnsCompleted completedTasks pendingTasks",
    "stats ID": "sessions turns usage sources reads calls cuts refusals fill savings cost_against_size unread",
    "inspect stuck.jsonl": "host session model turns fill items waste refusals compactions",
    "check-code src/app.py": "kind lines level is_within files",
    "structure PAYROLL.cbl": "programs format",
    "chunk PAYROLL.cbl": "file lines budget_tokens chunks kept_edges edges minimum_calls overhead_tokens",
    "chunk PAYROLL.cbl --max-tokens 900": "file lines budget_tokens chunks kept_edges edges minimum_calls overhead_tokens",
    "document PAYROLL.cbl --out docs": "out calls resent accepted relocated rejected",
    "doctor": "penstock confinement store extras",
    "completion bash": "shell script",
}
"""The arguments of `penstock`, and the keys in contracts.md that the object has; it may have more."""

INNER: dict[str, tuple[str, str]] = {
    "count": ("by_extension", "extension files bytes tokens"),
    "search PORT": ("matches", "path line text clipped"),
    "search --ranked 'which port is listened on'": ("passages", "path start_line end_line text score"),
    "run 'Which port?'": ("citations", "path line text"),
    "sessions": ("sessions", "id root model state turns bytes updated session records at question"),
    "sessions list": ("sessions", "id root model state turns bytes updated session records at question"),
    "structure PAYROLL.cbl": (
        "programs",
        "name start_line end_line divisions sections paragraphs performs gotos calls",
    ),
    "chunk PAYROLL.cbl": ("chunks", "id kind spans context_spans tokens prompt_tokens units fits"),
    "fit request.json --tokens 9000": ("cleared", "handle tokens"),
}
STATUS = [
    ("search nowhere-to-be-found-at-all", 1, None),
    ("list '*.zig'", 1, None),
    ("find HANDLE nothing-like-it", 1, None),
    ("structure empty.cbl", 1, None),
    ("violations broken.json --wire openai-chat", 1, None),
    ("diagnose README.md", 1, None),
    ("sessions --store fresh", 1, None),
    ("stats --store fresh", 1, "nothing"),
    ("veiw README.md", 2, "usage"),
    ("view", 2, "usage"),
    ("view README.md --offset -1", 2, "bad_argument"),
    ("search '(a'", 2, "bad_pattern"),
    ("search --ranked 'of the'", 2, "bad_argument"),
    ("search --ranked --literal port", 2, "bad_argument"),
    ("search --ranked zebra", 1, None),
    ("find HANDLE '(a'", 2, "bad_pattern"),
    ("bill README.md", 2, "usage"),
    ("run x --model gpt", 2, "usage"),
    ("run x --profile none", 2, "usage"),
    ("store list --store mysql://x", 2, "usage"),
    ("view out", 3, "outside_root"),
    ("view pipe", 3, "not_regular_file"),
    ("view program", 3, "binary"),
    ("view src", 3, "is_directory"),
    ("check-code src", 3, "is_directory"),
    ("chunk src", 3, "is_directory"),
    ("diagnose src", 3, "is_directory"),
    ("bill src", 3, "is_directory"),
    ("diagnose error.json --rules src", 3, "is_directory"),
    ("view gone", 4, "not_found"),
    ("tokens gone", 4, "not_found"),
    ("structure gone", 4, "not_found"),
    ("document gone --out docs", 4, "not_found"),
    ("diagnose gone", 4, "not_found"),
    ("fit gone --tokens 9", 4, "not_found"),
    ("page gone", 4, "not_found"),
    ("show gone", 4, "not_found"),
    ("resume gone", 4, "not_found"),
    ("handoff gone", 4, "not_found"),
    ("stats gone", 4, "not_found"),
    ("run x --from gone", 4, "not_found"),
    ("run x --model scripted:gone", 4, "not_found"),
    ("list --root gone", 4, "not_found"),
    ("fit nan.json --tokens 9", 2, "usage"),
    ("list --path README.md", 3, "not_directory"),
    ("read server.log --start-byte 0 --version VERSION", 5, "stale"),
    ("view server.log --version VERSION", 5, "stale"),
    ("fit request.json --tokens 1", 7, None),
    ("store size --store /dev/null/none", 8, "io_error"),
]
"""The arguments of `penstock`, the exit status, and the code of an error."""


@pytest.fixture(scope="module")
def asked(project: Path) -> Any:
    """Return a function that runs a command under `--json` in the project, capitals replaced, and gives its object and status."""
    os.mkfifo(project / "pipe")
    (project / "out").symlink_to("/etc/passwd")
    (project / "program").write_bytes(b"\x7fELF\0\0\0")
    (project / "empty.cbl").write_text("\n")
    (project / "nan.json").write_text('{"messages": [{"role": "user", "content": "x"}], "temperature": NaN}')
    (project / "broken.json").write_text('[{"role": "tool", "tool_call_id": "a", "content": "x"}]')
    environment = store_of(project)
    read = typed("read", "README.md", "--start-byte", "0", "--json", cwd=project, environment=environment)
    other = json.loads(read.stdout)["version"]
    handle = re.findall(r"penstock page (\S+?);? ", (project / "notice.txt").read_text())[0]
    words = {"HANDLE": handle, "ID": json.loads((project / "answer.json").read_text())["session"], "VERSION": other}

    def type_(line: str) -> tuple[Any, int]:
        line = re.sub(r"\b(HANDLE|ID|VERSION)\b", lambda word: words[word[0]], line)
        command, _, source = line.partition(" < ")
        stdin = (project / source).read_bytes() if source else b""
        done = typed(*shlex.split(command), "--json", cwd=project, stdin=stdin, environment=environment)
        assert done.stderr == "", "under --json nothing is said beside the object"
        return json.loads(done.stdout), done.returncode

    yield type_
    for name in ("pipe", "out", "program", "empty.cbl", "broken.json", "nan.json"):
        (project / name).unlink()


@pytest.mark.parametrize("line", KEYS)
def test_each_object_has_the_keys_of_the_contract(asked: Any, line: str) -> None:
    """The output is one object and nothing else, with status 0; rows have their keys too."""
    found, status = asked(line)
    assert status == 0
    assert set(KEYS[line].split()) <= found.keys()
    if line in INNER:
        rows, keys = INNER[line]
        assert found[rows]
        for row in found[rows]:
            assert set(keys.split()) <= row.keys(), row


def test_violations_are_a_list(asked: Any) -> None:
    """A valid request has an empty list, with status 0."""
    assert asked("violations request.json --wire openai-chat") == ([], 0)
    found, status = asked("violations broken.json --wire openai-chat")
    assert ([row.keys() for row in found], status) == ([{"index", "code", "message"}], 1)


@pytest.mark.proves("R-9")
@pytest.mark.parametrize(
    "line", ["repair broken.json --wire openai-chat", "fit broken.json --wire openai-chat --tokens 900000"]
)
def test_what_a_provider_would_refuse_is_mended_also_where_nothing_has_to_shrink(asked: Any, line: str) -> None:
    """A call without a result gets one, and `repair` says what it did."""
    found, status = asked(line)
    assert status == 0
    assert violations(messages_of(found["request"], "openai-chat"), "openai-chat") == []
    if line.startswith("repair"):
        assert found["violations"] == []
        assert found["repaired"]


@pytest.mark.proves("R-9")
def test_a_valid_request_is_repaired_to_itself(asked: Any, project: Path) -> None:
    """No action is reported, and no byte differs."""
    found, status = asked("repair request.json")
    assert (found["repaired"], found["violations"], status) == ([], [], 0)
    assert found["request"] == json.loads((project / "request.json").read_text())


@pytest.mark.parametrize(("line", "status", "code"), STATUS, ids=[line for line, _, _ in STATUS])
def test_each_end_has_its_exit_status(asked: Any, line: str, status: int, code: str | None) -> None:
    """An error is an object with a code, a message and what to try; another end is the object itself."""
    found, actual = asked(line)
    assert actual == status
    error = found.get("error") if isinstance(found, dict) else None
    assert (error or {}).get("code") == code
    assert error is None or error.keys() == {"code", "message", "try"}
    assert error is None or "Errno" not in error["message"]


@pytest.mark.proves("L-9")
@pytest.mark.parametrize(("line", "status", "code"), [end for end in STATUS if end[1] in {2, 4} and end[2] is not None])
def test_a_mistake_names_what_to_try(asked: Any, line: str, status: int, code: str) -> None:
    """The hint is a command that works, or the help of the typed command if none is near."""
    found, _ = asked(line)
    assert (found["error"]["try"] or "").startswith("penstock ")
    assert (found["error"]["code"], status) == (code, status)


@pytest.mark.proves("B-2", "V-6")
@pytest.mark.parametrize("line", ["view README.md --offset 5000", "read README.md --start-line 5000"])
def test_a_page_after_the_end_is_reported_to_scripts_too(asked: Any, line: str) -> None:
    """An empty text has a notice with the number of lines and the page before."""
    found, status = asked(line)
    assert (found["text"], status) == ("", 0)
    assert found["previous"]
    assert found["notices"] == [f"nothing there: the file has {found['total_lines']} lines"]
