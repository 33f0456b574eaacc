"""Which uses of an item are independent of each other, as in a scratch field that is filled twice and read twice?

`MOVE A TO T … MOVE T TO B` and, elsewhere, `MOVE X TO T … MOVE T TO Y` move A to B but never to Y. For each item that receives
values and passes them on, every pair of such statements is examined: can the value that the first stores still be there when the
second begins? Leaves to others: which definitions reach a statement (`reaching`).

Law: two statements are called apart only if no path through the program leads from one to the other with the item unchanged.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from .data import ApartUses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .data import SourcePlace
    from .moving import Flow
    from .reaching import Reaching


_AT_ONCE = 500
"""How many items one pass through the program serves: each pass takes as long as the program is, and each item a bit of it."""
MAX_PAIRS = 10_000
"""The maximum number of pairs of statements examined for one item; an item with more is assumed to have a single use."""


def apart(flows: Iterable[Flow], reaching: Reaching) -> tuple[ApartUses, ...]:
    """Return, for each item, the pairs of statements that fill it and pass it on without a value getting from one to the other.

    Args:
        flows: Each copy of one item to another, statement by statement.
        reaching: The definitions of the program's items.
    """
    into: dict[int, list[Flow]] = {}
    onward: dict[int, list[Flow]] = {}
    for flow in flows:
        into.setdefault(flow.target, []).append(flow)
        onward.setdefault(flow.source, []).append(flow)
    items = [item for item in into if item in onward]
    found = []
    for begin in range(0, len(items), _AT_ONCE):
        some = items[begin : begin + _AT_ONCE]
        alone = reaching.alone(some)
        if not alone.is_known:
            break
        found += [ApartUses(item, _pairs(item, into[item], onward[item], alone)) for item in some]
    return tuple(one for one in found if one.pairs)


def _pairs(
    item: int, into: Sequence[Flow], onward: Sequence[Flow], reaching: Reaching
) -> tuple[tuple[SourcePlace, SourcePlace], ...]:
    """Return the places of the statements that are apart; statements that share a place must all be."""
    found: dict[tuple[SourcePlace, SourcePlace], bool] = {}
    if len(into) * len(onward) > MAX_PAIRS:
        return ()
    for fill, use in product(into, onward):
        stays = reaching.stays(item, fill.site, use.site)
        for pair in product(fill.places, use.places):
            found[pair] = found.get(pair, False) or stays
    return tuple(pair for pair, stays in found.items() if not stays)
