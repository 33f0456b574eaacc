"""Which other ways out of a refusal are there for `bench.recovery`? Each sends through a provider until it answers or the ladder
ends.

A ladder takes (request, provider, the window that the caller assumes, counter) and returns whether an answer came. A provider
refuses by raising `Refused`. `floor at once` and `halving` are toys that mark the two extremes. `pi` and `Cline` follow the sources
of these agents, with their default settings:

- pi (github.com/badlogic/pi-mono at 0430917, packages/coding-agent/src/core/compaction/compaction.ts): above the window less 16,384
  tokens, and once after a refusal, everything older than the newest 20,000 tokens becomes a model's summary.
- Cline (github.com/cline/cline at 21cb8d2, sdk/packages/core/src/extensions/context): above .9 of .9 of the window, a model's
  summary of what is older than 20,000 tokens or .7 of that; after a refusal, once and without a model, half of the messages'
  tokens: all prompts stay, of the newest turn the newest messages that fit, of older turns last answers, and a list of the tools'
  work for the rest.

The model's summaries are a stand-in: always available, `SUMMARY_TOKENS` long, and not counted as a call. Both count a token as four
characters, as this benchmark does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.carrier.ways_back import call_syntax
from penstock.context.compaction import apply
from penstock.context.ladder import Ladder
from penstock.context.sized import Sized, measure_entry
from penstock.wires import dump_valid, load_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.wires import Entry, Transcript

Request = Any


class Refused(Exception):
    """A provider's refusal, in its words."""


SUMMARY_TOKENS = 800
"""The size of a model's summary; pi allows 13,107 and Cline 4,096."""
RECENT_TOKENS = 20_000


def floor_at_once(request: Request, provider: Any, believed: int, counter: Any) -> bool:
    """Send the request, and the floor if that is refused: two calls, and everything removable is given up."""
    ladder = _ladder(request, provider, believed, counter)
    return any(_answers(provider, _rung(ladder, rung, request)) for rung in (0, ladder.last))


def halving(request: Request, provider: Any, believed: int, counter: Any) -> bool:
    """Halve what can shrink at each refusal, whatever it says, and send the floor as the fourth call."""
    ladder = _ladder(request, provider, believed, counter)
    whole, floor = ladder.counts(0).total, ladder.counts(ladder.last).total
    for keep in (1.0, 0.5, 0.25):
        most = floor + keep * (whole - floor)
        rung = 0 if keep == 1.0 else ladder.first(lambda rung, most=most: ladder.counts(rung).total <= most)  # type: ignore[misc]
        if _answers(provider, _rung(ladder, rung, request)):
            return True
    return _answers(provider, _rung(ladder, ladder.last, request))


def pi(request: Request, provider: Any, believed: int, counter: Any) -> bool:
    """Summarize what is older than the newest 20,000 tokens, before sending if it seems too much, and once after a refusal."""
    talk = load_request(request, provider.wire)
    if Sized(talk, counter).counts.total > believed - 16_384:
        talk = _summed_up(talk, RECENT_TOKENS, counter)
    if _answers(provider, dump_valid(talk, request)):
        return True
    shorter = _summed_up(talk, RECENT_TOKENS, counter)
    return shorter is not talk and _answers(provider, dump_valid(shorter, request))


def cline(request: Request, provider: Any, believed: int, counter: Any) -> bool:
    """Summarize before sending if it seems too much; after a refusal, once, keep prompts, recent messages and last answers."""
    talk = load_request(request, provider.wire)
    most = int(believed * 0.9 * 0.9)
    beside = Sized(talk, counter).counts.total - sum(turn.tokens for turn in _turns(talk, counter))
    if Sized(talk, counter).counts.total >= most:
        talk = _summed_up(talk, max(1, min(RECENT_TOKENS, int(most * 0.7) - beside)), counter)
    if _answers(provider, dump_valid(talk, request)):
        return True
    target = max(1, min(most - beside, sum(turn.tokens for turn in _turns(talk, counter)) // 2))
    return _answers(provider, dump_valid(_folded(talk, target, counter), request))


def _summed_up(talk: Transcript, recent_tokens: int, counter: Any) -> Transcript:
    """Return the talk with a stand-in for a model's summary of everything older than its newest tokens."""
    turns, kept, first = _turns(talk, counter), 0, 0
    for at in range(len(turns) - 1, -1, -1):
        kept += turns[at].tokens
        if kept >= recent_tokens:
            # The cut is before the message that reaches the limit if its last entry is the user's, otherwise after it.
            first = at if turns[at].entries[-1].role == "user" else min(at + 1, len(turns) - 1)
            break
    return _without(talk, turns[:first], lambda _: "word " * (SUMMARY_TOKENS * 4 // 5))


def _folded(talk: Transcript, target_tokens: int, counter: Any) -> Transcript:
    """Return the talk with its prompts, the newest messages that fit, and last answers of older turns that also fit."""
    turns = _turns(talk, counter)
    prompts = [at for at, turn in enumerate(turns) if turn.entries[0].speaks]
    kept, total = set(prompts), sum(turns[at].tokens for at in prompts)
    for at in range(len(turns) - 1, prompts[-1], -1):
        if total + turns[at].tokens > target_tokens:
            break
        total += turns[at].tokens
        kept.add(at)
    for begun, ended in zip(prompts[-2::-1], prompts[:0:-1], strict=True):
        last = next((at for at in range(ended - 1, begun, -1) if not turns[at].entries[0].calls), None)
        if last is not None and total + turns[last].tokens <= target_tokens:
            total += turns[last].tokens
            kept.add(last)
    return _without(talk, [turn for at, turn in enumerate(turns) if at not in kept], _work)


@dataclass(frozen=True)
class _Turn:
    """One message, with the results of its calls."""

    place: int
    entries: Sequence[Entry]
    tokens: int


def _turns(talk: Transcript, counter: Any) -> list[_Turn]:
    """Return the visible turns, without those that must stay."""
    shown = {entry.index: entry for entry in talk.visible() if not entry.is_note}
    found = []
    for place, turn in enumerate(talk.turns()):
        entries = [shown[index] for index in range(turn.first, turn.last + 1) if index in shown]
        if entries:
            found.append(_Turn(place, entries, sum(measure_entry(entry, counter).counts.total for entry in entries)))
    return found


def _work(dropped: Sequence[Entry]) -> str:
    """Return Cline's list of what tools did, which replaces messages."""
    done = [f"- {call.name} {str(call.arguments)[:80]}" for entry in dropped for call in entry.calls]
    return "Earlier context was compacted. Summary of your actions:\n" + "\n".join(done[-50:])


def _without(talk: Transcript, dropped: Sequence[_Turn], note: Callable[[Sequence[Entry]], str]) -> Transcript:
    """Return the talk with a note in place of each run of dropped turns; the task and the newest prompt stay."""
    stays = talk.protected()
    rows: list[list[_Turn]] = []
    for turn in dropped:
        if any(entry.index in stays for entry in turn.entries):
            continue
        if rows and rows[-1][-1].place == turn.place - 1:
            rows[-1].append(turn)
        else:
            rows.append([turn])
    for row in rows:
        entries = [entry for turn in row for entry in turn.entries]
        talk = talk.drop_span(entries[0].index, entries[-1].index, note(entries))
    return talk


def _ladder(request: Request, provider: Any, believed: int, counter: Any) -> Ladder:
    sized = Sized(load_request(request, provider.wire), counter)
    return Ladder(sized, window_tokens=believed, dialect=call_syntax(request, provider.wire))


def _rung(ladder: Ladder, rung: int, request: Request) -> Request:
    return dump_valid(apply(ladder.sized.transcript, ladder.plan(rung, 0)), request)


def _answers(provider: Any, request: Request) -> bool:
    try:
        provider(request)
    except Refused:
        return False
    return True


PEERS: dict[str, Callable[..., bool]] = {
    "toy: floor at once": floor_at_once,
    "toy: halving": halving,
    "pi": pi,
    "Cline": cline,
}
"""By the name that the table prints."""
