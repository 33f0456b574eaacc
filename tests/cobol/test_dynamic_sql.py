"""What does the code say about SQL whose text is data, and about stored procedures?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.growth import BOUND, growth

from penstock.cobol import scan
from penstock.cobol.estate import member
from penstock.cobol.facts import Facts, facts
from penstock.cobol.graph import EstateGraph, impact, part_of

from .sources import program

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.cobol.estate import Kind

pytestmark = pytest.mark.proves("C-16")

DATA = (
    "01  STMT.",
    "    49  STMT-LENGTH PIC S9(4) COMP.",
    "    49  STMT-TEXT PIC X(80).",
    "01  ASKED PIC X(80).",
    "01  TABLE-NAME PIC X(18).",
    "01  PROC PIC X(18).",
    "01  REC.",
    "    05  A PIC X.",
    "    05  B PIC X.",
)


def written(*statements: str) -> str:
    """Return a program with these statements, in free format."""
    return program(*(f"    {one}" for one in statements), data=DATA)


def ran(*statements: str) -> Facts:
    """Return the facts of a program with these statements."""
    source = scan(written(*statements), source_format="free")
    return facts(source, source.programs[0])


def edges(found: Facts, *statements: str) -> list[str]:
    """Return a program's edges to tables and programs, and edges from tables, with their certainty."""
    source = scan(written(*statements), source_format="free")
    part = part_of(found, source.programs[0], "p.cbl")
    wanted = {"table", "program"}
    return [
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}"
        for edge in part.edges
        if edge.target.kind in wanted or edge.source.kind == "table" or edge.certainty == "unknown"
    ]


def test_a_statement_that_is_run_at_once_has_the_tables_of_the_text_that_reaches_it() -> None:
    """A text of varying length has the letters that are written; a value moved later does not count."""
    said = (
        "MOVE 'DELETE FROM PROD.T1 WHERE A = 1' TO STMT-TEXT",
        "EXEC SQL EXECUTE IMMEDIATE :STMT END-EXEC",
        "MOVE 'DELETE FROM T9' TO STMT-TEXT",
        "STRING 'DELETE FROM T8' DELIMITED BY SIZE INTO STMT-TEXT",
        "GOBACK.",
    )
    found = ran(*said)
    (statement,) = found.sql
    assert (statement.operation, statement.tables, statement.is_sure) == ("EXECUTE IMMEDIATE", ("PROD.T1",), True)
    assert [(one.operation, one.said.how, one.said.line) for one in statement.prepared] == [("DELETE", "MOVE", 15)]
    assert [(one.resource, one.delete) for one in found.crud] == [("PROD.T1", (16,))]
    assert edges(found, *said) == ["P writes PROD.T1 is"]


def test_a_text_that_is_composed_is_that_of_the_string_which_reaches() -> None:
    """One buffer is cleared and composed again for each statement; if two paths compose it, it may have either text."""
    found = ran(
        "MOVE SPACE TO ASKED",
        "STRING 'DELETE FROM T1 WHERE A = ' PROC DELIMITED BY SIZE INTO ASKED",
        "EXEC SQL EXECUTE IMMEDIATE :ASKED END-EXEC",
        "MOVE SPACE TO ASKED",
        "IF A = B",
        "STRING 'INSERT INTO T2 ' TABLE-NAME DELIMITED BY SIZE INTO ASKED",
        "ELSE",
        "STRING 'UPDATE =T3 SET A = 1' DELIMITED BY SIZE INTO ASKED",
        "END-IF",
        "EXEC SQL PREPARE S1 FROM :ASKED END-EXEC",
        "GOBACK.",
    )
    assert [one.tables for one in found.sql] == [("T1",), ("T2", "=T3")]
    assert not any(one.is_sure for one in found.sql)


def test_a_cursor_of_a_prepared_statement_reads_what_its_text_says() -> None:
    """A composed text is certain only of its literals; a table named by data is unknown."""
    said = (
        "STRING 'SELECT A FROM T2 WHERE B = ''' A ''' AND C IN (SELECT D' ' FROM T4)' DELIMITED BY SIZE INTO ASKED",
        "EXEC SQL PREPARE S1 FROM :ASKED END-EXEC",
        "EXEC SQL DECLARE C1 CURSOR FOR S1 END-EXEC",
        "EXEC SQL FETCH C1 INTO :REC.A END-EXEC",
        "STRING 'INSERT INTO ' TABLE-NAME ' VALUES(1)' DELIMITED BY SIZE INTO STMT-TEXT",
        "EXEC SQL EXECUTE IMMEDIATE :STMT END-EXEC",
        "GOBACK.",
    )
    found = ran(*said)
    assert [one.tables for one in found.sql] == [("T2", "T4"), ("T2", "T4"), (), ()]
    assert found.sql[0].prepared[0].said.value == "SELECT A FROM T2 WHERE B = '?' AND C IN (SELECT D FROM T4)"
    assert edges(found, *said) == [
        "P reads T2 may",
        "P reads T4 may",
        "P runs P.ASKED unknown",
        "T2 moves to P.A may",
        "T4 moves to P.A may",
        "P runs P.STMT unknown",
    ]


def test_a_table_that_a_string_gets_from_an_item_is_one_of_those_it_may_hold() -> None:
    """One program serves the tables of several companies: MOVEs give the table's name, and a STRING composes the statement."""
    said = (
        "IF A = B MOVE 'T5' TO TABLE-NAME ELSE MOVE 'T6' TO TABLE-NAME END-IF",
        "STRING 'INSERT INTO ' DELIMITED BY SIZE TABLE-NAME DELIMITED BY SPACE ' (C) VALUES(' PROC ')' DELIMITED BY SIZE",
        "   INTO ASKED",
        "EXEC SQL EXECUTE IMMEDIATE :ASKED END-EXEC",
        "MOVE 'T7' TO TABLE-NAME",
        "GOBACK.",
    )
    found = ran(*said)
    assert [one.tables for one in found.sql] == [("T5", "T6")]
    assert edges(found, *said) == ["P writes T5 may", "P writes T6 may", "P runs P.ASKED unknown"]


SPELLED = (
    "01  PREPARED.",
    "    05  PIC X(7) VALUE 'INSERT'.",
    "    05  VERB PIC X(5) VALUE 'INTO'.",
    "    05  SCHEMA-DOT PIC X(9).",
    "    05  WHICH PIC X(8) VALUE 'T0'.",
    "    05  FILLER PIC X(7) VALUE 'VALUES('.",
    "    05  V PIC 9(4).",
    "    05  FILLER PIC X VALUE ')'.",
    "01  OTHER.",
    "    05  FILLER PIC X(6) VALUE 'SELECT'.",
    "    05  V2 PIC X(4).",
)


@pytest.mark.parametrize(
    ("statements", "tables"),
    [
        # The parts of a group spell the text that is moved; the schema is data, and a name that is moved takes the VALUE's place.
        (("MOVE 'T1' TO WHICH", "MOVE PREPARED TO STMT-TEXT", "MOVE 'T2' TO WHICH"), ("T1",)),
        (("MOVE PREPARED TO STMT-TEXT",), ("T0",)),
        # Through another item, and as a piece of a STRING.
        (("MOVE 'T1' TO WHICH", "MOVE PREPARED TO ASKED", "MOVE ASKED TO STMT-TEXT"), ("T1",)),
        (("MOVE 'T1' TO WHICH", "STRING PREPARED DELIMITED BY SIZE INTO STMT-TEXT"), ("T1",)),
        # A STRING that gets the schema and the table from items.
        (
            (
                "MOVE 'T1' TO WHICH",
                "STRING 'DELETE FROM ' SCHEMA-DOT '.' WHICH ' WHERE A = 1' DELIMITED BY SPACE INTO STMT-TEXT",
            ),
            ("T1",),
        ),
        (
            (
                "MOVE 'PROD' TO SCHEMA-DOT",
                "STRING 'DELETE FROM ' SCHEMA-DOT '.' WHICH ' WHERE A = 1' DELIMITED BY SPACE INTO STMT-TEXT",
            ),
            ("PROD.T0",),
        ),
        # The verb is not its VALUE any more, or there is no table.
        (("ACCEPT VERB", "MOVE PREPARED TO STMT-TEXT"), ()),
        (("MOVE OTHER TO STMT-TEXT",), ()),
    ],
)
def test_a_group_spells_the_text_that_it_is_moved_to(statements: tuple[str, ...], tables: tuple[str, ...]) -> None:
    """Programs prepare an INSERT as a group of VALUEs with items between, and move it as a whole."""
    lines = (*statements, "EXEC SQL EXECUTE IMMEDIATE :STMT END-EXEC", "GOBACK.")
    source = scan(program(*(f"    {one}" for one in lines), data=(*DATA, *SPELLED)), source_format="free")
    (found,) = facts(source, source.programs[0]).sql
    assert (found.tables, found.is_sure) == (tables, False)


def test_a_group_that_is_longer_than_any_statement_spells_no_text() -> None:
    """A few lines could otherwise fill the memory with blanks."""
    wide = (
        "01  WIDE.",
        "    05  FILLER PIC X(12) VALUE 'DELETE FROM'.",
        "    05  FILLER PIC X(2097152) VALUE 'T1'.",
        "    05  FILLER PIC X(11) VALUE 'WHERE A = 1'.",
    )
    lines = ("    MOVE WIDE TO ASKED", "    EXEC SQL EXECUTE IMMEDIATE :ASKED END-EXEC", "    GOBACK.")
    source = scan(program(*lines, data=(*DATA, *wide)), source_format="free")
    (found,) = facts(source, source.programs[0]).sql
    assert all(len(one.said.value) < 100 for one in found.prepared)


def test_texts_of_several_strings_are_in_the_order_of_their_lines() -> None:
    """Line 9 is before line 11: lines are numbers."""
    found = ran(*composed_on_condition(60), "EXEC SQL EXECUTE IMMEDIATE :ASKED END-EXEC", "GOBACK.")
    assert found.sql[0].tables == tuple(f"T{number}" for number in range(60))


def test_more_texts_than_are_followed_are_said_to_be_more() -> None:
    """Otherwise n statements that each of n texts may reach would cost n * n."""
    found = ran(*composed_on_condition(99), "EXEC SQL EXECUTE IMMEDIATE :ASKED END-EXEC", "GOBACK.")
    assert found.sql[0].tables == tuple(f"T{number}" for number in range(64))
    assert found.sql[0].unknown == "more than 64 texts are possible"


def composed_on_condition(count: int) -> list[str]:
    """Return statements that may each compose a text."""
    return [
        f"IF PROC = '{number}' STRING 'DELETE FROM T{number}' DELIMITED BY SIZE INTO ASKED END-IF"
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("second", "tables"),
    [
        ("STRING 'DELETE FROM B' DELIMITED BY SIZE INTO ASKED", ("B",)),
        ("STRING 'DELETE FROM ' 'B' INTO ASKED", ("B",)),
        ("STRING 'DELETE FROM ' DELIMITED SIZE PROC DELIMITED BY SPACE INTO ASKED", ()),
        # What was there stays before the pointer, and all of it if no character is sent.
        ("STRING 'DELETE FROM B' DELIMITED BY SIZE INTO ASKED POINTER STMT-LENGTH", ("A", "B")),
        ("STRING 'DELETE FROM B' DELIMITED BY PROC INTO ASKED", ("A", "B")),
        ("STRING ASKED DELIMITED BY SIZE ' WHERE C = 1' DELIMITED BY SIZE INTO ASKED", ("A",)),
    ],
)
def test_a_text_that_is_composed_replaces_the_one_before(second: str, tables: tuple[str, ...]) -> None:
    """Each PREPARE has the text of the STRING before it; the end of a longer text is no statement."""
    before = "STRING 'DELETE FROM A' DELIMITED BY SIZE INTO ASKED"
    found = ran(before, second, "EXEC SQL EXECUTE IMMEDIATE :ASKED END-EXEC", "GOBACK.")
    assert found.sql[0].tables == tables


def test_time_is_linear_in_the_statements_that_are_prepared_from_composed_texts() -> None:
    """Each of them has one text, and not those of all STRINGs before it."""

    def work(size: int) -> Callable[[], object]:
        prepared = (
            f"STRING 'DELETE FROM T{at}' INTO ASKED EXEC SQL PREPARE S{at} FROM :ASKED END-EXEC" for at in range(size)
        )
        source = scan(program(*prepared, "GOBACK.", data=DATA), source_format="free")
        return lambda: facts(source, source.programs[0])

    assert growth(work, 120) < BOUND


def test_a_procedure_of_the_database_may_be_a_program_of_its_name() -> None:
    """The program gets the arguments in order, without indicators, and they may be changed on return."""
    said = (
        "EXEC SQL CALL PROD.CALCTAX(:REC.A, :B:TABLE-NAME, 'X' INDICATOR :A) END-EXEC",
        "MOVE 'PAYIT' TO PROC",
        "EXEC SQL CALL :PROC (:ASKED) END-EXEC",
        "GOBACK.",
    )
    found = ran(*said)
    assert [(call.call_type, call.names, call.parameters) for call in found.calls] == [
        ("sql", ("CALCTAX",), ("A OF REC", "B", "'X'")),
        ("sql", ("PAYIT",), ("ASKED",)),
    ]
    assert edges(found, *said) == ["P calls CALCTAX may", "P calls PAYIT may"]
    tax = program("    MOVE 1 TO B.", "    GOBACK.", name="CALCTAX", data=()).replace(
        "PROCEDURE DIVISION.",
        "DATA DIVISION.\n       LINKAGE SECTION.\n       01 A PIC X.\n       01 B PIC X.\n       PROCEDURE DIVISION USING A B.",
    )
    called, caller = scan(tax), scan(written(*said), source_format="free")
    graph = EstateGraph(
        [
            part_of(found, caller.programs[0], "p.cbl"),
            part_of(facts(called, called.programs[0]), called.programs[0], "t.cbl"),
        ],
        (),
    )
    passed = [f"{one.source} {one.target} {one.certainty}" for one in graph.edges() if one.verb == "passes to"]
    assert passed == ["P.A CALCTAX.A may", "P.B CALCTAX.B may", "P.ASKED PAYIT may"]


def test_a_table_without_a_schema_may_be_each_that_has_one() -> None:
    """The program is bound to a schema that no source names; if too many tables qualify, none is named."""

    def said(*schemas: str) -> list[str]:
        text = written("EXEC SQL DELETE FROM PRICES END-EXEC", "EXEC SQL SELECT B INTO :B FROM X.PRICES END-EXEC")
        source = scan(text, source_format="free")
        declared = "".join(f"EXEC SQL DECLARE {one}.PRICES TABLE (A CHAR(1)) END-EXEC.\n" for one in schemas)
        members = [member("D.cpy", "dclgen", declared.encode())]
        graph = EstateGraph([part_of(facts(source, source.programs[0]), source.programs[0], "p.cbl")], members)
        return sorted(
            f"{one.source} {one.verb} {one.target} {one.certainty}" for one in graph.drawn if "PRICES" in str(one)
        )

    assert [one for one in said("Y") if "writes" in one] == [
        "P writes PRICES is",
        "P writes X.PRICES may",
        "P writes Y.PRICES may",
    ]
    assert "P reads X.PRICES is" in said("Y")
    assert not any("Y.PRICES" in one for one in said() + [one for one in said("Y") if "moves" in one or "reads" in one])
    assert [one for one in said(*"ABCDEFGH") if "writes" in one] == ["P writes PRICES is"]


def test_a_job_creates_tables_in_its_stream() -> None:
    """Those are defined like any of a file of definitions: a statement without schema may mean them, at the line of the job."""
    job = b"""\
//* ONCE A YEAR /* CREATE TABLE NOT.THIS (A CHAR(1))
//MAKE JOB 1
//RUNSQL EXEC PGM=IKJEFT01
//SYSTSIN DD *
 RUN PROGRAM(DSNTEP2) PLAN(DSNTEP81)
/*
//SYSIN DD *
SET CURRENT SQLID = 'TEST';
CREATE TABLE PROD.PRICES (A CHAR(1) NOT NULL,
  B DECIMAL(8, 2));
/*
//* THE END */
"""
    made = member("MAKE.jcl", "jcl", job)
    assert [(one.name, one.line, [column.name for column in one.columns]) for one in made.tables] == [
        ("PROD.PRICES", 9, ["A", "B"])
    ]
    source = scan(written("EXEC SQL DELETE FROM PRICES END-EXEC"), source_format="free")
    graph = EstateGraph([part_of(facts(source, source.programs[0]), source.programs[0], "p.cbl")], [made])
    assert [f"{one.source} {one.verb} {one.target} {one.certainty}" for one in graph.drawn if one.verb == "writes"] == [
        "P writes PRICES is",
        "P writes PROD.PRICES may",
    ]


def test_what_a_procedure_got_has_no_sure_value_behind_it() -> None:
    """The call may have replaced the earlier value."""
    found = ran("MOVE 'SUB1' TO PROC", "EXEC SQL CALL P1(:PROC) END-EXEC", "CALL PROC", "GOBACK.")
    (call,) = [one for one in found.calls if one.call_type == "dynamic"]
    assert (call.names, call.is_sure) == (("SUB1",), False)
    assert "line 16" in call.unknown


JOB = b"""\
//LOADJOB JOB (1),'X'
//LOAD EXEC PGM=DSNUTILB,PARM='DB2P,LOADX'
//SYSREC DD DSN=PROD.CUST.UNLOADED,DISP=SHR
//SYSIN DD *
  LOAD DATA INDDN SYSREC REPLACE
    INTO TABLE PROD.CUST
/*
//RUNSQL EXEC PGM=IKJEFT01
//SYSTSIN DD *
 RUN PROGRAM(DSNTEP2) PLAN(DSNTEP81)
/*
//SYSIN DD *
  -- once a year; INSERT INTO NOT.THIS
  DELETE FROM PROD.CUST WHERE A = 'x';                                  00000001
  INSERT INTO                                                           00000002
    PROD.NEW SELECT * FROM PROD.OLD;
/*
//OTHER EXEC PGM=OURS
//SYSIN DD *
  DELETE FROM PROD.CUST;
/*
"""


def test_a_step_that_runs_sql_or_loads_tables_is_told_with_them() -> None:
    """In-stream data of any other program is for that program to read."""
    graph = EstateGraph((), [member("LOAD.jcl", "jcl", JOB)])
    found = {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}": [one.line for one in edge.citations]
        for edge in graph.drawn
        if edge.target.kind == "table"
    }
    assert found == {
        "LOADJOB.LOAD writes PROD.CUST is": [4],
        "LOADJOB.RUNSQL writes PROD.CUST is": [12],
        "LOADJOB.RUNSQL writes PROD.NEW is": [12],
        "LOADJOB.RUNSQL reads PROD.OLD is": [12],
    }


PROCEDURES = b"""\
CREATE PROCEDURE PROD.CALCTAX (IN A CHAR(1), OUT B CHAR(1))
  LANGUAGE COBOL EXTERNAL NAME 'TAXLIB(TAX010)' PARAMETER STYLE GENERAL;
CREATE OR REPLACE PROCEDURE OLDONE () LANGUAGE SQL BEGIN DELETE FROM T; END;
CREATE PROCEDURE PAYIT () EXTERNAL LANGUAGE COBOL;
CREATE PROCEDURE TEST.PAYIT () EXTERNAL NAME PAYTEST LANGUAGE COBOL;
"""


UTILITIES = b"""\
//UNLOADS JOB (1),'X'
//PLUS EXEC PGM=ADUUMAIN,PARM='DB2P,UNLDX,NEW'
//SYSIN DD *
  UNLOAD SHRLEVEL CHANGE DIRECT AUTO
  SELECT * FROM
  PROD.CUST
  WHERE STATE = 'A FROM B' ORDER BY ID
/*
//FAST EXEC PGM=INZUTILB
//SYSIN DD *
  UNLOAD TABLESPACE DB2 NO
  SELECT * FROM %%OWNER..RATES R, &OWNER..FIRMS
  WHERE DAY = (SELECT MAX(DAY) FROM ${OWNER}.DAYS) OUTDDN (OUT1)
  SELECT * FROM {{ owner }}.NOTES;
  SELECT * FROM %%TABLE
/*
//PUT EXEC PGM=AMUUMAIN
//SYSIN DD *
  LOAD REPLACE INDDN SYSREC1 INTO TABLE "PROD"."New rates"
/*
//CROSS EXEC DSNUPROC,SYSTEM=DB2P
//DSNUPROC.SYSIN DD *
  EXEC SQL DECLARE C1 CURSOR FOR SELECT * FROM FAR.CUST ENDEXEC
  LOAD DATA INCURSOR(C1) REPLACE INTO TABLE PROD.CUST
/*
//OURS EXEC PGM=%%PROGRAM
"""


def test_symbols_in_a_stream_have_their_values_only_with_symbols() -> None:
    """Also in a procedure, and the values that the job gives it; a symbol that nothing sets stays."""
    stream = b"//SYSIN DD *%s\n  DELETE &SYSUID..&TYPE..CUST\n  DEFINE GDG (NAME(&SYSUID..&TYPE..NEW))\n/*\n"
    job = (
        b"//MAKE JOB 1\n//CLEAN PROC TYPE=DATA\n//RUN EXEC PGM=IDCAMS\n" + stream % b",SYMBOLS=EXECSYS" + b"// PEND\n"
        b"// EXPORT SYMLIST=(*)\n// SET TYPE='KSDS'\n//ONE EXEC PGM=IDCAMS\n"
        + stream % b",SYMBOLS=CNVTSYS"
        + b"//TWO EXEC PGM=IDCAMS\n"
        + stream % b""
        + b"//THREE EXEC CLEAN,TYPE=AIDX\n"
    )
    graph = EstateGraph((), [member("MAKE.jcl", "jcl", job)])
    assert [f"{one.source} {one.verb} {one.target}" for one in graph.drawn if one.target.kind == "dataset"] == [
        "MAKE.ONE deletes &SYSUID..KSDS.CUST",
        "MAKE.ONE creates &SYSUID..KSDS.NEW",
        "MAKE.TWO deletes &SYSUID..&TYPE..CUST",
        "MAKE.TWO creates &SYSUID..&TYPE..NEW",
        "MAKE.THREE.RUN deletes &SYSUID..AIDX.CUST",
        "MAKE.THREE.RUN creates &SYSUID..AIDX.NEW",
    ]


def test_comments_that_do_not_end_take_linear_time() -> None:
    """Two hundred lines of a stream are read, which is enough for seconds."""

    def work(size: int) -> Callable[[], object]:
        stream = (b"/ " + b"/* " * 23 + b"\n") * size
        made = b"".join(b"//%s EXEC PGM=%s\n//SYSIN DD *\n%s" % (one, one, stream) for one in (b"IDCAMS", b"DSNTEP2"))
        return lambda: EstateGraph((), [member("J.jcl", "jcl", b"//J JOB 1\n" + made)])

    assert growth(work, 50) < BOUND


def test_unloads_of_any_vendor_say_their_tables() -> None:
    """A utility unloads what FROM TABLE or a SELECT names; a schema that is a variable is left out."""
    graph = EstateGraph((), [member("UNLOADS.jcl", "jcl", UTILITIES)])
    found = [f"{edge.source} {edge.verb} {edge.target}" for edge in graph.drawn if edge.target.kind == "table"]
    assert found == [
        "UNLOADS.PLUS reads PROD.CUST",
        "UNLOADS.FAST reads RATES",
        "UNLOADS.FAST reads FIRMS",
        "UNLOADS.FAST reads DAYS",
        "UNLOADS.FAST reads NOTES",
        "UNLOADS.PUT writes PROD.NEW RATES",
        "UNLOADS.CROSS writes PROD.CUST",
        "UNLOADS.CROSS reads FAR.CUST",
    ]
    run = {str(edge.target): edge.certainty for edge in graph.drawn if edge.verb == "runs"}
    assert (run["AMUUMAIN"], run["%%PROGRAM"]) == ("is", "unknown")


CONTROLLED = b"""\
//NIGHT   JOB (1),'X'
//PAY     EXEC PGM=IKJEFT01
//SYSTSIN DD DSN=&HLQ..CARDS(RUNPAY),DISP=SHR
//SYSIN   DD DSN=PROD.DATA(RUNPAY),DISP=SHR
//LOAD    EXEC DSNUPROC,SYSTEM=DB2P
//DSNUPROC.SYSIN DD DSN=PROD.CARDS(LOADCUST),DISP=SHR
//CLEAN   EXEC PGM=IDCAMS
//SYSIN   DD DSN=PROD.CARDS(GONE),DISP=SHR
//        DD DSN=PROD.CARDS(CLEAN),DISP=SHR
//MAKE    EXEC PGM=IKJEFT1B
//SYSTSIN DD *
  RUN PROGRAM(DSNTEP2)
//SYSIN   DD DSN=PROD.CARDS(MAKECUST),DISP=SHR
//KEPT    EXEC PGM=OURS
//SYSIN   DD DSN=PROD.CARDS(0),DISP=SHR
//SYSTSIN DD DSN=PROD.CARDS(RUNPAY),DISP=SHR
"""


def test_control_statements_in_members_are_read_where_steps_read_them() -> None:
    """The library does not count, as the estate's folders need not have its name; a step of another program has its own data."""
    cards: tuple[tuple[str, Kind, bytes], ...] = (
        ("RUNPAY.ctl", "control", b" DSN SYSTEM(DB2P)\n RUN PROGRAM(PAY) PLAN(PAY) -\n     PARM('1')\n"),
        ("LOADCUST", "control", b"  LOAD DATA INDDN IN1\n  INTO TABLE PROD.CUST\n"),
        ("CLEAN.ctl", "control", b"  DELETE PROD.CUST.OLD\n"),
        (
            "MAKECUST.ctl",
            "ddl",
            b"/* Once a year */\nCREATE TABLE NEWCUST (ID INTEGER);\n/* New */ INSERT INTO NEWCUST VALUES(1);\n",
        ),
    )
    members = [member("NIGHT.jcl", "jcl", CONTROLLED), *(member(*one) for one in cards)]
    wanted = {"PAY", "PROD.CUST", "PROD.CUST.OLD", "NEWCUST"}
    found = [f"{one.source} {one.verb} {one.target}" for one in EstateGraph((), members).drawn]
    assert [one for one in found if one.split()[-1] in wanted] == [
        "NIGHT.PAY runs PAY",
        "NIGHT.LOAD writes PROD.CUST",
        "NIGHT.CLEAN deletes PROD.CUST.OLD",
        "NIGHT.MAKE writes NEWCUST",
    ]
    (gone,) = [one for one in EstateGraph((), members).drawn if one.verb == "deletes"]
    assert [(one.path, one.line, one.end_line) for one in gone.citations] == [
        ("NIGHT.jcl", 8, 9),
        ("CLEAN.ctl", 1, None),
    ]


def test_a_procedure_that_a_source_creates_is_the_program_that_it_names() -> None:
    """The program may have another name, in a library; a procedure in SQL runs none; of two with one name either may be meant."""
    said = (
        "EXEC SQL CALL PROD.CALCTAX(:A, :B) END-EXEC",
        "EXEC SQL CALL OLDONE(:A) END-EXEC",
        "EXEC SQL CALL PAYIT() END-EXEC",
        "GOBACK.",
    )
    found, source = ran(*said), scan(written(*said), source_format="free")
    made = member("ddl/procs.sql", "ddl", PROCEDURES)
    assert [one.name for one in made.procedures] == ["PROD.CALCTAX", "OLDONE", "PAYIT", "TEST.PAYIT"]
    graph = EstateGraph([part_of(found, source.programs[0], "p.cbl")], [made])
    calls = [one for one in graph.edges() if one.verb == "calls"]
    assert [f"{one.target} {one.certainty}" for one in calls] == [
        "TAX010 is",
        "OLDONE unknown",
        "PAYIT may",
        "PAYTEST may",
    ]
    assert ("ddl/procs.sql", 1) in [(place.path, place.line) for place in calls[0].citations]
    passed = [f"{one.source} {one.target} {one.certainty}" for one in graph.edges() if one.verb == "passes to"]
    assert passed == ["P.A TAX010 is", "P.B TAX010 is"]


IDCAMS = b"""\
//MAKE     JOB (1),'X'
//REMAKE   EXEC PGM=IDCAMS
//SYSIN    DD *
  /* DELETE NOT.THIS */
  DELETE (PROD.CUST.KSDS -
          PROD.OLD.*) PURGE                                             00000001
  IF LASTCC = 0 THEN DELETE 'PROD.LIB(MEM)' NONVSAM
  DELETE PROD.CUST.D1%%ODATE    PURGE
  DEL (${HLQ}.CUST, PROD.CUST.&DAY)
  SET MAXCC = 0
  DEFINE CLUSTER (NAME(PROD.CUST.KSDS) -
           INDEXED KEYS(8 0)) -
         DATA (NAME(PROD.CUST.KSDS.DATA))
  DEF AIX (NAME(PROD.CUST.AIX) RELATE(PROD.CUST.KSDS))
  REPRO INDATASET(PROD.UNLOADED) OUTDATASET(PROD.CUST.KSDS)
/*
"""


def test_what_idcams_defines_and_deletes_is_not_written_by_that() -> None:
    """A name with an asterisk is not a data set; the parts of a cluster belong to it; a deleted data set has no input."""
    graph = EstateGraph([], [member("jcl/make.jcl", "jcl", IDCAMS)])
    found = {f"{one.verb} {one.target}" for one in graph.edges() if one.target.kind == "dataset"}
    assert found == {
        "deletes PROD.CUST.KSDS",
        "deletes PROD.LIB(MEM)",
        "deletes PROD.CUST.D1%%ODATE",
        "deletes ${HLQ}.CUST",
        "deletes PROD.CUST.&DAY",
        "creates PROD.CUST.KSDS",
        "creates PROD.CUST.AIX",
        "reads PROD.UNLOADED",
        "writes PROD.CUST.KSDS",
    }
    touched = {str(one.source) + " " + one.verb for one in impact(graph, "PROD.CUST.AIX", depth=4).edges}
    assert touched == {"MAKE.REMAKE creates", "MAKE.REMAKE part of"}
