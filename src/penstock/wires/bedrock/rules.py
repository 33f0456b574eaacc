"""What does Bedrock's Converse API demand of a message list?

Roles alternate and the user begins; the user's message after calls begins with a result for each and holds no other; nothing is
blank; a document is accompanied by words. Source: the API reference and its refusals: "A conversation must alternate between user
and assistant roles", "The text field in the ContentBlock object at … is blank" (in a result it may be), "Expected toolResult blocks
at … for the following Ids". What only some models refuse is listed if all accept the mended list. Law: any JSON is answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, field, role_of, string
from penstock.wires.alternation import alternation
from penstock.wires.batches import BatchForm, bad_ids, batch_pairs
from penstock.wires.bedrock.codec import blocks_of, calls_in, closing, read, results_in
from penstock.wires.entries import ToolResult
from penstock.wires.message_list import NOT_EMPTY, Invariant, pair_invariants, shape_check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json
    from penstock.wires.message_list import Finding, MessageList

ROLES = frozenset({"user", "assistant", "system"})
_MISPLACED = {
    "assistant": {"toolResult"},
    "user": {"toolUse", "reasoningContent"},
    "system": {"toolUse", "toolResult", "reasoningContent"},
}


def result_text(block: Json) -> str:
    """Return the words of a result's block."""
    parts = read({"role": "user", "content": [block]})[1]
    return "\n".join(part.text for part in parts if isinstance(part, ToolResult))


ID_CHARS = r"[a-zA-Z0-9_-]{1,64}"
"""The form of a toolUseId, according to the API reference of ToolUseBlock."""
FORM = BatchForm(
    content_key="content",
    assistant="assistant",
    calls=calls_in,
    results=results_in,
    closing=closing,
    text=lambda text: {"text": text},
    result_text=result_text,
    ids_are_unique=True,
)


def message_fault(message: Json) -> str:
    """Return what is wrong with the shape of one message; empty if nothing is."""
    if not isinstance(message, dict):
        return f"a {type(message).__name__} is not a message"
    if role_of(message) not in ROLES:
        return "the role is none of this wire's"
    if not isinstance(message.get("content"), list):
        return "content is not a list of blocks"
    return next((fault for block in message["content"] if (fault := block_fault(block))), "")


def block_fault(block: Json) -> str:
    """Return what a block lacks; empty if nothing."""
    if not isinstance(block, dict) or not block:
        return "a block is not an object that contains something"
    if "type" in block:
        return "a block with a type, as another API has them"
    # A union, according to the API reference: SDKs refuse a block with two members before it is sent.
    if len(block) != 1 or "role" in block or "content" in block:
        return "a block that does not hold one thing"
    if "text" in block and not isinstance(block["text"], str):
        return "a block whose text is none"
    if "toolUse" in block and not (
        string(field(block, "toolUse", "toolUseId")) and string(field(block, "toolUse", "name"))
    ):
        return "a toolUse without toolUseId or name"
    if "toolResult" in block:
        content = field(block, "toolResult", "content")
        if not string(field(block, "toolResult", "toolUseId")):
            return "a toolResult without toolUseId"
        if not isinstance(content, list) or not all(map(is_sound_part, content)):
            return "a toolResult whose content is not a list of blocks"
    return ""


def is_sound_part(part: Json) -> bool:
    """Whether a part of a result holds one thing."""
    return isinstance(part, dict) and len(part) == 1


def is_own_result(block: Json) -> bool:
    """Whether a block is a result of the caller's own tool, not of one that the provider runs."""
    return field(block, "toolResult", "toolUseId") is not None and not field(block, "toolResult", "type")


def is_misplaced(role: str, block: dict[str, Json]) -> bool:
    """Whether a block is in a message of the wrong role."""
    # Tools that the provider runs answer within the assistant's message: that is where their results belong.
    return not _MISPLACED[role].isdisjoint(block) and (role != "assistant" or is_own_result(block))


def is_blank(block: Json) -> bool:
    """Whether a text block holds nothing to read."""
    text = field(block, "text")
    return isinstance(text, str) and not text.strip()


def ends_thinking(message: Json) -> bool:
    """Whether the last block of a message is reasoning, which Claude accepts only before something else."""
    last = blocks_of(message)[-1:]
    return bool(last) and "reasoningContent" in last[0]


def has_lone_document(message: Json) -> bool:
    """Whether a user's message holds a document and no words."""
    blocks = blocks_of(message)
    return role_of(message) == "user" and any("document" in b for b in blocks) and not any("text" in b for b in blocks)


_pairs = batch_pairs(FORM)


def _misplaced_blocks(seen: MessageList) -> Iterator[Finding]:
    for index, message in seen.with_role(*ROLES):
        for block in blocks_of(message):
            if is_misplaced(message["role"], block):
                yield index, f"{next(iter(block))} of the {message['role']}"
                break


def _results_behind_words(seen: MessageList) -> Iterator[Finding]:
    for index, message in seen.with_role("user"):
        results = {number for number, _ in results_in(message)}
        # Results come first exactly if their positions are 0 to n - 1.
        if results and max(results) >= len(results):
            yield index, ""


def _bad_input(seen: MessageList) -> Iterator[Finding]:
    for index, message in seen.with_role("assistant"):
        blocks = blocks_of(message)
        for number, call in calls_in(message):
            if not isinstance(field(blocks[number], "toolUse", "input"), dict):
                yield index, call


def _empty_messages(seen: MessageList) -> Iterator[Finding]:
    for index, message in seen.with_role(*ROLES):
        if message.get("content") == []:
            yield index, ""


def _blank_blocks(seen: MessageList) -> Iterator[Finding]:
    for index, message in seen.with_role(*ROLES):
        if any(map(is_blank, blocks_of(message))):
            yield index, ""


def _trailing_white_space(seen: MessageList) -> Iterator[Finding]:
    if seen.messages and role_of(seen.messages[-1]) == "assistant":
        text = "".join(string(block.get("text")) for block in blocks_of(seen.messages[-1])[-1:])
        # A blank text is a finding of `_blank_blocks`, and is dropped rather than trimmed.
        if text.strip() and text != text.rstrip():
            yield len(seen.messages) - 1, ""


def _thinking_last(seen: MessageList) -> Iterator[Finding]:
    for index, message in seen.with_role("assistant"):
        if ends_thinking(message):
            yield index, ""


def _lone_documents(seen: MessageList) -> Iterator[Finding]:
    for index, message in seen.with_role("user"):
        if has_lone_document(message):
            yield (
                index,
                as_json([field(block, "document", "name") for block in blocks_of(message) if "document" in block]),
            )


INVARIANTS = (
    NOT_EMPTY,
    Invariant("bad_shape", "A message has a role and blocks that hold something", shape_check(message_fault)),
    *alternation(),
    Invariant("wrong_role", "Calls and reasoning are the assistant's, results the user's", _misplaced_blocks),
    *pair_invariants(_pairs),
    Invariant("bad_id", "Ids of calls are up to 64 letters, digits, _ and -", bad_ids(_pairs, ID_CHARS)),
    Invariant("results_first", "Results come first in their message", _results_behind_words),
    Invariant("bad_arguments", "The input of a call is an object", _bad_input),
    Invariant("empty_content", "A message says something", _empty_messages),
    Invariant("empty_text", "A block of text says something", _blank_blocks),
    Invariant(
        "trailing_whitespace", "The last message, if the assistant's, ends without white space", _trailing_white_space
    ),
    Invariant("thinking_last", "The last block of a message is not reasoning", _thinking_last),
    Invariant("document_alone", "A message with a document also has text", _lone_documents),
)
