"""What do the flows of an estate look like as SVG? Jobs, transactions, programs, data sets, tables and what else they share.

What a program keeps for itself (fields, paragraphs, its own files) is not drawn: what is left is who runs whom, and on what. Boxes
are in layers from left to right, each behind what leads to it; the boxes of a cycle share a layer. Within a layer the order follows
the neighbours. An estate that is too large for one picture keeps the boxes with the most arrows, and the picture says how many are
missing.

Why Graphviz does not draw it: docs/adr/0028-one-graph-of-an-estate.md. Laws: the same graph gives the same picture; no two boxes
overlap; everything shown is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from penstock.text.escape import show_argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.cobol.graph import EstateGraph, NodeId, Verb

MAX_BOXES = 600
"""The most boxes of a picture: what a person can still follow at full size."""
_SHOWN = frozenset(
    {
        "program",
        "dataset",
        "table",
        "queue",
        "segment",
        "record",
        "map",
        "container",
        "transaction",
        "job",
        "step",
        "file",
    }
)
# Arrows follow the data, and go from what runs to what is run, and from a job to its steps.
_FORWARD: frozenset[Verb] = frozenset({"writes", "sends", "calls", "starts", "runs"})
_BACKWARD: frozenset[Verb] = frozenset({"reads", "receives", "part of"})
_ACTING = frozenset({"program", "step", "job", "transaction"})
_COLOURS = {
    **dict.fromkeys(("dataset", "file"), "#fef3c7"),
    **dict.fromkeys(("table", "segment", "record"), "#dcfce7"),
    **dict.fromkeys(("queue", "container"), "#fae8ff"),
    **dict.fromkeys(("job", "step"), "#f1f5f9"),
    "program": "#dbeafe",
    "map": "#ffe4e6",
    "transaction": "#e0e7ff",
}
_HEIGHT, _GAP, _STEP, _MARGIN = 24, 10, 72, 10
"""Lengths in CSS pixels: the height of a box, the gaps between boxes of a layer and between layers, and the margin."""
_LETTER = 7.3  # of 12 px monospace: wide enough for the font of every platform
_SWEEPS = 6
_BELOW = 28


class _Placed(NamedTuple):
    """A box: its upper left corner and its width."""

    x: float
    y: float
    width: float


Arrows = dict[tuple["NodeId", "NodeId"], bool]
"""Arrows from box to box, and whether each is only possible."""


def svg(graph: EstateGraph) -> Iterator[str]:
    """Yield the flows of an estate as lines of one SVG, with titles that browsers show over boxes.

    Raises:
        ModuleNotFoundError: networkx is not installed: `penstock[graph]`.
    """
    arrows, left_out = _kept(_arrows(graph))
    places = _places(arrows)
    width = max((one.x + one.width for one in places.values()), default=0) + _MARGIN
    height = max((one.y + _HEIGHT for one in places.values()), default=0) + _MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{max(width, 560):.0f}" height="{height + _BELOW:.0f}" '
        'font-family="monospace" font-size="12">\n'
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#64748b"/></marker></defs>\n'
    )
    for (one, other), is_weak in arrows.items():
        dash = ' stroke-dasharray="4 3"' if is_weak else ""
        way = _curve(places[one], places[other])
        yield f'<path d="{way}" fill="none" stroke="#64748b" marker-end="url(#a)"{dash}/>\n'
    for node, box in places.items():
        name = escape(_shown(node))
        yield (
            f'<g><title>{node.kind} {name}</title><rect x="{box.x:.0f}" y="{box.y:.0f}" '
            f'width="{box.width:.0f}" height="{_HEIGHT}" rx="4" fill="{_COLOURS[node.kind]}" stroke="#475569"/>'
            f'<text x="{box.x + 6:.0f}" y="{box.y + 16:.0f}">{name}</text></g>\n'
        )
    said = "Arrows go with the data, and from what runs to what is run; dashed: may be."
    if left_out:
        said += f" {left_out} boxes are left out: the other exports have all."
    yield f'<text x="{_MARGIN}" y="{height + 14:.0f}">{escape(said)}</text>\n</svg>\n'


def _shown(node: NodeId) -> str:
    """Return the name of a node without characters that act, or that XML does not have."""
    return show_argument(node.name)


def _arrows(graph: EstateGraph) -> Arrows:
    """Return the arrows between visible boxes; one certain edge makes an arrow certain."""
    found: Arrows = {}
    for edge in graph.drawn:
        if (
            {edge.source.kind, edge.target.kind} <= _SHOWN
            and edge.certainty != "unknown"
            and edge.source != edge.target
        ):
            if edge.verb in _FORWARD:
                ends = (edge.source, edge.target)
            elif edge.verb in _BACKWARD:
                ends = (edge.target, edge.source)
            else:
                continue
            found[ends] = found.get(ends, True) and edge.certainty != "is"
    return dict(sorted(found.items()))


def _kept(arrows: Arrows) -> tuple[Arrows, int]:
    """Return the arrows between the boxes that fit in a picture, and how many boxes do not fit."""
    degree: dict[NodeId, int] = {}
    for ends in arrows:
        for node in ends:
            degree[node] = degree.get(node, 0) + 1
    ordered = sorted(degree, key=lambda node: (-degree[node], node))
    kept = set(ordered[:MAX_BOXES])
    return {ends: weak for ends, weak in arrows.items() if set(ends) <= kept}, max(0, len(ordered) - MAX_BOXES)


def _places(arrows: Arrows) -> dict[NodeId, _Placed]:
    """Return the position of each box: layer by layer, ordered within a layer by its neighbours."""
    layers = _layers(arrows)
    beside: dict[NodeId, list[NodeId]] = {}
    for one, other in arrows:
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    rank = {node: at / max(1, len(layer)) for layer in layers for at, node in enumerate(layer)}
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            # By the mean of the neighbours, in whatever layer they are; names break ties.
            layer.sort(key=lambda node: (sum(rank[one] for one in beside[node]) / len(beside[node]), node))
            rank |= {node: at / max(1, len(layer)) for at, node in enumerate(layer)}
    found: dict[NodeId, _Placed] = {}
    x = float(_MARGIN)
    tallest = max(map(len, layers), default=0)
    for layer in layers:
        width = max(len(_shown(node)) for node in layer) * _LETTER + 12
        top = _MARGIN + (tallest - len(layer)) * (_HEIGHT + _GAP) / 2
        for at, node in enumerate(layer):
            found[node] = _Placed(x, top + at * (_HEIGHT + _GAP), len(_shown(node)) * _LETTER + 12)
        x += width + _STEP
    return found


def _layers(arrows: Arrows) -> list[list[NodeId]]:
    """Return the boxes by layers, each behind everything that leads to it; a cycle is in one layer."""
    import networkx as nx  # the extra `graph`, which nothing else in a document needs

    # What a program both reads and writes comes behind it: otherwise the two would share a layer.
    ahead = [ends for ends in arrows if ends[0].kind in _ACTING or ends[::-1] not in arrows]
    whole = nx.DiGraph(ahead)
    whole.add_nodes_from(node for ends in arrows for node in ends)
    circles = nx.condensation(whole)
    return [
        sorted(node for circle in layer for node in circles.nodes[circle]["members"])
        for layer in nx.topological_generations(circles)
    ]


def _curve(one: _Placed, other: _Placed) -> str:
    """Return the path of an arrow: from the right of a box to the left of the next, or around if that is behind it."""
    x0, y0 = one.x + one.width, one.y + _HEIGHT / 2
    x1, y1 = other.x, other.y + _HEIGHT / 2
    middle = (x0 + x1) / 2 if x1 > x0 else x0 + _STEP / 2
    end = middle if x1 > x0 else x1 - _STEP / 2
    return f"M{x0:.0f} {y0:.0f}C{middle:.0f} {y0:.0f} {end:.0f} {y1:.0f} {x1:.0f} {y1:.0f}"
