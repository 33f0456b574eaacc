"""What does the adapter for LangChain make of an answer's end? The framework's own names stand empty here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.adapters.conftest import adapter_alone

from penstock.context.bill import bill
from penstock.wires import load_request

NAMES = {
    "langchain": (),
    "langchain.agents": (),
    "langchain.agents.middleware": ("AgentMiddleware",),
    "langchain.agents.structured_output": ("AutoStrategy", "ProviderStrategy", "ToolStrategy"),
    "langchain_core": (),
    "langchain_core.messages": ("AIMessage", "HumanMessage", "ToolMessage"),
    "langchain_core.tools": ("tool",),
    "langchain_core.utils": (),
    "langchain_core.utils.function_calling": ("convert_to_openai_tool",),
    "langgraph": (),
    "langgraph.types": ("Command",),
}


@pytest.mark.proves("R-6")
@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"finish_reason": "tool_calls"}, ""),
        ({"status": "completed", "incomplete_details": None}, ""),
        ({"finish_reason": "length"}, "length limit"),
        ({"stop_reason": "max_tokens"}, "length limit"),
        ({"stopReason": "max_tokens"}, "length limit"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length limit"),
    ],
    ids=["calls", "complete", "OpenAI chat", "Anthropic", "Bedrock", "OpenAI responses"],
)
def test_a_reply_that_was_cut_is_told_wherever_the_provider_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, about: dict[str, Any], told: str
) -> None:
    """Each API names the reason in a place of its own, which LangChain passes on in the answer's metadata."""
    adapter = adapter_alone(monkeypatch, "langchain", NAMES)
    answer = adapter.AIMessage()
    vars(answer).update(type="ai", content="Fo", tool_calls=[], invalid_tool_calls=[], response_metadata=about)
    answer.usage_metadata = {"input_tokens": 20, "output_tokens": 5}
    model = SimpleNamespace(model_name="m")
    request = SimpleNamespace(
        messages=[], model=model, model_settings={}, system_prompt="", tools=[], response_format=None
    )
    request.override = lambda **_: request
    assert adapter.ContextWindow(8_000).wrap_model_call(request, lambda _: answer) is answer
    assert [told in record.getMessage() for record in caplog.records] == ([True] if told else [])


CUSTOM = "custom_tool_call_output"


def test_a_custom_call_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's responses API writes it into the content; LangChain lists it among the calls as well, as it does broken ones."""
    adapter = adapter_alone(monkeypatch, "langchain", NAMES)
    answer = adapter.AIMessage()
    call = {"id": "c", "name": "sql", "args": {"__arg1": "select 1"}}
    broken = {"id": "d", "name": "sql", "args": "{"}
    content = [{"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"}]
    content += [{"type": "invalid_tool_call", **broken}]
    vars(answer).update(type="ai", content=content, tool_calls=[call], invalid_tool_calls=[broken])
    ((_, blocks),) = [adapter._blocks(answer)]
    assert [(block["type"], block["id"]) for block in blocks] == [("tool_use", "c"), ("tool_use", "d")]


@pytest.mark.parametrize("framed", [False, True])
def test_the_result_of_a_custom_tool_is_cut_and_stays_one(monkeypatch: pytest.MonkeyPatch, framed: bool) -> None:
    """As a text it would answer a call of a function, and the API would miss the result of the custom call.

    What has no standard type in LangChain may stand in a frame (`non_standard`), which the integration takes off.
    """
    adapter = adapter_alone(monkeypatch, "langchain", NAMES)
    window = adapter.ContextWindow(8_000)

    def message(output: str) -> Any:
        made = adapter.ToolMessage()
        own = {"type": CUSTOM, "output": output}
        content = [{"type": "non_standard", "value": own} if framed else own]
        vars(made).update(type="tool", tool_call_id="c", content=content)
        made.model_copy = lambda update: SimpleNamespace(**{**vars(made), **update})
        return made

    request = SimpleNamespace(tool_call={"name": "sql"})
    cut = window.wrap_tool_call(request, lambda _: message("one more row\n" * 10_000))
    (own,) = [block["value"] if framed else block for block in cut.content]
    assert own["type"] == CUSTOM
    assert 1_000 < len(own["output"]) < 9_000
    assert adapter._edited(message("rows"), {"c": "gone"}).content == [{"type": CUSTOM, "output": "gone"}]
    assert adapter._blocks(message("rows"))[1][0]["content"] == [{"type": "text", "text": "rows"}]


def test_a_file_counts_by_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a text its base64 would count a token for every few letters, and would look as if it could be cut."""
    adapter = adapter_alone(monkeypatch, "langchain", NAMES)
    asked = adapter.HumanMessage()
    vars(asked).update(type="human", content=[{"type": "file", "mime_type": "application/pdf", "base64": "QUJD"}])
    (block,) = adapter._blocks(asked)[1]
    assert block == {"type": "document", "source": {"type": "base64", "data": "QUJD"}}


@pytest.mark.parametrize("strategy", ["AutoStrategy", "ProviderStrategy", "ToolStrategy", ""])
def test_the_form_of_an_answer_counts(monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    """LangChain sends its schema as a tool or to the provider, after this middleware, which sees only the wish.

    A local server shows its model none of it, so it is no tool, which would count at least what it is.
    """
    adapter = adapter_alone(monkeypatch, "langchain", NAMES)
    spec = SimpleNamespace(name="Trip", description="A trip.", json_schema={"title": "Trip"})
    monkeypatch.setattr(adapter.ToolStrategy, "schema_specs", [spec], raising=False)
    wish = getattr(adapter, strategy)() if strategy else spec
    vars(wish).update(schema=spec, schema_spec=spec)
    request = SimpleNamespace(
        messages=[], model=None, model_settings={}, system_prompt="", tools=[], response_format=wish
    )
    body = adapter.ContextWindow(8_000)._body(request)
    (form,) = bill(body, "anthropic").items
    assert (form.kind, form.count.low) == ("reply schema", 0)
    assert load_request(body, "anthropic").reply_schema == {"schemas": [["Trip", "A trip.", {"title": "Trip"}]]}
    request.response_format = None
    assert bill(adapter.ContextWindow(8_000)._body(request), "anthropic").items == ()
