"""What reaches the model of an agent of the OpenAI Agents SDK? Its history fitted, an overflow recovered, results guarded.

    window = ContextWindow(400_000)
    agent = Agent("a", model="gpt-5.2", tools=[function_tool(read, tool_output_guardrails=[window.guardrail]), *window.tools])
    Runner.run_sync(agent, "…", run_config=RunConfig(model_provider=window))

Hooks: a model provider, whose models fit the items of each request and send fewer after an overflow; a guardrail of tools (and of
MCP servers); `window.tools` are `ctx_page` and `ctx_find`. Sessions and results stay whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.adapters.fitting import Fitting, begun, missing

try:
    from agents import (
        FunctionTool,
        ItemHelpers,
        Model,
        ModelProvider,
        MultiProvider,
        ToolGuardrailFunctionOutput,
        ToolOutputGuardrail,
        function_tool,
    )
except ImportError as error:
    raise missing("openai-agents", error) from error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from penstock.store import Store
    from penstock.transcript.shapes import Json


class ContextWindow(ModelProvider):
    """Keeps every request of its models within `window_tokens`, and every guarded result within a share of them.

    The models are those of `provider`, the SDK's own when left out; `fitted` does the same for a model made by hand.
    """

    def __init__(
        self,
        window_tokens: int,
        *,
        reserve_tokens: int | None = None,
        store: Store | None = None,
        provider: Any = None,
    ) -> None:
        self._fitting: Fitting[Any] = Fitting(
            "openai-responses", _read, window_tokens, reserve_tokens=reserve_tokens, store=store
        )
        self._provider = MultiProvider() if provider is None else provider
        self.tools = [function_tool(function) for function in self._fitting.tools()]
        self.guardrail = ToolOutputGuardrail(guardrail_function=self._guard, name="penstock")

    def get_model(self, model_name: str | None) -> Any:
        """The provider's model behind the fitting."""
        return self.fitted(self._provider.get_model(model_name))

    def fitted(self, model: Any) -> Any:
        """A model behind the fitting."""
        return _FittedModel(model, self._fitting)

    async def aclose(self) -> None:
        """Closes the provider."""
        await self._provider.aclose()

    def _guard(self, data: Any) -> Any:
        whole = _words(data.output)
        (text,) = self._fitting.guard([whole], data.context.tool_name)
        return (
            ToolGuardrailFunctionOutput.allow() if text == whole else ToolGuardrailFunctionOutput.reject_content(text)
        )


class _FittedModel(Model):
    def __init__(self, model: Any, fitting: Fitting[Any]) -> None:
        self._model, self._fitting = model, fitting

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - the name of the base class
        model_settings: Any,
        tools: Any,
        *rest: Any,
        **options: Any,
    ) -> Any:
        async def send(shown: Any, reply_tokens: int | None) -> Any:
            settings = _settings(model_settings, reply_tokens)
            return await self._model.get_response(system_instructions, shown, settings, tools, *rest, **options)

        if _is_kept_there(options):
            return await send(input, None)
        body = self._body(system_instructions, input, model_settings, tools)
        return await self._fitting.acall(send, body["input"], body)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - as above
        model_settings: Any,
        tools: Any,
        *rest: Any,
        **options: Any,
    ) -> AsyncIterator[Any]:
        async def send(shown: Any, reply_tokens: int | None) -> AsyncIterator[Any]:
            settings = _settings(model_settings, reply_tokens)
            events = self._model.stream_response(system_instructions, shown, settings, tools, *rest, **options)
            return await begun(events, _says_nothing)

        if _is_kept_there(options):
            events = await send(input, None)
        else:
            body = self._body(system_instructions, input, model_settings, tools)
            events = await self._fitting.acall(send, body["input"], body)
        async for event in events:
            yield event

    async def close(self) -> None:
        await self._model.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self._model.get_retry_advice(request)

    def _body(self, system_instructions: Any, items: Any, model_settings: Any, tools: Any) -> Json:
        return {
            "model": getattr(self._model, "model", None),
            "input": ItemHelpers.input_to_new_input_list(items),
            "instructions": system_instructions,
            "tools": [
                {"name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
                for tool in tools
                if isinstance(tool, FunctionTool)
            ],
            "max_output_tokens": model_settings.max_tokens,
        }


def _words(output: Any) -> str:
    """What the SDK tells a model of an output in words: the texts of structured ones, `str` of every other."""
    items = output if isinstance(output, list | tuple) else [output]
    held = [item if isinstance(item, dict) else getattr(item, "__dict__", {}) for item in items]
    if held and all(item.get("type") in {"text", "image", "file"} for item in held):
        return "\n".join(item["text"] for item in held if item["type"] == "text")
    return str(output)


def _read(shown: Any, _written: Any, _messages: Any) -> list[Any]:
    return list(shown)  # the SDK's items are the wire's


def _settings(model_settings: Any, reply_tokens: int | None) -> Any:
    return model_settings if reply_tokens is None else replace(model_settings, max_tokens=reply_tokens)


def _is_kept_there(options: dict[str, Any]) -> bool:
    """Whether the provider keeps the conversation: then there is nothing here to fit."""
    return bool(options.get("previous_response_id") or options.get("conversation_id"))


def _says_nothing(event: Any) -> bool:
    return event.type in {"response.created", "response.in_progress"}
