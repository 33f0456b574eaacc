"""What would our own policy have sent for a session that another agent made? Its record is walked once more.

Each request of the record is prepared as we would: results are bounded as our tools bound them, the host's own compactions are left
out, and if the request would be too large, the default plan of `compaction` forgets, without a model. What the model would have
done with another prompt nobody knows: it answers as it did. Laws: what is sent fits, or is counted as a request that would be
refused; its call/result pairs are whole where the record's are; totals are the sums of their rows. Leaves to others: files, hosts,
and prices.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from penstock.context import compaction
from penstock.context.compaction.plans import SAMPLE_HANDLE
from penstock.context.sized import MESSAGE_TOKENS, Sized, measure_entry
from penstock.errors import CallerError
from penstock.inspection.counting import RecentCounts
from penstock.inspection.messages import whole_messages
from penstock.inspection.parts import countable
from penstock.inspection.telling import Teller, with_counter
from penstock.inspection.timeline import Answered, Refused, Said
from penstock.text import fitting
from penstock.text.allowance import Allowance, Budget
from penstock.wires import Cleared, Collapsed, Media, ToolResult, load, wire_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.inspection.story import FillTurn, Story
    from penstock.inspection.timeline import Happening
    from penstock.text.json_access import Json
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Entry, Transcript

RESERVE_SHARE = 16
"""The part of the window that is kept for the reply, a sixteenth: 8,000 of 128,000, as in a session of ours."""
RESULT_SHARE = 8
"""The part of the window, an eighth, that one result takes at most, within `RESULT_TOKENS`: the limit of our tools."""
RESULT_TOKENS = (600, 8_000)
MOST_ENTRIES = 3_000
"""How many messages behind notes are remembered, for later notes that refer to them."""
_MOST_PLANS = 4  # for one request: each aims for less than the one before
_ENDS_CHARS = 2_000  # of a result that is no longer shown: its outcome is written there


class ReplayedTurn(NamedTuple):
    """A request of the record, and what we would have sent instead."""

    number: int
    """The number of the recorded turn."""
    recorded_tokens: int
    sent_tokens: int | None
    """What ours would have taken; None if we would have sent none, because the same was asked again after a refusal."""
    cached_tokens: int = 0
    """How much of ours would have come from a cache as warm as the recorded one."""
    is_planned: bool = False
    """Whether something was forgotten before it."""
    is_over: bool = False
    """Whether a replayed request would nevertheless have been larger than the window."""


class Forgotten(NamedTuple):
    """What the plans of one strategy removed."""

    strategy: str
    times: int
    tokens: int
    """What was removed, less what replaces it, as an upper bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A session as it was, and as our policy would have sent it."""

    story: Story
    """What was recorded."""
    window_tokens: int
    limit_tokens: int
    """The size to which plans bring a request of ours, if they find enough to forget: the window less the reply's reserve."""
    turns: tuple[ReplayedTurn, ...]
    """One for each recorded turn, in order."""
    forgotten: tuple[Forgotten, ...]
    """What plans removed, by strategy, most first."""
    bounded_results: int
    """How many results were cut to what our tools would show."""
    bounded_tokens: int
    """Tokens that were cut from results on arrival, each counted once."""

    @property
    def sent(self) -> tuple[ReplayedTurn, ...]:
        """The requests that we would have made."""
        return tuple(turn for turn in self.turns if turn.sent_tokens is not None)

    @property
    def answered(self) -> tuple[tuple[FillTurn, FillTurn], ...]:
        """The requests that would have been answered in our version, each as recorded and as ours, so that both can be priced.

        Requests that only one side made are in neither: sums of different requests cannot be compared.
        """
        pairs = zip(self.turns, self.story.turns, strict=True)
        return tuple(
            (turn, _as_turn(row, turn)) for row, turn in pairs if row.sent_tokens is not None and not row.is_over
        )

    @property
    def recorded_tokens(self) -> int:
        """The total tokens of the recorded requests."""
        return sum(turn.recorded_tokens for turn in self.turns)

    @property
    def sent_tokens(self) -> int:
        """The total tokens that ours would have taken."""
        return sum(turn.sent_tokens or 0 for turn in self.turns)

    @property
    def recorded_refusals(self) -> int:
        """How often a request was refused for its size."""
        return sum(refusal.kind.startswith("context_") for refusal in self.story.refusals)

    @property
    def expected_refusals(self) -> int:
        """How many of our requests would have been larger than the window."""
        return sum(turn.is_over for turn in self.sent)

    @property
    def above_limit(self) -> int:
        """How many of our requests took more than `limit_tokens`, because a plan found no more to forget."""
        return sum((turn.sent_tokens or 0) > self.limit_tokens for turn in self.sent)

    @property
    def plans(self) -> int:
        """Before how many requests something was forgotten."""
        return sum(turn.is_planned for turn in self.sent)


def replay(
    happenings: Iterable[Happening],
    wire: str,
    window_tokens: int,
    *,
    model: str | None = None,
    counter: TokenCounter | None = None,
) -> Replayed:
    """Return what our policy would have sent for a session.

    Args:
        happenings: what a reader yields of its record, in order; iterated once.
        wire: the name of the wire on which its messages are written.
        window_tokens: how much the model can hold.
        model: the model to count for; None for the first that the record names.
        counter: counts tokens; None counts as `tell` does.

    Raises:
        CallerError: for an unknown wire, and for a window in which nothing fits.
    """
    if window_tokens < RESERVE_SHARE:
        raise CallerError(f"A window of {window_tokens} tokens holds no request.")
    counter, happenings = with_counter(happenings, model, counter)
    walk = _Walk(wire, window_tokens, RecentCounts(counter))
    for happening in happenings:
        walk.take(happening)
    return walk.replayed()


class _Walk:
    """The record so far, and what we would have sent: both process the same happenings."""

    def __init__(self, wire: str, window_tokens: int, counter: TokenCounter) -> None:
        self._codec = wire_named(wire).codec
        self._teller = Teller(wire, counter)
        self._policy = _Policy(wire, window_tokens, counter)
        self._window = window_tokens
        # What was said since the last request; the last ones belong to the answer of the next figure, and not to its request.
        self._waiting: list[Said] = []
        self._unsent = 0
        self._is_answered = self._came_first = False  # the newest answer's figures: present, and before its words
        self._asked: list[_Asked] = []
        self._refused_at: int | None = None  # the refused request to which nothing has been added since

    def take(self, happening: Happening) -> None:
        """Process the next happening."""
        self._teller.take(happening)
        # The request is prepared before the happening is added to what was said.
        self._take_turns(is_refused=isinstance(happening, Refused))
        match happening:
            case Said():
                self._said(happening)
            case Answered():
                self._came_first = self._is_answered or not self._unsent
                self._is_answered, self._unsent = True, 0
            case _:
                self._unsent = 0

    def _said(self, said: Said) -> None:
        # What the host's compaction left is not ours: nothing of it is gone here.
        if said.again or said.is_summary:
            return
        is_reply = not said.by_host and self._codec.read(said.message, None)[0] == "assistant"
        if not is_reply:
            self._is_answered = self._came_first = False
            self._unsent = 0
            if not said.by_host:
                self._refused_at = None
        elif not (self._is_answered and self._came_first):
            self._unsent += 1
        self._waiting.append(said)

    def _take_turns(self, *, is_refused: bool) -> None:
        new = self._teller.turns[len(self._asked) :]
        for place, turn in enumerate(new):
            if turn.is_refused:
                self._unsent = 0  # an answer before it belonged to another request
            self._ask(turn, is_refused=is_refused and place == len(new) - 1)

    def _ask(self, turn: FillTurn, *, is_refused: bool) -> None:
        sendable = len(self._waiting) - self._unsent
        self._policy.add(self._waiting[:sendable])
        del self._waiting[:sendable]
        if self._refused_at is not None:
            self._asked[self._refused_at] = self._asked[self._refused_at]._replace(is_asked_again=True)
        self._refused_at = len(self._asked) if is_refused else None
        self._asked.append(self._policy.asked(turn, self._teller.beside_tokens))

    def replayed(self) -> Replayed:
        """Return the outcome, once nothing more happens."""
        story = self._teller.story(self._window)
        self._take_turns(is_refused=False)
        # A first measurement corrects the turns before it; ours are corrected likewise.
        rows = [asked.row(turn, self._window) for asked, turn in zip(self._asked, story.turns, strict=True)]
        policy = self._policy
        return Replayed(
            story=story,
            window_tokens=self._window,
            limit_tokens=policy.limit_tokens,
            turns=tuple(rows),
            forgotten=tuple(Forgotten(name, policy.times[name], went) for name, went in policy.went.most_common()),
            bounded_results=policy.bounded_results,
            bounded_tokens=policy.bounded_tokens,
        )


class _Asked(NamedTuple):
    """A request of ours by our own count, which its turn's figures correct."""

    counted_tokens: int
    stays_tokens: int
    """How much of it, including what accompanies messages, the previous request already held from the start; 0 for the first."""
    is_planned: bool
    is_asked_again: bool = False

    def row(self, turn: FillTurn, window_tokens: int) -> ReplayedTurn:
        """Return it together with the recorded one."""
        sent = _corrected(self.counted_tokens, turn)
        stays = min(sent, _corrected(self.stays_tokens, turn)) if self.stays_tokens else sent
        warm = turn.cached_tokens or 0
        return ReplayedTurn(
            number=turn.number,
            recorded_tokens=turn.tokens,
            sent_tokens=None if self.is_asked_again else sent,
            # The first request finds what another session left there: as much as the recorded one found.
            cached_tokens=max(0, (stays if self.stays_tokens else min(stays, warm)) if warm > 0 else 0),
            is_planned=self.is_planned,
            is_over=sent > window_tokens and not self.is_asked_again,
        )


def _as_turn(row: ReplayedTurn, turn: FillTurn) -> FillTurn:
    """Return a request of ours with what is known of the recorded one: its answer, its model, how its cache was used."""
    sent = row.sent_tokens or 0
    written = sent - row.cached_tokens if turn.cache_write_tokens else turn.cache_write_tokens
    return turn._replace(
        tokens=sent,
        by_kind={},
        counted_tokens=sent,
        recorded_tokens=sent,
        cached_tokens=row.cached_tokens if turn.cached_tokens is not None else None,
        cache_write_tokens=written,
        hour_write_tokens=written if turn.hour_write_tokens else turn.hour_write_tokens,
    )


def _corrected(counted: int, turn: FillTurn) -> int:
    """Return what a count of ours amounts to as the provider counts, judged by its figure for a recorded request."""
    unrecorded = turn.by_kind.get("unrecorded", 0)
    if not turn.counted_tokens:
        return counted + unrecorded
    return counted * (turn.tokens - unrecorded) // turn.counted_tokens + unrecorded


class _Policy:
    """What we would show: everything that was said, bounded, and planned if it is too much."""

    def __init__(self, wire: str, window_tokens: int, counter: TokenCounter) -> None:
        self.limit_tokens = window_tokens - window_tokens // RESERVE_SHARE
        self.bounded_results = self.bounded_tokens = 0
        self.times: Counter[str] = Counter()
        self.went: Counter[str] = Counter()
        least, most = RESULT_TOKENS
        self._counter = counter
        self._room = Allowance.tokens(max(least, min(most, window_tokens // RESULT_SHARE)), counter)
        self._codec = wire_named(wire).codec
        self._talk: Transcript = load([], wire)
        self._tokens = 0  # of what is shown
        self._last_role = ""
        self._before: Json = None
        self._stays = 0  # how much of what is shown the last request showed

    def add(self, said: Sequence[Said]) -> None:
        """Add messages that were said."""
        for message in whole_messages(said):
            self._before, before = message, self._before
            self._talk = self._talk.append(self._bounded(message, before))
            self._tokens += self._size(self._talk.entries[-1])

    def asked(self, turn: FillTurn, beside_tokens: int) -> _Asked:
        """Return the next request, forgetting what is necessary.

        Args:
            turn: the recorded one, whose figures say how the provider counts.
            beside_tokens: our count of what accompanies its messages.
        """
        stays, is_planned = self._stays, False
        room = self.limit_tokens
        for _ in range(_MOST_PLANS):
            over = _corrected(beside_tokens + self._tokens, turn) - self.limit_tokens
            if over <= 0:
                break
            room = min(room, self._tokens) - over
            kept = self._forget(room)
            if kept is None:
                break
            is_planned, stays = True, min(stays, kept)
        first = not self._stays
        self._stays = self._tokens
        return _Asked(beside_tokens + self._tokens, 0 if first else beside_tokens + stays, is_planned)

    def _forget(self, room_tokens: int) -> int | None:
        """Make what is shown smaller; return the size of what precedes the first edit, None if nothing can be removed."""
        # Plans are checked against upper bounds, requests against likely sizes: the room is widened by the ratio.
        high = Sized(self._talk, self._counter).high
        plan = compaction.plan(
            self._talk, Budget(max(0, room_tokens * high // max(1, self._tokens)), counter=self._counter)
        )
        if not plan:
            return None
        for step in plan.steps:
            self.times[step.strategy] += 1
            self.went[step.strategy] += step.before_tokens - step.after_tokens
        first = min(step.first for step in plan.steps)
        smaller = compaction.apply(self._talk, plan, lambda _content, _name: SAMPLE_HANDLE)
        self._talk = _slim(smaller)
        self._last_role, self._tokens, kept = "", 0, 0
        for entry in smaller.visible():
            if entry.index == first:
                kept = self._tokens
            self._tokens += self._size(entry)
        return kept

    def _bounded(self, message: Json, before: Json) -> Json:
        """Return a message with its results as our tools would show them; pictures are left alone."""
        _, parts = self._codec.read(message, before)
        for part in parts:
            # A text with fewer characters than the limit has tokens fits with any counter.
            if not isinstance(part, ToolResult) or not part.is_clearable or len(part.text) <= self._room.limit:
                continue
            if any(isinstance(inner, Media) for inner in part.parts):
                continue
            shown = fitting.fit(part.text, self._room, handle=SAMPLE_HANDLE)
            if shown.is_cut:
                self.bounded_results += 1
                self.bounded_tokens += max(
                    0, self._counter.count(part.text).tokens - self._counter.count(shown.text).tokens
                )
                message = self._codec.with_result(message, part.call_id, shown.text, before)
        return message

    def _size(self, entry: Entry) -> int:
        """Return what an entry takes after the previous one, counted as a story counts it."""
        parts = tuple(countable(entry.parts))
        counted = measure_entry(replace(entry, parts=parts), self._counter).parts
        frame = MESSAGE_TOKENS if counted and entry.role != self._last_role else 0
        self._last_role = entry.role
        return sum(count.tokens for count in counted) + frame


def _slim(talk: Transcript) -> Transcript:
    """Return a transcript without the texts that are no longer shown, so that memory is that of one request.

    What was done is still read from them: a call from its arguments, its outcome from the ends of its result. If they are very
    many, those behind notes are dropped altogether: a plan reads everything, and its time would grow with the session.
    """
    places: list[Entry | Collapsed | None] = list(talk.entries)
    for edit in talk.edits:
        if isinstance(edit, Collapsed):
            places[edit.first : edit.last + 1] = [edit, *[None] * (edit.last - edit.first)]
    shown = {entry.index: entry for entry in talk.visible() if not entry.is_note}
    cleared = {edit.index for edit in talk.edits if isinstance(edit, Cleared)}
    # What a note removed needs no stub any more.
    stubs = [edit for edit in talk.edits if isinstance(edit, Cleared) and edit.index in shown]
    notes = [place for place in places if isinstance(place, Collapsed)]
    kept = {
        entry.index: entry
        if entry.index in shown and entry.index not in cleared
        else replace(
            entry,
            raw=shown[entry.index].raw if entry.index in shown else None,
            parts=tuple(_short(part) if isinstance(part, ToolResult) else part for part in entry.parts),
        )
        for entry in talk.entries
    }
    if len(kept) <= MOST_ENTRIES:
        return replace(talk, entries=tuple(kept.values()), edits=(*notes, *stubs))
    staying = [*shown, *(note.first for note in notes)]
    index = {old: new for new, old in enumerate(sorted(staying))}
    return replace(
        talk,
        entries=tuple(replace(kept[old], index=new, last_index=new) for old, new in index.items()),
        edits=(
            *(replace(note, first=index[note.first], last=index[note.first]) for note in notes),
            *(replace(stub, index=index[stub.index]) for stub in stubs),
        ),
    )


def _short(part: ToolResult) -> ToolResult:
    if len(part.text) <= 2 * _ENDS_CHARS:
        return part
    return replace(part, text=part.text[:_ENDS_CHARS] + part.text[-_ENDS_CHARS:], parts=())
