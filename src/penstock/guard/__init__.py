r"""How do results stay within an allowance? Text, tool output and command streams are cut, each with the way to the rest.

`fit`, `fit_all` and `fit_ends` are the pure forms for text. `guard.output` adds a store and wraps functions; `guard.stream` does
the same for output too long to hold in memory.

    >>> from penstock.guard import fit
    >>> from penstock.text.allowance import Allowance
    >>> len(fit("line\n" * 10_000, Allowance.chars(500))) <= 500
    True
"""

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
