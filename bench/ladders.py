"""Other ways out of a refusal, for `bench.recovery`: each sends through a provider until it answers or the ladder ends.

A ladder takes (request, provider, the window that the caller believes in, counter) and returns whether an answer came. What a
provider raises is a refusal. `halving` and `floor at once` are toys that mark the two ends; ladders of other agents need a model
for their summaries and are not among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.carrier.ways_back import call_syntax
from penstock.context.compaction import apply
from penstock.context.ladder import Ladder
from penstock.context.sized import Sized
from penstock.wires import dump_valid, load_request

if TYPE_CHECKING:
    from collections.abc import Callable

Request = Any


def floor_at_once(request: Request, provider: Any, believed: int, counter: Any) -> bool:
    """Send the request, and the floor if that is refused: two calls, and everything that could go is given up."""
    ladder = _ladder(request, provider, believed, counter)
    return any(_answers(provider, _rung(ladder, rung, request)) for rung in (0, ladder.last))


def halving(request: Request, provider: Any, believed: int, counter: Any) -> bool:
    """Halve what can shrink with each refusal, whatever it says, and send the floor as the fourth call."""
    ladder = _ladder(request, provider, believed, counter)
    whole, floor = ladder.counts(0).total, ladder.counts(ladder.last).total
    for keep in (1.0, 0.5, 0.25):
        most = floor + keep * (whole - floor)
        rung = 0 if keep == 1.0 else ladder.first(lambda rung, most=most: ladder.counts(rung).total <= most)  # type: ignore[misc]
        if _answers(provider, _rung(ladder, rung, request)):
            return True
    return _answers(provider, _rung(ladder, ladder.last, request))


def _ladder(request: Request, provider: Any, believed: int, counter: Any) -> Ladder:
    sized = Sized(load_request(request, provider.wire), counter)
    return Ladder(sized, window_tokens=believed, dialect=call_syntax(request, provider.wire))


def _rung(ladder: Ladder, rung: int, request: Request) -> Request:
    return dump_valid(apply(ladder.sized.transcript, ladder.plan(rung, 0)), request)


def _answers(provider: Any, request: Request) -> bool:
    try:
        provider(request)
    except Exception:
        return False
    return True


PEERS: dict[str, Callable[..., bool]] = {"toy: floor at once": floor_at_once, "toy: halving": halving}
"""By the name that the table prints."""
