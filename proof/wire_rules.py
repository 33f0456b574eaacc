"""Would the provider accept this message list? Five judges, after the providers' own pages, that share no code with the product.

`judge` returns the sentence of the first broken rule, or an empty text. If a page leaves something open and the API refuses it, the
refusal's sentence is the source. Rules that depend on a model or on parameters outside the list (whether thinking is enabled, which
model verifies a signature) are not judged.

openai-chat       https://platform.openai.com/docs/api-reference/chat/create (messages),
                  https://platform.openai.com/docs/guides/function-calling
openai-responses  https://platform.openai.com/docs/api-reference/responses/create (input),
                  https://platform.openai.com/docs/guides/reasoning
anthropic         https://docs.anthropic.com/en/api/messages,
https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking,
                  https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use (formatting requirements)
gemini            https://ai.google.dev/api/caching#Content, https://ai.google.dev/gemini-api/docs/function-calling,
                  https://ai.google.dev/gemini-api/docs/thought-signatures
bedrock           https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html, …/API_runtime_ContentBlock.html,
                  …/API_runtime_ToolUseBlock.html, https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use.html
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Refused(Exception):
    """The rule that a list breaks."""


def refuse(broken: object, sentence: str) -> None:
    """Raise with a rule's sentence if the rule is broken."""
    if broken:
        raise Refused(sentence)


def blank(value: object) -> bool:
    """Whether a value is not a text with visible content."""
    return not isinstance(value, str) or not value.strip()


def named(value: object) -> bool:
    """Whether a value is a non-empty text."""
    return isinstance(value, str) and value != ""


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def judge(messages: Any, wire: str) -> str:
    """Return the sentence of a rule that a message list of a wire breaks; empty if its provider accepts it."""
    try:
        refuse(not isinstance(messages, list) or not messages, "messages: a list with at least one item")
        JUDGES[wire](messages)
    except Refused as found:
        return str(found)
    return ""


# ── OpenAI, chat completions ─────────────────────────────────────────────────────────────────────────────────────────

# Reference: which parts a message of a role may hold ("Supported values are: 'text' and 'refusal'").
_CHAT_PARTS = {
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "system": {"text"},
    "developer": {"text"},
    "tool": {"text", "image_url"},  # OpenAI accepts only text, other servers of this wire pictures too
}


def _chat(messages: list[Any]) -> None:
    waiting: set[str] = set()
    for message in messages:
        refuse(not isinstance(message, dict), "a message is an object")
        role, content = message.get("role"), message.get("content")
        refuse(role not in _CHAT_PARTS, "role is one of user, assistant, system, developer, tool")
        calls = message.get("tool_calls")
        if role == "tool":
            # "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
            refuse(message.get("tool_call_id") not in waiting, "a tool message answers a call just before it, once")
            waiting.discard(message["tool_call_id"])
        else:
            # "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
            refuse(waiting, "every call is answered before anything else is said")
        _chat_content(
            role, content, has_more=any(message.get(k) for k in ("tool_calls", "function_call", "refusal", "audio"))
        )
        if calls is not None:
            refuse(role != "assistant", "tool_calls are the assistant's")
            refuse(not isinstance(calls, list) or not calls, "tool_calls: [] is too short")
            for call in calls:
                is_call = isinstance(call, dict) and named(call.get("type")) and named(call.get("id"))
                refuse(
                    not is_call or not isinstance(call.get(call["type"]), dict), "a call has id, type and its object"
                )
                inner: dict[str, Any] = call[call["type"]]
                refuse(not named(inner.get("name")), "a call has a name")
                refuse(not isinstance(inner.get("arguments", inner.get("input")), str), "arguments are a string")
                # "The arguments to call the function with … in JSON format": vLLM, Mistral and others refuse the rest
                refuse("arguments" in inner and not is_json(inner["arguments"]), "arguments are JSON")
                refuse(call["id"] in waiting, "ids of one message's calls differ")
                waiting.add(call["id"])
    refuse(waiting, "every call is answered")


def _chat_content(role: str, content: Any, *, has_more: bool) -> None:
    if content is None:
        refuse(not (role == "assistant" and has_more), "content is required unless the assistant calls")
        return
    refuse(not isinstance(content, str | list), "content is a string or a list of parts")
    if role == "assistant" and not has_more:
        says = (
            content if isinstance(content, str) else [part for part in content if part != {"type": "text", "text": ""}]
        )
        refuse(not says, "an assistant's message says or calls something")
    if isinstance(content, list):
        refuse(not content and role != "assistant", "content: [] is too short")
        for part in content:
            refuse(
                not isinstance(part, dict) or part.get("type") not in _CHAT_PARTS[role],
                f"a part that {role} may not have",
            )
            refuse(part["type"] == "text" and not isinstance(part.get("text"), str), "a part of text has text")


# ── OpenAI, responses ────────────────────────────────────────────────────────────────────────────────────────────────

_ITEM_PARTS = {
    "user": {"input_text", "input_image", "input_file", "input_audio"},
    "system": {"input_text", "input_image", "input_file"},
    "developer": {"input_text", "input_image", "input_file"},
    "assistant": {"output_text", "refusal"},
}
_ANSWERS = {"function_call_output": "function_call", "custom_tool_call_output": "custom_tool_call"}


def _responses(items: list[Any]) -> None:
    asked: dict[tuple[str, str], bool] = {}
    thought = False  # reasoning that waits for its item
    for item in items:
        refuse(not isinstance(item, dict), "an item is an object")
        kind = item.get("type", "message" if "role" in item else None)
        if kind == "message":
            role, content = item.get("role"), item.get("content")
            refuse(role not in _ITEM_PARTS, "role is one of user, system, developer, assistant")
            refuse(not isinstance(content, str | list), "content is a string or a list of parts")
            for part in content if isinstance(content, list) else ():
                refuse(
                    not isinstance(part, dict) or part.get("type") not in _ITEM_PARTS[role],
                    f"a part that {role} may not have",
                )
                refuse(
                    part["type"].endswith("_text") and not isinstance(part.get("text"), str), "a part of text has text"
                )
            refuse(thought and role != "assistant", "reasoning was provided without its required following item")
            thought = False
        elif kind in _ANSWERS.values():
            refuse(not named(item.get("call_id")) or not named(item.get("name")), "a call has call_id and name")
            refuse(not isinstance(item.get("arguments", item.get("input")), str), "arguments are a string")
            refuse("arguments" in item and not is_json(item["arguments"]), "arguments are a JSON string")
            refuse((kind, item["call_id"]) in asked, "ids of calls differ")
            asked[kind, item["call_id"]] = False
            thought = False
        elif kind in _ANSWERS:
            # "No tool call found for function call output with call_id …"
            refuse(
                asked.get((_ANSWERS[kind], str(item.get("call_id")))) is not False,
                "an output answers a call before it, once",
            )
            asked[_ANSWERS[kind], item["call_id"]] = True
            output = item.get("output")
            refuse(not isinstance(output, str | list), "an output is a string or a list of parts")
            for part in output if isinstance(output, list) else ():
                refuse(not isinstance(part, dict) or part.get("type") not in _ITEM_PARTS["user"], "parts of an output")
            refuse(thought, "reasoning was provided without its required following item")
        elif kind == "reasoning":
            thought = True
        else:
            refuse(True, "an item has a type that there is")
    refuse(thought, "reasoning was provided without its required following item")
    # "No tool output found for function call …"
    refuse(not all(asked.values()), "every call is answered")


# ── Anthropic ────────────────────────────────────────────────────────────────────────────────────────────────────────

_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")  # "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
_THOUGHTS = {"thinking": "signature", "redacted_thinking": "data"}


def _anthropic(messages: list[Any]) -> None:
    waiting: set[str] = set()  # calls of the assistant's previous turn
    ever: set[str] = set()
    before = last = ""  # whose turn it is; the role of the message before
    for at, message in enumerate(messages):
        refuse(not isinstance(message, dict), "a message is an object")
        role = message.get("role")
        refuse(role not in {"user", "assistant", "system"}, "role is user or assistant")
        refuse(at == 0 and role != "user", "the first message is the user's")
        # The API merges consecutive messages of one role; its first versions and other servers of this wire refuse them.
        refuse(role == last != "system", "roles alternate between user and assistant")
        refuse(role == "system" and before not in {"user", "system"}, "a system message follows the user's")
        content = _blocks(message.get("content"))
        for block in content:
            _anthropic_block(role, block)
        kinds = [block["type"] for block in content]
        answered = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        if before == "assistant" and role == "user":
            # "`tool_use` ids were found without `tool_result` blocks immediately after"; results come first in the content
            refuse(set(answered) != waiting, "the message behind calls answers each of them and no other")
            refuse("tool_result" in kinds[len(answered) :], "tool results come first")
            waiting = set()
        else:
            refuse(answered, "a tool_result without its tool_use in the message before")
        refuse(len(answered) != len(set(answered)), "each tool_use has a single result")
        if role == "assistant":
            refuse(waiting, "calls are answered before the assistant goes on")
            for call in (block["id"] for block in content if block["type"] == "tool_use"):
                refuse(call in ever, "tool_use ids are unique")
                ever.add(call)
                waiting.add(call)
            # "The final block in an assistant message cannot be `thinking`."
            refuse(kinds[-1:] and kinds[-1] in _THOUGHTS, "the final block of an assistant is not thinking")
        before, last = role if role != "system" else before, role
        if at == len(messages) - 1 and role == "assistant" and kinds[-1] == "text":
            refuse(
                content[-1]["text"] != content[-1]["text"].rstrip(),
                "final assistant content has no trailing whitespace",
            )
    refuse(waiting, "every call is answered")


def _blocks(content: Any) -> list[Any]:
    refuse(not isinstance(content, str | list) or not content, "all messages must have non-empty content")
    found = [{"type": "text", "text": content}] if isinstance(content, str) else content
    refuse(not all(isinstance(block, dict) and named(block.get("type")) for block in found), "a block has a type")
    return list(found)


def _anthropic_block(role: str, block: dict[str, Any]) -> None:
    kind = block["type"]
    refuse(kind == "text" and blank(block.get("text")), "text content blocks must contain non-whitespace text")
    refuse(kind == "tool_result" and role != "user", "tool_result blocks can only be in user messages")
    refuse(kind in {"tool_use", *_THOUGHTS} and role != "assistant", f"{kind} blocks can only be in assistant messages")
    refuse(kind in _THOUGHTS and not named(block.get(_THOUGHTS.get(kind, ""))), "thinking has its signature")
    if kind == "tool_use":
        refuse(not named(block.get("id")) or not named(block.get("name")), "a tool_use has id and name")
        refuse(not _ANTHROPIC_ID.fullmatch(block["id"]), "a tool_use id matches ^[a-zA-Z0-9_-]+$")
        refuse(not isinstance(block.get("input"), dict), "the input of a tool_use is an object")
    if kind == "tool_result":
        refuse(not named(block.get("tool_use_id")), "a tool_result has tool_use_id")
        inner = block.get("content")
        refuse(inner is not None and not isinstance(inner, str | list), "a result's content is a string or blocks")
        for part in inner if isinstance(inner, list) else ():
            refuse(not isinstance(part, dict) or not named(part.get("type")), "a block of a result has a type")
            refuse(part["type"] == "text" and blank(part.get("text")), "text content blocks must be non-empty")


# ── Gemini ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_GEMINI_DATA = (
    "text",
    "inlineData",
    "functionCall",
    "functionResponse",
    "fileData",
    "executableCode",
    "codeExecutionResult",
)


def _gemini(contents: list[Any]) -> None:
    waiting: list[dict[str, Any]] = []
    before = ""
    for content in contents:
        refuse(not isinstance(content, dict), "a content is an object")
        role = content.get("role") or "user"  # "must be either 'user' or 'model' … or left blank or unset"
        refuse(role not in {"user", "model", "function"}, "Please use a valid role: user, model.")
        parts = content.get("parts")
        refuse(not isinstance(parts, list) or not parts, "contents.parts must not be empty")
        for part in parts:
            _gemini_part(role, part)
        calls = [part["functionCall"] for part in parts if "functionCall" in part]
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if waiting:
            # "the number of function response parts is equal to the number of function call parts of the function call turn"
            refuse(len(answers) != len(waiting), "as many responses as calls, in the turn behind them")
            # Ids are optional, on either side; a result with an id names its call, and is matched before those without.
            rest = [call for call in waiting if not _taken(answers, call, "id", "name")]
            free = [one for one in answers if not one.get("id")]
            answers = [one for one in answers if one.get("id")]
            rest = [call for call in rest if call.get("id") or not _taken(answers, call, "name")]
            rest = [call for call in rest if not _taken(free, call, "name")]
            refuse(rest, "a response has the name and the id of its call")
            answers = []
        refuse(answers, "function responses come immediately after a function call turn")
        # "function call turn comes immediately after a user turn or after a function response turn"
        refuse(calls and before not in {"user", "function"}, "a call follows something of the user's")
        waiting, before = calls, role
    refuse(waiting, "every call is answered")


def _taken(answers: list[Any], call: Any, *keys: str) -> bool:
    """Remove the first answer that has the same values as a call under the keys that both fill; return whether there is one."""
    found = next((one for one in answers if all(call.get(key) and one.get(key) == call[key] for key in keys)), None)
    if found is not None:
        answers.remove(found)
    return found is not None


def _gemini_part(role: str, part: Any) -> None:
    refuse(not isinstance(part, dict), "a part is an object")
    data = [key for key in _GEMINI_DATA if part.get(key) is not None]
    signed = named(part.get("thoughtSignature"))
    # "required oneof field 'data' must have one initialized field"; a signature may come in a part of its own
    refuse(len(data) > 1 or (not data and not signed), "a part has one field of data")
    refuse("text" in data and not isinstance(part["text"], str), "text is a string")
    refuse(data == ["text"] and part["text"] == "" and not signed, "a text that is empty is no data")
    refuse("functionCall" in data and role != "model", "calls are the model's")
    refuse("functionResponse" in data and role == "model", "responses are the user's")
    for key, value in (("functionCall", "args"), ("functionResponse", "response")):
        if key in data:
            held = part[key]
            refuse(not isinstance(held, dict) or not named(held.get("name")), f"a {key} has a name")
            is_unset = value == "args" and held.get(value) is None  # null counts as an unset field
            refuse(not is_unset and not isinstance(held.get(value), dict), f"{value} is an object")


# ── Bedrock ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_BEDROCK_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # ToolUseBlock, ToolResultBlock: toolUseId
_UNION = {
    "text",
    "image",
    "document",
    "video",
    "toolUse",
    "toolResult",
    "guardContent",
    "cachePoint",
    "reasoningContent",
}


def _bedrock(messages: list[Any]) -> None:
    waiting: set[str] = set()
    ever: set[str] = set()
    before = ""
    for message in messages:
        refuse(not isinstance(message, dict), "a message is an object")
        role, content = message.get("role"), message.get("content")
        # Only newer models accept a system message after the user's; whether this one does is not judged.
        refuse(
            role not in {"user", "assistant"} and (role != "system" or before not in {"user", "system"}),
            "role is user or assistant",
        )
        refuse(not before and role != "user", "A conversation must start with a user message.")
        refuse(role == before != "system", "A conversation must alternate between user and assistant roles.")
        refuse(not isinstance(content, list) or not content, "content has at least one block")
        for block in content:
            _bedrock_block(role, block)
        answered = [block["toolResult"]["toolUseId"] for block in content if "toolResult" in block]
        # "Expected toolResult blocks at messages.2.content for the following Ids: …"
        refuse(
            set(answered) != waiting or len(answered) != len(waiting),
            "the message behind calls answers each of them once",
        )
        refuse(any("toolResult" in block for block in content[len(answered) :]), "toolResult blocks come first")
        waiting = {block["toolUse"]["toolUseId"] for block in content if "toolUse" in block}
        refuse(waiting & ever, "toolUseIds are unique")
        refuse(len(waiting) != sum("toolUse" in block for block in content), "toolUseIds of one message differ")
        ever |= waiting
        refuse(
            role == "assistant" and "reasoningContent" in content[-1],
            "the final block of an assistant is not reasoning",
        )
        before = role
    refuse(waiting, "every call is answered")


def _bedrock_block(role: str, block: Any) -> None:
    refuse(
        not isinstance(block, dict) or len(block) != 1 or not block.keys() <= _UNION,
        "a ContentBlock is a union: one member",
    )
    kind, held = next(iter(block.items()))
    refuse(kind == "text" and blank(held), "The text field in the ContentBlock object is blank.")
    refuse(kind in {"toolUse", "reasoningContent"} and role != "assistant", f"{kind} is the assistant's")
    refuse(kind == "toolResult" and role != "user", "toolResult is the user's")
    if kind in {"toolUse", "toolResult"}:
        refuse(not isinstance(held, dict) or not isinstance(held.get("toolUseId"), str), f"{kind} has toolUseId")
        refuse(not _BEDROCK_ID.fullmatch(held["toolUseId"]), "toolUseId: [a-zA-Z0-9_-]+, 1 to 64 characters")
    if kind == "toolUse":
        refuse(
            not named(held.get("name")) or not isinstance(held.get("input"), dict),
            "toolUse has name and an object as input",
        )
    if kind == "toolResult":
        inner = held.get("content")
        refuse(not isinstance(inner, list), "the content of a toolResult is a list")
        refuse(
            not all(isinstance(part, dict) and len(part) == 1 for part in inner), "a ToolResultContentBlock is a union"
        )


JUDGES: dict[str, Callable[[list[Any]], None]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
}
"""The judge of each wire; each raises `Refused`."""
