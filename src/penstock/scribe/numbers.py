"""Does the code bear out the numbers in a claim?

A number is borne out if the lines that the claim is about have it, or if a name in them is declared with it: the limit of
`IF AGE > MAX-AGE` is in the VALUE of MAX-AGE. Any other is the model's own; if the cited lines have another number in its place,
which the claim leaves out, the claim contradicts the code. Law: a claim that only says numbers of its lines is never touched.
Leaves to others: names and lines (`verification`). Number words are not read.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from penstock.cobol.program import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.cobol.facts.values import Facts

_DIGITS = r"\d+(?:[.,]\d+)*"
# In a sentence: digits attached to a name are part of it (COMP-3), and levels and lines are places, not amounts.
_SAID = re.compile(
    rf"(?i)(?:\b(?:lines?|levels?|columns?|cols?)\s+{_DIGITS}(?:\s*(?:-|–|to|and)\s*{_DIGITS})?|(?<![\w#@$.-])({_DIGITS})(?!\w|-level))"
)
_HELD = re.compile(_DIGITS)
_WORD = re.compile(r"[A-Za-z0-9#@$][\w#@$-]*")
# A literal on its own: not part of a name, a subscript or a picture.
_LITERAL = re.compile(rf"(?<![\w(.:-])({_DIGITS})(?![\w(:)-])")
_PARENTHESES = re.compile(r"\([^()]*\)")
_SMALL = frozenset({"0", "1"})
"""Numbers for how often, whether, or which one: too common in code and sentences to prove or disprove anything."""


class NumberVerdict(NamedTuple):
    """The result for the numbers of a claim: those that are the model's own, and whether the cited lines have others instead."""

    derived: tuple[str, ...] = ()
    is_contradicted: bool = False


def declared_numbers(facts: Iterable[Facts]) -> dict[str, frozenset[str]]:
    """Return the numbers that each name in some programs is declared with, by name in capitals: values, sizes, occurrences."""
    found: dict[str, set[str]] = {}
    for one in facts:
        for item in one.items:
            of = found.setdefault(key(item.name), set())
            for text in (item.value, item.picture, str(item.bytes), str(item.occurs)):
                of.update(_numbers(text or ""))
            for condition in item.conditions:
                values = {number for value in condition.values for number in _numbers(value)}
                of |= values
                found.setdefault(key(condition.name), set()).update(values)
        for constant in one.constants:
            found.setdefault(key(constant.name), set()).update(_numbers(constant.value))
    return {name: frozenset(numbers) for name, numbers in found.items() if numbers}


def judged(claim: str, about: str, cited: str, declared: Mapping[str, frozenset[str]]) -> NumberVerdict:
    """Return the verdict on the numbers in a claim.

    Args:
        claim: Its sentences.
        about: The code that it is about.
        cited: The code of the lines that it cites.
        declared: The numbers that names are declared with.
    """
    said = {
        normal: found[1] for found in _SAID.finditer(claim) if found[1] and (normal := _normal(found[1])) not in _SMALL
    }
    if not said:
        return NumberVerdict()
    held = _numbers(about) | _numbers(cited)
    for name in {key(word) for word in _WORD.findall(f"{about} {cited}")}:
        held |= declared.get(name, frozenset())
    missing = {normal: text for normal, text in said.items() if normal not in held}
    if not missing:
        return NumberVerdict()
    literals = {_normal(found[1]) for found in _LITERAL.finditer(_PARENTHESES.sub(" ", cited))}
    return NumberVerdict(tuple(missing.values()), bool(literals - _SMALL - said.keys()))


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers that sentences say, each in normal form."""
    return frozenset(_normal(found[1]) for found in _SAID.finditer(text) if found[1])


def _numbers(code: str) -> set[str]:
    """Return every number in a piece of code, including those within names and pictures."""
    return {_normal(found) for found in _HELD.findall(code)}


def _normal(text: str) -> str:
    """Return a number in normal form: no commas between thousands, no leading zeros, and none at the end of a fraction."""
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text)
    plain = text.replace(",", "") if grouped else text.replace(",", ".")
    if plain.count(".") > 1 or len(plain) > 40:  # a date or a version stays as it is
        return text
    return f"{Decimal(plain).normalize():f}"
