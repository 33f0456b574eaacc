"""Which valid message lists does every wire have, and what can go wrong with one? The same seed gives the same lists.

Nothing of the product is used here. Each of the user's texts holds its own mark ("said 7."), as does every result, so that losses
can be detected. Damage is done to the JSON without regard to its meaning: that is what hooks, merges and truncated streams do.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"


class Call(NamedTuple):
    """A call in a form common to every wire."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str


def story(dice: random.Random, wire: str) -> list[Any]:
    """A valid list: words, thought, parallel calls, results, images."""
    teller = _TELLERS[wire]()
    teller.user(dice, f"said {dice.randrange(10**6)}.")
    for step in range(dice.randint(1, 5)):
        calls = [
            Call(
                f"call_{step}_{n}",
                dice.choice(("view", "search")),
                {"path": "a.py"},
                f"result {dice.randrange(10**6)}.",
            )
            for n in range(dice.choice((0, 1, 1, 2, 3)))
        ]
        words = f"answer {dice.randrange(10**6)}." if not calls or dice.random() < 0.5 else ""
        teller.assistant(words, calls, thinks=dice.random() < 0.4)
        teller.results(calls)
        if not calls or dice.random() < 0.4:
            teller.user(dice, f"said {dice.randrange(10**6)}.")
    told: list[Any] = teller.messages
    return told


class _Teller:
    def __init__(self) -> None:
        self.messages: list[Any] = []

    def join(self, role: str, key: str, parts: list[Any]) -> None:
        """Add parts to the last message if it has the same role, otherwise as a new message."""
        if self.messages and self.messages[-1]["role"] == role:
            self.messages[-1][key] += parts
        else:
            self.messages.append({"role": role, key: parts})


class _Chat(_Teller):
    def user(self, dice: random.Random, text: str) -> None:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        content: Any = [{"type": "text", "text": text}, image] if dice.random() < 0.3 else text
        self.messages.append({"role": "user", "content": content})

    def assistant(self, words: str, calls: list[Call], *, thinks: bool) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": words or None}
        if thinks:
            message["reasoning_content"] = "hm"
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in calls
            ]
        self.messages.append(message)

    def results(self, calls: list[Call]) -> None:
        self.messages += [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in calls]


class _Responses(_Teller):
    def user(self, dice: random.Random, text: str) -> None:
        content: Any = [{"type": "input_text", "text": text}] if dice.random() < 0.5 else text
        self.messages.append({"type": "message", "role": "user", "content": content})

    def assistant(self, words: str, calls: list[Call], *, thinks: bool) -> None:
        if thinks:
            self.messages.append(
                {"type": "reasoning", "id": f"rs_{len(self.messages)}", "summary": [], "encrypted_content": "x"}
            )
        if words:
            self.messages.append(
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}
            )
        self.messages += [
            {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
            for call in calls
        ]

    def results(self, calls: list[Call]) -> None:
        self.messages += [{"type": "function_call_output", "call_id": call.id, "output": call.result} for call in calls]


class _Anthropic(_Teller):
    def user(self, dice: random.Random, text: str) -> None:
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
        self.join("user", "content", [{"type": "text", "text": text}, *([image] if dice.random() < 0.3 else [])])

    def assistant(self, words: str, calls: list[Call], *, thinks: bool) -> None:
        thought = [{"type": "thinking", "thinking": "hm", "signature": f"sig{len(self.messages)}"}] if thinks else []
        said = [{"type": "text", "text": words}] if words else []
        asked = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in calls]
        self.join("assistant", "content", [*thought, *said, *asked])

    def results(self, calls: list[Call]) -> None:
        if calls:
            self.join(
                "user", "content", [{"type": "tool_result", "tool_use_id": c.id, "content": c.result} for c in calls]
            )


class _Gemini(_Teller):
    def user(self, dice: random.Random, text: str) -> None:
        image = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
        self.messages.append({"role": "user", "parts": [{"text": text}, *([image] if dice.random() < 0.3 else [])]})

    def assistant(self, words: str, calls: list[Call], *, thinks: bool) -> None:
        parts: list[Any] = [{"text": words}] if words else []
        for n, call in enumerate(calls):
            part: dict[str, Any] = {"functionCall": {"name": call.name, "id": call.id, "args": call.arguments}}
            parts.append({**part, "thoughtSignature": f"sig{len(self.messages)}"} if thinks and n == 0 else part)
        self.messages.append({"role": "model", "parts": parts})

    def results(self, calls: list[Call]) -> None:
        if calls:
            parts = [
                {"functionResponse": {"name": c.name, "id": c.id, "response": {"output": c.result}}} for c in calls
            ]
            self.messages.append({"role": "user", "parts": parts})


class _Bedrock(_Teller):
    def user(self, dice: random.Random, text: str) -> None:
        image = {"image": {"format": "png", "source": {"bytes": PIXEL}}}
        self.join("user", "content", [{"text": text}, *([image] if dice.random() < 0.3 else [])])

    def assistant(self, words: str, calls: list[Call], *, thinks: bool) -> None:
        signed = {"reasoningText": {"text": "hm", "signature": f"sig{len(self.messages)}"}}
        said = [{"text": words}] if words else []
        asked = [{"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments}} for c in calls]
        self.join("assistant", "content", [*([{"reasoningContent": signed}] if thinks else []), *said, *asked])

    def results(self, calls: list[Call]) -> None:
        if calls:
            blocks = [{"toolResult": {"toolUseId": c.id, "content": [{"text": c.result}]}} for c in calls]
            self.join("user", "content", blocks)


_TELLERS: dict[str, Callable[[], Any]] = {
    "openai-chat": _Chat,
    "openai-responses": _Responses,
    "anthropic": _Anthropic,
    "gemini": _Gemini,
    "bedrock": _Bedrock,
}

# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def damaged(dice: random.Random, wire: str, messages: list[Any]) -> tuple[list[Any], list[str]]:
    """A copy with one to four kinds of damage, and their names."""
    broken = deepcopy(messages)
    done = []
    for _ in range(dice.choice((1, 1, 2, 3, 4))):
        name = dice.choice(list(_DAMAGES))
        _DAMAGES[name](dice, broken, wire)
        done.append(name)
    return broken, done


def _objects(messages: list[Any]) -> list[dict[str, Any]]:
    return [message for message in messages if isinstance(message, dict)]


def _parts(message: dict[str, Any]) -> list[list[Any]]:
    """The lists of parts or calls in a message."""
    return [
        message[key]
        for key in ("content", "parts", "tool_calls")
        if isinstance(message.get(key), list) and message[key]
    ]


def _holders(messages: list[Any]) -> list[list[Any]]:
    return [parts for message in _objects(messages) for parts in _parts(message)]


def _ids(value: Any) -> list[tuple[dict[str, Any], str]]:
    """Every field that is a call's id, anywhere in a value."""
    found = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"tool_call_id", "call_id", "tool_use_id", "toolUseId"} or (
                key == "id" and str(inner).startswith("call_")
            ):
                found.append((value, key))
            found += _ids(inner)
    elif isinstance(value, list):
        for inner in value:
            found += _ids(inner)
    return found


def _drop(dice: random.Random, messages: list[Any], _: str) -> None:
    if len(messages) > 1:
        messages.pop(dice.randrange(len(messages)))


def _twice(dice: random.Random, messages: list[Any], _: str) -> None:
    at = dice.randrange(len(messages)) if messages else 0
    messages[at:at] = deepcopy(messages[at : at + 1])


def _swap(dice: random.Random, messages: list[Any], _: str) -> None:
    if len(messages) > 1:
        at = dice.randrange(len(messages) - 1)
        messages[at : at + 2] = messages[at : at + 2][::-1]


def _move(dice: random.Random, messages: list[Any], _: str) -> None:
    if messages:
        held = messages.pop(dice.randrange(len(messages)))
        messages.insert(dice.randint(0, len(messages)), held)


def _cut(dice: random.Random, messages: list[Any], _: str) -> None:
    del messages[dice.randint(1, max(1, len(messages))) :]


def _behead(dice: random.Random, messages: list[Any], _: str) -> None:
    del messages[: dice.randint(0, len(messages) - 1) if messages else 0]


def _role(dice: random.Random, messages: list[Any], _: str) -> None:
    if objects := _objects(messages):
        dice.choice(objects)["role"] = dice.choice(
            ("user", "assistant", "system", "tool", "model", "developer", "x", None)
        )


def _part_dropped(dice: random.Random, messages: list[Any], _: str) -> None:
    if holders := _holders(messages):
        held = dice.choice(holders)
        held.pop(dice.randrange(len(held)))


def _part_twice(dice: random.Random, messages: list[Any], _: str) -> None:
    if holders := _holders(messages):
        held = dice.choice(holders)
        held.append(deepcopy(dice.choice(held)))


def _part_moved(dice: random.Random, messages: list[Any], _: str) -> None:
    """Calls, results, thought and words moved into any other message: an assistant's, a user's, a system's."""
    if holders := _holders(messages):
        source, target = dice.choice(holders), dice.choice(holders)
        held = source.pop(dice.randrange(len(source)))
        target.insert(dice.randint(0, len(target)), held)


def _parts_shuffled(dice: random.Random, messages: list[Any], _: str) -> None:
    if holders := _holders(messages):
        dice.shuffle(dice.choice(holders))


def _split(dice: random.Random, messages: list[Any], _: str) -> None:
    """Parallel calls, or their results, split into two messages."""
    many = [m for m in _objects(messages) if any(len(parts) > 1 for parts in _parts(m))]
    if many:
        message = dice.choice(many)
        at = next(n for n, held in enumerate(messages) if held is message)
        later = deepcopy(message)
        for first, second in zip(_parts(message), _parts(later), strict=True):
            half = dice.randint(0, len(first))
            del first[half:]
            del second[:half]
        messages.insert(at + dice.choice((1, 1, 2)), later)


def _emptied(dice: random.Random, messages: list[Any], _: str) -> None:
    if objects := _objects(messages):
        message = dice.choice(objects)
        key = "parts" if "parts" in message else "output" if "output" in message else "content"
        message[key] = dice.choice(
            ("", [], None, " \n", {}, 7, [{}], [None], [{"type": "text", "text": ""}], [{"text": " "}])
        )


def _field_lost(dice: random.Random, messages: list[Any], _: str) -> None:
    """Any field of any object removed, including signatures and ids."""
    found: list[dict[str, Any]] = []

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if value:
                found.append(value)
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    look(messages)
    if found:
        held = dice.choice(found)
        del held[dice.choice(list(held))]


def _id_changed(dice: random.Random, messages: list[Any], _: str) -> None:
    if found := _ids(messages):
        held, key = dice.choice(found)
        other, name = dice.choice(found)
        held[key] = dice.choice((other[name], "call_new", "functions.view:0", "x" * 80, "", None, 7))


def _arguments_broken(dice: random.Random, messages: list[Any], _: str) -> None:
    for message in dice.sample(_objects(messages), len(_objects(messages))):
        for held, _key in _ids(message):
            for name in ("input", "args", "arguments"):
                if name in held:
                    held[name] = dice.choice(('{"path": "a', None, 7, [], {"a": 1}, "", "{}"))
                    return
            if isinstance(held.get("function"), dict):
                held["function"]["arguments"] = dice.choice(('{"path": "a', None, 7, [], {"a": 1}, ""))
                return


def _system_with(dice: random.Random, messages: list[Any], _: str) -> None:
    """Instructions that contain a call, a result or thought from another message."""
    if objects := _objects(messages):
        copied = deepcopy(dice.choice(objects))
        copied["role"] = "system"
        messages.insert(dice.randint(0, len(messages)), copied)


def _junk(dice: random.Random, messages: list[Any], _: str) -> None:
    target: list[Any] = dice.choice([messages, *_holders(messages)])
    target.insert(
        dice.randint(0, len(target)), dice.choice((None, 7, "words", [], {}, {"role": "user"}, {"type": "text"}, True))
    )


def _thought(dice: random.Random, messages: list[Any], wire: str) -> None:
    """Thought where none is allowed: at the end, from the user, without its signature."""
    parts: dict[str, dict[str, Any]] = {
        "anthropic": {"type": "thinking", "thinking": "hm", "signature": dice.choice(("sigx", "", None))},
        "bedrock": {"reasoningContent": {"reasoningText": {"text": "hm", "signature": dice.choice(("sigx", ""))}}},
        "gemini": {"text": "hm", "thought": True},
        "openai-responses": {"type": "reasoning", "id": "rs_x", "summary": []},
        "openai-chat": {"role": "assistant", "reasoning_content": "hm"},
    }
    part = parts[wire]
    if wire.startswith("openai"):
        messages.insert(dice.randint(0, len(messages)), part)
    elif holders := _holders(messages):
        target = dice.choice(holders)
        target.insert(dice.choice((0, len(target))), part)


_DAMAGES: dict[str, Callable[[random.Random, list[Any], str], None]] = {
    name.lstrip("_"): do
    for name, do in list(globals().items())
    if name
    in {
        *(
            "_drop",
            "_twice",
            "_swap",
            "_move",
            "_cut",
            "_behead",
            "_role",
            "_part_dropped",
            "_part_twice",
            "_part_moved",
        ),
        *(
            "_parts_shuffled",
            "_split",
            "_emptied",
            "_field_lost",
            "_id_changed",
            "_arguments_broken",
            "_system_with",
            "_junk",
        ),
        "_thought",
    }
}
