"""How is a session of Copilot CLI read: `~/.copilot/session-state/ID/events.jsonl` (1.0.102)?

Events are in the order in which they happened; what a person takes back is removed from the file. A child agent's events are among
them, under its id. Results are recorded as they were ready, and are sent in the order of their calls, right after them. A
compaction leaves one message: everything the person had said, and the summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.hosts.sessions.head import Head
from penstock.inspection.timeline import Answered, Compacted, Instructed, Place, Refused, Said
from penstock.text.json_access import as_json, field, objects, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Happening
    from penstock.text.json_access import Json

WIRE = "openai-chat"
ASSET = "session.binary_asset"
"""The event with the content that an attachment names."""
# Events of 1.0.102 that are recorded but are not part of a conversation, by the first word of their names (its own schema).
_OTHERS = {
    "abort": {""},
    "assistant": {"fusion_phase_completed", "fusion_phase_failed", "reasoning", "turn_end", "turn_start"},
    "external_tool": {"requested"},
    "hook": {"end", "start"},
    "human_response": {"recorded"},
    "mcp": {"oauth_recovery_completed"},
    "model": {"model_call_failure", "model_call_started", "turn_ended", "turn_failed", "turn_started"},
    "permission": {
        "assentDetected",
        "carriedForward",
        "completed",
        "contextualAuthorization",
        "messageAuthorization",
        "messageAuthorizationDegraded",
        "messageAuthorizationRead",
        "requested",
    },
    "session": {
        "auto_mode_resolved",
        "autopilot_objective_changed",
        "canvas.recorded",
        "canvas.removed",
        "compaction_start",
        "completion_receipt",
        "context_changed",
        "fusion_change_checkpoint",
        "fusion_commit_started",
        "fusion_completed",
        "fusion_handoff",
        "fusion_resolved",
        "fusion_route_failed",
        "handoff",
        "info",
        "mode_changed",
        "mode_notice_delivered",
        "model_change",
        "model_deselected",
        "permission_recovery",
        "permissions_changed",
        "plan_changed",
        "remote_steerable_changed",
        "request_body_compression_disabled",
        "resume",
        "schedule_cancelled",
        "schedule_created",
        "schedule_rearmed",
        "session_limits_changed",
        "shutdown",
        "start",
        "task_complete",
        "truncation",
        "usage_checkpoint",
        "warning",
        "workspace_file_changed",
    },
    "skill": {"context_delivered_ref", "invoked", "invoked_ref"},
    "subagent": {"completed", "configured", "deselected", "failed", "selected", "started"},
    "tool": {"execution_start", "user_requested"},
    "tool_search": {"activated"},
}
# Only a result's `content` is sent; the rest is for the host's screen.
_SHOWN = ("detailedContent", "contents", "structuredContent")
_SUMMARIZED = (
    "Some of the conversation history has been summarized to free up context.\n\nYou were originally given instructions from a "
    "user over one or more turns. Here were the user messages:\n{said}\n\nHere is a summary of the prior context:\n<summary>\n"
    "{summary}\n</summary>\n"
)


def head(file: SessionFile, _path: str) -> Head:
    """Return a session's metadata from its first event."""
    for _, record in file.records():
        own = record.get("data")
        if type_of(record) == "session.start":
            folder = string(field(own, "context", "cwd"))
            version = string(field(own, "copilotVersion"))
            return Head(string(field(own, "sessionId")), folder, version, string(field(own, "startTime")))
    return Head()


def happenings(file: SessionFile) -> Iterator[Happening]:
    """Yield what happened in a session."""
    told = _Told(file)
    for place, record in file.records():
        kind, own, size = type_of(record), record.get("data"), place.end_byte - place.start_byte
        if record.get("agentId") or field(own, "parentToolCallId") or field(own, "usage", "parentToolCallId"):
            file.counts.unsent_bytes["child agents"] += size
        elif kind in _EVENTS:
            yield from _EVENTS[kind](told, own, place, string(record.get("timestamp")))
        else:
            file.counts.unsent_bytes[kind] += size
            family, _, name = kind.partition(".")
            if name not in _OTHERS.get(family, ()):
                file.counts.unknown[kind] += 1
    yield from told.rest()


class _Told:
    """What was yielded so far. What follows calls waits until all of them are answered, or the model speaks again."""

    def __init__(self, file: SessionFile) -> None:
        self._file = file
        self._unsent = file.counts.unsent_bytes
        self._answer: Said | None = None
        self._answer_id = ""
        self._results: dict[str, Said | None] = {}
        """The calls of the newest answer, and their results."""
        self._waiting: list[Said] = []
        self._asked: list[str] = []
        self._assets: dict[str, Place] = {}

    def rest(self) -> Iterator[Said]:
        """Yield what is waiting: an answer, its results in the order of the calls, and what was said meanwhile."""
        waiting = [self._answer, *self._results.values(), *self._waiting]
        self._answer, self._results, self._waiting = None, {}, []
        yield from (one for one in waiting if one is not None)

    def instructed(self, own: Json, place: Place, _at: str) -> Iterator[Happening]:
        """Yield the instructions; a developer's additions to them are not sent again."""
        self._unsent["system.message"] += place.end_byte - place.start_byte
        if field(own, "role") == "system":
            yield Instructed(string(field(own, "content")))

    def asked(self, own: Json, place: Place, at: str) -> Iterator[Happening]:
        """Yield what a person said, in the host's wrapping, with its images."""
        typed = string(field(own, "content"))
        # The host wraps the typed words: the wrapped text was sent and is counted; the typed words are what a person would look
        # for, and what a compaction quotes.
        words = string(field(own, "transformedContent")) or typed
        by_host = bool(field(own, "source") or field(own, "isAutopilotContinuation"))
        if not by_host:
            self._asked.append(typed)
        images = [block for one in objects(field(own, "attachments")) for block in self._image(one)]
        content = [{"type": "text", "text": words}, *images] if images else words
        said = Said({"role": "user", "content": content}, place, at, by_host=by_host)
        yield from self._later(said if words == typed else said._replace(typed=typed))

    def noticed(self, own: Json, place: Place, at: str) -> Iterator[Happening]:
        """Yield a message of the host to its model."""
        message = {"role": "user", "content": string(field(own, "content"))}
        yield from self._later(Said(message, place, at, by_host=True))

    def answered(self, own: Json, place: Place, at: str) -> Iterator[Happening]:
        """Record an answer; one that is written in several events is one answer."""
        calls = [_call(one) for one in objects(field(own, "toolRequests"))]
        words, answer = string(field(own, "content")), string(field(own, "apiCallId"))
        # Words and calls of one answer may come in several events. Unless joined, the second event's calls would follow the first
        # one's results, an order that no provider accepts.
        if self._answer is not None and field(own, "chunkIndex") and answer == self._answer_id:
            begun = self._answer.message
            words, calls = begun["content"] + words, [*begun.get("tool_calls", ()), *calls]
            place = self._answer.place
        else:
            yield from self.rest()
        message: Record = {"role": "assistant", "content": words}
        self._answer = Said({**message, "tool_calls": calls} if calls else message, place, at)
        self._answer_id = answer
        self._results = {call["id"]: None for call in calls}

    def returned(self, own: Json, place: Place, at: str) -> Iterator[Happening]:
        """Record the result of a call that the model made."""
        call, result = string(field(own, "toolCallId")), field(own, "result")
        self._unsent["copies of results"] += sum(len(as_json(result[key])) for key in _SHOWN if field(result, key))
        # Results come in the order in which tools finish, and a provider wants them in the order of the calls: each goes to its
        # reserved place, and all are yielded together. A result of an unknown call, or a second one, is counted and not yielded.
        if call in self._results and self._results[call] is None:
            words = string(field(result, "content")) or string(field(own, "error", "message"))
            self._results[call] = Said({"role": "tool", "tool_call_id": call, "content": words}, place, at)
        if None not in self._results.values():
            yield from self.rest()

    def used(self, own: Json, place: Place, at: str) -> Iterator[Happening]:
        """Yield the figures of an answer; they precede it."""
        usage = field(own, "usage")
        keys = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "maxPromptTokens")
        given, made, read, written, window = (whole_number(field(usage, key)) for key in keys)
        self._unsent["session.usage_record"] += place.end_byte - place.start_byte
        yield from self.rest()
        yield Answered(given, made, read, written, window, string(field(usage, "model")), at)

    def failed(self, own: Json, place: Place, at: str) -> Iterator[Happening]:
        """Yield what a provider said in place of an answer."""
        self._unsent["session.error"] += place.end_byte - place.start_byte
        yield from self.rest()
        yield Refused(string(field(own, "message")), place, at)

    def compacted(self, own: Json, place: Place, at: str) -> Iterator[Happening]:
        """Yield a successful compaction, and the message that it left; for a failed one, the provider's words."""
        yield from self.rest()
        if field(own, "success") is not True:
            self._unsent["session.compaction_complete"] += place.end_byte - place.start_byte
            if field(own, "outcome") != "cancelled":
                yield Refused(f"Compaction failed: {string(field(own, 'error'))}", place, at)
            return
        trigger = string(field(own, "trigger"))
        yield Compacted(
            whole_number(field(own, "preCompactionTokens")), trigger == "manual" if trigger else None, place, at
        )
        said = "\n".join(f"<user_message>\n{words}\n</user_message>" for words in self._asked)
        words = _SUMMARIZED.format(said=said, summary=string(field(own, "summaryContent")))
        yield Said({"role": "user", "content": words}, place, at, by_host=True, is_summary=True)

    def cleared(self, _own: Json, place: Place, at: str) -> Iterator[Happening]:
        """Yield that a person cleared the context."""
        yield from self.rest()
        self._asked.clear()
        yield Compacted(None, True, place, at)

    def kept(self, own: Json, place: Place, _at: str) -> Iterator[Happening]:
        """Note where the content that an attachment names is kept."""
        self._unsent[ASSET] += place.end_byte - place.start_byte
        self._assets[string(field(own, "assetId"))] = place
        yield from ()

    def _later(self, said: Said) -> Iterator[Said]:
        if self._answer is not None and None in self._results.values():
            self._waiting.append(said)
            return
        yield from self.rest()
        yield said

    def _image(self, attachment: Record) -> Iterator[Record]:
        """Yield an image that is sent with a message: its name and the image."""
        kind, data = string(attachment.get("mimeType")), string(attachment.get("data"))
        asset = string(attachment.get("assetId"))
        if not data and asset in self._assets:
            data = string(field(self._file.record(self._assets[asset]), "data", "data"))
        if kind.startswith("image/") and data:
            if name := string(attachment.get("displayName")):
                yield {"type": "text", "text": name}
            yield {"type": "image_url", "image_url": {"url": f"data:{kind};base64,{data}"}}


_EVENTS: dict[str, Any] = {
    "system.message": _Told.instructed,
    "user.message": _Told.asked,
    "system.notification": _Told.noticed,
    "skill.context_delivered": _Told.noticed,
    "assistant.message": _Told.answered,
    "tool.execution_complete": _Told.returned,
    "session.usage_record": _Told.used,
    "session.error": _Told.failed,
    "session.compaction_complete": _Told.compacted,
    "session.context_cleared": _Told.cleared,
    ASSET: _Told.kept,
}


def _call(request: Record) -> Record:
    """Return a call in the form of the provider's API."""
    name, call, arguments = string(request.get("name")), string(request.get("toolCallId")), request.get("arguments")
    if request.get("type") == "custom":
        return {"id": call, "type": "custom", "custom": {"name": name, "input": string(arguments)}}
    written = arguments if isinstance(arguments, str) else as_json({} if arguments is None else arguments)
    return {"id": call, "type": "function", "function": {"name": name, "arguments": written}}
