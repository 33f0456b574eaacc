"""Which items does a program require to have a certain length: that of another item, of a literal, or a number of bytes?

`INSPECT A REPLACING ALL B BY C` and `CONVERTING B TO C` need as many characters in C as in B; `EXEC CICS LINK …
COMMAREA(R) LENGTH(80)` states the length of R as a number. Leaves to others: the consequences if one of them gets longer.

Law: the statement names each item, and whatever determines its length, as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ..clauses import FIGURATIVE
from ..program import key, number
from .comparing import operands
from .data import SourcePlace, StatedLength
from .resolving import inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .code import Block, Code, ReadStatement
    from .comparing import Operand
    from .naming import DataNames

_JOINS = {"REPLACING": "BY", "CONVERTING": "TO"}
_LENGTHS = {
    "FROM": ("LENGTH", "FLENGTH", "FROMLENGTH", "FROMFLENGTH"),
    "INTO": ("LENGTH", "FLENGTH", "MAXLENGTH", "MAXFLENGTH", "TOLENGTH"),
    "COMMAREA": ("LENGTH", "DATALENGTH"),
    "RIDFLD": ("KEYLENGTH",),
    "INPUTMSG": ("INPUTMSGLEN",),
}
"""The options of CICS commands that name an area, each with the options that state its length."""


def stated_lengths(code: Code, names: DataNames, constants: Mapping[str, str]) -> tuple[StatedLength, ...]:
    """Return the lengths that items must have: one value for each pair and each number.

    Args:
        code: The statements and blocks.
        names: The declared names.
        constants: The value of each level 78, by its name in capitals.
    """
    found: dict[StatedLength, list[SourcePlace]] = defaultdict(list)
    for said in code.of("INSPECT"):
        place = SourcePlace(said.line, said.copybook, said.end_line if said.end_line > said.line else None)
        for one in _inspected(said, names, constants):
            found[one].append(place)
    written: dict[int, set[str]] | None = None
    for block in code.blocks:
        if block.exec.kind == "CICS":
            if written is None:
                written = _written(code, names, constants)
            place = SourcePlace(block.line, block.copybook, block.end_line if block.end_line > block.line else None)
            for one in _commanded(block, names, constants, written):
                found[one].append(place)
    return tuple(one._replace(places=tuple(dict.fromkeys(places))) for one, places in found.items())


def _inspected(said: ReadStatement, names: DataNames, constants: Mapping[str, str]) -> Iterator[StatedLength]:
    """Yield the lengths that an INSPECT requires: its search and replacement operands must be equally long."""
    begin = next((at for at, word in enumerate(said.keys) if word in _JOINS), None)
    if begin is None:
        return
    join = "BY"
    named = list(operands(said, names, constants))
    ends, starts = {one.end: one for one in named}, {one.at: one for one in named}
    for at in range(begin, len(said.keys) - 1):
        join = _JOINS.get(said.keys[at], join)
        if said.keys[at] != join or said.keys[at + 1] in FIGURATIVE:
            continue  # a figurative constant is as long as what it replaces
        sides = (ends.get(at), said.keys[at - 1]), (starts.get(at + 1), said.keys[at + 1])
        for (one, _), (other, word) in (sides, sides[::-1]):
            if one is None or one.item is None:
                continue
            if other is not None and other.item is not None:
                yield StatedLength(one.item, other.item, 0, "", "INSPECT", True, ())
            elif (length := _characters(other, word)) is not None:
                yield StatedLength(one.item, None, length, other.literal if other else word, "INSPECT", True, ())


def _characters(operand: Operand | None, word: str) -> int | None:
    """Return the length of a literal, a figurative constant or CHARACTERS; None if an operand has no fixed length."""
    if operand is None:
        return 1 if word in FIGURATIVE or word == "CHARACTERS" else None
    text = operand.literal
    return len(inside(text)) if text[:1] in {"'", '"'} else None


def _commanded(
    block: Block, names: DataNames, constants: Mapping[str, str], written: Mapping[int, set[str]]
) -> Iterator[StatedLength]:
    """Yield the lengths that a CICS command states for the areas that it names."""
    for option, area in block.command.options:
        length = block.command.get(*_LENGTHS.get(option, ()))
        item = names.one(area) if length and "(" not in area else None
        if item is None or length is None:
            continue
        figures, by = constants.get(key(length), length), names.one(length)
        text = next(name for name, said in block.command.options if said == length and name in _LENGTHS[option])
        if by is not None:
            own = names.items[by].value
            # The values of an item are its VALUE and the literals moved to it.
            for one in sorted({*written.get(by, ()), *([own] if own else [])}):
                if (bytes_said := number(one)) is not None:
                    yield StatedLength(item, None, bytes_said, f"{text}({length}) of {one}", "CICS", False, ())
        elif (bytes_said := number(figures)) is not None:
            said = f"{text}({length})" if figures == length else f"{text}({length}) of {figures}"
            yield StatedLength(item, None, bytes_said, said, "CICS", True, ())


def _written(code: Code, names: DataNames, constants: Mapping[str, str]) -> dict[int, set[str]]:
    """Return the literals that are moved to each item."""
    found: dict[int, set[str]] = defaultdict(set)
    for said in code.of("MOVE"):
        named = list(operands(said, names, constants))
        for one in named[1:]:
            if named[0].literal and one.item is not None:
                found[one.item].add(named[0].literal)
    return found
