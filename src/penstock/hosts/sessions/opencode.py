"""How is a session of opencode read: the file that `opencode export ID` prints (1.18.33); its database is never read?

A message has parts: what was said, calls with their results, files, and parts for the host alone. A compaction consists of a
message from the person that asks for it, and the model's summary; from then on these two are sent, then the last messages before
them that the first one names, then what follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.hosts.sessions.exported import members
from penstock.hosts.sessions.head import Head
from penstock.inspection.timeline import Answered, Compacted, Place, Refused, Said
from penstock.text.json_access import as_json, field, objects, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Happening
    from penstock.text.json_access import Json

WIRE = "openai-chat"
ASKED = "What did we do so far?"
"""What the host says in the person's name when it compacts."""
_CLEARED = "[Old tool result content cleared]"
_INTERRUPTED = "[Tool execution was interrupted]"
_ATTACHED = "Attached media from tool result:"
_SENT = frozenset({"text", "file", "compaction", "subtask", "tool", "reasoning"})
_OTHERS = frozenset({"agent", "patch", "retry", "snapshot", "step-finish", "step-start"})
_MEDIA = ("image/", "application/pdf")
_PLAIN = frozenset({"text/plain", "application/x-directory"})
"""Files of these kinds were converted to text when they were attached."""


def head(file: SessionFile, _path: str) -> Head:
    """Return an export's metadata of its session."""
    for name, place in members(file):
        if name == "info":
            own = file.record(place)
            started = whole_number(field(own, "time", "created"))
            session, folder, version = (string(own.get(key)) for key in ("id", "directory", "version"))
            return Head(session, folder, version, "" if started is None else str(started))
    return Head()


def happenings(file: SessionFile) -> Iterator[Happening]:
    """Yield what happened in a session.

    Raises:
        CallerError: It is larger than `exported.MAX_EXPORT_BYTES`.
    """
    told = _Told(file)
    for name, place in members(file):
        if name == "messages":
            yield from told.message(place)
        elif name != "info":
            file.counts.unknown[name] += 1
    if file.counts.torn:
        file.counts.faults["torn_export"] = file.counts.torn


class _Told:
    """What was yielded so far, and where: a compaction repeats some of it."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file
        self._places: dict[str, Place] = {}
        """The position of each message, by its id, in order."""
        self._asked: dict[str, Record] = {}
        """The parts that ask for a compaction, by the id of their message."""
        self._held: int | None = None

    def message(self, place: Place) -> Iterator[Happening]:
        """Yield what happened in a message."""
        record = self._file.record(place)
        info, parts = record.get("info"), objects(record.get("parts"))
        role, key, at = string(field(info, "role")), string(field(info, "id")), _time(info)
        self._count(parts)
        self._places[key] = place
        if role == "user":
            self._asked.update((key, part) for part in parts if type_of(part) == "compaction")
            yield from said(record, place)
        elif role != "assistant":
            self._file.counts.unknown[f"message {role}"] += 1
        elif is_refused(info, parts):
            if field(info, "error", "name") != "MessageAbortedError":
                yield Refused(_words(field(info, "error")), place, at)
        else:
            yield from self._answered(info, at)
            asked, tail = string(field(info, "parentID")), self._tail(info)
            if tail is None:
                yield from said(record, place)
            else:
                yield Compacted(self._held, not self._asked[asked].get("auto"), place, at)
                keys = list(self._places)
                begun = keys[keys.index(asked) : -1]
                # opencode's sending order: the request for a summary and what followed it, the summary, then the tail from before
                # it.
                yield from self._again(begun)
                yield from (one._replace(is_summary=True, by_host=True) for one in said(record, place))
                yield from self._again(tail)

    def _answered(self, info: Json, at: str) -> Iterator[Answered]:
        """Yield an answer's figures, if any are recorded."""
        tokens = field(info, "tokens")
        fresh, made, thought = (whole_number(field(tokens, key)) for key in ("input", "output", "reasoning"))
        if thought:  # the host subtracts it from the provider's output count
            made = (made or 0) + thought
        read, written = (whole_number(field(tokens, "cache", key)) for key in ("read", "write"))
        given = (fresh or 0) + (read or 0) + (written or 0)
        if given:
            yield Answered(given, made, read, written, model=string(field(info, "modelID")), at=at)
            self._held = given

    def _tail(self, info: Json) -> list[str] | None:
        """Return the messages that are sent after a summary though they precede it; None if no compaction ends here."""
        asked = string(field(info, "parentID"))
        if asked not in self._asked or not field(info, "summary") or not string(field(info, "finish")):
            return None
        first = self._asked[asked].get("tail_start_id")
        if not isinstance(first, str) or first == asked:
            return []
        keys = list(self._places)
        # The host searches for it backwards from the compaction, and moves nothing if it is not there.
        if first not in keys or keys.index(first) > keys.index(asked):
            return None
        return keys[keys.index(first) : keys.index(asked)]

    def _again(self, keys: list[str]) -> Iterator[Said]:
        for place in self._file.told_again(self._places[key] for key in keys):
            record = self._file.record(place)
            if not is_refused(record.get("info"), objects(record.get("parts"))):
                yield from (one._replace(again=True) for one in said(record, place))

    def _count(self, parts: list[Record]) -> None:
        counts = self._file.counts
        for part in parts:
            kind = type_of(part)
            if kind not in _SENT:
                counts.unsent_bytes[kind] += len(as_json(part))
                if kind not in _OTHERS:
                    counts.unknown[kind] += 1
            elif shown := field(part, "state", "metadata"):
                counts.unsent_bytes["copies of results"] += len(as_json(shown))


def said(record: Record, place: Place) -> Iterator[Said]:
    """Yield a message of the host as the messages that are sent for it: an answer, its results, what came with them."""
    info, parts = record.get("info"), objects(record.get("parts"))
    role, at = field(info, "role"), _time(info)
    if role == "user":
        blocks = [block for part in parts for block in _asked(part)]
        by_host = not any(_is_of_a_person(part) for part in parts)
        if blocks:
            content = blocks[0]["text"] if len(blocks) == 1 and type_of(blocks[0]) == "text" else blocks
            yield Said({"role": "user", "content": content}, place, at, by_host=by_host)
        return
    tools = [part for part in parts if type_of(part) == "tool"]
    words = "".join(string(part.get("text")) for part in parts if type_of(part) == "text")
    thought = "".join(string(part.get("text")) for part in parts if type_of(part) == "reasoning")
    if not any(type_of(part) in {"text", "tool", "reasoning"} for part in parts):
        return
    message: Record = {"role": "assistant", "content": words}
    message |= {"reasoning_content": thought} if thought else {}
    yield Said({**message, "tool_calls": [_call(part) for part in tools]} if tools else message, place, at)
    for part in tools:
        content = _result(part.get("state"))
        yield Said({"role": "tool", "tool_call_id": string(part.get("callID")), "content": content}, place, at)
    if attached := [_block(one) for part in tools for one in attachments(part)]:
        blocks = [{"type": "text", "text": _ATTACHED}, *attached]
        yield Said({"role": "user", "content": blocks}, place, at, by_host=True)


def attachments(part: Record) -> list[Record]:
    """Return the images that came with a result, as far as they are sent."""
    state = part.get("state")
    if field(state, "status") != "completed" or field(state, "time", "compacted"):
        return []
    return [one for one in objects(field(state, "attachments")) if string(one.get("mime")).startswith(_MEDIA)]


def is_refused(info: Json, parts: list[Record]) -> bool:
    """Return whether an answer failed, and is not sent: one that a person interrupted is sent if it had begun."""
    has_begun = any(type_of(part) not in {"step-start", "reasoning"} for part in parts)
    error = field(info, "error")
    return bool(error) and not (field(error, "name") == "MessageAbortedError" and has_begun)


def _asked(part: Record) -> Iterator[Record]:
    """Yield what is sent for a part of a person's message."""
    kind = type_of(part)
    if kind == "text" and string(part.get("text")) and not part.get("ignored"):
        yield {"type": "text", "text": part["text"]}
    elif kind == "file" and string(part.get("mime")) not in _PLAIN:
        yield _block(part)
    elif kind == "compaction":
        yield {"type": "text", "text": ASKED}
    elif kind == "subtask":
        yield {"type": "text", "text": "The following tool was executed by the user"}


def _is_of_a_person(part: Record) -> bool:
    return type_of(part) == "file" or (type_of(part) == "text" and not part.get("synthetic"))


def _block(file: Record) -> Record:
    """Return a file as a block of a message."""
    url = string(file.get("url"))
    if string(file.get("mime")).startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": string(file.get("filename")), "file_data": url}}


def _call(part: Record) -> Record:
    given = field(part, "state", "input")
    function = {"name": string(part.get("tool")), "arguments": as_json({} if given is None else given)}
    return {"id": string(part.get("callID")), "type": "function", "function": function}


def _result(state: Any) -> str:
    """Return a call's result as it is sent."""
    match field(state, "status"):
        case "completed":
            return _CLEARED if field(state, "time", "compacted") else string(field(state, "output"))
        case "error":
            output = field(state, "metadata", "output")
            if field(state, "metadata", "interrupted") is True and isinstance(output, str):
                return output
            return string(field(state, "error"))
    return _INTERRUPTED


def _time(info: Json) -> str:
    created = whole_number(field(info, "time", "created"))
    return "" if created is None else str(created)


def _words(error: Json) -> str:
    """Return a provider's message, and its response body if the host keeps that."""
    words = [string(field(error, "data", key)) for key in ("message", "responseBody")]
    return " ".join(dict.fromkeys(word for word in words if word)) or string(field(error, "name"))
