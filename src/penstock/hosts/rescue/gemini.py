"""How is a session of Gemini CLI written next to another: its messages as in the next request, each result once (0.61.0)?

The host keeps a result in the answer that called, and sends it from there; resuming its own files sends a copy in a separate
message too. Here there is no copy. Law: the new file reads as what was given, message by message.
"""

from __future__ import annotations

import os
import time
import uuid
from typing import TYPE_CHECKING, Any

from penstock.hosts.sessions import joined
from penstock.hosts.sessions.gemini import header
from penstock.text.json_access import field, objects, role_of, string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record, SessionFile

_CALL = {"id", "name", "args"}


def new_session(path: str) -> tuple[str, str]:
    """Return an id, and the path of its file next to another's."""
    session = str(uuid.uuid4())
    name = f"session-{time.strftime('%Y-%m-%dT%H-%M', time.gmtime())}-{session[:8]}.jsonl"
    return session, os.path.join(os.path.dirname(path), name)


def resume(session: str) -> list[str]:
    """Return the host's command that resumes a session, in its folder."""
    return ["gemini", "--resume", session]


def records(file: SessionFile, lines: Sequence[SessionLine], session: str, now: str) -> Iterator[Record]:
    """Yield the records of the new session."""
    kept = {key: value for key, value in header(file).items() if key != "messages"}
    # The host takes the session with the latest start as the newest.
    yield {**kept, "sessionId": session, "startTime": now, "lastUpdated": now}
    messages = [(line, joined(line.said) if line.message is None else line.message) for line in lines]
    at = 0
    while at < len(messages):
        line, message = messages[at]
        at += 1
        made = {"id": str(uuid.uuid4()), "timestamp": _time_of(line) or now}
        parts = objects(field(message, "parts"))
        calls = [part["functionCall"] for part in parts if isinstance(part.get("functionCall"), dict)]
        if role_of(message) != "model":
            yield {**made, "type": "user", "content": parts}
            continue
        results: list[Record] = []
        if calls and at < len(messages) and _answers(messages[at][1], calls):
            results = objects(field(messages[at][1], "parts"))
            at += 1
        yield {**made, "type": "gemini", "content": _spoken(parts), **_called(calls, results, made["timestamp"])}


def _time_of(line: SessionLine) -> str:
    return line.said[0].at if line.said else ""


def _answers(message: Any, calls: Sequence[Any]) -> bool:
    """Return whether a message contains only results of these calls, and begins with one."""
    known = {string(field(call, "id")) for call in calls} - {""}
    parts = objects(field(message, "parts"))
    answered = [string(field(part, "functionResponse", "id")) for part in parts if "functionResponse" in part]
    return (
        bool(parts)
        and "functionResponse" in parts[0]
        and set(answered) <= known
        and len(set(answered)) == len(answered)
    )


def _spoken(parts: Sequence[Record]) -> list[Record]:
    """Return an answer without its calls, which the host adds; with them if they hold more than it would add."""
    said = [part for part in parts if "functionCall" not in part]
    calls = list(parts[len(said) :])
    is_plain = all(part.keys() == {"functionCall"} and part["functionCall"].keys() == _CALL for part in calls)
    return said if list(parts[: len(said)]) == said and is_plain else list(parts)


def _called(calls: Sequence[Record], results: Sequence[Record], at: str) -> Record:
    """Return the calls of an answer, each with its results: a response, and what came with it."""
    if not calls:
        return {}
    given: dict[str, list[Record]] = {}
    call = ""
    for part in results:
        call = string(field(part, "functionResponse", "id")) or call
        given.setdefault(call, []).append(part)
    made = []
    for one in calls:
        own = given.get(string(one.get("id")), [])
        failed = any(field(part, "functionResponse", "response", "error") for part in own)
        row = {key: one.get(key) for key in ("id", "name", "args")}
        made.append(
            {**row, **({"result": own} if own else {}), "status": "error" if failed else "success", "timestamp": at}
        )
    return {"toolCalls": made}
