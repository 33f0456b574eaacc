"""What is the wire of OpenAI's responses API? One record. Source: OpenAI's API reference of `/v1/responses`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import objects, type_of
from penstock.wires.openai_chat import provider as chat_provider
from penstock.wires.openai_responses import answers, codec, hidden_calls, provider
from penstock.wires.openai_responses.repair import REPAIRS
from penstock.wires.openai_responses.rules import INVARIANTS
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

__all__ = ["OPENAI_RESPONSES"]


def _resemblance(body: dict[str, Json]) -> int:
    """Return how surely a body is of this wire (`BodyLayout.resemblance`): its keys are its own."""
    return 3 if "input" in body or "instructions" in body else 0


def _continues(body: dict[str, Json]) -> bool:
    """Whether the provider holds earlier messages, which may include the calls that this body's outputs answer."""
    return bool(body.get("previous_response_id") or body.get("conversation"))


def _shrinks_there(body: dict[str, Json]) -> bool:
    """Whether the provider compacts the conversation or drops its beginning."""
    return body.get("truncation") == "auto" or any(map(type_of, objects(body.get("context_management"))))


OPENAI_RESPONSES = Wire(
    name="openai-responses",
    about="a model behind OpenAI's responses",
    body=BodyLayout(
        messages_key="input",
        model_key="model",
        accepts_text=True,
        system_paths=(("instructions",),),
        tools_paths=(("tools",),),
        reply_schema_paths=(("text", "format"),),
        reply_paths=(("max_output_tokens",),),
        default_reply_path=lambda _: ("max_output_tokens",),
        shortest_reply_tokens=provider.MIN_REPLY_TOKENS,
        thinking_paths=(),
        # The transcript is the memory here: the provider must not keep anything that nobody asked it to keep.
        constants={"store": False},
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
        usage=UsageKeys(
            holders=("usage",),
            input=("input_tokens",),
            output=("output_tokens",),
            cached=(("input_tokens_details", "cached_tokens"),),
            written=(("input_tokens_details", "cache_write_tokens"),),
        ),
        stream=answers.ResponseEvents,
        streamed_body=answers.streamed_body,
        stream_type=SSE_TYPE,
        frames=None,
        hidden_calls=hidden_calls,
    ),
    service=Service(
        telemetry_name="openai",
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        region_variables=(),
        root="",
        path="/responses",
        stream_path="/responses",
        other_paths=(),
        signs_for="",
        keys=(ApiKey(variable="OPENAI_API_KEY", header="authorization", prefix="Bearer "),),
        variable_headers={"OPENAI_ORG_ID": "openai-organization", "OPENAI_PROJECT_ID": "openai-project"},
        headers={},
    ),
    double=ProviderDouble(
        provider="openai",
        path="/v1/responses",
        stream_path="/v1/responses",
        models_path="/v1/models",
        root="/v1",
        answer=provider.answer,
        answer_events=provider.answer_events,
        error_events=provider.error_events,
        error=chat_provider.error,
        refusal=provider.refusal,
        counts_reply=False,
        reply_fault=provider.reply_fault,
        unkept=provider.unkept,
        models=chat_provider.models,
        counting=TokenCounting(
            path="/v1/responses/input_tokens",
            request=lambda body: body,
            answer=lambda input_tokens: {"object": "response.input_tokens", "input_tokens": input_tokens},
        ),
    ),
)
"""Everything that Penstock knows of OpenAI's responses API."""
