"""How are contents of Gemini's API read and written (`contents` of `generateContent`)? The instructions are a field of their own.

A content is the user's or the model's and holds parts: text, media, calls, responses, thoughts, what the provider runs itself.
Calls may lack ids: then a response answers the first unanswered call with its name. A thought signature may accompany any part and
has to be returned with it. Leaves to others: whether a list is valid (`rules`).
"""

from __future__ import annotations

import base64
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from penstock.text.json_access import as_json, base64_bytes, objects, parsed, role_of, string
from penstock.wires import placeholders
from penstock.wires.batches import UNNAMED, BlockPlace
from penstock.wires.entries import Media, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from penstock.wires.gemini.keys import get, spelling
from penstock.wires.portable import AssistantTurn, Instruction, UserTurn, add_to_runs, leading_instructions
from penstock.wires.wire import Written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.text.json_access import Json
    from penstock.wires.portable import PortableTurn
    from penstock.wires.wire import ToolDefinition

ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "function": "user", "": "user"}
"""`function` was the role of responses in the API's first year; a content without a role is the user's."""


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────


def role_in(raw: Json) -> Role | None:
    """Return whose a content is; None for what is not a content of this wire."""
    if not isinstance(raw, dict):
        return None
    # A missing role means the user; a role that is not text, or is empty, does not exist on this wire.
    return ROLES.get("" if raw.get("role") is None else role_of(raw) or "?")


def parts_of(raw: Json) -> list[dict[str, Json]]:
    """Return the parts of a content."""
    return objects(raw.get("parts")) if isinstance(raw, dict) else []


def read(raw: Json, before: Json = None) -> tuple[Role, tuple[Part, ...]]:
    """Return the role and the parts of one content; a user's content that holds only responses has the role `tool`."""
    role = role_in(raw)
    if role is None:
        return "user", (Opaque(raw),)
    # The stand-in for an id depends on the position among all calls of that name, so ids are found for the whole content,
    # not part by part.
    ids = dict([*calls_in(raw), *hosted_in(raw)] if role == "assistant" else responses_in(raw, before))
    parts = [made for number, part in enumerate(parts_of(raw)) for made in _read_part(part, ids.get(number, ""))]
    if role == "user" and parts and all(isinstance(part, ToolResult) for part in parts):
        return "tool", tuple(parts)
    return role, tuple(parts)


def calls_in(content: Json) -> list[BlockPlace]:
    """Return the calls of a model's content; one without an id is named after its function and its position among these."""
    found: list[BlockPlace] = []
    unnamed: dict[str, int] = {}
    for number, part in enumerate(parts_of(content)):
        call = get(part, "functionCall")
        if name := string(get(call, "name")):
            found.append(BlockPlace(number, string(get(call, "id")) or _stand_in(name, unnamed)))
    return found


def hosted_in(content: Json) -> list[BlockPlace]:
    """Return what a model's content holds from tools run by the provider itself: code execution results, search results.

    Signed results have to come back unchanged and are not included.
    """
    found: list[BlockPlace] = []
    unnamed: dict[str, int] = {}
    for number, part in enumerate(parts_of(content)):
        key = next((key for key in _HOSTED if isinstance(get(part, key), dict)), None)
        if key is not None and not get(part, "thoughtSignature"):
            found.append(BlockPlace(number, string(get(get(part, key), "id")) or _stand_in(key, unnamed)))
    return found


_HOSTED = ("codeExecutionResult", "toolResponse")
"""The parts in which a model's content holds what the provider's own tools returned."""


def responses_in(content: Json, before: Json = None) -> list[BlockPlace]:
    """Return the responses in a user's content, each under the id of the call that it answers.

    A response that names an id answers that call. Any other answers the first call of its name in `before`, the model's content
    before it, that no response has taken yet and whose id it does not contradict: clients that leave out ids answer that way.
    """
    calls = parts_of(before)
    own: set[str] = set()
    # Queues by name, of all calls and of those without ids: a batch of thousands is not searched for each of its responses.
    open_calls: dict[str, deque[str]] = {}
    open_unnamed: dict[str, deque[str]] = {}
    # A response with an id of its own may answer a call that has none, but never one that has another.
    for number, call_id in calls_in(before):
        call = get(calls[number], "functionCall")
        open_calls.setdefault(get(call, "name"), deque()).append(call_id)
        if get(call, "id"):
            own.add(call_id)
        else:
            open_unnamed.setdefault(get(call, "name"), deque()).append(call_id)
    rows = [(number, get(part, "functionResponse")) for number, part in enumerate(parts_of(content))]
    rows = [(number, response) for number, response in rows if string(get(response, "name"))]
    named = {number: string(get(response, "id")) for number, response in rows}
    # Responses that name their call take it first: an earlier response without an id must not take it.
    answered = {number: call_id for number, call_id in named.items() if call_id in own}
    taken = set(answered.values())
    unnamed: dict[str, int] = {}
    for number, response in rows:
        if number in answered:
            continue
        name = string(get(response, "name"))
        waiting = (open_unnamed if named[number] else open_calls).get(name, deque())
        while waiting and waiting[0] in taken:
            waiting.popleft()
        if waiting:
            answered[number] = waiting.popleft()
            taken.add(answered[number])
        else:
            answered[number] = named[number] or _stand_in(name, unnamed)
    return [BlockPlace(number, answered[number]) for number, _ in rows]


def _stand_in(name: str, seen: dict[str, int]) -> str:
    seen[name] = seen.get(name, 0) + 1
    return f"{UNNAMED}{name}" + (f"#{seen[name]}" if seen[name] > 1 else "")


def _read_part(part: dict[str, Json], call_id: str) -> list[Part]:
    signature = get(part, "thoughtSignature")
    if get(part, "thought") is True:
        return [Reasoning(raw=part, signed=bool(signature))]
    # A signature accompanies a call or words here, and is reasoning of its own on other wires: it is reported as such,
    # before the part that it accompanies.
    made: list[Part] = [Reasoning(raw={"thoughtSignature": signature}, signed=True)] if signature else []
    call, response, text = get(part, "functionCall"), get(part, "functionResponse"), get(part, "text")
    if isinstance(call, dict):
        arguments = get(call, "args")
        written = as_json({} if arguments is None else arguments)
        return [*made, ToolCall(id=call_id, name=string(get(call, "name")), arguments=written)]
    if isinstance(response, dict):
        return [*made, _read_response(response, call_id)]
    for key in _HOSTED:
        if call_id and isinstance(held := get(part, key), dict):
            said = string(get(held, "output")) if key == "codeExecutionResult" else response_text(held)
            return [ToolResult(call_id=call_id, text=said)]
    if isinstance(text, str):
        # A stream ends with an empty text if a signature is left over: the model did not say that text.
        return made if made and not text else [*made, Text(text)]
    return [*made, _read_media(part) or Opaque(part)]


def _read_media(part: dict[str, Json]) -> Media | None:
    blob, file = get(part, "inlineData"), get(part, "fileData")
    if not isinstance(blob, dict) and not isinstance(file, dict):
        return None
    media_type = string(get(blob, "mimeType") or get(file, "mimeType"))
    data = get(blob, "data")
    # google-genai's dicts hold bytes where the REST body has base64.
    written = base64.b64encode(data).decode() if isinstance(data, bytes) else string(data)
    kind = media_type.partition("/")[0]
    return Media(
        kind=kind if kind in {"image", "audio"} else "file",
        bytes_estimate=base64_bytes(written),
        raw=part,
        media_type=media_type,
        data=written,
        url=string(get(file, "fileUri")),
    )


def _read_response(response: dict[str, Json], call_id: str) -> ToolResult:
    text = response_text(response)
    media = (_read_media(part) or Opaque(part) for part in objects(get(response, "parts")))
    return ToolResult(call_id=call_id, text=text, parts=(Text(text), *media), is_error=_failed(response))


def _failed(response: dict[str, Json]) -> bool:
    """Whether a response reports an error, by the API's own reading of its keys `output` and `error`."""
    held = get(response, "response")
    return isinstance(held, dict) and held.get("error") is not None and held.get("output") is None


def response_text(response: Json) -> str:
    """Return the words of a response: of its one value, which clients call `output`, `result` or `error`; else its JSON."""
    held = get(response, "response")
    if isinstance(held, dict) and len(held) == 1 and next(iter(held)) in {"output", "result", "error", "content"}:
        held = next(iter(held.values()))
    return held if isinstance(held, str) else as_json({} if held is None else held)


def read_system(system: Json) -> str:
    """Return the words of `systemInstruction`: a content, its parts, or a text, as google-genai accepts them."""
    if isinstance(system, str):
        return system
    held = system if isinstance(system, list) else parts_of(system) or [system]
    texts = [part if isinstance(part, str) else string(get(part, "text")) for part in held]
    return "\n".join(text for text in texts if text)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────


def with_result(raw: Json, call_id: str, text: str, before: Json = None) -> Json:
    """Return the content with `text` in the responses to that call; their media go, every other part and key stays."""
    parts = parts_of(raw)
    # By identity: `parts_of` leaves out what is not an object, so its positions are not those in `raw["parts"]`.
    places = hosted_in(raw) if role_in(raw) == "assistant" else responses_in(raw, before)
    wanted = {id(parts[number]) for number, answered in places if answered == call_id}
    return {**raw, "parts": [_with_text(part, text) if id(part) in wanted else part for part in raw["parts"]]}


def _with_text(part: dict[str, Json], text: str) -> Json:
    hosted = next((key for key in _HOSTED if isinstance(get(part, key), dict)), None)
    if hosted is not None:
        key = spelling(part, hosted)
        said: Json = {"output": text} if hosted == "codeExecutionResult" else {"response": {"output": text}}
        return {**part, key: {**part[key], **said}}
    key = spelling(part, "functionResponse")
    response = part[key]
    kept = {name: value for name, value in response.items() if name != "parts"}
    kept["response"] = {"error" if _failed(response) else "output": text}
    return {**part, key: kept}


def without_results(raw: Json) -> Json:
    """Return a user's content without the responses in it."""
    return {**raw, "parts": [part for part in parts_of(raw) if get(part, "functionResponse") is None]}


def text_message(role: str, text: str) -> Json:
    """Return a content that consists of one text."""
    return {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}


def write_system(text: str) -> Json:
    """Return `systemInstruction`, a content without a role."""
    return {"parts": [{"text": text}]}


def closing(part: Json, call_id: str) -> Json:
    """Return the response that closes a call without a known result."""
    name = string(get(get(part, "functionCall"), "name"))
    return _response_part(call_id, name, ToolResult(call_id=call_id, text=placeholders.CLOSED, is_error=True))


def result_messages(results: Sequence[ToolResult], calls: Sequence[ToolCall]) -> list[Json]:
    """Return the single content that answers all calls of a turn."""
    pairs = zip(results, calls, strict=True)
    return [{"role": "user", "parts": [_response_part(result.call_id, call.name, result) for result, call in pairs]}]


def write(turns: Sequence[PortableTurn]) -> Written:
    """Return turns as contents of alternating roles.

    Instructions before anything else go into `systemInstruction`; later ones become the user's text.
    """
    system, said = leading_instructions(turns)
    return Written(messages=_contents(said), system=write_system(system) if system else None)


def _contents(turns: Sequence[PortableTurn]) -> list[Json]:
    # A call must follow something of the user's, so the first run is the user's. If nothing goes into it, the model began,
    # and it gets a placeholder.
    runs: list[tuple[str, list[Json]]] = [("user", [])]
    add = partial(add_to_runs, runs)
    for turn in turns:
        match turn:
            case Instruction(text):
                add("user", [{"text": text}])
            case UserTurn(parts):
                said = [_said(part) for part in parts if not isinstance(part, Text) or part.text]
                add("user", said or [{"text": placeholders.EMPTY}])
            case AssistantTurn():
                # All calls of a turn in one content and all responses in the next: the API compares their numbers.
                add("model", [{"text": text} for text in turn.texts])
                add("model", [_call_part(call) for call in turn.calls])
                pairs = turn.answered_calls()
                add("user", [_response_part(call.id, call.name, result) for call, result in pairs])
    if not runs[0][1]:
        runs[0][1].append({"text": placeholders.BEGINNING})
    return [{"role": role, "parts": parts} for role, parts in runs]


def _said(part: Text | Media) -> Json:
    if isinstance(part, Text):
        return {"text": part.text}
    if part.data and part.media_type:
        return {"inlineData": {"mimeType": part.media_type, "data": part.data}}
    if part.url:
        return {"fileData": {**({"mimeType": part.media_type} if part.media_type else {}), "fileUri": part.url}}
    return {"text": placeholders.not_carried(part.kind, part.bytes_estimate)}


def _id_of(call_id: str) -> dict[str, Json]:
    # A call that came without an id goes back without one; the name that stands in for it is not an id.
    return {} if call_id.startswith(UNNAMED) else {"id": call_id}


def _call_part(call: ToolCall) -> Json:
    # `args` is an object: the free text of a custom tool, and anything that is not an object, becomes an argument.
    is_json, value = parsed(call.arguments or "{}") if call.kind != "custom" else (False, None)
    arguments = value if is_json and isinstance(value, dict) else {"input": call.arguments}
    return {"functionCall": {**_id_of(call.id), "name": call.name, "args": arguments}}


def _response_part(call_id: str, name: str, result: ToolResult) -> Json:
    response: Json = {
        **_id_of(call_id),
        "name": name,
        "response": {"error" if result.is_error else "output": result.text},
    }
    media = [_said(part) for part in result.parts if isinstance(part, Media)]
    # What cannot be carried is named in a text, and a response has no place for text among its parts.
    carried = [part for part in media if "text" not in part]
    return {"functionResponse": {**response, "parts": carried} if carried else response}


# ── tools ────────────────────────────────────────────────────────────────────────────────────────────────────────


def tool_definitions(tools: Sequence[ToolDefinition]) -> list[Json]:
    """Return the tools as one set of function declarations with JSON Schemas."""
    # `parameters` would take only a subset of OpenAPI; this key takes a JSON Schema unchanged.
    declared = [
        {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema()} for tool in tools
    ]
    return [{"functionDeclarations": declared}] if declared else []


def tool_names(tools: Json) -> list[str]:
    """Return the names of the functions that a request declares."""
    sets = [objects(get(tool, "functionDeclarations")) for tool in objects(tools)]
    return [string(declared.get("name")) for held in sets for declared in held]


def call_message(call: Json) -> Json:
    """Return one call, or the part that holds it, as a content of the model."""
    return {"role": "model", "parts": [{"functionCall": call} if get(call, "functionCall") is None else call]}
