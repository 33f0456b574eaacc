"""What does the state machine cost beside the request? A turn at 1,000 entries against `json.dumps` of the request it sends.

A turn is everything that the machine does between two requests: the step that runs the calls, the answer and the results as
events, and the step that asks again. Prints a Markdown table; quote the ratio, it holds on other machines. 1 when it is missed.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tests.session.stage import WIRES, Stage, viewed  # noqa: E402 - the driver of the tests

from penstock.session import Ask, Compact  # noqa: E402
from penstock.tokens import Tokens  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.transcript.strategies import Call

ENTRIES = 1_000
ROUNDS = 30
LINES = 40
TARGET = 1.0


def grown(wire: str, window: int) -> Stage:
    """A session at work whose history has so many entries; in the smaller window most results are forgotten."""
    tools = [{"name": f"tool{number}", "description": "what it does " * 20} for number in range(10)]
    stage = Stage(wire=wire, window=window, counter=Tokens(), tools=tools)
    stage.prompt("Find the bug.")
    while len(stage.session.state.transcript.entries) < ENTRIES:
        stage.view("".join(f"{number}|    value = compute({number})\n" for number in range(LINES)))
        stage.until_asked()
    return stage


def milliseconds(work: Callable[[], object]) -> float:
    """What it takes of the processor."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1_000


def turn_of(stage: Stage, call: Call) -> None:
    """The answer, its call, the result, and what is next."""
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


def main() -> int:
    """The table."""
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
    return int(worst > TARGET)


if __name__ == "__main__":
    sys.exit(main())
