"""Which columns of tables are too short for a field that grows, and which fields are too short for a column?"""

from __future__ import annotations

import pytest
from tests.cobol.sources import program
from tests.cobol.test_graph import graph_of

from penstock.cobol.facts.hosted import host_columns
from penstock.cobol.graph import Carrying, Grown, column_named, growth, nodes_named

TABLE = b"CREATE TABLE S.T (A CHAR(4) NOT NULL, B DECIMAL(5, 2), C INTEGER, D CHAR(9), E DATE);\n"


def grown(
    data: str, *statements: str, more: int = 2, ddl: bytes = TABLE, other: str = ""
) -> dict[tuple[str, str], Grown]:
    """Return what follows if `F` of a program grows, by kind and owner; `other` is a second program."""
    source = program(
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        data,
        "PROCEDURE DIVISION.",
        *(f"    EXEC SQL {one} END-EXEC." for one in statements),
        "    GOBACK.",
        name="P",
    )
    files = {"p.cbl": source.encode(), "t.ddl": ddl, **({"q.cbl": other.encode()} if other else {})}
    graph = graph_of(files)
    found = growth(graph, nodes_named(graph, "P.F"), more, carrying=Carrying(graph))
    return {(one.what, one.node.name): one for one in found}


INSERT = "INSERT INTO S.T (A, E) VALUES (:F, CURRENT DATE)"


@pytest.mark.parametrize(
    ("declared", "column", "is_short"),
    [
        ("X(4)", "A", True),
        ("X(7)", "D", False),
        ("X(8)", "D", True),
        ("S9(3)V99 COMP-3", "B", True),
        ("S9(1)V99 COMP-3", "B", True),  # two bytes hold four digits
        ("9(1)", "B", False),
        ("S9(4) COMP", "C", False),  # four bytes hold nine digits
        ("S9(9) COMP", "C", True),
        ("X(6)", "A", False),  # it takes only a part today
    ],
)
def test_a_column_is_too_short_where_it_held_the_field_and_then_cannot(
    declared: str, column: str, *, is_short: bool
) -> None:
    """Text compares characters, numbers compare digits before the point."""
    found = grown(f"01 F PIC {declared}.", f"UPDATE S.T SET {column} = :F WHERE E = :G")
    assert (("column", f"S.T.{column}") in found) == is_short
    if is_short:
        one = found["column", f"S.T.{column}"]
        assert (one.certainty, one.steps, one.is_breaking) == ("is", 1, True)
        assert [cited.path for cited in one.citations] == ["p.cbl", "t.ddl"]
        assert found["table", "S.T"].certainty == "is"


@pytest.mark.parametrize(("declared", "is_short"), [("X(10)", True), ("X(8)", False)])
def test_a_column_of_dates_may_be_too_short_for_more_characters_than_a_date_has(
    declared: str, *, is_short: bool
) -> None:
    """Databases write dates in different ways."""
    found = grown(f"01 F PIC {declared}.", "UPDATE S.T SET E = :F")
    assert {one.certainty for (what, _), one in found.items() if what in {"column", "table"}} == (
        {"may"} if is_short else set()
    )


def test_a_table_whose_column_has_room_is_not_told() -> None:
    """A table that is not declared here may have none."""
    room, unknown = "UPDATE S.T SET D = :F", "UPDATE S.T SET Z = :F"
    assert ("table", "S.T") not in grown("01 F PIC X(4).", room)
    assert grown("01 F PIC X(4).", room, unknown)["table", "S.T"].certainty == "may"


def test_what_a_longer_column_is_read_into_is_too_short_in_every_program() -> None:
    """A SELECT and the cursor of a FETCH read it; fields with room, of other columns or other schemas are not short."""
    other = program(
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01 ONE PIC X(4).",
        "01 TWO PIC X(4).",
        "01 WIDE PIC X(6).",
        "01 OTHER PIC X(4).",
        "01 SHOWN PIC X(4).",
        "01 ELSEWHERE PIC X(4).",
        "01 PLACED PIC X(4).",
        "01 PLACED-ELSEWHERE PIC X(4).",
        "PROCEDURE DIVISION.",
        "    EXEC SQL SELECT A, D INTO :ONE, :OTHER FROM T END-EXEC.",
        "    EXEC SQL DECLARE C CURSOR FOR SELECT A FROM S.T X END-EXEC.",
        "    EXEC SQL FETCH C INTO :TWO END-EXEC.",
        "    EXEC SQL SELECT X.A INTO :WIDE FROM T X END-EXEC.",
        "    EXEC SQL SELECT A INTO :ELSEWHERE FROM R.T END-EXEC.",
        "    EXEC SQL SELECT A INTO :PLACED FROM L.S.T END-EXEC.",
        "    EXEC SQL SELECT A INTO :PLACED-ELSEWHERE FROM L.R.T END-EXEC.",
        "    MOVE TWO TO SHOWN.",
        "    GOBACK.",
        name="Q",
    )
    found = grown("01 F PIC X(4).", INSERT, other=other)
    short = {name: one.steps for (what, name), one in found.items() if what == "too short"}
    assert short == {"Q.ONE": 2, "Q.TWO": 2, "Q.PLACED": 2, "Q.SHOWN": 3}
    assert found["too short", "Q.ONE"].why == "S.T.A moves to it"
    assert found["too short", "Q.ONE"].needed_bytes == 6


def test_a_column_that_a_where_compares_with_a_longer_field_is_never_equal() -> None:
    """It is `may`, and reported only for the column if the field is also stored in it."""
    where = "DELETE FROM T WHERE A = :F"
    assert grown("01 F PIC X(4).", where)["compared", "S.T.A"].certainty == "may"
    both = grown("01 F PIC X(4).", where, INSERT)
    assert ("compared", "S.T.A") not in both
    assert ("column", "S.T.A") in both


def test_a_table_that_is_declared_with_other_lengths_may_be_too_short() -> None:
    """With two schemas, the one in the statement is meant, or else either."""
    ddl = TABLE + b"CREATE TABLE R.T (A CHAR(9));\n"
    assert grown("01 F PIC X(4).", INSERT, ddl=ddl)["column", "S.T.A"].certainty == "is"
    assert grown("01 F PIC X(4).", INSERT.replace("S.T", "T"), ddl=ddl)["column", "S.T.A"].certainty == "may"


@pytest.mark.parametrize(
    ("insert", "is_short"),
    [
        ("VALUES (:F, 1, 2, 'X', CURRENT DATE)", True),
        ("SELECT :F, B, C, D, E FROM U", True),
        ("VALUES ('X', 1, 2, :F, CURRENT DATE)", False),  # it has room
        ("VALUES (:F, 1)", False),  # for another table, or one that has changed since
    ],
)
def test_columns_that_an_insert_lists_by_position_are_those_of_the_declaration(insert: str, *, is_short: bool) -> None:
    """The values must be as many as the declared columns; a reader of the column by name is too short as well."""
    found = grown(
        "01 F PIC X(4). 01 G PIC X(4).", f"INSERT INTO S.T {insert}", "SELECT A INTO :G FROM S.T WHERE E = :H"
    )
    assert (("column", "S.T.A") in found) == (("too short", "P.G") in found) == is_short
    if is_short:
        assert found["table", "S.T"].why == "its column A is too short for P.F"


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("INSERT INTO T (A, B, C) VALUES (:X, :G.Y :I, CURRENT DATE)", "stored X A, stored G.Y B"),
        ("INSERT INTO T (A, B) VALUES (:X)", ""),
        ("INSERT INTO T VALUES (:X, 1, UPPER(:Y), :Z:I)", "stored X 1/4, stored Z 4/4"),
        ("INSERT INTO T (A, B) SELECT :X, C FROM U WHERE D = :Y", "stored X A"),
        ("INSERT INTO T SELECT C, :X FROM U", "stored X 2/2"),
        ("INSERT INTO T DEFAULT VALUES", ""),
        ("INSERT INTO T (A) VALUES (UPPER(:X))", ""),
        ("UPDATE T SET A = :X, B = B + :Y, C=: Z WHERE K = :K", "stored X A, stored Z C, compared K K"),
        ("SELECT A, P.B INTO :X, :Y:I FROM T P WHERE K <= :K", "read X A, read Y B, compared K K"),
        ("SELECT COUNT(*), A INTO :N, :X FROM T", "read X A"),
        ("SELECT A, B INTO :X FROM T", ""),
        ("SELECT A INTO :X FROM T, U WHERE T.B = :Y", "compared Y B"),
        (
            "SELECT A INTO :X FROM T WHERE (B = :Y OR C LIKE :Z) AND D > :K",
            "read X A, compared Y B, compared Z C, compared K D",
        ),
        ("SELECT A INTO :X FROM T WHERE COALESCE(B, :Y) = :Z", "read X A"),
        ("SELECT A FROM T WHERE C IN (:X) UNION SELECT B FROM U", ""),
        ("FETCH C INTO :X", ""),
        ("COMMIT", ""),
        ("", ""),
    ],
)
def test_host_variables_stand_beside_columns(text: str, uses: str) -> None:
    """Calculated values and columns of uncertain tables give no pair."""
    assert ", ".join(f"{one.way} {one.host} {one.column}" for one in host_columns(text)) == uses
    assert {one.table for one in host_columns(text)} <= {"T"}


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("INSERT INTO =T (A, B) VALUES (:X OF G, 1)", ["stored G.X =T.A"]),
        ("UPDATE =T SET A =:X WHERE =T.B = :Y", ["stored X =T.A", "compared Y =T.B"]),
        ("SELECT A INTO :X FROM =T WHERE B =C AND D = :Y", ["read X =T.A", "compared Y =T.D"]),
    ],
)
def test_a_table_may_have_the_name_of_a_define(text: str, uses: list[str]) -> None:
    """In NonStop SQL such a name begins with an equals sign."""
    assert [f"{one.way} {one.host} {one.table}.{one.column}" for one in host_columns(text)] == uses


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("SELECT A INTO :X FROM T WHERE B = (SELECT C FROM U WHERE D = :Y AND T.E > :Z)", ["Y U.D", "Z T.E"]),
        ("UPDATE T SET A = (SELECT B FROM U WHERE C = :X) WHERE D = :Y", ["Y T.D", "X U.C"]),
        ("DELETE FROM T WHERE A IN (SELECT B FROM U WHERE C IN (SELECT D FROM V WHERE E = :X))", ["X V.E"]),
        ("DELETE FROM T WHERE A = (SELECT B FROM (SELECT C FROM U WHERE D > :X) Q WHERE E < :Y)", ["X U.D"]),
        ("INSERT INTO T (A, B) VALUES (:X, (SELECT C FROM U WHERE D = :Y))", ["Y U.D"]),
        ("SELECT A INTO :X FROM T WHERE EXISTS (SELECT 1 FROM U, V WHERE B = :Y)", []),
        ("SELECT A INTO :X FROM T WHERE B = (SELECT C FROM U WHERE D = :Y", []),
        ("SELECT A INTO :X FROM T WHERE B = (SELECT TRIM(C FROM D) WHERE E = :Y)", []),
    ],
)
def test_what_subqueries_compare_is_found_at_any_depth(text: str, uses: list[str]) -> None:
    """A subquery may name the tables of the query around it; a column without a qualifier is of its own single table."""
    found = [one for one in host_columns(text) if one.way == "compared"]
    assert [f"{one.host} {one.table}.{one.column}" for one in found] == uses


def test_a_column_is_found_by_each_of_its_names_with_all_its_fields() -> None:
    """Statements may leave out the schema, or the column if they state all values; a field may be in two tables."""
    source = program(
        "    EXEC SQL INSERT INTO U (A) VALUES (:F) END-EXEC.",
        "    EXEC SQL INSERT INTO T (A) VALUES (:F) END-EXEC.",
        "    EXEC SQL INSERT INTO S.T VALUES (:G, 1, 2, 'X', CURRENT DATE) END-EXEC.",
        "    EXEC SQL INSERT INTO R.T (A) VALUES (:H) END-EXEC.",
        data=("01 F PIC X.", "01 G PIC X.", "01 H PIC X."),
    )
    graph = graph_of({"p.cbl": source.encode(), "t.ddl": TABLE})
    assert column_named(graph, "s.t.a") == (["S.T"], ["P.F", "P.G"])
    assert column_named(graph, "A") == (["S.T", "U", "R.T"], ["P.F", "P.G", "P.H"])
    assert column_named(graph, "U.A") == (["U"], ["P.F"])
    assert column_named(graph, "P.F") == ([], [])
