"""Pydantic AI against a loopback provider, on three wires."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from scenes import Case, main

from penstock.adapters.pydantic_ai import ContextWindow


def run(provider: Any, window_tokens: int, tools: list[Any], prompt: str, streamed: bool) -> tuple[str, str]:
    """Return the agent's answer and its history."""
    if provider.wire == "anthropic":
        model: Any = AnthropicModel("m", provider=AnthropicProvider(base_url=provider.base_url, api_key="none"))
    else:
        kind = OpenAIChatModel if provider.wire == "openai-chat" else OpenAIResponsesModel
        model = kind("m", provider=OpenAIProvider(base_url=provider.base_url, api_key="none"))
    agent = Agent(
        model,
        tools=tools,
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
    return result.output, str(result.all_messages())


main({wire: Case(wire, run) for wire in ("openai-chat", "openai-responses", "anthropic")})
