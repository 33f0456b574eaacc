"""Which item receives what a statement takes from another item, and how much of it?

A MOVE copies, an ADD calculates; PERFORM VARYING starts with what FROM names, STRING concatenates, and INSPECT counts. Leaves to
others: what the names mean (`references`), and which statements use an item without passing it on.

Law: the statement names both items of a pair; a pair is a copy only if the characters of one get into the other.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ..clauses import FIGURATIVE
from .roles import READ, WRITE
from .values import WHOLE, MoveWay

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .code import ReadStatement
    from .values import Given, ItemPart

_CALCULATING = frozenset(
    {"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "COMPUTE", "XML GENERATE", "JSON GENERATE", "JSON PARSE"}
)
_SENDING = frozenset({"MOVE", "SET", "WRITE", "REWRITE", "RELEASE"})
_CORRESPONDING = frozenset({"CORR", "CORRESPONDING"})
_LINES = frozenset({"BEFORE", "AFTER"})  # WRITE R FROM A AFTER N LINES
_APART = frozenset({"IN", "DELIMITER", "COUNT"})  # UNSTRING: what DELIMITER IN and COUNT IN name gets no text
_COUNTS = frozenset({"COUNT", "POINTER", "TALLYING"})
"""STRING, UNSTRING: the words before an item that gets a number of characters."""
_PUTS = frozenset({"BY", "TO", "CONVERTING", "ALL", "LEADING", "FIRST", "TRAILING"})
"""INSPECT: the words before the characters that it looks for, and before those that it puts there."""
_INSPECTING = frozenset({"TALLYING", "REPLACING", "CONVERTING"})
_VARYING = frozenset({"VARYING", "AFTER", "FROM", "BY", "UNTIL", "TIMES"})
_COUNTED = MoveWay(function="length", is_piece=True)


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
    function: Given
    """What functions give of the item that is their argument, and LENGTH OF; "" for the item itself."""
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


class Pair(NamedTuple):
    """An item of which something goes into another one."""

    source: Mention
    target: Mention
    is_copy: bool
    """Whether the characters of the one come to the other, rather than what is calculated with them."""
    way: MoveWay = WHOLE


def pairs(said: ReadStatement, mentions: Sequence[Mention]) -> Iterator[Pair]:
    """Yield what a statement sends to what, as its verb says.

    Args:
        said: The statement.
        mentions: The items that it names, in order.
    """
    keys = said.keys
    if len(keys) > 1 and keys[1] in _CORRESPONDING:
        return  # what the groups hold is moved or counted, pair by pair, and they themselves are not
    read = [one for one in mentions if one.role == READ and (not one.beside or one.function == "length")]
    written = [one for one in mentions if one.role & WRITE and not one.beside]
    if said.verb in _CALCULATING:
        yield from (Pair(source, target, is_copy=False) for source, target in product(read, written))
    elif said.verb in _SENDING:
        # SET ADDRESS OF RECORD TO POINTER puts the record elsewhere: nothing of the pointer is in it.
        sources, targets = (
            [one for one in some if not one.is_condition and not _is_address(keys, one.at)] for some in (read, written)
        )
        yield from _sent([one for one in sources if _is_sent(keys, one.at)], targets)
    elif said.verb in {"STRING", "UNSTRING"}:
        yield from _strung(said, read, written)
    elif said.verb == "PERFORM":
        yield from _varied(keys, mentions)
    elif said.verb == "INSPECT":
        yield from _inspected(keys, mentions)


def _sent(sources: Iterable[Mention], targets: Sequence[Mention], way: MoveWay = WHOLE) -> Iterator[Pair]:
    """Yield pairs in which each source is given to each target, by way of the functions that it stands in."""
    for source in sources:
        given = way
        if source.function == "characters":
            # How many of them TRIM leaves is data; so long as they stand alone, as it is of any item.
            given = way._replace(function="characters", is_piece=bool(way.string) or way.is_piece)
        elif source.function:
            given = MoveWay(function="length") if source.function == "length" else WHOLE
        for target in targets:
            yield Pair(source, target, source.function in {"", "characters"}, given)


def _strung(said: ReadStatement, read: Sequence[Mention], written: Sequence[Mention]) -> Iterator[Pair]:
    """Yield the pairs of a STRING or UNSTRING, those with what counts its characters included."""
    keys = said.keys
    into = keys.index("INTO") if "INTO" in keys else len(keys)
    sources = [one for one in read if not one.beside and one.at < into and _is_text(said, one.at)]
    targets = [one for one in written if one.role == WRITE and one.at > into and keys[one.at - 1] not in _APART]
    yield from _sent(sources, targets, _way(said))
    counts = [
        one
        for one in written
        if one.at > into and keys[one.at - 2 if keys[one.at - 1] == "IN" else one.at - 1] in _COUNTS
    ]
    for source, count in product(sources if said.verb == "UNSTRING" else targets, counts):
        yield Pair(source, count, is_copy=False, way=_COUNTED)


def _varied(keys: Sequence[str], mentions: Sequence[Mention]) -> Iterator[Pair]:
    """Yield the pairs of a PERFORM VARYING: each item with where it begins, and with the step that is added to it."""
    varied: list[Mention] = []  # none where an index is varied, which is no item
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
    """Yield the pairs of an INSPECT: what it looks through with what counts there, and what it puts there with that."""
    inspected = mentions[0]
    if not _INSPECTING.isdisjoint(keys[1 : inspected.at]):
        return  # what it looks through is not declared here
    for one in mentions[1:]:
        if one.role & WRITE:
            yield Pair(inspected, one, is_copy=False, way=_COUNTED)
        elif inspected.role & WRITE and not one.beside and keys[one.at - 1] in _PUTS:
            yield Pair(one, inspected, is_copy=False)


def _is_sent(keys: Sequence[str], at: int) -> bool:
    """Return whether what stands there is what a MOVE, SET or WRITE sends: lines of ADVANCING and steps of BY are not."""
    if keys[0] == "SET":
        return "TO" in keys[1:at]
    return keys[0] == "MOVE" or ("FROM" in keys[1:at] and "ADVANCING" not in keys[1:at] and keys[at - 1] not in _LINES)


def _way(said: ReadStatement) -> MoveWay:
    """Return how much of each item a STRING or UNSTRING moves."""
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
