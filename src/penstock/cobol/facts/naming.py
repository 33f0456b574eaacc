"""Which item does a name mean: names with their qualifiers, compared case-insensitively?

Leaves to others: what is done with the items. Law: an ambiguous name means everything that it may mean, up to
`MAX_MEANINGS`, so that no reader or writer is lost.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, NamedTuple

from ..program import key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .values import DataItem, OuterData


MAX_MEANINGS = 32
"""How many items one name is taken to mean; more would make every use of it cost as many steps."""


def _moved_behind(size: int, outer: Sequence[OuterData]) -> Iterator[DataItem]:
    """Yield the items of the programs around one, their indexes behind its own."""
    for data in outer:
        for item in data.items:
            yield item._replace(record=item.record + size, parent=None if item.parent is None else item.parent + size)
        size += len(data.items)


class Meaning(NamedTuple):
    """What a name may mean: an item, and which of its conditions where a level 88 was named."""

    item: int
    """An index into the items."""
    condition: int | None = None
    """An index into the conditions of that item; None where the item itself is meant."""


class DataNames:
    """The names of a program's data, and what holds what.

    `known` gives the meanings of each name in capitals, `indexes` the names of INDEXED BY, `children` the indexes of
    what each group holds directly.
    """

    def __init__(self, items: Sequence[DataItem], outer: Sequence[OuterData] = ()) -> None:
        self.own = len(items)
        """How many items are the program's own; behind them stand those of the programs around it."""
        self.items: Sequence[DataItem] = (*items, *_moved_behind(len(items), outer)) if outer else items
        self.known: dict[str, list[Meaning]] = {}
        self.indexes: set[str] = set()
        self.children: dict[int, list[int]] = {}
        for index, item in enumerate(self.items):
            if item.parent is not None:
                self.children.setdefault(item.parent, []).append(index)
            if index >= self.own:
                continue
            if item.name != "FILLER":
                self.known.setdefault(key(item.name), []).append(Meaning(index))
            for number, condition in enumerate(item.conditions):
                self.known.setdefault(key(condition.name), []).append(Meaning(index, number))
            self.indexes.update(key(name) for name in item.indexes)
        self._take_outer(outer)

    def _take_outer(self, outer: Sequence[OuterData]) -> None:
        """Take the names of GLOBAL records: of those that the program declares itself, or one nearer to it, it means that."""
        start = self.own
        for data in outer:
            found: dict[str, list[Meaning]] = {}
            for index in range(start, start + len(data.items)):
                item = self.items[index]
                if self.items[item.record].shared != "GLOBAL":
                    continue
                if item.name != "FILLER":
                    found.setdefault(key(item.name), []).append(Meaning(index))
                for number, condition in enumerate(item.conditions):
                    found.setdefault(key(condition.name), []).append(Meaning(index, number))
                self.indexes.update(key(name) for name in item.indexes)
            for name, meanings in found.items():
                self.known.setdefault(name, meanings)
            start += len(data.items)

    def naming(self, items: Sequence[DataItem]) -> DataNames:
        """Return the same names for items that differ in nothing that a name depends on: in the lines that use them."""
        made = copy.copy(self)
        made.items = items
        return made

    def mean(self, name: str, qualifiers: Sequence[str] = ()) -> Sequence[Meaning]:
        """Return what a name may mean; nothing where it is not declared.

        Args:
            name: The name, in any case.
            qualifiers: The names behind OF or IN, from the inside out; groups between them may be left out.
        """
        found: Sequence[Meaning] = self.known.get(name.upper(), ())
        if len(found) > MAX_MEANINGS:
            found = found[:MAX_MEANINGS]
        if not qualifiers or not found:
            return found
        wanted = [key(qualifier) for qualifier in qualifiers]
        return [meaning for meaning in found if self._within(meaning, wanted)]

    def one(self, text: str) -> int | None:
        """Return the index of the item that `NAME`, `NAME(subscript)` or `NAME OF GROUP` names; None where it is none
        or ambiguous.
        """
        words = text.replace("(", " ( ").split()
        if "(" in words:
            words = words[: words.index("(")]
        if not words:
            return None
        found = {meaning.item for meaning in self.mean(words[0], words[2::2]) if meaning.condition is None}
        return found.pop() if len(found) == 1 else None

    def above(self, index: int) -> list[int]:
        """Return the indexes of the groups that hold an item, from the inside out."""
        found: list[int] = []
        parent = self.items[index].parent
        while parent is not None:
            found.append(parent)
            parent = self.items[parent].parent
        return found

    def below(self, index: int) -> list[int]:
        """Return the indexes of everything that a group holds, in order of the source."""
        found: list[int] = []
        stack = [index]
        while stack:
            children = self.children.get(stack.pop(), [])
            found += children
            stack += reversed(children)
        return sorted(found)

    def _within(self, meaning: Meaning, wanted: Sequence[str]) -> bool:
        """Return whether the groups around an item have the wanted names in that order; a record is also within its
        file.
        """
        item = self.items[meaning.item]
        names = [key(self.items[above].name) for above in self.above(meaning.item)]
        if meaning.condition is not None:
            names.insert(0, key(item.name))
        if item.file:
            names.append(key(item.file))
        # Each wanted name is looked for behind the one before: OF ZIP OF CUSTOMER may leave out what lies between
        # them.
        at = 0
        for name in names:
            if at < len(wanted) and name == wanted[at]:
                at += 1
        return at == len(wanted)
