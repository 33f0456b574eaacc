"""How is a session of Claude Code written next to another: one chain of records, from which the host derives the rest (2.1.332)?"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any

from penstock.hosts.sessions.claude import AGAIN
from penstock.text.json_access import field, string, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record, SessionFile

_FRAME = ("isSidechain", "userType", "entrypoint", "cwd", "version", "gitBranch")


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of its file next to another's."""
    session = str(uuid.uuid4())
    return session, os.path.join(os.path.dirname(path), f"{session}.jsonl")


def resume(session: str) -> list[str]:
    """Return the host's command that resumes a session, in its folder."""
    return ["claude", "--resume", session]


def records(file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
    """Yield the records of the new session."""
    before: str | None = None
    for record in _unchained(file, lines, now):
        record.pop("logicalParentUuid", None)
        record.pop(AGAIN, None)  # here it occurs for the first time
        record |= {"parentUuid": before, "sessionId": session}
        before = record.setdefault("uuid", str(uuid.uuid4()))
        yield record


def appended(file: SessionFile, lines: Sequence[SessionLine], tokens: tuple[int, int], now: str) -> Iterator[Record]:
    """Yield a compaction, and the messages that are in force after it.

    The host treats what follows the newest boundary as the whole session. A boundary without figures makes the host's own next
    compaction fail.
    """
    newest: Record = {}
    for _, record in file.records():
        if record.get("uuid") and "parentUuid" in record and not record.get("isSidechain"):
            newest = record
    frame = {key: newest[key] for key in (*_FRAME, "sessionId") if key in newest}
    before = str(uuid.uuid4())
    figures = {"trigger": "manual", "preTokens": tokens[0], "postTokens": tokens[1]}
    boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "isMeta": False}
    yield {
        **frame,
        "parentUuid": None,
        "logicalParentUuid": newest.get("uuid"),
        **boundary,
        "level": "info",
        "compactMetadata": figures,
        "uuid": before,
        "timestamp": now,
    }
    answers: dict[str, str] = {}
    for record in _unchained(file, lines, now):
        record.pop("logicalParentUuid", None)
        record |= {**frame, AGAIN: True, "parentUuid": before, "uuid": str(uuid.uuid4()), "timestamp": now}
        before = record["uuid"]
        answer = string(field(record, "message", "id"))
        if answer:
            # The host searches the whole file for an answer's parts, and their results, by the answer's id: under the old id it
            # would send the old results too.
            record["message"] = {**record["message"], "id": answers.setdefault(answer, f"msg_{uuid.uuid4().hex}")}
        yield record


def _unchained(file: SessionFile, lines: Sequence[SessionLine], now: str) -> Iterator[Record]:
    frame: Record = {}
    is_changed = False
    for line in lines:
        is_changed = is_changed or line.message is not None
        if not line.said:
            yield {**frame, "type": field(line.message, "role"), "message": line.message, "timestamp": now}
            continue
        for place in dict.fromkeys(one.place for one in line.said):
            record = file.record(place)
            frame = {key: record[key] for key in _FRAME if key in record}
            if line.message is not None:
                record = _changed(record, line.message)
            yield _without_figures(record) if is_changed or line.is_left_over else record
            if line.message is not None:
                break  # all blocks of an answer are now in its first record


def _without_figures(record: Record) -> Record:
    """Return an answer without its provider's counts: they belong to another request, and the host would apply them to this one."""
    message = record.get("message")
    if not isinstance(message, dict) or "usage" not in message:
        return record
    return {**record, "message": {key: value for key, value in message.items() if key != "usage"}}


def _changed(record: Record, message: Any) -> Record:
    content = field(message, "content")
    if type_of(record) == "attachment":
        return {**record, "rendered": [{"content": content}]}
    # The copy for the host's screen would show what the model no longer sees.
    kept = {key: value for key, value in record.items() if key != "toolUseResult"}
    return {**kept, "message": {**record["message"], "content": content}}
