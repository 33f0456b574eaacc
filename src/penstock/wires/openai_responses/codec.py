"""How are items of OpenAI's responses API (`input` of `/v1/responses`) read and written?

Messages, calls, outputs and reasoning come in a row. An item is a message in its long or its short form (`{"role", "content"}`), a
call, an output, reasoning, or something that only the provider understands (references, server tools, compaction). `CALLS` is the
table of all kinds of calls and the items that answer them, so that reading, checking and mending know each kind from one row.

Source: OpenAI's API reference of `/v1/responses`. Laws: any JSON is read, what is not understood as an opaque part; what is
written from turns is valid. Leaves to others: whether a given list is valid (`rules`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, base64_bytes, blocks, data_url, field, objects, role_of, string, type_of
from penstock.wires import placeholders
from penstock.wires.entries import Media, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from penstock.wires.portable import AssistantTurn, CallIds, Instruction, UserTurn
from penstock.wires.wire import Written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.portable import PortableTurn
    from penstock.wires.wire import ToolDefinition

ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
"""The roles of this wire's messages, as roles of entries."""
# Items that are neither said nor called by anyone but configure something: kept with the instructions.
_SYSTEM_ITEMS = {"additional_tools", "configuration_update"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """How one kind of call is written, and the item that answers it."""

    output: str
    """The type of the item that answers a call of this kind."""
    payload: str
    """The field with the arguments."""
    id_keys: tuple[str, ...] = ("call_id",)
    """The keys where the call may have the id that pairs it; the first one present counts."""
    output_id_keys: tuple[str, ...] = ("call_id",)
    """The keys where the output names that id."""
    must_answer: bool = True
    """Whether the API refuses the call without its output; an approval may be left open."""
    can_close: bool = True
    """Whether a substitute output can be written: a screen that nobody saw cannot be made up."""


CALLS = {
    "function_call": CallForm(output="function_call_output", payload="arguments"),
    "custom_tool_call": CallForm(output="custom_tool_call_output", payload="input"),
    "shell_call": CallForm(output="shell_call_output", payload="action"),
    "local_shell_call": CallForm(output="local_shell_call_output", payload="action", output_id_keys=("call_id", "id")),
    "apply_patch_call": CallForm(output="apply_patch_call_output", payload="operation"),
    "computer_call": CallForm(output="computer_call_output", payload="action", can_close=False),
    "mcp_approval_request": CallForm(
        output="mcp_approval_response",
        payload="arguments",
        id_keys=("id",),
        output_id_keys=("approval_request_id",),
        must_answer=False,
        can_close=False,
    ),
}
"""Every kind of call that needs or may have an output, by its item type."""
# What OpenAI's own tools returned is in the item of their call, under this key; each may be left out or be null.
_RETURNED = {
    "mcp_call": "output",
    "code_interpreter_call": "outputs",
    "file_search_call": "results",
    "image_generation_call": "result",
}
OUTPUTS = {form.output: kind for kind, form in CALLS.items()}
"""The kind of call that each type of output answers."""


def kind_of(raw: Json) -> str:
    """Return the type of an item; short messages and bare references get theirs, unrecognised items an empty one."""
    # Both come without a type in the API's own examples: {"role": …, "content": …} and {"id": "msg_…"}.
    kind = type_of(raw)
    if kind or not isinstance(raw, dict):
        return kind
    if "role" in raw:
        return "message"
    return "item_reference" if string(raw.get("id")) and raw.keys() <= {"id", "type"} else ""


def call_id(raw: Json) -> str:
    """Return the id of a call, or of the call that an output answers; empty if there is none."""
    kind = kind_of(raw)
    keys = CALLS[kind].id_keys if kind in CALLS else CALLS[OUTPUTS[kind]].output_id_keys if kind in OUTPUTS else ()
    return next((string(raw.get(key)) for key in keys if string(raw.get(key))), "")


def role_in(raw: Json) -> Role:
    """Return whose an item is, the user's if nothing says so."""
    kind = kind_of(raw)
    if kind == "message":
        return ROLES.get(role_of(raw), "user")
    if kind in OUTPUTS:
        return "tool"
    if not isinstance(raw, dict):
        return "user"
    # What is neither said nor called was made by the provider (reasoning, server tools, references, compaction). It counts as the
    # assistant's, so that it stays with the calls and the reasoning around it.
    return "system" if kind in _SYSTEM_ITEMS else "assistant"


def read(raw: Json, before: Json = None) -> tuple[Role, tuple[Part, ...]]:
    """Return the role and the parts of one item; what is not understood is opaque."""
    del before
    kind, role = kind_of(raw), role_in(raw)
    if kind == "message" and role_of(raw) in ROLES:
        return role, _content(raw.get("content"))
    if kind == "reasoning":
        return role, (Reasoning(raw=raw, signed=bool(raw.get("encrypted_content"))),)
    if kind in CALLS:
        # Functions and custom tools carry text; the provider's own kinds (shell, patches, screens) an object, serialised here.
        payload = raw.get(CALLS[kind].payload)
        if payload is None:  # newer models do several things on a screen in one call
            payload = raw.get("actions")
        written = payload if isinstance(payload, str) else as_json(payload)
        named = {"function_call": "function", "custom_tool_call": "custom"}.get(kind, kind)
        name = string(raw.get("name")) or kind.removesuffix("_call")
        return role, (ToolCall(id=call_id(raw), name=name, arguments=written, kind=named, caller=raw.get("caller")),)
    if kind in OUTPUTS:
        return role, (_output(raw, kind),)
    if kind in _RETURNED and _RETURNED[kind] in raw and string(raw.get("id")):
        return role, _hosted(raw, kind)
    if kind == "web_search_call" and objects(field(raw, "action", "sources")) and string(raw.get("id")):
        # Where a search looked, which may be left out: an answer cites the addresses themselves.
        found = {"sources": raw["action"]["sources"]}
        return role, (
            Opaque(_without_sources(raw)),
            ToolResult(call_id=raw["id"], text="", parts=(Opaque(found),)),
        )
    return role, (Opaque(raw),)


def with_result(raw: Json, call_id: str, text: str, before: Json = None) -> Json:
    """Return an output with `text` in it; ids, type, status and key order stay."""
    del call_id, before
    # A shell's output is a list of runs with an outcome each; the first outcome stays, since the text does not say whether it
    # failed.
    if raw.get("type") == "shell_call_output":
        outcome = next((run["outcome"] for run in objects(raw.get("output")) if "outcome" in run), _EXITED)
        return {**raw, "output": [{"stdout": text, "stderr": "", "outcome": outcome}]}
    match raw.get("type"):
        case "code_interpreter_call":
            return {**raw, "outputs": [{"type": "logs", "logs": text}]}
        case "file_search_call":
            return {**raw, "results": [{"text": text}]}
        case "image_generation_call":  # there is no place for a text
            return {**raw, "result": None}
        case "web_search_call":  # nor here
            return _without_sources(raw)
    return {**raw, "output": text}


def _without_sources(search: dict[str, Json]) -> Json:
    """Return a search item without the places where it looked."""
    return {**search, "action": {key: held for key, held in search["action"].items() if key != "sources"}}


# The outcome of a shell run that states none: failed, the more cautious assumption.
_EXITED = {"type": "exit", "exit_code": 1}


def closing(call: dict[str, Json]) -> Json:
    """Return the output that closes a call without a known result."""
    kind = kind_of(call)
    output: Json = {
        "type": CALLS[kind].output,
        "call_id": call_id(call),
        "output": placeholders.CLOSED,
        **_named_again(call.get("caller")),
    }
    if kind == "local_shell_call":
        return {"type": output["type"], "id": output["call_id"], "output": placeholders.CLOSED}
    if kind == "shell_call":
        return {**output, "output": [{"stdout": "", "stderr": placeholders.CLOSED, "outcome": _EXITED}]}
    return {**output, "status": "failed"} if kind == "apply_patch_call" else output


def without_results(raw: Json) -> Json:
    """Return a user's message unchanged: outputs are items of their own here."""
    return raw


def text_message(role: str, text: str) -> Json:
    """Return a message that consists of one text, in the short form."""
    return {"role": role, "content": text}


def result_messages(results: Sequence[ToolResult], calls: Sequence[ToolCall]) -> list[Json]:
    """Return the items that answer calls, one for each, of the kind of its call."""
    return [
        {
            "type": "custom_tool_call_output" if call.kind == "custom" else "function_call_output",
            "call_id": result.call_id,
            "output": placeholders.in_words(result),
            **_named_again(call.caller),
        }
        for result, call in zip(results, calls, strict=True)
    ]


def _named_again(caller: Json) -> dict[str, Json]:
    """Return the key of an output that names who made its call, if the call named somebody: a program of the model's."""
    return {"caller": caller} if caller else {}


def read_system(system: Json) -> str:
    """Return the words of `instructions`."""
    return "\n".join(part.text for part in _content(system) if isinstance(part, Text))


def write_system(text: str) -> Json:
    """Return `instructions`, which are a text."""
    return text


def write(turns: Sequence[PortableTurn]) -> Written:
    """Return turns as items; instructions are items too, so that later ones keep their place."""
    items: list[Json] = []
    ids = CallIds()
    for turn in turns:
        match turn:
            case Instruction(text):
                items.append(text_message("system", text))
            case UserTurn(parts):
                items.append({"role": "user", "content": _user_content(parts)})
            case AssistantTurn():
                if turn.texts:
                    items.append(text_message("assistant", "\n".join(turn.texts)))
                pairs = [(replace(call, id=ids.new(call.id)), result) for call, result in turn.answered_calls()]
                # All calls, then all outputs: a batch of parallel calls is one answer of the model.
                items += [_call(call) for call, _ in pairs]
                items += [_call_output(call, result) for call, result in pairs]
    return Written(messages=items)


def tool_definitions(tools: Sequence[ToolDefinition]) -> list[Json]:
    """Return the tools as functions with JSON Schemas."""
    return [
        {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema()}
        for tool in tools
    ]


def tool_names(tools: Json) -> list[str]:
    """Return the names of the functions that a request offers."""
    return [string(tool.get("name")) for tool in objects(tools)]


def call_message(call: Json) -> Json:
    """Return one call as an item, which it already is."""
    return call


def _content(content: Json) -> tuple[Text | Media | Opaque, ...]:
    """Return the parts of content, a string or blocks."""
    return tuple(_part(block) for block in blocks(content))


def _part(block: dict[str, Json]) -> Text | Media | Opaque:
    """Return a block of content as a part; input, output and summary differ only in the name of their text field."""
    match block.get("type"):
        case "input_text" | "output_text" | "text" | "summary_text":
            return Text(string(block.get("text")))
        case "refusal":
            return Text(string(block.get("refusal")))
        case "input_image" | "computer_screenshot":
            url = string(block.get("image_url"))
            media_type, data = data_url(url)
            return Media(
                kind="image",
                bytes_estimate=base64_bytes(data),
                raw=block,
                media_type=media_type,
                data=data,
                url="" if data else url,
            )
        case "input_file":
            given = string(block.get("file_data"))
            media_type, data = data_url(given)
            return Media(
                kind="file",
                bytes_estimate=base64_bytes(data or given),
                raw=block,
                media_type=media_type,
                data=data,
                url=string(block.get("file_url")),
            )
        case "input_audio":
            data = string(field(block, "input_audio", "data"))
            return Media(kind="audio", bytes_estimate=base64_bytes(data), raw=block)
        case _:
            return Opaque(block)


def _output(raw: dict[str, Json], kind: str) -> ToolResult:
    """Return an output as a result; what must stay unchanged (an approval, a screenshot) is not clearable."""
    output = raw.get("output")
    if kind == "mcp_approval_response":
        approved = "approved" if raw.get("approve") is True else "not approved"
        return ToolResult(call_id=call_id(raw), text=approved, is_clearable=False)
    if kind == "shell_call_output":
        runs = objects(output)
        printed = "\n".join(string(run.get(s)) for run in runs for s in ("stdout", "stderr") if run.get(s))
        return ToolResult(call_id=call_id(raw), text=printed, parts=(Text(printed),))
    if kind == "computer_call_output":
        screenshot = (_part(output),) if isinstance(output, dict) else ()
        return ToolResult(call_id=call_id(raw), text="", parts=screenshot, is_clearable=False)
    parts = _content(output)
    text = "\n".join(part.text for part in parts if isinstance(part, Text))
    return ToolResult(call_id=call_id(raw), text=text, parts=parts, is_error=raw.get("status") == "failed")


def _hosted(raw: dict[str, Json], kind: str) -> tuple[Opaque, ToolResult]:
    """Return the item of a tool that OpenAI itself ran as its call and its result, which may be cut."""
    key = _RETURNED[kind]
    returned = raw[key]
    call = Opaque({name: held for name, held in raw.items() if name != key})
    if kind == "image_generation_call":
        return call, ToolResult(call_id=raw["id"], text="", parts=(Opaque({key: returned}),))
    texts = (
        [returned] if isinstance(returned, str) else [run.get("logs") or run.get("text") for run in objects(returned)]
    )
    is_text = all(isinstance(text, str) for text in texts)
    said = "\n".join(string(text) for text in texts)
    return call, ToolResult(call_id=raw["id"], text=said, parts=() if is_text else (Opaque({key: returned}),))


def _user_content(parts: Sequence[Text | Media]) -> Json:
    """Return what a user said: one text as a string, anything else as blocks."""
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_block(part) for part in parts]


def _block(part: Text | Media) -> Json:
    """Return a part from another wire as a block; media without a form here are named."""
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    if part.kind == "image" and (part.data or part.url):
        url = f"data:{part.media_type};base64,{part.data}" if part.data else part.url
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    if part.kind == "file" and part.data:
        data = f"data:{part.media_type};base64,{part.data}"
        return {"type": "input_file", "filename": "document", "file_data": data}
    if part.kind == "file" and part.url:
        return {"type": "input_file", "file_url": part.url}
    return {"type": "input_text", "text": placeholders.not_carried(part.kind, part.bytes_estimate)}


def _call(call: ToolCall) -> Json:
    """Return a call from another wire, with its arguments unchanged to the character."""
    if call.kind == "custom":
        return {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": call.arguments}
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def _call_output(call: ToolCall, result: ToolResult) -> Json:
    """Return the output of a call from another wire: a text, or blocks if it holds media."""
    output: Json = result.text
    if any(isinstance(part, Media) for part in result.parts):
        output = [_block(part) for part in result.parts if isinstance(part, Text | Media)]
    kind = "custom_tool_call_output" if call.kind == "custom" else "function_call_output"
    return {"type": kind, "call_id": call.id, "output": output}
