"""Are results of tools run by the provider handled on the wires that have them in the model's own message?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock import execute
from penstock.context.compaction import plan
from penstock.transcript import violations
from penstock.wires import dump, load, load_request, messages_of

if TYPE_CHECKING:
    from penstock.store import Store

FLOOD = "words that a search has found\n" * 9_000
SIGNATURE = "c2lnbmVk" * 8
CITING: dict[str, Any] = {
    "type": "text",
    "text": "So it is.",
    "citations": [{"type": "web_search_result_location", "url": "u", "title": "t", "encrypted_index": "x"}],
}
SEARCH: dict[str, Any] = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "it"}}
FOUND: dict[str, Any] = {
    "type": "web_search_tool_result",
    "tool_use_id": "srv_1",
    "content": [{"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": FLOOD}],
}
PAGE: dict[str, Any] = {
    "type": "web_fetch_tool_result",
    "tool_use_id": "srv_1",
    "content": {
        "type": "web_fetch_result",
        "url": "u",
        "content": {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": FLOOD}},
    },
}


def anthropic(*found: Any, then: str = "call") -> list[Any]:
    """Return an answer with what a hosted tool found, next to a caller's own call, or before more words of the user."""
    used = {"type": "tool_use", "id": "t1", "name": "note", "input": {}}
    noted = {"type": "tool_result", "tool_use_id": "t1", "content": "noted"}
    return [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": [SEARCH, *found, CITING, *([used] if then == "call" else [])]},
        {"role": "user", "content": [noted] if then == "call" else then},
    ]


def gemini(*parts: Any) -> list[Any]:
    """Return the same on the wire of Gemini."""
    return [
        {"role": "user", "parts": [{"text": "Find it."}]},
        {"role": "model", "parts": [*parts, {"functionCall": {"name": "note", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "note", "response": {"output": "noted"}}}]},
    ]


def bedrock(*blocks: Any) -> list[Any]:
    """Return the same on the wire of Bedrock."""
    used = {"toolUse": {"toolUseId": "t1", "name": "note", "input": {}}}
    noted = {"toolResult": {"toolUseId": "t1", "content": [{"text": "noted"}]}}
    return [
        {"role": "user", "content": [{"text": "Find it."}]},
        {"role": "assistant", "content": [*blocks, used]},
        {"role": "user", "content": [noted]},
    ]


RAN = {"executableCode": {"language": "PYTHON", "code": "find()"}}
PRINTED = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": FLOOD}}
ASKED = {
    "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "g1", "args": {"queries": ["it"]}},
    "thoughtSignature": "s",
}
ANSWERED = {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "id": "g1", "response": {"found": FLOOD}}}
GROUNDED: list[Any] = [
    {"toolUse": {"toolUseId": "s1", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}},
    {"toolResult": {"toolUseId": "s1", "content": [{"text": FLOOD}], "type": "nova_grounding_result"}},
]
QUOTED = {
    "citationsContent": {
        "content": [{"text": "So it is."}],
        "citations": [{"title": "t", "sourceContent": [{"text": FLOOD}], "location": {"web": {"url": "u"}}}],
    }
}
LOOKED = {
    "type": "web_search_call",
    "id": "ws1",
    "status": "completed",
    "action": {"type": "search", "query": "it", "sources": [{"type": "url", "url": FLOOD}]},
}
CITED_URL = {
    "role": "assistant",
    "content": [{"type": "output_text", "text": "So it is.", "annotations": [{"type": "url_citation", "url": "u"}]}],
}
NOTED: list[Any] = [
    {"type": "function_call", "call_id": "c1", "name": "note", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "noted"},
]
CASES: dict[str, tuple[str, list[Any], Any]] = {
    # each case once: wire, messages, what has to stay of the answer as it is
    "a cited search": ("anthropic", anthropic(FOUND), SEARCH),
    "a cited page": ("anthropic", anthropic(PAGE), SEARCH),
    "where a search looked": (
        "openai-responses",
        [{"role": "user", "content": "Find it."}, LOOKED, CITED_URL, *NOTED],
        CITED_URL,
    ),
    "code that ran": ("gemini", gemini(RAN, PRINTED), RAN),
    "a search of Google's": ("gemini", gemini(ASKED, ANSWERED), ASKED),
    "a search of Nova's": ("bedrock", bedrock(*GROUNDED), GROUNDED[0]),
    "what cited words quote": ("bedrock", bedrock(QUOTED), {"text": "So it is."}),
}


def through(wire: str, messages: list[Any], store: Store) -> list[Any]:
    """Return the messages with which a request got through a provider of 8,000 tokens."""

    def send(body: Any) -> Any:
        tokens = len(json.dumps(body)) // 4
        if tokens > 8_000:
            raise ValueError(f"prompt is too long: {tokens} tokens > 8000 maximum")
        return {"choices": [{"message": {"role": "assistant", "content": "done"}}]}

    key = {"gemini": "contents", "openai-responses": "input"}.get(wire, "messages")
    result = execute(send, {"model": "m", key: messages}, wire=wire, window_tokens=10**6, store=store)
    assert result.success, result.message
    shown = messages_of(result.request, wire)
    assert violations(shown, wire) == []
    return shown  # type: ignore[no-any-return]


@pytest.mark.proves("R-1", "O-8")
@pytest.mark.parametrize("name", CASES)
def test_a_hosted_result_next_to_a_call_can_be_cut(name: str, store: Store) -> None:
    """No turn can be removed, so the result is cut in place, in a form that its API accepts; it is kept, and cut only once."""
    wire, messages, stays = CASES[name]
    assert violations(messages, wire) == []
    shown = through(wire, messages, store)
    assert len(shown) == len(messages)
    assert json.dumps(stays)[1:-1] in json.dumps(shown)
    assert any(info.bytes >= len(FLOOD) for info in store.artifacts())
    assert dump(load(shown, wire), wire) == shown
    assert through(wire, shown, store) == shown


@pytest.mark.proves("O-8")
def test_citations_go_with_what_they_cite_and_only_then(store: Store) -> None:
    """The words stay, and so do the citations if something else can be removed."""
    answer = through("anthropic", anthropic(FOUND), store)[1]["content"]
    assert [block.get("citations") for block in answer if block["type"] == "text"] == [None]
    assert "So it is." in json.dumps(answer)
    small = {**FOUND, "content": [{**FOUND["content"][0], "encrypted_content": "found " * 500}]}
    used = {"type": "tool_use", "id": "t0", "name": "view", "input": {}}
    seen = {"type": "tool_result", "tool_use_id": "t0", "content": FLOOD}
    beside = [*anthropic(small), {"role": "assistant", "content": [used]}, {"role": "user", "content": [seen]}]
    kept = through("anthropic", beside, store)[1]["content"]
    assert (kept[1], kept[2]) == (small, CITING)


@pytest.mark.proves("O-8")
def test_thinking_next_to_a_cited_search_stays_to_the_byte(store: Store) -> None:
    """Signed reasoning in the message of the search is as it came."""
    thought = {"type": "thinking", "thinking": "Where?", "signature": SIGNATURE}
    messages = anthropic(FOUND)
    messages[1]["content"].insert(0, thought)
    assert through("anthropic", messages, store)[1]["content"][0] == thought


@pytest.mark.proves("O-8")
def test_a_signed_response_of_a_hosted_tool_stays_as_it_is() -> None:
    """Gemini wants each signed part back as it gave it: such a response is removed only with its turn."""
    signed = {**ANSWERED, "thoughtSignature": SIGNATURE}
    assert load(gemini(ASKED, signed), "gemini").entries[1].results == ()
    assert len(load(gemini(ASKED, ANSWERED), "gemini").entries[1].results) == 1


def test_a_plan_cuts_what_is_cited_where_nothing_else_is_left() -> None:
    """A plan does not give up if a floor would fit."""
    made = plan(load_request({"messages": anthropic(FOUND)}, "anthropic"), 2_000)
    assert (made.outcome, [step.call_id for step in made.steps]) == ("shrunk", ["srv_1"])
