"""Which edges does the graph of an estate have, where are they cited, and what does a change of a name touch?"""

from __future__ import annotations

import csv
import io
import sys
import tracemalloc
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cobol import sources
from tests.growth import BOUND
from tests.growth import growth as times_at_four_times

from penstock.cobol import scan
from penstock.cobol.estate import Copybooks, Member, kind_of, member
from penstock.cobol.facts import facts
from penstock.cobol.graph import Carrying, EstateGraph, Grown, growth, impact, nodes_named, part_of
from penstock.cobol.graph.export import edges_csv, nodes_csv
from penstock.cobol.graph.values import CitedLine
from penstock.cobol.program import key

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.cobol.graph import NodeId, ProgramPart

ESTATE = Path(__file__).parents[2] / "examples" / "cobol"


def graph_of(files: dict[str, bytes]) -> EstateGraph:
    """Return the graph of some files, given by their paths."""
    parts, members = parts_of(files)
    return EstateGraph(parts, members)


def parts_of(files: dict[str, bytes], *, is_whole: bool = True) -> tuple[list[ProgramPart], list[Member]]:
    """Return the graph parts of the programs and copybooks among some files, and the other members."""
    kinds = {path: kind_of(path, data[:8192]) for path, data in files.items()}
    members: list[Member] = [
        member(path, kind, files[path]) for path, kind in kinds.items() if kind is not None and kind != "cobol"
    ]
    # What CICS sends to a screen is cited behind what it receives, where the law of citations would not find it.
    shelf = Copybooks(
        [(path, kind, files[path]) for path, kind in kinds.items() if kind is not None],
        [one for one in members if one.described],
    )
    parts = []
    for path, kind in kinds.items():
        if kind not in {"cobol", "copybook", "dclgen"}:
            continue
        source = scan(files[path])
        beside = shelf.beside(path)
        for program in source:
            said = facts(source, program, copybooks=beside, tells_apart=is_whole)
            found = ((use, shelf.path(use.name, use.library, path)) for use in said.copybooks)
            paths = {key(use.told): where for use, where in found if where is not None}
            parts.append(part_of(said, program, path, copybooks=paths, is_whole=is_whole))
    return parts, members


@cache
def estate() -> EstateGraph:
    """Return the graph of the example estate."""
    found = (path for path in ESTATE.rglob("*") if path.is_file())
    return graph_of({path.relative_to(ESTATE).as_posix(): path.read_bytes() for path in found})


def test_what_pages_show_of_a_program_has_the_first_place_of_each_edge() -> None:
    """Reduced parts give the same edges as whole parts, in the same order, each with its first citation."""
    files = {path.relative_to(ESTATE).as_posix(): path.read_bytes() for path in ESTATE.rglob("*") if path.is_file()}
    move = b"           MOVE ONE-N TO TWO-N.\n"  # in the program and in the copybook, where the statement is on an earlier line
    files["cbl/MOVES.cbl"] = (
        b"       IDENTIFICATION DIVISION.\n       PROGRAM-ID. MOVES.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n"
        b"       01 ONE-N PIC 9.\n       01 TWO-N PIC 9.\n       PROCEDURE DIVISION.\n"
        + move
        + b"           COPY MOVING.\n"
    )
    files["cpy/MOVING.cpy"] = move
    parts, wholes = parts_of(files, is_whole=False)[0], parts_of(files)[0]
    told, all_of_them = (
        [one for part in found for edge in part.edges for one in edge.citations] for found in (parts, wholes)
    )
    assert len(told) < len(all_of_them)
    for short, whole in zip(parts, wholes, strict=True):
        assert [one._replace(citations=one.citations[:1]) for one in short.edges] == [
            one._replace(citations=one.citations[:1]) for one in whole.edges
        ]
        assert not short.fields


def edges(name: str, *verbs: str, depth: int = 1) -> set[tuple[str, str, str, str]]:
    """Return the edges of the example estate that touch a name, with these verbs."""
    found = impact(estate(), name, depth=depth).edges
    return {
        (edge.source.name, edge.verb, edge.target.name, edge.certainty)
        for edge in found
        if not verbs or edge.verb in verbs
    }


def is_edges(name: str, *verbs: str, depth: int = 1) -> set[str]:
    """Return the certain edges as sentences."""
    return {f"{one} {verb} {other}" for one, verb, other, sure in edges(name, *verbs, depth=depth) if sure == "is"}


def test_a_field_has_its_readers_its_writers_and_what_goes_in_and_out() -> None:
    """The expected edges are read by hand from `examples/cobol/cbl/MWB020.cbl`, lines 173 to 185, and two copybooks."""
    assert is_edges("MWB020.BO-GROSS") == {
        "MWB020.2800-WRITE reads MWB020.BO-GROSS",
        "MWB020.2800-WRITE writes MWB020.BO-GROSS",
        "MWB020.BO-NET computes MWB020.BO-GROSS",
        "MWB020.BO-TAX computes MWB020.BO-GROSS",
        "MWB020.BO-GROSS computes MWB020.CU-BALANCE",
        "MWB020.BO-GROSS computes MWB020.WS-TOTAL-GROSS",
        "MWB020.BO-GROSS part of MWB020.BO-BILL-RECORD",
        "MWB020.BO-GROSS declared in MWBILL",
        "MWB020.BO-GROSS carried to MWB030.BI-GROSS",
    }


@pytest.mark.parametrize(
    ("name", "verb", "sentences"),
    [
        (
            "MWCUST",
            "copies",
            {"MWB020 copies MWCUST", "MWB050 copies MWCUST", "MWC010 copies MWCUST", "MWCUST copies MWADDR"},
        ),
        ("MWADDR", "copies", {"MWCUST copies MWADDR"}),
        ("MWS010", "calls", {"MWB020 calls MWS010", "MWC020 calls MWS010", "MWS010 calls DAYNUM"}),
        ("MWRATE", "calls", {"MWB020 calls MWRATE"}),
        ("MWC010", "runs", {"MW01 runs MWC010"}),
        ("MWB040", "runs", {"MWDAILY.PAY runs MWB040"}),
        ("MW.PROD.BILLS", "writes", {"MWDAILY.BILL.MWB020 writes MW.PROD.BILLS"}),
        ("MW.PROD.BILLS", "reads", {"MWDAILY.REGISTER reads MW.PROD.BILLS"}),
        (
            "MW.BILL",
            "moves to",
            {
                "MW.BILL moves to MWB040.OPEN-AMOUNT",
                "MW.BILL moves to MWB040.STATE",
                "MWB040.WS-REST moves to MW.BILL",
                "MWB040.STATE moves to MW.BILL",
            },
        ),
        ("MW.LEDGER", "writes", {"MWB040 writes MW.LEDGER"}),
        ("READFILE", "writes", {"MWC020 writes READFILE"}),
        ("MWSET1.MWMAP2", "receives", {"MWC020 receives MWSET1.MWMAP2"}),
        ("MWLG", "writes", {"MWC010 writes MWLG"}),
        ("MW03", "starts", {"MWC020 starts MW03"}),
        ("MWB020.DATE-AREA", "passes to", {"MWB020.DATE-AREA passes to MWS010.DATE-AREA"}),
        (
            "MWC010.WS-COMMAREA",
            "passes to",
            {"MWC010.WS-COMMAREA passes to MWC010.DFHCOMMAREA", "MWC010.WS-COMMAREA passes to MWC020.DFHCOMMAREA"},
        ),
        ("MWB010.CHECK-DIGIT", "reads", set()),
        (
            "MWREAD.RD-METER-PARTS",
            "redefines",
            {
                f"{one}.RD-METER-PARTS redefines {one}.RD-METER-NUMBER"
                for one in ("MWB010", "MWB020", "MWC020", "MWREAD")
            },
        ),
        ("MWB020.CU-METER-COUNT", "counts", {"MWB020.CU-METER-COUNT counts MWB020.CU-METER"}),
        (
            "MWB020.CUSTOMERS",
            "is key of",
            {"MWB020.CU-NUMBER is key of MWB020.CUSTOMERS", "MWB020.CU-NAME is key of MWB020.CUSTOMERS"},
        ),
        (
            "MWB020.2300-RATE",
            "performs",
            {"MWB020.2200-CONSUMPTION performs MWB020.2300-RATE", "MWB020.2300-RATE performs MWB020.9900-ABEND"},
        ),
    ],
)
def test_every_kind_of_thing_has_the_edges_that_its_sources_say(name: str, verb: str, sentences: set[str]) -> None:
    """Programs, copybooks, data sets, tables, files of a region, maps, queues, parameters and declarations have their edges."""
    assert is_edges(name, verb) == sentences


@pytest.mark.proves("C-17")
def test_a_field_is_followed_through_three_programs_and_a_job() -> None:
    """A reading goes from MWB010 by a sort and a data set to MWB020, where it enters a calculation and goes to the register."""
    followed = is_edges("MWB010.RD-INDEX-M3", "moves to", "computes", "carried to", depth=4)
    assert {
        "MWB010.RD-INDEX-M3 carried to MWB020.RD-INDEX-M3",
        "MWB020.RD-INDEX-M3 computes MWB020.WS-USED-M3",
        "MWB020.WS-USED-M3 moves to MWB020.BO-CONSUMPTION-M3",
        "MWB020.BO-CONSUMPTION-M3 carried to MWB030.BI-CONSUMPTION-M3",
    } <= followed


PROCEDURE = (
    b"//RUNIT    PROC PGMNAME=,HLQ=TEST,GEN=0\n//RUN      EXEC PGM=&PGMNAME,REGION=0M\n"
    b"//BILLS    DD DSN=&HLQ..BILLS(&GEN),DISP=SHR\n//         PEND\n"
)


def test_a_procedure_runs_with_what_its_exec_gives_to_its_symbols() -> None:
    """One procedure runs many programs, each on its own data; the default in PROC holds for symbols that EXEC does not set."""
    program = (
        b"       IDENTIFICATION DIVISION.\n       PROGRAM-ID. BILL.\n       ENVIRONMENT DIVISION.\n       INPUT-OUTPUT SECTION.\n"
        b"       FILE-CONTROL.\n           SELECT BILLS-IN ASSIGN TO UT-S-BILLS.\n       DATA DIVISION.\n       FILE SECTION.\n"
        b"       FD  BILLS-IN.\n       01  BILL-REC PIC X(80).\n       PROCEDURE DIVISION.\n       MAIN.\n"
        b"           OPEN INPUT BILLS-IN.\n           READ BILLS-IN.\n           GOBACK.\n"
    )
    job = (
        b"//NIGHTLY  JOB 1,'X'\n//S1       EXEC RUNIT,PGMNAME=BILL,HLQ='PROD.X',COND=(4,LT)\n"
        b"//S2       EXEC RUNIT,PGMNAME=BILL\n//S3       EXEC RUNIT,PGM=BILL\n"
    )
    graph = graph_of({"RUNIT.prc": PROCEDURE, "NIGHTLY.jcl": job, "BILL.cbl": program})
    found = {
        f"{edge.source.name} {edge.verb} {edge.target.name} {edge.certainty}"
        for name in ("PROD.X.BILLS", "TEST.BILLS", "RUNIT")
        for edge in impact(graph, name, depth=1).edges
    }
    assert {
        "NIGHTLY.S1.RUN reads PROD.X.BILLS is",
        "NIGHTLY.S2.RUN reads TEST.BILLS is",
        "BILL.BILLS-IN bound to PROD.X.BILLS is",
        "NIGHTLY.S3 runs RUNIT is",  # PGM next to a procedure sets a symbol, which this procedure does not have
    } <= found
    assert "NIGHTLY.S3.RUN reads TEST.BILLS is" not in found


NIGHT = {
    "P.prc": (
        "//P        PROC\n//PS1      EXEC PGM=SORT\n//SORTIN   DD DSN=&HLQ..IN,DISP=SHR\n"
        "//SORTOUT  DD DSN=&HLQ..OUT,DISP=(NEW,CATLG)\n//PS2      EXEC PGM=SORT\n//SORTIN   DD DSN=&HLQ..C1,DISP=SHR\n"
        "//         DD DSN=&HLQ..C2,DISP=SHR\n//         INCLUDE MEMBER=OUTS\n"
    ),
    "OUTS.jcl": "//SORTOUT  DD DSN=&HLQ..OUTS,DISP=OLD\n",
    "SETS.jcl": "//         SET PGX=SORT\n",
    "STEPS.jcl": "//T0       EXEC PGM=SORT\n//SORTIN   DD DSN=&HLQ..T0,DISP=SHR\n",
    "NIGHT.jcl": (
        "//NIGHT    JOB 1,'X'\n//         SET HLQ=PROD\n//         INCLUDE MEMBER=SETS\n//         INCLUDE MEMBER=STEPS\n"
        "//T1       EXEC P\n//SORTOUT  DD DISP=OLD\n//PS2.SORTIN DD DSN=ONE,DISP=SHR\n"
        "//T2       EXEC P,HLQ=TEST\n//PS1.SORTOUT DD DSN=TWO,DISP=OLD\n"
        "//T3       EXEC PGM=&PGX\n//SORTIN   DD DSN=*.T2.PS1.SORTOUT,DISP=SHR\n"
        "//T4       EXEC PGM=&GONE\n"
    ),
}


@pytest.mark.proves("C-16")
def test_jcl_of_several_members_is_one_job() -> None:
    """INCLUDE, symbols that a procedure gets from its job, overridden DDs and data sets of an earlier step are resolved."""
    graph = graph_of({name: text.encode() for name, text in NIGHT.items()})
    found = {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}"
        for edge in graph.edges()
        if edge.verb in {"reads", "writes"} or (edge.verb == "runs" and edge.target.kind == "program")
    }
    steps = ("T0", "T1.PS1", "T1.PS2", "T2.PS1", "T2.PS2", "T3")
    assert found == {
        *(f"NIGHT.{step} runs SORT is" for step in steps),
        "NIGHT.T4 runs &GONE unknown",
        "NIGHT.T0 reads PROD.T0 is",
        "NIGHT.T1.PS1 reads PROD.IN is",
        "NIGHT.T1.PS1 writes PROD.OUT is",  # the job overrides only the DISP
        "NIGHT.T1.PS2 reads ONE is",  # instead of the first of two data sets
        "NIGHT.T1.PS2 reads PROD.C2 is",
        "NIGHT.T1.PS2 writes PROD.OUTS is",
        "NIGHT.T2.PS1 reads TEST.IN is",
        "NIGHT.T2.PS1 writes TWO is",
        "NIGHT.T2.PS2 reads TEST.C1 is",
        "NIGHT.T2.PS2 reads TEST.C2 is",
        "NIGHT.T2.PS2 writes TEST.OUTS is",
        "NIGHT.T3 reads TWO is",
    }
    assert not nodes_named(graph, "STEPS", "job")  # it is included, so it is not a job itself


TWO_JOBS = """\
//ONE      JOB 1,'X'
//P        PROC ENV=D
//         SET ENV=Z
//PS       EXEC PGM=INNER1
//         INCLUDE MEMBER=OUT&ENV
//X        DD DSN=X.&ENV,DISP=(,CATLG)
//         PEND
//         SET ENV=Q
//S1       EXEC P
//S2       EXEC P,ENV=P
//TWO      JOB 1,'X'
//P        PROC
//PS       EXEC PGM=INNER2
//Y        DD DSN=Y.&ENV
//         PEND
//         SET ENV=Q
//S1       EXEC P
"""


@pytest.mark.proves("C-16")
def test_a_job_has_procedures_of_its_own() -> None:
    """Two jobs in a member each have a P; a SET in one changes no symbol of its PROC, and chooses the included member."""
    members = {
        "J.jcl": TWO_JOBS,
        "OUTD.jcl": "//D        DD DSN=D,DISP=SHR\n",
        "OUTP.jcl": "//D        DD DSN=P,DISP=SHR\n",
    }
    graph = graph_of({name: text.encode() for name, text in members.items()})
    found = {
        f"{one.source} {one.verb} {one.target}" for one in graph.edges() if one.verb in {"runs", "reads", "writes"}
    }
    assert found == {
        *("ONE.S1 runs P", "ONE.S2 runs P", "TWO.S1 runs P"),
        *("ONE.S1.PS runs INNER1", "ONE.S2.PS runs INNER1", "TWO.S1.PS runs INNER2"),
        *("ONE.S1.PS reads D", "ONE.S2.PS reads P"),
        *("ONE.S1.PS writes X.D", "ONE.S2.PS writes X.P", "TWO.S1.PS writes Y.Q"),  # a DD without DISP is NEW
    }


def test_steps_without_a_card_are_a_job_unless_others_run_or_include_them() -> None:
    """The card of a job may be added when it is submitted; the member is then the job, as long as no other one needs it."""
    steps = b"//* what runs each night\n//S EXEC PGM=PAY\n//OUT DD DSN=A.B,DISP=SHR\n"

    def jobs(files: dict[str, bytes]) -> set[str]:
        return {str(edge.target) for edge in graph_of(files).edges() if edge.target.kind == "job"}

    assert jobs({"NIGHT.jcl": steps}) == {"NIGHT"}
    assert jobs({"PART.jcl": steps, "WHOLE.jcl": b"//WHOLE JOB\n//T EXEC PART\n"}) == {"WHOLE"}
    assert jobs({"PART.jcl": steps, "WHOLE.jcl": b"//WHOLE JOB\n// INCLUDE MEMBER=PART\n"}) == {"WHOLE"}
    assert jobs({"PART.jcl": steps, "NIGHT.jcl": b"//T EXEC PART\n"}) == {"NIGHT"}
    assert jobs({"PROC.jcl": b"//PROC PROC\n" + steps}) == set()


def test_the_other_parts_of_a_group_are_not_touched_by_one() -> None:
    """The tree continues from a field to the group that contains it, but not to the other fields of that group."""
    assert "MWB010.RD-INDEX-M3 part of MWB010.MWREAD-RECORD" in is_edges("MWB010.RD-INDEX-M3", depth=3)
    assert not any("RD-DATE" in sentence for sentence in is_edges("MWB010.RD-INDEX-M3", depth=3))
    # If the group itself is asked for, it has its parts.
    assert "MWB010.RD-DATE part of MWB010.MWREAD-RECORD" in is_edges("MWB010.MWREAD-RECORD", depth=1)


def test_the_field_of_a_copybook_stands_for_its_instances() -> None:
    """`MWCUST.CU-NUMBER` means the field in every program that copies it, under its name there."""
    assert [node.name for node in nodes_named(estate(), "mwcust.cu-number")] == [
        "MWB020.CU-NUMBER",
        "MWB050.CU-NUMBER",
        "MWC010.CU-NUMBER",
        "MWCUST.CU-NUMBER",
    ]
    assert {"MWB020.BO-NET", "MWB030.BI-NET"} < {node.name for node in nodes_named(estate(), "MWBILL.:TAG:-NET")}


@pytest.mark.proves("C-17")
def test_the_field_of_a_copybook_stands_for_its_instances_whatever_else_has_its_name() -> None:
    """Another folder has a copybook of that name, and a third a program: each name means what is declared by it."""
    book = b"       01  AREA-1.\n           05  PART PIC X.\n"
    copying = "       PROGRAM-ID. {}.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n       COPY RATE.\n"
    files = {f"{at}/rate.cpy": book for at in ("a", "b")}
    files |= {f"{at}/{at}.cbl": copying.format(at.upper()).encode() for at in ("a", "b")}
    for added in ({}, {"c/rate.cbl": copying.format("RATE").replace("COPY RATE", "01 PART PIC X").encode()}):
        graph = graph_of(files | added)
        assert [node.name for node in nodes_named(graph, "RATE.PART")] == ["A.PART", "B.PART", "RATE.PART"]
    one = graph_of({path: data for path, data in files.items() if path != "a/a.cbl"})
    assert [node.name for node in nodes_named(one, "RATE.PART")] == ["B.PART", "RATE.PART"]


def test_a_copybook_is_called_as_it_is_copied_whatever_remark_its_file_has() -> None:
    """What a program declares by COPY is the copybook's, whose fields have its name; a file that nothing copies keeps to itself."""
    book = "       01  AREA-1.\n           05  PART PIC X.\n"
    copying = "       PROGRAM-ID. A.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n       COPY RATE.\n"
    for named in ("RATE", "'RATE(COPY).txt'"):
        program = copying.replace("RATE", named).encode()
        graph = graph_of({"a.cbl": program, "RATE(COPY).txt": book.encode()})
        assert [node.name for node in nodes_named(graph, "RATE.PART")] == ["A.PART", "RATE.PART"]
        assert {node.name for node in graph.nodes() if node.kind == "copybook"} == {"RATE"}


def test_a_filler_is_called_as_its_first_condition() -> None:
    """Each FILLER with level 88s is a field of its own, whatever group it is in, and any of its conditions finds it."""
    source = sources.fixed(
        "PROGRAM-ID. SWITCHES.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  FILLER PIC X.",
        "    88  AT-END-OF-FILE VALUE 'Y'.",
        "    88  MORE-TO-READ VALUE 'N'.",
        "01  G.",
        "    05  PIC X.",
        "        88  IS-BAD VALUE 'Y'.",
        "    05  FILLER PIC X.",
        "PROCEDURE DIVISION.",
        "FIRST-ONE.",
        "    SET AT-END-OF-FILE TO TRUE.",
        "SECOND-ONE.",
        "    IF MORE-TO-READ AND IS-BAD MOVE SPACES TO G.",
    )
    graph = graph_of({"SWITCHES.cbl": source.encode()})

    def found(name: str) -> set[str]:
        return {f"{edge.source} {edge.verb} {edge.target}" for edge in impact(graph, name, depth=1).edges}

    of_file = {
        "SWITCHES.FIRST-ONE writes SWITCHES.AT-END-OF-FILE",
        "SWITCHES.SECOND-ONE reads SWITCHES.AT-END-OF-FILE",
    }
    assert found("AT-END-OF-FILE") == found("MORE-TO-READ") == found("SWITCHES.MORE-TO-READ") == of_file
    assert found("IS-BAD") == {"SWITCHES.SECOND-ONE reads SWITCHES.IS-BAD", "SWITCHES.IS-BAD part of SWITCHES.G"}


def test_a_condition_means_every_item_that_has_it() -> None:
    """A FILLER of one program and an item of another have a condition of one name: both are meant."""
    texts = {
        name: sources.fixed(
            f"PROGRAM-ID. {name}.",
            "DATA DIVISION.",
            "WORKING-STORAGE SECTION.",
            f"01  {item} PIC X.",
            "    88  DONE VALUE 'Y'.",
            "PROCEDURE DIVISION.",
            "    SET DONE TO TRUE.",
        ).encode()
        for name, item in (("ONE", "FILLER"), ("TWO", "SWITCH"))
    }
    graph = graph_of({f"{name}.cbl": text for name, text in texts.items()})
    assert [str(node) for node in nodes_named(graph, "DONE")] == ["ONE.DONE", "TWO.SWITCH"]
    assert [str(node) for node in nodes_named(graph, "TWO.DONE")] == ["TWO.SWITCH"]
    copies = graph_of({"a/TWO.cbl": texts["TWO"], "b/TWO.cbl": texts["TWO"]})
    assert len(nodes_named(copies, "TWO.DONE")) == 2


def test_a_section_stands_for_its_paragraphs() -> None:
    """Where a shop performs sections, their names are those that are known; something that has the name itself comes first."""
    lines = (
        "M.", "    PERFORM S1.", "    GOBACK.",
        "S1 SECTION.", "A.", "    MOVE X TO Y.", "B.", "    MOVE Y TO X.",
        "S2 SECTION.", "C.", "    MOVE X TO Y.",
        "S3 SECTION.", "    MOVE X TO Y.", "D.", "    MOVE Y TO X.",
    )  # fmt: skip
    data = ("01  X PIC X.", "01  Y PIC X.")
    texts = {f"{name}.cbl": sources.program(*lines, name=name, data=data) for name in ("P", "S2")}
    graph = graph_of({path: text.encode() for path, text in texts.items()})
    assert [node.name for node in nodes_named(graph, "s1")] == ["P.A", "P.B", "S2.A", "S2.B"]
    assert [node.name for node in nodes_named(graph, "P.S1")] == ["P.A", "P.B"]
    assert [node.name for node in nodes_named(graph, "P.S3")] == ["P.D", "P.S3"]
    assert [node.name for node in nodes_named(graph, "S1", "field")] == []
    assert [str(node) for node in nodes_named(graph, "S2")] == ["S2"]
    assert [node.name for node in nodes_named(graph, "S2", "paragraph")] == ["P.C", "S2.C"]
    twins = graph_of({f"{folder}/P.cbl": texts["P.cbl"].encode() for folder in ("one", "two")})
    for asked in ("S2", "P.S2"):
        assert [node.name for node in nodes_named(twins, asked, "paragraph")] == ["P@one/P.cbl.C", "P@two/P.cbl.C"]
    assert [node.name for node in nodes_named(twins, "P@ONE/p.cbl.S2")] == ["P@one/P.cbl.C"]


@pytest.mark.proves("C-17")
def test_an_at_sign_may_belong_to_the_name_of_a_program() -> None:
    """It also stands before the path that tells two programs of a name apart."""
    text = sources.program("    MOVE X TO Y.", name="A@1", data=("01  X PIC X.", "01  Y PIC X.")).encode()
    alone = graph_of({"p.cbl": text})
    assert [node.name for node in nodes_named(alone, "A@1.X")] == ["A@1.X"]
    assert nodes_named(alone, "A.X") == nodes_named(alone, "A") == []
    twins = graph_of({"one/p.cbl": text, "two/p.cbl": text})
    assert [node.name for node in nodes_named(twins, "A@1")] == ["A@1@one/p.cbl", "A@1@two/p.cbl"]
    assert [node.name for node in nodes_named(twins, "A@1.X")] == ["A@1@one/p.cbl.X", "A@1@two/p.cbl.X"]
    assert nodes_named(twins, "A") == nodes_named(twins, "A.X") == []


@pytest.mark.proves("C-16")
def test_what_a_program_and_its_copybook_of_that_name_declare_is_said_once() -> None:
    """Their fields are one node, and each edge has the citations of both."""
    program = "       PROGRAM-ID. RATE.\n       DATA DIVISION.\n       LINKAGE SECTION.\n       COPY RATE.\n"
    book = "       01  AREA-1.\n           05  PART PIC X.\n"
    other = "       01  AREA-1.\n           05  OTHER PIC X.\n           05  PART PIC X.\n"
    copied = graph_of({"rate.cbl": program.encode(), "rate.cpy": book.encode()})
    own = graph_of({"rate.cbl": program.replace("COPY RATE.", other.strip()).encode(), "rate.cpy": book.encode()})
    for graph, places in ((copied, ["rate.cpy:2"]), (own, ["rate.cbl:6", "rate.cpy:2"])):
        (edge,) = [one for one in graph.edges() if one.verb == "part of" and one.source.name == "RATE.PART"]
        assert [f"{one.path}:{one.line}" for one in edge.citations] == places
        assert edge in graph.touching(edge.source)
        assert edge in impact(graph, "RATE.PART").edges


@pytest.mark.proves("C-17")
def test_an_impact_tells_the_declarations_of_every_copybook_of_a_name() -> None:
    """Two folders have a copybook of one name; each adds a field to what is one node."""
    books = {f"{at}/rate.cpy": f"       01  AREA-1.\n           05  PART-{at} PIC X.\n".encode() for at in (1, 2)}
    found = impact(graph_of(books), "RATE.AREA-1")
    assert [edge.source.name for edge in found.edges] == ["RATE.PART-1", "RATE.PART-2"]


@pytest.mark.proves("C-16")
def test_an_item_of_a_copied_screen_is_cited_in_its_copybook() -> None:
    """The line is that of the entry, not that of the COPY."""
    program = (
        "       PROGRAM-ID. ASK.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n       01  ROLE PIC X.\n"
        "       SCREEN SECTION.\n       01  HEAD.\n           COPY LINES.\n"
    )
    book = "      * A REMARK\n           05  LINE 4 COL 26 FROM ROLE.\n"
    graph = graph_of({"ask.cbl": program.encode(), "lines.cpy": book.encode()})
    (edge,) = [one for one in graph.edges() if one.verb == "moves to"]
    assert [(one.path, one.line) for one in edge.citations] == [("lines.cpy", 2)]


@pytest.mark.parametrize(
    "statement",
    [
        "COMPUTE X = X -ITEM.",
        "COMPUTE X = -ITEM / 2.",
        "COMPUTE X = 2 ** (-ITEM).",
        "IF X > -ITEM CONTINUE.",
        "MOVE T (5 -ITEM) TO X.",
    ],
)
def test_a_minus_needs_no_blank_behind_it(statement: str) -> None:
    """An operand right behind its minus is read, as one behind a plus is."""
    source = sources.fixed(
        "PROGRAM-ID. LESS.",
        "DATA DIVISION.",
        "WORKING-STORAGE SECTION.",
        "01  X PIC S9(4).",
        "01  ITEM PIC S9(4).",
        "01  TS.",
        "    05  T PIC 9 OCCURS 9.",
        "PROCEDURE DIVISION.",
        "MAIN.",
        f"    {statement}",
    )
    read = {
        str(edge.source)
        for edge in impact(graph_of({"LESS.cbl": source.encode()}), "ITEM", depth=1).edges
        if edge.verb == "reads"
    }
    assert read == {"LESS.MAIN"}


@pytest.mark.proves("C-16")
def test_every_edge_is_cited_where_the_source_names_one_of_its_ends() -> None:
    """The cited lines name an end, its level 88, its file, or the copybook; the citations of storage edges name both ends."""
    graph = estate()
    shown = _shown_lines()
    told = _names_of_nodes(graph)
    sections = {
        section.name
        for path in ESTATE.rglob("*.cbl")
        for program in scan(path.read_bytes())
        for section in program.sections
    }
    for edge in graph.edges():
        assert edge.citations, edge
        names = told(edge.source) | told(edge.target)
        says = []
        for cited in edge.citations:
            text = " ".join(shown[cited.path][cited.line - 1 : cited.end_line or cited.line])
            wanted = names | ({cited.copybook.upper()} if cited.copybook else set())
            # A PERFORM of a section names the section, and leads to its first paragraph.
            wanted |= sections if edge.verb in {"performs", "goes to"} else set()
            says.append(any(name in text for name in wanted))
        # An edge to a thing named by data is cited at the statement that names the item, and where the item gets the name.
        is_own = {edge.source.kind, edge.target.kind} <= {"field", "paragraph"} and edge.verb != "passes to"
        assert all(says) if is_own else any(says), edge


def _shown_lines() -> dict[str, list[str]]:
    """Return the visible and the replaced text of each line of the example estate, in capitals, by file."""
    found = {}
    for path in ESTATE.rglob("*"):
        if path.is_file():
            name, source = path.relative_to(ESTATE).as_posix(), scan(path.read_bytes())
            if path.suffix in {".jcl", ".prc", ".csd", ".ddl", ".bms"}:
                found[name] = path.read_text().upper().split("\n")
            else:
                ends = (*source.starts[1:], None)
                code = [source.code[start:end].upper() for start, end in zip(source.starts, ends, strict=True)]
                found[name] = [f"{source.shown(line).upper()} {code[line - 1]}" for line in range(1, source.lines + 1)]
    return found


def _names_of_nodes(graph: EstateGraph) -> Callable[[NodeId], set[str]]:
    """Return a function that gives the names by which a source may refer to a node: its own, its file's, its level 88s'."""
    others: dict[str, set[str]] = {}
    for part in graph.parts:
        for file in part.files:
            for record in file.records:
                others.setdefault(part.fields[record].name, set()).add(file.name.rpartition(".")[2])
                others.setdefault(file.name, set()).add(part.fields[record].name.rpartition(".")[2])
        for field in part.fields:
            others.setdefault(field.name, set()).update(field.conditions)
            # The text that replaces :TAG: is in the COPY.
            if field.copybook_path:
                others[field.name].add(":TAG:-" + field.name.rpartition(".")[2].partition("-")[2])

    def names(node: NodeId) -> set[str]:
        last = node.name.rpartition(".")[2]
        # A program composes MWRD* of pieces.
        pieces = node.name.split("*") if node.kind == "queue" else ()
        return {node.name, last, *pieces, *others.get(node.name, ())} - {""}

    return names


def _grown(name: str, more: int, graph: EstateGraph | None = None) -> dict[tuple[str, str], Grown]:
    graph = graph or estate()
    found = growth(graph, nodes_named(graph, name), more, carrying=Carrying(graph))
    return {(one.what, one.node.name): one for one in found}


def test_a_field_that_grows_breaks_what_is_too_short_for_it_and_lengthens_what_holds_it() -> None:
    """If CU-NUMBER grows by two, the bill's customer is too short, then the register's; records and data sets get longer."""
    found = _grown("MWCUST.CU-NUMBER", 2)
    bill = found["too short", "MWB020.BO-CUSTOMER"]
    assert (bill.bytes, bill.needed_bytes, bill.steps) == (8, 10, 1)
    assert (found["too short", "MWB030.D1-CUSTOMER"].steps, found["record", "MWB020.MWCUST-RECORD"].needed_bytes) == (
        2,
        621,
    )
    assert {
        ("key", "MWB020.CUSTOMERS"),
        ("data set", "MW.PROD.CUSTOMER.KSDS"),
        ("data set", "MW.PROD.BILLS"),
    } <= found.keys()
    # A field of twenty characters has room for ten.
    assert ("too short", "MWB020.WS-ABEND-KEY") not in found


def test_a_redefinition_and_a_foreign_layout_no_longer_fit() -> None:
    """A redefinition of a field, and another program's layout of a parameter, do not grow with it."""
    caller = b"""       ID DIVISION.
       PROGRAM-ID. ONE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  AREA-1.
           05  A  PIC X(4).
           05  A-PARTS REDEFINES A.
               10  A-1 PIC XX.
               10  A-2 PIC XX.
           05  B  PIC X(4).
       PROCEDURE DIVISION.
           CALL 'TWO' USING AREA-1.
           GOBACK.
"""
    callee = b"""       ID DIVISION.
       PROGRAM-ID. TWO.
       DATA DIVISION.
       LINKAGE SECTION.
       01  L.
           05  LA PIC X(4).
           05  LB PIC X(4).
       PROCEDURE DIVISION USING L.
           DISPLAY LB.
           GOBACK.
"""
    graph = graph_of({"one.cbl": caller, "two.cbl": callee})
    found = _grown("ONE.A", 2, graph)
    assert {("redefinition", "ONE.A-PARTS"), ("other layout", "TWO.L"), ("record", "ONE.AREA-1")} <= found.keys()
    carried = {(edge.source.name, edge.target.name) for edge in Carrying(graph).after(nodes_named(graph, "ONE.B")[0])}
    assert carried == {("ONE.B", "TWO.LB")}


def test_a_caller_with_a_layout_of_its_own_is_too_short_for_what_it_gets_back() -> None:
    """A parameter is shared storage: if the called program's record grows, so must the caller's, and what receives it there."""
    caller = b"""       ID DIVISION.
       PROGRAM-ID. ONE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  AREA-1.
           05  A  PIC 9(4).
           05  B  PIC X(4).
       01  LISTED.
           05  FIRST-ID  PIC 9(4).
           05  LAST-ID   PIC 9(4).
       PROCEDURE DIVISION.
           CALL 'TWO' USING AREA-1.
           MOVE A TO FIRST-ID LAST-ID.
           GOBACK.
"""
    callee = b"""       ID DIVISION.
       PROGRAM-ID. TWO.
       DATA DIVISION.
       LINKAGE SECTION.
       01  L.
           05  LA PIC 9(4).
           05  LB PIC X(4).
       PROCEDURE DIVISION USING L.
           MOVE 1 TO LA.
           GOBACK.
"""
    found = _grown("TWO.LA", 2, graph_of({"one.cbl": caller, "two.cbl": callee}))
    assert found["other layout", "ONE.AREA-1"].why.startswith("it passes to TWO.L, which gets longer")
    assert (found["too short", "ONE.A"].needed_bytes, found["too short", "ONE.A"].steps) == (6, 1)
    assert found["too short", "ONE.A"].why.startswith("TWO.LA is carried to it")
    assert {found["too short", f"ONE.{name}-ID"].steps for name in ("FIRST", "LAST")} == {2}
    # Both fields of the last record grow.
    listed = found["record", "ONE.LISTED"]
    assert (listed.needed_bytes, listed.why) == (12, "it holds ONE.FIRST-ID and ONE.LAST-ID")


@pytest.mark.parametrize(
    ("assign", "value", "bound"),
    [
        ('"data/cust.idx"', "", ("data/cust.idx", "is", "")),
        ("WS-PATH", "data/cust.idx", ("data/cust.idx", "may", "its name is data")),
        ("WS-PATH", "CUSTFILE", ("CUSTFILE", "may", "its name is data")),
        ('"CUSTFILE"', "", ("CUSTFILE", "may", "no job says whether that is the file's own name or a DD name")),
        # not DD names: more than eight characters, or a hyphen
        ('"CUSTOMERS"', "", ("CUSTOMERS", "is", "")),
        ('"FX-CUST"', "", ("FX-CUST", "is", "")),
        ("EXTERNAL CUSTFILE", "", ("CUSTFILE", "may", "no job says whether that is the file's own name or a DD name")),
        ('LINE ADVANCING "data/cust.idx"', "", ("data/cust.idx", "is", "")),
        # DD names and devices
        ("UT-S-CUST", "", None),
        ('"S-CUST"', "", None),
        ('"PRINTER"', "", None),
        ('"LPT1:"', "", None),
        ("WS-PATH", "PRINTER", None),
        ("WS-PATH", "NO FILE", None),
    ],
)
def test_programs_that_name_a_file_itself_share_it(assign: str, value: str, bound: tuple[str, str, str] | None) -> None:
    """Without JCL each program describes the other's records, and a field that grows in one no longer fits the other."""
    source = """       ID DIVISION.
       PROGRAM-ID. {0}.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO {1}.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  {0}-REC.
           05  {0}-NUM PIC 9(4).
       WORKING-STORAGE SECTION.
       01  WS-PATH PIC X(20) VALUE "{2}".
       PROCEDURE DIVISION.
           OPEN I-O F.
           READ F.
           WRITE {0}-REC.
"""
    graph = graph_of({f"{name}.cbl": source.format(name, assign, value).encode() for name in ("ONE", "TWO")})
    edges = {
        (edge.source.name, edge.target.name, edge.certainty, edge.why)
        for edge in graph.edges()
        if edge.verb == "bound to"
    }
    assert edges == ({(f"{name}.F", *bound) for name in ("ONE", "TWO")} if bound else set())
    found = _grown("ONE.ONE-NUM", 2, graph)
    assert (("other layout", "TWO.TWO-REC") in found) == (bound is not None)
    path = bound[0].rpartition("/")[2] if bound else value or assign.strip('"')
    assert [node.name for node in nodes_named(graph, path)] == ([bound[0]] if bound else [])
    # What one writes the other reads, with the certainty that their files are the same.
    carried = [edge for edge in impact(graph, "ONE.ONE-NUM").edges if edge.verb == "carried to"]
    assert {edge.certainty for edge in carried} == ({bound[1]} if bound else set())


@pytest.mark.parametrize(
    ("assign", "title", "bound"),
    [
        ("F1-MSD", '"STOCK-K "', {("STOCK-K", "is", "")}),
        ("F1-MSD", "WS-PATH", {("CUSTFILE", "may", "its name is data")}),
        ("DISK", '"STOCK"', {("STOCK", "is", "")}),
        ("DISK", '"PRINTER"', set()),
        ("STOCKDD", '"STOCK"', set()),
    ],
)
def test_a_name_in_the_description_of_a_file_is_its_own(
    assign: str, title: str, bound: set[tuple[str, str, str]]
) -> None:
    """No job gives a file that name, unlike the one in ASSIGN, which may be a DD name; NEC's ASSIGN names a device."""
    source = f"""       ID DIVISION.
       PROGRAM-ID. ONE.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO {assign}.
       DATA DIVISION.
       FILE SECTION.
       FD  F LABEL RECORD STANDARD VALUE OF IDENTIFICATION IS {title}.
       01  REC PIC X(4).
       WORKING-STORAGE SECTION.
       01  WS-PATH PIC X(20) VALUE "CUSTFILE".
       PROCEDURE DIVISION.
           OPEN I-O F.
"""
    edges = graph_of({"one.cbl": source.encode()}).edges()
    assert {(edge.target.name, edge.certainty, edge.why) for edge in edges if edge.verb == "bound to"} == bound


def test_a_command_of_the_system_runs_the_program_of_a_file() -> None:
    """The command names the program's file or the program, with or without a launcher; data and unknown programs are not called."""

    def program(name: str, *lines: str) -> bytes:
        head = f"PROGRAM-ID. {name}.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 C PIC X(80).\n01 N PIC X(8).\n"
        return (head + "PROCEDURE DIVISION.\nMAIN.\n" + "".join(f"{line}\n" for line in lines)).encode()

    files = {
        "menu.cbl": program(
            "MENU",
            'MOVE "cd x && ./bin/the_list -a" TO C',
            'CALL "SYSTEM" USING C',
            'MOVE "clear" TO C',
            'STRING "cobcrun VIEW-ONE " N INTO C',
            'STRING "./bin/" N INTO C',
            'CALL "SYSTEM" USING "menu.exe"',
            'CALL "SYSTEM" USING "runcobol /o/sum.acu 1"',
            "GOBACK.",
        ),
        "the_list.cbl": program("THE-LIST", "GOBACK."),
        "view.cbl": program("VIEW-ONE", "GOBACK."),
        "sum.cbl": program("SUM-UP", "GOBACK."),
    }
    found = {
        f"{edge.target} {edge.certainty}": [one.line for one in edge.citations]
        for edge in graph_of(files).edges()
        if edge.verb == "calls"
    }
    assert found == {
        "SYSTEM is": [9, 13, 14],
        "THE-LIST may": [9, 8],
        "VIEW-ONE may": [9, 11],
        "MENU may": [13],
        "SUM-UP may": [14],
    }


def test_a_command_of_the_system_runs_no_program_within_another() -> None:
    """A file is entered at its first program, and a contained one is known in that alone; a second one has its own name."""

    def head(name: str) -> str:
        return f"IDENTIFICATION DIVISION.\nPROGRAM-ID. {name}.\nPROCEDURE DIVISION.\n"

    calls = "".join(f'CALL "SYSTEM" USING "cobcrun {name}".\n' for name in ("LIST", "INNER", "SECOND"))
    inner = f"{head('INNER')}GOBACK.\nEND PROGRAM INNER.\n"
    first = f"{head('FIRST')}GOBACK.\n{inner}END PROGRAM FIRST.\n"
    files = {"menu.cbl": f"{head('MENU')}{calls}", "list.cbl": f"{first}{head('SECOND')}GOBACK.\n"}
    edges = graph_of({path: text.encode() for path, text in files.items()}).edges()
    found = [edge.target.name for edge in edges if edge.verb == "calls" and edge.target.name != "SYSTEM"]
    assert found == ["FIRST", "SECOND"]


@pytest.mark.parametrize("file", ["../o/TAX.acu", "W:\\O\\TAX.GNT", "TAX.so", "TAX", "/o/tax.b"])
@pytest.mark.parametrize("is_held", [False, True])
def test_a_call_may_name_the_file_of_a_program(file: str, is_held: bool) -> None:
    """Folders and the suffix of a compiled file are not part of the name of a program."""
    data = (f"01  W PIC X(20) VALUE '{file}'.", "01  A PIC X.")
    calling = sources.program(f"    CALL {'W' if is_held else repr(file)} USING A.", name="PAY", data=data)
    called = sources.fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. TAX.",
        "DATA DIVISION.",
        "LINKAGE SECTION.",
        "01  B PIC X.",
        "PROCEDURE DIVISION USING B.",
        "    GOBACK.",
    )
    drawn = graph_of({"pay.cbl": calling.encode(), "tax.cbl": called.encode()}).drawn
    found = {(edge.verb, edge.target.name) for edge in drawn if edge.verb in {"calls", "passes to"}}
    assert found == {("calls", "TAX"), ("passes to", "TAX.B")}


def test_a_literal_that_a_job_may_give_is_no_file() -> None:
    """If there are jobs, ASSIGN names a DD, unless the name cannot be one."""
    files = {
        f"{name}.cbl": f"""       ID DIVISION.
       PROGRAM-ID. {name}.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO "CUSTFILE".
       PROCEDURE DIVISION.
           OPEN INPUT F.
""".encode()
        for name in ("ONE", "TWO")
    }
    files["J.jcl"] = b"//J JOB 1\n//S EXEC PGM=ONE\n//CUSTFILE DD DSN=A.B,DISP=SHR\n"
    bound = {f"{edge.source} {edge.target}" for edge in graph_of(files).edges() if edge.verb == "bound to"}
    assert bound == {"ONE.F A.B"}


def test_a_file_on_a_device_has_the_name_of_its_select() -> None:
    """Compilers without JCL name it so, letter for letter; printers, work files of sorts and files named elsewhere are others."""

    def program(name: str, assigned: str, more: str = "", described: str = "FD") -> bytes:
        return sources.fixed(
            f"PROGRAM-ID. {name}.",
            "FILE-CONTROL.",
            f"    SELECT Stock-File ASSIGN TO {assigned}.",
            "DATA DIVISION.",
            "FILE SECTION.",
            f"{described}  STOCK-FILE {more}.",
            "01  R PIC X.",
            "PROCEDURE DIVISION.",
            "    OPEN INPUT STOCK-FILE.",
        ).encode()

    files = {
        "a.cbl": program("A", "DISK"),
        "b.cbl": program("B", "RANDOM"),
        "c.cbl": program("C", "PRINTER"),
        "d.cbl": program("D", "DISK", described="SD"),
        "e.cbl": program("E", "DISK", "VALUE OF FILE-ID W-E"),
        "f.cbl": program("F", 'DISK "stock.dat"'),
    }

    def bound(files: dict[str, bytes]) -> set[str]:
        edges = graph_of(files).edges()
        return {f"{edge.source} {edge.target} {edge.certainty}" for edge in edges if edge.verb == "bound to"}

    shared = {"A.STOCK-FILE Stock-File is", "B.STOCK-FILE Stock-File is"}
    assert bound(files) == shared | {"F.STOCK-FILE stock.dat is"}
    elsewhere = graph_of({"one/a.cbl": files["a.cbl"], "two/b.cbl": files["b.cbl"], "two/f.cbl": files["f.cbl"]})
    whys = {edge.source.name: edge.why for edge in elsewhere.edges() if edge.verb == "bound to"}
    doubt = "only the SELECT names it, and programs in other folders have a file of that name"
    assert whys == {"A.STOCK-FILE": doubt, "B.STOCK-FILE": doubt, "F.STOCK-FILE": ""}
    carried = [file for store, bound in elsewhere.bindings.items() if store.name == "Stock-File" for _, file in bound]
    assert [file.why("Stock-File") for file in carried] == [doubt, doubt]
    job = {"J.jcl": b"//J JOB 1\n//S EXEC PGM=A\n//DISK DD DSN=A.B,DISP=SHR\n"}
    assert not {one for one in bound(files | job) if "Stock-File" in one}


def test_no_name_is_a_formula_in_an_export_for_spreadsheets() -> None:
    """A source decides how a name or a path begins; without the mark in front it is read as it was."""
    text = sources.program('    CALL "=1+1".', '    CALL "\'A".', name="ONE")
    graph = graph_of({"=one.cbl": text.encode()})
    nodes = list(csv.DictReader(io.StringIO("".join(nodes_csv(graph)))))
    edges = list(csv.DictReader(io.StringIO("".join(edges_csv(graph)))))
    cells = {cell for row in (*nodes, *edges) for cell in row.values()}
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@"}]
    assert {"'=1+1", "'=one.cbl"} <= cells
    assert {node.name for node in graph.nodes()} <= {cell.removeprefix("'") for cell in cells}


def test_the_name_of_a_file_may_be_composed() -> None:
    """The name may come from a STRING with a folder from data, from an item that only ASSIGN declares, or from copied code."""
    program = b"""       ID DIVISION.
       PROGRAM-ID. ONE.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT A ASSIGN TO DISK W-A.
           SELECT B ASSIGN TO DISK W-B.
           SELECT C ASSIGN TO W-C.
           SELECT D ASSIGN TO W-D.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       78  ME VALUE 'ONE'.
       01  W-C PIC X(40).
       01  W-D PIC X(40).
       01  W-FOLDER PIC X(20).
       PROCEDURE DIVISION.
           COPY OPENS.
           MOVE 'ini/one.ini' TO W-B.
           MOVE 'one.dat' TO W-C.
           MOVE 'two.dat' TO W-C.
           STRING W-FOLDER '/' W-FOLDER '.wrk' DELIMITED BY ' '
               INTO W-D.
           OPEN INPUT A B C D.
"""
    opens = b"""           STRING W-FOLDER DELIMITED BY ' '
               '\\' ME '_' W-FOLDER '.DAT' INTO W-A.
"""
    graph = graph_of({"one.cbl": program, "OPENS.cpy": opens})
    bound = {
        (edge.source.name, edge.target.name, edge.certainty): [(one.line, one.copybook) for one in edge.citations]
        for edge in graph.edges()
        if edge.verb == "bound to"
    }
    assert bound == {
        ("ONE.A", "*/ONE_*.DAT", "may"): [(6, None), (17, "OPENS")],
        ("ONE.B", "ini/one.ini", "may"): [(7, None), (18, None)],
        ("ONE.C", "one.dat", "may"): [(8, None), (19, None)],
        ("ONE.C", "two.dat", "may"): [(8, None), (20, None)],
    }


def test_code_of_a_copied_section_is_of_that_section() -> None:
    """A copied section without a paragraph reads, writes and performs; its calls by name may have values from the program."""
    program = b"""       ID DIVISION.
       PROGRAM-ID. ONE.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO "f.dat" INDEXED RECORD KEY F-K.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  R.
           05  F-K   PIC X(8).
       WORKING-STORAGE SECTION.
       01  W-PGM PIC X(8).
       PROCEDURE DIVISION.
       MAIN SECTION.
           MOVE 'SUB1' TO W-PGM.
           PERFORM READS.
           CALL W-PGM.
           GOBACK.
       FAILS SECTION.
           STOP RUN.
           COPY READING.
"""
    reading = b"""       READS SECTION.
           START F KEY > F-K INVALID KEY PERFORM FAILS.
           READ F NEXT.
           MOVE 'SUB2' TO W-PGM.
           PERFORM ELSEWHERE.
           CALL W-NAME.
"""
    graph = graph_of({"one.cbl": program, "READING.cpy": reading})
    found = {(str(edge.source), edge.verb, str(edge.target), edge.certainty) for edge in graph.edges()}
    assert {
        ("ONE.READS", "reads", "ONE.F-K", "is"),
        ("ONE.READS", "reads", "ONE.F", "is"),
        ("ONE.READS", "performs", "ONE.FAILS", "is"),
        ("ONE", "calls", "SUB1", "may"),
        ("ONE", "calls", "SUB2", "may"),
        ("READING.READS", "performs", "READING.ELSEWHERE", "unknown"),
    } <= found
    assert not {one for one in found if one[0] == "ONE.FAILS" and one[1] != "part of"}
    # Only the program that copies it declares W-NAME.
    assert not {one for one in found if one[0] == "READING" and one[1] == "calls"}


@pytest.mark.parametrize(
    ("performs", "ends", "verbs"),
    [
        ("READS", "GOBACK", {"reads"}),
        ("WRITES", "GOBACK", {"writes"}),
        ("READS THRU WRITES", "GOBACK", {"reads", "writes"}),
        ("READS", "CONTINUE", {"reads", "writes"}),  # control falls through into the copied code
    ],
)
def test_a_program_does_what_it_performs_of_copied_code(performs: str, ends: str, verbs: set[str]) -> None:
    """A copybook that can use a file in every way does not make all its programs writers of the file."""
    program = f"""       ID DIVISION.
       PROGRAM-ID. ONE.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO FDD.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  R PIC X(8).
       PROCEDURE DIVISION.
       MAIN SECTION.
           PERFORM OPENS
           PERFORM {performs}
           PERFORM LAST-ONE.
           {ends}.
       LAST-ONE SECTION.
           DISPLAY 'X'.
           COPY USING-F.
"""
    copied = b"""       OPENS SECTION.
           OPEN I-O F.
       READS SECTION.
           READ F.
       WRITES SECTION.
           WRITE R.
"""
    jcl = b"//J JOB 1\n//S EXEC PGM=ONE\n//FDD DD DSN=A.B,DISP=SHR\n"
    files = {"one.cbl": program.encode(), "USING-F.cpy": copied, "j.jcl": jcl}
    found = {edge.verb for edge in graph_of(files).edges() if edge.target.name == "A.B" and edge.source.name == "J.S"}
    assert found == verbs
    source = scan(files["one.cbl"])
    (access,) = facts(source, source.programs[0], copybooks=Copybooks([("USING-F.cpy", "copybook", copied)])).crud
    assert (bool(access.read), bool(access.create)) == ("reads" in verbs, "writes" in verbs)


@pytest.mark.parametrize(
    "clause",
    [
        "RECORD KEY IS F-ALL = F-A F-B",
        "RECORD KEY F-ALL SOURCE IS F-A F-B",
        "RECORD KEY IS F-ALL=F-A F-B",
        "RECORD KEY IS F-ALL=\n               F-A, F-B",
        "RECORD KEY F-ALL =F-A, F-B",
        "RECORD KEY F-ALL = F-A OF R, F-B IN R",
        "RECORD KEY F-A OF R ALTERNATE KEY F-B IN R",
    ],
)
def test_a_key_may_be_of_several_items(clause: str) -> None:
    """The key has a name that no item has; each of its items is part of the key."""
    program = f"""       ID DIVISION.
       PROGRAM-ID. ONE.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO "f.dat" ORGANIZATION INDEXED
               {clause}
               ALTERNATE KEY F-ALSO = F-B F-C WITH DUPLICATES
               STATUS W-S.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  R.
           05  F-A   PIC X(8).
           05  F-B   PIC X(8).
           05  F-C   PIC X(8).
       WORKING-STORAGE SECTION.
       01  W-S PIC XX.
       PROCEDURE DIVISION.
           OPEN I-O F.
"""
    graph = graph_of({"one.cbl": program.encode()})
    keys = {str(edge.source) for edge in graph.edges() if edge.verb == "is key of"}
    assert keys == {"ONE.F-A", "ONE.F-B", "ONE.F-C"}


def test_a_key_needs_no_qualifier_for_it_is_in_a_record_of_its_file() -> None:
    """GnuCOBOL compiles this although W has the same names; a relative key is outside of the record, and must be qualified."""
    program = """       ID DIVISION.
       PROGRAM-ID. ONE.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO "f.dat" ORGANIZATION INDEXED
               RECORD KEY K ALTERNATE RECORD KEY L.
           SELECT G ASSIGN TO "g.dat"
               ORGANIZATION RELATIVE RELATIVE KEY M.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  R.
           05  K PIC X.
           05  L PIC X.
       FD  G.
       01  S.
           05  K PIC X.
           05  M PIC 9.
       WORKING-STORAGE SECTION.
       01  W.
           05  K PIC X.
           05  L PIC X.
           05  M PIC 9.
       PROCEDURE DIVISION.
           OPEN I-O F.
"""
    graph = graph_of({"one.cbl": program.encode()})
    keys = {(str(edge.source), str(edge.target)) for edge in graph.edges() if edge.verb == "is key of"}
    assert keys == {("ONE.R.K", "ONE.F"), ("ONE.R.L", "ONE.F")}


def test_keys_and_status_may_be_qualified() -> None:
    """Two records have the same names: only the qualifiers say which is meant."""
    data = "".join(f"       01  {name}.\n           05  K PIC 9(4).\n           05  S PIC XX.\n" for name in ("W", "V"))
    program = f"""       ID DIVISION.
       PROGRAM-ID. ONE.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO "f.dat" ORGANIZATION INDEXED
               RECORD KEY F-K OF R ALTERNATE RECORD KEY IS F-K IN R2
               FILE STATUS IS S OF W S IN V.
           SELECT G ASSIGN TO "g.dat" ORGANIZATION RELATIVE RELATIVE KEY IS K OF V FILE STATUS S OF V.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  R.
           05  F-K   PIC X(8).
       01  R2.
           05  F-K   PIC X(8).
       FD  G.
       01  G-R PIC X.
       WORKING-STORAGE SECTION.
{data}       PROCEDURE DIVISION.
           OPEN I-O F.
"""
    graph = graph_of({"one.cbl": program.encode()})
    found = {(str(edge.source), edge.verb, str(edge.target)) for edge in graph.edges() if edge.verb.startswith("is ")}
    assert {edge for edge in found if edge[1] != "is record of"} == {
        ("ONE.R.F-K", "is key of", "ONE.F"),
        ("ONE.R2.F-K", "is key of", "ONE.F"),
        ("ONE.W.S", "is status of", "ONE.F"),
        ("ONE.V.S", "is status of", "ONE.F"),
        ("ONE.V.K", "is key of", "ONE.G"),
        ("ONE.V.S", "is status of", "ONE.G"),
    }


def test_members_with_one_job_card_are_jobs_of_their_own() -> None:
    """They may be copies of each other: a data set that one leaves is not read by the other."""
    card = b"//USER1A JOB 1\n"
    files = {
        "a.jcl": card + b"//S1 EXEC PGM=IEBGENER\n//SYSUT1 DD DSN=A,DISP=SHR\n//SYSUT2 DD DSN=&&T,DISP=(,PASS)\n",
        "b.jcl": card + b"//S1 EXEC PGM=IEBGENER\n//SYSUT1 DD DSN=&&T,DISP=SHR\n//SYSUT2 DD DSN=B,DISP=SHR\n",
    }
    graph = graph_of(files)
    found = {f"{edge.source} {edge.verb} {edge.target}" for edge in graph.edges() if edge.target.kind == "dataset"}
    assert found == {
        "USER1A@A.S1 reads A",
        "USER1A@A.S1 writes USER1A@A.&&T",
        "USER1A@B.S1 reads USER1A@B.&&T",
        "USER1A@B.S1 writes B",
    }
    assert [node.name for node in nodes_named(graph, "user1a", "job")] == ["USER1A@A", "USER1A@B"]
    assert len(nodes_named(graph, "user1a.s1", "step")) == 2
    other = graph_of({"x/a.jcl": files["a.jcl"], "y/a.jcl": files["b.jcl"]})
    assert [node.name for node in nodes_named(other, "user1a", "job")] == ["USER1A@x/a.jcl", "USER1A@y/a.jcl"]


def test_a_program_that_tso_runs_may_be_a_symbol() -> None:
    """The value that SET gives holds in the stream; a program by a symbol that nothing sets is unknown."""
    jcl = b"""//J JOB 1
// SET NAME=PGMX
//S EXEC PGM=IKJEFT01
//SYSTSIN DD *,SYMBOLS=JCLONLY
  RUN PROGRAM(&NAME) PLAN(P)
  RUN PROGRAM(&OTHER)
"""
    found = {f"{edge.target} {edge.certainty}" for edge in graph_of({"j.jcl": jcl}).edges() if edge.verb == "runs"}
    assert found == {"IKJEFT01 is", "PGMX is", "&OTHER unknown"}


def test_the_data_sets_of_a_procedure_that_is_not_here_are_used_by_its_step() -> None:
    """What the job says about the DDs of the missing procedure is used."""
    jcl = b"""//J JOB 1
//S EXEC SAS94
//INPUT DD DSN=IN.CSV,DISP=SHR
//OUTPUT DD DSN=OUT.CSV(+1),DISP=(,CATLG)
//L.SYSLMOD DD DSN=LOAD(P),DISP=SHR
"""
    found = {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}"
        for edge in graph_of({"j.jcl": jcl}).edges()
        if edge.target.kind == "dataset"
    }
    assert found == {"J.S reads IN.CSV may", "J.S writes OUT.CSV may", "J.S writes LOAD(P) may"}


def test_a_data_set_of_a_dd_of_the_system_is_used_by_a_program_that_has_a_file_of_that_name() -> None:
    """A program may print to SYSPRINT. In other steps, and for STEPLIB, such a DD is no flow of data."""
    cobol = b"""       PROGRAM-ID. PAYLIST.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT LISTING ASSIGN TO UT-S-SYSPRINT.
       DATA DIVISION.
       FILE SECTION.
       FD LISTING.
       01 A-LINE PIC X(132).
       PROCEDURE DIVISION.
       MAIN-PART.
           OPEN OUTPUT LISTING.
           WRITE A-LINE.
           CLOSE LISTING.
           GOBACK.
"""
    jcl = b"""//J JOB 1
//SORTED EXEC PGM=SORT
//SORTIN DD DSN=PAY.IN,DISP=SHR
//SYSPRINT DD DSN=SORT.LOG,DISP=(,CATLG)
//LIST EXEC PGM=PAYLIST
//STEPLIB DD DSN=PAY.LOAD,DISP=SHR
//SYSPRINT DD DSN=PAY.LISTING,DISP=(,CATLG)
//SYSUDUMP DD DSN=PAY.DUMP,DISP=(,CATLG)
"""
    found = {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}"
        for edge in graph_of({"paylist.cbl": cobol, "j.jcl": jcl}).edges()
        if edge.target.kind == "dataset"
    }
    assert found == {
        "J.SORTED reads PAY.IN is",
        "J.LIST writes PAY.LISTING is",
        "PAYLIST.LISTING bound to PAY.LISTING is",
    }


READS_RATES = b"""       PROGRAM-ID. %s.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT RATES ASSIGN TO %s.
       DATA DIVISION.
       FILE SECTION.
       FD RATES.
       01 A-RATE PIC X(80).
       PROCEDURE DIVISION.
       MAIN-PART.
           OPEN INPUT RATES.
           READ RATES.
           CLOSE RATES.
           GOBACK.
"""
"""A program by its name, with a file that it reads and the DD of that."""


def test_a_called_program_has_the_dds_of_the_step_that_runs_its_caller() -> None:
    """At any depth, as certain as the calls; a program that is not called has none, and a dynamic call `may` bring it."""
    caller = b"""       PROGRAM-ID. %s.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 W-NAME PIC X(8).
       PROCEDURE DIVISION.
       MAIN-PART.
           %s
           GOBACK.
"""
    choice = b"""IF W-NAME = 'A' MOVE 'GETTAX' TO W-NAME
           ELSE MOVE 'MIDDLE' TO W-NAME END-IF
           CALL W-NAME."""
    jcl = b"""//J JOB 1
//S EXEC PGM=TOP
//RATES DD DSN=PAY.RATES,DISP=SHR
//TAXES DD DSN=PAY.TAXES,DISP=SHR
//SPARE DD DSN=PAY.SPARE,DISP=SHR
"""
    graph = graph_of(
        {
            "top.cbl": caller % (b"TOP", b"CALL 'MIDDLE'. CALL 'CHOOSES'."),
            "middle.cbl": caller % (b"MIDDLE", b"CALL 'GETRATE'. CALL 'TOP'."),
            "chooses.cbl": caller % (b"CHOOSES", choice),
            "getrate.cbl": READS_RATES % (b"GETRATE", b"RATES"),
            "gettax.cbl": READS_RATES % (b"GETTAX", b"TAXES"),
            "getspare.cbl": READS_RATES % (b"GETSPARE", b"SPARE"),
            "j.jcl": jcl,
        }
    )
    found = {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}": edge
        for edge in graph.edges()
        if edge.target.kind == "dataset"
    }
    assert set(found) == {
        "GETRATE.RATES bound to PAY.RATES is",
        "J.S reads PAY.RATES is",
        "GETTAX.RATES bound to PAY.TAXES may",
        "J.S reads PAY.TAXES may",
        "J.S reads PAY.SPARE may",
    }
    cited = found["GETRATE.RATES bound to PAY.RATES is"].citations
    assert {line.path for line in cited} == {"j.jcl", "top.cbl", "middle.cbl", "getrate.cbl"}


def test_a_called_program_may_have_the_dds_of_a_step_that_may_run_its_caller() -> None:
    """Two programs have the name that the step runs, and one of them calls a third."""
    top = b"       PROGRAM-ID. TOP.\n       PROCEDURE DIVISION.\n       MAIN-PART.\n           %s\n           GOBACK.\n"
    jcl = b"//J JOB 1\n//S EXEC PGM=TOP\n//RATES DD DSN=PAY.RATES,DISP=SHR\n"
    files = {
        "a/top.cbl": top % b"CALL 'GETRATE'.",
        "b/top.cbl": top % b"CONTINUE.",
        "getrate.cbl": READS_RATES % (b"GETRATE", b"RATES"),
        "j.jcl": jcl,
    }
    found = {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}"
        for edge in graph_of(files).edges()
        if edge.target.kind == "dataset"
    }
    assert found == {"GETRATE.RATES bound to PAY.RATES may", "J.S reads PAY.RATES may"}


def test_a_program_does_not_call_what_a_copybook_of_its_name_calls() -> None:
    """It need not copy it: only the calls of the program give the DDs of its step to others."""
    reader = sources.with_file("GETRATE").replace("GOBACK", "OPEN INPUT BILLS")
    files = {
        "top.cbl": sources.program("    GOBACK.", name="TOP"),
        "top.cpy": "           CALL 'GETRATE'.\n",
        "getrate.cbl": reader,
        "j.jcl": "//J JOB 1\n//S EXEC PGM=TOP\n//DD1 DD DSN=PAY.RATES,DISP=SHR\n",
    }
    edges = graph_of({path: text.encode() for path, text in files.items()}).edges()
    found = {f"{edge.source} {edge.verb} {edge.target} {edge.certainty}" for edge in edges}
    assert "TOP calls GETRATE is" in found  # the copybook does
    assert {one for one in found if "PAY.RATES" in one} == {"J.S reads PAY.RATES may"}


def test_a_binder_writes_its_library_whatever_its_disposition() -> None:
    """DISP=SHR of a library does not say what happens to its member."""
    jcl = b"""//J JOB 1
//COB EXEC PGM=IGYCRCTL
//SYSIN DD DSN=SRC(P),DISP=SHR
//SYSLIN DD DSN=OBJ(P),DISP=OLD
//LKED EXEC PGM=IEWL
//SYSLIN DD DSN=OBJ(P),DISP=OLD
//SYSLMOD DD DSN=LOAD(P),DISP=SHR
"""
    found = {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}"
        for edge in graph_of({"j.jcl": jcl}).edges()
        if edge.target.kind == "dataset"
    }
    assert found == {
        "J.COB reads SRC(P) is",
        "J.COB writes OBJ(P) is",
        "J.LKED reads OBJ(P) is",
        "J.LKED writes LOAD(P) is",
    }


def test_a_table_multiplies_what_grows_in_it() -> None:
    """A field in a table of six makes its group, its record and their redefinitions longer by six times its growth."""
    program = b"""       ID DIVISION.
       PROGRAM-ID. ONE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  AREA-1.
           05  LINES-1.
               10  LINE-1 OCCURS 6.
                   15  A PIC X(4).
           05  LINES-2 REDEFINES LINES-1 PIC X(24).
       PROCEDURE DIVISION.
           GOBACK.
"""
    found = _grown("ONE.A", 2, graph_of({"one.cbl": program}))
    wanted = {"ONE.LINE-1": 6, "ONE.LINES-1": 36, "ONE.LINES-2": 36, "ONE.AREA-1": 36}
    assert {name: one.needed_bytes for (what, name), one in found.items() if what != "field"} == wanted


def test_what_takes_only_a_part_today_may_go_on_to_do_so() -> None:
    """Only a receiver that held the whole is certainly too short; one that already cuts may be meant to, and nothing follows."""
    program = b"""       ID DIVISION.
       PROGRAM-ID. ONE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  A  PIC X(4).
       01  B  PIC X(4).
       01  C  PIC X(3).
       01  D  PIC X(3).
       01  G.
           05  H  PIC X(8).
           05  I  PIC X(8).
       01  J  PIC X(10).
       PROCEDURE DIVISION.
           MOVE A TO B C.
           MOVE C TO D.
           MOVE G TO J.
           GOBACK.
"""
    graph = graph_of({"one.cbl": program})
    found = _grown("ONE.A", 2, graph)
    short = {
        key: (one.certainty, one.needed_bytes) for key, one in found.items() if key[0] in {"too short", "cut today"}
    }
    assert short == {("too short", "ONE.B"): ("is", 6), ("cut today", "ONE.C"): ("may", 6)}
    cut = _grown("ONE.H", 2, graph)["cut today", "ONE.J"]
    assert (cut.certainty, cut.why) == ("may", "ONE.G moves to it; it takes only a part of it today")


def test_a_data_set_has_other_layouts_in_other_programs() -> None:
    """Two programs of a job describe one data set: if the first lengthens its record, the second's no longer matches."""
    program = """       ID DIVISION.
       PROGRAM-ID. {0}.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO DD1.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  {0}-REC.
           05  {0}-A PIC X(4) OCCURS 3.
       PROCEDURE DIVISION.
           OPEN {1} F.
           GOBACK.
"""
    job = "".join(
        f"//S{at}      EXEC PGM={name}\n//DD1     DD  DSN=MY.DATA,DISP={disp}\n"
        for at, (name, disp) in enumerate((("ONE", "(NEW,CATLG)"), ("TWO", "SHR")))
    )
    files = {"one.cbl": program.format("ONE", "OUTPUT"), "two.cbl": program.format("TWO", "INPUT")}
    files["job.jcl"] = f"//MYJOB   JOB (1),'X'\n{job}"
    files["new.jcl"] = (
        "//NEW     JOB (1),'X'\n//MAKE    EXEC PGM=IDCAMS\n//SYSIN   DD *\n DEFINE CLUSTER (NAME(MY.DATA))\n/*\n"
    )
    found = _grown("ONE.ONE-A", 2, graph_of({path: text.encode() for path, text in files.items()}))
    assert {("data set", "MY.DATA"), ("step", "NEW.MAKE")} <= found.keys()
    assert found["other layout", "TWO.TWO-REC"].needed_bytes == 18


def test_a_commarea_that_is_text_of_any_length_is_no_other_layout() -> None:
    """DFHCOMMAREA as a table of PIC X takes any content, so nothing in it moves."""
    head = "       ID DIVISION.\n       PROGRAM-ID. {}.\n       DATA DIVISION.\n"
    caller = head.format("ONE") + (
        "       WORKING-STORAGE SECTION.\n       01  CA.\n           05  A PIC X(4).\n           05  B PIC X(4).\n"
        "       PROCEDURE DIVISION.\n           EXEC CICS LINK PROGRAM('TWO') COMMAREA(CA) END-EXEC.\n"
        "           GOBACK.\n"
    )
    callee = head.format("TWO") + (
        "       LINKAGE SECTION.\n       01  DFHCOMMAREA.\n           05  LK PIC X OCCURS 1 TO 99 DEPENDING ON EIBCALEN.\n"
        "       PROCEDURE DIVISION.\n           GOBACK.\n"
    )
    found = _grown("ONE.A", 2, graph_of({"one.cbl": caller.encode(), "two.cbl": callee.encode()}))
    assert {what for what, _ in found} == {"field", "record"}


def test_a_field_is_carried_to_its_place_in_the_other_area() -> None:
    """The inner group begins at byte 4 and is moved to a record that begins at 0: offsets count from the areas that are moved."""
    program = b"""       ID DIVISION.
       PROGRAM-ID. ONE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  R.
           05  X PIC X(4).
           05  G.
               10  A PIC X(2).
               10  B PIC X(3).
       01  H.
           05  C PIC X(2).
           05  D PIC X(3).
           05  E PIC X(4).
       PROCEDURE DIVISION.
           MOVE G TO H.
           GOBACK.
"""
    graph = graph_of({"one.cbl": program})
    carrying = Carrying(graph)
    found = {
        (edge.source.name, edge.target.name, edge.certainty)
        for name in ("ONE.A", "ONE.B")
        for edge in carrying.after(nodes_named(graph, name)[0])
    }
    assert found == {("ONE.A", "ONE.C", "is"), ("ONE.B", "ONE.D", "is")}


def test_which_fields_are_at_some_bytes_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every field that is carried there asks: n programs that share a record would look through n records n times."""
    groups = "".join(f"       01  G{at}.\n           05  A{at} PIC X(4).\n" for at in range(20))
    moves = "".join(f"           MOVE G{at} TO H.\n" for at in range(20))
    program = f"""       ID DIVISION.
       PROGRAM-ID. ONE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  H.
           05  C PIC X(4).
{groups}       PROCEDURE DIVISION.
{moves}           GOBACK.
"""
    graph = graph_of({"one.cbl": program.encode()})
    asked: list[object] = []
    look = vars(Carrying)["_targets_at"]

    def counted(carrying: Carrying, *place: object) -> object:
        asked.append(place)
        return look(carrying, *place)

    monkeypatch.setattr(Carrying, "_targets_at", counted)
    carrying = Carrying(graph)
    found = [edge.target.name for at in range(20) for edge in carrying.after(nodes_named(graph, f"ONE.A{at}")[0])]
    assert (found.count("ONE.C"), len(asked)) == (20, 1)


def test_a_field_that_lies_otherwise_in_the_other_area_may_be_carried_there() -> None:
    """A field whose bytes go into two fields, or into a longer one, `may` be carried there, and the edge says why."""
    program = b"""       ID DIVISION.
       PROGRAM-ID. ONE.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  G.
           05  A PIC X(4).
           05  B PIC X(4).
       01  H.
           05  C PIC X(2).
           05  D PIC X(6).
       01  N PIC 9(4).
       01  N-PARTS REDEFINES N.
           05  N-1 PIC 99.
       01  M PIC 9(4).
       01  M-PARTS REDEFINES M.
           05  M-1 PIC 99.
       PROCEDURE DIVISION.
           MOVE G TO H.
           MOVE N TO M.
           GOBACK.
"""
    graph = graph_of({"one.cbl": program})
    carrying = Carrying(graph)
    found = {
        (edge.source.name, edge.target.name, edge.certainty, edge.why.rpartition("; ")[2])
        for name in (
            "ONE.A",
            "ONE.N-1",
        )  # a numeric MOVE converts the value: what its first two digits become is unknown
        for edge in carrying.after(nodes_named(graph, name)[0])
        if edge.verb == "carried to"
    }
    assert found == {
        ("ONE.A", "ONE.C", "may", "place or length differ"),
        ("ONE.A", "ONE.D", "may", "place or length differ"),
    }
    beside = [(edge.verb, edge.target.name) for edge in carrying.after(nodes_named(graph, "ONE.N-1")[0])]
    assert beside == [("overlaps", "ONE.N")]


def test_a_file_of_a_region_carries_fields_from_who_writes_it_to_who_reads_it() -> None:
    """EXEC CICS WRITE in one program and READ in another: the same bytes of their areas are the same field."""
    program = """       ID DIVISION.
       PROGRAM-ID. {0}.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  {0}-REC.
           05  {0}-K PIC X(4).
           05  {0}-V PIC X(4).
       PROCEDURE DIVISION.
           EXEC CICS {1}({0}-REC)
               RIDFLD({0}-K) END-EXEC.
           GOBACK.
"""
    writer, reader = program.format("ONE", "WRITE FILE('F') FROM"), program.format("TWO", "READ FILE('F') INTO")
    graph = graph_of({"one.cbl": writer.encode(), "two.cbl": reader.encode()})
    found = [(edge.target.name, edge.why) for edge in Carrying(graph).after(nodes_named(graph, "ONE.ONE-V")[0])]
    assert found == [("TWO.TWO-V", "through F")]


def test_one_of_two_programs_of_one_name_is_asked_for_by_its_path() -> None:
    """Both programs have their path in their names, a call may mean either, and a path may have small letters."""
    one = sources.program("    CALL 'ONE'.", name="ONE").encode()
    other = sources.program("    CALL 'ONE'.", name="OTHER").encode()
    graph = graph_of({"old/one.cbl": one, "new/one.cbl": one, "other.cbl": other})
    assert [node.name for node in nodes_named(graph, "ONE@old/one.cbl")] == ["ONE@old/one.cbl"]
    assert len(nodes_named(graph, "one")) == 2
    calls = {(edge.source.name, edge.target.name, edge.certainty) for edge in graph.drawn if edge.verb == "calls"}
    found = [f"ONE@{version}/one.cbl" for version in ("old", "new")]
    assert calls == {("OTHER", name, "may") for name in found} | {(name, name, "is") for name in found}


@pytest.mark.proves("C-16", "C-17")
def test_the_name_of_several_programs_is_not_that_of_what_is_in_them() -> None:
    """Neither their fields and paragraphs nor the steps of jobs of one name are meant by that name."""
    text = sources.fixed(
        *("PROGRAM-ID. TWICE.", "DATA DIVISION.", "WORKING-STORAGE SECTION.", "01  W PIC X.", "PROCEDURE DIVISION."),
        *("MAIN.", "    MOVE SPACE TO W.", "    GOBACK."),
    ).encode()
    jobs = {f"{name}.jcl": b"//NIGHT JOB\n//S EXEC PGM=TWICE\n" for name in ("one", "two")}
    graph = graph_of({"a/one.cbl": text, "b/two.cbl": text, **jobs})
    assert {node.name for node in nodes_named(graph, "TWICE")} == {"TWICE@a/one.cbl", "TWICE@b/two.cbl"}
    assert {(node.kind, node.name) for node in nodes_named(graph, "NIGHT")} == {
        ("job", "NIGHT@ONE"),
        ("job", "NIGHT@TWO"),
    }
    assert len(nodes_named(graph, "TWICE.W")) == 2


@pytest.mark.proves("C-16", "C-17")
def test_a_program_within_its_caller_is_meant_before_one_of_another_file() -> None:
    """Two copies of a program each call their own contained program, with certainty; a program without one calls neither."""
    text = (ESTATE / "cbl" / "MWS010.cbl").read_bytes()
    files = {f"{name}.cbl": text.replace(b"MWS010", name.encode()) for name in ("ONE010", "TWO010")}
    files["LOOSE.cbl"] = sources.program("    CALL 'DAYNUM'.", "    GOBACK.", name="LOOSE").encode()
    graph = graph_of(files)
    calls = {
        (edge.source.name, edge.target.name, edge.certainty)
        for edge in graph.drawn
        if edge.verb == "calls" and edge.source.kind == "program"
    }
    assert {one for one in calls if one[0] != "LOOSE"} == {
        ("ONE010", "DAYNUM@ONE010.cbl", "is"),
        ("TWO010", "DAYNUM@TWO010.cbl", "is"),
    }
    assert {one for one in calls if one[0] == "LOOSE"} == {
        ("LOOSE", "DAYNUM", "unknown"),
    }


@pytest.mark.proves("C-16", "C-17")
def test_a_name_that_no_program_has_may_be_that_of_its_file() -> None:
    """Some systems find a program by its file: a call, its arguments and a step with its DDs reach the file's first program."""

    def called(name: str) -> bytes:
        head = (
            "IDENTIFICATION DIVISION.",
            f"PROGRAM-ID. {name}.",
            "DATA DIVISION.",
            "LINKAGE SECTION.",
            "01  L PIC X.",
        )
        return sources.fixed(*head, "PROCEDURE DIVISION USING L.", "    GOBACK.", f"END PROGRAM {name}.").encode()

    calling = sources.fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. M.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        "    SELECT F ASSIGN TO DD1.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  F.",
        "01  W PIC X.",
        "PROCEDURE DIVISION.",
        "    READ F.",
        "    CALL 'PAY-SUB' USING W.",
        "    CALL '/o/pay-sub.b'.",
        "    CALL 'INNER'.",
        "    CALL '/o/gone.b'.",
    )
    files = {
        "pay-main.cbl": calling.encode(),
        "pay-sub.cbl": called("PAY_SUB") + called("SECOND"),
        "own.cbl": called("INNER"),
        "inner.cbl": called("NOBODY"),
        "j.jcl": b"//J JOB\n//S EXEC PGM=PAY-MAIN\n//DD1 DD DSN=A.B,DISP=SHR\n",
    }
    said = {f"{edge.source} {edge.verb} {edge.target} {edge.certainty} {edge.why}" for edge in graph_of(files).drawn}
    why = "no program is called {}, a file is"
    assert {one for one in said if one.split()[1] in {"calls", "passes", "runs", "bound"}} == {
        f"M calls PAY_SUB may {why.format('PAY-SUB')}",
        f"M.W passes to PAY_SUB.L may {why.format('PAY-SUB')}",
        "M calls INNER is ",
        "M calls GONE.B is ",
        f"J.S runs M may {why.format('PAY-MAIN')}",
        f"M.F bound to A.B may {why.format('PAY-MAIN')}",
    }


_READER = """\
       ID DIVISION.
       PROGRAM-ID. PAY.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO DD1.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
           COPY REC.
       PROCEDURE DIVISION.
           READ F.
           GOBACK.
"""


@pytest.mark.proves("C-16", "C-17")
def test_files_named_after_whole_data_sets_are_their_members() -> None:
    """`LIB(MEMBER).txt` is the copybook MEMBER, the job JOB@MEMBER, and the program that is run by this name."""
    run = b"//J JOB\n//S EXEC PGM=PAY\n//DD1 DD DSN=A.B,DISP=SHR\n"
    files = {
        "PROD.SRC(PAY).txt": _READER.encode(),
        "PROD.SRC(PAYOLD).txt": _READER.encode(),
        "PROD.CPY(REC).txt": b"       01  REC.\n           05  A PIC X.\n",
        "PROD.JCL(RUN1).txt": run,
        "PROD.JCL(RUN2).txt": run.replace(b"SHR", b"OLD"),
    }
    said = {f"{one.source} {one.verb} {one.target} {one.certainty}" for one in graph_of(files).drawn}
    assert {
        "PAY@PROD.SRC(PAY).txt copies REC is",
        "PAY@PROD.SRC(PAY).txt.F bound to A.B is",
        "J@RUN1.S runs PAY@PROD.SRC(PAY).txt is",
        "J@RUN2.S reads A.B is",
    } <= said
    assert not any(("bound to" in one or "runs" in one) and "PAYOLD" in one for one in said)


@pytest.mark.proves("C-16", "C-17")
def test_a_member_saved_with_a_remark_in_front_is_the_program_that_runs() -> None:
    """`PROG PAY.txt` is PAY, whatever its PROGRAM-ID, unless a program or a file is called PAY and nothing else."""
    files = {
        "PROG NEW.txt": _READER.encode(),
        "PROG PAY.txt": _READER.encode(),
        "COPY OF PAYALL.cbl": _READER.replace("PAY", "OTHER").encode(),
        "PAYALL.cbl": _READER.replace("PAY", "ALL").encode(),
        "j.jcl": b"//J JOB\n" + b"".join(b"//%b EXEC PGM=%b\n" % (one, one) for one in (b"NEW", b"PAY", b"PAYALL")),
    }
    assert {f"{one.source} {one.target} {one.certainty}" for one in graph_of(files).drawn if one.verb == "runs"} == {
        "J.NEW PAY@PROG NEW.txt may",
        "J.PAY PAY@PROG PAY.txt is",
        "J.PAYALL ALL may",
    }


@pytest.mark.proves("C-17")
def test_the_files_of_several_programs_of_one_name_may_be_bound() -> None:
    """A step runs one of them: the file of each may be the data set of its DD, as the step may run each."""
    files = {
        "one.cbl": _READER.encode(),
        "two.cbl": _READER.encode(),
        "j.jcl": b"//J JOB\n//S EXEC PGM=PAY\n//DD1 DD DSN=A.B,DISP=SHR\n",
    }
    why = "several programs are called PAY"
    edges = [one for one in graph_of(files).drawn if one.verb in {"runs", "bound to"}]
    assert {(one.verb, one.certainty, one.why) for one in edges} == {("runs", "may", why), ("bound to", "may", why)}
    assert len(edges) == 4


@pytest.mark.proves("C-17")
def test_what_one_of_several_programs_does_with_a_data_set_is_in_doubt() -> None:
    """A step runs one of them: what all do is done, what one does may be. So it is with a program that only its file names."""
    writer = _READER.replace("COPY REC", "01 R PIC X").replace("READ F.", "READ F. REWRITE R.").encode()
    files = {
        "one.cbl": _READER.encode(),
        "two.cbl": writer,
        "a/both.cbl": writer.replace(b"PAY", b"FOUR"),
        "b/both.cbl": writer.replace(b"PAY", b"FIVE"),
        "filed.cbl": writer.replace(b"PAY", b"THREE"),
        "j.jcl": b"//J JOB\n//S EXEC PGM=PAY\n//DD1 DD DSN=A.B,DISP=SHR\n//T EXEC PGM=FILED\n//DD1 DD DSN=C.D,DISP=SHR\n"
        b"//U EXEC PGM=BOTH\n//DD1 DD DSN=E.F,DISP=SHR\n",
    }
    edges = [
        one for one in graph_of(files).drawn if one.target.name in {"A.B", "C.D", "E.F"} and one.source.kind == "step"
    ]
    assert {f"{one.source} {one.verb} {one.target} {one.certainty} {one.why}" for one in edges} == {
        "J.S reads A.B is ",
        "J.S writes A.B may several programs are called PAY",
        "J.T reads C.D may no program is called FILED, a file is",
        "J.T writes C.D may no program is called FILED, a file is",
        "J.U reads E.F may no program is called BOTH, a file is",
        "J.U writes E.F may no program is called BOTH, a file is",
    }


@pytest.mark.proves("C-16", "C-17")
def test_members_of_one_name_are_taken_from_the_nearest_folder() -> None:
    """Each project has its own procedures, includes and control statements, and calls them alike."""
    files: dict[str, bytes] = {}
    for shop in ("a", "b"):
        files |= {
            f"{shop}/jcl/RUN.jcl": b"//RUN JOB\n//S EXEC MAKE\n//T EXEC PGM=USE\n// INCLUDE MEMBER=DATA\n",
            f"{shop}/proc/MAKE.prc": b"//MAKE PROC\n//P EXEC PGM=IDCAMS\n//SYSIN DD DSN=ANY.LIB(NEW),DISP=SHR\n",
            f"{shop}/proc/NEW.txt": b"  DEFINE CLUSTER(NAME(%b.KSDS))\n" % shop.encode(),
            f"{shop}/proc/DATA.jcl": b"//D DD DSN=%b.DATA,DISP=SHR\n" % shop.encode(),
        }
    edges = [one for one in graph_of(files).drawn if one.target.name in {"A.KSDS", "B.KSDS", "A.DATA", "B.DATA"}]
    assert {f"{one.source} {one.verb} {one.target}" for one in edges} == {
        "RUN@a/jcl/RUN.jcl.S.P creates A.KSDS",
        "RUN@b/jcl/RUN.jcl.S.P creates B.KSDS",
        "RUN@a/jcl/RUN.jcl.T reads A.DATA",
        "RUN@b/jcl/RUN.jcl.T reads B.DATA",
    }
    assert all({place.path[0] for place in one.citations} == {one.source.name[4]} for one in edges)


def test_what_one_of_equally_near_procedures_does_is_in_doubt() -> None:
    """The first is shown, and may be another, unless it is a copy; a procedure in the stream of the job is the only one."""
    text = (
        b"//MAKE PROC\n//P EXEC PGM=USE\n"
        b"//P2 EXEC PGM=IDCAMS\n//SYSIN DD *\n  DEFINE CLUSTER(NAME(?.DATA))\n  REPRO IDS(?.X) ODS(?.Y)\n/*\n"
        b"//P3 EXEC PGM=IEBGENER\n//SYSUT1 DD DSN=?.Y,DISP=SHR\n//SYSUT2 DD DSN=?.Z,DISP=OLD\n"
    )
    files = {
        "one/RUN.jcl": b"//RUN JOB\n//S EXEC MAKE\n",
        "own/OWN.jcl": b"//OWN JOB\n" + text.replace(b"?", b"C") + b"// PEND\n//S EXEC MAKE\n",
        "a/MAKE.prc": text.replace(b"?", b"A"),
        "b/MAKE.prc": text.replace(b"?", b"B"),
        **dict.fromkeys(("a/SAME.prc", "b/SAME.prc"), b"//SAME PROC\n//P EXEC PGM=USE\n"),
        "one/TWICE.jcl": b"//TWICE JOB\n//S EXEC SAME\n",
    }
    graph = graph_of(files)
    said = {(one.source.name, one.target.name): (one.certainty, one.why) for one in graph.drawn}
    doubt = ("may", "several procedures are called MAKE")
    assert said["RUN.S.P", "USE"] == said["RUN.S.P2", "A.DATA"] == doubt
    assert said["TWICE.S.P", "USE"] == ("is", "")
    assert said["OWN.S.P", "USE"] == said["OWN.S.P2", "C.DATA"] == ("is", "")
    copies = {one.source.name: (one.certainty, one.why) for found in graph.copied.values() for one in found}
    assert copies == {"A.X": doubt, "A.Y": doubt, "C.X": ("is", ""), "C.Y": ("is", "")}


def test_a_procedure_is_found_by_the_name_of_its_member() -> None:
    """A variant that was copied keeps the label on PROC, which no library looks at."""
    graph = graph_of(
        {
            "jobs/RUN.jcl": b"//RUN JOB\n//S EXEC PAY\n",
            "procs/EARLYPAY.prc": b"//PAY PROC\n//P EXEC PGM=EARLY\n",
            "procs/PAY.prc": b"//PAY PROC\n//P EXEC PGM=USUAL\n",
        }
    )
    runs = [
        (one.target.name, one.certainty) for one in graph.drawn if one.source.name == "RUN.S.P" and one.verb == "runs"
    ]
    assert runs == [("USUAL", "is")]


@pytest.mark.proves("C-17")
def test_idcams_reads_what_it_exports() -> None:
    """EXPORT names the data set that it reads, and the DD that it writes; to disconnect a catalog reads nothing."""
    job = (
        b"//J JOB\n//S EXEC PGM=IDCAMS\n//OUT DD DSN=A.DUMP,DISP=OLD\n//SYSIN DD *\n"
        b"  EXPORT -\n    A.KSDS OUTFILE(OUT) TEMPORARY\n  EXPORT A.CATALOG DISCONNECT\n/*\n"
    )
    said = {f"{one.verb} {one.target} {one.certainty}" for one in graph_of({"j.jcl": job}).drawn}
    assert {one for one in said if one.startswith(("reads", "writes"))} == {"reads A.KSDS is", "writes A.DUMP is"}


@pytest.mark.proves("C-16")
def test_a_transaction_starts_a_program_of_the_region_whoever_asks_for_it() -> None:
    """The name alone decides: a program of that name in the asking program's file is no nearer than another."""
    area = ("LINKAGE SECTION.", "01  DFHCOMMAREA PIC X(9).")
    asking = sources.program(
        "    EXEC CICS RETURN TRANSID('T001') COMMAREA(AREA-OUT) END-EXEC.",
        name="ASKING",
        data=("01  AREA-OUT PIC X(9).",),
    )
    started = sources.program("    GOBACK.", name="STARTED", data=area)
    graph = graph_of(
        {
            "a.cbl": f"{asking}{started}".encode(),
            "b.cbl": started.encode(),
            "r.csd": b"DEFINE TRANSACTION(T001) GROUP(G) PROGRAM(STARTED)\n",
        }
    )
    passed = {
        (edge.target.name.partition("@")[2], edge.certainty)
        for edge in graph.drawn
        if edge.verb == "passes to" and edge.source.name == "ASKING.AREA-OUT"
    }
    assert passed == {("a.cbl.DFHCOMMAREA", "may"), ("b.cbl.DFHCOMMAREA", "may")}


@pytest.mark.proves("C-16")
@pytest.mark.parametrize(
    ("lines", "started"),
    [
        ((), {"EIBTRNID unknown"}),
        (("MOVE EIBTRNID TO WS-TRAN",), {"WS-TRAN unknown"}),
        (("MOVE EIBTRNID TO WS-TRAN", "MOVE WS-TRAN TO WS-NEXT"), {"WS-NEXT unknown"}),
        (
            ("IF AREA-OUT = 'A' MOVE EIBTRNID TO WS-TRAN ELSE MOVE 'T001' TO WS-TRAN END-IF",),
            {"WS-TRAN unknown", "T001 may"},
        ),
    ],
)
def test_a_program_that_starts_its_own_transaction_again_may_get_what_it_passes(
    lines: tuple[str, ...], started: set[str]
) -> None:
    """EIBTRNID names the running transaction, and no source says whether it began with this program."""
    named = "EIBTRNID" if not lines else "WS-NEXT" if "WS-NEXT" in lines[-1] else "WS-TRAN"
    asking = sources.program(
        *(f"    {line}" for line in lines),
        f"    EXEC CICS RETURN TRANSID({named}) COMMAREA(AREA-OUT) END-EXEC.",
        name="ASKING",
        data=(
            "01  AREA-OUT PIC X(9).",
            "01  WS-TRAN PIC X(4).",
            "01  WS-NEXT PIC X(4).",
            "LINKAGE SECTION.",
            "01  DFHCOMMAREA PIC X(9).",
        ),
    )
    said = {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}"
        for edge in graph_of({"a.cbl": asking.encode()}).drawn
        if edge.certainty != "is"
    }
    passed = {"ASKING.AREA-OUT passes to ASKING.DFHCOMMAREA may"}
    assert said == passed | {f"ASKING starts {one if one[0] == 'T' else f'ASKING.{one}'}" for one in started}


@pytest.mark.proves("C-16")
@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("P.ID, S.T2.NAME INTO :A, :B FROM T1 P JOIN S.T2 ON P.X = S.T2.X", {("T1", "A", "is"), ("S.T2", "B", "is")}),
        ("COALESCE(P.ID, Q.ID), 1 INTO :A, :B FROM T1 AS P, T2 Q", {("T1", "A", "may"), ("T2", "A", "may")}),
        (
            "DECIMAL(P.X * P.Y, 7, 2) AS XY, 2 * (Q.X + 1) * Q.Y INTO :A, :B FROM T1 P, T2 Q",
            {("T1", "A", "is"), ("T2", "B", "is")},
        ),
        ("ID, MAX(X) INTO :A, :B FROM T1 WHERE X = (SELECT X FROM T2)", {("T1", "A", "is"), ("T1", "B", "is")}),
        (
            "ID, P.X INTO :A, :B FROM T1 P LEFT JOIN T2 Q ON P.X = Q.X",
            {("T1", "A", "may"), ("T2", "A", "may"), ("T1", "B", "is")},
        ),
        (
            "P.ID, (SELECT X FROM T2) INTO :A, :B FROM T1 P",
            {("T1", "A", "is"), ("T1", "B", "may"), ("T2", "B", "may")},
        ),
        ("ID, X INTO :A, :B FROM (SELECT * FROM T1) P", {("T1", "A", "is"), ("T1", "B", "is")}),
        ("P.ID, =T2.NAME INTO :A, :B FROM =T1 P, =T2 WHERE =T2.X = P.X", {("=T1", "A", "is"), ("=T2", "B", "is")}),
        (
            "P.* INTO :A, :B FROM T1 P, T2",
            {(table, item, "may") for table in ("T1", "T2") for item in "AB"},
        ),
    ],
)
@pytest.mark.parametrize("has_cursor", [False, True])
def test_a_column_comes_from_the_table_that_it_names(
    asked: str, given: set[tuple[str, str, str]], has_cursor: bool
) -> None:
    """A qualified column comes from the table that qualifies it, an unqualified one may come from any of several tables."""
    columns, into, tables = asked.partition(" INTO :A, :B")
    asking = [f"    EXEC SQL SELECT {columns}", f"           {into} {tables} END-EXEC."]
    if has_cursor:
        asking = [
            f"    EXEC SQL DECLARE C CURSOR FOR SELECT {columns}",
            f"           {tables} END-EXEC.",
            f"    EXEC SQL FETCH C {into} END-EXEC.",
        ]
    text = sources.program(*asking, name="P", data=("01  A PIC X.", "01  B PIC X."))
    drawn = graph_of({"p.cbl": text.encode()}).drawn
    found = {(edge.source.name, edge.target.name[2:], edge.certainty) for edge in drawn if edge.verb == "moves to"}
    assert found == given


@pytest.mark.proves("C-16")
def test_a_host_variable_of_a_missing_copybook_takes_its_column_too() -> None:
    """The columns behind it stay those of their own host variables."""
    query = "    EXEC SQL SELECT P.ID, SUM(F.QTY) INTO :GONE, :A FROM PARTS P, FIRMS F END-EXEC."
    text = sources.program(query, name="P", data=("01  A PIC 9(4).",))
    drawn = graph_of({"p.cbl": text.encode()}).drawn
    found = {f"{edge.source.name} {edge.target.name} {edge.certainty}" for edge in drawn if edge.verb == "moves to"}
    assert found == {"FIRMS P.A is"}


@pytest.mark.proves("C-16")
@pytest.mark.parametrize(
    ("value", "indicator"),
    [(":X OF H", ":I OF H"), (":X OF H INDICATOR ", ":I OF H"), (":H.X ", ":H.I"), (":H.X", ":I")],
)
def test_a_host_variable_is_the_item_of_its_group_and_its_indicator_none(value: str, indicator: str) -> None:
    """DB2 writes the group and a point before the name, NonStop SQL OF and the group after it; an indicator goes into no column."""
    groups = ("01  G.", "    05  X PIC X.", "01  H.", "    05  X PIC X.", "    05  I PIC S9(4) COMP.")
    insert = f"    EXEC SQL INSERT INTO T1 VALUES (\n           {value}{indicator}) END-EXEC."
    text = sources.program(insert, "    EXEC SQL SELECT A INTO :X OF G FROM T1 END-EXEC.", name="P", data=groups)
    drawn = graph_of({"p.cbl": text.encode()}).drawn
    assert {f"{edge.source.name} {edge.verb} {edge.target.name}" for edge in drawn if edge.verb == "moves to"} == {
        "P.H.X moves to T1",
        "T1 moves to P.G.X",
    }


@pytest.mark.proves("C-16")
@pytest.mark.parametrize(
    "statement",
    [
        ("INSERT INTO T1 (K) VALUES (:A)", "RETURNING ID INTO :B"),
        ("SELECT ID INTO :B FROM FINAL TABLE", "(INSERT INTO T1 (K) VALUES (:A))"),
    ],
)
def test_a_change_that_returns_its_row_writes_the_table_and_fills_the_variable(statement: tuple[str, str]) -> None:
    """What INTO names receives from the table; it is not stored there."""
    lines = (f"    EXEC SQL {statement[0]}", f"           {statement[1]} END-EXEC.")
    text = sources.program(*lines, name="P", data=("01  A PIC X.", "01  B PIC X."))
    drawn = graph_of({"p.cbl": text.encode()}).drawn
    found = {f"{edge.source.name} {edge.verb} {edge.target.name}" for edge in drawn if "T1" in str(edge)}
    assert found == {"P writes T1", "P.A moves to T1", "T1 moves to P.B"}


def test_copied_paragraphs_perform_and_go_to_each_other() -> None:
    """Edges between copied paragraphs are edges of the program; a section leads to its first paragraph."""
    main = sources.program(
        "A.", "    PERFORM C1.", "    PERFORM SEC.", "    GO TO C2.", "OWN.", "    EXIT.", "COPY CP.", name="P"
    )
    book = sources.fixed(
        "C1.", "    PERFORM C2.", "    PERFORM OWN.", "    GO TO C2.", "C2.", "    EXIT.", "SEC SECTION.", "D1.", "    GO TO D1."
    )  # fmt: skip
    graph = graph_of({"p.cbl": main.encode(), "CP.cpy": book.encode()})
    ways = {
        f"{edge.source.name} {edge.verb} {edge.target.name} {edge.certainty}"
        for edge in graph.edges()
        if edge.verb in {"performs", "goes to"} and edge.source.name.startswith("P.")
    }
    assert ways == {
        "P.A performs P.C1 is", "P.A performs P.D1 is", "P.A goes to P.C2 is", "P.C1 performs P.C2 is",
        "P.C1 performs P.OWN is", "P.C1 goes to P.C2 is", "P.D1 goes to P.D1 is",
    }  # fmt: skip


def test_a_section_without_statements_is_performed_and_asked_for_by_its_name() -> None:
    """It has no paragraph; the one of the next section is not what its name means."""
    text = sources.program(
        *("MAIN-PART SECTION.", "    PERFORM SHUT.", "    PERFORM LAST-PART.", "    GOBACK."),
        *("SHUT SECTION.", "NEXT-PART SECTION.", "    DISPLAY 'X'.", "LAST-PART SECTION."),
    )
    graph = graph_of({"p.cbl": text.encode()})
    assert {(str(edge.source), str(edge.target)) for edge in graph.edges() if edge.verb == "performs"} == {
        ("P.MAIN-PART", "P.SHUT"),
        ("P.MAIN-PART", "P.LAST-PART"),
    }
    assert [str(edge.source) for edge in impact(graph, "shut", kind="paragraph").edges] == ["P.MAIN-PART"]


def test_a_section_qualifies_what_is_gone_to_and_where_a_range_ends() -> None:
    """If two sections have paragraphs of one name, GO TO and THRU lead to the qualified one."""
    text = sources.program(
        "S1 SECTION.", "A.", "    PERFORM B OF S2 THRU C OF S2.", "    GO TO A IN S2.", "B.", "    EXIT.", "C.", "    EXIT.",
        "S2 SECTION.", "A.", "    GO TO A OF S1 C DEPENDING ON X.", "B.", "    EXIT.", "C.", "    MOVE 'Q' TO X.", "    GOBACK.",
        data=("01 X PIC X.",),
    )  # fmt: skip
    graph = graph_of({"p.cbl": text.encode()})
    assert {str(edge.target) for edge in graph.edges() if str(edge.source) == "P.S1.A"} == {"P.S2.B", "P.S2.A"}
    assert {str(one.target) for one in graph.edges() if (str(one.source), one.verb) == ("P.S2.A", "goes to")} == {
        "P.S1.A",
        "P.S2.C",
    }
    source = scan(text)
    known = facts(source, source.programs[0])
    assert [(edge.target, edge.thru) for edge in known.edges if edge.via == "PERFORM"] == [(4, 5)]


def test_a_range_that_ends_in_another_section_runs_what_is_between() -> None:
    """A call by name after the range has only the value that the end of the named range gives."""
    text = sources.program(
        "S1 SECTION.", "A.", "    MOVE 'P1' TO X.", "    PERFORM B THRU C OF S2.", "    CALL X.", "    GOBACK.",
        "B.", "    EXIT.", "C.", "    EXIT.",
        "S2 SECTION.", "B.", "    EXIT.", "C.", "    MOVE 'P2' TO X.",
        data=("01 X PIC X(8).",),
    )  # fmt: skip
    source = scan(text)
    (call,) = facts(source, source.programs[0]).calls
    assert (call.names, call.is_sure) == (("P2",), True)


def test_records_of_a_database_are_nodes() -> None:
    """Programs that find and store a record are linked through it, and their areas give and receive its data."""
    staff = ("DATA DIVISION.", "SCHEMA SECTION.", "DB S WITHIN T.", "WORKING-STORAGE SECTION.")
    files = {
        "READER.cbl": (
            *("IDENTIFICATION DIVISION.", "PROGRAM-ID. READER.", *staff, "01  EMPLOYEE.", "    02  NAME-OF PIC X(9)."),
            *("PROCEDURE DIVISION.", "    OBTAIN CALC EMPLOYEE.", "    FIND OWNER WITHIN EMP-JOB.", "    GOBACK."),
        ),
        "STORER.cbl": (
            *("IDENTIFICATION DIVISION.", "PROGRAM-ID. STORER.", *staff, "01  EMPLOYEE PIC X(9)."),
            *("PROCEDURE DIVISION.", "    STORE EMPLOYEE.", "    ERASE JOB.", "    GOBACK."),
        ),
    }
    parts, _ = parts_of({path: sources.fixed(*lines).encode() for path, lines in files.items()})
    edges = [edge for part in parts for edge in part.edges if "record" in {edge.source.kind, edge.target.kind}]
    assert {(one.source.name, one.verb, one.target.name, one.citations[0].line) for one in edges} == {
        ("READER", "reads", "EMPLOYEE", 10),
        ("EMPLOYEE", "moves to", "READER.EMPLOYEE", 10),
        ("STORER", "writes", "EMPLOYEE", 9),
        ("STORER.EMPLOYEE", "moves to", "EMPLOYEE", 9),
        ("STORER", "writes", "JOB", 10),
    }


@pytest.mark.proves("C-14", "C-16")
@pytest.mark.parametrize(
    "identified",
    ['ONE AS "two"', 'ONE IS INITIAL PROGRAM AS "TWO"', "ONE EXTERNAL AS 'TWO' COMMON", 'ONE\n           AS "TWO"'],
)
def test_a_program_is_called_by_the_name_that_as_gives_it(identified: str) -> None:
    """A CALL in another file uses the literal; the word remains the name, and both lead to the parameters."""
    program = sources.program("    GOBACK.", name=identified, data=("LINKAGE SECTION.", "01 GOT PIC X."))
    one = program.replace("PROCEDURE DIVISION.", "PROCEDURE DIVISION USING GOT.")
    caller = sources.program("    CALL 'TWO' USING V.", "    CALL 'ONE' USING V.", name="CALLER", data=("01 V PIC X.",))
    graph = graph_of({"one.cbl": one.encode(), "caller.cbl": caller.encode()})
    found = {
        (edge.verb, str(edge.target), edge.certainty): {one.line for one in edge.citations if one.path == "caller.cbl"}
        for edge in graph.edges()
    }
    assert found == {("calls", "ONE", "is"): {7, 8}, ("passes to", "ONE.GOT", "is"): {7, 8}}
    (said,) = scan(one).programs
    assert (said.name, [name.upper() for name, _ in said.entry_points]) == ("ONE", ["TWO"])


def test_a_name_that_as_gives_leads_to_its_program_and_away_from_others() -> None:
    """AS says how two programs of one PROGRAM-ID are called. The name of AS, an ENTRY or a file finds its program, even if a field
    has it, too, if the kind says so.
    """
    one, other = (
        sources.program(f"    ENTRY 'IN-{name}'.", "    MOVE X TO Y.", name=f'ONE AS "{name}"', data=("01 X PIC X.", "01 Y PIC X."))
        for name in ("ONE", "TWO")
    )  # fmt: skip
    caller = sources.program("    CALL 'ONE'.", "    CALL 'TWO'.", name="CALLER", data=("01 IN-TWO PIC X.",))
    graph = graph_of({"a.cbl": one.encode(), "b.cbl": other.encode(), "c.cbl": caller.encode()})
    calls = {(str(edge.target), edge.certainty) for edge in graph.edges() if edge.verb == "calls"}
    assert calls == {("ONE@a.cbl", "is"), ("ONE@b.cbl", "is")}
    for name, found in {"two": "", "TWO.X": ".X", "in-two.y": ".Y", "B": "", "b.x": ".X"}.items():
        assert [str(node) for node in nodes_named(graph, name)] == [f"ONE@b.cbl{found}"], name
    assert [str(node) for node in nodes_named(graph, "IN-TWO", "program")] == ["ONE@b.cbl"]
    assert nodes_named(graph, "TWO.Z") == nodes_named(graph, "THREE") == []


def test_items_in_the_exec_of_an_unknown_vendor_may_be_read_and_written() -> None:
    """Whatever its grammar: the names of items in it count, wherever they are; the text of a literal does not."""
    program = sources.program(
        "M.", "    EXEC COBOLware OPTION W-A", '        TEXT "W-C" RETURN(:W-B) FIELD W-E OF W-D', "    END-EXEC.",
        "    CALL W-A.", name="P",
        data=("01 W-A PIC X(8) VALUE 'TAX'.", "01 W-B PIC X.", "01 W-C PIC X.", "01 W-D.", "  05 W-E PIC X."),
    )  # fmt: skip
    graph = graph_of({"p.cbl": program.encode()})
    found = {
        (edge.verb, str(edge.target), edge.certainty)
        for edge in graph.edges()
        if edge.why == "what EXEC COBOLWARE does with it is not known"
    }
    used = {(verb, f"P.{item}", "may") for verb in ("reads", "writes") for item in ("W-A", "W-B", "W-E")}
    assert found == used - {("reads", "P.W-A", "may")}  # which CALL reads for certain
    (call,) = [edge for edge in graph.edges() if edge.verb == "calls" and edge.target.name == "TAX"]
    assert call.certainty == "may"


def test_copied_paragraphs_of_one_name_are_told_apart_by_their_sections() -> None:
    """One copybook has two of them, the program a third: each has its own edges, to the targets in its own section."""
    main = sources.program(
        "S0 SECTION.", "M.", "    PERFORM A OF S2.", "    PERFORM A.", "    PERFORM S1.", "    GOBACK.", "A.", "    EXIT.",
        "LAST SECTION.", "COPY CP.", name="P", data=("01 X PIC X.",),
    )  # fmt: skip
    book = sources.fixed(
        "S1 SECTION.", "A.", "    MOVE '1' TO X.", "S2 SECTION.", "A.", "    DISPLAY X.", "B.", "    GO TO A."
    )
    graph = graph_of({"p.cbl": main.encode(), "CP.cpy": book.encode()})
    found = {
        f"{edge.source.name} {edge.verb} {edge.target.name}"
        for edge in graph.edges()
        if edge.source.name.startswith("P.") and edge.verb != "part of"
    }
    assert found == {
        "P.M performs P.S2.A", "P.M performs P.A", "P.M performs P.S1.A",
        "P.S1.A writes P.X", "P.S2.A reads P.X", "P.B goes to P.S2.A",
    }  # fmt: skip


def test_a_call_by_a_name_that_nothing_declares_may_be_the_program_of_this_name() -> None:
    """`CALL PAY USING A` may mean the program PAY if no item has that name; other undeclared names, and items, are unknown."""
    caller = (
        "PROGRAM-ID. ONE.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n       01 A PIC X.\n       01 TAX PIC X(8).\n"
        "       PROCEDURE DIVISION.\n           CALL PAY USING A.\n           CALL GONE USING A.\n           CALL TAX USING A.\n"
    )
    called = (
        "PROGRAM-ID. {0}.\n       DATA DIVISION.\n       LINKAGE SECTION.\n       01 P PIC X.\n"
        "       PROCEDURE DIVISION USING P.\n           GOBACK.\n"
    )
    files = {f"{name}.cbl": f"       {called.format(name)}".encode() for name in ("PAY", "TAX")}
    graph = graph_of({"one.cbl": f"       {caller}".encode(), **files})
    found = {
        (str(edge.target), edge.certainty)
        for edge in impact(graph, "ONE", kind="program").edges
        if edge.verb == "calls" and str(edge.source) == "ONE"
    }
    assert found == {("PAY", "may"), ("ONE.PAY", "unknown"), ("ONE.GONE", "unknown"), ("ONE.TAX", "unknown")}
    passed = [
        (str(edge.target), edge.certainty)
        for edge in impact(graph, "ONE.A", kind="field").edges
        if edge.verb == "passes to" and str(edge.source) == "ONE.A"
    ]
    assert passed == [("PAY.P", "may")]


@pytest.mark.proves("C-16", "C-17")
def test_a_data_set_after_a_dummy_may_be_used_and_nothing_is_read_of_it() -> None:
    """The system ends a concatenation at a DUMMY or NULLFILE: a program and a SORT read only what comes before it."""
    program = sources.fixed(
        "IDENTIFICATION DIVISION.",
        "PROGRAM-ID. RD.",
        "INPUT-OUTPUT SECTION.",
        "FILE-CONTROL.",
        "    SELECT F ASSIGN TO IN1.",
        "DATA DIVISION.",
        "FILE SECTION.",
        "FD  F.",
        "01  R PIC X(80).",
        "PROCEDURE DIVISION.",
        "    READ F.",
    )
    job = (
        "//J JOB\n//S EXEC PGM=RD\n//IN1 DD DSN=A,DISP=SHR\n// DD DUMMY\n// DD DSN=B,DISP=SHR\n"
        "//T EXEC PGM=SORT\n//SORTIN DD DSN=NULLFILE\n// DD DSN=C,DISP=SHR\n//SORTOUT DD DSN=D,DISP=(NEW,CATLG)\n"
    )
    graph = graph_of({"rd.cbl": program.encode(), "j.jcl": job.encode()})
    why = "it follows a DUMMY, which ends what the system reads"
    assert {
        f"{one.source} {one.verb} {one.target} {one.certainty} {one.why}"
        for one in graph.drawn
        if one.target.kind == "dataset"
    } == {
        "RD.F bound to A is ",
        f"RD.F bound to B may {why}",
        "J.S reads A is ",
        f"J.S reads B may {why}",
        f"J.T reads C may {why}",
        "J.T writes D is ",
    }
    assert {node.name for node, bound in graph.bindings.items() if bound} == {"A"}
    assert not graph.copied


@pytest.mark.parametrize(("most", "is_complete"), [(3, False), (4, True), (5, True)])
def test_a_tree_says_that_edges_are_missing_only_if_some_are(
    most: int, *, is_complete: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree of as many edges as it may have is complete."""
    monkeypatch.setattr(sys.modules["penstock.cobol.graph.impact"], "MAX_EDGES", most)
    job = "//J JOB\n//S EXEC PGM=SORT\n//SORTIN DD DSN=A,DISP=SHR\n// DD DSN=B,DISP=SHR\n"
    found = impact(graph_of({"j.jcl": job.encode()}), "J.S")
    assert (len(found.branches), found.is_complete) == (min(most, 4), is_complete)


@pytest.mark.proves("C-16")
def test_a_backward_reference_takes_the_first_data_set_of_a_concatenation() -> None:
    """A backward reference takes nothing from a DUMMY, which ends a concatenation there too."""
    job = (
        "//J JOB\n//S EXEC PGM=SORT\n//SORTIN DD DSN=A,DISP=SHR\n// DD DSN=B,DISP=SHR\n//SORTOUT DD DUMMY\n"
        "//T EXEC PGM=SORT\n//SORTIN DD DSN=*.S.SORTIN,DISP=SHR\n// DD DSN=*.S.SORTOUT\n// DD DSN=C,DISP=SHR\n"
        "//U EXEC PGM=SORT\n//SORTIN DD DSN=*.T.SORTIN,DISP=SHR\n"
    )
    edges = graph_of({"j.jcl": job.encode()}).drawn
    assert {f"{one.source} {one.target} {one.certainty}" for one in edges if one.target.kind == "dataset"} == {
        "J.S A is",
        "J.S B is",
        "J.T A is",
        "J.T C may",
        "J.U A is",
    }


@pytest.mark.proves("C-16")
def test_a_data_set_is_cited_at_the_dd_that_names_it() -> None:
    """The others of a concatenation have lines of their own, and so has what a job leaves of a procedure's DD."""
    job = (
        "//J JOB\n//S EXEC PGM=SORT\n//SORTIN DD DSN=A,DISP=SHR\n// DD DSN=B,DISP=SHR\n"
        "//T EXEC P\n//Q.SORTIN DD\n// DD DSN=E,DISP=SHR\n// DD DSN=F,DISP=SHR\n//Q.SORTOUT DD DISP=OLD\n"
    )
    procedure = (
        "//P PROC\n//Q EXEC PGM=SORT\n//SORTIN DD DSN=C,DISP=SHR\n// DD DSN=D,DISP=SHR\n//SORTOUT DD DSN=G,DISP=NEW\n"
    )
    edges = graph_of({"j.jcl": job.encode(), "p.prc": procedure.encode()}).drawn
    assert {one.target.name: one.citations[0] for one in edges if one.target.kind == "dataset"} == {
        "A": CitedLine("j.jcl", 3),
        "B": CitedLine("j.jcl", 4),
        "C": CitedLine("p.prc", 3),
        "E": CitedLine("j.jcl", 7),
        "F": CitedLine("j.jcl", 8),
        "G": CitedLine("p.prc", 5),
    }
    (second,) = (one for one in edges if one.target.name == "B")
    assert second.citations == (CitedLine("j.jcl", 4), CitedLine("j.jcl", 3), CitedLine("j.jcl", 2))


def test_a_data_set_of_an_ims_step_is_used_by_its_disp_where_the_program_never_opens_its_file() -> None:
    """GSAM is read by DL/I calls, so its file is never opened; a file that is opened counts as elsewhere."""
    program = (
        "       PROGRAM-ID. GS.\n       ENVIRONMENT DIVISION.\n       INPUT-OUTPUT SECTION.\n       FILE-CONTROL.\n"
        "           SELECT F ASSIGN TO GSEQ.\n           SELECT G ASSIGN TO OUT1.\n       DATA DIVISION.\n       FILE SECTION.\n"
        "       FD F.\n       01 R PIC X(80).\n       FD G.\n       01 S PIC X(80).\n"
        "       PROCEDURE DIVISION.\n           OPEN OUTPUT G.\n           GOBACK.\n"
    )
    job = "//J1 JOB\n//S1 EXEC PGM={0}\n//GSEQ DD DSN=A.GSAM,DISP=SHR\n//OUT1 DD DSN=A.OUT,DISP=SHR\n"
    for runs, used in (
        ("DFSRRC00,PARM='DLI,GS,GSPSB'", {"A.GSAM": ("reads", "may"), "A.OUT": ("writes", "is")}),
        ("GS", {"A.OUT": ("writes", "is")}),
    ):
        graph = graph_of({"gs.cbl": program.encode(), "j1.jcl": job.format(runs).encode()})
        found = impact(graph, "J1.S1", kind="step").edges
        assert {str(one.target): (one.verb, one.certainty) for one in found if one.target.kind == "dataset"} == used


@pytest.mark.proves("C-16")
def test_a_segment_and_a_queue_that_data_names_cite_the_line_where_the_data_gets_the_name() -> None:
    """The call has only the name of an item; a change of what is held cites where the segment was named, too."""
    text = sources.program(
        "    MOVE 'CHILD' TO SSA-NAME.",
        "    CALL 'CBLTDLI' USING 'GHU' A-PCB A CHILD-SSA.",
        "    CALL 'CBLTDLI' USING 'REPL' A-PCB A.",
        "    EXEC DLI GU SEGMENT((SEG)) END-EXEC.",
        "    EXEC DLI GU SEGMENT(OTHER) END-EXEC.",
        "    MOVE 'PAY.IN' TO WS-Q.",
        "    MOVE WS-Q TO MQOD-OBJECTNAME OF MQM-OD.",
        "    CALL 'MQOPEN' USING HC MQM-OD OPT HO CC RC.",
        "    CALL 'MQGET' USING HC HO MD GMO LEN BUF DLEN CC RC.",
        data=(
            "01  A PIC X(9).",
            "01  A-PCB PIC X(9).",
            "01  SEG PIC X(8) VALUE 'ROOT'.",
            "01  CHILD-SSA.",
            "    05  SSA-NAME PIC X(8).",
            "    05  FILLER PIC X.",
            "01  WS-Q PIC X(48).",
            "01  MQM-OD.",
            "    COPY CMQODV.",
        ),
    )
    lines = text.split("\n")
    edges = (edge for edge in graph_of({"P.cbl": text.encode()}).drawn if edge.target.kind in {"segment", "queue"})
    assert {
        (edge.verb, edge.target.name): [" ".join(lines[one.line - 1].split()[:2]) for one in edge.citations]
        for edge in edges
    } == {
        ("reads", "CHILD"): ["MOVE 'CHILD'", "CALL 'CBLTDLI'"],
        ("writes", "CHILD"): ["MOVE 'CHILD'", "CALL 'CBLTDLI'"],
        ("reads", "ROOT"): ["01 SEG", "EXEC DLI"],
        ("reads", "OTHER"): ["EXEC DLI"],
        ("reads", "PAY.IN"): ["MOVE 'PAY.IN'", "CALL 'MQGET'"],
    }


def _commareas(size: int) -> Callable[[], object]:
    """Prepare the graph of a program that passes its COMMAREA n times to one with n fields."""
    head = "PROGRAM-ID. {0}.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n{1}PROCEDURE DIVISION.\n{2}"
    link = "EXEC CICS LINK PROGRAM('B') COMMAREA(C) END-EXEC.\n"
    called = head.format("B", "".join(f"01 F{at} PIC X.\n" for at in range(size)), "GOBACK.\n")
    texts = {"a.cbl": head.format("A", "01 C PIC X.\n", link * size), "b.cbl": called}
    parts, members = parts_of({path: text.encode() for path, text in texts.items()})
    return lambda: EstateGraph(parts, members)


def _controls(size: int) -> Callable[[], object]:
    """Prepare the graph of a CL program that calls another one n times."""
    read = member("x.clp", "cl", b"PGM\n" + b"CALL PGM(B)\n" * size)
    return lambda: EstateGraph([], [read])


def _sorted(size: int) -> Callable[[], object]:
    """Prepare the graph of a step that copies many of n files."""
    dds = "".join(f"//D{at} DD DSN=A.B{at},DISP=SHR\n" for at in range(size))
    copies = "".join(f" COPY FROM(D{at}) TO(D{at + 1})\n" for at in range(min(size, 150)))
    read = member("x.jcl", "jcl", f"//J JOB\n//S EXEC PGM=ICETOOL\n{dds}//TOOLIN DD *\n{copies}/*\n".encode())
    return lambda: EstateGraph([], [read])


def _same_names(size: int) -> Callable[[], object]:
    """Prepare the graph of n files with programs of one name, each of which calls that of its own file."""
    text = "PROGRAM-ID. {0}.\nPROCEDURE DIVISION.\nCALL 'SUB'.\nGOBACK.\nEND PROGRAM {0}.\n"
    files = {f"d{at}/p.cbl": f">>SOURCE FREE\n{text.format('P')}{text.format('SUB')}" for at in range(size)}
    parts, members = parts_of({path: text.encode() for path, text in files.items()})
    return lambda: EstateGraph(parts, members).edges()


def _strings(size: int) -> Callable[[], object]:
    """Prepare the reading of a program that concatenates the same items n times."""
    strings = "STRING A ' ' B DELIMITED BY SIZE INTO C.\n" * size
    data = "DATA DIVISION.\nWORKING-STORAGE SECTION.\n01 A PIC X.\n01 B PIC X.\n01 C PIC X(3).\n"
    text = f">>SOURCE FREE\nPROGRAM-ID. A.\n{data}PROCEDURE DIVISION.\n{strings}GOBACK.\n"
    return lambda: graph_of({"a.cbl": text.encode()})


@pytest.mark.parametrize(
    ("work", "size"), [(_commareas, 400), (_controls, 1_000), (_sorted, 150), (_same_names, 600), (_strings, 4_000)]
)
def test_a_graph_takes_linear_time(work: Callable[[int], Callable[[], object]], size: int) -> None:
    """Whatever one program, CL program or step says n times, or of n things, is looked for once."""
    assert times_at_four_times(work, size) < BOUND


@pytest.mark.proves("C-17")
def test_a_procedure_that_no_job_runs_has_its_steps_all_the_same() -> None:
    """Its programs and data sets are those of the procedure, in doubt, as the job that runs it elsewhere may override them."""
    graph = graph_of(
        {
            "jobs/PAY.jcl": b"//PAY JOB\n//S EXEC USED\n",
            "procs/USED.prc": b"//USED PROC\n//P EXEC PGM=P1\n",
            "procs/ALONE.prc": b"//ALONE PROC HLQ=PROD,RUN=\n//P EXEC PGM=P2\n//S EXEC INNER\n//T EXEC PGM=&RUN\n"
            b"//C EXEC PGM=IDCAMS\n//SYSIN DD *\n  REPRO IDS(A) ODS(B)\n/*\n//D EXEC PGM=IEFBR14\n//X DD DSN=&HLQ..X,DISP=SHR\n",
            "procs/INNER.prc": b"//P EXEC PGM=P3\n",
            "procs/PAY.prc": b"//PAY PROC\n//S EXEC PGM=P4\n",
            "procs/OLDUSED.prc": b"//USED PROC\n//P EXEC PGM=P5\n",
        }
    )
    doubt = "no job here runs the procedure, and one may override what it says"
    said = {f"{one.source} {one.verb} {one.target} {one.certainty}" for one in graph.drawn if one.why != doubt}
    assert said == {
        "PAY.S part of PAY is",
        "PAY.S runs USED is",
        "PAY.S.P part of PAY is",
        "PAY.S.P runs P1 is",
        *(f"ALONE.{step} part of ALONE is" for step in ("P", "S", "S.P", "T", "C", "D")),
        "ALONE.S runs INNER is",
        "PAY@procs/PAY.prc.S part of PAY@procs/PAY.prc is",
        "OLDUSED.P part of OLDUSED is",
    }
    assert {f"{one.source} {one.verb} {one.target} {one.certainty}" for one in graph.drawn if one.why == doubt} == {
        "ALONE.P runs P2 may",
        "ALONE.S.P runs P3 may",
        "ALONE.C runs IDCAMS may",
        "ALONE.C reads A may",
        "ALONE.C writes B may",
        "ALONE.D runs IEFBR14 may",
        "ALONE.D reads PROD.X may",
        "PAY@procs/PAY.prc.S runs P4 may",
        "OLDUSED.P runs P5 may",
    }
    found = {str(node) for node in impact(graph, "PAY", kind="procedure").nodes}
    assert found == {"PAY@procs/PAY.prc"}


@pytest.mark.proves("C-17")
def test_a_call_says_how_many_arguments_it_passes_if_the_program_takes_another_number() -> None:
    """No compiler compares them, and the item without an argument has no address; the two of CICS need not be written."""
    callee = "       PROGRAM-ID. B.\n       LINKAGE SECTION.\n       01 P PIC X.\n       01 Q PIC X.\n"
    text = (
        "       PROGRAM-ID. A.\n       WORKING-STORAGE SECTION.\n       01 X PIC X.\n       PROCEDURE DIVISION.\n"
        "           CALL 'B' USING X 'Y'.\n           CALL 'B' USING X.\n           CALL 'C' USING X 'Y'.\n"
        "           CALL 'C' USING DFHEIBLK DFHCOMMAREA X 'Y'.\n           CALL 'D' USING X.\n"
    )
    graph = graph_of(
        {
            "a.cbl": text.encode(),
            "b.cbl": f"{callee}       PROCEDURE DIVISION USING P Q.\n           GOBACK.\n".encode(),
            "c.cbl": f"{callee.replace(' B.', ' C.')}       PROCEDURE DIVISION USING P Q.\n           GOBACK.\n".encode(),
            "d.cbl": f"{callee.replace(' B.', ' D.')}       PROCEDURE DIVISION USING COPY ARGS.\n           GOBACK.\n".encode(),
        }
    )
    calls = {(str(one.target), one.certainty, one.why) for one in graph.drawn if one.verb == "calls"}
    assert calls == {("B", "is", "line 6 passes 1 and it takes 2"), ("C", "is", ""), ("D", "is", "")}


@pytest.mark.proves("C-16")
def test_nothing_performs_an_event_procedure_wherever_it_is() -> None:
    """The system runs it; that a copybook names it and does not hold it says nothing of the program of this name, which does."""
    main = sources.fixed("PROGRAM-ID. WIN.", "PROCEDURE DIVISION.", "MAIN.", "    PERFORM SHOW-IT.", "    GOBACK.")
    window = sources.fixed(
        "SHOW-IT.", "    DISPLAY STANDARD WINDOW", "    EVENT PROCEDURE WIN-EVENT.", "    PERFORM TELL-IT."
    )
    graph = graph_of(
        {
            "win.cbl": (main + sources.fixed('COPY "win.cpy".', 'COPY "ran.cpy".')).encode(),
            "win.cpy": window.encode(),
            "ran.cpy": sources.fixed("WIN-EVENT.", "    CONTINUE.").encode(),
        }
    )
    performed = {
        (edge.source.name, edge.target.name, edge.certainty) for edge in graph.edges() if edge.verb == "performs"
    }
    assert performed == {("WIN.MAIN", "WIN.SHOW-IT", "is"), ("WIN.SHOW-IT", "WIN.TELL-IT", "unknown")}


@pytest.mark.proves("C-16")
def test_a_rename_names_the_first_and_the_last_item_that_it_covers() -> None:
    """Of two programs with one name, each has its own items."""
    data = (
        "01  R.",
        "    05  A PIC X.",
        "    05  B PIC X.",
        "    05  C PIC X.",
        "66  AC RENAMES A THRU C.",
        "66  B2 RENAMES B.",
    )
    text = sources.program("    GOBACK.", data=data).encode()
    found = {
        (edge.source.name, edge.target.name)
        for edge in graph_of({"a.cbl": text, "b.cbl": text}).edges()
        if edge.verb == "redefines"
    }
    assert found == {
        (f"P@{path}.{one}", f"P@{path}.{other}")
        for path in ("a.cbl", "b.cbl")
        for one, other in (("AC", "A"), ("AC", "C"), ("B2", "B"))
    }


@pytest.mark.proves("C-16")
def test_what_shares_bytes_says_by_which_clause() -> None:
    """A RENAMES is no REDEFINES."""
    data = ("01  R.", "    05  A PIC X.", "    05  B REDEFINES A PIC 9.", "66  C RENAMES A.")
    graph = graph_of({"p.cbl": sources.program("    GOBACK.", data=data).encode()})
    found = {(edge.target.name, edge.why) for edge in impact(graph, "P.A", depth=1).edges if edge.verb == "overlaps"}
    assert found == {("P.B", "by a REDEFINES"), ("P.C", "by a RENAMES")}


@pytest.mark.proves("C-17")
def test_programs_that_call_each_other_in_a_row_take_memory_by_their_number() -> None:
    """The calls that lead to each are kept as a step behind the one before, not as a list of all."""

    def peak(programs: int) -> int:
        part = parts_of({"a.cbl": b"       PROGRAM-ID. A.\n       PROCEDURE DIVISION.\n           CALL 'B'.\n"})[0][0]
        (call,) = part.edges
        last = parts_of({"z.cbl": sources.with_file("Z").encode()})[0][0]
        names = [f"P{number}" for number in range(programs)]
        row = [
            part._replace(
                name=name,
                path=f"{name}.cbl",
                entries=tuple(one._replace(name=name) for one in part.entries),
                edges=(call._replace(source=call.source._replace(name=name), target=call.target._replace(name=after)),),
            )
            for name, after in pairwise([*names, "Z"])
        ]
        job = member("j.jcl", "jcl", b"//J JOB\n//S EXEC PGM=P0\n//DD1 DD DSN=BILLS,DISP=SHR\n")
        tracemalloc.start()
        try:
            graph = EstateGraph([*row, last], [job])
            found = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        (bound,) = [one for one in graph.drawn if one.verb == "bound to"]
        assert len(bound.citations) > programs
        return found

    assert peak(2_000) < 2.4 * peak(1_000)
