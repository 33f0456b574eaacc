"""Which procedures run while a screen is up: the EVENT, BEFORE, AFTER and EXCEPTION PROCEDURE of its controls and windows?

Leaves to others: when they run, which the user decides. Law: every name comes from an entry or a statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .item_clauses import pieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .code import Code
    from .expanding import EntryRow

_WHEN = frozenset({"EVENT", "BEFORE", "AFTER", "EXCEPTION"})
_NOISE = frozenset({"IS", "="})


class EventProcedure(NamedTuple):
    """The first and last paragraph that an event runs, and the line that names them."""

    name: str
    thru: str | None
    line: int
    copybook: str | None


def events(rows: Sequence[EntryRow], code: Code) -> tuple[EventProcedure, ...]:
    """Return the event procedures of the controls that entries and statements define.

    Args:
        rows: The entries, with copybooks in place.
        code: The statements.
    """
    found = [
        EventProcedure(*named, row.line, row.copybook)
        for row in rows
        if row.section == "SCREEN" and "PROCEDURE" in row.code.upper()
        for named in _named(pieces(row.code))
    ]
    found += [
        EventProcedure(*named, said.line, said.copybook)
        for said in code.of("DISPLAY", "MODIFY", "ACCEPT")
        if "PROCEDURE" in said.keys
        for named in _named(said.texts)
    ]
    return tuple(dict.fromkeys(found))


def _named(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the first and last paragraph after `EVENT PROCEDURE IS` and the like; the last is None without THRU."""
    upper = [word.upper() for word in words]
    for at in range(1, len(words) - 1):
        if upper[at] == "PROCEDURE" and upper[at - 1] in _WHEN:
            name = at + 1 + (upper[at + 1] in _NOISE)
            is_ranged = upper[name + 1 : name + 2] in (["THRU"], ["THROUGH"])
            if name < len(words):
                yield words[name], words[name + 2] if is_ranged and name + 2 < len(words) else None
