"""Which items receive the value that another program returns, by RETURNING or by the use of a function or method?

A value stored as it is (`MOVE RATE(X) TO R`) is distinguished from one used in a calculation (`COMPUTE R = RATE(X) * 2`).
Leaves to others: the returned item, which the other program declares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .arguments import written
from .grouping import behind_groups, outermost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .code import ReadStatement

_TO = {"MOVE": "TO", "SET": "TO"}
_BACK = frozenset({"RETURNING", "GIVING"})


class Receiver(NamedTuple):
    """The items that receive a value, as written, and whether they receive it unchanged."""

    names: tuple[str, ...] = ()
    is_whole: bool = True


def behind(said: ReadStatement) -> Receiver:
    """Return the receiver after RETURNING or GIVING of a CALL or INVOKE."""
    for at, word in outermost(said.keys):
        if at > 1 and word in _BACK:
            return Receiver(_names(said, at + 2 if said.keys[at + 1 : at + 2] == ("INTO",) else at + 1)[:1])
    return Receiver()


def around(said: ReadStatement, at: int) -> Receiver:
    """Return the receiver of the value of a function or method in a MOVE, SET or COMPUTE.

    Args:
        said: The statement.
        at: The index of its first word: its name, or the object before a method.
    """
    keys = said.keys
    end = _behind_arguments(keys, at)
    begun = at - 1 if keys[at - 1] == "FUNCTION" else at
    if said.verb in _TO:
        to = _outside(keys, _TO[said.verb])
        if said.verb == "MOVE":
            return Receiver(_names(said, to + 1), begun == 1 and end == to) if to > at else Receiver()
        return Receiver(_names(said, 1), begun == to + 1 and end == len(keys)) if 0 < to < at else Receiver()
    if said.verb == "COMPUTE":
        equals = _outside(keys, "=") or _outside(keys, "EQUAL")
        return Receiver(_names(said, 1), begun == equals + 1 and end == len(keys)) if 0 < equals < at else Receiver()
    return Receiver()


def _outside(keys: Sequence[str], wanted: str) -> int:
    """Return the index of the first occurrence of a word outside of parentheses; 0 if there is none."""
    return next((at for at, word in outermost(keys) if word == wanted), 0)


def _behind_arguments(keys: Sequence[str], at: int) -> int:
    """Return the index after a name, the methods that follow it, and the parentheses after each."""
    at = behind_groups(keys, at + 1)
    while keys[at : at + 2] == (":", ":"):
        at = behind_groups(keys, at + 3)
    return at


def _names(said: ReadStatement, at: int) -> tuple[str, ...]:
    """Return the consecutive items from a word on, each with its qualifiers and subscripts."""
    found: list[list[str]] = []
    keys, texts, kinds = said.keys, said.texts, said.kinds
    while at < len(keys):
        end = at + 1
        if found and keys[at] == "(":
            end = behind_groups(keys, at)
            found[-1] += texts[at:end]
        elif found and keys[at] in {"OF", "IN"} and end < len(keys):
            end += 1
            found[-1] += texts[at:end]
        elif kinds[at] != "word" or keys[at] in _ENDS:
            break
        elif keys[at] != "ROUNDED":
            found.append([texts[at]])
        at = end
    return tuple(map(written, found))


_ENDS = frozenset({"TO", "=", "EQUAL", "EQUALS", "ON", "NOT", "ADDRESS", "EXCEPTION", "OVERFLOW", "SIZE", "END-CALL"})
