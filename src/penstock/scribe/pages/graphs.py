"""Which boxes and arrows show it? The control flow of a program, its neighbours, the calls of an estate.

A graph that would be too large to be read is folded, and says so: paragraphs into their sections, then to what is nearest to the
way in. Law: no arrow leads to a box that is not there; equal documents give equal graphs. Keeps out: where boxes stand (`drawing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.facts.calls import is_interface
from penstock.scribe.pages.blocks import Graph, GraphBlock, GraphEdge, GraphNode, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.scribe.pages.estate import EstateView, NameIndex
    from penstock.text.json_access import Json

MAX_FLOW_BOXES = 60
"""Of a program's control flow: what fits on two screens and can be followed with a finger."""
MAX_ESTATE_BOXES = 240
MAX_LABEL = 30


def flow(document: Json) -> GraphBlock | None:
    """Which paragraph performs, jumps to or falls into which; None for a program of one paragraph."""
    paragraphs: Sequence[Json] = document["paragraphs"]
    if len(paragraphs) < 2:
        return None
    whole = _paragraphs(paragraphs)
    if len(whole.nodes) <= MAX_FLOW_BOXES:
        return GraphBlock(whole, _FLOW)
    ends = _ends(whole)
    graph = _without(whole, ends)
    said = f"{_FLOW} {count(len(ends), 'paragraph')} that only end a range are left out." if ends else _FLOW
    if len(graph.nodes) > MAX_FLOW_BOXES and len({item["section"] for item in paragraphs}) > 1:
        graph = _sections(paragraphs, whole)
        said = f"{_FLOW} {count(len(paragraphs), 'paragraph')} are folded into their sections."
    if len(graph.nodes) > MAX_FLOW_BOXES:
        all_boxes, graph = len(graph.nodes), _nearest(graph, MAX_FLOW_BOXES)
        said += f" {all_boxes - len(graph.nodes)} further boxes are left out: the table of paragraphs has them all."
    return GraphBlock(graph, said)


_FLOW = "Solid: PERFORM. Dashed: GO TO, or control runs on."


def _ends(graph: Graph) -> set[str]:
    """Boxes that control only runs on or jumps to, and that lead nowhere: `X-EXIT` and the like."""
    ends = {node.id for node in graph.nodes if node.kind == "paragraph"} & {edge.target for edge in graph.edges}
    return ends - {edge.source for edge in graph.edges} - {edge.target for edge in graph.edges if not edge.is_weak}


def neighbours(here: GraphNode, document: Json, names: NameIndex) -> GraphBlock | None:
    """Who runs this program, and what it calls; None where nobody and nothing is known."""
    context = document["calling_context"]
    nodes = {here.id: here._replace(kind="main")}
    edges: dict[tuple[str, str], bool] = {}
    for kind, label in (("transaction", "transactions"), ("job", "jobs"), ("program", "called_by")):
        for name in context[label]:
            node = names.program(name) if kind == "program" else names.entrance(kind, name)
            nodes.setdefault(node.id, node)
            edges[node.id, here.id] = False
    for call in _programs_called(document):
        node = names.called(call)
        nodes.setdefault(node.id, node)
        edges[here.id, node.id] = edges.get((here.id, node.id), True) and _is_weak(call)
    return GraphBlock(Graph(tuple(nodes.values()), _arrows(edges)), _WEAK_CALL) if edges else None


def estate_calls(estate: EstateView, names: NameIndex) -> GraphBlock | None:
    """Jobs and transactions, the programs they run, and the programs that those call."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[tuple[str, str], bool] = {}

    def edge(source: GraphNode, target: GraphNode, *, is_weak: bool = False) -> None:
        nodes.setdefault(source.id, source)
        nodes.setdefault(target.id, target)
        edges[source.id, target.id] = edges.get((source.id, target.id), True) and is_weak

    for transaction in estate["transactions"]:
        if transaction["program"]:
            edge(names.entrance("transaction", transaction["name"]), names.program(transaction["program"]))
    for job in estate["jobs"]:
        for name in job["runs"] if job["kind"] == "job" else ():
            if names.is_here(name):
                edge(names.entrance("job", job["name"]), names.program(name))
    for page, document in estate["programs"].items():
        here = names.own(page)
        nodes.setdefault(here.id, here)
        for call in _programs_called(document):
            edge(here, names.called(call), is_weak=_is_weak(call))
    whole = Graph(tuple(nodes.values()), _arrows(edges))
    said = f"{_WEAK_CALL} What has a broken frame is not in this estate."
    shown = whole
    if len(shown.nodes) > MAX_ESTATE_BOXES:
        shown = _without(shown, {node.id for node in shown.nodes if node.kind in {"job", "outside"}})
        said += " Jobs and programs of others are left out: the tables have them."
    if len(shown.nodes) > MAX_ESTATE_BOXES:
        shown = _nearest(shown, MAX_ESTATE_BOXES)
        said += f" {len(whole.nodes) - len(shown.nodes)} boxes are left out in all; every program's own page draws its neighbours."
    return GraphBlock(shown, said) if shown.edges else None


def mermaid(graph: Graph) -> str:
    """The graph in the language that many viewers of Markdown draw."""
    ids = {node.id: f"n{at}" for at, node in enumerate(graph.nodes)}
    shapes = {"job": ("[[", "]]"), "transaction": ("([", "])"), "outside": ("{{", "}}")}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        opened, closed = shapes.get(node.kind, ("[", "]"))
        lines.append(f'  {ids[node.id]}{opened}"{_entities(node.label)}"{closed}')
    edges = (f"  {ids[edge.source]} {'-.->' if edge.is_weak else '-->'} {ids[edge.target]}" for edge in graph.edges)
    return "\n".join((*lines, *edges))


def _entities(text: str) -> str:
    """Whatever could be syntax, as mermaid's entities: letters, digits and what names have stay."""
    return "".join(c if c.isascii() and (c.isalnum() or c in " -_.$@") else f"#{ord(c)};" for c in text[:MAX_LABEL])


_WEAK_CALL = "Dashed: the name is data, or a transaction to come."


def _arrows(found: Mapping[tuple[str, str], bool]) -> tuple[GraphEdge, ...]:
    return tuple(GraphEdge(source, target, is_weak=weak) for (source, target), weak in found.items())


def _programs_called(document: Json) -> list[Json]:
    """The calls that lead to programs of somebody: those of IMS, MQ and the like are operations."""
    return [call for call in document["called_programs"] if not is_interface(call["program_name"])]


def _is_weak(call: Json) -> bool:
    return call["call_type"] in {"dynamic", "start", "return_transid"} or bool(call["resolved_from"])


class _Place(NamedTuple):
    id: str
    name: str
    section: str | None


def _paragraphs(paragraphs: Sequence[Json]) -> Graph:
    places = [
        _Place(f"{at}", item["paragraph_name"].upper(), (item["section"] or "").upper())
        for at, item in enumerate(paragraphs)
    ]
    found: dict[str, list[_Place]] = {}
    for place in places:
        found.setdefault(place.name, []).append(place)
        if place.section and place.section not in found:
            found[place.section] = [place]  # a section is entered at its first paragraph
    nodes = tuple(
        GraphNode(
            place.id, item["paragraph_name"], "dead" if item["is_dead_code"] else "paragraph", line=item["start_line"]
        )
        for place, item in zip(places, paragraphs, strict=True)
    )
    edges: dict[tuple[str, str], bool] = {}
    callers = [{name.upper() for name in item["called_by"]} for item in paragraphs]
    named = {item["paragraph_name"].upper(): {name.upper() for name in item["calls"]} for item in paragraphs}
    for at, (place, item) in enumerate(zip(places, paragraphs, strict=True)):
        for names, weak in ((item["calls"], False), (item.get("jumps", ()), True)):
            for name in names:
                if (target := _nearest_place(found.get(name.upper(), ()), place)) is not None:
                    edges.setdefault((place.id, target), weak)
        if item["falls_into"] and at + 1 < len(places) and not paragraphs[at + 1]["is_dead_code"]:
            following = places[at + 1]
            entered = {following.name, following.section if following.section != place.section else ""}
            through = [caller for caller in callers[at] & callers[at + 1] if not entered & named.get(caller, set())]
            if through or not callers[at + 1]:  # else what performs the one gets control back before the other
                edges.setdefault((place.id, following.id), True)
    return Graph(nodes, _arrows(edges))


def _nearest_place(candidates: Iterable[_Place], to: _Place) -> str | None:
    """Of paragraphs of one name that of the same section, else the first."""
    ordered = sorted(candidates, key=lambda place: place.section != to.section)
    return ordered[0].id if ordered else None


def _sections(paragraphs: Sequence[Json], graph: Graph) -> Graph:
    """The same with a box for each section."""
    box_of: dict[str, str] = {}
    boxes: dict[str, GraphNode] = {}
    for node, item in zip(graph.nodes, paragraphs, strict=True):
        name = item["section"]
        box = f"section {name}".upper() if name else node.id
        box_of[node.id] = box
        boxes.setdefault(box, GraphNode(box, name, "section", line=item["start_line"]) if name else node)
    edges: dict[tuple[str, str], bool] = {}
    for edge in graph.edges:
        ends = box_of[edge.source], box_of[edge.target]
        if ends[0] != ends[1]:
            edges[ends] = edges.get(ends, True) and edge.is_weak
    return Graph(tuple(boxes.values()), _arrows(edges))


def _nearest(graph: Graph, most: int) -> Graph:
    """What is reached first from the ways in."""
    after: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    reached = {edge.target for edge in graph.edges if edge.source != edge.target}
    for edge in graph.edges:
        after[edge.source].append(edge.target)
    kept: dict[str, None] = {}
    ways_in = [node.id for node in graph.nodes if node.id not in reached and after[node.id]] or list(after)[:1]
    wave = [graph.nodes[0].id, *ways_in]
    while wave and len(kept) < most:
        following: dict[str, None] = {}
        for node in wave:
            if node not in kept and len(kept) < most:
                kept[node] = None
                following |= dict.fromkeys(after[node])
        wave = list(following)
    return _without(graph, {node.id for node in graph.nodes} - kept.keys())


def _without(graph: Graph, gone: set[str]) -> Graph:
    nodes = tuple(node for node in graph.nodes if node.id not in gone)
    return Graph(nodes, tuple(a for a in graph.edges if a.source not in gone and a.target not in gone))
