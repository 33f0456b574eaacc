"""Does the double refuse as providers do: in their whole sentences, with the numbers that a reader has to find?"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.stated import FORMS, WIRES, stated

from penstock.models.refusals import refuser
from penstock.models.sizes import BYTES_PER_TOKEN, IMAGE_TOKENS, size_of, text_of
from penstock.overflow import diagnose, parse
from penstock.wires.wire import RequestSize

amounts = st.one_of(st.integers(1, 40), st.integers(1, 3_000_000))
limits = st.one_of(st.integers(1_000, 1_100), st.integers(1_000, 3_000_000))  # 400 or 500 may also be a status


@pytest.mark.proves("O-2")
@given(
    st.sampled_from(FORMS),
    st.sampled_from(WIRES),
    amounts,
    st.one_of(st.just(0), amounts),
    st.one_of(st.just(0), amounts),
    limits,
)
def test_every_refusal_is_read_with_exactly_its_numbers(
    form: Any, wire: str, prompt: int, tools: int, reply: int, limit: int
) -> None:
    """This covers any size above any limit, as a body, as its JSON, and within a stream's event."""
    size = RequestSize(prompt, tools, reply)
    if not refuser(wire, form).exceeds(size, limit):
        assert prompt + tools + (0 if (form, wire) == ("openai", "openai-responses") else reply) <= limit
        return
    body = refuser(wire, form).refusal(size, limit)
    expected = stated(form, wire, size, limit)
    for error in (body, json.dumps(body), f"event: error\ndata: {json.dumps(body)}\n\n"):
        found = parse(error, 400)
        assert (None if found is None else dataclasses.asdict(found)) == expected
    if expected is None:
        assert diagnose(body, 400).kind == "output_cap"


@pytest.mark.parametrize(
    ("form", "wire", "size", "words"),
    [
        (
            "openai",
            "openai-chat",
            RequestSize(35_569),
            (
                "This model's maximum context length is 4097 tokens. However, your messages resulted in 35569 tokens. Please "
                "reduce the length of the messages."
            ),
        ),
        (
            "openai",
            "openai-chat",
            RequestSize(149_000, 1_000),
            (
                "This model's maximum context length is 4097 tokens. However, your messages resulted in 150000 tokens (149000 in "
                "the messages, 1000 in the functions). Please reduce the length of the messages or functions."
            ),
        ),
        (
            "openai",
            "openai-chat",
            RequestSize(116, 0, 4_000),
            (
                "This model's maximum context length is 4097 tokens. However, you requested 4116 tokens (116 in the messages, 4000 "
                "in the completion). Please reduce the length of the messages or completion."
            ),
        ),
        (
            "openai",
            "openai-chat",
            RequestSize(100, 16, 4_000),
            (
                "This model's maximum context length is 4097 tokens. However, you requested 4116 tokens (100 in the messages, 16 "
                "in the functions, and 4000 in the completion). Please reduce the length of the messages, functions, or completion."
            ),
        ),
        (
            "openai",
            "openai-responses",
            RequestSize(5_000),
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        ("anthropic", "anthropic", RequestSize(213_462), "prompt is too long: 213462 tokens > 4097 maximum"),
        (
            "anthropic",
            "anthropic",
            RequestSize(4_000, 0, 98),
            (
                "input length and `max_tokens` exceed context limit: 4000 + 98 > 4097, decrease input length or `max_tokens` and "
                "try again"
            ),
        ),
        (
            "vllm",
            "openai-chat",
            RequestSize(568, 0, 6_048),
            (
                "This model's maximum context length is 4097 tokens. However, you requested 6616 tokens (568 in the messages, 6048 "
                "in the completion). Please reduce the length of the messages or completion."
            ),
        ),
        (
            "vllm-input",
            "openai-chat",
            RequestSize(996_201),
            (
                "This model's maximum context length is 4097 tokens. However, your request has 996201 input tokens. Please reduce "
                "the length of the input messages."
            ),
        ),
        (
            "vllm-input",
            "openai-chat",
            RequestSize(4_000, 0, 5_000),
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4097 tokens "
                "and your request has 4000 input tokens (5000 > 4097 - 4000)."
            ),
        ),
        (
            "vllm-lower-bound",
            "openai-chat",
            RequestSize(900_000, 0, 97),
            (
                "This model's maximum context length is 4097 tokens. However, you requested 97 output tokens and your prompt "
                "contains at least 4001 input tokens, for a total of at least 4098 tokens. Please reduce the length of the input "
                "prompt or the number of requested output tokens. (parameter=input_tokens, value=4001)"
            ),
        ),
    ],
)
def test_the_words_are_the_providers_own(form: Any, wire: str, size: RequestSize, words: str) -> None:
    """They are letter for letter as seen in practice, in the envelope of that provider."""
    body = refuser(wire, form).refusal(size, 4_097)
    told = body.get("error", body)
    assert told["message"] == words
    kinds = {"openai": "invalid_request_error", "anthropic": "invalid_request_error"}
    assert told["type"] == kinds.get(form, "BadRequestError")
    assert ("object" in body) == (form == "vllm")  # the oldest has no envelope
    codes = {"openai": "context_length_exceeded", "anthropic": None}
    assert told.get("code") == codes.get(form, 400)


def test_a_request_is_counted_by_its_texts_and_its_media() -> None:
    """Keys, texts and numbers count in their order; images and files by what they are, wherever a wire puts them."""
    request = {
        "model": "left out",
        "system": "be brief",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look"}, {"n": [1, 2.5, True, None]}]},
        ],
        "tools": [{"name": "t"}],
    }
    lines = "be brief role user content type text text look n 1 2.5"
    assert size_of(request, "anthropic", len) == (len(lines), len("name t"), 0)
    assert text_of(request["messages"]) == lines.removeprefix("be brief ").replace(" ", "\n")


data = "QUJD" * 400
KILOBYTE_TOKENS = 1_200 // BYTES_PER_TOKEN


@pytest.mark.parametrize(
    ("wire", "block", "tokens", "lines"),
    [
        ("openai-chat", {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}, IMAGE_TOKENS, ""),
        ("openai-responses", {"type": "input_image", "image_url": "https://example.org/a.png"}, IMAGE_TOKENS, ""),
        ("anthropic", {"type": "image", "source": {"type": "base64", "data": data}}, IMAGE_TOKENS, ""),
        (
            "openai-chat",
            {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
            KILOBYTE_TOKENS,
            "type\ninput_audio\ninput_audio\nformat\nwav",
        ),
        ("openai-responses", {"type": "input_file", "file_data": data}, KILOBYTE_TOKENS, "type\ninput_file"),
        (
            "anthropic",
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}},
            KILOBYTE_TOKENS,
            "type\ndocument\nsource\ntype\nbase64\nmedia_type\napplication/pdf",
        ),
        ("gemini", {"inlineData": {"mimeType": "image/png", "data": data}}, IMAGE_TOKENS, "inlineData"),
        ("bedrock", {"image": {"format": "png", "source": {"bytes": data}}}, IMAGE_TOKENS, "image"),
        (
            "gemini",
            {"inline_data": {"mime_type": "application/pdf", "data": data}},
            KILOBYTE_TOKENS,
            "inline_data\nmime_type\napplication/pdf",
        ),
        (
            "bedrock",
            {"document": {"format": "pdf", "name": "d", "source": {"bytes": data}}},
            KILOBYTE_TOKENS,
            "document\nformat\npdf\nname\nd\nsource",
        ),
        (
            "anthropic",
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain words"}},
            0,
            "type\ndocument\nsource\ntype\ntext\nmedia_type\ntext/plain\ndata\nplain words",
        ),
    ],
)
def test_media_count_as_media_and_a_plain_document_as_text(
    wire: str, block: dict[str, Any], tokens: int, lines: str
) -> None:
    """Base64 is not text, so a photo is not a million tokens; a document of plain text is text."""
    field = {"openai-responses": "input", "gemini": "contents"}.get(wire, "messages")
    assert size_of({field: [block]}, wire, len).prompt_tokens == tokens + len(lines)
    assert text_of(block) == lines


@pytest.mark.parametrize(
    ("wire", "body", "reply"),
    [
        ("openai-chat", {"max_tokens": 5}, 5),
        ("openai-chat", {"max_completion_tokens": 7, "max_tokens": 5}, 7),
        ("openai-chat", {"max_completion_tokens": None, "max_tokens": 5}, 5),
        ("openai-responses", {"max_output_tokens": 5, "max_tokens": 9}, 5),
        ("anthropic", {"max_tokens": 5}, 5),
        ("anthropic", {}, 0),
    ],
)
def test_the_reply_is_asked_where_the_wire_asks_it(wire: str, body: dict[str, Any], reply: int) -> None:
    """Each wire has its own name for it, chat two; the newer one counts."""
    assert size_of(body, wire, len) == (0, 0, reply)


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
)


@given(values)
def test_any_json_has_a_size(value: Any) -> None:
    """Foreign JSON of any shape is counted, and never raises."""
    request = {"messages": value, "tools": value, "input": value, "max_tokens": value}
    for wire in WIRES:
        assert min(size_of(request, wire, len)) >= 0
    assert isinstance(text_of(value), str)


def test_a_request_of_any_depth_has_a_size() -> None:
    """There is no recursion: nesting a hundred thousand deep is counted."""
    deep: Any = "bottom"
    for _ in range(100_000):
        deep = [deep]
    assert size_of({"messages": deep}, "openai-chat", len).prompt_tokens == len("bottom")
