"""How large is a request, as a provider counts it? Its texts, the tokens of its parts, and what it asks for the reply.

Counted is what stands in the system prompt and the messages, and what stands in the tools: every key, text and number, a line
each. An image counts `IMAGE_TOKENS`, other base64 a token for `BYTES_PER_TOKEN`. Bare JSON is read, not a transcript, so that the
double and what is tested with it do not share their mistakes. Keeps out: windows, and who refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.transcript.shapes import Json

IMAGE_TOKENS = 1_568
"""What an image of full size takes at Anthropic (width x height / 750, at most this); at OpenAI it is 85 to 1,445."""
BYTES_PER_TOKEN = 16
"""Of documents and sound: a page of a PDF has tens of kilobytes and 1,500 to 3,000 tokens."""

_PROMPT = {
    "openai-chat": ("messages",),
    "openai-responses": ("instructions", "input"),
    "anthropic": ("system", "messages"),
}
_TOOLS = ("tools", "functions")
REPLY_FIELDS = {
    "openai-chat": ("max_completion_tokens", "max_tokens"),
    "openai-responses": ("max_output_tokens",),
    "anthropic": ("max_tokens",),
}
"""Where each wire asks for the length of the reply; the first that is there counts."""


class Size(NamedTuple):
    """`prompt_tokens` are of the system prompt and the messages, `reply_tokens` what is asked for the answer."""

    prompt_tokens: int
    tools_tokens: int = 0
    reply_tokens: int = 0

    @property
    def input_tokens(self) -> int:
        """The prompt and the tools."""
        return self.prompt_tokens + self.tools_tokens


def known(wire: str) -> str:
    """The wire, if it is one; `CallerError` otherwise."""
    if wire not in _PROMPT:
        raise CallerError(f"{wire!r} is no wire; there are {', '.join(_PROMPT)}")
    return wire


def estimate(text: str) -> int:
    """The tokens of `text` by `penstock.tokens`, without an extra."""
    from penstock import tokens

    return tokens.count(text).tokens


def size_of(request: dict[str, Json], wire: str, count: Callable[[str], int] = estimate) -> Size:
    """What a provider would count."""
    return Size(
        prompt_tokens=_counted(request, _PROMPT[wire], count),
        tools_tokens=_counted(request, _TOOLS, count),
        reply_tokens=max(0, next((n for name in REPLY_FIELDS[wire] if isinstance(n := request.get(name), int)), 0)),
    )


def text_of(value: Json) -> str:
    """Every key, text and number of a JSON value in its order, a line each, without what is media."""
    return "\n".join(_read(value)[0])


def _counted(request: dict[str, Json], names: tuple[str, ...], count: Callable[[str], int]) -> int:
    lines, media_tokens = _read([request[name] for name in names if request.get(name) is not None])
    return (count("\n".join(lines)) if lines else 0) + media_tokens


_IMAGES = ("image", "image_url", "input_image", "computer_screenshot")


def _read(value: Json) -> tuple[list[str], int]:
    """The lines of a value, and the tokens of the media in it; without recursion, for requests of any depth."""
    lines: list[str] = []
    media_tokens = 0
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, dict):
            if node.get("type") in _IMAGES:
                media_tokens += IMAGE_TOKENS
                continue
            for key, child in reversed(node.items()):
                if isinstance(child, str) and _is_base64(node, key, child):
                    media_tokens += len(child) * 3 // 4 // BYTES_PER_TOKEN
                else:
                    rest += [child, str(key)]
        elif isinstance(node, list | tuple):
            rest.extend(reversed(node))
        elif isinstance(node, str):
            lines.append(node)
        elif isinstance(node, int | float) and not isinstance(node, bool):
            lines.append(str(node))
    return lines, media_tokens


def _is_base64(node: dict[str, Json], key: str, text: str) -> bool:
    """A file or a sound, as each wire has them; a document that is plain text is text."""
    return (
        key == "file_data"
        or (key == "data" and (node.get("type") == "base64" or "format" in node))
        or (text.startswith("data:") and ";base64," in text[:100])
    )
