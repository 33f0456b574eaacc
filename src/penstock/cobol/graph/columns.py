"""Which table columns are too short for a field that grows, and what receives them from there?

A column is as long as the DDL or the DCLGEN of its table says. One that would have to be longer is read into fields of other
programs, which are then too short. Leaves to others: what statements say about columns (`facts.hosted`), and fields (`growth`).

Law: a column reported as too short has room for the field of today but not for the longer one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .shortages import Sizes, shortage
from .sizes import SQL_TIMES, size_of_column
from .values import CitedLine, EstateEdge, NodeId, by_field, less_sure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .consequences import Wave
    from .estates import EstateGraph
    from .growing import GrowingEstate
    from .sizes import Size
    from .values import Certainty, ColumnUse, ProgramPart


class LongerColumn(NamedTuple):
    """A column that would have to be longer."""

    sizes: Sizes
    wave: Wave
    read: tuple[EstateEdge, ...]
    """The edges from the column to the fields that it is read into."""


class _Column(NamedTuple):
    """A column of a table."""

    node: NodeId
    size: Size
    declared: CitedLine
    certainty: Certainty = "is"
    """`may` if its declarations differ in length, or it holds dates or times, which each database writes in its own way."""


class Columns:
    """Reports columns that are too short.

    Args:
        estate: The estate in which fields grow.
    """

    def __init__(self, estate: GrowingEstate) -> None:
        graph, self._found = estate.graph, estate.found
        self._declared: dict[tuple[str, str], list[_Column]] = {}
        """By the name of the table without its schema, and the name of the column or its position."""
        for member in graph.members:
            for table in member.tables:
                cited = CitedLine(member.path, table.line, None, table.end_line)
                for at, column in enumerate(table.columns, 1):
                    size, name = size_of_column(column.type), column.name.upper()
                    if size is not None:
                        node = NodeId("table", f"{table.name.upper()}.{name}")
                        sure: Certainty = "may" if column.type.strip().upper() in SQL_TIMES else "is"
                        for said in (name, f"{at}/{len(table.columns)}"):
                            self._declared.setdefault((_bare(table.name.upper()), said), []).append(
                                _Column(node, size, cited, sure)
                            )
        self._uses = by_field(graph.parts, lambda part: part.columns)
        self._of: dict[str, list[ColumnUse]] = {}
        self._read: dict[tuple[str, str], list[tuple[NodeId, ColumnUse]]] = {}
        for part in graph.parts:
            for use in part.columns:
                name = part.fields[use.field].name
                self._of.setdefault(name, []).append(use)
                if use.way == "read":
                    self._read.setdefault((_bare(use.table), use.column), []).append((NodeId("field", name), use))

    def stored(self, part: ProgramPart, at: int, sizes: Sizes, wave: Wave) -> Iterator[LongerColumn]:
        """Report the columns that are too short for a field stored in them or compared with them; yield those it is stored in.

        Args:
            part: The program.
            at: The index of the field.
            sizes: How much it holds today, and after growing.
            wave: How it comes to grow.
        """
        node = part.fields[at].node
        for use in self._uses.get((id(part), at), ()):
            column = self._column(use)
            short = None if column is None else shortage(sizes, Sizes.of_unchanged(column.size))
            if use.way == "read" or column is None or short is None or short.is_cut or short.size is None:
                continue
            digits = (column.size.digits, short.size.digits) if column.size.is_number else (None, None)
            lengths, cited = (column.size.bytes, short.size.bytes), (*use.citations, column.declared)
            if use.way == "compared":
                why = f"{node} is compared with it"
                self._found.add("compared", column.node, lengths, wave.steps + 1, why, cited, "may", digits)
                continue
            sure = less_sure(wave.certainty, column.certainty)
            why = f"{node} is stored in it"
            self._found.add("column", column.node, lengths, wave.steps + 1, why, cited, sure, digits)
            name = column.node.name.rpartition(".")[2]
            why = f"its column {name} is too short for {node}"
            self._found.add("table", NodeId("table", use.table), (None, None), wave.steps, why, cited, sure)
            read = tuple(
                EstateEdge(column.node, "moves to", other, "is", (*said.citations, column.declared))
                for other, said in self._read.get((_bare(use.table), name), ())
                if not _is_of_another_schema(said.table, use.table)
            )
            longer = wave._replace(
                size=short.size, certainty=sure, steps=wave.steps + 1, causes=(*wave.causes, column.node)
            )
            yield LongerColumn(Sizes(column.size, short.size), longer, read)

    def have_room(self, node: NodeId, table: NodeId, now: Size | None, then: Size | None) -> bool:
        """Return whether all columns of a table that a field is stored in are known, and have room for the longer field."""
        if now is None or then is None:
            return False
        uses = [
            one for one in self._of.get(node.name, ()) if one.way == "stored" and _bare(one.table) == _bare(table.name)
        ]
        columns = [self._column(use) for use in uses]
        return bool(columns) and all(
            one is not None and shortage(Sizes(now, then), Sizes.of_unchanged(one.size)) is None for one in columns
        )

    def _column(self, use: ColumnUse) -> _Column | None:
        """Return the shortest column that a use may mean; None if no source declares it."""
        found = self._declared.get((_bare(use.table), use.column), ())
        meant = [one for one in found if one.node.name.rpartition(".")[0] == use.table] or found
        shortest = min(meant, key=lambda one: (one.size.room, one.node), default=None)
        is_one = len({one.size.room for one in meant}) == 1
        return shortest if shortest is None or is_one else shortest._replace(certainty="may")


def column_named(graph: EstateGraph, name: str) -> tuple[list[str], list[str]]:
    """Return the tables that have a column, and the fields that are stored in it or read from it, each once.

    Args:
        graph: The graph.
        name: The column, also with its table, and that with its schema, in any case.
    """
    of, _, column = name.upper().rpartition(".")
    tables: dict[str, None] = {}
    places: set[tuple[str, str]] = set()
    """What INSERTs by position call the column, by the name of its table without schema."""
    for table in (table for member in graph.members for table in member.tables):
        said = table.name.upper()
        for at, one in enumerate(table.columns, 1):
            if one.name.upper() == column and not _is_of_another_schema(of, said):
                tables.setdefault(said)
                places.add((_bare(said), f"{at}/{len(table.columns)}"))
    fields: dict[str, None] = {}
    for part in graph.parts:
        for use in part.columns:
            is_it = use.column == column or (_bare(use.table), use.column) in places
            if is_it and not _is_of_another_schema(of, use.table):
                fields.setdefault(part.fields[use.field].name)
                if all(_is_of_another_schema(one, use.table) for one in tables):
                    tables.setdefault(use.table)
    return list(tables), list(fields)


def _is_of_another_schema(one: str, other: str) -> bool:
    """Return whether two statements name tables of two schemas; one that leaves out the schema, or its place, may mean any."""
    parts = zip(reversed(one.split(".")), reversed(other.split(".")), strict=False)
    return any(a and b and a != b for a, b in parts)


def _bare(table: str) -> str:
    """Return the name of a table without its schema."""
    return table.replace('"', "").rpartition(".")[2]
