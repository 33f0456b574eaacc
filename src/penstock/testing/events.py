"""How is an answer streamed? A response's body as the server-sent events of its wire, and an error as one of them.

Law: what the wire's own client gathers from the events is the body. Keeps out: refusals as HTTP statuses, which are no streams.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.transcript.shapes import Json

_PIECES = 8  # of every text: enough that a client has to put it together


def answer_events(body: Json, wire: str, request: Json) -> Iterator[bytes]:
    """The answer, event by event, as it goes over the wire."""
    if wire == "openai-chat":
        options = request.get("stream_options")
        with_usage = isinstance(options, dict) and options.get("include_usage") is True
        for chunk in _chat(body, with_usage=with_usage):
            yield _data(chunk)
        yield b"data: [DONE]\n\n"
    elif wire == "openai-responses":
        yield from map(_named, _numbered(_responses(body)))
    else:
        yield from map(_named, _anthropic(body))


def error_events(body: Json, wire: str, number: int) -> Iterator[bytes]:
    """A refusal in a stream that began with HTTP 200."""
    told = body.get("error", body)
    if wire == "openai-chat":
        yield _data({"error": told})
        yield b"data: [DONE]\n\n"
    elif wire == "openai-responses":
        begun = {"id": f"resp_{number}", "object": "response", "created_at": 0, "status": "in_progress", "output": []}
        events = [{"type": f"response.{state}", "response": begun} for state in ("created", "in_progress")]
        yield from map(_named, _numbered(iter([*events, {"type": "error", "error": told}])))
    else:
        yield _named({"type": "error", "error": told})


def _data(event: Json) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def _named(event: Json) -> bytes:
    return f"event: {event['type']}\n".encode() + _data(event)


def _numbered(events: Iterator[Json]) -> Iterator[Json]:
    for number, event in enumerate(events):
        yield {"type": event["type"], "sequence_number": number, **event}


def _pieces(text: str) -> Iterator[str]:
    length = -(-len(text) // _PIECES)
    return (text[start : start + length] for start in range(0, len(text), length or 1))


def _chat(body: Json, *, with_usage: bool) -> Iterator[Json]:
    head = {key: body[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = body["choices"][0]
    message = choice["message"]

    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": None if message["content"] is None else ""})
    for piece in _pieces(message["content"] or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(message.get("tool_calls", [])):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, **call, "function": function}]})
        for piece in _pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    if with_usage:
        yield {**head, "choices": [], "usage": body["usage"]}


def _responses(body: Json) -> Iterator[Json]:
    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(body["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            yield from _said(item, index, place)
        else:
            yield from _called(item, index, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": body}


def _said(item: Json, index: int, place: Json) -> Iterator[Json]:
    part = item["content"][0]
    place = {**place, "content_index": 0}
    empty = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for piece in _pieces(part["text"]):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}


def _called(item: Json, index: int, place: Json) -> Iterator[Json]:
    empty = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    for piece in _pieces(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **place, **done}


def _anthropic(body: Json) -> Iterator[Json]:
    begun = {**body, "content": [], "stop_reason": None, "usage": {**body["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(body["content"]):
        if block["type"] == "text":
            empty, deltas = {**block, "text": ""}, ({"type": "text_delta", "text": p} for p in _pieces(block["text"]))
        else:
            written = json.dumps(block["input"])
            empty = {**block, "input": {}}
            deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written))
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": body["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}
