"""How are conversations generated for laws? As stories on each wire, valid by construction, and with anything that can go wrong.

The writers below are independent of the product's codecs, so that the two check each other. `requests(wire)` gives valid
message lists, `broken(wire)` damaged lists, `json_values` anything that JSON can hold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from hypothesis import strategies as st

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a tool and its result; `image` comes in addition to the text."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str
    failed: bool = False
    is_refusal: bool = False
    image: bool = False
    custom: bool = False


@dataclass(frozen=True, kw_only=True)
class Round:
    """One answer of the assistant: thought, words, parallel calls; then optionally a word of the user."""

    thinking: int = 0
    """The kind of thinking: 0 none, 1 signed, 2 redacted."""
    text: str = ""
    calls: tuple[Call, ...] = ()
    user: str = ""
    user_image: bool = False
    split_text: bool = False
    server_tool: bool = False


@dataclass(frozen=True, kw_only=True)
class Story:
    """A conversation without a wire. It ends at the assistant's turn, or with its answer."""

    system: str = ""
    task: str = "Fix the bug in parser.py."
    task_image: bool = False
    rounds: tuple[Round, ...] = field(default=())
    ids: str = "call"


words = st.text(st.characters(codec="utf-8"), max_size=40)
said = words.filter(lambda text: text.strip() and text == text.rstrip())
paths = st.sampled_from(["parser.py", "src/lexer.py", "tests/test_parser.py", "README.md"])
arguments: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"path": paths}),
    st.fixed_dictionaries({"path": paths, "offset": st.integers(0, 2000), "text": words}),
    st.dictionaries(words, words, max_size=2),
)
results = st.one_of(
    st.just(""),
    words,
    st.sampled_from(["1|def parse(text):\n2|    return text\n" * 40, "error: no such file\n", "x" * 20_000]),
)


def _all_ways(**choices: list[Any]) -> list[dict[str, Any]]:
    """Draw every combination of the choices at once: single draws took most of the time of the laws."""
    return [dict(zip(choices, way, strict=True)) for way in product(*choices.values())]


_CALLS = _all_ways(
    name=["view", "read_file", "search", "edit_file"],
    failed=[False, True],
    image=[False, False, True],
    custom=[False, False, False, True],
)
_ROUNDS = _all_ways(
    thinking=[0, 0, 1, 2],
    user_image=[False, False, True],
    split_text=[False, True],
    server_tool=[False, False, False, True],
)


@st.composite
def stories(draw: st.DrawFn, *, max_rounds: int = 5, huge: bool = True) -> Story:
    """Draw any story: parallel calls, images, thinking, empty results, a huge last message, a huge system prompt."""
    number = 0
    rounds: list[Round] = []
    ids = draw(st.sampled_from(["call", "toolu_", "chatcmpl-tool-"]))
    for _ in range(draw(st.integers(0, max_rounds))):
        calls: list[Call] = []
        for _ in range(draw(st.sampled_from([0, 1, 1, 2, 4]))):
            number += 1
            calls.append(
                Call(
                    id=f"{ids}{number}",
                    arguments=draw(arguments),
                    result=draw(results),
                    **draw(st.sampled_from(_CALLS)),
                )
            )
        text = draw(said) if not calls or draw(st.booleans()) else ""
        rounds.append(
            Round(
                text=text,
                calls=tuple(calls),
                user=draw(st.one_of(st.just(""), said)) if calls else draw(said),
                **draw(st.sampled_from(_ROUNDS)),
            )
        )
    if huge and rounds and draw(st.sampled_from([False, False, True])):
        last = rounds[-1]
        rounds[-1] = Round(thinking=last.thinking, text=last.text, calls=last.calls, user="huge " * 8000 + "end")
    system = draw(st.one_of(st.just(""), said, st.just("Be brief. " * 3000) if huge else st.just("Be brief.")))
    return Story(system=system, task=draw(said), task_image=draw(st.booleans()), rounds=tuple(rounds))


# ── the tellers ──────────────────────────────────────────────────────────────────────────────────────────────────────


def chat(story: Story) -> list[Any]:
    """Return the story as messages of chat completions."""
    messages: list[Any] = []
    if story.system:
        messages.append({"role": "system", "content": story.system})
    messages.append({"role": "user", "content": _chat_said(story.task, story.task_image)})
    for step in story.rounds:
        message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
        if step.calls:
            message["tool_calls"] = [_chat_call(call) for call in step.calls]
        messages.append(message)
        messages += [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in step.calls]
        if step.user:
            messages.append({"role": "user", "content": _chat_said(step.user, step.user_image)})
    return messages


def _chat_said(text: str, image: bool) -> Any:
    if not image:
        return text
    url = {"url": f"data:image/png;base64,{PNG}"}
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": url}]


def _chat_call(call: Call) -> Any:
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.result[:50]}}
    written = json.dumps(call.arguments, separators=(",", ":"))
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": written}}


_RUN = {"stdout": "1", "stderr": "", "return_code": 0, "content": []}
_PAGE = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "found"}}
_SCAN = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PNG}}
_FOUND = {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": PNG}
HOSTED_BLOCKS: list[tuple[str, dict[str, Any]]] = [
    ("web_search", {"type": "web_search_tool_result", "content": []}),
    ("web_search", {"type": "web_search_tool_result", "content": [_FOUND]}),
    ("mcp", {"type": "mcp_tool_result", "is_error": False, "content": [{"type": "text", "text": "found"}]}),
    ("mcp", {"type": "mcp_tool_result", "is_error": True, "content": "failed"}),
    ("code_execution", {"type": "code_execution_tool_result", "content": {"type": "code_execution_result", **_RUN}}),
    (
        "bash_code_execution",
        {"type": "bash_code_execution_tool_result", "content": {"type": "bash_code_execution_result", **_RUN}},
    ),
    (
        "text_editor_code_execution",
        {
            "type": "text_editor_code_execution_tool_result",
            "content": {"type": "text_editor_code_execution_view_result", "content": "found", "file_type": "text"},
        },
    ),
    (
        "web_fetch",
        {"type": "web_fetch_tool_result", "content": {"type": "web_fetch_result", "url": "u", "content": _PAGE}},
    ),
    (
        "web_fetch",
        {"type": "web_fetch_tool_result", "content": {"type": "web_fetch_result", "url": "u", "content": _SCAN}},
    ),
]
"""Results in every form that Anthropic's own tools have, each with its tool."""
HOSTED_ITEMS: list[dict[str, Any]] = [
    {"type": "web_search_call"},
    {"type": "mcp_call", "arguments": "{}", "name": "look", "server_label": "s", "output": "found"},
    {"type": "code_interpreter_call", "code": "f()", "container_id": "c", "outputs": [{"type": "logs", "logs": "1"}]},
    {"type": "code_interpreter_call", "code": "f()", "container_id": "c", "outputs": [{"type": "image", "url": PNG}]},
    {"type": "file_search_call", "queries": ["q"], "results": [{"file_id": "f", "text": "found"}, {"score": 0.1}]},
    {"type": "image_generation_call", "result": PNG},
    {"type": "mcp_call", "arguments": "{}", "name": "look", "server_label": "s", "output": None, "error": None},
]
"""Items of every kind that has the result of one of OpenAI's own tools next to its call."""


def responses(story: Story) -> list[Any]:
    """Return the story as items of the responses API."""
    items: list[Any] = []
    if story.system:
        items.append(
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": story.system}]}
        )
    items.append({"role": "user", "content": _responses_said(story.task, story.task_image)})
    for place, step in enumerate(story.rounds):
        if step.thinking:
            secret = f"gAAAA{place}{PNG}" if step.thinking == 2 else None
            thought = [{"type": "summary_text", "text": "It is the lexer."}]
            items.append({"id": f"rs_{place}", "type": "reasoning", "summary": thought, "encrypted_content": secret})
        if step.server_tool:
            items.append({**HOSTED_ITEMS[place % len(HOSTED_ITEMS)], "id": f"ws_{place}", "status": "completed"})
        if step.text:
            part = {"type": "output_text", "text": step.text, "annotations": []}
            items.append({"id": f"msg_{place}", "type": "message", "role": "assistant", "content": [part]})
        items += [_response_call(call) for call in step.calls]
        for call in step.calls:
            kind = "custom_tool_call_output" if call.custom else "function_call_output"
            output: Any = call.result
            if call.image:
                shown = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
                output = [{"type": "input_text", "text": call.result}, shown]
            items.append({"type": kind, "call_id": call.id, "output": output})
        if step.user:
            items.append({"role": "user", "content": _responses_said(step.user, step.user_image)})
    return items


def _responses_said(text: str, image: bool) -> Any:
    if not image:
        return text
    url = f"data:image/png;base64,{PNG}"
    return [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": url, "detail": "auto"}]


def _response_call(call: Call) -> Any:
    if call.custom:
        return {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": call.result[:50]}
    written = json.dumps(call.arguments)
    return {"type": "function_call", "id": f"fc_{call.id}", "call_id": call.id, "name": call.name, "arguments": written}


def anthropic(story: Story) -> list[Any]:
    """Return the story as messages of Anthropic; its system prompt is a field of the request."""
    messages: list[Any] = [{"role": "user", "content": _anthropic_said(story.task, story.task_image)}]
    for place, step in enumerate(story.rounds):
        content: list[Any] = []
        if step.thinking == 1:
            content.append({"type": "thinking", "thinking": "It is the lexer.", "signature": f"EqQB{place}{PNG}=="})
        if step.thinking == 2:
            content.append({"type": "redacted_thinking", "data": f"EmwK{place}{PNG}=="})
        if step.server_tool:
            name, found = HOSTED_BLOCKS[place % len(HOSTED_BLOCKS)]
            kind = "mcp_tool_use" if name == "mcp" else "server_tool_use"
            call = {"type": kind, "id": f"srvtoolu_{place}", "name": name, "input": {"query": "lexer"}}
            content += [call, {**found, "tool_use_id": f"srvtoolu_{place}"}]
        texts = [step.text, "And so on."] if step.text and step.split_text else [step.text] if step.text else []
        content += [{"type": "text", "text": text} for text in texts]
        for used in step.calls:
            content.append({"type": "tool_use", "id": used.id, "name": used.name, "input": used.arguments})
        plain = len(content) == 1 and content[0]["type"] == "text" and not step.split_text
        messages.append({"role": "assistant", "content": content[0]["text"] if plain else content})
        back: list[Any] = [_anthropic_result(used) for used in step.calls]
        if step.user:
            words = _anthropic_said(step.user, step.user_image)
            back += [{"type": "text", "text": words}] if isinstance(words, str) else words
        if back:
            last = {**back[-1], "cache_control": {"type": "ephemeral"}} if step.split_text else back[-1]
            messages.append({"role": "user", "content": [*back[:-1], last]})
    return messages


def _anthropic_said(text: str, image: bool) -> Any:
    if not image:
        return text
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    return [{"type": "text", "text": text}, {"type": "image", "source": source}]


def _anthropic_result(call: Call) -> Any:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
    if call.image:
        source = {"type": "base64", "media_type": "image/png", "data": PNG}
        words = [{"type": "text", "text": call.result}] if call.result.strip() else []
        block["content"] = [*words, {"type": "image", "source": source}]
    if call.failed:
        block["is_error"] = True
    return block


def gemini(story: Story) -> list[Any]:
    """Return the story as contents of Gemini: with or without ids of calls, in either spelling of its keys."""
    snake = story.ids == "toolu_"
    contents: list[Any] = [{"role": "user", "parts": _gemini_said(story.task, story.task_image, snake)}]
    for place, step in enumerate(story.rounds):
        signature = {"thought_signature" if snake else "thoughtSignature": f"CiQB{place}{PNG}=="}
        parts: list[Any] = []
        if step.thinking:
            parts.append({"text": "It is the lexer.", "thought": True, **(signature if step.thinking == 2 else {})})
        if step.server_tool:
            parts.append({"executableCode": {"language": "PYTHON", "code": "print(1)"}})
            parts.append({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}})
        texts = [step.text, "And so on."] if step.text and step.split_text else [step.text] if step.text else []
        parts += [{"text": text} for text in texts]
        calls = [_gemini_call(used, story.ids, snake) for used in step.calls]
        if step.thinking == 1:  # Gemini 3 signs the first of parallel calls, or else an empty text at the end
            calls = [{**calls[0], **signature}, *calls[1:]] if calls else [{"text": "", **signature}]
        contents.append({"role": "model", "parts": [*parts, *calls]})
        back = [_gemini_response(used, story.ids, snake) for used in step.calls]
        if back and step.split_text and len({used.name for used in step.calls}) == len(step.calls):
            back.reverse()
        if step.user:
            back += _gemini_said(step.user, step.user_image, snake)
        if back:
            contents.append({"role": "user", "parts": back} if place % 3 else {"parts": back, "role": "user"})
    return contents


def _gemini_said(text: str, image: bool, snake: bool) -> list[Any]:
    blob = {"mime_type" if snake else "mimeType": "image/png", "data": PNG}
    return [{"text": text}, {"inline_data" if snake else "inlineData": blob}] if image else [{"text": text}]


def _gemini_call(call: Call, ids: str, snake: bool) -> dict[str, Any]:
    own = {} if ids == "chatcmpl-tool-" else {"id": call.id}
    named = {**own, "name": call.name, **({"args": call.arguments} if call.arguments or not call.custom else {})}
    return {"function_call" if snake else "functionCall": named}


def _gemini_response(call: Call, ids: str, snake: bool) -> Any:
    # google-genai's `Part.from_function_response` omits the id of a call that has one.
    own = {"id": call.id} if ids == "call" else {}
    key = "error" if call.failed else "result" if call.custom else "output"
    made: dict[str, Any] = {**own, "name": call.name, "response": {key: call.result}}
    if call.image:
        made["parts"] = [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
    return {"function_response" if snake else "functionResponse": made}


def bedrock(story: Story) -> list[Any]:
    """Return the story as messages of Converse; its system prompt is a field of the request."""
    messages: list[Any] = [{"role": "user", "content": _bedrock_said(story.task, story.task_image)}]
    for place, step in enumerate(story.rounds):
        content: list[Any] = []
        if step.thinking == 1:
            thought = {"text": "It is the lexer.", "signature": f"EqQB{place}{PNG}=="}
            content.append({"reasoningContent": {"reasoningText": thought}})
        if step.thinking == 2:
            content.append({"reasoningContent": {"redactedContent": f"EmwK{place}{PNG}=="}})
        if step.server_tool:
            ran = {"toolUseId": f"server_{place}", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}
            found = {"toolUseId": f"server_{place}", "content": [], "type": "nova_grounding_result"}
            content += [{"toolUse": ran}, {"toolResult": found}]
        texts = [step.text, "And so on."] if step.text and step.split_text else [step.text] if step.text else []
        content += [{"text": text} for text in texts]
        for used in step.calls:
            content.append({"toolUse": {"toolUseId": used.id, "name": used.name, "input": used.arguments}})
        messages.append({"role": "assistant", "content": content})
        back = [_bedrock_result(used) for used in step.calls]
        if step.user:
            back += _bedrock_said(step.user, step.user_image)
        if back and step.split_text:
            back.append({"cachePoint": {"type": "default"}})
        if back:
            messages.append({"role": "user", "content": back})
    return messages


def _bedrock_said(text: str, image: bool) -> list[Any]:
    if image:
        return [{"text": text}, {"image": {"format": "png", "source": {"bytes": PNG}}}]
    return [{"guardContent": {"text": {"text": text}}} if len(text) % 7 == 0 else {"text": text}]


def _bedrock_result(call: Call) -> Any:
    shown: list[Any] = [{"json": {"found": call.result}} if call.custom else {"text": call.result}]
    if call.image:
        shown.append({"image": {"format": "png", "source": {"bytes": PNG}}})
    failed = {"status": "error"} if call.failed else {}
    return {"toolResult": {"toolUseId": call.id, "content": shown, **failed}}


TELLERS = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
}


MESSAGES = {
    "openai-chat": "messages",
    "openai-responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
    "bedrock": "messages",
}
"""The place of the messages in each wire's body."""
REPLY = {
    "openai-chat": ("max_tokens",),
    "openai-responses": ("max_output_tokens",),
    "anthropic": ("max_tokens",),
    "gemini": ("generationConfig", "maxOutputTokens"),
    "bedrock": ("inferenceConfig", "maxTokens"),
}
"""The place in each wire's body that asks for the length of the reply."""


def asking(wire: str, text: str = "hi") -> list[Any]:
    """Return one message of the user on a wire."""
    content: Any = [{"text": text}] if wire in {"gemini", "bedrock"} else text
    return [{"role": "user", "parts" if wire == "gemini" else "content": content}]


def with_reply(wire: str, body: dict[str, Any], tokens: int) -> dict[str, Any]:
    """Return a body that asks for a reply of that length."""
    *holder, key = REPLY[wire]
    return {**body, holder[0]: {**body.get(holder[0], {}), key: tokens}} if holder else {**body, key: tokens}


def requests(wire: str, *, max_rounds: int = 5, huge: bool = True) -> st.SearchStrategy[list[Any]]:
    """Draw valid message lists of a wire."""
    return stories(max_rounds=max_rounds, huge=huge).map(TELLERS[wire])


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────────

json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), words),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
    max_leaves=12,
)
_KEYS = (
    "role", "type", "content", "tool_calls", "tool_call_id", "id", "call_id", "output", "arguments", "function", "name",
    "input", "text", "tool_use_id", "is_error", "signature", "thinking", "data", "function_call", "refusal", "source",
    "encrypted_content", "image_url", "custom", "approval_request_id", "action", "parts", "functionCall", "functionResponse",
    "function_call", "function_response", "args", "response", "thought", "thoughtSignature", "inlineData", "error",
    "toolUse", "toolResult", "toolUseId", "reasoningContent", "cachePoint", "document", "json", "status",
)  # fmt: skip
_WORDS = (
    "user", "assistant", "system", "developer", "tool", "function", "text", "tool_use", "tool_result", "thinking",
    "redacted_thinking", "message", "function_call", "function_call_output", "custom_tool_call", "reasoning",
    "item_reference", "computer_call", "computer_call_output", "local_shell_call", "shell_call", "shell_call_output",
    "mcp_approval_request", "mcp_approval_response", "server_tool_use", "web_search_tool_result", "image_url", "image",
    "input_text", "call1", "call2", "", " ", "{}", "{", "model", "view",
)  # fmt: skip
likely: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.sampled_from(_WORDS), st.integers(-1, 3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(_KEYS), inner, min_size=1, max_size=6)
    ),
    max_leaves=16,
)
"""JSON made of the words of the wires, which reaches further into a codec than other JSON."""


@st.composite
def broken(draw: st.DrawFn, wire: str) -> list[Any]:
    """Draw a valid list with a few of the changes that crashes, trims and careless code make."""
    messages = json.loads(json.dumps(draw(requests(wire, max_rounds=4, huge=False))))
    for _ in range(draw(st.integers(1, 4))):
        if not messages:
            break
        at = draw(st.integers(0, len(messages) - 1))
        match draw(st.integers(0, 9)):
            case 0:
                del messages[at]
            case 1:
                messages.insert(draw(st.integers(0, len(messages))), json.loads(json.dumps(messages[at])))
            case 2:
                messages.insert(draw(st.integers(0, len(messages) - 1)), messages.pop(at))
            case 3:
                messages.insert(at, draw(likely))
            case 4:
                del messages[at:]
            case 5:
                del messages[: at + 1]
            case 6:
                _wound(draw, messages[at])
            case 7:
                _wound(draw, _inner(draw, messages[at]))
            case 8:
                blocks = _inner_list(messages[at])
                if blocks:
                    blocks.insert(draw(st.integers(0, len(blocks))), draw(likely))
            case _:
                blocks = _inner_list(messages[at])
                if blocks:
                    block = blocks.pop(draw(st.integers(0, len(blocks) - 1)))
                    if draw(st.booleans()):
                        blocks.append(block)
    return list(messages)


def _inner_list(message: Any) -> list[Any] | None:
    if not isinstance(message, dict):
        return None
    return next((value for value in message.values() if isinstance(value, list)), None)


def _inner(draw: st.DrawFn, message: Any) -> Any:
    blocks = _inner_list(message)
    return draw(st.sampled_from(blocks)) if blocks else message


def _wound(draw: st.DrawFn, value: Any) -> None:
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.booleans()):
            value[key] = draw(likely)
        else:
            del value[key]
