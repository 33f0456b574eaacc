"""Is the graph of an estate well formed and cited, and does an impact tell all that touches a name (C-16, C-17)?

The judge reads the graph as exported, and the files as text (`estate_citations`). Leaves to others: whether an edge is missing,
which `bench/impact.py` asks with answers written by hand.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING

from proof.estate_citations import Citations

from penstock.cobol.graph import Carrying, impact

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from proof.estate_views import EstateView, Json

    from penstock.cobol.graph import EstateEdge, NodeId
    from penstock.scribe.gathering import GatheredFile

_ALL_KINDS = """
    program paragraph copybook field file dataset table queue segment record map container transaction job step procedure
"""
KINDS = frozenset(_ALL_KINDS.split())
_ALL_VERBS = """
    reads,writes,opens,moves to,computes,redefines,part of,copies,declared in,counts,is key of,is status of,is record of,
    performs,goes to,calls,starts,sends,receives,passes to,runs,inherits,creates,deletes,bound to,carried to,overlaps
"""
VERBS = frozenset(verb.strip() for verb in _ALL_VERBS.split(","))
CERTAINTIES = frozenset({"is", "may", "unknown"})
CARRIED = frozenset({"carried to", "overlaps"})
"""What an impact finds between fields by the storage that they share: the graph need not have it."""
DEPTH = 3
PATIENCE_SECONDS = 20.0


def faults(files: Sequence[GatheredFile], view: EstateView, draw: random.Random, questions: int) -> Iterator[str]:
    """Yield what is wrong in the graph of some files; impacts are asked for some of its nodes, as drawn."""
    citations = Citations(files, view)
    yield from _malformed(view, citations)
    for edge in view.edges:
        if not citations.name_an_end(edge):
            places = ", ".join(f"{cited['path']}:{cited['line']}" for cited in edge["citations"][:2])
            yield f"C-16: {_said(edge)} cites {places}, which name neither"
    yield from _Impacts(view, citations).faults(draw, questions)


def _malformed(view: EstateView, citations: Citations) -> Iterator[str]:
    ids = {row["id"] for row in view.nodes}
    if len(ids) != len(view.nodes):
        yield f"C-16: {len(view.nodes) - len(ids)} nodes have the id of another"
    for row in view.nodes:
        if row["kind"] not in KINDS or not row["name"] or row["name"] != row["name"].strip():
            yield f"C-16: the node {row['id']!r} of kind {row['kind']}"
        if row["path"] and not citations.is_there(row):
            yield f"C-16: {row['id']} is declared in {row['path']}:{row['line']}, which is not there"
    told: set[str] = set()
    for edge in view.edges:
        said = _said(edge)
        for end in (edge["from"], edge["to"]):
            if end not in ids:
                yield f"C-16: {said} has an end that is not a node: {end}"
        if edge["verb"] not in VERBS or edge["certainty"] not in CERTAINTIES:
            yield f"C-16: {said} is {edge['certainty']}"
        if edge["certainty"] != "is" and not edge["why"]:
            yield f"C-16: {said} is {edge['certainty']} and does not say why"
        if said in told:
            yield f"C-16: {said} is told twice"
        told.add(said)
        if not edge["citations"]:
            yield f"C-16: {said} has no citation"
        for cited in edge["citations"]:
            if not citations.is_there(cited):
                yield f"C-16: {said} cites {cited['path']}:{cited['line']}, which is not there"


class _Impacts:
    """The impacts of a graph, next to the edges that it yields."""

    def __init__(self, view: EstateView, citations: Citations) -> None:
        self._graph, self._citations = view.graph, citations
        self._carrying = Carrying(view.graph)
        self._nodes = {row["id"] for row in view.nodes}
        self._every = set(view.graph.edges())
        self._touching: dict[NodeId, set[EstateEdge]] = defaultdict(set)
        for edge in self._every:
            self._touching[edge.source].add(edge)
            self._touching[edge.target].add(edge)

    def faults(self, draw: random.Random, questions: int) -> Iterator[str]:
        """Yield what is wrong in the impacts of some nodes, of each kind one at least."""
        nodes = list(self._graph.nodes())
        drawn = draw.sample(nodes, min(questions, len(nodes)))
        for kind in sorted({node.kind for node in nodes}):
            drawn += draw.sample([node for node in nodes if node.kind == kind], 1)
        for node in dict.fromkeys(drawn):
            yield from (f"C-17: {node.kind} {node.name}{fault}" for fault in self._of(node))

    def _of(self, node: NodeId) -> Iterator[str]:
        began = time.monotonic()
        found = impact(self._graph, node.name, kind=node.kind, depth=DEPTH, carrying=self._carrying)
        if time.monotonic() - began > PATIENCE_SECONDS:
            yield f" took {time.monotonic() - began:.0f} s"
        if node not in found.nodes:
            yield " is not found by its own name"
            return
        told = [branch.edge for branch in found.branches]
        if len(set(told)) != len(told):
            yield f": {len(told) - len(set(told))} edges are told twice"
        if made_up := [edge for edge in told if edge not in self._every and not self._is_carried(edge)]:
            yield f": {len(made_up)} edges are not in the graph, as {made_up[0]}"
        left = {edge for one in found.nodes for edge in self._touching[one]} - set(told)
        if found.is_complete and left:
            yield f": {len(left)} edges are not told, as {min(map(str, left))}"
        for spelled in (node.name.lower(), f" {node.name.upper()} "):
            again = impact(self._graph, spelled, kind=node.kind, depth=DEPTH, carrying=self._carrying)
            if (again.nodes, again.branches) != (found.nodes, found.branches):
                yield f" spelled {spelled!r} has {len(again.nodes)} nodes and {len(again.edges)} edges"

    def _is_carried(self, edge: EstateEdge) -> bool:
        """Whether an edge is one between fields that only an impact tells, with nodes and lines that are there."""
        ends = {f"{node.kind} {node.name}" for node in (edge.source, edge.target)}
        is_there = all(self._citations.is_there(one._asdict()) for one in edge.citations)
        return edge.verb in CARRIED and ends <= self._nodes and bool(edge.citations) and is_there


def _said(edge: Json) -> str:
    return f"{edge['from']} {edge['verb']} {edge['to']}"
