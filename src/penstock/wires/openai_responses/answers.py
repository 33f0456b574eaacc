"""How are answers of OpenAI's responses API read, whole and streamed?

The output items of an answer are input items of the next request, unchanged. A stream repeats itself: its last event holds the
whole response, so deltas only serve for display. Leaves to others: sockets and server-sent events (`models.exchange`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects, string, type_of
from penstock.wires import placeholders
from penstock.wires.call_ids import told_apart
from penstock.wires.failures import Refused
from penstock.wires.openai_responses.codec import kind_of, text_message
from penstock.wires.stream import index_of, required_object

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.text.json_access import Json


def is_answer(body: dict[str, Json]) -> bool:
    """Whether a body holds a list of output items."""
    return isinstance(body.get("output"), list)


def answer_messages(body: Json, taken_ids: Collection[str]) -> list[Json]:
    """Return the output items as the next request carries them."""
    # Whatever role the server gives a message, it is the model's, and must not become a person's or the system's.
    items = [
        {**item, "role": "assistant"} if "role" in item and kind_of(item) == "message" else item
        for item in objects(field(body, "output"))
    ]
    return told_apart(items, taken_ids, _call, "call_id") or [text_message("assistant", placeholders.NO_ANSWER)]


def _call(item: dict[str, Json]) -> dict[str, Json] | None:
    """Return an item that calls a function or a custom tool; None for any other."""
    return item if type_of(item) in {"function_call", "custom_tool_call"} else None


def answer_text(body: Json) -> str:
    """Return the words of the output messages."""
    parts = [part for item in objects(field(body, "output")) for part in objects(item.get("content"))]
    return "".join(string(part.get("text")) for part in parts if type_of(part) in {"text", "output_text"})


def stop_reason(body: Json) -> str:
    """Return why the response is incomplete; empty if it is complete."""
    return string(field(body, "incomplete_details", "reason"))


def streamed_body(body: dict[str, Json]) -> dict[str, Json]:
    """Return a request's body changed to ask for a stream; `stream_options`, which is the chat API's, is removed."""
    return {**{key: value for key, value in body.items() if key != "stream_options"}, "stream": True}


class ResponseEvents:
    """The events of one streamed response; the last one holds the whole response."""

    def __init__(self) -> None:
        self._response: dict[str, Json] | None = None
        self._items: dict[int, Json] = {}
        self.has_content = False
        """Whether anything of the output has begun."""

    def feed(self, event: dict[str, Json]) -> str:
        """Take the next event; return the words that it adds.

        Raises:
            Refused: for a response that failed; the provider's error is its body.
            Unreadable: for an event without a required field.
        """
        self.has_content = self.has_content or type_of(event).startswith(("response.output_", "response.content_part"))
        match type_of(event):
            case "response.output_text.delta":
                return string(event.get("delta"))
            case "response.output_item.done":
                self._items[index_of(event.get("output_index"))] = event.get("item")
            case "response.completed" | "response.incomplete":
                self._response = required_object(event, "response")
            # A refusal within HTTP 200: raised as a refusal, so that it is cured like any other.
            case "response.failed":
                raise Refused(200, {"error": field(event, "response", "error")})
        return ""

    @property
    def is_ended(self) -> bool:
        """Whether the response came."""
        return self._response is not None

    is_complete = is_ended

    def body(self) -> dict[str, Json]:
        """Return the response; if a server ends with the response as it began, its items are those that came before."""
        # Some servers end with the response as it began, with empty output: the received items take its place.
        response = self._response or {}
        if not response.get("output") and self._items:
            return {**response, "output": [self._items[index] for index in sorted(self._items)]}
        return response
