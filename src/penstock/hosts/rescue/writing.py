"""How does it come onto the disk? A new file beside the session, or one append to it, read back before it is written.

Law: nothing is written that does not read as it was planned, nor over anything that others wrote meanwhile.
Keeps out: what is in it.
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
    """Which file it is, and in which state."""

    device: int
    inode: int
    size_bytes: int
    changed_nanoseconds: int


def identity_of(path: str) -> Identity:
    """Return which file stands at a path, and in which state. Raises OSError."""
    status = os.stat(path)
    return Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def resume(host: str, session: str) -> list[str]:
    """Return the host's command that goes on with a session."""
    return writer_of(host).resume(session)


def prepare(host: str, path: str) -> list[str]:
    """Return the host's command that takes a new session's file in; none where it reads the file itself."""
    return importer_of(host).prepare(path) if host in IMPORTERS else []


def write_new(
    host: str, path: str, file: SessionFile, lines: Sequence[SessionLine], *, known: Identity, now: str
) -> tuple[str, str]:
    """Write a new session beside another, and return its id and its path.

    Args:
        host: whose session it is.
        path: the old session's file.
        file: the same, open.
        lines: the messages of the new one.
        known: what the old one was when it was read.
        now: the time, as ISO 8601 has it.

    Raises:
        OSError: It could not be written.
        CallerError: The old one is another by now.
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
    """Append to a session what it goes on with, and return how long it was before: truncated to that it is as it was.

    Args:
        host: whose session it is.
        path: its file.
        file: the same, open.
        lines: the messages that it goes on with.
        tokens: about what its next request took, and what it takes now.
        known: what it was when it was read.
        now: the time, as ISO 8601 has it.

    Raises:
        OSError: It could not be written; it is as it was.
        CallerError: It is another by now, or compressed.
    """
    if file.is_compressed:
        raise CallerError("A compressed session takes no append. Leave --append out: a new one is written beside it.")
    added = _lines_of(appender_of(host).appended(file, lines, tokens, now))
    before = file.content()
    if before and not before.endswith(b"\n"):  # a line that was torn stays one
        added = b"\n" + added
    _check(host, before + added, lines)
    if not append_own(path, added, known):
        raise _gone_on(path)
    return len(before)


def _check(host: str, content: bytes, lines: Sequence[SessionLine]) -> None:
    """Raise `PenstockError` where the records of a session do not say what was planned, or say anything else."""
    said = project(reader_of(host).happenings(SessionFile(BytesIO(content), len(content)))).said
    read = whole_messages(said)
    is_planned = len(read) == len(lines) and all(map(partial(_says, reader_of(host).WIRE), read, lines))
    if not is_planned:
        raise PenstockError("The new session does not read as it was planned; nothing was written. Please report this.")


def _says(wire: str, message: Json, line: SessionLine) -> bool:
    """Return whether a message that was read is the one that was planned."""
    if line.message is None:
        return bool(message == joined(line.said))
    # What we changed, or made, has a form of its own in each host's file: words in one block or in several.
    found, planned = load([message], wire).entries[0], load([line.message], wire).entries[0]
    is_same = (found.role, found.text, found.is_note) == (planned.role, planned.text, planned.is_note)
    return is_same and _others(found) == _others(planned)


def _others(entry: Entry) -> list[Part]:
    """Return what an entry holds beside words."""
    return [part for part in entry.parts if not isinstance(part, Text)]


def _check_unchanged(path: str, known: Identity) -> None:
    if identity_of(path) != known:
        raise _gone_on(path)


def _gone_on(path: str) -> CallerError:
    return CallerError(f"The host goes on writing to {path}. End it first, and try again.")


def _lines_of(records: Iterable[Record]) -> bytes:
    """Return records as a host writes them, one a line."""
    try:
        text = "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)
    except RecursionError as error:
        raise CallerError("A record of this session nests too deeply to be written anew.") from error
    # Half a character is no UTF-8: a host that is strict would not read the line. JSON can write it all the same.
    return _HALVES.sub(lambda half: f"\\u{ord(half.group()):04x}", text).encode()
