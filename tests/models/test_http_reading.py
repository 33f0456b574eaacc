"""Do the events of a stream add up to the body of the same answer, however they divide it and whoever sends them?"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.stated import WIRES

from penstock.models import Disconnected, Refused, Unreadable
from penstock.models.reading import AnswerStream, read_answer
from penstock.overflow import diagnose
from penstock.wires import answer_messages, answer_words, wire_named
from penstock.wires.placeholders import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = Any
texts = st.text(max_size=40)
cuts = st.lists(st.integers(0, 40), max_size=6)
arguments = st.dictionaries(
    st.text(max_size=5), st.recursive(st.none() | st.integers() | texts, st.lists, max_leaves=5)
)


def pieces(text: str, places: list[int]) -> list[str]:
    """Return the text, cut at these places; pieces may be empty."""
    ends = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


def gathered(wire: str, events: Iterable[Json]) -> tuple[Json, str]:
    """Return the body that events add up to, and the words that came meanwhile."""
    stream = AnswerStream(wire)
    words = "".join([stream.feed(event if isinstance(event, str) else json.dumps(event)) for event in events])
    return stream.body(), words


def delta(finish: str | None = None, index: int = 0, **told: Json) -> Json:
    """Return a chunk of a chat's stream."""
    return {"id": "c", "choices": [{"index": index, "delta": told, "finish_reason": finish}]}


def part(index: int, call: Json, **function: str) -> Json:
    """Return a piece of a call in a chat's stream."""
    return delta(tool_calls=[{"index": index, **call, "function": function}])


# ── whatever the cuts ────────────────────────────────────────────────────────────────────────────────────────────


@given(texts, cuts, st.lists(st.tuples(arguments, cuts), max_size=3))
def test_a_chat_is_put_together(text: str, places: list[int], calls: list[tuple[dict[str, Any], list[int]]]) -> None:
    """Words and the arguments of calls are exact to the byte."""
    events = [delta(role="assistant", content=piece) for piece in pieces(text, places)]
    made = []
    for index, (given_, at) in enumerate(calls):
        written = json.dumps(given_)
        events.append(part(index, {"id": f"id{index}", "type": "function"}, name="find", arguments=""))
        events += [part(index, {}, arguments=piece) for piece in pieces(written, at)]
        made.append({"id": f"id{index}", "type": "function", "function": {"name": "find", "arguments": written}})
    usage = {"id": "c", "choices": [], "usage": {"prompt_tokens": 5}}
    body, words = gathered("openai-chat", [*events, delta("stop"), usage, "[DONE]"])
    message = {"role": "assistant", "content": text, "refusal": None} | ({"tool_calls": made} if made else {})
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    assert body == {"id": "c", "object": "chat.completion", "choices": [choice], "usage": {"prompt_tokens": 5}}
    assert words == text == wire_named("openai-chat").answers.text(body)


@given(texts, texts, cuts, arguments)
def test_an_answer_of_anthropic_is_put_together(text: str, thought: str, at: list[int], given_: dict[str, Any]) -> None:
    """Thinking keeps its signature, a call its input; usage is what was reported last."""
    blocks: list[Json] = [
        {"type": "thinking", "thinking": thought, "signature": "c2ln" * 9},
        {"type": "redacted_thinking", "data": "b64=="},
        {"type": "text", "text": text, "citations": [{"n": 1}, {"n": 2}]},
        {"type": "tool_use", "id": "t", "name": "find", "input": given_},
    ]
    starts = [blocks[0] | {"thinking": "", "signature": ""}, blocks[1]]
    starts += [{"type": "text", "text": "", "citations": None}, blocks[3] | {"input": {}}]
    deltas: list[list[Json]] = [
        [{"type": "thinking_delta", "thinking": piece} for piece in pieces(thought, at)]
        + [{"type": "signature_delta", "signature": blocks[0]["signature"]}],
        [],
        [{"type": "text_delta", "text": piece} for piece in pieces(text, at)]
        + [{"type": "citations_delta", "citation": {"n": n}} for n in (1, 2)],
        [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(json.dumps(given_), at)],
    ]
    head: Json = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }
    usage = {"input_tokens": 9, "cache_read_input_tokens": 3, "output_tokens": 1}
    events: list[Json] = [{"type": "message_start", "message": {**head, "usage": usage}}, {"type": "ping"}]
    for index, start in enumerate(starts):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": told} for told in deltas[index]]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    counted = {"output_tokens": 77, "cache_read_input_tokens": None}
    events += [{"type": "message_delta", "delta": stop, "usage": counted}, {"type": "message_stop"}]
    body, words = gathered("anthropic", events)
    assert body == {**head, **stop, "content": blocks, "usage": {**usage, "output_tokens": 77}}
    assert words == text == wire_named("anthropic").answers.text(body)


NAMES = (
    *("type", "index", "choices", "delta", "message", "tool_calls", "id", "function", "arguments", "content", "usage"),
    *("finish_reason", "response", "output", "item", "output_index", "error", "text", "logprobs", "refusal", "object"),
)
values = st.recursive(
    st.none() | st.integers() | st.sampled_from(["x", "", "message_start", "response.completed", "stop", "error"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)
anthropic_events = st.fixed_dictionaries(
    {"type": st.sampled_from(["message_start", "content_block_start", "content_block_delta", "message_delta"])},
    optional={
        "index": st.sampled_from([0, 1, None, "0", [], -1]),
        "message": st.sampled_from([{"content": 5}, {"usage": 5}, {}, 5]),
        "content_block": st.sampled_from([{}, {"citations": 5, "text": 5, "input": 5}, None]),
        "delta": st.sampled_from([{}, {"text": "x"}, {"citation": 1}, {"partial_json": 5}, {"stop_reason": "x"}, 5]),
        "usage": st.sampled_from([None, 5, {"output_tokens": "x"}]),
    },
)
chat_events = st.builds(
    lambda told, finish: {"choices": [{"index": 0, "delta": told, "finish_reason": finish}]},
    st.dictionaries(st.sampled_from(NAMES), values, max_size=3)
    | st.builds(lambda calls: {"tool_calls": calls}, st.lists(values, max_size=3)),
    st.sampled_from([None, "stop", 5]),
)


@given(
    st.sampled_from(WIRES),
    st.lists(st.sampled_from(["[DONE]", "", "{", "null"]) | values | anthropic_events | chat_events, max_size=8),
)
def test_any_events_are_an_answer_or_a_named_error(wire: str, events: list[Json]) -> None:
    """A provider may send anything, and nothing of it causes an error of ours."""
    try:
        body, words = gathered(wire, events)
    except (Unreadable, Disconnected, Refused):
        return
    assert isinstance(wire_named(wire).answers.text(body), str)
    assert isinstance(words, str)
    assert json.loads(json.dumps(body)) == body


# ── as they are sent ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_chat_as_azure_begins_it() -> None:
    """A chunk of filters comes first, with an empty id."""
    first = {"id": "", "model": "", "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}
    body, _ = gathered("openai-chat", [first, delta(content="hi") | {"model": "gpt"}, delta("stop"), "[DONE]"])
    assert (body["id"], body["model"], body["prompt_filter_results"]) == ("c", "gpt", [{"prompt_index": 0}])


@pytest.mark.parametrize(
    "again", [{}, {"id": None, "type": "function"}, {"id": "", "type": ""}, {"id": "a", "type": "function"}]
)
def test_a_call_whose_head_is_sent_again(again: Json) -> None:
    """It is repeated whole, empty or not at all: an id and a name are never assembled from two."""
    events = [
        part(0, {"id": "a", "type": "function"}, name="find", arguments='{"t'),
        part(0, again, **({"name": "find"} if again.get("id") == "a" else {}), arguments='": 1}'),
        delta("tool_calls"),
    ]
    body, _ = gathered("openai-chat", events)
    called = {"name": "find", "arguments": '{"t": 1}'}
    assert body["choices"][0]["message"]["tool_calls"] == [{"id": "a", "type": "function", "function": called}]


@pytest.mark.parametrize("indices", [(0, 0), (None, None)])
def test_two_calls_of_one_number_are_two(indices: tuple[Json, Json]) -> None:
    """Some servers number every call 0, or none: their ids tell them apart."""
    events = []
    for index, name in zip(indices, "ab", strict=True):
        events.append(part(index, {"id": name, "type": "function"}, name=name, arguments='{"n"'))
        events.append(part(index, {}, arguments=": 1}"))
    body, _ = gathered("openai-chat", [*events, delta("tool_calls")])
    made = [(call["id"], call["function"]) for call in body["choices"][0]["message"]["tool_calls"]]
    assert made == [(name, {"name": name, "arguments": '{"n": 1}'}) for name in "ab"]


@given(texts, texts, cuts, st.booleans(), st.booleans())
def test_a_chat_of_parts_is_put_together(thought: str, text: str, at: list[int], is_plain: bool, begins: bool) -> None:
    """Mistral's reasoning models send thinking and words as parts of the content, or the words as text after it."""

    def thinking(piece: str) -> list[Json]:
        return [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]

    def words(piece: str) -> Json:
        return piece if is_plain else [{"type": "text", "text": piece}]

    told = [delta(role="assistant", content="")] if begins else []
    told += [delta(content=thinking(piece)) for piece in pieces(thought, at)]
    told += [delta(content=words(piece)) for piece in pieces(text, at)]
    body, came = gathered("openai-chat", [*told, delta("stop"), "[DONE]"])
    last = [{"type": "text", "text": text}] if text or not is_plain else []
    message = {"role": "assistant", "content": [*thinking(thought), *last], "refusal": None}
    assert body["choices"] == [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    assert came == text == wire_named("openai-chat").answers.text(body)
    if text:
        (kept,) = answer_messages(body, "openai-chat")
        assert kept["content"] == message["content"]
        assert answer_words(body, "openai-chat") == text


@given(texts.filter(bool), texts.filter(bool), cuts)
def test_reasoning_of_openrouter_is_put_together(thought: str, gist: str, at: list[int]) -> None:
    """A detail for each token becomes one detail, with the last signature; an encrypted one stays separate."""
    kinds = (("reasoning.text", "text", thought), ("reasoning.summary", "summary", gist))
    told = [
        delta(reasoning_details=[{"type": kind, key: piece, "index": index, "signature": None}])
        for index, (kind, key, words) in enumerate(kinds)
        for piece in pieces(words, at)
    ]
    signed: Json = {"type": "reasoning.summary", "index": 1, "signature": "c2ln"}
    hidden: Json = {"type": "reasoning.encrypted", "data": "b64==", "index": 2}
    told += [delta(reasoning_details=[signed, hidden]), delta(reasoning_details=[hidden], content="Yes.")]
    body, _ = gathered("openai-chat", [*told, delta("stop"), "[DONE]"])
    (kept,) = answer_messages(body, "openai-chat")
    assert kept["reasoning_details"] == [
        {"type": "reasoning.text", "text": thought, "index": 0, "signature": None},
        {"type": "reasoning.summary", "summary": gist, "index": 1, "signature": "c2ln"},
        hidden,
        hidden,
    ]


def test_a_chat_goes_from_words_to_parts_and_back() -> None:
    """What was said before the first part becomes one; a part of another kind is left as it is."""
    reference = {"type": "reference", "reference_ids": [1]}
    told: list[Json] = ["on", "ce", [reference], [reference], "up", [{"type": "text", "text": "on"}], None]
    body, came = gathered("openai-chat", [*(delta(content=news) for news in told), delta("stop"), "[DONE]"])
    once, upon = ({"type": "text", "text": said} for said in ("once", "upon"))
    assert body["choices"][0]["message"]["content"] == [once, reference, reference, upon]
    assert came == "onceupon"


def test_a_chat_of_nothing_but_words_in_parts_is_a_text() -> None:
    """Servers that send lists of texts accept a text back, as all others do; thinking alone is not an answer."""
    message: Json = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    assert answer_messages({"choices": [{"message": message}]}, "openai-chat") == [
        {"role": "assistant", "content": "ab"}
    ]
    message = {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}]}
    (kept,) = answer_messages({"choices": [{"message": message}]}, "openai-chat")
    assert kept["content"] == NO_ANSWER


def test_what_else_a_chat_has() -> None:
    """Reasoning and refusals come in pieces, probabilities as a list, and a second choice next to the first."""
    first = delta(reasoning_content="I th", refusal="I c")
    first["choices"][0]["logprobs"] = {"content": [1], "refusal": None}
    second = delta(reasoning_content="ink", refusal="annot", content="a") | {"obfuscation": "x9"}
    second["choices"][0]["logprobs"] = {"content": [2]}
    body, words = gathered(
        "openai-chat", [first, second, delta(index=1, content="b"), delta("stop"), delta("length", 1)]
    )
    one, two = body["choices"]
    expected = {"role": "assistant", "content": "a", "refusal": "I cannot", "reasoning_content": "I think"}
    assert one["message"] == expected
    assert one["logprobs"] == {"content": [1, 2], "refusal": None}
    assert (two["message"]["content"], two["finish_reason"], words) == ("b", "length", "a")
    assert "obfuscation" not in body


def test_an_input_that_was_cut_off_is_not_lost() -> None:
    """If a reply ran out of tokens within a call, whoever runs the call sees that it is incomplete."""
    events = [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "name": "f", "input": {}}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a": "b'}},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}},
    ]
    body, _ = gathered("anthropic", events)
    assert body["content"][0]["input"] == {"INVALID_JSON": '{"a": "b'}


def test_what_the_api_itself_forgot_is_in_the_message() -> None:
    """Anthropic's last event says next to its delta which edits were applied; unstreamed, the message holds them."""
    applied = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 3}]}
    events = [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "hi"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "context_management": applied, "usage": {}},
    ]
    body, _ = gathered("anthropic", events)
    assert body == {
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "context_management": applied,
        "usage": {},
    }


def test_the_model_that_answered_after_another_declined_is_the_answers() -> None:
    """Anthropic's stream begins with the model that was asked; a block says that another goes on and answers."""
    hop = {"type": "fallback", "from": {"model": "first"}, "to": {"model": "second"}, "trigger": {"type": "refusal"}}
    summary = {"type": "compaction_delta", "content": "So far.", "tool_changes": [{"type": "tool_removal"}]}
    events = [
        {"type": "message_start", "message": {"model": "first", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": hop},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "compaction", "content": None}},
        {"type": "content_block_delta", "index": 1, "delta": summary},
        {"type": "message_delta", "delta": {"stop_reason": "compaction"}, "usage": {}},
    ]
    body, _ = gathered("anthropic", events)
    assert body["model"] == "second"
    assert body["content"] == [hop, {**summary, "type": "compaction"}]


def test_how_far_thinking_has_come_is_no_part_of_it() -> None:
    """Anthropic's stream estimates it with a beta; the block goes back unchanged, and its API has no such field there."""
    events: list[Any] = [
        {"type": "message_start", "message": {"content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    ]
    deltas = [
        {"type": "thinking_delta", "thinking": "", "estimated_tokens": 50},
        {"type": "thinking_delta", "thinking": "", "estimated_tokens": None},
        {"type": "signature_delta", "signature": "s"},
    ]
    events += [{"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas]
    body, _ = gathered("anthropic", [*events, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}])
    assert body["content"] == [{"type": "thinking", "thinking": "", "signature": "s"}]


def test_the_text_of_a_custom_tool_comes_in_pieces() -> None:
    """OpenAI streams what a custom tool is given as it streams arguments."""
    begun = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "sql", "input": ""}}
    pieces = [{"index": 0, "custom": {"input": piece}} for piece in ("sel", "ect", " 1")]
    body, _ = gathered("openai-chat", [*(delta(tool_calls=[call]) for call in [begun, *pieces]), delta("tool_calls")])
    (call,) = body["choices"][0]["message"]["tool_calls"]
    assert call == {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}


def test_tools_that_a_response_adds_stay_the_developers() -> None:
    """The API takes `additional_tools` from no other role; of a message the role is the model's, whatever a server says."""
    tools = {"type": "additional_tools", "role": "developer", "tools": []}
    message = {"type": "message", "role": "user", "content": [{"type": "output_text", "text": "hi"}]}
    kept = answer_messages({"output": [tools, message]}, "openai-responses")
    assert kept == [tools, {**message, "role": "assistant"}]


@pytest.mark.parametrize("ending", ["completed", "incomplete"])
def test_a_response_is_the_one_that_ends_its_stream(ending: str) -> None:
    """It includes reasoning with its encrypted content; an incomplete one gives its own reason."""
    items = [
        {"type": "reasoning", "encrypted_content": "x=="},
        {"type": "message", "content": [{"type": "output_text", "text": "hi"}]},
    ]
    response = {"status": ending, "error": None, "output": items, "incomplete_details": {"reason": "max_output_tokens"}}
    events = [
        {"type": "response.created", "response": {"output": []}},
        {"type": "response.output_text.delta", "delta": "hi"},
    ]
    ended = {"type": f"response.{ending}", "response": response}
    body, words = gathered("openai-responses", [*events, ended])
    assert body == response
    assert words == wire_named("openai-responses").answers.text(body) == "hi"
    done = [{"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(items)]
    bare, _ = gathered("openai-responses", [*events, *done[::-1], {**ended, "response": {**response, "output": []}}])
    assert bare == response  # some servers end with the response as it began


@pytest.mark.parametrize(
    ("wire", "event", "kind"),
    [
        ("openai-chat", {"error": {"message": "Slow down.", "type": "rate_limit_error"}}, "rate_limit"),
        ("openai-chat", {"object": "error", "message": "boom", "type": "InternalServerError"}, "server_error"),
        (
            "openai-responses",
            {"type": "error", "code": "server_error", "message": "boom", "param": None},
            "server_error",
        ),
        (
            "openai-responses",
            {
                "type": "response.failed",
                "response": {"error": {"code": "rate_limit_exceeded", "message": "Slow down."}},
            },
            "rate_limit",
        ),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "overloaded"),
    ],
)
def test_an_error_in_a_stream_is_raised_as_a_refusal(wire: str, event: Json, kind: str) -> None:
    """It is in the words of each API, and is never assembled into an answer."""
    with pytest.raises(Refused) as caught:
        AnswerStream(wire).feed(json.dumps(event))
    assert diagnose(caught.value).kind == kind


def test_a_failed_response_does_not_repeat_the_request() -> None:
    """Its error is raised without the instructions next to it, which may say anything."""
    body = {"status": "failed", "error": {"code": "server_error", "message": "boom"}, "output": []}
    body["instructions"] = "prompt is too long: 213462 tokens > 200000 maximum"
    with pytest.raises(Refused) as caught:
        read_answer(json.dumps(body).encode(), "openai-responses")
    assert diagnose(caught.value).kind == "server_error"


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_without_events_is_not_an_answer(wire: str) -> None:
    """An end without a beginning is not one either."""
    for events in ([], ["[DONE]"], [{"type": "message_stop"}, {"type": "response.in_progress"}]):
        with pytest.raises(Disconnected):
            gathered(wire, events)
