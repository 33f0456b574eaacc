"""What did the provider refuse? `parse(error)` is the overflow in it or None, `diagnose(error)` its kind and its cure.

Any provider, any wrapping. Law: any text is answered or `None`; a number is right or absent. Pure: no I/O, no clock, no SDK; errors
are read by the names of their attributes. Keeps out: what is done about it (`recovery`), and who asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.overflow import walk
from penstock.overflow.learned import Learned, LearnedLimits
from penstock.overflow.refusal import CATASTROPHIC_TOKENS, MINOR_TOKENS, Diagnosis, Overflow, classify_overflow
from penstock.overflow.rules import RefusalRule, read_rules
from penstock.overflow.silent import Silence, silent_overflow
from penstock.overflow.verdict import Judge

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CATASTROPHIC_TOKENS",
    "MINOR_TOKENS",
    "Diagnosis",
    "Learned",
    "LearnedLimits",
    "Overflow",
    "RefusalRule",
    "Silence",
    "classify_overflow",
    "diagnose",
    "parse",
    "read_rules",
    "silent_overflow",
]


def parse(error: object, http_status: int | None = None, *, rules: Sequence[RefusalRule] = ()) -> Overflow | None:
    """The context overflow in `error`: an exception, a body, a stream event or a text. None for everything that is not one."""
    return diagnose(error, http_status, rules=rules).overflow


def diagnose(error: object, http_status: int | None = None, *, rules: Sequence[RefusalRule] = ()) -> Diagnosis:
    """The kind of any refusal and the action that cures it. `rules` of a user come first; never raises."""
    first: Diagnosis | None = None
    status = http_status if isinstance(http_status, int) else None
    for evidence in walk.layers(error):
        told, certain = Judge(evidence, status, rules).judge()
        if certain:
            return told
        if first is None or first.kind == "unknown":
            first = told
    return first or Diagnosis(kind="unknown", recovery="none")
