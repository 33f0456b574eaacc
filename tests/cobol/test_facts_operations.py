"""What do facts say about files, tables, CICS, IMS, MQ and other programs?"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from penstock.cobol import scan
from penstock.cobol.facts import call_diagram, facts
from penstock.cobol.facts.control import ProgramCall

from .sources import fixed, program

if TYPE_CHECKING:
    from penstock.cobol.facts import Facts

pytestmark = pytest.mark.proves("C-12")

FILES = fixed(
    "IDENTIFICATION DIVISION.",
    "PROGRAM-ID. FILER.",
    "ENVIRONMENT DIVISION.",
    "INPUT-OUTPUT SECTION.",
    "FILE-CONTROL.",
    "    SELECT OPTIONAL READINGS ASSIGN TO UT-S-READIN.",
    "    SELECT CUSTOMERS ASSIGN TO CUSTMAST",
    "        ORGANIZATION IS INDEXED ACCESS MODE IS DYNAMIC",
    "        RECORD KEY IS CUST-ID ALTERNATE RECORD KEY CUST-NAME WITH DUPLICATES",
    "        FILE STATUS IS CUST-STATUS CUST-STATUS-2.",
    "    SELECT METERS ASSIGN TO METERDD ORGANIZATION RELATIVE RELATIVE KEY IS METER-NO.",
    "    SELECT LISTING ASSIGN TO WS-NAME LINE SEQUENTIAL.",
    "    SELECT WORK-FILE ASSIGN TO 'SORTWK'.",
    "DATA DIVISION.",
    "FILE SECTION.",
    "FD  READINGS.",
    "01  READING PIC X(80).",
    "01  READING-2 PIC X(40).",
    "FD  CUSTOMERS.",
    "01  CUSTOMER.",
    "    05  CUST-ID PIC 9(6).",
    "    05  CUST-NAME PIC X(30).",
    "FD  METERS.",
    "01  METER PIC X(20).",
    "FD  LISTING.",
    "01  LISTED PIC X(20).",
    "SD  WORK-FILE.",
    "01  SORTED.",
    "    05  SORT-KEY PIC 9(6).",
    "WORKING-STORAGE SECTION.",
    "01  CUST-STATUS PIC XX.",
    "01  CUST-STATUS-2 PIC XX.",
    "01  METER-NO PIC 9(4).",
    "01  WS-NAME PIC X(20) VALUE 'OUTLIST'.",
    "PROCEDURE DIVISION.",
    "MAIN.",
    "    OPEN INPUT READINGS METERS I-O CUSTOMERS OUTPUT LISTING.",
    "    READ READINGS INTO LISTED AT END MOVE 4 TO RETURN-CODE END-READ.",
    "    READ CUSTOMERS KEY IS CUST-ID INVALID KEY CONTINUE END-READ.",
    "    REWRITE CUSTOMER.",
    "    DELETE CUSTOMERS.",
    "    START CUSTOMERS KEY NOT LESS THAN CUST-ID.",
    "    WRITE LISTED FROM READING.",
    "    SORT WORK-FILE ON ASCENDING KEY SORT-KEY USING READINGS GIVING LISTING.",
    "    CLOSE READINGS CUSTOMERS.",
    "    STOP RUN.",
)


def told(text: str, **copybooks: str) -> Facts:
    """Return the facts of the only program in a text."""
    source = scan(text)
    (only,) = source.programs
    return facts(source, only, copybooks={name: scan(copied) for name, copied in copybooks.items()})


def ran(*statements: str, data: tuple[str, ...] = ()) -> Facts:
    """Return the facts of a program with these statements."""
    lines = [
        f"    {line}" for statement in statements for line in textwrap.wrap(statement + ".", 60, break_on_hyphens=False)
    ]
    return told(program("MAIN.", *lines, "    GOBACK.", data=data))


def test_a_file_is_its_select_its_description_and_its_statements() -> None:
    """SELECT gives organization, access, keys, status and DD name, the FD the records, OPEN the modes."""
    found = told(FILES)
    by_name = {file.name: file for file in found.files}
    assert list(by_name) == ["READINGS", "CUSTOMERS", "METERS", "LISTING", "WORK-FILE"]
    customers = by_name["CUSTOMERS"]
    assert (customers.organization, customers.access) == ("INDEXED", "DYNAMIC")
    assert (customers.keys, customers.status) == (("CUST-ID", "CUST-NAME"), ("CUST-STATUS", "CUST-STATUS-2"))
    assert (customers.kind, customers.description_line, customers.records) == ("FD", 19, ("CUSTOMER",))
    assert [(use.verb, use.line) for use in customers.uses] == [
        ("OPEN", 37),
        ("READ", 39),
        ("REWRITE", 40),
        ("DELETE", 41),
        ("START", 42),
        ("CLOSE", 45),
    ]
    assert (by_name["METERS"].organization, by_name["METERS"].keys) == ("RELATIVE", ("METER-NO",))
    assert by_name["READINGS"].records == ("READING", "READING-2")
    assert {name: (file.io, file.kind) for name, file in by_name.items()} == {
        "READINGS": (("INPUT",), "FD"),
        "CUSTOMERS": (("I-O",), "FD"),
        "METERS": (("INPUT",), "FD"),
        "LISTING": (("OUTPUT",), "FD"),
        "WORK-FILE": ((), "SD"),
    }


def test_a_dd_name_is_what_assign_comes_to() -> None:
    """The name is the last part of UT-S-NAME, a literal, a plain name, or the value of a data item."""
    found = {file.name: file for file in told(FILES).files}
    assert {name: file.dd for name, file in found.items()} == {
        "READINGS": "READIN",
        "CUSTOMERS": "CUSTMAST",
        "METERS": "METERDD",
        "LISTING": "OUTLIST",
        "WORK-FILE": "SORTWK",
    }
    assert [(one.how, one.line) for one in found["LISTING"].named_by] == [("VALUE", 34)]
    assert found["LISTING"].organization == "LINE SEQUENTIAL"


def test_an_item_without_a_known_value_names_no_dd() -> None:
    """Its own name, or a part of it, is not that of the file, but on IBM's systems a name of eight letters may be that of a DD."""
    text = FILES.replace("ASSIGN TO UT-S-READIN", "ASSIGN TO W-S-PATH").replace("TO METERDD", "TO UT-S-METERDD")
    text = text.replace("METER-NO PIC 9(4).", "W-S-PATH PIC X(20).").replace(" VALUE 'OUTLIST'", "")
    text = text.replace("CUST-STATUS-2 PIC XX.", "CUSTMAST PIC X(8).")
    found = {file.name: (file.dd, file.named_by) for file in told(text).files}
    assert found == {
        "READINGS": (None, ()),
        "CUSTOMERS": ("CUSTMAST", ()),
        "METERS": ("METERDD", ()),
        "LISTING": (None, ()),
        "WORK-FILE": ("SORTWK", ()),
    }


def test_a_literal_that_nobody_closes_ends_with_its_line() -> None:
    """The clauses after an ASSIGN that column 72 cuts are still read."""
    source = FILES.replace("ASSIGN TO CUSTMAST", 'ASSIGN TO "CUSTMAST')
    customers = next(file for file in told(source).files if file.name == "CUSTOMERS")
    assert (customers.assign, customers.organization) == (('"CUSTMAST',), "INDEXED")


@pytest.mark.parametrize(
    ("assign", "value", "dd"),
    [
        ("SYS020-UR-3203-SYSLST", "", "SYSLST"),
        ("SYS010-UT-2400-S", "", "SYS010"),
        ("DA-2301-R-SYS010", "", "SYS010"),
        ("UT-2400-S-STOCKT", "", "STOCKT"),
        ("DA-I-STOCKI", "", "STOCKI"),
        ("DATABASE-STOCKPF", "", "STOCKPF"),
        ("WORKSTATION-STOCKD-SI", "", "STOCKD"),
        ("SYS011-DA-3340-S-MASTER", "", "MASTER"),
        ("DISK", "VALUE OF FILE-ID IS 'stock.dat'", "stock.dat"),
        ("DISK", "VALUE OF TITLE TITLE-WS", "STOCK"),
        ("DISK", "LABEL RECORD STANDARD", "STOCK"),
        ("DISK", "VALUE OF FILE-ID IS UNKNOWN-WS", None),
        ("PRINTER", "LABEL RECORD OMITTED", None),
        ("STOCKDD", "VALUE OF ID 'OTHER'", "STOCKDD"),
        ("DSK RECORDING MODE IS ASCII", "VALUE OF IDENTIFICATION IS 'STOCK DAT'", "STOCK DAT"),
        ("DSK", "VALUE ID 'OUTPUT   '", "OUTPUT"),
        ("DSK", "", "DSK"),
        ("DSK,DSK,DSK", "", "DSK"),
        ("RANDOM,TITLE-WS", "", "STOCK"),
        ("RANDOM,'stock.dat'", "", "stock.dat"),
        ("VSTOCK-MSD", "VALUE OF IDENTIFICATION IS 'VSTOCK'", "VSTOCK"),
        ("F1-MSD", "VALUE OF IDENTIFICATION 'STOCK-K '", "STOCK-K"),
        ("F1-MSD", "VALUE OF IDENTIFICATION TITLE-WS", "STOCK"),
        ("F1-MSD", "VALUE OF IDENTIFICATION UNKNOWN-WS", "F1"),
        ("F1-MSD", "LABEL RECORD STANDARD", "F1"),
    ],
)
def test_a_file_on_a_device_has_the_name_that_its_description_says(assign: str, value: str, dd: str | None) -> None:
    """A VSE unit ends with the name, if it has one; VALUE OF gives the name if ASSIGN has only a device."""
    (file,) = told(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. F.",
            "ENVIRONMENT DIVISION.",
            "INPUT-OUTPUT SECTION.",
            "FILE-CONTROL.",
            f"    SELECT STOCK ASSIGN TO {assign}.",
            "DATA DIVISION.",
            "FILE SECTION.",
            f"FD  STOCK {value}.",
            "01  STOCK-REC PIC X(9).",
            "WORKING-STORAGE SECTION.",
            "01  TITLE-WS PIC X(5) VALUE 'STOCK'.",
            "01  UNKNOWN-WS PIC X(5).",
            "PROCEDURE DIVISION.",
            "MAIN.",
            "    GOBACK.",
        )
    ).files
    assert file.dd == dd


@pytest.mark.parametrize("record", ["01  R. 05  A PIC X. 05  B PIC X. 05  C PIC X.", "    COPY MISSING."])
@pytest.mark.parametrize(
    ("clause", "keys"),
    {
        "RECORD KEY IS A B OF R, C ALTERNATE RECORD KEY IS C A WITH DUPLICATES": ("A", "B OF R", "C"),
        "RECORD KEY A B ALTERNATE KEY C NO DUPLICATES LOCK MODE IS AUTOMATIC": ("A", "B", "C"),
        "RECORD KEY IS A DESCENDING WITH DUPLICATES ALTERNATE RECORD KEY B ASCENDING": ("A", "B"),
        "RECORD KEY IS A TRACK-AREA IS 100 CHARACTERS": ("A",),
        "RECORD KEY IS A NOMINAL KEY IS B": ("A",),
        "RECORD KEY IS A BUFFER SIZE IS 8 BLOCKS": ("A",),
        "RECORD DELIMITER IS STANDARD-1 RECORD KEY IS A": ("A",),
        "RECORD KEY IS A OF STOCK ALTERNATE RECORD KEY IS B IN R OF STOCK": ("A OF STOCK", "B IN R OF STOCK"),
        "RECORD KEY K = A B ALTERNATE RECORD KEY L SOURCE IS B C SUPPRESS WHEN SPACE": ("K", "A", "B", "L", "C"),
    }.items(),
)
def test_a_key_may_have_several_items(clause: str, keys: tuple[str, ...], record: str) -> None:
    """NetCOBOL names the items of a key alone, Micro Focus and ACUCOBOL after a name for the whole."""
    (file,) = told(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. F.",
            "ENVIRONMENT DIVISION.",
            "INPUT-OUTPUT SECTION.",
            "FILE-CONTROL.",
            f"    SELECT STOCK ASSIGN TO STOCKL ORGANIZATION INDEXED {clause}.",
            "DATA DIVISION.",
            "FILE SECTION.",
            "FD  STOCK.",
            record,
        )
    ).files
    assert file.keys == keys


def test_the_second_select_of_a_name_is_told_and_the_first_is_taken() -> None:
    """Compilers refuse it: what the second says is lost, and the line that says it is noted."""
    text = fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. PAY.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        "    SELECT LISTED ASSIGN TO 'ONE'.",
        "    SELECT KEPT ASSIGN TO 'TWO'.",
        "    SELECT OPTIONAL Listed ASSIGN TO 'NONE'.",
        "PROCEDURE DIVISION.",
        "    STOP RUN.",
    )
    source = scan(text)
    found = facts(source, source.programs[0])
    assert [(file.name, file.dd) for file in found.files] == [("LISTED", "ONE"), ("KEPT", "TWO")]
    assert [tuple(note)[:2] for note in found.notes] == [
        (7, "SELECT Listed: one above has this name, and is taken instead")
    ]


def test_a_file_of_the_pdp_10_is_read_like_others() -> None:
    """RECORDING MODE ends the ASSIGN, ACCESS alone may say INDEXED, and a WRITE may name a part of a record."""
    (file,) = told(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. F.",
            "ENVIRONMENT DIVISION.",
            "INPUT-OUTPUT SECTION.",
            "FILE-CONTROL.",
            "    SELECT STOCK ASSIGN TO DSK RECORDING MODE IS ASCII",
            "        RESERVE NO ALTERNATE AREAS",
            "        ACCESS IS INDEXED SYMBOLIC KEY IS STOCK-NO",
            "        RECORD KEY IS PART-NO.",
            "DATA DIVISION.",
            "FILE SECTION.",
            "FD  STOCK VALUE OF IDENTIFICATION IS 'STOCK IDX'.",
            "01  STOCK-REC.",
            "    02  PART-NO PIC X(9).",
            "    02  FILLER PIC X(90).",
            "01  SHORT-REC.",
            "    02  SHORT-LINE PIC X(20).",
            "PROCEDURE DIVISION.",
            "MAIN.",
            "    WRITE STOCK-REC.",
            "    WRITE SHORT-LINE.",
        )
    ).files
    assert (file.assign, file.dd, file.organization, file.keys) == (("DSK",), "STOCK IDX", "INDEXED", ("PART-NO",))
    assert [(use.verb, use.line) for use in file.uses] == [("WRITE", 20), ("WRITE", 21)]


def test_a_write_of_a_part_of_a_record_writes_nothing_but_on_the_pdp_10() -> None:
    """GnuCOBOL compiles it to nothing, and other compilers refuse it."""
    (file,) = told(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. F.",
            "ENVIRONMENT DIVISION.",
            "INPUT-OUTPUT SECTION.",
            "FILE-CONTROL.",
            '    SELECT KEYS ASSIGN TO "KEYS".',
            "DATA DIVISION.",
            "FILE SECTION.",
            "FD  KEYS.",
            "01  KEYS-REC.",
            "    05  LAST-KEY PIC 9(3).",
            "PROCEDURE DIVISION.",
            "MAIN.",
            "    OPEN OUTPUT KEYS.",
            "    WRITE LAST-KEY.",
            "    CLOSE KEYS.",
        )
    ).files
    assert [use.verb for use in file.uses] == ["OPEN", "CLOSE"]


@pytest.mark.parametrize(
    ("opened", "written"),
    [
        ("OUTPUT LIST", {"LIST": ["WRITE"], "OTHER": []}),
        ("I-O LIST INPUT OTHER", {"LIST": ["WRITE"], "OTHER": []}),
        ("OUTPUT LIST OTHER", {"LIST": [], "OTHER": []}),  # of which one is not known
        ("OUTPUT KEYS INPUT OTHER", {"LIST": [], "OTHER": []}),
    ],
)
def test_a_record_of_a_missing_copybook_is_of_the_only_file_that_may_have_it(
    opened: str, written: dict[str, list[str]]
) -> None:
    """A WRITE of what nothing declares is of the file that is written and whose records are not here; of that alone."""
    found = told(
        fixed(
            "IDENTIFICATION DIVISION.",
            "PROGRAM-ID. F.",
            "ENVIRONMENT DIVISION.",
            "INPUT-OUTPUT SECTION.",
            "FILE-CONTROL.",
            "    SELECT KEYS ASSIGN TO KEYS.",
            "    SELECT LIST ASSIGN TO LIST.",
            "    SELECT OTHER ASSIGN TO OTHER.",
            "DATA DIVISION.",
            "FILE SECTION.",
            "FD  KEYS.",
            "01  KEYS-REC PIC X.",
            "FD  LIST.",
            "    COPY GONE.",
            "FD  OTHER.",
            "    COPY ALSOGONE.",
            "WORKING-STORAGE SECTION.",
            "01  NO-RECORD PIC X.",
            "PROCEDURE DIVISION.",
            "MAIN.",
            f"    OPEN {opened}.",
            "    WRITE LIST-REC.",
            "    WRITE NO-RECORD.",
            "    WRITE KEYS-REC.",
        )
    ).files
    writes = {file.name: [use.verb for use in file.uses if use.verb != "OPEN"] for file in found}
    assert writes == {"KEYS": ["WRITE"], **written}


def test_a_file_is_created_read_updated_and_deleted_where_its_statements_say() -> None:
    """A sort reads the files in USING and creates those in GIVING."""
    rows = {one.resource: (one.create, one.read, one.update, one.delete) for one in told(FILES).crud}
    assert rows["CUSTOMERS"] == ((), (39, 42), (40,), (41,))
    assert rows["READINGS"] == ((), (38, 44), (), ())
    assert rows["LISTING"] == ((43, 44), (), (), ())


def test_files_are_ways_in_and_out() -> None:
    """Files that are read or opened for input are input, written ones output; the file of a sort is neither."""
    found = told(FILES)
    assert {one.name for one in found.inputs if one.io_type == "file"} == {"READINGS", "CUSTOMERS", "METERS"}
    assert {one.name for one in found.outputs if one.io_type == "file"} == {"CUSTOMERS", "LISTING"}


SQL = {
    "SELECT A, B INTO :X, :Y FROM S.T1 T, T2 WHERE C = :K": ("SELECT", ("S.T1", "T2"), None, ("K",), ("X", "Y")),
    "INSERT INTO T1 (A) VALUES (:X)": ("INSERT", ("T1",), None, ("X",), ()),
    "INSERT INTO T1 SELECT A FROM T2 WHERE B = :X": ("INSERT", ("T1", "T2"), None, ("X",), ()),
    "UPDATE T1 SET A = :X WHERE CURRENT OF C1": ("UPDATE", ("T1",), "C1", ("X",), ()),
    "DELETE T1 WHERE A = :X": ("DELETE", ("T1",), None, ("X",), ()),
    "SELECT A, MAX(B) INTO :X FROM (SELECT A, YEAR(B) AS B, F(C, D), E FROM T1 WHERE G IN (1, 2)) AS V, T2": (
        "SELECT",
        ("T1", "T2"),
        None,
        (),
        ("X",),
    ),
    "SELECT A INTO :X FROM (T1 JOIN T2 ON T1.A = T2.A), TABLE(F(A, B)) AS V, T3": (
        "SELECT",
        ("T1", "T2", "T3"),
        None,
        (),
        ("X",),
    ),
    "DELETE FROM T1 WHERE A = (SELECT MAX(A) FROM T2)": ("DELETE", ("T1", "T2"), None, (), ()),
    "MERGE INTO T1 USING T2 ON T1.A = T2.A WHEN MATCHED THEN UPDATE SET B = :X": (
        "MERGE",
        ("T1", "T2"),
        None,
        ("X",),
        (),
    ),
    "DECLARE C1 CURSOR WITH HOLD FOR SELECT A FROM T1 JOIN T2 ON T1.B = T2.B FOR UPDATE OF A": (
        "DECLARE CURSOR",
        ("T1", "T2"),
        "C1",
        (),
        (),
    ),
    "DECLARE C1 WITH RETURN FOR SELECT A FROM T1 WHERE B = :X": ("DECLARE CURSOR", ("T1",), "C1", ("X",), ()),
    "DECLARE S1 STATEMENT": ("DECLARE STATEMENT", (), None, (), ()),
    "OPEN C1": ("OPEN", (), "C1", (), ()),
    "FETCH NEXT FROM C1 INTO :X:Y-IND, :Y": ("FETCH", (), "C1", (), ("X", "Y-IND", "Y")),
    "WITH W AS (SELECT A FROM T1) SELECT A INTO :X FROM W": ("SELECT", ("T1",), None, (), ("X",)),
    'WITH W ("A", B) AS (SELECT A, F(B) FROM T1), V (C) AS (SELECT A FROM W) SELECT C INTO :X FROM V, T2': (
        "SELECT",
        ("T1", "T2"),
        None,
        (),
        ("X",),
    ),
    "SELECT TRIM(BOTH ' ' FROM A) INTO :X FROM T1": ("SELECT", ("T1",), None, (), ("X",)),
    "DECLARE T1 TABLE (A CHAR(4) NOT NULL)": ("DECLARE TABLE", ("T1",), None, (), ()),
    "SELECT A INTO :X OF G FROM =T1, =T2 B WHERE =T1.A = B.A": ("SELECT", ("=T1", "=T2"), None, (), ("G.X",)),
    'SELECT A INTO :X FROM "S"."T1", S."T 2" B, "T3" WHERE "S"."T1"."B" = B."C"': (
        "SELECT",
        ("S.T1", "S.T 2", "T3"),
        None,
        (),
        ("X",),
    ),
    "INSERT INTO T1 (A) WITH W AS (SELECT B FROM T2) SELECT B FROM W": ("INSERT", ("T1", "T2"), None, (), ()),
    "SELECT A FROM T1 X LEFT JOIN T2 ON F(X.A, 1) = T2.B, T3 JOIN T4 USING (A, B), T5 WHERE A IN (B, C)": (
        "SELECT",
        ("T1", "T2", "T3", "T4", "T5"),
        None,
        (),
        (),
    ),
    "WITH W AS (SELECT A FROM T2) INSERT INTO T1 SELECT A FROM W": ("INSERT", ("T1", "T2"), None, (), ()),
    "WITH W AS (SELECT A FROM T2) DELETE FROM T1 WHERE A IN (SELECT A FROM W)": ("DELETE", ("T1", "T2"), None, (), ()),
    "WITH W AS (SELECT A FROM T2) UPDATE T1 SET A = :X": ("UPDATE", ("T1", "T2"), None, ("X",), ()),
    "SELECT K INTO :X FROM FINAL TABLE (INSERT INTO T1 (A) SELECT A FROM T2)": (
        "INSERT",
        ("T1", "T2"),
        None,
        (),
        ("X",),
    ),
    "INSERT INTO =T1 VALUES (:X)": ("INSERT", ("=T1",), None, ("X",), ()),
    "WHENEVER SQLERROR GO TO MAIN": ("WHENEVER SQLERROR", (), None, (), ()),
    "WHENEVER NOT FOUND PERFORM :MAIN": ("WHENEVER NOT FOUND", (), None, (), ()),
    "COMMIT": ("COMMIT", (), None, (), ()),
    "WITH \uc804\uccb4 AS (SELECT A FROM S.\uad6c\uac04) SELECT A INTO :\u5024\uff0d\u91d1 FROM \uc804\uccb4 W": (
        "SELECT",
        ("S.\uad6c\uac04",),
        None,
        (),
        ("\u5024\uff0d\u91d1",),
    ),
}


@pytest.mark.parametrize("statement", SQL)
def test_a_sql_statement_has_tables_a_cursor_and_host_variables(statement: str) -> None:
    """Names of common table expressions and functions, and of FOR UPDATE OF, are not tables."""
    (found,) = ran(f"EXEC SQL {statement} END-EXEC").sql
    assert (found.operation, found.tables, found.cursor, found.reads, found.writes) == SQL[statement]
    assert (found.line, found.paragraph) == (5, "MAIN")


def test_tables_are_read_where_their_cursor_is_fetched() -> None:
    """A cursor reads its tables where it is declared and where it is fetched."""
    found = ran(
        "EXEC SQL DECLARE C1 CURSOR FOR SELECT A FROM T1 END-EXEC",
        "EXEC SQL FETCH C1 INTO :X END-EXEC",
        "EXEC SQL DELETE FROM T1 WHERE CURRENT OF C1 END-EXEC",
    )
    (table,) = found.crud
    assert (table.resource, table.kind, table.read, table.delete) == ("T1", "table", (5, 6), (7,))


@pytest.mark.parametrize(
    ("statement", "deeds"),
    [
        ("INSERT INTO T1 SELECT A FROM T2 WHERE K IN (SELECT K FROM T3)", {"create"}),
        ("UPDATE T1 SET A = (SELECT B FROM T2) WHERE K IN (SELECT K FROM T3)", {"update"}),
        ("DELETE FROM T1 WHERE K IN (SELECT K FROM T2, T3)", {"delete"}),
        ("MERGE INTO T1 USING (SELECT K FROM T2, T3) S ON T1.K = S.K", {"create", "update"}),
    ],
)
def test_a_statement_changes_its_own_table_and_reads_those_of_its_queries(statement: str, deeds: set[str]) -> None:
    """INSERT INTO T1 SELECT … FROM T2 creates rows of T1 alone; T2 is an input, and no output."""
    found = ran(f"EXEC SQL {statement} END-EXEC")
    ways = ("create", "read", "update", "delete")
    done = {one.resource: {way for way in ways if getattr(one, way)} for one in found.crud}
    assert done == {"T1": deeds, "T2": {"read"}, "T3": {"read"}}
    assert [one.name for one in found.inputs] == ["T2", "T3"]
    assert [one.name for one in found.outputs] == ["T1"]


def test_an_include_is_a_copybook_and_no_operation() -> None:
    """EXEC SQL INCLUDE copies source."""
    found = ran("EXEC SQL INCLUDE DCLT1 END-EXEC")
    assert found.sql == ()
    assert [(use.name, use.via) for use in found.copybooks] == [("DCLT1", "INCLUDE")]


CICS = {
    "READ DATASET(WS-FILE) INTO(A) RIDFLD(K) RESP(RC)": ("READ", "WS-FILE", "file"),
    "SEND MAP('MENU1') MAPSET('MENU') ERASE": ("SEND MAP", "'MENU1'", "map"),
    "RECEIVE MAP(WS-FILE) INTO(A)": ("RECEIVE MAP", "WS-FILE", "map"),
    "WRITEQ TD QUEUE('CSSL') FROM(A)": ("WRITEQ TD", "'CSSL'", "tdqueue"),
    "READQ QUEUE('Q1') INTO(A) ITEM(K)": ("READQ TS", "'Q1'", "tsqueue"),
    "XCTL PROGRAM('NEXTPGM') COMMAREA(A)": ("XCTL", "'NEXTPGM'", "program"),
    "RETURN TRANSID('TR01') COMMAREA(A)": ("RETURN", "'TR01'", "transaction"),
    "RETURN": ("RETURN", None, None),
    "HANDLE ABEND LABEL(MAIN)": ("HANDLE ABEND", "MAIN", "label"),
    "ASKTIME ABSTIME(A) NOHANDLE": ("ASKTIME", None, None),
    "SYNCPOINT ROLLBACK": ("SYNCPOINT ROLLBACK", None, None),
    "GET CONTAINER('C1') CHANNEL('CH') INTO(A)": ("GET CONTAINER", "'C1'", "container"),
    "INQUIRE URIMAP(A) PATH(K) TRANSACTION(RC) NEXT": ("INQUIRE", "A", "urimap"),
    "INQUIRE URIMAP START": ("INQUIRE", None, None),
    "ASSIGN PROGRAM(A)": ("ASSIGN", None, None),
    "SET FILE('F1') CLOSED PROGRAM(A)": ("SET", "'F1'", "file"),
}


@pytest.mark.parametrize("statement", CICS)
def test_a_cics_command_has_a_resource(statement: str) -> None:
    """The name of the resource is a literal or a data item; the command gives its kind."""
    (found,) = ran(f"EXEC CICS {statement} END-EXEC").cics
    assert (found.command, found.resource, found.kind) == CICS[statement]


def test_what_a_data_item_may_hold_is_resolved_with_its_line() -> None:
    """The literal may be moved to the item or be its VALUE, also by way of other items and of conditions."""
    found = ran(
        "MOVE 'FIRST' TO WS-PGM",
        "IF WS-SUB = 'X' MOVE WS-OTHER TO WS-PGM END-IF",
        "IF WS-SUB = 'Y' SET IS-THIRD TO TRUE END-IF",
        "EXEC CICS XCTL PROGRAM(WS-PGM) END-EXEC",
        "CALL WS-SUB USING WS-PGM",
        data=(
            "01  WS-PGM PIC X(8).",
            "    88  IS-THIRD VALUE 'THIRD'.",
            "01  WS-OTHER PIC X(8) VALUE 'SECOND  '.",
            "01  WS-SUB PIC X(8) VALUE 'SUB1'.",
        ),
    )
    transfer, call = found.calls
    assert [(one.value, one.how, one.line) for one in transfer.resolved] == [
        ("FIRST", "MOVE", 11),
        ("THIRD", "SET", 13),
        ("SECOND", "VALUE", 7),
    ]
    assert (call.call_type, call.target, call.names, call.parameters) == ("dynamic", "WS-SUB", ("SUB1",), ("WS-PGM",))


def test_an_item_of_a_table_of_values_holds_one_of_them() -> None:
    """A table that redefines a list of VALUEs holds the values at its places."""
    found = ran(
        "CALL PGM-NAME(IX)",
        data=(
            "01  MENU.",
            "    05  MENU-VALUES.",
            "        10  FILLER PIC X(3) VALUE 'ONE'.",
            "        10  FILLER PIC X(8) VALUE 'PGMONE'.",
            "        10  FILLER PIC X(3) VALUE 'TWO'.",
            "        10  FILLER PIC X(8) VALUE 'PGMTWO'.",
            "    05  MENU-TABLE REDEFINES MENU-VALUES.",
            "        10  MENU-LINE OCCURS 2 TIMES.",
            "            15  PGM-TEXT PIC X(3).",
            "            15  PGM-NAME PIC X(8).",
            "01  IX PIC 9.",
        ),
    )
    (call,) = found.calls
    assert call.names == ("PGMONE", "PGMTWO")


def test_a_list_of_values_may_be_longer_than_its_table() -> None:
    """A subscript past the OCCURS finds what else the list holds, up to its last whole entry; nothing behind the list."""
    found = ran(
        "CALL PGM-NAME(IX)",
        "CALL SHORT-NAME(IX)",
        data=(
            "01  MENU.",
            "    05  MENU-VALUES.",
            "        10  FILLER PIC X(6) VALUE 'PGMONE'.",
            "        10  FILLER PIC X(6) VALUE 'PGMTWO'.",
            "        10  FILLER PIC X(6) VALUE 'PGMSIX'.",
            "        10  FILLER PIC X(4) VALUE 'PART'.",
            "    05  MENU-TABLE REDEFINES MENU-VALUES.",
            "        10  PGM-NAME PIC X(6) OCCURS 2 TIMES.",
            "    05  SHORT-NAME REDEFINES MENU-VALUES PIC X(6) OCCURS 1 TIMES.",
            "    05  FILLER PIC X(6) VALUE 'BEHIND'.",
            "01  IX PIC 9.",
        ),
    )
    assert [call.names for call in found.calls] == [("PGMONE", "PGMTWO", "PGMSIX")] * 2


@pytest.mark.parametrize(
    ("behind", "table"),
    [
        ("FILLER PIC X(9000)", "PGM-NAME PIC X(6) OCCURS 2 TIMES"),
        ("FILLER PIC X(9000)", "FILLER OCCURS 2 TIMES. 15 FILLER OCCURS 1 TIMES. 20 PGM-NAME PIC X(6)"),
        ("FILLER PIC X(9) VALUE 'SOME TEXT'", "PGM-NAME PIC X(6) OCCURS 2 TIMES. 10 OTHER PIC X"),
    ],
)
def test_what_is_behind_the_entries_of_a_list_is_none(behind: str, table: str) -> None:
    """A long rest of the list leaves the entries that are known, and what a table is followed by is not its own."""
    found = ran(
        "CALL PGM-NAME(IX)",
        data=(
            "01  MENU.",
            "    05  MENU-VALUES.",
            "        10  FILLER PIC X(6) VALUE 'PGMONE'.",
            "        10  FILLER PIC X(6) VALUE 'PGMTWO'.",
            f"        10  {behind}.",
            "    05  MENU-TABLE REDEFINES MENU-VALUES.",
            f"        10  {table}.",
            "01  IX PIC 9.",
        ),
    )
    assert [call.names for call in found.calls] == [("PGMONE", "PGMTWO")]


def test_a_part_of_an_item_is_not_its_value() -> None:
    """A reference modification does not set the name of a program."""
    found = ran("MOVE 'AB' TO WS-PGM(1:2)", "CALL WS-PGM", data=("01  WS-PGM PIC X(8).",))
    (call,) = found.calls
    assert call.names == ()


@pytest.mark.parametrize(
    ("statement", "kind", "names"),
    [
        ("CALL 'SUB1' USING A BY REFERENCE B OF G BY CONTENT 'X' LENGTH OF A", "static", ("SUB1",)),
        ("CALL WINAPI 'SUB1' USING A BY REFERENCE B OF G BY CONTENT 'X' LENGTH OF A", "static", ("SUB1",)),
        ("EXEC CICS LINK PROGRAM('SUB2') COMMAREA(A) END-EXEC", "link", ("SUB2",)),
        ("EXEC CICS START TRANSID('TR02') FROM(A) END-EXEC", "start", ("TR02",)),
        ("EXEC CICS RETURN TRANSID('TR03') COMMAREA(A) END-EXEC", "return_transid", ("TR03",)),
    ],
)
def test_calls_are_of_five_kinds(statement: str, kind: str, names: tuple[str, ...]) -> None:
    """CALL, LINK, XCTL, START and RETURN TRANSID reach other programs."""
    (call,) = ran(statement).calls
    assert (call.call_type, call.names) == (kind, names)
    assert call.parameters == (("A", "B OF G", "'X'", "LENGTH OF A") if kind == "static" else ("A",))


@pytest.mark.parametrize(
    "argument",
    [
        "'%s' & X'0A00'",
        "FUNCTION TRIM(A)",
        "FUNCTION MAX(A B)",
        "ALL '*'",
        "ALL SPACES",
        "LENGTH OF A",
        "T(B + 1)",
        "B + 1",
        "B - 2 * B",
    ],
)
@pytest.mark.parametrize("how", ["", "BY CONTENT ", "BY VALUE UNSIGNED SIZE 4 ", "BY DESCRIPTOR "])
def test_an_argument_of_many_words_is_one(argument: str, how: str) -> None:
    """Each of its words was one, and so what follows arrived in another parameter."""
    (call,) = ran(f"CALL 'SUB1' USING A {how}{argument}, BY REFERENCE A").calls
    assert (call.parameters, call.copied) == (("A", argument, "A"), (1,) if how[3:4] in {"C", "V"} else ())


@pytest.mark.parametrize(
    ("statement", "name", "parameters", "returned"),
    [
        ('ENTER TAL "Len^Of" USING A, 36 GIVING L', "Len^Of", ("A", "36"), ("L",)),
        ('ENTER "GETPARAM" USING A', "GETPARAM", ("A",), ()),
        ("ENTER TAL ENDTRANSACTION", "ENDTRANSACTION", (), ()),
        ("ENTER MACRO GETKAR USING A, 66", "GETKAR", ("A", "66"), ()),
        ("ENTER MACRO COBAID", "COBAID", (), ()),
        ("ENTER C", None, (), ()),
        ("ENTER LINKAGE", None, (), ()),
    ],
)
def test_enter_calls_a_routine_of_another_language(
    statement: str, name: str | None, parameters: tuple[str, ...], returned: tuple[str, ...]
) -> None:
    """NonStop and the PDP-10 name the language and then the routine, quoted or not; before 1985 NonStop named only the language."""
    found = ran(statement, data=("01  A PIC X(8) VALUE 'SUB1'.", "01  L PIC 9(4)."))
    assert [(call.call_type, call.names, call.parameters, call.returned) for call in found.calls] == (
        [("static", (name,), parameters, returned)] if name else []
    )
    assert {item.name: len(item.written_lines) for item in found.items}["L"] == len(returned)
    assert found.undeclared == ()


def test_a_call_of_blanks_reaches_no_program() -> None:
    """A program with a blank name would be missing from every estate."""
    (call,) = ran("CALL '  ' USING A").calls
    assert (call.target, call.names, call.unknown) == ("'  '", (), "the name is blank")


def test_invoke_of_nonstop_names_the_table_whose_record_it_is() -> None:
    """INVOKE copies the record that SQL/MP keeps for a table, or for the name that stands for one."""
    found = ran("EXEC SQL INVOKE =ORDERS AS ORDER-REC END-EXEC.", "EXEC SQL INVOKE FEES END-EXEC.")
    assert [(one.operation, one.tables) for one in found.sql] == [("INVOKE", ("=ORDERS",)), ("INVOKE", ("FEES",))]


def test_enter_may_change_what_it_is_given() -> None:
    """If an ENTER was given an item, a later call by that item may name any program."""
    data = ("01  A PIC X(8) VALUE 'SUB1'.",)
    assert [call.is_sure for call in ran("CALL A.", data=data).calls] == [True]
    assert [call.is_sure for call in ran("ENTER TAL SETNAME USING A.", "CALL A.", data=data).calls] == [True, False]


def test_a_failure_is_handled_by_its_response() -> None:
    """RESP and NOHANDLE are of the command, and a test of either response is where an error is handled."""
    found = ran(
        "EXEC CICS READ FILE('F') INTO(A) RIDFLD(A) RESP(RC) END-EXEC",
        "IF RC = DFHRESP(NORMAL) CONTINUE END-IF",
        "EXEC CICS REWRITE FILE('F') FROM(A) NOHANDLE END-EXEC",
        "IF EIBRESP = 13 CONTINUE END-IF",
        "EXEC CICS UNLOCK FILE('F') END-EXEC",
        data=("01  RC PIC S9(8) COMP.",),
    )
    assert [one.response for one in found.cics] == ["RESP", "NOHANDLE", ""]
    assert [one.kind for one in found.errors] == ["RESP", "RESP"]


@pytest.mark.parametrize(
    ("written", "function", "deed"),
    [
        ("GET UNIQUE", "GU", "read"),
        ("GET NEXT", "GN", "read"),
        ("GET NEXT IN PARENT", "GNP", "read"),
        ("INSERT", "ISRT", "create"),
        ("LOAD", "ISRT", "create"),
        ("REPLACE", "REPL", "update"),
        ("DELETE", "DLET", "delete"),
    ],
)
def test_a_function_of_dli_may_be_spelled_out(written: str, function: str, deed: str) -> None:
    """EXEC DLI GET UNIQUE is EXEC DLI GU."""
    found = ran(f"EXEC DLI {written} USING PCB(1) SEGMENT(ROOT) END-EXEC")
    assert [(one.function, one.segments) for one in found.dli] == [(function, ("ROOT",))]
    assert [getattr(one, deed) for one in found.crud] == [(found.dli[0].line,)]


def test_dli_by_exec_and_by_call_have_the_same_facts() -> None:
    """Both have the function, the segments from the outermost, the PCB and the area."""
    found = ran(
        "EXEC DLI ISRT USING PCB(1) SEGMENT(ROOT) WHERE(K = A) SEGMENT(CHILD) FROM(A) END-EXEC",
        "CALL 'CBLTDLI' USING FUNC-GU A-PCB A CHILD-SSA",
        data=(
            "01  A PIC X(9).",
            "01  FUNC-GU PIC X(4) VALUE 'GU  '.",
            "01  A-PCB PIC X(9).",
            "01  CHILD-SSA.",
            "    05  FILLER PIC X(8) VALUE 'CHILD'.",
            "    05  FILLER PIC X VALUE ' '.",
        ),
    )
    assert [(one.function, one.segments, one.area) for one in found.dli] == [
        ("ISRT", ("ROOT", "CHILD"), "A"),
        ("GU", ("CHILD",), "A"),
    ]
    assert [(one.resource, one.kind, one.create, one.read) for one in found.crud] == [
        ("CHILD", "segment", (13,), (15,)),
        ("ROOT", "segment", (), (13,)),
    ]
    assert found.type == "IMS"


SSAS = (
    "01  A PIC X(9).",
    "01  B PIC X(9).",
    "01  PARMS PIC S9(8) COMP VALUE 4.",
    "01  FUNC PIC X(4).",
    "01  PCB1 PIC X(9).",
    "01  PCB2 PIC X(9).",
    "01  ROOT-SSA.",
    "    05  FILLER PIC X(8) VALUE 'ROOT'.",
    "    05  FILLER PIC X(3) VALUE '*P('.",
    "01  DATA-SSA.",
    "    05  FILLER PIC X(8) VALUE 'ROOT'.",
    "    05  FILLER PIC X(3) VALUE '*D('.",
    "01  CHILD-SSA PIC X(9) VALUE 'CHILD'.",
    "01  ANY-SSA PIC X(9).",
    "01  WHICH PIC X(8).",
)


@pytest.mark.parametrize(
    ("statements", "uses"),
    [
        # The function that is moved right before a call, although DL/I has the item as an argument of the call before.
        (
            (
                "MOVE 'GU' TO FUNC",
                "CALL 'CBLTDLI' USING FUNC PCB1 A ROOT-SSA CHILD-SSA",
                "MOVE 'ISRT' TO FUNC",
                "CALL 'CBLTDLI' USING PARMS FUNC PCB1 A ROOT-SSA CHILD-SSA",
            ),
            ["GU ROOT", "GU CHILD", "GU ROOT", "ISRT CHILD"],
        ),
        # On two paths to one call.
        (
            (
                "MOVE 'GU' TO FUNC",
                "IF A = B MOVE 'REPL' TO FUNC END-IF",
                "CALL 'CBLTDLI' USING FUNC PCB1 A CHILD-SSA",
            ),
            ["GU CHILD may", "REPL CHILD may"],
        ),
        # Nothing tells which: every function that the item may have.
        (
            ("MOVE 'GU' TO FUNC", "MOVE 'DLET' TO FUNC", "ACCEPT FUNC", "CALL 'CBLTDLI' USING FUNC PCB1 A CHILD-SSA"),
            ["GU CHILD may", "DLET CHILD may"],
        ),
        # The data of an upper segment is sent by the command code D, and by FROM.
        (("CALL 'CBLTDLI' USING 'REPL' PCB1 A DATA-SSA CHILD-SSA",), ["REPL ROOT", "REPL CHILD"]),
        (
            ("EXEC DLI REPL SEGMENT(ROOT) FROM(A) SEGMENT(MIDDLE) SEGMENT(CHILD) FROM(B) END-EXEC",),
            ["REPL ROOT", "GU MIDDLE", "REPL CHILD"],
        ),
        # A change without segments is of what is held by its PCB, and by its area if there are several.
        (
            (
                "CALL 'CBLTDLI' USING 'GHU' PCB1 A ROOT-SSA",
                "CALL 'CBLTDLI' USING 'GHNP' PCB1 B CHILD-SSA",
                "CALL 'CBLTDLI' USING 'GU' PCB1 B DATA-SSA",
                "CALL 'CBLTDLI' USING 'REPL' PCB1 A",
                "CALL 'CBLTDLI' USING 'DLET' PCB1 FUNC",
                "CALL 'CBLTDLI' USING 'DLET' PCB2 B",
            ),
            ["GHU ROOT", "GHNP CHILD", "GU ROOT", "REPL ROOT", "DLET ROOT may", "DLET CHILD may"],
        ),
        (
            (
                "MOVE 'ONE' TO ANY-SSA",
                "MOVE 'TWO' TO ANY-SSA",
                "CALL 'CBLTDLI' USING 'GHU' PCB1 A ROOT-SSA ANY-SSA",
                "CALL 'CBLTDLI' USING 'REPL' PCB1 A",
            ),
            ["GHU ROOT", "GHU ONE may", "GHU TWO may", "REPL ONE may", "REPL TWO may"],
        ),
        # A name that is moved to a search argument, and one in an item of EXEC DLI.
        (
            ("MOVE 'ONE' TO ANY-SSA", "MOVE 'TWO' TO ANY-SSA", "CALL 'CBLTDLI' USING 'GU' PCB1 A ANY-SSA"),
            ["GU ONE may", "GU TWO may"],
        ),
        (
            ("MOVE 'ONE' TO WHICH", "EXEC DLI GU SEGMENT((WHICH)) SEGMENT(CHILD) INTO(A) END-EXEC"),
            ["GU ONE", "GU CHILD"],
        ),
    ],
)
def test_each_segment_of_a_call_has_its_use(statements: tuple[str, ...], uses: list[str]) -> None:
    """The function that reaches the call decides; a segment that only leads to another is read for its key."""
    found = ran(*statements, data=SSAS)
    said = [use for one in found.dli for use in one.uses]
    assert [f"{use.function} {use.segment}{'' if use.is_sure else ' may'}" for use in said] == uses


def test_a_message_has_no_segment() -> None:
    """What follows its area is the name of its format, which is too short to be a search argument."""
    data = (*SSAS, "01  MOD-NAME PIC X(8) VALUE 'IVTMOD'.", "01  LONG-SSA PIC X(9) VALUE 'ROOT'.")
    message = ("CALL 'CBLTDLI' USING 'GU' PCB1 A", "CALL 'CBLTDLI' USING 'ISRT' PCB1 A MOD-NAME")
    found = ran(*message, "CALL 'CBLTDLI' USING 'ISRT' PCB1 A LONG-SSA", data=data).dli
    assert [one.segments for one in found] == [(), (), ("ROOT",)]
    assert ran(message[1], data=data).dli[0].segments == ("IVTMOD",)


def test_each_function_that_a_call_may_have_is_given() -> None:
    """The name of the item is all that can be said if nothing gives it a value."""
    moved = ("MOVE 'GU' TO FUNC", "IF A = 'X' MOVE 'GHU' TO FUNC END-IF")
    (call,) = ran(*moved, "CALL 'CBLTDLI' USING FUNC PCB1 A CHILD-SSA", data=SSAS).dli
    assert sorted(call.function.split(" or ")) == ["GHU", "GU"]
    (call,) = ran("ACCEPT FUNC", "CALL 'CBLTDLI' USING FUNC PCB1 A CHILD-SSA", data=SSAS).dli
    assert call.function == "FUNC"


def test_a_pcb_holds_no_more_segments_than_a_database_has() -> None:
    """Otherwise a program with thousands of calls would have millions of uses."""
    data = tuple(f"01  SSA{number} PIC X(9) VALUE 'SEG{number}'." for number in range(300))
    calls = [f"CALL 'CBLTDLI' USING 'GHU' PCB1 A SSA{number}" for number in range(300)]
    found = ran(*calls, "CALL 'CBLTDLI' USING 'REPL' PCB1 A", data=(*SSAS, *data))
    assert len(found.dli[-1].uses) == 255


def test_a_search_argument_names_its_segment_and_another_area_none() -> None:
    """What is moved to the first part of the argument names the segment too; an area without a value names none."""
    found = ran(
        "MOVE 'CHILD' TO SSA-NAME",
        "CALL 'CBLTDLI' USING FUNC-GU A-PCB A CHILD-SSA",
        "CALL 'CBLTDLI' USING FUNC-GU A-PCB A SPA-AREA",
        data=(
            "01  A PIC X(9).",
            "01  FUNC-GU PIC X(4) VALUE 'GU  '.",
            "01  A-PCB PIC X(9).",
            "01  CHILD-SSA.",
            "    05  SSA-NAME PIC X(8).",
            "    05  FILLER PIC X.",
            "01  SPA-AREA.",
            "    05  SPA-KEY PIC 9(4).",
        ),
    )
    assert [one.segments for one in found.dli] == [("CHILD",), ()]


def test_a_queue_is_that_of_the_open_which_filled_the_handle() -> None:
    """MQGET names a handle, MQOPEN the descriptor, a MOVE the queue."""
    found = ran(
        "MOVE 'PAY.IN' TO WS-Q",
        "MOVE WS-Q TO MQOD-OBJECTNAME OF MQM-OD",
        "CALL 'MQOPEN' USING HC MQM-OD OPT HO CC RC",
        "CALL 'MQGET' USING HC HO MD GMO LEN BUF DLEN CC RC",
        data=("01  WS-Q PIC X(48).", "01  MQM-OD.", "    COPY CMQODV."),
    )
    assert [(one.call, one.queue, [value.value for value in one.resolved]) for one in found.mq] == [
        ("MQOPEN", "WS-Q", ["PAY.IN"]),
        ("MQGET", "WS-Q", ["PAY.IN"]),
    ]
    assert [(one.resource, one.read) for one in found.crud] == [("PAY.IN", (13,))]


def test_the_type_of_a_program_has_a_reason() -> None:
    """A program is CICS, IMS, a subroutine or batch; a single parameter that JCL may give does not make a subroutine."""
    assert told(program("    GOBACK.")).type == "batch"
    assert ran("EXEC CICS RETURN END-EXEC").type == "CICS"
    linkage = ("LINKAGE SECTION.", "01  P1.", "    05  P-LEN PIC S9(4) COMP.", "    05  P-TEXT PIC X(80).")
    head = ("IDENTIFICATION DIVISION.", "PROGRAM-ID. S.", "DATA DIVISION.", *linkage)
    assert told(fixed(*head, "PROCEDURE DIVISION USING P1.", "    GOBACK.")).type == "batch"
    both = told(fixed(*head, "01  P2 PIC X.", "PROCEDURE DIVISION USING P1 P2.", "    GOBACK."))
    assert (both.type, both.type_reason) == ("subroutine", "PROCEDURE DIVISION has USING P1, P2")
    assert (both.using, both.linkage) == (("P1", "P2"), ("P1", "P2"))
    linked = told(program("    GOBACK.", data=("LINKAGE SECTION.", "01  DFHCOMMAREA PIC X.")))
    assert (linked.type, linked.type_reason) == ("CICS", "its LINKAGE SECTION has DFHCOMMAREA")
    assert told(fixed("01  A PIC X.")).type == "copybook"
    # A menu calls it without arguments: EXIT PROGRAM ends it but not the run, whether it has files or not.
    files = ("ENVIRONMENT DIVISION.", "INPUT-OUTPUT SECTION.", "FILE-CONTROL.", "    SELECT F ASSIGN TO 'F.DAT'.")
    screen = fixed(
        *head[:2],
        *files,
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  F.",
        "01  R PIC X.",
        "PROCEDURE DIVISION.",
        "    EXIT PROGRAM.",
    )
    assert (told(screen).type, told(screen).type_reason) == ("subroutine", "it ends with EXIT PROGRAM")
    # The parameter of a job says nothing about a program with a screen: RM/COBOL passes its argument alike.
    asked = ("SCREEN SECTION.", "01  S.", "    02  LINE 1 PIC X USING P1.", "PROCEDURE DIVISION USING P.")
    argument = ("01  P.", "    05  L PIC 9(4) BINARY.", "    05  P1 PIC X(9).")
    found = told(fixed(*head, *argument, *asked, "    ACCEPT S.", "    STOP RUN."))
    assert (found.type, found.type_reason) == ("interactive", "it has a screen at line 12")
    # The usage of a workstation's screen is that of its items; the screen begins with the record.
    station = ("01  S", "    USAGE IS DISPLAY-WS.", "    05  ROW 2 COLUMN 3 PIC X(9) SOURCE P1 OBJECT P1.")
    found = told(fixed(*head, *argument, *station, asked[-1], "    DISPLAY AND READ S ON CRT.", "    STOP RUN."))
    assert (found.type, found.type_reason) == ("interactive", "it has a screen at line 11")
    placed = told(program("    DISPLAY 'Key'.", "    ACCEPT K LINE 3 POSITION 9.", "    ACCEPT K FROM LINE NUMBER."))
    assert (placed.type, placed.type_reason) == ("interactive", "it has a screen at line 5")


def test_a_parameter_that_is_only_written_does_not_come_in() -> None:
    """What is read, passed on or described a second time may come in, and so may a parameter that is not used at all."""
    data = (
        "01  A PIC X(5).",
        "01  B.",
        "    05  B1 PIC X.",
        "    05  B2 PIC X.",
        "        88  B-YES VALUE 'Y'.",
        "01  C PIC X.",
    )
    more = ("01  D PIC X.", "01  D2 REDEFINES D PIC 9.", "01  E PIC 9.", "01  F PIC X.")
    found = told(
        fixed(
            *("IDENTIFICATION DIVISION.", "PROGRAM-ID. S.", "DATA DIVISION.", "LINKAGE SECTION.", *data, *more),
            *("PROCEDURE DIVISION USING A B C D E F.", "    IF B-YES MOVE 'N' TO B1 A C D.", "    ADD 1 TO E."),
            *("    CALL 'X' USING C.", "    GOBACK."),
        )
    )
    assert [one.name for one in found.inputs] == ["B", "C", "D", "E", "F"]
    assert [one.name for one in found.outputs] == ["A", "B", "C", "D", "E"]


def test_the_order_of_parameters_does_not_depend_on_the_case_of_letters() -> None:
    """Parameters of one line are listed by their names, whatever letters they are written in."""
    data = ("LINKAGE SECTION.", "01  Beta PIC X.", "01  alpha PIC X.", "01  GAMMA PIC X.")
    lines = ("IDENTIFICATION DIVISION.", "PROGRAM-ID. S.", "DATA DIVISION.", *data)
    found = told(
        fixed(*lines, "PROCEDURE DIVISION USING GAMMA Beta alpha.", "    DISPLAY GAMMA Beta alpha.", "    GOBACK.")
    )
    assert [one.name for one in found.inputs] == ["alpha", "Beta", "GAMMA"]


def test_the_call_diagram_shows_programs_and_resources() -> None:
    """Names are labels; unknown ones have a question mark."""
    drawn = call_diagram(ran("CALL 'SUB1'", "CALL WS-X", "EXEC SQL DELETE FROM T1 END-EXEC", data=("01  WS-X PIC X.",)))
    assert 'c0(["SUB1"])' in drawn
    assert 'c1(["WS-X ?"])' in drawn
    assert 'r0[("T1")]' in drawn
    assert "program ---|table D| r0" in drawn


def test_the_call_diagram_asks_each_call_for_its_names_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are found anew at each look: to look for each name of a call would take n * n."""
    moved = (f"IF WS-X = 'X' MOVE 'P{number}' TO WS-X END-IF" for number in range(40))
    found = ran(*moved, "CALL WS-X", "CALL WS-X", data=("01  WS-X PIC X(8).",))
    asked: list[ProgramCall] = []
    names = vars(ProgramCall)["names"]

    def counted(call: ProgramCall) -> tuple[str, ...]:
        asked.append(call)
        return tuple(names.__get__(call))

    monkeypatch.setattr(ProgramCall, "names", property(counted))
    drawn = call_diagram(found)
    assert ('(["P39"])' in drawn, len(asked)) == (True, 2)


def test_what_a_copied_paragraph_does_is_not_done_by_the_one_that_its_copy_follows() -> None:
    """It is cited at the COPY; copied code without a header belongs to the paragraph around it."""
    program_text = fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. P.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        "    PERFORM FAILED.",
        "    COPY PART.",
        "    GOBACK.",
        "LAST-ONE.",
        "    EXIT.",
        "    COPY WHOLE.",
    )
    part = "    EXEC CICS LINK PROGRAM('A') END-EXEC.", "    CALL 'B'.", "    EXEC SQL COMMIT END-EXEC."
    found = told(program_text, PART=fixed(*part), WHOLE=fixed("FAILED.", *part))
    for done in (found.cics, found.sql, found.calls):
        assert [(one.line, one.paragraph) for one in done if one.line == 6] == [(6, "MAIN")] * (
            1 + (done is found.calls)
        )
        assert {one.paragraph for one in done if one.line == 10} == {"FAILED"}


def test_a_number_in_hexadecimal_calls_a_routine_of_the_runtime() -> None:
    """CALL X"91" names what it calls: it is not a call through an item that is not declared."""
    source = scan(program('    CALL x"91" USING WS-A.', "    GOBACK.", data=("01  WS-A PIC X.",)))
    (call,) = facts(source, source.programs[0]).calls
    assert (call.target, call.call_type, call.names, call.unknown) == ('X"91"', "static", ('X"91"',), "")


@pytest.mark.parametrize(("code", "lines"), [("MOVE 'N' TO B.", (9,)), ("CONTINUE.", (7,))])
def test_what_a_program_returns_is_an_output(code: str, lines: tuple[int, ...]) -> None:
    """The item of RETURNING is not among the parameters, and no page said that a caller gets it."""
    division = ["PROGRAM-ID. R.", "DATA DIVISION.", "LINKAGE SECTION.", "01  A PIC 9(4).", "01  B PIC X."]
    body = ["PROCEDURE DIVISION USING A RETURNING B.", "M.", f"    {code}", "    GOBACK."]
    source = scan(fixed("IDENTIFICATION DIVISION.", *division, *body))
    found = facts(source, source.programs[0])
    assert [(one.name, one.io_type) for one in found.inputs] == [("A", "parameter")]
    assert [(one.name, one.io_type, one.lines) for one in found.outputs] == [("B", "parameter", lines)]


def test_what_comes_and_goes_by_http_is_input_and_output() -> None:
    """A program behind a web page had neither: its request and its answer are in WEB commands."""
    lines = (
        "    EXEC CICS WEB EXTRACT QUERYSTRING(WS-A) QUERYSTRLEN(WS-N) END-EXEC.",
        "    EXEC CICS WEB READ FORMFIELD('ID') VALUE(WS-B) VALUELENGTH(WS-N) END-EXEC.",
        "    EXEC CICS WEB CONVERSE SESSTOKEN(WS-T) FROM(WS-A) INTO(WS-B) END-EXEC.",
        "    EXEC CICS WEB SEND DOCTOKEN(WS-T) END-EXEC.",
        "    EXEC CICS WEB EXTRACT HTTPMETHOD(WS-B) METHODLENGTH(WS-N) END-EXEC.",
    )
    data = ("01  WS-A PIC X(80).", "01  WS-B PIC X(80).", "01  WS-T PIC X(16).", "01  WS-N PIC S9(8) COMP.")
    source = scan(program(*lines, "    GOBACK.", data=data))
    found = facts(source, source.programs[0])
    assert {one.name for one in found.inputs if one.io_type == "web"} == {"WS-A", "WS-B", "web"}
    assert {one.name for one in found.outputs if one.io_type == "web"} == {"WS-A", "WS-T"}


def test_what_is_sent_to_another_program_is_no_screen() -> None:
    """APPC and MRO send and receive in a conversation, whose identifier a command names."""
    found = ran(
        "EXEC CICS SEND CONVID(A) FROM(B) END-EXEC",
        "EXEC CICS RECEIVE SESSION('S1') SET(ADDRESS OF B) END-EXEC",
        "EXEC CICS CONVERSE CONVID(A) FROM(B) INTO(B) END-EXEC",
        "EXEC CICS FREE CONVID(A) END-EXEC",
        "EXEC CICS SEND FROM(B) END-EXEC",
    )
    assert [(one.name, one.io_type, len(one.lines)) for one in found.inputs] == [
        ("'S1'", "conversation", 1),
        ("A", "conversation", 1),
    ]
    assert [(one.name, one.io_type, len(one.lines)) for one in found.outputs] == [
        ("A", "conversation", 2),
        ("terminal", "screen", 1),
    ]


def test_a_parameter_that_gets_another_place_is_no_output() -> None:
    """SET ADDRESS OF does not write what the caller passed."""
    lines = (
        "    SET ADDRESS OF L-A TO NULL.",
        "    SET ADDRESS OF L-B TO NULL.",
        "    MOVE 'X' TO L-B.",
        "    GOBACK.",
    )
    text = program(*lines, data=("LINKAGE SECTION.", "01  L-A PIC X.", "01  L-B PIC X."))
    found = told(text.replace("PROCEDURE DIVISION.", "PROCEDURE DIVISION USING L-A L-B."))
    assert [(one.name, one.io_type) for one in found.inputs] == [("L-A", "parameter")]
    assert [(one.name, one.io_type, len(one.lines)) for one in found.outputs] == [("L-B", "parameter", 1)]
