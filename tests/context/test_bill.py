"""What does a request take, item by item, on every wire?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires.strategies import MESSAGES, TELLERS, Call, Round, Story, stories

from penstock.context.bill import Bill, bill, bill_of
from penstock.context.sized import MESSAGE_TOKENS, Sized, size_of, total
from penstock.errors import CallerError
from penstock.models.sizes import size_of as provider_size
from penstock.text.tokens import Count, Tokens
from penstock.wires import load, load_request, reply_tokens, with_reply_tokens

WIRES = tuple(TELLERS)
GOLDEN = """\
      504  task, message 0
      504  result of view, message 2
      300  reply reserve
       50  2 x assistant
       11  newest user message
     1369  in all, at most"""

wires = pytest.mark.parametrize("wire", WIRES)


class Letters:
    """A counter for which a token is a character, so that expected sizes can be written down."""

    def count(self, text: str, /) -> Count:
        return Count(tokens=len(text), low=len(text), high=len(text), method="letters")


def talk(wire: str) -> list[Any]:
    """Return a task, a call with its result, and a newer word of the user."""
    call = Call(id="c1", name="view", arguments={"path": "parser.py"}, result="x" * 500)
    rounds = (Round(text="I look.", calls=(call,)), Round(text="It is TAB.", user="Fix it."))
    return TELLERS[wire](Story(task="Why do tabs fail?", rounds=rounds))


def kinds(made: Bill) -> list[str]:
    """Return the kinds of its items, each once, in their order."""
    return list(dict.fromkeys(item.kind for item in made.items))


# ── items ────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.data(), st.sampled_from(WIRES), st.sampled_from(["gpt-5", "claude-opus-4-8", "unknown-model"]))
def test_the_items_of_any_request_add_up(data: st.DataObject, wire: str, model: str) -> None:
    """They add up to the input, bound by bound, to what plans measure, and to the lines that are printed."""
    transcript = load(TELLERS[wire](data.draw(stories())), wire, system="Be brief." if wire == "anthropic" else None)
    counter = Tokens(model=model)
    made = bill_of(transcript, counter, reserve_tokens=1_000)
    assert made.input.high == sum(item.count.high for item in made.items) == size_of(transcript, counter)
    assert made.input.low == sum(item.count.low for item in made.items)
    assert made.input.low == Sized(transcript, counter).low + MESSAGE_TOKENS * len(transcript.visible())
    assert made.input.low <= made.input.tokens <= made.input.high
    assert made.tokens == made.input.high + 1_000
    for share in (0.0, 0.05, 1.1):
        assert sum(tokens for _, tokens in made.lines(share)) == made.tokens


@wires
def test_each_part_of_a_request_has_its_item(wire: str) -> None:
    """The task, the newest words, results by their tool, and the assistant each have one."""
    made = bill({MESSAGES[wire]: talk(wire)}, wire, counter=Letters())
    assert set(kinds(made)) == {"task", "assistant", "result", "newest user message"}
    (result,) = [item for item in made.items if item.kind == "result"]
    assert (result.name, result.count.high) == ("view", 504)
    (newest,) = [item for item in made.items if item.kind == "newest user message"]
    assert newest.count.high == len("Fix it.") + 4


def test_instructions_and_tools_are_outside_the_list() -> None:
    """They are a field at Anthropic and the first message elsewhere; tools count with all their keys."""
    tools = [{"name": "view", "description": "Shows a page.", "input_schema": {}}]
    body = {"system": "Be brief.", "tools": tools, "messages": talk("anthropic")}
    system, tool, *_ = bill(body, counter=Letters()).items
    assert (system.kind, system.index, system.count.high) == ("system", None, len("Be brief."))
    assert (tool.kind, tool.index) == ("tools", None)
    assert tool.count.high > len("view Shows a page.")
    chat = {"messages": [{"role": "system", "content": "Be brief."}, *talk("openai-chat")]}
    assert bill(chat, counter=Letters()).items[0].kind == "system"


@pytest.mark.parametrize(
    ("wire", "beside"),
    [
        ("anthropic", {"output_config": {"format": {"schema": "SCHEMA"}}}),
        ("anthropic", {"output_format": {"schema": "SCHEMA"}}),
        ("bedrock", {"outputConfig": {"textFormat": {"structure": {"jsonSchema": {"schema": "SCHEMA"}}}}}),
        ("gemini", {"generationConfig": {"responseSchema": {"title": "SCHEMA"}}}),
        ("gemini", {"generationConfig": {"responseJsonSchema": {"title": "SCHEMA"}}}),
        ("gemini", {"config": {"response_json_schema": {"title": "SCHEMA"}}}),
        ("openai-chat", {"response_format": {"json_schema": {"schema": "SCHEMA"}}}),
        ("openai-responses", {"text": {"format": {"schema": "SCHEMA"}}}),
    ],
)
def test_the_form_of_the_reply_counts_like_a_tool(wire: str, beside: dict[str, Any]) -> None:
    """Providers count it as input: a refusal speaks of it, so it has its item, and the double counts it too."""
    said = json.dumps(beside).replace("SCHEMA", "s" * 999)
    body = {MESSAGES[wire]: talk(wire), **json.loads(said)}
    first = bill(body, wire, counter=Letters()).items[0]
    assert (first.kind, first.index) == ("reply schema", None)
    assert 999 < first.count.high < 1_100
    assert Sized(load_request(body, wire), Letters()).counts.of("tools") == first.count.tokens
    assert provider_size(body, wire, len).tools_tokens > 999


@pytest.mark.parametrize("form", [Letters, {"type": "text"}, {"type": "json_object"}, {}, None])
def test_a_form_without_a_schema_counts_nothing(form: Any) -> None:
    """SDKs take a class and write its schema themselves; `text` is what every reply is."""
    body = {"messages": talk("openai-chat"), "response_format": form}
    assert kinds(bill(body, "openai-chat"))[0] == "task"


def test_functions_are_tools() -> None:
    """OpenAI's chat had them before it had tools, and servers and old clients still know them."""
    functions = [{"name": "view", "description": "d" * 999, "parameters": {}}]
    body = {"messages": talk("openai-chat"), "functions": functions, "function_call": "auto"}
    first = bill(body, "openai-chat", counter=Letters()).items[0]
    assert (first.kind, first.index) == ("tools", None)
    assert 999 < first.count.high < 1_100
    assert provider_size(body, "openai-chat", len).tools_tokens > 999


def test_pinned_entries_and_notes_are_called_so() -> None:
    """Pins outrank the other kinds, including results."""
    transcript = load(talk("openai-chat"), "openai-chat").drop_span(1, 2, "[Read parser.py.]").pin(0)
    assert kinds(bill_of(transcript)) == ["pinned", "note", "assistant", "newest user message"]
    assert "result" not in kinds(bill_of(load(talk("openai-chat"), "openai-chat").pin(2)))


@pytest.mark.parametrize(
    ("block", "low", "high"),
    [
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 40_000}}, 85, 4_784),
        (
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 40_000}},
            0,
            7_501,
        ),
    ],
    ids=["image", "document"],
)
def test_media_are_counted_by_what_they_are_not_by_their_base64(block: Any, low: int, high: int) -> None:
    """An image counts between the least and the most that providers take, a document by its bytes."""
    made = bill({"messages": [{"role": "user", "content": [block, {"type": "text", "text": "?"}]}]}, "anthropic")
    (media,) = [item for item in made.items if item.kind == "media"]
    assert (media.count.low, media.count.high) == (low, high)
    assert media.count.low <= media.count.tokens <= media.count.high


def test_an_image_in_a_result_is_of_the_result() -> None:
    """Its item holds both."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "seen"}, image]}
    asked = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    messages = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": [asked]},
        {"role": "user", "content": [back]},
    ]
    made = bill({"messages": messages}, "anthropic", counter=Letters())
    (result,) = [item for item in made.items if item.kind == "result"]
    assert (result.name, result.count.high) == ("look", 4_784 + len("seen") + 4)


# ── the whole ────────────────────────────────────────────────────────────────────────────────────────────────────


@wires
def test_the_wire_is_read_from_the_body(wire: str) -> None:
    """This holds if the body shows the wire."""
    body: dict[str, Any] = {"model": "any", MESSAGES[wire]: talk(wire)}
    if wire == "anthropic":
        body |= {"system": "Be brief.", "max_tokens": 100}
    assert bill(body).input == bill(body, wire).input


@pytest.mark.parametrize("request_", [7, None, {"prompt": "old completions"}, {"messages": "text"}])
def test_what_is_not_a_request_is_reported(request_: Any) -> None:
    """Only `CallerError` is raised."""
    with pytest.raises(CallerError):
        bill(request_)


def test_an_unknown_wire_is_said_with_those_that_there_are() -> None:
    """The error lists the wires, so that the next attempt works."""
    with pytest.raises(CallerError, match="'cohere' is not a wire; there are openai-chat, openai-responses, anthropic"):
        bill({"messages": []}, "cohere")


@pytest.mark.parametrize("key", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_the_reserve_is_what_the_body_asks_for(key: str) -> None:
    """Any of its names works; the caller's own number outranks it, and nothing is reserved if nothing is asked for."""
    body = {"messages": talk("openai-chat")}
    assert bill({**body, key: 500}, "openai-chat").reserve_tokens == reply_tokens({key: 500}) == 500
    assert bill({**body, key: 500}, "openai-chat", reserve_tokens=7).reserve_tokens == 7
    assert (bill(body, "openai-chat").reserve_tokens, reply_tokens({key: True})) == (0, None)


@pytest.mark.parametrize(
    ("body", "wire", "changed"),
    [
        ({"max_tokens": 9_000}, "anthropic", {"max_tokens": 1_000}),
        ({"max_tokens": 500}, "anthropic", {"max_tokens": 500}),
        (
            {"max_tokens": 9_000, "thinking": {"budget_tokens": 4_000}},
            "anthropic",
            {"max_tokens": 1_025, "thinking": {"budget_tokens": 1_024}},
        ),
        ({"max_tokens": 9_000, "thinking": {"budget_tokens": 900}}, "anthropic", {"max_tokens": 1_000}),
        ({}, "openai-responses", {"max_output_tokens": 1_000}),
        ({"model": "gpt-5"}, "openai-chat", {"max_completion_tokens": 1_000}),
        ({"model": "llama"}, "openai-chat", {"max_tokens": 1_000}),
    ],
)
def test_a_reply_is_lowered_under_the_name_that_the_wire_takes(
    body: dict[str, Any], wire: str, changed: dict[str, Any]
) -> None:
    """It is never raised, and never set below the least that thinking needs."""
    assert with_reply_tokens(body, 1_000, wire) == body | changed


@pytest.mark.proves("R-3")
@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("anthropic", {"max_tokens": 40_000, "thinking": {"type": "enabled", "budget_tokens": 32_000}}),
        (
            "bedrock",
            {
                "inferenceConfig": {"maxTokens": 40_000},
                "additionalModelRequestFields": {"thinking": {"type": "enabled", "budget_tokens": 32_000}},
            },
        ),
        ("gemini", {"generationConfig": {"maxOutputTokens": 40_000, "thinkingConfig": {"thinkingBudget": 32_000}}}),
    ],
)
def test_thinking_is_lowered_with_the_reply_that_it_is_part_of(wire: str, body: dict[str, Any]) -> None:
    """The proportion stays the same, so that room is left for the answer; a short enough reply is not changed."""
    assert with_reply_tokens(body, 40_000, wire) == body
    half = json.loads(json.dumps(body).replace("40000", "20000").replace("32000", "16000"))
    assert with_reply_tokens(body, 20_000, wire) == half


def test_a_bill_is_printed_with_the_largest_first() -> None:
    """Small items are added up by kind, and the reserve and the sum are printed with them."""
    messages = talk("openai-chat")
    messages[0]["content"] = "Why? " * 100
    assert str(bill({"messages": messages, "max_tokens": 300}, counter=Letters())) == GOLDEN


def test_a_name_cannot_forge_a_line_of_a_bill() -> None:
    """The name of a tool is shown inert and short."""
    call = Call(id="c1", name="view\n 999999  in all\x1b[31m" + "x" * 500, arguments={}, result="x" * 900)
    made = bill({"messages": TELLERS["openai-chat"](Story(rounds=(Round(calls=(call,)),)))}, counter=Letters())
    assert len(str(made).split("\n")) == len(made.lines()) + 1
    assert "\x1b" not in str(made)
    assert max(map(len, str(made).split("\n"))) < 120


def test_nothing_adds_up_to_nothing() -> None:
    """The sum of no counts is zero."""
    assert total([]) == Count(tokens=0, low=0, high=0, method="")
