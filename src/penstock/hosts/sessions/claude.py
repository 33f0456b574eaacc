"""Read a session of Claude Code: `~/.claude/projects/FOLDER/ID.jsonl` (2.1.330).

Records name the one that they go on from. What a person took back stays in the file, off the way from the newest record to the
first; results of parallel calls hang off the record of their own call, beside that way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.text.json_access import field, objects, string, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.hosts.sessions.records import Counts, Record
    from penstock.text.json_access import Json

WIRE = "anthropic"
# Records that are no message: requests as they were sent, prices, what the screen shows.
_OTHERS = frozenset(
    {
        "ai-title",
        "api-request",
        "api-request-blob",
        "api-request-shape",
        "atis-latch",
        "attachment",
        "cost-state",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "progress",
        "queue-operation",
        "summary",
        "system",
        "tag",
        "tools-used",
    }
)
# What the host writes in a person's name.
_OF_THE_HOST = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "[Request interrupted",
)


def messages(records: Iterable[Record], counts: Counts) -> list[Json]:
    """Return the messages of a session in their order."""
    said: list[Record] = []
    before: dict[str, str] = {}
    for record in records:
        uuid, parent = _id(record), record.get("parentUuid") or record.get("logicalParentUuid")
        if uuid:
            before[uuid] = string(parent)
        if type_of(record) in {"user", "assistant"} and isinstance(record.get("message"), dict):
            said.append(record)
        elif type_of(record) not in _OTHERS:
            counts.unknown += 1
    return _merged(record for record in _on_the_way(said, before) if not _is_of_the_host(record))


def _on_the_way(said: list[Record], before: dict[str, str]) -> list[Record]:
    """Return the records that the newest one goes on from; all of them where the way back is not whole."""
    said = [record for record in said if not record.get("isSidechain")]
    at = _id(said[-1]) if said else ""
    way: set[str] = set()
    while at and at not in way:
        if at not in before:
            return said
        way.add(at)
        at = before[at]
    answers = {_answer(record) for record in said if _id(record) in way} - {""}
    calls = {_id(record) for record in said if _id(record) in way or _answer(record) in answers}
    return [
        record
        for record in said
        if _id(record) in calls or (string(record.get("parentUuid")) in calls and _is_result(record))
    ]


def _id(record: Record) -> str:
    return string(record.get("uuid"))


def _answer(record: Record) -> str:
    """Return the id of the model's answer that a record is a part of."""
    return string(field(record, "message", "id")) if type_of(record) == "assistant" else ""


def _is_result(record: Record) -> bool:
    return any(block.get("type") == "tool_result" for block in objects(field(record, "message", "content")))


def _is_of_the_host(record: Record) -> bool:
    """Return whether a record is nobody's words: a note, a summary, a command to the host, an error in an answer's place."""
    if any(
        record.get(mark) for mark in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
    ):
        return True
    if type_of(record) == "assistant":
        return False
    content = field(record, "message", "content")
    first = (
        next((string(block.get("text")) for block in objects(content)), "")
        if isinstance(content, list)
        else string(content)
    )
    return first.lstrip().startswith(_OF_THE_HOST)


def _merged(records: Iterable[Record]) -> list[Json]:
    """Return messages, the blocks of one answer in one of them: the host writes a record for each."""
    made: list[Any] = []
    places: dict[str, int] = {}
    for record in records:
        message, answer = record["message"], _answer(record)
        content = message.get("content")
        if answer in places and isinstance(content, list) and isinstance(made[places[answer]]["content"], list):
            made[places[answer]]["content"] += content
            continue
        if answer:
            places[answer] = len(made)
        made.append({"role": record["type"], "content": list(content) if isinstance(content, list) else content or ""})
    return made
