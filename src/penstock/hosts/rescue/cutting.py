"""What is removed before anything is planned: copies, images, refused reasoning; and last, what was pasted?

Law: removed content can be retrieved under its handle, except copies of what stays. Leaves to others: when enough is removed
(`shrinking`).
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from penstock.context.activity import actions
from penstock.context.compaction.plans import whole, with_steps
from penstock.context.compaction.spans import neighbours, span_step
from penstock.context.compaction.views import View
from penstock.context.counts import IMAGE_TOKENS
from penstock.hosts.rescue.diagnosis import is_too_large, media_of
from penstock.hosts.rescue.pairs import find_unpaired
from penstock.text import fitting, stand_ins
from penstock.text.allowance import Allowance
from penstock.text.fitting import Keep
from penstock.text.json_access import as_json, copied
from penstock.wires import Text, load, wire_named
from penstock.wires.portable import UserTurn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Transcript

_KEPT_TOKENS = 1_500
_LARGEST_SHARE = 8  # a text above this fraction of the room is not a question


class RescueCut(NamedTuple):
    """Something that is no longer in the session, and where it is instead."""

    what: str
    handle: str
    """Empty for a copy of what stays."""
    tokens: int
    """Tokens that a cut saves: the old content less its replacement."""


class OfferedTools(NamedTuple):
    """What every cut needs."""

    wire: str
    counter: TokenCounter
    keep: Callable[[str | bytes, str], str]
    """Keeps removed content, given that and a name, and returns its handle."""
    dialect: Dialect
    """How the call that reads it is written."""


class Cutting:
    """Messages some of which are replaced."""

    def __init__(self, messages: list[Json], tools: OfferedTools) -> None:
        self.messages = messages
        self.cuts: list[RescueCut] = []
        self._tools = tools

    @property
    def transcript(self) -> Transcript:
        """The messages in their present state."""
        return load(self.messages, self._tools.wire)

    def drop_copies(self) -> set[int]:
        """Remove duplicate results of a call; return the positions of messages that held nothing else."""
        made = self.transcript
        doubled = find_unpaired(made).doubled
        of_each = Counter(at for at, _ in doubled)
        emptied = {at for at, number in of_each.items() if number == len(made.entries[at].parts)}
        for at, number in reversed(doubled):
            entry, part = made.entries[at], made.entries[at].parts[number]
            tokens = self._tools.counter.count(getattr(part, "text", "")).high
            is_same = any(part in other.parts for other in made.entries[:at]) or part in entry.parts[:number]
            handle = "" if is_same else self._tools.keep(getattr(part, "text", ""), "result")
            self.cuts.append(RescueCut("copy of a result", handle, tokens))
            if at not in emptied:
                self.messages[at] = _without_block(self.messages[at], number)
        return emptied

    def cut_media(self, over_tokens: int, refused: Collection[int] = ()) -> None:
        """Replace images and files by a sentence; those that their provider refuses are always replaced.

        Args:
            over_tokens: how much must be removed, the largest first.
            refused: the positions of messages in which all of them are replaced.
        """
        rows = sorted(media_of(self.transcript), key=lambda row: -row[1].bytes_estimate)
        for entry, medium in rows:
            is_refused = entry.index in refused or is_too_large(medium, self._tools.wire)
            if over_tokens <= 0 and not is_refused:
                continue
            # A document may be text, or a file that the provider stores: then the block itself is kept.
            kept = _content(medium.data) or medium.url or as_json(medium.raw)
            handle = self._tools.keep(kept, medium.kind)
            way = stand_ins.way_back(handle, self._tools.dialect)
            words = f"[{stand_ins.CLEARED}: {medium.kind} of {medium.bytes_estimate} bytes; the whole: {way}]"
            tokens = max(0, IMAGE_TOKENS.high - self._tools.counter.count(words).high)
            self.cuts.append(RescueCut(medium.kind, handle, tokens))
            self._replace(entry.index, medium.raw, words)
            over_tokens -= tokens

    def cut_words(self, room_tokens: int) -> bool:
        """Cut a person's or the host's text to its two ends if it takes a large part of the room.

        Returns:
            Whether anything was cut.
        """
        # A text not much longer than its ends stays: it may be the host's instructions to its model.
        before, most = len(self.cuts), max(_KEPT_TOKENS, room_tokens // _LARGEST_SHARE)
        for at, entry in enumerate(self.transcript.entries):
            for part in entry.parts:
                tokens = self._tools.counter.count(part.text).high if isinstance(part, Text) else 0
                if not isinstance(part, Text) or entry.role == "assistant" or tokens <= most:
                    continue
                handle = self._tools.keep(part.text, "message")
                allowance = Allowance.tokens(_KEPT_TOKENS, self._tools.counter)
                fitted = fitting.fit(
                    part.text, allowance, Keep.ENDS, handle, name="message", dialect=self._tools.dialect
                )
                self.cuts.append(RescueCut("message", handle, tokens - self._tools.counter.count(fitted.text).high))
                self._replace(at, part.text, fitted.text)
        return len(self.cuts) > before

    def _replace(self, at: int, old: Json, words: str) -> None:
        """Replace a block or a text of a message by words, wherever it is in the message."""
        new = words if isinstance(old, str) else _block_of(self._tools.wire, words)
        self.messages[at] = copied(self.messages[at])
        rest: list[Json] = [self.messages[at]]
        while rest:  # without recursion: tool results may nest to any depth
            held = rest.pop()
            for key, value in list(held.items() if isinstance(held, dict) else enumerate(held)):
                if type(value) is type(old) and value == old:
                    held[key] = new
                elif isinstance(value, dict | list):
                    rest.append(value)


def without_turns(
    transcript: Transcript, entries: Collection[int], tools: OfferedTools
) -> tuple[Transcript, list[RescueCut]]:
    """Return a transcript with a note in place of the turns that hold these messages, and what was removed.

    Reasoning that its provider refuses is removed with its whole turn: it cannot be separated from what was signed around it. A
    protected turn stays.
    """
    kept = transcript.protected()
    turns = [
        turn
        for turn in transcript.turns()
        if any(one.index in entries for one in turn.entries) and not any(one.index in kept for one in turn.entries)
    ]
    view = View(transcript=transcript, actions=actions(transcript), counter=tools.counter, dialect=tools.dialect)
    steps = [span_step(view, "reasoning", row) for row in neighbours(turns, transcript.turns())]
    cuts: list[RescueCut] = []
    handles = [tools.keep(whole(transcript, step), step.what) for step in steps]
    for step, handle in zip(steps, handles, strict=True):
        cuts.append(
            RescueCut(f"{step.what}, whose reasoning is refused", handle, step.before_tokens - step.after_tokens)
        )
    given = iter(handles)
    return with_steps(transcript, steps, lambda _step: next(given)), cuts


def _without_block(message: Json, number: int) -> Json:
    """Return a message without one of its blocks."""
    key = "content" if isinstance(message.get("content"), list) else "parts"
    return {**message, key: [block for at, block in enumerate(message[key]) if at != number]}


def _content(data: str) -> str | bytes:
    """Return the bytes that base64 encodes; the text itself if it is not base64."""
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return data


def _block_of(wire: str, words: str) -> Json:
    """Return words as a block among others, in the wire's form for several."""
    (message,) = wire_named(wire).codec.write([UserTurn([Text(words), Text(words)])]).messages
    return next(value for value in message.values() if isinstance(value, list))[0]
