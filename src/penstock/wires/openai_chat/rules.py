"""What does OpenAI's chat completions API demand of a message list?

Results come right after the message that called for them, with nothing in between; arguments are JSON; a message says something.
Source: OpenAI's API reference, and the sentences with which OpenAI, Azure, vLLM and Mistral refuse violations. If servers differ,
the strictest counts. Law: any JSON is answered. Leaves to others: mending (`repair`), and what depends on the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects, parsed, role_of, string, type_of
from penstock.wires.message_list import NOT_EMPTY, Invariant, Pairs, content_fault, pair_invariants, shape_check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.json_access import Json
    from penstock.wires.message_list import Finding, MessageList

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
"""The roles of this wire's messages; `function` is the form of results before 2023-11."""
# The fields that a call of each type has besides its id.
_CALL_FIELDS = {"function": ("name", "arguments"), "custom": ("name", "input")}


# Which kinds of parts a message may hold, by role. A call within content comes from another API. Results are left out: OpenAI
# accepts text there, other servers also pictures.
_SHOWN = {"image_url", "input_audio", "file", "video_url"}
_PARTS_OF = {
    "user": {"text", *_SHOWN},
    "assistant": {"text", "refusal"},
    "system": {"text"},
    "developer": {"text"},
}
_PARTS = {
    "text",
    "refusal",
    *_SHOWN,
    *_CALL_FIELDS,
    "tool_use",
    "tool_result",
    "function_call",
    "input_text",
    "output_text",
}


def message_fault(message: Json) -> str:
    """Return what is wrong with the shape of one message; empty if nothing is."""
    if not isinstance(message, dict):
        return f"a {type(message).__name__} is not a message"
    role = role_of(message)
    if role not in ROLES:
        return "the role is none of this wire's"
    if role == "tool" and not string(message.get("tool_call_id")):
        return "a tool message without tool_call_id"
    if role == "function" and not string(message.get("name")):
        return "a function message without name"
    if "tool_calls" in message and message["tool_calls"] is not None:
        calls = message["tool_calls"]
        if not isinstance(calls, list) or not calls or any(map(is_bad_call, calls)):
            return "tool_calls is not a list of calls with id, name and arguments"
        if role != "assistant":
            return f"calls of the {role}"
    # A message that calls usually says nothing, and a function may return nothing.
    content = message.get("content")
    if content is None and role in {"assistant", "function"}:
        return ""
    return content_fault(content)


def is_bad_call(call: Json) -> bool:
    """Whether a tool call lacks its type, id, name or arguments."""
    kind = type_of(call)
    if kind not in _CALL_FIELDS or not string(field(call, "id")):
        return True
    inner = field(call, kind)
    return not string(field(inner, "name")) or not isinstance(field(inner, _CALL_FIELDS[kind][1]), str)


def says_nothing(message: dict[str, Json]) -> bool:
    """Whether an assistant's message is empty: no words, no call, no refusal, no sound."""
    if any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio")):
        return False
    content = message.get("content")
    return not content or (isinstance(content, list) and all(map(_is_blank, content)))


def _is_blank(block: Json) -> bool:
    """Whether a block is an empty text."""
    return type_of(block) == "text" and not field(block, "text")


def _pairs(seen: MessageList) -> Pairs:
    """Return what does not pair: results follow their calls at once, in any order; ids are unique within one message only."""
    # Only the calls of the last message are open, and only while nothing but results has come: `asked` starts again with every
    # other message. So an id may come again later, as with local servers, and pairs with its own results each time.
    pairs, asked, answered = Pairs(), dict[str, int](), set[str]()
    function_name = ""
    for index, (message, role) in enumerate(zip(seen.messages, seen.roles, strict=True)):
        if role == "tool":
            if call := string(message.get("tool_call_id")):
                pairs.answer(index, call, asked, answered)
            continue
        # Anything that is not a result ends the time in which results of earlier calls may come.
        pairs.close(asked, answered)
        asked, answered = {}, set()
        # The old form pairs by name, and its result is the very next message.
        if role == "function" and function_name != string(message.get("name")):
            pairs.orphan_results.append((index, f"function {string(message.get('name'))}"))
        function_name = string(field(message, "function_call", "name")) if role == "assistant" else ""
        for call_made in objects(message.get("tool_calls")) if role == "assistant" else ():
            if string(call_made.get("id")):
                pairs.ask(index, call_made["id"], asked)
    pairs.close(asked, answered)
    return pairs


def is_misplaced(role: str, part: Json) -> bool:
    """Whether a content part is of a kind known here that a message of its role may not hold."""
    kind = type_of(part)
    return kind in _PARTS and role in _PARTS_OF and kind not in _PARTS_OF[role]


def _misplaced_parts(seen: MessageList) -> Iterator[Finding]:
    """Yield messages with a part that their role may not hold."""
    for index, message in seen.with_role(*_PARTS_OF):
        for part in objects(message.get("content")):
            if is_misplaced(message["role"], part):
                yield index, f"{type_of(part)} of the {message['role']}"
                break


def _bad_arguments(seen: MessageList) -> Iterator[Finding]:
    """Yield calls of functions whose arguments are not JSON; what a custom tool gets is free text."""
    for index, message in seen.with_role("assistant"):
        for call in objects(message.get("tool_calls")):
            arguments = field(call, "function", "arguments")
            if isinstance(arguments, str) and not parsed(arguments)[0]:
                yield index, string(call.get("id"))


def _empty_messages(seen: MessageList) -> Iterator[Finding]:
    """Yield messages that say nothing: the assistant's without anything, anybody's whose content is an empty list."""
    for index, message in seen.with_role(*ROLES):
        if says_nothing(message) if message["role"] == "assistant" else message.get("content") == []:
            yield index, ""


INVARIANTS = (
    NOT_EMPTY,
    Invariant("bad_shape", "A message has a role and content", shape_check(message_fault)),
    Invariant("wrong_role", "Pictures and sound are the user's, refusals the assistant's", _misplaced_parts),
    *pair_invariants(_pairs),
    Invariant("bad_arguments", "Arguments of a call are JSON", _bad_arguments),
    Invariant("empty_content", "A message without calls says something", _empty_messages),
)
"""The rules for a list of chat messages, in the order in which findings of one message are reported."""
