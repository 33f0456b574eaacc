"""Is what only Bedrock has handled: blocks named by their one key, bytes, guards, cache points, streams of binary frames?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires.strategies import json_values
from tests.wires.test_violations import GOOD, HELLO, PAPER, THOUGHT, asked, give, said, use

from penstock.context.bill import bill
from penstock.errors import CallerError
from penstock.wires import (
    Media,
    Opaque,
    Reasoning,
    Text,
    answer_messages,
    begin,
    compose_request,
    dump,
    dump_request,
    load,
    load_request,
    output_tokens,
    repair,
    reply_tokens,
    violations,
    wire_named,
    wire_of,
    with_reply_tokens,
)
from penstock.wires.bedrock.frames import EventFrames, frame
from penstock.wires.failures import Unreadable

pytestmark = pytest.mark.proves("LAW-Transcript")

TOOLS = [{"toolSpec": {"name": "view", "inputSchema": {"json": {}}}}, {"cachePoint": {"type": "default"}}]
BODY: dict[str, Any] = {
    "modelId": "eu.anthropic.claude-opus-4-8",
    "messages": [HELLO],
    "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
    "toolConfig": {"tools": TOOLS, "toolChoice": {"auto": {}}},
    "inferenceConfig": {"maxTokens": 900, "temperature": 0.0},
}


def test_what_boto3_takes_is_a_request_of_this_wire_and_no_other() -> None:
    """Instructions, tools, model and reply are found in their places; Anthropic's body has the same names for some of them."""
    talk = load_request(BODY, "bedrock")
    wire = wire_named("bedrock")
    assert wire_of(BODY) == wire_of({"messages": [HELLO], "system": [{"text": "x"}]}) == wire_of([HELLO]) == "bedrock"
    assert wire_of({"system": "x", "messages": [{"role": "user", "content": "hi"}]}) == "anthropic"
    assert wire.codec.read_system(talk.system) == "Be brief."
    assert wire.codec.tool_names(wire.body.tools_of(BODY)) == ["view"]
    assert (reply_tokens(BODY), reply_tokens(with_reply_tokens(BODY, 100, "bedrock"))) == (900, 100)
    assert list(dump_request(talk, BODY).items()) == list(BODY.items())
    assert {item.kind for item in bill(BODY).items} >= {"system", "tools"}
    thinking = {**BODY, "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 700}}}
    assert reply_tokens(with_reply_tokens(thinking, 100, "bedrock")) == 701


def test_a_request_is_composed_as_the_api_takes_it() -> None:
    """Each part has the name that Converse gives it."""
    talk = begin("bedrock", system="Be brief.", tools=TOOLS, prompt="hi")
    assert compose_request(talk, "m", 500) == {
        "modelId": "m",
        "system": [{"text": "Be brief."}],
        "messages": [HELLO],
        "toolConfig": {"tools": TOOLS},
        "inferenceConfig": {"maxTokens": 500},
    }


def test_guards_cache_points_and_reasoning_stay_whole() -> None:
    """Each is recognised, and written back byte for byte."""
    guarded = {"guardContent": {"text": {"text": "Is it safe?", "qualifiers": ["query"]}}}
    point = {"cachePoint": {"type": "default", "ttl": "1h"}}
    secret = {"reasoningContent": {"redactedContent": b"\x00secret"}}
    messages = [asked(guarded, point), said(THOUGHT, secret, {"text": "yes"})]
    talk = load(messages, "bedrock")
    assert [type(part) for part in talk.entries[0].parts] == [Text, Opaque]
    assert talk.entries[0].text == "Is it safe?"
    assert [part.signed for part in talk.entries[1].parts if isinstance(part, Reasoning)] == [True, True]
    assert dump(talk, "bedrock") == messages
    assert violations(messages, "bedrock") == []


def test_a_message_of_results_and_a_cache_point_is_not_a_word_of_the_user() -> None:
    """A cache point only marks a place."""
    talk = load([HELLO, use("a"), asked(*give("a")["content"], {"cachePoint": {"type": "default"}})], "bedrock")
    newest = talk.newest_user()
    assert talk.entries[2].role == "tool"
    assert newest is not None
    assert newest.index == 0


def test_a_cleared_result_keeps_its_status_and_its_neighbours() -> None:
    """Images, documents and JSON in the result are removed whole."""
    image = {"image": {"format": "png", "source": {"bytes": b"ABC"}}}
    result = {"toolUseId": "a", "content": [{"json": {"n": 1}}, image], "status": "error"}
    talk = load([HELLO, use("a", "b"), asked({"toolResult": result}, *give("b")["content"])], "bedrock")
    media = talk.entries[2].results[0].parts[1]
    assert isinstance(media, Media)
    assert (talk.entries[2].results[0].text, media.data, media.bytes_estimate) == ('{"n": 1}', "QUJD", 3)
    shown = dump(talk.replace_result(2, "a", "[cleared]"), "bedrock")[2]["content"]
    assert shown[0] == {"toolResult": {"toolUseId": "a", "content": [{"text": "[cleared]"}], "status": "error"}}
    assert shown[1:] == give("b")["content"]


def test_bytes_count_as_what_they_take_in_the_request() -> None:
    """Encrypted reasoning has the same size as bytes and as base64."""
    sizes = [
        bill([HELLO, said({"reasoningContent": {"redactedContent": held}}, {"text": "y"})], "bedrock").input.tokens
        for held in (b"secret" * 400, "c2VjcmV0" * 400)
    ]
    assert sizes[0] == sizes[1] > 500


def test_documents_are_sent_with_words() -> None:
    """Converse accepts no document without text."""
    block = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
    made = dump(load([{"role": "user", "content": [block]}], "anthropic"), "bedrock")
    assert made[0]["content"] == [PAPER, {"text": "[See the document.]"}]
    assert violations(made, "bedrock") == []


def test_a_message_of_another_api_is_mended_only_as_far_as_it_can_be() -> None:
    """A string becomes a block; blocks with types are dropped, and the actions report it."""
    mended = repair(
        [{"role": "user", "content": "hi"}, GOOD, asked({"type": "text", "text": "x"}, {"text": "y"})], "bedrock"
    )
    assert mended.messages == [HELLO, GOOD, asked({"text": "y"})]
    assert len(mended.actions) == 2


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────────

EVENTS: list[Any] = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "h"}}, "contentBlockIndex": 0}},
    {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "m"}}, "contentBlockIndex": 0}},
    {"contentBlockDelta": {"delta": {"reasoningContent": {"signature": "EqQB=="}}, "contentBlockIndex": 0}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"contentBlockDelta": {"delta": {"text": "I "}, "contentBlockIndex": 1}},
    {"contentBlockDelta": {"delta": {"text": "look"}, "contentBlockIndex": 1}},
    {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "a", "name": "view"}}, "contentBlockIndex": 2}},
    {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"n": '}}, "contentBlockIndex": 2}},
    {"contentBlockDelta": {"delta": {"toolUse": {"input": "1}"}}, "contentBlockIndex": 2}},
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}, "metrics": {"latencyMs": 9}}},
]
WHOLE = said(
    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "EqQB=="}}},
    {"text": "I look"},
    {"toolUse": {"toolUseId": "a", "name": "view", "input": {"n": 1}}},
)


def framed(event: dict[str, Any]) -> bytes:
    kind, payload = next(iter(event.items()))
    return frame({":event-type": kind, ":content-type": "application/json", ":message-type": "event"}, payload)


@given(st.lists(st.integers(1, 400)))
def test_a_stream_adds_up_to_the_message_however_its_bytes_are_cut(cuts: list[int]) -> None:
    """Signature and arguments are exact to the byte; content has begun with the first delta."""
    content = b"".join(map(framed, EVENTS))
    frames, reader, words = EventFrames(), wire_named("bedrock").answers.stream(), ""
    begun = reader.has_content
    for size in [*cuts, len(content)]:
        block, content = content[:size], content[size:]
        for data in frames.feed(block):
            words += reader.feed(json.loads(data))
    assert (begun, reader.has_content, reader.is_complete, words) == (False, True, True, "I look")
    assert answer_messages(reader.body(), "bedrock") == [WHOLE]
    assert output_tokens(reader.body(), "bedrock") == 7


@given(json_values, st.text(max_size=40))
def test_a_frame_is_read_as_it_was_written(payload: Any, kind: str) -> None:
    """This holds for any payload under any name."""
    (data,) = EventFrames().feed(framed({kind: payload}))
    assert json.loads(data) == {kind: payload}


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_frame_is_refused(at: int, change: int) -> None:
    """After one changed byte anywhere, a checksum fails or the frame never becomes whole."""
    content = bytearray(framed(EVENTS[7]))
    content[at % len(content)] ^= change
    try:
        assert list(EventFrames().feed(bytes(content))) == []
    except Unreadable:
        return
    assert int.from_bytes(content[:4], "big") > len(content)


def test_a_streamed_picture_has_its_format_and_its_bytes() -> None:
    """One event begins it with its format, another brings the source: without either the API refuses it in the next request."""
    reader = wire_named("bedrock").answers.stream()
    source = {"source": {"bytes": "aGk="}}
    reader.feed({"contentBlockStart": {"start": {"image": {"format": "png"}}, "contentBlockIndex": 0}})
    reader.feed({"contentBlockDelta": {"delta": {"image": source}, "contentBlockIndex": 0}})
    assert answer_messages(reader.body(), "bedrock") == [said({"image": {"format": "png", **source}})]


def test_words_that_come_with_a_blocks_beginning_are_words() -> None:
    """A compatible server may begin a block with them, and write every other kind as null."""
    reader = wire_named("bedrock").answers.stream()
    events = [
        {"contentBlockStart": {"start": {"text": "Well", "toolUse": None}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"text": None}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"text": " then"}, "contentBlockIndex": 0}},
    ]
    assert [reader.feed(event) for event in events] == ["Well", "", " then"]
    assert answer_messages(reader.body(), "bedrock") == [said({"text": "Well then"})]


def test_an_exception_in_a_stream_is_an_error_event() -> None:
    """Its kind is the one that its header names."""
    headers = {":exception-type": "validationException", ":message-type": "exception"}
    (data,) = EventFrames().feed(frame(headers, {"message": "Input is too long for requested model."}))
    told = {"message": "Input is too long for requested model.", "type": "validationException"}
    assert json.loads(data) == {"error": told}


@pytest.mark.proves("R-8")
@pytest.mark.parametrize(
    "request_", [BODY, [HELLO, GOOD], {"system": [{"text": "x"}], "messages": [HELLO, use("a"), give("a")]}]
)
def test_a_body_of_boto3_is_refused_by_name_on_the_wire_that_it_resembles(request_: Any) -> None:
    """Read as Anthropic's, it would lose every block."""
    with pytest.raises(CallerError, match="a request for bedrock, not for anthropic: say wire='bedrock'"):
        load_request(request_, "anthropic")
