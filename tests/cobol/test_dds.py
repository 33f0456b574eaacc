"""Are sources of IBM i read: records that DDS describes and COBOL copies, files that ASSIGN names, and CL that calls programs?"""

from __future__ import annotations

import re
import time
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cobol.test_graph import graph_of

from penstock.cobol import scan
from penstock.cobol.estate import Copybooks, kind_of, member
from penstock.cobol.estate.cl import calls
from penstock.cobol.estate.dds import copybook, description
from penstock.cobol.graph import EstateGraph, impact

from .linked import LinkedEstate

PHYSICAL = b"""\
     A* Customers
     A                                      REF(FLDREF)
     A          R CUSREC                    TEXT('Customers')
     A            CUSNO          6S 0       ALIAS(CUSTOMER_NUMBER)
     A            NAME      R               REFFLD(NAM FLDREF)
     A            BAL       R
     A            RATE           7  4
     A            COUNT          4B 0
     A            SINCE           L
     A          K CUSNO
"""
REFERENCE = b"""\
     A          R F
     A            NAM           30A
     A            BAL           11P 2
"""
LOGICAL = b"""\
     A          R CUSREC                    PFILE(QGPL/CUSTPF)
     A          K NAME
"""
LISTED = b"""\
     A          R CUSL                      PFILE(CUSTPF)
     A            CUSNO
     A            WHO                       RENAME(NAME)
"""
DISPLAY = b"""\
     A                                      DSPSIZ(24 80 *DS3)
     A          R PROMPT
     A                                  1  2'Customer'
     A            TITLE         20A  O  1 20DSPATR(HI)
     A            CUSNO          6Y 0B  3 20EDTCDE(Z)
     A                                      COLOR(WHT)
     A            OPTION         1A  I  4 20
     A            RRN            5S 0H
"""
FILES = {
    "CUSTPF.pf": PHYSICAL, "FLDREF.pf": REFERENCE, "CUSTL1.lf": LOGICAL, "CUSTL2.lf": LISTED, "CUSTD.dspf": DISPLAY,
}  # fmt: skip
CUSREC = (
    "05 CUSREC. 06 CUSNO PIC S9(6). 06 NAME PIC X(30). 06 BAL PIC S9(9)V9(2) COMP-3. 06 RATE PIC S9(3)V9(4) COMP-3. "
    "06 COUNT-DDS PIC S9(4) COMP-4. 06 SINCE PIC X(10)."
)
RECEIVED = "05 PROMPT-I. 06 CUSNO PIC S9(6). 06 OPTION PIC X(1). 06 RRN PIC S9(5)."
SENT = "05 PROMPT-O. 06 TITLE PIC X(20). 06 CUSNO PIC S9(6). 06 RRN PIC S9(5)."

PROGRAM = b"""\
       PROGRAM-ID. PAY.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT CUSTOMERS ASSIGN TO DATABASE-CUSTPF
               ORGANIZATION IS INDEXED ACCESS IS DYNAMIC
               RECORD KEY IS EXTERNALLY-DESCRIBED-KEY.
       DATA DIVISION.
       FILE SECTION.
       FD  CUSTOMERS.
       01  CUST. COPY DDS-ALL-FORMATS OF CUSTPF.
       WORKING-STORAGE SECTION.
       01  SCREEN-IN. COPY DDS-PROMPT-I OF CUSTD.
       01  SCREEN-OUT. COPY DDS-PROMPT-O OF CUSTD.
       01  TOTAL PIC S9(11)V99.
       PROCEDURE DIVISION.
       MAIN.
           READ CUSTOMERS.
           ADD BAL OF CUSTOMERS TO TOTAL.
           MOVE CUSNO OF PROMPT-I TO CUSNO OF CUSREC.
           CALL 'OTHER'.
           GOBACK.
"""
CONTROL = b"""\
/* Calls PAY: CALL PGM(NEVER) */
             PGM        PARM(&DAY)
             DCL        VAR(&LIB) TYPE(*CHAR) LEN(10)
             SNDPGMMSG  MSG('Now CALL PGM(NEVER) is +
                        not called')
             OVRDBF     FILE(CUSTPF) +
                          TOFILE(&LIB/CUSTOLD)
 AGAIN:      IF         COND(&DAY *EQ '1') THEN(CALL PGM(&LIB/PAY) PARM(&DAY))
             DLTOVR     FILE(*ALL)
             CALL       PGM(&PROGRAM)
             SBMJOB     CMD(CALL PGM(NIGHT)) JOB(NIGHT)
             ENDPGM
"""


def edges(graph: EstateGraph, name: str, kind: str) -> dict[tuple[str, str, str], str]:
    """Return the edges of a name, with their certainty."""
    found = impact(graph, name, kind=kind, depth=1).edges  # type: ignore[arg-type]
    return {(edge.source.name, edge.verb, edge.target.name): edge.certainty for edge in found}


@pytest.mark.parametrize(
    ("file", "word", "copied"),
    [
        ("CUSTPF", "DDS-ALL-FORMATS", f"{CUSREC} 66 CUSTPF-RECORD RENAMES CUSREC."),
        ("custpf", "DDS-CUSREC", CUSREC),
        ("CUSTPF", "DD-ALL-FORMATS", f"{CUSREC} 66 CUSTPF-RECORD RENAMES CUSREC.".replace("CUSNO", "CUSTOMER-NUMBER")),
        ("CUSTL1", "DDS-CUSREC", CUSREC),
        ("CUSTL2", "DDS-CUSL", "05 CUSL. 06 CUSNO PIC S9(6). 06 WHO PIC X(30)."),
        ("CUSTD", "DDS-PROMPT", f"{RECEIVED} {SENT}"),
        ("CUSTD", "DDS-PROMPT-O", SENT),
        (
            "CUSTD",
            "DDS-ALL-FORMATS",
            f"05 CUSTD-RECORD PIC X(31). {RECEIVED} {SENT}".replace(
                "PROMPT-I", "PROMPT-I REDEFINES CUSTD-RECORD"
            ).replace("PROMPT-O", "PROMPT-O REDEFINES CUSTD-RECORD"),
        ),
        ("CUSTPF", "DDS-OTHER", ""),
        ("CUSTD", "DDS-PROMPT-O-INDICATORS", ""),
    ],
)
def test_a_copy_of_a_file_has_the_records_of_its_description(file: str, word: str, copied: str) -> None:
    """This holds for physical, logical and display files, for lengths that another file gives, and for aliases."""
    shelf = Copybooks([], [member(path, "dds", data) for path, data in FILES.items()])
    found = shelf(file, word)
    assert found is not None
    assert " ".join(found.code.split()) == copied


def test_an_edge_of_a_described_field_cites_the_description() -> None:
    """The graph has what a program does with a field of a DDS; the field is declared on its line of the DDS."""
    graph = graph_of({"PAY.cbl": PROGRAM, **FILES})
    assert edges(graph, "PAY.BAL", "field") == {
        ("PAY.BAL", "part of", "PAY.CUSREC"): "is",
        ("PAY.BAL", "declared in", "CUSTPF"): "is",
        ("PAY.BAL", "overlaps", "PAY.CUSTPF-RECORD"): "is",
        ("PAY.MAIN", "reads", "PAY.BAL"): "is",
        ("PAY.BAL", "computes", "PAY.TOTAL"): "is",
    }
    found = edges(graph, "PAY.CUST.CUSREC.CUSNO", "field")
    assert found["PAY.SCREEN-IN.PROMPT-I.CUSNO", "moves to", "PAY.CUST.CUSREC.CUSNO"] == "is"
    (part,) = [one for one in impact(graph, "PAY.BAL", kind="field", depth=1).edges if one.verb == "part of"]
    assert ("CUSTPF.pf", 6) in {(one.path, one.line) for one in part.citations}
    (keyed,) = [one for one in impact(graph, "PAY.CUSTOMERS", kind="file", depth=1).edges if one.verb == "is key of"]
    assert (keyed.source.name, [(one.path, one.line) for one in keyed.citations]) == (
        "PAY.CUST.CUSREC.CUSNO",
        [("PAY.cbl", 5), ("CUSTPF.pf", 10)],
    )
    assert edges(graph, "CUSTD", "copybook")["PAY", "copies", "CUSTD"] == "is"
    other = graph_of({"PAY.cbl": PROGRAM, **FILES, "CUSTPF.pf": PHYSICAL.replace(b"K CUSNO", b"K COUNT")})
    assert edges(other, "PAY.CUSTOMERS", "file")["PAY.COUNT-DDS", "is key of", "PAY.CUSTOMERS"] == "is"


def test_a_database_file_is_the_file_that_assign_names_unless_cl_directs_it() -> None:
    """OVRDBF is in effect at each call until DLTOVR; a program that is also called without it reads its own file."""
    assert edges(graph_of({"PAY.cbl": PROGRAM}), "CUSTPF", "dataset") == {("PAY.CUSTOMERS", "bound to", "CUSTPF"): "is"}
    directed = graph_of({"PAY.cbl": PROGRAM, "RUN.clp": CONTROL})
    assert edges(directed, "CUSTOLD", "dataset") == {("PAY.CUSTOMERS", "bound to", "CUSTOLD"): "is"}
    assert edges(directed, "CUSTPF", "dataset") == {("PAY.CUSTOMERS", "bound to", "CUSTPF"): "may"}
    both = graph_of({"PAY.cbl": PROGRAM, "RUN.clp": CONTROL, "X.clle": b" PGM\n CALL PAY\n ENDPGM\n"})
    assert edges(both, "CUSTPF", "dataset") == {("PAY.CUSTOMERS", "bound to", "CUSTPF"): "is"}
    assert {said: sure for said, sure in edges(both, "PAY", "program").items() if said[1] == "calls"} == {
        ("PAY", "calls", "OTHER"): "is",
        ("RUN", "calls", "PAY"): "is",
        ("X", "calls", "PAY"): "is",
    }


def test_a_file_that_a_variable_directs_is_cited_where_the_variable_gets_its_value() -> None:
    """The OVRDBF and the CALL say only the variables."""
    text = (
        b" PGM\n DCL &TO *CHAR 10 'CUSTOLD'\n DCL &P *CHAR 10 'PAY'\n"
        b" OVRDBF CUSTPF TOFILE(&TO)\n CALL &P\n CPYF FROMFILE(CUSTPF) TOFILE(SAVED)\n"
    )
    drawn = graph_of({"PAY.cbl": PROGRAM, "RUN.clp": text}).drawn
    cited = {
        f"{edge.source} {edge.verb}": {one.line for one in edge.citations if one.path == "RUN.clp"}
        for edge in drawn
        if edge.target.name == "CUSTOLD"
    }
    assert cited == {"PAY.CUSTOMERS bound to": {2, 3, 4, 5}, "RUN reads": {2, 4, 6}}


def told(text: str) -> tuple[tuple[object, ...], ...]:
    """Return the calls of a CL program, each without what it passes."""
    return tuple(one[:4] for one in calls(text))


def test_the_calls_of_cl_have_their_lines_and_what_is_directed() -> None:
    """Comments and texts call nothing, nor does a variable; TFRCTL, CALLPRC and commands within others do."""
    assert told(CONTROL.decode()) == (("PAY", 8, (("CUSTPF", "CUSTOLD", (6,)),), True), ("NIGHT", 11, (), True))
    said = "PGM\nOVRDBF A &LIB/&FILE\nOVRDBF FILE(B) TOFILE(C)\nOVRDBF FILE(D) SHARE(*YES)\nDLTOVR FILE(B X)\nTFRCTL PGM('E')"
    assert told(said) == (("E", 6, (("A", "", (2,)),), True),)
    assert [one.program for one in calls("PGM\nMONMSG CPF0000 EXEC(CALLPRC PRC(P))\nCALL QGPL/Q (&A)")] == ["P", "Q"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("DCL VAR(&F) TYPE(*CHAR) LEN(10) VALUE('CUST')\nOVRDBF A TOFILE(&L/&F)\nCALL P", [("P", "CUST", True)]),
        ("DCL &F *CHAR 10 'CUST'\nOVRDBF A &F\nCALL P", [("P", "CUST", True)]),
        # A second text, a parameter, a RTVDTAARA and an expression leave it open.
        ("DCL &F *CHAR 10 'CUST'\nCHGVAR VAR(&F) VALUE('OTHER')\nOVRDBF A &F\nCALL P", [("P", "", True)]),
        ("DCL &F *CHAR 10 'CUST'\nCALL R PARM(&F)\nOVRDBF A &F\nCALL P", [("R", None, True), ("P", "", True)]),
        ("DCL &F *CHAR 10 'CUST'\nRTVDTAARA DTAARA(X) RTNVAR(&F)\nOVRDBF A &F\nCALL P", [("P", "", True)]),
        # So for programs, each of which may be called; a condition sets nothing.
        ("DCL VAR(&P) TYPE(*CHAR) VALUE(PAY)\nCALL PGM(&P)", []),
        ("DCL VAR(&P) TYPE(*CHAR) VALUE('PAY')\nIF COND(&P *EQ 'X') THEN(CALL PGM(*LIBL/&P))", [("PAY", None, True)]),
        (
            "DCL &P *CHAR 10\nIF (&X) CHGVAR &P 'PAY'\nELSE CHGVAR VAR(&P) +\n VALUE('LIB/RUN')\nCALL &P",
            [("PAY", None, False), ("RUN", None, False)],
        ),
        ("DCL &P *CHAR 10 'PAY'\nCHGVAR &P (&Q *TCAT 'X')\nCALL &P", [("PAY", None, False)]),
        ("DCL &P *CHAR 10 'PAY'\nCHGVAR VAR(&P) VALUE(&Q *TCAT 'X')\nCALL &P", [("PAY", None, False)]),
        ("DCL &P *CHAR 10\nCHGVAR &P VALUE('A(' *CAT 'X')\nCALL &P", []),
    ],
)
def test_a_variable_of_cl_has_the_texts_that_it_is_given(
    lines: str, expected: list[tuple[str, str | None, bool]]
) -> None:
    """The program and the file that variables name; None if no file is directed."""
    found = [
        (one.program, one.directed[0][1] if one.directed else None, one.is_sure) for one in calls(f"PGM\n{lines}\n")
    ]
    assert found == expected


def test_a_program_is_called_by_cl() -> None:
    """A caller written in CL is listed by its name."""
    estate = LinkedEstate([member("cl/RUN.clp", "cl", CONTROL)], [("PAY.cbl", PROGRAM)])
    assert estate.callers("PAY") == ["RUN"]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.pf", PHYSICAL, "dds"),
        ("a.DSPF", DISPLAY, "dds"),
        ("QDDSSRC/CUSTPF", PHYSICAL, "dds"),
        ("pf.pf", b"block in all\n", None),
        ("a.clp", CONTROL, "cl"),
        ("kernel.cl", b"__kernel void add() {}\n", None),
        ("a.cl", b"(defun pgm () 1)\n", None),
    ],
)
def test_sources_of_ibm_i_are_known_by_suffix_and_content(name: str, data: bytes, kind: str | None) -> None:
    """Other systems use these suffixes too, so the content decides."""
    assert kind_of(name, data) == kind


def test_a_copybook_of_a_library_may_begin_with_dd() -> None:
    """Only ALL-FORMATS follows DD in a COPY of a description: anything else may be the name of a copybook."""
    (program,) = scan(
        "       PROGRAM-ID. A.\n       DATA DIVISION.\n       COPY DD-PAY OF LIB.\n       COPY DD-ALL-FORMATS OF PF.\n"
    )
    assert [(copy.name, copy.library) for copy in program.copies] == [("DD-PAY", "LIB"), ("PF", "DD-ALL-FORMATS")]


SUBFILE = b"""\
       PROGRAM-ID. SHOW.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT CUSTD ASSIGN TO WORKSTATION-CUSTD-SI
               ORGANIZATION IS TRANSACTION.
           SELECT OPEN-ITEMS ASSIGN TO DATABASE-ITEMS-ALWNULL.
       DATA DIVISION.
       FILE SECTION.
       FD  CUSTD.
       01  REC PIC X(80).
       FD  OPEN-ITEMS.
       01  ITEM-REC. COPY DDS-ALL-FORMATS OF ITEMS.
       WORKING-STORAGE SECTION.
       01  LINE-IN PIC X(80).
       01  LINE-OUT PIC X(80).
       01  SWITCHES PIC X(99).
       PROCEDURE DIVISION.
       SHOW-IT.
           WRITE SUBFILE REC FROM LINE-OUT FORMAT IS "LINE" INDICATORS ARE SWITCHES.
       CHANGE-IT.
           REWRITE SUBFILE REC FROM LINE-OUT FORMAT "LINE".
       GET-IT.
           READ SUBFILE CUSTD NEXT MODIFIED INTO LINE-IN FORMAT "LINE" INDICATORS SWITCHES.
           INITIALIZE ITEMREC.
           GOBACK.
"""


def test_a_subfile_is_of_the_file_behind_the_word_and_indicators_are_apart() -> None:
    """READ, WRITE and REWRITE SUBFILE use the file; what indicators say is neither in the record nor of it."""
    graph = graph_of({"SHOW.cbl": SUBFILE, "ITEMS.pf": b"     A          R ITEMREC                   FORMAT(OTHER)\n"})
    assert edges(graph, "SHOW.CUSTD", "file") == {
        ("SHOW.REC", "is record of", "SHOW.CUSTD"): "is",
        ("SHOW.SHOW-IT", "writes", "SHOW.CUSTD"): "is",
        ("SHOW.CHANGE-IT", "writes", "SHOW.CUSTD"): "is",
        ("SHOW.GET-IT", "reads", "SHOW.CUSTD"): "is",
    }
    assert edges(graph, "SHOW.SWITCHES", "field") == {
        ("SHOW.SHOW-IT", "reads", "SHOW.SWITCHES"): "is",
        ("SHOW.GET-IT", "writes", "SHOW.SWITCHES"): "is",
    }
    found = edges(graph, "SHOW.REC", "field")
    assert {said for said in found if said[1] == "moves to"} == {
        ("SHOW.LINE-OUT", "moves to", "SHOW.REC"),
        ("SHOW.REC", "moves to", "SHOW.LINE-IN"),
    }
    assert found["SHOW.GET-IT", "writes", "SHOW.REC"] == "is"
    assert edges(graph, "ITEMS", "dataset") == {("SHOW.OPEN-ITEMS", "bound to", "ITEMS"): "is"}
    assert edges(graph, "SHOW.ITEMREC", "field")["SHOW.GET-IT", "writes", "SHOW.ITEMREC"] == "is"


@given(
    st.lists(
        st.sampled_from([
            "     A          R REC  ", "     A            FLD       R    5P 2B  1 2", "\n", "REF(X)", "REFFLD(FLD X)", "PFILE(X)",
            "     A", " ", "A", "K", "99999", "CALL PGM(X)", "OVRDBF FILE(X) TOFILE(Y)", "'", "/*", "+\n", "DLTOVR *ALL",
        ]),
        max_size=60,
    )
)  # fmt: skip
def test_any_text_is_a_description_and_a_control_program(pieces: list[str]) -> None:
    """Reading never fails, lines are within the text, and a file that refers to itself comes to an end."""
    data = "".join(pieces).encode()
    lines = data.count(b"\n") + 1
    found = Copybooks([], [member("X.pf", "dds", data)])("X", "DDS-ALL-FORMATS")
    assert found is not None
    assert found.lines <= lines
    assert all(1 <= one.line <= lines for one in member("X.clp", "cl", data).calls)


def field(
    name: str, length: str = "", kind: str = "", usage: str = "", keywords: str = "", *, reference: str = ""
) -> str:
    """Return the line of a field; the kind has the letter of the type and the decimal places behind it."""
    place = "  1  2" if usage else ""
    return f"     A            {name:10}{reference:1}{length:>5}{kind:3}{usage:1}{place:6}{keywords}\n"


def format_of(name: str, keywords: str = "") -> str:
    """Return the line of a record format."""
    return f"     A          R {name:26}{keywords}\n"


def more(keywords: str) -> str:
    """Return a line that has only keywords."""
    return f"     A{'':38}{keywords}\n"


BASE = format_of("B") + field("BAL", "11", "P 2") + field("NAM", "30", "A") + field("VAR", "30", keywords="VARLEN(9)")


@pytest.mark.parametrize(
    ("source", "word", "copied"),
    [
        pytest.param(
            more("REF(BASE)")
            + format_of("R")
            + field("BAL", "+2", reference="R")
            + field("NAM", "-5", reference="R")
            + field("FEW", "9", reference="R", keywords="REFFLD(BAL)")
            + field("MORE", "", "  4", reference="R", keywords="REFFLD(BAL)")
            + field("AGAIN", "", reference="R", keywords="REFFLD(FEW *SRC)"),
            "DDS-R",
            "05 R. 06 BAL PIC S9(11)V9(2) COMP-3. 06 NAM PIC X(25). 06 FEW PIC S9(7)V9(2) COMP-3. 06 MORE PIC S9(7)V9(4) COMP-3. "
            "06 AGAIN PIC S9(7)V9(2) COMP-3.",
            id="what a field does not say is that of the field that it refers to",
        ),
        pytest.param(
            more("REF(BASE)")
            + format_of("R")
            + field("VAR", reference="R")
            + field("DAY", kind="L", keywords="DATFMT(*MDY)")
            + field("VALUE", "3")
            + field("ISO", kind="L"),
            "DDS-R",
            "05 R. 06 VAR. 49 VAR-LENGTH PIC S9(4) COMP-4. 49 VAR-DATA PIC X(30). 06 DAY-DDS PIC X(8). "
            "06 VALUE-DDS PIC X(3). 06 ISO PIC X(10).",
            id="a varying length has two bytes, a short year needs fewer, and reserved words have a suffix",
        ),
        pytest.param(
            format_of("R", "TEXT('not REF(BASE)')")
            + field("A", "5", keywords="ALIAS(A_LONG_-")
            + more("NAME)")
            + field("B", "5", keywords="ALIAS(B_+")
            + more("   NAME)")
            + field("C", "5", keywords="TEXT('ALIAS(NO)')"),
            "DD-ALL-FORMATS",
            "05 R. 06 A-LONG-NAME PIC X(5). 06 B-NAME PIC X(5). 06 C PIC X(5). 66 X-RECORD RENAMES R.",
            id="keywords go on in the next line, and texts have none",
        ),
        pytest.param(
            more("REF(BASE)")
            + format_of("S", "SFL")
            + field("BAL", usage="O", reference="R")
            + field("OPT", "1", usage="B")
            + format_of("C", "SFLCTL(S)")
            + field("OUT", "5", usage="O")
            + field("INP", "5", usage="I"),
            "DDS-ALL-FORMATS-I-O",
            "05 X-RECORD PIC X(12). 05 S-I REDEFINES X-RECORD. 06 BAL PIC S9(9)V9(2). 06 OPT PIC X(1). "
            "05 S-O REDEFINES X-RECORD. 06 BAL PIC S9(9)V9(2). 06 OPT PIC X(1). "
            "05 C-I REDEFINES X-RECORD. 06 INP PIC X(5). 05 C-O REDEFINES X-RECORD. 06 OUT PIC X(5).",
            id="a program receives what a subfile shows, and a display has all digits",
        ),
        pytest.param(
            format_of("R", "JFILE(BASE OTHER)") + field("BAL") + field("CODE") + field("NAM", keywords="JREF(2)"),
            "DDS-R",
            "05 R. 06 BAL PIC S9(9)V9(2) COMP-3. 06 CODE PIC X(4). 06 NAM PIC X(7).",
            id="a field of a join is that of any of its files, which JREF may name",
        ),
    ],
)
def test_a_field_is_what_its_description_and_others_say(source: str, word: str, copied: str) -> None:
    """This holds for whatever DDS can leave to another field, to a keyword or to the use of a format."""
    other = format_of("O") + field("CODE", "4") + field("NAM", "7")
    sources = {"X.pf": source, "BASE.pf": BASE, "OTHER.pf": other}
    shelf = Copybooks([], [member(path, "dds", data.encode()) for path, data in sources.items()])
    for file in ("X", "LIB-X"):
        found = shelf(file, word)
        assert found is not None
        assert " ".join(found.code.split()) == copied


def test_what_cl_says_in_texts_and_in_any_order_is_told_apart() -> None:
    """A text may have the beginning of a comment, keywords have no order, and a submitted job has its own overrides."""
    said = """\
PGM
QSH CMD('rm /tmp/*.txt')
GOTO CALL
 RETURN
OVRDBF FILE(A) SHARE(*YES) TOFILE(B)
OVRDBF TOFILE(QGPL/D) FILE(C)
SBMJOB CMD(CALL PGM(NIGHT)) JOB(N)
CALL PARM('x') PGM('LIB/P')
"""
    assert told(said) == (("NIGHT", 7, (), True), ("P", 8, (("A", "B", (5,)), ("C", "D", (6,))), True))


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.txt", b"           PERFOR NAME\n", None),
        ("a.clp", b"             PGM        +\n               PARM(&A)\n", "cl"),
        ("a.clp", b" PGM (&A)\n", "cl"),
        ("a.clle", b"             DCL        &A *CHAR 5\n", "cl"),
    ],
)
def test_a_word_in_a_column_describes_no_record(name: str, data: bytes, kind: str | None) -> None:
    """Before the R of a record, DDS has blanks; PGM has its parameters in any form."""
    assert kind_of(name, data) == kind


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dds", format_of("R") + more("REF(" * 9) * 4_000),
        ("dds", format_of("R") + more("ALIAS(+") * 20_000),
        ("cl", "PGM\nOVRDBF A" + " " * 50_000 + "!\n"),
        ("cl", "PGM\n" + "".join(f"OVRDBF A{number} B\nCALL X\n" for number in range(6_000))),
    ],
)
def test_hostile_sources_of_ibm_i_are_read_in_linear_time(kind: Literal["dds", "cl"], text: str) -> None:
    """Each of these took many seconds when time grew with the square of the length."""
    begin = time.process_time()
    member("X.x", kind, text.encode())
    assert time.process_time() - begin < 2


def test_fields_of_a_logical_file_may_be_joined_or_a_part() -> None:
    """CONCAT has the characters of its fields, or, of numbers alone, their digits and the last one's decimals; SST has a part."""
    physical = (
        format_of("REC")
        + field("FIRST", "10", "A")
        + field("LAST", "20", "A", keywords="VARLEN")
        + field("YEAR", "4", "P 0")
        + field("AMOUNT", "7", "P 2")
        + field("BORN", kind="L")
    )
    logical = (
        format_of("REC", "PFILE(PHYS)")
        + field("NAME", keywords="CONCAT(FIRST LAST)")
        + field("NUM", keywords="CONCAT(YEAR AMOUNT)")
        + field("MIXED", keywords="CONCAT(FIRST +")
        + "     A                                      YEAR BORN)\n"
        + field("SHORT", keywords="SST(FIRST 2 3)", usage="I")[:38]
        + "      SST(FIRST 2 3)\n"
        + field("PART", "5", keywords="SST(FIRST 2)")
        + field("AGAIN", keywords="CONCAT(AGAIN AGAIN NAME)")
    )
    found = copied({"LOGI": logical, "PHYS": physical}, "LOGI", "DDS-REC")
    assert found == {
        "NAME": "X(30)",
        "NUM": "S9(9)V9(2)",
        "MIXED": "X(24)",
        "SHORT": "X(3)",
        "PART": "X(5)",
        "AGAIN": "X(3)",
    }


def copied(files: dict[str, str], name: str, word: str) -> dict[str, str]:
    """Return the pictures of the fields that a COPY brings, by their names."""
    text = copybook(name, word, lambda file: description(files[file]) if file in files else None)
    return dict(re.findall(r"06 ([\w-]+) PIC ([^ .]+)", text))
