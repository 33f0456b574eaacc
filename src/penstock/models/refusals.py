"""How does a provider refuse? The bodies of OpenAI, Anthropic and three generations of vLLM, in their own words.

Law: `penstock.overflow` reads from each body what was refused, with exactly the numbers that it states. Keeps out: when to refuse
is `exceeds`, but who counts, and over what, is the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from penstock.models.sizes import Size
    from penstock.transcript.shapes import Json

Form = Literal["openai", "anthropic", "vllm", "vllm-input", "vllm-lower-bound"]
"""`vllm` is as it was to 0.10, `vllm-input` from then on; `vllm-lower-bound` is the newest, which counts up to its limit only."""

FORMS: tuple[Form, ...] = ("openai", "anthropic", "vllm", "vllm-input", "vllm-lower-bound")


def form_of(wire: str) -> Form:
    """How the provider that made the wire refuses."""
    return "anthropic" if wire == "anthropic" else "openai"


def exceeds(size: Size, limit_tokens: int, form: Form, wire: str) -> bool:
    """Whether such a provider refuses a request of that size; all but OpenAI's responses count the reply that is asked."""
    reply = 0 if form == "openai" and wire == "openai-responses" else size.reply_tokens
    return size.input_tokens + reply > limit_tokens


def refusal(size: Size, limit_tokens: int, form: Form, wire: str) -> Json:
    """The body of HTTP 400 for a request that `exceeds`."""
    match form:
        case "anthropic":
            return error(_anthropic(size, limit_tokens), form)
        case "openai":
            field, sentence = "messages", _openai(size, limit_tokens)
            if wire == "openai-responses":
                field, sentence = "input", _NO_NUMBERS
            return error(sentence, form, param=field, code="context_length_exceeded")
        case "vllm":
            return error(_vllm(size, limit_tokens), form)
        case "vllm-input":
            return error(_vllm_input(size, limit_tokens), form)
        case "vllm-lower-bound":
            return error(_vllm_lower_bound(size, limit_tokens), form)


_TYPES = {404: "not_found_error", 413: "request_too_large"}


def error(sentence: str, form: Form, status: int = 400, *, param: str | None = None, code: str | None = None) -> Json:
    """An error of any kind in the envelope of that provider."""
    if form == "anthropic":
        kind = _TYPES.get(status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": sentence}}
    if form == "openai":
        return {"error": {"message": sentence, "type": "invalid_request_error", "param": param, "code": code}}
    told = {"message": sentence, "type": "NotFoundError" if status == 404 else "BadRequestError", "param": param}
    return {"object": "error", **told, "code": status} if form == "vllm" else {"error": {**told, "code": status}}


_NO_NUMBERS = "Your input exceeds the context window of this model. Please adjust your input and try again."


def _openai(size: Size, limit: int) -> str:
    window = f"This model's maximum context length is {limit} tokens. However, "
    parts = [(size.prompt_tokens, "messages"), (size.tools_tokens, "functions"), (size.reply_tokens, "completion")]
    shown = [(count, name) for count, name in parts if count or name == "messages"]
    listed = _row([f"{count} in the {name}" for count, name in shown], "and")
    reduced = f"Please reduce the length of the {_row([name for _, name in shown], 'or')}."
    if size.reply_tokens:
        total = size.input_tokens + size.reply_tokens
        return f"{window}you requested {total} tokens ({listed}). {reduced}"
    listed = f" ({listed})" if size.tools_tokens else ""
    return f"{window}your messages resulted in {size.input_tokens} tokens{listed}. {reduced}"


def _row(words: list[str], last: str) -> str:
    """As OpenAI lists things."""
    if len(words) < 3:
        return (f" {last} " if last == "or" else ", ").join(words)
    return f"{', '.join(words[:-1])}, {last} {words[-1]}"


def _anthropic(size: Size, limit: int) -> str:
    if size.input_tokens > limit:
        return f"prompt is too long: {size.input_tokens} tokens > {limit} maximum"
    return (
        f"input length and `max_tokens` exceed context limit: {size.input_tokens} + {size.reply_tokens} > {limit}, "
        "decrease input length or `max_tokens` and try again"
    )


def _vllm(size: Size, limit: int) -> str:
    window = f"This model's maximum context length is {limit} tokens. However, you requested "
    if not size.reply_tokens:
        return f"{window}{size.input_tokens} tokens in the messages, Please reduce the length of the messages."
    return (
        f"{window}{size.input_tokens + size.reply_tokens} tokens ({size.input_tokens} in the messages, "
        f"{size.reply_tokens} in the completion). Please reduce the length of the messages or completion."
    )


def _vllm_input(size: Size, limit: int) -> str:
    window = f"This model's maximum context length is {limit} tokens"
    if size.input_tokens > limit:
        return (
            f"{window}. However, your request has {size.input_tokens} input tokens. "
            "Please reduce the length of the input messages."
        )
    return (
        f"'max_tokens' or 'max_completion_tokens' is too large: {size.reply_tokens}. {window} and your request has "
        f"{size.input_tokens} input tokens ({size.reply_tokens} > {limit} - {size.input_tokens})."
    )


def _vllm_lower_bound(size: Size, limit: int) -> str:
    if size.reply_tokens > limit:
        return (
            f"max_tokens={size.reply_tokens} cannot be greater than max_model_len=max_total_tokens={limit}. "
            f"Please request fewer output tokens. (parameter=max_tokens, value={size.reply_tokens})"
        )
    counted = limit - size.reply_tokens + 1  # its tokenizer is told to stop there
    return (
        f"This model's maximum context length is {limit} tokens. However, you requested {size.reply_tokens} output tokens "
        f"and your prompt contains at least {counted} input tokens, for a total of at least {limit + 1} tokens. Please reduce "
        "the length of the input prompt or the number of requested output tokens. "
        f"(parameter=input_tokens, value={counted})"
    )
