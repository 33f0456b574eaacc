"""How large is a request as a provider counts it? Its texts, the tokens of its media, and what it asks for the reply.

Counted are the system prompt, the messages, the tools and the form of the reply: every key, text and number, a line each. An
image counts `IMAGE_TOKENS`, other base64 one token for every `BYTES_PER_TOKEN`. Bare JSON is read, not a transcript, so that the
double and the code tested with it do not share mistakes. Law: any JSON has a size, whatever its depth; a request that holds more
is never smaller. Leaves to others: windows, and who refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.text.json_access import field
from penstock.wires.table import wire_named
from penstock.wires.wire import RequestSize

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.text.json_access import Json

IMAGE_TOKENS = 1_568
"""What an image counts: the cost of one of full size at Anthropic (width x height / 750, at most this); at OpenAI it is 85 to
1,445.
"""
BYTES_PER_TOKEN = 16
"""How many bytes of a document or a sound count as one token: a PDF page has tens of kilobytes and 1,500 to 3,000 tokens."""


def estimate(text: str) -> int:
    """Return the tokens of a text as `penstock.tokens` estimates them, without any extra installed."""
    from penstock.text import tokens

    return tokens.count(text).tokens


def size_of(request: dict[str, Json], wire: str, count: Callable[[str], int] = estimate) -> RequestSize:
    """Return what a provider on that wire would count of a request's body.

    Args:
        request: the body; what is missing counts nothing.
        wire: the name of the wire, whose layout says where messages, tools and the length of the reply are.
        count: the tokens of a text.
    """
    layout = wire_named(wire).body
    asked = (field(request, *path) for path in layout.reply_paths)
    return RequestSize(
        prompt_tokens=_counted([layout.system_of(request), request.get(layout.messages_key)], count),
        tools_tokens=_counted([layout.tools_of(request), layout.reply_schema_of(request)], count),
        reply_tokens=max(0, next((tokens for tokens in asked if isinstance(tokens, int)), 0)),
    )


def text_of(value: Json) -> str:
    """Return every key, text and number of a JSON value in order, a line each, without media."""
    return "\n".join(_read(value)[0])


def _counted(values: list[Json], count: Callable[[str], int]) -> int:
    """Return the tokens of values: their texts, counted together, and their media."""
    lines, media_tokens = _read([value for value in values if value is not None])
    return (count("\n".join(lines)) if lines else 0) + media_tokens


_IMAGE_FORMATS = ("png", "jpeg", "gif", "webp")
_MEDIA_KEYS = {"format", "mimeType", "mime_type"}
_IMAGES = ("image", "image_url", "input_image", "computer_screenshot")


def _read(value: Json) -> tuple[list[str], int]:
    """Return the lines of a value and the tokens of its media; without recursion, for requests of any depth."""
    lines: list[str] = []
    media_tokens = 0
    # A stack: children are pushed in reverse, so that they are popped in the order of the request.
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, str):  # first, because a request is mostly keys and texts
            lines.append(node)
        elif isinstance(node, dict):
            if node.get("type") in _IMAGES or _is_image(node):
                media_tokens += IMAGE_TOKENS
                continue
            for key, child in reversed(node.items()):
                if isinstance(child, str) and _is_base64(node, key, child):
                    media_tokens += len(child) * 3 // 4 // BYTES_PER_TOKEN
                else:
                    rest += (child, str(key))
        elif isinstance(node, (list, tuple)):
            rest.extend(reversed(node))
        # True, false and null are at most one token, besides the key, which is counted.
        elif isinstance(node, (int, float)) and not isinstance(node, bool):
            lines.append(str(node))
    return lines, media_tokens


def _is_image(node: dict[str, Json]) -> bool:
    """Whether an object without a type is an image: Gemini's has a media type, Bedrock's a format next to its source."""
    media_type = node.get("mimeType", node.get("mime_type"))
    if isinstance(media_type, str) and media_type.startswith("image/"):
        return True
    return node.get("format") in _IMAGE_FORMATS and isinstance(node.get("source"), dict)


def _is_base64(node: dict[str, Json], key: str, text: str) -> bool:
    """Whether a text is a file or a sound in any wire's form; a plain-text document counts as text."""
    if key == "data":
        is_file = node.get("type") == "base64" or not node.keys().isdisjoint(_MEDIA_KEYS)
    else:
        is_file = key == "file_data" or (key == "bytes" and len(node) == 1)
    return is_file or (text.startswith("data:") and ";base64," in text[:100])
