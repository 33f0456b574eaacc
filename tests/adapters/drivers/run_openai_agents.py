"""The OpenAI Agents SDK against a loopback provider, on two wires."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool
from openai import AsyncOpenAI
from scenes import REPORT, Case, main

from penstock.adapters.openai_agents import ContextWindow


def run(
    provider: Any, window_tokens: int, tools: list[Any], prompt: str, streamed: bool, form: Any = None
) -> tuple[str, str]:
    """Return the agent's answer and its history."""
    client = AsyncOpenAI(
        base_url=provider.base_url, api_key="none"
    )  # of this event loop: the SDK's own belongs to the first one
    models = OpenAIProvider(openai_client=client, use_responses=provider.wire == "openai-responses")
    window = ContextWindow(window_tokens, provider=models)
    guarded = [function_tool(function, tool_output_guardrails=[window.guardrail]) for function in tools]
    agent = Agent(
        name="reader", instructions="Be thorough.", model="m", tools=[*guarded, *window.tools], output_type=form
    )
    options: Any = {"run_config": RunConfig(model_provider=window, tracing_disabled=True), "max_turns": 50}

    async def go() -> Any:
        if not streamed:
            return await Runner.run(agent, prompt, **options)
        result = Runner.run_streamed(agent, prompt, **options)
        async for _ in result.stream_events():
            pass
        return result

    result = asyncio.run(go())
    return str(result.final_output), str(result.to_input_list())


FORMS = {"native": partial(run, form=REPORT)}
main({wire: Case(wire, run, forms=FORMS) for wire in ("openai-responses", "openai-chat")})
