"""What is a message list under repair? And what do several wires mend alike?

A changed message is replaced by a changed copy and never modified in place: the results of several calls may be one object, and the
list belongs to the caller. Law: nothing is changed without a sentence about it, so a round without a sentence is the last one
(`repair`). Leaves to others: what any wire demands (its `repair` module).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from penstock.text.json_access import blocks, parsed, string, type_of
from penstock.wires import placeholders
from penstock.wires.message_list import content_fault, is_bad_block

if TYPE_CHECKING:
    from penstock.text.json_access import Json


class RepairDraft:
    """The messages with their original places (-1 for added ones), and a sentence for everything that was done.

    Args:
        messages: the list; the draft owns it.
        continues: whether the provider holds a conversation before it.
    """

    def __init__(self, messages: list[Json], *, continues: bool) -> None:
        self.rows: list[tuple[int, Json]] = list(enumerate(messages))
        """The current messages, each with its place in the original list; -1 for an added one."""
        self.actions: list[str] = []
        """What was done, one sentence each, in order."""
        self.continues = continues

    @property
    def messages(self) -> list[Json]:
        """The current messages."""
        return [raw for _, raw in self.rows]

    def note(self, place: int, what: str) -> None:
        """Record what was done to the message originally at `place`."""
        self.actions.append(f"message {place}: {what}" if place >= 0 else f"an added message: {what}")

    def change_each(self, change: Callable[[int, Json], Json]) -> None:
        """Replace every message by what `change(place, message)` returns, or drop it for None; `change` notes what it did."""
        rows = [(place, change(place, raw)) for place, raw in self.rows]
        self.rows = [(place, raw) for place, raw in rows if raw is not None]


RepairStep: TypeAlias = Callable[[RepairDraft], None]
"""One repair that a wire makes over the whole list."""


def keep_blocks(
    draft: RepairDraft, place: int, content: list[Json], is_kept: Callable[[Json], bool], what: str
) -> list[Json]:
    """Return the blocks that are kept, noting how many others were dropped.

    Args:
        draft: the repair that this is part of.
        place: the message's place in the original list.
        content: the blocks of the message.
        is_kept: whether a block stays.
        what: what the others are, for the sentence: "dropped WHAT (2)".
    """
    kept = [block for block in content if is_kept(block)]
    if len(kept) < len(content):
        draft.note(place, f"dropped {what} ({len(content) - len(kept)})")
    return kept


def with_blocks(message: Json, key: str, kept: list[Json]) -> Json:
    """Return the message with these blocks under `key`; the same object if they are the blocks that it has.

    Blocks are compared by identity, so that nothing in a message left alone can have changed.
    """
    held = message.get(key)
    if isinstance(held, str):
        return message if kept == blocks(held) else {**message, key: kept}
    is_same = len(held) == len(kept) and all(one is other for one, other in zip(held, kept, strict=True))
    return message if is_same else {**message, key: kept}


def mend_content(draft: RepairDraft, place: int, message: Json) -> Json:
    """Return the message without parts that are not blocks; content that is neither text nor a list becomes None."""
    content = message.get("content")
    if not content_fault(content):
        return message
    if isinstance(content, list):
        sound = keep_blocks(draft, place, content, lambda block: not is_bad_block(block), "parts that are none")
        return {**message, "content": sound}
    draft.note(place, "dropped content that is none")
    return {**message, "content": None}


def with_own_parts(
    draft: RepairDraft,
    place: int,
    message: Json,
    role: str,
    key: str,
    is_misplaced: Callable[[str, Json], bool],
    kind: str,
) -> Json:
    """Return the message without parts that its role may not hold; their words stay, as parts of the role's own kind.

    Args:
        draft: the repair that this is part of.
        place: the message's place in the original list.
        message: what holds the parts; the same object is returned if all of them are allowed.
        role: whose parts it holds.
        key: the key of the parts.
        is_misplaced: whether a role may not hold a part.
        kind: the type of a part with words of that role.
    """
    content = message.get(key)
    if not isinstance(content, list) or not any(is_misplaced(role, part) for part in content):
        return message
    kept: list[Json] = []
    for part in content:
        if not is_misplaced(role, part):
            kept.append(part)
            continue
        words = string(part.get("text") or part.get("refusal"))
        draft.note(place, f"{'made text of' if words else 'dropped'} a {type_of(part)} of the {role}")
        kept += [{"type": kind, "text": words}] if words else []
    return {**message, key: kept}


def orphan_text(draft: RepairDraft, place: int, text: str) -> str | None:
    """Return the result of a missing call as words; None if it says nothing."""
    if not text.strip():
        draft.note(place, "dropped an empty result without its call")
        return None
    draft.note(place, "made text of a result without its call")
    return placeholders.orphan(text)


def orphan_message(draft: RepairDraft, place: int, text: str) -> Json:
    """Return the result of a missing call as a user message, for wires whose messages have `role` and `content`."""
    words = orphan_text(draft, place, text)
    return None if words is None else {"role": "user", "content": words}


def as_object(arguments: Json) -> Json:
    """Return arguments as an object: those stored as JSON text are parsed, others kept under a name."""
    is_json, read = parsed(arguments) if isinstance(arguments, str) else (False, None)
    if is_json and isinstance(read, dict):
        return read
    return {} if arguments is None else {"input": arguments}


def as_json_arguments(text: str) -> str:
    """Return invalid JSON arguments as JSON that contains them, so that what the model wrote is not lost."""
    return json.dumps({"unparsed": text}) if text.strip() else "{}"
