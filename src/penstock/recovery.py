"""How do we get out? What a refused request becomes: smaller, summarised, handed off, or an error that names what cannot shrink.

`recover` goes down the ladder of O-4: the reply's reserve alone, the flood, what is old, finished spans, a summary by a model, a
fresh session with a handoff, and last a bill of what is left. Numbers of a refusal outrank our own count, and only ever make the
next request smaller. Law: what it says to send is valid, smaller than what was refused, and within what the provider said.
Keeps out: sending, how often (send), and where the whole of what is cleared lies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock import notices
from penstock.bill import ESTIMATOR, Bill, bill_of, size_of
from penstock.budget import Allowance, Budget
from penstock.compaction import GENTLE, RECOVERY, Plan, Summary, plan, summary_span
from penstock.errors import Ended
from penstock.guard import Keep, fit
from penstock.handoff import mechanical, render
from penstock.transcript.shapes import as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.calls import Dialect
    from penstock.compaction import Strategy
    from penstock.handoff import Handoff
    from penstock.overflow import Overflow
    from penstock.tokens import TokenCounter
    from penstock.transcript import Transcript

REPLY_FLOOR_TOKENS = 1_024  # sessions.md 2.1: a reply of less is not worth a request
SAFETY = 0.9  # of a window that no number of the refusal confirms (overflow.md, rule 6)
BLIND = 0.7  # of our own count, where a request was refused that should have fitted
MARGIN = 100  # a hundredth of the window: frames of messages and handles are counted, not known
HANDOFF_SHARE = 0.25  # of the room that a fresh session gives to what is handed on
LAST_HANDOFF_TOKENS = 2_000  # of what begins afresh after a provider refused everything
SUMMARY_SHARE = 0.5  # of the room that the material of a summary may take
_CHARS_PER_TOKEN = 3
_SHORTEST_HANDOFF_CHARS = 200


class TooLarge(Ended):
    """What remains cannot be made to fit: `bill` says what it is."""

    def __init__(self, bill: Bill, limit_tokens: int) -> None:
        super().__init__(notices.too_large(str(bill), bill.tokens, limit_tokens))
        self.bill = bill
        self.limit_tokens = limit_tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class SendSmaller:
    """Apply the plan, ask for at most `reserve_tokens` of reply, and send it."""

    plan: Plan
    reserve_tokens: int
    strategy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Summarise:
    """Ask a model for a summary: `prompt` is all that it needs; `with_summary` makes the answer a cure."""

    prompt: str
    first: int
    last: int
    limit_tokens: int
    reserve_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HandOff:
    """Begin afresh: `fresh` is a transcript of the instructions, the handoff and the newest words of the user."""

    handoff: Handoff
    fresh: Transcript
    limit_tokens: int
    reserve_tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Irreducible:
    """Nothing can be sent. `fresh` is a transcript that the next prompt works in, where the instructions alone leave room."""

    error: TooLarge
    handoff: Handoff
    fresh: Transcript | None
    limit_tokens: int


Cure = SendSmaller | Summarise | HandOff | Irreducible


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
    """The next thing to do with a transcript that was refused as it is shown.

    `budget` is what was asked for: the window as far as it is known, and the reply's reserve. Pure; asked again with the next
    refusal it goes further.
    """
    counter = budget.counter or ESTIMATOR
    size = size_of(transcript, counter)
    lowered = _lower_reserve(overflow, budget, size)
    if lowered is not None:
        return SendSmaller(plan=_no_steps(transcript, size), reserve_tokens=lowered, strategy="lower_reserve")
    limit, reserve = room(transcript, overflow, budget)
    if can_summarise:
        made = _plan(transcript, limit, counter, GENTLE, dialect, kept)
        span = summary_span(transcript, kept)
        if made.outcome != "shrunk" and span is not None:
            material = _material(transcript, *span, int(limit * SUMMARY_SHARE) * _CHARS_PER_TOKEN)
            return Summarise(prompt=material, first=span[0], last=span[1], limit_tokens=limit, reserve_tokens=reserve)
    made = _plan(transcript, limit, counter, RECOVERY, dialect, kept)
    if made.outcome == "shrunk":
        return SendSmaller(plan=made, reserve_tokens=reserve, strategy=_deepest(made))
    return _start_afresh(transcript, made, limit, reserve, counter, session_id)


def with_summary(
    transcript: Transcript,
    asked: Summarise,
    summary: str | None,
    budget: Budget,
    *,
    dialect: Dialect | None = None,
    kept: frozenset[tuple[int, str]] = frozenset(),
) -> Cure:
    """The cure once the model has answered: its summary where it is worth having, the rest of the ladder in any case.

    None stands for a model that failed. A summary that is empty, larger than what it replaces, or an error text is refused.
    """
    counter = budget.counter or ESTIMATOR
    ladder: tuple[Strategy, ...] = RECOVERY
    if summary is not None:
        ladder = (Summary(text=summary, first=asked.first, last=asked.last), *RECOVERY)
    made = _plan(transcript, asked.limit_tokens, counter, ladder, dialect, kept)
    if made.outcome == "shrunk":
        return SendSmaller(plan=made, reserve_tokens=asked.reserve_tokens, strategy=_deepest(made))
    return _start_afresh(transcript, made, asked.limit_tokens, asked.reserve_tokens, counter, "")


# ── how much room there is ───────────────────────────────────────────────────────────────────────────────────────


def room(transcript: Transcript, overflow: Overflow, budget: Budget) -> tuple[int, int]:
    """What the next request may take by our count, and the reserve of its reply. Always less than what was refused."""
    counter = budget.counter or ESTIMATOR
    size = size_of(transcript, counter)
    window = budget.context_tokens
    if overflow.unit == "tokens" and overflow.limit:
        window = min(window, overflow.limit)
    elif overflow.unit == "tokens":
        window = int(window * SAFETY)
    reserve = min(budget.reserve_tokens, window // 2)
    limit = window - reserve - window // MARGIN
    reported = _reported_input(overflow)
    if reported is not None and reported > size:  # the provider counts more than our upper bound
        limit = limit * size // reported
    if overflow.unit == "chars" and overflow.limit:
        chars = overflow.input or overflow.total or _chars(transcript)
        limit = min(limit, int(size * overflow.limit / max(1, chars) * SAFETY))
    if limit >= size:  # it should have fitted: neither what it takes nor the reply is as small as we think
        limit = int(size * BLIND)
        reserve = min(reserve, max(REPLY_FLOOR_TOKENS, limit))
    return max(0, limit), reserve


def _reported_input(overflow: Overflow) -> int | None:
    """What the provider counted as input, or at least that much; None where no number says it."""
    if overflow.unit != "tokens":
        return None
    if overflow.input is not None:
        return overflow.input
    total = overflow.total
    if total is None and overflow.limit is not None and overflow.excess is not None:
        total = overflow.limit + overflow.excess
    return None if total is None else max(0, total - (overflow.output or 0))


def _lower_reserve(overflow: Overflow, budget: Budget, size: int) -> int | None:
    """The reply that fits beside the request as it is; None where none worth having does, or nothing says that it would."""
    asked = overflow.output or budget.reserve_tokens
    if overflow.kind != "context_total" or overflow.unit != "tokens" or not asked or overflow.bound == "lower_bound":
        return None
    limit = min(overflow.limit or budget.context_tokens, budget.context_tokens)
    taken = _reported_input(overflow)
    if taken is None:
        taken = size
    margin = 16 if overflow.bound == "exact" else max(16, taken // 50)
    left = limit - taken - margin
    return left if min(REPLY_FLOOR_TOKENS, asked // 2) <= left < asked and left > 0 else None


def _chars(transcript: Transcript) -> int:
    return sum(len(as_json(entry.raw)) for entry in transcript.visible()) + len(as_json(transcript.system))


# ── the rungs ────────────────────────────────────────────────────────────────────────────────────────────────────


def _plan(
    transcript: Transcript,
    limit: int,
    counter: TokenCounter,
    strategies: Sequence[Strategy],
    dialect: Dialect | None,
    kept: frozenset[tuple[int, str]] = frozenset(),
) -> Plan:
    """As little as will do: what was refused must fit, no more."""
    return plan(transcript, Budget(limit, counter=counter), strategies, low_water=1.0, dialect=dialect, kept=kept)


def _no_steps(transcript: Transcript, size: int) -> Plan:
    return Plan(
        steps=(),
        before_tokens=size,
        after_tokens=size,
        limit_tokens=size,
        outcome="fits",
        entries=len(transcript.entries),
    )


def _deepest(made: Plan) -> str:
    """The rung that was needed: the last one that the plan came to."""
    return made.steps[-1].strategy


def _material(transcript: Transcript, first: int, last: int, most_chars: int) -> str:
    """What a model is asked to summarise, within its own window: the request for a summary must not overflow too."""
    lines: list[str] = []
    for entry in transcript.visible():
        if not first <= entry.index <= last:
            continue
        lines += [f"{entry.role}: {entry.text}"] if entry.text.strip() else []
        lines += [f"called {call.name} {call.arguments}" for call in entry.calls]
        lines += [f"returned: {result.text}" for result in entry.results]
    share = max(200, most_chars // max(1, len(lines)))
    allowed = Allowance.chars(share)
    short = [fit(line, allowed, Keep.ENDS, way=notices.SHORTENED).text for line in lines]
    return notices.summary_prompt(
        fit("\n".join(short), Allowance.chars(most_chars), Keep.ENDS, way=notices.SHORTENED).text
    )


def _start_afresh(
    transcript: Transcript, made: Plan, limit: int, reserve: int, counter: TokenCounter, session_id: str
) -> HandOff | Irreducible:
    passed_on = mechanical(transcript, session_id=session_id, reason="context")
    begun = fresh(transcript, passed_on, limit, counter)
    if begun is not None:
        return HandOff(handoff=passed_on, fresh=begun, limit_tokens=limit, reserve_tokens=reserve)
    rest = replace(made.irreducible or bill_of(transcript, counter), reserve_tokens=reserve)
    return Irreducible(
        error=TooLarge(rest, limit),
        handoff=passed_on,
        fresh=fresh(transcript, passed_on, limit, counter, newest=False),
        limit_tokens=limit,
    )


def give_up(transcript: Transcript, budget: Budget, session_id: str = "") -> Irreducible:
    """The end of a request that was refused however small it became: the instructions, and a short handoff."""
    counter = budget.counter or ESTIMATOR
    passed_on = mechanical(transcript, session_id=session_id, reason="context")
    limit = size_of(transcript.afresh("", newest=False), counter) + LAST_HANDOFF_TOKENS
    return Irreducible(
        error=TooLarge(replace(bill_of(transcript, counter), reserve_tokens=budget.reserve_tokens), limit),
        handoff=passed_on,
        fresh=fresh(transcript, passed_on, limit, counter, newest=False),
        limit_tokens=limit,
    )


def with_handle(
    transcript: Transcript, cure: HandOff | Irreducible, handle: str, budget: Budget
) -> HandOff | Irreducible:
    """The same cure once the whole transcript is kept under `handle`: what is handed on names it."""
    passed_on = cure.handoff.with_handle(handle)
    newest = isinstance(cure, HandOff)
    begun = fresh(transcript, passed_on, cure.limit_tokens, budget.counter or ESTIMATOR, newest=newest)
    if isinstance(cure, HandOff):
        return replace(cure, handoff=passed_on, fresh=begun or cure.fresh)
    return replace(cure, handoff=passed_on, fresh=begun or cure.fresh)


def fresh(
    transcript: Transcript,
    handoff: Handoff,
    limit_tokens: int,
    counter: TokenCounter = ESTIMATOR,
    *,
    newest: bool = True,
) -> Transcript | None:
    """A transcript to begin with: instructions and tools as they were, the handoff, and the user's newest words verbatim.

    The handoff is written as long as there is room for it; None where there is none even for a short one.
    """
    left = limit_tokens - size_of(transcript.afresh("", newest=newest), counter)
    most_chars = int(left * HANDOFF_SHARE) * _CHARS_PER_TOKEN
    while most_chars >= _SHORTEST_HANDOFF_CHARS:
        begun = transcript.afresh(render(handoff, most_chars=most_chars), newest=newest)
        if size_of(begun, counter) <= limit_tokens:
            return begun
        most_chars //= 2
    return None
