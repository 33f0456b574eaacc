"""The public path of `penstock.context.recovery`: what a refused request becomes."""

from __future__ import annotations

from penstock.context.recovery import (
    MAX_CALLS,
    Attempt,
    Cure,
    Irreducible,
    SendSmaller,
    Situation,
    SummaryWanted,
    TooLarge,
    decide,
    fresh,
    give_up,
    recover,
    with_handle,
    with_summary,
)

__all__ = [
    "MAX_CALLS",
    "Attempt",
    "Cure",
    "Irreducible",
    "SendSmaller",
    "Situation",
    "SummaryWanted",
    "TooLarge",
    "decide",
    "fresh",
    "give_up",
    "recover",
    "with_handle",
    "with_summary",
]
