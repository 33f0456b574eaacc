"""How are other agents' session files read as what happened in them (H-4, X-1)?

One module per host finds its sessions and yields what happened in one, as messages of a wire that the host speaks; everything after
that is the same for all. Law: whatever a file contains, there is a result: torn records and those of unknown kinds are counted and
left out. Leaves to others: what is done with a history (`handing_on`).
"""

from __future__ import annotations

from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from penstock.hosts.sessions import gemini
from penstock.hosts.sessions.exported import members
from penstock.hosts.sessions.records import HURRIED_BYTES, opened
from penstock.hosts.sessions.todos import ListedTask, todos_of
from penstock.inspection.messages import grouped as grouped
from penstock.inspection.messages import joined as joined
from penstock.inspection.messages import whole_messages as whole_messages
from penstock.inspection.timeline import Said
from penstock.text.json_access import field, string, type_of
from penstock.wires import load
from penstock.wires.placeholders import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.hosts.sessions.head import Head
    from penstock.hosts.sessions.records import Record, SessionFile
    from penstock.inspection.timeline import Happening
    from penstock.text.json_access import Json
    from penstock.wires import Transcript

_FIRST_RECORDS = 50
READERS = ("claude", "codex", "gemini", "qwen", "copilot", "opencode", "pi")
"""The hosts whose session files can be read."""


class HostSession(NamedTuple):
    """A session according to its host's file."""

    transcript: Transcript
    """Everything that was said and called, before a compaction too, without the host's own messages."""
    todos: tuple[ListedTask, ...]
    """The last list of tasks that the model kept."""
    torn: int
    """Lines that are not records: the host was writing one, or was killed while it did."""
    too_large: int
    """Lines that were not read because of their length."""
    unknown: int
    """Records of unknown kinds."""
    skipped_bytes: int
    """How much of a very long file was not read, in its middle."""


def read_session(host: str, path: str) -> HostSession:
    """Return the session in a host's file.

    Args:
        host: one of `READERS`.
        path: the file, as the host's hooks name it.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    reader = reader_of(host)
    with opened(path, max_bytes=HURRIED_BYTES) as file:
        said = [one for one in reader.happenings(file) if isinstance(one, Said) and not (one.by_host or one.again)]
        typed = [one if one.typed is None else one._replace(message=_typed(one)) for one in said]
        read = load(whole_messages(typed), reader.WIRE)
        # Placeholders of ours, in a session that we wrote, are not notes, but nobody said them either: they are dropped.
        spoken = [entry.raw for entry in read.entries if entry.text not in WHOLE or len(entry.parts) > 1]
        transcript = read if len(spoken) == len(read.entries) else load(spoken, reader.WIRE)
        counts = file.counts
    return HostSession(
        transcript,
        todos_of(transcript),
        torn=counts.torn,
        too_large=counts.too_large,
        unknown=counts.unknown.total(),
        skipped_bytes=counts.skipped_bytes,
    )


def _typed(said: Said) -> Json:
    """Return a message with what a person typed, without the host's wrapping."""
    content = field(said.message, "content")
    others = [block for block in content if type_of(block) != "text"] if isinstance(content, list) else []
    return {**said.message, "content": [{"type": "text", "text": said.typed}, *others] if others else said.typed}


def host_of(path: str) -> str | None:
    """Return whose session a file is, by its first records; None if no known host's.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    with opened(path) as file:
        if file.begins_with(b'{"info":{"id":"ses_'):
            return "opencode"
        if gemini.is_document(file):
            # A handoff begins like one.
            return None if "agent" in {name for name, _ in islice(members(file), 2)} else "gemini"
        hosts = (_host_by(record) for _, record in islice(file.records(), _FIRST_RECORDS))
        return next((host for host in hosts if host), None)


def _host_by(record: Record) -> str | None:
    """Return whose record this is; None if several hosts write such records."""
    if type_of(record) == "session_meta":
        return "codex"
    if "projectHash" in record:
        return "gemini"
    if type_of(record) == "session.start" and string(field(record, "data", "sessionId")):
        return "copilot"
    if type_of(record) == "session" and string(record.get("id")) and "cwd" in record:
        return "pi"
    if "sessionId" not in record:
        return None
    # Both name a record's predecessor; a message is in Gemini's form in one and Anthropic's in the other.
    if "systemPayload" in record or isinstance(field(record, "message", "parts"), list):
        return "qwen"
    if "parentUuid" in record or type_of(record) in {"queue-operation", "summary"}:
        return "claude"
    return None


class Reader(Protocol):
    """Reads sessions of one host: implemented by a module `penstock.hosts.sessions.HOST`."""

    WIRE: str
    """The name of the wire in whose form its messages are yielded."""

    def head(self, file: SessionFile, path: str) -> Head:
        """Return a session's own metadata.

        Args:
            file: its file, open.
            path: the file's path: some hosts keep what belongs to it in a file next to it.
        """
        ...

    def happenings(self, file: SessionFile) -> Iterator[Happening]:
        """Yield what happened in a session."""
        ...


def reader_of(host: str) -> Reader:
    """Return the module that reads a host's sessions."""
    return cast("Reader", import_module(f"penstock.hosts.sessions.{host}"))
