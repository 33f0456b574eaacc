"""How do the items of a document become tables? This says how each kind of value is shown, and which columns are worth showing.

A column is a function from an item to its cell, or from all items to cells of one kind (`KindColumn`). Most columns show one
field, and the functions that make those (`code`, `plain`, `codes`, `words`) let a table be written as a list of titles and fields,
as `operations` does. Law: an item that has citations has them in its row, in the column `LINES`.
Leaves to others: which tables there are, and how one looks.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from penstock.scribe.pages.blocks import CitedLines, CodeSpan, ModelWords, TableBlock, TableColumn, Tag, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.scribe.pages.blocks import Block, Cell, CellKind, Piece
    from penstock.text.json_access import Json

    Column: TypeAlias = "Callable[[Json], Cell] | KindColumn"

MAX_LINES = 24
"""The most line numbers in a cell of an item's reads or writes; the JSON has all."""
DEEDS = ("create", "read", "update", "delete")
"""What a program can do with a resource, in the order of the letters of CRUD."""


class KindColumn(NamedTuple):
    """A column whose cells are all of one kind, and the function from the items to their cells."""

    kind: CellKind
    of: Callable[[Iterable[Json]], Iterable[Json]]


def table(
    items: Sequence[Json],
    columns: Mapping[str, Column],
    *,
    numbers: Sequence[str] = (),
    keeps_empty: bool = False,
    depth: Callable[[Json], int] | None = None,
    anchor: Callable[[Json], str] | None = None,
) -> list[Block]:
    """Return a table of the items with those columns that at least one item fills; nothing if there are no items.

    Args:
        items: One row each, in this order.
        columns: The title of each column, and its cells.
        numbers: The titles of the columns that are aligned right.
        keeps_empty: Whether columns that no item fills stay: they show that nobody does it.
        depth: How many steps the first cell of an item is indented; None to indent no item.
        anchor: The link target of an item's row, empty for a row that nothing links to; None for none at all.
    """
    if not items:
        return []
    made = [_column(title, column, items) for title, column in columns.items()]
    # Most programs have no REDEFINES and no words of a model: an empty column would take width from the others.
    kept = tuple([column for column in made if keeps_empty or any(column.cells)])
    return [
        TableBlock(
            kept,
            tuple([at for at, column in enumerate(kept) if column.title in numbers]),
            tuple(map(anchor, items)) if anchor is not None else (),
            tuple(map(depth, items)) if depth is not None else (),
        )
    ]


def _column(title: str, column: Column, items: Iterable[Json]) -> TableColumn:
    if isinstance(column, KindColumn):
        return TableColumn(title, column.kind, tuple(column.of(items)))
    return TableColumn(title, "pieces", tuple(map(column, items)))


def once(anchor: Callable[[Json], str]) -> Callable[[Json], str]:
    """Return the same anchors, but empty for an item whose anchor an earlier one has: ids are unique in a page."""
    taken: set[str] = set()

    def of(item: Json) -> str:
        made = anchor(item)
        if made in taken:
            return ""
        taken.add(made)
        return made

    return of


# ── cells of a value ─────────────────────────────────────────────────────────────────────────────────────────────


def code_cell(value: Json) -> Cell:
    """Return a value as words of the source; an empty cell if there is none."""
    return () if value is None or value == "" else (CodeSpan(str(value)),)


def plain_cell(value: Json) -> Cell:
    """Return a value as words of ours; an empty cell if there is none."""
    return () if value is None or value == "" else (str(value),)


def codes_cell(values: Iterable[Json]) -> Cell:
    """Return several words of the source, separated by commas."""
    return joined(CodeSpan(str(value)) for value in values)


def percent_cell(share: float | None) -> Cell:
    """Return the share of a model's claims that the code bore out; an empty cell if no model was asked."""
    return () if share is None else (f"{share:.0%} of what was claimed held",)


def not_found(document: Json) -> Cell:
    """Return the names of the missing copybooks, each as a mark."""
    return joined((Tag(name, "doubt") for name in document["copybooks_not_found"]), " ")


def lines(item: Json, path: str = "") -> Cell:
    """Return the citations of an item.

    Args:
        item: An item of a document with `citations`.
        path: The page whose lines are cited, without suffix; empty for the page with the cell.
    """
    return joined([CitedLines(at["first_line"], at["last_line"], path) for at in item["citations"]])


def spans(extents: Iterable[Json]) -> Iterator[Piece]:
    """Yield ranges of lines as citations: pairs of first and last line, or single lines."""
    for extent in extents:
        first, last = (extent[0], extent[-1]) if isinstance(extent, list) else (extent, extent)
        yield CitedLines(first, last)


def condition(item: Json) -> str:
    """Return a condition name (level 88) with its values as one line."""
    return f"{item['name']} = {', '.join(map(str, item['values']))}"


# ── columns of a field ───────────────────────────────────────────────────────────────────────────────────────────


def code(field: str) -> Column:
    """Return the column that shows a field as words of the source."""
    return KindColumn("code", partial(map, itemgetter(field)))


def plain(field: str) -> Column:
    """Return the column that shows a field as words of ours."""
    return KindColumn("plain", lambda items: [None if (value := item[field]) is None else str(value) for item in items])


def lower(field: str) -> Column:
    """Return the column that shows a COBOL keyword in lower case, as in prose."""
    return KindColumn("plain", lambda items: [(item[field] or "").lower() for item in items])


def codes(field: str) -> Column:
    """Return the column that shows a field's list as words of the source, separated by commas."""
    return KindColumn("codes", partial(map, itemgetter(field)))


def listed(field: str) -> Column:
    """Return the column that shows a field's list as words of ours, separated by commas."""
    return KindColumn("plain", lambda items: [", ".join(map(str, item[field])) for item in items])


def words(*fields: str) -> Column:
    """Return the column that shows what a model said about an item in those fields; empty if it was not asked."""
    return lambda item: words_cell(item, *fields)


def words_cell(item: Json, *fields: str) -> Cell:
    """Return what a model said about an item in those fields, each with the share of its claims that held."""
    return joined((ModelWords(item[field], item.get("confidence")) for field in fields if item.get(field)), " ")


def line_list(field: str) -> Column:
    """Return the column that shows a field's line numbers, at most `MAX_LINES` of them, and how many more there are."""

    def shown(items: Iterable[Json]) -> list[Json]:
        return [
            numbers
            if len(numbers := item[field]) <= MAX_LINES
            else [*numbers[:MAX_LINES], f" and {len(numbers) - MAX_LINES} more"]
            for item in items
        ]

    return KindColumn("lines", shown)


def _cited(items: Iterable[Json]) -> list[Json]:
    return [
        [
            first if (first := at["first_line"]) == (last := at["last_line"]) else (first, last)
            for at in item["citations"]
        ]
        for item in items
    ]


LINES = KindColumn("lines", _cited)
"""The column that shows the citations of an item, linked to the page's own source."""
