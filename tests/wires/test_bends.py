"""What does one change to a valid request break, path by path, and does a repair leave nothing of it?

Each member of each valid request of `test_violations` is removed, and replaced by values of other types. `bends.txt` has the
reviewed results, one path a line; `WRITE_TABLES=1` rewrites it.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.tables import check_table
from tests.wires.test_violations import VALID

from penstock.wires import repair, violations

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).with_name("bends.txt")
_LEFT_OUT = object()
BENDS: dict[str, Any] = {
    "left out": _LEFT_OUT,
    "null": None,
    "7": 7,
    '""': "",
    '" "': " ",
    '"x"': "x",
    "[]": [],
    "{}": {},
    "true": True,
}


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each member of a request."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*at, key)
        yield from places(item, (*at, key))


def bent(messages: list[Any], place: tuple[Any, ...], new: Any) -> list[Any]:
    """Return the messages with another value in one place."""
    made: Any = copy.deepcopy(messages)
    holder = made
    for key in place[:-1]:
        holder = holder[key]
    if new is _LEFT_OUT:
        del holder[place[-1]]
    else:
        holder[place[-1]] = copy.deepcopy(new)
    return list(made)


def shown(messages: list[Any], place: tuple[Any, ...]) -> str:
    """Return the way to a member, with the role and type of what it is in, and no numbers."""
    words, value = "", messages
    for key in place:
        value = value[key]
        words += f".{key}" if isinstance(key, str) else "[]"
        if isinstance(value, dict) and (kind := value.get("type") or value.get("role")):
            words += f"({kind})"
    return re.sub(r"^\[\]", "message", words)


def rows() -> Iterator[str]:
    """Yield a line for each path: what each change of it breaks, in order of the messages."""
    found: dict[str, dict[str, list[str]]] = {}
    for wire, requests in VALID.items():
        for messages in requests:
            for place in places(messages):
                by_bend = found.setdefault(f"{wire} {shown(messages, place)}", {})
                for name, new in BENDS.items():
                    codes = [one.code for one in violations(bent(messages, place, new), wire)]
                    said = " ".join(codes) or "nothing"
                    if said not in by_bend.setdefault(name, []):
                        by_bend[name].append(said)
    for path, by_bend in found.items():
        by_codes: dict[str, list[str]] = {}
        for name, sayings in by_bend.items():
            by_codes.setdefault(" or ".join(sayings), []).append(name)
        yield f"{path}: " + "; ".join(f"{', '.join(names)} -> {codes}" for codes, names in by_codes.items())


@pytest.mark.proves("LAW-Transcript")
def test_what_one_bend_breaks_is_what_the_table_says() -> None:
    """The table shows each part that a provider requires, and each that it does not, by what happens without it."""
    check_table(TABLE, list(rows()))


@pytest.mark.proves("LAW-Transcript")
@pytest.mark.parametrize("wire", list(VALID))
def test_one_bend_is_mended(wire: str) -> None:
    """Nothing of it is left, and what was whole is not changed."""
    for messages in VALID[wire]:
        for place in places(messages):
            for new in BENDS.values():
                request = bent(messages, place, new)
                mended = repair(request, wire)
                assert {one.code for one in mended.left} <= {"empty"}, (place, new)
                assert bool(mended.actions) == bool({one.code for one in violations(request, wire)} - {"empty"}), (
                    place,
                    new,
                )
