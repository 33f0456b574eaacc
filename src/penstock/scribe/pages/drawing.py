"""Where do boxes stand? A graph in layers from left to right, as SVG that any browser draws without a library.

Arrows back are turned for the layering and drawn as what they are. What hangs together stands together; boxes without arrows
stand below in rows. Law: no two boxes overlap, every box lies within the drawing; equal graphs give equal drawings.
Keeps out: which boxes there are (`graphs`), colours (`assets`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe.pages.graphs import MAX_LABEL
from penstock.text import escape as inert

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.scribe.pages.blocks import Graph, GraphEdge, GraphNode

HEIGHT, _GAP, _STEP, _MARGIN = 24.0, 10.0, 56.0, 8.0
_LETTER = 7.3  # of the 12 px monospace in static/style.css: wide enough for every platform's own
_ROW = 900.0  # how wide the rows of single boxes become
_SWEEPS = 6
_SETTLING = 4
_ASIDE = 6.0  # from the lower edge of a box: where an arrow back begins and ends
_THIN = 2.0  # what an arrow that passes by a layer takes of it


class Box(NamedTuple):
    """A node and its place."""

    node: GraphNode
    label: str
    x: float
    y: float
    width: float


class Route(NamedTuple):
    """An arrow and the points it goes by, from border to border."""

    edge: GraphEdge
    points: tuple[tuple[float, float], ...]


class Drawing(NamedTuple):
    """Everything in its place."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]


def curve(route: Route) -> str:
    """Return the path data of SVG for a route: a cubic curve from point to point, level where it leaves and where it arrives."""
    points = route.points
    commands = [f"M{points[0][0]:.0f} {points[0][1]:.0f}"]
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (x0 + x1) / 2 if x0 != x1 else x0 + _STEP / 2  # an edge to itself goes round the end of its box
        commands.append(f"C{middle:.0f} {y0:.0f} {middle:.0f} {y1:.0f} {x1:.0f} {y1:.0f}")
    return " ".join(commands)


def draw(graph: Graph) -> Drawing:
    """Components below each other, the largest first; then the boxes that no arrow touches."""
    boxes: list[Box] = []
    paths: list[Route] = []
    width, top = 0.0, _MARGIN
    groups, singles = _components(graph)
    for nodes, edges in groups:
        part = _Layers(nodes, edges).placed()
        boxes += (box._replace(y=box.y + top) for box in part.boxes)
        paths += (path._replace(points=tuple((x, y + top) for x, y in path.points)) for path in part.routes)
        width, top = max(width, part.width), top + part.height + 2 * _GAP
    x = _MARGIN
    for node in singles:
        box = _boxed(node)
        if x > _MARGIN and x + box.width > max(width, _ROW):
            x, top = _MARGIN, top + HEIGHT + _GAP
        boxes.append(box._replace(x=x, y=top))
        x += box.width + _GAP
        width = max(width, x)
    bottom = top + HEIGHT if singles else top - 2 * _GAP
    return Drawing(width + _MARGIN, bottom + _MARGIN, tuple(boxes), tuple(paths))


def _boxed(node: GraphNode) -> Box:
    shown = inert.show_name(node.label)
    label = shown if len(shown) <= MAX_LABEL else shown[: MAX_LABEL - 1] + "…"
    return Box(node, label, 0, 0, max(len(label), 3) * _LETTER + 16)


def _components(graph: Graph) -> tuple[list[tuple[list[GraphNode], list[GraphEdge]]], list[GraphNode]]:
    """What hangs together, the largest first, and what hangs on nothing."""
    beside: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        beside[edge.source].append(edge.target)
        beside[edge.target].append(edge.source)
    group_of: dict[str, int] = {}
    for node in graph.nodes:
        stack, number = [node.id], len(group_of)
        while stack:
            if (at := stack.pop()) not in group_of:
                group_of[at] = number
                stack += beside[at]
    groups: dict[int, tuple[list[GraphNode], list[GraphEdge]]] = {}
    singles: list[GraphNode] = []
    for node in graph.nodes:
        if beside[node.id]:
            groups.setdefault(group_of[node.id], ([], []))[0].append(node)
        else:
            singles.append(node)
    for edge in graph.edges:
        groups[group_of[edge.source]][1].append(edge)
    return sorted(groups.values(), key=lambda group: -len(group[0])), singles


class _Slot:
    """A place in a layer: a box, or an arrow that passes by (`box` is None)."""

    __slots__ = ("after", "before", "box", "layer", "x", "y")

    def __init__(self, box: Box | None, layer: int) -> None:
        self.box, self.layer, self.x, self.y = box, layer, 0.0, 0.0
        self.before: list[_Slot] = []
        self.after: list[_Slot] = []

    @property
    def height(self) -> float:
        return _THIN if self.box is None else HEIGHT

    @property
    def middle(self) -> float:
        return self.y + self.height / 2

    @property
    def width(self) -> float:
        return 0.0 if self.box is None else self.box.width


class _Layers:
    """One component after Sugiyama: arrows back turned, layers by the longest way, order by barycentres, then heights."""

    def __init__(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        self._nodes, self._arrows = nodes, edges
        ends = {(edge.source, edge.target) for edge in edges if edge.source != edge.target}
        back = _back_edges([node.id for node in nodes], sorted(ends))
        self._down = sorted({(b, a) if (a, b) in back else (a, b) for a, b in ends})
        self._layer = _longest_ways([node.id for node in nodes], self._down)
        self._slots = {node.id: _Slot(_boxed(node), self._layer[node.id]) for node in nodes}
        self._layers: list[list[_Slot]] = [[] for _ in range(max(self._layer.values()) + 1)]
        for slot in self._slots.values():
            self._layers[slot.layer].append(slot)
        self._widths = [max(slot.width for slot in layer) for layer in self._layers]
        self._ways = {pair: list(self._joined(*pair)) for pair in self._down}

    def _joined(self, source: str, target: str) -> Iterator[_Slot]:
        """The slots that an arrow passes, put into the layers between its ends."""
        last, end = self._slots[source], self._slots[target]
        yield last
        for layer in range(last.layer + 1, end.layer + 1):
            slot = end if layer == end.layer else _Slot(None, layer)
            if slot is not end:
                self._layers[layer].append(slot)
            last.after.append(slot)
            slot.before.append(last)
            last = slot
            yield slot

    def placed(self) -> Drawing:
        self._order()
        self._settle()
        x = _MARGIN
        for layer, width in zip(self._layers, self._widths, strict=True):
            for slot in layer:
                slot.x = x
            x += width + _STEP
        top = min(slot.y for layer in self._layers for slot in layer)
        boxes = tuple(
            slot.box._replace(x=slot.x, y=slot.y - top) for slot in self._slots.values() if slot.box is not None
        )
        paths = tuple(self._way(edge, top) for edge in self._arrows)
        loops = any(edge.source == edge.target for edge in self._arrows)
        right = max([box.x + box.width for box in boxes] + [px for path in paths for px, _ in path.points])
        bottom = max([box.y + HEIGHT for box in boxes] + [py for path in paths for _, py in path.points])
        return Drawing(right + (30 if loops else 0), bottom, boxes, paths)

    def _order(self) -> None:
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            for layer in self._layers if down else reversed(self._layers):
                for at, slot in enumerate(layer):
                    slot.y = float(at)
                layer.sort(key=lambda slot, down=down: _mean(slot, slot.before if down else slot.after))  # type: ignore[misc]
                for at, slot in enumerate(layer):
                    slot.y = float(at)

    def _settle(self) -> None:
        for layer in self._layers:
            _stack(layer, [at * (HEIGHT + _GAP) for at, _ in enumerate(layer)])
        for turn in range(_SETTLING):
            down = turn % 2 == 0
            for layer in self._layers if down else reversed(self._layers):
                _stack(layer, [_wanted(slot, slot.before if down else slot.after) for slot in layer])

    def _way(self, edge: GraphEdge, top: float) -> Route:
        if edge.source == edge.target:  # round its own right end
            slot = self._slots[edge.source]
            x, y = slot.x + slot.width, slot.y - top
            return Route(edge, ((x, y + 6), (x, y + HEIGHT - 6)))
        forward = (edge.source, edge.target) in self._ways
        slots = self._ways[(edge.source, edge.target) if forward else (edge.target, edge.source)]
        aside = 0.0 if forward else _ASIDE - HEIGHT / 2
        points = [(slots[0].x + slots[0].width, slots[0].middle - top - aside)]
        for slot in slots[1:]:
            points.append((slot.x, slot.middle - top - (aside if slot.box else 0)))
            if slot.box is None:  # straight through the layer, between its boxes
                points.append((slot.x + self._widths[slot.layer], slot.middle - top))
        return Route(edge, tuple(points if forward else reversed(points)))


def _mean(slot: _Slot, beside: Sequence[_Slot]) -> float:
    return sum(other.y for other in beside) / len(beside) if beside else slot.y


def _wanted(slot: _Slot, beside: Sequence[_Slot]) -> float:
    return sum(other.middle for other in beside) / len(beside) - slot.height / 2 if beside else slot.y


def _stack(layer: Sequence[_Slot], wanted: Sequence[float]) -> None:
    """Each slot as near to where it wants to be as those above it allow; then all of them moved by what is left on average."""
    free = float("-inf")
    for slot, want in zip(layer, wanted, strict=True):
        slot.y = max(want, free)
        free = slot.y + slot.height + _GAP
    shift = sum(want - slot.y for slot, want in zip(layer, wanted, strict=True)) / len(layer)
    for slot in layer:
        slot.y += shift


def _back_edges(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """The edges that close a circle when one walks from the ways in, in the order of the nodes."""
    after: dict[str, list[str]] = {node: [] for node in nodes}
    entered = {target for _, target in edges}
    rank = {node: at for at, node in enumerate(nodes)}
    for source, target in edges:
        after[source].append(target)
    for targets in after.values():
        targets.sort(key=rank.__getitem__)
    back: set[tuple[str, str]] = set()
    state: dict[str, int] = {}
    for start in sorted(nodes, key=lambda node: (node in entered, rank[node])):
        if start in state:
            continue
        state[start] = 1
        stack = [(start, iter(after[start]))]
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[node] = 2
                stack.pop()
            elif state.get(following) == 1:
                back.add((node, following))
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(after[following])))
    return back


def _longest_ways(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The layer of each node: one more than the highest before it."""
    after: dict[str, list[str]] = {node: [] for node in nodes}
    waiting = dict.fromkeys(nodes, 0)
    for source, target in edges:
        after[source].append(target)
        waiting[target] += 1
    layer = dict.fromkeys(nodes, 0)
    ready = [node for node in nodes if not waiting[node]]
    while ready:
        node = ready.pop()
        for target in after[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return layer
