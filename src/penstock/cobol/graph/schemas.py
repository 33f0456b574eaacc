"""Which tables may be meant where a statement names no schema?

A statement that names no schema gets one when its program is bound; no source says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .values import NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .values import Certainty, EstateEdge

MAX_SCHEMAS = 8
"""The maximum number of schemas in which a table that is named without one is looked up; if more have it, none is reported."""
_NO_SCHEMA = "the statement names no schema, and the table may be {0}"


def in_schemas(edges: Sequence[EstateEdge], tables: Iterable[str]) -> Iterator[EstateEdge]:
    """Yield that an edge of a table without a schema may be one of each table of that name that has a schema.

    Args:
        edges: The edges of an estate.
        tables: The names of the tables that the estate creates, in capitals.
    """
    named = {end.name: None for edge in edges for end in (edge.source, edge.target) if end.kind == "table"}
    named |= dict.fromkeys(tables)
    of_schemas: dict[str, list[NodeId]] = {}
    for name in named:
        schema, _, bare = name.rpartition(".")
        if schema and bare in named:
            of_schemas.setdefault(bare, []).append(NodeId("table", name))
    for edge in edges if of_schemas else ():
        sure: Certainty = "may" if edge.certainty == "is" else edge.certainty
        for table in _perhaps(edge.source, of_schemas):
            yield edge._replace(source=table, certainty=sure, why=edge.why or _NO_SCHEMA.format(table))
        for table in _perhaps(edge.target, of_schemas):
            yield edge._replace(target=table, certainty=sure, why=edge.why or _NO_SCHEMA.format(table))


def _perhaps(node: NodeId, of_schemas: Mapping[str, list[NodeId]]) -> Sequence[NodeId]:
    """Return the tables that may be meant by a table without a schema."""
    found = of_schemas.get(node.name, ()) if node.kind == "table" else ()
    return found if len(found) <= MAX_SCHEMAS else ()
