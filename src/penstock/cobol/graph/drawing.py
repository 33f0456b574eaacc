"""Which edges does an estate have, each once?

Leaves to others: which edges there are. Law: edges that say the same are one, in the order in which they were first said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts.data import WHOLE
from .values import RANK

if TYPE_CHECKING:
    from .values import EstateEdge, NodeId, Verb


class Drawing:
    """The edges of an estate as they are found."""

    def __init__(self) -> None:
        self._edges: dict[tuple[NodeId, Verb, NodeId], EstateEdge] = {}

    def add(self, edge: EstateEdge) -> None:
        """Add an edge; edges that say the same become one, with the better certainty and the citations of both."""
        said = (edge.source, edge.verb, edge.target)
        known = self._edges.get(said)
        if known is None:
            self._edges[said] = edge
            return
        surer = known if RANK[known.certainty] <= RANK[edge.certainty] else edge
        citations = known.citations + tuple(one for one in edge.citations if one not in known.citations)
        ways = known.ways
        if ways != edge.ways:
            ways = tuple(dict.fromkeys((*(ways or (WHOLE,)), *(edge.ways or (WHOLE,)))))
        self._edges[said] = surer._replace(citations=citations, ways=ways)

    def edges(self) -> tuple[EstateEdge, ...]:
        """Return the edges that were added, each once."""
        return tuple(self._edges.values())
