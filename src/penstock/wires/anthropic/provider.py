"""How does Anthropic's messages API write answers, streams, errors and refusals? For test doubles of it.

Everything that a client's own SDK looks at is present, under its name and in order; the rest is constant, so that the same
conversation gives the same bytes. The wording of refusals is the provider's, with its numbers. Leaves to others: HTTP (`testing`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.text.json_access import field
from penstock.wires.stream import named_event, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json
    from penstock.wires.wire import AnswerContent, RequestSize

_ERROR_TYPES = {
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    502: "api_error",
    504: "timeout_error",
}


def answer(content: AnswerContent) -> dict[str, Json]:
    """Return an answer as the message that the API sends unstreamed."""
    blocks: list[Json] = [{"type": "text", "text": content.text}] if content.text else []
    for n, (name, arguments) in enumerate(content.calls, 1):
        call = {"type": "tool_use", "id": f"toolu_{content.number}_{n}", "name": name, "input": json.loads(arguments)}
        blocks.append(call)
    cache = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return {
        "id": f"msg_{content.number}",
        "type": "message",
        "role": "assistant",
        "model": content.model,
        "content": blocks,
        "stop_reason": "tool_use" if content.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": content.input_tokens, **cache, "output_tokens": content.output_tokens},
    }


def answer_events(body: dict[str, Json], request: dict[str, Json]) -> Iterator[bytes]:
    """Return the events of the stream for a message."""
    del request
    return map(named_event, _events(body))


def error_events(body: dict[str, Json], number: int) -> Iterator[bytes]:
    """Yield an error of a stream that began with HTTP 200."""
    del number
    yield named_event({"type": "error", "error": body.get("error", body)})


def _events(body: dict[str, Json]) -> Iterator[Json]:
    """Yield the events of a message: it starts empty, each block starts empty and continues in deltas, usage comes at the end."""
    # The first event counts one token of output, as the API's own does; the last says how many there were.
    begun = {**body, "content": [], "stop_reason": None, "usage": {**body["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(body["content"]):
        if block["type"] == "text":
            empty = {**block, "text": ""}
            deltas: list[Json] = [{"type": "text_delta", "text": piece} for piece in pieces_of(block["text"])]
        else:
            empty = {**block, "input": {}}
            written = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces_of(written)]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": body["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def error(sentence: str, status: int = 400) -> dict[str, Json]:
    """Return an error in Anthropic's envelope, with the type that matches its status."""
    kind = _ERROR_TYPES.get(status, "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": sentence}}


def refusal(size: RequestSize, limit_tokens: int) -> dict[str, Json]:
    """Return Anthropic's refusal of a request that is too large, by itself or together with the reply."""
    if size.input_tokens > limit_tokens:
        return error(f"prompt is too long: {size.input_tokens} tokens > {limit_tokens} maximum")
    return error(
        f"input length and `max_tokens` exceed context limit: {size.input_tokens} + {size.reply_tokens} > {limit_tokens}, "
        "decrease input length or `max_tokens` and try again"
    )


def models(name: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the list of models and the single model on it."""
    model: dict[str, Json] = {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
    return {"data": [model], "has_more": False, "first_id": name, "last_id": name}, model


def reply_fault(request: dict[str, Json]) -> str | None:
    """Return what is wrong with `max_tokens`, which is required and has to leave room after the thinking."""
    asked = request.get("max_tokens")
    if asked is None:
        return "max_tokens: Field required"
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1:
        return f"max_tokens: expected a whole number of at least 1, but got {asked!r} instead"
    budget = field(request, "thinking", "budget_tokens")
    if isinstance(budget, int) and asked <= budget:
        return "`max_tokens` must be greater than `thinking.budget_tokens`"
    return None


def unkept(request: dict[str, Json]) -> dict[str, Json] | None:
    """Return the error for a request in a thread. The SDK's tool runner begins one by itself, and goes on without it after this."""
    if request.get("thread") is None:
        return None
    told = error("thread: no conversation is kept here, send all of it without a thread")
    return {**told, "error": {**told["error"], "details": {"error_code": "thread_unsupported_request"}}}
