"""How much of one item does an edge bring to another, and how is the edge put into words?

Leaves to others: whether the other item has room for it (`grown_items`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..facts.data import WHOLE, MoveWay

if TYPE_CHECKING:
    from .values import EstateEdge, NodeId

_WHOLE = frozenset({WHOLE, MoveWay(function="characters"), MoveWay(function="reversed")})


def ways_of(edge: EstateEdge) -> tuple[MoveWay, ...]:
    """Return how much of an item each statement of an edge moves."""
    return edge.ways or (WHOLE,)


def is_whole(edge: EstateEdge) -> bool:
    """Return whether some statement of an edge moves all of an item and nothing else with it."""
    return edge.verb == "moves to" and any(one in _WHOLE for one in ways_of(edge))


def is_stored(edge: EstateEdge, returned: set[str]) -> bool:
    """Return whether an edge transfers bytes as stored, rather than by the rules of MOVE.

    Args:
        edge: The edge.
        returned: The names of the items that programs return with RETURNING, by value.
    """
    return edge.verb == "carried to" or (edge.verb == "passes to" and edge.source.name not in returned)


def receiver_of(node: NodeId, edge: EstateEdge, returned: set[str]) -> NodeId | None:
    """Return what receives the bytes of a field by an edge; None if nothing does.

    Both sides of a parameter share its storage, so what grows in the called program is too long for the caller.

    Args:
        node: The field.
        edge: An edge that touches it.
        returned: The names of the items that programs return with RETURNING: these receive nothing back.
    """
    counts = edge.verb == "computes" and any(one.function == "length" for one in edge.ways)
    if edge.source == node and (edge.verb in {"moves to", "passes to", "carried to"} or counts):
        return edge.target
    is_back = edge.verb == "passes to" and edge.target == node and edge.source.name not in returned
    return edge.source if is_back else None


def in_words(edge: EstateEdge, grown: NodeId) -> str:
    """Return an edge in words about the end that did not grow, which is called `it`."""
    if edge.verb == "computes":
        return f"the length of {edge.source} goes to it"
    verb = f"is {edge.verb}" if edge.verb == "carried to" else edge.verb
    return f"{edge.source} {verb} it" if edge.source == grown else f"it {verb} {edge.target}, which gets longer"
