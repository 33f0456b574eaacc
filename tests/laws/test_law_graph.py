"""The laws of an estate's graph and of the impact of a change, over random estates."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.cobol.graph import Carrying, EstateGraph, impact, part_of
from penstock.cobol.graph.export import as_graphml, as_json, edges_csv, node_id, nodes_csv

if TYPE_CHECKING:
    from penstock.cobol.graph import ProgramPart

NAMES = ("ONE", "TWO", "THREE")
FIELDS = ("G", "A", "B", "H", "C", "D")
_STATEMENTS = (
    *(f"MOVE {one} TO {other}" for one in FIELDS for other in FIELDS if one != other),
    *(f"CALL '{name}' USING {field}" for name in (*NAMES, "NOWHERE") for field in ("G", "H", "A")),
    "ADD A TO C",
    "CALL X",
    "MOVE 'TWO' TO X",
    "PERFORM Q",
    "EXEC SQL INSERT INTO T VALUES (:A) END-EXEC",
    "EXEC SQL SELECT K INTO :B FROM T END-EXEC",
    "IF A = B MOVE 'ONE' TO X END-IF",
)


def _part(name: str, statements: list[str]) -> ProgramPart:
    """Return a program with two groups, a redefinition and the given statements."""
    code = "".join(f"    {one}.\n" for one in statements)
    source = scan(
        f"ID DIVISION.\nPROGRAM-ID. {name}.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 X PIC X(8).\nLINKAGE SECTION.\n"
        "01 G.\n 02 A PIC X(4).\n 02 B PIC X(4).\n01 H.\n 02 C PIC X(4).\n 02 D REDEFINES C PIC 9(4).\n 02 FILLER PIC X(4).\n"
        f"PROCEDURE DIVISION USING G H.\nMAIN.\n{code}    GOBACK.\nQ.\n    MOVE A TO D.\n",
        source_format="free",
    )
    return part_of(facts(source, source.programs[0]), source.programs[0], f"{name}.cbl")


@st.composite
def estates(draw: st.DrawFn) -> list[ProgramPart]:
    """Draw an estate of one to three programs."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    return [_part(name, draw(st.lists(st.sampled_from(_STATEMENTS), max_size=6))) for name in names]


@pytest.mark.proves("C-17")
@settings(max_examples=20)
@given(estates(), st.sampled_from(FIELDS), st.integers(1, 4), st.randoms(use_true_random=False))
def test_a_tree_is_part_of_the_graph_grows_with_depth_and_ignores_order(
    parts: list[ProgramPart], name: str, depth: int, random: object
) -> None:
    """Every edge is in the graph or follows storage; a deeper tree includes the shallower; the order of files does not matter."""
    graph = EstateGraph(parts)
    found = impact(graph, f"ONE.{name}", depth=depth)
    whole = set(graph.edges())
    carrying = Carrying(graph)
    for edge in found.edges:
        assert edge in whole or edge in {*carrying.after(edge.source), *carrying.before(edge.target)}
        assert edge.citations
        assert edge.certainty == "is" or edge.why
    deeper = impact(graph, f"ONE.{name}", depth=depth + 1)
    assert set(found.edges) <= set(deeper.edges)
    shuffled = list(parts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = EstateGraph(shuffled)
    assert list(again.edges()) == list(graph.edges())
    assert impact(again, f"ONE.{name}", depth=depth) == found


@pytest.mark.proves("C-16")
@given(estates())
def test_exports_are_read_again_as_the_same_graph(parts: list[ProgramPart]) -> None:
    """JSON, CSV and GraphML hold every node and every edge, with certainty and citations."""
    graph = EstateGraph(parts)
    edges = {(node_id(one.source), one.verb, node_id(one.target), one.certainty) for one in graph.edges()}
    nodes = {node_id(node) for node in graph.nodes()} | {end for one, _, other, _ in edges for end in (one, other)}
    read = json.loads("".join(as_json(graph)))
    assert {row["id"] for row in read["nodes"]} == nodes
    assert {(row["from"], row["verb"], row["to"], row["certainty"]) for row in read["edges"]} == edges
    rows = list(csv.DictReader(io.StringIO("".join(edges_csv(graph)))))
    assert {(row["from"], row["verb"], row["to"], row["certainty"]) for row in rows} == edges
    assert {row["id"] for row in csv.DictReader(io.StringIO("".join(nodes_csv(graph))))} == nodes
    made = nx.parse_graphml("".join(as_graphml(graph)), force_multigraph=True)
    assert set(made.nodes) == nodes
    assert {(one, about["verb"], other, about["certainty"]) for one, other, about in made.edges(data=True)} == edges
    assert sum(len(row["citations"]) for row in read["edges"]) == sum(len(row["citations"].split()) for row in rows)
