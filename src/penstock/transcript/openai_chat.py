"""How does OpenAI's chat completions API write it? `messages` of `/v1/chat/completions`, and of the many servers that speak it.

Roles system, developer, user, assistant, tool and the older function; text, refusals, images, audio, files; function and
custom tool calls. Keeps out: whether a list is valid (`invariants`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.transcript import wording
from penstock.transcript.entries import Media, Opaque, Part, Role, Text, ToolCall, ToolResult
from penstock.transcript.shapes import base64_bytes, blocks, data_url, field, objects, string
from penstock.transcript.steps import Did, Instruction, Said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.transcript.shapes import Json
    from penstock.transcript.steps import Step

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def read(raw: Json) -> tuple[Role, tuple[Part, ...]]:
    """The role and the parts of one message; anything else is opaque."""
    role = _ROLES.get(string(field(raw, "role")))
    if role is None:
        return "user", (Opaque(raw),)
    parts = _content(raw.get("content"))
    if role == "tool":
        call_id = string(raw.get("tool_call_id")) or _legacy_id(raw)
        return role, (ToolResult(call_id=call_id, text=_text(parts), parts=parts),)
    if role != "assistant":
        return role, parts
    refusal = string(raw.get("refusal"))
    said: list[Part] = [*parts, *([Text(refusal)] if refusal else [])]
    for call in objects(raw.get("tool_calls")):
        kind = "custom" if call.get("type") == "custom" else "function"
        arguments = field(call, kind, "input" if kind == "custom" else "arguments")
        name = string(field(call, kind, "name"))
        said.append(ToolCall(id=string(call.get("id")), name=name, arguments=string(arguments), kind=kind))
    if isinstance(legacy := raw.get("function_call"), dict):
        arguments = string(legacy.get("arguments"))
        said.append(ToolCall(id=_legacy_id(legacy), name=string(legacy.get("name")), arguments=arguments))
    return role, tuple(said)


def with_result(raw: Json, call_id: str, text: str) -> Json:
    """The same message with other words; id, role, name and order of keys stay."""
    del call_id
    return {**raw, "content": text}


def note(role: str, text: str) -> Json:
    """A message of our own."""
    return {"role": role, "content": text}


def results(returned: Sequence[ToolResult], kinds: Sequence[str]) -> list[Json]:
    """The messages with the results of calls: one each."""
    del kinds
    return [{"role": "tool", "tool_call_id": result.call_id, "content": result.text} for result in returned]


def write(steps: Sequence[Step]) -> list[Json]:
    """Steps as messages."""
    messages: list[Json] = []
    for step in steps:
        match step:
            case Instruction(text):
                messages.append({"role": "system", "content": text})
            case Said(parts):
                messages.append({"role": "user", "content": _said(parts)})
            case Did():
                message: Json = {"role": "assistant", "content": "\n".join(step.texts) or None}
                if step.calls:
                    message["tool_calls"] = [_call(call) for call in step.calls]
                messages.append(message)
                for call, result in step.ordered():
                    content = "\n".join(_result_texts(result))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return messages or [note("user", wording.BEGINNING)]


def _legacy_id(raw: dict[str, Json]) -> str:
    """Calls of before 2023 have a name and no id."""
    return f"function:{string(raw.get('name'))}"


def _content(content: Json) -> tuple[Text | Media | Opaque, ...]:
    return tuple(_part(block) for block in blocks(content))


def _part(block: dict[str, Json]) -> Text | Media | Opaque:
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


def _text(parts: tuple[Part, ...]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def _said(parts: Sequence[Text | Media]) -> Json:
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_block(part) for part in parts]


def _block(part: Text | Media) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if part.kind == "image" and (part.data or part.url):
        url = f"data:{part.media_type};base64,{part.data}" if part.data else part.url
        return {"type": "image_url", "image_url": {"url": url}}
    if part.kind == "file" and part.data:
        data = f"data:{part.media_type};base64,{part.data}"
        return {"type": "file", "file": {"filename": "document", "file_data": data}}
    return {"type": "text", "text": wording.not_carried(part.kind, part.bytes_estimate)}


def _call(call: ToolCall) -> Json:
    if call.kind == "custom":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _result_texts(result: ToolResult) -> list[str]:
    """A tool message holds text only."""
    media = [part for part in result.parts if isinstance(part, Media)]
    notes = [wording.not_carried(part.kind, part.bytes_estimate) for part in media]
    return [result.text, *notes] if result.text or not notes else notes
