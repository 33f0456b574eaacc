"""Which constants may a data item hold, by its VALUE and the program's MOVEs and SETs?

This is how `CALL WS-PGM`, `EXEC CICS LINK PROGRAM(WS-PGM)` or an ASSIGN to an item get the names of their targets.
Leaves to others: which of the values an item has at a given moment.

Law: every value comes from the source, with its line; nothing is computed, and no more than `MAX_VALUES` are kept.
"""

from __future__ import annotations

from bisect import bisect_right
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ..program import key
from .grouping import closed
from .naming import qualifiers
from .resources import Resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .code import Code, ReadStatement
    from .data import DataItem
    from .naming import DataNames

MAX_STEPS = 6
"""The maximum number of MOVEs from item to item that are followed."""
MAX_VALUES = 64
"""The maximum number of values of one item."""
MAX_SOURCES = 100
"""The maximum number of items that are examined for the values of one."""
MAX_SAME = 8
"""The maximum number of items with the same name that a MOVE is assumed to write."""
_MAX_PLACES = 10 * MAX_VALUES


class _LaidOut(NamedTuple):
    """A text in a group when the program begins, and its place in the record."""

    offset: int
    bytes: int
    value: Resolved

    def part(self, offset: int, size: int) -> Resolved | None:
        """Return the text at some bytes of the record; None if it does not include all of them, or is blank."""
        if offset < self.offset or offset + size > self.offset + self.bytes:
            return None
        text = self.value.value[offset - self.offset :][:size].strip()
        return self.value._replace(value=text) if text else None


class Values:
    """The constants that each item may hold, computed on demand and cached.

    Args:
        code: The statements, including those of copybooks.
        names: The declared names.
        constants: The text of each level 78 that has one, by its name in capitals.
    """

    def __init__(self, code: Code, names: DataNames, constants: Mapping[str, Resolved]) -> None:
        # By item: the literals moved to it, the items moved to it, and its cached values; by redefined group: the values laid out
        # in it.
        self._names, self._constants = names, constants
        self._given: dict[int, list[Resolved]] = {}
        self._from: dict[int, list[int]] = {}
        self._known: dict[int, tuple[Resolved, ...]] = {}
        self._laid: dict[int, list[_LaidOut]] = {}
        for said in code.of("MOVE", "SET"):
            if said.verb == "MOVE":
                self._move(said)
            else:
                self._set(said)

    def of(self, text: str) -> tuple[Resolved, ...]:
        """Return the values of the item that a text names; none for a literal, which is not looked up, or an unknown name."""
        index = self._names.one(text)
        return () if index is None else self.item(index)

    def item(self, index: int) -> tuple[Resolved, ...]:
        """Return the values of an item: literals moved to it first, then its VALUE, then the values of items moved to it."""
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._followed(index)
        return known

    def initial(self, index: int) -> tuple[Resolved, ...]:
        """Return the values of an item when the program begins; of a table, those of any occurrence."""
        return tuple(self._initial(index))

    def _followed(self, index: int) -> tuple[Resolved, ...]:
        """Return the values of an item by following MOVEs backwards, the nearest first.

        The search is breadth-first, visiting each item once, so `MOVE A TO B` with `MOVE B TO A` is not an infinite loop, and for a
        program that moves everything to everything it ends at the limits.
        """
        found: dict[str, Resolved] = {}
        queue, seen = [(index, 0)], {index}
        for at, steps in queue:
            for value in (*self._given.get(at, ()), *self._initial(at)):
                found.setdefault(value.value, value)
            # Truncated first: an item that everything is moved to has as many sources as the program has MOVEs.
            for source in self._from.get(at, [])[:MAX_SOURCES] if steps < MAX_STEPS else ():
                if source not in seen and len(seen) < MAX_SOURCES:
                    seen.add(source)
                    queue.append((source, steps + 1))
            if len(found) >= MAX_VALUES:
                break
        return tuple(found.values())[:MAX_VALUES]

    def _initial(self, index: int) -> list[Resolved]:
        """Return the values of an item when the program begins: its VALUE, those of its first parts, or those that its table
        redefines.
        """
        items = self._names.items
        item = items[index]
        if item.value is not None:
            value = self._literal(item.value)
            return [] if value is None else [Resolved(value, "VALUE", item.line, item.copybook)]
        if item.usage == "GROUP":
            text = self._joined(index)
            return [Resolved(text, "VALUE", items[index + 1].line, items[index + 1].copybook)] if text else []
        return self._table(index)

    def _joined(self, group: int) -> str:
        """Return the concatenated values of the first parts of a group, up to one without a value."""
        text = ""
        for at in self._names.children.get(group, ()):
            part = self._names.items[at]
            value = (
                None if part.value is None or part.redefines is not None or part.occurs else self._literal(part.value)
            )
            if value is None:
                break
            text += value.ljust(part.bytes or 0)
        return text.rstrip()

    def _table(self, index: int) -> list[Resolved]:
        """Return the values of an item in a table that redefines a list of VALUEs.

        A table of constants is commonly written as fillers with values, redefined by an OCCURS. The item's places are its offset
        plus all steps of the tables around it, and the text laid out at each is a value: the whole text of a filler, or part of a
        longer one for a row with several columns.
        """
        names, items = self._names, self._names.items
        item = items[index]
        if item.offset is None or not item.bytes:
            return []
        steps: list[tuple[int, int]] = []
        redefined: int | None = None
        table = redefining = item
        for at in (index, *names.above(index)):
            group = items[at]
            if group.occurs is not None:
                if group.bytes is None:
                    return []
                steps.append((group.occurs, group.bytes))
                table = group
            if group.redefines is not None:
                redefined = next(
                    (m.item for m in names.mean(group.redefines) if items[m.item].parent == group.parent), None
                )
                redefining = group
                break
        if redefined is None:
            return []
        if steps and _end(table) == _end(redefining):
            # Who adds to a list may forget its OCCURS; the program finds the new entries, as few compilers check subscripts.
            count, size = steps[-1]
            longer = count + (_end(items[redefined]) - _end(redefining)) // size
            room = _MAX_PLACES // max(prod(times for times, _ in steps[:-1]), 1)
            steps[-1] = (max(count, min(longer, room)), size)
        places = [item.offset]
        for count, size in steps:
            # A table of three dimensions has millions of places; no list of VALUEs is that long.
            if len(places) * count > _MAX_PLACES:
                return []
            places = [place + size * number for place in places for number in range(count)]
        laid = self._laid_out(redefined)
        found = []
        for place in places:
            # The last text that begins at or before the place; of two at the same place, the inner one.
            before = bisect_right(laid, place, key=lambda text: text.offset) - 1
            if before >= 0 and (value := laid[before].part(place, item.bytes)) is not None:
                found.append(value)
        return found

    def _laid_out(self, group: int) -> list[_LaidOut]:
        """Return the values in a group, in the order of their places."""
        laid = self._laid.get(group)
        if laid is None:
            laid = []
            for at in (group, *self._names.below(group)):
                source = self._names.items[at]
                value = self._literal(source.value) if source.value else None
                if value is not None and source.offset is not None and source.bytes:
                    resolved = Resolved(value, "VALUE", source.line, source.copybook)
                    laid.append(_LaidOut(source.offset, source.bytes, resolved))
            laid.sort(key=lambda text: text.offset)
            self._laid[group] = laid
        return laid

    def _move(self, said: ReadStatement) -> None:
        """Record a MOVE: a literal is a value of its targets, an item is a source of their values."""
        keys = said.keys
        if "TO" not in keys or len(keys) < 4:
            return
        to = keys.index("TO")
        value = self._literal(keys[1]) if to == 2 else None
        sources = [] if value is not None else self._operands(said, 1, to)
        if value is None and not sources:
            return
        for target in self._operands(said, to + 1, len(keys)):
            if value is not None:
                self._given.setdefault(target, []).append(Resolved(value, "MOVE", said.line, said.copybook))
            else:
                self._from.setdefault(target, []).extend(sources)

    def _literal(self, said: str) -> str | None:
        """Return the text of a literal, or of the level 78 that stands for one; None for anything else."""
        named = self._constants.get(key(said))
        return literal(said) if named is None else named.value

    def _operands(self, said: ReadStatement, at: int, end: int) -> list[int]:
        """Return the items that are named as a whole among some words.

        An item with reference modification, `WS-PGM(1:2)`, is omitted: a part of a name is not a name.
        """
        found: list[int] = []
        keys = said.keys
        while at < end:
            word = keys[at]
            at += 1
            if word == "(":
                close = closed(keys, at - 1)
                if found and ":" in keys[at:close]:
                    found.pop()
                at = close + 1
            elif word in self._names.known:
                of = qualifiers(keys[:end], at)
                at += 2 * len(of)
                means = self._names.mean(word, of)[:MAX_SAME]
                found += [meaning.item for meaning in means if meaning.condition is None]
        return found

    def _set(self, said: ReadStatement) -> None:
        """Record a SET of conditions TO TRUE: each assigns its first value to its item."""
        keys = said.keys
        if "TO" not in keys or "TRUE" not in keys:
            return
        for name in keys[1 : keys.index("TO")]:
            for meaning in self._names.mean(name)[:MAX_SAME]:
                if meaning.condition is not None:
                    values: Sequence[str] = self._names.items[meaning.item].conditions[meaning.condition].values
                    value = literal(values[0]) if values else None
                    if value is not None:
                        self._given.setdefault(meaning.item, []).append(
                            Resolved(value, "SET", said.line, said.copybook)
                        )


def _end(item: DataItem) -> int:
    """Return the offset behind an item and all its occurrences."""
    return (item.offset or 0) + (item.bytes or 0) * (item.occurs or 1)


def literal(text: str) -> str | None:
    """Return the text of a literal without quotes and trailing blanks; None if it is blank, or not a quoted literal.

    Trailing blanks are removed because names are compared: `'PGM1    '` in an eight-character item calls PGM1.
    """
    text = text.strip()
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return None
    return inside(text).rstrip() or None


def inside(text: str) -> str:
    """Return what is between the quotes of a literal, with or without a prefix; doubled quotes are one."""
    quote = text[-1]
    return text[text.index(quote) + 1 : -1].replace(quote * 2, quote)
