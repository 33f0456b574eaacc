"""How does a request end that nothing makes small enough? With a proof, a handoff, and a fresh transcript to continue with.

The proof is the bill of what remains, with the provider's own numbers next to ours. Leaves to others: whether it is the end
(`recovery`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.context.bill import Bill, bill_of
from penstock.context.handoff import render
from penstock.context.sized import ESTIMATOR, size_of
from penstock.errors import Ended

if TYPE_CHECKING:
    from penstock.context.handoff import Handoff
    from penstock.context.situation import Situation
    from penstock.text.tokens import TokenCounter
    from penstock.wires import Transcript

HANDOFF_SHARE = 0.25
"""The share of the room that a fresh session gives to the handoff."""
LAST_HANDOFF_TOKENS = 2_000
"""The tokens for the handoff after a provider refused everything."""
# Fewer than the usual 3.5 to 4, so that characters derived from a room of tokens stay within it.
CHARS_PER_TOKEN = 3
"""Characters for each token of room when a text is cut to fit."""
_MIN_HANDOFF_CHARS = 200


def _too_large(bill: Bill, limit_tokens: int, counted_tokens: int | None, *, is_believed: bool) -> str:
    """Return why nothing can be sent: what is known of the limit and from whom, and the parts that cannot shrink, largest first."""
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
            limit_tokens: the room, as far as it is known.
            counted_tokens: what the provider counted for the request; None if it did not say.
            is_believed: whether the limit is only the caller's belief, because no refusal named one.
        """
        super().__init__(_too_large(bill, limit_tokens, counted_tokens, is_believed=is_believed))
        self.bill = bill
        self.limit_tokens = limit_tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class Irreducible:
    """Nothing smaller can be sent: `error` is the proof."""

    error: TooLarge
    handoff: Handoff
    """What was done so far, to be kept or to begin with."""
    fresh: Transcript | None
    """A transcript that the next prompt can work in; None if the instructions alone leave no room."""
    limit_tokens: int
    """The size limit that `fresh` was made for."""


def give_up(situation: Situation) -> Irreducible:
    """Return the end of a request that cannot shrink, or that was refused as the floor: its bill is the proof."""
    sized, reserve = situation.sized, situation.budget.reserve_tokens
    handoff = sized.handoff(situation.session_id)
    bare = size_of(sized.transcript.afresh("", newest=False), sized.counter)
    # Small on purpose: the next prompt has to fit too, in a window that has just refused everything.
    limit = min(bare + LAST_HANDOFF_TOKENS, situation.room_tokens)
    # Both counts and both limits are given, because our count can be below a limit that the provider's count exceeds.
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
        cure: the end, as `decide` returned it.
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
    """Return a transcript to begin with: unchanged instructions and tools, the handoff, and the user's newest words
    verbatim.

    Args:
        transcript: what is left behind.
        handoff: what is handed on; written at the greatest length that fits.
        limit_tokens: the size limit of the fresh transcript.
        counter: counts it.
        newest: whether the user's newest words follow the handoff.

    Returns:
        The transcript, or None if there is no room even for a short handoff.
    """
    left = limit_tokens - size_of(transcript.afresh("", newest=newest), counter)
    max_chars = int(left * HANDOFF_SHARE) * CHARS_PER_TOKEN
    while max_chars >= _MIN_HANDOFF_CHARS:
        begun = transcript.afresh(render(handoff, max_chars=max_chars), newest=newest)
        if size_of(begun, counter) <= limit_tokens:
            return begun
        max_chars //= 2
    return None
