"""Divide server-sent events, and write other data into one.

Law: the bytes of all events, joined, are the bytes that came. Source: the event stream format of the HTML standard, section 9.2.6.
Pure. Keeps out: what the data say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# An empty line. Lines end with CRLF, LF or CR; possessive, or the two halves of one CRLF would be taken for two ends.
EMPTY_LINE = re.compile(rb"(?:\r\n?+|\n)(?:\r\n?+|\n)")
LINE_END = re.compile(rb"\r\n?+|\n")
_DATA = re.compile(rb"data(?:: ?+|\Z)")


class EventSplitter:
    """The bytes of a stream, event by event."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, block: bytes) -> Iterator[bytes]:
        """Take the next bytes; yield each event that they complete, with the empty line behind it."""
        self._held += block
        at = 0
        for found in EMPTY_LINE.finditer(self._held):
            yield self._held[at : found.end()]
            at = found.end()
        self._held = self._held[at:]

    def end(self) -> bytes:
        """Return what came behind the last whole event."""
        return self._held


def lines_of(event: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each line of an event begins and ends."""
    at = 0
    for end in LINE_END.finditer(event):
        yield at, end.start()
        at = end.end()
    yield at, len(event)


def data_of(event: bytes) -> bytes | None:
    """Return the data of an event, its lines joined; None where it has none."""
    # Found in their place: an event may be a hundred megabytes on one line.
    found = [_DATA.match(event, start, end) for start, end in lines_of(event)]
    lines = [event[data.end() : data.endpos] for data in found if data]
    return b"\n".join(lines) if lines else None


def field_of(event: bytes, name: bytes) -> bytes | None:
    """Return the last value of a field of an event, such as `id` or `retry`; None where it has none."""
    values = [
        event[start + len(name) + 1 : end] for start, end in lines_of(event) if event.startswith(name + b":", start)
    ]
    return values[-1].removeprefix(b" ") if values else None


def with_data(event: bytes, data: bytes) -> bytes:
    """Return an event with other data in the place of its own."""
    end = b"\r\n" if b"\r\n" in event else b"\n" if b"\n" in event else b"\r"
    written = [b"data: " + line for line in data.split(b"\n")]
    lines: list[bytes] = []
    for start, stop in lines_of(event):
        if not _DATA.match(event, start, stop):
            lines.append(event[start:stop])
        elif written:
            lines += written
            written = []
    return end.join(lines)
