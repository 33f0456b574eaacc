"""What may a data item hold: the constants that its VALUE, and the program's MOVEs and SETs, give it?

This is how `CALL WS-PGM`, `EXEC CICS LINK PROGRAM(WS-PGM)` or an ASSIGN to an item get the names of their targets.
Leaves to others: which of the values an item has at a given moment.

Law: every value comes from the source, with its line; nothing is computed, and no more than `MAX_VALUES` are kept.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from .values import Resolved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .code import Code, ReadStatement
    from .naming import DataNames

MAX_STEPS = 6
"""How many MOVEs from item to item are followed."""
MAX_VALUES = 64
"""How many values one item is taken to hold."""
MAX_SOURCES = 100
"""How many items are looked at for the values of one."""
MAX_SAME = 8
"""How many items of one name a MOVE is taken to write."""


class _LaidOut(NamedTuple):
    """A text that a group holds when the program begins, and where in its record."""

    offset: int
    bytes: int
    value: Resolved

    def part(self, offset: int, size: int) -> Resolved | None:
        """Return what lies at some bytes of the record; None where it does not hold all of them, or blanks."""
        if offset < self.offset or offset + size > self.offset + self.bytes:
            return None
        text = self.value.value[offset - self.offset :][:size].strip()
        return self.value._replace(value=text) if text else None


class Values:
    """The constants that every item may hold, found on demand and kept.

    Args:
        code: The statements, those of copybooks included.
        names: The items that names mean.
    """

    def __init__(self, code: Code, names: DataNames) -> None:
        # By item: the literals given to it, the items moved to it, and what is known already; by redefined group:
        # its values where they lie.
        self._names = names
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
        """Return what the item that a text names may hold; nothing for a literal, which is not looked up, or an unknown
        name.
        """
        index = self._names.one(text)
        return () if index is None else self.item(index)

    def item(self, index: int) -> tuple[Resolved, ...]:
        """Return what an item may hold: literals moved to it first, then its VALUE, then what the items moved to it may
        hold.
        """
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._followed(index)
        return known

    def initial(self, index: int) -> tuple[Resolved, ...]:
        """Return what an item may hold when the program begins; of a table, what any of its occurrences may."""
        return tuple(self._initial(index))

    def _followed(self, index: int) -> tuple[Resolved, ...]:
        """Return the values of an item by following MOVEs backwards, the nearest first.

        Breadth first over items, each once: `MOVE A TO B` and `MOVE B TO A` are no circle, and a program that moves
        everything to everything ends at the limits.
        """
        found: dict[str, Resolved] = {}
        queue, seen = [(index, 0)], {index}
        for at, steps in queue:
            for value in (*self._given.get(at, ()), *self._initial(at)):
                found.setdefault(value.value, value)
            # Cut before they are looked at: an item that everything is moved to has as many sources as the program
            # has MOVEs.
            for source in self._from.get(at, [])[:MAX_SOURCES] if steps < MAX_STEPS else ():
                if source not in seen and len(seen) < MAX_SOURCES:
                    seen.add(source)
                    queue.append((source, steps + 1))
            if len(found) >= MAX_VALUES:
                break
        return tuple(found.values())[:MAX_VALUES]

    def _initial(self, index: int) -> list[Resolved]:
        """Return what an item holds when the program begins: its VALUE, those of its first parts, or those of a table
        behind it.
        """
        items = self._names.items
        item = items[index]
        if item.value is not None:
            value = literal(item.value)
            return [] if value is None else [Resolved(value, "VALUE", item.line, item.copybook)]
        if item.usage == "GROUP":
            text = self._joined(index)
            return [Resolved(text, "VALUE", items[index + 1].line, items[index + 1].copybook)] if text else []
        return self._table(index)

    def _joined(self, group: int) -> str:
        """Return the values of the first parts of a group, one behind the other, up to one that has none."""
        text = ""
        for at in self._names.children.get(group, ()):
            part = self._names.items[at]
            value = None if part.value is None or part.redefines is not None or part.occurs else literal(part.value)
            if value is None:
                break
            text += value.ljust(part.bytes or 0)
        return text.rstrip()

    def _table(self, index: int) -> list[Resolved]:
        """Return what an item of a table may hold that redefines a list of VALUEs.

        A common way to write a table of constants: fillers with values, redefined by an OCCURS. The places of the
        item are its offset and all steps of the tables around it, and what was laid out at one of them is a value:
        the whole text of a filler, or the part of a longer one that holds a row with several columns.
        """
        names, items = self._names, self._names.items
        item = items[index]
        if item.offset is None or not item.bytes:
            return []
        steps: list[tuple[int, int]] = []
        redefined: int | None = None
        for at in (index, *names.above(index)):
            group = items[at]
            if group.occurs is not None:
                if group.bytes is None:
                    return []
                steps.append((group.occurs, group.bytes))
            if group.redefines is not None:
                redefined = next(
                    (m.item for m in names.mean(group.redefines) if items[m.item].parent == group.parent), None
                )
                break
        if redefined is None:
            return []
        places = [item.offset]
        for count, size in steps:
            # A table of three dimensions has millions of places; no list of VALUEs is that long.
            if len(places) * count > 10 * MAX_VALUES:
                return []
            places = [place + size * number for place in places for number in range(count)]
        laid = self._laid_out(redefined)
        found = []
        for place in places:
            # The last that begins at or before the place; of two at one place the inner one.
            before = bisect_right(laid, place, key=lambda text: text.offset) - 1
            if before >= 0 and (value := laid[before].part(place, item.bytes)) is not None:
                found.append(value)
        return found

    def _laid_out(self, group: int) -> list[_LaidOut]:
        """Return the values that a group holds, by their places."""
        laid = self._laid.get(group)
        if laid is None:
            laid = []
            for at in (group, *self._names.below(group)):
                source = self._names.items[at]
                value = literal(source.value) if source.value else None
                if value is not None and source.offset is not None and source.bytes:
                    resolved = Resolved(value, "VALUE", source.line, source.copybook)
                    laid.append(_LaidOut(source.offset, source.bytes, resolved))
            laid.sort(key=lambda text: text.offset)
            self._laid[group] = laid
        return laid

    def _move(self, said: ReadStatement) -> None:
        """Take a MOVE: a literal is given to its targets, an item is where theirs may come from."""
        keys = said.keys
        if "TO" not in keys or len(keys) < 4:
            return
        to = keys.index("TO")
        value = literal(keys[1]) if to == 2 and said.kinds[1] == "literal" else None
        sources = [] if value is not None else self._operands(said, 1, to)
        if value is None and not sources:
            return
        for target in self._operands(said, to + 1, len(keys)):
            if value is not None:
                self._given.setdefault(target, []).append(Resolved(value, "MOVE", said.line, said.copybook))
            else:
                self._from.setdefault(target, []).extend(sources)

    def _operands(self, said: ReadStatement, at: int, end: int) -> list[int]:
        """Return the items that stand whole among some words.

        An item that is cut by a reference modification, `WS-PGM(1:2)`, is left out: a part of a name is no name.
        """
        found: list[int] = []
        keys = said.keys
        depth = 0
        while at < end:
            word = keys[at]
            at += 1
            if word in "()":
                depth += (word == "(") - (word == ")")
            elif word == ":" and depth and found:
                found.pop()
            elif depth == 0 and word in self._names.known:
                qualifiers = []
                while at + 1 < end and keys[at] in {"OF", "IN"}:
                    qualifiers.append(keys[at + 1])
                    at += 2
                means = self._names.mean(word, qualifiers)[:MAX_SAME]
                found += [meaning.item for meaning in means if meaning.condition is None]
        return found

    def _set(self, said: ReadStatement) -> None:
        """Take a SET of conditions TO TRUE: each gives its item its first value."""
        keys = said.keys
        if "TO" not in keys or (keys[-1] not in {"TRUE", "."} and "TRUE" not in keys):
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


def literal(text: str) -> str | None:
    """Return what a literal says, without its quotes and the blanks at its end; None for what is no text, or blank.

    Trailing blanks go because names are compared: `'PGM1    '` in an item of eight letters calls PGM1.
    """
    text = text.strip()
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return None
    quote = text[0]
    value = text[1:-1].replace(quote * 2, quote).rstrip()
    return value or None
