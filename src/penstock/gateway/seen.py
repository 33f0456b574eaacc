"""What was done with the requests that passed? Counted, and for the newest sessions told turn by turn (W-7).

Every request is recorded once, when its answer has passed. One that was not parsed is only counted; one that was parsed is a turn
of its session. Laws: memory is bounded whatever clients send, including names; when turns are thinned out, each bucket keeps its
fullest, since a mean would hide what did not fit; nothing of a request's text is kept except the model's name. Only one event loop
records, so nothing is locked. Leaves to others: how it is shown (`page`, `metrics`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, OrderedDict, deque
from datetime import UTC, datetime
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.context.counts import CONTENT_KINDS
from penstock.inspection.page import OverviewRow
from penstock.inspection.shares import shares
from penstock.inspection.spending import Spending
from penstock.inspection.story import CompactedAway, FillTurn, Money, RefusedTurn, Story, Subject
from penstock.models.prices import as_of, price_of
from penstock.wires import wire_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.gateway.passage import Passed
    from penstock.gateway.telemetry import Telemetry

MAX_SESSIONS: Final = 64
"""How many sessions are reported, the most recently seen."""
MAX_TURNS: Final = 240
"""How many turns of a session are kept; beyond that, the fullest of every two, of every four, …"""
MAX_EVENTS: Final = 60
"""How many cuts, and how many refusals, of a session are reported individually, the newest; all are counted."""
MAX_HANDLES: Final = 24
"""How many handles of a session are named, the newest."""
MAX_MODELS: Final = 50
"""How many models are counted by name, the first ones, because clients name them. The others are counted as one."""
MAX_MODEL_CHARS: Final = 100
OTHERS: Final = "other"

# Powers of two from 10 ms, as the conventions for `gen_ai.client.operation.duration` advise.
SECONDS: Final = tuple(0.01 * 2**power for power in range(14))
"""The upper edges of the buckets for answer times."""
SHARES: Final = (0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""The upper edges of the buckets for how full windows are."""

# The parts of a request, in the words of stories.
_KIND_OF: Final[Mapping[str, str]] = {
    "system": "instructions",
    "tools": "tool definitions",  # and the form of the reply, which is a schema too
    "images": "media",
    "files": "media",
    "notes": "summary",
    "other": "results",  # blocks that only the provider reads, such as what its own tools found
}


class Histogram:
    """How many values fell into each bucket.

    Args:
        edges: the upper edges of the buckets, in rising order.
    """

    def __init__(self, edges: Sequence[float]) -> None:
        self.edges, self.total = edges, 0.0
        self.counts = [0] * (len(edges) + 1)

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.edges, value)] += 1
        self.total += value


class RequestLabels(NamedTuple):
    """The labels by which requests are counted."""

    wire: str
    """Empty if the request was not for a model's API."""
    model: str
    status: int
    """The status that the client got."""
    is_streamed: bool
    outcome: str
    """The outcome of requests: `unread`, because the request fits whatever it contains; `fits`; `cut`; `recovered` after a refusal;
    `refused` if nothing smaller could be sent; `counted` if tokens were asked for; `other` for a request that is not to a model.
    """


class SeenTurn(NamedTuple):
    """A request of a session, as it was sent on."""

    number: int
    tokens: int
    kinds: tuple[int, ...]
    """By our count, in the order of `CONTENT_KINDS`."""
    is_measured: bool
    is_refused: bool


class _Cut(NamedTuple):
    number: int
    before_tokens: int
    after_tokens: int
    kinds: tuple[int, ...]


class _Refusal(NamedTuple):
    number: int
    times: int
    is_recovered: bool
    window_tokens: int | None


class FullestTurns:
    """Turns of which each bucket keeps the fullest, so that there are never more than `most`."""

    def __init__(self, most: int = MAX_TURNS) -> None:
        self._most = most
        self.stride = 1
        """How many turns a bucket has."""
        self.turns: list[SeenTurn] = []

    def add(self, turn: SeenTurn) -> None:
        """Add the next turn; turn numbers begin with 1 and have no gaps."""
        place = self.place(turn.number)
        if place < len(self.turns):
            self.turns[place] = _fuller(self.turns[place], turn)
            return
        # A session of 10,000 turns must fit a picture and a bound: when all buckets are taken, pairs are merged and keep the fuller
        # turn. Averages would hide what the picture is for, the turn that nearly did not fit.
        if len(self.turns) == self._most:
            self.stride *= 2
            pairs = (self.turns[at : at + 2] for at in range(0, len(self.turns), 2))
            self.turns = [_fuller(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
            self.add(turn)
            return
        self.turns.append(turn)

    def place(self, number: int) -> int:
        """Return the index of a turn's bucket, from 0."""
        return (number - 1) // self.stride


def _fuller(one: SeenTurn, other: SeenTurn) -> SeenTurn:
    return other if other.tokens >= one.tokens else one


class SeenSession:
    """One conversation, as far as it was parsed.

    Args:
        passed: its first request.
    """

    def __init__(self, passed: Passed) -> None:
        self.name, self.wire, self.provider = passed.session, passed.wire, passed.provider
        self.model, self.window_tokens, self.seen_at = "", passed.window_tokens, 0.0
        self.requests = self.cuts = self.cut_tokens = self.refusals = self.answered_calls = 0
        self.handles: tuple[str, ...] = ()
        self._turns = FullestTurns()
        self._newest: SeenTurn | None = None
        self._cut: deque[_Cut] = deque(maxlen=MAX_EVENTS)
        self._refused: deque[_Refusal] = deque(maxlen=MAX_EVENTS)
        self._spent = Spending()

    @property
    def stride(self) -> int:
        """How many turns each turn of the story stands for."""
        return self._turns.stride

    @property
    def money(self) -> Money | None:
        """The approximate cost by list prices; None if nothing has a price."""
        return self._spent.money(as_of())

    def add(self, passed: Passed) -> None:
        """Add the next turn."""
        self.requests += 1
        self.model, self.seen_at = passed.model[:MAX_MODEL_CHARS], passed.at
        self.window_tokens = passed.window_tokens or self.window_tokens
        self.handles = passed.handles[-MAX_HANDLES:]
        reported = passed.reported_tokens
        turn = SeenTurn(
            self.requests,
            passed.kinds.total if reported is None else reported,
            passed.kinds.tokens,
            reported is not None,
            passed.is_refused,
        )
        self._newest = turn
        self._turns.add(turn)
        if passed.new_cuts:
            self._cut.append(_Cut(turn.number, passed.full_tokens, passed.after_tokens or 0, passed.gone.tokens))
            self.cuts += len(passed.new_cuts)
        self.cut_tokens += (passed.before_tokens or 0) - (passed.after_tokens or 0)
        if times := max(passed.refusals, int(passed.is_refused)):
            self._refused.append(_Refusal(turn.number, times, not passed.is_refused, passed.window_tokens))
            self.refusals += times
        self.answered_calls += passed.answered_calls
        # A page that the model asked for took one more request, which the client never saw but pays for.
        for one in (passed, *passed.follow_ups):
            self._pay(one)

    def _pay(self, passed: Passed) -> None:
        """Add the request's cost by list prices, if its answer reported its usage."""
        given = passed.reported_tokens
        turn = FillTurn(
            self.requests,
            given or 0,
            {},
            given or 0,
            recorded_tokens=given,
            cached_tokens=passed.cached_tokens,
            cache_write_tokens=passed.cache_write_tokens,
            output_tokens=passed.output_tokens,
        )
        self._spent.add(turn, price_of(passed.model, _moment(passed.at)))

    def turns(self) -> list[SeenTurn]:
        """Return the fullest turn of each bucket, and the newest request."""
        kept = list(self._turns.turns)
        if self._newest is not None and self._newest is not kept[-1]:  # its bucket kept a fuller one
            kept.append(self._newest)
        return kept

    def row(self) -> OverviewRow:
        """Return it as a row of the overview, at a fraction of the cost of its story."""
        turns = self.turns()
        is_refused = turns[-1].is_refused
        return OverviewRow(
            self.subject(),
            turns[-1].tokens,
            self.window_tokens,
            "stuck" if is_refused else "cut" if self.handles else "open",
            tuple(turn.tokens for turn in turns),
            tuple(self._turns.place(cut.number) for cut in self._cut),
            tuple(self._turns.place(one.number) + 1 for one in self._refused),
            link=f"sessions/{self.name}",
        )

    def story(self) -> Story:
        """Return where its context went."""
        return Story(
            turns=tuple(self._filled(turn, place) for place, turn in enumerate(self.turns(), 1)),
            window_tokens=self.window_tokens,
            compactions=tuple(
                CompactedAway(
                    self._turns.place(cut.number),
                    cut.before_tokens,
                    cut.after_tokens,
                    _by_kind(cut.kinds),
                )
                for cut in self._cut
            ),
            refusals=tuple(
                RefusedTurn(self._turns.place(one.number) + 1, _said(one), "context_input", one.window_tokens)
                for one in self._refused
            ),
            money=self.money,
            model=self.model,
        )

    def subject(self) -> Subject:
        """Return which session it is."""
        return Subject(self.wire, self.name, self.model, updated=_moment(self.seen_at))

    def _filled(self, turn: SeenTurn, number: int) -> FillTurn:
        counted = _by_kind(turn.kinds)
        # The whole request is visible here: a difference in the provider's count affects all kinds.
        by_kind = shares(turn.tokens, counted)
        return FillTurn(
            number,
            sum(by_kind.values()),
            by_kind,
            sum(counted.values()),
            turn.tokens if turn.is_measured else None,
            is_measured=turn.is_measured,
            model=self.model,
            is_refused=turn.is_refused,
        )


class Seen:
    """What was done with all requests since the start.

    Args:
        observes: whether nothing is changed, so that reported cuts are hypothetical.
        telemetry: where each request is also reported; None for nowhere.
    """

    def __init__(self, *, observes: bool = False, telemetry: Telemetry | None = None) -> None:
        self.observes = observes
        self._telemetry = telemetry
        self.asked: Counter[RequestLabels] = Counter()
        self.seconds: dict[str, Histogram] = {}
        """Answer times, by wire."""
        self.fill: dict[str, Histogram] = {}
        """How full windows were, by wire."""
        self.windows: dict[tuple[str, str], int] = {}
        """The models' newest windows, by provider and name: a provider may have several APIs."""
        self.tokens: dict[tuple[str, str], list[int]] = {}
        """Usage that answers reported, by wire and model: input, input from a cache, input written to a cache, output."""
        self.kinds = (0,) * len(CONTENT_KINDS)
        """What was sent of the parsed requests, by kind of content."""
        self.cuts: Counter[str] = Counter()
        """The cuts that were made, by their kind."""
        self.cut_tokens = 0
        """Tokens not sent, summed over all turns: what was cut once is not sent in later turns either."""
        self.refusals: Counter[tuple[str, str]] = Counter()
        """Refusals for size, by wire and by the outcome of the request."""
        self.passed_on = 0
        """How many requests' clients got a refusal for size."""
        self.bytes_in = 0
        self.answered_calls = 0
        """Calls of the two tools that give back what was cut."""
        self._sessions: OrderedDict[str, SeenSession] = OrderedDict()
        self._models: set[str] = set()

    def sessions(self) -> list[SeenSession]:
        """Return the sessions, the most recently seen first."""
        return list(reversed(self._sessions.values()))

    def session(self, name: str) -> SeenSession | None:
        """Return a session by its name; None if it is not known, or no longer."""
        return self._sessions.get(name)

    def tell(self, passed: Passed) -> None:
        """Record what was done with a request."""
        outcome = passed.outcome
        model = self._named(passed.model) if passed.wire else ""
        self.asked[RequestLabels(passed.wire, model, passed.status, passed.is_streamed, outcome)] += 1
        self.bytes_in += passed.bytes_in
        if passed.wire and outcome != "counted":
            _histogram(self.seconds, passed.wire, SECONDS).add(passed.seconds)
        if passed.session and outcome != "counted":
            self._read(passed, model)
        if self._telemetry is not None:
            self._telemetry.tell(passed, model)

    def _read(self, passed: Passed, model: str) -> None:
        """Record a turn of a session."""
        wire, after, window = passed.wire, passed.after_tokens or 0, passed.window_tokens
        self.kinds = tuple(map(add, self.kinds, passed.kinds.tokens))
        if window:
            _histogram(self.fill, wire, SHARES).add((passed.reported_tokens or passed.kinds.total) / window)
            self.windows[wire_named(wire).service.telemetry_name, model] = window
        self.cuts.update(passed.new_cuts)
        self.passed_on += passed.is_refused
        self.cut_tokens += (passed.before_tokens or 0) - after
        if passed.refusals:
            self.refusals[wire, "returned" if passed.is_irreducible else "recovered"] += passed.refusals
        self.answered_calls += passed.answered_calls
        for one in (passed, *passed.follow_ups):
            self._used(one, model)
        session = self._sessions.get(passed.session)
        # Bounded to the most recently seen, since session names come from clients: a thousand of them an hour are forgotten, not
        # kept.
        if session is None:
            session = self._sessions[passed.session] = SeenSession(passed)
        session.add(passed)
        self._sessions.move_to_end(passed.session)
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)

    def _used(self, passed: Passed, model: str) -> None:
        """Add the usage that an answer reported."""
        reported = (passed.reported_tokens, passed.cached_tokens, passed.cache_write_tokens, passed.output_tokens)
        if any(reported):
            known = self.tokens.setdefault((passed.wire, model), [0] * len(reported))
            known[:] = [total + (one or 0) for total, one in zip(known, reported, strict=True)]

    def _named(self, model: str) -> str:
        """Return the name under which a model is counted."""
        # A client may name a model anything: as a label, each name would be a separate time series in the metrics system.
        if model not in self._models:
            if len(self._models) >= MAX_MODELS or len(model) > MAX_MODEL_CHARS:
                return OTHERS
            self._models.add(model)
        return model


def _histogram(held: dict[str, Histogram], name: str, edges: Sequence[float]) -> Histogram:
    if name not in held:
        held[name] = Histogram(edges)
    return held[name]


def _by_kind(tokens: Iterable[int]) -> dict[str, int]:
    """Convert tokens in the order of `CONTENT_KINDS` to the kinds of a story."""
    made: Counter[str] = Counter()
    for kind, number in zip(CONTENT_KINDS, tokens, strict=True):
        made[_KIND_OF.get(kind, kind)] += max(0, number)
    return {kind: number for kind, number in made.items() if number}


def _said(refusal: _Refusal) -> str:
    often = "" if refusal.times == 1 else f" {refusal.times} times"
    return f"refused{often} for its size; " + (
        "made smaller and answered before the client saw it" if refusal.is_recovered else "the client got the refusal"
    )


def _moment(at: float) -> str:
    """Return seconds since 1970 as RFC 3339."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
