"""How are server-sent events divided, and how is other data written into one?

Law: the bytes of all events, joined, are the bytes that came. Source: the event stream format of the HTML standard, section 9.2.6.
Pure. Leaves to others: what the data say.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Lines end with CRLF, LF or CR; possessive, or the two halves of one CRLF would be taken for two ends.
_EMPTY_LINE = re.compile(rb"(?:\r\n?+|\n)(?:\r\n?+|\n)")
_DATA = re.compile(rb"data(?:: ?+|\Z)")


def empty_line(held: bytes | bytearray, start: int = 0) -> re.Match[bytes] | None:
    """Return the first line end from `start` on that is followed by an empty line; None if there is none."""
    while (at := _line_end(held, start)) >= 0:
        if found := _EMPTY_LINE.match(held, at):
            return found
        start = at + 1
    return None


def _line_end(held: bytes | bytearray, start: int) -> int:
    """Return where the first line end from `start` on begins; -1 if there is none."""
    # Not by a pattern, which reads ten times slower: an event may be a hundred megabytes on one line. In growing spans, because if
    # lines end only with CR, LF would be searched for to the end for each of them.
    span = 1 << 10
    while start < len(held):
        newline = held.find(b"\n", start, start + span)
        at = held.find(b"\r", start, newline if newline >= 0 else start + span)
        if at >= 0 or newline >= 0:
            return at if at >= 0 else newline
        start += span
        span *= 2
    return -1


class EventSplitter:
    """The bytes of a stream, event by event."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._searched = 0

    def feed(self, block: bytes) -> Iterator[bytes]:
        """Take the next bytes; yield each event that they complete, with the empty line after it."""
        self._held += block
        at = 0
        while found := empty_line(self._held, max(at, self._searched)):
            yield bytes(memoryview(self._held)[at : found.end()])
            at = found.end()
        del self._held[:at]
        self._searched = max(0, len(self._held) - 3)  # an empty line has four bytes at most

    def end(self) -> bytes:
        """Return what came after the last whole event."""
        return bytes(self._held)

    @property
    def held_bytes(self) -> int:
        """How many bytes have come after the last whole event."""
        return len(self._held)


def lines_of(event: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each line of an event begins and ends."""
    at = 0
    while (end := _line_end(event, at)) >= 0:
        yield at, end
        at = end + 2 if event.startswith(b"\r\n", end) else end + 1
    yield at, len(event)


def data_of(event: bytes) -> bytes | None:
    """Return the data of an event, its lines joined; None if it has none."""
    # Found in place: an event may be a hundred megabytes on one line.
    found = [_DATA.match(event, start, end) for start, end in lines_of(event)]
    lines = [event[data.end() : data.endpos] for data in found if data]
    return b"\n".join(lines) if lines else None


def field_of(event: bytes, name: bytes) -> bytes | None:
    """Return the last value of a field of an event, such as `id` or `retry`; None if it has none."""
    values = [
        event[start + len(name) + 1 : end] for start, end in lines_of(event) if event.startswith(name + b":", start)
    ]
    return values[-1].removeprefix(b" ") if values else None


def with_data(event: bytes, data: bytes) -> bytes:
    """Return an event with its data replaced."""
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
