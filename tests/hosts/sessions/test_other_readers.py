"""Do two readers by others find what ours find in the same files: claude-converter 1.9.0 and agent-session-bridge 0.5.0?

They run if `PENSTOCK_TEST_CONVERTERS` names a virtual environment with both. What they omit, or report although it is never
sent, is listed here; everything else has to be the same, in the same order.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from proof.loopback_model import LoopbackModel

from penstock.hosts.sessions import reader_of, whole_messages
from penstock.hosts.sessions.records import opened
from penstock.inspection.timeline import Refused, Said
from penstock.wires import Text, ToolCall, ToolResult, load
from proof import hosts
from tests.hosts.histories import written
from tests.hosts.sessions.test_mutated import EVERYTHING
from tests.hosts.test_real_hosts import SHELLS, asked, real

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.proves("X-1")

Fact = tuple[str, str, str]
"""What somebody said, and who; a call and its tool; a result and the call that it answers."""

BRIDGE = """
import json, sys
from session_bridge.convert import read_session
session = read_session({"claude": "claude-code", "codex": "codex"}[sys.argv[1]], sys.argv[2])
rows = [(message.role.value, block) for message in session.messages for block in message.content]
print(json.dumps([[role, block.type.value, block.call_id, block.tool_name, block.text] for role, block in rows]))
"""
CONVERTER = """
import json, sys
from claude_converter.claude import session_to_messages as claude
from claude_converter.codex import session_to_messages_codex as codex
from claude_converter.pi import session_to_messages_pi as pi
print(json.dumps([message["content"] for message in {"claude": claude, "codex": codex, "pi": pi}[sys.argv[1]](sys.argv[2])]))
"""
# The text that claude-converter puts around calls, results and thoughts.
_AROUND = re.compile(
    r"(?:<thinking>[^<]*</thinking>|<tool_use name='\0'>|</tool_use>|</?tool_result[^>]*>|\{.*\}|[\s\0])*"
)


def by_others(script: str, host: str, path: str) -> Any:
    """Return what one of them prints of a file; skip the test if they are not installed."""
    if "PENSTOCK_TEST_CONVERTERS" not in os.environ:
        pytest.skip(
            "PENSTOCK_TEST_CONVERTERS names no virtual environment with claude-converter and agent-session-bridge"
        )
    program = Path(os.environ["PENSTOCK_TEST_CONVERTERS"]) / "bin" / "python"
    ran = subprocess.run([program, "-c", script, host, path], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(ran.stdout)


def ours(host: str, path: str, *, with_hosts_words: bool) -> list[Fact]:
    """Return what our reader finds: all that was said, also before a compaction."""
    reader = reader_of(host)
    with opened(path) as file:
        said = [one for one in reader.happenings(file) if isinstance(one, Said) and not one.again]
    said = [one for one in said if with_hosts_words or not one.by_host or (one.is_summary and host != "pi")]
    entries = load(whole_messages(said), reader.WIRE).entries
    facts = [fact for entry in entries for part in entry.parts for fact in _facts(entry.role, part)]
    return [fact for fact in facts if fact[2]]


def _facts(role: str, part: object) -> Iterator[Fact]:
    if isinstance(part, Text):
        yield role, "", part.text
    elif isinstance(part, ToolCall):
        yield "call", part.id, part.name
    elif isinstance(part, ToolResult):
        yield "result", part.call_id, part.text


def check_bridge(host: str, path: str) -> None:
    """It omits what Claude Code adds to a request from its attachments, and the host's own words in place of an answer."""
    found: list[Fact] = []
    for role, kind, call, tool, text in by_others(BRIDGE, host, path):
        if kind == "tool_call":
            found.append(("call", call, tool))
        elif kind == "tool_result":
            found.append(("result", call, text))
        elif kind == "text":
            found.append((role, "", text))
    all_of_us = ours(host, path, with_hosts_words=True)
    extra = [fact for fact in all_of_us if fact not in ours(host, path, with_hosts_words=False)]
    assert [fact for fact in found if fact not in extra] == [fact for fact in all_of_us if fact not in extra]
    assert [fact for fact in found if fact not in all_of_us] == []


def check_converter(host: str, path: str) -> None:
    """It reports refusals as answers; for pi it omits what is not a message of the model, the person or a tool."""
    contents = "\n".join(by_others(CONVERTER, host, path))
    with opened(path) as file:
        refused = [one.words for one in reader_of(host).happenings(file) if isinstance(one, Refused)]
    facts = ours(host, path, with_hosts_words=host == "codex")
    at, between = 0, ""
    for role, _, text in facts:
        if role == "system" or text.startswith("Ran `"):
            continue
        found = contents.find(text, at)
        assert found >= 0, (role, text[:100])
        between += contents[at:found] + "\0"
        at = found + len(text)
    rest = between + contents[at:]
    for words in refused:
        rest = rest.replace(words, "")
    assert _AROUND.fullmatch(rest), rest[:400]


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_bridge_finds_the_same(host: str, tmp_path: Path) -> None:
    """The session has one record of every kind."""
    check_bridge(host, written(tmp_path / "s.jsonl", EVERYTHING[host]()))


@pytest.mark.parametrize("host", ["claude", "codex", "pi"])
def test_a_converter_finds_the_same(host: str, tmp_path: Path) -> None:
    """The session has one record of every kind."""
    check_converter(host, written(tmp_path / "s.jsonl", EVERYTHING[host]()))


@pytest.mark.parametrize("host", ["claude", "codex"])
@pytest.mark.timeout(200)
def test_both_find_the_same_in_what_the_real_host_wrote(host: str, tmp_path: Path) -> None:
    """There are a call, its result and an answer."""
    program = real(host)
    home, root = tmp_path / "home", tmp_path / "root"
    root.mkdir()
    home.mkdir()
    tool, argument, _ = SHELLS[host]
    with LoopbackModel(tool, {argument: "seq 1 300", "description": "count"}) as model:
        arguments, environment = asked(host, model.url, home)
        hosts.run([str(program), *arguments], root, home, environment)
    (path,) = (path for path in home.rglob("*.jsonl") if "seq 1 300" in path.read_text())
    check_bridge(host, str(path))
    check_converter(host, str(path))
