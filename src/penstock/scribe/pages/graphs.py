"""What are the diagrams of a site? Graphs: the control flow of a program, its neighbours, the calls of an estate.

A page draws the neighbourhood that its reader chooses; in Markdown, where nothing can be chosen, graphs too large to read are
folded. A dashed edge is one that may not be taken.
Law: no edge leads to a missing box; equal documents give equal graphs. Leaves to others: where boxes are placed
(`static/graph.js`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.facts.calls import is_interface
from penstock.scribe.pages.blocks import Graph, GraphBlock, GraphEdge, GraphNode
from penstock.scribe.pages.estate import may_lead_elsewhere
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.scribe.pages.estate import EstateView, NameIndex
    from penstock.text.json_access import Json

MAX_FLOW_BOXES = 60
"""The most boxes of a program's control flow: what fits on two screens and can be traced with a finger."""
MAX_ESTATE_BOXES = 240
"""The most boxes of an estate's calls: more are a carpet, which every program's own page shows in pieces."""
ESTATE = "estate"
"""The value in place of a page if the graph is that of the whole estate, which its page loads."""
MAX_LABEL = 30
"""The most characters of a label: COBOL names have up to 30 (31 since 2002)."""


def flow(document: Json) -> GraphBlock | None:
    """Return which paragraph performs, jumps to or falls into which; None for a program of one paragraph."""
    paragraphs: Sequence[Json] = document["paragraphs"]
    return GraphBlock(_paragraphs(paragraphs), _FLOW) if len(paragraphs) > 1 else None


def folded(graph: Graph) -> tuple[Graph, str]:
    """Return a graph small enough to read where nothing can be chosen, and a note on what was left out.

    What a reader misses least goes first. In a control flow, the ends of ranges say nothing that their begins do not, sections are
    the author's own grouping, and only if that is still too large are boxes with a meaning dropped. In an estate, jobs and outside
    programs are leaves, and the tables have them.
    """
    is_flow = any(node.kind in _OF_FLOW for node in graph.nodes)
    return _folded_flow(graph) if is_flow else _folded_estate(graph)


_OF_FLOW = frozenset({"paragraph", "dead", "section"})


def _folded_flow(whole: Graph) -> tuple[Graph, str]:
    if len(whole.nodes) <= MAX_FLOW_BOXES:
        return whole, ""
    ends = _ends(whole)
    graph = _without(whole, ends)
    one, many = "paragraph that only ends a range is", "paragraphs that only end a range are"
    said = f"{counted(len(ends), one, many)} left out." if ends else ""
    if len(graph.nodes) > MAX_FLOW_BOXES and len({node.group for node in whole.nodes}) > 1:
        graph = _sections(whole)
        said = f"{counted(len(whole.nodes), 'paragraph')} are folded into their sections."
    if len(graph.nodes) > MAX_FLOW_BOXES:
        all_boxes, graph = len(graph.nodes), _nearest(graph, MAX_FLOW_BOXES)
        said += f" {all_boxes - len(graph.nodes)} further boxes are left out: the table of paragraphs has them all."
    return graph, said.strip()


def _folded_estate(whole: Graph) -> tuple[Graph, str]:
    shown, said = whole, ""
    # Too large a graph loses whole kinds of boxes first, and only then boxes by their distance, so that what is left keeps its
    # meaning.
    if len(shown.nodes) > MAX_ESTATE_BOXES:
        shown = _without(shown, {node.id for node in shown.nodes if node.kind in {"job", "outside"}})
        said = "Jobs and programs of others are left out: the tables have them."
    if len(shown.nodes) > MAX_ESTATE_BOXES:
        shown = _nearest(shown, MAX_ESTATE_BOXES)
        said += f" {len(whole.nodes) - len(shown.nodes)} boxes are left out in all; every program's own page draws its neighbours."
    return shown, said


_FLOW = "Solid: PERFORM. Dashed: GO TO, or control runs on."


def _ends(graph: Graph) -> set[str]:
    """Return the paragraphs that control only falls into or jumps to, and that lead nowhere: `X-EXIT` and the like."""
    ends = {node.id for node in graph.nodes if node.kind == "paragraph"} & {edge.target for edge in graph.edges}
    return ends - {edge.source for edge in graph.edges} - {edge.target for edge in graph.edges if not edge.is_weak}


def neighbours(here: GraphNode, document: Json, names: NameIndex) -> GraphBlock | None:
    """Return who runs a program, and what it calls; None if neither is known.

    Args:
        here: The box in the middle.
        document: The program or copybook, with its calls and its calling context.
        names: What the names of others link to.
    """
    context, file = document["calling_context"], document["header"]["file_name"]
    nodes = {here.id: here._replace(kind="main")}
    edges: dict[tuple[str, str], bool] = {}
    for kind, label in (("transaction", "transactions"), ("job", "jobs"), ("program", "called_by")):
        for name in context[label]:
            node = names.program(name, file) if kind == "program" else names.entrance(kind, name)
            nodes.setdefault(node.id, node)
            edges[node.id, here.id] = kind == "program" and names.may_call(node, here)
    for call in _programs_called(document):
        node = names.called(call, document["header"])
        nodes.setdefault(node.id, node)
        # One certain call among several to the same program makes the edge certain.
        edges[here.id, node.id] = edges.get((here.id, node.id), True) and may_lead_elsewhere(call)
    if not edges:
        return None
    is_program = here.id.startswith("program ")
    return GraphBlock(
        Graph(tuple(nodes.values()), _arrows(edges)), _WEAK_CALL, f"programs/{here.page}" if is_program else ""
    )


def estate_calls(estate: EstateView, names: NameIndex) -> GraphBlock | None:
    """Return jobs and transactions, the programs they run, and the programs that those call; None if there are no edges."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[tuple[str, str], bool] = {}

    # Boxes are created with their edges, so jobs and transactions without edges are left out; programs always have a box.
    def edge(source: GraphNode, target: GraphNode, *, is_weak: bool = False) -> None:
        nodes.setdefault(source.id, source)
        nodes.setdefault(target.id, target)
        edges[source.id, target.id] = edges.get((source.id, target.id), True) and is_weak

    for transaction in estate["transactions"]:
        if transaction["program"]:
            edge(names.entrance("transaction", transaction["name"]), names.program(transaction["program"]))
    for job in estate["jobs"]:
        box = names.entrance("job", job["title"])
        for page in job["runs"] if job["kind"] == "job" else ():
            if page in estate["programs"]:
                edge(box, names.own(page))
    for page, document in estate["programs"].items():
        here = names.own(page)
        nodes.setdefault(here.id, here)
        for call in _programs_called(document):
            edge(here, names.called(call, document["header"]), is_weak=may_lead_elsewhere(call))
    said = f"{_WEAK_CALL} What has a broken frame is not in this estate."
    return GraphBlock(Graph(tuple(nodes.values()), _arrows(edges)), said, ESTATE) if edges else None


def mermaid(graph: Graph) -> str:
    """Return a graph in the language of Mermaid, which many Markdown viewers draw.

    Nodes are numbered, because an id is syntax and COBOL names are not safe there; names appear only in quoted labels.
    """
    ids = {node.id: f"n{at}" for at, node in enumerate(graph.nodes)}
    shapes = {"job": ("[[", "]]"), "transaction": ("([", "])"), "outside": ("{{", "}}")}
    lines = ["flowchart LR"]
    for node in graph.nodes:
        opened, closed = shapes.get(node.kind, ("[", "]"))
        lines.append(f'  {ids[node.id]}{opened}"{_entities(node.label)}"{closed}')
    edges = (f"  {ids[edge.source]} {'-.->' if edge.is_weak else '-->'} {ids[edge.target]}" for edge in graph.edges)
    return "\n".join((*lines, *edges))


def _entities(text: str) -> str:
    """Return a label with Mermaid entities for whatever could be syntax; letters, digits and characters of names stay."""
    return "".join(c if c.isascii() and (c.isalnum() or c in " -_.$@") else f"#{ord(c)};" for c in text[:MAX_LABEL])


_WEAK_CALL = "Dashed: the name is data, or a transaction to come."


def _arrows(found: Mapping[tuple[str, str], bool]) -> tuple[GraphEdge, ...]:
    return tuple(GraphEdge(source, target, is_weak=weak) for (source, target), weak in found.items())


def _programs_called(document: Json) -> list[Json]:
    """Return the calls that lead to application programs: those to IMS, MQ and the like are operations."""
    return [call for call in document["called_programs"] if not is_interface(call["program_name"])]


class _Place(NamedTuple):
    """A paragraph as a target: its number in the program, its name, and its section, both in capitals."""

    id: str
    name: str
    section: str | None


def _paragraphs(paragraphs: Sequence[Json]) -> Graph:
    """Return the whole control flow: a box per paragraph, solid edges for PERFORM, dashed ones for GO TO and falling through.

    Names are not unique: two paragraphs of the same name are told apart by their sections, and a section is entered at its first
    paragraph. So boxes are numbered, and a name is resolved from the place that uses it.
    """
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
            place.id,
            item["paragraph_name"],
            "dead" if item["is_dead_code"] else "paragraph",
            line=item["start_line"],
            group=item["section"] or "",
        )
        for place, item in zip(places, paragraphs, strict=True)
    )
    edges: dict[tuple[str, str], bool] = {}
    # Computed once for all paragraphs: done for each pair it would take quadratic time.
    callers = [{name.upper() for name in item["called_by"]} for item in paragraphs]
    named = {item["paragraph_name"].upper(): {name.upper() for name in item["calls"]} for item in paragraphs}
    for at, (place, item) in enumerate(zip(places, paragraphs, strict=True)):
        for names, weak in ((item["calls"], False), (item.get("jumps", ()), True)):
            for name in names:
                if (target := _nearest_place(found.get(name.upper(), ()), place)) is not None:
                    edges.setdefault((place.id, target), weak)
        # Control falls through from the end of a paragraph into the next, unless the paragraph was performed alone: then it
        # returns. So an edge is drawn only if one paragraph performs both as parts of a range (PERFORM A THRU B), that is, if it is
        # among the callers of both and does not name the second itself; or if nobody performs the second at all.
        following = places[at + 1] if at + 1 < len(places) else None
        # It may also fall into a copied paragraph, which is not drawn.
        is_next = following is not None and (item["falls_into"] or "").upper() == following.name
        if following and is_next and not paragraphs[at + 1]["is_dead_code"]:
            entered = {following.name, following.section if following.section != place.section else ""}
            through = [caller for caller in callers[at] & callers[at + 1] if not entered & named.get(caller, set())]
            if through or not callers[at + 1]:  # otherwise the caller of one gets control back before the other
                edges.setdefault((place.id, following.id), True)
    return Graph(nodes, _arrows(edges))


def _nearest_place(candidates: Iterable[_Place], to: _Place) -> str | None:
    """Return the paragraph that a name means at a place: of those with that name the one in the same section, else the first.

    Compilers do the same: a paragraph's name need not be qualified within its own section.
    """
    ordered = sorted(candidates, key=lambda place: place.section != to.section)
    return ordered[0].id if ordered else None


def _sections(graph: Graph) -> Graph:
    """Return the same flow with a box for each section; edges within a section are dropped."""
    box_of: dict[str, str] = {}
    boxes: dict[str, GraphNode] = {}
    for node in graph.nodes:
        name = node.group
        box = f"section {name}".upper() if name else node.id
        box_of[node.id] = box
        boxes.setdefault(box, GraphNode(box, name, "section", line=node.line) if name else node)
    edges: dict[tuple[str, str], bool] = {}
    for edge in graph.edges:
        ends = box_of[edge.source], box_of[edge.target]
        if ends[0] != ends[1]:
            edges[ends] = edges.get(ends, True) and edge.is_weak
    return Graph(tuple(boxes.values()), _arrows(edges))


def _nearest(graph: Graph, most: int) -> Graph:
    """Return the part of a graph that is reached first from its entries, wave by wave, with at most so many boxes.

    The first node is always an entry: a program begins there, even if a loop leads back to it.
    """
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
    """Return a graph without some nodes and their edges."""
    nodes = tuple(node for node in graph.nodes if node.id not in gone)
    return Graph(nodes, tuple(a for a in graph.edges if a.source not in gone and a.target not in gone))
