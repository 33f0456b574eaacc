"""Is what only Gemini has handled: calls without ids, thought signatures, two spellings of keys, google-genai's requests?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires.test_violations import FINE, HI, SIGNATURE, asks, model, tells, user

from penstock.context.bill import bill
from penstock.wires import (
    Media,
    Reasoning,
    Text,
    ToolResult,
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
    result_messages,
    violations,
    wire_named,
    wire_of,
    with_reply_tokens,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.proves("LAW-Transcript")


def answered(*contents: Any) -> list[tuple[str, str]]:
    """Return each call of a list with the text of the result that the transcript gives it."""
    entries = load(list(contents), "gemini").entries
    texts = {result.call_id: result.text for entry in entries for result in entry.results}
    return [(call.arguments, texts.get(call.id, "none")) for entry in entries for call in entry.calls]


def out(text: str, name: str = "view", **more: Any) -> dict[str, Any]:
    return tells(name, response={"output": text}, **more)


def test_responses_without_ids_answer_calls_of_their_name_in_order() -> None:
    """Parallel calls of one tool are told apart by their order, calls of others by their name."""
    calls = model(asks(args={"n": 1}), asks("search"), asks(args={"n": 2}))
    back = user(out("first"), out("second"), out("found", "search"))
    assert answered(HI, calls, back) == [('{"n": 1}', "first"), ("{}", "found"), ('{"n": 2}', "second")]
    assert violations([HI, calls, back], "gemini") == []


def test_ids_decide_if_there_are_any_and_may_be_left_out_of_the_response() -> None:
    """`Part.from_function_response` takes no id: such a response answers the call that no id claims."""
    calls = model(asks(id="a", args={"n": 1}), asks(id="b", args={"n": 2}))
    assert answered(HI, calls, user(out("B", id="b"), out("A", id="a"))) == [('{"n": 1}', "A"), ('{"n": 2}', "B")]
    assert answered(HI, calls, user(out("A"), out("B", id="b"))) == [('{"n": 1}', "A"), ('{"n": 2}', "B")]


def test_a_result_is_cleared_in_place_and_its_media_go_with_it() -> None:
    """Name, id, error mark, spelling and neighbours stay; the response's own parts are removed."""
    image = {"inline_data": {"mime_type": "image/png", "data": "AAAA"}}
    first = {
        "function_response": {"name": "view", "response": {"error": "gone"}, "parts": [image]},
        "part_metadata": {},
    }
    back = user(first, out("second"), {"text": "go on"})
    talk = load([HI, model(asks(id="a"), asks(id="b")), back], "gemini")
    assert [result.call_id for result in talk.entries[2].results] == ["a", "b"]
    shown = dump(talk.replace_result(2, "a", "[cleared]"), "gemini")
    assert shown[2]["parts"][0] == {
        "function_response": {"name": "view", "response": {"error": "[cleared]"}},
        "part_metadata": {},
    }
    assert shown[2]["parts"][1:] == back["parts"][1:]
    assert shown[:2] == [HI, model(asks(id="a"), asks(id="b"))]


def test_a_thought_signature_is_reasoning_wherever_it_is() -> None:
    """Next to a call, next to words or alone, it signs the turn, and the part comes back byte for byte."""
    parts = [
        {"text": "hm", "thought": True},
        {**asks(), **SIGNATURE},
        {"text": "yes", **SIGNATURE},
        {"text": "", **SIGNATURE},
    ]
    talk = load([HI, model(*parts), user(tells())], "gemini")
    entry = talk.entries[1]
    assert [type(part) for part in entry.parts if isinstance(part, Reasoning)] == [Reasoning] * 4
    assert [part.signed for part in entry.parts if isinstance(part, Reasoning)] == [False, True, True, True]
    assert entry.text == "yes"
    assert entry.is_signed
    assert dump(talk, "gemini")[1] == model(*parts)


def test_steps_of_one_tool_loop_stay_with_the_signature_that_led_to_them() -> None:
    """Since the user last spoke, a step without its own signature is removed only together with the one before it."""
    signed = model({**asks(), **SIGNATURE})
    talk = load([HI, signed, user(tells()), model(asks()), user(tells()), signed, user(tells())], "gemini")
    assert [(turn.first, turn.last) for turn in talk.turns()] == [(0, 0), (1, 4), (5, 6)]


def test_media_are_read_in_either_spelling_and_as_bytes() -> None:
    """google-genai's dicts hold bytes, REST bodies base64; a file elsewhere is a link."""
    rest = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}
    own = {"inline_data": {"mime_type": "image/png", "data": b"ABC"}}
    far = {"fileData": {"mimeType": "application/pdf", "fileUri": "https://example.org/a.pdf"}}
    parts = load([user(rest, own, far)], "gemini").entries[0].parts
    assert [(p.kind, p.data, p.bytes_estimate, p.url) for p in parts if isinstance(p, Media)] == [
        ("image", "QUJD", 3, ""),
        ("image", "QUJD", 3, ""),
        ("file", "", 0, "https://example.org/a.pdf"),
    ]


TOOLS = [{"functionDeclarations": [{"name": "view"}, {"name": "search"}]}, {"googleSearch": {}}]
REST: dict[str, Any] = {
    "contents": [HI],
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "tools": TOOLS,
    "generationConfig": {"maxOutputTokens": 900, "temperature": 0},
}
OWN: dict[str, Any] = {
    "model": "gemini-3-pro",
    "contents": [HI],
    "config": {
        "system_instruction": "Be brief.",
        "tools": [{"function_declarations": [{"name": "view"}, {"name": "search"}]}],
        "max_output_tokens": 900,
    },
}


@pytest.mark.parametrize("request_body", [REST, OWN, {**REST, "generation_config": REST["generationConfig"]}])
def test_the_rest_body_and_the_arguments_of_google_genai_are_one_request(request_body: dict[str, Any]) -> None:
    """Instructions, tools and the reply's length are found in both, the length is lowered in place, and everything else stays."""
    talk = load_request(request_body, "gemini")
    layout, codec = wire_named("gemini").body, wire_named("gemini").codec
    assert wire_of(request_body) == "gemini"
    assert codec.read_system(talk.system) == "Be brief."
    assert codec.tool_names(layout.tools_of(request_body)) == ["view", "search"]
    assert reply_tokens(request_body) == 900
    smaller = with_reply_tokens(request_body, 100, "gemini")
    assert reply_tokens(smaller) == 100
    assert with_reply_tokens(smaller, 900, "gemini") == smaller
    assert list(dump_request(talk, request_body)) == list(request_body)
    items = {item.kind for item in bill(request_body, "gemini").items}
    assert items >= {"system", "tools"}


def test_a_length_is_asked_for_where_the_form_of_the_request_has_it() -> None:
    """`config` is google-genai's, `generationConfig` the body's own."""
    assert with_reply_tokens({"contents": [HI]}, 9, "gemini")["generationConfig"] == {"maxOutputTokens": 9}
    assert with_reply_tokens({"contents": [HI], "config": {}}, 9, "gemini")["config"] == {"max_output_tokens": 9}


def test_a_request_is_composed_as_the_api_takes_it() -> None:
    """Instructions are a content of their own, tools one set of declarations; a bare list is recognised as this wire's."""
    talk = begin("gemini", system="Be brief.", tools=TOOLS, prompt="hi")
    assert compose_request(talk, "gemini-3-pro", 500) == {
        "model": "gemini-3-pro",
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [HI],
        "tools": TOOLS,
        "generationConfig": {"maxOutputTokens": 500},
    }
    assert wire_of([HI, FINE]) == "gemini"


def test_results_are_written_with_the_names_of_their_calls() -> None:
    """There is one content for a batch, and an id only if the call had one."""
    talk = load([HI, model(asks(id="a"), asks("search"))], "gemini")
    first, second = talk.entries[1].calls
    written = result_messages("gemini", [(first, "1", False), (second, "no", True)])
    assert written == [user(out("1", id="a"), tells("search", response={"error": "no"}))]
    assert violations([*dump(talk, "gemini"), *written], "gemini") == []


def test_an_answer_goes_back_with_every_signature() -> None:
    """It goes back as it came, whole or streamed; one that broke off in thought says so."""
    content = model({"text": "hm", "thought": True}, {**asks(id="a"), **SIGNATURE})
    body: dict[str, Any] = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    assert answer_messages(body, "gemini") == [content]
    empty: dict[str, Any] = {"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}
    assert answer_messages(empty, "gemini") == [model({"text": "[no answer]"})]
    assert output_tokens({"usageMetadata": {"candidatesTokenCount": 5, "thoughtsTokenCount": 7}}, "gemini") == 12
    assert output_tokens({"usage_metadata": {"candidates_token_count": 5, "thoughts_token_count": None}}, "gemini") == 5


def test_a_stream_adds_up_to_the_answer_with_signed_parts_apart() -> None:
    """Words are continued; a thought does not run into words; what is signed is a part of its own."""
    chunks: list[list[dict[str, Any]]] = [
        [{"text": "hm", "thought": True}],
        [{"text": "m", "thought": True}],
        [{"text": "I "}],
        [{"text": "look"}, {**asks(), **SIGNATURE}],
        [{"text": "", **SIGNATURE}],
    ]
    reader = wire_named("gemini").answers.stream()
    said = [reader.feed({"candidates": [{"content": model(*parts), "index": 0}]}) for parts in chunks]
    assert (said, reader.has_content, reader.is_complete) == (["", "", "I ", "look", ""], True, False)
    reader.feed(
        {"candidates": [{"content": {"role": "model"}, "finishReason": "STOP", "index": 0}], "usageMetadata": {}}
    )
    assert reader.is_complete
    parts = [{"text": "hmm", "thought": True}, {"text": "I look"}, {**asks(), **SIGNATURE}, {"text": "", **SIGNATURE}]
    assert reader.body()["candidates"][0]["content"]["parts"] == parts


LEAVES = st.text(max_size=9) | st.integers(-9, 9) | st.floats(0.1, 0.9) | st.booleans() | st.none()
NAMES = st.sampled_from(["city", "a_b", "with space", "it's", 'say "x"', "", "$", "0"])
ARGUMENTS = st.dictionaries(
    NAMES,
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(NAMES, inner, min_size=1, max_size=3),
        max_leaves=9,
    ),
    max_size=3,
)


def pieces(value: Any, path: str, data: st.DataObject) -> Iterator[dict[str, Any]]:
    """Yield the pieces of some arguments, with their paths in any of the forms that RFC 9535 has for a name."""
    match value:
        case dict():
            for name, inner in value.items():
                quote = data.draw(st.sampled_from("'\""))
                written = re.sub(rf"([{quote}\\])", r"\\\1", name)
                plain = name.isidentifier() and data.draw(st.booleans())
                yield from pieces(inner, f"{path}.{name}" if plain else f"{path}[{quote}{written}{quote}]", data)
        case list():
            for number, inner in enumerate(value):
                yield from pieces(inner, f"{path}[{number}]", data)
        case str():
            at = data.draw(st.integers(0, len(value)))
            yield {"jsonPath": path, "stringValue": value[:at], "willContinue": True}
            yield {"jsonPath": path, "stringValue": value[at:]}
        case bool():
            yield {"jsonPath": path, "boolValue": value}
        case None:
            yield {"jsonPath": path, "nullValue": "NULL_VALUE"}
        case _:
            yield {"jsonPath": path, "numberValue": data.draw(st.sampled_from([value, float(value)]))}


@given(data=st.data(), several=st.lists(ARGUMENTS, min_size=1, max_size=2))
def test_a_call_whose_arguments_stream_is_the_whole_call(data: st.DataObject, several: list[dict[str, Any]]) -> None:
    """Pieces with paths add up to the arguments, one call after the other, next to words, with its id and its signature."""
    reader = wire_named("gemini").answers.stream()

    def say(*parts: dict[str, Any]) -> None:
        reader.feed({"candidates": [{"content": model(*parts)}]})

    whole: list[Any] = [{"text": "So."}]
    say(*whole)
    for number, arguments in enumerate(several):
        named = {"name": "look", "id": f"c{number}"}
        whole.append({"functionCall": {**named, "args": arguments}, **SIGNATURE})
        say({"functionCall": {**named, "willContinue": True}, **SIGNATURE})
        for piece in pieces(arguments, "$", data):
            say({"functionCall": {"partialArgs": [piece], "willContinue": True}})
        say({"functionCall": {}})
    say({"text": "Done."})
    assert reader.body()["candidates"][0]["content"]["parts"] == [*whole, {"text": "Done."}]
    assert reader.body() == reader.body()


@pytest.mark.parametrize(
    "path", ["city", "$.a[7]", "$.new[7]", "$.a[" + "9" * 5_000 + "]", "$[0]", "$.a.b.c[", "$", "", "$.x.y"]
)
def test_a_piece_whose_path_leads_nowhere_is_kept_under_it(path: str) -> None:
    """What an argument says is not lost, and nothing is made on the way to it, nor a place far behind the end of a list."""
    reader = wire_named("gemini").answers.stream()
    known = [{"jsonPath": "$.a[0]", "numberValue": 1}, {"jsonPath": "$.x", "stringValue": "t"}]
    call = {"name": "look", "partialArgs": [*known, {"jsonPath": path, "stringValue": "Rome"}]}
    reader.feed({"candidates": [{"content": model({"functionCall": call})}]})
    (part,) = reader.body()["candidates"][0]["content"]["parts"]
    assert part == {"functionCall": {"name": "look", "args": {"a": [1], "x": "t", path: "Rome"}}}


def test_a_prompt_that_was_turned_away_is_an_answer_without_words() -> None:
    """It has no candidate and gives the reason: it is complete, and goes back as no answer."""
    reader = wire_named("gemini").answers.stream()
    reader.feed({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}})
    assert (reader.is_complete, reader.has_content) == (True, False)
    assert answer_messages(reader.body(), "gemini") == [model({"text": "[no answer]"})]


def test_a_history_whose_results_were_sent_twice_keeps_one_of_each() -> None:
    """Gemini CLI writes such histories on resume: the copy is removed, with ids or without."""
    for more in ({}, {"id": "a"}):
        mended = repair([HI, model(asks(**more)), user(out("42", **more)), user(out("42", **more)), FINE], "gemini")
        assert mended.messages == [HI, model(asks(**more)), user(out("42", **more)), FINE]


def test_a_result_that_strayed_goes_to_the_nearest_call_before_it() -> None:
    """This also holds without ids; the call that crashed is closed under its own name."""
    strayed = [HI, model(asks()), HI, model(asks()), user({"text": "wait"}), user(out("42"))]
    mended = repair(strayed, "gemini").messages
    closed = mended[2]["parts"][0]["functionResponse"]
    assert (closed["name"], list(closed["response"])) == ("view", ["error"])
    assert mended[4] == user(out("42"), {"text": "wait"})
    assert violations(mended, "gemini") == []


def test_calls_are_joined_with_the_answer_that_they_go_on_with() -> None:
    """Two consecutive contents of the model become one if the second calls; a list that begins with a call gets a user first."""
    mended = repair([model({"text": "I look."}), model({**asks(), **SIGNATURE}), user(tells())], "gemini").messages
    assert [content["role"] for content in mended] == ["user", "model", "user"]
    assert mended[1]["parts"] == [{"text": "I look."}, {**asks(), **SIGNATURE}]


def test_only_what_is_said_by_the_response_is_its_text() -> None:
    """`output`, `result` and `error` are the value; more than one key makes the whole object JSON."""
    rows = [{"output": "a"}, {"result": ["b"]}, {"error": "c"}, {"files": 3}, {"output": "d", "took": 1}]
    read = [load([user(tells(response=row))], "gemini").entries[0].parts[0] for row in rows]
    assert [(part.text, part.is_error) for part in read if isinstance(part, ToolResult)] == [
        ("a", False),
        ('["b"]', False),
        ("c", True),
        ('{"files": 3}', False),
        ('{"output": "d", "took": 1}', False),
    ]
    assert load([user({"text": "x"})], "gemini").entries[0].parts == (Text("x"),)
