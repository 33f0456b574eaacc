"""What is in the data dictionary of an estate? Every data name, with its declarations and the programs that have it.

A name is one term however often it is declared: a reader wants to see that two programs mean different things by it. The values of
each field are listed once, in the order in which they are found. Law: programs in the same order give the same terms.
Leaves to others: how a term is shown (`index`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.program import key
from penstock.scribe.pages.columns import condition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.text.json_access import Json


class Naming(NamedTuple):
    """One declaration of a name: its type, its size, what its values mean, and where it is copied from."""

    name: str
    declared: str
    bytes: int | None
    conditions: tuple[str, ...]
    copybook: tuple[str, str | None, int | None] | None
    """The copybook's name, path and line; None for an item of the program itself."""


def used_name(item: Json) -> str:
    """Return the name by which an item is used: its own, of a FILLER that of its first condition, or "" for none."""
    name: str = item["name"]
    if name.upper() == "FILLER":
        name = item["conditions"][0]["name"] if item["conditions"] else ""
    return name


def namings_of(document: Json) -> list[Naming]:
    """Return each name that a document declares, in order."""
    paths = {key(used["copybook_name"]): used["path"] for used in document["copybooks_used"]}
    return [
        Naming(
            name,
            " ".join(filter(None, (item["picture"], item["usage"] if item["usage"] != "DISPLAY" else None))),
            item["bytes"],
            tuple(map(condition, item["conditions"])),
            (book, paths.get(key(book)), item["copybook_line"]) if (book := item["copybook"]) else None,
        )
        for item in document["data_items"]
        if (name := used_name(item))
    ]


class _Term:
    """What is known about a name so far; dictionaries serve as ordered sets."""

    __slots__ = ("bytes", "conditions", "copybooks", "declared", "name", "programs")

    def __init__(self, name: str) -> None:
        self.name = name
        self.declared: dict[str, None] = {}
        self.bytes: dict[int, None] = {}
        self.conditions: dict[str, None] = {}
        self.copybooks: dict[tuple[str, str | None, int | None], None] = {}
        self.programs: dict[str, None] = {}


# The keys of a copybook's declaration in `index.json`.
_OF_DECLARATION = ("copybook", "path", "line")


class Terms:
    """The names of an estate, taken program by program."""

    def __init__(self) -> None:
        self._found: dict[str, _Term] = {}

    def add(self, page: str, namings: Iterable[Naming]) -> None:
        """Add what the program of a page declares."""
        for one in namings:
            term = self._found.get(one.name.upper()) or self._new(one.name)
            if one.declared:
                term.declared[one.declared] = None
            if one.bytes is not None:
                term.bytes[one.bytes] = None
            for said in one.conditions:
                term.conditions[said] = None
            if one.copybook:
                term.copybooks[one.copybook] = None
            term.programs[page] = None

    def _new(self, name: str) -> _Term:
        made = self._found[name.upper()] = _Term(name)
        return made

    def listed(self) -> list[dict[str, Json]]:
        """Return all terms by name, as `index.json` has them."""
        return [
            {
                "name": term.name,
                "declared": list(term.declared),
                "bytes": list(term.bytes),
                "conditions": list(term.conditions),
                "copybooks": [dict(zip(_OF_DECLARATION, one, strict=True)) for one in term.copybooks],
                "programs": list(term.programs),
            }
            for _, term in sorted(self._found.items())
        ]
