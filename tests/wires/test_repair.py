"""What does a repair do to breaks that occur in real sessions?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.wires.test_violations import (
    REASONING,
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

from penstock.wires import draft, repair

pytestmark = pytest.mark.proves("LAW-Transcript")


def test_a_crash_between_call_and_result_is_closed() -> None:
    """Each open call gets one error result; a result that arrived stays."""
    mended = repair([USER, chat_call("a", "b"), chat_result("b", "found")], "openai-chat")
    assert [m.get("tool_call_id") for m in mended.messages[2:]] == ["b", "a"]
    assert "No result was recorded" in mended.messages[3]["content"]
    assert mended.actions == ("message 1: closed call 'a' with a result that says there is none",)


def test_the_first_of_two_results_wins() -> None:
    """A crash can leave two results for one call; the later one is removed."""
    late = {"role": "user", "content": [{**results("a")["content"][0], "content": "late"}, text("go on")]}
    mended = repair([USER, uses("a"), results("a"), YES, late], "anthropic")
    assert mended.messages[2] == results("a")
    assert mended.messages[4]["content"] == [text("go on")]
    assert mended.actions == ("message 4: dropped a second result of 'a'",)


@pytest.mark.parametrize("first", [results("x")["content"][0], text("so")])
def test_results_are_put_first_only_if_words_precede_them(first: Any) -> None:
    """Removing a result leaves the others in their places."""
    mixed = {"role": "user", "content": [first, *results("a")["content"], text("go on")]}
    actions = repair([USER, uses("a"), mixed], "anthropic").actions
    assert ("message 2: put the results first" in actions) is (first == text("so"))


def test_a_result_that_strayed_is_brought_home() -> None:
    """A user message between call and result removes neither of them."""
    mended = repair([USER, chat_call("a"), USER, chat_result("a", "found")], "openai-chat")
    assert mended.messages == [USER, chat_call("a"), chat_result("a", "found"), USER]


@pytest.mark.parametrize(
    ("content", "kept"), [([text("found"), 3, {"type": "text"}], [text("found")]), ([3], []), (3, "")]
)
def test_a_result_keeps_those_of_its_parts_that_are_whole(content: Any, kept: Any) -> None:
    """Only what is not a part is removed, and the call stays answered."""
    (whole,) = results("a")["content"]
    mended = repair([USER, uses("a"), {"role": "user", "content": [{**whole, "content": content}]}], "anthropic")
    assert mended.messages[2:] == [{"role": "user", "content": [{**whole, "content": kept}]}]
    assert mended.actions == ("message 2: dropped parts of a result that are none",)


@pytest.mark.parametrize(
    "said", [{"type": "refusal", "refusal": "I cannot."}, {"type": "output_text", "text": "I cannot."}]
)
def test_words_in_a_part_of_another_role_stay(said: Any) -> None:
    """This includes a refusal, whose words are not in a text field."""
    mended = repair([{"type": "message", "role": "user", "content": [said]}], "openai-responses")
    assert mended.messages[0]["content"] == [{"type": "input_text", "text": "I cannot."}]


def test_results_of_calls_that_the_provider_keeps_stay_and_come_first() -> None:
    """Those before the first answer belong to them, each once; what else is wrong with the list is mended around them."""
    ours = results("a", "b")["content"]
    mended = repair([{"role": "user", "content": [text("so"), *ours, ours[0]]}, uses("c")], "anthropic", continues=True)
    assert mended.messages[0] == {"role": "user", "content": [*ours, text("so")]}
    assert mended.actions == (
        "message 0: dropped a second result of 'a'",
        "message 1: closed call 'c' with a result that says there is none",
    )


def test_the_output_that_closes_a_call_of_a_program_names_the_program() -> None:
    """OpenAI's models call functions from programs of their own, and the output goes back to the one that called."""
    caller = {"type": "program", "caller_id": "run"}
    mended = repair([USER, {**item_call("a"), "caller": caller}], "openai-responses")
    assert mended.messages[2]["caller"] == caller
    assert "caller" not in repair([USER, item_call("a")], "openai-responses").messages[2]


def test_nothing_comes_before_the_providers_own_summary() -> None:
    """Anthropic's compaction stands first, in a message of the assistant, and is refused anywhere else."""
    summary = {"type": "compaction", "content": "We look for bugs.", "signature": "s"}
    begun = [{"role": "assistant", "content": [summary]}, USER, uses("a")]
    mended = repair(begun, "anthropic")
    assert mended.messages[:3] == begun
    assert mended.actions == ("message 2: closed call 'a' with a result that says there is none",)


def test_a_result_without_its_call_becomes_text() -> None:
    """What it found is not lost."""
    mended = repair([USER, {"type": "function_call_output", "call_id": "x", "output": "42 files"}], "openai-responses")
    assert mended.messages[1]["role"] == "user"
    assert "42 files" in mended.messages[1]["content"]


def test_a_last_answer_that_breaks_off_is_dropped() -> None:
    """Arguments cut off at the very end never arrived; cut off in an earlier message they are kept as text."""
    broken = chat_call("a", arguments='{"path": "sr')
    assert repair([USER, broken], "openai-chat").messages == [USER]
    kept = repair([USER, broken, chat_result("a"), YES], "openai-chat").messages[1]
    assert kept["tool_calls"][0]["function"]["arguments"] == '{"unparsed": "{\\"path\\": \\"sr"}'


def test_arguments_that_a_server_wrote_as_an_object_are_written_out() -> None:
    """Some servers give an object and no type; the call is still not lost."""
    call = {"id": "a", "function": {"name": "view", "arguments": {"n": 1}}}
    mended = repair([USER, {"role": "assistant", "content": "", "tool_calls": [call]}, chat_result("a")], "openai-chat")
    assert mended.messages[1]["tool_calls"] == chat_call("a", arguments='{"n": 1}')["tool_calls"]
    items = [USER, {**item_call("a"), "arguments": {"n": 1}}, item_output("a")]
    assert repair(items, "openai-responses").messages[1] == item_call("a", '{"n": 1}')


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, {}),
        ('{"path": "a.py"}', {"path": "a.py"}),
        ("[1]", {"input": "[1]"}),
        ("a.py", {"input": "a.py"}),
        ("", {"input": ""}),
        (3, {"input": 3}),
        (False, {"input": False}),
        ([1], {"input": [1]}),
    ],
)
def test_arguments_that_are_not_an_object_are_kept_in_one(given: Any, kept: Any) -> None:
    """Nothing that a model wrote is lost; if it wrote nothing, the object is empty."""
    call = {**uses("a")["content"][0], "input": given}
    mended = repair([USER, {"role": "assistant", "content": [call]}, results("a"), YES], "anthropic")
    assert mended.messages[1]["content"] == [{**call, "input": kept}]


def test_roles_are_merged_and_the_list_begins_with_the_user() -> None:
    """Anthropic requires this; texts stay blocks of their own."""
    mended = repair([YES, USER, {"role": "user", "content": [text("more")]}], "anthropic")
    assert [m["role"] for m in mended.messages] == ["user", "assistant", "user"]
    assert mended.messages[2]["content"] == [text("hi"), text("more")]


def test_a_signed_block_goes_with_its_whole_message_or_stays() -> None:
    """A turn that ends while the model thinks is removed whole; an empty text next to a signed block is removed alone."""
    assert repair([USER, said(text("hm"), THINKING)], "anthropic").messages == [USER]
    mended = repair([USER, said(THINKING, text(""), text("yes"))], "anthropic")
    assert mended.messages == [USER, said(THINKING, text("yes"))]


def test_reasoning_that_led_nowhere_goes() -> None:
    """The item it led to was cut away; reasoning that still has its item stays byte for byte."""
    items: list[Any] = [USER, REASONING, item_call("a"), item_output("a"), {**REASONING, "id": "rs_2"}]
    assert repair(items, "openai-responses").messages == items[:4]


def test_a_screen_that_was_never_seen_cannot_be_made_up() -> None:
    """A computer call without its screenshot is removed, with the reasoning before it."""
    call = {"type": "computer_call", "id": "cu", "call_id": "c", "action": {"type": "screenshot"}}
    mended = repair([USER, REASONING, call], "openai-responses")
    assert mended.messages == [USER]


def test_parallel_calls_stay_together_when_one_is_closed() -> None:
    """The closing output comes after the batch, not inside it."""
    mended = repair([USER, REASONING, item_call("a"), item_call("b"), item_output("b")], "openai-responses")
    assert [m.get("type") for m in mended.messages[1:]] == [
        "reasoning", "function_call", "function_call", "function_call_output", "function_call_output",
    ]  # fmt: skip


def test_what_is_not_a_list_says_so() -> None:
    """Nothing can be made of it, and the actions say so."""
    mended = repair({"role": "user"}, "openai-chat")
    assert mended.messages == []
    assert mended.actions == ("dropped a dict, which is not a list of messages",)
    assert [violation.code for violation in mended.left] == ["empty"]


SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}


@pytest.mark.parametrize(
    ("said_by_it", "kept"),
    [
        ([SEARCH, FOUND], [SEARCH, FOUND]),
        ([SEARCH, SEARCH, FOUND, FOUND], [SEARCH, FOUND]),
        ([FOUND, SEARCH], []),
        ([FOUND], []),
        ([SEARCH], []),
    ],
)
def test_a_search_of_the_provider_keeps_one_result_after_its_call(said_by_it: list[Any], kept: list[Any]) -> None:
    """A half without its counterpart is removed once the user has spoken again."""
    mended = repair([USER, said(text("a"), *said_by_it), USER], "anthropic")
    assert mended.messages[1]["content"] == [text("a"), *kept]


def test_a_search_may_still_run_if_nobody_has_spoken_since() -> None:
    """The first message after the user's is part of the newest loop; the same call twice counts once."""
    mended = repair([USER, said(text("a"), SEARCH, SEARCH)], "anthropic", continues=True)
    assert mended.messages[1]["content"] == [text("a"), SEARCH]


@pytest.mark.parametrize(
    ("arguments", "made"),
    [
        ('{"a": 1}', {"a": 1}),
        ("[1]", {"input": "[1]"}),
        ("null", {"input": "null"}),
        ("no JSON", {"input": "no JSON"}),
        ("", {"input": ""}),
        (5, {"input": 5}),
        ([1], {"input": [1]}),
        (None, {}),
    ],
)
def test_arguments_that_are_not_an_object_become_one_and_none_is_lost(arguments: object, made: object) -> None:
    """JSON of an object is read; everything else is kept under a name."""
    assert draft.as_object(arguments) == made


def test_blocks_that_stay_are_the_same_objects() -> None:
    """An unchanged message is the same object; one with a block fewer, or a replaced one, is a new object."""
    first, second = {"type": "text", "text": "a"}, {"type": "text", "text": "b"}
    message = {"role": "user", "content": [first, second]}
    assert draft.with_blocks(message, "content", [first, second]) is message
    assert draft.with_blocks(message, "content", [first]) == {**message, "content": [first]}
    assert draft.with_blocks(message, "content", [first, dict(second)]) is not message
    words = {"role": "user", "content": "a"}
    assert draft.with_blocks(words, "content", [first]) is words
    assert draft.with_blocks(words, "content", [second]) == {**words, "content": [second]}
    assert (draft.as_json_arguments(" \n"), draft.as_json_arguments("x")) == ("{}", '{"unparsed": "x"}')
