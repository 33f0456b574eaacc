"""What do facts say about data: layout, references, values, copybooks?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from penstock.cobol import ScannedSource, scan
from penstock.cobol.facts import facts
from penstock.cobol.facts.pictures import bytes_of

from .sources import fixed, program

if TYPE_CHECKING:
    from penstock.cobol.facts import Facts
    from penstock.cobol.facts.data import DataItem

pytestmark = pytest.mark.proves("C-12")


def told(text: str, **copybooks: str) -> Facts:
    """Return the facts of the only program in a text."""
    source = scan(text)
    (only,) = source.programs
    return facts(source, only, copybooks={name: scan(copied) for name, copied in copybooks.items()})


def data(*entries: str, **copybooks: str) -> dict[str, DataItem]:
    """Return the items of WORKING-STORAGE by name."""
    return {item.name: item for item in told(program("    GOBACK.", data=entries), **copybooks).items}


@pytest.mark.parametrize(
    ("picture", "usage", "size"),
    [
        ("X(10)", "DISPLAY", 10),
        ("S9(7)V99", "DISPLAY", 9),
        ("S9(7)V99", "COMP-3", 5),
        ("S9(4)", "COMP", 2),
        ("9(5)", "BINARY", 4),
        ("S9(18)", "COMP-5", 8),
        ("9(5)", "COMP-6", 3),
        ("ZZ,ZZ9.99CR", "DISPLAY", 11),
        ("$$,$$9.99", "DISPLAY", 9),
        ("G(4)", "DISPLAY-1", 8),
        ("N(4)", "NATIONAL", 8),
        ("9(3)PP", "COMP-3", 3),
        ("X(000000000000000020)", "DISPLAY", 20),
        ("X(999999999)", "DISPLAY", 999_999_999),
        (None, "COMP-2", 8),
        (None, "POINTER", 4),
        (None, "DISPLAY", None),
        ("X(", "DISPLAY", None),
    ],
)
def test_an_item_takes_the_bytes_of_its_picture_and_usage(picture: str | None, usage: str, size: int | None) -> None:
    """Sizes are those of the mainframe's compiler; an invalid picture has none."""
    assert bytes_of(picture, usage) == size


def test_offsets_follow_groups_tables_and_redefinitions() -> None:
    """An item begins where the one before it ends, a redefinition where its subject begins."""
    items = data(
        "01  ORDER-RECORD.",
        "    05  ORDER-ID        PIC 9(6).",
        "    05  ORDER-LINES OCCURS 3 TIMES.",
        "        10  ITEM-CODE   PIC X(4).",
        "        10  ITEM-COUNT  PIC S9(4) COMP.",
        "    05  ORDER-TOTAL     PIC S9(7)V99 COMP-3.",
        "    05  ORDER-TOTAL-X REDEFINES ORDER-TOTAL PIC X(5).",
        "    05  ORDER-STATE     PIC X.",
        "        88  IS-OPEN     VALUE 'O'.",
        "        88  IS-DONE     VALUE 'A' THRU 'C', 'Z'.",
        "66  ORDER-KEY RENAMES ORDER-ID THRU ORDER-LINES.",
        "77  ALONE               PIC S9(3) SIGN LEADING SEPARATE.",
    )
    assert (items["ORDER-RECORD"].offset, items["ORDER-RECORD"].bytes) == (0, 30)
    assert (items["ORDER-LINES"].offset, items["ORDER-LINES"].bytes, items["ORDER-LINES"].occurs) == (6, 6, 3)
    assert (items["ITEM-COUNT"].offset, items["ITEM-COUNT"].bytes) == (10, 2)
    assert (items["ORDER-TOTAL"].offset, items["ORDER-TOTAL"].bytes) == (24, 5)
    assert items["ORDER-TOTAL-X"].offset == 24
    assert items["ORDER-STATE"].offset == 29
    assert [condition.values for condition in items["ORDER-STATE"].conditions] == [("'O'",), ("'A' THRU 'C'", "'Z'")]
    assert (items["ORDER-KEY"].offset, items["ORDER-KEY"].bytes) == (0, 24)
    assert (items["ALONE"].bytes, items["ALONE"].sign) == (4, "LEADING SEPARATE")


def test_items_without_a_record_follow_each_other() -> None:
    """In a copybook without a level 01, offsets count from the beginning of the copybook; a record starts at 0."""
    items = data(
        "    05  STREET     PIC X(30).",
        "    05  PLACE.",
        "        10  TOWN   PIC X(24).",
        "        10  STATE  PIC X(2).",
        "    05  TOWN-X REDEFINES PLACE PIC X(26).",
        "    05  POSTCODE   PIC X(8).",
        "01  OTHER          PIC X(4).",
    )
    assert [items[name].offset for name in ("STREET", "PLACE", "TOWN", "STATE", "TOWN-X", "POSTCODE", "OTHER")] == [
        *(0, 30, 30, 54, 30, 56),
        0,
    ]


def test_what_follows_a_table_of_varying_length_varies() -> None:
    """Offsets count the maximum of occurrences and are marked as varying."""
    items = data(
        "01  HEAD.",
        "    05  HOW-MANY   PIC 9(3).",
        "    05  ENTRY-X    PIC X(8) OCCURS 1 TO 20 TIMES DEPENDING ON HOW-MANY INDEXED BY IX.",
        "    05  AFTER-IT   PIC X.",
    )
    table = items["ENTRY-X"]
    assert (table.occurs, table.depending, table.indexes) == (20, "HOW-MANY", ("IX",))
    assert (items["AFTER-IT"].offset, items["AFTER-IT"].varies) == (163, True)


def test_a_usage_of_the_group_is_that_of_its_items() -> None:
    """COMP-3 on the group packs the items in it; an item without a picture is an index or a group."""
    items = data("01  SUMS COMP-3.", "    05  A-SUM PIC S9(5).", "01  AN-INDEX USAGE INDEX.", "01  EMPTY-GROUP.")
    assert (items["A-SUM"].usage, items["A-SUM"].bytes, items["SUMS"].bytes) == ("COMP-3", 3, 3)
    assert (items["AN-INDEX"].usage, items["AN-INDEX"].bytes) == ("INDEX", 4)
    assert (items["EMPTY-GROUP"].usage, items["EMPTY-GROUP"].bytes) == ("GROUP", None)


def test_synchronized_items_are_aligned() -> None:
    """A binary item of four bytes begins at a multiple of four."""
    items = data("01  R.", "    05  A PIC X.", "    05  B PIC S9(9) COMP SYNC.", "    05  C PIC S9(4) COMP SYNC.")
    assert (items["B"].offset, items["C"].offset, items["R"].bytes) == (4, 8, 10)


def test_no_item_has_level_0() -> None:
    """Characters of a shifted card that look like an entry are no group: every later item would be placed in it."""
    found = data("77  A PIC X(9).", "00  I", "77  B PIC X(4).", "01  C.", "    02 D PIC X.")
    assert {name: (item.offset, item.parent) for name, item in found.items()} == {
        "A": (0, None), "B": (0, None), "C": (0, None), "D": (0, 2),
    }  # fmt: skip


@pytest.mark.parametrize(("width", "length"), [(32, 4), (64, 8), (128, 16)])
def test_binary_floating_point_has_the_length_in_its_name(width: int, length: int) -> None:
    """USAGE may be left out before it."""
    items = data(f"01  A FLOAT-BINARY-{width}.", f"01  B USAGE IS FLOAT-BINARY-{width}.")
    assert {name: (item.usage, item.bytes) for name, item in items.items()} == dict.fromkeys(
        "AB", (f"FLOAT-BINARY-{width}", length)
    )


@pytest.mark.parametrize(
    ("usage", "at"),
    [("BINARY-CHAR", 1), ("BINARY-SHORT", 2), ("SIGNED-INT", 4), ("FLOAT-LONG", 8), ("BINARY-DOUBLE", 8)],
)
def test_usages_that_say_their_size_are_aligned_to_it(usage: str, at: int) -> None:
    """SYNC aligns these usages as it does COMP."""
    items = data("01  R.", "    05  A PIC X.", f"    05  B {usage} SYNC.")
    assert [item.offset for item in items.values()] == [0, 0, at]


def test_a_literal_on_a_screen_is_no_group() -> None:
    """A literal needs no picture; an entry with others below it is a group."""
    text = fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. S.",
        "DATA DIVISION.",
        "SCREEN SECTION.",
        "01  MENU-SCREEN.",
        "    05 LINE 1 COL 1 VALUE 'Menu'.",
        "    05 HEAD LINE 2.",
        "       10 COL 3 PIC X(5) FROM DAY-NAME.",
    )
    assert [item.usage for item in told(text).items] == ["GROUP", "DISPLAY", "GROUP", "DISPLAY"]


def test_usages_of_other_compilers_have_their_sizes() -> None:
    """FLOAT, DOUBLE and HANDLE are usages of Micro Focus and ACUCOBOL, with or without the word USAGE."""
    items = data("01  R.", "    05  A FLOAT.", "    05  B USAGE DOUBLE.", "    05  C HANDLE.", "    05  D PIC X.")
    assert [(item.offset, item.bytes) for item in items.values()] == [(0, 17), (0, 4), (4, 8), (12, 4), (16, 1)]


def test_nothing_is_guessed_after_a_copybook_that_is_missing() -> None:
    """A missing copybook within a record makes the offsets after it unknown; one between records does not."""
    items = data(
        "01  R.",
        "    05  A PIC X.",
        "    COPY GONE.",
        "    05  B PIC X.",
        "01  S.",
        "    05  C PIC X.",
        "COPY GONE.",
        "01  T PIC X.",
    )
    assert (items["A"].offset, items["B"].offset, items["R"].bytes) == (0, None, None)
    assert items["S"].bytes == 1


@pytest.mark.parametrize("count", ["LIM", "LIM TIMES", "1 TO LIM", "1 TO UNBOUNDED DEPENDING ON A"])
def test_nothing_is_guessed_after_a_table_of_unknown_size(count: str) -> None:
    """If no level 78 defines the count, what follows, the record and a RENAMES over it have unknown sizes."""
    items = data(
        "01  R.",
        "    05  A PIC X.",
        f"    05  T PIC X OCCURS {count}.",
        "    05  B PIC X.",
        "66  A-TO-T RENAMES A THRU T.",
        "01  S.",
        f"    05  G OCCURS {count}.",
        "        10  C PIC X(3).",
        "    05  D PIC X.",
    )
    assert (items["T"].offset, items["T"].bytes, items["B"].offset, items["R"].bytes) == (1, 1, None, None)
    assert items["A-TO-T"].bytes is None
    assert (items["G"].bytes, items["C"].offset, items["D"].offset, items["S"].bytes) == (3, 0, None, None)


def test_a_table_may_be_counted_by_a_constant() -> None:
    """A level 78 before the table is as good as a number; one after it is not known yet."""
    items = data(
        "78  LIM VALUE 4.",
        "01  R.",
        "    05  T PIC X OCCURS LIM TIMES.",
        "    05  A PIC X.",
        "01  S.",
        "    05  U PIC X OCCURS LATER TIMES.",
        "78  LATER VALUE 4.",
    )
    assert (items["T"].occurs, items["A"].offset, items["R"].bytes, items["S"].bytes) == (4, 4, 5, None)


def test_a_renames_up_to_what_nothing_declares_has_no_size() -> None:
    """The RENAMES begins at its first item, and is not reduced to that item."""
    items = data("01  R.", "    05  A PIC X.", "    05  B PIC X.", "66  A-TO-Z RENAMES A THRU Z.")
    assert (items["A-TO-Z"].offset, items["A-TO-Z"].bytes) == (0, None)


@pytest.mark.parametrize(
    ("pairs", "names"),
    [
        ("==AA== BY ==BB== ==BB== BY ==CC==", ["BB", "CC", "AA-X"]),
        ("==BB== BY ==CC== ==AA== BY ==BB==", ["BB", "CC", "AA-X"]),
        ("==AA== BY ==BB== ==BB== BY ==AA==", ["BB", "AA", "AA-X"]),
        ("==AA== BY ==ONE== ==AA== BY ==TWO==", ["ONE", "BB", "AA-X"]),
        ("LEADING ==AA== BY ==ONE== ==AA-X== BY ==TWO==", ["ONE", "BB", "ONE-X"]),
        # As AcuBench writes it.
        ("LEADING \"aa\" BY \"ONE\" TRAILING 'b' BY 'C'", ["ONE", "BC", "ONE-X"]),
        ("LEADING 'AA-' BY SPACES", ["AA", "BB", "X"]),
        ("==AA-X== BY ==TWO== LEADING ==AA== BY ==ONE==", ["ONE", "BB", "TWO"]),
        ("//AA// BY //ONE//", ["ONE", "BB", "ONE-X"]),
        ("//AA//  BY  //ONE// ==BB== BY ==C==", ["ONE", "C", "ONE-X"]),
    ],
)
def test_the_first_pair_of_replacing_that_matches_replaces_once(pairs: str, names: list[str]) -> None:
    """All pairs are compared at each word, in order, and none with what another pair wrote."""
    copied = fixed("01  AA PIC X.", "01  BB PIC X.", "01  AA-X PIC X.")
    found = told(program("    GOBACK.", data=(f"COPY BODY REPLACING {pairs}.",)), BODY=copied)
    assert [item.name for item in found.items] == names


def test_copybooks_are_put_in_place_with_their_replacing() -> None:
    """Their items are cited at the COPY, names are replaced, and nested COPYs are followed."""
    text = program(
        "    MOVE 1 TO IN-COUNT.",
        "    GOBACK.",
        data=("01  IN-AREA.", "    COPY BODY REPLACING ==:TAG:== BY ==IN==.", "01  LAST-ONE PIC X."),
    )
    found = told(
        text, BODY=fixed("    05  :TAG:-COUNT PIC 9(4).", "    COPY DEEPER."), DEEPER=fixed("    05  DEEP PIC X(3).")
    )
    items = {item.name: item for item in found.items}
    assert [item.name for item in found.items] == ["IN-AREA", "IN-COUNT", "DEEP", "LAST-ONE"]
    assert (items["IN-COUNT"].copybook, items["IN-COUNT"].line, items["IN-COUNT"].copybook_line) == ("BODY", 6, 1)
    assert items["IN-COUNT"].written_lines == (9,)
    assert (items["DEEP"].copybook, items["DEEP"].offset, items["IN-AREA"].bytes) == ("DEEPER", 4, 7)
    assert [(use.name, use.found, use.copybook) for use in found.copybooks] == [
        ("BODY", True, None),
        ("DEEPER", True, "BODY"),
    ]


def test_a_copybook_that_copies_itself_ends() -> None:
    """The recursion is reported and not followed."""
    found = told(program("    GOBACK.", data=("COPY LOOP.",)), LOOP=fixed("01  A PIC X.", "COPY LOOP."))
    assert [item.name for item in found.items] == ["A"]
    assert "copies itself" in found.notes[0].text


def test_copybooks_of_the_system_are_not_missing() -> None:
    """DFHAID and the like are known; any other copybook that is not found is missing."""
    found = told(
        program(
            "    GOBACK.",
            data=(
                "COPY DFHAID.",
                "COPY CMQV.",
                'COPY "sqlca.cbl".',
                'COPY "sql.cbl".',
                "COPY SCREENIO.",
                "COPY COBW3.",
                "COPY OURS.",
            ),
        )
    )
    assert [(use.name, use.found, use.system) for use in found.copybooks] == [
        ("DFHAID", False, True),
        ("CMQV", False, True),
        ("sqlca.cbl", False, True),
        ("sql.cbl", False, True),
        ("SCREENIO", False, True),
        ("COBW3", False, True),
        ("OURS", False, False),
    ]


READS_AND_WRITES = {
    "MOVE A TO B C": ("A", "BC"),
    "MOVE T(A) TO B": ("AT", "B"),
    "MOVE A TO T(B)": ("AB", "T"),
    "ADD A TO B": ("AB", "B"),
    "ADD A B GIVING C": ("AB", "C"),
    "ADD A TO B GIVING C": ("AB", "C"),
    "SUBTRACT A FROM B": ("AB", "B"),
    "MULTIPLY A BY B GIVING C": ("AB", "C"),
    "DIVIDE A INTO B GIVING C REMAINDER D": ("AB", "CD"),
    "DIVIDE A BY B GIVING C": ("AB", "C"),
    "COMPUTE C ROUNDED = A * (B + 1)": ("AB", "C"),
    "SET A TO B": ("B", "A"),
    "SET A UP BY B": ("AB", "A"),
    "INITIALIZE A B": ("", "AB"),
    "ACCEPT A FROM DATE": ("", "A"),
    "ACCEPT A POSITION B": ("B", "A"),
    "ACCEPT A SIZE B CONTROL C": ("BC", "A"),
    "ACCEPT A CURSOR B": ("B", "AB"),
    "ACCEPT A BEFORE TIME B": ("B", "A"),
    "ACCEPT A LINE B CONTROL KEY IN C": ("B", "AC"),
    "ACCEPT A ON EXCEPTION B MOVE C TO D": ("C", "ABD"),
    "ACCEPT A NO BEEP EXCEPTION B NEXT SENTENCE": ("", "AB"),
    "CALL 'SUB' ON EXCEPTION DISPLAY A B END-CALL": ("AB", ""),
    "DISPLAY A 'X' B": ("AB", ""),
    "DISPLAY LABEL A HANDLE IS B TITLE C": ("AC", "B"),
    "MODIFY A(B), CELL-DATA = C": ("BC", "A"),
    "MODIFY A VALUE B GIVING C": ("B", "AC"),
    "INQUIRE A(B), CELL-DATA IN C VALUE D": ("AB", "CD"),
    "STRING A B DELIMITED BY C INTO D WITH POINTER T": ("ABCT", "DT"),
    "UNSTRING A DELIMITED BY B INTO C D TALLYING IN T": ("ABT", "CDT"),
    "INSPECT A REPLACING ALL 'X' BY B": ("AB", "A"),
    "INSPECT A TALLYING B FOR ALL 'X'": ("AB", "B"),
    "EXAMINE A TALLYING ALL 'X'": ("A", ""),
    "EXAMINE A REPLACING ALL 'X' BY 'Y'": ("A", "A"),
    "TRANSFORM A CHARACTERS FROM B TO C": ("ABC", "A"),
    "SORT T ASCENDING KEY T": ("T", "T"),
    "ALLOCATE A CHARACTERS RETURNING B": ("A", "B"),
    "SET ENVIRONMENT A TO B": ("AB", ""),
    "XML GENERATE A FROM G COUNT IN B NAMESPACE IS C NAMESPACE-PREFIX IS D": ("CDG", "AB"),
    "JSON GENERATE A FROM G COUNT B SUPPRESS T": ("GT", "AB"),
    "IF A = B CONTINUE": ("AB", ""),
    "EVALUATE A WHEN B CONTINUE": ("AB", ""),
    "PERFORM VARYING A FROM B BY 1 UNTIL C = 1 CONTINUE END-PERFORM": ("ABC", "A"),
    "PERFORM X UNTIL A = B": ("AB", ""),
    "CALL 'SUB' USING BY CONTENT A RETURNING B": ("A", "B"),
    "CANCEL A, B": ("AB", ""),
    "CANCEL 'SUB' A": ("A", ""),
    "PERFORM THREAD X HANDLE IN A": ("", "A"),
    "CALL IN THREAD 'SUB' USING BY CONTENT A HANDLE IN B": ("A", "B"),
    "CALL THREAD 'SUB' HANDLE B": ("", "B"),
    "RECEIVE A FROM THREAD B SIZE IN C STATUS IN D": ("B", "ACD"),
    "RECEIVE A FROM ANY THREAD BEFORE TIME B THREAD IN C": ("B", "AC"),
    "RECEIVE A FROM LAST THREAD": ("", "A"),
    "SEND A TO THREAD B": ("AB", ""),
    "LOCK THREAD A": ("A", ""),
    "WAIT FOR THREAD A STATUS IN B": ("A", "B"),
    "WAIT FOR ANY THREAD THREAD IN A": ("", "A"),
    "STOP THREAD A": ("A", ""),
    "MOVE LENGTH OF A TO B": ("A", "B"),
    "MOVE FUNCTION MAX(A B) TO C": ("AB", "C"),
    "EXEC CICS READ FILE('F') INTO(A) RIDFLD(B) RESP(C) END-EXEC": ("B", "AC"),
    "EXEC CICS READ FILE('F') INTO(A) RIDFLD(B) UPDATE TOKEN(C) END-EXEC": ("B", "AC"),
    "EXEC CICS REWRITE FILE('F') FROM(A) TOKEN(B) END-EXEC": ("AB", ""),
    "EXEC CICS BIF DEEDIT FIELD(A) LENGTH(B) END-EXEC": ("AB", "A"),
    "EXEC CICS CONVERSE FROM(A) INTO(B) TOLENGTH(C) END-EXEC": ("AC", "BC"),
    "EXEC CICS CONVERTTIME DATESTRING(A) ABSTIME(B) END-EXEC": ("A", "B"),
    "EXEC CICS GET COUNTER('N') VALUE(A) END-EXEC": ("", "A"),
    "EXEC CICS GET DCOUNTER('N') VALUE(A) END-EXEC": ("", "A"),
    "EXEC CICS QUERY COUNTER('N') VALUE(A) MAXIMUM(B) END-EXEC": ("", "AB"),
    "EXEC CICS UPDATE COUNTER('N') VALUE(A) END-EXEC": ("A", ""),
    "EXEC CICS DOCUMENT CREATE DOCTOKEN(A) FROM(B) LENGTH(C) END-EXEC": ("BC", "A"),
    "EXEC CICS DOCUMENT RETRIEVE DOCTOKEN(A) INTO(B) LENGTH(C) END-EXEC": ("AC", "BC"),
    "EXEC CICS WEB RECEIVE INTO(A) LENGTH(B) END-EXEC": ("B", "AB"),
    "EXEC CICS WEB RECEIVE INTO(A) LENGTH(B) STATUSCODE(C) MEDIATYPE(D) END-EXEC": ("B", "ABCD"),
    "EXEC CICS WEB EXTRACT HTTPMETHOD(A) METHODLENGTH(B) SCHEME(C) END-EXEC": ("B", "ABC"),
    "EXEC CICS WEB PARSE URL(A) URLLENGTH(B) HOST(C) HOSTLENGTH(D) END-EXEC": ("ABD", "CD"),
    "EXEC CICS WRITE OPERATOR TEXT(A) MAXLENGTH(B) REPLY(C) REPLYLENGTH(D) END-EXEC": ("AB", "CD"),
    "EXEC CICS WRITEQ TS QUEUE(A) FROM(B) ITEM(C) END-EXEC": ("AB", "C"),
    "EXEC CICS WRITEQ TS QUEUE(A) FROM(B) ITEM(C) REWRITE END-EXEC": ("ABC", ""),
    "EXEC CICS INQUIRE FILE(A) OPENSTATUS(B) RESP(C) END-EXEC": ("A", "BC"),
    "EXEC CICS INQUIRE FILE(A) OPENSTATUS(B) NEXT END-EXEC": ("", "AB"),
    "EXEC CICS INQUIRE SYSTEM JOBNAME(A) END-EXEC": ("", "A"),
    "EXEC CICS EXTRACT ATTRIBUTES CONVID(A) STATE(B) END-EXEC": ("A", "B"),
    "EXEC CICS ADDRESS SET(A) USING(B) END-EXEC": ("B", "A"),
    "EXEC CICS LOAD PROGRAM(A) SET(B) LENGTH(C) END-EXEC": ("A", "BC"),
    "EXEC CICS SPOOLREAD TOKEN(A) INTO(B) MAXFLENGTH(C) TOFLENGTH(D) END-EXEC": ("AC", "BD"),
    "EXEC CICS STARTBROWSE CONTAINER CHANNEL(A) BROWSETOKEN(B) END-EXEC": ("A", "B"),
    "EXEC CICS GETNEXT CONTAINER(A) BROWSETOKEN(B) END-EXEC": ("B", "A"),
    "EXEC CICS SIGNON USERID(A) PASSWORD(B) ESMRESP(C) LANGINUSE(D) END-EXEC": ("AB", "CD"),
    "EXEC CICS DUMP TRANSACTION DUMPCODE(A) DUMPID(B) END-EXEC": ("A", "B"),
    "EXEC CICS WEB READ HTTPHEADER(A) NAMELENGTH(9) VALUE(B) VALUELENGTH(C) END-EXEC": ("AC", "BC"),
    "EXEC CICS WEB READNEXT HTTPHEADER(A) NAMELENGTH(B) VALUE(C) VALUELENGTH(D) END-EXEC": ("BD", "ABCD"),
    "EXEC CICS DOCUMENT INSERT DOCTOKEN(A) TEXT(B) LENGTH(9) DOCSIZE(C) END-EXEC": ("AB", "C"),
    "EXEC CICS VERIFY PASSWORD(A) USERID(B) ESMRESP(C) END-EXEC": ("AB", "C"),
    "EXEC SQL SELECT X, Y INTO :A, :B FROM T WHERE K = :C END-EXEC": ("C", "AB"),
    "EXEC SQL UPDATE T SET X = :A WHERE K = :B END-EXEC": ("AB", ""),
    "EXEC SQL SET :A:B = 1, :C = COALESCE(:D, 0) END-EXEC": ("D", "ABC"),
    "EXEC SQL SET : A = 1 , : B = :C END-EXEC": ("C", "AB"),
    "EXEC SQL SET (:A, :B) = (SELECT X, Y FROM T WHERE K = :C) END-EXEC": ("C", "AB"),
    "EXEC SQL SET :A = CASE WHEN :B = 1 THEN :C ELSE 0 END END-EXEC": ("BC", "A"),
    "EXEC SQL SET CONNECTION :A END-EXEC": ("A", ""),
    "EXEC SQL SET CURRENT PATH = :A, :B END-EXEC": ("AB", ""),
    "EXEC SQL SET DESCRIPTOR 'D' VALUE :A DATA = :B END-EXEC": ("AB", ""),
    "EXEC SQL GET DIAGNOSTICS :A = ROW_COUNT END-EXEC": ("", "A"),
    "EXEC SQL GET DIAGNOSTICS CONDITION :A :B = MESSAGE_TEXT, :C = RETURNED_SQLSTATE END-EXEC": ("A", "BC"),
    "EXEC SQL INSERT INTO T (X) VALUES (:A) RETURNING K INTO :B END-EXEC": ("A", "B"),
    "EXEC SQL ASSOCIATE LOCATORS (:A, :B) WITH PROCEDURE :C END-EXEC": ("C", "AB"),
    "EXEC SQL EXECUTE BEGIN :A := F(:B); END; END-EXEC": ("B", "A"),
    "EXEC DLI GU SEGMENT(S) INTO(A) WHERE(K = B) END-EXEC": ("B", "A"),
}


@pytest.mark.parametrize("statement", READS_AND_WRITES)
def test_every_verb_reads_and_writes_what_it_does(statement: str) -> None:
    """The line of the statement is listed with the items that it reads and with those that it writes."""
    entries = (*(f"01  {name} PIC 9(4)." for name in "ABCD"), "01  G.", "    05  T PIC 9(4) OCCURS 5.")
    found = told(program("MAIN.", f"    {statement}.", "    GOBACK.", "X.", "    EXIT.", data=entries))
    read, written = READS_AND_WRITES[statement]
    assert "".join(item.name for item in found.items if item.read_lines) == read.replace("T", "") + "T" * ("T" in read)
    assert "".join(item.name for item in found.items if item.written_lines) == written.replace("T", "") + "T" * (
        "T" in written
    )
    assert found.undeclared == ()


def test_conditions_are_read_where_tested_and_written_where_set() -> None:
    """A test or SET of a level 88 reads or writes its item."""
    entries = ("01  STATE PIC X.", "    88  IS-OPEN VALUE 'O'.", "    88  IS-SHUT VALUE 'S'.")
    found = told(program("    IF IS-OPEN", "        SET IS-SHUT TO TRUE", "    END-IF.", "    GOBACK.", data=entries))
    (item,) = found.items
    assert [(one.name, one.read_lines, one.written_lines) for one in item.conditions] == [
        ("IS-OPEN", (9,), ()),
        ("IS-SHUT", (), (10,)),
    ]
    assert (item.read_lines, item.written_lines) == ((9,), (10,))


def test_qualified_names_mean_the_item_of_that_group() -> None:
    """`A OF G` is not `A OF H`; MOVE CORRESPONDING moves the items that both groups have."""
    entries = ("01  G.", "    05  A PIC X.", "    05  B PIC X.", "01  H.", "    05  A PIC X.", "    05  C PIC X.")
    found = told(program("    MOVE A OF G TO A IN H.", "    MOVE CORRESPONDING G TO H.", "    GOBACK.", data=entries))
    uses = [(item.name, item.read_lines, item.written_lines) for item in found.items if item.level == 5]
    assert uses == [("A", (12, 13), ()), ("B", (), ()), ("A", (), (12, 13)), ("C", (), ())]


def test_items_given_to_a_program_are_passed() -> None:
    """An argument by reference may be changed by the called program, which is not a write of this program."""
    found = told(program("    CALL 'SUB' USING A, BY CONTENT B.", "    GOBACK.", data=("01  A PIC X.", "01  B PIC X.")))
    assert [(item.name, item.read_lines, item.passed_lines) for item in found.items] == [
        ("A", (), (8,)),
        ("B", (8,), ()),
    ]


def test_an_item_is_used_for_its_address_or_length() -> None:
    """CALL with ADDRESS OF or LENGTH OF uses the item, and through its address the called program may change it."""
    call = "    CALL 'SUB' USING ADDRESS OF A LENGTH OF B."
    found = told(program(call, "    GOBACK.", data=("01  A PIC X.", "01  B PIC X.")))
    assert [(item.name, item.read_lines, item.passed_lines) for item in found.items] == [
        ("A", (8,), (8,)),
        ("B", (8,), ()),
    ]


def test_names_that_nothing_declares_are_listed() -> None:
    """Words of the language and names of functions and paragraphs are not listed."""
    found = told(
        program(
            "MAIN.",
            "    MOVE FUNCTION TRIM(LOST) TO FOUND-IT.",
            "    MOVE SPACES TO GONE.",
            "    PERFORM MAIN.",
            data=("01  FOUND-IT PIC X.",),
        )
    )
    assert [(one.name, one.lines) for one in found.undeclared] == [("LOST", (8,)), ("GONE", (9,))]


def test_constants_are_what_nothing_writes() -> None:
    """Level 78s are constants, and so are values whose item, group and redefinition are never written."""
    entries = (
        "78  LIMIT-78 VALUE 25.",
        "01  NEVER PIC X(4) VALUE 'KEEP'.",
        "01  OFTEN PIC X(4) VALUE 'GO'.",
        "01  IN-GROUP.",
        "    05  HELD PIC X VALUE 'H'.",
        "01  SEEN PIC 9 VALUE 1.",
        "01  SEEN-X REDEFINES SEEN PIC X.",
    )
    found = told(program("    MOVE 'X' TO OFTEN IN-GROUP SEEN-X.", "    GOBACK.", data=entries))
    assert [(one.name, one.value) for one in found.constants] == [("LIMIT-78", "25"), ("NEVER", "'KEEP'")]


@pytest.mark.parametrize(
    ("entry", "name", "usage"),
    [
        ("77  double PIC X.", "double", "DISPLAY"),
        ("77  volatile PIC X.", "volatile", "DISPLAY"),
        ("01  FLOAT PIC 9.", "FLOAT", "DISPLAY"),
        ("01  FLOAT.", "FILLER", "FLOAT"),
        ("01  VOLATILE PIC X.", "FILLER", "DISPLAY"),
    ],
)
def test_a_word_of_newer_standards_may_be_a_name(entry: str, name: str, usage: str) -> None:
    """A level 77 always has one, and a number in floating point no PICTURE."""
    (item,) = data(entry).values()
    assert (item.name, item.usage) == (name, usage)


def test_a_filler_in_small_letters_has_no_name() -> None:
    """FILLER is a word of the language: a text that nothing can name is not a constant, however it is spelled."""
    found = told("program-id. a.\ndata division.\nworking-storage section.\n01 filler pic x(4) value 'TEXT'.\n")
    assert [item.name for item in found.items] == ["FILLER"]
    assert found.constants == ()


def test_what_each_statement_of_sql_writes_is_no_constant() -> None:
    """Without SQL, an item of that name is one like any other."""
    head = ("ID DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION.")
    lines = (*head, "01  SQLCA.", "    05  SQLCODE PIC S9(9) COMP VALUE 0.", "PROCEDURE DIVISION.")
    assert told(fixed(*lines, "    EXEC SQL COMMIT END-EXEC.", "    GOBACK.")).constants == ()
    assert [one.name for one in told(fixed(*lines, "    GOBACK.")).constants] == ["SQLCODE"]


def test_the_status_of_a_file_and_its_relative_key_are_no_constants() -> None:
    """Each statement of the file writes its status, a READ also the key, although no statement names them; other items stay."""
    source = fixed(
        "ID DIVISION.",
        "PROGRAM-ID. P.",
        "ENVIRONMENT DIVISION.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        "    SELECT F ASSIGN TO 'F' ORGANIZATION RELATIVE RELATIVE KEY NTH FILE STATUS F-STATUS.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  F.",
        "01  R PIC X.",
        "WORKING-STORAGE SECTION.",
        "01  STATES VALUE '00YES'.",
        "    05  F-STATUS PIC XX VALUE '00'.",
        "    05  YES PIC X(3) VALUE 'YES'.",
        "01  NTH PIC 9(4) VALUE 1.",
        "PROCEDURE DIVISION.",
        "    OPEN INPUT F READ F NEXT CLOSE F GOBACK.",
    )
    assert [one.name for one in told(source).constants] == ["YES"]


def test_messages_are_words_for_people() -> None:
    """Messages are text displayed, moved or composed into a message, and values of message items; codes and own names are not."""
    entries = (
        "01  WS-MSG PIC X(40).",
        "    88  MSG-NONE VALUE 'Nothing was entered'.",
        "01  CODE-X PIC X(9).",
        "01  DSPMSG PIC X(6) VALUE 'DspMsg'.",
    )
    statements = (
        "    DISPLAY 'It  failed: ' CODE-X.",
        "    MOVE 'Try again' TO WS-MSG.",
        "    MOVE 'NOT SHOWN' TO CODE-X.",
        "    GOBACK.",
    )
    found = told(program(*statements, data=entries))
    assert [(one.text, one.target) for one in found.messages] == [
        ("Nothing was entered", "WS-MSG"),
        ("It  failed:", "DISPLAY"),
        ("Try again", "WS-MSG"),
    ]


def test_a_literal_that_goes_on_in_the_next_line_is_whole() -> None:
    """A VALUE over two lines is one value."""
    text = program(
        "    GOBACK.", data=("01  LONG-ONE PIC X(80) VALUE 'the first part and" + " " * 26, "-|    'the second'.")
    )
    (item,) = told(text).items
    assert item.value is not None
    assert item.value.replace(" ", "") == "'thefirstpartandthesecond'"


def test_facts_grow_no_faster_than_their_source() -> None:
    """Four times as many items and statements take far less than sixteen times as many steps."""
    import sys

    def steps(count: int) -> int:
        entries = (f"01  A-{n} PIC X(4) VALUE 'V{n}'." for n in range(count))
        statements = (f"    IF A-{n} = 'X' MOVE A-{n} TO A-{(n * 7) % count} END-IF." for n in range(count))
        source = scan(program("MAIN.", *statements, data=tuple(entries)))
        seen = 0

        def count_it(*_: object) -> None:
            nonlocal seen
            seen += 1

        sys.setprofile(count_it)
        try:
            facts(source, source.programs[0])
        finally:
            sys.setprofile(None)
        return seen

    assert all(more < 5 * less for less, more in pairwise((steps(100), steps(400), steps(1600))))


def test_a_lookup_gets_name_and_library() -> None:
    """Copybooks may be given as a function of name and library."""
    asked: list[tuple[str, str | None]] = []

    def find(name: str, library: str | None) -> ScannedSource | None:
        asked.append((name, library))
        return None

    source = scan(program("    GOBACK.", data=("COPY BODY OF SHARED.",)))
    facts(source, source.programs[0], copybooks=find)
    assert asked == [("BODY", "SHARED")]


def test_names_of_the_environment_and_of_the_program_around_are_declared() -> None:
    """Mnemonic names and global data are not undeclared."""
    text = fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. OUTER.",
        "ENVIRONMENT DIVISION.",
        "CONFIGURATION SECTION.",
        "SPECIAL-NAMES.",
        "    SYSOUT IS THE-PRINTER.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  SHARED PIC X GLOBAL.",
        "PROCEDURE DIVISION.",
        "    DISPLAY SHARED UPON THE-PRINTER.",
        "    GOBACK.",
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. INNER.",
        "PROCEDURE DIVISION.",
        "    MOVE SPACE TO SHARED LOST.",
        "END PROGRAM INNER.",
        "END PROGRAM OUTER.",
    )
    source = scan(text)
    found = {one.name: facts(source, one) for one in source.programs}
    assert found["OUTER"].undeclared == ()
    assert [one.name for one in found["INNER"].undeclared] == ["LOST"]


def test_what_is_not_understood_is_no_operand_of_the_statement_before_it() -> None:
    """It begins after a period, so the statement before it has ended, and what it does with its names is unknown."""
    body = ("MOVE 1 TO A.", "COMBINE B = A OR C.", "CALL 'P' USING A.", "SHIFT C.")
    found = told(
        program("MAIN.", *(f"    {line}" for line in body), data=tuple(f"01  {name} PIC 9." for name in "ABC"))
    )
    assert {item.name: item.written_lines for item in found.items} == {"A": (10,), "B": (), "C": ()}
    assert [call.parameters for call in found.calls] == [("A",)]
    assert [one.text for one in found.unread] == ["COMBINE B = A OR C", "SHIFT C"]


def test_what_a_cursor_names_is_read_where_it_is_opened_if_it_is_declared_among_the_data() -> None:
    """Nothing runs where it is declared; one that nothing opens, or that is among the statements, stays where it is."""
    data = (
        "01  A PIC X.",
        "01  B PIC X.",
        "01  C PIC X.",
        "    EXEC SQL DECLARE C1 CURSOR FOR SELECT :A FROM T END-EXEC.",
        "    EXEC SQL DECLARE C2 CURSOR FOR SELECT :B FROM T END-EXEC.",
    )
    statements = (
        "ONE.",
        "    EXEC SQL DECLARE C3 CURSOR FOR SELECT :C FROM T END-EXEC.",
        "    EXEC SQL OPEN C1 END-EXEC.",
        "    EXEC SQL OPEN C3 END-EXEC.",
    )
    source = scan(program(*statements, data=data))
    found = facts(source, source.programs[0])
    assert [item.read_lines for item in found.items] == [(13,), (9,), (12,)]
