"""Was anything dropped without a word? The usage that a provider reports, held against the window and our own count.

Law: silent only where a number says so; usage of a shape that is not known says nothing. Keeps out: how tokens are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

DROPPED_SHARE = (
    0.6  # below this share of our own low count nothing but a cut explains it; estimators err by a fifth at most
)
DROPPED_TOKENS = 1_000  # and by so much, so that small requests with an odd count do not alarm
BRIM = 0.99  # a server that cuts to its window fills it to within a hundredth
ABOVE = 1.05  # and our low count was clearly more than it holds

# Input as each wire reports it: the names that add up. Anthropic counts cached input beside `input_tokens`, the others inside it.
_SHAPES: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    (("input_tokens",), ("cache_creation_input_tokens", "cache_read_input_tokens")),
    (("prompt_tokens",), ()),
    (("promptTokenCount", "prompt_token_count"), ("toolUsePromptTokenCount", "tool_use_prompt_token_count")),
    (("inputTokens",), ("cacheReadInputTokens", "cacheWriteInputTokens")),
    (("prompt_eval_count",), ()),
)
_HOLDERS = ("usage", "usageMetadata", "usage_metadata", "response", "message")


@dataclass(frozen=True, kw_only=True, slots=True)
class Silence:
    """An overflow that no error told: `kind` is `accepted` (above the window) or `dropped` (the server cut the request)."""

    kind: str
    reported_tokens: int
    window_tokens: int
    estimated_tokens: int


def silent_overflow(usage: object, *, window_tokens: int, estimated_tokens: int) -> Silence | None:
    """What a successful answer hides: more input than the window holds, or far less than we sent.

    `usage` is the usage of OpenAI chat or responses, Anthropic, Bedrock, Gemini or Ollama, a body that holds it, or an object of an
    SDK. `estimated_tokens` is the low end of our own count of the request.
    """
    reported = reported_input(usage)
    if reported is None or reported <= 0:
        return None
    kind = None
    if window_tokens > 0 and reported > window_tokens:
        kind = "accepted"
    elif window_tokens > 0 and reported >= window_tokens * BRIM and estimated_tokens > window_tokens * ABOVE:
        kind = "dropped"  # filled to the brim, and we sent more
    elif reported < estimated_tokens * DROPPED_SHARE and estimated_tokens - reported >= DROPPED_TOKENS:
        kind = "dropped"
    if kind is None:
        return None
    return Silence(kind=kind, reported_tokens=reported, window_tokens=window_tokens, estimated_tokens=estimated_tokens)


def reported_input(usage: object, depth: int = 0) -> int | None:
    """All tokens of input that a usage reports, cached ones included."""
    for heads, extras in _SHAPES:
        for head in heads:
            value = _count(usage, head)
            if value is not None:
                return value + sum(_count(usage, extra) or 0 for extra in extras)
    if depth < 3:
        for holder in _HOLDERS:
            inner = _get(usage, holder)
            if inner is not None and (found := reported_input(inner, depth + 1)) is not None:
                return found
    return None


def _count(usage: object, name: str) -> int | None:
    value = _get(usage, name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _get(value: object, name: str) -> object:
    try:
        return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    except Exception:  # noqa: BLE001 - an object that raises reports nothing
        return None
