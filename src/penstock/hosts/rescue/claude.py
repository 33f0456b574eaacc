"""Write a session of Claude Code beside another: one chain of records, of which the host makes up the rest (2.1.330)."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any

from penstock.text.json_access import field, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import Line
    from penstock.hosts.sessions.records import Record, SessionFile

_FRAME = ("isSidechain", "userType", "entrypoint", "cwd", "version", "gitBranch")


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of its file beside another's."""
    session = str(uuid.uuid4())
    return session, os.path.join(os.path.dirname(path), f"{session}.jsonl")


def resume(session: str) -> list[str]:
    """Return the host's command that goes on with a session, in its folder."""
    return ["claude", "--resume", session]


def records(file: SessionFile, lines: Sequence[Line], session: str, now: str) -> Iterator[Record]:
    """Yield the records of the new session."""
    before: str | None = None
    for record in _unchained(file, lines, now):
        record.pop("logicalParentUuid", None)
        record |= {"parentUuid": before, "sessionId": session}
        before = record.setdefault("uuid", str(uuid.uuid4()))
        yield record


def _unchained(file: SessionFile, lines: Sequence[Line], now: str) -> Iterator[Record]:
    frame: Record = {}
    for line in lines:
        if not line.said:
            yield {**frame, "type": field(line.message, "role"), "message": line.message, "timestamp": now}
            continue
        for place in dict.fromkeys(one.place for one in line.said):
            record = file.record(place)
            frame = {key: record[key] for key in _FRAME if key in record}
            if line.message is not None:
                record = _changed(record, line.message)
            yield record
            if line.message is not None:
                break  # all blocks of an answer stand in the first record of it now


def _changed(record: Record, message: Any) -> Record:
    content = field(message, "content")
    if type_of(record) == "attachment":
        return {**record, "rendered": [{"content": content}]}
    # The copy for the host's screen would show what the model no longer sees.
    kept = {key: value for key, value in record.items() if key != "toolUseResult"}
    return {**kept, "message": {**record["message"], "content": content}}
