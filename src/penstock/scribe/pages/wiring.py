"""How do pages get the graph of an estate? In two parts: what all programs share, and what each program keeps for itself.

The first is drawn from any page around any program, job, data set, table or copybook, and is loaded on demand; the second, fields
and paragraphs, belongs to the page of its program and is loaded with its source. Both are the edges of `cobol.graph`, in numbers;
here a whole leads to its parts. Law: every edge of a part is in one of the two, and none is made up.
Leaves to others: what an edge is (`cobol.graph`), where boxes are placed (`static/graph.js`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from penstock.cobol.graph import EstateEdge, NodeId
from penstock.scribe.pages.packing import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from penstock.cobol.graph import EstateGraph, ProgramPart
    from penstock.text.json_access import Json

    GraphTable: TypeAlias = dict[str, Json]

_OWN = frozenset({"field", "paragraph"})
"""Kinds of nodes that one program keeps for itself."""
_CALLED = frozenset({"program", "transaction"})


def outer_part(part: ProgramPart) -> ProgramPart:
    """Return what a part says about the estate: small enough to keep for ten thousand programs.

    What a paragraph does to things outside of its program counts as the program's doing.
    """
    me = NodeId(part.kind, part.name)
    found: dict[tuple[NodeId, str, NodeId], EstateEdge] = {}
    for edge in part.edges:
        source = me if edge.source.kind == "paragraph" else edge.source
        target = me if edge.target.kind == "paragraph" else edge.target
        if (source != target or edge.verb == "calls") and not {source.kind, target.kind} & _OWN:
            # One citation is enough to show: the page of the program has all.
            made = edge._replace(source=source, target=target, citations=edge.citations[:1])
            known = found.setdefault((source, edge.verb, target), made)
            if known.certainty != "is" and edge.certainty == "is":
                found[source, edge.verb, target] = made
    return part._replace(
        edges=tuple(found.values()),
        fields=(),
        sendings=(),
        files=tuple(file._replace(records=()) for file in part.files),
        entries=tuple(entry._replace(parameters=()) for entry in part.entries),
    )


def calling_part(part: ProgramPart) -> ProgramPart:
    """Return what a part says of the programs that it calls, without the places: it is kept for each program of a queue."""
    outer = outer_part(part)
    return outer._replace(
        edges=tuple(edge._replace(citations=()) for edge in outer.edges if edge.target.kind in _CALLED),
        files=(),
        commands=tuple((name, ()) for name, _ in part.commands),
        undeclared=tuple((name, ()) for name, _ in part.undeclared),
        unnamed_calls=(),
        sections=(),
    )


def inner_table(part: ProgramPart) -> GraphTable:
    """Return what a program's own fields, paragraphs and files do to each other and to what is outside, in numbers."""
    prefix = f"{part.name}."
    return _table(part.edges, lambda node: node.name.removeprefix(prefix), {})


def estate_script(graph: EstateGraph, pages: Mapping[tuple[str, int], str]) -> str:
    """Return the script that loads the graph of an estate into its pages.

    Args:
        graph: The graph, of parts without fields.
        pages: The paths of pages, without suffix, by the file and the first line of their programs.
    """
    paths = {
        NodeId(part.kind, part.name): pages[part.path, part.line]
        for part in reversed(graph.parts)
        if (part.path, part.line) in pages
    }
    drawn = (edge for edge in graph.drawn if edge.source != edge.target)  # no arrow leads from a box to itself
    return f'penstock.estate("{packed(_table(drawn, lambda node: node.name, paths))}");\n'


def _table(edges: Iterable[EstateEdge], label: Callable[[NodeId], str], paths: Mapping[NodeId, str]) -> GraphTable:
    """Return edges as lists of numbers, with the names for the numbers.

    Of a node: its label, its kind, the path of its page. Of an edge: its ends, its verb, its certainty (0 for `is`, 1 for `may`, 2
    for `unknown`), and the first line that it is cited from.
    """
    places = {node: at for at, node in enumerate(paths)}
    kinds: dict[str, int] = {}
    verbs: dict[str, int] = {}
    rows = []
    for edge in edges:
        ends, verb = (edge.source, edge.target), str(edge.verb)
        if verb == "part of":
            # A whole leads to its parts, so that the path from a program back to what runs it ends at the job, not at its step.
            ends, verb = ends[::-1], "holds"
        rows.append(
            (
                *[places.setdefault(node, len(places)) for node in ends],
                verbs.setdefault(verb, len(verbs)),
                _SURE.index(edge.certainty),
                edge.citations[0].line if edge.citations else 0,
            )
        )
    nodes = [(label(node), kinds.setdefault(node.kind, len(kinds)), paths.get(node, "")) for node in places]
    return {"kinds": list(kinds), "verbs": list(verbs), "nodes": nodes, "edges": rows}


_SURE = ("is", "may", "unknown")
