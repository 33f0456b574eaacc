"""How is a list of Anthropic messages mended? Roles alternate, results come first after their calls, no block is empty.

Signed blocks are not inspected: they stay, or go with their whole message. A message whose blocks all stay is returned as the same
object, so nothing in it can have changed.

The steps are ordered so that each can rely on those before it: blocks become objects with a type; none is misplaced or blank; roles
alternate, so that the message after the calls is the one that answers them; only then are calls and results paired. A step that
removes something may make work for an earlier one, which is why `repair` repeats until nothing is done.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from penstock.text.json_access import blocks, objects, role_of, string, type_of
from penstock.wires import placeholders
from penstock.wires.alternation import alternate_roles
from penstock.wires.anthropic.codec import text_message
from penstock.wires.anthropic.rules import (
    FORM,
    ID_CHARS,
    ROLES,
    SERVER_CALLS,
    begins_compacted,
    block_fault,
    ends_thinking,
    is_blank,
    is_misplaced,
    is_server_result,
    is_unsigned,
    newest_loop,
    shown_text,
)
from penstock.wires.batches import mend_ids, pair_batches
from penstock.wires.draft import as_object, keep_blocks, mend_content, with_blocks
from penstock.wires.message_list import content_fault, is_bad_block

if TYPE_CHECKING:
    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft


def _mend_shapes(draft: RepairDraft) -> None:
    """Leave only messages of the wire's roles with content, whose blocks are objects with their required fields."""

    def result(place: int, block: Json) -> Json:
        content = block.get("content")
        if type_of(block) != "tool_result" or content is None or not content_fault(content):
            return block
        draft.note(place, "dropped parts of a result that are none")
        sound = [inner for inner in content if not is_bad_block(inner)] if isinstance(content, list) else ""
        return {**block, "content": sound}

    def change(place: int, message: Json) -> Json:
        if role_of(message) not in ROLES:
            draft.note(place, "dropped, no message of this wire")
            return None
        message = mend_content(draft, place, message)
        content = message["content"]
        if isinstance(content, list):
            content = [result(place, block) for block in content]
            sound = keep_blocks(
                draft, place, content, lambda block: not block_fault(block), "calls or results without an id or a name"
            )
            message = with_blocks(message, "content", sound)
        elif content is None:
            return None
        return message

    draft.change_each(change)


def _mend_blocks(draft: RepairDraft) -> None:
    """Leave no block misplaced, unsigned or blank, and no input that is not an object."""

    def block(place: int, role: str, held: Json) -> list[Json]:
        kind = type_of(held)
        # A result of the assistant or a call of the user: its words stay, its form goes.
        if is_misplaced(role, held):
            text = shown_text(held)
            draft.note(place, f"{'made text of' if text.strip() else 'dropped'} a {kind} of the {role}")
            return [{"type": "text", "text": placeholders.orphan(text)}] if text.strip() else []
        # Other servers write thinking without a signature. One cannot be made up, and the turn is valid without the block.
        if is_unsigned(held):
            draft.note(place, "dropped thinking without its signature")
            return []
        if is_blank(held):
            draft.note(place, "dropped an empty block of text")
            return []
        if kind == "tool_use" and not isinstance(held.get("input"), dict):
            draft.note(place, f"wrote the input of {held['id']!r} as an object")
            return [{**held, "input": as_object(held.get("input"))}]
        if kind == "tool_result" and any(map(is_blank, objects(held.get("content")))):
            draft.note(place, "dropped an empty block of text in a result")
            return [{**held, "content": [inner for inner in held["content"] if not is_blank(inner)] or ""}]
        return [held]

    def change(place: int, message: Json) -> Json:
        content = message["content"]
        if isinstance(content, list):
            made = [kept for held in content for kept in block(place, message["role"], held)]
            message = with_blocks(message, "content", made)
            content = made
        if not content or (isinstance(content, str) and not content.strip()):
            draft.note(place, "dropped, it says nothing")
            return None
        return message

    draft.change_each(change)


def _drop_unfinished_thinking(draft: RepairDraft) -> None:
    """Drop answers that end while the model thinks: cut off there, their signed blocks cannot be separated from the rest."""

    def change(place: int, message: Json) -> Json:
        if role_of(message) != "assistant" or not ends_thinking(message):
            return message
        draft.note(place, "dropped, it ends while the model thinks")
        return None

    draft.change_each(change)


def _pair_server_calls(draft: RepairDraft) -> None:
    """Leave one result of the provider's own tools after each of their calls; only calls of the newest loop may lack one.

    Neither half can be made up, since only the provider knows what its tools return: a half without the other goes.
    """
    # Which calls have results anywhere is determined before the pass: whether a call stays is decided when it is met, before its
    # result can have been seen.
    done = {
        string(block.get("tool_use_id"))
        for message in draft.messages
        for block in objects(message["content"])
        if is_server_result(block)
    }
    loop = newest_loop(draft.messages)
    asked: set[str] = set()
    answered: set[str] = set()

    def sound(block: Json, may_run: bool) -> bool:
        if type_of(block) in SERVER_CALLS:
            call = string(block.get("id"))
            if call in asked or (call and call not in done and not may_run):
                return False
            asked.add(call)
        elif is_server_result(block):
            call = string(block.get("tool_use_id"))
            if call not in asked or call in answered:
                return False
            answered.add(call)
        return True

    rows: list[tuple[int, Json]] = []
    for at, (place, message) in enumerate(draft.rows):
        held = message
        if message["role"] == "assistant" and isinstance(message["content"], list):
            keep = partial(sound, may_run=at >= loop)
            kept = keep_blocks(draft, place, message["content"], keep, "halves of server tool calls")
            held = with_blocks(message, "content", kept)
        if held["content"]:
            rows.append((place, held))
    draft.rows = rows


def _trim_end(draft: RepairDraft) -> None:
    """Strip white space from the end of a last message of the assistant."""
    if not draft.rows or draft.rows[-1][1]["role"] != "assistant":
        return
    place, message = draft.rows[-1]
    content = blocks(message["content"])
    text = string(content[-1].get("text")) if content and type_of(content[-1]) == "text" else ""
    if text != text.rstrip():
        # In its original form, a string or blocks.
        draft.note(place, "took white space off the end")
        ended = {**content[-1], "text": text.rstrip()}
        plain = isinstance(message["content"], str)
        draft.rows[-1] = place, {**message, "content": text.rstrip() if plain else [*content[:-1], ended]}


def _renamed(block: Json, call_id: str) -> Json:
    """Return a call or a result under another id."""
    return {**block, "id" if type_of(block) == "tool_use" else "tool_use_id": call_id}


REPAIRS = (
    _mend_shapes,
    _mend_blocks,
    alternate_roles(lambda message: blocks(message["content"]), text_message, begins_compacted),
    _drop_unfinished_thinking,
    mend_ids(FORM, ID_CHARS, _renamed),
    pair_batches(FORM),
    _pair_server_calls,
    _trim_end,
)
"""The steps that mend a list of Anthropic messages, in order."""
