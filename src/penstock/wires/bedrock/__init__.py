"""What is the wire of Amazon Bedrock's Converse API? One record, for REST bodies and boto3's arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects
from penstock.wires.bedrock import answers, codec, provider
from penstock.wires.bedrock.frames import FRAME_TYPE, EventFrames
from penstock.wires.bedrock.repair import REPAIRS
from penstock.wires.bedrock.rules import INVARIANTS
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

__all__ = ["BEDROCK"]

_OWN_KEYS = {"modelId", "toolConfig", "inferenceConfig", "additionalModelRequestFields", "guardrailConfig"}
_OWN_BLOCKS = {"toolUse", "toolResult", "guardContent", "cachePoint", "reasoningContent", "citationsContent"}


def _resemblance(body: dict[str, Json]) -> int:
    """Return how surely a body is of this wire: Anthropic's has the same keys, but blocks here have one key and no type."""
    if _OWN_KEYS & body.keys():
        return 4
    blocks = [block for message in objects(body.get("messages")) for block in objects(message.get("content"))]
    untyped = [block for block in blocks if "type" not in block]
    if any(_OWN_BLOCKS & block.keys() for block in untyped):
        return 4
    return 4 if blocks and len(untyped) == len(blocks) and any("text" in block for block in blocks) else 0


BEDROCK = Wire(
    name="bedrock",
    about="a model behind Bedrock's Converse",
    body=BodyLayout(
        messages_key="messages",
        model_key="modelId",
        accepts_text=False,
        system_paths=(("system",),),
        tools_paths=(("toolConfig", "tools"),),
        reply_schema_paths=(("outputConfig", "textFormat"),),
        reply_paths=(("inferenceConfig", "maxTokens"),),
        default_reply_path=lambda _: ("inferenceConfig", "maxTokens"),
        shortest_reply_tokens=1,
        # What Converse does not know itself is passed to the model, in Anthropic's spelling.
        thinking_paths=(("additionalModelRequestFields", "thinking", "budget_tokens"),),
        constants={},
        resemblance=_resemblance,
        continues=lambda _: False,
        shrinks_there=lambda _: False,
    ),
    codec=codec,
    invariants=INVARIANTS,
    repairs=REPAIRS,
    answers=AnswerLayout(
        is_answer=answers.is_answer,
        messages=answers.answer_messages,
        text=answers.answer_text,
        stop_reason=answers.stop_reason,
        # Cached input is counted next to `inputTokens`, not inside it.
        usage=UsageKeys(
            holders=("usage",),
            input=("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"),
            output=("outputTokens",),
            cached=(("cacheReadInputTokens",),),
            written=(("cacheWriteInputTokens",),),
        ),
        stream=answers.ConverseEvents,
        streamed_body=answers.streamed_body,
        stream_type=FRAME_TYPE,
        frames=EventFrames,
        hidden_calls=None,
    ),
    service=Service(
        telemetry_name="aws.bedrock",
        base_url="https://bedrock-runtime.{region}.amazonaws.com",
        base_url_variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        region_variables=("AWS_REGION", "AWS_DEFAULT_REGION"),
        root="",
        path="/model/{model}/converse",
        stream_path="/model/{model}/converse-stream",
        other_paths=(),
        keys=(ApiKey(variable="AWS_BEARER_TOKEN_BEDROCK", header="authorization", prefix="Bearer "),),
        signs_for="bedrock",
        variable_headers={},
        headers={},
    ),
    double=ProviderDouble(
        provider="bedrock",
        path="/model/{model}/converse",
        stream_path="/model/{model}/converse-stream",
        models_path="/foundation-models",
        root="",
        answer=provider.answer,
        answer_events=provider.answer_events,
        error_events=provider.error_events,
        error=provider.error,
        refusal=provider.refusal,
        counts_reply=False,
        reply_fault=provider.reply_fault,
        unkept=lambda _: None,
        models=provider.models,
        counting=TokenCounting(
            path="/model/{model}/count-tokens",
            request=lambda body: field(body, "input", "converse") or body,
            answer=lambda input_tokens: {"inputTokens": input_tokens},
        ),
    ),
)
