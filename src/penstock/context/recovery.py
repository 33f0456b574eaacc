"""What does a refused request become? A smaller request, one summarised by a model, or an error that names what cannot shrink.

One idea carries all of it: **a refusal is a measurement of the very request that was sent.** Our own count of that request by kind
of content, and what the provider said of it, bound how the provider counts (`provider_counts`). The rungs of the ladder are the
requests to choose from (`ladder`), and one of them is chosen (`rung_choice`):

- A refusal with numbers: the rung that is worth most by what it keeps and its chance to fit; refused again, the first that fits
  under the worst factors that all numbers so far allow. Nine requests in ten fit at the first retry, all at the second
  (docs/recovery.md).
- The limit alone: the same with rising chances, because what would have fitted was not refused.
- No number at all: what can shrink is halved, and halved again.
- The last call sends the floor, which fits if anything does; or, if a model's summary was paid for, what certainly fits with it.

If a rung would not certainly be smaller, whatever the provider's factors, a rung below it is taken that certainly is and that is no
larger. So no retry is larger than what was refused; if there is no such rung, nothing is sent.

Pure: each refusal asks anew, with the ones before it. Law: what it says to send is valid and smaller in the provider's count than
what was refused, and the last is the floor. Leaves to others: sending and counting calls (`carrier`, `session`), and what was
trimmed before anything was sent, which is not a refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.context.compaction.plans import SAMPLE_HANDLE, Plan, lasting, rewritten_tokens, with_steps
from penstock.context.compaction.spans import Summary, summary_span
from penstock.context.compaction.views import View
from penstock.context.counts import KindCounts
from penstock.context.endings import (
    CHARS_PER_TOKEN,
    LAST_HANDOFF_TOKENS,
    Irreducible,
    TooLarge,
    fresh,
    give_up,
    with_handle,
)
from penstock.context.ladder import RungChange
from penstock.context.provider_counts import Likelihood, worst_case
from penstock.context.rung_choice import MARGIN, better_in_order, choose, with_frames
from penstock.context.situation import MAX_CALLS, Attempt, Situation
from penstock.context.sized import ESTIMATOR, Sized
from penstock.text.allowance import Allowance, Budget
from penstock.text.fitting import Keep, fit

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.context.compaction.plans import PlanStep
    from penstock.context.ladder import Ladder
    from penstock.overflow import Overflow
    from penstock.text.calls import Dialect
    from penstock.wires import Transcript

__all__ = [
    "LAST_HANDOFF_TOKENS",
    "MARGIN",
    "MAX_CALLS",
    "Attempt",
    "Cure",
    "Irreducible",
    "SendSmaller",
    "Situation",
    "SummaryWanted",
    "TooLarge",
    "decide",
    "fresh",
    "give_up",
    "recover",
    "trim",
    "with_handle",
    "with_summary",
]

LIKELY = 0.88
"""The chance of fitting to which a request is trimmed before it is sent, if the provider has already shown how it counts."""
# For content that no answer has counted yet, such as the first large result of a session: tokenizers differ by 0.6 to 1.9.
KNOWN_SPREAD = 0.5
"""How far apart the counts of kinds of text may be before any refusal, as a `Likelihood` spread: a factor of two either way."""
# Below it, the chance says little except how wide the range is.
POSSIBLE = 0.5
"""The chance at which a request is sent unchanged if it also fits by the provider's newest number, taken as a plain ratio."""
REPLY_FLOOR_TOKENS = 1_024
"""The shortest reply that is worth a request."""
SUMMARY_SHARE = 0.5
"""The share of the room that the material of a summary may take: the request for a summary must not overflow too."""
_SHORTENED = "(shortened)"


@dataclass(frozen=True, kw_only=True, slots=True)
class SendSmaller:
    """Apply the plan, ask for at most `reserve_tokens` of reply, and send it."""

    plan: Plan
    """What to take out; without steps if only a shorter reply is asked for."""
    reserve_tokens: int
    strategy: str
    """The deepest kind of step in the plan, for journals and results: `offload`, `spans`, `lower_reserve`, …."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryWanted:
    """Ask a model for a summary: `prompt` is all that it needs; `with_summary` turns the answer into a cure."""

    prompt: str
    first: int
    """The index of the first message to summarise."""
    last: int
    """The index of the last message to summarise, inclusive."""


Cure = SendSmaller | SummaryWanted | Irreducible
"""What to do after a refusal: send a smaller request, ask for a summary first, or stop with the proof."""


def recover(
    transcript: Transcript,
    overflow: Overflow,
    budget: Budget | int,
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
        budget: the window as the caller believes it and the reply that was asked for, or that many tokens of input.
        can_summarise: whether the caller can ask a model for a summary, which is a call.
        session_id: the session's name in a handoff.
        dialect: the call syntax in which stubs name the way back.
        kept: results that stay as they are, each by its message and its call.
    """
    budget = Budget.of(budget)
    sized = Sized(transcript, budget.counter or ESTIMATOR)
    attempt = Attempt(sized=sized, overflow=overflow, reserve_tokens=budget.reserve_tokens)
    situation = Situation(
        sized=sized, budget=budget, attempts=(attempt,), session_id=session_id, dialect=dialect, kept=kept
    )
    return decide(situation, can_summarise=can_summarise)


def trim(
    situation: Situation, *, can_summarise: bool = False, headroom_share: float = 0.0
) -> SendSmaller | SummaryWanted | None:
    """Return how to make a request smaller that was not sent yet and certainly does not fit; None to send it unchanged.

    A request certainly does not fit if even the low end of our own count is above the window or, once the provider has shown how
    it counts, if its chance of fitting is below the usual one. If not even the floor would fit by our count, the count or the
    window is in doubt, and the provider is the one to ask.

    Args:
        situation: the request, and what is known of its provider.
        can_summarise: whether the caller can ask a model for a summary, which is a call.
        headroom_share: how much of the room a request that has to be cut leaves free, if that takes only gentle cuts: each cut
            makes the prompt cache write everything after it anew, so many small cuts cost more than a large one.
    """
    sized, room = situation.sized, situation.budget.input_tokens

    def fits_by_our_count(counts: KindCounts, room: int) -> bool:
        return with_frames(counts) <= room - room // MARGIN

    # The low end decides because trimming without being asked is the worse mistake: a refusal costs one call and brings a number;
    # what was cut for nothing is lost.
    is_too_large = sized.low > situation.budget.context_tokens
    rules = [fits_by_our_count] if is_too_large else []
    if situation.told:
        # Most requests are far below the window, and a likelihood costs a hundred times as much as the bound.
        if worst_case(sized.counts, situation.told[-1:]) <= room:
            return None
        likely = Likelihood(situation.told, spread=KNOWN_SPREAD)

        def fits_as_is_likely(counts: KindCounts, room: int) -> bool:
            return likely.chance_that_fits(counts, room) >= LIKELY

        newest = situation.told[-1]

        def fits_as_the_newest(counts: KindCounts, room: int) -> bool:
            return counts.total * newest.stated_tokens <= (room - room // MARGIN) * newest.counts.total

        chance = likely.chance_that_fits(sized.counts, room)
        if chance >= LIKELY or (chance >= POSSIBLE and fits_as_the_newest(sized.counts, room)):
            return None
        rules.insert(0, fits_as_is_likely)
        # If most of a request cannot go, its floor may be in doubt as well. A sender of other people's requests assumes that the
        # provider counts as it did last, which spares a refusal every few turns.
        if headroom_share and not fits_as_the_newest(sized.counts, room):
            rules.append(fits_as_the_newest)
    if not rules:
        return None
    ladder = situation.ladder(sized)
    for fits in rules:
        rung = _first_that(fits, ladder, room)
        if fits(ladder.counts(rung), room):
            break
        # What little a provider has said (the usage of one short answer) may leave even the floor in doubt. A request that
        # is too large by our own count is then cut by that count.
    else:  # not even the floor fits by our count: that count, the reply, or the window that the caller believes in, is in doubt
        # Claude Code asks any server for a reply of 128,000 tokens. A server with a smaller window that has answered does not count
        # the reply: with no room left for input, nothing would ever be cut, and each session would be refused again and again.
        # When an eighth of the window was left for the input, every turn of two hosts was cut again.
        if situation.known and situation.budget.reserve_tokens:
            whole = replace(situation, budget=situation.budget._replace(reserve_tokens=0))
            cure = trim(whole, can_summarise=can_summarise, headroom_share=headroom_share)
            return replace(cure, reserve_tokens=situation.reserve_tokens) if isinstance(cure, SendSmaller) else cure
        return None
    if headroom_share:
        rung = _with_headroom(fits, ladder, rung, room, headroom_share)
    if can_summarise and situation.calls_left > 1 and rung > ladder.gentle:
        asked = _summary_of(situation)
        if asked is not None:
            return asked
    return _send(situation, ladder.plan(rung, situation.room_tokens), ladder.strategy(rung))


def _with_headroom(
    fits: Callable[[KindCounts, int], bool], ladder: Ladder, rung: int, room: int, headroom_share: float
) -> int:
    """Return the rung that leaves a share of the room free, as far as that is worth what goes with it."""
    rung = max(rung, min(_first_that(fits, ladder, round(room * (1 - headroom_share))), ladder.gentle))
    # If instructions, tools and stubs take most of a window, gentle cuts free one result a turn, the sixth newest, and each turn
    # has everything after it written anew. So half of the share may also cost recent results: they can be read back, and the
    # newest stay.
    least = round(room * (1 - headroom_share / 2))
    if not fits(ladder.counts(rung), least):
        rung = max(rung, min(_first_that(fits, ladder, least), ladder.recent))
    return rung


def _first_that(fits: Callable[[KindCounts, int], bool], ladder: Ladder, room: int) -> int:
    """Return the first rung that fits into a given room; the last if none does."""
    return ladder.first(lambda rung: fits(ladder.counts(rung), room))


def decide(situation: Situation, *, can_summarise: bool = False, headroom_share: float = 0.0) -> Cure:
    """Return the next thing to do with the request that was refused last.

    Args:
        situation: what was refused, and what was said of it.
        can_summarise: whether the caller can ask a model for a summary, which is a call.
        headroom_share: by how much more than necessary it is cut, as for `trim`.

    Returns:
        `SendSmaller`; `SummaryWanted` if a model could spare what else would have to go; `Irreducible`, with the proof, if no
        request is left that is certainly smaller.
    """
    lowered = _lower_reserve(situation)
    if lowered is not None:
        return SendSmaller(plan=_no_steps(situation.sized), reserve_tokens=lowered, strategy="lower_reserve")
    ladder = situation.ladder(situation.sized)
    rung = choose(situation, ladder)
    if rung is None:
        return give_up(situation)
    # With two calls left, the last one sends what certainly fits, or the floor: without a number and a limit nothing else is
    # certain, and a summary would be paid for but not used.
    is_usable = situation.calls_left > 2 or (
        situation.calls_left == 2 and situation.stated_numbers > 0 and situation.limit_tokens is not None
    )
    if can_summarise and is_usable and rung > ladder.gentle:
        asked = _summary_of(situation)
        if asked is not None:
            return asked
    ladder, rung = better_in_order(situation, ladder, rung)
    if headroom_share and rung < ladder.gentle:
        roomy = round(with_frames(ladder.counts(rung)) * (1 - headroom_share))
        rung = min(ladder.first(lambda rung: with_frames(ladder.counts(rung)) <= roomy, after=rung), ladder.gentle)
    return _send(situation, ladder.plan(rung, situation.room_tokens), ladder.strategy(rung))


def _summary_of(situation: Situation) -> SummaryWanted | None:
    """Return what to ask a model; None if there is nothing to summarise."""
    span = summary_span(situation.sized.transcript, situation.kept)
    if span is None:
        return None
    first, last = span
    max_chars = int(situation.room_tokens * SUMMARY_SHARE) * CHARS_PER_TOKEN
    return SummaryWanted(prompt=_material(situation.sized.transcript, first, last, max_chars), first=first, last=last)


def with_summary(situation: Situation, asked: SummaryWanted, summary: str | None) -> Cure | None:
    """Return the cure once the model has answered: with its summary if that is worth having, else without it.

    None if nothing has to be made smaller.

    Args:
        situation: as it was when the summary was asked for, less the call that it took.
        asked: what was asked.
        summary: the model's words; None if it failed. A summary that is empty, an error, or larger than what it replaces is not
            used.
    """
    if summary is not None:
        taken = Summary(text=summary, first=asked.first, last=asked.last)
        steps = taken.steps(_view(situation))
        if steps:
            summed_up = situation.sized.showing(with_steps(situation.sized.transcript, steps, lambda _: SAMPLE_HANDLE))
            ladder = situation.ladder(summed_up)
            change = _difference(situation.sized.counts, summed_up.counts)
            rung = choose(situation, ladder, after=-1, before=change, is_summary=True)
            if rung is not None and rung < ladder.floor:
                both = lasting([*steps, *ladder.steps(rung)])
                return _send(
                    situation,
                    _plan_of(situation, both, ladder.plan(rung, situation.room_tokens).after_tokens),
                    taken.name,
                )
    return decide(situation) if situation.attempts else trim(situation)


# ── the reply ────────────────────────────────────────────────────────────────────────────────────────────────────


def _lower_reserve(situation: Situation) -> int | None:
    """Return the reply that fits with the request as it is; None if none worth having does, or nothing says that it would."""
    newest = situation.newest
    overflow, asked = newest.overflow, newest.asked_for
    is_told = overflow.kind == "context_total" and overflow.unit == "tokens" and overflow.bound != "lower_bound"
    if not is_told or situation.calls_left <= 1:
        return None
    limit = overflow.limit or situation.budget.context_tokens
    taken = newest.reported_input
    if taken is None:
        taken = newest.sized.high
    # An exact number is off by frames at most; a server's estimate, by a fiftieth.
    margin = 16 if overflow.bound == "exact" else max(16, taken // 50)
    left = limit - taken - margin
    # A reply below the floor, or below half of what was asked for if that is less, is not worth a call: it is better to
    # forget something.
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
    """Return steps as a plan for the situation's request."""
    return replace(
        _no_steps(situation.sized),
        steps=steps,
        after_tokens=after_tokens,
        limit_tokens=situation.room_tokens,
        outcome="shrunk",
        rewritten_tokens=rewritten_tokens(situation.sized, steps, after_tokens),
    )


def _difference(whole: KindCounts, smaller: KindCounts) -> RungChange:
    """Return what went and what came between two counts, kind by kind."""
    # Messages are taken as none gone and two added: a note may need a second message, and the guess is on the safe side.
    change = [after - before for before, after in zip(whole.tokens, smaller.tokens, strict=True)]
    gone, come = tuple(max(0, -tokens) for tokens in change), tuple(max(0, tokens) for tokens in change)
    return RungChange(KindCounts(gone, 0), KindCounts(come, 2))


def _view(situation: Situation) -> View:
    """Return the situation's request as strategies see it."""
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
    """Return the prompt that asks a model for a summary."""
    return (
        "Summarise these steps of a conversation for whoever continues it. Keep every fact that later steps may need: "
        "the user's wishes and limits, names, paths, values and decisions verbatim, what was tried and failed. "
        f"No preamble, at most a fifth of its length.\n\n{material}"
    )
