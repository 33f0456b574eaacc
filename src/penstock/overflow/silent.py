"""Was anything dropped silently? The usage that a provider reports, compared with the window and our own count.

Some servers accept more than their window and answer worse; others, Ollama among them, drop the beginning of the request. No error
reports either (O-3), but the input that they report as used does.

Law: an alarm needs a number; usage of an unknown format says nothing. Leaves to others: how tokens are counted, and what is done
about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.text.json_access import whole_number

# Estimators err by a fifth at most, so below this share of the low end of our count only a cut explains it.
DROPPED_SHARE = 0.6
"""Reported input below this share of our own low count means that the server dropped the rest."""
DROPPED_TOKENS = 1_000
"""By how many tokens reported input also has to be below our own count: small requests with an odd count raise no alarm."""
BRIM = 0.99
"""Reported input from this share of the window on means a full window: a server that cuts fills it almost to the token."""
ABOVE = 1.05
"""How many times the window our own low count has to be for a full window to mean that the rest was dropped."""

# Input as each wire reports it: names of which the first one present counts, and those that are added to it. Anthropic and Bedrock
# count cached input in addition to their first name; OpenAI and Gemini inside it, so adding theirs would count it twice.
_SHAPES: Final[tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = (
    (("input_tokens",), ("cache_creation_input_tokens", "cache_read_input_tokens")),
    (("prompt_tokens",), ()),
    (("promptTokenCount", "prompt_token_count"), ("toolUsePromptTokenCount", "tool_use_prompt_token_count")),
    (("inputTokens",), ("cacheReadInputTokens", "cacheWriteInputTokens")),
    (("prompt_eval_count",), ()),
)
# Where an answer says how much of the input came from a cache; OpenAI and Gemini count it inside their first name.
_CACHED: Final[tuple[tuple[str, ...], ...]] = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("cachedContentTokenCount",),
    ("cached_content_token_count",),
    ("prompt_cache_hit_tokens",),
)
_HOLDERS = ("usage", "usageMetadata", "usage_metadata", "response", "message")


@dataclass(frozen=True, kw_only=True, slots=True)
class Silence:
    """An overflow that no error reported, with the numbers that show it."""

    kind: str
    """`accepted` if the server took more than the window holds, `dropped` if it cut the request silently."""
    reported_tokens: int
    """The input that the answer reports, cached input included."""
    window_tokens: int
    """The window that the caller believed in."""
    estimated_tokens: int
    """The low end of the caller's own count of the request."""


def silent_overflow(usage: object, *, window_tokens: int, estimated_tokens: int) -> Silence | None:
    """Return the overflow that a successful answer hides: more input than the window holds, or far less than was sent (O-3).

    >>> silent_overflow({"prompt_tokens": 4096}, window_tokens=4096, estimated_tokens=90_000).kind
    'dropped'

    Args:
        usage: the usage of OpenAI chat or responses, Anthropic, Bedrock, Gemini or Ollama, a body that holds it, or an object of
            an SDK.
        window_tokens: the window that was planned with; 0 or less if unknown, and then only `dropped` can be detected.
        estimated_tokens: the low end of the caller's own count of the request. With the high end, slightly inaccurate counts would
            raise an alarm.

    Returns:
        What happened, or None if nothing is wrong or the usage does not say how much input there was.
    """
    reported = reported_input(usage)
    # Zero is what servers report that do not count, and what a fully cached request shows under some names: no evidence.
    if reported is None or reported <= 0:
        return None
    kind = None
    if window_tokens > 0 and reported > window_tokens:
        kind = "accepted"
    elif window_tokens > 0 and reported >= window_tokens * BRIM and estimated_tokens > window_tokens * ABOVE:
        # Filled to the brim while more was sent: just above the window, the share alone would not raise an alarm.
        kind = "dropped"
    elif reported < estimated_tokens * DROPPED_SHARE and estimated_tokens - reported >= DROPPED_TOKENS:
        kind = "dropped"
    if kind is None:
        return None
    return Silence(kind=kind, reported_tokens=reported, window_tokens=window_tokens, estimated_tokens=estimated_tokens)


def reported_input(usage: object, depth: int = 0) -> int | None:
    """Return all input tokens that a usage reports, cached ones included; None if its format is unknown.

    Args:
        usage: as in `silent_overflow`.
        depth: how many holders were opened on the way here. Bodies keep their usage at most three deep: a stream event of
            OpenAI's responses API has it at `response.usage`.
    """
    for heads, extras in _SHAPES:
        for head in heads:
            value = _count(usage, head)
            if value is not None:
                # More from the cache than in all: such a provider counts only what was not cached.
                cached = _cached(usage)
                beside = cached if cached > value else 0
                return value + (sum(_count(usage, extra) or 0 for extra in extras) or beside)
    if depth < 3:
        for holder in _HOLDERS:
            inner = _get(usage, holder)
            if inner is not None and (found := reported_input(inner, depth + 1)) is not None:
                return found
    return None


def _cached(usage: object) -> int:
    """Return how many input tokens came from a cache, according to a usage's details; 0 if none do."""
    return max((_count(_at(usage, path[:-1]), path[-1]) or 0 for path in _CACHED), default=0)


def _at(value: object, path: tuple[str, ...]) -> object:
    """Return what a value holds at the end of a path of names."""
    for name in path:
        value = _get(value, name)
    return value


def _count(usage: object, name: str) -> int | None:
    """Return a genuine count: mocks have every attribute, and True is an int in Python."""
    return whole_number(_get(usage, name))


def _get(value: object, name: str) -> object:
    """Return what a mapping or an object holds under a name; one that raises holds nothing."""
    try:
        return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    except Exception:  # noqa: BLE001 - an object that raises reports nothing
        return None
