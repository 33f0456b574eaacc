"""How is a list of Converse messages mended? Roles alternate, results come first after their calls, no block is empty.

Signed reasoning is not inspected: it stays, or goes with its whole message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, field, role_of, string
from penstock.wires import placeholders
from penstock.wires.alternation import alternate_roles
from penstock.wires.batches import mend_ids, pair_batches
from penstock.wires.bedrock.codec import blocks_of, calls_in, is_signed, text_message
from penstock.wires.bedrock.rules import (
    FORM,
    ID_CHARS,
    ROLES,
    block_fault,
    ends_thinking,
    has_lone_document,
    is_blank,
    is_misplaced,
    is_sound_part,
    message_fault,
    result_text,
)
from penstock.wires.draft import as_object, keep_blocks, with_blocks

if TYPE_CHECKING:
    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft


def _mend_shapes(draft: RepairDraft) -> None:
    def change(place: int, message: Json) -> Json:
        fault = message_fault(message)
        if role_of(message) not in ROLES:
            draft.note(place, f"dropped, {fault}")
            return None
        if not fault:
            return message
        content = message.get("content")
        if isinstance(content, str):
            draft.note(place, "made a block of a text")
            return {**message, "content": [{"text": content}]}
        if not isinstance(content, list):
            draft.note(place, "dropped content that is none")
            return {**message, "content": []}
        mended = [_mended_block(draft, place, block) for block in content]
        return {
            **message,
            "content": keep_blocks(draft, place, mended, lambda b: not block_fault(b), "blocks that are none"),
        }

    draft.change_each(change)


def _mended_block(draft: RepairDraft, place: int, block: Json) -> Json:
    """Return a block whose result holds a list of blocks."""
    result = field(block, "toolResult")
    # A block with a type belongs to another API, and its result has another form: nothing in it can be trusted to mean
    # the same.
    if not isinstance(result, dict) or not string(result.get("toolUseId")) or not block_fault(block) or "type" in block:
        return block
    draft.note(place, "wrote a result as blocks")
    content = result.get("content")
    if isinstance(content, list):
        return {**block, "toolResult": {**result, "content": [part for part in content if is_sound_part(part)]}}
    text = content if isinstance(content, str) else "" if content is None else as_json(content)
    return {**block, "toolResult": {**result, "content": [{"text": text}]}}


def _mend_blocks(draft: RepairDraft) -> None:
    """Leave no block misplaced or blank, no input that is not an object, and no message without blocks."""

    def mended(place: int, role: str, block: Json) -> list[Json]:
        if is_misplaced(role, block):
            text = result_text(block) if "toolResult" in block else ""
            kind = next(iter(block))
            draft.note(place, f"{'made text of' if text.strip() else 'dropped'} a {kind} of the {role}")
            return [{"text": placeholders.orphan(text)}] if text.strip() else []
        if is_blank(block):
            draft.note(place, "dropped an empty block of text")
            return []
        call = block.get("toolUse")
        if role == "assistant" and isinstance(call, dict) and not isinstance(call.get("input"), dict):
            draft.note(place, f"wrote the input of {call['toolUseId']!r} as an object")
            return [{**block, "toolUse": {**call, "input": as_object(call.get("input"))}}]
        return [block]

    def change(place: int, message: Json) -> Json:
        made = [kept for block in blocks_of(message) for kept in mended(place, message["role"], block)]
        if not made:
            draft.note(place, "dropped, it says nothing")
            return None
        # Reasoning without a signature proves nothing and can go by itself.
        while message["role"] == "assistant" and made and ends_thinking({"content": made}) and not is_signed(made[-1]):
            draft.note(place, "dropped reasoning without its signature at the end")
            made.pop()
        if not made:
            draft.note(place, "dropped, it says nothing")
            return None
        # Signed reasoning cannot be changed, and nothing that the model said could be put after it: the message goes.
        if ends_thinking({"content": made}) and message["role"] == "assistant":
            draft.note(place, "dropped, it ends while the model thinks")
            return None
        return with_blocks(message, "content", made)

    draft.change_each(change)


def _add_words(draft: RepairDraft) -> None:
    """Add words to documents that have none."""

    def change(place: int, message: Json) -> Json:
        if not has_lone_document(message):
            return message
        draft.note(place, "put words next to a document")
        return {**message, "content": [*blocks_of(message), {"text": placeholders.DOCUMENT}]}

    draft.change_each(change)


def _trim_end(draft: RepairDraft) -> None:
    """Strip white space from the end of a last message of the assistant."""
    if not draft.rows or draft.rows[-1][1]["role"] != "assistant" or calls_in(draft.rows[-1][1]):
        return
    place, message = draft.rows[-1]
    blocks = blocks_of(message)
    text = string(field(blocks[-1], "text"))
    if text != text.rstrip():
        draft.note(place, "took white space off the end")
        draft.rows[-1] = place, {**message, "content": [*blocks[:-1], {**blocks[-1], "text": text.rstrip()}]}


def _renamed(block: Json, call_id: str) -> Json:
    """Return a call or a result under another id."""
    kind = "toolUse" if "toolUse" in block else "toolResult"
    return {**block, kind: {**block[kind], "toolUseId": call_id}}


# Roles before pairs: merging brings the results of a batch that were stored one by one into the one message that is
# examined. Words and white space last: every other step affects how a message ends.
REPAIRS = (
    _mend_shapes,
    _mend_blocks,
    alternate_roles(blocks_of, text_message),
    mend_ids(FORM, ID_CHARS, _renamed),
    pair_batches(FORM),
    _add_words,
    _trim_end,
)
