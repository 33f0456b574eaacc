"""How is a session of qwen-code read: `~/.qwen/projects/FOLDER/chats/ID.jsonl` (0.24.4)?

Records name their predecessor; what a person took back stays in the file, off the path from the newest record to the first. A
compaction is recorded with everything that stays. Its contents are in Gemini's form, whatever the provider speaks.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from penstock.hosts.sessions.head import Head
from penstock.inspection.timeline import Answered, Compacted, Place, Refused, Said
from penstock.text.json_access import as_json, field, objects, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Happening
    from penstock.text.json_access import Json

WIRE = "gemini"
_TALK = frozenset({"user", "assistant", "tool_result"})
# Records that have a predecessor but no successor.
_ASIDE = frozenset(
    {
        "session_artifact_event",
        "session_artifact_snapshot",
        "session_sources_snapshot",
        "managed_session_header_v1",
        "managed_session_event_v1",
        "managed_session_commit_v1",
    }
)
_SYSTEM = _ASIDE | {
    "agent_bootstrap",
    "agent_launch_prompt",
    "agent_retry",
    "agent_session_ready",
    "at_command",
    "attribution_snapshot",
    "background_task_completed",
    "branch_checkpoint",
    "chat_compression",
    "cron",
    "custom_title",
    "file_history_snapshot",
    "goal_runtime",
    "goal_state",
    "goal_turn_end",
    "notification",
    "omni_recall",
    "parent_session",
    "realtime_message",
    "rewind",
    "session_model",
    "session_source",
    "slash_command",
    "turn_result",
    "ui_telemetry",
}


def head(file: SessionFile, _path: str) -> Head:
    """Return a session's metadata from its first records."""
    for _, record in file.records():
        if string(record.get("cwd")):
            return Head(*(string(record.get(key)) for key in ("sessionId", "cwd", "version", "timestamp")))
    return Head()


class _Known(NamedTuple):
    """What must be known of all records before the first can be yielded."""

    uuid: str
    parent: str
    place: Place


def _on_the_way(file: SessionFile) -> list[Place]:
    """Return the positions of the records on the path that leads to the newest one, back to the first gap; an id's first record
    wins.
    """
    known: dict[str, _Known] = {}
    last, size_bytes = "", 0
    for place, record in file.records():
        uuid, kind, size = string(record.get("uuid")), type_of(record), place.end_byte - place.start_byte
        subtype = string(record.get("subtype")) if kind == "system" else ""
        name = f"system {subtype}" if kind == "system" else kind
        is_known = kind in _TALK or subtype in _SYSTEM
        if not is_known:
            file.counts.unknown[name] += 1
        if not uuid or subtype in _ASIDE:
            file.counts.unsent_bytes[name] += size
            continue
        known.setdefault(uuid, _Known(uuid, string(record.get("parentUuid")), place))
        last, size_bytes = uuid, size_bytes + size
    way: dict[str, Place] = {}
    # From the newest back to the first. A loop of parents, possible in a torn or edited file, ends where it closes.
    while last in known and last not in way:
        way[last], last = known[last].place, known[last].parent
    if away := size_bytes - sum(place.end_byte - place.start_byte for place in way.values()):
        file.counts.unsent_bytes["taken back"] += away
    return list(reversed(way.values()))


def happenings(file: SessionFile) -> Iterator[Happening]:
    """Yield what happened in a session."""
    told = _Told(file)
    for place in _on_the_way(file):
        record = file.record(place)
        if type_of(record) == "system":
            yield from told.aside(record, place)
        elif record.get("subtype") == "realtime_message":  # another model's
            file.counts.unsent_bytes["realtime_message"] += place.end_byte - place.start_byte
        else:
            yield from told.message(record, place)
    yield from told.rest()


class _Told:
    """What was yielded so far. A person's words wait: a command that the host answers itself is removed again."""

    def __init__(self, file: SessionFile) -> None:
        self._counts = file.counts
        self._waiting: list[Said] = []
        self._said: set[bytes] = set()
        """Digests of what was said since the last compaction."""

    def rest(self) -> Iterator[Said]:
        """Yield the waiting words."""
        yield from self._waiting
        self._waiting.clear()

    def message(self, record: Record, place: Place) -> Iterator[Happening]:
        """Yield a message, preceded by an answer's figures."""
        yield from self.rest()
        message, at = record.get("message"), string(record.get("timestamp"))
        usage = record.get("usageMetadata")
        if type_of(record) == "assistant" and isinstance(usage, dict):
            keys = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount")
            given, made, cached = (whole_number(usage.get(key)) for key in keys)
            made = _with_thoughts(usage, given, made)
            window, model = whole_number(record.get("contextWindowSize")), string(record.get("model"))
            yield Answered(given, made, cached, window_tokens=window, model=model, at=at)
        if copy := record.get("toolCallResult"):
            self._counts.unsent_bytes["copies of results"] += len(as_json(copy))
        if not isinstance(message, dict):
            return
        self._said.add(_digest(message))
        said = Said(message, place, at, by_host=_is_of_the_host(record))
        if type_of(record) == "user" and not record.get("subtype"):
            # It may be `/help`: the host records the words first and only after them that it answered itself. Until the next record
            # it is unknown whether a model saw them.
            self._waiting.append(said)
        else:
            yield said

    def aside(self, record: Record, place: Place) -> Iterator[Happening]:
        """Yield what happened in a record that is not a message."""
        kind, payload, at = string(record.get("subtype")), record.get("systemPayload"), string(record.get("timestamp"))
        event = field(payload, "uiEvent")
        kept = field(payload, "compressedHistory")
        if kind == "chat_compression" and kept:
            yield from self.rest()
            reason = string(field(payload, "info", "triggerReason"))
            before = whole_number(field(payload, "info", "originalTokenCount"))
            yield Compacted(before, reason == "manual" if reason else None, place, at)
            yield from self._kept(objects(kept), place, at)
            return
        self._counts.unsent_bytes[f"system {kind}"] += place.end_byte - place.start_byte
        if kind == "slash_command" and self._waiting:
            words = [part.get("text") for said in self._waiting for part in objects(said.message.get("parts"))]
            if _is_answered_by_host(payload) and words == [field(payload, "rawCommand")]:
                self._waiting.clear()
            yield from self.rest()
        elif field(event, "event.name") == "qwen-code.api_error" and not field(event, "subagent_name"):
            yield from self.rest()
            yield Refused(string(field(event, "error_message")), place, at)

    def _kept(self, contents: list[Record], place: Place, at: str) -> Iterator[Said]:
        """Yield what a compaction left: what was said before, and the host's replacement for the rest."""
        before, self._said = self._said, {_digest(content) for content in contents}
        for number, content in enumerate(contents):
            # The kept history has no ids. What was said before is recognized by its content, and only the rest, a summary first, is
            # the host's.
            again = _digest(content) in before
            yield Said(content, place, at, by_host=not again, again=again, is_summary=not again and number == 0)


def _with_thoughts(usage: Record, given: int | None, made: int | None) -> int | None:
    """Return an answer's output tokens, reasoning included.

    Gemini's API counts reasoning separately from the answer, OpenAI's and Anthropic's within it, and the record does not say whose
    figures it holds: the total decides. Without a total, they are separate if there is at least as much reasoning as answer, as the
    host assumes.
    """
    thought, total = whole_number(usage.get("thoughtsTokenCount")), whole_number(usage.get("totalTokenCount"))
    if not thought:
        return made
    apart = (made or 0) + thought
    if total and given is not None:
        return apart if total >= given + apart else made
    return apart if thought >= (made or 0) else made


def _digest(message: Json) -> bytes:
    """Return a digest of 16 bytes that identifies a message."""
    return hashlib.blake2b(as_json(message).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _is_of_the_host(record: Record) -> bool:
    return type_of(record) == "user" and (
        record.get("provenance") == "system" or string(record.get("subtype")) in _SYSTEM
    )


def _is_answered_by_host(payload: Json) -> bool:
    """Return whether a command was answered in the host's own words, which no model saw."""
    items = objects(field(payload, "outputHistoryItems"))
    return (
        field(payload, "phase") == "result"
        and field(payload, "sentToModel") is not True
        and bool(items)
        and isinstance(field(payload, "rawCommand"), str)
        and all(type_of(item) == "assistant" for item in items)
    )
