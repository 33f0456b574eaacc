"""Which arguments does a statement pass to another program, after USING or in the parentheses of a function or method?

Leaves to others: what the other program calls them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .code import ReadStatement

_COPYING = {"REFERENCE": False, "CONTENT": True, "VALUE": True}
_HOW = frozenset({"BY", ",", "UNSIGNED", *_COPYING})
"""The words before an argument that say how it is passed."""
_ENDS = frozenset({"RETURNING", "GIVING", "ON", "NOT", "END-CALL", "END-INVOKE", "EXCEPTION", "OVERFLOW"})
_BEGINNING = frozenset({"FUNCTION", "ALL"})
"""The words that begin an argument and need the next one."""
_JOINING = frozenset({"OF", "IN", "+", "-", "*", "/", "**", "&"})


def parameters(said: ReadStatement) -> tuple[str, ...]:
    """Return the arguments after USING, with qualifiers and subscripts."""
    return tuple(text for text, _ in _arguments(said))


def copied(said: ReadStatement) -> tuple[int, ...]:
    """Return the positions, from 0 on, of the arguments passed BY CONTENT or BY VALUE: the other program gets a copy."""
    return tuple(at for at, (_, is_copied) in enumerate(_arguments(said)) if is_copied)


def _arguments(said: ReadStatement) -> list[tuple[str, bool]]:
    """Return the arguments after USING, each with whether it is passed as a copy."""
    keys = said.keys
    if "USING" not in keys:
        return []
    found: list[list[str]] = []
    by: list[bool] = []
    is_copied = False
    depth = 0
    glued = is_open = False
    for at in range(keys.index("USING") + 1, len(keys)):
        word, text = keys[at], said.texts[at]
        if depth == 0 and word in _ENDS:
            break
        if word == "\\":
            is_open = not is_open
            if is_open:
                found.append([])
                by.append(True)
            continue
        if is_open:
            found[-1].append(text)
            continue
        if depth == 0 and (word in _HOW or "SIZE" in (word, keys[at - 1]) or keys[at - 1] == "BY"):
            is_copied = _COPYING.get(word, is_copied and keys[at - 1] != "BY")  # BY DESCRIPTOR copies nothing
            continue  # BY VALUE 1 SIZE 4 is one argument
        # A word begins a new argument unless it qualifies the last one, is joined to it, or is inside its parentheses.
        if word in _JOINING or glued or depth or word in "()":
            if not found:
                found.append([])
                by.append(is_copied)
            found[-1].append(text)
        else:
            found.append([text])
            by.append(is_copied)
        depth += (word == "(") - (word == ")")
        glued = word in _JOINING or word in _BEGINNING
    return list(zip(map(written, found), by, strict=True))


def given(said: ReadStatement, at: int) -> tuple[str, ...]:
    """Return the arguments in the parentheses after the name of a function or method; an expression is one argument."""
    found: list[list[str]] = []
    depth = 0
    is_joined = False
    for word, key_ in zip(said.texts[at + 1 :], said.keys[at + 1 :], strict=True):
        depth -= key_ == ")"
        if depth == 0 and (key_ != "(" or found):
            break
        if depth == 1 and key_ == ",":
            is_joined = False
        elif depth and found and (is_joined or depth > 1 or key_ in _JOINING or key_ in "()"):
            found[-1].append(word)
        elif depth:
            found.append([word])
        is_joined = key_ in _JOINING
        depth += key_ == "("
    return tuple(map(written, found))


def written(words: Sequence[str]) -> str:
    """Return words joined as a person writes them, with no blanks inside or before parentheses."""
    return " ".join(words).replace("( ", "(").replace(" )", ")").replace(" (", "(")
