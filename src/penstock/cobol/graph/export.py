"""How is a graph written for other programs: JSON, CSV and GraphML, in pieces of text?

Node ids are `KIND NAME`, because a program and a copybook may share a name. Leaves to others: where the text goes, and the
drawing (`penstock.scribe.graph_drawing`). Law: what is written reads back as the same nodes and edges
(`tests/laws/test_law_graph.py`), and equal graphs are written identically.
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

from penstock.text.escape import show_argument as inert

from .values import KINDS, CitedLine, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .estates import EstateGraph
    from .values import EstateEdge

_FORMULA = tuple("=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20")
"""What begins a text that a spreadsheet may calculate (OWASP, CSV Injection), and the mark that makes it a text."""
NODE_COLUMNS = ("id", "kind", "name", "path", "line")
EDGE_COLUMNS = ("from", "verb", "to", "certainty", "why", "citations")


def node_id(node: NodeId) -> str:
    """Return the id of a node in an export."""
    return f"{node.kind} {node.name}"


def as_json(graph: EstateGraph) -> Iterator[str]:
    """Yield a graph as one JSON object: `nodes`, and `edges` with the keys of `penstock impact`."""
    yield '{"nodes": ['
    for number, row in enumerate(_nodes(graph)):
        yield (",\n" if number else "\n") + json.dumps(dict(zip(NODE_COLUMNS, row, strict=True)), ensure_ascii=False)
    yield '\n], "edges": ['
    for number, edge in enumerate(graph.edges()):
        yield (",\n" if number else "\n") + json.dumps(_edge(edge), ensure_ascii=False)
    yield "\n]}\n"


def nodes_csv(graph: EstateGraph) -> Iterator[str]:
    """Yield the nodes as CSV, with a heading; a text that a spreadsheet may take for a formula has `'` in front."""
    return _rows(NODE_COLUMNS, _nodes(graph))


def edges_csv(graph: EstateGraph) -> Iterator[str]:
    """Yield the edges as CSV, like the nodes; citations are `PATH:LINE`, separated by blanks."""
    rows = (
        (
            node_id(edge.source),
            edge.verb,
            node_id(edge.target),
            edge.certainty,
            edge.why,
            " ".join(f"{cited.path}:{cited.line}" for cited in edge.citations),
        )
        for edge in graph.edges()
    )
    return _rows(EDGE_COLUMNS, rows)


def as_graphml(graph: EstateGraph) -> Iterator[str]:
    """Yield a graph as GraphML, which Gephi, yEd, Neo4j and igraph read; characters that XML has none for are escaped.

    Raises:
        ModuleNotFoundError: networkx is not installed: `penstock[graph]`.
    """
    import networkx as nx  # from the extra `graph`; loading it takes a tenth of a second, and nothing else needs it

    made = nx.MultiDiGraph()
    for identity, kind, name, path, line in _nodes(graph):
        made.add_node(inert(identity), kind=kind, name=inert(name), path=inert(path), line=line)
    for edge in graph.edges():
        cited = " ".join(f"{one.path}:{one.line}" for one in edge.citations)
        about = {"verb": edge.verb, "certainty": edge.certainty, "why": inert(edge.why), "citations": inert(cited)}
        made.add_edge(inert(node_id(edge.source)), inert(node_id(edge.target)), key=edge.verb, **about)
    for line in nx.generate_graphml(made):
        yield f"{line}\n"


def _nodes(graph: EstateGraph) -> Iterator[tuple[Any, ...]]:
    """Yield the nodes ordered by kind and name; path and line are where they are declared, "" and 0 if nowhere."""
    nodes: dict[NodeId, CitedLine | None] = graph.nodes()
    for edge in graph.edges():
        for node in (edge.source, edge.target):
            nodes.setdefault(node, None)
    for node in sorted(nodes, key=lambda one: (KINDS.index(one.kind), one.name)):
        place = nodes[node]
        yield (node_id(node), node.kind, node.name, place.path if place else "", place.line if place else 0)


def _edge(edge: EstateEdge) -> dict[str, Any]:
    """Return an edge as it is written in JSON."""
    return {
        "from": node_id(edge.source),
        "to": node_id(edge.target),
        "verb": edge.verb,
        "certainty": edge.certainty,
        "why": edge.why,
        "citations": [{"path": cited.path, "line": cited.line} for cited in edge.citations],
    }


def _rows(heading: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> Iterator[str]:
    """Yield rows as lines of CSV."""
    line = _Line()
    writer = csv.writer(line, lineterminator="\n")
    for row in (heading, *rows):
        writer.writerow([f"'{one}" if isinstance(one, str) and one.startswith(_FORMULA) else one for one in row])
        yield line.text


class _Line:
    """A file for the CSV writer that keeps only the last line."""

    text = ""

    def write(self, text: str) -> None:
        """Keep a line."""
        self.text = text
