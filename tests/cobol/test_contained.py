"""Which programs are visible to which, and whose data and files does a contained program use?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.growth import BOUND, growth

from penstock.cobol import scan
from penstock.cobol.facts import Facts, facts
from penstock.cobol.graph import Carrying, EstateGraph, part_of

from .linked import LinkedEstate

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = """\
ID DIVISION.
PROGRAM-ID. OUTER.
ENVIRONMENT DIVISION.
INPUT-OUTPUT SECTION.
FILE-CONTROL.
    SELECT LOGF ASSIGN TO LOGDD.
DATA DIVISION.
FILE SECTION.
FD LOGF GLOBAL.
01 LOG-REC PIC X(20).
WORKING-STORAGE SECTION.
01 TOTAL PIC 9(5) GLOBAL.
01 OWN PIC 9(5).
01 HIDDEN PIC X(4) GLOBAL.
01 G IS GLOBAL.
   05 PART PIC X(8) VALUE 'SUB'.
   05 NUM PIC 9(3).
      88 IS-ON VALUE 1.
01 EXT EXTERNAL.
   05 EXT-A PIC X(6).
PROCEDURE DIVISION.
MAIN.
    MOVE 'SUB' TO PART.
    CALL 'INNER'.
    CALL PART.
    CALL 'SHARED'.
    STOP RUN.
ID DIVISION.
PROGRAM-ID. INNER.
DATA DIVISION.
WORKING-STORAGE SECTION.
01 OWN PIC 9(7).
01 HIDDEN PIC X(8).
PROCEDURE DIVISION.
MAIN.
    MOVE OWN TO TOTAL.
    MOVE HIDDEN TO PART.
    SET IS-ON TO TRUE.
    READ LOGF.
    WRITE LOG-REC FROM HIDDEN.
    CALL 'SHARED' USING NUM.
    CALL 'DEEP'.
ID DIVISION.
PROGRAM-ID. DEEP.
PROCEDURE DIVISION.
    MOVE 'X' TO HIDDEN.
    CALL 'SHARED' USING TOTAL.
END PROGRAM DEEP.
END PROGRAM INNER.
ID DIVISION.
PROGRAM-ID. SHARED IS COMMON PROGRAM.
DATA DIVISION.
LINKAGE SECTION.
01 L PIC 9(3).
PROCEDURE DIVISION USING L.
    MOVE OWN TO TOTAL.
    CALL 'DEEP'.
    CALL 'INNER'.
END PROGRAM SHARED.
END PROGRAM OUTER.
ID DIVISION.
PROGRAM-ID. OTHER.
DATA DIVISION.
WORKING-STORAGE SECTION.
01 TOTAL PIC 9.
01 EXT EXTERNAL.
   05 EXT-B PIC X(6).
PROCEDURE DIVISION.
    MOVE 1 TO TOTAL.
    CALL 'INNER'.
    CALL 'SHARED' USING TOTAL.
    CALL 'OUTER'.
END PROGRAM OTHER.
"""


@cache
def _facts() -> tuple[Facts, ...]:
    source = scan(SOURCE, source_format="free")
    return tuple(facts(source, one) for one in source)


@cache
def _graph(*paths: str) -> EstateGraph:
    source = scan(SOURCE, source_format="free")
    return EstateGraph(part_of(said, one, path) for path in paths for one, said in zip(source, _facts(), strict=True))


def _sentences(graph: EstateGraph, *verbs: str) -> set[str]:
    return {f"{e.source} {e.verb} {e.target} {e.certainty}" for e in graph.edges() if e.verb in verbs}


@pytest.mark.proves("C-16")
def test_a_contained_program_is_called_where_the_language_knows_it() -> None:
    """The containing program may call it, and for a COMMON one all inside may; elsewhere the name means another program."""
    assert _sentences(_graph("a.cbl"), "calls") == {
        "OUTER calls INNER is",
        "OUTER calls SHARED is",
        "OUTER calls OUTER.PART unknown",
        "OUTER calls SUB may",
        "INNER calls SHARED is",
        "INNER calls DEEP is",
        "DEEP calls SHARED is",
        "SHARED calls DEEP unknown",
        "SHARED calls INNER unknown",  # a sibling that is not COMMON
        "OTHER calls INNER unknown",
        "OTHER calls SHARED unknown",
        "OTHER calls OUTER is",
    }
    estate = LinkedEstate([], [("a.cbl", SOURCE)], "free")
    callers = {name: estate.callers(name) for name in ("INNER", "DEEP", "SHARED", "OUTER")}
    assert callers == {"INNER": ["OUTER"], "DEEP": ["INNER"], "SHARED": ["OUTER", "INNER", "DEEP"], "OUTER": ["OTHER"]}
    assert [one.name for one in estate.inventory.missing] == ["DEEP", "INNER", "SHARED", "SUB"]


@pytest.mark.proves("C-16")
def test_what_the_program_around_declares_is_no_parameter() -> None:
    """A compiler refuses it, but such a source is read like any other."""
    lines = (
        *("PROGRAM-ID. AROUND.", "DATA DIVISION.", "WORKING-STORAGE SECTION."),
        *(
            "01 SHOWN PIC X GLOBAL.",
            "01 V PIC X.",
            "PROCEDURE DIVISION.",
            "CALL 'WITHIN' USING V RETURNING V.",
            "GOBACK.",
        ),
        *("PROGRAM-ID. WITHIN.", "PROCEDURE DIVISION USING SHOWN RETURNING SHOWN.", "MOVE 'A' TO SHOWN.", "GOBACK."),
        *("END PROGRAM WITHIN.", "END PROGRAM AROUND."),
    )
    source = scan("\n".join(lines) + "\n", source_format="free")
    graph = EstateGraph(part_of(facts(source, one), one, "a.cbl") for one in source)
    assert _sentences(graph, "passes to") == {"AROUND.V passes to WITHIN is"}


@pytest.mark.proves("C-16")
@pytest.mark.parametrize("paths", [("a.cbl",), ("a.cbl", "b.cbl")])
def test_global_data_and_files_are_those_of_the_program_around(paths: tuple[str, ...]) -> None:
    """What a contained program does not declare comes from the nearest program around it that says GLOBAL, and from no other."""
    for path in paths:
        outer, inner, deep, shared, other = (
            name if len(paths) == 1 else f"{name}@{path}" for name in ("OUTER", "INNER", "DEEP", "SHARED", "OTHER")
        )
        found = {
            one
            for one in _sentences(_graph(*paths), "writes", "moves to", "passes to")
            if path in one or len(paths) == 1
        }
        assert found == {
            f"{outer}.MAIN writes {outer}.PART is",
            f"{inner}.MAIN writes {outer}.TOTAL is",
            f"{inner}.OWN moves to {outer}.TOTAL is",
            f"{inner}.MAIN writes {outer}.PART is",
            f"{inner}.HIDDEN moves to {outer}.PART is",
            f"{inner}.MAIN writes {outer}.NUM is",
            f"{inner}.MAIN writes {outer}.LOG-REC is",
            f"{inner}.MAIN writes {outer}.LOGF is",
            f"{inner}.HIDDEN moves to {outer}.LOG-REC is",
            f"{outer}.NUM passes to {shared}.L is",
            f"{deep}.(MAIN) writes {outer}.HIDDEN is",  # HIDDEN of INNER is not GLOBAL
            f"{outer}.TOTAL passes to {shared}.L is",
            f"{shared}.(MAIN) writes {outer}.TOTAL is",
            f"{other}.(MAIN) writes {other}.TOTAL is",
            f"{other}.TOTAL passes to SHARED unknown",
        }
        assert f"{inner}.MAIN reads {outer}.LOGF is" in _sentences(_graph(*paths), "reads")


def test_a_record_of_the_program_around_is_of_no_file_of_the_program_itself() -> None:
    """Not even if that program writes only one file, whose record is in a copybook that is missing."""
    own = """\
ENVIRONMENT DIVISION.
FILE-CONTROL.
    SELECT OWNF ASSIGN TO OWNDD.
DATA DIVISION.
FILE SECTION.
FD OWNF.
    COPY GONE.
WORKING-STORAGE SECTION.
01 OWN PIC 9(7).
"""
    text = SOURCE.replace("DATA DIVISION.\nWORKING-STORAGE SECTION.\n01 OWN PIC 9(7).\n", own)
    source = scan(text.replace("READ LOGF.", "OPEN OUTPUT OWNF."), source_format="free")
    (inner,) = (facts(source, one) for one in source if one.name == "INNER")
    (file,), (around,) = inner.files, inner.outer_files
    assert [use.verb for use in file.uses] == ["OPEN"]
    assert (around.name, [use.verb for use in around.uses]) == ("LOGF", ["WRITE"])


@pytest.mark.proves("C-17")
def test_external_data_is_one_storage_for_all_who_declare_it() -> None:
    """EXTERNAL data is shared whatever its parts are called; no source says whether the programs run together."""
    graph = _graph("a.cbl")
    (node,) = [one for one in graph.nodes() if one.name == "OUTER.EXT-A"]
    found = list(Carrying(graph).after(node))
    assert {(str(edge.target), edge.certainty) for edge in found} == {("OTHER.EXT-B", "may"), ("OTHER.EXT", "may")}
    assert all("EXTERNAL" in edge.why for edge in found)


NAMED = """\
ID DIVISION.
PROGRAM-ID. TOP.
DATA DIVISION.
WORKING-STORAGE SECTION.
01 R1 GLOBAL.
   05 X PIC X.
   05 S PIC X.
      88 IS-ON VALUE 'Y'.
01 R2.
   05 X PIC X.
01 R3 GLOBAL.
   05 Y PIC X OCCURS 3 INDEXED BY IX.
PROCEDURE DIVISION.
    CALL 'INNER'.
    GOBACK.
ID DIVISION.
PROGRAM-ID. INNER.
PROCEDURE DIVISION.
    {0}.
    GOBACK.
END PROGRAM INNER.
END PROGRAM TOP.
"""


@pytest.mark.proves("C-16")
@pytest.mark.parametrize(
    ("statement", "outer", "written"),
    [
        ("MOVE 'A' TO X", ["R1", "X", "S", "R2", "X"], "TOP.R1.X"),
        ("SET IS-ON TO TRUE", ["R1", "X", "S", "R2", "X"], "TOP.S"),
        ("SET IX TO 1", ["R3", "Y"], ""),
        ("MOVE SPACE TO r3", ["R3", "Y"], "TOP.R3"),
        ("EXEC SQL SELECT A INTO :Y FROM T END-EXEC", ["R3", "Y"], "TOP.Y"),
        ("CONTINUE", [], ""),
    ],
)
def test_of_the_programs_around_it_a_program_has_what_it_names(statement: str, outer: list[str], written: str) -> None:
    """It has the records that it names, and those that share a field name with them, as qualified names depend on both."""
    source = scan(NAMED.format(statement), source_format="free")
    said = [facts(source, one) for one in source]
    assert [item.name for data in said[1].outer for item in data.items] == outer
    parts = (part_of(one, program, "a.cbl") for program, one in zip(source, said, strict=True))
    graph = EstateGraph(parts)
    found = {edge.target.name for edge in graph.edges() if edge.verb in {"writes", "sets"}}
    assert found == {written} - {""}


def _nest(size: int) -> Callable[[], object]:
    """Return the work of reading a program with `size` GLOBAL records and as many contained programs that use one each."""
    data = "".join(f"01 G{at} GLOBAL.\n   05 F{at} PIC X.\n" for at in range(size))
    inner = "".join(
        f"ID DIVISION.\nPROGRAM-ID. P{at}.\nPROCEDURE DIVISION.\n    MOVE UNKNOWN TO F{at}.\nEND PROGRAM P{at}.\n"
        for at in range(size)
    )
    head = f"ID DIVISION.\nPROGRAM-ID. TOP.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n{data}"
    source = scan(f"{head}PROCEDURE DIVISION.\n    GOBACK.\n{inner}END PROGRAM TOP.\n", source_format="free")
    return lambda: [facts(source, one) for one in source]


@pytest.mark.proves("C-4")
def test_programs_within_one_take_time_by_their_number_alone() -> None:
    """Shared data is laid out once, and each program gets only what it names."""
    assert growth(_nest, 100) < BOUND
