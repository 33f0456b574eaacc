"""Which item does a name mean? Names with their qualifiers, compared case-blind.

Keeps out: what is done with the items. Law: a name that is ambiguous means all that it may mean, up to `MAX_MEANINGS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..program import key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .values import DataItem


MAX_MEANINGS = 32


class Meaning(NamedTuple):
    """An item, and which of its conditions where a level 88 was named."""

    item: int
    condition: int | None = None


class DataNames:
    """The names of a program's data, and what holds what."""

    def __init__(self, items: Sequence[DataItem]) -> None:
        self.items = items
        self.known: dict[str, list[Meaning]] = {}
        self.indexes: set[str] = set()
        self.children: dict[int, list[int]] = {}
        for index, item in enumerate(items):
            if item.name != "FILLER":
                self.known.setdefault(key(item.name), []).append(Meaning(index))
            for number, condition in enumerate(item.conditions):
                self.known.setdefault(key(condition.name), []).append(Meaning(index, number))
            self.indexes.update(key(name) for name in item.indexes)
            if item.parent is not None:
                self.children.setdefault(item.parent, []).append(index)

    def mean(self, name: str, qualifiers: Sequence[str] = ()) -> list[Meaning]:
        """What `name OF qualifiers` may mean; nothing where it is not declared."""
        found = self.known.get(key(name), [])[:MAX_MEANINGS]
        if not qualifiers or not found:
            return found
        wanted = [key(qualifier) for qualifier in qualifiers]
        return [meaning for meaning in found if self._within(meaning, wanted)]

    def one(self, text: str) -> int | None:
        """The item that `NAME`, `NAME(subscript)` or `NAME OF GROUP` names, where it is one."""
        words = text.replace("(", " ( ").split()
        if "(" in words:
            words = words[: words.index("(")]
        if not words:
            return None
        found = {meaning.item for meaning in self.mean(words[0], words[2::2]) if meaning.condition is None}
        return found.pop() if len(found) == 1 else None

    def above(self, index: int) -> list[int]:
        """The groups that hold an item, from the inside out."""
        found: list[int] = []
        parent = self.items[index].parent
        while parent is not None:
            found.append(parent)
            parent = self.items[parent].parent
        return found

    def below(self, index: int) -> list[int]:
        """Everything that a group holds, in order."""
        found: list[int] = []
        stack = [index]
        while stack:
            children = self.children.get(stack.pop(), [])
            found += children
            stack += reversed(children)
        return sorted(found)

    def _within(self, meaning: Meaning, wanted: Sequence[str]) -> bool:
        item = self.items[meaning.item]
        names = [key(self.items[above].name) for above in self.above(meaning.item)]
        if meaning.condition is not None:
            names.insert(0, key(item.name))
        if item.file:
            names.append(key(item.file))
        at = 0
        for name in names:
            if at < len(wanted) and name == wanted[at]:
                at += 1
        return at == len(wanted)
