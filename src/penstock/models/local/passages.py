"""What is quoted? For each of the best places the lines that a person needs to read: a statement and what stands around it.

A passage is consecutive lines of a file: a short definition whole, else the lines about the best one within what it stands in. The
passage that holds most of the question comes first. Laws: passages do not overlap or touch; all lines of one were seen. Keeps out:
what a line weighs (`weighing`), and how it is said (`wording`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.models.local import weighing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.models.local.evidence import Evidence
    from penstock.models.local.question import Term
    from penstock.models.local.weighing import Hit, Scale

MOST = 3
MAX_LINES = 40
_LINES = 13  # of a passage
_WHOLE = 16  # lines of a definition that is quoted whole
_ABOVE = 4  # lines before the best one, and before what it stands in
_LOOKED_AT = 40  # hits
_AS_GOOD = 0.15  # as the best passage, at least


class Passage(NamedTuple):
    """Lines `first` to `last` of a file, quoted for `hit`; `score` orders passages, `covered` is a share of the question."""

    path: str
    first: int
    last: int
    hit: Hit
    score: float
    covered: float


def passages(
    scale: Scale, evidence: Evidence, found: list[Hit], stands_for: Callable[[str], str | None]
) -> list[Passage]:
    """The best of what was seen, the best first. What one says already counts for less in those after it.

    `stands_for` is the name by which a line gives the value that was asked for: what that is comes second.
    """
    open_to = [(hit, *extent(evidence.lines[hit.path], hit.line)) for hit in found[:_LOOKED_AT]]
    chosen: list[Passage] = []
    said: set[Term] = set()
    room = MAX_LINES
    while open_to and len(chosen) < MOST and room > 0:
        weighed = [_weighed(scale, hit, first, last, said) for hit, first, last in open_to]
        best = max(weighed, key=lambda one: one.score)
        if chosen and best.score < _AS_GOOD * chosen[0].score:
            break
        first = max(best.first, best.hit.line - room + 1)
        best = best._replace(first=first, last=min(best.last, first + room - 1))
        said |= scale.terms_in(best.path, best.first, best.last)
        chosen.append(best)
        room -= best.last - best.first + 1
        if len(chosen) == 1:
            said_to_be = _value(evidence.lines[best.path], best, stands_for)
            chosen += said_to_be
            room -= sum(one.last - one.first + 1 for one in said_to_be)
        open_to = [
            (hit, *beside) for hit, first, last in open_to if (beside := _beside(best, hit, first, last)) is not None
        ]
    return _merged(chosen)


def _value(lines: dict[int, str], best: Passage, stands_for: Callable[[str], str | None]) -> list[Passage]:
    """The lines, seen elsewhere in the file, on which a name in the best passage gets its value."""
    for _, line in given_as(lines, best, stands_for):
        if line is not None:
            return [best._replace(first=line, last=_end_of_value(lines, line), score=0.0)]
    return []


def given_as(
    lines: dict[int, str], best: Passage, stands_for: Callable[[str], str | None]
) -> Iterator[tuple[str, int | None]]:
    """The names that stand for a value in a passage, those near its best line first, and where each gets it outside of it.

    A name that is given by another is that other one; a best line that gives a value itself needs none.
    """
    if weighing.is_literal(lines[best.hit.line]):
        return
    for line in sorted(range(best.first, best.last + 1), key=lambda line: abs(line - best.hit.line)):
        name, where, told = stands_for(lines[line]), None, set[str]()
        while name is not None and name not in told:
            told.add(name)
            where = weighing.assignment_of(lines, name)
            other = weighing.only_name(lines[where]) if where is not None else None
            if other is None and (where is None or not best.first <= where <= best.last):
                yield name, where
            name = other


def _end_of_value(lines: dict[int, str], line: int) -> int:
    """Where what begins on a line ends: a list goes on below."""
    end = line
    while weighing.goes_on(lines[end]) and end + 1 in lines and end - line < _ABOVE:
        end += 1
    return end


def _weighed(scale: Scale, hit: Hit, first: int, last: int, said: set[Term]) -> Passage:
    told, covered = scale.weigh_new(hit.path, first, last, said)
    return Passage(hit.path, first, last, hit, told * (1 + hit.worth), covered)


def _beside(quoted: Passage, hit: Hit, first: int, last: int) -> tuple[int, int] | None:
    """What is left of the lines about a hit after others were quoted; None where the hit is among those."""
    if hit.path != quoted.path:
        return first, last
    if quoted.first <= hit.line <= quoted.last:
        return None
    return (max(first, quoted.last + 1), last) if hit.line > quoted.last else (first, min(last, quoted.first - 1))


def _merged(chosen: list[Passage]) -> list[Passage]:
    """Those that touch as one, in the place of the better."""
    made: list[Passage] = []
    for one in chosen:
        touched = [other for other in made if _touch(one, other)]
        if not touched:
            made.append(one)
            continue
        first, last = min(other.first for other in [one, *touched]), max(other.last for other in [one, *touched])
        made[made.index(touched[0])] = touched[0]._replace(first=first, last=last)
        made = [other for other in made if other not in touched[1:]]
    return made


def _touch(one: Passage, other: Passage) -> bool:
    return one.path == other.path and one.first <= other.last + 1 and other.first <= one.last + 1


def extent(lines: dict[int, str], line: int) -> tuple[int, int]:
    """The first and the last of the lines that are quoted for one."""
    begin, end = _bounds(lines, line)
    if end - begin < _WHOLE and weighing.defined_name(lines[begin]) is not None:
        return begin, end
    first = max(begin, line - _ABOVE)
    last = min(end, first + _LINES - 1)
    first = max(begin, min(first, last - _LINES + 1))
    while first < line and not lines[first].strip():
        first += 1
    while last > line and not lines[last].strip():
        last -= 1
    return first, last


def _bounds(lines: dict[int, str], line: int) -> tuple[int, int]:
    """Of what was seen without a gap: the definition that a line begins or stands in, else the lines between definitions."""
    reach = 100
    begin = line
    is_definition = weighing.defined_name(lines[line]) is not None
    indent = weighing.indent_of(lines[line])
    while not is_definition and begin - 1 in lines and line - begin < reach:
        above = lines[begin - 1]
        if above.strip() and weighing.indent_of(above) < indent and weighing.defined_name(above) is not None:
            is_definition, indent = True, weighing.indent_of(above)
        elif above.strip():
            indent = min(indent, weighing.indent_of(above))
        begin -= 1
    end = begin if is_definition else line
    while end + 1 in lines and end - line < reach:
        below = lines[end + 1]
        if (
            below.strip()
            and below.strip()[0] not in ")]}"
            and (weighing.indent_of(below) <= indent if is_definition else weighing.defined_name(below) is not None)
        ):
            break
        end += 1
    while end > line and not lines[end].strip():
        end -= 1
    return begin, end
