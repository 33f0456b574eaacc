"""What do the CL programs of IBM i pass to the programs that they call, and which data do they copy?"""

from __future__ import annotations

import time

import pytest
from tests.cobol.test_dds import edges
from tests.cobol.test_graph import graph_of

from penstock.cobol.estate import member
from penstock.cobol.facts.data import MoveWay
from penstock.cobol.graph import impact

pytestmark = pytest.mark.proves("C-16")

CHARGE = b"""\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. CHARGE.
       DATA DIVISION.
       LINKAGE SECTION.
       01 LK-DATES.
          05 LK-FROM PIC X(8).
          05 LK-TO PIC X(8).
       01 LK-CODE PIC X(1).
       01 LK-RATE PIC S9(5)V9(2) COMP-3.
       PROCEDURE DIVISION USING LK-DATES LK-CODE LK-RATE.
           MOVE 'Y' TO LK-CODE.
           GOBACK.
"""
SHOW = b"""\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOW.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 W-DAY PIC X(8).
       LINKAGE SECTION.
       01 LK-DAY PIC X(8).
       PROCEDURE DIVISION USING LK-DAY.
           MOVE LK-DAY TO W-DAY.
           CALL 'NIGHT' USING W-DAY.
           GOBACK.
"""
PASSING = b"""\
 PGM PARM(&CODE)
 DCL VAR(&CODE) TYPE(*CHAR) LEN(1)
 DCL &DATES *CHAR 16
 DCL VAR(&RATE) TYPE(*DEC) LEN(7 2) VALUE(1.5)
 DCL VAR(&TO) TYPE(*CHAR) LEN(8)
 DCL VAR(&TEXT) TYPE(*CHAR)
 CALL PGM(LIB/CHARGE) PARM(&DATES +
      'a text, ()' &RATE)
 CALL CHARGE (&DATES &CODE)
 CHGVAR VAR(&TO) VALUE(%SST(&DATES 9 8))
 CHGVAR &TEXT (&TO *BCAT (%SST(&CODE 1 1)) +
    *TCAT ')')
 SBMJOB CMD(CALL PGM(SHOW) PARM(&TO)) JOB(X)
 CALL PGM(GONE) PARM((&TO *BYVAL) &NOT)
 ENDPGM
"""


def test_cl_passes_its_variables_to_the_parameters_of_programs() -> None:
    """Arguments are bound by place, texts keep theirs, and each is cited with the lines of its command."""
    graph = graph_of(
        {"CHARGE.cbl": CHARGE, "SHOW.cbl": SHOW, "RUN.clp": PASSING, "NIGHT.clle": b" PGM (&D)\n DCL &D *CHAR 8\n"}
    )
    passed = {
        (
            f"{edge.source} {edge.verb} {edge.target}",
            edge.certainty,
            min(one.line for one in edge.citations if one.path != "SHOW.cbl"),
        )
        for edge in graph.drawn
        if edge.verb in {"passes to", "moves to", "computes"} and edge.source.name[:4] != "SHOW"
    }
    assert passed == {
        ("RUN.&DATES passes to CHARGE.LK-DATES", "is", 5),
        ("RUN.&RATE passes to CHARGE.LK-RATE", "is", 7),
        ("RUN.&CODE passes to CHARGE.LK-CODE", "is", 8),
        ("RUN.&DATES moves to RUN.&TO", "is", 10),
        ("RUN.&TO computes RUN.&TEXT", "is", 11),
        ("RUN.&CODE computes RUN.&TEXT", "is", 11),
        ("RUN.&TO passes to SHOW.LK-DAY", "is", 13),
        ("RUN.&TO passes to GONE", "is", 14),
        ("RUN.&NOT passes to GONE", "is", 14),
    }
    # SBMJOB passes copies, so that nothing comes back; CALL passes the variables themselves.
    ways = {edge.target.name: edge.ways for edge in graph.drawn if edge.verb == "passes to"}
    assert (ways["SHOW.LK-DAY"], ways["CHARGE.LK-RATE"]) == ((MoveWay(is_copied=True),), ())
    assert edges(graph, "NIGHT.&D", "field")["SHOW.W-DAY", "passes to", "NIGHT.&D"] == "is"
    (sent,) = [edge for edge in graph.drawn if edge.target.name == "CHARGE.LK-RATE" and edge.verb == "passes to"]
    assert next((one.path, one.line, one.end_line) for one in sent.citations) == ("RUN.clp", 7, 8)
    sizes = {
        field.name: (field.bytes, field.section) for part in graph.parts for field in part.fields if part.name == "RUN"
    }
    assert sizes == {
        "RUN.&CODE": (1, "LINKAGE"),
        "RUN.&DATES": (16, "WORKING-STORAGE"),
        "RUN.&RATE": (4, "WORKING-STORAGE"),
        "RUN.&TO": (8, "WORKING-STORAGE"),
        "RUN.&TEXT": (32, "WORKING-STORAGE"),
        "RUN.&NOT": (None, "WORKING-STORAGE"),
    }


def test_a_field_is_followed_through_the_variables_of_cl() -> None:
    """A part of a variable goes to a part of a record, and comes back from a called program but not from a submitted one."""
    graph = graph_of({"CHARGE.cbl": CHARGE, "SHOW.cbl": SHOW, "RUN.clp": PASSING})
    tree = impact(graph, "CHARGE.LK-TO", kind="field", depth=4).edges
    assert {(edge.source.name, edge.verb, edge.target.name) for edge in tree if edge.verb != "calls"} >= {
        ("CHARGE.LK-TO", "carried to", "RUN.&TO"),
        ("RUN.&TO", "passes to", "SHOW.LK-DAY"),
        ("SHOW.LK-DAY", "moves to", "SHOW.W-DAY"),
    }
    assert not {edge for edge in tree if edge.source.name == "CHARGE.LK-FROM" or edge.target.name == "CHARGE.LK-FROM"}
    other = impact(graph, "CHARGE.LK-FROM", kind="field", depth=4).edges
    assert not {edge for edge in other if edge.verb == "carried to"}


def test_a_program_in_cobol_is_not_told_apart_from_a_cl_program_of_its_name() -> None:
    """The name means the one in COBOL, and the variables of the other are not in the graph."""
    graph = graph_of({"SHOW.cbl": SHOW, "cl/SHOW.clp": PASSING})
    assert [part.name for part in graph.parts] == ["SHOW"]


def test_cl_programs_of_one_name_are_told_apart() -> None:
    """Each has its own variables, calls and copies, and a call by their name may lead to either."""
    copies = b" PGM\n DCL &TO *CHAR 8\n CPYF FROMFILE(DAY) TOFILE(MONTH)\n ENDPGM\n"
    night = {"a/NIGHT.clp": b" PGM (&D)\n DCL &D *CHAR 8\n CALL GONE\n", "b/NIGHT.clp": copies}
    graph = graph_of({"SHOW.cbl": SHOW, **night})
    assert [part.name for part in graph.parts] == ["SHOW", "NIGHT@a/NIGHT.clp", "NIGHT@b/NIGHT.clp"]
    drawn = {(edge.source.name, edge.verb, edge.target.name, edge.certainty) for edge in graph.drawn}
    assert {
        ("SHOW", "calls", "NIGHT@a/NIGHT.clp", "may"),
        ("SHOW", "calls", "NIGHT@b/NIGHT.clp", "may"),
        ("SHOW.W-DAY", "passes to", "NIGHT@a/NIGHT.clp.&D", "may"),
        ("NIGHT@a/NIGHT.clp", "calls", "GONE", "is"),
        ("NIGHT@b/NIGHT.clp", "reads", "DAY", "is"),
        ("NIGHT@b/NIGHT.clp", "writes", "MONTH", "is"),
    } <= drawn
    assert not any(name == "NIGHT" for source, _, target, _ in drawn for name in (source, target))


def test_what_a_variable_names_is_cited_where_it_gets_its_value() -> None:
    """The command says only the variable: the lines that name the file or the program belong to the edge, and so does an OVRDBF."""
    text = b""" PGM
 DCL &FROM *CHAR 10 'DAY'
 DCL &TO *CHAR 10
 CHGVAR &TO 'MONTH'
 OVRDBF FILE(MONTH) TOFILE(YEAR)
 CPYF FROMFILE(LIB/&FROM) +
   TOFILE(LIB/&TO)
 CHGVAR &FROM 'SHOW'
 CALL &FROM
"""
    graph = graph_of({"SHOW.cbl": SHOW, "RUN.clp": text})
    cited = {
        f"{edge.verb} {edge.target.name}": {one.line for one in edge.citations}
        for edge in graph.drawn
        if edge.source.name == "RUN"
    }
    # Both files of a copy are cited by either edge; it goes to YEAR only by the OVRDBF.
    assert cited == {
        "reads DAY": {2, 4, 5, 6},
        "reads SHOW": {4, 5, 6, 8},
        "writes MONTH": {2, 4, 6, 8},
        "writes YEAR": {2, 4, 5, 6, 8},
        "calls DAY": {2, 9},
        "calls SHOW": {8, 9},
    }


@pytest.mark.parametrize(
    "text",
    [
        "PGM\nCHGVAR &A (" + "(&B *CAT " * 20_000,
        "PGM\n" + "CHGVAR &A VALUE( +\n" * 10_000,
        "PGM\nCALL X PARM(" + "PARM((&A " * 20_000,
        "PGM PARM(" + "&A (" * 30_000,
        "PGM\n" + "DCL &A " * 20_000,
        "PGM\nCALL X ('" + "a b" * 30_000 + "\nCHGVAR &A %SST(&B 1",
    ],
)
def test_hostile_variables_are_read_in_linear_time(text: str) -> None:
    """Nothing that begins without an end is searched again from every place."""
    begin = time.process_time()
    assert member("X.clp", "cl", text.encode()).variables is not None
    assert time.process_time() - begin < 2


def _program(name: str, mode: str, statement: str) -> bytes:
    """Return a program that uses one database file."""
    return f"""\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. {name}.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO DATABASE-{name}F.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  {name}-REC.
           05 {name}-CODE PIC X(4).
           05 {name}-SUM PIC S9(7)V9(2) COMP-3.
       PROCEDURE DIVISION.
           OPEN {mode} F.
           {statement}.
           GOBACK.
""".encode()


@pytest.mark.parametrize(
    ("command", "sure", "carried"),
    [
        ("CPYF FROMFILE(LIB/OUTF) TOFILE(QTEMP/INF) +\n MBROPT(*REPLACE)", "is", "is"),
        ("CPYF OUTF INF", "is", "is"),
        ("CPYF FROMFILE(OUTF) TOFILE(INF) FMTOPT(*MAP *DROP)", "is", None),
        ("DCL &F *CHAR 10 'OUTF'\n CPYF FROMFILE(&L/&F) TOFILE(INF)", "is", "is"),
        ("DCL &F *CHAR 10 'OUTF'\n CHGVAR &F 'OTHER'\n CPYF FROMFILE(&F) TOFILE(INF)", "may", "may"),
        ("OVRDBF FILE(X) TOFILE(OUTF)\n CPYF FROMFILE(X) TOFILE(INF)", "may", "may"),
    ],
)
def test_cl_copies_the_records_of_a_file_to_another(command: str, sure: str, carried: str | None) -> None:
    """What one program writes reaches another through the copy, unless CPYF lays its bytes anew."""
    sources = {"OUT.cbl": _program("OUT", "OUTPUT", "WRITE OUT-REC"), "IN.cbl": _program("IN", "INPUT", "READ F")}
    graph = graph_of({**sources, "RUN.clp": f" PGM\n {command}\n".encode()})
    found = {
        (edge.verb, edge.target.name): edge.certainty
        for edge in graph.drawn
        if edge.source.name == "RUN" and edge.target.kind == "dataset" and edge.target.name in {"OUTF", "INF"}
    }
    assert found == {("reads", "OUTF"): sure, ("writes", "INF"): sure}
    assert edges(graph, "OUT.OUT-SUM", "field").get(("OUT.OUT-SUM", "carried to", "IN.IN-SUM")) == carried
    none = graph_of({**sources, "RUN.clp": b" PGM\n CPYF FROMFILE(OUTF) TOFILE(*PRINT)\n CPYF &A &B\n"})
    assert not [edge for edge in none.drawn if edge.source.name == "RUN" and edge.target.kind == "dataset"]
