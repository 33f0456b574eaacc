"""What else would a provider not take? One sentence about the shape of a request; None for a valid one.

Messages are held against `penstock.transcript.violations`; the length asked for the reply, against what each wire accepts.
Keeps out: sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.models.sizes import REPLY_FIELDS
from penstock.transcript import continues, messages_of, violations

if TYPE_CHECKING:
    from penstock.transcript.shapes import Json

_LEAST_REPLY = {"openai-chat": 1, "openai-responses": 16, "anthropic": 1}


def fault_of(request: dict[str, Json], wire: str) -> str | None:
    """What is wrong with a request, in a sentence."""
    try:
        messages = messages_of(request, wire)
    except CallerError as error:
        return str(error)
    if wire == "openai-responses" and continues(request, wire):
        return "previous_response_id: no conversation is kept here, send all of it"
    for found in violations(messages, wire):
        return f"messages.{found.index}: {found.code}: {found.message}"
    return _reply_fault(request, wire)


def _reply_fault(request: dict[str, Json], wire: str) -> str | None:
    for name in REPLY_FIELDS[wire]:
        asked = request.get(name)
        if asked is None:
            continue
        least = _LEAST_REPLY[wire]
        if not isinstance(asked, int) or isinstance(asked, bool) or asked < least:
            return f"{name}: expected a whole number of at least {least}, but got {asked!r} instead"
    if wire != "anthropic":
        return None
    if request.get("max_tokens") is None:
        return "max_tokens: Field required"
    thinking = request.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    if isinstance(budget, int) and request["max_tokens"] <= budget:
        return "`max_tokens` must be greater than `thinking.budget_tokens`"
    return None
