"""How are calls in Anthropic's answers hidden from the client? Their blocks are left out and the others renumbered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import blocks, field, objects, role_of, string, type_of, whole_number
from penstock.wires.anthropic.codec import is_signed
from penstock.wires.hidden_calls import CallHider, PutBack, usage_of
from penstock.wires.stream import index_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.hidden_calls import HiddenStep


def is_possible(body: dict[str, Json]) -> bool:
    """Whether a request offers tools, leaves its model free to call any of them, and holds all of its history."""
    choice = type_of(body.get("tool_choice")) or "auto"
    is_formatted = body.get("output_format") or field(body, "output_config", "format")
    # The tools of a thread that the provider keeps stay as they were when it began, and it goes on from the id of its last answer.
    is_whole = not body.get("thread")
    return bool(objects(body.get("tools"))) and choice == "auto" and not is_formatted and is_whole


class MessageHider(CallHider):
    """Joins the messages of one turn into one: consecutive blocks, one beginning, one end."""

    def __init__(self, names: frozenset[str]) -> None:
        self._shown: list[Json] = []
        self._blocks = 0
        super().__init__(names)

    def _begin(self) -> None:
        super()._begin()
        self._places: dict[int, int | None] = {}

    def event(self, event: dict[str, Json]) -> list[Json] | None:
        """Return the events that replace this one."""
        match type_of(event):
            case "message_start":
                return None if not self._answers else []
            case "content_block_start":
                return self._block(event)
            case "content_block_delta" | "content_block_stop":
                index = index_of(event.get("index"))
                place = self._places.get(index, index)
                return [] if place is None else self._at(event, place)
            case "message_delta":
                self._answer_tokens = whole_number(field(event, "usage", "output_tokens")) or 0
                if self.hides_all():
                    return []
                return [self._counted(event)] if self._output_tokens else None
            case "message_stop":
                return [] if self.hides_all() else None
        return None

    def _block(self, event: dict[str, Json]) -> list[Json] | None:
        block, index = event.get("content_block"), index_of(event.get("index"))
        if self._note(block):
            self._places[index] = None
            return []
        self._places[index] = self._blocks
        self._blocks += 1
        return self._at(event, self._blocks - 1)

    def _note(self, block: Json) -> bool:
        """Note a block; return whether it is a hidden call."""
        return type_of(block) == "tool_use" and self._note_call(field(block, "name"))

    def _at(self, event: dict[str, Json], place: int) -> list[Json] | None:
        return None if event.get("index") == place else [{**event, "index": place}]

    def _counted(self, holder: dict[str, Json]) -> dict[str, Json]:
        """Return an object whose usage counts the output of all messages; its input stays that of the last."""
        usage = usage_of(holder)
        usage["output_tokens"] = (whole_number(usage.get("output_tokens")) or 0) + self._output_tokens
        return {**holder, "usage": usage}

    def body(self, body: dict[str, Json]) -> dict[str, Json]:
        """Return one message for all of the turn's, given the last."""
        self._shown += [block for block in objects(body.get("content")) if not self._note(block)]
        self._answer_tokens = whole_number(field(body, "usage", "output_tokens")) or 0
        made = {**body, "content": list(self._shown)}
        return self._counted(made) if self._output_tokens else made


hider = MessageHider
"""Returns the hider that joins the messages of a turn."""


def calls_in(body: Json, names: frozenset[str]) -> tuple[tuple[tuple[int, Json], ...], int, bool]:
    """Return the hidden calls of a message, how many blocks it shows, and whether it holds other calls."""
    content = objects(field(body, "content"))
    calls = [(place, block) for place, block in enumerate(content) if type_of(block) == "tool_use"]
    hidden = tuple((place, block) for place, block in calls if string(field(block, "name")) in names)
    return hidden, len(content) - len(hidden), len(calls) > len(hidden)


def put_back(behind: Sequence[Json], steps: Sequence[HiddenStep]) -> PutBack | None:
    """Return the messages that a client's message was joined from, with calls and results in their places."""
    message, newest = behind[0], steps[-1]
    if role_of(message) != "assistant":
        return None
    content = blocks(message.get("content"))
    counts = [step.shown for step in steps if not step.is_last]
    if sum(counts) > len(content) or (newest.is_last and sum(counts) + newest.shown != len(content)):
        # The client keeps other blocks than it received. Without signed thinking, which must keep its place, all may be the last's.
        if any(map(is_signed, content)):
            return None
        counts = [0] * len(counts)
    made: list[tuple[Json, int | None]] = []
    for step, count in zip(steps, counts, strict=False):
        made.append(({"role": "assistant", "content": with_calls(content[:count], step)}, None))
        made += [(result, None) for result in step.results]
        content = content[count:]
    if not newest.is_last:
        made.append((message if not sum(counts) else {**message, "content": content}, 0))
        return PutBack(messages=tuple(made), taken=1) if content else None
    if len(behind) < 2 or role_of(behind[1]) != "user":
        return None
    made.append(({**message, "content": with_calls(content, newest)}, 0))
    # All results of a message are in the message after it.
    results = [block for result in newest.results for block in objects(field(result, "content"))]
    made.append(({**behind[1], "content": [*results, *blocks(behind[1].get("content"))]}, 1))
    return PutBack(messages=tuple(made), taken=2)


def with_calls(content: list[Json], step: HiddenStep) -> list[Json]:
    """Return what a client received of an answer, with the hidden calls in their places."""
    made = list(content)
    for place, call in step.calls:
        made.insert(place, call)
    return made
