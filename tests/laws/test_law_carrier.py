"""The law of a carrier: it never resends a refused request, whatever a provider says about sizes or happens in between (R-5)."""

from __future__ import annotations

import json
from contextlib import closing, suppress
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Carrier
from penstock.store import open_store

pytestmark = pytest.mark.proves("R-5")
WORDINGS = [
    "context_length_exceeded",
    "prompt is too long: {size} tokens > {limit} maximum",
    "This model's maximum context length is {limit} tokens. Please reduce the length of the messages.",
]


class Overloaded(Exception):
    """A server that is temporarily overloaded."""


def history(steps: int, task: str) -> list[Any]:
    """Return a task and this many steps, each of some hundred tokens."""
    messages: list[Any] = [{"role": "user", "content": task}]
    for number in range(steps):
        function = {"name": "run", "arguments": json.dumps({"number": number})}
        asked = [{"id": f"c{number}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"step {number} of it: " + "word " * 300}
        )
    return messages


@given(
    st.sampled_from(WORDINGS),
    st.floats(0.3, 3),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 24), st.sampled_from(["Count.", "List."])), min_size=2, max_size=6),
    st.integers(0, 3),
)
def test_what_was_refused_is_not_sent_again(
    wording: str, factor: float, says_usage: bool, asked: list[tuple[int, str]], faults: int
) -> None:
    """No request begins with a refused one, though short requests report usage, servers fail and the window is set too large."""
    refused: list[list[Any]] = []
    waiting: list[Exception] = []

    def send(body: Any) -> Any:
        messages = body["messages"]
        assert not any(messages[: len(one)] == one for one in refused)
        if waiting:
            raise waiting.pop()
        size = int(factor * len(json.dumps(messages)) / 4)
        if size > 3_000:
            refused.append(messages)
            # A fault may follow the refusal: nothing is cut then, and the caller tries again.
            waiting[:] = [Overloaded("overloaded")] if len(refused) <= faults else []
            raise ValueError(wording.format(size=size, limit=3_000))
        usage = {"prompt_tokens": size, "completion_tokens": 1} if says_usage else None
        return {
            "choices": [{"message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}],
            "usage": usage,
        }

    with TemporaryDirectory() as folder, closing(open_store(f"sqlite:///{folder}/store.db")) as store:
        carrier = Carrier(wire="openai-chat", window_tokens=200_000, store=store)
        for steps, task in asked:
            for _ in range(2):
                with suppress(Overloaded):
                    carrier.execute(send, {"model": "m", "messages": history(steps, task)})
