"""What a refused request becomes: smaller, summarised by a model, or an error that names what cannot shrink.

One idea carries all of it: **a refusal is a measurement of the very request that was sent.** Our own count of that request by kind
of content, and what the provider said of it, bound how the provider counts (`provider_counts`); the rungs of the ladder are the
requests there are to choose from (`ladder`); the first rung that is small enough is taken:

- A refusal with numbers: the rung that is worth most by what it keeps and its chance to fit; refused again, the first that fits
  under the worst factors that all numbers so far allow. Nine requests in ten fit at the first retry, all at the second
  (docs/recovery.md).
- The limit alone: the same with rising chances, for what would have fitted was not refused.
- No number at all: what can shrink is halved, and halved again.
- The last call sends the floor, which fits if anything does. Wherever a rung would not be smaller for certain, whatever the
  provider's factors, a lower one is taken, so that no retry is larger than what was refused; where no rung is, nothing is sent.

Pure: it is asked anew with each refusal and the ones before it. Law: what it says to send is valid, smaller in the provider's count
than what was refused, and the last is the floor. Keeps out: sending and counting calls (`carrier`, `session`), and what was trimmed
before anything was sent, which is no refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from penstock.context.bill import Bill, bill_of
from penstock.context.compaction.plans import SAMPLE_HANDLE, Plan, lasting, with_steps
from penstock.context.compaction.spans import Summary, summary_span
from penstock.context.compaction.views import View
from penstock.context.counts import KindCounts
from penstock.context.handoff import mechanical, render
from penstock.context.ladder import Ladder, RungChange
from penstock.context.provider_counts import STATED_ERROR, Likelihood, min_decrease, more_than, stated, worst_case
from penstock.context.sized import ESTIMATOR, MESSAGE_TOKENS, Sized, size_of
from penstock.errors import Ended
from penstock.overflow.learned import SMALLEST_TOKENS
from penstock.text.allowance import Allowance, Budget
from penstock.text.fitting import Keep, fit
from penstock.text.json_access import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.context.compaction.plans import PlanStep
    from penstock.context.handoff import Handoff
    from penstock.context.provider_counts import Observation
    from penstock.overflow import Overflow
    from penstock.text.calls import Dialect
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Transcript

MAX_CALLS = 4
"""The most calls of a provider for one request, summaries included (promise 3): the request, a likely cure, a certain
one, the floor.
"""
LIKELY = 0.88
"""The chance of fitting at which a request is trimmed before it is sent, where the provider said before how it counts."""
CHANCES = (0.4, 0.5, 0.6, 0.7, 0.78, 0.85, 0.92)
"""The chances among which the first retry chooses, where a refusal states its numbers: the rung that is worth most."""
LIKELY_BY_LIMIT = (0.4, 0.7)
"""The chances at which the second and the third call take a rung, where a refusal names its limit alone: bold first,
because another try is there to correct it.
"""
HALVES = (0.5, 0.4)
"""The shares of what can shrink that the second and the third call keep, where a refusal has no numbers."""
REPLY_FLOOR_TOKENS = 1_024
"""The shortest reply that is worth a request."""
REPLY_SHARE = 8
"""The part of the window that a smaller request leaves for its reply at most, whatever was asked for: an eighth."""
SAFETY = 0.9
"""The share that is used of a room that was converted from characters."""
MARGIN = 100
"""The part of a window, a hundredth, that is left free by our own count: frames and handles are counted, not known."""
HANDOFF_SHARE = 0.25
"""The share of the room that a fresh session gives to what is handed on."""
LAST_HANDOFF_TOKENS = 2_000
"""What is handed on after a provider refused everything."""
SUMMARY_SHARE = 0.5
"""The share of the room that the material of a summary may take: the request for it must not overflow too."""
# Fewer than the usual 3.5 to 4, so that characters derived from a room of tokens stay within it.
_CHARS_PER_TOKEN = 3
_MIN_HANDOFF_CHARS = 200
_SHORTENED = "(shortened)"


def _too_large(bill: Bill, limit_tokens: int, counted_tokens: int | None, *, is_believed: bool) -> str:
    """Return why nothing can be sent: what is known of the limit and by whom, and the parts that cannot shrink, largest first."""
    counted = "" if counted_tokens is None else f" ({counted_tokens} as the provider counts)"
    limit = (
        f"the provider refused them without a limit; {limit_tokens} were believed to have room"
        if is_believed
        else f"by the provider's limit {limit_tokens} have room, as it counts"
    )
    return (
        f"The request cannot be made to fit: by our count {bill.tokens} tokens remain{counted}, and {limit}. "
        f"Shorten one of these, or use a model with a larger window:\n{bill}"
    )


class TooLarge(Ended):
    """What remains cannot be made to fit: `bill` says what it is."""

    def __init__(
        self, bill: Bill, limit_tokens: int, *, counted_tokens: int | None = None, is_believed: bool = False
    ) -> None:
        """Name what remains and how much room there is.

        Args:
            bill: the request that was refused as the floor, or could not be made smaller.
            limit_tokens: what has room, as far as it is known.
            counted_tokens: what the provider counted for the request; None where it did not say.
            is_believed: whether the limit is what the caller believed, because no refusal named one.
        """
        super().__init__(_too_large(bill, limit_tokens, counted_tokens, is_believed=is_believed))
        self.bill = bill
        self.limit_tokens = limit_tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A request that was sent and refused."""

    sized: Sized
    """The request as it was sent, counted."""
    overflow: Overflow
    """What the provider said of it."""
    reserve_tokens: int = 0
    """The reply that it asked for, in tokens."""

    def observation(self) -> Observation | None:
        """Return what the refusal says of how the provider counts; None where it has no number for that."""
        # From the surest to the weakest. A stated input is an equation. Else the request took more than what was stated
        # as a bound, and more than the limit, less the reply where limit and total speak of both together; the larger
        # of the two says more.
        reported = self.reported_input
        if reported is not None and self.overflow.bound != "lower_bound":
            return stated(self.sized.counts, reported)
        reply = self.asked_for if self.overflow.kind == "context_total" else 0
        limit = None if self.limit_tokens is None else max(1, self.limit_tokens - reply)
        bounds = [tokens for tokens in (reported, limit) if tokens is not None]
        return more_than(self.sized.counts, max(bounds)) if bounds else None

    @property
    def limit_tokens(self) -> int | None:
        """The limit that the refusal states; None where it states none in tokens, or a number that can be no window."""
        limit = self.overflow.limit or 0
        return limit if self.overflow.unit == "tokens" and limit >= SMALLEST_TOKENS else None

    @property
    def asked_for(self) -> int:
        """The reply that was asked for, as the refusal has it or as we sent it."""
        return self.overflow.output or self.reserve_tokens

    @property
    def reported_input(self) -> int | None:
        """The input that the provider counted, or at least that much; None where no number says it."""
        overflow = self.overflow
        if overflow.unit != "tokens":
            return None
        if overflow.input is not None:
            return overflow.input
        total = overflow.total
        if total is None and overflow.limit is not None and overflow.excess is not None:
            total = overflow.limit + overflow.excess
        if total is None:
            return None
        return max(1, total - (self.asked_for if overflow.kind == "context_total" else 0))


@dataclass(frozen=True, kw_only=True, slots=True)
class SendSmaller:
    """Apply the plan, ask for at most `reserve_tokens` of reply, and send it."""

    plan: Plan
    """What to take out; without steps where only the reply is asked for shorter."""
    reserve_tokens: int
    strategy: str
    """The deepest kind of step in it, for journals and results: `offload`, `spans`, `lower_reserve`, …."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryWanted:
    """Ask a model for a summary: `prompt` is all that it needs; `with_summary` makes the answer a cure."""

    prompt: str
    first: int
    """The index of the first message that the summary is of."""
    last: int
    """The index of the last message that the summary is of, inclusive."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Irreducible:
    """Nothing smaller can be sent: `error` is the proof.

    `fresh` is a transcript that the next prompt works in, None where the instructions alone leave no room.
    """

    error: TooLarge
    handoff: Handoff
    """What was done so far, to be kept or to begin with."""
    fresh: Transcript | None
    """A transcript that the next prompt can work in; None where the instructions alone leave no room."""
    limit_tokens: int
    """The size that `fresh` was made for."""


Cure = SendSmaller | SummaryWanted | Irreducible
"""What to do after a refusal: send a smaller request, ask for a summary first, or stop with the proof."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """All that `recover` knows.

    Args:
        sized: the request that may have to be made smaller: the one that was refused last, or one that was not sent yet.
        attempts: the requests that were refused, oldest first.
        budget: the window as the caller believes it, and the reply that was asked for.
        calls_left: how many calls of a provider may still be made for this request, summaries included.
        known: what the provider said of other requests before, as a `Carrier` remembers it.
        min_reply_tokens: the shortest reply that the provider lets this request ask for.
        kept: results that stay as they are, each by its message and its call.
        dialect: the syntax in which stubs name the way back.
        session_id: what a handoff calls the session.
    """

    sized: Sized
    budget: Budget
    attempts: Sequence[Attempt] = ()
    calls_left: int = MAX_CALLS - 1
    known: Sequence[Observation] = ()
    min_reply_tokens: int = 1
    kept: frozenset[tuple[int, str]] = frozenset()
    dialect: Dialect | None = None
    session_id: str = ""

    @property
    def room_tokens(self) -> int:
        """What the next request may take, as far as it is known: for plans, prompts and proofs that name a number."""
        believed = max(0, self.budget.context_tokens - self.reserve_tokens)
        return believed if self.input_limit_tokens is None else min(believed, self.input_limit_tokens)

    def ladder(self, sized: Sized) -> Ladder:
        """Return the requests that there are to choose from, below this one."""
        return Ladder(
            sized,
            window_tokens=self.room_tokens,
            kept=self.kept,
            dialect=self.dialect,
            session_id=self.session_id,
        )

    @property
    def newest(self) -> Attempt:
        """The refusal that is to be cured."""
        return self.attempts[-1]

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Everything that the provider said with numbers, oldest first."""
        return (*self.known, *(seen for attempt in self.attempts if (seen := attempt.observation()) is not None))

    @property
    def limit_tokens(self) -> int | None:
        """The smallest limit that any refusal stated."""
        return min((limit for attempt in self.attempts if (limit := attempt.limit_tokens)), default=None)

    @property
    def reserve_tokens(self) -> int:
        """The reply to ask for beside a smaller request: as before, but at most an eighth of the window."""
        window = min(self.budget.context_tokens, self.limit_tokens or self.budget.context_tokens)
        return min(self.budget.reserve_tokens, max(self.min_reply_tokens, window // REPLY_SHARE))

    @property
    def input_limit_tokens(self) -> int | None:
        """The limit that was stated, less the reply that will be asked for: most providers count both against one window."""
        return None if self.limit_tokens is None else max(1, self.limit_tokens - self.reserve_tokens)


def recover(
    transcript: Transcript,
    overflow: Overflow,
    budget: Budget,
    *,
    can_summarise: bool = False,
    session_id: str = "",
    dialect: Dialect | None = None,
    kept: frozenset[tuple[int, str]] = frozenset(),
) -> Cure:
    """Return the next thing to do with a transcript that was refused once, as it is shown.

    Args:
        transcript: what was sent, as it was sent.
        overflow: what the provider said of it.
        budget: the window as the caller believes it, and the reply that was asked for.
        can_summarise: whether the caller can ask a model for a summary, which is a call.
        session_id: what a handoff calls the session.
        dialect: the syntax in which stubs name the way back.
        kept: results that stay as they are, each by its message and its call.
    """
    sized = Sized(transcript, budget.counter or ESTIMATOR)
    attempt = Attempt(sized=sized, overflow=overflow, reserve_tokens=budget.reserve_tokens)
    situation = Situation(
        sized=sized, budget=budget, attempts=(attempt,), session_id=session_id, dialect=dialect, kept=kept
    )
    return decide(situation, can_summarise=can_summarise)


def trim(situation: Situation, *, can_summarise: bool = False) -> SendSmaller | SummaryWanted | None:
    """Return how a request is made smaller that was not sent yet and certainly does not fit; None where it is sent as it is.

    By our own count a request is certain not to fit where even the low end of the count is above the window, or, where the
    provider has said before how it counts, where it fits with less than the usual chance. Where by our count not even the floor
    would fit, the count or the window is in doubt, and the provider is the one to ask.
    """
    sized, room = situation.sized, situation.budget.input_tokens

    def fits_by_our_count(counts: KindCounts) -> bool:
        return _with_frames(counts) <= room - room // MARGIN

    # The low end decides because trimming unasked is the worse mistake: a refusal costs one call and brings a number; what
    # was cut for nothing is lost.
    is_too_large = sum(count.low for count in sized.parts()) > situation.budget.context_tokens
    rules = [fits_by_our_count] if is_too_large else []
    if situation.known:
        likely = Likelihood(situation.known)

        def fits_as_is_likely(counts: KindCounts) -> bool:
            return likely.chance_that_fits(counts, room) >= LIKELY

        if fits_as_is_likely(sized.counts):
            return None
        rules.insert(0, fits_as_is_likely)
    if not rules:
        return None
    ladder = situation.ladder(sized)
    for fits in rules:
        rung = ladder.first(lambda rung, fits=fits: fits(ladder.counts(rung)))  # type: ignore[misc]
        if fits(ladder.counts(rung)):
            break
        # What little a provider has said (the usage of one short answer) may leave even the floor in doubt. A request that
        # is too large by our own count is then cut by that.
    else:  # not even the floor fits by our count: that, or the window that the caller believes in, is in doubt
        return None
    if can_summarise and situation.calls_left > 1 and rung > ladder.gentle:
        asked = _summary_of(situation)
        if asked is not None:
            return asked
    return _send(situation, ladder.plan(rung, situation.room_tokens), ladder.strategy(rung))


def decide(situation: Situation, *, can_summarise: bool = False) -> Cure:
    """Return the next thing to do with the request that was refused last.

    Returns:
        `SendSmaller`; `SummaryWanted` where a model could spare what else would have to go; `Irreducible`, with the proof, where no
        request is left that is smaller for certain.
    """
    lowered = _lower_reserve(situation)
    if lowered is not None:
        return SendSmaller(plan=_no_steps(situation.sized), reserve_tokens=lowered, strategy="lower_reserve")
    ladder = situation.ladder(situation.sized)
    rung = _choose(situation, ladder)
    if rung is None:
        return give_up(situation)
    if can_summarise and situation.calls_left > 1 and rung > ladder.gentle:
        asked = _summary_of(situation)
        if asked is not None:
            return asked
    return _send(situation, ladder.plan(rung, situation.room_tokens), ladder.strategy(rung))


def _summary_of(situation: Situation) -> SummaryWanted | None:
    """Return what to ask a model; None where there is nothing that it could sum up."""
    span = summary_span(situation.sized.transcript, situation.kept)
    if span is None:
        return None
    max_chars = int(situation.room_tokens * SUMMARY_SHARE) * _CHARS_PER_TOKEN
    return SummaryWanted(prompt=_material(situation.sized.transcript, *span, max_chars), first=span[0], last=span[1])


def with_summary(situation: Situation, asked: SummaryWanted, summary: str | None) -> Cure | None:
    """Return the cure once the model has answered: with its summary where that is worth having, without it where it is not.

    None where nothing has to be made smaller.

    Args:
        situation: as it was when the summary was asked for, less the call that it took.
        asked: what was asked.
        summary: the model's words; None where it failed. What is empty, an error, or larger than what it replaces is not taken.
    """
    if summary is not None:
        taken = Summary(text=summary, first=asked.first, last=asked.last)
        steps = taken.steps(_view(situation))
        if steps:
            summed_up = situation.sized.showing(with_steps(situation.sized.transcript, steps, lambda _: SAMPLE_HANDLE))
            ladder = situation.ladder(summed_up)
            change = _difference(situation.sized.counts, summed_up.counts)
            rung = _choose(situation, ladder, after=-1, before=change)
            if rung is not None and rung < ladder.floor:
                both = lasting([*steps, *ladder.steps(rung)])
                return _send(situation, _plan_of(situation, both, ladder.plan(rung, 0).after_tokens), taken.name)
    return decide(situation) if situation.attempts else trim(situation)


# ── which rung ───────────────────────────────────────────────────────────────────────────────────────────────────


def _choose(situation: Situation, ladder: Ladder, *, after: int = 0, before: RungChange | None = None) -> int | None:
    """Return the first rung that is small enough and smaller for certain; None where no rung is.

    Args:
        situation: what is known.
        ladder: the requests there are to choose from.
        after: the rung above the first that may be taken.
        before: what already differs between the refused request and rung 0.
    """
    observations = situation.observations

    def is_smaller(rung: int) -> bool:
        change = ladder.change(rung)
        removed = change.removed if before is None else change.removed + before.removed
        added = change.added if before is None else change.added + before.added
        return min_decrease(removed, added, observations) >= 1

    def is_certain(rung: int) -> bool:
        limit = situation.input_limit_tokens
        return limit is not None and worst_case(ladder.counts(rung), observations) <= limit / (1 + STATED_ERROR)

    # The last call is the floor's, whatever the numbers say: if anything fits, it does, and if it is refused that is
    # the proof. Its handoff stays only where it fits for certain: no call is left to send a shorter one.
    if situation.calls_left <= 1 and situation.attempts:
        return _floor(ladder, lambda rung: is_smaller(rung) and (rung == ladder.last or is_certain(rung)))
    wanted = _wanted(situation, ladder, after)
    if not situation.attempts or is_smaller(wanted):
        return wanted
    # `is_smaller` need not hold for every rung below one that passes, so what bisection gives is asked again; where it
    # fails, the floor.
    rung = ladder.first(is_smaller, after=wanted)
    return rung if is_smaller(rung) else _floor(ladder, is_smaller)


def _floor(ladder: Ladder, is_small_enough: Callable[[int], bool]) -> int | None:
    """Return the rung of the floor with the longest handoff that passes a test.

    Where history is short, not even the floor with no handoff may be: a stub of one kind could cost more than what it stands for of
    another. It is sent all the same if it is smaller by our own count, because nothing else is left that could fit.
    """
    certain = (rung for rung in range(ladder.floor, ladder.last + 1) if is_small_enough(rung))
    likely = (rung for rung in [ladder.last] if _with_frames(ladder.counts(rung)) < _with_frames(ladder.counts(0)))
    return next(certain, next(likely, None))


def _with_frames(counts: KindCounts) -> int:
    """Return our own count of a request with the frames of its messages: a floor may be smaller by these alone."""
    return counts.total + MESSAGE_TOKENS * counts.messages


def _wanted(situation: Situation, ladder: Ladder, after: int) -> int:
    """Return the first rung below `after` that is small enough by what the refusals so far have said."""

    def first(is_small_enough: Callable[[KindCounts], bool]) -> int:
        return ladder.first(lambda rung: is_small_enough(ladder.counts(rung)), after=after)

    limit, observations = situation.input_limit_tokens, situation.observations
    tries = len(situation.attempts)
    if limit is not None and _is_bounded(situation):
        # Two numbers: now the bound holds under every factor that they still allow, so the third call fits for certain
        #
        return first(lambda counts: worst_case(counts, observations) <= limit / (1 + STATED_ERROR))
    # The rest has another call to correct it: the shorter handoffs of the floor are left for where they are needed.
    if limit is not None:
        likely = Likelihood(observations)
        chance = cache(
            partial(likely.chance_that_fits, limit_tokens=limit)
        )  # bisections for several chances meet on rungs

        def first_with(least: float) -> int:
            return min(first(lambda counts: chance(counts) >= least), ladder.floor)

        if not _numbers(situation):
            return first_with(LIKELY_BY_LIMIT[min(tries, len(LIKELY_BY_LIMIT)) - 1])
        return max(map(first_with, CHANCES), key=lambda rung: likely.worth(ladder.counts(rung), limit))
    if not situation.attempts:
        room = situation.budget.input_tokens
        return min(first(lambda counts: counts.total <= room - room // MARGIN), ladder.floor)
    floor = ladder.counts(ladder.last).total
    # No number at all: halve what can shrink, not the request. Of a request that is nearly all floor, half would be out
    # of reach, and each retry would be the floor.
    can_shrink = max(0, situation.sized.counts.total - floor)
    target = min(floor + int(can_shrink * HALVES[min(tries, len(HALVES)) - 1]), _room_by_chars(situation))
    return min(first(lambda counts: counts.total <= target), ladder.floor)


def _numbers(situation: Situation) -> int:
    """Return how many of the refusals state what the provider counted."""
    return sum((seen := attempt.observation()) is not None and seen.is_stated for attempt in situation.attempts)


def _is_bounded(situation: Situation) -> bool:
    """Whether two numbers and a limit bound how the provider counts: the next call is the last that may be needed (R-1)."""
    return situation.input_limit_tokens is not None and _numbers(situation) > 1


def _room_by_chars(situation: Situation) -> int:
    """Return what fits by a limit that counts characters, in our tokens; the window as it is believed where none does."""
    overflow = situation.newest.overflow
    if overflow.unit != "chars" or not overflow.limit:
        return situation.budget.input_tokens
    transcript = situation.sized.transcript
    # The ratio of characters is used only for the share to keep: our own tokens of the same request, times the share of
    # characters that has room.
    chars = overflow.input or overflow.total or sum(len(as_json(entry.raw)) for entry in transcript.visible())
    return int(situation.sized.counts.total * overflow.limit / max(1, chars) * SAFETY)


# ── the reply ────────────────────────────────────────────────────────────────────────────────────────────────────


def _lower_reserve(situation: Situation) -> int | None:
    """Return the reply that fits beside the request as it is; None where none worth having does, or nothing says that it would."""
    newest = situation.newest
    overflow, asked = newest.overflow, newest.asked_for
    is_told = overflow.kind == "context_total" and overflow.unit == "tokens" and overflow.bound != "lower_bound"
    if not is_told or not asked or situation.calls_left <= 1:
        return None
    limit = overflow.limit or situation.budget.context_tokens
    taken = newest.reported_input
    if taken is None:
        taken = newest.sized.high
    # An exact number is off by frames at most; one that a server estimated, by a fiftieth.
    margin = 16 if overflow.bound == "exact" else max(16, taken // 50)
    left = limit - taken - margin
    # A reply that is under the floor, or under half of what was asked for where that is less, is not worth a call:
    # better forget something.
    floor = max(min(REPLY_FLOOR_TOKENS, asked // 2), situation.min_reply_tokens)
    return left if floor <= left < asked else None


# ── cures ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _send(situation: Situation, made: Plan, strategy: str) -> SendSmaller:
    """Return a plan as the cure, with the reply that a smaller request may ask for."""
    return SendSmaller(plan=made, reserve_tokens=situation.reserve_tokens, strategy=strategy)


def _no_steps(sized: Sized) -> Plan:
    """Return the plan that leaves a request as it is."""
    size = sized.high
    entries, edits = len(sized.transcript.entries), len(sized.transcript.edits)
    return Plan(
        steps=(), before_tokens=size, after_tokens=size, limit_tokens=size, outcome="fits", entries=entries, edits=edits
    )


def _plan_of(situation: Situation, steps: tuple[PlanStep, ...], after_tokens: int) -> Plan:
    """Return steps as a plan for the request of a situation."""
    none = _no_steps(situation.sized)
    return replace(none, steps=steps, after_tokens=after_tokens, limit_tokens=situation.room_tokens, outcome="shrunk")


def _difference(whole: KindCounts, smaller: KindCounts) -> RungChange:
    """Return what went and what came between two counts, kind by kind."""
    # Messages that went are taken as none and two as having come: a note may need a second message beside it, and the
    # guess is on the safe side.
    change = [after - before for before, after in zip(whole.tokens, smaller.tokens, strict=True)]
    gone, come = tuple(max(0, -tokens) for tokens in change), tuple(max(0, tokens) for tokens in change)
    return RungChange(KindCounts(gone, 0), KindCounts(come, 2))


def _view(situation: Situation) -> View:
    """Return the request of a situation as strategies see it."""
    return View(
        transcript=situation.sized.transcript,
        actions=situation.sized.actions,
        counter=situation.sized.counter,
        dialect=situation.dialect,
        kept=situation.kept,
    )


def _material(transcript: Transcript, first: int, last: int, max_chars: int) -> str:
    """Return what a model is asked to summarise, within its own window: the request for a summary must not overflow too."""
    lines: list[str] = []
    for entry in transcript.visible():
        if not first <= entry.index <= last:
            continue
        lines += [f"{entry.role}: {entry.text}"] if entry.text.strip() else []
        lines += [f"called {call.name} {call.arguments}" for call in entry.calls]
        lines += [f"returned: {result.text}" for result in entry.results]
    # Each line gets the same share, so that one flood does not take the whole material; the second fit bounds the sum.
    share = Allowance.chars(max(200, max_chars // max(1, len(lines))))
    short = [fit(line, share, Keep.ENDS, way=_SHORTENED).text for line in lines]
    whole = fit("\n".join(short), Allowance.chars(max_chars), Keep.ENDS, way=_SHORTENED)
    return _summary_prompt(whole.text)


def _summary_prompt(material: str) -> str:
    """Return what a model is asked for a summary with."""
    return (
        "Summarise these steps of a conversation for the one who goes on with it. Keep every fact that later steps may need: "
        "the user's wishes and limits, names, paths, values and decisions verbatim, what was tried and failed. "
        f"No preamble, at most a fifth of its length.\n\n{material}"
    )


# ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────


def give_up(situation: Situation) -> Irreducible:
    """Return the end of a request that cannot shrink, or that was refused as the floor: its bill is the proof."""
    sized, reserve = situation.sized, situation.budget.reserve_tokens
    handoff = mechanical(sized.transcript, session_id=situation.session_id, reason="context", done=sized.actions)
    bare = size_of(sized.transcript.afresh("", newest=False), sized.counter)
    # Small on purpose: the next prompt has to fit beside it in a window that has just refused everything.
    limit = min(bare + LAST_HANDOFF_TOKENS, situation.room_tokens)
    # Both counts and both limits may stand side by side: our count can be below a limit that the provider's is above.
    error = TooLarge(
        replace(bill_of(sized), reserve_tokens=reserve),
        situation.room_tokens if situation.input_limit_tokens is None else situation.input_limit_tokens,
        counted_tokens=situation.attempts[-1].reported_input if situation.attempts else None,
        is_believed=situation.input_limit_tokens is None,
    )
    return Irreducible(
        error=error,
        handoff=handoff,
        fresh=fresh(sized.transcript, handoff, limit, sized.counter, newest=False),
        limit_tokens=limit,
    )


def with_handle(
    transcript: Transcript, cure: Irreducible, handle: str, counter: TokenCounter = ESTIMATOR
) -> Irreducible:
    """Return the same end once the whole transcript is kept: the handoff and the fresh transcript name its handle.

    Args:
        transcript: what was refused.
        cure: the end, as `decide` gave it.
        handle: where the whole transcript is kept.
        counter: counts the fresh transcript.
    """
    handoff = cure.handoff.with_handle(handle)
    begun = fresh(transcript, handoff, cure.limit_tokens, counter, newest=False)
    return replace(cure, handoff=handoff, fresh=begun or cure.fresh)


def fresh(
    transcript: Transcript,
    handoff: Handoff,
    limit_tokens: int,
    counter: TokenCounter = ESTIMATOR,
    *,
    newest: bool = True,
) -> Transcript | None:
    """Return a transcript to begin with: instructions and tools as they were, the handoff, and the user's newest words
    verbatim.

    Args:
        transcript: what is left behind.
        handoff: what is handed on; written as long as there is room for it.
        limit_tokens: what the fresh transcript may take.
        counter: counts it.
        newest: whether the user's newest words follow the handoff.

    Returns:
        The transcript, or None where there is no room even for a short handoff.
    """
    left = limit_tokens - size_of(transcript.afresh("", newest=newest), counter)
    max_chars = int(left * HANDOFF_SHARE) * _CHARS_PER_TOKEN
    while max_chars >= _MIN_HANDOFF_CHARS:
        begun = transcript.afresh(render(handoff, max_chars=max_chars), newest=newest)
        if size_of(begun, counter) <= limit_tokens:
            return begun
        max_chars //= 2
    return None
