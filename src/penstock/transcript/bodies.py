"""Where in a request's body are its messages? `messages` or `input`, and the instructions beside them.

Law: a body with its own messages put back is the same body, keys in their order. Keeps out: everything else in a body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.transcript.history import Transcript, codec, dump, load
from penstock.transcript.invariants import violations
from penstock.transcript.mending import repair
from penstock.transcript.shapes import objects, role_of, type_of

if TYPE_CHECKING:
    from penstock.transcript.shapes import Json

_MESSAGES = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages"}
_ANTHROPIC = {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document", "server_tool_use"}
_CHAT = {"system", "developer", "tool", "function"}
_PARTS = {"image_url", "input_audio", "file"}
_SYSTEM = {"openai-responses": "instructions", "anthropic": "system"}


def wire_of(request: Json) -> str:
    """The wire that a body is written for, as far as it shows; `CallerError` where it could be for several."""
    body = request if isinstance(request, dict) else {"messages": request}
    if "input" in body or "instructions" in body or isinstance(request, str):
        return "openai-responses"
    messages = objects(body.get("messages"))
    blocks = [block for message in messages for block in objects(message.get("content"))]
    if "system" in body or "anthropic_version" in body or any(type_of(block) in _ANTHROPIC for block in blocks):
        return "anthropic"
    if any(role_of(m) in _CHAT or "tool_calls" in m for m in messages) or any(type_of(b) in _PARTS for b in blocks):
        return "openai-chat"
    tools = objects(body.get("tools"))
    if tools:
        return "anthropic" if any("input_schema" in tool for tool in tools) else "openai-chat"
    raise CallerError(f"nothing here says for which wire it is: name one of {', '.join(_MESSAGES)}")


def messages_of(request: Json, wire: str) -> Json:
    """The message list of a body, as it is; a bare list (for responses, a bare string) is one."""
    codec(wire)
    if isinstance(request, list) or (wire == "openai-responses" and isinstance(request, str)):
        return request
    if not isinstance(request, dict) or _MESSAGES[wire] not in request:
        raise CallerError(f"a request for {wire} is an object with {_MESSAGES[wire]!r}, or that list alone")
    return request[_MESSAGES[wire]]


def with_messages(request: Json, wire: str, messages: Json) -> Json:
    """The same body with other messages; of a bare list, that list."""
    messages_of(request, wire)
    return {**request, _MESSAGES[wire]: messages} if isinstance(request, dict) else messages


def continues(request: Json, wire: str) -> bool:
    """Whether the body goes on with a conversation that the provider keeps, so that calls may not be in it."""
    if wire != "openai-responses" or not isinstance(request, dict):
        return False
    return bool(request.get("previous_response_id") or request.get("conversation"))


def load_request(request: Json, wire: str) -> Transcript:
    """The transcript of a body, with its instructions and its tools."""
    held = request if isinstance(request, dict) else {}
    system = held.get(_SYSTEM[wire]) if wire in _SYSTEM else None
    return load(messages_of(request, wire), wire, system=system, tools=held.get("tools"))


def dump_request(transcript: Transcript, request: Json) -> Json:
    """The body on its own wire with what is visible now; everything else in it stays as it is."""
    return with_messages(request, transcript.wire, dump(transcript, transcript.wire))


def dump_valid(transcript: Transcript, request: Json) -> Json:
    """The same, mended where the request was broken when it came: what is forgotten never breaks one."""
    made = dump_request(transcript, request)
    messages = messages_of(made, transcript.wire)
    if not isinstance(messages, list) or not violations(
        messages, transcript.wire, continues=continues(made, transcript.wire)
    ):
        return made
    return with_messages(made, transcript.wire, repair(messages, transcript.wire).messages)
