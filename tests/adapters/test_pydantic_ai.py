"""What does the adapter for Pydantic AI make of a request's form? The framework's own names stand empty here."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.adapters.conftest import adapter_alone

from penstock.context.bill import bill

NAMES = {
    "pydantic_ai": ("messages",),
    "pydantic_ai.capabilities": ("AbstractCapability",),
    "pydantic_ai.models.wrapper": ("WrapperModel",),
    "pydantic_ai.toolsets": ("FunctionToolset",),
}
TRIP = SimpleNamespace(json_schema={"title": "Trip"}, description="A trip.")
TOOL = SimpleNamespace(name="final_result", description="A trip.", parameters_json_schema={"title": "Trip"})
TEMPLATE = "Answer like this: {schema}"


@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        ({}, set()),
        ({"output_object": TRIP}, {"reply schema"}),
        ({"output_object": TRIP, "prompted_output_template": False}, {"reply schema"}),
        ({"output_object": TRIP, "prompted_output_template": TEMPLATE}, {"reply schema"}),
        ({"output_tools": [TOOL]}, {"tools"}),
        ({"output_object": TRIP, "output_tools": [TOOL]}, {"tools"}),
    ],
)
def test_the_form_of_an_answer_counts_once(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], counted: set[str]
) -> None:
    """It goes to the provider or into the instructions, or it is a tool; until that is known the framework names both."""
    adapter = adapter_alone(monkeypatch, "pydantic_ai", NAMES)
    bodies: list[Any] = []

    async def acall(_send: Any, _messages: Any, body: Any) -> None:
        bodies.append(body)

    free: dict[str, Any] = {"output_object": None, "output_tools": [], "prompted_output_template": None}
    parameters = SimpleNamespace(function_tools=[], instruction_parts=None, **{**free, **asked})
    model = adapter._FittedModel(None, SimpleNamespace(acall=acall))
    model.wrapped = SimpleNamespace(model_name="m")
    asyncio.run(model.request([], None, parameters))
    assert {item.kind for item in bill(bodies[0], "anthropic").items} == counted
    assert (TEMPLATE in str(bodies[0])) == (asked.get("prompted_output_template") == TEMPLATE)
