"""How large is a transcript? Each of its messages is counted once, when it comes in, and after that only added and subtracted.

Counting is the expensive part of every decision about a request, so its result stays with the message (`Entry.counts`), for the
counter that made it. Laws: the size of a transcript is the sum of its messages and of what accompanies them; it equals a fresh
count; removing a message subtracts what it was counted as. Leaves to others: what a provider will count (`provider_counts`), and
what should go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from penstock.context.activity import actions
from penstock.context.counts import KindCounts, counts_of, entry_counts, media_count, sum_of
from penstock.context.handoff.making import mechanical
from penstock.text.json_access import as_json
from penstock.text.tokens import Count, Tokens, count_texts
from penstock.wires import Media, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.context.activity import Action
    from penstock.context.handoff import Handoff
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Entry, Part, Transcript

# OpenAI's cookbook says 3 and the role; Anthropic's count endpoint gives 3 to 5.
MESSAGE_TOKENS = 4
"""The tokens of a message's frame: role and separators."""
ESTIMATOR = Tokens()
"""The default counter."""


class MeasuredMessage(NamedTuple):
    """One message as a counter saw it."""

    counter: TokenCounter
    parts: tuple[Count, ...]
    """The tokens of each part, in the order of the parts."""
    low: int
    """The tokens of a whole message at least, without its frame."""
    high: int
    """The tokens of a whole message at most, its frame included."""
    counts: KindCounts
    """The likely tokens of a message by kind of content, without frames."""


def measure_entry(entry: Entry, counter: TokenCounter) -> MeasuredMessage:
    """Return the measure of a message; consecutive calls with the same counter count it once."""
    known: MeasuredMessage | None = _known(entry, counter)
    return measure_entries([entry], counter)[0] if known is None else known


def measure_entries(entries: Sequence[Entry], counter: TokenCounter) -> list[MeasuredMessage]:
    """Return the measure of each of some messages; those not counted yet are counted together, which is quicker."""
    # The results are not read back from the messages: meanwhile another thread may have counted them for another model.
    known = [_known(entry, counter) for entry in entries]
    fresh = [entry for entry, message in zip(entries, known, strict=True) if message is None]
    texts = [text for entry in fresh for part in entry.parts for text in _texts(part)]
    counts = iter(count_texts(counter, texts) if texts else ())

    def measured(entry: Entry) -> MeasuredMessage:
        parts = tuple([_counted(part, counts) for part in entry.parts])
        low, high = sum([count.low for count in parts]), sum([count.high for count in parts])
        message = MeasuredMessage(counter, parts, low, MESSAGE_TOKENS + high, entry_counts(entry, parts))
        entry.counts[:] = [message]
        return message

    return [message or measured(entry) for entry, message in zip(entries, known, strict=True)]


def _known(entry: Entry, counter: TokenCounter) -> MeasuredMessage | None:
    """Return what a counter said of a message; None if it was not asked. One slot is enough: a conversation has one counter."""
    known: MeasuredMessage | None = entry.counts[0] if entry.counts else None
    if known is None or known.counter is counter:
        return known
    # Each request brings a counter of its own, equal to that of the turn before. Comparing their settings takes longer than
    # everything else decided about a message, so it is done once.
    if known.counter != counter:
        return None
    entry.counts[0] = known = known._replace(counter=counter)
    return known


def high_of(entries: Sequence[Entry], counter: TokenCounter) -> int:
    """Return the tokens of some messages at most, their frames included."""
    return sum([message.high for message in measure_entries(entries, counter)])


@dataclass(frozen=True)
class Sized:
    """A transcript, the counter that decides about it, and the counts of what accompanies its messages."""

    transcript: Transcript
    counter: TokenCounter = ESTIMATOR
    _beside: dict[str, Count] = field(default_factory=dict, repr=False, compare=False)
    _handoffs: dict[str, Handoff] = field(default_factory=dict, repr=False, compare=False)

    def beside(self) -> dict[str, Count]:
        """Return the tokens of what accompanies the messages: instructions, tools and the form of the reply."""
        if not self._beside:
            shown = self.transcript
            beside = (("system", shown.system), ("tools", shown.tools), ("reply schema", shown.reply_schema))
            for kind, value in beside:
                text = value if isinstance(value, str) else as_json(value) if value else ""
                self._beside[kind] = self.counter.count(text) if text else _NOTHING
            # Servers that hold a reply to its form by a grammar (vLLM, llama.cpp, Ollama) show their model none of it: that must
            # not look like a request that was cut.
            form = self._beside["reply schema"]
            self._beside["reply schema"] = Count(tokens=form.tokens, low=0, high=form.high, method=form.method)
        return self._beside

    def showing(self, transcript: Transcript) -> Sized:
        """Return another state of the same conversation; what accompanies the messages is not counted again."""
        before = self.transcript
        is_same = all(
            getattr(transcript, name) is getattr(before, name) for name in ("system", "tools", "reply_schema")
        )
        shown = Sized(transcript, self.counter, self.beside() if is_same else {})
        # Actions are read from the originals, which an edit does not touch.
        if "actions" in self.__dict__ and transcript.entries is self.transcript.entries:
            shown.__dict__["actions"] = self.actions
        return shown

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """What the calls did, read once for all states of the same conversation."""
        return actions(self.transcript)

    def handoff(self, session_id: str) -> Handoff:
        """Return the handoff of a session whose context is full: made without a model, and written once for all callers."""
        if session_id not in self._handoffs:
            self._handoffs[session_id] = mechanical(
                self.transcript, session_id=session_id, reason="context", done=self.actions
            )
        return self._handoffs[session_id]

    @cached_property
    def _messages(self) -> list[MeasuredMessage]:
        """The measure of each message that is shown."""
        return measure_entries(self.transcript.visible(), self.counter)

    @cached_property
    def low(self) -> int:
        """The tokens of the request at least: what is more than a window certainly does not fit."""
        return sum(count.low for count in self.beside().values()) + sum([message.low for message in self._messages])

    @cached_property
    def high(self) -> int:
        """The tokens of the request at most: the size that plans use."""
        return self.fixed_high + sum([message.high for message in self._messages])

    @property
    def fixed_high(self) -> int:
        """The tokens at most of what is not among the messages."""
        return sum(count.high for count in self.beside().values())

    @cached_property
    def counts(self) -> KindCounts:
        """The likely tokens of the request by kind of content."""
        beside = self.beside()
        # The form of a reply is a schema, as those of tools are.
        schemas = beside["tools"].tokens + beside["reply schema"].tokens
        fixed = counts_of([("system", beside["system"].tokens), ("tools", schemas)])
        return sum_of([fixed, *[message.counts for message in self._messages]])

    def count(self, text: str) -> Count:
        """Return what a text takes."""
        return self.counter.count(text)


_NOTHING = Count(tokens=0, low=0, high=0, method="none")


def size_of(transcript: Transcript, counter: TokenCounter = ESTIMATOR) -> int:
    """Return the tokens of a transcript at most, as a request that shows it."""
    return Sized(transcript, counter).high


def total(counts: Iterable[Count]) -> Count:
    """Return the sum of some counts, bound by bound.

    Its method is that of the first part counted by a counter; frames, images and files have methods of their own.
    """
    low = tokens = high = 0
    method = ""
    for count in counts:
        low, tokens, high = low + count.low, tokens + count.tokens, high + count.high
        # Counters have a colon in their names (`estimate:o200k`, `exact:o200k`); `frame`, `image` and `none` are not
        # counters.
        method = method if ":" in method else count.method
    return Count(tokens=tokens, low=low, high=high, method=method)


def _texts(part: Part) -> list[str]:
    """Return the texts of a part that are counted; for a call, result or reasoning, as they are in the request."""
    match part:
        case Text(text):
            return [text]
        case ToolCall():
            return [f"{part.name} {part.arguments}"]
        case ToolResult():
            return [part.text, *(text for inner in _beside_text(part) for text in _texts(inner))]
        case Media():
            # An image or a file counts by its kind and its bytes; a reference without data counts as its text.
            return [] if media_count(part) else [as_json(part.raw)]
        case _:
            return [as_json(part.raw)]


def _counted(part: Part, counts: Iterator[Count]) -> Count:
    """Return the count of a part, given the counts of its texts in order."""
    match part:
        case ToolResult():
            said = next(counts)
            beside = [_counted(inner, counts) for inner in _beside_text(part)]
            return total([said, *beside]) if beside else said
        case Media() if media := media_count(part):
            return media
        case Reasoning():
            # Claude neither counts nor reads its thoughts of earlier turns; that must not look like a request that was cut.
            said = next(counts)
            return Count(tokens=said.tokens, low=0, high=said.high, method=said.method)
        case _:
            return next(counts)


def _beside_text(result: ToolResult) -> list[Part]:
    """Return the images, files and other things in a result."""
    return [inner for inner in result.parts if not isinstance(inner, Text)]
