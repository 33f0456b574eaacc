"""How is a session of pi written next to another: a header, and one chain of entries, each a message of the next request
(0.73.1)?
"""

from __future__ import annotations

import os
import secrets
import time
import uuid
from typing import TYPE_CHECKING, Any

from penstock.text.json_access import blocks, data_url, field, role_of, string, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.text.json_access import Json

_NOTHING = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
_COSTS = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of its file next to another's."""
    session = str(uuid.uuid4())
    name = f"{time.strftime('%Y-%m-%dT%H-%M-%S-000Z', time.gmtime())}_{session}.jsonl"
    return session, os.path.join(os.path.dirname(path), name)


def resume(session: str) -> list[str]:
    """Return the host's command that resumes a session, in its folder."""
    return ["pi", "--session", session]


def records(file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
    """Yield the records of the new session."""
    head = next((record for _, record in file.records() if type_of(record) == "session"), {})
    yield {"type": "session", **head, "version": 3, "id": session, "timestamp": now}
    before: str | None = None
    for entry in _unchained(file, lines):
        made = secrets.token_hex(4)
        yield {"timestamp": now, **entry, "id": made, "parentId": before}
        before = made


def _unchained(file: SessionFile, lines: Sequence[SessionLine]) -> Iterator[Record]:
    # A result's attachments follow it in the request, but are part of it in the file.
    kept = {
        line.said[0].place
        for line in lines
        if line.said and line.message is None and _is_attached(line.said[0].message)
    }
    is_cut = False
    held = (record.get("message") for _, record in file.records())
    spoken = next((message for message in held if role_of(message) == "assistant"), None)
    speaker = {key: field(spoken, key) for key in ("api", "provider", "model")}
    for line in lines:
        is_cut = is_cut or line.message is not None
        record = file.record(line.said[0].place) if line.said else {}
        message = line.said[0].message if line.message is None else line.message
        own = record.get("message")
        if role_of(own) == "toolResult" and role_of(message) == "tool":
            images = blocks(field(own, "content")) if line.said[0].place in kept else []
            yield {**record, "message": _result(own, line.message, images)}
        elif role_of(own) == "assistant":
            figures = {"usage": {**_NOTHING, "cost": _COSTS}} if is_cut or line.is_left_over else {}
            yield {**record, "message": {**(own or {}), **figures}}
        elif role_of(own) == "toolResult" and line.message is None:
            continue
        elif line.message is None and type_of(record) in {"message", "custom_message"}:
            yield record
        elif role_of(message) == "assistant":  # our note between two of the person's messages
            words = [{"type": "text", "text": string(field(message, "content"))}]
            noted = {"role": "assistant", "content": words, "usage": {**_NOTHING, "cost": _COSTS}, "stopReason": "stop"}
            yield {"type": "message", "message": {**speaker, **noted, "timestamp": time.time_ns() // 1_000_000}}
        else:
            content = [made for block in blocks(field(message, "content")) for made in _part(block)]
            stamp = time.time_ns() // 1_000_000
            yield {"type": "message", "message": {"role": "user", "content": content, "timestamp": stamp}}


def _is_attached(message: Json) -> bool:
    return role_of(message) == "user"


def _result(own: Any, message: Json, images: Sequence[Record]) -> Record:
    """Return a result, with other words if any are given, and the images that stay."""
    pictures = [block for block in images if type_of(block) == "image"]
    if message is None:
        texts = [block for block in blocks(own.get("content")) if type_of(block) == "text"]
        return {**own, "content": [*texts, *pictures]}
    # The copy for the host's screen would show what the model no longer sees.
    kept = {key: value for key, value in own.items() if key != "details"}
    return {**kept, "content": [{"type": "text", "text": string(field(message, "content"))}, *pictures]}


def _part(block: Record) -> Iterator[Record]:
    if type_of(block) == "text":
        yield {"type": "text", "text": string(block.get("text"))}
        return
    mime, data = data_url(string(field(block, "image_url", "url")))
    if data:
        yield {"type": "image", "mimeType": mime, "data": data}
