"""What would a provider refuse? Each invariant of each wire is broken once, and nothing else is found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.errors import CallerError
from penstock.wires import CODES, repair, violations

pytestmark = pytest.mark.proves("LAW-Transcript")


def chat_call(*ids: str, arguments: str = "{}") -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "view", "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def chat_result(call: str, text: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def item_call(call: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call, "name": "view", "arguments": arguments}


def item_output(call: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call, "output": "ok"}


def uses(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "view", "input": {}} for i in ids]}


def result(call: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": "ok"}


def results(*ids: str) -> dict[str, Any]:
    return {"role": "user", "content": [result(i) for i in ids]}


USER = {"role": "user", "content": "hi"}
YES = {"role": "assistant", "content": "yes"}
THINKING = {"type": "thinking", "thinking": "…", "signature": "EqQB=="}
REASONING = {"id": "rs_1", "type": "reasoning", "summary": []}
REFERENCE = {"type": "item_reference", "id": "fc_1"}


CALLED = {"role": "assistant", "content": None, "function_call": {"name": "view", "arguments": "{}"}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
RAN = {"type": "code_execution_tool_result", "tool_use_id": "s", "content": []}


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def asks(name: str = "view", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **more}}


def tells(name: str = "view", **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "ok"}, **more}}


def use(*ids: str) -> dict[str, Any]:
    return said(*({"toolUse": {"toolUseId": i, "name": "view", "input": {}}} for i in ids))


def give(*ids: str) -> dict[str, Any]:
    return asked(*({"toolResult": {"toolUseId": i, "content": [{"text": "ok"}]}} for i in ids))


def asked(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


HELLO = asked({"text": "hi"})
GOOD = said({"text": "yes"})
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "…", "signature": "EqQB=="}}}
PAPER = {"document": {"format": "pdf", "name": "document", "source": {"bytes": "AAAA"}}}
HI = user({"text": "hi"})
FINE = model({"text": "yes"})
SIGNATURE = {"thoughtSignature": "CiQB=="}
PROGRAM = said({"type": "server_tool_use", "id": "s", "name": "code_execution", "input": {}}, *uses("a")["content"])

BROKEN: dict[str, list[tuple[str, list[Any], list[int]]]] = {
    "openai-chat": [
        ("empty", [], [0]),
        ("bad_shape", [USER, "hello"], [1]),
        ("bad_shape", [{"role": "robot", "content": "hi"}], [0]),
        ("bad_shape", [{"role": ["user"], "content": "hi"}], [0]),
        ("bad_shape", [{"role": "user", "content": None}], [0]),
        ("bad_shape", [{"role": "user", "content": ["hi"]}], [0]),
        ("bad_shape", [USER, {"role": "assistant", "content": "x", "tool_calls": []}], [1]),
        ("bad_shape", [USER, {"role": "tool", "content": "ok"}], [1]),
        ("orphan_result", [USER, chat_result("a")], [1]),
        ("orphan_result", [USER, chat_call("a"), chat_result("a"), chat_result("b")], [3]),
        ("orphan_result", [USER, chat_call("a"), chat_result("a"), YES, chat_result("a")], [4]),
        ("orphan_result", [USER, {"role": "function", "name": "view", "content": "ok"}], [1]),
        ("missing_result", [USER, chat_call("a")], [1]),
        ("missing_result", [USER, chat_call("a", "b"), chat_result("b"), USER], [1]),
        ("duplicate_result", [USER, chat_call("a"), chat_result("a"), chat_result("a")], [3]),
        ("duplicate_call", [USER, chat_call("a", "a"), chat_result("a")], [1]),
        ("bad_arguments", [USER, chat_call("a", arguments='{"path": "a'), chat_result("a")], [1]),
        ("bad_shape", [{**chat_call("a"), "role": "user", "content": "hi"}], [0]),
        ("wrong_role", [{"role": "system", "content": [text("hi"), PICTURE]}, USER], [0]),
        ("wrong_role", [USER, said(text("see"), PICTURE)], [1]),
        ("wrong_role", [{"role": "user", "content": [text("hi"), chat_call("a")["tool_calls"][0]]}], [0]),
        ("wrong_role", [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}], [0]),
        ("bad_arguments", [USER, chat_call("a", arguments=""), chat_result("a")], [1]),
        ("bad_arguments", [USER, chat_call("a", arguments="NaN"), chat_result("a")], [1]),
        ("empty_content", [USER, {"role": "assistant", "content": ""}], [1]),
        ("empty_content", [USER, {"role": "assistant", "content": None}], [1]),
        ("empty_content", [{"role": "user", "content": []}], [0]),
        ("empty_content", [USER, CALLED, {"role": "function", "name": "view", "content": []}], [2]),
    ],
    "openai-responses": [
        ("bad_shape", [USER, 7], [1]),
        ("bad_shape", [{"content": "hi"}], [0]),
        ("bad_shape", [USER, {"id": "fc_1", "call_id": "a", "name": "view", "arguments": "{}"}], [1]),
        ("bad_shape", [{"role": "tool", "content": "hi"}], [0]),
        ("bad_shape", [USER, {"type": "function_call", "call_id": "a", "name": "view"}, item_output("a")], [1]),
        ("orphan_result", [USER, item_output("a")], [1]),
        ("orphan_result", [USER, item_output("a"), item_call("a"), item_output("a")], [1]),
        ("orphan_result", [USER, item_call("a"), item_output("a"), {**item_output("a"), "type": "custom_tool_call_output"}], [3]),
        ("missing_result", [USER, item_call("a"), item_call("b"), item_output("b")], [1]),
        ("missing_result", [USER, {"type": "computer_call", "id": "cu", "call_id": "c", "action": {}}], [1]),
        ("duplicate_result", [USER, item_call("a"), item_output("a"), item_output("a")], [3]),
        ("duplicate_call", [USER, item_call("a"), item_output("a"), item_call("a")], [3]),
        ("bad_arguments", [USER, item_call("a", '{"path"'), item_output("a")], [1]),
        ("bad_shape", [USER, {"type": "input_text", "text": "hi"}], [1]),
        ("wrong_role", [USER, said({"type": "input_text", "text": "yes"})], [1]),
        ("wrong_role", [{"role": "user", "content": [{"type": "output_text", "text": "hi"}]}], [0]),
        ("wrong_role", [{"role": "system", "content": [{"type": "refusal", "refusal": "no"}]}], [0]),
        ("reasoning_alone", [USER, REASONING], [1]),
        ("reasoning_alone", [USER, REASONING, USER], [1]),
    ],
    "anthropic": [
        ("empty", [], [0]),
        ("bad_shape", [USER, None], [1]),
        ("bad_shape", [USER, {"role": "tool", "content": "hi"}], [1]),
        ("bad_shape", [{"role": "user", "content": [{"text": "hi"}]}], [0]),
        ("bad_shape", [USER, said({"type": "tool_use", "name": "view", "input": {}})], [1]),
        ("first_not_user", [YES, USER], [0]),
        ("roles_alternate", [USER, USER], [1]),
        ("roles_alternate", [USER, YES, YES], [2]),
        # Both messages are checked together: their results have their calls, and there is no second finding.
        ("roles_alternate", [USER, uses("a", "b"), results("a"), results("b")], [3]),
        ("roles_alternate", [USER, uses("a"), uses("b"), results("a", "b")], [2]),
        ("system_place", [{"role": "system", "content": "Be brief."}, USER], [0]),
        ("wrong_role", [USER, YES, {"role": "user", "content": [THINKING, text("x")]}], [2]),
        ("wrong_role", [{"role": "user", "content": [text("x"), uses("a")["content"][0]]}], [0]),
        ("missing_result", [USER, uses("a")], [1]),
        ("missing_result", [USER, uses("a", "b"), results("b")], [1]),
        ("missing_result", [USER, said({"type": "server_tool_use", "id": "s", "name": "x", "input": {}}), USER, YES], [1]),
        ("orphan_result", [USER, YES, results("a")], [2]),
        ("orphan_result", [USER, said({"type": "web_search_tool_result", "tool_use_id": "s", "content": []})], [1]),
        ("duplicate_result", [USER, uses("a"), results("a", "a")], [2]),
        ("duplicate_call", [USER, uses("a"), results("a"), said(text("x"), uses("a")["content"][0]), USER], [3]),
        ("results_first", [USER, uses("a"), {"role": "user", "content": [text("and"), result("a")]}], [2]),
        ("bad_arguments", [USER, said({"type": "tool_use", "id": "a", "name": "view", "input": "{}"}), results("a")], [1]),
        ("bad_id", [USER, uses("functions.view:0"), results("functions.view:0")], [1]),
        ("wrong_role", [USER, {"role": "system", "content": [text("be brief"), uses("a")["content"][0]]}], [1]),
        ("wrong_role", [USER, {"role": "system", "content": [THINKING, text("be brief")]}], [1]),
        ("wrong_role", [USER, {"role": "system", "content": [result("a"), text("be brief")]}], [1]),
        ("empty_content", [USER, {"role": "assistant", "content": []}], [1]),
        ("empty_content", [{"role": "user", "content": " "}], [0]),
        ("empty_text", [USER, said(text(""), text("yes"))], [1]),
        ("empty_text", [USER, uses("a"), {"role": "user", "content": [{**result("a"), "content": [text("")]}]}], [2]),
        ("trailing_whitespace", [USER, {"role": "assistant", "content": "The answer is "}], [1]),
        ("trailing_whitespace", [USER, said(text("So."), text("The answer is "))], [1]),
        ("thinking_unsigned", [USER, said({"type": "thinking", "thinking": "…"}, text("yes"))], [1]),
        ("thinking_last", [USER, said(text("yes"), THINKING)], [1]),
    ],
    "gemini": [
        ("empty", [], [0]),
        ("bad_id", [HI, model(asks(id="a")), user({"functionResponse": {"name": "x", "id": "a", "response": {}}})], [2]),
        ("bad_shape", [HI, "hello"], [1]),
        ("bad_shape", [HI, {"role": "assistant", "parts": [{"text": "yes"}]}], [1]),
        ("bad_shape", [{"role": "user", "parts": "hi"}], [0]),
        ("bad_shape", [user({"text": "hi"}, {})], [0]),
        ("bad_shape", [user({"text": "hi"}, {"thought": True})], [0]),
        ("bad_shape", [user({"text": 7})], [0]),
        ("bad_shape", [HI, model({"text": "x"}, {"functionCall": {"args": {}}})], [1]),
        ("bad_shape", [HI, model(asks()), user(tells(response="ok"))], [2]),
        ("wrong_role", [user({"text": "hi"}, asks())], [0]),
        ("wrong_role", [HI, model({"text": "x"}, tells())], [1]),
        ("call_place", [model(asks()), user(tells())], [0]),
        ("call_place", [HI, FINE, model(asks()), user(tells())], [2]),
        ("missing_result", [HI, model(asks())], [1]),
        ("missing_result", [HI, model(asks(), asks()), user(tells())], [1]),
        ("missing_result", [HI, model(asks(id="a"), asks(id="b")), user(tells(id="b"))], [1]),
        ("missing_result", [HI, model(asks()), HI], [1]),
        ("orphan_result", [HI, FINE, user(tells())], [2]),
        ("orphan_result", [HI, model(asks()), user(tells()), user(tells())], [3]),
        ("orphan_result", [HI, model(asks()), user(tells(), tells("search"))], [2]),
        ("duplicate_result", [HI, model(asks(id="a")), user(tells(id="a"), tells(id="a"))], [2]),
        ("duplicate_call", [HI, model(asks(id="a"), asks(id="a")), user(tells(id="a"))], [1]),
        ("bad_arguments", [HI, model(asks(args="{}")), user(tells())], [1]),
        ("empty_content", [HI, model()], [1]),
        ("empty_content", [{"role": "user"}], [0]),
        ("empty_text", [HI, model({"text": ""}, {"text": "yes"})], [1]),
    ],
    "bedrock": [
        ("empty", [], [0]),
        ("bad_shape", [HELLO, None], [1]),
        ("bad_shape", [HELLO, {"role": "model", "content": [{"text": "yes"}]}], [1]),
        ("bad_shape", [{"role": "user", "content": "hi"}], [0]),
        ("bad_shape", [asked({"text": "hi"}, {"type": "text", "text": "hi"})], [0]),
        ("bad_shape", [asked({"text": "hi"}, {})], [0]),
        ("bad_shape", [HELLO, said({"text": "x"}, {"toolUse": {"name": "view", "input": {}}})], [1]),
        ("bad_shape", [HELLO, use("a"), asked({"toolResult": {"toolUseId": "a", "content": "ok"}})], [2]),
        ("first_not_user", [GOOD, HELLO], [0]),
        ("roles_alternate", [HELLO, HELLO], [1]),
        ("roles_alternate", [HELLO, GOOD, GOOD], [2]),
        ("system_place", [{"role": "system", "content": [{"text": "Be brief."}]}, HELLO], [0]),
        ("wrong_role", [HELLO, GOOD, asked(THOUGHT, {"text": "x"})], [2]),
        ("wrong_role", [HELLO, said({"text": "x"}, *give("a")["content"])], [1]),
        ("missing_result", [HELLO, use("a")], [1]),
        ("missing_result", [HELLO, use("a", "b"), give("b")], [1]),
        ("orphan_result", [HELLO, GOOD, give("a")], [2]),
        ("orphan_result", [HELLO, use("a"), give("a", "b")], [2]),
        ("duplicate_result", [HELLO, use("a"), give("a", "a")], [2]),
        ("duplicate_call", [HELLO, use("a"), give("a"), said({"text": "x"}, *use("a")["content"]), HELLO], [3]),
        ("results_first", [HELLO, use("a"), asked({"text": "and"}, *give("a")["content"])], [2]),
        ("bad_id", [HELLO, use("functions.view:0"), give("functions.view:0")], [1]),
        ("bad_id", [HELLO, use("x" * 65), give("x" * 65)], [1]),
        ("bad_shape", [asked({"text": "hi", "cachePoint": {"type": "default"}})], [0]),
        ("thinking_last", [HELLO, said({"text": "yes"}, {"reasoningContent": {"reasoningText": {"text": "hm"}}})], [1]),
        ("bad_arguments", [HELLO, said({"toolUse": {"toolUseId": "a", "name": "view", "input": "{}"}}), give("a")], [1]),
        ("empty_content", [HELLO, said()], [1]),
        ("empty_text", [HELLO, said({"text": " "}, {"text": "yes"})], [1]),
        ("trailing_whitespace", [HELLO, said({"text": "The answer is "})], [1]),
        ("thinking_last", [HELLO, said({"text": "yes"}, THOUGHT)], [1]),
        ("document_alone", [asked(PAPER)], [0]),
    ],
}  # fmt: skip
CASES = [
    pytest.param(wire, code, messages, where, id=f"{wire}-{code}-{number}")
    for wire, rows in BROKEN.items()
    for number, (code, messages, where) in enumerate(rows)
]


@pytest.mark.parametrize(("wire", "code", "messages", "where"), CASES)
def test_a_broken_invariant_is_found_where_it_is_broken(
    wire: str, code: str, messages: list[Any], where: list[int]
) -> None:
    """One fault gives one violation, with its message's index and a sentence."""
    found = violations(messages, wire)
    assert [(violation.code, violation.index) for violation in found] == [(code, index) for index in where]
    assert all(violation.message.endswith(".") for violation in found)


@pytest.mark.parametrize(("wire", "code", "messages", "where"), CASES)
def test_a_broken_invariant_is_mended_and_said(wire: str, code: str, messages: list[Any], where: list[int]) -> None:
    """After a repair nothing is left, except that an empty list stays empty."""
    mended = repair(messages, wire)
    nothing = not mended.messages and wire != "openai-responses"
    assert [violation.code for violation in mended.left] == (["empty"] if nothing else [])
    assert mended.actions or code == "empty"


@pytest.mark.parametrize("wire", list(CODES))
def test_every_invariant_is_broken_by_some_test(wire: str) -> None:
    """The table of invariants and the table of this module name the same codes."""
    assert {code for code, _, _ in BROKEN[wire]} == set(CODES[wire])


@pytest.mark.parametrize(
    ("wire", "call", "answer", "key"),
    [
        ("anthropic", uses, results, "tool_use_id"),
        ("bedrock", use, give, "toolUseId"),
    ],
)
def test_an_id_that_is_refused_becomes_one_that_is_taken_for_call_and_result(
    wire: str, call: Any, answer: Any, key: str
) -> None:
    """Ids of another server ("functions.view:0") keep their pairs, even if the new id already exists in the list."""
    first = USER if wire == "anthropic" else HELLO
    mended = repair(
        [first, call("functions.view:0", "functions_view_0"), answer("functions.view:0", "functions_view_0")], wire
    )
    written = json.dumps(mended.messages)
    assert mended.left == ()
    assert "functions.view:0" not in written
    assert written.count('"functions_view_0"') == 2
    assert written.count('"functions_view_0_2"') == 2
    assert key in written


VALID: dict[str, list[list[Any]]] = {
    "openai-chat": [
        [{"role": "system", "content": "Be brief."}, USER, YES],
        [{"role": "developer", "content": "Be brief."}, USER, chat_call("a", "b"), chat_result("b"), chat_result("a")],
        [USER, chat_call("a"), chat_result("a", ""), chat_call("a"), chat_result("a")],
        [USER, {"role": "assistant", "refusal": "No.", "content": None}],
        [USER, {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}],
        [USER, {"role": "assistant", "content": None, "function_call": {"name": "view", "arguments": "{}"}},
         {"role": "function", "name": "view", "content": "ok"}],
        [{"role": "user", "content": ""}, USER],
    ],
    "openai-responses": [
        [],
        [{"role": "user", "content": "hi"}, {"id": "msg_1"}],
        [USER, REASONING, item_call("a"), {"role": "developer", "content": "hurry"}, item_output("a")],
        [USER, REASONING, {**REASONING, "id": "rs_2"}, {"type": "web_search_call", "id": "ws", "status": "completed"}],
        [REFERENCE, item_output("a")],
        [USER, {"type": "local_shell_call", "call_id": "l", "action": {}},
         {"type": "local_shell_call_output", "id": "l", "output": "{}"}],
        [USER, {"type": "mcp_approval_request", "id": "m", "name": "x", "arguments": "{}", "server_label": "s"}],
        [USER, {"type": "something_new", "payload": 1}],
    ],
    "anthropic": [
        [USER, YES],
        [USER, uses("a", "b"), {"role": "user", "content": [result("b"), result("a"), text("go on")]}],
        [USER, said(THINKING, *uses("a")["content"]), results("a"), said({"type": "redacted_thinking", "data": "x"}, text("y"))],
        [USER, {"role": "system", "content": "Be brief."}, YES],
        [USER, said({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})],
        [USER, PROGRAM, results("a"), uses("b"), results("b")],
        [USER, PROGRAM, results("a"), said(RAN, text("done")), USER],
        [USER, uses("a"), {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}, said(text(" x"))],
    ],
    "gemini": [
        [HI, FINE, FINE, HI, HI],
        [{"parts": [{"text": "hi"}]}, model(asks(), asks()), user(tells(), tells(), {"text": "go on"})],
        [HI, model(asks(id="a"), asks(id="b")), user(tells(id="b"), tells(id="a")), model(asks(id="a")), user(tells())],
        [HI, model({**asks(id="x"), **SIGNATURE}), user(tells()), model({"text": "", **SIGNATURE})],
        [HI, {"role": "model", "parts": [{"function_call": {"name": "view"}}]},
         {"role": "function", "parts": [{"function_response": {"name": "view", "response": {}}}]}],
        [HI, model({"text": "hm", "thought": True}, {"executableCode": {"code": "1"}}, {"somethingNew": {}})],
        [user({"text": "hi", "function_call": None, "inline_data": None})],
    ],
    "bedrock": [
        [HELLO, GOOD],
        [HELLO, use("a", "b"), asked(*give("b", "a")["content"], {"cachePoint": {"type": "default"}}, {"text": "go on"})],
        [HELLO, use("a"), asked({"toolResult": {"toolUseId": "a", "content": [{"text": ""}]}}), said(THOUGHT, {"text": "y"})],
        [HELLO, use("a"), asked({"toolResult": {"toolUseId": "a", "content": []}})],
        [asked({"guardContent": {"text": {"text": "hi", "qualifiers": ["query"]}}}), GOOD],
        [asked(PAPER, {"text": "What does it say?"}), {"role": "system", "content": [{"text": "Be brief."}]}, GOOD],
        [HELLO, said({"toolUse": {"toolUseId": "s", "name": "x", "input": {}, "type": "server_tool_use"}},
                     {"toolResult": {"toolUseId": "s", "content": [], "type": "x_result"}}, {"text": "yes"})],
        [HELLO, said({"reasoningContent": {"reasoningText": {"text": "unsigned, as DeepSeek thinks"}}}, {"text": "y"})],
    ],
}  # fmt: skip


@pytest.mark.parametrize(("wire", "messages"), [(wire, row) for wire, rows in VALID.items() for row in rows])
def test_what_a_provider_takes_has_no_violations(wire: str, messages: list[Any]) -> None:
    """These are rare valid forms: legacy functions, references, running server tools, results in any order."""
    assert violations(messages, wire) == []
    assert repair(messages, wire).actions == ()


def test_a_conversation_that_the_provider_keeps_may_answer_calls_that_are_not_here() -> None:
    """With previous_response_id an output needs no call in the list."""
    assert violations([item_output("a")], "openai-responses", continues=True) == []
    assert [v.code for v in violations([item_output("a")], "openai-responses")] == ["orphan_result"]


def test_a_thread_that_the_provider_keeps_may_answer_calls_that_are_not_here_or_add_nothing() -> None:
    """With Anthropic's threads only what is new is sent: results of the last answer's calls, or nothing after a paused turn."""
    assert (
        violations([results("a", "b")], "anthropic", continues=True)
        == violations([], "anthropic", continues=True)
        == []
    )
    assert [v.code for v in violations([results("a", "a")], "anthropic", continues=True)] == ["duplicate_result"]
    late = [results("a"), uses("b"), results("c")]
    assert [v.code for v in violations(late, "anthropic", continues=True)] == ["missing_result", "orphan_result"]


def test_a_text_is_an_input_of_responses_and_of_no_other_wire() -> None:
    """A string is valid input there; elsewhere it is not a list."""
    assert violations("hi", "openai-responses") == []
    assert [v.code for v in violations("hi", "anthropic")] == ["not_a_list"]
    assert repair("hi", "anthropic").messages == [{"role": "user", "content": "hi"}]


def test_an_unknown_wire_is_the_programmers_mistake() -> None:
    """The error names the wires."""
    with pytest.raises(CallerError, match="openai-chat"):
        violations([], "cohere")


def test_arguments_nested_beyond_reason_are_answered() -> None:
    """Too much nesting is a fault of the arguments, not ours; deep JSON elsewhere is left alone."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    messages = [USER, chat_call("a", arguments="[" * 100_000), chat_result("a"), {**YES, "extra": deep}]
    assert [v.code for v in violations(messages, "openai-chat")] == ["bad_arguments"]


@pytest.mark.parametrize(
    "call",
    [
        {"type": "function", "function": {"name": "view", "arguments": "{}"}},
        {"id": "", "type": "function", "function": {"name": "view", "arguments": "{}"}},
        {"id": "a", "type": "macro", "macro": {"name": "view", "arguments": "{}"}},
        {"id": "a", "function": {"name": "view", "arguments": "{}"}},
        {"id": "a", "type": "function", "function": {"name": "", "arguments": "{}"}},
        {"id": "a", "type": "function", "function": {"name": "view", "arguments": {}}},
        {"id": "a", "type": "function"},
        {"id": "a", "type": "custom", "custom": {"name": "view", "arguments": "{}"}},
        "view",
    ],
    ids=repr,
)
def test_a_call_of_chat_that_lacks_a_part_is_invalid(call: Any) -> None:
    """Type, id, name and arguments are each required."""
    found = violations([USER, {"role": "assistant", "content": None, "tool_calls": [call]}], "openai-chat")
    assert "tool_calls is not a list of calls with id, name and arguments" in str(found)
