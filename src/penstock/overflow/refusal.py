"""What is known of a refusal? `Overflow`, `Diagnosis`, and how bad it is.

Law: a number is right or absent. Keeps out: how they are found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MINOR_TOKENS = 1_000  # the seed's thresholds; `>=` as its code has it
CATASTROPHIC_TOKENS = 50_000

Severity = Literal["minor", "major", "catastrophic", "unknown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Overflow:
    """A request that was larger than its context. Numbers are those of the refusal; None is what it does not say.

    `total` only as stated, `excess` as stated, else from the other numbers. `bound` tells how exact the size of the request is: a
    `lower_bound` is what a server had counted when it stopped.
    """

    kind: str
    """`context_input`, or `context_total` where the reply's reserve is counted too."""
    limit: int | None = None
    input: int | None = None
    output: int | None = None
    total: int | None = None
    excess: int | None = None
    bound: str = "exact"
    """`exact`, `approx` or `lower_bound`."""
    unit: str = "tokens"
    """`tokens` or `chars`."""

    @property
    def severity(self) -> Severity:
        """See `classify_overflow`."""
        return classify_overflow(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """What was refused and what cures it; the names of `kind` and `recovery` are the keys and values of `kinds.RECOVERIES`."""

    kind: str
    recovery: str
    overflow: Overflow | None = None
    retry_after_seconds: float | None = None


def classify_overflow(overflow: Overflow | None) -> Severity:
    """How far above the limit: `minor` below 1,000 tokens, `major` below 50,000, `catastrophic` from there on.

    `unknown` without numbers, for characters, and for a lower bound that does not decide it alone.
    """
    if overflow is None or overflow.excess is None or overflow.unit != "tokens":
        return "unknown"
    if overflow.excess >= CATASTROPHIC_TOKENS:
        return "catastrophic"
    if overflow.bound == "lower_bound":
        return "unknown"
    return "minor" if overflow.excess < MINOR_TOKENS else "major"
