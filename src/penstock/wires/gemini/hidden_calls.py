"""How are calls in Gemini's answers hidden from the client? Their parts are left out of chunks.

Clients join the words of chunks in different ways, so what they received of an answer is measured in characters; thoughts, which
they leave out, do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects, string, whole_number
from penstock.wires.gemini.codec import parts_of, role_in
from penstock.wires.gemini.keys import get, spelling
from penstock.wires.hidden_calls import CallHider, PutBack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.hidden_calls import HiddenStep


def is_possible(body: dict[str, Json]) -> bool:
    """Whether a request offers functions and leaves its model free to call any of them and to say what it likes."""
    calling = get(get(body, "toolConfig"), "functionCallingConfig")
    is_free = get(calling, "mode") in (None, "AUTO", "MODE_UNSPECIFIED")
    # Arguments that stream come in later parts, which name no function.
    is_followed = not get(calling, "streamFunctionCallArguments")
    config = get(body, "generationConfig")
    is_plain = get(config, "responseMimeType") in (None, "text/plain") and get(config, "candidateCount") in (None, 1)
    has_functions = any(get(tool, "functionDeclarations") for tool in objects(get(body, "tools")))
    # Tools of a cached prefix are in the cache; a request cannot add to them.
    return has_functions and is_free and is_followed and is_plain and get(body, "cachedContent") is None


class CandidateHider(CallHider):
    """Joins the answers of a turn with hidden calls into the one answer that the client gets."""

    def __init__(self, names: frozenset[str]) -> None:
        self._parts: list[Json] = []
        super().__init__(names)

    def event(self, event: dict[str, Json]) -> list[Json] | None:
        """Return the chunks that replace this one."""
        candidates = objects(event.get("candidates"))
        made = self._counted(event)
        if not candidates:
            return [] if self.hides_all() else self._or_itself(made, event)
        candidate, parts = candidates[0], parts_of(candidates[0].get("content"))
        kept = [part for part in parts if not self._note(part)]
        is_end = bool(get(candidate, "finishReason"))
        if self.hides_all() and (is_end or not kept):
            if not kept:
                return []
            # What is said next to the last call is passed on; that it is the end is not.
            candidate = {
                name: value for name, value in candidate.items() if name != spelling(candidate, "finishReason")
            }
        if len(kept) < len(parts) or candidate is not candidates[0]:
            candidate = {**candidate, "content": {**candidate["content"], "parts": kept}}
            made = {**made, "candidates": [candidate, *candidates[1:]]}
        return self._or_itself(made, event)

    def _or_itself(self, made: dict[str, Json], event: dict[str, Json]) -> list[Json] | None:
        return None if made is event else [made]

    def _note(self, part: Json) -> bool:
        """Note a part; return whether it is a hidden call."""
        call = get(part, "functionCall")
        return call is not None and self._note_call(get(call, "name"))

    def _counted(self, holder: dict[str, Json]) -> dict[str, Json]:
        """Return an object whose usage counts the output of all answers; its input stays that of the last."""
        usage = get(holder, "usageMetadata")
        if not isinstance(usage, dict):
            return holder
        name = spelling(usage, "candidatesTokenCount")
        self._answer_tokens = whole_number(usage.get(name)) or 0
        if not self._output_tokens:
            return holder
        made = {**usage, name: self._answer_tokens + self._output_tokens}
        total = spelling(usage, "totalTokenCount")
        if (tokens := whole_number(usage.get(total))) is not None:
            made[total] = tokens + self._output_tokens
        return {**holder, spelling(holder, "usageMetadata"): made}

    def body(self, body: dict[str, Json]) -> dict[str, Json]:
        """Return one answer for all of the turn's, given the last."""
        candidates = objects(body.get("candidates"))
        made = self._counted(body)
        if not candidates:
            return made
        self._parts += [part for part in parts_of(candidates[0].get("content")) if not self._note(part)]
        content = candidates[0].get("content")
        content = {**(content if isinstance(content, dict) else {"role": "model"}), "parts": list(self._parts)}
        return {**made, "candidates": [{**candidates[0], "content": content}, *candidates[1:]]}


hider = CandidateHider
"""Returns the hider that joins the answers of a turn."""


def calls_in(body: Json, names: frozenset[str]) -> tuple[tuple[tuple[int, Json], ...], int, bool]:
    """Return the hidden calls of an answer, how many characters it says, and whether it holds other calls."""
    candidates = objects(field(body, "candidates"))
    parts = parts_of(candidates[0].get("content")) if candidates else []
    calls = [(place, part) for place, part in enumerate(parts) if get(part, "functionCall") is not None]
    hidden = tuple((place, part) for place, part in calls if string(get(get(part, "functionCall"), "name")) in names)
    return hidden, sum(map(_chars, parts)), len(calls) > len(hidden)


def put_back(behind: Sequence[Json], steps: Sequence[HiddenStep]) -> PutBack | None:
    """Return the contents that a client's content was joined from, with calls and results in their places."""
    message, newest = behind[0], steps[-1]
    if role_in(message) != "assistant":
        return None
    parts = parts_of(message)
    counts = [step.shown for step in steps if not step.is_last]
    if sum(counts) > sum(map(_chars, parts)):  # the client keeps other words than it received: all count as the last's
        counts = [0] * len(counts)
    made: list[tuple[Json, int | None]] = []
    for step, count in zip(steps, counts, strict=False):
        first, parts = _divided(parts, count)
        made.append(({"role": "model", "parts": [*first, *(part for _, part in step.calls)]}, None))
        made += [(result, None) for result in step.results]
    if not newest.is_last:
        made.append((message if not sum(counts) else {**message, "parts": parts}, 0))
        return PutBack(messages=tuple(made), taken=1) if parts else None
    if len(behind) < 2 or role_in(behind[1]) not in {"user", "tool"}:
        return None
    # Calls of one answer come after its words, and their responses are in one content.
    calls = [part for part in parts if get(part, "functionCall") is not None]
    words = [part for part in parts if get(part, "functionCall") is None]
    made.append(({**message, "parts": [*words, *(part for _, part in newest.calls), *calls]}, 0))
    results = [part for result in newest.results for part in parts_of(result)]
    made.append(({**behind[1], "parts": [*results, *parts_of(behind[1])]}, 1))
    return PutBack(messages=tuple(made), taken=2)


def _chars(part: Json) -> int:
    return 0 if get(part, "thought") is True else len(string(get(part, "text")))


def _divided(parts: list[dict[str, Json]], chars: int) -> tuple[list[Json], list[dict[str, Json]]]:
    """Return the parts that hold the first `chars` characters, and the rest; a part that holds both is split."""
    first: list[Json] = []
    for place, part in enumerate(parts):
        size = _chars(part)
        if not chars and size:
            return first, parts[place:]
        if size > chars:
            name, text = spelling(part, "text"), string(get(part, "text"))
            return [*first, {name: text[:chars]}], [{**part, name: text[chars:]}, *parts[place + 1 :]]
        if get(part, "functionCall") is not None:
            return first, parts[place:]
        first.append(part)
        chars -= size
    return first, []
