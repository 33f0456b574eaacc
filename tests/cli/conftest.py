"""A small project that the tests of the command line share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.screens import shell_line
from tests.forks import MCP, warm

ESTATE = Path(__file__).parent.parent.parent / "examples" / "cobol"


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a project with everything that the examples name, and a store with a session, one with edits, and a kept output."""
    root = tmp_path_factory.mktemp("project")
    (root / "src").mkdir()
    (root / "README.md").write_text("# Project\n\nWhat it is.\n\n## Use\n\nTODO: say how.\n\n" + "More text.\n\n" * 150)
    (root / "src" / "app.py").write_text('PORT = 8443\n\n\ndef serve():\n    """Serves."""\n    return PORT\n' * 20)
    (root / "server.log").write_text("".join(f"line {n}: error or warning\n" for n in range(2_000)))
    (root / "Makefile").write_text("all:\n\t@cat server.log\n")
    (root / "error.json").write_text('{"error": {"message": "prompt is too long: 205000 tokens > 200000 maximum"}}')
    asked = {"role": "user", "content": "Which port?"}
    function = {"name": "view", "arguments": '{"file_path": "src/app.py"}'}
    called = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    result = {"role": "tool", "tool_call_id": "c1", "content": "8443 " * 20_000}
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
    }
    (root / "event.json").write_text(
        json.dumps({**event, "tool_response": {"stdout": "line\n" * 20_000, "stderr": ""}})
    )
    python, *begun = warm(*MCP)
    server = {"command": python, "args": [*begun, "-m", "penstock", "mcp", "--no-landlock"]}
    (root / "servers.json").write_text(json.dumps({"mcpServers": {"files": server}}))
    (root / "messages.json").write_text(json.dumps([asked]))
    (root / "request.json").write_text(json.dumps({"model": "gpt-4o", "messages": [asked, called, result]}))
    (root / "stuck.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in _stuck_session()))
    (root / "PAYROLL.cbl").write_bytes((ESTATE / "cbl/MWB010.cbl").read_bytes())
    shell_line(root, "cat server.log | penstock guard --chars 600 > notice.txt", check=True)
    shell_line(root, 'penstock run "Which port does app.py use?" --json > answer.json', check=True)
    writes = [
        {"call": "write_file", "arguments": {"path": name, "content": "made\n"}} for name in ("one.txt", "two.txt")
    ]
    (root / "script.json").write_text(json.dumps([*writes, {"say": "Done."}]))
    edit = "penstock run Write. --model scripted:script.json --allow-edit --json > edited.json"
    shell_line(root, edit, check=True)
    return root


def _stuck_session() -> list[dict[str, object]]:
    """Return a session of Claude Code that was refused for its size."""
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls -R"}}
    listing = "".join(f"src/module{number}/part.py\n" for number in range(60_000))
    refused = {"type": "text", "text": "prompt is too long: 700000 tokens > 200000 maximum"}
    contents: list[tuple[str, object]] = [
        ("user", "Fix the parser."),
        ("assistant", [call]),
        ("user", [{"type": "tool_result", "tool_use_id": "c1", "content": listing}]),
        ("assistant", [refused]),
    ]
    return [
        {
            "type": role,
            "uuid": f"u{at}",
            "parentUuid": f"u{at - 1}" if at else None,
            "sessionId": "s",
            "message": {"role": role, "content": content},
            **({"isApiErrorMessage": True} if content == [refused] else {}),
        }
        for at, (role, content) in enumerate(contents)
    ]
