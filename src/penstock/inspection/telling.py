"""How do the happenings of a session become its story? One pass over what a reader yields, in bounded memory.

A turn is a request that was answered or refused. Readers report the figures of an answer before, after or between its messages,
depending on their records; any part of the reply already in the window was not in the request that it answers. Laws: the kinds of a
turn add up to its tokens; any happenings in any order make a story. Leaves to others: how a record is read, and how the story is
shown.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from penstock.context.sized import MESSAGE_TOKENS, measure_entry
from penstock.inspection.counting import PatientCounter
from penstock.inspection.parts import PartReader
from penstock.inspection.shares import shares
from penstock.inspection.standing import MAX_ITEMS, Held, Standing
from penstock.inspection.story import CompactedAway, FillTurn, RefusedTurn, Story, UnusedTool, Waste
from penstock.inspection.timeline import Answered, Compacted, Instructed, Refused, Said
from penstock.overflow import diagnose
from penstock.text.json_access import as_json
from penstock.wires import wire_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.inspection.timeline import Happening
    from penstock.text.tokens import TokenCounter

FLOOD_SHARE = 20
"""A result that takes at least one part in this many of the window is a flood."""
_SYNTHETIC = "<synthetic>"  # the model that Claude Code names when it says something itself instead of an answer
_LOOK_AHEAD = 64  # happenings are searched for the name of the model


def tell(
    happenings: Iterable[Happening],
    wire: str,
    *,
    window_tokens: int | None = None,
    model: str | None = None,
    counter: TokenCounter | None = None,
) -> Story:
    """Return where the context of a session went.

    Args:
        happenings: what a reader yields of its record, in order; iterated once.
        wire: the name of the wire on which its messages are written.
        window_tokens: how much the model can hold; None takes what a refusal or the record says.
        model: the model to count for; None for the first that the record names.
        counter: counts tokens; None counts for the model, exactly if possible until a session is large (`PatientCounter`).

    Returns:
        The story. What only the reader of a file knows (torn lines, and what is never sent) is empty in it.

    Raises:
        CallerError: for an unknown wire.
    """
    counter, happenings = with_counter(happenings, model, counter)
    teller = Teller(wire, counter)
    for happening in happenings:
        teller.take(happening)
    return teller.story(window_tokens)


def with_counter(
    happenings: Iterable[Happening], model: str | None, counter: TokenCounter | None
) -> tuple[TokenCounter, Iterator[Happening]]:
    """Return what counts a record's tokens, and its happenings; arguments as for `tell`.

    A model is named with the first answer: a host's instructions and a task come before it.
    """
    rest = iter(happenings)
    head = list(islice(rest, _LOOK_AHEAD))
    if counter is None:
        named = (one.model for one in head if isinstance(one, Answered) and one.model not in {"", _SYNTHETIC})
        counter = PatientCounter(model or next(named, "") or "o200k")
    return counter, chain(head, rest)


class Teller:
    """The story of a session so far: happenings are processed one by one, and `story` ends it.

    Args:
        wire: the name of the wire on which its messages are written.
        counter: counts tokens.
    """

    def __init__(self, wire: str, counter: TokenCounter) -> None:
        self._codec = wire_named(wire).codec
        self._counter = counter
        self._parts = PartReader(wire)
        self._standing = Standing()
        self._beside: dict[str, int] = {}
        self._tools: dict[str, int] = {}
        self._called: set[str] = set()
        self._turns: list[FillTurn] = []
        self._refusals: list[RefusedTurn] = []
        self._compactions: list[CompactedAway] = []
        self._model = ""
        self._recorded_window: int | None = None
        self._refused_window: int | None = None
        self._last_role = ""
        # What a request took in addition to what is recorded, and the ratio (measured, counted) if our count was too high.
        self._unrecorded = 0
        self._scale = (1, 1)
        self._is_corrected = False  # since any measured answer
        self._is_refused = False  # since a measured answer
        self._is_new = True  # whether anything was said since the last turn
        # The newest answer's messages so far; how many of them the request of the next figure contained; and how many requests they
        # are the answers of.
        self._reply: list[Held] = []
        self._reply_held = 0
        self._reply_turns = 0
        self._reply_of = ""  # the id of the newest answer, if its blocks are recorded one by one
        self._cutting: _Cutting | None = None

    @property
    def turns(self) -> Sequence[FillTurn]:
        """The requests so far; a measurement may still correct earlier ones."""
        return self._turns

    @property
    def beside_tokens(self) -> int:
        """Our count of what currently accompanies every request besides its messages."""
        return sum(self._beside.values())

    def take(self, happening: Happening) -> None:
        """Process the next happening."""
        match happening:
            case Said():
                self._said(happening)
            case Answered():
                self._answered(happening)
            case Instructed():
                self._instructed(happening)
            case Refused():
                self._refused(happening)
            case Compacted():
                self._compacted(happening)

    # --- messages ---

    def _instructed(self, what: Instructed) -> None:
        self._end_reply()
        if what.system is not None:
            self._beside["instructions"] = self._tokens(what.system)
        if what.tools is not None:
            sizes = [(self._codec.tool_names([tool]), self._tokens(as_json(tool))) for tool in what.tools]
            self._beside["tool definitions"] = sum(tokens for _, tokens in sizes)
            for names, tokens in sizes:  # one definition may contain several functions
                self._tools |= dict.fromkeys(names, 0) | shares(tokens, dict.fromkeys(names, 1))

    def _tokens(self, text: str) -> int:
        return self._counter.count(text).tokens if text else 0

    def _said(self, said: Said) -> None:
        entry = self._parts.read(said)
        role = entry.role
        is_reply = role == "assistant" and not said.by_host and not said.again
        if not is_reply:
            self._end_reply()
        elif said.part_of and said.part_of == self._reply_of and not self._reply:
            # One of several calls in one answer, recorded after the result of another: the answer has had its turn.
            self._reply_turns, self._reply_held = 1, _ALL
        if not said.by_host and not said.again:
            self._settle()
        self._is_new = True
        counts = [count.tokens for count in measure_entry(entry, self._counter).parts]
        # Readers yield blocks of one message one by one: its frame is counted with the first of them.
        is_begun = bool(said.part_of) and said.part_of == self._reply_of
        if counts and role != self._last_role and not is_begun:
            counts[0] += MESSAGE_TOKENS
        self._last_role = role
        if is_reply:
            self._reply_of = said.part_of
        asked = len(self._turns)
        for held, answer in self._parts.held(said, entry, counts, asked):
            stands = self._standing.add(held, again=said.again)
            if answer is not None:
                self._standing.answered(answer, again=said.again)
            if held.kind == "calls":
                self._called.add(held.name)
            if is_reply:
                self._reply.append(stands)

    # --- turns ---

    def _answered(self, answered: Answered) -> None:
        self._settle()
        if answered.window_tokens:
            self._recorded_window = answered.window_tokens
        recorded = answered.input_tokens
        if answered.model and answered.model != _SYNTHETIC:
            self._model = answered.model
        is_measured = bool(recorded and recorded > 0 and answered.model != _SYNTHETIC)
        # Codex writes the window in place of a figure if a request was refused.
        if self._is_refused and recorded in {self._recorded_window, self._refused_window}:
            is_measured = False
        if not is_measured and not self._is_new and self._is_refused and self._turns:
            # A figure after a refusal, with nothing said in between, belongs to that refusal, unless its words said more.
            if self._turns[-1].recorded_tokens is None:
                self._turns[-1] = self._turns[-1]._replace(recorded_tokens=recorded)
            return
        # For a first figure, the reply so far is the answer; for a second one, only what came after the first.
        unsent = self._reply[self._reply_held :] if self._reply_turns else self._reply
        came_first = not self._reply
        self._turn(unsent, recorded if is_measured else None, answered)
        self._reply_turns += 1
        # If figures precede their messages, the next one's request contains all that follow this one.
        self._reply_held = _ALL if came_first or self._reply_held == _ALL else len(self._reply)
        if is_measured:
            self._is_refused = False

    def _end_reply(self) -> None:
        """Record that the newest answer is complete; one whose figures nobody recorded is a turn nevertheless."""
        if self._reply and not self._reply_turns:
            self._settle()
            self._turn(self._reply, None, Answered(None))
        self._reply, self._reply_held, self._reply_turns = [], 0, 0

    def _refused(self, refused: Refused) -> None:
        self._end_reply()
        self._settle()
        told = diagnose(refused.words)
        overflow = refused.overflow or told.overflow
        found = overflow if overflow is not None and overflow.unit == "tokens" else None
        size = found.input if found is not None and found.bound == "exact" else None
        self._refused_window = (found.limit if found is not None else None) or self._refused_window
        self._turn([], size, Answered(size, at=refused.at), is_refused=True)
        self._refusals.append(
            RefusedTurn(
                turn=len(self._turns),
                words=refused.words,
                kind=overflow.kind if overflow is not None else told.kind,
                limit_tokens=found.limit if found is not None else None,
                input_tokens=found.input if found is not None else None,
                at=refused.at,
            )
        )
        self._is_refused = True

    def _turn(
        self, unsent: list[Held], measured_tokens: int | None, answered: Answered, *, is_refused: bool = False
    ) -> None:
        """Add a turn whose request contained everything in the window but `unsent`."""
        counts = self._fill()
        for held in unsent:
            counts[held.kind] -= held.tokens
            held.asked_before = len(self._turns) + 1
        counted = sum(counts.values())
        if measured_tokens:
            self._unrecorded = max(0, measured_tokens - counted)
            self._scale = (measured_tokens, counted) if measured_tokens < counted else (1, 1)
            if not self._is_corrected:
                self._is_corrected = True
                self._correct_turns()
        by_kind = self._corrected(counts)
        self._turns.append(
            FillTurn(
                number=len(self._turns) + 1,
                tokens=sum(by_kind.values()),
                by_kind=by_kind,
                counted_tokens=counted,
                recorded_tokens=answered.input_tokens,
                is_measured=bool(measured_tokens),
                cached_tokens=answered.cached_tokens,
                cache_write_tokens=answered.cache_write_tokens,
                output_tokens=answered.output_tokens,
                model=self._model,
                at=answered.at,
                is_refused=is_refused,
                hour_write_tokens=answered.hour_write_tokens,
            )
        )
        self._is_new = False

    def _correct_turns(self) -> None:
        """Correct the turns before the first measurement by it: what goes unrecorded with every request went with theirs too."""
        for at, turn in enumerate(self._turns):
            by_kind = self._corrected(turn.by_kind)
            self._turns[at] = turn._replace(by_kind=by_kind, tokens=sum(by_kind.values()))

    def _fill(self) -> Counter[str]:
        """Return our count of everything in the window, by kind."""
        return Counter(self._beside) + self._standing.counts

    def _corrected(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return our count as corrected by the newest measurement: reduced in proportion, or plus what no record shows."""
        to, of = self._scale
        made = shares(sum(counts.values()) * to // of, counts)
        return made | ({"unrecorded": self._unrecorded} if self._unrecorded else {})

    # --- compactions ---

    def _compacted(self, compacted: Compacted) -> None:
        self._end_reply()
        self._settle()
        self._cutting = _Cutting(compacted, self._corrected(self._fill()), self._standing.counts)
        self._standing.compact()
        self._parts.forget()
        self._last_role = ""

    def _settle(self) -> None:
        """Record that everything that stays after a compaction has been said again."""
        if self._cutting is None:
            return
        cut, self._cutting = self._cutting, None
        self._standing.settle(len(self._turns))
        before = cut.compacted.before_tokens
        self._compactions.append(
            CompactedAway(
                turn=len(self._turns),
                before_tokens=before if before and before > 0 else sum(cut.before.values()),
                after_tokens=sum(self._corrected(self._fill()).values()),
                by_kind=dict(cut.counts - self._standing.counts),
                by_hand=cut.compacted.by_hand,
                at=cut.compacted.at,
                is_handoff=cut.compacted.is_handoff,
            )
        )

    # --- the end ---

    def story(self, window_tokens: int | None) -> Story:
        """Return the story, once nothing more happens."""
        self._end_reply()
        self._settle()
        self._parts.forget()
        self._standing.end(len(self._turns))
        window, source = next(
            (
                (tokens, source)
                for tokens, source in (
                    (window_tokens, "as given"),
                    (self._refused_window, "as a refusal named it"),
                    (self._recorded_window, "as recorded"),
                )
                if tokens
            ),
            (None, ""),
        )
        whole = window or max((turn.tokens for turn in self._turns), default=0)
        unused = sorted(
            (UnusedTool(name, tokens) for name, tokens in self._tools.items() if name not in self._called),
            key=lambda tool: -tool.tokens,
        )
        return Story(
            turns=tuple(self._turns),
            window_tokens=window,
            window_source=source,
            items=self._standing.items.items(),
            by_tool=dict(self._standing.by_tool.most_common()),
            waste=Waste(
                floods=tuple(one for one in self._standing.results.items() if one.tokens * FLOOD_SHARE >= whole),
                rereads=self._standing.rereads(),
                repeated_errors=self._standing.repeated_errors(),
                unused_tools=tuple(unused[:MAX_ITEMS]),
            ),
            compactions=tuple(
                cut._replace(needed_again=tuple(sorted(again.values(), key=lambda one: -one.tokens)[:MAX_ITEMS]))
                for cut, again in zip(self._compactions, self._standing.again, strict=True)
            ),
            refusals=tuple(self._refusals),
            model=self._model,
        )


_ALL = 1 << 62
"""More messages than any reply has."""


class _Cutting(NamedTuple):
    """A compaction whose remains are still being said."""

    compacted: Compacted
    before: Mapping[str, int]
    """What the request would have contained, by kind."""
    counts: Counter[str]
    """Our count of what was in the window, by kind."""
