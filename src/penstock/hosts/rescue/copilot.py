"""How is a session of Copilot CLI written next to another: a folder of its own, with the events that make up the next request
(1.0.102)?
"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING

from penstock.hosts.sessions import joined
from penstock.hosts.sessions.copilot import ASSET
from penstock.text.json_access import blocks, data_url, field, objects, parsed, role_of, string, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Place
    from penstock.text.json_access import Json

# The members of an answer, a result and a message that are kept besides their content. A result's other members, for the host's
# screen, are as large as the result.
_ANSWER = frozenset({"messageId", "model", "interactionId", "turnId", "reasoningText", "providerId"})
_RESULT = frozenset({"toolCallId", "success", "model", "interactionId", "turnId"})
_USER = frozenset({"messageId", "source", "delivery", "interactionId", "turnId"})


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of its file: in a new folder next to another's."""
    session = str(uuid.uuid4())
    return session, os.path.join(os.path.dirname(os.path.dirname(path)), session, os.path.basename(path))


def resume(session: str) -> list[str]:
    """Return the host's command that resumes a session."""
    return ["copilot", f"--resume={session}"]


def records(file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
    """Yield the events of the new session, each with its predecessor."""
    before: str | None = None
    for event in _unchained(file, lines, session):
        made = str(uuid.uuid4())
        kept = {key: value for key, value in event.items() if key not in {"id", "timestamp", "parentId"}}
        yield {**kept, "id": made, "timestamp": event.get("timestamp") or now, "parentId": before}
        before = made


def _unchained(file: SessionFile, lines: Sequence[SessionLine], session: str) -> Iterator[Record]:
    start: Record = {}
    system: Record | None = None
    assets: dict[str, Place] = {}
    for place, event in file.records():
        kind = type_of(event)
        if kind == "session.start":
            start = start or event
        elif kind == "system.message" and field(event, "data", "role") == "system":
            system = event
        elif kind == ASSET:
            assets[string(field(event, "data", "assetId"))] = place
    own = start.get("data")
    yield {**start, "type": "session.start", "data": {**(own if isinstance(own, dict) else {}), "sessionId": session}}
    if system is not None:
        yield system
    for line in lines:
        event = file.record(line.said[0].place) if line.said else {}
        if (
            type_of(event) in {"user.message", "system.notification", "skill.context_delivered"}
            and line.message is None
        ):
            named = [string(one.get("assetId")) for one in objects(field(event, "data", "attachments"))]
            yield from (file.record(assets.pop(name)) for name in named if name in assets)
            yield event
        else:
            yield _written(event, joined(line.said) if line.message is None else line.message)


def _written(event: Record, message: Json) -> Record:
    """Return an event for a message; what is neither an answer nor a result becomes a person's message."""
    data, content = event.get("data"), field(message, "content")
    own = data if isinstance(data, dict) else {}
    words = "\n".join(string(block.get("text")) for block in blocks(content) if type_of(block) == "text")
    match type_of(event):
        case "tool.execution_complete":
            kept = {key: value for key, value in own.items() if key in _RESULT}
            # Also for a failure: the words are its message.
            return {**event, "data": {**kept, "success": True, "result": {"content": words}}}
        case "assistant.message":
            kept = {key: value for key, value in own.items() if key in _ANSWER}
            calls, requests = objects(field(message, "tool_calls")), objects(own.get("toolRequests"))
            if [one.get("toolCallId") for one in requests] != [call.get("id") for call in calls]:
                requests = [_request(call) for call in calls]  # the answer was written in several events
            return {**event, "data": {**kept, "content": words, "toolRequests": requests}}
    if role_of(message) == "assistant":  # our note between two of the person's messages, so that roles alternate
        said = {"messageId": str(uuid.uuid4()), "content": words, "toolRequests": []}
        return {"type": "assistant.message", "data": said}
    kept = {key: value for key, value in own.items() if key in _USER}
    urls = [string(field(block, "image_url", "url")) for block in blocks(content) if type_of(block) == "image_url"]
    images = [{"type": "blob", "mimeType": kind, "data": held} for kind, held in map(data_url, urls) if held]
    attached = {"attachments": images} if images else {}
    data = {"messageId": str(uuid.uuid4()), **kept, "content": words, "transformedContent": words, **attached}
    return {**event, "type": "user.message", "data": data}


def _request(call: Record) -> Record:
    kind = string(call.get("type"))
    name, given = ("custom", "input") if kind == "custom" else ("function", "arguments")
    arguments = string(field(call, name, given))
    is_json, value = parsed(arguments) if kind != "custom" else (False, None)
    made = {"toolCallId": call.get("id"), "name": field(call, name, "name"), "type": kind}
    return {**made, "arguments": value if is_json and isinstance(value, dict) else arguments}
