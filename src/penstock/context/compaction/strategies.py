"""What may go first? Ways to make a transcript smaller without a model, each a value with its parameters (S-4, O-4).

A strategy looks at a `View` and proposes steps; the planner measures them and takes those that shrink. What is pinned,
the task, the newest user message and instructions are never proposed; the newest view of each modified file only at the
last resort. Leaves to others: how far to go (`plan`), where the whole is kept (`apply`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from penstock.context import activity
from penstock.context.compaction.plans import CACHE_READ, CACHE_WRITE, HANDLE, SAMPLE_HANDLE, PlanStep
from penstock.context.sized import ESTIMATOR, measure_entry
from penstock.overflow import diagnose
from penstock.text import escape, fitting, stand_ins
from penstock.text.allowance import Allowance
from penstock.text.fitting import Keep
from penstock.wires import ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock.context.activity import Action
    from penstock.text.calls import Dialect
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Entry, Transcript, Turn

# Public SWE-agent runs take 12 to 50 calls.
CALLS_LEFT = 20
"""How many calls of the model a plan expects where nobody says."""
# On recorded sessions a batch that kept 5 left 98 % of the text visible that was needed later.
KEEP_RESULTS = 5
"""How many of the newest results an ordinary batch leaves as they are."""
NOTE_CHARS = 6_000
"""The most characters of a note in place of finished turns."""
_MIN_NOTE_CHARS = 200
# A stub takes about 70 tokens: of less than twice that there is nothing to gain.
WORTH_TOKENS = 150
"""Results that are not larger than this are left alone."""
_ACTIVE_SHARE = 0.5
"""The share of the limit that the newest views of modified files may keep together."""
# What is newer is needed more, so an older start is taken as long as it costs no more than this much of the best.
_TASTE = 1.05


class ShownResult(NamedTuple):
    """A result as it is shown now, with what strategies weigh."""

    entry: Entry
    part: ToolResult
    tokens: int
    """What it takes at most."""
    likely_tokens: int
    """What it takes, as is likely."""
    start_tokens: int
    """How much of the prompt stands before its message, at most: what stays cached if the first edit is here."""
    action: Action | None
    """What the call did, where it did one thing to one file."""
    age_turns: int
    """How many answers of the assistant came after the call that it belongs to; 0 for what no model has seen."""


@dataclass(frozen=True, kw_only=True)
class View:
    """A transcript as a strategy sees it."""

    transcript: Transcript
    actions: tuple[Action, ...]
    """What the calls did, as `activity.actions` read it; empty where a strategy needs none."""
    counter: TokenCounter = ESTIMATOR
    size_tokens: int = 0
    """What the request takes at most."""
    over_tokens: int = 0
    """What has to go."""
    goal_tokens: int = 0
    """What should go, so that the next plan is far away."""
    calls_left: int = CALLS_LEFT
    """How many calls of the model are still expected."""
    dialect: Dialect | None = None
    """How the calls are written that bring the whole back; None is Python's."""
    kept: frozenset[tuple[int, str]] = frozenset()
    """Results that stay as they are, each as (index of its entry, id of its call)."""

    @cached_property
    def results(self) -> tuple[ShownResult, ...]:
        """Every result that may be replaced, in the order of the prompt."""
        shown = self.transcript.visible()
        by_result: dict[tuple[int | None, str], list[Action]] = {}
        for done in self.actions:
            by_result.setdefault((done.result_index, done.call_id), []).append(done)
        starts = [0, *accumulate(measure_entry(entry, self.counter).high for entry in shown)]
        answers = [0, *accumulate(_answers(shown))]
        found: list[ShownResult] = []
        for place, entry in enumerate(shown):
            if entry.pinned or entry.is_note or not entry.results:
                continue
            for part, count in zip(entry.parts, measure_entry(entry, self.counter).parts, strict=True):
                if isinstance(part, ToolResult) and part.is_clearable and (entry.index, part.call_id) not in self.kept:
                    about = by_result.get((entry.index, part.call_id), [])
                    # A call that named several files has several actions with one result: of no single one it can be
                    # said that the result covers it.
                    action = about[0] if len(about) == 1 else None
                    age = answers[-1] - answers[place]
                    found.append(ShownResult(entry, part, count.high, count.tokens, starts[place], action, age))
        return tuple(found)

    @cached_property
    def active(self) -> frozenset[tuple[int, str]]:
        """The results that hold the newest view of a file that was modified: where each edit starts from.

        The newest ones that take at most `_ACTIVE_SHARE` of the limit together: beyond that there would be room for little else.
        """
        modified = {action.path for action in self.actions if action.changes}
        newest = {
            action.path: (action.result_index, action.call_id, action.result_chars)
            for action in self.actions
            if action.kind == "read" and action.path in modified and not action.failed
        }
        views = set(newest.values())
        room = (self.size_tokens - self.over_tokens) * _ACTIVE_SHARE
        found: set[tuple[int, str]] = set()
        for result in reversed(self.results):
            place = result.entry.index, result.part.call_id
            # of its original length: one that was cleared or cut is no view any more
            if (*place, len(result.part.text)) in views and result.tokens <= room:
                room -= result.tokens
                found.add(place)
        return frozenset(found)

    def entries_between(self, first: int, last: int) -> Sequence[Entry]:
        """Return the visible entries from index `first` to `last`, both inclusive."""
        shown = self.transcript.visible()
        start, end = (bisect_left(shown, place, key=lambda entry: entry.index) for place in (first, last + 1))
        return shown[start:end]

    def count(self, text: str) -> int:
        """Return what a text takes at most."""
        return self.counter.count(text).high

    def is_active(self, result: ShownResult) -> bool:
        """Whether a result holds the newest view of a modified file, for which there is room."""
        return (result.entry.index, result.part.call_id) in self.active

    def stub(self, strategy: str, result: ShownResult, text: str, kept_text: str) -> PlanStep:
        """Return the step that shows a text in place of a result.

        Args:
            strategy: the name of the strategy.
            result: what goes.
            text: what stands in its place where the whole is kept nowhere.
            kept_text: the same with the way to the whole.
        """
        after = self.count(kept_text.replace(HANDLE, SAMPLE_HANDLE))
        return PlanStep(
            strategy=strategy,
            what=_name(result.action),
            first=result.entry.index,
            last=result.entry.index,
            call_id=result.part.call_id,
            text=text,
            kept_text=kept_text,
            before_tokens=result.tokens,
            after_tokens=after,
        )

    def short_stub(self, strategy: str, result: ShownResult, why: str) -> PlanStep:
        """Return the step that leaves one line of a result: why it went, what it was, how large, and the way to it."""
        lines = result.part.text.count("\n") + 1
        said = [
            stand_ins.cleared(why, _label(result.action), result.tokens, lines, handle, self.dialect)
            for handle in (None, HANDLE)
        ]
        return self.stub(strategy, result, *said)


def _answers(entries: Sequence[Entry]) -> list[bool]:
    """Return at which of these entries an answer of the assistant begins: one message on some wires, several items on
    another.
    """
    is_said = [entry.role == "assistant" and not entry.is_note for entry in entries]
    return [now and not before for before, now in pairwise([False, *is_said])]


class Strategy(Protocol):
    """A way to make a transcript smaller."""

    @property
    def name(self) -> str:
        """How a plan and a result of recovery call it."""
        ...

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return what it would do, all of which shrinks; nothing where it can do nothing."""
        ...


# ── results ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Stale:
    """Results that a later one makes needless: the same call again, a newer view of all of the same lines (S-4).

    A file that was changed since is no reason: one edited line leaves the others as they were (docs/replay.md).
    """

    name: str = "stale"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return stubs for results that a newer one makes needless."""
        newest: dict[tuple[str | None, ...], list[Action]] = {}
        for done in reversed(view.actions):
            row = newest.setdefault(_topic(done), [])
            if len(row) < _LOOK_AT:
                row.append(done)
        made: list[PlanStep] = []
        for result in view.results:
            action = result.action
            if action is None or not result.age_turns or result.tokens <= WORTH_TOKENS or view.is_active(result):
                continue
            newer = [other for other in newest[_topic(action)] if other.index > action.index]
            if any(_covers(other, action) for other in newer):
                made.append(view.short_stub(self.name, result, stand_ins.SUPERSEDED))
        return [step for step in made if step.after_tokens < step.before_tokens]


# A file that was read a thousand times must not cost a million comparisons.
_LOOK_AT = 20
"""How many of the newest calls of one topic are compared."""


def _topic(action: Action) -> tuple[str | None, ...]:
    """Return what has to be the same for a later call to make an earlier one needless."""
    if action.kind == "read":
        return ("read", action.path)
    return (action.kind, action.name, action.command, action.path)


def _covers(newer: Action, older: Action) -> bool:
    """Whether a newer result says all that the older one did, or what is true instead of it."""
    if newer.result_index is None:
        return False
    # A command that ran again says what is true now. A read has to show the same lines, or more.
    again = older.kind in {"run", "search"} and older.command is not None
    return again or activity.covers(newer, older)


@dataclass(frozen=True, kw_only=True)
class Clear:
    """Old results in one batch: all but the newest `keep`, oldest first, until the goal is met.

    Where the batch begins is weighed against the prompt cache: text before it stays cached, all after it is read anew.
    """

    keep: int = KEEP_RESULTS
    active: bool = False
    """Whether the newest views of modified files, and what no model has seen yet, go too."""
    name: str = "clear"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return stubs for one batch of old results."""
        old = view.results[: max(0, len(view.results) - self.keep)]
        can = [
            result
            for result in old
            if result.tokens > WORTH_TOKENS and (self.active or (result.age_turns and not view.is_active(result)))
        ]
        made = [view.short_stub(self.name, result, stand_ins.CLEARED) for result in can]
        pairs = [(r, step) for r, step in zip(can, made, strict=True) if step.after_tokens < step.before_tokens]
        first, last = _batch(view, [(r.start_tokens, step.before_tokens - step.after_tokens) for r, step in pairs])
        return [step for _, step in pairs[first:last]]


def _batch(view: View, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return which of the results `(start, freed)` to clear, as a half-open range.

    It is a run that meets the goal, begun as early as costs hardly more than the best. The cost of a run: what follows
    its start is written to the cache again, and every call left reads what remains.

    Args:
        view: sizes and calls left.
        spans: for each result in order, the tokens before it and the tokens that its stub frees.
    """
    freed = [0, *accumulate(tokens for _, tokens in spans)]
    everything = freed[-1]
    if everything <= view.over_tokens:
        return 0, len(spans)
    runs: list[tuple[float, int, int]] = []
    # Two pointers over prefix sums: for each start the shortest run that frees the goal, O(n) in all. A start too late
    # to free even what has to go ends the search, since later ones free less.
    last = 0
    for first, (start, _) in enumerate(spans):
        while last < len(spans) and freed[last] - freed[first] < view.goal_tokens:
            last += 1
        gone = freed[last] - freed[first]
        if gone < view.over_tokens:
            break
        left = view.size_tokens - gone
        cost = (CACHE_WRITE - CACHE_READ) * (left - start) + CACHE_READ * left * view.calls_left
        runs.append((cost, first, last))
    if not runs:
        return 0, len(spans)
    best = min(cost for cost, _, _ in runs)
    return next((first, last) for cost, first, last in runs if cost <= best * _TASTE)


@dataclass(frozen=True, kw_only=True)
class Offload:
    """Results that flood the window, cut to their two ends until the limit is met, the largest first.

    Each keeps `max_tokens`; those that came together and that no model has seen keep less where that frees too little,
    all alike, down to `min_tokens`.
    """

    max_tokens: int = 2_000
    min_tokens: int = 200
    active: bool = False
    """Whether the newest views of modified files are cut too."""
    name: str = "offload"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return cuts to the two ends, of as many results as the limit asks for."""
        share = (view.size_tokens - view.over_tokens) // _SHARE_OF_ROOM
        most = room = max(self.min_tokens, min(self.max_tokens, share))
        can = [result for result in view.results if self.active or not view.is_active(result)]
        old = [result for result in can if result.age_turns]
        new = [result for result in can if not result.age_turns]
        # Parallel calls flood together, and no model has seen any of them: halving the room for all is fairer than
        # hiding one wholly.
        while room > self.min_tokens and _freed(old, most) + _freed(new, room) < view.over_tokens:
            room = max(self.min_tokens, room // 2)
        made: list[PlanStep] = []
        freed = 0
        for result in sorted(can, key=lambda result: -result.tokens):
            own = most if result.age_turns else room
            if freed >= view.over_tokens:
                break
            step = self.cut(view, result, own) if result.tokens > 2 * own else None
            if step is not None and step.after_tokens < step.before_tokens:
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
        # The result as it came, not what an earlier cut has left of it: the ends of ends would hide that there ever was
        # more.
        came = view.transcript.entries[result.entry.index].results
        text = "\n".join(part.text for part in came if part.call_id == result.part.call_id)
        said = [
            fitting.fit(text, allowance, Keep.ENDS, handle, name=name, dialect=view.dialect).text
            for handle in (None, HANDLE)
        ]
        return view.stub(self.name, result, *said)


def _freed(results: Sequence[ShownResult], room: int) -> int:
    """Return what cutting these results to so much room frees, without writing any notice."""
    return sum(result.tokens - room for result in results if result.tokens > 2 * room)


_SHARE_OF_ROOM = 8
"""The part of the whole that one cut result may take, an eighth: there will be others."""


@dataclass(frozen=True, kw_only=True)
class NewLines:
    """A second read of a file, cut to the lines that an earlier result, still shown, does not have.

    Runs of at least `min_lines` are left out, each with the lines that it stands for.
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
    """The lines that the results for one file show, so that each is looked at once, however often the file was read."""

    def __init__(self, min_lines: int) -> None:
        self._least = min_lines
        # Every window of `min_lines` lines, by its text, with where it stands: a run is found by one look-up and then
        # extended line by line. A window seen twice keeps its newest place.
        self._places: dict[tuple[str, ...], tuple[Sequence[str], int]] = {}

    def add(self, lines: Sequence[str]) -> None:
        """Remember the lines of a result that stays shown."""
        for at in range(len(lines) - self._least + 1):
            self._places[tuple(lines[at : at + self._least])] = lines, at

    def runs_of(self, lines: Sequence[str]) -> list[tuple[int, int]]:
        """Return the runs, as half-open ranges of places, that stand in the same order in a remembered result; blank
        lines alone are no run.
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
    """Return the lines without those runs; a line of ours says where each was."""
    made: list[str] = []
    last = 0
    for first, end in runs:
        made += [*_harmless(lines[last:first]), stand_ins.as_before(lines[first], lines[end - 1], end - first)]
        last = end
    return "\n".join([*made, *_harmless(lines[last:])])


def _harmless(lines: Sequence[str]) -> list[str]:
    """Return foreign lines as they may stand between ours: no control character, no line that could be taken for a notice."""
    return stand_ins.disarm(escape.show_text("\n".join(lines))).split("\n") if lines else []


# ── spans ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class FailedAttempts:
    """Failed attempts: two or more in a row of the same kind become one note with the error's head and their number.

    The result of a single old one becomes its error's head: what failed has to stay known, or it is tried again.
    """

    keep_turns: int = 2
    """The newest turns that are left alone."""
    name: str = "failed"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return notes for rows of failures, and error heads for single ones."""
        failed = {(action.index, action.call_id) for action in view.actions if action.failed}
        turns = finished_turns(view, self.keep_turns)
        made: list[PlanStep] = []
        for name, row in groupby(turns, lambda turn: _failed_name(turn, failed)):
            runs = neighbours(list(row), view.transcript.turns()) if name else ()
            made += [span_step(view, self.name, run, users=False) for run in runs if len(run) > 1]
        spans = [(step.first, step.last) for step in made]
        for result in view.results:
            action = result.action
            inside = any(first <= result.entry.index <= last for first, last in spans)
            old = result.age_turns > self.keep_turns and result.tokens > WORTH_TOKENS
            if action is not None and action.failed and old and not inside:
                made.append(view.short_stub(self.name, result, stand_ins.failed_with(action.error_head)))
        return sorted((s for s in made if s.after_tokens < s.before_tokens), key=lambda step: step.first)


def _failed_name(turn: Turn, failed: set[tuple[int, str]]) -> str:
    """Return the tools of a turn that did nothing but fail; empty for every other turn."""
    calls = [(entry.index, call) for entry in turn.entries for call in entry.calls]
    did_fail = all((index, call.id) in failed for index, call in calls)
    return " ".join(sorted({call.name for _, call in calls})) if did_fail else ""


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Finished turns, oldest first: each row of them becomes a structural summary of what was done and what was said.

    The user's own words stay, unless `users` lets all but the newest and the task become quotations.
    """

    keep_turns: int = 2
    """The newest turns that are left alone."""
    users: bool = False
    """Whether the user's words may go too, quoted in the note."""
    changes: bool = True
    """Whether turns that changed a file go too: what an edit wrote is what a later one replaces."""
    low_water: float = 0.0
    """Goes no lower than this share of the limit: words are needed longer than results."""
    name: str = "spans"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return notes for rows of finished turns, as many as the goal asks for."""
        finished = finished_turns(view, self.keep_turns, users=self.users)
        if not self.changes:
            changed = {action.index for action in view.actions if action.changes}
            finished = [turn for turn in finished if not any(entry.index in changed for entry in turn.entries)]
        limit = view.size_tokens - view.over_tokens
        goal = min(view.goal_tokens, view.size_tokens - int(limit * self.low_water))
        made: list[PlanStep] = []
        freed = 0
        for run in neighbours(finished, view.transcript.turns()):
            if freed >= goal:
                break
            turns = _enough(view, run, goal - freed)
            # A note in place of notes would lose what they repeat and free next to nothing.
            if all(turn.kind == "note" for turn in turns):
                continue
            step = span_step(view, self.name, turns, users=self.users)
            if step.after_tokens < step.before_tokens:
                made.append(step)
                freed += step.before_tokens - step.after_tokens
        return made


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A model's summary in place of the messages from `first` to `last`, which `summary_span` chose.

    Not taken where it is empty, an error text, or larger than what it replaces. Agents have been seen to go on from the
    first two as if they were the history.
    """

    text: str
    first: int
    last: int
    name: str = "model_summary"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return the note with the summary; nothing where the span is no longer whole turns, or the text is no summary."""
        turns = [turn for turn in view.transcript.turns() if self.first <= turn.first and turn.last <= self.last]
        if not turns or (turns[0].first, turns[-1].last) != (self.first, self.last) or summary_problem(self.text):
            return []
        text = stand_ins.disarm(escape.show_text(self.text.strip()))
        rounds = _rounds(view, turns)
        step = note_step(
            view, self.name, turns, [stand_ins.note_by_model(rounds, text, h, view.dialect) for h in (None, HANDLE)]
        )
        return [step] if step.after_tokens < step.before_tokens else []


def summary_span(transcript: Transcript, kept: frozenset[tuple[int, str]] = frozenset()) -> tuple[int, int] | None:
    """Return the messages that a model may summarise, first and last inclusive; None where there are not two turns side
    by side.

    It is the longest row of turns between what has to stay.

    Args:
        transcript: what is to become smaller.
        kept: results that stay as they are, each as (index of its entry, id of its call).
    """
    view = View(transcript=transcript, actions=(), kept=kept)
    rows = neighbours(finished_turns(view, 1, users=True), transcript.turns())
    longest = max(rows, key=len, default=[])
    return (longest[0].first, longest[-1].last) if len(longest) > 1 else None


def summary_problem(text: str) -> str:
    """Return why a text is no summary; empty where it may be one."""
    words = text.strip()
    if not words:
        return "it is empty"
    if _MACHINE.match(words):
        return "it is an error text"
    # A long text that begins with "Error handling was moved…" is a summary; a short one is likely the error of a
    # gateway that came back as an answer.
    is_short = len(words) < _ERROR_CHARS
    if is_short and (_ERROR.match(words) or diagnose(words).kind not in {"unknown", "output_stopped"}):
        return "it is an error text"
    return ""


_ERROR_CHARS = 500
_ERROR = re.compile(
    r"(?i)(?:error|traceback|exception|failed|failure|i'?m sorry|sorry|i (?:can(?:no|')t|am unable))\b|\{"
)
_MACHINE = re.compile(  # what no model writes as a summary, however long it is
    r"(?i)traceback \(most recent call last|<(?:!doctype|html|\?xml|error)|"
    r"\{\s*\"(?:error|detail|message|type\"\s*:\s*\"error)\""
)


def finished_turns(view: View, keep_turns: int, *, users: bool = False) -> list[Turn]:
    """Return the turns that a span may hold: of the assistant, notes, and on demand of the user; not the newest
    `keep_turns`.

    Args:
        view: the transcript.
        keep_turns: how many of the newest answers stay; with fewer than that nothing is finished.
        users: whether the user's own words may go too; then active views go as well.
    """
    protected = view.transcript.protected() | {index for index, _ in view.kept}
    turns = view.transcript.turns()
    answers = [turn for turn in turns if turn.kind == "assistant"]
    newest = answers[-keep_turns].first if keep_turns and len(answers) >= keep_turns else None
    if keep_turns and newest is None:
        return []
    kinds = {"assistant", "note", "user"} if users else {"assistant", "note"}
    active = set() if users else {index for index, _ in view.active}
    return [
        turn
        for turn in turns
        if turn.kind in kinds
        and (newest is None or turn.last < newest)
        and not any(
            e.index in protected or e.pinned or e.index in active or (e.speaks and not users) for e in turn.entries
        )
    ]


def neighbours(turns: Sequence[Turn], shown: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Yield rows of turns that stand side by side among those shown."""
    # Along a row the place among the shown turns less the place in `turns` stays the same; a turn left out between
    # raises it.
    place = {turn.first: number for number, turn in enumerate(shown)}
    for _, row in groupby(enumerate(turns), lambda pair: place[pair[1].first] - pair[0]):
        yield [turn for _, turn in row]


def _enough(view: View, run: Sequence[Turn], wanted: int) -> list[Turn]:
    """Return the oldest turns of a row that free enough, the note that takes their place included."""
    sizes = accumulate(_size(view, turn) for turn in run)
    needed = wanted + NOTE_CHARS // 3
    number = next((number for number, size in enumerate(sizes, 1) if size >= needed), len(run))
    return list(run[:number])


def _size(view: View, turn: Turn) -> int:
    """Return what a turn takes at most."""
    return sum(measure_entry(entry, view.counter).high for entry in turn.entries)


def span_step(view: View, strategy: str, turns: Sequence[Turn], *, users: bool, note_share: float = 1.0) -> PlanStep:
    """Return the step that shows a note in place of some turns: as much as is worth it, less where that would not shrink.

    Args:
        view: the transcript.
        strategy: how the step is called.
        turns: turns that stand side by side.
        users: whether the user's own words are quoted in the note; else the turns hold none.
        note_share: the characters that the note may have for each token that goes.
    """
    before = sum(_size(view, turn) for turn in turns)
    first, last = turns[0].first, turns[-1].last
    done = [action for action in view.actions if first <= action.index <= last]
    words = [
        (role, escape.show_text(text))
        for turn in turns
        for entry in turn.entries
        for role, text in _remarks(entry, users=users)
        if text.strip()
    ]
    rounds = _rounds(view, turns)
    # At a share of 1, a character for each token that goes: about a third of it, at most.
    max_chars = max(_MIN_NOTE_CHARS, min(NOTE_CHARS, int(before * note_share)))
    while True:
        facts = activity.summary(done, max_chars=max_chars // 2)
        said = [stand_ins.note(rounds, facts, words, max_chars, handle, view.dialect) for handle in (None, HANDLE)]
        step = note_step(view, strategy, turns, said)
        if step.after_tokens < step.before_tokens or max_chars == _MIN_NOTE_CHARS:
            return step
        # Text that is dear to count (hexadecimal, other scripts) may be no smaller as a note of that length: shorter
        # ones are tried, so at most six are written.
        max_chars = max(_MIN_NOTE_CHARS, max_chars // 2)


def _remarks(entry: Entry, *, users: bool) -> list[tuple[str, str]]:
    """Return what an entry says as (role, text); of a note what it repeats, because what was done is summed up anew."""
    if not entry.is_note:
        return [(entry.role, entry.text)] if entry.role == "assistant" or (users and entry.speaks) else []
    return stand_ins.remarks_in(entry.text)


def _rounds(view: View, turns: Sequence[Turn]) -> int:
    """Return how many answers, and words of the user, stand behind these turns, those that are notes by now included."""
    gone = view.transcript.entries[turns[0].first : turns[-1].last + 1]
    return sum(_answers(gone)) + sum(entry.speaks for entry in gone)


def note_step(view: View, strategy: str, turns: Sequence[Turn], said: Sequence[str]) -> PlanStep:
    """Return the step that shows a note in place of some turns.

    Args:
        view: the transcript.
        strategy: the name of the strategy.
        turns: turns that stand side by side.
        said: the note without and with the way to the whole.
    """
    first, last = turns[0].first, turns[-1].last
    return PlanStep(
        strategy=strategy,
        what=f"messages {first} to {last}",
        first=first,
        last=last,
        call_id=None,
        text=said[0],
        kept_text=said[1],
        before_tokens=sum(_size(view, turn) for turn in turns),
        after_tokens=view.count(said[1].replace(HANDLE, SAMPLE_HANDLE)) + _NOTE_FRAME,
    )


_NOTE_FRAME = 60
"""Tokens of the messages that a note needs beside it so that roles alternate."""


def _name(action: Action | None) -> str:
    """Return what a plan calls a result: the tool's name."""
    return "result" if action is None else escape.clip(action.name, 64)


def _label(action: Action | None) -> str:
    """Return what a stub calls a result: the tool, and its file with the lines, or its command."""
    if action is None:
        return "result"
    what = action.command or action.path or ""
    lines = ""
    if action.path and action.first_line is not None and not action.is_whole:
        lines = f":{action.first_line}-{action.last_line or ''}"
    return f"{escape.clip(action.name, 64)} {escape.clip(what, 120)}{lines}".strip()


DEFAULT: tuple[Strategy, ...] = (
    Stale(),
    Clear(),
    FailedAttempts(),
    Spans(changes=False),
    Spans(low_water=0.75),
    Offload(min_tokens=1_000),
)
"""The order for a transcript that has grown: what is needless or old first, words later than results, what changed a
file later still.
"""
GENTLE: tuple[Strategy, ...] = (Offload(), Stale(), Clear(), FailedAttempts(), Spans())
"""The order for a request that was refused (O-4): the flood first, then what is old, then what is finished."""
LAST_RESORT: tuple[Strategy, ...] = (
    Clear(keep=1, active=True),
    Spans(keep_turns=1),
    Spans(keep_turns=0, users=True),
    Offload(max_tokens=200, min_tokens=60, active=True),
    Clear(keep=0, active=True),
)
"""What goes when nothing gentle is left: active views, unseen results, the words of the user."""
RECOVERY: tuple[Strategy, ...] = (*GENTLE, *LAST_RESORT)
"""`GENTLE`, then `LAST_RESORT`: at its end only what is pinned, the task and the newest user message are as they were."""
