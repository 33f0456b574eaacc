"""Which items are compared with each other, and which literals is an item compared with, or does it have or get?

The sources are `IF A = B OR C`, `EVALUATE A WHEN B`, `PERFORM UNTIL A > '9999'`, level 88s, VALUE, and `MOVE 9999 TO A`.
Leaves to others: what follows from them.

Law: one operand of each compared pair is directly next to the comparison operator, or is the subject of the EVALUATE; both are
whole items, or one is a literal.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from .data import Comparison, SourcePlace
from .grouping import behind_groups
from .naming import past_qualifiers, qualifiers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .code import Code, ReadStatement
    from .naming import DataNames

_SIGNS = frozenset({"=", "<", ">", "<=", ">=", "<>", "EQUAL", "EQUALS", "GREATER", "LESS", "EXCEEDS", "UNEQUAL"})
_NOISE = frozenset({"IS", "NOT", "ARE", "THAN", "TO", *_SIGNS})
_CALCULATING = frozenset({"+", "-", "*", "/", "**", "&"})
_JOINS = frozenset({"AND", "OR"})
_Found: TypeAlias = "defaultdict[tuple[int, int | None, str], list[SourcePlace]]"
_LITERAL = re.compile(r"(?:[XNZ]?'.*'|[XNZ]?\".*\"|[+-]?\d+(?:[.,]\d+)?)", re.IGNORECASE | re.DOTALL)


class Operand(NamedTuple):
    """An item or literal in a statement: its words from index `at` to before `end`."""

    item: int | None
    literal: str
    at: int
    end: int


def comparisons(code: Code, names: DataNames, constants: Mapping[str, str]) -> tuple[Comparison, ...]:
    """Return what the items of a program are compared with: one value for each pair, and for each literal and range.

    Args:
        code: The statements.
        names: The items that they name.
        constants: The value of each level 78, by its name in capitals.
    """
    found: _Found = defaultdict(list)
    subjects: dict[int, list[Operand | None]] = {}  # of the open EVALUATEs, by depth
    for said in code.of("IF", "EVALUATE", "WHEN", "PERFORM", "SEARCH", "MOVE"):
        named = list(operands(said, names, constants))
        pairs: list[tuple[Operand, Operand]] = []
        if said.verb == "MOVE":
            pairs += ((other, named[0]) for other in named[1:] if named[0].literal)
        elif said.verb in {"EVALUATE", "SEARCH"}:
            subjects[said.depth] = _alone(said, named) if said.verb == "EVALUATE" else []
        else:
            pairs += _compared(said, named)
        if said.verb == "WHEN":
            for subject, objects in zip(subjects.get(said.depth, ()), _objects(said, named), strict=False):
                # The subject's own place is in the EVALUATE, which has other words and lines.
                pairs += ((subject._replace(at=one.at, end=one.end), one) for one in objects if subject is not None)
        for one, other in pairs:
            _note(found, said, one, other)
            _note(found, said, other, one)
    for index, item in enumerate(names.items[: names.own]):
        written = [(value, one.line) for one in item.conditions for value in one.values]
        written += [(item.value, item.line)] if item.value and _LITERAL.fullmatch(item.value) else []
        for value, line in written:
            found[index, None, value].append(SourcePlace(line, item.copybook))
    return tuple(Comparison(*said, tuple(dict.fromkeys(places))) for said, places in found.items())


def _note(found: _Found, said: ReadStatement, one: Operand, other: Operand) -> None:
    """Record that an item is compared with another, or with a literal."""
    if one.item is not None and one.item != other.item and (other.item is not None or other.literal):
        found[one.item, other.item, other.literal].append(SourcePlace(said.lines[one.at], said.copybook))


def operands(said: ReadStatement, names: DataNames, constants: Mapping[str, str]) -> Iterator[Operand]:
    """Yield the operands of a statement: items and literals, and as neither of them, parts of items and calculated values.

    Args:
        said: The statement.
        names: The items that it names.
        constants: The value of each level 78, by its name in capitals, for which the literal is yielded.
    """
    keys, at = said.keys, 1
    while at < len(keys):
        word, begin = keys[at], at
        at += 1
        if word == "FUNCTION":
            at = behind_groups(keys, at + 1)
            yield Operand(None, "", begin, at)
        elif said.kinds[begin] != "word" or word not in names.known:
            text = constants.get(word, said.texts[begin])
            if _LITERAL.fullmatch(text):
                yield Operand(None, text, begin, at)
        else:
            end = behind_groups(keys, past_qualifiers(keys, at))
            means = names.mean(word, qualifiers(keys, at))
            is_whole = ":" not in keys[at:end] and not {*keys[begin - 1 : begin], *keys[end : end + 1]} & _CALCULATING
            # A level 88 is a condition, not an operand.
            if all(one.condition is None for one in means):
                is_known = is_whole and len(means) == 1 and keys[begin - 2 : begin] != ("LENGTH", "OF")
                yield Operand(means[0].item if is_known else None, "", begin, end)
            at = end


def _compared(said: ReadStatement, operands: Sequence[Operand]) -> Iterator[tuple[Operand, Operand]]:
    """Yield the operands on both sides of each comparison operator; after AND and OR the left one may be omitted."""
    subject: Operand | None = None
    for one, other in pairwise(operands):
        between = [word for word in said.keys[one.end : other.at] if word not in "()"]
        is_sign = bool(between) and _NOISE.issuperset(between) and not _SIGNS.isdisjoint(between)
        # GREATER THAN OR EQUAL TO contains an OR.
        if is_sign or (
            _SIGNS.intersection(between) and _NOISE.union(_JOINS).issuperset(between) and between[0] not in _JOINS
        ):
            yield one, other
            subject = one
        elif subject is not None and between and between[0] in _JOINS and _NOISE.union(_JOINS).issuperset(between):
            # A = B OR C, A = B OR NOT > C; but in A = B OR C = D, C is a new subject.
            if not _is_subject(said.keys, other.end):
                yield subject, other
        else:
            subject = None


def _is_subject(keys: Sequence[str], at: int) -> bool:
    """Return whether a comparison operator follows, so that the preceding operand is a new subject."""
    while at < len(keys) and keys[at] in {"IS", "NOT", ")"}:
        at += 1
    return at < len(keys) and (keys[at] in _SIGNS or keys[at] in {"NUMERIC", "POSITIVE", "NEGATIVE", "ZERO"})


def _alone(said: ReadStatement, operands: Sequence[Operand]) -> list[Operand | None]:
    """Return the subjects of an EVALUATE: the operand of each; None for a subject that is not a single operand."""
    found: list[Operand | None] = []
    for begin, end in _parts(said.keys):
        inside = [one for one in operands if begin <= one.at < end]
        found.append(inside[0] if len(inside) == 1 and (inside[0].at, inside[0].end) == (begin, end) else None)
    return found


def _objects(said: ReadStatement, operands: Sequence[Operand]) -> list[list[Operand]]:
    """Return the operands that a WHEN compares each subject of its EVALUATE with; a range of literals is one operand."""
    found = []
    for begin, end in _parts(said.keys):
        inside = [one for one in operands if begin <= one.at < end]
        words = said.keys[begin:end]
        if not _SIGNS.isdisjoint(words):
            inside = []
        elif len(inside) == 2 and inside[0].literal and inside[1].literal and {"THRU", "THROUGH"} & {*words}:
            inside = [inside[0]._replace(literal=f"{inside[0].literal} THRU {inside[1].literal}")]
        found.append(inside)
    return found


def _parts(keys: Sequence[str]) -> list[tuple[int, int]]:
    """Return the beginning and end of each part between the ALSOs of an EVALUATE or WHEN."""
    cuts = [0, *(at for at, word in enumerate(keys) if word == "ALSO"), len(keys)]
    return [(begin + 1, end) for begin, end in pairwise(cuts)]
