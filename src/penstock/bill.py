"""What does a request take? Its tokens item by item: instructions, tools, each message and result, media, the reply's reserve.

Every decision about a request is made on this bill, and every error that says a request cannot shrink prints it.
Law: the items add up to the total. Keeps out: what should be forgotten, and what a provider will count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from penstock import inert
from penstock.tokens import Count, Tokens, best_counter, family
from penstock.transcript import Media, Reasoning, Text, ToolCall, ToolResult, load_request, wire_of
from penstock.transcript.shapes import as_json, field, string

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.tokens import TokenCounter
    from penstock.transcript import Entry, Part, Transcript
    from penstock.transcript.shapes import Json

MESSAGE_TOKENS = 4  # the frame of a message: OpenAI's cookbook says 3 and the role; Anthropic's count gives 3 to 5
# What one image takes. Anthropic: width * height / 750, at most 1,568, 4,784 for high resolution; OpenAI: 85 to 1,445.
IMAGE_TOKENS = Count(tokens=1_568, low=85, high=4_784, method="image")
FILE_BYTES_PER_TOKEN = (16, 4)  # of a document or a sound: likely, at most
LARGE_SHARE = 0.05  # a message of this share of the whole is named on its own
ESTIMATOR = Tokens()  # what counts where nobody names a counter
_FRAME = Count(tokens=MESSAGE_TOKENS, low=MESSAGE_TOKENS, high=MESSAGE_TOKENS, method="frame")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the bill. `index` is the message's place in the list; None for what stands beside the list."""

    kind: str
    """`system`, `tools`, `task`, `newest user message`, `pinned`, `user`, `assistant`, `result`, `media`, `note`."""
    name: str
    index: int | None
    count: Count


@dataclass(frozen=True, slots=True)
class Bill:
    """What a request takes, and what is kept for the reply."""

    items: tuple[Item, ...]
    reserve_tokens: int = 0

    @property
    def input(self) -> Count:
        """All of the request: what a provider reports as input."""
        return total(item.count for item in self.items)

    @property
    def tokens(self) -> int:
        """The request at most, and the reserve: what has to fit into a window."""
        return self.input.high + self.reserve_tokens

    def lines(self, share: float = LARGE_SHARE) -> list[tuple[str, int]]:
        """What the bill says, largest first: each item of at least `share` by name, the others added up by kind."""
        least = share * self.tokens
        named = [(_named(item), item.count.high) for item in self.items if item.count.high >= least]
        rest: dict[str, tuple[int, int]] = {}
        for item in self.items:
            if item.count.high < least:
                number, tokens = rest.get(item.kind, (0, 0))
                rest[item.kind] = number + 1, tokens + item.count.high
        named += [(kind if number == 1 else f"{number} x {kind}", tokens) for kind, (number, tokens) in rest.items()]
        if self.reserve_tokens:
            named.append(("reply reserve", self.reserve_tokens))
        return sorted(named, key=lambda line: -line[1])

    def __str__(self) -> str:
        return "\n".join(f"{tokens:>9}  {what}" for what, tokens in [*self.lines(), ("in all, at most", self.tokens)])


def bill(
    request: Json, wire: str | None = None, *, counter: TokenCounter | None = None, reserve_tokens: int | None = None
) -> Bill:
    """The bill of a request's body, or of its messages alone; `wire` may be left out where the body shows it.

    Without a counter, tokens are counted for the model that the body names: exactly where that can be had, else
    estimated. The reserve is what the body asks for as reply.
    Raises `CallerError` for what is no request.
    """
    wire = wire or wire_of(request)
    counter = counter or counter_for(request)
    reserve = reply_tokens(request) if reserve_tokens is None else reserve_tokens
    return bill_of(load_request(request, wire), counter, reserve or 0)


def counter_for(request: Json, model: str | None = None) -> TokenCounter:
    """The counter that decides about a body: of `model`, else of the model that the body names."""
    return best_counter(model or string(field(request, "model")) or "o200k")


REPLY_KEYS = ("max_completion_tokens", "max_output_tokens", "max_tokens")


def reply_tokens(body: Json) -> int | None:
    """How many tokens a body asks for as reply, by whatever name; None where it does not say."""
    found = [body[key] for key in REPLY_KEYS if type(body.get(key)) is int] if isinstance(body, dict) else []
    return found[0] if found else None


def with_reply_tokens(body: Json, reserve_tokens: int, wire: str) -> Json:
    """The same body, asking for at most that much of reply; where it names no number, with one.

    Anthropic's thinking has to fit into the reply: it is never asked for less.
    """
    thinking = field(body, "thinking", "budget_tokens")
    most = max(reserve_tokens, thinking + 1) if type(thinking) is int else reserve_tokens
    if reply_tokens(body) is None:
        modern = wire == "openai-chat" and family(string(body.get("model"))) == "o200k"
        key = "max_output_tokens" if wire == "openai-responses" else REPLY_KEYS[0] if modern else "max_tokens"
        return {**body, key: most}
    return {key: min(value, most) if key in REPLY_KEYS and type(value) is int else value for key, value in body.items()}


def bill_of(transcript: Transcript, counter: TokenCounter | None = None, reserve_tokens: int = 0) -> Bill:
    """The bill of what a transcript shows."""
    counter = counter or ESTIMATOR
    items: list[Item] = []
    for kind, value in (("system", transcript.system), ("tools", transcript.tools)):
        if value:
            text = value if isinstance(value, str) else as_json(value)
            items.append(Item(kind, kind, None, counter.count(text)))
    task, newest = transcript.task(), transcript.newest_user()
    names = {call.id: call.name for entry in transcript.visible() for call in entry.calls}
    for entry in transcript.visible():
        kind = _kind(entry, task, newest)
        counts = part_counts(entry, counter)
        own = [_FRAME]
        for part, count in zip(entry.parts, counts, strict=True):
            if isinstance(part, ToolResult):
                framed, own = (total([count, *own]), []) if entry.role == "tool" else (count, own)
                items.append(
                    Item("pinned" if entry.pinned else "result", names.get(part.call_id, ""), entry.index, framed)
                )
            elif isinstance(part, Media):
                items.append(Item("media", part.kind, entry.index, count))
            else:
                own.append(count)
        if own:
            items.append(Item(kind, "", entry.index, total(own)))
    return Bill(tuple(items), reserve_tokens)


def size_of(transcript: Transcript, counter: TokenCounter = ESTIMATOR) -> int:
    """The upper bound of the bill's input alone: what plans measure, again and again."""
    beside = [
        value if isinstance(value, str) else as_json(value) for value in (transcript.system, transcript.tools) if value
    ]
    return sum(counter.count(text).high for text in beside) + sum(entry_high(e, counter) for e in transcript.visible())


def part_counts(entry: Entry, counter: TokenCounter) -> tuple[Count, ...]:
    """What each part of an entry takes, counted once for the same counter in a row."""
    return cast("tuple[Count, ...]", _counted(entry, counter)[1])


def entry_high(entry: Entry, counter: TokenCounter) -> int:
    """What an entry takes at most, its frame included."""
    return cast("int", _counted(entry, counter)[2])


def _counted(entry: Entry, counter: TokenCounter) -> list[Any]:
    """The counter, what it made of each part, and what all of it takes at most."""
    if not entry.counts or (entry.counts[0] is not counter and entry.counts[0] != counter):
        counts = tuple(_count(part, counter) for part in entry.parts)
        entry.counts[:] = [counter, counts, MESSAGE_TOKENS + sum(count.high for count in counts)]
    return entry.counts


def total(counts: Iterable[Count]) -> Count:
    """The sum of some counts, bound by bound."""
    low = tokens = high = 0
    method = ""
    for count in counts:
        low, tokens, high = low + count.low, tokens + count.tokens, high + count.high
        method = method if ":" in method else count.method
    return Count(tokens=tokens, low=low, high=high, method=method)


def _count(part: Part, counter: TokenCounter) -> Count:
    match part:
        case Text(text):
            return counter.count(text)
        case ToolCall():
            return counter.count(f"{part.name} {part.arguments}")
        case ToolResult():
            media = [_count(inner, counter) for inner in part.parts if not isinstance(inner, Text)]
            return total([counter.count(part.text), *media]) if media else counter.count(part.text)
        case Media():
            return _media(part, counter)
        case Reasoning(raw=raw):
            return counter.count(as_json(raw))
        case _:
            return counter.count(as_json(part.raw))


def _media(part: Media, counter: TokenCounter) -> Count:
    if part.kind == "image":
        return IMAGE_TOKENS
    if not part.data:
        return counter.count(as_json(part.raw))
    likely, most = FILE_BYTES_PER_TOKEN
    high = part.bytes_estimate // most + 1
    return Count(tokens=part.bytes_estimate // likely, low=0, high=high, method=part.kind)


def _kind(entry: Entry, task: Entry | None, newest: Entry | None) -> str:
    if entry.pinned:
        return "pinned"
    if entry.is_note:
        return "note"
    if newest is not None and entry.index == newest.index:
        return "newest user message"
    if task is not None and entry.index == task.index:
        return "task"
    return "user" if entry.role == "tool" else entry.role


def _named(item: Item) -> str:
    name = f" of {inert.clip(item.name, 64)}" if item.name and item.kind == "result" else ""
    name = name or (f" ({inert.clip(item.name, 64)})" if item.name and item.kind == "media" else "")
    return f"{item.kind}{name}" + ("" if item.index is None else f", message {item.index}")
