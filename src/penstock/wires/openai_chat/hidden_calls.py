"""How are calls in OpenAI's chat completions hidden from the client? They are left out and the others renumbered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects, role_of, string, type_of, whole_number
from penstock.wires.hidden_calls import CallHider, PutBack, usage_of
from penstock.wires.stream import index_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.hidden_calls import HiddenStep


def is_possible(body: dict[str, Json]) -> bool:
    """Whether a request offers tools and leaves its model free to call any of them and to say what it likes."""
    is_free = body.get("tool_choice") in (None, "auto") and type_of(body.get("response_format")) in {"", "text"}
    return bool(objects(body.get("tools"))) and is_free and body.get("n") in (None, 1)


class CompletionHider(CallHider):
    """Joins the completions of one turn into one."""

    def __init__(self, names: frozenset[str]) -> None:
        self._id: Json = None
        self._text = ""
        self._calls = 0
        super().__init__(names)

    def _begin(self) -> None:
        super()._begin()
        self._places: dict[int, int | None] = {}
        self._ids: dict[int, str] = {}

    def event(self, event: dict[str, Json]) -> list[Json] | None:
        """Return the chunks that replace this one."""
        if self._id is None:
            self._id = event.get("id")
        choices = objects(event.get("choices"))
        made = event
        if (tokens := whole_number(field(event, "usage", "completion_tokens"))) is not None:
            self._answer_tokens = tokens
            made = self._counted(made) if self._output_tokens else made
        if choices:
            choice = self._choice(choices[0])
            if choice is None or (choice.get("finish_reason") and self.hides_all()):
                return []
            made = made if choice is choices[0] else {**made, "choices": [choice, *choices[1:]]}
        elif self.hides_all():
            return []
        if self._answers and made.get("id") != self._id:
            made = {**made, "id": self._id}
        return None if made is event else [made]

    def _choice(self, choice: dict[str, Json]) -> dict[str, Json] | None:
        """Return what a client sees of a choice; None if nothing is left of it."""
        delta = field(choice, "delta")
        if not isinstance(delta, dict):
            return choice
        made = delta
        if self._answers and "role" in made:
            made = {name: value for name, value in made.items() if name != "role"}
        calls = objects(delta.get("tool_calls"))
        kept = [shown for call in calls if (shown := self._call(call)) is not None]
        if kept != calls:
            made = {name: value for name, value in made.items() if name != "tool_calls"}
            made |= {"tool_calls": kept} if kept else {}
        if made is delta:
            return choice
        is_empty = not any(value for name, value in made.items() if name != "role")
        return None if is_empty and not choice.get("finish_reason") else {**choice, "delta": made}

    def _call(self, call: dict[str, Json]) -> dict[str, Json] | None:
        index, name, call_id = index_of(call.get("index")), _name(call), string(call.get("id"))
        # With its name a call begins: another one for servers that number every call 0, the same for those that repeat id and name.
        if name and not (call_id and call_id == self._ids.get(index)):
            self._ids[index] = call_id
            is_hidden = self._note_call(name)
            self._places[index] = None if is_hidden else self._calls
            self._calls += not is_hidden
        place = self._places.get(index, index)
        return None if place is None else call if place == index else {**call, "index": place}

    def _counted(self, holder: dict[str, Json]) -> dict[str, Json]:
        """Return an object whose usage counts the output of all completions; its input stays that of the last."""
        usage = usage_of(holder)
        made = (whole_number(usage.get("completion_tokens")) or 0) + self._output_tokens
        usage |= {"completion_tokens": made, "total_tokens": (whole_number(usage.get("prompt_tokens")) or 0) + made}
        return {**holder, "usage": usage}

    def body(self, body: dict[str, Json]) -> dict[str, Json]:
        """Return one completion for all of the turn's, given the last."""
        choices = objects(body.get("choices"))
        message = {**field(choices[0], "message")}
        calls = objects(message.get("tool_calls"))
        kept = [call for call in calls if not self._note_call(_name(call))]
        self._answer_tokens = whole_number(field(body, "usage", "completion_tokens")) or 0
        self._text += string(message.get("content"))
        if self._answers:
            message["content"] = self._text or message.get("content")
        if len(kept) < len(calls):
            message = {name: value for name, value in message.items() if name != "tool_calls"}
            message |= {"tool_calls": kept} if kept else {}
        made = {**body, "choices": [{**choices[0], "message": message}, *choices[1:]]}
        return self._counted(made) if self._output_tokens else made


hider = CompletionHider
"""Returns the hider that joins the completions of a turn."""


def calls_in(body: Json, names: frozenset[str]) -> tuple[tuple[tuple[int, Json], ...], int, bool]:
    """Return the hidden calls of a completion, how many characters it says, and whether it holds other calls."""
    choices = objects(field(body, "choices"))
    message = field(choices[0], "message") if choices else None
    calls = list(enumerate(objects(field(message, "tool_calls"))))
    hidden = tuple((place, call) for place, call in calls if _name(call) in names)
    return hidden, len(string(field(message, "content"))), len(calls) > len(hidden)


def _name(call: Json) -> str:
    """Return the name of the function or custom tool that is called; empty for a later piece of a call."""
    return string(field(call, "function", "name")) or string(field(call, "custom", "name"))


def put_back(behind: Sequence[Json], steps: Sequence[HiddenStep]) -> PutBack | None:
    """Return the messages that a client's message was joined from, with calls and results in their places."""
    message, newest = behind[0], steps[-1]
    if role_of(message) != "assistant":
        return None
    text = string(message.get("content"))
    counts = [step.shown for step in steps if not step.is_last]
    if sum(counts) > len(text):  # the client keeps other words than it received: all count as the last's
        counts = [0] * len(counts)
    made: list[tuple[Json, int | None]] = []
    for step, count in zip(steps, counts, strict=False):
        calls = [call for _, call in step.calls]
        made.append(({"role": "assistant", "content": text[:count] or None, "tool_calls": calls}, None))
        made += [(result, None) for result in step.results]
        text = text[count:]
    own = message if text == message.get("content") else {**message, "content": text or None}
    if not newest.is_last:
        made.append((own, 0))
        return PutBack(messages=tuple(made), taken=1) if text or message.get("tool_calls") else None
    calls = objects(message.get("tool_calls"))
    for place, call in newest.calls:
        calls.insert(place, call)
    made.append(({**own, "tool_calls": calls}, 0))
    made += [(result, None) for result in newest.results]
    return PutBack(messages=tuple(made), taken=1)
