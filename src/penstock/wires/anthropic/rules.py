"""What does Anthropic's messages API demand of a message list?

Roles alternate, results come first in the user's message after their calls, ids are never reused, no text is blank, thinking has
its signature. Source: the API reference of `/v1/messages`, and the API's own sentences ("`tool_use` ids were found without
`tool_result` blocks immediately after", "all messages must have non-empty content"). Law: any JSON is answered. Leaves to others:
mending (`repair`), whether a signature is genuine, and what depends on the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import blocks, field, objects, role_of, string, type_of
from penstock.wires.alternation import alternation
from penstock.wires.anthropic.codec import closing, is_signed, read
from penstock.wires.batches import BatchForm, BlockPlace, bad_ids, batch_pairs
from penstock.wires.entries import Text, ToolResult
from penstock.wires.message_list import NOT_EMPTY, Invariant, Pairs, content_fault, pair_invariants, shape_check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json
    from penstock.wires.message_list import Finding, MessageList

ROLES = frozenset({"user", "assistant", "system"})
SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
"""Calls of tools that the provider itself runs."""
_THINKING = frozenset({"thinking", "redacted_thinking"})
# Blocks that a message of that role may not hold.
_ASSISTANTS = {"tool_use"} | _THINKING | SERVER_CALLS
_MISPLACED = {"assistant": {"tool_result"}, "user": _ASSISTANTS, "system": _ASSISTANTS | {"tool_result"}}


# ── single messages and blocks ───────────────────────────────────────────────────────────────────────────────────


def message_fault(message: Json) -> str:
    """Return what is wrong with the shape of one message; empty if nothing is."""
    if not isinstance(message, dict):
        return f"a {type(message).__name__} is not a message"
    if role_of(message) not in ROLES:
        return "the role is none of this wire's"
    if fault := content_fault(message.get("content")):
        return fault
    return next((fault for block in objects(message.get("content")) if (fault := block_fault(block))), "")


def block_fault(block: dict[str, Json]) -> str:
    """Return what a block lacks; empty if nothing."""
    kind = type_of(block)
    if kind == "tool_use" and not (string(block.get("id")) and string(block.get("name"))):
        return "a tool_use without id or name"
    if kind == "tool_result":
        if not string(block.get("tool_use_id")):
            return "a tool_result without tool_use_id"
        if block.get("content") is not None:
            return content_fault(block["content"])
    return ""


def is_server_result(block: dict[str, Json]) -> bool:
    """Whether a block is what one of the provider's own tools returned."""
    return type_of(block).endswith("_tool_result")


def is_misplaced(role: Json, block: dict[str, Json]) -> bool:
    """Whether a block is in a message of the wrong role."""
    return type_of(block) in _MISPLACED.get(role, ()) or (role != "assistant" and is_server_result(block))


def is_unsigned(block: dict[str, Json]) -> bool:
    """Whether a block of thinking lacks its signature."""
    return type_of(block) in _THINKING and not is_signed(block)


def is_blank(block: Json) -> bool:
    """Whether a text block holds nothing to read."""
    return type_of(block) == "text" and not string(field(block, "text")).strip()


def ends_thinking(message: dict[str, Json]) -> bool:
    """Whether the last block of a message is thinking."""
    last = objects(message.get("content"))[-1:]
    return bool(last) and type_of(last[0]) in _THINKING


def begins_compacted(message: Json) -> bool:
    """Whether a message begins with the provider's summary of what came before: nothing may precede that."""
    first = objects(field(message, "content"))[:1]
    return bool(first) and type_of(first[0]) == "compaction"


def newest_loop(messages: list[Json]) -> int:
    """Return where the newest tool loop begins: after the last user message that holds more than results."""
    spoken = -1
    for index, message in enumerate(messages):
        others = [block for block in blocks(field(message, "content")) if type_of(block) != "tool_result"]
        if role_of(message) == "user" and others:
            spoken = index
    return spoken + 1


def calls_in(message: Json) -> list[BlockPlace]:
    """Return the calls of the assistant's message."""
    rows = enumerate(objects(field(message, "content")))
    return [
        BlockPlace(at, block["id"]) for at, block in rows if type_of(block) == "tool_use" and string(block.get("id"))
    ]


def results_in(message: Json, _caller: Json = None) -> list[BlockPlace]:
    """Return the results in a message of the user; each names the call that it answers."""
    rows = enumerate(objects(field(message, "content")) if role_of(message) == "user" else ())
    return [
        BlockPlace(at, block["tool_use_id"])
        for at, block in rows
        if type_of(block) == "tool_result" and string(block.get("tool_use_id"))
    ]


def shown_text(block: Json) -> str:
    """Return the words of a result, or of any other block that has words."""
    shown = read({"role": "user", "content": [block]})[1]
    return "\n".join(part.text for part in shown if isinstance(part, ToolResult | Text))


ID_CHARS = r"[a-zA-Z0-9_-]+"
"""The characters of a call's id, as in the API's refusal: "String should match pattern '^[a-zA-Z0-9_-]+$'"."""
FORM = BatchForm(
    content_key="content",
    assistant="assistant",
    calls=calls_in,
    results=results_in,
    closing=lambda _, call_id: closing(call_id),
    text=lambda text: {"type": "text", "text": text},
    result_text=shown_text,
    ids_are_unique=True,
    joins_turns=True,
)


# ── the whole list ───────────────────────────────────────────────────────────────────────────────────────────────


_pairs = batch_pairs(FORM)


def _all_blocks(seen: MessageList) -> list[tuple[int, str, str, dict[str, Json]]]:
    """Return every block with the position and the role of its message and its type; a text as content is none."""
    return [
        (index, seen.roles[index], type_of(block), block)
        for index, message in seen.with_role(*ROLES)
        for block in objects(message.get("content"))
    ]


def _server_pairs(seen: MessageList) -> Pairs:
    """Return what does not pair of the provider's own tools, whose results are the assistant's too, somewhere after the call.

    A call of the newest tool loop may lack its result: the provider paused the turn and runs the call when the list comes back.
    """
    pairs, asked, answered = Pairs(), dict[str, int](), set[str]()
    for index, role, kind, block in seen.once(_all_blocks):
        # A call stays open to the end of the list: a paused turn continues in a later message of the assistant.
        if role == "assistant" and kind in SERVER_CALLS and string(block.get("id")):
            pairs.ask(index, block["id"], asked)
        elif role == "assistant" and is_server_result(block):
            pairs.answer(index, string(block.get("tool_use_id")), asked, answered)
    if asked:
        loop = newest_loop(seen.messages)
        pairs.close({call: place for call, place in asked.items() if place < loop}, answered)
    return pairs


def _bad_input(seen: MessageList) -> Iterator[Finding]:
    """Yield calls whose input is not an object."""
    for index, role, kind, block in seen.once(_all_blocks):
        if role == "assistant" and kind == "tool_use" and not isinstance(block.get("input"), dict):
            yield index, string(block.get("id"))


def _misplaced_blocks(seen: MessageList) -> Iterator[Finding]:
    """Yield every block in a message of the wrong role."""
    for index, role, kind, block in seen.once(_all_blocks):
        if is_misplaced(role, block):
            yield index, f"{kind} of the {role}"


def _results_behind_words(seen: MessageList) -> Iterator[Finding]:
    """Yield user messages with a result after something else; several messages in a row are treated as one."""
    has_words = False
    for index, (message, role) in enumerate(zip(seen.messages, seen.roles, strict=True)):
        if role != "user":
            has_words = False if role == "assistant" else has_words
            continue
        for block in blocks(message.get("content")):
            if type_of(block) != "tool_result":
                has_words = True
            elif has_words:
                yield index, string(block.get("tool_use_id"))
                break


def _blank_blocks(seen: MessageList) -> list[Finding]:
    """Return messages with a blank text block, including those in results: the API refuses both."""
    found = [
        (index, "")
        for index, _, kind, block in seen.once(_all_blocks)
        if is_blank(block) or (kind == "tool_result" and any(map(is_blank, objects(block.get("content")))))
    ]
    return list(dict.fromkeys(found))


def _empty_messages(seen: MessageList) -> Iterator[Finding]:
    """Yield messages without a block, or with a blank string."""
    for index, message in seen.with_role(*ROLES):
        content = message.get("content")
        if content == [] or (isinstance(content, str) and not content.strip()):
            yield index, ""


def _trailing_white_space(seen: MessageList) -> Iterator[Finding]:
    """Yield a last message of the assistant (a prefill, which the model continues) whose text ends in white space."""
    if seen.messages and role_of(seen.messages[-1]) == "assistant":
        last = blocks(seen.messages[-1].get("content"))[-1:]
        text = string(last[0].get("text")) if last and type_of(last[0]) == "text" else ""
        if text.strip() and text != text.rstrip():
            yield len(seen.messages) - 1, ""


def _unsigned_thinking(seen: MessageList) -> list[Finding]:
    """Return messages with thinking that lacks its signature."""
    rows = seen.once(_all_blocks)
    found = [(index, "") for index, role, _, block in rows if role == "assistant" and is_unsigned(block)]
    return list(dict.fromkeys(found))


def _thinking_last(seen: MessageList) -> Iterator[Finding]:
    """Yield messages whose last block is thinking: they were cut off before the answer."""
    for index, message in seen.with_role("assistant"):
        if ends_thinking(message):
            yield index, ""


# Findings of one message come in this order: its shape, its place, its pairs, its blocks.
INVARIANTS = (
    NOT_EMPTY,
    Invariant("bad_shape", "A message has a role and content", shape_check(message_fault)),
    *alternation(begins_compacted),
    Invariant("wrong_role", "Calls and thinking are the assistant's, results the user's", _misplaced_blocks),
    *pair_invariants(_pairs),
    *pair_invariants(_server_pairs),
    Invariant("bad_id", "Ids of calls are letters, digits, _ and -", bad_ids(_pairs, ID_CHARS)),
    Invariant("results_first", "Results come first in their message", _results_behind_words),
    Invariant("bad_arguments", "The input of a call is an object", _bad_input),
    Invariant("empty_content", "A message says something", _empty_messages),
    Invariant("empty_text", "A block of text says something", _blank_blocks),
    Invariant(
        "trailing_whitespace", "The last message, if the assistant's, ends without white space", _trailing_white_space
    ),
    Invariant("thinking_unsigned", "Thinking has its signature", _unsigned_thinking),
    Invariant("thinking_last", "The last block of a message is not thinking", _thinking_last),
)
"""The rules for a list of Anthropic messages, in the order in which findings of one message are reported."""
