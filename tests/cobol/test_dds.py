"""Are sources of IBM i read: records that DDS describes and COBOL copies, files that ASSIGN names, and CL that calls programs?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cobol.test_graph import graph_of

from penstock.cobol import scan
from penstock.cobol.estate import CallingProgram, Copybooks, Estate, Located, kind_of, member
from penstock.cobol.estate.cl import calls
from penstock.cobol.facts import facts
from penstock.cobol.graph import EstateGraph, impact

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
    "06 COUNT PIC S9(4) COMP-4. 06 SINCE PIC X(10)."
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


def test_the_calls_of_cl_have_their_lines_and_what_is_directed() -> None:
    """Comments and texts call nothing, nor does a variable; TFRCTL, CALLPRC and commands within others do."""
    assert calls(CONTROL.decode()) == (("PAY", 8, (("CUSTPF", "CUSTOLD", 6),)), ("NIGHT", 11, ()))
    said = "PGM\nOVRDBF A &LIB/&FILE\nOVRDBF FILE(B) TOFILE(C)\nOVRDBF FILE(D) SHARE(*YES)\nDLTOVR FILE(B X)\nTFRCTL PGM('E')"
    assert calls(said) == (("E", 6, (("A", "", 2),)),)
    assert [one.program for one in calls("PGM\nMONMSG CPF0000 EXEC(CALLPRC PRC(P))\nCALL QGPL/Q (&A)")] == ["P", "Q"]


def test_a_program_is_called_by_cl() -> None:
    """A caller written in CL is listed with its file and line."""
    source = scan(PROGRAM)
    estate = Estate([member("cl/RUN.clp", "cl", CONTROL)], [Located("PAY.cbl", facts(source, source.programs[0]))])
    assert estate.called_by("PAY") == (CallingProgram("RUN", "cl/RUN.clp", "static", False, 8),)


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
