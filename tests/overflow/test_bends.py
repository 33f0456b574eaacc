"""What is made of a labelled refusal after one change to it? `bends.txt` has the answers.

Each refusal is read under other statuses, and its words lose a half, count something else, or state impossible numbers.
`WRITE_TABLES=1` rewrites the table for review.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.overflow.samples import OTHERS, OVERFLOWS
from tests.tables import check_table

from penstock.overflow import diagnose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TABLE = Path(__file__).with_name("bends.txt")
_STATUSES = (None, 400, 413, 429, 500, 529)
_NUMBERS = ("limit", "input", "output", "total", "excess", "bound", "unit")


def _each_string(value: Any, bend: Callable[[str], str]) -> Any:
    """Return a body with each of its strings changed."""
    if isinstance(value, str):
        return bend(value)
    if isinstance(value, dict):
        return {key: _each_string(item, bend) for key, item in value.items()}
    return [_each_string(item, bend) for item in value] if isinstance(value, list) else value


def _turned(text: str) -> str:
    """Return a text with its numbers in the opposite order."""
    numbers = re.findall(r"\d{3,7}", text)
    return re.sub(r"\d{3,7}", lambda _: numbers.pop(), text)


BENDS: dict[str, Callable[[str], str]] = {
    "first half": lambda text: text[: len(text) // 2],
    "second half": lambda text: text[len(text) // 2 :],
    "characters": lambda text: re.sub("token", "character", text),
    "12 digits": lambda text: re.sub(r"\d{3,7}", lambda number: number[0].ljust(12, "1"), text),
    "13 digits": lambda text: re.sub(r"\d{3,7}", lambda number: number[0].ljust(13, "1"), text),
    "one number": lambda text: re.sub(r"\d{3,7}", "7001", text),
    "numbers turned round": _turned,
}


def _said(body: Any, status: int | None) -> str:
    found = diagnose(body, status)
    numbers = (
        ""
        if found.overflow is None
        else json.dumps(
            {
                name: value
                for name in _NUMBERS
                if (value := getattr(found.overflow, name)) not in {None, "exact", "tokens"}
            }
        )
    )
    return f"{found.kind} {found.recovery} {numbers}".strip()


def rows() -> Iterator[str]:
    """Yield two or more lines for each sample: its diagnosis, and the changes that alter it."""
    for number, sample in enumerate((*OVERFLOWS, *OTHERS)):
        if not isinstance(sample.text, str | dict):
            continue
        plain = _said(sample.text, sample.status)
        yield f"{number} {sample.provider} {sample.status}: {plain}"
        other: dict[str, list[str]] = {}
        for status in _STATUSES:
            other.setdefault(_said(sample.text, status), []).append(str(status))
        for name, bend in BENDS.items():
            other.setdefault(_said(_each_string(sample.text, bend), sample.status), []).append(name)
        other.pop(plain, None)
        for said, names in other.items():
            yield f"   {', '.join(names)}: {said}"


@pytest.mark.proves("O-2")
def test_what_is_made_of_a_bent_refusal_is_what_the_table_says() -> None:
    """Changes put a number out of bounds, swap a unit, remove a word, or alter the status."""
    check_table(TABLE, list(rows()))
