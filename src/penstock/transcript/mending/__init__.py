"""How is a broken list made whole? The least that a provider's rules demand, and a sentence for everything that was done.

Calls without a result get one that says so, later results of a call go, results without a call become text, roles are
merged. What is signed is never touched: it stays, or goes with its whole message. Laws: a valid list comes back as it is,
without actions; repairing twice changes nothing; what cannot be mended is said. Keeps out: what the rules are
(`invariants`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.transcript.history import codec
from penstock.transcript.invariants import Violation, violations
from penstock.transcript.mending import anthropic, openai_chat, openai_responses
from penstock.transcript.mending.draft import Draft
from penstock.transcript.shapes import copied

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.transcript.shapes import Json

_ROUNDS = 12
"""A mend can uncover the next one (a dropped message leaves two of one role); each round takes something away."""

_MENDS: dict[str, tuple[Callable[[Draft], None], ...]] = {
    "openai-chat": openai_chat.MENDS,
    "openai-responses": openai_responses.MENDS,
    "anthropic": anthropic.MENDS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A mended list, what was done to it, and what is left to a person."""

    messages: list[Json]
    actions: tuple[str, ...] = ()
    left: tuple[Violation, ...] = ()


def repair(messages: Json, wire: str, *, continues: bool = False) -> Repaired:
    """The list as its provider would take it; `continues` as in `violations`. What came in is not changed."""
    codec(wire)
    draft = Draft(continues)
    if isinstance(messages, str):
        if wire != "openai-responses":
            draft.actions.append("made a user message of a text")
        messages = [{"role": "user", "content": messages}]
    elif not isinstance(messages, list):
        draft.actions.append(f"dropped a {type(messages).__name__}, which is no list of messages")
        messages = []
    draft.rows = [(place, raw) for place, raw in enumerate(copied(messages))]
    if violations(draft.messages, wire, continues=continues):
        for _ in range(_ROUNDS):
            before = len(draft.actions)
            for mend in _MENDS[wire]:
                mend(draft)
            if len(draft.actions) == before:
                break
    left = tuple(violations(draft.messages, wire, continues=continues))
    return Repaired(messages=draft.messages, actions=tuple(draft.actions), left=left)
