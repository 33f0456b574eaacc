"""How is a session of qwen-code written next to another: one chain of records, each a message of the next request (0.24.4)?"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any

from penstock.text.json_access import field, objects, role_of, string, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record, SessionFile

_FRAME = ("cwd", "version", "gitBranch")
_TALK = frozenset({"user", "assistant", "tool_result"})


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of its file next to another's."""
    session = str(uuid.uuid4())
    return session, os.path.join(os.path.dirname(path), f"{session}.jsonl")


def resume(session: str) -> list[str]:
    """Return the host's command that resumes a session, in its folder."""
    return ["qwen", "--resume", session]


def records(file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
    """Yield the records of the new session."""
    before: str | None = None
    for record in _unchained(file, lines, now):
        made = str(uuid.uuid4())
        yield {**record, "uuid": made, "parentUuid": before, "sessionId": session}
        before = made


def _unchained(file: SessionFile, lines: Sequence[SessionLine], now: str) -> Iterator[Record]:
    frame: Record = {}
    is_cut = False
    for line in lines:
        record = file.record(line.said[0].place) if line.said else {}
        frame = {key: record[key] for key in _FRAME if key in record} or frame
        message = line.said[0].message if line.message is None else line.message
        is_cut = is_cut or line.message is not None
        if is_cut:  # figures of a larger request: the host would compact because of them
            record.pop("usageMetadata", None)
        if type_of(record) not in _TALK:  # our note, or a message that a compaction left
            yield {**frame, "type": _kind(message), "timestamp": now, "message": message}
        elif line.message is None:
            yield record
        else:
            # The copy for the host's screen would show what the model no longer sees.
            kept = {key: value for key, value in record.items() if key != "toolCallResult"}
            yield {**kept, "message": message}


def _kind(message: Any) -> str:
    if role_of(message) == "model":
        return "assistant"
    parts = objects(field(message, "parts"))
    return "tool_result" if parts and all(_is_result(part) for part in parts) else "user"


def _is_result(part: Record) -> bool:
    return bool(string(field(part, "functionResponse", "name")))
