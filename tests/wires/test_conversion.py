"""From one wire to another, what arrives, under which name, and what is said if something cannot?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.wires.test_violations import (
    THINKING,
    USER,
    YES,
    chat_call,
    chat_result,
    item_call,
    item_output,
    results,
    said,
    text,
    uses,
)

from penstock.errors import CallerError
from penstock.wires import (
    continues,
    dump,
    dump_request,
    dump_valid,
    load,
    load_request,
    messages_of,
    system_of,
    violations,
    with_messages,
)

pytestmark = pytest.mark.proves("LAW-Transcript")


def test_instructions_move_to_where_the_wire_has_them() -> None:
    """A leading system message becomes Anthropic's `system`, and back; a later one becomes a user's text."""
    system = {"role": "system", "content": "Be brief."}
    talk = load([system, USER, YES, {**system, "content": "Be kind."}, USER], "openai-chat")
    assert system_of(talk, "anthropic") == "Be brief."
    assert dump(talk, "anthropic")[2]["content"] == [text("Be kind."), text("hi")]
    back = load([USER], "anthropic", system=[text("Be brief.")])
    assert dump(back, "openai-chat") == [system, USER]
    assert system_of(back, "openai-chat") is None
    assert system_of(back, "anthropic") == [text("Be brief.")]


def test_calls_and_results_are_the_same_calls_elsewhere() -> None:
    """Ids, names, arguments and error marks are kept; a custom tool's text becomes the only field of an object."""
    made = dump(
        load(
            [USER, chat_call("a", "b", arguments='{"n":1}'), chat_result("b", "B"), chat_result("a", "A")],
            "openai-chat",
        ),
        "anthropic",
    )
    assert made[1]["content"][0] == {"type": "tool_use", "id": "a", "name": "view", "input": {"n": 1}}
    assert [(b["tool_use_id"], b["content"]) for b in made[2]["content"]] == [("a", "A"), ("b", "B")]
    custom = {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
    }
    talk = load([USER, custom, chat_result("c")], "openai-chat")
    assert dump(talk, "anthropic")[1]["content"][0]["input"] == {"input": "ls"}
    assert [item.get("type") for item in dump(talk, "openai-responses")[1:]] == [
        "custom_tool_call",
        "custom_tool_call_output",
    ]


def test_ids_fit_the_wire_that_they_go_to() -> None:
    """Anthropic accepts few characters, and each id once; local servers give the same ids in every turn."""
    turn = [chat_call("call:0"), chat_result("call:0")]
    made = dump(load([USER, *turn, *turn], "openai-chat"), "anthropic")
    ids = [block["id"] for message in made[1::2] for block in message["content"]]
    assert ids == ["call_0", "call_0_2"]
    assert violations(made, "anthropic") == []


def test_thinking_stays_at_home() -> None:
    """Signed reasoning means nothing to another provider and is left out; words and calls are converted."""
    made = dump(
        load([USER, said(THINKING, text("yes"), *uses("a")["content"]), results("a")], "anthropic"), "openai-chat"
    )
    assert "EqQB" not in str(made)
    assert made[1]["content"] == "yes"


def test_what_has_no_place_is_named() -> None:
    """On a wire without sound, an audio clip becomes a sentence with its size."""
    clip = {"type": "input_audio", "input_audio": {"data": "A" * 400, "format": "wav"}}
    made = dump(load([{"role": "user", "content": [text("hear"), clip]}], "openai-chat"), "anthropic")
    assert made[0]["content"][1]["text"] == "[audio of about 300 bytes: not carried over from another provider]"


def test_what_only_its_wire_understands_is_named_in_a_result_too() -> None:
    """A search result inside a tool result leaves its name."""
    found = {"type": "search_result", "source": "x", "title": "y", "content": [text("z")]}
    block = {**results("a")["content"][0], "content": [text("see"), found]}
    made = dump(load([USER, uses("a"), {"role": "user", "content": [block]}], "anthropic"), "openai-chat")
    assert made[2]["content"] == "see\n[search_result: not carried over from another provider]"


def test_images_and_documents_travel() -> None:
    """They are converted as data or as links, from any wire to any other."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    paper = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
    link = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    messages = [{"role": "user", "content": [text("look"), image, paper, link]}]
    there = dump(load(messages, "anthropic"), "openai-responses")
    assert [block["type"] for block in there[0]["content"]] == [
        "input_text",
        "input_image",
        "input_file",
        "input_image",
    ]
    over = dump(load(there, "openai-responses"), "openai-chat")
    assert [block["type"] for block in over[0]["content"]] == ["text", "image_url", "file", "image_url"]
    assert dump(load(over, "openai-chat"), "anthropic") == messages


def test_a_body_knows_where_its_messages_are() -> None:
    """They are read and written back, and everything else in the body stays, in its order."""
    bodies: list[tuple[str, dict[str, Any]]] = [
        ("openai-chat", {"model": "m", "messages": [USER], "tools": []}),
        ("openai-responses", {"input": [USER], "instructions": "Be brief.", "model": "m"}),
        ("anthropic", {"system": [text("Be brief.")], "messages": [USER], "max_tokens": 9}),
    ]
    for wire, body in bodies:
        talk = load_request(body, wire)
        assert messages_of(body, wire) == [USER]
        assert list(dump_request(talk, body).items()) == list(body.items())
        assert with_messages([USER], wire, [YES]) == [YES]
        assert talk.system == body.get("system", body.get("instructions"))
    assert continues({"input": [], "previous_response_id": "resp_1"}, "openai-responses")
    assert not continues([], "openai-responses")
    assert continues({"messages": [], "thread": {"type": "continue", "previous_message_id": "msg_1"}}, "anthropic")
    assert not continues({"messages": [], "thread": {"type": "create"}}, "anthropic")
    with pytest.raises(CallerError, match="input"):
        messages_of({"messages": []}, "openai-responses")


@pytest.mark.parametrize("kept", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}])
def test_mending_a_body_leaves_outputs_of_calls_that_the_provider_keeps(kept: dict[str, str]) -> None:
    """A broken item elsewhere leaves the output of a call that the provider keeps; without the kept part, it becomes words."""
    items = [item_output("before"), item_call("open"), USER]
    body = {"input": items, **kept}
    mended = dump_valid(load_request(body, "openai-responses"), body)["input"]
    assert mended[0] == item_output("before")
    assert violations(mended, "openai-responses", continues=True) == []
    alone = {"input": items}
    assert dump_valid(load_request(alone, "openai-responses"), alone)["input"][0]["role"] == "user"
