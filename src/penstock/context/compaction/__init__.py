"""What may be forgotten? `plan` says it, `apply` does it, and both without a model.

A plan is made when a transcript has outgrown its budget, and then goes well below it, because every edit makes the provider read
the text behind it anew: rarely, and a lot at a time. Each strategy is applied to what the ones before it left, measured, and taken
only where it shrinks. Laws: a plan meets its limit or says that it cannot; it is deterministic; planned again, nothing is left to
do. Keeps out: when to plan (session), where the whole is kept (`apply`'s caller), and what a provider said.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from penstock.context.activity import actions
from penstock.context.bill import bill_of
from penstock.context.compaction.plans import SAMPLE_HANDLE, Plan, PlanStep, apply, lasting, with_steps
from penstock.context.compaction.strategies import (
    CALLS_LEFT,
    DEFAULT,
    GENTLE,
    RECOVERY,
    Clear,
    FailedAttempts,
    NewLines,
    Offload,
    Spans,
    Stale,
    Strategy,
    Summary,
    View,
    summary_problem,
    summary_span,
)
from penstock.context.sized import ESTIMATOR, measure_entry, size_of
from penstock.text.allowance import Budget
from penstock.wires import ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.calls import Dialect
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Transcript

__all__ = [
    "CALLS_LEFT",
    "DEFAULT",
    "GENTLE",
    "LOW_WATER",
    "RECOVERY",
    "Clear",
    "FailedAttempts",
    "NewLines",
    "Offload",
    "Plan",
    "PlanStep",
    "Spans",
    "Stale",
    "Strategy",
    "Summary",
    "apply",
    "plan",
    "summary_problem",
    "summary_span",
]

LOW_WATER = 0.5
"""How far below its limit a plan goes, as a share of it, so that the next one is far away."""


def plan(
    transcript: Transcript,
    budget: Budget | int,
    strategies: Sequence[Strategy] = DEFAULT,
    *,
    low_water: float = LOW_WATER,
    calls_left: int = CALLS_LEFT,
    dialect: Dialect | None = None,
    kept: frozenset[tuple[int, str]] = frozenset(),
) -> Plan:
    """How to bring a transcript within a budget: nothing where it fits, else steps down to `low_water` of it.

    `kept` are results that stay as they are, each by its message and its call, beside pins, the task and the newest words of the
    user. `calls_left` is how many calls of the model are still expected: early text is edited only where they repay it. An integer
    is a budget of that many tokens. The strategies are gone through in order, each aiming at the goal, until half of the way from
    the limit to it is free; while the end is above the limit they are tried again as long as anything shrinks, and then the plan
    says `cannot`.
    """
    budget = Budget(budget) if isinstance(budget, int) else budget
    counter = budget.counter or ESTIMATOR
    limit = budget.input_tokens
    goal = int(limit * low_water)
    enough = (limit + goal) // 2
    current = transcript
    before = size = size_of(current, counter)
    steps: list[PlanStep] = []
    shrinks = size > limit
    done = actions(transcript) if shrinks else ()
    while shrinks:
        shrinks = False
        for strategy in strategies:
            view = View(
                transcript=current,
                actions=done,
                counter=counter,
                size_tokens=size,
                over_tokens=size - limit,
                goal_tokens=size - goal,
                calls_left=calls_left,
                dialect=dialect,
                kept=kept,
            )
            proposed = lasting(strategy.steps(view))
            smaller = with_steps(current, proposed, lambda _step: SAMPLE_HANDLE)
            measured = size_of(smaller, counter) if proposed else size
            if measured < size:
                current, size, shrinks = smaller, measured, True
                steps += proposed
            if size <= enough:
                break
        shrinks = shrinks and size > limit
    irreducible = bill_of(current, counter) if size > limit else None
    steps = _resized(transcript, lasting(steps), counter) if steps else []
    return Plan(
        steps=tuple(steps),
        before_tokens=before,
        after_tokens=size,
        limit_tokens=limit,
        outcome="cannot" if irreducible else "shrunk" if steps else "fits",
        entries=len(transcript.entries),
        edits=len(transcript.edits),
        rewritten_tokens=_behind(current, steps, counter),
        irreducible=irreducible,
    )


def _resized(transcript: Transcript, steps: Sequence[PlanStep], counter: TokenCounter) -> list[PlanStep]:
    """The steps with the sizes of what they take from this transcript, not of what an earlier step made of it."""
    touched = {step.first for step in steps if step.call_id is not None}
    results: dict[tuple[int, str | None], int] = {}
    sizes = [0] * (len(transcript.entries) + 1)
    for entry in transcript.visible():
        sizes[entry.index + 1] += measure_entry(entry, counter).high
        if entry.index in touched:
            for part, count in zip(entry.parts, measure_entry(entry, counter).parts, strict=True):
                if isinstance(part, ToolResult):
                    results[entry.index, part.call_id] = count.high
    before = list(accumulate(sizes))
    return [
        replace(step, before_tokens=results.get((step.first, step.call_id), before[step.last + 1] - before[step.first]))
        for step in steps
    ]


def _behind(transcript: Transcript, steps: Sequence[PlanStep], counter: TokenCounter) -> int:
    """What stands behind the first edit: a provider's cache no longer knows it."""
    first = min((step.first for step in steps), default=None)
    if first is None:
        return 0
    return sum(measure_entry(entry, counter).high for entry in transcript.visible() if entry.last_index >= first)
