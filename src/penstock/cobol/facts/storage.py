"""Which items share bytes, and how does a write of one affect another, by record, offset and length?

Leaves to others: which statements write (`references`) and the offsets of items (`layout`). Law: `covers` is True only if every
byte of an item is written, and None only if none is; what cannot be known is False.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .naming import DataNames


class Storage:
    """The storage of a program's items.

    Args:
        names: The items, with the nesting of groups.
    """

    def __init__(self, names: DataNames) -> None:
        self._names = names
        self._roots: dict[int, int] = {}
        self._first_of_file: dict[str, int] = {}
        self._placed: dict[int, dict[tuple[int | None, int | None], int]] = {}
        """The items in each group that are in no table, by offset and size."""

    def root(self, index: int) -> int:
        """Return the record whose storage contains an item: its own, or the one that its own redefines.

        The records of a file share their storage, represented by the first of them.
        """
        record = self._names.items[index].record
        way: list[int] = []  # a thousand records may each redefine the one before, deeper than Python recurses
        while (found := self._roots.get(record)) is None:
            way.append(record)
            subject = self._subject(record)
            if subject == record:
                self._roots[record] = record
            record = subject
        self._roots.update(dict.fromkeys(way, found))
        return found

    def _subject(self, record: int) -> int:
        """Return the record that another one redefines, or the first one of its file; itself for any other."""
        items = self._names.items
        item = items[record]
        if item.redefines is not None and item.parent is None:
            means = [
                one.item for one in self._names.mean(item.redefines) if one.condition is None and one.item < record
            ]
            same = [one for one in means if items[one].parent is None and items[one].section == item.section]
            return same[-1] if same else record
        return record if item.file is None else self._first_of_file.setdefault(item.file.upper(), record)

    def covers(self, writer: int, item: int) -> bool | None:
        """Return how much of an item is written when another one, or itself, is written.

        True: all of it. False: a part of it, or unknown. None: nothing of it.
        """
        if writer == item:
            return True
        if self.root(writer) != self.root(item):
            return None
        if writer in self._names.above(item):
            return True
        if item in self._names.above(writer):
            return False
        one, other = self.extent(writer), self.extent(item)
        if one is None or other is None:
            return False
        if one[1] <= other[0] or other[1] <= one[0]:
            return None
        in_table = self._table(writer) is not None or self._table(item) is not None
        return not in_table and one[0] <= other[0] and other[1] <= one[1]

    def within(self, holder: int, item: int) -> int | None:
        """Return the bytes from the start of one item to that of another in the same storage; None if unknown."""
        start, end = self._names.items[holder].offset, self._names.items[item].offset
        return None if start is None or end is None else end - start

    def inside(self, group: int, offset: int | None, size: int | None) -> int | None:
        """Return the item at an offset within a group that has a certain size; None if there is none."""
        start = self._names.items[group].offset
        if start is None or offset is None or size is None:
            return None
        if group not in self._placed:  # looked through once, however often the group is moved
            placed = self._placed[group] = {}
            for index in (group, *self._names.below(group)):
                item = self._names.items[index]
                if self._table(index) is None:
                    placed.setdefault((item.offset, item.bytes), index)
        return self._placed[group].get((start + offset, size))

    def sharing(self, writers: Iterable[int]) -> Sharing:
        """Return an index of some items of one record, which finds those that share bytes with another item of it."""
        return Sharing(self, writers)

    def _table(self, index: int) -> int | None:
        """Return the outermost table that an item is or belongs to; None if there is none."""
        around = [at for at in (index, *self._names.above(index)) if self._names.items[at].occurs is not None]
        return around[-1] if around else None

    def extent(self, index: int) -> tuple[int, int] | None:
        """Return the start and end of the bytes of an item in its record, with all occurrences of its table; None if unknown."""
        table = self._table(index)
        item = self._names.items[index if table is None else table]
        if item.offset is None or item.bytes is None:
            return None
        return item.offset, item.offset + item.bytes * (item.occurs or 1)


class Sharing:
    """Some items of one record, by the bytes that they take: with each compared, n items and n writes would cost n * n.

    Args:
        storage: The storage.
        items: The items.
    """

    # An item is in the smallest aligned block of 2 ** n bytes that contains it, and so shares no bytes with items of other blocks
    # unless one of the blocks contains the other.

    def __init__(self, storage: Storage, items: Iterable[int]) -> None:
        self._storage = storage
        self._anywhere: list[int] = []  # the items whose place is not known
        self._blocks: dict[int, dict[int, list[int]]] = {}  # by n, and by the number of the block
        for item in items:
            extent = storage.extent(item)
            if extent is None or extent[0] >= extent[1]:
                self._anywhere.append(item)
            else:
                size = (extent[0] ^ (extent[1] - 1)).bit_length()
                self._blocks.setdefault(size, {}).setdefault(extent[0] >> size, []).append(item)

    def near(self, item: int) -> Iterator[int]:
        """Yield the items that may share bytes with an item; every one that does is among them."""
        yield from self._anywhere
        start, end = self._storage.extent(item) or (0, 0)
        for size, blocks in self._blocks.items():
            numbers = range(start >> size, ((end - 1) >> size) + 1)
            if start >= end:
                found = list(blocks)
            elif len(numbers) > len(blocks):
                found = [at for at in blocks if at in numbers]
            else:
                found = [at for at in numbers if at in blocks]
            for at in found:
                yield from blocks[at]
