"""How do strategies see a transcript? Every result with its size, age and use, and the stub that may take its place.

Leaves to others: what goes (`results`, `spans`), and how far (`plan`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from penstock.context.activity import answers_begun
from penstock.context.compaction.names import names_in
from penstock.context.compaction.plans import HANDLE, SAMPLE_HANDLE, PlanStep, with_handle
from penstock.context.counts import part_counts
from penstock.context.sized import ESTIMATOR, measure_entries
from penstock.text import escape, stand_ins
from penstock.text.tokens import count_texts
from penstock.wires import ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.context.activity import Action
    from penstock.context.counts import KindCounts
    from penstock.text.calls import Dialect
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Entry, Transcript

# Public SWE-agent runs take 12 to 50 calls.
CALLS_LEFT = 20
"""How many model calls a plan expects by default."""
# A stub takes about 70 tokens: below twice that there is nothing to gain.
_WORTH_TOKENS = 150
NAMES_SHARE = 0.5
"""The characters that the names in a replacement text may have for each token that goes: about a sixth of the tokens."""
_SHOWN_CHARS = 600
"""A change with a longer result shows the file as it is now; a shorter result only says that the change was made."""
_ACTIVE_SHARE = 0.5
"""The share of the limit that the newest views of modified files may keep together."""


class ShownResult(NamedTuple):
    """A result as it is shown now, with what strategies weigh."""

    entry: Entry
    part: ToolResult
    tokens: int
    """The tokens of a result, at most."""
    counts: KindCounts
    """The likely tokens of a result, by kind of content."""
    start_tokens: int
    """The tokens of the prompt before its message, at most: what stays cached if the first edit is here."""
    action: Action | None
    """What the call did, if it did one thing to one file."""
    age_turns: int
    """How many answers of the assistant came after the call that a result belongs to; 0 if no model has seen it."""

    @property
    def is_worth_a_stub(self) -> bool:
        """Whether replacing the result by one line gains anything."""
        return self.tokens > _WORTH_TOKENS


@dataclass(frozen=True, kw_only=True)
class View:
    """A transcript as a strategy sees it."""

    transcript: Transcript
    actions: tuple[Action, ...]
    """What the calls did, as read by `activity.actions`; empty if a strategy does not need it."""
    counter: TokenCounter = ESTIMATOR
    size_tokens: int = 0
    """The tokens of the request, at most."""
    over_tokens: int = 0
    """How many tokens have to go."""
    goal_tokens: int = 0
    """How many tokens should go, so that the next plan is far away."""
    calls_left: int = CALLS_LEFT
    """How many model calls are still expected."""
    dialect: Dialect | None = None
    """The syntax of the calls that bring the originals back; None is Python's."""
    kept: frozenset[tuple[int, str]] = frozenset()
    """Results that stay as they are, each as (index of its entry, id of its call)."""

    @property
    def results(self) -> tuple[ShownResult, ...]:
        """Every result that may be replaced, in prompt order, except those cited by an answer in the same message."""
        return self._results[0]

    @property
    def cited_results(self) -> tuple[ShownResult, ...]:
        """The results cited by an answer in the same message, for when nothing else is left: the citations go with them."""
        return self._results[1]

    @cached_property
    def _results(self) -> tuple[tuple[ShownResult, ...], tuple[ShownResult, ...]]:
        """The results that may be replaced, and separately those that are cited."""
        shown = self.transcript.visible()
        by_result: dict[tuple[int | None, str], list[Action]] = {}
        for done in self.actions:
            by_result.setdefault((done.result_index, done.call_id), []).append(done)
        measured = measure_entries(shown, self.counter)
        starts = [0, *accumulate(message.high for message in measured)]
        answers = [0, *accumulate(answers_begun(shown))]
        found: list[ShownResult] = []
        cited: list[ShownResult] = []
        for place, entry in enumerate(shown):
            if entry.pinned or entry.is_note:
                continue
            for part, count in zip(entry.parts, measured[place].parts, strict=True):
                if isinstance(part, ToolResult) and part.is_clearable and (entry.index, part.call_id) not in self.kept:
                    about = by_result.get((entry.index, part.call_id), [])
                    # A call that named several files has several actions with one result: the result cannot be said to
                    # cover any single one of them.
                    action = about[0] if len(about) == 1 else None
                    age = answers[-1] - answers[place]
                    row = cited if part.is_cited else found
                    row.append(
                        ShownResult(
                            entry, part, count.high, part_counts(part, entry, count), starts[place], action, age
                        )
                    )
        return tuple(found), tuple(cited)

    @cached_property
    def active(self) -> frozenset[tuple[int, str]]:
        """The results that hold the newest views of a modified file, which the next edit starts from.

        They are the newest read, and what the newest change showed of the file; of these, the newest that together take at most
        `_ACTIVE_SHARE` of the limit, since beyond that there would be room for little else.
        """
        modified = {action.path for action in self.actions if action.changes}
        newest = {
            (action.path, action.kind == "read"): (action.result_index, action.call_id, action.result_chars)
            for action in self.actions
            if action.path in modified
            and not action.failed
            and (action.kind == "read" or (action.changes and action.result_chars > _SHOWN_CHARS))
        }
        views = {place: path for (path, _), place in newest.items()}
        room = (self.size_tokens - self.over_tokens) * _ACTIVE_SHARE
        found: set[tuple[int, str]] = set()
        shown: dict[str | None, set[str]] = {}
        for result in reversed(self.results):
            place = result.entry.index, result.part.call_id
            # only at its original length: a result that was cleared or cut is no longer a view
            view = (*place, len(result.part.text))
            if view not in views or result.tokens > room:
                continue
            # A change shows the file around it: the read before it is needed only if it shows other lines.
            lines = _lines(result.part.text)
            if len(lines & shown.get(views[view], set())) > len(lines) // 2:
                continue
            shown[views[view]] = lines
            room -= result.tokens
            found.add(place)
        return frozenset(found)

    def actions_between(self, first: int, last: int) -> Sequence[Action]:
        """Return what the calls of the entries from index `first` to `last` did, both inclusive."""
        start, end = (bisect_left(self.actions, place, key=lambda action: action.index) for place in (first, last + 1))
        return self.actions[start:end]

    @cached_property
    def by_index(self) -> dict[int, Entry]:
        """The visible entries except notes, by index; two notes may share an index."""
        return {entry.index: entry for entry in self.transcript.visible() if not entry.is_note}

    def entries_between(self, first: int, last: int) -> Sequence[Entry]:
        """Return the visible entries from index `first` to `last`, both inclusive."""
        start, end = (bisect_left(self._indices, place) for place in (first, last + 1))
        return self.transcript.visible()[start:end]

    @cached_property
    def _indices(self) -> list[int]:
        """The indices of the visible entries, in order."""
        return [entry.index for entry in self.transcript.visible()]

    def count(self, text: str) -> int:
        """Return the tokens of a text, at most."""
        return self.counter.count(text).high

    def as_it_came(self, result: ShownResult) -> str:
        """Return the original text of a result, before anything was cut from it."""
        came = self.transcript.entries[result.entry.index].results
        return "\n".join(part.text for part in came if part.call_id == result.part.call_id)

    def is_active(self, result: ShownResult) -> bool:
        """Whether a result holds the newest view of a modified file and there is room for it."""
        return (result.entry.index, result.part.call_id) in self.active

    def stub(self, strategy: str, result: ShownResult, text: str, kept_text: str) -> PlanStep:
        """Return the step that shows a text in place of a result.

        Args:
            strategy: the name of the strategy.
            result: what goes.
            text: the replacement if the original is kept nowhere.
            kept_text: the same with the way to the original.
        """
        return self._step(strategy, result, text, kept_text, self.count(with_handle(kept_text, SAMPLE_HANDLE)))

    def _step(self, strategy: str, result: ShownResult, text: str, kept_text: str, after_tokens: int) -> PlanStep:
        """Return the step for a text whose tokens are already counted."""
        return PlanStep(
            strategy=strategy,
            what=_name(result.action),
            first=result.entry.index,
            last=result.entry.index,
            call_id=result.part.call_id,
            text=text,
            kept_text=kept_text,
            before_tokens=result.tokens,
            after_tokens=after_tokens,
        )

    def short_stub(self, strategy: str, result: ShownResult, why: str) -> PlanStep:
        """Return the step that leaves one line of a result: why it went, what it was, its size, and the way to it."""
        return self.short_stubs(strategy, [result], why)[0]

    def short_stubs(
        self, strategy: str, results: Sequence[ShownResult], why: str, *, with_names: bool = True
    ) -> list[PlanStep]:
        """Return the short stubs of some results, optionally without the names in them; counting them together is quicker."""
        said = [self._short(result, why, with_names=with_names) for result in results]
        counts = count_texts(self.counter, [with_handle(kept_text, SAMPLE_HANDLE) for _, kept_text in said])
        return [
            self._step(strategy, result, text, kept_text, count.high)
            for result, (text, kept_text), count in zip(results, said, counts, strict=True)
        ]

    def _short(self, result: ShownResult, why: str, *, with_names: bool) -> tuple[str, str]:
        """Return the line that replaces a result: one if the original is kept nowhere, and one if it is kept."""
        # What is kept is the original result: for one that was cut before, the size and names refer to all of it.
        came = self.as_it_came(result)
        tokens = result.tokens if came == result.part.text else self.count(came)
        # For a file or a command, the label is enough to find it again.
        is_named = with_names and result.action is not None and result.action.asked
        names = names_in([came], int(result.tokens * NAMES_SHARE)) if is_named else ""
        label = _label(result.action)
        plain, kept = (
            stand_ins.cleared(why, label, tokens, came.count("\n") + 1, handle, self.dialect, names)
            for handle in (None, HANDLE)
        )
        return plain, kept


_NUMBER = re.compile(r"^[ \t]*L?\d+(?:\t|→|:| ?\|)", re.MULTILINE)


def _lines(text: str) -> set[str]:
    """Return the lines of a view without their numbers, because a change renumbers the lines after it."""
    return {line.strip() for line in _NUMBER.sub("", text).split("\n")} - {""}


def _name(action: Action | None) -> str:
    """Return a plan's name for a result: the name of its tool."""
    return "result" if action is None else escape.clip(action.name, 64)


def _label(action: Action | None) -> str:
    """Return a stub's name for a result: the tool, and its file with the lines, or its command."""
    if action is None:
        return "result"
    what = action.command or action.path or ""
    lines = ""
    if action.path and action.first_line is not None and not action.is_whole:
        lines = f":{action.first_line}-{action.last_line or ''}"
    return f"{escape.clip(action.name, 64)} {escape.clip(what, 120)}{lines}".strip()
