"""Which tables say where a context went? The largest items, what was waste, and what compactions removed.

Law: a table's totals are the sums of its rows; surplus rows are combined into one. Leaves to others: markup (`templates`), and
which figures there are (`story`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.inspection.story import KINDS
from penstock.inspection.words import UNKNOWN, many, number, shown, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.inspection.story import CompactedAway, Item, Reread, Story

MAX_ROWS = 12
"""How many rows of a kind a table has before the others are combined."""
_MAX_NAMED = 3  # of what was needed again after a compaction


class TableColumn(NamedTuple):
    """A column of a table."""

    title: str
    is_number: bool = True
    is_spare: bool = False
    """Whether a column is dropped first if there is no room."""


class Row(NamedTuple):
    """A row of a table, a text for each column."""

    cells: tuple[str, ...]
    about: str = ""
    """What the first cell is about: a path, a command, words."""
    slot: int | None = None
    """The index in `KINDS`; None if it is not of one kind."""


class PageListing(NamedTuple):
    """Rows of one kind, and their sum."""

    rows: tuple[Row, ...]
    total: Row | None
    """None if there is nothing to add up."""
    heading: str = ""
    """Which kind, if a table has several."""


class PageTable(NamedTuple):
    """A table of a page."""

    title: str
    lead: str
    """What a table says as a whole, in a sentence."""
    columns: tuple[TableColumn, ...] = ()
    listings: tuple[PageListing, ...] = ()
    """None of them is empty; without any, the lead says everything."""


def tables(story: Story) -> tuple[PageTable, ...]:
    """Return the three tables of a story."""
    return largest(story), waste(story), removed(story)


# ── the largest items ────────────────────────────────────────────────────────────────────────────────────────────


def largest(story: Story) -> PageTable:
    """Return the items that took most, times the requests they were part of."""
    title = "What took most"
    if not story.items:
        return PageTable(title, "Nothing is recorded that was sent.")
    sent = sum(item.tokens * item.requests for item in story.items)
    lead = f"The {many(len(story.items), 'largest thing')} and the requests that each went with: {number(sent)} tokens sent."
    columns = (
        TableColumn("What", is_number=False),
        TableColumn("Since turn", is_spare=True),
        TableColumn("Tokens"),
        TableColumn("Requests"),
        TableColumn("Tokens sent"),
    )
    rows = [
        Row(
            (
                shown(item.name) or item.kind,
                number(item.turn),
                number(item.tokens),
                number(item.requests),
                number(size),
            ),
            shown(item.what),
            KINDS.index(item.kind),
        )
        for item, size in ((item, item.tokens * item.requests) for item in story.items[:MAX_ROWS])
    ]
    rest = story.items[MAX_ROWS:]
    if rest:
        left = (
            number(sum(item.tokens for item in rest)),
            "",
            number(sum(item.tokens * item.requests for item in rest)),
        )
        rows.append(Row((f"{number(len(rest))} smaller", "", *left)))
    total = Row(("Together", "", number(sum(item.tokens for item in story.items)), "", number(sent)))
    return PageTable(title, lead, columns, (PageListing(tuple(rows), total),))


# ── waste ────────────────────────────────────────────────────────────────────────────────────────────────────────


def waste(story: Story) -> PageTable:
    """Return what was in the window unnecessarily, by category; one item can be in several."""
    found = story.waste
    listings = (
        _listing(
            "Floods: results of a twentieth of the window or more",
            [_flood(item) for item in found.floods],
            [(1, item.tokens) for item in found.floods],
        ),
        _listing(
            "Asked again, with the answer still there",
            [_reread(one) for one in found.rereads],
            [(one.times - 1, one.tokens) for one in found.rereads],
        ),
        _listing(
            "Failed again in the same words",
            [Row((shown(one.name), number(one.times), ""), shown(one.words)) for one in found.repeated_errors],
            [(one.times, None) for one in found.repeated_errors],
        ),
        _listing(
            "Tools that were defined and never called",
            [Row((shown(one.name), "", number(one.tokens))) for one in found.unused_tools],
            [(None, one.tokens) for one in found.unused_tools],
        ),
        _unsent(story),
    )
    columns = (TableColumn("What", is_number=False), TableColumn("Times"), TableColumn("Tokens"))
    there = tuple(listing for listing in listings if listing is not None)
    lead = "One thing can be of several sorts, so the sorts are not added up." if there else "None was found."
    return PageTable("What was waste", lead, columns if there else (), there)


def _flood(item: Item) -> Row:
    return Row(
        (shown(item.name) or item.kind, number(1), number(item.tokens)), shown(item.what), KINDS.index(item.kind)
    )


def _reread(one: Reread) -> Row:
    return Row((shown(one.name) or UNKNOWN, number(one.times - 1), number(one.tokens)), shown(one.what))


def _listing(heading: str, rows: Sequence[Row], amounts: Sequence[tuple[int | None, int | None]]) -> PageListing | None:
    """Return rows with the count and tokens of each, surplus rows combined; None if there are none."""
    if not rows:
        return None
    made = list(rows[:MAX_ROWS])
    if len(rows) > MAX_ROWS:
        made.append(Row((f"{number(len(rows) - MAX_ROWS)} more", *_sums(amounts[MAX_ROWS:]))))
    return PageListing(tuple(made), Row((f"{number(len(rows))} in all", *_sums(amounts))), heading)


def _sums(amounts: Sequence[tuple[int | None, int | None]]) -> tuple[str, str]:
    """Return both sums; empty if no row has that figure."""
    times, tokens = ([one for one in column if one is not None] for column in zip(*amounts, strict=True))
    return number(sum(times)) if times else "", number(sum(tokens)) if tokens else ""


def _unsent(story: Story) -> PageListing | None:
    """Return what of the file is never sent, in bytes."""
    kinds = sorted(story.waste.unsent_bytes.items(), key=lambda pair: -pair[1])
    if not kinds:
        return None
    rows = [Row((shown(kind), "", size(count))) for kind, count in kinds[:MAX_ROWS]]
    if len(kinds) > MAX_ROWS:
        rows.append(Row((f"{len(kinds) - MAX_ROWS} more", "", size(sum(count for _, count in kinds[MAX_ROWS:])))))
    whole = sum(count for _, count in kinds)
    return PageListing(
        tuple(rows),
        Row(("In all", "", size(whole))),
        "In the file and never sent: copies, progress, what the screen showed",
    )


# ── compactions ──────────────────────────────────────────────────────────────────────────────────────────────────


def removed(story: Story) -> PageTable:
    """Return what each compaction and handoff removed, and what of it was needed again; if many, those that removed most."""
    title = "What compactions removed"
    cuts = story.compactions
    if not cuts:
        return PageTable(title, "There was none.")
    gone, again = sum(map(tokens_gone, cuts)), sum(map(tokens_again, cuts))
    lead = f"{number(gone)} tokens went in {many(len(cuts), 'cut')}; {number(again)} were asked for again."
    columns = (
        TableColumn("After turn", is_number=False),
        TableColumn("From", is_spare=True),
        TableColumn("To", is_spare=True),
        TableColumn("Removed"),
        TableColumn("Needed again"),
    )
    chosen = sorted(sorted(cuts, key=tokens_gone)[-MAX_ROWS:], key=lambda cut: cut.turn)
    rows = [_cut(cut) for cut in chosen]
    if len(cuts) > len(chosen):
        left = gone - sum(map(tokens_gone, chosen)), again - sum(map(tokens_again, chosen))
        rows.append(Row((f"{number(len(cuts) - len(chosen))} smaller", "", "", *map(number, left))))
    return PageTable(
        title, lead, columns, (PageListing(tuple(rows), Row(("Together", "", "", number(gone), number(again)))),)
    )


def _cut(cut: CompactedAway) -> Row:
    who = "handoff" if cut.is_handoff else {True: "by hand", False: "by the host", None: ""}[cut.by_hand]
    head = f"{cut.turn:,}, {who}" if who else f"{cut.turn:,}"
    sizes = (cut.before_tokens, cut.after_tokens, tokens_gone(cut), tokens_again(cut))
    went = ", ".join(f"{kind} {number(tokens)}" for kind in KINDS if (tokens := cut.by_kind.get(kind, 0)))
    named = "; ".join(f"{shown(one.name)} {shown(one.what)}".strip() for one in cut.needed_again[:_MAX_NAMED])
    about = [f"went: {went}" if went else "", f"again: {named}" if named else ""]
    return Row((head, *map(number, sizes)), " · ".join(part for part in about if part))


def tokens_gone(cut: CompactedAway) -> int:
    """Return how many tokens a compaction removed."""
    return sum(cut.by_kind.values())


def tokens_again(cut: CompactedAway) -> int:
    """Return how many tokens were asked for again after a compaction."""
    return sum(one.tokens for one in cut.needed_again)
