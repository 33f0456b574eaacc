"""Which units belong together? Ties by control flow and proximity, and bundles that are not separated if they fit.

Law: a tie joins two units, the smaller number first; a bundle is within the size that was asked for.
Leaves to others: how units are put into chunks (`packing`).
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .chunks import Span
    from .packing import BinRoom, PackedItem, Ties
    from .units import Unit, UnitEdge

# The worth of having two units in one chunk. A reader follows PERFORMs; falling through and jumping come next.
_PERFORM = 100
_JUMP = 10
_RUNS_ON = 10
_NEXT = 20  # neighbours of one kind: fewer gaps
_PROGRAM = 5  # divisions of one of several programs
_DATA_RUN = 0.1  # of a chunk: data that stays together, as nothing else ties it


class Reached(NamedTuple):
    """An edge by unit numbers: the calling unit, and the first and last unit that runs."""

    caller: int
    first: int
    last: int
    is_perform: bool

    @property
    def units(self) -> range:
        """Return the numbers of all units that run."""
        return range(self.first, self.last + 1)


def reached(edges: Iterable[UnitEdge], spans: Sequence[Span]) -> list[Reached]:
    """Return the edges by span numbers; edges of lines outside all spans are left out.

    Args:
        edges: What makes what run, by lines.
        spans: First and last line of each unit, or of the part of it that is packed, in order.
    """
    firsts = [first for first, _ in spans]
    made: list[Reached] = []
    for edge in edges:
        caller, first, last = (bisect_right(firsts, line) - 1 for line in (edge.line, edge.first, edge.last))
        if min(caller, first) >= 0 and edge.line <= spans[caller][1] and edge.first <= spans[first][1]:
            made.append(Reached(caller, first, last, edge.is_perform))
    return made


def ties(units: Sequence[Unit], edges: Iterable[Reached]) -> Ties:
    """Return everything that ties two units, with its weight.

    A PERFORM of a range gives each of its paragraphs only a share, so that a range of a hundred does not weigh more than a
    hundred calls; within the range each paragraph is tied to the one before it, because control runs through.
    """
    made: Ties = {}

    def tie(one: int, other: int, weight: int) -> None:
        if one != other:
            pair = (min(one, other), max(one, other))
            made[pair] = made.get(pair, 0) + weight

    for edge in edges:
        share = (_PERFORM if edge.is_perform else _JUMP) // len(edge.units)
        for unit in edge.units if share else ():  # what runs in more units than that fits into no chunk
            tie(edge.caller, unit, share)
            if unit > edge.first:
                tie(unit - 1, unit, share)
    several = len({unit.program for unit in units}) > 1
    for at, (before, after) in enumerate(pairwise(units)):
        if before.program != after.program:
            continue
        if before.kind == after.kind:
            tie(at, at + 1, _NEXT + _RUNS_ON * before.runs_on)
        elif several:
            tie(at, at + 1, _PROGRAM)
    return made


def bundlings(
    units: Sequence[Unit], edges: Sequence[Reached], items: Sequence[PackedItem], room: BinRoom
) -> Iterator[list[int]]:
    """Yield ways to bundle, the coarsest first: for each unit the number of its bundle, bundles numbered in order.

    The ways are: whole programs, if there are several; whole PROCEDURE DIVISIONs; whole sections; what one PERFORM runs, and a
    paragraph with its exit; only runs of data.
    """
    runs = _data_runs(units, items, room)
    programs = _stretches(units, lambda unit: unit.program)
    procedures = _stretches(units, lambda unit: unit.kind == "procedure" and unit.program)
    sections = _stretches(units, lambda unit: unit.section and (unit.program, unit.section))
    ranges = [range(edge.first, edge.last + 1) for edge in edges if edge.is_perform and edge.last > edge.first]
    # `X-EXIT` after `X`: a paragraph that only ends the other one, by a habit as old as PERFORM THRU.
    exits = [
        range(at, at + 2)
        for at, (unit, after) in enumerate(pairwise(units))
        if after.kind == "procedure" and after.name.upper().startswith(f"{unit.name.upper()}-")
    ]
    seen: list[list[int]] = []
    # From whole programs down to nothing: which of them is affordable is only known once it is packed.
    for stretches in (
        [*programs, *procedures, *sections, *ranges],
        [*procedures, *sections, *ranges],
        [*sections, *ranges],
        [*ranges, *exits],
        [],
    ):
        made = _bundled([*stretches, *runs], items, room)
        if made not in seen:
            seen.append(made)
            yield made


def _stretches(units: Sequence[Unit], of: Callable[[Unit], object]) -> list[range]:
    """Return the stretches of consecutive units for which `of` gives the same value; none where that is empty."""
    made: list[range] = []
    start = 0
    names = [of(unit) for unit in units]
    for at in range(1, len(units) + 1):
        if at == len(units) or names[at] != names[start]:
            if names[start]:
                made.append(range(start, at))
            start = at
    return made


def _data_runs(units: Sequence[Unit], items: Sequence[PackedItem], room: BinRoom) -> list[range]:
    made: list[range] = []
    start, size = 0, 0.0
    for at, unit in enumerate(units):
        breaks = unit.kind != units[start].kind or unit.program != units[start].program
        if unit.kind == "procedure" or breaks or size + items[at].size > room.size * _DATA_RUN:
            made.append(range(start, at))
            start, size = at, 0.0
        size += items[at].size
    made.append(range(start, len(units)))
    return [run for run in made if len(run) > 1 and units[run.start].kind != "procedure"]


def _bundled(stretches: Iterable[range], items: Sequence[PackedItem], room: BinRoom) -> list[int]:
    """Return the number of each unit's bundle: the smallest stretches first, each joined with those it overlaps if all fit.

    Small ones come first, because they say most: what one PERFORM runs stays together even if its section is too large.
    """
    of = list(range(len(items)))
    members = {at: [at] for at in of}
    before = [0.0, *accumulate(item.size for item in items)]
    for stretch in sorted(set(stretches), key=lambda stretch: (len(stretch), stretch.start)):
        if not room.holds(before[stretch.stop] - before[stretch.start], 0):
            continue
        touched = sorted({of[at] for at in stretch})
        everything = [at for bundle in touched for at in members[bundle]]
        size = sum(items[at].size for at in everything)
        if len(touched) > 1 and room.holds(size, sum(items[at].answers for at in everything)):
            for bundle in touched[1:]:
                members[touched[0]] += members.pop(bundle)
            for at in everything:
                of[at] = touched[0]
    numbers: dict[int, int] = {}
    return [numbers.setdefault(bundle, len(numbers)) for bundle in of]
