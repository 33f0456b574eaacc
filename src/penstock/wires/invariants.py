"""What would the provider refuse in a message list? Every broken invariant, by code, position and sentence.

Each wire's rules are a table in its own folder (`rules`); the table's order is the order of the findings for one message. Law:
`violations` never raises for any JSON; a list without findings is one that the provider accepts, as far as messages alone can
tell. Checks are passes over the list (R-9), and what several of them need is found once (`message_list`). Leaves to others:
mending (`repair`), and whatever depends on the model, on tools or on a genuine signature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.wires.message_list import MessageList
from penstock.wires.table import WIRES, wire_named

if TYPE_CHECKING:
    from penstock.text.json_access import Json

# The id in a sane request is shorter; a hostile one must not fill the message.
_MAX_DETAIL_CHARS = 100

CODES = {wire: tuple(dict.fromkeys(row.code for row in wire_named(wire).invariants)) for wire in WIRES}
"""The codes of violations that each wire knows."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that a message list breaks, and where."""

    index: int
    """The position of the message, from 0."""
    code: str
    """The stable name of the invariant, one of `CODES` of its wire."""
    message: str
    """What has to hold and what breaks it, as a sentence for a person."""


def violations(messages: Json, wire: str, *, continues: bool = False) -> list[Violation]:
    """Return every broken invariant of a message list, in the order of the messages; an empty list if it is valid.

    Args:
        messages: the value of a request's message list on this wire.
        wire: the name of the wire.
        continues: whether the list continues a conversation that the provider keeps (`previous_response_id`, `conversation`,
            `thread`), so that an output may answer a call that is not in it.

    Raises:
        CallerError: for an unknown wire.
    """
    rules = wire_named(wire)
    if rules.body.accepts_text and isinstance(messages, str):
        return []
    if not isinstance(messages, list):
        return [Violation(0, "not_a_list", f"Messages are a list; this is a {type(messages).__name__}.")]
    seen = MessageList(messages, continues=continues)
    found = [
        Violation(index, invariant.code, f"{invariant.sentence}{detail and f': {detail[:_MAX_DETAIL_CHARS]}'}.")
        for invariant in rules.invariants
        for index, detail in invariant.check(seen)
    ]
    return sorted(found, key=lambda violation: violation.index)
