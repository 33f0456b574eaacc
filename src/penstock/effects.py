"""What does a tool change? The words for it before and after: what is meant to be done, and what was.

An intent is written down before the act, the outcome after it; of an intent without an outcome nobody knows whether it was done,
and `settled` of the tool looks. Keeps out: journals, and what the tools do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from penstock.transcript.shapes import Json

Settled = Literal["done", "not done", "unknown"]


class Intent(NamedTuple):
    """What is about to change the world. `digest` is for the tool that meant it: it tells what was done from what was not."""

    kind: str
    what: str
    digest: str = ""


class Acted(NamedTuple):
    """How it ended: `text` is for the model, `what` one line for the journal."""

    text: str
    failed: bool
    what: str
    before: str = ""
    """The digest of what was there; empty where there was nothing, or nobody knows."""
    after: str = ""
    seen: tuple[dict[str, Json], ...] = ()
    """What a ledger of files remembers of it, as acts for `Ledger.after`; the turn is the caller's to add."""
