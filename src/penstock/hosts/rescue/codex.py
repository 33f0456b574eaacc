"""How is a session of Codex written next to another: its metadata, then the items of the next request (0.171.0)?"""

from __future__ import annotations

import os
import secrets
import time
import uuid
from typing import TYPE_CHECKING

from penstock.text.json_access import field, nested, role_of, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.text.json_access import Json

_SETTINGS = ("session_meta", "world_state", "turn_context")
_FIGURES = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of its file next to another's; for an archived session, among those that are not archived."""
    session, now = str(_uuid7()), time.gmtime()
    name = f"rollout-{time.strftime('%Y-%m-%dT%H-%M-%S', now)}-{session}.jsonl"
    home, folder = os.path.split(os.path.dirname(path))
    if folder == "archived_sessions":
        return session, os.path.join(home, "sessions", time.strftime(os.path.join("%Y", "%m", "%d"), now), name)
    return session, os.path.join(os.path.dirname(path), name)


def resume(session: str) -> list[str]:
    """Return the host's command that resumes a session."""
    return ["codex", "resume", session]


def records(file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
    """Yield the records of the new session."""
    kept = {string(record.get("type")): record for _, record in file.records() if record.get("type") in _SETTINGS}
    meta = kept.pop("session_meta", {})
    own = meta.get("payload")
    payload = {**(own if isinstance(own, dict) else {}), "id": session, "timestamp": now}
    if "session_id" in payload:
        payload["session_id"] = session
    yield {**meta, "timestamp": now, "type": "session_meta", "payload": payload}
    # Without them the host would tell its model again where it is and what it may do.
    for ordinal, record in enumerate(kept.values(), 1):
        yield {**record, "timestamp": now, "ordinal": ordinal}
    for ordinal, item in enumerate(_items(lines), len(kept) + 1):
        yield {"timestamp": now, "ordinal": ordinal, "type": "response_item", "payload": item}


def appended(file: SessionFile, lines: Sequence[SessionLine], tokens: tuple[int, int], now: str) -> Iterator[Record]:
    """Yield a compaction, which replaces everything said so far, the host's settings, and how full the window is.

    After a refusal the host records its window as full: without new figures it would first compact again, and without its settings
    it would tell its model again where it is.
    """
    ordinal: int | None = None
    settings: dict[str, Record] = {}
    figures: Record = {}
    for _, record in file.records():
        number = whole_number(record.get("ordinal"))
        ordinal = number if number is not None else ordinal
        if type_of(record) in _SETTINGS[1:]:
            settings[type_of(record)] = record
        elif type_of(record.get("payload")) == "token_count" and field(record, "payload", "info") is not None:
            figures = record
    made: list[Record] = [
        {"type": "compacted", "payload": {"message": "", "replacement_history": list(_items(lines))}},
        *settings.values(),
    ]
    if figures:
        used = {**dict.fromkeys(_FIGURES, 0), "total_tokens": tokens[1]}
        made.append({**figures, "payload": nested(figures["payload"], ("info", "last_token_usage"), used)})
    for at, record in enumerate(made, 1):
        yield {**record, "timestamp": now, **({} if ordinal is None else {"ordinal": ordinal + at})}


def _items(lines: Sequence[SessionLine]) -> Iterator[Json]:
    for line in lines:
        for item in [one.message for one in line.said] if line.message is None else [line.message]:
            yield item if type_of(item) else _in_full(item)


def _in_full(message: Json) -> Json:
    """Return a message as an item of the long form: the API reads the short one, a role and a text, but the host does not."""
    role, content = role_of(message), field(message, "content")
    kind = "output_text" if role == "assistant" else "input_text"
    blocks = [{"type": kind, "text": content}] if isinstance(content, str) else content
    return {"type": "message", "role": role, "content": blocks}


def _uuid7() -> uuid.UUID:
    """Return an id that sorts by time, as the host makes them (RFC 9562, version 7)."""
    bits = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    bits = bits & ~(0xF << 76) | 7 << 76
    return uuid.UUID(int=bits & ~(0x3 << 62) | 2 << 62)
