"""How does a session of Claude Code that shows where a context goes look in its file: reads, floods, compactions, a refusal?

The picture of the docs shows this one. The work is made up, the form is the host's (2.1.330).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from penstock.hosts.sessions.reports import story_of
from penstock.text.json_access import as_json
from penstock.text.tokens import count

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.inspection.story import Story, Subject

SESSION = "6f1c2b7e-58d4-4c0e-9a43-d1b0a7e3c912"
PROJECT = "/home/ada/millwater"
WINDOW = 200_000
_HOST_TOKENS = 11_800  # instructions that the host sends and does not record
_FULL = 148_000
_REFUSED = 202_000
_FILES = (
    "ledger/importer.py",
    "ledger/rows.py",
    "ledger/rates.py",
    "ledger/cli.py",
    "tests/test_importer.py",
    "docs/format.md",
)
_TOOLS = ("Read", "Bash", "Grep", "Edit", "WebFetch", "NotebookEdit", "mcp__tracker__search", "mcp__tracker__update")
_SAID = (
    "The totals differ by the rows of the last day. I look at how the batches are closed.",
    "The batch is closed before its last page is written; a test that shows it comes first.",
    "That test fails as it should. Now the closing moves behind the write.",
    "The suite is green but for the rates, which were red before. I look at them next.",
)


class _Session:
    """The growing file, and what its next request holds."""

    def __init__(self, seed: int) -> None:
        self.records: list[dict[str, Any]] = []
        self.random = Random(seed)
        self.held_tokens = 0
        self.cached_tokens = 0
        self._at = datetime(2026, 11, 19, 8, 12, tzinfo=UTC)
        self._last: str | None = None
        self._answers = 0

    def add(self, kind: str, **more: Any) -> None:
        """Add a record that continues from the one before it."""
        uuid = f"{len(self.records):08x}-0000-4000-8000-{self.random.getrandbits(48):012x}"
        self._at += timedelta(seconds=self.random.randint(2, 40))
        about = {
            "sessionId": SESSION,
            "cwd": PROJECT,
            "version": "2.1.330",
            "timestamp": f"{self._at:%Y-%m-%dT%H:%M:%S}.000Z",
        }
        self.records.append(
            {"parentUuid": self._last, "isSidechain": False, "type": kind, "uuid": uuid, **about, **more}
        )
        self._last = uuid

    def said(self, text: str, **more: Any) -> None:
        """Add words of the person, or of the host in the person's name."""
        self.held_tokens += estimate(text)
        self.add("user", message={"role": "user", "content": text}, **more)

    def answers(self, *blocks: dict[str, Any]) -> None:
        """Add an answer of one block or several, with what the provider counted."""
        self._answers += 1
        tokens = self.held_tokens + _HOST_TOKENS
        usage = {
            "input_tokens": 4,
            "cache_read_input_tokens": min(self.cached_tokens, tokens - 4),
            "cache_creation_input_tokens": max(0, tokens - 4 - self.cached_tokens),
            "output_tokens": sum(estimate(as_json(block)) for block in blocks),
        }
        self.cached_tokens = tokens - 4
        for block in blocks:
            self.held_tokens += estimate(as_json(block))
            message = {
                "role": "assistant",
                "id": f"msg_{self._answers:06}",
                "model": "claude-opus-5",
                "content": [block],
                "usage": usage,
            }
            self.add("assistant", message=message)

    def calls(self, name: str, given: dict[str, Any], result: str, *, thought: str = "", failed: bool = False) -> None:
        """Add a call of the model with its result."""
        use = {"type": "tool_use", "id": f"toolu_{len(self.records):06}", "name": name, "input": given}
        thinking = [{"type": "thinking", "thinking": thought, "signature": "c2lnbmVk" * 12}] if thought else []
        self.answers(*thinking, use)
        block = {
            "type": "tool_result",
            "tool_use_id": use["id"],
            "content": result,
            **({"is_error": True} if failed else {}),
        }
        self.held_tokens += estimate(result)
        self.add("user", message={"role": "user", "content": [block]}, toolUseResult={"stdout": result[:2_000]})

    def compacts(self) -> None:
        """Add a compaction of the host: a boundary, and a summary in the person's name."""
        self.add(
            "system",
            subtype="compact_boundary",
            compactMetadata={"trigger": "auto", "preTokens": self.held_tokens + _HOST_TOKENS},
        )
        self.held_tokens = self.cached_tokens = 0
        self.said(
            "This session is being continued from a previous conversation.\n" + "\n".join(_SAID) * 18,
            isCompactSummary=True,
        )

    def refused(self) -> None:
        """Add a refusal of the request by the provider."""
        words = f"prompt is too long: {self.held_tokens + _HOST_TOKENS} tokens > {WINDOW} maximum"
        message = {
            "role": "assistant",
            "id": f"e{len(self.records)}",
            "model": "<synthetic>",
            "content": [{"type": "text", "text": words}],
        }
        self.add("assistant", message=message, isApiErrorMessage=True)


def records(rounds: int = 590, seed: int = 11) -> list[dict[str, Any]]:
    """Return the records of a session of that many rounds: compacted when full, and finally refused because of a flood."""
    session = _Session(seed)
    random = session.random
    tools = [
        {"name": name, "description": "What it does. " * 60, "input_schema": {"type": "object"}} for name in _TOOLS
    ]
    session.add(
        "attachment",
        attachment={"type": "prompt_snapshot", "systemPrompt": ["You work in a terminal. " * 160], "tools": tools},
    )
    session.said("The nightly import drops rows since Tuesday. Find out why, and mend it with a test.")
    for at in range(rounds):
        if session.held_tokens > _FULL:
            session.compacts()
        path = f"{PROJECT}/{random.choice(_FILES)}"
        match random.choices(("read", "run", "search", "edit", "say", "flood", "fail"), (32, 22, 16, 14, 12, 1, 3))[0]:
            case "read":
                session.calls("Read", {"file_path": path}, _source(path), thought=_thought(random))
            case "run":
                session.calls(
                    "Bash", {"command": "pytest -q tests/test_importer.py"}, _log(random, random.randint(3, 30))
                )
            case "search":
                session.calls("Grep", {"pattern": "close_batch", "path": PROJECT}, _log(random, random.randint(1, 20)))
            case "edit":
                session.calls(
                    "Edit",
                    {"file_path": path, "old_string": _source(path)[:300], "new_string": _source(path)[:2_400]},
                    "The file was updated.",
                )
            case "say":
                session.answers({"type": "text", "text": " ".join(random.choices(_SAID, k=random.randint(2, 40)))})
                session.said("Go on, and say what is left.")
            case "flood":
                session.calls("Bash", {"command": "git log -p --stat ledger/"}, _log(random, random.randint(400, 900)))
            case "fail":
                session.calls(
                    "Bash",
                    {"command": "make rates"},
                    "Exit code 2\nmake: *** No rule to make target 'rates'.",
                    failed=True,
                )
        if at % 9 == 0:
            session.said(
                "<system-reminder>The todo list has 3 open items. Do not mention this.</system-reminder>", isMeta=True
            )
    session.calls("Bash", {"command": "cat var/import.log"}, _log(random, (_REFUSED - session.held_tokens) // 27))
    session.refused()
    session.said("Go on.")
    session.refused()
    return session.records


def estimate(text: str) -> int:
    """Return about how many tokens a text has for the model."""
    return count(text, model="claude-opus-5").tokens


def _thought(random: Random) -> str:
    return " ".join(random.choices(_SAID, k=random.randint(4, 40)))


def _source(path: str) -> str:
    """Return a file, the same at each reading."""
    random = Random(path)
    names = ("row", "batch", "rate", "day", "total", "page", "account", "ledger")
    rows = [(random.choice(names), random.choice(names), random.choice(names)) for _ in range(random.randint(20, 170))]
    return "".join(f"{at:5}\t    {to}_{at % 89} = close_{of}({by}, {at})\n" for at, (to, of, by) in enumerate(rows, 1))


def _log(random: Random, lines: int) -> str:
    rows = [(random.randint(0, 59), random.randint(0, 59), random.randint(1, 9_999)) for _ in range(lines)]
    return "".join(f"2026-11-19 03:{a:02}:{b:02} import page={page} rows={page % 501} ok\n" for a, b, page in rows)


def sample(folder: Path, rounds: int = 590) -> tuple[Subject, Story]:
    """Return the session, written to a folder and read from there, as `penstock inspect` does it."""
    path = folder / f"{SESSION}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records(rounds)), encoding="utf-8")
    subject, story = story_of("claude", str(path))
    return subject._replace(
        path=f"~/.claude/projects/-home-ada-millwater/{path.name}", updated="2026-11-19T10:41:07Z"
    ), story
