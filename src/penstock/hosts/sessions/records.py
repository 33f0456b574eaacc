"""Read a file of one JSON object a line, as other agents write them while it is read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.hosts.whole_file import open_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

Record = dict[str, Any]

_FIRST_BYTES = 4 << 20  # what was asked first stands there
_LAST_BYTES = 60 << 20


@dataclass
class Counts:
    """What of a file was not understood."""

    torn: int = 0
    unknown: int = 0
    skipped_bytes: int = 0


def read_records(path: str, counts: Counts) -> Iterator[Record]:
    """Yield the records of a file in order; of a file of more than 64 MiB those of its two ends.

    Args:
        path: the file.
        counts: where lines that are no records are counted.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    with open_whole(path) as (file, size):
        left = size  # no more than there was: the host goes on writing
        first = min(left, _FIRST_BYTES) if left > _FIRST_BYTES + _LAST_BYTES else left
        yield from _parsed(file.read(first), counts)
        if first < left:
            counts.skipped_bytes = left - first - _LAST_BYTES
            file.seek(left - _LAST_BYTES)
            yield from _parsed(file.read(_LAST_BYTES), counts)


def _parsed(content: bytes, counts: Counts) -> Iterator[Record]:
    for line in content.split(b"\n"):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            counts.torn += 1
            continue
        if isinstance(record, dict):
            yield record
        else:
            counts.torn += 1
