"""What does the state machine cost relative to the request, and to the store? Two tables, each a ratio from one run.

A turn at 1,000 entries is compared with `json.dumps` of the request that it sends: everything that the machine does between two
requests, that is the step that runs the calls, the answer and the results as events, and the step that asks again. And the journal
of a long session as an agent writes it, event by event, is compared with `append` of the same records. Prints Markdown; 1 if a
target is missed.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tests.session.stage import WIRES, Stage, viewed  # noqa: E402 - the driver of the tests

from penstock.agent.loop import Agent  # noqa: E402
from penstock.agent.toolbox import Toolbox  # noqa: E402
from penstock.models import ScriptedModel  # noqa: E402
from penstock.session import Ask, Compact, Session, event_of  # noqa: E402
from penstock.store import open_store  # noqa: E402
from penstock.text.tokens import Tokens  # noqa: E402
from penstock.workspace import Workspace  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.wires.strategies import Call


ENTRIES = 1_000
ROUNDS = 30
LINES = 40
TARGET = 1.0
JOURNAL_ROUNDS = 7
JOURNAL_TARGET = 1.3


def grown(wire: str, window: int) -> Stage:
    """A session at work whose history has this many entries; in the smaller window most results are forgotten."""
    tools = [{"name": f"tool{number}", "description": "what it does " * 20} for number in range(10)]
    stage = Stage(wire=wire, window=window, counter=Tokens(), tools=tools)
    stage.prompt("Find the bug.")
    while len(stage.session.state.transcript.entries) < ENTRIES:
        stage.view("".join(f"{number}|    value = compute({number})\n" for number in range(LINES)))
        stage.until_asked()
    return stage


def milliseconds(work: Callable[[], object]) -> float:
    """Its processor time."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1_000


def turn_of(stage: Stage, call: Call) -> None:
    """The answer, its call, the result, and the next step."""
    stage.turn(call)
    stage.session.next_step()


def measured(stage: Stage) -> tuple[float, float]:
    """Milliseconds of a turn, and of writing its request as JSON: the medians."""
    turns: list[float] = []
    dumps: list[float] = []
    for number in range(ROUNDS):
        step = stage.session.next_step()
        if isinstance(step, Compact):
            stage.compact(step)
            step = stage.session.next_step()
        assert isinstance(step, Ask)
        shown = [entry.raw for entry in step.transcript.visible()]
        dumps.append(milliseconds(partial(json.dumps, shown)))
        call = viewed(10_000 + number, f"src/new{number}.py", "    value = compute()\n" * LINES)
        turns.append(milliseconds(partial(turn_of, stage, call)))
    return statistics.median(turns), statistics.median(dumps)


# ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────────


def seconds(work: Callable[[], object]) -> float:
    """Its wall time, the disk included."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def written(folder: str, stage: Stage) -> tuple[float, float]:
    """Seconds for all records of a session, written directly to the store and by an agent: record by record, in turns."""
    records = [json.loads(line) for line in stage.journal]
    with closing(open_store(f"{folder}/alone")) as alone, closing(open_store(f"{folder}/agent")) as store:
        agent = Agent(
            Session.replay(json.loads(stage.header), []),
            ScriptedModel([]),
            Toolbox(Workspace(ROOT), store, window_tokens=128_000),
            store,
        )
        agent.begin()
        appended = journalled = 0.0
        for seq, (name, data) in enumerate(records):
            event = event_of(name, data)
            appended += seconds(partial(alone.append, agent.session.session_id, seq, name, data))
            journalled += seconds(partial(agent.feed, event))
    return appended, journalled


def journal() -> float:
    """The second table; the ratio of the journal's time to the store's alone."""
    stage = grown("openai-chat", 128_000)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        rounds = [written(f"{folder}/{number}", stage) for number in range(JOURNAL_ROUNDS)]
    count, size = len(stage.journal), statistics.mean(map(len, stage.journal))
    print(f"\n{count} events of {size:.0f} bytes on average, medians of {JOURNAL_ROUNDS} rounds\n")
    alone, ours = (count / statistics.median(took) for took in zip(*rounds, strict=True))
    times = statistics.median(agent / store for store, agent in rounds)
    print("| written by | events a second | time, as a multiple |\n|---|---|---|")
    print(f"| `append` of the store | {alone:.0f} | 1.00 |\n| an agent's journal | {ours:.0f} | {times:.2f} |")
    return times


def main() -> int:
    """Both tables."""
    print(f"{ENTRIES} entries, medians of {ROUNDS} turns\n")
    print("| wire | history | a turn, ms | `json.dumps` of its request, ms | ratio |")
    print("|---|---|---|---|---|")
    worst = 0.0
    for wire in WIRES:
        for window, what in ((4_000_000, "whole"), (128_000, "compacted")):
            stage = grown(wire, window)
            turn, dumped = measured(stage)
            cut = f"{what}, {len(stage.session.state.transcript.edits)} edits"
            print(f"| {wire} | {cut} | {turn:.2f} | {dumped:.2f} | {turn / dumped:.2f} |")
            worst = max(worst, turn / dumped)
    times = journal()
    return int(worst > TARGET or times > JOURNAL_TARGET)


if __name__ == "__main__":
    sys.exit(main())
