"""What may go first? Ways to make a transcript smaller without a model, each a value with its parameters (S-4, O-4).

A strategy looks at a `View` and proposes steps; the planner measures them and takes those that shrink. What is pinned,
the task, the newest user message and instructions are never proposed; the newest view of each modified file only at the
last resort. Leaves to others: how far to go (`plan`), where the whole is kept (`apply`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.context.compaction.results import Clear, Offload, Stale
from penstock.context.compaction.spans import BareSpans, FailedAttempts, Spans

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


@dataclass(frozen=True, kw_only=True)
class LastResort:
    """Another strategy, while a transcript does not fit: what it loses is lost to no price and no better margin."""

    strategy: Strategy

    @property
    def name(self) -> str:
        """The name of the other strategy."""
        return self.strategy.name

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return what the other strategy would do; nothing where the limit is met."""
        return self.strategy.steps(view) if view.over_tokens > 0 else ()


GROWN: tuple[Strategy, ...] = (
    Stale(),
    Clear(),
    FailedAttempts(),
    Spans(changes=False),
    Spans(low_water=0.75),
    Offload(min_tokens=1_000),
)
"""The order for a conversation that goes on and can begin afresh: what is needless or old first, words later than
results, what changed a file later still; the newest steps stay, whatever that costs.
"""
GENTLE: tuple[Strategy, ...] = (Offload(), Stale(), Clear(), FailedAttempts(), Spans())
"""The order for a request that was refused (O-4): the flood first, then what is old, then what is finished."""
LAST_RESORT: tuple[Strategy, ...] = (
    Clear(keep=1, active=True),
    Spans(keep_turns=1),
    Spans(keep_turns=0, users=True),
    Offload(max_tokens=200, min_tokens=60, active=True),
    Clear(keep=0, active=True),
    BareSpans(),
)
"""What goes when nothing gentle is left: active views, unseen results, the words of the user."""
_BRIEF = 1 / 3
"""A note of that share takes about a twelfth of what goes. It is written anew by each plan: in a small window it counts."""
DEFAULT: tuple[Strategy, ...] = (
    Stale(),
    Clear(),
    FailedAttempts(),
    Spans(changes=False, note_share=_BRIEF),
    Spans(low_water=0.75, note_share=_BRIEF),
    Spans(keep_turns=1, changes=False, note_share=_BRIEF),
    Spans(keep_turns=1, note_share=_BRIEF),
    Offload(),
    *(LastResort(strategy=strategy) for strategy in LAST_RESORT),
)
"""The order for a budget: as `GROWN` with shorter notes, then all steps but the newest for a rewrite that would not be
repaid otherwise, then `LAST_RESORT`: a plan cannot only where what has to stay is too much.
"""
RECOVERY: tuple[Strategy, ...] = (*GENTLE, *LAST_RESORT)
"""`GENTLE`, then `LAST_RESORT`: at its end only what is pinned, the task and the newest user message are as they were."""
