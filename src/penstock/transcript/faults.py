"""What is wrong with the shape of one message? A phrase for each wire's objects; empty when nothing is.

Law: any JSON is answered. Keeps out: what a message must have beside it (`pairing`, `invariants`).
"""

from __future__ import annotations

from penstock.transcript import anthropic, openai_responses
from penstock.transcript.openai_responses import CALLS, OUTPUTS, call_id, kind_of
from penstock.transcript.pairing import SERVER_CALLS, is_server_result
from penstock.transcript.shapes import Json, field, objects, role_of, string, type_of

CHAT_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CALL_TEXTS = {"function": ("name", "arguments"), "custom": ("name", "input")}


def chat_fault(message: Json) -> str:
    """What is wrong with the shape of a chat message; empty when nothing is."""
    if not isinstance(message, dict):
        return f"a {type(message).__name__} is no message"
    role = role_of(message)
    if role not in CHAT_ROLES:
        return "the role is none of this wire's"
    if role == "tool" and not string(message.get("tool_call_id")):
        return "a tool message without tool_call_id"
    if role == "function" and not string(message.get("name")):
        return "a function message without name"
    if "tool_calls" in message and message["tool_calls"] is not None:
        calls = message["tool_calls"]
        if not isinstance(calls, list) or not calls or any(call_fault(call) for call in calls):
            return "tool_calls is no list of calls with id, name and arguments"
    content = message.get("content")
    if content is None and role in {"assistant", "function"}:
        return ""
    return content_fault(content)


def call_fault(call: Json) -> bool:
    """Whether a chat tool call lacks something."""
    kind = type_of(call)
    if kind not in _CALL_TEXTS or not string(field(call, "id")):
        return True
    inner = field(call, kind)
    return not string(field(inner, "name")) or not isinstance(field(inner, _CALL_TEXTS[kind][1]), str)


def content_fault(content: Json) -> str:
    """What is wrong with content that has to be a string or blocks."""
    if isinstance(content, str):
        return ""
    if not isinstance(content, list):
        return "content is neither text nor a list of parts"
    return "a part of content is not an object with a type" if any(block_fault(block) for block in content) else ""


def block_fault(block: Json) -> bool:
    """Whether a block cannot be one: no object, no type, or text that is none."""
    kind = type_of(block)
    if not isinstance(kind, str) or not kind:
        return True
    return kind in {"text", "input_text", "output_text"} and not isinstance(block.get("text"), str)


def item_fault(item: Json) -> str:
    """What is wrong with the shape of an item of the responses API."""
    if not isinstance(item, dict):
        return f"a {type(item).__name__} is no item"
    kind = kind_of(item)
    if not kind:
        return "neither a type nor a role"
    if kind == "message":
        if role_of(item) not in openai_responses.ROLES:
            return "the role is none of this wire's"
        return content_fault(item.get("content"))
    if kind in CALLS or kind in OUTPUTS:
        if not call_id(item):
            return f"a {kind} without the id of its call"
        if kind in {"function_call", "custom_tool_call"} and not (
            string(item.get("name")) and isinstance(item.get(CALLS[kind].payload), str)
        ):
            return f"a {kind} without name or {CALLS[kind].payload}"
        if kind in {"function_call_output", "custom_tool_call_output"}:
            return content_fault(item.get("output"))
    return ""


def anthropic_fault(message: Json) -> str:
    """What is wrong with the shape of an Anthropic message."""
    if not isinstance(message, dict):
        return f"a {type(message).__name__} is no message"
    if role_of(message) not in {"user", "assistant", "system"}:
        return "the role is none of this wire's"
    if fault := content_fault(message.get("content")):
        return fault
    return next((fault for block in objects(message.get("content")) if (fault := anthropic_block_fault(block))), "")


def anthropic_block_fault(block: dict[str, Json]) -> str:
    """What a block lacks."""
    kind = type_of(block)
    if kind == "tool_use" and not (string(block.get("id")) and string(block.get("name"))):
        return "a tool_use without id or name"
    if kind == "tool_result":
        if not string(block.get("tool_use_id")):
            return "a tool_result without tool_use_id"
        if block.get("content") is not None:
            return content_fault(block["content"])
    return ""


_PLACES = {"assistant": {"tool_result"}, "user": {"tool_use", "thinking", "redacted_thinking"} | SERVER_CALLS}


def is_misplaced(role: Json, block: dict[str, Json]) -> bool:
    """Whether a block stands in a message of the wrong role."""
    return type_of(block) in _PLACES.get(role, ()) or (role == "user" and is_server_result(block))


def is_unsigned(block: dict[str, Json]) -> bool:
    """Whether a block of thinking lacks its proof."""
    return type_of(block) in {"thinking", "redacted_thinking"} and not anthropic.is_signed(block)
