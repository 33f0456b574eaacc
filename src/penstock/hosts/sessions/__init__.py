"""Read the session files of other agents as one history (H-4).

One module for each host says which of its records are messages, and gives them as a list on the wire that the host speaks;
everything behind that is what every transcript has. Law: whatever stands in a file, an answer comes out: what is torn or of a
kind that nobody here knows is counted and left out. Keeps out: what is done with a history (`handing_on`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from penstock.hosts.sessions.records import Counts, read_records
from penstock.hosts.sessions.todos import ListedTask, todos_of
from penstock.wires import load

if TYPE_CHECKING:
    from penstock.wires import Transcript

READERS = ("claude", "codex", "gemini")
"""The hosts whose session files can be read."""


class HostSession(NamedTuple):
    """A session as its host's file has it."""

    transcript: Transcript
    """Everything that was said and called, before a compaction too, without what the host says by itself."""
    todos: tuple[ListedTask, ...]
    """The last list of tasks that the model kept."""
    torn: int
    """Lines that are no records: the host was writing one, or was ended while it did."""
    unknown: int
    """Records of kinds that are not known here."""
    skipped_bytes: int
    """How much of a very long file was not read, in its middle."""


def read_session(host: str, path: str) -> HostSession:
    """Return the session in a host's file.

    Args:
        host: one of `READERS`.
        path: the file, as the host's hooks name it.

    Raises:
        OSError: It cannot be opened, or is no regular file.
    """
    reader = import_module(f"penstock.hosts.sessions.{host}")
    counts = Counts()
    transcript = load(reader.messages(read_records(path, counts), counts), reader.WIRE)
    return HostSession(transcript, todos_of(transcript), counts.torn, counts.unknown, counts.skipped_bytes)
