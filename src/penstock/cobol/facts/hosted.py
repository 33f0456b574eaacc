"""Which table column is each host variable of an EXEC SQL stored in, read from, or compared with?

Leaves to others: which tables a query's columns come from (`columns`), and which items host variables are (`references`).

Law: for each use, the statement names the column, or its position, directly, and its table either as the only one or by a
qualifier; calculated values, and what a subquery reads, are not reported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from .columns import named_tables
from .execs import tokens
from .grouping import listed, outermost
from .host_variables import dotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

HostWay: TypeAlias = Literal["stored", "read", "compared"]
_Found: TypeAlias = "tuple[HostWay, str, str]"
_COLUMN = re.compile(r"=?(?>(?:[A-Z_$#@][\w$#@]*+\.)*)[A-Z_$#@][\w$#@]*+")
_COLON = re.compile(r":\s++")
_SIGNS = frozenset({"=", "<", ">", "LIKE"})


class HostColumn(NamedTuple):
    """A host variable and the column that it is stored in, read from, or compared with."""

    way: HostWay
    host: str
    """The host variable without its colon, in capitals."""
    table: str
    """The table as the statement names it, in capitals."""
    column: str
    """The column in capitals; for an INSERT without column names, the position and the number of values, as in `2/5`."""


def host_columns(text: str, asked: str = "") -> tuple[HostColumn, ...]:
    """Return the column of each host variable of a statement.

    Args:
        text: The text between EXEC SQL and END-EXEC.
        asked: For a FETCH, the text that declares its cursor.

    Example:
        >>> host_columns("SELECT NAME INTO :WS-NAME FROM CLERK WHERE ID = :WS-ID")[0]
        HostColumn(way='read', host='WS-NAME', table='CLERK', column='NAME')
    """
    words = _words(text)
    if words[:2] == ["INSERT", "INTO"]:
        return (*_inserted(words), *_in_subqueries(words, {}))
    query = _words(asked) if asked else words
    outer = [word for _, word in outermost(query)]
    tables: Mapping[str, str]
    if words[:1] == ["UPDATE"] and len(words) > 2:
        tables = dict.fromkeys(("", words[1], words[1].rpartition(".")[2], words[2]), words[1])
    elif "FROM" in outer and outer.count("SELECT") < 2:
        tables = named_tables(query)
    else:
        return ()
    if asked:
        return tuple(_named(_read(words, query, outer), tables))
    found = [*_set(words), *_read(words, query, outer), *_compared(_apart(words)[0])]
    return (*_named(found, tables), *_in_subqueries(words, tables))


def _in_subqueries(words: Sequence[str], around: Mapping[str, str]) -> Iterator[HostColumn]:
    """Yield the columns that the subqueries of a statement compare with host variables.

    Args:
        words: The statement.
        around: Its tables by their qualifiers, which a subquery may use.
    """
    for query in _apart(words)[1]:
        if "FROM" in query and query.count("SELECT") == 1:
            own = named_tables(query)
            yield from _named(_compared(query), {**around, "": own.get("", ""), **own})


def _apart(words: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return the words of a statement with `( )` in place of subqueries, and those of each subquery, also of nested ones."""
    levels: list[list[str]] = [[]]
    found: list[list[str]] = []
    opened: list[bool] = []
    for at, word in enumerate(words):
        if word == "(":
            opened.append(words[at + 1 : at + 2] == ["SELECT"])
            if opened[-1]:
                levels.append([])
                continue
        elif word == ")" and opened and opened.pop():
            found.append(levels.pop())
            levels[-1] += ["(", ")"]
            continue
        levels[-1].append(word)
    return levels[0], found


def _named(found: Iterable[_Found], tables: Mapping[str, str]) -> Iterator[HostColumn]:
    """Yield the columns whose tables are known."""
    for way, host, name in found:
        front, _, column = name.rpartition(".")
        table = tables.get(front)
        if table:
            yield HostColumn(way, host, table, column)


def _words(text: str) -> list[str]:
    """Return the tokens of a statement in capitals, host variables with their colon."""
    return [word.upper() for word in tokens(_COLON.sub(":", dotted(text)))]


def _host(words: Sequence[str]) -> str:
    """Return the host variable that some words are, with or without its indicator; "" if they are anything else."""
    plain = [word for word in words if word != "INDICATOR"]
    is_one = 0 < len(plain) < 3 and all(word[0] == ":" and len(word) > 1 for word in plain)
    return plain[0].split(":")[1] if is_one else ""


def _inserted(words: Sequence[str]) -> Iterator[HostColumn]:
    """Yield the columns of `INSERT INTO T (A, B) VALUES (:A, :B)`, of an INSERT without column names, and of one with a SELECT."""
    is_listed = words[3:4] == ["("] and ")" in words
    begin = words.index(")") + 1 if is_listed else 3
    names = [*listed(words[4 : begin - 1])] if is_listed else []
    if words[begin : begin + 2] == ["VALUES", "("] and ")" in words[begin:]:
        values = [*listed(words[begin + 2 : len(words) - 1 - words[::-1].index(")")])]
    elif words[begin : begin + 1] == ["SELECT"] and "FROM" in words[begin:]:
        values = [*listed(words[begin + 1 : words.index("FROM", begin)])]
    else:
        return
    if not is_listed:
        names = [(f"{at}/{len(values)}",) for at in range(1, len(values) + 1)]
    for name, value in zip(names, values, strict=False):
        host = _host(value)
        if host and len(name) == 1 and len(names) == len(values):
            yield HostColumn("stored", host, words[2], name[0].rpartition(".")[2])


def _set(words: Sequence[str]) -> Iterator[_Found]:
    """Yield the columns that the SET of an UPDATE assigns host variables to."""
    if words[0] != "UPDATE" or "SET" not in words:
        return
    end = words.index("WHERE") if "WHERE" in words else len(words)
    for part in listed(words[words.index("SET") + 1 : end]):
        host = _host(part[2:])
        if host and part[1] == "=" and _COLUMN.fullmatch(part[0]):
            yield "stored", host, part[0]


def _read(words: Sequence[str], query: Sequence[str], outer: Sequence[str]) -> Iterator[_Found]:
    """Yield the columns of a query that are read into host variables after INTO."""
    if "INTO" not in words or "SELECT" not in outer:
        return
    begin = words.index("INTO") + 1
    end = words.index("FROM", begin) if "FROM" in words[begin:] else len(words)
    hosts = [_host(part) for part in listed(words[begin:end])]
    first = query.index("SELECT") + 1
    first += query[first : first + 1] in (["DISTINCT"], ["ALL"])
    last = min(query.index(word) for word in ("INTO", "FROM") if word in query)
    names = [*listed(query[first:last])]
    for name, host in zip(names, hosts, strict=False):
        if host and len(name) == 1 and len(names) == len(hosts) and _COLUMN.fullmatch(name[0]):
            yield "read", host, name[0]


def _compared(words: Sequence[str]) -> Iterator[_Found]:
    """Yield the columns that a WHERE compares with host variables: `A = :B`."""
    begin = words.index("WHERE") if "WHERE" in words else len(words)
    for at in range(begin + 2, len(words)):
        host, before = _host(words[at : at + 1]), at - 1
        while before > begin and words[before] in _SIGNS:
            before -= 1
        if host and before < at - 1 and before > begin and _COLUMN.fullmatch(words[before]):
            yield "compared", host, words[before]
