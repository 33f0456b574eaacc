"""What came of the sessions? `penstock stats`: the figures of the journal as tables, as an object, and as a picture."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from penstock import inert
from penstock.cli import answer
from penstock.cli.keeping import opened, store_option
from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.stats import Stats
    from penstock.store import Store


@click.command("stats")
@click.argument("session_id", metavar="[ID]", required=False)
@click.option("--svg", "picture_file", metavar="FILE", help="Draw how full the window was, answer by answer.")
@store_option
def stats_command(session_id: str | None, picture_file: str | None, store_url: str | None, as_json: bool) -> int:
    """Say what happened in session ID, or in all of them: tokens by source, reads, calls, cuts, refusals, waits, times.

    Sizes are estimates where no provider reported them. Exit status 6 where a journal could not be read to its end: what
    stands before is counted.
    """
    from penstock.store import StoreFault

    try:
        with opened(store_url) as store:
            return _told(store, session_id, picture_file, store_url, as_json)
    except StoreFault as error:
        return answer.fail(error.code, error.message, None, answer.FAULT, as_json=as_json)
    except OSError as error:
        message = f"{inert.clip(picture_file or '')} cannot be written: {error.strerror}"
        return answer.fail("io_error", message, None, answer.FAULT, as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)


def _told(store: Store, session_id: str | None, picture_file: str | None, store_url: str | None, as_json: bool) -> int:
    from penstock.stats import stats_of, together
    from penstock.workspace.root import replace_own

    there = "" if store_url is None else f" --store {shlex.quote(store_url)}"
    names = [info.session for info in store.sessions()]
    if not names:
        way = f'penstock run "QUESTION"{there}'
        return answer.fail("nothing", "There are no sessions yet.", way, answer.NOTHING, as_json=as_json)
    if session_id is not None and session_id not in names:
        message = f"There is no session {inert.clip(session_id)}."
        return answer.fail("not_found", message, f"penstock sessions{there}", answer.MISSING, as_json=as_json)
    chosen = names if session_id is None else [session_id]
    if picture_file is not None and len(chosen) > 1:
        way = f"penstock stats {shlex.quote(names[0])} --svg {shlex.quote(picture_file)}{there}"
        return answer.fail("usage", "A picture shows one session.", way, answer.USAGE, as_json=as_json)
    found = together(stats_of(store, name) for name in chosen)
    if picture_file is not None:
        replace_own(picture_file, picture(found).encode())
    if as_json:
        click.echo(json.dumps(as_object(found) | ({"svg": picture_file} if picture_file is not None else {})))
    else:
        click.echo("\n\n".join(section for section in sections(found) if section))
        if picture_file is not None:
            click.echo(f"\nThe picture is in {inert.clip(picture_file)}")
    return answer.PARTIAL if found.unread else 0


# ── for scripts ──────────────────────────────────────────────────────────────────────────────────────────────────


def as_object(found: Stats) -> dict[str, Any]:
    """All figures as JSON can hold them."""
    savings = found.savings
    return {
        "sessions": list(found.sessions),
        "records": found.records,
        "turns": len(found.answers),
        "usage": {"input_tokens": found.input_tokens, "output_tokens": found.output_tokens},
        "sources": [
            {
                "source": source.name,
                "tool": source.tool or None,
                "came_tokens": flow.came_tokens,
                "cut_tokens": flow.cut_tokens,
                "sent_tokens": flow.sent_tokens,
            }
            for source, flow in sorted(found.flows.items())
        ],
        "reads": {
            "reads": len(found.reads),
            "repeated": found.repeated_reads,
            "per_task": round(found.reads_per_task, 2),
            "average_lines": round(found.average_read_lines, 1),
            "average_tokens": round(found.average_read_tokens, 1),
        },
        "tasks": [dict(zip(_TASK_KEYS, row, strict=True)) for row in _tasks(found)],
        "calls": [dict(zip(_CALL_KEYS, row, strict=True)) for row in _calls(found)],
        "cuts": [dict(zip(_CUT_KEYS, row, strict=True)) for row in _cuts(found)],
        "refusals": [dict(zip(_REFUSAL_KEYS, row, strict=True)) for row in _refusals(found)],
        "faults": dict(sorted(Counter(found.faults).items())),
        "waits": {"waits": len(found.waits), "seconds": round(sum(found.waits), 3)},
        "handoffs": [
            {
                "session": handoff.session,
                "after_turn": handoff.after_answer,
                "reason": handoff.reason,
                "evidence": handoff.evidence,
                "freed_tokens": handoff.freed_tokens,
            }
            for handoff in found.handoffs
        ],
        "response_times": [
            {
                **times._asdict(),
                "median_seconds": round(times.median_seconds, 3),
                "longest_seconds": round(times.longest_seconds, 3),
            }
            for times in found.response_times
        ],
        "savings": {**savings._asdict(), "saved_tokens": savings.saved_tokens, "is_estimate": True},
        "fill": [
            {
                "session": one.session,
                "turn": one.number,
                "request_tokens": one.request_tokens,
                "reported": one.is_reported,
                "window_tokens": one.window_tokens,
            }
            for one in found.answers
        ],
        "unread": [
            {"session": one.session, "newest_sound": one.newest_sound, "reason": one.reason} for one in found.unread
        ],
    }


_TASK_KEYS = ("session", "task", "turns", "reads", "repeated", "prompt")
_CALL_KEYS = ("tool", "calls", "failed", "not_run", "result_tokens")
_CUT_KEYS = ("strategy", "cuts", "freed_tokens")
_REFUSAL_KEYS = ("severity", "remedy", "refusals", "recovered")


def _tasks(found: Stats) -> list[tuple[Any, ...]]:
    answers = Counter((one.session, one.task) for one in found.answers)
    reads = Counter((read.session, read.task) for read in found.reads)
    repeated = Counter((read.session, read.task) for read in found.reads if read.is_repeated)
    keys = [(task.session, task.number, task.prompt) for task in found.tasks]
    return [(name, at, answers[name, at], reads[name, at], repeated[name, at], prompt) for name, at, prompt in keys]


def _calls(found: Stats) -> list[tuple[Any, ...]]:
    """The most used first."""
    made = Counter(call.tool for call in found.calls)
    ended = Counter((call.tool, call.outcome) for call in found.calls)
    tokens: Counter[str] = Counter()
    for call in found.calls:
        tokens[call.tool] += call.result_tokens
    return [
        (tool, count, ended[tool, "failed"], ended[tool, "not run"], tokens[tool]) for tool, count in made.most_common()
    ]


def _cuts(found: Stats) -> list[tuple[Any, ...]]:
    freed: Counter[str] = Counter()
    for cut in found.cuts:
        freed[cut.strategy] += cut.freed_tokens
    return [(name, count, freed[name]) for name, count in Counter(cut.strategy for cut in found.cuts).most_common()]


def _refusals(found: Stats) -> list[tuple[Any, ...]]:
    recovered = Counter((one.severity, one.remedy) for one in found.refusals if one.is_recovered)
    met = Counter((one.severity, one.remedy) for one in found.refusals)
    return [(*key, count, recovered[key]) for key, count in met.most_common()]


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────


def sections(found: Stats) -> list[str]:
    """What there is to say, piece by piece; an empty piece is one of which nothing is to be said."""
    return [
        _head(found),
        _tokens(found),
        _reading(found),
        _calling(found),
        _cutting(found),
        _trouble(found),
        _times(found),
    ]


def _head(found: Stats) -> str:
    whose = f"Session {found.sessions[0]}" if len(found.sessions) == 1 else _many(len(found.sessions), "session")
    counted = (_many(len(found.tasks), "task"), _many(len(found.answers), "turn"), _many(found.records, "record"))
    lines = [f"{whose}: {', '.join(counted)}"]
    lines += [f"Not read to its end: {inert.clip(one.session)}: {inert.clip(one.reason, 400)}" for one in found.unread]
    return "\n".join(lines)


def _tokens(found: Stats) -> str:
    rows = [
        (f"{source.name} of {source.tool}" if source.tool else source.name, f.came_tokens, f.cut_tokens, f.sent_tokens)
        for source, f in sorted(found.flows.items(), key=lambda item: -item[1].sent_tokens)
    ]
    if not rows:
        return ""
    whole = found.flow
    rows.append(("in all", whole.came_tokens, whole.cut_tokens, whole.sent_tokens))
    table = _table(("tokens, about", "came in", "cut out", "sent, all turns"), rows)
    return f"{table}\nReported by the provider: {found.input_tokens} in, {found.output_tokens} out"


def _reading(found: Stats) -> str:
    if not found.reads:
        return ""
    savings = found.savings
    size = f"{found.average_read_lines:.0f} lines and about {found.average_read_tokens:.0f} tokens"
    whole, shown = f"about {savings.whole_tokens} tokens", f"about {savings.shown_tokens}"
    said = [
        f"{_many(len(found.reads), 'read')}, {found.reads_per_task:.1f} a task, {found.repeated_reads} repeated; each {size}",
        f"Files behind them: {savings.files}, {whole} as a whole, {shown} shown, {_saved(savings.saved_tokens)}",
    ]
    if len(found.sessions) == 1:
        rows = [(number, *counted, inert.clip(prompt, 60)) for _, number, *counted, prompt in _tasks(found)]
        said.append(_table(("task", "turns", "reads", "repeated", "prompt"), rows))
    return "\n".join(said)


def _saved(tokens: int) -> str:
    return f"about {tokens} saved" if tokens >= 0 else f"about {-tokens} more than the whole"


def _calling(found: Stats) -> str:
    return _table(("calls", "made", "failed", "not run", "result tokens, about"), _calls(found))


def _cutting(found: Stats) -> str:
    handoffs = [
        (f"{one.reason}: {one.evidence}" if one.evidence else one.reason, one.after_answer, one.freed_tokens)
        for one in found.handoffs
    ]
    tables = (
        _table(("cuts", "made", "tokens freed, about"), _cuts(found)),
        _table(("handoffs", "after turn", "tokens freed, about"), handoffs),
        _table(
            ("refusals", "met with", "refused", "recovered"),
            [(row[0], row[1] or "-", *row[2:]) for row in _refusals(found)],
        ),
    )
    return "\n\n".join(table for table in tables if table)


def _trouble(found: Stats) -> str:
    faults = ", ".join(f"{count} {inert.clip(kind)}" for kind, count in Counter(found.faults).most_common())
    waits = f"{_many(len(found.waits), 'wait')}, {sum(found.waits):.0f} seconds in all" if found.waits else ""
    return "\n".join(
        part for part in (f"Faults: {faults}" if faults else "", f"Waits: {waits}" if waits else "") if part
    )


def _times(found: Stats) -> str:
    from penstock.generated import CAPS

    rows = []
    for kind, count, median, longest, *held in found.response_times:
        least, most = CAPS[kind].seconds
        rows.append((kind, count, f"{median:.1f}", f"{longest:.1f}", *held, f"{least:.0f}-{most:.0f}"))
    head = ("response times", "answers", "median s", "longest s", "faster", "usual", "slower", "usual s")
    return _table(head, rows)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of numbers to the right, columns of words to the left; nothing where there are no rows."""
    cells = [[inert.clip(str(cell), 80) for cell in row] for row in rows]
    if not cells:
        return ""
    columns = list(zip(head, *cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    are_words = [not all(cell.lstrip("-")[:1].isdigit() for cell in column[1:]) for column in columns]
    aligned = (
        "  ".join(
            cell.ljust(width) if words else cell.rjust(width)
            for cell, width, words in zip(row, widths, are_words, strict=True)
        ).rstrip()
        for row in [head, *cells]
    )
    return "\n".join(aligned)


# ── the picture ──────────────────────────────────────────────────────────────────────────────────────────────────

_WIDTH, _HEIGHT = 960, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 930, 60, 300
# Greys and colours of middle lightness: 3.9:1 at least against white and against black.
_GREY, _LINE = "#808080", "#3584c4"
_CUT = "l -5 -9 h 10 z", "#c4682b"  # a triangle that points at its place
_HANDOFF = "m 0 -6 l 6 6 l -6 6 l -6 -6 z", "#a05fc0"  # a diamond around it


def picture(found: Stats) -> str:
    """How full the window was, as SVG: the requests as a line, the window as a rule, cuts and fresh starts as marks."""
    turns = [(one.number, one.request_tokens) for one in found.answers]
    window = max((one.window_tokens for one in found.answers), default=0)
    most_turns = max((number for number, _ in turns), default=1)
    most_tokens = max([1, window, *(tokens for _, tokens in turns)]) * 1.05

    def at(turn: float, tokens: float) -> tuple[float, float]:
        x = _LEFT + (_RIGHT - _LEFT) * (turn - 1) / max(1, most_turns - 1)
        return round(x, 1), round(_BOTTOM - (_BOTTOM - _TOP) * tokens / most_tokens, 1)

    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    title = f"Session {found.sessions[0]}: how full the window was"
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="sans-serif" {size}>',
        f"<title>{_xml(title)}</title>",
        _text(_LEFT, 28, title, size=16),
        _text(_LEFT, _TOP - 12, "tokens of a request"),
        _text(_RIGHT, _BOTTOM + 36, "turn (answer of the model)", anchor="end"),
        _rule(_BOTTOM),
        *(_text(at(turn, 0)[0], _BOTTOM + 18, str(turn), anchor="middle") for turn in sorted({1, most_turns})),
        _text(_LEFT - 8, _BOTTOM + 4, "0", anchor="end"),
    ]
    if window:
        y = at(1, window)[1]
        drawn += [
            _rule(y, dashes=' stroke-dasharray="6 4"'),
            _text(_LEFT - 8, y + 4, str(window), anchor="end"),
            _text(_RIGHT, y - 6, "window", anchor="end"),
        ]
    if turns:
        points = " ".join(f"{x},{y}" for x, y in (at(*turn) for turn in turns))
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{_LINE}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x}" cy="{y}" r="2.5" fill="{_LINE}"/>' for x, y in (at(*turn) for turn in turns)]
    marks = [(cut.after_answer, _CUT, f"cut by {cut.strategy}: {cut.freed_tokens} tokens") for cut in found.cuts]
    marks += [
        (one.after_answer, _HANDOFF, f"handoff, {one.reason}: {one.freed_tokens} tokens") for one in found.handoffs
    ]
    drawn += [_mark(*at(*_between(turns, after)), sign, said) for after, sign, said in marks]
    drawn += [
        _mark(_LEFT + 6, _BOTTOM + 32, _CUT),
        _text(_LEFT + 18, _BOTTOM + 36, f"cut ({len(found.cuts)})"),
        _mark(_LEFT + 106, _BOTTOM + 32, _HANDOFF),
        _text(_LEFT + 118, _BOTTOM + 36, f"handoff ({len(found.handoffs)})"),
        "</svg>",
    ]
    return "\n".join(drawn) + "\n"


def _between(turns: list[tuple[int, int]], after: int) -> tuple[float, float]:
    """Where on the line something is that happened after that turn: half of the way to the next, where there is one."""
    for (turn, tokens), (following, then) in pairwise(turns):
        if turn == after:
            return (turn + following) / 2, (tokens + then) / 2
    return turns[-1 if after else 0] if turns else (1, 0)


def _mark(x: float, y: float, sign: tuple[str, str], said: str = "") -> str:
    """What it stands for shows under the pointer."""
    shape, colour = sign
    inner = f"<title>{_xml(said)}</title>" if said else ""
    return f'<path d="M {x} {y} {shape}" fill="{colour}">{inner}</path>'


def _rule(y: float, dashes: str = "") -> str:
    return f'<line x1="{_LEFT}" y1="{y}" x2="{_RIGHT}" y2="{y}" stroke="{_GREY}"{dashes}/>'


def _text(x: float, y: float, said: str, *, anchor: str = "start", size: int = 13) -> str:
    return f'<text x="{x}" y="{y}" fill="{_GREY}" text-anchor="{anchor}" font-size="{size}">{_xml(said)}</text>'


def _xml(text: str) -> str:
    """Foreign text inside an element: inert, without what XML cannot hold."""
    from html import escape

    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in inert.clip(text)))
