"""How did it go? The value that `execute` and carriers return, and what it says to the user (O-6, O-7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.compaction import Plan
    from penstock.context.handoff import Handoff
    from penstock.text.json_access import Json
    from penstock.wires import Transcript

TOOL_OUTPUT_WARNINGS = (
    "A tool returned too much data for the context window.",
    "Use more specific parameters or pagination.",
)
"""Warnings of a result that ended because tools returned more than could be cured (O-6)."""
TOOL_OUTPUT_MESSAGE = """\
[Tool output too large]
A tool returned more data than the model can process.
Session context cleared. Try a more specific query.
Tip: Use count_files() before list_files() on large directories."""
"""The message to the user for such an end."""
REFUSED_BEFORE = "The provider refused this very request before; it was not sent again."
"""Stands in for the provider's words when a carrier did not ask again."""
_SHOWN_REPAIRS = 5


@dataclass(kw_only=True)
class RecoveryResult:
    """The outcome of a request that may have been made smaller: the answer, and what it took to get it (O-7).

    Attributes:
        success: whether the provider answered.
        response: what `send` returned, even if it is an error; a stream starts again from its first event.
        attempts: how many times `send` was called.
        strategy: `normal`, `lower_reserve`, the deepest rung that was needed (`offload`, `stale`, `clear`, `failed`, `spans`,
            `model_summary`, `handoff`), and without success `tool_output_overflow`, `irreducible`,
            or `refused` for an error that came in an answer's place and that no smaller request cures.
        tokens_reduced: how many tokens smaller the answered request is than the one passed in, by our count.
        error: why it ended without success.
        warnings: what the caller should know in addition; for a stream, some are added when it ends.
        overflow_severity: how far over the limit the first refused request was, as the provider reported it (O-1).
        request: what was sent last; after success, the request to continue from.
        transcript: the conversation as it is now shown; its `entries` hold all of it.
        plans: what was removed from view, one plan for each smaller request.
        handoff: what a following session starts with; None if none was needed.
        fresh: after failure, a request to which the next prompt can be added; None if the instructions alone leave no room.
        message: what to tell the user; empty after success.
    """

    success: bool
    response: Any = None
    attempts: int = 0
    strategy: str = "normal"
    tokens_reduced: int = 0
    error: BaseException | None = None
    warnings: list[str] = field(default_factory=list)
    overflow_severity: str = "none"
    request: Json = None
    transcript: Transcript | None = None
    plans: list[Plan] = field(default_factory=list)
    handoff: Handoff | None = None
    fresh: Json = None
    message: str = ""


# ── what it says ─────────────────────────────────────────────────────────────────────────────────────────────────


def refused_with(proof: str, provider_words: str) -> str:
    """Return the message that nothing can be sent, with the proof and the provider's own words."""
    return f"{proof}\nThe provider said: {escape.clip(provider_words, 500)}"


def no_answer(reason: str) -> str:
    """Return the message that an error came in place of an answer."""
    return f"The provider did not answer: {escape.clip(reason, 500)}"


BROKE_OFF = "The stream ended before the answer said why it stops: what came may be a part of it."
"""The warning for a stream whose connection closed normally before the answer was complete."""


def unknown_answer(wire: str) -> str:
    """Return the warning that the response does not have the shape of an answer."""
    return (
        f"What came back is not an answer of {wire} that Penstock can read: "
        "whether it is an error, was cut or is empty cannot be told."
    )


def was_mended(actions: Sequence[str]) -> str:
    """Return the warning that a request was repaired before it was sent, although nothing was too large."""
    more = f" and {len(actions) - _SHOWN_REPAIRS} more" if len(actions) > _SHOWN_REPAIRS else ""
    return f"The request was not valid and was mended: {'; '.join(actions[:_SHOWN_REPAIRS])}{more}."


def no_messages(actions: Sequence[str]) -> str:
    """Return the message that there is nothing to send."""
    why = f": nothing of them was valid ({'; '.join(actions[:_SHOWN_REPAIRS])})" if actions else ""
    return f"the request has no messages{why}"


def not_stored(reason: str) -> str:
    """Return the warning that the store failed while a request was made smaller."""
    return (
        f"What was taken out of the request could not be kept: {escape.clip(reason)} The original is in the transcript."
    )
