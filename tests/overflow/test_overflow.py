"""What did the provider refuse, in every known wording and wrapping, and what is not an overflow?"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import MagicMock

import pytest
from click.testing import CliRunner
from tests.growth import BOUND, growth
from tests.overflow.samples import OTHERS, OVERFLOWS, Sample

from penstock import overflow
from penstock.cli.refusals import diagnose_command
from penstock.errors import CallerError
from penstock.overflow import (
    Overflow,
    RefusalRule,
    classify_overflow,
    diagnose,
    kinds,
    parse,
    settling,
    silent_overflow,
    verdict,
    walk,
)
from penstock.overflow.numbers import bind

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(os.environ.get("PENSTOCK_DATA", Path(__file__).parents[3] / "shared" / "data")) / "overflow_dev.jsonl"
NUMBERS = ("limit", "input", "output", "total", "excess")
ANTHROPIC = "prompt is too long: 213462 tokens > 200000 maximum"
OPENAI = (
    "This model's maximum context length is 4097 tokens. However, you requested 4116 tokens "
    "(116 in the messages, 4000 in the completion). Please reduce the length of the messages or completion."
)


def labelled() -> list[Any]:
    if not DATA.exists():
        return [
            pytest.param(
                None, marks=pytest.mark.skip(reason="the labelled set overflow_dev.jsonl is not beside the repository")
            )
        ]
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, DATA.read_text("utf-8").splitlines())]


def name(sample: Sample) -> str:
    return f"{sample.provider}: {str(sample.text)[:40]}"


# ── wordings ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("row", labelled())
def test_every_labelled_refusal_is_named_with_its_cure_and_its_exact_numbers(row: dict[str, Any]) -> None:
    """All overflows of the labelled set are found and none of its lookalikes; no number is missing or wrong."""
    found = diagnose(row["body_or_text"], row["http_status"])
    assert (found.kind, found.recovery) == (row["kind"], row["recovery"])
    assert (found.overflow is not None) == row["is_overflow"]
    if found.overflow is not None:
        stated = str(row["requested_total"]) in row["body_or_text"]
        assert found.overflow.limit == row["limit"]
        assert found.overflow.input == row["input_tokens"]
        assert found.overflow.output == row["output_tokens_requested"]
        assert found.overflow.total == (row["requested_total"] if stated else None)
        assert found.overflow.excess == row["overflow_by"]
        assert found.overflow.bound == row["number_bound"]
        assert found.overflow.unit == ("chars" if row["limit_kind"] == "input_chars" else "tokens")


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("sample", OVERFLOWS, ids=name)
def test_overflows_of_other_providers_are_read_to_the_last_number(sample: Sample) -> None:
    """The wordings are from documentation, sources and issue threads."""
    found = diagnose(sample.text, sample.status)
    assert (found.kind, found.recovery) == (sample.kind, sample.recovery)
    expected = Overflow(kind=sample.kind, **sample.numbers)
    assert found.overflow == expected


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("sample", OTHERS, ids=name)
def test_what_only_looks_like_an_overflow_is_named_for_what_it_is(sample: Sample) -> None:
    """These are rate limits, quotas, caps on the reply, fields, images, bytes, broken histories, plans, tools and talk."""
    found = diagnose(sample.text, sample.status)
    assert (found.kind, found.recovery) == (sample.kind, sample.recovery)
    assert found.overflow is None
    assert parse(sample.text, sample.status) is None


@pytest.mark.proves("O-2")
def test_every_kind_that_is_ever_named_has_a_cure_in_the_table() -> None:
    """`RECOVERIES` is the whole list."""
    named = {sample.kind for sample in [*OVERFLOWS, *OTHERS]}
    assert named <= set(kinds.RECOVERIES)


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Input of 128k tokens exceeds the context window of 64k tokens", {}),
        ("Input exceeds the maximum context length of 128.000 tokens", {}),
        ("Input exceeds the maximum context length of 1.048.576 tokens", {"limit": 1048576}),
        ("Input exceeds the maximum context length of 1 048 576 tokens", {"limit": 1048576}),
        ("Input exceeds the maximum context length of 10,48,576 tokens", {"limit": 1048576}),
        ("Input exceeds the context window (error 2013)", {}),
        ("prompt is too long: 100 tokens > 200000 maximum", {}),
        ("messages.108.content.3: prompt is too long for gpt-4-32k-0613", {}),
        ("context window exceeded: 9000/8192 tokens", {}),
        ("maximum context length is 4096 tokens; maximum context length is 8192 tokens", {}),
        (
            "Exceeded context window: input=9000 output=0 limit=8192",
            {"limit": 8192, "input": 9000, "output": 0, "excess": 808},
        ),
        ("Reduce your prompt: 9000 tokens do not fit in 1.5 million", {"input": 9000}),
    ],
)
def test_a_number_that_is_not_plain_or_cannot_be_true_is_left_out(text: str, numbers: dict[str, int]) -> None:
    """This covers rounded, ambiguous, contradictory and impossible numbers, codes, indexes and model names."""
    found = parse(text, 400)
    assert found is not None
    assert {key: value for key in NUMBERS if (value := getattr(found, key)) is not None} == numbers


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        # what answering takes is the request with its answer
        (
            (
                "The maximum context length of X is 8192. However, answering your request will take 39732 tokens. Please "
                "reduce the length of the messages or the specified max_completion_tokens value."
            ),
            {"limit": 8192, "total": 39732, "excess": 31540},
        ),
        # what remains available was not requested
        (
            "Your prompt has 9000 tokens and the context window is 8192 tokens, which leaves 0 output tokens",
            {"limit": 8192, "input": 9000, "excess": 808},
        ),
        # a bare maximum after a comparison is the upper bound of what is compared
        (
            "Input is too long for the model to process: input_size(5120) was not less than maxTokens(4096)",
            {"limit": 4096, "input": 5120, "excess": 1024},
        ),
        # how much of the sum is new input is not stated
        (
            "Input is too long for the model to process: current_step(700) + input_size(1000) was not less than maxTokens(1024)",
            {"limit": 1024},
        ),
        # a line of source code is not a count, whatever its name contains
        ("java.lang.IllegalStateException: prompt too long at RestProxyBase.java:390", {}),
        (
            (
                "ERROR [serving_chat.py:198] This model's maximum context length is 8192 tokens. However, your request has 9000 "
                "input tokens."
            ),
            {"limit": 8192, "input": 9000, "excess": 808},
        ),
        # so much of the available amount
        ("Prompt too long: over: 70000 of 65536", {"limit": 65536, "input": 70000, "excess": 4464}),
        ("Too many tokens (70000 of 65536)", {"limit": 65536, "input": 70000, "excess": 4464}),
        (
            "The prompt token count is above the max token count (70000 / 65536).",
            {"limit": 65536, "input": 70000, "excess": 4464},
        ),
        ("Prompt too long: part 30000 of 40000 does not fit", {}),
        # what is called too large is named after the colon, and does not become the limit
        ("The context window was exceeded: 9000 tokens", {}),
        # a name with a value states that value
        (
            'level=WARN msg="input exceeds context length" prompt=2900 limit=2048',
            {"limit": 2048, "input": 2900, "excess": 852},
        ),
        # the part of a prompt that is kept is not its size
        ("Cannot truncate prompt with n_keep (15000) >= n_ctx (7424)", {"limit": 7424}),
        ("Trying to keep the first 15000 tokens when context overflows.", {}),
        # a missing space
        (
            (
                "This model's maximum context length is 4096 tokens. However, you requested 4104tokens (3104 in the messages, "
                "1000 in "
                "the completion)."
            ),
            {"limit": 4096, "input": 3104, "output": 1000, "total": 4104, "excess": 8},
        ),
        # what a verb puts above the next number is not a limit, whatever it is called
        *(
            (text, {"limit": 8192, "input": 9000, "excess": 808})
            for text in (
                "9000 tokens exceed the context window of 8192 tokens.",
                "context length 9000 exceeds maximum 8192",
                "The context length is 9000 tokens, which exceeds the maximum of 8192 tokens.",
                "Requested context window of 9000 tokens is larger than 8192",
                "9000 Token überschreiten das Kontextfenster von 8192 Token.",
                "La longitud del contexto (9000) supera el máximo (8192).",
            )
        ),
        # what is exceeded is a limit
        ("Context length of 8192 tokens exceeded: the prompt is too long", {"limit": 8192}),
        # in such a share a whole below sixteen is about something else
        ("The context window is exceeded (20 of 16 tokens)", {"limit": 16, "input": 20, "excess": 4}),
        # a share of everything is not a refused size
        ("The context window of 8192 tokens is exceeded (8192 of 8192 tokens)", {"limit": 8192}),
    ],
)
def test_a_number_counts_what_the_phrase_next_to_it_says(text: str, numbers: dict[str, int]) -> None:
    """Totals, remaining amounts, upper bounds, lines of sources, shares and names with values are covered."""
    found = parse(text, 400)
    assert found is not None
    assert {key: value for key in NUMBERS if (value := getattr(found, key)) is not None} == numbers


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [
        (
            "File content (28000 tokens) exceeds maximum allowed tokens (25000). Use offset and limit.",
            None,
            "tool_refusal",
        ),
        ("MaxReadError: File content (28000 tokens) exceeds maximum allowed tokens (25000).", None, "tool_refusal"),
        (
            "* Read(a/b.md)\n  > Error: File content (28000 tokens) exceeds maximum allowed tokens (25000).",
            None,
            "tool_refusal",
        ),
        ({"error": {"message": "The model big-32k (context length 32768 tokens) was not found"}}, 404, "bad_request"),
        ({"error": {"message": "Its context window is 32768 tokens", "code": "model_not_found"}}, 404, "bad_request"),
        (
            "models/x-2.5 is not found for this version, its maximum context length is 1048576 tokens",
            404,
            "bad_request",
        ),
        ("ValueError: Prompt exceeds n_ctx", None, "context_input"),
        ("The agent ran out of room in the model's context window. Start a new thread.", None, "context_input"),
        ("API Error: The model has reached its context window limit.", None, "context_input"),
    ],
)
def test_the_subject_of_a_sentence_decides_its_kind(text: Any, status: int | None, kind: str) -> None:
    """A file, a missing model and a context are described in the same words."""
    found = diagnose(text, status)
    assert found.kind == kind
    assert (found.overflow is not None) == kind.startswith("context_")


# ── where the words are ──────────────────────────────────────────────────────────────────────────────────────────


class BadRequestError(Exception):
    """An error built like `openai.BadRequestError` and `anthropic.BadRequestError`."""

    def __init__(
        self, message: str, *, body: object = None, status_code: int | None = 400, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.body, self.code, self.request_id = message, body, code, "req_1234567890"
        if status_code is not None:
            self.status_code = status_code
            self.response = SimpleNamespace(
                status_code=status_code,
                headers={"request-id": "req_12", "retry-after": "7"},
                content=json.dumps(body).encode(),
            )


class ContentTooLargeError(BadRequestError):
    """HTTP 413, under anthropic's name."""


class ClientError(Exception):
    """An error built like `botocore.exceptions.ClientError`."""

    def __init__(self, code: str, message: str, status: int) -> None:
        super().__init__(f"An error occurred ({code}) when calling the Converse operation: {message}")
        self.response = {
            "Error": {"Code": code, "Message": message},
            "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {"retry-after": "3"}},
        }


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("base", [Exception, object])
def test_an_error_that_says_what_it_is_only_when_it_is_printed_is_read(base: type) -> None:
    """Neither its arguments nor an attribute has the words."""
    error = type("ApiError", (base,), {"__str__": lambda _: OPENAI})()
    assert overflow.parse(error, 400) == overflow.parse(OPENAI, 400) is not None


@pytest.mark.proves("O-2")
def test_the_exceptions_of_sdks_are_read_without_importing_them() -> None:
    """OpenAI and Anthropic by status, stream errors without one, boto, Google, and a newer SDK that hides the code from str()."""
    body = {"message": OPENAI, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}
    found = diagnose(BadRequestError(f"Error code: 400 - {body!r}", body=body, code="context_length_exceeded"))
    assert found.overflow == Overflow(kind="context_total", limit=4097, input=116, output=4000, total=4116, excess=19)
    hidden = diagnose(
        BadRequestError("Bad request", body={"code": "context_length_exceeded"}, code="context_length_exceeded")
    )
    assert hidden.kind == "context_input"
    streamed = BadRequestError(
        "Your input exceeds the context window of this model.", status_code=None, code="context_length_exceeded"
    )
    assert parse(streamed) == Overflow(kind="context_input")
    event = {"type": "error", "error": {"type": "invalid_request_error", "message": ANTHROPIC}}
    in_stream = BadRequestError(str(event), body=event, status_code=200)
    assert parse(in_stream) == Overflow(kind="context_input", limit=200000, input=213462, excess=13462)
    large = {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}
    assert diagnose(ContentTooLargeError("413", body=large, status_code=413)).kind == "payload_too_large"
    assert parse(ClientError("ValidationException", ANTHROPIC, 400)) is not None
    slow = diagnose(ClientError("ThrottlingException", "Too many tokens, please wait before trying again.", 429))
    assert (slow.kind, slow.retry_after_seconds) == ("rate_limit", 3.0)
    google = SimpleNamespace(
        code=400,
        status="INVALID_ARGUMENT",
        message="The input token count (25270) exceeds the maximum number of tokens allowed (4000).",
    )
    assert parse(google) == Overflow(kind="context_input", limit=4000, input=25270, excess=21270)


@pytest.mark.proves("O-2")
def test_a_wrapper_is_looked_through_to_its_cause_but_a_clear_error_is_not() -> None:
    """An agent's own error and a group are looked through; an error raised while handling an old overflow is not that overflow."""
    inner = BadRequestError(ANTHROPIC)
    outer = RuntimeError("Error while generating output")
    outer.__cause__ = inner
    assert parse(outer) is not None
    assert parse(ExceptionGroup("all failed", [ValueError("other"), inner])) is not None
    fresh = ConnectionError("Server disconnected without sending a response.")
    fresh.__context__ = inner
    assert diagnose(fresh).kind == "connection"
    vague = RuntimeError("agent failed")
    vague.__context__ = inner
    assert parse(vague) is not None
    vague.__suppress_context__ = True
    assert parse(vague) is None


@pytest.mark.proves("O-2")
def test_hostile_objects_are_survived() -> None:
    """Cycles, attributes and texts that raise, mocks with every attribute, endless nesting, and a body not yet received."""

    class Trap(Exception):
        @property
        def body(self) -> object:
            raise RuntimeError("no")

        def __str__(self) -> str:
            raise RuntimeError("never")

    assert diagnose(Trap()).kind == "unknown"
    cycle: dict[str, Any] = {"error": {"message": ANTHROPIC}}
    cycle["error"]["cause"] = cycle
    assert parse(cycle) is not None
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert parse(first) is None
    assert parse(MagicMock()) is None
    assert parse("[" * 100_000) is None
    assert parse('{"a":' * 5000 + "1") is None
    deep: object = ANTHROPIC
    for _ in range(50):
        deep = {"error": deep}
    assert parse(deep) is None
    unread = MagicMock(spec=["status_code", "_content", "content", "headers"])
    unread.status_code, unread._content, unread.headers = 413, False, {}
    type(unread).content = property(lambda _: pytest.fail("this would read from the network"))
    assert diagnose(unread).kind == "payload_too_large"
    for huge in (
        "prompt is too long: " + "1" + ",000" * 1900 + " tokens > 5",
        "[1, " + "9" * 6000 + "]",
        "try again in " + "9" * 5000 + "s",
    ):
        assert diagnose(f"input {huge} exceeds the context window, rate", 400).retry_after_seconds is None
    for nothing in (None, 0, 413, True, 1.5, object(), [], {}, b"", "\ud800", float("nan"), range(10**9)):
        assert parse(nothing) is None


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("group", [",000", "0", ",,0", "_1"])
def test_a_number_of_any_length_is_read_in_linear_time(group: str) -> None:
    """Four times the digits once took sixteen times as long: 7,600 of them nearly three seconds."""

    def work(groups: int) -> Callable[[], object]:
        said = f"input prompt is too long: 1{group * groups} tokens > 5 exceeds the context window"
        return lambda: diagnose(said, 400)

    assert growth(work, 400) < BOUND


@pytest.mark.proves("O-2")
def test_a_large_body_is_looked_at_in_part() -> None:
    """10 MB in any form take less than half a second; what head and tail say is found."""
    filler = "lorem ipsum token context limit 12 " * 300_000
    started = time.process_time()
    assert parse(f'{{"error": {{"message": "{ANTHROPIC}", "echo": "{filler}"}}}}', 400) is not None
    assert parse(filler.encode() + ANTHROPIC.encode(), 400) is not None
    assert parse({"message": filler, "code": "context_length_exceeded"}, 400) is not None
    cut = "prompt is too long: 300000 tokens > " + "9" * 3  # the head ends within the number
    for at in range(8):
        found = parse("x" * (4096 - len(cut) + at) + cut + "999 maximum" + filler, 400)
        assert found is None or found.limit in {None, 999999}
    parse(filler, 400)
    assert time.process_time() - started < 2.0


@pytest.mark.proves("O-2")
def test_the_words_of_the_caller_and_of_the_model_are_not_the_providers() -> None:
    """These are an echo of the request and an answer that talks about overflows."""
    echo = {
        "error": {"message": "Invalid schema", "code": "invalid"},
        "messages": [{"role": "user", "content": ANTHROPIC}],
        "input": ANTHROPIC,
    }
    assert parse(echo, 400) is None
    answer = SimpleNamespace(
        choices=[SimpleNamespace(finish_reason="stop", message=SimpleNamespace(role="assistant", content=ANTHROPIC))]
    )
    assert parse(answer, 200) is None
    stopped = SimpleNamespace(role="assistant", content=[SimpleNamespace(text=ANTHROPIC)], stop_reason="max_tokens")
    assert diagnose(stopped).kind == "output_stopped"


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ("Rate limit reached. Please try again in 1m2.5s.", 62.5),
        ("Rate limit reached. Please try again in 20ms.", 0.02),
        ("Rate limit reached. Please try again in 17m0.5s. Need more tokens?", 1020.5),
        ("Too many requests, retry after 30 seconds", 30.0),
        ("Too many requests. Please wait for 2 minutes and 5 seconds.", 125.0),
        ("Too many requests. Please retry in 34.074824224s.", 34.075),
        (
            {
                "error": {
                    "code": 429,
                    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "14s"}],
                }
            },
            14.0,
        ),
        (SimpleNamespace(status_code=429, headers={"Retry-After": "120"}, text="slow down"), 120.0),
        (SimpleNamespace(status_code=429, headers=[(b"retry-after-ms", b"1500")], text="slow down"), 1.5),
        (SimpleNamespace(status_code=429, headers=[(b"retry-after", b"5, 5")], text="slow down"), 5.0),
        (
            SimpleNamespace(
                status_code=429, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, text="slow down"
            ),
            None,
        ),
        ("429 Too Many Requests", None),
    ],
)
def test_the_time_to_wait_is_taken_from_headers_and_sentences(error: object, seconds: float | None) -> None:
    """Seconds and milliseconds in headers, Google's RetryInfo and spans in words are read; a date needs a clock and is left out."""
    found = diagnose(error, 429)
    assert found.kind == "rate_limit"
    assert found.retry_after_seconds == (pytest.approx(seconds) if seconds is not None else None)


# ── severity, and overflows without an error ─────────────────────────────────────────────────────────────────────


@pytest.mark.proves("O-1")
@pytest.mark.parametrize(
    ("excess", "bound", "severity"),
    [
        (1, "exact", "minor"),
        (999, "exact", "minor"),
        (1_000, "exact", "major"),
        (49_999, "approx", "major"),
        (50_000, "exact", "catastrophic"),
        (963_433, "exact", "catastrophic"),
        (None, "exact", "unknown"),
        (1, "lower_bound", "unknown"),
        (49_999, "lower_bound", "unknown"),
        (50_000, "lower_bound", "catastrophic"),
    ],
)
def test_the_severity_is_the_excess_and_a_floor_decides_only_upward(
    excess: int | None, bound: str, severity: str
) -> None:
    """Thresholds are inclusive, `>=`, as in the seed's code; a server that stopped counting does not prove a small excess."""
    found = Overflow(kind="context_input", excess=excess, bound=bound)
    assert classify_overflow(found) == found.severity == severity


@pytest.mark.proves("O-1")
@pytest.mark.parametrize(("output", "recovery"), [(16_384, "shrink_output"), (16_383, "shrink_input")])
def test_the_larger_part_goes_if_the_input_was_not_counted_to_its_end(output: int, recovery: str) -> None:
    """If the reply takes half of the limit, exact to a token, the reply is lowered."""
    said = (
        f"This model's maximum context length is 32768 tokens. However, you requested {output} output tokens and your prompt "
        f"contains at least {32_769 - output} input tokens, for a total of at least 32769 tokens."
    )
    found = diagnose(said, 400)
    assert found.overflow is not None
    assert (found.overflow.bound, found.recovery) == ("lower_bound", recovery)


@pytest.mark.proves("O-1")
@pytest.mark.parametrize(
    ("given", "recovery"), [(8_191, "shrink_output"), (8_192, "shrink_input"), (9_000, "shrink_input")]
)
def test_a_smaller_reply_cures_as_long_as_the_input_leaves_room_for_one(given: int, recovery: str) -> None:
    """An input as long as the limit leaves none."""
    said = (
        f"This model's maximum context length is 8192 tokens. However, you requested {given + 500} tokens ({given} in the "
        "messages, 500 in the completion). Please reduce the length of the messages or completion."
    )
    assert diagnose(said, 400).recovery == recovery


@pytest.mark.proves("O-1")
def test_no_overflow_and_characters_have_no_severity() -> None:
    """Thresholds are in tokens."""
    assert classify_overflow(None) == "unknown"
    assert classify_overflow(Overflow(kind="context_input", excess=60_000, unit="chars")) == "unknown"


USAGES = {
    "openai chat": {"prompt_tokens": 5000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4000}},
    "openai responses": {"input_tokens": 5000, "input_tokens_details": {"cached_tokens": 4000}, "output_tokens": 10},
    "anthropic": {
        "input_tokens": 100,
        "cache_creation_input_tokens": 900,
        "cache_read_input_tokens": 4000,
        "output_tokens": 10,
    },
    "gemini": {"usageMetadata": {"promptTokenCount": 5000, "candidatesTokenCount": 10}},
    "bedrock": {"usage": {"inputTokens": 5000, "outputTokens": 10, "totalTokens": 5010}},
    "ollama": {"prompt_eval_count": 5000, "eval_count": 10},
    "object": SimpleNamespace(usage=SimpleNamespace(prompt_tokens=5000)),
}


@pytest.mark.proves("O-3")
@pytest.mark.parametrize("wire", USAGES)
def test_reported_usage_tells_what_no_error_told(wire: str) -> None:
    """Usage above the window means accepted; far below our own count, the beginning was dropped; near it, nothing is known."""
    usage = USAGES[wire]
    accepted = silent_overflow(usage, window_tokens=4096, estimated_tokens=5100)
    assert accepted is not None
    assert (accepted.kind, accepted.reported_tokens) == ("accepted", 5000)
    dropped = silent_overflow(usage, window_tokens=32768, estimated_tokens=90_000)
    assert dropped is not None
    assert dropped.kind == "dropped"
    assert silent_overflow(usage, window_tokens=32768, estimated_tokens=5600) is None


@pytest.mark.proves("O-3")
def test_a_server_that_filled_its_window_to_the_brim_has_cut() -> None:
    """The reported input equals the configured size and our count is above it, so the rest is gone."""
    usage = {"prompt_tokens": 4096}
    found = silent_overflow(usage, window_tokens=4096, estimated_tokens=6000)
    assert found is not None
    assert found.kind == "dropped"
    assert silent_overflow(usage, window_tokens=4096, estimated_tokens=4000) is None


@pytest.mark.proves("O-3")
@pytest.mark.parametrize(
    "usage", [None, {}, {"usage": None}, {"input_tokens": "5000"}, {"input_tokens": True}, "5000", {"prompt_tokens": 0}]
)
def test_a_usage_that_is_not_known_says_nothing(usage: object) -> None:
    """Without a number there is no alarm."""
    assert silent_overflow(usage, window_tokens=100, estimated_tokens=90_000) is None


RULES = """
[[rule]]
text = "The bucket holds {limit} drops ... you poured {input}"
kind = "context_input"

[[rule]]
text = "rate limit reached ... tokens per min"
kind = "quota"
recovery = "none"
status = 418
"""


@pytest.mark.proves("O-2")
def test_rules_of_a_user_come_first() -> None:
    """A rule may read an unknown sentence and its numbers, or give a known sentence another meaning at one provider."""
    rules = overflow.read_rules(RULES)
    text = '{"error": "The bucket holds 8,192 drops, alas! And you poured 9000."}'
    assert parse(text, 400) is None
    assert parse(text, 400, rules=rules) == Overflow(kind="context_input", limit=8192, input=9000, excess=808)
    busy = "Rate limit reached for x on tokens per min"
    assert diagnose(busy, 418, rules=rules).kind == "quota"
    assert diagnose(busy, 429, rules=rules).kind == "rate_limit"
    assert overflow.read_rules("") == ()


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("rule = 1", "[[rule]]"),
        ("[[rule", "not TOML"),
        ('[[rule]]\ntext = "x"', "Rule 1"),
        ('[[rule]]\ntext = "x"\nkind = "weather"', "no kind 'weather'"),
        ('[[rule]]\ntext = "x"\nkind = "quota"\nrecovery = "pray"', "no recovery 'pray'"),
        ('[[rule]]\ntext = "{size}"\nkind = "quota"', "words"),
        ('[[rule]]\ntext = "a {size}"\nkind = "quota"', "{size}"),
        ('[[rule]]\ntext = "a {limit} {limit}"\nkind = "quota"', "twice"),
        (
            '[[rule]]\ntext = "a ... a ... a ... a ... a ... a ... a ... a ... a ... a"\nkind = "quota"',
            "at most 8 parts",
        ),
        ('[[rule]]\ntext = "x"\nkind = "quota"\nunit = "miles"', "miles"),
    ],
)
def test_a_rule_that_cannot_be_is_named(toml: str, says: str) -> None:
    """The error says which rule, and what would be right."""
    with pytest.raises(CallerError, match=re.escape(says)):
        overflow.read_rules(toml)


@pytest.mark.proves("O-2")
def test_a_rule_cannot_hang() -> None:
    """The rule has eight gaps, and the text is made to match almost everywhere."""
    rule = RefusalRule(text="a ... a ... a ... b", kind="quota")
    started = time.process_time()
    assert diagnose("a " * 4000, 400, rules=[rule]).kind == "bad_request"
    assert time.process_time() - started < 5.0


# ── the command ──────────────────────────────────────────────────────────────────────────────────────────────────


def command(*arguments: str, text: str = "") -> tuple[str, int]:
    done = CliRunner().invoke(diagnose_command, list(arguments), input=text, standalone_mode=False)
    return done.output, done.return_value if done.return_value is not None else done.exit_code


@pytest.mark.proves("O-2")
def test_the_command_prints_the_object_of_the_contract(tmp_path: Path) -> None:
    """It reads a file or standard input, and includes the severity."""
    expected = {
        "kind": "context_input",
        "recovery": "shrink_input",
        "overflow": {
            "kind": "context_input",
            "limit": 200000,
            "input": 213462,
            "output": None,
            "total": None,
            "excess": 13462,
            "bound": "exact",
            "unit": "tokens",
            "severity": "major",
        },
        "retry_after_seconds": None,
    }
    printed, status = command("-", "--status", "400", "--json", text=ANTHROPIC)
    assert (json.loads(printed), status) == (expected, 0)
    (tmp_path / "body").write_text(json.dumps({"error": {"message": ANTHROPIC}}))
    printed, status = command(str(tmp_path / "body"), "--json")
    assert (json.loads(printed), status) == (expected, 0)
    printed, status = command(text="slow down: rate limit. Try again in 2s")
    assert printed == "kind: rate_limit\nrecovery: wait\nretry after: 2 s\n"


@pytest.mark.proves("O-2")
def test_the_command_says_what_it_cannot_do(tmp_path: Path) -> None:
    """Nothing recognised gives 1, a missing file 4, a folder 3, a bad rule 2; of a huge file only head and tail are read."""
    assert command(text="hello")[1] == 1
    printed, status = command(str(tmp_path / "none"), "--json")
    assert (json.loads(printed)["error"]["code"], status) == ("not_found", 4)
    (tmp_path / "rules.toml").write_text('[[rule]]\ntext = "x"')
    assert command("-", "--rules", str(tmp_path / "rules.toml"), text="x")[1] == 2
    assert command(str(tmp_path), "--json")[1] == 3
    (tmp_path / "huge").write_bytes(b"x" * (5 << 20) + ANTHROPIC.encode())
    printed, status = command(str(tmp_path / "huge"))
    assert printed.startswith("kind: context_input\nrecovery: shrink_input\nlimit: 200000 tokens\n")
    assert command("-", text="x" * (5 << 20) + ANTHROPIC)[0] == printed


@pytest.mark.proves("LAW-Overflow")
def test_the_room_loads_nothing_that_touches_the_world() -> None:
    """No SDK, network or TOML reader is loaded until rules are read, as numbers in errors need none of them."""
    code = "import sys; before = set(sys.modules); import penstock.overflow; print(sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for unwanted in ("socket", "asyncio", "httpx", "openai", "anthropic", "tomllib", "click", "logging"):
        assert f"'{unwanted}'" not in loaded
    with contextlib.suppress(ImportError):
        import openai  # type: ignore[import-not-found,unused-ignore]

        assert openai


@pytest.mark.parametrize("status", [500, 501, 599])
def test_a_status_of_the_server_is_one_without_any_words(status: int) -> None:
    """This holds from the first to the last such status."""
    assert diagnose(json.dumps({"error": {"message": "x"}}), status).kind == "server_error"


def test_a_429_without_words_is_what_it_wraps() -> None:
    """Gateways answer 429 whatever their provider said."""
    outer = RuntimeError("x")
    outer.status_code = 429  # type: ignore[attr-defined]
    assert diagnose(outer).kind == "rate_limit"
    outer.__cause__ = ValueError(ANTHROPIC)
    assert diagnose(outer).kind == "context_input"


@pytest.mark.parametrize(
    ("values", "keep_zero", "one"),
    [([0], False, None), ([0], True, 0), ([0, 5], True, 5), ([0, 5], False, 5), ([4, 5], True, None), ([], True, None)],
)
def test_zeros_next_to_other_numbers_do_not_count(values: list[int], keep_zero: bool, one: int | None) -> None:
    """Providers report missing parts of a request as zero."""
    assert settling._single(values, keep_zero=keep_zero) == one


@pytest.mark.parametrize("limit", [400, 404, 413, 422, 429, 500, 502, 504, 522, 529])
def test_a_limit_that_looks_like_a_status_is_a_limit(limit: int) -> None:
    """A number after a comparison is what is compared: a window of 522 tokens is not an unreachable server."""
    found = parse(f"prompt is too long: {limit + 12} tokens > {limit} maximum")
    assert found is not None
    assert (found.kind, found.limit, found.input, found.excess) == ("context_input", limit, limit + 12, 12)


def test_a_status_in_words_counts_under_the_name_of_one() -> None:
    """`"status": "413"` is one; three digits under another name for a code are not."""
    (said,) = walk.layers({"error": {"status": "413", "message": "no"}})
    assert (said.statuses, said.codes) == ([413], ["413"])
    (said,) = walk.layers({"error": {"type": "413", "status": "4130", "message": "no"}})
    assert (said.statuses, said.codes) == ([], ["413", "4130"])


def test_codes_are_kept_in_bounds() -> None:
    """None is empty, and their number is bounded, however many an error has."""
    (said,) = walk.layers({"errors": [{"code": f"e{number}", "type": ""} for number in range(30)] * 2})
    assert "" not in said.codes
    many = {
        "errors": [
            {"code": f"e{a}{b}", "errors": [{"code": f"f{a}{b}"} for b in range(9)]} for a in range(9) for b in range(4)
        ]
    }
    (said,) = walk.layers(many)
    assert len(said.codes) == walk.MAX_ITEMS


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("This model's maximum context length is -1 tokens. However you requested 28716 tokens", {"total": 28716}),
        ("The maximum context length is None tokens, however you requested 300 tokens", {"total": 300}),
        (
            '{"error": {"message": "[original: INVALID_ARGUMENT] Cannot truncate to 89998, required 355220: text:355351"}}',
            {"limit": 89998, "input": 355220},
        ),
    ],
)
def test_a_server_that_does_not_know_its_window_or_would_not_cut_has_refused(
    text: str, numbers: dict[str, int]
) -> None:
    """Some have no number for their own window; Google's, behind proxies, mention what they could cut to."""
    found = parse(text, 400)
    assert found is not None
    assert {name: getattr(found, name) for name in ("limit", "input", "total") if getattr(found, name)} == numbers


@pytest.mark.parametrize(
    "text",
    [
        "The maximum context length is -1, which means no limit.",
        "cannot truncate table to 10 rows, required privilege is missing",
    ],
)
def test_words_that_concern_no_window_are_not_a_refusal(text: str) -> None:
    """They state no request."""
    assert parse(text, 400) is None


@pytest.mark.parametrize("http_status", [None, 200, 299])
def test_below_300_what_the_body_says_goes_before_the_status(http_status: int | None) -> None:
    """An error in a stream comes with a status of success; any other status counts as it came."""
    body = {"status": 503, "message": "no"}
    assert overflow.diagnose(body, http_status).kind == "overloaded"
    assert {overflow.diagnose(body, status).kind for status in (300, 301, 399)} == {"unknown"}


@pytest.mark.parametrize(
    ("said", "given", "cure"),
    [
        ({"kind": "context_input", "output": 8_000}, 9_000, "shrink_input"),
        ({}, None, "shrink_output"),
        ({"limit": None}, 9_000, "shrink_output"),
        ({}, 7_999, "shrink_output"),
        ({}, 8_000, "shrink_input"),
        ({"bound": "lower_bound"}, 9_000, "shrink_input"),
        ({"bound": "lower_bound", "output": 3_999}, 9_000, "shrink_input"),
        ({"bound": "lower_bound", "output": 4_000}, 9_000, "shrink_output"),
        ({"bound": "lower_bound", "limit": 1}, 9_000, "shrink_input"),
    ],
)
def test_a_reply_is_lowered_where_that_can_cure(said: dict[str, Any], given: int | None, cure: str) -> None:
    """It cannot cure an input that alone is at the limit; if the input was not counted to its end, the larger part is reduced."""
    overflow_said = Overflow(**{"kind": "context_total", "limit": 8_000, "bound": "exact", **said})
    assert verdict._cure(overflow_said, given) == cure


@pytest.mark.parametrize("said", ["Error code: {} - no", "HTTP {}: no", "{} no", "[{}] no", "status code {}"])
def test_a_status_that_was_put_into_words_is_one(said: str) -> None:
    """It is found in a wrapper's words, at the beginning or inside the sentence; a status that the caller knows comes first."""
    assert overflow.diagnose(said.format(503)).kind == "overloaded"
    assert overflow.diagnose(said.format(529), 400).kind == "bad_request"


@pytest.mark.parametrize("status", [403, 428, 429, 430, 503])
def test_numbers_that_prove_an_overflow_outrank_a_code_of_waiting_below_429(status: int) -> None:
    """The numbers count only if limit and size are both stated."""
    text = "This model's maximum context length is 8192 tokens"
    for proves, said in ((True, f"{text}, however you requested 9000 tokens"), (False, text)):
        found = overflow.diagnose({"error": {"code": "rate_limit_exceeded", "message": said}}, status)
        assert (found.overflow is not None) == (proves and status < 429)


@pytest.mark.parametrize("name", ["ContextWindowExceededError", "ContextLengthExceededException"])
def test_the_name_of_a_wrapper_does_not_outrank_a_sentence_that_asks_to_wait(name: str) -> None:
    """LiteLLM guesses such a name from words; a provider's own code keeps its meaning next to the same sentence."""
    sentence = "Too many tokens, please wait before trying again."
    for status in (None, 400, 429):
        named = {"error": {"type": name, "message": sentence}}
        assert overflow.diagnose(named, status).kind == "rate_limit"
        assert overflow.diagnose(type(name, (Exception,), {})(sentence), status).kind == "rate_limit"
        told = {"error": {"type": "context_length_exceeded", "message": sentence}}
        assert overflow.diagnose(told, status).kind == "context_input"


@pytest.mark.parametrize(
    ("before", "given", "reply"),
    [
        ("input length and `max_tokens` of your messages", 900, 100),
        ("`max_tokens` and the input length", 100, 900),
    ],
)
def test_summands_are_named_in_their_order(before: str, given: int, reply: int) -> None:
    """The order is that of the first mention of each."""
    bound = bind(f"{before} exceed context limit: 900 + 100 > 950")
    assert (bound.input, bound.output, bound.limit) == (given, reply, 950)


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("text", "limit", "given", "total", "excess"),
    [
        ("Prompt exceeds the 200K context window (213462 tokens).", None, None, None, None),
        ("refused request 100423: 40123 tokens requested, context window 32768.", 32_768, None, 40_123, 7_355),
        ("Message 45000 exceeds the context window (32768 tokens)", 32_768, None, None, None),
        ("Please shorten your prompt to 8192 tokens or less (it is 9000 now).", 8_192, None, None, None),
        ("Your prompt has 9 000 tokens and the context window is 8 192 tokens.", 8_192, 9_000, None, 808),
        ("You are 808 tokens over the 8192 token limit", 8_192, None, None, None),
        ("context window exceeded; 45000 tokens remain", None, None, None, None),
        ("Input length must be between 1", None, None, None, None),
        ("input length and `max_tokens` exceed context limit: 149674 +", None, None, None, None),
        ("This exceeds the context window: please reduce max_tokens to 4096.", None, None, None, None),
    ],
)
def test_what_a_number_belongs_to_is_told_by_its_neighbours(
    text: str, limit: int | None, given: int | None, total: int | None, excess: int | None
) -> None:
    """A noun in another number's name, the number of a request, and the requested amount are not sizes of the request."""
    found = parse({"error": {"message": text}}, 400)
    assert found is not None
    assert (found.limit, found.input, found.total, found.excess) == (limit, given, total, excess)


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("text", "status", "kind"),
    [
        ("completion too long: 9000 tokens requested, 8192 allowed for completion", 400, "output_cap"),
        ("The generated answer hit the limit of 4096 tokens", 200, "output_stopped"),
        ("Reasoning effort needs 45000 thinking tokens; max is 32768 thinking tokens", 400, "bad_request"),
        ("voice input too long: 45 s, max 30 s", 400, "bad_request"),
    ],
)
def test_a_reply_its_thoughts_and_a_recording_are_not_a_request(text: str, status: int, kind: str) -> None:
    """Counts, maxima and "too long" about these are not an overflow."""
    assert diagnose(text, status).kind == kind


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("status", "said", "kind", "seconds"),
    [
        (None, "You've hit your limit · resets 1:30am (Asia/Dhaka)", "rate_limit", None),
        (None, "Plan usage limit reached. Your limit will reset at 5pm (America/New_York).", "rate_limit", None),
        (None, "5-hour limit reached ∙ resets 3pm", "rate_limit", None),
        (None, "Weekly limit reached ∙ resets Oct 9 at 10am", "rate_limit", None),
        (None, "The AI usage limit reached|1760000400", "rate_limit", None),
        (
            None,
            "You've hit your usage limit. Upgrade, or purchase more credits, or try again at 8:15 PM.",
            "rate_limit",
            None,
        ),
        (
            None,
            "You've hit your usage limit. Upgrade to Pro or try again in 2 days 3 hours 5 minutes.",
            "rate_limit",
            183_900,
        ),
        (None, "Usage limit reached for a-model. Access resets at 10:57 PM GMT-3.", "rate_limit", None),
        (
            429,
            "You have exhausted your capacity on this model. Your quota will reset after 2h31m.",
            "rate_limit",
            9_060,
        ),
        (None, "You have reached your daily token limit. It resets at midnight UTC.", "rate_limit", None),
        (429, "You have exhausted your daily quota on this model.", "rate_limit", None),
        (
            429,
            {"type": "usage_limit_reached", "message": "The usage limit has been reached", "resets_in_seconds": 3_600},
            "rate_limit",
            3_600,
        ),
        (429, "Your credit balance is too low. Credits reset on the 1st of each month.", "quota", None),
        (
            429,
            "Budget has been exceeded! Current cost: 26.1, Max budget: 0.25. Budget resets at 2026-12-01",
            "quota",
            None,
        ),
        (None, "Monthly usage limit reached, resets on 1 May", "quota", None),
        (429, "You exceeded your current quota, please check your plan and billing details.", "quota", None),
    ],
)
def test_a_limit_that_ends_at_an_hour_is_waited_out(
    status: int | None, said: Any, kind: str, seconds: float | None
) -> None:
    """A plan's daily or weekly allowance comes back by itself; money and a monthly allowance do not."""
    error = said if status is None else {"error": said if isinstance(said, dict) else {"message": said}}
    told = diagnose(error, status)
    assert (told.kind, told.recovery) == (kind, "wait" if kind == "rate_limit" else "none")
    assert told.retry_after_seconds == seconds


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, "internal error: 输入内容超长，请缩短后重试."),
        (
            500,
            {
                "code": 500,
                "message": "input (913 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
            },
        ),
        (400, {"message": "token limit"}),
        (400, {"message": "invalid params, token limit (2013)"}),
        (200, {"base_resp": {"status_code": 1039, "status_msg": "token limit"}}),
        (500, {"code": 500, "message": "context shift is disabled", "type": "server_error"}),
    ],
)
def test_a_short_sentence_that_names_the_input_is_an_overflow(status: int, said: Any) -> None:
    """This also holds with a 500 if only the input can be meant; a failure inside a server is not one."""
    assert diagnose({"error": said}, status).kind == "context_input"
    for other in ("internal error: could not allocate the context", "the token limit service is down"):
        assert diagnose({"error": {"message": other}}, 500).kind == "server_error"


@pytest.mark.proves("O-2")
def test_a_wrapper_that_failed_may_quote_a_refusal() -> None:
    """Dify answers 500, and quotes Alibaba's servers with their own status in front."""
    said = "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 6000]"
    wrapped = f"Server Unavailable Error, Failed to invoke model qwen-max, status code: 500, message: {said}"
    found = parse({"error": {"message": wrapped}}, 500)
    assert found is not None
    assert (found.kind, found.limit) == ("context_input", 6000)
    assert parse({"error": {"message": wrapped.replace("<400> ", "")}}, 500) is None


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (
            400,
            "The decoder prompt contains a(n) image item with length 6100, which exceeds the cache size 4800.",
            "image_limit",
        ),
        (400, "image tokens 5120 exceed per-image limit 4096", "image_limit"),
        (400, "Invalid logit_bias: token id 100300 exceeds maximum of 100257 tokens", "bad_request"),
        (400, "logit_bias: maximum of 300 tokens allowed, got 512", "bad_request"),
        (
            429,
            "Error: 429 No deployments available - crossed budget: Exceeded budget for deployment x: 0.36 >= 1d",
            "quota",
        ),
        (400, "Budget has been exceeded! Current cost: 26.1, Max budget: 0.25", "quota"),
        (None, "You have exceeded your premium request allowance. We have switched you to another model.", "quota"),
        (None, "You have reached your monthly limit for premium requests", "quota"),
        (
            None,
            "Sorry, you've hit a rate limit of requests. Please try again in 2 hours. Please review our terms.",
            "rate_limit",
        ),
        (500, "error: input prompt is too big compared to KV size, please increase KV size", "context_input"),
        (
            400,
            "prompt tokens 9000 exceed the context budget 8192; the context budget has been exceeded",
            "context_input",
        ),
    ],
)
def test_what_gateways_and_plans_say_is_not_an_overflow(status: int | None, text: str, kind: str) -> None:
    """An image has tokens, a table of weights has them, and a budget may be one of money."""
    assert diagnose({"error": {"message": text}} if status else text, status).kind == kind
