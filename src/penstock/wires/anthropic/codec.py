"""How are messages of Anthropic's API read and written (`messages` of `/v1/messages`)? The system prompt is a field of its own.

Content is a string or blocks; tool results are blocks of the user message after the calls. Thinking is signed. Source: the API
reference of `/v1/messages`. Laws: any JSON is read, what is not understood as an opaque part; what is written from turns is valid.
Leaves to others: whether a given list is valid (`rules`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, base64_bytes, blocks, field, objects, parsed, string, type_of
from penstock.wires import placeholders
from penstock.wires.anthropic.hosted import cites, hosted_result, is_citable, with_hosted_text, without_citations
from penstock.wires.entries import Media, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from penstock.wires.portable import AssistantTurn, CallIds, Instruction, UserTurn, add_to_runs, leading_instructions
from penstock.wires.wire import Written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.portable import PortableTurn
    from penstock.wires.wire import ToolDefinition

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}


def is_signed(block: Json) -> bool:
    """Whether a block is thinking with a signature, or encrypted; a summary made by the provider counts too."""
    match type_of(block):
        case "thinking":
            return bool(string(block.get("signature")))
        case "redacted_thinking":
            return bool(string(block.get("data")))
        case "compaction":
            return bool(string(block.get("signature")) or string(block.get("encrypted_content")))
        case _:
            return False


def read(raw: Json, before: Json = None) -> tuple[Role, tuple[Part, ...]]:
    """Return the role and the parts of one message; a user's message that holds only results has the role `tool`."""
    del before
    role = _ROLES.get(string(field(raw, "role")))
    # What is not a message of this wire is kept in place; `violations` names it.
    if role is None:
        return "user", (Opaque(raw),)
    is_cited = role == "assistant" and cites(raw)
    parts = tuple(_part(block, is_cited=is_cited) for block in blocks(raw.get("content")))
    # Results are the user's on this wire, but no person speaks in them: they are neither the task nor the newest words.
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        return "tool", parts
    return role, parts


def with_result(raw: Json, call_id: str, text: str, before: Json = None) -> Json:
    """Return the message with `text` in the results of that call; every other block, and every other key, stays."""
    del before

    def is_it(block: Json) -> bool:
        return type_of(block).endswith("tool_result") and field(block, "tool_use_id") == call_id

    content = [with_hosted_text(block, text) if is_it(block) else block for block in raw["content"]]
    # A citation of removed content would refer to nothing. Not every citation says which result it names, so all in the message go.
    goes = any(is_it(block) and is_citable(block) for block in raw["content"])
    return {**raw, "content": [without_citations(block) for block in content] if goes else content}


def without_results(raw: Json) -> Json:
    """Return a user's message without the results that come before its words."""
    if not isinstance(raw.get("content"), list):
        return raw
    return {**raw, "content": [block for block in raw["content"] if type_of(block) != "tool_result"]}


def text_message(role: str, text: str) -> Json:
    """Return a message that consists of one text."""
    return {"role": role, "content": text}


def closing(call_id: str) -> Json:
    """Return the block that closes a call without a known result."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": placeholders.CLOSED, "is_error": True}


def result_messages(results: Sequence[ToolResult], calls: Sequence[ToolCall]) -> list[Json]:
    """Return the single message that answers all calls of a turn."""
    del calls
    return [{"role": "user", "content": [_result_block(result.call_id, result) for result in results]}]


def read_system(system: Json) -> str:
    """Return the words of `system`, a string or blocks."""
    return "\n".join(part.text for part in map(_shown, blocks(system)) if isinstance(part, Text))


def write_system(text: str) -> Json:
    """Return `system`, which may be a plain text."""
    return text


def write(turns: Sequence[PortableTurn]) -> Written:
    """Return turns as messages of alternating roles.

    Instructions before anything else go into `system`, where this API has them; later ones become the user's text.
    """
    system, said = leading_instructions(turns)
    return Written(messages=_messages(said), system=system or None)


def _messages(turns: Sequence[PortableTurn]) -> list[Json]:
    """Return turns as messages: blocks are gathered into runs of one role, beginning with the user's, one message for each run."""
    ids = CallIds()
    # The first run is always the user's, because the list has to begin that way.
    runs: list[tuple[str, list[Json]]] = [("user", [])]
    for turn in turns:
        match turn:
            case Instruction(text):
                add_to_runs(runs, "user", [_text(text)])
            case UserTurn(parts):
                words = [_block(part) for part in parts if not isinstance(part, Text) or part.text.strip()]
                add_to_runs(runs, "user", words or [_text(placeholders.EMPTY)])
            case AssistantTurn():
                pairs = [(ids.new(call.id), call, result) for call, result in turn.answered_calls()]
                used = [_call(call_id, call) for call_id, call, _ in pairs]
                add_to_runs(runs, "assistant", [*(_text(text) for text in turn.texts), *used])
                add_to_runs(runs, "user", [_result_block(call_id, result) for call_id, _, result in pairs])
    if not runs[0][1]:
        runs[0][1].append(_text(placeholders.BEGINNING))
    # A text that the model is to continue may not end in white space. Calls are followed by their results, so a last run of the
    # assistant always ends in text.
    role, last = runs[-1]
    if role == "assistant":
        last[-1]["text"] = last[-1]["text"].rstrip()
    return [{"role": role, "content": _plain(content)} for role, content in runs]


def tool_definitions(tools: Sequence[ToolDefinition]) -> list[Json]:
    """Return the tools with JSON Schemas of their input."""
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.schema()} for tool in tools]


def tool_names(tools: Json) -> list[str]:
    """Return the names of the tools that a request offers."""
    return [string(tool.get("name")) for tool in objects(tools)]


def call_message(call: Json) -> Json:
    """Return one call as a message of the assistant."""
    return {"role": "assistant", "content": [call]}


def _plain(content: list[Json]) -> Json:
    """Return content of a single text block in its short form, a string."""
    return content[0]["text"] if len(content) == 1 and content[0]["type"] == "text" else content


def _part(block: dict[str, Json], *, is_cited: bool) -> Part:
    """Return a block as a part; calls of tools run by the provider stay opaque and are paired by their ids (`history`)."""
    match block.get("type"):
        case "text" | "image" | "document":
            return _shown(block)
        case "tool_use":
            written = as_json(block.get("input"))
            return ToolCall(id=string(block.get("id")), name=string(block.get("name")), arguments=written)
        case "tool_result":
            content = blocks(block.get("content"))
            parts = tuple(map(_shown, content))
            text = "\n".join(part.text for part in parts if isinstance(part, Text))
            # What a search for tools found are references: the model has only the tools that they name.
            offers = not text and any(type_of(inner) == "tool_reference" for inner in content)
            return ToolResult(
                call_id=string(block.get("tool_use_id")),
                text=text,
                parts=parts,
                is_error=block.get("is_error") is True,
                is_clearable=not offers,
            )
        case "thinking" | "redacted_thinking" | "compaction":
            return Reasoning(raw=block, signed=is_signed(block))
        case _:
            return hosted_result(block, is_cited=is_cited) or Opaque(block)


def _shown(block: dict[str, Json]) -> Text | Media | Opaque:
    """Return a block that may also be in a result: text, an image or a document."""
    source = block.get("source")
    media_type, data = string(field(source, "media_type")), string(field(source, "data"))
    match block.get("type"):
        case "text":
            return Text(string(block.get("text")))
        case "document" if field(source, "type") == "text":  # plain text, not Base64: its size is that of its bytes
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
    """Return a part from another wire as a block: only images and PDFs have one here, everything else is named."""
    if isinstance(part, Text):
        return _text(part.text)
    is_image = part.kind == "image" and (part.media_type in _IMAGES or part.url.startswith("https:"))
    is_document = part.kind == "file" and (part.media_type == "application/pdf" or part.url.startswith("https:"))
    if not is_image and not is_document:
        return _text(placeholders.not_carried(part.kind, part.bytes_estimate))
    source = (
        {"type": "base64", "media_type": part.media_type, "data": part.data}
        if part.data
        else {"type": "url", "url": part.url}
    )
    return {"type": "image" if is_image else "document", "source": source}


def _call(call_id: str, call: ToolCall) -> Json:
    """Return a call from another wire; `input` has to be an object, so free text and other arguments are wrapped in one."""
    is_json, value = parsed(call.arguments or "{}") if call.kind != "custom" else (False, None)
    arguments = value if is_json and isinstance(value, dict) else {"input": call.arguments}
    return {"type": "tool_use", "id": call_id, "name": call.name, "input": arguments}


def _result_block(call_id: str, result: ToolResult) -> Json:
    """Return a result as a block: a text, or blocks if it holds media."""
    block: Json = {"type": "tool_result", "tool_use_id": call_id, "content": result.text}
    # Text alone is a string: `text` holds all of it, and a list of blank blocks would be refused.
    if any(isinstance(part, Media) for part in result.parts):
        shown = [
            part for part in result.parts if isinstance(part, Media) or (isinstance(part, Text) and part.text.strip())
        ]
        block["content"] = [_block(part) for part in shown]
    if result.is_error:
        block["is_error"] = True
    return block
