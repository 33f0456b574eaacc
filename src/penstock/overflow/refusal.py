"""What is known of a refusal? The values `Overflow` and `Diagnosis`, and how bad an overflow is.

Law: a number is right or absent, since requests are cut to it. Leaves to others: how kinds and numbers are found (`verdict`,
`numbers`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MINOR_TOKENS = 1_000
"""The excess in tokens from which an overflow is no longer `minor` (O-1)."""
CATASTROPHIC_TOKENS = 50_000
"""The excess in tokens from which an overflow is `catastrophic`: no more blind retries, a handoff is written (O-1, O-6)."""

Severity = Literal["minor", "major", "catastrophic", "unknown"]
"""How far a request exceeded its limit, as `classify_overflow` says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overflow:
    """A request that was larger than its context, with the numbers of the refusal; None means not stated (O-2)."""

    kind: str
    """`context_input`, or `context_total` if the reply's reserve is counted too."""
    limit: int | None = None
    """The size of the context that the request was compared with."""
    input: int | None = None
    """The size of the instructions, messages and tools, as the provider counts."""
    output: int | None = None
    """The length of the reply that the request reserves; always in tokens."""
    total: int | None = None
    """Input and output together, only if the refusal states the sum; it is never added up here."""
    excess: int | None = None
    """By how much the request exceeds the limit: as stated, else from the other numbers."""
    bound: str = "exact"
    """How exact the size of the request is: `exact`, `approx`, or `lower_bound` if a server stopped counting at its limit."""
    unit: str = "tokens"
    """What limit, input, total and excess count: `tokens`, `chars`, or `bytes` if a whole body was too large."""

    @property
    def severity(self) -> Severity:
        """How far the request exceeds the limit: `minor`, `major`, `catastrophic`, or `unknown`; see `classify_overflow`."""
        return classify_overflow(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """What a provider refused, and the action that cures it. The table in docs/overflow.md lists every kind with its cure."""

    kind: str
    """A key of `kinds.RECOVERIES`, such as `context_input`, `rate_limit` or `malformed_history`; `unknown` if nothing matches."""
    recovery: str
    """The cure of this refusal: a value of `kinds.RECOVERIES`, or `shrink_field`. `none` if no action of ours helps."""
    overflow: Overflow | None = None
    """The overflow, if the kind is `context_input` or `context_total`; else None."""
    retry_after_seconds: float | None = None
    """How long the provider asks to wait; None if it does not say or names a date, and for kinds that waiting does not cure."""


def classify_overflow(overflow: Overflow | None) -> Severity:
    """Return how far a request exceeded its limit, by the excess in tokens (O-1).

    >>> classify_overflow(Overflow(kind="context_input", excess=999))
    'minor'

    Args:
        overflow: what `parse` returned; None, meaning no overflow, is `unknown`.

    Returns:
        `minor` below 1,000 tokens of excess, `major` below 50,000, `catastrophic` from there on. `unknown` without an excess, for
        an excess in characters, and for a lower bound that does not decide it alone.
    """
    if overflow is None or overflow.excess is None or overflow.unit != "tokens":
        return "unknown"
    if overflow.excess >= CATASTROPHIC_TOKENS:
        return "catastrophic"
    # A lower bound never proves a small excess. vLLM stops tokenizing one token above the limit, so a request of 900,000 tokens
    # reports an excess of 1.
    if overflow.bound == "lower_bound":
        return "unknown"
    return "minor" if overflow.excess < MINOR_TOKENS else "major"
