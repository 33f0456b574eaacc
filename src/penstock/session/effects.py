"""What does a tool change? The words for it before and after: what is meant to be done, and what was.

An intent is written down before the act, the outcome after it; of an intent without an outcome nobody knows whether it was done,
and `settled` of the tool looks. Keeps out: journals, and what the tools do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.text import escape

if TYPE_CHECKING:
    from penstock.text.json_access import Json

Settled = Literal["done", "not done", "unknown"]


class Intent(NamedTuple):
    """What is about to change the world. `digest` is for the tool that meant it: it tells what was done from what was not."""

    kind: str
    what: str
    digest: str = ""


def settled_later(kind: str, what: str, settled: Settled) -> str:
    """What became of something that was begun before a session was killed, for the model and for the person who resumes it."""
    word = {"done": "was done", "not done": "was not done"}.get(
        settled, "may or may not have been done: look before you do it again"
    )
    return f"Begun before the stop: {escape.clip(kind, 32)} {escape.clip(what, 120)} {word}."


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
