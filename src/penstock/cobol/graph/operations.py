"""What does a program do with shared resources: tables, files and queues of CICS, maps, segments, records, containers?

Leaves to others: files that a job binds, and calls (`programs`). Law: every edge cites the statement that says it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..facts.columns import columns
from ..facts.host_variables import dotted
from ..facts.hosted import host_columns
from ..facts.interface import CICS_DEEDS, DLI_DEEDS, MQ_DEEDS, NETWORK_DEEDS, SQL_DEEDS
from ..program import key
from .values import CitedLine, ColumnUse, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..facts.resources import CicsOperation, DliOperation, MqOperation, NetworkOperation, Resolved, SqlOperation
    from ..facts.values import Facts
    from .values import Certainty, Kind, Verb


def verb_of(deed: str) -> Verb:
    """Return the verb of an edge to a resource that a statement creates, reads, updates or deletes records of."""
    return "reads" if deed == "read" else "writes"


_CICS: dict[str, tuple[Verb, Kind]] = {
    **{command: (verb_of(deed), "queue" if "Q T" in command else "file") for command, deed in CICS_DEEDS.items()},
    "SEND MAP": ("sends", "map"),
    "RECEIVE MAP": ("receives", "map"),
    "PUT CONTAINER": ("writes", "container"),
    "GET CONTAINER": ("reads", "container"),
}
# IDMS and similar databases: whether a verb fills the record's area in the program, or sends it.
_BRINGING = frozenset({"OBTAIN", "FETCH", "GET", "LOCK", "SECURE", "DBGET"})
_SENDING = frozenset({"STORE", "MODIFY", "DBPUT", "DBUPDATE"})
# A host variable followed by its indicator, which marks a null and is not the value of a column.
_HOST = r"[A-Za-z0-9][\w$#@\-]*+(?:\.[A-Za-z0-9][\w$#@\-]*+)?"
_INDICATOR = re.compile(rf":\s*+{_HOST}\s*+(?:INDICATOR\s*+)?:\s*+({_HOST})", re.IGNORECASE)
_NAMES = re.compile(rf":\s*+({_HOST})")
_WHERE = re.compile(r"\bWHERE\b", re.IGNORECASE)
_LITERAL = re.compile(r"'(?>(?:[^']|'')*)'")


class DrawnProgram(NamedTuple):
    """The properties of a program that its operations need."""

    program: NodeId
    path: str
    field: Callable[[str], int | None]
    """Returns the index of the item that a text names; None if there is none."""
    names: Sequence[str]
    """The names of the nodes of the items, "" for a FILLER."""


def operations(facts: Facts, program: DrawnProgram) -> Iterator[EstateEdge]:
    """Yield the edges of a program's operations, statement by statement."""
    cursors = {key(one.cursor): one for one in facts.sql if one.operation == "DECLARE CURSOR" and one.cursor}
    for statement in facts.sql:
        yield from _sql(statement, cursors, program)
    for command in facts.cics:
        yield from _cics(command, program)
    for call in facts.dli:
        yield from _dli(call, program)
    for navigated in facts.network:
        yield from _network(navigated, program)
    for asked in facts.mq:
        yield from _mq(asked, program)


def column_uses(facts: Facts, program: DrawnProgram) -> Iterator[ColumnUse]:
    """Yield the uses of table columns by the items of a program, from its static SQL."""
    cursors = {key(one.cursor): one.text for one in facts.sql if one.operation == "DECLARE CURSOR" and one.cursor}
    for one in facts.sql:
        asked = cursors.get(key(one.cursor), "") if one.operation == "FETCH" and one.cursor else ""
        for said in host_columns(one.text, asked):
            group, _, item = said.host.rpartition(".")
            index = program.field(f"{item} OF {group}" if group else item)
            if index is not None and program.names[index]:
                yield ColumnUse(index, said.way, said.table, said.column, _cited(one, program))


def _sql(one: SqlOperation, cursors: dict[str, SqlOperation], program: DrawnProgram) -> Iterator[EstateEdge]:
    """Yield which tables a statement reads and writes, and which fields go into them and come from them."""
    cited = _cited(one, program)
    tables = [NodeId("table", key(table)) for table in one.tables]
    if one.prepared or one.unknown:
        yield from _dynamic(one, program)
    else:
        yield from sql_edges(program.program, one.operation, tables, "is", cited)
    declared = cursors.get(key(one.cursor)) if one.operation == "FETCH" and one.cursor else None
    if one.operation == "FETCH":
        tables = [NodeId("table", key(table)) for table in declared.tables] if declared is not None else []
    indicators = {key(name) for name in _INDICATOR.findall(dotted(one.text))}
    several = "" if len(tables) == 1 else "the statement reads several tables"
    if declared is not None and not declared.is_sure:
        several = "the text of the statement is data"
    if one.operation in {"SELECT", "FETCH"}:
        asked = one if declared is None else declared
        fields = list(_fields(one.writes, indicators, program))
        said = columns(asked.text) if len(tables) > 1 else ()
        for field, own in zip(fields, said if len(said) == len(fields) else [None] * len(fields), strict=True):
            if field is None:
                continue
            of = tables if own is None else [table for table in tables if table.name in own]
            why = "" if own is not None and len(own) == 1 and asked.is_sure else several
            for table in of:
                yield EstateEdge(table, "moves to", field, "may" if why else "is", cited, why)
    elif one.operation in {"INSERT", "UPDATE", "DELETE", "MERGE"} and tables:
        for field in filter(None, _fields(one.writes, indicators, program)):
            yield EstateEdge(tables[0], "moves to", field, "is", cited)
        sent = _sent(one) if one.operation != "DELETE" else ()
        certainty: Certainty = "is" if one.operation != "MERGE" else "may"
        why = "" if certainty == "is" else "a MERGE takes some values to compare with"
        for field in filter(None, _fields(sent, indicators, program)):
            yield EstateEdge(field, "moves to", tables[0], certainty, cited, why)


def sql_edges(
    who: NodeId,
    operation: str,
    tables: Sequence[NodeId],
    certainty: Certainty,
    cited: tuple[CitedLine, ...],
    why: str = "",
) -> Iterator[EstateEdge]:
    """Yield what an SQL statement does to its tables.

    Args:
        who: The program or step that runs it.
        operation: Its verb.
        tables: The tables that it names, in order.
        certainty: How certain the edges are.
        cited: The citations of the statement.
        why: Why the edges are not certain.
    """
    deeds = SQL_DEEDS.get(operation)
    if deeds is not None:
        # The table that is written is named first; those in sub-selects, and after the USING of a MERGE, are read.
        for at, table in enumerate(tables):
            yield EstateEdge(who, "reads" if at else verb_of(deeds[0]), table, certainty, cited, why)


def _dynamic(one: SqlOperation, program: DrawnProgram) -> Iterator[EstateEdge]:
    """Yield what a statement whose text is data may do."""
    cited = _cited(one, program)
    why = "" if one.is_sure else one.unknown or f"the text is data: {len(one.prepared)} texts are possible"
    for made in one.prepared:
        tables = [NodeId("table", key(table)) for table in made.tables]
        given = CitedLine(program.path, made.said.line, made.said.copybook)
        yield from sql_edges(
            program.program, made.operation, tables, "is" if one.is_sure else "may", (*cited, given), why
        )
    if one.unknown and one.reads:
        field = _field(" OF ".join(reversed(one.reads[0].split("."))), program)
        if field is not None:
            yield EstateEdge(program.program, "runs", field, "unknown", cited, one.unknown)


def _cited(
    one: SqlOperation | CicsOperation | DliOperation | NetworkOperation | MqOperation, program: DrawnProgram
) -> tuple[CitedLine, ...]:
    """Return the citation of a statement."""
    return (CitedLine.spanning(program.path, one.line, one.end_line, one.copybook),)


def _named_at(values: Iterable[Resolved], program: DrawnProgram) -> Iterator[CitedLine]:
    """Yield where the data gets a name."""
    return (CitedLine(program.path, value.line, value.copybook) for value in values)


def _sent(one: SqlOperation) -> tuple[str, ...]:
    """Return the host variables whose values a statement stores: those after WHERE only select, and RETURNING fills others."""
    text = _LITERAL.sub("''", dotted(one.text))
    where = _WHERE.search(text)
    names = dict.fromkeys(_NAMES.findall(text[: where.start()] if where else text))
    return tuple(name for name in names if name in one.reads)


def _fields(names: Sequence[str], indicators: set[str], program: DrawnProgram) -> Iterator[NodeId | None]:
    """Yield the fields that host variables name, without indicators; None for a name that nothing here declares."""
    for name in names:
        if key(name) not in indicators:
            group, _, item = name.rpartition(".")
            yield _field(f"{item} OF {group}" if group else item, program)


def _field(text: str, program: DrawnProgram) -> NodeId | None:
    """Return the node of the item that a text names; None if there is none."""
    index = program.field(text)
    return NodeId("field", program.names[index]) if index is not None and program.names[index] else None


def _cics(one: CicsOperation, program: DrawnProgram) -> Iterator[EstateEdge]:
    """Yield what a command does with a file, queue, map or container, and the fields that it fills or sends."""
    known = _CICS.get(one.command)
    if known is None or not one.resource:
        return
    verb, kind = known
    cited = (*_cited(one, program), *_named_at(one.resolved, program))
    for name, certainty, why in _named(one.resource, one.resolved, one.is_sure, one.unknown, program):
        named = NodeId(kind, _map(one, name) if kind == "map" else name)
        node = NodeId("field", name) if certainty == "unknown" else named
        yield EstateEdge(program.program, verb, node, certainty, cited, why)
        if kind != "file" or certainty == "unknown":
            continue
        rid = one.option("RIDFLD") if not one.is_by_number else None
        held = _field(rid, program) if rid else None
        if held is not None:
            yield EstateEdge(held, "is key of", node, certainty, cited, why)
        area = one.option("INTO") if verb == "reads" else one.option("FROM")
        field = _field(area, program) if area else None
        if field is not None and verb == "reads":
            yield EstateEdge(node, "moves to", field, certainty, cited, why)
        elif field is not None:
            yield EstateEdge(field, "moves to", node, certainty, cited, why)


def _map(one: CicsOperation, name: str) -> str:
    """Return the name of a map, with its mapset if that is certain."""
    return f"{one.mapset}.{name}" if one.mapset else name


_QUOTES = "'\" "


def _named(
    resource: str, resolved: Sequence[Resolved], is_sure: bool, unknown: str, program: DrawnProgram
) -> Iterator[tuple[str, Certainty, str]]:
    """Yield the names that a resource may have, each with its certainty and the reason."""
    if resource[0] in "'\"":
        yield key(resource.strip(_QUOTES)), "is", ""
        return
    names = dict.fromkeys(key(value.value) for value in resolved)
    why = "" if is_sure else unknown or (f"{len(names)} values are possible" if len(names) > 1 else "it may be blank")
    for name in names:
        yield name, "is" if is_sure else "may", why
    if unknown or not names:
        field = _field(resource, program)
        held = field.name if field is not None else f"{program.program.name}.{key(resource)}"
        yield held, "unknown", unknown or "nothing in the program gives it a value"


def _dli(one: DliOperation, program: DrawnProgram) -> Iterator[EstateEdge]:
    """Yield what a DL/I call does with segments."""
    cited = _cited(one, program)
    used: dict[tuple[Verb, str], bool] = {}
    places: dict[str, dict[CitedLine, None]] = {}
    for use in one.uses:
        deed = DLI_DEEDS.get(use.function)
        if deed is not None:
            at = (verb_of(deed), key(use.segment.strip(_QUOTES)))
            used[at] = used.get(at, False) or use.is_sure
            places.setdefault(at[1], {}).update(dict.fromkeys(_named_at(use.said_by, program)))
    for (verb, segment), is_sure in used.items():
        certainty: Certainty = "is" if is_sure else "may"
        why = "" if is_sure else "the call may have another function or segment"
        yield EstateEdge(program.program, verb, NodeId("segment", segment), certainty, (*cited, *places[segment]), why)


def _network(one: NetworkOperation, program: DrawnProgram) -> Iterator[EstateEdge]:
    """Yield what a statement does with the record that it names, and with the record's area if the program has one."""
    deed = NETWORK_DEEDS.get(one.verb)
    if deed is None or not one.record:
        return
    cited = (*_cited(one, program), *_named_at([one.said_by] if one.said_by else (), program))
    record, area = NodeId("record", key(one.record)), _field(one.area or one.record, program)
    certainty: Certainty = "is" if one.is_sure else "may"
    why = "" if one.is_sure else "the item may name another data set"
    yield EstateEdge(program.program, verb_of(deed), record, certainty, cited, why)
    if area is not None and one.verb in _BRINGING:
        yield EstateEdge(record, "moves to", area, certainty, cited, why)
    elif area is not None and one.verb in _SENDING:
        yield EstateEdge(area, "moves to", record, certainty, cited, why)


def _mq(one: MqOperation, program: DrawnProgram) -> Iterator[EstateEdge]:
    """Yield what an MQ call does with its queue."""
    deed = MQ_DEEDS.get(one.call)
    if deed is None or not one.queue:
        return
    cited = _cited(one, program)
    for name, certainty, why in _named(one.queue, one.resolved, one.is_sure, one.unknown, program):
        node = NodeId("field", name) if certainty == "unknown" else NodeId("queue", name)
        named_at = _named_at((value for value in one.resolved if key(value.value) == name), program)
        yield EstateEdge(program.program, verb_of(deed), node, certainty, (*cited, *named_at), why)
