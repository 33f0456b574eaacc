"""What does a request take, by kind of content? Our own count of each message, made once and then only added and subtracted.

Providers count differently, and the difference depends on the kind: one takes twice our count for JSON and half of it for prose. So
a refusal says nothing about *tokens*, only about a weighted sum of these kinds (`provider_counts`). Law: the counts of a request
are the sum of the counts of its messages and of what accompanies them. Leaves to others: what a provider will make of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from penstock.text.tokens import Count
from penstock.wires import Media, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.wires import Entry, Part

ContentKind: TypeAlias = Literal[
    "system", "tools", "user", "assistant", "calls", "results", "reasoning", "images", "files", "notes", "other"
]
"""The kinds of content that a provider may each count in its own way (R-1)."""
CONTENT_KINDS: Final[tuple[ContentKind, ...]] = get_args(ContentKind)
"""All kinds of content, in the order of `KindCounts.tokens`."""
_PLACE: Final = {kind: place for place, kind in enumerate(CONTENT_KINDS)}
# The tokens of one image. Anthropic: width * height / 750, at most 1,568, or 4,784 at high resolution; OpenAI: 85 to 1,445.
IMAGE_TOKENS: Final = Count(tokens=1_568, low=85, high=4_784, method="image")
"""The tokens of one image of any size: images are not decoded."""
# Of bytes before base64.
FILE_BYTES_PER_TOKEN: Final = (16, 4)
"""Bytes of a document or a sound for each token: the likely number, and the least, which gives the upper bound."""


@dataclass(frozen=True, slots=True)
class KindCounts:
    """Tokens by kind of content, in the order of `CONTENT_KINDS`, and the number of messages that hold them."""

    tokens: tuple[int, ...] = (0,) * len(CONTENT_KINDS)
    messages: int = 0

    @property
    def total(self) -> int:
        """All tokens of every kind."""
        return sum(self.tokens)

    def of(self, kind: ContentKind) -> int:
        """Return the tokens of one kind."""
        return self.tokens[_PLACE[kind]]

    def by_kind(self) -> dict[ContentKind, int]:
        """Return the tokens of each kind that is present."""
        return {kind: tokens for kind, tokens in zip(CONTENT_KINDS, self.tokens, strict=True) if tokens}

    def __add__(self, other: KindCounts) -> KindCounts:
        return KindCounts(tuple(map(int.__add__, self.tokens, other.tokens)), self.messages + other.messages)

    def __sub__(self, other: KindCounts) -> KindCounts:
        return KindCounts(tuple(map(int.__sub__, self.tokens, other.tokens)), self.messages - other.messages)


def counts_of(tokens_by_kind: Iterable[tuple[ContentKind, int]], messages: int = 0) -> KindCounts:
    """Return counts from tokens with their kinds, which may repeat."""
    tokens = [0] * len(CONTENT_KINDS)
    for kind, number in tokens_by_kind:
        tokens[_PLACE[kind]] += number
    return KindCounts(tuple(tokens), messages)


def sum_of(counts: Sequence[KindCounts]) -> KindCounts:
    """Return the sum of some counts, in one pass: quicker than adding one after another."""
    if not counts:
        return KindCounts()
    tokens = tuple(map(sum, zip(*[one.tokens for one in counts], strict=True)))
    return KindCounts(tokens, sum([one.messages for one in counts]))


def kind_of(part: Part, entry: Entry) -> ContentKind:
    """Return the kind under which a part of a message is counted."""
    match part:
        case Text():
            if entry.is_note:
                return "notes"
            if entry.role == "system":
                return "system"
            return "assistant" if entry.role == "assistant" else "user"
        case ToolCall():
            return "calls"
        case ToolResult():
            return "results"
        case Media():
            return "images" if part.kind == "image" else "files"
        case Reasoning():
            return "reasoning"
        case _:
            return "other"


def media_count(part: Media) -> Count | None:
    """Return the tokens of an image or a file, by its kind and its bytes; None for a reference, which counts as its text."""
    if part.kind == "image":
        return IMAGE_TOKENS
    if not part.data:
        return None
    likely, most = FILE_BYTES_PER_TOKEN
    high = part.bytes_estimate // most + 1
    return Count(tokens=part.bytes_estimate // likely, low=0, high=high, method=part.kind)


def part_counts(part: Part, entry: Entry, count: Count) -> KindCounts:
    """Return the count of one part of a message by kind: an image in a result costs the same as any image."""
    tokens = [0] * len(CONTENT_KINDS)
    _add_part(tokens, part, entry, count)
    return KindCounts(tuple(tokens))


def entry_counts(entry: Entry, counts: Iterable[Count]) -> KindCounts:
    """Return the counts of one message, given the count of each of its parts in order."""
    tokens = [0] * len(CONTENT_KINDS)
    for part, count in zip(entry.parts, counts, strict=True):
        _add_part(tokens, part, entry, count)
    return KindCounts(tuple(tokens), 1)


def _add_part(tokens: list[int], part: Part, entry: Entry, count: Count) -> None:
    own = count.tokens
    for inner in part.parts if isinstance(part, ToolResult) else ():
        if isinstance(inner, Media) and (media := media_count(inner)) is not None:
            tokens[_PLACE[kind_of(inner, entry)]] += media.tokens
            own -= media.tokens
    tokens[_PLACE[kind_of(part, entry)]] += own
