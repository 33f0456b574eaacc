"""What does a change of one name touch: what uses it, what its value goes into, and what its value comes from?

The edges that touch the name come first. From there the tree continues in the direction in which it came: from what
the name feeds to what that feeds, and from what feeds it to what feeds that; so two fields that are filled from one
source are not each other's impact. The direction of each verb is a table (`_DEPENDS`).

Laws: the same graph gives the same tree, whatever the order of its files; a deeper tree contains every shallower one;
every edge of the tree is one of the graph, or one that `carrying` finds in it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..program import METHOD
from .carrying import DIFFERS, Carrying
from .naming import plain_path
from .structure import declarations
from .values import KINDS, RANK, VERBS, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .estates import EstateGraph
    from .values import Kind, Verb

DEPTH = 2
"""The default number of edges from the name to the furthest node: enough for its users and what they move it to."""
MAX_EDGES = 20_000
"""The maximum number of edges in a tree; a tree that would have more is not complete and says so."""

Way = Literal["down", "up"]
"""`down` leads from a thing to what depends on it, `up` to what it depends on."""
_WAYS: tuple[Way, ...] = ("down", "up")

# Which end of an edge depends on the other: `target` (the receiver of a MOVE depends on the sender), `source` (a
# paragraph depends on what it reads), or `both`.
_DEPENDS: dict[Verb, Literal["source", "target", "both"]] = {
    "reads": "source",
    "receives": "source",
    "opens": "source",
    "copies": "source",
    "calls": "source",
    "starts": "source",
    "performs": "source",
    "goes to": "source",
    "runs": "source",
    "inherits": "source",
    "declared in": "source",
    "writes": "target",
    "creates": "target",
    "deletes": "target",
    "sends": "target",
    "moves to": "target",
    "computes": "target",
    "carried to": "target",
    "counts": "target",
    "is key of": "target",
    "is status of": "both",
    "passes to": "both",
    "redefines": "both",
    "overlaps": "both",
    "part of": "both",
    "is record of": "both",
    "bound to": "both",
}
_BY_PATH = frozenset({"program", "job", "procedure"})
"""The kinds of things of whose name there may be several, each named `NAME@path`; what is in them is not called NAME."""
_RUNNING: frozenset[Verb] = frozenset(
    {"calls", "starts", "runs", "inherits", "performs", "goes to", "part of", "copies"}
)
"""The verbs that are followed from a program or paragraph that uses a name: to what runs it, not to what else it uses."""


class TreeEdge(NamedTuple):
    """An edge of the tree, at the place where it was first found."""

    edge: EstateEdge
    at: NodeId
    """The end of the edge that was already known."""
    to: NodeId
    """The other end, from which further branches start."""
    depth: int
    """1 for the edges of the name itself."""
    way: Way


class Impact(NamedTuple):
    """What a change of a name touches."""

    name: str
    nodes: tuple[NodeId, ...]
    """The nodes with that name; for fields of a copybook, also their instances in every program."""
    branches: tuple[TreeEdge, ...]
    """The edges in tree order: by depth, then as found."""
    is_complete: bool
    """Whether all edges are included; False if there are more than `MAX_EDGES`."""

    @property
    def kind(self) -> str:
        """The kind of what has the name; several are separated by commas, in the order of `KINDS`."""
        kinds = {node.kind for node in self.nodes}
        return ", ".join(kind for kind in KINDS if kind in kinds)

    @property
    def edges(self) -> tuple[EstateEdge, ...]:
        """All edges, each once, in tree order."""
        return tuple(dict.fromkeys(branch.edge for branch in self.branches))


def impact(
    graph: EstateGraph,
    name: str,
    *,
    kind: Kind | None = None,
    depth: int = DEPTH,
    carrying: Carrying | None = None,
) -> Impact:
    """Return what a change of a name touches; without any node if nothing has the name.

    Args:
        graph: The estate.
        name: `NAME`, or qualified as nodes are: `PROG.FIELD`, `COPYBOOK.FIELD`, `JOB.STEP`. The last part of a name
            is enough; case is ignored.
        kind: The kind of what is meant, if several things have the name; None for all of them.
        depth: The number of edges to the furthest node.
        carrying: The transfers between areas in the graph, shared by queries for several names; None to find them now.
    """
    seeds = nodes_named(graph, name, kind)
    tree = _Tree(graph, carrying or Carrying(graph), depth)
    for seed in seeds:
        tree.seed(seed)
    tree.grow()
    return Impact(name, tuple(seeds), tuple(tree.branches), tree.is_complete)


def nodes_named(graph: EstateGraph, name: str, kind: Kind | None = None) -> list[NodeId]:
    """Return the things that have a name, ordered by kind and name.

    An exact match takes precedence over names that end with it, and these over the other names by which a program is called;
    the field of a copybook includes its instances, a level 88 means its item, and a section its paragraphs.
    """
    wanted = plain_path(name.strip()).upper()
    nodes = [node for node in graph.nodes() if kind is None or node.kind == kind]
    inside = _in_section(graph, wanted)
    of_section = [node for node in nodes if node.kind == "paragraph" and node.name.upper() in inside]
    # The path that distinguishes programs of one name is not in capitals.
    found = [node for node in nodes if node.name.upper() == wanted]
    if not set(found).isdisjoint(of_section):  # what stands before the first paragraph has the name of the section
        found += of_section
    # After a qualifier, or after the folders of a file.
    ends = tuple(f"{mark}{wanted}" for mark in (".", METHOD, "/"))
    found = found or [*(node for node in nodes if node.name.upper().endswith(ends)), *of_section]
    found = found or [
        node
        for node in nodes
        if (node.kind in _BY_PATH and graph.own_name(node) == wanted) or _in_order(graph, node, wanted)
    ]
    if not found:
        called, dot, rest = wanted.partition(".")
        others = {f"{part.name}{dot}{rest}".upper() for part in graph.called(called)}
        found = [node for node in nodes if node.name.upper() in others]
    if kind in {None, "field"}:
        of_conditions = list(_with_condition(graph, wanted))
        if not found or not set(found).isdisjoint(of_conditions):  # a FILLER has the name of its first level 88
            found = [*found, *of_conditions]
    if not found and kind in {None, "field"}:
        found = list(_generated(graph, wanted))
    instances = _instances(graph, [node for node in found if node.kind == "field"])
    return sorted(dict.fromkeys([*found, *instances]), key=lambda node: (KINDS.index(node.kind), node.name))


def _in_order(graph: EstateGraph, node: NodeId, wanted: str) -> bool:
    """Return whether a node's own name has the parts of a wanted name in their order, with the same first and last part."""
    asked = wanted.split(".")
    if len(asked) < 2 or not node.name.endswith(f".{asked[-1]}"):
        return False
    parts = graph.own_name(node).split(".")
    rest = iter(parts)
    return parts[0] == asked[0] and all(one in rest for one in asked)


def _with_condition(graph: EstateGraph, wanted: str) -> Iterator[NodeId]:
    """Yield the fields that have a level 88 of a name, which its program may qualify."""
    program, dot, condition = wanted.rpartition(".")
    for part in graph.parts:
        if not dot or program in {part.name.upper(), part.own_name}:
            for field in part.fields:
                if condition in field.conditions:
                    yield field.node


def _in_section(graph: EstateGraph, wanted: str) -> set[str]:
    """Return the names, in capitals, of the paragraphs of the sections that have a name."""
    return {
        f"{part.name}.{paragraph}".upper()
        for part in graph.parts
        for section, paragraph in part.sections
        if wanted in {section, f"{part.name}.{section}".upper(), f"{part.own_name}.{section}"}
    }


def _instances(graph: EstateGraph, fields: Sequence[NodeId]) -> Iterator[NodeId]:
    """Yield the instances of copybook fields in the programs that copy them."""
    asked: set[tuple[str, int, int]] = set()
    for node in fields:
        for part in graph.parts_of(node):
            if part.kind == "copybook":
                declared = zip(part.fields, declarations(part), strict=True)
                asked |= {entry for field, entry in declared if field.name == node.name}
    if asked:
        for part in graph.parts:
            for field, entry in zip(part.fields, declarations(part), strict=True):
                if field.name and entry in asked:
                    yield field.node


def _generated(graph: EstateGraph, wanted: str) -> Iterator[NodeId]:
    """Yield the fields that programs copy from a copybook which is no file, as what CICS generates from a mapset."""
    copybook, _, rest = wanted.partition(".")
    for part in graph.parts:
        for field in part.fields:
            if rest and field.copybook == copybook and field.name.upper().endswith(f".{rest}"):
                yield field.node


class _Tree:
    """A tree while it grows, level by level."""

    def __init__(self, graph: EstateGraph, carrying: Carrying, depth: int) -> None:
        self._graph, self._carrying, self._depth = graph, carrying, depth
        self.branches: list[TreeEdge] = []
        self.is_complete = True
        self._seen: set[tuple[NodeId, Way]] = set()
        self._edges: set[EstateEdge] = set()
        self._next: list[tuple[NodeId, Way, Verb | None]] = []
        self._seeds: set[NodeId] = set()
        # A file that no program of the estate declares, such as one of a region, may be both read and written.
        self._used: defaultdict[NodeId, tuple[bool, bool]] = defaultdict(lambda: (True, True))
        for part in graph.parts:
            for file in part.files:
                self._used[NodeId("file", file.name)] = (file.is_read, file.is_written)

    def seed(self, node: NodeId) -> None:
        """Begin at a node, in both directions."""
        self._seeds.add(node)
        for way in _WAYS:
            self._seen.add((node, way))
            self._next.append((node, way, None))

    def grow(self) -> None:
        """Add the edges level by level, up to the depth."""
        for depth in range(1, self._depth + 1):
            level, self._next = self._next, []
            for node, way, by in level:
                for edge in self._around(node, way):
                    leads = self._leads(node, edge, way) and (by is None or _leads_on(node, edge, by))
                    # All edges of the name itself are shown, wherever they lead; `up` is the second of its two ways.
                    if leads or (depth == 1 and way == "up"):
                        self._take(edge, node, depth, way, goes_on=leads)
                    if len(self.branches) > MAX_EDGES:
                        self.branches.pop()
                        self.is_complete = False
                        return

    def _take(self, edge: EstateEdge, node: NodeId, depth: int, way: Way, *, goes_on: bool) -> None:
        """Add an edge that is not in the tree yet, and continue from its other end."""
        to = edge.target if edge.source == node else edge.source
        if edge not in self._edges:
            self._edges.add(edge)
            self.branches.append(TreeEdge(edge, node, to, depth, way))
        # Bytes that only overlap a field are not its value, so what that field goes into is not what they go into.
        if edge.verb == "carried to" and edge.why.endswith(DIFFERS):
            return
        if goes_on and (to, way) not in self._seen:
            self._seen.add((to, way))
            self._next.append((to, way, edge.verb))

    def _around(self, node: NodeId, way: Way) -> Iterable[EstateEdge]:
        """Return the edges of a node, including those that `carrying` finds, by verb and then by name."""
        found = list(self._graph.touching(node))
        if node.kind == "field":
            found += self._carrying.after(node) if way == "down" else self._carrying.before(node)
        return sorted(dict.fromkeys(found), key=_order)

    def _leads(self, node: NodeId, edge: EstateEdge, way: Way) -> bool:
        """Return whether the other end of an edge depends on a node (`down`), or the node on it (`up`)."""
        outward = node == edge.source
        if edge.verb in {"bound to", "is record of"}:
            # Data goes from record to file to data set if the file is written, and back if it is read.
            is_read, is_written = self._used[edge.target if edge.verb == "is record of" else edge.source]
            return is_written if outward == (way == "down") else is_read
        if edge.verb == "part of":
            # A change of a part affects its group, but not the other parts; a change of the name itself affects its parts.
            return outward or node in self._seeds
        depends = _DEPENDS[edge.verb]
        if edge.verb == "passes to" and edge.ways and all(one.is_copied for one in edge.ways):
            depends = "target"
        return depends == "both" or (depends == "target") == (outward == (way == "down"))


def _leads_on(node: NodeId, edge: EstateEdge, by: Verb | None) -> bool:
    """Return whether the tree continues from a node along an edge, given the verb along which it got there."""
    if node.kind == "paragraph":
        return by in {"performs", "goes to"} and edge.verb in {"performs", "goes to"}
    if node.kind == "program":
        return edge.verb in _RUNNING and not (edge.verb == "copies" and by != "copies")
    if node.kind == "step" and by in {"creates", "deletes"}:
        return edge.verb == "part of"  # what the step creates or deletes contains nothing of what else it reads
    if node.kind in {"step", "job"}:
        return edge.verb in {"part of", "reads", "writes"}
    return True


def _order(edge: EstateEdge) -> tuple[int, str, str, int]:
    """Return the sort key of edges: the verb, then both ends."""
    return VERBS.index(edge.verb), edge.source.name, edge.target.name, RANK[edge.certainty]
