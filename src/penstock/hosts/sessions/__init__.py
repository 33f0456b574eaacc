"""Read the session files of other agents as what happened in them (H-4, X-1).

One module for each host finds its sessions and tells what happened in one, in messages of a wire that the host speaks; everything
behind that is the same for all. Law: whatever stands in a file, an answer comes out: what is torn or of a kind that nobody here
knows is counted and left out. Keeps out: what is done with a history (`handing_on`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from penstock.hosts.sessions.records import opened
from penstock.hosts.sessions.todos import ListedTask, todos_of
from penstock.inspection.happenings import Said
from penstock.text.json_access import field
from penstock.wires import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.text.json_access import Json
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
    with opened(path, is_hurried=True) as file:
        said = [one for one in reader.happenings(file) if isinstance(one, Said) and not (one.by_host or one.again)]
        transcript = load(whole_messages(said), reader.WIRE)
        counts = file.counts
    return HostSession(transcript, todos_of(transcript), counts.torn, counts.unknown.total(), counts.skipped_bytes)


def whole_messages(said: Iterable[Said]) -> list[Json]:
    """Return what was said as messages, the blocks of one answer in one of them."""
    made: list[Json] = []
    begun: dict[str, list[Json]] = {}
    for one in said:
        content = field(one.message, "content")
        if one.part_of in begun and isinstance(content, list):
            begun[one.part_of] += content
            continue
        message = one.message
        if one.part_of and isinstance(message, dict) and isinstance(content, list):
            begun[one.part_of] = list(content)
            message = {**message, "content": begun[one.part_of]}
        made.append(message)
    return made
