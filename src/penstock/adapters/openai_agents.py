"""What reaches the model of an agent of the OpenAI Agents SDK? Its history fitted, an overflow recovered, results guarded.

    window = ContextWindow(400_000)
    agent = Agent("a", model="gpt-5.2", tools=[function_tool(read, tool_output_guardrails=[window.guardrail]), *window.tools])
    Runner.run_sync(agent, "…", run_config=RunConfig(model_provider=window))

Hooks: a model provider, whose models fit the items of each request and send fewer after an overflow; a guardrail for tools (and for
MCP servers); `window.tools` are `ctx_page` and `ctx_find`. Sessions and results stay whole. Leaves to others: what fits, and how a
request is made smaller (`fitting`).
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
    from collections.abc import AsyncIterator, Callable

    from penstock.store import Store
    from penstock.text.json_access import Json


class ContextWindow(ModelProvider):
    """A model provider that keeps every request within a window, with a guardrail that keeps results within a share of it.

    `tools` are the way back to what was cut or cleared; `guardrail` belongs on every tool whose result may be large.

    Args:
        window_tokens: how many tokens a request may have, the reply included.
        reserve_tokens: kept for the reply if a request does not say how long that may be.
        store: where removed content goes; the user's default store if omitted.
        provider: the provider whose models are fitted; the SDK's own if omitted. `fitted` does the same for a model made by hand.
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
            "openai-responses",
            _read,
            window_tokens,
            reserve_tokens=reserve_tokens,
            store=store,
            said=_said,
            watched=_watched,
        )
        self._provider = MultiProvider() if provider is None else provider
        self.tools = [function_tool(function) for function in self._fitting.tools()]
        self.guardrail = ToolOutputGuardrail(guardrail_function=self._guard, name="penstock")

    def get_model(self, model_name: str | None) -> Any:
        """Return the provider's model of that name, with each of its requests fitted."""
        return self.fitted(self._provider.get_model(model_name))

    def fitted(self, model: Any) -> Any:
        """Return a model with each of its requests fitted."""
        return _FittedModel(model, self._fitting)

    async def aclose(self) -> None:
        """Close the provider whose models are fitted."""
        await self._provider.aclose()

    def _guard(self, data: Any) -> Any:
        """Let a result within bounds pass, else replace it with as much of its text as fits."""
        # As the model would see it: the SDK makes text of any object that a tool returns.
        output = ItemHelpers.tool_call_output_item(data.context.tool_call, data.output)["output"]
        words = [output] if isinstance(output, str) else [item["text"] for item in output if "text" in item]
        guarded = self._fitting.guard(words, data.context.tool_name)
        # A guardrail either lets a result pass or replaces it with a text: parts that are not text are lost from a result that is
        # cut.
        if guarded == words:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content("\n".join(guarded))


class _FittedModel(Model):
    """A model of the SDK whose requests are fitted; everything else is delegated to the model."""

    def __init__(self, model: Any, fitting: Fitting[Any]) -> None:
        self._model, self._fitting = model, fitting

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - the name in the base class
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        *rest: Any,
        **options: Any,
    ) -> Any:
        """Ask the model with as many of the items as fit."""

        async def send(shown: Any, settings: Any) -> Any:
            asked = (system_instructions, shown, settings, tools, output_schema, handoffs, *rest)
            return await self._model.get_response(*asked, **options)

        beside = {"instructions": system_instructions, "tools": _definitions(tools, handoffs), **_form(output_schema)}
        return await self._carried(send, input, model_settings, beside, options)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 - as above
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        *rest: Any,
        **options: Any,
    ) -> AsyncIterator[Any]:
        """Ask the model with as many of the items as fit, and yield the events of its answer."""

        async def send(shown: Any, settings: Any) -> AsyncIterator[Any]:
            asked = (system_instructions, shown, settings, tools, output_schema, handoffs, *rest)
            return await begun(self._model.stream_response(*asked, **options), _says_nothing)

        beside = {"instructions": system_instructions, "tools": _definitions(tools, handoffs), **_form(output_schema)}
        async for event in await self._carried(send, input, model_settings, beside, options):
            yield event

    async def close(self) -> None:
        await self._model.close()

    def get_retry_advice(self, request: Any) -> Any:
        """Return the model's own advice."""
        return self._model.get_retry_advice(request)

    async def _carried(self, send: Any, items: Any, settings: Any, beside: Json, options: dict[str, Any]) -> Any:
        """Return the answer of `send` to as many of the items as fit, written as a request of the responses API."""
        # The provider keeps the conversation: there is nothing to fit here.
        if options.get("previous_response_id") or options.get("conversation_id"):
            return await send(items, settings)

        def send_shown(shown: Any, reply_tokens: int | None) -> Any:
            return send(shown, settings if reply_tokens is None else replace(settings, max_tokens=reply_tokens))

        body = {
            "model": getattr(self._model, "model", None),
            "input": ItemHelpers.input_to_new_input_list(items),
            "max_output_tokens": settings.max_tokens,
            **beside,
        }
        return await self._fitting.acall(send_shown, body["input"], body)


def _definitions(tools: Any, handoffs: Any) -> list[Json]:
    """Return what a model is offered as the tools of a request; a handoff to another agent is one."""
    # Tools that OpenAI runs itself have no schema here, and are not counted.
    own = [(t.name, t.description, t.params_json_schema) for t in tools if isinstance(t, FunctionTool)]
    to_others = [(h.tool_name, h.tool_description, h.input_json_schema) for h in handoffs]
    return [{"name": name, "description": said, "parameters": schema} for name, said, schema in (*own, *to_others)]


def _form(output_schema: Any) -> dict[str, Json]:
    """Return the key of a request that says which form the reply must have; none for plain text."""
    if output_schema is None or output_schema.is_plain_text():
        return {}
    return {"text": {"format": {"type": "json_schema", "schema": output_schema.json_schema()}}}


def _read(shown: Any, _written: Any, _messages: Any) -> list[Any]:
    """Return the SDK's items behind those of a request, which are the same."""
    # The SDK's items are the wire's: what is left of the request is what the SDK sends.
    return list(shown)


def _said(answer: Any) -> Json:
    """Return the model's answer as an answer of the wire, with its usage; None for a stream."""
    output, usage = getattr(answer, "output", None), getattr(answer, "usage", None)
    if not isinstance(output, list) or usage is None:
        return None
    items = [item.model_dump(exclude_none=True) if hasattr(item, "model_dump") else item for item in output]
    return {"output": items, "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}}


async def _watched(events: AsyncIterator[Any], ended: Callable[[Json], Any]) -> AsyncIterator[Any]:
    """Yield the events of a stream; pass on the response in its last event."""
    async for event in events:
        if event.type in {"response.completed", "response.incomplete"}:
            ended(event.response.model_dump(exclude_none=True))
        yield event


def _says_nothing(event: Any) -> bool:
    """Return whether an event comes before the output begins, so that a refusal may still follow."""
    return event.type in {"response.created", "response.in_progress"}
