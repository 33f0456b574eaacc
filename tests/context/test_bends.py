"""For requests that are too large, what is sent of each to one provider after another, and at what size does each bound apply?

`bends.txt` has the reviewed answer; `WRITE_TABLES=1` rewrites it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bench.recovery import COUNTER, NoStore, Provider, rung_request
from tests.context.test_ladder import (
    BESIDE_WORDS,
    CHAT,
    OLD_BATCH,
    SCREENS,
    TALK,
    WORDINGS,
    ladder_of,
    request_of,
)
from tests.tables import check_table
from tests.wires.strategies import WIRES

from penstock import execute
from penstock.context import recovery
from penstock.context.counts import CONTENT_KINDS
from penstock.context.provider_counts import stated
from penstock.context.rung_choice import with_frames
from penstock.context.situation import Situation
from penstock.text.allowance import Budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.wires.strategies import Story

    from penstock.context.recovery import Cure

TABLE = Path(__file__).with_name("bends.txt")
_STORIES: dict[str, Story] = {
    "chat": CHAT,
    "old batch": OLD_BATCH,
    "talk": TALK,
    "beside words": BESIDE_WORDS,
    "screens": SCREENS,
}
_FACTORS: tuple[dict[str, float], ...] = (
    {"results": 2.0},
    {},
    {"user": 0.5, "assistant": 1.5},
    {"images": 4.0, "calls": 0.5},
)
"""The provider's tokens for one of ours, by kind of content; 1 if not given."""
_SHARES = (0.6, 0.15)
"""The positions of their limits between the floor and the whole."""


def refused() -> Iterator[str]:
    """Yield what providers of every wording count of each request they receive, until one is small enough."""
    turn = 0
    for name, story in _STORIES.items():
        for wording in WORDINGS:
            wire, factors = WIRES[turn % len(WIRES)], _FACTORS[turn % len(_FACTORS)]
            request = request_of(story, wire)
            ladder = ladder_of(request, wire)
            provider = Provider(
                wire, wording, {**dict.fromkeys(CONTENT_KINDS, 1.0), **factors}, 4.0, by_characters=False
            )
            most, least = provider.count(request), provider.count(rung_request(ladder, ladder.last, request))
            provider.limit = int(least + _SHARES[turn % 2] * (most - least))
            believed = int(ladder.sized.counts.total * (0.6, 1.0, 3.0)[turn % 3])
            turn += 1
            result = execute(
                provider,
                request,
                wire=wire,
                window_tokens=believed,
                store=NoStore(),  # type: ignore[arg-type]  # the only methods of a store that execute uses
                counter=COUNTER,
            )
            sent = " > ".join(str(round(size)) for size in provider.sent)
            yield f"{name}, {wording}, {wire}, {believed} believed, {provider.limit}: {sent} {result.strategy}"


def _said(cure: Cure | None) -> str:
    if isinstance(cure, recovery.SendSmaller):
        return f"{cure.strategy} {len(cure.plan.steps)} {cure.plan.after_tokens}"
    return "as it is" if cure is None else type(cure).__name__


def trimmed() -> Iterator[str]:
    """Yield what is removed before sending, in windows just large enough for a rung and one token smaller."""
    for name, story in _STORIES.items():
        sized = ladder_of(request_of(story, "anthropic"), "anthropic").sized
        ladder = Situation(sized=sized, budget=Budget(1 << 40)).ladder(sized)
        rungs = sorted(
            {0, 1, ladder.gentle, ladder.gentle + 1, ladder.recent, ladder.floor - 1, ladder.floor, ladder.last}
        )
        for rung in (one for one in rungs if 0 <= one <= ladder.last):
            tokens, found = with_frames(ladder.counts(rung)), list[str]()
            least = next(window for window in range(tokens, 2 * tokens) if window - window // recovery.MARGIN >= tokens)
            for known in ([], [stated(sized.counts, sized.counts.total)]):
                for window in (least, least - 1):
                    situation = Situation(sized=sized, budget=Budget(window), known=known)
                    headrooms = (0.0, 0.1) if known else (0.0,)
                    found += [_said(recovery.trim(situation, headroom_share=headroom)) for headroom in headrooms]
            yield f"{name}, rung {rung} of {ladder.last}: {'; '.join(found)}"


@pytest.mark.proves("R-1")
def test_what_is_sent_of_a_request_that_is_too_large_is_what_the_table_says() -> None:
    """The table covers what is sent after each refusal and before any."""
    check_table(TABLE, [*refused(), *trimmed()])
