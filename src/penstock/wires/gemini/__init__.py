"""What is the wire of Gemini's `generateContent`? One record for the Gemini API and Vertex AI, as REST and google-genai use it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from penstock.text.json_access import objects, role_of
from penstock.wires.gemini import answers, codec, hidden_calls, provider
from penstock.wires.gemini.keys import both, get
from penstock.wires.gemini.repair import REPAIRS
from penstock.wires.gemini.rules import INVARIANTS
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
    from penstock.wires.wire import KeyPath

__all__ = ["GEMINI"]

# google-genai's own call takes everything but the contents in `config`; the REST body has it at the top level.
_BESIDE = ((), ("config",))
_REPLY_HOLDERS = (*((name,) for name in both("generationConfig")), ("config",))


def _paths(name: str) -> tuple[KeyPath, ...]:
    return tuple((*holder, key) for holder, key in product(_BESIDE, both(name)))


def _resemblance(body: dict[str, Json]) -> int:
    if "contents" in body:
        return 4
    # Neither `parts` nor the role `model` is known to any other wire here.
    messages = objects(body.get("messages"))  # of a bare list, which is under the key that most wires use
    return (
        4 if any(isinstance(message.get("parts"), list) or role_of(message) == "model" for message in messages) else 0
    )


def _default_reply_path(body: Json) -> KeyPath:
    # A request with `config` is one for google-genai, which accepts no other argument with it: a length in
    # `generationConfig` would be refused before anything is sent.
    if isinstance(get(body, "config"), dict):
        return ("config", "max_output_tokens")
    return ("generationConfig", "maxOutputTokens")


GEMINI = Wire(
    name="gemini",
    about="a model behind Gemini's generateContent",
    body=BodyLayout(
        messages_key="contents",
        model_key="model",
        accepts_text=False,
        system_paths=_paths("systemInstruction"),
        tools_paths=_paths("tools"),
        reply_schema_paths=tuple(
            (*holder, key)
            for holder, name in product(_REPLY_HOLDERS, ("responseSchema", "responseJsonSchema"))
            for key in both(name)
        ),
        reply_paths=tuple((*holder, key) for holder, key in product(_REPLY_HOLDERS, both("maxOutputTokens"))),
        default_reply_path=_default_reply_path,
        shortest_reply_tokens=1,
        thinking_paths=tuple(
            (*holder, config, budget)
            for holder, config, budget in product(_REPLY_HOLDERS, both("thinkingConfig"), both("thinkingBudget"))
        ),
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
        # Cached input is part of `promptTokenCount` and not added to it (Bedrock counts it separately). Input from the
        # provider's own tools, and thoughts, are counted separately from prompt and candidates.
        usage=UsageKeys(
            holders=both("usageMetadata"),
            input=both("promptTokenCount", "toolUsePromptTokenCount"),
            output=both("candidatesTokenCount", "thoughtsTokenCount"),
            cached=tuple((name,) for name in both("cachedContentTokenCount")),
        ),
        stream=answers.CandidateChunks,
        streamed_body=answers.streamed_body,
        stream_type=SSE_TYPE,
        frames=None,
        hidden_calls=hidden_calls,
    ),
    service=Service(
        telemetry_name="gcp.gemini",
        base_url="https://generativelanguage.googleapis.com",
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        region_variables=(),
        root="/v1",
        path="/models/{model}:generateContent",
        # Without `alt=sse` a stream is one JSON array, which is incomplete JSON until its end.
        stream_path="/models/{model}:streamGenerateContent?alt=sse",
        other_paths=("/v1beta/",),
        # If both are set, google-genai takes the first.
        keys=(
            ApiKey(variable="GOOGLE_API_KEY", header="x-goog-api-key"),
            ApiKey(variable="GEMINI_API_KEY", header="x-goog-api-key"),
        ),
        signs_for="",
        variable_headers={},
        headers={},
    ),
    double=ProviderDouble(
        provider="google",
        path="/{version}/models/{model}:generateContent",
        stream_path="/{version}/models/{model}:streamGenerateContent",
        models_path="/{version}/models",
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
            path="/{version}/models/{model}:countTokens",
            # A whole request is under a key of its own; bare contents are in the body.
            request=lambda body: get(body, "generateContentRequest") or body,
            answer=lambda input_tokens: {"totalTokens": input_tokens},
        ),
    ),
)
