"""What does a request take? Its tokens item by item: instructions, tools, each message and result, media, the reply's reserve.

Every decision about a request is based on this bill, and every error that says a request cannot shrink prints it.
Law: the items add up to the total. Leaves to others: what should be forgotten, and what a provider will count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.context.sized import ESTIMATOR, MESSAGE_TOKENS, Sized, measure_entries, total
from penstock.text import escape
from penstock.text.tokens import Count, best_counter
from penstock.wires import Media, ToolResult, load_request, model_of, reply_tokens, wire_of

if TYPE_CHECKING:
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Entry, Transcript

# A line for each of a thousand small messages says nothing; items below a twentieth of the whole are added up by kind.
LARGE_SHARE = 0.05
"""The share of the whole above which an item of a bill gets a line of its own."""
_FRAME = Count(tokens=MESSAGE_TOKENS, low=MESSAGE_TOKENS, high=MESSAGE_TOKENS, method="frame")


@dataclass(frozen=True, slots=True)
class BillItem:
    """One line of a bill."""

    kind: str
    """`system`, `tools`, `reply schema`, `task`, `newest user message`, `pinned`, `user`, `assistant`, `result`, `media` or
    `note`."""
    name: str
    """The tool of a result, or the kind of a medium; else empty."""
    index: int | None
    """The message's position in the list; None for what is outside the list."""
    count: Count
    """The tokens of one line of a bill, with bounds. The frame of a message counts towards its words, or towards its
    first result."""


@dataclass(frozen=True, slots=True)
class Bill:
    """The tokens of a request item by item, and the reserve for the reply. `str` gives the bill for a person, largest
    first.
    """

    items: tuple[BillItem, ...]
    reserve_tokens: int = 0

    @property
    def input(self) -> Count:
        """The sum of all items: what a provider reports as input."""
        return total(item.count for item in self.items)

    @property
    def tokens(self) -> int:
        """The upper bound of the request plus the reserve: what has to fit into a window."""
        return self.input.high + self.reserve_tokens

    def lines(self, share: float = LARGE_SHARE) -> list[tuple[str, int]]:
        """Return the bill's lines as (what, tokens at most), largest first.

        Args:
            share: items of at least this share of the whole are named, the others added up by kind.
        """
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
    """Return the bill of a request's body, or of its messages alone.

    Args:
        request: the body as it would be sent, or its list of messages.
        wire: the name of the provider's API; None infers it from the body.
        counter: counts tokens; None counts for the model that the body names, exactly if possible, else by estimate.
        reserve_tokens: what is kept for the reply; None takes what the body asks for.

    Raises:
        CallerError: for something that is not a request, or a body that does not reveal its wire.
    """
    wire = wire or wire_of(request)
    counter = counter or counter_for(request)
    reserve = reply_tokens(request) if reserve_tokens is None else reserve_tokens
    return bill_of(load_request(request, wire), counter, reserve or 0)


def counter_for(request: Json, model: str | None = None) -> TokenCounter:
    """Return the counter that decides about a body.

    Args:
        request: the body; its model is looked up where its wire has it.
        model: another model to count for; None takes the body's model and, if there is none, the o200k vocabulary.
    """
    return best_counter(model or model_of(request) or "o200k")


def bill_of(transcript: Transcript | Sized, counter: TokenCounter | None = None, reserve_tokens: int = 0) -> Bill:
    """Return the bill of what a transcript shows.

    Args:
        transcript: a transcript, which is counted, or a sized one, whose counts are used.
        counter: counts a transcript that is not sized; None estimates.
        reserve_tokens: what is kept for the reply.
    """
    sized = transcript if isinstance(transcript, Sized) else Sized(transcript, counter or ESTIMATOR)
    shown = sized.transcript
    items = [BillItem(kind, kind, None, count) for kind, count in sized.beside().items() if count.high]
    task, newest = shown.task(), shown.newest_user()
    names = {call.id: call.name for entry in shown.visible() for call in entry.calls}
    entries = shown.visible()
    for entry, message in zip(entries, measure_entries(entries, sized.counter), strict=True):
        own = [_FRAME]
        for part, count in zip(entry.parts, message.parts, strict=True):
            if isinstance(part, ToolResult):
                # The frame of a message that holds only results is counted towards the first of them: the items have to
                # add up to the total.
                framed, own = (total([count, *own]), []) if entry.role == "tool" else (count, own)
                kind = "pinned" if entry.pinned else "result"
                items.append(BillItem(kind, names.get(part.call_id, ""), entry.index, framed))
            elif isinstance(part, Media):
                items.append(BillItem("media", part.kind, entry.index, count))
            else:
                own.append(count)
        if own:
            items.append(BillItem(_kind(entry, task, newest), "", entry.index, total(own)))
    return Bill(tuple(items), reserve_tokens)


def _kind(entry: Entry, task: Entry | None, newest: Entry | None) -> str:
    """Return the bill's name for a message; a pin outranks the role, and "newest user message" outranks "task"."""
    if entry.pinned:
        return "pinned"
    if entry.is_note:
        return "note"
    if newest is not None and entry.index == newest.index:
        return "newest user message"
    if task is not None and entry.index == task.index:
        return "task"
    # Anything else in a message of results was said by the user, as far as a model can tell.
    return "user" if entry.role == "tool" else entry.role


def _named(item: BillItem) -> str:
    """Return an item in words: its kind, its tool or medium, and its message."""
    name = f" of {escape.clip(item.name, 64)}" if item.name and item.kind == "result" else ""
    name = name or (f" ({escape.clip(item.name, 64)})" if item.name and item.kind == "media" else "")
    return f"{item.kind}{name}" + ("" if item.index is None else f", message {item.index}")
