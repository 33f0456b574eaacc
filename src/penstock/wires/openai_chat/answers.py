"""How are answers of OpenAI's chat completions API read, whole and streamed?

Law: however a stream divides an answer, its body equals the unstreamed one, with call arguments identical to the byte. Servers
stream in several dialects (an id with every piece, every call numbered 0, fields of their own); the same rules join all of them.
Leaves to others: sockets and server-sent events (`models.exchange`), the messages of requests (`codec`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.text.json_access import blocks, field, objects, string, type_of
from penstock.wires import placeholders
from penstock.wires.call_ids import told_apart
from penstock.wires.stream import PieceJoiner, index_of, update

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.text.json_access import Json


def is_answer(body: dict[str, Json]) -> bool:
    """Whether a body holds a choice with a message."""
    choices = body.get("choices")
    return isinstance(choices, list) and isinstance(field(choices[0] if choices else None, "message"), dict)


def answer_messages(body: Json, taken_ids: Collection[str]) -> list[Json]:
    """Return the first choice's message as the next request carries it.

    Raises:
        CallerError: for a body without such a message.
    """
    choices = objects(field(body, "choices"))
    message = choices[0].get("message") if choices else None
    if not isinstance(message, dict):
        raise CallerError("the model's answer holds no message")
    # Answers carry empty `refusal`, `audio` and `annotations` too: those are not part of what was said.
    kept = {key: value for key, value in message.items() if value is not None and value != []}
    if "tool_calls" in kept:
        calls = list(map(_with_text, objects(kept["tool_calls"])))
        kept["tool_calls"] = told_apart(calls, taken_ids, lambda call: call, "id")
    elif not _words(kept.get("content")):
        kept["content"] = placeholders.NO_ANSWER
    # Parts stay as they came, as their server wants its model's thinking back; words alone become a text, which every server
    # accepts.
    if isinstance(parts := kept.get("content"), list) and all(type_of(part) == "text" for part in parts):
        kept["content"] = _words(parts)
    kept.setdefault("content", None)
    # Whatever role the server gives it, these are the model's words, and must not become a person's or the system's.
    kept.pop("role", None)
    return [{"role": "assistant", **kept}]


def _with_text(call: dict[str, Json]) -> dict[str, Json]:
    """Return a call with its arguments as text: some servers write them as an object."""
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), dict):
        return call
    return {**call, "function": {**function, "arguments": json.dumps(function["arguments"], ensure_ascii=False)}}


def answer_text(body: Json) -> str:
    """Return the words of the first choice."""
    choices = objects(field(body, "choices"))
    return _words(field(choices[0], "message", "content")) if choices else ""


def _words(content: Json) -> str:
    """Return the words of a message's content, which some servers' reasoning models send as parts (Mistral's `thinking`)."""
    return "".join([string(part.get("text")) for part in blocks(content) if part.get("type") == "text"])


def stop_reason(body: Json) -> str:
    """Return why the first choice stopped; empty if it does not say."""
    choices = objects(field(body, "choices"))
    return string(field(choices[0], "finish_reason")) if choices else ""


def streamed_body(body: dict[str, Json]) -> dict[str, Json]:
    """Return a request's body changed to ask for a stream that ends with the usage."""
    options = body.get("stream_options") or {}
    return {**body, "stream": True, "stream_options": {**options, "include_usage": True}}


# Keys whose values come in pieces. An explicit list, since some servers resend ids and names with every piece.
_PIECEWISE = frozenset({"refusal", "arguments", "input", "reasoning", "reasoning_content"})
# Keys of a message that, if not empty, are something said, or a call in the form before `tool_calls`.
_SAID = ("content", "refusal", "reasoning", "reasoning_content", "function_call")


class ChunkReader:
    """Joins the chunks of one streamed completion."""

    is_ended = False
    """Never set by a chunk: usage comes after the last choice, so only [DONE] or the end of the body is the end."""

    def __init__(self) -> None:
        self._head: dict[str, Json] = {}
        self._choices: dict[int, dict[str, Json]] = {}
        self._calls: dict[tuple[int, Json], dict[str, Json]] = {}
        self._texts = PieceJoiner()
        self.has_content = False
        """Whether a choice has said or called anything."""

    def feed(self, event: dict[str, Json]) -> str:
        """Take the next chunk; return the words that it adds to the first choice."""
        update(self._head, event, but=("choices", "object", "obfuscation"))
        return "".join([self._feed_choice(choice) for choice in objects(event.get("choices"))])

    def _feed_choice(self, news: dict[str, Json]) -> str:
        """Take what a chunk says of one choice; return its words if it is the first choice."""
        index = index_of(news.get("index"))
        if index not in self._choices:
            message: Json = {"role": "assistant", "content": None, "refusal": None}
            self._choices[index] = {"index": index, "message": message, "logprobs": None, "finish_reason": None}
        choice, delta = self._choices[index], news.get("delta")
        self._merge(choice, news, but=("index", "delta"))
        if not isinstance(delta, dict):
            return ""
        self._merge(choice["message"], delta, but=("tool_calls", "content", "reasoning_details"))
        self._feed_content(choice["message"], delta.get("content"))
        for detail in objects(delta.get("reasoning_details")):
            self._feed_detail(choice["message"].setdefault("reasoning_details", []), detail)
        for call in objects(delta.get("tool_calls")):
            self._feed_call(index, choice["message"], call)
        # Recorded as it comes, since it is asked at every chunk: examining what has come would join all pieces each time.
        self.has_content = self.has_content or any(delta.get(key) for key in _SAID) or "tool_calls" in choice["message"]
        return _words(delta.get("content")) if index == 0 else ""

    def _feed_content(self, message: dict[str, Json], news: Json) -> None:
        """Take a chunk's content: more of a text, or parts; a text that comes after parts becomes one of them."""
        if isinstance(news, str) and not isinstance(message["content"], list):
            self._texts.add(message, "content", news)
        elif news and isinstance(news, str | list):
            if not isinstance(message["content"], list):
                said = self._texts.taken(message, "content")
                message["content"] = blocks(said) if said else []
            for part in blocks(news):
                if not self._goes_on(message["content"], part):
                    inner = part.get("thinking")
                    message["content"].append({**part, "thinking": []} if isinstance(inner, list) else dict(part))
                    self._feed_thinking(message["content"][-1], inner)

    def _feed_thinking(self, part: dict[str, Json], news: Json) -> None:
        """Take the parts that a thinking part consists of, or more of them."""
        for inner in objects(news):
            if not self._goes_on(part["thinking"], inner):
                part["thinking"].append(dict(inner))

    def _goes_on(self, parts: list[Json], news: dict[str, Json]) -> bool:
        """Continue the last of some parts with a part of its kind; return whether it does."""
        last = parts[-1] if parts else {}
        if last.get("type") != news.get("type"):
            return False
        if isinstance(last.get("text"), str) and isinstance(news.get("text"), str):
            self._texts.add(last, "text", news["text"])
        elif isinstance(last.get("thinking"), list) and isinstance(news.get("thinking"), list):
            self._feed_thinking(last, news["thinking"])
        else:
            return False
        update(last, news, but=("text", "thinking"))
        return True

    def _feed_detail(self, details: list[Json], news: dict[str, Json]) -> None:
        """Take a piece of OpenRouter's reasoning, or begin one: kind and index tell them apart; encrypted ones are whole."""
        last = details[-1] if details else {}
        is_more = all(news.get(key) is not None and last.get(key) == news[key] for key in ("type", "index"))
        if not is_more or "data" in news:
            details.append(dict(news))
            return
        for key in ("text", "summary"):
            if isinstance(news.get(key), str):
                self._texts.add(last, key, news[key])
        update(last, news, but=("text", "summary"))

    def _feed_call(self, choice: int, message: dict[str, Json], news: dict[str, Json]) -> None:
        """Take a piece of a call, or begin one: calls are told apart by index, or by id if the index is always 0."""
        place = choice, index_of(news.get("index"))
        call = self._calls.get(place)
        # Some servers number every call 0: another id means another call.
        if call is None or (news.get("id") and call.get("id") not in (None, news["id"])):
            self._calls[place] = call = {}
            message.setdefault("tool_calls", []).append(call)
        self._merge(call, news, but=("index",))

    def _merge(self, target: dict[str, Json], news: dict[str, Json], *, but: tuple[str, ...]) -> None:
        """Append to texts and lists; of everything else the last non-empty value counts.

        One level of objects is merged the same way (`function` of a call, `logprobs` of a choice).
        """
        inner = {key: value for key, value in news.items() if isinstance(value, dict) and key not in but}
        for key, value in inner.items():
            if not isinstance(target.get(key), dict):
                target[key] = {}
            self._extend(target[key], value)
        self._extend(target, news, but=(*but, *inner))

    def _extend(self, target: dict[str, Json], news: dict[str, Json], *, but: tuple[str, ...] = ()) -> None:
        """Merge the values of one object, except the objects in it."""
        for key, value in news.items():
            if key in but:
                continue
            if key in _PIECEWISE and isinstance(value, str):
                self._texts.add(target, key, value)
            elif isinstance(value, list):
                if not isinstance(target.get(key), list):
                    target[key] = []  # the event's own list is left unchanged
                target[key] += value
            else:
                update(target, {key: value})

    @property
    def is_complete(self) -> bool:
        """Whether every choice said why it stopped."""
        return bool(self._choices) and all(choice["finish_reason"] for choice in self._choices.values())

    def body(self) -> dict[str, Json]:
        """Return the completion that the chunks add up to."""
        self._texts.join()
        choices = [self._choices[index] for index in sorted(self._choices)]
        return {**self._head, "object": "chat.completion", "choices": choices}
