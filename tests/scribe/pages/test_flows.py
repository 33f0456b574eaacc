"""What is said about an estate as a whole: which step feeds which, which screen leads to which, near-copies, and where to start?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cobol.sources import program, with_file
from tests.scribe.pages.conftest import estate_at
from tests.scribe.pages.rendered import rendered, scripted

from penstock.scribe import pages
from penstock.scribe.pages import copied, copies, ranking
from penstock.scribe.pages.blocks import GraphBlock
from penstock.scribe.pages.estate import names_of
from penstock.scribe.pages.flows import sections
from penstock.scribe.pages.summary import Summaries, summary_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scribe.pages.conftest import Made


def blocks_of(made: Made, title: str) -> list[Any]:
    """Return the blocks of a section about flows."""
    told = sections(made.estate, made.flows, names_of(made.estate))
    return [block for one in told if one.title == title for block in one.blocks]


@pytest.mark.proves("C-18")
def test_a_step_that_writes_a_data_set_feeds_those_that_read_it(millwater: Made) -> None:
    """The next step reads the bills of one step; each step links to its program, and the diagram has both directions."""
    picture, table = blocks_of(millwater, "Jobs and data sets")
    rows = {name[0].text: cells for name, *cells in zip(*(column.cells for column in table.columns), strict=True)}
    (writer,), (reader,) = rows["MW.PROD.BILLS"]
    assert (writer.name, writer.path) == ("MWDAILY.BILL.MWB020 · MWB020", "programs/MWB020")
    assert reader.name == "MWDAILY.REGISTER · MWB030"
    arrows = {(edge.source, edge.target) for edge in picture.graph.edges}
    assert ("step MWDAILY.BILL.MWB020", "dataset MW.PROD.BILLS") in arrows
    assert ("dataset MW.PROD.BILLS", "step MWDAILY.REGISTER") in arrows


@pytest.mark.proves("C-18")
def test_programs_feed_each_other_by_files_that_they_open_by_name(tmp_path: Path) -> None:
    """Without JCL the writers and readers of a file are linked, dashed if its name is data; a DD name is not a file name."""
    source = """       IDENTIFICATION DIVISION.
       PROGRAM-ID. {0}.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT F ASSIGN TO {1}.
           SELECT G ASSIGN TO GDD.
       DATA DIVISION.
       FILE SECTION.
       FD  F.
       01  F-REC PIC X(80).
       FD  G.
       01  G-REC PIC X(80).
       WORKING-STORAGE SECTION.
       01  WS-PATH PIC X(20) VALUE "data/bills.dat".
       PROCEDURE DIVISION.
           OPEN {2} F.
           {3}.
"""
    for name, assign, mode, verb in (
        ("ONE", '"data/bills.dat"', "OUTPUT", "WRITE F-REC"),
        ("TWO", '"data/bills.dat"', "INPUT", "READ F"),
        ("THREE", "WS-PATH", "INPUT", "CLOSE F"),
    ):
        (tmp_path / f"{name}.cbl").write_text(source.format(name, assign, mode, verb))
    picture, table = blocks_of(estate_at(tmp_path), "Programs and files")
    file, written, read = (column.cells for column in table.columns)
    assert [cell[0].text for cell in file] == ["data/bills.dat"]
    assert [piece.name for piece in written[0]] == ["ONE"]
    assert sorted(piece.name for piece in read[0] if not isinstance(piece, str)) == ["THREE (may)", "TWO"]
    arrows = {(edge.source, edge.target): edge.is_weak for edge in picture.graph.edges}
    box = "dataset data/bills.dat"
    assert arrows == {("program ONE", box): False, (box, "program TWO"): False, (box, "program THREE"): True}


@pytest.mark.proves("C-18")
def test_programs_are_called_as_in_their_sources(tmp_path: Path) -> None:
    """With an @ of their own, and without the path that tells two of a name apart."""
    sending = "    EXEC CICS SEND MAP('M') MAPSET('S') END-EXEC.", "    GOBACK."
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.cbl").write_text(program(*sending, name="A@1"))
    (tmp_path / "b.cbl").write_text(with_file("B@1").replace("GOBACK", "OPEN INPUT BILLS"))
    (tmp_path / "j.jcl").write_text("//J JOB\n//S EXEC PGM=B@1\n//DD1 DD DSN=A.B,DISP=SHR\n")
    made = estate_at(tmp_path)
    (table,) = blocks_of(made, "Jobs and data sets")
    assert [piece.name for cell in table.columns[2].cells for piece in cell] == ["J.S · B@1"]
    picture, _ = blocks_of(made, "Screens and transactions")
    assert [node.label for node in picture.graph.nodes if node.label != "M"] == ["A@1", "S.M", "A@1"]


@pytest.mark.proves("C-18")
def test_screens_lead_to_each_other(millwater: Made) -> None:
    """A transaction runs a program that shows a map and passes control on; a program that is missing is drawn as missing."""
    picture, table = blocks_of(millwater, "Screens and transactions")
    assert isinstance(picture, GraphBlock)
    arrows = {(edge.source, edge.target) for edge in picture.graph.edges}
    assert {("transaction MW01", "program MWC010"), ("program MWC010", "map MWSET1.MWMAP1")} <= arrows
    assert ("program MWC010", "program MWC020") in arrows
    assert {node.label: node.kind for node in picture.graph.nodes}["MWC030"] == "outside"
    assert table.columns[0].cells[2][0].text == "MWC030"


def test_the_estate_is_loaded_with_all_its_edges(millwater: Made) -> None:
    """Shared resources are in one file, each edge once, with verb and certainty; programs have links to their pages."""
    site = dict(pages.site(*millwater))
    told = scripted(site["estate.js"], "estate")
    said = {
        (told["nodes"][a][0], told["verbs"][verb], told["nodes"][b][0], sure) for a, b, verb, sure, _ in told["edges"]
    }
    assert len(said) == len(told["edges"]) == len(millwater.flows.graph.drawn)
    assert {("MWB020", "calls", "MWS010", 0), ("MWB020", "copies", "MWCUST", 0), ("MW01", "runs", "MWC010", 0)} <= said
    # A path back from a program leads to its step, and from there to the job.
    assert {("MWDAILY", "holds", "MWDAILY.EDIT", 0), ("MWDAILY.EDIT", "runs", "MWB010", 0)} <= said
    assert ["MWB020", told["kinds"].index("program"), "programs/MWB020"] in told["nodes"]
    assert "flows.html" in rendered(site)["index.html"]


def listing(*lines: str) -> list[tuple[int, str]]:
    """Return lines with their numbers."""
    return list(enumerate(lines, 1))


def many(name: str, *, but: dict[int, str] | None = None) -> list[tuple[int, str]]:
    """Return a program of some length, with other lines at some places."""
    return listing(
        f"PROGRAM-ID. {name}.", *((but or {}).get(at, f"MOVE FIELD-{at * 7} TO OTHER-{at}.") for at in range(80))
    )


@pytest.mark.proves("C-18")
def test_near_copies_are_found_with_their_differences() -> None:
    """One changed line and one added line are reported with their numbers; the names of the programs are not a difference."""
    one, other = many("ONE"), many("OTHER", but={40: "ADD 1 TO TOTAL.", 60: "DISPLAY X."})
    stranger = listing(*(f"COMPUTE X{at} = Y{at} * {at}" for at in range(90)))
    programs = {"ONE": one, "OTHER": other, "STRANGER": stranger}
    lines = {name: copies.compared(name, listed) for name, listed in programs.items()}
    sketches = {name: copies.sketch_of(compared) for name, compared in lines.items()}
    found = copies.near_copies(sketches)
    assert {page: [copy.page for copy in near] for page, near in found.items()} == {"ONE": ["OTHER"], "OTHER": ["ONE"]}
    assert 0.7 < found["ONE"][0].share < 1
    hunks = copies.differences(lines["ONE"], lines["OTHER"])
    assert [(hunk.here, hunk.there) for hunk in hunks] == [
        (((42, "MOVE FIELD-280 TO OTHER-40."),), ((42, "ADD 1 TO TOTAL."),)),
        (((62, "MOVE FIELD-420 TO OTHER-60."),), ((62, "DISPLAY X."),)),
    ]
    (section,) = copied.of_copies([copied.CopyView("OTHER", "programs/OTHER", 0.8, hunks)])
    assert section.slug == "near-copies"
    assert section.blocks[-1].columns[3].cells[0][0].text == "ADD 1 TO TOTAL."  # type: ignore[union-attr]
    assert not list(copied.of_copies([]))


@given(st.lists(st.sampled_from(["A.", "B.", "C.", "* said", "", "  A."]), max_size=30), st.data())
def test_differences_are_all_there_is(lines: list[str], data: st.DataObject) -> None:
    """Lines outside the differences are the same in both, in the same order."""
    others = data.draw(st.lists(st.sampled_from(["A.", "B.", "D.", "* other", ""]), max_size=30))
    hunks = copies.differences(copies.compared("", listing(*lines)), copies.compared("", listing(*others)))
    here = {number for hunk in hunks for number, _ in hunk.here}
    there = {number for hunk in hunks for number, _ in hunk.there}

    def rest(shown: list[str], without: set[int]) -> list[str]:
        told = [(number, line.strip()) for number, line in listing(*shown)]
        return [line for number, line in told if line and line[0] != "*" and number not in without]

    assert rest(lines, here) == rest(others, there)


def rule(*conditions: str, actions: tuple[str, ...] = ("THEN: PERFORM X",), meaning: str = "") -> dict[str, Any]:
    """Return a rule of a document."""
    meanings = [{"name": conditions[0], "meaning": meaning}] if meaning else []
    return {"conditions": list(conditions), "actions": list(actions), "meanings": meanings}


@pytest.mark.proves("C-18")
def test_business_comes_before_plumbing() -> None:
    """Rules that calculate data come first, then decisions on data, then ends of files, states and keys; ties keep their order."""
    rules = [
        rule("END-OF-FILE", meaning="WS-EOF-SW = 'Y'"),
        rule("CU-BALANCE > 100"),
        rule("WS-CUST-STATUS NOT = '00'"),
        rule("TRUE", "WHEN EIBAID = DFHPF3"),
        rule("RATE-CLASS = 'H'", actions=("THEN: COMPUTE WS-AMOUNT = A * B",)),
        rule("CU-GONE", meaning="CU-STATE = 'G'"),
        rule("SQLCODE = 100", actions=("THEN: ADD 1 TO WS-MISSES",)),
    ]
    ordered = ranking.ranked_rules(rules)
    assert [kind for kind, _ in ordered] == ["computation", "decision", "decision", *["plumbing"] * 4]
    assert [rules.index(one) for _, one in ordered] == [4, 1, 5, 0, 2, 3, 6]


@pytest.mark.proves("C-18")
def test_reach_is_who_comes_to_a_paragraph() -> None:
    """A paragraph is reached directly or through others, counted once, also in a cycle; it does not reach itself."""
    names = {"A": ["B", "C"], "B": ["D"], "C": ["D"], "D": ["B"]}
    paragraphs = [
        {"paragraph_name": name, "start_line": at, "complexity": 2, "calls": calls, "jumps": [], "falls_into": None}
        for at, (name, calls) in enumerate(names.items(), 1)
    ]
    assert [(one.name, one.reach) for one in ranking.weights(paragraphs)] == [("A", 0), ("B", 3), ("C", 1), ("D", 3)]


def test_a_rule_to_read_first_says_what_it_decides_on_and_where(tmp_path: Path) -> None:
    """Of EVALUATE TRUE that is its first WHEN; several rules of a paragraph may begin alike, and the lines tell which is meant."""
    data = ("01 KIND PIC X.", "   88 OLD VALUE 'O'.", "   88 NEW VALUE 'N'.", "01 PRICE PIC 9(5).")
    rule = [
        "EVALUATE TRUE",
        "WHEN OLD",
        "COMPUTE PRICE = PRICE / 2",
        "WHEN NEW",
        "COMPUTE PRICE = PRICE * 2",
        "END-EVALUATE.",
    ]
    (tmp_path / "sale.cbl").write_text(program(*rule, data=data, name="SALE"))
    made = estate_at(tmp_path)
    summaries = Summaries()
    summaries.put("SALE", summary_of(made.estate["programs"]["SALE"]))
    _, table = blocks_of(made._replace(estate={**made.estate, "programs": summaries}), "Rules to read first")
    row = {column.title: column.cells[0] for column in table.columns}
    ((at,), (when,)) = row["Lines"], row["When"]
    lines = (tmp_path / "sale.cbl").read_text().splitlines()
    assert when.text == "WHEN OLD"
    assert "EVALUATE TRUE" in lines[at.first_line - 1]
    assert "END-EVALUATE" in lines[at.last_line - 1]
    assert at.path == "programs/SALE"
