"""Does removing hidden calls from answers tolerate whatever a provider writes in their place (W-3)?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.wires import wire_named

NAMES = st.sampled_from(["ctx_page", "read"]) | st.none() | st.integers() | st.just([1]) | st.just({"a": "ctx_page"})


def called(wire: str, name: Any) -> dict[str, Any]:
    """Return an answer that calls a tool of this name."""
    match wire:
        case "anthropic":
            return {"content": [{"type": "tool_use", "id": "a", "name": name, "input": {}}]}
        case "openai-chat":
            made = {"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}}
            return {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [made]}}]}
        case "openai-responses":
            return {"output": [{"type": "function_call", "call_id": "a", "name": name, "arguments": "{}"}]}
    part = {"functionCall": {"name": name, "args": {}}}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}}]}


@pytest.mark.proves("W-3")
@pytest.mark.parametrize("wire", ["anthropic", "openai-chat", "openai-responses", "gemini"])
@given(name=NAMES)
def test_only_a_call_by_its_name_is_hidden(wire: str, name: Any) -> None:
    """A name that is not a string belongs to somebody else's call: it is shown as it is, without an error."""
    hidden = wire_named(wire).answers.hidden_calls
    assert hidden is not None
    names, body = frozenset({"ctx_page"}), called(wire, name)
    calls, _, _ = hidden.calls_in(body, names)
    hider = hidden.hider(names)
    shown = hider.body(body)
    assert (len(calls) == 1) is (name == "ctx_page") is hider.hides_all()
    assert (shown == body) is (name != "ctx_page")


@pytest.mark.parametrize("calling", [{"mode": "ANY"}, {"mode": "NONE"}, {"streamFunctionCallArguments": True}])
def test_no_tools_are_hidden_where_a_call_could_not_be_followed(calling: dict[str, Any]) -> None:
    """The model has to call, may not, or sends arguments in later parts of a stream, which name no function."""
    hidden = wire_named("gemini").answers.hidden_calls
    assert hidden is not None
    body = {"contents": [], "tools": [{"functionDeclarations": [{"name": "read"}]}]}
    assert hidden.is_possible(body)
    assert not hidden.is_possible({**body, "toolConfig": {"functionCallingConfig": calling}})


@pytest.mark.parametrize("thread", [{"type": "create"}, {"type": "continue", "previous_message_id": "msg_1"}])
def test_no_tools_are_hidden_in_a_thread_that_anthropic_keeps(thread: dict[str, str]) -> None:
    """Its tools stay as they were when it began, and the client goes on from the id of the answer that it saw."""
    hidden = wire_named("anthropic").answers.hidden_calls
    assert hidden is not None
    body: dict[str, Any] = {"messages": [], "tools": [{"name": "read", "input_schema": {}}]}
    assert hidden.is_possible(body)
    assert not hidden.is_possible({**body, "thread": thread})


def test_a_call_of_a_custom_tool_is_the_clients_in_a_stream_too() -> None:
    """Next to a hidden call it is numbered first, and the answer's end passes: the client has to answer it."""
    hidden = wire_named("openai-chat").answers.hidden_calls
    assert hidden is not None
    hider = hidden.hider(frozenset({"ctx_page"}))
    own = {"index": 0, "id": "a", "type": "function", "function": {"name": "ctx_page", "arguments": "{}"}}
    theirs = {"index": 1, "id": "b", "type": "custom", "custom": {"name": "sql", "input": ""}}

    def chunk(finish: str | None = None, *calls: Any) -> dict[str, Any]:
        return {"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [*calls]}, "finish_reason": finish}]}

    end = chunk("tool_calls")
    assert hider.event(chunk(None, own)) == []
    assert hider.event(chunk(None, theirs)) == [chunk(None, {**theirs, "index": 0})]
    assert (hider.hides_all(), hider.event(end)) == (False, None)


def test_a_call_whose_id_and_name_come_with_every_piece_is_one_call() -> None:
    """Some servers repeat them: the client would otherwise get a call for every piece, each with a part of the arguments."""
    hidden = wire_named("openai-chat").answers.hidden_calls
    assert hidden is not None
    hider = hidden.hider(frozenset({"ctx_page"}))

    def piece(index: int, name: str, arguments: str) -> dict[str, Any]:
        call = {"index": index, "id": name, "type": "function", "function": {"name": name, "arguments": arguments}}
        return {"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}

    assert [hider.event(piece(0, "ctx_page", arguments)) for arguments in ('{"a"', ": 1}")] == [[], []]
    shown = [hider.event(piece(1, "read", arguments)) for arguments in ('{"b"', ": 2}")]
    assert shown == [[piece(0, "read", arguments)] for arguments in ('{"b"', ": 2}")]
