"""How are answers of Anthropic's messages API read, whole and streamed?

Law: however a stream divides an answer, its body equals the unstreamed one. Source: the API reference on streaming. Leaves to
others: sockets and server-sent events (`models.exchange`), the messages of requests (`codec`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects, parsed_finite, string, type_of
from penstock.wires import placeholders
from penstock.wires.call_ids import told_apart
from penstock.wires.entries import UNREAD
from penstock.wires.failures import Unreadable
from penstock.wires.stream import PieceJoiner, index_of, required_object, update

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.text.json_access import Json


def is_answer(body: dict[str, Json]) -> bool:
    """Whether a body holds a list of content blocks."""
    return isinstance(body.get("content"), list)


def answer_messages(body: Json, taken_ids: Collection[str]) -> list[Json]:
    """Return the content as a message of the next request."""
    content = told_apart(objects(field(body, "content")), taken_ids, _call, "id")
    return [{"role": "assistant", "content": content or [{"type": "text", "text": placeholders.NO_ANSWER}]}]


def _call(block: dict[str, Json]) -> dict[str, Json] | None:
    """Return a block that calls a tool; None for any other."""
    return block if type_of(block) == "tool_use" else None


def answer_text(body: Json) -> str:
    """Return the words of the text blocks."""
    return "".join(string(block.get("text")) for block in objects(field(body, "content")) if type_of(block) == "text")


def stop_reason(body: Json) -> str:
    """Return why the message stopped; empty if it does not say."""
    return string(field(body, "stop_reason"))


def streamed_body(body: dict[str, Json]) -> dict[str, Json]:
    """Return a request's body changed to ask for a stream; `stream_options`, which is OpenAI's, is removed."""
    return {**{key: value for key, value in body.items() if key != "stream_options"}, "stream": True}


# What only an event has, besides its kind an estimate of how far thinking has come: a block with it is refused when it goes back.
_OF_DELTAS = frozenset({"type", "estimated_tokens"})


class MessageEvents:
    """The events of one streamed message: blocks that start, continue in deltas, and stop."""

    def __init__(self) -> None:
        self.is_ended = False
        self._message: dict[str, Json] = {}
        self._blocks: dict[int, dict[str, Json]] = {}
        self._inputs: dict[int, dict[str, Json]] = {}
        self._texts = PieceJoiner()

    def feed(self, event: dict[str, Json]) -> str:
        """Take the next event; return the words that it adds.

        Raises:
            Unreadable: for an event without a required field, or a delta of a block that did not start.
        """
        match type_of(event):
            case "message_start":
                self._message = {**required_object(event, "message")}
            case "content_block_start":
                block = required_object(event, "content_block")
                self._blocks[index_of(event.get("index"))] = {**block}
                if type_of(block) == "fallback":  # another model goes on from here, and is the one that answered
                    update(self._message, {"model": field(block, "to", "model")})
            case "content_block_delta":
                return self._feed_delta(index_of(event.get("index")), required_object(event, "delta"))
            # The stop reason comes here, with which edits the API made to the request, and with a usage that repeats what
            # `message_start` said: later values replace earlier.
            case "message_delta" if self._message:
                update(self._message, required_object(event, "delta"))
                update(self._message, event, but=("type", "delta", "usage"))
                usage = self._message.get("usage")
                self._message["usage"] = {**usage} if isinstance(usage, dict) else {}
                update(self._message["usage"], field(event, "usage"))
            case "message_stop":
                self.is_ended = True
        return ""

    def _feed_delta(self, index: int, delta: dict[str, Json]) -> str:
        """Take what one event adds to a block; return its words. Blocks are ordered by their index, not by their events."""
        if index not in self._blocks:
            raise Unreadable(f"The provider's stream continues with block {index}, which did not start.")
        block = self._blocks[index]
        for key, value in delta.items():
            # The input of a call comes as text, which is an object only once complete; it is kept next to the block, not in it.
            if key == "partial_json":
                self._texts.add(self._inputs.setdefault(index, {}), key, string(value))
            elif key == "citation":
                block["citations"] = [*objects(block.get("citations")), value]
            elif key in _OF_DELTAS:
                continue
            elif isinstance(value, str):  # text, thinking, signature: the field has the same name
                self._texts.add(block, key, value)
            elif value is not None:  # whole in one piece, such as what a summary says of tools
                block[key] = value
        return string(delta.get("text"))

    @property
    def has_content(self) -> bool:
        """Whether a block has begun."""
        return bool(self._blocks)

    @property
    def is_complete(self) -> bool:
        """Whether the message said why it stopped."""
        return bool(self._message.get("stop_reason"))

    def body(self) -> dict[str, Json]:
        """Return the message that the events add up to."""
        self._texts.join()
        for index, held in self._inputs.items():
            if written := held["partial_json"]:
                # The input may be cut off by `max_tokens`.
                is_json, value = parsed_finite(written)
                is_object = is_json and isinstance(value, dict)
                self._blocks[index]["input"] = value if is_object else {UNREAD: written}
        return {**self._message, "content": [self._blocks[index] for index in sorted(self._blocks)]}
