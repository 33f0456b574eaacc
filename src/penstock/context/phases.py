"""What is a ladder made of? Phases: rungs of one kind in a row, each of which takes more than the one before.

A phase knows its number of rungs without writing any; stubs and notes are written once, when a rung is first examined. Leaves to
others: which phases there are, and in which order (`ladder`).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from penstock.context.compaction.spans import neighbours, note_frame, span_step
from penstock.context.counts import counts_of, sum_of
from penstock.context.provider_counts import min_decrease, sure_tokens
from penstock.context.sized import MESSAGE_TOKENS, high_of, measure_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock.context.compaction.plans import PlanStep
    from penstock.context.compaction.views import View
    from penstock.context.counts import KindCounts
    from penstock.wires import Turn

_Item = TypeVar("_Item")

# A note may consist of other content than what it replaces, and a provider may count one kind 16 times as much as another (4
# against 1/4, R-1). So a note has at most .16 characters for each token that goes, a twentieth in tokens: it is smaller even at the
# worst factors. Images, files and reasoning that go earn no room for a note, because a provider may count hardly anything for them.
NOTE_SHARE = 0.16
"""The characters that a note may have for each token that goes."""
# A note that grows turn by turn is written anew for each rung examined; more rungs would hardly fit better.
_MAX_SPAN_RUNGS = 32


class RungPhase(Protocol):
    """A part of the ladder: some rungs, each of which takes more than the one before."""

    def __len__(self) -> int: ...

    def steps(self, count: int, gone: Sequence[tuple[int, int]] = ()) -> Sequence[PlanStep]:
        """Return the steps of the phase's first `count` rungs.

        Args:
            count: how many of its rungs are taken.
            gone: the first and last message of what later phases take as a whole: steps within may be left out.
        """
        ...


class StepRungs(Generic[_Item]):
    """A phase with a rung for each step, written when first examined; a step that would not shrink is left out.

    Args:
        items: what each step applies to.
        make: writes the steps of some items, None for one that would not shrink.
    """

    def __init__(self, items: Iterable[_Item], make: Callable[[Sequence[_Item]], Sequence[PlanStep | None]]) -> None:
        self._items, self._make = list(items), make
        self._made: list[PlanStep | None] = []

    def __len__(self) -> int:
        return len(self._items)

    def steps(self, count: int, gone: Sequence[tuple[int, int]] = ()) -> Sequence[PlanStep]:
        """Return the first `count` steps, without those that would not shrink."""
        del gone
        if fresh := self._items[len(self._made) : count]:
            self._made += self._make(fresh)
        return [step for step in self._made[:count] if step is not None]


class FormRungs(Generic[_Item]):
    """A phase that does the same in smaller and smaller forms: each rung takes the place of the one before.

    Args:
        forms: what each rung is written from: how much a cut leaves, how long a handoff is.
        make: writes the steps of one form.
    """

    def __init__(self, forms: Sequence[_Item], make: Callable[[_Item], Sequence[PlanStep]]) -> None:
        self._forms, self._make = forms, make
        self._made: dict[int, Sequence[PlanStep]] = {}

    def __len__(self) -> int:
        return len(self._forms)

    def steps(self, count: int, gone: Sequence[tuple[int, int]] = ()) -> Sequence[PlanStep]:
        """Return the steps of the `count`-th form, counted from 1."""
        del gone
        if count not in self._made:
            self._made[count] = self._make(self._forms[count - 1])
        return self._made[count]


class SpanRungs:
    """A phase that turns finished turns into notes, the oldest first: each rung reaches a little further.

    Args:
        view: the transcript.
        turns: the turns that may go, oldest first.
        users: whether the user's own words go too, quoted in the notes.
        whole: rows of turns that an earlier phase turned into notes, and that go as a whole or not at all.
    """

    def __init__(
        self, view: View, turns: Sequence[Turn], *, users: bool = False, whole: Sequence[Sequence[Turn]] = ()
    ) -> None:
        self._view, self._users = view, users
        self.rows = [list(row) for row in neighbours(turns, view.transcript.turns())]
        inside = {turn.first for row in whole for turn in row[1:]}
        place, ends = 0, []
        for row in self.rows:
            for number, _ in enumerate(row, 1):
                place += 1
                if number == len(row) or row[number].first not in inside:
                    ends.append(place)
        # Every `stride`-th end counted from the last, so that the last end, all turns of the phase, is always a rung.
        stride = max(1, -(-len(ends) // _MAX_SPAN_RUNGS))
        self._extents = ends[::-1][::stride][::-1]  # the last end is always included
        self._written: dict[tuple[int, int], PlanStep | None] = {}

    def __len__(self) -> int:
        return len(self._extents)

    def steps(self, count: int, gone: Sequence[tuple[int, int]] = ()) -> Sequence[PlanStep]:
        """Return the notes for the turns that the first `count` rungs take, except those within what is gone."""
        left = self._extents[count - 1]
        ends: dict[int, int] = {}
        for first, last in sorted(gone):
            ends[first] = max(last, ends.get(first, last))
        firsts = [*ends]
        steps: list[PlanStep] = []
        for row in self.rows:
            if left <= 0:
                break
            turns = row[:left]
            # Spans of one phase do not overlap, so only the one that begins last before these turns can hold them. If it does
            # not hold them all, an unneeded note is written, which `lasting` drops.
            place = bisect_right(firsts, turns[0].first) - 1
            if place >= 0 and turns[-1].last <= ends[firsts[place]]:
                left -= len(row)
                continue
            if (step := self._note(turns)) is not None:
                steps.append(step)
            left -= len(row)
        return steps

    def _note(self, turns: Sequence[Turn]) -> PlanStep | None:
        """Return the note for some turns; None if it would not shrink or would only replace notes."""
        key = turns[0].first, turns[-1].last
        if key not in self._written:
            is_one_note = all(turn.kind == "note" for turn in turns)
            self._written[key] = None if is_one_note else self._shrinking(turns, self._note_share(*key))
        return self._written[key]

    def _shrinking(self, turns: Sequence[Turn], share: float) -> PlanStep | None:
        """Return the longest note that is smaller than what it replaces; None if there is none."""
        # If most of what goes earns no room, the bare line is tried as well: a longer row of turns should not lose its note
        # because its words would be expensive. And a user's words may be in a script whose characters take four times what
        # the share assumes.
        shares = [share, share / 4, 0.0] if self._users else [share, 0.0] if share < NOTE_SHARE else [share]
        larger: list[PlanStep] = []
        for one in shares:
            is_bare = not self._users or not one
            step = span_step(self._view, "spans", turns, note_share=one, can_be_bare=is_bare)
            if self._is_smaller(step):
                return step
            larger.append(step)
        # Between user words that stay, each answer would become a note of its own, and many small notes are not certainly
        # smaller: such turns wait for the phase that takes the user's words too and makes one note of everything.
        return next((step for step in larger if self._users and step.after_tokens < step.before_tokens), None)

    def _note_share(self, first: int, last: int) -> float:
        """Return the characters that a note may have for each token of these messages, most of which may earn no room."""
        counts = self._counts(first, last)
        sure = sure_tokens(counts)
        if sure == counts.total:
            return NOTE_SHARE
        return NOTE_SHARE * sure / high_of(self._view.entries_between(first, last), self._view.counter)

    def _is_smaller(self, step: PlanStep) -> bool:
        """Whether a note is smaller than what it replaces, however a provider counts either."""
        messages, _ = note_frame(self._view, step.first, step.last)
        added = counts_of([("notes", step.after_tokens - messages * MESSAGE_TOKENS)], messages=messages)
        return min_decrease(self._counts(step.first, step.last), added) > 0

    def _counts(self, first: int, last: int) -> KindCounts:
        """Return the counts by kind of the messages from index `first` to `last`, both inclusive."""
        gone = self._view.entries_between(first, last)
        return sum_of([message.counts for message in measure_entries(gone, self._view.counter)])
