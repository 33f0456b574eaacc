"""How is a rescue written to disk? As a new file next to the session, or one append to it, read back before it is written.

Law: nothing is written that does not read as planned, nor over anything that others wrote meanwhile.
Leaves to others: its content.
"""

from __future__ import annotations

import json
import os
import re
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError, PenstockError
from penstock.hosts.rescue.projection import project
from penstock.hosts.rescue.writers import IMPORTERS, appender_of, importer_of, writer_of
from penstock.hosts.sessions import joined, reader_of, whole_messages
from penstock.hosts.sessions.records import SessionFile
from penstock.wires import Text, load
from penstock.workspace.own_files import append_own, replace_own

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.hosts.rescue.shrinking import SessionLine
    from penstock.hosts.sessions.records import Record
    from penstock.text.json_access import Json
    from penstock.wires import Entry
    from penstock.wires.entries import Part

_HALVES = re.compile("[\ud800-\udfff]")


class Identity(NamedTuple):
    """Which file it is, and its state."""

    device: int
    inode: int
    size_bytes: int
    changed_nanoseconds: int


def identity_of(path: str) -> Identity:
    """Return which file is at a path, and its state. Raises OSError."""
    status = os.stat(path)
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def resume(host: str, session: str) -> list[str]:
    """Return the host's command that resumes a session."""
    return writer_of(host).resume(session)


def prepare(host: str, path: str) -> list[str]:
    """Return the host's command that imports a new session's file; empty if it reads the file itself."""
    return importer_of(host).prepare(path) if host in IMPORTERS else []


def write_new(
    host: str, path: str, file: SessionFile, lines: Sequence[SessionLine], *, known: Identity, now: str
) -> tuple[str, str]:
    """Write a new session next to another, and return its id and its path.

    Args:
        host: whose session it is.
        path: the old session's file.
        file: the same, open.
        lines: the messages of the new one.
        known: the identity of the old one when it was read.
        now: the time in ISO 8601.

    Raises:
        OSError: It could not be written.
        CallerError: The old one has changed since.
    """
    writer = writer_of(host)
    session, new_path = writer.new_session(path)
    content = _lines_of(writer.records(file, lines, session, now))
    _check(host, content, lines)
    _check_unchanged(path, known)
    # Copilot CLI keeps each session in a folder of its own.
    os.makedirs(os.path.dirname(new_path), 0o700, exist_ok=True)
    replace_own(new_path, content)
    return session, new_path


def append(
    host: str,
    path: str,
    file: SessionFile,
    lines: Sequence[SessionLine],
    tokens: tuple[int, int],
    *,
    known: Identity,
    now: str,
) -> int:
    """Append a session's continuation to it, and return its previous length: truncating it to that restores it.

    Args:
        host: whose session it is.
        path: its file.
        file: the same, open.
        lines: the messages that it continues with.
        tokens: the approximate size of its next request before and now.
        known: its identity when it was read.
        now: the time in ISO 8601.

    Raises:
        OSError: It could not be written; it is unchanged.
        CallerError: It has changed since, or is compressed.
    """
    if file.is_compressed:
        raise CallerError(
            "A compressed session cannot be appended to. Leave out --append: a new one is written next to it."
        )
    added = _lines_of(appender_of(host).appended(file, lines, tokens, now))
    before = file.content()
    if before and not before.endswith(b"\n"):  # a torn line stays a line of its own
        added = b"\n" + added
    _check(host, before + added, lines)
    if not append_own(path, added, known):
        raise _gone_on(path)
    return len(before)


def _check(host: str, content: bytes, lines: Sequence[SessionLine]) -> None:
    """Raise `PenstockError` if the records of a session do not say exactly what was planned."""
    said = project(reader_of(host).happenings(SessionFile(BytesIO(content), len(content)))).said
    read = whole_messages(said)
    is_planned = len(read) == len(lines) and all(map(partial(_says, reader_of(host).WIRE), read, lines))
    if not is_planned:
        raise PenstockError("The new session does not read as planned; nothing was written. Please report this.")


def _says(wire: str, message: Json, line: SessionLine) -> bool:
    """Return whether a message that was read is the planned one."""
    if line.message is None:
        return bool(message == joined(line.said))
    # A message that we changed or made takes the form of its host's file: words in one block or in several.
    found, planned = load([message], wire).entries[0], load([line.message], wire).entries[0]
    is_same = (found.role, found.text, found.is_note) == (planned.role, planned.text, planned.is_note)
    return is_same and _others(found) == _others(planned)


def _others(entry: Entry) -> list[Part]:
    """Return the parts of an entry that are not words."""
    return [part for part in entry.parts if not isinstance(part, Text)]


def _check_unchanged(path: str, known: Identity) -> None:
    if identity_of(path) != known:
        raise _gone_on(path)


def _gone_on(path: str) -> CallerError:
    return CallerError(f"The host keeps writing to {path}. End it first, and try again.")


def _lines_of(records: Iterable[Record]) -> bytes:
    """Return records as a host writes them, one per line."""
    try:
        text = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
    except RecursionError as error:
        raise CallerError("A record of this session nests too deeply to be written again.") from error
    # A lone surrogate is not valid UTF-8: a strict host would not read the line. JSON can write it as an escape.
    return _HALVES.sub(lambda half: f"\\u{ord(half.group()):04x}", text).encode()
