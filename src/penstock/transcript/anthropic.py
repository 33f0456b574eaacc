"""How does Anthropic's messages API write it? `messages` of `/v1/messages`; the system prompt is a field of its own.

Content is a string or blocks; results of tools are blocks of the user message after the calls. Thinking is signed.
Keeps out: whether a list is valid (`invariants`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from penstock.transcript import wording
from penstock.transcript.entries import Media, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from penstock.transcript.shapes import as_json, base64_bytes, blocks, field, parsed, string, type_of
from penstock.transcript.steps import Did, Instruction, Said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.transcript.shapes import Json
    from penstock.transcript.steps import Step

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}


def is_signed(block: Json) -> bool:
    """Whether a block is thinking that came with its proof."""
    match type_of(block):
        case "thinking":
            return bool(string(block.get("signature")))
        case "redacted_thinking":
            return bool(string(block.get("data")))
        case "compaction":
            return bool(string(block.get("signature")) or string(block.get("encrypted_content")))
        case _:
            return False


def read(raw: Json) -> tuple[Role, tuple[Part, ...]]:
    """The role and the parts of one message; a user message of nothing but results has the role `tool`."""
    role = _ROLES.get(string(field(raw, "role")))
    if role is None:
        return "user", (Opaque(raw),)
    parts = tuple(_part(block) for block in blocks(raw.get("content")))
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        return "tool", parts
    return role, parts


def with_result(raw: Json, call_id: str, text: str) -> Json:
    """The same message with other words in the results of that call; every other block, and every other key, stays."""

    def replaced(block: Json) -> Json:
        is_it = field(block, "type") == "tool_result" and field(block, "tool_use_id") == call_id
        return {**block, "content": text} if is_it else block

    return {**raw, "content": [replaced(block) for block in raw["content"]]}


def note(role: str, text: str) -> Json:
    """A message of our own."""
    return {"role": role, "content": text}


def closing(call_id: str) -> Json:
    """The block that closes a call of which no result is known."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": wording.CLOSED, "is_error": True}


def results(returned: Sequence[ToolResult], kinds: Sequence[str]) -> list[Json]:
    """The message with the results of calls: all in one."""
    del kinds
    return [{"role": "user", "content": [_returned(result.call_id, result) for result in returned]}]


def leading_instructions(steps: Sequence[Step]) -> list[str]:
    """The instructions before anything else: they go into the request's `system`."""
    texts: list[str] = []
    for step in steps:
        if not isinstance(step, Instruction):
            break
        texts.append(step.text)
    return texts


def write(steps: Sequence[Step]) -> list[Json]:
    """Steps as messages, roles alternating. Leading instructions are left to `system`; later ones are a user's text."""
    ids = _Ids()
    runs: list[tuple[str, list[Json]]] = [("user", [])]
    for step in steps[len(leading_instructions(steps)) :]:
        match step:
            case Instruction(text):
                _add(runs, "user", [_text(text)])
            case Said(parts):
                said = [_block(part) for part in parts if not isinstance(part, Text) or part.text.strip()]
                _add(runs, "user", said or [_text(wording.EMPTY)])
            case Did():
                pairs = [(ids.new(call.id), call, result) for call, result in step.ordered()]
                used = [_call(call_id, call) for call_id, call, _ in pairs]
                _add(runs, "assistant", [*(_text(text) for text in step.texts), *used])
                _add(runs, "user", [_returned(call_id, result) for call_id, _, result in pairs])
    if not runs[0][1]:
        runs[0][1].append(_text(wording.BEGINNING))
    role, last = runs[-1]
    if role == "assistant":
        last[-1]["text"] = last[-1]["text"].rstrip()
    return [{"role": role, "content": _plain(content)} for role, content in runs]


class _Ids:
    """Ids as this wire wants them: of few characters, each only once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, call_id: str) -> str:
        wanted = re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)[:60] or "call"
        given, number = wanted, 1
        while given in self._given:
            number += 1
            given = f"{wanted}_{number}"
        self._given.add(given)
        return given


def _add(runs: list[tuple[str, list[Json]]], role: str, content: list[Json]) -> None:
    if not content:
        return
    if runs[-1][0] != role:
        runs.append((role, []))
    runs[-1][1].extend(content)


def _plain(content: list[Json]) -> Json:
    return content[0]["text"] if len(content) == 1 and content[0]["type"] == "text" else content


def _part(block: dict[str, Json]) -> Part:
    match block.get("type"):
        case "text" | "image" | "document":
            return _shown(block)
        case "tool_use":
            written = as_json(block.get("input"))
            return ToolCall(id=string(block.get("id")), name=string(block.get("name")), arguments=written)
        case "tool_result":
            parts = tuple(_shown(inner) for inner in blocks(block.get("content")))
            return ToolResult(
                call_id=string(block.get("tool_use_id")),
                text="\n".join(part.text for part in parts if isinstance(part, Text)),
                parts=parts,
                is_error=block.get("is_error") is True,
            )
        case "thinking" | "redacted_thinking" | "compaction":
            return Reasoning(raw=block, signed=is_signed(block))
        case _:
            return Opaque(block)


def _shown(block: dict[str, Json]) -> Text | Media | Opaque:
    source = block.get("source")
    media_type, data = string(field(source, "media_type")), string(field(source, "data"))
    match block.get("type"):
        case "text":
            return Text(string(block.get("text")))
        case "document" if field(source, "type") == "text":
            return Media(kind="file", bytes_estimate=len(data.encode("utf-8", "surrogatepass")), raw=block)
        case "image" | "document" as kind:
            return Media(
                kind="image" if kind == "image" else "file",
                bytes_estimate=base64_bytes(data),
                raw=block,
                media_type=media_type,
                data=data,
                url=string(field(source, "url")),
            )
        case _:
            return Opaque(block)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _block(part: Text | Media) -> Json:
    if isinstance(part, Text):
        return _text(part.text)
    is_image = part.kind == "image" and (part.media_type in _IMAGES or part.url.startswith("https:"))
    is_document = part.kind == "file" and (part.media_type == "application/pdf" or part.url.startswith("https:"))
    if not is_image and not is_document:
        return _text(wording.not_carried(part.kind, part.bytes_estimate))
    source = (
        {"type": "base64", "media_type": part.media_type, "data": part.data}
        if part.data
        else {"type": "url", "url": part.url}
    )
    return {"type": "image" if is_image else "document", "source": source}


def _call(call_id: str, call: ToolCall) -> Json:
    is_json, value = parsed(call.arguments or "{}") if call.kind != "custom" else (False, None)
    arguments = value if is_json and isinstance(value, dict) else {"input": call.arguments}
    return {"type": "tool_use", "id": call_id, "name": call.name, "input": arguments}


def _returned(call_id: str, result: ToolResult) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": call_id, "content": result.text}
    if any(isinstance(part, Media) for part in result.parts):
        shown = [
            part for part in result.parts if isinstance(part, Media) or (isinstance(part, Text) and part.text.strip())
        ]
        block["content"] = [_block(part) for part in shown]
    if result.is_error:
        block["is_error"] = True
    return block
