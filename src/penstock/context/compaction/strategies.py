"""What may go first? Ways to make a transcript smaller without a model, each a value with its parameters (S-4, O-4).

A strategy looks at a `View` and proposes steps; the planner measures them and takes those that shrink the transcript.
Pinned content, the task, the newest user message and instructions are never proposed; the newest view of each modified
file only as a last resort. Leaves to others: how far to go (`plan`), where originals are kept (`apply`).
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
        """The strategy's name in a plan and in a result of recovery."""
        ...

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return the steps that the strategy proposes, each of which shrinks; nothing if it can do nothing."""
        ...


@dataclass(frozen=True, kw_only=True)
class LastResort:
    """Strategy: another strategy, applied only while a transcript does not fit, since no price or margin justifies its losses."""

    strategy: Strategy

    @property
    def name(self) -> str:
        """The name of the other strategy."""
        return self.strategy.name

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return the other strategy's steps; nothing if the limit is met."""
        return self.strategy.steps(view) if view.over_tokens > 0 else ()


GROWN: tuple[Strategy, ...] = (
    Stale(),
    Clear(),
    FailedAttempts(),
    Spans(changes=False),
    Spans(low_water=0.75),
    Offload(min_tokens=1_000),
)
"""The order for a conversation that continues and can begin afresh: what is superseded or old first, words later than
results, and what changed a file later still; the newest steps stay, whatever that costs.
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
"""What goes when nothing gentle is left: active views, unseen results, the user's words."""
_BRIEF = 1 / 3
"""A note of this share takes about a twelfth of what goes. Each plan writes it anew, which matters in a small window."""
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
"""The order for a budget: like `GROWN` with shorter notes, then all steps but the newest for a rewrite that would not be
repaid otherwise, then `LAST_RESORT`: a plan fails only if what has to stay is too much.
"""
RECOVERY: tuple[Strategy, ...] = (*GENTLE, *LAST_RESORT)
"""`GENTLE`, then `LAST_RESORT`: in the end only pinned content, the task and the newest user message are unchanged."""
