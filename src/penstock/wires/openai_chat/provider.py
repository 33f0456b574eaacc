"""How does OpenAI's chat completions API write answers, streams, errors and refusals? For test doubles of it.

Everything that a client's own SDK looks at is present, under its name and in order; the rest is constant, so that the same
conversation gives the same bytes. The wording of refusals is the provider's, with its numbers. Leaves to others: HTTP (`testing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.wires.stream import data_event, pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json
    from penstock.wires.wire import AnswerContent, RequestSize

REPLY_KEYS = ("max_completion_tokens", "max_tokens")
"""The names under which a request may ask for a reply length, the newer first."""


def answer(content: AnswerContent) -> dict[str, Json]:
    """Return an answer as the completion that the API sends unstreamed."""
    message: Json = {
        "role": "assistant",
        "content": content.text or None if content.calls else content.text,
        "refusal": None,
    }
    if content.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{content.number}_{n}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for n, (name, arguments) in enumerate(content.calls, 1)
        ]
    reason = "tool_calls" if content.calls else "stop"
    return {
        "id": f"chatcmpl-{content.number}",
        "object": "chat.completion",
        "created": 0,
        "model": content.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": content.input_tokens,
            "completion_tokens": content.output_tokens,
            "total_tokens": content.input_tokens + content.output_tokens,
        },
    }


def answer_events(body: dict[str, Json], request: dict[str, Json]) -> Iterator[bytes]:
    """Yield a completion as chunks; the usage comes if the request asks for it."""
    options = request.get("stream_options")
    for chunk in _chunks(body, with_usage=isinstance(options, dict) and options.get("include_usage") is True):
        yield data_event(chunk)
    yield b"data: [DONE]\n\n"


def _chunks(body: dict[str, Json], *, with_usage: bool) -> Iterator[Json]:
    """Yield the chunks of a completion: role, words in pieces, each call and its arguments in pieces, reason, usage."""
    head = {key: body[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = body["choices"][0]
    message = choice["message"]

    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": None if message["content"] is None else ""})
    for piece in pieces_of(message["content"] or ""):
        yield chunk({"content": piece})
    for index, call in enumerate(message.get("tool_calls", [])):
        # Id, type and name come once, with the call's first piece; later pieces are identified by its index.
        function = {"name": call["function"]["name"], "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, **call, "function": function}]})
        for piece in pieces_of(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    # After the stop reason, in a chunk without choices: a client that stops at the reason never sees it.
    if with_usage:
        yield {**head, "choices": [], "usage": body["usage"]}


def error_events(body: dict[str, Json], number: int) -> Iterator[bytes]:
    """Yield an error of a stream that began with HTTP 200."""
    del number
    yield data_event({"error": body.get("error", body)})
    yield b"data: [DONE]\n\n"


def error(sentence: str, status: int = 400, *, param: str | None = None, code: str | None = None) -> dict[str, Json]:
    """Return an error in OpenAI's envelope."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": sentence, "type": kind, "param": param, "code": code}}


def refusal(size: RequestSize, limit_tokens: int) -> dict[str, Json]:
    """Return OpenAI's refusal of a request that is too large, with its numbers.

    If no reply was asked for, the API words it differently ("your messages resulted in N tokens"), and parts of zero are left out.
    """
    window = f"This model's maximum context length is {limit_tokens} tokens. However, "
    parts = [(size.prompt_tokens, "messages"), (size.tools_tokens, "functions"), (size.reply_tokens, "completion")]
    shown = [(count, name) for count, name in parts if count or name == "messages"]
    listed = _listed([f"{count} in the {name}" for count, name in shown], "and")
    advice = f"Please reduce the length of the {_listed([name for _, name in shown], 'or')}."
    if size.reply_tokens:
        total = size.input_tokens + size.reply_tokens
        sentence = f"{window}you requested {total} tokens ({listed}). {advice}"
    else:
        by_part = f" ({listed})" if size.tools_tokens else ""
        sentence = f"{window}your messages resulted in {size.input_tokens} tokens{by_part}. {advice}"
    return error(sentence, param="messages", code="context_length_exceeded")


def _listed(words: list[str], last: str) -> str:
    """Return words in a row as OpenAI lists things."""
    if len(words) < 3:
        return (f" {last} " if last == "or" else ", ").join(words)
    return f"{', '.join(words[:-1])}, {last} {words[-1]}"


def models(name: str) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return the list of models and the single model on it."""
    model: dict[str, Json] = {"id": name, "object": "model", "created": 0, "owned_by": "penstock"}
    return {"object": "list", "data": [model]}, model


def reply_fault(request: dict[str, Json], keys: tuple[str, ...] = REPLY_KEYS, min_tokens: int = 1) -> str | None:
    """Return what is wrong with the reply length that a request asks for; None if nothing is."""
    for name in keys:
        asked = request.get(name)
        if asked is not None and (not isinstance(asked, int) or isinstance(asked, bool) or asked < min_tokens):
            return f"{name}: expected a whole number of at least {min_tokens}, but got {asked!r} instead"
    return None
