"""How does Gemini's API write answers, streams, errors and refusals? For test doubles of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.wires.gemini.keys import get
from penstock.wires.stream import data_event, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json
    from penstock.wires.wire import AnswerContent, RequestSize

_STATUSES = {
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    502: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_LIMIT = "max_output_tokens must be positive"


def answer(content: AnswerContent) -> dict[str, Json]:
    """Return an answer of one candidate."""
    parts: list[Json] = [{"text": content.text}] if content.text or not content.calls else []
    for n, (name, arguments) in enumerate(content.calls, 1):
        call = {"id": f"call_{content.number}_{n}", "name": name, "args": json.loads(arguments)}
        parts.append({"functionCall": call})
    usage = {
        "promptTokenCount": content.input_tokens,
        "candidatesTokenCount": content.output_tokens,
        "totalTokenCount": content.input_tokens + content.output_tokens,
    }
    return {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage,
        "modelVersion": content.model,
        "responseId": f"resp-{content.number}",
    }


def answer_events(body: dict[str, Json], request: dict[str, Json]) -> Iterator[bytes]:
    """Yield an answer as chunks, the stop reason and the usage in the last."""
    del request
    head = {key: body[key] for key in ("modelVersion", "responseId")}
    candidate = body["candidates"][0]
    for part in candidate["content"]["parts"]:
        for piece in _pieces(part):
            content = {"parts": [piece], "role": "model"}
            yield data_event({"candidates": [{"content": content, "index": 0}], **head})
    # A content without parts, as the API may end its streams: readers have to accept it.
    last = {**candidate, "content": {"role": "model"}}
    yield data_event({"candidates": [last], "usageMetadata": body["usageMetadata"], **head})


def _pieces(part: dict[str, Json]) -> Iterator[Json]:
    if "text" not in part:
        yield part
        return
    for piece in pieces_of(part["text"]):
        yield {"text": piece}


def error_events(body: dict[str, Json], number: int) -> Iterator[bytes]:
    """Yield an error of a stream that began with HTTP 200."""
    del number
    yield data_event({"error": body.get("error", body)})


def error(sentence: str, status: int = 400) -> dict[str, Json]:
    """Return an error in Google's envelope."""
    return {"error": {"code": status, "message": sentence, "status": _STATUSES.get(status, "INVALID_ARGUMENT")}}


def refusal(size: RequestSize, limit_tokens: int) -> dict[str, Json]:
    """Return Google's refusal of a request that is too large, with its numbers."""
    return error(
        f"The input token count ({size.input_tokens}) exceeds the maximum number of tokens allowed ({limit_tokens})."
    )


def models(name: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the list of models and the single model on it."""
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    model: dict[str, Json] = {
        "name": f"models/{name}",
        "displayName": name,
        "supportedGenerationMethods": methods,
    }
    return {"models": [model]}, model


def reply_fault(request: dict[str, Json]) -> str | None:
    """Return what is wrong with `maxOutputTokens`."""
    asked = get(get(request, "generationConfig"), "maxOutputTokens")
    if asked is not None and (not isinstance(asked, int) or isinstance(asked, bool) or asked < 1):
        return f"* GenerateContentRequest.generation_config.max_output_tokens: {_LIMIT}, not {asked!r}"
    return None
