"""How far are the runs of a queue? A page that renews itself shows tiles of the newest, and tables of all.

The page is made like those of sessions. Law: it contains no text of a program, an answer or a key; reasons are a provider's words,
and shown inert. Leaves to others: the figures (`progress`), and who is served (`cli.queue_page`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.inspection import words
from penstock.inspection.page import PageFrame, Tile, overview_page
from penstock.inspection.tables import PageListing, PageTable, Row, TableColumn
from penstock.text.notices import duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.scribe.queue.progress import RunProgress

RENEWED_SECONDS = 5
"""After how long the page asks for a newer one."""


def queue_page(seen: Sequence[RunProgress]) -> str:
    """Return the page of some runs as HTML, the newest first."""
    if not seen:
        return overview_page([], _frame("There is no run in this queue yet.", (), ()))
    newest = seen[0]
    lead = (
        f"{words.many(len(seen), 'run')}, the newest on {words.shown(newest.title)} with {words.shown(newest.model)}."
    )
    return overview_page([], _frame(lead, _tiles(newest), (_runs(seen), _causes(seen), _workers(newest))))


def wanted_page() -> str:
    """Return the page for visitors without the token, which says that one is needed."""
    said = "This page needs its token. Put it after a # at the end of the address: it is not sent with it."
    return overview_page([], _frame(said, (), ()))


def _frame(lead: str, tiles: tuple[Tile, ...], tables: tuple[PageTable, ...]) -> PageFrame:
    return PageFrame(
        title="What the workers do",
        brow="penstock queue",
        lead=lead,
        tiles=tiles,
        tables=tables,
        renewed_seconds=RENEWED_SECONDS,
    )


def _tiles(seen: RunProgress) -> tuple[Tile, ...]:
    """Return the six figures shown first."""
    serving = [one for one in seen.workers if one.serves]
    jobs = sum(one.jobs for one in serving)
    return (
        Tile("Chunks", words.number(seen.answered), f"of {words.number(seen.chunks)} answered, {seen.phase}"),
        Tile("Left", _left(seen), f"{seen.per_second:.1f} a second of late" if seen.per_second else ""),
        Tile("Failed", words.number(seen.failed), f"{words.many(len(seen.causes), 'cause')}" if seen.causes else ""),
        Tile("Workers", words.number(len(serving)), f"of {len(seen.workers)} seen serve it, {jobs} jobs at once"),
        Tile("Calls", words.number(seen.calls), f"{words.many(seen.late, 'answer')} came late and were dropped"),
        Tile("Money", "—" if seen.dollars is None else f"${seen.dollars:,.2f}", _to_come(seen)),
    )


def _left(seen: RunProgress) -> str:
    return "—" if seen.left_seconds is None else duration(round(seen.left_seconds))


def _to_come(seen: RunProgress) -> str:
    if seen.dollars is None:
        return "this model has no list price"
    if seen.to_come is None or not seen.open:
        return "by list prices"
    return f"${seen.to_come.expected:,.2f} to come, between {seen.to_come.low:,.2f} and {seen.to_come.high:,.2f}"


def _runs(seen: Sequence[RunProgress]) -> PageTable:
    columns = (
        TableColumn("Run", is_number=False),
        TableColumn("State", is_number=False),
        TableColumn("Files to survey", is_spare=True),
        TableColumn("Answered"),
        TableColumn("Failed"),
        TableColumn("Open"),
        TableColumn("Calls", is_spare=True),
        TableColumn("Dollars", is_spare=True),
    )
    rows = tuple(
        Row(
            (
                f"{one.id}",
                one.phase,
                *map(words.number, (one.files_waiting, one.answered, one.failed, one.open, one.calls)),
                "—" if one.dollars is None else f"{one.dollars:,.2f}",
            ),
            f"{words.shown(one.title)}, {words.shown(one.model)}",
        )
        for one in seen
    )
    return PageTable("Runs", "The newest first.", columns, (PageListing(rows, None),))


def _causes(seen: Sequence[RunProgress]) -> PageTable:
    title = "What failed"
    rows = tuple(
        Row(
            (words.shown(cause.name), words.number(cause.chunks), cause.retry_command(one.id)),
            f"run {one.id}: {words.shown(cause.example)}",
        )
        for one in seen
        for cause in one.causes
    )
    if not rows:
        return PageTable(title, "Nothing did.")
    columns = (
        TableColumn("Cause", is_number=False),
        TableColumn("Chunks"),
        TableColumn("Tried again with", is_number=False),
    )
    return PageTable(title, "Chunks without an answer, by cause.", columns, (PageListing(rows, None),))


def _workers(seen: RunProgress) -> PageTable:
    title = "Who works"
    if not seen.workers:
        return PageTable(title, "No worker was seen within a minute: penstock worker --queue URL")
    columns = (
        TableColumn("Worker", is_number=False),
        TableColumn("Version", is_number=False),
        TableColumn("Key", is_number=False),
        TableColumn("Jobs"),
        TableColumn("Serves the newest run", is_number=False),
    )
    rows = tuple(
        Row((words.shown(one.name), one.version, words.shown(one.key), str(one.jobs), "yes" if one.serves else "no"))
        for one in seen.workers
    )
    return PageTable(title, "Seen within a minute.", columns, (PageListing(rows, None),))
