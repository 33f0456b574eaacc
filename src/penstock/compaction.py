"""The public path of `penstock.context.compaction`: what may be taken out of a request, planned and applied."""

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
