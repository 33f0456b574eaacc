"""Which results can be made smaller? Superseded ones, old ones, floods, and lines that are shown twice (S-4, O-4).

Results are what fills a window, and the calls next to them say what they were. Leaves to others: whole turns (`spans`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from penstock.context import activity
from penstock.context.compaction.plans import CACHE_READ, CACHE_WRITE, HANDLE, PlanStep
from penstock.text import escape, fitting, stand_ins
from penstock.text.allowance import Allowance
from penstock.text.fitting import Keep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.context.activity import Action
    from penstock.context.compaction.views import ShownResult, View

# On recorded sessions a batch that kept 5 left visible 98 % of the text that was needed later.
KEEP_RESULTS = 5
"""How many of the newest results an ordinary batch leaves unchanged."""
# Newer results are needed more, so an older start is chosen if it costs no more than this multiple of the best.
_TASTE = 1.05


@dataclass(frozen=True, kw_only=True)
class Stale:
    """Strategy: clear results that a later one supersedes, by the same call again or a newer view of the same lines (S-4).

    A later change to a file does not supersede a read: one edited line leaves the others as they were (docs/replay.md).
    """

    name: str = "stale"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return stubs for results that a newer one supersedes."""
        newest: dict[tuple[str | None, ...], list[Action]] = {}
        for done in reversed(view.actions):
            row = newest.setdefault(_topic(done), [])
            if len(row) < _LOOK_AT:
                row.append(done)
        needless: list[ShownResult] = []
        for result in view.results:
            action = result.action
            if action is None or not result.age_turns or not result.is_worth_a_stub or view.is_active(result):
                continue
            newer = [other for other in newest[_topic(action)] if other.index > action.index]
            if any(_covers(other, action) for other in newer):
                needless.append(result)
        made = view.short_stubs(self.name, needless, stand_ins.SUPERSEDED)
        return [step for step in made if step.after_tokens < step.before_tokens]


# A file that was read a thousand times must not cost a million comparisons.
_LOOK_AT = 20
"""How many of the newest calls of one topic are compared."""


def _topic(action: Action) -> tuple[str | None, ...]:
    """Return what has to be equal for a later call to supersede an earlier one."""
    if action.kind == "read":
        return ("read", action.path)
    return (action.kind, action.name, action.command, action.path)


def _covers(newer: Action, older: Action) -> bool:
    """Whether a newer result says everything that the older one did, or what is true instead."""
    if newer.result_index is None:
        return False
    # A command that ran again says what is true now. A read has to show the same lines or more.
    again = older.kind in {"run", "search"} and older.command is not None
    return again or activity.covers(newer, older)


@dataclass(frozen=True, kw_only=True)
class Clear:
    """Strategy: clear old results in one batch, all but the newest `keep`, oldest first, until the goal is met.

    The start of the batch is weighed against the prompt cache: text before it stays cached, all after it is read anew.
    """

    keep: int = KEEP_RESULTS
    active: bool = False
    """Whether the newest views of modified files, results that no model has seen, and cited results go too."""
    name: str = "clear"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return stubs for one batch of old results."""
        old = view.results[: max(0, len(view.results) - self.keep)]
        can = [
            result
            for result in old
            if result.is_worth_a_stub and (self.active or (result.age_turns and not view.is_active(result)))
        ]
        if self.active:
            cited = [result for result in view.cited_results if result.is_worth_a_stub]
            can = sorted([*can, *cited], key=lambda result: result.start_tokens)
        made = view.short_stubs(self.name, can, stand_ins.CLEARED)
        pairs = [(r, step) for r, step in zip(can, made, strict=True) if step.after_tokens < step.before_tokens]
        first, last = _batch(view, [(r.start_tokens, step.before_tokens - step.after_tokens) for r, step in pairs])
        return [step for _, step in pairs[first:last]]


def _batch(view: View, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return which of the results `(start, freed)` to clear, as a half-open range.

    The range meets the goal and starts as early as possible without costing much more than the best one. A range costs what
    follows its start, which is written to the cache again, and what remains, which every further call reads.

    Args:
        view: sizes and calls left.
        spans: for each result in order, the tokens before it and the tokens that its stub frees.
    """
    freed = [0, *accumulate(tokens for _, tokens in spans)]
    runs: list[tuple[float, int, int]] = []
    # Two pointers over prefix sums: for each start the shortest range that frees the goal, O(n) in all. Once it is too
    # late to free even what has to go, no range is left.
    last = 0
    for first, (start, _) in enumerate(spans):
        while last < len(spans) and freed[last] - freed[first] < view.goal_tokens:
            last += 1
        gone = freed[last] - freed[first]
        if gone >= view.over_tokens:
            left = view.size_tokens - gone
            cost = (CACHE_WRITE - CACHE_READ) * (left - start) + CACHE_READ * left * view.calls_left
            runs.append((cost, first, last))
    if not runs:
        return 0, len(spans)
    best = min(cost for cost, _, _ in runs)
    # A range may cost less than zero if the provider's sizes and ours disagree; it is still a candidate.
    most = max(best, best * _TASTE)
    return next((first, last) for cost, first, last in runs if cost <= most)


@dataclass(frozen=True, kw_only=True)
class Offload:
    """Strategy: cut results that flood the window to their two ends until the limit is met, the largest first.

    Each keeps `max_tokens`. If that frees too little, results that arrived together and that no model has seen keep less,
    all alike, down to `min_tokens`.
    """

    max_tokens: int = 2_000
    min_tokens: int = 200
    active: bool = False
    """Whether the newest views of modified files are cut too."""
    name: str = "offload"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return cuts to the two ends, for as many results as the limit requires."""
        share = (view.size_tokens - view.over_tokens) // _SHARE_OF_ROOM
        most = room = max(self.min_tokens, min(self.max_tokens, share))
        can = [result for result in view.results if self.active or not view.is_active(result)]
        old = [result for result in can if result.age_turns]
        new = [result for result in can if not result.age_turns]
        # Parallel calls flood together, and no model has seen their results: halving the room for all is fairer than
        # hiding one entirely.
        while room > self.min_tokens and _freed(old, most) + _freed(new, room) < view.over_tokens:
            room = max(self.min_tokens, room // 2)
        made: list[PlanStep] = []
        freed = 0
        for result in sorted(can, key=lambda result: -result.tokens):
            own = most if result.age_turns else room
            if freed < view.over_tokens and result.tokens > 2 * own:
                step = self.cut(view, result, own)  # smaller: it takes at most half as much
                made.append(step)
                freed += step.before_tokens - step.after_tokens
        return made

    def cut(self, view: View, result: ShownResult, room: int) -> PlanStep:
        """Return the step that leaves the two ends of a result.

        Args:
            view: the transcript.
            result: what is cut.
            room: tokens that its ends may take, the notice between them included.
        """
        allowance = Allowance.tokens(room, view.counter)
        name = "tool" if result.action is None else result.action.name
        # The original result, not what an earlier cut left of it: the ends of ends would hide how much there ever was.
        text = view.as_it_came(result)
        # An image or a document has no ends to show. No text takes more tokens than bytes, so a result that does is not text.
        if len(text.encode("utf-8", "surrogatepass")) < result.tokens:
            return view.short_stub(self.name, result, stand_ins.CLEARED)
        said = [
            fitting.fit(text, allowance, Keep.ENDS, handle, name=name, dialect=view.dialect).text
            for handle in (None, HANDLE)
        ]
        return view.stub(self.name, result, *said)


def _freed(results: Sequence[ShownResult], room: int) -> int:
    """Return what cutting these results to that room frees, without writing any notice."""
    return sum(result.tokens - room for result in results if result.tokens > 2 * room)


_SHARE_OF_ROOM = 8
"""A cut result may take at most the whole divided by this, an eighth: there will be others."""


@dataclass(frozen=True, kw_only=True)
class NewLines:
    """Strategy: cut a second read of a file to the lines that an earlier result, still shown, does not have.

    Runs of at least `min_lines` lines are left out, each replaced by a reference to the lines that it repeats.
    """

    min_lines: int = 8
    name: str = "new-lines"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return results without the runs of lines that an earlier one shows."""
        made: list[PlanStep] = []
        seen: dict[str, _Seen] = {}
        for result in view.results:
            action = result.action
            if action is None or action.kind != "read" or action.path is None or action.failed:
                continue
            lines = result.part.text.split("\n")
            before = seen.setdefault(action.path, _Seen(self.min_lines))
            runs = [] if view.is_active(result) else before.runs_of(lines)
            if runs:
                said = [
                    stand_ins.only_new(
                        _without(lines, runs), len(lines), sum(b - a for a, b in runs), handle, view.dialect
                    )
                    for handle in (None, HANDLE)
                ]
                step = view.stub(self.name, result, *said)
                if step.after_tokens < step.before_tokens:
                    made.append(step)
                    continue
            before.add(lines)
        return made


class _Seen:
    """The lines that the results of one file show, each looked at once, however often the file was read."""

    def __init__(self, min_lines: int) -> None:
        self._least = min_lines
        # Every window of `min_lines` lines, by its text, with its position: a run is found by one look-up and then
        # extended line by line. A window seen twice keeps its newest position.
        self._places: dict[tuple[str, ...], tuple[Sequence[str], int]] = {}

    def add(self, lines: Sequence[str]) -> None:
        """Remember the lines of a result that stays shown."""
        for at, row in enumerate(zip(*(lines[shift:] for shift in range(self._least)), strict=False)):
            self._places[row] = lines, at

    def runs_of(self, lines: Sequence[str]) -> list[tuple[int, int]]:
        """Return the runs, as half-open ranges of positions, that a remembered result shows in the same order; blank lines
        alone are not a run.
        """
        runs: list[tuple[int, int]] = []
        at = 0
        while at <= len(lines) - self._least:
            row = tuple(lines[at : at + self._least])
            found = self._places.get(row)
            if found is None or not any(line.strip() for line in row):
                at += 1
                continue
            text, start = found
            end = at + self._least
            while end < len(lines) and start + end - at < len(text) and text[start + end - at] == lines[end]:
                end += 1
            runs.append((at, end))
            at = end
        return runs


def _without(lines: Sequence[str], runs: Iterable[tuple[int, int]]) -> str:
    """Return the lines without those runs; a line of ours marks each place."""
    made: list[str] = []
    last = 0
    for first, end in runs:
        made += [*_harmless(lines[last:first]), stand_ins.as_before(lines[first], lines[end - 1], end - first)]
        last = end
    return "\n".join([*made, *_harmless(lines[last:])])


def _harmless(lines: Sequence[str]) -> list[str]:
    """Return foreign lines made safe to stand between ours: no control characters, and nothing that looks like a notice."""
    return stand_ins.disarm(escape.show_text("\n".join(lines))).split("\n") if lines else []
