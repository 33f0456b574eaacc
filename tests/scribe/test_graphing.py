"""Is the graph of an estate the same whether one process reads it or several?"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.scribe.pages.conftest import MILLWATER

from penstock.cobol.estate import kind_of
from penstock.cobol.graph import Carrying, growth, nodes_named
from penstock.scribe import graphing, subjects
from penstock.scribe.gathering import gather
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path


class _Ending(graphing._Reader):
    """A reader whose process the system ends at the first file."""

    def __call__(self, number: int) -> tuple[graphing.DrawnFile, bytes | None]:
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(number)


@pytest.mark.proves("C-16")
def test_the_graph_is_the_same_in_one_process_and_in_two() -> None:
    """Parts come in the order of their files, whichever process made them."""
    one, two = (graphing.draw(Root(str(MILLWATER)), ["."], processes=count) for count in (1, 2))
    assert one.graph.parts == two.graph.parts
    assert len(one.graph.parts) > 20
    assert list(one.graph.drawn) == list(two.graph.drawn)


@pytest.mark.usefixtures("warm_workers")
def test_a_file_that_ends_every_process_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other files are in the graph, and the answer is reported as incomplete."""
    for name in ("ONE", "TWO"):
        (tmp_path / f"{name}.cbl").write_text(
            f"       PROGRAM-ID. {name}.\n       PROCEDURE DIVISION.\n           STOP RUN.\n"
        )
    monkeypatch.setattr(graphing, "_Reader", _Ending)
    estate = graphing.draw(Root(str(tmp_path)), ["."], processes=2)
    assert [part.name for part in estate.graph.parts] == ["TWO"]
    reason = "the process that read it ended twice: signal 9, then signal 9"
    assert [(one.path, one.reason) for one in estate.skipped] == [("ONE.cbl", reason)]


def test_members_of_one_name_in_two_libraries_are_two_layouts(tmp_path: Path) -> None:
    """Each COPY brings in its own member; documents and edges cite the file that declares an item."""
    files = {
        "src/P.cbl": "PROGRAM-ID. P.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 A. COPY R OF LIB1.\n01 B. COPY R OF LIB2.\n"
        "PROCEDURE DIVISION.\n    MOVE A1 TO B1.\n",
        "LIB1/R.cpy": "           05 A1 PIC X(3).\n",
        "LIB2/R.cpy": "      * of the other library\n           05 B1 PIC X(7).\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    root = Root(str(tmp_path))
    drawn = graphing.draw(root, ["."])
    (part,) = [one for one in drawn.graph.parts if one.name == "P"]
    assert [(one.name, one.bytes, one.copybook, one.copybook_path) for one in part.fields if one.copybook] == [
        ("P.A1", 3, "R", "LIB1/R.cpy"),
        ("P.B1", 7, "R", "LIB2/R.cpy"),
    ]
    (one,) = [
        one for one in subjects(gather(root, ["."], kind_of).files, ["src/P.cbl"]) if one.file_name == "src/P.cbl"
    ]
    (known,) = one.parts
    assert [(item.name, item.copybook, item.copybook_line) for item in known.facts.items if item.copybook] == [
        ("A1", "R", 1),
        ("B1", "LIB2/R", 2),
    ]
    used = known.template["copybooks_used"]
    assert [value.said for record in used for value in record.fields["path"]] == ["LIB1/R.cpy", "LIB2/R.cpy"]


def test_a_program_says_how_long_the_columns_of_its_tables_are(tmp_path: Path) -> None:
    """Programs hold what a DCLGEN says instead of including it: their columns are too short for a longer field, too."""
    (tmp_path / "P.cbl").write_text(
        "       PROGRAM-ID. P.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n"
        "           EXEC SQL DECLARE S.PAY TABLE ( NUMBER CHAR(8) NOT NULL ) END-EXEC.\n"
        "       01  NUM  PIC X(8).\n       PROCEDURE DIVISION.\n"
        "           EXEC SQL INSERT INTO S.PAY ( NUMBER ) VALUES ( :NUM ) END-EXEC.\n"
    )
    graph = graphing.draw(Root(str(tmp_path)), ["."]).graph
    found = growth(graph, nodes_named(graph, "P.NUM"), 2, carrying=Carrying(graph))
    columns = {one.node.name: (one.bytes, one.needed_bytes, one.certainty) for one in found if one.what == "column"}
    assert columns == {"S.PAY.NUMBER": (8, 10, "is")}


@pytest.mark.proves("C-17")
def test_a_field_of_what_cics_makes_of_a_mapset_stands_for_its_instances(tmp_path: Path) -> None:
    """`MENU.NAMEI` is in each program that has COPY MENU, though no file is that copybook."""
    (tmp_path / "menu.bms").write_text(
        "MENU    DFHMSD TYPE=MAP,MODE=INOUT,LANG=COBOL\nM       DFHMDI SIZE=(24,80)\n"
        "NAME    DFHMDF POS=(1,1),LENGTH=9\n        DFHMSD TYPE=FINAL\n"
    )
    for name in ("A", "B"):
        (tmp_path / f"{name}.cbl").write_text(
            f"PROGRAM-ID. {name}.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\nCOPY MENU.\n01 OWN PIC X.\n"
        )
    graph = graphing.draw(Root(str(tmp_path)), ["."]).graph
    assert [node.name for node in nodes_named(graph, "menu.nameI")] == ["A.NAMEI", "B.NAMEI"]
    assert nodes_named(graph, "menu.own") == nodes_named(graph, "menu.nameI", "paragraph") == []
