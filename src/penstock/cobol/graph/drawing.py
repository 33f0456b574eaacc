"""Which edges does an estate have, each once?

Leaves to others: which edges there are. Law: edges that say the same are one, in the order in which they were first said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts.data import WHOLE
from .values import RANK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .values import CitedLine, EstateEdge, NodeId, Verb


class Drawing:
    """The edges of an estate as they are found."""

    def __init__(self) -> None:
        self._edges: dict[tuple[NodeId, Verb, NodeId], EstateEdge] = {}
        self._cited: dict[tuple[NodeId, Verb, NodeId], dict[CitedLine, None]] = {}
        """The citations of the edges that were added more than once."""

    def add(self, edge: EstateEdge) -> None:
        """Add an edge; edges that say the same become one, with the better certainty and the citations of both."""
        said = (edge.source, edge.verb, edge.target)
        known = self._edges.setdefault(said, edge)
        if known is edge:
            return
        surer = known if RANK[known.certainty] <= RANK[edge.certainty] else edge
        ways = known.ways
        if ways != edge.ways:
            ways = tuple(dict.fromkeys((*(ways or (WHOLE,)), *(edge.ways or (WHOLE,)))))
        self._edges[said] = surer._replace(ways=ways)
        self._cited.setdefault(said, dict.fromkeys(known.citations)).update(dict.fromkeys(edge.citations))

    def explain(self, source: NodeId, verb: Verb, target: NodeId, why: str) -> None:
        """Say how an edge that was added comes about, unless it says that already."""
        known = self._edges.get((source, verb, target))
        if known is not None and not known.why:
            self._edges[source, verb, target] = known._replace(why=why)

    def of_verb(self, verb: Verb) -> Iterator[EstateEdge]:
        """Yield the edges of a verb so far, with the citations of one saying."""
        return (edge for (_, said, _), edge in self._edges.items() if said == verb)

    def edges(self) -> tuple[EstateEdge, ...]:
        """Return the edges that were added, each once."""
        return tuple(
            edge._replace(citations=tuple(self._cited[said])) if said in self._cited else edge
            for said, edge in self._edges.items()
        )
