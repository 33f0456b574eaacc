"""On every rung of some ladders, what is removed, what is added, and what may a provider count for it?

`rungs.txt` has the reviewed answer; `WRITE_TABLES=1` rewrites it. One line covers all rungs that are alike.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bench.recovery import COUNTER, dialect_of
from tests.context.compaction.talks import did, edited, step, viewed
from tests.context.test_ladder import BESIDE_WORDS, CHAT, OLD_BATCH, SCREENS, TALK, request_of
from tests.tables import check_table
from tests.wires.strategies import Story

from penstock.context.counts import KindCounts, counts_of
from penstock.context.ladder import Ladder, Order
from penstock.context.provider_counts import (
    Likelihood,
    Observation,
    min_decrease,
    more_than,
    stated,
    sure_tokens,
    worst_case,
)
from penstock.context.sized import Sized
from penstock.wires import load_request

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).with_name("rungs.txt")
# Everything that a ladder tells apart: floods of several sizes, pages read anew, failed attempts, two results in one message.
WORK = Story(
    system="Be brief.",
    rounds=(
        step(viewed("a.py", 40), viewed("b.py", 300), text="Two files."),
        step(did("run", "error: no such file\n" * 9, failed=True, command="make"), user="Go on. " * 40),
        step(did("run", "error: no such file\n" * 9, failed=True, command="make"), thinking=1),
        step(did("run", "ok\n" * 60, command="make all"), text="It builds now."),
        step(viewed("a.py", 40), edited("a.py"), user="And the tests?"),
        step(viewed("a.py", 41), did("look", "ok", image=True, page="1")),
        step(
            did("run", "passed\n" * 900, command="pytest"), viewed("c.py", 20), text="All pass.", user="Thanks. " * 30
        ),
        step(viewed("d.py", 90), viewed("e.py", 60)),
    ),
)
STORIES = {
    "chat": CHAT,
    "old batch": OLD_BATCH,
    "talk": TALK,
    "beside words": BESIDE_WORDS,
    "screens": SCREENS,
    "work": WORK,
}
ORDERS: tuple[Order, ...] = ("kind", "age", "size")


def rungs() -> Iterator[str]:
    """Yield each rung: its deepest step, the number of steps, its tokens and messages, what is removed, and what is added."""
    for name, story in STORIES.items():
        for wire, window_tokens in (("anthropic", 1 << 40), ("openai-chat", 4_000))[: 2 if name == "work" else 1]:
            sized = Sized(load_request(request := request_of(story, wire), wire), COUNTER)
            whole = Ladder(sized, window_tokens=window_tokens, dialect=dialect_of(request, wire))
            for order in ORDERS:
                ladder = whole.by(order)
                ends = f"{ladder.gentle} gentle, {ladder.recent} recent, floor {ladder.floor} of {ladder.last}"
                yield f"{name}, {wire}, {order}: {ends}"
                for said, group in groupby(range(ladder.last + 1), lambda rung: _said(ladder, rung)):  # noqa: B023
                    alike = list(group)
                    yield f"  {alike[0]}-{alike[-1]}: {said}"


def _said(ladder: Ladder, rung: int) -> str:
    change, counts, plan = ladder.change(rung), ladder.counts(rung), ladder.plan(rung, 1_000)
    flow = " ".join(f"{one.total}/{one.messages}" for one in (counts, change.removed, change.added))
    kinds = ", ".join(f"{tokens} {kind}" for kind, tokens in counts.by_kind().items())
    return f"{ladder.strategy(rung)} {len(plan.steps)} {plan.outcome} to {plan.after_tokens}, {flow} ({kinds})"


_TEXT = counts_of([("system", 100), ("user", 400), ("results", 3_000)], messages=12)
_MIXED = counts_of([("user", 200), ("images", 3_136), ("files", 900), ("reasoning", 700), ("calls", 300)], messages=9)
_REQUESTS = {
    "text": _TEXT,
    "half of it": counts_of([("system", 100), ("user", 400), ("results", 1_250)], messages=6),
    "mixed": _MIXED,
    "a note": counts_of([("notes", 60)], messages=1),
    "nothing": KindCounts(),
}
_TOLD: dict[str, tuple[Observation, ...]] = {
    "nothing": (),
    "one number": (stated(_TEXT, 5_000),),
    "two numbers": (stated(_TEXT, 5_000), stated(_REQUESTS["half of it"], 2_200)),
    "three numbers": (stated(_MIXED, 9_000), stated(_TEXT, 5_000), stated(_REQUESTS["half of it"], 2_200)),
    "a limit": (more_than(_TEXT, 4_000),),
    "a limit and a number": (more_than(_TEXT, 4_000), stated(_MIXED, 3_000)),
    "a number and a limit": (stated(_MIXED, 3_000), more_than(_TEXT, 4_000)),
    "what cannot be": (stated(_TEXT, 60_000),),
}


def counted() -> Iterator[str]:
    """Yield the estimates for requests given counts of others: the most, whether certainly smaller, and how likely they fit."""
    for told, observations in _TOLD.items():
        likely, alike = Likelihood(observations), Likelihood(observations, spread=0.5)
        for name, counts in _REQUESTS.items():
            worst, decrease = worst_case(counts, observations), min_decrease(_TEXT, counts, observations)
            chances = ", ".join(
                f"{one.chance_that_fits(counts, limit):.4f} worth {one.worth(counts, limit):.4f}"
                for one in (likely, alike)
                for limit in (2_000, 6_000)
            )
            yield f"{told} was told, {name}: {sure_tokens(counts)} sure, at most {worst:.3f}, less by {decrease:.3f}, {chances}"


@pytest.mark.proves("R-1")
def test_what_each_rung_takes_and_may_count_for_is_what_the_table_says() -> None:
    """The table has every rung, in each order, and every request, whatever was counted for others."""
    check_table(TABLE, [*rungs(), *counted()])
