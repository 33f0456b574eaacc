"""How much do items hold that have grown so far, and how much are others too short for what comes from them?

Leaves to others: which items grow (`growth`), and the rules of sizes (`sizes`, `shortages`).

Law: an item reported as too short is so even after everything that grows by the same causes has grown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts.data import MoveWay
from .bringing import is_stored, ways_of
from .relaying import relaid
from .shortages import Sizes, shortage
from .sizes import Bytes, longer, size_of

if TYPE_CHECKING:
    from .carrying import Carrying, PlacedField
    from .consequences import Wave
    from .estates import EstateGraph
    from .relaying import Lying
    from .shortages import Shortage
    from .sizes import Size
    from .values import EstateEdge, NodeId


class GrownItems:
    """The items that have grown so far.

    Args:
        graph: The estate.
        carrying: Where its fields are declared.
        returned: The names of the items that programs return by RETURNING.
    """

    def __init__(self, graph: EstateGraph, carrying: Carrying, returned: set[str]) -> None:
        self._graph, self._carrying = graph, carrying
        self.returned = returned
        """The names of the items that programs return by RETURNING."""
        self._strung: dict[NodeId, dict[int, list[tuple[EstateEdge, MoveWay]]]] = {}
        self.waves: dict[NodeId, Wave] = {}
        """The fields that grow."""
        self.laid: dict[NodeId, Lying] = {}
        """The groups and records that get longer."""
        self.inside: dict[tuple[int, int], dict[int, NodeId]] = {}
        """The fields that grow in each record: by the identity of its part and its index there, then by their own index."""

    def then(self, node: NodeId, size: Size | None) -> Size | None:
        """Return how much an item holds after growing."""
        wave, lying = self.waves.get(node), self.laid.get(node)
        if wave is not None and wave.size is not None:
            return wave.size
        if lying is None or size is None:
            return size
        return None if lying.bytes is None else longer(size, Bytes(lying.bytes - size.bytes))

    def grown_by(self, node: NodeId, placed: PlacedField, causes: frozenset[NodeId | None]) -> Size | None:
        """Return how much an item holds once only what grows by certain causes has grown."""
        size, wave = size_of(placed.field), self.waves.get(node)
        if wave is not None and wave.causes[-1] in causes:
            return wave.size
        part, record = placed.part, placed.field.record
        inside = self.inside.get((id(part), record), {})
        waves = {at: self.waves[one] for at, one in inside.items()} if placed.field.usage == "GROUP" else {}
        same = {at: one.size.bytes for at, one in waves.items() if one.size is not None and one.causes[-1] in causes}
        length = relaid(part.fields, record, same)[placed.at].bytes if same else None
        return size if size is None or length is None else longer(size, Bytes(length - size.bytes))

    def shortage(
        self,
        edge: EstateEdge,
        sent: tuple[Size | None, Size | None],
        other: NodeId,
        placed: PlacedField,
        causes: frozenset[NodeId | None],
    ) -> Shortage | None:
        """Return what an item lacks to hold what it receives by an edge; None if it lacks nothing, or that is not known.

        Args:
            edge: The edge.
            sent: What is sent, today and after growing.
            other: The item that receives it.
            placed: Where that item is declared.
            causes: What has grown before, and may already have made that item longer.
        """
        target, (now, then) = size_of(placed.field), sent
        grown = self.grown_by(other, placed, causes)
        if target is None or grown is None or now is None or then is None:
            return None
        ways = [way for way in ways_of(edge) if (way.function == "length") == (edge.verb == "computes")]
        if edge.verb == "passes to" and edge.source == other:
            ways = [MoveWay(taken=way.sent) for way in ways]  # the called program has it too long for its caller
        sizes, stored = (Sizes(now, then), Sizes(target, grown)), is_stored(edge, self.returned)
        shorts = [shortage(*sizes, way, self.beside(way, edge), is_stored=stored) for way in ways]
        return min((one for one in shorts if one is not None), key=_weight, default=None)

    def beside(self, way: MoveWay, edge: EstateEdge) -> tuple[int, int]:
        """Return how many characters a STRING puts next to an item, today and after growing."""
        now = then = way.literals
        if not way.string:
            return 0, 0
        for other, one in self._strung_into(edge.target).get(way.string, ()):
            placed = self._carrying.place(other.source) if other.source != edge.source else None
            if placed is None or other.citations[0].path != edge.citations[0].path:
                continue
            size = size_of(placed.field)
            grown = self.then(other.source, size)
            length = one.sent.length if one.sent is not None else None
            now += length if length is not None else 0 if size is None else size.characters
            then += length if length is not None else 0 if grown is None else grown.characters
        return now, then

    def _strung_into(self, target: NodeId) -> dict[int, list[tuple[EstateEdge, MoveWay]]]:
        """Return what each STRING, by its line, puts into an item."""
        if target not in self._strung:
            found: dict[int, list[tuple[EstateEdge, MoveWay]]] = {}
            self._strung[target] = found
            for edge in self._graph.touching(target):
                if edge.verb == "moves to" and edge.target == target:
                    for way in edge.ways:
                        found.setdefault(way.string, []).append((edge, way))
        return self._strung[target]


def _weight(one: Shortage) -> tuple[bool, bool, int, int]:
    """Return the sort key of what several statements lack: the surest first, of these the one that needs most."""
    size = one.size
    return one.is_cut, not one.is_sure, -(size.bytes if size else 0), -(size.digits if size else 0)
