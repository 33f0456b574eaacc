"""How is a session of Codex read: `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl` (0.171.0)?

Its `response_item` records are the items of the provider's API; the others are copies of them, settings and figures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.hosts.sessions.head import Head
from penstock.inspection.timeline import Answered, Compacted, Instructed, Refused, Said
from penstock.text.json_access import field, objects, role_of, string, type_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Happening, Place

WIRE = "openai-responses"
_OTHERS = frozenset({"event_msg", "turn_context", "world_state", "inter_agent_communication"})
# The items that the host sends, by type in its own schema: it drops any other when it resumes.
_ITEMS = frozenset(
    {
        "additional_tools",
        "agent_message",
        "compaction",
        "compaction_summary",
        "compaction_trigger",
        "configuration_update",
        "context_compaction",
        "custom_tool_call",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
        "image_generation_call",
        "local_shell_call",
        "message",
        "reasoning",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    }
)
_UNSENT_ITEMS = frozenset({"ghost_snapshot"})  # of older versions
# What the host writes in a person's name.
_OF_THE_HOST = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<hook_prompt",
    "<skill>",
    "<subagent_notification>",
    "<user_shell_command>",
)
_SUMMARY = "Another language model started to solve this problem"


def head(file: SessionFile, _path: str) -> Head:
    """Return a session's metadata from its first record."""
    for _, record in file.records():
        own = record.get("payload")
        if record.get("type") == "session_meta":
            return Head(*(string(field(own, key)) for key in ("id", "cwd", "cli_version", "timestamp")))
    return Head()


def happenings(file: SessionFile) -> Iterator[Happening]:
    """Yield what happened in a session."""
    told = _Told()
    for place, record in file.records():
        kind, own, at = type_of(record), record.get("payload"), string(record.get("timestamp"))
        if kind == "response_item" and isinstance(own, dict) and type_of(own) in _ITEMS:
            yield from told.item(own, place, at)
            continue
        if kind == "compacted":
            yield from told.rest()
            yield Compacted(told.held, None, place, at)
            for item in objects(field(own, "replacement_history")):
                if type_of(item) in _ITEMS:
                    yield _said(item, place, at)._replace(again=True)
            continue
        if kind == "response_item":
            kind = f"{kind} {type_of(own)}"
        file.counts.unsent_bytes[kind] += place.end_byte - place.start_byte
        if kind == "session_meta":
            yield Instructed(string(field(own, "base_instructions", "text")) or None)
        elif kind == "token_usage_record":
            yield from told.usage(field(own, "usage"), at, has_records=True)
        elif kind == "turn_context":
            told.model = string(field(own, "model")) or told.model
        elif kind == "event_msg":
            yield from told.event(own, place, at)
        elif kind not in _OTHERS and type_of(own) not in _UNSENT_ITEMS:
            file.counts.unknown[kind] += 1
    yield from told.rest()


class _Told:
    """What was yielded so far. An answer's figures are recorded after its words, which wait for them."""

    def __init__(self) -> None:
        self.model = ""
        self.held: int | None = None
        self._window: int | None = None
        self._waiting: list[Said] = []
        self._no_answers: Answered | None = None
        self._has_records = False
        self._all_used: object = None

    def rest(self) -> Iterator[Happening]:
        """Yield what is waiting: words for their figures, or a figure for the words of a refusal."""
        yield from self._waiting
        self._waiting.clear()
        if self._no_answers is not None:
            yield self._no_answers
            self._no_answers = None

    def item(self, item: Record, place: Place, at: str) -> Iterator[Happening]:
        """Yield an item, unless it is part of an answer, which waits."""
        said = _said(item, place, at)
        if role_of(item) == "assistant" or type_of(item) == "reasoning" or type_of(item).endswith("_call"):
            self._waiting.append(said)
            return
        yield from self.rest()
        yield said

    def usage(self, used: Any, at: str, *, has_records: bool) -> Iterator[Happening]:
        """Yield the figures of an answer, and then its words."""
        self._has_records = has_records
        given, made, cached, cache_write = (
            whole_number(field(used, key))
            for key in ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
        )
        if given is None:
            return
        answered = Answered(given, made, cached, cache_write, self._window, self.model, at)
        # For a request that did not fit, the host records the window, or 0, instead of a figure, before it reports the refusal.
        if not made and given in {0, self._window} and not self._waiting:
            yield from self.rest()
            self._no_answers = answered
            return
        self.held = given
        waiting, self._waiting = self._waiting, []
        yield from self.rest()
        yield answered
        yield from waiting

    def event(self, event: Any, place: Place, at: str) -> Iterator[Happening]:
        """Yield what only an event reports."""
        kind = type_of(event)
        if kind == "task_started":
            self._window = whole_number(field(event, "model_context_window")) or self._window
        elif kind == "error" or (kind == "task_complete" and field(event, "error") is not None):
            error = event if kind == "error" else field(event, "error")
            words = [string(field(error, key)) for key in ("message", "codex_error_info")]
            figure, self._no_answers = self._no_answers, None
            yield from self.rest()
            yield Refused(" ".join(word for word in words if word), place, at)
            if figure is not None:
                yield figure
        elif kind == "token_count" and not self._has_records:  # versions that record each answer's figures only here
            info = field(event, "info")
            self._window = whole_number(field(info, "model_context_window")) or self._window
            if info is not None and field(info, "total_token_usage") != self._all_used:
                self._all_used = field(info, "total_token_usage")
                yield from self.usage(field(info, "last_token_usage"), at, has_records=False)


def _said(item: Record, place: Place, at: str) -> Said:
    words = next((string(block.get("text")) for block in objects(item.get("content"))), "").lstrip()
    is_message, role = item.get("type") == "message", role_of(item)
    is_summary = is_message and role == "user" and words.startswith(_SUMMARY)
    by_host = is_summary or (
        is_message and (role in {"developer", "system"} or (role == "user" and words.startswith(_OF_THE_HOST)))
    )
    return Said(item, place, at, by_host=by_host, is_summary=is_summary)
