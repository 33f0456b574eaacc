"""In which ways do sessions get stuck? Files of stuck sessions of two hosts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.hosts import histories
from tests.hosts.histories import Claude, Step, lines

if TYPE_CHECKING:
    from pathlib import Path

Record = dict[str, Any]

TASK = "TASK-ONE fix the parser."
NEEDLE = "needle-in-the-middle"
FLOOD = "".join(f"line {number} of the listing\n" for number in range(4_000)).replace("line 2000 ", f"{NEEDLE} ")
WINDOW = 9_000
WAYS = ["flood", "many", "orphan", "torn", "compaction", "image"]
IMAGE = "A" * (8 << 20)
REFUSED_IMAGE = "messages.1.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"


def stuck(host: str, way: str, path: Path) -> str:
    """Write a stuck session; return its path."""
    records = {"claude": _claude, "codex": _codex}[host](way)
    path.write_text(lines(records) + ('{"type":"user","mess' if way == "torn" else ""))
    return str(path)


def _results(way: str) -> list[str]:
    return [FLOOD[:9_000]] * 12 if way == "many" else ["of little"] if way == "image" else [FLOOD]


def _claude(way: str) -> list[Record]:
    talk = Claude()
    talk.says(TASK)
    if way == "compaction":
        talk.add("user", "What was said before.", isCompactSummary=True)
    for number, result in enumerate(_results(way)):
        talk.calls((f"c{number}", "Bash", {"command": "ls -R"}, result, False))
    if way == "orphan":
        talk.add("assistant", [{"type": "tool_use", "id": "open", "name": "Bash", "input": {}}], answer="m-open")
    if way == "image":
        source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
        talk.add("user", [{"type": "image", "source": source}, {"type": "text", "text": "What is on it?"}])
    talk.add("assistant", [{"type": "text", "text": refused(way)}], isApiErrorMessage=True)
    if way == "compaction":
        boundary: Record = {"type": "system", "subtype": "compact_boundary", "parentUuid": None, "uuid": "b"}
        at = next(place for place, record in enumerate(talk.records) if record.get("isCompactSummary"))
        boundary |= {"logicalParentUuid": talk.records[at - 1]["uuid"], "compactMetadata": {"trigger": "auto"}}
        talk.records[at]["parentUuid"] = "b"
        talk.records.insert(at, boundary)
        talk.records.insert(at + 2, said_again(talk.records[at - 1]["message"], talk.records[at]["uuid"]))
        talk.records[at + 3]["parentUuid"] = "again"
    for record in talk.records:
        record |= {"sessionId": "old", "cwd": "/p", "version": "2.1.332"}
    return talk.records


def said_again(message: Record, before: str) -> Record:
    """Return a record of what survived a compaction."""
    return {"type": "user", "uuid": "again", "parentUuid": before, "isSidechain": False, "message": message}


def _codex(way: str) -> list[Record]:
    steps: list[Step] = [
        (f"c{at}", "exec_command", {"cmd": "ls -R"}, result, False) for at, result in enumerate(_results(way))
    ]
    records = histories.codex(TASK, *steps)
    if way == "orphan":
        call = {"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "open"}
        records.append({"timestamp": "t", "type": "response_item", "payload": call})
    if way == "image":
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}"}
        content = [picture, {"type": "input_text", "text": "What is on it?"}]
        message = {"type": "message", "role": "user", "content": content}
        records.append({"timestamp": "t", "type": "response_item", "payload": message})
    if way == "compaction":
        history = [record["payload"] for record in records if record["type"] == "response_item"]
        records.append({"type": "compacted", "payload": {"message": "", "replacement_history": history}})
    error = {"message": refused(way), "codex_error_info": "other" if way == "image" else "context_window_exceeded"}
    records.append({"type": "event_msg", "payload": {"type": "task_complete", "error": error}})
    return [{**record, "timestamp": "t"} for record in records]


def refused(way: str) -> str:
    """Return the provider's refusal."""
    return f"API Error: 400 {REFUSED_IMAGE}" if way == "image" else "Prompt is too long"


def as_request(host: str, messages: list[Any]) -> Record:
    """Return a body as the host would make it: consecutive messages of one role are joined."""
    if host == "codex":
        return {"input": messages}
    merged: list[Any] = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if merged and merged[-1]["role"] == message["role"] == "user":
            merged[-1]["content"] += blocks
        else:
            merged.append({"role": message["role"], "content": list(blocks)})
    for message in merged:
        message["content"].sort(key=lambda block: block["type"] != "tool_result")
    return {"messages": merged, "max_tokens": 1}


def records_of(path: str | Path) -> list[Record]:
    """Return the records of a file."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
