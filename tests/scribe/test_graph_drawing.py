"""Does the picture of an estate's flows show them without overlaps?"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from tests.scribe.pages.conftest import MILLWATER

from penstock.cobol.graph.export import as_graphml
from penstock.scribe import graph_drawing
from penstock.scribe.graphing import draw
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.cobol.graph import EstateGraph

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def estate() -> EstateGraph:
    """Return the estate of examples/cobol."""
    return draw(Root(str(MILLWATER)), ["."]).graph


@pytest.mark.proves("C-16")
def test_what_runs_leads_to_what_is_run_and_writers_to_readers(estate: EstateGraph) -> None:
    """A job leads over its step to the program, and a step that writes a data set to one that reads it."""
    arrows = {tuple(node.name for node in ends) for ends in graph_drawing._arrows(estate)}
    assert {("MWDAILY", "MWDAILY.EDIT"), ("MWDAILY.EDIT", "MWB010")} <= arrows
    assert {("MWDAILY.EDIT", "MW.PROD.READINGS.SORTED"), ("MW.PROD.READINGS.SORTED", "MWDAILY.BILL.MWB020")} <= arrows


def test_no_two_boxes_overlap(estate: EstateGraph) -> None:
    """Each box has its place, and the picture is the same each time."""
    picture = "".join(graph_drawing.svg(estate))
    assert picture == "".join(graph_drawing.svg(estate))
    boxes = [
        tuple(int(box.attrib[side]) for side in ("x", "y", "width", "height"))
        for box in ET.fromstring(picture).iter(f"{SVG}rect")
    ]
    assert len(boxes) > 40
    assert not [
        (one, other)
        for one, other in combinations(boxes, 2)
        if one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    ]


@pytest.mark.proves("C-16")
def test_names_with_characters_that_xml_does_not_have_are_read_by_others(tmp_path: Path) -> None:
    """The path that tells two programs apart may have any character; picture and GraphML are XML with the same nodes."""
    for folder in ("a\x01b", "c"):
        (tmp_path / folder).mkdir()
        program = "       PROGRAM-ID. SAME.\n       PROCEDURE DIVISION.\n           CALL 'GONE'.\n"
        (tmp_path / folder / "same.cbl").write_text(program)
    graph = draw(Root(str(tmp_path)), ["."], processes=1).graph
    boxes = {title.text for title in ET.fromstring("".join(graph_drawing.svg(graph))).iter(f"{SVG}title")}
    assert boxes == {r"program SAME@a\x01b/same.cbl", "program SAME@c/same.cbl", "program GONE"}
    text = "".join(as_graphml(graph))
    assert {node.attrib["id"] for node in ET.fromstring(text).iter() if node.tag.endswith("}node")} >= boxes


def test_a_picture_says_what_it_leaves_out(estate: EstateGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """The boxes with the most arrows stay."""
    monkeypatch.setattr(graph_drawing, "MAX_BOXES", 10)
    picture = "".join(graph_drawing.svg(estate))
    assert picture.count("<rect") <= 10
    assert re.search(r"dashed: may be\. \d+ boxes are left out: the other exports have all\.", picture)
