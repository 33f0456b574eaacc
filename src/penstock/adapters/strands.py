"""What reaches the model of a Strands agent? A plugin: results guarded, the history fitted, an overflow recovered.

    agent = Agent(model, tools, plugins=[ContextWindow(200_000)], conversation_manager=NullConversationManager())

Hooks: `AfterToolCallEvent` guards, the middleware of `InvokeModelStage` fits the messages of each request and sends fewer after an
overflow, and the plugin's `tools` are `ctx_page` and `ctx_find`. The agent's messages stay whole, which is why no other manager may
handle them. Leaves to others: what fits, and how a request is made smaller (`fitting`).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from penstock.adapters.fitting import Fitting, begun, missing
from penstock.adapters.parts import (
    IMAGE,
    Parts,
    call_block,
    file_block,
    result_block,
    text_block,
    thinking_block,
)
from penstock.errors import Refusal
from penstock.overflow import parse
from penstock.text.json_access import field, whole_number
from penstock.wires import wire_named
from penstock.wires.failures import Unreadable

try:
    from strands import tool
    from strands.hooks import AfterToolCallEvent
    from strands.middleware import InvokeModelStage
    from strands.plugins import Plugin
except ImportError as error:
    raise missing("strands-agents", error) from error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from penstock.store import Store
    from penstock.text.json_access import Json


class ContextWindow(Plugin):
    """A plugin that keeps every request of an agent within a window, and every result of its tools within a share of it.

    Args:
        window_tokens: how many tokens a request may have, the reply included.
        reserve_tokens: kept for the reply if a request does not say how long that may be.
        store: where removed content goes; the user's default store if omitted.
    """

    name = "penstock"

    def __init__(self, window_tokens: int, *, reserve_tokens: int | None = None, store: Store | None = None) -> None:
        super().__init__()
        self._fitting = Fitting(
            "anthropic", _PARTS.read, window_tokens, reserve_tokens=reserve_tokens, store=store, watched=_watched
        )

    @property
    def tools(self) -> list[Any]:
        """Return the tools that lead back to what was cut or cleared."""
        return [tool(function) for function in self._fitting.tools()]

    def init_agent(self, agent: Any) -> None:
        """Install both hooks."""
        agent.add_hook(self._guard, AfterToolCallEvent)
        agent.add_middleware(InvokeModelStage, self._invoke)

    def _guard(self, event: Any) -> None:
        """Replace a result's texts with as much of each as fits."""
        # All texts of a result share what it may take; images and documents between them keep their positions.
        content = event.result["content"]
        guarded = iter(self._fitting.guard([b["text"] for b in content if "text" in b], event.tool_use["name"]))
        event.result = {
            **event.result,
            "content": [{**block, "text": next(guarded)} if "text" in block else block for block in content],
        }

    async def _invoke(self, context: Any, next_fn: Callable[[Any], AsyncIterator[Any]]) -> AsyncGenerator[Any, None]:
        """Ask the model with as many of the messages as fit, and yield the events of its answer."""

        # The reply length is the model's own setting here, not the request's.
        async def send(shown: list[Any], _reply_tokens: int | None) -> AsyncIterator[Any]:
            try:
                return await begun(next_fn(context.replace(messages=shown)), _says_nothing)
            except Exception as refused:
                raise _of_the_input(refused) from refused

        async for event in await self._fitting.acall(send, context.messages, self._body(context)):
            yield event

    def _body(self, context: Any) -> Json:
        """Return a request of the wire that is as large as the agent's: only for planning, it is never sent."""
        config = context.model.get_config()
        system = context.system_prompt
        return {
            "model": config.get("model_id"),
            "messages": _PARTS.write(context.messages),
            "system": system if isinstance(system, str) else "\n".join(b.get("text", "") for b in system or ()),
            "tools": context.tool_specs,
            "max_tokens": config.get("max_tokens") or (config.get("params") or {}).get("max_tokens"),
        }


async def _watched(events: AsyncIterator[Any], ended: Callable[[Json], Any]) -> AsyncIterator[Any]:
    """Yield the events of a stream, in Bedrock's form whatever the provider; pass on the answer that they add up to."""
    reader = wire_named("bedrock").answers.stream()
    async for event in events:
        with suppress(Unreadable, AttributeError):
            reader.feed(event.get("event") or {})
        yield event
    body = reader.body()
    message, usage = body.get("output", {}).get("message", {}), body.get("usage") or {}
    counted = {"input_tokens": _input_tokens(usage), "output_tokens": usage.get("outputTokens")}
    content = [_block(block) for block in message.get("content") or ()]
    ended({"content": content, "stop_reason": body.get("stopReason"), "usage": counted})


def _input_tokens(usage: Json) -> int | None:
    """Return all tokens of the input, cached ones included; None if they are not reported.

    Bedrock and Anthropic count only uncached ones as `inputTokens`, OpenAI and Gemini all of them. The total includes all for each.
    """
    given, made, total = (whole_number(field(usage, f"{name}Tokens")) for name in ("input", "output", "total"))
    return given if given is None or made is None or total is None else max(given, total - made)


def _says_nothing(event: Any) -> bool:
    """Return whether an event is the head of a message, before which a refusal comes."""
    return "messageStart" in (event.get("event") or ())


def _of_the_input(refused: Exception) -> Exception:
    """Return a refusal as one of the input alone, if it counts input and reply together.

    The reply length is the model's own setting here and cannot be lowered: what was refused is an input that exceeds the room left
    by the reply. Stated so, in words that `penstock.overflow` parses, the input is made smaller. Any other error is returned
    unchanged.
    """
    found = parse(refused)
    if found is None or found.limit is None or not found.output or found.output >= found.limit:
        return refused
    taken = found.input if found.input is not None else found.limit - found.output + (found.excess or 1)
    return Refusal(f"prompt is too long: {taken} tokens > {found.limit - found.output} maximum")


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _blocks(message: Any) -> tuple[str, list[Json]]:
    return message["role"], [_block(block) for block in message["content"]]


def _block(block: Any) -> Json:
    """Return a block in Bedrock's form as one of the wire."""
    match block:
        case {"text": text}:
            return text_block(text)
        case {"toolUse": call}:
            return call_block(call["toolUseId"], call["name"], call["input"])
        case {"toolResult": result}:
            return result_block(result["toolUseId"], [_block(inner) for inner in result["content"]])
        case {"reasoningContent": {"reasoningText": thought}}:
            return thinking_block(thought["text"], thought.get("signature"))
        # Encrypted by the provider: its content counts nothing here, but the fact that it is signed decides what may be cut.
        case {"reasoningContent": _}:
            return {"type": "redacted_thinking", "data": "encrypted"}
        case {"image": _}:
            return IMAGE
        case {"document": {"source": {"bytes": data}}} | {"audio": {"source": {"bytes": data}}}:
            return file_block(data)
        case _:
            return {"type": "other", **block}


def _edited(message: Any, texts: dict[str, str | None]) -> Any:
    """Return a message with other texts as the results of calls, without those that are gone."""
    edited = [_with_text(block, texts) for block in message["content"]]
    return {**message, "content": [block for block in edited if block is not None]}


def _with_text(block: Any, texts: dict[str, str | None]) -> Any:
    """Return a block with another text if it is a result among `texts`; None if it is gone."""
    call_id = block.get("toolResult", {}).get("toolUseId")
    if call_id not in texts:
        return block
    text = texts[call_id]
    return None if text is None else {"toolResult": {**block["toolResult"], "content": [{"text": text}]}}


def _note(role: str, text: str) -> Any:
    return {"role": role, "content": [{"text": text}]}


_PARTS: Parts[Any] = Parts(_blocks, _edited, _note)
