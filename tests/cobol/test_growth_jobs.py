"""What breaks in jobs if a field grows: copies of data sets, and figures in JCL and control statements?"""

from __future__ import annotations

import pytest
from tests.cobol.test_graph import graph_of

from penstock.cobol.graph import Carrying, Grown, growth, nodes_named

PROGRAM = """\
       ID DIVISION.
       PROGRAM-ID. {name}.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO FDD.
       DATA DIVISION.
       FILE SECTION.
       FD  F{clauses}.
       01  R.
           05  A PIC X(4).
           05  B PIC X(4).
           05  C PIC 9(4).
       PROCEDURE DIVISION.
           OPEN {mode} F.
           {does}.
           GOBACK.
"""
COPYING = {
    "SORT": "//S2 EXEC PGM=SORT\n//SORTIN DD DSN=A.B.C,DISP=SHR\n//SORTOUT DD DSN=A.B.D,DISP=NEW\n//SYSIN DD *\n {0}\n/*\n",
    "ICETOOL": (
        "//S2 EXEC PGM=ICETOOL\n//IN DD DSN=A.B.C,DISP=SHR\n//OUT DD DSN=A.B.D,DISP=NEW\n"
        "//TOOLIN DD *\n  SORT FROM(IN) TO(OUT) -\n  USING(CTL1)\n/*\n//CTL1CNTL DD *\n {0}\n/*\n"
    ),
    "IEBGENER": "//S2 EXEC PGM=IEBGENER\n//SYSUT1 DD DSN=A.B.C,DISP=SHR\n//SYSUT2 DD DSN=A.B.D,DISP=NEW\n//SYSIN DD DUMMY\n",
    "REPRO of files": (
        "//S2 EXEC PGM=IDCAMS\n//I DD DSN=A.B.C,DISP=SHR\n//O DD DSN=A.B.D,DISP=OLD\n//X DD DSN=X.Y,DISP=SHR\n"
        "//SYSIN DD *\n  REPRO INFILE(I) -\n  OUTFILE(O)\n  REPRO INFILE(X) OUTFILE(Z)\n/*\n"
    ),
    "REPRO of data sets": "//S2 EXEC PGM=IDCAMS\n//SYSIN DD *\n  REPRO INDATASET(A.B.C) OUTDATASET(A.B.D)\n/*\n",
    "REPRO of files, abbreviated": (
        "//S2 EXEC PGM=IDCAMS\n//I DD DSN=A.B.C,DISP=OLD\n//O DD DSN=A.B.D,DISP=OLD\n"
        "//SYSIN DD *\n  REPRO IFILE(I) OFILE(O)\n/*\n"
    ),
    "REPRO of data sets, abbreviated": "//S2 EXEC PGM=IDCAMS\n//SYSIN DD *\n  REPRO IDS(A.B.C) ODS(A.B.D)\n/*\n",
    "two steps": (
        "//S2 EXEC PGM=ICEGENER\n//SYSUT1 DD DSN=A.B.C,DISP=SHR\n//SYSUT2 DD DSN=&&T,DISP=(NEW,PASS)\n"
        "//S3 EXEC PGM=SORT\n//SORTIN DD DSN=&&T,DISP=OLD\n//SORTOUT DD DSN=A.B.D,DISP=NEW\n//SYSIN DD *\n {0}\n/*\n"
    ),
}


def grown(name: str, step: str, *, clauses: str = "", card: str = "DSN=A.B.C,DISP=(NEW,CATLG)") -> list[Grown]:
    """Return what follows if a field of ONE, which writes A.B.C, or of TWO, which reads A.B.D, is two bytes longer."""
    writes = PROGRAM.format(name="ONE", clauses=clauses, mode="OUTPUT", does="WRITE R")
    reads = PROGRAM.format(name="TWO", clauses="", mode="INPUT", does="READ F")
    job = f"//J1 JOB\n//S1 EXEC PGM=ONE\n//FDD DD {card}\n{step}//S9 EXEC PGM=TWO\n//FDD DD DSN=A.B.D,DISP=SHR\n"
    graph = graph_of({"one.cbl": writes.encode(), "two.cbl": reads.encode(), "j1.jcl": job.encode()})
    return list(growth(graph, nodes_named(graph, name), 2, carrying=Carrying(graph)))


@pytest.mark.parametrize("by", COPYING)
def test_what_a_step_copies_is_read_with_the_longer_field(by: str) -> None:
    """The field at its place in the copy is too short, and a description of the copy has the other layout, in both directions."""
    step = COPYING[by].format("SORT FIELDS=(1,2,CH,A)")
    there = {(one.what, one.node.name): one.certainty for one in grown("ONE.A", step)}
    assert there["too short", "TWO.A"] == there["other layout", "TWO.R"] == there["data set", "A.B.D"] == "is"
    back = {(one.what, one.node.name): one.certainty for one in grown("TWO.A", step)}
    assert back["other layout", "ONE.R"] == back["data set", "A.B.C"] == "is"


@pytest.mark.parametrize(
    "control", ["SORT FIELDS=COPY\n OUTREC FIELDS=(1,4,9,4)", "INREC BUILD=(5,4)\n SORT FIELDS=(1,4,CH,A)"]
)
def test_what_a_step_builds_anew_may_be_longer_and_nothing_is_read_at_its_place(control: str) -> None:
    """The field's place in the new records is unknown, so only the data set is named, as `may`."""
    found = {(one.what, one.node.name): one.certainty for one in grown("ONE.A", COPYING["SORT"].format(control))}
    assert found["data set", "A.B.D"] == "may"
    assert not [name for _, name in found if name.startswith("TWO.")]


def test_control_statements_that_are_elsewhere_may_say_anything() -> None:
    """A SORT whose SYSIN is a data set may use any field."""
    step = COPYING["SORT"].replace("*\n {0}\n/*", "DSN=A.CONTROL,DISP=SHR")
    found = {(one.what, one.node.name): one.certainty for one in grown("ONE.A", step)}
    assert found["data set", "A.B.D"] == found["too short", "TWO.A"] == "may"


@pytest.mark.parametrize(
    ("field", "control", "said"),
    [
        ("A", "SORT FIELDS=(5,4,CH,A)", "is"),
        ("A", "SORT FIELDS=(1,3,CH,A)", None),
        # The whole field, which then has two bytes more.
        ("A", "SORT FIELDS=(1,4,CH,A)", "is"),
        ("B", "SORT FIELDS=(1,4,CH,A)", None),
        ("B", "SORT FIELDS=(1,4,CH,A,9,4,ZD,D)", "is"),
        ("B", "SORT FIELDS=(1,4,CH,A)\n SUM FIELDS=(9,4,ZD)", "is"),
        ("B", "SORT FIELDS=(1,4,CH,A)\n INCLUDE COND=(9,4,ZD,GT,10,AND,1,1,CH,EQ,C'9,4,X')", "is"),
        ("B", "SORT FIELDS=(1,4,CH,A)\n INCLUDE COND=(1,1,CH,EQ,C'9,4,X')", None),
        ("B", "SORT FIELDS=(1,4,CH,A,\n  9,4,ZD,D)", "is"),
        ("B", "SORT FIELDS=COPY\n* 9,4,ZD\n OPTION STOPAFT=10,SKIPREC=5", None),
        # A number grows at its front.
        ("C", "SORT FIELDS=(9,1,CH,A)", "is"),
        ("C", "SORT FIELDS=(1,8,CH,A)", None),
        # If the records are rebuilt first, their places are unknown.
        ("B", "INREC FIELDS=(9,4,1,8)\n SORT FIELDS=(9,4,CH,A)", "may"),
    ],
)
def test_places_that_a_sort_has_in_figures_are_named_where_other_bytes_lie_then(
    field: str, control: str, said: str | None
) -> None:
    """Keys, sums and conditions give bytes of the records that grow."""
    found = [one for one in grown(f"ONE.{field}", COPYING["SORT"].format(control)) if one.what == "part"]
    assert [one.certainty for one in found] == ([said] if said else [])
    assert all(one.node.name == "J1.S2" for one in found)


@pytest.mark.parametrize(
    ("clauses", "card", "named"),
    [
        (" RECORD CONTAINS 12 CHARACTERS", "DSN=A.B.C", {"ONE.F"}),
        (" RECORD IS VARYING IN SIZE FROM 4 TO 12 CHARACTERS DEPENDING ON B", "DSN=A.B.C", {"ONE.F"}),
        (" RECORD 4 TO 40 BLOCK CONTAINS 12 RECORDS", "DSN=A.B.C", set()),
        ("", "DSN=A.B.C,DISP=NEW,DCB=(RECFM=FB,LRECL=12,BLKSIZE=120)", {"J1.S1"}),
        ("", "DSN=A.B.C,RECFM=FB,LRECL=12", {"J1.S1"}),
        ("", "DSN=A.B.C,DCB=LRECL=12", {"J1.S1"}),
        # The record descriptor word of variable records takes four bytes.
        ("", "DSN=A.B.C,RECFM=VB,LRECL=16", {"J1.S1"}),
        ("", "DSN=A.B.C,RECFM=VB,LRECL=17", {"J1.S1"}),
        ("", "DSN=A.B.C,RECFM=VB,LRECL=18", set()),
        ("", "DSN=A.B.C,RECFM=FB,LRECL=13", {"J1.S1"}),  # the control character of a printer comes first
        ("", "DSN=A.B.C,LRECL=80", set()),
    ],
)
def test_lengths_that_are_written_in_figures_are_too_small(clauses: str, card: str, named: set[str]) -> None:
    """LRECL in JCL and the record lengths of a file description are compared."""
    found = [
        one
        for one in grown("ONE.A", COPYING["SORT"].format("SORT FIELDS=COPY"), clauses=clauses, card=card)
        if one.what == "length"
    ]
    assert {one.node.name for one in found} == named
    assert all(one.certainty == ("may" if "LRECL=13" in card else "is") for one in found)


def test_an_overridden_dd_keeps_the_record_length_of_its_procedure() -> None:
    """What a job says of a procedure's DD replaces only the parameters that it gives."""
    writes = PROGRAM.format(name="ONE", clauses="", mode="OUTPUT", does="WRITE R")
    job = "//J1 JOB\n//S1 EXEC P\n//Q.FDD DD DSN=A.B.C,DISP=OLD\n"
    procedure = "//P PROC\n//Q EXEC PGM=ONE\n//FDD DD DSN=X,DISP=NEW,DCB=(RECFM=FB,LRECL=12)\n"
    graph = graph_of({"one.cbl": writes.encode(), "j1.jcl": job.encode(), "p.prc": procedure.encode()})
    found = growth(graph, nodes_named(graph, "ONE.A"), 2, carrying=Carrying(graph))
    assert [one.node.name for one in found if one.what == "length"] == ["J1.S1.Q"]


REGION = """\
       ID DIVISION.
       PROGRAM-ID. P.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  R.
           05  A PIC X(4).
           05  B PIC X(4).
       01  K PIC X(4).
       01  N PIC 9(8).
       PROCEDURE DIVISION.
           MOVE A TO K.
           EXEC CICS READ FILE('CUST') INTO(R) RIDFLD(K) END-EXEC.
           EXEC CICS READ FILE('LOG') INTO(B) RIDFLD(N) RRN END-EXEC.
           GOBACK.
"""


def test_a_file_of_a_region_gets_longer_records_and_keys() -> None:
    """INTO names the record, RIDFLD the key, unless it is a number; the CSD gives the data set."""
    csd = b"DEFINE FILE(CUST) GROUP(G) DSNAME(A.B.CUST)\n"
    graph = graph_of({"p.cbl": REGION.encode(), "r.csd": csd})

    def told(name: str) -> set[tuple[str, str]]:
        grown = growth(graph, nodes_named(graph, f"P.{name}"), 2, carrying=Carrying(graph))
        return {(one.what, one.node.name) for one in grown if one.what in {"key", "file", "data set"}}

    assert told("A") == {("key", "CUST"), ("file", "CUST"), ("data set", "A.B.CUST")}
    assert told("K") == {("key", "CUST")}
    assert told("N") == set()
    assert told("B") == {("file", "CUST"), ("file", "LOG"), ("data set", "A.B.CUST")}


@pytest.mark.parametrize(
    ("field", "defined", "told"),
    [
        ("ONE.A", "CLUSTER (NAME(A.B.C) -\n KEYS(4 0))", {("part", "KEYS(4 0)")}),
        ("ONE.C", "CLUSTER (NAME(A.B.C) DATA (NAME(A.SET.C)) RECORDSIZE(12 12))", {("length", "RECORDSIZE(12 12)")}),
        ("ONE.A", "CL (NAME('A.B.C') KEYS(4,4) RECSZ(12,20))", {("part", "KEYS(4,4)")}),
        ("ONE.A", "CLUSTER (NAME(A.B.C) RECORDSIZE(8,13))", {("length", "RECORDSIZE(8,13)")}),
        ("ONE.C", "CLUSTER (NAME(A.B.C) KEYS(4 0))", set()),
        ("ONE.A", "AIX (NAME(A.B.X) RELATE(A.B.C) KEYS(2 8) RECORDSIZE(12 12))", {("part", "KEYS(2 8)")}),
        ("ONE.A", "PATH (NAME(A.B.C) KEYS(2 8))", set()),
        ("ONE.A", "CLUSTER (NAME(A.B.E) KEYS(4 0))\n DELETE A.B.C", set()),
        ("ONE.A", "CLUSTER (NAME(A.B.E))\n DEFINE CLUSTER (NAME(A.B.C) KEYS(4 0))", {("part", "KEYS(4 0)")}),
    ],
)  # fmt: skip
def test_what_a_cluster_is_defined_with_is_named(field: str, defined: str, told: set[tuple[str, str]]) -> None:
    """A key that contains or follows the growing field is named, and so is a maximum record length that is too small."""
    step = f"//S2 EXEC PGM=IDCAMS\n//SYSIN DD *\n DEFINE {defined}\n/*\n"
    found = {
        (one.what, one.why.partition(": ")[2])
        for one in grown(field, step)
        if one.node.name == "J1.S2" and one.is_breaking
    }
    assert found == told


def test_a_record_that_is_too_short_is_not_reported_again_for_its_data_set() -> None:
    """Two programs of one name write the data set from the same copybook's field: each describes the same record."""
    writing = """\
       ID DIVISION.
       PROGRAM-ID. RPT.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO FDD.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  R PIC X(4).
       WORKING-STORAGE SECTION.
           COPY KEYS.
       PROCEDURE DIVISION.
           OPEN OUTPUT F.
           {0}
           WRITE R.
           GOBACK.
"""

    def told(second: str) -> set[tuple[str, str]]:
        graph = graph_of(
            {
                "a.cbl": writing.format("MOVE K TO R.").encode(),
                "b.cbl": writing.format(second).encode(),
                "keys.cpy": b"       01  K PIC X(4).\n",
                "j.jcl": b"//J JOB\n//S EXEC PGM=RPT\n//FDD DD DSN=A.B,DISP=(NEW,CATLG)\n",
            }
        )
        found = growth(graph, nodes_named(graph, "KEYS.K"), 2, carrying=Carrying(graph))
        return {(one.what, one.node.name) for one in found if one.node.name.endswith(".R")}

    assert told("MOVE K TO R.") == {("too short", "RPT@a.cbl.R"), ("too short", "RPT@b.cbl.R")}
    assert told("MOVE 'A' TO R.") == {("too short", "RPT@a.cbl.R"), ("other layout", "RPT@b.cbl.R")}
