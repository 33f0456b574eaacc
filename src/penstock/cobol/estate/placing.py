"""On which line is a place of a text, and how is a copybook written whose entries are on the lines of what they are generated from?

What is cited of a program that copies it is then a line of that source. Law: entries keep their order.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def line_in(text: str) -> Callable[[int], int]:
    """Return a function that returns the line of a text, from 1, that an offset is on."""
    ends = [found.start() for found in re.finditer("\n", text)]
    return lambda at: bisect_left(ends, at) + 1


def placed(entries: Iterable[tuple[int, str]]) -> str:
    """Return COBOL in free format with each entry on its line, counted from 1.

    An entry whose line is before that of the preceding entry is on the preceding entry's line.
    """
    lines: list[list[str]] = []
    for line, entry in entries:
        while len(lines) < line:
            lines.append([])
        lines[-1].append(entry)
    return "".join(" ".join(line) + "\n" for line in lines)
