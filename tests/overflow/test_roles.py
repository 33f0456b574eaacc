"""Which role do the words around a number give it, and what is made of bodies of every code, sentence and status?

`roles.txt` and `verdicts.txt` have the reviewed answers; `WRITE_TABLES=1` rewrites them.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.tables import check_table

from penstock.overflow import diagnose
from penstock.overflow.numbers import bind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.overflow.bound import Bound

ROLES = Path(__file__).with_name("roles.txt")
VERDICTS = Path(__file__).with_name("verdicts.txt")

_BEFORE = (
    "",
    "(",
    "the prompt has",
    "the maximum is",
    "the maximum context length is",
    "the prompt exceeds the limit of",
    "the request exceeds",
    "the request exceeds the window by",
    "the request exceeds the window with",
    "a model with",
    "tokens:",
    "error",
    "line 4, column",
    "request",
    "shorten it to",
    "shorten the output to",
    "limit=",
    "prompt=",
    "requested",
    "you sent",
    "prompt tokens + max_tokens (",
    "answering your request will take",
    "it was not less than max_tokens (",
    "max_tokens is",
    "the input of at most",
    "the input exceeds the window:",
    "at most:",
    "only",
    "this leaves",
    "the prompt is long. its size is",
    "too long: the limit is 8192, the input is",
    "the context window is 8192, resulting in a maximum input length of",
    "die anfrage hat",
    "limite dépassée :",
    "the prompt is too long, and then",
    "the input and the completion of",
    "max input characters is",
)
_BEHIND = (
    "",
    "tokens",
    "tokens in the prompt",
    "tokens in the messages, 100 in the functions",
    "tokens in the completion",
    "tokens over the limit",
    "tokens maximum",
    "tokens context window",
    "tokens > 8192",
    "tokens > 8192 maximum",
    "tokens, limit: 8192",
    "+ 4000 > 8192",
    "tokens remaining",
    "characters",
    "bytes",
    "input tokens",
    "total tokens",
    "tokens requested",
    "tokens were provided",
    "output tokens",
    "of 8192",
    ") is more than the context window of 8192 tokens",
    "トークンを超過",
)


def _told(bound: Bound) -> str:
    """Return the numbers that are present, in few words."""
    named = (f"{name[0]}{value}" for name, value in zip(bound._fields[:5], bound, strict=False) if value is not None)
    return " ".join([*named, *({bound.bound, bound.unit} - {"exact", "tokens"})]) or "nothing"


def _grouped(found: dict[str, list[str]]) -> str:
    return "; ".join(f"{said}: {' '.join(names)}" for said, names in found.items())


def roles() -> Iterator[str]:
    """Yield a line for the words before a number: what the words after it make of it, by their places in `_BEHIND`."""
    for before in _BEFORE:
        found: dict[str, list[str]] = {}
        for at, behind in enumerate(_BEHIND):
            found.setdefault(_told(bind(f"{before} 9000 {behind}".strip())), []).append(str(at))
        yield f"{before or 'nothing'}: {_grouped(found)}"
    for first, second in product(_BEFORE[::3], _BEFORE[::2]):
        if (said := _told(bind(f"{first} 9000. {second} 8192"))) != _told(bind(f"{first} 9000")):
            yield f"{first} 9000. {second} 8192: {said}"
    for words in ("input", "max_tokens of this input", "messages", "output", "max_tokens", "temperature", ""):
        yield f"{words} should be [1, 8192]: {_told(bind(f'range of {words} should be [1, 8192]'))}"
    for had, limit, words in product((16, 17, 8192, 9000), (15, 16, 17, 9000), ("", "prompt + max_tokens ")):
        yield f"{words}over: {had} of {limit}: {_told(bind(f'{words}over: {had} of {limit}'))}"
    for number in ("400", "431", "432", "500", "511", "512", "520", "530", "531"):
        for words in ("{} the prompt is too long", "the prompt has {} tokens", "{} in the prompt", "limit 16, sent {}"):
            yield f"{words.format(number)}: {_told(bind(words.format(number)))}"
    large = (f"1{'0' * 10}", f"1{'0' * 9}1", "9" * 12, "9" * 13)
    for written in ("9000.0", "9000.00", "9000.000", "9,000", "9.000", "1.048.576", *large, "9 000", "0"):
        yield f"{written}: {_told(bind(f'prompt has {written} tokens > 16 maximum'))}"


_CODES = (
    "context_length_exceeded",
    "ContextWindowExceededError",
    "string_above_max_length",
    "array_above_max_length",
    "rate_limit_exceeded",
    "insufficient_quota",
    "overloaded_error",
    "request_too_large",
    "content_filter",
    "authentication_error",
    "timeout",
    "server_error",
    "invalid_request_error",
    "model_not_found",
)
_SENTENCES = (
    "",
    "It failed.",
    "The prompt is too long.",
    "prompt is too long: 9000 tokens > 8192 maximum",
    "internal error: the prompt is too long",
    "internal error: context_length_exceeded",
    "The limit is 8192 tokens and you sent 9000 tokens in the prompt",
    "max_tokens is too large: 9000. This model supports at most 8192 completion tokens",
    "max_tokens is too large: 8192. This model's maximum context length is 8192 tokens and your request has 1000 input tokens",
    "Too many tokens, please wait",
    "You exceeded your current quota",
    "Quota exceeded: perMinute",
    "tokens per min: Limit 8000, requested: 12000",
    "tokens per min: Limit 8000, requested: 8000",
    "Overloaded",
    "Error code: 400 - the input is longer than the context",
    "read_file: the file is too large: 9000 tokens",
    "The context window is 8192 characters, the input 9000 characters",
)
_STATUSES = (None, 200, 400, 402, 403, 404, 413, 428, 429, 430, 499, 500, 501, 503, 529, 599)


def verdicts() -> Iterator[str]:
    """Yield a line for each code and sentence: the diagnosis under each status."""
    for code, said in product((None, *_CODES), _SENTENCES):
        found: dict[str, list[str]] = {}
        for status in _STATUSES:
            error = {**({} if code is None else {"code": code}), **({"message": said} if said else {})}
            judged = diagnose({"error": error}, status)
            numbers = "" if judged.overflow is None else f" {judged.overflow.input}/{judged.overflow.limit}"
            found.setdefault(f"{judged.kind} {judged.recovery}{numbers}", []).append(str(status))
        yield f"{code}, {said or 'no words'}: {_grouped(found) if len(found) > 1 else f'{next(iter(found))} under any'}"
    for stated, status in product((99, 100, 299, 399, 400, 413, 429, 500), (None, 200, 299, 300, 404)):
        judged = diagnose({"error": {"code": stated, "message": "It failed."}}, status)
        yield f"a body that says {stated} under {status}: {judged.kind} {judged.recovery}"
    for stop, status in product(
        ("length", "max_tokens", "safety", "stop", "context_window_exceeded"), (None, 200, 500)
    ):
        judged = diagnose({"choices": [{"finish_reason": stop}]}, status)
        yield f"{stop}, {status}: {judged.kind} {judged.recovery}"


@pytest.mark.proves("O-2")
def test_what_a_number_counts_is_what_the_table_says() -> None:
    """The role depends on the words on both its sides, and on those of another number next to it."""
    check_table(ROLES, list(roles()))


@pytest.mark.proves("O-2")
def test_what_outranks_what_is_what_the_table_says() -> None:
    """Codes, sentences and statuses contradict one another."""
    check_table(VERDICTS, list(verdicts()))
