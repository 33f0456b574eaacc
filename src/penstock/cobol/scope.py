"""Tell which of several programs of one name a CALL means, by where the caller and they are contained.

A contained program is known to the program that directly contains it, a COMMON one to all that this contains; programs that
nothing contains are known to everybody. Nearer ones hide others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class ProgramPlace(NamedTuple):
    """Where a program stands."""

    path: str
    name: str
    """The name of a program in capitals."""
    around: tuple[str, ...] = ()
    """The programs that contain a program, in capitals, from the inside out."""
    is_common: bool = False


def meant(places: Sequence[ProgramPlace], caller: ProgramPlace | None) -> list[int]:
    """Return the indexes of the programs that a call by their name may mean; none where it means a program that is not here.

    Args:
        places: Programs that have the name that is called.
        caller: The program that calls; None for a job or a transaction.
    """
    ranks = [_rank(place, caller) for place in places]
    best = min(ranks, default=_UNKNOWN)
    return [index for index, rank in enumerate(ranks) if rank == best] if best < _UNKNOWN else []


_UNKNOWN = 4


def _rank(place: ProgramPlace, caller: ProgramPlace | None) -> int:
    """Return how near a program is to its caller: 0 contained in it, 1 COMMON around it, 2 in its file, 3 anywhere."""
    here = caller is not None and caller.path == place.path
    if not place.around:
        return 2 if here else 3
    if caller is None or not here:
        return _UNKNOWN
    chain = (caller.name, *caller.around)
    if place.around == chain:
        return 0
    return 1 if place.is_common and chain[-len(place.around) :] == place.around else _UNKNOWN
