"""What does the adapter for OpenAI Agents count of a request? The SDK's own names stand empty here."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.adapters.conftest import adapter_alone

NAMES = {
    "agents": (
        *("FunctionTool", "ItemHelpers", "Model", "ModelProvider", "MultiProvider", "ToolGuardrailFunctionOutput"),
        *("ToolOutputGuardrail", "function_tool"),
    )
}
TURNS = 10


def history() -> list[Any]:
    """Return a task and the results of tools, some 8,500 tokens."""
    items: list[Any] = [{"role": "user", "content": "Read it all."}]
    for number in range(TURNS):
        call: dict[str, Any] = {"type": "function_call", "call_id": f"call_{number}", "name": "read", "arguments": "{}"}
        said = f"stone {number * 7919} of many\n" * 80
        items += [call, {"type": "function_call_output", "call_id": call["call_id"], "output": said}]
    return items


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("what", ["handoff", "form"])
def test_what_accompanies_the_items_counts(monkeypatch: pytest.MonkeyPatch, streamed: bool, what: str) -> None:
    """The SDK offers a handoff as a function and sends the form of the answer: a history is cut next to them."""
    adapter = adapter_alone(monkeypatch, "openai_agents", NAMES)
    adapter.ItemHelpers.input_to_new_input_list = list
    sent: list[Any] = []

    async def get_response(*asked: Any, **_: Any) -> Any:
        sent.append(asked)

    async def stream_response(*asked: Any, **_: Any) -> Any:
        sent.append(asked)
        yield SimpleNamespace(type="response.output_text.delta")

    model = adapter.ContextWindow(12_000).fitted(
        SimpleNamespace(model="m", get_response=get_response, stream_response=stream_response)
    )

    async def ask(form: Any, handoffs: list[Any]) -> None:
        named = {"tracing": None, "previous_response_id": None, "conversation_id": None, "prompt": None}
        asked: Any = ("Be thorough.", history(), SimpleNamespace(max_tokens=None), [], form, handoffs)
        if streamed:
            assert [event async for event in model.stream_response(*asked, **named)]
        else:
            await model.get_response(*asked, **named)

    to_another = SimpleNamespace(tool_name="to_b", tool_description="Ask B. " * 2_000, input_json_schema={})
    schema = {"title": "A form. " * 2_000}
    form = SimpleNamespace(is_plain_text=lambda: False, json_schema=lambda: schema)
    beside = (None, [to_another]) if what == "handoff" else (form, [])
    plain = SimpleNamespace(is_plain_text=lambda: True)
    asyncio.run(ask(plain, []))
    asyncio.run(ask(*beside))
    assert sent[0][1] == history()
    assert sent[1][1] != history()
    assert [asked[4:6] for asked in sent] == [(plain, []), beside]
