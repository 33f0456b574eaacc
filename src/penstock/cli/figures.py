"""What came of the sessions? `penstock stats`: the figures of the journal as tables, as an object, and as a picture."""

from __future__ import annotations

import shlex
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.cli.completion import complete_session
from penstock.cli.keeping import absent_folder, opened
from penstock.cli.sessions import SESSION_NAME, child_line
from penstock.cli.terminal import render_table
from penstock.errors import CallerError
from penstock.text import escape
from penstock.text.notices import counted, duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.agent.stats import AnswerRecord, Stats
    from penstock.session.degradation import Assessment
    from penstock.store import SessionInfo, Store

_MAX_SESSIONS = 10  # whose costs are shown side by side; a script gets all of them
# Each row takes the reading of a whole journal.
MAX_ROWS = 500
"""How many sessions the page of all sessions lists."""


@command("stats")
@click.argument("session_id", metavar="[ID]", type=SESSION_NAME, required=False, shell_complete=complete_session)
@click.option(
    "--svg",
    "picture_file",
    type=options.OWN_FILE,
    metavar="FILE",
    help="Write a chart of how full the window was, answer by answer.",
)
@click.option("--html", "page_file", type=options.OWN_FILE, metavar="FILE", help="Write a self-contained HTML page.")
@options.store_option
def stats_command(
    session_id: str | None, picture_file: str | None, page_file: str | None, store_url: str | None, as_json: bool
) -> int:
    """Show what happened in session ID, or in all sessions.

    Shows tokens by source, reads, calls, cuts, refusals, waits and times, and what a context of that size costs. Sizes are
    estimates unless a provider reported them. The HTML page shows what filled the window over the turns of ID; without ID it
    lists all sessions. The exit status is 6 if a journal could not be read to its end; what precedes the damage is counted.

    Examples:
      penstock stats
        all sessions of the store together
      penstock stats ID --html story.html
        one session, and a page that shows what filled its window
    """
    from penstock.agent.picture import picture
    from penstock.agent.stats import together
    from penstock.agent.summaries import figures_of

    there = options.store_words(store_url)
    none_yet = partial(
        answer.fail, "nothing", "There are no sessions yet.", f'penstock run "QUESTION"{there}', answer.NOTHING
    )
    if absent_folder(store_url) is not None:  # none is created just to be looked at
        return none_yet(as_json=as_json)
    with opened(store_url) as store:
        infos = store.sessions()
        names = [info.session for info in infos]
        if not names:
            return none_yet(as_json=as_json)
        if session_id is not None and session_id not in names:
            message = f"There is no session {escape.clip(session_id)}."
            return answer.fail("not_found", message, f"penstock sessions{there}", answer.MISSING, as_json=as_json)
        chosen = names if session_id is None else [session_id]
        if picture_file is not None and len(chosen) > 1:
            way = f"penstock stats {shlex.quote(names[0])} --svg {shlex.quote(picture_file)}{there}"
            return answer.fail("usage", "A picture shows one session.", way, answer.USAGE, as_json=as_json)
        each = list(figures_of(store, chosen))
        found = together(stats for stats, _ in each)
        children = [(name, child) for name, (_, some) in zip(chosen, each, strict=True) for child in some]
        made = {"svg": (picture_file, picture(found))} if picture_file is not None else {}
        if page_file is not None:
            made["html"] = page_file, _page(store, [info for info in infos if info.session in chosen], session_id)
    for file, text in made.values():
        if (failed := _written(file, text)) is not None:
            return answer.fail("io_error", failed, None, answer.FAULT, as_json=as_json)
    if as_json:
        rows = [{"session": name, **child._asdict()} for name, child in children]
        answer.print_json(stats_json(found) | {"children": rows} | {kind: file for kind, (file, _) in made.items()})
    else:
        click.echo("\n\n".join(section for section in sections(found) if section))
        if children:
            spent = sum(child.spent_tokens for _, child in children)
            lines = [f"Child agents: {len(children)}, {spent} tokens in all, in addition to those above"]
            click.echo("\n" + "\n".join([*lines, *(f"  {child_line(child)}" for _, child in children)]))
        for kind, (file, _) in made.items():
            click.echo(f"\nThe {'picture' if kind == 'svg' else 'page'} is in {escape.clip(file)}")
    return answer.PARTIAL if found.unread else 0


def _page(store: Store, infos: Sequence[SessionInfo], session_id: str | None) -> str:
    """Return the page of the requested session, or of all, the last used first."""
    from penstock.agent.timeline import story_of
    from penstock.inspection.page import PageFrame, overview_page, row_of, story_page

    if session_id is not None:
        return story_page(*story_of(store, infos[0]))
    # Row by row: the stories of all sessions at once would not fit in memory.
    rows = [row_of(*story_of(store, info)) for info in infos[:MAX_ROWS]]
    left_out = f"The {counted(len(rows), 'session')} last used, of {len(infos)}" if len(infos) > len(rows) else ""
    return overview_page(rows, PageFrame(lead=left_out))


def _written(file: str, text: str) -> str | None:
    """Write a file of the user's own; return why it cannot be written, or None.

    A missing folder counts as a disk that cannot be written, not as a missing file.
    """
    from penstock.workspace.own_files import replace_drawn

    try:
        replace_drawn(file, text.encode())
    except OSError as error:
        return f"{escape.clip(file)} cannot be written: {error.strerror}"
    return None


# ── for scripts ──────────────────────────────────────────────────────────────────────────────────────────────────


def stats_json(found: Stats) -> dict[str, Any]:
    """Return all figures as JSON."""
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
                **answer.fields_of(flow, "came_tokens", "cut_tokens", "sent_tokens"),
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
                **answer.fields_of(handoff, "session", "reason", "evidence", "freed_tokens"),
                "after_turn": handoff.after_answer,
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
                **answer.fields_of(one, "session", "request_tokens", "window_tokens"),
                "turn": one.number,
                "reported": one.is_reported,
            }
            for one in found.answers
        ],
        "cost_against_size": [_cost_json(one, assessment) for one, assessment in _assessments(found)],
        "unread": [answer.fields_of(one, "session", "newest_sound", "reason") for one in found.unread],
    }


def _cost_json(one: AnswerRecord, assessment: Assessment) -> dict[str, Any]:
    """Return what a session's context cost at its newest answer, with each statement and its basis."""
    return {
        **answer.fields_of(one, "session", "window_tokens"),
        "tokens": one.request_tokens,
        "reported": one.is_reported,
        "cost": assessment.cost._asdict(),
        "pressure": assessment.pressure.name,
        "statements": [{"known": word, "text": text} for word, text in assessment.statements],
    }


def _assessments(found: Stats) -> list[tuple[AnswerRecord, Assessment]]:
    """Return for each session its newest answer, and the assessment of a context of that size in that window.

    The policy is the session's own: the limits of its profile, not those of the default one.
    """
    from penstock.session.degradation import Points, assess

    newest = {one.session: one for one in found.answers}  # a later answer replaces an earlier one
    assessed: list[tuple[AnswerRecord, Assessment]] = []
    for one in newest.values():
        with suppress(CallerError):  # a provider may report any number; an impossible one has no assessment
            assessed.append((one, assess(one.request_tokens, one.window_tokens, Points(policy=one.limits))))
    return assessed


# Rows are made once: a script gets them under these keys, a person under the heads of the tables below.
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
    """Return a row for each tool, the most used first."""
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
    """Return the sections of the report; an empty one is left out."""
    return [
        _head(found),
        _tokens(found),
        _reading(found),
        _calling(found),
        _cutting(found),
        _trouble(found),
        _times(found),
        _cost(found),
    ]


def _head(found: Stats) -> str:
    whose = f"Session {found.sessions[0]}" if len(found.sessions) == 1 else counted(len(found.sessions), "session")
    sizes = (counted(len(found.tasks), "task"), counted(len(found.answers), "turn"), counted(found.records, "record"))
    lines = [f"{whose}: {', '.join(sizes)}"]
    lines += [
        f"Not read to its end: {escape.clip(one.session)}: {escape.clip(one.reason, 400)}" for one in found.unread
    ]
    return "\n".join(lines)


def _tokens(found: Stats) -> str:
    rows = [
        (f"{source.name} of {source.tool}" if source.tool else source.name, f.came_tokens, f.cut_tokens, f.sent_tokens)
        for source, f in sorted(found.flows.items(), key=lambda item: -item[1].sent_tokens)
    ]
    if not rows:
        return ""
    # The last row adds up the others: what came in less what was cut out is what the next request shows.
    whole = found.flow
    rows.append(("in all", whole.came_tokens, whole.cut_tokens, whole.sent_tokens))
    table = render_table(("tokens, about", "came in", "cut out", "sent, all turns"), rows)
    return f"{table}\nReported by the provider: {found.input_tokens} in, {found.output_tokens} out"


def _reading(found: Stats) -> str:
    if not found.reads:
        return ""
    savings = found.savings
    size = f"{found.average_read_lines:.0f} lines and about {found.average_read_tokens:.0f} tokens"
    whole, shown = f"about {savings.whole_tokens} tokens", f"about {savings.shown_tokens}"
    said = [
        f"{counted(len(found.reads), 'read')}, {found.reads_per_task:.1f} a task, {found.repeated_reads} repeated; each {size}",
        f"The files they read: {savings.files}, {whole} as a whole, {shown} shown, {_saved(savings.saved_tokens)}",
    ]
    if len(found.sessions) == 1:
        # Tasks of several sessions would have the same numbers, so only one session shows its own.
        rows = [(number, *figures, prompt) for _, number, *figures, prompt in _tasks(found)]
        said.append(render_table(("task", "turns", "reads", "repeated", "prompt"), rows))
    return "\n".join(said)


def _saved(tokens: int) -> str:
    return f"about {tokens} saved" if tokens >= 0 else f"about {-tokens} more than the whole"


def _calling(found: Stats) -> str:
    return render_table(("calls", "made", "failed", "not run", "result tokens, about"), _calls(found))


def _cutting(found: Stats) -> str:
    handoffs = [
        (f"{one.reason}: {one.evidence}" if one.evidence else one.reason, one.after_answer, one.freed_tokens)
        for one in found.handoffs
    ]
    tables = (
        render_table(("cuts", "made", "tokens freed, about"), _cuts(found)),
        render_table(("handoffs", "after turn", "tokens freed, about"), handoffs),
        render_table(
            ("refusals", "met with", "refused", "recovered"),
            [(row[0], row[1] or "-", *row[2:]) for row in _refusals(found)],
        ),
    )
    return "\n\n".join(table for table in tables if table)


def _trouble(found: Stats) -> str:
    faults = ", ".join(f"{count} {escape.clip(kind)}" for kind, count in Counter(found.faults).most_common())
    waits = f"{counted(len(found.waits), 'wait')}, {duration(sum(found.waits))} in all" if found.waits else ""
    return "\n".join(
        part for part in (f"Faults: {faults}" if faults else "", f"Waits: {waits}" if waits else "") if part
    )


def _times(found: Stats) -> str:
    from penstock.session.generated_code import CAPS

    rows = []
    for kind, count, median, longest, *held in found.response_times:
        least, most = CAPS[kind].seconds
        rows.append((kind, count, f"{median:.1f}", f"{longest:.1f}", *held, f"{least:.0f}-{most:.0f}"))
    head = ("response times", "answers", "median s", "longest s", "faster", "usual", "slower", "usual s")
    return render_table(head, rows)


def _cost(found: Stats) -> str:
    """Return what the context costs at its size: every statement for one session, a row each for the fullest of several."""
    from penstock.session.degradation import ADVICE

    assessed = _assessments(found)
    if len(found.sessions) == 1:
        return "".join(f"cost against size: {assessment}" for _, assessment in assessed)
    # The session nearest to its window comes first: a big context in a bigger window is no problem.
    assessed.sort(key=lambda pair: -pair[0].request_tokens / pair[0].window_tokens)
    rows = [
        (one.session, one.request_tokens, one.window_tokens, f"{a.cost.low:.0f}-{a.cost.high:.0f}", ADVICE[a.pressure])
        for one, a in assessed[:_MAX_SESSIONS]
    ]
    head = ("cost against size", "tokens", "window", "next call, in plain input", "policy")
    left = len(assessed) - len(rows)
    more = f"\nand {counted(left, 'session')} less full" if left else ""
    return render_table(head, rows) + more
