"""Which comparisons and values no longer work for a field that grows: a shorter operand, or today's highest value?

`IF A = B` is never true for the longer values if B has no room for them; `88 VALID VALUE 1 THRU 9999` covers every value of
four digits, but not of six. Leaves to others: who compares (`facts.comparing`) and what grows (`growth`).

Law: whatever is reported is long enough today, or is the highest value that the field can have today.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..facts.code import clipped
from ..facts.resolving import inside
from ..program import number
from .shortages import Sizes, shortage
from .sizes import size_of
from .values import NodeId, by_field

if TYPE_CHECKING:
    from .consequences import Wave
    from .growing import GrowingEstate
    from .values import CitedLine, ComparedField, ProgramPart

_RANGE = re.compile(r"\s+(?:THRU|THROUGH)\s+", re.IGNORECASE)
_HIGHEST = re.compile(r"9+|Z+|z+")
_MAX_TEXT = 40


class Comparisons:
    """Reports what fields are compared with.

    Args:
        estate: The estate in which fields grow.
    """

    def __init__(self, estate: GrowingEstate) -> None:
        self._carrying, self._found = estate.carrying, estate.found
        self._of = by_field(estate.graph.parts, lambda part: part.compared)

    def tell(self, part: ProgramPart, at: int, sizes: Sizes, wave: Wave) -> None:
        """Report the comparisons of a field, or of a group that contains it, that no longer work.

        Args:
            part: The program.
            at: The index of the field.
            sizes: How much it holds today, and after growing.
            wave: How it comes to grow.
        """
        highest: dict[str, list[CitedLine]] = {}
        is_range = False
        for one in self._of.get((id(part), at), ()):
            if one.other is not None:
                self._shorter(part.fields[at].node, one, sizes, wave)
            elif _is_highest(one.literal, sizes):
                highest.setdefault(one.literal, []).extend(one.citations)
                is_range = is_range or _RANGE.search(one.literal) is not None
        if highest:
            texts = ", ".join(clipped(text, _MAX_TEXT) for text in highest)
            why = f"{texts}: no value is above it today, but some will be"
            cited = [place for places in highest.values() for place in places]
            node, length = part.fields[at].node, part.fields[at].bytes
            self._found.add(
                "value", node, (length, None), wave.steps, why, cited, wave.certainty if is_range else "may"
            )

    def tell_shifted(self, part: ProgramPart, at: int, sender: NodeId, wave: Wave) -> None:
        """Report the comparisons of a text in which the characters of a growing item shift.

        Args:
            part: The program.
            at: The index of the text.
            sender: The growing item, which is sent there.
            wave: How the sender comes to grow.
        """
        node = part.fields[at].node
        for one in self._of.get((id(part), at), ()):
            placed = None if one.other is None else self._carrying.place(one.other)
            if placed is not None and one.other is not None and one.other != sender:
                why = f"{node} is compared with it, where what {sender} sends will be at another position"
                lengths = (placed.field.bytes, None)
                self._found.add("compared", one.other, lengths, wave.steps + 1, why, one.citations, "may")

    def _shorter(self, node: NodeId, one: ComparedField, sizes: Sizes, wave: Wave) -> None:
        """Report an item that a field is compared with if it has no room for the longer values."""
        placed = None if one.other is None else self._carrying.place(one.other)
        size = None if placed is None else size_of(placed.field)
        if placed is None or one.other is None or size is None:
            return
        short = shortage(sizes, Sizes.of_unchanged(size))
        if short is not None and not short.is_cut and short.size is not None:
            why = f"{node} is compared with it"
            lengths = (size.bytes, short.size.bytes)
            digits = (size.digits, short.size.digits) if size.is_number else (None, None)
            self._found.add("compared", one.other, lengths, wave.steps + 1, why, one.citations, "may", digits)


def _is_highest(literal: str, sizes: Sizes) -> bool:
    """Return whether no value of an item exceeds a literal, or the end of a range, today, but some do after growing."""
    size, then = sizes
    end = _RANGE.split(literal.strip())[-1]
    if end[-1:] in "'\"" and len(end) > 1:
        text = inside(end)
        return end[0] not in "Xx" and len(text) == size.characters and _HIGHEST.fullmatch(text) is not None
    figures = end.lstrip("+-").partition(".")[0].partition(",")[0]
    # `A < 10000` is true of all four-digit values, as `A <= 9999` is.
    limit = number(figures) if size.kind == "number" else None
    return limit is not None and 10**size.digits - 1 <= limit < 10**then.digits
