"""How are messages of Bedrock's Converse API read and written, in its REST body and boto3's arguments?

The instructions are a field of their own. A block is an object with one key, which says what it is. Tool results are blocks of the
user's message after the calls; reasoning is signed; bytes are bytes in boto3 and base64 in JSON. Leaves to others: whether a list
is valid (`rules`).
"""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, base64_bytes, field, objects, parsed, role_of, string
from penstock.wires import placeholders
from penstock.wires.batches import UNNAMED, BlockPlace
from penstock.wires.entries import Media, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from penstock.wires.portable import AssistantTurn, CallIds, Instruction, UserTurn, add_to_runs, leading_instructions
from penstock.wires.wire import Written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.portable import PortableTurn
    from penstock.wires.wire import ToolDefinition

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_MEDIA = {"image": "image", "document": "file", "video": "file", "audio": "audio"}
_IMAGES = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_DOCUMENTS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
_TYPES = {name: media_type for media_type, name in (_IMAGES | _DOCUMENTS).items()}


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def blocks_of(message: Json) -> list[dict[str, Json]]:
    """Return the blocks of a message."""
    return objects(message.get("content")) if isinstance(message, dict) else []


def calls_in(message: Json) -> list[BlockPlace]:
    """Return the calls of a message, without those of tools that the provider runs itself."""
    rows = [(number, block.get("toolUse")) for number, block in enumerate(blocks_of(message))]
    return [
        BlockPlace(number, call["toolUseId"])
        for number, call in rows
        if isinstance(call, dict)
        and string(call.get("toolUseId"))
        and string(call.get("name"))
        and not call.get("type")
    ]


def results_in(message: Json, caller: Json = None) -> list[BlockPlace]:
    """Return the results in a message; each names the call that it answers."""
    del caller
    rows = [(number, block.get("toolResult")) for number, block in enumerate(blocks_of(message))]
    return [
        BlockPlace(number, result["toolUseId"])
        for number, result in rows
        if isinstance(result, dict) and string(result.get("toolUseId")) and not result.get("type")
    ]


def read(raw: Json, before: Json = None) -> tuple[Role, tuple[Part, ...]]:
    """Return the role and the parts of one message; a user's message that holds only results has the role `tool`."""
    del before
    role = _ROLES.get(role_of(raw))
    if role is None:
        return "user", (Opaque(raw),)
    hosted = dict(hosted_in(raw)) if role == "assistant" else {}
    rows = [(block, _read_block(block, hosted.get(number, ""))) for number, block in enumerate(blocks_of(raw))]
    parts = tuple(part for _, made in rows for part in made)
    # A cache point marks a place and says nothing: after results it must not turn the message into the user's words.
    others = [part for block, made in rows if "cachePoint" not in block for part in made]
    if role == "user" and others and all(isinstance(part, ToolResult) for part in others):
        return "tool", parts
    return role, parts


def hosted_in(message: Json) -> list[BlockPlace]:
    """Return what an assistant's message holds of tools run by the provider and may be cut.

    It is what the tools returned, and what cited words quote of their sources, which has no id of its own.
    """
    found: list[BlockPlace] = []
    for number, block in enumerate(blocks_of(message)):
        result = block.get("toolResult")
        if field(result, "type") and (call_id := string(field(result, "toolUseId"))):
            found.append(BlockPlace(number, call_id))
        elif any(cited.get("sourceContent") for cited in objects(field(block, "citationsContent", "citations"))):
            found.append(BlockPlace(number, f"{UNNAMED}citations#{number}"))
    return found


def _read_block(block: dict[str, Json], hosted_id: str) -> list[Part]:
    call, result, thought = block.get("toolUse"), block.get("toolResult"), block.get("reasoningContent")
    if isinstance(call, dict) and not call.get("type"):
        written = as_json(call.get("input"))
        return [ToolCall(id=string(call.get("toolUseId")), name=string(call.get("name")), arguments=written)]
    if isinstance(result, dict) and (hosted_id or not result.get("type")):
        parts = tuple(map(_read_shown, objects(result.get("content"))))
        said = "\n".join(part.text for part in parts if isinstance(part, Text))
        call_id = hosted_id or string(result.get("toolUseId"))
        return [ToolResult(call_id=call_id, text=said, parts=parts, is_error=result.get("status") == "error")]
    if isinstance(thought, dict):
        return [Reasoning(raw=block, signed=is_signed(block))]
    if hosted_id:
        quoted = Opaque({"citations": field(block, "citationsContent", "citations")})
        return [_read_shown(block), ToolResult(call_id=hosted_id, text="", parts=(quoted,), is_cited=True)]
    return [_read_shown(block)]


def is_signed(block: Json) -> bool:
    """Whether a block is reasoning with its signature, or encrypted."""
    thought = field(block, "reasoningContent")
    return bool(field(thought, "reasoningText", "signature") or field(thought, "redactedContent"))


def _read_shown(block: dict[str, Json]) -> Text | Media | Opaque:
    """Return what a block says or shows; words for a guardrail to check, and cited words, are words."""
    for words in (block.get("text"), field(block, "guardContent", "text", "text")):
        if isinstance(words, str):
            return Text(words)
    if "json" in block:
        return Text(as_json(block["json"]))
    if isinstance(cited := block.get("citationsContent"), dict):
        return Text("".join(string(part.get("text")) for part in objects(cited.get("content"))))
    kind = next((name for name in _MEDIA if isinstance(block.get(name), dict)), None)
    return Opaque(block) if kind is None else _read_media(kind, block)


def _read_media(kind: str, block: dict[str, Json]) -> Media:
    source = field(block, kind, "source")
    data = field(source, "bytes")
    # boto3 takes and returns bytes; in JSON they are base64.
    written = base64.b64encode(data).decode() if isinstance(data, bytes) else string(data)
    plain = string(field(source, "text"))
    return Media(
        kind=_MEDIA[kind],
        bytes_estimate=base64_bytes(written) or len(plain.encode("utf-8", "surrogatepass")),
        raw=block,
        media_type=_TYPES.get(string(field(block, kind, "format")), ""),
        data=written,
    )


def read_system(system: Json) -> str:
    """Return the words of `system`, a list of blocks."""
    shown = map(_read_shown, objects(system))
    return system if isinstance(system, str) else "\n".join(part.text for part in shown if isinstance(part, Text))


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def with_result(raw: Json, call_id: str, text: str, before: Json = None) -> Json:
    """Return the message with `text` in the results of that call; every other block, and every other key, stays."""
    del before

    quoting = {id(blocks_of(raw)[number]) for number, quoted in hosted_in(raw) if quoted == call_id}

    def replaced(block: Json) -> Json:
        if field(block, "toolResult", "toolUseId") == call_id:
            return {**block, "toolResult": {**block["toolResult"], "content": [{"text": text}]}}
        if (
            id(block) in quoting and "citationsContent" in block
        ):  # the source of the words stays, the quotation from it goes
            cited = objects(block["citationsContent"]["citations"])
            named = [{key: held for key, held in one.items() if key != "sourceContent"} for one in cited]
            return {**block, "citationsContent": {**block["citationsContent"], "citations": named}}
        return block

    return {**raw, "content": [replaced(block) for block in raw["content"]]}


def without_results(raw: Json) -> Json:
    """Return a user's message without the results that come before its words."""
    return {**raw, "content": [block for block in blocks_of(raw) if "toolResult" not in block]}


def text_message(role: str, text: str) -> Json:
    """Return a message that consists of one text."""
    return {"role": role, "content": [{"text": text}]}


def write_system(text: str) -> Json:
    """Return `system`, a list of blocks."""
    return [{"text": text}]


def closing(block: Json, call_id: str) -> Json:
    """Return the block that closes a call without a known result."""
    del block
    return _result_block(call_id, ToolResult(call_id=call_id, text=placeholders.CLOSED, is_error=True))


def result_messages(results: Sequence[ToolResult], calls: Sequence[ToolCall]) -> list[Json]:
    """Return the single message that answers all calls of a turn."""
    del calls
    return [{"role": "user", "content": [_result_block(result.call_id, result) for result in results]}]


def write(turns: Sequence[PortableTurn]) -> Written:
    """Return turns as messages of alternating roles; instructions before anything else go into `system`."""
    system, said = leading_instructions(turns)
    return Written(messages=_messages(said), system=write_system(system) if system else None)


def _messages(turns: Sequence[PortableTurn]) -> list[Json]:
    # Ids of other wires may be longer than 64 characters, contain characters that are refused here, or repeat in each
    # turn.
    ids = CallIds()
    runs: list[tuple[str, list[Json]]] = [("user", [])]
    add = partial(add_to_runs, runs)
    for turn in turns:
        match turn:
            case Instruction(text):
                add("user", [{"text": text}])
            case UserTurn(parts):
                # Blank words are refused, not only empty ones: a message of nothing else gets a placeholder.
                said = [_said(part) for part in parts if not isinstance(part, Text) or part.text.strip()]
                add("user", said or [{"text": placeholders.EMPTY}])
            case AssistantTurn():
                pairs = [(ids.new(call.id), call, result) for call, result in turn.answered_calls()]
                add("assistant", [{"text": text} for text in turn.texts])
                add("assistant", [_call_block(call_id, call) for call_id, call, _ in pairs])
                add("user", [_result_block(call_id, result) for call_id, _, result in pairs])
    if not runs[0][1]:
        runs[0][1].append({"text": placeholders.BEGINNING})
    for role, content in runs:  # a document is accepted only together with words
        if role == "user" and any("document" in block for block in content) and not any("text" in b for b in content):
            content.append({"text": placeholders.DOCUMENT})
    role, last = runs[-1]
    if role == "assistant":  # a text that the model is to continue may not end in white space
        # The last block is text: calls would be followed by their results, which begin a run of the user's.
        last[-1]["text"] = last[-1]["text"].rstrip()
    return [{"role": role, "content": content} for role, content in runs]


def _said(part: Text | Media) -> Json:
    if isinstance(part, Text):
        return {"text": part.text}
    if part.data and part.media_type in _IMAGES:
        return {"image": {"format": _IMAGES[part.media_type], "source": {"bytes": part.data}}}
    if part.data and part.media_type in _DOCUMENTS:
        # A neutral name: the model reads it, and AWS warns against names that carry instructions.
        source = {"bytes": part.data}
        return {"document": {"format": _DOCUMENTS[part.media_type], "name": "document", "source": source}}
    return {"text": placeholders.not_carried(part.kind, part.bytes_estimate)}


def _call_block(call_id: str, call: ToolCall) -> Json:
    # `input` is an object: the free text of a custom tool, and anything that is not an object, becomes an argument.
    is_json, value = parsed(call.arguments or "{}") if call.kind != "custom" else (False, None)
    arguments = value if is_json and isinstance(value, dict) else {"input": call.arguments}
    return {"toolUse": {"toolUseId": call_id, "name": call.name, "input": arguments}}


def _result_block(call_id: str, result: ToolResult) -> Json:
    # In a result even an empty text is accepted; it is left out only if media say something.
    content: list[Json] = [{"text": result.text}]
    if any(isinstance(part, Media) for part in result.parts):
        content = [
            _said(part)
            for part in result.parts
            if isinstance(part, Media) or (isinstance(part, Text) and part.text.strip())
        ]
    failed = {"status": "error"} if result.is_error else {}
    return {"toolResult": {"toolUseId": call_id, "content": content, **failed}}


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────


def tool_definitions(tools: Sequence[ToolDefinition]) -> list[Json]:
    """Return the tools as specifications with JSON Schemas."""
    return [
        {"toolSpec": {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.schema()}}}
        for tool in tools
    ]


def tool_names(tools: Json) -> list[str]:
    """Return the names of the tools that a request offers."""
    return [string(field(tool, "toolSpec", "name")) for tool in objects(tools) if "toolSpec" in tool]


def call_message(call: Json) -> Json:
    """Return one call, or the block that holds it, as a message of the assistant."""
    return {"role": "assistant", "content": [call if "toolUse" in (call or {}) else {"toolUse": call}]}
