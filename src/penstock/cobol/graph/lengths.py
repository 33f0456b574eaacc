"""Which lengths stated by a program no longer match a field that grows, in INSPECT and as numbers in CICS commands?

Leaves to others: who states them (`facts.stating`) and what grows (`growth`).

Law: whatever is reported is as long as the field today, or long enough for it, and is not once the field has grown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sizes import size_of
from .values import by_field, less_sure

if TYPE_CHECKING:
    from .consequences import Wave
    from .growing import GrowingEstate
    from .shortages import Sizes
    from .values import ProgramPart


class Lengths:
    """Reports stated lengths that no longer match.

    Args:
        estate: The estate in which fields grow.
    """

    def __init__(self, estate: GrowingEstate) -> None:
        self._carrying, self._found = estate.carrying, estate.found
        self._of = by_field(estate.graph.parts, lambda part: part.lengths)

    def tell(self, part: ProgramPart, at: int, sizes: Sizes, wave: Wave) -> None:
        """Report the lengths stated for a field, or for a group that contains it.

        Args:
            part: The program.
            at: The index of the field.
            sizes: How much it holds today, and after growing.
            wave: How it comes to grow.
        """
        node, (now, then) = part.fields[at].node, (size.bytes for size in sizes)
        for one in self._of.get((id(part), at), ()):
            said = one.said
            if said.by == "CICS":
                # A number that was too low already moved only a part; one that is high enough still has room.
                if now <= said.characters < then:
                    why = f"a CICS command states its length as a number: {said.text}"
                    sure = less_sure(wave.certainty, "is" if said.is_sure else "may")
                    lengths = (said.characters, then)
                    self._found.add("length", node, lengths, wave.steps, why, one.citations, sure)
                continue
            placed = None if one.other is None else self._carrying.place(one.other)
            size = None if placed is None else size_of(placed.field)
            length = said.characters if one.other is None else None if size is None else size.bytes
            if length == now != then:
                told = one.other or node
                text = said.text if one.other is None else str(node)
                why = f"INSPECT replaces one by the other: it and {text} have the same length today"
                self._found.add("unequal", told, (length, then), wave.steps, why, one.citations, wave.certainty)
