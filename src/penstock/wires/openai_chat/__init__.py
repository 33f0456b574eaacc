"""What is the wire of OpenAI's chat completions API? One record.

Azure, vLLM, llama.cpp, Ollama, LM Studio, Mistral, Groq, OpenRouter and many more speak it with small differences. Where they
differ, the record accepts what any of them sends and asks for what all of them accept. Source: OpenAI's API reference of
`/v1/chat/completions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field, objects, role_of, string, type_of
from penstock.text.tokens import family
from penstock.wires.openai_chat import answers, codec, hidden_calls, provider
from penstock.wires.openai_chat.repair import REPAIRS
from penstock.wires.openai_chat.rules import INVARIANTS
from penstock.wires.stream import SSE_TYPE
from penstock.wires.wire import AnswerLayout, ApiKey, BodyLayout, ProviderDouble, Service, UsageKeys, Wire

if TYPE_CHECKING:
    from penstock.text.json_access import Json

__all__ = ["OPENAI_CHAT"]

# Roles, parts and tools that no other wire with `messages` has; but some programs write the first ones for any.
_OWN_ROLES = {"system", "developer"}
_RESULT_ROLES = {"tool", "function"}
_OWN_PARTS = {"image_url", "input_audio", "file"}
_OWN_TOOLS = {"function", "custom"}


def _resemblance(body: dict[str, Json]) -> int:
    """Return how surely a body is of this wire (`BodyLayout.resemblance`): never 3, since no key of the body is its own."""
    messages = objects(body.get("messages"))
    if any(role_of(message) in _RESULT_ROLES or "tool_calls" in message for message in messages):
        return 4
    parts = [part for message in messages for part in objects(message.get("content"))]
    if any(role_of(message) in _OWN_ROLES for message in messages):
        return 2
    if any(type_of(part) in _OWN_PARTS for part in parts):
        return 2
    return int("messages" in body and any(type_of(tool) in _OWN_TOOLS for tool in objects(body.get("tools"))))


def _default_reply_path(body: Json) -> tuple[str, ...]:
    """Return the name that a body's model uses for the length of the reply."""
    # OpenAI's newer models refuse `max_tokens`; local servers know only the old name.
    is_modern = family(string(field(body, "model"))) == "o200k"
    return ("max_completion_tokens",) if is_modern else ("max_tokens",)


OPENAI_CHAT = Wire(
    name="openai-chat",
    about="a model behind OpenAI's chat completions, or a server that speaks them",
    body=BodyLayout(
        messages_key="messages",
        model_key="model",
        accepts_text=False,
        system_paths=(),
        tools_paths=(("tools",), ("functions",)),  # the second from before 2023-11, as calls are (`codec`)
        reply_schema_paths=(("response_format",),),
        reply_paths=(("max_completion_tokens",), ("max_tokens",)),
        default_reply_path=_default_reply_path,
        shortest_reply_tokens=1,
        thinking_paths=(),
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
        usage=UsageKeys(
            holders=("usage",),
            input=("prompt_tokens",),
            output=("completion_tokens",),
            cached=(("prompt_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",)),
            written=(("prompt_tokens_details", "cache_write_tokens"),),
        ),
        stream=answers.ChunkReader,
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
        path="/chat/completions",
        stream_path="/chat/completions",
        other_paths=(),
        signs_for="",
        keys=(ApiKey(variable="OPENAI_API_KEY", header="authorization", prefix="Bearer "),),
        variable_headers={"OPENAI_ORG_ID": "openai-organization", "OPENAI_PROJECT_ID": "openai-project"},
        headers={},
    ),
    double=ProviderDouble(
        provider="openai",
        path="/v1/chat/completions",
        stream_path="/v1/chat/completions",
        models_path="/v1/models",
        root="/v1",
        answer=provider.answer,
        answer_events=provider.answer_events,
        error_events=provider.error_events,
        error=provider.error,
        refusal=provider.refusal,
        counts_reply=True,
        reply_fault=provider.reply_fault,
        unkept=lambda _: None,
        models=provider.models,
        counting=None,
    ),
)
"""Everything that Penstock knows of OpenAI's chat completions API."""
