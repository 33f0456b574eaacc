"""Tell which item goes into which, and which paragraph uses which item where: what an estate's graph is drawn from.

`references` reads the operands of a statement once and gives them here with their roles; this module pairs what is
sent with what receives. Keeps out what a group holds and what shares its bytes (`layout`), and what a place means.

Law: a pair is of two items that one statement names; every use and pair has the places of the words that say it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ..clauses import FIGURATIVE
from .values import WHOLE, DataMove, DataUse, MoveWay, SourcePlace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .code import Block, ReadStatement
    from .layout import ShownItem
    from .values import ItemPart

READ, WRITE = 1, 2
_ARITHMETIC = frozenset({"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "COMPUTE"})
_SENDING = frozenset({"MOVE", "SET", "WRITE", "REWRITE", "RELEASE"})
_CORRESPONDING = frozenset({"CORR", "CORRESPONDING"})
_LINES = frozenset({"BEFORE", "AFTER"})  # WRITE R FROM A AFTER N LINES
_APART = frozenset({"IN", "DELIMITER", "COUNT"})  # UNSTRING: what DELIMITER IN and COUNT IN name gets no text


class Mention(NamedTuple):
    """One name in a statement, with what becomes of the item."""

    items: tuple[int, ...]
    """The items that the name may mean."""
    role: int
    """Bits: 1 read, 2 written, 4 passed by reference."""
    at: int
    """The index of its first word in the statement."""
    line: int
    """The line of that word in the file that holds it."""
    beside: bool
    """Whether the name stands in a subscript or a length, or only the item's length or address is taken."""
    in_function: bool
    """Whether the item is an argument of a function, so that its value is not moved as it is."""
    whole: bool
    """Whether the item is named without a subscript or a reference modification."""
    part: ItemPart | None
    """The characters of the item that are named, by a reference modification; None for all of it."""
    is_condition: bool
    """Whether a level 88 was named, and the item is the one that it tests or sets."""

    @property
    def is_cut(self) -> bool:
        """Whether only some characters of the item are named."""
        return self.part is not None


class Write(NamedTuple):
    """An item that a statement writes, or may write because it is passed by reference."""

    item: int
    whole: bool
    """Whether all of the item is written, rather than one occurrence or some characters."""
    is_passed: bool


class Moving:
    """Collects uses and moves of a program, statement by statement.

    Args:
        records: The indexes of the records of each file, by its name in capitals.
    """

    def __init__(self, records: dict[str, list[int]]) -> None:
        self._records = records
        self._uses: defaultdict[tuple[int, int, int, str, bool], list[SourcePlace]] = defaultdict(list)
        self._moves: defaultdict[tuple[int, int, bool, bool, MoveWay], list[SourcePlace]] = defaultdict(list)
        self.mentions: dict[tuple[str | None, int], list[Mention]] = {}
        """By statement (its copybook and the offset in its source): the items that it writes or passes, and what from."""
        self.blocks: dict[tuple[str | None, int], list[Write]] = {}
        """By EXEC block (its copybook and the line in its source): what it writes or passes."""

    def take(self, said: ReadStatement, mentions: Sequence[Mention]) -> None:
        """Take the mentions of one statement, in order."""
        place = SourcePlace(mentions[0].line, said.copybook)
        roles = 0
        for one in mentions:
            if one.line != place.line:
                place = SourcePlace(one.line, said.copybook)
            self._use(one.items, one.role, said, place)
            roles |= one.role
        if roles & ~READ:
            self.mentions[said.copybook, said.start] = list(mentions)
            self._pair(said, mentions)

    def file_read(self, said: ReadStatement, file: str, into: Iterable[Mention]) -> None:
        """Take a READ or RETURN: the records of the file are written, and moved to what INTO names."""
        place = SourcePlace(said.lines[1], said.copybook)
        for record in self._records.get(file, ()):
            self._use((record,), WRITE, said, place)
            for one in into:
                if one.role & WRITE and not one.beside:
                    self._move((record,), one, place, said, is_sure=len(self._records[file]) == 1)

    def corresponding(self, said: ReadStatement, source: int, target: int) -> None:
        """Take one pair of a MOVE, ADD or SUBTRACT CORRESPONDING."""
        place = SourcePlace(said.lines[0], said.copybook)
        is_copy = said.verb == "MOVE"
        self._use((source,), READ, said, place)
        self._use((target,), WRITE if is_copy else READ | WRITE, said, place)
        self._moves[source, target, is_copy, True, WHOLE].append(place)

    def sorted(self, said: ReadStatement) -> None:
        """Take a SORT or MERGE: what USING names goes into the records that are sorted, and those into what GIVING names."""
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
        """Take what an item of a report or screen shows, and what it gives to others."""
        place = SourcePlace(shown.line, shown.copybook)
        for item in items:
            for is_said, pair in ((shown.is_read, (item, shown.item)), (shown.is_written, (shown.item, item))):
                if is_said:
                    self._moves[(*pair, True, len(items) == 1, WHOLE)].append(place)

    def exec(self, block: Block, items: Iterable[int], role: int, *, whole: bool) -> None:
        """Take the items of one argument of an EXEC block."""
        items = tuple(items)
        end_line = block.exec.end_line if block.exec.end_line > block.exec.line else None
        place = SourcePlace(block.exec.line, block.copybook, end_line)
        self._use(items, role, block, place)
        if role & ~READ:
            writes = self.blocks.setdefault((block.copybook, block.exec.line), [])
            writes += [Write(item, whole and len(items) == 1, is_passed=not role & WRITE) for item in items]

    def uses(self) -> tuple[DataUse, ...]:
        """Return who uses what: one value for each item, paragraph and direction."""
        return tuple(
            DataUse(item, role == WRITE, paragraph, header, is_sure, tuple(dict.fromkeys(places)))
            for (item, role, paragraph, header, is_sure), places in self._uses.items()
        )

    def moves(self) -> tuple[DataMove, ...]:
        """Return what goes into what: one value for each pair of items and way."""
        return tuple(
            DataMove(source, target, is_copy, is_sure, tuple(dict.fromkeys(places)), way)
            for (source, target, is_copy, is_sure, way), places in self._moves.items()
        )

    def _use(self, items: Sequence[int], role: int, by: ReadStatement | Block, place: SourcePlace) -> None:
        """Note a use of every item that a name may mean."""
        is_sure = len(items) == 1
        for item in items:
            if role & READ:
                self._uses[item, READ, by.paragraph, by.header, is_sure].append(place)
            if role & WRITE:
                self._uses[item, WRITE, by.paragraph, by.header, is_sure].append(place)

    def _pair(self, said: ReadStatement, mentions: Sequence[Mention]) -> None:
        """Pair what is sent with what receives, as the verb says."""
        verb = said.verb
        if len(said.keys) > 1 and said.keys[1] in _CORRESPONDING:
            return  # what the groups hold is moved or counted, pair by pair, and they themselves are not
        if verb in _ARITHMETIC:
            sources = [one for one in mentions if one.role == READ and not one.beside]
            targets = [one for one in mentions if one.role & WRITE and not one.beside]
        elif verb in _SENDING:
            keys = said.keys
            sources = [
                one
                for one in mentions
                if one.role == READ and not one.beside and not one.is_condition and _is_sent(keys, one.at)
            ]
            targets = [one for one in mentions if one.role & WRITE and not one.is_condition]
            # SET ADDRESS OF RECORD TO POINTER puts the record elsewhere: nothing of the pointer is in it.
            sources = [one for one in sources if not _is_address(keys, one.at)]
            targets = [one for one in targets if not _is_address(keys, one.at)]
        elif verb in {"STRING", "UNSTRING"}:
            into = said.keys.index("INTO") if "INTO" in said.keys else len(said.keys)
            sources = [
                one
                for one in mentions
                if one.role == READ and not one.beside and one.at < into and _is_text(said, one.at)
            ]
            targets = [
                one for one in mentions if one.role == WRITE and one.at > into and said.keys[one.at - 1] not in _APART
            ]
        else:
            return
        way = _way(said)
        for source in sources:
            is_copy = verb not in _ARITHMETIC and not source.in_function
            for target in targets:
                place = SourcePlace(source.line, said.copybook)
                self._move(source.items, target, place, said, is_copy=is_copy, sent=source.part, way=way)

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
        """Note that items go into those of a mention; an item that is put into itself is no move."""
        is_sure = is_sure and len(sources) == 1 and len(target.items) == 1
        if sent is not None or target.part is not None:
            way = way._replace(sent=sent, taken=target.part)
        there = SourcePlace(target.line, said.copybook)
        for source in sources:
            for item in target.items:
                if item != source:
                    places = self._moves[source, item, is_copy, is_sure, way]
                    places.append(place)
                    if there != place:
                        places.append(there)


def _is_sent(keys: Sequence[str], at: int) -> bool:
    """Return whether what stands there is what a MOVE, SET or WRITE sends: lines of ADVANCING and steps of BY are not."""
    if keys[0] == "SET":
        return "TO" in keys[1:at]
    return keys[0] == "MOVE" or ("FROM" in keys[1:at] and "ADVANCING" not in keys[1:at] and keys[at - 1] not in _LINES)


def _way(said: ReadStatement) -> MoveWay:
    """Return how much of each item a statement moves, as its verb says."""
    keys = said.keys
    if said.verb not in {"STRING", "UNSTRING"}:
        return WHOLE
    if said.verb == "UNSTRING":
        return MoveWay(is_piece=True)
    into = keys.index("INTO") if "INTO" in keys else len(keys)
    ends = [keys[at + 1 : at + 3] for at in range(into) if keys[at] == "DELIMITED"]
    is_piece = any("SIZE" not in words for words in ends) or "POINTER" in keys[into:]
    literals = sum(
        _characters(text, word)
        for text, word, before in zip(said.texts[1:into], keys[1:into], keys, strict=False)
        if before not in {"DELIMITED", "BY"}
    )
    return MoveWay(is_piece=is_piece, string=said.line, literals=literals)


def _characters(text: str, word: str) -> int:
    """Return the characters of a literal or a figurative constant; 0 for any other word."""
    if text[-1] not in "'\"":
        return int(word in FIGURATIVE)
    inside = text[text.index(text[-1]) + 1 : -1]
    return len(inside) // 2 if text[0] in "Xx" else len(inside)


def _is_address(keys: Sequence[str], at: int) -> bool:
    """Return whether what stands there is named for where it lies."""
    return at > 1 and keys[at - 1] == "OF" and keys[at - 2] == "ADDRESS"


def _is_text(said: ReadStatement, at: int) -> bool:
    """Return whether a name in a STRING or UNSTRING is text to be sent, rather than a delimiter."""
    before = at - 1
    while before > 0 and said.keys[before] in {"OR", "ALL"}:
        before -= 1
        # UNSTRING A DELIMITED BY B OR C: between the ORs stand delimiters, literals or names.
        if said.keys[before] not in {"BY", "OR", "ALL"}:
            before -= 1
    return said.keys[before] not in {"BY", "DELIMITED"}
