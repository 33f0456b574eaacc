"""What does a reader report of a file, intact or damaged?"""

from __future__ import annotations

import json
import os
from copy import deepcopy
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from penstock.hosts.sessions.records import opened
from penstock.inspection.timeline import Compacted, Said
from tests.hosts.histories import lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock.hosts.sessions.records import Counts
    from penstock.inspection.timeline import Happening

Record = dict[str, Any]

MUTATED = int(os.environ.get("PENSTOCK_MUTATED_FILES", "30"))
"""The number of mutated files of a host that are read; 1,000 in the long form."""


class Told(NamedTuple):
    """All that a reader reports."""

    happenings: list[Happening]
    counts: Counts

    def of(self, kind: type) -> list[Any]:
        """Return the happenings of one kind."""
        return [one for one in self.happenings if isinstance(one, kind)]

    @property
    def projection(self) -> list[Said]:
        """Return what the next request would hold."""
        held: list[Said] = []
        for one in self.happenings:
            if isinstance(one, Compacted):
                held = []
            elif isinstance(one, Said):
                held.append(one)
        return held


def told(host: str, path: Path, content: list[Record] | bytes) -> Told:
    """Return what the reader of a host reports of a file."""
    path.write_bytes(content if isinstance(content, bytes) else as_file(content, host))
    with opened(str(path)) as file:
        reader = import_module(f"penstock.hosts.sessions.{host}")
        return Told(list(reader.happenings(file)), file.counts)


def as_file(records: list[Record], host: str = "") -> bytes:
    """Return records as a host writes them; opencode exports all of them in one document, which is the first."""
    return json.dumps(records[0], indent=2).encode() if host == "opencode" else lines(records).encode()


def is_record(line: bytes) -> bool:
    """Return whether a line is a record, by an independent parser."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


_JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", "user", [], {}, [[]], {"a": {}}, [None], 10**30, "\ud800"]
)


@st.composite
def mutated(draw: st.DrawFn, records: list[Record], host: str = "") -> bytes:
    """Draw a file whose bytes were flipped, whose lines were cut, lost, doubled or swapped, or whose values were changed."""
    records = deepcopy(records)
    if host == "opencode":  # all values are in one record
        for _ in range(draw(st.integers(0, 4))):
            _replace(draw, records[0])
    rows = as_file(records, host).removesuffix(b"\n").split(b"\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(rows) - 1))
        match draw(st.sampled_from(["flip", "cut", "lose", "double", "swap", "replace"])):
            case "flip" if rows[at]:
                byte = draw(st.integers(0, len(rows[at]) - 1))
                rows[at] = rows[at][:byte] + bytes([rows[at][byte] ^ draw(st.integers(1, 255))]) + rows[at][byte + 1 :]
            case "cut":
                rows[at] = rows[at][: draw(st.integers(0, len(rows[at])))]
            case "lose" if len(rows) > 1:
                del rows[at]
            case "double":
                rows.insert(at, rows[at])
            case "swap":
                other = draw(st.integers(0, len(rows) - 1))
                rows[at], rows[other] = rows[other], rows[at]
            case "replace" if is_record(rows[at]):
                record = json.loads(rows[at])
                _replace(draw, record)
                rows[at] = json.dumps(record).encode()
    return b"\n".join(rows) + draw(st.sampled_from([b"", b"\n"]))


def with_each_replaced(records: list[Record]) -> Iterator[list[Record]]:
    """Yield the records once for each value in them, replaced by something unhashable: an object and a list in turn.

    A number is also replaced by one that no float holds.
    """
    for number, place in enumerate([place for at, record in enumerate(records) for place in _places(record, (at,))]):
        stood: Any = records
        for key in place:
            stood = stood[key]
        for other in ([1] if number % 2 else {"a": 1}, *([10**400] if type(stood) is int else [])):
            made = deepcopy(records)
            holder: Any = made
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = deepcopy(other)
            yield made


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if len(path) > 1:
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from _places(inner, (*path, key))


def _replace(draw: st.DrawFn, value: Any) -> None:
    """Replace a value somewhere within an object or a list."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = draw(st.sampled_from(keys))
        if isinstance(value[key], dict | list) and draw(st.booleans()):
            value = value[key]
            continue
        value[key] = deepcopy(draw(_JUNK))  # the next replacement may go into it
        return
