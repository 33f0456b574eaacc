"""How do servers word refusals? As each wire's own provider does, or as three generations of vLLM on OpenAI's wire.

A test may also word a refusal itself, with a function of the counted size and the limit.

vLLM's wording has changed with what it counts: first input and reply together, then the input alone, now the input only up to
its limit. Source: vLLM's own code. Law: `penstock.overflow` reads from each body what was refused, with exactly the numbers that
the body states. Leaves to others: who counts and against which limit, which is the caller's part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from penstock.wires.table import WIRES, wire_named
from penstock.wires.wire import RequestSize

if TYPE_CHECKING:
    from penstock.text.json_access import Json

RefusalForm: TypeAlias = str | Callable[[RequestSize, int], "str | dict[str, Json]"]
"""How a double words its refusals: one of `FORMS`, or a function of the size and the limit that returns a sentence for the
wire's own envelope, or its own body.
"""
FORMS = (
    *dict.fromkeys(wire_named(wire).double.provider for wire in WIRES),
    "vllm",  # up to 0.10
    "vllm-input",  # from 0.10 on
    "vllm-lower-bound",  # the present one: it counts only up to its limit
)
"""The names of all forms: the providers of the wires, then the generations of vLLM."""


class Refuser(NamedTuple):
    """How one server refuses: the error in its envelope, and the refusal of a request that is too large."""

    error: Callable[[str, int], dict[str, Json]]
    refusal: Callable[[RequestSize, int], dict[str, Json]]
    counts_reply: bool
    """Whether the requested reply counts towards the window."""

    def exceeds(self, size: RequestSize, limit_tokens: int) -> bool:
        """Whether such a server refuses a request of that size."""
        return size.input_tokens + (size.reply_tokens if self.counts_reply else 0) > limit_tokens


def refuser(wire: str, form: RefusalForm | None = None) -> Refuser:
    """Return how a server on that wire refuses.

    Args:
        wire: the name of the wire.
        form: whose wording, one of `FORMS` or a function; None for the wire's own provider.
    """
    if callable(form):
        return _worded(wire, form)
    if form == "vllm":
        return Refuser(_flat_error, lambda size, limit: _flat_error(_vllm(size, limit), 400), True)
    if form == "vllm-input":
        return Refuser(_error, lambda size, limit: _error(_vllm_input(size, limit), 400), True)
    if form == "vllm-lower-bound":
        return Refuser(_error, lambda size, limit: _error(_vllm_lower_bound(size, limit), 400), True)
    doubles = [wire_named(name).double for name in (wire, *WIRES)]
    double = next(double for double in doubles if form in {None, double.provider})
    return Refuser(double.error, double.refusal, double.counts_reply)


def _worded(wire: str, form: Callable[[RequestSize, int], str | dict[str, Json]]) -> Refuser:
    """Return how a server with a test's own wording refuses: in the wire's own envelope, unless the test gives a body."""
    double = wire_named(wire).double

    def refusal(size: RequestSize, limit_tokens: int) -> dict[str, Json]:
        said = form(size, limit_tokens)
        return double.error(said, 400) if isinstance(said, str) else said

    return Refuser(double.error, refusal, double.counts_reply)


def _told(sentence: str, status: int) -> dict[str, Json]:
    """Return the fields that both of vLLM's envelopes hold."""
    return {"message": sentence, "type": "NotFoundError" if status == 404 else "BadRequestError", "param": None}


def _flat_error(sentence: str, status: int) -> dict[str, Json]:
    """Return an error of vLLM up to 0.10: the body is the error."""
    return {"object": "error", **_told(sentence, status), "code": status}


def _error(sentence: str, status: int) -> dict[str, Json]:
    """Return an error of vLLM since then: under `error`, as in OpenAI's API."""
    return {"error": {**_told(sentence, status), "code": status}}


def _vllm(size: RequestSize, limit: int) -> str:
    """Return the sentence of vLLM up to 0.10, which counts input and reply; the comma before "Please" is vLLM's."""
    window = f"This model's maximum context length is {limit} tokens. However, you requested "
    if not size.reply_tokens:
        return f"{window}{size.input_tokens} tokens in the messages, Please reduce the length of the messages."
    return (
        f"{window}{size.input_tokens + size.reply_tokens} tokens ({size.input_tokens} in the messages, "
        f"{size.reply_tokens} in the completion). Please reduce the length of the messages or completion."
    )


def _vllm_input(size: RequestSize, limit: int) -> str:
    """Return the sentence of vLLM from 0.10 on: the input alone, or a reply that is too long next to it."""
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


def _vllm_lower_bound(size: RequestSize, limit: int) -> str:
    """Return the sentence of vLLM at present, which counts the input only up to one token above what fits."""
    if size.reply_tokens > limit:
        return (
            f"max_tokens={size.reply_tokens} cannot be greater than max_model_len=max_total_tokens={limit}. "
            f"Please request fewer output tokens. (parameter=max_tokens, value={size.reply_tokens})"
        )
    # vLLM's tokenizer is told to stop one token above what the reply leaves of the window, and that is the count it reports.
    counted = limit - size.reply_tokens + 1
    return (
        f"This model's maximum context length is {limit} tokens. However, you requested {size.reply_tokens} output tokens "
        f"and your prompt contains at least {counted} input tokens, for a total of at least {limit + 1} tokens. Please reduce "
        "the length of the input prompt or the number of requested output tokens. "
        f"(parameter=input_tokens, value={counted})"
    )
