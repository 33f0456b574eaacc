"""Which record is the newest? A note outside SQLite's log, which cannot show by itself that it has lost its end.

SQLite takes a damaged page of its log for the log's end, so records after it vanish silently. The note is not flushed: a stale one
names a record that exists all the same. Law: a note that a dying process wrote only in part is none. Leaves to others: the file
(that of the store's lock), and whether the record is there (`sqlite`).
"""

from __future__ import annotations

import json
import zlib
from contextlib import suppress

from penstock.workspace.system import read_at, write_at

_NOTE_BYTES = 4_096  # a session's name of 200 characters, escaped, takes a third of it


def write(descriptor: int, newest: tuple[str, int]) -> None:
    """Note a record, given as its session and its number, at the beginning of a file; without effect if that fails."""
    text = json.dumps(newest).encode()
    with suppress(OSError):
        # In place: the rest of a longer note stays after the line feed, where nobody reads it.
        write_at(descriptor, b"%08x %b\n" % (zlib.crc32(text), text), 0)


def read(descriptor: int) -> tuple[str, int] | None:
    """Return the noted record; None if there is no valid note, or it cannot be read."""
    try:
        seal, _, text = read_at(descriptor, _NOTE_BYTES, 0).partition(b"\n")[0].partition(b" ")
    except OSError:
        return None
    if seal != b"%08x" % zlib.crc32(text) or not text:
        return None
    session, seq = json.loads(text)
    return session, seq


def clear(descriptor: int) -> None:
    """Remove the note, if there is one; without effect if that fails."""
    with suppress(OSError):
        write_at(descriptor, b" " * _NOTE_BYTES, 0)
