"""What may be taken out of a request, planned and applied without a model.

This is the public path of `penstock.context.compaction`.

`plan` says what goes and what that costs, `apply` does it; the strategies (`Stale`, `Clear`, `Offload`, `Spans`, …) are
values, and `DEFAULT`, `GENTLE` and `RECOVERY` are orders of them. A `Plan` can be printed before anything is changed
(S-4).

For a request that a provider has refused already, see `penstock.recovery`, or let `penstock.execute` do all of it.
"""

from __future__ import annotations

from penstock.context.compaction import (
    CALLS_LEFT,
    DEFAULT,
    GENTLE,
    LOW_WATER,
    RECOVERY,
    Clear,
    FailedAttempts,
    NewLines,
    Offload,
    Plan,
    PlanStep,
    Spans,
    Stale,
    Strategy,
    Summary,
    apply,
    plan,
    summary_problem,
    summary_span,
)

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
