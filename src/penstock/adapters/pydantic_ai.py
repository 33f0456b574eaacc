"""What reaches the model of a Pydantic AI agent? A capability: results guarded, the history fitted, an overflow recovered.

    agent = Agent("openai:gpt-5.2", capabilities=[ContextWindow(400_000)])

Hooks: `after_tool_execute` guards; `get_wrapper_model` wraps the model that serves, fits the history of each request and sends a
smaller one after an overflow; `get_toolset` offers `ctx_page` and `ctx_find`. The run's history stays whole. Leaves to others: what
fits, and how a request is made smaller (`fitting`).
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
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

try:
    from pydantic_ai import messages as said
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models.wrapper import WrapperModel
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as error:
    raise missing("pydantic-ai", error) from error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from penstock.store import Store
    from penstock.text.json_access import Json


class ContextWindow(AbstractCapability[Any]):
    """A capability that keeps every request of an agent within a window, and every result of its tools within a share of it.

    Args:
        window_tokens: how many tokens a request may have, the reply included.
        reserve_tokens: kept for the reply if a request does not say how long that may be.
        store: where removed content goes; the user's default store if omitted.
    """

    def __init__(self, window_tokens: int, *, reserve_tokens: int | None = None, store: Store | None = None) -> None:
        self._fitting = Fitting(
            "anthropic", _read, window_tokens, reserve_tokens=reserve_tokens, store=store, said=_said, watched=_watched
        )

    def get_toolset(self) -> Any:
        """Return the tools that lead back to what was cut or cleared."""
        return FunctionToolset(self._fitting.tools(), id="penstock")

    def get_wrapper_model(self, model: Any) -> Any:
        """Return the agent's model, with each of its requests fitted."""
        return _FittedModel(model, self._fitting)

    async def after_tool_execute(self, _ctx: Any, *, call: Any, result: Any, **_: Any) -> Any:
        """Return a tool's result unchanged if it is within bounds, else as much of its text as fits."""
        if isinstance(result, said.ToolReturn):
            return replace(result, return_value=self._guarded(result.return_value, call.tool_name))
        return self._guarded(result, call.tool_name)

    def _guarded(self, value: Any, tool_name: str) -> Any:
        """Return a value unchanged if its text is within bounds; files that accompany a text that is cut stay."""
        part = said.ToolReturnPart(tool_name=tool_name, content=value, tool_call_id="")
        whole = part.model_response_str()
        (text,) = self._fitting.guard([whole], tool_name)
        return value if text == whole else [text, *part.files] if part.files else text


class _FittedModel(WrapperModel):
    """A model whose requests are fitted; everything else is delegated to the model."""

    def __init__(self, wrapped: Any, fitting: Fitting[Any]) -> None:
        super().__init__(wrapped)
        self._fitting = fitting

    async def request(self, messages: list[Any], model_settings: Any, model_request_parameters: Any) -> Any:
        """Ask the model with as many of the messages as fit."""

        async def send(shown: list[Any], settings: Any) -> Any:
            return await self.wrapped.request(shown, settings, model_request_parameters)

        return await self._carried(send, messages, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self, messages: list[Any], model_settings: Any, model_request_parameters: Any, run_context: Any = None
    ) -> AsyncGenerator[Any]:
        """Ask the model with as many of the messages as fit, and give the stream once it has begun."""
        async with AsyncExitStack() as opened:
            # Every opened stream is closed with the last one, including a refused one: the stack outlives the attempts.
            async def send(shown: list[Any], settings: Any) -> Any:
                stream = self.wrapped.request_stream(shown, settings, model_request_parameters, run_context)
                return await _Begun.of(await opened.enter_async_context(stream))

            yield await self._carried(send, messages, model_settings, model_request_parameters)

    async def _carried(self, send: Any, messages: list[Any], settings: Any, parameters: Any) -> Any:
        """Return the answer of `send` to as many of the messages as fit."""

        def send_shown(shown: list[Any], reply_tokens: int | None) -> Any:
            return send(shown, settings if reply_tokens is None else {**(settings or {}), "max_tokens": reply_tokens})

        # As large as the request that Pydantic AI will send, in Anthropic's form whatever the provider: it is used for planning,
        # never sent. Output tools are offered like any other, and count like them.
        tools = [*parameters.function_tools, *parameters.output_tools]
        body = {
            "model": self.wrapped.model_name,
            "messages": _PARTS.write(messages),
            "system": "\n".join(part.content for part in parameters.instruction_parts or ()),
            "tools": [
                {"name": t.name, "description": t.description, "input_schema": t.parameters_json_schema} for t in tools
            ],
            "output_config": {"format": _form(parameters)},
            "max_tokens": (settings or {}).get("max_tokens"),
        }
        return await self._fitting.acall(send_shown, messages, body)


def _form(parameters: Any) -> Json:
    """Return the form that an answer must have, with the words that explain it to the model; None if it is free or a tool."""
    form = parameters.output_object
    # Until the model chooses how it answers, the same form is offered as a tool as well.
    if form is None or parameters.output_tools:
        return None
    words = [form.description, parameters.prompted_output_template]
    return {"schema": form.json_schema, "description": "\n".join(filter(None, words))}


class _Begun:
    """A stream whose first event has arrived; in every other respect the stream itself, for reading and for setting attributes."""

    _stream: Any
    _events: AsyncIterator[Any]

    def __init__(self, stream: Any, events: AsyncIterator[Any]) -> None:
        self.__dict__.update(_stream=stream, _events=events)

    @classmethod
    async def of(cls, stream: Any) -> _Begun:
        """Return a stream after its first event has arrived, or raise the refusal that came instead."""
        # The first event begins a part of the answer: a refusal comes before it.
        return cls(stream, await begun(aiter(stream), lambda _event: False))

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._events

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._stream, name, value)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _blocks(message: Any) -> tuple[str, list[Json]]:
    """Return the role and the blocks of a message, one or more for each of its parts."""
    role = "user" if isinstance(message, said.ModelRequest) else "assistant"
    return role, [block for part in message.parts for block in _part(part)]


def _part(part: Any) -> list[Json]:
    """Return a part of a message as blocks of the wire."""
    match part:
        case said.UserPromptPart(content=content):
            return [_shown(item) for item in ([content] if isinstance(content, str) else content)]
        case said.ToolReturnPart():
            files = [_shown(file) for file in part.files]
            text = part.model_response_str()
            return [result_block(part.tool_call_id, [text_block(text), *files] if files else text)]
        case said.RetryPromptPart(tool_name=str()):
            return [result_block(part.tool_call_id, part.model_response())]
        case said.ToolCallPart():
            return [call_block(part.tool_call_id, part.tool_name, part.args_as_dict())]
        case said.ThinkingPart():
            return [thinking_block(part.content, part.signature)]
        case _:
            return [_shown(getattr(part, "content", part))]


def _shown(item: Any) -> Json:
    """Return one item of content as a block."""
    match item:
        case said.ImageUrl():
            return IMAGE
        case said.BinaryContent():
            return IMAGE if item.is_image else file_block(item.data)
        case _:
            return text_block(item if isinstance(item, str) else str(item))


def _said(answer: Any) -> Json:
    """Return the model's answer as an answer of the wire, with its usage and why it stopped; None for a stream."""
    if not isinstance(answer, said.ModelResponse):
        return None
    usage = {"input_tokens": answer.usage.input_tokens, "output_tokens": answer.usage.output_tokens}
    return {"content": _blocks(answer)[1], "stop_reason": answer.finish_reason, "usage": usage}


def _watched(stream: Any, ended: Callable[[Json], Any]) -> Any:
    """Return the stream; pass on its accumulated answer when its events have ended."""
    events = stream.__dict__["_events"]

    async def all_of_them() -> AsyncIterator[Any]:
        async for event in events:
            yield event
        ended(_said(stream.get()))

    stream.__dict__["_events"] = all_of_them()
    return stream


def _edited(message: Any, texts: dict[str, str | None]) -> Any:
    """Return a message with other texts as the results of calls, without those that are gone."""
    edited = [_with_text(part, texts) for part in message.parts]
    return replace(message, parts=[part for part in edited if part is not None])


def _with_text(part: Any, texts: dict[str, str | None]) -> Any:
    """Return a part with another text if it is a result among `texts`; None if it is gone."""
    call_id = getattr(part, "tool_call_id", None)
    if call_id not in texts:
        return part
    text = texts[call_id]
    return None if text is None else replace(part, content=text)


def _note(role: str, text: str) -> Any:
    if role == "user":
        return said.ModelRequest(parts=[said.UserPromptPart(content=text)])
    return said.ModelResponse(parts=[said.TextPart(content=text)])


_PARTS: Parts[Any] = Parts(_blocks, _edited, _note)


def _read(shown: Any, written: Any, messages: Any) -> list[Any]:
    """Return the messages that are shown, preceded by every system prompt of those that are not.

    Here a system prompt is a part of the first request rather than a message of its own: if it were left out with that, the model
    would have none.
    """
    found = _PARTS.read(shown, written, messages)
    there = {id(part) for message in found for part in message.parts}
    lost = [p for m in messages for p in m.parts if isinstance(p, said.SystemPromptPart) and id(p) not in there]
    return [said.ModelRequest(parts=lost), *found] if lost else found
