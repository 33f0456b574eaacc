"""What does the adapter for Strands make of an answer's figures? The framework's own names stand empty here."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.adapters.conftest import adapter_alone

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NAMES = {
    "strands": ("tool",),
    "strands.hooks": ("AfterToolCallEvent",),
    "strands.middleware": ("InvokeModelStage",),
    "strands.plugins": ("Plugin",),
}
WHOLE = {"outputTokens": 5, "totalTokens": 30_005, "cacheReadInputTokens": 29_900}


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the adapter without the framework."""
    return adapter_alone(monkeypatch, "strands", NAMES)


def asked(adapter: Any, usage: dict[str, int]) -> None:
    """Ask once with some 30,000 tokens, which the answer's usage reports."""
    middleware: list[Any] = []
    agent = SimpleNamespace(
        add_hook=lambda *_: None, add_middleware=lambda _stage, function: middleware.append(function)
    )
    adapter.ContextWindow(100_000).init_agent(agent)
    events: list[Any] = [
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Done."}}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "end_turn"}},
        {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}},
    ]

    async def answered(_context: Any) -> AsyncIterator[Any]:
        for event in events:
            yield {"event": event}

    context = SimpleNamespace(
        messages=[{"role": "user", "content": [{"text": "one more word " * 10_000}]}],
        model=SimpleNamespace(get_config=dict),
        system_prompt="",
        tool_specs=[],
    )
    context.replace = lambda **changes: SimpleNamespace(**{**vars(context), **changes})

    async def seen() -> list[Any]:
        return [event["event"] async for event in middleware[0](context, answered)]

    assert asyncio.run(seen()) == events


@pytest.mark.proves("R-6")
@pytest.mark.parametrize("input_tokens", [100, 30_000], ids=["beside what was cached", "all"])
def test_a_history_that_was_read_from_a_cache_was_not_dropped(
    adapter: Any, input_tokens: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Providers count cached tokens beside the others or within them; the total tells."""
    asked(adapter, {**WHOLE, "inputTokens": input_tokens})
    assert caplog.messages == []


@pytest.mark.proves("R-6")
def test_a_history_that_was_dropped_is_told(adapter: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Without anything from a cache, a hundred tokens of thirty thousand are a cut."""
    asked(adapter, {"inputTokens": 100, "outputTokens": 5, "totalTokens": 105})
    assert "dropped the beginning" in caplog.text
