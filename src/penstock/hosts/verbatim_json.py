"""How is a host's JSON read and written so that unchanged values keep their spelling?

Python reads `1e5` and writes `100000.0`, the same number but another text; a model is shown text. What Python cannot read at all, a
thousand levels or a number of 4,300 digits, is kept as its text. Law: `write` writes every number from `read` as it came. Leaves to
others: what the values mean (`results`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self


_MAX_LEVELS = 100  # levels parsed as values in a deeply nested text; results of tools have ten
_MAX_DIGITS = 1_000
_LEVEL = r'"(?>(?:[^"\\]+|\\.)*)"|[\[\]{}]'


class Verbatim(str):
    """JSON that Python holds only as its text: deeply nested values, and numbers of very many digits."""

    __slots__ = ()


class Spelled(float):
    """A number with a point or an exponent, with its spelling."""

    spelled: str

    def __new__(cls, spelled: str) -> Self:
        """Read a number of JSON."""
        number = super().__new__(cls, spelled)
        number.spelled = spelled
        return number


def read(raw: bytes) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: It is not JSON.
    """
    try:
        return json.loads(raw, parse_float=_number)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError):  # too many levels, or digits
        return read_shallow(raw)


def read_shallow(raw: bytes) -> Any:
    """Return the value of a JSON text in which everything nested deeper than a hundred levels is `Verbatim`.

    Raises:
        ValueError: It is not JSON.
    """
    text = raw.decode(json.detect_encoding(raw), "surrogatepass")
    # A number stands in for each such value: unlike a name, it has one spelling only, and this exponent is nowhere in the text.
    exponent = "e-0" + max(re.findall("e-(0*)", text), default="")
    pieces, deep, at, begin, level = list[str](), dict[str, Verbatim](), 0, 0, 0
    for found in re.finditer(_LEVEL, text, re.DOTALL):
        if found[0] in "[{":
            begin = found.start() if level == _MAX_LEVELS else begin
            level += 1
        elif found[0] in "]}":
            level -= 1
            if level == _MAX_LEVELS:
                stand_in = f"{len(deep)}{exponent}"
                pieces += [text[at:begin], f" {stand_in} "]  # apart from a digit that is wrong there
                at = found.end()
                deep[stand_in] = Verbatim(text[begin:at])
    return json.loads(
        "".join([*pieces, text[at:]]),
        parse_float=lambda word: deep[word] if word in deep else _number(word),
        parse_int=_number,
    )


def _number(word: str) -> object:
    """Return a number of JSON, with its spelling if Python would write it differently."""
    if len(word) > _MAX_DIGITS:
        return Verbatim(word)
    return int(word) if word.lstrip("-").isdigit() else Spelled(word)


def length(scalar: object) -> int:
    """Return the approximate length in characters of a number, `true`, `false` or `null`: results have hundreds of thousands."""
    return len(scalar.spelled) if isinstance(scalar, Spelled) else len(repr(scalar))


def write(value: object) -> str:
    """Return a value as compact JSON without escaping letters.

    Raises:
        ValueError: It contains a number that JSON does not have, such as infinity.
    """
    return "".join(_parts(value))


def write_lines(value: object) -> str:
    """Return a value as JSON with each list entry on its own line, the unit of pages and searches.

    Raises:
        ValueError: It contains a number that JSON does not have, such as infinity.
    """
    return "".join(_parts(value, between="\n"))


def _parts(value: object, *, between: str = "") -> Iterator[str]:
    if isinstance(value, Spelled):
        yield value.spelled
    elif type(value) is int or isinstance(value, Verbatim):  # a flood of numbers consists of the former
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
            # One entry is one line, whatever lists it contains.
            yield from _parts(item)
            before = f",{between}"
        yield f"{between}]"
    else:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
