"""How does a prompt say what it shows of a program? The few sentences around outline, data and source.

Leaves to others: what is shown, and the instructions to the model, which are the scribe's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTLINE = "Outline (name: lines; * is in the source below):"
DATA = "Data items that the source below refers to:"
SOURCE = "Source (line|text; ... stands for lines that are not shown):"
WHOLE = "Source (line|text), complete:"
GAP = "..."


_NAMED = 3  # programs of a file that its first line names


def program(names: Sequence[str], lines: int) -> str:
    """Return the first line: what this is, and how long."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"COBOL program {', '.join(names[:_NAMED]) or '(without a name)'}{more}, {lines} lines"


def row(depth: int, name: str, first: int, last: int, *, is_shown: bool) -> str:
    """Return the row of one name of the outline."""
    return f"{'  ' * depth}{name}: {first}-{last}{' *' if is_shown else ''}"


def rows_left_out(left_out: int, total: int) -> str:
    """Return the note on what of the outline did not fit."""
    return f"({left_out} of {total} names are not shown)"


def items_left_out(left_out: int) -> str:
    """Return the note on what of the data did not fit."""
    return f"({left_out} more data items are not shown)"


def copybook(name: str, line: int, text: str) -> str:
    """Return a line of a copybook, marked so that it is not taken for one of the program."""
    return f"{name}:{line}|{text}"
