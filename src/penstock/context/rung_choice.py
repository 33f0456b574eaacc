"""Which rung of the ladder is sent next? The largest that is small enough by what the refusals have said.

Law: after a refusal, the rung is smaller in the provider's count whatever its factors, or it is the floor and smaller by our own
count; the last call is the floor's. Leaves to others: what else a refusal may lead to (`recovery`).
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

from penstock.context.provider_counts import STATED_ERROR, min_decrease, worst_case
from penstock.context.sized import MESSAGE_TOKENS
from penstock.text.json_access import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.context.counts import KindCounts
    from penstock.context.ladder import Ladder, Order, RungChange
    from penstock.context.provider_counts import Likelihood
    from penstock.context.situation import Situation

CHANCES = (0.4, 0.5, 0.6, 0.7, 0.78, 0.85, 0.92)
"""The chances among which the first retry chooses, if a refusal states its numbers: the rung that is worth most."""
LIKELY_BY_LIMIT = (0.4, 0.7)
"""The chances at which the second and the third call take a rung, if a refusal names only its limit: bold first, because
another try is left to correct it.
"""
HALVES = (0.5, 0.4)
"""The shares of what can shrink that the second and the third call keep, if a refusal has no numbers."""
SAFETY = 0.9
"""The share that is used of a room converted from characters."""
MARGIN = 100
"""One part in this many of the window, a hundredth, is left free by our own count: frames and handles are counted, not known."""
OTHER_ORDERS: Final[dict[Order, float]] = {"size": 0.95, "age": 0.9}
"""The other orders, each with the share of its worth at which it competes with the usual one.

A flood cut by size leaves less room for what comes next than its two ends do; by age, the user's old words and newer results go.
"""
_NEAR = 8
"""How many rungs next to the wanted one are examined one by one."""


def choose(
    situation: Situation, ladder: Ladder, *, after: int = 0, before: RungChange | None = None, is_summary: bool = False
) -> int | None:
    """Return the rung to send: small enough by what is known, and certainly smaller; None if there is none.

    Args:
        situation: what is known.
        ladder: the requests to choose from.
        after: the rung above the first that may be taken.
        before: what already differs between the refused request and rung 0.
        is_summary: whether rung 0 holds a summary that a call was spent on.
    """
    observations, limit = situation.observations, situation.input_limit_tokens

    @cache
    def is_smaller(rung: int) -> bool:
        change = ladder.change(rung)
        removed = change.removed if before is None else change.removed + before.removed
        added = change.added if before is None else change.added + before.added
        if situation.newest.overflow.unit == "bytes":
            # Whatever a provider counts for an image, in a body the image is its data; for text our tokens are measure enough.
            return removed.total > added.total
        return min_decrease(removed, added, observations) >= 1

    def is_certain(rung: int) -> bool:
        return limit is not None and worst_case(ladder.counts(rung), observations) <= limit / (1 + STATED_ERROR)

    if not situation.attempts:
        return _small_enough(situation, ladder, after)
    if situation.calls_left <= 1:
        # The last call is the floor's, whatever the numbers say: if anything fits, the floor does, and if it is refused, that is
        # the proof. Only a summary that was paid for takes precedence, and only if it certainly fits. The floor's handoff
        # is subject to the same condition, because no call is left to send a shorter one.
        rung = ladder.first(is_certain, after=after) if is_summary else ladder.floor
        if rung < ladder.floor and is_certain(rung) and is_smaller(rung):
            return rung
        return _floor(ladder, lambda rung: (rung == ladder.last or is_certain(rung)) and is_smaller(rung))
    if limit is not None and situation.stated_numbers == 1:
        best = _worthiest(situation.likelihood, limit, ladder, after, is_smaller)
    else:
        wanted = _small_enough(situation, ladder, after)
        # A rung below may be larger if a note is expensive: then it is not small enough, though smaller than what was sent.
        most = ladder.counts(wanted).total
        best = _nearest(
            range(wanted, ladder.last + 1), lambda rung: ladder.counts(rung).total <= most and is_smaller(rung)
        )
    return _floor(ladder, is_smaller) if best is None else best


def better_in_order(situation: Situation, ladder: Ladder, rung: int) -> tuple[Ladder, int]:
    """Return the rung to send, with its ladder: another order's rung if it is worth clearly more.

    What goes by kind has another mix of content than what stays. After one number nobody knows whether the old results or the
    images are expensive, and the rung that is likely to fit is far below the limit. What goes by age has the same mix as the rest,
    so the plain ratio nearly holds, whatever the factors. By size, a flood loses no more than it has to, while by kind only its
    ends are left. After a second number what is sent certainly fits in any order, and one order may keep more.

    Args:
        situation: what is known.
        ladder: the requests in the usual order.
        rung: the rung of that ladder that would be sent.
    """
    limit, best = situation.input_limit_tokens, (ladder, rung)
    if limit is None or not situation.stated_numbers or situation.calls_left <= 1:
        return best
    worth = situation.likelihood.worth(ladder.counts(rung), limit)
    for order, share in OTHER_ORDERS.items():
        if worth >= share:  # nothing is worth more than the whole limit
            continue
        other = ladder.by(order)
        found = choose(situation, other)
        if found is not None and found < other.floor:
            own = share * situation.likelihood.worth(other.counts(found), limit)
            if own > worth:
                best, worth = (other, found), own
    return best


def _worthiest(
    likely: Likelihood, limit_tokens: int, ladder: Ladder, after: int, is_smaller: Callable[[int], bool]
) -> int | None:
    """Return the rung worth most by what it keeps and its chance to fit, among those that are certainly smaller."""
    chance = cache(lambda rung: likely.chance_that_fits(ladder.counts(rung), limit_tokens))  # bisections meet on rungs

    def is_likely(least: float, rung: int) -> bool:
        return chance(rung) >= least

    def found() -> Iterator[int | None]:
        for least in CHANCES:
            rung = ladder.first(partial(is_likely, least), after=after)
            # Another call is left to correct it: the shorter handoffs of the floor are saved for when they are needed.
            rung = min(rung, ladder.floor)
            # If the wanted rung is not certainly smaller, a bolder one that is may be worth more than a lower one.
            yield _nearest(range(rung, ladder.last + 1), is_smaller)
            yield _nearest(range(rung, after, -1), is_smaller)

    rungs = sorted({rung for rung in found() if rung is not None})
    return max(rungs, key=lambda rung: likely.worth(ladder.counts(rung), limit_tokens), default=None)


def _nearest(rungs: Sequence[int], is_smaller: Callable[[int], bool]) -> int | None:
    """Return the first of some rungs that is certainly smaller, or one not far after it; None if none was found.

    Args:
        rungs: the rungs that may be taken, the wanted one first.
        is_smaller: whether a rung is certainly smaller.
    """
    # No bisection: if a note or a stub is expensive, rungs that are certainly smaller alternate with others. The first are
    # examined one by one, the rest at growing distances, because each is written when it is examined.
    places = [*range(_NEAR), *(_NEAR << doubling for doubling in range(len(rungs).bit_length())), len(rungs) - 1]
    return next((rungs[place] for place in places if 0 <= place < len(rungs) and is_smaller(rungs[place])), None)


def _floor(ladder: Ladder, is_small_enough: Callable[[int], bool]) -> int | None:
    """Return the rung of the floor with the longest handoff that passes a test.

    With a short history, not even the floor without a handoff may pass, because a stub of one kind could cost more than what it
    replaces of another. The floor is still sent if it is smaller by our own count, because nothing else is left that could fit.
    """
    certain = (rung for rung in range(ladder.floor, ladder.last + 1) if is_small_enough(rung))
    likely = (rung for rung in [ladder.last] if with_frames(ladder.counts(rung)) < with_frames(ladder.counts(0)))
    return next(certain, next(likely, None))


def with_frames(counts: KindCounts) -> int:
    """Return our own count of a request including its messages' frames, by which alone a floor may be smaller."""
    return counts.total + MESSAGE_TOKENS * counts.messages


def _small_enough(situation: Situation, ladder: Ladder, after: int) -> int:
    """Return the first rung below `after` that is small enough by what the refusals so far have said."""

    def first(is_small_enough: Callable[[KindCounts], bool]) -> int:
        return ladder.first(lambda rung: is_small_enough(ladder.counts(rung)), after=after)

    limit, observations = situation.input_limit_tokens, situation.observations
    tries = len(situation.attempts)
    if limit is not None and situation.stated_numbers:
        # Two numbers, as one is weighed elsewhere: the bound holds under every factor that they still allow, so the third call
        # certainly fits.
        return first(lambda counts: worst_case(counts, observations) <= limit / (1 + STATED_ERROR))
    # The rest has another call to correct it: the shorter handoffs of the floor are saved for when they are needed.
    if limit is not None:
        likely, least = situation.likelihood, LIKELY_BY_LIMIT[min(tries, len(LIKELY_BY_LIMIT)) - 1]
        return min(first(lambda counts: likely.chance_that_fits(counts, limit) >= least), ladder.floor)
    if not situation.attempts:
        room = situation.budget.input_tokens
        return min(first(lambda counts: counts.total <= room - room // MARGIN), ladder.floor)
    floor = ladder.counts(ladder.last).total
    # No number at all: halve what can shrink, not the request. For a request that is nearly all floor, half would be out of
    # reach, and each retry would be the floor.
    can_shrink = max(0, situation.sized.counts.total - floor)
    target = min(floor + int(can_shrink * HALVES[min(tries, len(HALVES)) - 1]), _room_by_chars(situation))
    return min(first(lambda counts: counts.total <= target), ladder.floor)


def _room_by_chars(situation: Situation) -> int:
    """Return what fits by a limit in characters, in our tokens; the believed window if there is no such limit."""
    overflow = situation.newest.overflow
    if overflow.unit != "chars" or not overflow.limit:
        return situation.room_tokens
    transcript = situation.sized.transcript
    # The character ratio only gives the share to keep: our own tokens of the same request, times the share of characters
    # that fits. A request without entries, which one of the wires permits, has no characters.
    chars = overflow.input or overflow.total or sum(len(as_json(entry.raw)) for entry in transcript.visible()) or 1
    return int(situation.sized.counts.total * overflow.limit / chars * SAFETY)
