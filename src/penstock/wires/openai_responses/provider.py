"""How does OpenAI's responses API write answers, streams, errors and refusals? For test doubles of it.

Errors and the list of models are those of the chat API. Everything that a client's own SDK looks at is present, under its name and
in order; the rest is constant, so that the same conversation gives the same bytes. Leaves to others: HTTP (`testing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.wires.openai_chat import provider as chat
from penstock.wires.stream import named_event, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.text.json_access import Json
    from penstock.wires.wire import AnswerContent, RequestSize

MIN_REPLY_TOKENS = 16
"""The smallest `max_output_tokens` that the API accepts."""
_NO_NUMBERS = "Your input exceeds the context window of this model. Please adjust your input and try again."


def answer(content: AnswerContent) -> dict[str, Json]:
    """Return an answer as the response that the API sends unstreamed: one message at most, then its calls."""
    output: list[Json] = []
    # An answer without words and calls is an empty message, as the API sends it; a call needs no message before it.
    if content.text or not content.calls:
        message = {"type": "message", "id": f"msg_{content.number}", "status": "completed", "role": "assistant"}
        output.append({**message, "content": [{"type": "output_text", "text": content.text, "annotations": []}]})
    for n, (name, arguments) in enumerate(content.calls, 1):
        ids = {"id": f"fc_{content.number}_{n}", "call_id": f"call_{content.number}_{n}"}
        call = {"type": "function_call", **ids, "name": name, "arguments": arguments, "status": "completed"}
        output.append(call)
    return {
        "id": f"resp_{content.number}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": content.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": content.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": content.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": content.input_tokens + content.output_tokens,
        },
    }


def answer_events(body: dict[str, Json], request: dict[str, Json]) -> Iterator[bytes]:
    """Return the events of the stream for a response, numbered as the API numbers them."""
    del request
    return map(named_event, _numbered(_events(body)))


def error_events(body: dict[str, Json], number: int) -> Iterator[bytes]:
    """Return an error of a stream that began with HTTP 200: the response is created and in progress before it fails."""
    begun = {"id": f"resp_{number}", "object": "response", "created_at": 0, "status": "in_progress", "output": []}
    events = [{"type": f"response.{state}", "response": begun} for state in ("created", "in_progress")]
    return map(named_event, _numbered([*events, {"type": "error", "error": body.get("error", body)}]))


def _numbered(events: Iterable[Json]) -> Iterator[Json]:
    """Yield events with their sequence numbers, from 0."""
    for number, event in enumerate(events):
        yield {"type": event["type"], "sequence_number": number, **event}


def _events(body: dict[str, Json]) -> Iterator[Json]:
    """Yield the events of a response: it begins empty, each item comes in pieces and then whole, and the response comes last."""
    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(body["output"]):
        place = {"item_id": item["id"], "output_index": index}
        yield from (
            _message_events(item, index, place) if item["type"] == "message" else _call_events(item, index, place)
        )
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": body}


def _message_events(item: Json, index: int, place: Json) -> Iterator[Json]:
    """Yield the events of a message until it is done: the item, its one part, the words in pieces."""
    part = item["content"][0]
    place = {**place, "content_index": 0}
    empty = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for piece in pieces_of(part["text"]):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}


def _call_events(item: Json, index: int, place: Json) -> Iterator[Json]:
    """Yield the events of a call until it is done: the item, its arguments in pieces."""
    empty = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    for piece in pieces_of(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **place, **done}


def refusal(size: RequestSize, limit_tokens: int) -> dict[str, Json]:
    """Return the refusal of a request that is too large; this API states no numbers."""
    del size, limit_tokens
    return chat.error(_NO_NUMBERS, param="input", code="context_length_exceeded")


def reply_fault(request: dict[str, Json]) -> str | None:
    """Return what is wrong with the reply length that a request asks for; None if nothing is."""
    return chat.reply_fault(request, ("max_output_tokens",), MIN_REPLY_TOKENS)


def unkept(request: dict[str, Json]) -> dict[str, Json] | None:
    """Return the error for a request that continues another one."""
    for key in ("previous_response_id", "conversation"):
        if request.get(key):
            return chat.error(f"{key}: no conversation is kept here, send all of it", param=key)
    return None
