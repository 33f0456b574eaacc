"""LangChain and deepagents against a loopback provider, on three wires, sync and async."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from scenes import REPORT, SMALL, Case, main

from penstock.adapters.langchain import ContextWindow


def model_of(provider: Any) -> Any:
    """Return the chat model as its users make it."""
    if provider.wire == "anthropic":
        return ChatAnthropic(model="m", base_url=provider.base_url, api_key="none", max_tokens=500)
    responses = provider.wire == "openai-responses"
    return ChatOpenAI(model="m", base_url=provider.base_url, api_key="none", use_responses_api=responses)


def run(
    provider: Any,
    window_tokens: int,
    tools: list[Any],
    prompt: str,
    streamed: bool,
    create: Any = create_agent,
    form: Any = None,
) -> tuple[str, str]:
    """Return the agent's answer and its history; a streamed run is also asynchronous."""
    window = ContextWindow(window_tokens)
    agent = create(model_of(provider), tools, system_prompt="Be thorough.", middleware=[window], response_format=form)
    question: Any = {"messages": [{"role": "user", "content": prompt}]}
    options: Any = {"recursion_limit": 200}

    async def stream() -> Any:
        async for state in agent.astream(question, options, stream_mode="values"):
            last = state
        return last

    state = asyncio.run(stream()) if streamed else agent.invoke(question, options)
    return str(state["messages"][-1].text), str(state["messages"])


FORMS = {
    "tool": partial(run, form=ToolStrategy(REPORT)),
    "native": partial(run, form=ProviderStrategy(REPORT)),
    "either": partial(run, form=REPORT),
}
main(
    {wire: Case(wire, run, forms=FORMS) for wire in ("openai-chat", "openai-responses", "anthropic")}
    | {"deepagents": Case("anthropic", partial(run, create=create_deep_agent), 4 * SMALL)}
)
