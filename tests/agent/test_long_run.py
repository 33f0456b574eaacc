"""Hundreds of turns in a small window, with everything going wrong: the answer is right, and every request was valid and fitted."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

import pytest

from penstock.models import call, calls, fail, say
from penstock.testing import LoopbackProvider
from penstock.transcript import load_request, messages_of, violations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.agent import Agent
    from penstock.models import Step

FORMS = [
    ("anthropic", "anthropic", 300),
    ("openai-chat", "openai", 80),
    ("openai-responses", "openai", 80),
    ("openai-chat", "vllm", 80),
    ("openai-chat", "vllm-lower-bound", 80),
]


class Adder:
    """A policy whose answers are computed from what the request shows and nothing else: it adds up a value of each part.

    It writes down how far it came in its own words, as agents do; where it finds no such note it begins again.
    """

    def __init__(self, wire: str, parts: int) -> None:
        self.wire = wire
        self.parts = parts
        self.asked = 0

    def __call__(self, request: dict[str, Any]) -> Step:
        self.asked += 1
        if self.asked % 29 == 0:
            return fail(429, {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}})
        if self.asked % 41 == 0:
            return fail(500, {"error": {"message": "internal error"}})
        shown = load_request(request, self.wire)
        texts = [entry.text for entry in shown.visible()] + [r.text for entry in shown.visible() for r in entry.results]
        assert any("in French" in text for text in texts), "the wish of the second message"
        notes = [
            tuple(map(int, found)) for text in texts for found in re.findall(r"after part (\d+) the sum is (\d+)", text)
        ]
        part, total = max(notes, default=(-1, 0))
        following = [int(v) for text in texts for v in re.findall(rf"part_{part + 1:03d}: value = (\d+)", text)]
        if part + 1 == self.parts:
            return say(f"La somme est {total}.")
        if not following:
            return call("view", file_path=f"part_{part + 1:03d}.txt", offset=30)
        said = f"after part {part + 1} the sum is {total + following[-1]}"
        if part + 2 == self.parts:
            return say(f"La somme est {total + following[-1]}. {said}")
        return calls(call("view", file_path=f"part_{part + 2:03d}.txt", offset=30), text=said)


def planted(tree: Path, parts: int) -> int:
    """Many parts with a value each, wide enough that a few fill the window; the sum of the values."""
    for number in range(parts):
        filler = "\n".join(f"{number}: " + "nothing to see in this line of the file " * 4 for _ in range(30))
        tail = "\n".join("more of the same in every line that follows it " * 3 for _ in range(25))
        (tree / f"part_{number:03d}.txt").write_text(f"{filler}\npart_{number:03d}: value = {number * 7}\n{tail}\n")
    return sum(number * 7 for number in range(parts))


@pytest.mark.proves("S-4", "S-11", "O-8")
@pytest.mark.parametrize(("wire", "form", "parts"), FORMS)
def test_a_long_run_in_a_small_window_ends_with_the_right_answer(
    wire: str, form: Any, parts: int, tree: Path, begun: Callable[..., Agent]
) -> None:
    """With rate limits, faults, and refusals in that provider's words, over hundreds of requests of 16,000 tokens at most."""
    total = planted(tree, parts)
    adder = Adder(wire, parts)
    with LoopbackProvider(wire, 16_000, policy=adder, refusal=form) as provider:
        agent = begun(provider, window=20_000)  # believed larger than it is
        first = agent.run("Add up the values of all parts, one after the other. Answer in French.")
        outcomes = [first]
        for _ in itertools.repeat(None, 5):
            if outcomes[-1].outcome == "answered":
                break
            outcomes.append(agent.run("Go on."))
        assert outcomes[-1].answer.startswith(f"La somme est {total}."), outcomes
        assert agent.session.state.all_turns >= parts
        assert agent.session.state.compactions + agent.session.state.handoffs > 3
        for received in provider.requests:
            assert received.outcome != "invalid"
            assert violations(messages_of(received.request, wire), wire) == []
