"""Strands against a loopback provider, on two wires; it always streams."""

from __future__ import annotations

from functools import partial
from typing import Any

from scenes import REPORT, Case, main
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel

from penstock.adapters.strands import ContextWindow


def run(
    provider: Any, window_tokens: int, tools: list[Any], prompt: str, streamed: bool, form: Any = None
) -> tuple[str, str]:
    """Return the agent's answer and its history."""
    arguments = {"base_url": provider.base_url, "api_key": "none"}
    if provider.wire == "anthropic":
        model: Any = AnthropicModel(client_args=arguments, model_id="m", max_tokens=500)
    else:
        model = OpenAIModel(client_args=arguments, model_id="m", stream=streamed)
    agent = Agent(
        model,
        tools=[tool(function) for function in tools],
        system_prompt="Be thorough.",
        plugins=[ContextWindow(window_tokens)],
        conversation_manager=NullConversationManager(),
        callback_handler=None,
        structured_output_model=form,
    )
    return str(agent(prompt)).strip(), str(agent.messages)


FORMS = {"tool": partial(run, form=REPORT)}
main({wire: Case(wire, run, forms=FORMS) for wire in ("openai-chat", "anthropic")})
