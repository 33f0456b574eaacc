"""Which finished turns become notes? Failed attempts, finished work, and what a model summarised (S-4).

Law: a span holds whole turns, and nothing that has to stay. Leaves to others: single results (`results`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from penstock.context import activity
from penstock.context.compaction.names import names_in
from penstock.context.compaction.plans import HANDLE, SAMPLE_HANDLE, PlanStep
from penstock.context.compaction.views import NAMES_SHARE, View
from penstock.context.sized import MESSAGE_TOKENS, high_of
from penstock.overflow import diagnose
from penstock.text import escape, stand_ins

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.context.activity import Action
    from penstock.wires import Entry, Transcript, Turn

NOTE_CHARS = 6_000
"""The most characters of a note in place of finished turns."""
_MIN_NOTE_CHARS = 200


@dataclass(frozen=True, kw_only=True)
class FailedAttempts:
    """Strategy: replace two or more failed attempts of the same kind in a row by one note with the error's head and their number.

    The result of a single old failure becomes its error's head: what failed has to stay known, or it is tried again.
    """

    keep_turns: int = 2
    """How many of the newest turns are left alone."""
    name: str = "failed"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return notes for rows of failures, and error heads for single ones."""
        failed = {(action.index, action.call_id) for action in view.actions if action.failed}
        turns = finished_turns(view, self.keep_turns)
        rows = [list(row) for name, row in groupby(turns, lambda turn: _failed_name(turn, failed)) if name]
        runs = [run for row in rows for run in neighbours(row, view.transcript.turns()) if len(run) > 1]
        made = [span_step(view, self.name, run, names_share=NAMES_SHARE) for run in runs]
        gone = {entry.index for run in runs for turn in run for entry in turn.entries}
        for result in view.results:
            action = result.action
            old = result.age_turns > self.keep_turns and result.is_worth_a_stub
            if action is not None and action.failed and old and result.entry.index not in gone:
                made.append(view.short_stub(self.name, result, stand_ins.failed_with(action.error_head)))
        return sorted((s for s in made if s.after_tokens < s.before_tokens), key=lambda step: step.first)


def _failed_name(turn: Turn, failed: set[tuple[int, str]]) -> str:
    """Return the tools of a turn in which every call failed; empty for any other turn."""
    calls = [(entry.index, call) for entry in turn.entries for call in entry.calls]
    did_fail = all((index, call.id) in failed for index, call in calls)
    return " ".join(sorted({call.name for _, call in calls})) if did_fail else ""


@dataclass(frozen=True, kw_only=True)
class Spans:
    """Strategy: replace finished turns, oldest first, row by row, by a structural summary of what was done and said.

    The user's own words stay, unless `users` turns all but the newest and the task into quotations.
    """

    keep_turns: int = 2
    """How many of the newest turns are left alone."""
    users: bool = False
    """Whether spans may also hold messages of the user, whose words are then quoted in the note."""
    changes: bool = True
    """Whether turns that changed a file go too; what an edit wrote is what a later edit replaces."""
    low_water: float = 0.0
    """The share of the limit to stop at: words are needed longer than results."""
    note_share: float = 1.0
    """The characters that a note may have for each token that goes, names excluded: at 1 about a quarter of the tokens."""
    name: str = "spans"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return notes for rows of finished turns, as many as the goal requires."""
        finished = finished_turns(view, self.keep_turns, users=self.users)
        if not self.changes:
            changed = {action.index for action in view.actions if action.changes}
            finished = [turn for turn in finished if not any(entry.index in changed for entry in turn.entries)]
        limit = view.size_tokens - view.over_tokens
        goal = min(view.goal_tokens, view.size_tokens - int(limit * self.low_water))
        made: list[PlanStep] = []
        freed = 0
        for run in neighbours(finished, view.transcript.turns()):
            turns = _enough(view, run, goal - freed)
            # A note in place of notes would lose what they repeat and free next to nothing.
            if freed >= goal or all(turn.kind == "note" for turn in turns):
                continue
            step = span_step(view, self.name, turns, note_share=self.note_share, names_share=NAMES_SHARE)
            if step.after_tokens < step.before_tokens:
                made.append(step)
                freed += step.before_tokens - step.after_tokens
        return made


@dataclass(frozen=True, kw_only=True)
class BareSpans:
    """Strategy: replace every row of turns that may go by one line with its size and where it is kept, the least possible.

    Notes go too, with what they repeat: a request that fits without it is better than one that does not fit.
    """

    name: str = "spans"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return one line for each row of turns that the line makes smaller."""
        rows = neighbours(finished_turns(view, 0, users=True), view.transcript.turns())
        made = [span_step(view, self.name, row, note_share=0.0, can_be_bare=True) for row in rows]
        return [step for step in made if step.after_tokens < step.before_tokens]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Strategy: put a model's summary in place of the messages from `first` to `last`, which `summary_span` chose.

    A summary that is empty, an error text, or larger than what it replaces is not used. Agents have been seen to continue
    from the first two as if they were the history.
    """

    text: str
    first: int
    last: int
    name: str = "model_summary"

    def steps(self, view: View) -> Sequence[PlanStep]:
        """Return the note with the summary; nothing if the span is no longer whole turns or the text is not a summary."""
        turns = [turn for turn in view.transcript.turns() if self.first <= turn.first and turn.last <= self.last]
        if not turns or (turns[0].first, turns[-1].last) != (self.first, self.last) or summary_problem(self.text):
            return []
        text = stand_ins.disarm(escape.show_text(self.text.strip()))
        rounds = steps_of(view, turns)
        step = note_step(
            view, self.name, turns, [stand_ins.note_by_model(rounds, text, h, view.dialect) for h in (None, HANDLE)]
        )
        return [step] if step.after_tokens < step.before_tokens else []


def summary_span(transcript: Transcript, kept: frozenset[tuple[int, str]] = frozenset()) -> tuple[int, int] | None:
    """Return the messages that a model may summarise, first and last inclusive; None if there are no two adjacent turns.

    They are the longest row of turns between what has to stay.

    Args:
        transcript: what is to become smaller.
        kept: results that stay as they are, each as (index of its entry, id of its call).
    """
    view = View(transcript=transcript, actions=(), kept=kept)
    rows = neighbours(finished_turns(view, 1, users=True), transcript.turns())
    longest = max(rows, key=len, default=[])
    return (longest[0].first, longest[-1].last) if len(longest) > 1 else None


def summary_problem(text: str) -> str:
    """Return why a text is not a summary; empty if it may be one."""
    words = text.strip()
    if not words:
        return "it is empty"
    if _MACHINE.match(words):
        return "it is an error text"
    # A long text that begins with "Error handling was moved…" is a summary; a short one is probably a gateway's error
    # that came back as an answer.
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
    """Return the turns that a span may hold: the assistant's, notes and optionally the user's, but not the newest
    `keep_turns`.

    Args:
        view: the transcript.
        keep_turns: how many of the newest answers stay; with fewer than that, nothing is finished.
        users: whether the user's own words may go too; then active views go as well.
    """
    turns = view.transcript.turns()
    answers = [turn for turn in turns if turn.kind == "assistant"]
    newest = answers[-keep_turns].first if keep_turns and len(answers) >= keep_turns else None
    if keep_turns and newest is None:
        return []
    kinds = {"assistant", "note", "user"} if users else {"assistant", "note"}
    stays = view.transcript.protected() | {index for index, _ in view.kept}
    if not users:
        stays |= {index for index, _ in view.active}
        stays |= {entry.index for entry in view.transcript.visible() if entry.speaks}
    return [
        turn
        for turn in turns
        if turn.kind in kinds
        and (newest is None or turn.last < newest)
        and stays.isdisjoint([entry.index for entry in turn.entries])
    ]


def neighbours(turns: Sequence[Turn], shown: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Yield rows of turns that are adjacent among those shown."""
    # Along a row, the position among the shown turns minus the position in `turns` stays the same; a turn left out in
    # between raises it.
    place = {turn.first: number for number, turn in enumerate(shown)}
    for _, row in groupby(enumerate(turns), lambda pair: place[pair[1].first] - pair[0]):
        yield [turn for _, turn in row]


def _enough(view: View, run: Sequence[Turn], wanted: int) -> list[Turn]:
    """Return the oldest turns of a row that free enough, allowing for the note that takes their place."""
    sizes = accumulate(high_of(turn.entries, view.counter) for turn in run)
    needed = wanted + NOTE_CHARS // 3
    number = next((number for number, size in enumerate(sizes, 1) if size >= needed), len(run))
    return list(run[:number])


def span_step(
    view: View,
    strategy: str,
    turns: Sequence[Turn],
    *,
    note_share: float = 1.0,
    names_share: float = 0.0,
    can_be_bare: bool = False,
) -> PlanStep:
    """Return the step that shows a note in place of some turns: as long as it is worth, or shorter if it would not shrink.

    Args:
        view: the transcript.
        strategy: the name of the strategy.
        turns: adjacent turns; what the user says in them is quoted.
        note_share: the characters that the note may have for each token that goes.
        names_share: the additional characters for identifiers, for each token of the original turns.
        can_be_bare: whether a note with hardly more room than its head is reduced to that head: how much went, and the way to it.
    """
    before = high_of([entry for turn in turns for entry in turn.entries], view.counter)
    first, last = turns[0].first, turns[-1].last
    rounds = steps_of(view, turns)
    # At a share of 1, one character for each token that goes: at most about a third of the tokens.
    max_chars = min(NOTE_CHARS, int(before * note_share))
    is_bare = can_be_bare and max_chars < _MIN_NOTE_CHARS
    done = () if is_bare else view.actions_between(first, last)
    words = [] if is_bare else list(_words(turns))
    max_chars = max(max_chars, _MIN_NOTE_CHARS)
    # Based on the original turns: otherwise a note of notes would have room for fewer names each time. But never more than
    # about a third of what goes now.
    came = high_of(view.transcript.entries[first : last + 1], view.counter)
    names_chars = min(int(came * names_share), before)
    told = list(_foreign(view, done, first, last)) if names_share else []
    while True:
        facts = activity.summary(done, max_chars=max_chars // 2)
        names = names_in(told, names_chars)
        if names:
            facts = f"{facts}\nnamed: {names}".lstrip()
        room = max_chars + len(names)
        said = [stand_ins.note(rounds, facts, words, room, handle, view.dialect) for handle in (None, HANDLE)]
        step = note_step(view, strategy, turns, said)
        if step.after_tokens < step.before_tokens or max_chars == _MIN_NOTE_CHARS:
            return step
        # For text that costs many tokens (hexadecimal, other scripts) a note of that length may be no smaller. Shorter
        # notes are tried, at most six in all.
        max_chars, names_chars = max(_MIN_NOTE_CHARS, max_chars // 2), names_chars // 2


def _words(turns: Sequence[Turn]) -> Iterator[tuple[str, str]]:
    """Yield what was said in some turns and by whom, in a form that a note may repeat."""
    for turn in turns:
        for entry in turn.entries:
            for role, text in _remarks(entry):
                if text.strip():
                    yield role, escape.show_text(text)


def _foreign(view: View, done: Sequence[Action], first: int, last: int) -> Iterator[str]:
    """Yield what was said from `first` to `last`, and what tools returned that neither read a file nor ran a command.

    It is taken from the originals, because a note in the span does not repeat everything that they named.
    """
    asked = {(action.index, action.call_id) for action in done if action.asked}
    known = {(action.result_index, action.call_id) for action in done if not action.asked}
    for entry in view.transcript.entries[first : last + 1]:
        yield entry.text
        yield from (call.arguments for call in entry.calls if (entry.index, call.id) in asked)
        yield from (part.text for part in entry.results if (entry.index, part.call_id) not in known)


def _remarks(entry: Entry) -> list[tuple[str, str]]:
    """Return what an entry says as (role, text); for a note what it repeats, because what was done is summarised anew."""
    if not entry.is_note:
        return [(entry.role, entry.text)] if entry.role == "assistant" or entry.speaks else []
    return stand_ins.remarks_in(entry.text)


def steps_of(view: View, turns: Sequence[Turn]) -> int:
    """Return how many answers and user messages these turns stand for, including those that are already notes."""
    gone = view.transcript.entries[turns[0].first : turns[-1].last + 1]
    # A note that arrived in the request states how much it stands for.
    noted = sum(stand_ins.steps_in(entry.text) for entry in gone if entry.is_note)
    return max(1, noted + sum(activity.answers_begun(gone)) + sum(entry.speaks for entry in gone))


def standing_note(shown: Sequence[Entry], transcript: Transcript) -> Entry | None:
    """Return our own note if these entries are just one, with its companion messages; else None.

    A note in its place needs no additional message: only its words change.
    """
    # The messages of one edit, or of several in a row, which are written as one. A note that arrived in the request is an
    # entry of its own, and replacing it may need a second message.
    if any(not entry.is_note or entry is transcript.entries[entry.index] for entry in shown):
        return None
    return next((entry for entry in shown if stand_ins.is_note(entry.text)), None)


def note_step(view: View, strategy: str, turns: Sequence[Turn], said: Sequence[str]) -> PlanStep:
    """Return the step that shows a note in place of some turns.

    Args:
        view: the transcript.
        strategy: the name of the strategy.
        turns: adjacent turns.
        said: the note without and with the way to the original.
    """
    first, last = turns[0].first, turns[-1].last
    before = high_of([entry for turn in turns for entry in turn.entries], view.counter)
    _, frame_tokens = note_frame(view, first, last)
    return PlanStep(
        strategy=strategy,
        what=f"messages {first} to {last}",
        first=first,
        last=last,
        call_id=None,
        text=said[0],
        kept_text=said[1],
        before_tokens=before,
        after_tokens=view.count(said[1].replace(HANDLE, SAMPLE_HANDLE)) + frame_tokens,
    )


def note_frame(view: View, first: int, last: int) -> tuple[int, int]:
    """Return how many messages a note takes in place of these entries, and their tokens apart from its own words."""
    beside = view.transcript.beside_note(first, last)
    messages = 1 + len(beside)
    return messages, messages * MESSAGE_TOKENS + sum(map(view.count, beside))
