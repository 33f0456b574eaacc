"""How much too short is an item for what a statement sends it: all or part of another item, to all or part of it?

Leaves to others: sizes (`sizes`), and which item is sent to which (the graph). Law: as many characters as before are not a
shortage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..facts.data import WHOLE
from .sizes import Bytes, Fitted, fitted, fitted_behind_point, grows_behind_point, length_of, longer, text

if TYPE_CHECKING:
    from ..facts.data import MoveWay
    from .sizes import Size


class Shortage(NamedTuple):
    """What an item lacks to receive another one."""

    size: Size | None
    """The size that the item would need; None if only a part of it is too short."""
    is_sure: bool
    """Whether the lengths alone say that it is too short."""
    is_cut: bool
    """Whether the item already takes only a part today."""


class Sizes(NamedTuple):
    """How much something holds today, and after growing."""

    now: Size
    then: Size

    @classmethod
    def of_unchanged(cls, size: Size) -> Sizes:
        """Return the sizes of something that does not grow."""
        return cls(size, size)


def shortage(
    sent: Sizes, taken: Sizes, way: MoveWay = WHOLE, beside: tuple[int, int] = (0, 0), *, is_stored: bool = False
) -> Shortage | None:
    """Return what an item lacks; None if it lacks nothing.

    Args:
        sent: The item that is sent.
        taken: The item that receives it.
        way: How much of the one is sent to how much of the other.
        beside: How many characters the same statement puts next to it, today and after growing.
        is_stored: Whether bytes are transferred as stored, rather than by the rules of MOVE.
    """
    (now, then), (target, grown) = sent, taken
    is_sure = not way.is_piece
    if way.sent is not None:
        if way.sent.length is not None:
            return None  # as many characters as before
        is_sure = is_sure and way.sent.is_open and way.sent.start is not None
        before = (way.sent.start or 1) - 1
        now, then = (text(Bytes(max(0, one.bytes - before))) for one in (now, then))
    if way.function == "length":
        now, then = length_of(now), length_of(then)
    if way.string:
        now, then = (text(Bytes(one.characters + more)) for one, more in zip((now, then), beside, strict=True))
    if way.taken is not None:
        length, more = way.taken.length, 0
        if length is None:
            is_sure = is_sure and way.taken.is_open and way.taken.start is not None
            more = grown.bytes - target.bytes
            # If data says how much it takes, it is taken to be as much as is sent today.
            length = max(0, target.bytes - (way.taken.start or 1) + 1) if way.taken.is_open else now.characters
        target, grown = text(Bytes(length)), text(Bytes(length + more))
    found = fitted(grown, then, is_stored=is_stored)
    is_cut = found is not None and fitted(target, now, is_stored=is_stored) is not None
    if grows_behind_point(now, then) and grown.is_number:
        if found is None and not is_stored:
            found = fitted_behind_point(grown, then)
            is_cut = now.decimals > target.decimals
        elif found is not None and is_stored:
            found = Fitted(longer(grown, Bytes(found.size.bytes - grown.bytes), behind_point=True), found.is_sure)
    if found is None:
        return None
    return Shortage(found.size if way.taken is None else None, is_sure and found.is_sure, is_cut)
