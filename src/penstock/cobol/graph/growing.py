"""What do all reports about growing fields look at: the estate, what has grown in it so far, and what was found?

Leaves to others: which fields grow (`growth`), and each kind of report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .carrying import Carrying
    from .consequences import Consequences
    from .estates import EstateGraph
    from .grown_items import GrownItems
    from .uses import Uses

MAX_STEPS = 12
"""The maximum number of moves that are followed from a growing field on, each from one that would have to grow too."""


class GrowingEstate(NamedTuple):
    """An estate in which fields grow."""

    graph: EstateGraph
    carrying: Carrying
    """The places of fields, and the transfers between areas."""
    found: Consequences
    """The reports so far."""
    items: GrownItems
    """The items that have grown so far."""
    uses: Uses
    """The uses of each field."""
