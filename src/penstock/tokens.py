"""How many tokens a text has: the public path of `penstock.text.tokens`.

`count` estimates, samples or counts exactly; `fits` loads a tokenizer only if the estimate does not decide; `Tokens`
is a counter to hand on, and `Calibration` lets it learn from reported usage.
"""

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
