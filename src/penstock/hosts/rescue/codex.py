"""Write a session of Codex beside another: what it says of itself, then the items of the next request (0.169.0)."""

from __future__ import annotations

import os
import secrets
import time
import uuid
from typing import TYPE_CHECKING

from penstock.text.json_access import string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import Line
    from penstock.hosts.sessions.records import Record, SessionFile


_SETTINGS = ("session_meta", "world_state", "turn_context")


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of its file beside another's."""
    session = str(_uuid7())
    name = f"rollout-{time.strftime('%Y-%m-%dT%H-%M-%S', time.gmtime())}-{session}.jsonl"
    return session, os.path.join(os.path.dirname(path), name)


def resume(session: str) -> list[str]:
    """Return the host's command that goes on with a session."""
    return ["codex", "resume", session]


def records(file: SessionFile, lines: Sequence[Line], session: str, now: str) -> Iterator[Record]:
    """Yield the records of the new session."""
    kept = {string(record.get("type")): record for _, record in file.records() if record.get("type") in _SETTINGS}
    meta = kept.pop("session_meta", {})
    own = meta.get("payload")
    payload = {**(own if isinstance(own, dict) else {}), "id": session, "timestamp": now}
    if "session_id" in payload:
        payload["session_id"] = session
    yield {**meta, "timestamp": now, "type": "session_meta", "payload": payload}
    # Without them the host would tell its model once more where it is and what it may do.
    for ordinal, record in enumerate(kept.values(), 1):
        yield {**record, "timestamp": now, "ordinal": ordinal}
    ordinal = len(kept)
    for line in lines:
        items = [one.message for one in line.said] if line.message is None else [line.message]
        for item in items:
            ordinal += 1
            yield {"timestamp": now, "ordinal": ordinal, "type": "response_item", "payload": item}


def _uuid7() -> uuid.UUID:
    """Return an id that sorts by time, as the host makes them (RFC 9562, version 7)."""
    bits = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    bits = bits & ~(0xF << 76) | 7 << 76
    return uuid.UUID(int=bits & ~(0x3 << 62) | 2 << 62)
