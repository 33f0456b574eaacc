"""How are calls in OpenAI's responses hidden from the client? Their items are left out and the events renumbered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects, type_of, whole_number
from penstock.wires.entries import ToolCall
from penstock.wires.hidden_calls import CallHider, PutBack, usage_of
from penstock.wires.openai_responses.codec import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.hidden_calls import HiddenStep

_BEGINNINGS = frozenset({"response.created", "response.queued", "response.in_progress"})
_ENDS = frozenset({"response.completed", "response.incomplete"})


def is_possible(body: dict[str, Json]) -> bool:
    """Whether a request offers tools, leaves its model free to call any of them, and holds all of its history."""
    is_free = body.get("tool_choice") in (None, "auto") and type_of(field(body, "text", "format")) in {"", "text"}
    is_whole = not (body.get("previous_response_id") or body.get("conversation") or body.get("background"))
    # A stream begins with the id of its first response. Clients continue from responses kept by the provider by id, and that has
    # to be the id of the last one.
    is_unkept = body.get("store") is False or not body.get("stream")
    return bool(objects(body.get("tools"))) and is_free and is_whole and is_unkept


class ResponseHider(CallHider):
    """Joins the responses of one turn into one."""

    def __init__(self, names: frozenset[str]) -> None:
        self._items: list[Json] = []
        self._id: Json = None
        self._places = 0
        self._sequence = 0
        super().__init__(names)

    def _begin(self) -> None:
        super()._begin()
        self._at: dict[int, int | None] = {}

    def event(self, event: dict[str, Json]) -> list[Json] | None:
        """Return the events that replace this one."""
        made = self._shown(event)
        if made is None:
            return []
        if "sequence_number" in made:
            if made["sequence_number"] != self._sequence:
                made = {**made, "sequence_number": self._sequence}
            self._sequence += 1
        return None if made is event else [made]

    def _shown(self, event: dict[str, Json]) -> dict[str, Json] | None:
        kind = type_of(event)
        if kind in _BEGINNINGS:
            self._id = self._id or field(event, "response", "id")
            return None if self._answers else event
        if kind in _ENDS:
            response = field(event, "response")
            self._answer_tokens = whole_number(field(response, "usage", "output_tokens")) or 0
            if self.hides_all():
                return None
            if not self._answers and not self._hidden:
                return event
            # Clients expect a stream to keep the id with which it began.
            return {**event, "response": {**self._together(response), "id": self._id or field(response, "id")}}
        index = event.get("output_index")
        if not isinstance(index, int):
            return event
        if index not in self._at:
            is_hidden = self._note(event.get("item"))
            self._at[index] = None if is_hidden else self._places
            self._places += not is_hidden
        place = self._at[index]
        if place is not None and kind == "response.output_item.done":
            self._items.append(event.get("item"))
        return None if place is None else event if place == index else {**event, "output_index": place}

    def _note(self, item: Json) -> bool:
        """Note an item; return whether it is a hidden call."""
        call = _call(item)
        return call is not None and self._note_call(call.name)

    def _together(self, response: Json) -> dict[str, Json]:
        """Return one response for all of the turn's, given the last."""
        made = {**response, "output": list(self._items)}
        if self._output_tokens:
            usage = usage_of(made)
            usage["output_tokens"] = (whole_number(usage.get("output_tokens")) or 0) + self._output_tokens
            usage["total_tokens"] = (whole_number(usage.get("input_tokens")) or 0) + usage["output_tokens"]
            made["usage"] = usage
        return made

    def body(self, body: dict[str, Json]) -> dict[str, Json]:
        """Return one response for all of the turn's, given the last."""
        self._items += [item for item in objects(body.get("output")) if not self._note(item)]
        self._answer_tokens = whole_number(field(body, "usage", "output_tokens")) or 0
        return self._together(body)


hider = ResponseHider
"""Returns the hider that joins the responses of a turn."""


def calls_in(body: Json, names: frozenset[str]) -> tuple[tuple[tuple[int, Json], ...], int, bool]:
    """Return the hidden calls of a response, how many items it shows, and whether it holds other calls."""
    items = objects(field(body, "output"))
    calls = [(place, item, call.name) for place, item in enumerate(items) if (call := _call(item)) is not None]
    hidden = tuple((place, item) for place, item, name in calls if name in names)
    return hidden, len(items) - len(hidden), len(calls) > len(hidden)


def put_back(behind: Sequence[Json], steps: Sequence[HiddenStep]) -> PutBack | None:
    """Return the items that a client received in a turn, with calls and results in their places."""
    newest = steps[-1]
    items = []
    for item in behind:
        if read(item)[0] != "assistant":
            break
        items.append(item)
    counts = [step.shown for step in steps]
    if sum(counts) > len(items) or not items or (newest.is_last and sum(counts) != len(items)):
        # The client keeps other items than it received. Reasoning precedes what it led to: then nothing can be restored.
        if not items or any(type_of(item) == "reasoning" for item in items):
            return None
        counts = [0] * len(counts)
    made: list[tuple[Json, int | None]] = []
    at = 0
    for step, count in zip(steps, counts, strict=True):
        shown: list[tuple[Json, int | None]] = [(items[place], place) for place in range(at, at + count)]
        for place, call in step.calls:
            shown.insert(place, (call, None))
        made += [*shown, *[(result, None) for result in step.results]]
        at += count
    made += [(items[place], place) for place in range(at, len(items))]
    return PutBack(messages=tuple(made), taken=len(items))


def _call(item: Json) -> ToolCall | None:
    """Return the call that an item is, if the caller of the API has to run it; None for any other."""
    return next((part for part in read(item)[1] if isinstance(part, ToolCall)), None)
