"""What is the value of a constant expression in a compiler directive: arithmetic, comparisons, AND, OR and NOT?

An undefined constant makes only what depends on it unknown: `A = 1 OR B = 2` holds if one of the two is known to hold.
Leaves to others: where constants come from (`conditional`). Law: linear in the words, whatever they are.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

UNKNOWN = object()
"""A value that may be anything, or undefined; a constant that is certainly undefined has None."""

_LEVELS = {
    "OR": 1, "AND": 2, "NOT": 3, "=": 4, "<>": 4, "<": 4, ">": 4, "<=": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "NEGATED": 7,
}  # fmt: skip
_SIGNS = {"EQUAL": "=", "EQUALS": "=", "GREATER": ">", "LESS": "<", "UNEQUAL": "<>"}
_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_NOTHING = frozenset({"IS", "THAN", "TO"})
_COMPARE: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
_MAX_DIGITS = 60
"""The maximum length of a number, so that no product grows with the square of the words."""


def worth(words: Sequence[str], known: Mapping[str, object]) -> object:
    """Return the value of an expression: a text, a number, a truth value, or `UNKNOWN` if the source does not say.

    Args:
        words: Its words in capitals, literals with their quotes.
        known: The value of each constant: a text or number, None for an undefined one, or `UNKNOWN`.

    Example:
        >>> worth("A + 1 > 2 AND B IS NOT DEFINED".split(), {"A": Fraction(2), "B": None})
        True
    """
    values: list[object] = []
    waiting: list[str] = []

    def settle(level: int) -> bool:
        """Apply the waiting operators of at least this precedence, up to a parenthesis; False if an operand is missing."""
        while waiting and waiting[-1] != "(" and _LEVELS[waiting[-1]] >= level:
            if not _do(waiting.pop(), values):
                return False
        return True

    before: str | _Value = "("
    for word in _plain(words, known):
        if isinstance(word, _Value):
            values.append(word.of)
        elif word == "(":
            waiting.append(word)
        elif word == ")":
            if not settle(0) or not waiting:
                return UNKNOWN
            waiting.pop()
        elif word == "NOT":
            waiting.append(word)
        elif word == "-" and not isinstance(before, _Value) and before != ")":
            waiting.append("NEGATED")
        elif word in _LEVELS:
            if not settle(_LEVELS[word]):
                return UNKNOWN
            waiting.append(word)
        else:
            return UNKNOWN
        before = word
    return values[0] if settle(0) and not waiting and len(values) == 1 else UNKNOWN


class _Value:
    """A value among the words of an expression."""

    __slots__ = ("of",)

    def __init__(self, of: object) -> None:
        self.of = of


def _plain(words: Sequence[str], known: Mapping[str, object]) -> list[str | _Value]:
    """Return an expression with names and literals replaced by values, and the words of comparisons by signs."""
    found: list[str | _Value] = []
    words = [word for word in words if word not in _NOTHING]
    at = 0
    while at < len(words):
        word = words[at]
        following = words[at + 1 : at + 3]
        if word == "NOT" and following and _SIGNS.get(following[0], following[0]) in _OPPOSITE:
            sign, step = _sign(words, at + 1)
            found.append(_OPPOSITE[sign])
            at = step
        elif word in _SIGNS or word in _OPPOSITE:
            sign, at = _sign(words, at)
            found.append(sign)
        elif word[0] in "'\"":
            found.append(_Value(word.strip("'\"")))
            at += 1
        elif word.lstrip("-")[:1].isdecimal():
            found.append(_Value(_number(word)))
            at += 1
        elif word in _LEVELS or word in "()":
            found.append(word)
            at += 1
        else:
            value = known.get(word, UNKNOWN)
            is_not = following[:1] == ["NOT"]
            if following[is_not : is_not + 1] in (["DEFINED"], ["SET"]):
                found.append(_Value(UNKNOWN if value is UNKNOWN else (value is not None) != is_not))
                at += 2 + is_not
            else:
                found.append(_Value(value))
                at += 1
    return found


def _sign(words: Sequence[str], at: int) -> tuple[str, int]:
    """Return the comparison sign that begins at a word, and the index after it: `GREATER OR EQUAL` is one sign."""
    sign = _SIGNS.get(words[at], words[at])
    if sign in "<>" and words[at + 1 : at + 3] == ["OR", "EQUAL"]:
        return f"{sign}=", at + 3
    return sign, at + 1


def _number(word: str) -> object:
    """Return the number that a word is; `UNKNOWN` for one that is none, or is too long."""
    try:
        return Fraction(word) if len(word) <= _MAX_DIGITS else UNKNOWN
    except ValueError:
        return UNKNOWN


def _do(sign: str, values: list[object]) -> bool:
    """Replace the operands of an operator, at the end of the values, by its result."""
    needed = 1 if sign in {"NOT", "NEGATED"} else 2
    if len(values) < needed:
        return False
    right = values.pop()
    if sign == "NOT":
        values.append(not right if isinstance(right, bool) else UNKNOWN)
    elif sign == "NEGATED":
        values.append(-number if (number := _as_number(right)) is not None else UNKNOWN)
    else:
        values.append(_joined(sign, values.pop(), right))
    return True


def _joined(sign: str, left: object, right: object) -> object:
    """Return the result of a binary operator."""
    if sign in {"AND", "OR"}:
        settled = sign == "OR"
        if left is settled or right is settled:
            return settled
        return not settled if isinstance(left, bool) and isinstance(right, bool) else UNKNOWN
    one, other = _as_number(left), _as_number(right)
    if sign in _COMPARE:
        if one is not None and other is not None:
            return _COMPARE[sign](one, other)
        if isinstance(left, str) and isinstance(right, str) and sign in {"=", "<>"}:
            return (left == right) == (sign == "=")
        return UNKNOWN
    if one is None or other is None or (sign == "/" and not other):
        return UNKNOWN
    made = one + other if sign == "+" else one - other if sign == "-" else one * other if sign == "*" else one / other
    return made if len(str(made)) <= _MAX_DIGITS else UNKNOWN


def _as_number(value: object) -> Fraction | None:
    """Return a number, or the number that a text consists of; None for anything else."""
    if isinstance(value, Fraction):
        return value
    return Fraction(value) if isinstance(value, str) and value.isdecimal() and len(value) <= _MAX_DIGITS else None
