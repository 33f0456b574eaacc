"""Which of several programs with one name does a CALL mean, given which programs contain the caller and the candidates?

A contained program is visible to the program that directly contains it, a COMMON one to everything in that program; programs that
nothing contains are visible to all, and so are methods, by their class. Nearer ones hide others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .program import METHOD

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence


class ProgramPlace(NamedTuple):
    """Where a program is: its file, its name and the programs that contain it."""

    path: str
    name: str
    """The name of a program in capitals."""
    around: tuple[str, ...] = ()
    """The programs that contain a program, in capitals, from the inside out."""
    is_common: bool = False


def meant(places: Sequence[ProgramPlace], caller: ProgramPlace | None) -> list[int]:
    """Return the indexes of the programs that a call by their name may mean; none if it means a program that is not here.

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
    if not place.around or METHOD in place.name:
        return 2 if here else 3
    if caller is None or not here:
        return _UNKNOWN
    chain = (caller.name, *caller.around)
    if place.around == chain:
        return 0
    return 1 if place.is_common and chain[-len(place.around) :] == place.around else _UNKNOWN


def inherited(name: str, here: Container[str], above: Mapping[str, Sequence[str]]) -> str:
    """Return the name of the method that a class has or inherits, or that of the class if no source has the method.

    Args:
        name: `CLASS::METHOD`, or any other name, which is returned as it is.
        here: The available programs and methods, by their names in capitals.
        above: What each class inherits from, by its name in capitals.
    """
    first, colons, method = name.partition(METHOD)
    if not colons:
        return name
    waiting, seen = [first], set()
    while waiting:
        one = waiting.pop(0)
        if f"{one}{METHOD}{method}" in here:
            return f"{one}{METHOD}{method}"
        if one not in seen:
            seen.add(one)
            waiting += above.get(one, ())
    return first
