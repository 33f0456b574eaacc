"""How does the next request fit? What of it goes, where the whole of that is, and the proof by counting.

Law: what comes out takes at most what it may, or nothing comes out and the bill says why. Nothing is taken that cannot be had back.
Keeps out: how a host writes it down (one module a host).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.context import compaction
from penstock.context.sized import Sized
from penstock.hosts.sessions import grouped, joined
from penstock.text import fitting, stand_ins
from penstock.text.allowance import Allowance
from penstock.text.fitting import Keep
from penstock.text.json_access import as_json
from penstock.wires import Media, Text, ToolResult, load, text_message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.context.bill import Bill
    from penstock.hosts.rescue.projection import Projection
    from penstock.inspection.happenings import Said
    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Transcript

MARGIN = 10
"""The part of the limit that stays free for the next prompt: a tenth."""
MAX_MEDIA_BYTES = 5 << 20  # an image of Anthropic's API; the others take more
_LARGE_SHARE = 8  # words above that part of the room are no question
_KEPT_TOKENS = 1_500


class Size(NamedTuple):
    """What the next request takes, as far as it is known."""

    messages_tokens: int
    """Our count of its messages, at most."""
    fixed_tokens: int
    """What goes with every request: as the provider counted it, else our count of what is recorded."""
    is_measured: bool
    """Whether a provider's figure stands behind `fixed_tokens`."""

    @property
    def tokens(self) -> int:
        """All of it."""
        return self.messages_tokens + self.fixed_tokens


class Line(NamedTuple):
    """A message of the new session."""

    said: tuple[Said, ...]
    """What it was in the old one; empty for a note in place of what is left out."""
    message: Json
    """It, as the wire has it; None where it is as it was."""


class Cut(NamedTuple):
    """Something that is no longer in the session, and where it is instead."""

    what: str
    handle: str
    tokens: int
    """What it took, less what stands in its place."""


class Smaller(NamedTuple):
    """A session that fits."""

    lines: tuple[Line, ...]
    cuts: tuple[Cut, ...]
    tokens: int
    """What its next request takes, what goes with every request included."""


class TooLarge(NamedTuple):
    """A session that cannot be made to fit, and what remains of it."""

    bill: Bill


def measure(projection: Projection, wire: str, counter: TokenCounter) -> Size:
    """Return what the next request takes."""

    def count(said: Sequence[Said]) -> int:
        return Sized(load([joined(parts) for parts in grouped(said)], wire), counter).high

    system, tools = projection.instructed
    recorded = counter.count(system or "").high + (counter.count(as_json(list(tools))).high if tools else 0)
    messages = count(projection.said)
    counted = projection.measured_said
    if projection.measured is None or not counted:
        return Size(messages, recorded, is_measured=False)
    fixed = (projection.measured.input_tokens or 0) - count(projection.said[:counted])
    return Size(messages, max(0, fixed), is_measured=True)


def shrink(
    said: Sequence[Said],
    wire: str,
    room_tokens: int,
    *,
    counter: TokenCounter,
    keep: Callable[[str, str], str],
    dialect: Dialect,
) -> tuple[tuple[Line, ...], tuple[Cut, ...], int] | TooLarge:
    """Return messages that take at most so much, what was cut from them, and what they take.

    Images that no provider takes go first, then results from the largest on, then what is finished, oldest first; last what a
    person pasted. Instructions of the host and the task stay.

    Args:
        said: the messages in force.
        wire: how they are written.
        room_tokens: what they may take.
        counter: counts them.
        keep: keeps what goes, given its content and a name, and returns its handle.
        dialect: how the call is written that reads it.
    """
    groups = grouped(said)
    messages = [joined(parts) for parts in groups]
    cutting = _Cutting(messages, wire, counter, keep, dialect)
    cutting.cut_media()
    made, plan = cutting.planned(groups, room_tokens)
    if plan.outcome == "cannot":
        cutting.cut_words(room_tokens // _LARGE_SHARE)
        made, plan = cutting.planned(groups, room_tokens)
    if plan.irreducible is not None:
        return TooLarge(plan.irreducible)
    handles: list[str] = []

    def kept(content: str, name: str) -> str:
        handles.append(keep(content, name))
        return handles[-1]

    smaller = compaction.apply(made, plan, kept)
    cuts = [
        Cut(step.what, handle, step.before_tokens - step.after_tokens)
        for step, handle in zip(plan.steps, handles, strict=True)
    ]
    lines = [
        Line((), entry.raw)
        if entry.is_note
        else Line(tuple(groups[entry.index]), None if entry.raw == joined(groups[entry.index]) else entry.raw)
        for entry in smaller.visible()
    ]
    return tuple(lines), (*cutting.cuts, *cuts), Sized(smaller, counter).high


class _Cutting:
    """Messages of which some are replaced."""

    def __init__(
        self,
        messages: list[Json],
        wire: str,
        counter: TokenCounter,
        keep: Callable[[str, str], str],
        dialect: Dialect,
    ) -> None:
        self.messages = messages
        self.cuts: list[Cut] = []
        self._wire = wire
        self._counter = counter
        self._keep = keep
        self._dialect = dialect

    def planned(self, groups: Sequence[Sequence[Said]], room_tokens: int) -> tuple[Transcript, compaction.Plan]:
        """Return the messages as a transcript in which what the host needs is pinned, and how it fits."""
        made = load(self.messages, self._wire)
        first = next(
            (at for at, parts in enumerate(groups) if _is_of_a_person(parts) and made.entries[at].speaks), None
        )
        shown = {entry.index for entry in made.visible() if not entry.is_note}
        for at, parts in enumerate(groups):
            if at in shown and (at == first or all(one.by_host and not one.is_summary for one in parts)):
                made = made.pin(at)
        plan = compaction.plan(
            made, room_tokens, compaction.RECOVERY, low_water=1.0, repaid=False, dialect=self._dialect
        )
        return made, plan

    def cut_media(self) -> None:
        """Put a sentence in the place of every image that no provider takes."""
        for at, entry in enumerate(load(self.messages, self._wire).entries):
            for part in entry.parts:
                held = part.parts if isinstance(part, ToolResult) else (part,)
                for medium in held:
                    if isinstance(medium, Media) and medium.bytes_estimate > MAX_MEDIA_BYTES:
                        handle = self._keep(medium.data or medium.url, medium.kind)
                        words = f"[{stand_ins.CLEARED} {medium.kind} of {medium.bytes_estimate} bytes: {handle}]"
                        self.cuts.append(Cut(medium.kind, handle, 0))
                        self._replace(at, medium.raw, words)

    def cut_words(self, most_tokens: int) -> None:
        """Cut what a person or the host put in at once to its two ends, where it is larger than that."""
        for at, entry in enumerate(load(self.messages, self._wire).entries):
            for part in entry.parts:
                tokens = self._counter.count(part.text).high if isinstance(part, Text) else 0
                if not isinstance(part, Text) or entry.role == "assistant" or tokens <= most_tokens:
                    continue
                handle = self._keep(part.text, "message")
                allowance = Allowance.tokens(min(_KEPT_TOKENS, most_tokens), self._counter)
                words = fitting.fit(part.text, allowance, Keep.ENDS, handle, name="message", dialect=self._dialect).text
                self.cuts.append(Cut("message", handle, tokens - self._counter.count(words).high))
                self._replace(at, part.text, words)

    def _replace(self, at: int, old: Json, words: str) -> None:
        """Put words where a message has a block or a text, wherever in it that stands."""
        block = _block_of(text_message(self._wire, "user", words))

        def replaced(value: Json) -> Json:
            if value == old and isinstance(value, dict):
                return block
            if value == old and isinstance(value, str):
                return words
            if isinstance(value, dict):
                return {key: replaced(inner) for key, inner in value.items()}
            if isinstance(value, list):
                return [replaced(inner) for inner in value]
            return value

        self.messages[at] = replaced(self.messages[at])


def _is_of_a_person(parts: Sequence[Said]) -> bool:
    return not any(one.by_host for one in parts)


def _block_of(message: Json) -> Json:
    """Return a message's words as a block among others."""
    content = message.get("content", message.get("parts")) if isinstance(message, dict) else None
    return content[0] if isinstance(content, list) and content else {"type": "text", "text": content}
