"""The public path of `penstock.text.tokens`: how many tokens a text has."""

from __future__ import annotations

from penstock.text.tokens import (
    Calibration,
    Count,
    TokenCounter,
    Tokens,
    best_counter,
    count,
    family,
    fits,
    sample_count,
)

__all__ = [
    "Calibration",
    "Count",
    "TokenCounter",
    "Tokens",
    "best_counter",
    "count",
    "family",
    "fits",
    "sample_count",
]
