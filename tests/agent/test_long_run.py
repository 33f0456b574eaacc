"""After many turns in a small window, with all kinds of faults, is the answer right and was each request valid?

The agent runs in its own process, so that its memory can be measured; the provider runs here and records every request.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import re
import subprocess
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.agent.conftest import begin
from tests.forks import COMMANDS, warm

from penstock.models import RemoteModel, call, calls, fail, refuse, say
from penstock.store import open_store
from penstock.testing import LoopbackProvider, routes
from penstock.wires import Wire, load_request, messages_of, violations, wire_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.models import ScriptStep
    from penstock.session import Session

FORMS = [
    ("anthropic", "anthropic", 150),
    ("openai-chat", "openai", 64),
    ("openai-responses", "openai", 64),
    ("openai-chat", "vllm", 64),
    ("openai-chat", "vllm-lower-bound", 64),
]
WINDOW, BELIEVED = 16_000, 40_000
TIMEOUT_SECONDS = 0.6  # of the model; half of it without an event is a stall
THROWN = ("429", "500", "silent", "stalled", "refused", "flood")
MAX_GROWTH_BYTES = 5 << 20
"""The allowed growth from turn 50 to 156: what was said takes 3 MB; recording every request too would take 10."""


class Adder:
    """A policy that adds up a value of each part and computes its answers only from what the request shows.

    It notes in its own words how far it came, as agents do; without such a note in the request it starts again.
    """

    def __init__(self, wire: str, parts: int) -> None:
        self.wire = wire
        self.parts = parts
        self.asked = 0
        self.thrown: Counter[str] = Counter()
        self.stalls = False
        """Whether this answer stops in the middle."""
        self.given_up = threading.Event()
        """Set when the client has retried or given up, so that the stalled answer need not wait any longer."""

    def __call__(self, request: dict[str, Any]) -> ScriptStep:
        self.given_up.set()
        self.given_up = threading.Event()
        self.asked += 1
        self.stalls = self.asked % 60 == 50
        self.thrown["stalled"] += self.stalls
        if self.asked % 60 == 25:
            self.thrown["silent"] += 1
            self.given_up.wait()
            return say("Nobody hears this.")
        if self.asked % 61 == 31:
            self.thrown["refused"] += 1
            return refuse(WINDOW + 1_000, of=WINDOW)
        if self.asked % 37 == 20:
            self.thrown["flood"] += 1
            return calls(*(call("view", file_path="large.log", offset=self.asked * 9 + row) for row in range(4)))
        if self.asked % 29 == 0:
            self.thrown["429"] += 1
            return fail(429, {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}})
        if self.asked % 41 == 0:
            self.thrown["500"] += 1
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
    """Write parts with a value each, wide enough that a few fill the window, and return the sum of the values."""
    for number in range(parts):
        filler = "\n".join(f"{number}: " + "nothing to see in this line of the file " * 4 for _ in range(30))
        tail = "\n".join("more of the same in every line that follows it " * 3 for _ in range(25))
        (tree / f"part_{number:03d}.txt").write_text(f"{filler}\npart_{number:03d}: value = {number * 7}\n{tail}\n")
    return sum(number * 7 for number in range(parts))


def stalling(adder: Adder, wire: str) -> Wire:
    """Return a wire whose double sends only the first two events of an answer that stalls."""
    sound = wire_named(wire)

    def answer_events(*answer: Any) -> Iterator[bytes]:
        made = sound.double.answer_events(*answer)
        if not adder.stalls:
            yield from made
            return
        given_up = adder.given_up
        yield from itertools.islice(made, 2)
        given_up.wait()

    return replace(sound, double=replace(sound.double, answer_events=answer_events))


# ── the agent's process ──────────────────────────────────────────────────────────────────────────────────────────


class Watching:
    """A listener that records the memory of the process at turn 50."""

    def __init__(self) -> None:
        self.bytes = 0

    def text(self, delta: str) -> None:
        pass

    def step(self, session: Session, what: str) -> None:
        del what
        if session.state.all_turns == 50 and not self.bytes:
            self.bytes = resident_bytes()


def resident_bytes() -> int:
    """Return the memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work(wire: str, base_url: str, tree: str, store_url: str) -> None:
    """Ask until there is an answer, at most six times, and print the outcome."""
    model = RemoteModel(wire, "adder", base_url=base_url, environment={}, timeout_seconds=TIMEOUT_SECONDS)
    store = open_store(store_url)
    agent = begin(Path(tree), store, model, window=BELIEVED)
    agent.listener = watching = Watching()
    prompts = ["Add up the values of all parts, one after the other. Answer in French.", *["Go on."] * 5]
    for prompt in prompts:
        run = agent.run(prompt)
        if run.outcome == "answered":
            break
    grown_bytes = resident_bytes() - watching.bytes
    store.close()
    state = agent.session.state
    told = {"answer": run.answer, "turns": state.all_turns, "grown": grown_bytes}
    print(json.dumps({**told, "forgotten": state.compactions + state.handoffs}))


@pytest.mark.proves("S-4", "S-11", "O-8")
@pytest.mark.parametrize(("wire", "form", "parts"), FORMS)
def test_a_long_run_in_a_small_window_ends_with_the_right_answer(
    wire: str, form: Any, parts: int, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Floods, rate limits, faults, silence, stalled streams and refusals change neither the answer nor the use of memory."""
    total = planted(tree, parts)
    adder = Adder(wire, parts)
    monkeypatch.setattr(routes, "wire_named", lambda name: stalling(adder, name))
    with LoopbackProvider(wire, WINDOW, policy=adder, refusal=form) as provider:
        arguments = (wire, provider.base_url, str(tree), f"sqlite://{tmp_path}/store")
        driver = f"from tests.agent.test_long_run import work; work(*{arguments!r})"
        ended = subprocess.run(
            [*warm(*COMMANDS, __name__), "-c", driver],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            timeout=300,
            check=True,
        )
        adder.given_up.set()
    told = json.loads(ended.stdout)
    assert told["answer"].startswith(f"La somme est {total}."), told
    assert told["turns"] >= parts
    assert told["forgotten"] > 3
    assert told["grown"] < MAX_GROWTH_BYTES
    assert [what for what in THROWN if not adder.thrown[what]] == []
    outcomes = Counter(received.outcome for received in provider.requests)
    assert outcomes["refused"] > adder.thrown["refused"]  # also for their size
    for received in provider.requests:
        assert received.outcome != "invalid"
        assert received.outcome == "refused" or received.input_tokens <= WINDOW
        assert violations(messages_of(received.request, wire), wire) == []
