"""Read a session of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-….jsonl` (0.61.0).

A message is written again whenever it changes: the last one of an id holds. `$set` replaces all of them, `$rewindTo` takes back
what follows one. A result stands in the answer that called, and once more in a message of its own, which is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from penstock.inspection.happenings import Said
from penstock.text.json_access import field, objects, string, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import Counts, Record, SessionFile
    from penstock.text.json_access import Json

WIRE = "gemini"
_HOOKS = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)
_QUIET = frozenset({"info", "warning", "error"})  # said to the person


def happenings(file: SessionFile) -> Iterator[Said]:
    """Yield the contents of a session in their order."""
    counts = file.counts
    held: dict[tuple[str, str], Record] = {}
    for _, record in file.records():
        replaced = field(record, "$set", "messages")
        if isinstance(replaced, list):
            held = {_key(message): message for message in objects(replaced)}
        elif "$rewindTo" in record:
            held = dict(_until(held, record["$rewindTo"]))
        elif string(record.get("id")) and "type" in record:
            held[_key(record)] = record
        elif "$set" not in record and "sessionId" not in record:
            counts.unknown[type_of(record)] += 1
    answered: set[str] = set()
    for message in held.values():
        yield from map(Said, _contents(message, answered, counts))


def _key(message: Record) -> tuple[str, str]:
    """Return what a message is held by: an answer and its results may have one id."""
    return string(message.get("id")), string(message.get("type"))


def _until(held: dict[tuple[str, str], Record], last: Json) -> Iterator[tuple[tuple[str, str], Record]]:
    """Yield the messages before one that was taken back."""
    for key, message in held.items():
        if key[0] == last:
            return
        yield key, message


def _contents(message: Record, answered: set[str], counts: Counts) -> Iterator[Json]:
    """Yield a message as contents; a result that `answered` has is not told again."""
    kind, content = type_of(message), message.get("content")
    parts: list[Any] = [{"text": content}] if isinstance(content, str) else objects(content)
    if kind == "user":
        own = [_without_hooks(part) for part in parts if _is_news(part, answered)]
        own = [part for part in own if not string(part.get("text")).startswith("<session_context>")]
        if own:
            yield {"role": "user", "parts": own}
    elif kind == "gemini":
        calls = objects(message.get("toolCalls"))
        said = [part for part in parts if part.get("text") or (not calls and "functionCall" in part)]
        said += [{"functionCall": {key: call.get(key) for key in ("id", "name", "args")}} for call in calls]
        if said:
            yield {"role": "model", "parts": said}
        results = [part for call in calls for part in _results(call) if _is_news(part, answered)]
        if results:
            yield {"role": "user", "parts": results}
    elif kind not in _QUIET:
        counts.unknown[kind] += 1


def _is_news(part: Record, answered: set[str]) -> bool:
    """Return whether a part is no result that was told before, and note it."""
    call = string(field(part, "functionResponse", "id"))
    is_news = not call or call not in answered
    answered.add(call)
    return is_news


def _without_hooks(part: Record) -> Record:
    """Return a part without what hooks were let to put before a person's words."""
    text = part.get("text")
    return {**part, "text": _HOOKS.sub("", text)} if isinstance(text, str) else part


def _results(call: Record) -> Iterator[Record]:
    """Yield the results of a call; one that failed, or that the person refused, says so."""
    for part in objects(call.get("result")):
        response = part.get("functionResponse")
        if not isinstance(response, dict):
            continue
        if string(call.get("status")) in {"error", "cancelled"} and not field(response, "response", "error"):
            output = field(response, "response", "output")
            response = {
                **response,
                "response": {"error": output if isinstance(output, str) else string(call.get("status"))},
            }
        yield {"functionResponse": response}
