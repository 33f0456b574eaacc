"""Tell which data a nested program has from those around it: records and files that they declare GLOBAL, and of a method all
that the object, or the factory, of its class holds.

Keeps out what is done with it. Law: a program that nothing contains has none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from .expanding import expand
from .layout import layout
from .values import OuterData

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..program import Program
    from ..source import ScannedSource
    from .values import DataItem

_GLOBAL = re.compile(r"\bGLOBAL\b", re.IGNORECASE)


# Kept for the programs of one file, which are asked one after the other: laid out again for each, a program of n others and n items
# would cost n * n. A program is known by its first line, for comparing programs would walk through them.
@lru_cache(maxsize=4)
def _items(
    source: ScannedSource, line: int, find: Callable[[str, str | None], ScannedSource | None]
) -> tuple[DataItem, ...]:
    """Return the items of the program that begins on a line, and that others are within."""
    outer = next(one for one in source.programs if one.start_line == line)
    return layout(expand(source, outer, find).rows).items


def outer_data(
    source: ScannedSource, program: Program, find: Callable[[str, str | None], ScannedSource | None]
) -> tuple[OuterData, ...]:
    """Return the data of the programs around a program, the nearest first; of those alone that share any.

    Args:
        source: The file that was scanned.
        program: One of the programs in it.
        find: The lookup of copybooks.
    """
    found = []
    for outer in programs_around(source, program):
        if outer.kind == "class":
            found += _held(source, outer, program, find)
            continue
        first = min((entry.start for entry in outer.entries), default=0)
        last = max((entry.end for entry in outer.entries), default=0)
        if outer.copies or _GLOBAL.search(source.code, first, last):
            items = _items(source, outer.start_line, find)
            if any(item.shared == "GLOBAL" for item in items):
                found.append(OuterData(outer.name, items))
    return tuple(found)


def _held(
    source: ScannedSource, outer: Program, method: Program, find: Callable[[str, str | None], ScannedSource | None]
) -> list[OuterData]:
    """Return the data of a class that a method of it uses: of OBJECT or of FACTORY, whichever holds the method."""
    lines = [entry.line for entry in outer.entries if entry.word in {"FACTORY", "OBJECT"}]
    begun = max((line for line in lines if line < method.start_line), default=outer.start_line)
    items = _items(source, outer.start_line, find)
    shared = [
        item._replace(shared="GLOBAL") if begun <= item.line < method.start_line or not lines else item
        for item in items
    ]
    return [OuterData(outer.name, tuple(shared))] if shared else []


def programs_around(source: ScannedSource, program: Program) -> list[Program]:
    """Return the programs that contain a program, from the inside out."""
    if program.parent is None:
        return []
    found = [one for one in source.programs if one.start_line < program.start_line and program.end_line <= one.end_line]
    return sorted(found, key=lambda one: -one.start_line)
