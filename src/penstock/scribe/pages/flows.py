"""How does work flow through an estate? Which job or program feeds which, which screen leads to which, what is a copy of what, and
what to read first.

Law: a data set that a step touches is listed with that step; what is only possible is marked. Leaves to others: how it was found
(`cobol.graph`, `copies`, `ranking`), and how a table looks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.graph import EstateEdge, NodeId
from penstock.scribe.pages.blocks import (
    CodeSpan,
    DocumentLink,
    Graph,
    GraphBlock,
    GraphEdge,
    GraphNode,
    PageSection,
    ParagraphLink,
    Tag,
    TextBlock,
    joined,
)
from penstock.scribe.pages.columns import lines, table
from penstock.scribe.pages.copies import MOST_COPIES
from penstock.scribe.pages.estate import name_of, program_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from penstock.cobol.graph import Certainty, EstateGraph
    from penstock.scribe.pages.blocks import Block, Cell, NodeKind, Piece
    from penstock.scribe.pages.copies import NearCopy
    from penstock.scribe.pages.estate import EstateView, NameIndex
    from penstock.text.json_access import Json

MOST_LISTED = 500
"""The most paragraphs or rules listed for an estate, the most important first; each program's own page has all of its own."""


class EstateFlows(NamedTuple):
    """What flows are made of: the graph of the estate, the near-copies of each program, and the paths of the programs' pages."""

    graph: EstateGraph
    copies: Mapping[str, Sequence[NearCopy]]
    pages: Mapping[tuple[str, int], str]

    @property
    def by_steps(self) -> list[EstateEdge]:
        """The edges of steps to the data sets that they read or write."""
        return [
            edge
            for edge in self.graph.drawn
            if edge.source.kind == "step" and edge.target.kind == "dataset" and edge.verb in {"reads", "writes"}
        ]

    def shown_name(self, program: str, names: NameIndex) -> str:
        """Return what a program is called by the name of its node, told apart from others of that name."""
        page = self.page_id_of(program)
        return names.name_of_page(page) if page else self.graph.own_name(NodeId("program", program))

    def page_of(self, name: str) -> str:
        """Return the path of a program's page by the name of its node; empty if it has none."""
        number = self.graph.owner.get(f"program {name}")
        part = self.graph.parts[number] if number is not None else None
        return self.pages.get((part.path, part.line), "") if part is not None else ""

    def page_id_of(self, name: str) -> str:
        """Return the id of the page that a program has of its own; empty if it has none, as those in CL."""
        folder, _, page = self.page_of(name).partition("/")
        return page if folder == "programs" else ""


def sections(estate: EstateView, flows: EstateFlows, names: NameIndex) -> Iterator[PageSection]:
    """Yield the sections about flows; those without content are left out."""
    # Made on demand: a caller that only asks whether there is any section does not wait for all.
    found: dict[str, Callable[[], list[Block]]] = {
        "Jobs and data sets": lambda: _jobs(flows, names),
        "Programs and files": lambda: _files(flows, names),
        "Screens and transactions": lambda: _screens(flows, names),
        "Near-copies": lambda: _copies(estate, flows, names),
        "Rules to read first": lambda: _rules(estate, names),
        "Complexity and reach": lambda: _weights(estate, names),
    }
    yield from (PageSection(title, tuple(blocks)) for title, made in found.items() if (blocks := made()))


# ── producers and consumers ──────────────────────────────────────────────────────────────────────────────────────


def _jobs(flows: EstateFlows, names: NameIndex) -> list[Block]:
    """Return which steps write and read each data set, and the jobs that feed each other as a diagram."""
    runs: dict[NodeId, list[str]] = {}
    for edge in flows.graph.drawn:
        if edge.source.kind == "step" and edge.verb == "runs" and edge.target.kind == "program":
            runs.setdefault(edge.source, []).append(edge.target.name)

    def steps(edges: Iterable[EstateEdge]) -> Cell:
        return joined(_step(edge, runs, flows, names) for edge in edges)

    return _exchanged("data set", "step", flows.by_steps, steps, flows, names)


def _files(flows: EstateFlows, names: NameIndex) -> list[Block]:
    """Return which programs write and read a file that they open by the file's own name."""
    found: list[EstateEdge] = []
    for store, bound in flows.graph.bindings.items():
        for number, file in bound:
            if store.name not in {named.name for named in file.own_names}:
                continue
            program = NodeId("program", flows.graph.parts[number].name)
            modes = set(file.is_opened_for) if not (file.is_read or file.is_written) else set()
            sure: Certainty = "may" if file.why(store.name) else "is"
            if file.is_read or modes & {"INPUT", "I-O"}:
                found.append(EstateEdge(program, "reads", store, sure, ()))
            if file.is_written or modes & {"OUTPUT", "EXTEND"}:
                found.append(EstateEdge(program, "writes", store, sure, ()))

    def programs(edges: Iterable[EstateEdge]) -> Cell:
        return joined(
            _program(edge.source.name, flows, names, "" if edge.certainty == "is" else " (may)") for edge in edges
        )

    return _exchanged("file", "program", found, programs, flows, names)


def _exchanged(
    what: str,
    who: str,
    edges: Iterable[EstateEdge],
    shown: Callable[[Iterable[EstateEdge]], Cell],
    flows: EstateFlows,
    names: NameIndex,
) -> list[Block]:
    """Return who feeds whom, as a diagram, and a table of who writes and reads each data set or file.

    Args:
        what: What data is kept in.
        who: Who writes and reads it.
        edges: What each of them writes and reads.
        shown: Returns the cell for some of these edges.
        flows: The estate.
        names: What its programs are called.
    """
    written: dict[str, list[EstateEdge]] = {}
    read: dict[str, list[EstateEdge]] = {}
    for edge in edges:
        (written if edge.verb == "writes" else read).setdefault(edge.target.name, []).append(edge)
    rows = table(
        sorted({*written, *read}),
        {
            what.capitalize(): lambda name: (CodeSpan(name),),
            "Written by": lambda name: shown(written.get(name, ())),
            "Read by": lambda name: shown(read.get(name, ())),
        },
        keeps_empty=True,
    )
    graph = _feeding(written, read, flows, names)
    told = f"Arrows go from the {who} that writes a {what} to it, and from there to the {who}s that read it. Dashed: it may."
    return [*([GraphBlock(graph, told)] if graph.edges else []), *rows]


def _step(edge: EstateEdge, runs: Mapping[NodeId, Sequence[str]], flows: EstateFlows, names: NameIndex) -> Piece:
    """Return a step as a link to the page of the program that it runs, or just its name if that has no page."""
    name = edge.source.name
    programs = [(one, page) for one in runs.get(edge.source, ()) if (page := flows.page_of(one))]
    may = "" if edge.certainty == "is" else " (may)"
    if programs:
        program, page = programs[0]
        return DocumentLink(f"{name} · {flows.shown_name(program, names)}{may}", page)
    return CodeSpan(f"{name}{may}")


def _feeding(
    written: Mapping[str, Sequence[EstateEdge]],
    read: Mapping[str, Sequence[EstateEdge]],
    flows: EstateFlows,
    names: NameIndex,
) -> Graph:
    """Return who feeds whom through data sets, as boxes: steps, or programs."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[tuple[str, str], bool] = {}
    for name in sorted({*written, *read}):
        # A data set that only one user touches feeds nobody else.
        users = {edge.source for edge in (*written.get(name, ()), *read.get(name, ()))}
        if not written.get(name) or not read.get(name) or len(users) < 2:
            continue
        box = nodes.setdefault(f"dataset {name}", GraphNode(f"dataset {name}", name, "dataset"))
        for found, is_writer in ((written[name], True), (read[name], False)):
            for edge in found:
                user = nodes.setdefault(str(edge.source), _box(edge.source, flows, names))
                ends = (user.id, box.id) if is_writer else (box.id, user.id)
                edges[ends] = edges.get(ends, True) and edge.certainty != "is"
    return Graph(tuple(nodes.values()), tuple(GraphEdge(a, b, is_weak=weak) for (a, b), weak in edges.items()))


def _box(user: NodeId, flows: EstateFlows, names: NameIndex) -> GraphNode:
    """Return the box of a step, or of a program with a link to its page."""
    if user.kind == "step":
        return GraphNode(f"step {user.name}", user.name, "job")
    page = flows.page_id_of(user.name)
    return GraphNode(f"program {user.name}", flows.shown_name(user.name, names), "program", page=page)


# ── screens ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Online(NamedTuple):
    """The programs of a region: how each is entered, what it shows, and where control goes on; a bool says that it only may."""

    shown: dict[str, dict[str, set[str]]]
    """The maps of a program, each with what is done with it."""
    entered: dict[str, list[str]]
    """The transactions that run a program."""
    onward: dict[str, dict[str, bool]]
    """The transactions that a program starts."""
    calls: dict[str, dict[str, bool]]
    """The online programs that a program calls."""

    @property
    def programs(self) -> list[str]:
        """Their names, in order."""
        return sorted({*self.shown, *self.entered, *self.onward})


def _online(flows: EstateFlows) -> _Online:
    """Return the online programs of an estate."""
    found = _Online({}, {}, {}, {})
    for edge in flows.graph.drawn:
        source, target = edge.source, edge.target
        if source.kind == "program" and target.kind == "map":
            found.shown.setdefault(source.name, {}).setdefault(target.name, set()).add(edge.verb)
        elif source.kind == "transaction" and target.kind == "program":
            found.entered.setdefault(target.name, []).append(source.name)
        elif source.kind == "program" and target.kind == "transaction":
            found.onward.setdefault(source.name, {})[target.name] = edge.certainty != "is"
        elif source.kind == target.kind == "program" and edge.verb == "calls":
            found.calls.setdefault(source.name, {})[target.name] = edge.certainty != "is"
    here = set(found.programs)
    calls = {name: {one: weak for one, weak in called.items() if one in here} for name, called in found.calls.items()}
    return found._replace(calls=calls)


def _screens(flows: EstateFlows, names: NameIndex) -> list[Block]:
    """Return transactions, the programs behind them, the maps that these show, and where control goes next."""
    online = _online(flows)
    if not online.shown and not online.entered:
        return []

    def maps(name: str, verb: str) -> Cell:
        return joined(CodeSpan(one) for one, verbs in online.shown.get(name, {}).items() if verb in verbs)

    def onward(name: str) -> Cell:
        called = (_program(one, flows, names) for one in online.calls.get(name, ()))
        return joined([*called, *map(CodeSpan, online.onward.get(name, ()))])

    rows = table(
        online.programs,
        {
            "Program": lambda name: (_program(name, flows, names),),
            "Entered by": lambda name: joined(map(CodeSpan, online.entered.get(name, ()))),
            "Shows": lambda name: maps(name, "sends"),
            "Reads back": lambda name: maps(name, "receives"),
            "Goes on to": onward,
        },
    )
    graph = _screen_graph(online, flows, names)
    told = (
        "Transactions, the programs that they run, the maps that these show, and where control goes on. Dashed: it may."
    )
    return [*([GraphBlock(graph, told)] if graph.edges else []), *rows]


def _screen_graph(online: _Online, flows: EstateFlows, names: NameIndex) -> Graph:
    """Return the picture of the online programs."""
    nodes: dict[str, GraphNode] = {}
    edges: dict[tuple[str, str], bool] = {}

    def box(kind: NodeKind, name: str) -> str:
        page = flows.page_id_of(name) if kind == "program" else ""
        shape: NodeKind = "outside" if kind == "program" and not flows.page_of(name) else kind
        return nodes.setdefault(
            f"{kind} {name}", GraphNode(f"{kind} {name}", flows.shown_name(name, names), shape, page=page)
        ).id

    for name in online.programs:
        own = box("program", name)
        edges |= {(box("transaction", one), own): False for one in online.entered.get(name, ())}
        edges |= {(own, box("map", one)): False for one in online.shown.get(name, ())}
        edges |= {(own, box("transaction", one)): weak for one, weak in online.onward.get(name, {}).items()}
        edges |= {(own, box("program", one)): weak for one, weak in online.calls.get(name, {}).items()}
    return Graph(tuple(nodes.values()), tuple(GraphEdge(a, b, is_weak=weak) for (a, b), weak in edges.items()))


def _program(name: str, flows: EstateFlows, names: NameIndex, note: str = "") -> Piece:
    page = flows.page_of(name)
    return DocumentLink(f"{flows.shown_name(name, names)}{note}", page) if page else CodeSpan(f"{name}{note}")


# ── copies, and what to read first ───────────────────────────────────────────────────────────────────────────────


def _copies(estate: EstateView, flows: EstateFlows, names: NameIndex) -> list[Block]:
    headers = {page: document["header"] for page, document in estate["programs"].items() if page in flows.copies}

    def link(page: str, shown: str) -> DocumentLink:
        return DocumentLink(shown, program_path(page), "near-copies")

    def copies(page: str) -> Cell:
        found = flows.copies[page]
        listed: list[Piece] = [
            link(one.page, f"{names.name_of_page(one.page)} ({one.share:.0%})")
            for one in found[:MOST_COPIES]
            if one.page in headers
        ]
        return joined([*listed, *(["and more"] if len(found) > MOST_COPIES else [])])

    rows = table(
        list(headers),
        {
            "Program": lambda page: (link(page, name_of({"header": headers[page]})),),
            "File": lambda page: (CodeSpan(headers[page]["file_name"]),),
            "Like": copies,
        },
    )
    told = "Programs that share most of their lines, comments and their own names aside; the page of each shows where it differs."
    return [TextBlock((told,), is_aside=True), *rows] if rows else []


def _rules(estate: EstateView, names: NameIndex) -> list[Block]:
    found: list[tuple[DocumentLink, Json]] = [
        (DocumentLink(names.name_of_page(page), program_path(page), "business-rules"), rule)
        for page, document in estate["programs"].items()
        for rule in document.get("first_rules", ())
    ]
    found.sort(key=lambda one: one[1]["kind"] != "computation")
    rows = table(
        found[:MOST_LISTED],
        {
            "Program": lambda one: (one[0],),
            "What it is": lambda one: (Tag(one[1]["kind"], "good" if one[1]["kind"] == "computation" else "plain"),),
            "In": lambda one: (CodeSpan(one[1]["paragraph"]),) if one[1]["paragraph"] else (),
            "When": lambda one: (CodeSpan(one[1]["condition"]),),
            "Lines": lambda one: lines(one[1], one[0].path),
        },
    )
    return [*_first("Rules", "decide", len(found)), *rows] if rows else []


def _weights(estate: EstateView, names: NameIndex) -> list[Block]:
    found: list[tuple[DocumentLink, Json]] = [
        (DocumentLink(names.name_of_page(page), program_path(page)), one)
        for page, document in estate["programs"].items()
        for one in document.get("heaviest", ())
    ]
    found.sort(key=lambda one: -one[1]["complexity"] * (1 + one[1]["reach"]))
    rows = table(
        found[:MOST_LISTED],
        {
            "Paragraph": lambda one: (ParagraphLink(one[1]["name"], one[1]["line"], one[0].path),),
            "Program": lambda one: (one[0],),
            "Complexity": lambda one: (str(one[1]["complexity"]),),
            "Reached from": lambda one: (str(one[1]["reach"]),),
        },
        numbers=("Complexity", "Reached from"),
    )
    return [*_first("Paragraphs", "branch, and how many paragraphs come to them", len(found)), *rows] if rows else []


def _first(what: str, how: str, number: int) -> Iterable[Block]:
    left = f" {number - MOST_LISTED} more are on the pages of their programs." if number > MOST_LISTED else ""
    yield TextBlock((f"{what} in the order of how much they {how}.{left}",), is_aside=True)
