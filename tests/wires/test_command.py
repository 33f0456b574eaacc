"""Does `penstock violations` check a saved request from a file or a pipe, and report in words and as JSON?"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.forks import COMMANDS, warm

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("LAW-Transcript")


def run(content: str, *arguments: str, cwd: Path) -> tuple[int, str, str]:
    (cwd / "request.json").write_text(content, "utf-8")
    command = (
        "from penstock.cli.requests import violations_command as c; import sys; sys.exit(c(standalone_mode=False))"
    )
    done = subprocess.run(
        [*warm(*COMMANDS), "-c", command, *arguments],
        cwd=cwd,
        input=content,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


BROKEN: dict[str, Any] = {"model": "m", "messages": [{"role": "tool", "tool_call_id": "a\x1b[31m", "content": "x"}]}


def test_a_broken_request_is_listed_and_the_status_says_so(tmp_path: Path) -> None:
    """It prints one inert line for each violation, or a list under --json."""
    status, shown, _ = run(json.dumps(BROKEN), "request.json", "--wire", "openai-chat", cwd=tmp_path)
    assert status == 1
    assert shown.startswith("message 0: orphan_result: A result needs its call before it: a")
    assert "\x1b" not in shown
    status, shown, _ = run(json.dumps(BROKEN), "-", "--wire", "openai-chat", "--json", cwd=tmp_path)
    assert status == 1
    assert [(found["index"], found["code"]) for found in json.loads(shown)] == [(0, "orphan_result")]


def test_a_valid_request_is_an_empty_list(tmp_path: Path) -> None:
    """It takes a body or only its messages; an output may answer a call that the provider keeps."""
    messages = [{"role": "user", "content": "hi"}]
    assert run(json.dumps(messages), "request.json", "--wire", "anthropic", "--json", cwd=tmp_path)[:2] == (0, "[]\n")
    kept = {"previous_response_id": "r", "input": [{"type": "function_call_output", "call_id": "a", "output": "x"}]}
    assert run(json.dumps(kept), "-", "--wire", "openai-responses", "--json", cwd=tmp_path)[:2] == (0, "[]\n")
    assert run(json.dumps(messages), "-", "--wire", "anthropic", cwd=tmp_path)[1].startswith("No violations")


def test_the_wire_need_not_be_named_if_the_body_shows_it(tmp_path: Path) -> None:
    """The same holds for `repair`, `bill` and `fit`. What could be for several has to be told apart by the caller."""
    assert run(json.dumps(BROKEN), "request.json", cwd=tmp_path)[1].startswith("message 0: orphan_result")
    valid = {"system": "Be brief.", "messages": [{"role": "user", "content": "hi"}]}
    assert run(json.dumps(valid), "-", cwd=tmp_path)[:2] == (0, "No violations: a valid request for anthropic.\n")
    status, _, said = run(json.dumps([{"role": "user", "content": "hi"}]), "-", cwd=tmp_path)
    assert (status, "name its wire, one of openai-chat" in said) == (2, True)


@pytest.mark.parametrize(
    ("content", "file", "status", "code"),
    [
        ("{", "request.json", 2, "usage"),
        ("{}", "-", 2, "usage"),
        ("[" * 100_000, "-", 2, "usage"),
        ("", "gone.json", 4, "not_found"),
    ],
)
def test_what_is_not_a_request_is_an_error(content: str, file: str, status: int, code: str, tmp_path: Path) -> None:
    """It is not JSON, has no messages, or is a missing file."""
    got, shown, _ = run(content, file, "--wire", "anthropic", "--json", cwd=tmp_path)
    assert (got, json.loads(shown)["error"]["code"]) == (status, code)
