"""Which tables do the columns of a query come from, by their qualifiers: P of `P.ID` in `FROM PARTS P`?

Leaves to others: the host variables that receive them. Law: a column gets tables only if every name in it is qualified, or if there
is only one table; anything else, such as a subquery, gets none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..words import vocabulary
from .execs import tokens
from .grouping import outermost

if TYPE_CHECKING:
    from collections.abc import Sequence

_BEHIND_NAME = vocabulary("""
    WHERE ORDER GROUP HAVING FOR ON INNER LEFT RIGHT FULL CROSS NATURAL JOIN LIMIT OFFSET FETCH WITH OPTIMIZE USING
""")
_OF_EXPRESSIONS = vocabulary("CASE WHEN THEN ELSE END AND OR NOT IS NULL IN LIKE BETWEEN DISTINCT ALL")
_SETS = frozenset({"UNION", "EXCEPT", "INTERSECT", "MINUS"})
_NO_NAME = frozenset("'\":0123456789")


def columns(text: str) -> tuple[frozenset[str] | None, ...]:
    """Return the tables of each column of a query, in capitals; None for a column whose tables are not known; () unless the query
    is plain.

    Example:
        >>> columns("SELECT P.ID, F.NAME, QTY INTO :A, :B, :C FROM PARTS P JOIN FIRMS F ON P.F = F.ID")
        (frozenset({'PARTS'}), frozenset({'FIRMS'}), None)
    """
    words = [word.upper() for word in tokens(text)]
    outer = list(outermost(words))
    plain = [word for _, word in outer]
    if plain.count("SELECT") != 1 or plain[0] == "WITH" or "FROM" not in plain or not _SETS.isdisjoint(plain):
        return ()
    begin = outer[plain.index("SELECT")][0] + 1
    begin += words[begin : begin + 1] in (["DISTINCT"], ["ALL"])
    end = outer[min(plain.index(word) for word in ("INTO", "FROM") if word in plain)][0]
    commas = [at for at, word in outer if word == "," and begin <= at < end]
    named = named_tables(words)
    ends = [*commas, end]
    return tuple(_tables(words[a:b], named) for a, b in zip([begin, *(at + 1 for at in commas)], ends, strict=True))


def named_tables(words: Sequence[str]) -> dict[str, str]:
    """Return the tables of a query by the qualifiers that columns may have: the table's name, its last part, and its alias; and "",
    for unqualified columns, if there is only one table.
    """
    found: dict[str, str] = {}
    listing = is_within = False
    for at, word in outermost(words):
        if word in {"FROM", "JOIN"} or (listing and word == ","):
            listing = True
            table = words[at + 1] if at + 1 < len(words) else ""
            behind = [other for other in words[at + 2 : at + 4] if other != "AS"][:1]
            is_within |= table == "("
            if table not in {"(", ""}:
                found[table] = found[table.rpartition(".")[2]] = table.replace('"', "")
                if behind and behind[0][0].isalpha() and behind[0] not in _BEHIND_NAME:
                    found[behind[0]] = found[table]
        elif word in _BEHIND_NAME:
            listing = False
    if len(set(found.values())) == 1 and not is_within:
        found[""] = next(iter(found.values()))
    return found


def _tables(column: Sequence[str], named: dict[str, str]) -> frozenset[str] | None:
    """Return the tables of one column; None if that of any name in it is not known."""
    words = list(column)
    if len(words) > 2 and words[-2] == "AS":
        del words[-2:]
    found = set()
    for at, word in enumerate(words):
        if words[at + 1 : at + 2] == ["("] or word in _OF_EXPRESSIONS or word[0] in _NO_NAME:
            continue
        if word == "*" and at and words[at - 1][-1] not in ".(":
            continue  # it multiplies; `*`, `P.*` and `COUNT(*)` mean all columns
        if word[0].isalpha() or word == "*" or (word[0] == "=" and len(word) > 1):
            table = named.get(word.rpartition(".")[0]) if word != "SELECT" else None
            if table is None:
                return None
            found.add(table)
    return frozenset(found)
