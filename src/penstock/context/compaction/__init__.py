"""What may be forgotten? `plan` says what, `apply` does it, and both without a model (S-4, O-4).

A plan is made when a transcript has outgrown its budget. It then goes well below the budget, because every edit makes the
provider read the text after it anew: edits should be rare and large. Each strategy works on what the ones before it left,
is measured, and is used only if it shrinks the transcript.

Laws: a plan meets its limit or says that it cannot; it is deterministic; planning again finds nothing left to do. Leaves
to others: when to plan (`session`), where originals are kept (`apply`'s caller), and what a provider said (`recovery`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from penstock.context.activity import actions, answers_begun
from penstock.context.bill import bill_of
from penstock.context.compaction.plans import (
    SAMPLE_HANDLE,
    Plan,
    PlanStep,
    apply,
    lasting,
    rewritten_tokens,
    with_steps,
)
from penstock.context.compaction.prices import prices_of
from penstock.context.compaction.results import Clear, NewLines, Offload, Stale
from penstock.context.compaction.spans import FailedAttempts, Spans, Summary, summary_problem, summary_span
from penstock.context.compaction.strategies import DEFAULT, GENTLE, GROWN, RECOVERY, Strategy
from penstock.context.compaction.views import CALLS_LEFT, View
from penstock.context.sized import ESTIMATOR, Sized, high_of, measure_entry, size_of
from penstock.errors import CallerError
from penstock.text.allowance import Budget
from penstock.wires import ToolResult, Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.compaction.prices import Prices
    from penstock.text.calls import Dialect
    from penstock.text.tokens import TokenCounter

__all__ = [
    "CALLS_LEFT",
    "DEFAULT",
    "GENTLE",
    "GROWN",
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
"""The share of its limit that a plan goes down to, so that the next plan is far away."""


def plan(
    transcript: Transcript,
    budget: Budget | int,
    strategies: Sequence[Strategy] = DEFAULT,
    *,
    low_water: float = LOW_WATER,
    calls_left: int | None = None,
    repaid: bool = True,
    dialect: Dialect | None = None,
    kept: frozenset[tuple[int, str]] = frozenset(),
) -> Plan:
    """Return how to bring a transcript within a budget: no steps if it fits, else steps down to `low_water` of the budget.

    The strategies run in order, each aiming at the goal, until half of the way from the limit to the goal is free; after
    that only as far as repaying the rewrite of the cached prompt before the next plan requires. While the result is above
    the limit, they run again as long as anything shrinks.

    Args:
        transcript: what a request shows; unchanged.
        budget: the window and the reply's reserve, or that many tokens of input; its counter decides, None estimates.
        strategies: what may go, in this order.
        low_water: the share of the limit to go down to, 0 to 1; at 1 nothing goes that does not have to.
        calls_left: how many model calls are still expected: early text is edited only if they repay it. None means as
            many as there were, and at least `CALLS_LEFT`.
        repaid: whether a plan that is low enough continues until its rewrite is repaid; else memory comes before price.
        dialect: the syntax of the calls that bring the originals back; None is Python's.
        kept: results that stay as they are, each as (index of its entry, id of its call), in addition to pins, the task
            and the user's newest words.

    Returns:
        The plan; its `outcome` is `cannot` if what remains is above the limit, and `irreducible` is then its bill.

    Raises:
        CallerError: for messages that were not loaded, a budget that is no number of tokens, and the name of a strategy.
    """
    if not isinstance(transcript, Transcript):
        raise CallerError(
            f"a plan is for a transcript, not for {type(transcript).__name__}: make one by transcript.load(messages, wire)"
        )
    budget = Budget.of(budget)
    for strategy in strategies:
        if isinstance(strategy, str):
            raise CallerError(f"a strategy is a value such as Clear() or Spans(), not {strategy!r}")
    counter = budget.counter or ESTIMATOR
    limit = budget.input_tokens
    sized = Sized(transcript, counter)
    if calls_left is None:
        calls_left = max(CALLS_LEFT, sum(answers_begun(transcript.entries)))
    view = View(
        transcript=transcript,
        actions=actions(transcript) if sized.high > limit else (),
        counter=counter,
        calls_left=calls_left,
        dialect=dialect,
        kept=kept,
    )
    goal = int(limit * low_water)
    prices = prices_of(transcript, counter, sized.high, limit, calls_left) if repaid and goal < limit else None
    descent = _Descent(sized, view, limit, goal, prices)
    # Each round shrinks the transcript by at least one token or is the last, so this terminates. A second round may find
    # work, because an earlier strategy may be able to use what a later one left.
    while descent.size > limit and descent.shrinks(strategies):
        pass
    current, size = descent.current, descent.size
    irreducible = bill_of(current, counter) if size > limit else None
    # A result that was first cut and then removed with its span is one step, the last: `lasting` drops the first, and the
    # remaining step takes its size from the transcript before any step.
    steps = _resized(transcript, lasting(descent.steps), counter) if descent.steps else []
    return Plan(
        steps=tuple(steps),
        before_tokens=sized.high,
        after_tokens=size,
        limit_tokens=limit,
        outcome="cannot" if irreducible else "shrunk" if steps else "fits",
        entries=len(transcript.entries),
        edits=len(transcript.edits),
        rewritten_tokens=rewritten_tokens(sized, steps, size),
        irreducible=irreducible,
    )


class _Descent:
    """A transcript that is being shrunk: what the strategies so far left of it, and how far the next one has to go.

    Args:
        sized: The transcript before any step.
        view: What strategies look at; its transcript and sizes are updated for each strategy.
        limit: What the transcript has to come down to, in tokens.
        goal: What each strategy aims at.
        prices: What the rewrite costs, if it has to be repaid; None if memory comes before price.
    """

    def __init__(self, sized: Sized, view: View, limit: int, goal: int, prices: Prices | None) -> None:
        self.current = sized.transcript
        """What is left."""
        self.size = sized.high
        """The tokens of what is left, at most."""
        self.steps: list[PlanStep] = []
        self._sized, self._view, self._limit, self._prices = sized, view, limit, prices
        self._target = goal
        # Two marks: each strategy aims at the goal, but half of the way there is enough to skip the next strategy, which
        # loses more.
        self._enough = (limit + goal) // 2

    def shrinks(self, strategies: Sequence[Strategy]) -> bool:
        """Run the strategies until enough is freed; return whether one of them shrank anything."""
        before = self.size
        for strategy in strategies:
            self._take(strategy)
            if self.size <= self._enough and not self._goes_on():
                break
        return self.size < before

    def _take(self, strategy: Strategy) -> None:
        """Apply what a strategy proposes, if it shrinks the transcript."""
        self._view = replace(
            self._view,
            transcript=self.current,
            size_tokens=self.size,
            over_tokens=self.size - self._limit,
            goal_tokens=self.size - self._target,
        )
        proposed = lasting(strategy.steps(self._view))
        smaller = with_steps(self.current, proposed, lambda _step: SAMPLE_HANDLE)
        measured = _size_after(smaller, proposed, self.size, self._sized.counter)
        if measured < self.size:
            self.current, self.size = smaller, measured
            self.steps += proposed

    def _goes_on(self) -> bool:
        """Return whether to continue because the next plan would be due before this one is repaid; lower the target to that."""
        if self._prices is None:
            return False
        rewritten = rewritten_tokens(self._sized, self.steps, self.size)
        self._target = self._prices.repaid_tokens(self.size, rewritten, _staying(self._sized, self.steps))
        return self._target < self.size


def _resized(transcript: Transcript, steps: Sequence[PlanStep], counter: TokenCounter) -> list[PlanStep]:
    """Return the steps with sizes taken from this transcript, not from what an earlier step made of it."""
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


def _size_after(smaller: Transcript, steps: Sequence[PlanStep], size: int, counter: TokenCounter) -> int:
    """Return the size of a transcript after some steps, given its `size` before them."""
    # A stub takes the place of its result and was counted when it was written, so it is added and subtracted. A note is
    # measured instead: it needs messages next to it, and its own figures are estimates of the whole.
    if all(step.call_id is not None for step in steps):
        return size - sum(step.before_tokens - step.after_tokens for step in steps)
    return size_of(smaller, counter)


def _staying(sized: Sized, steps: Sequence[PlanStep]) -> int:
    """Return the tokens after the first edit that have to stay."""
    first = min(step.first for step in steps)
    shown, protected = sized.transcript.visible(), sized.transcript.protected()
    return high_of([entry for entry in shown if entry.last_index >= first and entry.index in protected], sized.counter)
