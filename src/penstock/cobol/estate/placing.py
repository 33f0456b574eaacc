"""How is a copybook written that is generated from another source, so that each entry is on the line that describes it?

What is cited of a program that copies it is then a line of that source. Law: entries keep their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


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
