"""Which refusals can be generated without end from other numbers, spellings, surrounding words and wrappings?

The result is deterministic for the given `random.Random`. Each form knows its numbers, so that a reading can be called right,
absent or wrong.
"""

# ruff: noqa: E501 - sentences as they come

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

# {L} limit, {I} input, {O} output, {T} total, {E} excess, {P} and {Q} parts of the input
INPUT_ONLY = (
    "This model's maximum context length is {L} tokens. However, your messages resulted in {I} tokens. Please reduce the length of the messages.",
    "This model's maximum context length is {L} tokens. However, your request has {I} input tokens. Please reduce the length of the input messages.",
    "This model's maximum prompt length is {L} but the request contains {I} tokens.",
    "prompt is too long: {I} tokens > {L} maximum",
    "The prompt is too long: {I}, model maximum context length: {L}",
    "The input token count ({I}) exceeds the maximum number of tokens allowed ({L}).",
    "Unable to submit request because the input token count is {I} but model only supports up to {L}. Reduce the input token count and try again.",
    "Prompt contains {I} tokens and 0 draft tokens, too large for model with {L} maximum context length",
    "The input ({I} tokens) is longer than the model's context length ({L} tokens).",
    "Input length ({I} tokens) exceeds the maximum allowed length ({L} tokens). Use a shorter input or enable --allow-auto-truncate.",
    "Input validation error: `inputs` must have less than {L} tokens. Given: {I}",
    "request ({I} tokens) exceeds the available context size ({L} tokens), try increasing it",
    "prompt token count of {I} exceeds the limit of {L}",
    "Too many input tokens. Max input tokens: {L}, request input token count: {I}",
    "the number of input tokens {I} cannot exceed the total tokens limit {L} for this model",
    "Requested input length {I} exceeds maximum input length {L}",
    "Messages have {I} tokens, which exceeds the max limit of {L} tokens.",
    "The decoder prompt (length {I}) is longer than the maximum model length of {L}.",
    "Prompt has {I} tokens, but the configured context size is {L} tokens",
    "Token sequence length exceeds limit ({I} > {L})",
    "Please reduce the length of the messages or completion. Current length is {I} while limit is {L}",
    "Input tokens exceed the configured limit of {L} tokens. Your messages resulted in {I} tokens.",
    "Requested tokens ({I}) exceed context window of {L}",
    "Your prompt has {I} tokens; the context window of this model holds {L} tokens.",
    "context_length_exceeded: {I} tokens > {L} max",
    "The context window is {L} tokens, but your prompt is {I} tokens long.",
    "Input too long. Limit: {L} tokens. Received: {I} tokens.",
    "A prompt of {I} tokens does not fit in the context length of {L} tokens.",
    "Maximum input length is {L} tokens, got {I} tokens.",
    "your conversation contains {I} tokens, exceeding the model's context limit of {L}",
    "input tokens: {I}, maximum context length: {L}: context length exceeded",
    "输入长度 {I} 超过模型最大上下文长度 {L}",
)
PARTS = (
    (
        "This model's maximum context length is {L} tokens. However, your messages resulted in {I} tokens ({P} in the messages, {Q} in the functions). "
        "Please reduce the length of the messages or functions."
    ),
)
WITH_OUTPUT = (
    (
        "This model's maximum context length is {L} tokens. However, you requested {T} tokens ({I} in the messages, {O} in the completion). "
        "Please reduce the length of the messages or completion."
    ),
    "This model's maximum context length is {L} tokens, however you requested {T} tokens ({I} in your prompt; {O} for the completion).",
    "input length and `max_tokens` exceed context limit: {I} + {O} > {L}, decrease input length or `max_tokens` and try again",
    "`inputs` tokens + `max_new_tokens` must be <= {L}. Given: {I} `inputs` tokens and {O} `max_new_tokens`",
    (
        "Requested token count exceeds the model's maximum context length of {L} tokens. You requested a total of {T} tokens: {I} tokens from the input messages "
        "and {O} tokens for the completion."
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: {O}. This model's maximum context length is {L} tokens and your request has {I} input tokens "
        "({O} > {L} - {I})."
    ),
    "This model's maximum context length is {L} tokens. However, you requested {O} output tokens and your prompt contains {I} input tokens, for a total of {T} tokens.",
    "Prompt length ({I} tokens) + max_tokens ({O}) exceeds model context length ({L} tokens)",
    "The sum of input tokens ({I}) and max_output_tokens ({O}) exceeds the context window of {L} tokens.",
    "You asked for {O} completion tokens and sent {I} prompt tokens, more than the context length of {L} tokens.",
)
TOTAL_ONLY = (
    "Your request exceeded model token limit: {L} (requested: {T})",
    "the total number of tokens (prompt and prediction) cannot exceed {L} - received {T}. Try using a shorter prompt.",
    "This model's maximum context length is {L} tokens. However, you requested {T} tokens. Please reduce the length.",
)
EXCESS_ONLY = (
    "prompt too long; exceeded max context length by {E} tokens",
    "The input exceeds the context window by {E} tokens.",
)
LIMIT_ONLY = (
    "The input token count exceeds the maximum number of tokens allowed ({L}).",
    "Range of input length should be [1, {L}]",
    "The number of tokens in the prompt exceeds the model's maximum context length of {L}. Please use a shorter prompt.",
    "exceed max message tokens: {L}",
)
NOTHING = (
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Input is too long for requested model.",
    "the request exceeds the available context size, try increasing it",
    "Prompt exceeds max length",
    "Total tokens of image and text exceed max message tokens.",
)
SENTENCES = INPUT_ONLY + PARTS + WITH_OUTPUT + TOTAL_ONLY + EXCESS_ONLY + LIMIT_ONLY + NOTHING


class Form(NamedTuple):
    """One refusal: what arrives, and the numbers that were written into it."""

    error: Any
    numbers: dict[str, int | None]
    sentence: str
    wrapping: str


def make(random: Random) -> Form:
    """Return one of all possible forms."""
    sentence = random.choice(SENTENCES)
    values = _values(sentence, random)
    style = random.choice(STYLES)
    words = sentence.format(**{name: style(value) for name, value in values.items()})
    if random.random() < 0.3:
        words = random.choice((str.upper, str.capitalize, lambda text: text.replace("'", "\u2019")))(words)
    words = random.choice(BEFORE) + words + random.choice(AFTER)
    wrapping = random.choice(tuple(WRAPPINGS))
    numbers = {
        "limit": values["L"] if "{L}" in sentence else None,
        "input": values["I"] if "{I}" in sentence else None,
        "output": values["O"] if "{O}" in sentence else None,
        "total": values["T"] if "{T}" in sentence else None,
        "excess": values["E"],
    }
    if not ("{E}" in sentence or ("{L}" in sentence and ("{I}" in sentence or "{T}" in sentence))):
        numbers["excess"] = None
    return Form(WRAPPINGS[wrapping](words, random), numbers, sentence, wrapping)


def _values(sentence: str, random: Random) -> dict[str, int]:
    limit = random.choice(
        (
            4096,
            4097,
            8192,
            16385,
            32768,
            128000,
            131072,
            200000,
            204648,
            262144,
            1048576,
            random.randint(2000, 2_000_000),
        )
    )
    output = random.choice((256, 1000, 4096, 8192, random.randint(1, 64000)))
    if "{O}" in sentence:
        given = random.randint(max(1, limit - output + 1), limit + random.choice((0, limit)))
    else:
        given, output = limit + random.choice((1, 62, 900, 5000, random.randint(1, 3_000_000))), 0
    part = random.randint(1, given - 1) if given > 1 else 1
    return {
        "L": limit,
        "I": given,
        "O": output,
        "T": given + output,
        "E": given + output - limit,
        "P": part,
        "Q": given - part,
    }


STYLES: tuple[Callable[[int], str], ...] = (str, str, str, "{:,}".format, "{:_}".format)
BEFORE = (
    "",
    "",
    "Error code: 400 - ",
    "400 ",
    "<400> InternalError.Algo.InvalidParameter: ",
    "litellm.BadRequestError: OpenAIException - ",
    "An error occurred (ValidationException) when calling the InvokeModel operation: ",
    "[2026-03-09 12:31:07] gpt-4-32k-0613: ",
    "Upstream error from DeepInfra: ",
    "messages.108.content.3: ",
    "❌ Request failed after 3 retries: ",
)
AFTER = (
    "",
    "",
    " (request id: 20250410081234882004792D8t0P2P0)",
    " Request ID: 9251f066-a420-483b-b3ae-7485084f6dc6",
    " Received Model Group=qwen3.8-27b-nvfp4",
    " See https://platform.example.com/docs/rate-limits?page=12345 for more information.",
    " Available Model Group Fallbacks=None LiteLLM Retried: 1 times, LiteLLM Max Retries: 2",
    " {'provider_name': 'Chutes', 'status': 400}",
    " at 2026-11-21T04:32:10Z",
)


class _Raised(Exception):
    """An exception as SDKs raise it: a message, a parsed body, a response."""

    def __init__(self, message: str, body: object = None, status_code: int = 400) -> None:
        super().__init__(message)
        self.message, self.body, self.status_code = message, body, status_code
        self.response = SimpleNamespace(
            status_code=status_code, headers={"x-request-id": "123456"}, content=json.dumps(body).encode()
        )


def _caused(words: str) -> Exception:
    outer = RuntimeError("Error while generating output")
    outer.__cause__ = _Raised(words, {"message": words})
    return outer


def _cut(words: str) -> str:
    whole = json.dumps(
        {"error": {"type": "invalid_request_error", "message": words, "param": "messages", "details": ["x" * 40] * 3}}
    )
    return whole[: whole.index('"param"') + 9]


def _envelope(words: str) -> dict[str, Any]:
    return {"error": {"message": words, "type": "invalid_request_error", "param": "messages", "code": None}}


WRAPPINGS: dict[str, Callable[[str, Random], Any]] = {
    "text": lambda words, _: words,
    "bytes": lambda words, _: words.encode(),
    "dict": lambda words, _: _envelope(words),
    "json": lambda words, _: json.dumps(_envelope(words)),
    "flat json": lambda words, _: json.dumps({"object": "error", "message": words, "code": 400}),
    "json in json": lambda words, _: json.dumps(
        {
            "error": {
                "message": "Provider returned error",
                "code": 400,
                "metadata": {"raw": json.dumps(_envelope(words))},
            }
        }
    ),
    "json in json in json": lambda words, _: json.dumps(
        {"error_code": "BAD_REQUEST", "message": json.dumps({"message": json.dumps(_envelope(words))})}
    ),
    "repr": lambda words, _: f"Error code: 400 - {_envelope(words)!r}",
    "repr in json": lambda words, _: json.dumps(
        {"detail": f"openai.BadRequestError: Error code: 400 - {_envelope(words)!r}"}
    ),
    "text and json": lambda words, _: f"Reason: Request Failed: 400 {json.dumps(_envelope(words))}",
    "event": lambda words, _: f"event: error\ndata: {json.dumps(_envelope(words))}\n\ndata: [DONE]\n\n",
    "cut": lambda words, _: _cut(words),
    "list": lambda words, _: [_envelope(words)],
    "exception": lambda words, _: _Raised(f"Error code: 400 - {_envelope(words)!r}", _envelope(words)["error"]),
    "cause": lambda words, _: _caused(words),
    "aws": lambda words, _: SimpleNamespace(
        response={
            "Error": {"Code": "ValidationException", "Message": words},
            "ResponseMetadata": {"HTTPStatusCode": 400},
        }
    ),
    "twice": lambda words, _: str(
        {"error": {"message": words, "errors": [{"message": words, "reason": "badRequest"}]}}
    ),
    "message and body": lambda words, _: f"{words} {json.dumps(_envelope(words))}",
    "html": lambda words, _: f"<html><body><p>{words.replace('>', '&gt;').replace(chr(39), '&#39;')}</p></body></html>",
    "large": lambda words, random: words + "\n" + "lorem ipsum dolor sit amet " * random.randint(1000, 20000),
}
