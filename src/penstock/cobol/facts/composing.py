"""What does a STRING concatenate, piece by piece?

Leaves to others: the target, and what the text is for. Law: every letter comes from the source; the caller decides what
represents data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .resolving import inside, literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .code import ReadStatement


def composed(said: ReadStatement, data: Callable[[str], str]) -> Iterator[str]:
    """Yield the pieces of the text that a STRING composes; nothing if it has no INTO.

    Args:
        said: The statement.
        data: Returns the piece that represents a data name, given in capitals.
    """
    into = said.keys.index("INTO") if "INTO" in said.keys else 0
    at = 1
    while at < into:
        text, kind = said.texts[at], said.kinds[at]
        if said.keys[at] == "DELIMITED":
            at += 3 if said.keys[at + 1] == "BY" else 2
            continue
        if kind == "literal":
            # Trailing blanks count here: they separate it from the next piece.
            yield inside(text) if literal(text) is not None else " "
        elif kind == "word" and said.keys[at] not in {"OF", "IN"}:
            yield data(said.keys[at]) if said.keys[at] not in {"SPACE", "SPACES"} else " "
        elif said.keys[at] in {"OF", "IN"}:
            at += 1
        at += 1
