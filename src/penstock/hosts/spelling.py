"""Read and write a host's JSON so that what is not changed stays as the host spelled it.

Python reads `1e5` and writes `100000.0`, which is the same number and another text; a model is shown text. What it does not read
at all, a thousand levels and a number of 4,300 digits, is taken as the text that it is. Law: what `read` gave, `write` writes with
every number as it came. Keeps out: what the values mean (`results`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self


_MAX_LEVELS = 100  # of what is read as values once it is known to be deep; results of tools have ten
_MAX_DIGITS = 1_000
_LEVEL = r'"(?>(?:[^"\\]+|\\.)*)"|[\[\]{}]'


class Verbatim(str):
    """JSON that is no value to Python but its text: what is nested too deep, and numbers of very many digits."""

    __slots__ = ()


class Spelled(float):
    """A number with a point or an exponent, and how it was written."""

    spelled: str

    def __new__(cls, spelled: str) -> Self:
        """Read a number of JSON."""
        number = super().__new__(cls, spelled)
        number.spelled = spelled
        return number


def read(raw: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is none.
    """
    try:
        return json.loads(raw, parse_float=_number)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError):  # too many levels, or digits
        return read_shallow(raw)


def read_shallow(raw: bytes) -> Any:
    """Return the value of a JSON text in which what is nested deeper than a hundred levels is `Verbatim`.

    Raises:
        ValueError: It is none.
    """
    text = raw.decode(json.detect_encoding(raw), "surrogatepass")
    mark = "deep"
    while mark in text:
        mark += "er"
    pieces, deep, at, begin, level = list[str](), list[Verbatim](), 0, 0, 0
    for found in re.finditer(_LEVEL, text, re.DOTALL):
        if found[0] in "[{":
            begin = found.start() if level == _MAX_LEVELS else begin
            level += 1
        elif found[0] in "]}":
            level -= 1
            if level == _MAX_LEVELS:
                pieces += [text[at:begin], f'{{"{mark}":{len(deep)}}}']
                at = found.end()
                deep.append(Verbatim(text[begin:at]))
    return json.loads(
        "".join([*pieces, text[at:]]),
        parse_float=_number,
        parse_int=_number,
        object_hook=lambda value: deep[value[mark]] if mark in value else value,
    )


def _number(word: str) -> object:
    """Return a number of JSON, with how it was written where that is not what Python would write."""
    if len(word) > _MAX_DIGITS:
        return Verbatim(word)
    return int(word) if word.lstrip("-").isdigit() else Spelled(word)


def length(scalar: object) -> int:
    """Return about how many characters a number, `true`, `false` or `null` takes: results have hundreds of thousands."""
    return len(scalar.spelled) if isinstance(scalar, Spelled) else len(repr(scalar))


def write(value: object) -> str:
    """Return a value as JSON without blanks; letters stay what they are.

    Raises:
        ValueError: There is a number in it that JSON does not have, such as infinity.
    """
    return "".join(_parts(value))


def write_lines(value: object) -> str:
    """Return a value as JSON with each entry of its lists on a line, which is what pages and searches go by.

    Raises:
        ValueError: There is a number in it that JSON does not have, such as infinity.
    """
    return "".join(_parts(value, between="\n"))


def _parts(value: object, *, between: str = "") -> Iterator[str]:
    if isinstance(value, Spelled):
        yield value.spelled
    elif type(value) is int or isinstance(value, Verbatim):  # a flood of numbers is made of the first
        yield str(value)
    elif isinstance(value, dict) and value:
        before = "{"
        for name, item in value.items():
            yield f"{before}{json.dumps(name, ensure_ascii=False)}:"
            yield from _parts(item, between=between)
            before = ","
        yield "}"
    elif isinstance(value, list) and value and (between or not all(type(item) is str for item in value)):
        before = f"[{between}"
        for item in value:
            yield before
            # One entry is one line, whatever lists are in it.
            yield from _parts(item)
            before = f",{between}"
        yield f"{between}]"
    else:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
