"""Read and write a host's JSON so that what is not changed stays as the host spelled it.

Python reads `1e5` and writes `100000.0`, which is the same number and another text; a model is shown text. Law: what `read` gave,
`write` writes with every number as it came. Keeps out: what the values mean (`results`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self


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
        RecursionError: It is nested deeper than Python reads.
    """
    return json.loads(raw, parse_float=Spelled)


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
    elif type(value) is int:  # what a flood of numbers is made of
        yield str(value)
    elif isinstance(value, dict) and value:
        before = "{"
        for name, item in value.items():
            yield f"{before}{json.dumps(name, ensure_ascii=False)}:"
            yield from _parts(item, between=between)
            before = ","
        yield "}"
    elif isinstance(value, list) and value and (between or not all(isinstance(item, str) for item in value)):
        before = f"[{between}"
        for item in value:
            yield before
            # One entry is one line, whatever lists are in it.
            yield from _parts(item)
            before = f",{between}"
        yield f"{between}]"
    else:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
