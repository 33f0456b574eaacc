"""How does Bedrock's Converse API write answers, streams, errors and refusals? For test doubles of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.text.json_access import field
from penstock.wires.bedrock.frames import frame
from penstock.wires.stream import pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json
    from penstock.wires.wire import AnswerContent, RequestSize

_ERRORS = {
    401: "AccessDeniedException",
    404: "ResourceNotFoundException",
    502: "ServiceUnavailableException",
    504: "ModelTimeoutException",
}


def answer(content: AnswerContent) -> dict[str, Json]:
    """Return an answer."""
    blocks: list[Json] = [{"text": content.text}] if content.text else []
    for n, (name, arguments) in enumerate(content.calls, 1):
        call = {"toolUseId": f"tooluse_{content.number}_{n}", "name": name, "input": json.loads(arguments)}
        blocks.append({"toolUse": call})
    return {
        "output": {"message": {"role": "assistant", "content": blocks}},
        "stopReason": "tool_use" if content.calls else "end_turn",
        "usage": {
            "inputTokens": content.input_tokens,
            "outputTokens": content.output_tokens,
            "totalTokens": content.input_tokens + content.output_tokens,
        },
        "metrics": {"latencyMs": 1},
    }


def answer_events(body: dict[str, Json], request: dict[str, Json]) -> Iterator[bytes]:
    """Yield an answer as the frames of its stream's events."""
    del request
    for kind, payload in _events(body):
        headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
        yield frame(headers, payload)


def _events(body: dict[str, Json]) -> Iterator[tuple[str, Json]]:
    yield "messageStart", {"role": "assistant"}
    for index, block in enumerate(body["output"]["message"]["content"]):
        place = {"contentBlockIndex": index}
        if "text" in block:
            # Words have no `contentBlockStart`, as in the API: readers have to begin the block with its first delta.
            for piece in pieces_of(block["text"]):
                yield "contentBlockDelta", {"delta": {"text": piece}, **place}
        else:
            call = block["toolUse"]
            started = {"toolUse": {key: call[key] for key in ("toolUseId", "name")}}
            yield "contentBlockStart", {"start": started, **place}
            for piece in pieces_of(json.dumps(call["input"])):
                yield "contentBlockDelta", {"delta": {"toolUse": {"input": piece}}, **place}
        yield "contentBlockStop", place
    yield "messageStop", {"stopReason": body["stopReason"]}
    yield "metadata", {"usage": body["usage"], "metrics": body["metrics"]}


def error_events(body: dict[str, Json], number: int) -> Iterator[bytes]:
    """Yield an error of a stream that began with HTTP 200."""
    del number
    kind = {":exception-type": "validationException", ":content-type": "application/json", ":message-type": "exception"}
    yield frame(kind, body)


def error(sentence: str, status: int = 400) -> dict[str, Json]:
    """Return an error as AWS's REST APIs write it, except that its kind, a header there, is in the body here."""
    return {"message": sentence, "__type": _ERRORS.get(status, "ValidationException")}


def refusal(size: RequestSize, limit_tokens: int) -> dict[str, Json]:
    """Return Bedrock's refusal of a request that is too large; in its own words, which state no numbers."""
    del size, limit_tokens
    return error("Input is too long for requested model.")


def models(name: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the list of models and the single model on it, as the control plane returns them."""
    model: dict[str, Json] = {"modelId": name, "modelName": name, "providerName": "Penstock"}
    return {"modelSummaries": [model]}, {"modelDetails": model}


def reply_fault(request: dict[str, Json]) -> str | None:
    """Return what is wrong with `maxTokens`, which has to leave room after the thinking."""
    asked = field(request, "inferenceConfig", "maxTokens")
    if asked is None:
        return None
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1:
        return f"Value at 'inferenceConfig.maxTokens' failed to satisfy constraint: at least 1, not {asked!r}"
    budget = field(request, "additionalModelRequestFields", "thinking", "budget_tokens")
    if isinstance(budget, int) and asked <= budget:
        return "The model returned the following errors: `max_tokens` must be greater than `thinking.budget_tokens`"
    return None
