"""Where in a request's body are its messages? `messages` or `input`, and the instructions beside them.

Law: a body with its own messages put back is the same body, keys in their order. Keeps out: everything else in a body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.transcript.history import Transcript, codec, dump, load

if TYPE_CHECKING:
    from penstock.transcript.shapes import Json

_MESSAGES = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages"}
_SYSTEM = {"openai-responses": "instructions", "anthropic": "system"}


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
