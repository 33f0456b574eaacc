"""Which SQL statements does a program have: each EXEC SQL with its operation, tables, cursor and host variables?

Statements are not parsed: tables follow FROM, JOIN, INTO, UPDATE, TABLE and USING, or a comma in a list of them. Leaves to others:
columns and joins. Law: the name of a common table expression or a cursor is not a table.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ..words import vocabulary
from .execs import body, tokens
from .grouping import outermost
from .host_variables import host_variables
from .resources import PreparedSql, SqlOperation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .code import Block, Code
    from .dynamic_sql import DynamicSql

_BEFORE_TABLE = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "USING"})
_NOT_A_TABLE = frozenset(
    {"SELECT", "LATERAL", "TABLE", "FINAL", "OLD", "NEW", "DESCRIPTOR", "VALUES", "SET", "OF", "WHERE", "CURRENT"}
)
_CLAUSES = vocabulary("""
    WHERE ORDER GROUP HAVING FOR UNION EXCEPT INTERSECT SET VALUES FETCH WITH OPTIMIZE QUERYNO
""")
_TABLE_VERBS = frozenset(
    {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "LOCK", "TRUNCATE", "WITH", "VALUES", "REFRESH"}
)
_BEFORE_CURSOR = vocabulary(
    "FETCH NEXT PRIOR FIRST LAST CURRENT BEFORE AFTER INSENSITIVE SENSITIVE FROM ROWSET ABSOLUTE"
)
"""The words of a FETCH that may precede its cursor."""
_OF_STRINGS = vocabulary("TRIM EXTRACT SUBSTRING STRIP OVERLAY LTRIM RTRIM")
"""The functions that have a FROM among their arguments."""
_PARTING = frozenset({";", "BEGIN", "THEN", "ELSE", "LOOP", "DECLARE"})
"""The words that separate the statements of a PL/SQL block."""
_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_STATES = frozenset({"FINAL", "NEW", "OLD"})
"""The words before TABLE in a query of the rows that a statement changes."""
_TWO_WORDS = frozenset(
    {"ALTER", "CREATE", "DROP", "COMMENT", "GRANT", "REVOKE", "SET", "ALLOCATE", "ASSOCIATE", "EXECUTE", "BEGIN", "END"}
)


def operations(code: Code, dynamic: DynamicSql) -> tuple[SqlOperation, ...]:
    """Return the EXEC SQL blocks in source order, without INCLUDE, which is a copybook.

    Args:
        code: The EXEC blocks.
        dynamic: The texts of dynamic statements.
    """
    found = []
    for block in code.blocks:
        if block.exec.kind.startswith("SQL") and (one := _operation(block, code)) is not None:
            found += [_prepared(one, block, dynamic), *_inside(one)]
    by_name: dict[str, list[SqlOperation]] = {}
    for one in found:
        if one.operation == "PREPARE":
            by_name.setdefault(one.text.split()[1].upper(), []).append(one)
    return tuple([_opened(one, by_name) for one in found]) if by_name else tuple(found)


@lru_cache(1 << 12)  # one text may reach a thousand PREPAREs, which all read it
def statement(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the verb of an SQL statement, and the tables that it names; "" for an empty one."""
    words = tokens(text)
    upper = [word.upper() for word in words]
    return (_verb(upper), _tables(words, upper)) if words else ("", ())


def _inside(one: SqlOperation) -> Iterator[SqlOperation]:
    """Yield the statements of a PL/SQL block that name tables: EXECUTE BEGIN ... END, EXECUTE DECLARE ... END."""
    words = tokens(one.text)
    if one.operation != "EXECUTE" or [word.upper() for word in words[1:2]] not in (["BEGIN"], ["DECLARE"]):
        return
    part: list[str] = []
    for word in [*words[1:], ";"]:
        if word.upper() not in _PARTING:
            part.append(word)
            continue
        begins = next((at for at, said in enumerate(part) if said.upper() in _TABLE_VERBS), len(part))
        operation, tables = statement(" ".join(part[begins:]))
        if tables:
            yield one._replace(operation=operation, tables=tables, reads=(), writes=(), text=" ".join(part[begins:]))
        part = []


def _prepared(one: SqlOperation, block: Block, dynamic: DynamicSql) -> SqlOperation:
    """Return a statement with the SQL that it may prepare or run, if its text is data."""
    text = dynamic.of(block)
    if text is None:
        return one
    prepared = []
    for said in text.texts:
        operation, tables = statement(said.value)
        if operation:
            prepared.append(PreparedSql(operation, tables, said))
    return _of(one, prepared, text.unknown, is_sure=text.is_sure)


def _opened(one: SqlOperation, by_name: dict[str, list[SqlOperation]]) -> SqlOperation:
    """Return the declaration of a cursor with the statements prepared for it."""
    name = one.text.split()[-1].upper()
    if one.operation != "DECLARE CURSOR" or one.tables or name not in by_name:
        return one
    ways = by_name[name]
    prepared = [made for way in ways for made in way.prepared]
    unknown = next((way.unknown for way in ways if way.unknown), "")
    return _of(one, prepared, unknown, is_sure=len(ways) == 1 and ways[0].is_sure)


def _of(one: SqlOperation, prepared: list[PreparedSql], unknown: str, *, is_sure: bool) -> SqlOperation:
    """Return a statement with the SQL that it may run."""
    tables = tuple(dict.fromkeys(table for made in prepared for table in made.tables))
    return one._replace(tables=tables, prepared=tuple(prepared), is_sure=is_sure, unknown=unknown)


def _operation(block: Block, code: Code) -> SqlOperation | None:
    """Return the operation of one block; None for an empty one and for INCLUDE."""
    text = body(block.exec.text)
    words = tokens(text)
    upper = [word.upper() for word in words]
    if not words or upper[0] == "INCLUDE":
        return None
    if upper[0] in {"AT", "FOR"} and len(words) > 2:  # Oracle: the database, or the number of array rows
        words, upper = words[2:], upper[2:]
    name, cursor = upper[0], None
    tables: tuple[str, ...] = ()
    if name == "DECLARE":
        name, cursor, tables = _declared(words, upper)
    elif name in {"OPEN", "CLOSE"}:
        cursor = words[1] if len(words) > 1 else None
    elif name == "FETCH":
        cursor = _fetched(words, upper)
    elif name in _TABLE_VERBS:
        tables = _tables(words, upper)
        name = _verb(upper)
        if upper[-4:-1] == ["WHERE", "CURRENT", "OF"]:
            cursor = words[-1]
    elif name == "INVOKE":  # NonStop SQL includes the record of a table here, like a DCLGEN
        tables = _tables(["FROM", *words[1:]], ["FROM", *upper[1:]])
    elif name == "WHENEVER":
        name = " ".join(upper[: 3 if upper[1:2] == ["NOT"] else 2])
    elif name in _TWO_WORDS and (name != "EXECUTE" or upper[1:2] == ["IMMEDIATE"]):
        name = " ".join(upper[:2])
        if "TABLE" in upper[:3]:
            tables = _tables(words, upper)
    reads, writes = host_variables(block.exec.text)
    return SqlOperation(
        operation=name,
        tables=tables,
        cursor=cursor,
        reads=reads,
        writes=writes,
        text=text,
        line=block.line,
        end_line=block.end_line,
        paragraph=code.name(block.paragraph, block.header),
        copybook=block.copybook,
    )


def _declared(words: list[str], upper: list[str]) -> tuple[str, str | None, tuple[str, ...]]:
    """Return the operation of a DECLARE, its cursor, and its tables.

    What is declared FOR a query is a cursor even if generated code leaves out that word.
    """
    if "CURSOR" in upper[:6] or ("FOR", "SELECT") in pairwise(upper):
        return "DECLARE CURSOR", words[1] if len(words) > 1 else None, _tables(words, upper)
    if "TABLE" in upper[:4]:
        at = upper.index("TABLE")
        name = words[1] if at == 2 and len(words) > 1 else words[at + 1] if at + 1 < len(words) else ""
        return "DECLARE TABLE", None, (name,) if name else ()
    return " ".join(["DECLARE", *upper[-1:]]) if len(upper) > 2 else "DECLARE", None, ()


def _fetched(words: list[str], upper: list[str]) -> str | None:
    """Return the cursor of a FETCH, skipping the words that may precede it."""
    named = next((at for at, word in enumerate(upper) if word not in _BEFORE_CURSOR), len(upper))
    return words[named] if named < len(upper) and upper[named] != "INTO" else None


def _verb(upper: list[str]) -> str:
    """Return the verb of a statement: in `FROM FINAL TABLE (INSERT …` that one, and after WITH the first outside of parentheses."""
    for at in range(2, len(upper) - 1):
        if upper[at] == "(" and upper[at - 1] == "TABLE" and upper[at - 2] in _STATES and upper[at + 1] in _CHANGES:
            return upper[at + 1]
    if upper[0] != "WITH":
        return upper[0]
    return next((word for _, word in outermost(upper) if word == "SELECT" or word in _CHANGES), "SELECT")


def _tables(words: list[str], upper: list[str]) -> tuple[str, ...]:
    """Return the tables that a statement names, each once, as written: first the one that it changes, if it does."""
    found: dict[str, str] = {}
    changed = ""
    common = _common(upper) if "WITH" in upper else set()
    # In FROM a, b JOIN c ON …, d another table follows each comma; elsewhere it does not. `listing` is that state: a clause
    # ends it, and parentheses, around a query or arguments, have their own.
    listing = False
    around: list[bool] = []
    for at, word in enumerate(upper):
        before = upper[at - 1] if at else ""
        starts = before in _BEFORE_TABLE and (before != "INTO" or (at >= 2 and upper[at - 2] in {"INSERT", "MERGE"}))
        if before == "UPDATE" and at > 1 and upper[at - 2] in {"FOR", "AND"}:
            starts = False  # FOR UPDATE OF
        # USING names a table only in MERGE; elsewhere it names host variables or join columns.
        if before == "USING" and upper[0] != "MERGE":
            starts = False
        if before == "FROM" and at > 1 and _in_function(upper, at - 1):
            starts = False
        if before == "(" and at > 1 and upper[at - 2] in {"FROM", "JOIN"} and not _in_function(upper, at - 2):
            starts = True  # FROM (T1 JOIN T2 ON …)
        if at == 1 and before == "DELETE" and word != "FROM":  # some systems accept DELETE T for DELETE FROM T
            starts = True
        if word == "(":
            around.append(listing or starts)
            listing = False
        elif word == ")":
            listing = around.pop() if around else False
        elif starts or (listing and before == ","):
            listing = before in {"FROM", "JOIN", ","}
            if (
                word not in _NOT_A_TABLE
                and word[0] not in ":'0123456789?"
                and word not in common
                and any(map(str.isalnum, word))
            ):
                found.setdefault(word, words[at])
                is_changed = before in {"INTO", "UPDATE"} or (before == "FROM" and upper[at - 2] == "DELETE")
                changed = changed or (word if is_changed else "")
        elif word in _CLAUSES:
            listing = False
    if changed:
        found = {changed: found[changed], **found}
    return tuple(name.strip('"') for name in found.values())


def _common(upper: list[str]) -> set[str]:
    """Return the names that WITH gives to queries of the statement: T of `T AS (SELECT ...` and `T (A, B) AS (...`."""
    names = set()
    opened: list[int] = []
    named = -1  # the index of the name before the last pair of parentheses
    for at, word in enumerate(upper):
        if word == "(":
            if upper[at - 1] == "AS" and at > 1:
                names.add(upper[named] if upper[at - 2] == ")" else upper[at - 2])
            opened.append(at)
        elif word == ")" and opened:
            named = opened.pop() - 1
    return names


def _in_function(upper: list[str], at: int) -> bool:
    """Return whether a FROM belongs to a function, as in TRIM(x FROM y), and so precedes no table."""
    depth = 0
    # A few words back are enough for the arguments of such a function, and keep the time linear for ten thousand FROMs.
    for back in range(at - 1, max(-1, at - 8), -1):
        if upper[back] == ")":
            depth += 1
        elif upper[back] == "(":
            if depth == 0:
                return back > 0 and upper[back - 1] in _OF_STRINGS
            depth -= 1
        elif upper[back] == "SELECT":
            return False
    return False
