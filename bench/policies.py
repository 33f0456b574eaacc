"""What is forgotten, and when? Policies in common use, and ours, behind one protocol.

A policy sees the transcript as the last request left it, plus what was said since. Leaves to others: what it costs (`replay`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bench.sessions import spoken

from penstock.context import compaction
from penstock.context.compaction import DEFAULT
from penstock.context.compaction.spans import neighbours
from penstock.text.allowance import Budget
from penstock.text.tokens import Count
from penstock.wires import Cleared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.context.compaction import Plan, Strategy
    from penstock.wires import Transcript

    Keep = Callable[[str, str], str]

CHARS_PER_TOKEN = 4
STUB = "[Old tool result cleared]"


class Policy(Protocol):
    """A plan is falsy if there is nothing to do; `keep(content, name)` stores a text and returns its handle."""

    def plan(self, transcript: Transcript, /) -> Any: ...

    def apply(self, transcript: Transcript, plan: Any, keep: Keep, /) -> Transcript: ...


class Quarters:
    """A token is four characters: the same measure for every policy and for the table."""

    def count(self, text: str, /) -> Count:
        tokens = len(text) // CHARS_PER_TOKEN
        return Count(tokens=tokens, low=tokens, high=tokens, method="chars/4")


@dataclass(frozen=True, kw_only=True)
class Mask:
    """Clears all results but the newest, once the prompt is above this many tokens: at every call, or in batches."""

    keep_results: int = sys.maxsize
    above_tokens: int = 0

    def plan(self, transcript: Transcript, /) -> list[Cleared]:
        if sum(len(spoken(entry)) for entry in transcript.visible()) <= self.above_tokens * CHARS_PER_TOKEN:
            return []
        results = [(entry.index, part.call_id) for entry in transcript.entries for part in entry.results]
        done = {(edit.index, edit.call_id) for edit in transcript.edits if isinstance(edit, Cleared)}
        return [
            Cleared(index=index, call_id=call_id, text=STUB)
            for index, call_id in results[: -self.keep_results]
            if (index, call_id) not in done
        ]

    def apply(self, transcript: Transcript, plan: list[Cleared], _: Keep, /) -> Transcript:
        return transcript.replace_results(plan)


@dataclass(frozen=True, kw_only=True)
class Summaries:
    """Once the prompt is above this many tokens, all but the newest turns are replaced by a text of fixed length.

    A stand-in for a model's summary: its text says nothing, and writing it costs nothing. So what a real one would repeat is
    missing here, and so is its cost.
    """

    above_tokens: int
    keep_share: float = 0.25
    """The share of the limit that the newest turns may take."""
    summary_tokens: int = 500

    def plan(self, transcript: Transcript, /) -> list[tuple[int, int]]:
        sizes = {entry.index: len(spoken(entry)) for entry in transcript.visible()}
        if sum(sizes.values()) <= self.above_tokens * CHARS_PER_TOKEN:
            return []
        room = int(self.above_tokens * CHARS_PER_TOKEN * self.keep_share)
        turns, protected = transcript.turns(), transcript.protected()
        newest = len(turns)
        while newest and (room := room - sum(sizes[entry.index] for entry in turns[newest - 1].entries)) >= 0:
            newest -= 1
        old = [turn for turn in turns[:newest] if not protected & {entry.index for entry in turn.entries}]
        rows = [
            (row[0].first, row[-1].last, sum(sizes[entry.index] for turn in row for entry in turn.entries))
            for row in neighbours(old, turns)
        ]
        return [(first, last) for first, last, size in rows if size > self.summary_tokens * CHARS_PER_TOKEN]

    def apply(self, transcript: Transcript, plan: list[tuple[int, int]], _: Keep, /) -> Transcript:
        for first, last in plan:
            transcript = transcript.drop_span(first, last, "." * self.summary_tokens * CHARS_PER_TOKEN)
        return transcript


@dataclass(frozen=True, kw_only=True)
class Ours:
    """`penstock.compaction` with its defaults, with this many tokens as its budget."""

    budget: Budget
    strategies: Sequence[Strategy] = DEFAULT

    def plan(self, transcript: Transcript, /) -> Plan:
        return compaction.plan(transcript, self.budget, self.strategies)

    def apply(self, transcript: Transcript, plan: Plan, keep: Keep, /) -> Transcript:
        return compaction.apply(transcript, plan, keep)


def policies(above_tokens: int) -> dict[str, Policy]:
    """Those of the table, by name."""
    return {
        "raw": Mask(),
        "rolling, keep 5": Mask(keep_results=5),
        "batch, keep 5": Mask(keep_results=5, above_tokens=above_tokens),
        "summaries": Summaries(above_tokens=above_tokens),
        "penstock": Ours(budget=Budget(above_tokens, counter=Quarters())),
    }
