"""What do wires demand on which the user begins and roles alternate, and how is a list mended that does not comply?

A system message may follow the user's. Leaves to others: every other rule of a wire.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.text.json_access import role_of
from penstock.wires import placeholders
from penstock.wires.message_list import Invariant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft, RepairStep
    from penstock.wires.message_list import Finding, MessageList


def _same_role_twice(seen: MessageList) -> Iterator[Finding]:
    """Yield messages with the same role as the message before."""
    for index, (before, role) in enumerate(pairwise(seen.roles), 1):
        if role == before and role in {"user", "assistant"}:
            yield index, f"{role} after {role}"


def _system_out_of_place(seen: MessageList) -> Iterator[Finding]:
    """Yield instructions at the beginning of the list or after the assistant."""
    for index, _ in seen.with_role("system"):
        if not index or seen.roles[index - 1] not in {"user", "system"}:
            yield index, ""


def _never(_message: Json) -> bool:
    return False


def alternation(may_begin: Callable[[Json], bool] = _never) -> tuple[Invariant, ...]:
    """Return the rules on the order of roles.

    Args:
        may_begin: whether a message of the assistant may be the first of a list.
    """

    def first_not_user(seen: MessageList) -> Iterator[Finding]:
        """Yield a first message that is the assistant's."""
        first = None if seen.continues or not seen.messages else seen.messages[0]
        if role_of(first) == "assistant" and not may_begin(first):
            yield 0, ""

    return (
        Invariant("first_not_user", "The first message is the user's", first_not_user),
        Invariant("roles_alternate", "Roles alternate", _same_role_twice),
        Invariant("system_place", "A system message follows a user's", _system_out_of_place),
    )


def alternate_roles(
    blocks_of: Callable[[Json], list[Json]],
    text_message: Callable[[str, str], Json],
    may_begin: Callable[[Json], bool] = _never,
) -> RepairStep:
    """Return the repair that merges adjacent messages of one role, makes system messages follow the user's, and begins with the
    user.

    Args:
        blocks_of: the blocks of a message on this wire.
        text_message: a message of a role that consists of one text.
        may_begin: whether a message of the assistant may be the first of a list.
    """

    def mend(draft: RepairDraft) -> None:
        rows: list[tuple[int, Json]] = []
        merged: list[Json] = []  # the blocks of the last row, once something was merged into it
        for place, held in draft.rows:
            message, before = held, role_of(rows[-1][1]) if rows else ""
            # An instruction is words, whoever says them; where it is not allowed, it becomes the user's rather than getting lost.
            if message["role"] == "system" and before not in {"user", "system"}:
                draft.note(place, "made a user message of an instruction, which is not where one may be")
                message = {**message, "role": "user"}
            # Adjacent messages only: what one role said twice in a row is one message to the provider, in the same order.
            if message["role"] == before and before != "system":
                draft.note(place, f"merged with the {before} message before it")
                # One growing list: a long run of adjacent messages would otherwise be copied for each one merged.
                merged = merged or [*blocks_of(rows[-1][1])]
                merged += blocks_of(message)
                rows[-1] = rows[-1][0], {**rows[-1][1], "content": merged}
            else:
                rows.append((place, message))
                merged = []
        if rows and rows[0][1]["role"] == "assistant" and not draft.continues and not may_begin(rows[0][1]):
            draft.actions.append("began with a user message")
            rows.insert(0, (-1, text_message("user", placeholders.BEGINNING)))
        draft.rows = rows

    return mend
