"""What would Penstock have sent for the session of another agent? `penstock replay` (X-2).

Leaves to others: how that is determined (`inspection.replaying`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.cli.terminal import render_table
from penstock.text import escape
from penstock.text.notices import counted

if TYPE_CHECKING:
    from penstock.inspection.replaying import Replayed
    from penstock.inspection.story import Money, Subject

UNKNOWN = (
    "With another prompt the model would have acted differently; here it answers as it did.",
    "Content that it would have fetched again by a handle, or reread because it was cleared, is not charged.",
    "Each compaction by the host costs a request to a model; no record shows these, so they are not charged.",
    "Where the recorded request hit a cache, ours hits it with what it has in common with the one before.",
)
"""What a replay cannot know, in sentences."""


@command("replay")
@click.argument("file", type=options.OWN_FILE, metavar="FILE")
@click.option(
    "--window", "window_tokens", type=options.Whole(min=1_000), metavar="TOKENS", help="The model's context window."
)
@click.option("--model", metavar="NAME", help="The model whose tokenizer to count with; by default the session's own.")
@options.json_option
def replay_command(file: str, window_tokens: int | None, model: str | None, as_json: bool) -> int:
    """Show what Penstock would have sent for another agent's session.

    FILE is the session file, or its ID as `penstock inspect` lists it. Its requests are prepared again as Penstock would have:
    results are cut to what its tools show, the host's own compactions are left out, and before a request that would be too full
    the default plan clears old content, without a model. Requests, tokens, refusals and approximate cost are shown for the
    recorded and the replayed session.

    Examples:
      penstock replay stuck.jsonl
        recorded against replayed, what was cleared, what is not known
      penstock replay stuck.jsonl --window 400000 --json
        the same for a larger model, with every request, for a script
    """
    from penstock.hosts.sessions.finding import session_named
    from penstock.hosts.sessions.reports import replay_of
    from penstock.inspection.story import Story
    from penstock.models.prices import priced

    host, path = session_named(file, os.environ)
    subject, done = replay_of(host, path, window_tokens=window_tokens, model=model)
    pairs = done.answered
    recorded, sent = (priced(Story(turns=tuple(pair[side] for pair in pairs))).money for side in (0, 1))
    answer.give(_object(subject, done, recorded, sent), _words(subject, done, recorded, sent), as_json)
    return 0 if done.turns else answer.NOTHING


def _object(subject: Subject, done: Replayed, recorded: Money | None, sent: Money | None) -> dict[str, Any]:
    """Return a replay for a script."""
    story = done.story
    return {
        **answer.fields_of(subject, "host", "session", "path", "project"),
        "model": story.model or None,
        "window": done.window_tokens,
        "limit": done.limit_tokens,
        "recorded": {
            "requests": len(done.turns),
            "input_tokens": done.recorded_tokens,
            "largest_tokens": max((turn.recorded_tokens for turn in done.turns), default=0),
            "refusals": done.recorded_refusals,
            "compactions": len(story.compactions),
            "money": None if recorded is None else recorded._asdict(),
        },
        "replayed": {
            "requests": len(done.sent),
            "input_tokens": done.sent_tokens,
            "largest_tokens": max((turn.sent_tokens or 0 for turn in done.sent), default=0),
            "refusals": done.expected_refusals,
            "above_limit": done.above_limit,
            "compactions": done.plans,
            "money": None if sent is None else sent._asdict(),
            "forgotten": [one._asdict() for one in done.forgotten],
            "bounded": {"results": done.bounded_results, "tokens": done.bounded_tokens},
        },
        "turns": [
            {"turn": turn.number, "recorded": turn.recorded_tokens, "replayed": turn.sent_tokens} for turn in done.turns
        ],
        "unknown": list(UNKNOWN),
    }


def _words(subject: Subject, done: Replayed, recorded: Money | None, sent: Money | None) -> str:
    """Return a replay for a person."""
    whose = f"Session {escape.clip(subject.session or subject.path, 120)} of {subject.host}"
    if not done.turns:
        return f"{whose} has no request."
    rows = [
        ("requests", str(len(done.turns)), str(len(done.sent))),
        ("tokens sent", str(done.recorded_tokens), str(done.sent_tokens)),
        (
            "largest request",
            str(max(turn.recorded_tokens for turn in done.turns)),
            str(max((turn.sent_tokens or 0 for turn in done.sent), default=0)),
        ),
        ("refused for its size", str(done.recorded_refusals), str(done.expected_refusals)),
        ("compactions", str(len(done.story.compactions)), str(done.plans)),
        ("about, as cached", _dollars(recorded), _dollars(sent)),
        (
            "without a cache",
            *("unknown" if money is None else f"${money.uncached_dollars:.2f}" for money in (recorded, sent)),
        ),
    ]
    lines = [
        f"{whose}, in a window of {done.window_tokens} tokens, {done.limit_tokens} of them for a request",
        "",
        render_table(("", "recorded", "replayed"), rows),
        "",
        f"Results cut to what our tools show: {done.bounded_results}, {done.bounded_tokens} tokens of them",
    ]
    lines += [
        f"Cleared by `{one.strategy}`: {counted(one.times, 'time')}, {one.tokens} tokens" for one in done.forgotten
    ]
    if done.above_limit:
        above = counted(done.above_limit, "request")
        lines.append(f"Above {done.limit_tokens} tokens nevertheless, as no more could be cleared: {above}")
    if recorded is not None:
        lines.append(
            f"Prices: the makers' lists of {recorded.as_of}; both sums are of the same {recorded.priced_turns} of"
            f" {counted(len(done.turns), 'request')}"
        )
    return "\n".join([*lines, "", "Not known:", *(f"- {sentence}" for sentence in UNKNOWN)])


def _dollars(money: Money | None) -> str:
    return "unknown" if money is None else f"${money.dollars:.2f}"
