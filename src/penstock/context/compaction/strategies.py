"""What may go first? Ways to make a transcript smaller without a model, each a value with its parameters (S-4, O-4).

A strategy looks at a `View` and proposes steps; the planner measures them and takes those that shrink. What is pinned,
the task, the newest user message and instructions are never proposed; the newest view of each modified file only at the
last resort. Leaves to others: how far to go (`plan`), where the whole is kept (`apply`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from penstock.context.compaction.results import Clear, Offload, Stale
from penstock.context.compaction.spans import FailedAttempts, Spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.compaction.plans import PlanStep
    from penstock.context.compaction.views import View


class Strategy(Protocol):
    """A way to make a transcript smaller."""

    @property
    def name(self) -> str:
        """How a plan and a result of recovery call it."""
        ...

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return what it would do, all of which shrinks; nothing where it can do nothing."""
        ...


DEFAULT: tuple[Strategy, ...] = (
    Stale(),
    Clear(),
    FailedAttempts(),
    Spans(changes=False),
    Spans(low_water=0.75),
    Offload(min_tokens=1_000),
)
"""The order for a transcript that has grown: what is needless or old first, words later than results, what changed a
file later still.
"""
GENTLE: tuple[Strategy, ...] = (Offload(), Stale(), Clear(), FailedAttempts(), Spans())
"""The order for a request that was refused (O-4): the flood first, then what is old, then what is finished."""
LAST_RESORT: tuple[Strategy, ...] = (
    Clear(keep=1, active=True),
    Spans(keep_turns=1),
    Spans(keep_turns=0, users=True),
    Offload(max_tokens=200, min_tokens=60, active=True),
    Clear(keep=0, active=True),
)
"""What goes when nothing gentle is left: active views, unseen results, the words of the user."""
RECOVERY: tuple[Strategy, ...] = (*GENTLE, *LAST_RESORT)
"""`GENTLE`, then `LAST_RESORT`: at its end only what is pinned, the task and the newest user message are as they were."""
