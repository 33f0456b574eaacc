"""Which programs are nearly copies of each other, and where do they differ?

A sketch of each program is kept: the smallest hashes of its lines in groups of three, without comments, blanks and its own name
(bottom-k sketches: Cohen and Kaplan 2007). The share of hashes that two sketches have in common is about the share of common lines.
Law: a program that differs from another only in its name is its copy; equal programs give equal sketches in any run.
Leaves to others: how lines are read.
"""

from __future__ import annotations

import re
import zlib
from bisect import insort
from difflib import SequenceMatcher
from itertools import compress, count
from operator import ne
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Listing: TypeAlias = Sequence[tuple[int, str]]

SKETCH = 64
"""The most hashes of a sketch: a share is right within some 6 points in 2 of 3 cases, which tells a copy from a stranger."""
LEAST_LINES = 30
"""The fewest lines of a program that is compared: shorter ones look alike without being copies."""
ALIKE = 0.6
"""The share of common lines from which two programs are called near-copies."""
MOST_COPIES = 8
"""The most near-copies that a program's page lists; an estate may hold hundreds of one origin."""
MOST_HUNKS = 200
_NEIGHBOURS = 24
_ONE_OF = 4
"""One in so many hashes is looked up. Chosen by its value, so that it is looked up in every sketch that has it."""
_UNCOUNTED = frozenset({"", "*", "/"})
"""The first characters of a line that is blank or a comment."""
_IN_NAME = re.compile(r"[\w-]")


class ComparedLines(NamedTuple):
    """The lines of a program that are compared with another's, without comments and blank lines; the two are in step."""

    lines: list[tuple[int, str]]
    """As they are in the source, numbered."""
    told: list[str]
    """As they are compared: in capitals, blanks folded, the program's own name replaced."""


def compared(program: str, listing: Listing) -> ComparedLines:
    """Return the lines of a program as they are compared."""
    name = program.upper()
    # All lines are put in capitals at once: no letter's capital is an end of line, and no line contains one.
    capitals = "\n".join([line for _, line in listing]).upper().split("\n")
    folded = list(map(" ".join, map(str.split, capitals)))
    counts = [line[:1] not in _UNCOUNTED for line in folded]
    told = list(compress(folded, counts))
    if name:
        told = [_without(name, line) if name in line else line for line in told]
    return ComparedLines(list(compress(listing, counts)), told)


def sketch_of(lines: ComparedLines) -> tuple[int, ...]:
    """Return the sketch of a program; empty if it is too short to be compared."""
    if len(lines.told) < LEAST_LINES:
        return ()
    told = list(map(str.encode, lines.told))
    hashes = set(map(zlib.crc32, map(b"\n".join, zip(told, told[1:], told[2:], strict=False))))
    return tuple(sorted(hashes)[:SKETCH])


def _without(name: str, line: str) -> str:
    """Return a line with a star for each standalone occurrence of a name; compiling a pattern per name takes longer."""
    parts: list[str] = []
    done, at = 0, line.find(name)
    while at >= 0:
        end = at + len(name)
        is_alone = _IN_NAME.match(line[at - 1 : at]) is None and _IN_NAME.match(line, end) is None
        parts += (line[done:at], "*" if is_alone else name)
        done, at = end, line.find(name, end)
    return "".join((*parts, line[done:]))


class NearCopy(NamedTuple):
    """A near-copy of a program: its page, and about which share of the lines they have in common."""

    page: str
    share: float


def near_copies(sketches: Mapping[str, Sequence[int]]) -> dict[str, list[NearCopy]]:
    """Return the near-copies of each program that has some, the nearest first, by the ids of their pages.

    A program with more than `MOST_COPIES` keeps one more, so that a list can say that there are more.
    """
    # Programs that share a hash are compared, each only with those just before it: each of hundreds of one origin finds some, and
    # time and memory stay linear.
    holders: dict[int, list[str]] = {}
    found: dict[str, list[NearCopy]] = {}
    for page, sketch in sketches.items():
        own, candidates = frozenset(sketch), dict[str, None]()
        for each in sketch:
            if each % _ONE_OF == 0:
                known = holders.setdefault(each, [])
                candidates.update(dict.fromkeys(known[-_NEIGHBOURS:]))
                known.append(page)
        for other in candidates:
            share = _share(own, sketches[other])
            if share >= ALIKE:
                _add(found.setdefault(other, []), NearCopy(page, share))
                _add(found.setdefault(page, []), NearCopy(other, share))
    return found


def _add(nearest: list[NearCopy], copy: NearCopy) -> None:
    """Insert a copy in its place among the nearest; the farthest is dropped if there are too many."""
    insort(nearest, copy, key=lambda one: (-one.share, one.page))
    del nearest[MOST_COPIES + 1 :]


def _share(one: frozenset[int], other: Sequence[int]) -> float:
    """Return the share of common hashes among the smallest of both; 0 if it cannot reach `ALIKE`."""
    common = one.intersection(other)
    if len(common) < ALIKE * max(len(one), len(other)):
        return 0.0
    smallest = sorted(one.union(other))[:SKETCH]
    return len(common.intersection(smallest)) / len(smallest)


class Hunk(NamedTuple):
    """A place where two programs differ: the numbered lines that only one has, and those that only the other has."""

    here: tuple[tuple[int, str], ...]
    there: tuple[tuple[int, str], ...]


def differences(here: ComparedLines, there: ComparedLines) -> list[Hunk]:
    """Return where two programs differ, in the order of the first; comments, blanks and their own names are ignored."""
    a, b = here.told, there.told
    # What is equal at both ends need not be compared: most copies differ in few places.
    first = _common(a, b)
    last = _common(a[first:][::-1], b[first:][::-1])
    matcher = SequenceMatcher(None, a[first : len(a) - last], b[first : len(b) - last])
    return [
        Hunk(_shown(here, first + i, first + j), _shown(there, first + k, first + m))
        for tag, i, j, k, m in matcher.get_opcodes()
        if tag != "equal"
    ]


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Return how many lines at the beginning of both are equal."""
    return next(compress(count(), map(ne, a, b)), min(len(a), len(b)))


def _shown(lines: ComparedLines, start: int, end: int) -> tuple[tuple[int, str], ...]:
    return tuple([(number, text.strip()) for number, text in lines.lines[start:end]])
