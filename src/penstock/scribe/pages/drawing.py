"""The places of boxes and arrows: a graph in layers from left to right, which any browser draws without a library.

The method is that of Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures" (1981).
Edges that close a circle are turned for the layering and drawn as what they are; each node stands one layer behind the last one
that leads to it; within a layer the order follows the neighbours. What hangs together stands together, and boxes without edges
stand below in rows. Lengths are in CSS pixels, from the upper left corner.

Law: no two boxes overlap, every box lies within the drawing, and equal graphs give equal drawings: a site changes only where its
estate did. Keeps out: which boxes there are (`graphs`), the SVG (`templates`), colours (`static`).
Why no library does this: docs/adr/0013-diagrams-by-hand.md.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from penstock.scribe.pages.graphs import MAX_LABEL
from penstock.text import escape as inert

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.scribe.pages.blocks import Graph, GraphEdge, GraphNode

HEIGHT = 24.0
"""The height of every box, in CSS pixels: one line of text."""
_GAP = 10.0  # between boxes of a layer
_STEP = 56.0  # between layers: room for a curve to turn in
_MARGIN = 8.0
_LETTER = 7.3  # of the 12 px monospace in static/style.css: wide enough for every platform's own
_ROW = 900.0  # how wide the rows of single boxes become
# Each sweep orders all layers once, in turns from the left and from the right. In the diagrams of examples/cobol and 30 random
# graphs of 20 to 60 nodes 2 sweeps leave 1,789 crossings, 4 leave 1,580, 6 leave 1,512 and 24 still 1,475.
_SWEEPS = 6
# Heights follow the side that was last looked at and do not come to rest; what counts is that each side was, more than once.
_SETTLING = 4
_ASIDE = 6.0  # from the lower edge of a box: where an arrow back begins and ends
_THIN = 2.0  # what an arrow that passes by a layer takes of it


class Box(NamedTuple):
    """A node and the rectangle that it takes: its upper left corner, its width, and the height that all have.

    `label` is what is shown, which may be shorter than the node's own.
    """

    node: GraphNode
    label: str
    x: float
    y: float
    width: float


class Route(NamedTuple):
    """An edge and the points that its arrow goes by, from the border of its source to that of its target.

    From point to point it crosses the gap between two layers, then passes straight through a layer, and so on.
    """

    edge: GraphEdge
    points: tuple[tuple[float, float], ...]


class Drawing(NamedTuple):
    """A whole graph in its place: the size of the picture, its boxes, and the routes of its arrows."""

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
    """Return a graph with all boxes and arrows placed: components below each other, the largest first, then single boxes in rows.

    Each component is laid out by itself. Layers that went through all of them would be as wide as the widest box anywhere, and
    arrows of one would be ordered by neighbours that another has.
    """
    boxes: list[Box] = []
    paths: list[Route] = []
    width, top = 0.0, _MARGIN
    groups, singles = _components(graph)
    for nodes, edges in groups:
        part = _Layers(nodes, edges).placed()
        boxes += (box._replace(y=box.y + top) for box in part.boxes)
        paths += (path._replace(points=tuple((x, y + top) for x, y in path.points)) for path in part.routes)
        width, top = max(width, part.width), top + part.height + 2 * _GAP
    # Rows are as wide as the widest component, or as a page where there is none: wider ones would be scrolled to for no reason.
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
    """Return the box of a node, not yet placed: as wide as its label, which is cut where it is too long.

    The name is made inert before it is cut, or an escape sequence would be counted as one letter and then shown as six.
    """
    shown = inert.show_name(node.label)
    label = shown if len(shown) <= MAX_LABEL else shown[: MAX_LABEL - 1] + "…"
    return Box(node, label, 0, 0, max(len(label), 3) * _LETTER + 16)


def _components(graph: Graph) -> tuple[list[tuple[list[GraphNode], list[GraphEdge]]], list[GraphNode]]:
    """Return what hangs together, the largest first and each with its edges, and the nodes that no edge touches.

    A node that only calls itself has an edge, so that it is a component: its loop has to be drawn.
    """
    beside: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        beside[edge.source].append(edge.target)
        beside[edge.target].append(edge.source)
    group_of: dict[str, int] = {}
    # A stack and no recursion: a chain of paragraphs may be longer than Python's stack is deep.
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
    """A place in a layer: of a box, or of an edge that passes by on its way to a later layer (`box` is None).

    Edges take places of their own so that the order of a layer leaves room for them: an arrow then never runs across a box.
    `before` and `after` are the neighbours in the layers to the left and right. `y` is the place in the order while the layer is
    ordered, and the upper edge in pixels from then on.
    """

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
    """One component in layers: edges that go back turned, layers by the longest way, order by barycentres, then heights.

    The steps go in this order because each needs what the one before decided: there is no longest way in a circle, no order
    without layers, and no height without an order. None of them is undone later.
    """

    def __init__(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        self._nodes, self._arrows = nodes, edges
        # A loop takes no part in the layering, where it would be a circle, and is drawn round the end of its own box. What is
        # turned is remembered only by the pair that it becomes: `_way` finds an edge under its own ends or under those of its
        # reverse.
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
        """Yield the slots that an edge passes, its ends included, and put the new ones into the layers between."""
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
        """Return the component as a drawing whose highest slot is at the top."""
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
        """Sort every layer by the mean place of its neighbours, in turns of those before and those after it.

        The barycentre heuristic: it does not find the fewest crossings, which is NP-hard already for two layers, but it is near,
        and it is a sort. `list.sort` is stable, so that slots with equal means keep their order and equal graphs stay equal.
        """
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            for layer in self._layers if down else reversed(self._layers):
                # Places are renewed before and after: means are taken of places, not of what stood there before.
                for at, slot in enumerate(layer):
                    slot.y = float(at)
                layer.sort(key=lambda slot, down=down: _mean(slot, slot.before if down else slot.after))  # type: ignore[misc]
                for at, slot in enumerate(layer):
                    slot.y = float(at)

    def _settle(self) -> None:
        """Move the slots of each layer to the height of their neighbours, as far as the order lets them."""
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
        # An edge that goes back begins and ends near the lower border: else it would lie upon the one that goes there.
        aside = 0.0 if forward else _ASIDE - HEIGHT / 2
        points = [(slots[0].x + slots[0].width, slots[0].middle - top - aside)]
        for slot in slots[1:]:
            points.append((slot.x, slot.middle - top - (aside if slot.box else 0)))
            if slot.box is None:  # straight through the layer, between its boxes
                points.append((slot.x + self._widths[slot.layer], slot.middle - top))
        return Route(edge, tuple(points if forward else reversed(points)))


def _mean(slot: _Slot, beside: Sequence[_Slot]) -> float:
    """Return the barycentre of a slot: the mean place of its neighbours; its own place where it has none."""
    return sum(other.y for other in beside) / len(beside) if beside else slot.y


def _wanted(slot: _Slot, beside: Sequence[_Slot]) -> float:
    """Return the upper edge at which a slot would be level with its neighbours."""
    return sum(other.middle for other in beside) / len(beside) - slot.height / 2 if beside else slot.y


def _stack(layer: Sequence[_Slot], wanted: Sequence[float]) -> None:
    """Give each slot of a layer its upper edge: as near to the wanted one as those above it allow, all moved by the rest.

    Pushing only downwards would let a layer sink with every turn. Moving the whole layer back by the mean of what each slot was
    pushed keeps the gaps, which are what must hold, and lets the layer stay where it wants to be on average.
    """
    free = float("-inf")
    for slot, want in zip(layer, wanted, strict=True):
        slot.y = max(want, free)
        free = slot.y + slot.height + _GAP
    shift = sum(want - slot.y for slot, want in zip(layer, wanted, strict=True)) / len(layer)
    for slot in layer:
        slot.y += shift


def _back_edges(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the edges that close a circle when one walks depth first from the ways in, in the order of the nodes.

    To turn as few edges as possible is NP-hard (minimum feedback arc set). To turn those that lead back to a node which the walk
    is still within is linear and shows what a reader expects: in a program the jump to the head of a loop is what goes back.
    """
    after: dict[str, list[str]] = {node: [] for node in nodes}
    entered = {target for _, target in edges}
    rank = {node: at for at, node in enumerate(nodes)}
    for source, target in edges:
        after[source].append(target)
    for targets in after.values():
        targets.sort(key=rank.__getitem__)
    back: set[tuple[str, str]] = set()
    state: dict[str, int] = {}
    # 1: the walk is within the node, 2: it has left it. An iterator for each node stands for the frame of a recursion.
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
    """Return the layer of each node: one more than the highest of those that lead to it, 0 where none does.

    Kahn's order: a node is done when all that lead to it are, which happens for every node because no circle is left.
    """
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
