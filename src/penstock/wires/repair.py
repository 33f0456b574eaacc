"""How is a broken message list made valid? With the least that the provider's rules demand, and a sentence for each change.

Calls without a result get one that says so, further results of a call go, results without a call become text, roles are merged.
Signed content is never changed: it stays, or goes with its whole message. No answer is made up: a result that nobody recorded is
reported as missing.

Each wire mends in its own steps (`repairs` of its record), ordered so that a later step can rely on the earlier ones: shapes first,
since everything else reads fields; pairs after roles, since merging moves what a result follows.

Laws: a valid list comes back unchanged, without actions; repairing twice changes nothing; what cannot be mended is named; the work
is linear in the list (R-9). Leaves to others: what the rules are (`invariants`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.text.json_access import copied
from penstock.wires.draft import RepairDraft
from penstock.wires.invariants import Violation, violations
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from penstock.text.json_access import Json

# One repair can uncover the next: a dropped message leaves two of one role next to each other. Each round removes something, so the
# rounds end by themselves; the bound is for a list designed to need many.
_MAX_ROUNDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A mended list, what was done to it, and the violations that are left to a person."""

    messages: list[Json]
    """The list as its provider would accept it; a copy, even if nothing had to be done."""
    actions: tuple[str, ...] = ()
    """A sentence for each repair, with the message's position in the original list."""
    left: tuple[Violation, ...] = ()
    """What could not be mended; empty for any list that came from a provider."""


def repair(messages: Json, wire: str, *, continues: bool = False) -> Repaired:
    """Return the message list as its provider would accept it.

    Args:
        messages: a message list of the wire, or whatever is in its place; it is not changed.
        wire: the name of the wire.
        continues: whether the list continues a conversation that the provider keeps (`previous_response_id`, `conversation`,
            `thread`), so that an output may answer a call that is not in it.

    Returns:
        The mended list with what was done; if it was valid, an equal list without actions.

    Raises:
        CallerError: for an unknown wire.
    """
    rules = wire_named(wire)
    began: list[str] = []
    if isinstance(messages, str):
        if not rules.body.accepts_text:
            began.append("made a user message of a text")
        messages = [rules.codec.text_message("user", messages)]
    elif not isinstance(messages, list):
        began.append(f"dropped a {type(messages).__name__}, which is not a list of messages")
        messages = []
    draft = RepairDraft(copied(messages), continues=continues)
    draft.actions += began
    if violations(draft.messages, wire, continues=continues):
        for _ in range(_MAX_ROUNDS):
            before = len(draft.actions)
            for mend in rules.repairs:
                mend(draft)
            if len(draft.actions) == before:
                break
    left = tuple(violations(draft.messages, wire, continues=continues))
    return Repaired(messages=draft.messages, actions=tuple(draft.actions), left=left)
