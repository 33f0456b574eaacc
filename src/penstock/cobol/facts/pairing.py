"""Which items does a statement send to which others, and how much of each?

A MOVE copies, an ADD calculates; PERFORM VARYING starts with the item of FROM, STRING concatenates, and INSPECT counts. Leaves to
others: what the names mean (`references`), and which statements use an item without passing it on.

Law: the statement names both items of a pair; a pair is a copy only if characters of one get into the other.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ..clauses import FIGURATIVE
from .data import WHOLE, ItemPart, MoveWay
from .resolving import inside
from .roles import READ, WRITE, indicators_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .code import ReadStatement
    from .data import Given

_CALCULATING = frozenset(
    {"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "COMPUTE", "XML GENERATE", "JSON GENERATE", "JSON PARSE"}
)
_SENDING = frozenset({"MOVE", "SET", "WRITE", "REWRITE", "RELEASE"})
CORRESPONDING = frozenset({"CORR", "CORRESPONDING"})
_LINES = frozenset({"BEFORE", "AFTER"})  # WRITE R FROM A AFTER N LINES
_COUNTS = frozenset({"COUNT", "POINTER", "TALLYING"})
"""STRING, UNSTRING: the words before an item that receives a number of characters."""
_PUTS = frozenset({"BY", "TO", "CONVERTING", "ALL", "LEADING", "FIRST", "TRAILING"})
"""INSPECT: the words before the characters that it looks for, and before those that replace them."""
_INSPECTING = frozenset({"TALLYING", "REPLACING", "CONVERTING"})
_VARYING = frozenset({"VARYING", "AFTER", "FROM", "BY", "UNTIL", "TIMES"})
_KEEPING = frozenset({"characters", "reversed"})
"""What functions give that consists of the characters of their argument."""
_COUNTED = MoveWay(function="length", is_piece=True)
_DELIMITER = MoveWay(sent=ItemPart(None, 1, is_open=False))
"""UNSTRING: the item of DELIMITER IN receives characters that do not become more if what is split grows."""


class Mention(NamedTuple):
    """One name in a statement, with how the statement uses the item."""

    items: tuple[int, ...]
    """The items that the name may mean."""
    role: int
    """Bits: 1 read, 2 written, 4 passed by reference."""
    at: int
    """The index of its first word in the statement."""
    line: int
    """The line of that word in its file."""
    beside: bool
    """Whether the name is in a subscript or length, or only the item's length or address is used."""
    function: Given
    """What is taken from the item by functions around it or LENGTH OF; "" for the item itself."""
    whole: bool
    """Whether the item is named without a subscript or a reference modification."""
    part: ItemPart | None
    """The characters of the item selected by reference modification; None for all of it."""
    is_condition: bool
    """Whether the name is a level 88, and the item the one that it tests or sets."""

    @property
    def is_cut(self) -> bool:
        """Whether only some characters of the item are selected."""
        return self.part is not None


class Pair(NamedTuple):
    """An item that contributes to the value of another one."""

    source: Mention
    target: Mention
    is_copy: bool
    """Whether the characters of the source get into the target, rather than a result calculated from them."""
    way: MoveWay = WHOLE


def pairs(said: ReadStatement, mentions: Sequence[Mention]) -> Iterator[Pair]:
    """Yield the pairs of sending and receiving items of a statement, as its verb determines.

    Args:
        said: The statement.
        mentions: The items that it names, in order.
    """
    keys = said.keys
    if len(keys) > 1 and keys[1] in CORRESPONDING:
        return  # the items in the groups are paired instead (`Moving.corresponding`)
    read = [one for one in mentions if one.role == READ and (not one.beside or one.function == "length")]
    written = [one for one in mentions if one.role & WRITE and not one.beside]
    if said.verb in _CALCULATING:
        yield from (Pair(source, target, is_copy=False) for source, target in product(read, written))
    elif said.verb in _SENDING:
        yield from _sent([one for one in _stored(keys, read) if _is_sent(keys, one.at)], _stored(keys, written))
    elif said.verb in {"STRING", "UNSTRING"}:
        yield from _strung(said, read, written)
    elif said.verb == "PERFORM":
        yield from _varied(keys, mentions)
    elif said.verb == "INSPECT":
        yield from _inspected(keys, mentions)


def _sent(sources: Iterable[Mention], targets: Sequence[Mention], way: MoveWay = WHOLE) -> Iterator[Pair]:
    """Yield a pair for each source and target, with the way determined by the functions around the source."""
    for source in sources:
        given = way
        if source.function in _KEEPING:
            # The length that TRIM leaves depends on the data; outside of a STRING that matters no more than for any item.
            given = way._replace(function=source.function, is_piece=bool(way.string) or way.is_piece)
        elif source.function:
            given = MoveWay(function="length") if source.function == "length" else WHOLE
        for target in targets:
            yield Pair(source, target, source.function in {"", *_KEEPING}, given)


def _strung(said: ReadStatement, read: Sequence[Mention], written: Sequence[Mention]) -> Iterator[Pair]:
    """Yield the pairs of a STRING or UNSTRING, including those with items that count its characters."""
    keys = said.keys
    into = keys.index("INTO") if "INTO" in keys else len(keys)
    sources = [one for one in read if not one.beside and one.at < into and _is_text(said, one.at)]
    received = [(one, keys[one.at - 2 if keys[one.at - 1] == "IN" else one.at - 1]) for one in written if one.at > into]
    targets = [one for one, before in received if before not in _COUNTS and before != "DELIMITER"]
    yield from _sent(sources, targets, _way(said))
    yield from _sent(sources, [one for one, before in received if before == "DELIMITER"], _DELIMITER)
    counts = [one for one, before in received if before in _COUNTS]
    for source, count in product(sources if said.verb == "UNSTRING" else targets, counts):
        yield Pair(source, count, is_copy=False, way=_COUNTED)


def _varied(keys: Sequence[str], mentions: Sequence[Mention]) -> Iterator[Pair]:
    """Yield the pairs of a PERFORM VARYING: each varied item with its initial value and its step."""
    varied: list[Mention] = []  # empty if an index is varied, which is not an item
    word, at = "", 0
    for one in mentions:
        for before in keys[at : one.at]:
            word = before if before in _VARYING else word
            varied = [] if before in {"VARYING", "AFTER"} else varied
        at = one.at
        if one.role & WRITE:
            varied = [one]
        elif word == "FROM" and (not one.beside or one.function):
            yield from _sent([one], varied)
        elif word == "BY" and not one.beside:
            yield from (Pair(one, other, is_copy=False) for other in varied)


def _inspected(keys: Sequence[str], mentions: Sequence[Mention]) -> Iterator[Pair]:
    """Yield the pairs of an INSPECT: the inspected item with its counters, and the search and replacement operands with it."""
    inspected = mentions[0]
    if not _INSPECTING.isdisjoint(keys[1 : inspected.at]):
        return  # the inspected item is not declared here
    for one in mentions[1:]:
        if one.role & WRITE:
            yield Pair(inspected, one, is_copy=False, way=_COUNTED)
        elif inspected.role & WRITE and not one.beside and keys[one.at - 1] in _PUTS:
            yield Pair(one, inspected, is_copy=False)


def _is_sent(keys: Sequence[str], at: int) -> bool:
    """Return whether a word is what a MOVE, SET or WRITE sends, rather than lines of ADVANCING, indicators, or a step of BY."""
    if keys[0] == "SET":
        return "TO" in keys[1:at]
    if keys[0] == "MOVE":
        return True
    return (
        "FROM" in keys[1:at]
        and "ADVANCING" not in keys[1:at]
        and keys[at - 1] not in _LINES
        and at < indicators_at(keys)
    )


def _way(said: ReadStatement) -> MoveWay:
    """Return how a STRING or UNSTRING moves its items."""
    keys = said.keys
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
    """Return the length of a literal or a figurative constant; 0 for any other word."""
    if text[-1] not in "'\"":
        return int(word in FIGURATIVE)
    length = len(inside(text))
    return length // 2 if text[0] in "Xx" else length


def _stored(keys: Sequence[str], mentions: Iterable[Mention]) -> list[Mention]:
    """Return the mentions of which the value itself is meant, rather than the address or a condition.

    SET ADDRESS OF RECORD TO POINTER relocates the record, and stores nothing of the pointer in it.
    """
    return [one for one in mentions if not one.is_condition and keys[max(one.at - 2, 0) : one.at] != ("ADDRESS", "OF")]


def _is_text(said: ReadStatement, at: int) -> bool:
    """Return whether a name in a STRING or UNSTRING is text to send, rather than a delimiter."""
    before = said.keys[at - 2 if said.keys[at - 1] == "ALL" else at - 1]
    return before not in {"DELIMITED", "BY", "OR"}  # UNSTRING A DELIMITED BY B OR ALL C
