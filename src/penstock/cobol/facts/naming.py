"""Which item does a name mean, given its qualifiers and regardless of case?

Leaves to others: what is done with the items. Law: an ambiguous name means everything that it may mean, up to
`MAX_MEANINGS`, so that no reader or writer is lost.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, NamedTuple

from ..program import hyphened, key
from ..reserved import is_reserved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .data import DataItem, OuterData


MAX_MEANINGS = 32
"""The maximum number of items that a name is assumed to mean; each would add a step to every use of the name."""


QUALIFYING = frozenset({"OF", "IN"})
"""The words before the group or section that a name is in."""


def past_qualifiers(keys: Sequence[str], at: int) -> int:
    """Return the index, among words in capitals, behind the qualifiers that begin at an index: each is OF or IN and a name."""
    while at + 1 < len(keys) and keys[at] in QUALIFYING:
        at += 2
    return at


def qualifiers(keys: Sequence[str], at: int) -> Sequence[str]:
    """Return the names of the qualifiers that begin at an index among words in capitals."""
    return keys[at + 1 : past_qualifiers(keys, at) : 2]


def _moved_behind(size: int, outer: Sequence[OuterData]) -> Iterator[DataItem]:
    """Yield the items of the containing programs, with indexes that follow those of the nested program."""
    for data in outer:
        for item in data.items:
            yield item._replace(record=item.record + size, parent=None if item.parent is None else item.parent + size)
        size += len(data.items)


class Meaning(NamedTuple):
    """A possible meaning of a name: an item, or one of its conditions."""

    item: int
    """An index into the items."""
    condition: int | None = None
    """An index into the conditions of that item; None if the item itself is meant."""


class DataNames:
    """The names of a program's data, and the nesting of its groups.

    `known` has the meanings of each name in capitals, `indexes` the names of INDEXED BY, and `children` the indexes of the items
    directly in each group.
    """

    def __init__(self, items: Sequence[DataItem], outer: Sequence[OuterData] = ()) -> None:
        self.own = len(items)
        """The number of the program's own items; those of the containing programs follow them."""
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
            self.indexes.update(map(key, item.indexes))
        self._take_outer(outer)

    def _take_outer(self, outer: Sequence[OuterData]) -> None:
        """Add the names of GLOBAL records, unless the program itself, or a container nearer to it, declares the same name."""
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

    def take_alike(self, words: Iterable[str]) -> None:
        """Take words in capitals for names that differ from them in - and _ alone, unless they are declared or reserved.

        To ACUCOBOL these two are one character.
        """
        alike = {hyphened(name): meanings for name, meanings in self.known.items()}
        for word in words:
            if word not in self.known and not is_reserved(word) and (meanings := alike.get(hyphened(word))) is not None:
                self.known[word] = meanings

    def naming(self, items: Sequence[DataItem]) -> DataNames:
        """Return the same names for items that differ only in the lines that use them, which names do not depend on."""
        made = copy.copy(self)
        made.items = items
        return made

    def mean(self, name: str, qualifiers: Sequence[str] = ()) -> Sequence[Meaning]:
        """Return the possible meanings of a name; none if it is not declared.

        Args:
            name: The name, in any case.
            qualifiers: The names after OF or IN, from the inside out; groups between them may be omitted.
        """
        found: Sequence[Meaning] = self.known.get(name.upper(), ())
        if len(found) > MAX_MEANINGS:
            found = found[:MAX_MEANINGS]
        if not qualifiers or not found:
            return found
        wanted = [key(qualifier) for qualifier in qualifiers]
        return [meaning for meaning in found if self._within(meaning, wanted)]

    def one(self, text: str) -> int | None:
        """Return the index of the one item that `NAME`, `NAME(subscript)` or `NAME OF GROUP` means; None if none or several."""
        words = text.replace("(", " ( ").split()
        if "(" in words:
            words = words[: words.index("(")]
        if not words:
            return None
        found = {meaning.item for meaning in self.mean(words[0], words[2::2]) if meaning.condition is None}
        return found.pop() if len(found) == 1 else None

    def above(self, index: int) -> list[int]:
        """Return the indexes of the groups that contain an item, from the inside out."""
        found: list[int] = []
        parent = self.items[index].parent
        while parent is not None:
            found.append(parent)
            parent = self.items[parent].parent
        return found

    def qualified(self, index: int) -> str:
        """Return the name of an item with those of the groups around it, as in `ITEM OF GROUP OF RECORD`."""
        above = (self.items[at].name for at in self.above(index))
        return " OF ".join([self.items[index].name, *(name for name in above if key(name) != "FILLER")])

    def below(self, index: int) -> list[int]:
        """Return the indexes of all items in a group, in source order."""
        found: list[int] = []
        stack = [index]
        while stack:
            children = self.children.get(stack.pop(), [])
            found += children
            stack += reversed(children)
        return sorted(found)

    def _within(self, meaning: Meaning, wanted: Sequence[str]) -> bool:
        """Return whether the groups around an item have the wanted names in that order; a record is also within its file."""
        item = self.items[meaning.item]
        names = [key(self.items[above].name) for above in self.above(meaning.item)]
        if meaning.condition is not None:
            names.insert(0, key(item.name))
        if item.file:
            names.append(key(item.file))
        # Each wanted name is looked for after the one before: OF ZIP OF CUSTOMER may omit the groups between them.
        at = 0
        for name in names:
            if at < len(wanted) and name == wanted[at]:
                at += 1
        return at == len(wanted)
