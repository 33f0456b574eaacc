"""What does a provider's answer say? A body as it came whole, or what the events of a stream add up to.

Law: however a stream divides an answer, its body is the one that comes unstreamed, arguments of calls to the byte; an answer that
is cut off, or is none, is never returned. An error in an answer is raised as `Refused`, whatever its HTTP status was. Keeps out:
sockets, and where an event ends (`exchange`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.models.failures import Disconnected, Unreadable
from penstock.models.provider import Refused
from penstock.transcript.shapes import as_json, field, objects, parsed, string, type_of

if TYPE_CHECKING:
    from penstock.transcript.shapes import Json

_SHOWN_CHARS = 200  # of what could not be read


def read(content: bytes, wire: str) -> dict[str, Json]:
    """The body of an answer that came whole. Raises `Unreadable` and `Refused`."""
    return _checked(_object(content.decode("utf-8", "replace")), wire)


def said(body: Json, wire: str) -> str:
    """The words of an answer."""
    if wire == "openai-chat":
        return string(field(objects(body["choices"])[0], "message", "content"))
    parts = objects(body["content"]) if wire == "anthropic" else _parts(body)
    return "".join(string(part.get("text")) for part in parts if type_of(part) in {"text", "output_text"})


class Stream:
    """The events of one answer, as they come."""

    def __init__(self, wire: str) -> None:
        self._wire = wire
        self._events = _WIRES[wire]()
        self._done = False

    @property
    def ended(self) -> bool:
        """Whether nothing follows, though the connection may stay open."""
        return self._done or self._events.ended

    def take(self, data: str) -> str:
        """The words that the data of the next event adds. Raises `Unreadable` and `Refused`."""
        if data == "[DONE]":
            self._done = True
            return ""
        return self._events.take(_object(data))

    def body(self) -> dict[str, Json]:
        """The body that the events add up to. Raises `Disconnected` where they broke off, and `Unreadable`."""
        if not self._events.complete:
            raise Disconnected("closed", "The provider's stream broke off: it ended before it said why it stops.")
        return _checked(self._events.body(), self._wire)


def _object(text: str) -> dict[str, Json]:
    """The JSON object in a text, unless it tells of an error."""
    ok, value = parsed(text)
    if not ok or not isinstance(value, dict):
        raise Unreadable(f"The provider answered with what is no JSON object: {text[:_SHOWN_CHARS]!r}")
    if value.get("error"):
        raise Refused(200, {"error": value["error"]})  # not the rest: a failed response repeats the whole request
    if "error" in (type_of(value), value.get("object")):
        raise Refused(200, value)
    return value


_HOLDERS = {"openai-chat": "choices", "openai-responses": "output", "anthropic": "content"}


def _checked(body: dict[str, Json], wire: str) -> dict[str, Json]:
    """A body in the shape of an answer: what stands behind may hold on to that."""
    held = body.get(_HOLDERS[wire])
    if not isinstance(held, list) or (wire == "openai-chat" and not isinstance(field(_first(held), "message"), dict)):
        raise Unreadable(f"The provider's answer is none of {wire}: {as_json(body)[:_SHOWN_CHARS]}")
    return body


def _first(held: list[Json]) -> Json:
    return held[0] if held else None


def _parts(body: Json) -> list[dict[str, Json]]:
    return [part for item in objects(body["output"]) for part in objects(item.get("content"))]


class _Texts:
    """Texts that come in pieces. Joined once, at the end: an answer of 100,000 pieces is not copied 100,000 times."""

    def __init__(self) -> None:
        self._pieces: dict[tuple[int, str], tuple[dict[str, Json], list[str]]] = {}

    def add(self, target: dict[str, Json], key: str, piece: str) -> None:
        """Appends to the text of `target` at `key`."""
        _, pieces = self._pieces.setdefault((id(target), key), (target, [string(target.get(key))]))
        pieces.append(piece)

    def join(self) -> None:
        """Puts every text where it belongs."""
        for (_, key), (target, pieces) in self._pieces.items():
            target[key] = "".join(pieces)


class _Chat:
    ended = False  # usage comes after the last choice, so only [DONE] and the end of the body are the end

    def __init__(self) -> None:
        self._head: dict[str, Json] = {}
        self._choices: dict[int, dict[str, Json]] = {}
        self._calls: dict[tuple[int, Json], dict[str, Json]] = {}
        self._texts = _Texts()

    def take(self, chunk: dict[str, Json]) -> str:
        _update(self._head, chunk, but=("choices", "object", "obfuscation"))
        return "".join([self._choose(choice) for choice in objects(chunk.get("choices"))])

    def _choose(self, told: dict[str, Json]) -> str:
        index = _number(told.get("index"))
        if index not in self._choices:
            message: Json = {"role": "assistant", "content": None, "refusal": None}
            self._choices[index] = {"index": index, "message": message, "logprobs": None, "finish_reason": None}
        choice, delta = self._choices[index], told.get("delta")
        self._merge(choice, told, but=("index", "delta"))
        if not isinstance(delta, dict):
            return ""
        self._merge(choice["message"], delta, but=("tool_calls",))
        for call in objects(delta.get("tool_calls")):
            self._call(index, choice["message"], call)
        return string(delta.get("content")) if index == 0 else ""

    def _call(self, choice: int, message: dict[str, Json], told: dict[str, Json]) -> None:
        place = choice, _number(told.get("index"))
        call = self._calls.get(place)
        if call is None or (
            told.get("id") and call.get("id") not in (None, told["id"])
        ):  # some servers number every call 0
            self._calls[place] = call = {}
            message.setdefault("tool_calls", []).append(call)
        self._merge(call, told, but=("index",))

    def _merge(self, target: dict[str, Json], told: dict[str, Json], *, but: tuple[str, ...]) -> None:
        """Texts go on, lists grow; of everything else the last that is something counts."""
        inner = {key: value for key, value in told.items() if isinstance(value, dict) and key not in but}
        for key, value in inner.items():
            if not isinstance(target.get(key), dict):
                target[key] = {}
            self._extend(target[key], value)
        self._extend(target, told, but=(*but, *inner))

    def _extend(self, target: dict[str, Json], told: dict[str, Json], *, but: tuple[str, ...] = ()) -> None:
        for key, value in told.items():
            if key in but:
                continue
            if key in _CHAT_TEXTS and isinstance(value, str):
                self._texts.add(target, key, value)
            elif isinstance(value, list) and isinstance(target.get(key), list):
                target[key] += value
            else:
                _update(target, {key: value})

    @property
    def complete(self) -> bool:
        return bool(self._choices) and all(choice["finish_reason"] for choice in self._choices.values())

    def body(self) -> dict[str, Json]:
        self._texts.join()
        choices = [self._choices[index] for index in sorted(self._choices)]
        return {**self._head, "object": "chat.completion", "choices": choices}


_CHAT_TEXTS = frozenset({"content", "refusal", "arguments", "reasoning", "reasoning_content"})
"""What comes in pieces. A list, since ids and names are sent again with every piece by some servers."""


class _Responses:
    def __init__(self) -> None:
        self._response: dict[str, Json] | None = None
        self._items: dict[int, Json] = {}

    def take(self, event: dict[str, Json]) -> str:
        match type_of(event):
            case "response.output_text.delta":
                return string(event.get("delta"))
            case "response.output_item.done":
                self._items[_number(event.get("output_index"))] = event.get("item")
            case "response.completed" | "response.incomplete":
                self._response = _part(event, "response")
            case "response.failed":
                raise Refused(200, {"error": field(event, "response", "error")})
        return ""

    @property
    def ended(self) -> bool:
        return self._response is not None

    complete = ended

    def body(self) -> dict[str, Json]:
        response = self._response or {}
        if not response.get("output") and self._items:  # some servers end with the response as it began
            response["output"] = [self._items[index] for index in sorted(self._items)]
        return response


class _Anthropic:
    def __init__(self) -> None:
        self.ended = False
        self._message: dict[str, Json] = {}
        self._blocks: dict[int, dict[str, Json]] = {}
        self._inputs: dict[int, dict[str, Json]] = {}
        self._texts = _Texts()

    def take(self, event: dict[str, Json]) -> str:
        match type_of(event):
            case "message_start":
                self._message = _part(event, "message")
            case "content_block_start":
                self._blocks[_number(event.get("index"))] = _part(event, "content_block")
            case "content_block_delta":
                return self._go_on(_number(event.get("index")), _part(event, "delta"))
            case "message_delta" if self._message:
                _update(self._message, _part(event, "delta"))
                usage = self._message.get("usage")
                self._message["usage"] = usage if isinstance(usage, dict) else {}
                _update(self._message["usage"], field(event, "usage"))
            case "message_stop":
                self.ended = True
        return ""

    def _go_on(self, index: int, delta: dict[str, Json]) -> str:
        if index not in self._blocks:
            raise Unreadable(f"The provider's stream goes on with block {index}, which did not start.")
        block = self._blocks[index]
        for key, value in delta.items():
            if key == "partial_json":
                self._texts.add(self._inputs.setdefault(index, {}), key, string(value))
            elif key == "citation":
                block["citations"] = [*objects(block.get("citations")), value]
            elif key != "type" and isinstance(value, str):  # text, thinking, signature: the field of the same name
                self._texts.add(block, key, value)
        return string(delta.get("text"))

    @property
    def complete(self) -> bool:
        return bool(self._message.get("stop_reason"))

    def body(self) -> dict[str, Json]:
        self._texts.join()
        for index, held in self._inputs.items():
            if written := held["partial_json"]:
                ok, value = parsed(written)  # may be cut off; Anthropic's own advice is to show it under this name
                self._blocks[index]["input"] = value if ok and isinstance(value, dict) else {"INVALID_JSON": written}
        return {**self._message, "content": [self._blocks[index] for index in sorted(self._blocks)]}


_WIRES: dict[str, type[_Chat | _Responses | _Anthropic]] = {
    "openai-chat": _Chat,
    "openai-responses": _Responses,
    "anthropic": _Anthropic,
}


def _part(event: dict[str, Json], name: str) -> dict[str, Json]:
    """The object in an event that it cannot be without."""
    value = event.get(name)
    if not isinstance(value, dict):
        raise Unreadable(f"The provider's event has no {name}: {as_json(event)[:_SHOWN_CHARS]}")
    return value


def _number(index: Json) -> int:
    return index if isinstance(index, int) else 0


def _update(target: dict[str, Json], told: Json, *, but: tuple[str, ...] = ()) -> None:
    """Sets what is told; nothing and the empty text change nothing that is there."""
    for key, value in told.items() if isinstance(told, dict) else ():
        if key not in but and (value not in (None, "") or key not in target):
            target[key] = value
