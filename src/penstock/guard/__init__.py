"""What may a result be? A text within its allowance; output of tools, streams of commands, each with the way to the rest."""

from __future__ import annotations

from penstock.text.fitting import (
    Guarded,
    Keep,
    Whole,
    fit,
    fit_all,
    fit_ends,
)

__all__ = [
    "Guarded",
    "Keep",
    "Whole",
    "fit",
    "fit_all",
    "fit_ends",
]
