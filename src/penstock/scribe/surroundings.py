"""Who calls, starts and runs a program? As the graph of its estate says, with every name as its source spells it.

Law: the answer for a program does not depend on where it is asked: where a site is made, or by a worker that sees only what
programs call. Leaves to others: which program a name means (`cobol.graph`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.graph import NodeId
from penstock.cobol.program import key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.cobol.graph import EstateEdge, EstateGraph
    from penstock.text.json_access import Json


_CALLS = frozenset({"calls", "starts"})
_LEADING = _CALLS | {"runs"}


class Around(NamedTuple):
    """The names of what calls, starts and runs a program, known only once everything is read."""

    called_by: tuple[str, ...] = ()
    transactions: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


class Surroundings:
    """What surrounds the programs of an estate.

    Args:
        graph: The graph of the estate.
        names: The names of its programs as written, by file and first line.
    """

    def __init__(self, graph: EstateGraph, names: Mapping[tuple[str, int], str]) -> None:
        self._graph = graph
        self._nodes: dict[tuple[str, int], NodeId] = {}
        self._places: dict[NodeId, int] = {}
        self._written: dict[NodeId, str] = {}
        for number, part in enumerate(graph.parts):
            if part.kind == "program":
                node, place = NodeId("program", part.name), (part.path, part.line)
                self._nodes.setdefault(place, node)
                self._places[node] = number
                self._written[node] = names.get(place) or part.own_name
        for job in graph.jobs:
            self._written.setdefault(job.node, job.title)
        for member in graph.members:
            for one in member.resources:
                if one.kind == "TRANSACTION":
                    self._written.setdefault(NodeId("transaction", key(one.name)), one.name)

    def of(self, path: str, line: int) -> Around:
        """Return what calls, starts and runs the program that begins on a line of a file, each name once."""
        node = self._nodes.get((path, line))
        if node is None:
            return Around()
        leading = self._leading_to(node)
        transactions = [edge.source for edge in leading if edge.source.kind == "transaction"]
        steps = [edge.source for edge in leading if edge.source.kind == "step"]
        # What starts a transaction calls the program that the region gives to it.
        calling = [edge for at in (node, *transactions) for edge in self._leading_to(at) if edge.verb in _CALLS]
        callers = [edge.source for edge in calling if edge.source.kind == "program"]
        callers.sort(key=lambda caller: self._places.get(caller, len(self._places)))
        parts = [edge.target for step in steps for edge in self._graph.touching(step) if edge.verb == "part of"]
        jobs = [node for node in parts if node.kind == "job"]  # and not a procedure that none of them runs
        return Around(*(tuple(dict.fromkeys(map(self._name, nodes))) for nodes in (callers, transactions, jobs)))

    def _leading_to(self, node: NodeId) -> list[EstateEdge]:
        """Return the edges that end at a node, without those of a name that means something else there."""
        edges = self._graph.touching(node)
        return [edge for edge in edges if edge.target == node and edge.verb in _LEADING and edge.certainty != "unknown"]

    def _name(self, node: NodeId) -> str:
        """Return the name of a node as written, without what tells it apart from others of its name."""
        return self._written.get(node, node.name)


def situate(document: Json, around: Around) -> None:
    """Put into the document of a program what surrounds it; once is enough, and twice is the same."""
    document["calling_context"] |= {name: list(names) for name, names in around._asdict().items()}
    settle_type(document, around)


def settle_type(document: Json, around: Around) -> None:
    """Set the type in the document of a program, or in its summary: parameters alone only suggest that something calls it.

    A program that declares the PARM of its job in a way of its own looks like one that is called.
    """
    header = document["header"]
    if header["program_type"] == "subroutine" and around.jobs and not around.called_by:
        header |= {"program_type": "batch", "program_type_reason": "a job runs it, and no program calls it"}
