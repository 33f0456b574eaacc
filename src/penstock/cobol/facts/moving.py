"""Which item's value goes into which other item, and where does each paragraph use which item, for the graph of an estate?

`references` reads the operands of a statement once and passes them here with their roles; `pairing` determines which item is
sent to which. Leaves to others: what a group contains and what shares its bytes (`layout`), and what a place means.

Law: one statement names both items of a pair; every use and pair has the places of the words that state it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from .data import WHOLE, DataMove, DataUse, MoveWay, PartUse, SourcePlace
from .pairing import Mention, pairs
from .roles import READ, WRITE, indicators_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .code import Block, ReadStatement, Site
    from .data import ItemPart
    from .layout import ShownItem


class Write(NamedTuple):
    """An item that a statement writes, or may write because it is passed by reference."""

    item: int
    whole: bool
    """Whether all of the item is written, rather than one occurrence or some characters."""
    is_passed: bool


class Flow(NamedTuple):
    """A copy of one item to another by one statement."""

    source: int
    target: int
    site: Site
    places: tuple[SourcePlace, ...]


class Moving:
    """Collects the uses and moves of a program, statement by statement.

    Args:
        records: The indexes of the records of each file, by its name in capitals.
    """

    def __init__(self, records: dict[str, list[int]]) -> None:
        self._records = records
        self._uses: defaultdict[tuple[int, int, int, str, str], list[SourcePlace]] = defaultdict(list)
        self._moves: defaultdict[tuple[int, int, bool, bool, MoveWay], list[SourcePlace]] = defaultdict(list)
        self._parts: defaultdict[tuple[int, ItemPart], list[SourcePlace]] = defaultdict(list)
        self.flows: list[Flow] = []
        self.mentions: dict[tuple[str | None, int], list[Mention]] = {}
        """By statement (its copybook and the offset in its source): the names in it, if it writes or passes any item."""
        self.blocks: dict[tuple[str | None, int], list[Write]] = {}
        """By EXEC block (its copybook and the line in its source): the items that it writes or passes."""

    def take(self, said: ReadStatement, mentions: Sequence[Mention]) -> None:
        """Record the mentions of one statement, in order."""
        place = SourcePlace(mentions[0].line, said.copybook)
        roles = 0
        paired: set[int] = set()
        for one in mentions:
            if one.line != place.line:
                place = SourcePlace(one.line, said.copybook)
            self._use(one.items, one.role, said, place)
            roles |= one.role
        if roles & ~READ:
            self.mentions[said.copybook, said.start] = list(mentions)
            for pair in pairs(said, mentions):
                source, target, place = pair.source, pair.target, SourcePlace(pair.source.line, said.copybook)
                if target.part is not None and _is_measured(said.keys, target.at, source.at):
                    target = target._replace(part=target.part._replace(is_open=True))
                self._move(source.items, target, place, said, is_copy=pair.is_copy, sent=source.part, way=pair.way)
                paired |= {source.at, target.at} if pair.is_copy else set()
        for one in mentions:
            if one.part is not None and one.part.start is not None and one.at not in paired and len(one.items) == 1:
                self._parts[one.items[0], one.part].append(SourcePlace(one.line, said.copybook))

    def file_read(self, said: ReadStatement, file: str, into: Iterable[Mention]) -> None:
        """Record a READ or RETURN: it writes the records of the file, and moves them to the item of INTO."""
        place = SourcePlace(said.lines[1], said.copybook)
        end = indicators_at(said.keys)
        for record in self._records.get(file, ()):
            self._use((record,), WRITE, said, place)
            for one in into:
                if one.role & WRITE and not one.beside and one.at < end:
                    self._move((record,), one, place, said, is_sure=len(self._records[file]) == 1)

    def corresponding(self, said: ReadStatement, source: int, target: int) -> None:
        """Record one pair of a MOVE, ADD or SUBTRACT CORRESPONDING."""
        place = SourcePlace(said.lines[0], said.copybook)
        is_copy = said.verb == "MOVE"
        self._use((source,), READ, said, place)
        self._use((target,), WRITE if is_copy else READ | WRITE, said, place)
        self._moves[source, target, is_copy, True, WHOLE].append(place)

    def sorted(self, said: ReadStatement) -> None:
        """Record a SORT or MERGE: records of USING files are moved to the sorted records, and these to records of GIVING files."""
        inner = self._records.get(said.keys[1], ()) if len(said.keys) > 1 else ()
        way = ""
        for at, word in enumerate(said.keys):
            way = word if word in {"USING", "GIVING"} else "" if word in {"INPUT", "OUTPUT", "COLLATING"} else way
            outer = self._records.get(word, ()) if way else ()
            for one, other in ((one, other) for one in outer for other in inner):
                pair = (one, other) if way == "USING" else (other, one)
                is_sure = len(outer) == len(inner) == 1
                self._moves[(*pair, True, is_sure, WHOLE)].append(SourcePlace(said.lines[at], said.copybook))

    def shown(self, shown: ShownItem, items: Sequence[int]) -> None:
        """Record which items an item of a report or screen shows, and which ones it fills."""
        place = SourcePlace(shown.copybook_line or shown.line, shown.copybook)
        for item in items:
            for is_said, pair in ((shown.is_read, (item, shown.item)), (shown.is_written, (shown.item, item))):
                if is_said:
                    self._moves[(*pair, True, len(items) == 1, WHOLE)].append(place)

    def exec(self, block: Block, items: Iterable[int], role: int, *, whole: bool, doubt: str = "") -> None:
        """Record the items of one argument of an EXEC block; `doubt` says why it may neither read nor write them."""
        items = tuple(items)
        end_line = block.exec.end_line if block.exec.end_line > block.exec.line else None
        place = SourcePlace(block.exec.line, block.copybook, end_line)
        self._use(items, READ | WRITE if doubt else role, block, place, doubt)
        if role & ~READ:
            writes = self.blocks.setdefault((block.copybook, block.exec.line), [])
            writes += [Write(item, whole and len(items) == 1, is_passed=not role & WRITE) for item in items]

    def uses(self) -> tuple[DataUse, ...]:
        """Return the uses of items: one value for each item, paragraph and direction."""
        return tuple(
            DataUse(item, role == WRITE, paragraph, header, doubt, tuple(dict.fromkeys(places)))
            for (item, role, paragraph, header, doubt), places in self._uses.items()
        )

    def moves(self) -> tuple[DataMove, ...]:
        """Return the moves between items: one value for each pair of items and way."""
        return tuple(
            DataMove(source, target, is_copy, is_sure, tuple(dict.fromkeys(places)), way)
            for (source, target, is_copy, is_sure, way), places in self._moves.items()
        )

    def parts(self) -> tuple[PartUse, ...]:
        """Return which parts of items are used by position: one value for each item and part."""
        return tuple(PartUse(*said, tuple(dict.fromkeys(places))) for said, places in self._parts.items())

    def _use(
        self, items: Sequence[int], role: int, by: ReadStatement | Block, place: SourcePlace, doubt: str = ""
    ) -> None:
        """Record a use of every item that a name may mean."""
        doubt = doubt or ("the name may mean several items" if len(items) > 1 else "")
        for item in items:
            if role & READ:
                self._uses[item, READ, by.paragraph, by.header, doubt].append(place)
            if role & WRITE:
                self._uses[item, WRITE, by.paragraph, by.header, doubt].append(place)

    def initialized(self, said: ReadStatement, source: Mention, target: int) -> None:
        """Record an item that an INITIALIZE REPLACING fills with the value of another one."""
        place = SourcePlace(source.line, said.copybook)
        for item in source.items:
            self._moves[item, target, True, len(source.items) == 1, WHOLE].append(place)

    def _move(
        self,
        sources: Sequence[int],
        target: Mention,
        place: SourcePlace,
        said: ReadStatement,
        *,
        is_copy: bool = True,
        is_sure: bool = True,
        sent: ItemPart | None = None,
        way: MoveWay = WHOLE,
    ) -> None:
        """Record the moves of items to those of a mention; an item moved to itself is not a move."""
        is_sure = is_sure and len(sources) == 1 and len(target.items) == 1
        if sent is not None or target.part is not None:
            way = way._replace(sent=way.sent or sent, taken=target.part)
        there = place if target.line == place.line else SourcePlace(target.line, said.copybook)
        for source in sources:
            for item in target.items:
                if item != source:
                    said_at = (place, there) if there != place else (place,)
                    self._moves[source, item, is_copy, is_sure, way].extend(said_at)
                    if is_copy:
                        self.flows.append(Flow(source, item, said.site, said_at))


def _is_measured(keys: Sequence[str], target: int, source: int) -> bool:
    """Return whether an item receives as many characters as are sent: `MOVE A TO B(1:LENGTH OF A)`."""
    colon = next((at for at in range(target, len(keys)) if keys[at] == ":"), len(keys))
    return keys[colon + 1 : colon + 5] == ("LENGTH", "OF", keys[source], ")")
