"""How a refused request is made smaller: the public path of `penstock.context.recovery`.

`recover` answers one refusal: `SendSmaller`, `SummaryWanted`, or `Irreducible` with the proof (`TooLarge`). `decide`
does the same with everything known about a request so far, a `Situation`; `with_summary` continues once a model has
answered. `penstock.execute` drives it with your own send function (R-1 to R-3; docs/recovery-bounds.md).
"""

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
