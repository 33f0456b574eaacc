"""How are messages of OpenAI's chat completions API (`/v1/chat/completions`) read and written, and of servers that speak it?

Roles system, developer, user, assistant, tool and the older function; text, refusals, images, audio, files; function and
custom tool calls. Source: OpenAI's API reference. Laws: any JSON is read, what is not understood as an opaque part; what is
written from turns is valid. Leaves to others: whether a given list is valid (`rules`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import base64_bytes, blocks, data_url, field, objects, string
from penstock.wires import placeholders
from penstock.wires.entries import Media, Opaque, Part, Role, Text, ToolCall, ToolResult
from penstock.wires.portable import AssistantTurn, Instruction, UserTurn
from penstock.wires.wire import Written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.portable import PortableTurn
    from penstock.wires.wire import ToolDefinition

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def read(raw: Json, before: Json = None) -> tuple[Role, tuple[Part, ...]]:
    """Return the role and the parts of one message; what is not understood is opaque."""
    del before
    role = _ROLES.get(string(field(raw, "role")))
    # What is not a message of this wire is kept in place; `violations` names it.
    if role is None:
        return "user", (Opaque(raw),)
    parts = _content(raw.get("content"))
    if role == "tool":
        call_id = string(raw.get("tool_call_id")) or _legacy_id(raw)
        return role, (ToolResult(call_id=call_id, text=text_of(parts), parts=parts),)
    if role != "assistant":
        return role, parts
    refusal = string(raw.get("refusal"))
    spoken: list[Part] = [*parts, *([Text(refusal)] if refusal else [])]
    for call in objects(raw.get("tool_calls")):
        kind = "custom" if call.get("type") == "custom" else "function"
        arguments = field(call, kind, "input" if kind == "custom" else "arguments")
        name = string(field(call, kind, "name"))
        spoken.append(ToolCall(id=string(call.get("id")), name=name, arguments=string(arguments), kind=kind))
    # Calls from before 2023-11: one a message, without an id. Older servers and stored sessions still have them.
    if isinstance(legacy := raw.get("function_call"), dict):
        arguments = string(legacy.get("arguments"))
        spoken.append(ToolCall(id=_legacy_id(legacy), name=string(legacy.get("name")), arguments=arguments))
    return role, tuple(spoken)


def with_result(raw: Json, call_id: str, text: str, before: Json = None) -> Json:
    """Return the message with `text` as its content; id, role, name and key order stay."""
    del call_id, before
    return {**raw, "content": text}


def without_results(raw: Json) -> Json:
    """Return a user's message unchanged: results are messages of their own here."""
    return raw


def text_message(role: str, text: str) -> Json:
    """Return a message that consists of one text."""
    return {"role": role, "content": text}


def result_messages(results: Sequence[ToolResult], calls: Sequence[ToolCall]) -> list[Json]:
    """Return the messages that answer calls, one for each."""
    del calls
    return [
        {"role": "tool", "tool_call_id": result.call_id, "content": placeholders.in_words(result)} for result in results
    ]


def read_system(system: Json) -> str:
    """Return the words of instructions outside the messages, which nobody sends on this wire."""
    return text_of(_content(system))


def write_system(text: str) -> None:
    """Return None: instructions are messages here."""
    del text


def write(turns: Sequence[PortableTurn]) -> Written:
    """Return turns as messages; instructions are messages too."""
    messages: list[Json] = []
    for turn in turns:
        match turn:
            case Instruction(text):
                messages.append({"role": "system", "content": text})
            case UserTurn(parts):
                messages.append({"role": "user", "content": _user_content(parts)})
            case AssistantTurn():
                # With calls null, never the empty text; a turn without words has calls (`portable_turns`).
                message: Json = {"role": "assistant", "content": "\n".join(turn.texts) or None}
                if turn.calls:
                    message["tool_calls"] = [_call(call) for call in turn.calls]
                messages.append(message)
                # A tool message has no field for a failure: only its words can say that it failed.
                for call, result in turn.answered_calls():
                    content = "\n".join(_result_texts(result))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return Written(messages=messages or [text_message("user", placeholders.BEGINNING)])


def tool_definitions(tools: Sequence[ToolDefinition]) -> list[Json]:
    """Return the tools as functions with JSON Schemas."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema()},
        }
        for tool in tools
    ]


def tool_names(tools: Json) -> list[str]:
    """Return the names of the functions and custom tools that a request offers."""
    return [string(field(tool, string(tool.get("type")), "name")) for tool in objects(tools)]


def call_message(call: Json) -> Json:
    """Return one call as a message of the assistant."""
    return {"role": "assistant", "tool_calls": [call]}


def _legacy_id(raw: dict[str, Json]) -> str:
    """Return an id for a call or a result in the form before 2023-11, which has a name and no id."""
    return f"function:{string(raw.get('name'))}"


def _content(content: Json) -> tuple[Text | Media | Opaque, ...]:
    """Return the parts of content, a string or blocks."""
    return tuple(_part(block) for block in blocks(content))


def _part(block: dict[str, Json]) -> Text | Media | Opaque:
    """Return a block of content as a part; a refusal is words too."""
    match block.get("type"):
        case "text":
            return Text(string(block.get("text")))
        case "refusal":
            return Text(string(block.get("refusal")))
        case "image_url":
            url = string(field(block, "image_url", "url"))
            media_type, data = data_url(url)
            return Media(
                kind="image",
                bytes_estimate=base64_bytes(data),
                raw=block,
                media_type=media_type,
                data=data,
                url="" if data else url,
            )
        case "input_audio":
            data = string(field(block, "input_audio", "data"))
            media_type = _AUDIO_TYPES.get(string(field(block, "input_audio", "format")), "")
            return Media(kind="audio", bytes_estimate=base64_bytes(data), raw=block, media_type=media_type, data=data)
        case "file":
            media_type, data = data_url(string(field(block, "file", "file_data")))
            return Media(kind="file", bytes_estimate=base64_bytes(data), raw=block, media_type=media_type, data=data)
        case _:
            return Opaque(block)


def text_of(parts: tuple[Part, ...]) -> str:
    """Return the words of parts, one part a line."""
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _user_content(parts: Sequence[Text | Media]) -> Json:
    """Return what a user said; a single text as a string, for servers that do not accept lists of parts."""
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_block(part) for part in parts]


def _block(part: Text | Media) -> Json:
    """Return a part from another wire as a block; media without a form here are named."""
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if part.kind == "image" and (part.data or part.url):
        url = f"data:{part.media_type};base64,{part.data}" if part.data else part.url
        return {"type": "image_url", "image_url": {"url": url}}
    if part.kind == "file" and part.data:
        data = f"data:{part.media_type};base64,{part.data}"
        return {"type": "file", "file": {"filename": "document", "file_data": data}}
    return {"type": "text", "text": placeholders.not_carried(part.kind, part.bytes_estimate)}


def _call(call: ToolCall) -> Json:
    """Return a call from another wire, with its arguments unchanged to the character."""
    if call.kind == "custom":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _result_texts(result: ToolResult) -> list[str]:
    """Return the lines of a tool message, which holds only text: media are named."""
    media = [part for part in result.parts if isinstance(part, Media)]
    notes = [placeholders.not_carried(part.kind, part.bytes_estimate) for part in media]
    return [result.text, *notes] if result.text or not notes else notes
