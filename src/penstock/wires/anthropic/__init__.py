"""What is the wire of Anthropic's messages API? One record.

Source: Anthropic's API reference of `/v1/messages`, at version 2023-06-01 of its header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects, type_of
from penstock.wires.anthropic import answers, codec, hidden_calls, provider
from penstock.wires.anthropic.repair import REPAIRS
from penstock.wires.anthropic.rules import INVARIANTS
from penstock.wires.stream import SSE_TYPE
from penstock.wires.wire import (
    AnswerLayout,
    ApiKey,
    BodyLayout,
    ProviderDouble,
    Service,
    TokenCounting,
    UsageKeys,
    Wire,
)

if TYPE_CHECKING:
    from penstock.text.json_access import Json

__all__ = ["ANTHROPIC"]

# Blocks that no other wire writes in `messages`.
_OWN_BLOCKS = {
    "thinking",
    "redacted_thinking",
    "image",
    "document",
    "server_tool_use",
}
_CALL_BLOCKS = {"tool_use", "tool_result"}


def _resemblance(body: dict[str, Json]) -> int:
    """Return how surely a body is of this wire (`BodyLayout.resemblance`): `messages` is the key of other wires too."""
    blocks = [block for message in objects(body.get("messages")) for block in objects(message.get("content"))]
    if any(type_of(block) in _CALL_BLOCKS for block in blocks):
        return 4
    if "system" in body or "anthropic_version" in body:
        return 3
    if any(type_of(block) in _OWN_BLOCKS for block in blocks):
        return 3
    return int("messages" in body and any("input_schema" in tool for tool in objects(body.get("tools"))))


def _continues(body: dict[str, Json]) -> bool:
    """Whether the provider holds the thread that a body goes on with, and the body only what is new."""
    return bool(field(body, "thread", "type") == "continue")


def _shrinks_there(body: dict[str, Json]) -> bool:
    """Whether the provider clears tool results or compacts everything; clearing only the thinking frees too little to count."""
    edits = objects(field(body, "context_management", "edits"))
    return any(type_of(edit).startswith(("clear_tool_uses", "compact")) for edit in edits)


ANTHROPIC = Wire(
    name="anthropic",
    about="a model behind Anthropic's messages",
    body=BodyLayout(
        messages_key="messages",
        model_key="model",
        accepts_text=False,
        system_paths=(("system",),),
        tools_paths=(("tools",),),
        reply_schema_paths=(("output_config", "format"), ("output_format",)),
        reply_paths=(("max_tokens",),),
        default_reply_path=lambda _: ("max_tokens",),
        shortest_reply_tokens=1,
        thinking_paths=(("thinking", "budget_tokens"),),
        constants={},
        resemblance=_resemblance,
        continues=_continues,
        shrinks_there=_shrinks_there,
    ),
    codec=codec,
    invariants=INVARIANTS,
    repairs=REPAIRS,
    answers=AnswerLayout(
        is_answer=answers.is_answer,
        messages=answers.answer_messages,
        text=answers.answer_text,
        stop_reason=answers.stop_reason,
        # Cached input is counted next to `input_tokens`, not inside it.
        usage=UsageKeys(
            holders=("usage",),
            input=("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
            output=("output_tokens",),
            cached=(("cache_read_input_tokens",),),
            written=(("cache_creation_input_tokens",),),
        ),
        stream=answers.MessageEvents,
        streamed_body=answers.streamed_body,
        stream_type=SSE_TYPE,
        frames=None,
        hidden_calls=hidden_calls,
    ),
    service=Service(
        telemetry_name="anthropic",
        base_url="https://api.anthropic.com",
        base_url_variable="ANTHROPIC_BASE_URL",
        region_variables=(),
        root="/v1",
        path="/messages",
        stream_path="/messages",
        other_paths=("/api/",),
        signs_for="",
        keys=(
            ApiKey(variable="ANTHROPIC_API_KEY", header="x-api-key"),
            ApiKey(variable="ANTHROPIC_AUTH_TOKEN", header="authorization", prefix="Bearer "),
        ),
        variable_headers={},
        headers={"anthropic-version": "2023-06-01"},
    ),
    double=ProviderDouble(
        provider="anthropic",
        path="/v1/messages",
        stream_path="/v1/messages",
        models_path="/v1/models",
        root="",
        answer=provider.answer,
        answer_events=provider.answer_events,
        error_events=provider.error_events,
        error=provider.error,
        refusal=provider.refusal,
        counts_reply=True,
        reply_fault=provider.reply_fault,
        unkept=provider.unkept,
        models=provider.models,
        counting=TokenCounting(
            path="/v1/messages/count_tokens",
            request=lambda body: body,
            answer=lambda input_tokens: {"input_tokens": input_tokens},
        ),
    ),
)
"""Everything that Penstock knows of Anthropic's messages API."""
