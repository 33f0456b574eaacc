"""R19: does a request get through, whatever the provider's way of counting (R-1 to R-3)?

Providers that count in their own way (`bench.recovery`: random factors by kind, frames, errors per message, wordings, windows that
the caller assumes, histories), on every wire. Each case has a floor that fits. It must end in an answer within four calls, three if
refusals state their numbers and the limit is a plausible window; each request sent is valid, keeps the instructions, the tools and
the newest words, and is smaller in the provider's own count than the one before; without numbers the first retry keeps at most half
of what can shrink.
"""

from __future__ import annotations

import random
import sys
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from bench.recovery import COUNTER, WORDINGS, NoStore, case, dialect_of, rung_request
from proof.figure import Figure, forked, main

from penstock import execute
from penstock.context.ladder import HANDOFF_CHARS, Ladder
from penstock.context.sized import Sized
from penstock.overflow.learned import SMALLEST_TOKENS
from penstock.wires import WIRES, load_request, messages_of, violations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.recovery import Case

STATED = ("exact", "total only", "wrong by 10 %")
"""The wordings that state the provider's count, and its limit."""
LONG, SHORT = 5_000, 20
"""Cases on each wire."""
_SHARE = 250  # cases that one process generates and runs at a time


def faults_of(made: Case) -> tuple[str, ...]:
    """Return the faults of one case."""
    provider = made.provider
    provider.sent = []
    sent: list[Any] = []

    def send(request: Any) -> Any:
        sent.append(request)
        return provider(request)

    result = execute(
        send,
        made.request,
        wire=provider.wire,
        window_tokens=made.believed,
        store=NoStore(),  # type: ignore[arg-type]  # all that `execute` uses of a store
        counter=COUNTER,
    )
    # An implausible limit is not taken for a window: such a refusal only says that the request is too large.
    told_limit = int(provider.limit * (1 + provider.off))
    most = 3 if provider.wording in STATED and told_limit >= SMALLEST_TOKENS else 4
    is_lost = not result.success and not _went_to_the_floor(sent[-1], made)
    found = [f"lost after {[round(size) for size in provider.sent]} of {provider.limit}"] if is_lost else []
    found += [f"{len(sent)} calls"] if len(sent) > most else []
    found += ["not smaller"] if any(later >= earlier for earlier, later in pairwise(provider.sent)) else []
    before = load_request(made.request, provider.wire)
    newest = [entry.text for entry in before.entries if entry.speaks][-1:]
    for request in sent:
        found += [f"invalid: {wrong}" for wrong in violations(messages_of(request, provider.wire), provider.wire)[:1]]
        after = load_request(request, provider.wire)
        found += (
            [] if (before.system, before.tools) == (after.system, after.tools) else ["instructions or tools changed"]
        )
        found += [] if all(words in {entry.text for entry in after.entries} for words in newest) else ["words lost"]
    if provider.wording in {"code only", "none"} and len(sent) > 1:
        found += _not_halved(sent, made)
    return tuple(found)


_REDRAWN = 1.06 / 0.94


def _went_to_the_floor(request: Any, made: Case) -> bool:
    """Return whether a refused request was as small as possible, by our count and, as far as it can tell, the provider's.

    The floor in the case names other handles than the one that is sent, and a message with another text gets a newly drawn error of
    6 %: with an image in it that can be more than the room that the case leaves.
    """
    wire = made.provider.wire
    ladder = Ladder(
        Sized(load_request(made.request, wire), COUNTER),
        window_tokens=made.believed,
        dialect=dialect_of(made.request, wire),
    )
    theirs = made.provider.count(rung_request(ladder, ladder.last, made.request))
    ours = Sized(load_request(request, wire), COUNTER).counts.total
    return ours <= 1.01 * ladder.counts(ladder.last).total and made.provider.count(request) <= _REDRAWN * theirs


_NOTE_FRAME_CHARS = 200  # a note's text apart from its handoff: how much is left out, and where it is


def _not_halved(sent: list[Any], made: Case) -> list[str]:
    """Return a fault if the first retry keeps more than half of what could shrink, by our own count."""
    wire = made.provider.wire
    first, second = (Sized(load_request(request, wire), COUNTER) for request in sent[:2])
    ladder = Ladder(first, window_tokens=made.believed, dialect=dialect_of(sent[0], wire))
    floor = ladder.counts(ladder.last).total
    # The floor with its whole handoff is as small as a retry gets while calls are left. R-1 bounds the handoff's length: the
    # refused request may have been cut before, and its handoff says less than that of the original request. It is counted as that
    # many x, or unchanged if larger: paths and marks take more tokens. An existing note stays on the floor up to twice as long,
    # because a replacement might be no smaller to the provider.
    notes = [entry for entry in second.transcript.visible() if entry.is_note]
    is_handoff = sum(len(entry.text) for entry in notes) <= 2 * (HANDOFF_CHARS[0] + _NOTE_FRAME_CHARS)
    handoff = max(COUNTER.count("x" * HANDOFF_CHARS[0]).tokens, second.counts.of("notes") if is_handoff else 0)
    most = floor + max((first.counts.total - floor) / 2, handoff)
    # A plan's stubs are counted with a sample handle, so each may differ by a token.
    return [f"kept {second.counts.total} of {most}"] if second.counts.total > most + 0.02 * first.counts.total else []


def cases(seed: int | str, wire: str, number: int) -> Iterator[Case]:
    """Yield cases on one wire, rotating the wordings; the same for the same seed."""
    dice = random.Random(f"{seed} {wire}")
    made = 0
    while made < number:
        found = case(dice, WORDINGS[made % len(WORDINGS)], wire=wire)
        if found is not None:
            made += 1
            yield found


def _found(share: tuple[str, str, int]) -> list[str]:
    """Return the faults of a share of the cases, given their wire, seed and number."""
    wire, seed, number = share
    return [
        f"{wire} {at} of seed {seed!r} ({made.provider.wording}): {fault}"
        for at, made in enumerate(cases(seed, wire, number))
        for fault in faults_of(made)
    ]


def measure(*, long: bool, seed: int) -> Figure:
    """R19: providers that count in their own way; the long form uses all cores, each share of its cases with its own seed."""
    number = LONG if long else SHORT
    notes: list[str] = []
    if long:
        shares = [(wire, f"{seed} {at}", _SHARE) for at, wire in product(range(number // _SHARE), WIRES)]
        with forked() as pool:
            for done, found in enumerate(pool.map(_found, shares), 1):
                notes += found
                print(f"{done * _SHARE} cases, {len(notes)} faults", file=sys.stderr, flush=True)
    else:
        notes += (fault for wire in WIRES for fault in _found((wire, str(seed), number)))
    return Figure(
        rig="R19",
        name="recovery",
        value=f"{len(notes)} faults in {number} cases on each of {len(WIRES)} wires",
        target="0 faults",
        met=not notes,
        seed=seed,
        notes=tuple(notes),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))
