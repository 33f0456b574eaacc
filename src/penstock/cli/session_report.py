"""How is the story of a session shown on a terminal, and as JSON? What `penstock inspect` prints of one session (X-2).

Law: the kinds that are printed for a request add up to its tokens. Leaves to others: where the story comes from.
"""

from __future__ import annotations

import shlex
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from penstock.cli import answer
from penstock.cli.terminal import render_table
from penstock.text import escape
from penstock.text.notices import counted

if TYPE_CHECKING:
    from penstock.inspection.story import FillTurn, Item, Story, Subject

_ROWS = 10  # of a table for a person; a script gets all
_COLUMNS = 60  # of the line that shows the fill
_BARS = "▁▂▃▄▅▆▇█"
_WORDS_CHARS = 300  # of a provider's message


def story_json(subject: Subject, story: Story) -> dict[str, Any]:
    """Return where the context of a session went in the form of contracts.md, and what else the story contains."""
    waste = story.waste
    return {
        **answer.fields_of(subject, "host", "session", "path", "project", "updated", "version", "size_bytes"),
        "model": story.model or None,
        "window": story.window_tokens,
        "window_source": story.window_source or None,
        "state": story.state,
        "turns": len(story.turns),
        "fill": [_turn_json(turn) for turn in story.turns],
        "items": [_item_json(item) for item in story.items],
        "by_tool": dict(story.by_tool),
        "waste": {
            "floods": [_item_json(item) for item in waste.floods],
            "rereads": [one._asdict() for one in waste.rereads],
            "repeated_errors": [one._asdict() for one in waste.repeated_errors],
            "unused_tools": [one._asdict() for one in waste.unused_tools],
            "unsent_bytes": dict(waste.unsent_bytes),
        },
        "refusals": [one._asdict() for one in story.refusals],
        "compactions": [
            {
                **one._asdict(),
                "by_kind": dict(one.by_kind),
                "needed_again": [again._asdict() for again in one.needed_again],
            }
            for one in story.compactions
        ],
        "money": None if story.money is None else story.money._asdict(),
        "torn": story.torn,
        "too_large": story.too_large,
        "unknown": dict(story.unknown),
    }


def _turn_json(turn: FillTurn) -> dict[str, Any]:
    # `turn`, `tokens` and `by_kind` come first: scripts ask for these.
    rest = turn._asdict()
    return {"turn": rest.pop("number"), **rest, "by_kind": dict(turn.by_kind)}


def _item_json(item: Item) -> dict[str, Any]:
    return {
        **answer.fields_of(item, "kind", "name", "what", "tokens", "turn", "requests"),
        "start_byte": item.place.start_byte,
        "end_byte": item.place.end_byte,
    }


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def story_words(subject: Subject, story: Story) -> str:
    """Return where the context of a session went, for a person."""
    parts = [_head(subject, story), _fill(story), _bill(story), _largest(story), _waste(story)]
    parts += [_refusals(story), _compactions(story), _measured(story), _file(subject, story)]
    return "\n\n".join(part for part in parts if part)


def _head(subject: Subject, story: Story) -> str:
    whose = f"Session {_clip(subject.session or subject.path)} of {subject.host}"
    where = ", ".join(_clip(word) for word in (subject.project, subject.version, story.model) if word)
    lines = [whose + (f": {where}" if where else "")]
    if story.fill is None or story.fullest is None:
        return f"{lines[0]}\nNo request was answered or refused in it."
    newest, fullest = story.fill, story.fullest
    lines.append(
        f"{counted(len(story.turns), 'request')}; the newest {_of(newest.tokens, story)}"
        + (f", the fullest {_of(fullest.tokens, story)} (request {fullest.number})" if fullest != newest else "")
    )
    if story.window_tokens is not None:
        lines.append(f"The model holds {story.window_tokens} tokens, {story.window_source}")
    if story.state == "stuck":
        lines.append(f"Stuck. A way out: penstock rescue {shlex.quote(_clip(subject.path, 400))} --dry-run")
    return "\n".join(lines)


def _of(tokens: int, story: Story) -> str:
    share = f" ({_percent(tokens, story.window_tokens)} of the window)" if story.window_tokens else ""
    return f"{tokens} tokens{share}"


def _fill(story: Story) -> str:
    """Return a line of bars: the fullest request of each stretch, against the window or the fullest of all."""
    if len(story.turns) < 2 or story.fullest is None:
        return ""
    whole = max(story.window_tokens or 0, story.fullest.tokens) or 1
    columns = min(_COLUMNS, len(story.turns))
    edges = [at * len(story.turns) // columns for at in range(columns + 1)]
    most = [max(turn.tokens for turn in story.turns[start:end]) for start, end in pairwise(edges)]
    bars = "".join(_BARS[min(len(_BARS) - 1, tokens * len(_BARS) // whole)] for tokens in most)
    return f"fill over {counted(len(story.turns), 'request')}, full height {whole} tokens\n{bars}"


def _bill(story: Story) -> str:
    if story.fill is None or story.fullest is None:
        return ""
    from penstock.inspection.story import KINDS

    newest, fullest = story.fill, story.fullest
    rows: list[tuple[object, ...]] = [
        (
            kind,
            newest.by_kind.get(kind, 0),
            _percent(newest.by_kind.get(kind, 0), newest.tokens),
            fullest.by_kind.get(kind, 0),
        )
        for kind in KINDS
        if newest.by_kind.get(kind, 0) or fullest.by_kind.get(kind, 0)
    ]
    rows.append(("in all", newest.tokens, "100 %", fullest.tokens))
    bill = render_table(("tokens of", "newest", "share", "fullest"), rows)
    if not story.by_tool:
        return bill
    tools = render_table(("results of", "tokens, about"), islice(story.by_tool.items(), _ROWS))
    return f"{bill}\n\n{tools}" + _more(len(story.by_tool), "tool")


def _largest(story: Story) -> str:
    rows = [
        (item.tokens, item.requests, item.turn, item.kind, " ".join(word for word in (item.name, item.what) if word))
        for item in story.items[:_ROWS]
    ]
    return render_table(("tokens", "in requests", "from", "largest by both", "what"), rows)


def _waste(story: Story) -> str:
    waste = story.waste
    tables = (
        render_table(
            ("floods", "tokens", "in requests"),
            [(f"{one.name} {one.what}".strip(), one.tokens, one.requests) for one in waste.floods[:_ROWS]],
        ),
        render_table(
            ("asked again, same answer", "times", "tokens again"),
            [(f"{one.name} {one.what}".strip(), one.times, one.tokens) for one in waste.rereads[:_ROWS]],
        ),
        render_table(
            ("same error again", "times"),
            [(f"{one.name} {one.words}".strip(), one.times) for one in waste.repeated_errors[:_ROWS]],
        ),
        render_table(
            ("tools never called", "tokens in every request"),
            [(one.name, one.tokens) for one in waste.unused_tools[:_ROWS]],
        )
        + _more(len(waste.unused_tools), "tool"),
    )
    return "\n\n".join(table for table in tables if table)


def _refusals(story: Story) -> str:
    lines = [
        f"Request {one.turn} was refused ({one.kind}): {_clip(one.words, _WORDS_CHARS)}"
        for one in story.refusals[:_ROWS]
    ]
    return "\n".join(lines) + _more(len(story.refusals), "refusal")


def _compactions(story: Story) -> str:
    lines = []
    for one in story.compactions[:_ROWS]:
        kinds = sorted(one.by_kind.items(), key=lambda pair: -pair[1])[:3]
        gone = ", ".join(f"{kind} {tokens}" for kind, tokens in kinds)
        lines.append(
            f"Compacted after request {one.turn}: {one.before_tokens} -> {one.after_tokens} tokens"
            + (f"; gone: {gone}" if gone else "")
        )
        lines += [
            f"  needed again: {_clip(f'{again.name} {again.what}'.strip())}, {again.tokens} tokens"
            for again in one.needed_again[:3]
        ]
    return "\n".join(lines) + _more(len(story.compactions), "compaction")


def _measured(story: Story) -> str:
    """Return the provider's count next to ours, and what the session cost."""
    measured = [turn for turn in story.turns if turn.is_measured]
    unmeasured = [turn for turn in story.turns if turn.recorded_tokens is not None and not turn.is_measured]
    lines = []
    if measured:
        ours, theirs = measured[-1].counted_tokens, measured[-1].tokens
        lines.append(
            f"Measured by the provider: {counted(len(measured), 'request')}; of the last {theirs} tokens the record"
            f" shows {ours} as we count"
        )
    else:
        lines.append("No request was measured by the provider: all figures are our count of what is recorded.")
    if unmeasured:
        lines.append(
            f"Left out: {counted(len(unmeasured), 'figure')} of the record that no provider measured (zero, the host's"
            " own, or the window in place of one)"
        )
    if story.money is not None:
        money = story.money
        lines.append(
            f"About ${money.dollars:.2f} by list prices as of {money.as_of}, ${money.uncached_dollars:.2f} without a"
            f" cache; {money.priced_turns} of {len(story.turns)} requests have a price"
        )
    elif story.turns:
        lines.append("Cost: unknown; no price is known for the model, or no usage is recorded")
    return "\n".join(lines) if story.turns else ""


def _file(subject: Subject, story: Story) -> str:
    lines = []
    unsent = sum(story.waste.unsent_bytes.values())
    if unsent and subject.size_bytes:
        kinds = ", ".join(f"{_clip(kind)} {size}" for kind, size in islice(story.waste.unsent_bytes.items(), 4))
        lines.append(f"Of the file's {subject.size_bytes} bytes {unsent} go to no provider: {kinds}")
    if story.torn:
        lines.append(f"{counted(story.torn, 'line')} could not be read as a record")
    if story.too_large:
        lines.append(f"{counted(story.too_large, 'line')} larger than any request may be, and not read")
    if story.unknown:
        kinds = ", ".join(
            f"{_clip(kind) or 'without a kind'} {count}" for kind, count in islice(story.unknown.items(), 4)
        )
        lines.append(f"{counted(sum(story.unknown.values()), 'record')} of kinds that are not known here: {kinds}")
    return "\n".join(lines)


def _more(count: int, noun: str) -> str:
    return f"\nand {counted(count - _ROWS, f'more {noun}')}" if count > _ROWS else ""


def _percent(part: int, whole: int | None) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _clip(text: str, limit_bytes: int = 80) -> str:
    return escape.clip(text, limit_bytes)
