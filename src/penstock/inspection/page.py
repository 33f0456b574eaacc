"""How does one HTML file show where a context went? `story_page` for one session, `overview_page` for many (X-2).

It opens from disk, requests nothing, and is complete without its script: Python draws, and the script only shows the bill of
another turn. Laws: no text of a session is markup; totals are sums of what is shown; the script receives only numbers. Leaves to
others: how a story is found (`telling`), and where the page is written.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.inspection import drawing, words
from penstock.inspection.story import KINDS
from penstock.inspection.tables import PageTable, tables, tokens_gone
from penstock.text import html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.inspection.story import FillTurn, Story, Subject

PAGE_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    # The rest of the policy is in the page, which also opens from disk; this one works only in a header.
    (b"content-security-policy", b"frame-ancestors 'none'"),
)
"""The headers that whoever serves such a page must send."""
_HEADROOM = 20  # one part in this many of a drawing is left free above its highest point
_SPARK_COLUMNS = 60  # a pixel each on a phone
_MAX_REFUSALS = 3


class OverviewRow(NamedTuple):
    """A session in the list of all sessions."""

    subject: Subject
    tokens: int | None
    """Tokens of a session's newest request; None if unknown."""
    window_tokens: int | None
    state: str
    """The state of a session in a word, one of `State` or another; empty if unknown."""
    points: tuple[int, ...] = ()
    """The size of each request, in order."""
    cuts: tuple[int, ...] = ()
    """After which requests something was cut, from 1."""
    refusals: tuple[int, ...] = ()
    """Which requests were refused, from 1."""
    link: str = ""
    """The address of its own page; empty if it has none."""


class PageFrame(NamedTuple):
    """What surrounds sessions that are not files: those that a server sees."""

    title: str = "Where the contexts went"
    brow: str = "Sessions"
    lead: str = ""
    """A sentence about what is listed; if empty, the number of sessions."""
    tiles: tuple[Tile, ...] = ()
    tables: tuple[PageTable, ...] = ()
    """Replaces the tables of a record; those of all sessions come after the list."""
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value of facts about one session, in place of what its file says."""
    remarks: tuple[str, ...] = ()
    up: str = ""
    """The address of the page of all sessions."""
    renewed_seconds: int = 0
    """After how many seconds the page asks its server for a newer one; 0 for a page that opens from disk."""


class Tile(NamedTuple):
    """A figure at the top of the page."""

    label: str
    value: str
    note: str = ""


class _Rule(NamedTuple):
    """A line across a drawing."""

    label: str
    top: str
    """Its distance from the top, in percent."""


class _Lane(NamedTuple):
    """Marks for one kind of event."""

    name: str
    style: str
    path: str
    said: str


class _ShownSlice(NamedTuple):
    """What one kind takes of a turn, with its figures."""

    piece: drawing.AreaSlice
    tokens: str
    share: str


class _Spark(NamedTuple):
    """A session as a small drawing."""

    columns: int
    fill: str
    window: int | None
    """The distance of the window from the top, in units of the frame."""
    cuts: str
    refusals: str


def row_of(subject: Subject, story: Story) -> OverviewRow:
    """Return a session with its story as a row of the overview."""
    newest = story.fill
    return OverviewRow(
        subject=subject,
        tokens=newest.tokens or None if newest is not None else None,
        window_tokens=story.window_tokens,
        state=story.state,
        points=tuple(turn.tokens for turn in story.turns),
        cuts=tuple(cut.turn for cut in story.compactions),
        refusals=tuple(refused.turn for refused in story.refusals),
    )


def story_page(subject: Subject, story: Story, frame: PageFrame = PageFrame()) -> str:  # noqa: B008 - a value
    """Return the page of one session as HTML.

    Args:
        subject: which session it is.
        story: where its context went.
        frame: what surrounds it.
    """
    columns = drawing.fullest(story.turns)
    peak = max((turn.tokens for turn in columns), default=0)
    top = max(1, story.window_tokens or 0, peak)
    top += top // _HEADROOM
    newest = story.fill
    return (
        _environment()
        .get_template("story.html")
        .render(
            policy=html.sealed_policy(_text("style.css"), _text("story.js")),
            name=words.shown(subject.session) or "session",
            frame=frame,
            facts=frame.facts or _facts(subject, story),
            tiles=_tiles(story),
            turns=len(story.turns),
            last_turn=words.number(len(story.turns)),
            columns=len(columns),
            bins=drawing.bins(len(story.turns)),
            height=drawing.HEIGHT,
            chart=_chart_words(story),
            bands=drawing.bands(columns, top),
            rules=[_Rule(words.short_number(at), _from_top(at, top)) for at in drawing.rules(top)],
            window=_window(story, top),
            lanes=_lanes(story),
            slices=_slices(story),
            told=words.told(newest, len(story.turns), story.window_tokens) if newest is not None else "",
            island=_island(story, columns),
            refusals=_refusals(story),
            tables=frame.tables or tables(story),
            remarks=[*_remarks(story), *frame.remarks],
        )
    )


def overview_page(rows: Sequence[OverviewRow], frame: PageFrame = PageFrame()) -> str:  # noqa: B008 - a value
    """Return the page of many sessions as HTML: one row each, in the order given.

    Args:
        rows: the sessions.
        frame: what surrounds them.
    """
    shown = [
        {
            "host": words.shown(row.subject.host),
            "session": words.shown(row.subject.session) or "session",
            "link": row.link,
            "project": words.shown(row.subject.project),
            "updated": _moment(row.subject.updated),
            "spark": _spark(row),
            "tokens": words.UNKNOWN if row.tokens is None else words.number(row.tokens),
            "share": words.percent(row.tokens, row.window_tokens) if row.tokens and row.window_tokens else "",
            "turns": words.number(len(row.points)),
            "cuts": words.number(len(row.cuts)),
            "refusals": words.number(len(row.refusals)),
            "is_refused": bool(row.refusals),
            "state": words.shown(row.state),
        }
        for row in rows
    ]
    hosts = len({row.subject.host for row in rows})
    lead = f"{words.many(len(rows), 'session')} of {words.many(hosts, 'program')}" if rows else "There are no sessions."
    sums = [
        sum(map(len, column)) for column in zip(*((row.points, row.cuts, row.refusals) for row in rows), strict=True)
    ]
    return (
        _environment()
        .get_template("overview.html")
        .render(
            policy=_policy(frame),
            frame=frame,
            rows=shown,
            lead=frame.lead or lead,
            sums=[words.number(one) for one in sums or (0, 0, 0)],
            height=drawing.HEIGHT,
        )
    )


def _policy(frame: PageFrame) -> str:
    """Return the policy of a page of all sessions; a page that is renewed may also show one session, with its script."""
    if not frame.renewed_seconds:
        return html.sealed_policy(_text("style.css"))
    return html.sealed_policy(_text("style.css"), _text("renewed.js"), _text("story.js"), asks_own=True)


@cache
def _environment() -> html.Environment:
    return html.environment("penstock.inspection")


@cache
def _text(name: str) -> str:
    """Return exactly what is between the tags of the style or the script."""
    return _environment().get_template(name).render()


# ── the head ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _facts(subject: Subject, story: Story) -> list[tuple[str, str]]:
    """Return what is known of the session itself, as names and values."""
    window = f"{words.number(story.window_tokens)} tokens" if story.window_tokens else words.UNKNOWN
    host = f"{subject.host} {subject.version}".strip()
    size = words.size(subject.size_bytes) if subject.size_bytes else ""
    found = (
        ("Program", words.shown(host)),
        ("Model", words.shown(story.model)),
        ("Window", f"{window}, {words.shown(story.window_source)}" if story.window_source else window),
        ("Project", words.shown(subject.project)),
        ("File", words.shown(subject.path) + (f" ({size})" if subject.path and size else "")),
        ("Size", "" if subject.path else size),  # a session in a database has no file
        ("Last written", _moment(subject.updated)),
    )
    return [(name, value) for name, value in found if value]


def _moment(at: str) -> str:
    """Return a time of RFC 3339 as people read it; anything else unchanged."""
    day, is_time, clock = at.partition("T")
    return words.shown(f"{day} {clock[:5]} UTC" if is_time and at.endswith(("Z", "+00:00")) else at)


def _tiles(story: Story) -> list[Tile]:
    """Return the six figures at the top of the page."""
    measured = sum(turn.is_measured for turn in story.turns)
    handoffs = sum(cut.is_handoff for cut in story.compactions)
    gone = f"{words.number(sum(map(tokens_gone, story.compactions)))} tokens removed" if story.compactions else ""
    money = story.money
    notes = []
    if money is not None and money.priced_turns:
        notes.append(f"as of {words.shown(money.as_of)}")
        if money.uncached_dollars > money.dollars:
            notes.append(f"${money.uncached_dollars:,.2f} without a cache")
    refused = story.refusals[-1].kind if story.refusals else ""
    return [
        Tile("Turns", words.number(len(story.turns)), f"{words.number(measured)} measured by the provider"),
        Tile("Fullest", *_fill(story, story.fullest)),
        Tile("Newest", *_fill(story, story.fill)),
        Tile("Refusals", words.number(len(story.refusals)), f"newest: {words.shown(refused)}" if refused else ""),
        Tile(
            "Compactions",
            words.number(len(story.compactions) - handoffs),
            ", ".join(part for part in (f"and {words.many(handoffs, 'handoff')}" if handoffs else "", gone) if part),
        ),
        Tile("Money", words.price(money), "; ".join(notes)),
    ]


def _fill(story: Story, turn: FillTurn | None) -> tuple[str, str]:
    """Return how full a turn was, and which turn it is."""
    if turn is None:
        return words.UNKNOWN, ""
    share = f", {words.percent(turn.tokens, story.window_tokens)} of the window" if story.window_tokens else ""
    return words.number(turn.tokens), f"tokens, turn {turn.number:,}{share}"


# ── the drawing ──────────────────────────────────────────────────────────────────────────────────────────────────


def _from_top(tokens: int, top_tokens: int) -> str:
    return f"{100 - 100 * tokens / top_tokens:.2f}%"


def _window(story: Story, top_tokens: int) -> _Rule | None:
    if not story.window_tokens:
        return None
    return _Rule(f"window {words.number(story.window_tokens)}", _from_top(story.window_tokens, top_tokens))


def _chart_words(story: Story) -> str:
    """Return the drawing in a sentence, for readers who do not see it."""
    peak = story.fullest
    if peak is None:
        return ""
    of = f" of a window of {words.number(story.window_tokens)}" if story.window_tokens else ""
    return (
        f"Tokens by kind over {words.many(len(story.turns), 'turn')}: "
        f"at most {words.number(peak.tokens)}{of}, in turn {peak.number:,}"
    )


def _lanes(story: Story) -> list[_Lane]:
    """Return the lanes that are not empty."""
    turns = len(story.turns)
    found = (
        ("cuts", "cut", [cut.turn for cut in story.compactions if not cut.is_handoff], "compaction"),
        ("refused", "refusal", [refused.turn for refused in story.refusals], "refusal"),
        ("handoffs", "handoff", [cut.turn for cut in story.compactions if cut.is_handoff], "handoff"),
    )
    return [
        _Lane(name, style, drawing.lane(at, turns), words.many(len(at), what))
        for name, style, at, what in found
        if at and turns
    ]


def _kinds(story: Story) -> list[str]:
    """Return the kinds that any turn has, in their order."""
    there = {kind for turn in story.turns for kind in turn.by_kind}
    return [kind for kind in KINDS if kind in there]


def _slices(story: Story) -> list[_ShownSlice]:
    """Return the bar of the newest turn, with its figures."""
    newest = story.fill
    if newest is None:
        return []
    pieces = drawing.slices(newest.by_kind, _kinds(story))
    whole = max(1, newest.tokens)
    return [_ShownSlice(piece, words.number(piece.tokens), words.percent(piece.tokens, whole)) for piece in pieces]


def _island(story: Story, columns: Sequence[FillTurn]) -> str:
    """Return the data for the script, as JSON.

    These are the indexes of the kinds, the tokens of each kind in the first turn and the changes after it, the refused turns, the
    turn of each column, and the window. It contains only digits, signs, brackets and `null`, so that escaping changes nothing and
    nothing in it can end its element. Differences take a third of the size of the figures themselves: most of what is in a window
    stays.
    """
    kinds = _kinds(story)
    steps = []
    for kind in kinds:
        amounts = [0, *(turn.by_kind.get(kind, 0) for turn in story.turns)]
        steps.append([then - before for before, then in pairwise(amounts)])
    refused = [turn.number for turn in story.turns if turn.is_refused]
    data = [
        [KINDS.index(kind) for kind in kinds],
        steps,
        refused,
        [turn.number for turn in columns],
        story.window_tokens,
    ]
    return json.dumps(data, separators=(",", ":"))


# ── remarks ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _refusals(story: Story) -> list[tuple[str, str]]:
    """Return the newest refusals: where, and in which words."""
    newest = story.refusals[-_MAX_REFUSALS:]
    return [(f"Turn {one.turn:,} was refused", words.shown(one.words) or one.kind) for one in newest]


def _remarks(story: Story) -> list[str]:
    """Return how the figures were found, and what of the record was not understood."""
    made = []
    measured = sum(turn.is_measured for turn in story.turns)
    if story.turns:
        of = f"{words.number(measured)} of {words.many(len(story.turns), 'turn')}"
        made.append(f"{of} were measured by the provider; the others are our count.")
    kinds = {kind for turn in story.turns for kind in turn.by_kind}
    if "unrecorded" in kinds:
        made.append(
            "Unrecorded is what the provider counted and no record shows: instructions that the host does not keep."
        )
    if "host" in kinds:
        made.append("Host is what the program says by itself: notes, reminders, its environment.")
    if story.torn:
        made.append(f"{words.many(story.torn, 'line')} of the file could not be read as records.")
    if story.too_large:
        made.append(f"{words.many(story.too_large, 'line')} of the file are too large to be read.")
    if story.unknown:
        known = ", ".join(words.shown(kind) for kind in list(story.unknown)[:5])
        made.append(
            f"{words.many(sum(story.unknown.values()), 'record')} are of kinds that are not known here: {known}."
        )
    if story.money is not None:
        of = f"{words.number(story.money.priced_turns)} of {words.many(len(story.turns), 'turn')}"
        made.append(f"Money is what list prices come to for {of}, never a bill.")
    return made


# ── the overview ─────────────────────────────────────────────────────────────────────────────────────────────────


def _spark(row: OverviewRow) -> _Spark | None:
    """Return a session as a small drawing; None if no request is known."""
    turns = len(row.points)
    if not turns:
        return None
    parts = drawing.buckets(turns, _SPARK_COLUMNS)
    highest = [max(row.points[at] for at in part) for part in parts]
    top = max(1, row.window_tokens or 0, *highest)
    window = drawing.HEIGHT - drawing.height_of(row.window_tokens, top) if row.window_tokens else None
    return _Spark(
        columns=len(parts),
        fill=drawing.silhouette(drawing.height_of(tokens, top) for tokens in highest),
        window=window,
        cuts=drawing.lane(row.cuts, turns, _SPARK_COLUMNS),
        refusals=drawing.lane(row.refusals, turns, _SPARK_COLUMNS),
    )
