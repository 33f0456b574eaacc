"""How is a session of Claude Code read: `~/.claude/projects/FOLDER/ID.jsonl` (2.1.332)?

Records name their predecessor. What a person took back stays in the file, off the path from the newest record to the first; results
of parallel calls branch off the record of their own call, next to that path. An answer has one record per block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.hosts.sessions.head import Head
from penstock.inspection.timeline import Answered, Compacted, Instructed, Place, Refused, Said
from penstock.text.json_access import as_json, field, objects, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Happening

WIRE = "anthropic"
AGAIN = "penstockAgain"
"""The key of a record that we appended: it repeats an earlier one, or says what was left out. The host ignores it."""
# Records outside the conversation: requests as they were sent, prices, screen contents.
_OTHERS = frozenset(
    {
        "ai-title",
        "api-request",
        "api-request-blob",
        "atis-latch",
        "cost-state",
        "custom-title",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "progress",
        "queue-operation",
        "summary",
        "tag",
        "tools-used",
    }
)
_SHAPE = "api-request-shape"
_TALK = frozenset({"user", "assistant", "attachment", "system"})
# What the host writes in a person's name.
_OF_THE_HOST = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<ide_",  # what the editor has open, before the person's own words
    "<system-reminder>",
    "<task-notification>",
    "[Request interrupted",
)


def head(file: SessionFile, _path: str) -> Head:
    """Return a session's metadata from its first records."""
    for _, record in file.records():
        if string(record.get("cwd")):
            keys = ("sessionId", "cwd", "version", "timestamp")
            return Head(*(string(record.get(key)) for key in keys))
    return Head()


class _Known(NamedTuple):
    """What must be known of all records before the first can be yielded."""

    place: Place
    uuid: str
    parent: str
    kind: str
    answer: str
    """The id of the model's answer that it is a part of."""
    figures: str
    """The key of that answer's figures; one of ours if the host recorded no id."""
    is_result: bool


class _Index:
    """Which records are on the path from the newest to the first, and the total figures of answers of several records."""

    def __init__(self, file: SessionFile) -> None:
        self._faults = file.counts.faults
        self.known: list[_Known] = []
        self.usage: dict[str, Record] = {}
        self._parents: dict[str, str] = {}
        unsent = file.counts.unsent_bytes
        beside: list[_Known] = []
        written: dict[tuple[bool, str], int] = {}
        for place, record in file.records():
            kind, uuid = type_of(record), string(record.get("uuid"))
            parent = string(record.get("parentUuid") or record.get("logicalParentUuid"))
            if uuid:
                self._parents[uuid] = parent
            answer = _answer(record)
            if kind in _TALK or kind == _SHAPE:
                known = beside if record.get("isSidechain") else self.known
                figures = _figures(known, place) if kind == "assistant" and not answer else answer
                one = _Known(place, uuid, parent, kind, answer, figures, _is_result(record))
                at = written.setdefault((known is beside, uuid), len(known)) if uuid else len(known)
                if at < len(known):  # written twice: the host identifies a record by its id, and the later one wins
                    unsent["written twice"] += _size([known[at]])
                    known[at] = one
                else:
                    known.append(one)
                usage = field(record, "message", "usage")
                if figures and isinstance(usage, dict):
                    self.usage[figures] = usage
            else:
                unsent[kind] += place.end_byte - place.start_byte
                if kind not in _OTHERS:
                    file.counts.unknown[kind] += 1
        if not self.known:  # the file is a child agent's own
            self.known, beside = beside, []
        if beside:
            unsent["sidechain"] += _size(beside)

    def on_the_way(self) -> list[_Known]:
        """Return the records on the path that leads to the newest one; all records if the path has a gap."""
        said = [one for one in self.known if one.kind in {"user", "assistant"}]
        at = next((one.uuid for one in reversed(self.known) if one.uuid), "")
        way: set[str] = set()
        while at and at not in way:
            if at not in self._parents:
                self._faults["chain_gap"] += 1
                return self.known
            way.add(at)
            at = self._parents[at]
        # A file from before records had ids is read as it is.
        answers = {one.answer for one in said if one.uuid in way} - {""}
        calls = {one.uuid for one in said if one.uuid in way or one.answer in answers}
        return [
            one
            for one in self.known
            if not one.uuid or one.uuid in way or one.uuid in calls or (one.is_result and one.parent in calls)
        ]


def happenings(file: SessionFile) -> Iterator[Happening]:
    """Yield what happened in a session."""
    index = _Index(file)
    way = index.on_the_way()
    places = {one.uuid: one.place for one in way}
    unsent = file.counts.unsent_bytes
    unsent["taken back"] += _size(index.known) - _size(way)
    has_shapes = any(one.kind == _SHAPE for one in way)
    kept: dict[str, list[Place]] = {}
    for one in way:
        record = file.record(one.place)
        size, at = one.place.end_byte - one.place.start_byte, string(record.get("timestamp"))
        if one.kind == _SHAPE:
            unsent[_SHAPE] += size
            yield _instructed(field(record, "shape", "system"), field(record, "shape", "tools"))
        elif one.kind == "system":
            unsent["system"] += size
            if "Compaction failed" in string(record.get("content")):  # a request of the host's own, also refused
                yield Refused(string(record.get("content")), one.place, at)
            if record.get("subtype") == "compact_boundary":
                details = record.get("compactMetadata")
                if not isinstance(details, dict):
                    file.counts.faults["boundary_without_metadata"] += 1
                yield Compacted(
                    whole_number(field(details, "preTokens")), field(details, "trigger") == "manual", one.place, at
                )
                preserved = field(details, "preservedMessages")
                uuids = field(preserved, "uuids")
                named = (string(uuid) for uuid in (uuids if isinstance(uuids, list) else []))
                # A record named twice is not sent twice.
                kept[string(field(preserved, "anchorUuid"))] = [
                    places[uuid] for uuid in dict.fromkeys(named) if uuid in places
                ]
        elif one.kind == "attachment":
            yield from _attached(record, one.place, unsent, has_shapes=has_shapes)
        elif record.get("isApiErrorMessage"):
            yield Refused(_refusal(record), one.place, at)
        else:
            # What our append repeats was requested once.
            if one.figures in index.usage and not record.get(AGAIN):
                yield from _answered(index.usage.pop(one.figures), record)
            unsent["copies of results"] += _copy_bytes(record)
            yield _said(record, one.place)
        for place in file.told_again(kept.pop(one.uuid, ())):
            again = file.record(place)
            if type_of(again) in {"user", "assistant"}:
                yield _said(again, place)._replace(again=True)


def _figures(known: list[_Known], place: Place) -> str:
    """Return the key of the figures of an answer without an id: its blocks are consecutive."""
    before = known[-1] if known else None
    if before is not None and before.kind == "assistant" and not before.answer:
        return before.figures
    return f"@{place.start_byte}"


def _size(records: list[_Known]) -> int:
    return sum(one.place.end_byte - one.place.start_byte for one in records)


def _said(record: Record, place: Place) -> Said:
    content = field(record, "message", "content")
    message = {"role": type_of(record), "content": content if isinstance(content, str | list) else ""}
    return Said(
        message,
        place,
        string(record.get("timestamp")),
        by_host=_is_of_the_host(record),
        again=bool(record.get(AGAIN)),
        is_summary=bool(record.get("isCompactSummary")),
        part_of=_answer(record),
    )


def _answered(usage: Record, record: Record) -> Iterator[Answered]:
    model = string(field(record, "message", "model"))
    if model == "<synthetic>":  # the host's own words in place of an answer
        return
    fresh, read, written = (
        whole_number(usage.get(key)) or 0
        for key in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    yield Answered(
        fresh + read + written,
        whole_number(usage.get("output_tokens")),
        read,
        written,
        model=model,
        at=string(record.get("timestamp")),
        hour_write_tokens=whole_number(field(usage, "cache_creation", "ephemeral_1h_input_tokens")),
    )


def _attached(record: Record, place: Place, unsent: Any, *, has_shapes: bool) -> Iterator[Happening]:
    """Yield what an attachment adds to the request: its rendered messages, or instructions."""
    attachment = record.get("attachment")
    size = place.end_byte - place.start_byte
    if type_of(attachment) == "prompt_snapshot":
        unsent["prompt_snapshot"] += size
        if not has_shapes:
            yield _instructed(field(attachment, "systemPrompt"), field(attachment, "tools"))
        return
    contents = [message["content"] for message in objects(record.get("rendered")) if message.get("content")]
    if not contents:
        unsent[f"attachment {type_of(attachment)}"] += size
    for content in contents:
        if isinstance(content, str | list):
            at, again = string(record.get("timestamp")), bool(record.get(AGAIN))
            yield Said({"role": "user", "content": content}, place, at, by_host=True, again=again)


def _instructed(system: Any, tools: Any) -> Instructed:
    blocks = system if isinstance(system, list) else [system]
    words = [block if isinstance(block, str) else string(field(block, "text")) for block in blocks]
    return Instructed("\n".join(words), tuple(objects(tools)) if isinstance(tools, list) else None)


def _copy_bytes(record: Record) -> int:
    """Return the size of a record's copy of its result, which is for the host's screen."""
    copy = record.get("toolUseResult")
    return len(as_json(copy)) if copy is not None else 0


def _answer(record: Record) -> str:
    """Return the id of the model's answer that a record is a part of."""
    return string(field(record, "message", "id")) if type_of(record) == "assistant" else ""


def _is_result(record: Record) -> bool:
    return any(block.get("type") == "tool_result" for block in objects(field(record, "message", "content")))


def _words(record: Record) -> str:
    """Return the first words of a message."""
    content = field(record, "message", "content")
    if isinstance(content, list):
        return next((string(block.get("text")) for block in objects(content)), "")
    return string(content)


def _refusal(record: Record) -> str:
    """Return what was said in place of an answer: the provider's words, which hold its numbers, otherwise the host's."""
    details = string(record.get("errorDetails"))
    return _words(record) if not details else f"{_words(record)}: {details}"


def _is_of_the_host(record: Record) -> bool:
    """Return whether a record is not anybody's own words: a note, a summary, a command to the host."""
    if any(record.get(mark) for mark in ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")):
        return True
    if type_of(record) == "assistant":
        return bool(field(record, "message", "model") == "<synthetic>")
    content = field(record, "message", "content")
    texts = (
        [string(block.get("text")) for block in objects(content)] if isinstance(content, list) else [string(content)]
    )
    said = [text for text in texts if text.strip()]
    # The host puts its own words before a person's, as blocks of one message.
    return bool(said) and not _is_result(record) and all(text.lstrip().startswith(_OF_THE_HOST) for text in said)
