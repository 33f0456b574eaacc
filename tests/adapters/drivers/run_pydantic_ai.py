"""Pydantic AI against a loopback provider, on three wires."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from scenes import REPORT, Case, main

from penstock.adapters.pydantic_ai import ContextWindow


def run(
    provider: Any, window_tokens: int, tools: list[Any], prompt: str, streamed: bool, form: Any = str
) -> tuple[str, str]:
    """Return the agent's answer and its history."""
    if provider.wire == "anthropic":
        name = "m" if form is str else "claude-sonnet-4-5"  # it asks only models that it knows for a native form
        model: Any = AnthropicModel(name, provider=AnthropicProvider(base_url=provider.base_url, api_key="none"))
    else:
        kind = OpenAIChatModel if provider.wire == "openai-chat" else OpenAIResponsesModel
        model = kind("m", provider=OpenAIProvider(base_url=provider.base_url, api_key="none"))
    agent = Agent(
        model,
        tools=tools,
        output_type=form,
        instructions="Be thorough.",
        capabilities=[ContextWindow(window_tokens)],
        # a sixteenth of the promised window; if the true one is a twentieth, the reply alone is too long
        model_settings={"max_tokens": window_tokens // 16} if provider.wire == "anthropic" else None,
    )

    async def stream() -> tuple[str, str]:
        async with agent.run_stream(prompt) as result:
            return await result.get_output(), str(result.all_messages())

    if streamed:
        return asyncio.run(stream())
    result = agent.run_sync(prompt)
    return str(result.output), str(result.all_messages())


FORMS = {
    "tool": partial(run, form=ToolOutput(REPORT)),
    "native": partial(run, form=NativeOutput(REPORT)),
    "prompted": partial(run, form=PromptedOutput(REPORT)),
}
main({wire: Case(wire, run, forms=FORMS) for wire in ("openai-chat", "openai-responses", "anthropic")})
