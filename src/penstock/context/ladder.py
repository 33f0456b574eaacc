"""In which order is a refused request made smaller? A ladder of smaller and smaller forms, down to the floor, in a fixed order.

A rung is one form of the request, and each keeps less than the one above it: floods are cut to their ends; superseded and old
results become stubs; failed attempts and finished turns become notes; then newer content goes, then the user's words, and last
everything but the floor. The floor is F of behaviour R-1: instructions, tools, pins, the task, the newest user message, the last
batch of calls with its results stubbed, and a handoff of at most 2,000 characters.

Two other orders lead to the floor in fewer kinds of steps. By age, more and more of the oldest turns become one note, whoever
speaks in them: what goes has the same mix of content as what stays, so it can be sized even if nobody knows what a provider counts
for an image or a result. By size, the largest results are cut to their ends, no further than necessary.

Because the order is fixed, sizing a retry is one question (which rung is the first that is small enough?). It is answered by
bisection over counts that are only added and subtracted; stubs and notes are written only for the few rungs examined. Laws: each
rung leaves a valid request; going down never brings anything back; the last rung is the floor. Leaves to others: how small is small
enough (`rung_choice`), how each part is written (`phases`), and where the originals of what is cut are kept.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.context.compaction.plans import HANDLE, Plan, lasting, rewritten_tokens
from penstock.context.compaction.results import KEEP_RESULTS, Offload, Stale
from penstock.context.compaction.spans import (
    FailedAttempts,
    finished_turns,
    neighbours,
    note_frame,
    note_step,
    standing_note,
    steps_of,
)
from penstock.context.compaction.views import View
from penstock.context.counts import CONTENT_KINDS, KindCounts, sum_of
from penstock.context.handoff import render
from penstock.context.phases import FormRungs, SpanRungs, StepRungs
from penstock.context.sized import MESSAGE_TOKENS, measure_entries, measure_entry
from penstock.text import stand_ins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.context.compaction.plans import PlanStep
    from penstock.context.compaction.views import ShownResult
    from penstock.context.phases import RungPhase
    from penstock.context.sized import Sized
    from penstock.text.calls import Dialect
    from penstock.wires import Turn

HANDOFF_CHARS = (2_000, 700, 0)
"""The characters in which the floor describes everything that went: R-1 allows 2,000; fewer if more could make the request grow."""
# What a flood keeps of its two ends. pi keeps 2,000 lines or 50 KiB, deepagents head and tail of 2,000 tokens.
FLOOD_TOKENS = 2_000
"""The most tokens that a flood keeps of its two ends."""
MIN_FLOOD_TOKENS = 200
"""The least tokens that a flood keeps of its two ends, however small the window."""
# There will be other floods.
FLOOD_SHARE = 8
"""One flood may keep the window divided by this: an eighth."""
# No model has seen these results: they are cut first, and become stubs only if that is not enough.
LAST_BATCH_TOKENS = 400
"""The tokens that each result of the last batch of calls keeps before it becomes a stub."""
# A step of a twentieth is finer than what is known about how a provider counts.
_LEVEL_SHARE = 0.95
_RESULTS, _NOTES = CONTENT_KINDS.index("results"), CONTENT_KINDS.index("notes")

Order = Literal["kind", "age", "size"]
"""What goes first: what is least painful to lose, what is oldest, or the middle of what is largest."""


class RungChange(NamedTuple):
    """What the steps from the request to a rung remove and add, by kind of content."""

    removed: KindCounts
    added: KindCounts


class Ladder:
    """The rungs of one request; rung 0 is the request itself.

    Args:
        sized: the request's transcript with its counts.
        window_tokens: the window as far as it is known: it determines what a flood keeps.
        kept: results that stay as they are, each by its message and its call.
        dialect: the call syntax in which stubs name the way back.
        session_id: the session's name in the floor's handoff.
    """

    def __init__(
        self,
        sized: Sized,
        *,
        window_tokens: int,
        kept: frozenset[tuple[int, str]] = frozenset(),
        dialect: Dialect | None = None,
        session_id: str = "",
    ) -> None:
        self.sized = sized
        self._flood_tokens = max(MIN_FLOOD_TOKENS, min(FLOOD_TOKENS, window_tokens // FLOOD_SHARE))
        self._session_id = session_id
        self._view = View(
            transcript=sized.transcript,
            actions=sized.actions,
            counter=sized.counter,
            dialect=dialect,
            kept=kept,
        )
        self._arrange("kind")

    def by(self, order: Order) -> Ladder:
        """Return the same request's ladder in another order, sharing what was read and written for this one."""
        other = copy(self)
        other._arrange(order)
        return other

    def _arrange(self, order: Order) -> None:
        """Put the rungs into an order."""
        # Phases know their number of rungs without writing a note or a stub, so a ladder of thousands of rungs costs
        # nothing until bisection examines about a dozen of them.
        self._phases = {"kind": self._by_kind, "age": self._by_age, "size": self._by_size}[order]()
        self._gentle_phases = _GENTLE_PHASES if order == "kind" else 1
        self._starts = [0, *accumulate(len(phase) for phase in self._phases)]
        self._steps: dict[int, tuple[PlanStep, ...]] = {0: ()}
        self._changes: dict[int, RungChange] = {}

    @property
    def last(self) -> int:
        """The last rung: the floor at its smallest."""
        return self._starts[-1]

    @property
    def floor(self) -> int:
        """The first rung of the floor, with its full handoff."""
        return self.last - len(HANDOFF_CHARS) + 1

    @property
    def gentle(self) -> int:
        """The last rung that keeps newer content and all user words; a model's summary could spare what goes below it."""
        return self._starts[self._gentle_phases]

    @property
    def recent(self) -> int:
        """The last rung that keeps all user words and, of the recent results, only those that no model has seen."""
        return self._starts[self._gentle_phases + 1]

    def strategy(self, rung: int) -> str:
        """Return the name of the deepest kind of step that a rung takes, as named in recovery results."""
        if rung >= self.floor:
            return "handoff"
        return self.steps(rung)[-1].strategy if self.steps(rung) else "normal"

    # ── one rung ─────────────────────────────────────────────────────────────────────────────────────────────────

    def steps(self, rung: int) -> tuple[PlanStep, ...]:
        """Return the steps that lead from the request to a rung, without those that later steps undo."""
        if rung not in self._steps:
            taken: list[PlanStep] = []
            # From the deepest phase upwards: what it takes as a whole needs no note from an earlier phase, and writing notes
            # is the most expensive part.
            gone: list[tuple[int, int]] = []
            for phase, start, end in reversed([*zip(self._phases, self._starts, self._starts[1:], strict=False)]):
                if start < min(rung, end):
                    steps = phase.steps(min(rung, end) - start, gone)
                    taken = [*steps, *taken]
                    gone += [(step.first, step.last) for step in steps if step.call_id is None]
            self._steps[rung] = lasting(taken)
        return self._steps[rung]

    def change(self, rung: int) -> RungChange:
        """Return what goes and what is added between the request and a rung."""
        if rung not in self._changes:
            steps = self.steps(rung)
            whole, beside, alone, added = self._stubbed([step for step in steps if step.call_id is not None])
            notes = messages_gone = messages_come = 0
            for step in steps:
                if step.call_id is not None:
                    continue
                gone = self._view.entries_between(step.first, step.last)
                messages, frame_tokens = note_frame(self._view, step.first, step.last)
                standing = standing_note(gone, self._view.transcript)
                if standing is None:
                    notes += step.after_tokens - messages * MESSAGE_TOKENS
                    messages_gone += len(gone)
                    messages_come += messages
                else:  # only its words change; its frame and its companion messages are there already
                    notes += step.after_tokens - frame_tokens
                    gone = [standing]
                whole += [message.counts for message in measure_entries(gone, self._view.counter)]
            removed, come = list(sum_of(whole).tokens), list(sum_of(beside).tokens)
            removed[_RESULTS] += alone
            come[_RESULTS] += added
            come[_NOTES] += notes
            self._changes[rung] = RungChange(
                removed=KindCounts(tuple(removed), messages_gone), added=KindCounts(tuple(come), messages_come)
            )
        return self._changes[rung]

    def _stubbed(self, steps: Sequence[PlanStep]) -> tuple[list[KindCounts], list[KindCounts], int, int]:
        """Return what goes with results, what accompanies them and comes back, results that are alone, and what the stubs take.

        A provider's count of a message may be off by a part, always the same for the same message. A message with a stub is another
        message: what accompanies the stub goes with the old one and comes back with the new one (R-1).
        """
        alone = added = 0
        shared: dict[int, KindCounts] = {}  # by message with more than its one result: what of it goes
        for step in steps:
            added += step.after_tokens
            tokens = self._only_results.get(step.first)
            if tokens is not None:
                alone += tokens
                continue
            # Results are counted at their likely size, not at most: a provider's number is compared with likely counts too.
            gone = self._result_counts[step.first, step.call_id or ""]
            shared[step.first] = shared[step.first] + gone if step.first in shared else gone
        whole = {index: measure_entry(self._view.by_index[index], self._view.counter).counts for index in shared}
        return list(whole.values()), [whole[index] - gone for index, gone in shared.items()], alone, added

    @cached_property
    def _only_results(self) -> dict[int, int]:
        """The tokens of messages that are the text of a single result and nothing else; on most wires, all result messages are."""
        return {
            index: counts.total
            for (index, _), counts in self._result_counts.items()
            if len(self._view.by_index[index].parts) == 1 and counts.total == counts.of("results")
        }

    def counts(self, rung: int) -> KindCounts:
        """Return the counts of a rung: those of the request, minus what goes, plus what comes."""
        change = self.change(rung)
        return self.sized.counts - change.removed + change.added

    def plan(self, rung: int, limit_tokens: int) -> Plan:
        """Return the steps to a rung as a plan that can be printed and applied."""
        steps = self.steps(rung)
        before = self.sized.high
        after = before - sum(step.before_tokens - step.after_tokens for step in steps)
        return Plan(
            steps=steps,
            before_tokens=before,
            after_tokens=after,
            limit_tokens=limit_tokens,
            outcome="shrunk" if steps else "fits",
            entries=len(self.sized.transcript.entries),
            edits=len(self.sized.transcript.edits),
            rewritten_tokens=rewritten_tokens(self.sized, steps, after),
        )

    def first(self, is_small_enough: Callable[[int], bool], *, after: int = 0) -> int:
        """Return the first rung below `after` for which the test holds, or the last rung.

        The test should hold for every rung below one for which it holds; otherwise some rung that passes is found.
        """
        # O(log n) rungs are written. Rungs only shrink, so a "small enough" test holds from some rung on. For a test that
        # does not (`is_smaller`, if a kind of stub is expensive), the caller checks the result again.
        low, high = after + 1, self.last
        while low < high:
            middle = (low + high) // 2
            if is_small_enough(middle):
                high = middle
            else:
                low = middle + 1
        return min(low, self.last)

    @cached_property
    def _result_counts(self) -> dict[tuple[int, str], KindCounts]:
        """The likely counts of each result, by its message and its call."""
        results = (*self._view.results, *self._view.cited_results)
        return {(result.entry.index, result.part.call_id): result.counts for result in results}

    # ── the phases, in their order ───────────────────────────────────────────────────────────────────────────────

    def _by_age(self) -> list[RungPhase]:
        """Return the phases of the order by age: more and more of the oldest turns, whoever speaks in them, and the floor."""
        view = self._view
        turns = [turn for turn in finished_turns(view, 1, users=True) if turn is not self._last_batch]
        return [SpanRungs(view, turns, users=True), self._floor_rungs]

    def _by_size(self) -> list[RungPhase]:
        """Return the phases of the order by size: floods, cut no further than necessary, and the floor."""
        floods = self._floods()
        levels: list[int] = []
        level = floods[0].tokens if floods else 0
        while (level := int(level * _LEVEL_SHARE)) > self._flood_tokens:
            levels.append(level)
        return [FormRungs(levels, partial(self._cut_alike, floods)), self._floor_rungs]

    def _by_kind(self) -> list[RungPhase]:
        """Return the phases of the usual order, the least painful loss first.

        Floods and superseded views cost hardly anything; old results can be fetched again; failed attempts and finished
        turns leave a note. Beyond that point (`gentle`) it hurts: recent and active results go, then the user's words, then
        what no model has seen yet, and finally the floor is reached.
        """
        view = self._view
        aged = [result for result in view.results if result.age_turns]
        newest, cited = self._newest
        # By identity: two results may be equal although only one of them is recent.
        last_five = {id(result) for result in view.results[-KEEP_RESULTS:]}
        old = [result for result in aged if id(result) not in last_five and not view.is_active(result)]
        recent = [result for result in aged if id(result) in last_five or view.is_active(result)]
        # The floor keeps the last batch of calls, however old it is, so no note above it may include that batch: a lower
        # rung would bring it back, and two notes would take the same turns.
        finished = SpanRungs(view, [turn for turn in finished_turns(view, 2) if turn is not self._last_batch])
        phases: list[RungPhase] = [
            StepRungs(self._floods(), partial(self._cuts, self._flood_tokens)),
            StepRungs(Stale().steps(view), list),
            StepRungs(old, self._stubs),
            StepRungs((step for step in FailedAttempts().steps(view) if not self._takes_last_batch(step)), list),
            finished,
        ]
        assert len(phases) == _GENTLE_PHASES  # noqa: S101 - what `gentle` counts
        return [
            *phases,
            StepRungs(recent, self._stubs),
            # Rows that `finished` turned into notes go as a whole: a rung that ended within one would bring part of it back,
            # and going down never brings anything back.
            SpanRungs(
                view,
                [turn for turn in finished_turns(view, 1, users=True) if turn is not self._last_batch],
                users=True,
                whole=finished.rows,
            ),
            StepRungs(newest, partial(self._cuts, LAST_BATCH_TOKENS)),
            StepRungs(newest, self._stubs),
            StepRungs(cited, self._stubs),
            StepRungs([*newest, *cited], self._bare_stubs),
            self._floor_rungs,
        ]

    @cached_property
    def _newest(self) -> tuple[list[ShownResult], list[ShownResult]]:
        """The results that no model has seen, and those of the last batch that are cited by an answer in the same message."""
        # Only from the last batch: older cited results go with their turns, citations included.
        batch = self._last_batch
        cited = [
            r for r in self._view.cited_results if batch is not None and batch.first <= r.entry.index <= batch.last
        ]
        return [result for result in self._view.results if not result.age_turns], cited

    @cached_property
    def _floor_rungs(self) -> RungPhase:
        """The rungs of the floor, one for each length of its handoff."""
        newest, cited = self._newest
        return FormRungs(HANDOFF_CHARS, partial(self._floor_steps, [*newest, *cited]))

    @cached_property
    def _last_batch(self) -> Turn | None:
        """The newest answer that calls tools, with its results; None if no tool was called."""
        return next((turn for turn in reversed(self._view.transcript.turns()) if _has_calls(turn)), None)

    def _takes_last_batch(self, step: PlanStep) -> bool:
        """Whether a step shows a note in place of the last batch of calls."""
        batch = self._last_batch
        return step.call_id is None and batch is not None and step.first <= batch.last and batch.first <= step.last

    def _floods(self) -> list[ShownResult]:
        """Return the results that are cut to their ends, the largest first."""
        floods = [result for result in self._view.results if result.tokens > 2 * self._flood_tokens]
        return sorted(floods, key=lambda result: -result.tokens)

    def _cut(self, result: ShownResult, room_tokens: int) -> PlanStep | None:
        """Return the step that keeps the two ends of a result; None if that would hardly be smaller."""
        # A result of less than twice the room is not worth a cut: half of it would be hidden to save what a notice takes.
        if result.tokens <= 2 * room_tokens:
            return None
        step = Offload().cut(self._view, result, room_tokens)
        return step if step.after_tokens < step.before_tokens else None

    def _cut_alike(self, results: Sequence[ShownResult], room_tokens: int) -> list[PlanStep]:
        """Return the steps that keep the two ends of all results larger than a given room."""
        steps = [Offload().cut(self._view, result, room_tokens) for result in results if result.tokens > room_tokens]
        return [step for step in steps if step.after_tokens < step.before_tokens]

    def _cuts(self, room_tokens: int, results: Sequence[ShownResult]) -> list[PlanStep | None]:
        """Return, for each of some results, the step that keeps its two ends, or None."""
        return [self._cut(result, room_tokens) for result in results]

    def _stubs(self, results: Sequence[ShownResult], *, with_names: bool = True) -> list[PlanStep | None]:
        """Return the steps that leave one line of each result; None where the line would hardly be smaller."""
        worth = [result for result in results if result.is_worth_a_stub]
        steps = iter(self._view.short_stubs("clear", worth, stand_ins.CLEARED, with_names=with_names))
        made = [next(steps) if result.is_worth_a_stub else None for result in results]
        return [step if step is not None and step.after_tokens < step.before_tokens else None for step in made]

    def _bare_stubs(self, results: Sequence[ShownResult]) -> list[PlanStep | None]:
        """Return the one-line stubs without the names in the results; for forty results the names alone may fill a window."""
        return self._stubs(results, with_names=False)

    def _floor_steps(self, newest: Sequence[ShownResult], max_chars: int) -> list[PlanStep]:
        """Return the steps to the floor: notes for all that may go, the first with the handoff, and stubs in the last batch."""
        view = self._view
        turns = finished_turns(view, 0, users=True)
        rows = list(neighbours([turn for turn in turns if turn is not self._last_batch], view.transcript.turns()))
        text = (
            render(self.sized.handoff(self._session_id), max_chars=max_chars, dialect=view.dialect) if max_chars else ""
        )
        notes: list[PlanStep] = []
        for place, row in enumerate(rows):
            if (
                max_chars
                and all(turn.kind == "note" for turn in row)
                and not _is_long(row, max_chars if place == 0 else 0)
            ):
                # The row consists of notes hardly longer than the one that would replace them.
                continue
            handed_on = text if place == 0 else ""
            steps = steps_of(view, row)
            words = [stand_ins.handed_on_note(steps, handed_on, handle, view.dialect) for handle in (None, HANDLE)]
            notes.append(note_step(view, "handoff", row, words))
        stubs = [step for step in self._bare_stubs(newest) if step is not None]
        return [*(step for step in notes if step.after_tokens < step.before_tokens), *stubs]


_GENTLE_PHASES = 5
_NOTE_CHARS = 200  # of a note without a handoff: what is left out, and the way to it


def _is_long(row: Sequence[Turn], chars: int) -> bool:
    """Whether adjacent notes say clearly more than a note of that many characters would."""
    said = sum(len(entry.text) for turn in row for entry in turn.entries)
    return said > 2 * (chars + _NOTE_CHARS)


def _has_calls(turn: Turn) -> bool:
    """Whether a turn is an answer of the model that calls tools."""
    return turn.kind == "assistant" and any(entry.calls for entry in turn.entries)
