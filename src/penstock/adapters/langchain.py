"""What reaches the model of a LangChain agent? A middleware: results guarded, the history fitted, an overflow recovered.

    agent = create_agent("openai:gpt-5.2", tools, middleware=[ContextWindow(400_000)])

The same works for `deepagents.create_deep_agent`. Hooks: `wrap_tool_call` guards, `wrap_model_call` fits the messages of each
request and sends fewer after an overflow, and `tools` are `ctx_page` and `ctx_find`; sync and async. The graph's state stays whole.
Leaves to others: what fits, and how a request is made smaller (`fitting`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.adapters.fitting import Fitting, missing
from penstock.adapters.parts import IMAGE, Parts, call_block, encoded_file_block, result_block, text_block

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.tools import tool
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.types import Command
except ImportError as error:
    raise missing("langchain", error) from error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from penstock.store import Store
    from penstock.text.json_access import Json


class ContextWindow(AgentMiddleware):
    """A middleware that keeps every request of an agent within a window, and every result of its tools within a share of it.

    Args:
        window_tokens: how many tokens a request may have, the reply included.
        reserve_tokens: kept for the reply if a request does not say how long that may be.
        store: where removed content goes; the user's default store if omitted.
    """

    def __init__(self, window_tokens: int, *, reserve_tokens: int | None = None, store: Store | None = None) -> None:
        super().__init__()
        self._fitting = Fitting(
            "anthropic", _PARTS.read, window_tokens, reserve_tokens=reserve_tokens, store=store, said=_said
        )
        self.tools = [tool(function) for function in self._fitting.tools()]

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Ask the model with as much of the history as fits, again with less after an overflow."""
        body = self._body(request)
        return self._fitting.call(lambda *shown: handler(_with(request, *shown)), request.messages, body)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Ask the model with as much of the history as fits, awaited."""
        body = self._body(request)
        return await self._fitting.acall(lambda *shown: handler(_with(request, *shown)), request.messages, body)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Run a tool, and return its result within bounds."""
        return self._guarded(handler(request), request.tool_call["name"])

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Run a tool, awaited, and return its result within bounds."""
        return self._guarded(await handler(request), request.tool_call["name"])

    def _guarded(self, result: Any, tool_name: str) -> Any:
        """Return a result with its texts within bounds: a message, or the messages among the updates of a command."""
        if isinstance(result, Command):
            update = result.update
            if not isinstance(update, dict) or not isinstance(update.get("messages"), list):
                return result
            messages = [self._guarded(message, tool_name) for message in update["messages"]]
            return replace(result, update={**update, "messages": messages})
        if not isinstance(result, ToolMessage):
            return result
        content: Any = result.content
        blocks = [content] if isinstance(content, str) else content
        guarded = iter(self._fitting.guard(filter(None, map(_text, blocks)), tool_name))
        shown = [_with_text(block, next(guarded)) if _text(block) else block for block in blocks]
        return result.model_copy(update={"content": shown[0] if isinstance(content, str) else shown})

    def _body(self, request: Any) -> Json:
        """Return a request of the wire that is as large as LangChain's: only for planning, it is never sent."""
        model, settings = request.model, request.model_settings
        return {
            "model": getattr(model, "model_name", None) or getattr(model, "model", None),
            "messages": _PARTS.write(request.messages),
            "system": request.system_prompt,
            "tools": [one if isinstance(one, dict) else convert_to_openai_tool(one) for one in request.tools],
            "output_config": {"format": _form(request.response_format)},
            "max_tokens": settings.get("max_tokens") or getattr(model, "max_tokens", None),
        }


def _form(response_format: Any) -> Json:
    """Return the forms that an answer may have; None if it is free."""
    if response_format is None:
        return None
    if isinstance(response_format, ProviderStrategy):
        specs = [response_format.schema_spec]
    else:
        # Whether an `AutoStrategy` becomes tools or goes to the provider is LangChain's decision; the schemas are the same.
        schema = response_format.schema if isinstance(response_format, AutoStrategy) else response_format
        specs = (schema if isinstance(schema, ToolStrategy) else ToolStrategy(schema)).schema_specs
    return {"schemas": [[one.name, one.description, one.json_schema] for one in specs]}


def _with(request: Any, messages: list[Any], reply_tokens: int | None) -> Any:
    """Return LangChain's request with other messages, and with another reply length if one is given."""
    if reply_tokens is None:
        return request.override(messages=messages)
    return request.override(messages=messages, model_settings={**request.model_settings, "max_tokens": reply_tokens})


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────

_ROLES = {"ai": "assistant", "system": "system"}
# Blocks of calls, which are also in `tool_calls` or `invalid_tool_calls`.
_CALLS = {"tool_use", "tool_call", "tool_call_chunk", "invalid_tool_call", "function_call", "custom_tool_call"}
# The result of a custom tool of OpenAI's responses API. It has to stay one, or it would answer a call of a function.
_CUSTOM = "custom_tool_call_output"


def _blocks(message: Any) -> tuple[str, list[Json]]:
    """Return the role and the blocks of a message; calls are taken from `tool_calls`, which every integration fills."""
    content = [message.content] if isinstance(message.content, str) else [_own(block) for block in message.content]
    blocks = [_block(block) for block in content if not isinstance(block, dict) or block.get("type") not in _CALLS]
    if isinstance(message, ToolMessage):
        blocks = [result_block(message.tool_call_id, blocks)]
    elif isinstance(message, AIMessage):
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        # In some integrations the content of a message that only calls is an empty text.
        blocks = [block for block in blocks if block.get("text") != ""]
        blocks += [call_block(call["id"] or "", call["name"] or "", call["args"]) for call in calls]
    return _ROLES.get(message.type, "user"), blocks


def _own(block: Any) -> Any:
    """Return the provider's own block in LangChain's frame for what has no standard type; any other block as it is."""
    return block["value"] if _is_framed(block) else block


def _is_framed(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "non_standard" and isinstance(block.get("value"), dict)


def _block(block: Any) -> Json:
    """Return a block of content as one of the wire."""
    if not isinstance(block, dict):
        return text_block(str(block))
    if block.get("type") == _CUSTOM:
        return text_block(_text(block))
    if block.get("type") in {"image", "image_url"}:
        return IMAGE
    # A file, a sound or a film; without data it is only a reference, which counts as its text.
    return encoded_file_block(block["base64"]) if isinstance(block.get("base64"), str) else block


def _text(block: Any) -> str:
    """Return the text of a block of content; empty if it has none."""
    block = _own(block)
    text = block.get(_text_key(block)) if isinstance(block, dict) else block
    return text if isinstance(text, str) else ""


def _with_text(block: Any, text: str) -> Any:
    """Return a block of content with another text."""
    if _is_framed(block):
        return {**block, "value": _with_text(block["value"], text)}
    return {**block, _text_key(block): text} if isinstance(block, dict) else text


def _text_key(block: dict[str, Any]) -> str:
    """Return the key under which a block of content has its text."""
    return "output" if block.get("type") == _CUSTOM else "text"


def _said(response: Any) -> Json:
    """Return the model's answer as an answer of the wire, with its usage and why it stopped."""
    message = next((one for one in getattr(response, "result", [response]) if isinstance(one, AIMessage)), None)
    if message is None:
        return None
    about = message.response_metadata
    incomplete = about.get("incomplete_details") or {}  # of OpenAI's responses API, which names no other reason
    reason = (
        about.get("finish_reason") or about.get("stop_reason") or about.get("stopReason") or incomplete.get("reason")
    )
    return {"content": _blocks(message)[1], "stop_reason": reason, "usage": dict(message.usage_metadata or {})}


def _edited(message: Any, texts: dict[str, str | None]) -> Any:
    """Return a tool's message with another text as its content."""
    text = texts[message.tool_call_id]
    is_custom = any(isinstance(block, dict) and _own(block).get("type") == _CUSTOM for block in message.content)
    return message.model_copy(update={"content": [{"type": _CUSTOM, "output": text}] if is_custom else text})


def _note(role: str, text: str) -> Any:
    return HumanMessage(text) if role == "user" else AIMessage(text)


_PARTS: Parts[Any] = Parts(_blocks, _edited, _note)
